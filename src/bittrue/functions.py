"""Public operations that are more than one row of the registry, or a row with its operands swapped.

Clause: operation-dtype-policy, *Structured operation families pin their dtype shapes* (the
internal value and index plans of sort and topk).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bittrue.array import Tensor, run
from bittrue.policy import Policy
from bittrue.providers import Backend


class Ordered(NamedTuple):
    """Values moved bit for bit (Float32), and their Int32 positions along the axis."""

    values: Tensor
    indices: Tensor


def sort(
    x: Any,
    axis: int = -1,
    *,
    descending: bool = False,
    policy: Policy | None = None,
    backend: str | Backend | None = None,
) -> Ordered:
    """Sort Float32 elements along `axis`; return values and positions.

    Stable in both directions: of equal values the lower position comes first, zeros of either sign
    are equal, and NaNs stand after every number ascending, before every number descending. Raises
    as `run` does: `TypeError` for another dtype, `ValueError` for an axis outside the rank.
    """
    values, indices = (
        run(f"_sort_{part}", x, axis, descending, policy=policy, backend=backend)
        for part in Ordered._fields
    )
    return Ordered(values, indices)


def topk(
    x: Any,
    k: int,
    axis: int = -1,
    *,
    largest: bool = True,
    policy: Policy | None = None,
    backend: str | Backend | None = None,
) -> Ordered:
    """Return the first `k` of the Float32 elements sorted along `axis`, and their positions.

    Descending if `largest`, so that NaNs come first; ties as in `sort`. Raises as `run` does:
    `ValueError` for `k` outside [1, extent].
    """
    values, indices = (
        run(f"_topk_{part}", x, k, axis, largest, policy=policy, backend=backend)
        for part in Ordered._fields
    )
    return Ordered(values, indices)


def gt(
    lhs: Any, rhs: Any, *, policy: Policy | None = None, backend: str | Backend | None = None
) -> Tensor:
    """Return lhs > rhs elementwise, as Bool: ``lt(rhs, lhs)``; false with a NaN."""
    return run("lt", rhs, lhs, policy=policy, backend=backend)


def ge(
    lhs: Any, rhs: Any, *, policy: Policy | None = None, backend: str | Backend | None = None
) -> Tensor:
    """Return lhs >= rhs elementwise, as Bool: ``le(rhs, lhs)``; false with a NaN."""
    return run("le", rhs, lhs, policy=policy, backend=backend)
