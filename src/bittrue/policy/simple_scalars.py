"""Int32 tensors with weak scalars in add, sub, mul and div: `bittrue.SIMPLE_SCALARS`.

Belongs here: the rows that neither contract states and operators need. They follow those of ``mul``
in the policy of Float32, Int32 and Bool: an integer keeps Int32, checked, anything else makes
Float32; a quotient is Float32, as that of two Int32 tensors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from bittrue.dtypes import DType
from bittrue.policy.arithmetic import Arithmetic
from bittrue.policy.policy import Policy
from bittrue.policy.rows import Row
from bittrue.policy.simple import WEAK_SCALAR_PROBES
from bittrue.policy.tables import INT32_SCALAR, OUT_OF_INT32, SCALAR, policy_of, rows_of
from bittrue.policy.weak import WeakCondition

F32, I32 = DType.Float32, DType.Int32
BINARY32, CHECKED = Arithmetic.BINARY32, Arithmetic.INT32_EXACT_CHECKED
WIDE, FLOATING = WeakCondition.INT_WIDE, WeakCondition.FLOATING

# fmt: off
_LINES: tuple[Iterable[Row], ...] = (
    rows_of("add sub",     (I32, INT32_SCALAR), I32, CHECKED,  I32),
    rows_of("add sub mul", (INT32_SCALAR, I32), I32, CHECKED,  I32),
    rows_of("add sub",     (I32, WIDE),         I32, CHECKED,  I32, refusal=OUT_OF_INT32),
    rows_of("add sub mul", (WIDE, I32),         I32, CHECKED,  I32, refusal=OUT_OF_INT32),
    rows_of("add sub",     (I32, FLOATING),     F32, BINARY32, F32),
    rows_of("add sub mul", (FLOATING, I32),     F32, BINARY32, F32),
    rows_of("div",         (I32, SCALAR),       F32, BINARY32, F32),
    rows_of("div",         (SCALAR, I32),       F32, BINARY32, F32),
)
# fmt: on

SIMPLE_SCALARS: Policy = policy_of(
    "simple_scalars",
    itertools.chain.from_iterable(_LINES),
    weak_probes=WEAK_SCALAR_PROBES,
)
"""Weak scalars beside Int32 tensors, by convention."""
