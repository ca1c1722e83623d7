"""
Compiled kernels; each sets the floating-point environment and restores the caller's.
"""

from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


def binary32(operation: str, lhs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rhs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write ``lhs (operation) rhs`` to ``out``: one of add, sub, mul, div.

    IEEE 754 binary32, rounded once to nearest even, subnormals kept, every NaN written
    as 0x7fc00000. The arrays are one-dimensional, contiguous, float32 and of one length;
    ``out`` may be ``lhs`` or ``rhs``. Raises ValueError for an unknown operation, a
    length that differs or a partial overlap, before anything is written.
    """

def set_flush_to_zero(enabled: bool) -> bool:
    """
    Switch flushing of subnormal operands and results on this thread; for tests.

    Returns whether any of it was on before.
    """

class LaneType:
    """The facts of a Format that a conversion reads."""

    def __init__(self, *, kind: int, specials: int, word_bits: int, packed: bool, is_signed: bool, sign_bit: int, exponent_bits: int, fraction_bits: int, bias: int, emin: int, low_zero_bits: int, has_signed_zero: bool, has_subnormal: bool, zero_mask: int, magnitude_mask: int, max_finite: int, infinity: int | None, canonical_nan: int | None) -> None: ...

def convert_lanes(source: LaneType, destination: LaneType, carriers: numpy.typing.NDArray[numpy.generic], out: numpy.typing.NDArray[numpy.generic], count: int, rounding: int, saturate: bool, random_bits: numpy.typing.NDArray[numpy.uint32] | None, flags: numpy.typing.NDArray[numpy.uint8] | None, threads: int) -> int:
    """
    Convert ``count`` lanes from ``carriers`` to ``out``; return the OR of all flags.

    Carriers are one-dimensional, contiguous and as wide as the type's; packed lanes stand
    two a byte. ``rounding`` is a code, ``random_bits`` a uint32 and ``flags`` a uint8 for
    each lane. Raises ValueError for a width, a length or an overlap, before anything is
    written. Lanes must be valid: see ``first_invalid``.
    """

def first_invalid(source: LaneType, carriers: numpy.typing.NDArray[numpy.generic], count: int, threads: int) -> int:
    """
    Return the index of the first lane with a bit set that must be 0, or -1.
    """

def set_level(name: str) -> None:
    """
    Choose the instruction level of the kernels: baseline, v3, v4, "" for the best,
    or lanes, which converts one lane at a time, for tests.

    The bits never depend on it. Raises ValueError for one that this machine has not.
    """

def level() -> str:
    """Return the instruction level that the kernels run at."""
