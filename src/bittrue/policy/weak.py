"""Weak scalars: which Python values are one, and which branch of a plan they select.

Clause: operation-dtype-policy, *Weak scalars select branches without acquiring a dtype*. The kind
follows the type of the value, never its value: ``3.0`` is floating. NumPy scalars carry a dtype and
are never weak.
"""

from __future__ import annotations

import numbers

from bittrue.policy.arithmetic import FrozenEnum

INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1


class WeakCondition(FrozenEnum):
    """The branches between which a weak scalar can choose."""

    INT_NONNEG32 = "int_nonneg32"
    """An integer in [0, 2^31-1]."""

    INT_NEG32 = "int_neg32"
    """An integer in [-2^31, -1]."""

    INT_WIDE = "int_wide"
    """An integer outside Int32."""

    FLOATING = "floating"
    """A real number that is no integer by type, or a bool."""

    COMPLEX = "complex"
    """A complex number."""


def _of_integer(value: int) -> WeakCondition:
    if value < INT32_MIN or value > INT32_MAX:
        return WeakCondition.INT_WIDE
    return WeakCondition.INT_NONNEG32 if value >= 0 else WeakCondition.INT_NEG32


def weak_condition(value: object) -> WeakCondition | None:
    """Return the branch that `value` selects, None if it is no weak scalar.

    A value with a `dtype` attribute (a NumPy scalar) is typed and never weak, whatever Python
    class it derives from.
    """
    kind = type(value)
    if kind is int:
        return _of_integer(value)  # type: ignore[arg-type]
    if kind is float or kind is bool:
        return WeakCondition.FLOATING
    if not isinstance(value, numbers.Complex) or hasattr(value, "dtype"):
        return None
    if isinstance(value, bool):
        return WeakCondition.FLOATING
    if isinstance(value, numbers.Integral):
        return _of_integer(int(value))
    if isinstance(value, numbers.Real):
        return WeakCondition.FLOATING
    return WeakCondition.COMPLEX


REAL_CONDITIONS: tuple[WeakCondition, ...] = (
    WeakCondition.INT_NONNEG32,
    WeakCondition.INT_NEG32,
    WeakCondition.INT_WIDE,
    WeakCondition.FLOATING,
)
"""Every branch that a real scalar can select."""
