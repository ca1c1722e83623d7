"""bittrue: which dtype and which bits a tensor operation must produce, and proof of it."""

from bittrue.conformance import verify
from bittrue.conversion import (
    BlockScaled,
    Converted,
    convert,
    dequantize_blocks,
    pack,
    quantize_blocks,
    unpack,
)
from bittrue.dispatch import run
from bittrue.dtypes import CompoundDType, DType, DTypeCategory, SimpleDType
from bittrue.encoding import Decomposition, Format, Rounding, Status, formats
from bittrue.errors import BittrueError, PromotionError, RejectedError
from bittrue.functions import Ordered, ge, gt, sort, topk
from bittrue.policy import (
    DEFAULT,
    SIMPLE,
    SUPPORTED_ACCUMULATOR_DTYPES,
    SUPPORTED_TENSOR_DTYPES,
    WEAK_SCALAR_PROBES,
    Accumulation,
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationExecutionOptions,
    OperationOverload,
    OperationPlan,
    OperationSpec,
    Policy,
    operation_execution_options,
    plan_accumulator_variants,
    registered_operations,
    resolvable_plans,
    resolve_operation_plan,
)
from bittrue.tensor import Tensor, asarray

__version__ = "0.1.0"

__all__ = [
    "DEFAULT",
    "SIMPLE",
    "SUPPORTED_ACCUMULATOR_DTYPES",
    "SUPPORTED_TENSOR_DTYPES",
    "WEAK_SCALAR_PROBES",
    "Accumulation",
    "Arithmetic",
    "BittrueError",
    "BlockScaled",
    "CompoundDType",
    "Converted",
    "DType",
    "DTypeCategory",
    "Decomposition",
    "Format",
    "OperandPlan",
    "OperandRole",
    "OperationExecutionOptions",
    "OperationOverload",
    "OperationPlan",
    "OperationSpec",
    "Ordered",
    "Policy",
    "PromotionError",
    "RejectedError",
    "Rounding",
    "SimpleDType",
    "Status",
    "Tensor",
    "asarray",
    "convert",
    "dequantize_blocks",
    "formats",
    "ge",
    "gt",
    "operation_execution_options",
    "pack",
    "plan_accumulator_variants",
    "quantize_blocks",
    "registered_operations",
    "resolvable_plans",
    "resolve_operation_plan",
    "run",
    "sort",
    "topk",
    "unpack",
    "verify",
]
