"""Verification as a whole: Generic equals itself, the same seed gives the same run."""

import json

import numpy as np
import pytest

from bittrue import DType
from bittrue.conformance import runner, trials, verify
from bittrue.conformance.records import PlanReport, Verification
from bittrue.dispatch import prepare
from bittrue.encoding import BINARY32, BINARY64
from bittrue.errors import RefusedValueError, UnsupportedError
from bittrue.policy import DEFAULT, SIMPLE, Arithmetic
from bittrue.policy.simple import policy_of, rows_of
from bittrue.providers import backend_of

PLANS = SIMPLE.plans()


@pytest.fixture(scope="module")
def own() -> Verification:
    return verify("generic", cases=20)


@pytest.mark.rule("verify.generic-equals-itself")
def test_generic_equals_itself_in_every_plan(own):
    assert len(own.reports) == 442
    assert [r.plan for r in own.reports] == list(DEFAULT.plans())
    for report in own.reports:
        assert report.verdict == "equal", report
        assert report.equal == report.cases > 0
        assert (report.reason, report.first) == ("", None)
    assert own.departures == 0
    assert own.count("equal") == 442


@pytest.mark.rule("verify.cpu-equals-generic")
def test_the_cpu_backend_equals_generic_in_every_plan():
    found = verify("cpu", cases=40, seed=3)
    assert found.strict
    assert [r.plan for r in found.reports] == list(DEFAULT.plans())
    assert [str(r.plan) for r in found.reports if r.verdict != "equal"] == []
    assert all(report.equal == report.cases > 0 for report in found.reports)


@pytest.mark.rule("verify.run")
def test_run_says_what_was_compared(own):
    assert (own.backend, own.against, own.policy) == ("generic", "generic", DEFAULT.name)
    assert (own.cases, own.seed) == (20, 0)
    assert {"bittrue", "numpy", "python", "machine"} <= own.versions.keys()


@pytest.mark.rule("verify.strict")
@pytest.mark.parametrize(("name", "strict"), [("cpu", True), ("generic", True), ("numpy", False)])
def test_backends_that_promise_bits_are_verified_strictly(name, strict):
    assert verify(name, operations=["add"], cases=5).strict is strict
    assert verify(name, operations=["add"], cases=5, strict=not strict).strict is not strict


@pytest.mark.rule("verify.seed")
def test_same_seed_gives_the_same_run():
    first, second = (verify("numpy", cases=12, seed=7).to_json() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def seen(monkeypatch, **options) -> dict[str, list[bytes]]:
    """Return the operands of every trial, by plan."""
    calls: dict[str, list[bytes]] = {}
    original = runner.trials

    def recorded(plan, *rest):
        for trial in original(plan, *rest):
            operands = (
                o.tobytes() if isinstance(o, np.ndarray) else repr(o).encode()
                for o in trial.operands
            )
            calls.setdefault(str(plan), []).append(b"|".join(operands))
            yield trial

    with monkeypatch.context() as patch:
        patch.setattr(runner, "trials", recorded)
        verify("generic", **options)
    return calls


@pytest.mark.rule("verify.seed")
def test_other_seed_gives_other_cases(monkeypatch):
    operations = ["add", "sqrt", "reduce_sum", "gather", "conv_general", "_sort_values"]
    # Of a policy in which no plan divides so few cases among so many scalars that none is random.
    one, two = (
        seen(monkeypatch, policy=SIMPLE, operations=operations, cases=200, seed=seed)
        for seed in (1, 2)
    )
    assert one.keys() == two.keys()
    for plan, calls in one.items():
        assert calls != two[plan], plan


@pytest.mark.rule("verify.seed")
def test_choosing_operations_does_not_change_the_cases(monkeypatch):
    every = seen(monkeypatch, cases=30, policy=SIMPLE)
    some = seen(monkeypatch, cases=30, policy=SIMPLE, operations=["matmul", "pow", "cumsum"])
    assert len(every) == 102
    assert {plan.partition("(")[0] for plan in some} == {"matmul", "pow", "cumsum"}
    for plan, calls in some.items():
        assert calls == every[plan]


@pytest.mark.rule("verify.operations")
def test_chosen_operations_alone_are_run():
    run = verify("generic", policy=SIMPLE, operations=iter(["mul", "erf"]), cases=5)
    expected = [p for p in PLANS if p.operation in {"mul", "erf"}]
    assert [r.plan for r in run.reports] == expected


@pytest.mark.rule("verify.operations")
def test_one_operation_may_be_named_alone():
    run = verify("generic", operations="exp", cases=5)
    assert [r.plan for r in run.reports] == [p for p in PLANS if p.operation == "exp"]
    with pytest.raises(RefusedValueError, match="'nonsense'"):
        verify("generic", operations="nonsense", cases=5)


@pytest.mark.rule("verify.strict")
def test_nothing_is_strict_against_a_library_that_promises_no_bits():
    run = verify("generic", against="numpy", operations=["add", "reduce_sum"], cases=300)
    assert not run.strict
    assert sum(r.nan_bits for r in run.reports) > 0
    assert "numpy" in run.versions


@pytest.mark.rule("verify.refusals")
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"operations": ["add", "nonsense"]}, RefusedValueError),
        ({"cases": 0}, RefusedValueError),
        ({"cases": -1}, RefusedValueError),
        ({"cases": True}, RefusedValueError),
        ({"cases": 2.0}, RefusedValueError),
        ({"seed": -1}, RefusedValueError),
        ({"seed": 1.5}, (RefusedValueError, TypeError)),
        ({"against": "nonsense"}, RefusedValueError),
        ({"backend": "nonsense"}, RefusedValueError),
    ],
    ids=str,
)
def test_bad_argument_is_refused(options, error):
    with pytest.raises(error):
        verify(**{"backend": "generic", "operations": ["add"], "cases": 5, **options})


@pytest.mark.rule("verify.progress")
def test_progress_counts_every_plan():
    told = []
    verify("generic", operations=["mul"], cases=5, progress=lambda *step: told.append(step))
    plans = [str(p) for p in DEFAULT.plans() if p.operation == "mul"]
    total = len(plans)
    assert told == [*((i, total, plan) for i, plan in enumerate(plans)), (total, total, "")]


# --- operations that come later -------------------------------------------------------------------


@pytest.mark.rule("verify.trials.complete")
@pytest.mark.parametrize("operation", sorted(trials.STRUCTURED))
def test_structured_operation_without_trials_is_an_error(monkeypatch, operation):
    families = {k: v for k, v in trials.STRUCTURED.items() if k != operation}
    monkeypatch.setattr(trials, "STRUCTURED", families)
    if operation in {"matmul", "dot", "vdot"}:  # structured, but without attributes
        with pytest.raises((ValueError, NotImplementedError)):
            verify("generic", operations=[operation], cases=5)
        return
    with pytest.raises(NotImplementedError, match=operation):
        verify("generic", operations=[operation], cases=5)


class Everything:
    """A backend that claims to take every plan."""

    name = "everything"

    def accepts(self, plan, shapes, layout, attributes):
        del plan, shapes, layout, attributes
        return True

    def execute(self, plan, operands, attributes):
        del plan, attributes
        return operands[0]


@pytest.mark.rule("verify.reference")
def test_rule_is_not_said_to_be_broken_where_the_reference_may_break_it():
    """The reference here forgets to clear the sign: against it, Generic departs."""
    only = {"policy": SIMPLE, "operations": "abs", "cases": 100}
    (report,) = verify("generic", against=Everything(), **only).reports
    assert report.departures > 0
    assert report.first.rule == "only the sign bit is cleared; everything may break it as well"
    (report,) = verify(Everything(), **only).reports
    assert report.first.rule == "only the sign bit is cleared"


@pytest.mark.rule("verify.trials.complete")
def test_operation_that_the_reference_lacks_is_never_reported_as_compared():
    rows = rows_of("brand_new", (DType.Float32,), DType.Float32, Arithmetic.BINARY32, DType.Float32)
    policy = policy_of("extended", rows)
    (plan,) = policy.plans()
    assert backend_of("generic").accepts(plan, [], [], None) is not True
    try:
        (report,) = verify(Everything(), policy=policy, cases=5).reports
    except UnsupportedError:
        return
    assert (report.equal, report.departures) == (0, 0), report


# --- trials ---------------------------------------------------------------------------------------


def calls_of(plan, cases=2000, seed=0):
    """Yield each trial of a plan with its prepared call, None where its scalar is refused."""
    rng = np.random.default_rng([seed, *str(plan).encode()])
    variants = len(DEFAULT.accumulator_variants(plan)) > 1
    for trial in trials.trials(plan, DEFAULT, rng, cases):
        try:
            yield (
                trial,
                prepare(
                    plan.operation,
                    trial.operands,
                    trial.attributes,
                    policy=DEFAULT,
                    accumulator_dtype=plan.accumulator_dtype if variants else None,
                ),
            )
        except OverflowError:
            yield trial, None


@pytest.mark.rule("verify.trials.select-the-plan")
@pytest.mark.parametrize("cases", [1, 200])
def test_every_plan_gets_trials_that_select_it(cases):
    for plan in DEFAULT.plans():
        calls = [call for _, call in calls_of(plan, cases) if call is not None]
        assert calls, plan
        assert {call.plan for call in calls} == {plan}


FLOAT_CLASSES = {
    "+0": lambda b: b == 0,
    "-0": lambda b: b == 0x80000000,
    "+inf": lambda b: b == 0x7F800000,
    "-inf": lambda b: b == 0xFF800000,
    "quiet NaN": lambda b: (b & 0x7FC00000) == 0x7FC00000,
    "signaling NaN": lambda b: ((b & 0x7FC00000) == 0x7F800000) & (b & 0x003FFFFF != 0),
    "subnormal": lambda b: ((b & 0x7F800000) == 0) & (b & 0x007FFFFF != 0),
    "large exponent": lambda b: ((b >> 23) & 0xFF >= 230) & ((b >> 23) & 0xFF < 255),
    "ordinary": lambda b: ((b >> 23) & 0xFF > 100) & ((b >> 23) & 0xFF < 150),
}
INT_EXTREMES = {2**31 - 1, -(2**31), 0, 1, -1}


def data_of(plan) -> list[np.ndarray | None]:
    """Gather the elements of each tensor operand over all trials."""
    columns: list[list[np.ndarray]] = [[] for _ in plan.operands]
    for trial, _ in calls_of(plan):
        for column, operand in zip(columns, trial.operands, strict=True):
            if isinstance(operand, np.ndarray):
                column.append(operand.ravel())
    return [np.concatenate(column) if column else None for column in columns]


WIDE_CLASSES = {
    "+0": lambda b, _f: b == 0,
    "-0": lambda b, f: b == f.sign,
    "+inf": lambda b, f: b == f.infinity,
    "-inf": lambda b, f: b == f.sign | f.infinity,
    "quiet NaN": lambda b, f: f.is_nan(b) and not f.is_signaling(b),
    "signaling NaN": lambda b, f: f.is_signaling(b),
    "subnormal": lambda b, f: 0 < b & (f.sign - 1) < 1 << f.fraction_bits,
    "largest": lambda b, f: b & (f.sign - 1) == f.infinity - 1,
    "ordinary": lambda b, f: abs((b >> f.fraction_bits & f.bias * 2 + 1) - f.bias) < 9,
}


def missing_of_parts(data) -> list[str]:
    """Return which classes no element has: of Float64, or of either part of complex numbers."""
    pair = data.dtype.kind == "c"
    width = data.dtype.itemsize // (2 if pair else 1)
    fmt = BINARY32 if width == 4 else BINARY64
    bits = np.ascontiguousarray(data).view(f"u{width}").reshape(-1, 2 if pair else 1)
    return [
        f"{name} in part {part}"
        for part, column in enumerate(bits.T.tolist())
        for name, holds in WIDE_CLASSES.items()
        if not any(holds(b, fmt) for b in column)
    ]


def is_index(plan, position) -> bool:
    return plan.operation in {"gather", "scatter", "scatter_add"} and position == 1


@pytest.mark.rule("verify.trials.directed")
@pytest.mark.parametrize("plan", DEFAULT.plans(), ids=str)
def test_every_operand_takes_directed_values(plan):
    """Issue 10: every plan over signed zeros, infinities, NaNs, subnormals, integer extremes.

    Of complex operands, in each part.
    """
    for position, data in enumerate(data_of(plan)):
        if data is None or is_index(plan, position):
            continue
        if data.dtype.itemsize > 4 or data.dtype.kind == "c":
            missing = missing_of_parts(data)
        elif data.dtype == np.float32:
            bits = data.view(np.uint32)
            missing = [name for name, holds in FLOAT_CLASSES.items() if not holds(bits).any()]
        elif data.dtype == np.int32:
            missing = sorted(INT_EXTREMES - set(data.tolist()))
        else:
            missing = sorted({False, True} - set(data.tolist()))
        assert not missing, (position, missing)


def plan_of(operation, *operands):
    return SIMPLE.resolve(operation, *operands)


@pytest.mark.rule("verify.trials.halfway")
@pytest.mark.parametrize(("operation", "combine"), [("add", np.add), ("mul", np.multiply)])
def test_sums_and_products_meet_the_middle_of_two_neighbours(operation, combine):
    """A tie is seen exactly in binary64, for operands of like exponents."""
    ties = 0
    for trial, _ in calls_of(plan_of(operation, DType.Float32, DType.Float32)):
        with np.errstate(all="ignore"):
            exact = combine(*(o.astype(np.float64) for o in trial.operands))
        bits = exact.view(np.uint64)
        inside = (np.abs(exact) > 2.0**-126) & (np.abs(exact) < 2.0**127)
        ties += int((inside & ((bits & np.uint64(2**29 - 1)) == 2**28)).sum())
    assert ties >= 20


@pytest.mark.rule("verify.trials.halfway")
@pytest.mark.parametrize("zeros", [(0x00000000, 0x80000000), (0x80000000, 0x00000000)])
@pytest.mark.parametrize("operation", ["maximum", "minimum", "add", "sub", "eq", "lt", "le", "ne"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_zeros_of_either_sign_meet_in_either_order(operation, zeros, seed):
    """Section 12.2: what depends on the operand order shows on this pair alone."""
    for trial, _ in calls_of(plan_of(operation, DType.Float32, DType.Float32), seed=seed):
        lhs, rhs = (o.view(np.uint32) for o in trial.operands)
        if ((lhs == zeros[0]) & (rhs == zeros[1])).any():
            return
    pytest.fail(f"{operation} is never tried on {zeros[0]:08x}, {zeros[1]:08x}")


@pytest.mark.rule("verify.trials.halfway")
def test_round_meets_ties():
    (data,) = data_of(plan_of("round", DType.Float32))
    assert {0.5, -0.5, 1.5, 2.5, -2.5} <= set(data.tolist())


@pytest.mark.rule("verify.trials.halfway")
@pytest.mark.parametrize("operation", ["exp", "tanh", "div", "add"])
def test_int32_conversion_meets_ties(operation):
    operands = (DType.Int32,) if operation in {"exp", "tanh"} else (DType.Int32, DType.Float32)
    data = data_of(plan_of(operation, *operands))[0]
    assert {16777217, 16777219, 2147483584} <= set(data.tolist())


@pytest.mark.rule("verify.trials.weak-scalars")
def test_weak_scalars_reach_every_condition():
    """A plan of a weak scalar is tried with several of them, of the kinds that select it."""
    for plan in PLANS:
        count = sum(o.dtype is None for o in plan.operands)
        groups = {
            tuple(repr(o) for o in trial.operands if not isinstance(o, np.ndarray))
            for trial, call in calls_of(plan)
            if call is not None
        }
        assert len(groups) >= (4 if count else 1), plan


# --- records --------------------------------------------------------------------------------------


@pytest.mark.rule("verify.verdicts")
@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({"equal": 3}, "equal"),
        ({"equal": 2, "nan_bits": 1}, "nan"),
        ({"equal": 1, "nan_bits": 1, "association": 1}, "order"),
        ({"refused": 3}, "refused"),
        ({"equal": 1, "nan_bits": 1, "departures": 1}, "departs"),
        ({"refused": 2, "departures": 1}, "departs"),
    ],
)
def test_verdict(counts, verdict):
    assert PlanReport(PLANS[0], cases=3, **counts).verdict == verdict


@pytest.mark.rule("verify.json")
def test_json_has_every_plan_and_its_counts(own):
    data = json.loads(json.dumps(own.to_json()))
    assert data["schema"] == "bittrue.verify/1"
    assert data.keys() == {
        *("schema", "backend", "against", "policy", "cases_per_plan", "seed", "strict"),
        *("versions", "departures", "plans"),
    }
    assert len(data["plans"]) == 442
    counts = ("equal", "refused", "nan_bits", "association", "departures")
    for plan in data["plans"]:
        assert plan.keys() == {
            *("operation", "plan", "verdict", "cases", *counts, "reason", "first")
        }
        assert sum(plan[count] for count in counts) == plan["cases"]
