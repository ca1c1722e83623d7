"""The table on a terminal, word for word."""

import pytest

from bittrue.report import text

MIXED = """\
fast against generic: policy simple, 20 cases a plan, seed 7 (bittrue 0.1.0, fast 9.8)

operation   plan                                cases  equal  refused  NaN bits  order  departs
add         Float32, Float32 -> Float32            20     12        2         3      0        3
    value: add(3f800000 (1), 33800001 (5.96046519e-08)) is 3f800001 (1.00000012); fast: 3f800000 (1), 1 ulp apart
    breaks: the exact sum rounded once to binary32
    refused: RuntimeError: too small
exp         Int32->Float32 -> Float32              20     19        0         0      0        1
    result dtype: exp(00000003 (3)) is Float32; fast: returned float64
    breaks: Float32
reduce_sum  Float32 -> Float32, sum in Float64     20     15        0         1      4        0
maximum     Float32, Float32 -> Float32            20     18        0         2      0        0
maximum     Float32, Float32 -> Float32            20     20        0         0      0        0
exp         Int32->Float32 -> Float32              20      0       20         0      0        0
    refused: no kernel for exp

6 plans: 1 equal, 1 equal but for NaN bits, 1 equal but for the order of sums, 1 refused, 2 depart. 4 of 120 cases depart."""  # noqa: E501 - the page as it is printed


@pytest.mark.rule("report.text")
def test_table_says_all_of_it(mixed):
    assert text.render(mixed) == MIXED


ONE = """\
fast against generic: policy simple, 1 case a plan, seed 7 (bittrue 0.1.0, fast 9.8)

operation  plan                         cases  equal  refused  NaN bits  order  departs
maximum    Float32, Float32 -> Float32      1      0        0         0      0        1
    sign of zero: maximum(00000000 (0), 80000000 (-0)) is 00000000 (0); fast: 80000000 (-0)
    breaks: +0 is above -0

1 plan: 1 departs. 1 of 1 case departs."""


@pytest.mark.rule("report.text.words")
def test_one_of_a_kind_is_no_plural_and_zeros_have_no_distance(zeros):
    assert text.render(zeros) == ONE


@pytest.mark.rule("report.text.words")
def test_run_of_no_plan_says_so(run_of):
    assert text.summary(run_of()) == "0 plans: none. 0 of 0 cases depart."
    assert text.render(run_of()).splitlines()[2].startswith("operation  plan  cases")


@pytest.mark.rule("report.text")
def test_columns_stand_one_below_the_other(mixed):
    table = [line for line in text.table(mixed) if not line.startswith("    ")]
    assert len({len(line) for line in table}) == 1
