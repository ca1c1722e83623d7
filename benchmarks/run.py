"""Run the benchmarks and print their table: `make bench ARGS="--quick --json FILE"`.

Names restrict it: `bench_convert` is a module, `bench_operations.sums` one benchmark of it.

A benchmark is a function that takes a budget and yields rows; a module `bench_*` lists its own in
`BENCHMARKS`, and `MODULES` lists the modules. Times are nanoseconds of one call.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from timing import FULL, QUICK, Row, Sample

MODULES = (
    "bench_resolution",
    "bench_convert",
    "bench_postprocess",
    "bench_elementary",
    "bench_operations",
)

HEAD = ("group", "ours", "min", "median", "peer", "min", "median", "ratio")


def machine() -> dict[str, str]:
    """Describe where the numbers come from."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    described = {
        "cpu": f"{cpu}, {os.cpu_count()} cores, {platform.machine()}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    for name in ("bittrue", "numpy", "torch"):
        try:
            described[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            described[name] = "not installed"
    return described


def spell(nanoseconds: float) -> str:
    """Write a time with three digits and its unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def cells(row: Row) -> tuple[str, ...]:
    """Write a row as cells."""
    peer: tuple[str, ...] = ("", "") if row.peer is None else times(row.peer)
    ratio = row.note if row.ratio is None else f"{row.ratio:.3g}"
    return (row.group, row.name, *times(row.ours), row.peer_name, *peer, ratio)


def times(sample: Sample) -> tuple[str, str]:
    """Write the minimum and the median."""
    return spell(sample.minimum), spell(sample.median)


def text(rows: Iterable[Row]) -> Iterator[str]:
    """Yield an aligned table."""
    table = [HEAD, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the machine and the table as Markdown."""
    yield "; ".join(f"{name}: {value}" for name, value in machine().items()) + "."
    yield ""
    for line in (HEAD, ("---",) * len(HEAD), *map(cells, rows)):
        yield f"| {' | '.join(line)} |"


def plain(row: Row) -> dict[str, Any]:
    """Return a row as plain data, in nanoseconds."""
    return {
        "group": row.group,
        "name": row.name,
        "ours": {"min_ns": row.ours.minimum, "median_ns": row.ours.median},
        "peer": row.peer_name or None,
        "theirs": row.peer and {"min_ns": row.peer.minimum, "median_ns": row.peer.median},
        "ratio": row.ratio,
        "note": row.note,
    }


def main() -> None:
    """Run every benchmark, print the table, write what was asked for."""
    parser = argparse.ArgumentParser(description="Run the benchmarks of bittrue.")
    parser.add_argument("--quick", action="store_true", help="few repeats, rough numbers")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write machine and rows as JSON")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table as Markdown")
    parser.add_argument("names", nargs="*", help="modules or benchmarks to run; all without")
    options = parser.parse_args()
    budget = QUICK if options.quick else FULL
    rows: list[Row] = []
    for name in MODULES:
        for benchmark in importlib.import_module(name).BENCHMARKS:
            if not options.names or {name, f"{name}.{benchmark.__name__}"} & set(options.names):
                rows.extend(benchmark(budget))
    print("\n".join(text(rows)))
    if options.json is not None:
        data = {"machine": machine(), "rows": list(map(plain, rows))}
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    if options.markdown is not None:
        options.markdown.write_text("\n".join(markdown(rows)) + "\n")


if __name__ == "__main__":
    main()
