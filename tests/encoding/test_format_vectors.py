"""Descriptors, classes and exact decompositions against the known-good cases."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from bittrue import formats
from bittrue.conversion import pack, unpack
from bittrue.encoding import encode
from bittrue.errors import BittrueError

DATA = Path(__file__).parents[1] / "data"
FLAGS = ("has_zero", "has_signed_zero", "has_subnormal", "has_infinity", "has_quiet_nan",
         "has_signaling_nan")  # fmt: skip


def exact(text):
    """Read ``n``, ``n/d`` or ``n*2^e`` as (numerator, denominator)."""
    if text is None:
        return None
    product = Fraction(1)
    for factor in text.split("*"):
        base, power, exponent = factor.partition("^")
        product *= Fraction(base) ** int(exponent) if power else Fraction(base)
    return product


@pytest.mark.rule("formats.descriptor")
def test_every_descriptor_field(vectors):
    for name, wanted in vectors("formats")["descriptors"].items():
        fmt = formats[name]
        for field, value in wanted.items():
            held = getattr(fmt, field)
            assert (list(held) if isinstance(held, tuple) else held) == value, (name, field)
        assert fmt.available


@pytest.mark.rule("formats.boundaries")
def test_every_boundary(vectors):
    for name, wanted in vectors("formats")["boundaries"].items():
        fmt = formats[name]
        for field, value in wanted.items():
            held = getattr(fmt, field)
            if field.endswith("_value"):
                assert held == exact(value), (name, field)
            else:
                assert held == (None if value is None else int(value, 16)), (name, field)


@pytest.mark.rule("formats.codes")
def test_type_codes_and_the_types_without_a_floating_descriptor(vectors):
    read = vectors("formats")
    for name, code in read["type_codes"].items():
        assert formats[name].code == code
    for name in read["unavailable"]:
        fmt = formats[name]
        assert not fmt.available
        assert all(getattr(fmt, flag) is False for flag in FLAGS)
        for field in ("carrier_bits", "lane_bits", "lanes_per_carrier", "bias"):
            assert getattr(fmt, field) == 0, (name, field)
        assert fmt.exponent_bits == fmt.fraction_bits == (0, 0)
        assert fmt.decompose(1) == (False, False, 0, 0)


@pytest.mark.rule("formats.decompose")
@pytest.mark.parametrize("part", ["decode", "hif8", "fp19"])
def test_every_decomposition(vectors, part):
    cases = vectors("formats")[part]
    assert cases
    for case in cases:
        fmt, bits = formats[case["type"]], int(case["bits"], 16)
        d = fmt.decompose(bits)
        assert fmt.classify(bits) == case["class"], case
        held = (d.available, d.negative, d.significand, d.exponent)
        assert held == tuple(
            case[k] for k in ("available", "negative", "significand", "exponent")
        ), case
        if d.available:
            assert fmt.value(bits) == exact(case["value"]), case


@pytest.mark.rule("formats.packing")
def test_packed_lanes(vectors):
    for case in vectors("formats")["packed"]:
        lanes = [int(lane, 16) for lane in case["lanes"]]
        stored = [int(byte, 16) for byte in case["bytes"]]
        assert pack(lanes).tolist() == stored
        assert unpack(pack(lanes), len(lanes)).tolist() == lanes


@pytest.mark.rule("formats.names")
@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("e4m3", "E4M3"), ("float8_e4m3fn", "E4M3"), ("FP16", "FP16"), ("half", "FP16"),
        ("float16", "FP16"), ("bfloat16", "BF16"), ("float4_e2m1fn", "E2M1X2"), ("E2M1", "E2M1X2"),
        ("hifloat8", "HiF8"), ("float8_e8m0fnu", "E8M0"), ("float32", "FP32"), ("int8", "S8"),
        ("float6_e3m2fn", "E3M2"), ("uint4", "U4X2"), ("fp19", "FP19"), ("tf32", "TF32"),
    ],
)  # fmt: skip
def test_aliases_that_users_know(alias, name):
    assert formats[alias] is formats[alias.upper()] is formats[name]


@pytest.mark.rule("formats.names")
def test_an_unknown_name_is_a_key_error_that_lists_the_known():
    with pytest.raises(KeyError, match="E4M3") as caught:
        formats["e4m4"]
    assert isinstance(caught.value, BittrueError)


@pytest.mark.rule("formats.exhaustive")
@pytest.mark.parametrize(
    "name", [n for n, f in formats.items() if f.available and f.carrier_bits <= 16]
)
def test_every_code_has_the_value_that_its_class_and_fields_say(name):
    """No value stands twice, fixed fields are monotone, and each encodes back to its code."""
    fmt = formats[name]
    seen, max_seen = set(), None
    for code in fmt.codes():
        d, kind = fmt.decompose(code), fmt.classify(code)
        assert d.available == (not kind.endswith(("infinity", "nan", "invalid")))
        if not d.available:
            assert d == (False, False, 0, 0)
            continue
        value = fmt.value(code)
        assert (value == 0) == kind.endswith("zero")
        assert d.negative == kind.startswith("negative")
        if not d.negative:
            assert fmt.kind == "variable" or not seen or value > max_seen
            assert value not in seen
            seen.add(value)
            max_seen = value
        if value and fmt.kind != "scale":
            assert encode(fmt, value) == (code, 0)


@pytest.mark.rule("vectors.copies")
@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_the_copied_cases_are_those_beside_the_checkout(path):
    beside = Path(__file__).parents[3] / "shared" / "vectors" / path.name
    if not beside.exists():
        pytest.skip("no cases beside this checkout")
    assert json.loads(path.read_text()) == json.loads(beside.read_text())
