"""The oracle of the binary32 operations, and the bit patterns that the tests feed to it.

Written from operations.md alone: exact rationals and one rounding by division; elementary functions
through MPFR at 200 bits and more, refined until the rounding to 24 bits cannot change. Nothing of
bittrue is imported here.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import gmpy2
import numpy as np
import pytest

# `real_complex_oracle` stands beside; test files are imported one by one, without a package.
sys.path.insert(0, str(Path(__file__).parent))

SIGN = 0x8000_0000
INF = 0x7F80_0000
NAN = 0x7FC0_0000
ONE = 0x3F80_0000
C1 = 0x3F35_04F3  # the square root of one half
C2 = 0x3C23_D70A  # 0.01
HALF = 0x3F00_0000

DIRECTED_MAGNITUDES = (
    0x0000_0000,  # zero
    0x0000_0001,  # smallest subnormal
    0x0000_0002,
    0x0020_0000,  # recip overflows here, and not one above
    0x0020_0001,
    0x003F_FFFF,
    0x0040_0000,
    0x007F_FFFF,  # largest subnormal
    0x0080_0000,  # smallest normal
    0x0080_0001,
    0x0100_0000,
    0x3380_0000,  # 2**-24, half an ulp of 1
    0x33FF_FFFF,
    0x3C23_D70A,  # 0.01
    0x3EFF_FFFF,  # the neighbour below one half
    0x3F00_0000,  # one half
    0x3F00_0001,
    0x3F7F_FFFF,  # one minus an ulp
    0x3F80_0000,  # one
    0x3F80_0001,  # one and an ulp
    0x3FBF_FFFF,
    0x3FC0_0000,  # 1.5
    0x3FC0_0001,
    0x4000_0000,  # 2
    0x4020_0000,  # 2.5
    0x4040_0000,  # 3
    0x4060_0000,  # 3.5
    0x4B00_0000 - 3,  # 2**23 - 1.5
    0x4B00_0000 - 2,
    0x4B00_0000 - 1,  # 2**23 - 0.5
    0x4B00_0000,  # 2**23
    0x4B00_0001,
    0x4B7F_FFFE,
    0x4B7F_FFFF,  # 2**24 - 1, the largest odd integer
    0x4B80_0000,  # 2**24
    0x4B80_0001,
    0x4F00_0000,  # 2**31
    0x7EFF_FFFF,
    0x7F00_0000,
    0x7F7F_FFFE,
    0x7F7F_FFFF,  # largest finite
    0x7F80_0000,  # infinity
    0x7FC0_0000,  # canonical NaN
    0x7FC0_0001,  # quiet NaN with a payload
    0x7FFF_FFFF,
    0x7F80_0001,  # signaling NaN
    0x7FBF_FFFF,
)
DIRECTED = tuple(sign | bits for bits in DIRECTED_MAGNITUDES for sign in (0, SIGN))
THRESHOLDS = (
    0x42B1_7217, 0x42B1_7218, 0xC2CF_F1B4, 0xC2CF_F1B5, 0x42FF_FFFF, 0x4300_0000, 0xC315_0000,
    0xC316_0000, 0xC315_FFFF, 0x4110_2CB3, 0x4110_2CB4, 0x407A_D444, 0x407A_D445, 0xC18A_A122,
    0xC18A_A123, 0x4185_1592, 0x4185_1593, 0x418A_A123, 0xC0B1_5CEE, 0xC0B1_5CEF, 0xC165_B274,
    0x3FC9_0FDB, 0x4049_0FDB, 0x402D_F854, 0x0028_0000, 0x3FC0_0000,
)  # fmt: skip


def is_nan(bits: int) -> bool:
    return bits & 0x7FFF_FFFF > INF


def is_inf(bits: int) -> bool:
    return bits & 0x7FFF_FFFF == INF


def is_zero(bits: int) -> bool:
    return bits & 0x7FFF_FFFF == 0


def value(bits: int) -> Fraction:
    """Return the exact value of a finite encoding."""
    exponent, fraction = bits >> 23 & 0xFF, bits & 0x7F_FFFF
    significand = fraction | 0x80_0000 if exponent else fraction
    if bits & SIGN:
        significand = -significand
    power = max(exponent, 1) - 150
    return Fraction(significand << power) if power >= 0 else Fraction(significand, 1 << -power)


def nearest_magnitude(numerator: int, denominator: int) -> int:
    """Round a positive ratio: to the grid of its binade, ties to the even multiple."""
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator << max(-exponent, 0) < denominator << max(exponent, 0):
        exponent -= 1
    exponent = max(exponent, -126)
    grid = exponent - 23
    denominator <<= max(grid, 0)
    multiple, rest = divmod(numerator << max(-grid, 0), denominator)
    if 2 * rest > denominator or (2 * rest == denominator and multiple % 2):
        multiple += 1
    if multiple == 1 << 24:
        multiple, exponent = 1 << 23, exponent + 1
    if exponent > 127:
        return INF
    if multiple < 1 << 23:
        return multiple
    return exponent + 127 << 23 | multiple - (1 << 23)


def nearest(exact: Fraction, zero: int = 0) -> int:
    """Round an exact real; `zero` is what an exact zero gives."""
    numerator, denominator = exact.as_integer_ratio()
    if not numerator:
        return zero
    if numerator < 0:
        return SIGN | nearest_magnitude(-numerator, denominator)
    return nearest_magnitude(numerator, denominator)


# --- arithmetic -------------------------------------------------------------------------------


def add(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b):
        return NAN
    if is_inf(a):
        return NAN if is_inf(b) and a != b else a
    if is_inf(b):
        return b
    return nearest(value(a) + value(b), SIGN if a == b == SIGN else 0)


def sub(a: int, b: int) -> int:
    return add(a, b ^ SIGN)


def mul(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b):
        return NAN
    sign = (a ^ b) & SIGN
    if is_inf(a) or is_inf(b):
        return NAN if is_zero(a) or is_zero(b) else sign | INF
    return nearest(value(a) * value(b), sign)


def div(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b) or (is_inf(a) and is_inf(b)) or (is_zero(a) and is_zero(b)):
        return NAN
    sign = (a ^ b) & SIGN
    if is_inf(a) or is_zero(b):
        return sign | INF
    if is_inf(b):
        return sign
    # The sign of an underflowing quotient comes from the exact value; of a zero, from the operands.
    return nearest(value(a) / value(b), sign)


def rem(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b) or is_inf(a) or is_zero(b):
        return NAN
    if is_inf(b):
        return a
    x, y = value(a), value(b)
    return nearest(x - y * math.trunc(x / y), a & SIGN)


def extremum(sign: int) -> Callable[[int, int], int]:
    def choose(a: int, b: int) -> int:
        if is_nan(a) or is_nan(b):
            return NAN
        if is_zero(a) and is_zero(b):
            # +0 wins the maximum, -0 the minimum.
            return (a & b) if sign > 0 else (a | b)
        return a if sign * compare(a, b) >= 0 else b

    return choose


def compare(a: int, b: int) -> int:
    """Return -1, 0 or 1 for two numbers, infinities included."""
    x, y = ((value(v) if not is_inf(v) else Fraction((-1) ** (v >> 31) * 2**200)) for v in (a, b))
    return (x > y) - (x < y)


def comparison(accepted: tuple[int, ...], *, unordered: bool) -> Callable[[int, int], bool]:
    def holds(a: int, b: int) -> bool:
        return unordered if is_nan(a) or is_nan(b) else compare(a, b) in accepted

    return holds


def sign_of(a: int) -> int:
    if is_nan(a):
        return NAN
    return 0 if is_zero(a) else a & SIGN | ONE


def to_integer(function: Callable[[Fraction], int]) -> Callable[[int], int]:
    def rounded(a: int) -> int:
        if is_nan(a):
            return NAN
        return a if is_inf(a) else nearest(Fraction(function(value(a))), a & SIGN)

    return rounded


# --- functions through MPFR -------------------------------------------------------------------

CONTEXTS = {bits: gmpy2.context(precision=bits) for bits in (200, 400, 800, 1600, 3200)}


def as_mpfr(bits: int) -> gmpy2.mpfr:
    """Return a finite encoding as an MPFR number, through the widening that hardware defines."""
    return gmpy2.mpfr(struct.unpack("<f", struct.pack("<I", bits))[0], 53)


def from_mpfr(function: str, *arguments: gmpy2.mpfr) -> int:
    """Evaluate `function` so precisely that the rounding to binary32 is beyond doubt."""
    for precision, context in CONTEXTS.items():
        result = getattr(context, function)(*arguments)
        sign = SIGN if gmpy2.is_signed(result) else 0
        if gmpy2.is_zero(result) or gmpy2.is_infinite(result):
            return sign | (0 if gmpy2.is_zero(result) else INF)
        mantissa, exponent = (int(part) for part in result.as_mantissa_exp())
        mantissa = abs(mantissa)
        pad = precision - mantissa.bit_length()
        mantissa, exponent = mantissa << pad, exponent - pad
        scale = exponent + precision
        if scale > 130 or scale < -160:
            return sign | (INF if scale > 0 else 0)
        # Numbers and midpoints of binary32 have 25 bits, so their low bits here are all zero.
        low = mantissa & ((1 << 150) - 1)
        if result.rc and not 16 < low < (1 << 150) - 16:
            grown = {
                nearest_magnitude(m << max(exponent, 0), 1 << max(-exponent, 0))
                for m in (mantissa - 16, mantissa + 16)
            }
            if len(grown) > 1:
                continue
        return sign | nearest_magnitude(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    msg = f"{function} needs more bits"
    raise AssertionError(msg)


def function(
    name: str, *, plus_zero: int, minus_zero: int, plus_inf: int, minus_inf: int
) -> Callable[[int], int]:
    specials = {0: plus_zero, SIGN: minus_zero, INF: plus_inf, SIGN | INF: minus_inf}

    def evaluate(a: int) -> int:
        if is_nan(a):
            return NAN
        if a in specials:
            return specials[a]
        return from_mpfr(name, as_mpfr(a))

    return evaluate


def of_domain(inner: Callable[[int], int], least: int) -> Callable[[int], int]:
    """NaN below -least; -inf at -least (a pole) if that is not zero."""

    def evaluate(a: int) -> int:
        if not is_nan(a) and a & SIGN and not is_zero(a):
            if a == SIGN | least:
                return SIGN | INF
            if a > SIGN | least:
                return NAN
        return inner(a)

    return evaluate


MINUS_ONE = SIGN | ONE
MINUS_INF = SIGN | INF
FUNCTIONS = {
    "exp": function("exp", plus_zero=ONE, minus_zero=ONE, plus_inf=INF, minus_inf=0),
    "exp2": function("exp2", plus_zero=ONE, minus_zero=ONE, plus_inf=INF, minus_inf=0),
    "expm1": function("expm1", plus_zero=0, minus_zero=SIGN, plus_inf=INF, minus_inf=MINUS_ONE),
    "sin": function("sin", plus_zero=0, minus_zero=SIGN, plus_inf=NAN, minus_inf=NAN),
    "cos": function("cos", plus_zero=ONE, minus_zero=ONE, plus_inf=NAN, minus_inf=NAN),
    "tanh": function("tanh", plus_zero=0, minus_zero=SIGN, plus_inf=ONE, minus_inf=MINUS_ONE),
    "erf": function("erf", plus_zero=0, minus_zero=SIGN, plus_inf=ONE, minus_inf=MINUS_ONE),
    "log": of_domain(
        function("log", plus_zero=MINUS_INF, minus_zero=MINUS_INF, plus_inf=INF, minus_inf=NAN), 0
    ),
    "log2": of_domain(
        function("log2", plus_zero=MINUS_INF, minus_zero=MINUS_INF, plus_inf=INF, minus_inf=NAN), 0
    ),
    "log1p": of_domain(
        function("log1p", plus_zero=0, minus_zero=SIGN, plus_inf=INF, minus_inf=NAN), ONE
    ),
    "sqrt": of_domain(
        function("sqrt", plus_zero=0, minus_zero=SIGN, plus_inf=INF, minus_inf=NAN), 0
    ),
    "rsqrt": of_domain(
        function("rec_sqrt", plus_zero=INF, minus_zero=MINUS_INF, plus_inf=0, minus_inf=NAN), 0
    ),
}  # fmt: skip


def power(x: int, y: int) -> int:
    """Table of operations.md 8.2, read row by row."""
    for operand in (x, y):
        if is_nan(operand) and not operand & 0x0040_0000:
            return NAN
    if is_zero(y) or x == ONE:
        return ONE
    if is_nan(x) or is_nan(y):
        return NAN
    if is_inf(y):
        side = compare(x & 0x7FFF_FFFF, ONE)
        if side == 0:
            return ONE
        return INF if (side > 0) == (y == INF) else 0
    exact = value(y)
    whole = exact.denominator == 1
    sign = x & SIGN if whole and exact.numerator % 2 else 0
    if is_zero(x):
        return sign | (INF if exact < 0 else 0)
    if is_inf(x):
        return sign | (0 if exact < 0 else INF)
    if x & SIGN and not whole:
        return NAN
    # The magnitude alone: the sign was settled above.
    return sign | from_mpfr("pow", as_mpfr(x & 0x7FFF_FFFF), as_mpfr(y))


# --- activations: the published steps ---------------------------------------------------------


def positive(a: int) -> bool:
    return 0 < a <= INF


def relu(a: int) -> int:
    if is_nan(a):
        return NAN
    return a if positive(a) else 0


def sigmoid(a: int) -> int:
    if is_nan(a):
        return NAN
    if positive(a) or is_zero(a):
        e = FUNCTIONS["exp"](a ^ SIGN)
        return div(ONE, add(ONE, e))
    e = FUNCTIONS["exp"](a)
    return div(e, add(ONE, e))


def silu(a: int) -> int:
    return mul(a, sigmoid(a))


def gelu(a: int) -> int:
    h = mul(HALF, a)
    e = FUNCTIONS["erf"](mul(a, C1))
    return mul(h, add(ONE, e))


def softplus(a: int) -> int:
    if is_nan(a):
        return NAN
    e = FUNCTIONS["exp"](a | SIGN)
    return add(FUNCTIONS["log1p"](e), a if positive(a) else 0)


def elu(a: int) -> int:
    return a if positive(a) else FUNCTIONS["expm1"](a)


def leaky_relu(a: int) -> int:
    return a if positive(a) or is_zero(a) else mul(C2, a)


def clamp(x: int, lower: int, upper: int) -> int:
    return EXPECTED["minimum"](EXPECTED["maximum"](x, lower), upper)


EXPECTED: dict[str, Callable[..., int]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "elementwise_mul": mul,
    "div": div,
    "rem": rem,
    "pow": power,
    "maximum": extremum(1),
    "minimum": extremum(-1),
    "eq": comparison((0,), unordered=False),
    "ne": comparison((-1, 1), unordered=True),
    "lt": comparison((-1,), unordered=False),
    "le": comparison((-1, 0), unordered=False),
    "logical_not": is_zero,
    "neg": lambda a: a ^ SIGN,
    "abs": lambda a: a & 0x7FFF_FFFF,
    "sign": sign_of,
    "recip": lambda a: div(ONE, a),
    "floor": to_integer(math.floor),
    "ceil": to_integer(math.ceil),
    "round": to_integer(round),
    **FUNCTIONS,
    "relu": relu,
    "sigmoid": sigmoid,
    "silu": silu,
    "gelu": gelu,
    "softplus": softplus,
    "elu": elu,
    "leaky_relu": leaky_relu,
    "clamp": clamp,
    "select": lambda condition, a, b: a if condition else b,
}


# --- patterns ---------------------------------------------------------------------------------


def patterns(rng: np.random.Generator, count: int, low: float, high: float) -> list[int]:
    """Draw `count` bit patterns, most of them where a function of domain [low, high] moves.

    A quarter each: raw patterns; values in [low, high]; exponents around 1 with few or all fraction
    bits; a mix of subnormals, integers and halves, neighbours of powers of two. Directed first.
    """
    quarter = count // 4 + 1
    raw = rng.integers(0, 1 << 32, quarter, dtype=np.uint32)
    inside = rng.uniform(low, high, quarter).astype(np.float32).view(np.uint32)
    exponent = rng.integers(127 - 32, 127 + 32, quarter, dtype=np.uint32) << 23
    keep = np.uint32(0xFFFF_FFFF) << rng.integers(0, 24, quarter, dtype=np.uint32)
    fraction = rng.integers(0, 1 << 23, quarter, dtype=np.uint32) & keep
    near_one = exponent | fraction | rng.integers(0, 2, quarter, dtype=np.uint32) << 31
    third = quarter // 3 + 1
    subnormal = rng.integers(0, 1 << 24, third, dtype=np.uint32)
    halves = (rng.integers(-(2**25), 2**25, third) / 2).astype(np.float32).view(np.uint32)
    halves[::2] = (rng.integers(-600, 600, len(halves[::2])) / 2).astype(np.float32).view(np.uint32)
    binade = (rng.integers(1, 255, third, dtype=np.uint32) << 23) + rng.integers(
        -3, 4, third
    ).astype(np.uint32)
    drawn = np.concatenate([raw, inside, near_one, subnormal, halves, binade])
    rng.shuffle(drawn)
    return [*DIRECTED, *THRESHOLDS, *drawn[:count].tolist()]


def pairs(rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    """Draw pairs: every pair of directed values, unrelated ones, and ones of close exponents."""
    lhs = np.array(patterns(rng, count, -100, 100)[-count:], dtype=np.uint32)
    rhs = np.array(patterns(rng, count, -100, 100)[-count:], dtype=np.uint32)
    close = np.arange(count) % 2 == 1
    exponent = (lhs >> 23 & 0xFF).astype(np.int64) + rng.integers(-26, 27, count)
    moved = rhs & 0x807F_FFFF | np.clip(exponent, 0, 254).astype(np.uint32) << 23
    rhs = np.where(close, moved, rhs)
    # Every sixteenth pair is equal, opposite, or neighbours.
    same = np.arange(count) % 16 == 5
    twins = lhs + rng.integers(-1, 2, count).astype(np.uint32)
    rhs = np.where(same, twins ^ (rng.integers(0, 2, count, dtype=np.uint32) << 31), rhs)
    directed = [(a, b) for a in DIRECTED for b in DIRECTED]
    return [*directed, *zip(lhs.tolist(), rhs.tolist(), strict=True)]


@pytest.fixture(scope="session")
def oracle() -> SimpleNamespace:
    """Give the expected result of each operation by name, and the pieces it is made of."""
    return SimpleNamespace(
        expected=EXPECTED,
        value=value,
        nearest=nearest,
        patterns=patterns,
        pairs=pairs,
        directed=DIRECTED,
    )
