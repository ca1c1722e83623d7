"""How a benchmark is timed: repeats, their minimum and median, and rows of a table.

Belongs here: measuring callables and fresh processes. Never here: what is measured (`bench_*`) and
how it is printed (`run`). Nothing asserts a time: a slower result is a note, never a failure.

The contestants of one row are timed in turn, repeat by repeat, so that a change in the load of the
machine reaches all of them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to measure: repeats of a sample, and the least nanoseconds of one repeat."""

    repeats: int
    least_ns: int


FULL = Budget(repeats=25, least_ns=20_000_000)
QUICK = Budget(repeats=5, least_ns=2_000_000)


@dataclass(frozen=True, slots=True)
class Sample:
    """Nanoseconds of one call: the minimum and the median over the repeats."""

    minimum: float
    median: float

    @classmethod
    def of(cls, times: list[float]) -> Sample:
        """Summarise the repeats."""
        return cls(min(times), statistics.median(times))


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `peer` is None where the other library is absent; `note` says why."""

    group: str
    name: str
    ours: Sample
    peer_name: str = ""
    peer: Sample | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long ours takes, by the minima; None without a peer."""
        return None if self.peer is None else self.ours.minimum / self.peer.minimum


def _loops(work: Work, budget: Budget) -> int:
    """Return how many calls fill the least time of a repeat."""
    loops = 1
    while True:
        elapsed = _elapsed(work, loops)
        if elapsed * 4 >= budget.least_ns:
            return max(loops * budget.least_ns // max(elapsed, 1), 1)
        loops *= 4


def _elapsed(work: Work, loops: int) -> int:
    rounds = range(loops)
    start = perf_counter_ns()
    for _ in rounds:
        work()
    return perf_counter_ns() - start


def together(budget: Budget, *works: Work) -> tuple[Sample, ...]:
    """Time several callables in turn; return the nanoseconds of one call of each."""
    loops = [_loops(work, budget) for work in works]
    times: list[list[float]] = [[] for _ in works]
    for _ in range(budget.repeats):
        for kept, work, count in zip(times, works, loops, strict=True):
            kept.append(_elapsed(work, count) / count)
    return tuple(map(Sample.of, times))


def once_each(budget: Budget, prepare: Callable[[], Work], calls: int) -> Sample:
    """Time callables that can run only once: `prepare` makes one, outside the timed part.

    `calls` is how many operations one run holds; the sample is divided by it.
    """
    return Sample.of([_elapsed(prepare(), 1) / calls for _ in range(budget.repeats)])


def processes(budget: Budget, *statements: str) -> tuple[Sample, ...]:
    """Time fresh interpreters that execute one statement each, in turn."""
    commands = [[sys.executable, "-c", statement] for statement in statements]
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(budget.repeats + 1):
        for kept, command in zip(times, commands, strict=True):
            start = perf_counter_ns()
            subprocess.run(  # noqa: S603 - our own interpreter and statement
                command, check=True, stdout=subprocess.DEVNULL
            )
            kept.append(perf_counter_ns() - start)
    # The first round fills the file cache.
    return tuple(Sample.of(kept[1:]) for kept in times)
