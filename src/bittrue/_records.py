"""Checks shared by the frozen records.

Belongs here: how a record refuses a field of a wrong type. Never here: what a field means. Records
are standard frozen dataclasses; a frozen dataclass raises `AttributeError` on assignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def type_name(value: object) -> str:
    """Name the type of `value` for an error text."""
    return type(value).__name__


def require(record: object, field: str, value: object, kind: type[T]) -> T:
    """Return `value` if it is a `kind`, else raise `TypeError` naming record and field.

    A bool is refused where an int is wanted: it is never meant there.
    """
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    msg = (
        f"{type(record).__name__}.{field}: got {type_name(value)} ({value!r}); "
        f"expected {kind.__name__}"
    )
    raise TypeError(msg)


def require_items(record: object, field: str, value: object, kind: type[T]) -> tuple[T, ...]:
    """Return the items of the sequence `value` as a tuple, each checked to be a `kind`.

    Any sequence is taken where a tuple is named; text is not a sequence of anything here.
    """
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        msg = (
            f"{type(record).__name__}.{field}: got {type_name(value)} ({value!r}); "
            f"expected a sequence of {kind.__name__}"
        )
        raise TypeError(msg)
    return tuple(require(record, f"{field}[{i}]", item, kind) for i, item in enumerate(value))


def put(record: object, field: str, value: Any) -> None:
    """Set a field of a frozen record from within its own construction."""
    object.__setattr__(record, field, value)
