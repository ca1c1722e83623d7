"""
Compiled kernels; each sets the floating-point environment and restores the caller's.
"""

from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


def binary32(operation: str, lhs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rhs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write ``lhs (operation) rhs`` to ``out``: one of add, sub, mul, div.

    IEEE 754 binary32, rounded once to nearest even, subnormals kept, every NaN written
    as 0x7fc00000. The arrays are one-dimensional, contiguous, float32 and of one length;
    ``out`` may be ``lhs`` or ``rhs``. Raises ValueError for an unknown operation, a
    length that differs or a partial overlap, before anything is written.
    """

def set_flush_to_zero(enabled: bool) -> bool:
    """
    Switch flushing of subnormal operands and results on this thread; for tests.

    Returns whether any of it was on before.
    """

class LaneType:
    """The facts of a Format that a conversion reads."""

    def __init__(self, *, kind: int, specials: int, word_bits: int, packed: bool, is_signed: bool, sign_bit: int, exponent_bits: int, fraction_bits: int, bias: int, emin: int, low_zero_bits: int, has_signed_zero: bool, has_subnormal: bool, zero_mask: int, magnitude_mask: int, max_finite: int, infinity: int | None, canonical_nan: int | None) -> None: ...

def convert_lanes(source: LaneType, destination: LaneType, carriers: numpy.typing.NDArray[numpy.generic], out: numpy.typing.NDArray[numpy.generic], count: int, rounding: int, saturate: bool, random_bits: numpy.typing.NDArray[numpy.uint32] | None, flags: numpy.typing.NDArray[numpy.uint8] | None, threads: int) -> int:
    """
    Convert ``count`` lanes from ``carriers`` to ``out``; return the OR of all flags.

    Carriers are one-dimensional, contiguous and as wide as the type's; packed lanes stand
    two a byte. ``rounding`` is a code, ``random_bits`` a uint32 and ``flags`` a uint8 for
    each lane. Raises ValueError for a width, a length or an overlap, before anything is
    written. Lanes must be valid: see ``first_invalid``.
    """

def first_invalid(source: LaneType, carriers: numpy.typing.NDArray[numpy.generic], count: int, threads: int) -> int:
    """
    Return the index of the first lane with a bit set that must be 0, or -1.
    """

class PostProcessing:
    """
    What every element of a post-processing has in common, checked and decoded.
    """

    def __init__(self, *, accumulator: int, source: LaneType, destination: LaneType, copies: bool, shift: bool, offset_bits: int, rounding: int, saturate: bool, relu: bool, range_first: bool, unsigned_zero: bool, packed: bool, scale: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], activation: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_max: bool, group_n: int, max_abs: bool) -> None: ...

def post_process(rule: PostProcessing, raw: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), device='cpu', writable=False)], initial: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, d: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu')], row_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, group_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, threads: int) -> int:
    """
    Post-process rows of accumulator codes into ``d`` and the maxima; return all flags.

    ``raw`` holds uint32 codes, its columns contiguous; ``d`` the bytes of D,
    likewise; the maxima are one-dimensional uint32 arrays. Raises ValueError for a shape
    or width that does not fit, before anything is written.
    """

@overload
def matmul_post_process(rule: PostProcessing, a: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, d: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu')], row_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, group_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, threads: int) -> int | tuple[int, int]:
    """
    Post-process the product of two matrices; return all flags.

    ``a`` is (M, K) and ``b`` (K, N), both contiguous, float32 for FP32 accumulators and int32
    else, with elements of at most 9 bits; the rest as in ``post_process``. Where a sum is
    outside the accumulator, its row and column come instead and the outputs are incomplete.
    """

@overload
def matmul_post_process(rule: PostProcessing, a: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, d: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu')], row_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, group_max: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None, threads: int) -> int | tuple[int, int]: ...

def set_level(name: str) -> None:
    """
    Choose the instruction level of the kernels: baseline, v3, v4, "" for the best,
    or lanes, which converts one lane at a time, for tests.

    The bits never depend on it. Raises ValueError for one that this machine has not.
    """

def level() -> str:
    """Return the instruction level that the kernels run at."""

def narrow_tiles() -> bool:
    """
    Return whether products at level v4 take tiles of 256 bits, as suits some machines.
    """

def set_narrow_tiles(narrow: bool) -> None:
    """
    Choose the tiles of products at level v4, for tests; the bits never depend on them.
    """

def arithmetic(rounds: int) -> int:
    """
    Multiply and add binary32 in registers, unfused; return the number of operations.

    Their rate is the limit of a product: a yardstick for benchmarks.
    """

def elementwise_names() -> list[str]:
    """
    Return the names of the elementwise functions; the position of one is its code.
    """

def elementwise(code: int, operands: tuple[object, ...], out: object, threads: int) -> int:
    """
    Write function(operands...), broadcast to the shape of ``out``, to ``out``.

    Returns the row-major position of the first result outside Int32, or -1.
    """

def reduce(name: str, operand: object, axes: tuple[int, ...], out: object, threads: int) -> int:
    """
    Write the reduction over ``axes``, in the order of the contract, to ``out``.

    Returns the row-major position of the first result outside Int32, or -1.
    """

def scan(operand: object, axis: int, out: object, threads: int) -> None:
    """Write inclusive sums along ``axis`` to ``out``."""

def matmul(rule: str, lhs: object, rhs: object, out: object, threads: int) -> int:
    """
    Write ``lhs @ rhs`` to ``out``; ``rule`` is float32, float64 or int32.

    Returns the row-major position of the first result outside Int32, or -1.
    """

def sum_terms(code: int, operands: tuple[object, ...], axes: tuple[int, ...], in_f64: bool, out: object, threads: int) -> None:
    """
    Write the sums of function(operands...) over ``axes``, in the lane order, to ``out``.

    Code -1 sums the operand itself; ``in_f64`` adds in binary64, the dtype of ``out`` then.
    """

def fold(name: str, operand: object, axes: tuple[int, ...], out: object, threads: int) -> None:
    """
    Write the product, extremum or winner over ``axes`` of Float64 or, products, complex
    elements to ``out``.
    """

def scan_wide(operand: object, axis: int, out: object, threads: int) -> None:
    """
    Write inclusive sums of Float64 or complex elements along ``axis`` to ``out``.
    """

def matmul_wide(in_wide: bool, lhs: object, rhs: object, out: object, threads: int) -> None:
    """
    Write ``lhs @ rhs`` in Float64 or complex arithmetic to ``out``.

    ``in_wide`` adds Complex64 terms in Complex128 and rounds the sums once.
    """

def convolve(lhs: object, kernel: object, strides: tuple[int, ...], low: tuple[int, ...], lhs_dilation: tuple[int, ...], kernel_dilation: tuple[int, ...], groups: int, out: object, threads: int) -> None:
    """
    Write the grouped cross-correlation to ``out``; axes are in role order.
    """

def gather(data: object, indices: object, axis: int, out: object, threads: int) -> None:
    """Write the indexed elements along ``axis`` to ``out``, bit for bit."""

def scatter(add: bool, base: object, indices: object, updates: object, axis: int, out: object, threads: int) -> None:
    """Write ``base`` with updates put in or added to ``out``."""

def sort(operand: object, axis: int, descending: bool, positions: bool, out: object, threads: int) -> None:
    """
    Write the first values, or positions, of every sorted line along ``axis`` to ``out``.
    """

def elementary(name: str, x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write the function `name` of ``x`` to ``out``; every NaN as 0x7fc00000.

    The arrays are one-dimensional, contiguous, float32 and of one length; ``out`` may be
    ``x``. Raises ValueError for an unknown name, a length that differs or a partial
    overlap, before anything is written.
    """

def elementary_pow(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Write ``x ** y`` to ``out``, like ``elementary``."""

def elementary_sweep(name: str, first: int, count: int, every: bool, threads: int) -> tuple[int, list[int], int, int, float, int, int]:
    """
    Sweep ``count`` bit patterns from ``first`` on.

    Returns: special operands, which a rule answers; inputs within twice the error bound of
    a rounding boundary; and, where ``every`` runs the slow path on each operand too, how
    many results differ from its own, the first such input, the worst relative error of the
    fast path's double in 2**-53, and its input; and the digest of all results.
    """

def elementary_sweep_pow(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], every: bool, threads: int) -> tuple[int, list[int], int, int, float, int, int]:
    """Sweep pairs likewise; inputs are indices of pairs."""

def elementary_units(name: str) -> int:
    """
    Return the error bound of a primitive's fast path, relative, in 2**-53.
    """

def pow_slow_counts() -> tuple[int, int]:
    """
    Return how often pow compared exactly, and how often it needed arbitrary precision.
    """
