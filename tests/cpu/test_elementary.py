"""Bits of the elementary kernels at every instruction level, against Generic and typed values."""

import ctypes
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from bittrue import cpu
from bittrue.cpu import _native
from bittrue.encoding import BINARY32
from bittrue.generic import activation as act
from bittrue.generic import arithmetic as ar
from bittrue.generic import elementary as el

REFERENCE = {
    name: partial(getattr(el, name), BINARY32) for name in cpu.PRIMITIVES if name != "rsqrt"
}
REFERENCE["rsqrt"] = partial(ar.rsqrt, BINARY32)
REFERENCE |= {name: partial(getattr(act, name), BINARY32) for name in cpu.ACTIVATIONS}

DIRECTED = [
    0x0000_0000,  # zero
    0x0000_0001,  # least subnormal
    0x0000_0002,
    0x007F_FFFF,  # largest subnormal
    0x0080_0000,  # least normal
    0x0100_0000,
    0x2F80_0000,  # 2**-32
    0x3300_0000,  # 2**-25
    0x3380_0000,  # 2**-24
    0x39FF_FFFF,  # near 2**-11, where 1 - x**2 / 2 starts to count
    0x3EB1_7218,  # ln(2) / 2
    0x3F00_0000,
    0x3F35_04F3,  # sqrt(1/2)
    0x3F49_0FDB,  # pi / 4
    0x3F80_0000,  # one
    0x3FB5_04F3,  # sqrt(2)
    0x3FC9_0FDB,  # pi / 2
    0x4049_0FDB,  # pi
    0x407A_D444,  # erf becomes 1 after it
    0x407C_0000,  # 3.9375
    0x4110_2CB3,  # tanh becomes 1 after it
    0x4120_0000,
    0x41A0_0000,  # 20
    0x42AE_AC50,  # 87.33655: exp(-x) becomes subnormal
    0x42B1_7217,  # exp is finite
    0x42B1_7218,  # exp overflows
    0x42CF_F1B4,  # exp(-x) is the least subnormal
    0x42CF_F1B5,  # exp(-x) is zero
    0x42FC_0000,  # 126
    0x42FF_FFFF,
    0x4300_0000,  # 128
    0x4315_0000,  # 149
    0x4315_FFFF,
    0x4316_0000,  # 150: exp2(-x) is a tie
    0x4900_0000,  # 2**19: the longer reduction of angles begins
    0x4B80_0000,
    0x5F34_9F4B,
    0x7F7F_FFFF,  # largest finite
    0x7F80_0000,  # infinity
    0x7F80_0001,  # signaling NaN
    0x7FC0_0000,  # quiet NaN
    0x7FFF_FFFF,
]

# Typed from the sheet of operations, section 11, and known hard arguments of sine.
TYPED = [
    ("exp", 0x42B1_7217, 0x7F7F_FF84),
    ("exp", 0x42B1_7218, 0x7F80_0000),
    ("exp", 0xC2CF_F1B4, 0x0000_0001),
    ("exp", 0xC2CF_F1B5, 0x0000_0000),
    ("exp", 0x3F80_0000, 0x402D_F854),
    ("exp", 0xBF80_0000, 0x3EBC_5AB2),
    ("exp2", 0xC315_0000, 0x0000_0001),
    ("exp2", 0xC316_0000, 0x0000_0000),
    ("exp2", 0x4300_0000, 0x7F80_0000),
    ("log", 0x0000_0001, 0xC2CE_8ED0),
    ("log2", 0x0000_0001, 0xC315_0000),
    ("log2", 0x7F7F_FFFF, 0x4300_0000),
    ("log", 0x3F80_0000, 0x0000_0000),
    ("tanh", 0x4110_2CB3, 0x3F7F_FFFF),
    ("tanh", 0x4110_2CB4, 0x3F80_0000),
    ("erf", 0x407A_D444, 0x3F7F_FFFF),
    ("erf", 0x407A_D445, 0x3F80_0000),
    ("sin", 0x3F80_0000, 0x3F57_6AA4),
    ("cos", 0x4000_0000, 0xBED5_1133),
    ("tanh", 0x3F00_0000, 0x3EEC_9A9F),
    ("erf", 0x3F80_0000, 0x3F57_BB3D),
    ("sin", 0x7F7F_FFFF, 0xBF05_99B3),
    ("cos", 0x7F7F_FFFF, 0x3F5A_5F96),
    ("rsqrt", 0x3FC0_0000, 0x3F51_05EC),
    ("rsqrt", 0x8000_0000, 0xFF80_0000),
    ("elu", 0xC18A_A122, 0xBF7F_FFFF),
    ("leaky_relu", 0xBF80_0000, 0xBC23_D70A),
    ("sigmoid", 0x4185_1592, 0x3F80_0000),
    ("gelu", 0xFF80_0000, 0x7FC0_0000),
    ("silu", 0xFF80_0000, 0x7FC0_0000),
    ("relu", 0x8000_0000, 0x0000_0000),
    ("relu", 0xFFC0_0001, 0x7FC0_0000),
]

LEVELS = ["baseline", "v3", "v4"]


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


@pytest.fixture(params=[False, True], ids=["subnormals kept", "subnormals flushed"])
def caller_flushes(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Set the caller's flush state for the test and put it back."""
    before = _native.set_flush_to_zero(request.param)
    yield request.param
    _native.set_flush_to_zero(before)


def array_of(patterns: list[int]) -> np.ndarray:
    return np.array(patterns, dtype=np.uint32).view(np.float32)


def run(name: str, patterns: list[int], threads: int = 1) -> list[int]:
    out = np.empty(len(patterns), np.float32)
    cpu.elementary(name, array_of(patterns), out, threads)
    return out.view(np.uint32).tolist()


def random_patterns(seed: int, count: int) -> list[int]:
    """Half any pattern, half of moderate magnitude."""
    source = random.Random(seed)
    return [
        source.getrandbits(32)
        if index % 2
        else source.getrandbits(1) << 31 | source.randint(115, 135) << 23 | source.getrandbits(23)
        for index in range(count)
    ]


def assert_bits(name: str, patterns: list[int]) -> None:
    wrong = [
        f"{name} {operand:08x}: expected {wanted:08x}, got {got:08x}"
        for operand, got in zip(patterns, run(name, patterns), strict=True)
        if got != (wanted := REFERENCE[name](operand))
    ]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(("name", "operand", "wanted"), TYPED)
@pytest.mark.usefixtures("level")
def test_elementary_typed(name: str, operand: int, wanted: int) -> None:
    assert f"{run(name, [operand])[0]:08x}" == f"{wanted:08x}"


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.usefixtures("level", "caller_flushes")
def test_elementary_directed(name: str) -> None:
    near = {bits + step for bits in DIRECTED for step in (-1, 0, 1) if 0 <= bits + step < 1 << 31}
    assert_bits(name, sorted(near | {bits | 1 << 31 for bits in near}))


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.usefixtures("level")
def test_elementary_random(name: str) -> None:
    assert_bits(name, random_patterns(seed=13, count=2000))


@pytest.mark.parametrize("name", cpu.PRIMITIVES)
def test_levels_write_the_same_bits(name: str) -> None:
    before = cpu.level()
    patterns = random_patterns(seed=14, count=300_000)
    results = []
    for level in LEVELS:
        try:
            cpu.set_level(level)
        except ValueError:
            continue
        results.append(run(name, patterns, threads=2))
    cpu.set_level(before)
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("name", [*REFERENCE, "pow"])
@pytest.mark.usefixtures("level")
def test_every_length_and_in_place(name: str) -> None:
    """The result of an element depends neither on its place nor on its neighbours."""
    patterns = [*DIRECTED, *random_patterns(seed=15, count=60)]
    alone = [run_one(name, [bits])[0] for bits in patterns]
    for length in (*range(40), len(patterns)):
        x = array_of(patterns[:length])
        apply(name, x, x)
        assert x.view(np.uint32).tolist() == alone[:length]


def apply(name: str, x: np.ndarray, out: np.ndarray, threads: int = 1) -> None:
    if name == "pow":
        cpu.power(x, np.full(len(x), 1.5, np.float32), out, threads)
    else:
        cpu.elementary(name, x, out, threads)


def run_one(name: str, patterns: list[int]) -> list[int]:
    out = np.empty(len(patterns), np.float32)
    apply(name, array_of(patterns), out)
    return out.view(np.uint32).tolist()


def test_threads_share_the_work() -> None:
    patterns = random_patterns(seed=16, count=100_001)
    assert run("exp", patterns, threads=4) == run("exp", patterns, threads=1)


FE_UPWARD, FE_DOWNWARD = 0x800, 0x400  # of x86; `fegetround` has the same values
C = ctypes.CDLL(None)


@contextmanager
def hostile_caller(rounding: int) -> Iterator[None]:
    """Round in a direction and flush subnormals on the calling thread."""
    assert C.fesetround(rounding) == 0
    _native.set_flush_to_zero(True)
    try:
        yield
        assert C.fegetround() == rounding
        assert _native.set_flush_to_zero(False)
    finally:
        _native.set_flush_to_zero(False)
        C.fesetround(0)


@pytest.mark.parametrize("name", [*REFERENCE, "pow"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.usefixtures("level")
def test_state_of_the_caller_changes_no_bit(name: str, threads: int) -> None:
    """Nor does the call change that state, in which the workers have no part."""
    patterns = random_patterns(seed=17, count=50_000)
    patterns += range(0x10, 0x0090_0000, 0x1001)  # subnormal, as results of some are too
    x = array_of(patterns)
    wanted, got = np.empty_like(x), np.empty_like(x)
    apply(name, x, wanted)
    for rounding in (FE_UPWARD, FE_DOWNWARD):
        with hostile_caller(rounding):
            apply(name, x, got, threads)
        assert np.array_equal(got.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.parametrize("name", ["exp", "gelu"])
def test_elementary_refusals(name: str) -> None:
    memory = np.ones(16, np.float32)
    with pytest.raises(ValueError, match="x has length 3; expected 4"):
        cpu.elementary(name, memory[:3], memory[4:8])
    with pytest.raises(ValueError, match="out overlaps a part of x"):
        cpu.elementary(name, memory[:8], memory[1:9])
    with pytest.raises(ValueError, match="unknown function 'gamma'; expected one of exp, exp2"):
        cpu.elementary("gamma", memory, memory)
    with pytest.raises(ValueError, match="y has length 1; expected 4"):
        cpu.power(memory[:4], memory[4:5], memory[8:12])
    with pytest.raises(TypeError):
        cpu.elementary(name, memory.astype(np.float64), memory)
    assert (memory == 1).all()
