"""Floating arithmetic on bits: each function is one operation and one rounding.

Belongs here: the IEEE operations of a binary format, over exact integers, whichever format it is.
Clauses: operation-dtype-policy, *Arithmetic and accumulation values have exact semantics*
(BINARY32) and *Generic is the concrete semantic reference*; tensor-promotion, *Division and
Reductions* (floor division, remainder and comparison have contracts of their own). Every NaN that
is computed is the canonical quiet NaN; `neg` and `absolute` change the sign bit only.
"""

from __future__ import annotations

from math import isqrt

from bittrue.encoding import BinaryFormat, Rounding, round_magnitude


def add(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return lhs + rhs."""
    if fmt.is_finite(lhs) and fmt.is_finite(rhs):
        negative_l, significand_l, exponent_l = fmt.decode(lhs)
        negative_r, significand_r, exponent_r = fmt.decode(rhs)
        exponent = min(exponent_l, exponent_r)
        total = (-significand_l if negative_l else significand_l) << (exponent_l - exponent)
        total += (-significand_r if negative_r else significand_r) << (exponent_r - exponent)
        if not total:
            # An exact zero is -0 only where both operands are -0.
            return fmt.sign if lhs == rhs == fmt.sign else 0
        return fmt.encode(abs(total), exponent, negative=total < 0)
    if fmt.is_nan(lhs) or fmt.is_nan(rhs):
        return fmt.quiet_nan
    if fmt.is_infinite(lhs) and fmt.is_infinite(rhs) and lhs != rhs:
        return fmt.quiet_nan
    return lhs if fmt.is_infinite(lhs) else rhs


def sub(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return lhs - rhs."""
    return add(fmt, lhs, rhs ^ fmt.sign)


def mul(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return lhs * rhs."""
    sign = (lhs ^ rhs) & fmt.sign
    if fmt.is_finite(lhs) and fmt.is_finite(rhs):
        _, significand_l, exponent_l = fmt.decode(lhs)
        _, significand_r, exponent_r = fmt.decode(rhs)
        product = significand_l * significand_r
        return fmt.encode(product, exponent_l + exponent_r, negative=bool(sign))
    if fmt.is_nan(lhs) or fmt.is_nan(rhs) or fmt.is_zero(lhs) or fmt.is_zero(rhs):
        return fmt.quiet_nan
    return sign | fmt.infinity


def div(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return lhs / rhs."""
    sign = (lhs ^ rhs) & fmt.sign
    if fmt.is_nan(lhs) or fmt.is_nan(rhs):
        return fmt.quiet_nan
    if fmt.is_infinite(lhs):
        return fmt.quiet_nan if fmt.is_infinite(rhs) else sign | fmt.infinity
    if fmt.is_infinite(rhs):
        return sign
    if fmt.is_zero(rhs):
        return fmt.quiet_nan if fmt.is_zero(lhs) else sign | fmt.infinity
    _, significand_l, exponent_l = fmt.decode(lhs)
    _, significand_r, exponent_r = fmt.decode(rhs)
    shift = 2 * fmt.fraction_bits + 4
    quotient, rest = divmod(significand_l << shift, significand_r)
    return fmt.encode(
        quotient, exponent_l - exponent_r - shift, negative=bool(sign), sticky=rest != 0
    )


def sqrt(fmt: BinaryFormat, value: int) -> int:
    """Return the square root; -0 for -0, NaN below zero."""
    if fmt.is_nan(value) or (value & fmt.sign and not fmt.is_zero(value)):
        return fmt.quiet_nan
    if fmt.is_zero(value) or fmt.is_infinite(value):
        return value
    _, significand, exponent = fmt.decode(value)
    shift = 2 * (fmt.fraction_bits + 3) + (exponent & 1)
    radicand = significand << shift
    root = isqrt(radicand)
    return fmt.encode(root, (exponent - shift) // 2, sticky=root * root != radicand)


def rsqrt(fmt: BinaryFormat, value: int) -> int:
    """Return 1 / sqrt(value), rounded once; -inf for -0, NaN below zero."""
    if fmt.is_nan(value) or (value & fmt.sign and not fmt.is_zero(value)):
        return fmt.quiet_nan
    if fmt.is_zero(value):
        return value | fmt.infinity
    if fmt.is_infinite(value):
        return 0
    _, significand, exponent = fmt.decode(value)
    # root = floor(sqrt(2**shift / significand)), and shift + exponent is even.
    shift = 4 * (fmt.fraction_bits + 3) + (exponent & 1)
    root = isqrt((1 << shift) // significand)
    sticky = root * root * significand != 1 << shift
    return fmt.encode(root, -(shift + exponent) // 2, sticky=sticky)


def recip(fmt: BinaryFormat, value: int) -> int:
    """Return 1 / value."""
    return div(fmt, one(fmt), value)


def rem(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return the exact truncated remainder, with the sign of lhs, on a zero too."""
    if fmt.is_nan(lhs) or fmt.is_nan(rhs) or fmt.is_infinite(lhs) or fmt.is_zero(rhs):
        return fmt.quiet_nan
    if fmt.is_infinite(rhs) or fmt.is_zero(lhs):
        return lhs
    negative, significand_l, exponent_l = fmt.decode(lhs)
    _, significand_r, exponent_r = fmt.decode(rhs)
    exponent = min(exponent_l, exponent_r)
    rest = (significand_l << (exponent_l - exponent)) % (significand_r << (exponent_r - exponent))
    return fmt.encode(rest, exponent, negative=negative)


def remainder(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return lhs - rhs * floor(lhs / rhs), exact but for one rounding.

    A zero has the sign of rhs. NaN for an infinite lhs and for a zero rhs; an infinite rhs leaves
    an lhs of its sign, and is the result beside one of the other.
    """
    if fmt.is_nan(lhs) or fmt.is_nan(rhs) or fmt.is_infinite(lhs) or fmt.is_zero(rhs):
        return fmt.quiet_nan
    negative = bool(rhs & fmt.sign)
    if fmt.is_zero(lhs):
        return rhs & fmt.sign
    if fmt.is_infinite(rhs):
        return rhs if (lhs ^ rhs) & fmt.sign else lhs
    numerator, denominator, exponent = _common(fmt, lhs, rhs)
    return fmt.encode(abs(numerator % denominator), exponent, negative=negative)


def floor_divide(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return floor(lhs / rhs) of the exact quotient, rounded once.

    A zero has the sign of the quotient. By zero as `div`; NaN for an infinite lhs by another
    number; an infinite rhs gives a zero, or -1 where the signs differ.
    """
    if fmt.is_nan(lhs) or fmt.is_nan(rhs):
        return fmt.quiet_nan
    if fmt.is_zero(rhs):
        return div(fmt, lhs, rhs)
    if fmt.is_infinite(lhs):
        return fmt.quiet_nan
    sign = (lhs ^ rhs) & fmt.sign
    if fmt.is_zero(lhs):
        return sign
    if fmt.is_infinite(rhs):
        return neg(fmt, one(fmt)) if sign else 0
    numerator, denominator, _ = _common(fmt, lhs, rhs)
    return fmt.encode(abs(numerator // denominator), 0, negative=bool(sign))


def _common(fmt: BinaryFormat, lhs: int, rhs: int) -> tuple[int, int, int]:
    """Return two finite numbers as integers over one power of two, and its exponent."""
    negative_l, significand_l, exponent_l = fmt.decode(lhs)
    negative_r, significand_r, exponent_r = fmt.decode(rhs)
    exponent = min(exponent_l, exponent_r)
    left, right = significand_l << (exponent_l - exponent), significand_r << (exponent_r - exponent)
    return -left if negative_l else left, -right if negative_r else right, exponent


def neg(fmt: BinaryFormat, value: int) -> int:
    """Flip the sign bit, also of a NaN."""
    return value ^ fmt.sign


def absolute(fmt: BinaryFormat, value: int) -> int:
    """Clear the sign bit, also of a NaN."""
    return value & (fmt.sign - 1)


def sign(fmt: BinaryFormat, value: int) -> int:
    """Return -1, +1, or +0 for a zero of either sign."""
    if fmt.is_nan(value):
        return fmt.quiet_nan
    return 0 if fmt.is_zero(value) else (value & fmt.sign) | one(fmt)


def _to_integer(fmt: BinaryFormat, value: int, rounding: Rounding) -> int:
    """Round to an integer of the same format; a zero keeps the sign of the operand."""
    if fmt.is_nan(value):
        return fmt.quiet_nan
    if fmt.is_infinite(value) or fmt.is_zero(value):
        return value
    negative, significand, exponent = fmt.decode(value)
    whole, _ = round_magnitude(significand, -exponent, negative=negative, rounding=rounding)
    return fmt.encode(whole, 0, negative=negative)


def floor(fmt: BinaryFormat, value: int) -> int:
    """Round to an integer toward negative infinity."""
    return _to_integer(fmt, value, Rounding.RTM)


def ceil(fmt: BinaryFormat, value: int) -> int:
    """Round to an integer toward positive infinity."""
    return _to_integer(fmt, value, Rounding.RTP)


def round_even(fmt: BinaryFormat, value: int) -> int:
    """Round to the nearest integer, ties to even."""
    return _to_integer(fmt, value, Rounding.RNE)


def order(fmt: BinaryFormat, bits: int) -> int:
    """Return an integer that orders numbers by value; both zeros give 0. Not for NaN."""
    magnitude = bits & (fmt.sign - 1)
    return -magnitude if bits & fmt.sign else magnitude


def maximum(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return the larger; a NaN wins, +0 is above -0."""
    if fmt.is_nan(lhs) or fmt.is_nan(rhs):
        return fmt.quiet_nan
    if order(fmt, lhs) == order(fmt, rhs):
        # Equal values differ in bits only as zeros; +0 has no sign bit.
        return lhs & rhs
    return lhs if order(fmt, lhs) > order(fmt, rhs) else rhs


def minimum(fmt: BinaryFormat, lhs: int, rhs: int) -> int:
    """Return the smaller; a NaN wins, -0 is below +0."""
    if fmt.is_nan(lhs) or fmt.is_nan(rhs):
        return fmt.quiet_nan
    if order(fmt, lhs) == order(fmt, rhs):
        return lhs | rhs
    return lhs if order(fmt, lhs) < order(fmt, rhs) else rhs


def equal(fmt: BinaryFormat, lhs: int, rhs: int) -> bool:
    """Tell whether lhs == rhs: zeros are equal, a NaN equals nothing."""
    return not _unordered(fmt, lhs, rhs) and order(fmt, lhs) == order(fmt, rhs)


def less(fmt: BinaryFormat, lhs: int, rhs: int) -> bool:
    """Tell whether lhs < rhs; false for a NaN."""
    return not _unordered(fmt, lhs, rhs) and order(fmt, lhs) < order(fmt, rhs)


def less_equal(fmt: BinaryFormat, lhs: int, rhs: int) -> bool:
    """Tell whether lhs <= rhs; false for a NaN."""
    return not _unordered(fmt, lhs, rhs) and order(fmt, lhs) <= order(fmt, rhs)


def _unordered(fmt: BinaryFormat, lhs: int, rhs: int) -> bool:
    return fmt.is_nan(lhs) or fmt.is_nan(rhs)


def is_positive(fmt: BinaryFormat, value: int) -> bool:
    """Tell whether value > 0."""
    return 0 < value <= fmt.infinity


def one(fmt: BinaryFormat) -> int:
    """Bits of 1."""
    return fmt.bias << fmt.fraction_bits
