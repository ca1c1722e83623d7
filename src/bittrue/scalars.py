"""The one converter from Python numbers to stored bits.

Used for weak scalars, list elements and every other Python number that enters a tensor. Clauses:
operation-dtype-policy, *Weak scalars select branches without acquiring a dtype*; tensor-promotion,
*C++ Binding Boundary* (conversion is centralized) and *Python Scalars* (a value must be
representable). One rounding of the exact value, never through a wider host float.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from bittrue._records import shown, spelled
from bittrue.dtypes import SCALARS, DType, SimpleDType, component_of, is_complex
from bittrue.encoding import BINARY128, BINARY_FORMATS, BinaryFormat
from bittrue.errors import RangeError, RefusedTypeError, RefusedValueError
from bittrue.policy.weak import INT32_MAX, INT32_MIN


@dataclass(frozen=True, slots=True)
class ScalarConversion:
    """What a conversion gave.

    `bits` are the stored bits (the value itself for Int32 and Bool; of a complex dtype the
    imaginary part stands above the real one); `inexact` tells that a rounding changed the value,
    `overflow` that a finite value became infinite.
    """

    bits: int
    inexact: bool = False
    overflow: bool = False


ScalarOverflow = Literal["infinity", "raise"]
"""What a finite float beyond the range of its destination does."""


def convert_scalar(
    value: object, dtype: SimpleDType, *, scalar_overflow: ScalarOverflow = "infinity"
) -> ScalarConversion:
    """Convert a Python number to an element of `dtype`, with one rounding a component.

    Int32 takes integers (no bool), Bool takes Python booleans, a real floating dtype any real
    number, a complex one any number (a real number has the imaginary part +0). A float beyond the
    range becomes an infinity, or raises `OverflowError` where `scalar_overflow` is ``"raise"``; an
    integer has no infinity and always raises it, as an integer outside Int32 does. A NaN becomes
    the canonical quiet NaN. Any other type (a complex number for a real dtype, `Decimal`, text)
    raises `TypeError`, another word for `scalar_overflow` `ValueError`.
    """
    if scalar_overflow not in {"infinity", "raise"}:
        raise RefusedValueError("scalar_overflow", repr(scalar_overflow), "'infinity' or 'raise'")
    converted = _converted(value, dtype)
    if converted.overflow and scalar_overflow == "raise":
        raise RangeError(
            f"{dtype.name} element",
            f"{spelled(value)} would become infinite",
            "a number inside the range of the format",
            "pass an infinity if it is meant",
        )
    return converted


def _converted(value: object, dtype: SimpleDType) -> ScalarConversion:
    if dtype is DType.Int32:
        return _to_int32(value)
    if dtype is DType.Bool:
        if isinstance(value, bool):
            return ScalarConversion(int(value))
        raise _refused(value, dtype, "a Python bool")
    fmt = BINARY_FORMATS.get(component_of(dtype))
    if fmt is None:
        raise _refused(value, dtype, f"a destination of {' or '.join(row.name for row in SCALARS)}")
    if isinstance(value, numbers.Real):
        # +0 above the bits of the real part adds nothing to them.
        return _to_float(value, dtype, fmt)
    if not is_complex(dtype):
        raise _refused(value, dtype, "a real number")
    if not isinstance(value, numbers.Complex):
        raise _refused(value, dtype, "a number")
    number: Any = value
    real, imaginary = _real_to_float(number.real, fmt), _real_to_float(number.imag, fmt)
    return ScalarConversion(
        fmt.joined(real.bits, imaginary.bits),
        real.inexact or imaginary.inexact,
        real.overflow or imaginary.overflow,
    )


def _to_float(value: numbers.Real, dtype: SimpleDType, fmt: BinaryFormat) -> ScalarConversion:
    if isinstance(value, bool):
        return ScalarConversion(fmt.encode(int(value), 0))
    if isinstance(value, numbers.Integral):
        return _integer_to_float(int(value), dtype, fmt)
    return _real_to_float(value, fmt)


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


def scalar_value(bits: int, dtype: SimpleDType) -> Any:
    """Return the stored element as a Python number: the inverse of `convert_scalar`.

    A bool, an int, a float or a complex number; an element of the extended pair, which those do
    not hold, as a `gmpy2.mpfr` or `gmpy2.mpc` of 113 bits.
    """
    if dtype is DType.Bool:
        return bool(bits)
    if dtype is DType.Int32:
        return bits
    fmt = BINARY_FORMATS[component_of(dtype)]
    number = _extended_number if fmt is BINARY128 else _float_number
    if not is_complex(dtype):
        return number(bits, fmt)
    real, imaginary = (number(part, fmt) for part in fmt.parts(bits))
    if fmt is BINARY128:
        gmpy2, context = _extended()
        return gmpy2.mpc(real, imaginary, context.precision, context)
    return complex(real, imaginary)


def _float_number(bits: int, fmt: BinaryFormat) -> float:
    sign = -1.0 if bits & fmt.sign else 1.0
    if fmt.is_nan(bits):
        return math.nan
    if fmt.is_infinite(bits):
        return sign * math.inf
    _, significand, exponent = fmt.decode(bits)
    return sign * math.ldexp(significand, exponent)


@cache
def _extended() -> tuple[Any, Any]:
    """Return gmpy2 and the context of the extended pair, which alone needs either.

    The import would be a fifth of that of the package. The ambient context of gmpy2 is the
    caller's; only this one takes part.
    """
    import gmpy2  # noqa: PLC0415

    context = gmpy2.context(
        precision=BINARY128.fraction_bits + 1,
        emax=gmpy2.get_emax_max(),
        emin=gmpy2.get_emin_min(),
    )
    return gmpy2, context


def _extended_number(bits: int, fmt: BinaryFormat) -> Any:
    gmpy2, context = _extended()
    negative = bool(bits & fmt.sign)
    if not fmt.is_finite(bits):
        text = "nan" if fmt.is_nan(bits) else "-inf" if negative else "inf"
        return gmpy2.mpfr(text, context.precision, 10, context)
    _, significand, exponent = fmt.decode(bits)
    magnitude = gmpy2.mpfr(significand, context.precision, context)
    scale = context.mul_2exp if exponent >= 0 else context.div_2exp
    value = scale(magnitude, abs(exponent))
    return context.minus(value) if negative else value
