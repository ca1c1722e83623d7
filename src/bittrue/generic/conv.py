"""Grouped cross-correlation of any spatial rank, each product and each addition rounded.

A padded position and a hole of the dilated input hold +0 and contribute their product: the sum of
one result always has the same terms, in ascending order of (in-feature, spatial...), the last
spatial axis fastest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from bittrue.encoding import BINARY32
from bittrue.generic import arithmetic as ar
from bittrue.generic.array import Array, strides_of
from bittrue.geometry import Convolution


def conv_general(lhs: Array, kernel: Array, geometry: Convolution) -> list[int]:
    """Compute every output position of the cross-correlation that `geometry` describes."""
    extents, strides = _by_role(geometry.shape, geometry.output_dims)
    result = [0] * math.prod(extents)
    for position in itertools.product(*(range(extent) for extent in extents)):
        total = 0
        for value, weight in factors(lhs, kernel, geometry, position):
            total = ar.add(BINARY32, total, ar.mul(BINARY32, value, weight))
        result[_offset(position, strides)] = total
    return result


def factors(
    lhs: Array, kernel: Array, geometry: Convolution, position: tuple[int, ...]
) -> Iterator[tuple[int, int]]:
    """Yield the two factors of every term of one output, in the order of the sum.

    `position` is (batch, feature, spatial...), in role order.
    """
    lhs_extents, lhs_strides = _by_role(lhs.shape, geometry.lhs_dims)
    kernel_extents, kernel_strides = _by_role(kernel.shape, geometry.kernel_dims)
    batch, feature, *spatial = position
    per_group = kernel_extents[0] // geometry.feature_groups
    first = feature // per_group * kernel_extents[1]
    for in_feature, *tap in itertools.product(*(range(e) for e in kernel_extents[1:])):
        source = _source(geometry, spatial, tap, lhs_extents[2:])
        value = 0
        if source is not None:
            where = (batch, first + in_feature, *source)
            value = lhs.elements[_offset(where, lhs_strides)]
        yield value, kernel.elements[_offset((feature, in_feature, *tap), kernel_strides)]


def _by_role(
    shape: tuple[int, ...], dims: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    strides = strides_of(shape)
    return tuple(shape[axis] for axis in dims), tuple(strides[axis] for axis in dims)


def _offset(position: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return sum(index * step for index, step in zip(position, strides, strict=True))


def _source(
    geometry: Convolution, output: list[int], tap: list[int], extents: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Input coordinates that an output position and a kernel tap meet; None for padding, holes."""
    source = []
    for axis, (y, j) in enumerate(zip(output, tap, strict=True)):
        u = y * geometry.strides[axis] + j * geometry.kernel_dilation[axis]
        u -= geometry.padding[axis][0]
        index, hole = divmod(u, geometry.lhs_dilation[axis])
        if hole or not 0 <= index < extents[axis]:
            return None
        source.append(index)
    return tuple(source)
