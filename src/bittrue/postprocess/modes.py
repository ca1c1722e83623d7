"""The PreQuant, activation and group tables: every assigned code as a row.

Belongs here: the facts of a mode. Never here: what a mode does with them (`element`), whether a
control record may combine them (`control`). Clauses: postprocess-and-formats, Decisions 176, 177
and 179. Code reads rows and never asks for the name of a mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from bittrue.encoding import Format, Rounding, formats


class PreQuant(IntEnum):
    """Codes of PreQuantMode. Decision 179; every other six-bit value is reserved."""

    NoQuant = 0
    F322F16 = 1
    VREQ8 = 2
    REQ8 = 3
    VDEQF16 = 4
    DEQF16 = 5
    VSHIFTS322S16 = 12
    SHIFTS322S16 = 13
    F322BF16 = 16
    REQ4 = 17
    VREQ4 = 18
    DEQS16 = 19
    VDEQS16 = 20
    VQF322B8_PRE = 23
    QF322B8_PRE = 24
    QF322HIF8_PRE = 25
    QF322FP8_PRE = 26
    QF322F32_PRE = 27
    VQF322HIF8_PRE = 28
    QF322F16_PRE = 32
    VQF322F16_PRE = 33
    QF322BF16_PRE = 34
    QS322BF16_PRE = 35
    VQF322BF16_PRE = 36
    VQF322FP8_PRE = 37
    VQF322F32_PRE = 38
    VQS322BF16_PRE = 39


class Relu(IntEnum):
    """Codes of ReluMode: what multiplies a negative accumulator. Decision 176."""

    NONE = 0
    """The ordinary scale."""
    RELU = 1
    """Zero."""
    SCALAR = 2
    """One activation parameter."""
    VECTOR = 3
    """The activation parameter of the column."""


class Parameter(Enum):
    """Where the words of a mode come from: none, one, or one for each column."""

    NONE = "none"
    SCALAR = "scalar"
    VECTOR = "vector"


RELU_PARAMETER = {
    Relu.NONE: Parameter.NONE,
    Relu.RELU: Parameter.NONE,
    Relu.SCALAR: Parameter.SCALAR,
    Relu.VECTOR: Parameter.VECTOR,
}

GROUP_N = (0, 8, 16, 32, 48, 64, 80, 96, 112, 128)
"""Columns of a group, by GroupNCode; 0 is no group."""

ACCUMULATORS = ("FP32", "S32", "U32")
"""Formats of a raw accumulator."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One row of the mode table.

    `accumulators` are the legal sources, `destination` the format of D (None: that of the
    accumulator), `parameter` the count of words, `offset_bits` the width in bits of the offset and
    of the intermediate (0: none), `shift` tells an arithmetic right shift. `rounding` is the fixed
    mode, None where the control record chooses; `saturate_allowed` tells whether Sat may be 1.
    `range_first` formats overflow by the value before rounding; where `unsigned_zero`, a negative
    number that rounds to zero gives the code of +0.
    """

    code: PreQuant
    accumulators: tuple[str, ...]
    destination: str | None
    parameter: Parameter
    offset_bits: int = 0
    shift: bool = False
    rounding: Rounding | None = None
    saturate_allowed: bool = True
    range_first: bool = False
    unsigned_zero: bool = False

    @property
    def name(self) -> str:
        """The name of the mode."""
        return self.code.name

    @property
    def has_scale(self) -> bool:
        """Whether a word of this mode holds an FP19 scale."""
        return self.parameter is not Parameter.NONE and not self.shift

    def format_of(self, accumulator: str) -> Format:
        """Return the format of D for an accumulator format."""
        return formats[self.destination or accumulator]


_N, _S, _V = Parameter.NONE, Parameter.SCALAR, Parameter.VECTOR
_F32, _S32 = ("FP32",), ("S32",)
_RNE, _RHB, _FLOOR = Rounding.RNE, Rounding.RHB, Rounding.RTM


def _row(
    code: PreQuant,
    accumulators: tuple[str, ...],
    destination: str | None,
    parameter: Parameter,
    offset_bits: int = 0,
    rounding: Rounding | None = None,
) -> Mode:
    return Mode(
        code,
        accumulators,
        destination,
        parameter,
        offset_bits,
        rounding=rounding,
        range_first=destination in ("E4M3", "HiF8"),
        unsigned_zero=destination == "E4M3",
    )


def _shift(code: PreQuant, parameter: Parameter) -> Mode:
    return Mode(
        code, _S32, "S16", parameter, shift=True, rounding=_FLOOR, saturate_allowed=False
    )  # fmt: skip


MODES: dict[PreQuant, Mode] = {
    row.code: row
    for row in (
        Mode(PreQuant.NoQuant, ACCUMULATORS, None, _N, rounding=_RNE, saturate_allowed=False),
        _row(PreQuant.F322F16, _F32, "FP16", _N, 0, _RNE),
        _row(PreQuant.VREQ8, _S32, "S8", _V, 9),
        _row(PreQuant.REQ8, _S32, "S8", _S, 9),
        _row(PreQuant.VDEQF16, _S32, "FP16", _V),
        _row(PreQuant.DEQF16, _S32, "FP16", _S),
        _shift(PreQuant.VSHIFTS322S16, _V),
        _shift(PreQuant.SHIFTS322S16, _S),
        _row(PreQuant.F322BF16, _F32, "BF16", _N, 0, _RNE),
        _row(PreQuant.REQ4, _S32, "S4X2", _S, 5),
        _row(PreQuant.VREQ4, _S32, "S4X2", _V, 5),
        _row(PreQuant.DEQS16, _S32, "S16", _S, 17),
        _row(PreQuant.VDEQS16, _S32, "S16", _V, 17),
        _row(PreQuant.VQF322B8_PRE, _F32, "S8", _V, 9),
        _row(PreQuant.QF322B8_PRE, _F32, "S8", _S, 9),
        _row(PreQuant.QF322HIF8_PRE, _F32, "HiF8", _S, 0, _RHB),
        _row(PreQuant.QF322FP8_PRE, _F32, "E4M3", _S, 0, _RNE),
        _row(PreQuant.QF322F32_PRE, _F32, "FP32", _S),
        _row(PreQuant.VQF322HIF8_PRE, _F32, "HiF8", _V, 0, _RHB),
        _row(PreQuant.QF322F16_PRE, _F32, "FP16", _S, 0, _RNE),
        _row(PreQuant.VQF322F16_PRE, _F32, "FP16", _V, 0, _RNE),
        _row(PreQuant.QF322BF16_PRE, _F32, "BF16", _S, 0, _RNE),
        _row(PreQuant.QS322BF16_PRE, _S32, "BF16", _S),
        _row(PreQuant.VQF322BF16_PRE, _F32, "BF16", _V, 0, _RNE),
        _row(PreQuant.VQF322FP8_PRE, _F32, "E4M3", _V, 0, _RNE),
        _row(PreQuant.VQF322F32_PRE, _F32, "FP32", _V),
        _row(PreQuant.VQS322BF16_PRE, _S32, "BF16", _V),
    )
}
"""The mode table of Decision 179, with rounding and Sat as the architecture fixes them."""
