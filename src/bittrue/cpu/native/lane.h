// Conversion of one logical lane between any two types: value, code and status flags.
//
// The compiled twin of `bittrue/encoding/lanes.py`, under the same names in the same order. Exact
// integers throughout, so that it holds for every pair; it is slow, and the kernels of strips.cpp
// do what it does for many lanes. Never include it from a source that is compiled for more than
// one instruction level: the linker would keep one copy of these functions for all of them.
#pragma once

#include <cstdint>

namespace bittrue {

using Wide = unsigned __int128;

// Codes of Rounding; `stochastic` takes the place of NONE when there are random words.
enum Rounding { none = 0, rne, rtz, rtm, rtp, rna, rto, rhb, stochastic };

// Bits of Status.
constexpr unsigned nv = 1, of = 4, uf = 8, nx = 16;

enum class Kind { integer, fixed, variable, scale };
enum class Specials { ieee, last, none, no_subnormal, scale, tapered };

// The facts of a `bittrue.encoding.Format` that a conversion reads; all of them come from there.
struct LaneType {
    Kind kind = Kind::integer;
    Specials specials = Specials::none;
    int word_bits = 0;        // of a lane, as far as it is read
    bool packed = false;      // two lanes of 4 bits a byte
    bool is_signed = false;   // an integer
    int sign_bit = -1;        // its index; -1: none
    int exponent_bits = 0;
    int fraction_bits = 0;
    int bias = 0;
    int emin = 0;
    int low_zero_bits = 0;
    bool has_signed_zero = false;
    bool has_subnormal = false;
    bool has_infinity = false;
    bool has_nan = false;
    std::uint64_t zero_mask = 0;       // carrier bits that must be zero
    std::uint64_t magnitude_mask = 0;  // bits of a code without its sign
    std::uint64_t max_finite = 0;
    std::uint64_t infinity = 0;        // where has_infinity
    std::uint64_t canonical_nan = 0;   // where has_nan

    int carrier_bytes() const {
        return word_bits <= 8 ? 1 : word_bits <= 16 ? 2 : word_bits <= 32 ? 4 : 8;
    }
    std::uint64_t word_mask() const { return ~std::uint64_t{0} >> (64 - word_bits); }
};

enum class Special { finite, infinity, quiet_nan, signaling_nan };

// An exact lane: a finite (-1)^negative * significand * 2^exponent, or an infinity or NaN.
struct Number {
    bool negative;
    std::uint64_t significand;
    int exponent;
    Special special = Special::finite;
};

struct Lane {
    std::uint64_t code;
    unsigned flags;
};

inline int bit_length(std::uint64_t value) {
    return value == 0 ? 0 : 64 - __builtin_clzll(value);
}

// --- reading ------------------------------------------------------------------------------------

inline Number read_variable(std::uint64_t code) {
    const bool negative = code >> 7 & 1;
    const unsigned body = code & 0x7f;
    if (code == 0x80) return {true, 0, 0, Special::quiet_nan};
    if (body == 0x6f) return {negative, 0, 0, Special::infinity};
    if (body < 0x08) return {negative, body != 0, body == 0 ? 0 : static_cast<int>(body) - 23};
    if (body < 0x10) return {negative, body, -3};
    // A pattern Dn has a sign bit, n-1 exponent bits below an implicit leading one, a fraction.
    const int row = body < 0x20 ? 0 : body < 0x40 ? 1 : body < 0x60 ? 2 : 3;
    const unsigned low = row == 0 ? 0x10 : 0x20u * static_cast<unsigned>(row);
    const int fraction_bits = row < 2 ? 3 : 4 - row;
    const unsigned field = (body - low) >> fraction_bits;
    const int magnitude = 1 << row | static_cast<int>(field & ((1u << row) - 1));
    const int exponent = field >> row ? -magnitude : magnitude;
    const unsigned fraction = body & ((1u << fraction_bits) - 1);
    return {negative, (1u << fraction_bits) + fraction, exponent - fraction_bits};
}

inline Number read_fixed(const LaneType& source, std::uint64_t code) {
    const bool negative = source.sign_bit >= 0 && (code >> source.sign_bit & 1);
    const std::uint64_t magnitude = (code & source.magnitude_mask) >> source.low_zero_bits;
    const std::uint64_t hidden = std::uint64_t{1} << source.fraction_bits;
    std::uint64_t fraction = magnitude & (hidden - 1);
    const int field = static_cast<int>(magnitude >> source.fraction_bits);
    if (source.specials == Specials::ieee && field == (1 << source.exponent_bits) - 1) {
        const Special special = fraction == 0                 ? Special::infinity
                                : fraction & (hidden >> 1) ? Special::quiet_nan
                                                              : Special::signaling_nan;
        return {negative, 0, 0, special};
    }
    if (source.specials == Specials::last &&
        (code & source.magnitude_mask) == source.magnitude_mask) {
        return {negative, 0, 0, Special::quiet_nan};
    }
    if (field == 0 && fraction == 0) return {negative, 0, 0};
    if (field != 0) fraction += hidden;
    const int exponent = (field > 1 ? field : 1) - source.bias - source.fraction_bits;
    return {negative, fraction, exponent};
}

inline Number read(const LaneType& source, std::uint64_t bits) {
    const std::uint64_t code = bits & source.word_mask();
    switch (source.kind) {
        case Kind::integer: {
            const bool negative = source.is_signed && (code >> (source.word_bits - 1) & 1);
            return {negative, negative ? (0 - code) & source.word_mask() : code, 0};
        }
        case Kind::scale:
            if (code == source.canonical_nan) return {false, 0, 0, Special::quiet_nan};
            return {false, 1, static_cast<int>(code) - source.bias};
        case Kind::variable:
            return read_variable(code);
        default:
            return read_fixed(source, code);
    }
}

// --- the one rounding gate ----------------------------------------------------------------------

struct Rounded {
    std::uint64_t kept;  // modulo 2^64
    bool inexact;
};

inline bool moves_up(int rounding, bool above, bool tie, bool odd, bool negative) {
    switch (rounding) {
        case rtz: return false;
        case rtm: return negative;
        case rtp: return !negative;
        case rto: return !odd;
        case rna: return above || tie;
        case rhb: return above || (tie && !negative);
        default: return above || (tie && odd);
    }
}

// Rounds magnitude / 2^drop. `odd` is the parity of the lower neighbour's code, -1: that of the
// kept integer.
inline Rounded round_magnitude(std::uint64_t magnitude, int drop, bool negative, int rounding,
                               std::uint32_t random, int odd = -1) {
    if (drop <= 0) return {drop <= -64 ? 0 : magnitude << -drop, false};
    const std::uint64_t kept = drop >= 64 ? 0 : magnitude >> drop;
    const std::uint64_t rest = drop >= 64 ? magnitude : magnitude - (kept << drop);
    if (rest == 0) return {kept, false};
    if (rounding == stochastic) {
        const Wide share = drop >= 128 ? Wide{0} : Wide{rest} << 32 >> drop;
        return {kept + (random < share), true};
    }
    const Wide half = Wide{1} << (drop > 120 ? 119 : drop - 1);
    const bool parity = odd < 0 ? (kept & 1) != 0 : odd != 0;
    return {kept + moves_up(rounding, rest > half, rest == half, parity, negative), true};
}

// --- to a float ---------------------------------------------------------------------------------

constexpr std::uint64_t beyond = ~std::uint64_t{0};  // no code: above the largest finite value

inline int fraction_bits_at(const LaneType& destination, int scale) {
    if (destination.kind != Kind::variable) return destination.fraction_bits;
    const int magnitude = scale < 0 ? -scale : scale;
    return magnitude <= 3 ? 3 : magnitude <= 7 ? 2 : 1;
}

inline int step_at(const LaneType& destination, int scale) {
    if (destination.kind == Kind::variable && scale < destination.emin) {
        // Powers of two alone from 2^-22 to 2^-15, nothing between 0 and 2^-22.
        return scale > -22 ? scale : -22;
    }
    const int least = scale > destination.emin ? scale : destination.emin;
    return least - fraction_bits_at(destination, scale);
}

inline std::uint64_t variable_code(std::uint64_t kept, int step, int scale) {
    if (scale < -15) return static_cast<std::uint64_t>(scale + 23);
    if (scale > 15) return beyond;
    const int magnitude = scale < 0 ? -scale : scale;
    const int width = magnitude <= 3 ? 3 : magnitude <= 7 ? 2 : 1;
    const int shift = scale - width - step;
    const std::uint64_t fraction =
        (shift > 0 ? kept >> shift : kept << -shift) - (std::uint64_t{1} << width);
    if (scale == 0) return 0x08 | fraction;
    const int low = bit_length(static_cast<std::uint64_t>(magnitude)) - 1;
    constexpr std::uint64_t prefix[] = {0x10, 0x20, 0x40, 0x60};
    const auto field = static_cast<std::uint64_t>((scale < 0) << low | (magnitude - (1 << low)));
    const std::uint64_t code = prefix[low] + (field << width) + fraction;
    return code == 0x6f ? beyond : code;
}

inline std::uint64_t encode_magnitude(const LaneType& destination, std::uint64_t kept, int step) {
    if (kept == 0) return 0;
    const int scale = step + bit_length(kept) - 1;
    if (destination.kind == Kind::variable) return variable_code(kept, step, scale);
    const int least = scale > destination.emin ? scale : destination.emin;
    const int step_of_code = least - destination.fraction_bits;
    const std::uint64_t significand =
        step > step_of_code ? kept << (step - step_of_code) : kept >> (step_of_code - step);
    const auto binades = static_cast<std::uint64_t>(least - destination.emin);
    const std::uint64_t code = (binades << destination.fraction_bits) + significand;
    // A format narrower than its carrier leaves room above; the widest code is below 2^63.
    return code > destination.max_finite >> destination.low_zero_bits
               ? beyond
               : code << destination.low_zero_bits;
}

inline std::uint64_t with_sign(const LaneType& destination, std::uint64_t code, bool negative) {
    if (!negative || destination.sign_bit < 0) return code;
    if (code == 0 && !destination.has_signed_zero) return 0;
    return code | std::uint64_t{1} << destination.sign_bit;
}

inline std::uint64_t overflow(const LaneType& destination, bool negative, bool saturate) {
    if (!saturate) {
        if (destination.has_infinity) {
            return with_sign(destination, destination.infinity, negative);
        }
        if (destination.has_nan) return destination.canonical_nan;
    }
    return with_sign(destination, destination.max_finite, negative);
}

inline Lane special_to_float(const Number& number, const LaneType& destination, bool saturate) {
    if (number.special == Special::infinity) {
        const bool exact = destination.has_infinity && !saturate;
        return {overflow(destination, number.negative, saturate), exact ? 0u : of | nx};
    }
    const unsigned flags = number.special == Special::signaling_nan ? nv : 0u;
    if (saturate) return {0, flags};
    if (!destination.has_nan) return {0, nv};
    return {destination.canonical_nan, flags};
}

inline bool is_tiny(const Number& number, const LaneType& destination, int rounding,
                    std::uint32_t random) {
    const int scale = number.exponent + bit_length(number.significand) - 1;
    if (scale >= destination.emin) return false;
    const int width = destination.kind == Kind::variable ? 1 : destination.fraction_bits;
    const Rounded unbounded =
        round_magnitude(number.significand, scale - width - number.exponent, number.negative,
                        rounding, random);
    return bit_length(unbounded.kept) - 1 + scale - width < destination.emin;
}

inline Lane to_float(const Number& number, const LaneType& destination, int rounding,
                     bool saturate, std::uint32_t random) {
    if (number.special != Special::finite) return special_to_float(number, destination, saturate);
    if (number.significand == 0) return {with_sign(destination, 0, number.negative), 0};
    const int scale = number.exponent + bit_length(number.significand) - 1;
    const int step = step_at(destination, scale);
    const int drop = step - number.exponent;
    int odd = -1;
    if (destination.kind == Kind::variable && step >= -22 && step <= -16) {
        const std::uint64_t floor =
            drop <= 0 ? number.significand << -drop : drop >= 64 ? 0 : number.significand >> drop;
        const std::uint64_t code = encode_magnitude(destination, floor, step);
        if (code != beyond) odd = static_cast<int>(code & 1);
    }
    const Rounded rounded =
        round_magnitude(number.significand, drop, number.negative, rounding, random, odd);
    const std::uint64_t code = encode_magnitude(destination, rounded.kept, step);
    if (code == beyond) return {overflow(destination, number.negative, saturate), of | nx};
    unsigned flags = 0;
    if (rounded.inexact) {
        flags = nx;
        if (destination.has_subnormal && is_tiny(number, destination, rounding, random)) {
            flags |= uf;
        }
    }
    return {with_sign(destination, code, number.negative), flags};
}

// --- to an integer ------------------------------------------------------------------------------

// Magnitudes of the ends of the range: [0] the greatest value, [1] the least.
struct IntegerRange {
    std::uint64_t magnitude[2];
};

inline IntegerRange integer_range(const LaneType& type) {
    if (!type.is_signed) return {{type.word_mask(), 0}};
    return {{type.word_mask() >> 1, (type.word_mask() >> 1) + 1}};
}

inline std::uint64_t indefinite(const LaneType& type) {
    return type.is_signed ? (type.word_mask() >> 1) + 1 : type.word_mask();
}

inline std::uint64_t integer_code(const LaneType& type, std::uint64_t magnitude, bool negative) {
    return (negative ? 0 - magnitude : magnitude) & type.word_mask();
}

inline Lane to_integer(const Number& number, const LaneType& destination, int rounding,
                       bool saturate, std::uint32_t random) {
    const std::uint64_t limit = integer_range(destination).magnitude[number.negative];
    const std::uint64_t clamped = integer_code(destination, limit, number.negative);
    if (number.special == Special::infinity) {
        if (!saturate) return {indefinite(destination), nv};
        return {clamped, of | nx};
    }
    if (number.special != Special::finite) return {saturate ? 0 : indefinite(destination), nv};
    const Rounded rounded = round_magnitude(number.significand, -number.exponent, number.negative,
                                            rounding, random);
    // Only a shift to the left passes 2^64: what is dropped keeps 64 bits or fewer.
    const bool huge = bit_length(number.significand) + number.exponent > 64;
    if (!huge && rounded.kept <= limit) {
        return {integer_code(destination, rounded.kept, number.negative),
                rounded.inexact ? nx : 0u};
    }
    return {saturate ? clamped : integer_code(destination, rounded.kept, number.negative), of | nx};
}

inline Lane integer_to_integer(const Number& number, const LaneType& destination, bool saturate) {
    const std::uint64_t limit = integer_range(destination).magnitude[number.negative];
    const bool out = saturate && number.significand > limit;
    return {integer_code(destination, out ? limit : number.significand, number.negative), 0};
}

// --- to E8M0 ------------------------------------------------------------------------------------

inline int rounded_exponent(std::uint64_t significand, int floor, int rounding) {
    switch (rounding) {
        case rtm: return floor;
        case rtp: return floor + 1;
        case rtz: return floor >= 0 ? floor : floor + 1;
        case rto: return floor & 1 ? floor : floor + 1;
        default: break;
    }
    // Nearest to log2: the square against 2 decides, and no rational square is 2.
    const int highest = bit_length(significand) - 1;
    return Wide{significand} * significand < Wide{1} << (2 * highest + 1) ? floor : floor + 1;
}

inline Lane to_scale(const Number& number, const LaneType& destination, int rounding,
                     bool saturate) {
    const std::uint64_t last = destination.max_finite;
    const bool infinite = number.special == Special::infinity;
    if (number.negative || !(number.significand != 0 || infinite)) {
        return {destination.canonical_nan, nv};
    }
    const std::uint64_t above = saturate ? last : destination.canonical_nan;
    if (infinite) return {above, of | nx};
    const int floor = number.exponent + bit_length(number.significand) - 1;
    const bool exact = (number.significand & (number.significand - 1)) == 0;
    const int bias = destination.bias;
    if (floor < -bias) return {saturate ? 0 : destination.canonical_nan, uf | nx};
    if (floor > bias || (floor == bias && !exact)) return {above, of | nx};
    if (exact) return {static_cast<std::uint64_t>(floor + bias), 0};
    const int chosen = rounded_exponent(number.significand, floor, rounding);
    return {static_cast<std::uint64_t>(chosen + bias), nx};
}

// --- any pair -----------------------------------------------------------------------------------

// `rounding` is a mode without NONE: see resolved_rounding.
inline Lane convert_number(const Number& number, const LaneType& source,
                           const LaneType& destination, int rounding, bool saturate,
                           std::uint32_t random) {
    if (destination.kind == Kind::integer) {
        return source.kind == Kind::integer
                   ? integer_to_integer(number, destination, saturate)
                   : to_integer(number, destination, rounding, saturate, random);
    }
    if (destination.kind == Kind::scale) return to_scale(number, destination, rounding, saturate);
    return to_float(number, destination, rounding, saturate, random);
}

inline Lane convert_lane(const LaneType& source, const LaneType& destination, std::uint64_t bits,
                         int rounding, bool saturate, std::uint32_t random) {
    return convert_number(read(source, bits), source, destination, rounding, saturate, random);
}

// NONE is toward zero into an integer, nearest even elsewhere.
inline int resolved_rounding(const LaneType& destination, int rounding, bool has_random) {
    if (has_random) return stochastic;
    if (rounding != none) return rounding;
    return destination.kind == Kind::integer ? rtz : rne;
}

}  // namespace bittrue
