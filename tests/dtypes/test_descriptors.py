"""Kinds, identity, immutability and registration of descriptors (operations.md 1.1)."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import uuid
from typing import Any

import pytest

from bittrue.dtypes import CompoundDType, DType, DTypeCategory, SimpleDType

F32, I32, BOOL, E8M0 = DType.Float32, DType.Int32, DType.Bool, DType.E8M0


def _fresh(kind: str = "Test") -> str:
    return f"{kind}{uuid.uuid4().hex}"


@pytest.mark.rule("dtypes.kinds.constructors")
def test_the_constructors_are_the_stated_ones() -> None:
    category = inspect.signature(DTypeCategory).parameters
    assert list(category) == ["name", "supertype"]
    assert category["supertype"].kind is inspect.Parameter.KEYWORD_ONLY
    assert category["supertype"].default is None
    simple = inspect.signature(SimpleDType).parameters
    assert list(simple) == ["name", "bits", "supertype"]
    for name in ("bits", "supertype"):
        assert simple[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert simple[name].default is inspect.Parameter.empty
    compound = inspect.signature(CompoundDType).parameters
    assert set(compound) == {"name", "supertype", "simple_types", "blocks"}
    for name in ("supertype", "simple_types", "blocks"):
        assert compound[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert compound["supertype"].default is None
    assert compound["simple_types"].default is inspect.Parameter.empty
    assert compound["blocks"].default is None


@pytest.mark.rule("dtypes.kinds.root")
def test_the_root_is_abstract() -> None:
    name = _fresh()
    for arguments in ((), (name,)):
        with pytest.raises(TypeError):
            DType(*arguments)
    with pytest.raises(LookupError):
        DType.from_name(name)
    for kind in (DTypeCategory, SimpleDType, CompoundDType):
        assert issubclass(kind, DType)


@pytest.mark.rule("dtypes.kinds.predicates")
@pytest.mark.parametrize(
    ("dtype", "kind"), [(DType.Any, 0), (DType.Floating, 0), (F32, 1), (BOOL, 1), (DType.MXFP4, 2)]
)
def test_exactly_one_kind_predicate_holds(dtype: DType, kind: int) -> None:
    answers = [dtype.is_category(), dtype.is_simple(), dtype.is_compound()]
    assert answers == [kind == 0, kind == 1, kind == 2]
    assert isinstance(dtype, (DTypeCategory, SimpleDType, CompoundDType)[kind])


@pytest.mark.rule("dtypes.kinds.no-width")
@pytest.mark.parametrize("dtype", [DType.Any, DType.Floating, DType.Integer, DType.MXFP4])
def test_a_category_and_a_compound_have_no_width(dtype: DType) -> None:
    assert not hasattr(dtype, "bits")


@pytest.mark.rule("dtypes.identity.equality")
def test_equality_and_hash_are_object_identity() -> None:
    every = DType.registered()
    assert len(set(every)) == len(every)
    for dtype in every:
        assert dtype == dtype  # noqa: PLR0124
        assert dtype != dtype.name
        assert sum(dtype == other for other in every) == 1
        assert type(dtype).__eq__ is object.__eq__
        assert type(dtype).__hash__ is object.__hash__


@pytest.mark.rule("dtypes.identity.copies")
def test_copy_deepcopy_and_unpickling_return_the_registered_object() -> None:
    extension = SimpleDType(_fresh(), bits=7, supertype=DType.Floating)
    for dtype in (*DType.registered(), extension):
        assert copy.copy(dtype) is dtype
        assert copy.deepcopy(dtype) is dtype
        assert copy.deepcopy({"x": [dtype]})["x"][0] is dtype
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype  # noqa: S301


@pytest.mark.rule("dtypes.identity.subclass")
@pytest.mark.parametrize("kind", [DTypeCategory, SimpleDType, CompoundDType])
def test_no_subclass_can_redefine_equality(kind: Any) -> None:
    with pytest.raises(TypeError):
        type("Sub", (kind,), {"__eq__": lambda _self, _other: True})


@pytest.mark.rule("dtypes.immutability")
@pytest.mark.parametrize("dtype", [DType.Any, F32, BOOL, DType.MXFP4, DType.NVFP4], ids=str)
@pytest.mark.parametrize(
    "attribute",
    ["name", "bits", "supertype", "simple_types", "blocks", "extra", "_name", "__class__"],
)
def test_assigning_or_deleting_an_attribute_is_an_attribute_error(
    dtype: DType, attribute: str
) -> None:
    before = (dtype.name, dtype.supertype, type(dtype))
    with pytest.raises(AttributeError):
        setattr(dtype, attribute, None)
    with pytest.raises(AttributeError):
        delattr(dtype, attribute)
    assert (dtype.name, dtype.supertype, type(dtype)) == before


@pytest.mark.rule("dtypes.immutability")
def test_a_compound_keeps_no_reference_to_the_lists_it_was_built_from() -> None:
    planes: list[SimpleDType] = [DType.E2M1, E8M0]
    blocks: list[int | None] = [1, 32]
    dtype = CompoundDType(_fresh(), simple_types=planes, blocks=blocks)
    planes.append(F32)
    blocks[1] = 16
    assert dtype.simple_types == (DType.E2M1, E8M0)
    assert dtype.blocks == (1, 32)


@pytest.mark.rule("dtypes.registration.registers")
def test_building_a_descriptor_registers_it() -> None:
    category = DTypeCategory(_fresh("C"), supertype=DType.Any)
    simple = SimpleDType(_fresh("S"), bits=5, supertype=category)
    compound = CompoundDType(_fresh("P"), supertype=category, simple_types=(simple, E8M0))
    for dtype in (category, simple, compound):
        assert DType.from_name(dtype.name) is dtype
        assert type(dtype).from_name(dtype.name) is dtype
        assert any(dtype is each for each in DType.registered())
        assert any(dtype is each for each in type(dtype).registered())
    assert simple.bits == 5
    assert simple.supertype is category
    assert compound.simple_types == (simple, E8M0)
    assert compound.blocks is None


BAD_NAMES: list[Any] = ["", None, 3, b"name", ("name",), F32]


@pytest.mark.rule("dtypes.registration.name")
@pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
def test_an_empty_or_non_string_name_is_a_value_error(name: Any) -> None:
    before = DType.registered()
    with pytest.raises(ValueError, match="name"):
        DTypeCategory(name)
    with pytest.raises(ValueError, match="name"):
        SimpleDType(name, bits=8, supertype=DType.Any)
    with pytest.raises(ValueError, match="name"):
        CompoundDType(name, simple_types=(F32,))
    assert DType.registered() == before


@pytest.mark.rule("dtypes.registration.taken")
@pytest.mark.parametrize("name", ["Float32", "Any", "MXFP4", "Bool"])
def test_a_taken_name_is_a_value_error_for_every_kind(name: str) -> None:
    before, owner = DType.registered(), DType.from_name(name)
    with pytest.raises(ValueError, match=name):
        DTypeCategory(name)
    with pytest.raises(ValueError, match=name):
        SimpleDType(name, bits=8, supertype=DType.Any)
    with pytest.raises(ValueError, match=name):
        CompoundDType(name, simple_types=(F32,))
    assert DType.registered() == before
    assert DType.from_name(name) is owner


@pytest.mark.rule("dtypes.registration.taken")
def test_the_name_of_an_extension_is_taken_as_well() -> None:
    name = _fresh()
    dtype = SimpleDType(name, bits=8, supertype=DType.Integer)
    with pytest.raises(ValueError, match=name):
        SimpleDType(name, bits=8, supertype=DType.Integer)
    assert DType.from_name(name) is dtype


@pytest.mark.rule("dtypes.registration.bits")
@pytest.mark.parametrize("bits", [True, False, 0, -1, 8.0, "8", None, (8,)], ids=repr)
def test_bad_bits_are_a_value_error_and_leave_nothing_behind(bits: Any) -> None:
    name, before = _fresh(), DType.registered()
    with pytest.raises(ValueError, match="bits"):
        SimpleDType(name, bits=bits, supertype=DType.Floating)
    assert DType.registered() == before
    assert SimpleDType(name, bits=1, supertype=DType.Floating).bits == 1


@pytest.mark.rule("dtypes.registration.supertype")
@pytest.mark.parametrize("supertype", [F32, DType.MXFP4, "Any", 3, DTypeCategory], ids=repr)
def test_a_supertype_that_is_no_category_is_a_type_error_and_leaves_nothing_behind(
    supertype: Any,
) -> None:
    name, before = _fresh(), DType.registered()
    with pytest.raises(TypeError):
        DTypeCategory(name, supertype=supertype)
    with pytest.raises(TypeError):
        SimpleDType(name, bits=8, supertype=supertype)
    with pytest.raises(TypeError):
        CompoundDType(name, supertype=supertype, simple_types=(F32,))
    assert DType.registered() == before
    assert DTypeCategory(name).supertype is None


@pytest.mark.rule("dtypes.registration.planes")
@pytest.mark.parametrize("planes", [(), []])
def test_no_planes_is_a_value_error_and_leaves_nothing_behind(planes: Any) -> None:
    name, before = _fresh(), DType.registered()
    with pytest.raises(ValueError, match=name):
        CompoundDType(name, simple_types=planes)
    assert DType.registered() == before
    CompoundDType(name, simple_types=(F32,))


@pytest.mark.rule("dtypes.registration.planes")
@pytest.mark.parametrize("plane", [DType.Any, DType.MXFP4, "Float32", None, 8], ids=repr)
@pytest.mark.parametrize("position", [0, 1])
def test_a_plane_that_is_not_simple_is_a_type_error_and_leaves_nothing_behind(
    plane: Any, position: int
) -> None:
    name, before = _fresh(), DType.registered()
    planes: list[Any] = [F32, F32]
    planes[position] = plane
    with pytest.raises(TypeError):
        CompoundDType(name, simple_types=planes)
    assert DType.registered() == before
    CompoundDType(name, simple_types=(F32,))


@pytest.mark.rule("dtypes.registration.blocks")
@pytest.mark.parametrize(
    "blocks", [(1,), (1, 32, None), (), (0, 32), (1, -32), (1, 32.0), (True, 32), (1, "32")]
)
def test_blocks_that_do_not_fit_the_planes_are_refused_and_leave_nothing_behind(
    blocks: Any,
) -> None:
    name, before = _fresh(), DType.registered()
    with pytest.raises((ValueError, TypeError)):
        CompoundDType(name, simple_types=(DType.E2M1, E8M0), blocks=blocks)
    assert DType.registered() == before
    with pytest.raises(LookupError):
        DType.from_name(name)


@pytest.mark.rule("dtypes.registration.blocks")
def test_a_block_scaled_dtype_of_ones_own() -> None:
    dtype = CompoundDType(
        _fresh(), supertype=DType.Any, simple_types=(DType.E3M2, E8M0, F32), blocks=(1, 64, None)
    )
    assert dtype.simple_types == (DType.E3M2, DType.E8M0, DType.Float32)
    assert dtype.blocks == (1, 64, None)
    assert dtype.is_subtype_of(DType.Any)
    assert pickle.loads(pickle.dumps(dtype)) is dtype  # noqa: S301


@pytest.mark.rule("dtypes.registration.atomic")
def test_of_many_concurrent_registrations_of_one_name_exactly_one_succeeds() -> None:
    name, start = _fresh(), threading.Barrier(8)
    built: list[SimpleDType] = []
    refused: list[ValueError] = []

    def build() -> None:
        start.wait()
        try:
            built.append(SimpleDType(name, bits=8, supertype=DType.Any))
        except ValueError as error:
            refused.append(error)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(built), len(refused)) == (1, 7)
    assert DType.from_name(name) is built[0]
    assert sum(dtype.name == name for dtype in DType.registered()) == 1


@pytest.mark.rule("dtypes.registry.snapshot")
def test_registered_is_a_snapshot() -> None:
    before = DType.registered()
    simple_before = SimpleDType.registered()
    dtype = SimpleDType(_fresh(), bits=8, supertype=DType.Any)
    assert all(dtype is not each for each in before)
    assert len(DType.registered()) == len(before) + 1
    assert len(SimpleDType.registered()) == len(simple_before) + 1


@pytest.mark.rule("dtypes.registry.narrowing")
@pytest.mark.parametrize("kind", [DTypeCategory, SimpleDType, CompoundDType])
def test_registered_is_narrowed_to_the_class_it_is_called_on(kind: Any) -> None:
    wanted = [dtype for dtype in DType.registered() if isinstance(dtype, kind)]
    assert list(kind.registered()) == wanted
    assert wanted


@pytest.mark.rule("dtypes.registry.narrowing")
@pytest.mark.parametrize(
    ("name", "owner"), [("Any", DTypeCategory), ("Float32", SimpleDType), ("MXFP4", CompoundDType)]
)
def test_from_name_is_narrowed_to_the_class_it_is_called_on(name: str, owner: Any) -> None:
    found = DType.from_name(name)
    assert found is getattr(DType, name)
    for kind in (DTypeCategory, SimpleDType, CompoundDType):
        if kind is owner:
            assert kind.from_name(name) is found
        else:
            with pytest.raises(LookupError):
                kind.from_name(name)


@pytest.mark.rule("dtypes.registry.from-name")
@pytest.mark.parametrize("name", [None, 3, b"Float32", F32, ["Float32"]], ids=repr)
def test_a_name_that_is_no_string_is_a_type_error(name: Any) -> None:
    for kind in (DType, DTypeCategory, SimpleDType, CompoundDType):
        with pytest.raises(TypeError):
            kind.from_name(name)


@pytest.mark.rule("dtypes.registry.from-name")
@pytest.mark.parametrize("name", ["", "float32", "Float32 ", "Nothing", "registered", "from_name"])
def test_an_unknown_name_is_a_lookup_error(name: str) -> None:
    for kind in (DType, DTypeCategory, SimpleDType, CompoundDType):
        with pytest.raises(LookupError):
            kind.from_name(name)


@pytest.mark.rule("dtypes.namespace.closed")
@pytest.mark.parametrize("kind", [DType, DTypeCategory, SimpleDType, CompoundDType])
@pytest.mark.parametrize("attribute", ["Float32", "Any", "MXFP4", "Mine", "__eq__", "from_name"])
def test_no_attribute_is_added_rebound_or_deleted(kind: Any, attribute: str) -> None:
    with pytest.raises(AttributeError):
        setattr(kind, attribute, F32)
    with pytest.raises(AttributeError):
        delattr(kind, attribute)
    assert not hasattr(DType, "Mine")
    assert DType.Float32 is F32


@pytest.mark.rule("dtypes.namespace.closed")
def test_an_extension_is_no_attribute_of_the_namespace() -> None:
    dtype = SimpleDType(_fresh(), bits=8, supertype=DType.Any)
    assert not hasattr(DType, dtype.name)


@pytest.mark.rule("dtypes.relations.supertypes")
def test_supertypes_lead_from_the_nearest_category_to_the_root() -> None:
    assert DType.Any.supertype is None
    assert tuple(DType.Any.supertypes()) == ()
    assert F32.supertype is DType.Floating
    assert tuple(F32.supertypes()) == (DType.Floating, DType.Any)
    middle = DTypeCategory(_fresh(), supertype=DType.Floating)
    below = DTypeCategory(_fresh(), supertype=middle)
    dtype = SimpleDType(_fresh(), bits=8, supertype=below)
    assert tuple(dtype.supertypes()) == (below, middle, DType.Floating, DType.Any)


@pytest.mark.rule("dtypes.relations.subtypes")
def test_subtype_relations_follow_the_categories() -> None:
    assert F32.is_subtype_of(DType.Floating)
    assert F32.is_subtype_of(DType.Any)
    assert not F32.is_subtype_of(DType.Integer)
    assert not F32.is_subtype_of(DType.Float64)
    assert I32.is_subtype_of(DType.Integer)
    assert not I32.is_subtype_of(DType.Floating)
    assert BOOL.is_subtype_of(DType.Any)
    assert not BOOL.is_subtype_of(DType.Integer)
    assert DType.Floating.is_subtype_of(DType.Any)
    assert not DType.Any.is_subtype_of(DType.Floating)
    assert DType.MXFP4.is_subtype_of(DType.Any)
    assert not DType.MXFP4.is_subtype_of(DType.Floating)
    assert not DTypeCategory(_fresh()).is_subtype_of(DType.Any)
