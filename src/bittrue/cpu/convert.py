"""Conversion of arrays of lanes by the compiled kernels.

Belongs here: handing a `Format` and arrays to the extension. Never here: which pairs are legal,
strides, the refusal of invalid lanes (`conversion`), what a lane converts to (`encoding`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bittrue.cpu import _native
from bittrue.dtypes import Specials
from bittrue.encoding import Format, Rounding

# The codes of `Kind` and `Specials` in native/lane.h.
_KINDS = {"integer": 0, "fixed": 1, "variable": 2, "scale": 3}
_SPECIALS = {
    Specials.IEEE: 0,
    Specials.LAST: 1,
    Specials.NONE: 2,
    Specials.NO_SUBNORMAL: 3,
    Specials.SCALE: 4,
    Specials.TAPERED: 5,
}


def convert_lanes(
    source: Format,
    destination: Format,
    carriers: NDArray[Any],
    out: NDArray[Any],
    count: int,
    rounding: Rounding,
    *,
    saturate: bool,
    random_bits: NDArray[np.uint32] | None,
    flags: NDArray[np.uint8] | None,
    threads: int,
) -> int:
    """Convert `count` valid lanes from `carriers` into `out`; return the OR of their flags.

    Both arrays are one-dimensional, contiguous, aligned and of unsigned integers as wide as a
    carrier; packed lanes stand two a byte, low nibble first. `random_bits` (with rounding NONE)
    and `flags` have an element for each lane. `out` may be `carriers` itself if lanes are as wide.
    Raises `ValueError` for an array that does not fit, before anything is written.
    """
    return _native.convert_lanes(
        _lane_type(source),
        _lane_type(destination),
        carriers,
        out,
        count,
        int(rounding),
        saturate,
        random_bits,
        flags,
        threads,
    )


def first_invalid(source: Format, carriers: NDArray[Any], count: int, threads: int) -> int:
    """Return the index of the first lane that has a bit set that must be zero, -1 without one."""
    if not source.low_zero_bits and not source.high_zero_bits:
        return -1
    return _native.first_invalid(_lane_type(source), carriers, count, threads)


@lru_cache(maxsize=256)
def _lane_type(fmt: Format) -> _native.LaneType:
    """Return the facts of a format that the kernels read."""
    lane = fmt.integer_bits if fmt.kind == "integer" else fmt.lane_bits
    # Of the types, those of 4 bits stand two a byte; a user's format is alone in its carrier.
    packed = fmt.lanes_per_carrier > 1 or fmt.integer_bits == 4
    word = lane if packed or fmt.kind == "integer" else fmt.carrier_bits
    magnitude = fmt.lane_bits if fmt.sign_bit is None else fmt.sign_bit
    high = ((1 << fmt.high_zero_bits) - 1) << (fmt.carrier_bits - fmt.high_zero_bits)
    return _native.LaneType(
        kind=_KINDS[fmt.kind],
        specials=_SPECIALS[fmt.specials or Specials.NONE],
        word_bits=word,
        packed=packed,
        is_signed=fmt.signed,
        sign_bit=-1 if fmt.sign_bit is None else fmt.sign_bit,
        exponent_bits=fmt.exponent_bits[1],
        fraction_bits=fmt.fraction_bits[1],
        bias=fmt.bias or 0,
        emin=fmt.emin,
        low_zero_bits=fmt.low_zero_bits,
        has_signed_zero=fmt.has_signed_zero,
        has_subnormal=fmt.has_subnormal,
        zero_mask=high | ((1 << fmt.low_zero_bits) - 1),
        magnitude_mask=(1 << magnitude) - 1,
        max_finite=fmt.max_finite or 0,
        infinity=fmt.positive_infinity,
        canonical_nan=fmt.canonical_nan,
    )
