"""Post-processing of rows of accumulators by the compiled kernels.

Belongs here: handing decoded parameters and arrays to the extension. Never here: which controls and
words are legal, layouts, publication (`postprocess`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bittrue.cpu import _native
from bittrue.cpu.convert import _lane_type as lane_type
from bittrue.encoding import Format, Rounding

# The codes of `Accumulator` in native/postprocess.h.
_ACCUMULATORS = {"FP32": 0, "S32": 1, "U32": 2}

Codes = NDArray[np.uint32]
Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class KernelParameters:
    """Decoded parameters: one value, or one for each column.

    `scale` and `activation` are FP32 patterns, `offset` signed, `amount` of a shift in bits.
    """

    scale: Codes
    activation: Codes
    offset: Integers
    amount: Integers


def kernel_rule(
    accumulator: Format,
    destination: Format,
    parameters: KernelParameters,
    rounding: Rounding,
    *,
    copies: bool,
    shift: bool,
    offset_bits: int,
    saturate: bool,
    relu: bool,
    range_first: bool,
    unsigned_zero: bool,
    packed: bool,
    row_max: bool,
    group_n: int,
    max_abs: bool,
) -> _native.PostProcessing:
    """Return the rule of one call, as the kernels read it."""
    return _native.PostProcessing(
        accumulator=_ACCUMULATORS[accumulator.name],
        source=lane_type(accumulator),
        destination=lane_type(destination),
        copies=copies,
        shift=shift,
        offset_bits=offset_bits,
        rounding=int(rounding),
        saturate=saturate,
        relu=relu,
        range_first=range_first,
        unsigned_zero=unsigned_zero,
        packed=packed,
        scale=parameters.scale,
        activation=parameters.activation,
        offset=parameters.offset,
        amount=parameters.amount,
        row_max=row_max,
        group_n=group_n,
        max_abs=max_abs,
    )


def post_process_codes(
    rule: _native.PostProcessing,
    raw: Codes,
    initial: Codes | None,
    d: NDArray[np.uint8],
    row_max: Codes | None,
    group_max: Codes | None,
    threads: int,
) -> int:
    """Post-process `raw` into `d` and the maxima; return the OR of all flags.

    `raw` is (M, N) with contiguous columns, `d` the bytes of M rows of carriers, likewise; the
    maxima are flat. Nothing is refused
    after the first write.
    """
    return _native.post_process(rule, raw, initial, d, row_max, group_max, threads)


def matmul_post_process_codes(
    rule: _native.PostProcessing,
    a: NDArray[Any],
    b: NDArray[Any],
    initial: Codes | None,
    d: NDArray[np.uint8],
    row_max: Codes | None,
    group_max: Codes | None,
    threads: int,
) -> int | tuple[int, int]:
    """Post-process the product of (M, K) and (K, N); return all flags.

    Both operands are contiguous, float32 for FP32 accumulators and int32 else. Where an integer sum
    is outside its accumulator, the row and column of the first one come instead of the flags and
    the outputs are incomplete.
    """
    return _native.matmul_post_process(rule, a, b, initial, d, row_max, group_max, threads)
