"""Binary64 and complex kernels against exact rationals, MPFR and step-by-step arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from bittrue.cpu import _native
from bittrue.cpu.wide import CODES

LEVELS = ("baseline", "v3", "v4")
SPECIAL = {
    np.float32: (
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000,
        0xBF800000, 0x3F7FFFFF, 0x4B000001, 0x5A000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
        0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001,
    ),
    np.float64: (
        0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
        0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
        0x3FEFFFFFFFFFFFFF, 0x4330000000000001, 0x43D0000000000001, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
        0xFFF8000012345678, 0x7FF0000000000001,
    ),
}  # fmt: skip
WORD = {np.float32: np.uint32, np.float64: np.uint64}
NAME = {np.float32: "f32", np.float64: "f64", np.complex64: "c64", np.complex128: "c128"}
REAL = {np.complex64: np.float32, np.complex128: np.float64}
COMPLEX = {np.float32: np.complex64, np.float64: np.complex128}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(autouse=True, params=LEVELS)
def level(request):
    try:
        _native.set_level(request.param)
    except ValueError:
        pytest.skip(f"this machine has no level {request.param}")
    yield request.param
    _native.set_level("")


def numbers(dtype, count, seed):
    """Return patterns of every kind: specials, random bits and numbers of moderate size."""
    rng = np.random.default_rng(seed)
    bits = np.iinfo(WORD[dtype]).bits
    out = rng.integers(0, 1 << bits, count, dtype=WORD[dtype], endpoint=False)
    moderate = rng.normal(size=count).astype(dtype) * np.exp2(rng.integers(-8, 9, count)).astype(
        dtype
    )
    few = np.round(moderate)
    special = np.array(SPECIAL[dtype], WORD[dtype])[rng.integers(0, 18, count)]
    which = rng.integers(0, 8, count)
    return np.choose(
        which,
        [out, special, few.view(WORD[dtype]), *[moderate.view(WORD[dtype])] * 5],
    ).view(dtype)


def pairs(dtype, count, seed):
    out = np.empty(count, COMPLEX[dtype])
    out.real, out.imag = numbers(dtype, count, seed), numbers(dtype, count, seed + 1)
    return out


def apply(name, *operands, out):
    result = np.empty(np.broadcast_shapes(*(x.shape for x in operands)), out)
    _native.elementwise(CODES[name], operands, result, 1)
    return result


def canonical(array):
    array = np.array(array)
    real = array.reshape(-1).view(REAL.get(array.dtype.type, array.dtype.type))
    real[np.isnan(real)] = np.nan
    return array


def same(found, expected):
    assert found.dtype == expected.dtype
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


# --- one rounding, rationals --------------------------------------------------------------------


def rounded(value, dtype):
    """Round a rational once, to nearest even, by MPFR in the exponent range of the format."""
    precision, emin, emax = (24, -148, 128) if dtype is np.float32 else (53, -1073, 1024)
    with gmpy2.context(
        gmpy2.get_context(), precision=precision, emin=emin, emax=emax, subnormalize=True
    ):
        return dtype(float(gmpy2.mpfr(gmpy2.mpq(value))))


@pytest.mark.rule("cpu.wide.remainder")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floored_remainder_and_quotient_of_finite_numbers(dtype):
    x, y = numbers(dtype, 4000, 1), numbers(dtype, 4000, 2)
    special = np.array(SPECIAL[dtype], WORD[dtype]).view(dtype)
    x = np.concatenate(
        [x, np.repeat(special, special.size), np.full(6, dtype(1) - np.finfo(dtype).eps)]
    )
    y = np.concatenate(
        [y, np.tile(special, special.size), np.array([1, -1, 3, -3, 0.1, -0.1], dtype)]
    )
    name = NAME[dtype]
    rest = apply(f"remainder_{name}_{name}", x, y, out=dtype)
    whole = apply(f"floor_divide_{name}_{name}", x, y, out=dtype)
    for a, b, r, q in zip(x, y, rest, whole, strict=True):
        if np.isnan(a) or np.isnan(b):
            expected = dtype(np.nan), dtype(np.nan)
        elif b == 0:
            expected = (
                dtype(np.nan),
                canonical(np.array([a / b]) if a else np.array([np.nan], dtype))[0],
            )
        elif np.isinf(a):
            expected = dtype(np.nan), dtype(np.nan)
        elif np.isinf(b):
            agree = np.signbit(a) == np.signbit(b)
            expected = (
                (a if agree or a == 0 else b) if a != 0 else np.copysign(dtype(0), b),
                np.copysign(dtype(0), 1 if agree else -1) if agree or a == 0 else dtype(-1),
            )
        else:
            exact = Fraction(float(a)) / Fraction(float(b))
            floor = exact.numerator // exact.denominator
            left = Fraction(float(a)) - floor * Fraction(float(b))
            expected = (
                rounded(left, dtype) if left else np.copysign(dtype(0), b),
                rounded(Fraction(floor), dtype)
                if floor
                else np.copysign(dtype(0), -1 if np.signbit(a) != np.signbit(b) else 1),
            )
        same(np.array([r, q]), np.array(expected, dtype))


@pytest.mark.rule("cpu.wide.floor-of-large-quotients")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_floor_of_large_quotients_is_rounded_once(dtype):
    rng = np.random.default_rng(5)
    digits = np.finfo(dtype).nmant + 1
    x = np.ldexp(rng.integers(1 << (digits - 1), 1 << digits, 4000), rng.integers(-40, 60, 4000))
    y = np.ldexp(rng.integers(1, 1 << digits, 4000), rng.integers(-60, 10, 4000))
    x = x.astype(dtype) * rng.choice([-1, 1], 4000).astype(dtype)
    y = y.astype(dtype)
    # Quotients just beside a tie: a tie in x * 2^k, divided by a number beside one.
    one = np.nextafter(dtype(1), dtype(2))
    ties = np.ldexp(np.arange(1 << (digits - 1), (1 << (digits - 1)) + 64).astype(dtype), 9)
    x = np.concatenate([x, ties, -ties]).astype(dtype)
    y = np.concatenate([y, np.full(128, one)]).astype(dtype)
    name = NAME[dtype]
    whole = apply(f"floor_divide_{name}_{name}", x, y, out=dtype)
    expected = [
        rounded(Fraction(Fraction(float(a)) // Fraction(float(b))), dtype)
        for a, b in zip(x, y, strict=True)
    ]
    same(whole, np.array(expected, dtype))


@pytest.mark.rule("cpu.wide.hypotenuse")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_size_of_a_complex_number_is_rounded_once(dtype):
    special = np.array(SPECIAL[dtype], WORD[dtype]).view(dtype)
    z = pairs(dtype, 6000, 7)
    every = np.empty((special.size, special.size), COMPLEX[dtype])
    every.real, every.imag = special[:, None], special[None, :]
    triples = np.array(
        [complex(m * m - n * n, 2 * m * n) for m, n in itertools.combinations(range(40, 0, -1), 2)],
        COMPLEX[dtype],
    )
    near = np.empty(2000, COMPLEX[dtype])  # one part far below the other
    rng = np.random.default_rng(9)
    near.real = rng.normal(size=2000)
    near.imag = np.ldexp(rng.normal(size=2000), -rng.integers(0, 32, 2000))
    z = np.concatenate([z, every.ravel(), triples, near])
    found = apply(f"abs_{NAME[COMPLEX[dtype]]}", z, out=dtype)
    precision, emin, emax = (24, -148, 128) if dtype is np.float32 else (53, -1073, 1024)
    with gmpy2.context(
        gmpy2.get_context(), precision=precision, emin=emin, emax=emax, subnormalize=True
    ):
        # MPFR's hypot rounds the exact root once; operands enter exactly.
        expected = [
            float(gmpy2.hypot(gmpy2.mpfr(float(w.real)), gmpy2.mpfr(float(w.imag)))) for w in z
        ]
    same(found, canonical(np.array(expected, dtype)))


# --- steps --------------------------------------------------------------------------------------


def kinds(dtype):
    """Return (suffix, left, right) of every pairing with a complex operand, components of dtype."""
    c, r = COMPLEX[dtype], dtype
    z, x = pairs(dtype, 3001, 11), numbers(dtype, 3001, 13)
    w, y = pairs(dtype, 3001, 15), numbers(dtype, 3001, 17)
    return [
        (f"{NAME[c]}_{NAME[c]}", z, w), (f"{NAME[r]}_{NAME[c]}", x, w),
        (f"{NAME[c]}_{NAME[r]}", z, y),
    ]  # fmt: skip


def join(re, im):
    out = np.empty(re.shape, COMPLEX[re.dtype.type])
    out.real, out.imag = re, im
    return canonical(out)


def divided(z, w):
    """Smith's division in the form of the contract, one array operation a step."""
    a, b, c, d = z.real, z.imag, w.real, w.imag
    big = np.abs(c) >= np.abs(d)
    r1, r2 = d / c, c / d
    one = c.dtype.type(1)
    s1, s2 = one / (c + d * r1), one / (d + c * r2)
    re = np.where(big, (a + b * r1) * s1, (a * r2 + b) * s2)
    im = np.where(big, (b - a * r1) * s1, (b * r2 - a) * s2)
    zero = (c == 0) & (d == 0)
    return join(np.where(zero, a / np.abs(c), re), np.where(zero, b / np.abs(c), im))


def expected_of(operation, x, y):
    if operation == "div":
        if np.iscomplexobj(y):
            left = x if np.iscomplexobj(x) else join(x, np.zeros_like(x))
            return divided(left, y)
        return join(x.real / y, x.imag / y)
    if operation == "mul":
        if np.iscomplexobj(x) and np.iscomplexobj(y):
            return join(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)
        return join(x.real * y, x.imag * y) if np.iscomplexobj(x) else join(x * y.real, x * y.imag)
    sign = y.real.dtype.type(-1 if operation == "sub" else 1)
    if not np.iscomplexobj(x):
        return join(x + sign * y.real, np.negative(y.imag) if operation == "sub" else y.imag)
    if not np.iscomplexobj(y):
        return join(x.real + sign * y, x.imag)
    return join(x.real + sign * y.real, x.imag + sign * y.imag)


@pytest.mark.rule("cpu.wide.complex-trees")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
def test_complex_arithmetic_follows_the_published_trees(dtype, operation):
    with np.errstate(all="ignore"):
        for suffix, x, y in kinds(dtype):
            found = apply(f"{operation}_{suffix}", x, y, out=COMPLEX[dtype])
            same(found, expected_of(operation, x, y))


@pytest.mark.rule("cpu.wide.mixed-widths")
def test_operands_are_read_in_their_own_dtype():
    x, z = numbers(np.float32, 997, 21)[::-1], pairs(np.float64, 2000, 23)[::2][:997]
    w = pairs(np.float32, 997, 25)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        wide[np.isnan(x)] = np.nan
        same(apply("mul_f64_c128", x, z, out=np.complex128), expected_of("mul", wide, z))
        same(
            apply("add_c128_c128", w, z, out=np.complex128),
            expected_of("add", w.astype(np.complex128), z),
        )


@pytest.mark.rule("cpu.wide.binary64")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "eq", "ne", "lt", "le"])
def test_binary64_arithmetic(operation):
    x, y = numbers(np.float64, 5003, 31), numbers(np.float64, 5003, 33)
    y[::3] = x[::3]
    ufunc = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "eq": np.equal,
        "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    }[operation]  # fmt: skip
    with np.errstate(all="ignore"):
        expected = ufunc(x, y)
    found = apply(f"{operation}_f64_f64", x, y, out=expected.dtype)
    same(found, canonical(expected) if expected.dtype == np.float64 else expected)


# --- combining terms ----------------------------------------------------------------------------


def lane_sum(terms):
    """Add along axis 0 in the lane order: 32 lanes a block of 4096, folded by halves."""
    while True:
        sums = []
        for start in range(0, max(len(terms), 1), 4096):
            block = terms[start : start + 4096]
            acc = np.zeros((32, *terms.shape[1:]), terms.dtype)
            for row in range(0, len(block), 32):
                some = block[row : row + 32]
                acc[: len(some)] += some
            while len(acc) > 1:
                half = len(acc) // 2
                acc = acc[:half] + acc[half:]
            sums.append(acc[0])
        terms = np.array(sums, terms.dtype)
        if len(terms) == 1:
            return canonical(terms[0])


def sample(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    real = REAL.get(dtype, dtype)
    x = (rng.normal(size=shape) * np.exp2(rng.integers(-20, 20, shape))).astype(real)
    if dtype is real:
        return x
    out = np.empty(shape, dtype)
    out.real, out.imag = x, rng.normal(size=shape)
    return out


SHAPES = [(7,), (33,), (4096,), (4097,), (3 * 4096 + 5,), (5000, 3), (2, 300), (70, 40)]


@pytest.mark.rule("cpu.wide.lane-order")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("in_f64", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_follow_the_lane_order(dtype, in_f64, threads):
    wide = {np.float32: np.float64, np.complex64: np.complex128}.get(dtype, dtype)
    accumulator = wide if in_f64 else dtype
    if dtype is wide:
        in_f64 = True
    for shape in SHAPES:
        x = sample(dtype, shape, 41)
        for array in (x, x[::2], np.asfortranarray(x)):
            out = np.empty(array.shape[1:], accumulator)
            _native.sum_terms(-1, (array,), (0,), in_f64, out, threads)
            same(out, lane_sum(array.astype(accumulator)))
            if x.ndim > 1:
                out = np.empty(array.shape[:1], accumulator)
                _native.sum_terms(-1, (array,), (1,), in_f64, out, threads)
                same(out, lane_sum(np.ascontiguousarray(array.T.astype(accumulator))))
                out = np.empty((), accumulator)
                _native.sum_terms(-1, (array,), (0, 1), in_f64, out, threads)
                same(out, lane_sum(array.astype(accumulator).ravel()))


@pytest.mark.rule("cpu.wide.terms")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("in_f64", [False, True])
def test_terms_are_rounded_before_they_are_added(threads, in_f64):
    for shape in SHAPES:
        z, w = sample(np.complex64, shape, 51), sample(np.complex64, shape, 53)
        product = expected_of("mul", np.conj(z), w)
        out = np.empty(shape[1:], np.complex128 if in_f64 else np.complex64)
        _native.sum_terms(CODES["mul_conj_c64_c64"], (z, w), (0,), in_f64, out, threads)
        same(out, lane_sum(product.astype(out.dtype)))
        square = z.real * z.real + z.imag * z.imag
        out = np.empty(shape[1:], np.float64 if in_f64 else np.float32)
        _native.sum_terms(CODES["square_c64"], (z,), (0,), in_f64, out, threads)
        same(out, lane_sum(square.astype(out.dtype)))


@pytest.mark.rule("cpu.wide.folds")
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.complex128])
def test_products_multiply_in_ascending_order(dtype):
    for shape in [(0,), (1,), (5,), (3000,), (40, 7), (7, 40)]:
        x = sample(dtype, shape, 61)
        x /= np.abs(x)
        for axis in range(x.ndim):
            moved = np.moveaxis(x, axis, 0)
            out = np.empty(moved.shape[1:], dtype)
            _native.fold("product", x, (axis,), out, 2)
            total = np.ones(moved.shape[1:], dtype)
            for index, row in enumerate(moved):
                if np.iscomplexobj(x) and index:
                    total = expected_of("mul", np.array(total), np.array(row))
                else:
                    total = np.array(row) if index == 0 else total * row
            same(out, canonical(total))


@pytest.mark.rule("cpu.wide.folds")
def test_extrema_and_winners_of_binary64():
    special = np.array(SPECIAL[np.float64], np.uint64).view(np.float64)
    rng = np.random.default_rng(71)
    for trial in range(200):
        x = rng.choice(special[: 15 if trial % 2 else 18], (5, 9))
        for axis in (0, 1):
            moved = np.moveaxis(x, axis, 0)
            nan = np.isnan(moved).any(axis=0)
            for name, sign in (("maximum", 1), ("minimum", -1)):
                out = np.empty(moved.shape[1:])
                _native.fold(name, x, (axis,), out, 1)
                keys = np.lexsort((np.signbit(moved) * -1 * sign, moved * sign), axis=0)[-1]
                best = np.take_along_axis(moved, keys[None], 0)[0]
                same(out, np.where(nan, np.nan, best))
            for name, choose in (("argmax", np.argmax), ("argmin", np.argmin)):
                out = np.empty(moved.shape[1:], np.int32)
                _native.fold(name, x, (axis,), out, 1)
                same(out, choose(moved, axis=0).astype(np.int32))


@pytest.mark.rule("cpu.wide.scan")
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.complex128])
def test_scans_add_in_ascending_order(dtype):
    for shape in [(0,), (1,), (3000,), (40, 7), (3, 5, 4)]:
        x = sample(dtype, shape, 81)
        for axis in range(x.ndim):
            out = np.empty(x.shape, dtype)
            _native.scan_wide(x, axis, out, 2)
            total, rows = np.zeros_like(np.moveaxis(x, axis, 0)[:1]), []
            for row in np.moveaxis(x, axis, 0):
                total = total + row
                rows.append(total[0])
            expected = np.moveaxis(
                np.array(rows, dtype).reshape(np.moveaxis(x, axis, 0).shape), 0, axis
            )
            same(out, expected)


@pytest.mark.rule("cpu.wide.matmul")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 0, 3), (4, 7, 9), (37, 300, 41), (130, 1030, 70)])
def test_products_add_in_ascending_order(shape, threads):
    n, k, m = shape
    kinds = (np.float32, np.float64, np.complex64, np.complex128)
    for left, right in itertools.product(kinds, kinds):
        output = np.result_type(left, right).type
        if output is np.float32:
            continue
        a, b = sample(left, (n, k), 91), sample(right, (k, m), 93)
        for wide in (False, True) if output is np.complex64 else (False,):
            out = np.empty((n, m), output)
            _native.matmul_wide(wide, a, np.asfortranarray(b), out, threads)
            component = REAL.get(output, output)
            x, y = (
                v.astype(COMPLEX[component] if np.iscomplexobj(v) else component) for v in (a, b)
            )
            total = np.zeros((n, m), np.complex128 if wide else output)
            for step in range(k):
                left_term, right_term = x[:, step, None], y[None, step, :]
                shaped = np.broadcast_arrays(left_term, right_term)
                term = (
                    expected_of("mul", *map(np.ascontiguousarray, shaped))
                    if np.iscomplexobj(out)
                    else shaped[0] * shaped[1]
                )
                total = total + term
            same(out, canonical(total.astype(output)))
