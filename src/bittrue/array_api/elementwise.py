"""Elementwise functions: each the operation that its body names, under `bittrue.DEFAULT`.

Belongs here: the names of the Array API. An operand is a tensor, or beside a tensor a Python
number. Dtypes, results and errors are those of the operation; integer and Bool dtypes without a row
raise `TypeError`, floating ones `NotImplementedError`. Comparisons also take two Int32 or two Bool
tensors: their elements are compared as they are stored, so no rule of promotion takes part.
"""

from __future__ import annotations

from typing import Any

from bittrue.array.creation import asarray, full
from bittrue.array.forms import conjugate, tensor_of
from bittrue.array.logic import compared, connected, is_compared, negated, predicate
from bittrue.array.run import run
from bittrue.array.tensor import Tensor
from bittrue.dtypes import DType, is_complex
from bittrue.errors import RefusedTypeError


def _unary(operation: str, x: Tensor) -> Tensor:
    return run(operation, tensor_of(operation, x))


def _rounded(operation: str, x: Tensor) -> Tensor:
    tensor = tensor_of(operation, x)
    # An integer is its own rounding: there is nothing to compute.
    return +tensor if tensor.dtype is DType.Int32 else run(operation, tensor)


def _binary(operation: str, x1: Any, x2: Any) -> Tensor:
    if not (isinstance(x1, Tensor) or isinstance(x2, Tensor)):
        raise RefusedTypeError(operation, "got no tensor", "at least one", "build one with asarray")
    return run(operation, x1, x2)


def _compared(comparison: str, x1: Any, x2: Any) -> Tensor:
    """Compare by the row, or two Int32 or two Bool tensors, which no row does, by their bits."""
    dtypes = {x.dtype for x in (x1, x2) if isinstance(x, Tensor)}
    if len(dtypes) == 1:
        (dtype,) = dtypes
        # A Python number beside them must be one of theirs; another is left to the row's error.
        own = {DType.Int32: int, DType.Bool: bool}.get(dtype)
        if all(isinstance(x, Tensor) or type(x) is own for x in (x1, x2)) and is_compared(
            comparison, dtype, dtype
        ):
            left, right = (x if isinstance(x, Tensor) else full((), x) for x in (x1, x2))
            return Tensor(compared(comparison, left.buffer, right.buffer))
    return _binary(comparison, x1, x2)


def _connected(connective: str, x1: Any, x2: Any) -> Tensor:
    left, right = (x if isinstance(x, Tensor) else asarray(x) for x in (x1, x2))
    return Tensor(connected(connective, left.buffer, right.buffer))


def abs(x: Tensor, /) -> Tensor:
    """Return the absolute value; of a complex number the modulus, without undue overflow."""
    return _unary("abs", x)


def add(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 + x2."""
    return _binary("add", x1, x2)


def ceil(x: Tensor, /) -> Tensor:
    """Return the smallest integer not below each element."""
    return _rounded("ceil", x)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Return each element, or the bound that it lies beyond; None is no bound."""
    tensor = tensor_of("clip", x)
    if min is None or max is None:
        result = tensor if min is None else _binary("maximum", tensor, _bound(tensor, min))
        return +result if max is None else _binary("minimum", result, _bound(tensor, max))
    return run("clamp", tensor, min, max)


def _bound(x: Tensor, bound: Any) -> Tensor:
    # `maximum` has no weak scalars: a bound takes the dtype, as beside the other one in `clamp`.
    return bound if isinstance(bound, Tensor) else full((), bound, dtype=x.dtype)


def conj(x: Tensor, /) -> Tensor:
    """Return the conjugate; a real tensor is copied."""
    tensor = tensor_of("conj", x)
    return conjugate(tensor) if is_complex(tensor.dtype) else +tensor


def cos(x: Tensor, /) -> Tensor:
    """Return the cosine, correctly rounded."""
    return _unary("cos", x)


def divide(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 / x2."""
    return _binary("div", x1, x2)


def equal(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 == x2, as Bool."""
    return _compared("eq", x1, x2)


def exp(x: Tensor, /) -> Tensor:
    """Return e to the power of each element, correctly rounded."""
    return _unary("exp", x)


def floor(x: Tensor, /) -> Tensor:
    """Return the largest integer not above each element."""
    return _rounded("floor", x)


def floor_divide(x1: Any, x2: Any, /) -> Tensor:
    """Return the floor of x1 / x2."""
    return _binary("floor_divide", x1, x2)


def greater(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 > x2, as Bool."""
    return _compared("lt", x2, x1)


def greater_equal(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 >= x2, as Bool."""
    return _compared("le", x2, x1)


def imag(x: Tensor, /) -> Tensor:
    """Return the imaginary part."""
    return _unary("imag", x)


def isfinite(x: Tensor, /) -> Tensor:
    """Return which elements are finite."""
    return Tensor(predicate("isfinite", tensor_of("isfinite", x).buffer))


def isinf(x: Tensor, /) -> Tensor:
    """Return which elements are infinite."""
    return Tensor(predicate("isinf", tensor_of("isinf", x).buffer))


def isnan(x: Tensor, /) -> Tensor:
    """Return which elements are NaN."""
    return Tensor(predicate("isnan", tensor_of("isnan", x).buffer))


def less(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 < x2, as Bool."""
    return _compared("lt", x1, x2)


def less_equal(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 <= x2, as Bool."""
    return _compared("le", x1, x2)


def log(x: Tensor, /) -> Tensor:
    """Return the natural logarithm, correctly rounded."""
    return _unary("log", x)


def log2(x: Tensor, /) -> Tensor:
    """Return the binary logarithm, correctly rounded."""
    return _unary("log2", x)


def logical_and(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 and x2, of Bool."""
    return _connected("logical_and", x1, x2)


def logical_not(x: Tensor, /) -> Tensor:
    """Return not x, of Bool."""
    return Tensor(negated(tensor_of("logical_not", x).buffer))


def logical_or(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 or x2, of Bool."""
    return _connected("logical_or", x1, x2)


def logical_xor(x1: Any, x2: Any, /) -> Tensor:
    """Return either x1 or x2, not both, of Bool."""
    return _connected("logical_xor", x1, x2)


def maximum(x1: Any, x2: Any, /) -> Tensor:
    """Return the larger of x1 and x2; a NaN wins."""
    return _binary("maximum", x1, x2)


def minimum(x1: Any, x2: Any, /) -> Tensor:
    """Return the smaller of x1 and x2; a NaN wins."""
    return _binary("minimum", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 * x2."""
    return _binary("mul", x1, x2)


def negative(x: Tensor, /) -> Tensor:
    """Return the negation; of Int32 the checked difference from 0."""
    tensor = tensor_of("negative", x)
    return 0 - tensor if tensor.dtype is DType.Int32 else run("neg", tensor)


def not_equal(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 != x2, as Bool."""
    return _compared("ne", x1, x2)


def positive(x: Tensor, /) -> Tensor:
    """Return a copy of the numbers."""
    return +tensor_of("positive", x)


def pow(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 to the power of x2."""
    return _binary("pow", x1, x2)


def real(x: Tensor, /) -> Tensor:
    """Return the real part; a real tensor is copied."""
    tensor = tensor_of("real", x)
    return run("real", tensor) if is_complex(tensor.dtype) else +tensor


def reciprocal(x: Tensor, /) -> Tensor:
    """Return 1 divided by each element."""
    return _unary("recip", x)


def remainder(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 - x2 * floor(x1 / x2), of the sign of x2."""
    return _binary("remainder", x1, x2)


def round(x: Tensor, /) -> Tensor:
    """Return the nearest integer, ties to even."""
    return _rounded("round", x)


def sign(x: Tensor, /) -> Tensor:
    """Return the sign, -1, 0 or 1."""
    return _unary("sign", x)


def signbit(x: Tensor, /) -> Tensor:
    """Return which elements have the sign bit."""
    return Tensor(predicate("signbit", tensor_of("signbit", x).buffer))


def sin(x: Tensor, /) -> Tensor:
    """Return the sine, correctly rounded."""
    return _unary("sin", x)


def sqrt(x: Tensor, /) -> Tensor:
    """Return the square root."""
    return _unary("sqrt", x)


def square(x: Tensor, /) -> Tensor:
    """Return x * x."""
    return _binary("mul", x, x)


def subtract(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 - x2."""
    return _binary("sub", x1, x2)


def tanh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic tangent, correctly rounded."""
    return _unary("tanh", x)
