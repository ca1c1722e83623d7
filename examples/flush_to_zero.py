"""A backend of ten lines, verified: NumPy's add and mul with subnormals flushed to zero.

Run it: ``python examples/flush_to_zero.py``. It prints where flushing departs from the contract.
"""
# ruff: noqa: D101, D102, ARG002 - a script, which prints; the protocol names arguments

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bittrue import DType, OperationPlan, verify
from bittrue.geometry import Geometry
from bittrue.providers import Decline, Operand, converted
from bittrue.report import text
from bittrue.tensor import Buffer

Shapes = Sequence[tuple[int, ...]]
FUNCTIONS = {"add": np.add, "mul": np.multiply}


def flushed(values: np.ndarray) -> np.ndarray:
    """Replace subnormals by a zero of their sign."""
    return np.where(np.abs(values) < np.finfo(np.float32).tiny, np.copysign(0, values), values)


class FlushToZero:
    name = "flush-to-zero"

    def accepts(
        self, plan: OperationPlan, shapes: Shapes, layout: Shapes, attributes: Geometry
    ) -> Literal[True] | Decline:
        if plan.operation not in FUNCTIONS:
            return Decline(f"no function for {plan.operation}")
        if any(operand.dtype is not DType.Float32 for operand in plan.operands):
            return Decline("Float32 tensors only")
        return True

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        lhs, rhs = (flushed(converted(operand).array) for operand in operands)
        with np.errstate(all="ignore"):
            result = FUNCTIONS[plan.operation](lhs, rhs)
        return Buffer(plan.output, flushed(result).astype(np.float32))


if __name__ == "__main__":
    print(text.render(verify(FlushToZero(), operations=["add", "mul"])))
