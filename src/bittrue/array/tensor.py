"""Tensor: what users hold. Arithmetic by the one dispatch, views of one storage.

Belongs here: the class, each operator and method in a line or two. Never here: a dtype decision
(`policy`) nor arithmetic (the backends); what takes more than a few lines is a module of this
package. Clause: tensor-promotion.
"""

from __future__ import annotations

import importlib
import numbers
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from bittrue._records import shown
from bittrue.array import inplace, logic, shapes
from bittrue.array.casting import cast
from bittrue.array.indexing import array_key, element_view
from bittrue.array.interchange import CPU, capsule_of
from bittrue.array.products import product
from bittrue.diagnostics import DEVICE
from bittrue.dispatch import evaluate
from bittrue.dtypes import DType, SimpleDType
from bittrue.errors import PromotionError, RefusedTypeError, RefusedValueError
from bittrue.scalars import scalar_value
from bittrue.tensor import Buffer, Stored, buffer_of, storage_of
from bittrue.tensor.buffer import AnyArray

_SHOWN = 1000
"""Elements beyond which a repr is shortened."""

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""Versions of the Array API whose names and meanings the namespace follows."""

_PLAIN = frozenset({int, float, bool, complex})


def _is_operand(other: object, operation: str) -> bool:
    """Tell whether `other` takes part in operators: a tensor, a number, a typed value of rank 0.

    Raises `TypeError` for an array of higher rank, which becomes a tensor only by name.
    """
    if isinstance(other, Stored) or type(other) in _PLAIN:
        return True
    # Before the Python numbers: np.float64 is a float, and typed all the same.
    if isinstance(other, np.ndarray) and other.ndim:
        raise RefusedTypeError(
            operation,
            f"got a NumPy array of rank {other.ndim}",
            "a tensor, a Python number, or a NumPy value of rank 0",
            "make it a tensor: asarray(x) or from_numpy(x)",
        )
    return isinstance(other, np.ndarray | np.generic | numbers.Complex)


def _require_operand(other: object, operation: str) -> None:
    if not _is_operand(other, operation):
        raise RefusedTypeError(
            operation, f"got {shown(other)}", "a tensor, a Python number or a NumPy value of rank 0"
        )


def _binary(operation: str, lhs: object, rhs: object, other: object) -> Tensor:
    if type(other) is Tensor or _is_operand(other, operation):
        return Tensor(evaluate(operation, lhs, rhs))
    return NotImplemented  # type: ignore[no-any-return]


def _typed(subject: str, operand: object) -> Buffer:
    """Return the buffer of a typed operand; `TypeError` for a Python number."""
    if isinstance(operand, Stored):
        return operand.buffer
    if isinstance(operand, np.ndarray | np.generic):
        return buffer_of(operand, copy=False)
    raise RefusedTypeError(subject, f"got {shown(operand)}", "a tensor")


def _truth(subject: str, operand: object) -> Buffer:
    """Return the buffer of a typed operand or of a Python bool."""
    return buffer_of(operand) if isinstance(operand, bool) else _typed(subject, operand)


def _compared(operation: str, lhs: object, rhs: object, other: object) -> Tensor:
    # Never NotImplemented: Python would compare identities and answer with a bool.
    _require_operand(other, operation)
    return Tensor(evaluate(operation, lhs, rhs))


class Tensor(Stored):
    """A tensor of elements of one dtype, on the host.

    Build one with `asarray`, `zeros` and the like, `from_numpy` or `from_dlpack`; results of
    operations are fresh tensors. `shape` counts elements along each axis. Indexing without tensors,
    `reshape` where it can, transposes and `broadcast_to` are views: they share memory.

    **Operators** run the operation of their name under `bittrue.DEFAULT`: ``+ - * / // % ** @``,
    ``== != < <= > >=``, ``-x``, ``abs(x)``; ``& | ^ ~`` connect Bool tensors. The other operand is
    a tensor, a Python number (weak: it acquires no dtype) or a NumPy scalar or rank-0 array
    (typed); an array of higher rank needs `asarray`. Comparisons give Bool tensors and raise where
    no row exists; equality of tensors as objects is ``is``, and `hash` goes by identity.

    **In-place operators** keep the object, its dtype and its memory, or raise: `TypeError` where
    the result has another dtype, `ValueError` where it has another shape, for read-only memory and
    for a view whose elements share memory; then no element has changed. Operands that overlap the
    target are read first.

    Clauses: tensor-promotion, *Tensor-Tensor Promotion*, *Python Scalars*, *In-Place Arithmetic*.
    """

    __slots__ = ("__weakref__",)

    # NumPy's operators leave a Tensor on their right to the reflected operators here.
    __array_ufunc__: ClassVar[None] = None
    __hash__ = object.__hash__

    # --- what it is -------------------------------------------------------------------------

    @property
    def dtype(self) -> SimpleDType:
        """Descriptor of the elements."""
        return self._buffer.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._buffer.array.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._buffer.array.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._buffer.array.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbours along each axis, in bytes."""
        return self._buffer.array.strides

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take."""
        return self._buffer.array.nbytes

    @property
    def device(self) -> str:
        """Where the elements lie: ``"cpu"``."""
        return DEVICE

    @property
    def writable(self) -> bool:
        """Whether elements may be written in place: not in a view of read-only memory."""
        return self._buffer.array.flags.writeable and not inplace.overlaps_itself(
            self._buffer.array
        )

    def to_device(self, device: str, /, *, stream: None = None) -> Tensor:
        """Return the tensor itself for ``"cpu"``; `ValueError` for any other device or a stream."""
        shapes.check_device(device)
        if stream is not None:
            raise RefusedValueError("to_device: stream", shown(stream), "None")
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise RefusedTypeError("len", "a tensor of rank 0 has no length", "rank 1 or more")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return bool(evaluate("eq", self, value).array.any())

    def __repr__(self) -> str:
        array = self._buffer.array
        if array.dtype.kind == "V":
            # NumPy would print the words of an extended element.
            numbers_ = [scalar_value(bits, self.dtype) for bits in self._buffer.elements()]
            array = np.array([*numbers_, None], object)[:-1].reshape(self.shape)
        text = np.array2string(
            array, separator=", ", prefix="Tensor(", threshold=_SHOWN, formatter={"object": str}
        )
        return f"Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"

    # --- elements in other forms --------------------------------------------------------------

    def tolist(self) -> Any:
        """Return nested lists of Python numbers or bools; the bare element for rank 0.

        A signaling NaN becomes a plain one; an extended element a number of gmpy2.
        """
        elements = iter([scalar_value(bits, self.dtype) for bits in self._buffer.elements()])

        def nested(shape: tuple[int, ...]) -> Any:
            if not shape:
                return next(elements)
            return [nested(shape[1:]) for _ in range(shape[0])]

        return nested(self.shape)

    def item(self) -> Any:
        """Return the only element as a Python number or bool; `ValueError` for another count.

        The explicit transfer of a result: no operation returns a Python number by itself.
        """
        if self.size != 1:
            raise RefusedValueError(
                "item", f"{self.size} elements in shape {self.shape}", "one element"
            )
        return scalar_value(self._buffer.elements()[0], self.dtype)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype is not DType.Int32:
            raise RefusedTypeError("index", f"a tensor of {self.dtype.name}", "one of Int32")
        index: int = self.item()
        return index

    def numpy(self) -> AnyArray:
        """Return a NumPy array of the same bits, a copy; ``np.asarray(x)`` is a view.

        Raises `TypeError` for a dtype that NumPy lacks.
        """
        return self.__array__(copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:  # noqa: FBT001 - NumPy's protocol
        array = self._buffer.array
        if array.dtype.kind == "V":
            raise RefusedTypeError(
                "array", f"NumPy has no dtype of {self.dtype.name}", "a dtype of the table"
            )
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise RefusedValueError(
                    "array", f"{self.dtype.name} as {np.dtype(dtype)} needs a copy", "copy=None"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return capsule_of(
            self._buffer, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        # By name: the namespace stands above this class and is made of functions on it.
        if api_version not in (None, *API_VERSIONS):
            raise RefusedValueError(
                "__array_namespace__: api_version", repr(api_version), ", ".join(API_VERSIONS)
            )
        return importlib.import_module("bittrue.array_api")

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Tensor:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # By name: descriptors are matched by identity, in the process that loads them too.
        data = bytearray(np.ascontiguousarray(self._buffer.array).tobytes())
        return _restored, (self.dtype.name, self.shape, data)

    def copy(self) -> Tensor:
        """Return the same bits in fresh storage."""
        return Tensor(Buffer(self.dtype, self._buffer.array.copy()))

    def astype(self, dtype: SimpleDType, *, copy: bool = True, truncate: bool = False) -> Tensor:
        """Return the elements in `dtype`, each rounded once to nearest even.

        Floating to Int32 only with ``truncate=True``, which drops fractions and raises
        `OverflowError` outside Int32 and `ValueError` for a NaN. Complex to real raises
        `TypeError`: take `real` or `abs`. To Bool: whether the element differs from zero. A tensor
        that has the dtype is copied, or returned itself where `copy` is false.
        """
        if not isinstance(dtype, SimpleDType):
            raise RefusedTypeError("astype: dtype", f"got {shown(dtype)}", "a SimpleDType")
        if dtype is self.dtype and not copy:
            return self
        return Tensor(cast(self._buffer, dtype, truncate=truncate))

    # --- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return _binary("add", self, other, other)

    def __radd__(self, other: Any) -> Tensor:
        return _binary("add", other, self, other)

    def __sub__(self, other: Any) -> Tensor:
        return _binary("sub", self, other, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _binary("sub", other, self, other)

    def __mul__(self, other: Any) -> Tensor:
        return _binary("mul", self, other, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _binary("mul", other, self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return _binary("div", self, other, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _binary("div", other, self, other)

    def __floordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", self, other, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", other, self, other)

    def __mod__(self, other: Any) -> Tensor:
        return _binary("remainder", self, other, other)

    def __rmod__(self, other: Any) -> Tensor:
        return _binary("remainder", other, self, other)

    def __pow__(self, other: Any) -> Tensor:
        return _binary("pow", self, other, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _binary("pow", other, self, other)

    def __matmul__(self, other: Any) -> Tensor:
        if not _is_operand(other, "matmul"):
            return NotImplemented
        return Tensor(product(self._buffer, _typed("matmul", other)))

    def __rmatmul__(self, other: Any) -> Tensor:
        if not _is_operand(other, "matmul"):
            return NotImplemented
        return Tensor(product(_typed("matmul", other), self._buffer))

    # --- logic of Bool tensors: no arithmetic, so no row ---------------------------------------

    def _connected(self, connective: str, other: object) -> Tensor:
        if not _is_operand(other, connective):
            return NotImplemented  # type: ignore[no-any-return]
        return Tensor(logic.connected(connective, self._buffer, _truth(connective, other)))

    def _connect(self, connective: str, other: object) -> Self:
        _require_operand(other, f"{connective} in place")
        inplace.connect(connective, self._buffer, _truth(connective, other))
        return self

    def __and__(self, other: Any) -> Tensor:
        return self._connected("logical_and", other)

    def __or__(self, other: Any) -> Tensor:
        return self._connected("logical_or", other)

    def __xor__(self, other: Any) -> Tensor:
        return self._connected("logical_xor", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __iand__(self, other: Any) -> Self:
        return self._connect("logical_and", other)

    def __ior__(self, other: Any) -> Self:
        return self._connect("logical_or", other)

    def __ixor__(self, other: Any) -> Self:
        return self._connect("logical_xor", other)

    def __invert__(self) -> Tensor:
        return Tensor(logic.negated(self._buffer))

    # --- arithmetic of one tensor -------------------------------------------------------------

    def __neg__(self) -> Tensor:
        return Tensor(evaluate("neg", self))

    def __pos__(self) -> Tensor:
        if self.dtype is DType.Bool:
            raise PromotionError("positive", "has dtype Bool", "a number")
        return self.copy()

    def __abs__(self) -> Tensor:
        return Tensor(evaluate("abs", self))

    # --- arithmetic in place: none returns NotImplemented, which would bind the name anew ------

    def _update(self, operation: str, other: object) -> Self:
        _require_operand(other, f"{operation} in place")
        inplace.update(operation, self._buffer, self, other)
        return self

    def __iadd__(self, other: Any) -> Self:
        return self._update("add", other)

    def __isub__(self, other: Any) -> Self:
        return self._update("sub", other)

    def __imul__(self, other: Any) -> Self:
        return self._update("mul", other)

    def __itruediv__(self, other: Any) -> Self:
        return self._update("div", other)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._update("floor_divide", other)

    def __imod__(self, other: Any) -> Self:
        return self._update("remainder", other)

    def __ipow__(self, other: Any) -> Self:
        return self._update("pow", other)

    def __imatmul__(self, other: Any) -> Self:
        _require_operand(other, "matmul in place")
        inplace.update_product(self._buffer, _typed("matmul", other))
        return self

    def assign(self, source: Any, *, narrow: bool = False) -> Self:
        """Write `source` into the elements and return the tensor itself.

        `source` is a tensor, a Python number or a NumPy value, and broadcasts to the shape. Its
        dtype may be one that converts to the tensor's by the promotion table; with ``narrow=True``
        also a wider one of the same kind, each element rounded once to nearest even. Complex to
        real and floating to Int32 stay a `TypeError`. Raises as in-place operators do.
        """
        inplace.assign(self._buffer, _source(source), narrow=narrow)
        return self

    # --- comparison ---------------------------------------------------------------------------

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return _compared("eq", self, other, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return _compared("ne", self, other, other)

    def __lt__(self, other: Any) -> Tensor:
        return _compared("lt", self, other, other)

    def __le__(self, other: Any) -> Tensor:
        return _compared("le", self, other, other)

    def __gt__(self, other: Any) -> Tensor:
        return _compared("lt", other, self, other)

    def __ge__(self, other: Any) -> Tensor:
        return _compared("le", other, self, other)

    # --- elements -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(Buffer(self.dtype, element_view(self._buffer, array_key(key))))

    def __setitem__(self, key: Any, source: Any) -> None:
        inplace.assign(self._buffer, _source(source), array_key(key))

    # --- the same elements in other shapes ------------------------------------------------------

    def reshape(self, shape: int | Sequence[int], *, copy: bool | None = None) -> Tensor:
        """Return the elements in row-major order with another shape; one extent may be -1.

        A view where the memory allows it. `copy` true always copies; false raises `ValueError`
        where no view is possible, as a shape of another size does.
        """
        return Tensor(Buffer(self.dtype, shapes.reshaped(self._buffer.array, shape, copy=copy)))

    def broadcast_to(self, shape: int | Sequence[int]) -> Tensor:
        """Return a view in which extents of 1 are repeated; `ValueError` where `shape` misfits.

        Repeated elements share memory, so the view refuses to be written.
        """
        return Tensor(Buffer(self.dtype, shapes.broadcast(self._buffer.array, shape)))

    def permute_dims(self, axes: Sequence[int]) -> Tensor:
        """Return a view with the axes in the order given; `ValueError` if that is none of them."""
        return Tensor(Buffer(self.dtype, shapes.permuted(self._buffer.array, axes)))

    @property
    def T(self) -> Tensor:  # noqa: N802 - the name of the Array API
        """A view of a matrix with its two axes exchanged; `ValueError` for another rank."""
        shapes.require_rank("T", self.shape, self.ndim == 2, "2")
        return self.mT

    @property
    def mT(self) -> Tensor:  # noqa: N802 - the name of the Array API
        """A view with the last two axes exchanged; `ValueError` below rank 2."""
        shapes.require_rank("mT", self.shape, self.ndim >= 2, "2 or more")
        return Tensor(Buffer(self.dtype, self._buffer.array.swapaxes(-1, -2)))

    # --- reductions -----------------------------------------------------------------------------

    def _reduced(self, operation: str, **attributes: Any) -> Tensor:
        return Tensor(evaluate(operation, self, **attributes))

    def sum(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        accumulator_dtype: SimpleDType | None = None,
    ) -> Tensor:
        """Return sums over `axis` (None: all), of the tensor's dtype; +0 where there is no term.

        The operation `reduce_sum`: lane order, accumulated in the tensor's dtype or in
        `accumulator_dtype` where the policy offers it. The result lies on the tensor's device.
        """
        return self._reduced(
            "reduce_sum", axis=axis, keepdims=keepdims, accumulator_dtype=accumulator_dtype
        )

    def prod(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Return products over `axis`, ascending, of the tensor's dtype; 1 where there is none."""
        return self._reduced("reduce_prod", axis=axis, keepdims=keepdims)

    def mean(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        accumulator_dtype: SimpleDType | None = None,
    ) -> Tensor:
        """Return means over `axis`: the sum and one division in the accumulator, then narrowed.

        NaN where there is no term.
        """
        return self._reduced(
            "mean", axis=axis, keepdims=keepdims, accumulator_dtype=accumulator_dtype
        )

    def norm(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        accumulator_dtype: SimpleDType | None = None,
        working_dtype: SimpleDType | None = None,
    ) -> Tensor:
        """Return 2-norms over `axis`, of the real format of the dtype; +0 where there is no term.

        `accumulator_dtype` widens the sum of the squares, `working_dtype` the squares too.
        """
        return self._reduced(
            "norm",
            axis=axis,
            keepdims=keepdims,
            accumulator_dtype=accumulator_dtype,
            working_dtype=working_dtype,
        )

    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Return the largest element over `axis`; a NaN wins. `ValueError` where there is none."""
        return self._reduced("reduce_max", axis=axis, keepdims=keepdims)

    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Return the smallest element over `axis`; a NaN wins. `ValueError` where there is none."""
        return self._reduced("reduce_min", axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Return the Int32 position of the first largest element; the first NaN wins."""
        return self._reduced("argmax", axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Return the Int32 position of the first smallest element; the first NaN wins."""
        return self._reduced("argmin", axis=axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None) -> Tensor:
        """Return running sums along `axis`, ascending; None stands for the only axis."""
        if axis is None:
            shapes.require_rank("cumsum: axis", self.shape, self.ndim == 1, "1, or name an axis")
            axis = 0
        return self._reduced("cumsum", axis=axis)


Axis = int | tuple[int, ...] | None


def _source(source: object) -> object:
    """Return what an assignment reads: a buffer or a Python number."""
    _require_operand(source, "assignment")
    if isinstance(source, Stored):
        return source.buffer
    if isinstance(source, np.ndarray | np.generic):
        return buffer_of(source, copy=False)
    return source


def _restored(name: str, shape: tuple[int, ...], data: bytearray) -> Tensor:
    """Build the tensor that `Tensor.__reduce__` describes."""
    dtype = SimpleDType.from_name(name)
    # Of a bytearray: what lies in bytes could not be written in place.
    return Tensor(Buffer(dtype, np.frombuffer(data, storage_of(dtype).array).reshape(shape)))
