"""Tensors of the extended pair, in a process where it is enabled."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import copy, json, pickle
import numpy as np
import bittrue as bt
from bittrue import array_api as xp

rx, cx, f64 = bt.real_ext, bt.complex_ext, bt.float64
found = {}
third = bt.ones(3, dtype=rx) / 3
found["dtypes"] = [
    (x.dtype.name) for x in (
        third + bt.ones(3), third * bt.ones(3, dtype=f64), third * 2, third * 2j,
        bt.ones(3, dtype=bt.complex128) + third, third + bt.ones(3, dtype=cx),
    )
]
x = bt.zeros((2, 3), dtype=rx)
held, address = x.buffer, x.buffer.array.ctypes.data
x[0] = third
x[1] = 0.5
x += x[0]
x *= bt.ones(3, dtype=f64)
found["in_place"] = x is not None and x.buffer is held and x.buffer.array.ctypes.data == address
found["values"] = [float(v) for v in x.reshape(-1).tolist()]
found["exact"] = (third * 3 == 1).tolist()


def refused(function):
    try:
        function()
    except Exception as error:
        return [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][0]
    return "nothing"


def update(target, other):
    target += other


f = bt.ones(3, dtype=f64)
found["refused"] = [
    refused(lambda: update(f, third)), refused(lambda: update(x, 1j)),
    refused(lambda: f.assign(third)), refused(lambda: third.__dlpack__()),
    refused(lambda: np.asarray(third)), refused(lambda: third.numpy()),
    refused(lambda: third + bt.asarray([1, 2, 3])), refused(lambda: third.astype(bt.int32)),
    refused(lambda: third.broadcast_to((2, 3)).__iadd__(1)),
]
found["narrow"] = f.assign(third, narrow=True).tolist()
found["casts"] = [
    third.astype(f64).tolist()[0], (third * 9).astype(bt.int32, truncate=True).tolist()[0],
    (third * 0).astype(bt.bool_).tolist()[0], bt.asarray([True]).astype(rx).astype(f64).item(),
    third.astype(cx).astype(bt.complex128)[0].item().real,
]
found["views"] = [
    list(x.T.shape), float(x.T[2, 1].item()), float(x[bt.asarray([1, 0])][0, 0].item()),
    x[bt.asarray([[True, False, True], [False, False, False]])].size,
    [float(v) for v in bt.eye(2, dtype=rx).reshape(-1).tolist()],
    [float(v) for v in bt.linspace(0, 1, 3, dtype=rx).tolist()],
    complex(bt.linspace(0, 1j, 3, dtype=cx)[1]).imag,
]
found["copies"] = [
    bool((y == x).buffer.array.all()) and y.writable and y is not x
    for y in (x.copy(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)))
]
special = bt.asarray([float("nan"), float("inf"), -0.0, 1.0], rx)
found["predicates"] = [
    getattr(xp, name)(special).tolist() for name in ("isnan", "isinf", "isfinite", "signbit")
]
found["nonzero"] = xp.nonzero(special)[0].tolist()
found["repr"] = repr(third[0])
found["products"] = [float(v) for v in (x @ x.T).reshape(-1).tolist()]
print(json.dumps(found))
"""


@pytest.mark.rule("promotion.extended")
def test_the_extended_pair_joins_the_lattice_and_every_form():
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "BITTRUE_EXTENDED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dtypes"] == ["RealExtended"] * 3 + ["ComplexExtended"] * 3
    assert found["in_place"]
    assert found["values"] == [2 / 3] * 3 + [5 / 6] * 3
    assert found["exact"] == [True, True, True]
    assert found["refused"] == [
        "TypeError", "TypeError", "TypeError", "BufferError", "TypeError", "TypeError",
        "TypeError", "TypeError", "ValueError",
    ]  # fmt: skip
    assert found["narrow"] == [1 / 3] * 3
    assert found["casts"] == [1 / 3, 3, False, 1.0, 1 / 3]
    assert found["views"] == [
        [3, 2], 5 / 6, 5 / 6, 2, [1.0, 0.0, 0.0, 1.0], [0.0, 0.5, 1.0], 0.5,
    ]  # fmt: skip
    assert found["copies"] == [True, True, True]
    assert found["predicates"] == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, True],
        [False, False, True, False],
    ]
    assert found["nonzero"] == [0, 1, 3]
    assert found["repr"].startswith("Tensor(0.3333333333333333333333333333333333")
    assert found["products"] == [4 / 3, 5 / 3, 5 / 3, 25 / 12]
