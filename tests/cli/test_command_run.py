"""`bittrue run`: operations on files, numbers and lists."""

import errno
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import bittrue as library
from bittrue import files as files_module


def names(folder):
    return sorted(path.name for path in folder.iterdir())


OURS = ("cpu", "generic")


@pytest.mark.rule("cli.run")
def test_files_in_file_out(bittrue, files):
    said = bittrue("run", "mul", "a.npy", "b.npy", "-o", "out.npy")
    assert (said.status, said.out, said.err) == (0, "", "")
    result = np.load(files / "out.npy", allow_pickle=False)
    assert result.dtype == np.float32
    assert result.view(np.uint32).tolist() == [0x40400000, 0x80000000, 0xFF800000]


@pytest.mark.rule("cli.run")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["maximum", "[0.0, -0.0]", "[-0.0, 0.0]"], "Tensor([0., 0.], shape=(2,), dtype=Float32)"),
        (["mul", "[1, 2]", "3"], "Tensor([3, 6], shape=(2,), dtype=Int32)"),
        (["eq", "[1.0, 2.0]", "[1.0, 3.0]"], "Tensor([ True, False], shape=(2,), dtype=Bool)"),
        (
            ["reduce_sum", "[[1, 2], [3, 4]]", "--attr", "axis=0"],
            "Tensor([4, 6], shape=(2,), dtype=Int32)",
        ),
        (
            ["reduce_sum", "[[1, 2], [3, 4]]", "--attr", "axis=[0, 1]", "--attr", "keepdims=true"],
            "Tensor([[10]], shape=(1, 1), dtype=Int32)",
        ),
        (["abs", "[NaN, -Infinity]"], "Tensor([nan, inf], shape=(2,), dtype=Float32)"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_result_is_printed(bittrue, arguments, shown):
    said = bittrue("run", *arguments)
    assert (said.status, said.out, said.err) == (0, shown + "\n", "")


@pytest.mark.rule("cli.run.json")
def test_json_holds_the_bits(bittrue, files):
    said = bittrue("run", "neg", "a.npy", "--json", "-o", "out.npy")
    assert json.loads(said.out) == {
        "dtype": "Float32",
        "shape": [3],
        "bits": [0xBFC00000, 0x00000000, 0xFF800000],
    }
    assert (files / "out.npy").exists()
    assert json.loads(bittrue("run", "mul", "[[2], [-3]]", "5", "--json").out) == {
        "dtype": "Int32",
        "shape": [2, 1],
        "bits": [10, -15],
    }


@pytest.mark.rule("cli.run.options")
def test_accumulator_and_backend_reach_the_call(bittrue, tmp_path):
    terms = np.array([2**24] + [1] * 32, np.float32)
    np.save(tmp_path / "x.npy", terms)
    for name, total in (("Float32", 16777246), ("Float64", 16777248)):
        said = bittrue("run", "reduce_sum", "x.npy", "--accumulator", name, "--json")
        assert json.loads(said.out)["bits"] == [int(np.float32(total).view(np.uint32))]
    said = bittrue("run", "erf", "x.npy", "--backend", "numpy")
    assert (said.status, said.out) == (2, "")
    assert "declined by numpy" in said.err
    ours = [bittrue("run", "sin", "x.npy", "--backend", name, "--json").out for name in OURS]
    assert ours[0] == ours[1] != ""


BAD = {
    "missing file": (["abs", "missing.npy"], "missing.npy"),
    "folder": (["abs", "folder"], "folder"),
    "object array": (["abs", "objects.npy"], "objects.npy: not readable as .npy"),
    "cut file": (["abs", "cut.npy"], "cut.npy: not readable as .npy"),
    "no array": (["abs", "text.npy"], "text.npy: not readable as .npy"),
    "empty file": (["abs", "empty.npy"], "empty.npy: not readable as .npy"),
    "archive": (["abs", "several.npz"], "several.npz"),
    "wrong dtype": (["abs", "half.npy"], "Float16"),
    "dtype without a descriptor": (["abs", "words.npy"], "U3"),
    "unimplemented pair": (["abs", "b.npy"], "has dtype Int32"),
    "unknown operation": (["nonsense", "a.npy"], "nonsense"),
    "unknown backend": (["abs", "a.npy", "--backend", "nonsense"], "nonsense"),
    "unknown accumulator": (["abs", "a.npy", "--accumulator", "nonsense"], "nonsense"),
    "unknown option": (["abs", "a.npy", "--nonsense"], "--nonsense"),
    "no operation": ([], "OP"),
    "no operand": (["abs"], "abs"),
    "operand too many": (["abs", "a.npy", "a.npy"], "abs"),
    "shapes": (["add", "a.npy", "wide.npy"], "(3,) and (2,)"),
    "extents": (["add", "[1, 2]", "[1, 2, 3]"], "(2,) and (3,)"),
    "ragged list": (["abs", "[[1.5], [1.5, 2]]"], "ragged"),
    "empty list": (["abs", "[]"], "empty list"),
    "list of words": (["abs", '["x"]'], "holds str"),
    "list with null": (["abs", "[1.5, null]"], "NoneType"),
    "list of both kinds": (["abs", "[true, 1.5]"], "mixes"),
    "list with an object": (["abs", "[{}]"], "dict"),
    "list that is not closed": (["abs", "[1.5"], "JSON list"),
    "list nested too deep": (["abs", "[" * 100_000], "nested too deep"),
    "integer of many digits": (["abs", f"[{'9' * 5000}]"], "5000 characters"),
    "integer outside Int32": (["neg", "[2147483648]"], "neg"),
    "scalar outside Int32": (["mul", "b.npy", "4294967296"], "4294967296"),
    "scalar of many digits": (["mul", "b.npy", "9" * 5000], "5000 characters"),
    "overflow": (["mul", "[1073741824]", "2"], "outside Int32"),
    "unknown attribute": (["reduce_sum", "a.npy", "--attr", "size=1"], "unknown attribute 'size'"),
    "attribute of elementwise": (["abs", "a.npy", "--attr", "axis=0"], "unknown attribute"),
    "attribute without a value": (["reduce_sum", "a.npy", "--attr", "axis"], "name=value"),
    "attribute that is no JSON": (["reduce_sum", "a.npy", "--attr", "axis=one"], "JSON"),
    "attribute of a wrong type": (["reduce_sum", "a.npy", "--attr", "axis=1.5"], "axis"),
    "attribute outside": (["reduce_sum", "a.npy", "--attr", "axis=1"], "rank 1"),
    "attribute given twice": (
        ["reduce_sum", "a.npy", "--attr", "axis=0", "--attr", "axis=0"],
        "given twice",
    ),
    "attribute missing": (["cumsum", "a.npy"], "'axis' is missing"),
    "attribute of many digits": (["cumsum", "a.npy", "--attr", f"axis={'9' * 5000}"], "5000"),
    "attribute nested too deep": (["cumsum", "a.npy", "--attr", f"axis={'[' * 100_000}"], "deep"),
    "attribute named operation": (["abs", "a.npy", "--attr", "operation=1"], "'operation'"),
    "attribute named policy": (["abs", "a.npy", "--attr", "policy=1"], "'policy'"),
    "attribute named backend": (["abs", "a.npy", "--attr", 'backend="cpu"'], "'backend'"),
    "output in no folder": (["abs", "a.npy", "-o", "no/out.npy"], "no folder for 'no/out.npy'"),
    "output that is a folder": (["abs", "a.npy", "-o", "folder"], "'folder' is a folder"),
}


@pytest.mark.rule("cli.run.refusals")
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(refused, files, name):
    arguments, says = BAD[name]
    before = names(files)
    refused("run", *arguments, says=says)
    if "-o" not in arguments:
        refused("run", *arguments, "-o", "out.npy", says=says)
    assert names(files) == before


@pytest.mark.rule("cli.run.no-pickle")
def test_operand_is_never_unpickled(refused, tmp_path):
    mark = tmp_path / "mark"

    class Bomb:
        def __reduce__(self):
            return Path.touch, (mark,)

    (tmp_path / "bomb.npy").write_bytes(pickle.dumps(Bomb()))
    refused("run", "abs", "bomb.npy", says="bomb.npy")
    assert not mark.exists()


@pytest.mark.rule("cli.run.whole-files")
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_full_disk_leaves_what_was_there(refused, files, monkeypatch, before):
    if before is not None:
        (files / "out.npy").write_bytes(before)
    present = names(files)

    class Full:
        def __init__(self, handle, mode):
            self.file = open(handle, mode)  # noqa: SIM115, PTH123 - closed in __exit__

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            self.file.close()

        def write(self, stored):
            self.file.write(stored[:7])
            self.file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files_module.os, "fdopen", Full)
    refused("run", "abs", "a.npy", "-o", "out.npy", says="No space left on device")
    assert names(files) == present
    if before is not None:
        assert (files / "out.npy").read_bytes() == before


@pytest.mark.rule("cli.run.whole-files")
def test_full_device_is_an_error_and_stays_a_device(refused, files):
    if not Path("/dev/full").is_char_device():
        pytest.skip("no /dev/full on this system")
    refused("run", "abs", files / "a.npy", "-o", "/dev/full", says="No space left on device")
    assert Path("/dev/full").is_char_device()


@pytest.mark.rule("cli.run.interrupt")
def test_interrupt_leaves_nothing(bittrue, files, monkeypatch):
    before = names(files)

    def interrupted(_self, _target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    said = bittrue("run", "abs", "a.npy", "-o", "out.npy")
    assert (said.status, said.out, said.err) == (130, "", "bittrue: interrupted\n")
    assert names(files) == before


@pytest.mark.rule("cli.run")
def test_command_does_what_the_library_does(bittrue, tmp_path):
    rng = np.random.default_rng(3)
    lhs, rhs = (rng.standard_normal((3, 3)).astype(np.float32) for _ in range(2))
    np.save(tmp_path / "lhs.npy", lhs)
    np.save(tmp_path / "rhs.npy", rhs)
    assert bittrue("run", "matmul", "lhs.npy", "rhs.npy", "-o", "out.npy").status == 0
    expected = library.run("matmul", lhs, rhs).numpy()
    assert np.load(tmp_path / "out.npy").tobytes() == expected.tobytes()
