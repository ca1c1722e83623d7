// Compiled once for each instruction level, as namespace BITTRUE_LEVEL. No function from outside
// this file may be used, std:: ones included: the linker would keep one copy for all levels.
//
// Every loop is written to be vectorised: no branch in the body, comparisons signed, shift counts
// below the width.
#include "postprocess_strips.h"

#include "postprocess_requantize.h"
#include "postprocess_scale.h"

#ifndef BITTRUE_LEVEL
#define BITTRUE_LEVEL baseline
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

inline u64 bits_of(double value) {
    u64 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline u32 bits_of(float value) {
    u32 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline float single_of(u32 bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
inline double double_of(u64 bits) {
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
inline double magnitude_of(double value) { return double_of(bits_of(value) & ~u64{0} >> 1); }
inline double with_sign_of(double magnitude, double sign) {
    return double_of(bits_of(magnitude) | (bits_of(sign) & u64{1} << 63));
}

struct Fp32 {
    static double value(u32 raw) { return static_cast<double>(single_of(raw)); }
};
struct S32 {
    static double value(u32 raw) { return static_cast<double>(static_cast<i32>(raw)); }
};

// The exact product. The sign bit of the raw code tells the negative path of both sources; a zero
// multiplier gives +0.
template <typename Source, bool relu>
inline double product(u32 raw, u32 scale, u32 activation) {
    const double x = Source::value(raw);
    if (!relu) return x * static_cast<double>(single_of(scale));
    const u32 multiplier = static_cast<i32>(raw) < 0 ? activation : scale;
    const double p = x * static_cast<double>(single_of(multiplier));
    return multiplier == 0 ? 0.0 : p;
}

// --- to an integer ------------------------------------------------------------------------------

// Adding and subtracting 1.5 * 2^52 rounds a smaller number to an integer, ties to even.
inline double nearest_even(double value) {
    constexpr double unit = 6755399441055744.0;
    return (value + unit) - unit;
}

template <int mode>
inline double integral(double p) {
    const double nearest = nearest_even(p);
    switch (mode) {
        case rtm: return nearest > p ? nearest - 1.0 : nearest;
        case rtp: return nearest < p ? nearest + 1.0 : nearest;
        case rtz: {
            const double a = magnitude_of(p);
            const double n = nearest_even(a);
            return with_sign_of(n > a ? n - 1.0 : n, p);
        }
        case rna: {
            const double a = magnitude_of(p);
            const double n = nearest_even(a);
            return with_sign_of(a - n == 0.5 ? n + 1.0 : n, p);
        }
        case rto: {
            const double floor = nearest > p ? nearest - 1.0 : nearest;
            const double half = floor * 0.5;
            const double odd = nearest_even(half) == half ? floor + 1.0 : floor;
            return floor == p ? p : odd;
        }
        case rhb: return p - nearest == 0.5 ? nearest + 1.0 : nearest;
        default: return nearest;
    }
}

// The product, clamped to what rounds into the intermediate, then rounded; the lowest 32 bits of
// 1.5 * 2^52 plus a small integer are the integer.
template <typename Source, int mode, bool relu, bool flags>
unsigned intermediate(const AffineRule& given, const u32* __restrict raw,
                      const StripParameters& parameters, i32* __restrict integers, size_t count) {
    const double low = given.low, high = given.high;
    const u32* __restrict scale = parameters.scale;
    const u32* __restrict activation = parameters.activation;
    u64 lost = 0, outside = 0;
    for (size_t i = 0; i < count; ++i) {
        const double p = product<Source, relu>(raw[i], scale[i], relu ? activation[i] : 0);
        const double above = p < low ? low : p;
        const double q = above > high ? high : above;
        const double unit = 6755399441055744.0;
        if (mode == rne) {
            const double shifted = q + unit;
            integers[i] = static_cast<i32>(static_cast<u32>(bits_of(shifted)));
            if (flags) lost |= bits_of(shifted - unit) ^ bits_of(q);
        } else {
            const double rounded = integral<mode>(q);
            integers[i] = static_cast<i32>(static_cast<u32>(bits_of(rounded + unit)));
            if (flags) lost |= bits_of(rounded) ^ bits_of(q);
        }
        if (flags) outside |= bits_of(p) ^ bits_of(q);
    }
    // Zeros of either sign are equal.
    return outside != 0 ? of | nx : lost << 1 != 0 ? nx : 0u;
}

template <typename Source, int mode, bool relu>
unsigned affine(const AffineRule& given, const void* in, const StripParameters& parameters,
                u32* __restrict codes, size_t count, unsigned seen) {
    alignas(64) i32 integers[post_strip];
    const AffineRule rule = given;
    const i32* __restrict offset = parameters.offset;
    const u32* raw = static_cast<const u32*>(in);
    const unsigned raised =
        seen == (of | nx) && mode == rne
            ? intermediate<Source, mode, relu, mode != rne>(rule, raw, parameters, integers, count)
            : intermediate<Source, mode, relu, true>(rule, raw, parameters, integers, count);
    i32 outside = 0;
    if (rule.saturate) {
        for (size_t i = 0; i < count; ++i) {
            const i32 total = integers[i] + offset[i];
            const i32 above = total < rule.d_least ? rule.d_least : total;
            const i32 final = above > rule.d_greatest ? rule.d_greatest : above;
            outside |= final ^ total;
            codes[i] = static_cast<u32>(final) & rule.mask;
        }
    } else {
        for (size_t i = 0; i < count; ++i) {
            const i32 total = integers[i] + offset[i];
            outside |= (total - rule.d_least) & ~(rule.d_greatest - rule.d_least);
            codes[i] = static_cast<u32>(total) & rule.mask;
        }
    }
    return outside != 0 ? of | nx : raised;
}

unsigned shift(const void* in, const StripParameters& parameters, u32* __restrict codes,
               size_t count) {
    const i32* __restrict raw = static_cast<const i32*>(in);
    const i32* __restrict amount = parameters.amount;
    i32 outside = 0;
    for (size_t i = 0; i < count; ++i) {
        const i32 n = raw[i] >> amount[i];
        i32 kept = n < -32768 ? -32768 : n;
        kept = kept > 32767 ? 32767 : kept;
        outside |= kept ^ n;
        codes[i] = static_cast<u32>(kept) & 0xffff;
    }
    return outside != 0 ? of | nx : 0u;
}

// --- to a float of 16 bits or fewer -------------------------------------------------------------

constexpr int fraction = 20;
constexpr u32 hidden = u32{1} << fraction;

template <typename Source, bool relu>
void words(const void* in, const StripParameters& parameters, u32* __restrict out, size_t count) {
    const u32* __restrict raw = static_cast<const u32*>(in);
    const u32* __restrict scale = parameters.scale;
    const u32* __restrict activation = parameters.activation;
    for (size_t i = 0; i < count; ++i) {
        const u64 word = bits_of(product<Source, relu>(raw[i], scale[i], relu ? activation[i] : 0));
        const u32 low = static_cast<u32>(word);
        out[i] = static_cast<u32>(word >> 32) | (low != 0 ? 1u : 0u);
    }
}

// value >> drop, rounded. `mask` has `drop` ones, `odd` is the parity of the lower neighbour.
template <int mode>
inline u32 rounded(u32 value, int drop, u32 mask, u32 odd, u32 negative) {
    const u32 half = mask & 1;  // added to half - 1; 0 where nothing is dropped
    switch (mode) {
        case rtz: return value >> drop;
        case rtm: return (value + (mask & (0 - negative))) >> drop;
        case rtp: return (value + (mask & (negative - 1))) >> drop;
        case rna: return (value + (mask >> 1) + half) >> drop;
        case rto: return (value >> drop) + ((value & mask) != 0 ? odd ^ 1 : 0);
        case rhb: return (value + (mask >> 1) + (half & (negative ^ 1))) >> drop;
        default: return (value + (mask >> 1) + (odd & half)) >> drop;
    }
}

inline bool less(u32 a, u32 b) { return static_cast<i32>(a) < static_cast<i32>(b); }

template <int mode>
unsigned fixed(const FloatRule& given, const u32* __restrict in, u32* __restrict out,
               size_t count) {
    constexpr int most = fraction + 2;  // leaves less than a quarter
    const FloatRule rule = given;
    const u32 zero_sign = rule.unsigned_zero ? 0 : rule.sign;
    u32 all = 0;
    for (size_t i = 0; i < count; ++i) {
        const u32 magnitude = in[i] & 0x7fffffff;
        const u32 negative = in[i] >> 31;
        const bool subnormal = less(magnitude, rule.smallest_normal);
        const i32 field = static_cast<i32>(magnitude >> fraction);
        const u32 significand = (magnitude & (hidden - 1)) | (field > 0 ? hidden : 0);
        const i32 below = rule.subnormal_drop - (field > 1 ? field : 1);
        const i32 lost = subnormal ? below : rule.drop;
        const i32 drop = lost < most ? lost : most;
        const u32 value = subnormal ? significand : magnitude;
        const u32 mask = (u32{1} << drop) - 1;
        const u32 rest = value & mask;
        const u32 kept = rounded<mode>(value, drop, mask, value >> drop & 1, negative);
        const u32 code = kept - (subnormal ? 0 : rule.rebias);
        const bool over = less(rule.max_code, code);
        const u32 finite = over ? rule.over_code : code;
        const u32 plain_sign = code == 0 ? zero_sign : rule.sign;
        const u32 exact_sign = magnitude == 0 ? rule.sign : plain_sign;
        const u32 sign = over ? rule.over_sign : exact_sign;
        out[i] = finite | (sign & (0 - negative));
        const bool tiny = less(magnitude, negative != 0 ? rule.tiny[1] : rule.tiny[0]);
        u32 raised = rest != 0 ? (tiny ? uf | nx : nx) : 0;
        raised = over ? of | nx : raised;
        all |= raised;
    }
    return all;
}

// Adding 2^(e + 52 - F) to a magnitude of exponent e rounds it to F fraction bits, ties to even, and
// leaves the kept integer in the lowest bits of the sum. Below the smallest normal e stays.
template <typename Source, bool relu, bool flags>
unsigned nearest_strip(const NearestRule& given, const u32* __restrict raw,
                       const StripParameters& parameters, u32* __restrict codes, size_t count) {
    constexpr u64 exponent_mask = u64{0x7ff} << 52;
    const NearestRule rule = given;
    const u64 lift = static_cast<u64>(52 - rule.fraction_bits) << 52;
    const int down = 20 - rule.fraction_bits;
    const u32 zero_sign = rule.unsigned_zero ? 0 : rule.sign;
    const u32* __restrict scale = parameters.scale;
    const u32* __restrict activation = parameters.activation;
    u64 lost = 0, lost_tiny = 0;
    u32 outside = 0;
    for (size_t i = 0; i < count; ++i) {
        const double p = product<Source, relu>(raw[i], scale[i], relu ? activation[i] : 0);
        const double plain = magnitude_of(p);
        const double a = plain > rule.limit ? rule.beyond : plain;
        const double power = double_of(bits_of(a) & exponent_mask);
        const double at = power < rule.smallest_normal ? rule.smallest_normal : power;
        const double unit = double_of(bits_of(at) + lift);
        const double sum = a + unit;
        if (flags) {
            const u64 changed = bits_of(sum - unit) ^ bits_of(a);
            lost |= changed;
            lost_tiny |= a < rule.tiny ? changed : 0;
        }
        const u32 kept = static_cast<u32>(bits_of(sum));
        const u32 high = static_cast<u32>(bits_of(p) >> 32);
        const u32 binade = static_cast<u32>(bits_of(at) >> 32) >> down;
        const u32 code = kept + binade - rule.rebias;
        const bool over = less(rule.max_code, code);
        const u32 plain_sign = code == 0 ? zero_sign : rule.sign;
        const u32 exact_sign = (high & 0x7fffffff) == 0 ? rule.sign : plain_sign;
        const u32 sign = over ? rule.over_sign : exact_sign;
        outside |= over ? 1 : 0;
        codes[i] = (over ? rule.over_code : code) | (sign & (0 - (high >> 31)));
    }
    return (outside != 0 ? of | nx : 0u) | (lost != 0 ? nx : 0u) | (lost_tiny != 0 ? uf | nx : 0u);
}

template <typename Source, bool relu>
unsigned nearest(const NearestRule& rule, const void* in, const StripParameters& parameters,
                 u32* codes, size_t count, unsigned seen) {
    const u32* raw = static_cast<const u32*>(in);
    if ((seen & (uf | nx)) == (uf | nx)) {
        return nearest_strip<Source, relu, false>(rule, raw, parameters, codes, count);
    }
    return nearest_strip<Source, relu, true>(rule, raw, parameters, codes, count);
}

// HiF8: as many fraction bits as the exponent leaves room for; powers of two alone below 2^-15,
// none below 2^-22. A tie moves up if the number is positive: half a step, less one word if it is
// negative, makes cutting do that.
unsigned tapered(const TaperedRule& given, const u32* __restrict in, u32* __restrict codes,
                 size_t count) {
    constexpr i32 bias = 1023;
    constexpr u32 least = u32{bias - 22} << fraction, largest = u32{bias + 15} << fraction;
    const u32 tiny[2] = {given.tiny[0], given.tiny[1]};
    alignas(64) u16 indices[post_strip];
    u32 all = 0;
    for (size_t i = 0; i < count; ++i) {
        const u32 magnitude = in[i] & 0x7fffffff;
        const u32 negative = in[i] >> 31;
        const i32 exponent = static_cast<i32>(magnitude >> fraction) - bias;
        const i32 distance = exponent < 0 ? -exponent : exponent;
        const i32 far = (distance > 3 ? 1 : 0) + (distance > 7 ? 1 : 0) + (distance > 15 ? 1 : 0);
        const u32 half = (hidden >> 4) << far;
        const u32 mask = 2 * half - 1;
        const u32 cut = (magnitude + half - negative) & ~mask;
        const bool small = less(magnitude, least);
        // Between 0 and 2^-22 the half is 2^-23.
        const u32 up = less(least - hidden, magnitude + (negative ^ 1)) ? least : 0;
        const u32 near = small ? up : cut;
        const bool over = less(largest, magnitude);
        const u32 grid = over ? largest + hidden : near;
        const u32 rest = small ? magnitude : magnitude & mask;
        const i32 place = static_cast<i32>(grid >> 17) - ((bias - 22) * 8 - 1);
        const u32 index = static_cast<u32>(place < 0 ? 0 : place) + negative * tapered_negative;
        indices[i] = static_cast<u16>(index);
        const u32 bound = negative != 0 ? tiny[1] : tiny[0];
        const u32 plain = rest != 0 ? (less(magnitude, bound) ? uf | nx : nx) : 0;
        all |= over ? of | nx : plain;
    }
    const u8* __restrict table = given.codes;
    for (size_t i = 0; i < count; ++i) codes[i] = table[indices[i]];
    return all;
}

// --- to binary32 --------------------------------------------------------------------------------

// The hardware narrows to nearest even. The neighbour below, and in the modes that break ties
// otherwise the exact distances to both, tell what every other mode gives.
template <int mode, bool relu>
unsigned single(const SingleRule& given, const void* in, const StripParameters& parameters,
                u32* __restrict codes, size_t count) {
    constexpr u32 infinity = 0x7f800000;
    constexpr double beyond = 340282366920938463463374607431768211456.0;  // 2^128
    const SingleRule rule = given;
    const u32* __restrict raw = static_cast<const u32*>(in);
    const u32* __restrict scale = parameters.scale;
    const u32* __restrict activation = parameters.activation;
    u32 all = 0;
    for (size_t i = 0; i < count; ++i) {
        const double p = product<Fp32, relu>(raw[i], scale[i], relu ? activation[i] : 0);
        const double a = magnitude_of(p);
        const float narrowed = static_cast<float>(a);
        const double back = static_cast<double>(narrowed);
        // What comparisons of binary64 tell goes to 32-bit lanes as a number.
        const double moved = back > a ? 1.0 : back < a ? -1.0 : 0.0;
        const double limit = p < 0 ? rule.tiny[1] : rule.tiny[0];
        const i32 direction = static_cast<i32>(moved);
        const i32 tiny = static_cast<i32>(a < limit ? 1.0 : 0.0);
        const i32 far = static_cast<i32>(a >= beyond ? 1.0 : 0.0);
        const u32 sign = static_cast<u32>(bits_of(p) >> 32) & 0x80000000;
        const u32 negative = sign >> 31;
        const u32 inexact = static_cast<u32>(direction) & 1;
        const u32 nearest = bits_of(narrowed);
        const u32 floor = direction > 0 ? nearest - 1 : nearest;
        u32 code = nearest;
        if (mode == rtz) code = floor;
        if (mode == rtm) code = floor + (inexact & negative);
        if (mode == rtp) code = floor + (inexact & (negative ^ 1));
        if (mode == rto) code = floor + (inexact & (~floor & 1));
        if (mode == rna || mode == rhb) {
            const double low = static_cast<double>(single_of(floor));
            const double next = static_cast<double>(single_of(floor + 1));
            const double high = next > beyond ? beyond : next;
            const double half = a - low == high - a ? 1.0 : 0.0;
            const u32 tie = static_cast<u32>(static_cast<i32>(half)) & inexact;
            const u32 chosen = floor + (mode == rna ? 1 : negative ^ 1);
            code = tie != 0 ? chosen : nearest;
        }
        code = far != 0 ? infinity : code;
        const u32 finite = code == infinity ? rule.over_code : code;
        codes[i] = finite | sign;
        const u32 plain = inexact * nx | (inexact & static_cast<u32>(tiny)) * uf;
        all |= code == infinity ? of | nx : plain;
    }
    return all;
}

// --- maxima -------------------------------------------------------------------------------------

constexpr i32 least_key = -0x7fffffff - 1;

bool any_special(const void* in, size_t count) {
    const u32* __restrict raw = static_cast<const u32*>(in);
    i32 most = 0;
    for (size_t i = 0; i < count; ++i) {
        const i32 magnitude = static_cast<i32>(raw[i] & 0x7fffffff);
        most = magnitude > most ? magnitude : most;
    }
    return most >= 0x7f800000;
}

// Keys ascend with the values, -0 below +0; a NaN is below every number.
template <bool max_abs>
Maximum maximum_with_nans(const u32* __restrict raw, size_t count) {
    i32 most = least_key;
    u32 raised = 0;
    for (size_t i = 0; i < count; ++i) {
        const i32 code = static_cast<i32>(max_abs ? raw[i] & 0x7fffffff : raw[i]);
        const i32 magnitude = code & 0x7fffffff;
        const i32 number = code ^ ((code >> 31) & 0x7fffffff);
        const i32 key = magnitude > 0x7f800000 ? least_key : number;
        most = key > most ? key : most;
        const u32 quiet = magnitude < 0x7fc00000 ? nv : 0;
        raised |= magnitude > 0x7f800000 ? quiet : 0;
    }
    return {most, raised};
}

template <bool max_abs>
Maximum maximum_fp32(const void* in, size_t count) {
    const u32* __restrict raw = static_cast<const u32*>(in);
    i32 most = least_key, largest = 0;
    for (size_t i = 0; i < count; ++i) {
        const i32 code = static_cast<i32>(raw[i]);
        const i32 magnitude = code & 0x7fffffff;
        const i32 key = max_abs ? magnitude : code ^ ((code >> 31) & 0x7fffffff);
        most = key > most ? key : most;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest > 0x7f800000 ? maximum_with_nans<max_abs>(raw, count) : Maximum{most, 0};
}

template <bool max_abs>
Maximum maximum_s32(const void* in, size_t count) {
    const i32* __restrict raw = static_cast<const i32*>(in);
    i32 most = least_key;
    u32 raised = 0;
    for (size_t i = 0; i < count; ++i) {
        i32 value = raw[i];
        if (max_abs) {
            const bool least = value == least_key;
            const i32 negated = static_cast<i32>(0 - static_cast<u32>(value));
            value = least ? 0x7fffffff : value < 0 ? negated : value;
            raised |= least ? of : 0;
        }
        most = value > most ? value : most;
    }
    return {most, raised};
}

Maximum maximum_u32(const void* in, size_t count) {
    const u32* __restrict raw = static_cast<const u32*>(in);
    i32 most = least_key;
    for (size_t i = 0; i < count; ++i) {
        const i32 key = static_cast<i32>(raw[i] ^ 0x80000000);
        most = key > most ? key : most;
    }
    return {most, 0};
}

// --- products of matrices -----------------------------------------------------------------------

// A full tile; what lies beyond `columns` comes from a copy of the rows of b, padded with zeros.
template <typename T>
void add_terms(const T* a, size_t a_stride, const T* __restrict b, size_t b_stride, size_t k,
               T (&sums)[tile_rows][tile_columns]) {
    for (size_t index = 0; index < k; ++index) {
        const T* __restrict row = b + index * b_stride;
        for (size_t r = 0; r < tile_rows; ++r) {
            const T factor = a[r * a_stride + index];
            for (size_t c = 0; c < tile_columns; ++c) sums[r][c] += factor * row[c];
        }
    }
}

// Terms that are added at a time; integer sums of that many stay within 32 bits.
constexpr size_t k_block = 4096;

template <typename T, typename Finish>
void multiply(const T* a, size_t a_stride, const T* b, size_t b_stride, size_t k, size_t rows,
              size_t columns, T (&sums)[tile_rows][tile_columns], const Finish& finish) {
    constexpr size_t padded = 64;
    for (size_t begin = 0; begin < k; begin += k_block) {
        const size_t end = k - begin < k_block ? k : begin + k_block;
        if (rows == tile_rows && columns == tile_columns) {
            add_terms<T>(a + begin, a_stride, b + begin * b_stride, b_stride, end - begin, sums);
        } else {
            for (size_t at = begin; at < end; at += padded) {
                const size_t count = end - at < padded ? end - at : padded;
                T left[tile_rows][padded] = {}, right[padded][tile_columns] = {};
                for (size_t r = 0; r < rows; ++r) {
                    for (size_t i = 0; i < count; ++i) left[r][i] = a[r * a_stride + at + i];
                }
                for (size_t i = 0; i < count; ++i) {
                    for (size_t c = 0; c < columns; ++c) right[i][c] = b[(at + i) * b_stride + c];
                }
                add_terms<T>(left[0], padded, right[0], tile_columns, count, sums);
            }
        }
        finish();
    }
}

void multiply_fp32(const float* a, size_t a_stride, const float* b, size_t b_stride, size_t k,
                   size_t rows, size_t columns, u32* out) {
    float sums[tile_rows][tile_columns] = {};
    multiply<float>(a, a_stride, b, b_stride, k, rows, columns, sums, [] {});
    for (size_t i = 0; i < tile_rows * tile_columns; ++i) {
        const u32 bits = bits_of(sums[i / tile_columns][i % tile_columns]);
        out[i] = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
    }
}

void multiply_integers(const i32* a, size_t a_stride, const i32* b, size_t b_stride, size_t k,
                       size_t rows, size_t columns, std::int64_t* out) {
    i32 sums[tile_rows][tile_columns] = {};
    for (size_t i = 0; i < tile_rows * tile_columns; ++i) out[i] = 0;
    multiply<i32>(a, a_stride, b, b_stride, k, rows, columns, sums, [&] {
        for (size_t i = 0; i < tile_rows * tile_columns; ++i) {
            out[i] += sums[i / tile_columns][i % tile_columns];
            sums[i / tile_columns][i % tile_columns] = 0;
        }
    });
}

// --- carriers -----------------------------------------------------------------------------------

template <typename C>
void store(const u32* __restrict codes, void* out, size_t count) {
    C* __restrict carriers = static_cast<C*>(out);
    for (size_t i = 0; i < count; ++i) carriers[i] = static_cast<C>(codes[i]);
}

void store_packed(const u32* __restrict codes, void* out, size_t count) {
    u8* __restrict bytes = static_cast<u8*>(out);
    for (size_t i = 0; i < count / 2; ++i) {
        bytes[i] = static_cast<u8>(codes[2 * i] | codes[2 * i + 1] << 4);
    }
    if (count % 2 != 0) bytes[count / 2] = static_cast<u8>(codes[count - 1]);
}

#define BITTRUE_RELU(kernel, ...) {kernel<__VA_ARGS__, false>, kernel<__VA_ARGS__, true>}
#define BITTRUE_AFFINE(source)                                                                     \
    {                                                                                              \
        BITTRUE_RELU(affine, source, rne), BITTRUE_RELU(affine, source, rne),                      \
            BITTRUE_RELU(affine, source, rtz), BITTRUE_RELU(affine, source, rtm),                  \
            BITTRUE_RELU(affine, source, rtp), BITTRUE_RELU(affine, source, rna),                  \
            BITTRUE_RELU(affine, source, rto), BITTRUE_RELU(affine, source, rhb)                   \
    }

}  // namespace

extern const PostKernels post_kernels = {
    {BITTRUE_AFFINE(Fp32), BITTRUE_AFFINE(S32)},
    {BITTRUE_RELU(words, Fp32), BITTRUE_RELU(words, S32)},
    {fixed<rne>, fixed<rne>, fixed<rtz>, fixed<rtm>, fixed<rtp>, fixed<rna>, fixed<rto>,
     fixed<rhb>},
    {BITTRUE_RELU(nearest, Fp32), BITTRUE_RELU(nearest, S32)},
    tapered,
    {BITTRUE_RELU(single, rne), BITTRUE_RELU(single, rne), BITTRUE_RELU(single, rtz),
     BITTRUE_RELU(single, rtm), BITTRUE_RELU(single, rtp), BITTRUE_RELU(single, rna),
     BITTRUE_RELU(single, rto), BITTRUE_RELU(single, rhb)},
    shift,
    any_special,
    {{maximum_fp32<false>, maximum_fp32<true>},
     {maximum_s32<false>, maximum_s32<true>},
     {maximum_u32, maximum_u32}},
    multiply_fp32,
    multiply_integers,
    store<u8>,
    store<u16>,
    store_packed,
    BITTRUE_SCALED_TABLE,
    extremes<u32, From::word>,
    requantized_block,
    BITTRUE_REQUANTIZE,
};

}  // namespace bittrue::BITTRUE_LEVEL
