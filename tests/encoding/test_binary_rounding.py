"""Layouts and the rounding gate, against exact rationals."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bittrue.dtypes import DType
from bittrue.encoding import BINARY32, BINARY64, BinaryFormat, Rounding, round_magnitude


@pytest.mark.rule("generic.binary32.layout")
@pytest.mark.parametrize(
    ("fmt", "fields"),
    [
        (BINARY32, (8, 23, 127, -126, 0x8000_0000, 0x7F80_0000, 0x7FC0_0000, 32, 2**128 - 2**103)),
        (BINARY64, (11, 52, 1023, -1022, 1 << 63, 0x7FF0 << 48, 0x7FF8 << 48, 64,
                    2**1024 - 2**970)),
    ],
)  # fmt: skip
def test_layout(fmt, fields):
    assert fields == (
        fmt.exponent_bits, fmt.fraction_bits, fmt.bias, fmt.emin, fmt.sign, fmt.infinity,
        fmt.quiet_nan, fmt.width, fmt.overflow_threshold,
    )  # fmt: skip
    assert BinaryFormat.of(DType.Float32) == BINARY32


@pytest.mark.rule("generic.binary32.classes")
@pytest.mark.parametrize(
    ("bits", "nan", "signaling", "infinite", "finite", "zero"),
    [
        (0x0000_0000, 0, 0, 0, 1, 1),
        (0x8000_0000, 0, 0, 0, 1, 1),
        (0x0000_0001, 0, 0, 0, 1, 0),
        (0x7F7F_FFFF, 0, 0, 0, 1, 0),
        (0xFF7F_FFFF, 0, 0, 0, 1, 0),
        (0x7F80_0000, 0, 0, 1, 0, 0),
        (0xFF80_0000, 0, 0, 1, 0, 0),
        (0x7F80_0001, 1, 1, 0, 0, 0),
        (0xFFBF_FFFF, 1, 1, 0, 0, 0),
        (0x7FC0_0000, 1, 0, 0, 0, 0),
        (0xFFFF_FFFF, 1, 0, 0, 0, 0),
    ],
)
def test_classes(bits, nan, signaling, infinite, finite, zero):
    asked = ("is_nan", "is_signaling", "is_infinite", "is_finite", "is_zero")
    answers = tuple(int(getattr(BINARY32, name)(bits)) for name in asked)
    assert answers == (nan, signaling, infinite, finite, zero)


def exact_of(fmt, bits):
    kind = ("<I", "<f") if fmt is BINARY32 else ("<Q", "<d")
    return Fraction(struct.unpack(kind[1], struct.pack(kind[0], bits))[0])


@pytest.mark.rule("generic.binary32.decode")
@pytest.mark.parametrize("fmt", [BINARY32, BINARY64])
def test_decode_and_encode_invert_each_other(fmt):
    rng = np.random.default_rng(8)
    kind = np.uint32 if fmt is BINARY32 else np.uint64
    drawn = rng.integers(0, 2**fmt.width - 1, 20_000, dtype=kind).tolist()
    edges = (0, 1, (1 << fmt.fraction_bits) - 1, 1 << fmt.fraction_bits, fmt.infinity - 1)
    for bits in [*drawn, *edges, *(fmt.sign | edge for edge in edges)]:
        if not fmt.is_finite(bits):
            continue
        negative, significand, exponent = fmt.decode(bits)
        value = significand * Fraction(2) ** exponent
        assert (-value if negative else value) == exact_of(fmt, bits)
        assert negative is bool(bits & fmt.sign)
        assert fmt.encode(significand, exponent, negative=negative) == bits


@pytest.mark.rule("generic.binary32.encode")
@given(
    significand=st.integers(0, 2**80),
    exponent=st.integers(-260, 120),
    lost=st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 2), 1 - Fraction(1, 10**9)]),
)
@example(significand=(2**25 - 1) << 10, exponent=93, lost=Fraction(0))
@example(significand=2**30, exponent=-180, lost=Fraction(0))
@example(significand=2**30, exponent=-180, lost=Fraction(1, 2))
def test_encode_rounds_once(significand, exponent, lost):
    """Between two neighbours the nearer, at equal distance the even one."""
    if lost and significand.bit_length() < 26:
        significand |= 1 << 26
    exact = (significand + lost) * Fraction(2) ** exponent
    bits = BINARY32.encode(significand, exponent, sticky=bool(lost))
    check_nearest(exact, bits)
    signed = BINARY32.encode(significand, exponent, negative=True, sticky=bool(lost))
    assert signed == bits | 0x8000_0000


def magnitude(bits):
    if bits == 0x7F80_0000:
        return Fraction(2**128)
    return exact_of(BINARY32, bits)


def check_nearest(exact, bits):
    if exact >= 2**128:
        assert bits == 0x7F80_0000
        return
    error = abs(magnitude(bits) - exact)
    for neighbour in (bits - 1, bits + 1):
        if 0 <= neighbour <= 0x7F80_0000:
            other = abs(magnitude(neighbour) - exact)
            assert error < other or (error == other and bits % 2 == 0)


@pytest.mark.rule("generic.binary32.encode")
@given(
    numerator=st.integers(1, 2**160) | st.integers(1, 2**30),
    denominator=st.integers(1, 2**280) | st.integers(1, 2**30),
)
@example(numerator=1, denominator=2**150)
@example(numerator=2**128 - 2**103, denominator=1)
@example(numerator=(2**128 - 2**103) * 3 - 1, denominator=3)
def test_encode_ratio_rounds_once(numerator, denominator):
    bits = BINARY32.encode_ratio(numerator, denominator)
    check_nearest(Fraction(numerator, denominator), bits)
    assert BINARY32.encode_ratio(-numerator, denominator) == bits | 0x8000_0000


MODES = {
    Rounding.RTZ: lambda x, _: math.trunc(x),
    Rounding.RTM: lambda x, _: math.floor(x),
    Rounding.RTP: lambda x, _: math.ceil(x),
    Rounding.RNE: lambda x, _: round(x),
    Rounding.NONE: lambda x, _: round(x),
    Rounding.RNA: lambda _, m: math.floor(m + Fraction(1, 2)),
    Rounding.RHB: lambda x, _: math.floor(x + Fraction(1, 2)),
    Rounding.RTO: lambda _, m: m if m.denominator == 1 else math.floor(m) | 1,
}


@pytest.mark.rule("formats.rounding-modes")
@pytest.mark.parametrize("mode", list(Rounding))
@pytest.mark.parametrize("negative", [False, True])
def test_rounding_modes_against_rationals(mode, negative):
    for whole in range(70):
        for drop in (-2, 0, 1, 2, 3, 5, 9):
            for lost in (Fraction(0), Fraction(1, 1000), Fraction(999, 1000)):
                if lost and drop < 1:
                    continue
                exact = (whole + lost) / Fraction(2) ** drop
                signed = -exact if negative else exact
                kept, inexact = round_magnitude(
                    whole, drop, negative=negative, sticky=bool(lost), rounding=mode
                )
                assert kept == abs(MODES[mode](signed, exact)), (whole, drop, lost)
                assert inexact is (exact.denominator != 1)
