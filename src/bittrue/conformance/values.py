"""Floating values of any format to verify with: directed ones, and seeded random ones.

Belongs here: elements of the wide and the complex dtypes, made from the fields of their format.
Never here: Float32, Int32 and Bool, whose values are typed one by one (`corpora`), and which
operation takes them (`trials`). The same seed gives the same values everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue.dtypes import SimpleDType, is_complex
from bittrue.encoding import BINARY32, BINARY64, BinaryFormat, component_format
from bittrue.generic.numbers import convert
from bittrue.tensor import Buffer

Array = npt.NDArray[Any]
Rng = np.random.Generator


def directed_bits(fmt: BinaryFormat) -> list[int]:
    """Return the numbers at which arithmetic of a format changes, and its special codes."""
    ulp, one, top = fmt.fraction_bits, fmt.bias << fmt.fraction_bits, fmt.infinity
    exact = (
        *(Fraction(1, 10), Fraction(1, 2), Fraction(3, 2), Fraction(2), Fraction(5, 2)),
        *(Fraction(3), Fraction(1, 3), Fraction(314159265, 10**8), Fraction(7, 3)),
        # Half an ulp of 1, one ulp of 1, and where integers end to be dense.
        *(Fraction(1, 2 ** (ulp + 1)), Fraction(1, 2**ulp)),
        *(Fraction(2 ** (ulp + 1) - 1), Fraction(2 ** (ulp + 1))),
        # Where the formats of 32 and 64 bits overflow and underflow.
        *(Fraction(2**31), Fraction(2**128 - 2**103), Fraction(1, 2**150), Fraction(3, 2**150)),
        *(Fraction(2) ** 1024 - Fraction(2) ** 970, Fraction(1, 2**1075)),
    )
    numbers = [fmt.encode_ratio(value.numerator, value.denominator) for value in exact]
    finite = [
        *(0, 1, 2, 1 << (ulp - 1), (1 << ulp) - 1, 1 << ulp, (1 << ulp) + 1),
        *(one - 1, one, one + 1),
        *numbers,
        *(n + 1 for n in numbers[:3]),
        *(top - 2, top - (1 << ulp), top - 1),
    ]
    codes = [*dict.fromkeys(bits for bits in finite if fmt.is_finite(bits)), top]
    quiet = fmt.quiet_nan
    return [
        *itertools.chain.from_iterable((bits, bits | fmt.sign) for bits in codes),
        # Quiet NaNs of either sign and with a payload, signaling ones of either sign.
        *(quiet, quiet | fmt.sign, quiet + 0x12345, top + 1, fmt.sign | (top + 1)),
    ]


def core_bits(fmt: BinaryFormat) -> list[int]:
    """Zeros, a subnormal, ones, the largest, infinities, NaNs: every pair of them is tried."""
    one = fmt.bias << fmt.fraction_bits
    infinity = fmt.infinity
    finite = (0, fmt.sign, 1, one, one | fmt.sign, infinity - 1)
    return [*finite, infinity, infinity | fmt.sign, fmt.quiet_nan, infinity + 1]


def _complex(fmt: BinaryFormat, real: Sequence[int], imaginary: Sequence[int]) -> list[int]:
    return [fmt.joined(a, b) for a, b in zip(real, imaginary, strict=True)]


def stored(dtype: SimpleDType, elements: Sequence[int]) -> Array:
    """Return stored elements as an array."""
    return Buffer.from_elements(dtype, (len(elements),), elements).array


def directed(dtype: SimpleDType) -> Array:
    """Return the directed elements of a floating dtype.

    Of a complex one: pairs of the values at which its arithmetic branches, and every directed
    value beside another one in each part, special codes first: a short column keeps those.
    """
    fmt = component_format(dtype)
    bits = directed_bits(fmt)
    if not is_complex(dtype):
        return stored(dtype, bits)
    bits.reverse()
    return stored(dtype, [*_core_elements(dtype), *_complex(fmt, bits, bits[-3:] + bits[:-3])])


def _core_elements(dtype: SimpleDType) -> list[int]:
    fmt = component_format(dtype)
    bits = core_bits(fmt)
    if not is_complex(dtype):
        return bits
    zero, minus_zero, least, one, _, largest, infinity, _, nan, _ = bits
    branching = (zero, minus_zero, one, infinity, nan)
    crossed = itertools.product(branching, branching)
    ends = ((largest, largest), (least, least), (largest, one), (one, least | fmt.sign))
    return [fmt.joined(*pair) for pair in (*crossed, *ends)]


def random_bits(fmt: BinaryFormat, rng: Rng, count: int) -> list[int]:
    """Return bit patterns: any at all, moderate magnitudes, and neighbours of directed values."""
    words = [_words(rng, count) for _ in range(-(-fmt.width // 64))]
    raw = [sum(word << 64 * i for i, word in enumerate(r)) for r in zip(*words, strict=True)]
    mask, fraction = (1 << fmt.width) - 1, fmt.fraction_bits
    exponents = rng.integers(fmt.bias - fraction - 1, fmt.bias + fraction + 1, count).tolist()
    near = directed_bits(fmt)
    chosen = rng.integers(0, len(near), count).tolist()
    steps = rng.integers(-3, 4, count).tolist()
    kinds = rng.integers(0, 4, count).tolist()
    found = []
    for bits, exponent, at, step, kind in zip(raw, exponents, chosen, steps, kinds, strict=True):
        if kind == 0:
            found.append(bits & mask)
        elif kind == 1:
            found.append((near[at] + step) & mask)
        else:
            found.append((bits & mask & ~fmt.infinity) | exponent << fraction)
    return found


def _words(rng: Rng, count: int) -> list[int]:
    words: list[int] = rng.integers(0, 2**64, count, dtype=np.uint64).tolist()
    return words


def tame_bits(fmt: BinaryFormat, rng: Rng, count: int) -> list[int]:
    """Return finite numbers of like magnitude and either sign, as data of a model has them."""
    values = rng.standard_normal(count)
    bits: list[int]
    if fmt is BINARY32:
        bits = values.astype(np.float32).view(np.uint32).tolist()
        return bits
    bits = values.view(np.uint64).tolist()
    return [convert(b, BINARY64, fmt) for b in bits]


def _cancelling_bits(fmt: BinaryFormat, rng: Rng, count: int) -> list[int]:
    """Return tame numbers, a third of them large, the second half the negatives of the first."""
    bits = tame_bits(fmt, rng, count)
    large = rng.integers(0, 3, count).tolist()
    step = (fmt.fraction_bits + 1) << fmt.fraction_bits
    bits = [
        b if third or fmt.is_zero(b) else b + step for b, third in zip(bits, large, strict=True)
    ]
    half = count // 2
    bits[half : 2 * half] = [b ^ fmt.sign for b in bits[:half]]
    return bits


KINDS = (tame_bits, random_bits, _cancelling_bits)


def drawn(dtype: SimpleDType, rng: Rng, count: int, kind: int = 1) -> Array:
    """Return `count` random elements, of each part: tame, any bits at all, or cancelling."""
    fmt, draw = component_format(dtype), KINDS[kind]
    if not is_complex(dtype):
        return stored(dtype, draw(fmt, rng, count))
    return stored(dtype, _complex(fmt, draw(fmt, rng, count), draw(fmt, rng, count)))


def pairs(dtypes: tuple[SimpleDType, SimpleDType], rng: Rng, count: int) -> list[Array]:
    """Return `count` pairs of two floating dtypes: pairs of core values first, then random ones.

    Core pairs fill half of them at most; of the rest every second element is a directed one.
    """
    core = list(itertools.product(*map(_core_elements, dtypes)))
    if len(core) > count // 2:
        chosen = np.sort(rng.choice(len(core), count // 2, replace=False))
        core = [core[i] for i in chosen.tolist()]
    rest = count - len(core)
    columns = []
    for position, dtype in enumerate(dtypes):
        first = stored(dtype, [pair[position] for pair in core])
        random, special = drawn(dtype, rng, rest), directed(dtype)
        mixed = np.where(
            rng.integers(0, 2, rest) == 0, random, special[rng.integers(0, special.size, rest)]
        )
        columns.append(np.concatenate([first, mixed]))
    return columns
