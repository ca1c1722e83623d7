"""`bittrue run`: execute one operation on files and numbers."""

from __future__ import annotations

import argparse
from typing import Any

from bittrue.array import run
from bittrue.cli.common import (
    POLICIES,
    STDOUT,
    attributes,
    check_output,
    dtype_named,
    emit,
    emit_json,
    json_value,
    number,
)
from bittrue.errors import RefusedTypeError
from bittrue.files import read_array, write_array


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("run", help="execute one operation on .npy files")
    command.add_argument("operation", metavar="OP")
    command.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="a .npy file, a number (a weak scalar), or a JSON list such as '[1.5, 2]'",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write the result as .npy")
    command.add_argument(
        "--attr", action="append", default=[], metavar="NAME=VALUE", help="an attribute: axis=0"
    )
    command.add_argument("--accumulator", metavar="DTYPE", help="accumulator of the sum")
    command.add_argument("--working", metavar="DTYPE", help="wider dtype of the terms of norm")
    command.add_argument("--backend", metavar="NAME", help="cpu, generic, numpy, ...")
    command.add_argument("--policy", choices=POLICIES, default="default")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(execute=execute)


def _operand(text: str) -> Any:
    value = number(text)
    if value is not None:
        return value
    if text.startswith("["):
        return json_value("operand", text, "a JSON list")
    return read_array(text)


_ARGUMENTS = {
    *("operation", "policy", "backend", "accumulator_dtype"),
    *("working_dtype", "scalar_overflow"),
}
"""Names that `run` takes by keyword beside the attributes."""


def execute(options: argparse.Namespace) -> int:
    """Run the operation and write or print its result."""
    if options.output is not None:
        check_output("-o", options.output)
    named = attributes(options.attr)
    for name in _ARGUMENTS & named.keys():
        raise RefusedTypeError(options.operation, f"unknown attribute {name!r}", "an attribute")
    result = run(
        options.operation,
        *map(_operand, options.operands),
        policy=POLICIES[options.policy],
        backend=options.backend,
        accumulator_dtype=dtype_named(options.accumulator),
        working_dtype=dtype_named(options.working),
        **named,
    )
    if options.output is not None:
        write_array(options.output, result.numpy())
    if options.json:
        # JSON has no NaN, no infinity and no signed zero: the bits say it all.
        emit_json(
            STDOUT,
            {
                "dtype": result.dtype.name,
                "shape": list(result.shape),
                "bits": result.buffer.elements(),
            },
        )
    elif options.output is None:
        emit(STDOUT, repr(result))
    return 0
