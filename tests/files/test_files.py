"""Files: nothing is unpickled, and a file is written whole or not at all."""

import errno
import io
import os
import pickle
import stat
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bittrue.errors import RefusedValueError
from bittrue.files import read_array, write_array, write_text, write_whole

VALUES = np.array([[1.5, -0.0], [np.inf, 1e-45]], np.float32)


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.rule("files.read")
@pytest.mark.parametrize(
    "array",
    [
        VALUES,
        np.array(3, np.int32),
        np.zeros((0, 3), np.bool_),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.array([0x7F800001, 0xFFC00001], np.uint32).view(np.float32),
    ],
    ids=["float32", "rank 0", "empty", "column order", "NaN payloads"],
)
def test_array_comes_back_bit_for_bit(tmp_path, array):
    path = str(tmp_path / "a.npy")
    write_array(path, array)
    read = read_array(path)
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()


class Bomb:
    """Running this leaves a mark: what an unpickled file may do."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def npy_of(header: str, body: bytes = b"") -> bytes:
    """Write a `.npy` file of version 1 by hand."""
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=VALUES, b=VALUES)
    return file.getvalue()


def empty_zip() -> bytes:
    file = io.BytesIO()
    zipfile.ZipFile(file, "w").close()
    return file.getvalue()


DAMAGED = {
    "empty": b"",
    "no array": b"hello, world\n",
    "magic alone": b"\x93NUMPY",
    "unknown version": b"\x93NUMPY\x09\x00" + stored(VALUES)[8:],
    "cut in the header": stored(VALUES)[:40],
    "cut in the elements": stored(VALUES)[:-1],
    "no elements": stored(VALUES)[:128],
    "header of other things": npy_of("{'descr': '<f4'}"),
    "header that is no literal": npy_of("__import__('os').getpid()"),
    "header nested deep": npy_of("(" * 5000 + ")" * 5000),
    "header of no syntax": npy_of("{'descr': "),
    "unknown dtype": npy_of("{'descr': '<q9', 'fortran_order': False, 'shape': (1,)}", bytes(9)),
    "more elements than memory": npy_of(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1125899906842624,)}", bytes(8)
    ),
    "more elements than integers": npy_of(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (36893488147419103232,)}", bytes(8)
    ),
    "damaged archive": b"PK\x03\x04" + b"\xff" * 60,
    "archive": archive(),
    "empty archive": empty_zip(),
}


@pytest.mark.rule("files.read.refusals")
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_file_is_refused_by_its_name(tmp_path, name):
    path = tmp_path / "a.npy"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(RefusedValueError, match=r"a\.npy: .*; expected a \.npy array") as caught:
        read_array(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.rule("files.read.no-pickle")
@pytest.mark.parametrize("kind", ["object array", "pickle", "structured"])
def test_nothing_is_unpickled(tmp_path, kind):
    mark, path = tmp_path / "mark", tmp_path / "a.npy"
    bomb = Bomb(mark)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(bomb))
    else:
        boxed = np.empty(1, object if kind == "object array" else [("x", object)])
        boxed[0] = bomb if kind == "object array" else (bomb,)
        np.save(path, boxed, allow_pickle=True)
    with pytest.raises(RefusedValueError):
        read_array(str(path))
    assert not mark.exists()
    np.load(path, allow_pickle=True)
    assert mark.exists(), "the file was no bomb"


@pytest.mark.rule("files.read.refusals")
def test_path_that_cannot_be_read_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_array(str(tmp_path / "missing.npy"))
    with pytest.raises(IsADirectoryError):
        read_array(str(tmp_path))


@pytest.mark.rule("files.read")
def test_header_of_python_2_is_read_without_a_warning(tmp_path):
    path = tmp_path / "a.npy"
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }"
    path.write_bytes(npy_of(header, np.array([1, 2], np.float32).tobytes()))
    assert read_array(str(path)).tolist() == [1.0, 2.0]


# --- writing --------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.rule("files.write.whole")
@pytest.mark.parametrize("before", [None, b"what was there"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()]
)
def test_failed_write_leaves_what_was_there(tmp_path, before, error):
    path = tmp_path / "out.npy"
    if before is not None:
        path.write_bytes(before)

    def write(file):
        file.write(b"half of it")
        file.flush()
        assert len(names(tmp_path)) == 1 + (before is not None)
        raise error

    with pytest.raises(type(error)):
        write_whole(str(path), write)
    assert names(tmp_path) == ([] if before is None else ["out.npy"])
    if before is not None:
        assert path.read_bytes() == before


@pytest.mark.rule("files.write.whole")
@pytest.mark.parametrize("function", ["replace", "chmod"])
def test_failed_rename_leaves_nothing(tmp_path, monkeypatch, function):
    def fail(*_arguments):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, function, fail)
    with pytest.raises(OSError, match="Input/output error"):
        write_text(str(tmp_path / "out.txt"), "text")
    assert names(tmp_path) == []


@pytest.mark.rule("files.write.whole")
def test_destination_shows_all_or_nothing_while_it_is_written(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    seen = []

    def write(file):
        for part in (b"new ", b"text"):
            file.write(part)
            file.flush()
            seen.append(path.read_text())

    write_whole(str(path), write)
    assert seen == ["old", "old"]
    assert path.read_text() == "new text"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.rule("files.write.refusals")
def test_destination_without_a_folder_or_that_is_one_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_text(str(tmp_path / "missing" / "out.txt"), "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_text(str(tmp_path / "folder"), "text")
    assert names(tmp_path) == ["folder"]


@pytest.mark.rule("files.write.mode")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_new_file_has_the_mode_of_an_ordinary_one(tmp_path, umask, mode):
    path = tmp_path / "out.txt"
    before = os.umask(umask)
    try:
        write_text(str(path), "text")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.rule("files.write.links")
def test_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "out.txt"
    link.symlink_to(tmp_path / "real" / "out.txt")
    for text in ("first", "second"):
        write_text(str(link), text)
        assert link.is_symlink()
        assert (tmp_path / "real" / "out.txt").read_text() == text
    assert names(tmp_path / "real") == ["out.txt"]


@pytest.mark.rule("files.write.devices")
def test_device_is_written_to_and_stays_one():
    """A rename would put a file in the place of the device."""
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("no /dev/full on this system")
    write_text("/dev/null", "text")
    with pytest.raises(OSError, match="No space left") as caught:
        write_array(str(full), VALUES)
    assert caught.value.errno == errno.ENOSPC
    assert full.is_char_device()
    assert Path("/dev/null").is_char_device()


@pytest.mark.rule("files.write.devices")
def test_array_goes_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_array(str(pipe), VALUES)
        assert os.read(reader, 4096) == stored(VALUES)
    finally:
        os.close(reader)


@pytest.mark.rule("files.write")
def test_text_is_utf_8(tmp_path):
    write_text(str(tmp_path / "out.txt"), "2⁻²⁴ é\n")
    assert (tmp_path / "out.txt").read_bytes() == "2⁻²⁴ é\n".encode()
