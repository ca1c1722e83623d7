// Compiled once for each instruction level, as namespace BITTRUE_LEVEL. No function from outside
// this file may be used, std:: ones included: the linker would keep one copy for all levels.
//
// Every loop is written to be vectorised: no branch in the body, comparisons signed (all words
// without sign are below 2^31 or 2^63; older instruction sets have no other), shift counts below
// the width.
#include "strips.h"

#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef BITTRUE_LEVEL
#define BITTRUE_LEVEL baseline
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The codes of lane.h, which this file must not include.
enum { rne = 1, rtz, rtm, rtp, rna, rto, rhb, stochastic };
enum : unsigned { nv = 1, of = 4, uf = 8, nx = 16 };

#if defined(__AVX512BW__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
#define BITTRUE_VECTOR __attribute__((vector_size(vector_bytes)))

template <typename U>
struct Word;

template <>
struct Word<u32> {
    using Signed = std::int32_t;
    using Float = float;
    typedef u32 Vec BITTRUE_VECTOR;
    typedef std::int32_t Mask BITTRUE_VECTOR;
    typedef float FloatVec BITTRUE_VECTOR;
    static constexpr int bits = 32, fraction = 23, bias = 127;
};

template <>
struct Word<u64> {
    using Signed = std::int64_t;
    using Float = double;
    typedef u64 Vec BITTRUE_VECTOR;
    typedef std::int64_t Mask BITTRUE_VECTOR;
    static constexpr int bits = 64, fraction = 52, bias = 1023;
};

template <typename U>
constexpr U sign_of = U{1} << (Word<U>::bits - 1);
template <typename U>
constexpr U hidden_of = U{1} << Word<U>::fraction;
template <typename U>
constexpr U infinity_of = (sign_of<U> - 1) & ~(hidden_of<U> - 1);
template <typename U>
constexpr U quiet_of = hidden_of<U> >> 1;

template <typename U>
inline bool less(U a, U b) {
    using S = typename Word<U>::Signed;
    return static_cast<S>(a) < static_cast<S>(b);
}

// --- stage one ----------------------------------------------------------------------------------

// The word of an integer below 2^fraction: such a number in the lowest bits of 2^fraction differs
// from it by its value, exactly.
template <typename U>
inline U word_of_small(U magnitude) {
    using F = typename Word<U>::Float;
    constexpr U one = U(Word<U>::bias + Word<U>::fraction) << Word<U>::fraction;
    const U shifted = one | magnitude;
    F value, base;
    std::memcpy(&value, &shifted, sizeof value);
    std::memcpy(&base, &one, sizeof base);
    value -= base;
    U word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

template <typename U, typename C>
void decode(const Decoding<U>& d, const void* in, U* __restrict out, std::size_t count) {
    const C* __restrict carriers = static_cast<const C*>(in);
    const Decoding<U> p = d;
    const int left = p.sign_shift > 0 ? p.sign_shift : 0;
    const int right = p.sign_shift < 0 ? -p.sign_shift : 0;
    if (p.subnormal_end == 0) {
        for (std::size_t i = 0; i < count; ++i) {
            const U c = static_cast<U>(carriers[i]);
            const U magnitude = (c & p.magnitude_mask) >> p.low_zero_bits;
            U word = magnitude << p.widening;
            word = less<U>(magnitude, p.special_from) ? word : word | infinity_of<U>;
            word = magnitude == p.nan_magnitude ? infinity_of<U> | quiet_of<U> : word;
            out[i] = word | (((c & p.sign_mask) << left) >> right);
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const U c = static_cast<U>(carriers[i]);
        const U magnitude = (c & p.magnitude_mask) >> p.low_zero_bits;
        const bool subnormal = less<U>(magnitude, p.subnormal_end);
        const U small = word_of_small<U>(subnormal ? magnitude : 0);
        U word = (magnitude << p.widening) + p.rebias;
        word = subnormal ? small + p.subnormal_scale : word;
        word = magnitude == 0 ? 0 : word;
        word = less<U>(magnitude, p.special_from) ? word : word | infinity_of<U>;
        word = magnitude == p.nan_magnitude ? infinity_of<U> | quiet_of<U> : word;
        out[i] = word | (((c & p.sign_mask) << left) >> right);
    }
}

// Integers that the word holds exactly: 16 bits in binary32, 32 in binary64.
template <typename U, typename I>
void integers(const void* in, U* __restrict out, std::size_t count) {
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        const U v = static_cast<U>(values[i]);
        const U negative = static_cast<I>(-1) < 0 ? v >> (Word<U>::bits - 1) : 0;
        out[i] = word_of_small<U>(negative ? 0 - v : v) | negative << (Word<U>::bits - 1);
    }
}

// 64-bit integers; from 2^52 on, the lowest 12 bits are ORed into one. Whatever rounds the word to
// 38 fraction bits or fewer rounds as it would the integer.
template <typename I>
void integers64(const void* in, u64* __restrict out, std::size_t count) {
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        const u64 v = static_cast<u64>(values[i]);
        const u64 negative = static_cast<I>(-1) < 0 ? v >> 63 : 0;
        const u64 magnitude = negative ? 0 - v : v;
        const bool big = magnitude >> 52 != 0;
        const u64 kept = big ? magnitude >> 12 | ((magnitude & 0xfff) != 0) : magnitude;
        const u64 word = word_of_small<u64>(kept);
        out[i] = (big ? word + (u64{12} << 52) : word) | negative << 63;
    }
}

template <typename U>
void look_up(const U* table, const void* in, U* __restrict out, std::size_t count) {
    const u8* __restrict bytes = static_cast<const u8*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = table[bytes[i]];
}

template <typename U>
void look_up_packed(const U* table, const void* in, U* __restrict out, std::size_t count) {
    const u8* __restrict bytes = static_cast<const u8*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = table[bytes[i / 2] >> (i % 2 * 4) & 0xf];
}

// --- vectors ------------------------------------------------------------------------------------

// Stage two is written on vectors of the compiler (GCC and Clang): whether a loop is vectorised
// then depends on no heuristic. Comparisons give lanes of ones or zeros, and `mask ? a : b` selects.
template <typename U>
using Vec = typename Word<U>::Vec;
template <typename U>
using Mask = typename Word<U>::Mask;
template <typename U>
constexpr std::size_t width_of = vector_bytes / sizeof(U);

template <typename U>
inline Vec<U> load(const U* from) {
    Vec<U> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

template <typename U>
inline Vec<U> all_lanes(U value) {
    return Vec<U>{} + value;
}

template <typename U>
inline Mask<U> less(Vec<U> a, Vec<U> b) {
    return (Mask<U>)a < (Mask<U>)b;
}

template <typename U>
inline Vec<U> greater_of(Vec<U> a, Vec<U> b) {
    return (Vec<U>)((Mask<U>)a > (Mask<U>)b ? (Mask<U>)a : (Mask<U>)b);
}

template <typename U>
inline Vec<U> lesser_of(Vec<U> a, Vec<U> b) {
    return (Vec<U>)((Mask<U>)a < (Mask<U>)b ? (Mask<U>)a : (Mask<U>)b);
}

template <typename U>
inline U any_of(Vec<U> v) {
    U all = 0;
    for (std::size_t i = 0; i < width_of<U>; ++i) all |= v[i];
    return all;
}

inline Vec<u32> random_words(const u32* from, u32) { return load<u32>(from); }

inline Vec<u64> random_words(const u32* from, u64) {
    Vec<u64> v;
    for (std::size_t i = 0; i < width_of<u64>; ++i) v[i] = from[i];
    return v;
}

// Where codes go: words as they are, or narrowed into carriers. A block is 4 vectors.
enum class Carrier { word, byte, half, nibble };

#if defined(__AVX512BW__)
inline __m512i bytes_of(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i ab = _mm512_packus_epi32(a, b), cd = _mm512_packus_epi32(c, d);
    return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd));
}
inline void put_block(const Vec<u32>* v, Carrier carrier, u8* out) {
    const __m512i a = (__m512i)v[0], b = (__m512i)v[1], c = (__m512i)v[2], d = (__m512i)v[3];
    if (carrier == Carrier::half) {
        const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        const __m512i ab = _mm512_packus_epi32(a, b), cd = _mm512_packus_epi32(c, d);
        _mm512_storeu_si512(out, _mm512_permutexvar_epi64(order, ab));
        _mm512_storeu_si512(out + 64, _mm512_permutexvar_epi64(order, cd));
        return;
    }
    const __m512i bytes = bytes_of(a, b, c, d);
    if (carrier == Carrier::byte) {
        _mm512_storeu_si512(out, bytes);
    } else {
        const __m512i pairs = _mm512_or_si512(bytes, _mm512_srli_epi16(bytes, 4));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi16_epi8(pairs));
    }
}
#elif defined(__AVX2__)
inline void put_block(const Vec<u32>* v, Carrier carrier, u8* out) {
    const __m256i a = (__m256i)v[0], b = (__m256i)v[1], c = (__m256i)v[2], d = (__m256i)v[3];
    const __m256i ab = _mm256_packus_epi32(a, b), cd = _mm256_packus_epi32(c, d);
    __m256i* to = reinterpret_cast<__m256i*>(out);
    if (carrier == Carrier::half) {
        _mm256_storeu_si256(to, _mm256_permute4x64_epi64(ab, 0xd8));
        _mm256_storeu_si256(to + 1, _mm256_permute4x64_epi64(cd, 0xd8));
        return;
    }
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order);
    if (carrier == Carrier::byte) {
        _mm256_storeu_si256(to, bytes);
    } else {
        const __m256i pairs = _mm256_and_si256(
            _mm256_or_si256(bytes, _mm256_srli_epi16(bytes, 4)), _mm256_set1_epi16(0xff));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                         _mm_packus_epi16(_mm256_castsi256_si128(pairs),
                                          _mm256_extracti128_si256(pairs, 1)));
    }
}
#elif defined(__SSE2__)
inline void put_block(const Vec<u32>* v, Carrier carrier, u8* out) {
    __m128i half[4];
    for (int k = 0; k < 4; ++k) {
        half[k] = _mm_srai_epi32(_mm_slli_epi32((__m128i)v[k], 16), 16);  // no packus in SSE2
    }
    const __m128i ab = _mm_packs_epi32(half[0], half[1]), cd = _mm_packs_epi32(half[2], half[3]);
    __m128i* to = reinterpret_cast<__m128i*>(out);
    if (carrier == Carrier::half) {
        _mm_storeu_si128(to, ab);
        _mm_storeu_si128(to + 1, cd);
        return;
    }
    const __m128i bytes = _mm_packus_epi16(ab, cd);
    if (carrier == Carrier::byte) {
        _mm_storeu_si128(to, bytes);
    } else {
        const __m128i pairs = _mm_and_si128(_mm_or_si128(bytes, _mm_srli_epi16(bytes, 4)),
                                            _mm_set1_epi16(0xff));
        _mm_storel_epi64(to, _mm_packus_epi16(pairs, pairs));
    }
}
#else
inline void put_block(const Vec<u32>* v, Carrier carrier, u8* out) {
    constexpr std::size_t width = width_of<u32>;
    for (std::size_t i = 0; i < 4 * width; ++i) {
        const u32 code = v[i / width][i % width];
        if (carrier == Carrier::byte) {
            out[i] = static_cast<u8>(code);
        } else if (carrier == Carrier::half) {
            const u16 low = static_cast<u16>(code);
            std::memcpy(out + 2 * i, &low, sizeof low);
        } else if (i % 2 == 0) {
            out[i / 2] = static_cast<u8>(code);
        } else {
            out[i / 2] = static_cast<u8>(out[i / 2] | code << 4);
        }
    }
}
#endif

inline void put_block(const Vec<u64>* v, Carrier, u8* out) {
    constexpr std::size_t width = width_of<u64>;
    for (std::size_t i = 0; i < 4 * width; ++i) out[i] = static_cast<u8>(v[i / width][i % width]);
}

constexpr std::size_t bytes_in(Carrier carrier, std::size_t lanes, std::size_t word) {
    return carrier == Carrier::word   ? lanes * word
           : carrier == Carrier::half ? lanes * 2
           : carrier == Carrier::byte ? lanes
                                      : lanes / 2;
}

// What a kernel makes of the flags: nothing, their union, or a byte a lane as well.
enum class Keep { nothing, all, each };

// A kernel is a `Step`, which makes codes and flags of one vector of words, run over blocks.
template <typename U, typename Step, Carrier carrier, Keep keep>
unsigned run_blocks(const Encoding<U>& encoding, const U* in, void* out, const u32* random,
                    u8* flags, std::size_t count) {
    constexpr std::size_t width = width_of<U>, block = 4 * width;
    const Step step(encoding);
    u8* to = static_cast<u8*>(out);
    Vec<U> all{};
    for (std::size_t i = 0; i < count; i += block) {
        Vec<U> codes[4], raised[4];
        for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t at = i + k * width;
            const Vec<U> words = Step::draws ? random_words(random + at, U{}) : Vec<U>{};
            codes[k] = step.template lanes<keep != Keep::nothing>(load<U>(in + at), words,
                                                                  raised[k]);
            if (keep != Keep::nothing) all |= raised[k];
        }
        u8* place = to + bytes_in(carrier, i, sizeof(U));
        if (carrier == Carrier::word) {
            std::memcpy(place, codes, sizeof codes);
        } else {
            put_block(codes, carrier, place);
        }
        if (keep == Keep::each) put_block(raised, Carrier::byte, flags + i);
    }
    return keep == Keep::nothing ? 0u : static_cast<unsigned>(any_of<U>(all));
}

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
struct VariableTables {
    static constexpr int rows = 64;

    VariableTables() {
        u16 widths[rows], entries[rows];
        for (int e = -32; e < 32; ++e) {
            const int a = e < 0 ? -e : e;
            const int width = e < -15 || e > 15 ? 0 : a <= 3 ? 3 : a <= 7 ? 2 : 1;
            const int down = e < 0 ? 16 : 0;
            int base = e > 15 ? 0x6f : e < -22 ? 0 : e + 23;
            if (width == 1) base = 0x60 + 2 * (a - 8) + down;
            if (width == 2) base = 0x40 + 4 * (a - 4) + down;
            if (width == 3) base = a < 2 ? 8 + 8 * a + (e < 0 ? 8 : 0) : 0x20 + 8 * (a - 2) + down;
            const int row = (e + 127) & (rows - 1);
            widths[row] = static_cast<u16>(width);
            entries[row] = static_cast<u16>(base | (23 - width) << 8);
        }
        for (int half = 0; half < 2; ++half) {
            widths_[half] = _mm512_loadu_si512(widths + 32 * half);
            entries_[half] = _mm512_loadu_si512(entries + 32 * half);
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

// HiF8 to nearest even.
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
        const Vec<U> odd = value >> (23 - width) & 1;
        const Vec<U> grid = (value + (mask >> 1) + odd) & ~mask;
        Vec<U> code = tables.code(grid);
        const Mask<U> nonzero = less<U>(all_lanes(half), magnitude);
        code = greater_of<U>(code, all_lanes(U{1})) | (words >> 24 & p.sign);
        code = nonzero ? code : Vec<U>{};
        if (flags) {
            const Mask<U> over = less<U>(all_lanes(last), magnitude);
            Mask<U> inexact = (magnitude & mask) != 0;
            inexact = less<U>(magnitude, all_lanes(least)) ? (Mask<U>)(magnitude != 0) : inexact;
            const Mask<U> tiny = less<U>(magnitude, all_lanes(p.tiny[0]));
            raised = finish_flags<U>(p, magnitude, inexact, tiny, over);
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

template <typename U>
Extremes<U> extremes(const U* in, std::size_t count) {
    Vec<U> greatest{}, least = all_lanes(sign_of<U> - 1);
    for (std::size_t i = 0; i < count; i += width_of<U>) {
        const Vec<U> magnitude = load<U>(in + i) & (sign_of<U> - 1);
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

// --- integers to integers -----------------------------------------------------------------------

template <typename U, typename I>
void extend(const void* in, U* __restrict out, std::size_t count) {
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<U>(values[i]);
}

template <typename I, typename U>
void clamp(U least, U greatest, U mask, U* __restrict words, std::size_t count) {
    const I low = static_cast<I>(least), high = static_cast<I>(greatest);
    for (std::size_t i = 0; i < count; ++i) {
        const I value = static_cast<I>(words[i]);
        const I above = value < low ? low : value;
        words[i] = static_cast<U>(above > high ? high : above) & mask;
    }
}

// --- carriers -----------------------------------------------------------------------------------

template <typename U, typename C>
void store(const U* __restrict in, void* out, std::size_t count) {
    C* __restrict carriers = static_cast<C*>(out);
    for (std::size_t i = 0; i < count; ++i) carriers[i] = static_cast<C>(in[i]);
}

template <typename U>
void store_packed(const U* __restrict in, void* out, std::size_t count) {
    u8* __restrict bytes = static_cast<u8*>(out);
    for (std::size_t i = 0; i < count / 2; ++i) {
        bytes[i] = static_cast<u8>(in[2 * i] | in[2 * i + 1] << 4);
    }
    if (count % 2 != 0) bytes[count / 2] = static_cast<u8>(in[count - 1]);
}

// --- 8-bit sources ------------------------------------------------------------------------------

struct Pair {
    u64 low, high;
};

// One entry a byte. Left alone the compiler gathers, which is slower than single loads.
template <typename T>
void map_singly(const T* entries, const u8* in, T* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        unsigned byte = in[i];
#if defined(__GNUC__)
        asm("" : "+r"(byte));
#endif
        out[i] = entries[byte];
    }
}

template <typename T>
std::size_t map_vectors(const T*, const u8*, T*, std::size_t) {
    return 0;
}

#if defined(__AVX512BW__)
// 256 words in registers, found by the lowest 8 bits of word lanes.
struct WordTable {
    template <typename Entry>
    explicit WordTable(Entry entry) {
        u16 words[256];
        for (unsigned k = 0; k < 256; ++k) words[k] = entry(k);
        for (int k = 0; k < 8; ++k) rows_[k] = _mm512_loadu_si512(words + 32 * k);
    }

    __m512i find(__m512i bytes) const {
        const __mmask32 odd = _mm512_test_epi16_mask(bytes, _mm512_set1_epi16(0x40));
        const __mmask32 high = _mm512_test_epi16_mask(bytes, _mm512_set1_epi16(0x80));
        const __m512i low_half =
            _mm512_mask_blend_epi16(odd, _mm512_permutex2var_epi16(rows_[0], bytes, rows_[1]),
                                    _mm512_permutex2var_epi16(rows_[2], bytes, rows_[3]));
        const __m512i high_half =
            _mm512_mask_blend_epi16(odd, _mm512_permutex2var_epi16(rows_[4], bytes, rows_[5]),
                                    _mm512_permutex2var_epi16(rows_[6], bytes, rows_[7]));
        return _mm512_mask_blend_epi16(high, low_half, high_half);
    }

    __m512i rows_[8];
};

inline __m512i bytes_as_words(const u8* in) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
}

inline std::size_t map_vectors(const u8* entries, const u8* in, u8* out, std::size_t count) {
    const WordTable table([entries](unsigned k) { return u16{entries[k]}; });
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m512i words = table.find(bytes_as_words(in + i));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtepi16_epi8(words));
    }
    return i;
}

inline std::size_t map_vectors(const u16* entries, const u8* in, u16* out, std::size_t count) {
    const WordTable table([entries](unsigned k) { return entries[k]; });
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        _mm512_storeu_si512(out + i, table.find(bytes_as_words(in + i)));
    }
    return i;
}

inline std::size_t map_vectors(const u32* entries, const u8* in, u32* out, std::size_t count) {
    const WordTable low([entries](unsigned k) { return static_cast<u16>(entries[k]); });
    const WordTable high([entries](unsigned k) { return static_cast<u16>(entries[k] >> 16); });
    // So that the interleaved halves of each group of 4 words come out in order.
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m512i bytes = _mm512_permutexvar_epi64(order, bytes_as_words(in + i));
        const __m512i lows = low.find(bytes), highs = high.find(bytes);
        _mm512_storeu_si512(out + i, _mm512_unpacklo_epi16(lows, highs));
        _mm512_storeu_si512(out + i + 16, _mm512_unpackhi_epi16(lows, highs));
    }
    return i;
}

inline std::size_t union_vectors(const u16* flags, const u8* in, std::size_t count,
                                 unsigned& all) {
    const WordTable table([flags](unsigned k) { return flags[k]; });
    __m512i seen = _mm512_setzero_si512();
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        seen = _mm512_or_si512(seen, table.find(bytes_as_words(in + i)));
    }
    u16 words[32];
    _mm512_storeu_si512(words, seen);
    for (int k = 0; k < 32; ++k) all |= words[k];
    return i;
}
#else
inline std::size_t union_vectors(const u16*, const u8*, std::size_t, unsigned&) { return 0; }
#endif

template <typename T>
unsigned map(const void* table, const u16* flags, const u8* in, void* out, std::size_t count) {
    const T* entries = static_cast<const T*>(table);
    T* codes = static_cast<T*>(out);
    // A byte in place may be its own output: flags are read before codes are written.
    unsigned all = 0;
    if (flags != nullptr) {
        std::size_t i = union_vectors(flags, in, count, all);
        for (; i < count; ++i) all |= flags[in[i]];
    }
    const std::size_t done = map_vectors(entries, in, codes, count);
    map_singly(entries, in + done, codes + done, count - done);
    return all;
}

void map_flags(const u16* flags, const u8* __restrict in, u8* __restrict out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<u8>(flags[in[i]]);
}

void map_flag_pairs(const u16* flags, const u8* __restrict in, u8* __restrict out,
                    std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        out[2 * i] = static_cast<u8>(flags[in[i]]);
        out[2 * i + 1] = static_cast<u8>(flags[in[i]] >> 8);
    }
}

template <typename C>
bool any_bit(u64 mask, const void* in, std::size_t count) {
    const C* __restrict carriers = static_cast<const C*>(in);
    C all = 0;
    for (std::size_t i = 0; i < count; ++i) all = static_cast<C>(all | carriers[i]);
    return (all & mask) != 0;
}

// --- tables of them -----------------------------------------------------------------------------

#define BITTRUE_KEPT(U, carrier, ...)                                                              \
    {                                                                                              \
        run_blocks<U, __VA_ARGS__, Carrier::carrier, Keep::nothing>,                               \
            run_blocks<U, __VA_ARGS__, Carrier::carrier, Keep::all>,                               \
            run_blocks<U, __VA_ARGS__, Carrier::carrier, Keep::each>                               \
    }

#define BITTRUE_MODES(Step, U)                                                                     \
    {                                                                                              \
        BITTRUE_KEPT(U, word, Step<U, rne>), BITTRUE_KEPT(U, word, Step<U, rne>),                  \
            BITTRUE_KEPT(U, word, Step<U, rtz>), BITTRUE_KEPT(U, word, Step<U, rtm>),              \
            BITTRUE_KEPT(U, word, Step<U, rtp>), BITTRUE_KEPT(U, word, Step<U, rna>),              \
            BITTRUE_KEPT(U, word, Step<U, rto>), BITTRUE_KEPT(U, word, Step<U, rhb>),              \
            BITTRUE_KEPT(U, word, Step<U, stochastic>)                                             \
    }

#define BITTRUE_CARRIERS(...)                                                                      \
    {                                                                                              \
        BITTRUE_KEPT(u32, word, __VA_ARGS__), BITTRUE_KEPT(u32, byte, __VA_ARGS__),                \
            BITTRUE_KEPT(u32, half, __VA_ARGS__), BITTRUE_KEPT(u32, nibble, __VA_ARGS__)           \
    }

}  // namespace

extern const StripKernels strip_kernels = {
    {
        decode<u32, u16>,
        decode<u32, u32>,
        nullptr,
        {{nullptr, integers<u32, u16>, nullptr, nullptr},
         {nullptr, integers<u32, std::int16_t>, nullptr, nullptr}},
        look_up<u32>,
        look_up_packed<u32>,
        BITTRUE_KEPT(u32, word, Same<u32>),
        BITTRUE_MODES(Fixed, u32),
        BITTRUE_MODES(Variable, u32),
        BITTRUE_MODES(Scale, u32),
        BITTRUE_MODES(Integer, u32),
        extremes<u32>,
        {{nullptr, extend<u32, u16>, extend<u32, u32>, nullptr},
         {nullptr, extend<u32, std::int16_t>, extend<u32, std::int32_t>, nullptr}},
        {clamp<u32, u32>, clamp<std::int32_t, u32>},
        {store<u32, u8>, store<u32, u16>, store<u32, u32>, store<u32, u64>, store_packed<u32>},
    },
    {
        decode<u64, u16>,
        decode<u64, u32>,
        decode<u64, u64>,
        {{nullptr, integers<u64, u16>, integers<u64, u32>, integers64<u64>},
         {nullptr, integers<u64, std::int16_t>, integers<u64, std::int32_t>,
          integers64<std::int64_t>}},
        look_up<u64>,
        look_up_packed<u64>,
        BITTRUE_KEPT(u64, word, Same<u64>),
        BITTRUE_MODES(Fixed, u64),
        BITTRUE_MODES(Variable, u64),
        {},
        BITTRUE_MODES(Integer, u64),
        extremes<u64>,
        {{nullptr, extend<u64, u16>, extend<u64, u32>, extend<u64, u64>},
         {nullptr, extend<u64, std::int16_t>, extend<u64, std::int32_t>,
          extend<u64, std::int64_t>}},
        {clamp<u64, u64>, clamp<std::int64_t, u64>},
        {store<u64, u8>, store<u64, u16>, store<u64, u32>, store<u64, u64>, store_packed<u64>},
    },
    {BITTRUE_CARRIERS(FixedNearest<false>), BITTRUE_CARRIERS(FixedNearest<true>)},
    BITTRUE_CARRIERS(VariableNearest),
    BITTRUE_CARRIERS(Scale<u32, rne>),
    store_packed<u8>,
    {map<u8>, map<u16>, map<u32>, map<u64>, map<Pair>},
    map_flags,
    map_flag_pairs,
    {any_bit<u8>, any_bit<u16>, any_bit<u32>, any_bit<u64>},
};

}  // namespace bittrue::BITTRUE_LEVEL
