"""Shapes: views where the memory allows one, and moves that keep every bit."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bittrue
from bittrue import DType, Tensor, array_api, asarray

F32 = DType.Float32


def shares(x, y):
    return np.shares_memory(x.buffer.array, y.buffer.array)


@pytest.mark.rule("promotion.views.reshape")
@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4), st.data())
def test_reshape_keeps_row_major_order(shape, data):
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    x = asarray(array).permute_dims(axes)
    flat = x.reshape(-1)
    assert flat.tolist() == array.transpose(axes).ravel().tolist()
    assert flat.reshape(x.shape).tolist() == x.tolist()


@pytest.mark.rule("promotion.views.reshape")
def test_reshape_views_or_copies_as_asked():
    x = asarray([[1, 2, 3], [4, 5, 6]])
    assert shares(x.reshape((3, 2)), x)
    assert x.reshape((3, -1)).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert not shares(x.reshape((3, 2), copy=True), x)
    assert not shares(x.T.reshape((6,)), x)
    assert x.T.reshape((6,), copy=True).tolist() == [1, 4, 2, 5, 3, 6]
    with pytest.raises(ValueError, match="view"):
        x.T.reshape((6,), copy=False)
    for shape in ((4,), (-1, -1), (-2, 3), (0, -1), (5, -1), ()):
        with pytest.raises(ValueError, match="reshape"):
            x.reshape(shape)
    for shape in ((1.5,), "6", (True, 6), None):
        with pytest.raises(TypeError):
            x.reshape(shape)
    assert bittrue.zeros((0, 3)).reshape((3, 0)).shape == (3, 0)


@pytest.mark.rule("promotion.views.transpose")
def test_transposes_are_views():
    x = asarray([[1, 2, 3], [4, 5, 6]])
    assert x.T.tolist() == x.mT.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert shares(x.T, x)
    y = asarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    assert y.mT.shape == (2, 4, 3)
    assert y.permute_dims((2, 0, 1)).tolist() == y.numpy().transpose(2, 0, 1).tolist()
    assert y.permute_dims((-1, 0, 1)).shape == (4, 2, 3)
    for refused in (
        lambda: y.T, lambda: y[0, 0].mT, lambda: y[0, 0].T, lambda: y.permute_dims((0, 1)),
        lambda: y.permute_dims((0, 0, 1)), lambda: y.permute_dims((0, 1, 3)),
    ):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011 - each its own text
            refused()
    transposed = x.T
    transposed += 10
    assert x.tolist() == [[11, 12, 13], [14, 15, 16]]


@pytest.mark.rule("promotion.views.broadcast")
def test_broadcasts_are_views_that_refuse_to_be_written():
    x = asarray([1.0, 2.0])
    wide = x.broadcast_to((3, 2))
    assert wide.tolist() == [[1.0, 2.0]] * 3
    assert shares(wide, x)
    assert not wide.writable
    assert (wide + 1.0).writable
    for shape in ((3,), (2, 3), (), (-1, 2)):
        with pytest.raises(ValueError):  # noqa: PT011
            x.broadcast_to(shape)
    assert asarray(1.0).broadcast_to(3).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.rule("promotion.views.moves")
def test_moves_of_the_namespace_agree_with_numpy():
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    x = asarray(a)
    for ours, theirs in (
        (array_api.concat([x, x], axis=1), np.concatenate([a, a], 1)),
        (array_api.concat([x, x[:1]], axis=None), np.concatenate([a, a[:1]], None)),
        (array_api.stack([x, x], axis=-1), np.stack([a, a], -1)),
        (array_api.expand_dims(x, axis=1), np.expand_dims(a, 1)),
        (array_api.expand_dims(x, axis=(0, -1)), np.expand_dims(a, (0, -1))),
        (array_api.squeeze(x[:1], axis=0), a[0]),
        (array_api.flip(x), np.flip(a)),
        (array_api.flip(x, axis=-1), np.flip(a, -1)),
        (array_api.moveaxis(x, 0, -1), np.moveaxis(a, 0, -1)),
        (array_api.roll(x, 2), np.roll(a, 2)),
        (array_api.roll(x, (1, -1), axis=(0, 1)), np.roll(a, (1, -1), (0, 1))),
        (array_api.tile(x, (2, 1, 2)), np.tile(a, (2, 1, 2))),
        (array_api.repeat(x, 2, axis=1), np.repeat(a, 2, 1)),
        (array_api.repeat(x, asarray([0, 1, 2]), axis=0), np.repeat(a, [0, 1, 2], 0)),
        (array_api.unstack(x, axis=1)[2], a[:, 2]),
        (array_api.tril(x, k=1), np.tril(a, 1)),
        (array_api.triu(x), np.triu(a)),
        (array_api.take(x, asarray([2, -1]), axis=1), np.take(a, [2, -1], 1)),
        (array_api.meshgrid(x[0], x[:, 0])[1], np.meshgrid(a[0], a[:, 0])[1]),
        (
            array_api.meshgrid(x[0], x[:, 0], indexing="ij")[0],
            np.meshgrid(a[0], a[:, 0], indexing="ij")[0],
        ),
    ):
        assert ours.dtype is DType.Int32
        assert ours.tolist() == theirs.tolist()
    for refused in (
        lambda: array_api.concat([x, x[0]]), lambda: array_api.concat([]),
        lambda: array_api.stack([x, x[:1]]), lambda: array_api.squeeze(x, axis=0),
        lambda: array_api.flip(x, axis=2), lambda: array_api.roll(x, (1, 2), axis=(0,)),
        lambda: array_api.tril(x[0]), lambda: array_api.take(x, asarray([0])),
        lambda: array_api.moveaxis(x, 0, (0, 1)), lambda: array_api.expand_dims(x, axis=(0, 0)),
        lambda: array_api.meshgrid(x[0], indexing="xx"),
    ):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011
            refused()


@pytest.mark.rule("promotion.views.moves")
def test_positions_and_truth():
    x = asarray([[0.0, float("nan")], [-0.0, 2.0]])
    assert [p.tolist() for p in array_api.nonzero(x)] == [[0, 1], [1, 1]]
    assert array_api.count_nonzero(x, axis=0).tolist() == [0, 2]
    assert array_api.count_nonzero(x).dtype is DType.Int32
    assert array_api.all(x, axis=1, keepdims=True).tolist() == [[False], [False]]
    assert array_api.any(x, axis=1).tolist() == [True, True]
    assert array_api.all(bittrue.zeros((0,))).item() is True
    assert array_api.any(bittrue.zeros((0,))).item() is False
    with pytest.raises(ValueError, match="rank"):
        array_api.nonzero(asarray(1.0))


@pytest.mark.rule("promotion.views.where")
def test_where_moves_bits():
    snan = asarray(np.array([0x7F80_0001, 0xFFC0_0000], np.uint32).view(np.float32))
    mask = asarray([True, False])
    assert array_api.where(mask, snan, 1.0).buffer.elements() == [0x7F80_0001, 0x3F80_0000]
    assert array_api.where(mask, 2, asarray([3, 4])).tolist() == [2, 4]
    assert array_api.where(mask, asarray([[True], [False]]), mask).shape == (2, 2)
    with pytest.raises(TypeError):
        array_api.where(asarray([1, 0]), 1.0, snan)
    with pytest.raises(TypeError):
        array_api.where(mask, mask, snan)


@pytest.mark.rule("promotion.transfer")
def test_one_element_becomes_a_python_number_when_asked():
    assert asarray([[2.5]]).item() == 2.5
    assert (float(asarray(2.5)), int(asarray([-2.5])), int(asarray(7))) == (2.5, -2, 7)
    assert (bool(asarray([0.0])), bool(asarray(float("nan"))), bool(asarray([True]))) == (
        False, True, True,
    )  # fmt: skip
    assert complex(asarray(1.5)) == 1.5
    assert complex(asarray(1.5 - 2j)) == 1.5 - 2j
    assert [10, 20, 30][asarray(1)] == 20
    for transfer in (bool, int, float, complex):
        for x in (asarray([1.0, 2.0]), bittrue.zeros((0,))):
            with pytest.raises(ValueError, match="elements"):
                transfer(x)
    for transfer in (float, int):
        with pytest.raises(TypeError):
            transfer(asarray(1j))
    for x in (asarray(1.0), asarray(True)):  # noqa: FBT003
        with pytest.raises(TypeError):
            [1, 2][x]
    with pytest.raises(ValueError, match="NaN"):
        int(asarray(float("nan")))


@pytest.mark.rule("promotion.repr")
@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (asarray([1.5, -0.0]), "Tensor([ 1.5, -0. ], shape=(2,), dtype=Float32)"),
        (asarray(3), "Tensor(3, shape=(), dtype=Int32)"),
        (asarray([True]), "Tensor([ True], shape=(1,), dtype=Bool)"),
        (asarray([1 + 2j]), "Tensor([1.+2.j], shape=(1,), dtype=Complex64)"),
        (bittrue.zeros((0, 2)), "Tensor([], shape=(0, 2), dtype=Float32)"),
    ],
)
def test_repr(tensor, text):
    assert repr(tensor) == text


@pytest.mark.rule("promotion.copies")
def test_copies_have_storage_of_their_own(bits):
    x = asarray(np.array([0x7F80_0001, 0x8000_0000], np.uint32).view(np.float32))
    for fresh in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):  # noqa: S301
        assert bits(fresh) == bits(x)
        assert fresh.dtype is x.dtype
        assert fresh.writable
        assert not shares(fresh, x)
        fresh.assign(1.0)
    assert x.buffer.elements() == [0x7F80_0001, 0x8000_0000]
    transposed = asarray([[1, 2], [3, 4]]).T
    assert pickle.loads(pickle.dumps(transposed)).tolist() == [[1, 3], [2, 4]]  # noqa: S301


@pytest.mark.rule("promotion.what-it-is")
def test_what_a_tensor_says_of_itself():
    x = bittrue.zeros((2, 3))
    assert (x.shape, x.ndim, x.size, x.nbytes, x.strides) == ((2, 3), 2, 6, 24, (12, 4))
    assert (x.dtype, x.device, x.writable) == (F32, "cpu", True)
    assert x.to_device("cpu") is x
    for refused in (lambda: x.to_device("gpu"), lambda: x.to_device("cpu", stream=1)):
        with pytest.raises(ValueError):  # noqa: PT011
            refused()
    with pytest.raises(TypeError):
        Tensor([1.0])
