"""Elementwise operations: the function of each operation and arithmetic, and their loop.

Belongs here: the table from operation to scalar function, and stretching operands to one shape.
Never here: dtypes (the plan fixed them) and the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from bittrue.encoding import BINARY32
from bittrue.generic import activation as act
from bittrue.generic import arithmetic as ar
from bittrue.generic import elementary as el
from bittrue.generic import int32
from bittrue.generic.array import Array, broadcast
from bittrue.geometry import Geometry
from bittrue.policy import Arithmetic, OperationPlan

Function = Callable[..., int]


def _not_equal(lhs: int, rhs: int) -> bool:
    return not ar.equal(BINARY32, lhs, rhs)


def _logical_not(value: int) -> bool:
    return BINARY32.is_zero(value)


def _clamp(value: int, lower: int, upper: int) -> int:
    return ar.minimum(BINARY32, ar.maximum(BINARY32, value, lower), upper)


def _select(condition: int, on_true: int, on_false: int) -> int:
    return on_true if condition else on_false


def _binary32(function: Callable[..., int]) -> Function:
    return partial(function, BINARY32)


# fmt: off
FLOATING: dict[str, Function] = {
    "add": _binary32(ar.add),
    "sub": _binary32(ar.sub),
    "mul": _binary32(ar.mul),
    "elementwise_mul": _binary32(ar.mul),
    "div": _binary32(ar.div),
    "pow": _binary32(el.power),
    "maximum": _binary32(ar.maximum),
    "minimum": _binary32(ar.minimum),
    "rem": _binary32(ar.rem),
    "eq": _binary32(ar.equal),
    "ne": _not_equal,
    "lt": _binary32(ar.less),
    "le": _binary32(ar.less_equal),
    "logical_not": _logical_not,
    "neg": _binary32(ar.neg),
    "abs": _binary32(ar.absolute),
    "sign": _binary32(ar.sign),
    "recip": _binary32(ar.recip),
    "sqrt": _binary32(ar.sqrt),
    "rsqrt": _binary32(ar.rsqrt),
    "floor": _binary32(ar.floor),
    "ceil": _binary32(ar.ceil),
    "round": _binary32(ar.round_even),
    "exp": _binary32(el.exp),
    "exp2": _binary32(el.exp2),
    "log": _binary32(el.log),
    "log2": _binary32(el.log2),
    "sin": _binary32(el.sin),
    "cos": _binary32(el.cos),
    "tanh": _binary32(el.tanh),
    "erf": _binary32(el.erf),
    "relu": _binary32(act.relu),
    "sigmoid": _binary32(act.sigmoid),
    "silu": _binary32(act.silu),
    "gelu": _binary32(act.gelu),
    "softplus": _binary32(act.softplus),
    "elu": _binary32(act.elu),
    "leaky_relu": _binary32(act.leaky_relu),
    "clamp": _clamp,
    "select": _select,
}

CHECKED: dict[str, Function] = {
    "add": int32.add,
    "sub": int32.sub,
    "mul": int32.mul,
    "elementwise_mul": int32.mul,
    "pow": int32.power,
}

EXACT: dict[str, Function] = {"relu": int32.relu}
# fmt: on

FUNCTIONS: dict[Arithmetic, dict[str, Function]] = {
    Arithmetic.BINARY32: FLOATING,
    Arithmetic.INT32_EXACT_CHECKED: CHECKED,
    Arithmetic.INT32_EXACT: EXACT,
}


def function_of(plan: OperationPlan) -> Function:
    """Return the scalar function that the compute arithmetic of `plan` names."""
    return FUNCTIONS[plan.compute][plan.operation]


def elementwise(
    plan: OperationPlan, operands: tuple[Array, ...], geometry: Geometry
) -> Iterator[int]:
    """Apply the function of `plan` to every element of the broadcast operands, in order."""
    function = function_of(plan)
    columns = [broadcast(operand, geometry.shape) for operand in operands]
    return (function(*row) for row in zip(*columns, strict=True))
