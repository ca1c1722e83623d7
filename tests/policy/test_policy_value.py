"""Policies as values: the union and its laws (promotion.md 1.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue.dtypes import DType, SimpleDType
from bittrue.policy import (
    SIMPLE,
    SUPPORTED_TENSOR_DTYPES,
    WEAK_SCALAR_PROBES,
    Accumulation,
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationExecutionOptions,
    OperationOverload,
    OperationPlan,
    OperationSpec,
    Policy,
    Row,
    WeakCondition,
    operation_execution_options,
    plan_accumulator_variants,
    registered_operations,
    resolvable_plans,
    resolve_operation_plan,
    specs_of,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
PROBES = (3, -1, 0.5, True, 1j, 7, 2.5)
ACCUMULATORS = [
    ("fold", F32, (F32, F64)),
    ("fold", F64, (F64,)),
    ("join", F32, (F32, F64)),
]


def _row(
    operation: str,
    *sources: SimpleDType | WeakCondition,
    converted: SimpleDType = F32,
    output: SimpleDType = F32,
    accumulation: Accumulation | None = None,
    accumulator: SimpleDType | None = None,
) -> Row:
    operands = tuple(
        OperandPlan(T, source, converted)
        if isinstance(source, SimpleDType)
        else OperandPlan(S, None, converted)
        for source in sources
    )
    plan = OperationPlan(
        operation, operands, Arithmetic.BINARY32, accumulation, accumulator, output
    )
    return Row(
        operation,
        tuple(operand.role for operand in operands),
        tuple(source for source in sources if isinstance(source, SimpleDType)),
        tuple(source for source in sources if isinstance(source, WeakCondition)),
        plan,
    )


def _policy(
    *rows: Row, accumulators: Any = (), probes: Any = (), name: str = "", public: bool = True
) -> Policy:
    specs = tuple(dataclasses.replace(spec, public=public) for spec in specs_of(rows))
    return Policy(rows, specs, tuple(accumulators), tuple(probes), name)


UNIVERSE = [
    *(_row("join", a, b) for a in (F32, I32, F64) for b in (F32, I32, F64)),
    *(_row("join", a, w) for a in (F32, F64) for w in list(WeakCondition)),
    *(_row("join", w, F32) for w in (WeakCondition.FLOATING, WeakCondition.INT_WIDE)),
    *(_row("fold", a, accumulation=Accumulation.FLOATING, accumulator=F32) for a in (F32, I32)),
    _row("fold", F64, converted=F64, accumulation=Accumulation.FLOATING, accumulator=F64),
    _row("pick", BOOL, F32),
    _row("pick", BOOL, DType.BFloat16),
]


@st.composite
def policies(draw: Callable[..., Any], *, canonical_probes: bool = False) -> Policy:
    rows = draw(st.lists(st.sampled_from(UNIVERSE), unique_by=id))
    accumulators = draw(st.lists(st.sampled_from(ACCUMULATORS), unique=True))
    probes = draw(st.lists(st.sampled_from(PROBES), unique_by=lambda p: (type(p), p)))
    if canonical_probes:
        probes = [probe for probe in (3, -1, 0.5, True, 1j) if any(probe is p for p in probes)]
    name = draw(st.sampled_from(["", "left", "right"]))
    return _policy(*rows, accumulators=accumulators, probes=probes, name=name)


def _same(left: Policy, right: Policy) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert left.specs() == right.specs()
    assert left.plans() == right.plans()
    assert left.tensor_dtypes == right.tensor_dtypes
    assert [type(p) for p in left.weak_probes] == [type(p) for p in right.weak_probes]


@pytest.mark.rule("policy.policy-value.commutative")
@given(policies(), policies())
def test_the_union_is_commutative(p: Policy, q: Policy) -> None:
    _same(p | q, q | p)


@pytest.mark.rule("policy.policy-value.associative")
@given(policies(), policies(), policies())
def test_the_union_is_associative(p: Policy, q: Policy, r: Policy) -> None:
    _same((p | q) | r, p | (q | r))


@pytest.mark.rule("policy.policy-value.idempotent")
@given(policies(canonical_probes=True))
def test_the_union_is_idempotent(p: Policy) -> None:
    _same(p | p, p)


@pytest.mark.rule("policy.policy-value.idempotent")
@given(policies())
def test_the_union_is_idempotent_for_probes_in_any_order(p: Policy) -> None:
    _same(p | p, p)


@pytest.mark.rule("policy.policy-value.idempotent")
def test_the_union_is_idempotent_for_overloads_in_any_order() -> None:
    def rule(*_operands: object) -> OperationPlan:
        raise AssertionError

    overloads = (OperationOverload((S, T), rule), OperationOverload((T, T), rule))
    policy = Policy((), (OperationSpec("own", overloads),))
    assert policy | policy == policy


@pytest.mark.rule("policy.policy-value.idempotent")
def test_simple_joined_with_itself_is_simple() -> None:
    assert SIMPLE | SIMPLE == SIMPLE
    assert hash(SIMPLE | SIMPLE) == hash(SIMPLE)
    assert (SIMPLE | SIMPLE).plans() == resolvable_plans()


@pytest.mark.rule("policy.policy-value.neutral")
@given(policies(canonical_probes=True))
def test_an_empty_policy_is_neutral(p: Policy) -> None:
    _same(p | Policy((), ()), p)
    _same(Policy((), ()) | p, p)


@pytest.mark.rule("policy.policy-value.never-edits")
@given(policies(), policies())
def test_the_union_edits_neither_operand(p: Policy, q: Policy) -> None:
    before = [(x.rows, x.specs(), x.accumulators, x.weak_probes, x.plans()) for x in (p, q)]
    joined = p | q
    joined.plans()
    after = [(x.rows, x.specs(), x.accumulators, x.weak_probes, x.plans()) for x in (p, q)]
    assert before == after


@pytest.mark.rule("policy.policy-value.set-union")
@given(policies(), policies())
def test_the_rows_of_the_union_are_the_rows_of_both(p: Policy, q: Policy) -> None:
    assert set((p | q).rows) == set(p.rows) | set(q.rows)
    assert len((p | q).rows) == len(set(p.rows) | set(q.rows))


@pytest.mark.rule("policy.policy-value.conflict")
@pytest.mark.parametrize("swapped", [False, True])
def test_two_plans_for_one_key_are_refused_by_a_value_error_naming_the_key(
    swapped: bool,  # noqa: FBT001
) -> None:
    left = _policy(_row("join", F32, I32), name="left")
    right = _policy(_row("join", F32, I32, output=I32), name="right")
    with pytest.raises(ValueError, match=r"(?s)join.*Float32.*Int32"):
        _ = right | left if swapped else left | right


@pytest.mark.rule("policy.policy-value.conflict")
def test_equal_plans_for_one_key_merge() -> None:
    joined = _policy(_row("join", F32, I32)) | _policy(_row("join", F32, I32))
    assert len(joined.rows) == 1
    assert joined.resolve("join", F32, I32) == _row("join", F32, I32).plan


@pytest.mark.rule("policy.policy-value.conflict")
def test_a_conflict_with_simple_is_refused_and_simple_is_unchanged() -> None:
    before = resolvable_plans()
    with pytest.raises(ValueError, match="add"):
        _ = SIMPLE | _policy(_row("add", I32, I32))
    assert resolvable_plans() == before


@pytest.mark.rule("policy.policy-value.conflict")
def test_two_rows_with_one_key_in_one_policy_are_a_value_error() -> None:
    rows = (_row("join", F32, I32), _row("join", F32, I32, output=I32))
    with pytest.raises(ValueError, match=r"."):
        Policy(rows, specs_of(rows))


@pytest.mark.rule("policy.policy-value.conflict")
def test_two_accumulator_rows_for_one_key_are_refused() -> None:
    row = _row("fold", F32, accumulation=Accumulation.FLOATING, accumulator=F32)
    left = _policy(row, accumulators=[("fold", F32, (F32, F64))])
    right = _policy(row, accumulators=[("fold", F32, (F32,))])
    with pytest.raises(ValueError, match="fold"):
        _ = left | right


@pytest.mark.rule("policy.policy-value.metadata-conflict")
@pytest.mark.parametrize("swapped", [False, True])
def test_different_public_flags_of_one_operation_are_refused(
    swapped: bool,  # noqa: FBT001
) -> None:
    left = _policy(_row("join", F32, F32))
    right = _policy(_row("join", I32, I32), public=False)
    with pytest.raises(ValueError, match="join"):
        _ = right | left if swapped else left | right


@pytest.mark.rule("policy.policy-value.metadata-conflict")
def test_different_operand_positions_of_one_operation_are_refused() -> None:
    rows = (_row("join", F32, F32),)
    specs = (dataclasses.replace(specs_of(rows)[0], dtype_operand_positions=(0, 1)),)
    with pytest.raises(ValueError, match="join"):
        _ = Policy(rows, specs) | _policy(_row("join", I32, I32))


@pytest.mark.rule("policy.policy-value.metadata-conflict")
def test_equal_metadata_survives_the_union() -> None:
    joined = SIMPLE | _policy(_row("join", F32, F32))
    specs = {spec.name: spec for spec in joined.specs()}
    assert list(specs) == sorted(specs)
    for spec in registered_operations():
        assert specs[spec.name].public == spec.public
        assert specs[spec.name].dtype_operand_positions == spec.dtype_operand_positions


@pytest.mark.rule("policy.policy-value.simple-unchanged")
@given(policies())
def test_the_functions_of_simple_are_unchanged_after_any_union(p: Policy) -> None:
    specs, plans = registered_operations(), resolvable_plans()
    for joined in (SIMPLE | p, p | SIMPLE):
        joined.plans()
        assert set(plans) <= set(joined.plans())
    assert registered_operations() == specs
    assert resolvable_plans() == plans
    with pytest.raises(NotImplementedError):
        resolve_operation_plan("join", F32, F32)


@pytest.mark.rule("policy.policy-value.simple-unchanged")
def test_a_wider_union_does_not_widen_simple() -> None:
    rows = (_row("add", F64, F64, converted=F64, output=F64), _row("add", F64, F32))
    joined = SIMPLE | _policy(*rows)
    assert joined.resolve("add", F64, F64).output is F64
    assert joined.tensor_dtypes == (F32, I32, F64)
    with pytest.raises(NotImplementedError):
        resolve_operation_plan("add", F64, F64)
    assert SIMPLE.tensor_dtypes == (F32, I32)
    assert len(resolvable_plans()) == 102


@pytest.mark.rule("policy.policy-value.refusals")
def test_a_union_refuses_by_what_the_operation_has_rows_for() -> None:
    joined = SIMPLE | _policy(_row("add", F64, F64, converted=F64, output=F64))
    for operands in ((F64, F32), (F64, I32), (I32, F64), (BOOL, F64), (F64, BOOL)):
        with pytest.raises(TypeError):
            joined.resolve("add", *operands)
    for operation, operands in (("exp", (F64,)), ("sub", (F64, F64)), ("mul", (F64, 2))):
        with pytest.raises(NotImplementedError):
            joined.resolve(operation, *operands)
    with pytest.raises(TypeError):
        joined.resolve("abs", I32)


@pytest.mark.rule("policy.policy-value.accumulators")
def test_no_union_lets_a_float64_default_accumulate_in_float32() -> None:
    narrow = _policy(
        _row("fold", F32, accumulation=Accumulation.FLOATING, accumulator=F32),
        accumulators=[("fold", F32, (F32, F64))],
    )
    wide = _policy(
        _row("fold", F64, converted=F64, accumulation=Accumulation.FLOATING, accumulator=F64),
        accumulators=[("fold", F64, (F64,))],
    )
    for joined in (narrow | wide, wide | narrow):
        assert joined.resolve("fold", F64, accumulator_dtype=F64).accumulator_dtype is F64
        with pytest.raises(NotImplementedError):
            joined.resolve("fold", F64, accumulator_dtype=F32)
        assert joined.resolve("fold", F32, accumulator_dtype=F64).accumulator_dtype is F64
        accumulators = [(p.operands[0].dtype, p.accumulator_dtype) for p in joined.plans()]
        assert accumulators == [(F32, F32), (F32, F64), (F64, F64)]


@pytest.mark.rule("policy.policy-value.accumulators")
def test_the_variants_of_a_widened_plan_are_the_same_in_a_union() -> None:
    wide = _policy(
        _row("reduce_sum", F64, accumulation=Accumulation.FLOATING, accumulator=F64),
        accumulators=[("reduce_sum", F64, (F64,))],
    )
    plan = resolve_operation_plan("reduce_sum", F32, accumulator_dtype=F64)
    assert SIMPLE.accumulator_variants(plan) == plan_accumulator_variants(plan)
    assert (SIMPLE | wide).accumulator_variants(plan) == plan_accumulator_variants(plan)


@pytest.mark.rule("policy.policy-value.accumulators")
def test_options_are_checked_against_their_policy_and_again_by_resolution() -> None:
    own = _policy(
        _row("fold", F32, accumulation=Accumulation.FLOATING, accumulator=F32),
        accumulators=[("fold", F32, (F32, F64))],
    )
    options = own.options("fold", accumulator_dtype=F64)
    assert options == OperationExecutionOptions("fold", F64, policy=own)
    assert own.resolve("fold", F32, options=options).accumulator_dtype is F64
    for refused in (operation_execution_options, SIMPLE.options, OperationExecutionOptions):
        with pytest.raises(TypeError):
            refused("fold")
    without = _policy(_row("fold", F32, accumulation=Accumulation.FLOATING, accumulator=F32))
    with pytest.raises(TypeError):
        without.resolve("fold", F32, options=options)


@pytest.mark.rule("policy.policy-value.equality")
def test_the_name_is_a_label_outside_equality() -> None:
    left, right = _policy(_row("join", F32, F32), name="l"), _policy(_row("join", F32, F32))
    assert left == right
    assert hash(left) == hash(right)


@pytest.mark.rule("policy.policy-value.equality")
def test_equality_covers_rows_specs_accumulators_and_probes() -> None:
    base = _policy(_row("join", F32, F32))
    assert base != _policy(_row("join", F32, I32))
    assert base != _policy(_row("join", F32, F32), public=False)
    assert base != _policy(_row("join", F32, F32), probes=(3,))
    assert base != _policy(_row("join", F32, F32), accumulators=[("join", F32, (F32,))])


@pytest.mark.rule("policy.policy-value.equality")
@pytest.mark.parametrize(("left", "right"), [(1, True), (1, 1.0), (3, 3.0)])
def test_policies_whose_probes_select_different_branches_differ(left: Any, right: Any) -> None:
    rows = [_row("join", F32, condition) for condition in WeakCondition]
    assert _policy(*rows, probes=(left,)) != _policy(*rows, probes=(right,))


@pytest.mark.rule("policy.policy-value.probes")
def test_probes_of_a_union_stand_in_the_stated_order() -> None:
    left, right = _policy(probes=(1j, 0.5, 3)), _policy(probes=(True, -1, 3))
    for joined in (left | right, right | left):
        assert joined.weak_probes == (3, -1, 0.5, True, 1j)
        assert [type(p) for p in joined.weak_probes] == [int, int, float, bool, complex]


@pytest.mark.rule("policy.policy-value.overload-order")
def test_overloads_of_a_union_stand_with_tensors_before_scalars() -> None:
    scalar = WeakCondition.FLOATING
    left = _policy(_row("join", scalar, F32), _row("join", F32, F32))
    right = _policy(_row("join", F32, scalar))
    for joined in (left | right, right | left):
        (spec,) = joined.specs()
        assert [overload.roles for overload in spec.overloads] == [(T, T), (T, S), (S, T)]


@pytest.mark.rule("policy.policy-value.tensor-domain")
def test_the_tensor_domain_is_derived_in_the_order_of_the_dtype_list() -> None:
    left, right = _policy(_row("join", F64, I32)), _policy(_row("join", BOOL, F32))
    for joined in (left | right, right | left):
        assert joined.tensor_dtypes == (F32, I32, F64)


@pytest.mark.rule("policy.policy-value.immutable")
def test_a_policy_is_frozen_and_hashable() -> None:
    for field in ("rows", "operation_specs", "accumulators", "weak_probes", "name"):
        before = getattr(SIMPLE, field)
        with pytest.raises(AttributeError):
            setattr(SIMPLE, field, ())
        with pytest.raises(AttributeError):
            delattr(SIMPLE, field)
        assert getattr(SIMPLE, field) is before
    assert len({SIMPLE, SIMPLE | SIMPLE}) == 1


@pytest.mark.rule("policy.policy-value.operator")
@pytest.mark.parametrize("other", [None, 3, "simple", (), object()])
def test_the_union_with_something_else_is_a_type_error(other: Any) -> None:
    with pytest.raises(TypeError):
        _ = SIMPLE | other
    with pytest.raises(TypeError):
        _ = other | SIMPLE


@pytest.mark.rule("policy.policy-value.module-functions")
def test_the_module_functions_are_the_methods_of_simple() -> None:
    assert SIMPLE.specs() == registered_operations()
    assert SIMPLE.plans() == resolvable_plans()
    assert SIMPLE.plans((F32,), (3,)) == resolvable_plans((F32,), (3,))
    assert SIMPLE.resolve("add", F32, I32) == resolve_operation_plan("add", F32, I32)
    plan = SIMPLE.resolve("matmul", F32, F32)
    assert SIMPLE.accumulator_variants(plan) == plan_accumulator_variants(plan)
    assert SIMPLE.options("matmul", accumulator_dtype=F64) == operation_execution_options(
        "matmul", accumulator_dtype=F64
    )
    assert SIMPLE.tensor_dtypes == SUPPORTED_TENSOR_DTYPES
    assert SIMPLE.weak_probes == WEAK_SCALAR_PROBES


@pytest.mark.rule("policy.policy-value.own-rules")
def test_two_rules_for_one_signature_are_refused_in_a_union() -> None:
    def first(*_operands: object) -> OperationPlan:
        raise AssertionError

    def second(*_operands: object) -> OperationPlan:
        raise AssertionError

    def own(rule: Any) -> Policy:
        return Policy((), (OperationSpec("join", (OperationOverload((T, T), rule),)),))

    assert own(first) | own(first) == own(first)
    with pytest.raises(ValueError, match="join"):
        _ = own(first) | own(second)
    with pytest.raises(ValueError, match="join"):
        _ = own(first) | _policy(_row("join", F32, F32))


@pytest.mark.rule("policy.policy-value.operation-once")
def test_an_operation_stands_once_in_a_policy() -> None:
    def rule(*_operands: object) -> OperationPlan:
        raise AssertionError

    spec = OperationSpec("own", (OperationOverload((T,), rule),))
    other = OperationSpec("own", (OperationOverload((T, T), rule),))
    with pytest.raises(ValueError, match=r"."):
        Policy((), (spec, other))
