"""Bits against bits: where two results differ, what kind of difference it is, and its decoding.

Belongs here: classes of difference. A sum in another association is told from a fault by the error
bound of that sum: n rounded terms of absolute sum A, added in any order with unit roundoff u, stay
within ``(n-1)u/(1-(n-1)u) * A`` of the exact sum (Higham, Accuracy and Stability of Numerical
Algorithms, section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from bittrue.dtypes import DType, SimpleDType, component_of, is_complex
from bittrue.encoding import (
    BINARY32,
    BINARY64,
    BINARY128,
    BINARY_FORMATS,
    BinaryFormat,
    component_format,
)
from bittrue.generic import arithmetic as ar
from bittrue.generic import format_of
from bittrue.generic import numbers as nu
from bittrue.policy import Accumulation, OperationPlan
from bittrue.scalars import scalar_value


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


SUMS = (Accumulation.FLOATING, Accumulation.SEQUENTIAL_BINARY32, Accumulation.SEQUENTIAL)

_WORST_FIRST = (
    Difference.VALUE,
    Difference.SPECIAL,
    Difference.ZERO_SIGN,
    Difference.NAN_BITS,
)


def _parts(dtype: SimpleDType, element: int) -> tuple[int, ...]:
    """Return the parts of a complex element, or the element alone."""
    return component_format(dtype).parts(element) if is_complex(dtype) else (element,)


def classify(dtype: SimpleDType, expected: int, actual: int) -> Difference:
    """Return the class of two different elements of `dtype`, association apart.

    Of a complex element, the class of the part that differs more.
    """
    fmt = BINARY_FORMATS.get(component_of(dtype))
    if fmt is None:
        return Difference.VALUE
    pairs = zip(_parts(dtype, expected), _parts(dtype, actual), strict=True)
    kinds = {_class_of_part(fmt, want, got) for want, got in pairs if want != got}
    return next(kind for kind in _WORST_FIRST if kind in kinds)


def _class_of_part(fmt: BinaryFormat, expected: int, actual: int) -> Difference:
    if fmt.is_nan(expected) and fmt.is_nan(actual):
        return Difference.NAN_BITS
    if fmt.is_zero(expected) and fmt.is_zero(actual):
        return Difference.ZERO_SIGN
    if not (fmt.is_finite(expected) and fmt.is_finite(actual)):
        return Difference.SPECIAL
    return Difference.VALUE


def ulps(dtype: SimpleDType, expected: int, actual: int) -> int | None:
    """Return how many representable numbers lie from one to the other; None with a NaN.

    Of complex elements, those of the part that lies further apart.
    """
    fmt = BINARY_FORMATS.get(component_of(dtype))
    if fmt is None:
        return None
    distances = []
    for want, got in zip(_parts(dtype, expected), _parts(dtype, actual), strict=True):
        if fmt.is_nan(want) and fmt.is_nan(got):
            continue
        if fmt.is_nan(want) or fmt.is_nan(got):
            return None
        distances.append(abs(_ordinal(fmt, want) - _ordinal(fmt, got)))
    return max(distances, default=None)


def _ordinal(fmt: BinaryFormat, bits: int) -> int:
    magnitude = bits & (fmt.sign - 1)
    return -magnitude if bits & fmt.sign else magnitude


def _value(fmt: BinaryFormat, bits: int) -> Fraction:
    negative, significand, exponent = fmt.decode(bits)
    scale = Fraction(2) ** exponent
    return -significand * scale if negative else significand * scale


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of one plan: the formats of its terms, its accumulator and its result.

    `after` is what is done with the sum of `count` terms: "mean", "norm" or nothing.
    """

    terms: BinaryFormat
    accumulator: BinaryFormat
    result: BinaryFormat
    after: str
    count: int

    @property
    def wide(self) -> bool:
        """Whether the accumulator holds every sum of terms, which then cannot overflow."""
        return self.accumulator is not self.terms

    def finished(self, total: Fraction) -> int:
        """Return the result of an exact total: monotonic, as every rounding in it is."""
        acc = self.accumulator
        bits = acc.encode_ratio(total.numerator, total.denominator)
        if self.after == "mean":
            bits = ar.div(acc, bits, acc.encode(self.count, 0))
        elif self.after == "norm":
            bits = ar.sqrt(acc, ar.maximum(acc, bits, 0))
        return nu.convert(bits, acc, self.result)


def is_association(plan: OperationPlan, terms: Sequence[nu.Number], actual: int) -> bool:
    """Tell whether `actual` may be the sum of `terms` in some order, each part by itself.

    The order of two terms cannot show, so at least three are needed. A finite result lies within
    the error bound. An infinity comes from a term, or from finite terms of its sign that overflow;
    a NaN from a term, or where infinities of both signs meet. No order gives -0: sums start from
    +0.
    """
    if plan.accumulation not in SUMS or len(terms) < 3:
        return False
    accumulator = plan.accumulator_dtype or plan.output
    kind = _Sum(
        format_of(plan),
        component_format(accumulator),
        component_format(plan.output),
        plan.operation if plan.operation in {"mean", "norm"} else "",
        len(terms),
    )
    parts = _parts(plan.output, actual)
    columns = zip(*(t if isinstance(t, tuple) else (t,) for t in terms), strict=True)
    return all(_may_be(kind, column, part) for column, part in zip(columns, parts, strict=True))


def _may_be(kind: _Sum, terms: Sequence[int], actual: int) -> bool:
    fmt, result = kind.terms, kind.result
    if actual == result.sign and kind.after != "mean":  # a mean may underflow to it
        return False
    if any(map(fmt.is_nan, terms)):
        return result.is_nan(actual)
    finite = [_value(fmt, term) for term in terms if fmt.is_finite(term)]
    if result.is_finite(actual):
        return len(finite) == len(terms) and _within_bound(kind, finite, actual)
    # Signs of the infinities that are given, and of those that finite terms may come to.
    given = {bool(term & fmt.sign) for term in terms if fmt.is_infinite(term)}
    overflow = {sign for sign in (False, True) if _may_overflow(kind, finite, negative=sign)}
    if result.is_nan(actual):
        # Where the accumulator is wide only the total overflows: it has nothing left to meet.
        return len(given if kind.wide else given | overflow) == 2
    return bool(actual & result.sign) in (given or overflow) and len(given) < 2


def _growth(kind: _Sum) -> Fraction:
    """Return the bound of the relative error of the sum, on its absolute terms."""
    error = (kind.count - 1) * Fraction(1, 2 ** (kind.accumulator.fraction_bits + 1))
    return error / (1 - error)


def _within_bound(kind: _Sum, terms: list[Fraction], actual: int) -> bool:
    exact = sum(terms, Fraction(0))
    bound = _growth(kind) * sum(map(abs, terms), Fraction(0))
    low, high = exact - bound, exact + bound
    if not kind.wide and not kind.after:
        return low <= _value(kind.result, actual) <= high
    # What follows the sum is monotonic: it maps the interval onto that of its ends.
    ends = (kind.finished(low), kind.finished(high))
    first, last = (_ordinal(kind.result, end) for end in ends)
    return first <= _ordinal(kind.result, actual) <= last


def _may_overflow(kind: _Sum, terms: list[Fraction], *, negative: bool) -> bool:
    """Tell whether finite terms may give the infinity of a sign in some order."""
    growth = _growth(kind)
    magnitude = sum(map(abs, terms), Fraction(0))
    total = sum(terms, Fraction(0))
    if negative:
        total = -total
    if kind.wide:
        # The accumulator holds every partial sum, and the total overflows where it is narrowed.
        return kind.result.is_infinite(kind.finished(total + growth * magnitude))
    # A partial sum overflows, none larger than that of the terms of one sign.
    return (1 + growth) * (magnitude + total) / 2 >= kind.accumulator.overflow_threshold


def spell(dtype: SimpleDType, stored: int) -> str:
    """Write a stored element as bits in hex and as a number; of a complex one, part by part."""
    fmt = BINARY_FORMATS.get(component_of(dtype))
    if fmt is None:
        return str(bool(stored)) if dtype is DType.Bool else f"{stored % 2**32:08x} ({stored})"
    digits = fmt.width // 4
    parts = _parts(dtype, stored)
    bits = " ".join(f"{part:0{digits}x}" for part in parts)
    numbers = [_spelled_part(component_of(dtype), fmt, part) for part in parts]
    if len(parts) == 1:
        return f"{bits} ({numbers[0]})"
    joint = "" if numbers[1].startswith("-") else "+"
    return f"{bits} ({numbers[0]}{joint}{numbers[1]}j)"


_DIGITS = {BINARY32: 9, BINARY64: 17, BINARY128: 36}
"""Significant decimal digits that tell every two numbers of a format apart."""


def _spelled_part(dtype: SimpleDType, fmt: BinaryFormat, part: int) -> str:
    if fmt.is_nan(part):
        kind = "signaling NaN" if fmt.is_signaling(part) else "NaN"
        return f"{'-' if part & fmt.sign else ''}{kind}"
    return f"{scalar_value(part, dtype):.{_DIGITS[fmt]}g}"
