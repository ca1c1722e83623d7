"""Tensor: what users hold. An immutable dtype, shape and storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from bittrue.dtypes import SimpleDType
from bittrue.errors import RefusedTypeError
from bittrue.scalars import scalar_value
from bittrue.tensor.buffer import AnyArray, Buffer, buffer_of, storage_of

_SHOWN = 1000
"""Elements beyond which a repr is shortened."""


class Tensor:
    """An immutable tensor of elements of any dtype that `bittrue.dtypes.SCALARS` lists.

    Build one with `asarray`; results of `run` are tensors. `shape` counts elements along each
    axis; `numpy()` gives a copy with the same bits, `tolist()` nested Python numbers (a signaling
    NaN becomes a plain NaN there).
    """

    __slots__ = ("_buffer",)
    _buffer: Buffer

    __array_ufunc__ = None
    # NumPy's operators must not read a Tensor as an object array.
    __hash__ = object.__hash__

    def __init__(self, buffer: Buffer) -> None:
        if not isinstance(buffer, Buffer):
            raise RefusedTypeError(
                "Tensor", f"got {type(buffer).__name__}", "a Buffer", "build tensors with asarray"
            )
        object.__setattr__(self, "_buffer", buffer)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Tensor is immutable: attribute {name!r} cannot be set"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"Tensor is immutable: attribute {name!r} cannot be deleted"
        raise AttributeError(msg)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: object) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # By name: descriptors are matched by identity, in the process that loads them too.
        return _restored, (self.dtype.name, self.shape, self._buffer.bits().tobytes())

    @property
    def dtype(self) -> SimpleDType:
        """Descriptor of the elements."""
        return self._buffer.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._buffer.shape

    @property
    def buffer(self) -> Buffer:
        """The storage, as backends see it."""
        return self._buffer

    def numpy(self) -> AnyArray:
        """Return a NumPy array of the same bits, a copy."""
        return self._buffer.array.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:  # noqa: FBT001 - NumPy's protocol
        if dtype is not None and np.dtype(dtype) != self._buffer.array.dtype:
            if copy is False:
                msg = f"cannot give {self.dtype.name} as {np.dtype(dtype)} without a copy"
                raise ValueError(msg)
            return self._buffer.array.astype(dtype)
        return self._buffer.array.copy() if copy is not False else self._buffer.array

    def tolist(self) -> Any:
        """Return nested lists of Python numbers or bools; the bare element for rank 0."""
        elements = iter([scalar_value(bits, self.dtype) for bits in self._buffer.elements()])

        def nested(shape: tuple[int, ...]) -> Any:
            if not shape:
                return next(elements)
            return [nested(shape[1:]) for _ in range(shape[0])]

        return nested(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            msg = "a tensor of rank 0 has no length"
            raise TypeError(msg)
        return self.shape[0]

    def __repr__(self) -> str:
        array = self._buffer.array
        if array.dtype.kind == "V":
            # NumPy would print the words of an extended element.
            numbers = [scalar_value(bits, self.dtype) for bits in self._buffer.elements()]
            array = np.array([*numbers, None], object)[:-1].reshape(self.shape)
        text = np.array2string(array, separator=", ", prefix="Tensor(", threshold=_SHOWN)
        return f"Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"


def _restored(name: str, shape: tuple[int, ...], data: bytes) -> Tensor:
    """Build the tensor that `Tensor.__reduce__` describes."""
    dtype = SimpleDType.from_name(name)
    row = storage_of(dtype)
    array = np.frombuffer(data, row.array).reshape(shape)
    return Tensor(Buffer(dtype, array))


def asarray(data: object, dtype: SimpleDType | None = None) -> Tensor:
    """Make a `Tensor` of nested lists, a number, a NumPy array or scalar, or a tensor.

    Without `dtype`: arrays and tensors keep their dtype and bits; a list is Bool if all elements
    are bools, Int32 if all are ints, Float32 if all are numbers and one is a float, Complex64 if
    one is complex. With `dtype`:
    elements convert exactly or by one rounding to nearest even; a float beyond the range becomes
    an infinity, a NaN the canonical quiet NaN. Raises `TypeError` for elements that do not belong
    in `dtype` (a float or bool in Int32, a number in Bool), `ValueError` for a ragged list or an
    empty one without dtype, `OverflowError` for an integer out of range, `NotImplementedError`
    for a dtype without storage.
    """
    if isinstance(data, Tensor):
        if dtype is None or dtype is data.dtype:
            return data
        data = data.buffer.array
    return Tensor(buffer_of(data, dtype))
