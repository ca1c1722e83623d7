"""The reference backend: Generic over buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bittrue import generic
from bittrue.geometry import Geometry
from bittrue.policy import OperationPlan
from bittrue.providers.provider import Decline, Layout, Operand, Shape, converted
from bittrue.tensor import Buffer


class GenericBackend:
    """Plain Python over exact integers: slow, and the definition of every result."""

    name = "generic"

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept every plan of a built-in policy."""
        del shapes, layout, attributes
        if generic.supports(plan):
            return True
        return Decline(f"the reference has no function for {plan}")

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Run the plan element by element."""
        buffers = [converted(operand) for operand in operands]
        arrays = tuple(
            generic.Array(buffer.dtype, buffer.shape, buffer.elements()) for buffer in buffers
        )
        result = generic.execute(plan, arrays, attributes)
        return Buffer.from_elements(result.dtype, result.shape, result.elements)
