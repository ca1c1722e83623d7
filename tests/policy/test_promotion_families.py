"""Requirement: Core promotion families resolve consistently."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationPlan,
    resolve_operation_plan,
)

F32, I32, BOOL = DType.Float32, DType.Int32, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
BINARY32, CHECKED = Arithmetic.BINARY32, Arithmetic.INT32_EXACT_CHECKED
PAIRS = [(F32, F32), (F32, I32), (I32, F32), (I32, I32)]
ACTIVATIONS = ["elu", "exp", "gelu", "leaky_relu", "sigmoid", "silu", "softplus", "tanh"]
UNARY = [
    "neg",
    "abs",
    "sign",
    "recip",
    "sqrt",
    "rsqrt",
    "exp2",
    "log",
    "log2",
    "sin",
    "cos",
    "erf",
    "floor",
    "ceil",
    "round",
]


def _tensors(
    operation: str, sources: Any, converted: Any, compute: Arithmetic, output: Any
) -> OperationPlan:
    operands = tuple(OperandPlan(T, source, converted) for source in sources)
    return OperationPlan(operation, operands, compute, None, None, output)


@pytest.mark.rule("policy.promotion-families.arithmetic")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "elementwise_mul"])
def test_two_int32_operands_remain_int32_with_checked_exact_arithmetic(operation: str) -> None:
    assert resolve_operation_plan(operation, I32, I32) == _tensors(
        operation, (I32, I32), I32, CHECKED, I32
    )


@pytest.mark.rule("policy.promotion-families.arithmetic")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "elementwise_mul"])
@pytest.mark.parametrize("pair", PAIRS[:3], ids=str)
def test_any_float32_operand_converts_both_to_float32(operation: str, pair: Any) -> None:
    assert resolve_operation_plan(operation, *pair) == _tensors(operation, pair, F32, BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.division")
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_division_converts_every_pair_to_float32(pair: Any) -> None:
    assert resolve_operation_plan("div", *pair) == _tensors("div", pair, F32, BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.integer-division")
def test_plan_integer_division_as_floating() -> None:
    plan = resolve_operation_plan("div", I32, I32)
    assert [operand.convert_to for operand in plan.operands] == [F32, F32]
    assert plan.output is F32


@pytest.mark.rule("policy.promotion-families.power")
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_tensor_power_converts_every_pair_to_float32(pair: Any) -> None:
    assert resolve_operation_plan("pow", *pair) == _tensors("pow", pair, F32, BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.integer-exponent")
@pytest.mark.parametrize("exponent", [0, 1, 2, 2**24, 2**24 + 1, 2**30 + 1, 2**31 - 2, 2**31 - 1])
def test_preserve_an_integer_exponent_exactly(exponent: int) -> None:
    plan = resolve_operation_plan("pow", I32, exponent)
    assert plan.operands == (OperandPlan(T, I32, I32), OperandPlan(S, None, I32))
    assert plan.compute is CHECKED
    assert plan.output is I32


@pytest.mark.rule("policy.promotion-families.floating-exponent")
@pytest.mark.parametrize("exponent", [-1, -(2**31), 2**31, 2**40, -(2**40), 2.0, 0.5, True, False])
def test_another_exponent_of_an_int32_base_selects_float32(exponent: Any) -> None:
    plan = resolve_operation_plan("pow", I32, exponent)
    assert plan.operands == (OperandPlan(T, I32, F32), OperandPlan(S, None, F32))
    assert plan.compute is BINARY32
    assert plan.output is F32


@pytest.mark.rule("policy.promotion-families.power")
@pytest.mark.parametrize("exponent", [0, 3, -1, 2**31, 0.5, True])
def test_a_float32_base_stays_float32_for_every_exponent(exponent: Any) -> None:
    plan = resolve_operation_plan("pow", F32, exponent)
    assert plan.operands == (OperandPlan(T, F32, F32), OperandPlan(S, None, F32))
    assert (plan.compute, plan.output) == (BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.reverse-power")
@pytest.mark.parametrize("base", [0, 2, -1, 2**31, 0.5, True])
@pytest.mark.parametrize("exponent", [F32, I32], ids=str)
def test_reverse_power_outputs_float32(base: Any, exponent: Any) -> None:
    plan = resolve_operation_plan("pow", base, exponent)
    assert plan.operands == (OperandPlan(S, None, F32), OperandPlan(T, exponent, F32))
    assert (plan.compute, plan.output) == (BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.scalar-mul")
@pytest.mark.parametrize("scalar", [0, 3, -1, 2**31 - 1, -(2**31)])
def test_int32_times_a_weak_integer_remains_int32(scalar: int) -> None:
    plan = resolve_operation_plan("mul", I32, scalar)
    assert plan.operands == (OperandPlan(T, I32, I32), OperandPlan(S, None, I32))
    assert (plan.compute, plan.output) == (CHECKED, I32)


@pytest.mark.rule("policy.promotion-families.scalar-mul")
@pytest.mark.parametrize("scalar", [0.5, 3.0, True, False])
def test_int32_times_a_floating_or_bool_scalar_selects_float32(scalar: Any) -> None:
    plan = resolve_operation_plan("mul", I32, scalar)
    assert plan.operands == (OperandPlan(T, I32, F32), OperandPlan(S, None, F32))
    assert (plan.compute, plan.output) == (BINARY32, F32)


@pytest.mark.rule("policy.promotion-families.relu")
def test_relu_preserves_float32_and_int32() -> None:
    assert resolve_operation_plan("relu", F32) == _tensors("relu", (F32,), F32, BINARY32, F32)
    assert resolve_operation_plan("relu", I32) == _tensors(
        "relu", (I32,), I32, Arithmetic.INT32_EXACT, I32
    )


@pytest.mark.rule("policy.promotion-families.activations")
@pytest.mark.parametrize("operation", ACTIVATIONS)
@pytest.mark.parametrize("source", [F32, I32], ids=str)
def test_the_other_activations_convert_to_float32(operation: str, source: Any) -> None:
    assert resolve_operation_plan(operation, source) == _tensors(
        operation, (source,), F32, BINARY32, F32
    )


@pytest.mark.rule("policy.promotion-families.float32-only")
@pytest.mark.parametrize("operation", UNARY)
def test_float32_only_unary_operations_require_float32(operation: str) -> None:
    assert resolve_operation_plan(operation, F32) == _tensors(operation, (F32,), F32, BINARY32, F32)
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, I32)


@pytest.mark.rule("policy.promotion-families.float32-only")
@pytest.mark.parametrize("operation", ["maximum", "minimum", "rem"])
def test_float32_only_binary_operations_require_float32(operation: str) -> None:
    assert resolve_operation_plan(operation, F32, F32) == _tensors(
        operation, (F32, F32), F32, BINARY32, F32
    )
    for pair in PAIRS[1:]:
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *pair)


@pytest.mark.rule("policy.promotion-families.comparisons")
@pytest.mark.parametrize("operation", ["eq", "ne", "lt", "le"])
def test_float32_comparisons_output_bool(operation: str) -> None:
    assert resolve_operation_plan(operation, F32, F32) == _tensors(
        operation, (F32, F32), F32, BINARY32, BOOL
    )
    for pair in PAIRS[1:]:
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *pair)


@pytest.mark.rule("policy.promotion-families.comparisons")
def test_logical_not_of_float32_outputs_bool() -> None:
    assert resolve_operation_plan("logical_not", F32) == _tensors(
        "logical_not", (F32,), F32, BINARY32, BOOL
    )
    for refused in (I32, BOOL):
        with pytest.raises(TypeError):
            resolve_operation_plan("logical_not", refused)


@pytest.mark.rule("policy.promotion-families.bool")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "elementwise_mul", "div", "pow"])
@pytest.mark.parametrize("other", [F32, I32, BOOL], ids=str)
def test_bool_does_not_participate_in_numeric_promotion(operation: str, other: Any) -> None:
    for operands in ((BOOL, other), (other, BOOL)):
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.promotion-families.bool")
@pytest.mark.parametrize("scalar", [2, 0.5, True])
def test_bool_does_not_combine_with_a_scalar(scalar: Any) -> None:
    for operation, operands in (("mul", (BOOL, scalar)), ("pow", (BOOL, scalar))):
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *operands)
    with pytest.raises(TypeError):
        resolve_operation_plan("pow", scalar, BOOL)


@pytest.mark.rule("policy.promotion-families.elementwise-mul")
def test_elementwise_mul_plans_as_mul_of_tensors() -> None:
    for pair in itertools.product((F32, I32), repeat=2):
        mul = resolve_operation_plan("mul", *pair)
        other = resolve_operation_plan("elementwise_mul", *pair)
        assert (mul.operands, mul.compute, mul.output) == (
            other.operands,
            other.compute,
            other.output,
        )
