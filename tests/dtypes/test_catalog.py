"""The built-in descriptors (operations.md 1.2) and the rows behind them (formats.md 1 and 2)."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bittrue.dtypes import (
    ENCODINGS,
    CompoundDType,
    DType,
    DTypeCategory,
    EncodingRow,
    FloatFields,
    SimpleDType,
    Specials,
    encoding_of,
)

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "formats.json"

# name: supertype, bits of one logical element
SIMPLE = {
    "Bool": ("Any", 8),
    "Int32": ("Integer", 32),
    "Int8": ("Integer", 8),
    "Float32": ("Floating", 32),
    "Float64": ("Floating", 64),
    "E8M0": ("Floating", 8),
    "E5M2": ("Floating", 8),
    "E4M3": ("Floating", 8),
    "E3M2": ("Floating", 6),
    "E2M3": ("Floating", 6),
    "E2M1": ("Floating", 4),
    "Float16": ("Floating", 16),
    "BFloat16": ("Floating", 16),
    "TF32": ("Floating", 32),
    "HF32": ("Floating", 32),
    "HiF8": ("Floating", 8),
    "FP19": ("Floating", 19),
    "E1M2": ("Floating", 4),
    "HiF4": ("Floating", 4),
}

COMPOUNDS = {
    "MXFP8_E4M3": (("E4M3", "E8M0"), (1, 32)),
    "MXFP8_E5M2": (("E5M2", "E8M0"), (1, 32)),
    "MXFP6_E3M2": (("E3M2", "E8M0"), (1, 32)),
    "MXFP6_E2M3": (("E2M3", "E8M0"), (1, 32)),
    "MXFP4": (("E2M1", "E8M0"), (1, 32)),
    "MXINT8": (("Int8", "E8M0"), (1, 32)),
    "NVFP4": (("E2M1", "E4M3", "Float32"), (1, 16, None)),
}

# formats.md 1: name, code, carrier bits, lane bits, lanes per carrier
TYPES = [
    ("FP64", 0, 64, 64, 1),
    ("FP32", 1, 32, 32, 1),
    ("TF32", 2, 32, 32, 1),
    ("HF32", 3, 32, 32, 1),
    ("FP16", 4, 16, 16, 1),
    ("BF16", 5, 16, 16, 1),
    ("HiF8", 6, 8, 8, 1),
    ("E4M3", 7, 8, 8, 1),
    ("E5M2", 8, 8, 8, 1),
    ("E3M2", 9, 8, 6, 1),
    ("E2M3", 10, 8, 6, 1),
    ("E2M1X2", 11, 8, 4, 2),
    ("E1M2X2", 12, 8, 4, 2),
    ("E8M0", 13, 8, 8, 1),
    ("HiF4X2", 14, 8, 4, 2),
    ("S64", 16, 64, 64, 1),
    ("S32", 17, 32, 32, 1),
    ("S16", 18, 16, 16, 1),
    ("S8", 19, 8, 8, 1),
    ("S4X2", 20, 8, 4, 2),
    ("U64", 24, 64, 64, 1),
    ("U32", 25, 32, 32, 1),
    ("U16", 26, 16, 16, 1),
    ("U8", 27, 8, 8, 1),
    ("U4X2", 28, 8, 4, 2),
]

# formats.md 2: sign bit, exponent bits, fraction bits, bias, low zero bits
FIELDS = {
    "FP64": (63, 11, 52, 1023, 0, Specials.IEEE),
    "FP32": (31, 8, 23, 127, 0, Specials.IEEE),
    "TF32": (31, 8, 10, 127, 13, Specials.IEEE),
    "HF32": (31, 8, 11, 127, 12, Specials.IEEE),
    "FP16": (15, 5, 10, 15, 0, Specials.IEEE),
    "BF16": (15, 8, 7, 127, 0, Specials.IEEE),
    "HiF8": (7, (0, 4), (1, 3), None, 0, Specials.TAPERED),
    "E4M3": (7, 4, 3, 7, 0, Specials.LAST),
    "E5M2": (7, 5, 2, 15, 0, Specials.IEEE),
    "E3M2": (5, 3, 2, 3, 0, Specials.NONE),
    "E2M3": (5, 2, 3, 1, 0, Specials.NONE),
    "E2M1X2": (3, 2, 1, 1, 0, Specials.NO_SUBNORMAL),
    "E1M2X2": (3, 1, 2, 1, 0, Specials.NO_SUBNORMAL),
    "HiF4X2": (3, 1, 2, 1, 0, Specials.NO_SUBNORMAL),
    "E8M0": (None, 8, 0, 127, 0, Specials.SCALE),
    "FP19": (18, 8, 10, 127, 0, Specials.IEEE),
}

# operations.md 1.2: descriptor to name of its encoding
ENCODING_OF = {
    "Float64": "FP64",
    "Float32": "FP32",
    "TF32": "TF32",
    "HF32": "HF32",
    "Float16": "FP16",
    "BFloat16": "BF16",
    "HiF8": "HiF8",
    "E4M3": "E4M3",
    "E5M2": "E5M2",
    "E3M2": "E3M2",
    "E2M3": "E2M3",
    "E2M1": "E2M1X2",
    "E1M2": "E1M2X2",
    "E8M0": "E8M0",
    "HiF4": "HiF4X2",
    "FP19": "FP19",
    "Int32": "S32",
    "Int8": "S8",
}


def _row(encoding: str) -> EncodingRow:
    """Find a row by its encoding, whatever the case of the name; one test checks the case."""
    (row,) = (row for row in ENCODINGS if row.encoding.upper() == encoding.upper())
    return row


def _vectors() -> dict[str, Any]:
    path = VECTORS if VECTORS.is_file() else Path(__file__).parents[1] / "data" / VECTORS.name
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded


@pytest.mark.rule("dtypes.catalog.categories")
def test_the_built_in_categories() -> None:
    assert DType.Any.supertype is None
    for name in ("Floating", "Integer"):
        category = DTypeCategory.from_name(name)
        assert getattr(DType, name) is category
        assert category.supertype is DType.Any


@pytest.mark.rule("dtypes.catalog.simple")
@pytest.mark.parametrize("name", SIMPLE)
def test_each_built_in_simple_dtype_has_its_supertype_and_width(name: str) -> None:
    dtype = SimpleDType.from_name(name)
    assert getattr(DType, name) is dtype
    supertype, bits = SIMPLE[name]
    assert dtype.supertype is DTypeCategory.from_name(supertype)
    assert dtype.bits == bits
    assert type(dtype.bits) is int
    assert dtype.name == name


@pytest.mark.rule("dtypes.catalog.compound")
@pytest.mark.parametrize("name", COMPOUNDS)
def test_each_built_in_compound_has_its_planes_and_blocks(name: str) -> None:
    dtype = CompoundDType.from_name(name)
    assert getattr(DType, name) is dtype
    planes, blocks = COMPOUNDS[name]
    assert dtype.simple_types == tuple(SimpleDType.from_name(plane) for plane in planes)
    assert dtype.blocks == blocks
    assert dtype.supertype is DType.Any


@pytest.mark.rule("dtypes.catalog.complete")
def test_the_namespace_and_the_registry_hold_the_same_built_in_descriptors() -> None:
    attributes = {name for name in dir(DType) if isinstance(getattr(DType, name), DType)}
    assert {"Any", "Floating", "Integer", *SIMPLE, *COMPOUNDS} <= attributes
    for name in attributes:
        assert DType.from_name(name) is getattr(DType, name)


@pytest.mark.rule("dtypes.catalog.integers-without-descriptor")
@pytest.mark.parametrize("name", ["S64", "S16", "S4X2", "U64", "U32", "U16", "U8", "U4X2"])
def test_the_other_integer_types_are_conversion_types_without_a_descriptor(name: str) -> None:
    assert _row(name).dtype is None
    for spelling in (name, name.replace("S", "Int").replace("U", "UInt")):
        assert not hasattr(DType, spelling)


@pytest.mark.rule("dtypes.catalog.types")
@pytest.mark.parametrize(("name", "code", "carrier", "lane", "lanes"), TYPES)
def test_each_type_of_the_formats_sheet_has_its_code_and_widths(
    name: str, code: int, carrier: int, lane: int, lanes: int
) -> None:
    row = _row(name)
    assert (row.code, row.carrier_bits, row.lane_bits, row.lanes) == (code, carrier, lane, lanes)


@pytest.mark.rule("dtypes.catalog.types")
def test_the_names_and_codes_of_the_formats_sheet_are_all_present_and_no_other() -> None:
    coded = {row.encoding: row.code for row in ENCODINGS if row.code is not None}
    assert coded == {name: code for name, code, *_ in TYPES}
    assert len(coded) == 25
    assert not set(coded.values()) & {15, 21, 22, 23, 29, 30, 31}


@pytest.mark.rule("dtypes.catalog.types")
def test_no_encoding_descriptor_or_code_stands_twice() -> None:
    for values in (
        [row.encoding for row in ENCODINGS],
        [row.dtype for row in ENCODINGS if row.dtype is not None],
        [row.code for row in ENCODINGS if row.code is not None],
    ):
        assert max(Counter(values).values()) == 1


@pytest.mark.rule("dtypes.catalog.fp19")
def test_fp19_is_a_parameter_format_without_a_type_code() -> None:
    row = _row("FP19")
    assert row.code is None
    assert (row.carrier_bits, row.lane_bits, row.lanes) == (19, 19, 1)


@pytest.mark.rule("dtypes.catalog.fields")
@pytest.mark.parametrize("name", FIELDS)
def test_each_floating_encoding_has_the_fields_of_the_formats_sheet(name: str) -> None:
    fields = _row(name).fields
    assert fields is not None
    sign, exponent, fraction, bias, low_zeros, specials = FIELDS[name]
    assert fields == FloatFields(sign, exponent, fraction, bias, specials, low_zeros)


@pytest.mark.rule("dtypes.catalog.fields")
@pytest.mark.parametrize("name", FIELDS)
def test_the_fields_fill_the_lane(name: str) -> None:
    row = _row(name)
    assert row.fields is not None
    fields = row.fields
    if name == "HiF8":  # sign, then a prefix, exponent and fraction that share what is left
        assert (fields.exponent_bits, fields.fraction_bits) == ((0, 4), (1, 3))
        return
    assert isinstance(fields.exponent_bits, int)
    assert isinstance(fields.fraction_bits, int)
    sign = 0 if fields.sign_bit is None else 1
    parts = fields.exponent_bits + fields.fraction_bits + fields.low_zero_bits
    assert sign + parts == row.lane_bits
    assert fields.sign_bit in (None, row.lane_bits - 1)


@pytest.mark.rule("dtypes.catalog.fields")
@pytest.mark.parametrize("name", [name for name, code, *_ in TYPES if code >= 16] + ["BOOL"])
def test_an_integer_has_no_floating_fields(name: str) -> None:
    assert _row(name).fields is None


@pytest.mark.rule("dtypes.catalog.vectors")
def test_the_rows_agree_with_the_shared_descriptors() -> None:
    descriptors = _vectors()["descriptors"]
    assert set(descriptors) == set(FIELDS)
    wrong = []
    for name, wanted in descriptors.items():
        row = _row(name)
        fields = row.fields
        assert fields is not None
        actual: dict[str, Any] = {
            "carrier_bits": row.carrier_bits,
            "lane_bits": row.lane_bits,
            "lanes_per_carrier": row.lanes,
            "sign_bit": fields.sign_bit,
            "bias": fields.bias,
            "low_zero_bits": fields.low_zero_bits,
        }
        if wanted["kind"] != "variable":
            actual["exponent_bits"] = [fields.exponent_bits, fields.exponent_bits]
            actual["fraction_bits"] = [fields.fraction_bits, fields.fraction_bits]
        else:
            assert isinstance(fields.exponent_bits, tuple)
            assert isinstance(fields.fraction_bits, tuple)
            actual["exponent_bits"] = list(fields.exponent_bits)
            actual["fraction_bits"] = list(fields.fraction_bits)
        high = 0 if row.lanes > 1 else row.carrier_bits - row.lane_bits
        actual["high_zero_bits"] = high
        wrong += [
            f"{name}.{key}: {got!r}, expected {wanted[key]!r}"
            for key, got in actual.items()
            if wanted[key] != got
        ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.rule("dtypes.catalog.vectors")
def test_the_names_and_codes_agree_with_the_shared_vectors() -> None:
    vectors = _vectors()
    coded = {row.encoding: row.code for row in ENCODINGS if row.code is not None}
    assert coded == vectors["type_codes"]
    integers = {r.encoding for r in ENCODINGS if r.code is not None and r.fields is None}
    assert integers == set(vectors["unavailable"])


@pytest.mark.rule("dtypes.catalog.one-table")
@pytest.mark.parametrize(("name", "encoding"), ENCODING_OF.items())
def test_descriptors_and_encodings_share_one_table_of_rows(name: str, encoding: str) -> None:
    row = encoding_of(SimpleDType.from_name(name))
    assert row is _row(encoding)
    assert row.dtype == name
    assert row.lane_bits == SimpleDType.from_name(name).bits
    assert row.category == SIMPLE[name][0]


@pytest.mark.rule("dtypes.catalog.one-table")
def test_a_descriptor_registered_without_a_row_has_none() -> None:
    dtype = SimpleDType("CatalogTestWithoutRow", bits=3, supertype=DType.Any)
    with pytest.raises(LookupError):
        encoding_of(dtype)


@pytest.mark.rule("dtypes.catalog.rows-immutable")
def test_rows_are_frozen_and_hashable() -> None:
    assert len(set(ENCODINGS)) == len(ENCODINGS)
    for row in ENCODINGS:
        for field in dataclasses.fields(row):
            with pytest.raises(AttributeError):
                setattr(row, field.name, None)
