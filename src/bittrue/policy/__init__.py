"""Operation dtype policy: plans, specifications, rows, and the policies made of them."""

from dataclasses import replace

from bittrue.policy.arithmetic import Accumulation, Arithmetic
from bittrue.policy.options import (
    ACCUMULATOR_CONFIGURABLE_OPERATIONS,
    SUPPORTED_ACCUMULATOR_DTYPES,
    OperationExecutionOptions,
)
from bittrue.policy.plan import OperandPlan, OperandRole, OperationPlan
from bittrue.policy.policy import Policy, specs_of
from bittrue.policy.real_complex import REAL_COMPLEX
from bittrue.policy.rows import Refusal, Row, RowRule
from bittrue.policy.simple import (
    SIMPLE,
    SUPPORTED_TENSOR_DTYPES,
    WEAK_SCALAR_PROBES,
    operation_execution_options,
    plan_accumulator_variants,
    registered_operations,
    resolvable_plans,
    resolve_operation_plan,
)
from bittrue.policy.simple_scalars import SIMPLE_SCALARS
from bittrue.policy.spec import OperationOverload, OperationSpec
from bittrue.policy.weak import WeakCondition, weak_condition

DEFAULT: Policy = replace(SIMPLE | REAL_COMPLEX | SIMPLE_SCALARS, name="default")
"""The policy that `run`, `verify` and the command line use where none is named."""

__all__ = [
    "ACCUMULATOR_CONFIGURABLE_OPERATIONS",
    "DEFAULT",
    "REAL_COMPLEX",
    "SIMPLE",
    "SIMPLE_SCALARS",
    "SUPPORTED_ACCUMULATOR_DTYPES",
    "SUPPORTED_TENSOR_DTYPES",
    "WEAK_SCALAR_PROBES",
    "Accumulation",
    "Arithmetic",
    "OperandPlan",
    "OperandRole",
    "OperationExecutionOptions",
    "OperationOverload",
    "OperationPlan",
    "OperationSpec",
    "Policy",
    "Refusal",
    "Row",
    "RowRule",
    "WeakCondition",
    "operation_execution_options",
    "plan_accumulator_variants",
    "registered_operations",
    "resolvable_plans",
    "resolve_operation_plan",
    "specs_of",
    "weak_condition",
]
