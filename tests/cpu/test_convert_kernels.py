"""Compiled conversion of lanes, bit for bit against the reference and the known-good vectors.

The reference converts one lane in exact integers; every instruction level of this machine must
agree with it, and the slow native path of single lanes then serves as its fast twin for corpora
that the reference is too slow for.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from bittrue import cpu
from bittrue.cpu import _native
from bittrue.dtypes import Specials
from bittrue.encoding import Format, Rounding, convert_lane, formats
from bittrue.encoding.lanes import Number, to_float, to_integer

SMALL = (
    "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1X2", "E1M2X2", "HiF4X2", "E8M0",
    "S8", "U8", "S4X2", "U4X2",
)  # fmt: skip
LARGE = (
    "FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "FP19",
    "S64", "S32", "S16", "U64", "U32", "U16",
)  # fmt: skip
SCALED = ("FP32", "FP16", "BF16")
MODES = tuple(itertools.product(Rounding, (False, True)))


def levels() -> list[str]:
    """Return the instruction levels of this machine, and the path of single lanes."""
    present = []
    for name in ("lanes", "baseline", "v3", "v4"):
        try:
            _native.set_level(name)
        except ValueError:
            continue
        present.append(name)
    _native.set_level("")
    return present


LEVELS = levels()
VECTOR_LEVELS = LEVELS[1:]


@pytest.fixture(autouse=True)
def restored_level() -> Iterator[None]:
    before = _native.level()
    yield
    _native.set_level(before)


@cache
def user_format(kind: str) -> Format:
    """Return a format of an own row: narrow, wide, far from 1 or without sign."""
    if f"own_{kind}" not in formats:
        if kind == "wide":
            formats.register("own_wide", exponent_bits=10, fraction_bits=29, bias=700)
        elif kind == "half":
            formats.register("own_half", exponent_bits=8, fraction_bits=7, bias=120)
        elif kind == "last":
            formats.register("own_last", exponent_bits=4, fraction_bits=9, specials=Specials.LAST)
        elif kind == "tiny":
            formats.register(
                "own_tiny", exponent_bits=3, fraction_bits=0, specials=Specials.NONE, bias=2
            )
        elif kind == "high":
            formats.register(
                "own_high", exponent_bits=2, fraction_bits=1, specials=Specials.NONE, bias=-120
            )
        elif kind == "unsigned":
            formats.register(
                "own_unsigned", exponent_bits=6, fraction_bits=10, sign=False, bias=40,
                specials=Specials.NO_SUBNORMAL,
            )  # fmt: skip
    return formats[f"own_{kind}"]


OWN = ("wide", "half", "last", "tiny", "high", "unsigned")


def fmt_of(name: str) -> Format:
    return user_format(name.removeprefix("own_")) if name.startswith("own_") else formats[name]


def destinations_of(source: str) -> list[str]:
    legal = [name for name in (*SMALL, *LARGE) if name != "E8M0"]
    return [*legal, "E8M0"] if source in SCALED else legal


def is_packed(fmt: Format) -> bool:
    return fmt.lanes_per_carrier > 1 or fmt.integer_bits == 4


def lane_bits(fmt: Format) -> int:
    return fmt.integer_bits or fmt.lane_bits


def carrier_of(fmt: Format) -> type[np.unsignedinteger]:
    bits = fmt.integer_bits or fmt.carrier_bits
    return (
        next(t for w, t in ((8, np.uint8), (16, np.uint16), (32, np.uint32)) if bits <= w)
        if (bits <= 32)
        else np.uint64
    )


def packed_bytes(lanes: np.ndarray) -> np.ndarray:
    even = np.append(lanes, np.zeros(len(lanes) % 2, np.uint8))
    return (even[0::2] | even[1::2] << 4).astype(np.uint8)


def unpacked(data: np.ndarray, count: int) -> np.ndarray:
    lanes = np.empty(2 * len(data), np.uint8)
    lanes[0::2], lanes[1::2] = data & 0xF, data >> 4
    return lanes[:count]


def convert(
    source: Format,
    destination: Format,
    codes: np.ndarray,
    rounding: Rounding = Rounding.NONE,
    *,
    saturate: bool = False,
    words: np.ndarray | None = None,
    threads: int = 1,
    elements: bool = True,
) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Run the kernels on lanes and return lanes, flags and their union."""
    count = len(codes)
    carriers = np.asarray(codes).astype(carrier_of(source))
    if is_packed(source):
        carriers = packed_bytes(carriers)
        if count % 2:
            carriers[-1] |= 0xB0  # no lane: must be ignored
    size = (count + 1) // 2 if is_packed(destination) else count
    out = np.full(size, 0xA5, carrier_of(destination))
    flags = np.full(count, 0xEE, np.uint8) if elements else None
    union = cpu.convert_lanes(
        source, destination, carriers, out, count, rounding,
        saturate=saturate, random_bits=words, flags=flags, threads=threads,
    )  # fmt: skip
    if is_packed(destination):
        if count % 2:
            assert out[-1] >> 4 == 0
        out = unpacked(out, count)
    return out, flags, union


def expected(
    source: Format,
    destination: Format,
    codes: list[int],
    rounding: Rounding,
    *,
    saturate: bool,
    words: list[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Run the reference."""
    pairs = [
        convert_lane(
            source, destination, code, rounding, saturate=saturate,
            random=None if words is None else words[i],
        )
        for i, code in enumerate(codes)
    ]  # fmt: skip
    out = np.array([code for code, _ in pairs], np.uint64).astype(carrier_of(destination))
    return out, np.array([int(flags) for _, flags in pairs], np.uint8)


def check(
    source: Format,
    destination: Format,
    codes: list[int],
    rounding: Rounding,
    *,
    saturate: bool,
    wanted: tuple[np.ndarray, np.ndarray],
    words: np.ndarray | None = None,
    threads: int = 1,
) -> None:
    """Compare codes, flags and their union at the present level."""
    union = int(np.bitwise_or.reduce(wanted[1])) if len(codes) else 0
    out, flags, got = convert(
        source, destination, np.array(codes, np.uint64), rounding,
        saturate=saturate, words=words, threads=threads,
    )  # fmt: skip
    wrong = np.flatnonzero((out != wanted[0]) | (flags != wanted[1]))
    if len(wrong) or got != union:
        i = int(wrong[0]) if len(wrong) else -1
        pytest.fail(
            f"{source} to {destination} {rounding.name} saturate={saturate} {_native.level()}: "
            f"lane {i} code {int(codes[i]):#x} gave {int(out[i]):#x} flags {int(flags[i])}, "
            f"expected {int(wanted[0][i]):#x} flags {int(wanted[1][i])}; "
            f"union {got}, expected {union}; {len(wrong)} of {len(codes)} differ"
        )
    bare, _, again = convert(
        source, destination, np.array(codes, np.uint64), rounding,
        saturate=saturate, words=words, threads=threads, elements=False,
    )  # fmt: skip
    assert again == union
    assert np.array_equal(bare, out)


# --- corpora ------------------------------------------------------------------------------------


def every_code(fmt: Format) -> list[int]:
    return list(fmt.codes())


def random_codes(fmt: Format, count: int, seed: int) -> np.ndarray:
    """Return valid random lanes; integers of every length."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 64, count, np.uint64, endpoint=False)
    bits = lane_bits(fmt)
    if fmt.kind == "integer":
        words >>= rng.integers(64 - bits, 64, count).astype(np.uint64)
        signs = rng.integers(0, 2, count).astype(bool) & fmt.signed
        words = np.where(signs, ~words + np.uint64(1), words)
    low = np.uint64(((1 << bits) - 1) & ~((1 << fmt.low_zero_bits) - 1))
    return (words & low).astype(carrier_of(fmt))


def nearest_code(fmt: Format, number: Number) -> int:
    if fmt.kind == "integer":
        return int(to_integer(number, fmt, Rounding.RTZ, saturate=True)[0])
    return int(to_float(number, fmt, Rounding.RTZ, saturate=True)[0])


def boundary_magnitudes(destination: Format, rng: random.Random) -> Iterator[tuple[int, int]]:
    """Yield (significand, exponent) on and halfway between neighbouring values."""
    if destination.kind == "integer":
        bits = destination.integer_bits
        for value in (0, 1, 2, 3, (1 << bits) - 1, 1 << bits, 1 << (bits - 1), 1 << (bits + 1)):
            for near in (value - 1, value, value + 1):
                if near >= 0:
                    yield near, 0
                    yield 2 * near + 1, -1
        return
    bits = destination.lane_bits - (destination.sign_bit is not None)
    step = 1 << destination.low_zero_bits
    top = (1 << bits) - step
    smallest = (1 << (destination.fraction_bits[1])) * step
    codes = {0, step, 2 * step, smallest, smallest - step, smallest + step}
    codes |= {destination.max_finite or 0, (destination.max_finite or 0) - step, 0x7E, 0x7D, 7}
    codes |= {rng.randrange(0, top + 1, step) for _ in range(12)}
    for code in sorted(c for c in codes if 0 <= c <= top and c % step == 0):
        d = destination.decompose(code)
        if d.available and d.significand < 1 << 62:
            yield d.significand, d.exponent
            yield 2 * d.significand + 1, d.exponent - 1
            yield 4 * d.significand - 1 if d.significand else 1, d.exponent - 2


@cache
def directed_codes(source_name: str, destination_name: str, randoms: int) -> list[int]:
    """Return lanes of the source around the boundaries of the destination, and random ones."""
    source, destination = fmt_of(source_name), fmt_of(destination_name)
    rng = random.Random(f"{source_name} {destination_name}")
    bits = lane_bits(source)
    step, mask = 1 << source.low_zero_bits, (1 << bits) - 1
    if source.kind == "integer":
        codes = {0, 1, 2, 3, mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) + 2}
    else:
        codes = {0, step}
        for special in (source.positive_infinity, source.max_finite, source.min_normal):
            codes |= {(special or 0) + k * step for k in (-2, -1, 0, 1, 2)}
        if source.canonical_nan is not None:
            codes |= {source.canonical_nan, source.canonical_nan + step, mask - step + 1}
    for significand, exponent in boundary_magnitudes(destination, rng):
        for negative in (False, True):
            code = nearest_code(source, Number(negative, significand, exponent))
            codes |= {code + k * step for k in (-1, 0, 1, 2)}
    if source.sign_bit is not None:
        codes |= {code ^ (1 << source.sign_bit) for code in codes}
    valid = sorted({code & mask & ~(step - 1) for code in codes})
    return [*valid, *map(int, random_codes(source, randoms, len(valid)))]


# --- tests --------------------------------------------------------------------------------------


@pytest.mark.rule("conversion.known-good")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("copies", [1, 300])
def test_known_good_vectors(vectors, level, copies):
    rows = [*vectors("convert")["vectors"], *vectors("e8m0")["vectors"]]
    _native.set_level(level)
    bits = {"0": 0, "NV": 1, "DZ": 2, "OF": 4, "UF": 8, "NX": 16}
    for row in rows:
        source, destination = formats[row["src"]], formats[row.get("dst", "E8M0")]
        out, flags, union = convert(
            source, destination, np.full(copies, int(row["in"], 16), np.uint64),
            Rounding[row["rmode"]], saturate=bool(row["sat"]),
        )  # fmt: skip
        wanted = sum(bits[name] for name in row["flags"].split("|"))
        assert set(map(int, out)) == {int(row["out"], 16)}, row
        assert set(map(int, flags)) == {wanted} == {union}, row


@pytest.mark.rule("conversion.cpu.every-small-code")
@pytest.mark.parametrize("source_name", SMALL)
def test_every_code_of_small_sources(source_name):
    source = formats[source_name]
    codes = every_code(source)
    several = codes * (-(-300 // len(codes)))  # enough lanes for the path by tables
    for name in destinations_of(source_name):
        for rounding, saturate in MODES:
            destination = formats[name]
            one = expected(source, destination, codes, rounding, saturate=saturate)
            many = tuple(np.tile(part, len(several) // len(codes)) for part in one)
            for level in LEVELS:
                _native.set_level(level)
                check(source, destination, several, rounding, saturate=saturate, wanted=many)
            check(source, destination, codes, rounding, saturate=saturate, wanted=one)


@pytest.mark.rule("conversion.cpu.directed")
@pytest.mark.parametrize("source_name", [*LARGE, *(f"own_{name}" for name in OWN)])
def test_directed_and_random_codes_of_large_sources(source_name):
    source = fmt_of(source_name)
    own = [f"own_{name}" for name in OWN]
    names = [*destinations_of(source_name), *own] if source_name not in own else [
        "FP64", "FP32", "FP16", "HiF8", "E2M1X2", "S8", "U64", *own
    ]  # fmt: skip
    for name in names:
        destination = fmt_of(name)
        codes = directed_codes(source_name, name, 100)
        for rounding, saturate in MODES:
            if rounding is Rounding.NONE and saturate:
                continue  # NONE is another name of a mode that is here with both
            wanted = expected(source, destination, codes, rounding, saturate=saturate)
            for level in LEVELS:
                _native.set_level(level)
                check(source, destination, codes, rounding, saturate=saturate, wanted=wanted)


def check_against_lanes(source_name: str, names: list[str], codes: np.ndarray) -> None:
    """Compare the kernels with the native path of single lanes."""
    source = fmt_of(source_name)
    for name in names:
        destination = fmt_of(name)
        for rounding, saturate in MODES:
            _native.set_level("lanes")
            out, flags, union = convert(source, destination, codes, rounding, saturate=saturate)
            for level in VECTOR_LEVELS:
                _native.set_level(level)
                got = convert(source, destination, codes, rounding, saturate=saturate)
                where = (source_name, name, rounding, saturate, level)
                assert np.array_equal(got[0], out), where
                assert np.array_equal(got[1], flags), where
                assert got[2] == union, where


@pytest.mark.rule("conversion.cpu.levels-agree")
@pytest.mark.parametrize("source_name", LARGE)
def test_levels_agree_on_random_codes(source_name):
    codes = random_codes(formats[source_name], 4099, 7)
    check_against_lanes(source_name, destinations_of(source_name), codes)


@pytest.mark.slow
@pytest.mark.rule("conversion.cpu.every-16-bit-code")
@pytest.mark.parametrize("source_name", ["FP16", "BF16", "S16", "U16"])
def test_every_code_of_16_bit_sources_at_every_level(source_name):
    codes = np.arange(1 << 16, dtype=np.uint16)
    check_against_lanes(source_name, destinations_of(source_name), codes)


@pytest.mark.rule("conversion.cpu.stochastic")
@pytest.mark.parametrize("source_name", ["FP64", "FP32", "FP16", "BF16", "E4M3", "E5M2", "HiF8",
                                         "E2M3", "E2M1X2", "E8M0", "S64", "U32", "S16", "U8",
                                         "S4X2", "own_wide"])  # fmt: skip
def test_stochastic_rounding(source_name):
    source = fmt_of(source_name)
    for name in ("FP64", "FP32", "TF32", "FP16", "BF16", "HiF8", "E4M3", "E5M2", "E3M2", "E2M1X2",
                 "S8", "S32", "U64", "U4X2", "own_last"):  # fmt: skip
        destination = fmt_of(name)
        if lane_bits(source) <= 8:
            codes = every_code(source) * 2
        else:
            codes = directed_codes(source_name, name, 300)
        rng = random.Random(f"{source_name} {name}")
        extremes = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF)
        words = [rng.choice(extremes) if rng.random() < 0.3 else rng.getrandbits(32) for _ in codes]
        drawn = np.array(words, np.uint32)
        for saturate in (False, True):
            wanted = expected(
                source, destination, codes, Rounding.NONE, saturate=saturate, words=words
            )
            for level in LEVELS:
                _native.set_level(level)
                check(
                    source, destination, codes, Rounding.NONE,
                    saturate=saturate, wanted=wanted, words=drawn,
                )  # fmt: skip


@pytest.mark.rule("conversion.cpu.threads")
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(
    ("source_name", "name"),
    [("FP32", "E4M3"), ("FP32", "E2M1X2"), ("E2M1X2", "FP16"), ("S4X2", "E1M2X2"),
     ("U64", "FP64"), ("S32", "S4X2"), ("E5M2", "S4X2")],
)  # fmt: skip
def test_the_thread_count_changes_nothing(threads, source_name, name):
    source, destination = formats[source_name], formats[name]
    for count in (0, 1, 511, 513, 65_536, 65_537, 300_001):
        codes = random_codes(source, count, count)
        one = convert(source, destination, codes)
        more = convert(source, destination, codes, threads=threads)
        assert np.array_equal(one[0], more[0])
        assert np.array_equal(one[1], more[1])
        assert one[2] == more[2]


@pytest.mark.rule("conversion.cpu.threads")
def test_concurrent_callers():
    source, destination = formats["FP32"], formats["E5M2"]
    codes = random_codes(source, 400_001, 3)
    wanted = convert(source, destination, codes)
    wrong = []

    def work() -> None:
        for _ in range(5):
            got = convert(source, destination, codes, threads=3)
            if not (np.array_equal(got[0], wanted[0]) and got[2] == wanted[2]):
                wrong.append(1)

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.rule("conversion.cpu.threads")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_after_a_fork():
    source, destination = formats["FP32"], formats["E4M3"]
    codes = random_codes(source, 300_000, 5)
    wanted = convert(source, destination, codes, threads=3)[0]
    child = os.fork()
    if child == 0:
        got = convert(source, destination, codes, threads=3)[0]
        os._exit(0 if np.array_equal(got, wanted) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.rule("conversion.packing")
@pytest.mark.parametrize("count", [1, 2, 3, 255, 257, 511, 512, 513, 1023, 9001])
@pytest.mark.parametrize(
    ("source_name", "name"),
    [("FP32", "E2M1X2"), ("E2M1X2", "HiF4X2"), ("S4X2", "FP16"), ("U4X2", "FP64"),
     ("E4M3", "S4X2"), ("S64", "U4X2")],
)  # fmt: skip
def test_odd_counts_of_packed_lanes(count, source_name, name):
    source, destination = formats[source_name], formats[name]
    codes = list(map(int, random_codes(source, count, count)))
    wanted = expected(source, destination, codes, Rounding.RNE, saturate=False)
    for level in LEVELS:
        _native.set_level(level)
        check(source, destination, codes, Rounding.RNE, saturate=False, wanted=wanted)


@pytest.mark.rule("conversion.cpu.environment")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_caller_that_flushes_subnormals_changes_nothing(threads):
    codes = np.concatenate([random_codes(formats["FP16"], 140_000, 1), np.arange(1024)])
    names = ("FP32", "FP64", "BF16", "E4M3")
    wanted = [convert(formats["FP16"], formats[name], codes) for name in names]
    before = _native.set_flush_to_zero(True)
    try:
        got = [convert(formats["FP16"], formats[name], codes, threads=threads) for name in names]
        still = _native.set_flush_to_zero(True)
    finally:
        _native.set_flush_to_zero(before)
    assert still
    for one, other in zip(wanted, got, strict=True):
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])


@pytest.mark.rule("conversion.cpu.environment")
@pytest.mark.parametrize("level", VECTOR_LEVELS)
def test_subnormals_survive_a_caller_that_flushes_them(level):
    """Narrowing to nearest even adds in binary32, with operands that are subnormal there."""
    source, destination = formats["FP32"], formats["own_small"] if "own_small" in formats else (
        formats.register("own_small", exponent_bits=7, fraction_bits=8, bias=125)
    )  # fmt: skip
    codes = np.concatenate([np.arange(4096), np.arange(4096) << 11, np.arange(4096) << 15])
    _native.set_level("lanes")
    wanted = convert(source, destination, codes)
    _native.set_level(level)
    before = _native.set_flush_to_zero(True)
    try:
        got = convert(source, destination, codes)
    finally:
        _native.set_flush_to_zero(before)
    assert np.any(wanted[0])
    assert np.array_equal(got[0], wanted[0])
    assert np.array_equal(got[1], wanted[1])


@pytest.mark.rule("conversion.cpu.levels-agree")
@pytest.mark.parametrize("level", LEVELS)
def test_the_environment_chooses_the_level(level):
    code = "from bittrue.cpu import _native; print(_native.level())"
    environment = {**os.environ, "BITTRUE_SIMD": level}
    done = subprocess.run(  # noqa: S603 - our own interpreter and statement
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == level


@pytest.mark.rule("conversion.invalid")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["TF32", "HF32", "E3M2", "E2M3", "own_last"])
def test_the_first_invalid_lane_is_found(level, name):
    _native.set_level(level)
    fmt = fmt_of(name)
    codes = random_codes(fmt, 200_000, 9)
    bad = 1 << (fmt.low_zero_bits - 1) if fmt.low_zero_bits else 1 << (fmt.carrier_bits - 1)
    for threads in (1, 3):
        assert cpu.first_invalid(fmt, codes, len(codes), threads) == -1
        for place in (199_999, 150_000, 65_536, 65_535, 1, 0):
            spoiled = codes.copy()
            spoiled[place] |= bad
            spoiled[199_999] |= bad
            assert cpu.first_invalid(fmt, spoiled, len(codes), threads) == place
    assert cpu.first_invalid(fmt, codes[:0], 0, 1) == -1


@pytest.mark.rule("conversion.invalid")
@pytest.mark.parametrize("name", ["FP32", "E4M3", "E2M1X2", "S8", "FP19"])
def test_types_without_constrained_bits_have_no_invalid_lane(name):
    assert cpu.first_invalid(formats[name], np.full(5, 0xFF, np.uint8), 5, 1) == -1


@pytest.mark.rule("conversion.cpu.in-place")
@pytest.mark.parametrize(
    ("source_name", "name"), [("FP32", "TF32"), ("FP16", "BF16"), ("E4M3", "E5M2"), ("S32", "U32")]
)
def test_lanes_as_wide_convert_in_place(source_name, name):
    source, destination = formats[source_name], formats[name]
    codes = random_codes(source, 5001, 2)
    wanted = convert(source, destination, codes)[0]
    for level in LEVELS:
        _native.set_level(level)
        carriers = codes.copy()
        cpu.convert_lanes(
            source, destination, carriers, carriers, len(codes), Rounding.NONE,
            saturate=False, random_bits=None, flags=None, threads=1,
        )  # fmt: skip
        assert np.array_equal(carriers, wanted)


@pytest.mark.rule("conversion.cpu.refusals")
def test_arrays_that_do_not_fit_are_refused():
    source, destination = formats["FP32"], formats["E4M3"]
    carriers, out = np.zeros(8, np.uint32), np.zeros(8, np.uint8)
    words, flags = np.zeros(8, np.uint32), np.zeros(8, np.uint8)

    def run(
        carriers=carriers, out=out, count=8, rounding=Rounding.NONE, random_bits=None, flags=None
    ) -> None:
        cpu.convert_lanes(
            source, destination, carriers, out, count, rounding,
            saturate=False, random_bits=random_bits, flags=flags, threads=1,
        )  # fmt: skip

    run()
    run(random_bits=words, flags=flags)
    for kept, bad in (
        ("8 carriers of 4 bytes; expected 9", {"count": 9}),
        ("out has 7 carriers", {"out": out[:7]}),
        ("8 carriers of 2 bytes", {"carriers": carriers.astype(np.uint16)}),
        ("not aligned", {"carriers": np.zeros(33, np.uint8)[1:].view(np.uint32)}),
        ("overlaps carriers", {"out": carriers.view(np.uint8)[:8]}),
        ("overlaps out", {"flags": out}),
        ("a word for each lane", {"random_bits": words[:7]}),
        ("expected rounding NONE", {"random_bits": words, "rounding": Rounding.RNE}),
        ("a byte for each lane", {"flags": flags[:7]}),
    ):
        with pytest.raises(ValueError, match=kept):
            run(**bad)
    with pytest.raises(ValueError, match="this machine has lanes, baseline"):
        _native.set_level("v9")
