"""Matrix product: terms rounded first, then added in ascending order of the contracted index."""

from __future__ import annotations

from collections.abc import Iterator

from bittrue.encoding import BINARY32
from bittrue.generic import arithmetic as ar
from bittrue.generic import int32
from bittrue.generic.array import Array
from bittrue.generic.reduce import ACCUMULATOR_FORMATS, convert
from bittrue.geometry import Contraction
from bittrue.policy import Accumulation, OperationPlan


def matmul(plan: OperationPlan, lhs: Array, rhs: Array, geometry: Contraction) -> Iterator[int]:
    """Contract ``[n, k]`` with ``[k, m]``; an empty contraction gives +0 or 0."""
    dot = _exact if plan.accumulation is Accumulation.EXACT_INTEGER else _floating
    columns = [rhs.elements[column :: geometry.m] for column in range(geometry.m)]
    return (
        dot(plan, lhs.elements[row * geometry.k : (row + 1) * geometry.k], column)
        for row in range(geometry.n)
        for column in columns
    )


def _exact(_plan: OperationPlan, row: list[int], column: list[int]) -> int:
    return int32.narrow(sum(a * b for a, b in zip(row, column, strict=True)))


def _floating(plan: OperationPlan, row: list[int], column: list[int]) -> int:
    assert plan.accumulator_dtype is not None
    fmt = ACCUMULATOR_FORMATS[plan.accumulator_dtype]
    total = 0
    for a, b in zip(row, column, strict=True):
        term = ar.mul(BINARY32, a, b)
        total = ar.add(fmt, total, convert(term, BINARY32, fmt))
    return convert(total, fmt, BINARY32)
