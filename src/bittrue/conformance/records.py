"""What a verification found: immutable records, and their JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from bittrue.policy import OperationPlan

SCHEMA = "bittrue.verify/1"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One case in which a backend departs, decoded.

    `operands` are the elements that the case reads, `expected` and `actual` the two results, each
    as bits in hex and as a number; `ulps` the distance in units of the last place of the result
    format, None where there is none (NaN, integers, an error); `kind` the class of the difference;
    `rule` the rule that is broken, in words.
    """

    operands: tuple[str, ...]
    expected: str
    actual: str
    ulps: int | None
    kind: str
    rule: str

    def to_json(self) -> dict[str, Any]:
        """Return the mismatch as plain data."""
        return {**asdict(self), "operands": list(self.operands)}


@dataclass(frozen=True, slots=True)
class PlanReport:
    """Counts of one plan. `cases` is their sum.

    `equal`: same bits (or the same refusal, an overflow). `refused`: the backend declined or
    raised. `nan_bits`: a NaN on both sides, of other bits. `association`: a sum in another order,
    within the error bound of that sum. `departures`: every other difference.
    """

    plan: OperationPlan
    cases: int = 0
    equal: int = 0
    refused: int = 0
    nan_bits: int = 0
    association: int = 0
    departures: int = 0
    reason: str = ""
    first: Mismatch | None = None

    @property
    def verdict(self) -> str:
        """One word for the plan: departs, refused, order, nan or equal."""
        if self.departures:
            return "departs"
        if self.refused == self.cases:
            return "refused"
        if self.association:
            return "order"
        return "nan" if self.nan_bits else "equal"

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "operation": self.plan.operation,
            "plan": plan_json(self.plan),
            "verdict": self.verdict,
            "cases": self.cases,
            "equal": self.equal,
            "refused": self.refused,
            "nan_bits": self.nan_bits,
            "association": self.association,
            "departures": self.departures,
            "reason": self.reason,
            "first": None if self.first is None else self.first.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """The whole run: what was compared with what, and a report for every plan."""

    backend: str
    against: str
    policy: str
    cases: int
    seed: int
    strict: bool
    versions: dict[str, str] = field(hash=False)
    reports: tuple[PlanReport, ...] = ()

    @property
    def departures(self) -> int:
        """Number of cases that depart."""
        return sum(report.departures for report in self.reports)

    def count(self, verdict: str) -> int:
        """Return how many plans have a verdict."""
        return sum(report.verdict == verdict for report in self.reports)

    def to_json(self) -> dict[str, Any]:
        """Return the run as plain data, of the schema it names."""
        return {
            "schema": SCHEMA,
            "backend": self.backend,
            "against": self.against,
            "policy": self.policy,
            "cases_per_plan": self.cases,
            "seed": self.seed,
            "strict": self.strict,
            "versions": self.versions,
            "departures": self.departures,
            "plans": [report.to_json() for report in self.reports],
        }


def plan_json(plan: OperationPlan) -> dict[str, Any]:
    """Return a plan as plain data: dtypes and enum members by name."""
    return {
        "operation": plan.operation,
        "operands": [
            {
                "role": operand.role.value,
                "dtype": None if operand.dtype is None else operand.dtype.name,
                "convert_to": operand.convert_to.name,
            }
            for operand in plan.operands
        ],
        "compute": plan.compute.value,
        "accumulation": None if plan.accumulation is None else plan.accumulation.value,
        "accumulator_dtype": (
            None if plan.accumulator_dtype is None else plan.accumulator_dtype.name
        ),
        "output": plan.output.name,
    }
