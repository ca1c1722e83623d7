"""What is refused, with which category, in which order, and that nothing changed."""

import numpy as np
import pytest

from bittrue.encoding import Rounding, Status
from bittrue.errors import BittrueError, RejectedError
from bittrue.postprocess import (
    PostProcess,
    PreQuant,
    Relu,
    StatusRegister,
    activation_word,
    activation_words,
    explain_word,
    nearest_scales,
    plan_post_process,
    post_process,
    quant_word,
    quant_words,
)
from bittrue.postprocess.modes import GROUP_N

ONE = 0x3F80_0000
F32 = np.zeros((2, 3), np.float32)
S32 = np.zeros((2, 3), np.int32)


def category(call, *arguments, **options) -> str:
    with pytest.raises(RejectedError) as caught:
        call(*arguments, **options)
    assert isinstance(caught.value, ValueError)
    return caught.value.category


# --- the control record -------------------------------------------------------------------------


def test_canonical_word():
    assert PostProcess().word == 0x0000_2023
    assert PostProcess.from_word(0x2023) == PostProcess()


def test_every_field_stands_in_its_bits():
    control = PostProcess(
        "VREQ8", 3, 48, row_max=True, group_max=True, row_max_init=True, max_abs=True,
        rounding="RHB", saturate=True, trans_a=True, trans_b=True,
    )  # fmt: skip
    expected = (
        2 << 26 | 3 << 23 | 4 << 19 | 1 << 18 | 1 << 17 | 1 << 16 | 1 << 15 | 3 << 7 | 0x2023
    )  # fmt: skip
    assert control.word == expected
    assert PostProcess.from_word(expected, "RHB", saturate=True) == control


def test_word_round_trip():
    for mode in PreQuant:
        for relu in Relu:
            for code, group in enumerate(GROUP_N):
                control = PostProcess(mode, relu, group, group_max=bool(code))
                assert PostProcess.from_word(control.word) == control
                assert control.word >> 19 & 15 == code


@pytest.mark.parametrize("bit", [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14])
def test_fixed_bits(bit):
    assert category(PostProcess.from_word, 0x2023 ^ 1 << bit) == "encoding"


@pytest.mark.parametrize("field", [6 << 26, 63 << 26, 4 << 23, 10 << 19, 1 << 32])
def test_reserved_codes_in_a_word(field):
    assert category(PostProcess.from_word, 0x2023 | field) == "encoding"


def test_modes_by_code_name_and_member():
    assert PostProcess(2) == PostProcess("VREQ8") == PostProcess(PreQuant.VREQ8)
    assert PostProcess("vreq8").pre_quant is PreQuant.VREQ8
    assert PostProcess(2, rounding=7).rounding is Rounding.RHB


def test_categories_of_the_record_come_in_order():
    assert category(PostProcess, 6, row_max_init=True, saturate=True) == "encoding"
    assert category(PostProcess, "nothing") == "encoding"
    assert category(PostProcess, 0, 4) == "encoding"
    assert category(PostProcess, 0, 0, 24) == "encoding"
    assert category(PostProcess, 0, row_max_init=True, saturate=True) == "fields"
    assert category(PostProcess, 0, saturate=True) == "control"
    assert category(PostProcess, 32, rounding="RNE") == "control"


@pytest.mark.parametrize(
    "options",
    [{"pre_quant": 1.0}, {"relu": None}, {"group_n": "8"}, {"row_max": 1}, {"rounding": True}],
)
def test_other_kinds_are_type_errors(options):
    with pytest.raises(TypeError) as caught:
        PostProcess(**options)
    assert isinstance(caught.value, BittrueError)


def test_the_record_is_immutable():
    with pytest.raises(AttributeError):
        PostProcess().relu = Relu.RELU


# --- words --------------------------------------------------------------------------------------


def test_words_of_the_table():
    assert quant_word("REQ8", 2, -1) == 0x00003FE040000000
    assert quant_word(17, 1.0, 1) == 0x000000203F800000
    assert quant_word("DEQS16", 1, -65536) == 1 << 53 | 0x3F800000
    assert quant_word(12, shift=1) == 0
    assert quant_word(13, shift=16) == 0x0000000F00000000
    assert activation_word(0.5) == 0x1F800
    assert activation_word(0) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("REQ8", 0.1), ("REQ8", 0), ("REQ8", -1), ("REQ8", float("nan")), ("REQ8", float("inf")),
        ("REQ8", 2.0**-127), ("REQ8", None), ("REQ8", 1, 256), ("REQ8", 1, -257), ("REQ4", 1, 16),
        ("DEQF16", 1, 1), ("REQ8", 1, 0, 3), ("SHIFTS322S16", 1), ("SHIFTS322S16",),
        ("SHIFTS322S16", None, 0, 17), ("SHIFTS322S16", None, 0, 0), ("NoQuant", 1), (26, 2.0**128),
    ],
)  # fmt: skip
def test_illegal_words_are_not_built(arguments):
    assert category(quant_word, *arguments) == "parameter"


def test_nearest_fp19():
    assert quant_word("REQ8", 0.1, exact=False) == 0x3DCCC000
    # Halfway between two FP19: to even, from the exact value and not from an FP32 of it.
    assert quant_word("REQ8", 1 + 2.0**-11, exact=False) == 0x3F800000
    assert quant_word("REQ8", 1 + 3 * 2.0**-11, exact=False) == 0x3F804000
    assert quant_word("REQ8", 1 + 2.0**-11 + 2.0**-40, exact=False) == 0x3F802000
    assert category(quant_word, 26, 2.0**128 - 2.0**110, exact=False) == "parameter"


@pytest.mark.parametrize("value", [-1.0, -0.0, np.float32(-0.0), 2.0**-127, float("inf"), 0.1])
def test_illegal_activations_are_not_built(value):
    assert category(activation_word, value) == "parameter"


def test_vectors_of_words():
    found = quant_words("VREQ8", np.array([1, 2], np.float32), [3, -4])
    assert found.dtype == np.uint64
    assert found.tolist() == [quant_word("VREQ8", 1, 3), quant_word("VREQ8", 2, -4)]
    assert quant_words("VSHIFTS322S16", shifts=[1, 2]).tolist() == [0, 1 << 32]
    assert activation_words([0, 0.5]).tolist() == [0, 0x1F800]
    with pytest.raises(RejectedError) as caught:
        quant_words("VREQ8", [1, 0.1])
    assert caught.value.position == (1,)
    assert category(quant_words, "VREQ8", [1, 2], [1]) == "shape"


def test_words_explained():
    assert "scale FP19 0x20000 = 2.0, S9 offset -1" in explain_word("REQ8", 0x00003FE040000000)
    assert "shift right by 16" in explain_word(13, 0xF_0000_0000)
    assert "unused bits 0x1 set" in explain_word("REQ8", 0x3F800001)
    assert "positive subnormal" in explain_word("REQ8", 0x2000)
    assert "= 0.5" in explain_word("activation", 0x1F800)
    assert "illegal" in explain_word("activation", 0x40000)
    assert "takes no word" in explain_word("NoQuant", 0)


# --- the plan -----------------------------------------------------------------------------------

VECTOR, SCALAR = PostProcess("VREQ8"), PostProcess("REQ8")


@pytest.mark.parametrize(
    ("control", "dtype", "shape", "options", "expected"),
    [
        # accumulator before everything else
        (SCALAR, np.float32, (0, 0), {}, "accumulator"),
        (SCALAR, "U32", (2, 3), {"quant": ONE}, "accumulator"),
        (PostProcess(), np.float64, (2, 3), {}, "accumulator"),
        (PostProcess(), "no type", (2, 3), {}, "accumulator"),
        # parameter before shape
        (SCALAR, np.int32, (0, 3), {}, "parameter"),
        (SCALAR, np.int32, (0, 3), {"quant": 0}, "parameter"),
        (SCALAR, np.int32, (2, 3), {"quant": -1}, "parameter"),
        (SCALAR, np.int32, (2, 3), {"quant": 1 << 64}, "parameter"),
        (VECTOR, np.int32, (2, 3), {"quant": [ONE, ONE, 1]}, "parameter"),
        (VECTOR, np.int32, (2, 3), {"quant": None, "row_max_in": S32}, "parameter"),
        (PostProcess("REQ8", 3), np.int32, (2, 3),
         {"quant": [ONE], "activation": [1] * 3}, "parameter"),
        # shape
        (SCALAR, np.int32, (0, 3), {"quant": ONE}, "shape"),
        (SCALAR, np.int32, (2, 0), {"quant": ONE}, "shape"),
        (SCALAR, np.int32, (2, 3), {"quant": [ONE]}, "shape"),
        (SCALAR, np.int32, (2, 3), {"quant": 1.0}, "shape"),
        (SCALAR, np.int32, (2, 3), {"quant": np.int64(ONE)}, "shape"),
        (VECTOR, np.int32, (2, 3), {"quant": ONE}, "shape"),
        (VECTOR, np.int32, (2, 3), {"quant": [0] * 2}, "shape"),
        (VECTOR, np.int32, (2, 3), {"quant": np.full((3, 1), ONE, np.uint64)}, "shape"),
        (VECTOR, np.int32, (2, 3), {"quant": np.full(3, ONE, np.int64)}, "shape"),
        (PostProcess(), np.int32, (2, 3), {"quant": ONE}, "shape"),
        (PostProcess(), np.int32, (2, 3), {"activation": 0}, "shape"),
        (PostProcess(), np.int32, (2, 3), {"row_max_in": np.zeros(2, np.int32)}, "shape"),
        (PostProcess(row_max=True, row_max_init=True), np.int32, (2, 3), {}, "shape"),
        (PostProcess(row_max=True, row_max_init=True), np.int32, (2, 3),
         {"row_max_in": np.zeros(2, np.float32)}, "shape"),
        (PostProcess(row_max=True, row_max_init=True), np.int32, (2, 3),
         {"row_max_in": np.zeros(3, np.int32)}, "shape"),
        (PostProcess(), np.int32, (2, 3), {"row_max_out": np.zeros((2, 1), np.int32)}, "shape"),
        (PostProcess(), np.int32, (2, 3), {"group_max_out": np.zeros((2, 1), np.int32)}, "shape"),
        # output
        (PostProcess(), np.int32, (2, 3), {"d_out": np.zeros((2, 3), np.uint32)}, "output"),
        (PostProcess(), np.int32, (2, 3), {"d_out": np.zeros((3, 2), np.int32)}, "output"),
        (PostProcess(), np.int32, (2, 3), {"packed": True}, "output"),
    ],
)  # fmt: skip
def test_plan_refuses(control, dtype, shape, options, expected):
    assert category(plan_post_process, control, dtype, *shape, **options) == expected


def test_outputs_are_distinct_and_writable():
    control = PostProcess(row_max=True)
    storage = np.zeros((2, 4), np.int32)
    options = {"d_out": storage[:, :3], "row_max_out": storage[:, 2:3]}
    assert category(plan_post_process, control, np.int32, 2, 3, **options) == "output"
    storage.flags.writeable = False
    assert category(plan_post_process, control, np.int32, 2, 3, d_out=storage[:, :3]) == "output"
    # Interleaved but apart.
    storage = np.zeros((2, 4), np.int32)
    plan_post_process(
        control, np.int32, 2, 3, d_out=storage[:, :3], row_max_out=storage[:, 3:]
    )  # fmt: skip


def test_position_of_an_illegal_word():
    with pytest.raises(RejectedError) as caught:
        plan_post_process(VECTOR, np.int32, 2, 3, quant=[ONE, ONE | 1, 0])
    assert caught.value.position == (1,)
    assert "column 1" in str(caught.value)


def test_the_plan_prints_as_a_pipeline():
    control = PostProcess("VREQ8", 2, 8, row_max=True, group_max=True, saturate=True)
    text = str(plan_post_process(control, np.int32, 2, 3, [ONE] * 3, 0))
    stages = [line.split("  ")[0] for line in text.splitlines()]
    assert stages == [
        "accumulator", "row max", "group max", "multiplier", "product", "round", "offset", "encode",
        "D",
    ]  # fmt: skip
    assert "negative: the activation parameter" in text
    assert "saturated to S9" in text


# --- execution ----------------------------------------------------------------------------------


def test_nothing_changes_after_a_refusal(backend):
    register = StatusRegister(Status.NX)
    d, row_max = np.full((2, 3), 7, np.int8), np.full((2, 1), 7, np.int32)
    for options in ({"quant": None}, {"quant": 0}, {"quant": [ONE]}):
        with pytest.raises(RejectedError):
            post_process(
                S32, PostProcess("REQ8", row_max=True), d_out=d, row_max_out=row_max,
                status=register, backend=backend, **options,
            )  # fmt: skip
    assert (d == 7).all()
    assert (row_max == 7).all()
    assert register.flags == Status.NX


def test_flags_are_sticky(backend):
    register = StatusRegister()
    one = np.array([[3]], np.int32)
    half = quant_word("REQ8", 0.5)
    assert post_process(one, SCALAR, half, status=register, backend=backend).status == Status.NX
    assert post_process(one, SCALAR, ONE, status=register, backend=backend).status == Status(0)
    assert register.flags == Status.NX
    register.clear()
    assert register.flags == Status(0)


def test_outputs_of_any_layout(backend):
    rng = np.random.default_rng(3)
    raw = rng.integers(-500, 500, (6, 10), dtype=np.int32)
    control = PostProcess("REQ8", 0, 8, row_max=True, group_max=True, saturate=True)
    plain = post_process(raw, control, ONE, backend=backend)
    for given in (
        np.asfortranarray(raw),
        np.repeat(raw, 2, axis=1)[:, ::2],
        raw[::-1][::-1],
        raw.astype(">i4"),
    ):
        d = np.zeros((6, 20), np.int8)[:, ::2]
        row_max = np.zeros(6, np.int32)
        found = post_process(
            given, control, ONE, d_out=d, row_max_out=row_max, backend=backend
        )  # fmt: skip
        assert found.d is d
        assert found.row_max is row_max
        assert (d == plain.d).all()
        assert (row_max == plain.row_max[:, 0]).all()
        assert (found.group_max == plain.group_max).all()


def test_d_may_be_the_accumulator(backend):
    raw = np.array([[1, -2, 3]], np.int32)
    found = post_process(raw, PostProcess(0, 1), d_out=raw, backend=backend)
    assert raw.tolist() == [[1, 0, 3]]
    assert found.d is raw


def test_row_max_in_may_be_row_max_out(backend):
    raw = np.array([[1, 5], [9, 2]], np.int32)
    held = np.array([[7], [8]], np.int32)
    control = PostProcess(row_max=True, row_max_init=True)
    post_process(raw, control, row_max_in=held, row_max_out=held, backend=backend)
    assert held.tolist() == [[7], [9]]


def test_row_max_in_may_be_d_out(backend):
    raw = np.array([[1], [9], [3]], np.int32)
    d = np.array([[7], [8], [50]], np.int32)
    control = PostProcess(row_max=True, row_max_init=True)
    found = post_process(raw, control, row_max_in=d, d_out=d, backend=backend)
    assert d.tolist() == [[1], [9], [3]]
    assert found.row_max.tolist() == [[7], [9], [50]]


def test_rows_in_reverse_and_repeated(backend):
    raw = np.arange(12, dtype=np.int32).reshape(3, 4)
    for given in (raw[::-1], np.broadcast_to(raw[1], (3, 4)), raw[:, ::-1], raw[:, 1:2]):
        assert (post_process(given, PostProcess(), backend=backend).d == given).all()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"backend": "gpu"}, ValueError),
        ({"threads": 0}, ValueError),
        ({"threads": 1.5}, TypeError),
        ({"status": 0}, TypeError),
        ({"packed": 1}, TypeError),
        ({"d_out": [0]}, TypeError),
    ],
)
def test_other_arguments(options, kind):
    with pytest.raises(kind):
        post_process(S32, SCALAR, ONE, **options)


def test_an_accumulator_has_two_dimensions():
    assert category(post_process, S32[0], PostProcess()) == "shape"
    assert category(post_process, np.zeros(3), PostProcess()) == "accumulator"
    with pytest.raises(TypeError):
        post_process(F32, "NoQuant")


def test_nearest_scales_report_their_error():
    found = nearest_scales([0.1, 0.5, 1 + 2.0**-11])
    assert found.scales.tolist() == [0.0999755859375, 0.5, 1.0]
    assert found.errors[1] == 0
    assert found.worst == found.errors[[0, 2]].__abs__().max() < 2.0**-11
    assert quant_words("VREQ8", found.scales).tolist() == [
        quant_word("VREQ8", value) for value in found.scales
    ]
    assert category(nearest_scales, [1, 0]) == "parameter"
