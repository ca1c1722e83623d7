"""The reference: a whole matrix of accumulators, element by element, in exact integers.

Belongs here: the order of the stages. Never here: arrays, legality, publication. Clauses:
postprocess-and-formats, Decisions 175 and 181.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from bittrue.encoding import Status
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.element import Rule, convert_element
from bittrue.postprocess.maxima import group_maxima, row_maximum
from bittrue.postprocess.modes import RELU_PARAMETER, Parameter
from bittrue.postprocess.parameters import Word, decode_activation, decode_quant

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outputs:
    """The output group as codes: D and group maxima by row, a row maximum for each row, flags."""

    d: list[list[int]]
    row_max: list[int]
    group_max: list[list[int]]
    status: Status


@dataclass(frozen=True, slots=True)
class Parameters:
    """Decoded words: one for each column, whether the mode is scalar or vector."""

    quant: tuple[Word | None, ...]
    activation: tuple[int | None, ...]

    @classmethod
    def of(
        cls, control: PostProcess, columns: int, quant: Sequence[int], activation: Sequence[int]
    ) -> Parameters:
        """Decode legal words; a sequence holds none, one or `columns` of them."""
        words = {word: decode_quant(control.mode, word) for word in set(quant)}
        return cls(
            _spread(control.mode.parameter, [words[word] for word in quant], columns),
            _spread(RELU_PARAMETER[control.relu], [*map(decode_activation, activation)], columns),
        )


def _spread(count: Parameter, given: list[T], columns: int) -> tuple[T | None, ...]:
    """Return what each column uses."""
    if count is Parameter.VECTOR:
        return tuple(given)
    return (given[0] if count is Parameter.SCALAR else None,) * columns


def post_process_rows(
    control: PostProcess,
    accumulator: str,
    rows: Sequence[Sequence[int]],
    parameters: Parameters,
    row_max_in: Sequence[int] | None,
) -> Outputs:
    """Post-process rows of accumulator codes: maxima of the raw ones, then each element once."""
    rule = Rule.of(control, accumulator)
    outputs = Outputs([], [], [], Status(0))
    flags = Status(0)
    for index, row in enumerate(rows):
        if control.row_max:
            initial = None if row_max_in is None else row_max_in[index]
            value, raised = row_maximum(accumulator, row, initial, max_abs=control.max_abs)
            outputs.row_max.append(value)
            flags |= raised
        if control.group_max:
            values, raised = group_maxima(
                accumulator, row, control.group_n, max_abs=control.max_abs
            )
            outputs.group_max.append(values)
            flags |= raised
    for row in rows:
        columns = zip(row, parameters.quant, parameters.activation, strict=True)
        elements = [convert_element(rule, raw, quant, act) for raw, quant, act in columns]
        outputs.d.append([element.bits for element in elements])
        for element in elements:
            flags |= element.flags
    return Outputs(outputs.d, outputs.row_max, outputs.group_max, flags)
