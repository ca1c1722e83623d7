"""What the operations cost, beside NumPy, PyTorch, a copy, and the arithmetic limit of the machine.

One thread each, but for the last group. Both sides allocate their results, except beside the copy,
where both write into arrays that exist. The limit of products is the rate of binary32
multiplications and additions in registers that are not fused: a product that is rounded before it
is added cannot go faster. NumPy and PyTorch multiply in their BLAS, whose order is its own; sgemm
is that of NumPy. Ratios are times: below 1 is faster than the peer.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from timing import QUICK, Budget, Row, Work, processes, together

import bittrue
from bittrue import DType, cpu
from bittrue.cpu import _native
from bittrue.cpu.operations import CODES
from bittrue.providers.cpu import CpuBackend

LEVELS = ("v4", "v3")
LARGE = 1 << 26
MIDDLE = 1 << 24
CACHED = 1 << 16

Peers = dict[str, Work]


def _random(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def _levels() -> Iterator[str]:
    best = cpu.level()
    for level in LEVELS:
        try:
            cpu.set_level(level)
        except ValueError:
            continue
        yield level
    cpu.set_level(best)


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # noqa: PLC0415 - optional, and slow to import

    torch.set_num_threads(1)
    return torch


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep the BLAS of NumPy to one thread, which it must be asked for by threadpoolctl."""
    if importlib.util.find_spec("threadpoolctl") is None:
        yield
        return
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - optional

    with threadpool_limits(1):
        yield


def _ours(operation: str, *operands: Any, threads: int = 1, **attributes: Any) -> Work:
    return partial(bittrue.run, operation, *operands, backend=CpuBackend(threads), **attributes)


def _rows(budget: Budget, group: str, name: str, ours: Work, peers: Peers) -> Iterator[Row]:
    """Compare `ours` at every instruction level with every peer."""
    with _one_thread():
        for level in _levels():
            mine, *theirs = together(budget, ours, *peers.values())
            label = f"{name}, {level}"
            for peer_name, peer in zip(peers, theirs, strict=True):
                yield Row(group, label, mine, peer_name, peer)
            if not peers:
                yield Row(group, label, mine)
        if _torch() is None:
            yield Row(group, name, mine, "torch", note="torch is not installed")


def _heavy(budget: Budget) -> Budget:
    """Return a budget for calls that take a second."""
    return Budget(min(budget.repeats, QUICK.repeats), budget.least_ns)


# --- elementwise --------------------------------------------------------------------------------


def elementwise(budget: Budget) -> Iterator[Row]:
    """Operations that memory limits, results in arrays that exist."""
    budget = _heavy(budget)
    for count, size in ((LARGE, "64 M"), (1 << 12, "4 K")):
        x, y, out = _random(count), _random(count), np.empty(count, np.float32)
        torch = _torch()
        for name, peer in (("add", np.add), ("mul", np.multiply), ("div", np.divide),
                           ("maximum", np.maximum)):  # fmt: skip
            peers: Peers = {f"numpy.{name}": partial(peer, x, y, out=out)}
            if torch is not None:
                tensors = [torch.from_numpy(array) for array in (x, y)]
                function = {"maximum": torch.maximum}.get(name) or getattr(torch, name)
                peers["torch"] = partial(function, *tensors, out=torch.from_numpy(out))
            if size == "64 M":
                peers["copy of as many bytes"] = _copy(12 * count)
            ours = partial(_native.elementwise, CODES[name], (x, y), out, 1)
            yield from _rows(budget, f"elementwise, {size}", name, ours, peers)


def _copy(amount: int) -> Work:
    """Return a copy that reads and writes `amount` bytes altogether."""
    source = np.ones(amount // 2, np.uint8)
    return partial(np.copyto, np.empty_like(source), source)


# --- sums ---------------------------------------------------------------------------------------

SUMS: tuple[tuple[tuple[int, ...], int], ...] = (
    ((LARGE,), 0),
    ((8192, 8192), 1),
    ((8192, 8192), 0),
    ((65536, 1024), 0),
    ((1 << 20, 64), 0),
    ((64, 1 << 20), 0),
)
"""Shapes of 64 M elements, and the axis."""


def sums(budget: Budget) -> Iterator[Row]:
    """Time sums over contiguous and strided axes, in memory and in cache."""
    heavy = _heavy(budget)
    for shape, axis in SUMS:
        x = _random(*shape)
        name = f"{'x'.join(map(str, shape))} over axis {axis}"
        yield from _sum_rows(heavy, "sum, 64 M", name, x, axis)
    yield from _sum_rows(budget, "sum, 64 K", "65536", _random(CACHED), 0)
    yield from _sum_rows(budget, "sum, 64 K", "256x256 over axis 0", _random(256, 256), 0)


def _sum_rows(budget: Budget, group: str, name: str, x: Any, axis: int) -> Iterator[Row]:
    peers: Peers = {"numpy.sum": partial(np.sum, x, axis=axis)}
    torch = _torch()
    if torch is not None:
        peers["torch"] = partial(torch.sum, torch.from_numpy(x), dim=axis)
    yield from _rows(budget, group, name, _ours("reduce_sum", x, axis=axis), peers)


# --- products -----------------------------------------------------------------------------------

PRODUCTS = ((1024, 1024, 1024), (2048, 2048, 2048), (1024, 8192, 1024))
"""n, k, m."""


def _limit(operations: int) -> Work:
    """Return as many multiplications and additions in registers."""
    for_one = _native.arithmetic(1)
    return partial(_native.arithmetic, operations // for_one)


def products(budget: Budget) -> Iterator[Row]:
    """Matrix products with either accumulator, and exact ones."""
    budget = _heavy(budget)
    rng = np.random.default_rng(2)
    for n, k, m in PRODUCTS:
        a, b = _random(n, k), _random(k, m)
        peers: Peers = {"numpy sgemm": partial(np.matmul, a, b)}
        torch = _torch()
        limits: Peers = {}
        if torch is not None:
            limits["torch"] = partial(torch.matmul, torch.from_numpy(a), torch.from_numpy(b))
        name = f"{n}x{k}x{m}"
        yield from _products_at(budget, f"{name}, Float32", a, b, {**peers, **limits})
        wide = {"accumulator_dtype": DType.Float64}
        yield from _products_at(budget, f"{name}, in Float64", a, b, peers, **wide)
        for label, limit in (("Int32 to 100", 100), ("Int32 to 2^20", 1 << 20)):
            i, j = (rng.integers(-limit, limit, s, np.int32) for s in ((n, k), (k, m)))
            with contextlib.suppress(OverflowError):
                yield from _products_at(budget, f"{name}, {label}", i, j, peers)
        i, j = _cancelling(n, k, m)
        yield from _products_at(budget, f"{name}, Int32, full range", i, j, peers)


def _cancelling(n: int, k: int, m: int) -> tuple[Any, Any]:
    """Return operands over the full range of Int32 whose product stays in it."""
    rng = np.random.default_rng(3)
    half = rng.integers(-(2**31), 2**31, (n, k // 2), np.int32)
    twice = np.repeat(rng.integers(-(2**31) + 1, 2**31, (k // 2, m), np.int32), 2, axis=0)
    twice[1::2] *= -1
    return np.repeat(half, 2, axis=1), twice


def _products_at(
    budget: Budget, name: str, a: Any, b: Any, peers: Peers, **attributes: Any
) -> Iterator[Row]:
    operations = 2 * a.shape[0] * a.shape[1] * b.shape[1]
    with _one_thread():
        for level in _levels():
            works = {**peers}
            if "Float32" in name:
                works["unfused limit"] = _limit(operations)
            mine, *theirs = together(budget, _ours("matmul", a, b, **attributes), *works.values())
            for peer_name, peer in zip(works, theirs, strict=True):
                yield Row("matmul", f"{name}, {level}", mine, peer_name, peer)


def convolutions(budget: Budget) -> Iterator[Row]:
    """Convolve one image of 56 x 56 with 64 features, 3 x 3."""
    x, kernel = _random(1, 64, 56, 56), _random(64, 64, 3, 3)
    ours = _ours("conv_general", x, kernel, strides=(1, 1), padding=((1, 1), (1, 1)))
    torch = _torch()
    for level in _levels():
        works = {"unfused limit": _limit(2 * 64 * 64 * 9 * 56 * 56)}
        if torch is not None:
            works["torch"] = partial(
                torch.nn.functional.conv2d, *map(torch.from_numpy, (x, kernel)), padding=1
            )
        mine, *theirs = together(budget, ours, *works.values())
        for peer_name, peer in zip(works, theirs, strict=True):
            yield Row("conv", f"3x3 on 56x56x64x64, {level}", mine, peer_name, peer)


# --- order, indices, scans ----------------------------------------------------------------------


def ordering(budget: Budget) -> Iterator[Row]:
    """Sort 16 M values, their positions, many short lines, and the greatest few."""
    budget = _heavy(budget)
    x = _random(MIDDLE)
    rows = x.reshape(-1, 1024)
    torch = _torch()
    stable = partial(np.argsort, kind="stable")
    cases: tuple[tuple[str, Work, str, Callable[..., Any], Any], ...] = (
        ("values", _ours("_sort_values", x), "numpy.sort", np.sort, x),
        ("values, 1024 a line", _ours("_sort_values", rows), "numpy.sort", np.sort, rows),
        ("positions", _ours("_sort_indices", x), "numpy.argsort, stable", stable, x),
        ("positions, 1024 a line", _ours("_sort_indices", rows), "numpy.argsort, stable", stable,
         rows),
        ("greatest 100", _ours("_topk_values", x, k=100), "numpy.partition",
         lambda array: np.partition(array, -100)[-100:], x),
        ("greatest 10 a line", _ours("_topk_values", rows, k=10), "numpy.partition",
         lambda array: np.partition(array, -10)[:, -10:], rows),
    )  # fmt: skip
    for name, ours, peer_name, peer, operand in cases:
        peers: Peers = {peer_name: partial(peer, operand)}
        if torch is not None:
            tensor = torch.from_numpy(operand)
            if name.startswith("greatest"):
                peers["torch"] = partial(torch.topk, tensor, 100 if operand is x else 10)
            else:
                peers["torch"] = partial(torch.sort, tensor, stable=True)
        yield from _rows(budget, "sort, 16 M", name, ours, peers)


def indexing(budget: Budget) -> Iterator[Row]:
    """Add 16 M updates into 64 K elements, and gather as many from them."""
    budget = _heavy(budget)
    base, updates = _random(CACHED), _random(MIDDLE)
    indices = np.random.default_rng(4).integers(0, CACHED, MIDDLE, np.int32)
    torch = _torch()

    def numpy_scatter() -> Any:
        out = base.copy()
        np.add.at(out, indices, updates)
        return out

    peers: Peers = {"numpy.add.at": numpy_scatter}
    taken: Peers = {"numpy.take": partial(np.take, base, indices)}
    if torch is not None:
        long = torch.from_numpy(indices).long()
        tensor = torch.from_numpy(base)
        peers["torch"] = partial(tensor.scatter_add, 0, long, torch.from_numpy(updates))
        taken["torch"] = partial(tensor.gather, 0, long)
    ours = _ours("scatter_add", base, indices, updates, axis=0)
    yield from _rows(budget, "indexing, 16 M", "scatter_add into 64 K", ours, peers)
    ours = _ours("gather", base, indices, axis=0)
    yield from _rows(budget, "indexing, 16 M", "gather from 64 K", ours, taken)


def scans(budget: Budget) -> Iterator[Row]:
    """Cumulative sums of 16 M elements."""
    budget = _heavy(budget)
    for shape, axis in (((MIDDLE,), 0), ((4096, 4096), 1), ((4096, 4096), 0)):
        x = _random(*shape)
        peers: Peers = {"numpy.cumsum": partial(np.cumsum, x, axis=axis)}
        torch = _torch()
        if torch is not None:
            peers["torch"] = partial(torch.cumsum, torch.from_numpy(x), dim=axis)
        name = f"cumsum, {'x'.join(map(str, shape))} over axis {axis}"
        yield from _rows(budget, "scan, 16 M", name, _ours("cumsum", x, axis=axis), peers)


# --- overheads ----------------------------------------------------------------------------------


def calls(budget: Budget) -> Iterator[Row]:
    """Run ten elements: what a call costs before its arithmetic."""
    x = _random(10)
    tensor = bittrue.asarray(x)
    torch = _torch()
    peers: Peers = {"numpy.add": partial(np.add, x, x)}
    if torch is not None:
        peers["torch"] = partial(torch.add, torch.from_numpy(x), torch.from_numpy(x))
    for name, operands in (("arrays", (x, x)), ("tensors", (tensor, tensor)), ("scalar", (x, 0.5))):
        operation = "mul" if name == "scalar" else "add"
        mine, *theirs = together(budget, partial(bittrue.run, operation, *operands),
                                 *peers.values())  # fmt: skip
        for peer_name, peer in zip(peers, theirs, strict=True):
            yield Row("call", f"run, 10 elements, {name}", mine, peer_name, peer)


def whole_processes(budget: Budget) -> Iterator[Row]:
    """Import, and a command, in fresh processes."""
    ours, plan, peer = processes(
        budget,
        "import bittrue",
        "from bittrue.cli.main import main; main(['plan', 'add', 'Float32', 'Int32'])",
        "import numpy",
    )
    yield Row("process", "import bittrue", ours, "import numpy", peer)
    yield Row("process", "bittrue plan", plan, "import numpy", peer)


# --- threads ------------------------------------------------------------------------------------


def two_threads(budget: Budget) -> Iterator[Row]:
    """One thread against two; both cores must be free for the ratio to mean anything."""
    budget = _heavy(budget)
    a = _random(1024, 1024)
    x = _random(LARGE)
    for name, operation, operands in (
        ("matmul 1024x1024x1024", "matmul", (a, a)),
        ("sum 64 M", "reduce_sum", (x,)),
        ("sort 64 K lines of 1024", "_sort_values", (x.reshape(-1, 1024),)),
    ):
        two, one = together(budget, _ours(operation, *operands, threads=2),
                            _ours(operation, *operands))  # fmt: skip
        yield Row("threads", f"{name}, 2 threads", two, "1 thread", one)


BENCHMARKS = (
    elementwise, sums, products, convolutions, ordering, indexing, scans, calls,
    whole_processes, two_threads,
)  # fmt: skip
