"""The CPU backend: compiled kernels over buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bittrue import cpu
from bittrue.geometry import Geometry
from bittrue.policy import OperationPlan
from bittrue.providers.provider import Decline, Layout, Operand, Shape, WeakScalar
from bittrue.tensor import Buffer

COPYING = frozenset({"pow"})
"""Operations whose kernel takes contiguous binary32 alone: an Int32 operand is copied."""


class CpuBackend:
    """Native kernels, bit-identical to Generic; it declines what it has no kernel for.

    `threads` is how many threads a large call uses; None means ``BITTRUE_THREADS``, else every
    core. The results never depend on it.
    """

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept every plan that has a kernel, whatever the shapes and strides."""
        del shapes, layout, attributes
        if cpu.kernel_of(plan) is None:
            return Decline(f"no kernel for {plan.operation}")
        return True

    def materialises(self, plan: OperationPlan) -> bool:
        """Tell whether the kernel of the plan computes on a converted copy."""
        return plan.operation in COPYING

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Run the kernel of the plan."""
        kernel = cpu.kernel_of(plan)
        assert kernel is not None, plan
        arrays = [
            operand.converted.array if isinstance(operand, WeakScalar) else operand.array
            for operand in operands
        ]
        threads = 1
        if max(array.size for array in arrays) > cpu.SMALL:
            threads = cpu.thread_count(self.threads)
        return Buffer(plan.output, kernel(plan, arrays, attributes, threads))
