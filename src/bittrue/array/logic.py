"""Logic of Bool elements, and predicates of numbers that read bits alone.

Belongs here: what has no arithmetic, so no plan and no row: the connectives of Bool tensors,
whether all or any elements are true, and what kind of number an element is. Never here: a
comparison of two numbers; those are operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bittrue.dtypes import DType, component_of, is_complex
from bittrue.encoding import BINARY_FORMATS, component_format
from bittrue.errors import PromotionError
from bittrue.geometry import broadcast_shapes
from bittrue.scalars import scalar_value
from bittrue.tensor import Buffer
from bittrue.tensor.buffer import AnyArray

CONNECTIVES: Mapping[str, Callable[[AnyArray, AnyArray], AnyArray]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
"""Connective of two Bool tensors -> its function on their storage."""


def require_bool(subject: str, *operands: Buffer) -> None:
    """Raise `PromotionError`, a `TypeError`, unless every operand is Bool."""
    for position, operand in enumerate(operands):
        if operand.dtype is not DType.Bool:
            raise PromotionError(
                f"{subject}: operand {position}", f"has dtype {operand.dtype.name}", "Bool"
            )


def connected(connective: str, lhs: Buffer, rhs: Buffer) -> Buffer:
    """Return a connective of two Bool buffers that broadcast, in fresh storage."""
    require_bool(connective, lhs, rhs)
    broadcast_shapes(connective, (lhs.shape, rhs.shape))
    return _bools(CONNECTIVES[connective](lhs.array, rhs.array))


def negated(source: Buffer) -> Buffer:
    """Return the negation of a Bool buffer, in fresh storage."""
    require_bool("logical_not", source)
    return _bools(np.logical_not(source.array))


COMPARISONS: Mapping[str, tuple[Callable[[AnyArray, AnyArray], AnyArray], tuple[Any, ...]]] = {
    "eq": (np.equal, (DType.Int32, DType.Bool)),
    "ne": (np.not_equal, (DType.Int32, DType.Bool)),
    "lt": (np.less, (DType.Int32,)),
    "le": (np.less_equal, (DType.Int32,)),
}
"""Comparison -> its function on storage, and the dtypes that it compares although no row does.

Two tensors of one of these dtypes: nothing is converted and nothing computed.
"""


def is_compared(comparison: str, lhs: object, rhs: object) -> bool:
    """Tell whether `compared` takes operands of these dtypes."""
    return lhs is rhs and any(lhs is dtype for dtype in COMPARISONS[comparison][1])


def compared(comparison: str, lhs: Buffer, rhs: Buffer) -> Buffer:
    """Return a comparison of two Int32 or two Bool buffers that broadcast, in fresh storage."""
    broadcast_shapes(comparison, (lhs.shape, rhs.shape))
    return _bools(COMPARISONS[comparison][0](lhs.array, rhs.array))


def nonzero(source: Buffer) -> AnyArray:
    """Return which elements differ from zero; a NaN does."""
    if source.array.dtype.kind in "biufc":
        differs: AnyArray = source.array != 0
        return differs
    values = [scalar_value(bits, source.dtype) != 0 for bits in source.elements()]
    return np.array(values, np.bool_).reshape(source.shape)


def _bools(array: Any) -> Buffer:
    return Buffer(DType.Bool, np.asarray(array, np.bool_))


PREDICATES: Mapping[str, Callable[[AnyArray], AnyArray]] = {
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "signbit": np.signbit,
}
"""Predicate -> its function on storage that NumPy computes on."""


def predicate(name: str, source: Buffer) -> Buffer:
    """Return which elements a predicate holds for, from their bits.

    A complex number is finite if both parts are, infinite if one is, and NaN if one is. Raises
    `PromotionError` for Bool, and for the sign of what is not a real floating dtype.
    """
    real = not is_complex(source.dtype)
    floating = component_of(source.dtype) in BINARY_FORMATS
    if source.dtype is DType.Bool or (name == "signbit" and not (real and floating)):
        raise PromotionError(name, f"has dtype {source.dtype.name}", "a floating dtype")
    if source.array.dtype.kind in "ifc":
        return _bools(PREDICATES[name](source.array))
    fmt = component_format(source.dtype)
    answers = []
    for bits in source.elements():
        parts = (bits,) if real else fmt.parts(bits)
        answers.append(
            {
                "isfinite": all(map(fmt.is_finite, parts)),
                "isinf": any(map(fmt.is_infinite, parts)),
                "isnan": any(map(fmt.is_nan, parts)),
                "signbit": bool(parts[0] & fmt.sign),
            }[name]
        )
    return _bools(np.array(answers, np.bool_).reshape(source.shape))
