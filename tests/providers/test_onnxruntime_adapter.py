"""ONNX Runtime as a backend: on tame values every plan gives Generic's result, or is declined.

The calls, and how a result is compared, are those of the NumPy test. A model casts as the plan
converts, so no plan ends in another dtype.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import bittrue
from bittrue.errors import UnsupportedError

SHARED = runpy.run_path(str(Path(__file__).with_name("test_numpy_adapter.py")))

DECLINED = {"exp2": "ONNX has no exp2", "log2": "ONNX has no log2"}

# Its sigmoid is a rational approximation of small absolute error: below 0 many ulps away.
ULPS = {**SHARED["ULPS"], "sigmoid": 256, "silu": 256}

pytestmark = pytest.mark.peers


@pytest.fixture(autouse=True)
def adapter():
    """Skip where ONNX Runtime or ONNX is not installed."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    return pytest.importorskip("bittrue.providers.onnxruntime_adapter")


@pytest.mark.parametrize(("plan", "call"), SHARED["CALLS"])
def test_every_plan_agrees_with_generic_or_is_declined(plan, call):
    if plan.operation in DECLINED:
        with pytest.raises(UnsupportedError, match=DECLINED[plan.operation]):
            SHARED["run"](plan, call, "onnxruntime")
    else:
        SHARED["assert_agrees"](plan, call, "onnxruntime", ULPS)


def test_every_operation_is_in_one_table(adapter):
    tables = [*adapter.STEPS, *adapter.STRUCTURED, *adapter.DECLINED]
    assert sorted(tables) == [spec.name for spec in bittrue.DEFAULT.specs()]


def test_a_dilated_input_is_declined():
    lhs, kernel, attributes = SHARED["DILATED_INPUT"]
    with pytest.raises(UnsupportedError, match="ONNX has no convolution that dilates its input"):
        bittrue.run("conv_general", lhs, kernel, **attributes, backend="onnxruntime")


@pytest.mark.parametrize(
    "operation", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "argmax", "argmin"]
)
def test_a_scalar_tensor_is_reduced(operation):
    x = np.array(3.0, np.float32)
    result = bittrue.run(operation, x, backend="onnxruntime")
    assert result.tolist() == bittrue.run(operation, x, backend="generic").tolist()
    assert result.shape == ()


def test_a_reduction_of_no_axis_keeps_every_element():
    x = SHARED["CUBE"]
    result = bittrue.run("reduce_sum", x, axis=(), backend="onnxruntime")
    np.testing.assert_array_equal(result.numpy(), x)


def test_a_session_serves_every_shape_of_a_rank(adapter):
    exp = bittrue.resolve_operation_plan("exp", bittrue.DType.Float32)
    adapter._session.cache_clear()  # noqa: SLF001
    for extent in (0, 1, 5):
        x = np.zeros(extent, np.float32)
        assert bittrue.run(exp.operation, x, backend="onnxruntime").tolist() == [1.0] * extent
    assert adapter._session.cache_info().misses == 1  # noqa: SLF001


def test_an_int32_result_wraps_as_in_onnxruntime():
    top, one = np.array([2**31 - 1], np.int32), np.array([1], np.int32)
    assert bittrue.run("add", top, one, backend="onnxruntime").tolist() == [-(2**31)]
