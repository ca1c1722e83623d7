"""Parameter words: FP19 scales, offsets, shift amounts and activation parameters in 64 bits.

Belongs here: the layout of a word, what makes one legal, building and reading one. Never here: how
many a plan needs (`plan`), vectors of them (`words`). Clauses: postprocess-and-formats, Decisions
177, 179 and 180.

Theory. A scale word has an FP32 whose low 13 bits are zero in its low half: an FP19 in bits 31:13.
The offset starts at bit 37, two's complement at its width; a shift code stands in bits 35:32 and
means its value plus one. An activation word has its FP19 in bits 18:0. Every other bit is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bittrue._records import shown
from bittrue.encoding import Class, Rounding, formats
from bittrue.encoding.lanes import Number, to_float
from bittrue.errors import RefusedTypeError, RefusedValueError, RejectedError
from bittrue.postprocess.modes import MODES, Mode, Parameter, PreQuant

FP19 = formats["FP19"]
WORD_MASK = (1 << 64) - 1
SCALE_LOW, OFFSET_LOW, SHIFT_LOW, SHIFT_WIDTH = 13, 37, 32, 4
SCALE_MASK = ((1 << FP19.lane_bits) - 1) << SCALE_LOW
ONE = 0x3F80_0000
"""The scale of a mode without parameter: FP32 1.0."""


@dataclass(frozen=True, slots=True)
class Word:
    """A decoded parameter word.

    `scale` is the FP32 pattern of the FP19 (None: a shift word), `offset` a signed integer, `shift`
    the amount 1..16 (None: a scale word).
    """

    scale: int | None = None
    offset: int = 0
    shift: int | None = None

    @property
    def value(self) -> Fraction | None:
        """The exact scale."""
        if self.scale is None:
            return None
        value = formats["FP32"].value(self.scale)
        assert isinstance(value, Fraction)
        return value


# --- legality -----------------------------------------------------------------------------------


def used_mask(mode: Mode) -> int:
    """Return the bits of a word that the mode reads; every other one must be zero."""
    if mode.shift:
        return ((1 << SHIFT_WIDTH) - 1) << SHIFT_LOW
    return SCALE_MASK | ((1 << mode.offset_bits) - 1) << OFFSET_LOW


def fault_of_quant(mode: Mode, word: int) -> str | None:
    """Return what makes a quantization word illegal, None for a legal one. Decision 180."""
    if mode.parameter is Parameter.NONE:
        return "has no place: the mode takes none"
    if not 0 <= word <= WORD_MASK:
        return "is no 64-bit word"
    stray = word & ~used_mask(mode)
    if stray:
        return f"has the unused bits {stray:#x} set"
    if mode.shift:
        return None
    return _fault_of_fp19((word & SCALE_MASK) >> SCALE_LOW, zero_allowed=False)


def fault_of_activation(word: int) -> str | None:
    """Return what makes an activation word illegal, None for a legal one. Decision 180."""
    if not 0 <= word <= WORD_MASK:
        return "is no 64-bit word"
    stray = word >> FP19.lane_bits << FP19.lane_bits
    if stray:
        return f"has the unused bits {stray:#x} set"
    return _fault_of_fp19(word, zero_allowed=True)


def _fault_of_fp19(code: int, *, zero_allowed: bool) -> str | None:
    found = FP19.class_of(code)
    if found is Class.POSITIVE_NORMAL or (zero_allowed and found is Class.POSITIVE_ZERO):
        return None
    return f"holds the FP19 {code:#07x}, a {found.value.replace('_', ' ')}"


def legal_fp19(*, zero_allowed: bool) -> str:
    """Say which FP19 are legal."""
    return "+0 or a positive normal FP19" if zero_allowed else "a positive normal FP19"


# --- decoding -----------------------------------------------------------------------------------


def decode_quant(mode: Mode, word: int) -> Word:
    """Read a legal quantization word."""
    if mode.shift:
        return Word(shift=(word >> SHIFT_LOW) + 1)
    offset = word >> OFFSET_LOW
    if mode.offset_bits and offset >> (mode.offset_bits - 1):
        offset -= 1 << mode.offset_bits
    return Word(word & SCALE_MASK, offset)


def decode_activation(word: int) -> int:
    """Return the FP32 pattern of a legal activation word."""
    return word << SCALE_LOW


# --- building -----------------------------------------------------------------------------------


def mode_row(mode: PreQuant | int | str | Mode) -> Mode:
    """Return the row of a mode given by its code, member, name or row.

    Raises `RejectedError` (category encoding) for a code or name that is not assigned, `TypeError`
    for another kind of value.
    """
    if isinstance(mode, Mode):
        return mode
    if isinstance(mode, str):
        found = next((row for row in MODES.values() if row.name.upper() == mode.upper()), None)
    elif isinstance(mode, int) and not isinstance(mode, bool):
        found = next((row for row in MODES.values() if row.code == mode), None)
    else:
        raise RefusedTypeError("mode", f"got {shown(mode)}", "a PreQuant, its code or its name")
    if found is None:
        raise RejectedError(
            "encoding", "mode", f"{mode!r} is not assigned", "a code of the mode table"
        )
    return found


def nearest_fp19(value: Any) -> tuple[int, bool]:
    """Return the FP19 code nearest to `value`, ties to even, and whether it is exact.

    `value` is a number with an exact ratio: int, float, Fraction, Decimal or a NumPy float. A
    value beyond the largest finite FP19 gives an infinity. Raises `TypeError` for another kind of
    value and `ValueError` for a NaN or an infinity.
    """
    if isinstance(value, bool) or not hasattr(value, "as_integer_ratio"):
        raise RefusedTypeError("FP19", f"got {shown(value)}", "an int, float or Fraction")
    try:
        numerator, denominator = value.as_integer_ratio()
    except (ValueError, OverflowError):
        raise RefusedValueError("FP19", f"{value!r}", "a finite number") from None
    # Sixteen bits beyond the significand; the remainder only has to say "more".
    shift = max(28 + denominator.bit_length() - abs(numerator).bit_length(), 0)
    quotient, rest = divmod(abs(numerator) << shift, denominator)
    number = Number(numerator < 0, quotient << 1 | (rest != 0), -shift - 1)
    code, status = to_float(number, FP19, Rounding.RNE)
    return code, not status


def _parameter(subject: str, value: Any, *, exact: bool, zero_allowed: bool) -> int:
    """Return the FP19 of a parameter. Category parameter."""
    if value is None:
        raise RejectedError("parameter", subject, "none given", "a number")
    try:
        code, is_exact = nearest_fp19(value)
    except RefusedValueError as error:
        raise RejectedError("parameter", subject, error.came, "a finite number") from None
    if exact and not is_exact:
        raise RejectedError(
            "parameter",
            subject,
            f"{value!r} is no FP19",
            "a number of at most 11 significant bits",
            "pass exact=False to take the nearest",
        )
    fault = _fault_of_fp19(code, zero_allowed=zero_allowed)
    if fault is not None:
        raise RejectedError(
            "parameter", subject, f"{value!r} {fault}", legal_fp19(zero_allowed=zero_allowed)
        )
    return code


def quant_word(
    mode: PreQuant | int | str,
    scale: Any = None,
    offset: int = 0,
    shift: int | None = None,
    exact: bool = True,  # noqa: FBT001, FBT002 - the documented positional order
) -> int:
    """Build the 64-bit parameter word of a mode.

    `scale` is a number (int, float, Fraction), refused where it is no FP19 unless `exact` is False:
    then the nearest one, ties to even. `offset` is a signed integer of the mode's 5, 9 or 17 bits;
    `shift` the amount 1..16 of a shift mode, which takes nothing else.

    Raises `RejectedError` of category parameter for an illegal scale, offset or amount and for an
    argument that the mode does not have, of category encoding for a mode that is not assigned;
    `TypeError` for a value of another kind. Decisions 177, 179, 180.
    """
    row = mode_row(mode)
    subject = f"quant_word({row.name})"
    if row.parameter is Parameter.NONE:
        raise RejectedError("parameter", subject, "a mode without parameter word", "no word")
    offset = _integer(f"{subject}: offset", offset)
    if row.shift:
        if scale is not None or offset:
            raise RejectedError("parameter", subject, "a scale or an offset", "shift= alone")
        if shift is None:
            raise RejectedError("parameter", subject, "no shift", "an amount 1..16")
        amount = _integer(f"{subject}: shift", shift)
        if not 1 <= amount <= 1 << SHIFT_WIDTH:
            raise RejectedError("parameter", subject, f"shift {amount}", "an amount 1..16")
        return (amount - 1) << SHIFT_LOW
    if shift is not None:
        raise RejectedError("parameter", subject, "a shift", "a scale")
    code = _parameter(f"{subject}: scale", scale, exact=exact, zero_allowed=False)
    half = 1 << row.offset_bits >> 1
    if not -half <= offset < max(half, 1):
        accepted = f"{-half}..{half - 1}" if half else "0: the mode has no offset"
        raise RejectedError("parameter", subject, f"offset {offset}", accepted)
    return code << SCALE_LOW | (offset & ((1 << row.offset_bits) - 1)) << OFFSET_LOW


def activation_word(
    value: Any,
    exact: bool = True,  # noqa: FBT001, FBT002 - the documented positional order
) -> int:
    """Build the 64-bit word of an activation parameter: +0 or a positive normal FP19.

    `value` is a number, refused where it is no FP19 unless `exact` is False: then the nearest one,
    ties to even. Raises `RejectedError` of category parameter for an illegal value, `TypeError` for
    one of another kind. Decisions 176 and 180.
    """
    code = _parameter("activation_word", value, exact=exact, zero_allowed=True)
    # The exact ratio of -0.0 is 0/1 and has no sign: the text has one.
    if not code and str(value).startswith("-"):
        raise RejectedError("parameter", "activation_word", "-0.0", legal_fp19(zero_allowed=True))
    return code


def _integer(subject: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RefusedTypeError(subject, f"got {shown(value)}", "an int")
    return int(value.__index__())


# --- reading ------------------------------------------------------------------------------------


def explain_word(mode: PreQuant | int | str, word: int) -> str:
    """Say in words what a parameter word holds: scale, offset or shift, or why it is illegal.

    `mode` is a mode of the table, or ``"activation"`` for an activation word. Raises `TypeError`
    for a word that is no int, `RejectedError` for a mode that is not assigned.
    """
    given = _integer("explain_word: word", word)
    if mode == "activation":
        fault = fault_of_activation(given)
        if fault is not None:
            return f"{given:#018x} is illegal: it {fault}"
        return f"{given:#018x}: activation FP19 {given:#07x} = {_spelled(given)}"
    row = mode_row(mode)
    if row.parameter is Parameter.NONE:
        return f"{given:#018x}: {row.name} takes no word"
    fault = fault_of_quant(row, given)
    if fault is not None:
        return f"{given:#018x} is illegal for {row.name}: it {fault}"
    found = decode_quant(row, given)
    if found.shift is not None:
        return f"{given:#018x}: {row.name} shift right by {found.shift}"
    assert found.scale is not None
    code = found.scale >> SCALE_LOW
    offset = f", S{row.offset_bits} offset {found.offset}" if row.offset_bits else ""
    return f"{given:#018x}: {row.name} scale FP19 {code:#07x} = {_spelled(code)}{offset}"


def _spelled(code: int) -> str:
    value = FP19.value(code)
    assert isinstance(value, Fraction)
    return f"{float(value)!r}"  # an FP19 is exact in binary64
