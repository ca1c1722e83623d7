"""What the commands share: naming dtypes, policies and files on the command line."""

from __future__ import annotations

import json
import sys
from typing import Any, cast

from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import RefusedValueError
from bittrue.files import write_text
from bittrue.policy import DEFAULT, SIMPLE, Policy

POLICIES: dict[str, Policy] = {"default": DEFAULT, "simple": SIMPLE}

STDOUT = "-"


def accumulator(name: str | None) -> SimpleDType | None:
    """Find the accumulator dtype of a name; planning refuses a descriptor of another kind."""
    return None if name is None else cast("SimpleDType", DType.from_name(name))


def emit(path: str, text: str) -> None:
    """Write text to a file, whole or not at all, or to standard output for ``-``."""
    if path == STDOUT:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        write_text(path, text)


def emit_json(path: str, data: object) -> None:
    """Write plain data as JSON."""
    emit(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def number(text: str) -> Any:
    """Read a Python number or bool, None if `text` is none."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def attributes(pairs: list[str]) -> dict[str, Any]:
    """Read ``name=value`` attributes; a value is JSON, and a list in it a tuple."""
    read = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise RefusedValueError("--attr", repr(pair), "name=value, for example axis=0")
        try:
            read[name] = _tuples(json.loads(value))
        except json.JSONDecodeError:
            raise RefusedValueError(
                f"--attr {name}", repr(value), "JSON: a number, true, false, null or a list"
            ) from None
    return read


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
