"""Elementary functions: the correctly rounded value of the exact function.

Belongs here: functions that no finite integer computation gives, through MPFR, and their special
values. Clause: operation-dtype-policy, *Arithmetic and accumulation values have exact semantics*:
one function is one operation and one rounding.

Theory. MPFR truncates the exact value to a few bits more than the format keeps and tells whether
anything was lost. Truncated bits and "something more" are all that the one rounding gate needs, in
the subnormal range too, so MPFR's own exponent range and rounding never show.
"""

from __future__ import annotations

from collections.abc import Callable

import gmpy2

from bittrue.encoding import BinaryFormat
from bittrue.generic.arithmetic import one

EXTRA_BITS = 8
"""Bits kept beyond the fraction; two are enough."""

_contexts: dict[int, gmpy2.context] = {}


def _context(fmt: BinaryFormat) -> gmpy2.context:
    precision = fmt.fraction_bits + 1 + EXTRA_BITS
    context = _contexts.get(precision)
    if context is None:
        context = gmpy2.context(
            precision=precision,
            round=gmpy2.RoundToZero,
            emax=gmpy2.get_emax_max(),
            emin=gmpy2.get_emin_min(),
        )
        _contexts[precision] = context
    return context


def _exact(fmt: BinaryFormat, bits: int) -> gmpy2.mpfr:
    """Return the finite number that `bits` encode, exactly."""
    negative, significand, exponent = fmt.decode(bits)
    context = _context(fmt)
    # The ambient context of gmpy2 is the caller's; only our own takes part.
    value = gmpy2.mpfr(-significand if negative else significand, context.precision, context)
    return (
        context.mul_2exp(value, exponent) if exponent >= 0 else context.div_2exp(value, -exponent)
    )


def _rounded(fmt: BinaryFormat, truncated: gmpy2.mpfr) -> int:
    """Round a value that MPFR truncated; its ternary value tells whether something was lost."""
    negative, sticky = bool(gmpy2.is_signed(truncated)), truncated.rc != 0
    if gmpy2.is_zero(truncated):
        # Below MPFR's range, so far below the smallest subnormal: nearest is zero.
        return fmt.sign if negative else 0
    significand, exponent = (int(part) for part in truncated.as_mantissa_exp())
    significand = abs(significand)
    pad = fmt.fraction_bits + 1 + EXTRA_BITS - significand.bit_length()
    return fmt.encode(significand << pad, exponent - pad, negative=negative, sticky=sticky)


def _apply(fmt: BinaryFormat, function: str, value: int) -> int:
    return _rounded(fmt, getattr(_context(fmt), function)(_exact(fmt, value)))


def _unary(
    function: str,
    at_zero: Callable[[BinaryFormat, int], int],
    at_infinity: Callable[[BinaryFormat, int], int],
) -> Callable[[BinaryFormat, int], int]:
    def primitive(fmt: BinaryFormat, value: int) -> int:
        if fmt.is_nan(value):
            return fmt.quiet_nan
        if fmt.is_zero(value):
            return at_zero(fmt, value)
        if fmt.is_infinite(value):
            return at_infinity(fmt, value)
        return _apply(fmt, function, value)

    primitive.__name__ = function
    primitive.__doc__ = f"Return the correctly rounded {function} of `value`."
    return primitive


def _logarithm(
    function: str,
    domain_end: Callable[[BinaryFormat], int],
    at_zero: Callable[[BinaryFormat, int], int],
) -> Callable[[BinaryFormat, int], int]:
    """Make a function that is -inf at the end of its domain and NaN below it."""

    def primitive(fmt: BinaryFormat, value: int) -> int:
        if fmt.is_nan(value):
            return fmt.quiet_nan
        if fmt.is_zero(value):
            return at_zero(fmt, value)
        end = domain_end(fmt)
        if value & fmt.sign:
            if value == end:
                return fmt.sign | fmt.infinity
            if not end or value > end:
                return fmt.quiet_nan
        if fmt.is_infinite(value):
            return value
        return _apply(fmt, function, value)

    primitive.__name__ = function
    primitive.__doc__ = f"Return the correctly rounded {function} of `value`."
    return primitive


def _same(_fmt: BinaryFormat, value: int) -> int:
    return value


def _one(fmt: BinaryFormat, _value: int) -> int:
    return one(fmt)


def _nan(fmt: BinaryFormat, _value: int) -> int:
    return fmt.quiet_nan


def _signed_one(fmt: BinaryFormat, value: int) -> int:
    return value & fmt.sign | one(fmt)


def _zero_or_infinity(fmt: BinaryFormat, value: int) -> int:
    return 0 if value & fmt.sign else value


def _minus_one_or_infinity(fmt: BinaryFormat, value: int) -> int:
    return fmt.sign | one(fmt) if value & fmt.sign else value


def _minus_infinity(fmt: BinaryFormat, _value: int) -> int:
    return fmt.sign | fmt.infinity


# fmt: off
#             function            at a zero  at an infinity
exp   = _unary("exp",             _one,      _zero_or_infinity)
exp2  = _unary("exp2",            _one,      _zero_or_infinity)
expm1 = _unary("expm1",           _same,     _minus_one_or_infinity)
sin   = _unary("sin",             _same,     _nan)
cos   = _unary("cos",             _one,      _nan)
tanh  = _unary("tanh",            _same,     _signed_one)
erf   = _unary("erf",             _same,     _signed_one)
#             function    end of the domain                       at a zero
log   = _logarithm("log",   lambda _fmt: 0,                       _minus_infinity)
log2  = _logarithm("log2",  lambda _fmt: 0,                       _minus_infinity)
log1p = _logarithm("log1p", lambda fmt: fmt.sign | one(fmt),      _same)
# fmt: on


def power(fmt: BinaryFormat, base: int, exponent: int) -> int:
    """Return base ** exponent as IEEE 754 `pow` defines it, correctly rounded."""
    if fmt.is_signaling(base) or fmt.is_signaling(exponent):
        return fmt.quiet_nan
    if fmt.is_zero(exponent) or base == one(fmt):
        return one(fmt)
    if fmt.is_nan(base) or fmt.is_nan(exponent):
        return fmt.quiet_nan
    if fmt.is_infinite(exponent):
        return _power_of_infinite_exponent(fmt, base, exponent)
    negative_exponent = bool(exponent & fmt.sign)
    odd, whole = _parity(fmt, exponent)
    sign = base & fmt.sign if odd else 0
    if fmt.is_zero(base):
        return sign | (fmt.infinity if negative_exponent else 0)
    if fmt.is_infinite(base):
        return sign | (0 if negative_exponent else fmt.infinity)
    if base & fmt.sign and not whole:
        return fmt.quiet_nan
    result = _context(fmt).pow(_exact(fmt, base), _exact(fmt, exponent))
    if gmpy2.is_zero(result):
        return sign
    return _rounded(fmt, result)


def _power_of_infinite_exponent(fmt: BinaryFormat, base: int, exponent: int) -> int:
    magnitude = base & (fmt.sign - 1)
    if magnitude == one(fmt):
        return one(fmt)
    grows = (magnitude > one(fmt)) != bool(exponent & fmt.sign)
    return fmt.infinity if grows else 0


def _parity(fmt: BinaryFormat, bits: int) -> tuple[bool, bool]:
    """Tell whether a finite number is an odd integer, and whether it is an integer."""
    _, significand, exponent = fmt.decode(bits)
    if exponent >= 0:
        return exponent == 0 and bool(significand & 1), True
    fraction = significand & ((1 << -exponent) - 1)
    return not fraction and bool(significand >> -exponent & 1), not fraction
