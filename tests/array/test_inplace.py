"""In-place arithmetic: the object, its dtype and its memory stay, or nothing changes."""

import operator

import numpy as np
import pytest

import bittrue
from bittrue import DType, asarray

OPERATORS = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
}  # fmt: skip
PLAIN = {"+=": operator.add, "-=": operator.sub, "*=": operator.mul, "/=": operator.truediv}
EVERY = {
    **OPERATORS, "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow,
    "@=": operator.imatmul, "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
}  # fmt: skip


class Watched:
    """A tensor with the address, object and bits that it must keep."""

    def __init__(self, x):
        self.tensor, self.buffer = x, x.buffer
        self.address = x.buffer.array.ctypes.data
        self.dtype, self.shape = x.dtype, x.shape
        self.bits = x.buffer.array.tobytes()

    def assert_same_storage(self, result):
        assert result is self.tensor
        assert result.buffer is self.buffer
        assert result.buffer.array.ctypes.data == self.address
        assert (result.dtype, result.shape) == (self.dtype, self.shape)

    def assert_unchanged(self):
        self.assert_same_storage(self.tensor)
        assert self.tensor.buffer.array.tobytes() == self.bits


def accepted(x, y, operator_, expected):
    """Apply and check that `x` kept its storage and has the bits of `expected`."""
    watched = Watched(x)
    result = OPERATORS[operator_](x, y)
    watched.assert_same_storage(result)
    assert result.buffer.array.tobytes() == expected.buffer.array.tobytes()
    assert result.buffer.array.tobytes() != watched.bits


def refused(x, y, operators, error):
    """Check that each operator raises and leaves everything as it was."""
    watched = Watched(x)
    for name in operators:
        with pytest.raises(error):
            EVERY[name](x, y)
        watched.assert_unchanged()


@pytest.mark.rule("promotion.2.5.2")
@pytest.mark.parametrize("operator_", OPERATORS)
def test_tensor_operands(pair, operator_, tensor):
    """Allowed where the result of the table is the dtype of the target, else a `TypeError`."""
    left, right, result = pair
    x, y = tensor(left), tensor(right, [3.0, 5.0, 7.0])
    if result == left:
        accepted(x, y, operator_, PLAIN[operator_](tensor(left), y))
    else:
        refused(x, y, [operator_], TypeError)


@pytest.mark.rule("promotion.2.5.3")
@pytest.mark.parametrize("operator_", OPERATORS)
def test_python_scalars(scalar_pair, operator_, tensor, scalars):
    name, kind, result = scalar_pair
    value = scalars[kind]
    if result == name:
        accepted(tensor(name), value, operator_, PLAIN[operator_](tensor(name), value))
    else:
        refused(tensor(name), value, [operator_], TypeError)
        refused(tensor(name), complex(2, 0), [operator_], TypeError)


@pytest.mark.rule("promotion.2.5.2")
@pytest.mark.parametrize("rank_0", [False, True], ids=["scalar", "0-d array"])
def test_numpy_values(pair, rank_0, tensor):
    left, right, result = pair
    value = getattr(np, right)(3)
    if rank_0:
        value = np.array(value)
    if result == left:
        accepted(tensor(left), value, "*=", tensor(left) * value)
    else:
        refused(tensor(left), value, OPERATORS, TypeError)


@pytest.mark.rule("promotion.2.5.5")
def test_an_int32_target_takes_int32_results_alone(tensor):
    accepted(asarray([1, 2]), asarray([3, 4]), "+=", asarray([4, 6]))
    accepted(asarray([1, 2]), 3, "*=", asarray([3, 6]))
    for y in (1.5, True, 1j, tensor("float32", [1.0, 2.0]), np.float32(1), np.float64(1),
              tensor("float64", [1.0, 2.0])):  # fmt: skip
        refused(asarray([1, 2]), y, OPERATORS, TypeError)
    for y in (2, asarray([1, 2])):
        refused(asarray([1, 2]), y, ["/="], TypeError)


@pytest.mark.rule("promotion.2.5.9")
@pytest.mark.parametrize("backend", ["cpu", "generic"])
def test_checked_int32_changes_nothing_where_an_element_overflows(backend):
    with bittrue.backends(backend):
        x = asarray([1, 2, 2**31 - 1, 3])
        refused(x, 1, ["+="], OverflowError)
        refused(x, asarray([0, 0, 1, 0]), ["+="], OverflowError)
        refused(x, 2**31, ["+=", "-=", "*="], OverflowError)
        refused(asarray([2, 2**16]), 16, ["**="], OverflowError)


@pytest.mark.rule("promotion.2.5.9")
def test_a_scalar_that_does_not_convert_changes_nothing(tensor):
    refused(tensor("float32"), 10**60, ["+=", "-=", "*=", "/="], OverflowError)
    refused(tensor("float32"), "1", EVERY, TypeError)
    refused(tensor("float32"), None, EVERY, TypeError)


@pytest.mark.rule("promotion.2.5.6")
def test_operands_broadcast_to_the_target_and_never_beyond(tensor):
    x = bittrue.zeros((2, 3))
    watched = Watched(x)
    x += tensor("float32")
    watched.assert_same_storage(x)
    assert x.tolist() == [[1.0, 2.0, -3.0], [1.0, 2.0, -3.0]]
    x *= tensor("float32")[0]
    refused(x, bittrue.ones((2, 2, 3)), OPERATORS, ValueError)
    refused(bittrue.ones((1, 3)), bittrue.ones((2, 3)), OPERATORS, ValueError)
    refused(bittrue.ones(()), bittrue.ones((1,)), OPERATORS, ValueError)
    refused(bittrue.ones((3,)), bittrue.ones((2,)), OPERATORS, ValueError)


@pytest.mark.rule("promotion.2.5.7")
def test_overlapping_operands_are_read_first():
    x = asarray([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    x[1:] += x[:-1]
    assert x.tolist() == [0.0, 1.0, 3.0, 5.0, 7.0, 9.0]
    x = asarray([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    x[:-1] -= x[1:]
    assert x.tolist() == [-1.0, -1.0, -1.0, -1.0, -1.0, 5.0]
    x = asarray([[1, 2], [3, 4]])
    x += x.T
    assert x.tolist() == [[2, 5], [5, 8]]
    x = asarray([1.0, 2.0, 4.0])
    x *= x
    assert x.tolist() == [1.0, 4.0, 16.0]
    reversed_ = x[::-1]
    x += reversed_
    assert x.tolist() == [17.0, 8.0, 17.0]
    x = asarray([[1.0, 2.0], [3.0, 4.0]])
    x @= x
    assert x.tolist() == [[7.0, 10.0], [15.0, 22.0]]


@pytest.mark.rule("promotion.2.5.7")
def test_a_target_whose_elements_share_memory_is_refused():
    base = asarray([1.0, 2.0, 3.0])
    repeated = bittrue.from_numpy(
        np.lib.stride_tricks.as_strided(base.buffer.array, (2, 3), (0, 4), writeable=True)
    )
    windows = bittrue.from_numpy(
        np.lib.stride_tricks.as_strided(base.buffer.array, (2, 2), (4, 4), writeable=True)
    )
    halves = bittrue.from_numpy(
        np.lib.stride_tricks.as_strided(base.buffer.array, (3,), (2,), writeable=True)
    )
    for target in (repeated, windows, halves, base.broadcast_to((2, 3))):
        assert not target.writable
        refused(target, 1.0, ["+=", "-=", "*=", "/=", "**="], ValueError)
        with pytest.raises(ValueError, match=r"share memory|read-only"):
            target[0] = 1.0
        with pytest.raises(ValueError, match=r"share memory|read-only"):
            target.assign(1.0)
    assert base.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.rule("promotion.2.5.7")
def test_strides_that_interleave_without_sharing_are_written():
    memory = np.zeros(6, np.float32)
    interleaved = bittrue.from_numpy(
        np.lib.stride_tricks.as_strided(memory, (2, 3), (4, 8), writeable=True)
    )
    assert interleaved.writable
    interleaved += asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert memory.tolist() == [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    backwards = bittrue.from_numpy(memory)[::-2]
    backwards *= 10.0
    assert memory.tolist() == [1.0, 40.0, 2.0, 50.0, 3.0, 60.0]


@pytest.mark.rule("promotion.2.5.7")
def test_read_only_memory_is_refused():
    array = np.array([1.0, 2.0], np.float32)
    array.flags.writeable = False
    x = bittrue.from_numpy(array)
    assert not x.writable
    refused(x, 1.0, ["+=", "-=", "*=", "/="], ValueError)
    refused(x, asarray([[1.0, 0.0], [0.0, 1.0]]), ["@="], ValueError)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    assert (x + 1.0).writable
    assert x.copy().writable


@pytest.mark.rule("promotion.2.5.8")
@pytest.mark.parametrize("operator_", EVERY)
def test_every_in_place_method_exists_and_never_hands_over(operator_, tensor):
    method = {
        "+=": "__iadd__", "-=": "__isub__", "*=": "__imul__", "/=": "__itruediv__",
        "//=": "__ifloordiv__", "%=": "__imod__", "**=": "__ipow__", "@=": "__imatmul__",
        "&=": "__iand__", "|=": "__ior__", "^=": "__ixor__",
    }[operator_]  # fmt: skip

    class Reflecting:
        """Would rebind the name, were the method to return NotImplemented."""

        def __getattr__(self, name):
            return lambda _other: "rebound"

    for other in ("text", None, Reflecting(), np.ones(3, np.float32), object()):
        x = tensor("float32")
        watched = Watched(x)
        with pytest.raises(TypeError):
            getattr(x, method)(other)
        watched.assert_unchanged()


@pytest.mark.rule("promotion.2.5.8")
def test_operations_without_a_row_raise_in_place(tensor):
    refused(tensor("complex64"), 2.0, ["//=", "%="], TypeError)
    refused(asarray([4]), 2, ["//=", "%="], TypeError)
    refused(tensor("float64"), 2.0, ["**="], NotImplementedError)
    refused(asarray([True]), asarray([True]), ["+=", "*=", "/="], TypeError)
    refused(tensor("float32"), asarray([True, True, True]), ["&=", "|=", "^="], TypeError)


@pytest.mark.rule("promotion.2.5.8")
def test_floor_division_remainder_and_power_in_place(tensor):
    x = tensor("float32", [7.0, -7.0])
    watched = Watched(x)
    x //= 2.0
    assert x.tolist() == [3.0, -4.0]
    x %= 3.0
    assert x.tolist() == [0.0, 2.0]
    x **= 3
    assert x.tolist() == [0.0, 8.0]
    watched.assert_same_storage(x)
    y = asarray([2, 3])
    y **= 2
    assert y.tolist() == [4, 9]
    refused(y, -1, ["**="], TypeError)


@pytest.mark.rule("promotion.2.5.8.matmul")
def test_matmul_in_place():
    x = asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    watched = Watched(x)
    x @= asarray([[0.0, 1.0], [1.0, 0.0]])
    watched.assert_same_storage(x)
    assert x.tolist() == [[2.0, 1.0], [4.0, 3.0], [6.0, 5.0]]
    refused(x, bittrue.ones((2, 3)), ["@="], ValueError)
    refused(x, bittrue.ones((3, 3)), ["@="], ValueError)
    refused(x, bittrue.ones((2, 2, 2)), ["@="], ValueError)
    refused(x, bittrue.ones((2,)), ["@="], ValueError)
    refused(x, bittrue.ones((2, 2), dtype=DType.Float64), ["@="], TypeError)
    refused(asarray([[1]]), asarray([[1.0]]), ["@="], TypeError)
    refused(x, 2.0, ["@="], TypeError)


@pytest.mark.rule("promotion.logic")
def test_connectives_in_place():
    x = asarray([True, True, False])
    watched = Watched(x)
    x &= asarray([True, False, True])
    assert x.tolist() == [True, False, False]
    x |= asarray([False, True, False])
    assert x.tolist() == [True, True, False]
    x ^= True
    assert x.tolist() == [False, False, True]
    watched.assert_same_storage(x)
    refused(x, asarray([[True] * 3] * 2), ["&="], ValueError)


# --- assignment -------------------------------------------------------------------------------


@pytest.mark.rule("promotion.2.5.4")
def test_assign_takes_what_converts_by_the_table(pair, tensor):
    left, right, result = pair
    x, y = tensor(left), tensor(right, [3.0, 5.0, 7.0])
    watched = Watched(x)
    if result == left:
        assert x.assign(y) is x
        assert x.tolist() == [3.0, 5.0, 7.0]
    else:
        with pytest.raises(TypeError):
            x.assign(y)
        watched.assert_unchanged()
    watched.assert_same_storage(x)


@pytest.mark.rule("promotion.2.5.4")
@pytest.mark.parametrize(
    ("target", "source", "allowed"),
    [
        ("float32", "float64", True),
        ("complex64", "complex128", True),
        ("complex64", "float64", True),
        ("float32", "complex64", False),
        ("float64", "complex128", False),
        ("float32", "complex128", False),
    ],
)
def test_narrowing_rounds_within_one_kind(target, source, allowed, tensor):
    x, y = tensor(target), tensor(source, [1 + 2.0**-24 + 2.0**-52, 1e300, 1 / 3])
    watched = Watched(x)
    if allowed:
        assert x.assign(y, narrow=True) is x
        rounded = [float(np.float32(v)) for v in (1 + 2.0**-23, np.inf, np.float32(1 / 3))]
        assert x.tolist() == rounded
    else:
        with pytest.raises(TypeError):
            x.assign(y, narrow=True)
        watched.assert_unchanged()
    watched.assert_same_storage(x)


@pytest.mark.rule("promotion.2.5.4")
@pytest.mark.parametrize("source", ["float32", "float64", "complex64"])
def test_narrowing_never_makes_an_int32(source, tensor):
    x = asarray([1, 2, 3])
    watched = Watched(x)
    with pytest.raises(TypeError):
        x.assign(tensor(source), narrow=True)
    with pytest.raises(TypeError):
        x.assign(1.0, narrow=True)
    with pytest.raises(TypeError):
        x.assign(asarray([True, True, True]), narrow=True)
    watched.assert_unchanged()


@pytest.mark.rule("promotion.2.5")
def test_assignment_to_elements(tensor):
    x = bittrue.zeros((2, 3))
    watched = Watched(x)
    x[0] = tensor("float32")
    x[1, ::2] = 5
    x[1, 1] = np.float32(7)
    assert x.tolist() == [[1.0, 2.0, -3.0], [5.0, 7.0, 5.0]]
    x[x > 4.0] = asarray([10.0, 20.0, 30.0])
    assert x.tolist() == [[1.0, 2.0, -3.0], [10.0, 20.0, 30.0]]
    x[:, asarray([2, 0])] = asarray([[-1.0, -2.0]])
    assert x.tolist() == [[-2.0, 2.0, -1.0], [-2.0, 20.0, -1.0]]
    watched.assert_same_storage(x)
    for key, value, error in (
        (0, tensor("float64"), TypeError),
        (0, np.float64(1), TypeError),
        (0, 1j, TypeError),
        (0, 10**60, OverflowError),
        (0, asarray([1.0, 2.0]), ValueError),
        (0, bittrue.ones((1, 3)), ValueError),
        (2, 1.0, IndexError),
        ((0, 0, 0), 1.0, IndexError),
        (0, "1", TypeError),
        (0, [1.0, 2.0, 3.0], TypeError),
        (1.5, 1.0, TypeError),
    ):
        before = x.tolist()
        with pytest.raises(error):
            x[key] = value
        assert x.tolist() == before
    integers, flags = asarray([1, 2]), asarray([True, False])
    integers[0] = 5
    flags[1] = True
    for target, values in ((integers, (1.5, True, 2.0)), (flags, (1, 1.0))):
        for value in values:
            with pytest.raises(TypeError):
                target[0] = value
    with pytest.raises(OverflowError):
        integers[0] = 2**31
    assert (integers.tolist(), flags.tolist()) == ([5, 2], [True, True])


@pytest.mark.rule("promotion.2.5.7")
def test_assignment_reads_overlapping_elements_first():
    x = asarray([0, 1, 2, 3])
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2]
    x = asarray([0, 1, 2, 3])
    x[asarray([1, 2, 3])] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2]
    x = asarray([0, 1, 2, 3])
    x[::-1] = x
    assert x.tolist() == [3, 2, 1, 0]
    x[asarray([0, 0])] = asarray([7, 8])
    assert x.tolist() == [8, 2, 1, 0]
