"""The terms that one result of a call combines, in their logical order."""

from __future__ import annotations

import numpy as np

from bittrue.dispatch import Call
from bittrue.encoding import BINARY32
from bittrue.generic import Array
from bittrue.generic import arithmetic as ar
from bittrue.generic.array import groups, strides_of
from bittrue.generic.conv import factors
from bittrue.geometry import Contraction, Convolution, Indexing, Reduction, Scan
from bittrue.policy import OperandPlan
from bittrue.providers import Operand, converted


def computed_elements(operand: Operand, planned: OperandPlan) -> list[int]:
    """Return the elements of an operand as the plan computes them: Float32 bit patterns."""
    buffer = converted(operand)
    if buffer.dtype is planned.convert_to:
        return buffer.elements()
    return [BINARY32.encode(abs(v), 0, negative=v < 0) for v in buffer.elements()]


def sum_terms(call: Call, index: int) -> list[int]:
    """Return the terms, as stored elements, that result `index` of a reduction or sum combines."""
    geometry = call.geometry
    elements = [
        computed_elements(operand, planned)
        for position, (operand, planned) in enumerate(
            zip(call.operands, call.plan.operands, strict=True)
        )
        if not (position == 1 and isinstance(geometry, Indexing))
    ]
    shapes = [converted(operand).shape for operand in call.operands]
    if isinstance(geometry, Reduction):
        kept, reduced = groups(shapes[0], geometry.axes)
        return [elements[0][kept[index] + step] for step in reduced]
    if isinstance(geometry, Scan):
        step = strides_of(shapes[0])[geometry.axis]
        position = index // step % shapes[0][geometry.axis]
        return [elements[0][index - back * step] for back in range(position, -1, -1)]
    if isinstance(geometry, Contraction):
        row, column = divmod(index, geometry.m)
        lhs = elements[0][row * geometry.k : (row + 1) * geometry.k]
        rhs = elements[1][column :: geometry.m]
        return [ar.mul(BINARY32, a, b) for a, b in zip(lhs, rhs, strict=True)]
    if isinstance(geometry, Convolution):
        return _convolution_terms(call, elements, geometry, index)
    if isinstance(geometry, Indexing):
        return _scattered_terms(call, elements, geometry, index)
    return []


def _convolution_terms(
    call: Call, elements: list[list[int]], geometry: Convolution, index: int
) -> list[int]:
    lhs, kernel = (
        Array(converted(operand).dtype, converted(operand).shape, bits)
        for operand, bits in zip(call.operands, elements, strict=True)
    )
    at = np.unravel_index(index, geometry.shape)
    position = tuple(int(at[axis]) for axis in geometry.output_dims)
    return [ar.mul(BINARY32, a, b) for a, b in factors(lhs, kernel, geometry, position)]


def _scattered_terms(
    call: Call, elements: list[list[int]], geometry: Indexing, index: int
) -> list[int]:
    base, updates = elements
    indices = np.array(converted(call.operands[1]).elements(), np.int64)
    at = list(np.unravel_index(index, geometry.shape))
    rows = np.array(updates, np.uint32).reshape(
        *geometry.shape[: geometry.axis], indices.size, *geometry.shape[geometry.axis + 1 :]
    )
    hits = np.flatnonzero(indices == at[geometry.axis])
    terms = [base[index]]
    for hit in hits:
        at[geometry.axis] = hit
        terms.append(int(rows[tuple(at)]))
    return terms
