"""matmul and conv_general against independent, naive statements of 8.10 and 8.11."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bittrue import SIMPLE, DType, run

F32, F64 = DType.Float32, DType.Float64
NAN, NZERO, INF, ONE = 0x7FC0_0000, 0x8000_0000, 0x7F80_0000, 0x3F80_0000
LOW, HIGH = -(2**31), 2**31 - 1


def generic(operation, *operands, **attributes):
    return run(operation, *operands, policy=SIMPLE, backend="generic", **attributes)


def bits_of(array) -> list:
    data = np.array(array.numpy() if hasattr(array, "numpy") else array, np.float32)
    return data.view(np.uint32).tolist()


def canonical_bits(array) -> list:
    """Bits of a result of NumPy, whose NaNs have bits of their own."""
    array = np.array(array, np.float32)
    array[np.isnan(array)] = np.nan
    return array.view(np.uint32).tolist()


def tensor(shape, *bits: int) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32).reshape(shape)


def naive_matmul(lhs, rhs, accumulator):
    """Every product is rounded to binary32 and added from +0 in ascending k."""
    wide = np.float64 if accumulator is F64 else np.float32
    out = np.empty((lhs.shape[0], rhs.shape[1]), np.float32)
    with np.errstate(all="ignore"):
        for i, j in np.ndindex(out.shape):
            total = wide(0)
            for k in range(lhs.shape[1]):
                total = total + wide(np.float32(lhs[i, k]) * np.float32(rhs[k, j]))
            out[i, j] = np.float32(total)
    return out


def drawn(rng, *shape):
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-10, 15, shape)).astype(np.float32)


@pytest.mark.rule("operations.8.10.matmul-floating")
@pytest.mark.parametrize("accumulator", [None, F32, F64])
@pytest.mark.parametrize("extents", [(1, 1, 1), (2, 40, 3), (3, 7, 2), (1, 300, 1), (2, 33, 2)])
def test_matmul_of_cancelling_terms(extents, accumulator):
    n, k, m = extents
    rng = np.random.default_rng([n, k, m])
    lhs, rhs = drawn(rng, n, k), drawn(rng, k, m)
    half = k // 2
    lhs[:, half : 2 * half] = -lhs[:, half - 1 :: -1] if half else lhs[:, :0]
    rhs[half : 2 * half] = rhs[:half][::-1] * np.float32(1.0000001) if half else rhs[:0]
    result = generic("matmul", lhs, rhs, accumulator_dtype=accumulator)
    assert result.dtype is F32
    assert result.shape == (n, m)
    assert bits_of(result) == canonical_bits(naive_matmul(lhs, rhs, accumulator))


@pytest.mark.rule("operations.8.10.matmul-terms")
def test_terms_are_rounded_before_they_are_added():
    """(1 + 2**-23)**2 - (1 + 2**-22): a fused product, or one in binary64, leaves 2**-46."""
    near = 0x3F80_0001
    lhs = tensor((1, 2), 0xBF80_0000, near)
    rhs = tensor((2, 1), 0x3F80_0002, near)
    for accumulator in (F32, F64):
        assert bits_of(generic("matmul", lhs, rhs, accumulator_dtype=accumulator)) == [[0]]
    # The accumulators differ: 2**24 + 1 - 2**24.
    lhs, rhs = np.array([[2.0**24, 1, -(2.0**24)]], np.float32), np.ones((3, 1), np.float32)
    assert generic("matmul", lhs, rhs).tolist() == [[0.0]]
    assert generic("matmul", lhs, rhs, accumulator_dtype=F64).tolist() == [[1.0]]
    # A product beyond binary32 is infinite, however wide the accumulator.
    big = np.array([[2.0**100]], np.float32)
    assert bits_of(generic("matmul", big, big, accumulator_dtype=F64)) == [[INF]]


@pytest.mark.rule("operations.8.10.matmul-floating")
@pytest.mark.parametrize("accumulator", [F32, F64])
def test_matmul_of_specials(accumulator):
    def dot(*pairs):
        lhs, rhs = zip(*pairs, strict=True)
        operands = tensor((1, -1), *lhs), tensor((-1, 1), *rhs)
        return bits_of(generic("matmul", *operands, accumulator_dtype=accumulator))[0][0]

    assert dot((0, INF)) == NAN
    assert dot((INF, ONE), (0xFF80_0000, ONE)) == NAN
    assert dot((NZERO, ONE)) == 0
    assert dot((ONE, 0x7F80_0001)) == NAN
    assert dot((0xFFC1_2345, 0)) == NAN
    assert dot((0x0000_0001, ONE), (0x0000_0002, ONE)) == 3


@pytest.mark.rule("operations.8.10.empty")
def test_matmul_of_empty_extents():
    for accumulator in (F32, F64):
        result = generic(
            "matmul", np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32),
            accumulator_dtype=accumulator,
        )  # fmt: skip
        assert bits_of(result) == [[0] * 3] * 2
    result = generic("matmul", np.zeros((2, 0), np.int32), np.zeros((0, 3), np.int32))
    assert result.dtype is DType.Int32
    assert result.tolist() == [[0] * 3] * 2
    for n, m in ((0, 3), (2, 0), (0, 0)):
        result = generic("matmul", np.zeros((n, 4), np.float32), np.zeros((4, m), np.float32))
        assert result.shape == (n, m)


@pytest.mark.rule("operations.8.10.matmul-mixed")
def test_mixed_matmul_rounds_int32_operands_first():
    lhs = np.array([[16777217, -1]], np.int32)
    rhs = np.array([[1.0], [16777216.0]], np.float32)
    assert generic("matmul", lhs, rhs).tolist() == [[0.0]]
    assert generic("matmul", rhs.T, lhs.T).tolist() == [[16777216.0 * 0 + 16777216 - 16777216]]


@pytest.mark.rule("operations.8.10.matmul-int32")
@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ([LOW] * 4, [LOW] * 4, None),  # 2**64: zero if it wrapped in 64 bits
        ([LOW] * 8, [LOW] * 4 + [HIGH] * 4, None),  # 2**33
        ([LOW] * 4 + [HIGH, 1] * 4, [LOW] * 4 + [LOW, LOW] * 4, 0),  # 2**64 - 2**64
        ([LOW] * 4 + [LOW, LOW] * 4 + [7], [LOW] * 4 + [HIGH, 1] * 4 + [1], 7),
        ([HIGH] * 4 + [HIGH] * 4 + [5], [HIGH] * 4 + [-HIGH] * 4 + [-3], -15),
        ([65536, 1], [32768, -1], HIGH),
        ([65536, 1], [32768, 0], None),
        ([65536, 1], [-32768, 0], LOW),
        ([65536, 1], [-32768, -1], None),
        ([LOW, HIGH, HIGH], [-1, -1, 0], 1),
    ],
)
def test_int32_matmul_checks_the_finished_sum_only(lhs, rhs, expected):
    exact = sum(a * b for a, b in zip(lhs, rhs, strict=True))
    operands = np.array([lhs], np.int32), np.array(rhs, np.int32).reshape(-1, 1)
    if expected is None:
        assert not LOW <= exact <= HIGH
        with pytest.raises(OverflowError, match=r"\(0, 0\)"):
            generic("matmul", *operands)
    else:
        assert exact == expected
        result = generic("matmul", *operands)
        assert result.dtype is DType.Int32
        assert result.tolist() == [[expected]]


# --- conv_general -------------------------------------------------------------------------------


def spread(array, axis, dilation):
    """Insert dilation - 1 zeros between neighbours; nothing stays nothing."""
    extent = array.shape[axis]
    shape = list(array.shape)
    shape[axis] = (extent - 1) * dilation + 1 if extent else 0
    out = np.zeros(shape, np.float32)
    index = [slice(None)] * array.ndim
    index[axis] = slice(0, None, dilation)
    out[tuple(index)] = array
    return out


def naive_convolution(lhs, kernel, strides, padding, d, e, groups, dims):
    """Materialise the dilated, padded input and slide the dilated kernel over it."""
    lhs_dims, kernel_dims, output_dims = dims
    lhs, kernel = lhs.transpose(lhs_dims), kernel.transpose(kernel_dims)
    spatial = lhs.ndim - 2
    window = kernel.shape[2:]
    for axis in range(spatial):
        lhs = spread(lhs, 2 + axis, d[axis])
    lhs = np.pad(lhs, [(0, 0), (0, 0), *padding])
    extents = [
        math.floor(Fraction(lhs.shape[2 + i] - ((window[i] - 1) * e[i] + 1), strides[i])) + 1
        for i in range(spatial)
    ]
    features, inputs = kernel.shape[:2]
    out = np.zeros((lhs.shape[0], features, *extents), np.float32)
    with np.errstate(all="ignore"):
        for batch, feature, *where in np.ndindex(out.shape):
            first = feature // (features // groups) * inputs
            total = np.float32(0)
            for c, *tap in itertools.product(range(inputs), *map(range, window)):
                at = [y * s + j * k for y, s, j, k in zip(where, strides, tap, e, strict=True)]
                product = lhs[(batch, first + c, *at)] * kernel[(feature, c, *tap)]
                total = total + product
            out[(batch, feature, *where)] = total
    return np.moveaxis(out, range(out.ndim), output_dims)


@st.composite
def convolutions(draw):
    spatial = draw(st.integers(1, 3))
    small = st.integers(1, 3 if spatial < 3 else 2)

    def per_axis(entries):
        return tuple(draw(entries) for _ in range(spatial))

    groups = draw(st.integers(1, 3))
    inputs, features = draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    window, strides, d, e = (per_axis(small) for _ in range(4))
    padding = per_axis(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    sizes = tuple(
        # Large enough for at least one position.
        draw(st.integers(lower, lower + 2))
        for lower in (
            max(1, -((sum(p) - (k - 1) * w) // dil) + 1)
            for k, w, dil, p in zip(window, e, d, padding, strict=True)
        )
    )
    dims = tuple(tuple(draw(st.permutations(range(spatial + 2)))) for _ in range(3))
    roles = (
        (draw(st.integers(0, 2)), groups * inputs, *sizes),
        (features, inputs, *window),
    )
    seed = draw(st.integers(0, 2**32 - 1))
    return roles, strides, padding, d, e, groups, dims, seed


def placed(rng, roles, dims):
    """Draw a tensor whose axis dims[i] has the extent of role i; some elements are special."""
    shape = [0] * len(roles)
    for role, axis in enumerate(dims):
        shape[axis] = roles[role]
    data = drawn(rng, *shape)
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)
    where = rng.random(shape) < 0.06
    data[where] = rng.choice(specials, int(where.sum()))
    return data


@pytest.mark.rule("operations.8.11.conv-general")
@settings(max_examples=80)
@given(convolutions())
def test_convolution_of_any_geometry(case):
    (lhs_roles, kernel_roles), strides, padding, d, e, groups, dims, seed = case
    rng = np.random.default_rng(seed)
    lhs, kernel = placed(rng, lhs_roles, dims[0]), placed(rng, kernel_roles, dims[1])
    expected = naive_convolution(lhs, kernel, strides, padding, d, e, groups, dims)
    result = generic(
        "conv_general", lhs, kernel, strides, padding, d, e, groups, *dims,
    )  # fmt: skip
    assert result.shape == expected.shape
    assert bits_of(result) == canonical_bits(expected)
    named = generic(
        "conv_general", lhs, kernel, strides=list(strides), padding=[list(p) for p in padding],
        lhs_dilation=d, kernel_dilation=e, feature_groups=groups,
        lhs_dims=dims[0], kernel_dims=dims[1], output_dims=dims[2],
    )  # fmt: skip
    assert bits_of(named) == bits_of(result)


def conv1(lhs, kernel, **attributes):
    lhs, kernel = (np.array(v, np.float32).reshape(1, 1, -1) for v in (lhs, kernel))
    return generic(
        "conv_general", lhs, kernel, **{"strides": (1,), "padding": ((0, 0),)} | attributes
    )


@pytest.mark.rule("operations.8.11.conv-general")
def test_the_kernel_is_not_reversed():
    assert conv1([1, 2, 3, 4], [10, 1]).tolist() == [[[12.0, 23.0, 34.0]]]


@pytest.mark.rule("operations.8.11.holes-contribute")
def test_padding_and_holes_contribute_their_product():
    inf = math.inf
    assert bits_of(conv1([1, 1], [inf, 1], padding=((1, 0),))) == [[[NAN, INF]]]
    assert bits_of(conv1([1, 1], [1, inf], lhs_dilation=(2,))) == [[[NAN, INF]]]
    assert bits_of(conv1([1], [1, inf], padding=((0, 1),))) == [[[NAN]]]
    assert bits_of(conv1([1], [1, -inf], padding=((0, 1),))) == [[[NAN]]]
    assert bits_of(conv1([1], [1, math.nan], padding=((0, 1),))) == [[[NAN]]]
    # A product of -0 cannot turn the sum from +0: it starts at +0.
    assert bits_of(conv1([-0.0], [1])) == [[[0]]]
    assert bits_of(conv1([1], [-1.0], padding=((1, 1),))) == [[[0, 0xBF80_0000, 0]]]


@pytest.mark.rule("operations.8.11.extent")
def test_the_extent_is_a_mathematical_floor():
    # numerator -1, stride 2: floor gives 0 and is refused; truncation would give 1.
    with pytest.raises(ValueError, match="extent of 0"):
        conv1([1], [1, 1], strides=(2,))
    assert conv1([1, 1], [1, 1], strides=(2,)).shape == (1, 1, 1)
    assert conv1([1, 2, 3, 4, 5], [1], strides=(2,)).tolist() == [[[1.0, 3.0, 5.0]]]
    assert conv1([1, 2, 3, 4, 5, 6], [1], strides=(4,)).tolist() == [[[1.0, 5.0]]]


@pytest.mark.rule("operations.8.11.empty")
def test_convolution_of_empty_extents():
    weights = np.ones((2, 3, 2), np.float32)
    attributes = {"strides": (1,), "padding": ((2, 1),)}
    # n = 0: only padding, p + q = 3 positions.
    lhs = np.zeros((1, 3, 0), np.float32)
    result = generic("conv_general", lhs, weights, lhs_dilation=(3,), **attributes)
    assert bits_of(result) == [[[0, 0]] * 2]
    with pytest.raises(ValueError, match="conv_general"):
        generic("conv_general", lhs, weights, strides=(1,), padding=((0, 1),))
    # No in-features: sums of +0.
    result = generic(
        "conv_general",
        np.zeros((1, 0, 4), np.float32),
        np.ones((2, 0, 2), np.float32),
        **attributes,
    )
    assert bits_of(result) == [[[0] * 6] * 2]
    # No batch, no out-features: no element.
    shape = generic("conv_general", np.zeros((0, 3, 4), np.float32), weights, **attributes).shape
    assert shape == (0, 2, 6)
    none = np.zeros((0, 3, 2), np.float32)
    shape = generic("conv_general", np.zeros((1, 3, 4), np.float32), none, **attributes).shape
    assert shape == (1, 0, 6)
    with pytest.raises(ValueError, match="conv_general"):
        generic("conv_general", np.zeros((1, 3, 4), np.float32), np.ones((2, 3, 0), np.float32),
                **attributes)  # fmt: skip


@pytest.mark.rule("operations.8.11.order")
def test_the_in_feature_is_the_slowest_term():
    """[2**24, 1] in feature 0, [1, -2**24] in feature 1: 2**24+1+1-2**24 gives 0."""
    lhs = np.array([[[2.0**24, 1.0], [1.0, -(2.0**24)]]], np.float32)
    kernel = np.ones((1, 2, 2), np.float32)
    result = generic("conv_general", lhs, kernel, (1,), ((0, 0),))
    assert result.tolist() == [[[0.0]]]
    swapped = np.array([[[2.0**24, -(2.0**24)], [1.0, 1.0]]], np.float32)
    assert generic("conv_general", swapped, kernel, (1,), ((0, 0),)).tolist() == [[[2.0]]]
