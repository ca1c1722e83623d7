"""Elementwise operations: the function of each operation and arithmetic, and their loop.

Belongs here: the table from operation to scalar function, and stretching operands to one shape.
Never here: dtypes (the plan fixed them) and the functions themselves. A table of functions over a
format serves every arithmetic of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from bittrue.dtypes import is_complex
from bittrue.encoding import BinaryFormat
from bittrue.generic import activation as act
from bittrue.generic import arithmetic as ar
from bittrue.generic import elementary as el
from bittrue.generic import int32
from bittrue.generic import numbers as nu
from bittrue.generic.array import Array, broadcast
from bittrue.generic.formats import COMPLEX, FORMATS, format_of
from bittrue.geometry import Geometry
from bittrue.policy import Arithmetic, OperationPlan

Function = Callable[..., int]


def _not_equal(fmt: BinaryFormat, lhs: int, rhs: int) -> bool:
    return not ar.equal(fmt, lhs, rhs)


def _logical_not(fmt: BinaryFormat, value: int) -> bool:
    return fmt.is_zero(value)


def _clamp(fmt: BinaryFormat, value: int, lower: int, upper: int) -> int:
    return ar.minimum(fmt, ar.maximum(fmt, value, lower), upper)


def _select(_fmt: BinaryFormat, condition: int, on_true: int, on_false: int) -> int:
    return on_true if condition else on_false


def _itself(_fmt: BinaryFormat, value: int) -> int:
    return value


REAL: dict[str, Function] = {
    "add": ar.add,
    "sub": ar.sub,
    "mul": ar.mul,
    "elementwise_mul": ar.mul,
    "div": ar.div,
    "remainder": ar.remainder,
    "floor_divide": ar.floor_divide,
    "maximum": ar.maximum,
    "minimum": ar.minimum,
    "rem": ar.rem,
    "eq": ar.equal,
    "ne": _not_equal,
    "lt": ar.less,
    "le": ar.less_equal,
    "logical_not": _logical_not,
    "neg": ar.neg,
    "abs": ar.absolute,
    "conj": _itself,
    "sign": ar.sign,
    "recip": ar.recip,
    "sqrt": ar.sqrt,
    "rsqrt": ar.rsqrt,
    "floor": ar.floor,
    "ceil": ar.ceil,
    "round": ar.round_even,
    "clamp": _clamp,
    "select": _select,
}
"""Functions of reals, in any format."""

ELEMENTARY: dict[str, Function] = {
    "pow": el.power,
    "exp": el.exp,
    "exp2": el.exp2,
    "log": el.log,
    "log2": el.log2,
    "sin": el.sin,
    "cos": el.cos,
    "tanh": el.tanh,
    "erf": el.erf,
    "relu": act.relu,
    "sigmoid": act.sigmoid,
    "silu": act.silu,
    "gelu": act.gelu,
    "softplus": act.softplus,
    "elu": act.elu,
    "leaky_relu": act.leaky_relu,
}
"""Functions that are defined for binary32."""

OF_NUMBERS: dict[str, Callable[..., nu.Number]] = {
    "add": nu.add,
    "sub": nu.sub,
    "mul": nu.mul,
    "elementwise_mul": nu.mul,
    "div": nu.div,
    "eq": nu.equal,
    "ne": nu.not_equal,
    "neg": nu.neg,
    "conj": nu.conj,
    "real": nu.real,
    "imag": nu.imag,
    "abs": nu.absolute,
}
"""Functions of complex numbers and the reals beside them, in any format."""

CHECKED: dict[str, Function] = {
    "add": int32.add,
    "sub": int32.sub,
    "mul": int32.mul,
    "elementwise_mul": int32.mul,
    "pow": int32.power,
}

EXACT: dict[str, Function] = {"relu": int32.relu}


def _in_format(
    table: Mapping[str, Callable[..., nu.Number]], fmt: BinaryFormat
) -> dict[str, Callable[..., nu.Number]]:
    return {name: partial(function, fmt) for name, function in table.items()}


FUNCTIONS: dict[Arithmetic, dict[str, Callable[..., nu.Number]]] = {
    **{
        arithmetic: _in_format(OF_NUMBERS if arithmetic in COMPLEX else REAL, fmt)
        for arithmetic, fmt in FORMATS.items()
    },
    Arithmetic.INT32_EXACT_CHECKED: dict(CHECKED),
    Arithmetic.INT32_EXACT: dict(EXACT),
}
FUNCTIONS[Arithmetic.BINARY32].update(_in_format(ELEMENTARY, FORMATS[Arithmetic.BINARY32]))


def function_of(plan: OperationPlan) -> Callable[..., nu.Number]:
    """Return the scalar function that the compute arithmetic of `plan` names."""
    return FUNCTIONS[plan.compute][plan.operation]


def elementwise(
    plan: OperationPlan, operands: tuple[Array, ...], geometry: Geometry
) -> Iterator[int]:
    """Apply the function of `plan` to every element of the broadcast operands, in order."""
    function = function_of(plan)
    columns = [broadcast(operand, geometry.shape) for operand in operands]
    rows = zip(*columns, strict=True)
    if plan.compute not in COMPLEX:
        return (function(*row) for row in rows)  # type: ignore[misc]
    parts = format_of(plan).parts
    pairs = [is_complex(operand.dtype) for operand in operands]
    results = (
        function(*(parts(e) if pair else e for e, pair in zip(row, pairs, strict=True)))
        for row in rows
    )
    return map(nu.writer(plan.output), results) if is_complex(plan.output) else results  # type: ignore[return-value]
