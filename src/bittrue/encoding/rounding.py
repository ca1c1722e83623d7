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
    odd: bool | None = None,
    random: int | None = None,
) -> tuple[int, bool]:
    """Round ``(magnitude + lost) / 2**drop`` to an integer; return it and whether it is inexact.

    `negative` is the sign of the number whose magnitude this is (directed modes and RHB need it).
    A `sticky` lost part needs ``drop >= 1``: with less, no bit would be left to tell its size.
    `odd` is the parity of the kept integer where that of its code differs. With `random`, a word
    of 32 bits, the magnitude moves up if the word is below the lost part's share of 2**32.
    """
    if drop <= 0:
        return magnitude << -drop, False
    if random is None and drop > magnitude.bit_length() + 1:
        # Below a quarter, however far: a quarter rounds the same and needs no giant mask.
        magnitude, drop = min(magnitude, 1), 2
    kept = magnitude >> drop
    rest = magnitude - (kept << drop)
    if not rest and not sticky:
        return kept, False
    if random is not None:
        return kept + (random < (rest << 32) >> drop), True
    half = 1 << (drop - 1)
    if rounding is Rounding.RNE and odd is None:
        # Every step of the reference comes here: no call, and no more tests than the rule has.
        return kept + (rest > half or (rest == half and (sticky or bool(kept & 1)))), True
    above = rest > half or (rest == half and sticky)
    tie = rest == half and not sticky
    parity = bool(kept & 1) if odd is None else odd
    up = _moves_up(rounding, above=above, tie=tie, odd=parity, negative=negative)
    return kept + up, True


def _moves_up(rounding: Rounding, *, above: bool, tie: bool, odd: bool, negative: bool) -> bool:
    """Decide whether an inexact magnitude moves to the integer above.

    `above` tells that more than a half was lost, `tie` exactly a half, `odd` the parity of the
    kept integer.
    """
    if rounding is Rounding.RTZ:
        return False
    if rounding is Rounding.RTM:
        return negative
    if rounding is Rounding.RTP:
        return not negative
    if rounding is Rounding.RTO:
        return not odd
    if rounding is Rounding.RNA:
        return above or tie
    if rounding is Rounding.RHB:
        return above or (tie and not negative)
    return above or (tie and odd)
