"""IEEE binary interchange formats: bits to exact numbers and back, by one rounding.

Belongs here: the layout facts of binary32, binary64 and binary128, derived from their rows in the
dtype list, and the conversion between bits and ``(-1)**negative * significand * 2**exponent``.
Never here: arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bittrue.dtypes import (
    BINARY128 as BINARY128_ROW,
)
from bittrue.dtypes import (
    SCALARS,
    DType,
    EncodingRow,
    SimpleDType,
    component_of,
    encoding_of,
)
from bittrue.encoding.rounding import round_magnitude


@dataclass(frozen=True)
class BinaryFormat:
    """Layout of an IEEE binary format: field widths in bits, and the values that follow."""

    exponent_bits: int
    fraction_bits: int

    @cached_property
    def bias(self) -> int:
        """Exponent bias."""
        return (1 << (self.exponent_bits - 1)) - 1

    @cached_property
    def emin(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias

    @cached_property
    def sign(self) -> int:
        """Bits of -0: the sign bit alone."""
        return 1 << (self.exponent_bits + self.fraction_bits)

    @cached_property
    def infinity(self) -> int:
        """Bits of +inf."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @cached_property
    def quiet_nan(self) -> int:
        """Bits of the canonical quiet NaN."""
        return self.infinity | (1 << (self.fraction_bits - 1))

    @cached_property
    def width(self) -> int:
        """Width of an encoding, in bits."""
        return 1 + self.exponent_bits + self.fraction_bits

    @cached_property
    def overflow_threshold(self) -> int:
        """Smallest magnitude, an integer, that rounds to infinity."""
        return (1 << (self.bias + 1)) - (1 << (self.bias - self.fraction_bits - 1))

    @classmethod
    def of(cls, dtype: SimpleDType) -> BinaryFormat:
        """Read the layout from the row of `dtype` in the dtype list."""
        return cls.of_row(encoding_of(dtype))

    @classmethod
    def of_row(cls, row: EncodingRow) -> BinaryFormat:
        """Read the layout from a row of encodings."""
        fields = row.fields
        if (
            fields is None
            or not isinstance(fields.exponent_bits, int)
            or not isinstance(fields.fraction_bits, int)
        ):
            msg = f"{row.encoding} is no IEEE binary format"
            raise ValueError(msg)
        return cls(fields.exponent_bits, fields.fraction_bits)

    def is_nan(self, bits: int) -> bool:
        """Tell whether `bits` encode a NaN of either kind."""
        return bits & (self.sign - 1) > self.infinity

    def is_signaling(self, bits: int) -> bool:
        """Tell whether `bits` encode a signaling NaN."""
        return self.is_nan(bits) and not bits & (1 << (self.fraction_bits - 1))

    def is_infinite(self, bits: int) -> bool:
        """Tell whether `bits` encode an infinity."""
        return bits & (self.sign - 1) == self.infinity

    def is_finite(self, bits: int) -> bool:
        """Tell whether `bits` encode a finite number."""
        return bits & (self.sign - 1) < self.infinity

    def is_zero(self, bits: int) -> bool:
        """Tell whether `bits` encode a zero of either sign."""
        return not bits & (self.sign - 1)

    def joined(self, real: int, imaginary: int) -> int:
        """Return the stored element of a complex number: the imaginary part above the real one.

        That is how memory reads as one little-endian integer.
        """
        return real | imaginary << self.width

    def parts(self, element: int) -> tuple[int, int]:
        """Return the real and the imaginary part of a stored complex element."""
        return element & ((1 << self.width) - 1), element >> self.width

    def decode(self, bits: int) -> tuple[bool, int, int]:
        """Return ``(negative, significand, exponent)`` of a finite encoding, exactly."""
        field = (bits & (self.sign - 1)) >> self.fraction_bits
        significand = bits & ((1 << self.fraction_bits) - 1)
        if field:
            significand |= 1 << self.fraction_bits
        else:
            field = 1
        return bool(bits & self.sign), significand, field - self.bias - self.fraction_bits

    def encode(
        self, significand: int, exponent: int, *, negative: bool = False, sticky: bool = False
    ) -> int:
        """Return the nearest encoding of ``significand * 2**exponent``, ties to even.

        Gradual underflow, overflow to infinity. `sticky` tells that the exact magnitude lies
        strictly between this one and ``(significand + 1) * 2**exponent``; the significand then
        needs at least two bits more than the format keeps.
        """
        sign = self.sign if negative else 0
        if not significand:
            return sign
        scale = max(exponent + significand.bit_length() - 1, self.emin)
        drop = scale - self.fraction_bits - exponent
        kept, _ = round_magnitude(significand, drop, sticky=sticky)
        # A carry out of the fraction runs into the exponent field, as it should.
        bits = ((scale - self.emin) << self.fraction_bits) + kept
        return sign | min(bits, self.infinity)

    def encode_ratio(self, numerator: int, denominator: int) -> int:
        """Return the nearest encoding of the exact ratio of two integers, ``denominator > 0``."""
        magnitude = abs(numerator)
        # Three bits beyond the fraction, so that the remainder only has to say "more".
        spare = self.fraction_bits + 3 + denominator.bit_length() - magnitude.bit_length()
        shift = max(spare, 0)
        quotient, rest = divmod(magnitude << shift, denominator)
        return self.encode(quotient, -shift, negative=numerator < 0, sticky=rest != 0)


BINARY32 = BinaryFormat.of(DType.Float32)
BINARY64 = BinaryFormat.of(DType.Float64)
BINARY128 = BinaryFormat.of_row(BINARY128_ROW)

BINARY_FORMATS: dict[SimpleDType, BinaryFormat] = {
    DType.Float32: BINARY32,
    DType.Float64: BINARY64,
    **{row.dtype: BINARY128 for row in SCALARS if row.name == BINARY128_ROW.dtype},
}
"""Real dtype of tensors -> its format."""


def component_format(dtype: SimpleDType) -> BinaryFormat:
    """Return the format of a real dtype, or of each part of a complex one.

    Raises `KeyError` for a dtype that is neither (an integer, Bool, a packed format).
    """
    return BINARY_FORMATS[component_of(dtype)]
