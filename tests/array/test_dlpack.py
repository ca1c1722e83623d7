"""DLPack: memory shared both ways, bit for bit, and every refusal of the protocol."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest

import bittrue
from bittrue import DType, asarray

F32 = DType.Float32

TABLE = [
    # NumPy        code bits
    ("float32",    2, 32),
    ("float64",    2, 64),
    ("complex64",  5, 64),
    ("complex128", 5, 128),
    ("int32",      0, 32),
    ("bool",       6, 8),
]  # fmt: skip
"""Dtypes of the exchange and their DLPack codes, typed from the sheet."""

READ_ONLY, COPIED = 1, 2


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


class Opened(NamedTuple):
    """What a capsule said while it lived; no flags before version 1.0."""

    name: bytes
    flags: int | None
    data: int
    device: tuple[int, int]
    type: tuple[int, int, int]
    shape: list[int]
    strides: list[int]


def opened(capsule):
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = (ctypes.py_object,)
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    name = api.PyCapsule_GetName(capsule)
    pointer = api.PyCapsule_GetPointer(capsule, name)
    flags = None
    if name == b"dltensor":
        tensor = DLTensor.from_address(pointer)
    else:
        managed = Versioned.from_address(pointer)
        assert managed.major == 1
        tensor, flags = managed.tensor, managed.flags
    return Opened(
        name,
        flags,
        tensor.data + tensor.byte_offset,
        (tensor.device_type, tensor.device_id),
        (tensor.code, tensor.bits, tensor.lanes),
        tensor.shape[: tensor.ndim],
        tensor.strides[: tensor.ndim],
    )


def read_only(values=(1.0, 2.0)):
    array = np.array(values, np.float32)
    array.flags.writeable = False
    return bittrue.from_numpy(array)


class Exporter:
    """Exports an array through the keywords that a given version of the protocol knows."""

    def __init__(self, array, *, versioned=True, device=(1, 0)):
        self.array, self.versioned, self.device = array, versioned, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **keywords):
        if not self.versioned:
            keywords.pop("max_version", None)
        return self.array.__dlpack__(**keywords)


@pytest.mark.rule("promotion.9.dlpack")
@pytest.mark.parametrize(("name", "code", "width"), TABLE)
@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 1), (2, 0)])
def test_type_codes_and_memory(name, code, width, max_version):
    x = asarray(np.array([[0, 1], [1, 0], [1, 1]], name))[::2, 1:]
    exported = opened(x.__dlpack__(max_version=max_version))
    assert exported.type == (code, width, 1)
    assert exported.device == x.__dlpack_device__() == (1, 0)
    assert exported.data == x.buffer.array.ctypes.data
    assert (exported.shape, exported.strides) == ([2, 1], [4, 1])
    new = max_version is not None and max_version[0] >= 1
    assert exported.name == (b"dltensor_versioned" if new else b"dltensor")
    assert exported.flags == (0 if new else None)


@pytest.mark.rule("promotion.9.dlpack")
@pytest.mark.parametrize(("name", "code", "width"), TABLE)
def test_numpy_shares_memory_both_ways(name, code, width):
    x = asarray(np.array([0, 1, 1, 0], name), copy=True)
    array = np.from_dlpack(x[::2])
    assert array.dtype == name
    assert array.tolist() == x[::2].tolist()
    array[0] = 1
    assert x[0].item() == 1
    x[2] = x[3]
    assert array[1] == 0
    y = bittrue.from_dlpack(array)
    assert y.dtype is x.dtype
    y[1] = x[1]
    assert x[2].item() == 1
    assert y.writable
    assert opened(y.__dlpack__()).type == (code, width, 1)


@pytest.mark.rule("promotion.9.payloads")
def test_payloads_survive_both_directions():
    patterns = [0x7F80_0001, 0xFFC1_2345, 0x8000_0000, 0x0000_0001]
    array = np.array(patterns, np.uint32).view(np.float32)
    x = bittrue.from_dlpack(array)
    assert x.buffer.elements() == patterns
    assert np.from_dlpack(x).view(np.uint32).tolist() == patterns
    assert np.from_dlpack(x, copy=True).view(np.uint32).tolist() == patterns
    assert bittrue.from_numpy(array).buffer.elements() == patterns
    assert np.asarray(x).view(np.uint32).tolist() == patterns


@pytest.mark.rule("promotion.9.copy")
def test_copy_as_asked_for():
    x = asarray([1.0, 2.0])
    exported = opened(x.__dlpack__(max_version=(1, 0), copy=True))
    assert exported.flags == COPIED
    assert exported.data != x.buffer.array.ctypes.data
    for copy in (None, False):
        exported = opened(x.__dlpack__(max_version=(1, 0), copy=copy))
        assert exported.flags == 0
        assert exported.data == x.buffer.array.ctypes.data
    array = np.ones(2, np.float32)
    assert not np.shares_memory(bittrue.from_dlpack(array, copy=True).buffer.array, array)
    for copy in (None, False):
        assert np.shares_memory(bittrue.from_dlpack(array, copy=copy).buffer.array, array)


@pytest.mark.rule("promotion.9.copy")
def test_memory_that_dlpack_cannot_describe_is_copied_or_refused():
    record = np.zeros(3, np.dtype([("x", "f4"), ("flag", "i1")]))
    record["x"] = [1.0, 2.0, 3.0]
    unaligned = np.frombuffer(bytearray(b"x" + np.ones(3, np.float32).tobytes()), np.float32, 3, 1)
    for array in (record["x"], unaligned):
        x = bittrue.from_numpy(array)
        exported = opened(x.__dlpack__(max_version=(1, 0)))
        assert exported.flags == COPIED
        assert exported.data % 4 == 0
        assert np.from_dlpack(x).tolist() == array.tolist()
        with pytest.raises(BufferError):
            x.__dlpack__(copy=False)
        with pytest.raises(BufferError):
            np.from_dlpack(x, copy=False)


@pytest.mark.rule("promotion.9.read-only")
def test_read_only_memory_is_signalled_or_refused():
    x = read_only()
    assert opened(x.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert not np.from_dlpack(x).flags.writeable
    for keywords in ({}, {"max_version": (0, 8)}, {"copy": False}):
        with pytest.raises(BufferError):
            x.__dlpack__(**keywords)
    assert opened(x.__dlpack__(copy=True)).name == b"dltensor"
    assert opened(x.__dlpack__(max_version=(1, 0), copy=True)).flags == COPIED
    imported = bittrue.from_dlpack(Exporter(np.asarray(x)))
    assert not imported.writable
    with pytest.raises(ValueError, match="read-only"):
        imported += 1.0
    # An exporter before version 1.0 cannot say that memory may be written.
    unversioned = bittrue.from_dlpack(Exporter(np.ones(2, np.float32), versioned=False))
    assert not unversioned.writable
    assert bittrue.from_dlpack(Exporter(np.asarray(x)), copy=True).writable


@pytest.mark.rule("promotion.9.refused")
def test_exports_that_are_refused():
    x = asarray([1.0])
    for keywords in ({"dl_device": (2, 0)}, {"dl_device": (1, 1)}):
        with pytest.raises(BufferError):
            x.__dlpack__(**keywords)
    assert opened(x.__dlpack__(dl_device=(1, 0))).name == b"dltensor"
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)


@pytest.mark.rule("promotion.9.refused")
def test_imports_that_are_refused():
    for array in (np.zeros(2, np.int64), np.zeros(2, np.float16), np.zeros(2, np.uint8)):
        with pytest.raises(BufferError):
            bittrue.from_dlpack(array)
    with pytest.raises(BufferError):
        bittrue.from_dlpack(np.zeros(2, ">f4"))
    with pytest.raises(BufferError, match="device"):
        bittrue.from_dlpack(Exporter(np.ones(2, np.float32), device=(2, 0)))
    for other in (1.0, [1.0], None):
        with pytest.raises(TypeError):
            bittrue.from_dlpack(other)
    with pytest.raises(ValueError, match="device"):
        bittrue.from_dlpack(np.ones(2, np.float32), device="gpu")


@pytest.mark.rule("promotion.9.lifetime")
def test_shared_memory_outlives_its_owner():
    array = np.from_dlpack(asarray(np.arange(1000, dtype=np.float32), copy=True))
    assert array.sum() == 499_500
    x = bittrue.from_dlpack(np.arange(1000, dtype=np.float32))
    assert x[999].item() == 999.0
    # Capsules that nobody consumes free their memory too.
    for _ in range(100):
        asarray([1.0]).__dlpack__(max_version=(1, 0))


@pytest.mark.rule("promotion.9.asarray")
def test_asarray_reads_objects_that_export_dlpack():
    array = np.array([1.0, 2.0], np.float32)
    x = asarray(Exporter(array))
    assert np.shares_memory(x.buffer.array, array)
    assert asarray(Exporter(array), DType.Float64).tolist() == [1.0, 2.0]
    assert not np.shares_memory(asarray(Exporter(array), copy=True).buffer.array, array)


@pytest.mark.peers
@pytest.mark.rule("promotion.9.torch")
@pytest.mark.parametrize(("name", "code", "width"), TABLE)
def test_torch_shares_memory_both_ways(name, code, width):
    torch = pytest.importorskip("torch")
    del code, width
    x = asarray(np.array([[0, 1], [1, 0]], name), copy=True)
    there = torch.from_dlpack(x.T)
    assert str(there.dtype) == f"torch.{name}"
    assert there.stride() == (1, 2)
    assert there.tolist() == x.T.tolist()
    there[0, 0] = 1
    assert x[0, 0].item() == 1
    back = bittrue.from_dlpack(there)
    assert back.dtype is x.dtype
    assert back.buffer.array.ctypes.data == x.buffer.array.ctypes.data
    assert bittrue.from_dlpack(torch.ones(2, dtype=there.dtype)).tolist() == [1, 1]
    assert asarray(there).tolist() == x.T.tolist()


@pytest.mark.peers
@pytest.mark.rule("promotion.9.torch")
def test_torch_tensors_that_are_refused():
    torch = pytest.importorskip("torch")
    for dtype in (torch.int64, torch.float16, torch.bfloat16, torch.uint8):
        with pytest.raises(BufferError):
            bittrue.from_dlpack(torch.zeros(2, dtype=dtype))
    # A pending conjugate has no memory of its own to share: its exporter says so.
    with pytest.raises(BufferError):
        bittrue.from_dlpack(torch.ones(2, dtype=torch.complex64).conj())
    resolved = torch.ones(2, dtype=torch.complex64).conj().resolve_conj()
    assert bittrue.from_dlpack(resolved).tolist() == [1 - 0j, 1 - 0j]
