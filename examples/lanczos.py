"""The smallest eigenvalue of a symmetric matrix by Lanczos, in two working precisions.

An algorithm may compute its small quantities in a wider format than the vectors it is given. Here
that is a choice the caller makes and the report states: vectors, products with the matrix and the
result stay Float32; the projected matrix, its eigenvalue and the error estimate are Float64 if the
`Working` record says so, and Float32 if it says nothing.

    python examples/lanczos.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import bittrue
from bittrue import AlgorithmReport, SimpleDType, Tensor, float32, float64

CANDIDATES = 64
"""Shifts tried at once in the search for an eigenvalue: six bits of it a round."""


@dataclass(frozen=True)
class Working:
    """Working dtypes of the algorithm; None is the dtype of the input."""

    projected_matrix: SimpleDType | None = None
    inner_product_accumulator: SimpleDType | None = None


def smallest_eigenpair(
    matrix: Tensor,
    start: Tensor,
    *,
    steps: int,
    tolerance: float,
    working: Working | None = None,
) -> tuple[tuple[Tensor, Tensor], AlgorithmReport]:
    """Return an eigenvalue, its vector (both of the dtype of `matrix`), and what was done.

    `matrix` is symmetric [n, n], `start` [n] of the same real dtype. Stops after `steps`, or when
    the residual estimate falls below `tolerance` times the eigenvalue's magnitude.
    """
    dtype = matrix.dtype
    chosen = working or Working()
    projected_dtype = chosen.projected_matrix or dtype
    accumulator = chosen.inner_product_accumulator or dtype

    basis = bittrue.zeros((matrix.shape[0], steps + 1), dtype=dtype)
    basis[:, 0] = start / start.norm(accumulator_dtype=accumulator)
    alphas: list[Tensor] = []
    betas: list[Tensor] = []
    converged = False
    with bittrue.record() as log:
        for step in range(steps):
            v = basis[:, step]
            w = matrix @ v
            alpha = bittrue.run("dot", v, w, accumulator_dtype=accumulator)
            known = basis[:, : step + 1]
            for _ in range(2):  # once more removes what rounding left of the first pass
                w -= known @ (known.T @ w)
            beta = w.norm(accumulator_dtype=accumulator)
            # The projected matrix is kept in its own dtype: widened exactly, or as it is.
            alphas.append(alpha.astype(projected_dtype))
            betas.append(beta.astype(projected_dtype))
            theta, y = projected_pair(alphas, betas[:-1])
            residual = abs(betas[-1] * y[-1])
            converged = residual.item() <= tolerance * abs(theta.item())
            if converged or beta.item() == 0.0:
                break
            basis[:, step + 1] = w / beta
        count = len(alphas)
        ritz = basis[:, :count] @ narrowed(y, dtype)
        value = narrowed(theta, dtype)
    widened = f"{dtype.name}->{projected_dtype.name}"
    back = f"{projected_dtype.name}->{dtype.name}"
    report = AlgorithmReport(
        algorithm="lanczos_smallest",
        input_dtype=dtype,
        matvec_dtype=w.dtype,
        projected_matrix_dtype=alphas[0].dtype,
        inner_product_accumulator=accumulator,
        orthogonalisation_dtype=known.dtype,
        error_estimate_dtype=residual.dtype,
        output_dtype=ritz.dtype,
        conversions=(
            ()
            if projected_dtype is dtype
            else (
                ("alpha", widened, count),
                ("beta", widened, count),
                ("ritz_coefficients", back, 1),
                ("eigenvalue", back, 1),
            )
        ),
        steps=count,
        converged=converged,
        operations=tuple(log),
    )
    return (value, ritz), report


def narrowed(x: Tensor, dtype: SimpleDType) -> Tensor:
    """Return `x` rounded to `dtype`: the explicit spelling of a narrowing."""
    return bittrue.zeros(x.shape, dtype=dtype).assign(x, narrow=True)


def projected_pair(alphas: list[Tensor], betas: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the smallest eigenvalue of a tridiagonal matrix and its unit vector, in its dtype.

    The pivots of T - x, all positive, say that x lies below every eigenvalue. A search keeps the
    largest such x; from there inverse iteration needs no pivoting.
    """
    dtype = alphas[0].dtype
    squares = [beta * beta for beta in betas]
    radius = sum(abs(x.item()) for x in (*alphas, *betas, *betas))
    low, high = -radius, radius
    while True:
        shifts = bittrue.linspace(low, high, CANDIDATES + 1, dtype=dtype)
        below = bittrue.ones_like(shifts, dtype=bittrue.bool_)
        pivot = bittrue.ones_like(shifts)
        for position, alpha in enumerate(alphas):
            pivot = alpha - shifts - (squares[position - 1] / pivot if position else 0.0)
            below &= pivot > 0.0
        last = max((i for i, good in enumerate(below.tolist()) if good), default=0)
        found = shifts.tolist()
        if (found[last], found[last + 1]) == (low, high):
            return bittrue.asarray(low, dtype), below_vector(alphas, betas, low)
        low, high = found[last], found[last + 1]


def below_vector(alphas: list[Tensor], betas: list[Tensor], shift: float) -> Tensor:
    """Return the unit vector of the smallest eigenvalue, by inverse iteration just below it."""
    dtype = alphas[0].dtype
    pivots = [alphas[0] - shift]
    for alpha, beta in zip(alphas[1:], betas, strict=True):
        pivots.append(alpha - shift - beta * beta / pivots[-1])
    y = [bittrue.ones((), dtype=dtype)] * len(alphas)
    for _ in range(3):
        for k, beta in enumerate(betas):
            y[k + 1] = y[k + 1] - beta / pivots[k] * y[k]
        y[-1] = y[-1] / pivots[-1]
        for k in reversed(range(len(betas))):
            y[k] = (y[k] - betas[k] * y[k + 1]) / pivots[k]
        vector = bittrue.array_api.stack(y)
        vector /= vector.norm()
        y = list(vector)
    return vector


def laplacian(side: int) -> Tensor:
    """Return the five-point Laplacian of a square grid; its entries are exact in any format."""
    n = side * side
    matrix = bittrue.eye(n) * 4.0
    for row in range(n):
        if row % side:
            matrix[row, row - 1] = matrix[row - 1, row] = -1.0
        if row >= side:
            matrix[row, row - side] = matrix[row - side, row] = -1.0
    return matrix


def main() -> None:
    """Compare both working precisions with the eigenvalue that theory gives."""
    side = 6
    matrix = laplacian(side)
    start = bittrue.linspace(1, 2, side * side)
    exact = 4 - 4 * math.cos(math.pi / (side + 1))
    for working in (
        Working(),
        Working(projected_matrix=float64, inner_product_accumulator=float64),
    ):
        (value, vector), report = smallest_eigenpair(
            matrix, start, steps=side * side, tolerance=1e-6, working=working
        )
        residual = matrix @ vector - vector * value
        print(report)
        print(f"eigenvalue              {value.item()!r}, exactly {exact!r}")
        print(f"residual                {residual.norm(working_dtype=float64).item():.2e}")
        print()
        assert value.dtype is vector.dtype is float32


if __name__ == "__main__":
    main()
