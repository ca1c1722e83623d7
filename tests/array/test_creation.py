"""Constructors: dtypes by the kind of number, elements of a range by one rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bittrue
from bittrue import DType, arange, asarray, linspace
from bittrue.scalars import convert_scalar

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
C64, C128 = DType.Complex64, DType.Complex128


@pytest.mark.rule("promotion.creation.defaults")
def test_dtypes_of_constructors():
    assert bittrue.zeros(2).dtype is bittrue.ones((1, 2)).dtype is bittrue.empty(3).dtype is F32
    assert bittrue.eye(2).dtype is F32
    for value, dtype in ((True, BOOL), (3, I32), (2.5, F32), (Fraction(1, 3), F32), (1j, C64)):
        assert bittrue.full((2,), value).dtype is dtype
    for value, dtype in ((True, BOOL), (3, I32), (2.5, F32), (1j, C64)):
        assert asarray(value).dtype is dtype
    assert bittrue.full((2,), 3, dtype=F64).dtype is F64
    assert bittrue.ones(2, dtype=BOOL).tolist() == [True, True]
    for dtype in (F32, F64, I32, BOOL, C64, C128):
        for made, value in (
            (bittrue.zeros((2,), dtype=dtype), 0), (bittrue.ones((2,), dtype=dtype), 1),
            (bittrue.empty((2,), dtype=dtype), 0), (bittrue.eye(1, dtype=dtype)[0], 1),
        ):  # fmt: skip
            assert made.dtype is dtype
            assert set(made.tolist()) == {value}
            assert made.writable
            for like in (bittrue.zeros_like, bittrue.ones_like, bittrue.empty_like):
                assert like(made).dtype is dtype
                assert like(made).shape == made.shape
                assert like(made, dtype=F64).dtype is F64
    assert bittrue.full_like(asarray([1, 2]), 7).tolist() == [7, 7]


@pytest.mark.rule("promotion.creation.refused")
def test_arguments_that_are_refused():
    for refused, error in (
        (lambda: bittrue.zeros((-1,)), ValueError),
        (lambda: bittrue.zeros((2.0,)), TypeError),
        (lambda: bittrue.zeros(2, dtype="float32"), TypeError),
        (lambda: bittrue.zeros(2, dtype=np.float32), TypeError),
        (lambda: bittrue.zeros(2, dtype=DType.E4M3), NotImplementedError),
        (lambda: bittrue.zeros(2, device="gpu"), ValueError),
        (lambda: bittrue.full(2, "1"), TypeError),
        (lambda: bittrue.full(2, 1.5, dtype=I32), TypeError),
        (lambda: bittrue.full(2, 1j, dtype=F64), TypeError),
        (lambda: bittrue.full(2, 2**31), OverflowError),
        (lambda: bittrue.full(2, 10**60, dtype=F32), OverflowError),
        (lambda: bittrue.full(2, 1, dtype=BOOL), TypeError),
        (lambda: bittrue.eye(-1), ValueError),
        (lambda: arange(3, device="gpu"), ValueError),
        (lambda: arange(0, 3, 0), ValueError),
        (lambda: arange(math.inf), ValueError),
        (lambda: arange(0.0, math.nan), ValueError),
        (lambda: arange(1j), TypeError),
        (lambda: arange(True), TypeError),  # noqa: FBT003
        (lambda: arange(np.float32(3)), TypeError),
        (lambda: arange(3, dtype=BOOL), TypeError),
        (lambda: arange(3, dtype=C64), TypeError),
        (lambda: arange(0, 1, 0.25, dtype=I32), TypeError),
        (lambda: arange(2**31, 2**31 + 2), OverflowError),
        (lambda: arange(2**31 - 1, 2**31 + 2), OverflowError),
        (lambda: linspace(0, 1, -1), ValueError),
        (lambda: linspace(0, math.inf, 3), ValueError),
        (lambda: linspace(0, 1j, 3, dtype=F32), TypeError),
        (lambda: linspace(0, 1, 3.0), TypeError),
        (lambda: linspace(0, 1, 3, dtype=I32), TypeError),
    ):
        with pytest.raises(error):
            refused()


@pytest.mark.rule("promotion.creation.eye")
@pytest.mark.parametrize("k", [-4, -1, 0, 2, 5])
@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (3, None), (0, 2)])
def test_eye(rows, columns, k):
    made = bittrue.eye(rows, columns, k=k)
    assert made.tolist() == np.eye(rows, columns, k).tolist()


@pytest.mark.rule("promotion.creation.arange")
def test_arange_of_ints():
    assert arange(4).tolist() == [0, 1, 2, 3]
    assert arange(4).dtype is I32
    assert arange(2, 9, 3).tolist() == [2, 5, 8]
    assert arange(3, -4, -3).tolist() == [3, 0, -3]
    assert arange(3, 1).shape == (0,)
    assert arange(5, dtype=F64).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert arange(2**31 - 2, 2**31).tolist() == [2**31 - 2, 2**31 - 1]
    assert arange(2.0, dtype=I32).tolist() == [0, 1]


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**6), 10**6),
    st.fractions(-100, 100),
)


def rounded(values, dtype):
    """Round exact numbers one by one, by the converter of scalars."""
    return [convert_scalar(value, dtype).bits for value in values]


@pytest.mark.rule("promotion.creation.linspace")
@given(NUMBERS, NUMBERS, st.integers(0, 40), st.booleans(), st.sampled_from([F32, F64]))
def test_linspace_rounds_the_exact_number_once(start, stop, count, endpoint, dtype):
    made = linspace(start, stop, count, dtype=dtype, endpoint=endpoint)
    intervals = max(count - endpoint, 1)
    step = (Fraction(stop) - Fraction(start)) / intervals
    assert made.buffer.elements() == rounded(
        [Fraction(start) + k * step for k in range(count)], dtype
    )


@pytest.mark.rule("promotion.creation.arange")
@given(NUMBERS, st.fractions(-3, 3), st.integers(0, 40), st.sampled_from([F32, F64]))
def test_arange_rounds_the_exact_number_once(start, step, count, dtype):
    if not step:
        return
    stop = Fraction(start) + count * step
    made = arange(start, stop, step, dtype=dtype)
    assert made.buffer.elements() == rounded(
        [Fraction(start) + k * step for k in range(count)], dtype
    )


@pytest.mark.rule("promotion.creation.linspace")
def test_linspace_boundaries():
    # In tenths the exact 0.3 is 3/10 and the sum of three roundings is another float.
    made = linspace(0, 1, 11, dtype=F64)
    assert made.tolist() == [float(Fraction(k, 10)) for k in range(11)]
    assert linspace(0.1, 0.7, 7)[-1].item() == float(np.float32(0.7))
    assert linspace(1, 2, 1).tolist() == [1.0]
    assert linspace(1, 2, 0).shape == (0,)
    assert linspace(1, 2, 2, endpoint=False).tolist() == [1.0, 1.5]
    assert linspace(-1e-46, 1e-46, 3).buffer.elements() == [0x8000_0000, 0, 0]
    assert linspace(0.0, 2e38, 3, dtype=F32).tolist()[1] == float(np.float32(1e38))
    assert linspace(-1.7e308, 1.7e308, 3, dtype=F64).tolist() == [-1.7e308, 0.0, 1.7e308]
    made = linspace(0, 1 + 2j, 3)
    assert made.dtype is C64
    assert made.tolist() == [0j, 0.5 + 1j, 1 + 2j]
    assert linspace(0, 1, 3, dtype=C128).tolist() == [0j, 0.5 + 0j, 1 + 0j]
    many = linspace(0, 1, 100_001)
    assert many.tolist()[::10_000] == [float(np.float32(k / 10)) for k in range(11)]


@pytest.mark.rule("promotion.creation.from_numpy")
@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128", "int32", "bool"])
def test_from_numpy_is_a_view(name):
    array = np.array([0, 1, 1], name)
    x = bittrue.from_numpy(array[::-1])
    assert x.tolist() == [1, 1, 0]
    assert x.buffer.array.ctypes.data == array.ctypes.data + 2 * array.itemsize
    array[2] = 0
    assert x.tolist() == [0, 1, 0]
    x[0] = x[1]
    assert array.tolist() == [0, 1, 1]


@pytest.mark.rule("promotion.creation.from_numpy")
def test_from_numpy_never_converts():
    for array, error in (
        (np.ones(2, ">f4"), TypeError), (np.ones(2, np.int64), TypeError),
        (np.ones(2, np.longdouble), TypeError), (np.ones(2, np.float16), NotImplementedError),
        ([1.0], TypeError), (np.float32(1), TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            bittrue.from_numpy(array)
    assert asarray(np.ones(2, ">f4")).dtype is F32
