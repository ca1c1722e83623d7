"""Run every plan on a backend and on the reference, and compare bit by bit.

Belongs here: the verification loop. Never here: values (`corpora`), calls (`trials`), classes of
difference (`compare`).

Theory. An elementwise call runs as one array, so that a backend's vector loops are what is tested.
Where it raises, it is cut in halves until each failing element stands alone. A structured call runs
whole; if it overflows Int32 it is one case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue.conformance import compare, rules
from bittrue.conformance.compare import Difference
from bittrue.conformance.records import Mismatch, PlanReport, Verification
from bittrue.conformance.terms import computed_elements, sum_terms
from bittrue.conformance.trials import Trial, trials
from bittrue.dispatch import Call, prepare
from bittrue.dtypes import SimpleDType
from bittrue.errors import Int32OverflowError, RangeError, RefusedValueError, ResultDTypeError
from bittrue.geometry import Contraction, Geometry, Reduction, Scan
from bittrue.policy import DEFAULT, OperationPlan, Policy
from bittrue.providers import (
    Backend,
    Decline,
    Operand,
    WeakScalar,
    backend_of,
    converted,
    promises_bits,
    versions_of,
)
from bittrue.tensor import Buffer

Progress = Callable[[int, int, str], None]
"""Called with plans done, plans in all, and the plan at hand."""

SHOWN_TERMS = 6
Array = npt.NDArray[Any]


@dataclass(slots=True)
class _Tally:
    """Counts of one plan while it runs."""

    equal: int = 0
    refused: int = 0
    nan_bits: int = 0
    association: int = 0
    departures: int = 0
    reason: str = ""
    first: Mismatch | None = None
    rank: int = 99

    def report(self, plan: OperationPlan) -> PlanReport:
        counts = (self.equal, self.refused, self.nan_bits, self.association, self.departures)
        return PlanReport(plan, sum(counts), *counts, self.reason, self.first)


def verify(
    backend: str | Backend,
    *,
    against: str | Backend = "generic",
    policy: Policy | None = None,
    operations: Iterable[str] | None = None,
    cases: int = 2000,
    seed: int = 0,
    strict: bool | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Run every plan of `policy` on `backend` and compare its bits with those of `against`.

    `cases` is the number of results tried for an elementwise plan (a tenth of it for a structured
    one), over directed values and random ones drawn from `seed`; `operations` names the operations
    to try (None: all). `strict` counts other NaN bits and another association as departures; None
    means: if the backend promises bits, as `cpu` does. Raises `ValueError` for an unknown backend
    or operation, `NotImplementedError` for a backend that is not installed.
    """
    policy = DEFAULT if policy is None else policy
    target, reference = backend_of(backend), backend_of(against)
    if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
        raise RefusedValueError("verify: cases", f"{cases!r}", "an int of at least 1")
    chosen = _chosen_plans(policy, operations)
    strict = promises_bits(target) if strict is None else strict
    reports = []
    for done, plan in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), str(plan))
        # Each plan draws from its own stream: choosing operations does not change the cases.
        rng = np.random.default_rng([seed, *str(plan).encode()])
        reports.append(_verify_plan(plan, policy, target, reference, rng, cases, strict=strict))
    if progress is not None:
        progress(len(chosen), len(chosen), "")
    return Verification(
        target.name,
        reference.name,
        policy.name,
        cases,
        seed,
        strict,
        versions_of(target),
        tuple(reports),
    )


def _chosen_plans(policy: Policy, operations: Iterable[str] | None) -> tuple[OperationPlan, ...]:
    if operations is None:
        return policy.plans()
    names = tuple(operations)
    for name in names:
        if policy.spec(name) is None:
            raise RefusedValueError(
                "verify: operations",
                f"unknown operation {name!r}",
                "names of registered operations",
            )
    return tuple(plan for plan in policy.plans() if plan.operation in names)


def _verify_plan(
    plan: OperationPlan,
    policy: Policy,
    target: Backend,
    reference: Backend,
    rng: np.random.Generator,
    cases: int,
    *,
    strict: bool,
) -> PlanReport:
    tally = _Tally()
    for trial in trials(plan, policy, rng, cases):
        call = _prepared(plan, policy, trial)
        if call is None:
            continue
        declined = _declined(target, call)
        if declined:
            tally.refused += max(int(np.prod(call.geometry.shape)), 1)
            tally.reason = tally.reason or declined
            continue
        if trial.sliceable:
            _compare_elements(call, target, reference, tally, strict=strict)
        else:
            _compare_whole(call, target, reference, tally, strict=strict)
    return tally.report(plan)


def _prepared(plan: OperationPlan, policy: Policy, trial: Trial) -> Call | None:
    """Plan the trial; None where its scalar is refused before any backend (a huge integer)."""
    try:
        call = prepare(
            plan.operation,
            trial.operands,
            trial.attributes,
            policy=policy,
            accumulator_dtype=plan.accumulator_dtype
            if len(policy.accumulator_variants(plan)) > 1
            else None,
        )
    except RangeError:
        return None
    assert call.plan == plan, f"{call.plan} instead of {plan}"
    return call


def _declined(backend: Backend, call: Call) -> str:
    buffers = [converted(operand) for operand in call.operands]
    answer = backend.accepts(
        call.plan, [b.shape for b in buffers], [b.strides for b in buffers], call.geometry
    )
    return answer.reason if isinstance(answer, Decline) else ""


# --- elementwise calls --------------------------------------------------------------------------


def _take(call: Call, indices: Array) -> Call:
    """Return the call on some of its elements."""
    operands: list[Operand] = [
        operand
        if isinstance(operand, WeakScalar)
        else Buffer(operand.dtype, operand.array[indices])
        for operand in call.operands
    ]
    return Call(call.plan, tuple(operands), Geometry((len(indices),)))


_FAULTS = (NameError, AttributeError, AssertionError)
"""Faults of an adapter itself, never findings about its library."""

Failures = list[tuple[Array, Exception]]


def _cells(backend: Backend, call: Call, indices: Array) -> tuple[Array, Array, Failures]:
    """Run a call on `indices` of its elements, cutting it in halves around what raises.

    Returns the indices that gave a result, their bits, and the failures.
    """
    try:
        result = backend.execute(call.plan, call.operands, call.geometry)
    except _FAULTS:
        raise
    except Exception as error:  # noqa: BLE001 - another library's exception is a finding
        if indices.size <= 1 or isinstance(error, ResultDTypeError):
            return indices[:0], np.zeros(0, np.int64), [(indices, error)]
    else:
        return indices, _bits(result), []
    half = indices.size // 2
    whole = np.arange(indices.size)
    left = _cells(backend, _take(call, whole[:half]), indices[:half])
    right = _cells(backend, _take(call, whole[half:]), indices[half:])
    return (
        np.concatenate([left[0], right[0]]),
        np.concatenate([left[1], right[1]]),
        left[2] + right[2],
    )


def _bits(buffer: Buffer) -> Array:
    return buffer.bits().ravel().astype(np.int64)


def _compare_elements(
    call: Call, target: Backend, reference: Backend, tally: _Tally, *, strict: bool
) -> None:
    every = np.arange(call.geometry.shape[0])
    defined, expected, overflows = _cells(reference, call, every)
    found, actual, failures = _cells(target, _take(call, defined), defined)
    for indices, error in failures:
        _count_failure(call, int(indices[0]), len(indices), error, tally)
    where = np.searchsorted(defined, found)
    _compare_bits(call, found, expected[where], actual, tally, strict=strict)
    if overflows:
        raised = np.concatenate([indices for indices, _ in overflows])
        wrapped, values, failures = _cells(target, _take(call, raised), raised)
        tally.equal += sum(len(indices) for indices, _ in failures)
        for index, value in zip(wrapped.tolist(), values.tolist(), strict=True):
            _count_wrap(call, index, compare.spell(call.plan.output, value), tally)


# --- structured calls ---------------------------------------------------------------------------


def _compare_whole(
    call: Call, target: Backend, reference: Backend, tally: _Tally, *, strict: bool
) -> None:
    try:
        expected = reference.execute(call.plan, call.operands, call.geometry)
    except Int32OverflowError as overflow:
        try:
            result = target.execute(call.plan, call.operands, call.geometry)
        except _FAULTS:
            raise
        except Exception:  # noqa: BLE001 - any refusal is right here
            tally.equal += 1
        else:
            shape = call.geometry.shape
            index = int(np.ravel_multi_index(overflow.position, shape)) if shape else 0
            got = compare.spell(call.plan.output, int(_bits(result)[index]))
            _count_wrap(call, index, got, tally)
        return
    cases = max(int(np.prod(call.geometry.shape)), 1)
    try:
        result = target.execute(call.plan, call.operands, call.geometry)
    except _FAULTS:
        raise
    except Exception as error:  # noqa: BLE001 - another library's exception is a finding
        _count_failure(call, 0, cases, error, tally)
        return
    if result.shape != expected.shape:
        _depart(
            call,
            0,
            cases,
            (f"shape {expected.shape}", f"shape {result.shape}"),
            Difference.SHAPE,
            tally,
        )
        return
    every = np.arange(int(np.prod(expected.shape)))
    _compare_bits(call, every, _bits(expected), _bits(result), tally, strict=strict)


# --- counting -----------------------------------------------------------------------------------


def _compare_bits(
    call: Call, indices: Array, expected: Array, actual: Array, tally: _Tally, *, strict: bool
) -> None:
    differing = np.flatnonzero(expected != actual)
    tally.equal += indices.size - differing.size
    dtype = call.plan.output
    for at in differing.tolist():
        want, got, index = int(expected[at]), int(actual[at]), int(indices[at])
        kind = compare.classify(dtype, want, got)
        if not strict and kind is Difference.NAN_BITS:
            tally.nan_bits += 1
        elif (
            not strict
            and call.plan.accumulation in compare.SUMS
            and compare.is_association(call.plan, sum_terms(call, index), got)
        ):
            tally.association += 1
        else:
            spelled = (compare.spell(dtype, want), compare.spell(dtype, got))
            _depart(call, index, 1, spelled, kind, tally, compare.ulps(dtype, want, got))


def _count_failure(call: Call, index: int, cases: int, error: Exception, tally: _Tally) -> None:
    """Count a call on which the reference gives a result and the backend raises."""
    if isinstance(error, ResultDTypeError):
        _depart(call, index, cases, (error.accepted, error.came), Difference.DTYPE, tally)
        return
    tally.refused += cases
    text = str(error).strip().splitlines()
    tally.reason = tally.reason or f"{type(error).__name__}: {text[0] if text else ''}"


def _count_wrap(call: Call, index: int, actual: str, tally: _Tally) -> None:
    _depart(call, index, 1, ("OverflowError", actual), Difference.WRAP, tally)


_SHOWN_FIRST = (
    Difference.DTYPE,
    Difference.SHAPE,
    Difference.VALUE,
    Difference.WRAP,
    Difference.SPECIAL,
    Difference.ZERO_SIGN,
)
"""Of several kinds in one plan, the first of these is the one that is shown."""


def _depart(
    call: Call,
    index: int,
    cases: int,
    results: tuple[str, str],
    kind: Difference,
    tally: _Tally,
    distance: int | None = None,
) -> None:
    tally.departures += cases
    rank = _SHOWN_FIRST.index(kind) if kind in _SHOWN_FIRST else len(_SHOWN_FIRST)
    if tally.first is None or rank < tally.rank:
        rule = {
            Difference.WRAP: rules.NEVER_WRAPS,
            Difference.DTYPE: rules.result_dtype_rule(call.plan),
        }.get(kind, rules.rule_of(call.plan))
        note = rules.conversion_note(call.plan) if kind is Difference.VALUE else ""
        tally.first = Mismatch(
            _operands_of(call, index),
            *results,
            distance,
            kind.value,
            f"{rule}; {note}" if note else rule,
        )
        tally.rank = rank


def _operands_of(call: Call, index: int) -> tuple[str, ...]:
    """Write the operand elements that one result reads; of many, the first few."""
    plan, geometry = call.plan, call.geometry
    if type(geometry) is Geometry:
        return tuple(
            repr(operand.value)
            if isinstance(operand, WeakScalar)
            else compare.spell(operand.dtype, operand.elements()[index])
            for operand in call.operands
        )
    if isinstance(geometry, Reduction | Scan) and converted(call.operands[0]).elements():
        return (_listed(plan.operands[0].convert_to, sum_terms(call, index)),)
    if isinstance(geometry, Contraction):
        lhs, rhs = (
            computed_elements(operand, planned)
            for operand, planned in zip(call.operands, plan.operands, strict=True)
        )
        row, column = divmod(index, geometry.m)
        return (
            _listed(plan.operands[0].convert_to, lhs[row * geometry.k : (row + 1) * geometry.k]),
            _listed(plan.operands[1].convert_to, rhs[column :: geometry.m]),
        )
    shapes = [f"{converted(o).dtype.name}{list(converted(o).shape)}" for o in call.operands]
    return (*shapes, f"result element {index}")


def _listed(dtype: SimpleDType, elements: list[int]) -> str:
    """Write elements as a list, the first few of a long one."""
    shown = ", ".join(compare.spell(dtype, element) for element in elements[:SHOWN_TERMS])
    more = len(elements) - SHOWN_TERMS
    return f"[{shown}, ... {more} more]" if more > 0 else f"[{shown}]"
