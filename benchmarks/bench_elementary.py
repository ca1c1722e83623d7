"""What correctly rounded elementary functions cost, beside functions that are not.

One thread. NumPy's float32 functions are wrong in the last place on up to 40 % of inputs, SciPy's
erf as well; ours are right on all. In cache: 65536 elements. In memory: 2^24.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from timing import Budget, Row, together

from bittrue import cpu

CACHED, STREAMED = 1 << 16, 1 << 24

LEVELS = ("v4", "v3", "baseline")

PEERS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
POSITIVE = ("log", "log2", "log1p", "rsqrt")


def _operand(name: str, count: int) -> np.ndarray:
    x = np.random.default_rng(1).standard_normal(count).astype(np.float32) * np.float32(3)
    return np.abs(x) + np.float32(1e-3) if name in POSITIVE else x


def _levels() -> Iterator[str]:
    best = cpu.level()
    for level in LEVELS:
        try:
            cpu.set_level(level)
        except ValueError:
            continue
        yield level
    cpu.set_level(best)


def _scipy_erf() -> Callable[..., Any] | None:
    if importlib.util.find_spec("scipy") is None:
        return None
    from scipy.special import erf  # noqa: PLC0415 - optional

    return erf


def _rows(budget: Budget, group: str, name: str, count: int) -> Iterator[Row]:
    x = _operand(name, count)
    out = np.empty_like(x)
    if name == "erf":
        peer, peer_name = _scipy_erf(), "scipy.special.erf"
    elif name == "rsqrt":
        peer, peer_name = None, ""
    else:
        peer, peer_name = PEERS[name], f"numpy.{name}"
    for level in _levels():
        label = f"{name}, {level}"
        ours = partial(cpu.elementary, name, x, out, 1)
        if peer is None:
            note = "scipy is not installed" if peer_name else ""
            yield Row(group, label, *together(budget, ours), peer_name, note=note)
            continue
        mine, theirs = together(budget, ours, partial(peer, x, out=out))
        yield Row(group, label, mine, peer_name, theirs)


def _power_rows(budget: Budget, group: str, count: int) -> Iterator[Row]:
    base = np.abs(_operand("pow", count)) + np.float32(0.01)
    exponent = np.random.default_rng(2).standard_normal(count).astype(np.float32) * np.float32(4)
    out = np.empty_like(base)
    for level in _levels():
        ours, theirs = together(
            budget,
            partial(cpu.power, base, exponent, out, 1),
            partial(np.power, base, exponent, out=out),
        )
        yield Row(group, f"pow, {level}", ours, "numpy.power", theirs)


def in_cache(budget: Budget) -> Iterator[Row]:
    """Every primitive at each instruction level, operands in cache."""
    group = "elementary, 64 K"
    for name in (*PEERS, "erf", "rsqrt"):
        yield from _rows(budget, group, name, CACHED)
    yield from _power_rows(budget, group, CACHED)


def in_memory(budget: Budget) -> Iterator[Row]:
    """Time the functions that a user is likely to meet on large arrays."""
    group = "elementary, 16 M"
    for name in ("exp", "tanh", "erf"):
        yield from _rows(budget, group, name, STREAMED)
    yield from _power_rows(budget, group, STREAMED)


def two_threads(budget: Budget) -> Iterator[Row]:
    """One thread against two; both cores must be free for the ratio to mean anything."""
    x = _operand("exp", STREAMED)
    out = np.empty_like(x)
    for name in ("exp", "erf"):
        two, one = together(
            budget,
            partial(cpu.elementary, name, x, out, 2),
            partial(cpu.elementary, name, x, out, 1),
        )
        yield Row("elementary, threads", f"{name} 16 M, 2 threads", two, "1 thread", one)


BENCHMARKS = (in_cache, in_memory, two_threads)
