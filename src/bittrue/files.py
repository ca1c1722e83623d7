"""Files: reading arrays without trust, writing whole files or none.

Never here: formats of numbers. A file is written under a temporary name beside its destination and
renamed, so a full disk or an interrupt leaves no half-written file. Nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import tokenize
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from bittrue.errors import RefusedValueError

_UNREADABLE = (
    *(ValueError, EOFError, SyntaxError, TypeError, OverflowError, RecursionError),
    *(MemoryError, tokenize.TokenError, zipfile.BadZipFile),
)
"""What NumPy raises for a file that is damaged, claims too much, or is no `.npy` file."""


def read_array(path: str) -> npt.NDArray[Any]:
    """Read a `.npy` file.

    Raises `OSError` where it cannot be read and `ValueError` for a file that is no `.npy` file,
    is truncated, or holds Python objects.
    """
    try:
        with Path(path).open("rb") as file, warnings.catch_warnings():
            # A header of Python 2 is read all the same.
            warnings.simplefilter("ignore")
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                loaded.close()
    except _UNREADABLE as error:
        text = str(error).splitlines() or [""]
        raise RefusedValueError(path, f"not readable as .npy: {text[0]}", "a .npy array") from None
    if not isinstance(loaded, np.ndarray):
        raise RefusedValueError(path, "an archive of several arrays", "a .npy array")
    return loaded


def write_whole(path: str, write: Callable[[BinaryIO], object]) -> None:
    """Call `write` on a temporary file and rename it to `path`; on any failure nothing is left.

    A link stays one: the file it names is replaced. What is no file, a device or a pipe, is
    written to.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            write(file)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        # mkstemp files are private; a result gets the mode that an ordinary new file has.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def write_array(path: str, array: npt.NDArray[Any]) -> None:
    """Write a `.npy` file, whole or not at all."""
    # Through memory: NumPy writes to a file by its descriptor, and so to no pipe.
    stored = io.BytesIO()
    np.save(stored, array, allow_pickle=False)
    write_whole(path, lambda file: file.write(stored.getbuffer()))


def write_text(path: str, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))
