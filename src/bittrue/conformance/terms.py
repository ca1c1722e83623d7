"""What one result of a call reads: the elements of each operand, and the terms that it combines.

Belongs here: from the position of a result to positions of operands, in logical order. Never here:
how results are computed or compared.
"""

from __future__ import annotations

import math

from bittrue.conformance.compare import SUMS
from bittrue.dispatch import Call
from bittrue.dtypes import DType, SimpleDType
from bittrue.generic import Array, convert_operand, format_of
from bittrue.generic import numbers as nu
from bittrue.generic.array import coordinates_of, groups, strides_of
from bittrue.generic.conv import factors
from bittrue.geometry import (
    Contraction,
    Convolution,
    Geometry,
    Indexing,
    InnerProduct,
    Ordering,
    Reduction,
    Scan,
)
from bittrue.policy import OperandPlan
from bittrue.providers import converted

Shapes = list[tuple[int, ...]]
PADDING = -1
"""Offset of a padded position or a hole: it holds +0."""


def elements_read(call: Call, index: int) -> list[list[int]]:
    """Return the stored elements, of the source dtypes, that result `index` reads of each operand.

    An operand of an elementwise operation gives one element, any other a list in logical order.
    """
    buffers = [converted(operand) for operand in call.operands]
    elements = [buffer.elements() for buffer in buffers]
    shapes = [buffer.shape for buffer in buffers]
    offsets = _offsets(call.geometry, shapes, elements, index)
    return [
        [0 if offset == PADDING else stored[offset] for offset in chosen]
        for stored, chosen in zip(elements, offsets, strict=True)
    ]


def sum_terms(call: Call, index: int) -> list[nu.Number]:
    """Return the terms that result `index` adds, as the plan computes them, in logical order."""
    plan = call.plan
    if plan.accumulation not in SUMS:
        return []
    read = [
        _computed(converted(operand).dtype, planned, elements)
        for operand, planned, elements in zip(
            call.operands, plan.operands, elements_read(call, index), strict=True
        )
    ]
    fmt = format_of(plan)
    if isinstance(call.geometry, Contraction | Convolution | InnerProduct):
        lhs, rhs = read
        if plan.operation == "vdot":
            lhs = [nu.conj(fmt, value) for value in lhs]
        return [nu.mul(fmt, a, b) for a, b in zip(lhs, rhs, strict=True)]
    if isinstance(call.geometry, Indexing):
        base, _, updates = read
        return base + updates
    if plan.operation == "norm":
        return [nu.squared(fmt, value) for value in read[0]]
    return read[0]


def _computed(source: SimpleDType, planned: OperandPlan, elements: list[int]) -> list[nu.Number]:
    """Return elements as the plan computes them: converted, and complex ones in parts."""
    array = convert_operand(Array(source, (len(elements),), elements), planned)
    if array.dtype is DType.Int32:
        return list(array.elements)
    return list(map(nu.reader(array.dtype), array.elements))


def _offsets(
    geometry: Geometry, shapes: Shapes, elements: list[list[int]], index: int
) -> list[list[int]]:
    if isinstance(geometry, Reduction):
        kept, reduced = groups(shapes[0], geometry.axes)
        return [[kept[index] + step for step in reduced]]
    if isinstance(geometry, Scan):
        step = strides_of(shapes[0])[geometry.axis]
        position = index // step % shapes[0][geometry.axis]
        return [list(range(index - position * step, index + 1, step))]
    if isinstance(geometry, Ordering):
        step = math.prod(shapes[0][geometry.axis + 1 :])
        extent = shapes[0][geometry.axis]
        outer = index // (step * geometry.count)
        start = outer * step * extent + index % step
        return [list(range(start, start + extent * step, step))]
    if isinstance(geometry, Contraction):
        row, column = divmod(index, geometry.m)
        steps = range(geometry.k)
        return [
            [row * geometry.k + step for step in steps],
            [step * geometry.m + column for step in steps],
        ]
    if isinstance(geometry, InnerProduct):
        return [list(range(geometry.k))] * 2
    if isinstance(geometry, Convolution):
        return _convolution_offsets(geometry, shapes, index)
    if isinstance(geometry, Indexing):
        return _indexed_offsets(geometry, shapes, elements, index)
    return [[index if shape else 0] for shape in shapes]


def _convolution_offsets(geometry: Convolution, shapes: Shapes, index: int) -> list[list[int]]:
    # The factors of operands that hold their own offsets, from 1 on: 0 is padding.
    lhs, kernel = (
        Array(DType.Int32, shape, list(range(1, math.prod(shape) + 1))) for shape in shapes
    )
    at = coordinates_of(index, geometry.shape)
    position = tuple(at[axis] for axis in geometry.output_dims)
    pairs = list(factors(lhs, kernel, geometry, position))
    return [[value - 1 for value, _ in pairs], [weight - 1 for _, weight in pairs]]


def _indexed_offsets(
    geometry: Indexing, shapes: Shapes, elements: list[list[int]], index: int
) -> list[list[int]]:
    """Of a gather the element and its index; of a scatter base, and the indices that hit it."""
    indices, after = elements[1], math.prod(shapes[0][geometry.axis + 1 :])
    inner = index % after
    if len(shapes) == 2:
        outer, at = divmod(index // after, len(indices))
        return [[(outer * geometry.extent + indices[at]) * after + inner], [at]]
    outer, at = divmod(index // after, geometry.extent)
    hits = [position for position, target in enumerate(indices) if target == at]
    return [[index], hits, [(outer * len(indices) + hit) * after + inner for hit in hits]]
