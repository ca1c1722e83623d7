"""Exhaustive sweeps of the compiled conversions against an independent exact method.

The method knows a destination by the list of its values alone: it finds the two neighbours of an
exact value among them and chooses one by the words of the rounding modes. Values are binary64,
which holds every one here, the halfway points and the differences exactly; nothing of the
library's arithmetic is used but the decomposition of single codes.

Without ``--slow`` a sample of each sweep runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from bittrue import cpu
from bittrue.cpu import _native
from bittrue.encoding import Format, Rounding, convert_lane, formats

NV, OF, UF, NX = 1, 4, 8, 16

NAMES = (
    "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1X2", "E1M2X2", "HiF4X2", "E8M0", "FP16", "BF16",
    "S16", "S8", "S4X2", "U16", "U8", "U4X2",
)  # fmt: skip
SCALED = ("FP16", "BF16", "FP32")
PAIRS = [
    (source, destination)
    for source, destination in itertools.product(NAMES, NAMES)
    if destination != "E8M0" or source in SCALED
]


# --- the independent method ---------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """Exact lanes: magnitudes of the finite ones (others 0), signs and special classes."""

    magnitude: np.ndarray
    negative: np.ndarray
    infinite: np.ndarray
    quiet: np.ndarray
    signaling: np.ndarray

    @property
    def special(self) -> np.ndarray:
        return self.infinite | self.quiet | self.signaling


def lane_bits(fmt: Format) -> int:
    return fmt.integer_bits or fmt.lane_bits


@cache
def values_of(name: str) -> Values:
    """Return every code of a type of up to 16 bits."""
    fmt = formats[name]
    count = 1 << lane_bits(fmt)
    codes = np.arange(count)
    no = np.zeros(count, bool)
    if fmt.kind == "integer":
        signed = np.where(fmt.signed & (codes >= count // 2), codes - count, codes)
        return Values(np.abs(signed).astype(np.float64), signed < 0, no, no, no)
    classes = [fmt.classify(code) for code in range(count)]
    parts = [fmt.decompose(code) for code in range(count)]
    magnitude = np.array([d.significand * 2.0**d.exponent for d in parts])
    negative = np.array([fmt.negative(code) for code in range(count)])
    return Values(
        magnitude,
        negative,
        np.array(["inf" in c for c in classes]),
        np.array([c.startswith("quiet") for c in classes]),
        np.array([c.startswith("signaling") for c in classes]),
    )


def values_of_fp32(codes: np.ndarray) -> Values:
    body = codes & 0x7FFF_FFFF
    nan = body > 0x7F80_0000
    quiet = nan & ((codes & 0x40_0000) != 0)
    finite = np.where(body < 0x7F80_0000, body, 0).astype(np.uint32)
    return Values(
        finite.view(np.float32).astype(np.float64),
        codes >> 31 != 0,
        body == 0x7F80_0000,
        quiet,
        nan & ~quiet,
    )


@dataclass(frozen=True)
class Grid:
    """The finite magnitudes of a float type in ascending order, one beyond, and their codes."""

    values: np.ndarray
    codes: np.ndarray


@cache
def grid_of(name: str) -> Grid:
    fmt = formats[name]
    codes = np.arange(1 << (lane_bits(fmt) - 1))  # without the sign bit
    parts = [fmt.decompose(int(code)) for code in codes]
    good = np.array([d.available for d in parts])
    values = np.array([d.significand * 2.0**d.exponent for d in parts])[good]
    order = np.argsort(values)
    values, codes = values[order], codes[good][order]
    # Beyond the largest the grid goes on with the precision of its binade.
    width = 1 if name == "HiF8" else fmt.fraction_bits[1]
    step = 2.0 ** (np.floor(np.log2(values[-1])) - width)
    return Grid(np.append(values, values[-1] + step), np.append(codes, codes[-1] + 1))


def moves_up(
    mode: Rounding, magnitude: np.ndarray, low: np.ndarray, high: np.ndarray, odd: np.ndarray,
    negative: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Tell which magnitudes go from `low` to `high`; `odd` is the parity of the low code."""
    middle = (low + high) / 2
    above, tie = magnitude > middle, magnitude == middle
    up = {
        Rounding.RNE: above | tie & odd,
        Rounding.RTZ: np.zeros_like(tie),
        Rounding.RTM: negative,
        Rounding.RTP: ~negative,
        Rounding.RNA: above | tie,
        Rounding.RTO: ~odd,
        Rounding.RHB: above | tie & ~negative,
    }[mode]
    return up & (magnitude != low)


def signed(fmt: Format, codes: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Set the sign, where the type has a negative zero or the code is none."""
    sign = np.int64(1 << (lane_bits(fmt) - 1))
    return codes | np.where(negative & (fmt.has_signed_zero | (codes != 0)), sign, 0)


def to_float(v: Values, fmt: Format, mode: Rounding, *, saturate: bool) -> tuple:
    grid = grid_of(fmt.name)
    last = len(grid.values) - 2
    low = np.searchsorted(grid.values, v.magnitude, side="right") - 1
    beyond = low > last
    low = np.minimum(low, last)
    lows = grid.values[low]
    up = moves_up(
        mode, v.magnitude, lows, grid.values[low + 1], grid.codes[low] % 2 == 1, v.negative
    )
    chosen = low + up
    over = beyond | (chosen > last)
    codes = signed(fmt, grid.codes[chosen], v.negative)
    flags = np.where(v.magnitude != lows, NX, 0)
    if fmt.has_subnormal:
        # The number without end of exponents below the smallest normal has a one in its last place.
        smallest = 2.0**fmt.emin
        width = 1 if fmt.name == "HiF8" else fmt.fraction_bits[1]
        under = np.full_like(v.magnitude, smallest - 2.0 ** (fmt.emin - 1 - width))
        rounds_up = (v.magnitude > under) & moves_up(
            mode, v.magnitude, under, under * 0 + smallest, np.ones_like(over), v.negative
        )
        tiny = (v.magnitude < smallest) & ~rounds_up
        flags |= np.where(tiny & (flags != 0), UF, 0)
    largest = signed(fmt, np.full_like(codes, grid.codes[last]), v.negative)
    endless = largest
    if not saturate and fmt.has_infinity:
        endless = signed(fmt, np.full_like(codes, fmt.positive_infinity), v.negative)
    elif not saturate and fmt.canonical_nan is not None:
        endless = np.full_like(codes, fmt.canonical_nan)
    codes = np.where(over | v.infinite, endless, codes)
    flags = np.where(over, OF | NX, flags)
    flags = np.where(v.infinite, 0 if fmt.has_infinity and not saturate else OF | NX, flags)
    nan = v.quiet | v.signaling
    keeps = not saturate and fmt.canonical_nan is not None
    codes = np.where(nan, fmt.canonical_nan if keeps else 0, codes)
    loses = not saturate and fmt.canonical_nan is None
    return codes, np.where(nan, np.where(v.signaling | loses, NV, 0), flags)


def to_integer(v: Values, fmt: Format, mode: Rounding, *, saturate: bool) -> tuple:
    bits = fmt.integer_bits
    least = -(2.0 ** (bits - 1)) if fmt.signed else 0.0
    greatest = least + 2.0**bits - 1
    floor = np.floor(v.magnitude)
    up = moves_up(mode, v.magnitude, floor, floor + 1, floor % 2 == 1, v.negative)
    number = np.where(v.negative, -(floor + up), floor + up)
    over = (number < least) | (number > greatest)
    clamped = np.where(v.negative, least, greatest)
    number = np.where(over & saturate, clamped, number)
    flags = np.where(over, OF | NX, np.where(v.magnitude != floor, NX, 0))
    indefinite = least if fmt.signed else greatest
    number = np.where(v.infinite, clamped if saturate else indefinite, number)
    flags = np.where(v.infinite, OF | NX if saturate else NV, flags)
    nan = v.quiet | v.signaling
    number = np.where(nan, 0 if saturate else indefinite, number)
    return np.fmod(number, 2.0**bits).astype(np.int64) % (1 << bits), np.where(nan, NV, flags)


def to_scale(v: Values, mode: Rounding, *, saturate: bool) -> tuple:
    exponent = np.frexp(v.magnitude)[1] - 1
    power = np.ldexp(1.0, exponent)
    exact = v.magnitude == power
    ratio = v.magnitude / power
    up = {
        Rounding.RTM: np.zeros_like(exact),
        Rounding.RTP: np.ones_like(exact),
        Rounding.RTZ: exponent < 0,
        Rounding.RTO: exponent % 2 == 0,
    }.get(mode, ratio * ratio >= 2)  # 24 bits squared: exact
    codes = exponent + (up & ~exact) + 127
    flags = np.where(exact, 0, NX)
    under = v.magnitude < 2.0**-127
    codes = np.where(under, 0 if saturate else 0xFF, codes)
    flags = np.where(under, UF | NX, flags)
    over = (v.magnitude > 2.0**127) | v.infinite
    codes = np.where(over, 0xFE if saturate else 0xFF, codes)
    flags = np.where(over, OF | NX, flags)
    zero = (v.magnitude == 0) & ~v.special
    refused = v.negative | v.quiet | v.signaling | zero
    return np.where(refused, 0xFF, codes), np.where(refused, NV, flags)


def wanted(
    source: Format, v: Values, destination: Format, rounding: Rounding, *, saturate: bool
) -> tuple:
    into = destination.kind == "integer"
    mode = rounding
    if rounding is Rounding.NONE:
        mode = Rounding.RTZ if into else Rounding.RNE
    if destination.kind == "scale":
        return to_scale(v, mode, saturate=saturate)
    if not into:
        return to_float(v, destination, mode, saturate=saturate)
    codes, flags = to_integer(v, destination, mode, saturate=saturate)
    return codes, np.zeros_like(flags) if source.kind == "integer" else flags


# --- the kernels --------------------------------------------------------------------------------


def carrier_of(fmt: Format) -> type[np.unsignedinteger]:
    return {8: np.uint8, 16: np.uint16, 32: np.uint32}[max(fmt.integer_bits or fmt.carrier_bits, 8)]


def is_packed(fmt: Format) -> bool:
    return fmt.lanes_per_carrier > 1 or fmt.integer_bits == 4


def converted(
    source: Format, destination: Format, codes: np.ndarray, rounding: Rounding, *, saturate: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Run the kernels over an even number of lanes."""
    count = len(codes)
    carriers = codes.astype(carrier_of(source), copy=False)
    if is_packed(source):
        carriers = (carriers[0::2] | carriers[1::2] << 4).astype(np.uint8)
    out = np.empty(count // 2 if is_packed(destination) else count, carrier_of(destination))
    flags = np.empty(count, np.uint8)
    union = cpu.convert_lanes(
        source, destination, carriers, out, count, rounding,
        saturate=saturate, random_bits=None, flags=flags, threads=1,
    )  # fmt: skip
    bare = np.empty_like(out)
    again = cpu.convert_lanes(
        source, destination, carriers, bare, count, rounding,
        saturate=saturate, random_bits=None, flags=None, threads=1,
    )  # fmt: skip
    assert again == union
    assert np.array_equal(out, bare)
    if is_packed(destination):
        lanes = np.empty(count, np.uint8)
        lanes[0::2], lanes[1::2] = out & 0xF, out >> 4
        out = lanes
    return out, flags, union


# --- tests --------------------------------------------------------------------------------------


def levels() -> list[str]:
    """Return the instruction levels of this machine."""
    present = []
    for name in ("baseline", "v3", "v4"):
        try:
            _native.set_level(name)
        except ValueError:
            continue
        present.append(name)
    _native.set_level("")
    return present


LEVELS = levels()


@pytest.fixture(autouse=True)
def restored_level() -> Iterator[None]:
    before = _native.level()
    yield
    _native.set_level(before)


def check_pair(source_name: str, name: str, rounding: Rounding, *, saturate: bool) -> None:
    """Convert every code, several times over so that no path for few lanes is taken."""
    source, destination = formats[source_name], formats[name]
    count = 1 << lane_bits(source)
    codes, flags = wanted(source, values_of(source_name), destination, rounding, saturate=saturate)
    copies = max(1, 512 // count)
    lanes, codes, flags = (np.tile(part, copies) for part in (np.arange(count), codes, flags))
    for level in LEVELS:
        _native.set_level(level)
        out, raised, union = converted(source, destination, lanes, rounding, saturate=saturate)
        wrong = np.flatnonzero((out != codes) | (raised != flags))
        if len(wrong):
            i = int(wrong[0])
            pytest.fail(
                f"{source_name} to {name} {rounding.name} saturate={saturate} {level} code {i:#x}: "
                f"{out[i]:#x} flags {raised[i]}, expected {codes[i]:#x} flags {flags[i]}; "
                f"{len(wrong)} differ"
            )
        assert union == int(np.bitwise_or.reduce(flags))


MODES = tuple(itertools.product(Rounding, (False, True)))


@pytest.mark.slow
@pytest.mark.rule("conversion.cpu.every-pair")
@pytest.mark.parametrize("source_name", NAMES)
def test_every_code_of_every_pair_up_to_16_bits(source_name):
    for _, name in (pair for pair in PAIRS if pair[0] == source_name):
        for rounding, saturate in MODES:
            check_pair(source_name, name, rounding, saturate=saturate)


@pytest.mark.rule("conversion.cpu.every-pair")
@pytest.mark.parametrize(
    ("source_name", "name"),
    [("FP16", "HiF8"), ("BF16", "E4M3"), ("BF16", "E8M0"), ("FP16", "S8"), ("U16", "BF16"),
     ("HiF8", "FP16"), ("E5M2", "E2M1X2"), ("E2M3", "U4X2")],
)  # fmt: skip
def test_every_code_of_some_pairs(source_name, name):
    for rounding, saturate in MODES:
        check_pair(source_name, name, rounding, saturate=saturate)


@pytest.mark.slow
@pytest.mark.rule("conversion.generic.every-pair")
@pytest.mark.parametrize("source_name", NAMES)
def test_the_reference_agrees_with_the_method(source_name):
    """Convert each distinct exact value once: of a 16-bit source, one code in sixteen."""
    source, v = formats[source_name], values_of(source_name)
    count = 1 << lane_bits(source)
    chosen = np.arange(count) if count <= 256 else np.arange(5, count, 16)
    for _, name in (pair for pair in PAIRS if pair[0] == source_name):
        for rounding, saturate in MODES:
            if rounding is Rounding.NONE:
                continue
            codes, flags = wanted(source, v, formats[name], rounding, saturate=saturate)
            for code in chosen:
                got = convert_lane(source, formats[name], int(code), rounding, saturate=saturate)
                assert got == (codes[code], flags[code]), (source_name, name, rounding, code)


def neighbourhoods(destination: Format) -> np.ndarray:
    """Return the FP32 codes around every value and every halfway point of a type, both signs."""
    grid = grid_of(destination.name).values if destination.kind == "fixed" else None
    if destination.name == "HiF8":
        grid = grid_of("HiF8").values
    elif destination.kind == "scale":
        roots = np.sqrt(2) * 2.0 ** np.arange(-127, 128)
        grid = np.append(2.0 ** np.arange(-128, 128), roots)
    elif destination.kind == "integer":
        grid = np.arange(0.0, 2.0 ** (destination.integer_bits + 1))
    points = np.append(grid, (grid[:-1] + grid[1:]) / 2)
    points = points[points < 2.0**128].astype(np.float32)
    around = points.view(np.uint32).astype(np.int64)[:, None] + np.arange(-2, 3)
    smallest = np.float32(2.0 ** max(destination.emin, -126)).view(np.uint32)
    below = np.array([smallest - (smallest >> 9), 0x0040_0000, 0x7F80_0000], np.int64)
    bodies = np.unique(np.append(around, below[:, None] + np.arange(-3, 4)).clip(0, 0x7FFF_FFFF))
    codes = np.append(bodies, bodies | 1 << 31)
    return codes[: len(codes) // 2 * 2].astype(np.uint32)


NARROW = ("BF16", "FP16", "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1X2", "E8M0", "S8", "U4X2")


def check_fp32(codes: np.ndarray, name: str, rounding: Rounding, *, saturate: bool) -> None:
    source, destination = formats["FP32"], formats[name]
    want, flags = wanted(source, values_of_fp32(codes), destination, rounding, saturate=saturate)
    out, raised, _ = converted(source, destination, codes, rounding, saturate=saturate)
    wrong = np.flatnonzero((out != want) | (raised != flags))
    if len(wrong):
        i = int(wrong[0])
        pytest.fail(
            f"FP32 to {name} {rounding.name} saturate={saturate} code {codes[i]:#x}: "
            f"{out[i]:#x} flags {raised[i]}, expected {want[i]:#x} flags {flags[i]}; "
            f"{len(wrong)} of {len(codes)} differ"
        )


@pytest.mark.rule("conversion.cpu.every-fp32-code")
@pytest.mark.parametrize("name", NARROW)
def test_fp32_codes_around_every_boundary(name):
    codes = neighbourhoods(formats[name])
    rng = np.random.default_rng(11)
    codes = np.append(codes, rng.integers(0, 1 << 32, 4096, np.uint32))
    for rounding, saturate in MODES:
        for level in LEVELS:
            _native.set_level(level)
            check_fp32(codes, name, rounding, saturate=saturate)


FULL = [
    *((name, Rounding.NONE, False) for name in NARROW),
    *(("E4M3", mode, saturate) for mode, saturate in MODES if mode not in (0, 1) or saturate),
]


@pytest.mark.slow
@pytest.mark.rule("conversion.cpu.every-fp32-code")
@pytest.mark.parametrize(("name", "rounding", "saturate"), FULL)
def test_every_fp32_code(name, rounding, saturate):
    """Codes and flags are constant between boundaries: both ends of every constant run suffice.

    The method agrees at the ends of a run and the code ascends with the magnitude, so it agrees
    within, but for values that are exact; those are among the neighbourhoods.
    """
    destination = formats[name]
    check_fp32(neighbourhoods(destination), name, rounding, saturate=saturate)
    step = 1 << 24
    carrier = carrier_of(destination)
    for begin in range(0, 1 << 32, step):
        codes = np.arange(begin, begin + step, dtype=np.uint32)
        size = step // 2 if is_packed(destination) else step
        out, flags = np.empty(size, carrier), np.empty(step, np.uint8)
        cpu.convert_lanes(
            formats["FP32"], destination, codes, out, step, rounding,
            saturate=saturate, random_bits=None, flags=flags, threads=1,
        )  # fmt: skip
        if is_packed(destination):
            lanes = np.empty(step, np.uint8)
            lanes[0::2], lanes[1::2] = out & 0xF, out >> 4
            out = lanes
        change = np.flatnonzero((out[1:] != out[:-1]) | (flags[1:] != flags[:-1]))
        ends = np.unique(np.concatenate([[0, step - 1], change, change + 1]))
        ends = np.append(ends, ends[-1:]) if len(ends) % 2 else ends
        check_fp32(codes[ends], name, rounding, saturate=saturate)
