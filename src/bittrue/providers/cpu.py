"""The CPU backend: compiled kernels over buffers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from bittrue import cpu
from bittrue.dtypes import DType
from bittrue.geometry import Geometry
from bittrue.policy import OperandRole, OperationPlan
from bittrue.providers.provider import Decline, Layout, Operand, Shape, converted
from bittrue.tensor import Buffer


def _contiguous(shape: Shape, strides: Layout, itemsize: int) -> bool:
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


class CpuBackend:
    """Native kernels, bit-identical to Generic; it declines what it has no kernel for."""

    name = "cpu"

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept add, sub, mul and div of two contiguous Float32 tensors of one shape."""
        if plan.operation not in cpu.BINARY32_OPERATIONS:
            return Decline(f"no kernel for {plan.operation}")
        if any(
            operand.role is not OperandRole.TENSOR or operand.dtype is not DType.Float32
            for operand in plan.operands
        ):
            return Decline(f"no kernel for operands {plan.signature}")
        if any(shape != attributes.shape for shape in shapes):
            return Decline("no kernel that broadcasts")
        if not all(_contiguous(s, t, 4) for s, t in zip(shapes, layout, strict=True)):
            return Decline("no kernel for operands that are not contiguous")
        return True

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Run the kernel of the operation."""
        lhs, rhs = (converted(operand).array.reshape(-1) for operand in operands)
        out = np.empty(math.prod(attributes.shape), np.float32)
        cpu.binary32(cpu.BINARY32_OPERATIONS[plan.operation], lhs, rhs, out)
        return Buffer(plan.output, out.reshape(attributes.shape))
