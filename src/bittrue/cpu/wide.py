"""Binary64 and complex operations by the compiled kernels.

Belongs here: the tables from operation to kernel for plans that compute in binary64 or on complex
numbers, and those that only the promotion contract has. An elementwise function of the extension is
named by what it does and by the computed dtypes of its operands, as in ``mul_f64_c128``: a real
operand beside a complex one stays real. Clause: tensor-promotion, *Tensor-Tensor Promotion*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bittrue.cpu import _native
from bittrue.dtypes import DType, SimpleDType
from bittrue.geometry import Geometry, Reduction, Scan
from bittrue.policy import Arithmetic, OperationPlan

Array = NDArray[Any]
Kernel = Callable[[OperationPlan, Sequence[Array], Any, int], Array]

CODES: Mapping[str, int] = {name: code for code, name in enumerate(_native.elementwise_names())}
"""Elementwise functions of the extension, and their codes."""

KINDS: tuple[tuple[SimpleDType, str, Any], ...] = (
    (DType.Float32, "f32", np.float32),
    (DType.Float64, "f64", np.float64),
    (DType.Complex64, "c64", np.complex64),
    (DType.Complex128, "c128", np.complex128),
)
"""Dtype, its name in the extension, its NumPy dtype."""

_NAME = {dtype: name for dtype, name, _ in KINDS}
_STORAGE = {dtype: storage for dtype, _, storage in KINDS} | {
    DType.Bool: np.bool_,
    DType.Int32: np.int32,
}

ELEMENTWISE: Mapping[str, str] = {
    name: name
    for name in (
        "add", "sub", "mul", "div", "eq", "ne", "lt", "le", "neg", "abs", "conj", "real", "imag",
        "remainder", "floor_divide",
    )
} | {"elementwise_mul": "mul"}  # fmt: skip
"""Operation -> its function; the computed dtypes complete the name."""

FOLDS: Mapping[str, str] = {
    "reduce_prod": "product",
    "reduce_max": "maximum",
    "reduce_min": "minimum",
    "argmax": "argmax",
    "argmin": "argmin",
}


def _code(function: str, *dtypes: SimpleDType) -> int:
    """Return the code of a function of operands of `dtypes`; -1 if there is none."""
    name = "_".join([function, *(_NAME[dtype] for dtype in dtypes)])
    if all(dtype is DType.Float32 for dtype in dtypes) and name not in CODES:
        name = function
    return CODES.get(name, -1)


def _apply(code: int, operands: tuple[Array, ...], storage: Any, threads: int) -> Array:
    out = np.empty(np.broadcast_shapes(*(x.shape for x in operands)), storage)
    _native.elementwise(code, operands, out, threads)
    return out


def _narrowed(value: Array, dtype: SimpleDType, output: SimpleDType, threads: int) -> Array:
    """Round from an accumulator to the result, once."""
    if dtype is output:
        return value
    return _apply(_code("narrow", dtype), (value,), _STORAGE[output], threads)


def _elementwise(code: int) -> Kernel:
    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, _STORAGE[plan.output])
        _native.elementwise(code, tuple(operands), out, threads)
        return out

    return kernel


# --- sums ---------------------------------------------------------------------------------------


def _is_wide(dtype: SimpleDType) -> bool:
    return dtype is DType.Float64 or dtype is DType.Complex128


def _sum(
    plan: OperationPlan,
    code: int,
    operands: Sequence[Array],
    axes: tuple[int, ...],
    shape: tuple[int, ...],
    threads: int,
) -> Array:
    """Return the sums of terms in the accumulator dtype."""
    assert plan.accumulator_dtype is not None
    out = np.empty(shape, _STORAGE[plan.accumulator_dtype])
    in_f64 = _is_wide(plan.accumulator_dtype)
    _native.sum_terms(code, tuple(operands), axes, in_f64, out, threads)
    return out


def _reduce_sum(
    plan: OperationPlan, operands: Sequence[Array], geometry: Reduction, threads: int
) -> Array:
    assert plan.accumulator_dtype is not None
    total = _sum(plan, -1, operands, geometry.axes, geometry.shape, threads)
    return _narrowed(total, plan.accumulator_dtype, plan.output, threads)


def _mean(
    plan: OperationPlan, operands: Sequence[Array], geometry: Reduction, threads: int
) -> Array:
    accumulator = plan.accumulator_dtype
    assert accumulator is not None
    total = _sum(plan, -1, operands, geometry.axes, geometry.shape, threads)
    count = 1
    for axis in geometry.axes:
        count *= operands[0].shape[axis]
    real = DType.Float64 if _is_wide(accumulator) else DType.Float32
    # Counts are below 2**53, so that this rounds once.
    divisor = np.array(count, _STORAGE[real])
    divided = _apply(
        _code("div", accumulator, real), (total, divisor), _STORAGE[accumulator], threads
    )
    return _narrowed(divided, accumulator, plan.output, threads)


def _norm(
    plan: OperationPlan, operands: Sequence[Array], geometry: Reduction, threads: int
) -> Array:
    accumulator = plan.accumulator_dtype
    assert accumulator is not None
    square = _code("square", plan.operands[0].convert_to)
    total = _sum(plan, square, operands, geometry.axes, geometry.shape, threads)
    root = _apply(_code("sqrt", accumulator), (total,), _STORAGE[accumulator], threads)
    return _narrowed(root, accumulator, plan.output, threads)


def _dot(*, conjugate: bool) -> Kernel:
    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
    ) -> Array:
        accumulator = plan.accumulator_dtype
        assert accumulator is not None
        left, right = (operand.convert_to for operand in plan.operands)
        is_complex = left is DType.Complex64 or left is DType.Complex128
        code = _code("mul_conj" if conjugate and is_complex else "mul", left, right)
        total = _sum(plan, code, operands, (0,), geometry.shape, threads)
        return _narrowed(total, accumulator, plan.output, threads)

    return kernel


def _matmul(
    plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
) -> Array:
    out = np.empty(geometry.shape, _STORAGE[plan.output])
    in_wide = plan.accumulator_dtype is not plan.output
    _native.matmul_wide(in_wide, operands[0], operands[1], out, threads)
    return out


# --- folds and scans ----------------------------------------------------------------------------


def _fold(name: str) -> Kernel:
    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Reduction, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, _STORAGE[plan.output])
        _native.fold(name, operands[0], geometry.axes, out, threads)
        return out

    return kernel


def _cumsum(plan: OperationPlan, operands: Sequence[Array], geometry: Scan, threads: int) -> Array:
    out = np.empty(geometry.shape, _STORAGE[plan.output])
    _native.scan_wide(operands[0], geometry.axis, out, threads)
    return out


# --- the choice ---------------------------------------------------------------------------------

STRUCTURED: dict[str, Kernel] = {
    "reduce_sum": _reduce_sum,
    "mean": _mean,
    "norm": _norm,
    "dot": _dot(conjugate=False),
    "vdot": _dot(conjugate=True),
    "matmul": _matmul,
    "cumsum": _cumsum,
    **{operation: _fold(name) for operation, name in FOLDS.items()},
}
"""Operation -> kernel of a plan that combines terms."""

COMPUTES = frozenset(
    {
        Arithmetic.BINARY32,
        Arithmetic.BINARY64,
        Arithmetic.COMPLEX_BINARY32,
        Arithmetic.COMPLEX_BINARY64,
    }
)


def wide_kernel_of(plan: OperationPlan) -> Kernel | None:
    """Return the kernel of a plan in binary64 or complex arithmetic, None where there is none.

    Also of a plan in binary32 whose operation only the promotion contract has.
    """
    if plan.compute not in COMPUTES:
        return None
    kernel = STRUCTURED.get(plan.operation)
    if kernel is not None:
        return kernel
    function = ELEMENTWISE.get(plan.operation)
    if function is None:
        return None
    code = _code(function, *(operand.convert_to for operand in plan.operands))
    return None if code < 0 else _elementwise(code)
