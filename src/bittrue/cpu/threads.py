"""How many threads a call uses."""

from __future__ import annotations

import os

from bittrue._records import shown
from bittrue.errors import RefusedTypeError, RefusedValueError


def thread_count(threads: int | None = None) -> int:
    """Return how many threads to use: the argument, else BITTRUE_THREADS, else every core.

    Raises `ValueError` for a count below 1 and `TypeError` for one that is no int.
    """
    if threads is None:
        given = os.environ.get("BITTRUE_THREADS", "")
        if not given:
            if hasattr(os, "sched_getaffinity"):
                return len(os.sched_getaffinity(0))
            return os.cpu_count() or 1
        if not given.isdecimal() or int(given) < 1:
            raise RefusedValueError("BITTRUE_THREADS", repr(given), "an integer of at least 1")
        return int(given)
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise RefusedTypeError("threads", f"got {shown(threads)}", "an int")
    if threads < 1:
        raise RefusedValueError("threads", f"{threads}", "at least 1")
    return threads
