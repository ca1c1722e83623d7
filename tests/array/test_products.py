"""Products of any rank: every contraction ascends, whatever the form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bittrue
from bittrue import DType, array_api, asarray, einsum, matmul

F32, F64, I32 = DType.Float32, DType.Float64, DType.Int32


def ascending(rows, columns):
    """Contract lists of float32 numbers: +0, each product rounded, each addition rounded."""
    total = np.float32(0)
    for x, y in zip(rows, columns, strict=True):
        total = np.float32(total + np.float32(np.float32(x) * np.float32(y)))
    return float(total)


def random(*shape):
    rng = np.random.default_rng(sum(shape))
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.rule("promotion.products.matmul")
@pytest.mark.parametrize(
    ("left", "right", "shape"),
    [
        ((3,), (3,), ()), ((2, 3), (3,), (2,)), ((3,), (3, 2), (2,)), ((2, 3), (3, 4), (2, 4)),
        ((5, 2, 3), (3, 4), (5, 2, 4)), ((2, 3), (5, 3, 4), (5, 2, 4)), ((3,), (5, 3, 4), (5, 4)),
        ((5, 2, 3), (3,), (5, 2)), ((5, 1, 2, 3), (6, 3, 4), (5, 6, 2, 4)),
        ((0, 3), (3, 2), (0, 2)), ((2, 0), (0, 3), (2, 3)), ((0, 2, 3), (0, 3, 1), (0, 2, 1)),
    ],
)  # fmt: skip
def test_shapes_and_elements(left, right, shape):
    a, b = random(*left), random(*right)
    c = asarray(a) @ asarray(b)
    assert c.shape == shape
    assert c.shape == np.matmul(a, b).shape
    a2 = a[None] if a.ndim == 1 else a
    b2 = b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a2.shape[:-2], b2.shape[:-2])
    a2, b2 = np.broadcast_to(a2, batch + a2.shape[-2:]), np.broadcast_to(b2, batch + b2.shape[-2:])
    wanted = [
        ascending(a2[i][row], b2[i][:, column])
        for i in np.ndindex(*batch)
        for row in range(a2.shape[-2])
        for column in range(b2.shape[-1])
    ]
    assert c.reshape(-1).tolist() == wanted


@pytest.mark.rule("promotion.products.refused")
def test_products_that_are_refused():
    x = asarray(random(2, 3))
    for y in (asarray(random(2, 3)), asarray(random(2)), asarray(1.0), asarray(random(4, 2, 3)),
              np.float32(2)):  # fmt: skip
        with pytest.raises(ValueError, match="matmul"):
            x @ y
    with pytest.raises(ValueError, match="matmul"):
        asarray(random(2, 4, 3)) @ asarray(random(3, 3, 5))
    for y in (2.0, 1, True):
        with pytest.raises(TypeError):
            x @ y
        with pytest.raises(TypeError):
            y @ x
    with pytest.raises(TypeError):
        x @ asarray([True, True, False])
    with pytest.raises(TypeError):
        matmul(x, [1.0, 2.0, 3.0])
    with pytest.raises(OverflowError):
        asarray([2**30, 2**30]) @ asarray([1, 1])


@pytest.mark.rule("promotion.products.dtypes")
def test_dtypes_and_accumulators():
    assert (asarray([[1, 2]]) @ asarray([3, 4])).dtype is I32
    assert (asarray([[1, 2]]) @ asarray([0.5, 0.25])).tolist() == [1.0]
    ones, small = asarray([1.0, 1.0, 1.0]), asarray([2.0**24, 1.0, 1.0])
    assert matmul(ones, small).item() == 2.0**24
    assert matmul(ones, small, accumulator_dtype=F64).item() == 2.0**24 + 2


@pytest.mark.rule("promotion.products.matmul")
def test_strided_operands_give_the_same_bits(bits):
    a, b = random(4, 6), random(6, 4)
    wanted = asarray(a) @ asarray(b)
    assert bits(asarray(np.asfortranarray(a)) @ asarray(b)) == bits(wanted)
    assert bits(asarray(np.repeat(a, 2, 1))[:, ::2] @ asarray(b[::-1].copy())[::-1]) == bits(wanted)
    assert bits((asarray(b).T @ asarray(a).T).T) == bits(wanted)


@pytest.mark.rule("promotion.products.einsum")
@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("i,i->", [(3,), (3,)]),
        ("i,j->ij", [(2,), (3,)]), ("i,j->ji", [(2,), (3,)]), ("i,i->i", [(3,), (3,)]),
        ("bij,bjk->bik", [(2, 3, 2), (2, 2, 3)]), ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]),
        ("ii->", [(3, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]), ("ba", [(2, 3)]),
        ("ij,kj,lk->il", [(2, 3), (4, 3), (2, 4)]), ("ij,k->i", [(2, 3), (4,)]),
        ("ijk,jl,k->il", [(2, 3, 2), (3, 2), (2,)]), ("iij,j->i", [(2, 2, 3), (3,)]),
        ("ij,ij->ij", [(2, 3), (2, 3)]), ("ij,ij,ij->", [(2, 3), (2, 3), (2, 3)]),
        ("i, j -> j i", [(2,), (3,)]), ("ijk,ljk->li", [(2, 3, 2), (2, 3, 2)]),
        ("bi,bj->bij", [(2, 3), (2, 4)]), ("ib,jb->bij", [(3, 2), (4, 2)]),
    ],
)  # fmt: skip
def test_einsum_contracts_as_its_subscripts_say(subscripts, shapes):
    """On integers, where every order gives the same number."""
    arrays = [
        (np.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 7) - 3 for shape in shapes
    ]
    wanted = np.einsum(subscripts, *arrays)
    computed = einsum(subscripts, *map(asarray, arrays))
    assert computed.dtype is I32
    assert computed.shape == wanted.shape
    assert computed.tolist() == wanted.tolist()
    floats = einsum(subscripts, *(asarray(array, F32) for array in arrays))
    assert floats.tolist() == wanted.tolist()
    assert not any(np.shares_memory(computed.buffer.array, array) for array in arrays)


@pytest.mark.rule("promotion.products.einsum")
def test_einsum_is_pairwise_from_the_left_and_row_major(bits):
    a, b, c = (asarray(random(*shape)) for shape in ((3, 4, 5), (5, 4, 2), (2, 6)))
    wanted = (
        a.reshape((3, 20)) @ b.permute_dims((1, 0, 2)).reshape((20, 2))
    ) @ c  # jk in the order of the left operand
    assert bits(einsum("ijk,kjl,lm->im", a, b, c)) == bits(wanted)
    x, y = asarray(random(3, 40)), asarray(random(3))
    first_summed = x.sum(1)
    assert bits(einsum("ij,i->i", x, y)) == bits(first_summed * y + 0.0)
    assert bits(einsum("ij->i", x)) == bits(first_summed)


@pytest.mark.rule("promotion.products.einsum")
def test_one_term_is_added_to_plus_zero(bits):
    x, y = asarray([-0.0, 1.5]), asarray([1.0, -2.0])
    assert einsum("i,i->i", x, y).buffer.elements() == [0, 0xC040_0000]
    stack = (x.reshape((2, 1, 1)) @ y.reshape((2, 1, 1))).reshape(2)
    assert bits(einsum("i,i->i", x, y)) == bits(stack)
    a, b = asarray(random(2, 3)), asarray(random(2, 4))
    assert bits(einsum("bi,bj->bij", a, b)) == bits(a[:, :, None] @ b[:, None, :])


@pytest.mark.rule("promotion.products.einsum")
@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->il", [(2, 3), (3, 4)]), ("ij", [(2,)]), ("ij,jk", [(2, 3)]), ("i->ii", [(2,)]),
        ("i1->i", [(2, 2)]), ("...i->i", [(2, 2)]), ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ii->i", [(2, 3)]), ("ij,ij->ij", [(2, 3), (2, 1)]), ("i,j->ij->ij", [(2,), (2,)]),
        ("", [(2,)]), ("é->é", [(2,)]),
    ],
)  # fmt: skip
def test_subscripts_that_do_not_fit(subscripts, shapes):
    with pytest.raises(ValueError, match="einsum"):
        einsum(subscripts, *(asarray(random(*shape)) for shape in shapes))


@pytest.mark.rule("promotion.products.einsum")
def test_arguments_of_einsum_of_a_wrong_kind():
    with pytest.raises(TypeError):
        einsum(1, asarray([1.0]))
    with pytest.raises(TypeError):
        einsum("i", [1.0])
    with pytest.raises(ValueError, match="operand"):
        einsum("i")


@pytest.mark.rule("promotion.products.namespace")
@given(st.integers(0, 3), st.integers(1, 3))
def test_tensordot_and_vecdot(k, n):
    a = np.arange(n * 2 * k, dtype=np.int32).reshape(n, 2, k) - 3
    b = np.arange(2 * k * n, dtype=np.int32).reshape(2, k, n) - 2
    x, y = asarray(a), asarray(b)
    assert array_api.tensordot(x, y, axes=2).tolist() == np.tensordot(a, b, 2).tolist()
    assert array_api.tensordot(x, y, axes=0).shape == (n, 2, k, 2, k, n)
    axes = ([2, 1], [1, 0])
    assert array_api.tensordot(x, y, axes=axes).tolist() == np.tensordot(a, b, axes).tolist()
    assert array_api.vecdot(x, x[:1]).tolist() == (a * a[:1]).sum(-1).tolist()
    assert array_api.vecdot(x, x, axis=0).tolist() == (a * a).sum(0).tolist()
    assert array_api.matrix_transpose(x).shape == (n, k, 2)


@pytest.mark.rule("promotion.products.backends")
def test_every_backend_gives_the_same_bits(bits):
    a, b = asarray(random(2, 3, 40)), asarray(random(40, 5))
    with bittrue.backends("generic"):
        wanted = a @ b, einsum("bij,jk->bk", a, b)
    assert [bits(x) for x in (a @ b, einsum("bij,jk->bk", a, b))] == [bits(x) for x in wanted]
