"""Which dtype an operator gives: the tables of the requirement, both operand orders."""

import operator

import numpy as np
import pytest

import bittrue
from bittrue import DType, asarray

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)
REAL = ("float32", "float64")
OPERATIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul,
              "div": operator.truediv}  # fmt: skip


@pytest.mark.rule("promotion.2.1")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_tensor_with_tensor(pair, operation, tensor):
    left, right, result = pair
    computed = OPERATIONS[operation](tensor(left), tensor(right))
    assert computed.dtype is getattr(bittrue, result)
    assert computed.shape == (3,)


@pytest.mark.rule("promotion.2.1")
def test_rank_0_is_a_full_operand(pair, tensor):
    left, right, result = pair
    assert (tensor(left) * tensor(right)[0]).dtype is getattr(bittrue, result)
    assert (tensor(left)[0] * tensor(right)).dtype is getattr(bittrue, result)


@pytest.mark.rule("promotion.2.2")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_tensor_with_python_scalar(scalar_pair, operation, tensor, scalars):
    name, kind, result = scalar_pair
    for computed in (
        OPERATIONS[operation](tensor(name), scalars[kind]),
        OPERATIONS[operation](scalars[kind], tensor(name)),
    ):
        assert computed.dtype is getattr(bittrue, result)


@pytest.mark.rule("promotion.2.2.bool")
@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_a_python_bool_is_a_weak_float(name, tensor, bits):
    for value in (True, False):
        for operation in ARITHMETIC[:3]:
            assert bits(operation(tensor(name), value)) == bits(
                operation(tensor(name), float(value))
            )
        assert (value - tensor(name)).dtype is getattr(bittrue, name)


@pytest.mark.rule("promotion.1.4")
def test_int32_with_python_scalars():
    x = asarray([1, 2])
    assert (x + 3).tolist() == [4, 5]
    assert (3 - x).tolist() == [2, 1]
    assert (x * 3).tolist() == (3 * x).tolist() == [3, 6]
    for computed in (x + 1.5, 1.5 - x, x * 0.5, True + x, x / 2, 2 / x):
        assert computed.dtype is DType.Float32
    for refused in (lambda: x + 2**31, lambda: 2**31 - x, lambda: x * 2**31):
        with pytest.raises(OverflowError):
            refused()
    for operation in ARITHMETIC:
        with pytest.raises(TypeError):
            operation(x, 1j)
        with pytest.raises(TypeError):
            operation(1j, x)


@pytest.mark.rule("promotion.2.1.int32-bool")
@pytest.mark.parametrize("other", ["float64", "complex64", "complex128"])
@pytest.mark.parametrize("integral", [[1, 2, 3], [True, False, True]])
def test_no_row_joins_int32_or_bool_with_other_floats(other, integral, tensor):
    for operation in ARITHMETIC:
        for operands in ((asarray(integral), tensor(other)), (tensor(other), asarray(integral))):
            with pytest.raises(TypeError):
                operation(*operands)


@pytest.mark.rule("promotion.1.1.4")
def test_true_division_of_int32_is_float32_and_of_bool_absent():
    assert (asarray([1, 2]) / asarray([4, 4])).tolist() == [0.25, 0.5]
    assert (asarray([1]) / asarray([4])).dtype is DType.Float32
    for operation in ARITHMETIC:
        with pytest.raises(TypeError):
            operation(asarray([True]), asarray([True]))


@pytest.mark.rule("promotion.2.4")
@pytest.mark.parametrize("rank_0", [False, True], ids=["scalar", "0-d array"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_numpy_values_of_rank_0_are_typed(pair, operation, rank_0, tensor):
    left, right, result = pair
    value = getattr(np, right)(2)
    if rank_0:
        value = np.array(value)
    for computed in (
        OPERATIONS[operation](tensor(left), value),
        OPERATIONS[operation](value, tensor(left)),
    ):
        assert type(computed) is bittrue.Tensor
        assert computed.dtype is getattr(bittrue, result)
    exact = tensor(left, [1.0, 2.0, -4.0])
    swapped = OPERATIONS[operation](value, exact).tolist()
    assert swapped == [OPERATIONS[operation](2, v) for v in exact.tolist()]


@pytest.mark.rule("promotion.2.4")
def test_numpy_values_that_have_no_row_are_never_read_as_python_numbers(tensor):
    for name in ("float32", "complex128"):
        for value in (np.int64(1), np.uint8(1), np.longdouble(1), np.datetime64(1, "s")):
            for wrapped in (value, np.array(value)):
                with pytest.raises(TypeError):
                    tensor(name) * wrapped
                with pytest.raises(TypeError):
                    wrapped * tensor(name)
        with pytest.raises(NotImplementedError):
            tensor(name) * np.float16(1)
        for wrapped in (np.bool_(1), np.array(True)):  # noqa: FBT003
            with pytest.raises(TypeError):
                tensor(name) * wrapped
    assert (tensor("float32") * np.int32(2)).dtype is DType.Float32
    with pytest.raises(TypeError):
        tensor("float64") * np.int32(2)


@pytest.mark.rule("promotion.2.4")
@pytest.mark.parametrize("shape", [(1,), (3,), (1, 1)])
def test_arrays_of_higher_rank_need_asarray(shape, tensor):
    array = np.ones(shape, np.float32)
    x = tensor("float32")
    for operation in (*ARITHMETIC, operator.eq, operator.lt, operator.matmul, operator.pow):
        with pytest.raises(TypeError, match="asarray"):
            operation(x, array)
        with pytest.raises(TypeError, match="asarray"):
            operation(array, x)
    with pytest.raises(TypeError, match="asarray"):
        x += array
    assert (x + asarray(array)).dtype is DType.Float32


@pytest.mark.rule("promotion.2.4")
@pytest.mark.parametrize("other", ["1", None, [1.0], object()])
def test_other_objects_are_no_operands(other, tensor):
    x = tensor("float32")
    for operation in (*ARITHMETIC, operator.eq, operator.ne, operator.lt, operator.matmul):
        with pytest.raises(TypeError):
            operation(x, other)
        with pytest.raises(TypeError):
            operation(other, x)


class Reflecting:
    def __radd__(self, other):
        return "reflected"


@pytest.mark.rule("promotion.2.4")
def test_another_class_may_take_a_tensor_on_its_left(tensor):
    x = tensor("float32")
    assert x + Reflecting() == "reflected"
    with pytest.raises(TypeError):
        x += Reflecting()


@pytest.mark.rule("promotion.4.3")
def test_comparisons_give_bool_tensors_and_swap(tensor):
    x = tensor("float32")
    assert (x < 2.0).tolist() == [True, False, True]
    assert (x <= 2).tolist() == [True, True, True]
    assert (x > 1).tolist() == [False, True, False]
    assert (x >= asarray([1.0, 3.0, -3.0])).tolist() == [True, False, True]
    assert (x < 2.0).tolist() == [True, False, True]
    assert (x == 2).tolist() == [False, True, False]
    assert (x != 2).tolist() == [True, False, True]
    assert (x == np.float64(2)).dtype is DType.Bool
    assert (asarray([0.1]) == 0.1).tolist() == [True]
    assert (asarray([0.1]) == np.float64(0.1)).tolist() == [False]
    with pytest.raises(OverflowError):
        x == 10**60  # noqa: B015


@pytest.mark.rule("promotion.2.5.8")
def test_comparisons_without_a_row_raise(tensor):
    for operands in (
        (asarray([1]), asarray([1])), (asarray([1]), 1), (asarray([True]), True),
        (tensor("float32"), "text"), (tensor("float32"), None),
    ):  # fmt: skip
        for compare in (operator.eq, operator.ne, operator.lt, operator.ge):
            with pytest.raises(TypeError):
                compare(*operands)
    for order in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            order(tensor("complex64"), tensor("complex64"))
    assert (tensor("complex64") == tensor("complex64")).tolist() == [True, True, True]


@pytest.mark.rule("promotion.2.5.8")
def test_hash_is_by_identity(tensor):
    x, y = tensor("float32"), tensor("float32")
    assert {x: 1, y: 2}[x] == 1
    assert hash(x) == hash(x)
    assert 2.0 in x
    assert 5.0 not in x


@pytest.mark.rule("promotion.unary")
def test_unary_operators(tensor):
    x = tensor("float32")
    assert (-x).tolist() == [-1.0, -2.0, 3.0]
    assert abs(x).tolist() == [1.0, 2.0, 3.0]
    fresh = +x
    assert fresh.tolist() == x.tolist()
    assert not np.shares_memory(fresh.numpy(), x.buffer.array)
    fresh += 1.0
    assert x.tolist() == [1.0, 2.0, -3.0]
    assert abs(tensor("complex64", [3 + 4j])).dtype is DType.Float32
    with pytest.raises(TypeError):
        +asarray([True])


@pytest.mark.rule("promotion.logic")
def test_connectives_of_bool_tensors():
    x, y = asarray([True, True, False, False]), asarray([True, False, True, False])
    assert (x & y).tolist() == [True, False, False, False]
    assert (x | y).tolist() == [True, True, True, False]
    assert (x ^ y).tolist() == [False, True, True, False]
    assert (~x).tolist() == [False, False, True, True]
    assert (True & x).tolist() == x.tolist()
    assert (x | asarray([[False], [True]])).shape == (2, 4)
    for refused in (lambda: asarray([1]) & asarray([1]), lambda: ~asarray([1.0]), lambda: x & 1):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(ValueError, match="broadcast"):
        x & asarray([True, False])


@pytest.mark.rule("promotion.floor-remainder")
def test_floor_division_and_remainder(tensor):
    x = tensor("float32", [7.0, -7.0, 0.5])
    assert (x // 2.0).tolist() == [3.0, -4.0, 0.0]
    assert (x % 2.0).tolist() == [1.0, 1.0, 0.5]
    assert (7.0 // x).tolist() == [1.0, -1.0, 14.0]
    assert (1.0 % x).tolist() == [1.0, -6.0, 0.0]
    assert (x // tensor("float64")).dtype is DType.Float64
    for operation in (operator.floordiv, operator.mod):
        for refused in ((tensor("complex64"), 2.0), (asarray([1]), 2), (asarray([True]), 1.0)):
            with pytest.raises(TypeError):
                operation(*refused)


@pytest.mark.rule("promotion.pow")
def test_powers(tensor):
    assert (tensor("float32") ** 2).tolist() == [1.0, 4.0, 9.0]
    assert (2 ** tensor("float32")).tolist() == [2.0, 4.0, 0.125]
    assert (asarray([2, 3]) ** 3).tolist() == [8, 27]
    with pytest.raises(NotImplementedError):
        tensor("float64") ** 2.0
