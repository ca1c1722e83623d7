"""REAL_COMPLEX against typed rows: every pair, order, kind of scalar and operation."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from real_complex_support import LINES, SCALARS, SHORT, Line, dtype_of, spelled, variants

from bittrue.dtypes import EXTENDED_ENABLED
from bittrue.errors import PromotionError
from bittrue.policy import (
    DEFAULT,
    REAL_COMPLEX,
    SIMPLE,
    SIMPLE_SCALARS,
    OperationPlan,
    Policy,
    resolvable_plans,
    resolve_operation_plan,
    specs_of,
)

BASIC = [line for line in LINES if not line.extended]
PLANNED = [line for line in BASIC if line.converted]
REFUSED = [line for line in BASIC if not line.converted]
OPERATIONS = list(dict.fromkeys(line.operation for line in LINES))
DTYPES = ("F32", "F64", "C64", "C128", "I32", "Bool")
POLICIES = [REAL_COMPLEX, DEFAULT]

basic = pytest.mark.skipif(EXTENDED_ENABLED, reason="counts the rows without the extended pair")


def _id(value: object) -> str:
    return f"{value.operation}({' '.join(value.operands)})" if isinstance(value, Line) else ""


def _operands(line: Line) -> itertools.product[tuple[object, ...]]:
    return itertools.product(*(SCALARS.get(short) or (dtype_of(short),) for short in line.operands))


@pytest.mark.rule("policy.real-complex.rows")
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("line", PLANNED, ids=_id)
def test_every_typed_row_has_its_plan(line: Line, policy: Policy) -> None:
    for operands in _operands(line):
        plan = policy.resolve(line.operation, *operands)
        assert spelled(plan) == variants(line)[0]
        assert [spelled(p) for p in policy.accumulator_variants(plan)] == variants(line)


@pytest.mark.rule("policy.real-complex.refusals")
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("line", REFUSED, ids=_id)
def test_every_typed_refusal_is_a_promotion_error(line: Line, policy: Policy) -> None:
    for operands in _operands(line):
        with pytest.raises(PromotionError):
            policy.resolve(line.operation, *operands)


@pytest.mark.rule("policy.real-complex.nothing-else")
@basic
def test_the_enumeration_is_exactly_the_typed_rows() -> None:
    expected = [text for line in PLANNED for text in variants(line)]
    found = [spelled(plan) for plan in REAL_COMPLEX.plans()]
    assert sorted(found) == sorted(set(expected))
    assert len(found) == 340


@pytest.mark.rule("policy.real-complex.nothing-else")
@basic
def test_each_operation_has_the_stated_number_of_plans() -> None:
    counts = Counter(plan.operation for plan in REAL_COMPLEX.plans())
    assert counts == {
        **dict.fromkeys(("add", "sub", "mul", "div", "eq", "ne"), 32),
        **dict.fromkeys(("dot", "vdot", "matmul"), 20),
        "elementwise_mul": 16,
        **dict.fromkeys(("remainder", "floor_divide", "lt", "le"), 8),
        **dict.fromkeys(("mean", "norm"), 6),
        **dict.fromkeys(("reduce_sum", "conj"), 4),
        **dict.fromkeys(("neg", "abs", "reduce_prod", "cumsum"), 3),
        **dict.fromkeys(("real", "imag"), 2),
        **dict.fromkeys(("reduce_max", "reduce_min", "argmax", "argmin"), 1),
    }


@pytest.mark.rule("policy.real-complex.nothing-else")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_combination_without_a_row_is_refused(operation: str) -> None:
    """In REAL_COMPLEX: Int32 and Bool take no part, and no other pair is there."""
    lines = [line for line in BASIC if line.operation == operation]
    (arity,) = {len(line.operands) for line in lines}
    named = {short for line in lines for short in line.operands}
    signatures = {tuple(short in SCALARS for short in line.operands) for line in lines}
    listed = {line.operands for line in lines if line.converted}
    for operands in itertools.product((*DTYPES, *SCALARS), repeat=arity):
        if operands in listed:
            continue
        error: type[Exception] = TypeError
        if tuple(short in SCALARS for short in operands) in signatures:
            unknown = [short for short in operands if short not in {*named, "F32", "I32", "Bool"}]
            error = NotImplementedError if unknown else PromotionError
        values = [SCALARS[short][0] if short in SCALARS else dtype_of(short) for short in operands]
        with pytest.raises(error):
            REAL_COMPLEX.resolve(operation, *values)


# --- the union ----------------------------------------------------------------------------------

# Result of add, sub and mul of two tensors in DEFAULT; rows the first operand, columns the second.
UNION = """
        F32   F64   C64   C128  I32   Bool
  F32   F32   F64   C64   C128  F32   -
  F64   F64   F64   C128  C128  -     -
  C64   C64   C128  C64   C128  -     -
  C128  C128  C128  C128  C128  -     -
  I32   F32   -     -     -     I32   -
  Bool  -     -     -     -     -     -
"""
_HEAD, *_ROWS = [text.split() for text in UNION.strip().splitlines()]
RESULTS = {
    (row, column): result
    for row, *results in _ROWS
    for column, result in zip(_HEAD, results, strict=True)
}
assert len(RESULTS) == 36


@pytest.mark.rule("policy.default.results")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "elementwise_mul", "div", "matmul"])
@pytest.mark.parametrize("pair", RESULTS, ids=" ".join)
def test_result_of_every_ordered_pair_of_exposed_dtypes(
    operation: str, pair: tuple[str, str]
) -> None:
    result = RESULTS[pair]
    operands = [dtype_of(short) for short in pair]
    if result == "-":
        with pytest.raises(PromotionError):
            DEFAULT.resolve(operation, *operands)
    else:
        if (operation, pair) == ("div", ("I32", "I32")):
            result = "F32"
        assert DEFAULT.resolve(operation, *operands).output is dtype_of(result)


# Result of a tensor and a weak scalar in DEFAULT, either one first.
#                int    wide   float  bool   complex
SCALAR_RESULTS = {
    "F32":      ("F32", "F32", "F32", "F32", "C64"),
    "F64":      ("F64", "F64", "F64", "F64", "C128"),
    "C64":      ("C64", "C64", "C64", "C64", "C64"),
    "C128":     ("C128", "C128", "C128", "C128", "C128"),
    "I32":      ("I32", OverflowError, "F32", "F32", PromotionError),
    "Bool":     (PromotionError,) * 5,
}  # fmt: skip
VALUES = ((7, -7, 0), (2**31, -(2**31) - 1, 2**64), (0.5, 7.0), (True, False), (1j, 0j))


@pytest.mark.rule("policy.default.scalars")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("tensor", SCALAR_RESULTS)
def test_result_of_every_exposed_dtype_with_every_kind_of_scalar(
    operation: str, tensor: str
) -> None:
    for result, values in zip(SCALAR_RESULTS[tensor], VALUES, strict=True):
        # Division of an Int32 is Float32, which any integer may enter.
        floating = operation == "div" and tensor == "I32" and result in ("I32", OverflowError)
        expected = "F32" if floating else result
        for value, reflected in itertools.product(values, (False, True)):
            operands = (value, dtype_of(tensor)) if reflected else (dtype_of(tensor), value)
            if isinstance(expected, str):
                assert DEFAULT.resolve(operation, *operands).output is dtype_of(expected)
            else:
                with pytest.raises(expected):
                    DEFAULT.resolve(operation, *operands)


# Whether ``x op= y`` keeps the dtype of x: its result is of that dtype. Rows x, columns y.
IN_PLACE = """
        F32  F64  C64  C128 I32  Bool  int  float bool complex
  F32   yes  no   no   no   yes  -     yes  yes   yes  no
  F64   yes  yes  no   no   -    -     yes  yes   yes  no
  C64   yes  no   yes  no   -    -     yes  yes   yes  yes
  C128  yes  yes  yes  yes  -    -     yes  yes   yes  yes
  I32   no   -    -    -    yes  -     yes  no    no   -
"""
_IN_HEAD, *_IN_ROWS = [text.split() for text in IN_PLACE.strip().splitlines()]
IN_PLACE_VALUES = {"int": 1, "float": 1.0, "bool": True, "complex": 1j}


@pytest.mark.rule("policy.default.in-place")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("row", _IN_ROWS, ids=lambda row: row[0])
def test_which_in_place_operations_keep_the_dtype(operation: str, row: list[str]) -> None:
    target = dtype_of(row[0])
    for name, keeps in zip(_IN_HEAD, row[1:], strict=True):
        operand = IN_PLACE_VALUES.get(name) or dtype_of(name)
        if keeps == "-":
            with pytest.raises(PromotionError):
                DEFAULT.resolve(operation, target, operand)
            continue
        # No quotient of Int32 is Int32: /= keeps no Int32.
        expected = keeps == "yes" and not (operation == "div" and row[0] == "I32")
        assert (DEFAULT.resolve(operation, target, operand).output is target) is expected


@pytest.mark.rule("policy.default.union")
def test_the_default_policy_holds_the_rows_of_the_others_and_nothing_else() -> None:
    plans = set(DEFAULT.plans())
    assert set(REAL_COMPLEX.plans()) <= plans
    assert set(SIMPLE.plans()) <= plans
    # Int32 with a weak scalar, which neither of them has: three sums and products each way.
    others = {spelled(plan) for plan in plans - set(REAL_COMPLEX.plans()) - set(SIMPLE.plans())}
    assert others == {
        "add(I32>I32, S>I32) INT32_EXACT_CHECKED - - I32",
        "add(S>I32, I32>I32) INT32_EXACT_CHECKED - - I32",
        "add(I32>F32, S>F32) BINARY32 - - F32",
        "add(S>F32, I32>F32) BINARY32 - - F32",
        "sub(I32>I32, S>I32) INT32_EXACT_CHECKED - - I32",
        "sub(S>I32, I32>I32) INT32_EXACT_CHECKED - - I32",
        "sub(I32>F32, S>F32) BINARY32 - - F32",
        "sub(S>F32, I32>F32) BINARY32 - - F32",
        "mul(S>I32, I32>I32) INT32_EXACT_CHECKED - - I32",
        "mul(S>F32, I32>F32) BINARY32 - - F32",
        "div(I32>F32, S>F32) BINARY32 - - F32",
        "div(S>F32, I32>F32) BINARY32 - - F32",
    }


@pytest.mark.rule("policy.default.union")
def test_the_policies_join_in_any_order_and_grouping() -> None:
    parts = (SIMPLE, REAL_COMPLEX, SIMPLE_SCALARS)
    for p, q, r in itertools.permutations(parts):
        for joined in ((p | q) | r, p | (q | r)):
            assert joined == DEFAULT
            assert hash(joined) == hash(DEFAULT)
            assert joined.plans() == DEFAULT.plans()
            assert joined.tensor_dtypes == DEFAULT.tensor_dtypes
    for policy in (*parts, DEFAULT):
        assert policy | policy == policy
        assert policy | DEFAULT == DEFAULT == DEFAULT | policy


@pytest.mark.rule("policy.default.union")
@pytest.mark.parametrize("swapped", [False, True])
def test_a_row_that_contradicts_one_of_real_complex_is_refused_by_its_key(swapped: bool) -> None:  # noqa: FBT001
    (row,) = (
        row
        for row in REAL_COMPLEX.rows
        if row.operation == "add" and row.tensor_dtypes == (dtype_of("F32"), dtype_of("F64"))
    )
    assert isinstance(row.plan, OperationPlan)
    narrow = replace(row, plan=replace(row.plan, output=dtype_of("F32")))
    other = Policy((narrow,), specs_of((narrow,)))
    with pytest.raises(ValueError, match=r"add.*Float32.*Float64"):
        _ = other | REAL_COMPLEX if swapped else REAL_COMPLEX | other
    assert REAL_COMPLEX.resolve("add", *row.tensor_dtypes).output is dtype_of("F64")


@pytest.mark.rule("policy.default.union")
def test_the_union_leaves_the_functions_of_simple_as_they_were() -> None:
    assert len(resolvable_plans()) == 102
    assert SIMPLE.tensor_dtypes == (dtype_of("F32"), dtype_of("I32"))
    for operands in (("F64", "F64"), ("C64", "F32")):
        with pytest.raises(NotImplementedError):
            resolve_operation_plan("add", *map(dtype_of, operands))
    with pytest.raises(TypeError):
        resolve_operation_plan("mul", dtype_of("F32"), 1j)
    with pytest.raises(TypeError):
        resolve_operation_plan("add", dtype_of("F32"), 1.0)


# --- working dtype ------------------------------------------------------------------------------


@pytest.mark.rule("policy.real-complex.working-dtype")
def test_a_working_dtype_of_norm_computes_the_terms_too_and_keeps_the_output() -> None:
    f64 = dtype_of("F64")
    for source, converted, compute in (
        ("F32", "F64", "BINARY64"),
        ("C64", "C128", "COMPLEX_BINARY64"),
    ):
        plan = DEFAULT.resolve("norm", dtype_of(source), working_dtype=f64)
        assert spelled(plan) == f"norm({source}>{converted}) {compute} FLOATING F64 F32"
        wider = DEFAULT.resolve("norm", dtype_of(source), accumulator_dtype=f64)
        assert wider.operands[0].convert_to is dtype_of(source)
    with pytest.raises(NotImplementedError):
        DEFAULT.resolve("norm", dtype_of("F64"), working_dtype=dtype_of("F32"))
    with pytest.raises(TypeError):
        DEFAULT.resolve("reduce_sum", dtype_of("F32"), working_dtype=f64)


@pytest.mark.rule("policy.real-complex.accumulators")
@pytest.mark.parametrize("operation", ["reduce_sum", "mean", "norm", "dot", "vdot", "matmul"])
def test_no_accumulator_narrows(operation: str) -> None:
    arity = 2 if operation in ("dot", "vdot", "matmul") else 1
    for source, narrower in (("F64", "F32"), ("C128", "C64"), ("C128", "F32")):
        with pytest.raises(NotImplementedError):
            DEFAULT.resolve(
                operation, *[dtype_of(source)] * arity, accumulator_dtype=dtype_of(narrower)
            )


@pytest.mark.rule("policy.real-complex.accumulators")
@pytest.mark.parametrize("operation", ["add", "abs", "reduce_prod", "cumsum", "reduce_max"])
def test_an_operation_without_a_choice_takes_no_accumulator(operation: str) -> None:
    arity = 2 if operation == "add" else 1
    with pytest.raises(TypeError):
        DEFAULT.resolve(operation, *[dtype_of("F64")] * arity, accumulator_dtype=dtype_of("F64"))


# --- the extended pair --------------------------------------------------------------------------

ENABLED = """
import json, sys
from bittrue.errors import PromotionError
from bittrue.policy import DEFAULT, REAL_COMPLEX
from real_complex_support import LINES, SCALARS, dtype_of, spelled
found = {}
for line in LINES:
    operands = [SCALARS[s][0] if s in SCALARS else dtype_of(s) for s in line.operands]
    key = f"{line.operation} {' '.join(line.operands)}"
    try:
        plan = DEFAULT.resolve(line.operation, *operands)
    except PromotionError:
        found[key] = []
    else:
        found[key] = [spelled(p) for p in DEFAULT.accumulator_variants(plan)]
json.dump({"plans": [spelled(p) for p in REAL_COMPLEX.plans()], "lines": found}, sys.stdout)
"""


@pytest.mark.rule("policy.real-complex.extended")
def test_the_extended_pair_joins_the_lattice_where_it_is_enabled() -> None:
    run = subprocess.run(  # noqa: S603 - this interpreter, a script of this file
        [sys.executable, "-c", ENABLED],
        env={**os.environ, "BITTRUE_EXTENDED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    expected = {
        f"{line.operation} {' '.join(line.operands)}": variants(line) if line.converted else []
        for line in LINES
    }
    assert found["lines"] == expected
    assert sorted(found["plans"]) == sorted(set(itertools.chain.from_iterable(expected.values())))


@pytest.mark.rule("policy.real-complex.extended")
@basic
def test_without_the_extended_pair_no_plan_names_it() -> None:
    names = {SHORT["RX"], SHORT["CX"]}
    for plan in DEFAULT.plans():
        dtypes = {plan.output.name, *(operand.convert_to.name for operand in plan.operands)}
        assert names.isdisjoint(dtypes)
