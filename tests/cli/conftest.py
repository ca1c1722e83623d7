"""The command line in this process: its status and what it says on either stream."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from bittrue.cli.main import main


@dataclass(frozen=True)
class Said:
    """What a command said."""

    status: int
    out: str
    err: str


@pytest.fixture
def bittrue(capsys, monkeypatch, tmp_path):
    """Return a runner of commands; the working folder is an empty one."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as left:  # argparse leaves by itself
            status = left.code
        return Said(status, *capsys.readouterr())

    return run


@pytest.fixture
def refused(bittrue):
    """Return a runner of commands that must be refused: status 2, one line, nothing else."""

    def run(*arguments, says):
        said = bittrue(*arguments)
        assert said.status == 2, said
        assert said.out == ""
        assert re.fullmatch(r"bittrue( \w+)?: error: [^\n]+\n", said.err), said.err
        assert says in said.err
        return said.err

    return run


@pytest.fixture
def files(tmp_path):
    """Write arrays and damaged files into the working folder."""
    np.save(tmp_path / "a.npy", np.array([1.5, -0.0, np.inf], np.float32))
    np.save(tmp_path / "b.npy", np.array([2, 3, -4], np.int32))
    np.save(tmp_path / "wide.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "half.npy", np.array([1.0, 2.0], np.float16))
    np.save(tmp_path / "words.npy", np.array(["one", "two"]))
    np.save(tmp_path / "objects.npy", np.array([{}, None], object), allow_pickle=True)
    np.savez(tmp_path / "several.npz", a=np.zeros(2), b=np.zeros(2))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-5])
    (tmp_path / "text.npy").write_text("not an array\n")
    (tmp_path / "empty.npy").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path
