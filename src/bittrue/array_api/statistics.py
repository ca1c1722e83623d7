"""Reductions and sorting under the names of the Array API."""

from __future__ import annotations

from bittrue.array.creation import zeros
from bittrue.array.forms import all_, any_, concat, tensor_of
from bittrue.array.shapes import require_rank
from bittrue.array.tensor import Axis, Tensor
from bittrue.dtypes import SimpleDType
from bittrue.functions import sort as _sorted


def _in(x: Tensor, dtype: SimpleDType | None, subject: str) -> Tensor:
    tensor = tensor_of(subject, x)
    return tensor if dtype is None else tensor.astype(dtype, copy=False)


def sum(
    x: Tensor, /, *, axis: Axis = None, dtype: SimpleDType | None = None, keepdims: bool = False
) -> Tensor:
    """Return sums over `axis`, of the elements cast to `dtype` first; see `Tensor.sum`."""
    return _in(x, dtype, "sum").sum(axis, keepdims=keepdims)


def prod(
    x: Tensor, /, *, axis: Axis = None, dtype: SimpleDType | None = None, keepdims: bool = False
) -> Tensor:
    """Return products over `axis`, of the elements cast to `dtype` first; see `Tensor.prod`."""
    return _in(x, dtype, "prod").prod(axis, keepdims=keepdims)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return means over `axis`; see `Tensor.mean`."""
    return tensor_of("mean", x).mean(axis, keepdims=keepdims)


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest element over `axis`; see `Tensor.max`."""
    return tensor_of("max", x).max(axis, keepdims=keepdims)


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element over `axis`; see `Tensor.min`."""
    return tensor_of("min", x).min(axis, keepdims=keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the Int32 position of the first largest element; see `Tensor.argmax`."""
    return tensor_of("argmax", x).argmax(axis, keepdims=keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the Int32 position of the first smallest element; see `Tensor.argmin`."""
    return tensor_of("argmin", x).argmin(axis, keepdims=keepdims)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: SimpleDType | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return running sums along `axis`, after +0 with `include_initial`; see `Tensor.cumsum`."""
    tensor = _in(x, dtype, "cumulative_sum")
    require_rank("cumulative_sum", tensor.shape, tensor.ndim > 0, "1 or more")
    sums = tensor.cumsum(axis)
    if not include_initial:
        return sums
    place = 0 if axis is None else axis
    shape = list(sums.shape)
    shape[place] = 1
    return concat([zeros(shape, dtype=sums.dtype), sums], axis=place)


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether every element over `axis` differs from zero; true where there is none."""
    return all_(x, axis=axis, keepdims=keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether any element over `axis` differs from zero; false where there is none."""
    return any_(x, axis=axis, keepdims=keepdims)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return Float32 elements sorted along `axis`; always stable. See `bittrue.sort`."""
    del stable
    return _sorted(tensor_of("sort", x), axis, descending=descending).values


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Return the Int32 positions that sort along `axis`; always stable. See `bittrue.sort`."""
    del stable
    return _sorted(tensor_of("argsort", x), axis, descending=descending).indices
