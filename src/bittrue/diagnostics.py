"""What an operation did: reports, and the block that collects them.

Belongs here: the records of tensor-promotion, *Diagnostics and Tests*, and how a log prints. Never
here: a decision about a dtype or a backend. Tensors carry no history, and collecting changes no
bit: a report is made from the plan and the operands after the call, or without it (`explain`).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from bittrue._records import spelled
from bittrue.dtypes import SimpleDType
from bittrue.geometry import Contraction, Geometry, InnerProduct, Reduction, reduced_extent
from bittrue.policy import Accumulation, OperationPlan
from bittrue.providers import Backend, Operand, ReportsCopies, WeakScalar
from bittrue.scalars import convert_scalar

DEVICE = "cpu"
"""Every tensor lies in the memory of the host."""

ASCENDING, LANES = "ascending", "lanes"

ASSOCIATIONS: tuple[tuple[Accumulation, str, str], ...] = (
    (Accumulation.FLOATING, "matmul", ASCENDING),
    (Accumulation.FLOATING, "", LANES),
)
"""Accumulation, operation (empty: every other one) and the order of its additions."""

_UNORDERED = {
    Accumulation.EXACT_INTEGER,
    Accumulation.MAXIMUM,
    Accumulation.MINIMUM,
    Accumulation.ARGMAX,
    Accumulation.ARGMIN,
}
"""Results that depend on no order of the combinations."""


def association_of(plan: OperationPlan) -> str | None:
    """Return the order in which a plan combines terms, None where none shows in the result."""
    if plan.accumulation is None or plan.accumulation in _UNORDERED:
        return None
    for accumulation, operation, order in ASSOCIATIONS:
        if plan.accumulation is accumulation and operation in ("", plan.operation):
            return order
    # Every other accumulation names its order: sequential.
    return ASCENDING


@dataclass(frozen=True, slots=True)
class Conversion:
    """One operand read in another dtype.

    `operand` is its position, `materialised` tells that a converted copy was allocated, `elements`
    counts them. Without a copy each element converts as it is read.
    """

    operand: int
    source: SimpleDType
    target: SimpleDType
    materialised: bool
    elements: int


@dataclass(frozen=True, slots=True)
class OperationReport:
    """What one operation did, or would do.

    `input_dtypes` are those of the tensor operands and `weak_scalars` the Python numbers, each with
    its position; `declined` the backends that refused before `backend` took the call, with their
    reasons; `working_dtype` the dtype of the terms where it differs from the inputs'. `in_place`
    and `overlap_copy` tell that an operand was overwritten, and that another one shared memory with
    it. `scalar_inexact` and `scalar_overflow` tell that the conversion of a weak scalar rounded,
    and that it made a finite value infinite. Clause: tensor-promotion, *Diagnostics and Tests*.
    """

    operation: str
    policy: str
    input_dtypes: tuple[SimpleDType, ...]
    weak_scalars: tuple[tuple[int, object], ...]
    output_dtype: SimpleDType
    compute: Enum | None
    accumulation: Enum | None
    accumulator_dtype: SimpleDType | None
    association: str | None
    working_dtype: SimpleDType | None
    backend: str
    device: str
    declined: tuple[tuple[str, str], ...]
    conversions: tuple[Conversion, ...]
    in_place: bool
    overlap_copy: bool
    empty_input: bool
    scalar_inexact: bool
    scalar_overflow: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values: names of dtypes and members, numbers as text."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(self.as_dict(), indent=2)

    def __str__(self) -> str:
        return table_of([self])


@dataclass(frozen=True, slots=True)
class AlgorithmReport:
    """What an algorithm of several operations did, and in which dtypes.

    `matvec_dtype` is the dtype of the matrix-vector products as applied, `projected_matrix_dtype`
    that of the small problem; `conversions` names each value that changed dtype, from what to what
    and how often; `operations` are the reports of the tensor operations. Clause: tensor-promotion,
    *Algorithmic Working Precision*.
    """

    algorithm: str
    input_dtype: SimpleDType
    matvec_dtype: SimpleDType
    projected_matrix_dtype: SimpleDType
    inner_product_accumulator: SimpleDType
    orthogonalisation_dtype: SimpleDType
    error_estimate_dtype: SimpleDType
    output_dtype: SimpleDType
    conversions: tuple[tuple[str, str, int], ...]
    steps: int
    converged: bool
    operations: tuple[OperationReport, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as `OperationReport.as_dict` does."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(self.as_dict(), indent=2)

    def __str__(self) -> str:
        rows = [
            (field.name, _cell(getattr(self, field.name)))
            for field in fields(self)
            if field.name != "operations"
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:{width}}  {text}" for name, text in rows]
        return "\n".join([*lines, f"{'operations':{width}}  {len(self.operations)}"])


class Log(Sequence[OperationReport]):
    """The reports of a block, oldest first. ``print(log)`` shows them as a table."""

    def __init__(self) -> None:
        self._reports: list[OperationReport] = []

    def add(self, report: OperationReport) -> None:
        """Append a report."""
        self._reports.append(report)

    def __len__(self) -> int:
        return len(self._reports)

    def __getitem__(self, index: Any) -> Any:
        return self._reports[index]

    def json(self) -> str:
        """Return the reports as a JSON array."""
        return json.dumps([report.as_dict() for report in self._reports], indent=2)

    def __str__(self) -> str:
        return table_of(self._reports)


_logs: ContextVar[tuple[Log, ...]] = ContextVar("logs of the blocks around", default=())


@contextlib.contextmanager
def record() -> Iterator[Log]:
    """Collect a report of every operation that runs inside the block, in this thread.

    A block inside another one is seen by both. An operation that raises leaves no report. No result
    changes by a bit. Clause: tensor-promotion, *Diagnostics and Tests*.
    """
    log = Log()
    token = _logs.set((*_logs.get(), log))
    try:
        yield log
    finally:
        _logs.reset(token)


def open_logs() -> tuple[Log, ...]:
    """Return the logs that a report goes to; empty outside every `record` block."""
    return _logs.get()


# --- reports ------------------------------------------------------------------------------------


def report_of(
    plan: OperationPlan,
    operands: Sequence[Operand],
    geometry: Geometry,
    policy: str,
    backend: Backend,
    declined: tuple[tuple[str, str], ...],
    *,
    in_place: bool = False,
    overlap_copy: bool = False,
) -> OperationReport:
    """Describe a call that `backend` takes."""
    pairs = list(enumerate(zip(plan.operands, operands, strict=True)))
    weak = [
        (i, operand, convert_scalar(operand.value, planned.convert_to))
        for i, (planned, operand) in pairs
        if isinstance(operand, WeakScalar)
    ]
    copies = isinstance(backend, ReportsCopies) and backend.materialises(plan)
    return OperationReport(
        plan.operation,
        policy,
        tuple(planned.dtype for planned in plan.operands if planned.dtype is not None),
        tuple((i, operand.value) for i, operand, _ in weak),
        plan.output,
        plan.compute,
        plan.accumulation,
        plan.accumulator_dtype,
        association_of(plan),
        _working_dtype(plan),
        backend.name,
        DEVICE,
        declined,
        tuple(
            Conversion(i, planned.dtype, planned.convert_to, copies, operand.array.size)
            for i, (planned, operand) in pairs
            if not isinstance(operand, WeakScalar)
            and planned.dtype is not None
            and planned.dtype is not planned.convert_to
        ),
        in_place,
        overlap_copy,
        _is_empty(operands, geometry),
        any(conversion.inexact for _, _, conversion in weak),
        any(conversion.overflow for _, _, conversion in weak),
    )


def _working_dtype(plan: OperationPlan) -> SimpleDType | None:
    """Return the dtype of the terms of a reduction where it is not that of its input."""
    (first, *others) = plan.operands
    if plan.accumulation is None or others or first.dtype is first.convert_to:
        return None
    return first.convert_to


def cast_report(
    source: SimpleDType, target: SimpleDType, elements: int, *, in_place: bool = False
) -> OperationReport:
    """Describe a conversion of a whole tensor, which no policy row stands behind."""
    return OperationReport(
        "cast", "", (source,), (), target, None, None, None, None, None, "", DEVICE, (),
        (Conversion(0, source, target, True, elements),),  # noqa: FBT003 - a column of the record
        in_place, False, False, False, False,  # noqa: FBT003
    )  # fmt: skip


def _is_empty(operands: Sequence[Operand], geometry: Geometry) -> bool:
    """Tell whether a result combines no term at all."""
    if isinstance(geometry, Contraction | InnerProduct):
        return geometry.k == 0
    if isinstance(geometry, Reduction):
        (operand,) = operands
        return not isinstance(operand, WeakScalar) and not reduced_extent(
            operand.shape, geometry.axes
        )
    return False


# --- printing -----------------------------------------------------------------------------------


def _plain(value: object) -> Any:
    """Return a field as JSON has it: names for dtypes and enum members, text for numbers."""
    if isinstance(value, SimpleDType):
        return value.name
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Conversion | OperationReport):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**53) < value < 2**53:
        return value
    # Infinities, NaN, complex numbers and integers of any length are no JSON numbers.
    return spelled(value)


def _cell(value: object) -> str:
    plain = _plain(value)
    if plain is None:
        return "-"
    if isinstance(plain, list):
        return ", ".join(map(_cell, value)) if isinstance(value, tuple) and value else "-"
    if isinstance(value, Conversion):
        copied = "copied" if value.materialised else "as read"
        return f"{value.operand}: {value.source.name}->{value.target.name} {copied}"
    return str(plain)


def _scalars(report: OperationReport) -> str:
    return ", ".join(f"{i}: {spelled(value)}" for i, value in report.weak_scalars) or "-"


def _notes(report: OperationReport) -> str:
    flags = ("in_place", "overlap_copy", "empty_input", "scalar_inexact", "scalar_overflow")
    notes = [name for name in flags if getattr(report, name)]
    notes += [f"{name} declined: {reason}" for name, reason in report.declined]
    return ", ".join(notes) or "-"


def _accumulator(report: OperationReport) -> str:
    dtype = report.accumulator_dtype
    if dtype is None and report.association is None:
        return "-"
    return " ".join(filter(None, (dtype.name if dtype else "", report.association)))


COLUMNS = (
    ("operation", lambda r: r.operation),
    ("inputs", lambda r: _cell(r.input_dtypes)),
    ("scalars", _scalars),
    ("output", lambda r: r.output_dtype.name),
    ("compute", lambda r: _cell(r.compute)),
    ("accumulator", _accumulator),
    ("working", lambda r: _cell(r.working_dtype)),
    ("backend", lambda r: f"{r.backend or '-'}/{r.device}"),
    ("conversions", lambda r: _cell(r.conversions)),
    ("notes", _notes),
)
"""Heading of each column of a printed log, and its text for one report."""


def table_of(reports: Sequence[OperationReport]) -> str:
    """Return reports as a table of aligned columns; a column with nothing to say is left out."""
    cells = [[text(report) for _, text in COLUMNS] for report in reports]
    shown = [
        i
        for i, (name, _) in enumerate(COLUMNS)
        if name in ("operation", "inputs", "output", "backend")
        or any(row[i] != "-" for row in cells)
    ]
    rows = [[COLUMNS[i][0] for i in shown], *([row[i] for i in shown] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
