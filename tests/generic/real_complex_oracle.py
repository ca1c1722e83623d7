"""Reals and complex numbers of any binary format, computed by MPFR one rounding a step.

Written from promotion.md 3 and 5 alone; nothing of bittrue is imported here. A real is a
`gmpy2.mpfr`, a complex number a pair of them. MPFR has signed zeros, infinities, one NaN, and
subnormal results in a context that asks for them, so the trees below are the document's, line by
line.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import gmpy2

Real = gmpy2.mpfr
Number = Any
"""A `Real` or a pair of them."""


class Format:
    """A binary interchange format: its bits, its context, and the steps that round into it."""

    def __init__(self, precision: int, width: int) -> None:
        self.precision, self.width = precision, width
        self.fraction = precision - 1
        self.bias = (1 << (width - precision - 1)) - 1
        self.sign = 1 << (width - 1)
        self.infinity = (2 * self.bias + 1) << self.fraction
        self.quiet_nan = self.infinity | 1 << (self.fraction - 1)
        self.context = gmpy2.context(
            precision=precision,
            emax=self.bias + 1,
            emin=1 - self.bias - self.fraction + 1,
            subnormalize=True,
        )

    def read(self, bits: int) -> Real:
        """Return the number that a bit pattern stands for."""
        negative, magnitude = bool(bits & self.sign), bits & ~self.sign
        if magnitude > self.infinity:
            return gmpy2.nan()
        if magnitude == self.infinity:
            return gmpy2.inf(-1 if negative else 1)
        exponent, significand = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        if exponent:
            significand |= 1 << self.fraction
        scale = max(exponent, 1) - self.bias - self.fraction
        with gmpy2.context(precision=self.precision):
            value = gmpy2.mul_2exp(gmpy2.mpfr(significand), max(scale, 0))
            value = gmpy2.div_2exp(value, max(-scale, 0))
            return -value if negative else value

    def write(self, value: Real) -> int:
        """Return the bits of a number that the format holds; a NaN is the canonical one."""
        if gmpy2.is_nan(value):
            return self.quiet_nan
        sign = self.sign if gmpy2.is_signed(value) else 0
        if gmpy2.is_infinite(value):
            return sign | self.infinity
        if gmpy2.is_zero(value):
            return sign
        mantissa, exponent = (int(part) for part in value.as_mantissa_exp())
        mantissa = abs(mantissa)
        least = 1 - self.bias - self.fraction
        shift = max(mantissa.bit_length() - self.precision, least - exponent)
        kept = mantissa >> shift if shift > 0 else mantissa << -shift
        assert shift <= 0 or kept << shift == mantissa, "the format does not hold this"
        exponent += shift
        biased = exponent - least + (1 if kept >> self.fraction else 0)
        return sign | biased << self.fraction | kept & ((1 << self.fraction) - 1)

    def rounded(self, value: Real) -> Real:
        """Return the nearest number of the format."""
        with self.context:
            return gmpy2.mpfr(value, self.precision) if gmpy2.is_finite(value) else value

    # --- steps ----------------------------------------------------------------------------------

    def add(self, a: Real, b: Real) -> Real:
        return self.context.add(a, b)

    def sub(self, a: Real, b: Real) -> Real:
        return self.context.sub(a, b)

    def mul(self, a: Real, b: Real) -> Real:
        return self.context.mul(a, b)

    def div(self, a: Real, b: Real) -> Real:
        return self.context.div(a, b)

    def sqrt(self, a: Real) -> Real:
        return self.context.sqrt(a)


BINARY32, BINARY64, BINARY128 = Format(24, 32), Format(53, 64), Format(113, 128)


def negated(value: Real) -> Real:
    """Flip the sign, of a zero too."""
    with gmpy2.context(precision=200):
        return -value


# --- arithmetic of numbers ----------------------------------------------------------------------


def add(f: Format, x: Number, y: Number) -> Number:
    match x, y:
        case (a, b), (c, d):
            return f.add(a, c), f.add(b, d)
        case (a, b), c:
            return f.add(a, c), b
        case a, (c, d):
            return f.add(a, c), d
    return f.add(x, y)


def sub(f: Format, x: Number, y: Number) -> Number:
    match x, y:
        case (a, b), (c, d):
            return f.sub(a, c), f.sub(b, d)
        case (a, b), c:
            return f.sub(a, c), b
        case a, (c, d):
            return f.sub(a, c), negated(d)
    return f.sub(x, y)


def mul(f: Format, x: Number, y: Number) -> Number:
    match x, y:
        case (a, b), (c, d):
            return (
                f.sub(f.mul(a, c), f.mul(b, d)),
                f.add(f.mul(a, d), f.mul(b, c)),
            )
        case (a, b), c:
            return f.mul(a, c), f.mul(b, c)
        case a, (c, d):
            return f.mul(a, c), f.mul(a, d)
    return f.mul(x, y)


def div(f: Format, x: Number, y: Number) -> Number:
    match x, y:
        case (a, b), (c, d):
            return _smith(f, a, b, c, d)
        case (a, b), c:
            return f.div(a, c), f.div(b, c)
        case a, (c, d):
            return _smith(f, a, gmpy2.mpfr(0), c, d)
    return f.div(x, y)


def _smith(f: Format, a: Real, b: Real, c: Real, d: Real) -> Number:
    one = gmpy2.mpfr(1)
    with gmpy2.context(precision=200):
        size_c, size_d = abs(c), abs(d)
    # Comparisons with a NaN are false.
    if size_c >= size_d:
        if size_c == 0 and size_d == 0:
            return f.div(a, size_c), f.div(b, size_c)
        r = f.div(d, c)
        s = f.div(one, f.add(c, f.mul(d, r)))
        return (
            f.mul(f.add(a, f.mul(b, r)), s),
            f.mul(f.sub(b, f.mul(a, r)), s),
        )
    r = f.div(c, d)
    s = f.div(one, f.add(d, f.mul(c, r)))
    return (
        f.mul(f.add(f.mul(a, r), b), s),
        f.mul(f.sub(f.mul(b, r), a), s),
    )


ARITHMETIC: dict[str, Callable[[Format, Number, Number], Number]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
}


def equal(x: Number, y: Number) -> bool:
    (a, b), (c, d) = (n if isinstance(n, tuple) else (n, 0) for n in (x, y))
    return bool(a == c and b == d)


def absolute(f: Format, z: Number) -> Real:
    """Return the modulus, rounded once; MPFR's hypot of infinity and NaN is infinity."""
    with f.context:
        return gmpy2.hypot(*z)


# --- reductions ---------------------------------------------------------------------------------


def zero_of(kind: Number) -> Number:
    return (gmpy2.mpfr(0),) * 2 if isinstance(kind, tuple) else gmpy2.mpfr(0)


def lane_sum(f: Format, terms: Sequence[Number], zero: Number) -> Number:
    """Add in the lane order of promotion.md 5.1."""
    while True:
        sums = []
        for start in range(0, max(len(terms), 1), 4096):
            lanes = [zero] * 32
            for i, term in enumerate(terms[start : start + 4096]):
                lanes[i % 32] = add(f, lanes[i % 32], term)
            for half in (16, 8, 4, 2, 1):
                lanes = [add(f, lanes[j], lanes[j + half]) for j in range(half)]
            sums.append(lanes[0])
        if len(sums) == 1:
            return sums[0]
        terms = sums


def into(f: Format, value: Number) -> Number:
    """Round each part into a format."""
    if isinstance(value, tuple):
        return f.rounded(value[0]), f.rounded(value[1])
    return f.rounded(value)


# --- patterns -----------------------------------------------------------------------------------


def specials(f: Format) -> list[int]:
    """Zeros, ones, ends of the range, infinities and NaNs, of either sign."""
    one, top = f.bias << f.fraction, f.infinity - 1
    found = [0, 1, one, top, f.infinity]
    return [
        *(sign | bits for bits in found for sign in (0, f.sign)),
        f.quiet_nan,
        f.infinity + 1,
    ]


def drawn(f: Format, rng: random.Random) -> int:
    """Return a pattern: any bits, a special one, or a number of moderate size."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.getrandbits(f.width)
    if kind == 1:
        return rng.choice(specials(f))
    exponent = f.bias + rng.randint(-f.precision // 2, f.precision // 2)
    return rng.choice((0, f.sign)) | exponent << f.fraction | rng.getrandbits(f.fraction)
