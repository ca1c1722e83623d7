"""The fused product: equal to the product and the post-processing apart, on both backends."""

import ml_dtypes
import numpy as np
import pytest
from postprocess_support import codes

import bittrue
from bittrue.conversion import convert, pack
from bittrue.encoding import Status
from bittrue.errors import RejectedError
from bittrue.postprocess import (
    PostProcess,
    StatusRegister,
    matmul_post_process,
    post_process,
    quant_word,
)

REQ8 = PostProcess("REQ8", 0, 8, row_max=True, group_max=True, saturate=True)
SCALE = quant_word("REQ8", 0.0078125, 3)


def same(found, expected) -> bool:
    arrays = zip(
        (found.d, found.row_max, found.group_max),
        (expected.d, expected.row_max, expected.group_max),
        strict=True,
    )
    equal = all(
        (x is None and y is None) or (x.dtype == y.dtype and codes(x) == codes(y))
        for x, y in arrays
    )
    return equal and found.status == expected.status


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 5), (4, 64, 32), (9, 65, 37), (2, 0, 3)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_integers(shape, dtype, backend):
    m, k, n = shape
    rng = np.random.default_rng(k)
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, (m, k), dtype, endpoint=True)
    b = rng.integers(info.min, info.max, (k, n), dtype, endpoint=True)
    raw = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32 if info.min else np.uint32)
    control, quant = (REQ8, SCALE) if info.min else (PostProcess(row_max=True), None)
    expected = post_process(raw, control, quant, backend="generic")
    found = matmul_post_process(a, b, control, quant=quant, backend=backend, threads=2)
    assert same(found, expected)


@pytest.mark.parametrize("inner", [5, 6])
def test_packed_operands(inner, backend):
    rng = np.random.default_rng(inner)
    a, b = rng.integers(-8, 8, (3, inner)), rng.integers(-8, 8, (inner, 4))
    expected = post_process((a @ b).astype(np.int32), REQ8, SCALE, backend="generic")
    found = matmul_post_process(
        pack(a), pack(b), REQ8, a_type="S4X2", b_type="S4X2", quant=SCALE, backend=backend
    )  # fmt: skip
    assert same(found, expected)
    turned = PostProcess(
        "REQ8", 0, 8, row_max=True, group_max=True, saturate=True, trans_b=True
    )  # fmt: skip
    found = matmul_post_process(
        a.astype(np.int8), pack(b.T), turned, b_type="s4", quant=SCALE, backend=backend
    )  # fmt: skip
    assert same(found, expected)


@pytest.mark.parametrize("types", [("FP16", "FP16"), ("BF16", "E5M2"), ("E4M3", "FP16")])
def test_floats(types, backend):
    rng = np.random.default_rng(7)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in ((5, 70), (70, 34))]
    values[0][0, :3] = np.inf, np.nan, -np.inf
    values[1][3] *= 1e4
    a, b = (
        convert(x, kind, saturate=kind != "E5M2") for x, kind in zip(values, types, strict=True)
    )
    wide = [convert(x.codes, "FP32", kind).array for x, kind in zip((a, b), types, strict=True)]
    raw = bittrue.run("matmul", *wide, backend="generic").numpy()
    control = PostProcess("QF322F16_PRE", 1, row_max=True)
    quant = quant_word(32, 0.5)
    expected = post_process(raw, control, quant, backend="generic")
    for a_given, b_given, options in (
        (a.codes, b.codes, {"a_type": types[0], "b_type": types[1]}),
        (a.array, b.array, {}),
    ):
        found = matmul_post_process(
            a_given, b_given, control, quant=quant, backend=backend, **options
        )  # fmt: skip
        assert same(found, expected)


def test_products_of_bf16_round_once(backend):
    # 2^-70 * 1.0078125 * 2^-79: below the last place of FP32 subnormals.
    a = np.array([[2.0**-70]], np.float32).astype(ml_dtypes.bfloat16)
    b = np.array([[1.5 * 2.0**-79]], np.float32).astype(ml_dtypes.bfloat16)
    found = matmul_post_process(a, b, PostProcess(), backend=backend)
    assert codes(found.d) == [[2]]


def test_transposed_operands(backend):
    rng = np.random.default_rng(2)
    a = rng.integers(-128, 128, (6, 9), np.int8)
    b = rng.integers(-128, 128, (9, 5), np.int8)
    plain = matmul_post_process(a, b, PostProcess(), backend=backend)
    turned = PostProcess(trans_a=True, trans_b=True)
    assert same(matmul_post_process(a.T.copy(), b.T.copy(), turned, backend=backend), plain)


def test_a_sum_outside_its_accumulator():
    # 2^17 + 1 products of 2^14 are 2^31 + 2^14.
    k = (1 << 17) + 1
    a, b = np.full((2, k), -128, np.int8), np.full((k, 2), -128, np.int8)
    a[0] = 0
    d, register = np.full((2, 2), 5, np.int32), StatusRegister(Status.NX)
    for backend in ("cpu", "generic"):
        with pytest.raises(OverflowError, match=r"\(1, 0\) is outside S32"):
            matmul_post_process(a, b, PostProcess(), d_out=d, status=register, backend=backend)
    assert (d == 5).all()
    assert register.flags == Status.NX
    # A partial sum may pass the range: only the finished one counts.
    b[-2:] = 127
    found = matmul_post_process(a, b, PostProcess())
    assert found.d[1, 0] == (k - 2) * 16384 - 2 * 128 * 127


@pytest.mark.parametrize(
    ("a", "b", "options", "category"),
    [
        (np.zeros((2, 3), np.int8), np.zeros((4, 2), np.int8), {}, "operand"),
        (np.zeros(3, np.int8), np.zeros((3, 2), np.int8), {}, "operand"),
        (np.zeros((2, 3), np.int8), np.zeros((3, 2), np.uint8), {}, "operand"),
        (np.zeros((2, 3), np.int8), np.zeros((3, 2), np.float16), {}, "operand"),
        (np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float16), {}, "operand"),
        (np.zeros((2, 3), np.int8), np.zeros((4, 2), np.int8), {"quant": 1}, "shape"),
        (np.zeros((0, 3), np.int8), np.zeros((4, 2), np.int8), {}, "shape"),
    ],
)
def test_refusals(a, b, options, category):
    with pytest.raises(RejectedError) as caught:
        matmul_post_process(a, b, PostProcess(), **options)
    assert caught.value.category == category
