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
    """Tell whether `actual` may be the sum of the Float32 `terms` in some order.

    The order of two terms cannot show, so at least three are needed. A finite result lies within
    the error bound. An infinity comes from a term, or from finite terms of its sign that overflow;
    a NaN from a term, or where infinities of both signs meet. No order gives -0: sums start from
    +0.
    """
    if plan.accumulation not in SUMS or len(terms) < 3 or actual == BINARY32.sign:
        return False
    wide = plan.accumulator_dtype is DType.Float64
    finite = [_value(BINARY32, term) for term in terms if BINARY32.is_finite(term)]
    if any(map(BINARY32.is_nan, terms)):
        return BINARY32.is_nan(actual)
    if BINARY32.is_finite(actual):
        return len(finite) == len(terms) and _within_bound(finite, actual, wide=wide)
    given = {term for term in terms if BINARY32.is_infinite(term)}
    overflow = {bits for bits in _INFINITIES if _may_overflow(finite, bits, wide=wide)}
    if BINARY32.is_nan(actual):
        # In binary64 only the total overflows: it has nothing left to meet.
        return len(given if wide else given | overflow) == 2
    return actual in (given or overflow) and len(given) < 2


_INFINITIES = (BINARY32.infinity, BINARY32.sign | BINARY32.infinity)


def _growth(count: int, *, wide: bool) -> Fraction:
    """Return the bound of the relative error of `count` terms, on their absolute sum."""
    error = (count - 1) * Fraction(1, 2 ** ((BINARY64 if wide else BINARY32).fraction_bits + 1))
    return error / (1 - error)


def _within_bound(terms: list[Fraction], actual: int, *, wide: bool) -> bool:
    exact = sum(terms, Fraction(0))
    bound = _growth(len(terms), wide=wide) * sum(map(abs, terms), Fraction(0))
    low, high = exact - bound, exact + bound
    if not wide:
        return low <= _value(BINARY32, actual) <= high
    # The one narrowing at the end is monotonic: it maps the interval onto that of its ends.
    first, last = (BINARY32.encode_ratio(end.numerator, end.denominator) for end in (low, high))
    return _ordinal(BINARY32, first) <= _ordinal(BINARY32, actual) <= _ordinal(BINARY32, last)


def _may_overflow(terms: list[Fraction], infinity: int, *, wide: bool) -> bool:
    """Tell whether finite terms may give this infinity in some order."""
    growth = _growth(max(len(terms), 1), wide=wide)
    magnitude = sum(map(abs, terms), Fraction(0))
    total = sum(terms, Fraction(0))
    if infinity & BINARY32.sign:
        total = -total
    # A Float32 accumulator overflows in a partial sum, none larger than that of the terms of one
    # sign; a Float64 one holds them all, and the total overflows where it is narrowed.
    largest = total + growth * magnitude if wide else (1 + growth) * (magnitude + total) / 2
    return largest >= BINARY32.overflow_threshold


def spell(dtype: SimpleDType, stored: int) -> str:
    """Write a stored element as bits in hex and as a number."""
    fmt = BINARY_FORMATS.get(dtype)
    if fmt is None:
        return str(bool(stored)) if dtype is DType.Bool else f"{stored % 2**32:08x} ({stored})"
    digits = fmt.width // 4
    if fmt.is_nan(stored):
        kind = "signaling NaN" if fmt.is_signaling(stored) else "NaN"
        return f"{stored:0{digits}x} ({'-' if stored & fmt.sign else ''}{kind})"
    precision = 9 if fmt is BINARY32 else 17
    return f"{stored:0{digits}x} ({scalar_value(stored, dtype):.{precision}g})"
