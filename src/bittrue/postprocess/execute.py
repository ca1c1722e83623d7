"""`post_process`: accumulators in; D, maxima and status out, as one atomic group.

Belongs here: the choice of executor, snapshots, publication. Never here: refusals (`plan`), the
rules of a value (`element`, `maxima`) or a kernel. Clause: postprocess-and-formats, Decision 181.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bittrue import cpu
from bittrue._records import shown
from bittrue.conversion import pack
from bittrue.cpu import thread_count
from bittrue.encoding import Status
from bittrue.errors import RefusedTypeError, RefusedValueError, RejectedError
from bittrue.postprocess import words
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.element import Rule
from bittrue.postprocess.modes import Relu
from bittrue.postprocess.parameters import ONE
from bittrue.postprocess.plan import (
    SUBJECT,
    AnyArray,
    PostProcessPlan,
    accumulator_format,
    plan_post_process,
)
from bittrue.postprocess.reference import Parameters, post_process_rows

Backend = Literal["cpu", "generic"]
Codes = npt.NDArray[np.uint32]


class StatusRegister:
    """A mutable holder of sticky flags: they are ORed in at publication and stay until cleared."""

    __slots__ = ("_flags",)

    def __init__(self, flags: Status = Status(0)) -> None:  # noqa: B008 - immutable
        self._flags = Status(flags)

    @property
    def flags(self) -> Status:
        """The flags raised since the last `clear`."""
        return self._flags

    def clear(self) -> None:
        """Lower every flag."""
        self._flags = Status(0)

    def publish(self, flags: Status) -> None:
        """OR flags into the register."""
        self._flags |= flags

    def __repr__(self) -> str:
        return f"StatusRegister({self._flags!r})"


@dataclass(frozen=True, slots=True, eq=False)
class PostProcessResult:
    """The output group of one call.

    `d` has the shape and dtype of the plan, `row_max` and `group_max` the dtype of the accumulator
    (None where they are not enabled); `status` is the OR of all flags. Outputs that the caller gave
    are these arrays.
    """

    d: AnyArray
    row_max: AnyArray | None
    group_max: AnyArray | None
    status: Status


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """Arrays that an executor fills: D codes, maxima codes."""

    d: AnyArray
    row_max: AnyArray | None
    group_max: AnyArray | None


def post_process(
    accumulator: Any,
    control: PostProcess,
    quant: Any = None,
    activation: Any = None,
    row_max_in: Any = None,
    packed: bool = False,  # noqa: FBT001, FBT002 - the documented positional order
    d_out: AnyArray | None = None,
    row_max_out: AnyArray | None = None,
    group_max_out: AnyArray | None = None,
    status: StatusRegister | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> PostProcessResult:
    """Post-process a matrix of raw accumulators, bit-exact, with maxima and status.

    `accumulator` is an M x N array of float32, int32 or uint32, of any strides. `quant` and
    `activation` are parameter words: one for a scalar mode, (N,) or (1, N) for a vector mode;
    `row_max_in` is (M, 1) or (M,) of the accumulator's dtype. D is float32, float16, int8, int16,
    int32 or uint32, or the codes of BF16 (uint16), E4M3, HiF8 and S4X2 (uint8: a lane in the low
    nibble of each byte, or with `packed` two a byte, low nibble first, (M, ceil(N/2))). RowMax is
    (M, 1), GroupMax (M, ceil(N/group_n)), both of the raw accumulators. `d_out`, `row_max_out` and
    `group_max_out` take the results at publication, `status` the OR of all flags. The bits do not
    depend on `backend` ("cpu", the default, or "generic") nor on `threads`.

    Raises `RejectedError` (a `ValueError`) with a `category` (accumulator, parameter, shape,
    output) before anything is allocated, `TypeError` for an argument of another kind, `ValueError`
    for an unknown backend or a thread count below 1. After any of them, outputs and `status` are
    untouched. Decisions 174 to 181.
    """
    chosen, workers = executor(backend, threads, status)
    array = np.asarray(accumulator)
    if array.ndim != 2 and accumulator_format(array.dtype) is not None:
        raise RejectedError(
            "shape", f"{SUBJECT}: accumulator", f"shape {array.shape}", "M x N: two dimensions"
        )
    m, n = array.shape if array.ndim == 2 else (1, 1)
    plan = plan_post_process(
        control, array.dtype, m, n, quant, activation, row_max_in,
        d_out, row_max_out, group_max_out, packed=packed,
    )  # fmt: skip
    initial = snapshot(row_max_in)
    codes = codes_of(array)
    if chosen == "generic":
        made, flags = generic(plan, codes.tolist(), initial)
    else:
        made = storage_for(plan, d_out, array)
        flags = run_kernels(kernel_rule_of(plan), codes, initial, made, workers)
    return publish(plan, made, flags, (d_out, row_max_out, group_max_out), status)


def executor(backend: object, threads: int | None, status: object) -> tuple[str, int]:
    """Check the arguments that say how to run; return the backend and the number of threads."""
    if backend not in (None, "cpu", "generic"):
        raise RefusedValueError(f"{SUBJECT}: backend", shown(backend), "'cpu' or 'generic'")
    if status is not None and not isinstance(status, StatusRegister):
        raise RefusedTypeError(f"{SUBJECT}: status", f"got {shown(status)}", "a StatusRegister")
    return str(backend or "cpu"), thread_count(threads)


def codes_of(array: AnyArray) -> Codes:
    """Return accumulators as codes in the native byte order, a view where it can be."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return native.view(np.uint32)


def snapshot(row_max_in: Any) -> Codes | None:
    """Return a copy of RowMaxIn as codes: its storage may be that of an output."""
    return None if row_max_in is None else codes_of(np.asarray(row_max_in)).flatten()


def publish(
    plan: PostProcessPlan,
    made: Storage,
    flags: Status,
    outputs: tuple[AnyArray | None, AnyArray | None, AnyArray | None],
    status: StatusRegister | None,
) -> PostProcessResult:
    """Publish the output group: everything was computed, nothing can be refused any more."""
    dtype = plan.accumulator_dtype
    typed = (
        made.d.view(plan.d_dtype),
        None if made.row_max is None else made.row_max.view(dtype),
        None if made.group_max is None else made.group_max.view(dtype),
    )
    published: list[AnyArray | None] = []
    for result, given in zip(typed, outputs, strict=True):
        if given is not None and result is not None and not _same(given, result):
            # Codes are copied as codes: a float copy may quiet a signaling NaN.
            bits = np.dtype(f"u{given.dtype.itemsize}")
            given.view(bits)[...] = result.view(bits).reshape(given.shape)
        published.append(result if given is None else given)
    if status is not None:
        status.publish(flags)
    d, row_max, group_max = published
    assert d is not None
    return PostProcessResult(d, row_max, group_max, flags)


def _same(given: AnyArray, result: AnyArray) -> bool:
    """Tell whether a result was computed in place."""
    first, second = given.__array_interface__, result.__array_interface__
    return bool(first["data"] == second["data"] and given.strides == result.strides)


# --- the kernels --------------------------------------------------------------------------------


def kernel_rule_of(plan: PostProcessPlan) -> Any:
    """Hand the plan and its decoded words to the extension."""
    control, mode = plan.control, plan.control.mode
    rule = Rule.of(control, plan.accumulator)
    one, zero = np.full(1, ONE, np.uint32), np.zeros(1, np.int32)
    has_words = len(plan.quant) > 0
    parameters = cpu.KernelParameters(
        scale=words.scales_of(plan.quant) if mode.has_scale else one,
        activation=(
            words.activations_of(plan.activation)
            if len(plan.activation)
            else np.zeros(1, np.uint32)
        ),
        offset=words.offsets_of(mode, plan.quant) if mode.offset_bits else zero,
        amount=words.shifts_of(plan.quant) if mode.shift and has_words else zero,
    )
    return cpu.kernel_rule(
        rule.source,
        rule.destination,
        parameters,
        rule.rounding,
        copies=rule.copies,
        shift=mode.shift,
        offset_bits=mode.offset_bits,
        saturate=control.saturate,
        relu=control.relu is not Relu.NONE,
        range_first=mode.range_first,
        unsigned_zero=mode.unsigned_zero,
        packed=plan.packed,
        row_max=control.row_max,
        group_n=control.group_n,
        max_abs=control.max_abs,
    )


def storage_for(plan: PostProcessPlan, d_out: AnyArray | None, source: AnyArray) -> Storage:
    """Allocate the output group.

    The kernels write into the caller's D where it is contiguous and shares no storage with the
    accumulator: once they run nothing fails, so that this too is the moment of publication.
    """
    carrier = np.dtype(f"u{plan.d_dtype.itemsize}")
    direct = (
        d_out is not None
        and d_out.flags.c_contiguous
        and d_out.flags.aligned
        and not np.may_share_memory(d_out, source)
    )
    return Storage(
        d_out.view(carrier) if direct and d_out is not None else np.empty(plan.d_shape, carrier),
        None if plan.row_max_shape is None else np.empty(plan.row_max_shape, np.uint32),
        None if plan.group_max_shape is None else np.empty(plan.group_max_shape, np.uint32),
    )


def run_kernels(
    rule: Any, codes: Codes, initial: Codes | None, made: Storage, threads: int
) -> Status:
    """Fill the output group; return the OR of all flags."""
    raw = codes
    if raw.strides[1] != raw.itemsize or raw.strides[0] % raw.itemsize or not raw.flags.aligned:
        raw = np.ascontiguousarray(raw)
    return Status(
        cpu.post_process_codes(
            rule,
            raw,
            initial,
            made.d.view(np.uint8),
            None if made.row_max is None else made.row_max.reshape(-1),
            None if made.group_max is None else made.group_max.reshape(-1),
            threads,
        )
    )


# --- the reference ------------------------------------------------------------------------------


def generic(
    plan: PostProcessPlan, codes: list[list[int]], initial: Codes | None
) -> tuple[Storage, Status]:
    """Run the reference on lists of codes."""
    outputs = post_process_rows(
        plan.control,
        plan.accumulator,
        codes,
        Parameters.of(plan.control, plan.n, plan.quant.tolist(), plan.activation.tolist()),
        None if initial is None else initial.tolist(),
    )
    d = np.array(outputs.d, f"u{plan.d_dtype.itemsize}")
    shape = plan.row_max_shape
    return (
        Storage(
            pack(d) if plan.packed else d,
            None if shape is None else np.array(outputs.row_max, np.uint32).reshape(shape),
            None if plan.group_max_shape is None else np.array(outputs.group_max, np.uint32),
        ),
        outputs.status,
    )
