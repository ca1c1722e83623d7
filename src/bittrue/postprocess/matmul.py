"""`matmul_post_process`: a matrix product and its post-processing, without the raw accumulator.

Belongs here: reading operands, the accumulator of a pair of types, the reference product. Never
here: post-processing itself. Clauses: postprocess-and-formats, Decisions 174 to 181. Integer
products are exact; floating ones are as every matrix product of bittrue: terms rounded to FP32
(exact where they fit), added in ascending k from +0, every NaN canonical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bittrue import cpu
from bittrue.conversion import convert, unpack
from bittrue.conversion.arrays import is_packed, read_lanes
from bittrue.encoding import BINARY32, Format, Status, formats
from bittrue.errors import RangeError, RejectedError
from bittrue.generic import arithmetic
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.execute import (
    Backend,
    Codes,
    PostProcessResult,
    StatusRegister,
    Storage,
    executor,
    generic,
    kernel_rule_of,
    publish,
    snapshot,
    storage_for,
)
from bittrue.postprocess.plan import AnyArray, PostProcessPlan, plan_post_process

SUBJECT = "matmul_post_process"

INTEGER_ACCUMULATOR = {"S8": "S32", "S4X2": "S32", "U8": "U32", "U4X2": "U32"}
"""Integer operand types, and the accumulator that holds their exact sums."""

FLOAT_OPERANDS = ("FP16", "BF16", "E4M3", "E5M2")
"""Floating operand types; any two of them accumulate in FP32."""


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """One operand: its format, its lanes as the array stores them, and their logical shape.

    `values` are float32 or int32, `shape` that of the operand once a transposed one is turned.
    """

    fmt: Format
    values: AnyArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]


def matmul_post_process(
    a: Any,
    b: Any,
    control: PostProcess,
    *,
    a_type: str | Format | None = None,
    b_type: str | Format | None = None,
    quant: Any = None,
    activation: Any = None,
    row_max_in: Any = None,
    packed: bool = False,
    d_out: AnyArray | None = None,
    row_max_out: AnyArray | None = None,
    group_max_out: AnyArray | None = None,
    status: StatusRegister | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> PostProcessResult:
    """Multiply (M, K) by (K, N) and post-process the accumulators, which are never stored.

    `a_type` and `b_type` name the formats of codes as `source` does in `convert`; without them the
    arrays' NumPy or ml_dtypes dtypes count. S8 and S4 operands accumulate exactly in S32, U8 and U4
    in U32, any two of FP16, BF16, E4M3 and E5M2 in FP32, ascending in k. Packed 4-bit operands have
    two lanes a byte along the last axis; a last lane that the other operand has no partner for is
    left out. ``control.trans_a`` and ``trans_b`` say that an operand is stored transposed. All
    other arguments and the result are those of `post_process`.

    Raises what `post_process` raises, and after it `RejectedError` of category operand for a rank
    other than 2, a pair of types that has no accumulator, or inner extents that differ;
    `OverflowError` for a finished S32 or U32 sum outside its range. After any of them, outputs and
    `status` are untouched. Decisions 174 to 181.
    """
    chosen, workers = executor(backend, threads, status)
    left = _operand("a", a, a_type, transposed=control.trans_a)
    right = _operand("b", b, b_type, transposed=control.trans_b)
    accumulator = _accumulator(left.fmt, right.fmt)
    left, right = _trimmed(left, right, control)
    plan = plan_post_process(
        control, accumulator, left.shape[0], right.shape[1], quant, activation, row_max_in,
        d_out, row_max_out, group_max_out, packed=packed,
    )  # fmt: skip
    if left.shape[1] != right.shape[0]:
        raise _rejected(
            f"{left.shape[0]} x {left.shape[1]} times {right.shape[0]} x {right.shape[1]}",
            "as many columns of a as rows of b",
        )
    initial = snapshot(row_max_in)
    run = _generic if chosen == "generic" else _kernels
    made, flags = run(plan, left, right, initial, workers)
    return publish(plan, made, flags, (d_out, row_max_out, group_max_out), status)


def _rejected(came: str, accepted: str) -> RejectedError:
    return RejectedError("operand", SUBJECT, came, accepted)


def _operand(name: str, array: Any, source: str | Format | None, *, transposed: bool) -> Operand:
    """Read an operand as values. Category operand."""
    named = formats[source] if isinstance(source, str) else source
    given = np.asarray(array)
    if given.ndim != 2:
        raise _rejected(f"{name} has shape {given.shape}", "two dimensions")
    lanes = read_lanes(given, named, None)
    fmt = lanes.fmt
    if fmt.name in INTEGER_ACCUMULATOR:
        codes = lanes.carriers
        if is_packed(fmt):
            codes = unpack(codes, lanes.lanes[-1])
            if fmt.signed:
                codes = ((codes ^ np.uint8(8)) - np.uint8(8)).view(np.int8)
        elif fmt.signed:
            codes = codes.view(np.int8)
        values = codes.astype(np.int32)
    elif fmt.name in FLOAT_OPERANDS:
        values = convert(lanes.carriers, "FP32", fmt).codes.view(np.float32)
    else:
        raise _rejected(f"{name} is {fmt.name}", ", ".join((*INTEGER_ACCUMULATOR, *FLOAT_OPERANDS)))
    return Operand(fmt, values.T if transposed else values)


def _accumulator(a: Format, b: Format) -> str:
    """Return the accumulator of a pair of types. Category operand."""
    kinds = {INTEGER_ACCUMULATOR.get(fmt.name, "FP32") for fmt in (a, b)}
    if len(kinds) > 1:
        raise _rejected(
            f"{a.name} times {b.name}", "two integers of one signedness or two floats"
        )  # fmt: skip
    return kinds.pop()


def _trimmed(left: Operand, right: Operand, control: PostProcess) -> tuple[Operand, Operand]:
    """Leave out the last lane of a packed inner extent that the other operand has no partner for.

    The inner extent runs along bytes in `a`, and in a transposed `b`.
    """
    spare = left.shape[1] - right.shape[0]
    if spare == 1 and is_packed(left.fmt) and not control.trans_a:
        return Operand(left.fmt, left.values[:, :-1]), right
    if spare == -1 and is_packed(right.fmt) and control.trans_b:
        return left, Operand(right.fmt, right.values[:-1])
    return left, right


def _outside(plan: PostProcessPlan, where: tuple[int, int]) -> RangeError:
    return RangeError(
        SUBJECT, f"the exact sum at {where} is outside {plan.accumulator}",
        f"sums that {plan.accumulator} holds", "split the inner extent",
    )  # fmt: skip


# --- executors ----------------------------------------------------------------------------------


def _kernels(
    plan: PostProcessPlan, left: Operand, right: Operand, initial: Codes | None, threads: int
) -> tuple[Storage, Status]:
    # Into fresh storage always: a sum may still turn out to be outside its accumulator.
    made = storage_for(plan, None, left.values)
    answer = cpu.matmul_post_process_codes(
        kernel_rule_of(plan),
        np.ascontiguousarray(left.values),
        np.ascontiguousarray(right.values),
        initial,
        made.d.view(np.uint8),
        None if made.row_max is None else made.row_max.reshape(-1),
        None if made.group_max is None else made.group_max.reshape(-1),
        threads,
    )
    if not isinstance(answer, int):
        raise _outside(plan, answer)
    return made, Status(answer)


def _generic(
    plan: PostProcessPlan, left: Operand, right: Operand, initial: Codes | None, _threads: int
) -> tuple[Storage, Status]:
    rows, columns = _items(left.values), _items(right.values.T)
    dot = _floating if plan.accumulator == "FP32" else _exact
    codes = []
    for m, row in enumerate(rows):
        sums = [dot(row, column) for column in columns]
        if dot is _exact:
            low = -(1 << 31) if plan.accumulator == "S32" else 0
            for n, value in enumerate(sums):
                if not low <= value < low + (1 << 32):
                    raise _outside(plan, (m, n))
        codes.append([value & 0xFFFF_FFFF for value in sums])
    return generic(plan, codes, initial)


def _items(values: AnyArray) -> list[list[int]]:
    """Return integers, or the codes of floats, as lists."""
    if values.dtype == np.float32:
        values = np.ascontiguousarray(values).view(np.uint32)
    items: list[list[int]] = values.tolist()
    return items


def _exact(row: list[int], column: list[int]) -> int:
    return sum(a * b for a, b in zip(row, column, strict=True))


def _floating(row: list[int], column: list[int]) -> int:
    total = 0
    for a, b in zip(row, column, strict=True):
        total = arithmetic.add(BINARY32, total, arithmetic.mul(BINARY32, a, b))
    return total
