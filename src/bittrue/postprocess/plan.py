"""Plans of post-processing: every refusal, before anything is read, allocated or written.

Belongs here: what is legal for a control record, an accumulator dtype, a shape, parameters and
outputs; the shapes and dtypes of the output group. Never here: values. Clauses:
postprocess-and-formats, Decisions 174 to 181. Faults are reported in the order accumulator,
parameter, shape, output; construction of the record found encoding, fields and control before.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue._records import shown
from bittrue.dtypes import SimpleDType
from bittrue.encoding import Format, Rounding, formats
from bittrue.errors import RefusedTypeError, RejectedError
from bittrue.postprocess import parameters
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.modes import ACCUMULATORS, RELU_PARAMETER, Parameter, Relu
from bittrue.postprocess.words import (
    Given,
    Words,
    first_illegal_activation,
    first_illegal_quant,
    read_words,
)

AnyArray = npt.NDArray[Any]

SUBJECT = "post_process"

D_DTYPES: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype(np.float32),
    "S32": np.dtype(np.int32),
    "U32": np.dtype(np.uint32),
    "FP16": np.dtype(np.float16),
    "BF16": np.dtype(np.uint16),
    "S16": np.dtype(np.int16),
    "S8": np.dtype(np.int8),
    "S4X2": np.dtype(np.uint8),
    "E4M3": np.dtype(np.uint8),
    "HiF8": np.dtype(np.uint8),
}
"""The NumPy dtype of D and of accumulators; BF16, E4M3, HiF8 and S4X2 are codes."""

_NO_WORDS = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class PostProcessPlan:
    """What one call will do: immutable, checked, printable as a pipeline.

    `accumulator` and `destination` are format names, `m` and `n` rows and columns. `d_dtype` and
    `d_shape` describe D, the other shapes the maxima, of the accumulator's dtype (None: not
    enabled). `quant` and `activation` are the checked words: none, one, or one for each column.
    """

    control: PostProcess
    accumulator: str
    destination: str
    m: int
    n: int
    packed: bool
    d_dtype: np.dtype[Any]
    d_shape: tuple[int, int]
    row_max_shape: tuple[int, int] | None
    group_max_shape: tuple[int, int] | None
    quant: Words
    activation: Words

    @property
    def accumulator_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of accumulators and maxima."""
        return D_DTYPES[self.accumulator]

    def __str__(self) -> str:
        return "\n".join(f"{stage:<12} {text}" for stage, text in _pipeline(self))


def plan_post_process(
    control: PostProcess,
    accumulator_dtype: Any,
    m: int,
    n: int,
    quant: Any = None,
    activation: Any = None,
    row_max_in: Any = None,
    d_out: AnyArray | None = None,
    row_max_out: AnyArray | None = None,
    group_max_out: AnyArray | None = None,
    *,
    packed: bool = False,
) -> PostProcessPlan:
    """Check everything that `post_process` would refuse, and say what it will do.

    `accumulator_dtype` is float32, int32 or uint32 (a NumPy dtype, a bittrue DType or the name of
    a format), for an accumulator of `m` rows and `n` columns. `quant` and `activation` are one word
    for a scalar mode, shape (n,) or (1, n) for a vector mode, uint64 or Python ints; `row_max_in`
    has shape (m, 1) or (m,) and the accumulator's dtype. Outputs are checked where they are given.

    Raises `RejectedError` with the first category that applies of accumulator, parameter, shape and
    output, and the `position` of an illegal word; `TypeError` for an argument of another kind.
    Decisions 174 to 181.
    """
    if not isinstance(control, PostProcess):
        raise RefusedTypeError(f"{SUBJECT}: control", f"got {shown(control)}", "a PostProcess")
    rows, columns = (_extent(name, value) for name, value in (("m", m), ("n", n)))
    if not isinstance(packed, bool):
        raise RefusedTypeError(f"{SUBJECT}: packed", f"got {shown(packed)}", "a bool")
    accumulator = _accumulator(control, accumulator_dtype)
    needed = (
        ("quant", control.mode.parameter, None if quant is None else read_words(quant)),
        (
            "activation",
            RELU_PARAMETER[control.relu],
            None if activation is None else read_words(activation),
        ),
    )
    for name, count, given in needed:
        _check_parameter(control, name, count, given, columns)
    if rows < 1 or columns < 1:
        raise _rejected("shape", "accumulator", f"{rows} x {columns}", "at least 1 x 1")
    for name, count, given in needed:
        _check_count(control, name, count, given, columns)
    _check_row_max_in(control, accumulator, rows, row_max_in)
    plan = _plan(control, accumulator, rows, columns, packed, needed[0][2], needed[1][2])
    _check_surplus(control, row_max_out, group_max_out)
    _check_outputs(plan, d_out, row_max_out, group_max_out)
    return plan


def _rejected(
    category: str, what: str, came: str, accepted: str, position: tuple[int, ...] | None = None
) -> RejectedError:
    return RejectedError(category, f"{SUBJECT}: {what}", came, accepted, position=position)


def _extent(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RefusedTypeError(f"{SUBJECT}: {name}", f"got {shown(value)}", "an int")
    return int(value.__index__())


# --- accumulator --------------------------------------------------------------------------------


def _accumulator(control: PostProcess, dtype: Any) -> str:
    """Return the format of the accumulator. Category accumulator; Decision 179."""
    accepted = control.mode.accumulators
    fmt = accumulator_format(dtype)
    if fmt is None or fmt.name not in accepted:
        came = str(dtype) if fmt is None else fmt.name
        raise _rejected(
            "accumulator",
            "accumulator",
            f"{came} with {control.mode.name}",
            " or ".join(f"{name} ({D_DTYPES[name]})" for name in accepted),
        )
    return fmt.name


def accumulator_format(dtype: Any) -> Format | None:
    """Return the accumulator format that a dtype or name stands for, None where there is none."""
    name = dtype.name if isinstance(dtype, SimpleDType) else dtype
    if not isinstance(name, str):
        try:
            name = np.dtype(dtype).name
        except TypeError:
            return None
    fmt = formats.get(name)
    return fmt if fmt is not None and fmt.name in ACCUMULATORS else None


# --- parameters ---------------------------------------------------------------------------------


def _check_parameter(
    control: PostProcess, name: str, count: Parameter, given: Given | None, columns: int
) -> None:
    """Refuse a missing argument and, where the count is right, an illegal word. Decision 180."""
    if count is Parameter.NONE:
        return
    if given is None:
        raise _rejected("parameter", name, "none given", _wanted(control, count, columns))
    if given.foreign is not None or not _is_count(count, given, columns):
        return
    index: int | None
    if given.illegal is not None:
        index, word = given.illegal
    else:
        index = (
            first_illegal_quant(control.mode, given.words)
            if name == "quant"
            else first_illegal_activation(given.words)
        )
        if index is None:
            return
        word = int(given.words[index])
    if name == "quant":
        fault = parameters.fault_of_quant(control.mode, word)
        accepted = (
            "a shift code" if control.mode.shift else parameters.legal_fp19(zero_allowed=False)
        )
    else:
        fault, accepted = (
            parameters.fault_of_activation(word),
            parameters.legal_fp19(zero_allowed=True),
        )
    where = f" of column {index}" if given.vector else ""
    raise _rejected(
        "parameter", name, f"the word {word:#x}{where} {fault}",
        f"{accepted}, every other bit 0", (index,) if given.vector else None,
    )  # fmt: skip


def _is_count(count: Parameter, given: Given, columns: int) -> bool:
    if count is Parameter.VECTOR:
        return given.vector and len(given) == columns
    return not given.vector


def _wanted(control: PostProcess, count: Parameter, columns: int) -> str:
    if count is Parameter.NONE:
        return f"none with {control.mode.name} and relu {control.relu.value}"
    if count is Parameter.SCALAR:
        return "one word: uint64 or an int"
    return f"{columns} words, one for each column: uint64 or ints, shape ({columns},)"


def _check_count(
    control: PostProcess, name: str, count: Parameter, given: Given | None, columns: int
) -> None:
    """Refuse a surplus argument, a scalar for a vector or the reverse, another length or type."""
    if given is None:
        return
    if count is Parameter.NONE or given.foreign is not None or not _is_count(count, given, columns):
        form = f"a vector of {len(given)}" if given.vector else "one word"
        raise _rejected(
            "shape", name, given.foreign or form, _wanted(control, count, columns)
        )  # fmt: skip


def _check_row_max_in(control: PostProcess, accumulator: str, rows: int, given: Any) -> None:
    """Refuse a missing, surplus or foreign RowMaxIn. Category shape."""
    if not control.row_max_init:
        if given is not None:
            raise _rejected("shape", "row_max_in", "given", "none without row_max_init")
        return
    wanted = f"{D_DTYPES[accumulator]} of shape ({rows}, 1) or ({rows},)"
    if given is None:
        raise _rejected("shape", "row_max_in", "none given", wanted)
    array = np.asarray(given)
    if not is_dtype(array, D_DTYPES[accumulator]) or array.shape not in ((rows, 1), (rows,)):
        raise _rejected("shape", "row_max_in", f"{array.dtype}{list(array.shape)}", wanted)


def is_dtype(array: AnyArray, dtype: np.dtype[Any]) -> bool:
    """Tell whether an array has a dtype, in either byte order."""
    return array.dtype.newbyteorder("=") == dtype


# --- outputs ------------------------------------------------------------------------------------


def _check_surplus(control: PostProcess, row_max_out: Any, group_max_out: Any) -> None:
    """Refuse an output that the control record does not enable. Category shape."""
    for name, given, enabled in (
        ("row_max_out", row_max_out, control.row_max),
        ("group_max_out", group_max_out, control.group_max),
    ):
        if given is not None and not enabled:
            raise _rejected("shape", name, "given", f"none without {name.removesuffix('_out')}")


def _check_outputs(plan: PostProcessPlan, d_out: Any, row_max_out: Any, group_max_out: Any) -> None:
    """Refuse outputs that cannot take their result or share storage. Category output."""
    if plan.packed and plan.destination != "S4X2":
        raise _rejected("output", "packed", f"with a {plan.destination} result", "S4X2")
    given: list[tuple[str, AnyArray]] = []
    dtype, rows = plan.accumulator_dtype, plan.m
    for name, array, wanted, shapes in (
        ("d_out", d_out, plan.d_dtype, (plan.d_shape,)),
        ("row_max_out", row_max_out, dtype, (plan.row_max_shape, (rows,))),
        ("group_max_out", group_max_out, dtype, (plan.group_max_shape,)),
    ):
        if array is None:
            continue
        if not isinstance(array, np.ndarray):
            raise RefusedTypeError(f"{SUBJECT}: {name}", f"got {shown(array)}", "a NumPy array")
        writable = array.flags.writeable
        if array.dtype != wanted or array.shape not in shapes or not writable:
            raise _rejected(
                "output",
                name,
                f"{array.dtype}{list(array.shape)}{'' if writable else ', read-only'}",
                f"a writable {wanted}{list(shapes[0] or ())}",
            )
        given.append((name, array))
    for (name, array), (other, second) in itertools.combinations(given, 2):
        if _overlap(array, second):
            raise _rejected("output", other, f"shares storage with {name}", "distinct arrays")


def _overlap(first: AnyArray, second: AnyArray) -> bool:
    try:
        return np.shares_memory(first, second, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


# --- the plan -----------------------------------------------------------------------------------


def _plan(
    control: PostProcess,
    accumulator: str,
    rows: int,
    columns: int,
    packed: bool,  # noqa: FBT001 - the caller's argument
    quant: Given | None,
    activation: Given | None,
) -> PostProcessPlan:
    destination = control.mode.format_of(accumulator).name
    groups = -(-columns // control.group_n) if control.group_n else 0
    return PostProcessPlan(
        control,
        accumulator,
        destination,
        rows,
        columns,
        packed,
        D_DTYPES[destination],
        (rows, (columns + 1) // 2 if packed else columns),
        (rows, 1) if control.row_max else None,
        (rows, groups) if control.group_max else None,
        _NO_WORDS if quant is None else quant.words,
        _NO_WORDS if activation is None else activation.words,
    )


_NEGATIVE_PATH = {
    Relu.NONE: "",
    Relu.RELU: "; negative: 0",
    Relu.SCALAR: "; negative: the activation parameter",
    Relu.VECTOR: "; negative: the activation parameter of the column",
}


def _pipeline(plan: PostProcessPlan) -> list[tuple[str, str]]:
    """Describe the stages in their order."""
    control, mode = plan.control, plan.control.mode
    stages = [("accumulator", f"{plan.accumulator}, {plan.m} x {plan.n}")]
    magnitudes = " of magnitudes" if control.max_abs else ""
    if plan.row_max_shape is not None:
        initial = ", then RowMaxIn" if control.row_max_init else ""
        stages.append(("row max", f"raw {plan.accumulator}{magnitudes}{initial}: {plan.m} x 1"))
    if plan.group_max_shape is not None:
        groups = plan.group_max_shape[1]
        text = f"raw {plan.accumulator}{magnitudes} of {control.group_n} columns"
        stages.append(("group max", f"{text}: {plan.m} x {groups}"))
    if mode.shift:
        which = " of the column" if mode.parameter is Parameter.VECTOR else ""
        stages.append(("shift", f"right by the amount{which}, saturated to S16"))
    elif mode.destination is not None or control.relu is not Relu.NONE:
        scale = {
            Parameter.NONE: "1",
            Parameter.SCALAR: "the scale",
            Parameter.VECTOR: "the scale of the column",
        }[mode.parameter]
        stages.append(("multiplier", scale + _NEGATIVE_PATH[control.relu]))
        stages.append(("product", "exact"))
        rounding = control.applied_rounding
        fixed = " (fixed)" if mode.rounding is not None else ""
        if control.rounding is Rounding.NONE and mode.rounding is None:
            fixed = " (NONE)"
        if mode.offset_bits:
            stages.append(("round", f"{rounding.name}{fixed}, saturated to S{mode.offset_bits}"))
            stages.append(("offset", f"S{mode.offset_bits}, exact"))
            stages.append(
                ("encode", f"{plan.destination}, {'clamp' if control.saturate else 'wrap'}")
            )
        else:
            sat = "Sat=1" if control.saturate else "Sat=0"
            stages.append(("encode", f"{plan.destination}, {rounding.name}{fixed}, {sat}"))
    form = ", two a byte" if plan.packed else ""
    shape = " x ".join(map(str, plan.d_shape))
    stages.append(("D", f"{plan.destination} as {plan.d_dtype}{form}, {shape}"))
    return stages
