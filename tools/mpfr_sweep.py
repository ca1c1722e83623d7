"""Compare the compiled primitives with MPFR on every binary32 pattern, at every level.

`python tools/mpfr_sweep.py [FUNCTION...] --state FOLDER` runs build/mpfr_sweep (mpfr_sweep.cpp says
how to build it), compares its results with each instruction level's, and keeps the state in the
folder after each 2**26 patterns, so that an interrupted sweep goes on there.

`--record` then writes digests of the results of functions without a departure to
src/bittrue/conformance/correct_results.json: with them `bittrue sweep` compares any later build
with MPFR's results on every pattern in seconds.

Of sin, tanh and erf, which are odd, and cos, which is even, MPFR gives the results of patterns
without the sign bit. Those of the others follow by symmetry, which is compared too.

`python tools/mpfr_sweep.py pow --pairs N --state FOLDER` compares N pairs of operands.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue import cpu
from bittrue.conformance.sweep import RECORD, RECORDED, build_of_kernels, draw_pairs
from bittrue.cpu.elementary import sweep_patterns

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "build/mpfr_sweep"

PATTERNS, CHUNK, BLOCK, PAIRS = 1 << 32, 1 << 26, 1 << 20, 1 << 18
SIGN, INFINITY = np.uint32(0x8000_0000), np.uint32(0x7F80_0000)
ODD, EVEN = ("sin", "tanh", "erf"), ("cos",)
LEVELS = ("baseline", "v3", "v4")
SHOWN = 20

Words = npt.NDArray[np.uint32]


def levels() -> list[str]:
    """Return the levels that this machine has."""
    found, best = [], cpu.level()
    for level in LEVELS:
        try:
            cpu.set_level(level)
        except ValueError:
            continue
        found.append(level)
    cpu.set_level(best)
    return found


def kernel(name: str, level: str, first: int) -> Words:
    """Return a block of results of a level."""
    cpu.set_level(level)
    x = np.arange(first, first + BLOCK, dtype=np.uint32)
    out = np.empty(BLOCK, np.float32)
    cpu.elementary(name, x.view(np.float32), out)
    return out.view(np.uint32)


def by_mpfr(name: str, first: int, end: int) -> Iterator[Words]:
    """Yield blocks of correct results."""
    command = [str(PROGRAM), name, str(first), str(end - first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        for _ in range(first, end, BLOCK):
            data = process.stdout.read(4 * BLOCK)
            if len(data) != 4 * BLOCK:
                raise RuntimeError(f"{PROGRAM.name} ended early")
            yield np.frombuffer(data, np.uint32)


def by_symmetry(name: str, first: int, end: int) -> Iterator[Words]:
    """Yield blocks for patterns with the sign bit, from results that were compared before."""
    for start in range(first, end, BLOCK):
        results = kernel(name, LEVELS[0], start - int(SIGN))
        is_nan = results & ~SIGN > INFINITY
        yield results if name in EVEN else np.where(is_nan, results, results ^ SIGN)


def correct(name: str, first: int) -> Iterator[Words]:
    """Yield blocks of correct results from a pattern on to the last."""
    half = int(SIGN)
    if name not in ODD + EVEN:
        yield from by_mpfr(name, first, PATTERNS)
        return
    if first < half:
        yield from by_mpfr(name, first, half)
    yield from by_symmetry(name, max(first, half), PATTERNS)


def opened(path: Path, name: str, total: int) -> dict[str, Any]:
    """Return the state in a file if it is of this build, levels and total, else a new one."""
    fresh = {
        "function": name,
        "build": build_of_kernels(),
        "levels": levels(),
        "total": total,
    }
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if {key: kept.get(key) for key in fresh} == fresh:
        return kept
    return fresh | {"done": 0, "departures": 0, "shown": [], "seconds": 0.0}


def compare(state: dict[str, Any], level: str, operands: Words, got: Words, wanted: Words) -> None:
    """Count the departures of a block of results and keep the first of them."""
    wrong = np.flatnonzero(got != wanted)
    state["departures"] += len(wrong)
    for at in wrong[: SHOWN - len(state["shown"])]:
        operand = " ".join(f"{bits:08x}" for bits in np.atleast_1d(operands[at]))
        state["shown"].append(f"{level} {operand}: {got[at]:08x}, MPFR {wanted[at]:08x}")


def sweep(name: str, folder: Path) -> dict[str, Any]:
    """Sweep what is left of a function of one operand; return its state."""
    path = folder / f"mpfr-{name}.json"
    state = opened(path, name, PATTERNS)
    first, began = state["done"], time.perf_counter()
    for block in correct(name, first) if first < PATTERNS else ():
        for level in state["levels"]:
            operands = np.arange(first, first + BLOCK, dtype=np.uint32)
            compare(state, level, operands, kernel(name, level, first), block)
        first += BLOCK
        if first % CHUNK == 0:
            if state["departures"] and name in ODD + EVEN:
                break  # the other half would follow from results that are wrong
            began = keep(path, state, first, began)
    return state


def sweep_pairs(pairs: int, folder: Path) -> dict[str, Any]:
    """Sweep pairs of operands of pow, drawn as `bittrue sweep pow` draws them."""
    path = folder / "mpfr-pow.json"
    state = opened(path, "pow", -(-pairs // PAIRS) * PAIRS)
    began = time.perf_counter()
    while state["done"] < state["total"]:
        # Seeds far from those of `bittrue sweep pow`, which begin at 0.
        x, y = draw_pairs(10**12 + state["done"], PAIRS)
        operands = np.stack([x, y], axis=1).view(np.uint32)
        done = subprocess.run(  # noqa: S603 - ours
            [str(PROGRAM), "pow"], input=operands.tobytes(), stdout=subprocess.PIPE, check=True
        )
        wanted = np.frombuffer(done.stdout, np.uint32)
        for level in state["levels"]:
            cpu.set_level(level)
            out = np.empty(PAIRS, np.float32)
            cpu.power(x, y, out)
            compare(state, level, operands, out.view(np.uint32), wanted)
        began = keep(path, state, state["done"] + PAIRS, began)
    return state


def keep(path: Path, state: dict[str, Any], done: int, began: float) -> float:
    """Write the state; return the time."""
    now = time.perf_counter()
    state["done"] = done
    state["seconds"] += now - began
    state["date"] = datetime.now(UTC).date().isoformat()
    path.write_text(json.dumps(state, indent=1) + "\n")
    name, departures = state["function"], state["departures"]
    sys.stderr.write(f"{name}: {done:,} of {state['total']:,}, {departures} departures\n")
    return now


def record(state: dict[str, Any]) -> None:
    """Write the digests of what was swept to the end without a departure."""
    if state["departures"] or state["done"] != PATTERNS:
        return
    name = state["function"]
    kept: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    cpu.set_level(state["levels"][-1])
    kept[name] = [
        f"{sweep_patterns(name, first, RECORDED, every=False, threads=1).digest:016x}"
        for first in range(0, PATTERNS, RECORDED)
    ]
    RECORD.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def main() -> int:
    """Sweep, and return 1 if any bit departs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", default=cpu.PRIMITIVES, metavar="FUNCTION")
    parser.add_argument("--state", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--record", action="store_true", help="write the digests")
    parser.add_argument("--pairs", type=int, default=10**7, metavar="N", help="drawn for pow")
    options = parser.parse_args()
    departures = 0
    for name in options.functions:
        drawn = name == "pow"
        found = sweep_pairs(options.pairs, options.state) if drawn else sweep(name, options.state)
        departures += found["departures"]
        if options.record and not drawn:
            record(found)
    return 1 if departures else 0


if __name__ == "__main__":
    raise SystemExit(main())
