"""Carriers in arrays: which NumPy dtype holds a format, packing, and reading what a caller gave.

Belongs here: the relation between formats and array dtypes, and between lanes and bytes. Never
here: converting a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue.dtypes import ENCODINGS
from bittrue.encoding import Format, formats
from bittrue.errors import RefusedTypeError, RejectedError, UnsupportedError

AnyArray = npt.NDArray[Any]

_ML_DTYPES = {
    "BF16": "bfloat16",
    "E4M3": "float8_e4m3fn",
    "E5M2": "float8_e5m2",
    "E8M0": "float8_e8m0fnu",
    "E3M2": "float6_e3m2fn",
    "E2M3": "float6_e2m3fn",
    "E2M1X2": "float4_e2m1fn",
    "S4X2": "int4",
    "U4X2": "uint4",
}
"""Formats that ml_dtypes has, and its name for each."""

_NUMPY = {
    "FP64": "float64",
    "FP32": "float32",
    "TF32": "float32",
    "HF32": "float32",
    "FP16": "float16",
    "S64": "int64",
    "S32": "int32",
    "S16": "int16",
    "S8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
}
"""Formats whose codes NumPy reads, and its dtype for each; TF32 and HF32 are FP32 patterns."""

_CARRIER_BITS = {row.encoding: row.carrier_bits for row in ENCODINGS}


def is_packed(fmt: Format) -> bool:
    """Tell whether two lanes share a byte."""
    return (fmt.integer_bits or fmt.lane_bits) == 4


def is_numpy(fmt: Format) -> bool:
    """Tell whether NumPy itself has a dtype for the codes of `fmt`."""
    return fmt.name in _NUMPY


def carrier_dtype(fmt: Format) -> np.dtype[Any]:
    """Return the unsigned dtype that holds one carrier of `fmt`."""
    bits = fmt.carrier_bits or _CARRIER_BITS[fmt.name]
    return np.dtype(f"u{next(width for width in (1, 2, 4, 8) if bits <= 8 * width)}")


def pack(lanes: Any) -> npt.NDArray[np.uint8]:
    """Pack 4-bit lanes, two a byte, low nibble first, along the last axis.

    `lanes` are integers whose low four bits count, of shape (..., N); the result is bytes of shape
    (..., ceil(N/2)), an unused high nibble 0. A 0-d lane gives shape (1,).
    """
    nibbles = np.atleast_1d(np.asarray(lanes))
    if nibbles.dtype.kind not in "iu":
        raise RefusedTypeError("pack", f"lanes of dtype {nibbles.dtype}", "integers")
    nibbles = nibbles.astype(np.uint8) & np.uint8(15)
    if nibbles.shape[-1] % 2:
        nibbles = np.concatenate([nibbles, np.zeros_like(nibbles[..., :1])], axis=-1)
    return nibbles[..., 0::2] | nibbles[..., 1::2] << np.uint8(4)


def unpack(packed: Any, count: int | None = None) -> npt.NDArray[np.uint8]:
    """Return the 4-bit lanes of packed bytes, as bytes of shape (..., count).

    `count` is the number of lanes along the last axis: twice the bytes, or one less. Raises
    `ValueError` for another one, `TypeError` for an array that is no uint8.
    """
    held = np.atleast_1d(np.asarray(packed))
    if held.dtype != np.uint8:
        raise RefusedTypeError("unpack", f"dtype {held.dtype}", "uint8")
    lanes = np.stack([held & np.uint8(15), held >> np.uint8(4)], axis=-1)
    lanes = lanes.reshape(*held.shape[:-1], 2 * held.shape[-1])
    return lanes[..., : lane_count(held.shape[-1], count)]


def lane_count(carriers: int, count: int | None) -> int:
    """Return how many packed lanes `carriers` bytes of a row hold, checked against `count`."""
    if count is None:
        return 2 * carriers
    if isinstance(count, bool) or not isinstance(count, int) or (count + 1) // 2 != carriers:
        raise RejectedError(
            "shape",
            "count",
            f"{count!r} lanes in rows of {carriers} bytes",
            f"{2 * carriers} or {max(2 * carriers - 1, 0)}",
        )
    return count


@dataclass(frozen=True, slots=True)
class Lanes:
    """Source lanes: contiguous carriers of `shape` rows, `lanes` the logical shape."""

    fmt: Format
    carriers: AnyArray
    lanes: tuple[int, ...]


def read_lanes(array: Any, source: Format | None, count: int | None) -> Lanes:
    """Read the lanes of `array`: carrier codes of `source`, or values of the array's own dtype.

    Raises `TypeError` for arrays of another kind, `RejectedError` for codes that do not fit their
    carrier and for a `count` that does not fit the rows.
    """
    given = np.asarray(array)
    if source is None:
        fmt, carriers = _typed(given)
    else:
        fmt, carriers = source, _codes(given, source)
    if is_packed(fmt) and source is not None:
        carriers = np.atleast_1d(carriers)
        lanes = (*carriers.shape[:-1], lane_count(carriers.shape[-1], count))
        return Lanes(fmt, carriers, lanes)
    if count is not None and (not carriers.shape or count != carriers.shape[-1]):
        raise RejectedError(
            "shape", "count", f"{count!r} for an array of shape {carriers.shape}", "its last extent"
        )
    lanes = carriers.shape
    if is_packed(fmt):
        lanes = np.atleast_1d(carriers).shape
        carriers = pack(carriers)
    return Lanes(fmt, carriers, lanes)


def format_of_dtype(dtype: np.dtype[Any]) -> Format:
    """Return the format of a NumPy or ml_dtypes dtype; `TypeError` where there is none."""
    name = dtype.name
    if dtype.kind in "biufV" and name != "bool" and name in formats:
        return formats[name]
    raise RefusedTypeError(
        "convert: array", f"dtype {dtype} names no format", "a float or integer array, or source="
    )


def _typed(given: AnyArray) -> tuple[Format, AnyArray]:
    fmt = format_of_dtype(given.dtype)
    native = given.astype(given.dtype.newbyteorder("="), copy=False)
    if is_packed(fmt):
        # ml_dtypes holds one 4-bit lane in a byte.
        return fmt, native.view(np.uint8) & np.uint8(15)
    return fmt, _view(native, carrier_dtype(fmt))


def _codes(given: AnyArray, source: Format) -> AnyArray:
    wanted = carrier_dtype(source)
    if given.dtype.kind not in "iu" or given.dtype.name == "bool":
        raise RefusedTypeError(
            f"convert: codes of {source.name}", f"dtype {given.dtype}", f"{wanted}, its carrier"
        )
    if given.dtype == wanted:
        return given.astype(wanted, copy=False)
    bits = min(source.carrier_bits or 8 * wanted.itemsize, 8 * wanted.itemsize)
    outside = np.flatnonzero((given < 0) | (given > (1 << bits) - 1 if bits < 64 else False))
    if outside.size:
        where = tuple(int(i) for i in np.unravel_index(outside[0], given.shape))
        raise RejectedError(
            "encoding",
            f"convert: codes of {source.name}",
            f"{given[where]} at {where}",
            f"codes of {bits} bits",
            position=where,
        )
    return given.astype(wanted)


def _view(array: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    return array.view(dtype)


def array_of(fmt: Format, codes: AnyArray, lanes: tuple[int, ...]) -> AnyArray:
    """Return codes as an array of the matching NumPy or ml_dtypes dtype.

    Raises `TypeError` where neither has the format, `NotImplementedError` where ml_dtypes is not
    installed.
    """
    if fmt.name in _NUMPY:
        return codes.view(_NUMPY[fmt.name])
    if fmt.name not in _ML_DTYPES:
        raise RefusedTypeError(
            f"array of {fmt.name}", "neither NumPy nor ml_dtypes has it", "the codes themselves"
        )
    try:
        import ml_dtypes  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise UnsupportedError(
            f"array of {fmt.name}", "ml_dtypes is not installed", "pip install ml_dtypes"
        ) from None
    dtype = np.dtype(getattr(ml_dtypes, _ML_DTYPES[fmt.name]))
    if not is_packed(fmt):
        return codes.view(dtype)
    unpacked = unpack(codes, lanes[-1]).reshape(lanes)
    if fmt.signed:
        unpacked = (unpacked ^ np.uint8(8)) - np.uint8(8)
    return unpacked.view(dtype)


def rows_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return how many rows a shape has along its last axis, and their length."""
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)
