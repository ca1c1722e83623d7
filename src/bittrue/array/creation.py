"""Tensors out of nothing, of Python numbers and of the memory of others.

Belongs here: the constructors. Never here: the conversion of a number (`scalars`) or an array
(`tensor.buffer`). Without a dtype a constructor takes the default of the kind of its numbers:
Bool, Int32, Float32, Complex64.

Theory. Element k of `arange` and `linspace` is one rounding of the exact ``start + k * step``: the
arguments are exact numbers, and so is their combination. Nothing accumulates, and where
``start + k * step`` is exactly the end, so is the element.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bittrue._records import shown, spelled
from bittrue.array import interchange
from bittrue.array.shapes import check_device, integer, shape_of
from bittrue.array.tensor import Tensor
from bittrue.dtypes import DType, SimpleDType, component_of, is_complex
from bittrue.errors import RefusedTypeError, RefusedValueError
from bittrue.scalars import convert_scalar
from bittrue.tensor import Buffer, Stored, buffer_of, dtype_of_array, storage_of
from bittrue.tensor.buffer import AnyArray

Extent = int | Sequence[int]
Real = int | float | Fraction

_KINDS: tuple[tuple[type, SimpleDType], ...] = (
    (bool, DType.Bool),
    (numbers.Integral, DType.Int32),
    (numbers.Real, DType.Float32),
    (numbers.Complex, DType.Complex64),
)
"""Kind of a Python number and its default dtype; the first that fits."""


def _default_dtype(subject: str, values: Iterable[object]) -> SimpleDType:
    """Return the default dtype of the widest kind among Python numbers."""
    rank = -1
    for value in values:
        found = [i for i, (kind, _) in enumerate(_KINDS) if isinstance(value, kind)]
        if not found:
            raise RefusedTypeError(subject, f"got {shown(value)}", "a Python number")
        rank = max(rank, found[0])
    return _KINDS[rank][1]


def _checked(subject: str, dtype: object, default: SimpleDType) -> SimpleDType:
    if dtype is None:
        return default
    if not isinstance(dtype, SimpleDType):
        raise RefusedTypeError(f"{subject}: dtype", f"got {shown(dtype)}", "a SimpleDType")
    storage_of(dtype)
    return dtype


# --- of other data ------------------------------------------------------------------------------


def asarray(
    data: object,
    dtype: SimpleDType | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
) -> Tensor:
    """Make a `Tensor` of nested lists, a number, a NumPy array or scalar, or a tensor.

    Without `dtype`: arrays and tensors keep their dtype and bits; a list is Bool if all elements
    are bools, Int32 if all are ints, Float32 if all are numbers and one is a float, Complex64 if
    one is complex. With `dtype`: elements convert exactly or by one rounding to nearest even; a
    float beyond the range becomes an infinity, a NaN the canonical quiet NaN. Memory is shared
    where nothing has to be converted, a tensor then being returned itself, unless `copy` is true;
    with `copy` false `ValueError` where it cannot be shared. Other objects that export DLPack are
    read through it.

    Raises `TypeError` for elements that do not belong in `dtype` (a float or bool in Int32, a
    number in Bool), `ValueError` for a ragged list or an empty one without dtype and for a device
    other than ``"cpu"``, `OverflowError` for an integer out of range, `NotImplementedError` for a
    dtype without storage. Clause: tensor-promotion, *C++ Binding Boundary*.
    """
    check_device(device)
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return data.copy() if copy else data
    if not isinstance(data, np.ndarray | np.generic | Stored) and hasattr(data, "__dlpack__"):
        data = Tensor(interchange.imported(data))
    held = data.buffer.array if isinstance(data, Stored) else data
    if dtype is None and isinstance(data, Stored):
        dtype = data.buffer.dtype
    buffer = buffer_of(held, dtype, copy=bool(copy))
    if copy is False and not (
        isinstance(held, np.ndarray) and np.may_share_memory(buffer.array, held)
    ):
        raise RefusedValueError(
            "asarray", f"{type(data).__name__} to {buffer.dtype.name} needs a copy", "copy=None"
        )
    return Tensor(buffer)


def from_numpy(array: AnyArray) -> Tensor:
    """Return a view of the memory of a NumPy array, bit for bit.

    Writing into one shows in the other; a read-only array gives a tensor that refuses to be
    written. Raises `TypeError` for another object, a dtype that tensors lack and bytes that are not
    in native order, `NotImplementedError` for a registered dtype without storage: `asarray`
    converts.
    """
    if not isinstance(array, np.ndarray):
        raise RefusedTypeError("from_numpy", f"got {shown(array)}", "a NumPy array", "use asarray")
    dtype = dtype_of_array(array)
    storage_of(dtype)
    if not array.dtype.isnative:
        raise RefusedTypeError(
            "from_numpy", f"bytes of {array.dtype} are not native", "native bytes", "use asarray"
        )
    return Tensor(Buffer(dtype, array))


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Return the memory of an object that exports DLPack, shared unless `copy` is true.

    Memory that the exporter marks as read-only, or that it cannot mark (before version 1.0), gives
    a tensor that refuses to be written. Raises `BufferError` for memory of another device than the
    host, for a dtype outside the table and for what the exporter refuses, `TypeError` for an object
    without the protocol, `ValueError` for a `device` other than ``"cpu"``.
    """
    check_device(device)
    return Tensor(interchange.imported(x, copy=copy))


# --- of one value -------------------------------------------------------------------------------


def full(
    shape: Extent,
    fill_value: complex,
    *,
    dtype: SimpleDType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return a tensor of one number, converted once: to `dtype`, or the default of its kind.

    Raises `ValueError` for a shape with a negative extent, and as `asarray` does for the number.
    """
    check_device(device)
    default = DType.Float32 if dtype else _default_dtype("full", [fill_value])
    chosen = _checked("full", dtype, default)
    extents = shape_of("full", shape)
    element = Buffer.from_elements(chosen, (), [convert_scalar(fill_value, chosen).bits])
    return Tensor(Buffer(chosen, np.full(extents, element.array)))


def zeros(shape: Extent, *, dtype: SimpleDType | None = None, device: str | None = None) -> Tensor:
    """Return a tensor of +0, or of false; Float32 without `dtype`."""
    check_device(device)
    chosen = _checked("zeros", dtype, DType.Float32)
    return Tensor(Buffer(chosen, np.zeros(shape_of("zeros", shape), storage_of(chosen).array)))


def ones(shape: Extent, *, dtype: SimpleDType | None = None, device: str | None = None) -> Tensor:
    """Return a tensor of 1, or of true; Float32 without `dtype`."""
    chosen = _checked("ones", dtype, DType.Float32)
    return full(shape, _one(chosen), dtype=chosen, device=device)


def empty(shape: Extent, *, dtype: SimpleDType | None = None, device: str | None = None) -> Tensor:
    """Return a tensor to be filled: zeros, for no result may depend on what memory held before."""
    return zeros(shape, dtype=dtype, device=device)


def _one(dtype: SimpleDType) -> int | bool:
    return True if dtype is DType.Bool else 1


def zeros_like(
    x: Tensor, /, *, dtype: SimpleDType | None = None, device: str | None = None
) -> Tensor:
    """Return zeros of the shape of `x`, and of its dtype unless `dtype` is given."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(
    x: Tensor, /, *, dtype: SimpleDType | None = None, device: str | None = None
) -> Tensor:
    """Return ones of the shape of `x`, and of its dtype unless `dtype` is given."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def empty_like(
    x: Tensor, /, *, dtype: SimpleDType | None = None, device: str | None = None
) -> Tensor:
    """Return a tensor to be filled of the shape of `x`; zeros, as `empty`."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(
    x: Tensor,
    /,
    fill_value: complex,
    *,
    dtype: SimpleDType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return a tensor of one number of the shape of `x`, and of its dtype unless given."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: SimpleDType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return a matrix with 1 on the `k`-th diagonal above the main one and +0 elsewhere."""
    check_device(device)
    chosen = _checked("eye", dtype, DType.Float32)
    rows, columns = shape_of("eye", (n_rows, n_rows if n_cols is None else n_cols))
    offset = integer("eye: k", k)
    matrix = zeros((rows, columns), dtype=chosen)
    element = Buffer.from_elements(chosen, (), [convert_scalar(_one(chosen), chosen).bits])
    places = [i for i in range(rows) if 0 <= i + offset < columns]
    matrix.buffer.array[places, [i + offset for i in places]] = element.array
    return matrix


# --- of a range ---------------------------------------------------------------------------------


def arange(
    start: Real,
    /,
    stop: Real | None = None,
    step: Real = 1,
    *,
    dtype: SimpleDType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return start, start + step, ... before `stop`; with one argument, 0 up to it.

    Element k is one rounding of the exact ``start + k * step``; the count is the exact
    ``ceil((stop - start) / step)``, at least 0. Int32 if every argument is an int, else Float32,
    unless `dtype` says otherwise. Raises `TypeError` for arguments that are no real numbers, a
    complex or Bool `dtype`, and fractions in Int32, `ValueError` for step 0 and for arguments that
    are not finite, `OverflowError` for an element outside its dtype.
    """
    check_device(device)
    first, last = (0, start) if stop is None else (start, stop)
    given = (first, last, step)
    chosen = _checked("arange", dtype, _default_dtype("arange", given))
    if is_complex(chosen) or chosen is DType.Bool:
        raise RefusedTypeError("arange: dtype", f"got {chosen.name}", "a real dtype")
    begin, end, width = (_exact("arange", value) for value in given)
    if not width:
        raise RefusedValueError("arange: step", "got 0", "another number")
    count = max(math.ceil((end - begin) / width), 0)
    return Tensor(_progression("arange", begin, width, count, chosen))


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: SimpleDType | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` numbers at equal distances from `start` to `stop`, or before it.

    Element k is one rounding of the exact ``start + k * (stop - start) / intervals``, so that the
    last one is `stop` itself, rounded, with `endpoint`. Complex numbers go component by component.
    Float32 or Complex64 unless `dtype` says otherwise. Raises as `arange` does, and `ValueError`
    for a negative `num`.
    """
    check_device(device)
    both = (start, stop)
    kind = _default_dtype("linspace", both)
    default = DType.Complex64 if kind is DType.Complex64 else DType.Float32
    chosen = _checked("linspace", dtype, default)
    count = integer("linspace: num", num)
    if count < 0:
        raise RefusedValueError("linspace: num", f"got {count}", "0 or more")
    if chosen is DType.Bool or (kind is DType.Complex64 and not is_complex(chosen)):
        raise RefusedTypeError("linspace: dtype", f"got {chosen.name}", f"{default.name} or wider")
    intervals = max(count - 1 if endpoint else count, 1)

    def part(first: Any, last: Any, dtype: SimpleDType) -> Buffer:
        begin, end = _exact("linspace", first), _exact("linspace", last)
        return _progression("linspace", begin, (end - begin) / intervals, count, dtype)

    if not is_complex(chosen):
        return Tensor(part(start, stop, chosen))
    component = component_of(chosen)
    real, imaginary = (
        part(getattr(start, name), getattr(stop, name), component).array
        for name in ("real", "imag")
    )
    pairs = np.stack([real, imaginary], axis=-1)
    return Tensor(Buffer(chosen, pairs.view(storage_of(chosen).array)[..., 0]))


def _exact(subject: str, value: object) -> Fraction:
    """Return a real argument as the number it is."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or hasattr(value, "dtype"):
        raise RefusedTypeError(subject, f"got {shown(value)}", "a real Python number")
    if isinstance(value, numbers.Rational):
        return Fraction(value)
    if not math.isfinite(value):
        raise RefusedValueError(subject, f"got {spelled(value)}", "finite numbers")
    return Fraction(*value.as_integer_ratio())  # type: ignore[attr-defined]


def _progression(
    subject: str, start: Fraction, step: Fraction, count: int, dtype: SimpleDType
) -> Buffer:
    """Return one rounding of each ``start + k * step`` for k below `count`."""
    if dtype is DType.Int32:
        return _integers(subject, start, step, count)
    array, undecided = _estimated(start, step, count, storage_of(dtype).array)
    buffer = Buffer(dtype, array)
    if undecided.size:
        stored = [convert_scalar(start + int(k) * step, dtype).bits for k in undecided]
        array[undecided] = Buffer.from_elements(dtype, (len(stored),), stored).array
    return buffer


def _integers(subject: str, start: Fraction, step: Fraction, count: int) -> Buffer:
    if count and (start.denominator != 1 or (count > 1 and step.denominator != 1)):
        raise RefusedTypeError(f"{subject}: dtype", "Int32 for fractions", "a floating dtype")
    if not count:
        return Buffer(DType.Int32, np.zeros(0, np.int32))
    for value in (start, start + (count - 1) * step):
        convert_scalar(int(value), DType.Int32)
    # The ends fit, and so does all between them.
    steps = np.arange(count, dtype=np.int64) * (int(step) if count > 1 else 0)
    return Buffer(DType.Int32, (int(start) + steps).astype(np.int32))


_UNIT = 4 * np.finfo(np.longdouble).eps


def _estimated(
    start: Fraction, step: Fraction, count: int, storage: np.dtype[Any]
) -> tuple[AnyArray, AnyArray]:
    """Return the rounded elements and the positions where an estimate did not decide them.

    The widest float of the host estimates each element; where the two ends of its error interval
    round alike, that is the rounding of the exact number between them.
    """
    everything = np.arange(count)
    if storage.kind != "f":
        return np.zeros(count, storage), everything
    try:
        first, width = _wide(start), _wide(step)
    except OverflowError:
        return np.zeros(count, storage), everything
    with np.errstate(all="ignore"):
        terms = everything.astype(np.longdouble) * width
        error = _UNIT * (abs(first) + np.abs(terms)) + np.finfo(np.longdouble).tiny
        low, high = ((first + terms + sign * error).astype(storage) for sign in (-1, 1))
    # A zero may have either sign in the interval; exact, it is +0.
    return low, np.flatnonzero((low != high) | (low == 0) | ~np.isfinite(low))


def _wide(value: Fraction) -> np.longdouble:
    head = float(value)
    return np.longdouble(head) + np.longdouble(float(value - Fraction(head)))
