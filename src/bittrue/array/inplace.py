"""Writing into existing storage: which results and values a target takes.

Belongs here: the rules of tensor-promotion, *In-Place Arithmetic*. The target keeps its dtype and
its allocation; everything that can fail does so before an element is written. A result is computed
in storage of its own and then copied, so it is as if every operand had been read first, whatever
memory they share with the target. Never here: the dtype of a result, which is the policy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bittrue._records import shown
from bittrue.array.casting import cast
from bittrue.array.indexing import element_view, is_basic
from bittrue.array.logic import connected
from bittrue.array.products import product, product_shape
from bittrue.diagnostics import open_logs
from bittrue.dispatch import execute, prepare
from bittrue.dtypes import DType, SimpleDType, is_complex
from bittrue.errors import RefusedTypeError, RefusedValueError
from bittrue.geometry import Shape
from bittrue.policy import DEFAULT
from bittrue.providers import converted, default_backends
from bittrue.scalars import convert_scalar
from bittrue.tensor import Buffer
from bittrue.tensor.buffer import AnyArray


def check_writable(target: Buffer, subject: str) -> None:
    """Raise `ValueError` for storage that is read-only or whose elements share memory."""
    if not target.array.flags.writeable:
        raise RefusedValueError(
            subject, "its storage is read-only", "writable storage", "write into a copy"
        )
    if overlaps_itself(target.array):
        raise RefusedValueError(
            subject,
            f"elements share memory (strides {target.strides})",
            "storage in which each element has its own",
            "write into a copy",
        )


def overlaps_itself(array: AnyArray) -> bool:
    """Tell whether two elements of an array lie in the same memory."""
    if array.size < 2:
        return False
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    reach = array.itemsize
    for step, extent in steps:
        if step < reach:
            break
        reach = step * (extent - 1) + reach
    else:
        return False
    if steps[0][0] == 0:
        return True
    # A step inside the reach of narrower axes may still miss every element of theirs.
    axes = [step * np.arange(extent) for step, extent in steps]
    places = np.sort(sum(np.ix_(*axes)), axis=None)
    return bool((np.diff(places) < array.itemsize).any())


def _check_result(subject: str, target: Buffer, dtype: SimpleDType, shape: Shape) -> None:
    """Refuse a result of another dtype, or one that the target would have to grow for."""
    if dtype is not target.dtype:
        raise RefusedTypeError(
            subject,
            f"the result would be {dtype.name} in storage of {target.dtype.name}",
            f"a result of {target.dtype.name}",
            _advice(target.dtype, dtype),
        )
    if shape != target.shape:
        raise RefusedValueError(
            subject,
            f"the result would have the shape {shape} in storage of shape {target.shape}",
            "an operand that broadcasts to the target",
        )


def _advice(target: SimpleDType, result: SimpleDType) -> str:
    if narrows(result, target):
        return "to round the result, spell it x.assign(expression, narrow=True)"
    return "an in-place operation keeps the storage: bind the result to a new name"


def narrows(source: SimpleDType, target: SimpleDType) -> bool:
    """Tell whether `source` becomes `target` by rounding alone: both real floats or both complex.

    A real source is of one kind with a complex target too: its parts are the element and +0.
    """
    exact = (DType.Int32, DType.Bool)
    return source not in exact and target not in exact and is_complex(target) >= is_complex(source)


_MAX_WORK = 1 << 16
"""Candidates after which a search for common memory gives up and assumes some."""


def shares_memory(target: Buffer, operand: Buffer) -> bool:
    """Tell whether an operand other than the target itself lies in memory of the target."""
    a, b = target.array, operand.array
    same = a.ctypes.data == b.ctypes.data and a.strides == b.strides and a.shape == b.shape
    if same:
        return False
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def update(operation: str, target: Buffer, *operands: Any) -> None:
    """Compute an elementwise operation on `operands` and write its result into `target`.

    Raises `TypeError` where the result has another dtype than the target, `ValueError` where it has
    another shape and for a target that is read-only or shares memory with itself, and whatever
    the operation raises; then no element has changed.
    """
    subject = f"{operation} in place"
    call = prepare(operation, operands, {}, policy=DEFAULT)
    _check_result(subject, target, call.plan.output, call.geometry.shape)
    check_writable(target, subject)
    overlap = bool(open_logs()) and any(
        shares_memory(target, converted(operand)) for operand in call.operands
    )
    result = execute(call, default_backends(), in_place=True, overlap_copy=overlap)
    np.copyto(target.array, result.array)


def update_product(target: Buffer, rhs: Buffer) -> None:
    """Write ``target @ rhs`` into `target`; raises as `update` does."""
    subject = "matmul in place"
    dtype = DEFAULT.resolve("matmul", target.dtype, rhs.dtype).output
    _check_result(subject, target, dtype, product_shape(target.shape, rhs.shape))
    check_writable(target, subject)
    overlap = bool(open_logs()) and shares_memory(target, rhs)
    np.copyto(target.array, product(target, rhs, in_place=True, overlap_copy=overlap).array)


def connect(connective: str, target: Buffer, rhs: Buffer) -> None:
    """Write a connective of two Bool buffers into `target`; raises as `update` does."""
    subject = f"{connective} in place"
    result = connected(connective, target, rhs)
    _check_result(subject, target, result.dtype, result.shape)
    check_writable(target, subject)
    np.copyto(target.array, result.array)


def assign(
    target: Buffer, source: object, key: tuple[Any, ...] | None = None, *, narrow: bool = False
) -> None:
    """Write `source`, a buffer or a Python number, into the elements that `key` names.

    The dtype of the target must be the one that the two have together in `mul`; with `narrow` also
    one of less precision of the same kind. `source` broadcasts to the elements named. Raises as
    `update` does, and `IndexError` for a key that does not fit; then no element has changed.
    """
    subject = "assignment"
    check_writable(target, subject)
    taken = _taken(target.dtype, source, narrow=narrow)
    named = target.array if key is None else element_view(target, key)
    try:
        value = np.broadcast_to(taken.array, named.shape)
    except ValueError:
        raise RefusedValueError(
            subject,
            f"the shape {taken.shape}",
            f"one that broadcasts to {named.shape}",
        ) from None
    if key is None or is_basic(key):
        np.copyto(named, value)
        return
    # NumPy writes element by element here: what is read must not lie where is written.
    target.array[key] = value.copy() if np.may_share_memory(value, target.array) else value


def _taken(target: SimpleDType, source: object, *, narrow: bool) -> Buffer:
    """Return `source` in the dtype of the target, or refuse it."""
    subject = f"assignment to {target.name}"
    if not isinstance(source, Buffer):
        if target is DType.Bool:
            return Buffer.from_elements(target, (), [convert_scalar(source, target).bits])
        _check_together(subject, target, source, narrow=False)
        return Buffer.from_elements(target, (), [convert_scalar(source, target).bits])
    if source.dtype is target:
        return source
    if not (narrow and narrows(source.dtype, target)):
        _check_together(subject, target, source.dtype, narrow=narrow)
    return cast(source, target)


def _check_together(subject: str, target: SimpleDType, source: object, *, narrow: bool) -> None:
    """Refuse a source whose common dtype with the target is not the target's."""
    together = DEFAULT.resolve("mul", target, source).output
    if together is not target:
        came = source.name if isinstance(source, SimpleDType) else shown(source)
        advice = _advice(target, together)
        if narrow:
            advice = "narrowing rounds within one kind: take a part, or cast by name"
        raise RefusedTypeError(subject, f"got {came}, which needs {together.name}", "", advice)
