"""Index keys: what may stand between the brackets of a tensor.

Belongs here: reading a key and finding the elements it names. Never here: conversion of what is
assigned (`inplace`). Indexing moves bits and computes nothing: payloads of NaNs are kept.

Theory. A key is an integer, a slice, ``None``, ``...``, an Int32 or Bool tensor, or a tuple of
those, with the meaning that the Array API and NumPy give it: integers count from the end when
negative, a slice is clipped, ``None`` adds an axis, integer tensors pick and a mask selects in
row-major order. Without tensors the result is a view of the same memory; with one it is a copy.
"""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import Any

import numpy as np

from bittrue._records import shown
from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import RefusedIndexError, RefusedTypeError
from bittrue.tensor import Buffer, Stored, dtype_of_array
from bittrue.tensor.buffer import AnyArray

_INDEX_DTYPES = (DType.Int32, DType.Bool)


def array_key(key: object) -> tuple[Any, ...]:
    """Return the key as NumPy reads it; `TypeError` for what is no index.

    The result holds one ``...``, so that a view is an array even where every axis is indexed.
    """
    entries = key if isinstance(key, tuple) else (key,)
    read = tuple(_entry(entry) for entry in entries)
    return read if any(entry is ... for entry in read) else (*read, ...)


def _entry(entry: object) -> Any:
    if entry is None or isinstance(entry, EllipsisType):
        return entry
    if isinstance(entry, slice):
        return slice(*(_bound(bound) for bound in (entry.start, entry.stop, entry.step)))
    if isinstance(entry, Stored):
        return _tensor_entry(entry.buffer.array, entry.buffer.dtype)
    if isinstance(entry, np.ndarray | np.generic) and entry.dtype.kind != "O":
        return _tensor_entry(np.asarray(entry), dtype_of_array(entry))
    if isinstance(entry, bool) or not hasattr(entry, "__index__"):
        raise RefusedTypeError(
            "index",
            f"got {shown(entry)}",
            "an int, a slice, None, ... or a tensor of Int32 or Bool",
            "make a list a tensor with asarray",
        )
    return operator.index(entry)


def _tensor_entry(array: AnyArray, dtype: SimpleDType) -> Any:
    if dtype not in _INDEX_DTYPES:
        raise RefusedTypeError("index", f"a tensor of {dtype.name}", "one of Int32 or Bool")
    # One integer is an index like a Python int: it takes a view.
    return int(array) if dtype is DType.Int32 and array.ndim == 0 else array


def _bound(bound: object) -> int | None:
    if bound is None:
        return None
    if isinstance(bound, bool) or not hasattr(bound, "__index__"):
        raise RefusedTypeError("index: slice", f"got {shown(bound)}", "an int or None")
    return operator.index(bound)


def element_view(source: Buffer, key: tuple[Any, ...]) -> AnyArray:
    """Return the elements that a key names: a view where no tensor stands in it, else a copy.

    Raises `IndexError` for an index outside its axis and for more entries than axes, `ValueError`
    for a slice of step 0.
    """
    try:
        elements: AnyArray = source.array[key]
    except IndexError as error:
        raise RefusedIndexError("index", str(error), f"a key of shape {source.shape}") from None
    return elements


def is_basic(key: tuple[Any, ...]) -> bool:
    """Tell whether a key names a view."""
    return not any(isinstance(entry, np.ndarray) for entry in key)
