"""The tables of the requirement, typed by hand, and operands of every dtype."""

import numpy as np
import pytest

import bittrue

TENSOR_TENSOR = """
    float32    float32    float32
    float32    float64    float64
    float32    complex64  complex64
    float32    complex128 complex128
    float64    float64    float64
    float64    complex64  complex128
    float64    complex128 complex128
    complex64  complex64  complex64
    complex64  complex128 complex128
    complex128 complex128 complex128
"""
"""Left, right, result: tensor-promotion, Tensor-Tensor Promotion. The table is symmetric."""

TENSOR_SCALAR = """
    float32    int float          float32
    float32    complex            complex64
    float64    int float          float64
    float64    complex            complex128
    complex64  int float complex  complex64
    complex128 int float complex  complex128
"""
"""Tensor, kinds of Python scalars, result: tensor-promotion, Python Scalars."""

SCALARS = {"int": 3, "float": 1.5, "complex": 2j}


def _pairs():
    for line in TENSOR_TENSOR.split("\n"):
        if line.strip():
            left, right, result = line.split()
            yield left, right, result
            if left != right:
                yield right, left, result


def _scalars():
    for line in TENSOR_SCALAR.split("\n"):
        if line.strip():
            tensor, *kinds, result = line.split()
            for kind in kinds:
                yield tensor, kind, result


PAIRS = tuple(_pairs())
SCALAR_PAIRS = tuple(_scalars())
FLOATS = ("float32", "float64", "complex64", "complex128")


def pytest_generate_tests(metafunc):
    """Run a test that names `pair` or `scalar_pair` once a row of the table."""
    for fixture, rows in (("pair", PAIRS), ("scalar_pair", SCALAR_PAIRS)):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, rows, ids=["-".join(row) for row in rows])


def tensor(name, values=(1.0, 2.0, -3.0)):
    """Return a fresh tensor of the dtype of a public name."""
    dtype = getattr(bittrue, name)
    return bittrue.asarray(list(values), dtype)


@pytest.fixture(name="tensor")
def tensor_fixture():
    return tensor


@pytest.fixture
def bits():
    """Return the bytes of a tensor, in logical order."""

    def read(x):
        return np.ascontiguousarray(x.buffer.array).tobytes()

    return read


@pytest.fixture
def scalars():
    return SCALARS
