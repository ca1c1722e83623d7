// Stage two: what becomes of one vector of words, by kind of destination and rounding mode.
//
// Part of strips.cpp, which is compiled once for each instruction level: see its rules.
#pragma once

#include "strip_vectors.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

// --- rounding -----------------------------------------------------------------------------------

// floor(rest * 2^32 / 2^drop), rest < 2^drop.
template <typename U>
inline Vec<U> share_of(Vec<U> rest, Vec<U> drop) {
    using M = Mask<U>;
    constexpr typename Word<U>::Signed last = Word<U>::bits - 1;
    const M over = (M)drop - 32;
    const M down = over < 0 ? M{} : over > last ? M{} + last : over;
    const M up = -over > 31 ? M{} + 31 : over > 0 ? M{} : -over;
    return over > 0 ? rest >> (Vec<U>)down : rest << (Vec<U>)up;
}

// value >> drop, rounded. `mask` has `drop` ones, `odd` is the parity of the lower neighbour's
// code, `negative` 0 or all ones, `lost` the true number of dropped bits, which `drop` limits.
template <int mode, typename U>
inline Vec<U> rounded(Vec<U> value, Vec<U> drop, Vec<U> mask, Vec<U> odd, Vec<U> negative,
                      Vec<U> random, Vec<U> lost) {
    const Vec<U> half = mask & 1;  // added to half - 1; 0 where nothing is dropped
    switch (mode) {
        case rne: return (value + (mask >> 1) + (odd & half)) >> drop;
        case rtz: return value >> drop;
        case rtm: return (value + (mask & negative)) >> drop;
        case rtp: return (value + (mask & ~negative)) >> drop;
        case rna: return (value + (mask >> 1) + half) >> drop;
        case rto: return (value >> drop) + ((value & mask) != 0 ? odd ^ 1 : Vec<U>{});
        case rhb: return (value + (mask >> 1) + (half & ~negative)) >> drop;
        default:
            return (value >> drop) - (Vec<U>)(random < share_of<U>(value & mask, lost));
    }
}

template <int mode>
constexpr bool uses_parity = mode == rne || mode == rto;

// Tininess after rounding: whether a value below the smallest normal, rounded with an unbounded
// exponent, stays below it. For the modes of `tiny` one comparison tells.
template <int mode, typename U>
inline Mask<U> is_tiny(const Encoding<U>& p, Vec<U> magnitude, Vec<U> negative, Vec<U> random) {
    const Vec<U> bound = (Mask<U>)negative ? all_lanes(p.tiny[1]) : all_lanes(p.tiny[0]);
    if (mode != stochastic) return less<U>(magnitude, bound);
    const Vec<U> below = bound - magnitude;
    const U step = U{1} << p.tiny_shift;
    const Vec<U> share = share_of<U>((step - below) & (step - 1),
                                     all_lanes(static_cast<U>(p.tiny_shift)));
    const Mask<U> up = less<U>(below, all_lanes(step)) & (Mask<U>)(random < share);
    return less<U>(magnitude, bound) & ~up;
}

template <typename U>
inline Vec<U> finish_flags(const Encoding<U>& p, Vec<U> magnitude, Mask<U> inexact, Mask<U> tiny,
                           Mask<U> over) {
    constexpr U none = 0;
    Vec<U> flags = inexact ? (tiny ? all_lanes<U>(uf | nx) : all_lanes<U>(nx)) : all_lanes(none);
    const Vec<U> infinite = all_lanes<U>(p.infinity_flags);
    flags = over ? (magnitude == infinity_of<U> ? infinite : all_lanes<U>(of | nx)) : flags;
    const Vec<U> nan = (magnitude & quiet_of<U>) != 0 ? all_lanes<U>(p.quiet_flags)
                                                      : all_lanes<U>(p.signaling_flags);
    return less<U>(all_lanes(infinity_of<U>), magnitude) ? nan : flags;
}

// Ones in the lanes of negative words.
template <typename U>
inline Vec<U> negatives(Vec<U> words) {
    return (Vec<U>)((Mask<U>)words < 0);
}

// --- stage two ----------------------------------------------------------------------------------

template <typename U>
struct Same {
    static constexpr bool draws = false;
    explicit Same(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        // An infinity is the code beyond the largest: itself, or that one.
        const Vec<U> code = lesser_of<U>(magnitude, all_lanes(p.over_code));
        const Mask<U> nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        if (flags) {
            const Mask<U> over = magnitude == infinity_of<U>;
            raised = finish_flags<U>(p, magnitude, Mask<U>{}, Mask<U>{}, over);
        }
        return nan ? all_lanes(p.nan_code) : code | (words & sign_of<U>);
    }

    const Encoding<U> p;
};

// Any fixed format in any mode.
template <typename U, int mode>
struct Fixed {
    static constexpr bool draws = mode == stochastic;
    explicit Fixed(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U> random, Vec<U>& raised) const {
        constexpr int fraction = Word<U>::fraction;
        // Two bits more than a significand has leave less than a quarter; the shares of stochastic
        // rounding need the true number.
        constexpr U most = mode == stochastic ? Word<U>::bits - 1 : fraction + 2;
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        const Vec<U> negative = negatives<U>(words);
        const Vec<U> field = greater_of<U>(magnitude >> fraction, all_lanes(U{1}));
        const Vec<U> significand = magnitude - ((field - 1) << fraction);
        const Vec<U> lost = greater_of<U>(static_cast<U>(p.subnormal_drop) - field,
                                          all_lanes(static_cast<U>(p.drop)));
        const Vec<U> drop = lesser_of<U>(lost, all_lanes(most));
        const Vec<U> mask = (all_lanes(U{1}) << drop) - 1;
        const Vec<U> odd = uses_parity<mode> ? significand >> drop & 1 : Vec<U>{};
        const Vec<U> kept =
            rounded<mode, U>(significand, drop, mask, odd, negative, random, lost);
        const U first = p.smallest_normal >> fraction;
        const Vec<U> binades = greater_of<U>(field, all_lanes(first)) - first;
        const Vec<U> code = kept + (binades << (fraction - p.drop));
        const Mask<U> over = less<U>(all_lanes(p.max_code), code);
        const Mask<U> nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        const Vec<U> finite = over ? all_lanes(p.over_code) : code << p.low_zero_bits;
        const Vec<U> sign = (over ? all_lanes(p.over_sign) : all_lanes(p.sign)) & negative;
        if (flags) {
            const Mask<U> inexact = (significand & mask) != 0;
            const Mask<U> tiny = is_tiny<mode, U>(p, magnitude, negative, random);
            raised = finish_flags<U>(p, magnitude, inexact, tiny, over);
        }
        return nan ? all_lanes(p.nan_code) : finite | sign;
    }

    const Encoding<U> p;
};

// Fixed formats to nearest even, without shifts that differ from lane to lane: normals by an
// integer addition before the shift, subnormals by adding a number whose last place is the grid.
template <bool gradual>
struct FixedNearest {
    using U = u32;
    static constexpr bool draws = false;
    explicit FixedNearest(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        const Vec<U> odd = magnitude >> p.drop & p.parity;
        const Vec<U> kept = (magnitude + p.nearest + odd) >> p.drop;
        Vec<U> code = kept;
        Mask<U> subnormal{};
        Word<U>::FloatVec sum{};
        if (gradual) {
            Word<U>::FloatVec base;
            const Vec<U> base_bits = all_lanes(p.grid);
            std::memcpy(&base, &base_bits, sizeof base);
            std::memcpy(&sum, &magnitude, sizeof sum);
            sum += base;
            Vec<U> bits;
            std::memcpy(&bits, &sum, sizeof bits);
            subnormal = less<U>(magnitude, all_lanes(p.smallest_normal));
            code = subnormal ? bits - p.grid : kept;
            if (flags) sum -= base;
        }
        if (flags) {
            const U ones = (U{1} << p.drop) - 1;
            Mask<U> inexact = (magnitude & ones) != 0;
            if (gradual) {
                Vec<U> back;
                std::memcpy(&back, &sum, sizeof back);
                inexact = subnormal ? (Mask<U>)(back != magnitude) : inexact;
            }
            const Mask<U> tiny = less<U>(magnitude, all_lanes(p.tiny[0]));
            const Mask<U> over = less<U>(all_lanes(p.max_code), code);
            raised = finish_flags<U>(p, magnitude, inexact, tiny, over);
        }
        code = lesser_of<U>(code, all_lanes(p.cap)) << p.low_zero_bits;
        code |= words >> p.sign_shift & p.sign;
        return less<U>(all_lanes(p.nan_from), magnitude) ? all_lanes(p.nan_code) : code;
    }

    const Encoding<U> p;
};

// HiF8: as many fraction bits as the exponent leaves room for; powers of two alone below 2^-15.
template <typename U, int mode>
struct Variable {
    static constexpr bool draws = mode == stochastic;
    explicit Variable(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U> random, Vec<U>& raised) const {
        using M = Mask<U>;
        constexpr int fraction = Word<U>::fraction, bias = Word<U>::bias;
        constexpr U most = mode == stochastic ? Word<U>::bits - 1 : fraction + 2;
        constexpr U beyond = U(bias + 15) << fraction | hidden_of<U> >> 1;  // 1.5 * 2^15
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        const Vec<U> negative = negatives<U>(words);
        const Vec<U> field = greater_of<U>(magnitude >> fraction, all_lanes(U{1}));
        const M scale = (M)field - bias;
        const M distance = scale < 0 ? -scale : scale;
        // From 2^-22 to 2^-15 the exponent field is all that is kept; its parity is the code's.
        const M small = scale < -15;
        const M lowest = scale < -22;
        const Vec<U> significand = magnitude - ((field - 1) << fraction);
        const Vec<U> value = lowest ? significand : magnitude;
        Vec<U> lost = (Vec<U>)(M{} + (fraction - 3) - (distance > 3) - (distance > 7));
        lost = small ? all_lanes(U(fraction)) : lost;
        lost = lowest ? U(fraction - 22 + bias) - field : lost;
        const Vec<U> drop = lesser_of<U>(lost, all_lanes(most));
        const Vec<U> mask = (all_lanes(U{1}) << drop) - 1;
        const Vec<U> odd = uses_parity<mode> ? value >> drop & 1 : Vec<U>{};
        const Vec<U> kept = rounded<mode, U>(value, drop, mask, odd, negative, random, lost);

        const Vec<U> moved = kept - (lowest ? Vec<U>{} : all_lanes(U(bias - 23)));
        const Vec<U> small_code = moved == 8 ? all_lanes(U{0x7e}) : moved;  // 2^-15 after 2^-16
        const Vec<U> grid = kept << drop;
        const M exponent = (M)(grid >> fraction) - bias;
        const M down = exponent < 0;
        const M e = down ? -exponent : exponent;
        const M body = (e << 3) + (M)(grid >> (fraction - 3) & 7);
        const M up = (e > 3) & 1;
        // Every class of exponents is the shifted body from a base, the negative ones above.
        const M shift = up - (e > 7);
        M normal = (body >> shift) + 16 + (up << 5) - ((e > 7) & -32) ;
        normal += down & 16;
        normal -= (e < 2) & (8 + (down & 8));
        const Vec<U> code_here = small ? small_code : (Vec<U>)normal;
        const M over = ~small & ~less<U>(grid, all_lanes(beyond));
        const M nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        const Vec<U> code = over ? all_lanes(p.over_code) : code_here;
        const Vec<U> signed_code = code == 0 ? Vec<U>{} : code | (negative & p.sign);
        if (flags) {
            const M inexact = (value & mask) != 0;
            const M tiny = is_tiny<mode, U>(p, magnitude, negative, random);
            raised = finish_flags<U>(p, magnitude, inexact, tiny, over);
        }
        return nan ? all_lanes(p.nan_code) : signed_code;
    }

    const Encoding<U> p;
};

// What HiF8 keeps of a word, by the exponent field; and the code of a word that it holds.
#if defined(__AVX512BW__)
// Tables of 64 exponents, from -32 to 31, by the lowest bits of the field.
struct VariableRows {
    static constexpr int rows = 64;
    alignas(64) u16 widths[rows];
    alignas(64) u16 entries[rows];  // the code of the power of two, and how far a fraction goes down
};

constexpr VariableRows variable_rows() {
    VariableRows made{};
    for (int e = -32; e < 32; ++e) {
        const int a = e < 0 ? -e : e;
        const int width = e < -15 || e > 15 ? 0 : a <= 3 ? 3 : a <= 7 ? 2 : 1;
        const int down = e < 0 ? 16 : 0;
        int base = e > 15 ? 0x6f : e < -22 ? 0 : e + 23;
        if (width == 1) base = 0x60 + 2 * (a - 8) + down;
        if (width == 2) base = 0x40 + 4 * (a - 4) + down;
        if (width == 3) base = a < 2 ? 8 + 8 * a + (e < 0 ? 8 : 0) : 0x20 + 8 * (a - 2) + down;
        const int row = (e + 127) & (VariableRows::rows - 1);
        made.widths[row] = static_cast<u16>(width);
        made.entries[row] = static_cast<u16>(base | (23 - width) << 8);
    }
    return made;
}
constexpr VariableRows variable_table = variable_rows();

struct VariableTables {
    VariableTables() {
        for (int half = 0; half < 2; ++half) {
            widths_[half] = _mm512_load_si512(variable_table.widths + 32 * half);
            entries_[half] = _mm512_load_si512(variable_table.entries + 32 * half);
        }
    }

    static __m512i row(const __m512i* table, Vec<u32> field) {
        return _mm512_maskz_permutex2var_epi16(0x55555555, table[0], (__m512i)field, table[1]);
    }

    Vec<u32> width(Vec<u32> field) const { return (Vec<u32>)row(widths_, field); }

    Vec<u32> code(Vec<u32> grid) const {
        const Vec<u32> entry = (Vec<u32>)row(entries_, grid >> 23);
        return (((grid & 0x7fffff) >> (entry >> 8)) + entry) & 0xff;
    }

    __m512i widths_[2], entries_[2];
};
#else
struct VariableTables {
    using V = Vec<u32>;
    using M = Mask<u32>;

    static V width(V field) {
        const M scale = (M)field - 127;
        const M distance = scale < 0 ? -scale : scale;
        const V wide = (V)((distance > 3) + (distance > 7)) + 3;
        return distance > 15 ? V{} : wide;
    }

    static V code(V grid) {
        const M scale = (M)(grid >> 23) - 127;
        const M distance = scale < 0 ? -scale : scale;
        const M far = distance > 3, farther = distance > 7;
        const M body = (distance << 3) + (M)(grid >> 20 & 7);
        // Each class of exponents starts at a base, its negative ones 16 above; the first at half.
        M base = 16 + (far & 32) + (farther & 32) + ((scale < 0) & 16);
        base = distance < 2 ? base >> 1 : base;
        const M normal = (body >> -(far + farther)) + base;
        const M small = scale < -22 ? M{} : scale + 23;
        return (V)(scale < -15 ? small : normal);
    }
};
#endif

// HiF8 to nearest, ties to even or (`rhb`) to the greater number.
template <int mode>
struct VariableNearest {
    using U = u32;
    static constexpr bool draws = false;
    explicit VariableNearest(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        constexpr U lowest = 0x30000000;  // 2^-31
        constexpr U half = 0x34000000;                          // 2^-23, which still goes to zero
        constexpr U least = 0x34800000;                         // 2^-22
        constexpr U last = 0x47200000;                          // 1.25 * 2^15, which is no overflow
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        const Vec<U> value =
            greater_of<U>(lesser_of<U>(magnitude, all_lanes(p.highest)), all_lanes(lowest));
        const Vec<U> width = tables.width(value >> 23);
        const Vec<U> mask = all_lanes(U{0x7fffff}) >> width;
        const Vec<U> negative = words >> 31;
        const Vec<U> up = mode == rhb ? negative ^ 1 : value >> (23 - width) & 1;
        const Vec<U> grid = (value + (mask >> 1) + up) & ~mask;
        Vec<U> code = tables.code(grid);
        const Vec<U> to_zero = mode == rhb ? half - 1 + negative : all_lanes(half);
        const Mask<U> nonzero = less<U>(to_zero, magnitude);
        code = greater_of<U>(code, all_lanes(U{1})) | (words >> 24 & p.sign);
        code = nonzero ? code : Vec<U>{};
        if (flags) {
            const Mask<U> over = less<U>(all_lanes(last), magnitude);
            Mask<U> inexact = (magnitude & mask) != 0;
            inexact = less<U>(magnitude, all_lanes(least)) ? (Mask<U>)(magnitude != 0) : inexact;
            const Vec<U> bound = p.tiny[0] + (mode == rhb ? negative : Vec<U>{});
            raised = finish_flags<U>(p, magnitude, inexact, less<U>(magnitude, bound), over);
        }
        return less<U>(all_lanes(infinity_of<U>), magnitude) ? all_lanes(p.nan_code) : code;
    }

    const Encoding<U> p;
    const VariableTables tables{};
};

// E8M0, from binary32 words: rounds the exponent.
template <typename U, int mode>
struct Scale {
    static constexpr bool draws = false;
    explicit Scale(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        using M = Mask<U>;
        constexpr U smallest = 0x00400000, largest = 0x7f000000;  // 2^-127 and 2^127
        constexpr U root = 0x003504f3;  // fraction of the last significand below the root of two
        const Vec<U> magnitude = words & 0x7fffffff;
        const Vec<U> floor = magnitude >> 23;  // a code, also of [2^-127, 2^-126)
        const Vec<U> fraction = (floor == 0 ? magnitude << 1 : magnitude) & 0x7fffff;
        const M inexact = fraction != 0;
        const M up = mode == rtm   ? M{}
                     : mode == rtp ? inexact
                     : mode == rtz ? inexact & less<U>(floor, all_lanes(U{127}))
                     : mode == rto ? inexact & ((floor & 1) != 0)
                                   : less<U>(all_lanes(root), fraction);
        const M over = less<U>(all_lanes(largest), magnitude);
        const M under = less<U>(magnitude, all_lanes(smallest));
        const M nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        const M refused = ((M)words < 1) | nan;
        Vec<U> code = floor - (Vec<U>)up;
        code = over ? all_lanes(p.over_code) : code;
        code = under ? all_lanes<U>(p.saturate ? 0 : 0xff) : code;
        if (flags) {
            raised = inexact ? all_lanes<U>(nx) : Vec<U>{};
            raised = over ? all_lanes<U>(of | nx) : raised;
            raised = under ? all_lanes<U>(uf | nx) : raised;
            raised = refused ? all_lanes<U>(nv) : raised;
        }
        return refused ? all_lanes(p.nan_code) : code;
    }

    const Encoding<U> p;
};

template <typename U, int mode>
struct Integer {
    static constexpr bool draws = mode == stochastic;
    explicit Integer(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U> random, Vec<U>& raised) const {
        using M = Mask<U>;
        constexpr int fraction = Word<U>::fraction, bits = Word<U>::bits;
        constexpr int unit = Word<U>::bias + fraction;  // the exponent field of 2^fraction
        constexpr U most = mode == stochastic ? bits - 1 : fraction + 2;
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        const Vec<U> negative = negatives<U>(words);
        const Vec<U> field = greater_of<U>(magnitude >> fraction, all_lanes(U{1}));
        const Vec<U> significand = magnitude - ((field - 1) << fraction);
        const M below = unit - (M)field;
        const Vec<U> lost = (Vec<U>)(below > 0 ? below : M{});
        const Vec<U> drop = lesser_of<U>(lost, all_lanes(most));
        const M above = -below;
        const Vec<U> left = (Vec<U>)(above > 0 ? above : M{});
        const Vec<U> mask = (all_lanes(U{1}) << drop) - 1;
        const Vec<U> odd = uses_parity<mode> ? significand >> drop & 1 : Vec<U>{};
        const Vec<U> kept =
            rounded<mode, U>(significand, drop, mask, odd, negative, random, lost);
        const M high = left > U(bits - 1);
        const Vec<U> shifted = kept << (high ? all_lanes(U(bits - 1)) : left);
        const Vec<U> value = high ? Vec<U>{} : shifted;  // modulo 2^bits
        const M huge = (M)field > Word<U>::bias + bits - 1;
        const M minus = (M)negative;
        const Vec<U> limit = minus ? all_lanes(p.limit[1]) : all_lanes(p.limit[0]);
        const M over = huge | (M)(value > limit);
        const M nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        const M infinite = magnitude == infinity_of<U>;
        Vec<U> result = ((value ^ negative) - negative) & p.mask;
        if (p.saturate) {
            const Vec<U> end = minus ? all_lanes(p.clamped[1]) : all_lanes(p.clamped[0]);
            result = over ? end : result;
        }
        const Vec<U> endless =
            minus ? all_lanes(p.infinity_integer[1]) : all_lanes(p.infinity_integer[0]);
        result = infinite ? endless : result;
        if (flags) {
            raised = (significand & mask) != 0 ? all_lanes<U>(nx) : Vec<U>{};
            raised = over ? all_lanes<U>(of | nx) : raised;
            raised = infinite ? all_lanes<U>(p.infinity_flags) : raised;
            raised = nan ? all_lanes<U>(nv) : raised;
        }
        return nan ? all_lanes(p.nan_integer) : result;
    }

    const Encoding<U> p;
};

// 32-bit integers to FP32 to nearest even, by the hardware. Each half of an integer is exact, so that
// their sum rounds once; less the upper half, it leaves of the lower one what was lost.
template <bool is_signed>
struct IntegerSingle {
    using U = u32;
    static constexpr bool draws = false;
    explicit IntegerSingle(const Encoding<U>&) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        using F = Word<U>::FloatVec;
        const Mask<U> upper = is_signed ? (Mask<U>)words >> 16 : (Mask<U>)(words >> 16);
        const F high = __builtin_convertvector(upper, F) * 65536.0f;
        const F low = __builtin_convertvector((Mask<U>)(words & 0xffff), F);
        const F sum = high + low;
        if (flags) {
            const F rest = low - (sum - high);
            raised = (Vec<U>)(rest != 0.0f) & U{nx};
        }
        Vec<U> codes;
        std::memcpy(&codes, &sum, sizeof codes);
        return codes;
    }
};

// FP64 to FP32 to nearest even, by the hardware; what it does with NaNs is replaced.
struct Narrow {
    using U = u64;
    static constexpr bool draws = false;
    explicit Narrow(const Encoding<U>& encoding) : p(encoding) {}

    template <bool flags>
    Vec<U> lanes(Vec<U> words, Vec<U>, Vec<U>& raised) const {
        using F = Word<U>::FloatVec;
        const Vec<U> magnitude = words & (sign_of<U> - 1);
        F value;
        std::memcpy(&value, &magnitude, sizeof value);
        const Word<U>::HalfFloatVec narrowed =
            __builtin_convertvector(value, Word<U>::HalfFloatVec);
        Word<U>::HalfVec bits;
        std::memcpy(&bits, &narrowed, sizeof bits);
        Vec<U> code = __builtin_convertvector(bits, Vec<U>);
        code = lesser_of<U>(code, all_lanes(p.over_code)) | (words >> 32 & p.sign);
        const Mask<U> nan = less<U>(all_lanes(infinity_of<U>), magnitude);
        if (flags) {
            const F wide = __builtin_convertvector(narrowed, F);
            const Mask<U> over = less<U>(all_lanes(p.max_code), __builtin_convertvector(bits, Vec<U>));
            const Mask<U> tiny = less<U>(magnitude, all_lanes(p.tiny[0]));
            raised = finish_flags<U>(p, magnitude, (Mask<U>)(wide != value), tiny, over);
        }
        return nan ? all_lanes(p.nan_code) : code;
    }

    const Encoding<U> p;
};

template <typename U, From from>
Extremes<U> extremes(const void* in, std::size_t count) {
    Vec<U> greatest{}, least = all_lanes(sign_of<U> - 1);
    for (std::size_t i = 0; i < count; i += width_of<U>) {
        const Vec<U> magnitude = load_word<U, from>(in, i) & (sign_of<U> - 1);
        greatest = greater_of<U>(greatest, magnitude);
        // Without the lanes of zero, which are the greatest here.
        least = lesser_of<U>(least, (magnitude - 1) & (sign_of<U> - 1));
    }
    Extremes<U> found{0, sign_of<U> - 1};
    for (std::size_t k = 0; k < width_of<U>; ++k) {
        found.greatest = less<U>(found.greatest, greatest[k]) ? greatest[k] : found.greatest;
        found.least = less<U>(least[k], found.least) ? least[k] : found.least;
    }
    ++found.least;
    return found;
}

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
