"""Requirement: Resolution selects exact roles before applying policy."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

import pytest

from bittrue.dtypes import DType, DTypeCategory
from bittrue.policy import (
    SIMPLE,
    Accumulation,
    Arithmetic,
    OperandPlan,
    OperandRole,
    OperationExecutionOptions,
    OperationOverload,
    OperationPlan,
    OperationSpec,
    Policy,
    operation_execution_options,
    resolve_operation_plan,
)

F32, I32, F64, BOOL = DType.Float32, DType.Int32, DType.Float64, DType.Bool
T, S = OperandRole.TENSOR, OperandRole.WEAK_SCALAR
MATMUL = operation_execution_options("matmul", accumulator_dtype=F64)
SUM = operation_execution_options("reduce_sum", accumulator_dtype=F64)


class Untouchable:
    """Raises on every access that could read an element."""

    def _refuse(self, *_args: object) -> NoReturn:
        msg = "an element was read"
        raise AssertionError(msg)

    __getitem__ = __iter__ = __len__ = __array__ = __float__ = __int__ = __index__ = _refuse
    __bool__ = __eq__ = __ne__ = __lt__ = __contains__ = __complex__ = _refuse  # type: ignore[assignment]
    __hash__ = _refuse  # type: ignore[assignment]
    __next__ = __round__ = __trunc__ = tolist = item = _refuse


class UntouchableRepr(Untouchable):
    """Raises also when it is printed: printing a tensor reads its elements."""

    __repr__ = __str__ = __format__ = Untouchable._refuse  # type: ignore[assignment]  # noqa: SLF001


def _plan(operation: str = "op", **changed: Any) -> OperationPlan:
    values: dict[str, Any] = {
        "operands": (OperandPlan(T, F32, F32), OperandPlan(T, I32, F32)),
        "compute": Arithmetic.BINARY32,
        "accumulation": None,
        "accumulator_dtype": None,
        "output": F32,
    }
    return OperationPlan(operation, **(values | changed))


def _policy(returned: object, *, roles: tuple[OperandRole, ...] = (T, T)) -> Policy:
    overload = OperationOverload(roles, lambda *_operands: returned)  # type: ignore[arg-type,return-value]
    return Policy((), (OperationSpec("op", (overload,)),))


def _outcome(*operands: object, **keywords: Any) -> tuple[type[Exception], str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        resolve_operation_plan(*operands, **keywords)  # type: ignore[arg-type]
    return type(caught.value), str(caught.value)


@pytest.mark.rule("policy.resolution.signature")
def test_the_signature_is_the_one_of_the_requirement() -> None:
    parameters = inspect.signature(resolve_operation_plan).parameters
    assert list(parameters) == ["operation", "operands", "accumulator_dtype", "options"]
    assert parameters["operands"].kind is inspect.Parameter.VAR_POSITIONAL
    for name in ("accumulator_dtype", "options"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None


@pytest.mark.rule("policy.resolution.tensor-and-scalar-overloads")
@pytest.mark.parametrize("operation", ["mul", "pow"])
def test_select_tensor_and_scalar_overloads_separately(operation: str) -> None:
    tensor = resolve_operation_plan(operation, F32, F32)
    scalar = resolve_operation_plan(operation, F32, 2)
    assert [operand.role for operand in tensor.operands] == [T, T]
    assert [operand.role for operand in scalar.operands] == [T, S]
    assert scalar.operands[1].dtype is None
    assert tensor != scalar


@pytest.mark.rule("policy.resolution.unknown-operation")
@pytest.mark.parametrize(
    "operation", ["", "ADD", "add ", "gt", "ge", "reshape", "remainder", "bias_add"]
)
def test_reject_an_unknown_operation(operation: str) -> None:
    with pytest.raises(NotImplementedError):
        resolve_operation_plan(operation, F32, F32)


@pytest.mark.rule("policy.resolution.unknown-operation")
@pytest.mark.parametrize("operation", [None, 3, ["add"], ("add",), b"add", F32])
def test_a_name_that_is_no_string_is_not_registered(operation: Any) -> None:
    with pytest.raises(NotImplementedError):
        resolve_operation_plan(operation, F32, F32)


@pytest.mark.rule("policy.resolution.count")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("add", ()),
        ("add", (F32,)),
        ("add", (F32, F32, F32)),
        ("neg", ()),
        ("neg", (F32, F32)),
        ("mul", (F32,)),
        ("pow", (F32, F32, F32)),
        ("clamp", (F32,)),
        ("clamp", (F32, 1.0)),
        ("clamp", (F32, 1.0, 2.0, 3.0)),
        ("reduce_sum", (F32, F32)),
        ("select", (BOOL, F32)),
        ("scatter", (F32, I32)),
    ],
)
def test_a_wrong_operand_count_is_a_type_error(operation: str, operands: Any) -> None:
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.resolution.roles")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("add", (F32, 2)),
        ("add", (2, F32)),
        ("sub", (I32, 1.0)),
        ("div", (F32, True)),
        ("elementwise_mul", (F32, 2)),
        ("mul", (2, F32)),
        ("mul", (2, 3)),
        ("pow", (2, 3)),
        ("clamp", (1.0, F32, F32)),
        ("clamp", (1.0, 0.0, 2.0)),
        ("neg", (1.0,)),
        ("reduce_sum", (3,)),
        ("matmul", (F32, 2)),
        ("select", (True, F32, F32)),
        ("gather", (F32, 0)),
    ],
)
def test_an_unmatched_role_signature_is_a_type_error(operation: str, operands: Any) -> None:
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.resolution.non-dtype-tensor")
@pytest.mark.parametrize(
    "operand",
    ["Float32", None, b"", object(), [1.0], (F32,), {}, F32.name, DType, type(F32), OperandRole],
)
@pytest.mark.parametrize("position", [0, 1])
def test_a_tensor_operand_that_is_no_dtype_is_a_type_error(operand: object, position: int) -> None:
    operands: list[object] = [F32, F32]
    operands[position] = operand
    with pytest.raises(TypeError):
        resolve_operation_plan("add", *operands)


@pytest.mark.rule("policy.resolution.non-real-scalar")
@pytest.mark.parametrize("scalar", [1j, complex(2, 0), "2", None, b"2", [2], (2,)], ids=repr)
@pytest.mark.parametrize(
    ("operation", "before", "after"),
    [
        ("mul", (F32,), ()),
        ("mul", (I32,), ()),
        ("pow", (F32,), ()),
        ("pow", (), (F32,)),
        ("clamp", (F32,), (1.0,)),
        ("clamp", (F32, 1.0), ()),
        ("clamp", (F32, F32), ()),
        ("clamp", (F32,), (F32,)),
    ],
)
def test_a_scalar_that_is_not_real_is_a_type_error_that_says_so(
    operation: str, before: Any, after: Any, scalar: object
) -> None:
    with pytest.raises(TypeError, match="must be a real number"):
        resolve_operation_plan(operation, *before, scalar, *after)


@pytest.mark.rule("policy.resolution.options-and-accumulator")
@pytest.mark.parametrize("options", [MATMUL, operation_execution_options("matmul")])
def test_options_and_accumulator_together_are_a_type_error(options: Any) -> None:
    resolve_operation_plan("matmul", F32, F32, options=options)
    resolve_operation_plan("matmul", F32, F32, accumulator_dtype=F64)
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, accumulator_dtype=F64, options=options)
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, accumulator_dtype=F32, options=options)


@pytest.mark.rule("policy.resolution.options-operation")
@pytest.mark.parametrize(
    ("operation", "operands"), [("reduce_sum", (F32,)), ("add", (F32, F32)), ("neg", (F32,))]
)
def test_options_of_another_operation_are_a_value_error(operation: str, operands: Any) -> None:
    with pytest.raises(ValueError, match="matmul"):
        resolve_operation_plan(operation, *operands, options=MATMUL)


@pytest.mark.rule("policy.resolution.options-type")
@pytest.mark.parametrize("options", [F64, "matmul", {"accumulator_dtype": F64}, (), False, 0])
def test_options_of_another_type_are_a_type_error(options: Any) -> None:
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, options=options)


@pytest.mark.rule("policy.resolution.options-type")
def test_an_object_that_looks_like_options_is_a_type_error() -> None:
    class Lookalike:
        operation = "matmul"
        accumulator_dtype = F64

        def __eq__(self, other: object) -> bool:
            return other == MATMUL

        def __hash__(self) -> int:
            return hash(MATMUL)

    resolve_operation_plan("matmul", F32, F32, options=MATMUL)
    lookalike: Any = Lookalike()
    assert lookalike == MATMUL
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, options=lookalike)


STEPS = [
    pytest.param(
        ("matmul", (F32, F32), {"accumulator_dtype": F64, "options": SUM}), TypeError, id="1-3"
    ),
    pytest.param(
        ("nothing", (F32,), {"accumulator_dtype": F64, "options": MATMUL}), TypeError, id="1-4"
    ),
    pytest.param(("nothing", (F32,), {"options": "matmul"}), TypeError, id="2-4"),
    pytest.param(("nothing", (F32,), {"options": MATMUL}), ValueError, id="3-4"),
    pytest.param(("reduce_sum", (DType.Any,), {"options": MATMUL}), ValueError, id="3-4a"),
    pytest.param(("add", (F32, F32), {"options": MATMUL}), ValueError, id="3-5"),
    pytest.param(("nothing", (DType.Any,), {}), NotImplementedError, id="4-4a"),
    pytest.param(("nothing", (F32,), {"accumulator_dtype": F64}), NotImplementedError, id="4-5"),
    pytest.param(("nothing", (F32,), {"accumulator_dtype": "x"}), NotImplementedError, id="4-6"),
    pytest.param(("nothing", (), {}), NotImplementedError, id="4-7"),
    pytest.param(
        ("reduce_sum", (DType.Any,), {"accumulator_dtype": DType.E4M3}), TypeError, id="4a-6"
    ),
    pytest.param(("add", (DType.MXFP4, DType.Any), {}), TypeError, id="4a-9"),
    pytest.param(("add", (F32, F32), {"accumulator_dtype": DType.E4M3}), TypeError, id="5-6"),
    pytest.param(("exp", (DType.E4M3,), {"accumulator_dtype": F64}), TypeError, id="5-9"),
    pytest.param(
        ("reduce_sum", (), {"accumulator_dtype": DType.E4M3}), NotImplementedError, id="6-7"
    ),
    pytest.param(("matmul", (F32, 2), {"accumulator_dtype": I32}), NotImplementedError, id="6-8"),
    pytest.param(("matmul", (DType.MXFP4, F32), {"accumulator_dtype": "F64"}), TypeError, id="6-9"),
    pytest.param(
        ("matmul", (BOOL, F32), {"accumulator_dtype": BOOL}), NotImplementedError, id="6-9-bool"
    ),
    pytest.param(
        ("reduce_sum", (I32,), {"accumulator_dtype": DType.E4M3}), NotImplementedError, id="6-10"
    ),
    pytest.param(("add", (DType.MXFP4,), {}), TypeError, id="7-9"),
    pytest.param(("exp", (DType.E4M3, DType.E4M3), {}), TypeError, id="7-9-simple"),
    pytest.param(("add", (DType.MXFP4, 2), {}), TypeError, id="8-9"),
    pytest.param(("mul", (2**40, DType.E4M3), {}), TypeError, id="8-9-reverse"),
    pytest.param(
        ("matmul", (I32, DType.E4M3), {"accumulator_dtype": F64}), NotImplementedError, id="9-10"
    ),
]


@pytest.mark.rule("policy.resolution.error-order")
@pytest.mark.parametrize(("call", "error"), STEPS)
def test_the_earlier_step_wins_where_two_are_wrong(
    call: tuple[str, tuple[object, ...], dict[str, Any]], error: type[Exception]
) -> None:
    operation, operands, keywords = call
    with pytest.raises(error) as caught:
        resolve_operation_plan(operation, *operands, **keywords)
    others = {TypeError, ValueError, NotImplementedError, OverflowError} - {error}
    assert not isinstance(caught.value, tuple(others))


@pytest.mark.rule("policy.resolution.error-order")
@pytest.mark.parametrize(
    ("earlier", "both"),
    [
        pytest.param(
            (("matmul", F32, F32), {"accumulator_dtype": F64, "options": MATMUL}),
            (("matmul", F32, F32), {"accumulator_dtype": F64, "options": "matmul"}),
            id="1-2",
        ),
        pytest.param(
            (("add", F32, F32), {"accumulator_dtype": F64}),
            (("add", F32), {"accumulator_dtype": F64}),
            id="5-7",
        ),
        pytest.param(
            (("add", F32, F32), {"accumulator_dtype": F64}),
            (("add", F32, 2), {"accumulator_dtype": F64}),
            id="5-8",
        ),
        pytest.param(
            (("matmul", F32, F32), {"accumulator_dtype": "x"}),
            (("matmul", F32), {"accumulator_dtype": "x"}),
            id="6-7",
        ),
        pytest.param((("mul", F32), {}), (("mul", 2), {}), id="7-8"),
    ],
)
def test_the_earlier_step_wins_where_both_have_one_class(earlier: Any, both: Any) -> None:
    assert _outcome(*earlier[0], **earlier[1]) == _outcome(*both[0], **both[1])


@pytest.mark.rule("policy.resolution.error-order")
def test_a_rejected_operand_wins_over_a_broken_rule() -> None:
    policy = _policy(None)
    with pytest.raises(NotImplementedError):
        policy.resolve("op", DType.E4M3, F32)
    with pytest.raises(TypeError):
        policy.resolve("op", F32, BOOL)


@pytest.mark.rule("policy.resolution.error-order")
def test_an_accumulator_of_an_exact_plan_wins_over_a_broken_rule() -> None:
    plan = _plan("other", accumulation=Accumulation.EXACT_INTEGER)
    overload = OperationOverload((T, T), lambda *_operands: plan)
    policy = Policy(
        (), (OperationSpec("op", (overload,)),), accumulators=(("op", F32, (F32, F64)),)
    )
    with pytest.raises(ValueError, match="op"):
        policy.resolve("op", F32, I32)
    with pytest.raises(TypeError):
        policy.resolve("op", F32, I32, accumulator_dtype=F64)


@pytest.mark.rule("policy.resolution.left-to-right")
@pytest.mark.parametrize(
    ("operation", "operands", "error"),
    [
        ("add", ("x", DType.MXFP4), TypeError),
        ("add", (DType.MXFP4, "x"), NotImplementedError),
        ("add", (BOOL, DType.E4M3), TypeError),
        ("add", (DType.E4M3, BOOL), NotImplementedError),
        ("gather", (I32, DType.E4M3), TypeError),
        ("gather", (DType.E4M3, F32), NotImplementedError),
        ("select", (F32, DType.MXFP4, F32), TypeError),
        ("select", (BOOL, DType.MXFP4, I32), NotImplementedError),
        ("mul", (DType.E4M3, "x"), NotImplementedError),
        ("mul", (DType.E4M3, 2**40), NotImplementedError),
        ("mul", (BOOL, 2**40), TypeError),
        ("pow", ("x", DType.E4M3), TypeError),
        ("clamp", (I32, DType.E4M3, 1.0), TypeError),
        ("clamp", (F32, "x", DType.E4M3), TypeError),
        ("clamp", (F32, DType.E4M3, "x"), NotImplementedError),
    ],
)
def test_operands_are_refused_from_left_to_right(
    operation: str, operands: Any, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        resolve_operation_plan(operation, *operands)
    assert isinstance(caught.value, NotImplementedError) == (error is NotImplementedError)


@pytest.mark.rule("policy.resolution.broken-rule")
@pytest.mark.parametrize(
    "returned",
    [
        None,
        "plan",
        (F32, F32),
        _plan("other"),
        _plan("OP"),
        _plan(operands=(OperandPlan(T, F32, F32),)),
        _plan(operands=()),
        _plan(operands=(OperandPlan(T, F32, F32), OperandPlan(T, I32, F32)) * 2),
        _plan(operands=(OperandPlan(T, F32, F32), OperandPlan(S, None, F32))),
        _plan(operands=(OperandPlan(S, None, F32), OperandPlan(T, I32, F32))),
        _plan(operands=(OperandPlan(T, F32, F32), OperandPlan(T, F32, F32))),
        _plan(operands=(OperandPlan(T, I32, F32), OperandPlan(T, I32, F32))),
        _plan(operands=(OperandPlan(T, I32, F32), OperandPlan(T, F32, F32))),
    ],
    ids=[
        "none",
        "string",
        "tuple",
        "other-name",
        "other-case",
        "fewer",
        "no-operands",
        "more",
        "last-role",
        "first-role",
        "last-source",
        "first-source",
        "swapped-sources",
    ],
)
def test_a_rule_that_returns_another_plan_is_a_value_error(returned: object) -> None:
    policy = _policy(returned)
    for _ in range(2):
        with pytest.raises(ValueError, match="op"):
            policy.resolve("op", F32, I32)


@pytest.mark.rule("policy.resolution.own-rule")
def test_a_rule_that_returns_the_matching_plan_is_used() -> None:
    plan = _plan()
    assert _policy(plan).resolve("op", F32, I32) is plan
    with pytest.raises(ValueError, match="op"):
        _policy(plan).resolve("op", I32, F32)


@pytest.mark.rule("policy.resolution.own-rule")
def test_a_rule_is_called_with_the_operands_in_order() -> None:
    seen: list[tuple[object, ...]] = []

    def rule(*operands: object) -> OperationPlan:
        seen.append(operands)
        return _plan(operands=(OperandPlan(S, None, F32), OperandPlan(T, I32, F32)))

    policy = Policy((), (OperationSpec("op", (OperationOverload((S, T), rule),)),))
    policy.resolve("op", 2.5, I32)
    assert seen[0] == (2.5, I32)


@pytest.mark.rule("policy.resolution.reads-no-element")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("add", (Untouchable(), F32)),
        ("add", (F32, Untouchable())),
        ("mul", (F32, Untouchable())),
        ("pow", (Untouchable(), F32)),
        ("clamp", (F32, Untouchable(), Untouchable())),
        ("select", (Untouchable(), F32, F32)),
        ("reduce_sum", (Untouchable(),)),
        ("add", (Untouchable(),)),
        ("nothing", (Untouchable(),)),
    ],
    ids=["add-0", "add-1", "mul", "pow", "clamp", "select", "reduce_sum", "count", "unknown"],
)
def test_resolution_reads_no_element_of_what_it_refuses(operation: str, operands: Any) -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.resolution.reads-no-element")
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("add", (UntouchableRepr(), F32)),
        ("mul", (F32, UntouchableRepr())),
        ("add", (2, UntouchableRepr())),
        ("reduce_sum", (UntouchableRepr(),)),
    ],
    ids=["tensor", "scalar", "roles", "one"],
)
def test_the_text_of_a_refusal_reads_no_element_either(operation: str, operands: Any) -> None:
    with pytest.raises(TypeError):
        resolve_operation_plan(operation, *operands)


@pytest.mark.rule("policy.resolution.reads-no-element")
def test_an_accumulator_that_is_no_dtype_is_not_read() -> None:
    untouchable: Any = Untouchable()
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, accumulator_dtype=untouchable)
    with pytest.raises(TypeError):
        resolve_operation_plan("matmul", F32, F32, options=untouchable)


@pytest.mark.rule("policy.resolution.pure")
def test_a_repeated_resolution_gives_an_equal_plan_and_a_repeated_refusal_the_same_error() -> None:
    assert resolve_operation_plan("add", F32, I32) == resolve_operation_plan("add", F32, I32)
    assert _outcome("abs", I32) == _outcome("abs", I32)
    assert _outcome("mul", I32, 2**31) == _outcome("mul", I32, 2**31)


@pytest.mark.rule("policy.resolution.module-functions")
def test_the_module_function_is_the_one_of_simple() -> None:
    assert SIMPLE.resolve("add", I32, F32) == resolve_operation_plan("add", I32, F32)
    assert isinstance(OperationExecutionOptions("matmul"), OperationExecutionOptions)


@pytest.mark.rule("policy.resolution.category-anywhere")
@pytest.mark.parametrize(
    ("operation", "operands", "keywords"),
    [
        ("add", (DType.Any,), {}),
        ("add", (DType.Any, F32, F32), {}),
        ("add", (2, DType.Any), {}),
        ("add", (DType.MXFP4, DType.Any), {}),
        ("add", (DType.E4M3, DType.Any), {}),
        ("add", (BOOL, DType.Any), {}),
        ("add", ("x", DType.Any), {}),
        ("mul", (DType.Any, 1j), {}),
        ("mul", (I32, DType.Any), {}),
        ("mul", (2, DType.Any), {}),
        ("clamp", (I32, 1.0, DType.Any), {}),
        ("add", (F32, DType.Any), {"accumulator_dtype": F64}),
        ("matmul", (F32, DType.Any), {"accumulator_dtype": "x"}),
        ("matmul", (F32, DType.Any), {"accumulator_dtype": DType.E4M3}),
        ("reduce_sum", (DType.Any,), {"options": SUM}),
    ],
)
def test_a_category_is_named_whatever_else_is_wrong_later(
    operation: str, operands: Any, keywords: dict[str, Any], extension_category: DTypeCategory
) -> None:
    for category in (DType.Any, extension_category):
        given = [category if operand is DType.Any else operand for operand in operands]
        with pytest.raises(TypeError, match=f"{category.name}.*abstract category"):
            resolve_operation_plan(operation, *given, **keywords)
