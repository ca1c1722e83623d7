"""Checks shared by the frozen records.

Belongs here: how a record refuses a field of a wrong type. Never here: what a field means. Records
are standard frozen dataclasses; a frozen dataclass raises `AttributeError` on assignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

T = TypeVar("T")


def type_name(value: object) -> str:
    """Name the type of `value` for an error text."""
    return type(value).__name__


SHOWN_TYPES: set[type] = {bool, int, float, complex, str, bytes, type(None), Fraction, Decimal}
"""Types whose repr an error text may hold; dtype descriptors add themselves."""


def shown(value: object) -> str:
    """Name the type of `value` and, where that is harmless, the value.

    The repr of anything else might read tensor elements, or fail: planning must do neither.
    """
    if type(value) in SHOWN_TYPES:
        return f"{type_name(value)} ({spelled(value)})"
    return type_name(value)


def spelled(value: object) -> str:
    """Return the repr of a plain value, an integer too long to print by its length.

    Python refuses to print an integer of more than some thousand digits, alone or inside a tuple.
    """
    try:
        return repr(value)
    except ValueError:
        if isinstance(value, int):
            return f"{'-' if value < 0 else ''}an integer of {value.bit_length()} bits"
        return f"a {type_name(value)} of too many digits to print"


def require(record: object, field: str, value: object, kind: type[T]) -> T:
    """Return `value` if it is a `kind`, else raise `TypeError` naming record and field.

    A bool is refused where an int is wanted: it is never meant there.
    """
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    msg = f"{type(record).__name__}.{field}: got {shown(value)}; expected {kind.__name__}"
    raise TypeError(msg)


def require_items(record: object, field: str, value: object, kind: type[T]) -> tuple[T, ...]:
    """Return the items of the sequence `value` as a tuple, each checked to be a `kind`.

    Any sequence is taken where a tuple is named; text is not a sequence of anything here.
    """
    if type(value) is tuple and all(type(item) is kind for item in value):
        return value  # as nearly every call passes it: the tables are thousands of records
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        msg = (
            f"{type(record).__name__}.{field}: got {shown(value)}; "
            f"expected a sequence of {kind.__name__}"
        )
        raise TypeError(msg)
    return tuple(require(record, f"{field}[{i}]", item, kind) for i, item in enumerate(value))


def put(record: object, field: str, value: Any) -> None:
    """Set a field of a frozen record from within its own construction."""
    object.__setattr__(record, field, value)
