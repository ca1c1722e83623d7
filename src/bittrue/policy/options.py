"""Execution options: a requested accumulator, validated before any plan is resolved.

Clause: operation-dtype-policy, *Accumulator options widen only accumulation*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Protocol

from bittrue._records import shown
from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import RefusedTypeError, UnsupportedError

AccumulatorRow = tuple[str, SimpleDType, tuple[SimpleDType, ...]]
"""An operation, its default accumulator, and the accumulators it may take instead, in order."""

SUPPORTED_ACCUMULATOR_DTYPES: tuple[SimpleDType, ...] = (DType.Float32, DType.Float64)

SIMPLE_ACCUMULATORS: tuple[AccumulatorRow, ...] = (
    ("matmul", DType.Float32, SUPPORTED_ACCUMULATOR_DTYPES),
    ("reduce_sum", DType.Float32, SUPPORTED_ACCUMULATOR_DTYPES),
)


ACCUMULATOR_CONFIGURABLE_OPERATIONS = frozenset(name for name, _, _ in SIMPLE_ACCUMULATORS)
"""Operations of `SIMPLE` whose floating accumulator can be chosen."""


WORKING_CONFIGURABLE_OPERATIONS = frozenset({"norm"})
"""Operations that may compute their terms too in a wider dtype: one of their accumulators."""


class HasAccumulators(Protocol):
    """Anything that lists accumulator rows: a policy."""

    @property
    def accumulators(self) -> tuple[AccumulatorRow, ...]:
        """The accumulator rows."""


def check_accumulator(
    operation: object, accumulator_dtype: object, accumulators: Sequence[AccumulatorRow]
) -> None:
    """Refuse an accumulator that no row of `accumulators` offers to `operation`.

    Raises `TypeError` for an operation without a choice and for an accumulator that is no
    `SimpleDType`, `NotImplementedError` for a simple dtype that cannot accumulate.
    """
    check_configurable(operation, accumulators)
    offered = [dtype for name, _, dtypes in accumulators if name == operation for dtype in dtypes]
    accepted = " or ".join(dict.fromkeys(dtype.name for dtype in offered))
    subject = f"{operation}: accumulator_dtype"
    if not isinstance(accumulator_dtype, SimpleDType):
        raise RefusedTypeError(subject, f"got {shown(accumulator_dtype)}", accepted)
    if not any(accumulator_dtype is dtype for dtype in offered):
        raise UnsupportedError(subject, f"{accumulator_dtype.name} does not accumulate", accepted)


def check_configurable(operation: object, accumulators: Sequence[AccumulatorRow]) -> None:
    """Raise `TypeError` unless `operation` has a choice of accumulator."""
    names = tuple(dict.fromkeys(name for name, _, _ in accumulators))
    if not isinstance(operation, str) or operation not in names:
        raise RefusedTypeError(
            operation if isinstance(operation, str) else shown(operation),
            "the accumulator of this operation cannot be chosen",
            " or ".join(names),
            "leave accumulator_dtype out",
        )


def check_working(operation: object, working_dtype: object) -> None:
    """Refuse a working dtype that `operation` has no choice of, or that is no `SimpleDType`.

    Clause: tensor-promotion, *Algorithmic Working Precision* (an explicit policy). Raises
    `TypeError`.
    """
    if operation not in WORKING_CONFIGURABLE_OPERATIONS:
        raise RefusedTypeError(
            f"{operation}",
            "the working dtype of this operation cannot be chosen",
            " or ".join(sorted(WORKING_CONFIGURABLE_OPERATIONS)),
            "leave working_dtype out",
        )
    if not isinstance(working_dtype, SimpleDType):
        raise RefusedTypeError(
            f"{operation}: working_dtype", f"got {shown(working_dtype)}", "a SimpleDType"
        )


@dataclass(frozen=True, slots=True)
class OperationExecutionOptions:
    """Validated options of one operation: the accumulator that is asked for, None for the default.

    `policy` (not a field) is the policy whose accumulators are accepted; None means those of
    `bittrue.SIMPLE`. Raises `TypeError` for an operation whose accumulator cannot be chosen and
    for an accumulator that is no `SimpleDType`, `NotImplementedError` for another simple dtype.
    """

    operation: str
    accumulator_dtype: SimpleDType | None = None
    policy: InitVar[HasAccumulators | None] = field(default=None, kw_only=True)

    def __post_init__(self, policy: HasAccumulators | None) -> None:
        accumulators = SIMPLE_ACCUMULATORS if policy is None else policy.accumulators
        check_configurable(self.operation, accumulators)
        if self.accumulator_dtype is not None:
            check_accumulator(self.operation, self.accumulator_dtype, accumulators)
