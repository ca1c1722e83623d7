"""DType descriptors: what a dtype is, how it is registered, how it is found.

Belongs here: the three kinds of descriptor and their identity. Never here: which dtypes exist
(`catalog`), what an operation supports (`policy`), what the bits of an encoding mean (`encoding`).

A descriptor is immutable and unique: equality and hash are object identity, and copying or
unpickling one gives the registered object back. Building a descriptor registers it; a construction
that fails leaves nothing behind.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import ClassVar, NoReturn, Self, final

from bittrue._records import SHOWN_TYPES, shown, type_name
from bittrue.errors import UnknownNameError

_lock = threading.Lock()
_registry: dict[str, DType] = {}


class _Namespace(type):
    """Metaclass that keeps the attributes of `DType` and its kinds fixed."""

    def __setattr__(cls, name: str, value: object) -> None:
        msg = (
            f"{cls.__name__}.{name}: the namespace of built-in descriptors is fixed; "
            "reach your own through DType.from_name(name)"
        )
        raise AttributeError(msg)

    def __delattr__(cls, name: str) -> None:
        msg = f"{cls.__name__}.{name}: the namespace of built-in descriptors is fixed"
        raise AttributeError(msg)


class DType(metaclass=_Namespace):
    """Root of the dtype descriptors and namespace of the built-in ones (`DType.Float32`, ...).

    `DType` itself cannot be instantiated; build a `SimpleDType`, a `DTypeCategory` or a
    `CompoundDType`. Built-in descriptors come from the rows of `bittrue.dtypes.catalog`.
    """

    __slots__ = ("_index", "_name", "_supertype")

    _index: int
    _name: str
    _supertype: DTypeCategory | None

    Any: ClassVar[DTypeCategory]
    Floating: ClassVar[DTypeCategory]
    Integer: ClassVar[DTypeCategory]
    Complex: ClassVar[DTypeCategory]
    Bool: ClassVar[SimpleDType]
    Float32: ClassVar[SimpleDType]
    Int32: ClassVar[SimpleDType]
    Float64: ClassVar[SimpleDType]
    TF32: ClassVar[SimpleDType]
    HF32: ClassVar[SimpleDType]
    Float16: ClassVar[SimpleDType]
    BFloat16: ClassVar[SimpleDType]
    HiF8: ClassVar[SimpleDType]
    E4M3: ClassVar[SimpleDType]
    E5M2: ClassVar[SimpleDType]
    E3M2: ClassVar[SimpleDType]
    E2M3: ClassVar[SimpleDType]
    E2M1: ClassVar[SimpleDType]
    E1M2: ClassVar[SimpleDType]
    E8M0: ClassVar[SimpleDType]
    HiF4: ClassVar[SimpleDType]
    FP19: ClassVar[SimpleDType]
    Int8: ClassVar[SimpleDType]
    Complex64: ClassVar[SimpleDType]
    Complex128: ClassVar[SimpleDType]
    # Present only where the extended pair is enabled.
    RealExtended: ClassVar[SimpleDType]
    ComplexExtended: ClassVar[SimpleDType]
    MXFP8_E4M3: ClassVar[CompoundDType]
    MXFP8_E5M2: ClassVar[CompoundDType]
    MXFP6_E3M2: ClassVar[CompoundDType]
    MXFP6_E2M3: ClassVar[CompoundDType]
    MXFP4: ClassVar[CompoundDType]
    MXINT8: ClassVar[CompoundDType]
    NVFP4: ClassVar[CompoundDType]

    def __new__(cls, *_args: object, **_kwargs: object) -> Self:
        """Refuse: only the three kinds below have instances."""
        msg = "DType is abstract: build a SimpleDType, a DTypeCategory or a CompoundDType"
        raise TypeError(msg)

    @property
    def name(self) -> str:
        """Name of the descriptor, unique among all descriptors."""
        return self._name

    @property
    def supertype(self) -> DTypeCategory | None:
        """Category directly above this descriptor, or None."""
        return self._supertype

    @property
    def index(self) -> int:
        """Position in the one list of dtypes: the order in which descriptors were registered."""
        return self._index

    def supertypes(self) -> tuple[DTypeCategory, ...]:
        """Return every category above this descriptor, the nearest first."""
        chain: list[DTypeCategory] = []
        category = self._supertype
        while category is not None:
            chain.append(category)
            category = category.supertype
        return tuple(chain)

    def is_subtype_of(self, other: DType) -> bool:
        """Tell whether `other` is this descriptor or a category above it.

        Raises `TypeError` if `other` is no descriptor.
        """
        if not isinstance(other, DType):
            msg = f"is_subtype_of: got {shown(other)}; expected a DType"
            raise TypeError(msg)
        return other is self or any(other is category for category in self.supertypes())

    def is_category(self) -> bool:
        """Tell whether this is a `DTypeCategory`."""
        return isinstance(self, DTypeCategory)

    def is_simple(self) -> bool:
        """Tell whether this is a `SimpleDType`."""
        return isinstance(self, SimpleDType)

    def is_compound(self) -> bool:
        """Tell whether this is a `CompoundDType`."""
        return isinstance(self, CompoundDType)

    @classmethod
    def registered(cls) -> tuple[Self, ...]:
        """Return a snapshot of the registered descriptors of the class it is called on."""
        with _lock:
            return tuple(dtype for dtype in _registry.values() if isinstance(dtype, cls))

    @classmethod
    def from_name(cls, name: str) -> Self:
        """Find a registered descriptor of the class it is called on.

        Raises `TypeError` for a name that is no string, `LookupError` for an unknown name and for
        the name of a descriptor of another kind.
        """
        if not isinstance(name, str):
            msg = f"{cls.__name__}.from_name: got {shown(name)}; expected str"
            raise TypeError(msg)
        dtype = _registry.get(name)
        if isinstance(dtype, cls):
            return dtype
        known = ", ".join(d.name for d in cls.registered())
        came = f"{name!r} is a {type_name(dtype)}" if dtype is not None else f"unknown {name!r}"
        raise UnknownNameError(f"{cls.__name__}.from_name", came, f"one of {known}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = f"{self!r} is immutable: attribute {name!r} cannot be set"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        msg = f"{self!r} is immutable: attribute {name!r} cannot be deleted"
        raise AttributeError(msg)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return DType.from_name, (self._name,)

    def __repr__(self) -> str:
        return f"DType.{self._name}" if hasattr(DType, self._name) else f"DType<{self._name}>"

    def __str__(self) -> str:
        return self._name


def _refuse_subclass(cls: type) -> NoReturn:
    # A subclass could redefine equality, and dtypes are matched by identity.
    msg = f"{cls.__mro__[1].__name__} cannot be subclassed; build an instance of it"
    raise TypeError(msg)


def _check_name(kind: str, name: object) -> str:
    if not isinstance(name, str) or not name:
        msg = f"{kind}: name is {name!r}; expected a non-empty string"
        raise ValueError(msg)
    return name


def _check_supertype(kind: str, name: str, supertype: object) -> DTypeCategory | None:
    if supertype is None or isinstance(supertype, DTypeCategory):
        return supertype
    msg = f"{kind} {name!r}: supertype is {supertype!r}; expected a DTypeCategory or None"
    raise TypeError(msg)


def _register(dtype: DType, name: str, supertype: DTypeCategory | None) -> None:
    """Publish a fully checked descriptor: the one place that adds to the list of dtypes."""
    with _lock:
        if name in _registry:
            msg = f"{type(dtype).__name__}: the name {name!r} is taken by {_registry[name]!r}"
            raise ValueError(msg)
        object.__setattr__(dtype, "_name", name)
        object.__setattr__(dtype, "_supertype", supertype)
        object.__setattr__(dtype, "_index", len(_registry))
        _registry[name] = dtype


@final
class DTypeCategory(DType):
    """A relation between dtypes: no width, no storage, never an operation operand.

    `name` is unique; `supertype` is the category above it, or None. Raises `ValueError` for an
    empty, non-string or taken name, `TypeError` for a supertype that is no category.
    """

    __slots__ = ()

    def __new__(cls, name: str, *, supertype: DTypeCategory | None = None) -> Self:
        """Check, build and register."""
        checked = _check_name("DTypeCategory", name)
        above = _check_supertype("DTypeCategory", checked, supertype)
        self = object.__new__(cls)
        _register(self, checked, above)
        return self

    def __init_subclass__(cls) -> None:
        _refuse_subclass(cls)


@final
class SimpleDType(DType):
    """One fixed-width scalar encoding. It says nothing about which operations support it.

    `bits` is the width of one logical element in bits; `supertype` the category it belongs to.
    Raises `ValueError` for an empty, non-string or taken name and for `bits` that is no integer
    of at least 1, `TypeError` for a supertype that is no category.
    """

    __slots__ = ("_bits",)
    _bits: int

    def __new__(cls, name: str, *, bits: int, supertype: DTypeCategory | None) -> Self:
        """Check, build and register."""
        checked = _check_name("SimpleDType", name)
        if isinstance(bits, bool) or not isinstance(bits, int) or bits < 1:
            msg = f"SimpleDType {checked!r}: bits is {bits!r}; expected an int of at least 1"
            raise ValueError(msg)
        above = _check_supertype("SimpleDType", checked, supertype)
        self = object.__new__(cls)
        object.__setattr__(self, "_bits", bits)
        _register(self, checked, above)
        return self

    def __init_subclass__(cls) -> None:
        _refuse_subclass(cls)

    @property
    def bits(self) -> int:
        """Width of one logical element, in bits."""
        return self._bits


@final
class CompoundDType(DType):
    """A logical value spread over an ordered tuple of planes, each of one `SimpleDType`.

    `simple_types` are the dtypes of the planes; `blocks`, if given, says for each plane how many
    logical elements one of its entries covers (1 for the elements themselves, None for one entry
    a tensor). Raises `ValueError` for a bad or taken name, for no planes and for bad `blocks`,
    `TypeError` for a plane that is no `SimpleDType` or a supertype that is no category.
    """

    __slots__ = ("_blocks", "_simple_types")
    _blocks: tuple[int | None, ...] | None
    _simple_types: tuple[SimpleDType, ...]

    def __new__(
        cls,
        name: str,
        *,
        supertype: DTypeCategory | None = None,
        simple_types: Sequence[SimpleDType],
        blocks: Sequence[int | None] | None = None,
    ) -> Self:
        """Check, build and register."""
        checked = _check_name("CompoundDType", name)
        above = _check_supertype("CompoundDType", checked, supertype)
        planes = tuple(simple_types)
        if not planes:
            msg = f"CompoundDType {checked!r}: simple_types is empty; expected at least one plane"
            raise ValueError(msg)
        for plane in planes:
            if not isinstance(plane, SimpleDType):
                msg = f"CompoundDType {checked!r}: plane {plane!r}; expected a SimpleDType"
                raise TypeError(msg)
        self = object.__new__(cls)
        object.__setattr__(self, "_simple_types", planes)
        object.__setattr__(self, "_blocks", _check_blocks(checked, planes, blocks))
        _register(self, checked, above)
        return self

    def __init_subclass__(cls) -> None:
        _refuse_subclass(cls)

    @property
    def simple_types(self) -> tuple[SimpleDType, ...]:
        """The dtype of each plane, in order."""
        return self._simple_types

    @property
    def blocks(self) -> tuple[int | None, ...] | None:
        """Logical elements that one entry of each plane covers; None in it is the whole tensor."""
        return self._blocks


SHOWN_TYPES.update((DTypeCategory, SimpleDType, CompoundDType))


def _check_blocks(
    name: str, planes: tuple[SimpleDType, ...], blocks: Sequence[int | None] | None
) -> tuple[int | None, ...] | None:
    if blocks is None:
        return None
    checked = tuple(blocks)
    good = all(
        block is None or (isinstance(block, int) and not isinstance(block, bool) and block > 0)
        for block in checked
    )
    if good and len(checked) == len(planes):
        return checked
    msg = (
        f"CompoundDType {name!r}: blocks is {blocks!r}; "
        f"expected {len(planes)} positive ints or None, one a plane"
    )
    raise ValueError(msg)
