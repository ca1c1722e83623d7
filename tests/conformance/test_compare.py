"""Classes of difference: tables typed by hand, and the error bound of a sum in any order."""

import random
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bittrue import DType
from bittrue.conformance.compare import Difference, classify, is_association, spell, ulps
from bittrue.encoding import BINARY32, BINARY64
from bittrue.generic import arithmetic as ar
from bittrue.generic.numbers import convert
from bittrue.generic.reduce import lane_sum
from bittrue.policy import SIMPLE
from bittrue.scalars import scalar_value

F32, F64, I32, BOOL = DType.Float32, DType.Float64, DType.Int32, DType.Bool
SUM = SIMPLE.resolve("reduce_sum", F32)
WIDE = SIMPLE.resolve("reduce_sum", F32, accumulator_dtype=F64)
SCAN = SIMPLE.resolve("cumsum", F32)

ONE, TWO, MAX, INF, NAN = 0x3F800000, 0x40000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000
MINUS = 0x80000000


@pytest.mark.rule("verify.compare.classify")
@pytest.mark.parametrize(
    ("dtype", "expected", "actual", "kind"),
    [
        (F32, ONE, ONE + 1, Difference.VALUE),
        (F32, ONE, MINUS | ONE, Difference.VALUE),
        (F32, 0, MINUS, Difference.ZERO_SIGN),
        (F32, MINUS, 0, Difference.ZERO_SIGN),
        (F32, 1, 0, Difference.VALUE),
        (F32, NAN, NAN | MINUS, Difference.NAN_BITS),
        (F32, NAN, 0x7F800001, Difference.NAN_BITS),
        (F32, NAN, INF, Difference.SPECIAL),
        (F32, ONE, NAN, Difference.SPECIAL),
        (F32, NAN, 0, Difference.SPECIAL),
        (F32, INF, MAX, Difference.SPECIAL),
        (F32, INF, INF | MINUS, Difference.SPECIAL),
        (F64, 0, 1 << 63, Difference.ZERO_SIGN),
        (I32, 0, 1, Difference.VALUE),
        (I32, 2**31 - 1, -(2**31), Difference.VALUE),
        (BOOL, 0, 1, Difference.VALUE),
    ],
)
def test_classify(dtype, expected, actual, kind):
    assert classify(dtype, expected, actual) is kind


@pytest.mark.rule("verify.compare.ulps")
@pytest.mark.parametrize(
    ("dtype", "expected", "actual", "distance"),
    [
        (F32, ONE, ONE, 0),
        (F32, ONE, ONE + 1, 1),
        (F32, ONE, ONE - 1, 1),
        (F32, 0, MINUS, 0),
        (F32, 1, MINUS | 1, 2),
        (F32, 0, 1, 1),
        (F32, 0x00800000, 0x007FFFFF, 1),
        (F32, MAX, INF, 1),
        (F32, INF, INF | MINUS, 2 * INF),
        (F32, ONE, TWO, 1 << 23),
        (F32, NAN, ONE, None),
        (F32, ONE, NAN, None),
        (F64, 1, (1 << 63) | 2, 3),
        (I32, 1, 5, None),
        (BOOL, 0, 1, None),
    ],
)
def test_ulps(dtype, expected, actual, distance):
    assert ulps(dtype, expected, actual) == distance
    assert ulps(dtype, actual, expected) == distance


@pytest.mark.rule("verify.compare.spell")
@pytest.mark.parametrize(
    ("dtype", "stored", "text"),
    [
        (F32, 0, "00000000 (0)"),
        (F32, MINUS, "80000000 (-0)"),
        (F32, ONE, "3f800000 (1)"),
        (F32, 0x3DCCCCCD, "3dcccccd (0.100000001)"),
        (F32, 1, "00000001 (1.40129846e-45)"),
        (F32, MAX, "7f7fffff (3.40282347e+38)"),
        (F32, INF, "7f800000 (inf)"),
        (F32, INF | MINUS, "ff800000 (-inf)"),
        (F32, NAN, "7fc00000 (NaN)"),
        (F32, 0xFFC00000, "ffc00000 (-NaN)"),
        (F32, 0x7F800001, "7f800001 (signaling NaN)"),
        (F32, 0xFF800001, "ff800001 (-signaling NaN)"),
        (F64, 0x3FB999999999999A, "3fb999999999999a (0.10000000000000001)"),
        (I32, 0, "00000000 (0)"),
        (I32, 2**31 - 1, "7fffffff (2147483647)"),
        (I32, -1, "ffffffff (-1)"),
        (I32, -(2**31), "80000000 (-2147483648)"),
        (BOOL, 1, "True"),
        (BOOL, 0, "False"),
    ],
)
def test_spell(dtype, stored, text):
    assert spell(dtype, stored) == text


@pytest.mark.rule("verify.compare.spell")
@given(st.integers(0, 2**32 - 1))
def test_spelled_decimal_reads_back_as_the_same_bits(bits):
    assume(not BINARY32.is_nan(bits))
    hexadecimal, _, decimal = spell(F32, bits).partition(" ")
    assert int(hexadecimal, 16) == bits
    value = float(decimal.strip("()"))
    if BINARY32.is_finite(bits):
        numerator, denominator = abs(value).as_integer_ratio()
        assert BINARY32.encode_ratio(numerator, denominator) == bits & 0x7FFFFFFF
    else:
        assert value == scalar_value(bits, F32)


# --- association ----------------------------------------------------------------------------------


def tree_sum(fmt, terms: list[int], rng: random.Random) -> int:
    """Add terms two at a time in a random order: every tree over every permutation."""
    left = list(terms)
    while len(left) > 1:
        rng.shuffle(left)
        left.append(ar.add(fmt, left.pop(), left.pop()))
    return left[0]


def exact_sum(terms: list[int]) -> Fraction:
    total = Fraction(0)
    for term in terms:
        negative, significand, exponent = BINARY32.decode(term)
        total += (-1 if negative else 1) * significand * Fraction(2) ** exponent
    return total


def nearest(value: Fraction) -> int:
    bits = BINARY32.encode_ratio(abs(value.numerator), value.denominator)
    return bits | MINUS if value < 0 else bits


any_bits = st.integers(0, 2**32 - 1)
finite = any_bits.filter(BINARY32.is_finite)
near_one = st.builds(
    lambda fraction, exponent, sign: sign << 31 | exponent << 23 | fraction,
    st.integers(0, 2**23 - 1),
    st.integers(110, 140),
    st.integers(0, 1),
)
huge = st.builds(
    lambda fraction, exponent, sign: sign << 31 | exponent << 23 | fraction,
    st.integers(0, 2**23 - 1),
    st.integers(250, 254),
    st.integers(0, 1),
)
tiny = st.builds(
    lambda magnitude, sign: sign << 31 | magnitude, st.integers(0, 2**24), st.integers(0, 1)
)
terms_of = st.one_of(
    *(st.lists(kind, min_size=3, max_size=20) for kind in (near_one, huge, tiny, any_bits)),
    st.lists(st.one_of(near_one, huge, tiny, any_bits), min_size=3, max_size=20),
)


@pytest.mark.rule("verify.compare.association")
@pytest.mark.parametrize("plan", [SUM, SCAN], ids=["reduce_sum", "cumsum"])
@given(terms=terms_of, rng=st.randoms(use_true_random=False))
def test_any_order_of_the_terms_is_an_association(plan, terms, rng):
    assume(any(not BINARY32.is_zero(term) for term in terms))
    expected = lane_sum(BINARY32, terms)
    actual = tree_sum(BINARY32, terms, rng)
    if expected == actual or (BINARY32.is_nan(expected) and BINARY32.is_nan(actual)):
        return
    assert is_association(plan, terms, actual)


@pytest.mark.rule("verify.compare.association")
@given(terms=terms_of, rng=st.randoms(use_true_random=False))
def test_any_order_in_binary64_is_an_association(terms, rng):
    assume(any(not BINARY32.is_zero(term) for term in terms))
    wide = [convert(term, BINARY32, BINARY64) for term in terms]
    expected = convert(lane_sum(BINARY64, wide), BINARY64, BINARY32)
    actual = convert(tree_sum(BINARY64, wide, rng), BINARY64, BINARY32)
    if expected == actual or (BINARY32.is_nan(expected) and BINARY32.is_nan(actual)):
        return
    assert is_association(WIDE, terms, actual)


@pytest.mark.rule("verify.compare.association")
@given(terms=st.lists(near_one, min_size=3, max_size=20), up=st.booleans())
def test_sum_off_by_more_than_the_bound_is_none(terms, up):
    exact = exact_sum(terms)
    size = sum((abs(exact_sum([term])) for term in terms), Fraction(0))
    n = len(terms)
    bound = Fraction(n - 1, 2**24) / (1 - Fraction(n - 1, 2**24)) * size
    actual = nearest(exact + (2 if up else -2) * bound)
    assume(abs(exact_sum([actual]) - exact) > bound)
    assert not is_association(SUM, terms, actual)


@pytest.mark.rule("verify.compare.association")
@given(terms=st.lists(near_one, min_size=3, max_size=20), steps=st.integers(2, 1000))
def test_wide_sum_off_by_two_ulps_is_none(terms, steps):
    exact = exact_sum(terms)
    size = sum((abs(exact_sum([term])) for term in terms), Fraction(0))
    assume(abs(exact) * 2**20 > size)
    actual = nearest(exact) + steps
    assert not is_association(WIDE, terms, actual)


@pytest.mark.rule("verify.compare.association")
@given(terms=st.lists(any_bits, max_size=2), actual=any_bits)
def test_two_terms_have_one_order(terms, actual):
    for plan in (SUM, WIDE, SCAN):
        assert not is_association(plan, terms, actual)


@pytest.mark.rule("verify.compare.association")
@pytest.mark.parametrize("operation", ["reduce_prod", "reduce_max", "argmax", "add", "gelu"])
def test_only_sums_have_associations(operation):
    operands = (F32, F32) if operation == "add" else (F32,)
    plan = SIMPLE.resolve(operation, *operands)
    assert not is_association(plan, [ONE, ONE, ONE], 0x40400001)
    assert is_association(SUM, [ONE, ONE, ONE], 0x40400001)


BIG = 0x7F000000  # 2^127


@pytest.mark.rule("verify.compare.association-special")
@pytest.mark.parametrize(
    ("plan", "terms", "actual", "answer"),
    [
        # 2^127 + 2^127 overflows where it comes first; 2^127 - 2^127 does not.
        (SUM, [BIG, BIG, BIG | MINUS], INF, True),
        (SUM, [BIG, BIG, BIG | MINUS], BIG, True),
        # No order of them gives a finite number that far from the exact sum.
        (SUM, [BIG, BIG, BIG | MINUS], ONE, False),
        (SUM, [BIG, BIG, BIG | MINUS], BIG | MINUS, False),
        # All positive: no order gives -inf.
        (SUM, [BIG, BIG, BIG], INF | MINUS, False),
        (SUM, [BIG, BIG, BIG], NAN, False),
        # Binary64 holds every partial sum; only the exact total decides.
        (WIDE, [BIG, BIG, BIG | MINUS], INF, False),
        (WIDE, [BIG, BIG, BIG | MINUS], BIG, True),
        # A NaN among the terms gives NaN in every order.
        (SUM, [NAN, ONE, TWO], INF, False),
        (SUM, [NAN, BIG, BIG], INF, False),
        (SUM, [NAN, ONE, TWO], ONE, False),
        # +inf with finite terms: +inf, or NaN where the others overflow to -inf first.
        (SUM, [INF, ONE, TWO], NAN, False),
        (SUM, [INF, ONE, TWO], INF | MINUS, False),
        (SUM, [INF, BIG | MINUS, BIG | MINUS], NAN, True),
        (SUM, [INF, BIG | MINUS, BIG | MINUS], INF | MINUS, False),
        (SUM, [INF, ONE, TWO], MAX, False),
        (SUM, [INF, INF | MINUS, ONE], INF, False),
        # Far from overflow nothing becomes infinite.
        (SUM, [ONE, ONE, ONE], INF, False),
        (SUM, [ONE, ONE, ONE], NAN, False),
        # A sum starts from +0: -0 comes from no order of the additions.
        (SUM, [MINUS, MINUS, MINUS], MINUS, False),
        (SUM, [ONE, ONE | MINUS, MINUS], MINUS, False),
        (SUM, [0, 0, 0], MINUS, False),
        (SUM, [ONE, ONE | MINUS, 0], 0, True),
    ],
)
def test_special_sums(plan, terms, actual, answer):
    assert is_association(plan, terms, actual) is answer
