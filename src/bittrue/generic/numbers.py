"""Numbers of a plan: a real is its bits, a complex number the pair of bits of its parts.

Belongs here: arithmetic in which reals and complex numbers meet, as expression trees of one
rounding a step. Clauses of tensor-promotion: *Tensor-Tensor Promotion* (what a complex result
dtype computes), *C++ Binding Boundary* (inputs keep their own scalar type). No step is fused,
recovered or reordered, and every NaN that is computed is the canonical quiet one.

Theory. A real operand has no imaginary part. Giving it one of +0 would multiply that zero with an
infinity and lose the sign of zeros, so each function has a branch for each kind of operand, and two
reals come to the real function itself.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from bittrue.dtypes import SimpleDType, is_complex
from bittrue.encoding import BinaryFormat, component_format
from bittrue.generic import arithmetic as ar

Pair = tuple[int, int]
Number = int | Pair


def reader(dtype: SimpleDType) -> Callable[[int], Number]:
    """Return the function from stored elements of `dtype` to numbers."""
    return component_format(dtype).parts if is_complex(dtype) else _same


def writer(dtype: SimpleDType) -> Callable[[Number], int]:
    """Return the function from numbers to stored elements of `dtype`.

    A real number in a complex dtype has the imaginary part +0.
    """
    fmt = component_format(dtype)

    def join(number: Number) -> int:
        return number if isinstance(number, int) else fmt.joined(*number)

    return join if is_complex(dtype) else _real_part_only


def _same(element: int) -> Number:
    return element


def _real_part_only(number: Number) -> int:
    assert isinstance(number, int)
    return number


def zero(dtype: SimpleDType) -> Number:
    """Return what sums of `dtype` start from: +0 in every part."""
    return (0, 0) if is_complex(dtype) else 0


def converted(number: Number, source: BinaryFormat, destination: BinaryFormat) -> Number:
    """Return a number in another format, one rounding a part; a NaN becomes canonical."""
    if source is destination:
        return number
    if isinstance(number, int):
        return convert(number, source, destination)
    real, imaginary = number
    return convert(real, source, destination), convert(imaginary, source, destination)


def convert(bits: int, source: BinaryFormat, destination: BinaryFormat) -> int:
    """Return `bits` of one format in another, by one rounding; a NaN becomes canonical."""
    if source is destination:
        return bits
    sign = destination.sign if bits & source.sign else 0
    if source.is_nan(bits):
        return destination.quiet_nan
    if source.is_infinite(bits):
        return sign | destination.infinity
    negative, significand, exponent = source.decode(bits)
    return destination.encode(significand, exponent, negative=negative)


def _moved(fmt: BinaryFormat, bits: int) -> int:
    """Return a part that no arithmetic touches: itself, but a NaN is canonical."""
    return fmt.quiet_nan if fmt.is_nan(bits) else bits


# --- the trees ----------------------------------------------------------------------------------


def add(fmt: BinaryFormat, lhs: Number, rhs: Number) -> Number:
    """Return lhs + rhs; beside a real, an imaginary part is moved."""
    if isinstance(lhs, int):
        if isinstance(rhs, int):
            return ar.add(fmt, lhs, rhs)
        return ar.add(fmt, lhs, rhs[0]), _moved(fmt, rhs[1])
    if isinstance(rhs, int):
        return ar.add(fmt, lhs[0], rhs), _moved(fmt, lhs[1])
    return ar.add(fmt, lhs[0], rhs[0]), ar.add(fmt, lhs[1], rhs[1])


def sub(fmt: BinaryFormat, lhs: Number, rhs: Number) -> Number:
    """Return lhs - rhs; beside a real, an imaginary part is moved, or negated from the right."""
    if isinstance(lhs, int):
        if isinstance(rhs, int):
            return ar.sub(fmt, lhs, rhs)
        return ar.sub(fmt, lhs, rhs[0]), _moved(fmt, ar.neg(fmt, rhs[1]))
    if isinstance(rhs, int):
        return ar.sub(fmt, lhs[0], rhs), _moved(fmt, lhs[1])
    return ar.sub(fmt, lhs[0], rhs[0]), ar.sub(fmt, lhs[1], rhs[1])


def mul(fmt: BinaryFormat, lhs: Number, rhs: Number) -> Number:
    """Return lhs * rhs: ``(a*c - b*d, a*d + b*c)``, four products; beside a real, two."""
    if isinstance(lhs, int):
        if isinstance(rhs, int):
            return ar.mul(fmt, lhs, rhs)
        return ar.mul(fmt, lhs, rhs[0]), ar.mul(fmt, lhs, rhs[1])
    if isinstance(rhs, int):
        return ar.mul(fmt, lhs[0], rhs), ar.mul(fmt, lhs[1], rhs)
    (a, b), (c, d) = lhs, rhs
    return (
        ar.sub(fmt, ar.mul(fmt, a, c), ar.mul(fmt, b, d)),
        ar.add(fmt, ar.mul(fmt, a, d), ar.mul(fmt, b, c)),
    )


def div(fmt: BinaryFormat, lhs: Number, rhs: Number) -> Number:
    """Return lhs / rhs: by a real, each part; by a complex number, Smith's reciprocal form."""
    if isinstance(rhs, int):
        if isinstance(lhs, int):
            return ar.div(fmt, lhs, rhs)
        return ar.div(fmt, lhs[0], rhs), ar.div(fmt, lhs[1], rhs)
    return _smith(fmt, (lhs, 0) if isinstance(lhs, int) else lhs, rhs)


def _smith(fmt: BinaryFormat, lhs: Pair, rhs: Pair) -> Pair:
    (a, b), (c, d) = lhs, rhs
    size_c, size_d = ar.absolute(fmt, c), ar.absolute(fmt, d)
    one = ar.one(fmt)
    # False where either part is a NaN.
    if ar.less_equal(fmt, size_d, size_c):
        if fmt.is_zero(size_c):
            return ar.div(fmt, a, size_c), ar.div(fmt, b, size_c)
        r = ar.div(fmt, d, c)
        s = ar.div(fmt, one, ar.add(fmt, c, ar.mul(fmt, d, r)))
        return (
            ar.mul(fmt, ar.add(fmt, a, ar.mul(fmt, b, r)), s),
            ar.mul(fmt, ar.sub(fmt, b, ar.mul(fmt, a, r)), s),
        )
    r = ar.div(fmt, c, d)
    s = ar.div(fmt, one, ar.add(fmt, d, ar.mul(fmt, c, r)))
    return (
        ar.mul(fmt, ar.add(fmt, ar.mul(fmt, a, r), b), s),
        ar.mul(fmt, ar.sub(fmt, ar.mul(fmt, b, r), a), s),
    )


def equal(fmt: BinaryFormat, lhs: Number, rhs: Number) -> bool:
    """Tell whether both parts are equal; a real has the imaginary part +0 here."""
    (a, b), (c, d) = (n if isinstance(n, tuple) else (n, 0) for n in (lhs, rhs))
    return ar.equal(fmt, a, c) and ar.equal(fmt, b, d)


def not_equal(fmt: BinaryFormat, lhs: Number, rhs: Number) -> bool:
    """Tell whether a part differs; a NaN differs from everything."""
    return not equal(fmt, lhs, rhs)


# --- one operand --------------------------------------------------------------------------------


def neg(fmt: BinaryFormat, value: Number) -> Number:
    """Flip the sign bit of every part, also of a NaN."""
    if isinstance(value, int):
        return ar.neg(fmt, value)
    return ar.neg(fmt, value[0]), ar.neg(fmt, value[1])


def conj(fmt: BinaryFormat, value: Number) -> Number:
    """Flip the sign bit of the imaginary part, also of a NaN; a real is its own conjugate."""
    return value if isinstance(value, int) else (value[0], ar.neg(fmt, value[1]))


def real(_fmt: BinaryFormat, value: Number) -> Number:
    """Return the real part, bit for bit."""
    return value if isinstance(value, int) else value[0]


def imag(_fmt: BinaryFormat, value: Number) -> Number:
    """Return the imaginary part, bit for bit; +0 for a real."""
    return 0 if isinstance(value, int) else value[1]


def absolute(fmt: BinaryFormat, value: Number) -> Number:
    """Return the modulus, rounded once; +inf where either part is infinite, even beside a NaN."""
    if isinstance(value, int):
        return ar.absolute(fmt, value)
    sizes = sorted(ar.absolute(fmt, part) for part in value)
    if fmt.infinity in sizes:
        return fmt.infinity
    if fmt.is_nan(sizes[1]):
        return fmt.quiet_nan
    (_, small, exponent_s), (_, large, exponent_l) = (fmt.decode(size) for size in sizes)
    if not small:
        return sizes[1]
    keep = fmt.fraction_bits + 4
    gap = exponent_l + large.bit_length() - exponent_s - small.bit_length()
    if gap > keep:
        # The smaller part adds less than a quarter of the last place of the larger.
        return fmt.encode(large << keep, exponent_l - keep, sticky=True)
    exponent = min(exponent_s, exponent_l)
    total = (small << (exponent_s - exponent)) ** 2 + (large << (exponent_l - exponent)) ** 2
    radicand = total << 2 * keep
    root = isqrt(radicand)
    return fmt.encode(root, exponent - keep, sticky=root * root != radicand)


def squared(fmt: BinaryFormat, value: Number) -> int:
    """Return the square of the modulus: each product rounded, then their sum."""
    if isinstance(value, int):
        return ar.mul(fmt, value, value)
    a, b = value
    return ar.add(fmt, ar.mul(fmt, a, a), ar.mul(fmt, b, b))
