"""The extension's binary32 steps, bit for bit against exact rational arithmetic.

The expected bits come from integers and ``fractions.Fraction``; NumPy only carries the patterns
to the kernel and back.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from bittrue.cpu import _native

OPERATIONS = ("add", "sub", "mul", "div")

SIGN = 0x8000_0000
INFINITY = 0x7F80_0000
CANONICAL_NAN = 0x7FC0_0000

MAGNITUDES = {
    "zero": 0x0000_0000,
    "smallest subnormal": 0x0000_0001,
    "largest subnormal": 0x007F_FFFF,
    "smallest normal": 0x0080_0000,
    "one": 0x3F80_0000,
    "one and an ulp": 0x3F80_0001,
    "largest finite": 0x7F7F_FFFF,
    "infinity": 0x7F80_0000,
    "quiet NaN": 0x7FC0_0000,
    "quiet NaN with payload": 0x7FFF_FFFF,
    "signalling NaN": 0x7F80_0001,
}
DIRECTED = [sign | bits for bits in MAGNITUDES.values() for sign in (0, SIGN)]


def magnitude_of(bits: int) -> Fraction:
    """Return the exact magnitude of a finite encoding."""
    exponent, fraction = (bits >> 23) & 0xFF, bits & 0x7F_FFFF
    significand = fraction | 0x80_0000 if exponent else fraction
    return significand * Fraction(2) ** (max(exponent, 1) - 150)


def value_of(bits: int) -> Fraction:
    """Return the exact value of a finite encoding; both zeros are 0."""
    return -magnitude_of(bits) if bits & SIGN else magnitude_of(bits)


def round_magnitude(exact: Fraction) -> int:
    """Return the encoding nearest to a magnitude, ties to the even one, overflow to infinity.

    Encodings of one sign ascend with their values, so the nearest is found by bisection and
    without a word on exponents. The value that infinity stands in for when rounding is 2**128.
    """
    below, above = 0, INFINITY
    while above - below > 1:
        middle = (below + above) // 2
        if magnitude_of(middle) <= exact:
            below = middle
        else:
            above = middle
    upper = Fraction(2) ** 128 if above == INFINITY else magnitude_of(above)
    down, up = exact - magnitude_of(below), upper - exact
    if down == up:
        return below if below % 2 == 0 else above
    return below if down < up else above


def expected_add(lhs: int, rhs: int) -> int:
    """Add two encodings of which none is a NaN."""
    infinities = {bits for bits in (lhs, rhs) if bits & ~SIGN == INFINITY}
    if len(infinities) == 2:
        return CANONICAL_NAN
    if infinities:
        return infinities.pop()
    exact = value_of(lhs) + value_of(rhs)
    if exact == 0:
        # An exact zero sum is +0 to nearest, except that -0 + -0 is -0.
        return lhs & rhs & SIGN if value_of(lhs) == 0 else 0
    return (SIGN if exact < 0 else 0) | round_magnitude(abs(exact))


def expected_mul(lhs: int, rhs: int) -> int:
    """Multiply two encodings of which none is a NaN."""
    sign, magnitudes = (lhs ^ rhs) & SIGN, (lhs & ~SIGN, rhs & ~SIGN)
    if INFINITY in magnitudes:
        return CANONICAL_NAN if 0 in magnitudes else sign | INFINITY
    return sign | round_magnitude(magnitude_of(lhs) * magnitude_of(rhs))


def expected_div(lhs: int, rhs: int) -> int:
    """Divide two encodings of which none is a NaN."""
    sign, dividend, divisor = (lhs ^ rhs) & SIGN, lhs & ~SIGN, rhs & ~SIGN
    if dividend == divisor and dividend in {0, INFINITY}:
        return CANONICAL_NAN
    if dividend == INFINITY or divisor == 0:
        return sign | INFINITY
    if divisor == INFINITY:
        return sign
    return sign | round_magnitude(magnitude_of(lhs) / magnitude_of(rhs))


EXPECTED: dict[str, Callable[[int, int], int]] = {
    "add": expected_add,
    "sub": lambda lhs, rhs: expected_add(lhs, rhs ^ SIGN),
    "mul": expected_mul,
    "div": expected_div,
}


def expected(operation: str, lhs: int, rhs: int) -> int:
    """Return the bits that the operation must produce."""
    if lhs & ~SIGN > INFINITY or rhs & ~SIGN > INFINITY:
        return CANONICAL_NAN
    return EXPECTED[operation](lhs, rhs)


def array_of(patterns: list[int]) -> np.ndarray:
    return np.array(patterns, dtype=np.uint32).view(np.float32)


def run(operation: str, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the bits that the kernel produces."""
    out = np.empty(len(pairs), dtype=np.float32)
    lhs, rhs = ([pair[side] for pair in pairs] for side in (0, 1))
    _native.binary32(operation, array_of(lhs), array_of(rhs), out)
    return out.view(np.uint32).tolist()


def assert_bits(operation: str, pairs: list[tuple[int, int]], results: list[int]) -> None:
    wrong = [
        f"{lhs:08x} {operation} {rhs:08x}: expected {wanted:08x}, got {got:08x}"
        for (lhs, rhs), got in zip(pairs, results, strict=True)
        if got != (wanted := expected(operation, lhs, rhs))
    ]
    assert not wrong, "\n".join(wrong[:20])


def random_pairs(seed: int, count: int) -> list[tuple[int, int]]:
    """Half unrelated patterns; half whose exponents are close, where sums cancel and round."""
    source = random.Random(seed)
    pairs = []
    for index in range(count):
        lhs, rhs = source.getrandbits(32), source.getrandbits(32)
        if index % 2:
            exponent = ((lhs >> 23) & 0xFF) + source.randint(-25, 25)
            rhs = rhs & 0x807F_FFFF | min(max(exponent, 0), 0xFE) << 23
        pairs.append((lhs, rhs))
    return pairs


def subnormal_pairs(operation: str, seed: int, count: int) -> list[tuple[int, int]]:
    """Pairs whose result lies at the edge between subnormal and normal, or below it."""
    source = random.Random(seed)
    pairs = []
    for _ in range(count):
        lhs, rhs = source.getrandbits(32), source.getrandbits(32)
        exponent = source.randint(1, 150)
        other = {"mul": 127 - exponent, "div": 127 + exponent}.get(operation, 1)
        other += source.randint(-26, 2)
        first = {"mul": exponent, "div": exponent}.get(operation, source.randint(0, 2))
        pairs.append(
            (
                lhs & 0x807F_FFFF | first << 23,
                rhs & 0x807F_FFFF | min(max(other, 0), 0xFE) << 23,
            )
        )
    return pairs


@pytest.fixture(params=[False, True], ids=["subnormals kept", "subnormals flushed"])
def caller_flushes(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Set the caller's flush state for the test and put it back."""
    before = _native.set_flush_to_zero(request.param)
    yield request.param
    _native.set_flush_to_zero(before)


def test_rounding_oracle_on_typed_values() -> None:
    """The oracle itself, on values worked out by hand."""
    ulp = Fraction(1, 2**23)
    assert round_magnitude(Fraction(0)) == 0x0000_0000
    assert round_magnitude(Fraction(1, 2**150)) == 0x0000_0000  # a tie goes to the even zero
    assert round_magnitude(Fraction(3, 2**150)) == 0x0000_0002
    assert round_magnitude(1 + ulp / 2) == 0x3F80_0000
    assert round_magnitude(1 + 3 * ulp / 2) == 0x3F80_0002
    assert round_magnitude(Fraction(1, 10)) == 0x3DCC_CCCD
    assert round_magnitude(Fraction(2**128 - 2**103)) == 0x7F80_0000  # halfway to 2**128
    assert round_magnitude(Fraction(2**128 - 2**103 - 1)) == 0x7F7F_FFFF


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("caller_flushes")
def test_binary32_directed(operation: str) -> None:
    pairs = list(itertools.product(DIRECTED, repeat=2))
    assert_bits(operation, pairs, run(operation, pairs))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("caller_flushes")
def test_binary32_random(operation: str) -> None:
    pairs = random_pairs(seed=1, count=2_000)
    assert_bits(operation, pairs, run(operation, pairs))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("caller_flushes")
def test_binary32_subnormal_edge(operation: str) -> None:
    pairs = subnormal_pairs(operation, seed=2, count=2_000)
    assert_bits(operation, pairs, run(operation, pairs))


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
def test_binary32_random_many(operation: str) -> None:
    pairs = random_pairs(seed=3, count=100_000) + subnormal_pairs(operation, seed=4, count=100_000)
    assert_bits(operation, pairs, run(operation, pairs))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("length", range(35))
def test_binary32_every_length_gives_the_same_bits(operation: str, length: int) -> None:
    """Vector bodies and scalar remainders agree; nothing is written past the end."""
    pairs = random_pairs(seed=length, count=length)
    out = np.full(length + 1, 7.0, dtype=np.float32)
    lhs, rhs = (array_of([pair[side] for pair in pairs]) for side in (0, 1))
    _native.binary32(operation, lhs, rhs, out[:length])
    assert_bits(operation, pairs, out[:length].view(np.uint32).tolist())
    assert out[length] == 7.0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_binary32_in_place(operation: str) -> None:
    pairs = random_pairs(seed=5, count=100)
    lhs, rhs = (array_of([pair[side] for pair in pairs]) for side in (0, 1))
    _native.binary32(operation, lhs, rhs, lhs)
    assert_bits(operation, pairs, lhs.view(np.uint32).tolist())


@pytest.mark.usefixtures("caller_flushes")
def test_float_environment_is_restored(caller_flushes: bool) -> None:  # noqa: FBT001 - a fixture
    """The caller's state is back after a call, seen both in the register and in arithmetic."""
    run("mul", [(0x0080_0000, 0x3F00_0000)] * 64)
    halved = np.float32(2.0**-126) * np.float32(0.5)
    assert halved.view(np.uint32).item() == (0 if caller_flushes else 0x0040_0000)
    assert _native.set_flush_to_zero(caller_flushes) is caller_flushes


@pytest.mark.parametrize(
    ("operation", "lhs", "rhs", "out", "message"),
    [
        ("pow", np.ones(3), np.ones(3), np.ones(3), "unknown operation 'pow'"),
        ("", np.ones(3), np.ones(3), np.ones(3), "expected one of add, sub, mul, div"),
        ("add", np.ones(3), np.ones(2), np.ones(3), "rhs has length 2; expected 3"),
        ("add", np.ones(3), np.ones(1), np.ones(3), "rhs has length 1; expected 3"),
        ("add", np.ones(3), np.ones(3), np.ones(4), "out has length 4; expected 3"),
    ],
)
def test_binary32_refuses_values(
    operation: str, lhs: np.ndarray, rhs: np.ndarray, out: np.ndarray, message: str
) -> None:
    out = out.astype(np.float32)
    with pytest.raises(ValueError, match=message):
        _native.binary32(operation, lhs.astype(np.float32), rhs.astype(np.float32), out)
    assert (out == 1).all()


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
@pytest.mark.parametrize("side", ["lhs", "rhs"])
def test_binary32_refuses_partial_overlap(side: str, shift: int) -> None:
    memory = np.ones(16, dtype=np.float32)
    operands = {"lhs": np.ones(8, np.float32), "rhs": np.ones(8, np.float32), side: memory[4:12]}
    with pytest.raises(ValueError, match=f"out overlaps a part of {side}"):
        _native.binary32("add", operands["lhs"], operands["rhs"], memory[4 + shift : 12 + shift])
    assert (memory == 1).all()


READ_ONLY = np.ones(3, dtype=np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.ones(3, dtype=np.float64), id="float64"),
        pytest.param(np.ones(3, dtype=np.int32), id="int32"),
        pytest.param(np.ones(3, dtype=">f4"), id="other byte order"),
        pytest.param(np.ones((3, 1), dtype=np.float32), id="two dimensions"),
        pytest.param(np.float32(1), id="scalar"),
        pytest.param(np.ones(6, dtype=np.float32)[::2], id="strided"),
        pytest.param(np.ones(3, dtype=np.float32)[::-1], id="reversed"),
        pytest.param([1.0, 1.0, 1.0], id="list"),
        pytest.param(None, id="None"),
    ],
)
def test_binary32_converts_no_argument(array: object) -> None:
    arguments = [np.ones(3, dtype=np.float32) for _ in range(3)]
    for position in range(3):
        refused = [*arguments[:position], array, *arguments[position + 1 :]]
        with pytest.raises(TypeError):
            _native.binary32("add", *refused)


def test_binary32_reads_but_never_writes_read_only_arrays() -> None:
    out = np.zeros(3, dtype=np.float32)
    _native.binary32("add", READ_ONLY, READ_ONLY, out)
    assert out.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError):
        _native.binary32("add", out, out, READ_ONLY)


@pytest.mark.peers
@pytest.mark.parametrize("operation", OPERATIONS)
def test_binary32_equals_torch(operation: str) -> None:
    """Another implementation of the same steps, NaN bits apart (its are the processor's)."""
    torch = pytest.importorskip("torch")
    pairs = [*itertools.product(DIRECTED, repeat=2), *random_pairs(seed=6, count=10_000)]
    lhs, rhs = (torch.from_numpy(array_of([pair[side] for pair in pairs])) for side in (0, 1))
    peer = getattr(torch, operation)(lhs, rhs).numpy()
    ours = np.array(run(operation, pairs), dtype=np.uint32)
    wanted = np.where(np.isnan(peer), np.uint32(CANONICAL_NAN), peer.view(np.uint32))
    assert ours.tolist() == wanted.tolist()
