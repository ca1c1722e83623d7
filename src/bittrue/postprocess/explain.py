"""One element in words: every intermediate from the raw accumulator to the final bits.

Belongs here: spelling. Never here: a rule (`element`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bittrue.encoding import Format, Status, formats
from bittrue.encoding.lanes import read
from bittrue.errors import RefusedIndexError, RejectedError
from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.element import Element, Rule, convert_element
from bittrue.postprocess.execute import codes_of
from bittrue.postprocess.plan import SUBJECT, accumulator_format, plan_post_process
from bittrue.postprocess.reference import Parameters


def explain_element(
    accumulator: Any,
    control: PostProcess,
    quant: Any = None,
    activation: Any = None,
    row: int = 0,
    column: int = 0,
) -> dict[str, str]:
    """Return every intermediate of one element, by stage, as text in the order of work.

    `accumulator`, `quant` and `activation` are those of `post_process`; the maxima take no part.
    Raises what `post_process` raises, and `IndexError` for an element outside the accumulator.
    """
    array = np.asarray(accumulator)
    if array.ndim != 2 and accumulator_format(array.dtype) is not None:
        raise RejectedError("shape", SUBJECT, f"shape {array.shape}", "M x N: two dimensions")
    m, n = array.shape if array.ndim == 2 else (1, 1)
    alone = PostProcess(
        control.pre_quant, control.relu, rounding=control.rounding, saturate=control.saturate
    )  # fmt: skip
    plan = plan_post_process(alone, array.dtype, m, n, quant, activation)
    if not (0 <= row < m and 0 <= column < n):
        raise RefusedIndexError(SUBJECT, f"element {row},{column}", f"one of {m} x {n}")
    words = Parameters.of(alone, n, plan.quant.tolist(), plan.activation.tolist())
    rule = Rule.of(alone, plan.accumulator)
    raw = int(codes_of(array)[row, column])
    element = convert_element(rule, raw, words.quant[column], words.activation[column])
    return _stages(rule, element)


def _stages(rule: Rule, element: Element) -> dict[str, str]:
    stages = {"raw": _code(rule.source, element.raw), "path": element.path}
    if element.multiplier is not None:
        path = "negative" if element.negative else "ordinary"
        stages["multiplier"] = f"{_code(formats['FP32'], element.multiplier)} ({path} path)"
    exact = element.exact
    if exact is not None:
        stages["product"] = f"{_number(exact)} exactly"
    if element.rounded is not None:
        mode = "shifted" if rule.mode.shift else "rounded"
        stages[mode] = f"{element.rounded} ({rule.rounding.name})"
        bits = rule.mode.offset_bits or rule.destination.integer_bits
        stages["saturated"] = f"{element.saturated} in S{bits}"
    if element.offset is not None:
        stages["offset"] = f"{element.offset:+d} = {element.total}"
    stages["bits"] = _code(rule.destination, element.bits)
    stages["flags"] = flag_names(element.flags)
    return stages


def flag_names(flags: Status) -> str:
    """Return the names of flags joined by a bar, 0 for none."""
    return "|".join(flag.name or "" for flag in Status if flag in flags) or "0"


def _code(fmt: Format, code: int) -> str:
    """Spell a code in hexadecimal with its value."""
    bits = fmt.integer_bits or fmt.lane_bits
    number = read(fmt, code)
    if number.special is not None:
        value = number.special.value.replace("_", " ")
    else:
        exact = Fraction(number.significand) * Fraction(2) ** number.exponent
        sign = "-" if number.negative else ""
        value = sign + _number(exact)
    return f"{fmt.name} 0x{code:0{-(-bits // 4)}x} = {value}"


def _number(value: Fraction) -> str:
    """Spell a dyadic number: as a decimal where that is short, else as integer times a power."""
    if value.denominator == 1 and abs(value.numerator) < 1 << 53:
        return str(value.numerator)
    decimal = float(value)
    if Fraction(decimal) == value and len(repr(decimal)) <= 20:
        return repr(decimal)
    shift = value.denominator.bit_length() - 1
    if shift:
        return f"{value.numerator} * 2^-{shift}"
    zeros = (value.numerator & -value.numerator).bit_length() - 1
    return f"{value.numerator >> zeros} * 2^{zeros}"
