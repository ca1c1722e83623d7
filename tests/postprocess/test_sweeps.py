"""Long sweeps, behind ``--slow``: CPU against Generic, and CPU against an exact integer method.

``BITTRUE_SWEEP`` sets the number of elements of each test; the documentation holds the result of
the runs on 10^8 (Generic) and 10^9 (integer method) elements. Generic takes hours for 10^8; with
``BITTRUE_SWEEP_KEEP`` its results are kept, as digests in that directory, so that only a change of
Generic needs them anew.
"""

import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from postprocess_support import exact_affine

from bittrue.encoding import Status
from bittrue.postprocess import MODES, PostProcess, PreQuant, Relu, post_process
from bittrue.postprocess.modes import RELU_PARAMETER, Parameter

SWEEP = int(float(os.environ.get("BITTRUE_SWEEP", "2e5")))
ROUNDINGS = ("NONE", "RNE", "RTZ", "RTM", "RTP", "RNA", "RTO", "RHB")
DTYPES = {"FP32": np.float32, "S32": np.int32, "U32": np.uint32}


def raw_codes(rng, kind, shape):
    """Return accumulators: random bits, moderate numbers, and numbers with few bits."""
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)
    form = rng.integers(0, 4, shape)
    if kind == "FP32":
        moderate = (bits & np.uint32(0x807FFFFF)) | (
            rng.integers(100, 150, shape).astype(np.uint32) << np.uint32(23)
        )
        few = moderate & (np.uint32(0xFFFFFFFF) << rng.integers(0, 24, shape).astype(np.uint32))
    else:
        moderate = (rng.integers(-70000, 70000, shape)).astype(np.int32).view(np.uint32)
        few = (rng.integers(-600, 600, shape)).astype(np.int32).view(np.uint32)
    return np.choose(form, [bits, moderate, few, few]).astype(np.uint32)


def scale_codes(rng, count):
    """Return FP32 patterns of positive normal FP19."""
    wide = rng.integers(1, 255, count)
    exponent = np.where(rng.random(count) < 0.2, wide, rng.integers(112, 136, count))
    fraction = rng.integers(0, 1024, count) & (-1 << rng.integers(0, 11, count))
    return (exponent << 23 | fraction << 13).astype(np.uint64)


def words_of(rng, mode, count):
    """Return legal words."""
    if mode.shift:
        return rng.integers(0, 16, count).astype(np.uint64) << np.uint64(32)
    words = scale_codes(rng, count)
    if mode.offset_bits:
        offsets = rng.integers(0, 1 << mode.offset_bits, count).astype(np.uint64)
        words |= offsets << np.uint64(37)
    return words


def digest_of(*parts):
    """Return a digest of arrays and words."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.asarray(part).tobytes())
    return digest.hexdigest()


def result_digest(result):
    """Return a digest of everything that a result says."""
    return digest_of(result.d, result.row_max, result.group_max, int(result.status))


class Kept:
    """Digests of Generic's results of one mode, by the digest of what they come from."""

    def __init__(self, mode: PreQuant) -> None:
        directory = os.environ.get("BITTRUE_SWEEP_KEEP")
        self.path = None if directory is None else Path(directory) / f"{mode.name}.txt"
        text = "" if self.path is None or not self.path.exists() else self.path.read_text()
        self.known = dict(line.split() for line in text.splitlines())

    def digest(self, key: str, compute: Callable[[], object]) -> str:
        """Return the digest that stands under `key`; without one, that of what is computed."""
        if key not in self.known:
            self.known[key] = result_digest(compute())
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(f"{key} {self.known[key]}\n")
        return self.known[key]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_cpu_against_generic(mode):
    row = MODES[mode]
    kept = Kept(PreQuant(mode))
    rng = np.random.default_rng(mode)
    chooser = random.Random(int(mode))
    shape = 16, 512
    done = 0
    while done < SWEEP / len(MODES):
        kind = chooser.choice(row.accumulators)
        relu = chooser.choice(list(Relu))
        rounding = "NONE" if row.rounding is not None else chooser.choice(ROUNDINGS)
        control = PostProcess(
            mode, relu, chooser.choice((8, 48, 128)), row_max=True, group_max=True,
            max_abs=chooser.random() < 0.5, rounding=rounding,
            saturate=row.saturate_allowed and chooser.random() < 0.5,
        )  # fmt: skip
        counts = {Parameter.NONE: None, Parameter.SCALAR: 1, Parameter.VECTOR: shape[1]}
        quant, act = (
            None if counts[need] is None else make(counts[need])
            for need, make in (
                (row.parameter, lambda n: words_of(rng, row, n)),
                (RELU_PARAMETER[relu], lambda n: scale_codes(rng, n) >> np.uint64(13)),
            )
        )
        quant = quant[0] if row.parameter is Parameter.SCALAR else quant
        act = act[0] if RELU_PARAMETER[relu] is Parameter.SCALAR else act
        raw = raw_codes(rng, kind, shape)
        if kind == "FP32":  # strips without NaN and infinity too
            raw[1:] &= np.where(raw[1:] & 0x7F800000 == 0x7F800000, 0xBFFFFFFF, 0xFFFFFFFF).astype(
                np.uint32
            )
        accumulator = raw.view(DTYPES[kind])
        first = post_process(accumulator, control, quant, act, backend="cpu")
        none = np.zeros(0)
        key = digest_of(
            control.word, raw, none if quant is None else quant, none if act is None else act
        )
        expected = kept.digest(
            key,
            lambda: post_process(accumulator, control, quant, act, backend="generic"),  # noqa: B023
        )
        assert result_digest(first) == expected, control
        done += raw.size


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["S32", "FP32"])
def test_cpu_against_integers(kind):
    mode = MODES[PreQuant.VREQ8 if kind == "S32" else PreQuant.VQF322B8_PRE]
    control = PostProcess(mode.code)
    rng = np.random.default_rng(len(kind))
    shape, done = (64, 4096), 0
    while done < SWEEP * 10 / 2:
        raw, words = raw_codes(rng, kind, shape), words_of(rng, mode, shape[1])
        scale = (words & np.uint64(0xFFFFFFFF)).astype(np.int64)
        offset = ((words >> np.uint64(37)).astype(np.int64) ^ 256) - 256
        factor, power = (scale >> 13 & 0x3FF) | 0x400, (scale >> 23) - 137
        if kind == "S32":
            signed = raw.view(np.int32).astype(np.int64)
            magnitude, lift, negative = np.abs(signed), np.int64(0), signed < 0
        else:
            raw &= np.where(raw & 0x7F800000 == 0x7F800000, 0xBFFFFFFF, 0xFFFFFFFF).astype(
                np.uint32
            )
            bits = raw.astype(np.int64)
            field = bits >> 23 & 0xFF
            magnitude = (bits & 0x7FFFFF) | np.where(field > 0, 0x800000, 0)
            lift, negative = np.maximum(field, 1) - 150, bits >> 31 == 1
        expected, outside, inexact = exact_affine(
            magnitude * factor, lift + power, negative, offset
        )
        found = post_process(raw.view(DTYPES[kind]), control, words)
        assert found.d.tobytes() == expected.astype(np.int8).tobytes()
        status = Status(0)
        if outside.any():
            status |= Status.OF | Status.NX
        if inexact.any():
            status |= Status.NX
        assert found.status == status
        done += raw.size
