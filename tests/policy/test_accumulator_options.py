"""Requirement: Accumulator options widen only accumulation."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from bittrue.dtypes import DType, SimpleDType
from bittrue.policy import (
    SUPPORTED_ACCUMULATOR_DTYPES,
    Accumulation,
    OperationExecutionOptions,
    OperationPlan,
    operation_execution_options,
    plan_accumulator_variants,
    registered_operations,
    resolvable_plans,
    resolve_operation_plan,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
FLOATING_CALLS = [
    ("reduce_sum", (F32,)),
    ("matmul", (F32, F32)),
    ("matmul", (F32, I32)),
    ("matmul", (I32, F32)),
]
EXACT_CALLS = [("reduce_sum", (I32,)), ("matmul", (I32, I32))]


def _resolve(operation: str, operands: Any, way: str, accumulator: Any) -> OperationPlan:
    if way == "direct":
        return resolve_operation_plan(operation, *operands, accumulator_dtype=accumulator)
    make: Any = operation_execution_options if way == "factory" else OperationExecutionOptions
    options = make(operation, accumulator_dtype=accumulator)
    return resolve_operation_plan(operation, *operands, options=options)


@pytest.mark.rule("policy.accumulator-options.widen")
def test_widen_a_float32_reduction_accumulator() -> None:
    options = operation_execution_options("reduce_sum", accumulator_dtype=DType.Float64)
    plan = resolve_operation_plan("reduce_sum", DType.Float32, options=options)
    assert plan.accumulator_dtype is F64
    assert plan.accumulation is Accumulation.FLOATING
    assert plan.operands[0].convert_to is F32
    assert plan.output is F32
    assert plan == dataclasses.replace(
        resolve_operation_plan("reduce_sum", F32), accumulator_dtype=F64
    )


@pytest.mark.rule("policy.accumulator-options.only-accumulation")
@pytest.mark.parametrize(("operation", "operands"), FLOATING_CALLS)
@pytest.mark.parametrize("way", ["direct", "factory", "constructor"])
def test_an_accumulator_leaves_conversions_compute_and_output_unchanged(
    operation: str, operands: Any, way: str
) -> None:
    base = resolve_operation_plan(operation, *operands)
    assert base.accumulator_dtype is F32
    wide = _resolve(operation, operands, way, F64)
    assert wide.accumulator_dtype is F64
    for field in dataclasses.fields(OperationPlan):
        if field.name != "accumulator_dtype":
            assert getattr(wide, field.name) == getattr(base, field.name)
    assert _resolve(operation, operands, way, F32) == base
    assert _resolve(operation, operands, way, None) == base


@pytest.mark.rule("policy.accumulator-options.exact-integer")
@pytest.mark.parametrize(("operation", "operands"), EXACT_CALLS)
@pytest.mark.parametrize("way", ["direct", "factory", "constructor"])
@pytest.mark.parametrize("accumulator", [F32, F64], ids=str)
def test_an_exact_integer_plan_refuses_a_floating_accumulator(
    operation: str, operands: Any, way: str, accumulator: Any
) -> None:
    resolve_operation_plan(operation, *operands)
    with pytest.raises(TypeError):
        _resolve(operation, operands, way, accumulator)


@pytest.mark.rule("policy.accumulator-options.exact-integer")
@pytest.mark.parametrize(("operation", "operands"), EXACT_CALLS)
def test_options_without_an_accumulator_are_accepted_on_an_exact_plan(
    operation: str, operands: Any
) -> None:
    options = operation_execution_options(operation)
    plan = resolve_operation_plan(operation, *operands, options=options)
    assert plan == resolve_operation_plan(operation, *operands)
    assert plan.accumulator_dtype is None


@pytest.mark.rule("policy.accumulator-options.non-configurable")
@pytest.mark.parametrize(
    "operation",
    [*(s.name for s in registered_operations() if s.name not in {"reduce_sum", "matmul"})],
)
def test_a_non_configurable_operation_is_a_type_error(operation: str) -> None:
    for accumulator in (None, F32, F64, DType.E4M3, "Float64"):
        with pytest.raises(TypeError):
            operation_execution_options(operation, accumulator_dtype=accumulator)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            OperationExecutionOptions(operation, accumulator)  # type: ignore[arg-type]
    for accumulator in (F32, F64):
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, F32, accumulator_dtype=accumulator)


@pytest.mark.rule("policy.accumulator-options.non-configurable")
@pytest.mark.parametrize("operation", ["nothing", "", "MATMUL", None, 3, ["matmul"], b"matmul"])
def test_an_unregistered_name_is_a_type_error(operation: Any) -> None:
    with pytest.raises(TypeError):
        operation_execution_options(operation)
    with pytest.raises(TypeError):
        OperationExecutionOptions(operation)


@pytest.mark.rule("policy.accumulator-options.non-configurable")
def test_an_object_that_equals_a_configurable_name_is_a_type_error() -> None:
    class Lookalike:
        def __eq__(self, other: object) -> bool:
            return other == "matmul"

        def __hash__(self) -> int:
            return hash("matmul")

    lookalike: Any = Lookalike()
    with pytest.raises(TypeError):
        operation_execution_options(lookalike)
    with pytest.raises(TypeError):
        OperationExecutionOptions(lookalike, F64)


@pytest.mark.rule("policy.accumulator-options.not-simple")
@pytest.mark.parametrize(
    "accumulator",
    [DType.Any, DType.Floating, DType.Integer, DType.MXFP4, DType.NVFP4, "Float64", 64, DType, 0.0],
    ids=repr,
)
@pytest.mark.parametrize("way", ["direct", "factory", "constructor"])
def test_a_non_simple_accumulator_is_a_type_error(accumulator: Any, way: str) -> None:
    for operation, operands in (*FLOATING_CALLS, *EXACT_CALLS):
        with pytest.raises(TypeError) as caught:
            _resolve(operation, operands, way, accumulator)
        assert not isinstance(caught.value, NotImplementedError)


@pytest.mark.rule("policy.accumulator-options.unimplemented")
@pytest.mark.parametrize(
    "accumulator",
    [
        I32,
        BOOL,
        DType.Int8,
        DType.Float16,
        DType.BFloat16,
        DType.TF32,
        DType.HF32,
        DType.FP19,
        DType.E4M3,
        DType.E5M2,
        DType.E8M0,
        DType.HiF8,
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["direct", "factory", "constructor"])
def test_an_unimplemented_simple_accumulator_is_not_implemented(accumulator: Any, way: str) -> None:
    for operation, operands in (*FLOATING_CALLS, *EXACT_CALLS):
        with pytest.raises(NotImplementedError):
            _resolve(operation, operands, way, accumulator)


@pytest.mark.rule("policy.accumulator-options.unimplemented")
def test_an_extension_simple_dtype_is_not_implemented(extension_simple: SimpleDType) -> None:
    with pytest.raises(NotImplementedError):
        operation_execution_options("matmul", accumulator_dtype=extension_simple)


@pytest.mark.rule("policy.accumulator-options.identity")
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_an_object_that_equals_an_accumulator_selects_nothing(dtype: SimpleDType) -> None:
    class Lookalike:
        name = dtype.name
        bits = dtype.bits

        def __eq__(self, other: object) -> bool:
            return other is dtype

        def __hash__(self) -> int:
            return hash(dtype)

    lookalike: Any = Lookalike()
    assert lookalike == dtype
    for operation, operands in FLOATING_CALLS:
        resolve_operation_plan(operation, *operands, accumulator_dtype=dtype)
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *operands, accumulator_dtype=lookalike)
        with pytest.raises(TypeError):
            operation_execution_options(operation, accumulator_dtype=lookalike)
        with pytest.raises(TypeError):
            OperationExecutionOptions(operation, lookalike)


@pytest.mark.rule("policy.accumulator-options.records")
def test_the_signatures_are_the_ones_of_the_requirement() -> None:
    factory = inspect.signature(operation_execution_options).parameters
    assert list(factory) == ["operation", "accumulator_dtype"]
    assert factory["operation"].default is inspect.Parameter.empty
    assert factory["accumulator_dtype"].default is None
    assert factory["accumulator_dtype"].kind is inspect.Parameter.KEYWORD_ONLY
    record = inspect.signature(OperationExecutionOptions).parameters
    assert list(record)[:2] == ["operation", "accumulator_dtype"]
    assert record["accumulator_dtype"].default is None
    positional = [
        name for name, p in record.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    assert positional == ["operation", "accumulator_dtype"]


@pytest.mark.rule("policy.accumulator-options.records")
@pytest.mark.parametrize("operation", ["reduce_sum", "matmul"])
@pytest.mark.parametrize("accumulator", [None, F32, F64], ids=str)
def test_factory_and_constructor_give_equal_hashable_immutable_options(
    operation: str, accumulator: Any
) -> None:
    made = operation_execution_options(operation, accumulator_dtype=accumulator)
    built = OperationExecutionOptions(operation, accumulator)
    assert type(made) is OperationExecutionOptions
    assert made == built
    assert hash(made) == hash(built)
    assert (made.operation, made.accumulator_dtype) == (operation, accumulator)
    for field in ("operation", "accumulator_dtype"):
        with pytest.raises(AttributeError):
            setattr(made, field, None)
    with pytest.raises((AttributeError, TypeError)):
        made.extra = 1  # type: ignore[attr-defined]


@pytest.mark.rule("policy.accumulator-options.records")
def test_options_of_different_operations_or_accumulators_differ() -> None:
    every = [
        operation_execution_options(operation, accumulator_dtype=accumulator)
        for operation in ("reduce_sum", "matmul")
        for accumulator in (None, F32, F64)
    ]
    assert len(set(every)) == 6


@pytest.mark.rule("policy.accumulator-options.variants")
@pytest.mark.parametrize(("operation", "operands"), FLOATING_CALLS)
def test_variants_start_with_the_plan_and_add_the_other_accumulator(
    operation: str, operands: Any
) -> None:
    narrow = resolve_operation_plan(operation, *operands)
    wide = resolve_operation_plan(operation, *operands, accumulator_dtype=F64)
    assert plan_accumulator_variants(narrow) == (narrow, wide)
    assert plan_accumulator_variants(narrow)[0] is narrow
    assert plan_accumulator_variants(wide) == (wide, narrow)
    assert plan_accumulator_variants(wide)[0] is wide


@pytest.mark.rule("policy.accumulator-options.variants")
@pytest.mark.parametrize("accumulator", [None, DType.BFloat16], ids=str)
def test_the_plan_comes_first_whatever_accumulator_it_has(accumulator: Any) -> None:
    plan = dataclasses.replace(
        resolve_operation_plan("reduce_sum", F32), accumulator_dtype=accumulator
    )
    narrow = resolve_operation_plan("reduce_sum", F32)
    wide = resolve_operation_plan("reduce_sum", F32, accumulator_dtype=F64)
    assert plan_accumulator_variants(plan) == (plan, narrow, wide)


@pytest.mark.rule("policy.accumulator-options.variants")
def test_a_plan_without_a_choice_is_returned_alone() -> None:
    for plan in resolvable_plans():
        if plan.accumulation is not Accumulation.FLOATING:
            assert plan_accumulator_variants(plan) == (plan,)


@pytest.mark.rule("policy.accumulator-options.variants")
def test_a_floating_plan_of_a_non_configurable_operation_is_returned_alone() -> None:
    plan = dataclasses.replace(
        resolve_operation_plan("cumsum", F32),
        accumulation=Accumulation.FLOATING,
        accumulator_dtype=F32,
    )
    assert plan_accumulator_variants(plan) == (plan,)


@pytest.mark.rule("policy.accumulator-options.supported")
def test_only_float32_and_float64_are_supported_in_that_order() -> None:
    assert SUPPORTED_ACCUMULATOR_DTYPES == (F32, F64)
    accepted = []
    for dtype in SimpleDType.registered():
        try:
            operation_execution_options("matmul", accumulator_dtype=dtype)
        except NotImplementedError:
            continue
        accepted.append(dtype)
    assert accepted == [F32, F64]
