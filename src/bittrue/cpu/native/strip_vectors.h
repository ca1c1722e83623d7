// Vectors of words: loads from carriers, stores into them, and the loop that runs a step over
// blocks of lanes.
//
// Part of strips.cpp, which is compiled once for each instruction level: see its rules.
#pragma once

#include "strip_words.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

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

// Words of FP16 lanes; the hardware conversion makes a signaling NaN quiet, which is undone.
inline Vec<u32> words_of_fp16(Word<u32>::HalfVec lanes) {
#if defined(__AVX512BW__)
    const __m256i magnitude = _mm256_and_si256((__m256i)lanes, _mm256_set1_epi16(0x7fff));
    const __m256i above = _mm256_sub_epi16(magnitude, _mm256_set1_epi16(0x7c01));
    const __mmask16 signaling = _mm256_cmplt_epu16_mask(above, _mm256_set1_epi16(0x1ff));
    const __m512i words = _mm512_castps_si512(_mm512_cvtph_ps((__m256i)lanes));
    return (Vec<u32>)_mm512_mask_and_epi32(words, signaling, words,
                                           _mm512_set1_epi32(~static_cast<int>(quiet_of<u32>)));
#elif defined(__F16C__) && defined(__AVX2__)
    const __m128i magnitude = _mm_and_si128((__m128i)lanes, _mm_set1_epi16(0x7fff));
    const __m128i signaling = _mm_and_si128(_mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7c00)),
                                            _mm_cmplt_epi16(magnitude, _mm_set1_epi16(0x7e00)));
    const Vec<u32> words = (Vec<u32>)_mm256_castps_si256(_mm256_cvtph_ps((__m128i)lanes));
    return words & ~((Vec<u32>)_mm256_cvtepi16_epi32(signaling) & quiet_of<u32>);
#else
    constexpr u32 rebias = 112u << 23, half = 0x3f000000;
    const Vec<u32> carriers = __builtin_convertvector(lanes, Vec<u32>);
    const Vec<u32> magnitude = carriers & 0x7fff;
    // A subnormal is its bits in the last places of a half, less the half.
    const Vec<u32> low = magnitude | half;
    Word<u32>::FloatVec small;
    std::memcpy(&small, &low, sizeof small);
    small -= 0.5f;
    Vec<u32> subnormal;
    std::memcpy(&subnormal, &small, sizeof subnormal);
    Vec<u32> word = (magnitude << 13) + rebias;
    word += (Vec<u32>)((Mask<u32>)magnitude > 0x7bff) & rebias;
    word = (Mask<u32>)magnitude < 0x400 ? subnormal : word;
    return word | (carriers & 0x8000) << 16;
#endif
}

// Words of FP32 lanes, likewise.
inline Vec<u64> words_of_fp32(Word<u64>::HalfVec lanes) {
    Word<u64>::HalfFloatVec singles;
    std::memcpy(&singles, &lanes, sizeof singles);
    const Word<u64>::FloatVec doubles = __builtin_convertvector(singles, Word<u64>::FloatVec);
    Vec<u64> words;
    std::memcpy(&words, &doubles, sizeof words);
    const Mask<u64> magnitude = (Mask<u64>)__builtin_convertvector(lanes & 0x7fffffff, Vec<u64>);
    const Mask<u64> signaling = (magnitude > 0x7f800000) & (magnitude < 0x7fc00000);
    return words & ~((Vec<u64>)signaling & quiet_of<u64>);
}

// Where words come from: themselves, the upper halves that BF16 is, FP16, or (64 bits) FP32.
enum class From { word, upper_half, fp16, fp32 };

template <typename U, From from>
inline Vec<U> load_word(const void* in, std::size_t i) {
    if constexpr (from == From::word) {
        return load<U>(static_cast<const U*>(in) + i);
    } else if constexpr (from == From::fp32) {
        typename Word<U>::HalfVec singles;
        std::memcpy(&singles, static_cast<const u32*>(in) + i, sizeof singles);
        return words_of_fp32(singles);
    } else {
        typename Word<U>::HalfVec halves;
        std::memcpy(&halves, static_cast<const u16*>(in) + i, sizeof halves);
        if (from == From::fp16) return words_of_fp16(halves);
        return __builtin_convertvector(halves, Vec<U>) << 16;
    }
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

// Where codes go: words as they are, or narrowed into carriers; a single (of 64-bit words) has 32
// bits. A block is 4 vectors.
enum class Carrier { word, byte, half, nibble, single };

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

inline void put_block(const Vec<u64>* v, Carrier carrier, u8* out) {
    constexpr std::size_t width = width_of<u64>;
    if (carrier == Carrier::single) {
        for (std::size_t k = 0; k < 4; ++k) {
            const Word<u64>::HalfVec lanes = __builtin_convertvector(v[k], Word<u64>::HalfVec);
            std::memcpy(out + k * sizeof lanes, &lanes, sizeof lanes);
        }
        return;
    }
    for (std::size_t i = 0; i < 4 * width; ++i) out[i] = static_cast<u8>(v[i / width][i % width]);
}

constexpr std::size_t bytes_in(Carrier carrier, std::size_t lanes, std::size_t word) {
    return carrier == Carrier::word     ? lanes * word
           : carrier == Carrier::single ? lanes * 4
           : carrier == Carrier::half   ? lanes * 2
           : carrier == Carrier::byte   ? lanes
                                        : lanes / 2;
}

// What a kernel makes of the flags: nothing, their union, or a byte a lane as well.
enum class Keep { nothing, all, each };

// A kernel is a `Step`, which makes codes and flags of one vector of words, run over blocks.
template <typename U, typename Step, From from, Carrier carrier, Keep keep>
unsigned run_blocks(const Encoding<U>& encoding, const void* in, void* out, const u32* random,
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
            codes[k] = step.template lanes<keep != Keep::nothing>(load_word<U, from>(in, at), words,
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

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
