"""Plans and policies as text, Markdown and plain data."""

from __future__ import annotations

from bittrue.policy import OperationPlan, Policy

_HEAD = ("operation", "operands", "compute", "accumulation", "accumulator", "output")


def _cells(plan: OperationPlan) -> tuple[str, ...]:
    return (
        plan.operation,
        plan.signature,
        plan.compute.name,
        "-" if plan.accumulation is None else plan.accumulation.name,
        "-" if plan.accumulator_dtype is None else plan.accumulator_dtype.name,
        plan.output.name,
    )


def plan_text(plan: OperationPlan) -> str:
    """Describe one plan, a line a decision."""
    lines = [f"operation    {plan.operation}"]
    for position, operand in enumerate(plan.operands):
        lines.append(f"operand {position}    {operand} ({operand.role.value})")
    labels = ("compute", "accumulation", "accumulator", "output")
    lines += [f"{label:12} {cell}" for label, cell in zip(labels, _cells(plan)[2:], strict=True)]
    return "\n".join(lines)


def plans_text(policy: Policy) -> str:
    """List every plan of a policy as an aligned table."""
    rows = [_HEAD, *map(_cells, policy.plans())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def plans_markdown(policy: Policy) -> str:
    """List every plan of a policy as a Markdown table."""
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_cells, policy.plans())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
