"""Requirement: Central planning rejects abstract and unsupported dtypes explicitly."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bittrue.dtypes import CompoundDType, DType, DTypeCategory, SimpleDType
from bittrue.policy import resolvable_plans, resolve_operation_plan

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
OVERLOADS = [
    (line.split(" | ")[0], line.split(" | ")[3])
    for line in Path(__file__).with_name("expected_overloads.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
NAMES = list(dict.fromkeys(name for name, _ in OVERLOADS))
VALID: dict[str, object] = {"F": F32, "I": I32, "B": BOOL, "N": F32, "S": 2}
ACCEPTED: dict[str, tuple[DType, ...]] = {"F": (F32,), "I": (I32,), "B": (BOOL,), "N": (F32, I32)}

CATEGORIES = ["Any", "Floating", "Integer"]
COMPOUNDS = [
    "MXFP8_E4M3",
    "MXFP8_E5M2",
    "MXFP6_E3M2",
    "MXFP6_E2M3",
    "MXFP4",
    "MXINT8",
    "NVFP4",
]
UNIMPLEMENTED = [
    "Float64",
    "TF32",
    "HF32",
    "Float16",
    "BFloat16",
    "HiF8",
    "E4M3",
    "E5M2",
    "E3M2",
    "E2M3",
    "E2M1",
    "E1M2",
    "E8M0",
    "HiF4",
    "FP19",
    "Int8",
]


def _tensor_positions(name: str) -> Iterator[tuple[str, int, list[object]]]:
    """Yield letters, position and valid operands of every tensor position of an operation."""
    for operation, letters in OVERLOADS:
        if operation == name:
            for position, letter in enumerate(letters):
                if letter != "S":
                    yield letters, position, [VALID[each] for each in letters]


def _refusals(name: str, operand: object, error: type[Exception], *texts: str) -> list[str]:
    """Say where `operand` is not refused by exactly `error` with `texts` in its message."""
    wrong = []
    for letters, position, operands in _tensor_positions(name):
        operands[position] = operand
        where = f"{name}/{letters}[{position}]"
        try:
            plan = resolve_operation_plan(name, *operands)
        except (TypeError, NotImplementedError, OverflowError, ValueError) as caught:
            other = NotImplementedError if error is TypeError else TypeError
            if not isinstance(caught, error) or isinstance(caught, other):
                wrong.append(f"{where}: {type(caught).__name__}: {caught}")
            wrong += [
                f"{where}: no {text!r} in {caught}" for text in texts if text not in f"{caught}"
            ]
        else:
            wrong.append(f"{where}: planned {plan}")
    return wrong


def _lookalike(dtype: DType) -> Any:
    class Lookalike:
        name = dtype.name

        def __eq__(self, other: object) -> bool:
            return other is dtype

        def __hash__(self) -> int:
            return hash(dtype)

        def __getattr__(self, attribute: str) -> object:
            if attribute == "dtype":
                raise AttributeError
            return getattr(dtype, attribute)

    return Lookalike()


@pytest.mark.rule("policy.planning-rejects.category-uniformly")
@pytest.mark.parametrize("name", NAMES)
def test_refuse_an_abstract_category_uniformly(
    name: str, extension_category: DTypeCategory
) -> None:
    wrong = []
    for category in (*(DTypeCategory.from_name(c) for c in CATEGORIES), extension_category):
        wrong += _refusals(name, category, TypeError, category.name, "abstract category")
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("policy.planning-rejects.no-category-path")
@pytest.mark.parametrize("name", NAMES)
def test_reject_generic_category_operands_through_central_planning(name: str) -> None:
    for category in (DType.Any, DType.Floating):
        for letters, _, _ in _tensor_positions(name):
            operands = [2 if letter == "S" else category for letter in letters]
            with pytest.raises(TypeError, match=category.name):
                resolve_operation_plan(name, *operands)


@pytest.mark.rule("policy.planning-rejects.unimplemented-simple")
@pytest.mark.parametrize("name", NAMES)
def test_refuse_an_unimplemented_simple_encoding(name: str, extension_simple: SimpleDType) -> None:
    wrong = []
    for dtype in (*(SimpleDType.from_name(each) for each in UNIMPLEMENTED), extension_simple):
        wrong += _refusals(name, dtype, NotImplementedError, dtype.name)
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("policy.planning-rejects.compound")
@pytest.mark.parametrize("name", NAMES)
def test_refuse_compound_planning_separately(name: str, extension_compound: CompoundDType) -> None:
    wrong = []
    for dtype in (*(CompoundDType.from_name(each) for each in COMPOUNDS), extension_compound):
        wrong += _refusals(
            name,
            dtype,
            NotImplementedError,
            dtype.name,
            "representation-aware planning is deferred",
        )
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("policy.planning-rejects.implemented-outside-domain")
@pytest.mark.parametrize("name", NAMES)
def test_an_implemented_dtype_outside_the_domain_of_a_position_is_a_type_error(name: str) -> None:
    wrong = []
    for letters, position, operands in _tensor_positions(name):
        for dtype in (F32, I32, BOOL):
            if any(dtype is accepted for accepted in ACCEPTED[letters[position]]):
                continue
            operands[position] = dtype
            try:
                resolve_operation_plan(name, *operands)
            except TypeError:
                continue
            except NotImplementedError as caught:
                wrong.append(f"{name}/{letters}[{position}]: {caught}")
            else:
                wrong.append(f"{name}/{letters}[{position}] took {dtype}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("policy.planning-rejects.bool-numeric")
@pytest.mark.parametrize("name", NAMES)
def test_bool_in_a_numeric_position_is_a_type_error(name: str) -> None:
    for letters, position, operands in _tensor_positions(name):
        if letters[position] != "B":
            operands[position] = BOOL
            with pytest.raises(TypeError, match="Bool"):
                resolve_operation_plan(name, *operands)


@pytest.mark.rule("policy.planning-rejects.bool-numeric")
def test_bool_is_accepted_only_by_the_condition_of_select() -> None:
    sources = [
        (plan.operation, position)
        for plan in resolvable_plans((F32, I32, BOOL))
        for position, operand in enumerate(plan.operands)
        if operand.dtype is BOOL
    ]
    assert sources == [("select", 0)]


@pytest.mark.rule("policy.planning-rejects.accepted")
@pytest.mark.parametrize("name", NAMES)
def test_every_accepted_dtype_of_every_position_plans(name: str) -> None:
    for letters, position, operands in _tensor_positions(name):
        for dtype in ACCEPTED[letters[position]]:
            operands[position] = dtype
            plan = resolve_operation_plan(name, *operands)
            assert plan.operation == name
            assert plan.operands[position].dtype is dtype


@pytest.mark.rule("policy.planning-rejects.float64-operand")
@pytest.mark.parametrize("name", NAMES)
def test_float64_is_an_accumulator_and_never_an_operand(name: str) -> None:
    wrong = _refusals(name, F64, NotImplementedError, "Float64")
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("policy.planning-rejects.identity")
@pytest.mark.parametrize("name", NAMES)
def test_an_object_that_equals_a_descriptor_selects_nothing(name: str) -> None:
    wrong = []
    for letters, position, operands in _tensor_positions(name):
        for dtype in ACCEPTED[letters[position]]:
            operands[position] = dtype
            resolve_operation_plan(name, *operands)
            lookalike = _lookalike(dtype)
            assert lookalike == dtype
            assert hash(lookalike) == hash(dtype)
            wrong += _refusals_at(name, letters, position, lookalike)
            resolve_operation_plan(name, *operands)
    assert not wrong, "\n".join(wrong)


def _refusals_at(name: str, letters: str, position: int, operand: object) -> list[str]:
    operands = [VALID[letter] for letter in letters]
    operands[position] = operand
    try:
        plan = resolve_operation_plan(name, *operands)
    except TypeError:
        return []
    return [f"{name}/{letters}[{position}]: planned {plan}"]


@pytest.mark.rule("policy.planning-rejects.identity")
def test_an_object_that_equals_a_descriptor_selects_no_enumerated_plan() -> None:
    resolvable_plans()
    assert resolvable_plans((_lookalike(F32),)) == ()
    assert resolvable_plans((F32, I32, _lookalike(F32), _lookalike(I32))) == resolvable_plans()


@pytest.mark.rule("policy.planning-rejects.identity")
def test_an_object_equal_to_everything_selects_nothing() -> None:
    class EqualToAll:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(F32)

    for operands in ((EqualToAll(), F32), (F32, EqualToAll()), (EqualToAll(), EqualToAll())):
        with pytest.raises(TypeError):
            resolve_operation_plan("add", *operands)
    everything: Any = EqualToAll()
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, accumulator_dtype=everything)


@pytest.mark.rule("policy.planning-rejects.identity")
def test_a_copied_descriptor_is_the_descriptor() -> None:
    plan = resolve_operation_plan("add", copy.deepcopy(F32), copy.copy(I32))
    assert plan == resolve_operation_plan("add", F32, I32)


@pytest.mark.rule("policy.planning-rejects.text")
@pytest.mark.parametrize(
    ("operation", "operands", "texts"),
    [
        ("add", (BOOL, BOOL), ("add", "operand 0", "Bool", "Float32", "Int32")),
        ("abs", (I32,), ("abs", "operand 0", "Int32", "Float32")),
        ("gather", (F32, F32), ("gather", "operand 1", "Float32", "Int32")),
        ("exp", (DType.E4M3,), ("exp", "operand 0", "E4M3")),
        ("add", (F32, DType.MXFP4), ("add", "operand 1", "MXFP4", "compound")),
        ("select", (DType.Any, F32, F32), ("select", "operand 0", "Any")),
        ("mul", (F32, "2"), ("mul", "operand 1", "must be a real number")),
        ("mul", (I32, 2**31), ("mul", "2147483648", "2147483647")),
    ],
)
def test_a_refusal_says_who_refuses_what_came_and_what_is_accepted(
    operation: str, operands: Any, texts: tuple[str, ...]
) -> None:
    with pytest.raises((TypeError, NotImplementedError, OverflowError)) as caught:
        resolve_operation_plan(operation, *operands)
    assert not [text for text in texts if text not in str(caught.value)]
