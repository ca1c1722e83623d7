"""NumPy as a backend: each operation as a user of NumPy would write it.

Belongs here: which NumPy call is natural for a plan. Never here: the contract. Operands go in with
their source dtype, weak scalars as the caller's Python number, and what comes back is not
corrected, so that a comparison with Generic shows where NumPy departs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bittrue.dtypes import scalar_of
from bittrue.geometry import Geometry, Indexing, Ordering, Reduction, Scan
from bittrue.policy import OperationPlan
from bittrue.providers.adapter import dtypes_of, natural_result, plain_number, widens
from bittrue.providers.provider import Decline, Layout, Operand, Shape, WeakScalar
from bittrue.tensor import Buffer, storage_of
from bittrue.tensor.buffer import AnyArray

Elementwise = Callable[..., Any]
"""Takes the operands: arrays, and Python numbers for weak scalars."""

Structured = Callable[..., Any]
"""Takes the plan, the geometry and the operands."""


# --- activations, which NumPy has no function for ----------------------------------------------


def _rsqrt(x: AnyArray) -> Any:
    return 1 / np.sqrt(x)


def _relu(x: AnyArray) -> Any:
    return np.maximum(x, 0)


def _sigmoid(x: AnyArray) -> Any:
    return 1 / (1 + np.exp(-x))


def _silu(x: AnyArray) -> Any:
    return x / (1 + np.exp(-x))


def _softplus(x: AnyArray) -> Any:
    return np.logaddexp(x, 0)


def _elu(x: AnyArray) -> Any:
    return np.where(x > 0, x, np.expm1(x))


def _leaky_relu(x: AnyArray) -> Any:
    return np.where(x >= 0, x, x * 0.01)


# --- structured operations ----------------------------------------------------------------------


def _reduction(function: Callable[..., Any]) -> Structured:
    def reduce(plan: OperationPlan, geometry: Reduction, x: AnyArray) -> Any:
        del plan
        return function(x, axis=geometry.axes, keepdims=geometry.keepdims)

    return reduce


def _reduce_sum(plan: OperationPlan, geometry: Reduction, x: AnyArray) -> Any:
    # A bare sum of int32 is an int64: whoever wants an int32 asks for it.
    accumulator = plan.accumulator_dtype or plan.output
    total = np.sum(
        x, axis=geometry.axes, keepdims=geometry.keepdims, dtype=storage_of(accumulator).array
    )
    return total.astype(storage_of(plan.output).array)


def _arg_extremum(function: Callable[..., Any]) -> Structured:
    def position(plan: OperationPlan, geometry: Reduction, x: AnyArray) -> Any:
        axis = geometry.axes[0] if len(geometry.axes) == 1 else None
        return _index(plan, function(x, axis=axis, keepdims=geometry.keepdims))

    return position


def _index(plan: OperationPlan, positions: Any) -> Any:
    # The width of an index is storage, not numerics: int64 positions are narrowed.
    return positions.astype(storage_of(plan.output).array)


def _cumsum(_plan: OperationPlan, geometry: Scan, x: AnyArray) -> Any:
    return np.cumsum(x, axis=geometry.axis)


def _mean(plan: OperationPlan, geometry: Reduction, x: AnyArray) -> Any:
    mean = np.mean(x, axis=geometry.axes, keepdims=geometry.keepdims, dtype=_accumulator(plan))
    return mean.astype(storage_of(plan.output).array)


def _norm(plan: OperationPlan, geometry: Reduction, x: AnyArray) -> Any:
    if not widens(plan):
        return np.linalg.vector_norm(x, axis=geometry.axes, keepdims=geometry.keepdims)
    squares = x.real * x.real + x.imag * x.imag if np.iscomplexobj(x) else x * x
    total = np.sum(
        squares, axis=geometry.axes, keepdims=geometry.keepdims, dtype=_accumulator(plan)
    )
    return np.sqrt(total).astype(storage_of(plan.output).array)


def _accumulator(plan: OperationPlan) -> Any:
    assert plan.accumulator_dtype is not None
    return storage_of(plan.accumulator_dtype).array


def _contraction(function: Callable[[AnyArray, AnyArray], Any]) -> Structured:
    def contract(plan: OperationPlan, _geometry: Geometry, a: AnyArray, b: AnyArray) -> Any:
        if not widens(plan):
            return function(a, b)
        wide = _accumulator(plan)
        return function(a.astype(wide), b.astype(wide)).astype(storage_of(plan.output).array)

    return contract


def _gather(_plan: OperationPlan, geometry: Indexing, data: AnyArray, indices: AnyArray) -> Any:
    return np.take(data, indices, axis=geometry.axis)


def _key(geometry: Indexing, indices: AnyArray) -> tuple[Any, ...]:
    return (slice(None),) * geometry.axis + (indices,)


def _scatter(
    _plan: OperationPlan,
    geometry: Indexing,
    base: AnyArray,
    indices: AnyArray,
    updates: AnyArray,
) -> Any:
    out = base.copy()
    out[_key(geometry, indices)] = updates
    return out


def _scatter_add(
    _plan: OperationPlan,
    geometry: Indexing,
    base: AnyArray,
    indices: AnyArray,
    updates: AnyArray,
) -> Any:
    out = base.copy()
    np.add.at(out, _key(geometry, indices), updates)
    return out


def _sort_values(_plan: OperationPlan, geometry: Ordering, x: AnyArray) -> Any:
    ascending = np.sort(x, axis=geometry.axis)
    return np.flip(ascending, geometry.axis) if geometry.descending else ascending


def _order(geometry: Ordering, x: AnyArray) -> Any:
    keys = -x if geometry.descending else x
    order = np.argsort(keys, axis=geometry.axis, kind="stable")
    return order[(slice(None),) * geometry.axis + (slice(geometry.count),)]


def _ordered_indices(plan: OperationPlan, geometry: Ordering, x: AnyArray) -> Any:
    return _index(plan, _order(geometry, x))


def _topk_values(_plan: OperationPlan, geometry: Ordering, x: AnyArray) -> Any:
    return np.take_along_axis(x, _order(geometry, x), axis=geometry.axis)


# --- the tables ---------------------------------------------------------------------------------

ELEMENTWISE: Mapping[str, Elementwise] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "elementwise_mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "rem": np.fmod,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "conj": np.conjugate,
    "real": np.real,
    "imag": np.imag,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "logical_not": np.logical_not,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "recip": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "softplus": _softplus,
    "elu": _elu,
    "leaky_relu": _leaky_relu,
    "clamp": np.clip,
    "select": np.where,
}

STRUCTURED: Mapping[str, Structured] = {
    "reduce_sum": _reduce_sum,
    "reduce_prod": _reduction(np.prod),
    "reduce_max": _reduction(np.max),
    "reduce_min": _reduction(np.min),
    "argmax": _arg_extremum(np.argmax),
    "argmin": _arg_extremum(np.argmin),
    "cumsum": _cumsum,
    "mean": _mean,
    "norm": _norm,
    "dot": _contraction(np.dot),
    "vdot": _contraction(np.vdot),
    "matmul": _contraction(np.matmul),
    "gather": _gather,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "_sort_values": _sort_values,
    "_sort_indices": _ordered_indices,
    "_topk_values": _topk_values,
    "_topk_indices": _ordered_indices,
}

DECLINED: Mapping[str, str] = {
    "erf": "NumPy has no erf",
    "gelu": "NumPy has no erf",
    "conv_general": "NumPy has no convolution over batches and features",
}


class NumpyBackend:
    """NumPy's own functions."""

    name = "numpy"

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept every operation of the tables on the dtypes that NumPy has."""
        del shapes, layout, attributes
        if any(row.numpy is None for row in map(scalar_of, dtypes_of(plan)) if row is not None):
            return Decline("NumPy has no binary128")
        if plan.operation in ELEMENTWISE or plan.operation in STRUCTURED:
            return True
        return Decline(
            DECLINED.get(plan.operation, f"no NumPy function is known for {plan.operation}")
        )

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Call the function of the operation; what NumPy raises is raised."""
        arguments = [plain_number(o) if isinstance(o, WeakScalar) else o.array for o in operands]
        # The mean of nothing is a NaN that NumPy also warns of, whatever its error state.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            if plan.operation in ELEMENTWISE:
                result = ELEMENTWISE[plan.operation](*arguments)
            else:
                result = STRUCTURED[plan.operation](plan, attributes, *arguments)
        return natural_result(self.name, plan, result)
