"""Int32 arithmetic: exact, and checked where the plan narrows. It never wraps or saturates."""

from __future__ import annotations

from bittrue.policy.weak import INT32_MAX, INT32_MIN


class LeavesInt32(ArithmeticError):  # noqa: N818 - an event inside Generic, reported as RangeError
    """The exact result is outside Int32; `value` is it, or None where it was not formed."""

    def __init__(self, value: int | None) -> None:
        self.value = value
        super().__init__(value)


def narrow(value: int) -> int:
    """Return `value` if it is an Int32, else raise `LeavesInt32`."""
    if INT32_MIN <= value <= INT32_MAX:
        return value
    raise LeavesInt32(value)


def add(lhs: int, rhs: int) -> int:
    """Return the exact sum, checked."""
    return narrow(lhs + rhs)


def sub(lhs: int, rhs: int) -> int:
    """Return the exact difference, checked."""
    return narrow(lhs - rhs)


def mul(lhs: int, rhs: int) -> int:
    """Return the exact product, checked."""
    return narrow(lhs * rhs)


def power(base: int, exponent: int) -> int:
    """Return base ** exponent for an exponent >= 0, checked at every step; 0 ** 0 is 1.

    Squaring stops at the highest set bit of the exponent, and every product is checked before the
    next, so no intermediate outgrows two Int32 factors.
    """
    result = 1
    square = base
    while exponent:
        if exponent & 1:
            result = _step(result, square)
        exponent >>= 1
        if exponent:
            square = _step(square, square)
    return result


def _step(lhs: int, rhs: int) -> int:
    product = lhs * rhs
    if not INT32_MIN <= product <= INT32_MAX:
        # Later steps only grow: the final value is not formed.
        raise LeavesInt32(None)
    return product


def relu(value: int) -> int:
    """Return max(value, 0); it cannot leave Int32."""
    return max(value, 0)
