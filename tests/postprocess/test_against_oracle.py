"""Every mode against an oracle of fractions, on both backends; both backends against each other."""

import itertools
import random

import numpy as np
import postprocess_oracle as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from postprocess_support import accumulators, codes

from bittrue.cpu import _native
from bittrue.postprocess import PostProcess, post_process, quant_word
from bittrue.postprocess.modes import GROUP_N, MODES, Parameter

ROUNDINGS = ("NONE", "RNE", "RTZ", "RTM", "RTP", "RNA", "RTO", "RHB")

FP32_DIRECTED = [
    sign | magnitude
    for sign in (0, 1 << 31)
    for magnitude in (
        0x00000000,  # zero
        0x00000001,  # smallest subnormal
        0x007FFFFF,  # largest subnormal
        0x00800000,  # smallest normal
        0x387FE800, 0x387FF800,  # about the tininess bound of FP16
        0x37400000, 0x37800000,  # the end of HiF8 subnormals
        0x3A000000, 0x3A800000, 0x3A000001,  # halves of the E4M3 subnormal step
        0x3F000000, 0x3F800000, 0x3FC00000, 0x40200000,  # 0.5, 1, 1.5, 2.5
        0x3F801000, 0x3F803000, 0x3F808000, 0x3F818000,  # ties of FP16 and BF16
        0x3F880000, 0x3F980000,  # ties of E4M3 and HiF8
        0x437F0000, 0x437F8000, 0x43800000, 0x43808000,  # 255, 255.5, 256, 257
        0x41700000, 0x41780000, 0x41800000,  # 15, 15.5, 16
        0x477FFF00, 0x477FFF80, 0x47800000,  # 65535, 65535.5, 65536
        0x43E00000, 0x43E00001, 0x43E80000,  # 448, the next, 464
        0x47000000, 0x47000001,  # 32768, the next
        0x477FE000, 0x477FEF00, 0x477FF000,  # about the largest FP16
        0x7F7F0000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF,  # about the largest BF16, the largest
        0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF,  # infinity, NaNs
    )
]  # fmt: skip
S32_DIRECTED = [
    value & 0xFFFFFFFF
    for value in (
        0, 1, -1, 2, -2, 3, -3, 5, -5, 7, -7, 8, -8, 9, -9, 15, 16, -16, -17, 31, -31,
        127, 128, -128, -129, 255, 256, 257, -256, -257, -258, 511, 513, -511, -513, 2049, -2049,
        4095, 4097, 32767, 32768, -32768, -32769, 65519, 65520, 65535, 65536, -65536, -65537,
        131071, -131073, 16777215, 16777217, (1 << 31) - 1, -(1 << 31), -(1 << 31) + 1,
    )
]  # fmt: skip
SCALES = (
    0x3F800000, 0x3F000000, 0x3E800000, 0x40000000, 0x3FC00000, 0x3F802000, 0x3FFFE000, 0x3EAAA000,
    0x00800000, 0x00802000, 0x7F7FE000, 0x34000000, 0x4B000000, 0x3D4CC000, 0x33800000, 0x01000000,
)  # fmt: skip


def random_code(rng: random.Random, kind: str) -> int:
    """Return an accumulator: any bits, a moderate number, or one near a tie."""
    form = rng.random()
    if kind != "FP32":
        return rng.getrandbits(32) if form < 0.3 else rng.randrange(-70000, 70000) & 0xFFFFFFFF
    if form < 0.2:
        return rng.getrandbits(32)
    exponent = rng.randrange(100, 150)
    fraction = rng.getrandbits(23) & (-1 << rng.randrange(24))
    return rng.getrandbits(1) << 31 | exponent << 23 | fraction


def random_scale(rng: random.Random) -> int:
    """Return the FP32 pattern of a positive normal FP19."""
    if rng.random() < 0.5:
        return rng.choice(SCALES)
    exponent = rng.randrange(1, 255) if rng.random() < 0.3 else rng.randrange(110, 140)
    return exponent << 23 | rng.getrandbits(10) << 13


def random_word(rng: random.Random, mode: int) -> int:
    """Return a legal word of a mode."""
    _, _, words, offset_bits, _, _ = oracle.MODES[mode]
    if "shift" in words:
        return rng.randrange(16) << 32
    if not offset_bits:
        return random_scale(rng)
    half = 1 << (offset_bits - 1)
    offset = rng.choice((0, 1, -1, half - 1, -half, rng.randrange(-half, half)))
    return random_scale(rng) | (offset & (2 * half - 1)) << 37


def expected_matrix(mode, kind, rows, relu, quant, act, rounding, sat):
    """Apply the oracle to every element; words are given one for each column."""
    flags, d = 0, []
    for row in rows:
        line = []
        for column, raw in enumerate(row):
            code, raised = oracle.element(
                mode, kind, raw, relu, quant and quant[column], act and act[column], rounding, sat
            )
            line.append(code)
            flags |= raised
        d.append(line)
    return d, flags


def configurations(mode):
    """Yield every legal accumulator, rounding, Sat and ReluMode of a mode."""
    kinds, _, _, _, fixed, sat_allowed = oracle.MODES[mode]
    roundings = ROUNDINGS if fixed is None else ("NONE",)
    sats = (False, True) if sat_allowed else (False,)
    yield from itertools.product(kinds.split(), roundings, sats, range(4))


@pytest.mark.parametrize("mode", oracle.MODES)
def test_every_configuration(mode, backend):
    rng = random.Random(f"{mode}")
    words = oracle.MODES[mode][2]
    for kind, rounding, sat, relu in configurations(mode):
        directed = FP32_DIRECTED if kind == "FP32" else S32_DIRECTED
        row = [*directed, *(random_code(rng, kind) for _ in range(24))]
        rng.shuffle(row)
        # A row without NaN and infinity is a strip of the vector kernels.
        finite = [raw if raw & 0x7F800000 != 0x7F800000 else 0 for raw in row]
        rows = [row, finite if kind == "FP32" else row]
        columns = len(row)
        quant = None if words == "none" else [random_word(rng, mode) for _ in row]
        if words.startswith("scalar"):
            quant = quant[:1] * columns
        act = None
        if relu >= 2:
            choices = [rng.choice((0, random_scale(rng) >> 13)) for _ in row]
            act = choices if relu == 3 else choices[:1] * columns
        control = PostProcess(mode, relu, rounding=rounding, saturate=sat)
        given_quant = quant and (quant if words.startswith("vector") else quant[0])
        given_act = act and act if relu == 3 else act and act[0]
        found = post_process(
            accumulators(kind, rows), control, given_quant, given_act, backend=backend
        )
        expected, flags = expected_matrix(mode, kind, rows, relu, quant, act, rounding, sat)
        made = codes(found.d)
        wrong = [
            (hex(rows[r][i]), quant and hex(quant[i]), act and hex(act[i]), hex(e), hex(f))
            for r, i in itertools.product(range(2), range(columns))
            if (e := expected[r][i]) != (f := made[r][i])
        ]
        assert not wrong, (kind, rounding, sat, relu, wrong[:4])
        assert int(found.status) == flags, (kind, rounding, sat, relu)


@pytest.mark.parametrize("mode", oracle.MODES)
def test_flags_of_single_elements(mode, backend):
    # A matrix ORs its flags; one element at a time shows them.
    rng = random.Random(f"flags {mode}")
    words = oracle.MODES[mode][2]
    for kind, rounding, sat, relu in configurations(mode):
        for _ in range(12):
            directed = FP32_DIRECTED if kind == "FP32" else S32_DIRECTED
            raw = rng.choice((rng.choice(directed), random_code(rng, kind)))
            quant = None if words == "none" else random_word(rng, mode)
            act = rng.choice((0, random_scale(rng) >> 13)) if relu >= 2 else None
            control = PostProcess(mode, relu, rounding=rounding, saturate=sat)
            found = post_process(
                accumulators(kind, [[raw]]),
                control,
                [quant] if words.startswith("vector") else quant,
                [act] if relu == 3 else act,
                backend=backend,
            )
            expected = oracle.element(mode, kind, raw, relu, quant, act, rounding, sat)
            case = hex(raw), quant and hex(quant), act and hex(act), rounding, sat, relu
            assert (codes(found.d)[0][0], int(found.status)) == expected, case


@given(st.data())
def test_any_element(data):
    mode = data.draw(st.sampled_from(sorted(oracle.MODES)))
    kind, rounding, sat, relu = data.draw(st.sampled_from(list(configurations(mode))))
    words = oracle.MODES[mode][2]
    raw = data.draw(st.integers(0, (1 << 32) - 1))
    rng = random.Random(data.draw(st.integers(0, 1 << 32)))
    quant = None if words == "none" else random_word(rng, mode)
    act = random_scale(rng) >> 13 if relu >= 2 else None
    expected = oracle.element(mode, kind, raw, relu, quant, act, rounding, sat)
    for backend in ("generic", "cpu"):
        found = post_process(
            accumulators(kind, [[raw]]),
            PostProcess(mode, relu, rounding=rounding, saturate=sat),
            [quant] if words.startswith("vector") else quant,
            [act] if relu == 3 else act,
            backend=backend,
        )
        assert (codes(found.d)[0][0], int(found.status)) == expected


@pytest.mark.parametrize("kind", ["FP32", "S32", "U32"])
def test_maxima(kind, backend):
    rng = random.Random(kind)
    directed = FP32_DIRECTED if kind == "FP32" else S32_DIRECTED
    for trial in range(120):
        columns = rng.choice((1, 2, 7, 8, 9, 17, 48, 49, 130))
        rows = [
            [rng.choice((rng.choice(directed), random_code(rng, kind))) for _ in range(columns)]
            for _ in range(2)
        ]
        if trial % 5 == 0:  # nothing but NaNs
            rows[0] = [rng.choice(directed[-3:]) for _ in range(columns)]
        group, max_abs = rng.choice(GROUP_N[1:]), rng.random() < 0.5
        initial = [rng.choice(directed) for _ in rows] if rng.random() < 0.5 else None
        control = PostProcess(
            0, 0, group, row_max=True, group_max=True,
            row_max_init=initial is not None, max_abs=max_abs,
        )  # fmt: skip
        flags, row_max, group_max = 0, [], []
        for index, row in enumerate(rows):
            value, raised = oracle.maximum(kind, row, max_abs)
            flags |= raised
            if initial is not None:
                value, raised = oracle.step(kind, initial[index], value, max_abs)
                flags |= raised
            row_max.append([value])
            line = []
            for first in range(0, columns, group):
                value, raised = oracle.maximum(kind, row[first : first + group], max_abs)
                line.append(value)
                flags |= raised
            group_max.append(line)
        found = post_process(
            accumulators(kind, rows), control, backend=backend,
            row_max_in=None if initial is None else accumulators(kind, initial),
        )  # fmt: skip
        assert codes(found.d) == rows
        assert codes(found.row_max) == row_max
        assert codes(found.group_max) == group_max
        assert int(found.status) == flags


LEVELS = ("lanes", "baseline", "v3", "v4")


def levels():
    """Yield every instruction level that this machine has, then restore the best."""
    for level in LEVELS:
        try:
            _native.set_level(level)
        except ValueError:
            continue
        yield level
    _native.set_level("")


def test_levels_and_threads_agree():
    rng = np.random.default_rng(5)
    for mode, row in MODES.items():
        for kind, (rounding, sat, relu) in itertools.product(
            row.accumulators, [("NONE", False, 0), ("RHB", True, 3), ("RTO", False, 2)]
        ):
            free = row.rounding is None
            raw = rng.integers(0, 1 << 32, (7, 1100), dtype=np.uint64).astype(np.uint32)
            raw[2:] = np.where(
                raw[2:] % 3 == 0, raw[2:], raw[2:] % 100000 if kind != "FP32" else
                (raw[2:] & 0x83FFFFFF) + 0x3C000000
            )  # fmt: skip
            raw[5:] &= np.uint32(0xFFF80000) if kind == "FP32" else np.uint32(0xFFFF)
            random_ = random.Random(mode)
            words = [random_word(random_, mode) for _ in range(1100)]
            quant = {
                Parameter.NONE: None,
                Parameter.SCALAR: words[0],
                Parameter.VECTOR: words,
            }[row.parameter]
            acts = [random_scale(random_) >> 13 for _ in range(1100)]
            act = {0: None, 2: acts[0], 3: acts}[relu]
            control = PostProcess(
                mode,
                relu,
                48,
                row_max=True,
                group_max=True,
                max_abs=True,
                rounding=rounding if free else "NONE",
                saturate=sat and row.saturate_allowed,
            )
            first = None
            for level in levels():
                for threads in (1, 2, 5):
                    found = post_process(
                        raw.view(accumulators(kind, [0]).dtype),
                        control, quant, act, threads=threads,
                    )  # fmt: skip
                    made = (
                        codes(found.d), codes(found.row_max), codes(found.group_max), found.status
                    )  # fmt: skip
                    first = first or made
                    assert made == first, (mode, kind, level, threads)


def test_offset_extremes_and_wrap(backend):
    rows = accumulators("S32", [[250, -300, 0, 70000, -70000]])
    for offset in (-256, 255, -128, 127):
        for saturate in (False, True):
            word = quant_word("REQ8", 1, offset)
            found = post_process(
                rows, PostProcess("REQ8", saturate=saturate), word, backend=backend
            )
            expected, flags = expected_matrix(
                3, "S32", codes(rows), 0, [word] * 5, None, "NONE", saturate
            )
            assert codes(found.d) == expected
            assert int(found.status) == flags
