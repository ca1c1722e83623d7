"""The operation dtype policy of Float32, Int32 and Bool: its rows, and `bittrue.SIMPLE`.

Belongs here: every dtype decision of the policy, as rows. Never here: how a row is found (`policy`)
or executed. Clauses of operation-dtype-policy: *Core promotion families resolve consistently*,
*Structured operation families pin their dtype shapes*, *Accumulator options widen only
accumulation*. Changing the policy is changing a row, its fixture and both backends together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from bittrue.dtypes import DType, SimpleDType
from bittrue.policy.arithmetic import Accumulation, Arithmetic
from bittrue.policy.options import SIMPLE_ACCUMULATORS, OperationExecutionOptions
from bittrue.policy.plan import OperationPlan
from bittrue.policy.policy import Policy
from bittrue.policy.rows import Row, Selector
from bittrue.policy.spec import OperationSpec
from bittrue.policy.tables import (
    INT32_SCALAR,
    OUT_OF_INT32,
    SCALAR,
    policy_of,
    rows_of,
)
from bittrue.policy.weak import WeakCondition

F32, I32, BOOL = DType.Float32, DType.Int32, DType.Bool

BINARY32 = Arithmetic.BINARY32
CHECKED = Arithmetic.INT32_EXACT_CHECKED
EXACT = Arithmetic.INT32_EXACT

SUPPORTED_TENSOR_DTYPES: tuple[SimpleDType, ...] = (F32, I32)
WEAK_SCALAR_PROBES: tuple[int | float, ...] = (3, -1, 0.5)
"""One scalar for each branch: an int that keeps `pow` integer, one that does not, a float."""

NUMBER: tuple[Selector, ...] = (F32, I32)
"""Row shorthand: either numeric dtype."""


_A = Accumulation

# fmt: off
_LINES: tuple[Iterable[Row], ...] = (
    # Tensor/tensor arithmetic: Int32 stays Int32, any Float32 makes both Float32.
    rows_of("add sub elementwise_mul mul", (I32, I32),    I32, CHECKED,  I32),
    rows_of("add sub elementwise_mul mul", (F32, NUMBER), F32, BINARY32, F32),
    rows_of("add sub elementwise_mul mul", (I32, F32),    F32, BINARY32, F32),
    rows_of("div pow", (NUMBER, NUMBER),                  F32, BINARY32, F32),
    # Weak scalars.
    rows_of("mul", (F32, SCALAR),                         F32, BINARY32, F32),
    rows_of("mul", (I32, INT32_SCALAR),                   I32, CHECKED,  I32),
    rows_of("mul", (I32, WeakCondition.FLOATING),         F32, BINARY32, F32),
    rows_of("mul", (I32, WeakCondition.INT_WIDE),         I32, CHECKED,  I32, refusal=OUT_OF_INT32),
    rows_of("pow", (F32, SCALAR),                         F32, BINARY32, F32),
    rows_of("pow", (I32, WeakCondition.INT_NONNEG32),     I32, CHECKED,  I32),
    rows_of("pow", (I32, (WeakCondition.INT_NEG32, WeakCondition.INT_WIDE, WeakCondition.FLOATING)),
                                                          F32, BINARY32, F32),
    rows_of("pow", (SCALAR, NUMBER),                      F32, BINARY32, F32),
    rows_of("clamp", (F32, (F32, *SCALAR), (F32, *SCALAR)), F32, BINARY32, F32),
    # One tensor.
    rows_of("relu", (I32,),                               I32, EXACT,    I32),
    rows_of("relu", (F32,),                               F32, BINARY32, F32),
    rows_of("elu exp gelu leaky_relu sigmoid silu softplus tanh",
            (NUMBER,),                                    F32, BINARY32, F32),
    rows_of("neg abs sign recip sqrt rsqrt exp2 log log2 sin cos erf floor ceil round",
            (F32,),                                       F32, BINARY32, F32),
    rows_of("logical_not", (F32,),                        F32, BINARY32, BOOL),
    # Two Float32 tensors.
    rows_of("maximum minimum rem", (F32, F32),            F32, BINARY32, F32),
    rows_of("eq ne lt le", (F32, F32),                    F32, BINARY32, BOOL),
    # Reductions, scan, contraction.
    rows_of("reduce_sum", (F32,),           F32, BINARY32, F32, _A.FLOATING, F32),
    rows_of("reduce_sum", (I32,),           I32, CHECKED,  I32, _A.EXACT_INTEGER),
    rows_of("reduce_prod", (F32,),          F32, BINARY32, F32, _A.SEQUENTIAL_BINARY32_PRODUCT),
    rows_of("reduce_max", (F32,),           F32, BINARY32, F32, _A.MAXIMUM),
    rows_of("reduce_min", (F32,),           F32, BINARY32, F32, _A.MINIMUM),
    rows_of("argmax", (F32,),               F32, BINARY32, I32, _A.ARGMAX),
    rows_of("argmin", (F32,),               F32, BINARY32, I32, _A.ARGMIN),
    rows_of("cumsum", (F32,),               F32, BINARY32, F32, _A.SEQUENTIAL_BINARY32),
    rows_of("matmul", (I32, I32),           I32, EXACT,    I32, _A.EXACT_INTEGER),
    rows_of("matmul", (F32, NUMBER),        F32, BINARY32, F32, _A.FLOATING, F32),
    rows_of("matmul", (I32, F32),           F32, BINARY32, F32, _A.FLOATING, F32),
    rows_of("conv_general", (F32, F32),     F32, BINARY32, F32, _A.SEQUENTIAL_BINARY32),
    # Indexing, ordering, selection.
    rows_of("gather", (F32, I32),           (F32, I32),      BINARY32, F32),
    rows_of("scatter", (F32, I32, F32),     (F32, I32, F32), BINARY32, F32),
    rows_of("scatter_add", (F32, I32, F32), (F32, I32, F32), BINARY32, F32, _A.SEQUENTIAL_BINARY32),
    rows_of("_sort_values _topk_values", (F32,),   F32, BINARY32, F32),
    rows_of("_sort_indices _topk_indices", (F32,), F32, BINARY32, I32),
    rows_of("select", (BOOL, F32, F32),     (BOOL, F32, F32), BINARY32, F32),
)

_METADATA: tuple[tuple[str, bool, tuple[int, ...]], ...] = (
    # operation       public  forward arguments that take part in planning
    ("cumsum",        True,  (0,)),
    ("conv_general",  True,  (0, 1)),
    ("gather",        True,  (0, 1)),
    ("scatter",       True,  (0, 1, 2)),
    ("scatter_add",   True,  (0, 1, 2)),
    ("_sort_values",  False, (0,)),
    ("_sort_indices", False, (0,)),
    ("_topk_values",  False, (0,)),
    ("_topk_indices", False, (0,)),
)
# fmt: on


SIMPLE: Policy = policy_of(
    "simple",
    itertools.chain.from_iterable(_LINES),
    _METADATA,
    SIMPLE_ACCUMULATORS,
    WEAK_SCALAR_PROBES,
)
"""The policy of operation-dtype-policy; the module-level functions below are its methods."""


def registered_operations() -> tuple[OperationSpec, ...]:
    """Return every registered `OperationSpec` of `SIMPLE` in operation-name order.

    Clause: *The registry is deterministic and exhaustively enumerable*.
    """
    return SIMPLE.specs()


def resolvable_plans(
    tensor_dtypes: Iterable[SimpleDType] = SUPPORTED_TENSOR_DTYPES,
    weak_scalars: Iterable[object] = WEAK_SCALAR_PROBES,
) -> tuple[OperationPlan, ...]:
    """Return every distinct plan of `SIMPLE` over the supplied dtypes and weak scalar probes.

    Deduplicated, in registry and operand enumeration order, every supported accumulator variant
    included. A combination that resolution refuses contributes no plan. Clause: *The registry is
    deterministic and exhaustively enumerable*.
    """
    return SIMPLE.plans(tensor_dtypes, weak_scalars)


def plan_accumulator_variants(plan: OperationPlan) -> tuple[OperationPlan, ...]:
    """Return `plan` first and every other supported accumulator variant; ``(plan,)`` if none.

    Clause: *Accumulator options widen only accumulation*. Raises `TypeError` for another object.
    """
    return SIMPLE.accumulator_variants(plan)


def operation_execution_options(
    operation: str, *, accumulator_dtype: SimpleDType | None = None
) -> OperationExecutionOptions:
    """Return validated options of `reduce_sum` or `matmul`.

    Raises `TypeError` for another operation and for an accumulator that is no `SimpleDType`,
    `NotImplementedError` for a simple dtype other than Float32 and Float64. Clause: *Accumulator
    options widen only accumulation*.
    """
    return SIMPLE.options(operation, accumulator_dtype=accumulator_dtype)


def resolve_operation_plan(
    operation: str,
    *operands: object,
    accumulator_dtype: SimpleDType | None = None,
    options: OperationExecutionOptions | None = None,
) -> OperationPlan:
    """Return the plan of `operation` under `SIMPLE`; see `Policy.resolve` for the errors.

    Tensor operands are given as their storage dtype, weak scalars as their Python value. Clause:
    *Resolution selects exact roles before applying policy*.
    """
    return SIMPLE.resolve(
        operation, *operands, accumulator_dtype=accumulator_dtype, options=options
    )
