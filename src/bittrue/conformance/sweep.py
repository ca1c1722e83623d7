"""Sweeps: the bits of a primitive on every binary32 input, proved or compared one by one.

Belongs here: the loop over inputs, what is proved how, and its resumable state. Never here: the
error bounds (`cpu/native/elementary.cpp`).

Theory. The compiled fast path is right wherever the exact value is farther from a rounding boundary
than its error bound. So a sweep need compare only:

- the special operands, all of them: they form a few ranges of patterns with one result each;
- the inputs within *twice* the bound of a boundary. Every instruction level's fast path lies within
  the bound of the exact value, so an input that any level leaves to the slow path is among these.

Both are compared with Generic, hence with MPFR. With `every`, the slow path runs on each input as
well: an independent evaluation in double-double, so each result is compared, and the measured error
of the fast path shows that the written bound holds. `pow` has 2**64 inputs; some are drawn.

Besides, `tools/mpfr_sweep.py` has compared every result with MPFR's once, and recorded digests,
one for 2**24 patterns, in `correct_results.json`. A sweep compares its own digests with those.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue import cpu
from bittrue.cpu.elementary import SweepFindings, error_bound, sweep_pairs, sweep_patterns
from bittrue.encoding import BINARY32
from bittrue.errors import RefusedValueError
from bittrue.files import write_text
from bittrue.generic import arithmetic as ar
from bittrue.generic import elementary as el

PATTERNS = 1 << 32
CHUNK = 1 << 24
PAIRS = 1 << 24
SHOWN = 20

RECORD = Path(__file__).with_name("correct_results.json")
RECORDED = 1 << 24
"""Patterns that one recorded digest covers."""

Progress = Callable[[int, int], None]
"""Called with inputs done and inputs in all."""

_REFERENCE: dict[str, Callable[..., int]] = {
    name: partial(getattr(el, name), BINARY32) for name in cpu.PRIMITIVES if name != "rsqrt"
}
_REFERENCE["rsqrt"] = partial(ar.rsqrt, BINARY32)
_REFERENCE["pow"] = partial(el.power, BINARY32)

SWEPT = (*sorted(_REFERENCE),)
"""What can be swept."""

_SIGN, _ONE, _INFINITY = 0x8000_0000, 0x3F80_0000, 0x7F80_0000
_NANS = ((_INFINITY + 1, _SIGN - 1), (_SIGN + _INFINITY + 1, PATTERNS - 1))
_POINTS = tuple((bits, bits) for bits in (0, _SIGN, _INFINITY, _SIGN + _INFINITY))
_POSITIVE_DOMAIN = (*_NANS, *_POINTS, (_SIGN + 1, _SIGN + _INFINITY - 1))
_ABOVE_MINUS_ONE = (
    *_NANS,
    *_POINTS,
    (_SIGN + _ONE, _SIGN + _ONE),
    (_SIGN + _ONE + 1, _SIGN + _INFINITY - 1),
)
_SPECIAL = dict.fromkeys(cpu.PRIMITIVES, (*_NANS, *_POINTS)) | {
    "log": _POSITIVE_DOMAIN,
    "log2": _POSITIVE_DOMAIN,
    "rsqrt": _POSITIVE_DOMAIN,
    "log1p": _ABOVE_MINUS_ONE,
}
"""Ranges of patterns, ends included, whose operands a rule answers, with one result a range."""


@dataclass(frozen=True, slots=True)
class Departure:
    """An input whose bits are wrong: patterns of the operands, got and expected."""

    operands: tuple[int, ...]
    got: int
    expected: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep so far. `done` of `total` inputs; times are in seconds.

    The digests of `recorded` inputs were compared with those of MPFR's results; `unequal` are the
    first patterns of ranges whose digests differ.
    """

    operation: str
    level: str
    build: str
    every: bool
    total: int
    seed: int = 0
    done: int = 0
    special: int = 0
    near: int = 0
    departures: int = 0
    worst_error: float = 0.0
    worst_input: int = 0
    bound: int = 0
    seconds: float = 0.0
    recorded: int = 0
    unequal: tuple[int, ...] = ()
    shown: tuple[Departure, ...] = field(default=())

    @property
    def finished(self) -> bool:
        """Whether every input was taken."""
        return self.done == self.total

    @property
    def passed(self) -> bool:
        """Whether no bit was wrong and no error above the bound."""
        return not self.departures and not self.unequal and self.worst_error <= self.bound

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"passed": self.passed, "finished": self.finished}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Sweep:
        """Read what `to_json` wrote."""
        plain = {key: value for key, value in data.items() if key not in ("passed", "finished")}
        plain["unequal"] = tuple(plain["unequal"])
        plain["shown"] = tuple(
            Departure(tuple(one["operands"]), one["got"], one["expected"]) for one in plain["shown"]
        )
        return cls(**plain)

    def key(self) -> tuple[object, ...]:
        """Return what must agree for a sweep to be the continuation of another."""
        return (self.operation, self.level, self.build, self.every, self.total, self.seed)


def build_of_kernels() -> str:
    """Return a digest of the compiled extension: another build is another sweep."""
    return hashlib.sha256(Path(str(cpu.NATIVE_FILE)).read_bytes()).hexdigest()[:16]


@functools.cache
def recorded_digests() -> dict[str, list[str]]:
    """Return the digests of the correct results of each function of one operand."""
    read: dict[str, list[str]] = json.loads(RECORD.read_text())
    return read


def start(operation: str, *, every: bool = False, pairs: int = 10**8, seed: int = 0) -> Sweep:
    """Return a sweep of which nothing is done. `pairs` and `seed` are for `pow`."""
    if operation not in SWEPT:
        raise RefusedValueError("sweep", f"no primitive {operation!r}", ", ".join(SWEPT))
    drawn = operation == "pow"
    if drawn and pairs < 1:
        raise RefusedValueError("sweep", f"{pairs} pairs", "at least 1")
    return Sweep(
        operation,
        cpu.level(),
        build_of_kernels(),
        every,
        total=pairs if drawn else PATTERNS,
        seed=seed if drawn else 0,
        bound=error_bound(operation),
    )


def load(path: Path, fresh: Sweep) -> Sweep:
    """Return the state kept in a file if it continues `fresh`, else `fresh`."""
    if not path.exists():
        return fresh
    try:
        kept = Sweep.from_json(json.loads(path.read_text()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RefusedValueError(str(path), "no state of a sweep", "a file of `sweep`") from None
    return kept if kept.key() == fresh.key() else fresh


def run(
    sweep: Sweep, *, threads: int = 1, state: Path | None = None, progress: Progress | None = None
) -> Sweep:
    """Take the inputs that are left; after each chunk, keep the state in the file `state`."""
    if cpu.level() != sweep.level:
        raise RefusedValueError("sweep", f"level {cpu.level()}", sweep.level)
    step = _pairs if sweep.operation == "pow" else _patterns
    while not sweep.finished:
        if progress is not None:
            progress(sweep.done, sweep.total)
        began = time.perf_counter()
        sweep = step(sweep, threads)
        sweep = replace(sweep, seconds=sweep.seconds + time.perf_counter() - began)
        if state is not None:
            write_text(str(state), json.dumps(sweep.to_json(), indent=2) + "\n")
    return sweep


def _joined(
    sweep: Sweep, found: SweepFindings, wrong: list[Departure], unlisted: int, count: int
) -> Sweep:
    worse = found.worst_error > sweep.worst_error
    return replace(
        sweep,
        done=sweep.done + count,
        special=sweep.special + found.special,
        near=sweep.near + len(found.near),
        departures=sweep.departures + len(wrong) + unlisted,
        worst_error=found.worst_error if worse else sweep.worst_error,
        worst_input=found.worst_input if worse else sweep.worst_input,
        shown=(*sweep.shown, *wrong)[:SHOWN],
    )


def _bits(name: str, patterns: npt.NDArray[np.uint32], threads: int) -> npt.NDArray[np.uint32]:
    out = np.empty(len(patterns), np.float32)
    cpu.elementary(name, patterns.view(np.float32), out, threads)
    return out.view(np.uint32)


def _compared(name: str, patterns: list[int], threads: int) -> list[Departure]:
    """Compare single inputs with Generic."""
    reference = _REFERENCE[name]
    got = _bits(name, np.array(patterns, np.uint32), threads).tolist()
    return [
        Departure((operand,), bits, wanted)
        for operand, bits in zip(patterns, got, strict=True)
        if bits != (wanted := reference(operand))
    ]


def _special_ranges(name: str, first: int, end: int, threads: int) -> tuple[int, list[Departure]]:
    """Compare every special operand in [first, end); return their count and what is wrong."""
    count, wrong = 0, []
    for low, high in _SPECIAL[name]:
        begin, stop = max(low, first), min(high + 1, end)
        if begin >= stop:
            continue
        count += stop - begin
        wanted = _REFERENCE[name](begin)
        if _REFERENCE[name](stop - 1) != wanted:
            raise AssertionError(name)
        patterns = np.arange(begin, stop, dtype=np.uint32)
        got = _bits(name, patterns, threads)
        wrong += [
            Departure((int(patterns[at]),), int(got[at]), wanted)
            for at in np.flatnonzero(got != wanted)
        ]
    return count, wrong


def _patterns(sweep: Sweep, threads: int) -> Sweep:
    name, first = sweep.operation, sweep.done
    end = min(first + CHUNK, sweep.total)
    found = sweep_patterns(name, first, end - first, every=sweep.every, threads=threads)
    special, wrong = _special_ranges(name, first, end, threads)
    if special != found.special:
        # The kernel answers operands by rule that this file does not know, or the reverse.
        raise AssertionError((name, first, special, found.special))
    wrong += _compared(name, found.near, threads)
    unlisted = 0
    if found.departures:
        listed = {one.operands[0] for one in wrong}
        if found.first_departure not in listed:
            wrong += _compared(name, [found.first_departure], threads)
        unlisted = max(found.departures - len(wrong), 0)
    joined = _joined(sweep, found, wrong, unlisted, end - first)
    if first % RECORDED or end - first != RECORDED:
        return joined
    joined = replace(joined, recorded=sweep.recorded + RECORDED)
    if recorded_digests()[name][first // RECORDED] == f"{found.digest:016x}":
        return joined
    if not wrong:
        # Where the bound proved the result or the slow path agreed: one of those is wrong.
        again = sweep_patterns(name, first, end - first, every=True, threads=threads)
        if again.departures:
            wrong = _compared(name, [again.first_departure], threads)
    return replace(joined, unequal=(*sweep.unequal, first), shown=(*sweep.shown, *wrong)[:SHOWN])


# --- pairs of pow ---------------------------------------------------------------------------------


def draw_pairs(seed: int, count: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Draw operands of `pow`: results over the whole range, and the cases that are hard.

    Of eight parts: four any base and an exponent that keeps the result in range; one bases near 1;
    one results near the subnormal range; one a base of few bits and a small exponent in eighths,
    where results are exact or ties; one negative bases and whole exponents.
    """
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 8, count)
    base = rng.integers(1, _INFINITY, count, dtype=np.uint32).view(np.float32).copy()
    near_one = np.exp2(rng.uniform(-24, 0, count)) * rng.choice([-0.5, 1.0], count)
    base = np.where(kind == 4, (1 + near_one).astype(np.float32), base)
    few = np.ldexp(rng.integers(1, 1 << rng.integers(1, 14, count)), rng.integers(-8, 8, count))
    base = np.where(kind == 6, few.astype(np.float32), base)
    base = np.where(kind == 7, rng.uniform(0.5, 40, count).astype(np.float32), base)
    logarithm = np.log2(base.astype(np.float64))
    logarithm[logarithm == 0] = 1e-3
    wanted = rng.uniform(-151, 129, count)
    wanted = np.where(kind == 5, rng.uniform(-151, -124, count), wanted)
    exponent = wanted / logarithm
    exponent = np.where(kind == 6, rng.integers(-16, 64, count) / 8, exponent)
    exponent = np.where(kind == 7, np.rint(exponent), exponent)
    base = np.where(kind == 7, -base, base)
    return base.astype(np.float32), exponent.astype(np.float32)


def _pairs(sweep: Sweep, threads: int) -> Sweep:
    count = min(PAIRS, sweep.total - sweep.done)
    x, y = draw_pairs(sweep.seed + sweep.done, count)
    found = sweep_pairs(x, y, every=sweep.every, threads=threads)
    at = found.near
    if found.departures and found.first_departure not in at:
        at = [*at, found.first_departure]
    out = np.empty(len(at), np.float32)
    cpu.power(x[at], y[at], out, threads)
    columns = (column.view(np.uint32).tolist() for column in (x[at], y[at], out))
    wrong = [
        Departure((base, exponent), bits, wanted)
        for base, exponent, bits in zip(*columns, strict=True)
        if bits != (wanted := _REFERENCE["pow"](base, exponent))
    ]
    return _joined(sweep, found, wrong, max(found.departures - len(wrong), 0), count)
