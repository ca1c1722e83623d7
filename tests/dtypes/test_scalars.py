"""The list of scalars that tensors hold, and what derives from it (promotion.md 1.2 and 9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import bittrue
from bittrue.dtypes import (
    EXTENDED_ENABLED,
    SCALARS,
    DType,
    SimpleDType,
    complex_of,
    component_of,
    encoding_of,
    is_complex,
    scalar_of,
)
from bittrue.tensor import Buffer, storage_of

# name: public name, component, supertype, bits, NumPy dtype, DLPack code
BASIC = {
    "Float32": ("float32", "Float32", "Floating", 32, "float32", 2),
    "Float64": ("float64", "Float64", "Floating", 64, "float64", 2),
    "Complex64": ("complex64", "Float32", "Complex", 64, "complex64", 5),
    "Complex128": ("complex128", "Float64", "Complex", 128, "complex128", 5),
    "Int32": ("int32", "Int32", "Integer", 32, "int32", 0),
    "Bool": ("bool_", "Bool", "Any", 8, "bool", 6),
}
EXTENDED = {
    "RealExtended": ("real_ext", "RealExtended", "Floating", 128, None, None),
    "ComplexExtended": ("complex_ext", "RealExtended", "Complex", 256, None, None),
}


def with_extended(script: str) -> object:
    """Run `script` where the extended pair is enabled; return the JSON that it prints."""
    run = subprocess.run(  # noqa: S603 - this interpreter, a script of this file
        [sys.executable, "-c", script],
        env={**os.environ, "BITTRUE_EXTENDED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


ROWS = """
import json, bittrue
from bittrue.dtypes import SCALARS
print(json.dumps({
    row.name: (row.public, row.component, row.dtype.supertype.name, row.dtype.bits, row.numpy,
               row.dlpack)
    for row in SCALARS if getattr(bittrue, row.public) is getattr(bittrue.DType, row.name)
}))
"""


@pytest.mark.skipif(EXTENDED_ENABLED, reason="the extended pair is enabled")
def test_the_list_holds_the_basic_scalars_and_the_public_names_come_from_it() -> None:
    found = {
        row.name: (
            row.public,
            row.component,
            getattr(row.dtype.supertype, "name", None),
            row.dtype.bits,
            row.numpy,
            row.dlpack,
        )
        for row in SCALARS
    }
    assert found == BASIC
    assert len(SCALARS) == 6
    for row in SCALARS:
        assert getattr(bittrue, row.public) is row.dtype is getattr(DType, row.name)
    assert not hasattr(bittrue, "real_ext")
    assert not hasattr(DType, "ComplexExtended")


def test_the_extended_pair_joins_the_list_where_it_is_enabled() -> None:
    found = with_extended(ROWS)
    assert found == {name: list(row) for name, row in (BASIC | EXTENDED).items()}


@pytest.mark.skipif(EXTENDED_ENABLED, reason="the extended pair is enabled")
def test_another_value_of_the_variable_does_not_enable_it() -> None:
    for value in ("", "0"):
        run = subprocess.run(
            [sys.executable, "-c", "import bittrue; assert not hasattr(bittrue, 'real_ext')"],
            env={**os.environ, "BITTRUE_EXTENDED": value},
            check=False,
        )
        assert run.returncode == 0


@pytest.mark.parametrize("name", BASIC)
def test_component_and_complex_of_each_scalar(name: str) -> None:
    dtype = SimpleDType.from_name(name)
    assert component_of(dtype).name == BASIC[name][1]
    assert is_complex(dtype) is (BASIC[name][2] == "Complex")
    if BASIC[name][2] in {"Floating", "Complex"}:
        assert component_of(complex_of(dtype)) is component_of(dtype)
        assert is_complex(complex_of(dtype))
    else:
        with pytest.raises(LookupError):
            complex_of(dtype)


def test_a_complex_dtype_is_a_pair_and_has_no_encoding_of_its_own() -> None:
    assert not DType.Complex64.is_subtype_of(DType.Floating)
    assert DType.Complex64.is_subtype_of(DType.Complex)
    assert DType.Complex.supertype is DType.Any
    with pytest.raises(LookupError):
        encoding_of(DType.Complex64)


def test_other_dtypes_are_no_scalars_of_tensors() -> None:
    assert scalar_of(DType.Float16) is None
    assert not is_complex(DType.E4M3)
    assert component_of(DType.BFloat16) is DType.BFloat16


@pytest.mark.parametrize("name", BASIC)
def test_storage_of_each_scalar_is_the_numpy_dtype_of_its_bits(name: str) -> None:
    row = storage_of(SimpleDType.from_name(name))
    assert row.array == np.dtype(BASIC[name][4])
    assert row.bits.itemsize == row.array.itemsize == BASIC[name][3] // 8


# dtype, elements as (real, imaginary) bits, bytes of the first element in memory
PARTS = {
    "Complex64": ([(0x3F800000, 0x80000000), (0x7F800001, 0xFFC12345)], "0000803f00000080"),
    "Complex128": (
        [(0x3FF0000000000000, 0x8000000000000000), (0x7FF0000000000001, 1)],
        "000000000000f03f0000000000000080",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_stored_complex_element_has_its_imaginary_part_above_the_real_one(name: str) -> None:
    """Signaling NaNs and payloads stay."""
    dtype = SimpleDType.from_name(name)
    pairs, first = PARTS[name]
    width = dtype.bits // 2
    elements = [real | imaginary << width for real, imaginary in pairs]
    buffer = Buffer.from_elements(dtype, (2,), elements)
    assert buffer.elements() == elements
    assert buffer.array.tobytes()[: dtype.bits // 8].hex() == first
    unsigned = np.dtype(f"u{width // 8}")
    assert buffer.array.view(unsigned).tolist() == [part for pair in pairs for part in pair]
    assert bittrue.asarray(buffer.array[::-1]).buffer.elements() == elements[::-1]


def test_lists_of_complex_numbers_and_arrays_become_complex_tensors() -> None:
    assert bittrue.asarray([1, 2.5, 1j]).dtype is DType.Complex64
    assert bittrue.asarray([1, 2.5, 1j]).tolist() == [1, 2.5, 1j]
    assert bittrue.asarray(1j).shape == ()
    assert bittrue.asarray(np.zeros(2, np.complex128)).dtype is DType.Complex128
    wide = np.array([complex(0.1, 1e39), complex(float("nan"), -1e-50)])
    stored = bittrue.asarray(wide, DType.Complex64).buffer.elements()
    assert stored == [0x7F800000_3DCCCCCD, 0x80000000_7FC00000]
    negative_nan = np.array([0xFFC12345, 0xFF812345], np.uint32).view(np.float32)
    assert bittrue.asarray(negative_nan, DType.Complex128).buffer.elements() == [0x7FF8 << 48] * 2
    with pytest.raises(TypeError):
        bittrue.asarray(wide, DType.Float64)
    with pytest.raises(TypeError):
        bittrue.asarray([1j], DType.Float32)


EXTENDED_STORAGE = """
import json, pickle, bittrue
from fractions import Fraction
import numpy as np
x = bittrue.asarray([Fraction(1, 3), -0.0, float("-inf"), float("nan"), 2**16383, 0.5],
                    bittrue.real_ext)
z = bittrue.asarray([[1 - 2j, 3]], bittrue.complex_ext)
back = bittrue.asarray(x.tolist(), bittrue.real_ext)
largest = bittrue.asarray([2**16384 - 2**16270 - 1], bittrue.real_ext)
refused = []
for attempt in (lambda: bittrue.asarray([2**16384 - 2**16270], bittrue.real_ext),
                lambda: bittrue.asarray(x.numpy()), lambda: bittrue.asarray(x, bittrue.float64)):
    try:
        attempt()
    except Exception as error:
        refused.append([c.__name__ for c in type(error).__mro__])
print(json.dumps({
    "bits": [f"{e:032x}" for e in x.buffer.elements()],
    "same": back.buffer.elements() == x.buffer.elements(),
    "pickled": pickle.loads(pickle.dumps(z)).buffer.elements() == z.buffer.elements(),
    "complex": [f"{e:064x}" for e in z.buffer.elements()],
    "shape": z.shape,
    "largest": f"{largest.buffer.elements()[0]:x}",
    "from_float64": [f"{e:x}" for e in
                     bittrue.asarray(np.array([0.1]), bittrue.real_ext).buffer.elements()],
    "refused": refused,
    "shown": "0.3333333333333333333333333333333333" in repr(x),
}))
"""


def test_buffers_hold_extended_elements() -> None:
    found = with_extended(EXTENDED_STORAGE)
    assert isinstance(found, dict)
    refused = found.pop("refused")
    assert found == {
        "bits": [
            "3ffd5555555555555555555555555555",
            "80000000000000000000000000000000",
            "ffff0000000000000000000000000000",
            "7fff8000000000000000000000000000",
            "7ffe0000000000000000000000000000",
            "3ffe0000000000000000000000000000",
        ],
        "same": True,
        "pickled": True,
        "complex": [
            "c0000000000000000000000000000000" + "3fff0000000000000000000000000000",
            "0" * 32 + "40008000000000000000000000000000",
        ],
        "shape": [1, 2],
        "largest": "7ffe" + "f" * 28,
        "from_float64": ["3ffb999999999999a000000000000000"],
        "shown": True,
    }
    overflow, nameless, narrowing = refused
    assert "OverflowError" in overflow
    assert "TypeError" in nameless
    assert "TypeError" in narrowing
