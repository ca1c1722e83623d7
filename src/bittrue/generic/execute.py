"""Run a resolved plan on Generic arrays.

Belongs here: operand conversion as the plan states it, and the table from operation to the function
that runs it. Never here: a dtype decision. Clause: operation-dtype-policy, *Generic is the concrete
semantic reference*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bittrue.dtypes import DType, is_complex
from bittrue.encoding import component_format
from bittrue.errors import Int32OverflowError
from bittrue.generic import conv, indexing, matmul, reduce, sort
from bittrue.generic import numbers as nu
from bittrue.generic.array import Array, coordinates_of
from bittrue.generic.elementwise import FUNCTIONS, elementwise
from bittrue.generic.int32 import LeavesInt32
from bittrue.geometry import Geometry
from bittrue.policy import OperandPlan, OperationPlan

Runner = Callable[[OperationPlan, tuple[Array, ...], Any], Iterable[int]]


def convert_operand(operand: Array, planned: OperandPlan) -> Array:
    """Convert an operand to the dtype it is computed in: one rounding, or none where it is wider.

    An integer becomes a real; a real stays real and a complex number complex.
    """
    if operand.dtype is planned.convert_to:
        return operand
    destination = component_format(planned.convert_to)
    if operand.dtype is DType.Int32:
        bits = [destination.encode(abs(v), 0, negative=v < 0) for v in operand.elements]
        return Array(planned.convert_to, operand.shape, bits)
    assert is_complex(operand.dtype) is is_complex(planned.convert_to)
    source = component_format(operand.dtype)
    read, write = nu.reader(operand.dtype), nu.writer(planned.convert_to)
    elements = [write(nu.converted(read(e), source, destination)) for e in operand.elements]
    return Array(planned.convert_to, operand.shape, elements)


def _reduction(plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
    return reduce.reduce(plan, operands[0], geometry)


def _matmul(plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
    return matmul.matmul(plan, operands[0], operands[1], geometry)


def _cumsum(plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
    return reduce.cumsum(plan, operands[0], geometry)


def _values(_plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
    return sort.ordered(operands[0], geometry, indices=False)


def _indices(_plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
    return sort.ordered(operands[0], geometry, indices=True)


def _fixed(function: Callable[..., list[int]]) -> Runner:
    def run(_plan: OperationPlan, operands: tuple[Array, ...], geometry: Any) -> Iterable[int]:
        return function(*operands, geometry)

    return run


RUNNERS: dict[str, Runner] = {
    **dict.fromkeys(
        (
            *("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "argmax", "argmin"),
            *("mean", "norm"),
        ),
        _reduction,
    ),
    "dot": reduce.dot,
    "vdot": reduce.dot,
    "cumsum": _cumsum,
    "matmul": _matmul,
    "conv_general": _fixed(conv.conv_general),
    "gather": _fixed(indexing.gather),
    "scatter": _fixed(indexing.scatter),
    "scatter_add": _fixed(indexing.scatter_add),
    "_sort_values": _values,
    "_topk_values": _values,
    "_sort_indices": _indices,
    "_topk_indices": _indices,
}


def supports(plan: OperationPlan) -> bool:
    """Tell whether Generic has a function for the operation and arithmetic of `plan`."""
    return plan.operation in RUNNERS or plan.operation in FUNCTIONS.get(plan.compute, {})


def execute(plan: OperationPlan, operands: tuple[Array, ...], geometry: Geometry) -> Array:
    """Run `plan` on operands of its source dtypes (weak scalars already converted).

    Raises `OverflowError` naming the first offending element, in logical order of the result,
    when an exact result leaves Int32; nothing of the result is kept then.
    """
    converted = tuple(
        convert_operand(operand, planned)
        for operand, planned in zip(operands, plan.operands, strict=True)
    )
    runner = RUNNERS.get(plan.operation, elementwise)
    elements: list[int] = []
    try:
        for element in runner(plan, converted, geometry):
            elements.append(element)  # noqa: PERF402 - the length tells where a failure stood
    except LeavesInt32:
        position = coordinates_of(len(elements), geometry.shape)
        raise Int32OverflowError(plan.operation, position) from None
    return Array(plan.output, geometry.shape, elements)
