"""Int32 arithmetic is exact and checked, against Python integers."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bittrue import SIMPLE, DType, run
from bittrue.generic.elementwise import CHECKED, EXACT
from bittrue.generic.int32 import LeavesInt32

LOW, HIGH = -(2**31), 2**31 - 1
EXACT_ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "elementwise_mul": lambda a, b: a * b,
}
EDGES = (LOW, LOW + 1, -46341, -46340, -2, -1, 0, 1, 2, 3, 46340, 46341, 65536, HIGH - 1, HIGH)
COUNT = 100_000

int32s = st.integers(LOW, HIGH) | st.sampled_from(EDGES)


def int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def generic(operation, *operands, **attributes):
    return run(operation, *operands, policy=SIMPLE, backend="generic", **attributes)


@pytest.mark.rule("operations.8.1.int32-exact-checked")
@pytest.mark.parametrize("operation", EXACT_ARITHMETIC)
def test_checked_arithmetic_against_exact_integers(operation):
    rng = np.random.default_rng(31)
    lhs = rng.integers(LOW, HIGH + 1, COUNT) >> rng.integers(0, 31, COUNT)
    rhs = rng.integers(LOW, HIGH + 1, COUNT) >> rng.integers(0, 31, COUNT)
    pairs = [(a, b) for a in EDGES for b in EDGES]
    pairs += zip(lhs.tolist(), rhs.tolist(), strict=True)
    refused = 0
    for a, b in pairs:
        exact = EXACT_ARITHMETIC[operation](a, b)
        if LOW <= exact <= HIGH:
            assert CHECKED[operation](a, b) == exact, (a, b)
        else:
            refused += 1
            with pytest.raises(LeavesInt32):
                CHECKED[operation](a, b)
    assert refused > 100


@pytest.mark.rule("operations.8.1.int32-exact-checked")
@given(a=int32s, b=int32s, operation=st.sampled_from(sorted(EXACT_ARITHMETIC)))
@example(a=LOW, b=-1, operation="mul")
@example(a=0, b=LOW, operation="sub")
def test_run_of_checked_arithmetic(a, b, operation):
    exact = EXACT_ARITHMETIC[operation](a, b)
    if LOW <= exact <= HIGH:
        result = generic(operation, int32(a), int32(b))
        assert result.dtype is DType.Int32
        assert result.tolist() == [exact]
    else:
        with pytest.raises(OverflowError):
            generic(operation, int32(a), int32(b))


@pytest.mark.rule("operations.8.7.relu-int32")
@given(st.lists(int32s, max_size=40))
def test_relu(values):
    expected = [max(v, 0) for v in values]
    assert generic("relu", int32(*values)).tolist() == expected
    assert [EXACT["relu"](v) for v in values] == expected


POWERS = [
    (46341, 1, 46341),
    (LOW, 1, LOW),
    (HIGH, 1, HIGH),
    (2, 30, 2**30),
    (10, 9, 10**9),
    (-2, 31, LOW),
    (46340, 2, 46340**2),
    (-46340, 2, 46340**2),
    (-1290, 3, -(1290**3)),
    (0, 0, 1),
    (LOW, 0, 1),
    (0, HIGH, 0),
    (1, HIGH, 1),
    (-1, 2**24, 1),
    (-1, 2**24 + 1, -1),
    (-1, HIGH, -1),
    (-1, HIGH - 1, 1),
    (3, 19, 3**19),
    (-3, 19, -(3**19)),
]


@pytest.mark.rule("operations.8.2.int32-power")
@pytest.mark.parametrize(("base", "exponent", "expected"), POWERS)
def test_exact_power(base, exponent, expected):
    result = generic("pow", int32(base), exponent)
    assert result.dtype is DType.Int32
    assert result.tolist() == [expected]


@pytest.mark.rule("operations.8.2.int32-power")
@pytest.mark.parametrize(
    ("base", "exponent"),
    [(2, 31), (46341, 2), (-46341, 2), (LOW, 2), (LOW, 3), (HIGH, 2), (10, 10), (-2, 32), (-2, 33),
     (3, 20), (-3, 21), (2, HIGH), (-2, HIGH), (HIGH, HIGH), (LOW, HIGH)],
)  # fmt: skip
def test_power_that_leaves_int32(base, exponent):
    with pytest.raises(OverflowError):
        generic("pow", int32(base), exponent)


@pytest.mark.rule("operations.8.2.int32-power")
@pytest.mark.parametrize("base", [2, -2, 3, HIGH, LOW])
def test_an_immense_power_builds_no_immense_integer(base):
    """2**(2**31 - 1) has 2**28 bytes; the refusal needs none of them."""
    tracemalloc.start()
    try:
        with pytest.raises(LeavesInt32):
            CHECKED["pow"](base, HIGH)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.rule("operations.8.2.int32-power")
def test_exact_power_over_small_bases_and_exponents():
    for base in [*range(-40, 41), 215, 1290, 46340, 46341, 65535, 65536, *EDGES]:
        for exponent in range(40):
            exact = base**exponent
            if LOW <= exact <= HIGH:
                assert CHECKED["pow"](base, exponent) == exact, (base, exponent)
            else:
                with pytest.raises(LeavesInt32):
                    CHECKED["pow"](base, exponent)


@pytest.mark.rule("operations.4.weak-scalar-exponent")
def test_the_kind_of_the_exponent_selects_the_arithmetic():
    base = int32(3, -2)
    assert generic("pow", base, 2).dtype is DType.Int32
    for exponent in (2.0, True, -1, 2**31):
        assert generic("pow", base, exponent).dtype is DType.Float32
    assert generic("pow", base, -1).numpy().view(np.uint32).tolist() == [0x3EAA_AAAB, 0xBF00_0000]
    # 2**31 is even, and rounds to itself.
    assert generic("pow", int32(-1), 2**31).tolist() == [1.0]
    # One above is rounded to 2**31: even again.
    assert generic("pow", int32(-1), 2**31 + 1).tolist() == [1.0]


@pytest.mark.rule("operations.7.1.first-offender")
@pytest.mark.parametrize(
    ("operation", "lhs", "rhs", "position"),
    [
        ("add", [[1, HIGH], [HIGH, 5]], [[1, 0], [1, HIGH]], "(1, 0)"),
        ("sub", [0, 1, 2], [1, LOW, LOW], "(1,)"),
        ("mul", [[[LOW]], [[HIGH]]], [[-1, 2, 1]], "(0, 0, 0)"),
        ("mul", [[[1]], [[HIGH]]], [[-1, 2, 1]], "(1, 0, 1)"),
        ("elementwise_mul", [65536, 65536], [32767, 32768], "(1,)"),
    ],
)
def test_the_error_names_the_first_offending_element(operation, lhs, rhs, position):
    with pytest.raises(OverflowError) as caught:
        generic(operation, lhs, rhs)
    assert position in str(caught.value)
    assert operation in str(caught.value)


@pytest.mark.rule("operations.7.1.first-offender")
def test_the_error_names_the_first_offending_element_of_other_families():
    with pytest.raises(OverflowError, match=r"\(0, 1\)"):
        generic("pow", [[46340, 46341], [LOW, 2]], 2)
    with pytest.raises(OverflowError, match=r"\(1,\)"):
        generic("reduce_sum", [[1, 1], [HIGH, 1], [HIGH, HIGH]], axis=1)
    with pytest.raises(OverflowError, match=r"\(1, 0\)"):
        generic("matmul", [[1, 1], [HIGH, 1]], [[2, 1], [1, 1]])
    with pytest.raises(OverflowError, match=r"\(\)"):
        generic("add", np.int32(HIGH), np.int32(1))


@pytest.mark.rule("operations.8.1.int32-scalar")
def test_integer_scalar_with_an_int32_tensor():
    assert generic("mul", int32(3, -4), 5).tolist() == [15, -20]
    assert generic("mul", int32(1), LOW).tolist() == [LOW]
    with pytest.raises(OverflowError, match=r"\(1,\)"):
        generic("mul", int32(1, LOW), -1)
    for scalar in (2**31, LOW - 1):
        with pytest.raises(OverflowError):
            generic("mul", int32(0), scalar)
    assert generic("mul", int32(16777217), 1.0).tolist() == [16777216.0]
    assert generic("mul", int32(5), True).dtype is DType.Float32  # noqa: FBT003
