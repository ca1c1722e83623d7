"""Arrays in files larger than memory: mapped for reading, written in pieces.

Belongs here: `.npy`, `.safetensors` and raw layouts. Never here: what the bits mean. Nothing is
unpickled; every declared size is held against the size of the file before anything is mapped.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from bittrue.errors import RefusedTypeError, RefusedValueError
from bittrue.files import write_whole

AnyArray = npt.NDArray[Any]

SAFETENSORS: dict[str, str | None] = {
    # dtype there  the format whose carriers it holds (None: it tells no format)
    "F64": "FP64",
    "F32": "FP32",
    "F16": "FP16",
    "BF16": "BF16",
    "F8_E4M3": "E4M3",
    "F8_E5M2": "E5M2",
    "F8_E8M0": "E8M0",
    "I64": "S64",
    "I32": "S32",
    "I16": "S16",
    "I8": "S8",
    "U64": "U64",
    "U32": "U32",
    "U16": "U16",
    "U8": "U8",
}
"""The dtypes of the safetensors layout that hold one lane in whole bytes."""

_WIDTHS = {"64": 8, "32": 4, "16": 2}
_MOST_HEADER = 100_000_000
"""Bytes of a safetensors header, as its specification limits them."""


def open_array(
    path: str, *, raw: np.dtype[Any] | None, shape: tuple[int, ...] | None, tensor: str | None
) -> tuple[AnyArray, str | None]:
    """Map an array; return it and the name of the format that the file itself states.

    `.npy` and `.safetensors` are told by their suffix, everything else is raw and needs `raw`, the
    carrier dtype, with `shape` (None: one axis). `tensor` names one of several in a safetensors
    file. Raises `OSError` where the file cannot be read, `ValueError` where it is damaged.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return _open_npy(path), None
    if suffix == ".safetensors":
        return _open_safetensors(path, tensor)
    return _open_raw(path, raw, shape), None


def _open_npy(path: str) -> AnyArray:
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, OverflowError, RecursionError) as error:
        text = (str(error).splitlines() or [""])[0]
        raise RefusedValueError(path, f"not readable as .npy: {text}", "a .npy array") from None
    if not isinstance(mapped, np.ndarray):
        raise RefusedValueError(path, "an archive of several arrays", "a .npy array")
    return mapped


def _open_raw(path: str, raw: np.dtype[Any] | None, shape: tuple[int, ...] | None) -> AnyArray:
    if raw is None:
        raise RefusedTypeError(path, "a raw file tells no dtype", "--dtype FORMAT [--shape N,M]")
    size = Path(path).stat().st_size
    if shape is None:
        shape = (size // raw.itemsize,)
    wanted = math.prod(shape) * raw.itemsize
    if wanted != size:
        raise RefusedValueError(path, f"{size} bytes", f"{wanted} for {raw} of shape {shape}")
    return _map(path, raw, 0, shape)


def _map(path: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> AnyArray:
    if not math.prod(shape):
        return np.empty(shape, dtype)  # nothing can be mapped
    return np.memmap(path, dtype.newbyteorder("<"), "r", offset, shape)


def _open_safetensors(path: str, tensor: str | None) -> tuple[AnyArray, str | None]:
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > min(size - 8, _MOST_HEADER):
            raise RefusedValueError(path, "a damaged header", "a safetensors file")
        text = file.read(length)
    damaged = RefusedValueError(path, "a damaged header", "a safetensors file")
    try:
        header = json.loads(text)
        entries = {name: e for name, e in header.items() if name != "__metadata__"}
    except (ValueError, AttributeError, RecursionError):
        raise damaged from None
    if tensor is None and len(entries) == 1:
        tensor = next(iter(entries))
    if tensor is None or tensor not in entries:
        names = ", ".join(sorted(entries)[:8])
        raise RefusedValueError(
            path, f"tensor {tensor!r} of {len(entries)}", f"--tensor, one of {names}"
        )
    try:
        entry = entries[tensor]
        code, shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        whole = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
    except (ValueError, KeyError, TypeError):
        raise damaged from None
    if not isinstance(code, str) or code not in SAFETENSORS:
        raise RefusedTypeError(path, f"tensor of dtype {code!r}", ", ".join(SAFETENSORS))
    width = next((w for digits, w in _WIDTHS.items() if code.endswith(digits)), 1)
    if not whole or begin + math.prod(shape) * width != end or 8 + length + end > size:
        raise RefusedValueError(path, "offsets that do not fit", "a safetensors file")
    return _map(path, np.dtype(f"u{width}"), 8 + length + begin, shape), SAFETENSORS[code]


def write_stream(
    path: str,
    pieces: Iterable[AnyArray],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    fmt: str,
    tensor: str | None = None,
) -> None:
    """Write `pieces` one after the other as an array of `shape`, whole or not at all.

    The layout follows the suffix: `.npy`, `.safetensors` (`fmt` must have a dtype there) or raw.
    Raises `TypeError` where the layout has no dtype for `fmt`, before anything is written.
    """
    start = _header(path, dtype, shape, fmt, tensor)

    def write(file: BinaryIO) -> None:
        file.write(start)
        for piece in pieces:
            stored = np.ascontiguousarray(piece, dtype.newbyteorder("<"))
            file.write(stored.reshape(-1).view(np.uint8).data)

    write_whole(path, write)


def _header(
    path: str, dtype: np.dtype[Any], shape: tuple[int, ...], fmt: str, tensor: str | None
) -> bytes:
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        text = repr(
            {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
        ).encode()
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
    if suffix == ".safetensors":
        code = next((code for code, name in SAFETENSORS.items() if name == fmt), None)
        if code is None:
            raise RefusedTypeError(path, f"safetensors has no dtype for {fmt}", ".npy or raw")
        size = math.prod(shape) * dtype.itemsize
        entry = {"dtype": code, "shape": list(shape), "data_offsets": [0, size]}
        text = json.dumps({tensor or "tensor": entry}).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text
    return b""


def check_layout(path: str, dtype: np.dtype[Any], fmt: str) -> None:
    """Refuse an output whose layout has no dtype for `fmt`, before the work."""
    _header(path, dtype, (0,), fmt, None)
