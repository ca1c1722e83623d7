"""`run`: any registered operation on any operands; `explain`: what it would do."""

from __future__ import annotations

from typing import Any

from bittrue.array.tensor import Tensor
from bittrue.diagnostics import OperationReport, report_of
from bittrue.dispatch import choose, evaluate, prepare
from bittrue.dtypes import SimpleDType
from bittrue.policy import DEFAULT, Policy
from bittrue.providers import Backend, backend_of, default_backends
from bittrue.scalars import ScalarOverflow


def run(
    operation: str,
    *operands: Any,
    policy: Policy | None = None,
    backend: str | Backend | None = None,
    accumulator_dtype: SimpleDType | None = None,
    working_dtype: SimpleDType | None = None,
    scalar_overflow: ScalarOverflow = "infinity",
    **attributes: Any,
) -> Tensor:
    """Execute `operation` and return the result as a fresh `Tensor`.

    Operands are nested lists, NumPy arrays and scalars (typed by their dtype), `Tensor`s, and bare
    Python numbers (weak scalars). Attributes (`axis`, `k`, ...) follow the operands or are given
    by keyword. `policy` is the policy that plans (None: `bittrue.DEFAULT`), `backend` a name or a
    provider (None: the first that takes the plan, of CPU and Generic or of those that
    `bittrue.backends` set). `accumulator_dtype` is the accumulator of an operation that has a
    choice (`reduce_sum`, `mean`, `norm`, `dot`, `vdot`, `matmul`), `working_dtype` the wider dtype
    in which `norm` computes its terms too; `scalar_overflow` tells whether a weak float beyond the
    range of its dtype becomes an infinity or raises `OverflowError` (``"raise"``).

    Raises what `Policy.resolve` raises, then `OverflowError` for a scalar that its dtype cannot
    hold, `TypeError` for an attribute that is unknown, missing or of a wrong type, `ValueError`
    for shapes and values that do not fit, `IndexError` for an index outside its axis,
    `NotImplementedError` where no backend takes the plan, and `OverflowError` where an exact
    integer result leaves Int32. Clause: *Generic is the concrete semantic reference*.
    """
    return Tensor(
        evaluate(
            operation,
            *operands,
            policy=policy,
            backend=backend,
            accumulator_dtype=accumulator_dtype,
            working_dtype=working_dtype,
            scalar_overflow=scalar_overflow,
            **attributes,
        )
    )


def explain(
    operation: str,
    *operands: Any,
    policy: Policy | None = None,
    backend: str | Backend | None = None,
    accumulator_dtype: SimpleDType | None = None,
    working_dtype: SimpleDType | None = None,
    scalar_overflow: ScalarOverflow = "infinity",
    **attributes: Any,
) -> OperationReport:
    """Return the report of a call without running it: dtypes, order, backend, conversions.

    Arguments and errors are those of `run`; an exact integer result that would leave Int32 does not
    show. No element is computed. Clause: tensor-promotion, *Diagnostics and Tests*.
    """
    call = prepare(
        operation,
        operands,
        attributes,
        policy=DEFAULT if policy is None else policy,
        accumulator_dtype=accumulator_dtype,
        working_dtype=working_dtype,
        scalar_overflow=scalar_overflow,
    )
    offered = default_backends() if backend is None else (backend_of(backend),)
    chosen, declined = choose(call, offered)
    return report_of(call.plan, call.operands, call.geometry, call.policy, chosen, declined)
