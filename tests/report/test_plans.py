"""Plans as text and Markdown, and the description of one."""

import pytest

from bittrue import DType
from bittrue.policy import SIMPLE
from bittrue.report import plans

F32, I32 = DType.Float32, DType.Int32


@pytest.mark.rule("report.plans.one")
@pytest.mark.parametrize(
    ("operation", "operands", "accumulator", "shown"),
    [
        (
            "add",
            (F32, I32),
            None,
            (
                "operation    add\n"
                "operand 0    Float32 (tensor)\n"
                "operand 1    Int32->Float32 (tensor)\n"
                "compute      BINARY32\n"
                "accumulation -\n"
                "accumulator  -\n"
                "output       Float32"
            ),
        ),
        (
            "reduce_sum",
            (F32,),
            DType.Float64,
            (
                "operation    reduce_sum\n"
                "operand 0    Float32 (tensor)\n"
                "compute      BINARY32\n"
                "accumulation FLOATING\n"
                "accumulator  Float64\n"
                "output       Float32"
            ),
        ),
        (
            "mul",
            (I32, 3),
            None,
            (
                "operation    mul\n"
                "operand 0    Int32 (tensor)\n"
                "operand 1    scalar->Int32 (weak_scalar)\n"
                "compute      INT32_EXACT_CHECKED\n"
                "accumulation -\n"
                "accumulator  -\n"
                "output       Int32"
            ),
        ),
    ],
)
def test_plan_is_a_line_a_decision(operation, operands, accumulator, shown):
    plan = SIMPLE.resolve(operation, *operands, accumulator_dtype=accumulator)
    assert plans.plan_text(plan) == shown


@pytest.mark.rule("report.plans.all")
def test_every_plan_has_a_row_in_text_and_in_markdown():
    columns = ["operation", "operands", "compute", "accumulation", "accumulator", "output"]
    head, *rows = plans.plans_text(SIMPLE).splitlines()
    assert head.split() == columns
    marked, rule, *cells = plans.plans_markdown(SIMPLE).splitlines()
    assert [cell.strip() for cell in marked.strip("|").split("|")] == columns
    assert rule == "| --- | --- | --- | --- | --- | --- |"
    assert len(rows) == len(cells) == len(SIMPLE.plans()) == 102
    for plan, row, cell in zip(SIMPLE.plans(), rows, cells, strict=True):
        listed = [c.strip() for c in cell.strip("|").split("|")]
        assert listed[0] == plan.operation
        assert listed[1] == plan.signature
        assert listed[-1] == plan.output.name
        assert row.split() == " ".join(listed).split()
