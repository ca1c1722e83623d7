"""Reductions, arg reductions and the scan: ordered and floating accumulation.

Belongs here: how the terms of one result combine. Clause: operation-dtype-policy, *Arithmetic and
accumulation values have exact semantics*. The association of FLOATING sums is the lane order that
the documentation publishes as part of the contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bittrue.dtypes import DType, SimpleDType
from bittrue.encoding import BINARY32, BINARY64, BinaryFormat
from bittrue.generic import arithmetic as ar
from bittrue.generic import int32
from bittrue.generic.array import Array, groups, strides_of
from bittrue.geometry import Reduction, Scan
from bittrue.policy import Accumulation, OperationPlan

LANES = 32
BLOCK = 4096

ACCUMULATOR_FORMATS: dict[SimpleDType, BinaryFormat] = {
    DType.Float32: BINARY32,
    DType.Float64: BINARY64,
}


def convert(bits: int, source: BinaryFormat, destination: BinaryFormat) -> int:
    """Return `bits` of one format in another, by one rounding; a NaN becomes canonical."""
    if source is destination:
        return bits
    sign = destination.sign if bits & source.sign else 0
    if source.is_nan(bits):
        return destination.quiet_nan
    if source.is_infinite(bits):
        return sign | destination.infinity
    negative, significand, exponent = source.decode(bits)
    return destination.encode(significand, exponent, negative=negative)


def lane_sum(fmt: BinaryFormat, terms: Sequence[int]) -> int:
    """Add `terms` in the lane order: 32 lanes a block of 4096, folded by halves; +0 for none."""
    values = list(terms)
    while True:
        values = [
            _block_sum(fmt, values[start : start + BLOCK]) for start in range(0, len(values), BLOCK)
        ] or [0]
        if len(values) == 1:
            return values[0]


def _block_sum(fmt: BinaryFormat, terms: Sequence[int]) -> int:
    lanes = [0] * LANES
    for index, term in enumerate(terms):
        lanes[index % LANES] = ar.add(fmt, lanes[index % LANES], term)
    width = LANES // 2
    while width:
        lanes = [ar.add(fmt, lanes[j], lanes[j + width]) for j in range(width)]
        width //= 2
    return lanes[0]


def _floating(plan: OperationPlan, terms: Sequence[int]) -> int:
    assert plan.accumulator_dtype is not None
    fmt = ACCUMULATOR_FORMATS[plan.accumulator_dtype]
    total = lane_sum(fmt, [convert(term, BINARY32, fmt) for term in terms])
    return convert(total, fmt, BINARY32)


def _exact_integer(_plan: OperationPlan, terms: Sequence[int]) -> int:
    return int32.narrow(sum(terms))


def _product(_plan: OperationPlan, terms: Sequence[int]) -> int:
    result = ar.one(BINARY32)
    for term in terms:
        result = ar.mul(BINARY32, result, term)
    return result


def _maximum(_plan: OperationPlan, terms: Sequence[int]) -> int:
    result = terms[0]
    for term in terms:
        result = ar.maximum(BINARY32, result, term)
    return result


def _minimum(_plan: OperationPlan, terms: Sequence[int]) -> int:
    result = terms[0]
    for term in terms:
        result = ar.minimum(BINARY32, result, term)
    return result


def _argmax(_plan: OperationPlan, terms: Sequence[int]) -> int:
    return _first_winner([ar.order(BINARY32, term) for term in terms], terms)


def _argmin(_plan: OperationPlan, terms: Sequence[int]) -> int:
    return _first_winner([-ar.order(BINARY32, term) for term in terms], terms)


def _first_winner(keys: Sequence[int], terms: Sequence[int]) -> int:
    for ordinal, term in enumerate(terms):
        if BINARY32.is_nan(term):
            return ordinal
    return keys.index(max(keys))


RULES = {
    Accumulation.FLOATING: _floating,
    Accumulation.EXACT_INTEGER: _exact_integer,
    Accumulation.SEQUENTIAL_BINARY32_PRODUCT: _product,
    Accumulation.MAXIMUM: _maximum,
    Accumulation.MINIMUM: _minimum,
    Accumulation.ARGMAX: _argmax,
    Accumulation.ARGMIN: _argmin,
}


def reduce(plan: OperationPlan, operand: Array, geometry: Reduction) -> Iterator[int]:
    """Combine the terms of every result, in ascending logical order of the reduced axes."""
    assert plan.accumulation is not None
    rule = RULES[plan.accumulation]
    kept, reduced = groups(operand.shape, geometry.axes)
    elements = operand.elements
    return (rule(plan, [elements[base + step] for step in reduced]) for base in kept)


def cumsum(operand: Array, geometry: Scan) -> list[int]:
    """Inclusive sums along one axis: start +0, ascending, one rounding a step."""
    result = [0] * len(operand.elements)
    steps = range(operand.shape[geometry.axis])
    step = strides_of(operand.shape)[geometry.axis]
    kept, _ = groups(operand.shape, (geometry.axis,))
    for base in kept:
        total = 0
        for position in steps:
            total = ar.add(BINARY32, total, operand.elements[base + position * step])
            result[base + position * step] = total
    return result
