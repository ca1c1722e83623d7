"""Bits of pow at every instruction level, and its exact and hardest cases."""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from bittrue import cpu
from bittrue.conformance.sweep import draw_pairs
from bittrue.cpu import _native
from bittrue.encoding import BINARY32
from bittrue.generic.elementary import power

LEVELS = ["baseline", "v3", "v4"]

OPERANDS = [
    0x0000_0000,  # zero
    0x0000_0001,  # least subnormal
    0x007F_FFFF,
    0x0080_0000,
    0x3300_0000,
    0x3E80_0000,  # 1/4
    0x3EC0_0000,  # 3/8
    0x3F00_0000,  # 1/2
    0x3F7F_FFFF,  # before 1
    0x3F80_0000,  # 1
    0x3F80_0001,  # after 1
    0x3FC0_0000,  # 3/2
    0x4000_0000,  # 2
    0x4040_0000,  # 3
    0x4080_0000,  # 4
    0x4110_0000,  # 9
    0x4316_0000,  # 150
    0x4B7F_FFFF,  # 2**24 - 1, odd
    0x4B80_0000,  # 2**24
    0x4B80_0001,  # even
    0x7F7F_FFFF,
    0x7F80_0000,
    0x7F80_0001,  # signaling NaN
    0x7FC0_0000,
]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run at one instruction level, and put back the best one."""
    before = cpu.level()
    try:
        cpu.set_level(request.param)
    except ValueError:
        pytest.skip(f"this machine has no level {request.param}")
    yield request.param
    cpu.set_level(before)


def run(pairs: list[tuple[int, int]]) -> list[int]:
    x, y = (np.array([pair[side] for pair in pairs], np.uint32).view(np.float32) for side in (0, 1))
    out = np.empty(len(pairs), np.float32)
    cpu.power(x, y, out)
    return out.view(np.uint32).tolist()


def assert_bits(pairs: list[tuple[int, int]]) -> None:
    wrong = [
        f"{base:08x} ** {exponent:08x}: expected {wanted:08x}, got {got:08x}"
        for (base, exponent), got in zip(pairs, run(pairs), strict=True)
        if got != (wanted := power(BINARY32, base, exponent))
    ]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.usefixtures("level")
def test_pow_directed() -> None:
    both = [*OPERANDS, *(bits | 1 << 31 for bits in OPERANDS)]
    assert_bits(list(itertools.product(both, repeat=2)))


@pytest.mark.usefixtures("level")
def test_pow_random() -> None:
    x, y = draw_pairs(seed=21, count=4000)
    assert_bits(list(zip(x.view(np.uint32).tolist(), y.view(np.uint32).tolist(), strict=True)))


@pytest.mark.usefixtures("level")
def test_pow_any_patterns() -> None:
    source = random.Random(22)
    assert_bits([(source.getrandbits(32), source.getrandbits(32)) for _ in range(4000)])


def exact_cases() -> Iterator[tuple[int, int]]:
    """Pairs whose power has at most 25 bits: exact results and ties."""
    for root, power_of_two in itertools.product(range(3, 5793, 2), range(4)):
        base = root ** (1 << power_of_two)
        if base >= 1 << 24:
            continue
        for numerator in range(1, 16):
            if root**numerator < 1 << 25:
                yield base, Fraction(numerator, 1 << power_of_two)


@pytest.mark.usefixtures("level")
def test_pow_exact_cases_and_ties() -> None:
    """Each such pair, scaled by powers of 2 that keep the result exact, one near underflow."""
    source = random.Random(23)
    cases = list(exact_cases())
    pairs = []
    for base, exponent in source.sample(cases, min(len(cases), 3000)):
        step = exponent.denominator
        for scale in (0, step * source.randint(-30 // step, 30 // step)):
            scaled = np.float32(np.ldexp(float(base), scale))
            pairs.append(
                (int(scaled.view(np.uint32)), int(np.float32(float(exponent)).view(np.uint32)))
            )
    before = _native.pow_slow_counts()[0]
    assert_bits(pairs)
    assert _native.pow_slow_counts()[0] > before


@pytest.mark.usefixtures("level")
def test_pow_of_two_at_the_subnormal_ties() -> None:
    """2 ** -150 is halfway between 0 and the least subnormal; the same as 4 ** -75."""
    minus_150, minus_75 = (int(np.float32(value).view(np.uint32)) for value in (-150, -75))
    assert run([(0x4000_0000, minus_150), (0x4080_0000, minus_75)]) == [0, 0]
    assert_bits([(0x4000_0000, int(np.float32(n / 2).view(np.uint32))) for n in range(-310, -240)])


@pytest.mark.usefixtures("level")
def test_pow_near_one_is_no_tie() -> None:
    """Tiny exponents: the power is 1 and a little, and no precision is spent on it."""
    tiny = [0x3300_0000, 0x3280_0000, 0x0000_0001, 0x0080_0000, 0xB380_0000]
    assert_bits(list(itertools.product([0x3F7F_FFFF, 0x3F80_0001, 0x7F7F_FFFF, 1], tiny)))


# Published by CORE-MATH (powf.wc, Zimmermann 2022): from searches over all bases for ranges of
# exponents, those of the hardest whose power lies near the middle of two neighbours.
HARDEST = [
    ("0x1.49b684p-69", "0x1.1509f6p+0"),
    ("0x1.aa25fp-122", "0x1.04d8e4p+0"),
    ("0x1.403804p-89", "-0x1.59af46p-24"),
    ("0x1.eed4a8p+84", "-0x1.554912p-24"),
    ("0x1.50cbb4p-41", "-0x1.62bcc2p-24"),
    ("0x1.f4ff26p-81", "0x1.2a584p+0"),
    ("0x1.b81db4p+105", "-0x1.5b661p-24"),
    ("0x1.f61294p+111", "-0x1.3b0004p-24"),
    ("0x1.95c6c2p+113", "0x1.1f771cp+0"),
    ("0x1.3382aep-85", "-0x1.46e554p-24"),
    ("0x1.418402p-28", "-0x1.685edp-24"),
    ("0x1.cc53e8p-96", "0x1.1bb752p+0"),
    ("0x1.2e9178p-119", "0x1.023178p+0"),
    ("0x1.15c536p+12", "-0x1.40060ap-24"),
    ("0x1.767d72p-31", "0x1.002808p+0"),
    ("0x1.2ccb16p-12", "0x1.0b9bdp+0"),
    ("0x1.cc0b74p+14", "0x1.3076dep+0"),
    ("0x1.3e4b38p+35", "0x1.1dc21ap+0"),
    ("0x1.c1243cp-1", "0x1.26ef18p+0"),
    ("0x1.89abdep-68", "0x1.1e783ap+0"),
    ("0x1.8029bep+15", "0x1.2d8c12p+0"),
    ("0x1.9b35c6p+6", "0x1.053cc8p+0"),
]

# From the same list: where a power nearly leaves binary32, and exponents that are hard for bases
# near 1.
EDGES = [
    ("0x1.ffff3p-1", "0x1.adf694p+23"),
    ("0x1.ffff3p-1", "0x1.adf692p+23"),
    ("0x1.fffd34p-1", "0x1.f39e46p+21"),
    ("0x1.fffd34p-1", "0x1.f39e44p+21"),
    ("0x1.fffffep-1", "-0x1.8efe08p+29"),
    ("0x1.fffffep-1", "0x1.67a6fp+30"),
    ("0x1.8fdb0ep-21", "0x1.a31bp-102"),
    ("0x1.9a1p-20", "0x1.ep+0"),
    ("-0x1.4007fcp+0", "0x1.fa97p+18"),
    ("-0x1p-149", "-0x1.000002p+23"),
]


def bits_of(text: str) -> int:
    value = np.float32(float.fromhex(text))
    assert float(value) == float.fromhex(text)
    return int(value.view(np.uint32))


def nearness(base: str, exponent: str) -> float:
    """Return how near the power is to a middle of neighbours: minus log2 of the part of a step."""
    with gmpy2.context(precision=200):
        power_ = gmpy2.mpfr(float.fromhex(base)) ** gmpy2.mpfr(float.fromhex(exponent))
        steps = power_ * gmpy2.mpfr(2) ** (24 - gmpy2.get_exp(power_))
        return float(-gmpy2.log2(abs(steps - gmpy2.floor(steps) - gmpy2.mpfr(0.5))))


@pytest.mark.usefixtures("level")
def test_pow_published_hardest_cases() -> None:
    # A case that was typed wrongly is near nothing.
    assert all(nearness(base, exponent) > 48.5 for base, exponent in HARDEST)
    assert_bits([(bits_of(base), bits_of(exponent)) for base, exponent in HARDEST + EDGES])
