"""Functions of tensors that are more than one operation, or none.

Belongs here: products of any rank, and the moves that copy or view elements without computing. A
move keeps every bit, payloads of NaNs included. Never here: arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bittrue._records import shown
from bittrue.array import logic, products
from bittrue.array.casting import cast
from bittrue.array.creation import asarray
from bittrue.array.run import run
from bittrue.array.shapes import axes_of, axis_of, integer, require_rank
from bittrue.array.tensor import Tensor
from bittrue.dtypes import DType, SimpleDType, is_complex
from bittrue.errors import RangeError, RefusedTypeError, RefusedValueError
from bittrue.geometry import broadcast_shapes as common_shape
from bittrue.policy import DEFAULT
from bittrue.policy.weak import INT32_MAX
from bittrue.scalars import convert_scalar
from bittrue.tensor import Buffer, Stored
from bittrue.tensor.buffer import AnyArray


def tensor_of(subject: str, x: object) -> Tensor:
    """Return `x` if it is a tensor, else raise `TypeError`."""
    if isinstance(x, Tensor):
        return x
    raise RefusedTypeError(subject, f"got {shown(x)}", "a Tensor", "build one with asarray")


def _moved(x: Tensor, array: AnyArray) -> Tensor:
    return Tensor(Buffer(x.dtype, array))


# --- products -----------------------------------------------------------------------------------


def matmul(x1: Tensor, x2: Tensor, /, *, accumulator_dtype: SimpleDType | None = None) -> Tensor:
    """Return ``x1 @ x2``: matrices, stacks of them, or vectors, every contraction ascending.

    A 1-D operand is a row on the left and a column on the right; leading axes broadcast. Raises
    `ValueError` for shapes that do not fit, `TypeError` for dtypes without a row.
    """
    left, right = tensor_of("matmul", x1), tensor_of("matmul", x2)
    return Tensor(products.product(left.buffer, right.buffer, accumulator_dtype=accumulator_dtype))


def einsum(
    subscripts: str, /, *operands: Tensor, accumulator_dtype: SimpleDType | None = None
) -> Tensor:
    """Sum products over labels, as ``"ij,jk->ik"`` names them.

    One letter an axis; without ``->`` the result has the labels that stand once, in alphabetical
    order; a label that one operand has twice takes its diagonal. Operands combine pairwise from
    left to right, each pair as a batched `matmul` over the row-major product of its contracted
    labels, in the order of the left operand; labels of one operand alone that neither the result
    nor a later operand has are first summed by `reduce_sum`. Raises `ValueError` for subscripts
    that do not fit and for no operand, `TypeError` for dtypes without a row.
    """
    if not operands:
        raise RefusedValueError("einsum", "got no operand", "at least one")
    buffers = tuple(tensor_of("einsum", operand).buffer for operand in operands)
    return Tensor(products.einsum(subscripts, buffers, accumulator_dtype=accumulator_dtype))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the products of the conjugate of `x1` with `x2`, summed along `axis`, ascending.

    Shapes broadcast along the other axes. Raises `ValueError` for other extents along `axis`.
    """
    left, right = tensor_of("vecdot", x1), tensor_of("vecdot", x2)
    places = tuple(axis_of("vecdot", axis, x.ndim) for x in (left, right))
    a, b = (np.moveaxis(x.buffer.array, i, -1) for x, i in zip((left, right), places, strict=True))
    if a.shape[-1] != b.shape[-1]:
        raise RefusedValueError(
            "vecdot: shapes", f"{left.shape} and {right.shape}", "equal extents along the axis"
        )
    row, column = _moved(left, a[..., None, :]), _moved(right, b[..., :, None])
    return (conjugate(row) @ column)[..., 0, 0]


def conjugate(x: Tensor) -> Tensor:
    """Return the conjugate of a complex tensor, any other one itself."""
    return run("conj", x) if is_complex(x.dtype) else x


def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:
    """Contract the last `axes` axes of `x1` with the first of `x2`, or those that `axes` names.

    One `matmul` over the row-major product of the contracted axes, in the order named. Raises
    `ValueError` for extents or counts that differ.
    """
    left, right = tensor_of("tensordot", x1), tensor_of("tensordot", x2)
    if isinstance(axes, int):
        count = axes
        if not 0 <= count <= min(left.ndim, right.ndim):
            raise RefusedValueError("tensordot: axes", f"{axes}", "axes that both have")
        taken, matched = tuple(range(left.ndim - count, left.ndim)), tuple(range(count))
    else:
        taken = axes_of("tensordot", axes[0], left.ndim)
        matched = axes_of("tensordot", axes[1], right.ndim)
    inner = tuple(left.shape[i] for i in taken)
    if inner != tuple(right.shape[i] for i in matched):
        raise RefusedValueError(
            "tensordot: axes", f"extents of {left.shape} and {right.shape}", "equal extents"
        )
    rows = tuple(i for i in range(left.ndim) if i not in taken)
    columns = tuple(i for i in range(right.ndim) if i not in matched)
    outer = tuple(left.shape[i] for i in rows), tuple(right.shape[i] for i in columns)
    k = math.prod(inner)
    a = left.permute_dims((*rows, *taken)).reshape((math.prod(outer[0]), k))
    b = right.permute_dims((*matched, *columns)).reshape((k, math.prod(outer[1])))
    return (a @ b).reshape((*outer[0], *outer[1]))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Return a view with the last two axes exchanged; `ValueError` below rank 2."""
    return tensor_of("matrix_transpose", x).mT


# --- moves --------------------------------------------------------------------------------------


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Return views of the tensors with their common shape; `ValueError` where there is none."""
    shape = common_shape("broadcast_arrays", (x.shape for x in arrays))
    return tuple(x.broadcast_to(shape) for x in arrays)


def broadcast_to(x: Tensor, /, shape: int | Sequence[int]) -> Tensor:
    """Return a view in which extents of 1 are repeated; see `Tensor.broadcast_to`."""
    return tensor_of("broadcast_to", x).broadcast_to(shape)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of shapes aligned from the right; `ValueError` where none is."""
    return common_shape("broadcast_shapes", shapes)


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """Return a view with the axes in the order given; see `Tensor.permute_dims`."""
    return tensor_of("permute_dims", x).permute_dims(axes)


def reshape(x: Tensor, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Tensor:
    """Return the elements in row-major order with another shape; see `Tensor.reshape`."""
    return tensor_of("reshape", x).reshape(shape, copy=copy)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Join tensors of one dtype along `axis`; None flattens them first.

    Tensors of several dtypes are first cast to the one that `mul` gives them. Raises `ValueError`
    for shapes that differ elsewhere, `TypeError` for dtypes that no row joins.
    """
    joined = _of_one_dtype("concat", arrays)
    rank = joined[0].ndim
    require_rank("concat", (), axis is None or rank > 0, "1 or more")
    return _moved(
        joined[0],
        _joined(
            lambda parts: np.concatenate(
                parts, axis=None if axis is None else axis_of("concat", axis, rank)
            ),
            joined,
        ),
    )


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis; dtypes and errors as `concat`."""
    joined = _of_one_dtype("stack", arrays)
    place = axis_of("stack", axis, joined[0].ndim + 1)
    return _moved(joined[0], _joined(lambda parts: np.stack(parts, axis=place), joined))


def _joined(join: Any, tensors: Sequence[Tensor]) -> AnyArray:
    try:
        joined: AnyArray = join([x.buffer.array for x in tensors])
    except ValueError as error:
        raise RefusedValueError("join", str(error), "shapes that fit") from None
    return joined


def _of_one_dtype(subject: str, arrays: Sequence[Tensor]) -> list[Tensor]:
    tensors = [tensor_of(subject, x) for x in arrays]
    if not tensors:
        raise RefusedValueError(subject, "got no tensor", "at least one")
    dtype = result_type(*tensors)
    return [x if x.dtype is dtype else Tensor(cast(x.buffer, dtype)) for x in tensors]


def expand_dims(x: Tensor, /, axis: int | Sequence[int] = 0) -> Tensor:
    """Return a view with axes of extent 1 at the places that `axis` names in the result."""
    array = tensor_of("expand_dims", x).buffer.array
    added = 1 if isinstance(axis, int) else len(axis)
    axes = axes_of("expand_dims", axis, array.ndim + added)
    return _moved(x, np.expand_dims(array, axes))


def squeeze(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """Return a view without the axes named; `ValueError` unless their extents are 1."""
    array = tensor_of("squeeze", x).buffer.array
    axes = axes_of("squeeze", axis, array.ndim)
    if any(array.shape[i] != 1 for i in axes):
        raise RefusedValueError("squeeze", f"axes {axes} of {array.shape}", "extents of 1")
    return _moved(x, np.squeeze(array, axes))


def flip(x: Tensor, /, *, axis: int | Sequence[int] | None = None) -> Tensor:
    """Return a view with the order reversed along `axis`; None means every axis."""
    array = tensor_of("flip", x).buffer.array
    axes = range(array.ndim) if axis is None else axes_of("flip", axis, array.ndim)
    return _moved(x, np.flip(array, tuple(axes)))


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> Tensor:
    """Return a view with the axes at `source` moved to `destination`, the others in order."""
    array = tensor_of("moveaxis", x).buffer.array
    taken = axes_of("moveaxis", source, array.ndim)
    places = axes_of("moveaxis", destination, array.ndim)
    if len(taken) != len(places):
        raise RefusedValueError("moveaxis", f"{source} to {destination}", "as many of each")
    return _moved(x, np.moveaxis(array, taken, places))


def roll(
    x: Tensor, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None
) -> Tensor:
    """Return the elements moved cyclically along `axis`; None rolls the flattened tensor."""
    array = tensor_of("roll", x).buffer.array
    if axis is None:
        return _moved(x, np.roll(array, integer("roll: shift", shift)))
    shifts = (shift,) if isinstance(shift, int) else tuple(shift)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    checked = tuple(axis_of("roll", a, array.ndim) for a in axes)
    if len(shifts) != len(checked):
        raise RefusedValueError("roll", f"{len(shifts)} shifts, {len(axes)} axes", "as many")
    return _moved(x, np.roll(array, shifts, checked))


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Return the tensor repeated as a whole along each axis, aligned from the right."""
    array = tensor_of("tile", x).buffer.array
    return _moved(x, np.tile(array, tuple(integer("tile", n) for n in repetitions)))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return each element repeated along `axis`; None means in the flattened tensor."""
    array = tensor_of("repeat", x).buffer.array
    counts = repeats.buffer.array if isinstance(repeats, Tensor) else integer("repeat", repeats)
    place = None if axis is None else axis_of("repeat", axis, array.ndim)
    return _moved(x, np.repeat(array, counts, place))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the views along `axis`, which does not stay."""
    array = np.moveaxis(tensor_of("unstack", x).buffer.array, axis_of("unstack", axis, x.ndim), 0)
    return tuple(_moved(x, array[i, ...]) for i in range(array.shape[0]))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return a copy with +0 above the `k`-th diagonal of each matrix."""
    array = tensor_of("tril", x).buffer.array
    require_rank("tril", x.shape, array.ndim >= 2, "2 or more")
    return _moved(x, np.tril(array, integer("tril: k", k)))


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return a copy with +0 below the `k`-th diagonal of each matrix."""
    array = tensor_of("triu", x).buffer.array
    require_rank("triu", x.shape, array.ndim >= 2, "2 or more")
    return _moved(x, np.triu(array, integer("triu: k", k)))


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, from one 1-D tensor an axis; copies."""
    if indexing not in ("xy", "ij"):
        raise RefusedValueError("meshgrid: indexing", repr(indexing), "'xy' or 'ij'")
    if not arrays:
        return ()
    tensors = _of_one_dtype("meshgrid", arrays)
    grids = np.meshgrid(*(x.buffer.array for x in tensors), indexing=indexing)  # type: ignore[call-overload]
    return tuple(_moved(tensors[0], grid) for grid in grids)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at Int32 `indices` along `axis`; a negative one counts from the end.

    Raises `IndexError` outside the axis, `ValueError` where a tensor of several axes names none.
    """
    place = _the_axis("take", x, axis)
    return x[(*(slice(None),) * place, indices)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return elements of `x` along `axis`, at Int32 `indices` that broadcast with it elsewhere.

    A negative index counts from the end. Raises `IndexError` outside the axis, `ValueError` for
    another rank and for shapes that do not broadcast.
    """
    source, picked = tensor_of("take_along_axis", x), tensor_of("take_along_axis", indices)
    place = axis_of("take_along_axis", axis, source.ndim)
    if picked.ndim != source.ndim:
        raise RefusedValueError(
            "take_along_axis: ranks", f"{source.ndim} and {picked.ndim}", "equal ranks"
        )
    kept = [list(t.shape) for t in (source, picked)]
    extent, count = (shape.pop(place) for shape in kept)
    common = list(common_shape("take_along_axis", map(tuple, kept)))
    wide = source.broadcast_to([*common[:place], extent, *common[place:]])
    key = picked.broadcast_to([*common[:place], count, *common[place:]])
    grid = np.ogrid[tuple(slice(n) for n in key.shape)]
    steps = (asarray(step, DType.Int32) for step in grid)
    return wide[tuple(key if i == place else step for i, step in enumerate(steps))]


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of neighbours along `axis`, `n` times; the operation `sub`.

    `prepend` and `append` are joined to `x` along the axis first. Raises as `sub` and `concat` do,
    and `ValueError` for a negative `n`.
    """
    parts = [part for part in (prepend, x, append) if part is not None]
    result = concat(parts, axis=axis) if len(parts) > 1 else tensor_of("diff", x)
    place = axis_of("diff", axis, result.ndim)
    if integer("diff: n", n) < 0:
        raise RefusedValueError("diff: n", f"{n}", "0 or more")
    before = (slice(None),) * place
    for _ in range(n):
        result = result[(*before, slice(1, None))] - result[(*before, slice(None, -1))]
    return result


def _the_axis(subject: str, x: Tensor, axis: int | None) -> int:
    if axis is None:
        require_rank(f"{subject}: axis", x.shape, x.ndim == 1, "1, or name an axis")
        return 0
    return axis_of(subject, axis, tensor_of(subject, x).ndim)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Return the elements of `x1` where `condition` is true, else those of `x2`.

    Both are cast to the dtype that `mul` gives them, and their bits are moved: no row computes
    anything here. Python numbers are weak. Raises `TypeError` for a condition that is not Bool and
    for dtypes that no row joins, `ValueError` for shapes that do not broadcast.
    """
    mask = tensor_of("where", condition).buffer
    logic.require_bool("where", mask)
    dtype = result_type(x1, x2)
    parts = [
        cast(x.buffer, dtype) if isinstance(x, Tensor) and x.dtype is not dtype
        else x.buffer if isinstance(x, Tensor)
        else Buffer.from_elements(dtype, (), [convert_scalar(x, dtype).bits])
        for x in (x1, x2)
    ]  # fmt: skip
    shape = common_shape("where", (mask.shape, *(part.shape for part in parts)))
    first, second = (np.broadcast_to(part.array, shape) for part in parts)
    chosen = second.copy()
    np.copyto(chosen, first, where=np.broadcast_to(mask.array, shape))
    return Tensor(Buffer(dtype, chosen))


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the Int32 positions of the elements other than zero, one tensor an axis.

    In row-major order; a NaN is no zero. Raises `ValueError` for rank 0.
    """
    array = logic.nonzero(tensor_of("nonzero", x).buffer)
    require_rank("nonzero", x.shape, array.ndim > 0, "1 or more")
    return tuple(_positions(places) for places in np.nonzero(array))


def count_nonzero(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """Return the Int32 counts of elements other than zero over `axis`; a NaN is no zero."""
    array = logic.nonzero(tensor_of("count_nonzero", x).buffer)
    axes = None if axis is None else axes_of("count_nonzero", axis, array.ndim)
    return _positions(np.asarray(np.count_nonzero(array, axis=axes, keepdims=keepdims)))


def _positions(array: AnyArray) -> Tensor:
    if array.size and array.max() > INT32_MAX:
        raise RangeError("positions", f"{array.max()}", f"at most {INT32_MAX}, to fit Int32")
    return Tensor(Buffer(DType.Int32, np.asarray(array, np.int32)))


def all_(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """Return whether every element over `axis` differs from zero; true where there is none."""
    array = logic.nonzero(tensor_of("all", x).buffer)
    axes = None if axis is None else axes_of("all", axis, array.ndim)
    return Tensor(Buffer(DType.Bool, np.asarray(array.all(axis=axes, keepdims=keepdims))))


def any_(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """Return whether any element over `axis` differs from zero; false where there is none."""
    array = logic.nonzero(tensor_of("any", x).buffer)
    axes = None if axis is None else axes_of("any", axis, array.ndim)
    return Tensor(Buffer(DType.Bool, np.asarray(array.any(axis=axes, keepdims=keepdims))))


def result_type(*arrays_and_dtypes: Any) -> SimpleDType:
    """Return the dtype that `mul` gives tensors, dtypes and Python numbers together.

    Raises `TypeError` where no row joins them, and for Python numbers alone.
    """
    given = [x.buffer.dtype if isinstance(x, Stored) else x for x in arrays_and_dtypes]
    dtypes = [x for x in given if isinstance(x, SimpleDType)]
    if not dtypes:
        raise RefusedTypeError("result_type", "got no tensor and no dtype", "at least one")
    found = dtypes[0]
    for dtype in dtypes[1:]:
        if dtype is not found:
            found = DEFAULT.resolve("mul", found, dtype).output
    for value in given:
        if isinstance(value, bool) and found is DType.Bool:
            continue
        if not isinstance(value, SimpleDType):
            found = DEFAULT.resolve("mul", found, value).output
    return found
