"""Bits against bits: where two results differ, what kind of difference it is, and its decoding.

Belongs here: classes of difference. A sum in another association is told from a fault by the error
bound of that sum: n rounded terms of absolute sum A, added in any order with unit roundoff u, stay
within ``(n-1)u/(1-(n-1)u) * A`` of the exact sum (Higham, Accuracy and Stability of Numerical
Algorithms, section 4.2).
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from bittrue.dtypes import DType, SimpleDType
from bittrue.encoding import BINARY32, BINARY64, BinaryFormat
from bittrue.policy import Accumulation, OperationPlan
from bittrue.scalars import BINARY_FORMATS, scalar_value


class Difference(Enum):
    """Class of one difference."""

    NAN_BITS = "nan bits"
    ASSOCIATION = "association"
    ZERO_SIGN = "sign of zero"
    SPECIAL = "special value"
    VALUE = "value"
    WRAP = "wraps instead of raising"
    DTYPE = "result dtype"
    SHAPE = "result shape"


SUMS = (Accumulation.FLOATING, Accumulation.SEQUENTIAL_BINARY32)


def classify(dtype: SimpleDType, expected: int, actual: int) -> Difference:
    """Return the class of two different elements of `dtype`, association apart."""
    fmt = BINARY_FORMATS.get(dtype)
    if fmt is None:
        return Difference.VALUE
    if fmt.is_nan(expected) and fmt.is_nan(actual):
        return Difference.NAN_BITS
    if fmt.is_zero(expected) and fmt.is_zero(actual):
        return Difference.ZERO_SIGN
    if not (fmt.is_finite(expected) and fmt.is_finite(actual)):
        return Difference.SPECIAL
    return Difference.VALUE


def ulps(dtype: SimpleDType, expected: int, actual: int) -> int | None:
    """Return how many representable numbers lie from one to the other; None with a NaN."""
    fmt = BINARY_FORMATS.get(dtype)
    if fmt is None or fmt.is_nan(expected) or fmt.is_nan(actual):
        return None
    return abs(_ordinal(fmt, expected) - _ordinal(fmt, actual))


def _ordinal(fmt: BinaryFormat, bits: int) -> int:
    magnitude = bits & (fmt.sign - 1)
    return -magnitude if bits & fmt.sign else magnitude


def _value(fmt: BinaryFormat, bits: int) -> Fraction:
    negative, significand, exponent = fmt.decode(bits)
    scale = Fraction(2) ** exponent
    return -significand * scale if negative else significand * scale


def is_association(plan: OperationPlan, terms: list[int], actual: int) -> bool:
    """Tell whether `actual` is the sum of the Float32 `terms` in some order, by its error bound.

    The order of two terms cannot show, so at least three are needed. With infinities or NaNs among
    the terms the result is the same in every order, unless a finite partial sum may overflow.
    """
    if plan.accumulation not in SUMS or len(terms) < 3:
        return False
    finite = [_value(BINARY32, term) for term in terms if BINARY32.is_finite(term)]
    magnitude = sum(map(abs, finite), Fraction(0))
    accumulator = BINARY64 if plan.accumulator_dtype is DType.Float64 else BINARY32
    unit = Fraction(1, 2 ** (accumulator.fraction_bits + 1))
    additions = len(terms) - 1
    bound = additions * unit / (1 - additions * unit) * magnitude
    may_overflow = magnitude + bound >= BINARY32.overflow_threshold
    if len(finite) < len(terms) or not BINARY32.is_finite(actual):
        return may_overflow and not BINARY32.is_finite(actual)
    exact = sum(finite, Fraction(0))
    if accumulator is BINARY64:
        # The one narrowing at the end: half an ulp of the result.
        bound += abs(exact) * Fraction(1, 2**24) + Fraction(1, 2**150)
    return may_overflow or abs(_value(BINARY32, actual) - exact) <= bound


def spell(dtype: SimpleDType, stored: int) -> str:
    """Write a stored element as bits in hex and as a number."""
    fmt = BINARY_FORMATS.get(dtype)
    if fmt is None:
        return str(bool(stored)) if dtype is DType.Bool else str(stored)
    digits = fmt.width // 4
    if fmt.is_nan(stored):
        kind = "signaling NaN" if fmt.is_signaling(stored) else "NaN"
        return f"{stored:0{digits}x} ({'-' if stored & fmt.sign else ''}{kind})"
    precision = 9 if fmt is BINARY32 else 17
    return f"{stored:0{digits}x} ({scalar_value(stored, dtype):.{precision}g})"
