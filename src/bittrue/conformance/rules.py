"""The rule of every operation in words: what a departing result breaks.

One row an operation; clauses of operation-dtype-policy and of the published semantics.
"""

from __future__ import annotations

from bittrue.dtypes import DType
from bittrue.generic.formats import COMPLEX, format_of
from bittrue.policy import Arithmetic, OperationPlan

_ONE_ROUNDING = "the exact {0} rounded once to {{format}}, ties to even, subnormals kept"
_PRIMITIVE = "{0} is one primitive: the exact function value, correctly rounded to binary32"

# fmt: off
RULES: dict[str, str] = {
    "add": _ONE_ROUNDING.format("sum"),
    "sub": _ONE_ROUNDING.format("difference"),
    "mul": _ONE_ROUNDING.format("product"),
    "elementwise_mul": _ONE_ROUNDING.format("product"),
    "div": _ONE_ROUNDING.format("quotient"),
    "pow": "IEEE 754 pow, correctly rounded to binary32",
    "maximum": "a NaN operand gives NaN; +0 is above -0 whichever comes first",
    "minimum": "a NaN operand gives NaN; -0 is below +0 whichever comes first",
    "rem": "the exact truncated remainder, never rounded, with the sign of the dividend",
    "eq": "IEEE comparison: -0 equals +0, a NaN equals nothing",
    "ne": "IEEE comparison: a NaN differs from everything",
    "lt": "IEEE comparison: false with a NaN",
    "le": "IEEE comparison: false with a NaN",
    "logical_not": "true exactly for +0 and -0",
    "neg": "only the sign bit flips",
    "abs": "only the sign bit is cleared",
    "sign": "-1, +1, or +0 for a zero of either sign",
    "recip": _ONE_ROUNDING.format("reciprocal"),
    "sqrt": _ONE_ROUNDING.format("square root"),
    "rsqrt": "1/sqrt(x) is one primitive with one rounding, not two",
    "floor": "the integer below; a zero keeps the sign of the operand",
    "ceil": "the integer above; a zero keeps the sign of the operand",
    "round": "the nearest integer, ties to even; a zero keeps the sign of the operand",
    **{name: _PRIMITIVE.format(name) for name in
       ("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf")},
    "relu": "x if x > 0, else +0; a NaN stays NaN",
    "sigmoid": "1/(1+exp(-x)) for x >= 0, exp(x)/(1+exp(x)) below, each step rounded",
    "silu": "x * sigmoid(x), each step rounded",
    "gelu": "(x/2) * (1 + erf(x*sqrt(1/2))), each step rounded",
    "softplus": "log1p(exp(-|x|)) + max(x, 0), each step rounded",
    "elu": "x if x > 0, else expm1(x), correctly rounded",
    "leaky_relu": "x if x >= 0, else one product with the binary32 slope 0.01",
    "clamp": "minimum(maximum(x, lower), upper), as two stages: a NaN gives NaN, zeros are ordered",
    "select": "the chosen element is moved bit for bit",
    "reduce_sum": "32 lanes in blocks of 4096, folded by halves, in the accumulator dtype",
    "reduce_prod": "ascending products from 1, each rounded",
    "reduce_max": "a NaN wins, +0 is above -0, in logical order",
    "reduce_min": "a NaN wins, -0 is below +0, in logical order",
    "argmax": "the first winner; the first NaN wins; zeros of either sign tie",
    "argmin": "the first winner; the first NaN wins; zeros of either sign tie",
    "cumsum": "ascending sums from +0, each rounded; the first is +0 + x",
    "matmul": "each product rounded to {format}, then added in ascending order from +0",
    "remainder": "x - y*floor(x/y), exact, rounded once; a zero has the sign of y",
    "floor_divide": "the floor of the exact quotient, rounded once",
    "conj": "a real is its own conjugate, bit for bit",
    "mean": "the sum in lanes, divided by the count, each step in the accumulator dtype",
    "norm": "squares rounded to {format}, their sum in lanes, its root",
    "dot": "each product rounded to {format}, then added in lanes from +0",
    "vdot": "each product rounded to {format}, then added in lanes from +0",
    "conv_general": "each product rounded, padding included, added in ascending order from +0",
    "gather": "the indexed element is moved bit for bit",
    "scatter": "the update is moved bit for bit",
    "scatter_add": "updates are added to the base in ascending order, each addition rounded",
    "_sort_values": "values are moved bit for bit; NaNs stand after every number ascending",
    "_sort_indices": "stable: equal values keep the lower position first, in both directions",
    "_topk_values": "the first k of the sorted axis, moved bit for bit; NaNs are the largest",
    "_topk_indices": "the first k of the sorted axis; equal values keep the lower position first",
}

_BY_PART = "each part is the exact {0} rounded once; beside a real, the imaginary part is moved"

OF_COMPLEX: dict[str, str] = {
    "add": _BY_PART.format("sum"),
    "sub": _BY_PART.format("difference"),
    "mul": "(a*c - b*d, a*d + b*c), each step rounded, none fused; by a real, two products",
    "elementwise_mul": "(a*c - b*d, a*d + b*c), each step rounded, none fused; by a real, two",
    "div": "Smith's form with a rounded reciprocal, each step rounded; by a real, each part",
    "eq": "both parts are equal; a real has the imaginary part +0",
    "ne": "a part differs; a NaN differs from everything",
    "neg": "only the sign bits of both parts flip",
    "conj": "only the sign bit of the imaginary part flips",
    "real": "the real part, bit for bit",
    "imag": "the imaginary part, bit for bit",
    "abs": "the exact modulus rounded once; infinite where a part is, even beside a NaN",
    "norm": "re*re + im*im, each step rounded, their sum in lanes, its root",
    "reduce_prod": "ascending products from the real 1, each step rounded",
}
"""The rule of each operation whose words differ where it computes on pairs."""
# fmt: on

NEVER_WRAPS = "Int32 is exact and checked: a result outside it raises OverflowError, never wraps"
EXACT_INT32 = "Int32 is exact integer arithmetic"


def rule_of(plan: OperationPlan) -> str:
    """Return the rule of a plan in words."""
    if plan.compute in (Arithmetic.INT32_EXACT, Arithmetic.INT32_EXACT_CHECKED):
        return EXACT_INT32
    words = RULES.get(plan.operation, "the plan's arithmetic, rounded once a step")
    if plan.compute in COMPLEX:
        words = OF_COMPLEX.get(plan.operation, words)
    return words.format(format=f"binary{format_of(plan).width}")


def result_dtype_rule(plan: OperationPlan) -> str:
    """Return the words for a result of another dtype than the plan's."""
    return f"{plan.operation}({plan.signature}) gives {plan.output.name}: the plan fixes the dtype"


def result_shape_rule(plan: OperationPlan) -> str:
    """Return the words for a result of another shape than the call's."""
    return f"the operands and attributes of {plan.operation} alone fix the shape of its result"


def conversion_note(plan: OperationPlan) -> str:
    """Return the words for operands that a plan converts, empty if it converts none."""
    converts = any(
        operand.dtype is DType.Int32 and operand.convert_to is DType.Float32
        for operand in plan.operands
    )
    return "Int32 operands convert to Float32 with one rounding" if converts else ""
