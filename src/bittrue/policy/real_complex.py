"""The promotion of real and complex floating dtypes: its rows, and `bittrue.REAL_COMPLEX`.

Belongs here: every dtype decision of the promotion contract, as rows over the one list of scalars.
Never here: how a row is found (`policy`) or executed. Clauses of tensor-promotion: *Tensor-Tensor
Promotion*, *Python Scalars*, *Division and Reductions*. Changing the policy is changing a line, its
fixture and both backends together.

Theory. The component of a result is the widest component of the tensor operands, and the result is
complex if any operand is, a weak scalar included: the precision of a scalar is weak, its kind is
not. Each operand converts to that component and keeps its own kind, so a real operand of a complex
result has no imaginary part that could meet an infinity.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from bittrue.dtypes import SCALARS, DType, SimpleDType, complex_of, component_of, is_complex
from bittrue.errors import PromotionError
from bittrue.policy.arithmetic import Accumulation, Arithmetic
from bittrue.policy.options import AccumulatorRow
from bittrue.policy.policy import PROBE_ORDER, Policy
from bittrue.policy.rows import Refusal, Row, Selector
from bittrue.policy.tables import SCALAR, policy_of, rows_of
from bittrue.policy.weak import WeakCondition

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool

REALS: tuple[SimpleDType, ...] = tuple(
    row.dtype for row in SCALARS if row.dtype.is_subtype_of(DType.Floating)
)
COMPLEXES: tuple[SimpleDType, ...] = tuple(row.dtype for row in SCALARS if row.is_complex)
FLOATS: tuple[SimpleDType, ...] = (*REALS, *COMPLEXES)
WIDE_REALS: tuple[SimpleDType, ...] = tuple(dtype for dtype in REALS if dtype is not F32)
"""The reals whose rows no other policy has."""

ARITHMETIC: dict[str, tuple[Arithmetic, Arithmetic]] = {
    # component       real                  complex
    "Float32":      (Arithmetic.BINARY32, Arithmetic.COMPLEX_BINARY32),
    "Float64":      (Arithmetic.BINARY64, Arithmetic.COMPLEX_BINARY64),
    "RealExtended": (Arithmetic.EXTENDED, Arithmetic.COMPLEX_EXTENDED),
}  # fmt: skip
"""Component of a result -> its arithmetic."""


def arithmetic_of(dtype: SimpleDType) -> Arithmetic:
    """Return the arithmetic that computes results of `dtype`."""
    return ARITHMETIC[component_of(dtype).name][is_complex(dtype)]


def _is_complex(selector: Selector) -> bool:
    if isinstance(selector, SimpleDType):
        return is_complex(selector)
    return selector is WeakCondition.COMPLEX


def promoted(*selectors: Selector) -> SimpleDType:
    """Return the result dtype of floating tensor operands and weak scalars."""
    tensors = (s for s in selectors if isinstance(s, SimpleDType))
    component = max(map(component_of, tensors), key=lambda dtype: dtype.bits)
    return complex_of(component) if any(map(_is_complex, selectors)) else component


# --- lines --------------------------------------------------------------------------------------

WEAK: tuple[Selector, ...] = (*SCALAR, WeakCondition.COMPLEX)

Domain = tuple[Selector, ...]


def _operand_pairs(tensors: Domain, roles: str) -> Iterator[tuple[Selector, Selector]]:
    """Yield the operand selections of the signatures in `roles`: TT, TS, ST."""
    offered = {"T": tensors, "S": WEAK}
    for signature in roles.split():
        yield from itertools.product(*(offered[role] for role in signature))


def _binary(
    operations: str,
    roles: str,
    *,
    output: SimpleDType | None = None,
    refused: Refusal | None = None,
    accumulation: Accumulation | None = None,
) -> Iterator[Row]:
    """Expand operations of two floating operands; `refused` answers wherever one is complex.

    Without `output` the result has the promoted dtype; an accumulation runs in it.
    """
    for pair in _operand_pairs(FLOATS, roles):
        result = promoted(*pair)
        component = component_of(result)
        converted = tuple(result if _is_complex(s) else component for s in pair)
        yield from rows_of(
            operations,
            pair,
            converted,
            arithmetic_of(result),
            output or result,
            accumulation,
            None if accumulation is None else result,
            refused if is_complex(result) else None,
        )


def _own(dtype: SimpleDType) -> SimpleDType:
    return dtype


def _index(_dtype: SimpleDType) -> SimpleDType:
    return I32


Derived = Callable[[SimpleDType], SimpleDType]


def _unary(
    operations: str,
    dtypes: Iterable[SimpleDType],
    output: Derived = _own,
    accumulation: Accumulation | None = None,
    accumulator: Derived | None = None,
    refused: Refusal | None = None,
) -> Iterator[Row]:
    """Expand operations of one tensor: result and accumulator dtype derive from its own."""
    for dtype in dtypes:
        yield from rows_of(
            operations,
            (dtype,),
            dtype,
            arithmetic_of(dtype),
            output(dtype),
            accumulation,
            None if accumulator is None else accumulator(dtype),
            refused,
        )


NO_ORDER = Refusal(
    PromotionError,
    "complex numbers have no order",
    "real operands",
    "compare abs(x), or the parts real(x) and imag(x)",
)
NO_FLOOR = Refusal(
    PromotionError, "complex numbers have no floored quotient", "real operands", "use div"
)

_A = Accumulation
_ALL_ROLES = "TT TS ST"

_LINES: tuple[Iterable[Row], ...] = (
    # Two operands.
    _binary("add sub mul div", _ALL_ROLES),
    _binary("elementwise_mul", "TT"),
    _binary("remainder floor_divide", _ALL_ROLES, refused=NO_FLOOR),
    _binary("eq ne", _ALL_ROLES, output=BOOL),
    _binary("lt le", _ALL_ROLES, output=BOOL, refused=NO_ORDER),
    _binary("dot vdot matmul", "TT", accumulation=_A.FLOATING),
    # One tensor.
    _unary("neg abs", WIDE_REALS),
    _unary("neg", COMPLEXES),
    _unary("conj", FLOATS),
    _unary("real imag abs", COMPLEXES, component_of),
    # Reductions and the scan; those of Float32 that the other policy has are its rows.
    _unary("reduce_sum", (*WIDE_REALS, *COMPLEXES), _own, _A.FLOATING, _own),
    _unary("mean", FLOATS, _own, _A.FLOATING, _own),
    _unary("norm", FLOATS, component_of, _A.FLOATING, component_of),
    _unary("reduce_prod", (*WIDE_REALS, *COMPLEXES), _own, _A.SEQUENTIAL_PRODUCT, _own),
    _unary("cumsum", (*WIDE_REALS, *COMPLEXES), _own, _A.SEQUENTIAL, _own),
    _unary("reduce_max", WIDE_REALS, _own, _A.MAXIMUM),
    _unary("reduce_min", WIDE_REALS, _own, _A.MINIMUM),
    _unary("argmax", WIDE_REALS, _index, _A.ARGMAX),
    _unary("argmin", WIDE_REALS, _index, _A.ARGMIN),
    _unary("reduce_max reduce_min argmax argmin", COMPLEXES, refused=NO_ORDER),
)

_METADATA: tuple[tuple[str, bool, tuple[int, ...] | None], ...] = (
    # operation  public  forward arguments that take part in planning
    ("cumsum",   True,  (0,)),
)  # fmt: skip

_WIDER: dict[str, tuple[str, ...]] = {
    # default accumulator: those it may take instead
    "Float32": ("Float64",),
    "Complex64": ("Complex128",),
}


def _accumulators() -> Iterator[AccumulatorRow]:
    """Yield what each default accumulator of a row may be exchanged for: itself, or wider."""
    rows = [row.plan for row in REAL_COMPLEX_ROWS if not isinstance(row.plan, Refusal)]
    for plan in rows:
        if plan.accumulation is Accumulation.FLOATING and plan.accumulator_dtype is not None:
            default = plan.accumulator_dtype
            wider = map(SimpleDType.from_name, _WIDER.get(default.name, ()))
            yield plan.operation, default, (default, *wider)


REAL_COMPLEX_ROWS: tuple[Row, ...] = tuple(itertools.chain.from_iterable(_LINES))

REAL_COMPLEX: Policy = policy_of(
    "real_complex", REAL_COMPLEX_ROWS, _METADATA, dict.fromkeys(_accumulators()), PROBE_ORDER
)
"""The promotion policy of tensor-promotion; the extended pair joins it where it is enabled."""
