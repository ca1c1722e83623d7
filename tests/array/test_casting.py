"""Casts by name: one rounding, and nothing dropped that was not asked for."""

import math

import numpy as np
import pytest

import bittrue
from bittrue import DType, asarray

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
C64, C128 = DType.Complex64, DType.Complex128


@pytest.mark.rule("promotion.casts.rounding")
def test_float64_rounds_to_float32_ties_to_even():
    x = asarray([1 + 2.0**-24, 1 + 3 * 2.0**-24, 1e39, -1e-60, 2.0**-149 * 0.5, -math.inf], F64)
    assert x.astype(F32).buffer.elements() == [
        0x3F80_0000, 0x3F80_0002, 0x7F80_0000, 0x8000_0000, 0, 0xFF80_0000,
    ]  # fmt: skip
    assert x.astype(F32).astype(F64).tolist()[:2] == [1.0, 1 + 2.0**-22]


@pytest.mark.rule("promotion.casts.rounding")
def test_int32_rounds_once_and_bool_is_0_or_1():
    assert asarray([2**24 + 1, -(2**31)]).astype(F32).tolist() == [2.0**24, -(2.0**31)]
    assert asarray([2**31 - 1]).astype(F64).tolist() == [2.0**31 - 1]
    assert asarray([3]).astype(C64).tolist() == [3 + 0j]
    for dtype in (F32, F64, C64, C128, I32):
        assert asarray([True, False]).astype(dtype).tolist() == [1, 0]


@pytest.mark.rule("promotion.casts.complex")
def test_complex_casts_go_by_component():
    x = asarray([complex(1 + 2.0**-24, -1e39)], C128)
    assert x.astype(C64).buffer.elements() == [0xFF80_0000_3F80_0000]
    assert asarray([-0.0]).astype(C64).buffer.elements() == [0x0000_0000_8000_0000]
    for dtype in (F32, F64, I32):
        with pytest.raises(TypeError):
            x.astype(dtype)
        with pytest.raises(TypeError):
            x.astype(dtype, truncate=True)


@pytest.mark.rule("promotion.casts.nan")
def test_nans_become_canonical_and_stay_where_the_dtype_stays():
    x = asarray(np.array([0xFFC1_2345, 0x7F80_0001], np.uint32).view(np.float32))
    assert x.astype(F64).buffer.elements() == [0x7FF8_0000_0000_0000] * 2
    assert x.astype(C64).buffer.elements() == [0x7FC0_0000] * 2
    assert x.astype(F32).buffer.elements() == [0xFFC1_2345, 0x7F80_0001]
    assert x.astype(F32) is not x
    assert x.astype(F32, copy=False) is x


@pytest.mark.rule("promotion.casts.truncate")
def test_fractions_are_dropped_by_name_alone():
    x = asarray([2.9, -2.9, -0.0])
    with pytest.raises(TypeError, match="truncate"):
        x.astype(I32)
    assert x.astype(I32, truncate=True).tolist() == [2, -2, 0]
    limits = asarray([2147483647.9, -2147483648.9], F64)
    assert limits.astype(I32, truncate=True).tolist() == [2**31 - 1, -(2**31)]
    for value, error in (
        (2147483648.0, OverflowError), (-2147483649.0, OverflowError), (math.inf, OverflowError),
        (-math.inf, OverflowError), (math.nan, ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            asarray([0.0, value], F64).astype(I32, truncate=True)


@pytest.mark.rule("promotion.casts.bool")
def test_bool_says_whether_an_element_differs_from_zero():
    assert asarray([0.0, -0.0, math.nan, 1e-45]).astype(BOOL).tolist() == [
        False, False, True, True,
    ]  # fmt: skip
    assert asarray([0, -1]).astype(BOOL).tolist() == [False, True]
    assert asarray([0j, 1j]).astype(BOOL).tolist() == [False, True]


@pytest.mark.rule("promotion.casts.refused")
def test_dtypes_that_are_refused():
    x = asarray([1.0])
    for dtype in ("Float32", np.float32, float, None, DType.Any):
        with pytest.raises(TypeError):
            x.astype(dtype)
    with pytest.raises(NotImplementedError):
        x.astype(DType.E4M3)


@pytest.mark.rule("promotion.casts.record")
def test_a_cast_is_recorded_as_a_materialised_conversion():
    with bittrue.record() as log:
        asarray([1.0, 2.0]).astype(F64)
    (report,) = log
    assert (report.operation, report.input_dtypes, report.output_dtype) == ("cast", (F32,), F64)
    assert report.conversions == (bittrue.Conversion(0, F32, F64, materialised=True, elements=2),)
