"""The one list of dtypes: a row for each encoding, scalar of tensors, category and compound.

Whatever names a dtype or the fields of an encoding reads these rows; nothing else lists dtypes.
Clauses: operation-dtype-policy, *Central planning rejects abstract and unsupported dtypes
explicitly*; postprocess-and-formats, Decisions 180 and 182 (encodings and their fields);
tensor-promotion, *Scope* (the exposed dtypes come from one scalar list).

The order of the rows is the order in which dtypes are enumerated everywhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum

from bittrue.dtypes.descriptor import CompoundDType, DType, DTypeCategory, SimpleDType


class Specials(Enum):
    """Which codes of an encoding are no ordinary numbers."""

    IEEE = "ieee"
    """Exponent all ones: fraction 0 is infinity, else NaN, quiet if the top fraction bit is 1."""

    LAST = "last"
    """Exponent and fraction all ones is a quiet NaN; no infinity."""

    NONE = "none"
    """Every code is a finite number."""

    NO_SUBNORMAL = "no_subnormal"
    """Every code is finite, and every nonzero one is classed normal."""

    SCALE = "scale"
    """All ones is a quiet NaN; no sign, no zero, no infinity."""

    TAPERED = "tapered"
    """The field split depends on the code: 0x80 is NaN, 0x6F and 0xEF are the infinities."""


@dataclass(frozen=True, slots=True)
class FloatFields:
    """Fields of a floating or scale encoding, counted inside one logical lane.

    `sign_bit` is None where the encoding has no sign; `exponent_bits` and `fraction_bits` are
    widths, a (least, most) pair where the split depends on the code, and `bias` is None there.
    `low_zero_bits` is how many low bits of the carrier must be zero: the fraction sits above them.
    """

    sign_bit: int | None
    exponent_bits: int | tuple[int, int]
    fraction_bits: int | tuple[int, int]
    bias: int | None
    specials: Specials = Specials.IEEE
    low_zero_bits: int = 0


@dataclass(frozen=True, slots=True)
class EncodingRow:
    """One scalar encoding.

    `dtype` is the name of its `DType` descriptor, None for a type that conversions know and
    operations do not; `encoding` its name in the table of encodings; `code` its type code there
    (None: not in that table); `carrier_bits` the width of one stored carrier, `lane_bits` of one
    logical element, `lanes` how many elements a carrier holds; `fields` None for integers and
    Bool; `aliases` other names that users know, matched like the first without regard to case.
    """

    dtype: str | None
    encoding: str
    code: int | None
    category: str
    carrier_bits: int
    lane_bits: int
    lanes: int
    fields: FloatFields | None = None
    aliases: tuple[str, ...] = ()


_F = FloatFields
_S = Specials

# fmt: off
ENCODINGS: tuple[EncodingRow, ...] = (
    #           DType       encoding  code  category  carrier lane lanes sign exp frac bias specials
    EncodingRow("Bool",     "BOOL",   None, "Any",       8,  8, 1),
    EncodingRow("Float32",  "FP32",   1,    "Floating", 32, 32, 1, _F(31,  8, 23, 127),
                ("float", "f32", "binary32")),
    EncodingRow("Int32",    "S32",    17,   "Integer",  32, 32, 1, None, ("i32",)),
    EncodingRow("Float64",  "FP64",   0,    "Floating", 64, 64, 1, _F(63, 11, 52, 1023),
                ("double", "f64", "binary64")),
    EncodingRow("TF32",     "TF32",   2,    "Floating", 32, 32, 1,
                _F(31, 8, 10, 127, low_zero_bits=13), ("tensorfloat32",)),
    EncodingRow("HF32",     "HF32",   3,    "Floating", 32, 32, 1,
                _F(31, 8, 11, 127, low_zero_bits=12)),
    EncodingRow("Float16",  "FP16",   4,    "Floating", 16, 16, 1, _F(15,  5, 10, 15),
                ("half", "f16", "binary16")),
    EncodingRow("BFloat16", "BF16",   5,    "Floating", 16, 16, 1, _F(15,  8,  7, 127),
                ("bfloat",)),
    EncodingRow("HiF8",     "HiF8",   6,    "Floating",  8,  8, 1,
                _F(7, (0, 4), (1, 3), None, _S.TAPERED), ("hifloat8",)),
    EncodingRow("E4M3",     "E4M3",   7,    "Floating",  8,  8, 1, _F(7,   4,  3, 7, _S.LAST),
                ("float8_e4m3fn", "e4m3fn", "fp8_e4m3", "fp8e4m3")),
    EncodingRow("E5M2",     "E5M2",   8,    "Floating",  8,  8, 1, _F(7,   5,  2, 15),
                ("float8_e5m2", "fp8_e5m2", "fp8e5m2")),
    EncodingRow("E3M2",     "E3M2",   9,    "Floating",  8,  6, 1, _F(5,   3,  2, 3, _S.NONE),
                ("float6_e3m2fn", "e3m2fn", "fp6_e3m2", "fp6e3m2")),
    EncodingRow("E2M3",     "E2M3",   10,   "Floating",  8,  6, 1, _F(5,   2,  3, 1, _S.NONE),
                ("float6_e2m3fn", "e2m3fn", "fp6_e2m3", "fp6e2m3")),
    EncodingRow("E2M1",     "E2M1X2", 11,   "Floating",  8,  4, 2,
                _F(3, 2, 1, 1, _S.NO_SUBNORMAL),
                ("float4_e2m1fn", "e2m1fn", "float4_e2m1fn_x2", "fp4_e2m1", "fp4")),
    EncodingRow("E1M2",     "E1M2X2", 12,   "Floating",  8,  4, 2,
                _F(3, 1, 2, 1, _S.NO_SUBNORMAL), ("fp4_e1m2",)),
    EncodingRow("E8M0",     "E8M0",   13,   "Floating",  8,  8, 1,
                _F(None, 8, 0, 127, _S.SCALE), ("float8_e8m0fnu", "e8m0fnu", "ue8m0")),
    EncodingRow("HiF4",     "HiF4X2", 14,   "Floating",  8,  4, 2,
                _F(3, 1, 2, 1, _S.NO_SUBNORMAL), ("hifloat4",)),
    EncodingRow("FP19",     "FP19",   None, "Floating", 19, 19, 1, _F(18,  8, 10, 127)),
    EncodingRow(None,       "S64",    16,   "Integer",  64, 64, 1, None, ("int64", "i64")),
    EncodingRow(None,       "S16",    18,   "Integer",  16, 16, 1, None, ("int16", "i16")),
    EncodingRow("Int8",     "S8",     19,   "Integer",   8,  8, 1, None, ("i8",)),
    EncodingRow(None,       "S4X2",   20,   "Integer",   8,  4, 2, None, ("s4", "int4", "i4")),
    EncodingRow(None,       "U64",    24,   "Integer",  64, 64, 1, None, ("uint64",)),
    EncodingRow(None,       "U32",    25,   "Integer",  32, 32, 1, None, ("uint32",)),
    EncodingRow(None,       "U16",    26,   "Integer",  16, 16, 1, None, ("uint16",)),
    EncodingRow(None,       "U8",     27,   "Integer",   8,  8, 1, None, ("uint8",)),
    EncodingRow(None,       "U4X2",   28,   "Integer",   8,  4, 2, None, ("u4", "uint4")),
)

BINARY128 = EncodingRow("RealExtended", "FP128", None, "Floating", 128, 128, 1,
                        _F(127, 15, 112, 16383))
"""The component of the extended pair. Not among `ENCODINGS`, whose carriers convert and pack: those
end at 64 bits."""


@dataclass(frozen=True, slots=True)
class ScalarRow:
    """One scalar that tensors hold and operations compute on.

    `name` is that of its `DType` descriptor, `public` the lower-case name in `bittrue`, `component`
    the name of the dtype of its one part, or of each of its two (`is_complex`: real and imaginary);
    `numpy` the name of the NumPy dtype of the same bits and `dlpack` the type code there, both None
    where the protocol has none.
    """

    name: str
    public: str
    component: str
    is_complex: bool
    numpy: str | None
    dlpack: int | None

    @property
    def dtype(self) -> SimpleDType:
        """The descriptor."""
        return SimpleDType.from_name(self.name)


_REAL, _PAIR = False, True
_BASIC: tuple[ScalarRow, ...] = (
    #         name          public        component  complex numpy         dlpack
    ScalarRow("Float32",    "float32",    "Float32", _REAL,  "float32",    2),
    ScalarRow("Int32",      "int32",      "Int32",   _REAL,  "int32",      0),
    ScalarRow("Bool",       "bool_",      "Bool",    _REAL,  "bool",       6),
    ScalarRow("Float64",    "float64",    "Float64", _REAL,  "float64",    2),
    ScalarRow("Complex64",  "complex64",  "Float32", _PAIR,  "complex64",  5),
    ScalarRow("Complex128", "complex128", "Float64", _PAIR,  "complex128", 5),
)
_EXTENDED: tuple[ScalarRow, ...] = (
    ScalarRow("RealExtended",    "real_ext",    "RealExtended", _REAL, None, None),
    ScalarRow("ComplexExtended", "complex_ext", "RealExtended", _PAIR, None, None),
)

EXTENDED_ENABLED = os.environ.get("BITTRUE_EXTENDED", "") not in {"", "0"}
"""Whether the extended pair exists: ``BITTRUE_EXTENDED=1`` in the environment at import."""

SCALARS: tuple[ScalarRow, ...] = _BASIC + (_EXTENDED if EXTENDED_ENABLED else ())
"""The scalars of tensors; public names, storage, interop and test parameters derive from them."""

CATEGORIES: tuple[tuple[str, str | None], ...] = (
    # category   supertype
    ("Any",      None),
    ("Floating", "Any"),
    ("Integer",  "Any"),
    ("Complex",  "Any"),
)

COMPOUNDS: tuple[tuple[str, tuple[str, ...], tuple[int | None, ...]], ...] = (
    # compound      planes                         elements that one entry of each plane covers
    ("MXFP8_E4M3", ("E4M3", "E8M0"),              (1, 32)),
    ("MXFP8_E5M2", ("E5M2", "E8M0"),              (1, 32)),
    ("MXFP6_E3M2", ("E3M2", "E8M0"),              (1, 32)),
    ("MXFP6_E2M3", ("E2M3", "E8M0"),              (1, 32)),
    ("MXFP4",      ("E2M1", "E8M0"),              (1, 32)),
    ("MXINT8",     ("Int8", "E8M0"),              (1, 32)),
    ("NVFP4",      ("E2M1", "E4M3", "Float32"),   (1, 16, None)),
)
# fmt: on


def _publish(dtype: DType) -> None:
    # The namespace is closed to everybody else by its metaclass; the rows are its only source.
    type.__setattr__(DType, dtype.name, dtype)


_ENCODED = (*ENCODINGS, BINARY128) if EXTENDED_ENABLED else ENCODINGS


def _register_rows() -> None:
    for name, above in CATEGORIES:
        supertype = None if above is None else DTypeCategory.from_name(above)
        _publish(DTypeCategory(name, supertype=supertype))
    for row in _ENCODED:
        if row.dtype is not None:
            supertype = DTypeCategory.from_name(row.category)
            _publish(SimpleDType(row.dtype, bits=row.lane_bits, supertype=supertype))
    for scalar in SCALARS:
        if scalar.is_complex:
            supertype = DTypeCategory.from_name("Complex")
            width = 2 * SimpleDType.from_name(scalar.component).bits
            _publish(SimpleDType(scalar.name, bits=width, supertype=supertype))
    for name, planes, blocks in COMPOUNDS:
        simple_types = tuple(SimpleDType.from_name(plane) for plane in planes)
        any_dtype = DTypeCategory.from_name("Any")
        _publish(CompoundDType(name, supertype=any_dtype, simple_types=simple_types, blocks=blocks))


_register_rows()

_ROW_OF_DTYPE = {row.dtype: row for row in _ENCODED if row.dtype is not None}
_SCALAR_OF_DTYPE = {row.dtype: row for row in SCALARS}
_COMPLEX_OF_COMPONENT = {row.component: row.dtype for row in SCALARS if row.is_complex}


def register_encoding(row: EncodingRow) -> SimpleDType:
    """Add a user's encoding to the list, with a `SimpleDType` of its name.

    Raises `ValueError` for a taken name, of a dtype or of an encoding.
    """
    dtype = SimpleDType(
        row.encoding, bits=row.lane_bits, supertype=DTypeCategory.from_name(row.category)
    )
    _ROW_OF_DTYPE[row.encoding] = row
    return dtype


def encoding_of(dtype: SimpleDType) -> EncodingRow:
    """Return the row of a built-in simple dtype; `LookupError` for one that has no row.

    A complex dtype has none: it is a pair of encodings, those of `component_of`.
    """
    row = _ROW_OF_DTYPE.get(dtype.name)
    if row is None:
        msg = f"{dtype!r} has no encoding row; it is a pair or was registered without one"
        raise LookupError(msg)
    return row


def scalar_of(dtype: SimpleDType) -> ScalarRow | None:
    """Return the row of a dtype that tensors hold, None for any other."""
    return _SCALAR_OF_DTYPE.get(dtype)


def is_complex(dtype: SimpleDType) -> bool:
    """Tell whether elements of `dtype` are pairs of a real and an imaginary part."""
    row = _SCALAR_OF_DTYPE.get(dtype)
    return row is not None and row.is_complex


def component_of(dtype: SimpleDType) -> SimpleDType:
    """Return the dtype of the parts of a complex dtype; any other dtype is its own part."""
    row = _SCALAR_OF_DTYPE.get(dtype)
    return dtype if row is None else SimpleDType.from_name(row.component)


def complex_of(dtype: SimpleDType) -> SimpleDType:
    """Return the complex dtype whose parts are those of `dtype`; `LookupError` if none is."""
    return _COMPLEX_OF_COMPONENT[component_of(dtype).name]
