"""Tensors and their storage."""

from bittrue.tensor.buffer import (
    Buffer,
    ElementList,
    buffer_of,
    dtype_of_array,
    read_list,
    storage_of,
)
from bittrue.tensor.tensor import Tensor, asarray

__all__ = [
    "Buffer",
    "ElementList",
    "Tensor",
    "asarray",
    "buffer_of",
    "dtype_of_array",
    "read_list",
    "storage_of",
]
