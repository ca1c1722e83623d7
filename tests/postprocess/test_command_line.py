"""`bittrue postprocess`."""

import json

import numpy as np
import pytest

from bittrue.cli.main import main
from bittrue.postprocess import PostProcess, post_process, quant_words


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("acc.npy", np.array([[70, -9, 300], [1, 2, -3]], np.int32))
    np.save("words.npy", quant_words("VREQ8", [2, 1, 1], [0, -5, 1]))
    np.save("scales.npy", np.array([2, 1, 1], np.float32))
    np.save("offsets.npy", np.array([0, -5, 1]))


def test_words_and_numbers_give_the_same(capsys):
    first = "acc.npy -o d.npy --mode VREQ8 --quant words.npy --row-max r.npy --group-max g.npy"
    assert main(["postprocess", *first.split(), "--group-n", "8", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["status"] == {"names": ["OF", "NX"], "bits": 20}
    assert shown["row_max"] == {"dtype": "int32", "shape": [2, 1]}
    second = "acc.npy -o e.npy --mode 2 --scale scales.npy --offset offsets.npy"
    assert main(["postprocess", *second.split()]) == 0
    assert capsys.readouterr().out == "int8 2 x 3, flags OF|NX\n"
    expected = post_process(np.load("acc.npy"), PostProcess("VREQ8"), np.load("words.npy"))
    assert (np.load("d.npy") == expected.d).all()
    assert (np.load("e.npy") == expected.d).all()
    assert np.load("r.npy").tolist() == [[300], [2]]
    assert np.load("g.npy").tolist() == [[300], [2]]


def test_one_element_explained(capsys):
    call = "acc.npy --mode VREQ8 --quant words.npy --relu 2 --slope 0.5 --explain 0,1"
    assert main(["postprocess", *call.split()]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "raw         S32 0xfffffff7 = -9",
        "path        affine",
        "multiplier  FP32 0x3f000000 = 0.5 (negative path)",
        "product     -4.5 exactly",
        "rounded     -4 (RNE)",
        "saturated   -4 in S9",
        "offset      -5 = -9",
        "bits        S8 0xf7 = -9",
        "flags       NX",
    ]


def test_the_plan_is_printed(capsys):
    assert main(["postprocess", "acc.npy", "--mode", "DEQF16", "--scale", "0.5", "--plan"]) == 0
    assert "encode       FP16, RNE (NONE), Sat=0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "call",
    [
        "acc.npy --mode nothing",
        "acc.npy --mode REQ8",
        "acc.npy --mode REQ8 --quant x",
        "acc.npy --mode REQ8 --scale 0.1",
        "acc.npy --mode REQ8 --offset 3",
        "acc.npy --mode REQ8 --scale 1 --explain 7,7",
        "acc.npy --mode REQ8 --scale 1 --explain 7",
        "acc.npy -o nowhere/d.npy",
        "missing.npy",
    ],
)
def test_errors_are_one_line(capsys, call):
    assert main(["postprocess", *call.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("bittrue: error: ")
    assert error.count("\n") == 1
