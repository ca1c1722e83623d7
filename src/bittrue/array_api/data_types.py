"""Data types: what they are, which they become together, and conversion by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bittrue._records import shown
from bittrue.array.forms import result_type, tensor_of
from bittrue.array.shapes import check_device
from bittrue.array.tensor import Tensor
from bittrue.dtypes import DType, SimpleDType, component_of, is_complex
from bittrue.encoding import BINARY_FORMATS
from bittrue.errors import PromotionError, RefusedTypeError, RefusedValueError, UnsupportedError
from bittrue.policy.weak import INT32_MAX, INT32_MIN

KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # kind               the basic kinds that it holds
    ("bool",             ("bool",)),
    ("signed integer",   ("signed integer",)),
    ("unsigned integer", ()),
    ("real floating",    ("real floating",)),
    ("complex floating", ("complex floating",)),
    ("integral",         ("signed integer",)),
    ("numeric",          ("signed integer", "real floating", "complex floating")),
)  # fmt: skip
"""Kinds of dtypes by the names of the Array API."""


def kind_of(dtype: SimpleDType) -> str:
    """Return the basic kind of a dtype that tensors hold."""
    if dtype is DType.Bool:
        return "bool"
    if dtype is DType.Int32:
        return "signed integer"
    return "complex floating" if is_complex(dtype) else "real floating"


def isdtype(dtype: SimpleDType, kind: SimpleDType | str | tuple[SimpleDType | str, ...]) -> bool:
    """Tell whether a dtype is `kind`, belongs to it, or to one of a tuple of them.

    Raises `ValueError` for a name that is no kind, `TypeError` for another object.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, SimpleDType):
        return dtype is kind
    if not isinstance(kind, str):
        raise RefusedTypeError("isdtype: kind", f"got {shown(kind)}", "a dtype, a name or a tuple")
    members = dict(KINDS)
    if kind not in members:
        raise RefusedValueError("isdtype: kind", repr(kind), ", ".join(members))
    return kind_of(dtype) in members[kind]


def astype(
    x: Tensor, dtype: SimpleDType, /, *, copy: bool = True, device: str | None = None
) -> Tensor:
    """Return the elements in `dtype`, each rounded once; see `Tensor.astype`.

    Floating to Int32 drops fractions, as the Array API has it: the name asks for it.
    """
    check_device(device)
    tensor = tensor_of("astype", x)
    return tensor.astype(dtype, copy=copy, truncate=True)


def can_cast(from_: SimpleDType | Tensor, to: SimpleDType, /) -> bool:
    """Tell whether the dtype of `from_` becomes `to` by promotion: their common dtype is `to`."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    if source is to:
        return True
    try:
        return result_type(source, to) is to
    except (PromotionError, UnsupportedError):
        return False


@dataclass(frozen=True)
class finfo_object:
    """Limits of a floating dtype; of a complex one, those of its components."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: SimpleDType


@dataclass(frozen=True)
class iinfo_object:
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: SimpleDType


def finfo(type: SimpleDType | Tensor, /) -> finfo_object:
    """Return the limits of a floating dtype; `TypeError` for another one.

    Of the extended pair, whose limits no Python float holds, `NotImplementedError`.
    """
    dtype = type.dtype if isinstance(type, Tensor) else type
    component = component_of(dtype) if isinstance(dtype, SimpleDType) else None
    fmt = None if component is None else BINARY_FORMATS.get(component)
    if fmt is None or component is None:
        raise RefusedTypeError("finfo", f"got {shown(dtype)}", "a floating dtype")
    if component.bits > 64:
        raise UnsupportedError("finfo", f"limits of {component.name} are no floats", "float64")
    largest = (2.0 - 2.0**-fmt.fraction_bits) * 2.0**fmt.bias
    return finfo_object(
        component.bits, 2.0**-fmt.fraction_bits, largest, -largest, 2.0**fmt.emin, component
    )


def iinfo(type: SimpleDType | Tensor, /) -> iinfo_object:
    """Return the limits of Int32; `TypeError` for a dtype that is no integer."""
    dtype = type.dtype if isinstance(type, Tensor) else type
    if dtype is not DType.Int32:
        raise RefusedTypeError("iinfo", f"got {shown(dtype)}", "Int32")
    return iinfo_object(32, INT32_MAX, INT32_MIN, dtype)


def kinds_of(kind: Any) -> tuple[str, ...]:
    """Return the basic kinds that a kind, a tuple of kinds or None (every one) holds."""
    members = dict(KINDS)
    if kind is None:
        return tuple(dict.fromkeys(basic for held in members.values() for basic in held))
    names = kind if isinstance(kind, tuple) else (kind,)
    for name in names:
        if name not in members:
            raise RefusedValueError("dtypes: kind", repr(name), ", ".join(members))
    return tuple(basic for name in names for basic in members[name])
