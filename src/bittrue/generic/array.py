"""What Generic computes on: a dtype, a shape and a flat list of stored elements.

Elements stand in row-major order. A floating element is its bit pattern as an int, a complex one
the pattern of its imaginary part above that of its real part, an Int32 element the int itself, a
Bool element a Python bool.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bittrue.dtypes import SimpleDType


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor of Generic: `elements` holds ``prod(shape)`` stored elements of `dtype`."""

    dtype: SimpleDType
    shape: tuple[int, ...]
    elements: list[int]


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of `shape`, in elements."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def coordinates_of(offset: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the coordinates of the element at a row-major `offset`."""
    coordinates = []
    for step in strides_of(shape):
        index, offset = divmod(offset, step)
        coordinates.append(index)
    return tuple(coordinates)


def offsets(extents: Sequence[int], strides: Sequence[int]) -> Iterator[int]:
    """Yield the offset of every coordinate of `extents`, the last axis fastest."""
    steps = [range(0, extent * step, step) if step else (0,) * extent
             for extent, step in zip(extents, strides, strict=True)]  # fmt: skip
    for coordinates in itertools.product(*steps):
        yield sum(coordinates)


def broadcast(array: Array, shape: tuple[int, ...]) -> list[int]:
    """Return the elements of `array` stretched to `shape`."""
    if array.shape == shape:
        return array.elements
    if math.prod(array.shape) == 1:
        return array.elements * math.prod(shape)
    own = (1,) * (len(shape) - len(array.shape)) + array.shape
    strides = [
        0 if extent == 1 else step for extent, step in zip(own, strides_of(own), strict=True)
    ]
    return [array.elements[offset] for offset in offsets(shape, strides)]


def groups(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split row-major offsets by the reduced `axes`.

    Returns the offsets of the kept coordinates and those of the reduced ones, each in ascending
    logical order; the terms of one result are ``kept + reduced``.
    """
    strides = strides_of(shape)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    return tuple(
        tuple(offsets([shape[axis] for axis in part], [strides[axis] for axis in part]))
        for part in (kept, axes)
    )  # type: ignore[return-value]
