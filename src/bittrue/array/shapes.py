"""Shapes of views: the checks and the moves that touch no element.

Belongs here: arrays in another shape or axis order, and the arguments that name them. Never here:
anything that computes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from bittrue._records import shown
from bittrue.diagnostics import DEVICE
from bittrue.errors import RefusedAxisError, RefusedTypeError, RefusedValueError
from bittrue.geometry import Shape
from bittrue.tensor.buffer import AnyArray


def check_device(device: object) -> None:
    """Raise `ValueError` for a device other than the host; None means the host."""
    if device is not None and device != DEVICE:
        raise RefusedValueError("device", shown(device), repr(DEVICE))


def integer(subject: str, value: object) -> int:
    """Return an integer argument; `TypeError` for anything else, a bool included."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RefusedTypeError(subject, f"got {shown(value)}", "an int")
    return operator.index(value)


def shape_of(subject: str, value: object) -> Shape:
    """Return a shape argument, an int or a sequence of them; `ValueError` if one is negative."""
    given = _integers(subject, value)
    if any(extent < 0 for extent in given):
        raise RefusedValueError(f"{subject}: shape", f"{given}", "extents of 0 or more")
    return given


def _integers(subject: str, value: object) -> tuple[int, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(integer(f"{subject}[{i}]", entry) for i, entry in enumerate(value))
    return (integer(subject, value),)


def axis_of(subject: str, value: object, rank: int) -> int:
    """Return an axis argument counted from the front; `ValueError` outside the rank."""
    axis = integer(f"{subject}: axis", value)
    if not -rank <= axis < rank:
        raise RefusedAxisError(
            f"{subject}: axis", f"{axis} for rank {rank}", f"one in [{-rank}, {rank})"
        )
    return axis % rank


def axes_of(subject: str, value: object, rank: int) -> tuple[int, ...]:
    """Return an argument of one axis or several; `ValueError` if one is named twice."""
    axes = tuple(axis_of(subject, axis, rank) for axis in _integers(subject, value))
    if len(set(axes)) != len(axes):
        raise RefusedValueError(f"{subject}: axis", f"{value} names an axis twice", "once")
    return axes


def require_rank(subject: str, shape: Shape, good: bool, accepted: str) -> None:  # noqa: FBT001
    """Raise `ValueError` naming the rank unless `good`."""
    if not good:
        raise RefusedValueError(subject, f"a tensor of rank {len(shape)}", f"rank {accepted}")


def reshaped(array: AnyArray, shape: object, *, copy: bool | None = None) -> AnyArray:
    """Return the elements in row-major order in another shape; see `Tensor.reshape`."""
    wanted = _integers("reshape", shape)
    known = math.prod(extent for extent in wanted if extent != -1)
    holes = wanted.count(-1)
    fits = min(wanted, default=0) >= -1 and (
        known == array.size if not holes else holes == 1 and known > 0 and array.size % known == 0
    )
    if not fits:
        raise RefusedValueError(
            "reshape", f"{wanted} for the shape {array.shape}", "a shape of as many elements"
        )
    moved = array.reshape(wanted)
    viewed = np.may_share_memory(moved, array) or not array.size
    if copy is False and not viewed:
        raise RefusedValueError(
            "reshape", f"no view of strides {array.strides} has the shape {wanted}", "copy=None"
        )
    return moved.copy() if copy and viewed else moved


def broadcast(array: AnyArray, shape: object) -> AnyArray:
    """Return a view with extents of 1 repeated; see `Tensor.broadcast_to`."""
    wanted = shape_of("broadcast_to", shape)
    try:
        return np.broadcast_to(array, wanted)
    except ValueError:
        raise RefusedValueError(
            "broadcast_to",
            f"the shape {array.shape} to {wanted}",
            "equal extents from the right, or 1",
        ) from None


def permuted(array: AnyArray, axes: object) -> AnyArray:
    """Return a view with its axes in another order; see `Tensor.permute_dims`."""
    order = axes_of("permute_dims", axes, array.ndim)
    if len(order) != array.ndim:
        raise RefusedValueError("permute_dims: axes", f"{axes}", f"each of {array.ndim} axes")
    return array.transpose(order)
