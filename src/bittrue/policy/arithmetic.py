"""Compute arithmetic and accumulation: what each member means.

Clauses: operation-dtype-policy, *Arithmetic and accumulation values have exact semantics*;
tensor-promotion, *Tensor-Tensor Promotion* (the arithmetic of each result dtype).
A member is an immutable name of a rule; the rule is executed by the backends.
"""

from __future__ import annotations

from enum import Enum


class FrozenEnum(Enum):
    """An enum whose members take no attribute once the class is built."""

    # Members stand in every key of a policy; that of Enum hashes the name, in Python.
    __hash__ = object.__hash__

    def __setattr__(self, name: str, value: object) -> None:
        # The enum machinery fills a member in before it is listed in its class.
        if self.__dict__.get("_name_") in type(self).__members__:
            msg = f"{self!s} is immutable: attribute {name!r} cannot be set"
            raise AttributeError(msg)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        msg = f"{self!s} is immutable: attribute {name!r} cannot be deleted"
        raise AttributeError(msg)


class Arithmetic(FrozenEnum):
    """Numerical semantics of each computed term, before terms are combined."""

    BINARY32 = "binary32"
    """IEEE-754 binary32, round to nearest even at every step; no wider intermediate, no
    reassociation, no fused contraction."""

    INT32_EXACT_CHECKED = "int32_exact_checked"
    """Exact integers; `OverflowError` when the exact result leaves Int32. Never wraps."""

    INT32_EXACT = "int32_exact"
    """Exact integers in a step that cannot leave Int32, or that is not where the plan narrows."""

    BINARY64 = "binary64"
    """IEEE-754 binary64, round to nearest even at every step; no wider intermediate, no
    reassociation, no fused contraction."""

    COMPLEX_BINARY32 = "complex_binary32"
    """Pairs of binary32: the documented expression tree of each operation, one rounding a step. A
    real operand stays real: it has no imaginary part, not one of zero."""

    COMPLEX_BINARY64 = "complex_binary64"
    """Pairs of binary64: the documented expression tree of each operation, one rounding a step. A
    real operand stays real: it has no imaginary part, not one of zero."""

    EXTENDED = "extended"
    """IEEE-754 binary128, round to nearest even at every step."""

    COMPLEX_EXTENDED = "complex_extended"
    """Pairs of binary128: the documented expression trees, one rounding a step."""


class Accumulation(FrozenEnum):
    """Numerical and ordering semantics of combining several computed terms."""

    FLOATING = "floating"
    """Add the encoded terms in the plan's accumulator dtype, in the documented association."""

    SEQUENTIAL_BINARY32 = "sequential_binary32"
    """Add in ascending logical order, rounding to binary32 after every addition."""

    SEQUENTIAL_BINARY32_PRODUCT = "sequential_binary32_product"
    """Multiply in ascending logical order, rounding to binary32 after every multiplication."""

    MAXIMUM = "maximum"
    """Fold the larger in logical order: a NaN wins, +0 is above -0."""

    MINIMUM = "minimum"
    """Fold the smaller in logical order: a NaN wins, -0 is below +0."""

    ARGMAX = "argmax"
    """First logical ordinal of the maximum: the first NaN wins, zeros of either sign tie."""

    ARGMIN = "argmin"
    """First logical ordinal of the minimum: the first NaN wins, zeros of either sign tie."""

    SEQUENTIAL = "sequential"
    """Add in ascending logical order, rounding in the accumulator dtype after every addition."""

    SEQUENTIAL_PRODUCT = "sequential_product"
    """Multiply in ascending logical order from the real 1, rounding in the accumulator dtype after
    every multiplication."""

    EXACT_INTEGER = "exact_integer"
    """Combine over the integers; only the final narrowing to Int32 is checked."""
