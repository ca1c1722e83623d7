"""`convert`: known-good cases, shapes and strides, refusals, and other libraries."""

import itertools
from collections import defaultdict

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bittrue
from bittrue import RejectedError, Rounding, Status, convert, formats, pack, unpack
from bittrue.conversion.arrays import carrier_dtype, is_packed

BACKENDS = ("cpu", "generic")
FLAG = {"0": 0, "NV": 1, "DZ": 2, "OF": 4, "UF": 8, "NX": 16}
ML = {
    "BF16": ml_dtypes.bfloat16,
    "FP16": np.float16,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    "E3M2": ml_dtypes.float6_e3m2fn,
    "E2M3": ml_dtypes.float6_e2m3fn,
    "E2M1X2": ml_dtypes.float4_e2m1fn,
}


def flags_of(text):
    return sum(FLAG[name] for name in text.split("|"))


def carriers(fmt, lanes):
    lanes = np.asarray(lanes, dtype=np.uint64)
    return pack(lanes) if is_packed(fmt) else lanes.astype(carrier_dtype(fmt))


def lanes_of(result):
    if is_packed(result.destination):
        return unpack(result.codes, result.lanes[-1])
    return result.codes


def refused(category, *arguments, **options):
    with pytest.raises(RejectedError) as caught:
        convert(*arguments, **options)
    assert isinstance(caught.value, ValueError)
    assert caught.value.category == category
    return caught.value


# --- known-good cases -----------------------------------------------------------------------------


@pytest.mark.rule("convert.vectors")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["convert", "e8m0"])
def test_every_known_good_case(vectors, name, backend):
    groups = defaultdict(list)
    for case in vectors(name)["vectors"]:
        groups[case["src"], case.get("dst", "E8M0"), case["rmode"], case["sat"]].append(case)
    assert groups
    for (source, destination, rounding, saturate), cases in groups.items():
        fmt = formats[source]
        given_codes = carriers(fmt, [int(case["in"], 16) for case in cases])
        result = convert(
            given_codes, destination, source, rounding, bool(saturate),
            count=len(cases) if is_packed(fmt) else None, flags="elements", backend=backend,
        )  # fmt: skip
        held = list(zip(lanes_of(result).tolist(), result.status.tolist(), strict=True))
        wanted = [(int(case["out"], 16), flags_of(case["flags"])) for case in cases]
        assert held == wanted, (source, destination, rounding, saturate)


@pytest.mark.rule("convert.vectors")
@pytest.mark.parametrize("backend", BACKENDS)
def test_packed_cases(vectors, backend):
    for case in vectors("convert")["packed_vectors"]:
        source = formats[case["src"]]
        if "in_bytes" in case:
            given_codes = np.array([int(b, 16) for b in case["in_bytes"]], np.uint8)
        else:
            given_codes = carriers(source, [int(lane, 16) for lane in case["in_elems"]])
        result = convert(
            given_codes, case["dst"], source, case["rmode"], bool(case["sat"]),
            count=case["count"], backend=backend,
        )  # fmt: skip
        if "out_bytes" in case:
            assert result.codes.tolist() == [int(b, 16) for b in case["out_bytes"]], case
        else:
            assert result.codes.tolist() == [int(b, 16) for b in case["out_elems"]], case
        assert result.status == flags_of(case["flags"])


@pytest.mark.rule("convert.legal")
def test_the_legal_pairs_are_603(vectors):
    read = vectors("convert")
    types = [name for name, fmt in formats.items() if fmt.code is not None]
    illegal = set()
    for source, destination in itertools.product(types, types):
        codes = carriers(formats[source], [0])
        try:
            convert(codes, destination, source)
        except RejectedError:
            refused("pair", codes, destination, source)
            illegal.add((source, destination))
    assert illegal == {tuple(pair) for pair in read["illegal_pairs"]}
    assert len(types) ** 2 - len(illegal) == 603
    for name in ("fp32", "s8", "e8m0"):
        refused("pair", np.zeros(1, np.uint32), name, "fp19")
        refused("pair", carriers(formats[name], [0]), "fp19", name)


@pytest.mark.rule("convert.invalid")
@pytest.mark.parametrize("backend", BACKENDS)
def test_invalid_source_encodings_are_refused_with_their_position(vectors, backend):
    for case in vectors("convert")["reject_inputs"]:
        fmt = formats[case["src"]]
        array = np.zeros((3, 4), carrier_dtype(fmt))
        array[1, 2] = int(case["in"], 16)
        out = np.full((3, 4), 7, carrier_dtype(formats[case["dst"]]))
        before = out.copy()
        error = refused("encoding", array, case["dst"], case["src"], out=out, backend=backend)
        assert error.position == (1, 2)
        assert (out == before).all()


# --- what an array may be -------------------------------------------------------------------------


@pytest.mark.rule("convert.source")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ML)
def test_the_dtype_of_an_array_tells_its_format(name, backend):
    values = np.array([0.0, -0.0, 0.5, -1.5, 6.0, 0.25, 3.0], np.float32)
    typed = values.astype(ML[name])
    back = convert(typed, "fp32", backend=backend)
    assert back.array.tobytes() == typed.astype(np.float32).tobytes()
    there = convert(values, name, backend=backend)
    assert there.array.dtype == typed.dtype
    assert there.array.tobytes() == typed.tobytes()


@pytest.mark.rule("convert.source")
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                   "uint64", "float16", "float32", "float64"])  # fmt: skip
def test_numpy_dtypes_both_ways(dtype):
    array = np.arange(5).astype(dtype)
    result = convert(array, dtype)
    assert result.array.dtype == array.dtype
    assert (result.array == array).all()
    big = array.astype(array.dtype.newbyteorder(">"))
    assert (convert(big, dtype).array == array).all()


@pytest.mark.rule("convert.source")
@pytest.mark.parametrize("dtype", ["bool", "complex64", "U1", "object", "datetime64[s]"])
def test_a_dtype_without_format_is_refused(dtype):
    with pytest.raises(TypeError):
        convert(np.zeros(2, dtype), "fp32")


@pytest.mark.rule("convert.source")
def test_int4_arrays_are_lanes_of_bytes():
    array = np.array([[-8, 7, -1], [0, 1, 2]]).astype(ml_dtypes.int4)
    result = convert(array, "fp32")
    assert result.array.tolist() == [[-8, 7, -1], [0, 1, 2]]
    there = convert(result.array, "s4")
    assert there.codes.shape == (2, 2)
    assert (there.array == array).all()


@pytest.mark.rule("convert.strides")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("destination", ["e4m3", "e2m1", "fp64", "s16"])
def test_strides_of_any_kind_give_the_bits_of_a_copy(destination, backend):
    base = np.random.default_rng(3).integers(0, 2**32, (6, 7, 4), dtype=np.uint32)
    views = (base[::-1], base[:, ::2], base.transpose(2, 0, 1), base[..., ::-3], base[2:2],
             np.broadcast_to(base[:1, :1], (3, 5, 4)), base[1, 2, 3:])  # fmt: skip
    for view in (v.view(np.float32) for v in views):
        direct = convert(view, destination, flags="elements", backend=backend)
        copied = convert(view.copy(), destination, flags="elements", backend=backend)
        assert direct.lanes == view.shape
        assert (direct.codes == copied.codes).all()
        assert (direct.status == copied.status).all()


@pytest.mark.rule("convert.strides")
def test_memory_maps_and_zero_dimensional_arrays(tmp_path):
    path = tmp_path / "a.bin"
    np.arange(100, dtype=np.float32).tofile(path)
    mapped = np.memmap(path, np.float32, "r")
    assert (convert(mapped, "fp16").array == np.arange(100)).all()
    for given_value in (np.float32(1.5), np.array(1.5, np.float32)):
        result = convert(given_value, "e4m3", flags="elements")
        assert result.codes.shape == result.lanes == result.status.shape == ()
        assert int(result.codes) == 0x3C
        packed = convert(given_value, "e2m1")
        assert packed.codes.shape == (1,)
    wide = convert(np.array(0x91, np.uint8), "fp32", "e1m2")
    assert wide.array.tolist() == [0.25, -0.25]
    assert convert(np.array(0x91, np.uint8), "fp32", "e1m2", count=1).array.tolist() == [0.25]


@pytest.mark.rule("convert.strides")
@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_that_are_not_aligned(backend):
    values = np.random.default_rng(3).standard_normal(9).astype(np.float32)
    shifted = np.frombuffer(b"x" + values.tobytes(), np.float32, offset=1)
    assert not shifted.flags.aligned
    words = np.arange(9, dtype=np.uint32) << np.uint32(28)
    odd = np.frombuffer(b"x" + words.tobytes(), np.uint32, offset=1)
    out = np.frombuffer(bytearray(37), np.uint32, offset=1)
    wanted = convert(values, "tf32", random_bits=words).codes
    assert (
        convert(shifted, "tf32", random_bits=odd, backend=backend, out=out).codes == wanted
    ).all()
    assert (out == wanted).all()
    with pytest.raises(RejectedError):
        convert(shifted.view(np.uint32), "fp32", "tf32", backend=backend)


@pytest.mark.rule("convert.packed")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rows", [(3,), (2, 2), (1,), (0,)])
@pytest.mark.parametrize("length", [1, 2, 5, 33, 0])
def test_each_row_of_packed_lanes_starts_a_byte(rows, length, backend):
    values = np.random.default_rng(length).standard_normal((*rows, length)).astype(np.float32)
    result = convert(values, "e2m1", flags="elements", backend=backend)
    assert result.codes.shape == (*rows, (length + 1) // 2)
    assert result.status.shape == values.shape
    for where in np.ndindex(rows):
        row = convert(values[where], "e2m1", flags="elements", backend=backend)
        assert (result.codes[where] == row.codes).all()
        assert (result.status[where] == row.status).all()
    if length % 2 and result.codes.size:
        assert not (result.codes[..., -1] >> 4).any()
        dirty = result.codes | np.uint8(0x70)  # what an unused nibble holds is ignored
        dirty[..., :-1] = result.codes[..., :-1]
        back = convert(dirty, "fp32", "e2m1", count=length, backend=backend)
        assert (back.array == result.array.astype(np.float32)).all()
        assert back.status == 0


@pytest.mark.rule("convert.count")
def test_counts_that_do_not_fit_are_refused():
    stored = np.zeros((2, 3), np.uint8)
    for count in (4, 7, 0, -1, True, 5.0, "5"):
        refused("shape", stored, "fp32", "e2m1", count=count)
    refused("shape", np.zeros(3, np.float32), "e4m3", count=2)
    assert convert(np.zeros(3, np.float32), "e4m3", count=3).lanes == (3,)


@pytest.mark.rule("convert.codes")
def test_codes_wider_than_their_carrier_are_refused():
    error = refused("encoding", np.array([1, 256, 3], np.int64), "fp32", "e4m3")
    assert error.position == (1,)
    refused("encoding", np.array([-1]), "fp32", "e4m3")
    assert convert(np.array([0x38], np.int64), "fp32", "e4m3").array.tolist() == [1.0]
    with pytest.raises(TypeError):
        convert(np.array([1.0]), "fp32", "e4m3")


# --- output and options ---------------------------------------------------------------------------


@pytest.mark.rule("convert.out")
@pytest.mark.parametrize("backend", BACKENDS)
def test_out_receives_the_codes(backend):
    values = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    wanted = convert(values, "fp16").codes
    base = np.zeros((8, 12), np.uint16)
    out = base[::2, ::-2]
    result = convert(values, "fp16", out=out, backend=backend)
    assert result.codes is out
    assert (out == wanted).all()
    assert not base[1::2].any()


@pytest.mark.rule("convert.out")
@pytest.mark.parametrize("backend", BACKENDS)
def test_out_may_overlap_the_source(backend):
    values = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    wanted = convert(values, "bf16").codes
    held = values.copy()
    convert(held, "bf16", out=held.view(np.uint16)[:100], backend=backend)
    assert (held.view(np.uint16)[:100] == wanted).all()
    held = values.copy()
    convert(held, "bf16", out=held.view(np.uint16)[100:], backend=backend)
    assert (held.view(np.uint16)[100:] == wanted).all()
    held = values.copy()
    convert(held, "tf32", out=held.view(np.uint32)[::-1], backend=backend)
    assert (held.view(np.uint32)[::-1] == convert(values, "tf32").codes).all()


@pytest.mark.rule("convert.out")
def test_out_that_does_not_fit_is_refused():
    values = np.zeros((2, 3), np.float32)
    locked = np.zeros((2, 3), np.uint8)
    locked.flags.writeable = False
    for out in (np.zeros((3, 2), np.uint8), np.zeros((2, 3), np.int8), locked):
        refused("output", values, "e4m3", out=out)
    with pytest.raises(TypeError):
        convert(values, "e4m3", out=[0] * 6)


@pytest.mark.rule("convert.status")
def test_union_is_the_or_of_the_elements():
    values = np.random.default_rng(5).integers(0, 2**32, 500, dtype=np.uint32).view(np.float32)
    for destination in ("e4m3", "s8", "fp16", "e8m0"):
        each = convert(values, destination, flags="elements").status
        union = convert(values, destination).status
        assert isinstance(union, Status)
        assert union == np.bitwise_or.reduce(each)
    assert convert(values[:0], "e4m3").status == 0


@pytest.mark.rule("convert.options")
def test_options_of_another_kind_are_refused():
    values = np.zeros(3, np.float32)
    for rounding in ("nearest", 8, -1, True, None, 1.5):
        refused("mode", values, "e4m3", None, rounding)
    for rounding in ("rne", 1, Rounding.RNE):
        convert(values, "e4m3", None, rounding)
    with pytest.raises(TypeError):
        convert(values, "e4m3", saturate=1)
    for options in ({"flags": "all"}, {"backend": "gpu"}, {"threads": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            convert(values, "e4m3", **options)
    with pytest.raises(TypeError):
        convert(values, "e4m3", threads=1.0)
    with pytest.raises(KeyError):
        convert(values, "e4m4")


@pytest.mark.rule("convert.options")
def test_the_thread_count_of_the_environment(monkeypatch):
    monkeypatch.setenv("BITTRUE_THREADS", "2")
    assert convert(np.ones(3, np.float32), "e4m3").codes.tolist() == [0x38] * 3
    monkeypatch.setenv("BITTRUE_THREADS", "many")
    with pytest.raises(ValueError, match="BITTRUE_THREADS"):
        convert(np.ones(3, np.float32), "e4m3")


# --- stochastic rounding --------------------------------------------------------------------------


@pytest.mark.rule("convert.stochastic")
@pytest.mark.parametrize("backend", BACKENDS)
def test_stochastic_rounding_takes_the_upper_neighbour_below_the_threshold(backend):
    # 1 + 1/32 lies a quarter of the way from 1 to 1.125 in E4M3.
    values = np.full(6, 1 + 1 / 32, np.float32)
    words = np.array([0, 2**30 - 1, 2**30, 2**31, 2**32 - 1, 7], np.uint32)
    result = convert(values, "e4m3", random_bits=words, backend=backend)
    assert result.codes.tolist() == [0x39, 0x39, 0x38, 0x38, 0x38, 0x39]
    exact = convert(np.ones(6, np.float32), "e4m3", random_bits=words, backend=backend)
    assert exact.codes.tolist() == [0x38] * 6


@pytest.mark.rule("convert.stochastic")
@given(st.integers(0, 2**32 - 1))
def test_stochastic_rounding_is_the_same_on_both_backends(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2**32, 64, dtype=np.uint32).view(np.float32)
    words = rng.integers(0, 2**32, 64, dtype=np.uint32)
    for destination in ("e4m3", "hif8", "e2m1", "bf16", "s8", "fp64"):
        a, b = (
            convert(values, destination, random_bits=words, flags="elements", backend=backend)
            for backend in BACKENDS
        )
        assert (a.codes == b.codes).all()
        assert (a.status == b.status).all()


@pytest.mark.rule("convert.stochastic")
def test_stochastic_rounding_that_means_nothing_is_refused():
    values, words = np.zeros(3, np.float32), np.zeros(3, np.uint32)
    refused("mode", values, "e4m3", None, "RNE", random_bits=words)
    refused("mode", values, "e8m0", random_bits=words)
    refused("shape", values, "e4m3", random_bits=words[:2])
    with pytest.raises(TypeError):
        convert(values, "e4m3", random_bits=words.astype(np.int64))


# --- other libraries ------------------------------------------------------------------------------


@pytest.mark.rule("convert.peer.ml_dtypes")
@pytest.mark.parametrize("name", ML)
def test_ml_dtypes_decodes_every_code_to_the_same_value(name):
    fmt = formats[name]
    codes = np.array(list(fmt.codes()))
    if is_packed(fmt):
        ours = convert(pack(codes), "fp32", fmt).array
        theirs = codes.astype(np.uint8).view(ML[name]).astype(np.float32)
    else:
        codes = codes.astype(carrier_dtype(fmt))
        ours = convert(codes, "fp32", fmt).array
        theirs = codes.view(ML[name]).astype(np.float32)
    nan = np.isnan(theirs)
    assert (np.isnan(ours) == nan).all()
    assert ours[~nan].tobytes() == theirs[~nan].tobytes()


@pytest.mark.rule("convert.peer.ml_dtypes")
@pytest.mark.parametrize("name", ML)
def test_ml_dtypes_rounds_to_the_same_codes(name):
    """All FP16 values and random FP32 patterns; NaN into a format without NaN is its own."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    rng = np.random.default_rng(9)
    random = rng.integers(0, 2**32, 2**17, dtype=np.uint32).view(np.float32)
    near = np.ldexp(rng.standard_normal(2**17), rng.integers(-20, 20, 2**17)).astype(np.float32)
    values = np.concatenate([every, random, near])
    # Infinities and overflow: ml_dtypes saturates where a format has neither infinity nor NaN.
    values = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        theirs = values.astype(ML[name])
    ours = convert(values, name)
    if name == "E4M3":
        assert (np.isnan(ours.array) == np.isnan(theirs)).all()
        finite = ~np.isnan(theirs)
        assert (ours.codes[finite] == theirs.view(np.uint8)[finite]).all()
        return
    assert ours.array.tobytes() == theirs.tobytes()


@pytest.mark.rule("convert.user-format")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_users_format_converts(backend):
    if "own_e5m1" not in formats:
        formats.register("own_e5m1", exponent_bits=5, fraction_bits=1)
    values = np.array([1.0, 1.25, 1.75, -0.0, np.inf, 1e30], np.float32)
    result = bittrue.convert(values, "own_e5m1", flags="elements", backend=backend)
    back = bittrue.convert(result.codes, "fp32", "own_e5m1", backend=backend).array
    assert back.tolist() == [1.0, 1.0, 2.0, 0.0, np.inf, np.inf]
    assert result.status.tolist() == [0, 16, 16, 0, 0, 20]
    with pytest.raises(TypeError):
        _ = result.array
