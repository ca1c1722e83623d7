"""Numeric status: what a conversion did beside giving a code."""

from __future__ import annotations

from enum import IntFlag


class Status(IntFlag):
    """Status flags, with the bits of postprocess-and-formats."""

    NV = 1
    """Invalid: a signaling NaN, or a value that the destination has no answer for."""
    DZ = 2
    """Divide by zero: never raised by a conversion."""
    OF = 4
    """Overflow: a finite value beyond the destination's largest."""
    UF = 8
    """Underflow: inexact, and tiny after rounding."""
    NX = 16
    """Inexact: the code is not the exact value."""
