"""The plan of one operation: every dtype decision, fixed before an element is read.

Clause: operation-dtype-policy, *One immutable plan carries the complete dtype decision*.
"""

from __future__ import annotations

from dataclasses import dataclass

from bittrue._records import put, require, require_items, shown
from bittrue.dtypes import SimpleDType
from bittrue.policy.arithmetic import Accumulation, Arithmetic, FrozenEnum


class OperandRole(FrozenEnum):
    """Whether a positional operand is a tensor or a weak Python scalar."""

    TENSOR = "tensor"
    WEAK_SCALAR = "weak_scalar"


@dataclass(frozen=True, slots=True)
class OperandPlan:
    """One positional operand: its role, its storage dtype, the dtype it is computed in.

    `dtype` is the source `SimpleDType` of a tensor and None for a weak scalar, which has no dtype
    of its own; `convert_to` is the dtype in which the operand enters the computation. Raises
    `TypeError` for a field of another kind or a dtype that does not fit the role.
    """

    role: OperandRole
    dtype: SimpleDType | None
    convert_to: SimpleDType

    def __post_init__(self) -> None:
        require(self, "role", self.role, OperandRole)
        require(self, "convert_to", self.convert_to, SimpleDType)
        if self.role is OperandRole.TENSOR:
            require(self, "dtype", self.dtype, SimpleDType)
        elif self.dtype is not None:
            msg = f"OperandPlan.dtype: got {shown(self.dtype)} for a weak scalar; expected None"
            raise TypeError(msg)

    def __str__(self) -> str:
        source = "scalar" if self.dtype is None else self.dtype.name
        return source if self.dtype is self.convert_to else f"{source}->{self.convert_to.name}"


@dataclass(frozen=True, slots=True)
class OperationPlan:
    """The complete, backend-independent dtype decision for one operation.

    `operation` is the registered name, `operands` one `OperandPlan` a position, `compute` the
    per-element arithmetic, `accumulation` how terms combine (None: they do not),
    `accumulator_dtype` the floating dtype in which they do (None: no separate one), `output` the
    result dtype. Whether a result takes part in autograd follows from `output` alone, so there is
    no field for it. Raises `TypeError` for a field of another kind.
    """

    operation: str
    operands: tuple[OperandPlan, ...]
    compute: Arithmetic
    accumulation: Accumulation | None
    accumulator_dtype: SimpleDType | None
    output: SimpleDType

    def __post_init__(self) -> None:
        require(self, "operation", self.operation, str)
        put(self, "operands", require_items(self, "operands", self.operands, OperandPlan))
        require(self, "compute", self.compute, Arithmetic)
        if self.accumulation is not None:
            require(self, "accumulation", self.accumulation, Accumulation)
        if self.accumulator_dtype is not None:
            require(self, "accumulator_dtype", self.accumulator_dtype, SimpleDType)
        require(self, "output", self.output, SimpleDType)

    @property
    def signature(self) -> str:
        """The operands in one line, for example ``"Int32->Float32, Float32"``."""
        return ", ".join(str(operand) for operand in self.operands)

    def __str__(self) -> str:
        steps = [self.compute.name]
        if self.accumulation is not None:
            steps.append(self.accumulation.name)
        if self.accumulator_dtype is not None:
            steps.append(f"in {self.accumulator_dtype.name}")
        return f"{self.operation}({self.signature}) -> {' '.join(steps)} -> {self.output.name}"
