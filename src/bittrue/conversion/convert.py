"""`convert`: arrays of one type to another, bit-exact, with status.

Belongs here: what is legal, every refusal, and the choice of executor. Never here: the rules of a
value (`encoding.lanes`) or a kernel. Clauses: postprocess-and-formats, Decisions 182 and 183.
Everything that can be refused is refused before the destination exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bittrue import cpu
from bittrue._records import shown
from bittrue.conversion.arrays import (
    AnyArray,
    Lanes,
    array_of,
    carrier_dtype,
    is_packed,
    pack,
    read_lanes,
    rows_of,
    unpack,
)
from bittrue.encoding import Format, Rounding, Status, convert_lane, formats
from bittrue.errors import RefusedTypeError, RefusedValueError, RejectedError

Flags = Literal["union", "elements"]

SCALE_SOURCES = ("FP16", "BF16", "FP32")
"""The only sources of a conversion to E8M0."""

PARAMETER_FORMATS = ("FP19",)
"""Formats that hold parameters of post-processing and are no type of a conversion."""


@dataclass(frozen=True, slots=True, eq=False)
class Converted:
    """Result of a conversion.

    `codes` are carriers of `destination` (packed types: bytes, two lanes each), `status` the OR of
    all flags, or an array of flags for every lane; `lanes` is the logical shape.
    """

    codes: AnyArray
    status: Any
    destination: Format
    lanes: tuple[int, ...]

    @property
    def array(self) -> AnyArray:
        """The result as an array of the matching NumPy or ml_dtypes dtype, a view where it can be.

        Raises `TypeError` where neither has the format.
        """
        return array_of(self.destination, self.codes, self.lanes)


def convert(
    array: Any,
    destination: str | Format,
    source: str | Format | None = None,
    rounding: str | int | Rounding = "NONE",
    saturate: bool = False,  # noqa: FBT001, FBT002 - the documented positional order
    *,
    count: int | None = None,
    flags: Flags = "union",
    random_bits: Any = None,
    out: AnyArray | None = None,
    backend: Literal["cpu", "generic"] | None = None,
    threads: int | None = None,
) -> Converted:
    """Convert every lane of `array` to `destination`.

    With `source`, `array` holds carrier codes of that format: unsigned integers, packed types as
    bytes with the low nibble first (`count` lanes in a row, for an odd number). Without it, the
    array's NumPy or ml_dtypes dtype is the source. `rounding` is a mode, its name or code; NONE is
    toward zero into integers and nearest even elsewhere. `saturate` clamps what would overflow.
    `flags` gives the OR of all status flags or an array of them in the shape of the lanes.
    `random_bits`, a uint32 for each lane, rounds stochastically (with NONE, not to E8M0; beyond
    the requirement). `out` receives the codes. Strides, memory maps and 0-d arrays are taken.

    Raises `RejectedError` (a `ValueError` with a `category`: pair, mode, encoding, shape, output)
    before anything is allocated, with the `position` of an invalid source encoding; `TypeError`
    for an argument of a wrong type; `KeyError` for an unknown format.
    """
    target = _format(destination)
    given = None if source is None else _format(source)
    mode = _rounding(rounding)
    _check_flag("saturate", saturate)
    if flags not in ("union", "elements"):
        raise RefusedValueError("convert: flags", repr(flags), "'union' or 'elements'")
    chosen = _backend(backend)
    workers = cpu.thread_count(threads)
    lanes = read_lanes(array, given, count)
    check_pair(lanes.fmt, target)
    random = _random(random_bits, lanes, target, mode)
    _check_encodings(lanes, workers)
    shape, result = _destination(target, lanes.lanes, out)
    elements = np.zeros(lanes.lanes, np.uint8) if flags == "elements" else None
    codes = np.empty(shape, carrier_dtype(target)) if result is None else result
    direct = result is None or (
        result.flags.carray and not np.may_share_memory(result, lanes.carriers)
    )
    written = codes if direct else np.empty(shape, carrier_dtype(target))
    status = _execute(
        _Job(lanes, target, written, mode, bool(saturate), random, elements, chosen, workers)
    )
    if not direct:
        codes[...] = written
    return Converted(codes, status if elements is None else elements, target, lanes.lanes)


# --- checks -------------------------------------------------------------------------------------


def _format(name: str | Format) -> Format:
    return name if isinstance(name, Format) else formats[name]


def _rounding(rounding: str | int | Rounding) -> Rounding:
    try:
        if isinstance(rounding, str):
            return Rounding[rounding.upper()]
        if not isinstance(rounding, bool):
            return Rounding(rounding)
    except (KeyError, ValueError):
        pass
    names = ", ".join(mode.name for mode in Rounding)
    raise RejectedError("mode", "convert: rounding", shown(rounding), f"one of {names}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise RefusedTypeError(f"convert: {name}", f"got {shown(value)}", "a bool")


def _backend(backend: object) -> str:
    if backend is None:
        return "cpu"
    if backend not in ("cpu", "generic"):
        raise RefusedValueError("convert: backend", shown(backend), "'cpu' or 'generic'")
    return str(backend)


def check_pair(source: Format, destination: Format) -> None:
    """Reject a pair of types between which no conversion is defined. Decision 183."""
    for fmt in (source, destination):
        if fmt.name in PARAMETER_FORMATS:
            raise RejectedError(
                "pair", "convert", f"{fmt.name} is a parameter format", "a type of a tensor"
            )
    if destination.kind == "scale" and source.name not in SCALE_SOURCES:
        raise RejectedError(
            "pair",
            "convert",
            f"{source.name} to {destination.name}",
            f"{', '.join(SCALE_SOURCES)} to {destination.name}",
            "convert to FP32 first",
        )


def _random(random_bits: Any, lanes: Lanes, destination: Format, mode: Rounding) -> AnyArray | None:
    if random_bits is None:
        return None
    words = np.asarray(random_bits)
    if words.dtype != np.uint32:
        raise RefusedTypeError("convert: random_bits", f"dtype {words.dtype}", "uint32")
    if mode is not Rounding.NONE:
        raise RejectedError(
            "mode", "convert: random_bits", f"with rounding {mode.name}", "rounding NONE"
        )
    if destination.kind == "scale":
        raise RejectedError("mode", "convert: random_bits", "to E8M0", "a float or integer type")
    if words.shape != lanes.lanes:
        raise RejectedError(
            "shape", "convert: random_bits", f"shape {words.shape}", f"{lanes.lanes}, one a lane"
        )
    return words


def _check_encodings(lanes: Lanes, threads: int) -> None:
    if not (lanes.fmt.low_zero_bits or lanes.fmt.high_zero_bits) or not lanes.carriers.size:
        return
    flat = _flat(lanes.carriers)
    first = cpu.first_invalid(lanes.fmt, flat, flat.size, threads)
    if first >= 0:
        where = tuple(int(i) for i in np.unravel_index(first, lanes.carriers.shape))
        raise RejectedError(
            "encoding",
            f"convert: {lanes.fmt.name} code",
            f"{int(flat[first]):#x} at {where} has constrained bits set",
            "encodings whose constrained bits are zero",
            position=where,
        )


def _destination(
    destination: Format, lanes: tuple[int, ...], out: AnyArray | None
) -> tuple[tuple[int, ...], AnyArray | None]:
    """Return the carrier shape of the result, and `out` once it is known to take it."""
    shape = lanes
    if is_packed(destination):
        row = lanes or (1,)
        shape = (*row[:-1], (row[-1] + 1) // 2)
    if out is None:
        return shape, None
    if not isinstance(out, np.ndarray):
        raise RefusedTypeError("convert: out", f"got {shown(out)}", "a NumPy array")
    wanted = carrier_dtype(destination)
    if out.dtype != wanted or out.shape != shape or not out.flags.writeable:
        raise RejectedError(
            "output",
            "convert: out",
            f"{out.dtype}{list(out.shape)}{'' if out.flags.writeable else ', read-only'}",
            f"a writable {wanted}{list(shape)}",
        )
    return shape, out


# --- execution ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """A conversion that passed every check; `codes` and `elements` are written."""

    lanes: Lanes
    destination: Format
    codes: AnyArray
    mode: Rounding
    saturate: bool
    random: AnyArray | None
    elements: AnyArray | None
    backend: str
    threads: int


def _execute(job: _Job) -> Status:
    """Convert every lane; return the OR of all flags."""
    source = job.lanes.fmt
    rows, length = rows_of(job.lanes.lanes)
    if rows > 1 and length % 2 and (is_packed(source) or is_packed(job.destination)):
        return _execute_odd_rows(job)
    count = rows * length
    if not count:
        return Status(0)
    carriers = _flat(job.lanes.carriers)
    words = None if job.random is None else _flat(job.random)
    flags = None if job.elements is None else job.elements.reshape(-1)
    out = job.codes.reshape(-1)
    if job.backend == "cpu":
        union = cpu.convert_lanes(
            source, job.destination, carriers, out, count, job.mode,
            saturate=job.saturate, random_bits=words, flags=flags, threads=job.threads,
        )  # fmt: skip
        return Status(union)
    return _generic(job, carriers, out, count, words, flags)


def _flat(array: AnyArray) -> AnyArray:
    """Return an array as one axis, contiguous and aligned; a copy only where it is not."""
    return np.require(array, requirements=("C", "A")).reshape(-1)


def _execute_odd_rows(job: _Job) -> Status:
    """Convert rows of an odd number of lanes, each of which starts a new byte.

    Each row gets one lane of +0 at its end, which converts to a zero and raises no flag.
    """
    lanes = job.lanes
    padded = (*lanes.lanes[:-1], lanes.lanes[-1] + 1)
    if is_packed(lanes.fmt):
        carriers = np.array(lanes.carriers)
        carriers[..., -1] &= 15
    else:
        carriers = _with_zero_lane(lanes.carriers)
    to_packed = is_packed(job.destination)
    wide = np.empty(job.codes.shape if to_packed else padded, carrier_dtype(job.destination))
    flags = None if job.elements is None else np.zeros(padded, np.uint8)
    status = _execute(
        replace(
            job,
            lanes=Lanes(lanes.fmt, carriers, padded),
            codes=wide,
            random=None if job.random is None else _with_zero_lane(job.random),
            elements=flags,
        )
    )
    job.codes[...] = wide if to_packed else wide[..., :-1]
    if job.elements is not None and flags is not None:
        job.elements[...] = flags[..., :-1]
    return status


def _with_zero_lane(array: AnyArray) -> AnyArray:
    return np.concatenate([array, np.zeros_like(array[..., :1])], axis=-1)


def _generic(
    job: _Job,
    carriers: AnyArray,
    out: AnyArray,
    count: int,
    random_bits: AnyArray | None,
    flags: AnyArray | None,
) -> Status:
    """Convert lane by lane with the reference."""
    source, destination = job.lanes.fmt, job.destination
    bits = (unpack(carriers, count) if is_packed(source) else carriers).tolist()
    words = [None] * count if random_bits is None else random_bits.tolist()
    union = 0
    results = []
    for index, (lane, word) in enumerate(zip(bits, words, strict=True)):
        code, status = convert_lane(
            source, destination, lane, job.mode, saturate=job.saturate, random=word
        )
        results.append(code)
        union |= status
        if flags is not None:
            flags[index] = status
    written = np.array(results, carrier_dtype(destination))
    out[...] = pack(written) if is_packed(destination) else written
    return Status(union)
