"""Calls that try a plan: operands and attributes that select it, over directed and random values.

Belongs here: which shapes, attributes and data exercise each operation. Never here: results.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue.conformance import corpora, values
from bittrue.dtypes import DType, SimpleDType, is_complex
from bittrue.geometry import attributes_of
from bittrue.policy import Arithmetic, OperandRole, OperationPlan, Policy
from bittrue.tensor import Buffer, Stored, buffer_of
from bittrue.tensor.buffer import STORAGE

CHUNK = 1 << 16
"""Elements of one elementwise call at most, so that progress shows and memory stays small."""

SCALARS: tuple[Any, ...] = (
    3, -1, 0.5, True, 0, 1, 2, -2, 7, 31, -0.0, 0.1, -0.5, 1.5, 2.0, 1e-45, 1e39,
    float("inf"), float("-inf"), float("nan"), Fraction(1, 3), 2**24 + 1, -(2**24) - 3,
    2**31 - 1, -(2**31), 2**31, 2**60 + 2**36 + 1, False,
    1j, complex(2, -3), complex(-0.0, 0.5), complex(0.1, 1e39), complex(float("inf"), 1),
    complex(0, float("nan")), complex(0, -0.0), complex(1e-320, 1),
)  # fmt: skip
"""Weak scalars to try; those that select the plan at hand are used."""

Array = npt.NDArray[Any]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Trial:
    """One call: operands in positional order (arrays, or Python numbers), and attributes.

    A `sliceable` trial is elementwise over 1-D operands: any subset of its elements is a call.
    """

    operands: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    sliceable: bool = False


def trials(plan: OperationPlan, policy: Policy, rng: Rng, cases: int) -> Iterator[Trial]:
    """Yield calls that select `plan`, of about `cases` results together."""
    for trial in _trials(plan, policy, rng, cases):
        yield replace(trial, operands=tuple(map(_operand, trial.operands)))


def _operand(value: Any) -> Any:
    """Return an array of the extended pair, which no dtype of NumPy names, as a tensor."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return Stored(Buffer(_STRUCTURED[value.dtype.names], value))
    return value


_STRUCTURED = {row.array.names: row.dtype for row in STORAGE if row.array.names}


def _trials(plan: OperationPlan, policy: Policy, rng: Rng, cases: int) -> Iterator[Trial]:
    family = STRUCTURED.get(plan.operation)
    if family is not None:
        yield from family(plan, rng, max(cases // 10, 24))
    elif plan.accumulation is not None or attributes_of(plan.operation):
        msg = f"no trials for the structured operation {plan.operation}"
        raise NotImplementedError(msg)
    else:
        yield from _elementwise(plan, policy, rng, cases)


# --- elementwise --------------------------------------------------------------------------------


def _elementwise(plan: OperationPlan, policy: Policy, rng: Rng, cases: int) -> Iterator[Trial]:
    weak = [p.role is OperandRole.WEAK_SCALAR for p in plan.operands]
    groups = _scalar_groups(plan, policy, rng) if any(weak) else [()]
    each = max(cases // len(groups), 1)
    for group in groups:
        for start in range(0, each, CHUNK):
            columns = iter(_columns(plan, rng, min(CHUNK, each - start)))
            scalars = iter(group)
            operands = tuple(next(scalars) if is_weak else next(columns) for is_weak in weak)
            yield Trial(operands, sliceable=True)


def _scalar_groups(plan: OperationPlan, policy: Policy, rng: Rng) -> list[tuple[Any, ...]]:
    """Return the scalar combinations that select `plan`, at most 24 of them."""
    count = sum(p.role is OperandRole.WEAK_SCALAR for p in plan.operands)
    found = []
    for group in itertools.product(SCALARS, repeat=count):
        scalars = iter(group)
        operands = [
            next(scalars) if p.role is OperandRole.WEAK_SCALAR else p.dtype for p in plan.operands
        ]
        try:
            if policy.resolve(plan.operation, *operands) == plan:
                found.append(group)
        except (TypeError, OverflowError):
            continue
    if len(found) > 24:
        chosen = np.sort(rng.choice(len(found), 24, replace=False))
        found = [found[i] for i in chosen]
    return found


def _columns(plan: OperationPlan, rng: Rng, count: int) -> list[Array]:
    """Return one array of `count` elements for each tensor operand."""
    dtypes = [p.dtype for p in plan.operands if p.dtype is not None]
    if plan.operation == "pow" and plan.output is DType.Int32:
        # Bases whose powers stay in Int32 beside the extremes, few of whose powers do.
        small = rng.integers(-50, 51, count).astype(np.int32)
        return [np.concatenate([corpora.INT32[: count // 2], small])[:count]]
    if dtypes == [DType.Float32, DType.Float32] and len(plan.operands) == 2:
        lhs, rhs = corpora.pairs(rng, count)
        if plan.operation == "pow":
            lhs, rhs = _powers(rng, lhs, rhs)
        return [lhs.view(np.float32), rhs.view(np.float32)]
    if len(dtypes) == 1:
        return [corpora.column(dtypes[0], rng, count)]
    if len(dtypes) == 2 and not {DType.Int32, DType.Bool} & set(dtypes):
        return values.pairs((dtypes[0], dtypes[1]), rng, count)
    return [_drawn(dtype, rng, count) for dtype in dtypes]


def _drawn(dtype: SimpleDType, rng: Rng, count: int) -> Array:
    """Return `count` elements, about half of them directed, in no order: tuples mix freely."""
    elements = corpora.column(dtype, rng, 2 * count + 64)
    directed = corpora.directed(dtype).size
    from_directed = rng.integers(0, directed, count)
    from_random = rng.integers(directed, elements.size, count)
    return elements[np.where(rng.integers(0, 2, count) == 0, from_directed, from_random)]


def _powers(rng: Rng, lhs: corpora.Bits, rhs: corpora.Bits) -> tuple[corpora.Bits, corpora.Bits]:
    """Put bases and exponents of moderate results in place of the second half of the pairs."""
    half = lhs.size // 2
    exponents = np.where(
        rng.integers(0, 2, half) == 0, rng.integers(-8, 9, half), rng.uniform(-20, 20, half)
    )
    bases = np.where(
        rng.integers(0, 4, half) == 0, rng.integers(-6, 7, half), rng.uniform(0, 8, half)
    )
    for column, numbers in ((lhs, bases), (rhs, exponents)):
        column[lhs.size - half :] = numbers.astype(np.float32).view(np.uint32)
    return lhs, rhs


# --- structured ---------------------------------------------------------------------------------

_LENGTHS = (1, 2, 5, 31, 32, 33, 64, 100, 333)
_LONG = 4097


def _matrix(dtype: SimpleDType, rng: Rng, rows: int, length: int, kind: int) -> Array:
    """Return `[rows, length]` elements: tame, any bits at all, or cancelling."""
    count = rows * length
    if dtype is DType.Int32:
        whole = rng.integers(-1000, 1001, count) if kind == 0 else corpora.random_int32(rng, count)
        return np.asarray(whole).astype(np.int32).reshape(rows, length)
    if dtype is not DType.Float32:
        return values.drawn(dtype, rng, count, kind).reshape(rows, length)
    if kind == 0:
        bits = corpora.tame_float32(rng, count)
    elif kind == 1:
        bits = corpora.random_float32(rng, count)
    else:
        bits = corpora.tame_float32(rng, count)
        large = (bits & np.uint32(0x807FFFFF)) + np.uint32(0x4C000000)
        bits = np.where(rng.integers(0, 3, count) == 0, large, bits).astype(np.uint32)
        half = count // 2
        bits[half : 2 * half] = bits[:half] ^ np.uint32(0x80000000)
    return bits.view(np.float32).reshape(rows, length)


_CORE = corpora.FLOAT32_CORE.view(np.float32)
_CORE_PAIRS = corpora.crossed(corpora.FLOAT32_CORE, corpora.FLOAT32_CORE)
_MAX, _MIN = 2**31 - 1, -(2**31)


def _directed_rows(dtype: SimpleDType, rng: Rng) -> Iterator[Array]:
    """Every directed value alone, and in rows of three in an order of its own."""
    every = corpora.directed(dtype)
    yield every.reshape(-1, 1)
    if dtype is not DType.Int32:
        shuffled = rng.permutation(every)
        yield shuffled[: every.size // 3 * 3].reshape(-1, 3)


def _array(dtype: SimpleDType, elements: Any) -> Array:
    """Return nested lists as an array of `dtype`."""
    return buffer_of(elements, dtype).array


def _line_trials(
    plan: OperationPlan, rng: Rng, cases: int, attributes: list[dict[str, Any]]
) -> Iterator[Trial]:
    """Rows of several lengths and kinds, along the last axis."""
    dtype = plan.operands[0].dtype
    assert dtype is not None
    for lines in _directed_rows(dtype, rng):
        for named in attributes:
            yield Trial((lines,), named)
    rows = max(cases // (3 * len(_LENGTHS)), 1)
    for length, kind in itertools.product(_LENGTHS, range(3)):
        for named in attributes:
            yield Trial((_matrix(dtype, rng, rows, length, kind),), named)


def _sums(plan: OperationPlan, rng: Rng, cases: int) -> Iterator[Trial]:
    dtype = plan.operands[0].dtype
    assert dtype is not None
    yield from _line_trials(plan, rng, cases, [{"axis": 1}])
    yield Trial((_matrix(dtype, rng, 2, _LONG, 0),), {"axis": -1, "keepdims": True})
    yield Trial((_matrix(dtype, rng, 40, 6, 0),), {"axis": 0})
    yield Trial((_matrix(dtype, rng, 6, 8, 0).reshape(2, 3, 8),), {"axis": (0, 2)})
    yield Trial((_matrix(dtype, rng, 3, 5, 0),), {})
    if dtype is not DType.Int32:
        minus = complex(-0.0, -0.0) if is_complex(dtype) else -0.0
        yield Trial((_array(dtype, [[minus] * 3] * 2),), {"axis": 1})
        yield Trial((_matrix(dtype, rng, 2, 0, 0),), {"axis": 1})
    else:
        # Partial sums outside Int32 that come back, and totals that stay out.
        for row in ([_MAX, _MAX, -_MAX], [_MIN, -1, 1], [_MAX, 1], [_MIN, -1], [_MIN] * 2):
            yield Trial((np.array([row], np.int32),), {"axis": 1})


def _reductions(plan: OperationPlan, rng: Rng, cases: int) -> Iterator[Trial]:
    dtype = plan.operands[0].dtype
    assert dtype is not None
    yield from _line_trials(plan, rng, cases, [{"axis": 1}])
    for row in itertools.product([0.0, -0.0, float("nan")], repeat=3):
        yield Trial((_array(dtype, [list(row)]),), {"axis": 1})
    yield Trial((_matrix(dtype, rng, 5, 4, 1),), {"axis": 0})
    yield Trial((_matrix(dtype, rng, 5, 4, 1),), {})


def _scans(plan: OperationPlan, rng: Rng, cases: int) -> Iterator[Trial]:
    dtype = plan.operands[0].dtype
    assert dtype is not None
    yield from _line_trials(plan, rng, max(cases // 16, 24), [{"axis": 1}])
    minus = complex(-0.0, -0.0) if is_complex(dtype) else -0.0
    yield Trial((_array(dtype, [minus, minus]),), {"axis": 0})
    yield Trial((_matrix(dtype, rng, 6, 3, 0),), {"axis": 0})


def _dots(plan: OperationPlan, rng: Rng, _cases: int) -> Iterator[Trial]:
    """Every directed element alone, then vectors of several lengths and kinds: one result each."""
    lhs, rhs = (operand.dtype for operand in plan.operands)
    assert lhs is not None
    assert rhs is not None
    left, right = corpora.directed(lhs), rng.permutation(corpora.directed(rhs))
    for at in range(max(left.size, right.size)):
        yield Trial((_line(left[at % left.size]), _line(right[at % right.size])))
    for length, kind in itertools.product(_LENGTHS, range(3)):
        yield Trial((_matrix(lhs, rng, 1, length, kind)[0], _matrix(rhs, rng, 1, length, kind)[0]))
    if lhs is rhs:
        # A second block: where it begins does not depend on the dtypes.
        yield Trial((_matrix(lhs, rng, 1, _LONG, 0)[0], _matrix(rhs, rng, 1, _LONG, 0)[0]))
    yield Trial((_matrix(lhs, rng, 1, 0, 0)[0], _matrix(rhs, rng, 1, 0, 0)[0]))


def _line(element: Any) -> Array:
    return np.asarray(element).reshape(1)


def _matmuls(plan: OperationPlan, rng: Rng, cases: int) -> Iterator[Trial]:
    lhs, rhs = (operand.dtype for operand in plan.operands)
    assert lhs is not None
    assert rhs is not None
    if lhs is rhs is DType.Int32:
        yield from _int32_matmuls()
    else:
        for a, b in ((_column(lhs), _tame_row(rhs)), (_tame_row(lhs).T, _column(rhs).T)):
            yield Trial((a, b))
        if lhs is rhs is DType.Float32:
            yield Trial((_CORE.reshape(-1, 1), _CORE.reshape(1, -1)))
    side = max(int((cases // 18) ** 0.5), 2)
    lengths: tuple[int, ...] = (1, 2, 3, 17, 64, 200)
    if plan.compute is not Arithmetic.BINARY32:
        # A complex term costs the reference six operations, and kernels block all rows alike.
        lengths = lengths[:-1]
    for length, kind in itertools.product(lengths, range(3)):
        a = _matrix(lhs, rng, side, length, kind)
        b = _matrix(rhs, rng, length, side, kind)
        yield Trial((a, b))
    yield Trial((_matrix(lhs, rng, 2, 0, 0), _matrix(rhs, rng, 0, 3, 0)))


def _column(dtype: SimpleDType) -> Array:
    return corpora.directed(dtype).reshape(-1, 1)


def _tame_row(dtype: SimpleDType) -> Array:
    return _array(dtype, [[1, -3]])


def _int32_matmuls() -> Iterator[Trial]:
    """Each directed value; then products that leave Int32, and 64 bits, with and without return."""
    column = corpora.INT32.reshape(-1, 1)
    units = np.array([[1, 0]], np.int32)
    yield Trial((column, units))
    yield Trial((units.T, column.T))
    for row, other in (
        ([_MAX, _MAX], [_MAX, -_MAX]),
        ([_MIN] * 4, [_MIN] * 4),
        ([_MIN, _MIN], [_MIN, _MAX]),
        ([_MIN], [-1]),
        ([65536], [65536]),
    ):
        yield Trial((np.array([row], np.int32), np.array([other], np.int32).T))


def _convolutions(_plan: OperationPlan, rng: Rng, _cases: int) -> Iterator[Trial]:
    # fmt: off
    settings: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
        ((2, 3, 9), (4, 3, 3), {"strides": (1,), "padding": ((0, 0),)}),
        ((1, 4, 8), (4, 2, 3), {"strides": (2,), "padding": ((1, 1),), "feature_groups": 2}),
        ((1, 2, 7), (3, 2, 2), {"strides": (1,), "padding": ((2, 1),), "kernel_dilation": (2,)}),
        ((1, 2, 5), (2, 2, 3), {"strides": (1,), "padding": ((1, 1),), "lhs_dilation": (2,)}),
        ((1, 3, 6, 6), (2, 3, 3, 3), {"strides": (1, 1), "padding": ((1, 1), (1, 1))}),
        ((1, 4, 7, 5), (4, 1, 3, 2), {"strides": (2, 1), "padding": ((1, 1), (0, 0)),
                                     "feature_groups": 4}),
        ((2, 6, 6, 3), (3, 3, 3, 5), {"strides": (1, 1), "padding": ((0, 0), (0, 0)),
                                     "lhs_dims": (0, 3, 1, 2), "kernel_dims": (3, 0, 1, 2),
                                     "output_dims": (0, 3, 1, 2)}),
    )
    # fmt: on
    line = {"strides": (1,), "padding": ((0, 0),)}
    one = np.array([[[1.0]], [[-3.0]]], np.float32)
    every = corpora.directed(DType.Float32)
    yield Trial((every.reshape(1, 1, -1), one), line)
    yield Trial((one.reshape(1, 1, -1), every.reshape(-1, 1, 1)), line)
    yield Trial((_CORE.reshape(1, 1, -1), _CORE.reshape(-1, 1, 1)), line)
    # A padded position holds +0 and takes part: an infinite weight makes it NaN.
    padded = {"strides": (1,), "padding": ((1, 1),)}
    yield Trial((_CORE[3:5].reshape(1, 1, -1), np.stack([_CORE, _CORE[::-1]], 1)[:, None]), padded)
    for (lhs, kernel, attributes), kind in itertools.product(settings, (0, 0, 1)):
        operands = [
            _matrix(DType.Float32, rng, 1, int(np.prod(shape)), kind).reshape(shape)
            for shape in (lhs, kernel)
        ]
        yield Trial(tuple(operands), attributes)


def _any_bits(rng: Rng, shape: tuple[int, ...]) -> Array:
    return corpora.random_float32(rng, int(np.prod(shape))).view(np.float32).reshape(shape)


def _gathers(_plan: OperationPlan, rng: Rng, _cases: int) -> Iterator[Trial]:
    every = corpora.directed(DType.Float32)
    order = rng.permutation(every.size).astype(np.int32)
    yield Trial((every, order), {"axis": 0})
    for axis, where in itertools.product((0, 1), ((4,), (2, 3), ())):
        indices = rng.integers(0, 5, where).astype(np.int32)
        yield Trial((_any_bits(rng, (5, 5)), np.asarray(indices)), {"axis": axis})


def _scatters(plan: OperationPlan, rng: Rng, _cases: int) -> Iterator[Trial]:
    repeats = plan.operation == "scatter_add"
    # Every core value on every other, the whole corpus in an order of its own, and where terms are
    # added, three of them to one element: a sum of only -0 keeps its sign.
    rows, columns = (part.view(np.float32).reshape(_CORE.size, -1) for part in _CORE_PAIRS)
    yield Trial((rows, np.arange(_CORE.size, dtype=np.int32), columns), {"axis": 0})
    every = corpora.directed(DType.Float32)
    order = rng.permutation(every.size).astype(np.int32)
    yield Trial((every, order, rng.permutation(every)), {"axis": 0})
    if repeats:
        zeros = np.full(3, -0.0, np.float32)
        yield Trial((zeros, np.array([0, 1, 1], np.int32), zeros), {"axis": 0})
    for axis, count in itertools.product((0, 1), (1, 3, 5)):
        indices = rng.integers(0, 5, 3 * count) if repeats else rng.permutation(5)[:count]
        shape = [5, 4]
        if axis:
            shape.reverse()
        updates = shape.copy()
        updates[axis] = indices.size
        for tame in (True, False):
            make = _tame if tame else _any_bits
            yield Trial(
                (make(rng, tuple(shape)), indices.astype(np.int32), make(rng, tuple(updates))),
                {"axis": axis},
            )


def _tame(rng: Rng, shape: tuple[int, ...]) -> Array:
    return corpora.tame_float32(rng, int(np.prod(shape))).view(np.float32).reshape(shape)


def _orders(plan: OperationPlan, rng: Rng, cases: int) -> Iterator[Trial]:
    topk = plan.operation.startswith("_topk")
    flag = "largest" if topk else "descending"
    ties = np.array([3, np.nan, -0.0, 0.0, 2, np.nan, -np.inf, np.inf, 2, 3], np.float32)
    rows = max(cases // 100, 2)
    every = corpora.directed(DType.Float32)
    for value in (False, True):
        for data in (
            ties,
            # Zeros of either sign tie: only their position tells which comes first.
            np.array([0.0, -0.0, 0.0, -0.0, -1, 1], np.float32),
            np.array([-0.0, 0.0, -0.0, 0.0, 1, -1], np.float32),
            rng.permutation(every),
            _tame(rng, (rows, 16)),
            _any_bits(rng, (rows, 16)),
            rng.integers(-3, 4, (rows, 40)).astype(np.float32),
            _tame(rng, (6, 3)),
        ):
            axis = 0 if data.shape == (6, 3) else -1
            attributes: dict[str, Any] = {"axis": axis, flag: value}
            if topk:
                attributes["k"] = max(data.shape[axis] // 2, 1)
            yield Trial((data,), attributes)


Family = Callable[[OperationPlan, Rng, int], Iterator[Trial]]

_FAMILIES: tuple[tuple[str, Family], ...] = (
    ("reduce_sum mean norm", _sums),
    ("reduce_prod reduce_max reduce_min argmax argmin", _reductions),
    ("cumsum", _scans),
    ("matmul", _matmuls),
    ("dot vdot", _dots),
    ("conv_general", _convolutions),
    ("gather", _gathers),
    ("scatter scatter_add", _scatters),
    ("_sort_values _sort_indices _topk_values _topk_indices", _orders),
)

STRUCTURED: dict[str, Family] = {
    name: family for names, family in _FAMILIES for name in names.split()
}
"""Operation -> its trials; every other operation is elementwise."""
