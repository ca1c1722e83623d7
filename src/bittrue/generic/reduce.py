"""Reductions, arg reductions and the scan: ordered and floating accumulation.

Belongs here: how the terms of one result combine. Clause: operation-dtype-policy, *Arithmetic and
accumulation values have exact semantics*. The association of FLOATING sums is the lane order that
the documentation publishes as part of the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bittrue.dtypes import DType, SimpleDType
from bittrue.encoding import BinaryFormat, component_format
from bittrue.generic import arithmetic as ar
from bittrue.generic import int32
from bittrue.generic import numbers as nu
from bittrue.generic.array import Array, groups, strides_of
from bittrue.generic.formats import format_of
from bittrue.geometry import Geometry, Reduction, Scan
from bittrue.policy import Accumulation, OperationPlan

LANES = 32
BLOCK = 4096

Numbers = Sequence[nu.Number]


def lane_sum(fmt: BinaryFormat, terms: Numbers, start: nu.Number = 0) -> nu.Number:
    """Add `terms` in the lane order: 32 lanes a block of 4096, folded by halves.

    Every lane starts from `start`, a zero of the kind of the terms; it is the sum of none.
    """
    values = list(terms)
    while True:
        values = [
            _block_sum(fmt, values[first : first + BLOCK], start)
            for first in range(0, len(values), BLOCK)
        ] or [start]
        if len(values) == 1:
            return values[0]


def _block_sum(fmt: BinaryFormat, terms: Numbers, start: nu.Number) -> nu.Number:
    lanes = [start] * LANES
    for index, term in enumerate(terms):
        lanes[index % LANES] = nu.add(fmt, lanes[index % LANES], term)
    width = LANES // 2
    while width:
        lanes = [nu.add(fmt, lanes[j], lanes[j + width]) for j in range(width)]
        width //= 2
    return lanes[0]


def accumulator_of(plan: OperationPlan) -> SimpleDType:
    """Return the dtype in which the terms of a plan are combined."""
    assert plan.accumulator_dtype is not None
    return plan.accumulator_dtype


def accumulated(plan: OperationPlan, terms: Numbers) -> nu.Number:
    """Add encoded terms in the lane order, in the accumulator dtype; the sum stays there."""
    dtype = accumulator_of(plan)
    terms_format, fmt = format_of(plan), component_format(dtype)
    wide = [nu.converted(term, terms_format, fmt) for term in terms]
    return lane_sum(fmt, wide, nu.zero(dtype))


def narrowed(plan: OperationPlan, total: nu.Number) -> int:
    """Round a total from the accumulator dtype to the output; return it as stored."""
    source, destination = component_format(accumulator_of(plan)), component_format(plan.output)
    return nu.writer(plan.output)(nu.converted(total, source, destination))


def _sum(plan: OperationPlan, terms: Numbers) -> int:
    return narrowed(plan, accumulated(plan, terms))


def _mean(plan: OperationPlan, terms: Numbers) -> int:
    """Divide the sum by the count, rounded once from the integer; 0/0 where there is no term."""
    fmt = component_format(accumulator_of(plan))
    return narrowed(plan, nu.div(fmt, accumulated(plan, terms), fmt.encode(len(terms), 0)))


def _norm(plan: OperationPlan, terms: Numbers) -> int:
    """Root of the sum of squares: squares in the format of the terms, the rest in that of sums."""
    terms_format, fmt = format_of(plan), component_format(accumulator_of(plan))
    total = accumulated(plan, [nu.squared(terms_format, term) for term in terms])
    assert isinstance(total, int)
    return narrowed(plan, ar.sqrt(fmt, total))


def _exact_integer(_plan: OperationPlan, terms: Sequence[int]) -> int:
    return int32.narrow(sum(terms))


def _product(plan: OperationPlan, terms: Numbers) -> int:
    """Multiply from the real 1: the product of one number is that number."""
    fmt = format_of(plan)
    product: nu.Number = ar.one(fmt)
    for term in terms:
        product = nu.mul(fmt, product, term)
    return nu.writer(plan.output)(product)


def _maximum(plan: OperationPlan, terms: Sequence[int]) -> int:
    fmt = format_of(plan)
    result = terms[0]
    for term in terms:
        result = ar.maximum(fmt, result, term)
    return result


def _minimum(plan: OperationPlan, terms: Sequence[int]) -> int:
    fmt = format_of(plan)
    result = terms[0]
    for term in terms:
        result = ar.minimum(fmt, result, term)
    return result


def _argmax(plan: OperationPlan, terms: Sequence[int]) -> int:
    fmt = format_of(plan)
    return _first_winner(fmt, [ar.order(fmt, term) for term in terms], terms)


def _argmin(plan: OperationPlan, terms: Sequence[int]) -> int:
    fmt = format_of(plan)
    return _first_winner(fmt, [-ar.order(fmt, term) for term in terms], terms)


def _first_winner(fmt: BinaryFormat, keys: Sequence[int], terms: Sequence[int]) -> int:
    for ordinal, term in enumerate(terms):
        if fmt.is_nan(term):
            return ordinal
    return keys.index(max(keys))


Rule = Callable[[OperationPlan, Any], int]

RULES: dict[Accumulation, Rule] = {
    Accumulation.FLOATING: _sum,
    Accumulation.EXACT_INTEGER: _exact_integer,
    Accumulation.SEQUENTIAL_BINARY32_PRODUCT: _product,
    Accumulation.SEQUENTIAL_PRODUCT: _product,
    Accumulation.MAXIMUM: _maximum,
    Accumulation.MINIMUM: _minimum,
    Accumulation.ARGMAX: _argmax,
    Accumulation.ARGMIN: _argmin,
}


OF_OPERATION: dict[str, Rule] = {"mean": _mean, "norm": _norm}
"""Operations that do more with their terms than their accumulation says."""


def reduce(plan: OperationPlan, operand: Array, geometry: Reduction) -> Iterator[int]:
    """Combine the terms of every result, in ascending logical order of the reduced axes."""
    assert plan.accumulation is not None
    rule = OF_OPERATION.get(plan.operation) or RULES[plan.accumulation]
    kept, reduced = groups(operand.shape, geometry.axes)
    elements = _numbers(operand)
    return (rule(plan, [elements[base + step] for step in reduced]) for base in kept)


def dot(plan: OperationPlan, operands: tuple[Array, ...], _geometry: Geometry) -> Iterator[int]:
    """Add the products of two vectors in the lane order; ``vdot`` conjugates the first one."""
    fmt = format_of(plan)
    lhs, rhs = map(_numbers, operands)
    if plan.operation == "vdot":
        lhs = [nu.conj(fmt, value) for value in lhs]
    yield _sum(plan, [nu.mul(fmt, a, b) for a, b in zip(lhs, rhs, strict=True)])


def _numbers(array: Array) -> Numbers:
    if array.dtype is DType.Int32:
        return array.elements
    read = nu.reader(array.dtype)
    return [read(element) for element in array.elements]


def cumsum(plan: OperationPlan, operand: Array, geometry: Scan) -> list[int]:
    """Inclusive sums along one axis: start +0, ascending, one rounding a step."""
    fmt, write = format_of(plan), nu.writer(plan.output)
    elements = _numbers(operand)
    result = [0] * len(elements)
    steps = range(operand.shape[geometry.axis])
    step = strides_of(operand.shape)[geometry.axis]
    kept, _ = groups(operand.shape, (geometry.axis,))
    for base in kept:
        total = nu.zero(operand.dtype)
        for position in steps:
            total = nu.add(fmt, total, elements[base + position * step])
            result[base + position * step] = write(total)
    return result
