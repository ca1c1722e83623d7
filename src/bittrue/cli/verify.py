"""`bittrue verify`: where a backend departs from the contract, bit by bit."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bittrue.cli.common import POLICIES, STDOUT, emit, emit_json
from bittrue.conformance import verify
from bittrue.conformance.runner import Progress
from bittrue.errors import RefusedValueError
from bittrue.providers import backend_names


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "verify", help="run every plan on a backend and compare its bits with the reference"
    )
    command.add_argument("backend", metavar="BACKEND", help=", ".join(backend_names()))
    command.add_argument("--against", default="generic", metavar="BACKEND")
    command.add_argument("--ops", nargs="+", metavar="OP", help="only these operations")
    command.add_argument("--cases", type=int, default=2000, metavar="N", help="results a plan")
    command.add_argument("--seed", type=int, default=0, metavar="S")
    command.add_argument("--policy", choices=POLICIES, default="default")
    command.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="count other NaN bits and another order of sums as departures "
        "(default: for the backends that promise bits)",
    )
    command.add_argument("--json", metavar="FILE", help="write the run as JSON (- for stdout)")
    command.add_argument("--html", metavar="FILE", help="write the run as one HTML page")
    command.set_defaults(execute=execute)


@contextlib.contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show a progress bar on a terminal; stay quiet in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - costs start-up, wanted on a terminal only
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def advance(done: int, total: int, plan: str) -> None:
            bar.update(task, completed=done, total=total, description=plan)

        yield advance


def execute(options: argparse.Namespace) -> int:
    """Verify, report, and return 1 if any case departs."""
    for path in (options.json, options.html):
        if path not in (None, STDOUT) and not Path(path).absolute().parent.is_dir():
            raise RefusedValueError("verify", f"no folder for {path!r}", "an existing folder")
    with _progress() as progress:
        found = verify(
            options.backend,
            against=options.against,
            policy=POLICIES[options.policy],
            operations=options.ops,
            cases=options.cases,
            seed=options.seed,
            strict=options.strict,
            progress=progress,
        )
    from bittrue.report import html, text  # noqa: PLC0415 - wanted once there is something to say

    if options.json is not None:
        emit_json(options.json, found.to_json())
    if options.html is not None:
        emit(options.html, html.render(found))
    if STDOUT not in (options.json, options.html):
        emit(STDOUT, text.render(found))
    return 1 if found.departures else 0
