"""What becomes a tensor, of which dtype and bits (operations.md 3.7, 7.2), and that it stays so."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue import SIMPLE, DType, Tensor, asarray, run
from bittrue.tensor import Buffer, buffer_of

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
SNAN, PAYLOAD, NAN = 0x7F80_0001, 0xFFC1_2345, 0x7FC0_0000
PATTERNS = [SNAN, PAYLOAD, 0x8000_0000, 0x0000_0001, 0x7F80_0000, 0x3F80_0000]


def as_float(bits=PATTERNS) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32)


def bits_of(tensor) -> list:
    return np.array(tensor.numpy(), order="C").view(np.uint32).tolist()


def generic(operation, *operands, **attributes):
    return run(operation, *operands, policy=SIMPLE, backend="generic", **attributes)


@pytest.mark.rule("operations.3.7.lists")
@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        ([True, False], BOOL, (2,)),
        ([[True], [False]], BOOL, (2, 1)),
        ([1, -2], I32, (2,)),
        ([2**31 - 1, -(2**31)], I32, (2,)),
        ([1, 2.0], F32, (2,)),
        ([1.5], F32, (1,)),
        ([2**40, 1.0], F32, (2,)),
        ([[1, 2], [3, 4.0]], F32, (2, 2)),
        ([[[1]]], I32, (1, 1, 1)),
        ([math.nan, math.inf], F32, (2,)),
    ],
)
def test_dtype_and_shape_of_a_list(data, dtype, shape):
    tensor = asarray(data)
    assert tensor.dtype is dtype
    assert tensor.shape == shape


@pytest.mark.rule("operations.3.7.lists")
@pytest.mark.parametrize(
    ("data", "error"),
    [
        ([True, 1], TypeError),
        ([1.0, False], TypeError),
        ([[True], [1]], TypeError),
        (["1"], TypeError),
        ([None], TypeError),
        ([1, None], TypeError),
        ([True, 1j], TypeError),
        ([Decimal(1)], TypeError),
        ([2**31], OverflowError),
        ([-(2**31) - 1], OverflowError),
        ([2**128 - 2**103, 1.0], OverflowError),
        ([[1], [1, 2]], ValueError),
        ([1, [2]], ValueError),
        ([[], [1]], ValueError),
        ([], ValueError),
        ([[], []], ValueError),
    ],
)
def test_lists_that_are_refused(data, error):
    """Alone and as an operand."""
    with pytest.raises(error):
        asarray(data)
    with pytest.raises(error):
        generic("relu", data)


@pytest.mark.rule("operations.3.7.lists")
def test_an_empty_list_needs_a_dtype():
    for dtype in (F32, F64, I32, BOOL):
        assert asarray([], dtype).shape == (0,)
        assert asarray([[], []], dtype).shape == (2, 0)
        assert asarray([], dtype).dtype is dtype
    with pytest.raises(ValueError, match="dtype"):
        asarray([])


@pytest.mark.rule("operations.7.2.storage")
def test_elements_of_a_list_convert_by_the_scalar_converter():
    assert bits_of(asarray([2**60 + 2**36 + 1, -0.0, math.nan, 1e39, 5e-324])) == [
        0x5D80_0001, 0x8000_0000, NAN, 0x7F80_0000, 0,
    ]  # fmt: skip
    assert bits_of(asarray([True, 2, Fraction(1, 3)], F32)) == [
        0x3F80_0000,
        0x4000_0000,
        0x3EAA_AAAB,
    ]
    assert asarray(7, I32).tolist() == 7
    for data, dtype, error in (
        ([True], I32, TypeError),
        ([1.5], I32, TypeError),
        ([1.0], I32, TypeError),
        ([1], BOOL, TypeError),
        ([None], F32, TypeError),
        (["1"], F32, TypeError),
        ([2**31], I32, OverflowError),
        ([10**39], F32, OverflowError),
    ):
        with pytest.raises(error):
            asarray(data, dtype)


@pytest.mark.rule("operations.3.7.python-numbers")
def test_a_bare_number_is_a_weak_scalar_and_never_a_tensor():
    data = np.array([3], np.int32)
    assert generic("pow", data, 2).dtype is I32
    assert generic("pow", data, [2]).dtype is F32
    assert generic("mul", data, 2.0).dtype is F32
    for scalar in (2, 2.0, True, Fraction(1, 2)):
        with pytest.raises(TypeError):
            generic("add", data, scalar)
        with pytest.raises(TypeError):
            generic("neg", scalar)


@pytest.mark.rule("operations.3.7.numpy-scalars")
def test_a_numpy_scalar_is_a_tensor_of_its_dtype():
    data = np.array([3], np.int32)
    # Tensor to the tensor: floating. A weak 2 would keep Int32.
    assert generic("pow", data, np.int32(2)).dtype is F32
    assert generic("add", data, np.int32(2)).tolist() == [5]
    assert generic("add", data, np.float32(0.5)).dtype is F32
    assert generic("neg", np.float32(2)).shape == ()
    assert generic("select", np.bool_(True), np.float32(1), np.float32(2)).tolist() == 1.0  # noqa: FBT003
    for scalar in (np.float64(2), np.float16(2), np.int8(2)):
        with pytest.raises(NotImplementedError):
            generic("mul", data, scalar)
    for scalar in (np.int64(2), np.uint8(2), np.longdouble(2)):
        with pytest.raises(TypeError, match="asarray"):
            generic("mul", data, scalar)
    with pytest.raises(TypeError):
        generic("mul", data, np.bool_(True))  # noqa: FBT003


@pytest.mark.rule("operations.3.7.numpy-arrays")
@pytest.mark.parametrize(
    "dtype",
    ["int64", "uint32", "int16", "uint64", "longdouble", "datetime64[s]", "object", "U3", "S2"],
)
def test_an_array_without_a_descriptor_is_refused(dtype):
    array = np.zeros(2, dtype)
    for call in (lambda: asarray(array), lambda: generic("neg", array)):
        with pytest.raises(TypeError, match="asarray") as caught:
            call()
        assert str(np.dtype(dtype)) in str(caught.value)


@pytest.mark.rule("operations.3.7.numpy-arrays")
@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_an_array_of_an_unimplemented_dtype_is_refused(dtype):
    array = np.zeros(2, dtype)
    for call in (lambda: asarray(array), lambda: generic("neg", array)):
        with pytest.raises(NotImplementedError):
            call()


@pytest.mark.peers
@pytest.mark.rule("operations.3.7.numpy-arrays")
@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn"]
)
def test_an_array_of_ml_dtypes_is_refused(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.zeros(2, getattr(ml_dtypes, name))
    for call in (lambda: asarray(array), lambda: generic("neg", array)):
        with pytest.raises(NotImplementedError):
            call()


@pytest.mark.rule("operations.3.7.numpy-arrays")
def test_float64_is_stored_and_refused_as_an_operand():
    array = np.array([0.1])
    assert asarray(array).dtype is F64
    assert asarray(array).numpy().tolist() == [0.1]
    for operand in (array, asarray(array), array[0]):
        with pytest.raises(NotImplementedError, match="Float64"):
            generic("exp", operand)


@pytest.mark.rule("operations.3.7.numpy-arrays")
def test_int64_is_taken_with_a_dtype():
    array = np.array([1, 16777217])
    assert asarray(array, I32).tolist() == [1, 16777217]
    assert asarray(array, F32).tolist() == [1.0, 16777216.0]
    big = np.array([2**60 + 2**36 + 1, -(2**60) - 2**36 - 1])
    assert bits_of(asarray(big, F32)) == [0x5D80_0001, 0xDD80_0001]
    assert bits_of(asarray(big.astype(np.uint64)[:1], F32)) == [0x5D80_0001]
    unsigned = np.array([2**63 + 2**39 + 1, 2**64 - 1], np.uint64)
    assert bits_of(asarray(unsigned, F32)) == [0x5F00_0001, 0x5F80_0000]
    for outside in ([2**31], [-(2**31) - 1]):
        with pytest.raises(OverflowError, match=str(outside[0])):
            asarray(np.array(outside), I32)
    with pytest.raises(OverflowError):
        asarray(np.array([2**63], np.uint64), I32)
    for array in (np.array([1.0]), np.array([True]), np.array([1.5], np.float32)):
        with pytest.raises(TypeError):
            asarray(array, I32)
    for array in (np.array([1]), np.array([1.0])):
        with pytest.raises(TypeError):
            asarray(array, BOOL)


@pytest.mark.rule("operations.7.2.storage")
def test_float64_narrows_by_one_rounding():
    array = np.array([0.1, 1e39, -1e-60, math.nan, 1 + 2.0**-24 + 2.0**-52, -math.inf])
    array.view(np.uint64)[3] |= 1 << 63
    assert bits_of(asarray(array, F32)) == [
        0x3DCC_CCCD, 0x7F80_0000, 0x8000_0000, NAN, 0x3F80_0001, 0xFF80_0000,
    ]  # fmt: skip
    objects = np.array([Fraction(1, 3), 2**60 + 2**36 + 1, True], object)
    assert bits_of(asarray(objects, F32)) == [0x3EAA_AAAB, 0x5D80_0001, 0x3F80_0000]
    with pytest.raises(OverflowError):
        asarray(np.array([10**60], object), F32)


@pytest.mark.rule("operations.7.2.bits-are-kept")
@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_an_array_keeps_every_bit(bits):
    array = as_float(bits)
    assert bits_of(asarray(array)) == bits
    assert bits_of(asarray(array, F32)) == bits
    assert bits_of(asarray(asarray(array))) == bits
    assert asarray(array).buffer.elements() == bits
    chosen = generic("select", np.ones(len(bits), np.bool_), array, np.zeros_like(array))
    assert bits_of(chosen) == bits
    order = np.arange(len(bits), dtype=np.int32)
    assert bits_of(generic("gather", array, order, 0)) == bits
    negated = generic("neg", array)
    assert bits_of(generic("neg", negated)) == bits


# Each writes 32-bit patterns as floats in a memory of its own; big-endian bytes without a cast.
LAYOUTS = {
    "big-endian": lambda b: np.frombuffer(b.byteswap().tobytes(), ">f4").reshape(b.shape),
    "non-contiguous": lambda b: np.repeat(b.view(np.float32), 2, axis=-1)[..., ::2],
    "reversed": lambda b: np.ascontiguousarray(b[::-1, ::-1]).view(np.float32)[::-1, ::-1],
    "fortran": lambda b: np.asfortranarray(b.view(np.float32)),
    "read-only": lambda b: np.frombuffer(b.tobytes(), np.float32).reshape(b.shape),
    "unaligned": lambda b: np.frombuffer(b"x" + b.tobytes(), np.float32, offset=1).reshape(b.shape),
}


@pytest.mark.rule("operations.7.2.bits-are-kept")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_does_not_show(layout):
    bits = np.array(PATTERNS, np.uint32).reshape(2, 3)
    array = LAYOUTS[layout](bits)
    wanted = bits.tolist()
    assert bits_of(asarray(array)) == wanted
    assert bits_of(asarray(array, F32)) == wanted
    assert asarray(array).buffer.elements() == PATTERNS
    assert asarray(array).dtype is F32
    for backend in (None, "generic"):
        negated = run("neg", array, policy=SIMPLE, backend=backend)
        assert bits_of(negated) == (bits ^ 0x8000_0000).tolist()
        zeros = np.full((2, 3), -0.0, np.float32)
        total = run("add", array, zeros, policy=SIMPLE, backend=backend)
        assert bits_of(total) == [[NAN, NAN, 0x8000_0000], [1, 0x7F80_0000, 0x3F80_0000]]
    column = generic("gather", array, np.array([2, 0], np.int32), 1)
    assert bits_of(column) == bits[:, [2, 0]].tolist()


@pytest.mark.rule("operations.7.2.bits-are-kept")
def test_big_endian_and_strided_integers():
    for dtype in (">i4", "<i4"):
        array = np.array([[1, 2], [3, -4]], dtype)
        assert asarray(array).dtype is I32
        assert asarray(array.T).tolist() == [[1, 3], [2, -4]]
        assert generic("add", array, array.T).tolist() == [[2, 5], [5, -8]]
        assert generic("gather", np.arange(5, dtype=np.float32), array[0], 0).tolist() == [1.0, 2.0]
    with pytest.raises(IndexError, match="-4"):
        generic("gather", np.arange(5, dtype=np.float32), np.array([[1, -4]], ">i4"), 0)
    assert asarray(np.array([True, False])[::-1]).tolist() == [False, True]


@pytest.mark.rule("operations.3.7.rank-0")
def test_arrays_of_rank_0():
    for data, dtype in (
        (np.array(1.5, np.float32), F32), (np.array(2, np.int32), I32),
        (np.array(1, np.bool_), BOOL),
        (np.float32(1.5), F32),
    ):  # fmt: skip
        tensor = asarray(data)
        assert tensor.dtype is dtype
        assert tensor.shape == ()
        assert tensor.tolist() == data.item()
    result = generic("mul", np.array(2, np.int32), np.array(3, np.int32))
    assert result.shape == ()
    assert result.tolist() == 6
    assert bits_of(asarray(as_float([SNAN])[0].reshape(()))) == SNAN
    with pytest.raises(TypeError):
        len(result)


@pytest.mark.rule("promotion.9.asarray")
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
def test_asarray_shares_memory_unless_a_copy_is_asked_for(dtype):
    source = np.ones((2, 2), dtype)
    viewed, copied = asarray(source), asarray(source, copy=True)
    same_dtype = asarray(source, viewed.dtype, copy=False)
    source[:] = 0
    assert viewed.tolist() == same_dtype.tolist() == [[0, 0], [0, 0]]
    assert copied.tolist() == [[1, 1], [1, 1]]
    rows = [[1.0], [2.0]]
    tensor = asarray(rows)
    rows[0][0] = 9.0
    assert tensor.tolist() == [[1.0], [2.0]]


@pytest.mark.rule("promotion.9.asarray")
def test_asarray_without_a_copy_is_refused_where_one_is_needed():
    single = asarray([1.5])
    assert asarray(single) is single
    assert asarray(single, copy=False) is single
    assert asarray(single, copy=True) is not single
    for data, dtype in (
        ([1.5], None), (1.5, None), (np.ones(2, ">f4"), None), (np.ones(2), F32), (single, F64),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="copy"):
            asarray(data, dtype, copy=False)
    with pytest.raises(ValueError, match="device"):
        asarray([1.5], device="gpu")


@pytest.mark.rule("promotion.9.array")
def test_what_a_tensor_hands_out():
    """Copies, but for the view that NumPy asks for."""
    tensor = asarray([[1.0, 2.0]])
    tensor.numpy()[:] = 7
    np.array(tensor)[:] = 7
    np.asarray(tensor, np.float64)[:] = 7
    tensor.tolist()[0][0] = 7
    assert tensor.tolist() == [[1.0, 2.0]]
    np.asarray(tensor)[0, 0] = 7
    assert tensor.tolist() == [[7.0, 2.0]]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, np.float64, copy=False)


@pytest.mark.rule("operations.7.10.attributes")
def test_attributes_of_a_tensor_cannot_be_set_or_deleted():
    tensor = asarray([1.0])
    for name in ("dtype", "shape", "buffer", "other"):
        with pytest.raises(AttributeError):
            setattr(tensor, name, None)
    with pytest.raises(AttributeError):
        del tensor.dtype
    assert tensor.tolist() == [1.0]


@pytest.mark.rule("operations.7.10.fresh-storage")
@pytest.mark.parametrize(
    ("operation", "extra", "attributes"),
    [
        ("abs", (), {}),
        ("relu", (), {}),
        ("cumsum", (), {"axis": 0}),
        ("reduce_sum", (), {"axis": ()}),
        ("_sort_values", (), {}),
        ("_topk_values", (), {"k": 2}),
        ("gather", (np.array([0, 1], np.int32),), {"axis": 0}),
        ("scatter", (np.zeros(0, np.int32), np.zeros(0, np.float32)), {"axis": 0}),
        ("scatter_add", (np.zeros(0, np.int32), np.zeros(0, np.float32)), {"axis": 0}),
        ("add", (np.zeros(2, np.float32),), {}),
    ],
)
def test_results_are_fresh_storage(operation, extra, attributes):
    operand = np.array([1, 2], np.float32)
    for backend in (None, "generic"):
        for source in (operand, asarray(operand)):
            result = run(operation, source, *extra, policy=SIMPLE, backend=backend, **attributes)
            held = source.buffer.array if isinstance(source, Tensor) else source
            assert not np.shares_memory(result.buffer.array, held)
    assert operand.tolist() == [1, 2]


@pytest.mark.rule("operations.7.2.storage")
def test_results_of_bool_hold_python_bools():
    result = generic("lt", [[1.0, math.nan]], [[2.0, 0.0]])
    assert result.dtype is BOOL
    assert result.tolist() == [[True, False]]
    assert all(type(v) is bool for v in result.tolist()[0])
    assert result.numpy().dtype == np.bool_


@pytest.mark.rule("operations.7.9.empty-tensors")
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (0, 0)])
def test_elementwise_operations_on_empty_tensors(shape):
    empty = np.zeros(shape, np.float32)
    for backend in (None, "generic"):
        for operation, operands in (
            ("add", (empty, empty)), ("add", (empty, np.float32(1))), ("exp", (empty,)),
            ("mul", (empty, 2.0)), ("clamp", (empty, 0, 1)), ("pow", (2, empty)),
            ("select", (np.zeros(shape, np.bool_), empty, empty)),
        ):  # fmt: skip
            result = run(operation, *operands, policy=SIMPLE, backend=backend)
            assert result.shape == shape
            assert result.tolist() == empty.tolist()
        assert run("lt", empty, empty, policy=SIMPLE, backend=backend).shape == shape
        integers = np.zeros(shape, np.int32)
        assert run("mul", integers, integers, policy=SIMPLE, backend=backend).dtype is I32
    with pytest.raises(ValueError, match="add"):
        generic("add", np.zeros(0, np.float32), np.zeros(2, np.float32))


@pytest.mark.rule("operations.7.8.broadcasting")
def test_broadcast_values():
    column, row = np.array([[1], [2]], np.int32), np.array([10, 20, 30], np.int32)
    for backend in (None, "generic"):
        result = run("add", column, row, policy=SIMPLE, backend=backend)
        assert result.tolist() == [[11, 21, 31], [12, 22, 32]]
        result = run(
            "select", [[True], [False]], [1.0, 2.0], [[5.0]], policy=SIMPLE, backend=backend
        )
        assert result.tolist() == [[1.0, 2.0], [5.0, 5.0]]
        result = run("clamp", [5.0, -5.0], [[0.0], [6.0]], 7, policy=SIMPLE, backend=backend)
        assert result.tolist() == [[5.0, 0.0], [6.0, 6.0]]
        result = run("sub", np.ones((1, 0), np.float32), np.ones((5, 1), np.float32),
                     policy=SIMPLE, backend=backend)  # fmt: skip
        assert result.shape == (5, 0)


@pytest.mark.rule("operations.7.2.storage")
def test_arguments_of_asarray_of_a_wrong_kind():
    for dtype in ("Float32", np.float32, float, DType.Any, DType.MXFP4):
        with pytest.raises(TypeError):
            asarray([1.0], dtype)
    for dtype in (DType.BFloat16, DType.E4M3):
        with pytest.raises(NotImplementedError):
            asarray([1.0], dtype)
        with pytest.raises(NotImplementedError):
            asarray(np.ones(1, np.float32), dtype)
    for data in (None, "text", object(), {1: 2}, {1}):
        with pytest.raises(TypeError):
            asarray(data)
    with pytest.raises(TypeError):
        Tensor(np.zeros(1, np.float32))
    with pytest.raises(TypeError):
        Buffer(F32, np.zeros(1, np.float64))
    assert buffer_of([1.0]).dtype is F32
