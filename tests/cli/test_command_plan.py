"""`bittrue plan` and `bittrue plans`, and the command line as a whole."""

import json
import os
import subprocess
import sys

import pytest

import bittrue as library
from bittrue import DType
from bittrue.policy import DEFAULT, REAL_COMPLEX, SIMPLE, SIMPLE_SCALARS
from bittrue.report import plans

POLICIES = [(SIMPLE, 102), (REAL_COMPLEX, 340), (SIMPLE_SCALARS, 12), (DEFAULT, 442)]


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


# arguments, operands as shown, compute, accumulator, output
WIDE = [
    ("add Float32 Float64", "Float32->Float64; Float64", "BINARY64", "-", "Float64"),
    ("mul Float64 Complex64", "Float64; Complex64->Complex128", "COMPLEX_BINARY64", "-",
     "Complex128"),
    ("div Complex64 Float32", "Complex64; Float32", "COMPLEX_BINARY32", "-", "Complex64"),
    ("mul Float32 1j", "Float32; scalar->Complex64", "COMPLEX_BINARY32", "-", "Complex64"),
    ("sub 2.5 Complex128", "scalar->Float64; Complex128", "COMPLEX_BINARY64", "-", "Complex128"),
    ("eq Float32 Complex128", "Float32->Float64; Complex128", "COMPLEX_BINARY64", "-", "Bool"),
    ("abs Complex64", "Complex64", "COMPLEX_BINARY32", "-", "Float32"),
    ("norm Complex64", "Complex64", "COMPLEX_BINARY32", "Float32", "Float32"),
    ("norm Complex64 --accumulator Float64", "Complex64", "COMPLEX_BINARY32", "Float64", "Float32"),
    ("norm Complex64 --working Float64", "Complex64->Complex128", "COMPLEX_BINARY64", "Float64",
     "Float32"),
    ("dot Float32 Complex64 --accumulator Complex128", "Float32; Complex64", "COMPLEX_BINARY32",
     "Complex128", "Complex64"),
    ("add 1 Int32", "scalar->Int32; Int32", "INT32_EXACT_CHECKED", "-", "Int32"),
]  # fmt: skip


@pytest.mark.rule("cli.plan")
@pytest.mark.parametrize(("line", "operands", "compute", "accumulator", "output"), WIDE)
def test_plan_shows_rows_of_real_and_complex_promotion(
    bittrue, line, operands, compute, accumulator, output
):
    said = bittrue("plan", *line.split())
    assert (said.status, said.err) == (0, "")
    shown = said.out.splitlines()
    for position, operand in enumerate(operands.split("; ")):
        role = "weak_scalar" if operand.startswith("scalar") else "tensor"
        assert shown[1 + position] == f"operand {position}    {operand} ({role})"
    assert f"compute      {compute}" in shown
    assert f"accumulator  {accumulator}" in shown
    assert shown[-1] == f"output       {output}"


@pytest.mark.rule("cli.plan.policy")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("add Float64 Float64 --policy simple", "Float64 is registered"),
        ("add Float32 1.5 --policy simple", "add"),
        ("div Int32 Int32 --policy real_complex", "Int32"),
        ("add Int32 Float64", "no row for (Int32, Float64)"),
        ("lt Complex64 Complex64", "complex numbers have no order"),
        ("floor_divide Float32 1j", "floored quotient"),
        ("norm Float64 --working Float32", "Float32"),
        ("norm Float32 --working Int32", "Int32"),
        ("dot Float64 Float64 --accumulator Float32", "Float32"),
        ("add Float32 RealExtended", "RealExtended"),
    ],
)
def test_a_combination_without_a_row_is_refused_in_one_line(refused, arguments, says):
    refused("plan", *arguments.split(), says=says)


@pytest.mark.rule("cli.plan.extended")
def test_the_extended_pair_shows_where_it_is_enabled():
    def shown(*arguments):
        return subprocess.run(  # noqa: S603 - this interpreter, arguments of this file
            [sys.executable, "-c", "from bittrue.cli.main import main; main()", *arguments],
            env={**os.environ, "BITTRUE_EXTENDED": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    said = shown("plan", "mul", "Complex64", "RealExtended")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.splitlines()[1:4] == [
        "operand 0    Complex64->ComplexExtended (tensor)",
        "operand 1    RealExtended (tensor)",
        "compute      COMPLEX_EXTENDED",
    ]
    listed = json.loads(shown("plans", "--json").stdout)
    assert {"RealExtended", "ComplexExtended"} <= {plan["output"] for plan in listed}


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
@pytest.mark.parametrize(("policy", "count"), POLICIES)
def test_plans_lists_every_plan(bittrue, policy, count):
    name = policy.name
    said = bittrue("plans", "--policy", name)
    assert (said.status, said.out) == (0, plans.plans_text(policy) + "\n")
    assert len(said.out.splitlines()) == count + 1
    said = bittrue("plans", "--markdown", "--policy", name)
    assert (said.status, said.out) == (0, plans.plans_markdown(policy) + "\n")


@pytest.mark.rule("cli.plans.json")
def test_plans_as_json_are_those_that_plan_shows(bittrue):
    said = bittrue("plans", "--json")
    listed = json.loads(said.out)
    assert (said.status, len(listed)) == (0, 442)
    assert [p["operation"] for p in listed] == [p.operation for p in DEFAULT.plans()]
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
