"""Conversion of one logical lane between any two types: value, code and status flags.

Belongs here: the exact rules by kind of source and destination. Never here: arrays, which pairs
are legal (`conversion`), the rounding decision (`rounding`). Clauses: postprocess-and-formats,
Decisions 180 (special values, overflow, tininess after rounding), 182 and 183 (E8M0); what they
leave open is settled in the documentation of conversions.
"""

from __future__ import annotations

from dataclasses import dataclass

from bittrue.dtypes import Specials
from bittrue.encoding.format import Class, Format
from bittrue.encoding.rounding import Rounding, round_magnitude
from bittrue.encoding.status import Status

CLEAR = Status(0)


@dataclass(frozen=True, slots=True)
class Number:
    """An exact lane: a finite value, or an infinity or NaN told by `special`."""

    negative: bool
    significand: int
    exponent: int
    special: Class | None = None


_INFINITIES = (Class.POSITIVE_INFINITY, Class.NEGATIVE_INFINITY)


def read(source: Format, bits: int) -> Number:
    """Return the exact number in one valid lane of `source`."""
    code = source.lane(bits)
    if source.kind == "integer":
        if source.signed and code >> (source.integer_bits - 1):
            code -= 1 << source.integer_bits
        return Number(code < 0, abs(code), 0)
    d = source.decompose(code)
    if d.available:
        return Number(d.negative, d.significand, d.exponent)
    return Number(source.negative(code), 0, 0, source.class_of(code))


def convert_lane(
    source: Format,
    destination: Format,
    bits: int,
    rounding: Rounding = Rounding.NONE,
    *,
    saturate: bool = False,
    random: int | None = None,
) -> tuple[int, Status]:
    """Convert one valid lane and return its code and flags.

    `bits` is the lane, `rounding` a mode (NONE: toward zero into integers, else nearest even),
    `random` a word of 32 bits for stochastic rounding, with NONE only.
    """
    if source.kind == "integer" and destination.kind == "integer":
        return _integer_to_integer(read(source, bits), destination, saturate=saturate)
    number = read(source, bits)
    if destination.kind == "integer":
        mode = Rounding.RTZ if rounding is Rounding.NONE else rounding
        return to_integer(number, destination, mode, saturate=saturate, random=random)
    mode = Rounding.RNE if rounding is Rounding.NONE else rounding
    if destination.kind == "scale":
        return to_scale(number, destination, mode, saturate=saturate)
    return to_float(number, destination, mode, saturate=saturate, random=random)


# --- to a float ---------------------------------------------------------------------------------


def to_float(
    number: Number,
    destination: Format,
    rounding: Rounding,
    *,
    saturate: bool = False,
    random: int | None = None,
) -> tuple[int, Status]:
    """Encode a number in a float format."""
    if number.special is not None:
        return _special_to_float(number, destination, saturate=saturate)
    if not number.significand:
        return _signed(destination, 0, negative=number.negative), CLEAR
    negative, significand, exponent = number.negative, number.significand, number.exponent
    scale = exponent + significand.bit_length() - 1
    step = _step(destination, scale)
    odd = _floor_is_odd(destination, significand, exponent, step)
    kept, inexact = round_magnitude(
        significand, step - exponent,
        negative=negative, rounding=rounding, odd=odd, random=random,
    )  # fmt: skip
    code = encode_magnitude(destination, kept, step)
    if code is None:
        return overflow(destination, negative=negative, saturate=saturate), Status.OF | Status.NX
    flags = CLEAR
    if inexact:
        flags |= Status.NX
        if destination.has_subnormal and _is_tiny(number, destination, rounding, random):
            flags |= Status.UF
    return _signed(destination, code, negative=negative), flags


def _fraction_bits(destination: Format, scale: int) -> int:
    """Return how many fraction bits the binade of exponent `scale` has."""
    if destination.specials is not Specials.TAPERED:
        return destination.fraction_bits[1]
    magnitude = abs(scale)
    if magnitude <= 3:
        return 3
    return 2 if magnitude <= 7 else 1


def _step(destination: Format, scale: int) -> int:
    """Return the exponent of the grid step around a value of exponent `scale`."""
    if destination.specials is Specials.TAPERED and scale < destination.emin:
        # Powers of two alone from 2**-22 to 2**-15, nothing between 0 and 2**-22.
        return max(scale, -22)
    return max(scale, destination.emin) - _fraction_bits(destination, scale)


def _floor_is_odd(destination: Format, significand: int, exponent: int, step: int) -> bool | None:
    """Return the code parity of the lower neighbour where it is not that of the kept integer."""
    if destination.specials is not Specials.TAPERED or step < -22 or step > -16:
        return None
    kept = significand >> (step - exponent) if step > exponent else significand << (exponent - step)
    code = encode_magnitude(destination, kept, step)
    return None if code is None else bool(code & 1)


def _is_tiny(number: Number, destination: Format, rounding: Rounding, random: int | None) -> bool:
    """Tell whether the value, rounded with unbounded exponent, lies below the smallest normal."""
    scale = number.exponent + number.significand.bit_length() - 1
    if scale >= destination.emin:
        return False
    width = 1 if destination.specials is Specials.TAPERED else destination.fraction_bits[1]
    kept, _ = round_magnitude(
        number.significand,
        scale - width - number.exponent,
        negative=number.negative,
        rounding=rounding,
        random=random,
    )
    return kept.bit_length() - 1 + scale - width < destination.emin


def encode_magnitude(destination: Format, kept: int, step: int) -> int | None:
    """Return the code of the grid value ``kept * 2**step`` >= 0, None beyond the largest finite."""
    if not kept:
        return 0
    scale = step + kept.bit_length() - 1
    if destination.specials is Specials.TAPERED:
        return _hif8_code(kept, step, scale)
    fraction_bits = destination.fraction_bits[1]
    step_of_code = max(scale, destination.emin) - fraction_bits
    significand = (
        kept << (step - step_of_code) if step > step_of_code else kept >> (step_of_code - step)
    )
    code = ((max(scale, destination.emin) - destination.emin) << fraction_bits) + significand
    code <<= destination.low_zero_bits
    assert destination.max_finite is not None
    return code if code <= destination.max_finite else None


def _hif8_code(kept: int, step: int, scale: int) -> int | None:
    if scale < -15:
        return scale + 23
    if scale > 15:
        return None
    width = 3 if abs(scale) <= 3 else 2 if abs(scale) <= 7 else 1
    shift = scale - width - step
    fraction = (kept >> shift if shift > 0 else kept << -shift) - (1 << width)
    if scale == 0:
        code = 0x08 | fraction
    else:
        magnitude, sign = abs(scale), int(scale < 0)
        low = magnitude.bit_length() - 1
        prefix = (0x10, 0x20, 0x40, 0x60)[low]
        field = sign << low | (magnitude - (1 << low))
        code = prefix + (field << width) + fraction
    return code if code != 0x6F else None


def _signed(destination: Format, code: int, *, negative: bool) -> int:
    if not negative or destination.sign_bit is None:
        return code
    if not code and not destination.has_signed_zero:
        return 0
    return code | 1 << destination.sign_bit


def overflow(destination: Format, *, negative: bool, saturate: bool) -> int:
    """Return the code of a finite value beyond the largest: it, an infinity, or the one NaN."""
    assert destination.max_finite is not None
    if not saturate:
        if destination.positive_infinity is not None:
            return _signed(destination, destination.positive_infinity, negative=negative)
        if destination.canonical_nan is not None:
            return destination.canonical_nan
    return _signed(destination, destination.max_finite, negative=negative)


def _special_to_float(number: Number, destination: Format, *, saturate: bool) -> tuple[int, Status]:
    if number.special in _INFINITIES:
        code = overflow(destination, negative=number.negative, saturate=saturate)
        exact = destination.has_infinity and not saturate
        return code, CLEAR if exact else Status.OF | Status.NX
    flags = Status.NV if number.special is Class.SIGNALING_NAN else CLEAR
    if saturate:
        return 0, flags
    if destination.canonical_nan is None:
        return 0, Status.NV
    return destination.canonical_nan, flags


# --- to an integer ------------------------------------------------------------------------------


def to_integer(
    number: Number,
    destination: Format,
    rounding: Rounding,
    *,
    saturate: bool = False,
    random: int | None = None,
) -> tuple[int, Status]:
    """Round a number to an integer type: clamp or, unsaturated, keep the low bits."""
    low, high = integer_range(destination)
    mask = (1 << destination.integer_bits) - 1
    indefinite = low & mask if destination.signed else mask
    if number.special in _INFINITIES:
        if not saturate:
            return indefinite, Status.NV
        return (low if number.negative else high) & mask, Status.OF | Status.NX
    if number.special is not None:
        return 0 if saturate else indefinite, Status.NV
    kept, inexact = round_magnitude(
        number.significand,
        -number.exponent,
        negative=number.negative,
        rounding=rounding,
        random=random,
    )
    value = -kept if number.negative else kept
    if low <= value <= high:
        return value & mask, Status.NX if inexact else CLEAR
    clamped = min(max(value, low), high) if saturate else value
    return clamped & mask, Status.OF | Status.NX


def integer_range(destination: Format) -> tuple[int, int]:
    """Return the least and greatest value of an integer type."""
    bits = destination.integer_bits
    return (
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if destination.signed else (0, (1 << bits) - 1)
    )


def _integer_to_integer(
    number: Number, destination: Format, *, saturate: bool
) -> tuple[int, Status]:
    value = -number.significand if number.negative else number.significand
    if saturate:
        low, high = integer_range(destination)
        value = min(max(value, low), high)
    return value & ((1 << destination.integer_bits) - 1), CLEAR


# --- to E8M0 ------------------------------------------------------------------------------------

_SCALE_NAN, _SCALE_LAST = 0xFF, 0xFE


def to_scale(
    number: Number, destination: Format, rounding: Rounding, *, saturate: bool = False
) -> tuple[int, Status]:
    """Round a positive number to a power of two, in the exponent. Decision 183."""
    assert destination.bias is not None
    bias = destination.bias
    positive = not number.negative and (number.significand or number.special in _INFINITIES)
    if not positive:
        return _SCALE_NAN, Status.NV
    above = _SCALE_LAST if saturate else _SCALE_NAN
    if number.special is not None:
        return above, Status.OF | Status.NX
    significand = number.significand
    floor = number.exponent + significand.bit_length() - 1
    exact = significand & (significand - 1) == 0
    if floor < -bias:
        return 0 if saturate else _SCALE_NAN, Status.UF | Status.NX
    if floor > bias or (floor == bias and not exact):
        return above, Status.OF | Status.NX
    if exact:
        return floor + bias, CLEAR
    return _rounded_exponent(significand, floor, rounding) + bias, Status.NX


def _rounded_exponent(significand: int, floor: int, rounding: Rounding) -> int:
    """Choose between `floor` and the exponent above for a value that is no power of two."""
    if rounding is Rounding.RTM:
        return floor
    if rounding is Rounding.RTP:
        return floor + 1
    if rounding is Rounding.RTZ:
        return floor if floor >= 0 else floor + 1
    if rounding is Rounding.RTO:
        return floor if floor & 1 else floor + 1
    # Nearest to log2: the square against 2 decides, and no rational square is 2.
    highest = significand.bit_length() - 1
    return floor if significand * significand < 1 << (2 * highest + 1) else floor + 1
