"""Verification finds every planted fault: providers that follow Generic but for one wrong rule."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bittrue
from bittrue import DType, OperandRole
from bittrue.conformance import verify
from bittrue.conformance.rules import EXACT_INT32, NEVER_WRAPS, rule_of
from bittrue.encoding import BINARY32
from bittrue.errors import Int32OverflowError
from bittrue.generic import arithmetic as ar
from bittrue.generic import conv
from bittrue.generic.array import Array
from bittrue.geometry import Geometry, Ordering
from bittrue.policy import DEFAULT, SIMPLE
from bittrue.providers import Decline, Operand, WeakScalar, backend_of, converted
from bittrue.providers.adapter import natural_result
from bittrue.tensor import Buffer

GENERIC = backend_of("generic")
SIGN = np.uint32(0x80000000)

Fault = Callable[[Any, Sequence[Operand], Any], Buffer]


@dataclass(frozen=True)
class Faulty:
    """Generic, but `fault` makes the results of some operations; plans not picked are declined."""

    operations: tuple[str, ...]
    fault: Fault
    name: str = "faulty"
    picks: Callable[[Any], bool] = lambda _plan: True

    def accepts(self, plan, shapes, layout, attributes):
        del shapes, layout, attributes
        return True if self.picks(plan) else Decline("not what this test is about")

    def execute(self, plan, operands, attributes):
        if plan.operation in self.operations:
            return self.fault(plan, operands, attributes)
        return GENERIC.execute(plan, operands, attributes)


def found(operations: str, fault: Fault, *, cases: int = 400, plans=None, **options):
    """Verify a faulty backend; return the reports of its operations by plan signature.

    The faults are written for Float32, Int32 and Bool, so the policy is theirs.
    """
    names = tuple(operations.split())
    options.setdefault("policy", SIMPLE)
    plans = plans or (lambda _plan: True)
    run = verify(Faulty(names, fault, picks=plans), operations=names, cases=cases, **options)
    reports = [r for r in run.reports if plans(r.plan)]
    assert reports
    for r in reports:
        counts = (r.equal, r.refused, r.nan_bits, r.association, r.departures)
        assert sum(counts) == r.cases > 0, r
    return reports


# --- what the faults are made of ------------------------------------------------------------------


def right(plan, operands, geometry):
    return GENERIC.execute(plan, operands, geometry)


def floats(operand: Operand) -> np.ndarray:
    """Return an operand as binary32 numbers, by one rounding."""
    with np.errstate(all="ignore"):
        return converted(operand).array.astype(np.float32)


def bits_of(buffer: Buffer) -> np.ndarray:
    return np.array(buffer.bits())


def of_bits(plan, bits) -> Buffer:
    return Buffer(plan.output, np.array(bits, np.uint32, order="C").view(np.float32))


def of_floats(plan, values) -> Buffer:
    """Store binary32 numbers; a NaN becomes canonical, as the contract has it."""
    array = np.array(values, np.float32)
    array[np.isnan(array)] = np.nan
    return Buffer(plan.output, array)


def numeric(function: Callable[..., Any]) -> Fault:
    """Make a fault of a NumPy function over binary32 arrays."""

    def fault(plan, operands, geometry):
        with np.errstate(all="ignore"):
            values = function(*(floats(o) for o in operands))
        return of_floats(plan, np.broadcast_to(values, geometry.shape))

    return fault


def is_float(plan) -> bool:
    return plan.output is DType.Float32


def is_int(plan) -> bool:
    return plan.output is DType.Int32


# --- wrong arithmetic -----------------------------------------------------------------------------


def flush_to_zero(plan, operands, geometry):
    bits = bits_of(right(plan, operands, geometry))
    return of_bits(plan, np.where(bits & 0x7F800000 == 0, bits & SIGN, bits))


def truncated_product(a, b):
    exact = a.astype(np.float64) * b.astype(np.float64)
    near = exact.astype(np.float32)
    return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)


def through_binary64(plan, operands, geometry):
    """Convert a weak scalar through the host float: two roundings."""

    def narrowed(operand):
        if not isinstance(operand, WeakScalar) or plan.output is not DType.Float32:
            return operand
        with np.errstate(all="ignore"):
            array = np.array(np.float32(float(operand.value)))
        return WeakScalar(operand.value, Buffer(DType.Float32, array))

    return right(plan, [narrowed(o) for o in operands], geometry)


def int32_power_wraps(plan, operands, _geometry):
    base, exponent = (converted(o).array for o in operands)
    power = [pow(int(b), int(exponent), 2**32) for b in base]
    return Buffer(plan.output, np.array(power, np.int64).astype(np.int32))


def wraps(function):
    def fault(plan, operands, geometry):
        a, b = (converted(o).array.astype(np.int64) for o in operands)
        return Buffer(plan.output, np.broadcast_to(function(a, b), geometry.shape).astype(np.int32))

    return fault


def second_zero_wins(compare):
    return lambda a, b: np.where(
        np.isnan(a) | np.isnan(b), np.float32(np.nan), np.where(compare(a, b), a, b)
    )


def negated_by_subtraction(plan, operands, geometry):
    bits = bits_of(right(plan, operands, geometry))
    return of_bits(plan, np.where(bits == SIGN, np.uint32(0), bits))


def half_away(x):
    wide = x.astype(np.float64)
    rounded = np.trunc(wide + np.copysign(0.5, wide))
    return np.where(np.abs(wide) < 2**23, rounded, wide).astype(np.float32)


def half_up(x):
    wide = x.astype(np.float64)
    return np.copysign(np.where(np.abs(wide) < 2**23, np.floor(wide + 0.5), wide), wide)


def floored_remainder(a, b):
    return np.where(np.isinf(b) & np.isfinite(a), a, np.copysign(np.mod(a, b), b))


def power_by_sqrt(plan, operands, geometry):
    base, exponent = (floats(o) for o in operands)
    bits = bits_of(right(plan, operands, geometry))
    with np.errstate(all="ignore"):
        root = of_floats(plan, np.sqrt(base)).bits()
    return of_bits(plan, np.where(exponent == np.float32(0.5), root, bits))


def two_rounding_rsqrt(x):
    return np.float32(1) / np.sqrt(x)


def clamped_in_wrong_order(x, low, high):
    """Apply the upper bound first; zeros ordered as the contract has them."""

    def pick(a, b, larger):
        first = (a > b) if larger else (a < b)
        tie = (a == b) & (np.signbit(a) != np.signbit(b))
        chosen = np.where(first, a, b)
        chosen = np.where(tie, np.float32(0.0) if larger else np.float32(-0.0), chosen)
        return np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), chosen)

    return pick(pick(x, high, larger=False), low, larger=True)


VALUE, ZERO, WRAP = "value", "sign of zero", "wraps instead of raising"

ELEMENTWISE = {
    "flush to zero in add": ("add", flush_to_zero, is_float, VALUE),
    "flush to zero in mul": ("mul", flush_to_zero, is_float, VALUE),
    "truncation in mul": ("mul", numeric(truncated_product), is_float, VALUE),
    "second zero wins in maximum": (
        "maximum",
        numeric(second_zero_wins(np.greater)),
        is_float,
        ZERO,
    ),
    "second zero wins in minimum": ("minimum", numeric(second_zero_wins(np.less)), is_float, ZERO),
    "round half away from zero": ("round", numeric(half_away), is_float, VALUE),
    "round by adding a half": ("round", numeric(half_up), is_float, VALUE),
    "ceil loses the sign of zero": ("ceil", numeric(lambda x: np.ceil(x) + 0.0), is_float, ZERO),
    "neg subtracts from zero": ("neg", negated_by_subtraction, is_float, ZERO),
    "sign keeps the zero": ("sign", numeric(lambda x: np.where(x == 0, x, np.sign(x))), None, ZERO),
    "floored remainder": ("rem", numeric(floored_remainder), is_float, VALUE),
    "rsqrt in two roundings": ("rsqrt", numeric(two_rounding_rsqrt), is_float, VALUE),
    "clamp upper bound first": ("clamp", numeric(clamped_in_wrong_order), None, VALUE),
    "Int32 add wraps": ("add", wraps(np.add), is_int, WRAP),
    "Int32 sub wraps": ("sub", wraps(np.subtract), is_int, WRAP),
    "Int32 mul wraps": ("mul elementwise_mul", wraps(np.multiply), is_int, WRAP),
    "Int32 pow wraps": ("pow", int32_power_wraps, is_int, WRAP),
}
"""Fault -> operations, the fault, the plans it touches, the class of the first mismatch."""


def replayed(plan, mismatch) -> str | None:
    """Run the reference on the operands that a mismatch shows; return the spelled bits."""
    operands = []
    for planned, text in zip(plan.operands, mismatch.operands, strict=True):
        if planned.role is OperandRole.WEAK_SCALAR:
            operands.append(_number(text))
        elif planned.dtype is DType.Float32:
            bits = int(re.match(r"([0-9a-f]{8}) \(", text)[1], 16)
            operands.append(np.array(bits, np.uint32).view(np.float32))
        else:
            operands.append(np.array(int(re.search(r"\((-?\d+)\)$", text)[1]), np.int32))
    try:
        result = bittrue.run(plan.operation, *operands, backend="generic")
    except OverflowError:
        return "OverflowError"
    (stored,) = result.buffer.elements()
    return f"{stored % 2**32:08x}"


def _number(text: str) -> Any:
    if text.startswith("Fraction"):
        return Fraction(*(int(part) for part in re.findall(r"-?\d+", text)))
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text)
    except ValueError:
        return float(text)


@pytest.mark.rule("verify.faults.elementwise")
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_fault_is_a_departure_of_its_class(name):
    operations, fault, plans, kind = ELEMENTWISE[name]
    for report in found(operations, fault, plans=plans, cases=2000):
        assert report.verdict == "departs", report
        assert (report.refused, report.nan_bits, report.association) == (0, 0, 0)
        mismatch = report.first
        assert mismatch.kind == kind
        assert mismatch.expected != mismatch.actual
        assert mismatch.expected.startswith(replayed(report.plan, mismatch))
        if kind == WRAP:
            assert mismatch.rule == NEVER_WRAPS
            assert (mismatch.expected, mismatch.ulps) == ("OverflowError", None)
        else:
            assert mismatch.rule.startswith(rule_of(report.plan))
            assert (mismatch.ulps == 0) == (kind == ZERO)


@pytest.mark.rule("verify.faults.elementwise")
def test_flushed_product_shows_the_subnormal_that_was_lost():
    (report, *_) = found("mul", flush_to_zero, plans=is_float)
    expected, actual = (int(text[:8], 16) for text in (report.first.expected, report.first.actual))
    assert 0 < expected & 0x7FFFFFFF < 0x00800000
    assert actual == expected & 0x80000000
    assert report.first.ulps == expected & 0x7FFFFFFF
    assert "subnormals kept" in report.first.rule


@pytest.mark.rule("verify.faults.elementwise")
def test_truncation_is_one_ulp_apart():
    (report, *_) = found("mul", numeric(truncated_product), plans=is_float)
    assert report.first.ulps == 1


@pytest.mark.rule("verify.faults.elementwise")
@pytest.mark.parametrize(("operation", "scalar"), [("mul", 1), ("pow", 0)])
def test_double_rounding_of_a_weak_integer_is_found(operation, scalar):
    """2^60 + 2^36 + 1 through binary64 becomes a tie, and rounds down instead of up."""

    def weak_beside_float32(plan):
        roles = [o.role for o in plan.operands]
        return roles[scalar] is OperandRole.WEAK_SCALAR and DType.Float32 in [
            o.dtype for o in plan.operands
        ]

    (report,) = found(operation, through_binary64, plans=weak_beside_float32, cases=2000)
    assert report.verdict == "departs"
    assert report.first.kind == VALUE
    assert report.first.operands[scalar] == str(2**60 + 2**36 + 1)


@pytest.mark.rule("verify.faults.elementwise")
def test_power_of_a_half_by_square_root_is_found():
    """They differ at -0 and at -inf alone."""
    reports = found("pow", power_by_sqrt, plans=is_float, cases=2000)
    departing = [r for r in reports if r.departures]
    assert departing
    for report in departing:
        assert report.first.kind in {ZERO, "special value"}
        assert report.first.operands[0][:8] in {"80000000", "ff800000", "-0.0", "-inf"}


# --- NaN bits -------------------------------------------------------------------------------------


def negative_nans(plan, operands, geometry):
    bits = bits_of(right(plan, operands, geometry))
    return of_bits(plan, np.where(bits & 0x7FFFFFFF > 0x7F800000, bits | SIGN, bits))


@pytest.mark.rule("verify.classes.nan-bits")
@pytest.mark.parametrize("operation", ["add", "reduce_max", "cumsum"])
def test_nan_of_other_bits_is_counted_apart(operation):
    for report in found(operation, negative_nans, plans=is_float):
        assert report.nan_bits > 0
        assert (report.departures, report.refused, report.association) == (0, 0, 0)
        assert report.verdict == "nan"
        assert report.first is None


@pytest.mark.rule("verify.classes.nan-bits")
@pytest.mark.parametrize("operation", ["add", "reduce_max", "cumsum"])
def test_nan_of_other_bits_departs_where_bits_are_promised(operation):
    lenient = found(operation, negative_nans, plans=is_float)
    strict = found(operation, negative_nans, plans=is_float, strict=True)
    for before, after in zip(lenient, strict, strict=True):
        assert (after.nan_bits, after.departures) == (0, before.nan_bits)
        assert after.first.kind == "nan bits"
        assert after.first.expected == "7fc00000 (NaN)"
        assert after.first.actual == "ffc00000 (-NaN)"
        assert after.first.ulps is None


# --- sums -----------------------------------------------------------------------------------------


def _terms_last(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return np.transpose(x, [*kept, *axes]).reshape(*(x.shape[a] for a in kept), -1)


def sequential_sum(plan, operands, geometry):
    if plan.output is not DType.Float32:
        return right(plan, operands, geometry)
    kind = np.float64 if plan.accumulator_dtype is DType.Float64 else np.float32
    terms = _terms_last(converted(operands[0]).array, geometry.axes).astype(kind)
    with np.errstate(all="ignore"):
        total = np.zeros(terms.shape[:-1], kind)
        for index in range(terms.shape[-1]):
            total = total + terms[..., index]
        total = total.astype(np.float32)
    return of_floats(plan, total.reshape(geometry.shape))


def sum_off_by_a_thousandth(plan, operands, geometry):
    result = right(plan, operands, geometry)
    with np.errstate(all="ignore"):
        return of_floats(plan, result.array * np.float32(1.001))


def is_float32_sum(plan) -> bool:
    return plan.accumulator_dtype is DType.Float32


@pytest.mark.rule("verify.classes.association")
def test_sequential_sum_is_another_association():
    (report,) = found("reduce_sum", sequential_sum, plans=is_float32_sum, cases=1000)
    assert report.association > 0
    assert (report.departures, report.refused, report.nan_bits) == (0, 0, 0)
    assert report.verdict == "order"


@pytest.mark.rule("verify.classes.association")
def test_sequential_sum_departs_where_bits_are_promised():
    (lenient,) = found("reduce_sum", sequential_sum, plans=is_float32_sum, cases=1000)
    (strict,) = found("reduce_sum", sequential_sum, plans=is_float32_sum, cases=1000, strict=True)
    assert (strict.association, strict.departures) == (0, lenient.association)
    assert strict.first.kind == VALUE
    assert strict.first.rule.startswith("32 lanes")
    assert strict.first.operands[0].count(" (") >= 3


@pytest.mark.rule("verify.classes.association")
def test_sum_outside_its_error_bound_departs():
    for report in found("reduce_sum matmul", sum_off_by_a_thousandth, plans=is_float):
        assert report.departures > 0
        assert report.first.kind == VALUE
        assert report.first.ulps > 1000


def reversed_terms(plan, operands, geometry):
    """Add the terms of every sum in descending order, rounding as the contract does."""
    lhs, *others = (converted(o) for o in operands)
    if plan.operation == "cumsum":
        lines = np.moveaxis(lhs.array, geometry.axis, -1)
        sums = np.zeros(lines.shape, np.float32)
        with np.errstate(all="ignore"):
            for length in range(1, lines.shape[-1] + 1):
                for term in range(length - 1, -1, -1):
                    sums[..., length - 1] += lines[..., term]
        return of_floats(plan, np.moveaxis(sums, -1, geometry.axis))
    if plan.operation == "matmul":
        buffers = (lhs, *others)
        flipped = [np.ascontiguousarray(np.flip(b.array, 1 - p)) for p, b in enumerate(buffers)]
        return right(
            plan, [Buffer(b.dtype, f) for b, f in zip(buffers, flipped, strict=True)], geometry
        )
    if plan.operation == "scatter_add":
        # The base last: its place among the terms is as free as any.
        indices, updates = others
        added = right(
            plan,
            [
                of_floats(plan, np.zeros(lhs.shape, np.float32)),
                Buffer(DType.Int32, np.flip(indices.array)),
                Buffer(updates.dtype, np.flip(updates.array, geometry.axis)),
            ],
            geometry,
        )
        hit = np.isin(np.arange(geometry.extent), indices.array)
        hit = hit.reshape([-1 if a == geometry.axis else 1 for a in range(len(geometry.shape))])
        with np.errstate(all="ignore"):
            total = np.where(hit, added.array + lhs.array, lhs.array)
        negative = bits_of(right(plan, operands, geometry)) == SIGN  # no order changes it
        bits = np.where(hit, of_floats(plan, total).bits(), lhs.bits())
        return of_bits(plan, np.where(negative, SIGN, bits))
    arrays = [Array(b.dtype, b.shape, b.elements()) for b in (lhs, *others)]
    result = np.zeros(geometry.shape, np.uint32)
    for at in np.ndindex(*geometry.shape):
        position = tuple(at[axis] for axis in geometry.output_dims)
        total = 0
        for value, weight in reversed(list(conv.factors(*arrays, geometry, position))):
            total = ar.add(BINARY32, total, ar.mul(BINARY32, value, weight))
        result[at] = total
    return of_bits(plan, result)


@pytest.mark.rule("verify.classes.association")
@pytest.mark.parametrize("operation", ["cumsum", "matmul", "scatter_add", "conv_general"])
def test_reversed_sum_is_another_association(operation):
    """Of each kind of sum the terms are found, wherever their elements lie."""
    for report in found(operation, reversed_terms, plans=is_float, cases=1000):
        if report.plan.accumulator_dtype is DType.Float64:
            assert report.equal > 0
        else:
            assert report.association > 0, report
        assert (report.departures, report.refused, report.nan_bits) == (0, 0, 0), report.first


def summed_from_minus_zero(plan, operands, geometry):
    """Start from the first term, or from -0: a sum of only -0 keeps its sign."""
    result = bits_of(right(plan, operands, geometry))
    if plan.output is not DType.Float32:
        return right(plan, operands, geometry)
    terms = _terms_last(converted(operands[0]).bits(), geometry.axes)
    negative = (terms == SIGN).all(axis=-1) & (terms.shape[-1] > 0)
    return of_bits(plan, np.where(negative.reshape(geometry.shape), SIGN, result))


@pytest.mark.rule("verify.faults.sums")
def test_sum_that_does_not_start_from_zero_departs():
    for report in found("reduce_sum", summed_from_minus_zero, plans=is_float):
        assert report.departures > 0, report
        assert report.first.kind == ZERO
        assert report.first.expected.startswith("00000000")


def cumsum_from_first_term(plan, operands, geometry):
    x = converted(operands[0]).bits()
    result = bits_of(right(plan, operands, geometry))
    started = np.logical_and.accumulate(x == SIGN, axis=geometry.axis)
    return of_bits(plan, np.where(started, SIGN, result))


@pytest.mark.rule("verify.faults.sums")
def test_cumsum_from_the_first_term_departs():
    (report,) = found("cumsum", cumsum_from_first_term)
    assert report.departures > 0
    assert report.first.kind == ZERO
    assert report.first.expected.startswith("00000000")
    assert report.first.actual.startswith("80000000")
    assert report.first.rule == "ascending sums from +0, each rounded; the first is +0 + x"


def scatter_add_from_zero(plan, operands, geometry):
    """Add the base to +0 first: -0 loses its sign."""
    result = bits_of(right(plan, operands, geometry))
    return of_bits(plan, np.where(result == SIGN, np.uint32(0), result))


@pytest.mark.rule("verify.faults.sums")
def test_scatter_add_that_starts_from_zero_departs():
    (report,) = found("scatter_add", scatter_add_from_zero, cases=2000)
    assert report.departures > 0
    assert report.first.kind == ZERO


def wrapped_sum(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    total = np.sum(
        converted(operands[0]).array,
        axis=geometry.axes,
        keepdims=geometry.keepdims,
        dtype=np.int32,
    )
    return Buffer(plan.output, np.asarray(total, np.int32))


@pytest.mark.rule("verify.faults.int32")
def test_wrapping_int32_sum_departs():
    (report,) = found("reduce_sum", wrapped_sum, plans=is_int)
    assert report.departures > 0
    assert report.first.kind == WRAP
    assert report.first.rule == NEVER_WRAPS


def wrapped_matmul(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    a, b = (converted(o).array for o in operands)
    return Buffer(plan.output, a @ b)


@pytest.mark.rule("verify.faults.int32")
def test_wrapping_int32_matmul_departs():
    (report,) = found("matmul", wrapped_matmul, plans=is_int)
    assert report.departures > 0
    assert report.first.kind == WRAP


def checked(plan, exact: np.ndarray) -> Buffer:
    outside = np.argwhere((exact > 2**31 - 1) | (exact < -(2**31)))
    if outside.size:
        raise Int32OverflowError(plan.operation, tuple(map(int, outside[0])))
    return Buffer(plan.output, exact.astype(np.int32))


def matmul_in_64_bits(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    a, b = (converted(o).array.astype(np.int64) for o in operands)
    return checked(plan, a @ b)


@pytest.mark.rule("verify.faults.int32")
def test_int32_matmul_in_64_bits_departs():
    """Section 12.8: four products (-2^31)(-2^31) make 2^64, which 64 bits call 0."""
    (report,) = found("matmul", matmul_in_64_bits, plans=is_int, cases=2000)
    assert report.departures > 0
    assert report.first.kind == WRAP


def matmul_with_checked_products(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    a, b = (converted(o).array.astype(np.int64) for o in operands)
    products = a[:, :, None] * b[None, :, :]
    checked(plan, products)
    return right(plan, operands, geometry)


@pytest.mark.rule("verify.faults.int32")
def test_int32_matmul_that_checks_each_product_is_found():
    """Section 12.8: products outside Int32 may cancel back into it."""
    (report,) = found("matmul", matmul_with_checked_products, plans=is_int, cases=2000)
    assert report.refused > 0
    assert "outside Int32" in report.reason


def sum_with_checked_steps(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    terms = _terms_last(converted(operands[0]).array.astype(np.int64), geometry.axes)
    checked(plan, np.add.accumulate(terms, axis=-1))
    return right(plan, operands, geometry)


@pytest.mark.rule("verify.faults.int32")
def test_int32_sum_that_checks_each_step_is_found():
    """Section 8.8: [M, M, -M] is M."""
    (report,) = found("reduce_sum", sum_with_checked_steps, plans=is_int, cases=2000)
    assert report.refused > 0


def int32_value_fault(plan, operands, geometry):
    result = right(plan, operands, geometry)
    return Buffer(plan.output, np.asarray(result.array ^ 1))


@pytest.mark.rule("verify.faults.int32")
@pytest.mark.parametrize("operation", ["add", "relu", "reduce_sum", "matmul"])
def test_wrong_int32_value_departs(operation):
    (report,) = found(operation, int32_value_fault, plans=is_int)
    assert report.first.kind == VALUE
    assert report.first.rule == EXACT_INT32
    assert report.first.ulps is None


# --- contraction ----------------------------------------------------------------------------------


def fused_matmul(plan, operands, geometry):
    """Add each product unrounded: a fused multiply-add."""
    if not is_float32_sum(plan):
        return right(plan, operands, geometry)
    a, b = (floats(o).astype(np.float64) for o in operands)
    with np.errstate(all="ignore"):
        total = np.zeros(geometry.shape, np.float32)
        for k in range(geometry.k):
            total = (total + a[:, k, None] * b[None, k, :]).astype(np.float32)
    return of_floats(plan, total)


@pytest.mark.rule("verify.faults.contraction")
def test_fused_matmul_departs_where_two_terms_show_it():
    for report in found("matmul", fused_matmul, plans=is_float32_sum, cases=1000):
        assert report.departures > 0, report
        assert report.first.kind == VALUE
        assert report.first.rule.startswith("each product rounded to binary32")


@pytest.mark.rule("verify.faults.contraction")
def test_fused_matmul_departs_everywhere_where_bits_are_promised():
    lenient = found("matmul", fused_matmul, plans=is_float32_sum, cases=1000)
    strict = found("matmul", fused_matmul, plans=is_float32_sum, cases=1000, strict=True)
    for before, after in zip(lenient, strict, strict=True):
        assert after.departures == before.departures + before.association


def unrounded_products(plan, operands, geometry):
    if plan.accumulator_dtype is not DType.Float64:
        return right(plan, operands, geometry)
    a, b = (floats(o).astype(np.float64) for o in operands)
    with np.errstate(all="ignore"):
        total = np.zeros(geometry.shape, np.float64)
        for k in range(geometry.k):
            total = total + a[:, k, None] * b[None, k, :]
        return of_floats(plan, total.astype(np.float32))


@pytest.mark.rule("verify.faults.contraction")
def test_wide_accumulation_of_unrounded_products_departs():
    """Section 12.1: the products round to binary32 before they are added in binary64."""

    def is_wide(plan):
        return plan.accumulator_dtype is DType.Float64

    for report in found("matmul", unrounded_products, plans=is_wide, cases=1000):
        assert report.departures > 0, report
        assert report.first.kind == VALUE


def padding_skipped(plan, operands, geometry):
    """Leave out the terms of padded positions, so 0 * inf makes no NaN."""
    lhs, kernel = (converted(o) for o in operands)
    arrays = [Array(b.dtype, b.shape, b.elements()) for b in (lhs, kernel)]
    one = ar.one(BINARY32)
    ones = Array(lhs.dtype, lhs.shape, [one] * len(arrays[0].elements))
    result = np.zeros(geometry.shape, np.uint32)
    for at in np.ndindex(*(geometry.shape[axis] for axis in geometry.output_dims)):
        total = 0
        inside = [value == one for value, _ in conv.factors(ones, arrays[1], geometry, at)]
        terms = conv.factors(*arrays, geometry, at)
        for read, (value, weight) in zip(inside, terms, strict=True):
            if read:
                total = ar.add(BINARY32, total, ar.mul(BINARY32, value, weight))
        where = [0] * len(at)
        for role, axis in enumerate(geometry.output_dims):
            where[axis] = at[role]
        result[tuple(where)] = total
    return of_bits(plan, result)


@pytest.mark.rule("verify.faults.contraction")
def test_convolution_that_skips_padding_departs():
    """The padded position contributes +0 * w, which is NaN for an infinite w."""
    (report,) = found("conv_general", padding_skipped, cases=200)
    assert report.departures > 0
    assert report.first.kind == "special value"
    assert report.first.expected == "7fc00000 (NaN)"
    assert "padding included" in report.first.rule


# --- order and indexing ---------------------------------------------------------------------------


def last_winner(plan, operands, geometry):
    x = converted(operands[0])
    flipped = Buffer(x.dtype, np.flip(x.array, geometry.axes))
    ordinals = right(plan, [flipped], geometry).array
    extent = int(np.prod([x.shape[axis] for axis in geometry.axes]))
    return Buffer(plan.output, np.asarray(extent - 1 - ordinals, np.int32))


def reversed_ascending(plan, operands, geometry):
    if not geometry.descending:
        return right(plan, operands, geometry)
    extent = converted(operands[0]).shape[geometry.axis]
    shape = (*geometry.shape[: geometry.axis], extent, *geometry.shape[geometry.axis + 1 :])
    ascending = right(
        plan, operands, Ordering(shape, geometry.axis, descending=False, count=extent)
    )
    descending = np.flip(ascending.array, geometry.axis)
    kept = (slice(None),) * geometry.axis + (slice(geometry.count),)
    return Buffer(plan.output, np.ascontiguousarray(descending[kept]))


def minus_zero_below(plan, operands, geometry):
    """Sort -0 before +0, as an integer comparison of bits does."""
    x = converted(operands[0]).array
    bits = converted(operands[0]).bits().astype(np.int64)
    key = np.where(bits & 0x80000000, 0x7FFFFFFF - bits, bits)
    key = np.where(np.isnan(x), 2**40, key)
    order = np.argsort(-key if geometry.descending else key, axis=geometry.axis, kind="stable")
    kept = (slice(None),) * geometry.axis + (slice(geometry.count),)
    order = order[kept]
    if plan.output is DType.Int32:
        return Buffer(plan.output, order.astype(np.int32))
    taken = np.take_along_axis(x.view(np.uint32), order, geometry.axis)
    return of_bits(plan, taken)


def next_index(plan, operands, geometry):
    data, indices, *rest = operands
    moved = np.asarray((converted(indices).array + 1) % geometry.extent, np.int32)
    return right(plan, [data, Buffer(DType.Int32, moved), *rest], geometry)


def plus_zero_maximum(plan, operands, geometry):
    bits = bits_of(right(plan, operands, geometry))
    return of_bits(plan, np.where(bits == SIGN, np.uint32(0), bits))


STRUCTURED = {
    "argmax takes the last winner": ("argmax", last_winner, VALUE),
    "argmin takes the last winner": ("argmin", last_winner, VALUE),
    "descending values as reversed ascending": ("_sort_values", reversed_ascending, ZERO),
    "descending positions as reversed ascending": ("_sort_indices", reversed_ascending, VALUE),
    "topk positions as reversed ascending": ("_topk_indices", reversed_ascending, VALUE),
    "sort tells -0 from +0": ("_sort_indices _topk_indices", minus_zero_below, VALUE),
    "gather reads the next element": ("gather", next_index, None),
    "scatter writes the next element": ("scatter", next_index, None),
    "scatter_add adds to the next element": ("scatter_add", next_index, None),
    "reduce_max of only -0 is +0": ("reduce_max", plus_zero_maximum, ZERO),
}


@pytest.mark.rule("verify.faults.structured")
@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_fault_is_a_departure_of_its_class(name):
    operations, fault, kind = STRUCTURED[name]
    for report in found(operations, fault, cases=1000):
        assert report.verdict == "departs", report
        assert report.refused == 0
        assert kind is None or report.first.kind == kind
        assert report.first.expected != report.first.actual
        assert report.first.rule == rule_of(report.plan)


@pytest.mark.rule("verify.mismatch.operands")
@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        ("reduce_max", plus_zero_maximum),
        ("cumsum", cumsum_from_first_term),
        ("matmul", sum_off_by_a_thousandth),
        ("_sort_indices", reversed_ascending),
        ("_topk_indices", reversed_ascending),
        ("gather", next_index),
        ("scatter", next_index),
        ("scatter_add", next_index),
        ("conv_general", padding_skipped),
    ],
)
def test_first_mismatch_shows_operand_elements(operation, fault):
    """Issue 10: first mismatch with operands and both results in hex and decimal."""
    report = found(operation, fault, plans=lambda p: p.operands[0].dtype is DType.Float32)[0]
    shown = " ".join(report.first.operands)
    assert re.search(r"\b[0-9a-f]{8} \(", shown), shown


@pytest.mark.rule("verify.mismatch.operands")
def test_int32_results_are_shown_in_hex_and_decimal():
    """Issue 10: both results in hex and decimal."""
    (report,) = found("relu", int32_value_fault, plans=is_int)
    for text in (report.first.expected, report.first.actual):
        assert re.search(r"\b[0-9a-f]{8}\b", text), text


# --- results of another kind ----------------------------------------------------------------------


def as_float64(plan, operands, geometry):
    return natural_result("faulty", plan, right(plan, operands, geometry).array.astype(np.float64))


@pytest.mark.rule("verify.classes.result-dtype")
@pytest.mark.parametrize("operation", ["exp", "add", "reduce_max", "matmul", "eq"])
def test_result_of_another_dtype_departs_in_every_case(operation):
    for report in found(operation, as_float64):
        defined = report.cases - report.equal
        assert report.departures == defined > 0
        assert report.first.kind == "result dtype"
        assert report.first.expected == report.plan.output.name
        assert report.first.actual == "returned float64"
        assert f"gives {report.plan.output.name}" in report.first.rule


def as_int64(plan, operands, geometry):
    del geometry
    a, b = (converted(o).array.astype(np.int64) for o in operands)
    return natural_result("faulty", plan, a * b if a.ndim < 2 else a @ b)


@pytest.mark.rule("verify.classes.result-dtype")
@pytest.mark.parametrize("operation", ["elementwise_mul", "matmul"])
def test_wider_result_where_int32_overflows_is_no_refusal(operation):
    """The library gave a number, of another dtype: nothing about it equals an OverflowError."""
    (report,) = found(operation, as_int64, plans=is_int)
    assert report.departures == report.cases
    assert report.first.kind == "result dtype"


def unchecked_dtype(plan, operands, geometry):
    """Return the right numbers in a buffer of another dtype."""
    result = right(plan, operands, geometry)
    other = DType.Int32 if plan.output is not DType.Int32 else DType.Bool
    if other is DType.Int32:
        return Buffer(other, result.bits().astype(np.int64).astype(np.int32))
    return Buffer(other, result.array.astype(np.bool_))


@pytest.mark.rule("verify.classes.result-dtype")
@pytest.mark.parametrize(
    "operation", ["eq", "logical_not", "abs", "reduce_max", "argmax", "gather"]
)
def test_buffer_of_another_dtype_departs(operation):
    """The numbers alone do not make a result: a Bool is no Int32 of 0 and 1."""
    for report in found(operation, unchecked_dtype):
        assert (report.departures, report.equal) == (report.cases, 0)
        assert report.first.kind == "result dtype"


def reshaped(change):
    def fault(plan, operands, geometry):
        result = right(plan, operands, geometry)
        return Buffer(result.dtype, change(result.array))

    return fault


SHAPES = {
    "an axis more": lambda a: a[..., None],
    "one element less": lambda a: a.reshape(-1)[:-1],
    "one element more": lambda a: np.append(a, a.reshape(-1)[:1]),
    "a scalar": lambda a: a.reshape(-1)[0] if a.size else np.zeros((3,), a.dtype),
}


@pytest.mark.rule("verify.classes.result-shape")
@pytest.mark.parametrize("change", SHAPES)
@pytest.mark.parametrize("operation", ["add", "sqrt", "select", "eq"])
def test_elementwise_result_of_another_shape_departs(operation, change):
    for report in found(
        operation, reshaped(lambda a: np.asarray(SHAPES[change](a))), plans=lambda p: not is_int(p)
    ):
        assert report.departures == report.cases
        assert report.first.kind == "result shape"


@pytest.mark.rule("verify.classes.result-shape")
@pytest.mark.parametrize(
    "operation", ["reduce_sum", "cumsum", "matmul", "conv_general", "gather", "_sort_values"]
)
def test_structured_result_of_another_shape_departs(operation):
    for report in found(operation, reshaped(lambda a: a[..., None]), cases=100):
        assert report.departures > 0
        assert report.equal + report.departures == report.cases
        assert report.first.kind == "result shape"
        assert report.first.expected.startswith("shape (")
        assert report.first.actual.endswith(", 1)")


@pytest.mark.rule("verify.faults.adapter")
def test_array_instead_of_a_buffer_is_refused_by_name():
    with pytest.raises(TypeError, match="backend faulty: execute: returned ndarray; expected a B"):
        found("sqrt", lambda plan, operands, geometry: right(plan, operands, geometry).array)


def wraps_in_another_shape(plan, operands, geometry):
    if plan.output is not DType.Int32:
        return right(plan, operands, geometry)
    return Buffer(plan.output, np.zeros(0, np.int32))


@pytest.mark.rule("verify.classes.result-shape")
@pytest.mark.parametrize("operation", ["reduce_sum", "matmul", "add"])
def test_wrong_shape_where_int32_overflows_is_a_finding_and_no_crash(operation):
    (report,) = found(operation, wraps_in_another_shape, plans=is_int)
    assert report.verdict == "departs"


# --- refusals -------------------------------------------------------------------------------------


@dataclass
class Picky:
    """Generic, but it raises on every element whose bits are odd, and counts them."""

    seen: int = 0
    name: str = "picky"

    def accepts(self, plan, shapes, layout, attributes):
        del plan, shapes, layout, attributes
        return True

    def execute(self, plan, operands, attributes):
        odd = converted(operands[0]).bits() & 1 == 1
        if odd.any():
            self.seen += odd.size == 1
            msg = "odd elements are not supported\nsecond line"
            raise RuntimeError(msg)
        return GENERIC.execute(plan, operands, attributes)


@pytest.mark.rule("verify.classes.refused")
@pytest.mark.parametrize("operation", ["sqrt", "maximum", "select"])
def test_refused_counts_exactly_the_elements_that_raise(operation):
    backend = Picky()
    (report,) = verify(backend, policy=SIMPLE, operations=[operation], cases=300).reports
    assert 0 < report.refused == backend.seen < report.cases
    assert report.equal == report.cases - report.refused
    assert report.reason == "RuntimeError: odd elements are not supported"
    assert report.departures == 0


@pytest.mark.rule("verify.classes.refused")
def test_refusal_beside_a_fault_keeps_the_operands_of_the_right_element():
    """Cutting a call in halves must not lose which element is which."""

    def fault(plan, operands, geometry):
        bits = converted(operands[0]).bits()
        if (bits & 7 == 1).any():
            raise RuntimeError
        result = bits_of(right(plan, operands, geometry))
        return of_bits(plan, np.where(bits == 0x40000000, result ^ 1, result))

    (report,) = found("sqrt", fault)
    assert report.departures == 1
    assert report.first.operands == ("40000000 (2)",)
    assert report.first.expected == "3fb504f3 (1.41421354)"
    assert report.refused > 0


@dataclass(frozen=True)
class Declining:
    """Generic, but it declines some calls."""

    reason: str
    picks: Callable[[Any, Any, Geometry], bool]
    name: str = "declining"

    def accepts(self, plan, shapes, layout, attributes):
        del layout
        return Decline(self.reason) if self.picks(plan, shapes, attributes) else True

    def execute(self, plan, operands, attributes):
        assert not self.picks(plan, [converted(o).shape for o in operands], attributes)
        return GENERIC.execute(plan, operands, attributes)


@pytest.mark.rule("verify.classes.refused")
def test_declined_plan_is_refused_with_its_reason():
    backend = Declining("no kernel for sqrt", lambda plan, *_: plan.operation == "sqrt")
    sqrt, rsqrt = sorted(
        verify(backend, operations=["sqrt", "rsqrt"], cases=50).reports,
        key=lambda r: r.plan.operation != "sqrt",
    )
    assert (sqrt.cases, sqrt.refused, sqrt.verdict) == (50, 50, "refused")
    assert sqrt.reason == "no kernel for sqrt"
    assert (rsqrt.refused, rsqrt.verdict, rsqrt.reason) == (0, "equal", "")


@pytest.mark.rule("verify.classes.refused")
def test_declined_shape_counts_its_results_alone():
    backend = Declining("not over several axes", lambda _p, _s, geometry: len(geometry.axes) > 1)
    (report,) = verify(backend, policy=SIMPLE, operations=["reduce_prod"], cases=50).reports
    assert report.refused == 1
    assert report.equal == report.cases - 1 > 0
    assert report.reason == "not over several axes"


@pytest.mark.rule("verify.classes.refused")
def test_decline_without_words_is_a_decline():
    (report,) = verify(Declining("", lambda *_: True), operations=["sqrt"], cases=50).reports
    assert (report.refused, report.verdict) == (50, "refused")


@pytest.mark.rule("verify.classes.refused")
@pytest.mark.parametrize("operation", ["mul", "matmul"])
def test_backend_without_the_operation_is_never_called_equal(operation):
    """An overflow is equal to an overflow, not to `not implemented for 'Int'`."""

    def unimplemented(plan, operands, geometry):
        del operands, geometry
        msg = f'"{plan.operation}" not implemented for Int'
        raise NotImplementedError(msg)

    for report in found(operation, unimplemented, plans=is_int):
        assert report.verdict == "refused", report
        assert report.equal == 0


@pytest.mark.rule("verify.classes.refused")
@pytest.mark.parametrize("error", [OverflowError("too big"), Int32OverflowError("mul", (0,))])
def test_overflow_error_of_a_backend_equals_that_of_the_reference(error):
    def fault(plan, operands, geometry):
        try:
            return right(plan, operands, geometry)
        except OverflowError:
            raise error from None

    for report in found("mul matmul reduce_sum", fault, plans=is_int):
        assert report.verdict == "equal"
        assert report.equal == report.cases


def broken_adapter(kind):
    def fault(plan, operands, geometry):
        if kind == "name":
            return undefined_name(plan, operands, geometry)  # noqa: F821 - the planted fault
        return np.an_attribute_that_is_not_there

    return fault


@pytest.mark.rule("verify.faults.adapter")
@pytest.mark.parametrize("operation", ["sqrt", "cumsum"])
@pytest.mark.parametrize(("kind", "error"), [("name", NameError), ("attribute", AttributeError)])
def test_fault_of_the_adapter_itself_propagates(operation, kind, error):
    with pytest.raises(error):
        found(operation, broken_adapter(kind))


@pytest.mark.rule("verify.faults.adapter")
@pytest.mark.parametrize("operation", ["mul", "matmul", "reduce_sum"])
def test_fault_of_the_adapter_propagates_where_int32_overflows(operation):
    def fault(plan, operands, geometry):
        try:
            return right(plan, operands, geometry)
        except OverflowError:
            return undefined_name  # noqa: F821 - the planted fault

    with pytest.raises(NameError):
        found(operation, fault, plans=is_int)


@pytest.mark.rule("verify.faults.adapter")
@pytest.mark.parametrize("operation", ["sqrt", "cumsum"])
def test_interrupt_in_a_backend_is_no_finding(operation):
    def fault(*_call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        found(operation, fault)


# --- the reference --------------------------------------------------------------------------------


@pytest.mark.rule("verify.reference")
@pytest.mark.parametrize("operation", ["erf", "conv_general"])
def test_plan_that_the_reference_declines_is_no_departure(operation):
    """NumPy has neither: compared with it, a backend cannot depart."""
    (report,) = verify("generic", against="numpy", operations=[operation], cases=30).reports
    assert report.departures == 0
    assert report.verdict == "refused"


@pytest.mark.rule("verify.reference")
def test_fault_of_the_reference_is_no_overflow():
    """Only an overflow is a defined failure: anything else of the reference must not pass."""

    def fault(*_call):
        msg = "the reference is broken"
        raise RuntimeError(msg)

    for operation in ("sqrt", "cumsum"):
        reference = Faulty((operation,), fault, "reference")
        try:
            (report,) = verify(
                Faulty((operation,), fault),
                against=reference,
                policy=SIMPLE,
                operations=[operation],
                cases=30,
            ).reports
        except RuntimeError:
            continue
        assert (report.equal, report.departures) == (0, 0), report


@pytest.mark.rule("verify.reference")
def test_every_pair_of_our_backends_can_be_compared():
    run = verify("generic", against="cpu", cases=30, operations=["add", "sin", "matmul"])
    assert run.departures == 0
    assert (run.backend, run.against) == ("generic", "cpu")


# --- the wrapper itself ---------------------------------------------------------------------------


@pytest.mark.rule("verify.faults")
def test_wrapper_without_a_fault_is_equal_everywhere():
    """So that what the tests above find is the fault and not the wrapper."""
    operations = tuple(spec.name for spec in DEFAULT.specs())
    run = verify(Faulty(operations, right), cases=10)
    assert {r.verdict for r in run.reports} == {"equal"}
    assert run.backend == "faulty"
    assert not run.strict
