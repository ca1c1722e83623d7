"""Dispatch: operands to plan to backend.

Belongs here: the one sequence that every operation takes. Plan, convert scalars, check attributes,
shapes and indices, choose a backend, execute; everything that can fail does so before a result
exists, checked Int32 values excepted, whose result is discarded. Clause: operation-dtype-policy,
*Central planning rejects abstract and unsupported dtypes explicitly* (every failure before a
backend allocates or computes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bittrue.diagnostics import open_logs, report_of
from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import (
    BittrueError,
    RefusedIndexError,
    RefusedTypeError,
    RefusedValueError,
    UnsupportedError,
)
from bittrue.geometry import Geometry, Indexing, attributes_of, geometry_of
from bittrue.policy import DEFAULT, OperandRole, OperationPlan, Policy
from bittrue.providers import (
    Backend,
    Operand,
    WeakScalar,
    backend_of,
    converted,
    default_backends,
)
from bittrue.scalars import ScalarOverflow, convert_scalar
from bittrue.tensor import Buffer, ElementList, Stored, buffer_of, dtype_of_array, read_list


@dataclass(frozen=True, slots=True)
class Call:
    """A call that passed every check: what a backend needs to execute it, and whose plan it is."""

    plan: OperationPlan
    operands: tuple[Operand, ...]
    geometry: Geometry
    policy: str = ""


def evaluate(
    operation: str,
    *operands: Any,
    policy: Policy | None = None,
    backend: str | Backend | None = None,
    accumulator_dtype: SimpleDType | None = None,
    working_dtype: SimpleDType | None = None,
    scalar_overflow: ScalarOverflow = "infinity",
    **attributes: Any,
) -> Buffer:
    """Execute `operation` and return the result in fresh storage; `bittrue.run` describes it."""
    call = prepare(
        operation,
        operands,
        attributes,
        policy=DEFAULT if policy is None else policy,
        accumulator_dtype=accumulator_dtype,
        working_dtype=working_dtype,
        scalar_overflow=scalar_overflow,
    )
    chosen = default_backends() if backend is None else (backend_of(backend),)
    return execute(call, chosen)


def prepare(
    operation: str,
    arguments: Sequence[Any],
    attributes: dict[str, Any],
    *,
    policy: Policy,
    accumulator_dtype: SimpleDType | None = None,
    working_dtype: SimpleDType | None = None,
    scalar_overflow: ScalarOverflow = "infinity",
) -> Call:
    """Plan a call and check everything about it; `bittrue.run` lists the errors."""
    if not isinstance(policy, Policy):
        raise RefusedTypeError("policy", f"got {type(policy).__name__}", "a Policy")
    given, rest = _split(operation, arguments, policy)
    read = [_read(argument) for argument in given]
    for argument in read:
        if argument.unreadable is not None:
            policy.check_concrete(operation, [r.planned for r in read])
            raise argument.unreadable
    plan = policy.resolve(
        operation,
        *(r.planned for r in read),
        accumulator_dtype=accumulator_dtype,
        working_dtype=working_dtype,
    )
    attributes = _positional(operation, len(given), rest, attributes)
    operands = tuple(
        _materialise(plan, position, r, scalar_overflow) for position, r in enumerate(read)
    )
    shapes = tuple(converted(operand).shape for operand in operands)
    geometry = geometry_of(operation, shapes, attributes)
    if isinstance(geometry, Indexing):
        _check_indices(operation, converted(operands[1]), geometry)
    return Call(plan, operands, geometry, policy.name)


def execute(
    call: Call, backends: Iterable[Backend], *, in_place: bool = False, overlap_copy: bool = False
) -> Buffer:
    """Offer a call to `backends` in order; the first that accepts it executes it.

    The flags say what becomes of the result, for the logs of `record` blocks.
    """
    backend, declined = choose(call, backends)
    result = backend.execute(call.plan, call.operands, call.geometry)
    logs = open_logs()
    if logs:
        report = report_of(
            call.plan, call.operands, call.geometry, call.policy, backend, declined,
            in_place=in_place, overlap_copy=overlap_copy,
        )  # fmt: skip
        for log in logs:
            log.add(report)
    return result


def choose(call: Call, backends: Iterable[Backend]) -> tuple[Backend, tuple[tuple[str, str], ...]]:
    """Return the first of `backends` that accepts a call, and who declined before it and why."""
    buffers = [converted(operand) for operand in call.operands]
    shapes = [buffer.shape for buffer in buffers]
    layout = [buffer.strides for buffer in buffers]
    declined: list[tuple[str, str]] = []
    for backend in backends:
        answer = backend.accepts(call.plan, shapes, layout, call.geometry)
        if answer is True:
            return backend, tuple(declined)
        declined.append((backend.name, answer.reason))
    raise UnsupportedError(
        f"{call.plan}",
        "declined by " + (", ".join(f"{n} ({reason})" for n, reason in declined) or "no backend"),
        "a backend that takes this plan",
        "leave backend out to use CPU and Generic",
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """An argument: what the planner sees, and what holds its elements (None: it has none).

    `unreadable` is the error of a list that has no dtype or shape.
    """

    planned: object
    source: object
    unreadable: BittrueError | None = None


def _read(argument: object) -> _Read:
    if isinstance(argument, Stored):
        buffer = argument.buffer
        return _Read(buffer.dtype, buffer)
    if isinstance(argument, np.ndarray | np.generic):
        return _Read(dtype_of_array(argument), argument)
    if isinstance(argument, list | tuple):
        try:
            listed = read_list(argument)
        except BittrueError as error:
            return _Read(None, argument, error)
        # The elements convert after planning: a plan error comes first.
        return _Read(listed.dtype, listed)
    if isinstance(argument, DType):
        return _Read(argument, None)
    return _Read(argument, argument)


def _materialise(
    plan: OperationPlan, position: int, read: _Read, scalar_overflow: ScalarOverflow
) -> Operand:
    planned = plan.operands[position]
    if planned.role is OperandRole.WEAK_SCALAR:
        bits = convert_scalar(
            read.planned, planned.convert_to, scalar_overflow=scalar_overflow
        ).bits
        return WeakScalar(read.planned, Buffer.from_elements(planned.convert_to, (), [bits]))
    if read.source is None:
        raise RefusedTypeError(
            f"{plan.operation}: operand {position}",
            f"the dtype {read.planned} carries no elements",
            "a tensor, an array or a nested list",
            "plan with dtypes through resolve_operation_plan",
        )
    if isinstance(read.source, Buffer):
        return read.source
    if isinstance(read.source, ElementList):
        return read.source.buffer()
    return buffer_of(read.source, copy=False)


def _split(
    operation: str, arguments: Sequence[Any], policy: Policy
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Separate the policy operands from the attributes that follow them."""
    spec = policy.spec(operation)
    positions = None if spec is None else spec.dtype_operand_positions
    if positions is None:
        return arguments, ()
    operands = [arguments[position] for position in positions if position < len(arguments)]
    return operands, [a for position, a in enumerate(arguments) if position not in positions]


def _positional(
    operation: str, operands: int, rest: Sequence[Any], attributes: dict[str, Any]
) -> dict[str, Any]:
    """Name the attributes that were given by position, and join those given by keyword."""
    if not rest:
        return attributes
    names = [attribute.name for attribute in attributes_of(operation)]
    if len(rest) > len(names):
        raise RefusedTypeError(
            operation,
            f"got {operands + len(rest)} positional arguments",
            f"at most {operands + len(names)}",
        )
    combined = dict(zip(names, rest, strict=False))
    for name in combined:
        if name in attributes:
            raise RefusedTypeError(operation, f"attribute {name!r} was given twice", "once")
    return {**combined, **attributes}


def _check_indices(operation: str, indices: Buffer, geometry: Indexing) -> None:
    """Refuse index elements outside the axis, and repeated ones where each may be written once."""
    flat = indices.array.reshape(-1)
    outside = np.flatnonzero((flat < 0) | (flat >= geometry.extent))
    if outside.size:
        where = tuple(int(i) for i in np.unravel_index(outside[0], indices.shape))
        raise RefusedIndexError(
            f"{operation}: indices",
            f"{flat[outside[0]]} at {where}",
            f"values in [0, {geometry.extent}); negative indices are not wrapped",
        )
    if operation == "scatter" and np.unique(flat).size != flat.size:
        values, counts = np.unique(flat, return_counts=True)
        raise RefusedValueError(
            f"{operation}: indices",
            f"{values[counts > 1][0]} is repeated",
            "each index at most once",
            "use scatter_add to add repeated updates",
        )
