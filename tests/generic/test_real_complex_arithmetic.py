"""Bits of real and complex arithmetic, both backends, against MPFR one rounding a step."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from typing import Any

import pytest
import real_complex_oracle as oracle
from real_complex_oracle import ARITHMETIC, BINARY32, BINARY64, Format

import bittrue
from bittrue import Tensor
from bittrue.dtypes import DType, SimpleDType
from bittrue.tensor import Buffer

F32, F64, C64, C128 = DType.Float32, DType.Float64, DType.Complex64, DType.Complex128
# dtype: format of a part, whether it has two
KINDS: dict[SimpleDType, tuple[Format, bool]] = {
    F32: (BINARY32, False),
    F64: (BINARY64, False),
    C64: (BINARY32, True),
    C128: (BINARY64, True),
}
BACKENDS = ["generic", "cpu"]
PAIRS = list(itertools.product(KINDS, KINDS))


def tensor(dtype: SimpleDType, elements: list[int], shape: tuple[int, ...] | None = None) -> Tensor:
    return Tensor(Buffer.from_elements(dtype, shape or (len(elements),), elements))


def read(dtype: SimpleDType, element: int) -> Any:
    fmt, pair = KINDS[dtype]
    if not pair:
        return fmt.read(element)
    mask = (1 << fmt.width) - 1
    return fmt.read(element & mask), fmt.read(element >> fmt.width)


def write(dtype: SimpleDType, value: Any) -> int:
    fmt, pair = KINDS[dtype]
    if not pair:
        return fmt.write(value)
    return fmt.write(value[0]) | fmt.write(value[1]) << fmt.width


def patterns(dtype: SimpleDType, count: int, seed: int) -> list[int]:
    fmt, pair = KINDS[dtype]
    rng = random.Random(seed)
    if not pair:
        return [oracle.drawn(fmt, rng) for _ in range(count)]
    return [oracle.drawn(fmt, rng) | oracle.drawn(fmt, rng) << fmt.width for _ in range(count)]


def every_special(dtype: SimpleDType) -> list[int]:
    fmt, pair = KINDS[dtype]
    bits = oracle.specials(fmt)
    return [a | b << fmt.width for a, b in itertools.product(bits, bits)] if pair else bits


def result_of(lhs: SimpleDType, rhs: SimpleDType) -> SimpleDType:
    """Return the dtype of the table: the wider part, complex if either is."""
    wide = any(KINDS[d][0] is BINARY64 for d in (lhs, rhs))
    pair = any(KINDS[d][1] for d in (lhs, rhs))
    return (C128 if wide else C64) if pair else (F64 if wide else F32)


def names(value: object) -> str | None:
    return value.name if isinstance(value, SimpleDType) else None


# --- the oracle itself --------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", [BINARY32, BINARY64, oracle.BINARY128])
def test_the_oracle_reads_and_writes_every_kind_of_pattern(fmt: Format) -> None:
    rng = random.Random(1)
    for bits in (*oracle.specials(fmt), *(oracle.drawn(fmt, rng) for _ in range(3000))):
        nan = bits & ~fmt.sign > fmt.infinity
        assert fmt.write(fmt.read(bits)) == (fmt.quiet_nan if nan else bits)


def test_the_oracle_rounds_into_subnormals_once() -> None:
    least = BINARY32.read(1)
    half = BINARY32.read(0x3F00_0000)
    assert BINARY32.write(BINARY32.mul(least, half)) == 0
    assert BINARY32.write(BINARY32.mul(BINARY32.read(3), half)) == 2
    assert BINARY32.write(BINARY32.add(least, BINARY32.read(0x8000_0001))) == 0


# --- typed rows ---------------------------------------------------------------------------------

H = 0x7F7F_FFFF
INF, NINF, NAN, ONE, TWO = 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x3F80_0000, 0x4000_0000
NZ = 0x8000_0000
# operation, (a, b), (c, d), result, of Complex64
TYPED = [
    ("mul", (INF, 0), (ONE, 0), (INF, NAN)),
    ("mul", (INF, INF), (ONE, ONE), (NAN, INF)),
    ("mul", (INF, NAN), (ONE, ONE), (NAN, NAN)),
    ("mul", (0, 0), (INF, 0), (NAN, NAN)),
    ("mul", (H, H), (TWO, TWO), (NAN, INF)),
    ("mul", (NZ, 0), (ONE, 0), (NZ, 0)),
    ("div", (ONE, ONE), (0, 0), (INF, INF)),
    ("div", (ONE, 0), (NZ, 0), (INF, NAN)),
    ("div", (INF, 0), (ONE, ONE), (INF, NINF)),
    ("div", (ONE, ONE), (INF, INF), (NAN, NAN)),
    ("div", (ONE, ONE), (INF, 0), (0, 0)),
    # Known weakness of the form, accepted: z / z near the ends of the range.
    ("div", (H, H), (H, H), (NAN, 0)),
    ("div", (1, 1), (1, 1), (INF, NAN)),
]
# A real beside a complex number has no imaginary part: None.
TYPED_REAL = [
    ("add", (NZ, None), (NZ, NZ), (NZ, NZ)),
    ("add", (ONE, None), (0, 0xFFC1_2345), (ONE, NAN)),
    ("sub", (ONE, None), (0, 0), (ONE, NZ)),
    ("sub", (0, NZ), (ONE, None), (0xBF80_0000, NZ)),
    ("mul", (INF, ONE), (TWO, None), (INF, TWO)),
    ("mul", (NZ, None), (0, ONE), (NZ, NZ)),
    ("mul", (0xBF80_0000, None), (ONE, 0), (0xBF80_0000, NZ)),
    ("div", (INF, ONE), (TWO, None), (INF, 0x3F00_0000)),
    ("div", (ONE, NZ), (0, None), (INF, NAN)),
    ("div", (ONE, None), (0, ONE), (0, 0xBF80_0000)),
]


@pytest.mark.rule("complex.typed-values")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("operation", "lhs", "rhs", "result"), [*TYPED, *TYPED_REAL])
def test_special_values_as_the_document_types_them(
    operation: str, lhs: Any, rhs: Any, result: tuple[int, int], backend: str
) -> None:
    operands = [
        tensor(F32, [re]) if im is None else tensor(C64, [re | im << 32]) for re, im in (lhs, rhs)
    ]
    found = bittrue.run(operation, *operands, backend=backend)
    assert found.dtype is C64
    assert found.buffer.elements() == [result[0] | result[1] << 32]


# --- elementwise --------------------------------------------------------------------------------


def check(operation: str, lhs: SimpleDType, rhs: SimpleDType, x: list[int], y: list[int]) -> None:
    dtype = result_of(lhs, rhs)
    fmt = KINDS[dtype][0]
    function = ARITHMETIC[operation]
    expected = [
        write(dtype, function(fmt, read(lhs, a), read(rhs, b))) for a, b in zip(x, y, strict=True)
    ]
    for backend in BACKENDS:
        found = bittrue.run(operation, tensor(lhs, x), tensor(rhs, y), backend=backend)
        assert found.dtype is dtype
        bits = found.buffer.elements()
        wrong = [
            (f"{a:x}", f"{b:x}", f"{e:x}", f"{g:x}")
            for a, b, e, g in zip(x, y, expected, bits, strict=True)
            if e != g
        ]
        assert not wrong, (backend, len(wrong), wrong[:3])


@pytest.mark.rule("complex.definition")
@pytest.mark.parametrize("operation", ARITHMETIC)
@pytest.mark.parametrize(("lhs", "rhs"), PAIRS, ids=names)
def test_arithmetic_of_every_pair_of_dtypes_is_one_rounding_a_step(
    operation: str, lhs: SimpleDType, rhs: SimpleDType
) -> None:
    check(operation, lhs, rhs, patterns(lhs, 600, 11), patterns(rhs, 600, 12))


@pytest.mark.rule("complex.special-values")
@pytest.mark.parametrize("operation", ARITHMETIC)
@pytest.mark.parametrize(
    ("lhs", "rhs"), [(C64, C64), (F32, C64), (C64, F32), (F64, C128), (C128, F64)], ids=names
)
def test_every_pair_of_special_values(operation: str, lhs: SimpleDType, rhs: SimpleDType) -> None:
    x, y = zip(*itertools.product(every_special(lhs), every_special(rhs)), strict=True)
    if len(x) > 6000:
        chosen = random.Random(5).sample(range(len(x)), 6000)
        x, y = [x[i] for i in chosen], [y[i] for i in chosen]
    check(operation, lhs, rhs, list(x), list(y))


@pytest.mark.slow
@pytest.mark.rule("complex.special-values")
@pytest.mark.parametrize("operation", ARITHMETIC)
@pytest.mark.parametrize("dtype", [C64, C128], ids=names)
def test_every_pair_of_special_values_without_choice(operation: str, dtype: SimpleDType) -> None:
    values = every_special(dtype)
    x, y = zip(*itertools.product(values, values), strict=True)
    check(operation, dtype, dtype, list(x), list(y))


@pytest.mark.rule("complex.equality")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("lhs", "rhs"), PAIRS, ids=names)
def test_equality_is_of_both_parts_after_exact_widening(
    lhs: SimpleDType, rhs: SimpleDType, backend: str
) -> None:
    """A real has the imaginary part +0; a NaN equals nothing, and -0 is +0."""
    x, y = zip(*itertools.product(every_special(lhs)[:60], every_special(rhs)[:60]), strict=True)
    expected = [oracle.equal(read(lhs, a), read(rhs, b)) for a, b in zip(x, y, strict=True)]
    assert any(expected)
    a, b = tensor(lhs, list(x)), tensor(rhs, list(y))
    assert bittrue.run("eq", a, b, backend=backend).tolist() == expected
    assert bittrue.run("ne", a, b, backend=backend).tolist() == [not e for e in expected]


@pytest.mark.rule("complex.comparison")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("lhs", "rhs"), [(F32, F64), (F64, F32), (F64, F64)], ids=names)
def test_order_of_reals_after_exact_widening(
    lhs: SimpleDType, rhs: SimpleDType, backend: str
) -> None:
    x, y = zip(*itertools.product(every_special(lhs), every_special(rhs)), strict=True)
    a, b = tensor(lhs, list(x)), tensor(rhs, list(y))
    pairs = [(read(lhs, p), read(rhs, q)) for p, q in zip(x, y, strict=True)]
    assert bittrue.run("lt", a, b, backend=backend).tolist() == [p < q for p, q in pairs]
    assert bittrue.run("le", a, b, backend=backend).tolist() == [p <= q for p, q in pairs]


@pytest.mark.rule("complex.moves-bits")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [C64, C128], ids=names)
def test_neg_conj_real_and_imag_flip_signs_and_move_bits(dtype: SimpleDType, backend: str) -> None:
    """Payloads of NaNs and signaling NaNs stay."""
    width = KINDS[dtype][0].width
    mask, low, high = (1 << width) - 1, 1 << (width - 1), 1 << (2 * width - 1)
    x = [*every_special(dtype), *patterns(dtype, 300, 3)]
    for operation, expected in (
        ("neg", [e ^ low ^ high for e in x]),
        ("conj", [e ^ high for e in x]),
        ("real", [e & mask for e in x]),
        ("imag", [e >> width for e in x]),
    ):
        found = bittrue.run(operation, tensor(dtype, x), backend=backend)
        assert found.buffer.elements() == expected


@pytest.mark.rule("complex.absolute")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [C64, C128], ids=names)
def test_the_modulus_is_rounded_once_and_does_not_overflow_early(
    dtype: SimpleDType, backend: str
) -> None:
    fmt = KINDS[dtype][0]
    x = [*every_special(dtype), *patterns(dtype, 1500, 4)]
    found = bittrue.run("abs", tensor(dtype, x), backend=backend).buffer.elements()
    assert found == [fmt.write(oracle.absolute(fmt, read(dtype, e))) for e in x]


# --- weak scalars -------------------------------------------------------------------------------

WEAK = [3, -1, 0, True, 0.1, -0.0, float("inf"), float("nan"), 1e-45, 2**24 + 1, 1j, -2.5 + 0.1j,
        complex(0.0, float("-inf"))]  # fmt: skip


@pytest.mark.rule("complex.weak-scalars")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("operation", ARITHMETIC)
@pytest.mark.parametrize("dtype", KINDS, ids=names)
def test_a_weak_scalar_converts_once_and_keeps_its_kind(
    operation: str, dtype: SimpleDType, backend: str
) -> None:
    fmt, pair = KINDS[dtype]
    x = [*every_special(dtype)[:40], *patterns(dtype, 40, 8)]
    for scalar in WEAK:
        # One rounding from the exact value: the value itself is exact in 113 bits.
        if isinstance(scalar, complex):
            weak = tuple(oracle.into(fmt, oracle.gmpy2.mpfr(p, 113)) for p in
                         (scalar.real, scalar.imag))  # fmt: skip
        else:
            weak = oracle.into(fmt, oracle.gmpy2.mpfr(scalar, 113))
        complex_result = pair or isinstance(scalar, complex)
        output = {24: (F32, C64), 53: (F64, C128)}[fmt.precision][complex_result]
        function = ARITHMETIC[operation]
        for reflected in (False, True):
            operands = (scalar, tensor(dtype, x)) if reflected else (tensor(dtype, x), scalar)
            found = bittrue.run(operation, *operands, backend=backend)
            assert found.dtype is output
            numbers = [read(dtype, e) for e in x]
            expected = [
                function(fmt, weak, n) if reflected else function(fmt, n, weak) for n in numbers
            ]
            assert found.buffer.elements() == [write(output, e) for e in expected], scalar


# --- reductions ---------------------------------------------------------------------------------


def tame(dtype: SimpleDType, count: int, seed: int) -> list[int]:
    """Return finite numbers of sizes that show the order of a sum."""
    fmt, pair = KINDS[dtype]
    rng = random.Random(seed)

    def one() -> int:
        exponent = fmt.bias + rng.randint(-9, 9)
        return rng.choice((0, fmt.sign)) | exponent << fmt.fraction | rng.getrandbits(fmt.fraction)

    return [one() | one() << fmt.width if pair else one() for _ in range(count)]


WIDER = {F32: F64, C64: C128}
LENGTHS = (0, 1, 2, 31, 33, 200)


def samples(dtype: SimpleDType, length: int) -> list[list[int]]:
    drawn = [tame(dtype, length, 21), tame(dtype, length, 22)]
    return [*drawn, patterns(dtype, length, 23)]


@pytest.mark.rule("complex.reductions")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", KINDS, ids=names)
def test_sum_and_mean_add_in_the_lane_order_and_narrow_once(
    dtype: SimpleDType, backend: str
) -> None:
    for accumulator in (dtype, WIDER.get(dtype)):
        if accumulator is None:
            continue
        fmt, output = KINDS[accumulator][0], KINDS[dtype][0]
        for length, terms in ((n, t) for n in LENGTHS for t in samples(dtype, n)):
            numbers = [read(dtype, e) for e in terms]
            zero = oracle.zero_of((0, 0) if KINDS[dtype][1] else 0)
            total = oracle.lane_sum(fmt, numbers, zero)
            count = fmt.rounded(oracle.gmpy2.mpfr(length, 113))
            mean = oracle.div(fmt, total, count)
            x = tensor(dtype, terms)
            for operation, value in (("reduce_sum", total), ("mean", mean)):
                found = bittrue.run(operation, x, accumulator_dtype=accumulator, backend=backend)
                assert found.dtype is dtype
                assert found.shape == ()
                assert found.buffer.elements() == [write(dtype, oracle.into(output, value))]


@pytest.mark.rule("complex.reductions")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", KINDS, ids=names)
def test_norm_squares_in_its_format_or_in_the_working_one(dtype: SimpleDType, backend: str) -> None:
    fmt, pair = KINDS[dtype]
    real = F64 if fmt is BINARY64 else F32
    choices: list[tuple[dict[str, Any], Format, Format]] = [({}, fmt, fmt)]
    if fmt is BINARY32:
        choices.append(({"accumulator_dtype": F64}, fmt, BINARY64))
        choices.append(({"working_dtype": F64}, BINARY64, BINARY64))
    for options, terms_in, accumulate_in in choices:
        for terms in (t for n in LENGTHS for t in samples(dtype, n)):
            squares = []
            for element in terms:
                number = read(dtype, element)
                parts = number if pair else (number,)
                first, *rest = (terms_in.mul(p, p) for p in parts)
                squares.append(terms_in.add(first, rest[0]) if rest else first)
            total = oracle.lane_sum(accumulate_in, squares, oracle.zero_of(0))
            value = fmt.rounded(accumulate_in.sqrt(total))
            found = bittrue.run("norm", tensor(dtype, terms), backend=backend, **options)
            assert found.dtype is real
            assert found.buffer.elements() == [fmt.write(value)], options


@pytest.mark.rule("complex.working-dtype")
@pytest.mark.parametrize("backend", BACKENDS)
def test_only_a_working_dtype_saves_the_squares_of_large_numbers(backend: str) -> None:
    x = bittrue.asarray([1e20, 1e20], F32)
    assert bittrue.run("norm", x, backend=backend).tolist() == float("inf")
    wide = bittrue.run("norm", x, accumulator_dtype=F64, backend=backend)
    assert wide.tolist() == float("inf")
    saved = bittrue.run("norm", x, working_dtype=F64, backend=backend)
    assert saved.dtype is F32
    # 2^0.5 * 1e20, the nearest binary32.
    assert f"{saved.buffer.elements()[0]:08x}" == "60f553b3"


@pytest.mark.rule("complex.reductions")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("lhs", "rhs"), PAIRS, ids=names)
def test_products_of_vectors_round_each_term_before_adding(
    lhs: SimpleDType, rhs: SimpleDType, backend: str
) -> None:
    """dot, vdot (the first conjugated) in the lane order; matmul in ascending order."""
    dtype = result_of(lhs, rhs)
    fmt, pair = KINDS[dtype]
    zero = oracle.zero_of((0, 0) if pair else 0)
    for accumulator in (dtype, WIDER.get(dtype)):
        if accumulator is None:
            continue
        wide = KINDS[accumulator][0]
        for length in LENGTHS:
            for x, y in zip(samples(lhs, length), reversed(samples(rhs, length)), strict=True):
                a, b = [read(lhs, e) for e in x], [read(rhs, e) for e in y]
                conjugated = [(n[0], oracle.negated(n[1])) if KINDS[lhs][1] else n for n in a]
                products = [oracle.mul(fmt, p, q) for p, q in zip(a, b, strict=True)]
                others = [oracle.mul(fmt, p, q) for p, q in zip(conjugated, b, strict=True)]
                ascending = zero
                for term in products:
                    ascending = oracle.add(wide, ascending, term)
                p, q = tensor(lhs, x), tensor(rhs, y)
                row, column = tensor(lhs, x, (1, length)), tensor(rhs, y, (length, 1))
                for operation, operands, value in (
                    ("dot", (p, q), oracle.lane_sum(wide, products, zero)),
                    ("vdot", (p, q), oracle.lane_sum(wide, others, zero)),
                    ("matmul", (row, column), ascending),
                ):
                    found = bittrue.run(
                        operation, *operands, accumulator_dtype=accumulator, backend=backend
                    )
                    assert found.dtype is dtype
                    assert found.buffer.elements() == [write(dtype, oracle.into(fmt, value))]


@pytest.mark.rule("complex.reductions")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [F64, C64, C128], ids=names)
def test_prod_and_cumsum_go_in_ascending_order(dtype: SimpleDType, backend: str) -> None:
    """A product starts from the real 1, a sum from +0 in each part."""
    fmt, pair = KINDS[dtype]
    for terms in (t for n in LENGTHS for t in samples(dtype, n)):
        product: Any = oracle.gmpy2.mpfr(1)
        total, sums = oracle.zero_of((0, 0) if pair else 0), []
        for element in terms:
            product = oracle.mul(fmt, product, read(dtype, element))
            total = oracle.add(fmt, total, read(dtype, element))
            sums.append(write(dtype, total))
        if pair and not isinstance(product, tuple):
            product = (product, oracle.zero_of(0))
        x = tensor(dtype, terms)
        found = bittrue.run("reduce_prod", x, backend=backend)
        assert (found.dtype, found.shape) == (dtype, ())
        assert found.buffer.elements() == [write(dtype, product)]
        found = bittrue.run("cumsum", x, 0, backend=backend)
        assert found.buffer.elements() == sums


@pytest.mark.rule("complex.extrema")
@pytest.mark.parametrize("backend", BACKENDS)
def test_extrema_of_float64(backend: str) -> None:
    """A NaN wins and is canonical; +0 is above -0; the first winner has the ordinal."""
    nan, ninf, inf = 0x7FF8 << 48, 0xFFF0 << 48, 0x7FF0 << 48
    one, minus = 0x3FF0 << 48, 1 << 63
    for terms, largest, smallest, first, last in (
        ([one, inf, ninf, inf], inf, ninf, 1, 2),
        ([minus, 0, minus], 0, minus, 0, 0),
        ([0, minus], 0, minus, 0, 0),
        ([minus], minus, minus, 0, 0),
        ([one, 0x7FF0_0000_0000_0001, 0xFFF8_1234_0000_0000], nan, nan, 1, 1),
    ):
        x = tensor(F64, terms)
        found = [
            bittrue.run(name, x, backend=backend).buffer.elements()[0]
            for name in ("reduce_max", "reduce_min", "argmax", "argmin")
        ]
        assert found == [largest, smallest, first, last]


# What nothing reduces to: operation, dtype, its stored element (None: ValueError).
QUIET64 = 0x7FF8_0000_0000_0000
EMPTY = [
    *(("reduce_sum", dtype, 0) for dtype in KINDS),
    ("reduce_prod", F32, ONE),
    ("reduce_prod", F64, one64 := 0x3FF0_0000_0000_0000),
    ("reduce_prod", C64, ONE),
    ("reduce_prod", C128, one64),
    ("mean", F32, NAN),
    ("mean", F64, QUIET64),
    ("mean", C64, NAN | NAN << 32),
    ("mean", C128, QUIET64 | QUIET64 << 64),
    *(("norm", dtype, 0) for dtype in KINDS),
    *((name, dtype, None) for name in ("reduce_max", "reduce_min", "argmax", "argmin")
      for dtype in (F32, F64)),
]  # fmt: skip


@pytest.mark.rule("reductions.empty")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("operation", "dtype", "element"), EMPTY, ids=names)
def test_reduction_of_nothing(
    operation: str, dtype: SimpleDType, element: int | None, backend: str
) -> None:
    """The empty extent counts, also where the result has no element."""
    x = tensor(dtype, [], (0, 3))
    if element is None:
        for axis in (0, None):
            with pytest.raises(ValueError, match="no element"):
                bittrue.run(operation, x, axis=axis, backend=backend)
        assert bittrue.run(operation, x, axis=1, backend=backend).shape == (0,)
        return
    found = bittrue.run(operation, x, axis=0, backend=backend)
    assert found.shape == (3,)
    assert found.buffer.elements() == [element] * 3
    assert bittrue.run(operation, x, axis=1, backend=backend).shape == (0,)
    whole = bittrue.run(operation, x, backend=backend)
    assert (whole.shape, whole.buffer.elements()) == ((), [element])


@pytest.mark.rule("reductions.empty")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", KINDS, ids=names)
def test_products_and_scans_of_nothing(dtype: SimpleDType, backend: str) -> None:
    x = tensor(dtype, [])
    for operation in ("dot", "vdot"):
        found = bittrue.run(operation, x, x, backend=backend)
        assert (found.dtype, found.shape, found.buffer.elements()) == (dtype, (), [0])
    a, b = tensor(dtype, [], (2, 0)), tensor(dtype, [], (0, 1))
    assert bittrue.run("matmul", a, b, backend=backend).buffer.elements() == [0, 0]
    assert bittrue.run("cumsum", x, 0, backend=backend).shape == (0,)


@pytest.mark.rule("reductions.placement")
@pytest.mark.parametrize("operation", ["reduce_sum", "reduce_prod", "mean", "norm", "reduce_max"])
def test_a_full_reduction_is_a_tensor_of_rank_0_and_no_python_number(operation: str) -> None:
    found = bittrue.run(operation, bittrue.asarray([1.0, 2.0], F64))
    assert isinstance(found, Tensor)
    assert (found.shape, found.dtype) == ((), F64)


@pytest.mark.rule("reductions.dtypes")
@pytest.mark.parametrize("operation", ["mean", "norm", "dot", "vdot", "cumsum", "reduce_prod"])
def test_integers_and_bools_have_no_floating_reduction(operation: str) -> None:
    """No silent choice of a floating dtype."""
    for elements in ([1, 2], [True, False]):
        operands = [elements] * (2 if operation.endswith("dot") else 1)
        with pytest.raises(TypeError):
            bittrue.run(operation, *operands)


# --- the extended pair --------------------------------------------------------------------------

ENABLED = """
import itertools, json, random, sys
import bittrue, real_complex_oracle as oracle
from bittrue.policy import DEFAULT
from bittrue.providers import backend_of
from bittrue import Tensor
from bittrue.tensor import Buffer
DTYPES = {
    bittrue.float32: (oracle.BINARY32, False), bittrue.float64: (oracle.BINARY64, False),
    bittrue.complex64: (oracle.BINARY32, True), bittrue.complex128: (oracle.BINARY64, True),
    bittrue.real_ext: (oracle.BINARY128, False), bittrue.complex_ext: (oracle.BINARY128, True),
}
WIDE, REAL, PAIR = oracle.BINARY128, bittrue.real_ext, bittrue.complex_ext
rng = random.Random(9)

def drawn(dtype, count):
    fmt, pair = DTYPES[dtype]
    special = itertools.cycle(oracle.specials(fmt))
    def one(i):
        return next(special) if i % 3 == 0 else oracle.drawn(fmt, rng)
    return [one(i) | one(i + 1) << fmt.width if pair else one(i) for i in range(count)]

def read(dtype, e):
    fmt, pair = DTYPES[dtype]
    low = e & ((1 << fmt.width) - 1)
    return (fmt.read(low), fmt.read(e >> fmt.width)) if pair else fmt.read(e)

def write(value):
    if not isinstance(value, tuple):
        return WIDE.write(value)
    return WIDE.write(value[0]) | WIDE.write(value[1]) << 128

def tensor(dtype, elements):
    return Tensor(Buffer.from_elements(dtype, (len(elements),), elements))

wrong, cases = [], 0
def compare(label, found, dtype, expected):
    global cases
    cases += len(expected)
    if found.dtype is not dtype or found.buffer.elements() != expected:
        wrong.append(label)

for lhs, rhs in itertools.product(DTYPES, DTYPES):
    if REAL not in (lhs, rhs) and PAIR not in (lhs, rhs):
        continue
    result = PAIR if DTYPES[lhs][1] or DTYPES[rhs][1] else REAL
    x, y = drawn(lhs, 120), drawn(rhs, 120)
    a, b = [read(lhs, e) for e in x], [read(rhs, e) for e in y]
    label = f"{lhs.name} {rhs.name}"
    for name, function in oracle.ARITHMETIC.items():
        expected = [write(function(WIDE, p, q)) for p, q in zip(a, b)]
        compare(f"{name} {label}", bittrue.run(name, tensor(lhs, x), tensor(rhs, y)), result,
                expected)
    products = [oracle.mul(WIDE, p, q) for p, q in zip(a, b)]
    total = oracle.lane_sum(WIDE, products, oracle.zero_of(products[0]))
    compare(f"dot {label}", bittrue.run("dot", tensor(lhs, x), tensor(rhs, y)), result,
            [write(total)])
for dtype in (REAL, PAIR):
    x = drawn(dtype, 90)
    numbers = [read(dtype, e) for e in x]
    tame = [e for e, n in zip(x, numbers)
            if all(oracle.gmpy2.is_finite(p) for p in (n if dtype is PAIR else (n,)))]
    for terms in (x, tame, []):
        numbers = [read(dtype, e) for e in terms]
        zero = oracle.zero_of((0, 0) if dtype is PAIR else 0)
        total = oracle.lane_sum(WIDE, numbers, zero)
        compare("sum", bittrue.run("reduce_sum", tensor(dtype, terms)), dtype, [write(total)])
        mean = oracle.div(WIDE, total, oracle.gmpy2.mpfr(len(terms)))
        compare("mean", bittrue.run("mean", tensor(dtype, terms)), dtype, [write(mean)])
        squares = []
        for n in numbers:
            parts = [WIDE.mul(p, p) for p in (n if dtype is PAIR else (n,))]
            squares.append(WIDE.add(*parts) if dtype is PAIR else parts[0])
        root = WIDE.sqrt(oracle.lane_sum(WIDE, squares, oracle.zero_of(0)))
        compare("norm", bittrue.run("norm", tensor(dtype, terms)), REAL, [write(root)])
    for weak in (3, 2**113 + 1, 0.1, True, 1j):
        number = (oracle.into(WIDE, oracle.gmpy2.mpfr(weak.real, 200)),
                  oracle.into(WIDE, oracle.gmpy2.mpfr(weak.imag, 200)))
        if not isinstance(weak, complex):
            number = oracle.into(WIDE, oracle.gmpy2.mpfr(int(weak) if weak == 2**113 + 1
                                                          else weak, 200))
        result = PAIR if isinstance(weak, complex) else dtype
        for name, function in oracle.ARITHMETIC.items():
            expected = [write(function(WIDE, read(dtype, e), number)) for e in x]
            compare(f"{name} {weak}", bittrue.run(name, tensor(dtype, x), weak), result, expected)
size = bittrue.run("abs", tensor(PAIR, drawn(PAIR, 60)))
refused = []
for attempt in (lambda: bittrue.run("mul", tensor(REAL, [0]), 2**16384 - 2**16270),
                lambda: bittrue.run("mul", tensor(REAL, [0]), bittrue.asarray([1])),
                lambda: bittrue.run("lt", tensor(PAIR, [0]), tensor(PAIR, [0])),
                lambda: bittrue.run("exp", tensor(REAL, [0])),
                lambda: bittrue.run("add", tensor(REAL, [0]), tensor(REAL, [0]), backend="cpu"),
                lambda: bittrue.run("add", tensor(REAL, [0]), tensor(REAL, [0]), backend="numpy")):
    try:
        attempt()
        refused.append("accepted")
    except Exception as error:
        refused.append(type(error).__name__)
json.dump({"wrong": wrong, "cases": cases, "abs": size.dtype.name, "refused": refused}, sys.stdout)
"""


@pytest.mark.rule("complex.extended")
def test_the_extended_pair_computes_in_binary128_on_generic_alone() -> None:
    run = subprocess.run(  # noqa: S603 - this interpreter, a script of this file
        [sys.executable, "-c", ENABLED],
        env={**os.environ, "BITTRUE_EXTENDED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["wrong"] == []
    assert found["cases"] > 10_000
    assert found["abs"] == "RealExtended"
    assert found["refused"] == [
        "RangeError",  # an int that binary128 would make infinite
        "PromotionError",  # no row joins it with Int32
        "PromotionError",  # no order
        "UnsupportedError",  # no row of exp
        "UnsupportedError",  # the CPU backend declines
        "UnsupportedError",  # NumPy has no binary128
    ]
