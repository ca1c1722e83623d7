"""One element: raw accumulator to destination code, exactly, with every intermediate.

Belongs here: the multiplier, the exact product, the one conversion. Never here: arrays, maxima,
legality. Clauses: postprocess-and-formats, Decisions 176 to 178 and 180; the paragraphs are those
of the sheet's section 6, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bittrue.encoding import Class, Format, Rounding, Status, formats, round_magnitude
from bittrue.encoding.lanes import Number, overflow, read, to_float, to_integer
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.modes import RELU_PARAMETER, Mode, Parameter, Relu
from bittrue.postprocess.parameters import ONE, Word

CLEAR = Status(0)
OVERFLOWED = Status.OF | Status.NX
FP32 = formats["FP32"]

_NANS = (Class.QUIET_NAN, Class.SIGNALING_NAN)


@dataclass(frozen=True, slots=True)
class Rule:
    """What every element of one call has in common."""

    mode: Mode
    source: Format
    destination: Format
    rounding: Rounding
    saturate: bool
    relu: Relu

    @classmethod
    def of(cls, control: PostProcess, accumulator: str) -> Rule:
        """Derive the rule from a control record and the accumulator format."""
        mode = control.mode
        return cls(
            mode,
            formats[accumulator],
            mode.format_of(accumulator),
            control.applied_rounding,
            control.saturate,
            control.relu,
        )

    @property
    def copies(self) -> bool:
        """Whether D is the accumulator bit for bit: no mode and no activation."""
        return self.mode.destination is None and self.relu is Relu.NONE


@dataclass(frozen=True, slots=True)
class Element:
    """The way of one element. A stage that it does not pass is None.

    `raw` and `bits` are the accumulator's and the destination's codes, `negative` tells the
    negative path, `multiplier` is an FP32 pattern, `product` the exact one, `rounded` the integer
    before and `saturated` after the intermediate saturation, `offset` what is added and `total` the
    sum that the destination encodes.
    """

    raw: int
    bits: int
    flags: Status
    path: str
    negative: bool = False
    multiplier: int | None = None
    product: Number | None = None
    rounded: int | None = None
    saturated: int | None = None
    offset: int | None = None
    total: int | None = None

    @property
    def exact(self) -> Fraction | None:
        """The exact product as a fraction."""
        if self.product is None:
            return None
        value = Fraction(self.product.significand) * Fraction(2) ** self.product.exponent
        return -value if self.product.negative else value


def convert_element(rule: Rule, raw: int, quant: Word | None, activation: int | None) -> Element:
    """Post-process one accumulator of code `raw`.

    `quant` is the decoded word of the element's column, None where the mode has none; `activation`
    the FP32 pattern of its activation parameter, None without one.
    """
    if rule.copies:
        return Element(raw, raw, CLEAR, "unchanged")
    number = read(rule.source, raw)
    if rule.mode.shift:
        assert quant is not None
        assert quant.shift is not None
        return _shifted(rule, raw, number, quant.shift)
    scale = ONE if quant is None or quant.scale is None else quant.scale
    # The class negative zero counts among the negative ones; a NaN never does.
    negative = number.negative and number.special not in _NANS
    multiplier = _multiplier(rule.relu, scale, activation) if negative else scale
    if number.special in _NANS or (number.special is not None and multiplier):
        bits, flags = _special(rule, number)
        return Element(raw, bits, flags, "special", negative, multiplier)
    product = _product(number, multiplier)
    if rule.mode.offset_bits:
        assert quant is not None
        return _affine(rule, raw, product, quant.offset, negative=negative, multiplier=multiplier)
    if rule.destination.kind == "integer":
        bits, flags = to_integer(product, rule.destination, rule.rounding, saturate=rule.saturate)
    else:
        bits, flags = _float(rule, product)
    return Element(raw, bits, flags, "scaled", negative, multiplier, product)


def _multiplier(relu: Relu, scale: int, activation: int | None) -> int:
    """Return the multiplier of the negative path, an FP32 pattern. Decision 176."""
    if relu is Relu.NONE:
        return scale
    if RELU_PARAMETER[relu] is Parameter.NONE:
        return 0
    assert activation is not None
    return activation


def _shifted(rule: Rule, raw: int, number: Number, amount: int) -> Element:
    """Shift right arithmetically and saturate; bits shifted out raise nothing. Decision 177."""
    value = -number.significand if number.negative else number.significand
    shifted = value >> amount
    kept, flags = _clamped(shifted, rule.destination.integer_bits)
    bits = kept & ((1 << rule.destination.integer_bits) - 1)
    return Element(raw, bits, flags, "shifted", rounded=shifted, saturated=kept, total=kept)


def _clamped(value: int, width: int) -> tuple[int, Status]:
    """Clamp an integer to a signed width in bits."""
    half = 1 << (width - 1)
    kept = min(max(value, -half), half - 1)
    return kept, CLEAR if kept == value else OVERFLOWED


def _special(rule: Rule, number: Number) -> tuple[int, Status]:
    """Convert a NaN, or an infinity whose multiplier is not zero. Decision 180."""
    if rule.destination.kind == "integer":
        return to_integer(number, rule.destination, rule.rounding, saturate=rule.saturate)
    return to_float(number, rule.destination, rule.rounding, saturate=rule.saturate)


def _product(number: Number, multiplier: int) -> Number:
    """Multiply exactly. A zero keeps the sign of its accumulator unless the multiplier is zero.

    An infinity comes here with a zero multiplier only: it becomes the finite value 0.
    """
    factor = FP32.decompose(multiplier)
    negative = number.negative and factor.significand != 0
    return Number(
        negative, number.significand * factor.significand, number.exponent + factor.exponent
    )


def _affine(
    rule: Rule, raw: int, product: Number, offset: int, *, negative: bool, multiplier: int
) -> Element:
    """Round, saturate to the intermediate, add the offset, clamp or wrap. Decisions 177, 178."""
    magnitude, inexact = round_magnitude(
        product.significand, -product.exponent, negative=product.negative, rounding=rule.rounding
    )
    rounded = -magnitude if product.negative else magnitude
    saturated, flags = _clamped(rounded, rule.mode.offset_bits)
    if inexact:
        flags |= Status.NX
    total = saturated + offset
    kept, final = _clamped(total, rule.destination.integer_bits)
    code = (kept if rule.saturate else total) & ((1 << rule.destination.integer_bits) - 1)
    return Element(
        raw, code, flags | final, "affine",
        negative, multiplier, product, rounded, saturated, offset, total,
    )  # fmt: skip


def _float(rule: Rule, product: Number) -> tuple[int, Status]:
    """Encode the exact product once. Decision 180."""
    destination = rule.destination
    if rule.mode.range_first and _beyond(destination, product):
        code = overflow(destination, negative=product.negative, saturate=rule.saturate)
        return code, OVERFLOWED
    code, flags = to_float(product, destination, rule.rounding, saturate=rule.saturate)
    if rule.mode.unsigned_zero and product.significand and code == destination.negative_zero:
        return 0, flags
    return code, flags


def _beyond(destination: Format, product: Number) -> bool:
    """Tell whether a product, before any rounding, lies above the largest finite value."""
    assert destination.max_finite is not None
    most = destination.decompose(destination.max_finite)
    lift = product.exponent - most.exponent
    if lift >= 0:
        return product.significand << min(lift, 512) > most.significand
    return product.significand > most.significand << -lift
