"""What an operand of `run` is: a typed NumPy value, a tensor of rank 0, or a weak Python number.

Typed from tensor-promotion, *Python Scalars*, and promotion.md 2.2 to 2.4.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bittrue
from bittrue.dtypes import DType
from bittrue.errors import PromotionError

F32, F64, C64, C128, I32 = (
    DType.Float32,
    DType.Float64,
    DType.Complex64,
    DType.Complex128,
    DType.Int32,
)
BACKENDS = ["generic", "cpu"]
ARITHMETIC = ["add", "sub", "mul", "div"]
TENSORS = {
    "F32": bittrue.asarray([2.0], F32),
    "F64": bittrue.asarray([2.0], F64),
    "C64": bittrue.asarray([2.0], C64),
    "C128": bittrue.asarray([2.0], C128),
    "I32": bittrue.asarray([2], I32),
}
SHORT = {"F32": F32, "F64": F64, "C64": C64, "C128": C128, "I32": I32}
# NumPy value beside a tensor: the dtype of the result in add, sub and mul; "-" without a row.
TYPED = """
            F32   F64   C64   C128  I32
float32     F32   F64   C64   C128  F32
float64     F64   F64   C128  C128  -
complex64   C64   C128  C64   C128  -
complex128  C128  C128  C128  C128  -
int32       F32   -     -     -     I32
bool        -     -     -     -     -
int64       -     -     -     -     -
int16       -     -     -     -     -
uint32      -     -     -     -     -
longdouble  -     -     -     -     -
clongdouble -     -     -     -     -
"""
_HEAD, *_ROWS = [line.split() for line in TYPED.strip().splitlines()]
RESULTS = [
    (name, tensor, result)
    for name, *results in _ROWS
    for tensor, result in zip(_HEAD, results, strict=True)
]


@pytest.mark.rule("operands.typed")
@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize(("name", "tensor", "result"), RESULTS)
def test_a_numpy_scalar_and_an_array_of_rank_0_are_typed_operands(
    operation: str, name: str, tensor: str, result: str
) -> None:
    """Also those that derive from Python's float and complex: they are never weak."""
    scalar = np.dtype(name).type(2)
    for value, reflected in itertools.product((scalar, np.array(scalar)), (False, True)):
        operands = (value, TENSORS[tensor]) if reflected else (TENSORS[tensor], value)
        if result == "-":
            with pytest.raises(PromotionError):
                bittrue.run(operation, *operands)
        else:
            found = bittrue.run(operation, *operands)
            assert (found.dtype, found.shape) == (SHORT[result], (1,))
            assert found.tolist() == [{"add": 4, "sub": 0, "mul": 4}[operation]]


@pytest.mark.rule("operands.typed")
@pytest.mark.parametrize("value", [np.float16(2), np.array(2, np.float16), np.int8(2)])
def test_a_registered_dtype_without_rows_is_not_implemented(value: Any) -> None:
    for tensor in TENSORS.values():
        with pytest.raises(NotImplementedError):
            bittrue.run("mul", tensor, value)


@pytest.mark.rule("operands.typed")
@pytest.mark.parametrize(
    "value", [np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.str_("2"), np.bytes_(b"2")]
)
def test_a_dtype_without_a_descriptor_is_never_read_as_a_number(value: Any) -> None:
    for tensor in TENSORS.values():
        with pytest.raises(PromotionError):
            bittrue.run("mul", tensor, value)


@pytest.mark.rule("operands.typed")
def test_a_tensor_of_rank_0_is_a_full_operand() -> None:
    """Rank plays no part, values play no part."""
    for (name, x), (other, y) in itertools.product(TENSORS.items(), repeat=2):
        flat = bittrue.asarray(y.numpy().reshape(()))
        try:
            expected = bittrue.run("mul", x, y)
        except PromotionError:
            with pytest.raises(PromotionError):
                bittrue.run("mul", x, flat)
        else:
            assert bittrue.run("mul", x, flat).dtype is expected.dtype, (name, other)


# --- weak scalars -------------------------------------------------------------------------------

# dtype: magnitude from which an integer has no nearest finite number
THRESHOLD = {"F32": 2**128 - 2**103, "F64": 2**1024 - 2**970}
THRESHOLD |= {"C64": THRESHOLD["F32"], "C128": THRESHOLD["F64"]}
LARGEST = {"F32": 2.0**128 - 2.0**104, "F64": float(2**1024 - 2**971)}
LARGEST |= {"C64": LARGEST["F32"], "C128": LARGEST["F64"]}


@pytest.mark.rule("operands.weak.range")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("operation", [*ARITHMETIC, "eq", "ne"])
@pytest.mark.parametrize("tensor", THRESHOLD)
def test_an_integer_that_would_become_infinite_is_refused(
    operation: str, tensor: str, backend: str
) -> None:
    x = TENSORS[tensor]
    for sign, reflected in itertools.product((1, -1), (False, True)):
        for value, fits in ((THRESHOLD[tensor] - 1, True), (THRESHOLD[tensor], False)):
            operands = (sign * value, x) if reflected else (x, sign * value)
            if fits:
                bittrue.run(operation, *operands, backend=backend)
            else:
                with pytest.raises(OverflowError):
                    bittrue.run(operation, *operands, backend=backend)


@pytest.mark.rule("operands.weak.range")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("tensor", THRESHOLD)
def test_the_largest_integers_round_to_the_largest_number(tensor: str, backend: str) -> None:
    one = bittrue.run("div", TENSORS[tensor], 2, backend=backend)
    found = bittrue.run("mul", one, THRESHOLD[tensor] - 1, backend=backend)
    assert found.tolist() == [LARGEST[tensor]]


@pytest.mark.rule("operands.weak.range")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_float_beyond_the_range_becomes_infinite_or_raises_where_that_is_asked_for(
    backend: str,
) -> None:
    x = bittrue.asarray([1.0], F32)
    for value in (1e39, float(THRESHOLD["F32"])):
        found = bittrue.run("mul", x, value, backend=backend)
        assert (found.dtype, found.tolist()) == (F32, [float("inf")])
        with pytest.raises(OverflowError):
            bittrue.run("mul", x, value, backend=backend, scalar_overflow="raise")
    # An infinity that is meant, and a number that fits, are no overflow.
    assert bittrue.run("mul", x, float("inf"), scalar_overflow="raise").tolist() == [float("inf")]
    assert bittrue.run("mul", x, 1e38, scalar_overflow="raise").tolist() == [
        float(np.float32(1e38))
    ]
    assert bittrue.run("mul", bittrue.asarray([1.0], F64), 1e39).tolist() == [1e39]


@pytest.mark.rule("operands.weak.range")
@pytest.mark.parametrize("backend", BACKENDS)
def test_each_part_of_a_complex_scalar_converts_as_a_float(backend: str) -> None:
    x = bittrue.asarray([0.0], F32)
    found = bittrue.run("add", x, complex(0.1, -1e39), backend=backend)
    assert found.dtype is C64
    assert found.buffer.elements() == [0x3DCC_CCCD | 0xFF80_0000 << 32]
    with pytest.raises(OverflowError):
        bittrue.run("add", x, complex(0.1, -1e39), scalar_overflow="raise", backend=backend)
    nan = bittrue.run("add", x, complex(float("nan"), -0.0), backend=backend)
    assert nan.buffer.elements() == [0x7FC0_0000 | 0x8000_0000 << 32]


@pytest.mark.rule("operands.weak.rounding")
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_integer_rounds_once_from_its_exact_value(backend: str) -> None:
    """2^60 + 2^36 + 1 lies above a tie of binary32; by way of binary64 it would be the tie."""
    one = bittrue.asarray([1.0], F32)
    for sign in (1, -1):
        value = sign * (2**60 + 2**36 + 1)
        assert bittrue.run("mul", one, value, backend=backend).tolist() == [
            sign * (2.0**60 + 2.0**37)
        ]
    third = bittrue.run("mul", bittrue.asarray([1.0], F64), Fraction(1, 3), backend=backend)
    assert (third.dtype, third.tolist()) == (F64, [1 / 3])


@pytest.mark.rule("operands.weak.kinds")
@pytest.mark.parametrize("operation", ARITHMETIC)
@pytest.mark.parametrize(
    "value", [Decimal(2), "2", None, object(), {2}, b"2"], ids=lambda value: type(value).__name__
)
def test_what_is_no_number_is_no_scalar(operation: str, value: Any) -> None:
    for tensor in TENSORS.values():
        for operands in ((tensor, value), (value, tensor)):
            with pytest.raises(TypeError):
                bittrue.run(operation, *operands)


@pytest.mark.rule("operands.weak.comparison")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_weak_scalar_is_rounded_before_it_is_compared(backend: str) -> None:
    tenth = bittrue.asarray([0.1], F32)
    assert bittrue.run("eq", tenth, 0.1, backend=backend).tolist() == [True]
    assert bittrue.run("eq", tenth, np.float64(0.1), backend=backend).tolist() == [False]
    assert bittrue.run("lt", 2, bittrue.asarray([2.5], F64), backend=backend).tolist() == [True]
    assert bittrue.run("eq", bittrue.asarray([2.0], C64), 2, backend=backend).tolist() == [True]
    assert bittrue.run("eq", bittrue.asarray([2.0], F32), 2 + 0j, backend=backend).tolist() == [
        True
    ]
    with pytest.raises(OverflowError):
        bittrue.run("eq", tenth, 10**60, backend=backend)


@pytest.mark.rule("operands.weak.first")
def test_a_scalar_is_refused_before_shapes_and_nothing_is_written() -> None:
    """The plan first, then scalars, then attributes."""
    x = bittrue.asarray([1.0, 2.0], F32)
    before = x.numpy().tobytes()
    with pytest.raises(PromotionError):
        bittrue.run("mul", bittrue.asarray([True]), 10**60, axis=3)
    with pytest.raises(OverflowError):
        bittrue.run("mul", x, 10**60, axis=3)
    assert x.numpy().tobytes() == before


# --- floor division and remainder ---------------------------------------------------------------

INF, NAN, NZ = float("inf"), float("nan"), -0.0
# x, y, remainder, floor_divide
FLOORED = [
    (7.0, 3.0, 1.0, 2.0),
    (-7.0, 3.0, 2.0, -3.0),
    (7.0, -3.0, -2.0, -3.0),
    (-7.0, -3.0, -1.0, 2.0),
    (6.0, -3.0, NZ, -2.0),
    (NZ, 3.0, 0.0, NZ),
    (0.0, -3.0, NZ, NZ),
    (1.0, 0.0, NAN, INF),
    (-1.0, 0.0, NAN, -INF),
    (1.0, NZ, NAN, -INF),
    (0.0, 0.0, NAN, NAN),
    (INF, 2.0, NAN, NAN),
    (INF, 0.0, NAN, INF),
    (1.0, INF, 1.0, 0.0),
    (-1.0, INF, INF, -1.0),
    (1.0, -INF, -INF, -1.0),
    (-1.0, -INF, -1.0, 0.0),
    (NZ, INF, 0.0, NZ),
    (0.0, -INF, NZ, NZ),
    (INF, INF, NAN, NAN),
    (NAN, 1.0, NAN, NAN),
    (1.0, NAN, NAN, NAN),
    # The exact quotient is below 10; the rounded one is 10.
    (1.0, 0.1, float(1 - 9 * Fraction(0.1)), 9.0),
]


@pytest.mark.rule("operands.floored-division")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("x", "y", "remainder", "quotient"), FLOORED)
def test_floored_division_of_float64(
    x: float, y: float, remainder: float, quotient: float, backend: str
) -> None:
    for operation, expected in (("remainder", remainder), ("floor_divide", quotient)):
        found = bittrue.run(
            operation, bittrue.asarray([x], F64), bittrue.asarray([y], F64), backend=backend
        )
        bits = bittrue.asarray([expected], F64).buffer.elements()
        assert found.buffer.elements() == bits, (found, expected)


@pytest.mark.rule("operands.floored-division")
@pytest.mark.parametrize("operation", ["remainder", "floor_divide"])
def test_floored_division_is_of_reals_alone(operation: str) -> None:
    for name in ("C64", "C128", "I32"):
        for operands in ((TENSORS[name], TENSORS[name]), (TENSORS[name], 2), (2, TENSORS[name])):
            with pytest.raises(PromotionError):
                bittrue.run(operation, *operands)


@pytest.mark.rule("operands.true-division")
@pytest.mark.parametrize("backend", BACKENDS)
def test_true_division_of_integers_is_float32_and_of_bools_there_is_none(backend: str) -> None:
    found = bittrue.run("div", [7, -7], [2, 0], backend=backend)
    assert (found.dtype, found.tolist()) == (F32, [3.5, float("-inf")])
    for operands in (([True], [True]), ([True], 2), ([1], [True])):
        with pytest.raises(PromotionError):
            bittrue.run("div", *operands, backend=backend)
    with pytest.raises(PromotionError):
        bittrue.run("div", [7], [2], policy=bittrue.REAL_COMPLEX)
