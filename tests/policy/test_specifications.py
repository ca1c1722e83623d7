"""Requirement: Operation specifications declare positional overloads."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationOverload,
    OperationPlan,
    OperationSpec,
    registered_operations,
    resolve_operation_plan,
)

F32, I32, BOOL = DType.Float32, DType.Int32, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR


def _rule(*_operands: object) -> OperationPlan:
    return OperationPlan("op", (OperandPlan(T, F32, F32),), Arithmetic.BINARY32, None, None, F32)


def _overload(*roles: OperandRole) -> OperationOverload:
    return OperationOverload(roles, _rule)


def _spec(name: str) -> OperationSpec:
    return next(spec for spec in registered_operations() if spec.name == name)


@pytest.mark.rule("policy.specifications.defaults")
def test_the_defaults_are_the_ones_of_the_requirement() -> None:
    overload = inspect.signature(OperationOverload).parameters
    assert list(overload) == ["roles", "rule", "tensor_domains"]
    assert overload["roles"].default is inspect.Parameter.empty
    assert overload["rule"].default is inspect.Parameter.empty
    assert overload["tensor_domains"].default is None
    spec = inspect.signature(OperationSpec).parameters
    assert list(spec) == ["name", "overloads", "public", "dtype_operand_positions"]
    assert spec["name"].default is inspect.Parameter.empty
    assert spec["overloads"].default is inspect.Parameter.empty
    assert spec["public"].default is True
    assert spec["dtype_operand_positions"].default is None


@pytest.mark.rule("policy.specifications.defaults")
def test_defaults_apply_where_nothing_is_given() -> None:
    assert _overload(T).tensor_domains is None
    spec = OperationSpec("op", (_overload(T),))
    assert spec.public is True
    assert spec.dtype_operand_positions is None


@pytest.mark.rule("policy.specifications.domains")
@pytest.mark.parametrize(
    ("roles", "domains"),
    [
        ((T,), ()),
        ((T,), ((F32,), (F32,))),
        ((T, T), ((F32,),)),
        ((T, T), ((F32,), (F32,), (F32,))),
        ((T, S), ((F32,), (F32,))),
        ((T, S), ()),
        ((S,), ((F32,),)),
    ],
)
def test_a_wrong_number_of_domains_is_a_value_error(roles: Any, domains: Any) -> None:
    with pytest.raises(ValueError, match="domain"):
        OperationOverload(roles, _rule, domains)


@pytest.mark.rule("policy.specifications.domains")
@pytest.mark.parametrize(
    ("roles", "domains"),
    [((T,), ((),)), ((T, T), ((F32,), ())), ((T, T), ((), (F32,))), ((T, S, T), ((F32,), []))],
)
def test_an_empty_domain_is_a_value_error(roles: Any, domains: Any) -> None:
    with pytest.raises(ValueError, match="domain"):
        OperationOverload(roles, _rule, domains)


@pytest.mark.rule("policy.specifications.domains")
def test_one_domain_a_tensor_role_is_accepted_in_the_order_of_the_tensor_roles() -> None:
    overload = OperationOverload([T, S, T], _rule, [[F32, I32], [BOOL]])  # type: ignore[arg-type]
    assert overload.roles == (T, S, T)
    assert overload.tensor_domains == ((F32, I32), (BOOL,))
    assert type(overload.roles) is tuple
    assert type(overload.tensor_domains) is tuple
    assert all(type(domain) is tuple for domain in overload.tensor_domains)
    hash(overload)


@pytest.mark.rule("policy.specifications.overload-types")
@pytest.mark.parametrize(
    ("roles", "rule", "domains"),
    [
        (("tensor",), _rule, None),
        ((F32,), _rule, None),
        (None, _rule, None),
        ("tensor", _rule, None),
        ((T,), None, None),
        ((T,), "rule", None),
        ((T,), _rule, ((DType.Any,),)),
        ((T,), _rule, (("Float32",),)),
        ((T,), _rule, (F32,)),
        ((T,), _rule, "F"),
        ((T,), _rule, 3),
    ],
)
def test_an_overload_field_of_a_wrong_type_is_a_type_error(
    roles: Any, rule: Any, domains: Any
) -> None:
    with pytest.raises(TypeError):
        OperationOverload(roles, rule, domains)


@pytest.mark.rule("policy.specifications.overloads-empty")
@pytest.mark.parametrize("overloads", [(), []])
def test_no_overloads_is_a_value_error(overloads: Any) -> None:
    with pytest.raises(ValueError, match="op"):
        OperationSpec("op", overloads)


@pytest.mark.rule("policy.specifications.signature-once")
@pytest.mark.parametrize(
    "overloads",
    [
        (_overload(T), _overload(T)),
        (_overload(T, S), _overload(T, T), _overload(T, S)),
        (OperationOverload((T,), _rule, ((F32,),)), OperationOverload((T,), _rule, ((I32,),))),
    ],
)
def test_a_duplicate_role_signature_is_a_value_error(overloads: Any) -> None:
    with pytest.raises(ValueError, match="op"):
        OperationSpec("op", overloads)


@pytest.mark.rule("policy.specifications.positions")
@pytest.mark.parametrize(
    "positions", [(1, 0), (2, 1), (0, 0), (3, 3), (-1, 0), (-2, -1), (0, -1)], ids=repr
)
def test_positions_out_of_order_repeated_or_negative_are_a_value_error(positions: Any) -> None:
    with pytest.raises(ValueError, match="position"):
        OperationSpec("op", (_overload(T, T),), dtype_operand_positions=positions)


@pytest.mark.rule("policy.specifications.positions")
@pytest.mark.parametrize(
    ("overloads", "positions"),
    [
        ((_overload(T, T),), (0,)),
        ((_overload(T, T),), ()),
        ((_overload(T, T),), (0, 1, 2)),
        ((_overload(T, T), _overload(T)), (0, 1)),
        ((_overload(T), _overload(T, T)), (0, 1)),
    ],
)
def test_positions_of_another_length_than_an_overload_are_a_value_error(
    overloads: Any, positions: Any
) -> None:
    with pytest.raises(ValueError, match="position"):
        OperationSpec("op", overloads, dtype_operand_positions=positions)


@pytest.mark.rule("policy.specifications.positions")
def test_increasing_positions_may_skip_arguments_and_are_stored_as_a_tuple() -> None:
    spec = OperationSpec("op", [_overload(T, S)], False, [1, 4])  # type: ignore[arg-type]  # noqa: FBT003
    assert spec.dtype_operand_positions == (1, 4)
    assert type(spec.dtype_operand_positions) is tuple
    assert type(spec.overloads) is tuple
    assert spec.public is False
    hash(spec)


@pytest.mark.rule("policy.specifications.spec-types")
@pytest.mark.parametrize(
    ("name", "overloads", "public", "positions"),
    [
        (None, (_overload(T),), True, None),
        (3, (_overload(T),), True, None),
        ("op", None, True, None),
        ("op", (_rule,), True, None),
        ("op", _overload(T), True, None),
        ("op", (_overload(T),), 1, None),
        ("op", (_overload(T),), None, None),
        ("op", (_overload(T),), "yes", None),
        ("op", (_overload(T),), True, (0.0,)),
        ("op", (_overload(T),), True, ("0",)),
        ("op", (_overload(T),), True, (False,)),
        ("op", (_overload(T),), True, 0),
    ],
)
def test_a_specification_field_of_a_wrong_type_is_a_type_error(
    name: Any, overloads: Any, public: Any, positions: Any
) -> None:
    with pytest.raises(TypeError):
        OperationSpec(name, overloads, public, positions)


@pytest.mark.rule("policy.specifications.single-overload")
def test_roles_and_rule_of_a_single_overload_are_that_overloads() -> None:
    spec = OperationSpec("op", (_overload(T, S),))
    assert spec.roles == (T, S)
    assert spec.rule is _rule
    registered = _spec("select")
    assert registered.roles == (T, T, T)
    assert registered.rule is registered.overloads[0].rule


@pytest.mark.rule("policy.specifications.several-overloads")
@pytest.mark.parametrize("attribute", ["roles", "rule"])
def test_roles_and_rule_of_several_overloads_are_an_attribute_error(attribute: str) -> None:
    spec = OperationSpec("op", (_overload(T, T), _overload(T, S)))
    with pytest.raises(AttributeError):
        getattr(spec, attribute)
    for name in ("mul", "pow", "clamp"):
        with pytest.raises(AttributeError):
            getattr(_spec(name), attribute)


@pytest.mark.rule("policy.specifications.non-dtype-parameters")
@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("cumsum", (F32,)),
        ("conv_general", (F32, F32)),
        ("gather", (F32, I32)),
        ("scatter", (F32, I32, F32)),
        ("scatter_add", (F32, I32, F32)),
        ("_sort_values", (F32,)),
        ("_topk_indices", (F32,)),
    ],
)
def test_keep_non_dtype_parameters_out_of_planning(name: str, operands: Any) -> None:
    spec = _spec(name)
    assert spec.dtype_operand_positions == tuple(range(len(operands)))
    plan = resolve_operation_plan(name, *operands)
    assert all(operand.role is T for operand in plan.operands)
    assert len(plan.operands) == len(operands)
    with pytest.raises(TypeError):
        resolve_operation_plan(name, *operands, 0)


@pytest.mark.rule("policy.specifications.rule-produces-plan")
def test_the_rule_of_a_registered_overload_produces_the_plan_of_resolution() -> None:
    assert _spec("add").rule(I32, F32) == resolve_operation_plan("add", I32, F32)
    pow_scalar = next(o for o in _spec("pow").overloads if o.roles == (T, S))
    assert pow_scalar.rule(I32, 3) == resolve_operation_plan("pow", I32, 3)
    assert pow_scalar.rule(I32, -1) == resolve_operation_plan("pow", I32, -1)
