"""PyTorch on the CPU as a backend: each operation as a user of PyTorch would write it.

Belongs here: which PyTorch call is natural for a plan. Never here: the contract, nor any global
setting of the library. Operands go in with their source dtype, weak scalars as the caller's Python
number, and what comes back is not corrected.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional

from bittrue.dtypes import DType, SimpleDType
from bittrue.geometry import Convolution, Geometry, Indexing, Ordering, Reduction, Scan
from bittrue.policy import OperationPlan
from bittrue.providers.adapter import dtypes_of, natural_result, plain_number, widens
from bittrue.providers.provider import Decline, Layout, Operand, Shape, WeakScalar
from bittrue.tensor import Buffer

Elementwise = Callable[..., Any]
"""Takes the operands: tensors, and Python numbers for weak scalars."""

Structured = Callable[..., Any]
"""Takes the plan, the geometry and the operands."""

_TORCH_DTYPES: Mapping[SimpleDType, Any] = {
    DType.Float32: torch.float32,
    DType.Float64: torch.float64,
    DType.Int32: torch.int32,
    DType.Bool: torch.bool,
    DType.Complex64: torch.complex64,
    DType.Complex128: torch.complex128,
}


def _gelu(x: Any) -> Any:
    return functional.gelu(x, approximate="none")


def _leaky_relu(x: Any) -> Any:
    return functional.leaky_relu(x, negative_slope=0.01)


def _clamp(x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, torch.Tensor) == isinstance(high, torch.Tensor):
        return torch.clamp(x, low, high)
    # One call takes two tensors or two numbers, not one of each.
    return torch.clamp(torch.clamp(x, min=low), max=high)


# --- structured operations ----------------------------------------------------------------------


def _reduce_sum(plan: OperationPlan, geometry: Reduction, x: Any) -> Any:
    # A bare sum of int32 is an int64: whoever wants an int32 asks for it.
    accumulator = _TORCH_DTYPES[plan.accumulator_dtype or plan.output]
    total = torch.sum(x, dim=geometry.axes, keepdim=geometry.keepdims, dtype=accumulator)
    return total.to(_TORCH_DTYPES[plan.output])


def _reduce_prod(_plan: OperationPlan, geometry: Reduction, x: Any) -> Any:
    # torch.prod takes one axis or none; several are reduced one after the other.
    if len(geometry.axes) == x.dim():
        return torch.prod(x).reshape(geometry.shape)
    for axis in reversed(geometry.axes):
        x = torch.prod(x, dim=axis, keepdim=geometry.keepdims)
    return x


def _extremum(function: Callable[..., Any]) -> Structured:
    def reduce(_plan: OperationPlan, geometry: Reduction, x: Any) -> Any:
        return function(x, dim=geometry.axes, keepdim=geometry.keepdims)

    return reduce


def _arg_extremum(function: Callable[..., Any]) -> Structured:
    def position(plan: OperationPlan, geometry: Reduction, x: Any) -> Any:
        axis = geometry.axes[0] if len(geometry.axes) == 1 else None
        return _index(plan, function(x, dim=axis).reshape(geometry.shape))

    return position


def _index(plan: OperationPlan, positions: Any) -> Any:
    # The width of an index is storage, not numerics: int64 positions are narrowed.
    return positions.to(_TORCH_DTYPES[plan.output])


def _cumsum(_plan: OperationPlan, geometry: Scan, x: Any) -> Any:
    return torch.cumsum(x, dim=geometry.axis)


def _averaged(function: Callable[..., Any]) -> Structured:
    def reduce(plan: OperationPlan, geometry: Reduction, x: Any) -> Any:
        accumulator = _TORCH_DTYPES[plan.accumulator_dtype or plan.output] if widens(plan) else None
        result = function(x, dim=geometry.axes, keepdim=geometry.keepdims, dtype=accumulator)
        return result.to(_TORCH_DTYPES[plan.output])

    return reduce


def _vector_norm(x: Any, dim: Any, *, keepdim: bool, dtype: Any) -> Any:
    # Its dtype says whether the terms are complex, as those of x are.
    wide = dtype if dtype is None or not x.is_complex() else torch.complex128
    return torch.linalg.vector_norm(x, dim=dim, keepdim=keepdim, dtype=wide)


def _contraction(function: Callable[..., Any]) -> Structured:
    def contract(plan: OperationPlan, _geometry: Geometry, a: Any, b: Any) -> Any:
        if not widens(plan):
            return function(a, b)
        wide = _TORCH_DTYPES[plan.accumulator_dtype or plan.output]
        return function(a.to(wide), b.to(wide)).to(_TORCH_DTYPES[plan.output])

    return contract


_CONVOLUTIONS: Mapping[int, Any] = {
    1: functional.conv1d,
    2: functional.conv2d,
    3: functional.conv3d,
}
"""Spatial rank -> function."""


def _accepts_convolution(geometry: Convolution) -> Literal[True] | Decline:
    if len(geometry.strides) not in _CONVOLUTIONS:
        return Decline("PyTorch has convolutions of 1, 2 or 3 spatial axes")
    if any(dilation != 1 for dilation in geometry.lhs_dilation):
        return Decline("PyTorch has no convolution that dilates its input")
    return True


def _conv_general(_plan: OperationPlan, geometry: Convolution, lhs: Any, kernel: Any) -> Any:
    lhs = lhs.permute(geometry.lhs_dims)
    padding = [low for low, _ in geometry.padding]
    if any(low != high for low, high in geometry.padding):
        # pad lists the last axis first.
        lhs = functional.pad(lhs, [side for pair in reversed(geometry.padding) for side in pair])
        padding = [0] * len(padding)
    result = _CONVOLUTIONS[len(geometry.strides)](
        lhs,
        kernel.permute(geometry.kernel_dims),
        stride=geometry.strides,
        padding=padding,
        dilation=geometry.kernel_dilation,
        groups=geometry.feature_groups,
    )
    roles = geometry.output_dims
    return result.permute([roles.index(axis) for axis in range(len(roles))])


def _gather(_plan: OperationPlan, geometry: Indexing, data: Any, indices: Any) -> Any:
    taken = torch.index_select(data, geometry.axis, indices.reshape(-1))
    return taken.reshape(geometry.shape)


def _flat(geometry: Indexing, indices: Any, updates: Any) -> tuple[Any, Any]:
    """Lay the indices along one axis, as index_copy and index_add want them."""
    axis = geometry.axis
    shape = (*geometry.shape[:axis], indices.numel(), *geometry.shape[axis + 1 :])
    return indices.reshape(-1).long(), updates.reshape(shape)


def _scatter(_plan: OperationPlan, geometry: Indexing, base: Any, indices: Any, new: Any) -> Any:
    return torch.index_copy(base, geometry.axis, *_flat(geometry, indices, new))


def _scatter_add(
    _plan: OperationPlan, geometry: Indexing, base: Any, indices: Any, updates: Any
) -> Any:
    return torch.index_add(base, geometry.axis, *_flat(geometry, indices, updates))


def _sorted(geometry: Ordering, x: Any) -> Any:
    return torch.sort(x, dim=geometry.axis, descending=geometry.descending, stable=True)


def _sort_values(_plan: OperationPlan, geometry: Ordering, x: Any) -> Any:
    return _sorted(geometry, x).values


def _sort_indices(plan: OperationPlan, geometry: Ordering, x: Any) -> Any:
    return _index(plan, _sorted(geometry, x).indices)


def _topk(geometry: Ordering, x: Any) -> Any:
    return torch.topk(x, geometry.count, dim=geometry.axis, largest=geometry.descending)


def _topk_values(_plan: OperationPlan, geometry: Ordering, x: Any) -> Any:
    return _topk(geometry, x).values


def _topk_indices(plan: OperationPlan, geometry: Ordering, x: Any) -> Any:
    return _index(plan, _topk(geometry, x).indices)


# --- the tables ---------------------------------------------------------------------------------

# Functions take a number on the right only, operators on either side.
ELEMENTWISE: Mapping[str, Elementwise] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "elementwise_mul": torch.mul,
    "div": operator.truediv,
    "pow": torch.pow,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "rem": torch.fmod,
    "remainder": operator.mod,
    "floor_divide": operator.floordiv,
    "conj": torch.conj_physical,
    "real": torch.real,
    "imag": torch.imag,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "logical_not": torch.logical_not,
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": torch.sign,
    "recip": torch.reciprocal,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": torch.log,
    "log2": torch.log2,
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "round": torch.round,
    "relu": functional.relu,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "softplus": functional.softplus,
    "elu": functional.elu,
    "leaky_relu": _leaky_relu,
    "gelu": _gelu,
    "clamp": _clamp,
    "select": torch.where,
}

STRUCTURED: Mapping[str, Structured] = {
    "reduce_sum": _reduce_sum,
    "reduce_prod": _reduce_prod,
    "reduce_max": _extremum(torch.amax),
    "reduce_min": _extremum(torch.amin),
    "argmax": _arg_extremum(torch.argmax),
    "argmin": _arg_extremum(torch.argmin),
    "cumsum": _cumsum,
    "mean": _averaged(torch.mean),
    "norm": _averaged(_vector_norm),
    "dot": _contraction(torch.dot),
    "vdot": _contraction(torch.vdot),
    "matmul": _contraction(torch.matmul),
    "conv_general": _conv_general,
    "gather": _gather,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "_sort_values": _sort_values,
    "_sort_indices": _sort_indices,
    "_topk_values": _topk_values,
    "_topk_indices": _topk_indices,
}


class TorchBackend:
    """PyTorch's own functions on the CPU."""

    name = "torch"

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept every operation of the tables, as far as PyTorch has its attributes."""
        del layout
        if not dtypes_of(plan) <= _TORCH_DTYPES.keys():
            return Decline("PyTorch has no binary128")
        if plan.operation not in ELEMENTWISE and plan.operation not in STRUCTURED:
            return Decline(f"no PyTorch function is known for {plan.operation}")
        if isinstance(attributes, Convolution):
            return _accepts_convolution(attributes)
        if isinstance(attributes, Reduction) and shapes[0] and not attributes.axes:
            return Decline("PyTorch reduces every axis where none is named")
        return True

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Call the function of the operation; what PyTorch raises is raised."""
        arguments = [plain_number(o) if isinstance(o, WeakScalar) else _tensor(o) for o in operands]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if plan.operation in ELEMENTWISE:
                result = ELEMENTWISE[plan.operation](*arguments)
            else:
                result = STRUCTURED[plan.operation](plan, attributes, *arguments)
        return natural_result(self.name, plan, result.numpy())


def _tensor(buffer: Buffer) -> Any:
    # A tensor over a read-only array, or one with negative strides, cannot be had without a copy.
    return torch.from_numpy(np.array(buffer.array, order="C"))
