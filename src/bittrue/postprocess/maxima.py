"""RowMax and GroupMax: fixed-order maxima of raw accumulators.

Belongs here: one step and the order of steps. Never here: conversion or activation, which do not
change these results. Clauses: postprocess-and-formats, Decisions 175 and 181.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bittrue.encoding import BINARY32, Status

CLEAR = Status(0)
SIGN = 1 << 31

Step = Callable[[int, int, bool], tuple[int, Status]]
"""(left, right, whether of magnitudes) to (maximum, flags); codes of 32 bits."""


def step_fp32(left: int, right: int, max_abs: bool) -> tuple[int, Status]:  # noqa: FBT001 - Step
    """Maximum of two FP32: a number beats a NaN, +0 beats -0, two NaNs give the canonical one."""
    if max_abs:
        left, right = left & ~SIGN, right & ~SIGN
    signaling = BINARY32.is_signaling(left) or BINARY32.is_signaling(right)
    flags = Status.NV if signaling else CLEAR
    if BINARY32.is_nan(left):
        return BINARY32.quiet_nan if BINARY32.is_nan(right) else right, flags
    if BINARY32.is_nan(right):
        return left, flags
    # Of numbers of one sign the codes ascend with the magnitudes; the sign bit puts -0 below +0.
    return max(left, right, key=_order_fp32), flags


def _order_fp32(code: int) -> int:
    return -1 - (code & ~SIGN) if code & SIGN else code


def step_s32(left: int, right: int, max_abs: bool) -> tuple[int, Status]:  # noqa: FBT001 - Step
    """Signed maximum; the magnitude of the least value is the greatest value, with overflow."""
    flags = CLEAR
    values = [code - ((code & SIGN) << 1) for code in (left, right)]
    if max_abs:
        if -SIGN in values:
            flags = Status.OF
        values = [min(abs(value), SIGN - 1) for value in values]
    return max(values) & (2 * SIGN - 1), flags


def step_u32(left: int, right: int, max_abs: bool) -> tuple[int, Status]:  # noqa: ARG001, FBT001
    """Unsigned maximum; a magnitude is the value itself."""
    return max(left, right), CLEAR


STEPS: dict[str, Step] = {"FP32": step_fp32, "S32": step_s32, "U32": step_u32}
"""The step of each accumulator format."""


def maximum(accumulator: str, codes: Sequence[int], *, max_abs: bool) -> tuple[int, Status]:
    """Combine codes in increasing column order; one code alone is copied unless magnitudes count.

    `codes` holds at least one.
    """
    step = STEPS[accumulator]
    value, flags = codes[0], CLEAR
    if max_abs:
        value, flags = step(value, value, max_abs)
    for code in codes[1:]:
        value, raised = step(value, code, max_abs)
        flags |= raised
    return value, flags


def row_maximum(
    accumulator: str, codes: Sequence[int], initial: int | None, *, max_abs: bool
) -> tuple[int, Status]:
    """Return the maximum of a row, combined at the end with `initial` where there is one."""
    value, flags = maximum(accumulator, codes, max_abs=max_abs)
    if initial is not None:
        value, raised = STEPS[accumulator](initial, value, max_abs)
        flags |= raised
    return value, flags


def group_maxima(
    accumulator: str, codes: Sequence[int], group_n: int, *, max_abs: bool
) -> tuple[list[int], Status]:
    """Return the maxima of groups of `group_n` columns; the last group may be short."""
    values, flags = [], CLEAR
    for first in range(0, len(codes), group_n):
        value, raised = maximum(accumulator, codes[first : first + group_n], max_abs=max_abs)
        values.append(value)
        flags |= raised
    return values, flags
