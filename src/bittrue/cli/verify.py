"""`bittrue verify`: where a backend departs from the contract, bit by bit."""

from __future__ import annotations

import argparse
from typing import Any

from bittrue.cli.common import POLICIES, STDOUT, check_output, emit, emit_json
from bittrue.cli.progress import progress_bar
from bittrue.conformance import verify
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
        "(default: where both backends promise bits)",
    )
    command.add_argument("--json", metavar="FILE", help="write the run as JSON (- for stdout)")
    command.add_argument("--html", metavar="FILE", help="write the run as one HTML page")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Verify, report, and return 1 if any case departs."""
    for option, path in (("--json", options.json), ("--html", options.html)):
        if path not in (None, STDOUT):
            check_output(option, path)
    if options.json is not None and options.json == options.html:
        raise RefusedValueError("verify", f"--json and --html both name {options.json!r}", "two")
    with progress_bar() as progress:
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
