"""
Compiled kernels; each sets the floating-point environment and restores the caller's.
"""

from typing import Annotated

import numpy
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
