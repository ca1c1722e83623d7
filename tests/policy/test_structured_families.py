"""Requirement: Structured operation families pin their dtype shapes."""

from __future__ import annotations

from typing import Any

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    Accumulation,
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationPlan,
    resolve_operation_plan,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
BINARY32 = Arithmetic.BINARY32


def _kept(
    operation: str,
    sources: Any,
    output: Any,
    accumulation: Accumulation | None = None,
    accumulator: Any = None,
) -> OperationPlan:
    operands = tuple(OperandPlan(T, source, source) for source in sources)
    return OperationPlan(operation, operands, BINARY32, accumulation, accumulator, output)


@pytest.mark.rule("policy.structured-families.reduce-sum")
def test_reduce_sum_is_floating_for_float32_and_exact_for_int32() -> None:
    assert resolve_operation_plan("reduce_sum", F32) == _kept(
        "reduce_sum", (F32,), F32, Accumulation.FLOATING, F32
    )
    assert resolve_operation_plan("reduce_sum", I32) == OperationPlan(
        "reduce_sum",
        (OperandPlan(T, I32, I32),),
        Arithmetic.INT32_EXACT_CHECKED,
        Accumulation.EXACT_INTEGER,
        None,
        I32,
    )


@pytest.mark.rule("policy.structured-families.matmul")
@pytest.mark.parametrize("pair", [(F32, F32), (F32, I32), (I32, F32)], ids=str)
def test_matmul_with_a_float32_operand_is_floating(pair: Any) -> None:
    assert resolve_operation_plan("matmul", *pair) == OperationPlan(
        "matmul",
        tuple(OperandPlan(T, source, F32) for source in pair),
        BINARY32,
        Accumulation.FLOATING,
        F32,
        F32,
    )


@pytest.mark.rule("policy.structured-families.matmul")
def test_matmul_of_int32_is_exact() -> None:
    assert resolve_operation_plan("matmul", I32, I32) == OperationPlan(
        "matmul",
        (OperandPlan(T, I32, I32), OperandPlan(T, I32, I32)),
        Arithmetic.INT32_EXACT,
        Accumulation.EXACT_INTEGER,
        None,
        I32,
    )


@pytest.mark.rule("policy.structured-families.ordered-accumulation")
@pytest.mark.parametrize(
    ("operation", "accumulation", "output"),
    [
        ("reduce_prod", Accumulation.SEQUENTIAL_BINARY32_PRODUCT, F32),
        ("reduce_max", Accumulation.MAXIMUM, F32),
        ("reduce_min", Accumulation.MINIMUM, F32),
        ("argmax", Accumulation.ARGMAX, I32),
        ("argmin", Accumulation.ARGMIN, I32),
        ("cumsum", Accumulation.SEQUENTIAL_BINARY32, F32),
    ],
)
def test_reductions_use_their_ordered_accumulation(
    operation: str, accumulation: Accumulation, output: Any
) -> None:
    assert resolve_operation_plan(operation, F32) == _kept(operation, (F32,), output, accumulation)
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, I32)


@pytest.mark.rule("policy.structured-families.convolution-and-scatter-add")
def test_convolution_and_scatter_add_accumulate_sequentially() -> None:
    sequential = Accumulation.SEQUENTIAL_BINARY32
    assert resolve_operation_plan("conv_general", F32, F32) == _kept(
        "conv_general", (F32, F32), F32, sequential
    )
    assert resolve_operation_plan("scatter_add", F32, I32, F32) == _kept(
        "scatter_add", (F32, I32, F32), F32, sequential
    )


@pytest.mark.rule("policy.structured-families.indexing")
def test_gather_and_scatter_output_float32() -> None:
    assert resolve_operation_plan("gather", F32, I32) == _kept("gather", (F32, I32), F32)
    assert resolve_operation_plan("scatter", F32, I32, F32) == _kept(
        "scatter", (F32, I32, F32), F32
    )


@pytest.mark.rule("policy.structured-families.ordering")
@pytest.mark.parametrize(
    ("operation", "output"),
    [
        ("_sort_values", F32),
        ("_topk_values", F32),
        ("_sort_indices", I32),
        ("_topk_indices", I32),
    ],
)
def test_value_plans_output_float32_and_index_plans_int32(operation: str, output: Any) -> None:
    assert resolve_operation_plan(operation, F32) == _kept(operation, (F32,), output)


@pytest.mark.rule("policy.structured-families.masked-selection")
def test_plan_a_masked_selection() -> None:
    plan = resolve_operation_plan("select", DType.Bool, DType.Float32, DType.Float32)
    assert plan == _kept("select", (BOOL, F32, F32), F32)
    assert plan.compute is BINARY32
    assert plan.accumulation is None
    assert plan.output is F32


@pytest.mark.rule("policy.structured-families.clamp")
@pytest.mark.parametrize("lower", [F32, 0, -1, 2**40, 0.5, True, float("nan")], ids=repr)
@pytest.mark.parametrize("upper", [F32, 0, -1, 2**40, 0.5, True, float("inf")], ids=repr)
def test_clamp_takes_every_combination_of_bound_roles(lower: Any, upper: Any) -> None:
    bounds = tuple(
        OperandPlan(T, F32, F32) if bound is F32 else OperandPlan(S, None, F32)
        for bound in (lower, upper)
    )
    assert resolve_operation_plan("clamp", F32, lower, upper) == OperationPlan(
        "clamp", (OperandPlan(T, F32, F32), *bounds), BINARY32, None, None, F32
    )


@pytest.mark.rule("policy.structured-families.wrong-operand")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("select", (F32, F32, F32)),
        ("select", (I32, F32, F32)),
        ("select", (BOOL, I32, F32)),
        ("select", (BOOL, F32, I32)),
        ("select", (BOOL, BOOL, F32)),
        ("select", (BOOL, I32, I32)),
        ("clamp", (I32, 0, 1)),
        ("clamp", (I32, F32, F32)),
        ("clamp", (F32, I32, 1.0)),
        ("clamp", (F32, 0.0, I32)),
        ("clamp", (F32, F32, I32)),
        ("clamp", (F32, I32, F32)),
        ("clamp", (BOOL, 0.0, 1.0)),
        ("gather", (F32, F32)),
        ("gather", (I32, I32)),
        ("gather", (F32, BOOL)),
        ("scatter", (F32, F32, F32)),
        ("scatter", (I32, I32, I32)),
        ("scatter", (F32, I32, I32)),
        ("scatter_add", (F32, F32, F32)),
        ("scatter_add", (F32, I32, I32)),
        ("scatter_add", (I32, I32, F32)),
        ("conv_general", (I32, F32)),
        ("conv_general", (F32, I32)),
        ("conv_general", (I32, I32)),
        ("_sort_values", (I32,)),
        ("_sort_indices", (I32,)),
        ("_topk_values", (I32,)),
        ("_topk_indices", (I32,)),
        ("reduce_sum", (BOOL,)),
        ("matmul", (BOOL, F32)),
        ("matmul", (F32, BOOL)),
    ],
)
def test_refuse_a_wrong_structured_operand_dtype(operation: str, operands: Any) -> None:
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.structured-families.wrong-operand")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("select", (BOOL, F64, F32)),
        ("clamp", (F64, 0.0, 1.0)),
        ("gather", (F32, DType.Int8)),
        ("scatter", (F32, I32, F64)),
        ("reduce_sum", (F64,)),
        ("matmul", (F32, F64)),
        ("argmax", (DType.Float16,)),
    ],
)
def test_an_unimplemented_structured_operand_is_not_promoted(operation: str, operands: Any) -> None:
    with pytest.raises(NotImplementedError):
        resolve_operation_plan(operation, *operands)
