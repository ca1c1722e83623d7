"""Tables of operations.md, typed: sections 8.1 to 8.7 and 11. Every row runs through `run`."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from bittrue import SIMPLE, DType, run
from bittrue.encoding import BINARY32
from bittrue.generic import elementary

INF, NAN, ONE = 0x7F80_0000, 0x7FC0_0000, 0x3F80_0000
NINF, NZERO = 0xFF80_0000, 0x8000_0000
SNAN, NSNAN, PAYLOAD = 0x7F80_0001, 0xFFBF_FFFF, 0xFFC1_2345


def b(number: float) -> int:
    """Bits of a number that binary32 holds exactly."""
    bits = struct.unpack("<I", struct.pack("<f", number))[0]
    assert struct.unpack("<f", struct.pack("<I", bits))[0] == number
    return bits


def tensor(*bits: int) -> np.ndarray:
    return np.array(bits, dtype=np.uint32).view(np.float32)


def result_bits(operation: str, *operands: int) -> int:
    result = run(operation, *map(tensor, operands), policy=SIMPLE, backend="generic")
    assert result.dtype is DType.Float32
    assert result.shape == (1,)
    return int(result.numpy().view(np.uint32)[0])


def check(operation: str, operands: tuple[int, ...], expected: int) -> None:
    got = result_bits(operation, *operands)
    shown = ", ".join(f"{bits:08x}" for bits in operands)
    assert got == expected, f"{operation}({shown}): expected {expected:08x}, got {got:08x}"


# --- section 11 -------------------------------------------------------------------------------

SECTION_11 = [
    ("exp", 0x42B1_7217, 0x7F7F_FF84),
    ("exp", 0x42B1_7218, INF),
    ("exp", 0xC2CF_F1B4, 0x0000_0001),
    ("exp", 0xC2CF_F1B5, 0),
    ("exp", b(1), 0x402D_F854),
    ("exp", b(-1), 0x3EBC_5AB2),
    ("exp2", b(128), INF),
    ("exp2", b(-149), 0x0000_0001),
    ("exp2", b(-150), 0),
    ("exp2", 0xC315_FFFF, 0x0000_0001),
    ("exp2", 0xC316_0000, 0),
    ("log", 0x0000_0001, 0xC2CE_8ED0),
    ("log2", 0x0000_0001, b(-149)),
    ("log2", 0x7F7F_FFFF, b(128)),
    ("tanh", 0x4110_2CB3, 0x3F7F_FFFF),
    ("tanh", 0x4110_2CB4, ONE),
    ("erf", 0x407A_D444, 0x3F7F_FFFF),
    ("erf", 0x407A_D445, ONE),
    ("elu", 0xC18A_A122, 0xBF7F_FFFF),
    ("elu", 0xC18A_A123, 0xBF80_0000),
    ("sin", b(1), 0x3F57_6AA4),
    ("cos", b(2), 0xBED5_1133),
    ("tanh", b(0.5), 0x3EEC_9A9F),
    ("erf", b(1), 0x3F57_BB3D),
    ("recip", 0x0020_0000, INF),
    ("recip", 0x0020_0001, 0x7F7F_FFF8),
    ("recip", 0x7F7F_FFFF, 0x0020_0000),
    ("rsqrt", b(1.5), 0x3F51_05EC),
    ("sqrt", 0x0000_0001, 0x1A35_04F3),
    ("sqrt", 0x7F7F_FFFF, 0x5F7F_FFFF),
    ("leaky_relu", b(-100), b(-1)),
    ("leaky_relu", b(-1), 0xBC23_D70A),
]


@pytest.mark.rule("operations.11.boundary-bits")
@pytest.mark.parametrize(("operation", "argument", "expected"), SECTION_11)
def test_boundary_bits(operation, argument, expected):
    check(operation, (argument,), expected)


@pytest.mark.rule("operations.11.boundary-bits")
def test_boundaries_of_two_operands_and_two_roundings():
    check("rem", (0x7F7F_FFFF, b(3)), 0)
    assert result_bits("exp2", 0x42FF_FFFF) < INF
    # recip of sqrt, two roundings, is another number.
    assert result_bits("recip", result_bits("sqrt", b(1.5))) == 0x3F51_05EB


# --- 8.1 --------------------------------------------------------------------------------------

SECTION_8_1 = [
    ("add", b(5), b(-5), 0),
    ("add", NZERO, NZERO, NZERO),
    ("add", NZERO, 0, 0),
    ("sub", 0, 0, 0),
    ("sub", NZERO, 0, NZERO),
    ("sub", NZERO, NZERO, 0),
    ("add", INF, NINF, NAN),
    ("add", 0x7F7F_FFFF, 0x7F7F_FFFF, INF),
    ("add", 0x0000_0001, 0x0000_0001, 0x0000_0002),
    ("sub", 0x0080_0000, 0x0000_0001, 0x007F_FFFF),
    ("add", 0x4B80_0000, b(1), 0x4B80_0000),
    ("add", 0x4B80_0001, b(1), 0x4B80_0002),
    ("mul", 0, INF, NAN),
    ("mul", NZERO, b(3), NZERO),
    ("mul", 0x0000_0001, b(0.5), 0),
    ("mul", 0x0000_0003, b(0.5), 0x0000_0002),
    ("elementwise_mul", b(-3), NZERO, 0),
    ("div", b(1), 0, INF),
    ("div", b(1), NZERO, NINF),
    ("div", b(-1), 0, NINF),
    ("div", b(-1), NZERO, INF),
    ("div", 0, NZERO, NAN),
    ("div", INF, NINF, NAN),
    ("div", b(1), b(3), 0x3EAA_AAAB),
    ("div", b(-1), INF, NZERO),
    ("add", PAYLOAD, b(1), NAN),
    ("sub", b(1), SNAN, NAN),
    ("mul", NSNAN, PAYLOAD, NAN),
    ("div", PAYLOAD, 0, NAN),
]


@pytest.mark.rule("operations.8.1.signed-zeros-and-singularities")
@pytest.mark.parametrize(("operation", "lhs", "rhs", "expected"), SECTION_8_1)
def test_arithmetic(operation, lhs, rhs, expected):
    check(operation, (lhs, rhs), expected)


# --- 8.2 --------------------------------------------------------------------------------------

HALF, NHALF = b(0.5), b(-0.5)
SECTION_8_2 = [
    # a signaling NaN operand
    *((s, 0, NAN) for s in (SNAN, NSNAN)),
    *((s, NZERO, NAN) for s in (SNAN, NSNAN)),
    (ONE, SNAN, NAN),
    (SNAN, b(2), NAN),
    (b(2), NSNAN, NAN),
    # exponent zero, base one
    *((x, z, ONE) for x in (0, NZERO, b(3), INF, NINF, NAN, PAYLOAD) for z in (0, NZERO)),
    *((ONE, y, ONE) for y in (b(-3), INF, NINF, NAN, PAYLOAD, 0x0000_0001)),
    # base minus one, infinite exponent
    (b(-1), INF, ONE),
    (b(-1), NINF, ONE),
    # zero base
    (0, b(-1), INF),
    (NZERO, b(-1), NINF),
    (NZERO, b(-3), NINF),
    (NZERO, b(-(2**24) + 1), NINF),
    (0, b(-2), INF),
    (NZERO, b(-2), INF),
    (NZERO, NHALF, INF),
    (NZERO, NINF, INF),
    (0, NINF, INF),
    (NZERO, b(-(2**24)), INF),
    (0, b(3), 0),
    (NZERO, b(3), NZERO),
    (NZERO, b(2**24 - 1), NZERO),
    (NZERO, b(2), 0),
    (NZERO, HALF, 0),
    (NZERO, INF, 0),
    (NZERO, b(2**24), 0),
    (NZERO, b(2**25 + 4), 0),
    # infinite exponent
    (HALF, NINF, INF),
    (NHALF, NINF, INF),
    (b(2), NINF, 0),
    (b(-2), NINF, 0),
    (HALF, INF, 0),
    (NHALF, INF, 0),
    (b(2), INF, INF),
    (b(-2), INF, INF),
    (0x3F7F_FFFF, INF, 0),
    (0x3F80_0001, INF, INF),
    (0xBF80_0001, NINF, 0),
    (INF, NINF, 0),
    (NINF, INF, INF),
    # -inf base
    (NINF, b(-3), NZERO),
    (NINF, b(3), NINF),
    (NINF, b(-2), 0),
    (NINF, NHALF, 0),
    (NINF, b(2), INF),
    (NINF, HALF, INF),
    (NINF, b(2**24), INF),
    (NINF, b(2**24 - 1), NINF),
    # +inf base
    (INF, b(-3), 0),
    (INF, NHALF, 0),
    (INF, b(3), INF),
    (INF, HALF, INF),
    # negative finite base
    (b(-2), HALF, NAN),
    (b(-2), b(1.5), NAN),
    (b(-2), b(3), b(-8)),
    (b(-2), b(2), b(4)),
    (b(-2), b(-3), b(-0.125)),
    (b(-2), b(2**24 - 1), NINF),
    (b(-0.5), b(2**24 - 1), NZERO),
    # other NaN operands
    (PAYLOAD, b(2), NAN),
    (b(2), PAYLOAD, NAN),
    (b(-1), NAN, NAN),
    (NAN, INF, NAN),
    # not sqrt
    (NZERO, HALF, 0),
    (NINF, HALF, INF),
    (b(4), HALF, b(2)),
    # edges of the range
    (b(2), b(128), INF),
    (b(2), b(-149), 0x0000_0001),
    (b(2), b(-150), 0),
    (b(-2), b(-149), 0x8000_0001),
    (b(3), b(2), b(9)),
    (b(10), b(10), 0x5015_02F9),
]  # fmt: skip


@pytest.mark.rule("operations.8.2.pow")
@pytest.mark.parametrize(("base", "exponent", "expected"), SECTION_8_2)
def test_power(base, exponent, expected):
    check("pow", (base, exponent), expected)


@pytest.mark.rule("operations.8.2.pow.int32-rounded-first")
def test_floating_power_of_int32_tensors_rounds_both_operands_first():
    """16777217 rounds to 16777216: an even exponent, and another base."""
    lhs = np.array([-1, 16777217, 2147483647], np.int32)
    rhs = np.array([16777217, 1, 1], np.int32)
    result = run("pow", lhs, rhs, policy=SIMPLE, backend="generic")
    assert result.numpy().view(np.uint32).tolist() == [ONE, 0x4B80_0000, 0x4F00_0000]


# --- 8.3 --------------------------------------------------------------------------------------

SECTION_8_3 = [
    ("maximum", 0, NZERO, 0),
    ("maximum", NZERO, 0, 0),
    ("maximum", NZERO, NZERO, NZERO),
    ("maximum", 0, 0, 0),
    ("minimum", 0, NZERO, NZERO),
    ("minimum", NZERO, 0, NZERO),
    ("minimum", NZERO, NZERO, NZERO),
    ("minimum", 0, 0, 0),
    ("maximum", b(1), b(2), b(2)),
    ("maximum", b(-1), b(-2), b(-1)),
    ("minimum", b(1), b(2), b(1)),
    ("minimum", b(-1), b(-2), b(-2)),
    ("maximum", NINF, INF, INF),
    ("minimum", INF, NINF, NINF),
    ("maximum", NINF, NZERO, NZERO),
    ("maximum", 0x0000_0001, 0, 0x0000_0001),
    ("minimum", 0x8000_0001, NZERO, 0x8000_0001),
    *((op, n, o, NAN) for op in ("maximum", "minimum") for n in (NAN, PAYLOAD, SNAN)
      for o in (b(1), INF, NINF, NAN)),
    *((op, o, n, NAN) for op in ("maximum", "minimum") for n in (NAN, PAYLOAD, SNAN)
      for o in (b(1), INF, NINF)),
    ("rem", b(7), b(-3), b(1)),
    ("rem", b(-7), b(3), b(-1)),
    ("rem", b(-6), b(3), NZERO),
    ("rem", b(6), b(-3), 0),
    ("rem", NZERO, b(3), NZERO),
    ("rem", INF, b(3), NAN),
    ("rem", b(3), 0, NAN),
    ("rem", b(3), NZERO, NAN),
    ("rem", INF, INF, NAN),
    ("rem", b(-3), INF, b(-3)),
    ("rem", b(-3), NINF, b(-3)),
    ("rem", NZERO, INF, NZERO),
    ("rem", PAYLOAD, b(1), NAN),
    ("rem", b(1), SNAN, NAN),
    # The quotient is about 2**277.
    ("rem", 0x7F7F_FFFF, 0x0000_0001, 0),
    ("rem", 0x7F7F_FFFF, 0x0000_0003, 0),
    ("rem", 0xFF7F_FFFF, 0x0000_0007, 0x8000_0000 + (2**24 - 1) * 2**253 % 7),
    ("rem", b(1), 0x3F7F_FFFF, 0x3380_0000),
]  # fmt: skip


@pytest.mark.rule("operations.8.3.maximum-minimum-rem")
@pytest.mark.parametrize(("operation", "lhs", "rhs", "expected"), SECTION_8_3)
def test_extrema_and_remainder(operation, lhs, rhs, expected):
    check(operation, (lhs, rhs), expected)


# --- 8.4 --------------------------------------------------------------------------------------

SECTION_8_4 = [
    # lhs, rhs, eq, ne, lt, le
    (NZERO, 0, True, False, False, True),
    (0, NZERO, True, False, False, True),
    (b(1), b(1), True, False, False, True),
    (b(1), b(2), False, True, True, True),
    (b(2), b(1), False, True, False, False),
    (b(-2), b(-1), False, True, True, True),
    (NINF, INF, False, True, True, True),
    (INF, INF, True, False, False, True),
    (NINF, NINF, True, False, False, True),
    (0x8000_0001, NZERO, False, True, True, True),
    (0, 0x0000_0001, False, True, True, True),
    (NAN, NAN, False, True, False, False),
    (NAN, b(1), False, True, False, False),
    (b(1), PAYLOAD, False, True, False, False),
    (SNAN, SNAN, False, True, False, False),
    (NINF, NSNAN, False, True, False, False),
]


@pytest.mark.rule("operations.8.4.comparisons")
@pytest.mark.parametrize("row", SECTION_8_4)
def test_comparisons(row):
    lhs, rhs, *expected = row
    for operation, wanted in zip(("eq", "ne", "lt", "le"), expected, strict=True):
        result = run(operation, tensor(lhs), tensor(rhs), policy=SIMPLE, backend="generic")
        assert result.dtype is DType.Bool
        assert result.tolist() == [wanted], operation
        assert type(result.tolist()[0]) is bool


@pytest.mark.rule("operations.8.4.logical-not")
@pytest.mark.parametrize(
    ("argument", "expected"),
    [(0, True), (NZERO, True), (NAN, False), (SNAN, False), (0x0000_0001, False),
     (0x807F_FFFF, False), (b(1), False), (NINF, False)],
)  # fmt: skip
def test_logical_not(argument, expected):
    result = run("logical_not", tensor(argument), policy=SIMPLE, backend="generic")
    assert result.dtype is DType.Bool
    assert result.tolist() == [expected]
    assert type(result.tolist()[0]) is bool


# --- 8.5, 8.6, 8.7 ----------------------------------------------------------------------------

UNARY_ROWS = [
    # 8.5
    ("neg", 0, NZERO), ("neg", NZERO, 0), ("neg", SNAN, 0xFF80_0001), ("neg", PAYLOAD, 0x7FC1_2345),
    ("neg", INF, NINF), ("neg", b(1), b(-1)),
    ("abs", NZERO, 0), ("abs", NSNAN, 0x7FBF_FFFF), ("abs", PAYLOAD, 0x7FC1_2345),
    ("abs", NINF, INF),
    ("sign", 0, 0), ("sign", NZERO, 0), ("sign", INF, ONE), ("sign", NINF, b(-1)),
    ("sign", PAYLOAD, NAN), ("sign", SNAN, NAN), ("sign", 0x8000_0001, b(-1)), ("sign", b(7), ONE),
    ("recip", 0, INF), ("recip", NZERO, NINF), ("recip", INF, 0), ("recip", NINF, NZERO),
    ("recip", NSNAN, NAN), ("recip", 0x8020_0000, NINF), ("recip", b(3), 0x3EAA_AAAB),
    ("sqrt", NZERO, NZERO), ("sqrt", 0, 0), ("sqrt", b(-1), NAN), ("sqrt", 0x8000_0001, NAN),
    ("sqrt", NINF, NAN), ("sqrt", INF, INF), ("sqrt", PAYLOAD, NAN), ("sqrt", b(4), b(2)),
    ("rsqrt", 0, INF), ("rsqrt", NZERO, NINF), ("rsqrt", INF, 0), ("rsqrt", NINF, NAN),
    ("rsqrt", b(-1), NAN), ("rsqrt", SNAN, NAN), ("rsqrt", b(4), HALF),
    ("floor", NZERO, NZERO), ("floor", b(-0.5), b(-1)), ("floor", HALF, 0), ("floor", INF, INF),
    ("floor", NINF, NINF), ("floor", PAYLOAD, NAN), ("floor", 0x8000_0001, b(-1)),
    ("floor", 0xCAFF_FFFF, 0xCB00_0000),
    ("ceil", b(-0.5), NZERO), ("ceil", HALF, ONE), ("ceil", NZERO, NZERO),
    ("ceil", 0x0000_0001, ONE),
    ("ceil", 0x8000_0001, NZERO), ("ceil", NINF, NINF), ("ceil", SNAN, NAN),
    ("round", HALF, 0), ("round", NHALF, NZERO), ("round", b(1.5), b(2)), ("round", b(2.5), b(2)),
    ("round", b(-2.5), b(-2)), ("round", 0x3EFF_FFFF, 0), ("round", 0x3F00_0001, ONE),
    ("round", 0x4AFF_FFFF, 0x4B00_0000), ("round", 0x4B00_0001, 0x4B00_0001),
    ("round", 0xCB7F_FFFF, 0xCB7F_FFFF), ("round", NZERO, NZERO), ("round", INF, INF),
    ("round", PAYLOAD, NAN),
    # 8.6
    ("exp", NINF, 0), ("exp", INF, INF), ("exp", 0, ONE), ("exp", NZERO, ONE), ("exp", NSNAN, NAN),
    ("exp2", NINF, 0), ("exp2", INF, INF), ("exp2", 0, ONE), ("exp2", NZERO, ONE),
    ("exp2", PAYLOAD, NAN),
    ("log", 0, NINF), ("log", NZERO, NINF), ("log", b(-1), NAN), ("log", 0x8000_0001, NAN),
    ("log", NINF, NAN), ("log", INF, INF), ("log", ONE, 0), ("log", SNAN, NAN),
    ("log2", 0, NINF), ("log2", NZERO, NINF), ("log2", b(-1), NAN), ("log2", NINF, NAN),
    ("log2", INF, INF), ("log2", ONE, 0), ("log2", b(8), b(3)), ("log2", PAYLOAD, NAN),
    ("sin", 0, 0), ("sin", NZERO, NZERO), ("sin", INF, NAN), ("sin", NINF, NAN),
    ("sin", 0x7F7F_FFFF, 0xBF05_99B3), ("sin", SNAN, NAN),
    ("cos", 0, ONE), ("cos", NZERO, ONE), ("cos", INF, NAN), ("cos", NINF, NAN),
    ("cos", 0x7F7F_FFFF, 0x3F5A_5F96), ("cos", PAYLOAD, NAN),
    ("tanh", 0, 0), ("tanh", NZERO, NZERO), ("tanh", INF, ONE), ("tanh", NINF, b(-1)),
    ("tanh", NSNAN, NAN),
    ("erf", 0, 0), ("erf", NZERO, NZERO), ("erf", INF, ONE), ("erf", NINF, b(-1)),
    ("erf", PAYLOAD, NAN),
    # 8.7
    ("relu", NZERO, 0), ("relu", 0, 0), ("relu", b(-1), 0), ("relu", NINF, 0), ("relu", INF, INF),
    ("relu", 0x0000_0001, 0x0000_0001), ("relu", PAYLOAD, NAN), ("relu", SNAN, NAN),
    ("silu", NINF, NAN), ("gelu", NINF, NAN),
    ("silu", b(-100), 0x8000_0A8C), ("gelu", b(-6), NZERO), ("gelu", b(1), 0x3F57_625E),
    ("gelu", b(-2.5), 0xBC7E_5920), ("silu", b(-2.5), 0xBE42_326A),
    ("sigmoid", b(-2.5), 0x3D9B_5B88), ("softplus", b(1), 0x3FA8_18F6),
    ("sigmoid", 0, HALF), ("sigmoid", NZERO, HALF), ("silu", 0, 0), ("silu", NZERO, NZERO),
    ("gelu", 0, 0), ("gelu", NZERO, NZERO), ("softplus", 0, 0x3F31_7218),
    ("softplus", NZERO, 0x3F31_7218),
    ("sigmoid", INF, ONE), ("silu", INF, INF), ("gelu", INF, INF), ("softplus", INF, INF),
    ("sigmoid", NINF, 0), ("softplus", NINF, 0),
    ("sigmoid", 0x4185_1592, ONE), ("sigmoid", 0x4185_1591, 0x3F7F_FFFE),
    ("gelu", 0xC0B1_5CEF, NZERO), ("gelu", 0xC0B1_5CF0, NZERO),
    ("elu", b(3), b(3)), ("elu", 0, 0), ("elu", NZERO, NZERO), ("elu", NINF, b(-1)),
    ("elu", INF, INF), ("leaky_relu", NZERO, NZERO), ("leaky_relu", INF, INF),
    ("leaky_relu", NINF, NINF), ("leaky_relu", b(3), b(3)),
    *((activation, nan, NAN)
      for activation in ("sigmoid", "silu", "gelu", "softplus", "elu", "leaky_relu", "exp", "tanh")
      for nan in (NAN, PAYLOAD, SNAN, NSNAN)),
]  # fmt: skip


@pytest.mark.rule("operations.8.5.exact-unary")
@pytest.mark.rule("operations.8.6.special-values")
@pytest.mark.rule("operations.8.7.activations")
@pytest.mark.parametrize(("operation", "argument", "expected"), UNARY_ROWS)
def test_unary(operation, argument, expected):
    check(operation, (argument,), expected)


@pytest.mark.rule("operations.8.6.auxiliary")
@pytest.mark.parametrize(
    ("primitive", "argument", "expected"),
    [
        ("expm1", 0, 0), ("expm1", NZERO, NZERO), ("expm1", NINF, b(-1)), ("expm1", INF, INF),
        ("expm1", PAYLOAD, NAN), ("expm1", 0x8000_0001, 0x8000_0001),
        ("log1p", 0, 0), ("log1p", NZERO, NZERO), ("log1p", b(-1), NINF), ("log1p", INF, INF),
        ("log1p", 0xBF80_0001, NAN), ("log1p", b(-2), NAN), ("log1p", NINF, NAN),
        ("log1p", SNAN, NAN), ("log1p", b(1), 0x3F31_7218),
    ],
)  # fmt: skip
def test_auxiliary_primitives(primitive, argument, expected):
    got = getattr(elementary, primitive)(BINARY32, argument)
    assert got == expected, f"{primitive}({argument:08x}) = {got:08x}"


@pytest.mark.rule("operations.8.7.activations")
@pytest.mark.parametrize(
    ("operation", "arguments", "expected"),
    [
        ("relu", [-(2**31), -1, 0, 1, 2**31 - 1], [0, 0, 0, 1, 2**31 - 1]),
        ("exp", [0, 1, -1], [ONE, 0x402D_F854, 0x3EBC_5AB2]),
        ("leaky_relu", [-100, -1, 16777217], [b(-1), 0xBC23_D70A, 0x4B80_0000]),
        ("gelu", [1, -6], [0x3F57_625E, NZERO]),
        ("softplus", [1, 0], [0x3FA8_18F6, 0x3F31_7218]),
        ("silu", [-100], [0x8000_0A8C]),
        ("tanh", [0, -20], [0, b(-1)]),
    ],
)
def test_activations_of_int32(operation, arguments, expected):
    result = run(operation, arguments, policy=SIMPLE, backend="generic")
    stored = result.numpy()
    if operation == "relu":
        assert result.dtype is DType.Int32
        assert stored.tolist() == expected
    else:
        assert result.dtype is DType.Float32
        assert stored.view(np.uint32).tolist() == expected


@pytest.mark.rule("operations.7.3.conversion")
def test_int32_operands_are_rounded_to_float32():
    given = [16777217, -16777219, 2147483647, -(2**31), 0]
    result = run("add", given, tensor(NZERO), policy=SIMPLE, backend="generic")
    assert result.tolist() == [16777216.0, -16777220.0, 2147483648.0, -2147483648.0, 0.0]
    quotient = run("div", [1, -7, 0], [3, 0, 0], policy=SIMPLE, backend="generic")
    assert quotient.numpy().view(np.uint32).tolist() == [0x3EAA_AAAB, NINF, NAN]


# --- 8.14 -------------------------------------------------------------------------------------


@pytest.mark.rule("operations.8.14.clamp")
@pytest.mark.parametrize(
    ("x", "lower", "upper", "expected"),
    [
        (b(5), b(3), b(1), b(1)),
        (b(0), b(3), b(1), b(1)),
        (PAYLOAD, b(0), b(1), NAN),
        (b(0), SNAN, b(1), NAN),
        (b(0), b(0), PAYLOAD, NAN),
        (NZERO, NZERO, 0, NZERO),
        (0, NZERO, NZERO, NZERO),
        (NZERO, 0, 0, 0),
        (b(-7), b(-2), b(2), b(-2)),
        (b(7), b(-2), b(2), b(2)),
        (INF, NINF, INF, INF),
        (b(1), NINF, NINF, NINF),
    ],
)
def test_clamp_table(x, lower, upper, expected):
    check("clamp", (x, lower, upper), expected)


@pytest.mark.rule("operations.8.14.clamp")
def test_clamp_by_scalars_of_every_kind():
    data = tensor(b(-3), b(0.25), b(2**26), NAN)
    generic = {"policy": SIMPLE, "backend": "generic"}
    result = run("clamp", data, False, True, **generic)  # noqa: FBT003 - a bool is a bound here
    assert result.numpy().view(np.uint32).tolist() == [0, b(0.25), ONE, NAN]
    # 2**24 + 1 rounds to 2**24; 2**40 needs no Int32 range.
    result = run("clamp", data, 2**24 + 1, 2**40, **generic)
    assert result.numpy().view(np.uint32).tolist() == [0x4B80_0000, 0x4B80_0000, b(2**26), NAN]
    result = run("clamp", data, -0.0, [0.0], **generic)
    assert result.numpy().view(np.uint32).tolist() == [NZERO, 0, 0, NAN]


@pytest.mark.rule("operations.8.14.select")
def test_select_moves_bits_of_the_chosen_branch_only():
    result = run(
        "select", [[True], [False]], tensor(SNAN, PAYLOAD), tensor(NZERO, NSNAN),
        policy=SIMPLE, backend="generic",
    )  # fmt: skip
    assert result.shape == (2, 2)
    assert result.numpy().view(np.uint32).tolist() == [[SNAN, PAYLOAD], [NZERO, NSNAN]]
