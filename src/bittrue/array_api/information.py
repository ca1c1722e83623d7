"""What the namespace can do: devices, dtypes and capabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from bittrue.array.shapes import check_device
from bittrue.array_api.data_types import kind_of, kinds_of
from bittrue.diagnostics import DEVICE
from bittrue.dtypes import SCALARS, DType, SimpleDType

_MAX_RANK = 64
"""Axes that an array of NumPy, the storage, can have."""


class Information:
    """The answers of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Return what is supported: masks as indices, shapes that depend on data, the most axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MAX_RANK,
        }

    def default_device(self) -> str:
        """Return the one device."""
        return DEVICE

    def default_dtypes(self, *, device: str | None = None) -> dict[str, SimpleDType]:
        """Return the dtypes that constructors take where none is given."""
        check_device(device)
        return {
            "real floating": DType.Float32,
            "complex floating": DType.Complex64,
            "integral": DType.Int32,
            "indexing": DType.Int32,
        }

    def devices(self) -> tuple[str, ...]:
        """Return every device."""
        return (DEVICE,)

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, SimpleDType]:
        """Return the dtypes of a kind, or all, by their names in the Array API.

        The extended pair has no name there.
        """
        check_device(device)
        kinds = kinds_of(kind)
        return {
            np.dtype(row.numpy).name: row.dtype
            for row in SCALARS
            if row.numpy is not None and kind_of(row.dtype) in kinds
        }


def __array_namespace_info__() -> Information:
    """Return the description of the namespace."""
    return Information()
