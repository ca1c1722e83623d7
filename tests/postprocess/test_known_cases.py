"""The known-good cases, every one, on both backends."""

from fractions import Fraction

import numpy as np
import pytest
from postprocess_support import (
    accumulators,
    codes,
    control_of,
    flags_of,
    known_cases,
    number,
)

from bittrue.encoding import Rounding, Status
from bittrue.encoding.lanes import Number
from bittrue.errors import RejectedError
from bittrue.postprocess import (
    MODES,
    PostProcess,
    PreQuant,
    StatusRegister,
    plan_post_process,
    post_process,
)
from bittrue.postprocess.element import Rule, _affine
from bittrue.postprocess.maxima import STEPS
from bittrue.postprocess.modes import GROUP_N
from bittrue.postprocess.parameters import fault_of_activation, fault_of_quant

CASES = known_cases()


def test_mode_table():
    assert len(CASES["modes"]) == len(MODES) == 27
    for row in CASES["modes"]:
        mode = MODES[PreQuant(row["code"])]
        assert mode.name == row["name"]
        assert list(mode.accumulators) == row["acc"]
        assert (mode.destination or "unchanged") == row["dst"]
        assert mode.parameter.value == row["param"]
        assert mode.offset_bits == row["offset_bits"]
        assert mode.shift == row["shift"]
        assert mode.saturate_allowed == row["sat_allowed"]
        stated = {"program": None, "none": Rounding.RTM}.get(row["rounding"], row["rounding"])
        if isinstance(stated, str):
            stated = Rounding[stated.split()[0]]
        assert mode.rounding == stated


def test_group_codes():
    assert {int(code): n for code, n in CASES["group_n"].items()} == dict(enumerate(GROUP_N))


def test_rounding_codes():
    assert {m.name: m.value for m in Rounding} == CASES["rmode_codes"]


@pytest.mark.parametrize("row", CASES["field_legality"], ids=str)
def test_field_legality(row):
    mode, relu, group, row_max, group_max, init, max_abs, legal = row
    values = (
        mode, relu, GROUP_N[group] if group < len(GROUP_N) else group,
        bool(row_max), bool(group_max), bool(init), bool(max_abs),
    )  # fmt: skip
    if legal:
        PostProcess(*values)
    else:
        with pytest.raises(RejectedError) as caught:
            PostProcess(*values)
        assert caught.value.category in ("encoding", "fields")


@pytest.mark.parametrize("row", CASES["control_legality"], ids=str)
def test_control_legality(row):
    mode, rounding, sat, legal = row
    if legal:
        PostProcess(mode, rounding=rounding, saturate=bool(sat))
    else:
        with pytest.raises(RejectedError) as caught:
            PostProcess(mode, rounding=rounding, saturate=bool(sat))
        assert caught.value.category == "control"


@pytest.mark.parametrize("row", CASES["accumulator_legality"], ids=str)
def test_accumulator_legality(row):
    mode, kind, legal = row
    control = PostProcess(mode)
    word = 0 if control.mode.shift else 0x3F80_0000
    quant = {"none": None, "scalar": word, "vector": [word]}[control.mode.parameter.value]
    if legal:
        assert plan_post_process(control, kind, 1, 1, quant).accumulator == kind
    else:
        with pytest.raises(RejectedError) as caught:
            plan_post_process(control, kind, 1, 1, quant)
        assert caught.value.category == "accumulator"


@pytest.mark.parametrize("row", CASES["quant_word_legality"], ids=str)
def test_quant_word_legality(row):
    mode, text, legal = row
    control, word = PostProcess(mode), number(text)
    assert (fault_of_quant(control.mode, word) is None) == legal
    quant = [word] if control.mode.parameter.value == "vector" else word
    accumulator = control.mode.accumulators[0]
    if legal:
        plan_post_process(control, accumulator, 1, 1, quant)
    else:
        with pytest.raises(RejectedError) as caught:
            plan_post_process(control, accumulator, 1, 1, quant)
        surplus = control.mode.parameter.value == "none"
        assert caught.value.category == ("shape" if surplus else "parameter")


@pytest.mark.parametrize("row", CASES["act_word_legality"], ids=str)
def test_activation_word_legality(row):
    text, legal = row
    word = number(text)
    assert (fault_of_activation(word) is None) == legal
    for relu, given in ((2, word), (3, [word])):
        control = PostProcess(0, relu)
        if legal:
            plan_post_process(control, "FP32", 1, 1, activation=given)
        else:
            with pytest.raises(RejectedError) as caught:
                plan_post_process(control, "FP32", 1, 1, activation=given)
            assert caught.value.category == "parameter"


@pytest.mark.parametrize("case", CASES["intermediate"], ids=str)
def test_intermediate(case):
    value, width = Fraction(case["value"]), case["width"]
    control = PostProcess({5: 17, 9: 3, 17: 19}[width], rounding=case["rmode"])
    exponent = -(value.denominator.bit_length() - 1)
    product = Number(value < 0, abs(value.numerator), exponent)
    found = _affine(Rule.of(control, "S32"), 0, product, 0, negative=value < 0, multiplier=1)
    assert found.saturated == case["result"]
    # The destination is narrower than the intermediate: its flags come on top.
    half = 1 << (width - 2)
    outside = not -half <= found.saturated < half
    raised = Status.OF | Status.NX if outside else Status(0)
    assert found.flags == flags_of(case["flags"]) | raised


@pytest.mark.parametrize("case", CASES["reduction_step"], ids=str)
def test_reduction_step(case):
    step = STEPS[case["type"]]
    found = step(number(case["left"]), number(case["right"]), bool(case["max_abs"]))
    assert found == (number(case["out"]), flags_of(case["flags"]))


def test_elements(backend):
    failures = []
    for case in CASES["element"]:
        control = PostProcess(
            case["mode"], case["relu"], rounding=case["rmode"], saturate=bool(case["sat"])
        )
        quant, act = number(case["quant"]), number(case["act"])
        if control.mode.parameter.value == "vector":
            quant = [quant]
        if case["relu"] == 3:
            act = [act]
        found = post_process(
            accumulators(case["acc"], [[number(case["in"])]]), control, quant, act, backend=backend
        )
        expected = number(case["out"]), flags_of(case["flags"])
        if (codes(found.d)[0][0], found.status) != expected:
            failures.append((case, hex(codes(found.d)[0][0]), found.status))
    assert not failures, failures[:5]


@pytest.mark.parametrize("index", range(len(CASES["matrix"])))
def test_matrices(index, backend):
    case = CASES["matrix"][index]
    register = StatusRegister(Status.DZ)
    kind = case["acc"]
    array = accumulators(kind, [[number(x) for x in row] for row in case["acc_bits"]])
    initial = number(case["row_max_in"])
    if initial is not None:
        initial = accumulators(kind, initial)

    def run(**options):
        return post_process(
            array, control_of(case), number(case["quant"]), number(case["act"]), initial,
            status=register, backend=backend, **options,
        )  # fmt: skip

    if "reject" in case:
        with pytest.raises(RejectedError) as caught:
            run()
        assert caught.value.category == case["reject"]
        assert register.flags == Status.DZ
        return
    found = run()
    assert codes(found.d) == number(case["d"])
    if case.get("d_bytes") is not None:
        assert codes(run(packed=True).d) == number(case["d_bytes"])
    for name in ("row_max", "group_max"):
        expected, made = case[name], getattr(found, name)
        if expected is None:
            assert made is None
        else:
            shape = made.shape
            assert codes(made) == np.array(number(expected)).reshape(shape).tolist()
    assert found.status == flags_of(case["flags"])
    assert register.flags == found.status | Status.DZ
