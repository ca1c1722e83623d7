"""Matrix product: terms rounded first, then added in ascending order of the contracted index."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from bittrue.encoding import component_format
from bittrue.generic import int32
from bittrue.generic import numbers as nu
from bittrue.generic.array import Array
from bittrue.generic.formats import format_of
from bittrue.generic.reduce import accumulator_of, narrowed
from bittrue.geometry import Contraction
from bittrue.policy import Accumulation, OperationPlan


def matmul(plan: OperationPlan, lhs: Array, rhs: Array, geometry: Contraction) -> Iterator[int]:
    """Contract ``[n, k]`` with ``[k, m]``; an empty contraction gives +0 or 0."""
    lines: tuple[Any, Any]
    if plan.accumulation is Accumulation.EXACT_INTEGER:
        lines = _lines(lhs.elements, rhs.elements, geometry)
        return (_exact(row, column) for row, column in itertools.product(*lines))
    left, right = (list(map(nu.reader(x.dtype), x.elements)) for x in (lhs, rhs))
    lines = _lines(left, right, geometry)
    return (_floating(plan, row, column) for row, column in itertools.product(*lines))


def _lines(left: Sequence[Any], right: Sequence[Any], geometry: Contraction) -> tuple[Any, Any]:
    """Return the rows of one matrix and the columns of the other."""
    rows = [left[row * geometry.k : (row + 1) * geometry.k] for row in range(geometry.n)]
    return rows, [right[column :: geometry.m] for column in range(geometry.m)]


def _exact(row: Sequence[int], column: Sequence[int]) -> int:
    return int32.narrow(sum(a * b for a, b in zip(row, column, strict=True)))


def _floating(plan: OperationPlan, row: Sequence[nu.Number], column: Sequence[nu.Number]) -> int:
    terms_format, fmt = format_of(plan), component_format(accumulator_of(plan))
    total = nu.zero(accumulator_of(plan))
    for a, b in zip(row, column, strict=True):
        term = nu.mul(terms_format, a, b)
        total = nu.add(fmt, total, nu.converted(term, terms_format, fmt))
    return narrowed(plan, total)
