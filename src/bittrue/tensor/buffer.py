"""Buffers: the storage that backends read and write.

Belongs here: a dtype, a shape and the NumPy array that holds the bits, and how outside data becomes
one. Never here: operators or dispatch. Clauses: operation-dtype-policy, *Generic is the concrete
semantic reference* (storage); tensor-promotion, *Scope* (interoperability only where a protocol has
the dtype). Arrays keep every bit, signaling NaNs included.

Theory. A stored element is one unsigned integer, the bits as little-endian memory reads them: the
imaginary part of a complex element stands above its real part. NumPy has no binary128, so arrays of
the extended pair are structured: fields ``lo`` and ``hi`` of 64 bits, and ``re`` and ``im`` of two
of those. They index, stretch and copy as any array, and no NumPy function computes on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue._records import shown
from bittrue.dtypes import SCALARS, DType, SimpleDType, component_of, is_complex
from bittrue.encoding import BINARY_FORMATS
from bittrue.errors import (
    PromotionError,
    RangeError,
    RefusedTypeError,
    RefusedValueError,
    UnsupportedError,
)
from bittrue.policy.weak import INT32_MAX, INT32_MIN
from bittrue.scalars import convert_scalar

AnyArray = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class StorageRow:
    """How a dtype lies in a NumPy array: the array's dtype and the dtype of its bit patterns.

    An element wider than 64 bits has a bit pattern of 64-bit words, ``w0`` the lowest.
    """

    dtype: SimpleDType
    array: np.dtype[Any]
    bits: np.dtype[Any]


_QUAD = np.dtype([("lo", "<u8"), ("hi", "<u8")])
_QUAD_PAIR = np.dtype([("re", _QUAD), ("im", _QUAD)])


def _storage_row(dtype: SimpleDType, numpy: str | None) -> StorageRow:
    array = np.dtype(numpy) if numpy else _QUAD_PAIR if is_complex(dtype) else _QUAD
    if dtype in (DType.Int32, DType.Bool):
        return StorageRow(dtype, array, array)
    if array.itemsize <= 8:
        return StorageRow(dtype, array, np.dtype(f"u{array.itemsize}"))
    words = [(f"w{i}", "<u8") for i in range(array.itemsize // 8)]
    return StorageRow(dtype, array, np.dtype(words))


STORAGE: tuple[StorageRow, ...] = tuple(_storage_row(row.dtype, row.numpy) for row in SCALARS)

NAMED: tuple[tuple[str, SimpleDType], ...] = (
    *((row.numpy, row.dtype) for row in SCALARS if row.numpy is not None),
    ("float16", DType.Float16),
    ("bfloat16", DType.BFloat16),
    ("float8_e4m3fn", DType.E4M3),
    ("float8_e5m2", DType.E5M2),
    ("float8_e8m0fnu", DType.E8M0),
    ("float6_e3m2fn", DType.E3M2),
    ("float6_e2m3fn", DType.E2M3),
    ("float4_e2m1fn", DType.E2M1),
    ("int8", DType.Int8),
)
"""Names of the NumPy and ml_dtypes dtypes that have a descriptor, implemented or not."""

_BY_NUMPY_NAME = dict(NAMED)

_BY_ARRAY_DTYPE = {row.array: row.dtype for row in STORAGE if row.array.kind != "V"}
"""The stored ones by the dtype itself: NumPy takes microseconds to spell a name.

Records of the extended pair are left out: they are storage, and no dtype that NumPy could name."""


def storage_of(dtype: SimpleDType) -> StorageRow:
    """Return how `dtype` is stored; `NotImplementedError` for one that is not."""
    for row in STORAGE:
        if row.dtype is dtype:
            return row
    raise UnsupportedError(
        f"storage of {dtype.name}",
        "this dtype has no tensor storage",
        " or ".join(row.dtype.name for row in STORAGE),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Storage: a NumPy array in the storage dtype of `dtype`.

    The record never changes; whether elements may be written in place is what the array says
    (`array.flags.writeable`): a fresh result may, a view of read-only memory may not. Backends
    only read.
    """

    dtype: SimpleDType
    array: AnyArray

    def __post_init__(self) -> None:
        if self.array.dtype != storage_of(self.dtype).array:
            raise RefusedTypeError(
                "Buffer.array", f"has dtype {self.array.dtype}", f"storage of {self.dtype.name}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self.array.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbours along each axis, in bytes."""
        return self.array.strides

    def bits(self) -> AnyArray:
        """Return the bit patterns as unsigned integers (Int32 and Bool as themselves).

        Those of elements wider than 64 bits are records of 64-bit words, ``w0`` the lowest.
        """
        return (
            np.ascontiguousarray(self.array).view(storage_of(self.dtype).bits).reshape(self.shape)
        )

    def elements(self) -> list[int]:
        """Return the stored elements in logical order: bit patterns, ints or bools."""
        size = self.array.dtype.itemsize
        if size > 8:
            data = self.array.tobytes()
            starts = range(0, len(data), size)
            return [int.from_bytes(data[start : start + size], "little") for start in starts]
        elements: list[int] = self.bits().ravel().tolist()
        return elements

    @classmethod
    def from_elements(
        cls, dtype: SimpleDType, shape: tuple[int, ...], elements: Sequence[int]
    ) -> Buffer:
        """Build a buffer from stored elements in logical order."""
        row = storage_of(dtype)
        size = row.array.itemsize
        if size > 8:
            data = b"".join(element.to_bytes(size, "little") for element in elements)
            # Of a bytearray: what lies in bytes could not be written in place.
            return cls(dtype, np.frombuffer(bytearray(data), row.array).reshape(shape))
        return cls(dtype, np.array(elements, dtype=row.bits).view(row.array).reshape(shape))


def dtype_of_array(array: AnyArray | np.generic) -> SimpleDType:
    """Return the descriptor of a NumPy array or scalar, exactly.

    Raises `PromotionError` (a `TypeError`) for a dtype without a descriptor.
    """
    dtype = _BY_ARRAY_DTYPE.get(array.dtype) or _BY_NUMPY_NAME.get(array.dtype.name)
    if dtype is not None:
        return dtype
    raise PromotionError(
        "operand",
        f"NumPy dtype {array.dtype} has no descriptor",
        " or ".join(row.numpy for row in SCALARS if row.numpy is not None),
        "convert it with bittrue.asarray(x, dtype)",
    )


def buffer_of(data: object, dtype: SimpleDType | None = None, *, copy: bool = True) -> Buffer:
    """Make a buffer of nested lists, a number, a NumPy array or scalar.

    Without `dtype` an array keeps its own dtype and bits, and a list is Bool if all its elements
    are bools, Int32 if all are ints, Float32 if all are numbers and one is a float, Complex64 if
    one is complex. With `dtype`
    the elements are converted, each exactly or by one rounding. Raises `TypeError` for elements of
    another kind, `ValueError` for a ragged or empty list without dtype, `OverflowError` for an
    element that `dtype` cannot hold. Without `copy`, an array that needs no conversion is viewed.
    """
    if dtype is not None and not isinstance(dtype, SimpleDType):
        raise RefusedTypeError("asarray: dtype", f"got {shown(dtype)}", "a SimpleDType")
    if isinstance(data, np.ndarray | np.generic):
        return _from_array(np.asarray(data), dtype, copy=copy)
    return read_list(data, dtype).buffer()


@dataclass(frozen=True, slots=True)
class ElementList:
    """Elements in logical order that no conversion has touched, their dtype and shape."""

    dtype: SimpleDType
    shape: tuple[int, ...]
    elements: list[object]

    def buffer(self) -> Buffer:
        """Convert every element; raises as `convert_scalar` does."""
        storage_of(self.dtype)
        stored = [convert_scalar(element, self.dtype).bits for element in self.elements]
        return Buffer.from_elements(self.dtype, self.shape, stored)


def read_list(data: object, dtype: SimpleDType | None = None) -> ElementList:
    """Flatten nested lists and, without `dtype`, infer it from the types of the elements.

    Raises `TypeError` for elements of another kind, `ValueError` for a ragged list or an empty one
    without dtype. No element is converted.
    """
    elements: list[object] = []
    shape = _flatten(data, elements)
    return ElementList(dtype or _dtype_of_elements(elements), shape, elements)


def _flatten(data: object, elements: list[object]) -> tuple[int, ...]:
    """Append the elements of nested lists in logical order; return the shape."""
    if not isinstance(data, list | tuple):
        elements.append(data)
        return ()
    shapes = {_flatten(item, elements) for item in data}
    if len(shapes) > 1:
        raise RefusedValueError("asarray", "the nested list is ragged", "rows of equal length")
    return (len(data), *(shapes.pop() if shapes else ()))


def _dtype_of_elements(elements: list[object]) -> SimpleDType:
    if not elements:
        raise RefusedValueError(
            "asarray", "an empty list has no dtype", "a dtype", "call asarray([], dtype)"
        )
    kinds = {type(element) for element in elements}
    if kinds == {bool}:
        return DType.Bool
    if kinds == {int}:
        return DType.Int32
    if kinds <= {int, float}:
        return DType.Float32
    if kinds <= {int, float, complex}:
        return DType.Complex64
    if bool in kinds and kinds <= {bool, int, float, complex}:
        raise RefusedTypeError(
            "asarray", "the list mixes bools and numbers", "one kind", "give the dtype"
        )
    other = next(iter(kinds - {bool, int, float, complex})).__name__
    raise RefusedTypeError(
        "asarray", f"the list holds {other}", "bools, ints, floats or complex", "give the dtype"
    )


def _from_array(array: AnyArray, dtype: SimpleDType | None, *, copy: bool) -> Buffer:
    if dtype is None or (array.dtype.kind in "biufcV" and _is_stored_as(array, dtype)):
        # The arrays of the extended pair have no dtype of their own that could name them.
        named = dtype_of_array(array) if dtype is None else dtype
        native = storage_of(named).array
        return Buffer(named, np.array(array, dtype=native, copy=True if copy else None))
    target = storage_of(dtype)
    if dtype is DType.Int32 and array.dtype.kind in "iu":
        outside = (array > INT32_MAX) | (array < INT32_MIN)
        if outside.any():
            raise RangeError(
                "Int32 element",
                f"{array[outside].ravel()[0]} is out of range",
                f"a value in [{INT32_MIN}, {INT32_MAX}]",
            )
        return Buffer(dtype, array.astype(target.array))
    if component_of(dtype) in BINARY_FORMATS:
        kinds = "biufc" if is_complex(dtype) else "biuf"
        if array.dtype.kind in kinds and target.array.kind in "fc":
            return Buffer(dtype, converted_array(array, target.array))
        if array.dtype.kind in kinds:
            return _buffer_of_elements(array, dtype)
    if array.dtype.kind == "O":
        return _buffer_of_elements(array, dtype)
    raise RefusedTypeError(
        f"{dtype.name} element",
        f"an array of {array.dtype}",
        "elements that convert to it exactly or by one rounding",
    )


def _buffer_of_elements(array: AnyArray, dtype: SimpleDType) -> Buffer:
    stored = [convert_scalar(element, dtype).bits for element in array.ravel().tolist()]
    return Buffer.from_elements(dtype, array.shape, stored)


def converted_array(array: AnyArray, target: np.dtype[Any]) -> AnyArray:
    """Convert numbers to a floating NumPy dtype, a rounding a component; a NaN is canonical."""
    with np.errstate(all="ignore"):
        converted = array.astype(target)
    if array.dtype.kind == "f":
        converted.real[np.isnan(array)] = np.nan
    if array.dtype.kind == "c":
        for part, source in ((converted.real, array.real), (converted.imag, array.imag)):
            part[np.isnan(source)] = np.nan
    return converted


def _is_stored_as(array: AnyArray, dtype: SimpleDType) -> bool:
    return array.dtype.newbyteorder("=") == storage_of(dtype).array
