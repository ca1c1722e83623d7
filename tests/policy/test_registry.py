"""Requirement: The registry is deterministic and exhaustively enumerable."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    SUPPORTED_ACCUMULATOR_DTYPES,
    SUPPORTED_TENSOR_DTYPES,
    WEAK_SCALAR_PROBES,
    Accumulation,
    OperandRole,
    OperationSpec,
    plan_accumulator_variants,
    registered_operations,
    resolvable_plans,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
OVERLOADS = [
    tuple(line.split(" | "))
    for line in Path(__file__).with_name("expected_overloads.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
DOMAINS = {"F": (F32,), "I": (I32,), "B": (BOOL,)}
NAMES = list(dict.fromkeys(row[0] for row in OVERLOADS))


@pytest.mark.rule("policy.registry.name-order")
def test_registered_operations_are_sorted_by_name_each_once() -> None:
    specs = registered_operations()
    assert isinstance(specs, tuple)
    assert all(isinstance(spec, OperationSpec) for spec in specs)
    assert [spec.name for spec in specs] == NAMES
    assert sorted(NAMES) == NAMES
    assert len(set(NAMES)) == len(NAMES) == 56
    assert NAMES[:4] == ["_sort_indices", "_sort_values", "_topk_indices", "_topk_values"]


@pytest.mark.rule("policy.registry.overloads")
@pytest.mark.parametrize("name", NAMES)
def test_each_operation_declares_its_overloads_in_order(name: str) -> None:
    spec = next(spec for spec in registered_operations() if spec.name == name)
    wanted = [row[3] for row in OVERLOADS if row[0] == name]
    roles = [tuple(S if letter == "S" else T for letter in letters) for letters in wanted]
    assert [overload.roles for overload in spec.overloads] == roles
    for overload, letters in zip(spec.overloads, wanted, strict=True):
        tensors = [letter for letter in letters if letter != "S"]
        domains = None if "N" in tensors else tuple(DOMAINS[letter] for letter in tensors)
        assert overload.tensor_domains == domains


@pytest.mark.rule("policy.registry.overloads")
def test_there_are_62_overloads() -> None:
    assert sum(len(spec.overloads) for spec in registered_operations()) == 62
    assert len(OVERLOADS) == 62


@pytest.mark.rule("policy.registry.metadata")
@pytest.mark.parametrize(("name", "public", "positions"), sorted({r[:3] for r in OVERLOADS}))
def test_public_and_operand_positions_are_the_stated_ones(
    name: str, public: str, positions: str
) -> None:
    spec = next(spec for spec in registered_operations() if spec.name == name)
    assert spec.public is (public == "yes")
    wanted = None if positions == "-" else tuple(int(p) for p in positions.split())
    assert spec.dtype_operand_positions == wanted


@pytest.mark.rule("policy.registry.representation-only")
@pytest.mark.parametrize(
    "name",
    ["reshape", "permute", "transpose", "broadcast", "broadcast_to", "view", "slice", "getitem"],
)
def test_an_operation_that_computes_nothing_is_not_registered(name: str) -> None:
    assert name not in {spec.name for spec in registered_operations()}


@pytest.mark.rule("policy.registry.deterministic")
def test_registered_operations_is_the_same_each_time() -> None:
    assert registered_operations() == registered_operations()


@pytest.mark.rule("policy.registry.defaults")
def test_the_default_domains_are_the_ones_of_the_requirement() -> None:
    assert (DType.Float32, DType.Int32) == SUPPORTED_TENSOR_DTYPES
    assert (DType.Float32, DType.Float64) == SUPPORTED_ACCUMULATOR_DTYPES
    assert WEAK_SCALAR_PROBES == (3, -1, 0.5)
    assert [type(probe) for probe in WEAK_SCALAR_PROBES] == [int, int, float]


@pytest.mark.rule("policy.registry.defaults")
def test_resolvable_plans_defaults_are_literally_the_named_constants() -> None:
    parameters = inspect.signature(resolvable_plans).parameters
    assert list(parameters) == ["tensor_dtypes", "weak_scalars"]
    assert parameters["tensor_dtypes"].default is SUPPORTED_TENSOR_DTYPES
    assert parameters["weak_scalars"].default is WEAK_SCALAR_PROBES
    assert resolvable_plans(SUPPORTED_TENSOR_DTYPES, WEAK_SCALAR_PROBES) == resolvable_plans()


@pytest.mark.rule("policy.registry.configurable-operations")
def test_the_configurable_operations_are_exactly_reduce_sum_and_matmul() -> None:
    configurable = {
        plan.operation for plan in resolvable_plans() if len(plan_accumulator_variants(plan)) > 1
    }
    assert configurable == {"reduce_sum", "matmul"}


@pytest.mark.rule("policy.registry.configurable-operations")
def test_accumulator_configurable_operations_names_exactly_those_two() -> None:
    import bittrue.policy  # noqa: PLC0415

    named = bittrue.policy.ACCUMULATOR_CONFIGURABLE_OPERATIONS
    assert set(named) == {"reduce_sum", "matmul"}
    assert len(named) == 2


@pytest.mark.rule("policy.registry.coverage")
def test_enumerate_policy_coverage() -> None:
    plans = resolvable_plans()
    shapes = {(p.operation, tuple(operand.role for operand in p.operands)) for p in plans}
    assert shapes == {
        (row[0], tuple(S if letter == "S" else T for letter in row[3])) for row in OVERLOADS
    }
    for operation in ("reduce_sum", "matmul"):
        accumulators = [
            p.accumulator_dtype
            for p in plans
            if p.operation == operation and all(o.dtype is F32 for o in p.operands)
        ]
        assert accumulators == [F32, F64]


@pytest.mark.rule("policy.registry.coverage")
def test_only_floating_plans_have_accumulator_variants() -> None:
    for plan in resolvable_plans():
        if plan.accumulation is not Accumulation.FLOATING:
            assert plan_accumulator_variants(plan) == (plan,)
