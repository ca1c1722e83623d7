"""Requirement: Weak scalars select branches without acquiring a dtype."""

from __future__ import annotations

import itertools
import numbers
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue.dtypes import DType
from bittrue.policy import (
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationPlan,
    resolve_operation_plan,
)

F32, I32 = DType.Float32, DType.Int32
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
BINARY32, CHECKED = Arithmetic.BINARY32, Arithmetic.INT32_EXACT_CHECKED


class OwnReal:
    """A real number of its own class."""

    def __float__(self) -> float:
        return 3.0


class OwnIntegral:
    """An integral number of its own class."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


class OwnInt(int):
    """An int of its own class."""


class OwnFloat(float):
    """A float of its own class."""


class Colour(IntEnum):
    """Integers with names."""

    RED = 3


numbers.Real.register(OwnReal)
numbers.Integral.register(OwnIntegral)


def _plan(operation: str, tensor: Any, converted: Any, compute: Arithmetic) -> OperationPlan:
    operands = (OperandPlan(T, tensor, converted), OperandPlan(S, None, converted))
    return OperationPlan(operation, operands, compute, None, None, converted)


FLOATING = [
    True,
    False,
    3.0,
    -1.0,
    0.5,
    0.0,
    -0.0,
    1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
    Fraction(1, 3),
    Fraction(3, 1),
    OwnReal(),
    OwnFloat(2.0),
    gmpy2.mpfr(2),
    gmpy2.mpq(2, 1),
]
INTEGER = [
    0,
    3,
    2**31 - 1,
    2**24 + 1,
    OwnInt(3),
    OwnIntegral(3),
    OwnIntegral(2**31 - 1),
    Colour.RED,
    gmpy2.mpz(3),
]
NEGATIVE = [-1, -(2**31), OwnInt(-1), OwnIntegral(-(2**31)), gmpy2.mpz(-1)]
WIDE = [2**31, -(2**31) - 1, 2**62, -(2**63), 10**40, OwnInt(2**31), OwnIntegral(-(2**31) - 1)]
REFUSED = [
    1j,
    complex(3, 0),
    Decimal(3),
    Decimal("0.5"),
    "3",
    b"3",
    None,
    [3],
    (3,),
    {3},
    np.float64(3),
    np.float32(0.5),
    np.float16(1),
    np.int32(3),
    np.int64(3),
    np.uint8(3),
    np.bool_(True),  # noqa: FBT003
    np.complex64(3),
    np.array(3),
    np.array([3.0]),
]


@pytest.mark.rule("policy.weak-scalars.bool-is-floating")
@pytest.mark.parametrize("scalar", [True, False])
def test_treat_bool_as_a_weak_floating_scalar(scalar: bool) -> None:  # noqa: FBT001
    plan = resolve_operation_plan("mul", DType.Int32, scalar)
    assert plan == _plan("mul", I32, F32, BINARY32)
    assert plan.output is F32


@pytest.mark.rule("policy.weak-scalars.out-of-range")
@pytest.mark.parametrize("scalar", WIDE)
def test_reject_an_out_of_range_integer_scalar_on_an_integer_path(scalar: Any) -> None:
    with pytest.raises(OverflowError):
        resolve_operation_plan("mul", I32, scalar)


@pytest.mark.rule("policy.weak-scalars.boundaries")
@pytest.mark.parametrize("scalar", [-(2**31), -1, 0, 1, 2**31 - 1])
def test_every_integer_inside_int32_keeps_mul_integer(scalar: int) -> None:
    assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, I32, CHECKED)


@pytest.mark.rule("policy.weak-scalars.boundaries")
@pytest.mark.parametrize("scalar", [-(2**31) - 1, 2**31])
def test_the_first_integers_outside_int32_are_refused_by_mul(scalar: int) -> None:
    with pytest.raises(OverflowError):
        resolve_operation_plan("mul", I32, scalar)


@pytest.mark.rule("policy.weak-scalars.kinds")
@pytest.mark.parametrize("scalar", FLOATING)
def test_a_real_that_is_not_integral_by_type_selects_the_floating_kind(scalar: Any) -> None:
    assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, F32, BINARY32)
    assert resolve_operation_plan("pow", I32, scalar) == _plan("pow", I32, F32, BINARY32)


@pytest.mark.rule("policy.weak-scalars.kinds")
@pytest.mark.parametrize("scalar", INTEGER)
def test_an_integral_value_selects_the_integer_kind(scalar: Any) -> None:
    assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, I32, CHECKED)
    assert resolve_operation_plan("pow", I32, scalar) == _plan("pow", I32, I32, CHECKED)


@pytest.mark.rule("policy.weak-scalars.kinds")
@pytest.mark.parametrize("scalar", NEGATIVE)
def test_a_negative_integer_keeps_mul_integer_and_makes_pow_floating(scalar: Any) -> None:
    assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, I32, CHECKED)
    assert resolve_operation_plan("pow", I32, scalar) == _plan("pow", I32, F32, BINARY32)


@pytest.mark.rule("policy.weak-scalars.not-real")
@pytest.mark.parametrize("scalar", REFUSED, ids=lambda s: f"{type(s).__name__}-{s}")
@pytest.mark.parametrize("tensor", [F32, I32], ids=str)
def test_what_is_no_weak_scalar_is_a_type_error(tensor: DType, scalar: Any) -> None:
    for operation, operands in (
        ("mul", (tensor, scalar)),
        ("pow", (tensor, scalar)),
        ("pow", (scalar, tensor)),
        ("clamp", (F32, scalar, 1.0)),
        ("clamp", (F32, F32, scalar)),
        ("clamp", (F32, scalar, F32)),
    ):
        with pytest.raises(TypeError):
            resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.weak-scalars.floating-path-has-no-range")
@pytest.mark.parametrize("scalar", [*WIDE, 2**128, -(2**2000)], ids=lambda s: f"{int(s):x}"[:20])
def test_the_same_value_may_select_a_floating_plan_without_a_range_failure(scalar: Any) -> None:
    assert resolve_operation_plan("mul", F32, scalar) == _plan("mul", F32, F32, BINARY32)
    assert resolve_operation_plan("pow", F32, scalar) == _plan("pow", F32, F32, BINARY32)
    assert resolve_operation_plan("pow", I32, scalar) == _plan("pow", I32, F32, BINARY32)
    for exponent in (F32, I32):
        assert resolve_operation_plan("pow", scalar, exponent).output is F32
    assert resolve_operation_plan("clamp", F32, scalar, scalar).output is F32


@pytest.mark.rule("policy.weak-scalars.no-dtype")
def test_the_operand_plan_of_a_scalar_has_no_dtype_and_states_its_materialization() -> None:
    for operation, operands, position, converted in (
        ("mul", (I32, 3), 1, I32),
        ("mul", (I32, 0.5), 1, F32),
        ("mul", (F32, 3), 1, F32),
        ("pow", (I32, 3), 1, I32),
        ("pow", (I32, -1), 1, F32),
        ("pow", (2, I32), 0, F32),
        ("clamp", (F32, 0, F32), 1, F32),
        ("clamp", (F32, 0, True), 2, F32),
    ):
        operand = resolve_operation_plan(operation, *operands).operands[position]
        assert operand.role is S
        assert operand.dtype is None
        assert operand.convert_to is converted


@pytest.mark.rule("policy.weak-scalars.caching")
@pytest.mark.parametrize("order", list(itertools.permutations([1, 1.0, True])), ids=repr)
def test_caching_never_mixes_equal_scalars_of_different_kinds(order: tuple[Any, ...]) -> None:
    for _ in range(2):
        for scalar in order:
            wanted = (I32, CHECKED) if type(scalar) is int else (F32, BINARY32)
            for operation in ("mul", "pow"):
                plan = resolve_operation_plan(operation, I32, scalar)
                assert plan == _plan(operation, I32, *wanted)


@pytest.mark.rule("policy.weak-scalars.caching")
def test_caching_never_mixes_exponents_of_different_branches() -> None:
    for exponent in (3, -1, 3, 2**31, -(2**31) - 1, 2**31 - 1, 0, -(2**31), 3.0, False, 0):
        plan = resolve_operation_plan("pow", I32, exponent)
        exact = type(exponent) is int and 0 <= exponent <= 2**31 - 1
        assert plan == _plan("pow", I32, *((I32, CHECKED) if exact else (F32, BINARY32)))


@pytest.mark.rule("policy.weak-scalars.caching")
def test_a_cached_plan_lets_no_out_of_range_integer_pass() -> None:
    for scalar in (3, 2**31, -1, -(2**31) - 1, 3):
        if -(2**31) <= scalar <= 2**31 - 1:
            resolve_operation_plan("mul", I32, scalar)
        else:
            with pytest.raises(OverflowError):
                resolve_operation_plan("mul", I32, scalar)


@pytest.mark.rule("policy.weak-scalars.caching")
def test_a_cached_plan_lets_no_numpy_scalar_pass() -> None:
    resolve_operation_plan("mul", I32, 3)
    resolve_operation_plan("mul", F32, 3.0)
    for scalar in (np.int32(3), np.float64(3.0), np.float32(3.0)):
        with pytest.raises(TypeError):
            resolve_operation_plan("mul", I32, scalar)
        with pytest.raises(TypeError):
            resolve_operation_plan("mul", F32, scalar)


@pytest.mark.rule("policy.weak-scalars.boundaries")
@given(st.integers(min_value=-(2**34), max_value=2**34))
def test_the_branch_of_an_integer_follows_its_range(scalar: int) -> None:
    inside = -(2**31) <= scalar <= 2**31 - 1
    if inside:
        assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, I32, CHECKED)
    else:
        with pytest.raises(OverflowError):
            resolve_operation_plan("mul", I32, scalar)
    exact = inside and scalar >= 0
    wanted = _plan("pow", I32, *((I32, CHECKED) if exact else (F32, BINARY32)))
    assert resolve_operation_plan("pow", I32, scalar) == wanted


@pytest.mark.rule("policy.weak-scalars.kinds")
@given(st.floats() | st.fractions() | st.booleans())
def test_every_floating_scalar_selects_one_branch(scalar: Any) -> None:
    assert resolve_operation_plan("mul", I32, scalar) == _plan("mul", I32, F32, BINARY32)
    assert resolve_operation_plan("pow", I32, scalar) == _plan("pow", I32, F32, BINARY32)
