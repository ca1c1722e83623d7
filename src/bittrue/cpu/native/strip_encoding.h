// How words become codes of a destination, as the kernels of strips.h read it: an Encoding made of
// the facts of a LaneType. Like lane.h, never for a source that is compiled per instruction level.
#pragma once

#include "lane.h"
#include "strips.h"

namespace bittrue {
namespace {

template <typename U>
struct WordType;

template <>
struct WordType<std::uint32_t> {
    static constexpr int bits = 32, fraction = 23, exponent = 8, bias = 127;
};

template <>
struct WordType<std::uint64_t> {
    static constexpr int bits = 64, fraction = 52, exponent = 11, bias = 1023;
};

template <typename U>
LaneType word_type() {
    using W = WordType<U>;
    LaneType type;
    type.kind = Kind::fixed;
    type.specials = Specials::ieee;
    type.word_bits = W::bits;
    type.sign_bit = W::bits - 1;
    type.exponent_bits = W::exponent;
    type.fraction_bits = W::fraction;
    type.bias = W::bias;
    type.emin = 1 - W::bias;
    type.has_signed_zero = type.has_subnormal = type.has_infinity = type.has_nan = true;
    type.magnitude_mask = type.word_mask() >> 1;
    type.infinity = ((std::uint64_t{1} << W::exponent) - 1) << W::fraction;
    type.max_finite = type.infinity - 1;
    type.canonical_nan = type.infinity | std::uint64_t{1} << (W::fraction - 1);
    return type;
}

// Words below `tiny` underflow when inexact: they do not round up to the smallest normal on a grid
// without end of `fraction_bits`. The step of that grid just below the smallest normal is
// 2^tiny_shift words (half a word where the format keeps every bit); the modes round up to it from
// a distance of up to half a step, up to less than a whole one, or never.
template <typename U>
void set_tiny(Encoding<U>& e, const LaneType& destination, int rounding) {
    using W = WordType<U>;
    if (!destination.has_subnormal) return;
    const int width = destination.kind == Kind::variable ? 1 : destination.fraction_bits;
    const int shift = W::fraction - width - (destination.emin == 1 - W::bias ? 1 : 0);
    const U half = shift >= 1 ? U{1} << (shift - 1) : 0;
    const U below_step = shift >= 0 ? (U{1} << shift) - 1 : 0;
    U reach[2] = {0, 0};
    switch (rounding) {
        case rne:
        case rna: reach[0] = reach[1] = half; break;
        case rhb: reach[0] = half, reach[1] = half > 0 ? half - 1 : 0; break;
        case rtp: reach[0] = below_step; break;
        case rtm: reach[1] = below_step; break;
        default: break;  // toward zero; to odd, which the number below is; random: by its words
    }
    e.tiny[0] = e.smallest_normal - reach[0];
    e.tiny[1] = e.smallest_normal - reach[1];
    e.tiny_shift = shift > 0 ? shift : 0;
}

// The greatest word that does not overflow to nearest even.
template <typename U>
U greatest_finite(const LaneType& destination, bool saturate) {
    const LaneType type = word_type<U>();
    U finite = 0, over = static_cast<U>(type.infinity);
    while (over - finite > 1) {
        const U middle = finite + (over - finite) / 2;
        const Lane lane = to_float(read_fixed(type, middle), destination, rne, saturate, 0);
        (lane.flags & of ? over : finite) = middle;
    }
    return finite;
}

template <typename U>
void set_nearest(Encoding<U>& e, const LaneType& destination, bool over_is_nan, bool saturate) {
    using W = WordType<U>;
    e.parity = destination.fraction_bits > 0 ? 1 : 0;
    e.nearest = (U{1} << (e.drop - 1)) - e.parity - (e.rebias << e.drop);
    e.grid = static_cast<U>(destination.emin + W::bias + e.drop) << W::fraction;
    e.cap = e.over_code >> e.low_zero_bits;
    e.nan_from = over_is_nan ? greatest_finite<U>(destination, saturate)
                             : static_cast<U>(word_type<U>().infinity);
    e.sign_shift = destination.sign_bit < 0 ? 0 : W::bits - 1 - destination.sign_bit;
}

template <typename U>
Encoding<U> encoding_of(const LaneType& destination, int rounding, bool saturate) {
    using W = WordType<U>;
    Encoding<U> e{};
    e.saturate = saturate;
    if (destination.kind == Kind::integer) {
        const IntegerRange range = integer_range(destination);
        for (int negative = 0; negative < 2; ++negative) {
            e.limit[negative] = static_cast<U>(range.magnitude[negative]);
            e.clamped[negative] = static_cast<U>(
                integer_code(destination, range.magnitude[negative], negative != 0));
            e.infinity_integer[negative] =
                saturate ? e.clamped[negative] : static_cast<U>(indefinite(destination));
        }
        e.nan_integer = saturate ? 0 : static_cast<U>(indefinite(destination));
        e.infinity_flags = saturate ? of | nx : nv;
        e.mask = static_cast<U>(destination.word_mask());
        return e;
    }
    e.over_code = static_cast<U>(overflow(destination, false, saturate));
    e.sign = destination.sign_bit < 0 ? 0 : U{1} << destination.sign_bit;
    const bool over_is_nan = !saturate && !destination.has_infinity && destination.has_nan;
    e.over_sign = over_is_nan ? 0 : e.sign;
    if (destination.kind == Kind::scale) {
        e.nan_code = static_cast<U>(destination.canonical_nan);
        return e;
    }
    e.nan_code = saturate || !destination.has_nan ? 0 : static_cast<U>(destination.canonical_nan);
    e.infinity_flags = destination.has_infinity && !saturate ? 0 : of | nx;
    e.quiet_flags = saturate || destination.has_nan ? 0 : nv;
    e.signaling_flags = nv;
    e.smallest_normal = static_cast<U>(destination.emin + W::bias) << W::fraction;
    set_tiny(e, destination, rounding);
    if (destination.kind == Kind::variable) {
        // The largest finite value 2^15, or what would follow it, 1.5 * 2^15: the code of infinity.
        e.highest = static_cast<U>(15 + W::bias) << W::fraction;
        if (!saturate) e.highest |= U{1} << (W::fraction - 1);
        return e;
    }
    const int f = destination.fraction_bits;
    e.drop = W::fraction - f;
    e.rebias = static_cast<U>(destination.emin + W::bias - 1) << f;
    e.subnormal_drop = destination.emin - f + W::bias + W::fraction;
    e.max_code = static_cast<U>(destination.max_finite >> destination.low_zero_bits);
    e.low_zero_bits = destination.low_zero_bits;
    if (sizeof(U) == sizeof(std::uint32_t) && rounding == rne && e.drop > 0) {
        set_nearest(e, destination, over_is_nan, saturate);
    }
    return e;
}

}  // namespace
}  // namespace bittrue
