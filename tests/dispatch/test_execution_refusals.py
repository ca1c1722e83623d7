"""Refusals of `run`: class, text, order, and that no backend is asked before they are past.

Requirement: Central planning rejects abstract and unsupported dtypes explicitly; operations.md 7.1,
section 9.
"""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pytest

from bittrue import (
    SIMPLE,
    BittrueError,
    CompoundDType,
    DType,
    DTypeCategory,
    OperandRole,
    SimpleDType,
    asarray,
    registered_operations,
    run,
)
from bittrue.providers import Decline
from bittrue.tensor import Buffer

F32, I32, BOOL = DType.Float32, DType.Int32, DType.Bool
HUGE = 2**128 - 2**103
VECTOR = np.array([1, 2], np.float32)
MATRIX = np.ones((2, 2), np.float32)
INDEX = np.array([0, 1], np.int32)
FINE = {"strides": (1,), "padding": ((0, 0),)}


class Spy:
    """Records every question; accepts everything."""

    name = "spy"

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def accepts(self, plan, shapes, layout, attributes):
        self.calls.append(("accepts", plan, shapes, layout, attributes))
        return True

    def execute(self, plan, operands, attributes):
        self.calls.append(("execute", plan, operands, attributes))
        shape = attributes.shape
        if plan.output is F32:
            return Buffer(F32, np.zeros(shape, np.float32))
        return Buffer(plan.output, np.zeros(shape, np.int32 if plan.output is I32 else np.bool_))


class Refuser(Spy):
    name = "refuser"

    def accepts(self, plan, shapes, layout, attributes):
        super().accepts(plan, shapes, layout, attributes)
        return Decline("it only watches")


def refused(error, operation, *operands, fragments=(), policy=SIMPLE, **attributes):
    spy = Spy()
    with pytest.raises(error) as caught:
        run(operation, *operands, policy=policy, backend=spy, **attributes)
    assert spy.calls == []
    text = str(caught.value)
    assert isinstance(caught.value, BittrueError), f"{type(caught.value)}: {text}"
    for fragment in fragments:
        assert fragment in text, text
    return text


def sample(dtype: SimpleDType) -> np.ndarray:
    return np.ones(2, {F32: np.float32, I32: np.int32, BOOL: np.bool_}[dtype])


def signatures() -> list[tuple[str, tuple[OperandRole, ...], tuple[Any, ...]]]:
    """Every overload with operands of its declared domains."""
    rows = []
    for spec in registered_operations():
        for overload in spec.overloads:
            tensors = iter(overload.tensor_domains or ())
            operands = tuple(
                0.5 if role is OperandRole.WEAK_SCALAR else sample(next(tensors, (F32,))[0])
                for role in overload.roles
            )
            rows.append((spec.name, overload.roles, operands))
    return rows


SIGNATURES = signatures()
CATEGORIES = {
    "Any": DType.Any,
    "Floating": DType.Floating,
    "Integer": DType.Integer,
}


@pytest.fixture(scope="module")
def extension() -> DTypeCategory:
    return DTypeCategory(f"Abstract{uuid.uuid4().hex}", supertype=DType.Any)


@pytest.mark.rule("operations.3.registry")
def test_there_are_56_operations_to_refuse():
    assert len({name for name, _, _ in SIGNATURES}) == 56
    assert len(SIGNATURES) == 62


@pytest.mark.rule("policy.categories.no-generic-path")
def test_the_scenario_of_the_requirement():
    for category in (DType.Any, DType.Floating):
        refused(TypeError, "add", category, [1.0], fragments=(category.name,))
        with pytest.raises(TypeError, match=category.name):
            run("add", category, [1.0], backend="generic")
        with pytest.raises(TypeError, match=category.name):
            run("add", category, [1.0])


@pytest.mark.rule("policy.categories.no-generic-path")
@pytest.mark.parametrize(("operation", "roles", "operands"), SIGNATURES)
def test_a_category_is_refused_in_every_position(operation, roles, operands, extension):
    """No attribute is given: where one is required, the plan's error comes first all the same."""
    for position, role in enumerate(roles):
        if role is OperandRole.WEAK_SCALAR:
            continue
        for category in (*CATEGORIES.values(), extension):
            given = [*operands]
            given[position] = category
            refused(TypeError, operation, *given, fragments=(category.name,))


@pytest.mark.rule("policy.categories.no-generic-path")
@pytest.mark.parametrize(("operation", "roles", "operands"), SIGNATURES)
def test_compound_and_unimplemented_dtypes_are_refused(operation, roles, operands):
    for position, role in enumerate(roles):
        if role is OperandRole.WEAK_SCALAR:
            continue
        for dtype in (DType.MXFP4, DType.E4M3, DType.Float16, DType.Float64, DType.Int8):
            given = [*operands]
            given[position] = dtype
            text = refused(NotImplementedError, operation, *given, fragments=(dtype.name,))
            if isinstance(dtype, CompoundDType):
                assert "representation-aware" in text


@pytest.mark.rule("operations.3.7.descriptor-as-operand")
@pytest.mark.parametrize(("operation", "roles", "operands"), SIGNATURES)
def test_an_implemented_descriptor_carries_no_elements(operation, roles, operands):
    """It resolves; and then it is a TypeError, since there is nothing to compute on."""
    position = roles.index(OperandRole.TENSOR)
    given = [*operands]
    given[position] = {"float32": F32, "int32": I32, "bool": BOOL}[operands[position].dtype.name]
    refused(TypeError, operation, *given, fragments=(operation, given[position].name))


PLAN_ERRORS = [
    (NotImplementedError, "median", (VECTOR,), "median"),
    (TypeError, "add", (VECTOR,), "add"),
    (TypeError, "add", (VECTOR, VECTOR, VECTOR), "add"),
    (TypeError, "add", (VECTOR, 2.0), "add"),
    (TypeError, "mul", (VECTOR, "2"), "str"),
    (TypeError, "mul", (VECTOR, 2j), "complex"),
    (TypeError, "exp", (2.0,), "exp"),
    (TypeError, "abs", (INDEX,), "Int32"),
    (TypeError, "exp2", ([1, 2],), "Int32"),
    (TypeError, "select", (VECTOR, VECTOR, VECTOR), "Float32"),
    (TypeError, "select", ([True, False], INDEX, VECTOR), "Int32"),
    (TypeError, "clamp", (VECTOR, INDEX, 1.0), "Int32"),
    (TypeError, "gather", (VECTOR, VECTOR), "Float32"),
    (TypeError, "gather", (INDEX, INDEX), "Int32"),
    (TypeError, "scatter", (VECTOR, INDEX, INDEX), "Int32"),
    (TypeError, "add", ([True], [True]), "Bool"),
    (TypeError, "reduce_sum", ([True],), "Bool"),
    (TypeError, "conv_general", (INDEX, INDEX), "Int32"),
    (TypeError, "reduce_max", (INDEX,), "Int32"),
    (NotImplementedError, "exp", (np.ones(2),), "Float64"),
    (NotImplementedError, "mul", (VECTOR, np.float64(2)), "Float64"),
    (OverflowError, "mul", (INDEX, 2**31), "2147483648"),
]


@pytest.mark.rule("operations.9.plan-error-first")
@pytest.mark.parametrize(("error", "operation", "operands", "fragment"), PLAN_ERRORS)
def test_a_plan_error(error, operation, operands, fragment):
    refused(error, operation, *operands, fragments=(fragment,))


@pytest.mark.rule("operations.9.plan-error-first")
@pytest.mark.parametrize(("error", "operation", "operands", "fragment"), PLAN_ERRORS)
def test_a_plan_error_comes_before_that_of_an_attribute(error, operation, operands, fragment):
    text = refused(error, operation, *operands, fragments=(fragment,), bogus=1)
    assert "bogus" not in text


@pytest.mark.rule("operations.9.plan-error-first")
@pytest.mark.parametrize(
    ("operation", "arguments", "attributes"),
    [
        ("cumsum", (DType.MXFP4, 0, 1), {}),
        ("cumsum", (DType.MXFP4, 0), {"axis": 0}),
        ("_topk_values", (DType.E4M3, 1, 0, True, 7), {}),
        ("_sort_values", (DType.Float64, 0), {"axis": 0}),
        ("gather", (DType.MXFP4, INDEX, 0, 0), {}),
        ("conv_general", (DType.E2M1, MATRIX, (1,)), {"strides": (1,)}),
    ],
)
def test_a_plan_error_comes_before_one_of_positional_attributes(operation, arguments, attributes):
    """Too many positional attributes, and one given twice, are attribute errors too."""
    refused(NotImplementedError, operation, *arguments, **attributes)


@pytest.mark.rule("operations.9.plan-error-first")
def test_a_plan_error_comes_before_shapes_and_indices():
    refused(TypeError, "add", np.ones(2, np.bool_), np.ones(3, np.float32), fragments=("Bool",))
    refused(TypeError, "matmul", np.ones(2, np.bool_), VECTOR, fragments=("Bool",))
    refused(
        TypeError, "scatter", VECTOR, np.array([9, 9], np.int32), INDEX, 0, fragments=("Int32",)
    )


@pytest.mark.rule("operations.7.1.sequence")
def test_scalars_convert_before_attributes_and_shapes():
    refused(OverflowError, "pow", VECTOR, HUGE, bogus=1)
    refused(OverflowError, "clamp", VECTOR, -HUGE, np.ones(3, np.float32))
    refused(OverflowError, "clamp", VECTOR, 0, HUGE)
    refused(OverflowError, "mul", VECTOR, HUGE)
    refused(OverflowError, "pow", 10**400, VECTOR)


ATTRIBUTE_ERRORS = [
    (ValueError, "add", (np.ones(2, np.float32), np.ones(3, np.float32)), {}, ("(2,)", "(3,)")),
    (ValueError, "select", ([True] * 3, VECTOR, VECTOR), {}, ("(3,)", "(2,)")),
    (ValueError, "clamp", (VECTOR, np.ones(3, np.float32), 1.0), {}, ("(3,)",)),
    (ValueError, "matmul", (MATRIX, VECTOR), {}, ("(2,)",)),
    (ValueError, "matmul", (MATRIX, np.ones((3, 2), np.float32)), {}, ("(3, 2)",)),
    (ValueError, "cumsum", (VECTOR, 1), {}, ("1",)),
    (ValueError, "cumsum", (np.float32(1), 0), {}, ("0",)),
    (TypeError, "cumsum", (VECTOR,), {}, ("axis",)),
    (TypeError, "cumsum", (VECTOR, True), {}, ("bool",)),
    (TypeError, "cumsum", (VECTOR, 0, 1), {}, ("cumsum",)),
    (TypeError, "cumsum", (VECTOR, 0), {"axis": 0}, ("axis",)),
    (TypeError, "reduce_sum", (VECTOR, 0), {}, ("reduce_sum",)),
    (TypeError, "reduce_sum", (VECTOR,), {"axes": 0}, ("axes",)),
    (TypeError, "reduce_sum", (VECTOR,), {"keepdims": 1}, ("int",)),
    (TypeError, "add", (VECTOR, VECTOR), {"axis": 0}, ("axis",)),
    (TypeError, "argmax", (VECTOR,), {"axis": (0,)}, ("tuple",)),
    (ValueError, "reduce_max", (np.ones(0, np.float32),), {}, ("(0,)",)),
    (ValueError, "argmin", (np.ones((2, 0), np.float32),), {"axis": 1}, ("(2, 0)",)),
    (ValueError, "_topk_values", (VECTOR, 3), {}, ("3",)),
    (ValueError, "_topk_values", (VECTOR,), {"k": 0}, ("0",)),
    (TypeError, "_topk_values", (VECTOR, 1.0), {}, ("float",)),
    (TypeError, "_topk_values", (VECTOR,), {}, ("k",)),
    (TypeError, "_sort_values", (VECTOR,), {"descending": 1}, ("int",)),
    (ValueError, "scatter", (VECTOR, INDEX, MATRIX, 0), {}, ("(2, 2)",)),
    (ValueError, "scatter", (VECTOR, np.array([1, 1], np.int32), VECTOR, 0), {}, ("1",)),
    (IndexError, "scatter", (VECTOR, np.array([2, 2], np.int32), VECTOR, 0), {}, ("2",)),
    (IndexError, "gather", (VECTOR, np.array([0, -1], np.int32), 0), {}, ("-1",)),
    (IndexError, "scatter_add", (VECTOR, np.array([0, 2], np.int32), VECTOR, 0), {}, ("2",)),
    (ValueError, "conv_general", (VECTOR, VECTOR), FINE, ("(2,)",)),
    (TypeError, "conv_general", (np.ones((1, 1, 3), np.float32),) * 2, {"strides": (1,)},
     ("padding",)),
    (TypeError, "conv_general", (np.ones((1, 1, 3), np.float32),) * 2, FINE | {"strides": 1},
     ("int",)),
]  # fmt: skip


@pytest.mark.rule("operations.9.refusals")
@pytest.mark.parametrize(
    ("error", "operation", "operands", "attributes", "fragments"), ATTRIBUTE_ERRORS
)
def test_attributes_shapes_and_indices(error, operation, operands, attributes, fragments):
    refused(error, operation, *operands, fragments=(operation, *fragments), **attributes)


@pytest.mark.rule("operations.9.int32-positions")
@pytest.mark.parametrize(
    ("operation", "attributes"),
    [("argmax", {}), ("argmin", {"axis": 0}), ("_sort_indices", {}), ("_topk_values", {"k": 1})],
)
def test_positions_beyond_int32_are_refused_without_allocation(operation, attributes):
    endless = np.broadcast_to(np.float32(0), (2**31,))
    refused(OverflowError, operation, endless, fragments=(str(2**31),), **attributes)


@pytest.mark.rule("operations.6.accumulator")
def test_accumulators():
    refused(TypeError, "add", VECTOR, VECTOR, accumulator_dtype=F32)
    refused(TypeError, "cumsum", VECTOR, 0, accumulator_dtype=DType.Float64)
    refused(TypeError, "reduce_sum", INDEX, accumulator_dtype=F32)
    refused(TypeError, "reduce_sum", VECTOR, accumulator_dtype=DType.Floating)
    refused(TypeError, "reduce_sum", VECTOR, accumulator_dtype="Float64")
    refused(NotImplementedError, "matmul", MATRIX, MATRIX, accumulator_dtype=DType.BFloat16)
    refused(NotImplementedError, "matmul", MATRIX, MATRIX, accumulator_dtype=I32)


@pytest.mark.rule("operations.9.no-backend")
def test_a_plan_that_no_backend_runs():
    backend = Refuser()
    with pytest.raises(NotImplementedError) as caught:
        run("add", VECTOR, VECTOR, policy=SIMPLE, backend=backend)
    text = str(caught.value)
    for fragment in ("add", "Float32", "refuser", "it only watches"):
        assert fragment in text, text
    assert [call[0] for call in backend.calls] == ["accepts"]


@pytest.mark.rule("operations.9.no-backend")
def test_names_of_backends():
    refused_by_name = [(ValueError, "abacus"), (TypeError, 7), (TypeError, object())]
    for error, backend in refused_by_name:
        with pytest.raises(error):
            run("add", VECTOR, VECTOR, policy=SIMPLE, backend=backend)


@pytest.mark.rule("operations.7.1.sequence")
@pytest.mark.parametrize(("operation", "roles", "operands"), SIGNATURES)
def test_a_good_call_is_planned_once_and_executed_once(operation, roles, operands):
    spy = Spy()
    attributes: dict[str, Any] = {}
    given = [*operands]
    if operation in {"cumsum", "gather", "scatter", "scatter_add"}:
        attributes = {"axis": 0}
    if operation.startswith("_topk"):
        attributes = {"k": 1}
    if operation == "matmul":
        given = [MATRIX, MATRIX]
    if operation == "conv_general":
        given, attributes = [np.ones((1, 1, 3), np.float32)] * 2, FINE
    if operation in {"scatter", "scatter_add"}:
        given[1] = INDEX
    result = run(operation, *given, policy=SIMPLE, backend=spy, **attributes)
    assert [call[0] for call in spy.calls] == ["accepts", "execute"]
    plan = spy.calls[0][1]
    assert plan is spy.calls[1][1]
    assert plan.operation == operation
    assert tuple(operand.role for operand in plan.operands) == roles
    assert result.dtype is plan.output


@pytest.mark.rule("operations.7.1.overflow-discards-the-result")
def test_a_checked_overflow_leaves_operands_as_they_were():
    lhs = asarray([1, 2**31 - 1])
    with pytest.raises(OverflowError, match=r"\(1,\)"):
        run("add", lhs, lhs, policy=SIMPLE)
    assert lhs.tolist() == [1, 2**31 - 1]


@pytest.mark.rule("operations.9.same-text-of-both-backends")
def test_the_default_backends_refuse_as_generic_does():
    for error, operation, operands, attributes, _ in ATTRIBUTE_ERRORS:
        texts = []
        for backend in (None, "generic"):
            with pytest.raises(error) as caught:
                run(operation, *operands, policy=SIMPLE, backend=backend, **attributes)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]


@pytest.mark.rule("operations.9.axis")
def test_an_axis_outside_may_be_caught_either_way():
    for error in (ValueError, BittrueError):
        with pytest.raises(error):
            run("cumsum", VECTOR, 5, policy=SIMPLE)


@pytest.mark.rule("operations.3.7.attributes-by-position-or-keyword")
def test_attributes_follow_operands_or_have_names():
    data = np.array([[3, 1, 2]], np.float32)
    generic = {"policy": SIMPLE, "backend": "generic"}
    assert run("cumsum", data, 1, **generic).tolist() == [[3.0, 4.0, 6.0]]
    assert run("cumsum", data, axis=-1, **generic).tolist() == [[3.0, 4.0, 6.0]]
    assert run("_topk_values", data, 2, **generic).tolist() == [[3.0, 2.0]]
    assert run("_topk_values", data, 2, 1, False, **generic).tolist() == [[1.0, 2.0]]  # noqa: FBT003
    assert run("_sort_indices", data, descending=True, **generic).tolist() == [[0, 2, 1]]
    assert run("gather", data, [2], axis=1, **generic).tolist() == [[2.0]]
    assert run("scatter", data, [0], [[9.0]], 1, **generic).tolist() == [[9.0, 1.0, 2.0]]


@pytest.mark.rule("operations.4.materialised-once")
def test_a_weak_scalar_reaches_the_backend_converted_once():
    spy = Spy()
    run("mul", VECTOR, 0.1, policy=SIMPLE, backend=spy)
    scalar = spy.calls[1][2][1]
    assert scalar.value == 0.1
    assert scalar.converted.dtype is F32
    assert scalar.converted.shape == ()
    assert scalar.converted.elements() == [0x3DCC_CCCD]


@pytest.mark.rule("operations.7.5.no-warning")
def test_singularities_raise_and_warn_nothing(recwarn):
    zero, inf = np.zeros(1, np.float32), np.full(1, np.inf, np.float32)
    for operation, operands in [
        ("div", (zero, zero)), ("div", (inf, zero)), ("log", (zero,)), ("recip", (zero,)),
        ("sub", (inf, inf)), ("mul", (inf, zero)), ("exp", (np.full(1, 1e30, np.float32),)),
        ("sqrt", (-inf,)), ("pow", (zero, -inf)), ("rem", (inf, zero)),
    ]:  # fmt: skip
        for backend in (None, "generic"):
            run(operation, *operands, policy=SIMPLE, backend=backend)
    assert not recwarn.list


@pytest.mark.rule("policy.categories.no-generic-path")
@pytest.mark.parametrize("other", [[2**40], [1.0, 10**60], [], [True, 1]])
def test_a_category_is_refused_before_elements_of_a_list_are(other):
    """6.1 step 4a: whatever else is wrong. The elements convert after planning (7.1)."""
    for operands in ((DType.Any, other), (other, DType.Any)):
        refused(TypeError, "add", *operands, fragments=("Any",))


@pytest.mark.rule("operations.9.text")
def test_numbers_too_long_to_print():
    """Python prints no integer of more than 4300 digits; class and form of the error stay."""
    endless = 10**5000
    refused(OverflowError, "mul", INDEX, endless)
    refused(OverflowError, "mul", VECTOR, endless)
    refused(OverflowError, "pow", INDEX, endless)
    refused(OverflowError, "neg", [1.0, endless])
    refused(OverflowError, "relu", [endless])
    refused(ValueError, "cumsum", VECTOR, endless)
    refused(ValueError, "_topk_values", VECTOR, endless)
