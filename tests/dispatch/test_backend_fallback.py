"""A backend that declines a plan changes who computes it, and nothing of the result.

Requirement: tensor-promotion, *Tensor-Tensor Promotion* (a provider decline may select another
backend, but does not silently narrow or widen the result); promotion.md 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bittrue.conformance.trials import trials
from bittrue.dispatch import Call, execute, prepare
from bittrue.errors import RangeError, UnsupportedError
from bittrue.policy import DEFAULT, OperationPlan
from bittrue.providers import Decline, backend_of

PLANS = DEFAULT.plans()


class Declining:
    """Declines every plan and remembers which it was offered."""

    name = "declining"

    def __init__(self) -> None:
        self.offered: list[OperationPlan] = []

    def accepts(self, plan: OperationPlan, *_rest: Any) -> Decline:
        self.offered.append(plan)
        return Decline("it declines")

    def execute(self, *_arguments: Any) -> Any:
        raise AssertionError


def first_call(plan: OperationPlan) -> Call:
    """Return a call that selects `plan` and stays in range."""
    for trial in trials(plan, DEFAULT, np.random.default_rng(3), 24):
        choice = plan.accumulator_dtype if len(DEFAULT.accumulator_variants(plan)) > 1 else None
        try:
            call = prepare(
                plan.operation,
                trial.operands,
                trial.attributes,
                policy=DEFAULT,
                accumulator_dtype=choice,
            )
            backend_of("generic").execute(call.plan, call.operands, call.geometry)
        except (RangeError, OverflowError):
            continue
        return call
    # Drawn pairs of Int32 leave it somewhere.
    return prepare(plan.operation, [[1, -2]] * len(plan.operands), {}, policy=DEFAULT)


@pytest.mark.rule("dispatch.fallback")
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_the_next_backend_gives_the_same_dtype_and_bits(plan: OperationPlan) -> None:
    call = first_call(plan)
    assert call.plan == plan
    first = Declining()
    results = [execute(call, (first, backend_of(name))) for name in ("cpu", "generic")] + [
        execute(call, (backend_of("cpu"), first)),
        execute(call, (backend_of("generic"),)),
    ]
    assert first.offered == [plan, plan]
    for result in results:
        assert result.dtype is plan.output
        assert result.shape == results[0].shape
        assert result.elements() == results[0].elements()


@pytest.mark.rule("dispatch.fallback")
def test_without_a_backend_left_the_error_names_the_plan_and_every_reason() -> None:
    call = first_call(DEFAULT.resolve("add", PLANS[0].operands[0].convert_to, 1j))
    with pytest.raises(UnsupportedError, match=r"Complex64.*declining \(it declines\)"):
        execute(call, (Declining(), Declining()))
