"""The command line: arguments, exit status, and nothing a library call could not do.

Exit status: 0 right, 1 a mismatch was found, 2 a usage or input error, told in one line; 128 and
the number of the signal for an interrupt and for a reader that left, as the shell has it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from bittrue import __version__
from bittrue.cli import convert, formats, plan, postprocess, run, sweep, verify
from bittrue.errors import BittrueError

RIGHT, MISMATCH, USAGE = 0, 1, 2
INTERRUPTED, READER_LEFT = 130, 141


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and leave with status 2."""
        self.exit(USAGE, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    top = _Parser(
        prog="bittrue",
        description="Say which dtype and which bits a tensor operation must produce, run it, and "
        "prove that a backend does the same.",
    )
    top.add_argument("--version", action="version", version=f"bittrue {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (verify, plan, run, formats, convert, postprocess, sweep):
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        options = parser().parse_args(arguments)
        status: int = options.execute(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more to say, and nothing to flush at exit.
        sys.stdout = None
        return READER_LEFT
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except (BittrueError, OSError) as error:
        _complain(f"error: {' '.join(str(error).split())}")
        return USAGE
    return status


def _complain(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"bittrue: {text}\n")
