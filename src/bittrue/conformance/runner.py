"""Run every plan on a backend and on the reference, and compare bit by bit.

Belongs here: the verification loop. Never here: values (`corpora`), calls (`trials`), classes of
difference (`compare`).

Theory. An elementwise call runs as one array, so that a backend's vector loops are what is tested.
Where it raises, it is cut in halves until each failing element stands alone. A structured call runs
whole; if it overflows Int32 it is one case. An overflow of the reference is a defined outcome, and
an overflow of the backend its equal; whatever else either of them raises is a refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue._records import shown
from bittrue.conformance import compare, rules
from bittrue.conformance.compare import Difference
from bittrue.conformance.records import Mismatch, PlanReport, Verification
from bittrue.conformance.terms import elements_read, sum_terms
from bittrue.conformance.trials import Trial, trials
from bittrue.dispatch import Call, prepare
from bittrue.dtypes import SimpleDType
from bittrue.errors import (
    Int32OverflowError,
    RangeError,
    RefusedTypeError,
    RefusedValueError,
    ResultDTypeError,
)
from bittrue.generic.array import strides_of
from bittrue.geometry import Geometry
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
from bittrue.tensor import Buffer, storage_of

Progress = Callable[[int, int, str], None]
"""Called with plans done, plans in all, and the plan at hand."""

SHOWN_TERMS = 6
Array = npt.NDArray[Any]


@dataclass(slots=True)
class _Tally:
    """Counts of one plan while it runs; `note` is what every rule in it is followed by."""

    note: str = ""
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
    to try (None: all), one of them by its name alone. `strict` counts other NaN bits and another
    association as departures; None means: if both backends promise bits, as `cpu` and `generic` do.
    Raises `ValueError` for an unknown backend or operation, `NotImplementedError` for a backend
    that is not installed.
    """
    policy = DEFAULT if policy is None else policy
    target, reference = backend_of(backend), backend_of(against)
    if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
        raise RefusedValueError("verify: cases", f"{cases!r}", "an int of at least 1")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise RefusedValueError("verify: seed", f"{seed!r}", "an int of at least 0")
    chosen = _chosen_plans(policy, operations)
    if strict is None:
        strict = promises_bits(target) and promises_bits(reference)
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
        {**versions_of(reference), **versions_of(target)},
        tuple(reports),
    )


def _chosen_plans(policy: Policy, operations: Iterable[str] | None) -> tuple[OperationPlan, ...]:
    if operations is None:
        return policy.plans()
    names = (operations,) if isinstance(operations, str) else tuple(operations)
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
    tally = _Tally("" if promises_bits(reference) else f"{reference.name} may break it as well")
    for trial in trials(plan, policy, rng, cases):
        call = _prepared(plan, policy, trial)
        if call is None:
            continue
        count = max(math.prod(call.geometry.shape), 1)
        if (declined := _declined(target, call)) is not None:
            _refuse(count, declined, tally)
            continue
        if (declined := _declined(reference, call)) is not None:
            _count_undefined(reference, count, declined, tally)
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


def _declined(backend: Backend, call: Call) -> Refusal | None:
    buffers = [converted(operand) for operand in call.operands]
    answer = backend.accepts(
        call.plan, [b.shape for b in buffers], [b.strides for b in buffers], call.geometry
    )
    return Refusal(_one_line(answer.reason)) if isinstance(answer, Decline) else None


def _one_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else ""


# --- one call -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call without a result: the backend declined or raised, and its reason.

    `overflow` is what it raised if that says that an exact result leaves its dtype.
    """

    reason: str
    overflow: OverflowError | None = None


@dataclass(frozen=True, slots=True)
class Misfit:
    """A result whose elements cannot be compared: another dtype or shape than the call has."""

    kind: Difference
    expected: str
    actual: str


Outcome = Buffer | Refusal | Misfit

_FAULTS = (NameError, AttributeError, AssertionError)
"""Faults of an adapter itself, never findings about its library."""


def _outcome(backend: Backend, call: Call) -> Outcome:
    """Run a call and look at what comes back, the elements apart."""
    try:
        result = backend.execute(call.plan, call.operands, call.geometry)
    except _FAULTS:
        raise
    except ResultDTypeError as error:
        return Misfit(Difference.DTYPE, error.accepted, error.came)
    except Exception as error:  # noqa: BLE001 - another library's exception is a finding
        reason = f"{type(error).__name__}: {_one_line(str(error))}".removesuffix(": ")
        return Refusal(reason, error if isinstance(error, OverflowError) else None)
    if not isinstance(result, Buffer):
        raise RefusedTypeError(
            f"backend {backend.name}: execute", f"returned {shown(result)}", "a Buffer"
        )
    if result.dtype is not call.plan.output:
        return Misfit(Difference.DTYPE, call.plan.output.name, f"returned {result.dtype.name}")
    if result.shape != call.geometry.shape:
        shapes = (f"shape {shape}" for shape in (call.geometry.shape, result.shape))
        return Misfit(Difference.SHAPE, *shapes)
    return result


def _bits(buffer: Buffer) -> Array:
    return buffer.bits().ravel()


def _stored(bits: Any) -> int:
    """Return one entry of `_bits` as a stored element."""
    return int.from_bytes(bits.tobytes(), "little") if bits.dtype.names else int(bits)


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


Failures = list[tuple[Array, Refusal | Misfit]]


def _cells(backend: Backend, call: Call, indices: Array) -> tuple[Array, Array, Failures]:
    """Run a call on `indices` of its elements, cutting it in halves around what raises.

    Returns the indices that gave a result, their bits, and the failures.
    """
    nothing = indices[:0], np.zeros(0, storage_of(call.plan.output).bits)
    if not indices.size:
        return *nothing, []
    outcome = _outcome(backend, call)
    if isinstance(outcome, Buffer):
        return indices, _bits(outcome), []
    if isinstance(outcome, Misfit) or indices.size == 1:
        return *nothing, [(indices, outcome)]
    half = indices.size // 2
    whole = np.arange(indices.size)
    left = _cells(backend, _take(call, whole[:half]), indices[:half])
    right = _cells(backend, _take(call, whole[half:]), indices[half:])
    return (
        np.concatenate([left[0], right[0]]),
        np.concatenate([left[1], right[1]]),
        left[2] + right[2],
    )


def _compare_elements(
    call: Call, target: Backend, reference: Backend, tally: _Tally, *, strict: bool
) -> None:
    every = np.arange(call.geometry.shape[0])
    defined, expected, undefined = _cells(reference, call, every)
    found, actual, failures = _cells(target, _take(call, defined), defined)
    for indices, outcome in failures:
        _count_failure(call, int(indices[0]), indices.size, outcome, tally)
    where = np.searchsorted(defined, found)
    _compare_bits(call, found, expected[where], actual, tally, strict=strict)
    overflows = [every[:0]]
    for indices, outcome in undefined:
        if _overflows(outcome):
            overflows.append(indices)
        else:
            _count_undefined(reference, indices.size, outcome, tally)
    raised = np.concatenate(overflows)
    wrapped, values, failures = _cells(target, _take(call, raised), raised)
    for indices, outcome in failures:
        _count_overflow(call, int(indices[0]), indices.size, outcome, tally)
    for index, value in zip(wrapped.tolist(), values, strict=True):
        _count_wrap(call, index, _stored(value), tally)


# --- structured calls ---------------------------------------------------------------------------


def _compare_whole(
    call: Call, target: Backend, reference: Backend, tally: _Tally, *, strict: bool
) -> None:
    expected = _outcome(reference, call)
    count = math.prod(call.geometry.shape)
    if isinstance(expected, Refusal) and expected.overflow is not None:
        index = _offset_of(expected.overflow, call.geometry)
        actual = _outcome(target, call)
        if isinstance(actual, Buffer):
            _count_wrap(call, index, _stored(_bits(actual)[index]), tally)
        else:
            _count_overflow(call, index, 1, actual, tally)
        return
    if not isinstance(expected, Buffer):
        _count_undefined(reference, max(count, 1), expected, tally)
        return
    actual = _outcome(target, call)
    if not isinstance(actual, Buffer):
        _count_failure(call, 0, max(count, 1), actual, tally)
        return
    _compare_bits(call, np.arange(count), _bits(expected), _bits(actual), tally, strict=strict)


def _offset_of(overflow: OverflowError, geometry: Geometry) -> int:
    """Return the offset of the result that overflows, the first one if the error names none."""
    position = overflow.position if isinstance(overflow, Int32OverflowError) else ()
    if len(position) != len(geometry.shape):
        return 0
    steps = strides_of(geometry.shape)
    return sum(index * step for index, step in zip(position, steps, strict=True))


# --- counting -----------------------------------------------------------------------------------


def _compare_bits(
    call: Call, indices: Array, expected: Array, actual: Array, tally: _Tally, *, strict: bool
) -> None:
    differing = np.flatnonzero(expected != actual)
    tally.equal += indices.size - differing.size
    dtype = call.plan.output
    for at in differing.tolist():
        want, got, index = _stored(expected[at]), _stored(actual[at]), int(indices[at])
        kind = compare.classify(dtype, want, got)
        if not strict and kind is Difference.NAN_BITS:
            tally.nan_bits += 1
        elif (
            not strict
            # The sign of a zero sum is the same in every order.
            and kind is not Difference.ZERO_SIGN
            and compare.is_association(call.plan, sum_terms(call, index), got)
        ):
            tally.association += 1
        else:
            spelled = (compare.spell(dtype, want), compare.spell(dtype, got))
            _depart(call, index, 1, spelled, kind, tally, compare.ulps(dtype, want, got))


def _refuse(cases: int, refusal: Refusal, tally: _Tally) -> None:
    tally.refused += cases
    tally.reason = tally.reason or refusal.reason


def _overflows(outcome: Outcome) -> bool:
    return isinstance(outcome, Refusal) and outcome.overflow is not None


def _count_failure(
    call: Call, index: int, cases: int, outcome: Refusal | Misfit, tally: _Tally
) -> None:
    """Count results that the backend does not give, or not as the plan has them."""
    if isinstance(outcome, Misfit):
        results = (outcome.expected, outcome.actual)
        _depart(call, index, cases, results, outcome.kind, tally)
    else:
        _refuse(cases, outcome, tally)


def _count_overflow(
    call: Call, index: int, cases: int, outcome: Refusal | Misfit, tally: _Tally
) -> None:
    """Count cases in which the reference overflows: an overflow is right, nothing else is."""
    if _overflows(outcome):
        tally.equal += cases
    else:
        _count_failure(call, index, cases, outcome, tally)


def _count_undefined(
    reference: Backend, cases: int, outcome: Refusal | Misfit, tally: _Tally
) -> None:
    """Count cases in which the reference has no result of the plan: there is nothing to equal."""
    words = outcome.reason if isinstance(outcome, Refusal) else outcome.actual
    _refuse(cases, Refusal(f"nothing to compare with, {reference.name}: {words}"), tally)


def _count_wrap(call: Call, index: int, value: int, tally: _Tally) -> None:
    actual = compare.spell(call.plan.output, value)
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
            Difference.SHAPE: rules.result_shape_rule(call.plan),
        }.get(kind, rules.rule_of(call.plan))
        conversion = rules.conversion_note(call.plan) if kind is Difference.VALUE else ""
        tally.first = Mismatch(
            _operands_of(call, index),
            *results,
            distance,
            kind.value,
            "; ".join(filter(None, (rule, conversion, tally.note))),
        )
        tally.rank = rank


def _operands_of(call: Call, index: int) -> tuple[str, ...]:
    """Write the operand elements that one result reads; of many, the first few."""
    alone = type(call.geometry) is Geometry
    written = []
    for operand, elements in zip(call.operands, elements_read(call, index), strict=True):
        if isinstance(operand, WeakScalar):
            written.append(repr(operand.value))
        elif alone:
            written.append(compare.spell(operand.dtype, elements[0]))
        else:
            written.append(_listed(operand.dtype, elements))
    return tuple(written)


def _listed(dtype: SimpleDType, elements: list[int]) -> str:
    """Write elements as a list, the first few of a long one."""
    shown = ", ".join(compare.spell(dtype, element) for element in elements[:SHOWN_TERMS])
    more = len(elements) - SHOWN_TERMS
    return f"[{shown}, ... {more} more]" if more > 0 else f"[{shown}]"
