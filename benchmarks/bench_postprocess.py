"""Post-processing of 4096 x 4096 accumulators: against a copy, NumPy and torch.compile.

A copy of the same bytes is the least that any of it can take: an array as large as accumulator and
D together is split in two halves, one copied to the other twice. Data are random, or heavy with
ties, which the fast paths like least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from timing import Budget, Row, Work, together

from bittrue.postprocess import PostProcess, post_process, quant_word, quant_words

SIDE = 4096
CORES = 2


@dataclass(frozen=True, slots=True)
class Case:
    """One mode on one kind of data. `numpy` is the expression that a user would write."""

    name: str
    raw: np.ndarray
    control: PostProcess
    quant: Any
    d: np.ndarray
    numpy: Work | None = None
    torch: Callable[[Any], Work] | None = None

    def ours(self, threads: int) -> Work:
        """Return a call on a number of threads."""
        row_max = np.zeros((SIDE, 1), self.raw.dtype) if self.control.row_max else None
        return lambda: post_process(
            self.raw, self.control, self.quant, d_out=self.d, row_max_out=row_max, threads=threads
        )


def copied(amount: int) -> Work:
    """Return a copy that reads and writes `amount` bytes altogether."""
    source = np.ones(amount // 2, np.uint8)
    target = np.empty_like(source)
    return lambda: np.copyto(target, source)


def requantized(raw: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> Work:
    """Scale, round, add and clamp as NumPy code does it."""
    return lambda: np.clip(np.rint(raw * scale) + offset, -128, 127).astype(np.int8)


def compiled(raw: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> Callable[[Any], Work]:
    """Do the same in torch.compile, warmed up."""

    def build(torch: Any) -> Work:
        tensors = [torch.from_numpy(x) for x in (raw, scale, offset)]

        def body(x: Any, s: Any, o: Any) -> Any:
            return torch.clamp(torch.round(x * s) + o, -128, 127).to(torch.int8)

        fast = torch.compile(body)
        fast(*tensors)
        return lambda: fast(*tensors)

    return build


def cases() -> Iterator[Case]:
    """Yield the cases of the issue."""
    rng = np.random.default_rng(0)
    shape = SIDE, SIDE
    integers = rng.integers(-20000, 20000, shape, dtype=np.int32)
    floats = (rng.standard_normal(shape) * 100).astype(np.float32)
    halves = (rng.integers(-200, 200, shape) + 0.5).astype(np.float32)
    odd = rng.integers(-200, 200, shape, dtype=np.int32)
    int8, uint8 = np.zeros(shape, np.int8), np.zeros(shape, np.uint8)
    scale, offset = 0.00371, 3
    word = quant_word("REQ8", scale, offset, exact=False)
    words = quant_words(
        "VREQ8", rng.uniform(0.001, 0.01, SIDE), rng.integers(-100, 100, SIDE), exact=False
    )
    scales = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    offsets = ((words >> np.uint64(37)).astype(np.int32) ^ 256) - 256
    one, three = np.float32(scale), np.int32(offset)
    req8, vreq8 = PostProcess("REQ8", saturate=True), PostProcess("VREQ8", saturate=True)
    yield Case(
        "REQ8", integers, req8, word, int8,
        requantized(integers, one, three),
        compiled(integers, np.full(1, one), np.full(1, three)),
    )  # fmt: skip
    yield Case("REQ8, ties", odd, req8, quant_word("REQ8", 0.5, 3), int8)
    yield Case(
        "VREQ8", integers, vreq8, words, int8,
        requantized(integers, scales, offsets), compiled(integers, scales, offsets),
    )  # fmt: skip
    yield Case("VREQ8, ties", odd, vreq8, quant_words("VREQ8", [0.5] * SIDE, offsets), int8)
    fp8, hif8 = PostProcess("QF322FP8_PRE"), PostProcess("QF322HIF8_PRE")
    try:
        import ml_dtypes  # noqa: PLC0415 - optional

        def to_fp8() -> np.ndarray:
            return (floats * np.float32(0.37)).astype(ml_dtypes.float8_e4m3fn)
    except ModuleNotFoundError:
        to_fp8 = None
    third = quant_word(fp8.pre_quant, 0.37, exact=False)
    yield Case("QF322FP8_PRE", floats, fp8, third, uint8, to_fp8)
    yield Case("QF322FP8_PRE, ties", halves, fp8, quant_word(26, 1), uint8)
    yield Case("QF322HIF8_PRE", floats, hif8, third, uint8)
    yield Case("QF322HIF8_PRE, ties", halves, hif8, quant_word(25, 1), uint8)
    yield Case(
        "NoQuant and RowMax", floats, PostProcess(row_max=True), None, np.zeros_like(floats),
        lambda: (floats.copy(), floats.max(axis=1, keepdims=True)),
    )  # fmt: skip


def bench_modes(budget: Budget) -> Iterator[Row]:
    """Time every case on one thread and on two."""
    try:
        import torch  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        torch = None
    for case in cases():
        copy = copied(case.raw.nbytes + case.d.nbytes)
        for threads in (1, CORES):
            ours, theirs = together(budget, case.ours(threads), copy)
            name = f"{case.name}, {threads} thread{'s' if threads > 1 else ''}"
            yield Row("post-process", name, ours, "copy of the bytes", theirs)
            if torch is not None and case.torch is not None:
                torch.set_num_threads(threads)
                ours, theirs = together(budget, case.ours(threads), case.torch(torch))
                yield Row("post-process", name, ours, "torch.compile", theirs)
        if case.numpy is not None:
            ours, theirs = together(budget, case.ours(1), case.numpy)
            yield Row("post-process", f"{case.name}, 1 thread", ours, "NumPy", theirs)


BENCHMARKS = (bench_modes,)
