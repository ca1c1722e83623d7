"""Formats: one descriptor an encoding, and the exact meaning of every code.

Belongs here: fields, classes, exact decomposition and boundary values of one logical lane, all
derived from the row in the dtype list. Never here: rounding a value into a format (`lanes`).
Clauses: postprocess-and-formats, Decisions 180 (FP19) and 182.

Theory. A finite code is ``(-1)**negative * significand * 2**exponent``, integers all three. With
exponent field e, fraction f of F bits and bias B: ``e = 0`` gives f at ``2**(1-B-F)``, any other e
gives ``2**F + f`` at ``2**(e-B-F)``. HiF8 reads its fields from the leading bits of the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from bittrue._records import shown
from bittrue.dtypes import EncodingRow, Specials
from bittrue.errors import RefusedTypeError, RefusedValueError


class Class(Enum):
    """Class of a code; `value` is its name in reports and vectors."""

    INVALID = "invalid"
    POSITIVE_ZERO = "positive_zero"
    NEGATIVE_ZERO = "negative_zero"
    POSITIVE_SUBNORMAL = "positive_subnormal"
    NEGATIVE_SUBNORMAL = "negative_subnormal"
    POSITIVE_NORMAL = "positive_normal"
    NEGATIVE_NORMAL = "negative_normal"
    POSITIVE_INFINITY = "positive_infinity"
    NEGATIVE_INFINITY = "negative_infinity"
    QUIET_NAN = "quiet_nan"
    SIGNALING_NAN = "signaling_nan"


class Decomposition(NamedTuple):
    """Exact value of a finite code: ``(-1)**negative * significand * 2**exponent``.

    Where no finite value is available every other field is False or 0.
    """

    available: bool
    negative: bool
    significand: int
    exponent: int


UNAVAILABLE = Decomposition(available=False, negative=False, significand=0, exponent=0)

_SIGNED = {
    "zero": (Class.POSITIVE_ZERO, Class.NEGATIVE_ZERO),
    "subnormal": (Class.POSITIVE_SUBNORMAL, Class.NEGATIVE_SUBNORMAL),
    "normal": (Class.POSITIVE_NORMAL, Class.NEGATIVE_NORMAL),
    "infinity": (Class.POSITIVE_INFINITY, Class.NEGATIVE_INFINITY),
}

HIF8_NAN = 0x80
HIF8_INFINITY = 0x6F


_HIF8_ROWS = (
    # pattern, first body, end, exponent bits below the leading one, fraction bits
    ("D1", 0x10, 0x20, 0, 3),
    ("D2", 0x20, 0x40, 1, 3),
    ("D3", 0x40, 0x60, 2, 2),
    ("D4", 0x60, 0x80, 3, 1),
)


def hif8_fields(code: int) -> tuple[str, int, int, int]:
    """Read the fields of a HiF8 code: (pattern, exponent, fraction bits, fraction).

    For the subnormal pattern DML the fraction is the whole field and the exponent 0.
    """
    body = code & 0x7F
    if body < 0x08:
        return "DML", 0, 3, body
    if body < 0x10:
        return "D0", 0, 3, body & 7
    # A pattern Dn has a sign bit, n-1 exponent bits below an implicit leading one, and a fraction.
    pattern, low, _, width, fraction_bits = next(row for row in _HIF8_ROWS if body < row[2])
    field = (body - low) >> fraction_bits
    magnitude = (1 << width) | (field & ((1 << width) - 1))
    exponent = -magnitude if field >> width else magnitude
    return pattern, exponent, fraction_bits, body & ((1 << fraction_bits) - 1)


@dataclass(frozen=True)
class Format:
    """Descriptor of one encoding.

    `name` and `code` are those of the table of types; `kind` is fixed, variable, scale or integer.
    Widths are in bits: of a stored carrier, of a logical lane; `lanes_per_carrier` counts lanes.
    `sign_bit` is its index in the lane (None: no sign); `exponent_bits` and `fraction_bits` are
    (least, most) widths; `low_zero_bits` and `high_zero_bits` count the carrier bits that must be
    zero. An integer type has no floating descriptor: `available` is False and every floating
    field 0 or False; `integer_bits` and `signed` describe it.
    """

    name: str
    dtype: str | None
    code: int | None
    kind: str
    available: bool = False
    carrier_bits: int = 0
    lane_bits: int = 0
    lanes_per_carrier: int = 0
    sign_bit: int | None = None
    exponent_bits: tuple[int, int] = (0, 0)
    fraction_bits: tuple[int, int] = (0, 0)
    bias: int | None = 0
    low_zero_bits: int = 0
    high_zero_bits: int = 0
    has_zero: bool = False
    has_signed_zero: bool = False
    has_subnormal: bool = False
    has_infinity: bool = False
    has_quiet_nan: bool = False
    has_signaling_nan: bool = False
    specials: Specials | None = None
    integer_bits: int = 0
    signed: bool = False
    aliases: tuple[str, ...] = ()

    @classmethod
    def of_row(cls, row: EncodingRow) -> Format:
        """Derive the descriptor from a row of the dtype list."""
        if row.fields is None:
            return cls(
                row.encoding,
                row.dtype,
                row.code,
                "integer",
                integer_bits=row.lane_bits,
                signed=row.encoding.startswith("S"),
                aliases=row.aliases,
            )
        f, s = row.fields, row.fields.specials
        exponent, fraction = (
            (w, w) if isinstance(w, int) else w for w in (f.exponent_bits, f.fraction_bits)
        )
        kind = {Specials.TAPERED: "variable", Specials.SCALE: "scale"}.get(s, "fixed")
        # A 6-bit lane alone in its byte leaves bits that must be zero; FP19 and packed lanes fill.
        high = row.carrier_bits - row.lane_bits * row.lanes
        return cls(
            row.encoding,
            row.dtype,
            row.code,
            kind,
            available=True,
            carrier_bits=row.carrier_bits,
            lane_bits=row.lane_bits,
            lanes_per_carrier=row.lanes,
            sign_bit=f.sign_bit,
            exponent_bits=exponent,
            fraction_bits=fraction,
            bias=f.bias,
            low_zero_bits=f.low_zero_bits,
            high_zero_bits=high,
            has_zero=s is not Specials.SCALE,
            has_signed_zero=s not in (Specials.SCALE, Specials.TAPERED),
            has_subnormal=s not in (Specials.SCALE, Specials.NO_SUBNORMAL),
            has_infinity=s in (Specials.IEEE, Specials.TAPERED),
            has_quiet_nan=s not in (Specials.NONE, Specials.NO_SUBNORMAL),
            has_signaling_nan=s is Specials.IEEE,
            specials=s,
            aliases=row.aliases,
        )

    # --- reading one lane ---------------------------------------------------------------------

    def lane(self, bits: int) -> int:
        """Return the logical lane in `bits`.

        What stands above the carrier, or above a packed lane, is not part of the value. Raises
        `TypeError` for bits that are no int, `ValueError` for negative ones.
        """
        if isinstance(bits, bool) or not isinstance(bits, int):
            raise RefusedTypeError(f"{self.name} code", f"got {shown(bits)}", "an int")
        if bits < 0:
            raise RefusedValueError(f"{self.name} code", f"{bits}", "a non-negative int")
        return bits & ((1 << self._word_bits) - 1)

    @cached_property
    def _word_bits(self) -> int:
        if self.kind == "integer":
            return self.integer_bits
        return self.lane_bits if self.lanes_per_carrier > 1 else self.carrier_bits

    @cached_property
    def _zero_mask(self) -> int:
        high = ((1 << self.high_zero_bits) - 1) << (self.carrier_bits - self.high_zero_bits)
        return high | ((1 << self.low_zero_bits) - 1)

    @cached_property
    def _magnitude_mask(self) -> int:
        return (1 << self.lane_bits) - 1 if self.sign_bit is None else (1 << self.sign_bit) - 1

    @cached_property
    def _f(self) -> int:
        return self.fraction_bits[1]

    def is_valid(self, bits: int) -> bool:
        """Tell whether every constrained bit of `bits` is zero."""
        return self.kind == "integer" or not self.lane(bits) & self._zero_mask

    def negative(self, bits: int) -> bool:
        """Tell whether the sign bit is set."""
        return self.sign_bit is not None and bool(bits >> self.sign_bit & 1)

    def _fields(self, code: int) -> tuple[int, int]:
        magnitude = (code & self._magnitude_mask) >> self.low_zero_bits
        return magnitude >> self._f, magnitude & ((1 << self._f) - 1)

    def _special(self, code: int) -> Class | None:
        """Return the class of a code that is no finite number, None for one that is."""
        signs = _SIGNED["infinity"]
        if self.specials is Specials.IEEE:
            exponent, fraction = self._fields(code)
            if exponent != (1 << self.exponent_bits[1]) - 1:
                return None
            if not fraction:
                return signs[self.negative(code)]
            return Class.QUIET_NAN if fraction >> (self._f - 1) else Class.SIGNALING_NAN
        if self.specials in (Specials.LAST, Specials.SCALE):
            all_ones = code & self._magnitude_mask == self._magnitude_mask
            return Class.QUIET_NAN if all_ones else None
        if self.specials is Specials.TAPERED:
            if code == HIF8_NAN:
                return Class.QUIET_NAN
            return signs[self.negative(code)] if code & 0x7F == HIF8_INFINITY else None
        return None

    def classify(self, bits: int) -> str:
        """Return the name of the class of one lane; an integer's code is always invalid as a float.

        The names are those of `Class`.
        """
        return self.class_of(bits).value

    def class_of(self, bits: int) -> Class:
        """Return the `Class` of one lane."""
        code = self.lane(bits)
        if self.kind == "integer" or code & self._zero_mask:
            return Class.INVALID
        special = self._special(code)
        if special is not None:
            return special
        _, negative, significand, exponent = self._finite(code)
        if not significand:
            return _SIGNED["zero"][negative]
        subnormal = self.has_subnormal and significand.bit_length() - 1 + exponent < self.emin
        return _SIGNED["subnormal" if subnormal else "normal"][negative]

    def decompose(self, bits: int) -> Decomposition:
        """Return the exact finite decomposition of one logical lane, without rounding.

        Unavailable for invalid encodings, infinities, NaNs and integer types. Decision 182.
        """
        code = self.lane(bits)
        if self.kind == "integer" or code & self._zero_mask or self._special(code) is not None:
            return UNAVAILABLE
        return self._finite(code)

    def _finite(self, code: int) -> Decomposition:
        negative = self.negative(code)
        if self.specials is Specials.SCALE:
            assert self.bias is not None
            return Decomposition(True, False, 1, code - self.bias)  # noqa: FBT003 - a tuple
        if self.specials is Specials.TAPERED:
            pattern, exponent, width, fraction = hif8_fields(code)
            if pattern != "DML":
                return Decomposition(True, negative, (1 << width) + fraction, exponent - width)  # noqa: FBT003
            if not fraction:
                return Decomposition(True, False, 0, 0)  # noqa: FBT003
            return Decomposition(True, negative, 1, fraction - 23)  # noqa: FBT003
        assert self.bias is not None
        field, fraction = self._fields(code)
        if field:
            fraction += 1 << self._f
        elif not fraction:
            return Decomposition(True, negative, 0, 0)  # noqa: FBT003
        exponent = max(field, 1) - self.bias - self._f
        return Decomposition(True, negative, fraction, exponent)  # noqa: FBT003

    def value(self, bits: int) -> Fraction | str:
        """Return the exact value of one lane as a `Fraction`; a class name where it is no number.

        Negative zero is the Fraction 0: ask `classify` for its sign.
        """
        d = self.decompose(bits)
        if not d.available:
            return self.classify(bits)
        value = Fraction(d.significand) * Fraction(2) ** d.exponent
        return -value if d.negative else value

    def codes(self) -> Iterator[int]:
        """Yield every valid code of one logical lane, in ascending order of the code."""
        if self.kind == "integer":
            yield from range(1 << self.integer_bits)
            return
        yield from range(0, 1 << self.lane_bits, 1 << self.low_zero_bits)

    # --- boundaries ---------------------------------------------------------------------------

    @cached_property
    def emin(self) -> int:
        """Exponent of the smallest normal number; 1 - bias, also of the 4-bit formats."""
        if self.specials is Specials.TAPERED:
            return -15
        return 0 if self.bias is None else 1 - self.bias

    @cached_property
    def max_finite(self) -> int | None:
        """Code of the largest finite value."""
        if self.kind == "integer":
            return None
        if self.specials is Specials.TAPERED:
            return HIF8_INFINITY - 1
        last = self._magnitude_mask >> self.low_zero_bits
        if self.specials is Specials.IEEE:
            last = (((1 << self.exponent_bits[1]) - 1) << self._f) - 1
        elif self.specials in (Specials.LAST, Specials.SCALE):
            last -= 1
        return last << self.low_zero_bits

    @cached_property
    def min_normal(self) -> int | None:
        """Code of the smallest positive normal value; None where subnormals are not told apart."""
        if self.specials is Specials.SCALE:
            return 0
        if self.specials is Specials.TAPERED:
            return 0x7E
        if not self.has_subnormal:
            return None
        return 1 << (self._f + self.low_zero_bits)

    @cached_property
    def max_subnormal(self) -> int | None:
        """Code of the largest positive subnormal value."""
        if not self.has_subnormal:
            return None
        if self.specials is Specials.TAPERED:
            return 7
        return ((1 << self._f) - 1) << self.low_zero_bits

    @cached_property
    def min_subnormal(self) -> int | None:
        """Code of the smallest positive subnormal value."""
        return 1 << self.low_zero_bits if self.has_subnormal else None

    @cached_property
    def smallest_positive(self) -> int | None:
        """Code of the smallest positive value."""
        if self.kind == "integer":
            return None
        return 0 if self.specials is Specials.SCALE else 1 << self.low_zero_bits

    @cached_property
    def positive_zero(self) -> int | None:
        """Code of +0."""
        return 0 if self.has_zero else None

    @cached_property
    def negative_zero(self) -> int | None:
        """Code of -0."""
        if not self.has_signed_zero or self.sign_bit is None:
            return None
        return 1 << self.sign_bit

    @cached_property
    def positive_infinity(self) -> int | None:
        """Code of +inf."""
        if not self.has_infinity:
            return None
        if self.specials is Specials.TAPERED:
            return HIF8_INFINITY
        return ((1 << self.exponent_bits[1]) - 1) << (self._f + self.low_zero_bits)

    @cached_property
    def negative_infinity(self) -> int | None:
        """Code of -inf."""
        if self.positive_infinity is None or self.sign_bit is None:
            return None
        return self.positive_infinity | 1 << self.sign_bit

    @cached_property
    def canonical_nan(self) -> int | None:
        """Code of the NaN that every operation writes."""
        if not self.has_quiet_nan:
            return None
        if self.specials is Specials.TAPERED:
            return HIF8_NAN
        if self.specials is Specials.IEEE:
            assert self.positive_infinity is not None
            return self.positive_infinity | 1 << (self._f - 1 + self.low_zero_bits)
        return self._magnitude_mask

    def _value_of(self, code: int | None) -> Fraction | None:
        value = None if code is None else self.value(code)
        return value if isinstance(value, Fraction) else None

    @property
    def max_finite_value(self) -> Fraction | None:
        """The largest finite value, exactly."""
        return self._value_of(self.max_finite)

    @property
    def min_normal_value(self) -> Fraction | None:
        """The smallest positive normal value, exactly."""
        return self._value_of(self.min_normal)

    @property
    def min_subnormal_value(self) -> Fraction | None:
        """The smallest positive subnormal value, exactly."""
        return self._value_of(self.min_subnormal)

    @property
    def smallest_positive_value(self) -> Fraction | None:
        """The smallest positive value, exactly."""
        return self._value_of(self.smallest_positive)

    def __str__(self) -> str:
        return self.name


DESCRIPTOR_FIELDS = tuple(field.name for field in fields(Format))
