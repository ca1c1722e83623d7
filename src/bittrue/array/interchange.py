"""DLPack: memory shared with other libraries.

Belongs here: the export and the import protocol, refusals included. Never here: conversion; memory
goes out and comes in bit for bit or not at all. Clause: tensor-promotion, *Scope* (interoperability
is exposed only where the protocol has a compatible dtype contract).

Theory. A buffer is a NumPy array, so NumPy's own capsules carry it: they have the type code, width
and strides of the table, the versioned form with its flags for read-only and copied memory, and
the unversioned one for older consumers. What NumPy would carry and the table lacks is refused here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bittrue._records import shown
from bittrue.dtypes import SCALARS, scalar_of
from bittrue.errors import ExchangeError, PromotionError, RefusedTypeError, RefusedValueError
from bittrue.tensor import Buffer, dtype_of_array, storage_of
from bittrue.tensor.buffer import AnyArray

CPU: tuple[int, int] = (1, 0)
"""DLPack's device type and number for the memory of the host."""


def capsule_of(
    source: Buffer,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule of the memory of `source`, or of a copy.

    `copy` true copies; false never does; None copies only what cannot be viewed. Raises
    `BufferError` for a dtype that DLPack lacks, another device than the host, memory that cannot be
    viewed where `copy` is false, and read-only memory for a consumer before version 1.0 where
    `copy` is not true; `ValueError` for a stream, which the host has none of.
    """
    row = scalar_of(source.dtype)
    if row is None or row.dlpack is None:
        raise ExchangeError("DLPack", f"no type for {source.dtype.name}", "a dtype of the table")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise ExchangeError("DLPack: dl_device", f"{dl_device}", f"{CPU}, the host")
    if stream is not None:
        raise RefusedValueError("DLPack: stream", f"{shown(stream)}", "None on the host")
    array = source.array
    if not _is_viewable(array):
        if copy is False:
            raise ExchangeError(
                "DLPack", f"strides {array.strides} of unaligned elements", "a copy"
            )
        copy = True
    return array.__dlpack__(max_version=max_version, copy=copy)


def _is_viewable(array: AnyArray) -> bool:
    """Tell whether DLPack describes this memory: it counts strides in whole, aligned elements."""
    return array.flags.aligned and not any(step % array.itemsize for step in array.strides)


def imported(source: object, *, copy: bool | None = None) -> Buffer:
    """Return the memory that `source` exports through DLPack, viewed unless `copy` is true.

    Memory that the exporter marks read-only, or cannot mark (before version 1.0), is read-only
    here. Raises `TypeError` for an object without the protocol, `BufferError` for memory of another
    device, for a dtype outside the table, and for what the exporter refuses.
    """
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        raise RefusedTypeError("from_dlpack", f"got {shown(source)}", "an object with __dlpack__")
    device = source.__dlpack_device__()
    if tuple(int(part) for part in device) != CPU:
        raise ExchangeError("from_dlpack", f"memory of device {tuple(device)}", f"{CPU}, the host")
    try:
        array = np.from_dlpack(source, copy=copy)
        dtype = dtype_of_array(array)
        storage_of(dtype)
    except (RuntimeError, PromotionError) as error:
        # Not what the exporter raises by itself, which passes: a type code that has no dtype here.
        accepted = ", ".join(row.name for row in SCALARS if row.dlpack is not None)
        raise ExchangeError("from_dlpack", str(error), accepted) from error
    return Buffer(dtype, array)
