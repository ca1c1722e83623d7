"""What the commands share: naming dtypes, policies and files on the command line."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import RefusedValueError
from bittrue.files import write_text
from bittrue.policy import DEFAULT, REAL_COMPLEX, SIMPLE, SIMPLE_SCALARS, Policy

POLICIES: dict[str, Policy] = {
    "default": DEFAULT,
    **{policy.name: policy for policy in (SIMPLE, REAL_COMPLEX, SIMPLE_SCALARS)},
}

STDOUT = "-"


def dtype_named(name: str | None) -> SimpleDType | None:
    """Find the dtype of a name; planning refuses a descriptor of another kind."""
    return None if name is None else cast("SimpleDType", DType.from_name(name))


def emit(path: str, text: str) -> None:
    """Write text to a file, whole or not at all, or to standard output for ``-``."""
    if path == STDOUT:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        write_text(path, text)


def emit_json(path: str, data: object) -> None:
    """Write plain data as JSON."""
    emit(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def check_output(option: str, path: str) -> None:
    """Refuse a path that no file can be written to, before the work rather than after it."""
    if Path(path).is_dir():
        raise RefusedValueError(option, f"{path!r} is a folder", "a file")
    if not Path(path).absolute().parent.is_dir():
        raise RefusedValueError(option, f"no folder for {path!r}", "an existing folder")


def number(text: str) -> Any:
    """Read a Python number (complex too: ``1+2j``) or bool, None if `text` is none."""
    if text in ("True", "False"):
        return text == "True"
    if text.lstrip("+-").isdecimal():
        # Never through float: an integer too long to read must not become an infinity.
        return whole_number(text)
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def whole_number(text: str) -> int:
    """Read an integer; Python reads no more than some thousand digits."""
    try:
        return int(text)
    except ValueError:
        raise RefusedValueError(
            "number", f"{text[:12]}... of {len(text)} characters", "an integer Python reads"
        ) from None


def json_value(subject: str, text: str, accepted: str) -> Any:
    """Read a JSON value, or refuse it in one line."""
    try:
        return json.loads(text, parse_int=whole_number)
    except json.JSONDecodeError:
        raise RefusedValueError(subject, repr(text), accepted) from None
    except RecursionError:
        raise RefusedValueError(subject, "a list nested too deep", accepted) from None


def attributes(pairs: list[str]) -> dict[str, Any]:
    """Read ``name=value`` attributes; a value is JSON, and a list in it a tuple."""
    read = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise RefusedValueError("--attr", repr(pair), "name=value, for example axis=0")
        if name in read:
            raise RefusedValueError("--attr", f"{name!r} was given twice", "once")
        accepted = "JSON: a number, true, false, null or a list"
        read[name] = _tuples(json_value(f"--attr {name}", value, accepted))
    return read


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
