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
import sys
from collections.abc import Callable
from dataclasses import dataclass
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


def _series_or(function: Function, coefficient: Callable[[int], mpfr]) -> Function:
    """Use 30 terms of the power series below 2**-10, where the closed form cancels."""
    table = [coefficient(k) for k in range(30)]

    def both(x: mpfr) -> mpfr:
        return evaluate(table, x) if abs(x) < mpfr(2) ** -10 else function(x)

    return both


def polynomials() -> list[Polynomial]:
    """List every polynomial; intervals are a little wider than the reductions leave."""
    gmpy2.get_context().precision = PRECISION
    ln2 = gmpy2.const_log2()
    pi = gmpy2.const_pi()
    wider = 1 + mpfr(2) ** -20
    half_ln2 = ln2 / 2 * wider
    # s = (m - 1) / (m + 1) with sqrt(1/2) <= m <= sqrt(2), a few units of the last place apart.
    s_end = (gmpy2.sqrt(mpfr(2)) - 1) / (gmpy2.sqrt(mpfr(2)) + 1) * wider
    squares = (mpfr(0), s_end**2)

    def factorial(n: int) -> mpfr:
        return mpfr(gmpy2.fac(n))

    def reciprocal(f: Function) -> Function:
        return lambda x: 1 / abs(f(x))

    def atanh_of_root(z: mpfr) -> mpfr:
        root = gmpy2.sqrt(z)
        return 2 * gmpy2.atanh(root) / root

    atanh = _series_or(atanh_of_root, lambda k: mpfr(2) / (2 * k + 1))

    def atanh2(z: mpfr) -> mpfr:
        return atanh(z) / ln2

    def sin_of_root(z: mpfr) -> mpfr:
        root = gmpy2.sqrt(z)
        return gmpy2.sin(root) / root

    sine = _series_or(sin_of_root, lambda k: (-1) ** k / factorial(2 * k + 1))

    def expm1_tail(r: mpfr) -> mpfr:
        return (gmpy2.expm1(r) - r) / r**2

    tail = _series_or(expm1_tail, lambda k: 1 / factorial(k + 2))

    def erf_of_root(z: mpfr) -> mpfr:
        root = gmpy2.sqrt(z)
        return gmpy2.erf(root) / root

    erf_ratio = _series_or(
        erf_of_root,
        lambda k: 2 / gmpy2.sqrt(pi) * (-1) ** k / (factorial(k) * (2 * k + 1)),
    )
    erf_end = mpfr("3.9375") ** 2 / 8 - 1

    def erf_at(u: mpfr) -> mpfr:
        return erf_ratio((u + 1) * 8)

    def exp2(f: mpfr) -> mpfr:
        return gmpy2.exp(f * ln2)

    half = mpfr(1) / 2 * wider
    sine_squares = (mpfr(0), (pi / 2 * wider) ** 2)
    return [
        Polynomial(
            "exp", 8, (-half_ln2, half_ln2), gmpy2.exp, reciprocal(gmpy2.exp), "e^r, relative"
        ),
        Polynomial("exp2", 8, (-half, half), exp2, reciprocal(exp2), "2^f, relative"),
        Polynomial(
            "expm1",
            7,
            (-half_ln2, half_ln2),
            tail,
            # (p - f) r^2 relative to e^r - 1 = r + f r^2.
            lambda r: abs(r) / abs(1 + tail(r) * r),
            "(e^r - 1 - r) / r^2, relative to e^r - 1 after r + r^2 p(r)",
        ),
        Polynomial("log", 5, squares, atanh, reciprocal(atanh), "2 atanh(s) / s of s^2, relative"),
        Polynomial(
            "log2", 5, squares, atanh2, reciprocal(atanh2), "2 atanh(s) / (s ln 2) of s^2, relative"
        ),
        Polynomial(
            "pow_log2",
            6,
            squares,
            atanh2,
            reciprocal(atanh2),
            "2 atanh(s) / (s ln 2) of s^2, relative",
        ),
        Polynomial("sin", 6, sine_squares, sine, reciprocal(sine), "sin(r) / r of r^2, relative"),
        Polynomial(
            "erf",
            22,
            (mpfr(-1), erf_end),
            erf_at,
            reciprocal(erf_at),
            "erf(x) / x of x^2 / 8 - 1, relative",
        ),
    ]


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


def constants() -> list[tuple[str, str, str]]:
    """List C++ declarations of constants: meaning, declarator, initialiser."""
    gmpy2.get_context().precision = 2 * PRECISION
    pi, ln2 = gmpy2.const_pi(), gmpy2.const_log2()
    two_over_pi = int(gmpy2.floor(2 / pi * mpfr(2) ** 384))
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
            "The first 384 bits of 2 / pi after the point, most significant first",
            "std::uint32_t two_over_pi[12]",
            "{" + ", ".join(f"0x{word:08x}" for word in words) + "}",
        ),
    ]


def header() -> str:
    """Return the text of the C++ header."""
    lines = [
        "// Written by tools/polynomials.py; do not edit. Lowest power first. Errors are bounds",
        "// for these coefficients in exact arithmetic; how, is said there.",
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
        low, high = (float(end) for end in wanted.interval)
        lines += [
            "",
            f"// {wanted.meaning}; error below 2^{exponent:.2f} on [{low:.9g}, {high:.9g}].",
            f"constexpr double {wanted.name}[] = {{",
            *(f"    {coefficient.hex()}," for coefficient in coefficients),
            "};",
        ]
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
