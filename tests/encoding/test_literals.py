"""Values as people write them, rounded once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue import Rounding, Status, formats
from bittrue.encoding import encode

FP64, FP32, E4M3, S8 = formats["fp64"], formats["fp32"], formats["e4m3"], formats["s8"]


@pytest.mark.rule("formats.encode.once")
@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_is_that_double(value):
    wanted = int(np.float64(value).view(np.uint64))
    for spelled in (value, value.hex()):
        assert encode(FP64, spelled) == (wanted, 0)
    # The shortest decimal that reads back as the double need not be its value.
    assert encode(FP64, repr(value))[0] == wanted


@pytest.mark.rule("formats.encode.once")
@given(st.integers(-(10**40), 10**40), st.integers(1, 10**40))
def test_a_ratio_is_rounded_once(numerator, denominator):
    """Python divides integers with one rounding to nearest even."""
    code, status = encode(FP64, f"{numerator}/{denominator}")
    quotient = numerator / denominator
    assert code == int(np.float64(quotient).view(np.uint64)) or (numerator == 0 and code == 0)
    assert bool(status & Status.NX) == (Fraction(quotient) != Fraction(numerator, denominator))


@pytest.mark.rule("formats.encode.once")
def test_a_tie_that_a_wider_float_would_make_is_none():
    just_above = "1.0000000596046447753906250000000000000000001"  # 1 + 2**-24 and a little
    assert encode(FP32, just_above)[0] == 0x3F800001
    assert encode(FP32, "1.000000059604644775390625")[0] == 0x3F800000


@pytest.mark.rule("formats.encode.literals")
@pytest.mark.parametrize(
    ("text", "code", "flags"),
    [
        ("0", 0, 0), ("-0", 0x80, 0), ("-0.0", 0x80, 0), ("+1", 0x38, 0), (".5", 0x30, 0),
        ("1.", 0x38, 0), ("1e0", 0x38, 0), ("0x1p-3", 0x20, 0), ("-0x.8", 0xB0, 0),
        ("inf", 0x7F, 20), ("-Infinity", 0x7F, 20), ("nan", 0x7F, 0), ("snan", 0x7F, 1),
        ("1e4000", 0x7F, 20), ("1e-4000", 0, 24), ("-1/3", 0xAB, 16),
    ],
)  # fmt: skip
def test_literals(text, code, flags):
    assert encode(E4M3, text) == (code, flags)


@pytest.mark.rule("formats.encode.literals")
@pytest.mark.parametrize(
    "text",
    ["", "abc", "1/0", "0x", "0x.p1", "1e", "--1", "1e99999999", "0x1p99999999", "9" * 5000, "1_0",
     "e5", "1/-2", "."],
)  # fmt: skip
def test_text_that_is_no_number(text):
    with pytest.raises(ValueError, match="no number"):
        encode(E4M3, text)


@pytest.mark.rule("formats.encode.literals")
@pytest.mark.parametrize("value", [True, None, 1j, b"1"])
def test_a_value_of_another_kind(value):
    with pytest.raises(TypeError):
        encode(E4M3, value)


@pytest.mark.rule("formats.encode.integers")
def test_integers_round_toward_zero_unless_told():
    assert encode(S8, "3.9") == (3, 16)
    assert encode(S8, "-3.5", Rounding.RNE) == (0x100 - 4, 16)
    assert encode(S8, "127.5", Rounding.RNA, saturate=True) == (127, 20)
    assert encode(S8, "0.3333", Rounding.RTP) == (1, 16)
    assert encode(S8, "1e-4000", Rounding.RTP) == (1, 16)
