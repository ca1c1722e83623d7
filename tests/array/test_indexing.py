"""Indexing moves bits: views where NumPy gives views, and its elements in its order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bittrue
from bittrue import DType, Tensor, asarray

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)
BASIC = SHAPES.flatmap(
    lambda shape: st.tuples(
        st.just(shape), hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    )
)


def numbered(shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


@pytest.mark.rule("promotion.indexing.basic")
@given(BASIC)
def test_ints_slices_none_and_ellipsis_give_the_view_of_numpy(case):
    shape, key = case
    array = numbered(shape)
    view = asarray(array)[key]
    wanted = array[key]
    assert view.shape == np.shape(wanted)
    assert view.tolist() == wanted.tolist()
    if view.size:
        assert np.shares_memory(view.buffer.array, array)


@pytest.mark.rule("promotion.indexing.basic")
@given(BASIC, st.booleans())
def test_setting_writes_the_elements_that_getting_reads(case, one):
    shape, key = case
    array, written = numbered(shape), numbered(shape)
    wanted = -1 if one else -1 - numbered(np.shape(array[key]))
    array[key] = wanted
    x = asarray(written)
    x[key] = wanted if one else asarray(wanted)
    assert x.tolist() == array.tolist()
    assert written.tolist() == array.tolist()


@pytest.mark.rule("promotion.indexing.mask")
@given(st.data())
def test_masks_select_in_row_major_order(data):
    shape = data.draw(SHAPES)
    rank = data.draw(st.integers(1, len(shape)))
    mask = data.draw(hnp.arrays(np.bool_, shape[:rank]))
    array = numbered(shape)
    x = asarray(array.copy())
    chosen = x[asarray(mask)]
    assert chosen.shape == array[mask].shape
    assert chosen.tolist() == array[mask].tolist()
    assert not np.shares_memory(chosen.buffer.array, x.buffer.array)
    values = -1 - numbered(array[mask].shape)
    array[mask] = values
    x[asarray(mask)] = asarray(values)
    assert x.tolist() == array.tolist()


@pytest.mark.rule("promotion.indexing.integers")
@given(st.data())
def test_integer_tensors_pick_elements(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    result_shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=3))
    count = data.draw(st.integers(1, len(shape)))
    keys = [
        data.draw(hnp.arrays(np.int32, result_shape, elements=st.integers(-n, n - 1)))
        for n in shape[:count]
    ]
    array = numbered(shape)
    picked = asarray(array)[tuple(asarray(key) for key in keys)]
    assert picked.tolist() == array[tuple(keys)].tolist()
    mixed = data.draw(st.permutations([*keys[:1], *(slice(None),) * (len(shape) - 1)]))
    axis = next(i for i, entry in enumerate(mixed) if isinstance(entry, np.ndarray))
    mixed[axis] = keys[0] % shape[axis]
    got = asarray(array)[tuple(asarray(k) if isinstance(k, np.ndarray) else k for k in mixed)]
    assert got.tolist() == array[tuple(mixed)].tolist()


@pytest.mark.rule("promotion.indexing.integers")
def test_one_integer_is_an_index_and_gives_a_view():
    x = asarray([[1, 2], [3, 4]])
    for index in (1, asarray(1), np.int32(1), np.array(1, np.int32), -1):
        view = x[index]
        assert view.tolist() == [3, 4]
        assert np.shares_memory(view.buffer.array, x.buffer.array)
    rank_0 = x[1, 0]
    assert rank_0.shape == ()
    assert type(rank_0) is Tensor
    rank_0 += 10
    assert x.tolist() == [[1, 2], [13, 4]]
    rank_0[...] = 7
    assert x.tolist() == [[1, 2], [7, 4]]


@pytest.mark.rule("promotion.indexing.refused")
@pytest.mark.parametrize(
    ("key", "error"),
    [
        (2, IndexError), (-3, IndexError), ((0, 0, 0), IndexError), ((0, 5), IndexError),
        (1.0, TypeError), ("a", TypeError), (True, TypeError), ([0, 1], TypeError),
        (slice(0.5), TypeError), (slice(True), TypeError),  # noqa: FBT003
        (np.array([0.5]), TypeError), (np.array([0]), TypeError), (np.float32(1), TypeError),
        (slice(None, None, 0), ValueError), ((..., ...), IndexError),
    ],
)  # fmt: skip
def test_keys_that_are_no_index(key, error):
    x = asarray([[1, 2], [3, 4]])
    with pytest.raises(error):
        x[key]
    with pytest.raises(error):
        x[key] = 0
    assert x.tolist() == [[1, 2], [3, 4]]


@pytest.mark.rule("promotion.indexing.refused")
def test_tensors_that_are_no_index():
    x = asarray([[1, 2], [3, 4]])
    with pytest.raises(TypeError):
        x[asarray([0.0])]
    with pytest.raises(IndexError):
        x[asarray([2])]
    with pytest.raises(IndexError):
        x[asarray([True, False, True])]
    with pytest.raises(IndexError):
        asarray(1)[0]


@pytest.mark.rule("promotion.indexing.bits")
def test_every_dtype_is_indexed_and_payloads_are_kept():
    payload = np.array([0x7F80_0001, 0xFFC1_2345, 0x8000_0000], np.uint32).view(np.float32)
    x = asarray(payload)
    order = x[asarray([2, 0])]
    assert order.buffer.elements() == [0x8000_0000, 0x7F80_0001]
    y = bittrue.zeros((3,))
    y[:] = x
    y[asarray([True, False, False])] = x[:1]
    assert y.buffer.elements() == x.buffer.elements()
    for dtype in (DType.Float64, DType.Complex64, DType.Complex128, DType.Bool, DType.Int32):
        z = bittrue.ones((2, 2), dtype=dtype)
        z[0] = z[1]
        assert z[asarray([[True, False], [False, True]])].shape == (2,)
        assert z[0, 1].dtype is dtype


@pytest.mark.rule("promotion.indexing.iteration")
def test_iteration_and_length():
    x = asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2
    for refused in (lambda: len(x[0, 0]), lambda: list(x[0, 0])):
        with pytest.raises(TypeError):
            refused()
