"""Numbers as people write them: exact values of decimal, hexadecimal and fraction literals.

Belongs here: text or a Python number to one code of a format. Never here: the rules of rounding.
"""

from __future__ import annotations

import re
from fractions import Fraction

from bittrue._records import shown
from bittrue.encoding.format import Class, Format
from bittrue.encoding.lanes import Number, to_float, to_integer, to_scale
from bittrue.encoding.rounding import Rounding
from bittrue.encoding.status import Status
from bittrue.errors import RefusedTypeError, RefusedValueError

_GUARD_BITS = 128
"""Bits kept of a value that no binary number is; one sticky bit stands below them."""

_MOST_DIGITS, _MOST_EXPONENT = 4000, 5000
"""Longer literals are refused before they take memory; binary64 ends near 1e308 and 1e-324."""

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e([+-]?\d+))?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(p([+-]?\d+))?", re.IGNORECASE)
_RATIO = re.compile(r"([+-]?\d+)/(\d+)")
_SPECIALS = {
    "inf": Class.POSITIVE_INFINITY,
    "infinity": Class.POSITIVE_INFINITY,
    "nan": Class.QUIET_NAN,
    "snan": Class.SIGNALING_NAN,
}


def encode(
    destination: Format,
    value: float | Fraction | str,
    rounding: Rounding = Rounding.NONE,
    *,
    saturate: bool = False,
) -> tuple[int, Status]:
    """Return the code of an exact value in `destination`, rounded once, and its flags.

    `value` is a Python number or a literal: ``0.1``, ``1/3``, ``0x1.8p-3``, ``-0``, ``inf``,
    ``nan``, ``snan``. `rounding` NONE is toward zero into integers and nearest even elsewhere.
    Raises `TypeError` for another kind of value, `ValueError` for text that is no number.
    """
    number = read_number(value)
    if destination.kind == "integer":
        mode = Rounding.RTZ if rounding is Rounding.NONE else rounding
        return to_integer(number, destination, mode, saturate=saturate)
    mode = Rounding.RNE if rounding is Rounding.NONE else rounding
    if destination.kind == "scale":
        return to_scale(number, destination, mode, saturate=saturate)
    return to_float(number, destination, mode, saturate=saturate)


def read_number(value: float | Fraction | str) -> Number:
    """Return a value as an exact lane; a quotient that is no binary number with a sticky bit."""
    if isinstance(value, float):
        value = repr(value)  # exact: it reads back as the same float, and keeps the sign of zero
        return read_number(value) if "n" in value else _of_float(float(value))
    if isinstance(value, str):
        return _literal(value.strip())
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return _of_ratio(value.numerator, value.denominator)
    raise RefusedTypeError("value", f"got {shown(value)}", "a number or its text")


def _of_float(value: float) -> Number:
    numerator, denominator = value.as_integer_ratio()
    number = _of_ratio(numerator, denominator)
    return number if numerator else Number(str(value).startswith("-"), 0, 0)


def _literal(text: str) -> Number:
    negative = text.startswith("-")
    special = _SPECIALS.get(text.lstrip("+-").lower())
    if special is not None:
        if negative and special is Class.POSITIVE_INFINITY:
            special = Class.NEGATIVE_INFINITY
        return Number(negative, 0, 0, special)
    ratio = _ratio(text)
    if ratio is None:
        raise RefusedValueError(
            "value", f"{text[:40]!r} is no number", "0.1, 1/3, 0x1.8p-3, -0, inf, nan or snan"
        )
    number = _of_ratio(*ratio)
    return number if number.significand else Number(negative, 0, 0)


def _ratio(text: str) -> tuple[int, int] | None:
    if len(text) > _MOST_DIGITS:
        return None
    if found := _RATIO.fullmatch(text):
        denominator = int(found[2])
        return (int(found[1]), denominator) if denominator else None
    if (found := _HEXADECIMAL.fullmatch(text)) and (found[2] or found[3]):
        digits = int(found[2] + found[3], 16)
        exponent = int(found[5] or 0) - 4 * len(found[3])
        base = 2
        digits = -digits if found[1] == "-" else digits
    elif found := _DECIMAL.fullmatch(text):
        mantissa = text.lower().partition("e")[0]
        whole, _, fraction = mantissa.partition(".")
        digits = int(whole.lstrip("+-") + fraction or "0")
        digits = -digits if mantissa.startswith("-") else digits
        exponent = int(found[3] or 0) - len(fraction)
        base = 10
    else:
        return None
    if abs(exponent) > _MOST_EXPONENT:
        return None
    return (digits * base**exponent, 1) if exponent >= 0 else (digits, base**-exponent)


def _of_ratio(numerator: int, denominator: int) -> Number:
    magnitude = abs(numerator)
    # Enough bits below the leading one, and below the units place, for any destination.
    shift = max(_GUARD_BITS - magnitude.bit_length() + denominator.bit_length(), 2)
    whole, rest = divmod(magnitude << shift, denominator)
    return Number(numerator < 0, whole << 1 | bool(rest), -shift - 1)
