"""`bittrue formats`, `decode`, `encode` and `convert`."""

import json
import struct

import numpy as np
import pytest

from bittrue import convert, formats
from bittrue.cli import convert as command

# --- formats, decode, encode ----------------------------------------------------------------------


@pytest.mark.rule("cli.formats")
def test_formats_lists_every_format_once(bittrue):
    said = bittrue("formats")
    assert said.status == 0
    names = [line.split()[0] for line in said.out.splitlines()[1:]]
    assert names == list(formats)
    rows = json.loads(bittrue("formats", "--json").out)
    assert [row["name"] for row in rows] == names


@pytest.mark.rule("cli.formats")
@pytest.mark.parametrize("name", list(formats))
def test_the_page_of_a_format(bittrue, name):
    said = bittrue("formats", name.lower())
    assert said.status == 0
    fmt = formats[name]
    listed = [line for line in said.out.splitlines() if line.startswith("0x")]
    small = fmt.available and fmt.lane_bits <= 8
    assert len(listed) == (len(list(fmt.codes())) if small else 0)
    facts = json.loads(bittrue("formats", name, "--json").out)
    assert facts["carrier_bits"] == fmt.carrier_bits
    assert facts["available"] == fmt.available


@pytest.mark.rule("cli.decode")
def test_decode_shows_fields_class_and_exact_value(bittrue):
    said = bittrue("decode", "e4m3", "0x3d", "0b11111111", "128")
    assert said.out.splitlines() == [
        "0x3D  [0 0111 101]  positive_normal  1.625 = 13*2^-3",
        "0xFF  [1 1111 111]  quiet_nan",
        "0x80  [1 0000 000]  negative_zero  -0",
    ]
    entry = json.loads(bittrue("decode", "fp64", "0x3ff0000000000000", "--json").out)[0]
    assert (entry["significand"], entry["exponent"]) == (1 << 52, -52)
    assert bittrue("decode", "s8", "0xff").out == "0xFF  [11111111]  -1\n"
    assert "invalid" in bittrue("decode", "e3m2", "0xc1").out


@pytest.mark.rule("cli.encode")
@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (("e4m3", "0.1"), ("0x1D", "0.1015625 = 13*2^-7", "flags NX")),
        (("e4m3", "-1/3", "--round", "rtp"), ("0xAA", "flags NX")),
        (("e4m3", "-inf", "--saturate"), ("0xFE", "-448", "flags OF|NX")),
        (("fp32", "-0x1p-3"), ("0xBE000000", "flags -")),
        (("s8", "-1e5", "--saturate"), ("0x80", "-128", "flags OF|NX")),
        (("e8m0", "3", "--round", "RTP"), ("0x81", "4 = 1*2^2")),
        (("fp16", "snan"), ("0x7E00", "flags NV")),
    ],
)
def test_encode_shows_code_value_and_flags(bittrue, arguments, shows):
    said = bittrue("encode", *arguments)
    assert said.status == 0
    for part in shows:
        assert part in said.out


@pytest.mark.rule("cli.formats.errors")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("formats", "e4m4"), "unknown format 'e4m4'"),
        (("decode", "e4m4", "1"), "unknown format"),
        (("decode", "e4m3", "0x100"), "a code of 8 bits"),
        (("decode", "e4m3", "-1"), "0x3c, 0b111100 or 60"),
        (("decode", "e4m3", "zero"), "0x3c, 0b111100 or 60"),
        (("decode", "e2m1", "0x1f"), "a code of 4 bits"),
        (("encode", "e4m3", "one"), "no number"),
        (("encode", "e4m3", "1e999999999"), "no number"),
        (("encode", "e4m3", "1", "--round", "up"), "invalid choice"),
    ],
)
def test_bad_input_is_one_line(refused, arguments, says):
    refused(*arguments, says=says)


# --- convert --------------------------------------------------------------------------------------


@pytest.fixture
def values(tmp_path, bittrue):
    """Write random binary32 patterns and return them."""
    del bittrue  # the working folder is set by then
    array = np.random.default_rng(2).integers(0, 2**32, (6, 35), dtype=np.uint32).view(np.float32)
    np.save(tmp_path / "in.npy", array)
    return array


@pytest.mark.rule("cli.convert")
@pytest.mark.parametrize("piece", [2, 16, 70, 1 << 24])
@pytest.mark.parametrize("destination", ["e4m3", "bf16", "e2m1", "s4", "fp16", "s8", "e8m0"])
def test_convert_gives_the_bits_of_the_function_whatever_the_piece(
    bittrue, values, monkeypatch, piece, destination
):
    monkeypatch.setattr(command, "PIECE", piece)
    said = bittrue("convert", "in.npy", "out.npy", "--to", destination, "--json")
    assert said.status == 0
    wanted = convert(values, destination)
    stored = np.load("out.npy")
    assert stored.tobytes() == wanted.codes.tobytes()
    assert stored.shape == wanted.codes.shape
    summary = json.loads(said.out)
    named = {flag.name for flag in type(wanted.status) if flag & wanted.status}
    assert set(summary["status"].split("|")) == (named or {"-"})
    assert summary["shape"] == [6, 35]


@pytest.mark.rule("cli.convert")
def test_packed_codes_raw_files_and_safetensors_there_and_back(bittrue, values):
    assert bittrue("convert", "in.npy", "a.safetensors", "--to", "bf16").status == 0
    assert bittrue("convert", "a.safetensors", "b.npy", "--to", "e2m1").status == 0
    wanted = convert(convert(values, "bf16").codes, "e2m1", "bf16")
    assert np.load("b.npy").tobytes() == wanted.codes.tobytes()
    arguments = ("--dtype", "e2m1", "--count", 35, "--to", "fp32")
    assert bittrue("convert", "b.npy", "c.bin", *arguments).status == 0
    wide = wanted.array.astype(np.float32)
    assert np.fromfile("c.bin", np.float32).tobytes() == wide.tobytes()
    raw = ("--dtype", "fp32", "--shape", "6,35", "--to", "fp16")
    assert bittrue("convert", "c.bin", "d.npy", *raw).status == 0
    assert (np.load("d.npy") == wide).all()
    assert np.load("d.npy").dtype == np.float16


@pytest.mark.rule("cli.convert")
def test_an_array_may_be_empty_or_of_no_dimension(bittrue):
    np.save("none.npy", np.zeros((0, 3), np.float32))
    assert bittrue("convert", "none.npy", "o.npy", "--to", "e4m3").status == 0
    assert np.load("o.npy").shape == (0, 3)
    np.save("one.npy", np.float32(2))
    assert bittrue("convert", "one.npy", "o.npy", "--to", "e4m3").status == 0
    assert np.load("o.npy").tolist() == 0x40


@pytest.mark.rule("cli.convert")
def test_the_file_may_be_its_own_result(bittrue, values):
    wanted = convert(values, "fp16").codes
    assert bittrue("convert", "in.npy", "in.npy", "--to", "fp16").status == 0
    assert np.load("in.npy").tobytes() == wanted.tobytes()


def safetensors(path, header, data=b""):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(struct.pack("<Q", len(text)) + text + data)


@pytest.mark.rule("cli.convert.safetensors")
def test_one_tensor_of_several_is_named(bittrue, refused):
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]},
        "b": {"dtype": "F32", "shape": [1], "data_offsets": [2, 6]},
    }
    safetensors("s.safetensors", header, b"\x38\x40" + struct.pack("<f", 3.0))
    assert bittrue("convert", "s.safetensors", "a.npy", "--to", "fp32", "--tensor", "a").status == 0
    assert np.load("a.npy").tolist() == [1.0, 2.0]
    assert bittrue("convert", "s.safetensors", "b.npy", "--to", "s8", "--tensor", "b").status == 0
    assert np.load("b.npy").tolist() == [3]
    refused("convert", "s.safetensors", "c.npy", "--to", "s8", says="one of a, b")


@pytest.mark.rule("cli.convert.safetensors")
@pytest.mark.parametrize(
    "header",
    [
        b"", b"{", b"[]", b"[" * 100_000, b'{"a": 1}', b'{"a": {}}', b'{"a": null}',
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}},
        {"a": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}},
        {"a": {"dtype": "F32", "shape": [True, 2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}},
        {"a": {"dtype": "F4", "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": 4, "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8, 9]}},
    ],
)  # fmt: skip
def test_a_damaged_safetensors_file_is_one_line(refused, header):
    safetensors("s.safetensors", header, b"\0" * 8)
    refused("convert", "s.safetensors", "o.npy", "--to", "fp16", says="s.safetensors")
    for data in (b"", b"\0" * 7, struct.pack("<Q", 2**63), b"\xff" * 64):
        with open("t.safetensors", "wb") as file:  # noqa: PTH123
            file.write(data)
        refused("convert", "t.safetensors", "o.npy", "--to", "fp16", says="t.safetensors")


@pytest.mark.rule("cli.convert.errors")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("none.npy", "o.npy", "--to", "e4m3"), "No such file"),
        (("a.npy", "o.npy", "--to", "e4m4"), "unknown format"),
        (("a.npy", "nowhere/o.npy", "--to", "e4m3"), "no folder"),
        (("a.npy", ".", "--to", "e4m3"), "is a folder"),
        (("a.npy", "o.safetensors", "--to", "hif8"), "no dtype for HiF8"),
        (("wide.npy", "o.npy", "--to", "e8m0"), "FP16, BF16, FP32 to E8M0"),
        (("words.npy", "o.npy", "--to", "e4m3"), "names no format"),
        (("objects.npy", "o.npy", "--to", "e4m3"), "not readable as .npy"),
        (("a.npy", "o.npy", "--to", "e4m3", "--count", "3"), "not packed"),
        (("a.npy", "o.npy", "--to", "e4m3", "--threads", "0"), "at least 1"),
        (("a.bin", "o.npy", "--to", "e4m3"), "tells no dtype"),
        (("a.bin", "o.npy", "--to", "e4m3", "--dtype", "fp32", "--shape", "4"), "7 bytes"),
        (("a.bin", "o.npy", "--to", "e4m3", "--dtype", "fp32", "--shape", "x"), "extents"),
        (("a.bin", "o.npy", "--to", "e4m3", "--dtype", "fp16"), "7 bytes"),
        (("c.npy", "o.npy", "--to", "fp32", "--dtype", "e3m2"), "constrained bits"),
    ],
)
def test_bad_input_of_convert_is_one_line_and_leaves_no_file(refused, files, arguments, says):
    del files
    with open("a.bin", "wb") as file:  # noqa: PTH123
        file.write(b"\0" * 7)
    np.save("c.npy", np.array([0, 0xC1], np.uint8))
    refused("convert", *arguments, says=says)
    from pathlib import Path  # noqa: PLC0415

    assert not [p.name for p in Path().iterdir() if p.name.startswith((".o", "o."))]


@pytest.mark.rule("cli.convert.atomic")
def test_a_failure_in_the_middle_leaves_the_old_file(bittrue, values, monkeypatch):
    monkeypatch.setattr(command, "PIECE", 2)
    bad = values.view(np.uint32).copy() & np.uint32(0xFFFFE000)
    bad[5, 3] |= 1
    np.save("in.npy", bad)
    np.save("out.npy", np.arange(3))
    said = bittrue("convert", "in.npy", "out.npy", "--to", "fp32", "--dtype", "tf32")
    assert said.status == 2
    assert "constrained bits" in said.err
    assert np.load("out.npy").tolist() == [0, 1, 2]
    from pathlib import Path  # noqa: PLC0415

    assert sorted(p.name for p in Path().iterdir()) == ["in.npy", "out.npy"]
