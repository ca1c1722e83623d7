"""The typed rows of `real_complex_rows.txt`, read and spelled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bittrue.dtypes import SimpleDType
from bittrue.policy import OperandRole, OperationPlan

SHORT = {
    "F32": "Float32",
    "F64": "Float64",
    "C64": "Complex64",
    "C128": "Complex128",
    "RX": "RealExtended",
    "CX": "ComplexExtended",
    "I32": "Int32",
    "Bool": "Bool",
}
EXTENDED = frozenset({"RX", "CX"})
SCALARS: dict[str, tuple[object, ...]] = {
    "R": (0, 3, -1, 2**31, -(2**31) - 1, 2**100, 0.5, float("nan"), True),
    "J": (1j, 0j, complex(2, 0)),
}
"""Values of either kind of weak scalar; what they are worth takes no part."""

_SPELLED = {name: short for short, name in SHORT.items()}


@dataclass(frozen=True)
class Line:
    """One typed line, or one plan written like it; `converted` is empty in a refusal."""

    operation: str
    operands: tuple[str, ...]
    converted: tuple[str, ...] = ()
    compute: str = ""
    accumulation: str = ""
    accumulators: tuple[str, ...] = ()
    output: str = ""

    @property
    def extended(self) -> bool:
        """Whether the line needs the extended pair."""
        return not EXTENDED.isdisjoint(self.operands)


def _read() -> list[Line]:
    lines, operations = [], ""
    for text in Path(__file__).with_name("real_complex_rows.txt").read_text("utf-8").splitlines():
        if text.startswith("["):
            operations = text.strip("[]")
        elif text and not text.startswith("#"):
            operands, converted, *rest = (cell.split() for cell in text.split("|"))
            for name in operations.split():
                if converted == ["refused"]:
                    lines.append(Line(name, tuple(operands)))
                else:
                    (compute,), (accumulation,), accumulators, (output,) = rest
                    taken = () if accumulators == ["-"] else tuple(accumulators)
                    lines.append(
                        Line(name, tuple(operands), tuple(converted), compute, accumulation, taken,
                             output)
                    )  # fmt: skip
    return lines


LINES: list[Line] = _read()


def dtype_of(short: str) -> SimpleDType:
    """Return the descriptor that a short name stands for."""
    return SimpleDType.from_name(SHORT[short])


def spelled(plan: OperationPlan) -> str:
    """Write a plan in short names; the kind of a weak scalar shows in what it converts to."""
    operands = ", ".join(
        ("S" if operand.role is OperandRole.WEAK_SCALAR else _SPELLED[str(operand.dtype.name)])  # type: ignore[union-attr]
        + ">"
        + _SPELLED[operand.convert_to.name]
        for operand in plan.operands
    )
    accumulation = "-" if plan.accumulation is None else plan.accumulation.name
    accumulator = "-" if plan.accumulator_dtype is None else _SPELLED[plan.accumulator_dtype.name]
    return (
        f"{plan.operation}({operands}) {plan.compute.name} {accumulation} {accumulator} "
        f"{_SPELLED[plan.output.name]}"
    )


def variants(line: Line) -> list[str]:
    """Write the plans of a line, one for each accumulator, as `spelled` does."""
    operands = ", ".join(
        f"{'S' if source in SCALARS else source}>{target}"
        for source, target in zip(line.operands, line.converted, strict=True)
    )
    return [
        f"{line.operation}({operands}) {line.compute} {line.accumulation} {accumulator} "
        f"{line.output}"
        for accumulator in line.accumulators or ("-",)
    ]
