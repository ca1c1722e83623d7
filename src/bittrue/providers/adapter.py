"""What every adapter of another library shares: numbers in, arrays out, nothing corrected."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from bittrue.dtypes import SimpleDType, component_of
from bittrue.errors import ResultDTypeError
from bittrue.policy import OperationPlan
from bittrue.providers.provider import WeakScalar
from bittrue.tensor import Buffer, storage_of
from bittrue.tensor.buffer import AnyArray


def plain_number(scalar: WeakScalar) -> complex:
    """Return the scalar as a user of a library would pass it: a Python number as it is.

    Other numbers (a Fraction) are outside what the libraries take; they go in as a float, or as a
    complex number where they are no reals.
    """
    value: Any = scalar.value
    if isinstance(value, int | float | complex):
        return value
    return float(value) if isinstance(value, numbers.Real) else complex(value)


def dtypes_of(plan: OperationPlan) -> set[SimpleDType]:
    """Return every dtype that a plan stores, computes or accumulates in."""
    converted = {operand.convert_to for operand in plan.operands}
    stored = {operand.dtype for operand in plan.operands} | {plan.accumulator_dtype}
    return converted | {dtype for dtype in stored if dtype is not None} | {plan.output}


def widens(plan: OperationPlan) -> bool:
    """Tell whether a plan accumulates in another format than it computes terms in."""
    accumulator = plan.accumulator_dtype
    return accumulator is not None and (
        component_of(accumulator) is not component_of(plan.operands[0].convert_to)
    )


def natural_result(backend: str, plan: OperationPlan, result: AnyArray | np.generic) -> Buffer:
    """Return a library's result as a buffer.

    Raises `ResultDTypeError` where the library chose another dtype than the plan's output.
    """
    array = np.asarray(result)
    if array.dtype != storage_of(plan.output).array:
        raise ResultDTypeError(
            f"{plan.operation}: {backend}", f"returned {array.dtype}", plan.output.name
        )
    return Buffer(plan.output, array)
