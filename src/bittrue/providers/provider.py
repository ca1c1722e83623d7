"""The provider protocol: what a backend is.

Belongs here: the protocol and the records that cross it. A provider executes plans; it decides no
dtype. It may decline a call, and a decline changes nothing but who is asked next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from bittrue.geometry import Geometry
from bittrue.policy import OperationPlan
from bittrue.tensor import Buffer

Shape = tuple[int, ...]
Layout = tuple[int, ...]
"""Strides of one operand, in bytes; ``()`` for a scalar."""


@dataclass(frozen=True, slots=True)
class Decline:
    """A provider's refusal of one call, with the reason in words."""

    reason: str

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class WeakScalar:
    """A weak scalar operand: the caller's Python number and its one conversion.

    `converted` is a rank-0 buffer of the plan's `convert_to`, materialised once. An adapter that
    calls a library as a user would may pass `value` instead.
    """

    value: object
    converted: Buffer


Operand = Buffer | WeakScalar


@runtime_checkable
class Backend(Protocol):
    """A provider of operations.

    `name` is how users call it. `accepts` is a pure function of plan, operand shapes and strides,
    and checked attributes; it reads no element. `execute` gets buffers of the plan's source dtypes
    and returns a fresh buffer of the plan's output dtype and the geometry's shape.
    """

    @property
    def name(self) -> str:
        """Name under which the backend is chosen."""

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Return True, or a `Decline` with the reason."""

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Run the plan. Raises `OverflowError` where an exact integer result leaves Int32."""


@runtime_checkable
class ReportsCopies(Protocol):
    """A backend that can tell where it allocates converted copies of its operands.

    One that does not say so reads each element in the plan's `convert_to`.
    """

    def materialises(self, plan: OperationPlan) -> bool:
        """Tell whether an operand of another dtype is copied whole before it is computed on."""


def converted(operand: Operand) -> Buffer:
    """Return the buffer of an operand: of a weak scalar, its one conversion."""
    return operand.converted if isinstance(operand, WeakScalar) else operand
