"""Block-scaled arrays: one scale for a block of elements along the last axis.

Belongs here: scales, and elements divided by them, exactly. Never here: the rounding of an
element, which is a conversion, or which block-scaled dtypes exist (the compound dtypes of the one
list). Beyond the requirement; the MX rows follow the OCP Microscaling Formats specification 1.0.

Theory. Every value that enters is a binary32 number at most, so v/2^k lies in binary64 exactly.
Where the scale is no power of two, the quotient of a 24-bit and a 28-bit integer is taken as an
integer of at least 35 bits with a sticky bit below: no value at which any rounding to the element
type, a stochastic one with 32 random bits included, changes its answer lies strictly between that
and the exact quotient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bittrue._records import shown
from bittrue.conversion.arrays import format_of_dtype, is_packed
from bittrue.conversion.convert import Converted, convert
from bittrue.dtypes import CompoundDType
from bittrue.encoding import Format, Rounding, Status, formats
from bittrue.errors import (
    RefusedTypeError,
    RefusedValueError,
    RejectedError,
    UnsupportedError,
)

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
ScaleRounding = Literal["floor", "ceil", "rceil", "even"]

INT8_FRACTION = 6
"""Fraction bits of the Int8 element: its value is k/64."""

_NO_FLAGS = Status(0)
LEAST_TENSOR_SCALE = 2.0**-126
SCALE_ROUNDINGS = ("floor", "ceil", "rceil", "even")


@dataclass(frozen=True, slots=True, eq=False)
class BlockScaled:
    """A block-scaled array.

    `dtype` is the compound dtype; `codes` the element carriers of shape (..., N), 4-bit elements
    packed two a byte; `scales` the scale codes of shape (..., ceil(N/block)); `tensor_scale` a
    float32 scalar where the dtype has one for the tensor, else None; `status` the OR of all flags.
    `count` is N; None means every lane that `codes` hold.
    """

    dtype: CompoundDType
    codes: npt.NDArray[Any]
    scales: npt.NDArray[Any]
    tensor_scale: np.float32 | None = None
    status: Status = _NO_FLAGS
    count: int | None = None


@dataclass(frozen=True, slots=True)
class _Scheme:
    """A compound dtype as the arithmetic needs it."""

    dtype: CompoundDType
    element: Format
    scale: Format
    block: int
    has_tensor_scale: bool

    @property
    def fraction_bits(self) -> int:
        return INT8_FRACTION if self.element.kind == "integer" else self.element.fraction_bits[1]

    @property
    def max_value(self) -> float:
        if self.element.kind == "integer":
            return 127 / (1 << INT8_FRACTION)
        assert self.element.max_finite is not None
        return float(self.element.value(self.element.max_finite))

    @property
    def emax(self) -> int:
        return int(np.frexp(self.max_value)[1]) - 1


def quantize_blocks(
    array: Any,
    element: str | Format,
    scale: str | Format = "e8m0",
    block: int | None = None,
    *,
    rounding: str | int | Rounding = "NONE",
    scale_rounding: ScaleRounding = "floor",
    tensor_scale: float | np.float32 | None = None,
    random_bits: Any = None,
    backend: Literal["cpu", "generic"] | None = None,
    threads: int | None = None,
) -> BlockScaled:
    """Quantize `array` of shape (..., N) to elements that share a scale in each block.

    `array` is a float array that binary32 holds exactly (FP32, FP16, BF16 and narrower); `element`
    and `scale` name the planes of a compound dtype (E4M3, E5M2, E3M2, E2M3, E2M1 or Int8 over
    E8M0; E2M1 over E4M3 is NVFP4), `block` its block along the last axis (None: that of the
    dtype), whose last one may be short. `rounding` and `random_bits` act on the elements, which
    saturate; `scale_rounding` chooses the power of two of an E8M0 scale from the largest finite
    magnitude. `tensor_scale` is the binary32 scale of the tensor where the dtype has one (None:
    computed).

    A NaN gives a NaN element where the element has one; elsewhere the scale is NaN, raises NV, and
    the elements of the block are 0. Infinities become the largest finite element.

    Raises `TypeError` for arrays of another kind, `RejectedError` (categories pair, mode, shape,
    parameter) for what no compound dtype has and a tensor scale that is not positive and normal.
    """
    scheme = _scheme(_fmt(element), _fmt(scale), block)
    if scale_rounding not in SCALE_ROUNDINGS:
        raise RefusedValueError(
            "quantize_blocks: scale_rounding", shown(scale_rounding), ", ".join(SCALE_ROUNDINGS)
        )
    if scheme.scale.kind != "scale" and scale_rounding != "floor":
        raise RejectedError(
            "mode",
            "quantize_blocks: scale_rounding",
            f"{scale_rounding!r} with scales of {scheme.scale.name}",
            "'floor', the default: these scales round to nearest even",
        )
    given = _tensor_scale(scheme, tensor_scale)
    values, signaling = _values(array, threads)
    blocks = _in_blocks(values, scheme.block)
    finite = np.isfinite(blocks)
    amax: Doubles = np.max(np.abs(blocks), axis=-1, where=finite, initial=0.0)
    has_nan: Mask = np.any(np.isnan(blocks), axis=-1)
    has_infinity: Mask = np.any(np.isinf(blocks), axis=-1)
    if scheme.has_tensor_scale:
        given = _computed_tensor_scale(scheme, amax) if given is None else given
        scales, factors = _float_scales(scheme, amax, given)
    else:
        scales, factors = _power_scales(scheme, amax, scale_rounding)
    largest = scheme.scale.max_finite
    assert largest is not None
    scales[(amax == 0) & has_infinity] = largest
    factors[(amax == 0) & has_infinity] = float(scheme.scale.value(largest)) * float(given or 1)
    status = Status(0)
    lost = None
    if scheme.element.has_quiet_nan:
        status |= Status.NV if signaling else Status(0)
    elif has_nan.any():
        assert scheme.scale.canonical_nan is not None
        scales[has_nan] = scheme.scale.canonical_nan
        lost = _per_element(has_nan, scheme.block, values.shape[-1])
        status |= Status.NV
    each = _per_element(factors, scheme.block, values.shape[-1])
    nan = np.isnan(values)
    scaled = np.where(nan, 0.0, values)
    if lost is not None:
        scaled[lost] = 0.0
    if scheme.has_tensor_scale:
        scaled = _quotient(scaled, each)
    else:
        scaled = scaled / each * (1 << INT8_FRACTION if scheme.element.kind == "integer" else 1)
    codes, flags = _elements(scheme, scaled, nan, rounding, random_bits, backend, threads)
    return BlockScaled(
        scheme.dtype, codes, scales, given, Status(status | flags), int(values.shape[-1])
    )


def dequantize_blocks(
    blocks: BlockScaled,
    destination: str | Format = "fp32",
    *,
    rounding: str | int | Rounding = "NONE",
    saturate: bool = False,
    backend: Literal["cpu", "generic"] | None = None,
    threads: int | None = None,
) -> Converted:
    """Return element times scale, the exact product rounded once to `destination`, a float type.

    Shape (..., N). The status holds the flags of that conversion, and NV for a signaling NaN
    element. Raises `TypeError` for anything but a `BlockScaled`, `RejectedError` (category shape)
    where its arrays do not fit each other, and as `convert` does.
    """
    if not isinstance(blocks, BlockScaled):
        raise RefusedTypeError("dequantize_blocks", f"got {shown(blocks)}", "a BlockScaled")
    scheme = _scheme_of(blocks.dtype)
    target = _fmt(destination)
    if target.kind not in ("fixed", "variable"):
        raise RejectedError("pair", "dequantize_blocks", f"destination {target.name}", "a float")
    given = _tensor_scale(scheme, blocks.tensor_scale)
    if scheme.has_tensor_scale and given is None:
        raise RejectedError(
            "parameter", f"{scheme.dtype.name}: tensor_scale", "is missing", "a binary32 scale"
        )
    read = convert(
        blocks.codes, "fp64", scheme.element, count=blocks.count if is_packed(scheme.element)
        else None, backend=backend, threads=threads,
    )  # fmt: skip
    values: Doubles = read.array
    count = values.shape[-1] if values.ndim else 0
    wanted = (*values.shape[:-1], -(-count // scheme.block))
    if not values.ndim or blocks.scales.shape != wanted:
        raise RejectedError(
            "shape",
            f"{scheme.dtype.name}: scales",
            f"shape {blocks.scales.shape}",
            f"{wanted}, one for each {scheme.block} of {count} elements",
        )
    scales: Doubles = convert(
        blocks.scales, "fp64", scheme.scale, backend=backend, threads=threads
    ).array
    each = _per_element(scales, scheme.block, count)
    with np.errstate(invalid="ignore"):  # an infinity under a NaN scale is a NaN
        product = values * each * float(given or 1)
    if scheme.element.kind == "integer":
        product /= 1 << INT8_FRACTION
    result = convert(
        product, target, None, rounding, saturate, backend=backend, threads=threads
    )  # fmt: skip
    return Converted(
        result.codes, Status(result.status | (read.status & Status.NV)), target, result.lanes
    )


# --- schemes --------------------------------------------------------------------------------------


def _fmt(name: str | Format) -> Format:
    return name if isinstance(name, Format) else formats[name]


def _scheme(element: Format, scale: Format, block: int | None) -> _Scheme:
    every = (_scheme_or_none(dtype) for dtype in CompoundDType.registered())
    offered = [scheme for scheme in every if scheme is not None]
    for scheme in offered:
        planes = (scheme.element.name, scheme.scale.name)
        if planes == (element.name, scale.name) and block in (None, scheme.block):
            return scheme
    known = "; ".join(f"{s.element.name} over {s.scale.name} in {s.block}" for s in offered)
    came = f"{element.name} over {scale.name}" + ("" if block is None else f" in blocks of {block}")
    raise RejectedError(
        "pair", "quantize_blocks", came, f"a compound dtype: {known}", "register a CompoundDType"
    )


def _scheme_of(dtype: object) -> _Scheme:
    if not isinstance(dtype, CompoundDType):
        raise RefusedTypeError("block-scaled dtype", f"got {shown(dtype)}", "a CompoundDType")
    scheme = _scheme_or_none(dtype)
    if scheme is None:
        raise UnsupportedError(
            dtype.name,
            "no planes that block scaling knows",
            "planes (element, scale[, tensor scale]) of formats, and blocks (1, N[, None])",
        )
    return scheme


def _scheme_or_none(dtype: CompoundDType) -> _Scheme | None:
    planes, blocks = dtype.simple_types, dtype.blocks
    if blocks is None or len(planes) not in (2, 3) or blocks[0] != 1 or blocks[1] is None:
        return None
    known = {fmt.dtype: fmt for fmt in formats.values() if fmt.dtype is not None}
    element, scale = (known.get(plane.name) for plane in planes[:2])
    if element is None or scale is None or not scale.available:
        return None
    return _Scheme(dtype, element, scale, blocks[1], has_tensor_scale=len(planes) == 3)


def _tensor_scale(scheme: _Scheme, given: object) -> np.float32 | None:
    if given is None:
        return None
    subject = f"{scheme.dtype.name}: tensor_scale"
    if not scheme.has_tensor_scale:
        raise RejectedError("parameter", subject, f"{given}", "none: this dtype has no such plane")
    if isinstance(given, bool) or not isinstance(given, int | float | np.floating):
        raise RefusedTypeError(subject, f"got {shown(given)}", "a float")
    with np.errstate(over="ignore", under="ignore"):
        held = np.float32(given)
    if not (np.isfinite(held) and held >= LEAST_TENSOR_SCALE) or float(held) != float(given):
        raise RejectedError(
            "parameter",
            subject,
            f"{given!r}",
            "a positive, finite and normal binary32 number",
            "round it with numpy.float32",
        )
    return held


# --- reading ------------------------------------------------------------------------------------


def _values(array: Any, threads: int | None) -> tuple[Doubles, bool]:
    """Return the values as binary64, and whether one was a signaling NaN."""
    given = np.asarray(array)
    fmt = format_of_dtype(given.dtype)
    if fmt.kind not in ("fixed", "variable") or fmt.carrier_bits > 32:
        raise RefusedTypeError(
            "quantize_blocks: array",
            f"dtype {given.dtype}",
            "floats that binary32 holds exactly",
            "convert it to float32 first",
        )
    if not given.ndim:
        raise RejectedError("shape", "quantize_blocks: array", "shape ()", "at least one axis")
    wide = convert(given, "fp64", threads=threads)
    return wide.array, bool(wide.status & Status.NV)


def _in_blocks(values: Doubles, block: int) -> Doubles:
    """Return shape (..., blocks, block); a short last block is filled with zeros."""
    short = -values.shape[-1] % block
    if short:
        values = np.concatenate([values, np.zeros((*values.shape[:-1], short))], axis=-1)
    return values.reshape(*values.shape[:-1], values.shape[-1] // block, block)


def _per_element(of_block: npt.NDArray[Any], block: int, count: int) -> npt.NDArray[Any]:
    return np.repeat(of_block, block, axis=-1)[..., :count]


# --- scales -------------------------------------------------------------------------------------


def _power_scales(
    scheme: _Scheme, amax: Doubles, how: ScaleRounding
) -> tuple[npt.NDArray[np.uint8], Doubles]:
    """Return the codes and values of power-of-two scales."""
    significand, exponent = np.frexp(amax)  # significand in [1/2, 1)
    power = exponent.astype(np.int64) - 1
    if how == "ceil":
        power += significand > 0.5
    elif how == "rceil":
        power += significand > np.frexp(scheme.max_value)[0]
    elif how == "even":
        # Rounded to the precision of the element, a magnitude may reach the next power of two.
        power += np.rint(np.ldexp(significand, scheme.fraction_bits + 1)) == 2.0 ** (
            scheme.fraction_bits + 1
        )
    bias = scheme.scale.bias
    assert bias is not None
    power = np.clip(power - scheme.emax, -bias, bias)
    power[amax == 0] = -bias
    return (power + bias).astype(np.uint8), np.ldexp(1.0, power)


def _computed_tensor_scale(scheme: _Scheme, amax: Doubles) -> np.float32:
    largest = scheme.scale.max_finite
    assert largest is not None
    reach = scheme.max_value * float(scheme.scale.value(largest))
    # A quotient of 24-bit by 12-bit integers is never so near a tie that binary64 hides it.
    quotient = float(np.max(amax, initial=0.0)) / reach
    return np.float32(max(quotient, LEAST_TENSOR_SCALE))


def _float_scales(
    scheme: _Scheme, amax: Doubles, tensor: np.float32
) -> tuple[npt.NDArray[np.uint8], Doubles]:
    """Return the codes of float scales, and their values times the tensor scale."""
    wanted = _quotient(amax, np.full(amax.shape, scheme.max_value * float(tensor)))
    codes = convert(wanted, scheme.scale, None, "RNE", saturate=True).codes
    codes[(amax > 0) & (codes == 0)] = 1
    values: Doubles = convert(codes, "fp64", scheme.scale).array
    return codes, values * float(tensor)


def _quotient(numerator: Doubles, denominator: Doubles) -> Doubles:
    """Return numerator/denominator truncated to at least 35 bits, with a sticky bit below.

    Numerators have at most 24 significant bits, denominators at most 28; infinities stay, and a
    zero denominator only stands under zeros.
    """
    result = np.copysign(np.where(np.isinf(numerator), np.inf, 0.0), numerator)
    usable = np.isfinite(numerator) & (numerator != 0)
    a, above = np.frexp(np.abs(numerator[usable]))
    b, below = np.frexp(denominator[usable])
    # 63 bits over 28 bits, both integers.
    dividend = np.ldexp(a, 24).astype(np.uint64) << np.uint64(39)
    divisor = np.ldexp(b, 28).astype(np.uint64)
    whole, rest = np.divmod(dividend, divisor)
    digits = (whole << np.uint64(1)) | (rest != 0).astype(np.uint64)
    magnitude = np.ldexp(digits.astype(np.float64), above - below - 24 - 39 + 28 - 1)
    result[usable] = np.copysign(magnitude, numerator[usable])
    return result


# --- elements -------------------------------------------------------------------------------------


def _elements(
    scheme: _Scheme,
    scaled: Doubles,
    nan: Mask,
    rounding: str | int | Rounding,
    random_bits: Any,
    backend: Literal["cpu", "generic"] | None,
    threads: int | None,
) -> tuple[npt.NDArray[Any], Status]:
    """Round scaled values to element codes."""
    integer = scheme.element.kind == "integer"
    mode = rounding
    if integer and random_bits is None and rounding in ("NONE", Rounding.NONE, 0):
        mode = Rounding.RNE  # a conversion to an integer would truncate
    result = convert(
        scaled, scheme.element, None, mode, saturate=True,
        random_bits=random_bits, backend=backend, threads=threads,
    )  # fmt: skip
    codes, status = result.codes, result.status
    if integer:
        # The range is symmetric: -128 is clamped like what lies beyond it.
        least = codes == 0x80
        if least.any():
            codes[least] = 0x81
            status |= Status.OF | Status.NX
    elif scheme.element.canonical_nan is not None:
        codes[nan] = scheme.element.canonical_nan
    return codes, Status(status)
