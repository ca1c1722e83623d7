"""The control record of post-processing and its 32-bit command word.

Belongs here: the fields, their legality among themselves, and their encoding. Never here: what
depends on the accumulator or the parameters (`plan`). Clauses: postprocess-and-formats, Decisions
174 to 179. Faults are found in the order encoding, fields, control.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TypeVar

from bittrue._records import put, shown
from bittrue.encoding import Rounding
from bittrue.errors import RefusedTypeError, RejectedError
from bittrue.postprocess.modes import GROUP_N, MODES, Mode, PreQuant, Relu

Code = TypeVar("Code", bound=IntEnum)

CANONICAL_WORD = 0x0000_2023
"""The command word with everything off: Func 2, class 2, opcode 1, width 1."""
FIXED_MASK = 0x0000_7E7F
"""The bits of the command word that have one legal value."""

_PLACES = {
    # field: (lowest bit, width)
    "pre_quant": (26, 6),
    "relu": (23, 3),
    "group_n": (19, 4),
    "row_max": (18, 1),
    "group_max": (17, 1),
    "row_max_init": (16, 1),
    "max_abs": (15, 1),
    "trans_b": (8, 1),
    "trans_a": (7, 1),
}
"""Where each field stands in the command word; `group_n` stands there as its code."""

_SWITCHES = (
    "row_max",
    "group_max",
    "row_max_init",
    "max_abs",
    "saturate",
    "trans_a",
    "trans_b",
)


@dataclass(frozen=True, init=False)
class PostProcess:
    """What happens to a raw accumulator: an immutable control record.

    `pre_quant` is a code, a member of `PreQuant` or its name; `relu` a code or member of `Relu`;
    `group_n` a number of columns (0, 8, 16, 32, 48, 64, 80, 96, 112, 128); `rounding` a mode, its
    name or code, NONE for the one that the mode fixes or, where it is free, nearest even; the
    others are bools. `trans_a` and `trans_b` are carried in the word and act in
    `matmul_post_process` alone: they say that the operand is stored transposed.

    Raises `RejectedError` with the category *encoding* (a reserved code), *fields* (RowMaxInit
    without RowMax, GroupMax without GroupN or the reverse, MaxAbs without a maximum) or *control*
    (a rounding or Sat that the mode does not take), in this order; `TypeError` for a value of
    another kind. Decisions 174 to 179.
    """

    pre_quant: PreQuant = PreQuant.NoQuant
    relu: Relu = Relu.NONE
    group_n: int = 0
    row_max: bool = False
    group_max: bool = False
    row_max_init: bool = False
    max_abs: bool = False
    rounding: Rounding = Rounding.NONE
    saturate: bool = False
    trans_a: bool = False
    trans_b: bool = False

    def __init__(
        self,
        pre_quant: PreQuant | int | str = 0,
        relu: Relu | int | str = 0,
        group_n: int = 0,
        row_max: bool = False,  # noqa: FBT001, FBT002 - the documented positional order
        group_max: bool = False,  # noqa: FBT001, FBT002
        row_max_init: bool = False,  # noqa: FBT001, FBT002
        max_abs: bool = False,  # noqa: FBT001, FBT002
        rounding: Rounding | int | str = "NONE",
        saturate: bool = False,  # noqa: FBT001, FBT002
        trans_a: bool = False,  # noqa: FBT001, FBT002
        trans_b: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        put(self, "pre_quant", _code("pre_quant", pre_quant, PreQuant))
        put(self, "relu", _code("relu", relu, Relu))
        put(self, "group_n", _group(group_n))
        switches = (row_max, group_max, row_max_init, max_abs, saturate, trans_a, trans_b)
        for name, value in zip(_SWITCHES, switches, strict=True):
            put(self, name, _switch(name, value))
        put(self, "rounding", _code("rounding", rounding, Rounding))
        self._check_fields()
        self._check_control()

    def _check_fields(self) -> None:
        """Refuse fields that need one another. Category fields."""
        if self.row_max_init and not self.row_max:
            raise _rejected("fields", "row_max_init without row_max", "row_max=True beside it")
        if self.group_max and not self.group_n:
            raise _rejected("fields", "group_max with group_n 0", f"group_n in {GROUP_N[1:]}")
        if self.group_n and not self.group_max:
            raise _rejected("fields", f"group_n {self.group_n} without group_max", "both or none")
        if self.max_abs and not (self.row_max or self.group_max):
            raise _rejected("fields", "max_abs without a maximum", "row_max or group_max beside it")

    def _check_control(self) -> None:
        """Refuse conversion controls that the mode does not take. Category control."""
        mode = self.mode
        if mode.rounding is not None and self.rounding is not Rounding.NONE:
            raise _rejected(
                "control",
                f"rounding {self.rounding.name} with {mode.name}, which fixes its own",
                "rounding NONE",
            )
        if self.saturate and not mode.saturate_allowed:
            raise _rejected("control", f"saturate with {mode.name}", "saturate=False")

    @property
    def mode(self) -> Mode:
        """The row of the mode table."""
        return MODES[self.pre_quant]

    @property
    def applied_rounding(self) -> Rounding:
        """The rounding that converts: the one the mode fixes, else the record's; NONE is RNE."""
        return self.mode.rounding or self.rounding or Rounding.RNE

    @property
    def word(self) -> int:
        """The 32-bit command word. Rounding and Sat are not part of it."""
        word = CANONICAL_WORD
        for name, (low, _) in _PLACES.items():
            value = getattr(self, name)
            word |= (GROUP_N.index(value) if name == "group_n" else int(value)) << low
        return word

    @classmethod
    def from_word(
        cls,
        word: int,
        rounding: Rounding | int | str = "NONE",
        saturate: bool = False,  # noqa: FBT001, FBT002 - the documented positional order
    ) -> PostProcess:
        """Read a command word; the inverse of `word`.

        Raises `RejectedError` as construction does, with *encoding* also for a fixed bit of another
        value or a word beyond 32 bits; `TypeError` for a word that is no int.
        """
        if isinstance(word, bool) or not isinstance(word, int):
            raise RefusedTypeError("PostProcess.from_word", f"got {shown(word)}", "an int")
        if not 0 <= word < 1 << 32:
            raise _rejected("encoding", f"command word {word:#x}", "32 bits")
        if word & FIXED_MASK != CANONICAL_WORD:
            raise _rejected(
                "encoding",
                f"command word {word:#010x} has fixed bits {word & FIXED_MASK:#06x}",
                f"{CANONICAL_WORD:#06x} under the mask {FIXED_MASK:#06x}",
            )
        values = {n: word >> low & ((1 << width) - 1) for n, (low, width) in _PLACES.items()}
        code = values["group_n"]
        if code >= len(GROUP_N):
            raise _rejected("encoding", f"reserved GroupNCode {code}", f"0..{len(GROUP_N) - 1}")
        switches = {name: bool(values[name]) for name in values if name in _SWITCHES}
        return cls(
            values["pre_quant"],
            values["relu"],
            GROUP_N[code],
            rounding=rounding,
            saturate=saturate,
            **switches,
        )

    def __str__(self) -> str:
        parts = [self.pre_quant.name]
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                parts.append(f"{field.name}={value.name if isinstance(value, IntEnum) else value}")
        return ", ".join(parts)


def _rejected(category: str, came: str, accepted: str) -> RejectedError:
    return RejectedError(category, "PostProcess", came, accepted)


def _code(field: str, value: object, kind: type[Code]) -> Code:
    """Return the member that `value` names, by code or by name."""
    if isinstance(value, str):
        found = next((member for member in kind if member.name.upper() == value.upper()), None)
    elif isinstance(value, int) and not isinstance(value, bool):
        found = next((member for member in kind if member.value == value), None)
    else:
        raise RefusedTypeError(
            f"PostProcess.{field}", f"got {shown(value)}", f"a member of {kind.__name__}"
        )
    if found is None:
        raise _rejected(
            "encoding",
            f"{field} {value!r} is not assigned",
            "one of " + ", ".join(f"{m.name} ({m.value})" for m in kind),
        )
    return found


def _group(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise RefusedTypeError("PostProcess.group_n", f"got {shown(value)}", "a count of columns")
    if value not in GROUP_N:
        raise _rejected("encoding", f"group_n {value}", f"columns: one of {GROUP_N}")
    return int(value)


def _switch(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise RefusedTypeError(f"PostProcess.{field}", f"got {shown(value)}", "a bool")
    return value
