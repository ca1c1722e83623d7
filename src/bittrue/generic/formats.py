"""The format in which each arithmetic computes."""

from __future__ import annotations

from bittrue.encoding import BINARY32, BINARY64, BINARY128, BinaryFormat
from bittrue.policy import Arithmetic, OperationPlan

FORMATS: dict[Arithmetic, BinaryFormat] = {
    Arithmetic.BINARY32: BINARY32,
    Arithmetic.BINARY64: BINARY64,
    Arithmetic.EXTENDED: BINARY128,
    Arithmetic.COMPLEX_BINARY32: BINARY32,
    Arithmetic.COMPLEX_BINARY64: BINARY64,
    Arithmetic.COMPLEX_EXTENDED: BINARY128,
}
"""Floating arithmetic -> the format of every step, of each part where it is complex."""

COMPLEX: frozenset[Arithmetic] = frozenset(
    {Arithmetic.COMPLEX_BINARY32, Arithmetic.COMPLEX_BINARY64, Arithmetic.COMPLEX_EXTENDED}
)
"""The arithmetic of pairs."""


def format_of(plan: OperationPlan) -> BinaryFormat:
    """Return the format in which a floating plan computes its terms."""
    return FORMATS[plan.compute]
