"""Derive the polynomials of the elementary kernels: `python tools/polynomials.py [--check]`.

Writes src/bittrue/cpu/native/elementary_polynomials.h, or compares it. Each polynomial is the
minimax one (Remez exchange, 300-bit arithmetic) with its coefficients then rounded to binary64; the
error stated beside it is that of the rounded coefficients in exact arithmetic.

The stated error is a bound and not a sample. The error is taken at N = 2048 Chebyshev nodes. All
functions here are entire, or analytic well beyond the interval, so that within 2**-150 the error
function is a polynomial of degree at most m = 120; between its values at N Chebyshev nodes such a
polynomial exceeds their maximum by at most the factor 1 / cos(pi m / (2 N)) < 1.005 (Ehlich and
Zeller). The printed exponent is rounded up after multiplying by 1.01.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import gmpy2
from gmpy2 import mpfr

PRECISION = 300
NODES = 2048
TARGET = Path(__file__).parents[1] / "src/bittrue/cpu/native/elementary_polynomials.h"

Function = Callable[[mpfr], mpfr]


@dataclass(frozen=True)
class Polynomial:
    """A polynomial to derive: `weight` scales its error before the greatest one is minimised."""

    name: str
    degree: int
    interval: tuple[mpfr, mpfr]
    function: Function
    weight: Function
    meaning: str


def evaluate(coefficients: list[mpfr], x: mpfr) -> mpfr:
    """Evaluate by Horner's rule."""
    value = mpfr(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def nodes(count: int, low: mpfr, high: mpfr) -> list[mpfr]:
    """Return Chebyshev nodes of an interval in ascending order."""
    pi = gmpy2.const_pi()
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * gmpy2.cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def solve(rows: list[list[mpfr]]) -> list[mpfr]:
    """Solve a linear system given as rows with the right-hand side last."""
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for k in range(column, size + 1):
                rows[row][k] -= factor * rows[column][k]
    solution = [mpfr(0)] * size
    for row in reversed(range(size)):
        rest = sum((rows[row][k] * solution[k] for k in range(row + 1, size)), mpfr(0))
        solution[row] = (rows[row][size] - rest) / rows[row][row]
    return solution


def extrema(errors: list[mpfr], wanted: int) -> list[int]:
    """Return indices of `wanted` alternating local extrema, the greatest of each sign run."""
    runs: list[int] = []
    for index, error in enumerate(errors):
        if runs and (error < 0) == (errors[runs[-1]] < 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = index
        else:
            runs.append(index)
    while len(runs) > wanted:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def minimax(wanted: Polynomial) -> list[mpfr]:
    """Return the coefficients of the minimax polynomial, lowest power first."""
    low, high = wanted.interval
    grid = nodes(NODES, low, high)
    values = [wanted.function(x) for x in grid]
    weights = [wanted.weight(x) for x in grid]
    count = wanted.degree + 2
    at = [(2 * k + 1) * NODES // (2 * count) for k in range(count)]
    coefficients: list[mpfr] = []
    for _ in range(20):
        rows = []
        for k, index in enumerate(at):
            powers = [grid[index] ** power for power in range(wanted.degree + 1)]
            rows.append([*powers, mpfr((-1) ** k) / weights[index], values[index]])
        *coefficients, level = solve(rows)
        errors = [
            (evaluate(coefficients, x) - value) * weight
            for x, value, weight in zip(grid, values, weights, strict=True)
        ]
        at = extrema(errors, count)
        if len(at) < count:
            raise ArithmeticError(f"{wanted.name}: the exchange lost an alternation")
        if max(map(abs, errors)) <= abs(level) * mpfr("1.001"):
            break
    return coefficients


def error_exponent(wanted: Polynomial, coefficients: list[float]) -> float:
    """Return the logarithm to base 2 of a bound of the weighted error, two decimals, up."""
    exact = [mpfr(coefficient) for coefficient in coefficients]
    greatest = max(
        abs((evaluate(exact, x) - wanted.function(x)) * wanted.weight(x))
        for x in nodes(NODES, *wanted.interval)
    )
    return ceil(float(gmpy2.log2(greatest * mpfr("1.01"))) * 100) / 100


def horner_error(wanted: Polynomial, coefficients: list[float]) -> float:
    """Return a bound of what the roundings of Horner's rule add, relative, in 2**-53.

    The running error of each step, a product and a sum that both round, at 2048 nodes, and a tenth
    more for what lies between them and for second-order terms.
    """
    greatest = 0.0
    for node in nodes(NODES, *wanted.interval):
        x, value, error = float(node), 0.0, 0.0
        for coefficient in reversed(coefficients):
            product = value * x
            value = product + coefficient
            error = error * abs(x) + abs(product) + abs(value)
        greatest = max(greatest, error / abs(value))
    return ceil(greatest * 1.1 * 10) / 10


def series_or(function: Function, coefficient: Callable[[int], mpfr]) -> Function:
    """Use 30 terms of the power series below 2**-10, where the closed form cancels."""
    table = [coefficient(k) for k in range(30)]

    def both(x: mpfr) -> mpfr:
        return evaluate(table, x) if abs(x) < mpfr(2) ** -10 else function(x)

    return both


def factorial(n: int) -> mpfr:
    """Return n factorial, which divides as a real."""
    return mpfr(gmpy2.fac(n))


def reciprocal(function: Function) -> Function:
    """Return the weight that makes an error relative to `function`."""
    return lambda x: 1 / abs(function(x))


# --- the functions; series_or needs the precision, which is therefore set here --------------------

gmpy2.get_context().precision = PRECISION
LN2, PI = gmpy2.const_log2(), gmpy2.const_pi()


def exp2(f: mpfr) -> mpfr:
    """2^f."""
    return gmpy2.exp(f * LN2)


expm1_tail = series_or(
    lambda r: (gmpy2.expm1(r) - r) / r**2,
    lambda k: 1 / factorial(k + 2),
)
atanh_ratio = series_or(  # 2 atanh(s) / s of z = s^2
    lambda z: 2 * gmpy2.atanh(gmpy2.sqrt(z)) / gmpy2.sqrt(z),
    lambda k: mpfr(2) / (2 * k + 1),
)
log_ratio = series_or(  # log(1 + r) / r
    lambda r: gmpy2.log1p(r) / r,
    lambda k: (-1) ** k / mpfr(k + 1),
)
log2_ratio = series_or(  # log2(1 + r) / r
    lambda r: gmpy2.log1p(r) / (r * LN2),
    lambda k: (-1) ** k / ((k + 1) * LN2),
)
sin_ratio = series_or(  # sin(r) / r of z = r^2
    lambda z: gmpy2.sin(gmpy2.sqrt(z)) / gmpy2.sqrt(z),
    lambda k: (-1) ** k / factorial(2 * k + 1),
)
erf_ratio = series_or(  # erf(x) / x of z = x^2
    lambda z: gmpy2.erf(gmpy2.sqrt(z)) / gmpy2.sqrt(z),
    lambda k: 2 / gmpy2.sqrt(PI) * (-1) ** k / (factorial(k) * (2 * k + 1)),
)


def atanh2_ratio(z: mpfr) -> mpfr:
    """2 atanh(s) / (s ln 2) of z = s^2."""
    return atanh_ratio(z) / LN2


def erf_centred(u: mpfr) -> mpfr:
    """erf(x) / x of u = x^2 / 8 - 1."""
    return erf_ratio((u + 1) * 8)


# --- what to derive; intervals are a little wider than the reductions leave -----------------------

WIDER = 1 + mpfr(2) ** -20


def relative(
    name: str, degree: int, interval: tuple[mpfr, mpfr], function: Function, meaning: str
) -> Polynomial:
    """Return a polynomial whose relative error is least."""
    text = f"{meaning}, relative"
    return Polynomial(name, degree, interval, function, reciprocal(function), text)


def polynomials() -> list[Polynomial]:
    """List every polynomial but the pieces of erf."""
    half, half_ln2 = WIDER / 2, LN2 / 2 * WIDER
    # s = (m - 1) / (m + 1) with m between sqrt(1/2) and sqrt(2).
    root = gmpy2.sqrt(mpfr(2))
    squares = (mpfr(0), ((root - 1) / (root + 1) * WIDER) ** 2)
    angles = (mpfr(0), (PI / 2 * WIDER) ** 2)
    reach = mpfr(log_table().reach)
    erf_end = mpfr("3.9375") ** 2 / 8 - 1
    halves = "2 atanh(s) / (s ln 2) of s^2"
    tail = Polynomial(
        "expm1",
        7,
        (-half_ln2, half_ln2),
        expm1_tail,
        # (p - f) r^2 relative to e^r - 1 = r + f r^2.
        lambda r: abs(r) / abs(1 + expm1_tail(r) * r),
        "(e^r - 1 - r) / r^2, relative to e^r - 1 after r + r^2 p(r)",
    )
    eighth, eighth_ln2 = half / 8, half_ln2 / 8
    return [
        relative("exp", 8, (-half_ln2, half_ln2), gmpy2.exp, "e^r"),
        relative("exp2", 8, (-half, half), exp2, "2^f"),
        tail,
        relative("eighths_exp", 5, (-eighth_ln2, eighth_ln2), gmpy2.exp, "e^r"),
        relative("eighths_exp2", 5, (-eighth, eighth), exp2, "2^f"),
        replace(tail, name="eighths_expm1", degree=4, interval=(-eighth_ln2, eighth_ln2)),
        relative("log", 5, squares, atanh_ratio, "2 atanh(s) / s of s^2"),
        relative("log2", 5, squares, atanh2_ratio, halves),
        relative("pow_log2", 6, squares, atanh2_ratio, halves),
        relative("table_pow_log2", 7, (-reach, reach), log2_ratio, "log2(1 + r) / r"),
        relative("table_log2", 6, (-reach, reach), log2_ratio, "log2(1 + r) / r"),
        relative("table_log", 6, (-reach, reach), log_ratio, "log(1 + r) / r"),
        relative("sin", 6, angles, sin_ratio, "sin(r) / r of r^2"),
        relative("erf", 22, (mpfr(-1), erf_end), erf_centred, "erf(x) / x of x^2 / 8 - 1"),
    ]


def erf_piece(index: int) -> Polynomial:
    """Return the polynomial of erf(x) / x between halves."""
    middle = mpfr(2 * index + 1) / 4

    def piece(t: mpfr) -> mpfr:
        return erf_ratio((middle + t) ** 2)

    ends = (-mpfr(1) / 4, mpfr(1) / 4)
    return relative(f"erf_piece_{index}", 10, ends, piece, "a piece of erf(x) / x")


def truncated(value: mpfr, bits: int) -> mpfr:
    """Keep the leading bits of a number."""
    with gmpy2.context(precision=bits, round=gmpy2.RoundToZero):
        return mpfr(value)


def parts(value: mpfr, bits: int) -> list[float]:
    """Cut a number into two parts of `bits` bits, whose small multiples are exact, and the rest."""
    head = truncated(value, bits)
    middle = truncated(value - head, bits)
    return [float(head), float(middle), float(value - head - middle)]


def pair(value: mpfr) -> list[float]:
    """Return the nearest double and the nearest double of the rest."""
    return [float(value), float(value - float(value))]


@dataclass(frozen=True)
class LogTable:
    """Sixteen intervals of significands, and for each a factor that brings it near 1.

    Bits of m less `offset` count intervals in their bits 48 to 51; m runs from 0.7 to 1.4, and one
    interval lies around 1, where the factor is 1, so that the logarithm keeps its relative error.
    """

    offset: int
    factors: list[float]
    binary_logarithms: list[float]
    logarithms: list[float]
    reach: float


def log_table() -> LogTable:
    """Derive the table: factors are reciprocals of the middles, logarithms are minus theirs."""
    offset = 0x3FE6_6000_0000_0000
    factors, reach = [], 0.0
    for index in range(16):
        low, high = (
            struct.unpack("<d", struct.pack("<Q", offset + ((index + step) << 48)))[0]
            for step in (0, 1)
        )
        factor = 1.0 if low < 1 < high else 2 / (low + high)
        factors.append(factor)
        reach = max(reach, abs(low * factor - 1), abs(high * factor - 1))
    binary = [float(-gmpy2.log2(mpfr(factor))) for factor in factors]
    natural = [float(-gmpy2.log(mpfr(factor))) for factor in factors]
    return LogTable(offset, factors, binary, natural, reach * (1 + 2.0**-20))


def constants() -> list[tuple[str, str, str]]:
    """List C++ declarations of constants: meaning, declarator, initialiser."""
    pi, ln2 = PI, LN2
    with gmpy2.context(precision=2 * PRECISION):
        two_over_pi = int(gmpy2.floor(2 / gmpy2.const_pi() * mpfr(2) ** 384))
    table = log_table()
    words = [two_over_pi >> (32 * k) & 0xFFFF_FFFF for k in reversed(range(12))]

    def doubles(values: list[float]) -> str:
        return "{" + ", ".join(value.hex() for value in values) + "}"

    return [
        ("ln 2, in 42 + 42 bits and the rest", "double ln2_parts[3]", doubles(parts(ln2, 42))),
        ("pi, in 34 + 34 bits and the rest", "double pi_parts[3]", doubles(parts(pi, 34))),
        ("ln 2, nearest double and rest", "double ln2_pair[2]", doubles(pair(ln2))),
        ("1 / ln 2, nearest double and rest", "double inverse_ln2_pair[2]", doubles(pair(1 / ln2))),
        ("pi / 2, nearest double and rest", "double half_pi_pair[2]", doubles(pair(pi / 2))),
        ("1 / pi", "double inverse_pi", float(1 / pi).hex()),
        (
            "2 / sqrt(pi), nearest double and rest",
            "double two_over_root_pi_pair[2]",
            doubles(pair(2 / gmpy2.sqrt(pi))),
        ),
        (
            "Where the intervals of significands begin: see LogTable in the script",
            "std::uint64_t log_table_offset",
            f"0x{table.offset:016x}",
        ),
        ("Their factors", "double log_table_factors[16]", doubles(table.factors)),
        (
            "Minus the logarithms to base 2 of the factors",
            "double log_table_binary_logarithms[16]",
            doubles(table.binary_logarithms),
        ),
        (
            "Minus the natural logarithms of the factors",
            "double log_table_logarithms[16]",
            doubles(table.logarithms),
        ),
        (
            "2^(j / 8)",
            "double eighth_powers[8]",
            doubles([float(exp2(mpfr(j) / 8)) for j in range(8)]),
        ),
        (
            "The first 384 bits of 2 / pi after the point, most significant first",
            "std::uint32_t two_over_pi[12]",
            "{" + ", ".join(f"0x{word:08x}" for word in words) + "}",
        ),
    ]


def table_of_pieces(pieces: list[Polynomial]) -> list[str]:
    """Return a table of polynomials, a row for each power."""
    columns = [[float(c) for c in minimax(piece)] for piece in pieces]
    exponent = max(
        error_exponent(piece, column) for piece, column in zip(pieces, columns, strict=True)
    )
    steps = max(horner_error(piece, column) for piece, column in zip(pieces, columns, strict=True))
    rows = zip(*columns, strict=True)
    return [
        "",
        "// erf(x) / x of x - (2 i + 1) / 4 for x in [i / 2, (i + 1) / 2], i = 0 to 7 across;",
        f"// relative error below 2^{exponent:.2f}.",
        f"// The steps of Horner's rule add at most {steps} 2^-53.",
        f"constexpr double erf_pieces[][{len(pieces)}] = {{",
        *("    {" + ", ".join(value.hex() for value in row) + "}," for row in rows),
        "};",
    ]


def header() -> str:
    """Return the text of the C++ header."""
    lines = [
        "// Written by tools/polynomials.py; do not edit. Lowest power first. Errors are bounds",
        "// for these coefficients in exact arithmetic, and how is said there.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace bittrue::polynomials {",
    ]
    for meaning, declarator, initialiser in constants():
        lines += ["", f"// {meaning}.", f"constexpr {declarator} = {initialiser};"]
    for wanted in polynomials():
        coefficients = [float(c) for c in minimax(wanted)]
        exponent = error_exponent(wanted, coefficients)
        steps = horner_error(wanted, coefficients)
        low, high = (float(end) for end in wanted.interval)
        lines += [
            "",
            f"// {wanted.meaning}; error below 2^{exponent:.2f} on [{low:.9g}, {high:.9g}].",
            f"// The steps of Horner's rule add at most {steps} 2^-53.",
            f"constexpr double {wanted.name}[] = {{",
            *(f"    {coefficient.hex()}," for coefficient in coefficients),
            "};",
        ]
    lines += table_of_pieces([erf_piece(index) for index in range(8)])
    lines += ["", "}  // namespace bittrue::polynomials", ""]
    return "\n".join(lines)


def main() -> int:
    """Write the header, or compare it with the one that is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    text = header()
    if not options.check:
        TARGET.write_text(text)
        return 0
    same = TARGET.read_text() == text
    sys.stdout.write("same\n" if same else f"{TARGET} differs\n")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
