"""Shapes and attributes: what is refused, with which class, and which shape a call has."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bittrue.geometry import Ordering, Reduction, broadcast_shapes, geometry_of

CONV = ((1, 2, 5), (4, 2, 3))
FINE = {"strides": (1,), "padding": ((0, 0),)}
HUGE = 2**31


class Index:
    """An integer by protocol only."""

    def __index__(self) -> int:
        return 1


def refuse(error, operation, shapes, attributes, *fragments):
    with pytest.raises(error) as caught:
        geometry_of(operation, shapes, attributes)
    text = str(caught.value)
    for fragment in (operation, *fragments):
        assert fragment in text, text


@pytest.mark.rule("operations.9.axis")
@pytest.mark.parametrize("axis", [2, -3, 100])
@pytest.mark.parametrize(
    ("operation", "shapes"),
    [
        ("reduce_sum", ((2, 3),)),
        ("reduce_prod", ((2, 3),)),
        ("reduce_max", ((2, 3),)),
        ("argmin", ((2, 3),)),
        ("cumsum", ((2, 3),)),
        ("gather", ((2, 3), (1,))),
        ("scatter", ((2, 3), (1,), (1, 3))),
        ("scatter_add", ((2, 3), (1,), (1, 3))),
        ("_sort_values", ((2, 3),)),
        ("_topk_indices", ((2, 3),)),
    ],
)
def test_an_axis_outside_the_rank(operation, shapes, axis):
    attributes = {"axis": axis} | ({"k": 1} if "topk" in operation else {})
    refuse(ValueError, operation, shapes, attributes, str(axis))


@pytest.mark.rule("operations.9.axis")
@pytest.mark.parametrize("operation", ["cumsum", "_sort_values", "_sort_indices", "_topk_values"])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_tensor_of_rank_0_has_no_axis(operation, axis):
    attributes = {"axis": axis} | ({"k": 1} if "topk" in operation else {})
    refuse(ValueError, operation, ((),), attributes)


@pytest.mark.rule("operations.9.axis")
def test_a_tensor_of_rank_0_reduces_over_no_axis():
    for operation in ("reduce_sum", "reduce_max"):
        assert geometry_of(operation, ((),), {}) == Reduction((), (), keepdims=False)
        assert geometry_of(operation, ((),), {"axis": ()}).shape == ()
        refuse(ValueError, operation, ((),), {"axis": 0}, "0")
    assert geometry_of("argmax", ((),), {}).shape == ()


@pytest.mark.rule("operations.8.8.axes")
@pytest.mark.parametrize("axes", [(0, 0), (0, -2), (1, -1), (0, 1, 0)])
def test_an_axis_named_twice(axes):
    refuse(ValueError, "reduce_sum", ((2, 3),), {"axis": axes}, str(axes))
    refuse(ValueError, "reduce_max", ((2, 3),), {"axis": axes}, str(axes))


@pytest.mark.rule("operations.9.attribute-types")
@pytest.mark.parametrize(
    ("operation", "shapes", "attributes", "fragment"),
    [
        ("reduce_sum", ((2,),), {"axis": True}, "bool"),
        ("reduce_sum", ((2,),), {"axis": 0.0}, "float"),
        ("reduce_sum", ((2,),), {"axis": "0"}, "str"),
        ("reduce_sum", ((2,),), {"axis": (0.0,)}, "float"),
        ("reduce_sum", ((2,),), {"axis": (True,)}, "bool"),
        ("reduce_sum", ((2,),), {"keepdims": 1}, "int"),
        ("reduce_sum", ((2,),), {"keepdims": None}, "None"),
        ("argmax", ((2,),), {"axis": (0,)}, "tuple"),
        ("argmin", ((2,),), {"axis": ()}, "tuple"),
        ("argmin", ((2,),), {"axis": False}, "bool"),
        ("cumsum", ((2,),), {"axis": None}, "None"),
        ("cumsum", ((2,),), {"axis": (0,)}, "tuple"),
        ("gather", ((2,), (1,)), {"axis": None}, "None"),
        ("gather", ((2,), (1,)), {"axis": True}, "bool"),
        ("scatter", ((2,), (1,), (1,)), {"axis": 0.5}, "float"),
        ("_sort_values", ((2,),), {"axis": True}, "bool"),
        ("_sort_values", ((2,),), {"axis": None}, "None"),
        ("_sort_indices", ((2,),), {"descending": 0}, "int"),
        ("_topk_values", ((2,),), {"k": True}, "bool"),
        ("_topk_values", ((2,),), {"k": 1.0}, "float"),
        ("_topk_values", ((2,),), {"k": None}, "None"),
        ("_topk_indices", ((2,),), {"k": 1, "largest": "yes"}, "str"),
        ("_topk_indices", ((2,),), {"k": 1, "largest": 1}, "int"),
        ("conv_general", CONV, FINE | {"strides": 1}, "int"),
        ("conv_general", CONV, FINE | {"strides": None}, "None"),
        ("conv_general", CONV, FINE | {"strides": (True,)}, "bool"),
        ("conv_general", CONV, FINE | {"strides": (1.0,)}, "float"),
        ("conv_general", CONV, FINE | {"strides": "1"}, "str"),
        ("conv_general", CONV, FINE | {"padding": 0}, "int"),
        ("conv_general", CONV, FINE | {"padding": "SAME"}, "padding"),
        ("conv_general", CONV, FINE | {"padding": (0, 0)}, "padding"),
        ("conv_general", CONV, FINE | {"padding": ((0,),)}, "padding"),
        ("conv_general", CONV, FINE | {"padding": ((0, 0, 0),)}, "padding"),
        ("conv_general", CONV, FINE | {"padding": ((0, True),)}, "bool"),
        ("conv_general", CONV, FINE | {"padding": ((0, 0.5),)}, "float"),
        ("conv_general", CONV, FINE | {"padding": None}, "None"),
        ("conv_general", CONV, FINE | {"lhs_dilation": 1}, "int"),
        ("conv_general", CONV, FINE | {"lhs_dilation": (False,)}, "bool"),
        ("conv_general", CONV, FINE | {"kernel_dilation": (1.0,)}, "float"),
        ("conv_general", CONV, FINE | {"feature_groups": True}, "bool"),
        ("conv_general", CONV, FINE | {"feature_groups": 1.0}, "float"),
        ("conv_general", CONV, FINE | {"feature_groups": None}, "None"),
        ("conv_general", CONV, FINE | {"lhs_dims": 3}, "int"),
        ("conv_general", CONV, FINE | {"lhs_dims": (0, True, 2)}, "bool"),
        ("conv_general", CONV, FINE | {"kernel_dims": (0, 1.0, 2)}, "float"),
        ("conv_general", CONV, FINE | {"output_dims": "012"}, "str"),
    ],
)
def test_an_attribute_of_a_wrong_type(operation, shapes, attributes, fragment):
    refuse(TypeError, operation, shapes, attributes, fragment)


@pytest.mark.rule("operations.9.attribute-types")
def test_integers_by_protocol_are_integers():
    """np.int64 is what shape arithmetic gives; an array or a bool of NumPy is no int."""
    assert geometry_of("cumsum", ((2, 3),), {"axis": np.int64(1)}).axis == 1
    assert geometry_of("reduce_sum", ((2, 3),), {"axis": Index()}).axes == (1,)
    for value in (np.True_, np.float32(1), np.array([1])):
        refuse(TypeError, "cumsum", ((2, 3),), {"axis": value})


@pytest.mark.rule("operations.9.unknown-or-missing-attribute")
@pytest.mark.parametrize(
    ("operation", "shapes", "attributes", "fragment"),
    [
        ("add", ((2,), (2,)), {"axis": 0}, "axis"),
        ("exp", ((2,),), {"approximate": True}, "approximate"),
        ("reduce_sum", ((2,),), {"dtype": None}, "dtype"),
        ("matmul", ((2, 2), (2, 2)), {"transpose": True}, "transpose"),
        ("cumsum", ((2,),), {}, "axis"),
        ("cumsum", ((2,),), {"axis": 0, "reverse": True}, "reverse"),
        ("gather", ((2,), (1,)), {}, "axis"),
        ("scatter", ((2,), (1,), (1,)), {}, "axis"),
        ("scatter_add", ((2,), (1,), (1,)), {}, "axis"),
        ("_topk_values", ((2,),), {}, "k"),
        ("_sort_values", ((2,),), {"stable": True}, "stable"),
        ("conv_general", CONV, {"strides": (1,)}, "padding"),
        ("conv_general", CONV, {"padding": ((0, 0),)}, "strides"),
        ("conv_general", CONV, FINE | {"groups": 1}, "groups"),
        ("select", ((2,), (2,), (2,)), {"axis": 0}, "axis"),
    ],
)
def test_an_unknown_or_missing_attribute(operation, shapes, attributes, fragment):
    refuse(TypeError, operation, shapes, attributes, fragment)


@pytest.mark.rule("operations.8.11.refusals")
@pytest.mark.parametrize(
    ("shapes", "attributes", "fragment"),
    [
        (CONV, FINE | {"strides": ()}, "strides"),
        (CONV, FINE | {"strides": (1, 1)}, "(1, 1)"),
        (CONV, FINE | {"strides": (0,)}, "(0,)"),
        (CONV, FINE | {"strides": (-1,)}, "(-1,)"),
        (CONV, FINE | {"padding": ()}, "padding"),
        (CONV, FINE | {"padding": ((0, 0), (0, 0))}, "padding"),
        (CONV, FINE | {"padding": ((-1, 0),)}, "-1"),
        (CONV, FINE | {"padding": ((0, -2),)}, "-2"),
        (CONV, FINE | {"lhs_dilation": (0,)}, "lhs_dilation"),
        (CONV, FINE | {"lhs_dilation": (1, 1)}, "lhs_dilation"),
        (CONV, FINE | {"kernel_dilation": (0,)}, "kernel_dilation"),
        (CONV, FINE | {"kernel_dilation": ()}, "kernel_dilation"),
        (CONV, FINE | {"feature_groups": 0}, "0"),
        (CONV, FINE | {"feature_groups": -1}, "-1"),
        (CONV, FINE | {"feature_groups": 2}, "2"),
        (CONV, FINE | {"feature_groups": 3}, "3"),
        (((1, 2, 5), (4, 3, 3)), FINE, "3"),
        (((1, 4, 5), (3, 2, 3)), FINE | {"feature_groups": 2}, "3"),
        (CONV, FINE | {"lhs_dims": (0, 1)}, "(0, 1)"),
        (CONV, FINE | {"lhs_dims": (0, 1, 1)}, "(0, 1, 1)"),
        (CONV, FINE | {"kernel_dims": (0, 1, 3)}, "(0, 1, 3)"),
        (CONV, FINE | {"output_dims": (0, 1, -1)}, "(0, 1, -1)"),
        (CONV, FINE | {"output_dims": ()}, "output_dims"),
        (((1, 2, 5), (4, 2, 3, 1)), FINE, "(4, 2, 3, 1)"),
        (((1, 2), (4, 2)), {"strides": (), "padding": ()}, "(1, 2)"),
        (((), ()), {"strides": (), "padding": ()}, "()"),
        (((1, 2, 2), (4, 2, 3)), FINE, "0"),
        (((1, 2, 5), (4, 2, 0)), FINE, "0"),
        (((1, 2, 5), (4, 2, 3)), FINE | {"kernel_dilation": (3,)}, "-1"),
    ],
)
def test_convolution_values_that_do_not_fit(shapes, attributes, fragment):
    refuse(ValueError, "conv_general", shapes, attributes, fragment)


@pytest.mark.rule("operations.8.10.shapes")
@pytest.mark.parametrize(
    "shapes",
    [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (2, 3)), ((1, 2, 3), (3, 2)), ((), ()),
     ((2, 3), (1, 4)), ((2, 1), (3, 4)), ((2, 0), (3, 4))],
)  # fmt: skip
def test_matmul_shapes(shapes):
    refuse(ValueError, "matmul", shapes, {}, str(shapes[0]), str(shapes[1]))


@pytest.mark.rule("operations.8.13.k")
@pytest.mark.parametrize("k", [0, -1, 4, 2**40])
def test_k_outside_the_extent(k):
    for operation in ("_topk_values", "_topk_indices"):
        refuse(ValueError, operation, ((2, 3),), {"k": k}, str(k))
        refuse(ValueError, operation, ((2, 0),), {"k": max(k, 0)})


@pytest.mark.rule("operations.8.13.empty")
def test_sort_of_an_empty_axis():
    assert geometry_of("_sort_values", ((2, 0),), {}).shape == (2, 0)
    wanted = Ordering((2, 2), 1, descending=True, count=2)
    assert geometry_of("_topk_values", ((2, 3),), {"k": 2}) == wanted


@pytest.mark.rule("operations.8.8.empty")
@pytest.mark.parametrize("operation", ["reduce_max", "reduce_min", "argmax", "argmin"])
def test_empty_extremum(operation):
    refuse(ValueError, operation, ((0,),), {})
    refuse(ValueError, operation, ((3, 0),), {"axis": 1}, "(3, 0)")
    # Nothing to choose for no result: no refusal.
    assert geometry_of(operation, ((3, 0),), {"axis": 0}).shape == (0,)


@pytest.mark.rule("operations.9.int32-positions")
@pytest.mark.parametrize(
    ("operation", "shape", "attributes"),
    [
        ("argmax", (HUGE,), {}),
        ("argmin", (HUGE,), {"axis": 0}),
        ("argmax", (2**16, 2**15), {}),
        ("_sort_values", (HUGE,), {}),
        ("_sort_indices", (2, HUGE), {"axis": 1}),
        ("_topk_values", (HUGE,), {"k": 1}),
        ("_topk_indices", (HUGE,), {"k": 1}),
    ],
)
def test_more_positions_than_int32_counts(operation, shape, attributes):
    refuse(OverflowError, operation, (shape,), attributes, str(HUGE))


@pytest.mark.rule("operations.9.int32-positions")
def test_as_many_positions_as_int32_counts():
    assert geometry_of("argmax", ((HUGE - 1,),), {}).shape == ()
    assert geometry_of("argmax", ((2**16, 2**15),), {"axis": 0}).shape == (2**15,)
    assert geometry_of("_sort_indices", ((HUGE - 1,),), {}).count == HUGE - 1
    assert geometry_of("reduce_max", ((HUGE,),), {}).shape == ()


shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@pytest.mark.rule("operations.7.8.broadcasting")
@given(st.lists(shapes, min_size=1, max_size=3))
def test_broadcasting_of_all_operands_at_once(given_shapes):
    try:
        expected = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(ValueError, match="select") as caught:
            broadcast_shapes("select", given_shapes)
        assert all(str(shape) in str(caught.value) for shape in given_shapes)
    else:
        assert broadcast_shapes("select", given_shapes) == expected


@pytest.mark.rule("operations.8.8.axes")
@given(data=st.data(), shape=shapes)
def test_shape_of_a_reduction(data, shape):
    rank = len(shape)
    axes = data.draw(st.sets(st.integers(0, rank - 1)) if rank else st.just(set()))
    named = tuple(data.draw(st.sampled_from([axis, axis - rank])) for axis in axes)
    keepdims = data.draw(st.booleans())
    expected = np.zeros(shape).sum(axis=named, keepdims=keepdims).shape
    geometry = geometry_of("reduce_sum", (shape,), {"axis": named, "keepdims": keepdims})
    assert geometry == Reduction(expected, tuple(sorted(axes)), keepdims)


@pytest.mark.rule("operations.8.11.extent")
@given(
    n=st.integers(0, 8), k=st.integers(1, 5), p=st.integers(0, 4), q=st.integers(0, 4),
    s=st.integers(1, 4), d=st.integers(1, 4), e=st.integers(1, 4),
)  # fmt: skip
def test_extent_by_the_formula(n, k, p, q, s, d, e):
    dilated = p + (n - 1) * d + 1 + q if n else p + q
    extent = math.floor(Fraction(dilated - ((k - 1) * e + 1), s)) + 1
    attributes = {
        "strides": (s,), "padding": ((p, q),), "lhs_dilation": (d,), "kernel_dilation": (e,),
    }  # fmt: skip
    operands = ((2, 3, n), (4, 3, k))
    if extent < 1:
        refuse(ValueError, "conv_general", operands, attributes)
    else:
        assert geometry_of("conv_general", operands, attributes).shape == (2, 4, extent)


@pytest.mark.rule("operations.8.11.dims")
def test_dims_list_the_axis_of_each_role():
    """lhs_dims=(1, 2, 0): batch on axis 1, feature on axis 2, the spatial axis on 0 (D15)."""
    geometry = geometry_of(
        "conv_general",
        ((5, 7, 2), (3, 4, 2)),
        FINE | {"lhs_dims": (1, 2, 0), "kernel_dims": (1, 2, 0), "output_dims": (2, 0, 1)},
    )
    # Batch 7, feature 2, spatial 5; out 4, in 2, spatial 3; extent 3.
    assert geometry.shape == (4, 3, 7)


@pytest.mark.rule("operations.8.12.shapes")
def test_shapes_of_indexing():
    assert geometry_of("gather", ((2, 3, 4), (5, 6)), {"axis": 1}).shape == (2, 5, 6, 4)
    assert geometry_of("gather", ((2, 3, 4), ()), {"axis": -1}).shape == (2, 3)
    updates = (2, 5, 6, 4)
    shape = geometry_of("scatter", ((2, 3, 4), (5, 6), updates), {"axis": -2}).shape
    assert shape == (2, 3, 4)
    refuse(ValueError, "scatter", ((2, 3, 4), (5, 6), (5, 6)), {"axis": 1}, "(5, 6)")
