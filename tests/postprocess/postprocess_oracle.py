"""An oracle of post-processing, written from the requirement with fractions alone.

Nothing of bittrue is imported. Finite codes of a format are kept in ascending order with their
exact values; rounding looks for the two neighbours and chooses by the definition of the mode.
"""

# ruff: noqa: FBT001, C901 - rules read top down, with their switches as arguments

from __future__ import annotations

import bisect
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

NV, OF, UF, NX = 1, 4, 8, 16
TWO = Fraction(2)

# code: (accumulators, destination, words, offset bits, fixed rounding or None, Sat allowed)
MODES = {
    0: ("FP32 S32 U32", "", "none", 0, "RNE", False),
    1: ("FP32", "FP16", "none", 0, "RNE", True),
    2: ("S32", "S8", "vector", 9, None, True),
    3: ("S32", "S8", "scalar", 9, None, True),
    4: ("S32", "FP16", "vector", 0, None, True),
    5: ("S32", "FP16", "scalar", 0, None, True),
    12: ("S32", "S16", "vector shift", 0, "floor", False),
    13: ("S32", "S16", "scalar shift", 0, "floor", False),
    16: ("FP32", "BF16", "none", 0, "RNE", True),
    17: ("S32", "S4", "scalar", 5, None, True),
    18: ("S32", "S4", "vector", 5, None, True),
    19: ("S32", "S16", "scalar", 17, None, True),
    20: ("S32", "S16", "vector", 17, None, True),
    23: ("FP32", "S8", "vector", 9, None, True),
    24: ("FP32", "S8", "scalar", 9, None, True),
    25: ("FP32", "HiF8", "scalar", 0, "RHB", True),
    26: ("FP32", "E4M3", "scalar", 0, "RNE", True),
    27: ("FP32", "FP32", "scalar", 0, None, True),
    28: ("FP32", "HiF8", "vector", 0, "RHB", True),
    32: ("FP32", "FP16", "scalar", 0, "RNE", True),
    33: ("FP32", "FP16", "vector", 0, "RNE", True),
    34: ("FP32", "BF16", "scalar", 0, "RNE", True),
    35: ("S32", "BF16", "scalar", 0, None, True),
    36: ("FP32", "BF16", "vector", 0, "RNE", True),
    37: ("FP32", "E4M3", "vector", 0, "RNE", True),
    38: ("FP32", "FP32", "vector", 0, None, True),
    39: ("S32", "BF16", "vector", 0, None, True),
}

# (bits, exponent bits, fraction bits, bias)
FLOATS = {"FP32": (32, 8, 23, 127), "FP16": (16, 5, 10, 15), "BF16": (16, 8, 7, 127),
          "E4M3": (8, 4, 3, 7)}  # fmt: skip
INTEGERS = {"S4": 4, "S8": 8, "S16": 16, "S32": 32}


def hif8(code: int) -> Fraction:
    """Return the value of a positive HiF8 code, as the table of codes has it."""
    if code < 8:
        return TWO ** (code - 23) if code else Fraction(0)
    if code < 16:
        return 1 + Fraction(code & 7, 8)
    digits = f"{code:07b}"
    width, exponent_bits = {"001": (3, 1), "01": (3, 2), "10": (2, 3), "11": (1, 4)}[
        "001" if digits.startswith("001") else digits[:2]
    ]
    rest = digits[3:] if digits.startswith("001") else digits[2:]
    sign, field, mantissa = rest[0], rest[1:exponent_bits], rest[exponent_bits:]
    magnitude = int("1" + field, 2)
    exponent = -magnitude if sign == "1" else magnitude
    assert len(mantissa) == width
    return (1 + Fraction(int(mantissa, 2), 1 << width)) * TWO**exponent


def decode(name: str, code: int) -> Fraction | str:
    """Return the exact value of an FP32-like code or the name of its class."""
    bits, exponent_bits, fraction_bits, bias = FLOATS[name]
    negative = code >> (bits - 1)
    field = code >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = code & ((1 << fraction_bits) - 1)
    if name != "E4M3" and field == (1 << exponent_bits) - 1:
        if not fraction:
            return "-inf" if negative else "inf"
        return "qnan" if fraction >> (fraction_bits - 1) else "snan"
    significand = fraction + (1 << fraction_bits if field else 0)
    value = significand * TWO ** (max(field, 1) - bias - fraction_bits)
    return -value if negative else value


@dataclass(frozen=True)
class Facts:
    """Boundary facts of a float destination, typed from the table of formats."""

    largest: int
    smallest_normal: Fraction
    infinity: int | None
    nan: int
    sign: int
    precision: int


FACTS = {
    "FP32": Facts(0x7F7FFFFF, TWO**-126, 0x7F800000, 0x7FC00000, 1 << 31, 23),
    "FP16": Facts(0x7BFF, TWO**-14, 0x7C00, 0x7E00, 1 << 15, 10),
    "BF16": Facts(0x7F7F, TWO**-126, 0x7F80, 0x7FC0, 1 << 15, 7),
    "E4M3": Facts(0x7E, TWO**-6, None, 0x7F, 1 << 7, 3),
    "HiF8": Facts(0x6E, TWO**-15, 0x6F, 0x80, 1 << 7, 1),
}


@cache
def ladder(name: str) -> tuple[list[Fraction], list[int]]:
    """Return the finite magnitudes of a small format in ascending order, and their codes."""
    if name == "HiF8":
        pairs = sorted((hif8(code), code) for code in range(0x80) if code != 0x6F)
    else:
        pairs = [(decode(name, code), code) for code in range(FACTS[name].largest + 1)]
    return [value for value, _ in pairs], [code for _, code in pairs]


def choose(low, high, value, mode: str, low_is_odd: bool, negative: bool) -> bool:
    """Tell whether the magnitude `value` between two neighbours goes to the upper one."""
    twice = 2 * value - low - high
    if mode == "RTZ":
        return False
    if mode == "RTM":
        return negative
    if mode == "RTP":
        return not negative
    if mode == "RTO":
        return not low_is_odd
    if twice:
        return twice > 0
    return {"RNE": low_is_odd, "RNA": True, "RHB": not negative}[mode]


def round_integer(value: Fraction, mode: str) -> int:
    """Round to an integer."""
    magnitude = abs(value)
    low = magnitude.numerator // magnitude.denominator
    if low != magnitude:
        low += choose(low, low + 1, magnitude, mode, low % 2 == 1, value < 0)
    return -low if value < 0 else low


def unbounded(value: Fraction, precision: int, mode: str) -> Fraction:
    """Return the magnitude of a number rounded to a precision with no end of exponents."""
    magnitude, exponent = abs(value), 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while TWO**exponent > magnitude:
        exponent -= 1
    while TWO ** (exponent + 1) <= magnitude:
        exponent += 1
    step = TWO ** (exponent - precision)
    return abs(round_integer(value / step, mode)) * step


def to_float(value: Fraction, name: str, mode: str, sat: bool) -> tuple[int, int]:
    """Encode a nonzero finite number."""
    facts, negative, magnitude = FACTS[name], value < 0, abs(value)
    sign = facts.sign if negative else 0
    if name == "FP32":
        low, high = 0, facts.largest
        while low < high:
            middle = (low + high + 1) // 2
            if decode(name, middle) <= magnitude:
                low = middle
            else:
                high = middle - 1
        below, code = decode(name, low), low
        above = decode(name, low + 1) if low < facts.largest else TWO**128
        upper = low + 1 if low < facts.largest else None
    else:
        values, codes = ladder(name)
        at = bisect.bisect_right(values, magnitude) - 1
        below, code = values[at], codes[at]
        last = at + 1 == len(values)
        above = 2 * values[-1] - values[-2] if last else values[at + 1]
        upper = None if last else codes[at + 1]
    range_first = name in ("E4M3", "HiF8")
    largest = hif8(facts.largest) if name == "HiF8" else decode(name, facts.largest)
    over = range_first and magnitude > largest
    exact = below == magnitude
    odd = code % 2 == 1
    if not (over or exact) and (
        magnitude >= above or choose(below, above, magnitude, mode, odd, negative)
    ):
        over, code = upper is None, upper
    if over:
        if sat:
            return facts.largest | sign, OF | NX
        return (facts.nan if facts.infinity is None else facts.infinity | sign), OF | NX
    flags = 0
    if not exact:
        flags = NX
        if unbounded(value, facts.precision, mode) < facts.smallest_normal:
            flags |= UF
    if not code:
        return (0 if name in ("E4M3", "HiF8") else sign), flags
    return code | sign, flags


def fit(value: int, bits: int, sat: bool) -> tuple[int, int]:
    """Clamp or wrap an integer into a signed width; return the number, not its code."""
    half = 1 << (bits - 1)
    if -half <= value < half:
        return value, 0
    if sat:
        return (half - 1 if value > 0 else -half), OF | NX
    return (value + half) % (2 * half) - half, OF | NX


def element(mode, kind, raw, relu, quant, act, rounding, sat) -> tuple[int, int]:
    """Post-process one element; words are U64 or None. Return the code of D and the flags."""
    _, destination, words, offset_bits, fixed, _ = MODES[mode]
    if mode == 0 and not relu:
        return raw, 0
    signed = raw - (1 << 32) if kind == "S32" and raw >> 31 else raw
    if "shift" in words:
        value, flags = fit(signed >> ((quant >> 32) + 1), 16, sat=True)
        return value & 0xFFFF, flags
    destination = destination or kind
    rounding = fixed or ("RNE" if rounding == "NONE" else rounding)
    x = decode("FP32", raw) if kind == "FP32" else Fraction(signed)
    nan, infinite = x in ("qnan", "snan"), x in ("inf", "-inf")
    negative = not nan and (raw >> 31 == 1 if kind == "FP32" else signed < 0)
    multiplier = Fraction(1) if quant is None else decode("FP32", quant & 0xFFFFFFFF)
    if negative and relu == 1:
        multiplier = Fraction(0)
    if negative and relu in (2, 3):
        multiplier = decode("FP32", act << 13)
    integer = INTEGERS.get(destination, 32 if destination == "U32" else 0)
    if nan:
        if integer:
            return (0 if sat else 1 << (integer - 1)), NV
        return (0 if sat else FACTS[destination].nan), NV if x == "snan" else 0
    if infinite and multiplier:
        return infinity(destination, integer, negative=negative, sat=sat)
    p = Fraction(0) if infinite else x * multiplier
    if offset_bits:
        offset = quant >> 37
        if offset >> (offset_bits - 1):
            offset -= 1 << offset_bits
        n = round_integer(p, rounding)
        kept, flags = fit(n, offset_bits, sat=True)
        flags |= NX if n != p else 0
        result, more = fit(kept + offset, integer, sat)
        return result & ((1 << integer) - 1), flags | more
    if integer:
        n = round_integer(p, rounding)
        low, high = (0, 1 << 32) if destination == "U32" else (-(1 << 31), 1 << 31)
        flags = 0 if low <= n < high else OF | NX
        return n & 0xFFFFFFFF, flags | (NX if n != p else 0)
    if not p:
        minus_zero = kind == "FP32" and raw == 1 << 31 and multiplier
        return (FACTS[destination].sign if minus_zero and destination != "HiF8" else 0), 0
    return to_float(p, destination, rounding, sat)


def infinity(destination: str, integer: int, *, negative: bool, sat: bool) -> tuple[int, int]:
    """Convert an infinity whose multiplier is not zero."""
    if integer:
        end = 1 << (integer - 1)
        if not sat:
            return end, NV
        return (end if negative else end - 1), OF | NX
    facts = FACTS[destination]
    sign = facts.sign if negative else 0
    if sat:
        return facts.largest | sign, OF | NX
    if facts.infinity is None:
        return facts.nan, OF | NX
    return facts.infinity | sign, 0


def step(kind: str, left: int, right: int, max_abs: bool) -> tuple[int, int]:
    """Combine two raw accumulators."""
    if kind == "FP32":
        if max_abs:
            left, right = left & 0x7FFFFFFF, right & 0x7FFFFFFF
        classes = decode("FP32", left), decode("FP32", right)
        flags = NV if "snan" in classes else 0
        numbers = [c for c, x in zip((left, right), classes, strict=True)
                   if x not in ("qnan", "snan")]  # fmt: skip
        if not numbers:
            return 0x7FC00000, flags

        def order(code):
            x = decode("FP32", code)
            if isinstance(x, str):
                return (TWO**200 if x == "inf" else -(TWO**200)), 0
            return x, 0 if code >> 31 else 1

        return max(numbers, key=order), flags
    if kind == "S32":
        values = [v - (1 << 32) if v >> 31 else v for v in (left, right)]
        flags = 0
        if max_abs:
            flags = OF if -(1 << 31) in values else 0
            values = [min(abs(v), (1 << 31) - 1) for v in values]
        return max(values) & 0xFFFFFFFF, flags
    return max(left, right), 0


def maximum(kind: str, row: list[int], max_abs: bool) -> tuple[int, int]:
    """Combine a row or group in column order."""
    value, flags = step(kind, row[0], row[0], max_abs) if max_abs else (row[0], 0)
    for code in row[1:]:
        value, raised = step(kind, value, code, max_abs)
        flags |= raised
    return value, flags
