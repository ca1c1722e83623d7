"""Requirement: One immutable plan carries the complete dtype decision."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    Accumulation,
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationExecutionOptions,
    OperationOverload,
    OperationPlan,
    OperationSpec,
    resolvable_plans,
    resolve_operation_plan,
)

F32, I32, F64 = DType.Float32, DType.Int32, DType.Float64
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
FIELDS = {
    OperandPlan: ["role", "dtype", "convert_to"],
    OperationPlan: [
        "operation",
        "operands",
        "compute",
        "accumulation",
        "accumulator_dtype",
        "output",
    ],
    OperationOverload: ["roles", "rule", "tensor_domains"],
    OperationSpec: ["name", "overloads", "public", "dtype_operand_positions"],
    OperationExecutionOptions: ["operation", "accumulator_dtype"],
}


def _rule(*_operands: object) -> OperationPlan:
    raise AssertionError


def _plan(**changed: Any) -> OperationPlan:
    values: dict[str, Any] = {
        "operation": "neg",
        "operands": (OperandPlan(T, F32, F32),),
        "compute": Arithmetic.BINARY32,
        "accumulation": None,
        "accumulator_dtype": None,
        "output": F32,
    }
    return OperationPlan(**(values | changed))


def _records() -> list[Any]:
    overload = OperationOverload((T,), _rule, ((F32,),))
    return [
        OperandPlan(T, F32, F32),
        OperandPlan(S, None, I32),
        _plan(),
        overload,
        OperationSpec("neg", (overload,), dtype_operand_positions=(0,)),
        OperationExecutionOptions("matmul", F64),
    ]


@pytest.mark.rule("policy.plan-records.inspect-mixed-add")
def test_inspect_a_mixed_add_plan() -> None:
    plan = resolve_operation_plan("add", DType.Int32, DType.Float32)
    assert plan == OperationPlan(
        "add",
        (OperandPlan(T, I32, F32), OperandPlan(T, F32, F32)),
        Arithmetic.BINARY32,
        None,
        None,
        F32,
    )
    assert plan.operands[0].dtype is I32
    assert plan.operands[0].convert_to is F32
    assert plan.operands[1].convert_to is F32
    assert plan.compute is Arithmetic.BINARY32
    assert plan.accumulation is None
    assert plan.output is F32
    with pytest.raises(AttributeError):
        plan.output = I32  # type: ignore[misc]
    hash(plan)


@pytest.mark.rule("policy.plan-records.fields")
@pytest.mark.parametrize("record", FIELDS, ids=lambda record: record.__name__)
def test_the_fields_have_the_names_and_the_order_of_the_requirement(record: Any) -> None:
    assert [f.name for f in dataclasses.fields(record)] == FIELDS[record]
    parameters = list(inspect.signature(record).parameters)
    assert parameters[: len(FIELDS[record])] == FIELDS[record]


@pytest.mark.rule("policy.plan-records.required-fields")
@pytest.mark.parametrize("record", [OperandPlan, OperationPlan])
def test_every_field_of_a_plan_is_required(record: Any) -> None:
    parameters = inspect.signature(record).parameters.values()
    assert all(p.default is inspect.Parameter.empty for p in parameters)
    assert len(parameters) == len(FIELDS[record])


@pytest.mark.rule("policy.plan-records.no-autograd-field")
def test_an_operation_plan_has_no_autograd_field() -> None:
    names = {name for name in dir(resolve_operation_plan("add", F32, F32)) if name[0] != "_"}
    assert not [name for name in names if "grad" in name or "differentiable" in name]
    assert len(dataclasses.fields(OperationPlan)) == 6


@pytest.mark.rule("policy.plan-records.immutable")
@pytest.mark.parametrize("record", _records(), ids=lambda r: type(r).__name__)
def test_no_field_can_be_assigned_or_deleted(record: Any) -> None:
    for field in dataclasses.fields(record):
        before = getattr(record, field.name)
        with pytest.raises(AttributeError):
            setattr(record, field.name, before)
        with pytest.raises(AttributeError):
            delattr(record, field.name)
        assert getattr(record, field.name) is before


@pytest.mark.rule("policy.plan-records.immutable")
@pytest.mark.parametrize("record", _records(), ids=lambda r: type(r).__name__)
def test_no_further_attribute_can_be_set(record: Any) -> None:
    with pytest.raises((AttributeError, TypeError)):
        record.extra = 1
    assert not hasattr(record, "extra")


@pytest.mark.rule("policy.plan-records.hashable")
@pytest.mark.parametrize(
    ("left", "right"),
    list(zip(_records(), _records(), strict=True)),
    ids=lambda r: type(r).__name__,
)
def test_records_are_hashable_and_compare_by_value(left: Any, right: Any) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert copy.copy(left) == left
    assert copy.deepcopy(left) == left


@pytest.mark.rule("policy.plan-records.hashable")
def test_every_resolvable_plan_survives_pickling_with_its_descriptors() -> None:
    for plan in resolvable_plans():
        again = pickle.loads(pickle.dumps(plan))  # noqa: S301
        assert again == plan
        assert hash(again) == hash(plan)
        assert again.output is plan.output


@pytest.mark.rule("policy.plan-records.hashable")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("operation", "abs"),
        ("operands", (OperandPlan(T, I32, F32),)),
        ("compute", Arithmetic.INT32_EXACT),
        ("accumulation", Accumulation.FLOATING),
        ("accumulator_dtype", F64),
        ("output", I32),
    ],
)
def test_each_field_takes_part_in_equality(field: str, value: object) -> None:
    assert _plan(**{field: value}) != _plan()


@pytest.mark.rule("policy.plan-records.enum-members")
def test_the_enums_have_exactly_the_members_of_the_requirement() -> None:
    assert [m.name for m in OperandRole] == ["TENSOR", "WEAK_SCALAR"]
    assert [m.value for m in OperandRole] == ["tensor", "weak_scalar"]


@pytest.mark.rule("policy.plan-records.enums-immutable")
@pytest.mark.parametrize("member", [*OperandRole, *Arithmetic, *Accumulation], ids=str)
@pytest.mark.parametrize(
    "attribute", ["extra", "name", "value", "_name_", "_value_", "_sort_order_", "__doc__"]
)
def test_setting_any_attribute_of_an_enum_member_fails(member: Any, attribute: str) -> None:
    before = (member.name, member.value)
    with pytest.raises(AttributeError):
        setattr(member, attribute, "changed")
    assert (member.name, member.value) == before
    assert not hasattr(member, "extra")


@pytest.mark.rule("policy.plan-records.enums-immutable")
@pytest.mark.parametrize("member", [*OperandRole, *Arithmetic, *Accumulation], ids=str)
@pytest.mark.parametrize("attribute", ["_name_", "_value_", "_sort_order_", "missing"])
def test_deleting_any_attribute_of_an_enum_member_fails(member: Any, attribute: str) -> None:
    with pytest.raises(AttributeError):
        delattr(member, attribute)
    hash(member)
    assert type(member)[member.name] is member


@pytest.mark.rule("policy.plan-records.enums-immutable")
@pytest.mark.parametrize("enum", [OperandRole, Arithmetic, Accumulation])
def test_no_enum_member_can_be_rebound(enum: Any) -> None:
    for member in enum:
        with pytest.raises(AttributeError):
            setattr(enum, member.name, None)
        assert copy.deepcopy(member) is member
        assert pickle.loads(pickle.dumps(member)) is member  # noqa: S301


@pytest.mark.rule("policy.plan-records.operand-role")
@pytest.mark.parametrize(
    "arguments",
    [
        (T, None, F32),
        (T, DType.Any, F32),
        (T, DType.MXFP4, F32),
        (T, "Float32", F32),
        (S, F32, F32),
        (S, I32, F32),
        (S, 0, F32),
        ("tensor", F32, F32),
        (None, F32, F32),
        (T, F32, None),
        (T, F32, DType.Floating),
        (T, F32, DType.MXFP4),
        (S, None, None),
        (S, None, "Int32"),
    ],
    ids=repr,
)
def test_an_operand_plan_whose_dtype_does_not_fit_its_role_is_a_type_error(
    arguments: tuple[Any, ...],
) -> None:
    with pytest.raises(TypeError):
        OperandPlan(*arguments)


@pytest.mark.rule("policy.plan-records.operand-role")
def test_an_operand_plan_takes_a_simple_dtype_for_a_tensor_and_none_for_a_scalar() -> None:
    assert OperandPlan(T, DType.E4M3, F32).dtype is DType.E4M3
    assert OperandPlan(S, None, I32).dtype is None
    assert OperandPlan(role=T, dtype=I32, convert_to=F32).convert_to is F32


@pytest.mark.rule("policy.plan-records.field-types")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("operation", None),
        ("operation", 3),
        ("operation", b"neg"),
        ("operands", None),
        ("operands", (F32,)),
        ("operands", "neg"),
        ("operands", OperandPlan(T, F32, F32)),
        ("compute", None),
        ("compute", "BINARY32"),
        ("compute", Accumulation.FLOATING),
        ("accumulation", "FLOATING"),
        ("accumulation", Arithmetic.BINARY32),
        ("accumulator_dtype", "Float32"),
        ("accumulator_dtype", DType.Floating),
        ("accumulator_dtype", DType.MXFP4),
        ("output", None),
        ("output", DType.Any),
        ("output", DType.MXFP4),
        ("output", "Float32"),
    ],
    ids=repr,
)
def test_a_field_of_a_wrong_type_is_a_type_error(field: str, value: object) -> None:
    with pytest.raises(TypeError):
        _plan(**{field: value})


@pytest.mark.rule("policy.plan-records.operands-tuple")
def test_a_sequence_of_operands_is_stored_as_a_tuple() -> None:
    operands = [OperandPlan(T, F32, F32)]
    plan = _plan(operands=operands)
    operands.append(OperandPlan(S, None, F32))
    assert plan.operands == (OperandPlan(T, F32, F32),)
    assert type(plan.operands) is tuple
    hash(plan)


@pytest.mark.rule("policy.plan-records.resolved-types")
def test_every_resolvable_plan_has_fields_of_the_required_types() -> None:
    for plan in resolvable_plans():
        assert type(plan.operation) is str
        assert type(plan.operands) is tuple
        assert isinstance(plan.compute, Arithmetic)
        assert plan.accumulation is None or isinstance(plan.accumulation, Accumulation)
        assert plan.output.is_simple()
        for operand in plan.operands:
            assert operand.convert_to.is_simple()
            assert (operand.dtype is None) == (operand.role is S)
        floating = plan.accumulation is Accumulation.FLOATING
        assert (plan.accumulator_dtype is not None) == floating
