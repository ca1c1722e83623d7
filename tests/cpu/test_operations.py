"""The kernels of operations against Generic, bit for bit, over shapes, strides and levels.

Generic is plain Python over integers and shares no code with the kernels; its own tests hold it to
an exact oracle.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue import DType, SimpleDType, run
from bittrue.conformance import corpora
from bittrue.cpu import _native
from bittrue.dispatch import prepare
from bittrue.policy import DEFAULT
from bittrue.providers.cpu import CpuBackend
from bittrue.providers.generic import GenericBackend

LEVELS = ("baseline", "v3", "v4")
NARROW = _native.narrow_tiles()
GENERIC = GenericBackend()

UNARY = ("abs", "ceil", "floor", "leaky_relu", "logical_not", "neg", "recip", "relu", "round",
         "sign", "sqrt")  # fmt: skip
BINARY = ("add", "sub", "mul", "elementwise_mul", "div", "rem", "maximum", "minimum", "eq", "ne",
          "lt", "le")  # fmt: skip


@pytest.fixture(params=[*LEVELS, "v4 narrow"])
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    name, _, narrow = request.param.partition(" ")
    try:
        _native.set_level(name)
    except ValueError:
        pytest.skip(f"this machine has no {name}")
    _native.set_narrow_tiles(bool(narrow))
    yield request.param
    _native.set_narrow_tiles(NARROW)
    _native.set_level("")


def outcome(backend: Any, operation: str, operands: tuple[Any, ...], attributes: Any) -> Any:
    """Return shape, dtype and bits of the result, or the text of the refusal."""
    accumulator = attributes.pop("accumulator_dtype", None)
    call = prepare(operation, operands, attributes, policy=DEFAULT, accumulator_dtype=accumulator)
    try:
        result = backend.execute(call.plan, call.operands, call.geometry)
    except OverflowError as error:
        return str(error)
    return result.shape, result.dtype, result.bits().tolist()


def assert_equal(operation: str, *operands: Any, threads: int = 1, **attributes: Any) -> None:
    ours = outcome(CpuBackend(threads), operation, operands, dict(attributes))
    assert ours == outcome(GENERIC, operation, operands, dict(attributes))


# --- arrays of any shape, stride and bits --------------------------------------------------------


def values(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    drawn = corpora.column(SimpleDType.from_name(dtype), rng, count + 64)
    return drawn[rng.permutation(drawn.size)[:count]]


@st.composite
def strided(draw: st.DrawFn, shape: tuple[int, ...], dtype: str = "Float32") -> np.ndarray:
    """Draw an array of `shape`: transposed, reversed, with gaps, repeated, off its alignment."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 1, -1, 2, -3])) for _ in shape]
    outer = [shape[axis] * abs(steps[axis]) for axis in order]
    memory = values(rng, dtype, int(np.prod(outer))).reshape(outer)
    if draw(st.booleans()):
        raw = np.zeros(memory.nbytes + 1, np.uint8)
        shifted = raw[1:].view(memory.dtype).reshape(memory.shape)
        shifted[...] = memory
        memory = shifted
    array = memory.transpose([order.index(axis) for axis in range(len(shape))])
    array = array[tuple(slice(None, None, step) for step in steps)]
    if shape and draw(st.integers(0, 5)) == 0:
        axis = draw(st.integers(0, len(shape) - 1))
        if shape[axis]:
            array = np.broadcast_to(np.take(array, [0], axis), shape)
    assert array.shape == shape
    return array


shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@st.composite
def broadcasting(draw: st.DrawFn, count: int) -> list[tuple[int, ...]]:
    """Shapes that broadcast to one."""
    whole = draw(shapes)
    result = []
    for _ in range(count):
        kept = whole[draw(st.integers(0, len(whole))) :]
        result.append(tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in kept))
    return result


# --- elementwise --------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", UNARY)
@given(data=st.data())
def test_unary(operation, data):
    assert_equal(operation, data.draw(shapes.flatmap(strided)))


@pytest.mark.parametrize("operation", BINARY)
@given(data=st.data())
def test_binary_broadcasts(operation, data):
    lhs, rhs = data.draw(broadcasting(2))
    assert_equal(operation, data.draw(strided(lhs)), data.draw(strided(rhs)))


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@given(data=st.data())
def test_integers_mix_and_check(operation, data):
    lhs, rhs = data.draw(broadcasting(2))
    dtypes = data.draw(st.sampled_from(["Int32 Int32", "Int32 Float32", "Float32 Int32"])).split()
    assert_equal(operation, data.draw(strided(lhs, dtypes[0])), data.draw(strided(rhs, dtypes[1])))


@given(data=st.data())
def test_select_and_clamp(data):
    chosen = data.draw(broadcasting(3))
    first = data.draw(st.sampled_from(["Bool", "Float32"]))
    operands = [
        data.draw(strided(s, t)) for s, t in zip(chosen, (first, "Float32", "Float32"), strict=True)
    ]
    assert_equal("select" if first == "Bool" else "clamp", *operands)


@given(
    data=st.data(),
    scalars=st.tuples(*[st.sampled_from([0, -1, 0.5, 7, -0.0, float("nan"), 2**31 - 1])] * 2),
)
def test_weak_scalars(data, scalars):
    x = data.draw(shapes.flatmap(strided))
    assert_equal("clamp", x, *scalars)
    assert_equal("mul", x, scalars[0])
    integers = data.draw(shapes.flatmap(lambda shape: strided(shape, "Int32")))
    assert_equal("mul", integers, scalars[0])
    assert_equal("relu", integers)


@given(
    bases=st.lists(st.integers(-50, 50) | st.integers(-(2**31), 2**31 - 1), max_size=9),
    exponent=st.integers(0, 40) | st.integers(0, 2**31 - 1),
)
def test_integer_power(bases, exponent):
    assert_equal("pow", np.array(bases, np.int32), exponent)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("operation", [*UNARY, *BINARY])
def test_every_level_has_the_bits_of_generic(operation):
    rng = np.random.default_rng(len(operation))
    pairs = corpora.pairs(rng, 1500)
    operands = [bits.view(np.float32) for bits in pairs[: 1 if operation in UNARY else 2]]
    assert_equal(operation, *operands)


def test_remainder_of_far_apart_exponents():
    rng = np.random.default_rng(3)
    lhs = values(rng, "Float32", 3000)
    rhs = values(rng, "Float32", 3000)
    assert_equal("rem", lhs, rhs)
    assert_equal("rem", rhs, lhs)


def test_the_first_overflow_in_logical_order_is_named():
    x = np.zeros((3, 70_000), np.int32)
    x[1, 65_600] = x[2, 3] = 2**31 - 1
    for threads in (1, 2, 3, 7):
        with pytest.raises(OverflowError, match=r"index \(1, 65600\)"):
            run("add", x, x, backend=CpuBackend(threads))


# --- reductions and scans -----------------------------------------------------------------------

FOLDS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")


@st.composite
def axes_of(draw: st.DrawFn, rank: int) -> Any:
    if draw(st.booleans()) or rank == 0:
        return None
    return tuple(draw(st.lists(st.integers(0, rank - 1), unique=True)))


@pytest.mark.parametrize("operation", FOLDS)
@given(data=st.data())
def test_reduction(operation, data):
    shape = data.draw(shapes)
    axes = data.draw(axes_of(len(shape)))
    reduced = range(len(shape)) if axes is None else axes
    if operation in ("reduce_max", "reduce_min") and any(shape[axis] == 0 for axis in reduced):
        return
    x = data.draw(strided(shape))
    attributes = {"axis": axes, "keepdims": data.draw(st.booleans())}
    assert_equal(operation, x, **attributes)
    if operation == "reduce_sum":
        assert_equal(operation, x, **attributes, accumulator_dtype=DType.Float64)
        assert_equal(operation, data.draw(strided(shape, "Int32")), **attributes)


@pytest.mark.parametrize("operation", ["argmax", "argmin"])
@given(data=st.data())
def test_arg_reduction(operation, data):
    shape = data.draw(st.lists(st.integers(1, 6), max_size=4).map(tuple))
    axis = data.draw(st.none() | st.integers(0, len(shape) - 1)) if shape else None
    assert_equal(operation, data.draw(strided(shape)), axis=axis)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((4097,), 0), ((4096 * 3 + 33,), 0), ((3, 4100), 1), ((4100, 3), 0), ((130, 65), 0),
        ((600, 66), 0), ((33, 70), 0), ((2, 140, 18), 1), ((9, 4097, 2), 1), ((5, 7, 130), (0, 2)),
        ((700, 1), 0), ((1, 700), 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("operation", [*FOLDS, "argmax", "argmin"])
def test_long_reductions(operation, shape, axis):
    if isinstance(axis, tuple) and operation.startswith("arg"):
        pytest.skip("one axis only")
    rng = np.random.default_rng(5)
    count = int(np.prod(shape))
    tame = corpora.tame_float32(rng, count).view(np.float32).reshape(shape)
    assert_equal(operation, tame, axis=axis)
    assert_equal(operation, tame[..., ::-1], axis=axis)
    if operation == "reduce_sum":
        large = np.where(rng.integers(0, 3, shape) == 0, tame * np.float32(2**40), tame)
        for x in (large, np.asfortranarray(large)):
            assert_equal(operation, x, axis=axis, accumulator_dtype=DType.Float64)
        assert_equal(operation, rng.integers(-9, 9, shape).astype(np.int32), axis=axis)


def lane_sum(terms: np.ndarray, dtype: Any) -> Any:
    """Add in the association of the documentation, on NumPy rows."""
    terms = terms.astype(dtype)
    while True:
        blocks = []
        for start in range(0, max(len(terms), 1), 4096):
            lanes = np.zeros(32, dtype)
            block = terms[start : start + 4096]
            for row in range(0, len(block), 32):
                part = block[row : row + 32]
                lanes[: len(part)] += part
            while len(lanes) > 1:
                half = len(lanes) // 2
                lanes = lanes[:half] + lanes[half:]
            blocks.append(lanes[0])
        terms = np.array(blocks, dtype)
        if len(terms) == 1:
            return np.float32(terms[0])


@pytest.mark.parametrize(
    ("accumulator", "dtype"), [(DType.Float32, np.float32), (DType.Float64, np.float64)]
)
def test_sums_of_more_than_a_block_of_blocks(accumulator, dtype):
    x = np.random.default_rng(11).standard_normal(4096 * 4096 + 12_345, np.float32)
    wanted = lane_sum(x, dtype)
    for threads in (1, 2):
        got = run("reduce_sum", x, accumulator_dtype=accumulator, backend=CpuBackend(threads))
        assert got.numpy().tobytes() == wanted.tobytes()


@given(data=st.data())
def test_cumsum(data):
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4).map(tuple))
    axis = data.draw(st.integers(0, len(shape) - 1))
    assert_equal("cumsum", data.draw(strided(shape)), axis=axis)


# --- contractions -------------------------------------------------------------------------------


@given(data=st.data(), extents=st.tuples(*[st.integers(0, 9)] * 3))
def test_matmul(data, extents):
    n, k, m = extents
    dtypes = data.draw(
        st.sampled_from(["Float32 Float32", "Float32 Int32", "Int32 Float32", "Int32 Int32"])
    ).split()
    lhs, rhs = data.draw(strided((n, k), dtypes[0])), data.draw(strided((k, m), dtypes[1]))
    assert_equal("matmul", lhs, rhs)
    if dtypes != ["Int32", "Int32"]:
        assert_equal("matmul", lhs, rhs, accumulator_dtype=DType.Float64)


def cancelling(rng: np.random.Generator, rows: int, depth: int) -> np.ndarray:
    x = rng.standard_normal((rows, depth)).astype(np.float32)
    x *= np.where(rng.integers(0, 3, (rows, depth)) == 0, np.float32(2**30), np.float32(1))
    half = depth // 2
    x[:, half : 2 * half] = -x[:, :half]
    return x


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("accumulator", [DType.Float32, DType.Float64])
@pytest.mark.parametrize("shape", [(9, 70, 50), (3, 2100, 5), (33, 17, 97)])
def test_matmul_over_tiles_and_blocks(shape, accumulator):
    n, k, m = shape
    rng = np.random.default_rng(k)
    lhs = cancelling(rng, n, k)
    rhs = np.abs(cancelling(rng, m, k)).T
    rhs[k // 2 : 2 * (k // 2)] = rhs[: k // 2]
    assert_equal("matmul", lhs, rhs, accumulator_dtype=accumulator)
    assert_equal("matmul", np.asfortranarray(lhs), rhs.copy(), accumulator_dtype=accumulator)


BOUNDS = [1, 10, 2_000, 2**20, 2**27, 2**31]
"""Magnitudes that take the kernels of binary32, binary64, Int64 and halves."""


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("bound", BOUNDS)
def test_integer_matmul_is_exact(bound):
    rng = np.random.default_rng(bound)
    lhs = rng.integers(-bound, bound, (11, 40)).astype(np.int32)
    rhs = rng.integers(-bound, bound, (40, 53)).astype(np.int32)
    assert_equal("matmul", lhs, rhs)
    # Large terms that cancel: what is left fits.
    half = np.concatenate([lhs, -(lhs + (lhs == -(2**31)))], 1)
    twice = np.concatenate([rhs, rhs])
    assert_equal("matmul", half, twice)
    twice[0, 7] = 1
    assert_equal("matmul", half, twice)


def test_integer_matmul_wraps_nowhere():
    least = -(2**31)
    for terms in (4, 8, 2**15 + 1):
        lhs = np.full((1, terms), least, np.int32)
        with pytest.raises(OverflowError):
            run("matmul", lhs, lhs.T, backend="cpu")
        rhs = np.where(np.arange(terms) % 2, least, 0)[:, None].astype(np.int32)
        pair = np.concatenate([lhs, -(lhs + 1)], 1)
        got = run("matmul", pair, np.concatenate([rhs // 2**20, rhs // 2**20]), backend="cpu")
        wanted = (pair.astype(object) @ np.concatenate([rhs // 2**20] * 2).astype(object))[0, 0]
        assert got.numpy()[0, 0] == wanted


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    spatial = draw(st.integers(1, 3))
    small = 6 if spatial < 3 else 4
    groups = draw(st.integers(1, 3))
    ins, outs = draw(st.integers(0, 2)), draw(st.integers(1, 3))
    sizes = [draw(st.integers(0, small)) for _ in range(spatial)]
    taps = [draw(st.integers(1, 3)) for _ in range(spatial)]
    per_axis = st.tuples(*[st.integers(1, 3)] * spatial)
    padding = [tuple(draw(st.integers(0, 3)) for _ in range(2)) for _ in range(spatial)]
    dims = [draw(st.permutations(range(spatial + 2))) for _ in range(3)]
    lhs_roles = (draw(st.integers(0, 2)), ins * groups, *sizes)
    kernel_roles = (outs * groups, ins, *taps)
    placed = []
    for roles, order in ((lhs_roles, dims[0]), (kernel_roles, dims[1])):
        shape = [0] * len(roles)
        for extent, axis in zip(roles, order, strict=True):
            shape[axis] = extent
        placed.append(draw(strided(tuple(shape))))
    attributes = {
        "strides": draw(per_axis),
        "padding": tuple(padding),
        "lhs_dilation": draw(per_axis),
        "kernel_dilation": draw(per_axis),
        "feature_groups": groups,
        "lhs_dims": tuple(dims[0]),
        "kernel_dims": tuple(dims[1]),
        "output_dims": tuple(dims[2]),
    }
    return placed[0], placed[1], attributes


@given(call=convolutions())
def test_convolution(call):
    lhs, kernel, attributes = call
    try:
        assert_equal("conv_general", lhs, kernel, **attributes)
    except ValueError as refusal:
        assert "extent" in str(refusal)  # noqa: PT017 - geometry refuses windows that do not fit


@pytest.mark.usefixtures("level")
def test_convolution_over_tiles():
    rng = np.random.default_rng(8)
    lhs = rng.standard_normal((2, 5, 13, 9)).astype(np.float32)
    kernel = rng.standard_normal((10, 5, 3, 3)).astype(np.float32)
    for strides in ((1, 1), (2, 3)):
        assert_equal("conv_general", lhs, kernel, strides=strides, padding=((1, 1), (2, 0)))


# --- indexing and order -------------------------------------------------------------------------


@given(data=st.data())
def test_gather_and_scatter(data):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple))
    axis = data.draw(st.integers(0, len(shape) - 1))
    where = data.draw(st.lists(st.integers(0, 4), max_size=2).map(tuple))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    indices = rng.integers(0, shape[axis], where).astype(np.int32)
    if where and where[0] > 1:
        indices = indices[::-1]
    base = data.draw(strided(shape))
    updates = data.draw(strided((*shape[:axis], *where, *shape[axis + 1 :])))
    assert_equal("gather", base, indices, axis=axis)
    assert_equal("scatter_add", base, indices, updates, axis=axis)
    distinct = rng.permutation(shape[axis])[: rng.integers(1, shape[axis] + 1)].astype(np.int32)
    updates = data.draw(strided((*shape[:axis], distinct.size, *shape[axis + 1 :])))
    assert_equal("scatter", base, distinct, updates, axis=axis)


@given(data=st.data(), flag=st.booleans())
def test_sort_and_topk(data, flag):
    shape = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=3).map(tuple))
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = data.draw(strided(shape))
    for kind in ("values", "indices"):
        assert_equal(f"_sort_{kind}", x, axis=axis, descending=flag)
        if shape[axis]:
            k = data.draw(st.integers(1, shape[axis]))
            assert_equal(f"_topk_{kind}", x, k=k, axis=axis, largest=flag)


@pytest.mark.parametrize("length", [100, 3000, 9000])
@pytest.mark.parametrize("flag", [False, True])
def test_long_lines_are_ordered(length, flag):
    rng = np.random.default_rng(length)
    few = rng.choice(corpora.FLOAT32, length).view(np.float32)
    for x in (few, values(rng, "Float32", length)):
        for kind in ("values", "indices"):
            assert_equal(f"_sort_{kind}", x, descending=flag)
            assert_equal(f"_topk_{kind}", x, k=length // 20, largest=flag)


# --- nothing else shows -------------------------------------------------------------------------

N = 1 << 17


def large_calls() -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(2)
    x = values(rng, "Float32", N)
    y = values(rng, "Float32", N)
    tame = rng.standard_normal((300, 400)).astype(np.float32)
    integers = rng.integers(-(2**31), 2**31, (150, 260)).astype(np.int32)
    indices = rng.integers(0, 512, 400).astype(np.int32)
    signs = np.where(np.arange(260) % 2, 1, -1).astype(np.int32)[:, None]
    window = {"strides": (1, 1), "padding": ((1, 1), (1, 1))}
    return {
        "add": ("add", (x, y), {}),
        "add strided": ("add", (x[::-2], y[::2]), {}),
        "broadcast": ("mul", (tame, tame[:, :1]), {}),
        "transposed": ("maximum", (tame.T, tame.T[::-1]), {}),
        "select": ("select", (x > 0, x, y), {}),
        "sum": ("reduce_sum", (x,), {}),
        "sum rows": ("reduce_sum", (tame,), {"axis": 1}),
        "sum columns": ("reduce_sum", (tame,), {"axis": 0}),
        "sum of integers": ("reduce_sum", (integers >> 8,), {"axis": 0}),
        "prod": ("reduce_prod", (tame,), {"axis": 1}),
        "max": ("reduce_max", (tame,), {}),
        "min columns": ("reduce_min", (tame,), {"axis": 0}),
        "argmax": ("argmax", (tame,), {}),
        "argmin columns": ("argmin", (tame,), {"axis": 0}),
        "cumsum": ("cumsum", (tame,), {"axis": 1}),
        "cumsum columns": ("cumsum", (tame,), {"axis": 0}),
        "matmul": ("matmul", (tame, tame.T), {}),
        "matmul of integers": ("matmul", (integers, signs), {}),
        "conv": ("conv_general", (tame.reshape(2, 3, 100, 200), tame[:6, :27].reshape(6, 3, 3, 3)),
                 window),
        "gather": ("gather", (x.reshape(512, 256), indices), {"axis": 0}),
        "scatter_add": ("scatter_add",
                        (x.reshape(512, 256), indices, y[:102_400].reshape(400, 256)),
                        {"axis": 0}),
        "sort": ("_sort_values", (x.reshape(64, -1),), {}),
        "argsort": ("_sort_indices", (x.reshape(64, -1),), {"axis": 0}),
    }  # fmt: skip


CALLS = large_calls()


def bits_of(name: str, threads: int) -> Any:
    operation, operands, attributes = CALLS[name]
    call = prepare(operation, operands, dict(attributes), policy=DEFAULT)
    try:
        result = CpuBackend(threads).execute(call.plan, call.operands, call.geometry)
    except OverflowError as error:
        return str(error)
    return result.bits().tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_threads_and_levels_do_not_show(name):
    expected = bits_of(name, 1)
    try:
        for level, threads in itertools.product(LEVELS, (1, 2, 3, 7)):
            _native.set_narrow_tiles(threads % 2 == 0)
            try:
                _native.set_level(level)
            except ValueError:
                continue
            assert bits_of(name, threads) == expected, (level, threads)
    finally:
        _native.set_level("")
        _native.set_narrow_tiles(NARROW)


@pytest.fixture
def flushing() -> Iterator[None]:
    before = _native.set_flush_to_zero(True)
    yield
    _native.set_flush_to_zero(before)


SUBNORMALS = np.array([1, 2, 3, 0x80000001, 0x00400000, 0x007FFFFF, 0x00800001, 0x80800000],
                      np.uint32).view(np.float32)  # fmt: skip
SUBNORMAL_CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((operation, (SUBNORMALS,), {}) for operation in UNARY),
    *((operation, (SUBNORMALS, SUBNORMALS[::-1]), {}) for operation in BINARY),
    ("clamp", (SUBNORMALS, SUBNORMALS[::-1], SUBNORMALS), {}),
    *((operation, (SUBNORMALS,), {}) for operation in (*FOLDS, "argmax", "argmin")),
    *((operation, (SUBNORMALS.reshape(4, 2),), {"axis": 0}) for operation in FOLDS),
    ("cumsum", (SUBNORMALS,), {"axis": 0}),
    ("cumsum", (SUBNORMALS.reshape(4, 2),), {"axis": 0}),
    ("matmul", (SUBNORMALS.reshape(4, 2), np.ones((2, 3), np.float32)), {}),
    ("matmul", (SUBNORMALS.reshape(4, 2), np.ones((2, 3), np.int32)), {}),
    ("conv_general", (SUBNORMALS.reshape(1, 2, 4), np.ones((1, 2, 2), np.float32)),
     {"strides": (1,), "padding": ((1, 1),)}),
    ("gather", (SUBNORMALS, np.array([1, 0], np.int32)), {"axis": 0}),
    ("scatter_add", (SUBNORMALS, np.array([1, 1], np.int32), SUBNORMALS[:2]), {"axis": 0}),
    ("_sort_values", (SUBNORMALS,), {}),
    ("_topk_indices", (SUBNORMALS,), {"k": 3}),
]  # fmt: skip


@pytest.mark.usefixtures("flushing", "level")
@pytest.mark.parametrize("call", SUBNORMAL_CALLS, ids=lambda call: call[0])
def test_a_caller_that_flushes_changes_nothing(call):
    operation, operands, attributes = call
    accumulators = [None]
    if operation in ("reduce_sum", "matmul"):
        accumulators.append(DType.Float64)
    for accumulator in accumulators:
        complete = {**attributes, "accumulator_dtype": accumulator}
        ours = outcome(CpuBackend(1), operation, operands, dict(complete))
        _native.set_flush_to_zero(False)
        assert ours == outcome(GENERIC, operation, operands, dict(complete))
        _native.set_flush_to_zero(True)
    assert _native.set_flush_to_zero(True) is True


def test_a_caller_that_flushes_changes_nothing_on_workers():
    x = np.full(1 << 18, 1e-40, np.float32)
    before = _native.set_flush_to_zero(True)
    try:
        got = run("add", x, x, backend=CpuBackend(3)).numpy()
    finally:
        _native.set_flush_to_zero(before)
    assert got.tobytes() == np.full(1 << 18, x[0] + x[0], np.float32).tobytes()


# --- what the extension refuses ------------------------------------------------------------------


def test_kernels_refuse_what_would_leave_an_array():
    x, out = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    add = _native.elementwise_names().index("add")
    refused: list[Callable[[], object]] = [
        lambda: _native.elementwise(add, (x, x[:, :2]), out, 1),
        lambda: _native.elementwise(add, (x,), out, 1),
        lambda: _native.elementwise(999, (x, x), out, 1),
        lambda: _native.elementwise(add, (x, x), out.T, 1),
        lambda: _native.elementwise(add, (x, x.astype(np.float64)), out, 1),
        lambda: _native.reduce("reduce_sum", x, (2,), out, 1),
        lambda: _native.reduce("reduce_sum", x, (1,), out, 1),
        lambda: _native.reduce("mean", x, (1,), out, 1),
        lambda: _native.scan(x, 2, out, 1),
        lambda: _native.matmul("float32", x, x, out, 1),
        lambda: _native.matmul("bfloat16", x, x.T, out, 1),
        lambda: _native.gather(x, np.array([0, 2], np.int32), 0, out, 1),
        lambda: _native.gather(x, np.array([0, -1], np.int32), 0, out, 1),
        lambda: _native.scatter(True, x, np.array([0], np.int32), x, 0, out, 1),  # noqa: FBT003
        lambda: _native.sort(x, 0, False, False, np.zeros((3, 3), np.float32), 1),  # noqa: FBT003
    ]
    for call in refused:
        with pytest.raises(ValueError):  # noqa: PT011 - the texts are for maintainers
            call()
    assert not out.any()
