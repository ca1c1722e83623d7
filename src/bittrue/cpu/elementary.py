"""Elementary functions of binary32 arrays by the compiled kernels.

Belongs here: handing a function's name and arrays to the extension. Never here: what a function is
(`generic.elementary`, `generic.activation`), plans and strides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bittrue.cpu import _native

PRIMITIVES = (
    "cos",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "rsqrt",
    "sin",
    "tanh",
)
"""Correctly rounded functions of one argument."""

ACTIVATIONS = ("elu", "gelu", "leaky_relu", "relu", "sigmoid", "silu", "softplus")
"""Published sequences of rounded steps."""

Floats = npt.NDArray[np.float32]


def elementary(name: str, x: Floats, out: Floats, threads: int = 1) -> None:
    """Write the function `name` of every element of `x` to `out`.

    Both are contiguous, one-dimensional and of one length; `out` may be `x`. NaN results are
    7fc00000. The bits depend neither on `threads` nor on the instruction level. Raises `ValueError`
    for an unknown name, a length that differs or a partial overlap.
    """
    _native.elementary(name, x, out, threads)


def power(x: Floats, y: Floats, out: Floats, threads: int = 1) -> None:
    """Write ``x ** y`` to `out`, as IEEE 754 `pow` defines it, correctly rounded."""
    _native.elementary_pow(x, y, out, threads)


@dataclass(frozen=True, slots=True)
class SweepFindings:
    """What a sweep found in a range of inputs.

    `special` counts operands that a rule answers. `near` are inputs so near a rounding boundary
    that the error bound of the fast path, taken twice, leaves them open: bit patterns, or indices
    of pairs. Where the slow path was run on each operand, `departures` counts the results that
    differ from its own; `worst_error` is how far the fast path's double was off, relative, in
    2**-53, at `worst_input`. `digest` is of all results; of pairs there is none.
    """

    special: int
    near: list[int]
    departures: int
    first_departure: int
    worst_error: float
    worst_input: int
    digest: int


def sweep_patterns(
    name: str, first: int, count: int, *, every: bool, threads: int
) -> SweepFindings:
    """Sweep the bit patterns from `first` on; `every`: run the slow path on each too."""
    return SweepFindings(*_native.elementary_sweep(name, first, count, every, threads))


def sweep_pairs(x: Floats, y: Floats, *, every: bool, threads: int) -> SweepFindings:
    """Sweep pairs of operands of `power`."""
    return SweepFindings(*_native.elementary_sweep_pow(x, y, every, threads))


def error_bound(name: str) -> int:
    """Return the proved error of a primitive's fast path, relative, in 2**-53."""
    return int(_native.elementary_units(name))
