"""Every binary32 operation against exact arithmetic, on 10**5 bit patterns and more each."""

from __future__ import annotations

import tracemalloc
import zlib
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from bittrue.encoding import BINARY32
from bittrue.generic import elementary
from bittrue.generic.elementwise import FUNCTIONS
from bittrue.policy import Arithmetic

FLOATING = FUNCTIONS[Arithmetic.BINARY32]
ELSEWHERE = {"remainder", "floor_divide", "conj"}
"""Functions of the promotion contract, swept in every format by test_promoted_arithmetic.py."""

COUNT = 100_000
SWEEP = 1_000_000

# The interval in which a function moves: a quarter of its patterns fall in it.
UNARY = {
    "neg": (-100, 100),
    "abs": (-100, 100),
    "sign": (-1, 1),
    "recip": (-100, 100),
    "sqrt": (0, 1e6),
    "rsqrt": (0, 1e6),
    "floor": (-1000, 1000),
    "ceil": (-1000, 1000),
    "round": (-1000, 1000),
    "logical_not": (-1, 1),
    "exp": (-105, 90),
    "exp2": (-152, 130),
    "log": (0, 3),
    "log2": (0, 3),
    "sin": (-50, 50),
    "cos": (-50, 50),
    "tanh": (-10, 10),
    "erf": (-4.5, 4.5),
    "relu": (-100, 100),
    "sigmoid": (-105, 20),
    "silu": (-105, 20),
    "gelu": (-7, 7),
    "softplus": (-105, 20),
    "elu": (-20, 5),
    "leaky_relu": (-100, 100),
}
AUXILIARY = {"expm1": (-20, 90), "log1p": (-1, 3)}
BINARY = (
    "add", "sub", "mul", "elementwise_mul", "div", "rem", "maximum", "minimum", "eq", "ne", "lt",
    "le",
)  # fmt: skip


def generator(operation: str, salt: int = 0) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(operation.encode()), salt])


def assert_bits(operation, actual, expected, rows) -> None:
    wrong = []
    for row in rows:
        got, wanted = actual(*row), expected(*row)
        if got != wanted:
            operands = ", ".join(f"{bits:08x}" for bits in row)
            wrong.append(f"{operation}({operands}): expected {wanted:08x}, got {got:08x}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:20])


@pytest.mark.rule("generic.oracle.self-check")
def test_rounding_of_the_oracle_on_values_worked_out_by_hand(oracle):
    ulp = Fraction(1, 2**23)
    table = (
        (Fraction(0), 0x0000_0000),
        (Fraction(1, 2**149), 0x0000_0001),
        (Fraction(1, 2**150), 0x0000_0000),
        (Fraction(3, 2**150), 0x0000_0002),
        (-Fraction(1, 2**151), 0x8000_0000),
        (1 + ulp / 2, 0x3F80_0000),
        (1 + 3 * ulp / 2, 0x3F80_0002),
        (Fraction(2**24 + 1), 0x4B80_0000),
        (Fraction(2**24 + 3), 0x4B80_0002),
        (Fraction(1, 10), 0x3DCC_CCCD),
        (Fraction(1, 2**126) - Fraction(1, 2**150), 0x0080_0000),
        (Fraction(2**128 - 2**103), 0x7F80_0000),
        (Fraction(2**128 - 2**103 - 1), 0x7F7F_FFFF),
    )
    for exact, bits in table:
        assert oracle.nearest(exact) == bits, (exact, hex(bits))


@pytest.mark.rule("generic.oracle.self-check")
def test_arithmetic_of_the_oracle_agrees_with_ieee_hardware(oracle):
    """NumPy's scalar operations are one IEEE operation each; NaNs are made canonical."""
    drawn = oracle.pairs(np.random.default_rng(99), 20_000)
    lhs, rhs = (np.array([pair[i] for pair in drawn], np.uint32).view(np.float32) for i in (0, 1))
    with np.errstate(all="ignore"):
        results = {
            "add": lhs + rhs, "sub": lhs - rhs, "mul": lhs * rhs, "div": lhs / rhs,
            "rem": np.fmod(lhs, rhs), "sqrt": np.sqrt(lhs), "recip": np.float32(1) / lhs,
            "floor": np.floor(lhs), "ceil": np.ceil(lhs), "round": np.rint(lhs),
        }  # fmt: skip
    for operation, result in results.items():
        result[np.isnan(result)] = np.nan
        arity = 1 if operation in UNARY else 2
        expected = oracle.expected[operation]
        for row, got in zip(drawn, result.view(np.uint32).tolist(), strict=True):
            assert expected(*row[:arity]) == got, (operation, [hex(b) for b in row], hex(got))


@pytest.mark.rule("generic.binary32.unary")
@pytest.mark.parametrize("operation", UNARY)
def test_unary_operation(operation, oracle):
    drawn = oracle.patterns(generator(operation), COUNT, *UNARY[operation])
    assert len(drawn) >= COUNT
    rows = ((bits,) for bits in drawn)
    assert_bits(operation, FLOATING[operation], oracle.expected[operation], rows)


@pytest.mark.rule("generic.binary32.auxiliary")
@pytest.mark.parametrize("operation", AUXILIARY)
def test_auxiliary_primitive(operation, oracle):
    primitive = getattr(elementary, operation)
    drawn = oracle.patterns(generator(operation), COUNT, *AUXILIARY[operation])
    rows = ((bits,) for bits in drawn)
    assert_bits(operation, lambda bits: primitive(BINARY32, bits), oracle.expected[operation], rows)


@pytest.mark.rule("generic.binary32.binary")
@pytest.mark.parametrize("operation", BINARY)
def test_binary_operation(operation, oracle):
    drawn = oracle.pairs(generator(operation), COUNT)
    assert_bits(operation, FLOATING[operation], oracle.expected[operation], drawn)


def power_pairs(oracle, rng, count):
    """Pairs whose power is mostly finite: bases near 1 with large exponents, integers, roots."""
    quarter = count // 4 + 1
    near_one = (1 + rng.uniform(-1, 1, quarter) * 2.0 ** -rng.integers(1, 23, quarter)).astype(
        np.float32
    )
    scale = np.log(np.abs(near_one.astype(np.float64))) + 1e-12
    large = (rng.uniform(-105, 90, quarter) / scale).astype(np.float32)
    moderate = (2.0 ** rng.uniform(-30, 30, quarter)).astype(np.float32)
    small = rng.uniform(-6, 6, quarter).astype(np.float32)
    whole_base = rng.integers(-40, 41, quarter).astype(np.float32)
    whole = rng.integers(-30, 31, quarter).astype(np.float32)
    few_bits = (rng.integers(-4096, 4097, quarter) / 64).astype(np.float32)
    quarters = (rng.integers(-20, 21, quarter) / 4).astype(np.float32)
    base = np.concatenate([near_one, moderate, whole_base, few_bits]).view(np.uint32).tolist()
    exponent = np.concatenate([large, small, whole, quarters]).view(np.uint32).tolist()
    raw = oracle.pairs(rng, count // 4)
    return [*raw, *zip(base, exponent, strict=True)]


@pytest.mark.rule("generic.binary32.pow")
def test_power(oracle):
    drawn = power_pairs(oracle, generator("pow"), COUNT)
    assert len(drawn) >= COUNT
    assert_bits("pow", FLOATING["pow"], oracle.expected["pow"], drawn)


@pytest.mark.rule("generic.binary32.clamp")
def test_clamp(oracle):
    rng = generator("clamp")
    pairs = oracle.pairs(rng, COUNT)
    uppers = oracle.patterns(rng, len(pairs), -100, 100)
    rows = [(*pair, upper) for pair, upper in zip(pairs, uppers, strict=False)]
    assert_bits("clamp", FLOATING["clamp"], oracle.expected["clamp"], rows)


@pytest.mark.rule("generic.binary32.select")
def test_select(oracle):
    pairs = oracle.pairs(generator("select"), COUNT)
    rows = [(number % 3 == 0, *pair) for number, pair in enumerate(pairs)]
    assert_bits("select", FLOATING["select"], oracle.expected["select"], rows)


@pytest.mark.rule("generic.binary32.every-row")
def test_every_function_of_the_reference_is_swept():
    swept = {*UNARY, *BINARY, "pow", "clamp", "select"}
    assert swept | ELSEWHERE == set(FLOATING)
    assert not swept & ELSEWHERE


@pytest.mark.rule("generic.nan.canonical")
@pytest.mark.parametrize("operation", sorted({*UNARY, *BINARY, "pow"} - {"neg", "abs"}))
def test_a_computed_nan_is_the_canonical_one(operation, oracle):
    """7.4: payloads, signs and signaling of the operands never show."""
    nans = [bits for bits in oracle.directed if bits & 0x7FFF_FFFF > 0x7F80_0000]
    if operation in UNARY:
        results = [FLOATING[operation](bits) for bits in nans]
    else:
        others = oracle.directed
        results = [FLOATING[operation](a, b) for a in nans for b in others]
        results += [FLOATING[operation](b, a) for a in nans for b in others]
    nan_results = {bits for bits in results if bits & 0x7FFF_FFFF > 0x7F80_0000}
    assert nan_results <= {0x7FC0_0000}
    if operation not in {"pow", "eq", "ne", "lt", "le", "logical_not"}:
        assert set(results) == {0x7FC0_0000}


@pytest.mark.rule("generic.nan.sign-bit-only")
def test_neg_and_abs_keep_every_other_bit_of_a_nan():
    for bits in (0x7F80_0001, 0xFFBF_FFFF, 0x7FC1_2345, 0xFFC0_0000):
        assert FLOATING["neg"](bits) == bits ^ 0x8000_0000
        assert FLOATING["abs"](bits) == bits & 0x7FFF_FFFF


@pytest.mark.rule("generic.elementary.no-ambient-context")
def test_the_ambient_mpfr_context_does_not_leak_into_results():
    """8.6: no setting of the platform or of the caller may show in a result."""
    with gmpy2.context(gmpy2.get_context()) as context:
        context.precision = 4
        context.round = gmpy2.RoundUp
        context.emin, context.emax = -10, 10
        context.subnormalize = True
        assert FLOATING["exp"](0x3F80_0000) == 0x402D_F854
        assert FLOATING["sin"](0x7F7F_FFFF) == 0xBF05_99B3
        assert FLOATING["log"](0x0000_0001) == 0xC2CE_8ED0
        assert FLOATING["pow"](0x4000_0000, 0xC315_0000) == 0x0000_0001
        assert FLOATING["sqrt"](0x0000_0001) == 0x1A35_04F3


@pytest.mark.rule("generic.elementary.deep-underflow")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("exp", (0xCE26_E49C,)),  # exp(-7e8) = 2**-1.01e9
        ("exp2", (0xCE6E_6B28,)),  # exp2(-1e9)
        ("sigmoid", (0xCE26_E49C,)),
        ("softplus", (0xCE26_E49C,)),
        ("pow", (0x4000_0000, 0xCE6E_6B28)),  # 2**-1e9
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_deep_underflow_builds_no_huge_integer(operation, operands):
    """The result is +0 within a few kilobytes, however far below the format the value lies."""
    tracemalloc.start()
    try:
        assert FLOATING[operation](*operands) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000, f"{peak} bytes for one scalar"


@pytest.mark.slow
@pytest.mark.rule("generic.binary32.unary")
@pytest.mark.parametrize("operation", UNARY)
def test_unary_operation_swept(operation, oracle):
    drawn = oracle.patterns(generator(operation, 1), SWEEP, *UNARY[operation])
    rows = ((bits,) for bits in drawn)
    assert_bits(operation, FLOATING[operation], oracle.expected[operation], rows)


@pytest.mark.slow
@pytest.mark.rule("generic.binary32.binary")
@pytest.mark.parametrize("operation", BINARY)
def test_binary_operation_swept(operation, oracle):
    drawn = oracle.pairs(generator(operation, 1), SWEEP)
    assert_bits(operation, FLOATING[operation], oracle.expected[operation], drawn)


@pytest.mark.slow
@pytest.mark.rule("generic.binary32.pow")
def test_power_swept(oracle):
    drawn = power_pairs(oracle, generator("pow", 1), SWEEP)
    assert_bits("pow", FLOATING["pow"], oracle.expected["pow"], drawn)
