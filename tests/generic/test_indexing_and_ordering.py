"""gather, scatter, scatter_add, sort and topk against naive loops (8.12, 8.13)."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bittrue import SIMPLE, DType, run

NAN, NZERO, INF, ONE = 0x7FC0_0000, 0x8000_0000, 0x7F80_0000, 0x3F80_0000
SNAN, PAYLOAD = 0x7F80_0001, 0xFFC1_2345


def generic(operation, *operands, **attributes):
    return run(operation, *operands, policy=SIMPLE, backend="generic", **attributes)


def as_float(bits) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32)


def bits_of(tensor) -> list:
    return tensor.numpy().view(np.uint32).tolist()


def int32(values) -> np.ndarray:
    return np.array(values, np.int32)


@st.composite
def indexed(draw, *, distinct=False):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    index_shape = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    count = math.prod(index_shape)
    if distinct and count > extent:
        index_shape, count = (extent,), extent
    element = st.integers(0, extent - 1)
    indices = draw(st.lists(element, min_size=count, max_size=count, unique=distinct))
    seed = draw(st.integers(0, 2**32 - 1))
    return shape, axis, int32(indices).reshape(index_shape), np.random.default_rng(seed)


def raw(rng, shape) -> np.ndarray:
    """Any bits at all, signaling NaNs too."""
    return rng.integers(0, 2**32, shape, dtype=np.uint32).view(np.float32)


def target(position, axis, indices, rank):
    """Element [a..., i..., b...] of the updates belongs to [a..., indices[i...], b...]."""
    before = position[: axis % rank]
    inner = position[axis % rank : axis % rank + indices.ndim]
    after = position[axis % rank + indices.ndim :]
    return (*before, int(indices[inner]), *after)


@pytest.mark.rule("operations.8.12.gather")
@given(indexed())
def test_gather_moves_bits(case):
    shape, axis, indices, rng = case
    data = raw(rng, shape)
    result = generic("gather", data, indices, axis)
    expected = np.take(data.view(np.uint32), indices, axis)
    assert result.shape == expected.shape
    assert bits_of(result) == expected.tolist()


@pytest.mark.rule("operations.8.12.scatter")
@given(indexed(distinct=True))
def test_scatter_moves_bits(case):
    shape, axis, indices, rng = case
    base = raw(rng, shape)
    update_shape = np.take(base, indices, axis).shape
    updates = raw(rng, update_shape)
    expected = base.view(np.uint32).copy()
    for position in np.ndindex(update_shape):
        expected[target(position, axis, indices, len(shape))] = updates.view(np.uint32)[position]
    result = generic("scatter", base, indices, updates, axis)
    assert bits_of(result) == expected.tolist()


@pytest.mark.rule("operations.8.12.scatter-add")
@given(indexed())
def test_scatter_add_in_ascending_order(case):
    shape, axis, indices, rng = case
    base = (rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 24, shape)).astype(np.float32)
    update_shape = np.take(base, indices, axis).shape
    updates = (
        rng.standard_normal(update_shape) * 2.0 ** rng.integers(-3, 24, update_shape)
    ).astype(np.float32)
    expected = base.copy()
    for position in np.ndindex(update_shape):
        where = target(position, axis, indices, len(shape))
        expected[where] = expected[where] + updates[position]
    result = generic("scatter_add", base, indices, updates, axis=axis)
    assert bits_of(result) == expected.view(np.uint32).tolist()


@pytest.mark.rule("operations.8.12.scatter-add")
def test_scatter_add_starts_from_the_base():
    base = as_float([NZERO, NZERO, SNAN, PAYLOAD, ONE])
    result = generic("scatter_add", base, int32([0, 1, 3]), as_float([NZERO, 0, ONE]), 0)
    assert bits_of(result) == [NZERO, 0, SNAN, NAN, ONE]
    # 1 + 2**24 - 2**24, one rounding an addition: the 1 is lost.
    updates = np.array([2.0**24, -(2.0**24)], np.float32)
    assert generic("scatter_add", as_float([ONE]), int32([0, 0]), updates, 0).tolist() == [0.0]
    # Over index tensors of rank 2 the order is row-major.
    updates = np.array([[2.0**24, 1.0], [1.0, -(2.0**24)]], np.float32)
    result = generic("scatter_add", as_float([0]), int32([[0, 0], [0, 0]]), updates, 0)
    assert result.tolist() == [0.0]
    result = generic("scatter_add", as_float([0]), int32([[0, 0], [0, 0]]), updates.T[::-1], 0)
    assert result.tolist() == [2.0]


@pytest.mark.rule("operations.8.12.empty-indices")
def test_empty_indices():
    base = as_float([[NZERO, SNAN], [ONE, PAYLOAD]])
    none = np.zeros((0, 2), np.float32)
    assert generic("gather", base, int32([]), 0).shape == (0, 2)
    assert generic("gather", base, np.zeros((3, 0), np.int32), 1).shape == (2, 3, 0)
    for operation in ("scatter", "scatter_add"):
        assert bits_of(generic(operation, base, int32([]), none, 0)) == [
            [NZERO, SNAN], [ONE, PAYLOAD],
        ]  # fmt: skip
    # An axis of no elements takes no index.
    hollow = np.zeros((0, 2), np.float32)
    assert generic("gather", hollow, int32([]), 0).shape == (0, 2)
    with pytest.raises(IndexError):
        generic("gather", hollow, int32([0]), 0)
    # No element moves, the index is out of range all the same.
    with pytest.raises(IndexError):
        generic("gather", np.zeros((2, 0), np.float32), int32([2]), 0)


@pytest.mark.rule("operations.8.12.index-range")
@pytest.mark.parametrize("operation", ["gather", "scatter", "scatter_add"])
@pytest.mark.parametrize(
    ("indices", "culprit"),
    [([0, -1, 9], "-1"), ([3, -1], "3"), ([0, 1, 2**31 - 1], "2147483647"),
     ([-(2**31)], "-2147483648"),
     ([1, 1, 3], "3")],
)  # fmt: skip
def test_an_index_outside_is_refused_and_named(operation, indices, culprit):
    """Also where an index is repeated as well: the range is checked first."""
    base = np.zeros(3, np.float32)
    operands = [base, int32(indices)]
    if operation != "gather":
        operands.append(np.zeros(len(indices), np.float32))
    with pytest.raises(IndexError) as caught:
        generic(operation, *operands, axis=0)
    assert culprit in str(caught.value)
    assert operation in str(caught.value)


@pytest.mark.rule("operations.8.12.index-range")
def test_the_first_index_outside_is_named_in_logical_order():
    indices = int32([[0, 1], [7, 2], [-5, 0]])
    with pytest.raises(IndexError, match="7") as caught:
        generic("gather", np.zeros(3, np.float32), indices, 0)
    assert "-5" not in str(caught.value)
    with pytest.raises(IndexError, match="-5"):
        generic("gather", np.zeros(3, np.float32), indices[::-1], 0)


@pytest.mark.rule("operations.8.12.repeated-index")
def test_a_repeated_index_of_scatter_is_refused():
    base = np.zeros(4, np.float32)
    for indices in ([1, 1], [[0, 1], [2, 0]], [3, 0, 1, 3]):
        updates = np.ones(np.shape(indices), np.float32)
        with pytest.raises(ValueError, match="scatter"):
            generic("scatter", base, int32(indices), updates, 0)
        generic("scatter_add", base, int32(indices), updates, 0)
        generic("gather", base, int32(indices), 0)
    # No element is written twice, none at all: the repeat is refused all the same.
    with pytest.raises(ValueError, match="scatter"):
        generic(
            "scatter", np.zeros((2, 0), np.float32), int32([1, 1]), np.zeros((2, 0), np.float32), 0
        )


@pytest.mark.rule("operations.8.12.updates-shape")
@pytest.mark.parametrize("operation", ["scatter", "scatter_add"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (1, 3), (3, 2), (2, 3, 1), (2,)])
def test_updates_do_not_broadcast(operation, shape):
    with pytest.raises(ValueError, match="updates"):
        generic(
            operation, np.zeros((4, 3), np.float32), int32([0, 1]), np.zeros(shape, np.float32), 0
        )


@pytest.mark.rule("operations.8.12.gather")
def test_a_scalar_index_removes_the_axis():
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert generic("gather", data, np.int32(1), 0).tolist() == [3.0, 4.0, 5.0]
    assert generic("gather", data, np.array(2, np.int32), -1).tolist() == [2.0, 5.0]
    update = generic("scatter", data, np.int32(1), np.array([9, 9, 9], np.float32), 0)
    assert update.tolist() == [[0.0, 1.0, 2.0], [9.0, 9.0, 9.0]]


# --- sort, topk ---------------------------------------------------------------------------------


def positions_of(line, *, descending):
    """Positions in order, by comparing pairs as the table of 8.13 states."""
    numbers = [float(np.uint32(bits).view(np.float32)) for bits in line]

    def before(i, j):
        a, b = numbers[i], numbers[j]
        if math.isnan(a) or math.isnan(b):
            sign = math.isnan(a) - math.isnan(b)
        else:
            sign = (a > b) - (a < b)
        sign = -sign if descending else sign
        return sign or i - j

    return sorted(range(len(line)), key=functools.cmp_to_key(before))


EXAMPLE = [0x4040_0000, NAN, NZERO, 0, 0x4000_0000, PAYLOAD, 0xFF80_0000, INF]


@pytest.mark.rule("operations.8.13.example")
def test_the_example_of_the_document():
    ascending, descending = [6, 2, 3, 4, 0, 7, 1, 5], [1, 5, 7, 0, 4, 2, 3, 6]
    line = as_float(EXAMPLE)
    assert generic("_sort_indices", line).tolist() == ascending
    assert generic("_sort_indices", line, descending=True).tolist() == descending
    assert bits_of(generic("_sort_values", line)) == [EXAMPLE[i] for i in ascending]
    assert bits_of(generic("_sort_values", line, -1, True)) == [EXAMPLE[i] for i in descending]  # noqa: FBT003
    for k in range(1, 9):
        assert generic("_topk_indices", line, k).tolist() == descending[:k]
        assert generic("_topk_indices", line, k, largest=False).tolist() == ascending[:k]
        assert bits_of(generic("_topk_values", line, k)) == [EXAMPLE[i] for i in descending[:k]]


special = st.sampled_from([0, NZERO, NAN, SNAN, PAYLOAD, INF, 0xFF80_0000, ONE, 0xBF80_0000, 1])


@pytest.mark.rule("operations.8.13.order")
@settings(max_examples=80)
@given(data=st.data())
def test_sort_and_topk_along_any_axis(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    flat = data.draw(
        st.lists(
            special | st.integers(0, 2**32 - 1),
            min_size=math.prod(shape),
            max_size=math.prod(shape),
        )
    )
    bits = np.array(flat, np.uint32).reshape(shape)
    extent = shape[axis]
    count = data.draw(st.integers(1, extent)) if extent else None
    for descending in (False, True):
        order = np.empty(shape, np.int32)
        lines, out = np.moveaxis(bits, axis, -1), np.moveaxis(order, axis, -1)
        for index in np.ndindex(lines.shape[:-1]):
            out[index] = positions_of(lines[index], descending=descending)
        values = np.take_along_axis(bits, order.astype(np.int64), axis)
        operand = bits.view(np.float32)
        indices = generic("_sort_indices", operand, axis, descending)
        assert indices.dtype is DType.Int32
        assert indices.tolist() == order.tolist()
        moved = generic("_sort_values", operand, axis=axis, descending=descending)
        assert moved.shape == shape
        assert bits_of(moved) == values.tolist()
        if count is None:
            continue
        first = np.arange(count)
        top = generic("_topk_indices", operand, count, axis, descending)
        assert top.dtype is DType.Int32
        assert top.tolist() == np.take(order, first, axis).tolist()
        top = generic("_topk_values", operand, k=count, axis=axis, largest=descending)
        assert bits_of(top) == np.take(values, first, axis).tolist()
