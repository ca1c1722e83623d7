"""`bittrue plan` and `bittrue plans`, and the command line as a whole."""

import json

import pytest

import bittrue as library
from bittrue import DType
from bittrue.policy import SIMPLE
from bittrue.report import plans


@pytest.mark.rule("cli.plan")
def test_plan_shows_every_decision(bittrue):
    said = bittrue("plan", "add", "Float32", "Int32")
    plan = library.resolve_operation_plan("add", DType.Float32, DType.Int32)
    assert (said.status, said.err) == (0, "")
    assert said.out == plans.plan_text(plan) + "\n"
    assert "operand 1    Int32->Float32 (tensor)" in said.out


@pytest.mark.rule("cli.plan")
@pytest.mark.parametrize(
    ("scalar", "converted"), [("3", "Int32"), ("-2", "Int32"), ("0.5", None), ("True", None)]
)
def test_number_is_a_weak_scalar_of_its_kind(bittrue, scalar, converted):
    said = bittrue("plan", "mul", "Int32", "--", scalar)
    if converted is None:
        plan = library.resolve_operation_plan("mul", DType.Int32, json.loads(scalar.lower()))
        converted = plan.output.name
    assert said.status == 0
    assert f"scalar->{converted} (weak_scalar)" in said.out


@pytest.mark.rule("cli.plan.json")
def test_plan_as_json_names_dtypes_and_members(bittrue):
    said = bittrue("plan", "reduce_sum", "Float32", "--accumulator", "Float64", "--json")
    assert json.loads(said.out) == {
        "operation": "reduce_sum",
        "operands": [{"role": "tensor", "dtype": "Float32", "convert_to": "Float32"}],
        "compute": "binary32",
        "accumulation": "floating",
        "accumulator_dtype": "Float64",
        "output": "Float32",
    }


@pytest.mark.rule("cli.plan.refusals")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense", "Float32"], "nonsense"),
        (["exp", "Nonsense"], "Nonsense"),
        (["exp", "float32"], "float32"),
        (["exp"], "exp"),
        (["exp", "Float32", "Float32"], "exp"),
        (["exp", "Bool"], "Bool"),
        (["exp", "Float64"], "Float64"),
        (["add", "Floating", "Float32"], "abstract category"),
        (["mul", "Int32", "4294967296"], "4294967296"),
        (["mul", "Int32", "9" * 5000], "5000 characters"),
        (["reduce_sum", "Float32", "--accumulator", "Nonsense"], "Nonsense"),
        (["reduce_sum", "Float32", "--accumulator", "Bool"], "Bool"),
        (["exp", "Float32", "--accumulator", "Float64"], "accumulator"),
        (["exp", "Float32", "--policy", "nonsense"], "invalid choice: 'nonsense'"),
        (["exp", "Float32", "--nonsense"], "--nonsense"),
        ([], "OP"),
    ],
    ids=str,
)
def test_bad_plan_is_refused_in_one_line(refused, arguments, says):
    refused("plan", *arguments, says=says)


@pytest.mark.rule("cli.plans")
@pytest.mark.parametrize("policy", ["default", "simple"])
def test_plans_lists_every_plan(bittrue, policy):
    said = bittrue("plans", "--policy", policy)
    assert (said.status, said.out) == (0, plans.plans_text(SIMPLE) + "\n")
    said = bittrue("plans", "--markdown", "--policy", policy)
    assert (said.status, said.out) == (0, plans.plans_markdown(SIMPLE) + "\n")


@pytest.mark.rule("cli.plans.json")
def test_plans_as_json_are_those_that_plan_shows(bittrue):
    said = bittrue("plans", "--json")
    listed = json.loads(said.out)
    assert (said.status, len(listed)) == (0, 102)
    assert [p["operation"] for p in listed] == [p.operation for p in SIMPLE.plans()]
    assert json.loads(bittrue("plan", "exp", "Int32", "--json").out) in listed


@pytest.mark.rule("cli.plans.refusals")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--json", "--markdown"], "not allowed with"),
        (["extra"], "extra"),
        (["--policy", "nonsense"], "nonsense"),
    ],
)
def test_bad_option_of_plans_is_refused_in_one_line(refused, arguments, says):
    refused("plans", *arguments, says=says)


@pytest.mark.rule("cli.usage")
@pytest.mark.parametrize(("arguments", "says"), [([], "COMMAND"), (["nonsense"], "nonsense")])
def test_no_command_or_an_unknown_one_is_refused_in_one_line(refused, arguments, says):
    refused(*arguments, says=says)


@pytest.mark.rule("cli.usage")
def test_version_and_help_are_no_errors(bittrue):
    assert bittrue("--version").out == f"bittrue {library.__version__}\n"
    for command in ((), ("plan",), ("plans",), ("run",), ("verify",)):
        said = bittrue(*command, "--help")
        assert (said.status, said.err) == (0, "")
        assert said.out.startswith("usage: bittrue")
