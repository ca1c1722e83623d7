"""`bittrue convert`: arrays in files, larger than memory."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bittrue.cli.common import STDOUT, check_output, emit, emit_json
from bittrue.cli.formats import add_rounding, flag_names
from bittrue.cli.progress import Progress, progress_bar
from bittrue.conversion import convert
from bittrue.conversion.arrays import (
    AnyArray,
    array_of,
    carrier_dtype,
    format_of_dtype,
    is_numpy,
    is_packed,
    lane_count,
)
from bittrue.conversion.convert import check_pair
from bittrue.encoding import Format, Status, formats
from bittrue.errors import RefusedValueError
from bittrue.streams import check_layout, open_array, write_stream

PIECE = 1 << 24
"""Lanes that are converted at a time; even, so that packed bytes are never cut."""


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("convert", help="convert arrays in files to another format")
    command.add_argument("input", metavar="IN", help=".npy, .safetensors, or raw with --dtype")
    command.add_argument("output", metavar="OUT", help=".npy, .safetensors, or raw")
    command.add_argument("--to", required=True, metavar="FORMAT", help="format of the result")
    command.add_argument("--dtype", metavar="FORMAT", help="IN holds carrier codes of this format")
    command.add_argument("--shape", metavar="N,M", help="shape of the carriers of a raw file")
    command.add_argument("--count", type=int, metavar="N", help="packed lanes in a row, if odd")
    command.add_argument("--tensor", metavar="NAME", help="which tensor of a .safetensors file")
    command.add_argument("--threads", type=int, metavar="N")
    command.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_rounding(command)
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Convert piece by piece and say what was raised."""
    check_output("OUT", options.output)
    target = formats[options.to]
    given = None if options.dtype is None else formats[options.dtype]
    mapped, stated = open_array(
        options.input,
        raw=None if given is None else carrier_dtype(given),
        shape=_shape(options.shape),
        tensor=options.tensor,
    )
    if given is None and stated is not None:
        given = formats[stated]
    source = format_of_dtype(mapped.dtype) if given is None else given
    check_pair(source, target)
    check_layout(options.output, carrier_dtype(target), target.name)
    lanes = _lanes(mapped, given, options.count)
    total = math.prod(lanes)
    status = Status(0)
    with progress_bar() as advance:

        def converted() -> Iterator[AnyArray]:
            nonlocal status
            done = 0
            for piece, count in _pieces(mapped, lanes, given):
                result = convert(
                    piece, target, given, options.round, options.saturate,
                    count=count, threads=options.threads,
                )  # fmt: skip
                status |= result.status
                done += math.prod(result.lanes)
                _tell(advance, done, total)
                # A dtype of NumPy says more than a carrier; one of ml_dtypes is lost in .npy.
                yield (
                    array_of(target, result.codes, result.lanes)
                    if is_numpy(target)
                    else (result.codes)
                )

        write_stream(
            options.output,
            converted(),
            _stored(target),
            _carriers(target, lanes),
            target.name,
            options.tensor,
        )
    summary = {
        "source": source.name,
        "destination": target.name,
        "shape": list(lanes),
        "rounding": options.round,
        "saturate": options.saturate,
        "status": flag_names(status),
    }
    if options.json:
        emit_json(STDOUT, summary)
    else:
        emit(STDOUT, f"{total} lanes {source.name} -> {target.name}: flags {flag_names(status)}")
    return 0


def _tell(advance: Progress | None, done: int, total: int) -> None:
    if advance is not None:
        advance(done, total, "lanes")


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() and len(part) < 20 for part in parts):
        raise RefusedValueError("--shape", repr(text), "extents such as 1024,4096")
    return tuple(int(part) for part in parts)


def _lanes(mapped: AnyArray, given: Format | None, count: int | None) -> tuple[int, ...]:
    """Return the logical shape of the whole array."""
    shape: tuple[int, ...] = mapped.shape
    if given is not None and is_packed(given):
        shape = shape or (1,)
        return (*shape[:-1], lane_count(shape[-1], count))
    if count is not None:
        raise RefusedValueError("--count", f"{count}", "nothing: the lanes are not packed")
    return shape


def _stored(target: Format) -> np.dtype[Any]:
    """Return the dtype of the stored array."""
    if is_numpy(target):
        empty = np.empty((0,), carrier_dtype(target))
        return array_of(target, empty, (0,)).dtype
    return carrier_dtype(target)


def _carriers(target: Format, lanes: tuple[int, ...]) -> tuple[int, ...]:
    if not is_packed(target):
        return lanes
    row = lanes or (1,)
    return (*row[:-1], (row[-1] + 1) // 2)


def _pieces(
    mapped: AnyArray, lanes: tuple[int, ...], given: Format | None
) -> Iterator[tuple[AnyArray, int | None]]:
    """Yield (carriers, count) of pieces: some whole rows, or an even part of one row."""
    if not math.prod(lanes):
        return
    packed = given is not None and is_packed(given)
    length = lanes[-1] if lanes else 1
    rows = mapped.reshape(-1, mapped.shape[-1] if mapped.ndim else 1)
    if length <= PIECE:
        step = max(PIECE // length, 1)
        for start in range(0, rows.shape[0], step):
            yield rows[start : start + step], length if packed else None
        return
    for row in rows:
        for start in range(0, length, PIECE):
            count = min(PIECE, length - start)
            if packed:
                yield row[start // 2 : start // 2 + (count + 1) // 2], count
            else:
                yield row[start : start + count], None
