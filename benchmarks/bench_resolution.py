"""What resolving a plan costs: cold, cached, beside other libraries, and for operands of any size.

The peers answer a smaller question: `numpy.result_type` and `torch.result_type` give the result
dtype of two operands, no conversions, arithmetic or accumulation, and know no operation.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from timing import Budget, Row, Work, once_each, processes, together

import bittrue
from bittrue import SIMPLE, DType, OperandRole, OperationPlan
from bittrue.tensor import dtype_of_array

F32, I32 = DType.Float32, DType.Int32

CASES: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...]], ...] = (
    # operation    operands     the same operands for result_type
    ("add", (F32, F32), (np.float32, np.float32)),
    ("add", (I32, F32), (np.int32, np.float32)),
    ("mul", (F32, 0.5), (np.float32, 0.5)),
    ("pow", (I32, 3), (np.int32, 3)),
    ("matmul", (F32, I32), (np.float32, np.int32)),
)


def _operands_of(plan: OperationPlan) -> tuple[object, ...]:
    """Return operands that select `plan`: dtypes, and the probe that takes its branch."""
    for probe in SIMPLE.weak_probes:
        operands = tuple(
            operand.dtype if operand.role is OperandRole.TENSOR else probe
            for operand in plan.operands
        )
        try:
            found = SIMPLE.resolve(plan.operation, *operands)
        except (TypeError, OverflowError):
            continue
        if replace(found, accumulator_dtype=plan.accumulator_dtype) == plan:
            return operands
    raise AssertionError(plan)


def cold(budget: Budget) -> Iterator[Row]:
    """Resolve on a policy that has resolved nothing yet: every look-up misses its cache."""
    calls = [(plan.operation, _operands_of(plan)) for plan in SIMPLE.plans()]

    def every() -> Work:
        fresh = replace(SIMPLE)
        return lambda: [fresh.resolve(name, *operands) for name, operands in calls]

    yield Row("cold", f"mean of the {len(calls)} plans", once_each(budget, every, len(calls)))
    for name, operands, _ in CASES:

        def one(name: str = name, operands: tuple[Any, ...] = operands) -> Work:
            return partial(replace(SIMPLE).resolve, name, *operands)

        yield Row("cold", _label(name, operands), once_each(budget, one, 1))


def _label(name: str, operands: tuple[Any, ...]) -> str:
    return f"{name}({', '.join(map(str, operands))})"


def cached(budget: Budget) -> Iterator[Row]:
    """Resolve again, beside the result-type functions of NumPy and PyTorch on the same operands."""
    for name, operands, numpy_operands in CASES:
        resolve = partial(bittrue.resolve_operation_plan, name, *operands)
        peers = {"numpy.result_type": partial(np.result_type, *numpy_operands)}
        torch_peer = _torch_result_type(numpy_operands)
        if torch_peer is not None:
            peers["torch.result_type"] = torch_peer
        ours, *theirs = together(budget, resolve, *peers.values())
        for peer_name, peer in zip(peers, theirs, strict=True):
            yield Row("cached", _label(name, operands), ours, peer_name, peer)
        if torch_peer is None:
            absent = "torch is not installed"
            yield Row("cached", _label(name, operands), ours, "torch.result_type", note=absent)


def _torch_result_type(operands: tuple[Any, ...]) -> Work | None:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # noqa: PLC0415 - optional, and slow to import

    dtypes = {np.float32: torch.float32, np.int32: torch.int32}
    given = [
        torch.zeros(1, dtype=dtypes[operand]) if operand in dtypes else operand
        for operand in operands
    ]
    return partial(torch.result_type, *given)


def reads_nothing(budget: Budget) -> Iterator[Row]:
    """Resolve for one element and for 10^8 zeros, which take no memory until they are read."""
    small, large = np.zeros(1, np.float32), np.zeros(10**8, np.float32)

    def resolve(array: Any) -> OperationPlan:
        dtype = dtype_of_array(array)
        return bittrue.resolve_operation_plan("add", dtype, dtype)

    ours, peer = together(budget, partial(resolve, large), partial(resolve, small))
    yield Row("reads nothing", "add of two arrays of 10^8 elements", ours, "of 1 element", peer)


def import_time(budget: Budget) -> Iterator[Row]:
    """Import in a fresh process, the start of the interpreter included."""
    ours, peer, bare = processes(budget, "import bittrue", "import numpy", "pass")
    yield Row("import", "import bittrue", ours, "import numpy", peer)
    yield Row("import", "import bittrue", ours, "no import", bare)


BENCHMARKS = (cold, cached, reads_nothing, import_time)
