"""What every adapter of another library shares: numbers in, arrays out, nothing corrected."""

from __future__ import annotations

from typing import Any

import numpy as np

from bittrue.errors import ResultDTypeError
from bittrue.policy import OperationPlan
from bittrue.providers.provider import WeakScalar
from bittrue.tensor import Buffer, storage_of
from bittrue.tensor.buffer import AnyArray


def plain_number(scalar: WeakScalar) -> float:
    """Return the scalar as a user of a library would pass it: an int, bool or float as it is.

    Other reals (a Fraction) are outside what the libraries take; they go in as a float.
    """
    value: Any = scalar.value
    return value if isinstance(value, int | float) else float(value)


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
