"""Tensors, and every operation in the forms that arrays have it."""

from bittrue.array.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from bittrue.array.forms import einsum, matmul
from bittrue.array.run import explain, run
from bittrue.array.tensor import Tensor

__all__ = [
    "Tensor",
    "arange",
    "asarray",
    "einsum",
    "empty",
    "empty_like",
    "explain",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "matmul",
    "ones",
    "ones_like",
    "run",
    "zeros",
    "zeros_like",
]
