"""`bittrue plan` and `bittrue plans`: what an operation will do, without running it."""

from __future__ import annotations

import argparse
from typing import Any

from bittrue.cli.common import POLICIES, STDOUT, dtype_named, emit, emit_json, number
from bittrue.conformance.records import plan_json
from bittrue.dtypes import DType
from bittrue.report import plans as text


def add(commands: Any) -> None:
    """Add both commands."""
    one = commands.add_parser("plan", help="show the plan of one operation")
    one.add_argument("operation", metavar="OP")
    one.add_argument(
        "operands",
        nargs="*",
        metavar="DTYPE",
        help="a dtype name (Float32, Complex64, ...) for a tensor, a number for a weak scalar",
    )
    one.add_argument("--accumulator", metavar="DTYPE", help="accumulator of a sum")
    one.add_argument("--working", metavar="DTYPE", help="wider dtype of the terms of norm")
    one.add_argument("--policy", choices=POLICIES, default="default")
    one.add_argument("--json", action="store_true", help="print the plan as JSON")
    one.set_defaults(execute=show_plan)

    every = commands.add_parser("plans", help="list every plan of the policy")
    every.add_argument("--policy", choices=POLICIES, default="default")
    form = every.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the plans as JSON")
    form.add_argument("--markdown", action="store_true", help="print a Markdown table")
    every.set_defaults(execute=list_plans)


def _operand(text: str) -> object:
    value = number(text)
    return DType.from_name(text) if value is None else value


def show_plan(options: argparse.Namespace) -> int:
    """Resolve one plan and print it."""
    plan = POLICIES[options.policy].resolve(
        options.operation,
        *map(_operand, options.operands),
        accumulator_dtype=dtype_named(options.accumulator),
        working_dtype=dtype_named(options.working),
    )
    if options.json:
        emit_json(STDOUT, plan_json(plan))
    else:
        emit(STDOUT, text.plan_text(plan))
    return 0


def list_plans(options: argparse.Namespace) -> int:
    """Print every plan of a policy."""
    policy = POLICIES[options.policy]
    if options.json:
        emit_json(STDOUT, [plan_json(plan) for plan in policy.plans()])
    else:
        emit(STDOUT, (text.plans_markdown if options.markdown else text.plans_text)(policy))
    return 0
