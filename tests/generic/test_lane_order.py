"""Reductions and scans against an independent statement of their order (7.6, 8.8, 8.9)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bittrue import SIMPLE, DType, asarray, run

F32, F64 = DType.Float32, DType.Float64
NAN, NZERO, INF = 0x7FC0_0000, 0x8000_0000, 0x7F80_0000
LENGTHS = (0, 1, 2, 3, 31, 32, 33, 64, 65, 4095, 4096, 4097, 8200)


def generic(operation, *operands, **attributes):
    return run(operation, *operands, policy=SIMPLE, backend="generic", **attributes)


def tensor(*bits: int) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32)


def bits_of(array) -> list:
    """Bits of an array or tensor as nested lists; every NaN of NumPy's as the canonical one."""
    data = np.array(array.numpy() if hasattr(array, "numpy") else array, np.float32)
    return data.view(np.uint32).tolist()


def fold(lanes):
    if len(lanes) == 1:
        return lanes[0]
    half = len(lanes) // 2
    return fold([a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)])


def ascending(terms, start):
    total = start
    for term in terms:
        total = total + term
    return total


def lane_order(terms, scalar):
    """Sum by 7.6 with scalar IEEE additions of `scalar`, np.float32 or np.float64."""
    terms = [scalar(term) for term in terms]
    if len(terms) > 4096:
        blocks = [terms[i : i + 4096] for i in range(0, len(terms), 4096)]
        return lane_order([lane_order(block, scalar) for block in blocks], scalar)
    return fold([ascending(terms[lane::32], scalar(0)) for lane in range(32)])


def expected_sum(terms, accumulator):
    with np.errstate(all="ignore"):
        if accumulator is F64:
            return np.float32(lane_order(terms, np.float64))
        return lane_order(terms, np.float32)


def cancelling(length: int, seed: int = 5) -> np.ndarray:
    """Terms of widely different size that cancel in pairs far apart, so that the order shows."""
    rng = np.random.default_rng([seed, length])
    terms = (rng.standard_normal(length) * 2.0 ** rng.integers(-6, 14, length)).astype(np.float32)
    half = length // 2
    terms[half : 2 * half] = -terms[rng.permutation(half)] + rng.standard_normal(half).astype(
        np.float32
    )
    return terms


@pytest.mark.rule("operations.7.6.lane-order")
@pytest.mark.parametrize("accumulator", [None, F32, F64])
@pytest.mark.parametrize("length", LENGTHS)
def test_sum_of_one_axis(length, accumulator):
    terms = cancelling(length)
    result = generic("reduce_sum", terms, accumulator_dtype=accumulator)
    assert result.dtype is F32
    assert result.shape == ()
    assert bits_of(result) == bits_of(expected_sum(terms, accumulator))


@pytest.mark.rule("operations.7.6.lane-order")
def test_the_data_of_these_tests_shows_the_order():
    """A sequential sum, a pairwise one and the exact one differ from the lane order."""
    terms = cancelling(8200)
    lanes = float(expected_sum(terms, F32))
    assert lanes != float(ascending(terms, np.float32(0)))
    assert lanes != math.fsum(terms.tolist())
    assert lanes != float(expected_sum(terms[::-1], F32))
    assert float(expected_sum(terms, F64)) != lanes
    # Without the blocks of 4096 the lanes would be longer.
    whole = fold([ascending(terms[lane::32], np.float32(0)) for lane in range(32)])
    assert lanes != float(whole)


@pytest.mark.rule("operations.7.6.lane-order")
def test_sum_worked_out_by_hand():
    """2**24 in lane 0 swallows each single 1 that meets it; the other lanes add up first."""
    terms = np.array([2.0**24] + [1.0] * 63, np.float32)
    # Lane 0: 2**24 + 1 = 2**24. The fold adds 2 (lane 16), then 4, 8, 16, 32 from below.
    assert generic("reduce_sum", terms).tolist() == 2.0**24 + 62
    assert generic("reduce_sum", terms, accumulator_dtype=F64).tolist() == 2.0**24 + 64
    two = np.array([2.0**24, 1.0, 1.0], np.float32)
    assert generic("reduce_sum", two).tolist() == 2.0**24
    swapped = np.zeros(34, np.float32)
    swapped[0], swapped[1], swapped[33] = 2.0**24, 1.0, 1.0
    assert generic("reduce_sum", swapped).tolist() == 2.0**24 + 2


@pytest.mark.rule("operations.7.6.f64-accumulator")
def test_wide_accumulator_narrows_once_and_overflows_at_the_end():
    big = 0x7F7F_FFFF
    # Lanes 0 and 2 meet first.
    assert bits_of(generic("reduce_sum", tensor(big, big ^ NZERO, big))) == INF
    wide = generic("reduce_sum", tensor(big, big ^ NZERO, big), accumulator_dtype=F64)
    assert bits_of(wide) == big
    assert bits_of(generic("reduce_sum", tensor(big, big), accumulator_dtype=F64)) == INF
    # 1 + 2**-24 + 2**-48: above the tie in binary64, the tie itself in binary32 steps.
    terms = tensor(0x3F80_0000, 0x3380_0000, 0x2780_0000)
    assert bits_of(generic("reduce_sum", terms, accumulator_dtype=F64)) == 0x3F80_0001
    # Subnormals are widened and narrowed exactly.
    assert bits_of(generic("reduce_sum", tensor(1, 2, 0x8000_0001), accumulator_dtype=F64)) == 2


@pytest.mark.rule("operations.7.6.every-set-of-axes")
@pytest.mark.parametrize("accumulator", [F32, F64])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sum_over_every_set_of_axes(accumulator, keepdims):
    shape = (5, 9, 7)
    data = cancelling(math.prod(shape)).reshape(shape)
    for count in range(4):
        for axes in itertools.permutations(range(3), count):
            check_axes(data, axes, keepdims=keepdims, accumulator=accumulator)


def check_axes(data, axes, *, keepdims, accumulator):
    """Whatever order the tuple lists them in, terms go in row-major order of the tensor's axes."""
    result = generic(
        "reduce_sum", data, axis=axes, keepdims=keepdims, accumulator_dtype=accumulator
    )
    kept = [axis for axis in range(data.ndim) if axis not in axes]
    moved = data.transpose([*kept, *sorted(axes)])
    rows = moved.reshape([data.shape[axis] for axis in kept] + [-1])
    expected = np.empty(rows.shape[:-1], np.float32)
    for index in np.ndindex(expected.shape):
        expected[index] = expected_sum(rows[index], accumulator)
    if keepdims:
        expected = expected.reshape([1 if a in axes else n for a, n in enumerate(data.shape)])
    assert result.shape == expected.shape
    assert bits_of(result) == bits_of(expected), (axes, keepdims)


@pytest.mark.rule("operations.7.6.every-set-of-axes")
@pytest.mark.parametrize("view", ["transposed", "reversed", "stepped", "broadcast", "fortran"])
def test_strides_do_not_show_in_a_sum(view):
    data = cancelling(60 * 70).reshape(60, 70)
    viewed = {
        "transposed": data.T,
        "reversed": data[::-1, ::-1],
        "stepped": data[::3, 1::2],
        "broadcast": np.broadcast_to(data[0], (80, 70)),
        "fortran": np.asfortranarray(data),
    }[view]
    for axis in (None, 0, 1, -1, -2):
        result = generic("reduce_sum", viewed, axis=axis)
        copied = generic("reduce_sum", np.array(viewed, order="C", copy=True), axis=axis)
        assert bits_of(result) == bits_of(copied)
        lines = [viewed.ravel()] if axis is None else np.moveaxis(viewed, axis, -1)
        expected = [expected_sum(line, F32) for line in lines]
        assert np.ravel(bits_of(result)).tolist() == [bits_of(e) for e in expected]


@pytest.mark.rule("operations.8.8.no-axis")
def test_no_axis_makes_each_element_one_term():
    """The start value is included, so -0 becomes +0 and a NaN the canonical one."""
    data = tensor(NZERO, 0x3F80_0000, 0xFFC1_2345, 0x7F80_0001)
    assert bits_of(generic("reduce_sum", data, axis=())) == [0, 0x3F80_0000, NAN, NAN]
    assert bits_of(generic("reduce_prod", data, axis=())) == [NZERO, 0x3F80_0000, NAN, NAN]
    assert bits_of(generic("reduce_max", data, axis=())) == [NZERO, 0x3F80_0000, NAN, NAN]
    assert bits_of(generic("reduce_min", data, axis=())) == [NZERO, 0x3F80_0000, NAN, NAN]
    assert generic("reduce_sum", [1, 2], axis=()).tolist() == [1, 2]


@pytest.mark.rule("operations.8.8.specials")
@pytest.mark.parametrize("accumulator", [F32, F64])
@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([NZERO], 0),
        ([NZERO] * 40, 0),
        ([NZERO] * 5000, 0),
        ([INF, 0xFF80_0000], NAN),
        ([INF, 0x3F80_0000], INF),
        ([0xFFC1_2345, 0x3F80_0000], NAN),
        ([0x7F80_0001], NAN),
        ([0x3F80_0000, 0xBF80_0000], 0),
    ],
)
def test_sum_of_specials(terms, expected, accumulator):
    assert bits_of(generic("reduce_sum", tensor(*terms), accumulator_dtype=accumulator)) == expected


@pytest.mark.rule("operations.8.8.int32-sum")
def test_int32_sum_is_checked_at_the_end_only():
    high, low = 2**31 - 1, -(2**31)
    assert generic("reduce_sum", [high, high, -high]).tolist() == high
    assert generic("reduce_sum", [low, low, low, high, high, high]).tolist() == -3
    result = generic("reduce_sum", [[high, high], [-1, -high]], axis=0)
    assert result.dtype is DType.Int32
    assert result.tolist() == [high - 1, 0]
    assert generic("reduce_sum", [[low, 1], [high, 1]], axis=0, keepdims=True).tolist() == [[-1, 2]]
    many = np.full(5000, high, np.int32)
    many[2500:] = -high
    assert generic("reduce_sum", many).tolist() == 0
    for terms in ([high, 1], [low, -1], [high] * 5000):
        with pytest.raises(OverflowError):
            generic("reduce_sum", terms)


@pytest.mark.rule("operations.8.8.empty")
def test_empty_reductions():
    empty = np.zeros((2, 0, 3), np.float32)
    assert bits_of(generic("reduce_sum", empty)) == 0
    assert bits_of(generic("reduce_sum", empty, axis=1)) == [[0] * 3] * 2
    assert bits_of(generic("reduce_sum", empty, accumulator_dtype=F64)) == 0
    assert bits_of(generic("reduce_prod", empty)) == 0x3F80_0000
    assert generic("reduce_sum", np.zeros(0, np.int32)).tolist() == 0
    assert generic("reduce_sum", np.zeros((0, 3), np.int32), axis=0).tolist() == [0, 0, 0]
    # An empty result of non-empty groups, or of empty ones, has no element.
    assert generic("reduce_sum", empty, axis=0).shape == (0, 3)
    assert generic("reduce_max", empty, axis=0).shape == (0, 3)
    assert generic("argmax", empty, axis=2).shape == (2, 0)
    for operation in ("reduce_max", "reduce_min", "argmax", "argmin"):
        for axis in (None, 1):
            with pytest.raises(ValueError, match=operation):
                generic(operation, empty, axis=axis)


@pytest.mark.rule("operations.8.8.product")
@pytest.mark.parametrize("length", [0, 1, 2, 33, 300])
def test_product_goes_in_ascending_order(length):
    rng = np.random.default_rng(length)
    data = (1 + rng.standard_normal((length, 3)) * 0.3).astype(np.float32)
    expected = []
    for column in data.T:
        product = np.float32(1)
        for term in column:
            product = product * term
        expected.append(product)
    assert bits_of(generic("reduce_prod", data, axis=0)) == bits_of(np.array(expected, np.float32))


@pytest.mark.rule("operations.8.8.product")
def test_product_overflows_and_stays_infinite():
    big, small = 0x7180_0000, 0x0D80_0000  # 2**100, 2**-100
    assert bits_of(generic("reduce_prod", tensor(big, big, small, small))) == INF
    assert bits_of(generic("reduce_prod", tensor(small, small, big, big))) == 0
    assert bits_of(generic("reduce_prod", tensor(big, small, big, small))) == 0x3F80_0000
    assert bits_of(generic("reduce_prod", tensor(big, big, 0))) == NAN
    assert bits_of(generic("reduce_prod", tensor(NZERO, 0x3F80_0000))) == NZERO
    # Row-major over both axes, whatever order the tuple names them in.
    square = tensor(big, big, small, small).reshape(2, 2)
    for axes in (None, (0, 1), (1, 0), (-1, 0)):
        assert bits_of(generic("reduce_prod", square, axis=axes)) == INF
    assert bits_of(generic("reduce_prod", square.T)) == 0x3F80_0000


EXTREMA = [
    # terms, maximum, minimum, argmax, argmin
    ([NZERO], NZERO, NZERO, 0, 0),
    ([NZERO, NZERO], NZERO, NZERO, 0, 0),
    ([NZERO, 0], 0, NZERO, 0, 0),
    ([0, NZERO], 0, NZERO, 0, 0),
    ([0x3F80_0000, 0x4000_0000, 0x4000_0000], 0x4000_0000, 0x3F80_0000, 1, 0),
    ([0xBF80_0000, 0xC000_0000, 0xC000_0000], 0xBF80_0000, 0xC000_0000, 0, 1),
    ([0x3F80_0000, 0xFFC1_2345, INF, 0x7F80_0001], NAN, NAN, 1, 1),
    ([0x7F80_0001], NAN, NAN, 0, 0),
    ([INF, 0xFF80_0000, INF], INF, 0xFF80_0000, 0, 1),
    ([0xFF80_0000, 0x7FC0_0000], NAN, NAN, 1, 1),
    ([0x8000_0001, NZERO, 0, 0x0000_0001], 0x0000_0001, 0x8000_0001, 3, 0),
    ([0xBF80_0000, NZERO, 0], 0, 0xBF80_0000, 1, 0),
    ([0x3F80_0000, 0, NZERO], 0x3F80_0000, NZERO, 0, 1),
]


@pytest.mark.rule("operations.8.8.extrema")
@pytest.mark.parametrize("row", EXTREMA)
def test_extrema(row):
    terms, *expected = row
    for axis in (None, 0, -1):
        maximum, minimum = (
            bits_of(generic(op, tensor(*terms), axis=axis)) for op in ("reduce_max", "reduce_min")
        )
        ordinals = [generic(op, tensor(*terms), axis=axis) for op in ("argmax", "argmin")]
        assert all(ordinal.dtype is DType.Int32 for ordinal in ordinals)
        assert [maximum, minimum, *(o.tolist() for o in ordinals)] == expected


@pytest.mark.rule("operations.8.8.arg-reductions")
def test_ordinals_are_row_major_positions_of_the_reduced_axes():
    data = np.array([[1, 5, 2], [5, 0, 5]], np.float32)
    assert generic("argmax", data).tolist() == 1
    assert generic("argmin", data).tolist() == 4
    assert generic("argmax", data, axis=0).tolist() == [1, 0, 1]
    assert generic("argmax", data, axis=-1).tolist() == [1, 0]
    assert generic("argmax", data, axis=1, keepdims=True).tolist() == [[1], [0]]
    assert generic("argmax", data, keepdims=True).tolist() == [[1]]
    assert generic("argmax", data.T).tolist() == 1
    assert generic("argmin", np.float32(3)).tolist() == 0


special = st.sampled_from(
    [0, NZERO, NAN, 0xFFC0_0001, INF, 0xFF80_0000, 1, 0x8000_0001, 0x3F80_0000]
)


@pytest.mark.rule("operations.8.8.extrema")
@given(st.lists(special | st.integers(0, 2**32 - 1), min_size=1, max_size=70))
def test_extrema_against_a_direct_reading(terms):
    """A NaN wins; else the value that no other beats, with +0 above -0 for the result only."""
    numbers = [float(np.uint32(t).view(np.float32)) for t in terms]
    nans = [i for i, n in enumerate(numbers) if math.isnan(n)]
    for name, best, zero in (("max", max, 0), ("min", min, NZERO)):
        value, ordinal = (generic(f"{kind}{name}", tensor(*terms)) for kind in ("reduce_", "arg"))
        if nans:
            assert bits_of(value) == NAN
            assert ordinal.tolist() == nans[0]
            continue
        winners = [i for i, n in enumerate(numbers) if n == best(numbers)]
        assert ordinal.tolist() == winners[0]
        candidates = {terms[i] for i in winners}
        assert bits_of(value) == (candidates.pop() if len(candidates) == 1 else zero)


@pytest.mark.rule("operations.8.9.cumsum")
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("shape", [(1, 1), (4, 5), (0, 3), (3, 0), (70, 2)])
def test_cumsum(shape, axis):
    data = cancelling(math.prod(shape)).reshape(shape)
    expected = np.empty(shape, np.float32)
    lines, out = np.moveaxis(data, axis, -1), np.moveaxis(expected, axis, -1)
    for index in np.ndindex(lines.shape[:-1]):
        total = np.float32(0)
        for position, term in enumerate(lines[index]):
            total = total + term
            out[(*index, position)] = total
    for result in (generic("cumsum", data, axis), generic("cumsum", data, axis=axis)):
        assert result.shape == shape
        assert bits_of(result) == bits_of(expected)


@pytest.mark.rule("operations.8.9.cumsum")
def test_cumsum_of_specials():
    assert bits_of(generic("cumsum", tensor(NZERO), 0)) == [0]
    assert bits_of(generic("cumsum", tensor(NZERO, NZERO), 0)) == [0, 0]
    given_bits = tensor(0x3F80_0000, INF, 0xFF80_0000, 0x3F80_0000)
    assert bits_of(generic("cumsum", given_bits, -1)) == [0x3F80_0000, INF, NAN, NAN]
    assert bits_of(generic("cumsum", tensor(0xFFC1_2345), 0)) == [NAN]
    # Each prefix rounds: 2**24 + 1 + 1 stays 2**24.
    steps = generic("cumsum", np.array([2.0**24, 1, 1], np.float32), 0)
    assert steps.tolist() == [2.0**24] * 3


@pytest.mark.rule("operations.8.8.axes")
@settings(max_examples=60)
@given(data=st.data(), shape=st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple))
def test_any_axes_of_an_exact_sum(data, shape):
    """Int32 sums have no order, so NumPy's are right, over any axes, negative ones too."""
    rank = len(shape)
    axes = data.draw(
        st.none()
        | st.integers(-rank, rank - 1)
        | st.sets(st.integers(0, rank - 1)).map(
            lambda chosen: tuple(a - rank if a % 2 else a for a in chosen)
        )
    )
    keepdims = data.draw(st.booleans())
    tensor_ = np.arange(math.prod(shape), dtype=np.int32).reshape(shape) - 7
    result = generic("reduce_sum", tensor_, axis=axes, keepdims=keepdims)
    expected = np.sum(tensor_, axis=axes, keepdims=keepdims, dtype=np.int64)
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


@pytest.mark.rule("operations.7.10.fresh-storage")
def test_a_reduction_leaves_its_operand_alone():
    operand = asarray(tensor(NZERO, 0x7F80_0001))
    generic("reduce_sum", operand, axis=())
    assert operand.numpy().view(np.uint32).tolist() == [NZERO, 0x7F80_0001]
