"""A verification as plain text: a table a person can act on."""

from __future__ import annotations

from collections.abc import Iterator

from bittrue.conformance import Mismatch, PlanReport, Verification
from bittrue.policy import Accumulation, OperationPlan

_COUNTS = ("cases", "equal", "refused", "nan_bits", "association", "departures")
_HEADINGS = ("cases", "equal", "refused", "NaN bits", "order", "departs")
_VERDICTS = (
    ("equal", "equal"),
    ("nan", "equal but for NaN bits"),
    ("order", "equal but for the order of sums"),
    ("refused", "refused"),
)


def counted(count: int, noun: str) -> str:
    """Write a count and its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _departing(count: int) -> str:
    return "departs" if count == 1 else "depart"


def plan_label(plan: OperationPlan) -> str:
    """Name a plan beside its operation: operands, result, and a widened accumulator."""
    label = f"{plan.signature} -> {plan.output.name}"
    if plan.accumulation is Accumulation.FLOATING and plan.accumulator_dtype is not None:
        label += f", sum in {plan.accumulator_dtype.name}"
    return label


def mismatch_line(report: PlanReport, mismatch: Mismatch, backend: str) -> str:
    """Write one departing case: the call, both results, their distance (zeros have none)."""
    call = f"{report.plan.operation}({', '.join(mismatch.operands)})"
    distance = f", {mismatch.ulps} ulp apart" if mismatch.ulps else ""
    return f"{call} is {mismatch.expected}; {backend}: {mismatch.actual}{distance}"


def heading(run: Verification) -> str:
    """Say what was compared with what."""
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    return (
        f"{run.backend} against {run.against}: policy {run.policy}, "
        f"{counted(run.cases, 'case')} a plan, "
        f"seed {run.seed} ({versions})"
    )


def summary(run: Verification) -> str:
    """Count the plans by verdict, and the departing cases."""
    counts = [f"{run.count(verdict)} {words}" for verdict, words in _VERDICTS if run.count(verdict)]
    if departing := run.count("departs"):
        counts.append(f"{departing} {_departing(departing)}")
    cases = counted(sum(report.cases for report in run.reports), "case")
    return (
        f"{counted(len(run.reports), 'plan')}: {', '.join(counts) or 'none'}. "
        f"{run.departures} of {cases} {_departing(run.departures)}."
    )


def table(run: Verification) -> Iterator[str]:
    """Yield the lines of the table, each plan with the first mismatch and the rule it breaks."""
    rows = [
        (
            report.plan.operation,
            plan_label(report.plan),
            *(f"{getattr(report, count)}" for count in _COUNTS),
        )
        for report in run.reports
    ]
    head = ("operation", "plan", *_HEADINGS)
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: tuple[str, ...]) -> str:
        left = [cell.ljust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
        return "  ".join(left + right)

    yield line(head)
    for report, row in zip(run.reports, rows, strict=True):
        yield line(row)
        if report.first is not None:
            yield f"    {report.first.kind}: {mismatch_line(report, report.first, run.backend)}"
            yield f"    breaks: {report.first.rule}"
        if report.reason:
            yield f"    refused: {report.reason}"


def render(run: Verification) -> str:
    """Return the whole report."""
    return "\n".join([heading(run), "", *table(run), "", summary(run)])
