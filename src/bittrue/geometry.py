"""Shapes and attributes: what a call computes, decided before anything is allocated.

Belongs here: reading the forward arguments of each operation, every check of attributes and
shapes, and the result shape. Never here: dtypes (`policy`), elements (the backends). All backends
receive the same checked `Geometry`, so all refuse alike.

Theory. Each operation belongs to one family; a family has one record of checked attributes. Axes
are stored non-negative. Logical order is row-major, the last axis fastest.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bittrue._records import shown, spelled
from bittrue.errors import RangeError, RefusedAxisError, RefusedTypeError, RefusedValueError
from bittrue.policy.weak import INT32_MAX

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Result shape of an elementwise operation; base of the other families."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Reduction(Geometry):
    """Reduced axes (ascending) of one tensor and whether they stay with extent 1."""

    axes: tuple[int, ...]
    keepdims: bool


@dataclass(frozen=True, slots=True)
class Scan(Geometry):
    """The axis along which a scan runs."""

    axis: int


@dataclass(frozen=True, slots=True)
class Contraction(Geometry):
    """Extents of ``[n, k] @ [k, m]``."""

    n: int
    k: int
    m: int


@dataclass(frozen=True, slots=True)
class InnerProduct(Geometry):
    """Extent of ``[k] . [k]``; the result has rank 0."""

    k: int


@dataclass(frozen=True, slots=True)
class Convolution(Geometry):
    """A grouped cross-correlation. Dims list the axis of each role: batch, feature, spatial..."""

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    kernel_dilation: tuple[int, ...]
    feature_groups: int
    lhs_dims: tuple[int, ...]
    kernel_dims: tuple[int, ...]
    output_dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Indexing(Geometry):
    """The indexed axis and its extent."""

    axis: int
    extent: int


@dataclass(frozen=True, slots=True)
class Ordering(Geometry):
    """A sort along an axis of which the first `count` positions are kept."""

    axis: int
    descending: bool
    count: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operation; without a default it is required."""

    name: str
    default: Any = ...


AXIS = Attribute("axis")
REDUCTION = (Attribute("axis", None), Attribute("keepdims", default=False))
CONVOLUTION = (
    Attribute("strides"),
    Attribute("padding"),
    Attribute("lhs_dilation", None),
    Attribute("kernel_dilation", None),
    Attribute("feature_groups", 1),
    Attribute("lhs_dims", None),
    Attribute("kernel_dims", None),
    Attribute("output_dims", None),
)
SORT = (Attribute("axis", -1), Attribute("descending", default=False))
TOPK = (Attribute("k"), Attribute("axis", -1), Attribute("largest", default=True))

Shapes = tuple[Shape, ...]
Checker = Callable[[str, Shapes, Mapping[str, Any]], Geometry]


# --- argument checks ----------------------------------------------------------------------------


def _integer(operation: str, name: str, value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RefusedTypeError(f"{operation}: {name}", f"got {shown(value)}", "an int")
    try:
        return operator.index(value)
    except TypeError:  # an array has __index__ and means it only for one integer
        raise RefusedTypeError(f"{operation}: {name}", f"got {shown(value)}", "an int") from None


def _flag(operation: str, name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise RefusedTypeError(f"{operation}: {name}", f"got {shown(value)}", "a bool")
    return value


def _axis(operation: str, value: object, rank: int) -> int:
    axis = _integer(operation, "axis", value)
    if not -rank <= axis < rank:
        raise RefusedAxisError(
            f"{operation}: axis",
            f"{spelled(axis)} for a tensor of rank {rank}",
            f"one in [{-rank}, {rank})",
        )
    return axis % rank


def _sequence(operation: str, name: str, value: object) -> Sequence[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise RefusedTypeError(f"{operation}: {name}", f"got {shown(value)}", "a sequence")
    return value


def _per_axis(operation: str, name: str, value: object, rank: int) -> tuple[int, ...]:
    """One positive int a spatial axis; None means all 1."""
    if value is None:
        return (1,) * rank
    entries = tuple(
        _integer(operation, f"{name}[{i}]", v)
        for i, v in enumerate(_sequence(operation, name, value))
    )
    if len(entries) != rank or any(entry < 1 for entry in entries):
        raise RefusedValueError(
            f"{operation}: {name}", spelled(entries), f"{rank} entries of at least 1"
        )
    return entries


def _permutation(operation: str, name: str, value: object, rank: int) -> tuple[int, ...]:
    if value is None:
        return tuple(range(rank))
    entries = tuple(
        _integer(operation, f"{name}[{i}]", v)
        for i, v in enumerate(_sequence(operation, name, value))
    )
    if sorted(entries) != list(range(rank)):
        raise RefusedValueError(
            f"{operation}: {name}", spelled(entries), f"a permutation of 0..{rank - 1}"
        )
    return entries


# --- families -----------------------------------------------------------------------------------


def broadcast_shapes(operation: str, shapes: Iterable[Shape]) -> Shape:
    """Return the common shape of all operands at once, aligned from the right.

    Raises `ValueError` where extents differ and neither is 1.
    """
    given = tuple(shapes)
    if given and given.count(given[0]) == len(given):
        return given[0]
    rank = max((len(shape) for shape in given), default=0)
    result = []
    for axis in range(-rank, 0):
        extents = {shape[axis] for shape in given if len(shape) >= -axis} - {1}
        if len(extents) > 1:
            raise RefusedValueError(
                f"{operation}: shapes",
                " and ".join(str(shape) for shape in given),
                "shapes that broadcast: equal extents from the right, or 1",
            )
        result.append(extents.pop() if extents else 1)
    return tuple(result)


def _elementwise(operation: str, shapes: Shapes, _attributes: Mapping[str, Any]) -> Geometry:
    return Geometry(broadcast_shapes(operation, shapes))


def _reduction_axes(operation: str, value: object, rank: int) -> tuple[int, ...]:
    if value is None:
        return tuple(range(rank))
    if isinstance(value, tuple):
        axes = tuple(_axis(operation, entry, rank) for entry in value)
        if len(set(axes)) != len(axes):
            raise RefusedValueError(f"{operation}: axis", f"{value} names an axis twice", "once")
        return tuple(sorted(axes))
    return (_axis(operation, value, rank),)


def _reduced(operation: str, shape: Shape, axes: tuple[int, ...], keepdims: object) -> Reduction:
    keep = _flag(operation, "keepdims", keepdims)
    left = tuple(
        1 if axis in axes else extent
        for axis, extent in enumerate(shape)
        if keep or axis not in axes
    )
    return Reduction(left, axes, keep)


def _reduction(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    axes = _reduction_axes(operation, attributes["axis"], len(shapes[0]))
    return _reduced(operation, shapes[0], axes, attributes["keepdims"])


def reduced_extent(shape: Shape, axes: tuple[int, ...]) -> int:
    """Return how many terms one result of a reduction combines."""
    return math.prod(shape[axis] for axis in axes)


def _refuse_empty(operation: str, shape: Shape, axes: tuple[int, ...]) -> None:
    if reduced_extent(shape, axes) == 0:
        raise RefusedValueError(
            operation, f"no element to choose from: shape {shape} over axes {axes}", "at least one"
        )


def _extremum(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    axes = _reduction_axes(operation, attributes["axis"], len(shapes[0]))
    reduction = _reduced(operation, shapes[0], axes, attributes["keepdims"])
    _refuse_empty(operation, shapes[0], axes)
    return reduction


def _arg_extremum(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    axis = attributes["axis"]
    if isinstance(axis, tuple):
        raise RefusedTypeError(
            f"{operation}: axis", f"got tuple ({spelled(axis)})", "an int or None"
        )
    reduction = _extremum(operation, shapes, attributes)
    axes = _reduction_axes(operation, axis, len(shapes[0]))
    _check_positions(operation, reduced_extent(shapes[0], axes))
    return reduction


def _check_positions(operation: str, extent: int) -> None:
    if extent > INT32_MAX:
        raise RangeError(operation, f"{extent} positions", f"at most {INT32_MAX}, to fit Int32")


def _scan(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    return Scan(shapes[0], _axis(operation, attributes["axis"], len(shapes[0])))


def _contraction(operation: str, shapes: Shapes, _attributes: Mapping[str, Any]) -> Geometry:
    lhs, rhs = shapes
    if len(lhs) != 2 or len(rhs) != 2:
        raise RefusedValueError(
            f"{operation}: shapes", f"{lhs} and {rhs}", "two tensors of rank 2, [N, K] and [K, M]"
        )
    if lhs[1] != rhs[0]:
        raise RefusedValueError(
            f"{operation}: shapes",
            f"{lhs} and {rhs}",
            "equal contracted extents, [N, K] and [K, M]",
        )
    return Contraction((lhs[0], rhs[1]), lhs[0], lhs[1], rhs[1])


def _inner(operation: str, shapes: Shapes, _attributes: Mapping[str, Any]) -> Geometry:
    lhs, rhs = shapes
    if len(lhs) != 1 or lhs != rhs:
        raise RefusedValueError(
            f"{operation}: shapes", f"{lhs} and {rhs}", "two tensors of rank 1 and equal length"
        )
    return InnerProduct((), lhs[0])


def _indexed(operation: str, shape: Shape, axis: object) -> tuple[int, int]:
    checked = _axis(operation, axis, len(shape))
    return checked, shape[checked]


def _gather(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    data, indices = shapes
    axis, extent = _indexed(operation, data, attributes["axis"])
    return Indexing(data[:axis] + indices + data[axis + 1 :], axis, extent)


def _scatter(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    base, indices, updates = shapes
    axis, extent = _indexed(operation, base, attributes["axis"])
    wanted = base[:axis] + indices + base[axis + 1 :]
    if updates != wanted:
        raise RefusedValueError(
            f"{operation}: updates", f"shape {updates}", f"{wanted}, as gather would give"
        )
    return Indexing(base, axis, extent)


def _sort(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    (shape,) = shapes
    axis = _axis(operation, attributes["axis"], len(shape))
    descending = _flag(operation, "descending", attributes["descending"])
    _check_positions(operation, shape[axis])
    return Ordering(shape, axis, descending, shape[axis])


def _topk(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    (shape,) = shapes
    axis = _axis(operation, attributes["axis"], len(shape))
    largest = _flag(operation, "largest", attributes["largest"])
    k = _integer(operation, "k", attributes["k"])
    if not 1 <= k <= shape[axis]:
        raise RefusedValueError(
            f"{operation}: k",
            f"{spelled(k)} of {shape[axis]} elements",
            f"one in [1, {shape[axis]}]",
        )
    _check_positions(operation, shape[axis])
    return Ordering((*shape[:axis], k, *shape[axis + 1 :]), axis, largest, k)


def _padding(operation: str, value: object, rank: int) -> tuple[tuple[int, int], ...]:
    pairs = []
    for i, pair in enumerate(_sequence(operation, "padding", value)):
        entry = f"padding[{i}]"
        if len(_sequence(operation, entry, pair)) != 2:
            raise RefusedTypeError(f"{operation}: {entry}", spelled(pair), "a (low, high) pair")
        low, high = (_integer(operation, entry, side) for side in pair)
        if low < 0 or high < 0:
            raise RefusedValueError(f"{operation}: {entry}", spelled(pair), "non-negative padding")
        pairs.append((low, high))
    if len(pairs) != rank:
        raise RefusedValueError(
            f"{operation}: padding", f"{len(pairs)} pairs", f"{rank}, one a spatial axis"
        )
    return tuple(pairs)


def convolution_extent(
    size: int, window: int, pad: tuple[int, int], stride: int, dilation: int, window_dilation: int
) -> int:
    """Return the output extent of one spatial axis; below 1 there is no valid position.

    The division is the floor: a window larger than the padded input gives 0 or less.
    """
    dilated = (size - 1) * dilation + 1 if size else 0
    span = (window - 1) * window_dilation + 1
    return (pad[0] + dilated + pad[1] - span) // stride + 1


def _feature_groups(operation: str, value: object, features: tuple[int, int, int]) -> int:
    inputs, outputs, kernel_inputs = features
    groups = _integer(operation, "feature_groups", value)
    if groups < 1:
        raise RefusedValueError(f"{operation}: feature_groups", f"{groups}", "at least 1")
    if inputs % groups or outputs % groups or kernel_inputs != inputs // groups:
        raise RefusedValueError(
            f"{operation}: features",
            f"{inputs} input and {outputs} output features in {groups} groups, "
            f"{kernel_inputs} kernel input features",
            "groups that divide both, and input features / groups in the kernel",
        )
    return groups


def _convolution(operation: str, shapes: Shapes, attributes: Mapping[str, Any]) -> Geometry:
    lhs, kernel = shapes
    rank = len(lhs)
    if len(kernel) != rank or rank < 3:
        raise RefusedValueError(
            f"{operation}: shapes",
            f"{lhs} and {kernel}",
            "equal ranks of at least 3: batch, feature and one spatial axis",
        )
    spatial = rank - 2
    strides = _per_axis(operation, "strides", _given(operation, "strides", attributes), spatial)
    padding = _padding(operation, attributes["padding"], spatial)
    dilation = _per_axis(operation, "lhs_dilation", attributes["lhs_dilation"], spatial)
    window = _per_axis(operation, "kernel_dilation", attributes["kernel_dilation"], spatial)
    dims = {
        name: _permutation(operation, name, attributes[name], rank)
        for name in ("lhs_dims", "kernel_dims", "output_dims")
    }
    lhs_roles = [lhs[axis] for axis in dims["lhs_dims"]]
    kernel_roles = [kernel[axis] for axis in dims["kernel_dims"]]
    features = (lhs_roles[1], kernel_roles[0], kernel_roles[1])
    groups = _feature_groups(operation, attributes["feature_groups"], features)
    extents = []
    for i in range(spatial):
        size, taps = lhs_roles[2 + i], kernel_roles[2 + i]
        extent = convolution_extent(size, taps, padding[i], strides[i], dilation[i], window[i])
        if taps == 0 or extent < 1:
            raise RefusedValueError(
                f"{operation}: spatial axis {i}",
                f"input {size}, kernel {taps} give an output extent of {extent}",
                "a kernel of at least 1 that fits the padded input",
            )
        extents.append(extent)
    shape = [0] * rank
    for axis, extent in zip(
        dims["output_dims"], (lhs_roles[0], kernel_roles[0], *extents), strict=True
    ):
        shape[axis] = extent
    return Convolution(
        tuple(shape), strides, padding, dilation, window, groups,
        dims["lhs_dims"], dims["kernel_dims"], dims["output_dims"],
    )  # fmt: skip


def _given(operation: str, name: str, attributes: Mapping[str, Any]) -> object:
    # None is a default of other attributes of this family, never a value of this one.
    if attributes[name] is None:
        raise RefusedTypeError(f"{operation}: {name}", "got None", "a sequence of ints")
    return attributes[name]


# --- the table ----------------------------------------------------------------------------------

_FAMILIES: tuple[tuple[str, tuple[Attribute, ...], Checker], ...] = (
    ("reduce_sum reduce_prod mean norm", REDUCTION, _reduction),
    ("reduce_max reduce_min", REDUCTION, _extremum),
    ("argmax argmin", REDUCTION, _arg_extremum),
    ("cumsum", (AXIS,), _scan),
    ("matmul", (), _contraction),
    ("dot vdot", (), _inner),
    ("conv_general", CONVOLUTION, _convolution),
    ("gather", (AXIS,), _gather),
    ("scatter scatter_add", (AXIS,), _scatter),
    ("_sort_values _sort_indices", SORT, _sort),
    ("_topk_values _topk_indices", TOPK, _topk),
)

_OF_OPERATION: dict[str, tuple[tuple[Attribute, ...], Checker]] = {
    name: (attributes, checker)
    for names, attributes, checker in _FAMILIES
    for name in names.split()
}


def attributes_of(operation: str) -> tuple[Attribute, ...]:
    """Return the attributes of an operation, in forward order; none if elementwise."""
    return _OF_OPERATION.get(operation, ((), _elementwise))[0]


def geometry_of(operation: str, shapes: Shapes, attributes: Mapping[str, object]) -> Geometry:
    """Check attributes and shapes and return the geometry of the call.

    `shapes` has one shape a policy operand, ``()`` for a weak scalar. Raises `TypeError` for an
    unknown or missing attribute or one of a wrong type, `ValueError` for shapes and values that do
    not fit, `OverflowError` for more positions than Int32 counts.
    """
    known, checker = _OF_OPERATION.get(operation, ((), _elementwise))
    names = [attribute.name for attribute in known]
    for name in attributes:
        if name not in names:
            raise RefusedTypeError(
                operation, f"unknown attribute {name!r}", ", ".join(names) or "no attribute"
            )
    complete = {
        attribute.name: attributes.get(attribute.name, attribute.default) for attribute in known
    }
    for name, value in complete.items():
        if value is ...:
            raise RefusedTypeError(operation, f"attribute {name!r} is missing", "a value for it")
    return checker(operation, shapes, complete)
