"""Reports: what each operation did, as tensor-promotion, Diagnostics and Tests, names it."""

import json
import math
import re
import threading

import numpy as np
import pytest

import bittrue
from bittrue import DType, asarray, explain, record, run
from bittrue.diagnostics import association_of
from bittrue.providers import Decline

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
C64, C128 = DType.Complex64, DType.Complex128


def reported(function):
    with record() as log:
        function()
    (report,) = log
    return report


@pytest.mark.rule("promotion.7")
def test_every_field_of_one_operation():
    report = reported(lambda: asarray([1.0, 2.0]) * asarray([1, 2]))
    assert report.as_dict() == {
        "operation": "mul",
        "policy": bittrue.DEFAULT.name,
        "input_dtypes": ["Float32", "Int32"],
        "weak_scalars": [],
        "output_dtype": "Float32",
        "compute": "BINARY32",
        "accumulation": None,
        "accumulator_dtype": None,
        "association": None,
        "working_dtype": None,
        "backend": "cpu",
        "device": "cpu",
        "declined": [],
        "conversions": [
            {"operand": 1, "source": "Int32", "target": "Float32", "materialised": False,
             "elements": 2}
        ],
        "in_place": False,
        "overlap_copy": False,
        "empty_input": False,
        "scalar_inexact": False,
        "scalar_overflow": False,
    }  # fmt: skip


@pytest.mark.rule("promotion.7.scalars")
@pytest.mark.parametrize(
    ("value", "inexact", "overflow"),
    [
        (2, False, False), (0.1, True, False), (1e39, True, True), (math.inf, False, False),
        (True, False, False), (2**24 + 1, True, False), (5e-324, True, False),
    ],
)  # fmt: skip
def test_weak_scalars_and_their_conversion(value, inexact, overflow):
    report = reported(lambda: asarray([1.0]) * value)
    assert report.weak_scalars == ((1, value),)
    assert report.input_dtypes == (F32,)
    assert (report.scalar_inexact, report.scalar_overflow) == (inexact, overflow)
    reflected = reported(lambda: value + asarray([1.0]))
    assert reflected.weak_scalars == ((0, value),)


@pytest.mark.rule("promotion.7.conversions")
def test_conversions_of_mixed_operands():
    report = reported(lambda: asarray([1.0], F32) * asarray([1j], C128))
    assert report.output_dtype is C128
    assert report.conversions == (bittrue.Conversion(0, F32, F64, materialised=False, elements=1),)
    report = reported(lambda: asarray([1, 2, 3]) ** 0.5)
    assert report.conversions == (bittrue.Conversion(0, I32, F32, materialised=True, elements=3),)
    with bittrue.backends("generic"):
        report = reported(lambda: asarray([1]) ** 0.5)
    assert report.conversions == (bittrue.Conversion(0, I32, F32, materialised=False, elements=1),)


@pytest.mark.rule("promotion.7.accumulators")
def test_reductions_name_accumulator_and_order():
    x = asarray([[1.0, 2.0]])
    report = reported(x.sum)
    assert (report.accumulator_dtype, report.association) == (F32, "lanes")
    report = reported(lambda: x.sum(accumulator_dtype=F64))
    assert (report.accumulator_dtype, report.output_dtype) == (F64, F32)
    report = reported(lambda: x @ x.T)
    assert (report.operation, report.accumulator_dtype, report.association) == (
        "matmul", F32, "ascending",
    )  # fmt: skip
    assert reported(lambda: x.cumsum(1)).association == "ascending"
    assert reported(x.prod).association == "ascending"
    for unordered in (x.max, x.argmin, asarray([1, 2]).sum):
        assert reported(unordered).association is None
    report = reported(lambda: x.norm(working_dtype=F64))
    assert (report.working_dtype, report.accumulator_dtype, report.output_dtype) == (F64, F64, F32)
    assert reported(lambda: x.norm(accumulator_dtype=F64)).working_dtype is None


@pytest.mark.rule("promotion.7.accumulators")
def test_every_plan_has_an_order_or_none():
    orders = {association_of(plan) for plan in bittrue.DEFAULT.plans()}
    assert orders == {None, "lanes", "ascending"}


@pytest.mark.rule("promotion.7.empty")
def test_empty_inputs():
    assert reported(bittrue.zeros((0,)).sum).empty_input
    assert reported(lambda: bittrue.zeros((2, 0)).sum(1)).empty_input
    assert reported(lambda: bittrue.zeros((2, 0)) @ bittrue.zeros((0, 3))).empty_input
    assert reported(lambda: run("dot", bittrue.zeros(0), bittrue.zeros(0))).empty_input
    assert not reported(lambda: bittrue.zeros((0, 2)).sum(1)).empty_input
    assert not reported(lambda: bittrue.zeros((0,)) * 2.0).empty_input
    report = reported(bittrue.zeros((0,)).mean)
    assert report.empty_input
    assert math.isnan(bittrue.zeros((0,)).mean().item())


@pytest.mark.rule("promotion.7.in-place")
def test_in_place_operations_and_their_overlap():
    x = asarray([1.0, 2.0, 3.0])

    def add(target, other):
        target += other

    for other, overlap in (
        (1.0, False), (x, False), (x.copy(), False), (x[::-1], True), (x[:1], True),
    ):  # fmt: skip
        report = reported(lambda other=other: add(x, other))
        assert (report.operation, report.in_place, report.overlap_copy) == ("add", True, overlap)
    assert not reported(lambda: x + 1.0).in_place
    with record() as log:
        x[1:] += x[:-1]
    assert [(r.operation, r.overlap_copy) for r in log] == [("add", True)]
    m = asarray([[1.0, 2.0], [3.0, 4.0]])

    def multiply():
        nonlocal m
        m @= m.T

    report = reported(multiply)
    assert (report.operation, report.in_place, report.overlap_copy) == ("matmul", True, True)


class Declining:
    """Takes nothing, or one operation by way of Generic."""

    name = "declining"

    def __init__(self, *taken):
        self.taken = taken

    def accepts(self, plan, shapes, layout, attributes):  # noqa: ARG002 - the protocol names them
        return plan.operation in self.taken or Decline(f"no {plan.operation} here")

    def execute(self, plan, operands, attributes):
        return bittrue.providers.backend_of("generic").execute(plan, operands, attributes)


@pytest.mark.rule("promotion.8.decline")
def test_a_decline_asks_the_next_backend_and_changes_nothing_else():
    x = asarray([0.1, 0.2, 0.3])
    wanted = x * 3
    with bittrue.backends(Declining(), Declining("add"), "cpu"), record() as log:
        product, total = x * 3, x + x
    assert [r.backend for r in log] == ["cpu", "declining"]
    assert log[0].declined == (("declining", "no mul here"), ("declining", "no mul here"))
    assert log[1].declined == (("declining", "no add here"),)
    assert product.buffer.elements() == wanted.buffer.elements()
    assert (product.dtype, total.dtype) == (F32, F32)
    assert "declined: no mul here" in str(log)


@pytest.mark.rule("promotion.8.decline")
def test_the_result_dtype_of_every_pair_survives_a_decline():
    for left in (F32, F64, C64, C128):
        for right in (F32, F64, C64, C128):
            x, y = asarray([1.5], left), asarray([2.5], right)
            wanted = x * y
            with bittrue.backends(Declining(), "generic"):
                computed = x * y
            assert computed.dtype is wanted.dtype
            assert computed.buffer.elements() == wanted.buffer.elements()


@pytest.mark.rule("promotion.8.order")
def test_blocks_set_the_order_and_leave_it_as_it_was():
    def backend():
        return reported(lambda: asarray([1.0]) + asarray([1.0])).backend

    assert backend() == "cpu"
    with bittrue.backends("generic"):
        assert backend() == "generic"
        with bittrue.backends("cpu", "generic"):
            assert backend() == "cpu"
        assert backend() == "generic"
        assert reported(lambda: run("add", [1.0], [1.0], backend="cpu")).backend == "cpu"
    with pytest.raises(KeyError), bittrue.backends("generic"):
        raise KeyError
    assert backend() == "cpu"


@pytest.mark.rule("promotion.8.order")
def test_no_backend_left_is_an_error_before_allocation():
    x = asarray([1.0])
    with bittrue.backends(Declining()):
        for call in (lambda: x + x, lambda: x @ x, lambda: explain("add", x, x)):
            with pytest.raises(NotImplementedError, match=r"no (add|matmul) here"):
                call()
        with pytest.raises(NotImplementedError):
            x += x
    assert x.tolist() == [1.0]
    for order, error in (
        ((), ValueError), (("nowhere",), ValueError), ((1,), TypeError),
    ):  # fmt: skip
        with pytest.raises(error), bittrue.backends(*order):
            pass


@pytest.mark.rule("promotion.7.explain")
def test_explain_is_the_report_of_a_call_that_does_not_run():
    x, y = asarray([1.0, 2.0]), asarray([1, 2])
    for arguments, attributes in (
        (("add", x, y), {}), (("mul", x, 0.1), {}), (("reduce_sum", x), {"axis": 0}),
        (("matmul", x.reshape((1, 2)), x.reshape((2, 1))), {"accumulator_dtype": F64}),
        (("exp", y), {}), (("norm", x), {"working_dtype": F64}),
    ):  # fmt: skip
        explained = explain(*arguments, **attributes)
        assert explained == reported(lambda a=arguments, k=attributes: run(*a, **k))
    with record() as log:
        explain("add", x, x)
    assert not log
    assert explain("add", x, x, backend="generic").backend == "generic"
    assert explain("add", x, x, policy=bittrue.SIMPLE).policy == "simple"
    # An overflow is known only once it is computed.
    assert explain("add", [2**31 - 1], [1]).output_dtype is I32
    for error, arguments in (
        (TypeError, ("add", x, asarray([True]))),
        (ValueError, ("add", x, [1.0, 2.0, 3.0])),
        (OverflowError, ("add", x, 10**60)),
    ):
        with pytest.raises(error):
            explain(*arguments)


@pytest.mark.rule("promotion.7.collecting")
def test_blocks_nest_and_failures_leave_no_report():
    x = asarray([1.0])
    with record() as outer:
        x + x
        with record() as inner:
            x * x
        with pytest.raises(OverflowError):
            asarray([2**31 - 1]) + 1
        with pytest.raises(TypeError):
            x + asarray([True])
    x - x
    assert [r.operation for r in outer] == ["add", "mul"]
    assert [r.operation for r in inner] == ["mul"]
    assert outer[-1] is inner[0]
    assert [r.operation for r in outer[:1]] == ["add"]


@pytest.mark.rule("promotion.7.collecting")
def test_other_threads_are_not_recorded():
    with record() as log:
        thread = threading.Thread(target=lambda: asarray([1.0]) + asarray([1.0]))
        thread.start()
        thread.join()
    assert not log


@pytest.mark.rule("promotion.7.collecting")
def test_recording_changes_no_bit(bits):
    rng = np.random.default_rng(0)
    x, y = (asarray(rng.standard_normal((20, 20)).astype(np.float32)) for _ in "xy")

    def everything():
        z = x @ y + x * 0.1
        z -= y
        return [z, z.sum(0), z.cumsum(1), z.astype(F64) / 3, bittrue.einsum("ij,ik->jk", z, x)]

    plain = everything()
    with record() as log:
        recorded = everything()
    assert len(log) >= 8
    assert [bits(a) for a in recorded] == [bits(a) for a in plain]


@pytest.mark.rule("promotion.7.printing")
def test_a_log_prints_as_a_table():
    x = asarray([1.0, 2.0])
    with record() as log:
        x * 0.1
        x.sum(accumulator_dtype=F64)
        x + asarray([1, 2])
    head, *rows = (re.split(r" {2,}", line) for line in str(log).splitlines())
    assert head == [
        "operation", "inputs", "scalars", "output", "compute", "accumulator", "backend",
        "conversions", "notes",
    ]  # fmt: skip
    f32, computed = "Float32", "BINARY32"
    assert rows == [
        ["mul", f32, "1: 0.1", f32, computed, "-", "cpu/cpu", "-", "scalar_inexact"],
        ["reduce_sum", f32, "-", f32, computed, "Float64 lanes", "cpu/cpu", "-", "-"],
        [
            "add",
            "Float32, Int32",
            "-",
            f32,
            computed,
            "-",
            "cpu/cpu",
            "1: Int32->Float32 as read",
            "-",
        ],
    ]
    assert str(log[0]).splitlines()[0].split() == [
        "operation", "inputs", "scalars", "output", "compute", "backend", "notes",
    ]  # fmt: skip
    with record() as empty:
        pass
    assert str(empty).split() == ["operation", "inputs", "output", "backend"]


@pytest.mark.rule("promotion.7.printing")
def test_a_log_is_json():
    x = asarray([1.0])
    with record() as log:
        x * math.inf
        x * 2**60
        x * 3
        x.astype(F64)
    rows = json.loads(log.json())
    assert [row["weak_scalars"] for row in rows] == [
        [[1, "inf"]], [[1, "1152921504606846976"]], [[1, 3]], [],
    ]  # fmt: skip
    assert json.loads(log[0].json()) == rows[0]
    assert rows[3]["conversions"][0]["materialised"] is True
    assert rows[3]["compute"] is None


@pytest.mark.rule("promotion.6")
def test_an_algorithm_report_prints_and_is_json():
    with record() as log:
        asarray([1.0]) + asarray([1.0])
    report = bittrue.AlgorithmReport(
        algorithm="power", input_dtype=F32, matvec_dtype=F32, projected_matrix_dtype=F64,
        inner_product_accumulator=F64, orthogonalisation_dtype=F32, error_estimate_dtype=F64,
        output_dtype=F32, conversions=(("alpha", "Float32->Float64", 3),), steps=3, converged=True,
        operations=tuple(log),
    )  # fmt: skip
    lines = dict(line.split(maxsplit=1) for line in str(report).splitlines())
    assert lines["matvec_dtype"] == "Float32"
    assert lines["projected_matrix_dtype"] == "Float64"
    assert lines["conversions"] == "alpha, Float32->Float64, 3"
    assert lines["operations"] == "1"
    read = json.loads(report.json())
    assert read["operations"] == json.loads(log.json())
    assert (read["steps"], read["converged"]) == (3, True)
