"""The one rounding gate: from an exact magnitude to a kept integer.

Belongs here: the rounding modes and the decision whether a lost part moves the kept integer up.
Never here: ranges, encodings, special values. Every rounding of the reference passes through
`round_magnitude`.

Theory. A magnitude is ``(magnitude + lost) / 2**drop`` with ``0 <= lost < 1``; `sticky` tells that
``lost`` is not zero. The kept integer is the floor or the floor plus one. With the sign, the parity
of the floor, and the comparison of the remainder with one half, every mode is one condition.
"""

from __future__ import annotations

from enum import IntEnum


class Rounding(IntEnum):
    """Rounding modes, with the codes of postprocess-and-formats."""

    NONE = 0
    """The default of the operation: nearest even, or toward zero into an integer."""
    RNE = 1
    """Nearest, ties to the even neighbour."""
    RTZ = 2
    """Toward zero."""
    RTM = 3
    """Toward negative infinity."""
    RTP = 4
    """Toward positive infinity."""
    RNA = 5
    """Nearest, ties away from zero."""
    RTO = 6
    """To the odd neighbour, exact values excepted."""
    RHB = 7
    """Nearest, ties to the numerically greater neighbour."""


def round_magnitude(
    magnitude: int,
    drop: int,
    *,
    negative: bool = False,
    sticky: bool = False,
    rounding: Rounding = Rounding.RNE,
) -> tuple[int, bool]:
    """Round ``(magnitude + lost) / 2**drop`` to an integer; return it and whether it is inexact.

    `negative` is the sign of the number whose magnitude this is (directed modes and RHB need it).
    A `sticky` lost part needs ``drop >= 1``: with less, no bit would be left to tell its size.
    """
    if drop <= 0:
        return magnitude << -drop, False
    kept = magnitude >> drop
    rest = magnitude & ((1 << drop) - 1)
    if not rest and not sticky:
        return kept, False
    half = 1 << (drop - 1)
    above = rest > half or (rest == half and sticky)
    tie = rest == half and not sticky
    up = above
    if rounding is Rounding.RNE or rounding is Rounding.NONE:
        up = above or (tie and bool(kept & 1))
    elif rounding is Rounding.RNA:
        up = above or tie
    elif rounding is Rounding.RHB:
        up = above or (tie and not negative)
    elif rounding is Rounding.RTZ:
        up = False
    elif rounding is Rounding.RTM:
        up = negative
    elif rounding is Rounding.RTP:
        up = not negative
    elif rounding is Rounding.RTO:
        up = not kept & 1
    return kept + up, True
