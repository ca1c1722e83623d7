"""Gather and scatter along one axis. Index values were checked before anything was allocated."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bittrue.encoding import BINARY32
from bittrue.generic import arithmetic as ar
from bittrue.generic.array import Array
from bittrue.geometry import Indexing


def _targets(shape: tuple[int, ...], axis: int, indices: list[int]) -> Iterator[int]:
    """Yield the offset in `shape` of every element of the gathered shape, in logical order."""
    before, extent = math.prod(shape[:axis]), shape[axis]
    after = math.prod(shape[axis + 1 :])
    for outer in range(before):
        for index in indices:
            start = (outer * extent + index) * after
            yield from range(start, start + after)


def gather(data: Array, indices: Array, geometry: Indexing) -> list[int]:
    """Move the indexed elements, bit for bit."""
    return [data.elements[t] for t in _targets(data.shape, geometry.axis, indices.elements)]


def scatter(base: Array, indices: Array, updates: Array, geometry: Indexing) -> list[int]:
    """Copy `base` with the indexed elements replaced, bit for bit."""
    result = list(base.elements)
    targets = _targets(base.shape, geometry.axis, indices.elements)
    for target, update in zip(targets, updates.elements, strict=True):
        result[target] = update
    return result


def scatter_add(base: Array, indices: Array, updates: Array, geometry: Indexing) -> list[int]:
    """Add the updates to `base` in ascending logical order, one rounding an addition."""
    result = list(base.elements)
    targets = _targets(base.shape, geometry.axis, indices.elements)
    for target, update in zip(targets, updates.elements, strict=True):
        result[target] = ar.add(BINARY32, result[target], update)
    return result
