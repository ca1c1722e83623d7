"""Requirement: Arithmetic and accumulation values have exact semantics (what planning shows)."""

from __future__ import annotations

from enum import Enum

import pytest

from bittrue.dtypes import DType
from bittrue.policy import (
    Accumulation,
    Arithmetic,
    resolvable_plans,
    resolve_operation_plan,
)

F32, I32 = DType.Float32, DType.Int32


@pytest.mark.rule("policy.arithmetic.members")
def test_arithmetic_has_the_three_members() -> None:
    wanted = {"BINARY32", "INT32_EXACT_CHECKED", "INT32_EXACT"}
    assert issubclass(Arithmetic, Enum)
    assert wanted <= set(Arithmetic.__members__)
    assert {plan.compute.name for plan in resolvable_plans()} == wanted


@pytest.mark.rule("policy.arithmetic.members")
def test_accumulation_has_the_eight_members() -> None:
    wanted = {
        "FLOATING",
        "SEQUENTIAL_BINARY32",
        "SEQUENTIAL_BINARY32_PRODUCT",
        "MAXIMUM",
        "MINIMUM",
        "ARGMAX",
        "ARGMIN",
        "EXACT_INTEGER",
    }
    assert issubclass(Accumulation, Enum)
    assert wanted <= set(Accumulation.__members__)
    assert {p.accumulation.name for p in resolvable_plans() if p.accumulation} == wanted


@pytest.mark.rule("policy.arithmetic.members")
@pytest.mark.parametrize("enum", [Arithmetic, Accumulation])
def test_no_member_is_an_alias_of_another(enum: type[Enum]) -> None:
    assert len(list(enum)) == len(enum.__members__)


@pytest.mark.rule("policy.arithmetic.exact-reduction")
def test_distinguish_exact_reduction_accumulation() -> None:
    plan = resolve_operation_plan("reduce_sum", I32)
    assert plan.accumulation is Accumulation.EXACT_INTEGER
    assert plan.accumulator_dtype is None
    assert plan.output is I32
    floating = resolve_operation_plan("reduce_sum", F32)
    assert floating.accumulation is Accumulation.FLOATING


@pytest.mark.rule("policy.arithmetic.floating-has-accumulator")
def test_exactly_the_floating_accumulations_have_a_separate_accumulator() -> None:
    for plan in resolvable_plans():
        if plan.accumulation is Accumulation.FLOATING:
            assert plan.accumulator_dtype is not None
        else:
            assert plan.accumulator_dtype is None


@pytest.mark.rule("policy.arithmetic.output-independent")
def test_the_output_does_not_follow_from_the_arithmetic() -> None:
    assert resolve_operation_plan("eq", F32, F32).compute is Arithmetic.BINARY32
    assert resolve_operation_plan("eq", F32, F32).output is DType.Bool
    assert resolve_operation_plan("argmax", F32).compute is Arithmetic.BINARY32
    assert resolve_operation_plan("argmax", F32).output is I32


@pytest.mark.rule("policy.arithmetic.int32-exact")
def test_int32_exact_is_kept_for_relu_and_for_the_products_of_matmul() -> None:
    exact = [p for p in resolvable_plans() if p.compute is Arithmetic.INT32_EXACT]
    assert [p.operation for p in exact] == ["matmul", "relu"]
    assert all(p.output is I32 for p in exact)
