"""ONNX Runtime on the CPU as a backend: each operation as the ONNX model that a user would export.

Belongs here: which ONNX operators are natural for a plan. Never here: the contract. ONNX has no
promotion and no weak scalars: a model casts its operands to the dtypes of the plan and takes
scalars as rank-0 tensors. Beyond that, what comes back is not corrected.

A model is a few `Step`s over operands ``a``, ``b``, ``c``; sessions are kept by the text of their
model, never by shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from bittrue.dtypes import DType, SimpleDType
from bittrue.geometry import Convolution, Geometry, Indexing, Ordering, Reduction, Scan
from bittrue.policy import OperandRole, OperationPlan
from bittrue.providers.adapter import dtypes_of, natural_result, widens
from bittrue.providers.provider import Decline, Layout, Operand, Shape, converted
from bittrue.tensor import Buffer
from bittrue.tensor.buffer import AnyArray

OPSET = 21
IR_VERSION = 10
"""What the oldest supported release of ONNX Runtime (1.20) reads."""

QUIET = 4
"""Log severity: only what is fatal; errors arrive as exceptions."""

_ONNX_TYPES: Mapping[SimpleDType, int] = {
    DType.Float32: TensorProto.FLOAT,
    DType.Float64: TensorProto.DOUBLE,
    DType.Int32: TensorProto.INT32,
    DType.Bool: TensorProto.BOOL,
}

Value = int | float | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One node: operator, names it reads and writes (separated by blanks), attributes."""

    operator: str
    reads: str = "a"
    writes: str = "out"
    attributes: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """An int64 initializer: a number or a list."""

    name: str
    value: int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model over operands named ``a``, ``b``, ``c``; the result is called ``out``.

    `casts` are the plan's (source, converted) dtypes of the operands.
    """

    casts: tuple[tuple[SimpleDType, SimpleDType], ...]
    ranks: tuple[int, ...]
    output: SimpleDType
    steps: tuple[Step, ...]
    constants: tuple[Constant, ...] = ()


Parts = tuple[tuple[Step, ...], tuple[Constant, ...]]
Builder = Callable[[OperationPlan, Any], Parts]
"""Takes the plan and the geometry."""

Preparation = Callable[[Any, list[AnyArray]], list[AnyArray]]
"""Lays the operands out as an operator wants them; moves elements, computes nothing."""


# --- structured operations ----------------------------------------------------------------------


def _narrowed(plan: OperationPlan, read: str) -> Step:
    return Step("Cast", read, "out", (("to", _ONNX_TYPES[plan.output]),))


def _widened(plan: OperationPlan, step: Step, operands: str) -> tuple[Step, ...]:
    """Where the accumulator is Float64 alone: cast `operands` to it, compute `step`, cast back."""
    if not widens(plan):
        return (step,)
    to_double = (("to", int(TensorProto.DOUBLE)),)
    wide = {name: f"{name}_wide" for name in operands.split()}
    reads = " ".join(wide.get(name, name) for name in step.reads.split())
    return (
        *(Step("Cast", name, wide[name], to_double) for name in wide),
        Step(step.operator, reads, "wide", step.attributes),
        _narrowed(plan, "wide"),
    )


def _inner(plan: OperationPlan, _geometry: Geometry) -> Parts:
    return _widened(plan, Step("MatMul", "a b"), "a b"), ()


def _reduction(operator: str) -> Builder:
    def build(plan: OperationPlan, geometry: Reduction) -> Parts:
        attributes = (("keepdims", int(geometry.keepdims)), ("noop_with_empty_axes", 1))
        step = Step(operator, "a axes", "out", attributes)
        return _widened(plan, step, "a"), (Constant("axes", geometry.axes),)

    return build


def _arg_extremum(operator: str) -> Builder:
    def build(plan: OperationPlan, geometry: Reduction) -> Parts:
        # An index is an int64: Int32 costs the user a cast.
        axis = geometry.axes[0] if len(geometry.axes) == 1 else 0
        step = Step(operator, "a", "wide", (("axis", axis), ("keepdims", int(geometry.keepdims))))
        return (step, _narrowed(plan, "wide")), ()

    return build


def _cumsum(_plan: OperationPlan, geometry: Scan) -> Parts:
    return (Step("CumSum", "a axis"),), (Constant("axis", geometry.axis),)


def _conv_general(_plan: OperationPlan, geometry: Convolution) -> Parts:
    roles = geometry.output_dims
    back = tuple(roles.index(axis) for axis in range(len(roles)))
    pads = tuple(pair[side] for side in (0, 1) for pair in geometry.padding)
    attributes = (
        ("strides", geometry.strides),
        ("pads", pads),
        ("dilations", geometry.kernel_dilation),
        ("group", geometry.feature_groups),
    )
    steps = (
        Step("Transpose", "a", "lhs", (("perm", geometry.lhs_dims),)),
        Step("Transpose", "b", "kernel", (("perm", geometry.kernel_dims),)),
        Step("Conv", "lhs kernel", "result", attributes),
        Step("Transpose", "result", "out", (("perm", back),)),
    )
    return steps, ()


def _gather(_plan: OperationPlan, geometry: Indexing) -> Parts:
    return (Step("Gather", "a b", "out", (("axis", geometry.axis),)),), ()


def _scatter(reduction: tuple[tuple[str, Any], ...]) -> Builder:
    def build(_plan: OperationPlan, geometry: Indexing) -> Parts:
        attributes = (("axis", geometry.axis), *reduction)
        return (Step("ScatterElements", "a b c", "out", attributes),), ()

    return build


def _topk(*, indices: bool) -> Builder:
    def build(plan: OperationPlan, geometry: Ordering) -> Parts:
        attributes = (("axis", geometry.axis), ("largest", int(geometry.descending)))
        constants = (Constant("k", (geometry.count,)),)
        if not indices:
            return (Step("TopK", "a k", "out positions", attributes),), constants
        steps = (Step("TopK", "a k", "values positions", attributes), _narrowed(plan, "positions"))
        return steps, constants

    return build


def _clamp(plan: OperationPlan, _geometry: Geometry) -> Parts:
    # Clip takes scalar bounds only.
    if all(operand.role is OperandRole.WEAK_SCALAR for operand in plan.operands[1:]):
        return (Step("Clip", "a b c"),), ()
    return (Step("Max", "a b", "low"), Step("Min", "low c")), ()


def _flattened(geometry: Reduction, arrays: list[AnyArray]) -> list[AnyArray]:
    """ArgMax and ArgMin take one axis: all axes are first made one."""
    (x,) = arrays
    return [x if len(geometry.axes) == 1 else x.reshape(-1)]


def _elementwise_indices(geometry: Indexing, arrays: list[AnyArray]) -> list[AnyArray]:
    """Give each update its own index, as ScatterElements wants them."""
    base, indices, updates = arrays
    axis = geometry.axis
    updates = updates.reshape(*base.shape[:axis], indices.size, *base.shape[axis + 1 :])
    column = indices.reshape(-1, *(1,) * (base.ndim - axis - 1))
    return [base, np.array(np.broadcast_to(column, updates.shape)), updates]


# --- the tables ---------------------------------------------------------------------------------

_BINARY = "a b"
_CAST_TO_BOOL = (("to", int(TensorProto.BOOL)),)

# fmt: off
STEPS: Mapping[str, tuple[Step, ...]] = {
    "add": (Step("Add", _BINARY),),
    "sub": (Step("Sub", _BINARY),),
    "mul": (Step("Mul", _BINARY),),
    "elementwise_mul": (Step("Mul", _BINARY),),
    "div": (Step("Div", _BINARY),),
    "pow": (Step("Pow", _BINARY),),
    "maximum": (Step("Max", _BINARY),),
    "minimum": (Step("Min", _BINARY),),
    "rem": (Step("Mod", _BINARY, "out", (("fmod", 1),)),),
    "eq": (Step("Equal", _BINARY),),
    "ne": (Step("Equal", _BINARY, "same"), Step("Not", "same")),
    "floor_divide": (Step("Div", _BINARY, "quotient"), Step("Floor", "quotient")),
    "conj": (Step("Identity"),),
    "lt": (Step("Less", _BINARY),),
    "le": (Step("LessOrEqual", _BINARY),),
    "logical_not": (Step("Cast", "a", "truth", _CAST_TO_BOOL), Step("Not", "truth")),
    "neg": (Step("Neg"),),
    "abs": (Step("Abs"),),
    "sign": (Step("Sign"),),
    "recip": (Step("Reciprocal"),),
    "sqrt": (Step("Sqrt"),),
    "rsqrt": (Step("Sqrt", "a", "root"), Step("Reciprocal", "root")),
    "exp": (Step("Exp"),),
    "log": (Step("Log"),),
    "sin": (Step("Sin"),),
    "cos": (Step("Cos"),),
    "tanh": (Step("Tanh"),),
    "erf": (Step("Erf"),),
    "floor": (Step("Floor"),),
    "ceil": (Step("Ceil"),),
    "round": (Step("Round"),),
    "relu": (Step("Relu"),),
    "sigmoid": (Step("Sigmoid"),),
    "silu": (Step("Sigmoid", "a", "gate"), Step("Mul", "a gate")),
    "softplus": (Step("Softplus"),),
    "elu": (Step("Elu"),),
    "leaky_relu": (Step("LeakyRelu", "a", "out", (("alpha", 0.01),)),),
    "gelu": (Step("Gelu"),),
    "select": (Step("Where", "a b c"),),
}
# fmt: on

STRUCTURED: Mapping[str, Builder] = {
    "clamp": _clamp,
    "reduce_sum": _reduction("ReduceSum"),
    "reduce_prod": _reduction("ReduceProd"),
    "reduce_max": _reduction("ReduceMax"),
    "reduce_min": _reduction("ReduceMin"),
    "argmax": _arg_extremum("ArgMax"),
    "argmin": _arg_extremum("ArgMin"),
    "cumsum": _cumsum,
    "mean": _reduction("ReduceMean"),
    "norm": _reduction("ReduceL2"),
    "dot": _inner,
    "vdot": _inner,
    "matmul": _inner,
    "conv_general": _conv_general,
    "gather": _gather,
    "scatter": _scatter(()),
    "scatter_add": _scatter((("reduction", "add"),)),
    "_sort_values": _topk(indices=False),
    "_sort_indices": _topk(indices=True),
    "_topk_values": _topk(indices=False),
    "_topk_indices": _topk(indices=True),
}

PREPARATIONS: Mapping[str, Preparation] = {
    "argmax": _flattened,
    "argmin": _flattened,
    "scatter": _elementwise_indices,
    "scatter_add": _elementwise_indices,
}

DECLINED: Mapping[str, str] = {
    "exp2": "ONNX has no exp2",
    "log2": "ONNX has no log2",
    "remainder": "ONNX has no floored remainder of floats",
    "real": "ONNX has no part of a complex number",
    "imag": "ONNX has no part of a complex number",
}


class OnnxRuntimeBackend:
    """The kernels of ONNX Runtime's CPU execution provider."""

    name = "onnxruntime"

    def accepts(
        self,
        plan: OperationPlan,
        shapes: Sequence[Shape],
        layout: Sequence[Layout],
        attributes: Geometry,
    ) -> Literal[True] | Decline:
        """Accept every operation of the tables, as far as ONNX has its attributes."""
        del shapes, layout
        if not dtypes_of(plan) <= _ONNX_TYPES.keys():
            return Decline("ONNX Runtime has no kernels of complex numbers nor of binary128")
        if plan.operation not in STEPS and plan.operation not in STRUCTURED:
            return Decline(
                DECLINED.get(plan.operation, f"no ONNX operator is known for {plan.operation}")
            )
        if isinstance(attributes, Convolution) and set(attributes.lhs_dilation) != {1}:
            return Decline("ONNX has no convolution that dilates its input")
        return True

    def execute(
        self, plan: OperationPlan, operands: Sequence[Operand], attributes: Geometry
    ) -> Buffer:
        """Run the model of the operation; what ONNX Runtime raises is raised."""
        arrays = [converted(operand).array for operand in operands]
        if plan.operation in PREPARATIONS:
            arrays = PREPARATIONS[plan.operation](attributes, arrays)
        session = _session(_model(plan, attributes, tuple(array.ndim for array in arrays)))
        (result,) = session.run(["out"], dict(zip("abc", arrays, strict=False)))
        return natural_result(self.name, plan, np.asarray(result).reshape(attributes.shape))


def _model(plan: OperationPlan, geometry: Geometry, ranks: tuple[int, ...]) -> Model:
    if plan.operation in STEPS:
        parts: Parts = STEPS[plan.operation], ()
    else:
        parts = STRUCTURED[plan.operation](plan, geometry)
    # A weak scalar has no source dtype: the model takes it converted.
    casts = tuple((o.dtype or o.convert_to, o.convert_to) for o in plan.operands)
    return Model(casts, ranks, plan.output, *parts)


@lru_cache(maxsize=1024)
def _session(model: Model) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    return onnxruntime.InferenceSession(
        _serialised(model), options, providers=["CPUExecutionProvider"]
    )


def _serialised(model: Model) -> bytes:
    operands = tuple(zip("abc", model.ranks, model.casts, strict=False))
    cast = {name: f"{name}_cast" for name, _, (source, target) in operands if source is not target}
    steps = [
        Step("Cast", name, f"{name}_cast", (("to", _ONNX_TYPES[target]),))
        for name, _, (_, target) in operands
        if name in cast
    ]
    steps += [
        Step(s.operator, " ".join(cast.get(n, n) for n in s.reads.split()), s.writes, s.attributes)
        for s in model.steps
    ]
    graph = helper.make_graph(
        [_node(step) for step in steps],
        "operation",
        [
            helper.make_tensor_value_info(name, _ONNX_TYPES[source], [None] * rank)
            for name, rank, (source, _) in operands
        ],
        [helper.make_tensor_value_info("out", _ONNX_TYPES[model.output], None)],
        [_initializer(constant) for constant in model.constants],
    )
    opset = helper.make_opsetid("", OPSET)
    proto = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
    serialised: bytes = proto.SerializeToString()
    return serialised


def _node(step: Step) -> Any:
    attributes: dict[str, Any] = dict(step.attributes)
    return helper.make_node(step.operator, step.reads.split(), step.writes.split(), **attributes)


def _initializer(constant: Constant) -> Any:
    return numpy_helper.from_array(np.array(constant.value, np.int64), constant.name)
