"""Every plan of the policy, on the CPU, under callers and schedules that must not show."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bittrue.conformance.trials import trials
from bittrue.cpu import _native
from bittrue.dispatch import Call, prepare
from bittrue.policy import DEFAULT, OperationPlan
from bittrue.providers import WeakScalar
from bittrue.providers.cpu import CpuBackend
from bittrue.providers.generic import GenericBackend
from bittrue.tensor import Buffer

LEVELS = ("baseline", "v3", "v4")
FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO = 0x800, 0x400, 0xC00  # of x86
C = ctypes.CDLL(None)
PLANS = DEFAULT.plans()
CASES = 40


def identifier(plan: OperationPlan) -> str:
    operands = [operand.dtype.name if operand.dtype else "scalar" for operand in plan.operands]
    accumulator = [] if plan.accumulator_dtype is None else [plan.accumulator_dtype.name]
    return "-".join([plan.operation, *operands, *accumulator])


@contextmanager
def hostile_caller(rounding: int) -> Iterator[None]:
    """Round in a direction, flush subnormal results and read subnormals as zeros."""
    assert C.fesetround(rounding) == 0
    _native.set_flush_to_zero(True)
    try:
        yield
        assert C.fegetround() == rounding
        assert _native.set_flush_to_zero(False)
    finally:
        _native.set_flush_to_zero(False)
        C.fesetround(0)


@contextmanager
def at_level(name: str) -> Iterator[bool]:
    """Choose an instruction level; false where the machine lacks it."""
    try:
        _native.set_level(name)
    except ValueError:
        yield False
        return
    try:
        yield True
    finally:
        _native.set_level("")


def calls_of(plan: OperationPlan) -> list[Call]:
    rng = np.random.default_rng(zlib.crc32(identifier(plan).encode()))
    chooses = len(DEFAULT.accumulator_variants(plan)) > 1
    found = []
    for trial in trials(plan, DEFAULT, rng, CASES):
        try:
            call = prepare(
                plan.operation,
                trial.operands,
                dict(trial.attributes),
                policy=DEFAULT,
                accumulator_dtype=plan.accumulator_dtype if chooses else None,
            )
        except OverflowError:
            continue  # a weak scalar that its dtype cannot hold reaches no backend
        assert call.plan == plan
        found.append(call)
    assert found
    return found


def outcome(backend: Any, call: Call) -> Any:
    """Return shape, dtype and bits of the result, or the text of the refusal."""
    try:
        result = backend.execute(call.plan, call.operands, call.geometry)
    except OverflowError as error:
        return str(error)
    return result.shape, result.dtype, result.bits().tobytes()


def off_alignment(buffer: Buffer) -> Buffer:
    """Return the same elements a byte off their alignment, every axis reversed in memory."""
    array = buffer.array
    reverse = (slice(None, None, -1),) * array.ndim
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    memory[reverse] = array
    return Buffer(buffer.dtype, memory[reverse])


def moved(call: Call) -> Call:
    operands = tuple(
        operand if isinstance(operand, WeakScalar) else off_alignment(operand)
        for operand in call.operands
    )
    return replace(call, operands=operands)


@pytest.mark.parametrize("plan", PLANS, ids=identifier)
def test_callers_threads_levels_and_layout_change_no_bit_of_any_plan(plan: OperationPlan) -> None:
    """Nor does a call change the caller's rounding mode, flush-to-zero or denormals-are-zero."""
    generic = GenericBackend()
    for call in calls_of(plan):
        expected, elsewhere = outcome(generic, call), moved(call)
        for level in LEVELS:
            with at_level(level) as present:
                if not present:
                    continue
                for threads, rounding in ((1, FE_UPWARD), (3, FE_DOWNWARD), (2, FE_TOWARDZERO)):
                    backend = CpuBackend(threads)
                    with hostile_caller(rounding):
                        found = outcome(backend, call), outcome(backend, elsewhere)
                    assert found == (expected, expected), (level, threads)
