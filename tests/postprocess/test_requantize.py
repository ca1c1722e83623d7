"""Requantization of S32 into bytes: whole rows, every level, against exact integers.

The rows are wide enough for the kernel of blocks of columns and have what is left over; each matrix
is made to raise exactly one combination of flags, since only their union is seen.
"""

import itertools

import numpy as np
import pytest
from postprocess_support import exact_affine

from bittrue.cpu import _native
from bittrue.encoding import Status
from bittrue.postprocess import MODES, PostProcess, PreQuant, post_process
from bittrue.postprocess.modes import Parameter

LEVELS = ("baseline", "v3", "v4")
COLUMNS = (1, 64, 130, 201)

# FP32 patterns: the exponent field of the scale and how many of its ten fraction bits are free.
SCALES = {
    "moderate": (range(112, 127), 10),
    "one": (range(127, 128), 0),
    "powers": (range(115, 128), 0),
    "small": (range(90, 112), 10),  # some products cannot be fused with the rounding
    "least": (range(1, 40), 10),
    "above one": (range(127, 140), 10),  # for another kernel
}


@pytest.fixture(params=LEVELS)
def level(request):
    try:
        _native.set_level(request.param)
    except ValueError:
        pytest.skip("this machine has no such level")
    yield request.param
    _native.set_level("")


def scales_of(rng, kind, count):
    fields, free = SCALES[kind]
    fraction = rng.integers(0, 1 << free, count) << (10 - free)
    return (rng.choice(np.array(fields), count) << 23 | fraction << 13).astype(np.uint64)


def matrices(rng, scale, columns):
    """Yield accumulators: any, beside ties and bounds, and those whose products are integers."""
    factor, power = (scale >> 13 & 0x3FF) | 0x400, (scale >> 23).astype(np.int64) - 137
    shape = 9, columns
    yield rng.integers(-(1 << 31), 1 << 31, shape)
    halves = rng.integers(-600, 600, shape) / 2
    near = np.rint(halves / (factor * np.exp2(power.astype(float))))
    yield np.clip(near + rng.integers(-1, 2, shape), -(1 << 31), (1 << 31) - 1).astype(np.int64)
    zeros = np.clip(-power, 0, 30)
    yield np.clip(rng.integers(-3, 4, shape) << zeros, -(1 << 31), (1 << 31) - 1)
    yield np.zeros(shape, np.int64)
    yield np.full(shape, -(1 << 31))


def expected_of(raw, scale, offset, relu, saturate, mode):
    factor, power = (scale.astype(np.int64) >> 13 & 0x3FF) | 0x400, (scale >> 23).astype(np.int64)
    taken = np.maximum(raw, 0) if relu else raw
    d, outside, inexact = exact_affine(
        np.abs(taken) * factor, power - 137, taken < 0, offset,
        saturate=saturate, offset_bits=mode.offset_bits, d_bits=mode.offset_bits - 1,
    )  # fmt: skip
    status = Status(0)
    status |= Status.OF | Status.NX if outside.any() else Status(0)
    status |= Status.NX if inexact.any() else Status(0)
    return d, status


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("code", ["REQ8", "VREQ8", "REQ4", "VREQ4"])
def test_requantize_against_integers(code, kind, level):
    mode = MODES[PreQuant[code]]
    rng = np.random.default_rng([LEVELS.index(level), mode.code, *kind.encode()])
    vector = mode.parameter is Parameter.VECTOR
    for columns, relu, saturate in itertools.product(COLUMNS, (0, 1), (False, True)):
        half = 1 << (mode.offset_bits - 1)
        count = columns if vector else 1
        scale = scales_of(rng, kind, count)
        offset = rng.choice([*rng.integers(-half, half, 6), 0, -half, half - 1], count)
        field = (offset & (2 * half - 1)).astype(np.uint64) << np.uint64(37)
        words = scale | field
        for raw in matrices(rng, scale, columns):
            found = post_process(
                raw.astype(np.int32), PostProcess(code, relu, saturate=saturate),
                words if vector else words[0], threads=1,
            )  # fmt: skip
            expected, status = expected_of(raw, scale, offset, relu, saturate, mode)
            made = found.d.astype(np.int64)
            if mode.offset_bits == 5:
                expected = expected & 15
            assert made.tolist() == expected.tolist(), (columns, relu, saturate)
            assert found.status == status, (columns, relu, saturate)
