"""Values to verify with: directed ones, each with its reason, and seeded random ones.

Belongs here: elements and element pairs. Never here: which operation takes them (`trials`). Bits of
Float32 are unsigned 32-bit patterns; those of the wide and the complex dtypes come from `values`.
The same seed gives the same values everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue.conformance import values
from bittrue.dtypes import DType, SimpleDType

Bits = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int32]

# fmt: off
FLOAT32_DIRECTED: tuple[tuple[int, str], ...] = (
    (0x00000000, "+0"),
    (0x80000000, "-0"),
    (0x00000001, "smallest subnormal"),
    (0x80000001, "its negative"),
    (0x00000002, "twice the smallest subnormal"),
    (0x00400000, "a subnormal of one bit"),
    (0x007fffff, "largest subnormal"),
    (0x807fffff, "its negative"),
    (0x00800000, "smallest normal"),
    (0x80800000, "its negative"),
    (0x00800001, "its upper neighbour"),
    (0x33800000, "2^-24: half an ulp of 1"),
    (0x33800001, "just above half an ulp of 1"),
    (0x34000000, "2^-23: one ulp of 1"),
    (0x3dcccccd, "0.1"),
    (0x3effffff, "just below 1/2: adding 1/2 rounds up to 1"),
    (0x3f000000, "1/2: a tie of round"),
    (0xbf000000, "-1/2"),
    (0x3f317218, "ln 2"),
    (0x3f7fffff, "just below 1"),
    (0x3f800000, "1"),
    (0xbf800000, "-1"),
    (0x3f800001, "just above 1"),
    (0x3fc00000, "3/2: a tie of round"),
    (0x40000000, "2"),
    (0xc0000000, "-2"),
    (0x40200000, "5/2: a tie of round"),
    (0xc0200000, "-5/2"),
    (0x40400000, "3: an odd integer exponent"),
    (0x40490fdb, "pi"),
    (0x41102cb3, "tanh rounds just below 1"),
    (0x41102cb4, "tanh rounds to 1"),
    (0x42b17217, "exp stays finite"),
    (0x42b17218, "exp overflows"),
    (0xc2cff1b4, "exp gives the smallest subnormal"),
    (0xc2cff1b5, "exp gives +0"),
    (0x4affffff, "largest half-integer: 8388607.5"),
    (0x4b000000, "2^23: integers only from here on"),
    (0x4b7fffff, "2^24 - 1: the largest odd integer"),
    (0x4b800000, "2^24: even integers only from here on"),
    (0x4f000000, "2^31: just outside Int32"),
    (0xcf000000, "-2^31"),
    (0x5f3759df, "a large number"),
    (0x7effffff, "just below 2^127"),
    (0x7f000000, "2^127: its double overflows"),
    (0x7f7fffff, "largest finite"),
    (0xff7fffff, "its negative"),
    (0x7f800000, "+inf"),
    (0xff800000, "-inf"),
    (0x7fc00000, "the canonical quiet NaN"),
    (0xffc00000, "a negative quiet NaN"),
    (0x7fc12345, "a quiet NaN with a payload"),
    (0x7f800001, "a signaling NaN"),
    (0xffa00000, "a negative signaling NaN"),
)

INT32_DIRECTED: tuple[tuple[int, str], ...] = (
    (0, "zero"),
    (1, "one"),
    (-1, "minus one"),
    (2, "two"),
    (-2, "minus two"),
    (3, "three"),
    (7, "seven"),
    (46340, "the largest root whose square fits"),
    (46341, "the first whose square does not"),
    (-46341, "its negative"),
    (65536, "2^16: its square is 2^32"),
    (16777215, "2^24 - 1"),
    (16777216, "2^24: the last exact run of Float32 ends"),
    (16777217, "2^24 + 1: a tie on conversion"),
    (16777219, "2^24 + 3: a tie on conversion"),
    (-16777217, "minus 2^24 - 1"),
    (1073741824, "2^30: its double overflows"),
    (2147483583, "rounds down to 2^31 - 128"),
    (2147483584, "a tie on conversion: rounds to 2^31"),
    (2147483646, "the largest but one"),
    (2147483647, "the largest"),
    (-2147483647, "minus the largest"),
    (-2147483648, "the smallest"),
)
# fmt: on

FLOAT32: Bits = np.array([bits for bits, _ in FLOAT32_DIRECTED], np.uint32)
FLOAT32_CORE: Bits = np.array(
    [
        *(0x00000000, 0x80000000, 0x00000001, 0x3F800000, 0xBF800000),
        *(0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001),
    ],
    np.uint32,
)
"""Zeros, a subnormal, ones, the largest, infinities, NaNs: every pair of them is tried."""

INT32: Ints = np.array([value for value, _ in INT32_DIRECTED], np.int32)


def random_float32(rng: np.random.Generator, count: int) -> Bits:
    """Return bit patterns: any at all, moderate magnitudes, and neighbours of directed values."""
    kind = rng.integers(0, 4, count)
    raw = rng.integers(0, 2**32, count, dtype=np.uint32)
    exponent = rng.integers(127 - 24, 127 + 24, count, dtype=np.uint32)
    moderate = (raw & np.uint32(0x807FFFFF)) | (exponent << np.uint32(23))
    near = rng.choice(FLOAT32, count) + rng.integers(-3, 4, count).astype(np.uint32)
    return np.select([kind == 0, kind == 1], [raw, near], moderate).astype(np.uint32)


def tame_float32(rng: np.random.Generator, count: int) -> Bits:
    """Return finite numbers of like magnitude and either sign, as data of a model has them."""
    numbers = rng.standard_normal(count).astype(np.float32)
    return numbers.view(np.uint32)


def random_int32(rng: np.random.Generator, count: int) -> Ints:
    """Return integers: small, of a square that just fits, near the ends, and any at all."""
    kind = rng.integers(0, 4, count)
    small = rng.integers(-40, 41, count)
    root = rng.integers(-46400, 46401, count)
    ends = np.where(rng.integers(0, 2, count) == 0, 2**31 - 1, -(2**31))
    near = ends + np.sign(-ends) * rng.integers(0, 200, count)
    raw = rng.integers(-(2**31), 2**31, count)
    return np.select([kind == 0, kind == 1, kind == 2], [small, root, near], raw).astype(np.int32)


def halfway_sums(rng: np.random.Generator, count: int) -> tuple[Bits, Bits]:
    """Return pairs whose exact sum lies at or beside the middle of two neighbours."""
    lhs = rng.integers(0x30000000, 0x50000000, count, dtype=np.uint32)
    exponent = (lhs >> np.uint32(23)) - np.uint32(24)
    nudge = rng.integers(0, 3, count, dtype=np.uint32)
    sign = rng.integers(0, 2, count, dtype=np.uint32) << np.uint32(31)
    return lhs, (exponent << np.uint32(23)) + nudge | sign


def halfway_products(rng: np.random.Generator, count: int) -> tuple[Bits, Bits]:
    """Return pairs of odd integers whose product has 24 or 25 bits: every 25-bit one is a tie."""
    lhs = rng.integers(2**11, 2**12, count) * 2 + 1
    rhs = rng.integers(2**10, 2**11, count) * 2 + 1
    return tuple(v.astype(np.float32).view(np.uint32) for v in (lhs, rhs))  # type: ignore[return-value]


def crossed(lhs: Bits, rhs: Bits) -> tuple[Bits, Bits]:
    """Return every pair of an element of one and an element of the other."""
    first, second = (axis.ravel() for axis in np.meshgrid(lhs, rhs, indexing="ij"))
    return first, second


def pairs(rng: np.random.Generator, count: int) -> tuple[Bits, Bits]:
    """Return `count` Float32 pairs: directed against directed first, then halfway and random.

    The pairs of core values come before the others, whatever the seed.
    """
    core = crossed(FLOAT32_CORE, FLOAT32_CORE)
    lhs, rhs = crossed(FLOAT32, FLOAT32)
    kept = max(count // 2 - core[0].size, 0)
    if lhs.size > kept:
        chosen = np.sort(rng.choice(lhs.size, kept, replace=False))
        lhs, rhs = lhs[chosen], rhs[chosen]
    directed = core[0].size + lhs.size
    half = max((count - directed) // 8, 1)
    parts = [core, (lhs, rhs), halfway_sums(rng, half), halfway_products(rng, half)]
    rest = max(count - directed - 2 * half, 0)
    parts.append((random_float32(rng, rest), random_float32(rng, rest)))
    return (
        np.concatenate([part[0] for part in parts])[:count],
        np.concatenate([part[1] for part in parts])[:count],
    )


def column(dtype: SimpleDType, rng: np.random.Generator, count: int) -> npt.NDArray[Any]:
    """Return `count` elements of a dtype: the directed ones (as many as fit), then random ones."""
    random: npt.NDArray[Any]
    if dtype is DType.Bool:
        random = rng.integers(0, 2, count).astype(np.bool_)
    elif dtype is DType.Int32:
        random = random_int32(rng, count)
    elif dtype is DType.Float32:
        random = random_float32(rng, count).view(np.float32)
    else:
        random = values.drawn(dtype, rng, count)
    return np.concatenate([directed(dtype), random])[:count]


def directed(dtype: SimpleDType) -> npt.NDArray[Any]:
    """Return the directed elements of a dtype."""
    if dtype is DType.Bool:
        return np.array([False, True])
    if dtype is DType.Int32:
        return INT32
    return FLOAT32.view(np.float32) if dtype is DType.Float32 else values.directed(dtype)
