"""The one converter from Python numbers to stored bits.

Used for weak scalars, list elements and every other Python number that enters a tensor. Clause:
operation-dtype-policy, *Weak scalars select branches without acquiring a dtype*; one rounding of
the exact value, never through a wider host float.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from bittrue._records import shown, spelled
from bittrue.dtypes import DType, SimpleDType
from bittrue.encoding import BINARY32, BINARY64, BinaryFormat
from bittrue.errors import RangeError, RefusedTypeError
from bittrue.policy.weak import INT32_MAX, INT32_MIN

BINARY_FORMATS: dict[SimpleDType, BinaryFormat] = {
    DType.Float32: BINARY32,
    DType.Float64: BINARY64,
}


@dataclass(frozen=True, slots=True)
class ScalarConversion:
    """What a conversion gave.

    `bits` are the stored bits (the value itself for Int32 and Bool); `inexact` tells that a
    rounding changed the value, `overflow` that a finite value became infinite.
    """

    bits: int
    inexact: bool = False
    overflow: bool = False


def convert_scalar(value: object, dtype: SimpleDType) -> ScalarConversion:
    """Convert a real Python number to an element of `dtype`, with one rounding.

    Int32 takes integers (no bool), Bool takes Python booleans, Float32 and Float64 any real
    number. A float beyond the range becomes an infinity; an integer has none and raises
    `OverflowError`, as an integer outside Int32 does. A NaN becomes the canonical quiet NaN. Any
    other type raises `TypeError`.
    """
    if dtype is DType.Int32:
        return _to_int32(value)
    if dtype is DType.Bool:
        if isinstance(value, bool):
            return ScalarConversion(int(value))
        raise _refused(value, dtype, "a Python bool")
    fmt = BINARY_FORMATS.get(dtype)
    if fmt is None:
        raise _refused(value, dtype, "a destination of Float32, Float64, Int32 or Bool")
    if isinstance(value, bool):
        return ScalarConversion(fmt.encode(int(value), 0))
    if isinstance(value, numbers.Integral):
        return _integer_to_float(int(value), dtype, fmt)
    if isinstance(value, numbers.Real):
        return _real_to_float(value, fmt)
    raise _refused(value, dtype, "a real number")


def _refused(value: object, dtype: SimpleDType, accepted: str) -> RefusedTypeError:
    return RefusedTypeError(f"{dtype.name} element", f"got {shown(value)}", accepted)


def _to_int32(value: object) -> ScalarConversion:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise _refused(value, DType.Int32, "an integer")
    exact = int(value)
    if not INT32_MIN <= exact <= INT32_MAX:
        raise RangeError(
            "Int32 element",
            f"{spelled(exact)} is out of range",
            f"a value in [{INT32_MIN}, {INT32_MAX}]",
        )
    return ScalarConversion(exact)


def _integer_to_float(value: int, dtype: SimpleDType, fmt: BinaryFormat) -> ScalarConversion:
    if abs(value) >= fmt.overflow_threshold:
        raise RangeError(
            f"{dtype.name} element",
            f"an integer of {value.bit_length()} bits would become infinite",
            "an integer inside the range of the format",
            "pass a float if infinity is meant",
        )
    return _rounded(value, 1, fmt)


def _real_to_float(value: numbers.Real, fmt: BinaryFormat) -> ScalarConversion:
    try:
        numerator, denominator = value.as_integer_ratio()  # type: ignore[attr-defined]
    except (AttributeError, OverflowError, ValueError):
        # Infinities and NaN have no ratio; a real without one is read through float().
        read = float(value)
        if math.isnan(read):
            return ScalarConversion(fmt.quiet_nan)
        sign = fmt.sign if math.copysign(1.0, read) < 0 else 0
        if math.isinf(read):
            return ScalarConversion(sign | fmt.infinity)
        numerator, denominator = read.as_integer_ratio()
    if not numerator:
        # Only a float has a signed zero, and float() keeps it.
        return ScalarConversion(fmt.sign if math.copysign(1.0, float(value)) < 0 else 0)
    return _rounded(int(numerator), int(denominator), fmt)


def _rounded(numerator: int, denominator: int, fmt: BinaryFormat) -> ScalarConversion:
    bits = fmt.encode_ratio(numerator, denominator)
    if fmt.is_infinite(bits):
        return ScalarConversion(bits, inexact=True, overflow=True)
    _, significand, exponent = fmt.decode(bits)
    stored = significand << max(exponent, 0)
    exact = stored * denominator == abs(numerator) << max(-exponent, 0)
    return ScalarConversion(bits, inexact=not exact)


def scalar_value(bits: int, dtype: SimpleDType) -> bool | int | float:
    """Return the stored element as a Python number: the inverse of `convert_scalar`."""
    if dtype is DType.Bool:
        return bool(bits)
    if dtype is DType.Int32:
        return bits
    fmt = BINARY_FORMATS[dtype]
    sign = -1.0 if bits & fmt.sign else 1.0
    if fmt.is_nan(bits):
        return math.nan
    if fmt.is_infinite(bits):
        return sign * math.inf
    _, significand, exponent = fmt.decode(bits)
    return sign * math.ldexp(significand, exponent)
