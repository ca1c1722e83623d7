"""Notation of policy tables: a line of a table expands to rows, rows become a policy.

Belongs here: the expansion and the words that every table shares. Never here: a dtype decision;
those are the lines of `simple`, `real_complex` and `simple_scalars`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cache

from bittrue.dtypes import SimpleDType
from bittrue.errors import RangeError
from bittrue.policy.arithmetic import Accumulation, Arithmetic
from bittrue.policy.options import AccumulatorRow
from bittrue.policy.plan import OperandPlan, OperandRole, OperationPlan
from bittrue.policy.policy import Policy, specs_of
from bittrue.policy.rows import Refusal, Row, Selector
from bittrue.policy.spec import OperationSpec
from bittrue.policy.weak import REAL_CONDITIONS, WeakCondition

SCALAR: tuple[Selector, ...] = REAL_CONDITIONS
"""Row shorthand: any weak real scalar."""
INT32_SCALAR: tuple[Selector, ...] = (WeakCondition.INT_NONNEG32, WeakCondition.INT_NEG32)
"""Row shorthand: a weak integer inside Int32."""

Pattern = SimpleDType | WeakCondition | tuple[Selector, ...]

OUT_OF_INT32 = Refusal(
    RangeError,
    "this weak integer would become an Int32",
    "a value in [-2147483648, 2147483647]",
    "pass a float to compute in Float32",
    names_scalar=True,
)


def rows_of(
    operations: str,
    operands: tuple[Pattern, ...],
    converted: SimpleDType | tuple[SimpleDType, ...],
    compute: Arithmetic,
    output: SimpleDType,
    accumulation: Accumulation | None = None,
    accumulator_dtype: SimpleDType | None = None,
    refusal: Refusal | None = None,
) -> Iterator[Row]:
    """Expand one line of a policy table into rows, one for each operation and operand selection.

    `operations` is a list of names separated by blanks; `operands` a selector, or alternatives,
    for each position; `converted` the dtype that operands are computed in, one for all or one
    each.
    """
    alternatives = [p if isinstance(p, tuple) else (p,) for p in operands]
    targets = converted if isinstance(converted, tuple) else (converted,) * len(operands)
    for name, selectors in itertools.product(operations.split(), itertools.product(*alternatives)):
        tensors = tuple(s for s in selectors if isinstance(s, SimpleDType))
        weak = tuple(s for s in selectors if isinstance(s, WeakCondition))
        planned = tuple(map(_operand, selectors, targets))
        plan = OperationPlan(name, planned, compute, accumulation, accumulator_dtype, output)
        roles = tuple(operand.role for operand in planned)
        yield Row(name, roles, tensors, weak, plan if refusal is None else refusal)


@cache
def _operand(selector: Selector, target: SimpleDType) -> OperandPlan:
    if isinstance(selector, SimpleDType):
        return OperandPlan(OperandRole.TENSOR, selector, target)
    return OperandPlan(OperandRole.WEAK_SCALAR, None, target)


def policy_of(
    name: str,
    rows: Iterable[Row],
    metadata: Iterable[tuple[str, bool, tuple[int, ...] | None]] = (),
    accumulators: Iterable[AccumulatorRow] = (),
    weak_probes: Iterable[object] = (),
) -> Policy:
    """Build a policy from rows; `metadata` names public and positions where not the default."""
    every = tuple(rows)
    given = {operation: (public, positions) for operation, public, positions in metadata}
    specs = tuple(
        OperationSpec(spec.name, spec.overloads, *given.get(spec.name, (True, None)))
        for spec in specs_of(every)
    )
    return Policy(every, specs, tuple(accumulators), tuple(weak_probes), name)
