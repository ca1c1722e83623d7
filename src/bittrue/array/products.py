"""Products of any rank: how `@` and einsum reach the one matrix product that has a row.

Belongs here: the array forms of `matmul`. Never here: arithmetic; each product of two matrices is
the operation `matmul`, whose contraction ascends. Clause: tensor-promotion, *Tensor-Tensor
Promotion*, with the conventions of the sheet: operands of einsum are combined pairwise from left to
right, each pair as a batched matmul over the row-major product of its contracted labels; a label of
one operand alone that nothing later needs is first summed by `reduce_sum`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bittrue._records import shown
from bittrue.dispatch import evaluate, execute, prepare
from bittrue.dtypes import SimpleDType
from bittrue.errors import RefusedTypeError, RefusedValueError
from bittrue.geometry import Shape, broadcast_shapes
from bittrue.policy import DEFAULT
from bittrue.providers import default_backends
from bittrue.tensor import Buffer, Stored, storage_of
from bittrue.tensor.buffer import AnyArray


def product_shape(lhs: Shape, rhs: Shape) -> Shape:
    """Return the shape of ``lhs @ rhs`` as the Array API has it; `ValueError` where they misfit.

    A 1-D operand is a row on the left, a column on the right, and its axis does not stay; leading
    axes broadcast.
    """
    if not lhs or not rhs:
        raise RefusedValueError(
            "matmul: shapes", f"{lhs} and {rhs}", "ranks of at least 1", "multiply with *"
        )
    contracted = rhs[0] if len(rhs) == 1 else rhs[-2]
    if lhs[-1] != contracted:
        raise RefusedValueError(
            "matmul: shapes", f"{lhs} and {rhs}", "equal contracted extents, [..., K] and [K, ...]"
        )
    batch = broadcast_shapes("matmul", (lhs[:-2], rhs[:-2]))
    return (*batch, *lhs[-2:-1], *(rhs[-1:] if len(rhs) > 1 else ()))


def product(
    lhs: Buffer,
    rhs: Buffer,
    *,
    accumulator_dtype: SimpleDType | None = None,
    in_place: bool = False,
    overlap_copy: bool = False,
) -> Buffer:
    """Return ``lhs @ rhs`` for operands of rank 1 or more.

    Raises as `product_shape`, and as `evaluate` does for dtypes without a row. The flags say what
    becomes of the result, for the logs of `record` blocks.
    """
    shape = product_shape(lhs.shape, rhs.shape)
    a = lhs.array[np.newaxis, :] if lhs.array.ndim == 1 else lhs.array
    b = rhs.array[:, np.newaxis] if rhs.array.ndim == 1 else rhs.array
    matmul = _Matmul(lhs.dtype, rhs.dtype, accumulator_dtype, in_place, overlap_copy)
    return Buffer(matmul.output, _batched(matmul, a, b).reshape(shape))


@dataclass(frozen=True, slots=True)
class _Matmul:
    """One `matmul` of two matrices, with its dtypes and options."""

    lhs: SimpleDType
    rhs: SimpleDType
    accumulator_dtype: SimpleDType | None = None
    in_place: bool = False
    overlap_copy: bool = False

    @property
    def output(self) -> SimpleDType:
        return DEFAULT.resolve(
            "matmul", self.lhs, self.rhs, accumulator_dtype=self.accumulator_dtype
        ).output

    def __call__(self, a: AnyArray, b: AnyArray) -> AnyArray:
        call = prepare(
            "matmul",
            (Stored(Buffer(self.lhs, a)), Stored(Buffer(self.rhs, b))),
            {},
            policy=DEFAULT,
            accumulator_dtype=self.accumulator_dtype,
        )
        return execute(
            call, default_backends(), in_place=self.in_place, overlap_copy=self.overlap_copy
        ).array


def _batched(matmul: _Matmul, a: AnyArray, b: AnyArray) -> AnyArray:
    """Multiply stacks of matrices, each pair by one `matmul`."""
    if b.ndim == 2:
        # One matrix on the right: the stack on the left is one tall matrix.
        tall = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return matmul(tall, b).reshape(*a.shape[:-1], b.shape[-1])
    batch = broadcast_shapes("matmul", (a.shape[:-2], b.shape[:-2]))
    a = np.broadcast_to(a, batch + a.shape[-2:])
    b = np.broadcast_to(b, batch + b.shape[-2:])
    out = np.empty((*batch, a.shape[-2], b.shape[-1]), storage_of(matmul.output).array)
    for index in np.ndindex(*batch):
        out[index] = matmul(a[index], b[index])
    return out


# --- einsum -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A buffer whose axes have labels, each label once."""

    buffer: Buffer
    labels: str

    def extent(self, label: str) -> int:
        return self.buffer.shape[self.labels.index(label)]

    def moved(self, labels: str) -> AnyArray:
        """Return the array with its axes in the order of `labels`."""
        return self.buffer.array.transpose([self.labels.index(label) for label in labels])


def einsum(
    subscripts: str, operands: tuple[Buffer, ...], *, accumulator_dtype: SimpleDType | None = None
) -> Buffer:
    """Sum products over labels, as ``"ij,jk->ik"`` names them.

    One letter an axis; without ``->`` the result has the labels that stand once, in alphabetical
    order. A label that one operand has twice takes its diagonal. Operands combine pairwise from
    left to right, each pair as a batched `matmul` over the row-major product of its contracted
    labels in the order of the left operand; labels of one operand alone that neither the result
    nor a later operand has are first summed by `reduce_sum`. Raises `ValueError` for subscripts
    that do not fit the operands, `TypeError` for subscripts that are no text, and as `matmul` and
    `reduce_sum` do for dtypes without a row.
    """
    inputs, output = _parsed(subscripts, operands)
    first, *rest = [
        _diagonal(operand, labels) for operand, labels in zip(operands, inputs, strict=True)
    ]
    _check_extents([first, *rest])
    result = first
    for position, operand in enumerate(rest):
        later = output + "".join(other.labels for other in rest[position + 1 :])
        result = _pair(
            _summed(result, operand.labels + later, accumulator_dtype),
            _summed(operand, result.labels + later, accumulator_dtype),
            later,
            accumulator_dtype,
        )
    result = _summed(result, output, accumulator_dtype)
    moved = result.moved(output)
    # One operand whose labels only move is still a fresh result, as every other one.
    return Buffer(result.buffer.dtype, moved.copy() if len(operands) == 1 else moved)


def _parsed(subscripts: object, operands: tuple[Buffer, ...]) -> tuple[list[str], str]:
    if not isinstance(subscripts, str):
        raise RefusedTypeError("einsum: subscripts", f"got {shown(subscripts)}", "a str")
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    every = "".join(inputs)
    if not arrow:
        output = "".join(sorted(label for label in set(every) if every.count(label) == 1))
    good = (
        all(label.isascii() and label.isalpha() for label in every + output)
        and len(inputs) == len(operands)
        and all(len(labels) == len(o.shape) for labels, o in zip(inputs, operands, strict=False))
        and len(set(output)) == len(output)
        and set(output) <= set(every)
    )
    if not good:
        raise RefusedValueError(
            "einsum: subscripts",
            f"{subscripts!r} for shapes {', '.join(str(o.shape) for o in operands)}",
            "one letter for each axis of each operand, and letters of theirs, once, in the result",
        )
    return inputs, output


def _diagonal(operand: Buffer, labels: str) -> _Labelled:
    """Take the diagonal of each label that stands more than once."""
    array = operand.array
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            one = labels.index(label)
            other = labels.index(label, one + 1)
            if array.shape[one] != array.shape[other]:
                raise RefusedValueError(
                    f"einsum: label {label!r}",
                    f"extents {array.shape[one]} and {array.shape[other]}",
                    "equal extents",
                )
            # NumPy puts the diagonal last.
            array = np.diagonal(array, axis1=one, axis2=other)
            labels = labels[:one] + labels[one + 1 : other] + labels[other + 1 :] + label
    return _Labelled(Buffer(operand.dtype, array), labels)


def _check_extents(operands: list[_Labelled]) -> None:
    extents: dict[str, int] = {}
    for operand in operands:
        for label in operand.labels:
            if extents.setdefault(label, operand.extent(label)) != operand.extent(label):
                raise RefusedValueError(
                    f"einsum: label {label!r}",
                    f"extents {extents[label]} and {operand.extent(label)}",
                    "equal extents",
                )


def _summed(operand: _Labelled, kept: str, accumulator: SimpleDType | None) -> _Labelled:
    """Sum over the labels that nothing else has."""
    axes = tuple(i for i, label in enumerate(operand.labels) if label not in kept)
    if not axes:
        return operand
    summed = evaluate(
        "reduce_sum", Stored(operand.buffer), axis=axes, accumulator_dtype=accumulator
    )
    return _Labelled(summed, "".join(label for label in operand.labels if label in kept))


def _pair(lhs: _Labelled, rhs: _Labelled, later: str, accumulator: SimpleDType | None) -> _Labelled:
    """Multiply two operands and contract the labels that both have and nothing later needs."""
    shared = [label for label in lhs.labels if label in rhs.labels]
    batch = "".join(label for label in shared if label in later)
    inner = "".join(label for label in shared if label not in later)
    rows = "".join(label for label in lhs.labels if label not in rhs.labels)
    columns = "".join(label for label in rhs.labels if label not in lhs.labels)
    matmul = _Matmul(lhs.buffer.dtype, rhs.buffer.dtype, accumulator)

    def extents(operand: _Labelled, labels: str) -> list[int]:
        return [operand.extent(label) for label in labels]

    stack = extents(lhs, batch)
    n, m = math.prod(extents(lhs, rows)), math.prod(extents(rhs, columns))
    k = math.prod(extents(lhs, inner))
    a = lhs.moved(batch + rows + inner)
    b = rhs.moved(batch + inner + columns)
    labels = batch + rows + columns
    shape = (*stack, *extents(lhs, rows), *extents(rhs, columns))
    if batch and not inner:
        return _Labelled(_products_of_one_term(lhs, rhs, matmul.output, (a, b), shape), labels)
    result = _batched(matmul, a.reshape(*stack, n, k), b.reshape(*stack, k, m))
    return _Labelled(Buffer(matmul.output, result.reshape(shape)), labels)


def _products_of_one_term(
    lhs: _Labelled,
    rhs: _Labelled,
    output: SimpleDType,
    arrays: tuple[AnyArray, AnyArray],
    shape: Shape,
) -> Buffer:
    """Multiply a stack of outer products at once.

    A contraction of one term is +0 plus the rounded product: `mul`, then `add` of +0. One `matmul`
    for each matrix of the stack gives the same bits and takes a call each.
    """
    a, b = arrays
    rows, columns = len(lhs.labels), len(rhs.labels)
    stack = rows + columns - len(shape)
    a = a.reshape(a.shape + (1,) * (columns - stack))
    b = b.reshape(b.shape[:stack] + (1,) * (rows - stack) + b.shape[stack:])
    terms = evaluate(
        "mul", Stored(Buffer(lhs.buffer.dtype, a)), Stored(Buffer(rhs.buffer.dtype, b))
    )
    zero = Stored(Buffer(output, np.zeros((), storage_of(output).array)))
    return evaluate("add", zero, Stored(terms))
