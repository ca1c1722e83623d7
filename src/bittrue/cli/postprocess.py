"""`bittrue postprocess`: raw accumulators in a file to bit-exact outputs in files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from bittrue.cli.common import STDOUT, emit, emit_json
from bittrue.errors import RefusedValueError
from bittrue.files import read_array, write_array
from bittrue.postprocess import (
    PostProcess,
    PostProcessPlan,
    PostProcessResult,
    activation_word,
    activation_words,
    explain_element,
    flag_names,
    plan_post_process,
    post_process,
    quant_word,
    quant_words,
)

WORDS = "a .npy file of uint64 words, one for each column, or one word such as 0x3f800000"
NUMBERS = "a .npy file of numbers, one for each column, or one number"


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "postprocess", help="convert matrix accumulators, with activation, maxima and status"
    )
    command.add_argument("accumulator", metavar="ACC", help="a .npy file: float32, int32 or uint32")
    command.add_argument("-o", "--output", metavar="FILE", help="write D as .npy")
    command.add_argument("--mode", default="NoQuant", metavar="MODE", help="a name or code")
    parameters = command.add_mutually_exclusive_group()
    parameters.add_argument("--quant", metavar="WORDS", help=WORDS)
    parameters.add_argument("--scale", metavar="NUMBERS", help=NUMBERS)
    parameters.add_argument("--shift", metavar="AMOUNTS", help=f"1..16: {NUMBERS}")
    command.add_argument("--offset", metavar="NUMBERS", help=f"beside --scale: {NUMBERS}")
    command.add_argument(
        "--nearest", action="store_true", help="take the nearest FP19 of --scale and --slope"
    )
    command.add_argument("--relu", type=int, default=0, metavar="{0,1,2,3}", help="ReluMode")
    slope = command.add_mutually_exclusive_group()
    slope.add_argument("--activation", metavar="WORDS", help=WORDS)
    slope.add_argument("--slope", metavar="NUMBERS", help=f"activation parameters: {NUMBERS}")
    command.add_argument("--row-max", metavar="FILE", help="write RowMax as .npy")
    command.add_argument("--row-max-in", metavar="FILE", help="a .npy file to start RowMax from")
    command.add_argument("--group-max", metavar="FILE", help="write GroupMax as .npy")
    command.add_argument("--group-n", type=int, default=0, metavar="N", help="columns of a group")
    command.add_argument("--max-abs", action="store_true", help="maxima of magnitudes")
    command.add_argument("--rounding", default="NONE", metavar="MODE", help="RNE, RTZ, RTM, ...")
    command.add_argument("--saturate", action="store_true", help="Sat=1: clamp instead of wrap")
    command.add_argument("--packed", action="store_true", help="S4X2: two lanes a byte")
    command.add_argument("--explain", metavar="ROW,COL", help="print every step of one element")
    command.add_argument("--plan", action="store_true", help="print the plan and stop")
    command.add_argument("--backend", choices=("cpu", "generic"))
    command.add_argument("--threads", type=int, metavar="N")
    command.add_argument("--json", action="store_true", help="print shapes and status as JSON")
    command.set_defaults(execute=execute)


# --- arguments ----------------------------------------------------------------------------------


def _numbers(option: str, text: str) -> Any:
    """Read a file of numbers or one number."""
    if text.endswith(".npy"):
        return read_array(text)
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise RefusedValueError(option, repr(text), "a .npy file or a number") from None


def _words(option: str, text: str | None) -> Any:
    return None if text is None else _numbers(option, text)


def _quant(options: argparse.Namespace) -> Any:
    """Return the words that the options give or describe."""
    if options.offset is not None and options.scale is None:
        raise RefusedValueError("--offset", "without --scale", "both")
    if options.quant is not None:
        return _numbers("--quant", options.quant)
    mode, exact = _code(options.mode), not options.nearest
    if options.shift is not None:
        amounts = _numbers("--shift", options.shift)
        if isinstance(amounts, np.ndarray):
            return quant_words(mode, shifts=amounts)
        return quant_word(mode, shift=amounts)
    if options.scale is None:
        return None
    scale = _numbers("--scale", options.scale)
    offset = 0 if options.offset is None else _numbers("--offset", options.offset)
    if isinstance(scale, np.ndarray) and scale.ndim:
        return quant_words(mode, scale, offset, exact=exact)
    return quant_word(mode, _item(scale), _item(offset), exact=exact)


def _item(value: Any) -> Any:
    """Return the element of an array without dimensions."""
    return value.item() if isinstance(value, np.ndarray) and not value.ndim else value


def _activation(options: argparse.Namespace) -> Any:
    if options.slope is None:
        return _words("--activation", options.activation)
    values, exact = _numbers("--slope", options.slope), not options.nearest
    if isinstance(values, np.ndarray) and values.ndim:
        return activation_words(values, exact)
    return activation_word(_item(values), exact)


def _code(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _control(options: argparse.Namespace) -> PostProcess:
    return PostProcess(
        _code(options.mode),
        options.relu,
        options.group_n,
        row_max=options.row_max is not None,
        group_max=options.group_max is not None,
        row_max_init=options.row_max_in is not None,
        max_abs=options.max_abs,
        rounding=options.rounding,
        saturate=options.saturate,
    )


def _element(text: str) -> tuple[int, int]:
    row, comma, column = text.partition(",")
    if not comma or not row.strip().isdecimal() or not column.strip().isdecimal():
        raise RefusedValueError("--explain", repr(text), "ROW,COL, for example 0,3")
    return int(row), int(column)


# --- the command --------------------------------------------------------------------------------


def execute(options: argparse.Namespace) -> int:
    """Post-process and write the outputs, or print the plan or the steps of one element."""
    for path in (options.output, options.row_max, options.group_max):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise RefusedValueError("postprocess", f"no folder for {path!r}", "an existing folder")
    control = _control(options)
    raw = read_array(options.accumulator)
    quant, activation = _quant(options), _activation(options)
    if options.explain is not None:
        row, column = _element(options.explain)
        _show_element(options, explain_element(raw, control, quant, activation, row, column))
        return 0
    initial = None if options.row_max_in is None else read_array(options.row_max_in)
    if options.plan:
        m, n = raw.shape if raw.ndim == 2 else (0, 0)
        emit(STDOUT, str(_plan(options, control, raw, m, n, quant, activation, initial)))
        return 0
    found = post_process(
        raw,
        control,
        quant,
        activation,
        initial,
        packed=options.packed,
        backend=options.backend,
        threads=options.threads,
    )
    for path, array in (
        (options.output, found.d),
        (options.row_max, found.row_max),
        (options.group_max, found.group_max),
    ):
        if path is not None and array is not None:
            write_array(path, array)
    _show_result(options, found)
    return 0


def _plan(
    options: argparse.Namespace,
    control: PostProcess,
    raw: Any,
    m: int,
    n: int,
    quant: Any,
    activation: Any,
    initial: Any,
) -> PostProcessPlan:
    return plan_post_process(
        control, raw.dtype, m, n, quant, activation, initial, packed=options.packed
    )


def _show_element(options: argparse.Namespace, stages: dict[str, str]) -> None:
    if options.json:
        emit_json(STDOUT, stages)
    else:
        emit(STDOUT, "\n".join(f"{name:<11} {text}" for name, text in stages.items()))


def _show_result(options: argparse.Namespace, found: PostProcessResult) -> None:
    status = flag_names(found.status)
    if not options.json:
        shape = " x ".join(map(str, found.d.shape))
        emit(STDOUT, f"{found.d.dtype} {shape}, flags {status}")
        return
    outputs = {"d": found.d, "row_max": found.row_max, "group_max": found.group_max}
    emit_json(
        STDOUT,
        {
            "status": {"names": status.split("|") if found.status else [], "bits": found.status},
            **{
                name: {"dtype": str(array.dtype), "shape": list(array.shape)}
                for name, array in outputs.items()
                if array is not None
            },
        },
    )
