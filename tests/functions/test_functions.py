"""Public operations made of registry rows: operations.md 3.4 and 3.6."""

from __future__ import annotations

import math

import pytest

import bittrue

TIES = [3.0, math.nan, -0.0, 0.0, 2.0, math.nan, -math.inf, math.inf]


@pytest.mark.rule("operations.sort.pair")
def test_sort_returns_values_and_indices() -> None:
    ascending = bittrue.sort(TIES)
    assert ascending.indices.tolist() == [6, 2, 3, 4, 0, 7, 1, 5]
    assert [str(v) for v in ascending.values.tolist()] == [
        "-inf", "-0.0", "0.0", "2.0", "3.0", "inf", "nan", "nan",
    ]  # fmt: skip
    assert bittrue.sort(TIES, descending=True).indices.tolist() == [1, 5, 7, 0, 4, 2, 3, 6]


@pytest.mark.rule("operations.topk.pair")
def test_topk_is_the_head_of_the_sorted_axis() -> None:
    assert bittrue.topk(TIES, 3).indices.tolist() == [1, 5, 7]
    smallest = bittrue.topk([[2.0, 1.0], [0.5, 4.0]], 1, axis=0, largest=False)
    assert smallest.values.tolist() == [[0.5, 1.0]]
    assert smallest.indices.tolist() == [[1, 0]]
    with pytest.raises(ValueError, match="k"):
        bittrue.topk(TIES, 9)


@pytest.mark.rule("operations.gt.swaps-lt")
def test_gt_and_ge_are_lt_and_le_with_operands_swapped() -> None:
    lhs, rhs = [1.0, 2.0, math.nan, -0.0], [2.0, 1.0, 1.0, 0.0]
    assert bittrue.gt(lhs, rhs).tolist() == [False, True, False, False]
    assert bittrue.ge(lhs, rhs).tolist() == [False, True, False, True]
