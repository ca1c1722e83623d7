"""Stable order along one axis: by value, zeros equal, NaNs equal and above every number.

Ties keep the lower position first in both directions, so descending is not the reverse of
ascending.
"""

from __future__ import annotations

from bittrue.encoding import BINARY32
from bittrue.generic import arithmetic as ar
from bittrue.generic.array import Array, groups, strides_of
from bittrue.geometry import Ordering


def _ranked(column: list[int], *, descending: bool) -> list[int]:
    def key(position: int) -> tuple[bool, int]:
        bits = column[position]
        nan = BINARY32.is_nan(bits)
        value = 0 if nan else ar.order(BINARY32, bits)
        return (nan is not descending, -value if descending else value)

    return sorted(range(len(column)), key=key)


def ordered(operand: Array, geometry: Ordering, *, indices: bool) -> list[int]:
    """Return the first `count` values, or positions, of every sorted line along the axis."""
    extent = operand.shape[geometry.axis]
    step = strides_of(operand.shape)[geometry.axis]
    out_step = strides_of(geometry.shape)[geometry.axis]
    kept, _ = groups(operand.shape, (geometry.axis,))
    out_kept, _ = groups(geometry.shape, (geometry.axis,))
    result = [0] * (len(kept) * geometry.count)
    for base, out_base in zip(kept, out_kept, strict=True):
        column = operand.elements[base : base + extent * step : step]
        ranked = _ranked(column, descending=geometry.descending)[: geometry.count]
        for rank, position in enumerate(ranked):
            result[out_base + rank * out_step] = position if indices else column[position]
    return result
