"""`bittrue sweep`: a compiled primitive on every binary32 input, against MPFR."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bittrue.cli.common import STDOUT, emit, emit_json
from bittrue.errors import RefusedValueError

if TYPE_CHECKING:
    from bittrue.conformance.sweep import Progress, Sweep


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "sweep", help="prove a compiled elementary function on every binary32 input"
    )
    command.add_argument("operations", nargs="+", metavar="OP", help="exp, log, sin, ..., pow, all")
    command.add_argument(
        "--every",
        action="store_true",
        help="also evaluate each input in double-double: minutes instead of seconds",
    )
    command.add_argument("--pairs", type=int, default=10**8, metavar="N", help="drawn for pow")
    command.add_argument("--seed", type=int, default=0, metavar="S", help="of the pairs")
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N")
    command.add_argument(
        "--state",
        metavar="FOLDER",
        help="keep the state of each sweep there, and go on where an interrupted one stopped",
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", metavar="FILE", help="write the sweeps as JSON (- for stdout)")
    form.add_argument("--markdown", action="store_true", help="print a Markdown table")
    command.set_defaults(execute=execute)


@contextlib.contextmanager
def _progress(operation: str) -> Iterator[Progress | None]:
    """Show a progress bar on a terminal; stay quiet in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - costs start-up, wanted on a terminal only
    from rich.progress import (  # noqa: PLC0415 - likewise
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(operation)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield advance


def _row(found: Sweep) -> tuple[str, ...]:
    kind = "pairs" if found.operation == "pow" else "inputs"
    error = f"{found.worst_error:.1f}" if found.every else "not measured"
    return (
        found.operation,
        found.level,
        f"{found.total:,} {kind}",
        f"{found.special:,}",
        f"{found.near:,}",
        f"{found.recorded:,}",
        str(found.departures + len(found.unequal)),
        f"{found.bound}",
        error,
        f"{found.seconds:.0f} s",
    )


HEAD = (
    "function",
    "level",
    "taken",
    "special",
    "near a boundary",
    "as MPFR",
    "departures",
    "bound / 2^-53",
    "worst error / 2^-53",
    "time",
)


def _text(rows: list[tuple[str, ...]]) -> str:
    table = [HEAD, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    return "\n".join(lines)


def _markdown(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (HEAD, ("---",) * len(HEAD), *rows))


def execute(options: argparse.Namespace) -> int:
    """Sweep, report, and return 1 if any bit or bound is wrong."""
    from bittrue.conformance import sweep  # noqa: PLC0415 - loads the reference; not for other commands

    names = sweep.SWEPT if options.operations == ["all"] else options.operations
    folder = None if options.state is None else Path(options.state)
    if folder is not None and not folder.is_dir():
        raise RefusedValueError("sweep", f"no folder {options.state!r}", "an existing folder")
    fresh = [
        sweep.start(name, every=options.every, pairs=options.pairs, seed=options.seed)
        for name in names
    ]
    found = []
    for one in fresh:
        state = None if folder is None else folder / f"{one.operation}-{one.level}.json"
        begun = one if state is None else sweep.load(state, one)
        with _progress(one.operation) as progress:
            found.append(sweep.run(begun, threads=options.threads, state=state, progress=progress))
    if options.json is not None:
        emit_json(options.json, [one.to_json() for one in found])
    if options.json != STDOUT:
        rows = [_row(one) for one in found]
        emit(STDOUT, _markdown(rows) if options.markdown else _text(rows))
        for one in found:
            for wrong in one.shown:
                operands = " ".join(f"{bits:08x}" for bits in wrong.operands)
                emit(
                    STDOUT,
                    f"{one.operation} {operands}: expected {wrong.expected:08x}, "
                    f"got {wrong.got:08x}",
                )
            for first in one.unequal:
                last = first + sweep.RECORDED - 1
                emit(STDOUT, f"{one.operation} {first:08x} to {last:08x}: not MPFR's results")
    return 0 if all(one.passed for one in found) else 1
