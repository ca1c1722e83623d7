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
from bittrue.dtypes import SCALARS, CompoundDType, DType, DTypeCategory, SimpleDType
from bittrue.encoding import Decomposition, Format, Rounding, Status, formats
from bittrue.errors import BittrueError, PromotionError, RejectedError
from bittrue.functions import Ordered, ge, gt, sort, topk
from bittrue.policy import (
    DEFAULT,
    REAL_COMPLEX,
    SIMPLE,
    SIMPLE_SCALARS,
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
from bittrue.postprocess import (
    NearestScales,
    PostProcess,
    PostProcessPlan,
    PostProcessResult,
    PreQuant,
    Relu,
    StatusRegister,
    activation_word,
    activation_words,
    explain_element,
    explain_word,
    matmul_post_process,
    nearest_scales,
    plan_post_process,
    post_process,
    quant_word,
    quant_words,
)
from bittrue.tensor import Tensor, asarray

__version__ = "0.1.0"

float32: SimpleDType
float64: SimpleDType
complex64: SimpleDType
complex128: SimpleDType
int32: SimpleDType
bool_: SimpleDType
# Present only where the extended pair is enabled: with BITTRUE_EXTENDED=1 at import.
real_ext: SimpleDType
complex_ext: SimpleDType
globals().update({row.public: row.dtype for row in SCALARS})

__all__ = [
    "DEFAULT",
    "REAL_COMPLEX",
    "SIMPLE",
    "SIMPLE_SCALARS",
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
    "NearestScales",
    "OperandPlan",
    "OperandRole",
    "OperationExecutionOptions",
    "OperationOverload",
    "OperationPlan",
    "OperationSpec",
    "Ordered",
    "Policy",
    "PostProcess",
    "PostProcessPlan",
    "PostProcessResult",
    "PreQuant",
    "PromotionError",
    "RejectedError",
    "Relu",
    "Rounding",
    "SimpleDType",
    "Status",
    "StatusRegister",
    "Tensor",
    "activation_word",
    "activation_words",
    "asarray",
    "bool_",
    "complex64",
    "complex128",
    "convert",
    "dequantize_blocks",
    "explain_element",
    "explain_word",
    "float32",
    "float64",
    "formats",
    "ge",
    "gt",
    "int32",
    "matmul_post_process",
    "nearest_scales",
    "operation_execution_options",
    "pack",
    "plan_accumulator_variants",
    "plan_post_process",
    "post_process",
    "quant_word",
    "quant_words",
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
