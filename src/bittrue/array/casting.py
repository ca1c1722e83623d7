"""Casts: a buffer in another dtype, where the caller names it.

Belongs here: the conversion of whole tensors, and which of them an assignment makes by itself.
Never here: the dtype of a result (`policy`), the conversion of a Python number (`scalars`). Each
element, or each of its two components, is rounded once to nearest even; a NaN becomes the canonical
quiet NaN unless the dtype stays, which keeps every bit. Clause: tensor-promotion, *In-Place
Arithmetic* (the right operand may be converted to the existing dtype only when the operation
permits it).
"""

from __future__ import annotations

import math

import numpy as np

from bittrue.array.logic import nonzero
from bittrue.diagnostics import cast_report, open_logs
from bittrue.dtypes import DType, SimpleDType, is_complex
from bittrue.errors import RangeError, RefusedTypeError, RefusedValueError
from bittrue.policy.weak import INT32_MAX, INT32_MIN
from bittrue.scalars import convert_scalar, scalar_value
from bittrue.tensor import Buffer, storage_of
from bittrue.tensor.buffer import AnyArray, converted_array


def cast(source: Buffer, dtype: SimpleDType, *, truncate: bool = False) -> Buffer:
    """Return the elements of `source` in `dtype`, in fresh storage.

    Real to real and complex to complex floating dtypes by one rounding a component, a finite value
    beyond the range becoming an infinity; real to complex with the imaginary part +0; Bool to any
    number as 0 and 1; any number to Bool as its difference from zero (a NaN is true). Floating to
    Int32 only with `truncate`, which drops the fraction. Raises `TypeError` for complex to a real
    dtype and for floating to Int32 without `truncate`; with it `OverflowError` for an element
    outside Int32, an infinity included, and `ValueError` for a NaN.
    """
    storage_of(dtype)
    if dtype is source.dtype:
        return Buffer(dtype, source.array.copy())
    if dtype is DType.Bool:
        converted = Buffer(dtype, nonzero(source))
    elif is_complex(source.dtype) and not is_complex(dtype):
        raise RefusedTypeError(
            f"cast of {source.dtype.name} to {dtype.name}",
            "would drop the imaginary part",
            "a complex dtype",
            "take the real part or the absolute value",
        )
    elif dtype is DType.Int32 and source.dtype is not DType.Bool:
        if not truncate:
            raise RefusedTypeError(
                f"cast of {source.dtype.name} to Int32",
                "would drop fractions",
                "a floating dtype",
                "ask for it: truncate=True",
            )
        converted = _truncated(source)
    else:
        converted = _rounded(source, dtype)
    for log in open_logs():
        log.add(cast_report(source.dtype, dtype, source.array.size))
    return converted


def _is_numeric(array: AnyArray) -> bool:
    """Tell whether NumPy computes on this storage: not on that of the extended pair."""
    return array.dtype.kind in "biufc"


def _values(source: Buffer) -> list[object]:
    """Return the exact elements in logical order."""
    return [scalar_value(bits, source.dtype) for bits in source.elements()]


def _rounded(source: Buffer, dtype: SimpleDType) -> Buffer:
    target = storage_of(dtype).array
    if not (_is_numeric(source.array) and target.kind in "biufc"):
        stored = [convert_scalar(value, dtype).bits for value in _values(source)]
        return Buffer.from_elements(dtype, source.shape, stored)
    return Buffer(dtype, converted_array(source.array, target))


def _truncated(source: Buffer) -> Buffer:
    if not _is_numeric(source.array):
        whole = [_whole(value) for value in _values(source)]
        stored = [convert_scalar(value, DType.Int32).bits for value in whole]
        return Buffer.from_elements(DType.Int32, source.shape, stored)
    # Exact: every element of a real storage dtype fits binary64.
    values = np.trunc(source.array.astype(np.float64))
    outside = ~((values <= INT32_MAX) & (values >= INT32_MIN))
    if outside.any():
        _whole(values[outside].ravel()[0])
        raise _outside(values[outside].ravel()[0])
    return Buffer(DType.Int32, values.astype(np.int32))


def _whole(value: object) -> int:
    """Return the integer part of an exact real element."""
    if not math.isfinite(value):  # type: ignore[arg-type]
        if math.isnan(value):  # type: ignore[arg-type]
            raise RefusedValueError("cast to Int32", "a NaN has no integer", "numbers")
        raise _outside(value)
    return int(value)  # type: ignore[call-overload, no-any-return]


def _outside(value: object) -> RangeError:
    return RangeError(
        "cast to Int32", f"{value} is out of range", f"values in [{INT32_MIN}, {INT32_MAX}]"
    )
