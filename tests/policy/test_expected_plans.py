"""Every plan of the default enumeration against a table typed from operations.md 3 and 5.2."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    OperandRole,
    OperationPlan,
    registered_operations,
    resolvable_plans,
    resolve_operation_plan,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
SHORT = {id(F32): "F32", id(I32): "I32", id(F64): "F64", id(BOOL): "Bool"}
EXPECTED = tuple(
    line
    for line in Path(__file__).with_name("expected_plans.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
COUNTS = {
    "add": 4,
    "sub": 4,
    "elementwise_mul": 4,
    "div": 4,
    "mul": 7,
    "pow": 9,
    "clamp": 4,
    "matmul": 7,
    "reduce_sum": 3,
    "relu": 2,
    "elu": 2,
    "exp": 2,
    "gelu": 2,
    "leaky_relu": 2,
    "sigmoid": 2,
    "silu": 2,
    "softplus": 2,
    "tanh": 2,
}


def _spell(plan: OperationPlan) -> str:
    operands = []
    for operand in plan.operands:
        if operand.role is OperandRole.TENSOR:
            source = SHORT[id(operand.dtype)]
        else:
            assert operand.dtype is None
            source = "S"
        operands.append(f"{source}>{SHORT[id(operand.convert_to)]}")
    accumulation = "-" if plan.accumulation is None else plan.accumulation.name
    accumulator = "-" if plan.accumulator_dtype is None else SHORT[id(plan.accumulator_dtype)]
    return " | ".join(
        (
            plan.operation,
            " ".join(operands),
            plan.compute.name,
            accumulation,
            accumulator,
            SHORT[id(plan.output)],
        )
    )


def _operation(line: str) -> str:
    return line.split(" | ", maxsplit=1)[0]


@pytest.mark.rule("policy.registry.expected-plans")
def test_the_default_enumeration_is_exactly_the_typed_table() -> None:
    actual = [_spell(plan) for plan in resolvable_plans()]
    differing = [
        f"{i}: expected {expected!r}, got {got!r}"
        for i, (expected, got) in enumerate(itertools.zip_longest(EXPECTED, actual))
        if expected != got
    ]
    assert not differing, "\n".join(differing)


@pytest.mark.rule("policy.registry.expected-plans")
def test_the_default_enumeration_has_102_plans_from_sort_indices_to_tanh_of_int32() -> None:
    plans = resolvable_plans()
    assert isinstance(plans, tuple)
    assert len(plans) == 102
    assert len(EXPECTED) == 102
    assert plans[0].operation == "_sort_indices"
    assert plans[-1].operation == "tanh"
    assert plans[-1].operands[0].dtype is I32


@pytest.mark.rule("policy.registry.every-operation-planned")
def test_every_registered_operation_has_an_expected_plan() -> None:
    expected = {_operation(line) for line in EXPECTED}
    registered = {spec.name for spec in registered_operations()}
    assert registered - expected == set()
    assert expected - registered == set()
    assert len(expected) == 56


@pytest.mark.rule("policy.registry.counts")
def test_each_operation_has_the_stated_number_of_plans() -> None:
    counts = Counter(plan.operation for plan in resolvable_plans())
    wanted = {_operation(line): COUNTS.get(_operation(line), 1) for line in EXPECTED}
    assert counts == wanted


@pytest.mark.rule("policy.registry.distinct")
def test_the_default_enumeration_is_deduplicated() -> None:
    plans = resolvable_plans()
    assert len(set(plans)) == len(plans)


@pytest.mark.rule("policy.registry.deterministic")
def test_the_default_enumeration_is_the_same_each_time() -> None:
    first = resolvable_plans()
    resolve_operation_plan("tanh", I32)
    assert resolvable_plans() == first


@pytest.mark.rule("policy.registry.custom-domain")
@pytest.mark.parametrize(("dtypes", "count"), [((F32,), 61), ((I32,), 22), ((F32, I32), 102)])
def test_a_narrower_tensor_domain_has_the_stated_number_of_plans(
    dtypes: tuple[DType, ...], count: int
) -> None:
    assert len(resolvable_plans(dtypes)) == count
    assert len(resolvable_plans(tensor_dtypes=dtypes)) == count


@pytest.mark.rule("policy.registry.custom-domain")
def test_float32_alone_gives_the_typed_plans_without_int32_sources_in_their_order() -> None:
    wanted = [line for line in EXPECTED if "I32>" not in line]
    assert [_spell(plan) for plan in resolvable_plans((F32,))] == wanted


@pytest.mark.rule("policy.registry.custom-domain")
def test_int32_alone_gives_the_typed_plans_without_float32_sources_in_their_order() -> None:
    wanted = [line for line in EXPECTED if "F32>" not in line]
    assert [_spell(plan) for plan in resolvable_plans((I32,))] == wanted


@pytest.mark.rule("policy.registry.tensor-order")
def test_the_supplied_order_of_dtypes_is_the_order_of_enumeration() -> None:
    wanted = [
        "add | I32>I32 I32>I32 | INT32_EXACT_CHECKED | - | - | I32",
        "add | I32>F32 F32>F32 | BINARY32 | - | - | F32",
        "add | F32>F32 I32>F32 | BINARY32 | - | - | F32",
        "add | F32>F32 F32>F32 | BINARY32 | - | - | F32",
    ]
    actual = [_spell(plan) for plan in resolvable_plans((I32, F32)) if plan.operation == "add"]
    assert actual == wanted


@pytest.mark.rule("policy.registry.scalar-order")
def test_the_supplied_order_of_scalars_is_the_order_of_enumeration() -> None:
    wanted = [
        "mul | F32>F32 S>F32 | BINARY32 | - | - | F32",
        "mul | I32>F32 S>F32 | BINARY32 | - | - | F32",
        "mul | I32>I32 S>I32 | INT32_EXACT_CHECKED | - | - | I32",
    ]
    actual = [
        _spell(plan) for plan in resolvable_plans((F32, I32), (0.5, 3)) if plan.operation == "mul"
    ]
    assert actual[-3:] == wanted


@pytest.mark.rule("policy.registry.last-position-fastest")
def test_the_last_position_varies_fastest() -> None:
    sources = [
        tuple(SHORT[id(operand.dtype)] for operand in plan.operands)
        for plan in resolvable_plans()
        if plan.operation == "div"
    ]
    assert sources == [("F32", "F32"), ("F32", "I32"), ("I32", "F32"), ("I32", "I32")]


@pytest.mark.rule("policy.registry.probes")
@pytest.mark.parametrize("probe", [True, False, 0, 7, 2.5, 2**31 - 1, -(2**31), float("nan")])
def test_a_further_probe_adds_no_plan(probe: float) -> None:
    default = resolvable_plans()
    assert resolvable_plans(weak_scalars=(3, -1, 0.5, probe)) == default


@pytest.mark.rule("policy.registry.probes")
def test_all_further_probes_together_add_no_plan() -> None:
    probes = (3, -1, 0.5, True, 0, 7, 2.5, 2**31 - 1, float("nan"))
    assert resolvable_plans(weak_scalars=probes) == resolvable_plans()


@pytest.mark.rule("policy.registry.probes")
def test_each_default_probe_is_needed() -> None:
    whole = set(resolvable_plans())
    assert set(resolvable_plans(weak_scalars=(-1, 0.5))) < whole
    assert len(resolvable_plans(weak_scalars=(3,))) == 100
    assert len(resolvable_plans(weak_scalars=(3, -1))) == 101
    assert len(resolvable_plans(weak_scalars=(-1, 0.5))) == 101


@pytest.mark.rule("policy.registry.refused-combinations")
@pytest.mark.parametrize(
    "extra",
    [BOOL, F64, DType.E4M3, DType.Int8, DType.MXFP4, DType.Any, "Float32", None, 3.0],
    ids=repr,
)
def test_a_dtype_that_resolution_refuses_contributes_no_plan(extra: object) -> None:
    assert resolvable_plans((F32, I32, extra)) == resolvable_plans()  # type: ignore[arg-type]
    assert resolvable_plans((extra, F32, I32)) == resolvable_plans()  # type: ignore[arg-type]


@pytest.mark.rule("policy.registry.refused-combinations")
@pytest.mark.parametrize("extra", [1j, "2", None, F32], ids=repr)
def test_a_scalar_that_resolution_refuses_contributes_no_plan(extra: object) -> None:
    assert resolvable_plans(weak_scalars=(extra, 3, -1, 0.5)) == resolvable_plans()


@pytest.mark.rule("policy.registry.refused-combinations")
@pytest.mark.parametrize("wide", [2**31, -(2**31) - 1, 2**200])
def test_an_out_of_range_scalar_skips_its_combination_and_keeps_the_others(wide: int) -> None:
    assert resolvable_plans(weak_scalars=(3, -1, 0.5, wide)) == resolvable_plans()
    only = [_spell(plan) for plan in resolvable_plans((I32,), (wide,))]
    assert "mul | I32>I32 S>I32 | INT32_EXACT_CHECKED | - | - | I32" not in only
    assert "mul | I32>F32 S>F32 | BINARY32 | - | - | F32" not in only
    assert "pow | I32>F32 S>F32 | BINARY32 | - | - | F32" in only
    assert "pow | S>F32 I32>F32 | BINARY32 | - | - | F32" in only


@pytest.mark.rule("policy.registry.select-enumerated")
def test_select_is_enumerated_though_the_default_domain_offers_no_bool() -> None:
    wanted = "select | Bool>Bool F32>F32 F32>F32 | BINARY32 | - | - | F32"
    for dtypes in ((F32, I32), (F32,), (F32, BOOL)):
        assert [_spell(p) for p in resolvable_plans(dtypes) if p.operation == "select"] == [wanted]
    assert not [p for p in resolvable_plans((I32,)) if p.operation == "select"]


@pytest.mark.rule("policy.registry.empty-domains")
def test_empty_domains_leave_only_what_needs_nothing_from_them() -> None:
    assert resolvable_plans((), ()) == ()
    without_scalars = [line for line in EXPECTED if "S>" not in line]
    assert [_spell(plan) for plan in resolvable_plans(weak_scalars=())] == without_scalars


@pytest.mark.rule("policy.registry.any-iterable")
def test_domains_may_be_any_sequence() -> None:
    assert resolvable_plans([F32, I32], [3, -1, 0.5]) == resolvable_plans()


@pytest.mark.rule("policy.registry.duplicates-dropped")
def test_a_domain_that_repeats_a_member_adds_no_plan() -> None:
    assert resolvable_plans((F32, I32, F32), (3, 3, -1, 0.5, 0.5)) == resolvable_plans()


@pytest.mark.rule("policy.registry.enumerates-resolution")
def test_every_enumerated_plan_is_what_resolution_returns() -> None:
    probes = {"F32": (0.5,), "I32": (3,)}
    differing = []
    for line, plan in zip(EXPECTED, resolvable_plans(), strict=True):
        name, operands, *_, accumulator, _ = line.split(" | ")
        given: list[object] = []
        for operand in operands.split():
            source, target = operand.split(">")
            if source == "S":
                given.append(probes[target][0])
            else:
                given.append({"F32": F32, "I32": I32, "Bool": BOOL}[source])
        requested = F64 if accumulator == "F64" else None
        if resolve_operation_plan(name, *given, accumulator_dtype=requested) != plan:
            differing.append(line)
    assert not differing
