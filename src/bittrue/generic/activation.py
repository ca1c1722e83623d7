"""Activations: published sequences of primitives, each rounded.

Belongs here: the steps of each activation and their constants. Never here: a primitive. Branches
compare the input. Clause: operation-dtype-policy, *Generic is the concrete semantic reference*:
each arithmetic step is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from bittrue.encoding import BinaryFormat
from bittrue.generic import arithmetic as ar
from bittrue.generic import elementary as el


def _constant(value: Fraction, fmt: BinaryFormat) -> int:
    return fmt.encode_ratio(value.numerator, value.denominator)


LEAKY_SLOPE = Fraction(1, 100)
# 1024 exact bits of sqrt(1/2): far more than any format keeps, so one rounding is the nearest.
SQRT_HALF = Fraction(isqrt(1 << 2047), 1 << 1024)
HALF = Fraction(1, 2)


def relu(fmt: BinaryFormat, x: int) -> int:
    """Return x if x > 0, else +0; a NaN gives the canonical NaN."""
    if fmt.is_nan(x):
        return fmt.quiet_nan
    return x if ar.is_positive(fmt, x) else 0


def sigmoid(fmt: BinaryFormat, x: int) -> int:
    """Return 1 / (1 + exp(-x)) for x >= 0 and exp(x) / (1 + exp(x)) below."""
    if fmt.is_nan(x):
        return fmt.quiet_nan
    if ar.is_positive(fmt, x) or fmt.is_zero(x):
        e = el.exp(fmt, ar.neg(fmt, x))
        return ar.div(fmt, ar.one(fmt), ar.add(fmt, ar.one(fmt), e))
    e = el.exp(fmt, x)
    return ar.div(fmt, e, ar.add(fmt, ar.one(fmt), e))


def silu(fmt: BinaryFormat, x: int) -> int:
    """Return x * sigmoid(x)."""
    return ar.mul(fmt, x, sigmoid(fmt, x))


def gelu(fmt: BinaryFormat, x: int) -> int:
    """Return (x / 2) * (1 + erf(x * sqrt(1/2))): the exact erf variant."""
    h = ar.mul(fmt, _constant(HALF, fmt), x)
    t = ar.mul(fmt, x, _constant(SQRT_HALF, fmt))
    return ar.mul(fmt, h, ar.add(fmt, ar.one(fmt), el.erf(fmt, t)))


def softplus(fmt: BinaryFormat, x: int) -> int:
    """Return log1p(exp(-abs(x))) + max(x, 0)."""
    if fmt.is_nan(x):
        return fmt.quiet_nan
    e = el.exp(fmt, ar.neg(fmt, ar.absolute(fmt, x)))
    return ar.add(fmt, el.log1p(fmt, e), x if ar.is_positive(fmt, x) else 0)


def elu(fmt: BinaryFormat, x: int) -> int:
    """Return x if x > 0, else expm1(x)."""
    return x if ar.is_positive(fmt, x) else el.expm1(fmt, x)


def leaky_relu(fmt: BinaryFormat, x: int) -> int:
    """Return x if x >= 0, else x / 100 as one product with the rounded slope."""
    if ar.is_positive(fmt, x) or fmt.is_zero(x):
        return x
    return ar.mul(fmt, _constant(LEAKY_SLOPE, fmt), x)
