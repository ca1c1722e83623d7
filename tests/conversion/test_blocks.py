"""Block-scaled arrays against exact fractions."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue import (
    BlockScaled,
    CompoundDType,
    DType,
    RejectedError,
    Rounding,
    SimpleDType,
    Status,
    dequantize_blocks,
    formats,
    quantize_blocks,
    unpack,
)
from bittrue.encoding import encode

MX = {"e4m3": 8, "e5m2": 15, "e3m2": 4, "e2m3": 2, "e2m1": 2, "int8": 0}
MAX = {"e4m3": 448, "e5m2": 57344, "e3m2": 28, "e2m3": Fraction(15, 2), "e2m1": 6,
       "int8": Fraction(127, 64)}  # fmt: skip
PRECISION = {"e4m3": 4, "e5m2": 3, "e3m2": 3, "e2m3": 4, "e2m1": 2, "int8": 7}


def log2_floor(value):
    """Return floor(log2 value) of a positive fraction."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def log2_ceil(value):
    floor = log2_floor(value)
    return floor if Fraction(2) ** floor == value else floor + 1


def rounded_to(value, bits):
    step = Fraction(2) ** (log2_floor(value) - bits + 1)
    return round(value / step) * step  # Fraction rounds half to even


def mx_exponent(amax, element, how):
    if how == "floor":
        power = log2_floor(amax) - MX[element]
    elif how == "ceil":
        power = log2_ceil(amax) - MX[element]
    elif how == "rceil":
        power = log2_ceil(amax / MAX[element])
    else:
        power = log2_floor(rounded_to(amax, PRECISION[element])) - MX[element]
    return min(max(power, -127), 127)


def element_of(value, element, rounding):
    """Return code and flags of one exact scaled value."""
    fmt = formats[element]
    if element == "int8":
        mode = Rounding.RNE if rounding is Rounding.NONE else rounding
        code, flags = encode(fmt, 64 * value, mode, saturate=True)
        return (0x81, flags | 20) if code == 0x80 else (code, flags)
    return encode(fmt, value, rounding, saturate=True)


def codes_of(blocks):
    packed = blocks.dtype.simple_types[0] is DType.E2M1
    return unpack(blocks.codes, blocks.count) if packed else blocks.codes


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
near = st.floats(-16, 16, width=32)
arrays = st.lists(st.one_of(finite, near, near), min_size=1, max_size=70)


@pytest.mark.rule("blocks.mx")
@pytest.mark.parametrize("element", MX)
@pytest.mark.parametrize("how", ["floor", "ceil", "rceil", "even"])
@given(values=arrays, rounding=st.sampled_from(list(Rounding)))
def test_mx_blocks_are_exact_quotients_rounded_once(element, how, values, rounding):
    array = np.array(values, np.float32)
    blocks = quantize_blocks(array, element, scale_rounding=how, rounding=rounding)
    assert blocks.dtype.blocks[1] == 32
    assert blocks.tensor_scale is None
    codes = codes_of(blocks)
    status = 0
    for start in range(0, len(values), 32):
        part = array[start : start + 32]
        exact = [Fraction(float(v)) for v in part]
        amax = max(map(abs, exact))
        power = mx_exponent(amax, element, how) if amax else -127
        assert blocks.scales[start // 32] == power + 127
        for offset, (value, stored) in enumerate(zip(exact, part, strict=True)):
            code, flags = element_of(value / Fraction(2) ** power, element, rounding)
            if not value and np.signbit(stored) and formats[element].has_signed_zero:
                code = formats[element].negative_zero
            assert codes[start + offset] == code
            status |= flags
    assert blocks.status == status


@pytest.mark.rule("blocks.nvfp4")
@given(values=arrays, rounding=st.sampled_from(list(Rounding)), given_scale=st.booleans())
def test_nvfp4_blocks_are_exact_quotients_rounded_once(values, rounding, given_scale):
    array = np.array(values, np.float32)
    tensor = np.float32(0.037) if given_scale else None
    blocks = quantize_blocks(array, "e2m1", "e4m3", rounding=rounding, tensor_scale=tensor)
    assert blocks.dtype is DType.NVFP4
    largest = max(abs(Fraction(float(v))) for v in array)
    if tensor is None:
        code, _ = encode(formats["fp32"], largest / 2688)
        t = max(Fraction(formats["fp32"].value(code)), Fraction(2) ** -126)
    else:
        t = Fraction(float(tensor))
    assert Fraction(float(blocks.tensor_scale)) == t
    codes, status = codes_of(blocks), 0
    for start in range(0, len(values), 16):
        part = array[start : start + 16]
        exact = [Fraction(float(v)) for v in part]
        amax = max(map(abs, exact))
        scale, _ = encode(formats["e4m3"], amax / (6 * t), Rounding.RNE, saturate=True)
        scale = max(scale, 1) if amax else 0
        assert blocks.scales[start // 16] == scale
        factor = t * formats["e4m3"].value(scale)
        for offset, (value, stored) in enumerate(zip(exact, part, strict=True)):
            quotient = value / factor if value else Fraction(0)
            code, flags = encode(formats["e2m1"], quotient, rounding, saturate=True)
            if not value and np.signbit(stored):
                code = 8
            assert codes[start + offset] == code
            status |= flags
    assert blocks.status == status


@pytest.mark.rule("blocks.stochastic")
@given(st.integers(0, 2**32 - 1))
def test_stochastic_nvfp4_elements_follow_the_exact_quotient(seed):
    rng = np.random.default_rng(seed)
    array = (rng.standard_normal(48) * 3).astype(np.float32)
    words = rng.integers(0, 2**32, 48, dtype=np.uint32)
    blocks = quantize_blocks(array, "e2m1", "e4m3", random_bits=words)
    codes = codes_of(blocks)
    grid = [Fraction(v) for v in (0, Fraction(1, 2), 1, Fraction(3, 2), 2, 3, 4, 6)]
    for i, (value, word) in enumerate(zip(array, words.tolist(), strict=True)):
        scale = formats["e4m3"].value(int(blocks.scales[i // 16]))
        q = abs(Fraction(float(value))) / (scale * Fraction(float(blocks.tensor_scale)))
        if q >= 6:
            assert codes[i] & 7 == 7
            continue
        low = max(k for k, g in enumerate(grid) if g <= q)
        threshold = math.floor(2**32 * (q - grid[low]) / (grid[low + 1] - grid[low]))
        assert codes[i] & 7 == low + (word < threshold)


# --- special values -------------------------------------------------------------------------------


@pytest.mark.rule("blocks.zeros")
@pytest.mark.parametrize("element", MX)
def test_a_block_of_zeros(element):
    zeros = np.array([0.0, -0.0, 0.0], np.float32)
    blocks = quantize_blocks(zeros, element)
    assert blocks.scales.tolist() == [0]
    minus = formats[element].negative_zero or 0
    assert codes_of(blocks).tolist() == [0, minus, 0]
    assert blocks.status == 0
    back = dequantize_blocks(blocks)
    assert not back.array.any()


@pytest.mark.rule("blocks.zeros")
def test_a_block_of_zeros_in_nvfp4():
    blocks = quantize_blocks(np.array([0.0, -0.0], np.float32), "e2m1", "e4m3")
    assert blocks.scales.tolist() == [0]
    assert blocks.tensor_scale == np.float32(2.0**-126)
    assert codes_of(blocks).tolist() == [0, 8]


@pytest.mark.rule("blocks.infinity")
@pytest.mark.parametrize("element", MX)
def test_infinities_become_the_largest_element(element):
    largest = 0x7F if element == "int8" else formats[element].max_finite
    least = 0x81 if element == "int8" else largest | 1 << formats[element].sign_bit
    for first, scale in ((1.0, 127 - MX[element]), (0.0, 0xFE)):
        blocks = quantize_blocks(np.array([first, np.inf, -np.inf], np.float32), element)
        assert codes_of(blocks).tolist()[1:] == [largest, least]
        assert blocks.scales.tolist() == [scale]
        assert blocks.status == Status.OF | Status.NX
    if element == "e2m1":
        blocks = quantize_blocks(np.array([0.0, np.inf], np.float32), element, "e4m3")
        assert blocks.scales.tolist() == [0x7E]


@pytest.mark.rule("blocks.nan")
@pytest.mark.parametrize("element", MX)
@pytest.mark.parametrize("scale", ["e8m0", "e4m3"])
def test_a_nan(element, scale):
    if scale == "e4m3" and element != "e2m1":
        return
    array = np.ones(40, np.float32)
    array[1] = np.nan
    blocks = quantize_blocks(array, element, scale)
    codes, block = codes_of(blocks), blocks.dtype.blocks[1]
    if formats[element].has_quiet_nan:
        assert codes[1] == formats[element].canonical_nan
        assert codes[0] == codes[2] == codes[39] != 0
        assert blocks.scales[0] == blocks.scales[1]
        assert blocks.status == 0
        assert np.isnan(dequantize_blocks(blocks).array).tolist() == [i == 1 for i in range(40)]
        return
    assert blocks.scales[0] == (0xFF if scale == "e8m0" else 0x7F)
    assert not codes[:block].any()
    assert codes[block:].all()
    assert blocks.status & ~Status.NX == Status.NV
    back = dequantize_blocks(blocks).array
    assert np.isnan(back).tolist() == [i < block for i in range(40)]


@pytest.mark.rule("blocks.nan")
def test_a_signaling_nan_element_raises_nv():
    array = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    blocks = quantize_blocks(array, "e4m3")
    assert blocks.codes[0] == 0x7F
    assert blocks.status == Status.NV


# --- back -----------------------------------------------------------------------------------------


@pytest.mark.rule("blocks.dequantize")
@given(values=arrays, element=st.sampled_from([*MX, "nvfp4"]),
       destination=st.sampled_from(["fp32", "bf16", "fp16", "fp64"]))  # fmt: skip
def test_dequantisation_is_the_exact_product_rounded_once(values, element, destination):
    array = np.array(values, np.float32)
    pair = ("e2m1", "e4m3") if element == "nvfp4" else (element, "e8m0")
    blocks = quantize_blocks(array, *pair)
    result = dequantize_blocks(blocks, destination)
    codes = codes_of(blocks)
    fmt, scale_fmt, block = formats[pair[0]], formats[pair[1]], blocks.dtype.blocks[1]
    for i, code in enumerate(result.codes.tolist()):
        lane = int(codes[i])
        if element == "int8":
            value = Fraction(lane - 256 if lane > 127 else lane, 64)
        else:
            value = fmt.value(lane)
        product = value * scale_fmt.value(int(blocks.scales[i // block]))
        product *= Fraction(float(blocks.tensor_scale or 1))
        wanted, _ = encode(formats[destination], product)
        if not product and lane and element != "int8":
            wanted = formats[destination].negative_zero
        assert code == wanted


@pytest.mark.rule("blocks.shapes")
@pytest.mark.parametrize("backend", ["cpu", "generic"])
@pytest.mark.parametrize("shape", [(3, 33), (2, 2, 64), (1,), (5, 0), (0, 7)])
def test_blocks_run_along_the_last_axis(shape, backend):
    array = np.random.default_rng(0).standard_normal(shape).astype(ml_dtypes.bfloat16)
    blocks = quantize_blocks(array, "e2m1", backend=backend)
    assert blocks.scales.shape == (*shape[:-1], -(-shape[-1] // 32))
    assert blocks.codes.shape == (*shape[:-1], -(-shape[-1] // 2))
    back = dequantize_blocks(blocks, backend=backend)
    assert back.array.shape == shape
    for where in np.ndindex(shape[:-1]):
        if shape[-1]:
            row = quantize_blocks(array[where], "e2m1", backend=backend)
            assert (row.codes == blocks.codes[where]).all()
            assert (row.scales == blocks.scales[where]).all()


# --- refusals -------------------------------------------------------------------------------------


def refused(category, call, *arguments, **options):
    with pytest.raises(RejectedError) as caught:
        call(*arguments, **options)
    assert caught.value.category == category


@pytest.mark.rule("blocks.refusals")
def test_what_no_compound_dtype_has_is_refused():
    array = np.ones(32, np.float32)
    refused("pair", quantize_blocks, array, "bf16")
    refused("pair", quantize_blocks, array, "e4m3", "e4m3")
    refused("pair", quantize_blocks, array, "e4m3", block=16)
    refused("shape", quantize_blocks, np.float32(1), "e4m3")
    refused("mode", quantize_blocks, array, "e2m1", "e4m3", scale_rounding="ceil")
    refused("parameter", quantize_blocks, array, "e4m3", tensor_scale=1.0)
    for scale in (0.0, -1.0, math.inf, math.nan, 1e-40, 0.1, 1e300):
        refused("parameter", quantize_blocks, array, "e2m1", "e4m3", tensor_scale=scale)
    for other in (np.ones(32), np.ones(32, np.int32), ["a"]):
        with pytest.raises(TypeError):
            quantize_blocks(other, "e4m3")
    with pytest.raises(ValueError, match="scale_rounding"):
        quantize_blocks(array, "e4m3", scale_rounding="up")
    with pytest.raises(TypeError):
        dequantize_blocks(array)


@pytest.mark.rule("blocks.refusals")
def test_planes_that_do_not_fit_are_refused():
    good = quantize_blocks(np.ones((2, 40), np.float32), "e4m3")
    for scales in (good.scales[:, :1], good.scales[0], good.scales[:1]):
        refused("shape", dequantize_blocks, BlockScaled(good.dtype, good.codes, scales))
    refused("pair", dequantize_blocks, good, "s8")
    nv = quantize_blocks(np.ones(16, np.float32), "e2m1", "e4m3")
    refused("parameter", dequantize_blocks, BlockScaled(nv.dtype, nv.codes, nv.scales))


@pytest.mark.rule("blocks.rows")
def test_a_registered_compound_dtype_gives_another_block():
    wide = CompoundDType("MXFP8_E4M3_64", simple_types=(DType.E4M3, DType.E8M0), blocks=(1, 64))
    blocks = quantize_blocks(np.ones(100, np.float32), "e4m3", block=64)
    assert blocks.dtype is wide
    assert blocks.scales.shape == (2,)


@pytest.mark.rule("blocks.rows")
def test_a_compound_dtype_of_planes_without_a_format_changes_nothing():
    plane = SimpleDType("PlaneWithoutFormat", supertype=DType.Any, bits=4)
    other = CompoundDType("NoFormats", simple_types=(plane, DType.E8M0), blocks=(1, 32))
    codes, scales = np.zeros(32, np.uint8), np.zeros(1, np.uint8)
    assert quantize_blocks(np.ones(32, np.float32), "e4m3").dtype is DType.MXFP8_E4M3
    with pytest.raises(NotImplementedError, match="NoFormats"):
        dequantize_blocks(BlockScaled(other, codes, scales))
