"""Runs of known counts, made of records alone: a report sees no backend."""

import pytest

from bittrue import DType
from bittrue.conformance import Mismatch, PlanReport, Verification
from bittrue.policy import SIMPLE

ADD = SIMPLE.resolve("add", DType.Float32, DType.Float32)
SUM = SIMPLE.resolve("reduce_sum", DType.Float32, accumulator_dtype=DType.Float64)
EXP = SIMPLE.resolve("exp", DType.Int32)
MAXIMUM = SIMPLE.resolve("maximum", DType.Float32, DType.Float32)

VALUE = Mismatch(
    ("3f800000 (1)", "33800001 (5.96046519e-08)"),
    "3f800001 (1.00000012)",
    "3f800000 (1)",
    1,
    "value",
    "the exact sum rounded once to binary32",
)
ZEROS = Mismatch(
    ("00000000 (0)", "80000000 (-0)"),
    "00000000 (0)",
    "80000000 (-0)",
    0,
    "sign of zero",
    "+0 is above -0",
)
DTYPE = Mismatch(("00000003 (3)",), "Float32", "returned float64", None, "result dtype", "Float32")


@pytest.fixture
def run_of():
    """Return a maker of runs from reports."""

    def make(*reports, **fields):
        stated = {
            "backend": "fast",
            "against": "generic",
            "policy": "simple",
            "cases": 20,
            "seed": 7,
            "strict": False,
            "versions": {"bittrue": "0.1.0", "fast": "9.8"},
        }
        return Verification(**{**stated, **fields}, reports=tuple(reports))

    return make


@pytest.fixture
def mixed(run_of):
    """One report of every verdict."""
    return run_of(
        PlanReport(ADD, 20, 12, 2, 3, 0, 3, "RuntimeError: too small", VALUE),
        PlanReport(EXP, 20, 19, 0, 0, 0, 1, "", DTYPE),
        PlanReport(SUM, 20, 15, 0, 1, 4, 0),
        PlanReport(MAXIMUM, 20, 18, 0, 2, 0, 0),
        PlanReport(MAXIMUM, 20, 20, 0, 0, 0, 0),
        PlanReport(EXP, 20, 0, 20, 0, 0, 0, "no kernel for exp"),
    )


@pytest.fixture
def zeros(run_of):
    """One plan with one departing case, zeros of another sign."""
    return run_of(PlanReport(MAXIMUM, 1, 0, 0, 0, 0, 1, "", ZEROS), cases=1)
