"""Tensors and their storage."""

from bittrue.tensor.buffer import Buffer, buffer_of, dtype_of_array, storage_of
from bittrue.tensor.tensor import Tensor, asarray

__all__ = ["Buffer", "Tensor", "asarray", "buffer_of", "dtype_of_array", "storage_of"]
