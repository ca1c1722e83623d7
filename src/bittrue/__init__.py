"""bittrue: which dtype and which bits a tensor operation must produce, and proof of it."""

import importlib
from typing import TYPE_CHECKING

from bittrue.array import (
    Tensor,
    arange,
    asarray,
    einsum,
    empty,
    empty_like,
    explain,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    linspace,
    matmul,
    ones,
    ones_like,
    run,
    zeros,
    zeros_like,
)
from bittrue.diagnostics import AlgorithmReport, Conversion, Log, OperationReport, record
from bittrue.dtypes import SCALARS, CompoundDType, DType, DTypeCategory, SimpleDType
from bittrue.encoding import Decomposition, Format, Rounding, Status, formats
from bittrue.errors import BittrueError, PromotionError, RejectedError
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
from bittrue.providers import backends

if TYPE_CHECKING:
    from bittrue import array_api as array_api
    from bittrue.conformance import verify
    from bittrue.conversion import (
        BlockScaled,
        Converted,
        dequantize_blocks,
        pack,
        quantize_blocks,
        unpack,
    )
    from bittrue.conversion.convert import convert
    from bittrue.functions import Ordered, ge, gt, sort, topk
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

__version__ = "0.1.0"

# Names of modules that an import of the package does not need: each is loaded when it is first
# asked for.
_LATER: dict[str, tuple[str, ...]] = {
    "bittrue.conformance": ("verify",),
    "bittrue.conversion": (
        "BlockScaled",
        "Converted",
        "convert",
        "dequantize_blocks",
        "pack",
        "quantize_blocks",
        "unpack",
    ),
    "bittrue.functions": ("Ordered", "ge", "gt", "sort", "topk"),
    "bittrue.postprocess": (
        "NearestScales",
        "PostProcess",
        "PostProcessPlan",
        "PostProcessResult",
        "PreQuant",
        "Relu",
        "StatusRegister",
        "activation_word",
        "activation_words",
        "explain_element",
        "explain_word",
        "matmul_post_process",
        "nearest_scales",
        "plan_post_process",
        "post_process",
        "quant_word",
        "quant_words",
    ),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "array_api" or f"bittrue.{name}" in _LATER:
        return importlib.import_module(f"bittrue.{name}")
    if name not in _MODULE_OF:
        msg = f"module 'bittrue' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "array_api"})


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
    "AlgorithmReport",
    "Arithmetic",
    "BittrueError",
    "BlockScaled",
    "CompoundDType",
    "Conversion",
    "Converted",
    "DType",
    "DTypeCategory",
    "Decomposition",
    "Format",
    "Log",
    "NearestScales",
    "OperandPlan",
    "OperandRole",
    "OperationExecutionOptions",
    "OperationOverload",
    "OperationPlan",
    "OperationReport",
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
    "arange",
    "asarray",
    "backends",
    "bool_",
    "complex64",
    "complex128",
    "convert",
    "dequantize_blocks",
    "einsum",
    "empty",
    "empty_like",
    "explain",
    "explain_element",
    "explain_word",
    "eye",
    "float32",
    "float64",
    "formats",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "ge",
    "gt",
    "int32",
    "linspace",
    "matmul",
    "matmul_post_process",
    "nearest_scales",
    "ones",
    "ones_like",
    "operation_execution_options",
    "pack",
    "plan_accumulator_variants",
    "plan_post_process",
    "post_process",
    "quant_word",
    "quant_words",
    "quantize_blocks",
    "record",
    "registered_operations",
    "resolvable_plans",
    "resolve_operation_plan",
    "run",
    "sort",
    "topk",
    "unpack",
    "verify",
    "zeros",
    "zeros_like",
]
