"""Storage: buffers, and how outside data becomes one."""

from bittrue.tensor.buffer import (
    Buffer,
    ElementList,
    buffer_of,
    dtype_of_array,
    read_list,
    storage_of,
)
from bittrue.tensor.stored import Stored

__all__ = [
    "Buffer",
    "ElementList",
    "Stored",
    "buffer_of",
    "dtype_of_array",
    "read_list",
    "storage_of",
]
