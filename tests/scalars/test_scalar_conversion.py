"""The converter of Python numbers: operations.md section 4, promotion.md 2.3."""

from __future__ import annotations

import math
import numbers
import struct
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bittrue.dtypes import DType
from bittrue.scalars import ScalarConversion, convert_scalar, scalar_value

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
T32, T64 = 2**128 - 2**103, 2**1024 - 2**970
INF, NINF, NAN = 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000
INF64, NAN64, SIGN64 = 0x7FF0 << 48, 0x7FF8 << 48, 1 << 63


class Wrapped:
    """A real that is neither an int nor a float; arithmetic is not needed of it."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


class Ratio(Wrapped):
    """With as_integer_ratio(); its float() is not to be read."""

    def __init__(self, numerator: int, denominator: int) -> None:
        super().__init__(math.nan)
        self.ratio = numerator, denominator

    def as_integer_ratio(self) -> tuple[int, int]:
        return self.ratio


class Whole:
    """An Integral that is no int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    def __float__(self) -> float:
        msg = "an integer went through a float"
        raise AssertionError(msg)


numbers.Real.register(Wrapped)
numbers.Integral.register(Whole)

FLOAT32 = [
    (False, 0, False, False),
    (True, 0x3F80_0000, False, False),
    (0, 0, False, False),
    (-1, 0xBF80_0000, False, False),
    (2**24 + 1, 0x4B80_0000, True, False),
    (2**24 + 3, 0x4B80_0002, True, False),
    (2**60 + 2**36 + 1, 0x5D80_0001, True, False),
    (-(2**60) - 2**36 - 1, 0xDD80_0001, True, False),
    (2**60 + 2**36, 0x5D80_0000, True, False),
    (2**127, 0x7F00_0000, False, False),
    (2**128 - 2**104, 0x7F7F_FFFF, False, False),
    (T32 - 1, 0x7F7F_FFFF, True, False),
    (-T32 + 1, 0xFF7F_FFFF, True, False),
    (Whole(2**60 + 2**36 + 1), 0x5D80_0001, True, False),
    (0.0, 0, False, False),
    (-0.0, 0x8000_0000, False, False),
    (0.1, 0x3DCC_CCCD, True, False),
    (0.5, 0x3F00_0000, False, False),
    (1e39, INF, True, True),
    (-1e39, NINF, True, True),
    (float(T32), INF, True, True),
    (math.nextafter(float(T32), 0), 0x7F7F_FFFF, True, False),
    (-float(T32), NINF, True, True),
    (1e308, INF, True, True),
    (math.inf, INF, False, False),
    (-math.inf, NINF, False, False),
    (math.nan, NAN, False, False),
    (-math.nan, NAN, False, False),
    (2.0**-149, 0x0000_0001, False, False),
    (2.0**-150, 0, True, False),
    (math.nextafter(2.0**-150, 1), 0x0000_0001, True, False),
    (-(2.0**-150), 0x8000_0000, True, False),
    (5e-324, 0, True, False),
    (-5e-324, 0x8000_0000, True, False),
    (1 + 2.0**-24, 0x3F80_0000, True, False),
    (1 + 2.0**-24 + 2.0**-52, 0x3F80_0001, True, False),
    (Fraction(1, 3), 0x3EAA_AAAB, True, False),
    (Fraction(0), 0, False, False),
    (Fraction(3, 1), 0x4040_0000, False, False),
    # binary64 would round these to the tie first.
    (1 + Fraction(1, 2**24) + Fraction(1, 2**90), 0x3F80_0001, True, False),
    (1 + Fraction(1, 2**24) - Fraction(1, 2**90), 0x3F80_0000, True, False),
    (Fraction(T32) - Fraction(1, 3), 0x7F7F_FFFF, True, False),
    (Fraction(T32), INF, True, True),
    (Fraction(-(10**5000), 3), NINF, True, True),
    (Fraction(10**5000), INF, True, True),
    (Fraction(1, 10**5000), 0, True, False),
    (Fraction(-1, 10**5000), 0x8000_0000, True, False),
    (Fraction(1, 2**150) + Fraction(1, 10**5000), 0x0000_0001, True, False),
    (Fraction(10**5000 + 1, 10**5000), 0x3F80_0000, True, False),
    (Wrapped(0.1), 0x3DCC_CCCD, True, False),
    (Wrapped(-0.0), 0x8000_0000, False, False),
    (Wrapped(math.inf), INF, False, False),
    (Wrapped(math.nan), NAN, False, False),
    (Wrapped(1e39), INF, True, True),
    (Ratio(1, 3), 0x3EAA_AAAB, True, False),
    (Ratio(10**5000, 1), INF, True, True),
    (Ratio(2**90 + 2**66 + 1, 2**90), 0x3F80_0001, True, False),
]  # fmt: skip


@pytest.mark.rule("operations.4.scalar-to-float32")
@pytest.mark.parametrize(("value", "bits", "inexact", "overflow"), FLOAT32)
def test_scalar_to_float32(value, bits, inexact, overflow):
    converted = convert_scalar(value, F32)
    assert f"{converted.bits:08x}" == f"{bits:08x}"
    assert converted == ScalarConversion(bits, inexact, overflow)


@pytest.mark.rule("promotion.2.3.scalar-to-float64")
@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (True, 0x3FF0 << 48),
        (2**53 + 1, 0x4340 << 48),
        (2**53 + 3, (0x4340 << 48) + 2),
        (2**200 + 2**147 + 1, (0x4C70 << 48) + 1),
        (T64 - 1, (0x7FF0 << 48) - 1),
        (0.1, 0x3FB9_9999_9999_999A),
        (-0.0, SIGN64),
        (5e-324, 1),
        (math.inf, INF64),
        (math.nan, NAN64),
        (Fraction(1, 3), 0x3FD5_5555_5555_5555),
        (Fraction(T64), INF64),
        (Fraction(-(10**5000)), SIGN64 | INF64),
        (Fraction(1, 2**1075), 0),
        (Fraction(1, 2**1075) + Fraction(1, 10**5000), 1),
        (Fraction(-1, 10**5000), SIGN64),
    ],
)
def test_scalar_to_float64(value, bits):
    assert f"{convert_scalar(value, F64).bits:016x}" == f"{bits:016x}"


@pytest.mark.rule("promotion.2.3.integer-overflow")
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [(T32, F32), (T32 + 1, F32), (2**128, F32), (10**400, F32), (T64, F64), (T64 + 1, F64)],
)
def test_an_integer_that_would_become_infinite(value, dtype, sign):
    for number in (sign * value, Whole(sign * value)):
        with pytest.raises(OverflowError, match=dtype.name):
            convert_scalar(number, dtype)


@pytest.mark.rule("operations.4.scalar-to-int32")
@pytest.mark.parametrize("value", [-(2**31), -1, 0, 16777217, 2**31 - 1, Whole(7)])
def test_scalar_to_int32_is_exact(value):
    assert convert_scalar(value, I32) == ScalarConversion(int(value))


@pytest.mark.rule("operations.4.scalar-to-int32")
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 10**30, Whole(2**31)])
def test_scalar_outside_int32(value):
    with pytest.raises(OverflowError) as caught:
        convert_scalar(value, I32)
    assert str(int(value)) in str(caught.value)


@pytest.mark.rule("operations.4.scalar-to-int32")
@pytest.mark.parametrize("dtype", [I32, F32, F64])
def test_an_integer_too_long_to_print_is_refused_all_the_same(dtype):
    """Python refuses to print integers of more than 4300 digits; the error may not try."""
    for value in (10**5000, -(10**5000)):
        with pytest.raises(OverflowError):
            convert_scalar(value, dtype)


@pytest.mark.rule("operations.7.2.storage")
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((value, I32) for value in
          (True, 1.5, 1.0, Fraction(2, 1), "1", None, 1j, Decimal(1), [1])),
        *((value, dtype) for dtype in (F32, F64)
          for value in ("1", None, 1j, Decimal(1), [1.0], (1,), b"1", object())),
        *((value, BOOL) for value in (1, 0, 1.0, "True", None)),
        *((1.0, dtype) for dtype in (DType.BFloat16, DType.E4M3, DType.Int8)),
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_kind(value, dtype):
    with pytest.raises(TypeError) as caught:
        convert_scalar(value, dtype)
    assert type(value).__name__ in str(caught.value)
    assert dtype.name in str(caught.value)


@pytest.mark.rule("operations.7.2.storage")
def test_bool_takes_bools():
    assert convert_scalar(True, BOOL) == ScalarConversion(1)  # noqa: FBT003
    assert convert_scalar(False, BOOL) == ScalarConversion(0)  # noqa: FBT003


def rounded(exact: Fraction) -> int:
    """Bits of the nearest binary32 by search among encodings: they ascend with their values."""

    def magnitude(bits: int) -> Fraction:
        field = bits >> 23
        significand = bits & 0x7F_FFFF | (0x80_0000 if field else 0)
        return significand * Fraction(2) ** (max(field, 1) - 150)

    low, high, target = 0, INF, abs(exact)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(middle) <= target else (low, middle)
    down, up = target - magnitude(low), magnitude(high) - target
    bits = low if down < up or (down == up and low % 2 == 0) else high
    return bits | (0x8000_0000 if exact < 0 else 0)


@pytest.mark.rule("operations.4.one-rounding")
@given(st.integers(-(2**140), 2**140) | st.integers(-(2**70), 2**70))
@example(T32 - 1)
@example(T32)
def test_any_integer(value):
    if abs(value) >= T32:
        with pytest.raises(OverflowError):
            convert_scalar(value, F32)
    else:
        assert convert_scalar(value, F32).bits == rounded(Fraction(value))


@pytest.mark.rule("operations.4.one-rounding")
@given(
    st.fractions(max_denominator=10**60)
    | st.builds(
        lambda n, e: n * Fraction(2) ** e, st.integers(-(2**90), 2**90), st.integers(-260, 60)
    )
)
def test_any_ratio(value):
    converted = convert_scalar(value, F32)
    assert converted.bits == rounded(value)
    assert converted.overflow is (converted.bits & 0x7FFF_FFFF == INF)
    if not converted.overflow:
        stored = Fraction(scalar_value(converted.bits, F32))
        assert converted.inexact is (stored != value)


@pytest.mark.rule("operations.4.one-rounding")
@given(st.floats())
def test_any_float(value):
    converted = convert_scalar(value, F32).bits
    if math.isnan(value):
        assert converted == NAN
    elif math.isinf(value) or value == 0:
        assert converted == struct.unpack("<I", struct.pack("<f", value))[0]
    else:
        sign = 0x8000_0000 if value < 0 else 0
        assert converted == rounded(Fraction(value)) | sign
    exact = convert_scalar(value, F64)
    wanted = NAN64 if math.isnan(value) else struct.unpack("<Q", struct.pack("<d", value))[0]
    assert exact == ScalarConversion(wanted)


@pytest.mark.rule("operations.7.2.storage")
@given(st.integers(0, 2**32 - 1))
@example(0x7F80_0001)
@example(0x8000_0000)
def test_reading_a_stored_element_back(bits):
    value = scalar_value(bits, F32)
    if bits & 0x7FFF_FFFF > INF:
        assert math.isnan(value)
    else:
        assert struct.pack("<f", value) == struct.pack("<I", bits)
    assert scalar_value(1, BOOL) is True
    assert scalar_value(-5, I32) == -5
