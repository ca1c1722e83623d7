"""NumPy as a backend: on tame values every plan gives Generic's result, or the typed exception.

`CALLS` and `assert_agrees` also serve the tests of the other adapters, which run this file to get
them: test folders are no packages.
"""

import itertools
from types import MappingProxyType

import numpy as np
import pytest

import bittrue
from bittrue import DType, OperandRole
from bittrue.dispatch import prepare
from bittrue.errors import ResultDTypeError, UnsupportedError
from bittrue.geometry import geometry_of
from bittrue.providers import Decline, backend_of
from bittrue.providers.numpy_adapter import DECLINED, ELEMENTWISE, STRUCTURED

# Values that every correct library agrees on: sums and products stay exact, and no result is a
# zero, a NaN or a subnormal. Position of the operand -> array; shapes broadcast.
FLOATS = (
    np.array([[1.5, -2.0, 0.5], [4.0, -0.25, 3.0]], np.float32),
    np.array([[2.0], [-1.0]], np.float32),
    np.array([1.0, 2.5, 4.0], np.float32),
)
INTS = (
    np.array([[3, -2, 1], [4, 7, -5]], np.int32),
    np.array([[2], [1]], np.int32),
)
POSITIVE = np.array([[1.5, 2.0, 0.5], [4.0, 0.25, 3.0]], np.float32)
CUBE = np.array(
    [[[3, 1, 2, 2], [1, 5, 4, 1], [2, 2, 1, 3]], [[1, 2, 3, 4], [2, 1, 2, 1], [6, 1, 1, 5]]],
    np.float32,
)
"""Rank 3 of unequal extents, with ties along every axis."""

OPERANDS = {
    **dict.fromkeys(["sqrt", "rsqrt", "log", "log2"], (POSITIVE,)),
    "eq": (FLOATS[0], FLOATS[2]),
    "logical_not": (np.array([0.0, 1.0, -0.5], np.float32),),
    "round": (np.array([1.5, 2.5, -1.5, 0.75, -3.25], np.float32),),
    "floor": (np.array([1.5, 2.0, -1.5], np.float32),),
    "ceil": (np.array([1.5, 2.0, -1.5], np.float32),),
    "select": (np.array([True, False, True]), FLOATS[0], FLOATS[1]),
    **dict.fromkeys(
        [
            *("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "argmax", "argmin"),
            *("cumsum", "_sort_values", "_sort_indices"),
        ],
        (CUBE,),
    ),
}
"""Operation -> operands, where `FLOATS` and `INTS` do not fit. Integers where the plan has them."""

CONV_IN = np.arange(72, dtype=np.float32).reshape(2, 4, 9) - 30
CONV_KERNEL = (np.arange(24, dtype=np.float32).reshape(6, 2, 2) - 11) / 2
IMAGE = (np.arange(60, dtype=np.float32).reshape(1, 2, 6, 5) - 20) / 4
IMAGE_KERNEL = np.arange(36, dtype=np.float32).reshape(3, 2, 3, 2) - 15

CONVOLUTIONS = (
    (IMAGE, IMAGE_KERNEL, {"strides": (1, 1), "padding": ((0, 0), (0, 0))}),
    (IMAGE, IMAGE_KERNEL, {"strides": (2, 1), "padding": ((1, 1), (0, 0))}),
    (IMAGE, IMAGE_KERNEL, {"strides": (1, 2), "padding": ((0, 2), (1, 0))}),
    (
        IMAGE,
        IMAGE_KERNEL,
        {"strides": (1, 1), "padding": ((1, 1), (2, 0)), "kernel_dilation": (2, 3)},
    ),
    (CONV_IN, CONV_KERNEL, {"strides": (2,), "padding": ((1, 0),), "feature_groups": 2}),
    (
        CONV_IN.transpose(2, 0, 1),
        CONV_KERNEL.transpose(1, 2, 0),
        {
            "strides": (1,),
            "padding": ((1, 1),),
            "feature_groups": 2,
            "lhs_dims": (1, 2, 0),
            "kernel_dims": (2, 0, 1),
            "output_dims": (2, 0, 1),
        },
    ),
    (
        np.arange(16, dtype=np.float32).reshape(1, 1, 2, 4, 2),
        np.arange(4, dtype=np.float32).reshape(1, 1, 1, 2, 2),
        {"strides": (1, 2, 1), "padding": ((0, 0), (1, 1), (0, 1))},
    ),
)

DILATED_INPUT = (
    *(IMAGE, IMAGE_KERNEL),
    {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 2)},
)
"""A convolution that some libraries do not have."""

INDEXING = (
    (CUBE, np.array([2, 0], np.int32), {"axis": 1}),
    (CUBE, np.array([[1, 3], [2, 0]], np.int32), {"axis": -1}),
    (CUBE, np.array(1, np.int32), {"axis": 0}),
    (CUBE, np.array([], np.int32), {"axis": 1}),
)

REPEATED = (CUBE, np.array([1, 1, 0, 1], np.int32), {"axis": 2})
"""Indices of which one comes three times: not for `scatter`."""

REDUCTIONS = (
    {},
    {"keepdims": True},
    {"axis": 1},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 2)},
    {"axis": (2, 1), "keepdims": True},
)

ATTRIBUTES = {
    **dict.fromkeys(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"], REDUCTIONS),
    **dict.fromkeys(["argmax", "argmin"], REDUCTIONS[:4]),
    "cumsum": ({"axis": 0}, {"axis": 1}, {"axis": -1}),
    **dict.fromkeys(
        ["_sort_values", "_sort_indices"],
        ({}, {"descending": True}, {"axis": 0}, {"axis": 1, "descending": True}),
    ),
}

DISTINCT = np.array([[7, 1, 5, 3], [2, 8, 4, 6]], np.float32)
"""For `topk`, whose order of ties some libraries leave open."""


def operands_of(plan):
    """Tame operand tuples of an elementwise operation, a reduction, a scan or an order."""
    special = OPERANDS.get(plan.operation, ())
    choices = []
    for position, operand in enumerate(plan.operands):
        if operand.role is OperandRole.WEAK_SCALAR:
            choices.append((2,) if operand.convert_to is DType.Int32 else (0.5,))
        elif special:
            integer = operand.dtype is DType.Int32
            choices.append((special[position].astype(np.int32) if integer else special[position],))
        else:
            choices.append(((INTS if operand.dtype is DType.Int32 else FLOATS)[position],))
    return itertools.product(*choices)


def clamps(plan):
    """Bounds: tensors and scalars of either kind, and a number on each side of some element."""
    low, high = (
        (tensor,) if operand.role is OperandRole.TENSOR else numbers
        for operand, tensor, numbers in zip(
            plan.operands[1:], (FLOATS[1] - 2, FLOATS[2]), ((-1, 0.25), (2, 2.5)), strict=True
        )
    )
    return ((FLOATS[0], *bounds, {}) for bounds in itertools.product(low, high))


POWERS = (
    ((2, 3, -4), (3, 1, 2)),
    ((2, 3, -4), 3),
    ((1, 4), 0.5),
    ((1, 2, -4), -1),
    (2, (1, 3, 2)),
    (0.5, (1, 3, 2)),
)
"""Bases and exponents whose powers are exact: a tuple for a tensor, a number for a scalar."""


def powers(plan):
    """Yield the rows of `POWERS` that resolve to the plan, in the dtypes of its tensors."""
    for row in POWERS:
        if [isinstance(entry, tuple) for entry in row] == [
            o.dtype is not None for o in plan.operands
        ]:
            operands = [
                np.array(entry, np.int32 if o.dtype is DType.Int32 else np.float32)
                if isinstance(entry, tuple)
                else entry
                for entry, o in zip(row, plan.operands, strict=True)
            ]
            if prepare("pow", operands, {}, policy=bittrue.SIMPLE).plan == plan:
                yield (*operands, {})


def matmuls(plan):
    """Yield products of unequal extents."""
    lhs, rhs = (
        np.arange(start, start + 6, dtype=np.int32 if o.dtype is DType.Int32 else np.float32)
        for o, start in zip(plan.operands, (-2, 3), strict=True)
    )
    yield (lhs.reshape(2, 3), rhs.reshape(3, 2), {})
    yield (lhs.reshape(3, 2).T, rhs.reshape(3, 2), {})
    yield (lhs.reshape(6, 1), rhs.reshape(1, 6), {})


def scatters(plan):
    """Yield bases, indices and updates of the gathered shape."""
    repeated = (REPEATED,) if plan.operation == "scatter_add" else ()
    for base, indices, attributes in (*INDEXING, *repeated):
        axis = attributes["axis"] % base.ndim
        shape = base.shape[:axis] + indices.shape + base.shape[axis + 1 :]
        size = int(np.prod(shape))
        yield (base, indices, np.arange(10, 10 + size, dtype=np.float32).reshape(shape), attributes)


def topks(_plan):
    """Yield values without ties."""
    yield (DISTINCT, {"k": 2})
    yield (DISTINCT, {"k": 1, "axis": 0, "largest": False})
    yield (DISTINCT.T, {"k": 3, "axis": 0})
    yield (DISTINCT.T, {"k": 4, "axis": 0, "largest": False})


SPECIAL_CALLS = {
    "clamp": clamps,
    "pow": powers,
    "matmul": matmuls,
    "conv_general": lambda _plan: CONVOLUTIONS,
    "gather": lambda _plan: (*INDEXING, REPEATED),
    "scatter": scatters,
    "scatter_add": scatters,
    "_topk_values": topks,
    "_topk_indices": topks,
}


def calls_of(plan):
    """Yield calls of a plan: the operands and, last, the attributes."""
    if plan.operation in SPECIAL_CALLS:
        yield from SPECIAL_CALLS[plan.operation](plan)
        return
    for operands in operands_of(plan):
        for attributes in ATTRIBUTES.get(plan.operation, ({},)):
            yield (*operands, attributes)


CALLS = tuple(
    pytest.param(plan, call, id=f"{plan.operation}-{plan.signature}-{plan.accumulator_dtype}-{i}")
    for plan in bittrue.SIMPLE.plans()
    for i, call in enumerate(calls_of(plan))
)
"""One or more calls of every plan."""

ULPS = MappingProxyType(
    {
        **dict.fromkeys(["exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "rsqrt"], 4),
        **dict.fromkeys(["sigmoid", "silu", "softplus", "elu", "gelu", "div"], 4),
    }
)
"""Operation -> how far a careful library may be from Generic; the others are exact here."""


def run(plan, call, backend):
    """Run a call under the accumulator of its plan."""
    *operands, attributes = call
    if plan.accumulator_dtype is DType.Float64:
        attributes = {**attributes, "accumulator_dtype": DType.Float64}
    return bittrue.run(plan.operation, *operands, backend=backend, **attributes)


def ordinals(tensor):
    """Place of each binary32 in the order of all: neighbours differ by one ulp."""
    bits = tensor.numpy().view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFF_FFFF), bits)


def assert_agrees(plan, call, backend, ulps=ULPS):
    """Compare a backend with Generic: the dtype, the shape, and every element."""
    result, expected = run(plan, call, backend), run(plan, call, "generic")
    assert result.dtype is expected.dtype is plan.output
    assert result.shape == expected.shape
    if plan.output is DType.Float32 and plan.operation in ulps:
        distance = np.abs(ordinals(result) - ordinals(expected))
        assert distance.max(initial=0) <= ulps[plan.operation]
    else:
        assert result.buffer.elements() == expected.buffer.elements()


MIXED = ("Float32, Int32->Float32", "Int32->Float32, Float32", "Int32->Float32, Int32->Float32")

NATURAL = {
    # NumPy computes a mixture of float32 and int32 in float64.
    **{
        (operation, signature): ResultDTypeError
        for operation in ("add", "sub", "mul", "elementwise_mul", "div", "pow")
        for signature in MIXED
    },
    ("matmul", MIXED[0]): ResultDTypeError,
    ("matmul", MIXED[1]): ResultDTypeError,
    # It has no float32 function of an int32.
    **{
        (operation, "Int32->Float32"): ResultDTypeError
        for operation in ("elu", "exp", "leaky_relu", "sigmoid", "silu", "softplus", "tanh")
    },
    # A Python float beside an int32 gives a float64, a Python int an int32.
    ("mul", "Int32->Float32, scalar->Float32"): ResultDTypeError,
    ("pow", "Int32->Float32, scalar->Float32"): (ResultDTypeError, ValueError),
    ("pow", "scalar->Float32, Int32->Float32"): ResultDTypeError,
}
"""What NumPy does instead of giving the plan's result."""


def departure_of(plan):
    """Tell which exception the calls of a plan end in; None for a result."""
    if plan.operation == "matmul" and plan.accumulator_dtype is DType.Float64:
        return None  # the user widens both operands
    return NATURAL.get((plan.operation, plan.signature))


@pytest.mark.parametrize(("plan", "call"), CALLS)
def test_every_plan_agrees_with_generic_or_is_declined_or_departs_as_typed(plan, call):
    departure = departure_of(plan)
    if plan.operation in DECLINED:
        with pytest.raises(UnsupportedError, match=DECLINED[plan.operation]):
            run(plan, call, "numpy")
    elif departure is not None:
        with pytest.raises(departure):
            run(plan, call, "numpy")
    else:
        assert_agrees(plan, call, "numpy")


def test_every_operation_is_in_one_table():
    tables = [*ELEMENTWISE, *STRUCTURED, *DECLINED]
    assert sorted(tables) == [spec.name for spec in bittrue.DEFAULT.specs()]


def test_the_calls_are_of_every_plan_and_each_of_its_own():
    resolved = set()
    for plan, (*operands, attributes) in (param.values for param in CALLS):
        call = prepare(
            plan.operation,
            operands,
            attributes,
            policy=bittrue.SIMPLE,
            accumulator_dtype=plan.accumulator_dtype,
        )
        assert call.plan == plan
        resolved.add(plan)
    assert resolved == set(bittrue.SIMPLE.plans())


def test_a_result_of_another_dtype_says_what_came_and_what_was_expected():
    with pytest.raises(ResultDTypeError) as error:
        bittrue.run("add", FLOATS[0], INTS[0], backend="numpy")
    assert error.value.subject == "add: numpy"
    assert error.value.came == "returned float64"
    assert error.value.accepted == "Float32"


def test_an_int32_result_wraps_as_in_numpy():
    top = np.array([2**31 - 1], np.int32)
    assert bittrue.run("add", top, np.array([1], np.int32), backend="numpy").tolist() == [-(2**31)]


def test_numpy_refuses_a_negative_power_of_an_int32():
    with pytest.raises(ValueError, match="negative integer powers"):
        bittrue.run("pow", INTS[0], -1, backend="numpy")


def test_a_weak_scalar_reaches_numpy_as_the_python_number():
    # The plan converts True to Float32; NumPy is handed the bool and stays with int32.
    with pytest.raises(ResultDTypeError, match="returned int32; expected Float32"):
        bittrue.run("mul", INTS[0], True, backend="numpy")  # noqa: FBT003


def test_no_warning_and_no_change_of_the_error_state():
    before = np.geterr()
    result = bittrue.run("log", np.array([0.0, -1.0], np.float32), backend="numpy").numpy()
    assert result[0] == -np.inf
    assert np.isnan(result[1])
    assert np.geterr() == before


def test_operands_are_not_written():
    base, indices = CUBE.copy(), np.array([0], np.int32)
    updates = np.ones((2, 1, 4), np.float32)
    for operation in ("scatter", "scatter_add"):
        result = bittrue.run(operation, base, indices, updates, axis=1, backend="numpy")
        assert not np.array_equal(result.numpy(), base)
        np.testing.assert_array_equal(base, CUBE)


def test_an_operation_of_another_policy_is_declined_with_its_name():
    plan = bittrue.resolve_operation_plan("exp", DType.Float32)
    plan = bittrue.OperationPlan("cbrt", plan.operands, plan.compute, None, None, plan.output)
    answer = backend_of("numpy").accepts(plan, [(2,)], [(4,)], geometry_of("exp", ((2,),), {}))
    assert answer == Decline("no NumPy function is known for cbrt")
