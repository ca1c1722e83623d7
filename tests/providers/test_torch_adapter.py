"""PyTorch as a backend: on tame values every plan gives Generic's result, or the typed exception.

The calls, and how a result is compared, are those of the NumPy test.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import bittrue
from bittrue.errors import ResultDTypeError, UnsupportedError

SHARED = runpy.run_path(str(Path(__file__).with_name("test_numpy_adapter.py")))

pytestmark = pytest.mark.peers


@pytest.fixture(autouse=True)
def torch():
    """Skip where PyTorch is not installed."""
    return pytest.importorskip("torch")


NATURAL = {
    # pow of two int32 stays int32, and has no negative powers.
    ("pow", "Int32->Float32, Int32->Float32"): ResultDTypeError,
    # matmul takes one dtype.
    ("matmul", "Float32, Int32->Float32"): RuntimeError,
    ("matmul", "Int32->Float32, Float32"): RuntimeError,
    # These have no kernel for an int32; exp, sigmoid and tanh promote it.
    **{
        (operation, "Int32->Float32"): NotImplementedError
        for operation in ("elu", "gelu", "leaky_relu", "silu", "softplus")
    },
}
"""What PyTorch does instead of giving the plan's result."""

NATURAL_OF_SCALARS = {
    ("Int32->Float32, scalar->Float32", -1): RuntimeError,
    ("scalar->Float32, Int32->Float32", 2): ResultDTypeError,
}
"""The same for `pow`, by signature and scalar: an int keeps the int32 tensor an int32."""


def departure_of(plan, call):
    """Tell which exception a call ends in; None for a result."""
    if plan.operation == "matmul" and plan.accumulator_dtype is bittrue.DType.Float64:
        return None  # the user widens both operands
    if plan.operation == "pow":
        for operand in call[:-1]:
            if isinstance(operand, int | float):
                return NATURAL_OF_SCALARS.get((plan.signature, operand))
    return NATURAL.get((plan.operation, plan.signature))


@pytest.mark.parametrize(("plan", "call"), SHARED["CALLS"])
def test_every_plan_agrees_with_generic_or_departs_as_typed(plan, call):
    departure = departure_of(plan, call)
    if departure is None:
        SHARED["assert_agrees"](plan, call, "torch")
        return
    with pytest.raises(departure) as error:
        SHARED["run"](plan, call, "torch")
    assert not isinstance(error.value, UnsupportedError)


def test_every_operation_is_in_one_table():
    adapter = pytest.importorskip("bittrue.providers.torch_adapter")
    tables = [*adapter.ELEMENTWISE, *adapter.STRUCTURED]
    assert sorted(tables) == [spec.name for spec in bittrue.DEFAULT.specs()]


def test_a_dilated_input_is_declined():
    lhs, kernel, attributes = SHARED["DILATED_INPUT"]
    with pytest.raises(UnsupportedError, match="PyTorch has no convolution that dilates its input"):
        bittrue.run("conv_general", lhs, kernel, **attributes, backend="torch")


def test_four_spatial_axes_are_declined():
    lhs, kernel = np.ones((1, 1, 2, 2, 2, 2), np.float32), np.ones((1, 1, 1, 1, 1, 1), np.float32)
    attributes = {"strides": (1,) * 4, "padding": ((0, 0),) * 4}
    with pytest.raises(UnsupportedError, match="1, 2 or 3 spatial axes"):
        bittrue.run("conv_general", lhs, kernel, **attributes, backend="torch")


def test_a_reduction_of_no_axis_is_declined():
    with pytest.raises(UnsupportedError, match="reduces every axis where none is named"):
        bittrue.run("reduce_sum", SHARED["CUBE"], axis=(), backend="torch")


@pytest.mark.parametrize("operation", ["reduce_sum", "reduce_prod", "reduce_max", "argmin"])
def test_a_scalar_tensor_is_reduced(operation):
    x = np.array(3.0, np.float32)
    result = bittrue.run(operation, x, backend="torch")
    assert result.tolist() == bittrue.run(operation, x, backend="generic").tolist()
    assert result.shape == ()


def test_an_int32_result_wraps_as_in_torch():
    top = np.array([2**31 - 1], np.int32)
    assert bittrue.run("add", top, np.array([1], np.int32), backend="torch").tolist() == [-(2**31)]


def test_operands_may_have_negative_strides_and_are_not_written():
    base = np.arange(6, dtype=np.float32)[::-1]
    updates = np.array([9.0], np.float32)
    result = bittrue.run("scatter", base, np.array([1], np.int32), updates, axis=0, backend="torch")
    assert result.tolist() == [5, 9, 3, 2, 1, 0]
    assert base.tolist() == [5, 4, 3, 2, 1, 0]
