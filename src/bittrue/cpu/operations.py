"""Operations by the compiled kernels: which kernel runs a plan, over arrays and geometry.

Belongs here: the tables from operation to kernel, and the allocation of results. Never here: which
dtypes a plan has (`policy`), shapes and attributes (`geometry`), arithmetic (native/). A result has
the bits that Generic gives; it does not depend on strides nor on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bittrue.cpu import _native
from bittrue.cpu.elementary import ACTIVATIONS, PRIMITIVES, elementary, power
from bittrue.cpu.wide import wide_kernel_of
from bittrue.dtypes import DType
from bittrue.errors import Int32OverflowError
from bittrue.geometry import Convolution, Geometry, Indexing, Ordering, Reduction, Scan
from bittrue.policy import Arithmetic, OperationPlan

Array = NDArray[Any]
Kernel = Callable[[OperationPlan, Sequence[Array], Any, int], Array]
"""Takes the plan, the operands in their source dtypes, the geometry and the number of threads."""

SMALL = 1 << 15
"""Elements below which a call is not worth a second thread."""


# --- elementwise --------------------------------------------------------------------------------

CODES: Mapping[str, int] = {name: code for code, name in enumerate(_native.elementwise_names())}
"""Elementwise functions that the extension has, and their codes."""

BINARY32: Mapping[str, str] = {
    **{
        name: name
        for name in (
            "abs", "add", "ceil", "clamp", "cos", "div", "elu", "eq", "erf", "exp", "exp2",
            "floor", "gelu", "le", "leaky_relu", "log", "log2", "logical_not", "lt", "maximum",
            "minimum", "mul", "ne", "neg", "pow", "recip", "relu", "rem", "round", "rsqrt",
            "select", "sigmoid", "sign", "silu", "sin", "softplus", "sqrt", "sub", "tanh",
        )
    },
    "elementwise_mul": "mul",
}  # fmt: skip
"""Operation -> its function where the plan computes in binary32."""

INT32: Mapping[str, str] = {
    "add": "add_int32",
    "sub": "sub_int32",
    "mul": "mul_int32",
    "elementwise_mul": "mul_int32",
    "pow": "pow_int32",
    "relu": "relu_int32",
}
"""Operation -> its function where the plan computes on Int32."""


def _elementwise(code: int, storage: Any) -> Kernel:
    run = _native.elementwise
    empty = np.empty
    # The position of an overflow is one in logical order.
    any_order = storage is not np.int32

    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
    ) -> Array:
        shape = geometry.shape
        if any_order and len(shape) > 1 and not operands[0].flags.c_contiguous:
            axes = _memory_order(operands, shape)
            if axes is not None:
                views = tuple(np.broadcast_to(x, shape).transpose(axes) for x in operands)
                out = empty([shape[axis] for axis in axes], storage)
                run(code, views, out, threads)
                return out.transpose([axes.index(axis) for axis in range(len(axes))])
        out = empty(shape, storage)
        position = run(code, tuple(operands), out, threads)
        if position >= 0:
            raise _overflow(plan, position, shape)
        return out

    return kernel


def _memory_order(operands: Sequence[Array], shape: tuple[int, ...]) -> list[int] | None:
    """Return the axes from the widest step to the narrowest, where all operands agree on another.

    Operands of one element, as scalars are, agree to any order.
    """
    found = None
    for operand in operands:
        if operand.size == 1:
            continue
        if operand.shape != shape:
            return None
        steps = operand.strides
        axes = sorted(range(len(shape)), key=lambda axis: -abs(steps[axis]))
        if found is not None and axes != found:
            return None
        found = axes
    return None if found == list(range(len(shape))) else found


def _overflow(plan: OperationPlan, position: int, shape: tuple[int, ...]) -> Int32OverflowError:
    where = np.unravel_index(position, shape) if shape else ()
    return Int32OverflowError(plan.operation, tuple(int(index) for index in where))


_ONE = np.ones((), np.float32)


def _floats(array: Array) -> Array:
    """Return one contiguous axis of binary32; an Int32 converts with one rounding.

    The kernel of `mul` converts as it reads: NumPy would round as the calling thread is set to.
    """
    if array.dtype != np.float32:
        converted = np.empty(array.shape, np.float32)
        _native.elementwise(CODES["mul"], (array, _ONE), converted, 1)
        return converted.reshape(-1)
    return np.ascontiguousarray(array).reshape(-1)


def _function(name: str) -> Kernel:
    def kernel(
        _plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, np.float32)
        elementary(name, _floats(operands[0]), out.reshape(-1), threads)
        return out

    return kernel


def _power(
    _plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
) -> Array:
    out = np.empty(geometry.shape, np.float32)
    x, y = (_floats(np.broadcast_to(operand, geometry.shape)) for operand in operands)
    power(x, y, out.reshape(-1), threads)
    return out


# --- structured ---------------------------------------------------------------------------------


def _reduction(name: str, storage: Any) -> Kernel:
    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Reduction, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, storage)
        position = _native.reduce(name, operands[0], geometry.axes, out, threads)
        if position >= 0:
            raise _overflow(plan, position, geometry.shape)
        return out

    return kernel


def _scan(_plan: OperationPlan, operands: Sequence[Array], geometry: Scan, threads: int) -> Array:
    out = np.empty(geometry.shape, np.float32)
    _native.scan(operands[0], geometry.axis, out, threads)
    return out


def _product(rule: str, storage: Any) -> Kernel:
    def kernel(
        plan: OperationPlan, operands: Sequence[Array], geometry: Geometry, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, storage)
        position = _native.matmul(rule, operands[0], operands[1], out, threads)
        if position >= 0:
            raise _overflow(plan, position, geometry.shape)
        return out

    return kernel


def _convolution(
    _plan: OperationPlan, operands: Sequence[Array], geometry: Convolution, threads: int
) -> Array:
    lhs, kernel = operands
    roles = geometry.output_dims
    out = np.empty([geometry.shape[axis] for axis in roles], np.float32)
    _native.convolve(
        lhs.transpose(geometry.lhs_dims),
        kernel.transpose(geometry.kernel_dims),
        geometry.strides,
        tuple(low for low, _ in geometry.padding),
        geometry.lhs_dilation,
        geometry.kernel_dilation,
        geometry.feature_groups,
        out,
        threads,
    )
    return out.transpose([roles.index(axis) for axis in range(len(roles))])


def _gather(
    _plan: OperationPlan, operands: Sequence[Array], geometry: Indexing, threads: int
) -> Array:
    out = np.empty(geometry.shape, np.float32)
    _native.gather(operands[0], operands[1], geometry.axis, out, threads)
    return out


def _scattering(*, add: bool) -> Kernel:
    def kernel(
        _plan: OperationPlan, operands: Sequence[Array], geometry: Indexing, threads: int
    ) -> Array:
        base, indices, updates = operands
        out = np.empty(geometry.shape, np.float32)
        _native.scatter(add, base, indices, updates, geometry.axis, out, threads)
        return out

    return kernel


def _ordering(*, positions: bool) -> Kernel:
    storage = np.int32 if positions else np.float32

    def kernel(
        _plan: OperationPlan, operands: Sequence[Array], geometry: Ordering, threads: int
    ) -> Array:
        out = np.empty(geometry.shape, storage)
        _native.sort(operands[0], geometry.axis, geometry.descending, positions, out, threads)
        return out

    return kernel


# --- the choice ---------------------------------------------------------------------------------

_BOOLEAN = frozenset({"eq", "ne", "lt", "le", "logical_not"})

FLOATING: dict[str, Kernel] = {
    **{
        name: _elementwise(CODES[function], np.bool_ if name in _BOOLEAN else np.float32)
        for name, function in BINARY32.items()
        if function in CODES
    },
    **{
        name: _function(name)
        for name in (*PRIMITIVES, *ACTIVATIONS)
        if name in BINARY32 and name not in CODES
    },
    "pow": _power,
    "reduce_prod": _reduction("reduce_prod", np.float32),
    "reduce_max": _reduction("reduce_max", np.float32),
    "reduce_min": _reduction("reduce_min", np.float32),
    "argmax": _reduction("argmax", np.int32),
    "argmin": _reduction("argmin", np.int32),
    "reduce_sum": _reduction("reduce_sum", np.float32),
    "matmul": _product("float32", np.float32),
    "cumsum": _scan,
    "conv_general": _convolution,
    "gather": _gather,
    "scatter": _scattering(add=False),
    "scatter_add": _scattering(add=True),
    "_sort_values": _ordering(positions=False),
    "_topk_values": _ordering(positions=False),
    "_sort_indices": _ordering(positions=True),
    "_topk_indices": _ordering(positions=True),
}
"""Operation -> kernel where the plan computes in binary32 with the accumulator Float32 or none."""

IN_FLOAT64: dict[str, Kernel] = {
    "reduce_sum": _reduction("reduce_sum_float64", np.float32),
    "matmul": _product("float64", np.float32),
}
"""Operation -> kernel where the accumulator is Float64."""

EXACT: dict[str, Kernel] = {
    **{name: _elementwise(CODES[function], np.int32) for name, function in INT32.items()},
    "reduce_sum": _reduction("reduce_sum_int32", np.int32),
    "matmul": _product("int32", np.int32),
}
"""Operation -> kernel where the plan computes on Int32."""


def kernel_of(plan: OperationPlan) -> Kernel | None:
    """Return the kernel that runs a plan of the built-in policies, None where there is none."""
    if plan.compute is Arithmetic.BINARY32:
        if plan.operation not in FLOATING:
            return wide_kernel_of(plan)
        if plan.accumulator_dtype is DType.Float64:
            return IN_FLOAT64.get(plan.operation)
        return FLOATING[plan.operation]
    if plan.compute in (Arithmetic.INT32_EXACT_CHECKED, Arithmetic.INT32_EXACT):
        return EXACT.get(plan.operation)
    return wide_kernel_of(plan)
