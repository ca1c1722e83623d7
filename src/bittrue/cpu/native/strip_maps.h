// Tables of 256 entries for sources of one byte, and the search for bits that must be zero.
//
// Part of strips.cpp, which is compiled once for each instruction level: see its rules.
#pragma once

#include "strip_words.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

struct Pair {
    u64 low, high;
};

struct Pair32 {
    u32 low, high;
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

// Lanes of 32 bits from packed sources: 16 entries are all there is to find.
inline std::size_t map_nibble_vectors(const Pair32* entries, const u8* in, u32* out,
                                      std::size_t count) {
    u32 lanes[16];
    for (int k = 0; k < 16; ++k) lanes[k] = entries[k].low;
    const __m512i table = _mm512_loadu_si512(lanes);
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i));
        const __m128i words = _mm_cvtepu8_epi16(bytes);
        const __m128i nibbles = _mm_and_si128(_mm_or_si128(words, _mm_slli_epi16(words, 4)),
                                              _mm_set1_epi8(0xf));
        const __m512i codes = _mm512_permutexvar_epi32(_mm512_cvtepu8_epi32(nibbles), table);
        _mm512_storeu_si512(out + 2 * i, codes);
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
inline std::size_t map_nibble_vectors(const Pair32*, const u8*, u32*, std::size_t) { return 0; }
inline std::size_t union_vectors(const u16*, const u8*, std::size_t, unsigned&) { return 0; }
#endif

// In place a byte may be its own output: flags are read before codes are written.
unsigned union_of_flags(const u16* flags, const u8* in, std::size_t count) {
    if (flags == nullptr) return 0;
    unsigned all = 0;
    for (std::size_t i = union_vectors(flags, in, count, all); i < count; ++i) all |= flags[in[i]];
    return all;
}

template <typename T>
unsigned map(const void* table, const u16* flags, const u8* in, void* out, std::size_t count) {
    const T* entries = static_cast<const T*>(table);
    T* codes = static_cast<T*>(out);
    const unsigned all = union_of_flags(flags, in, count);
    const std::size_t done = map_vectors(entries, in, codes, count);
    map_singly(entries, in + done, codes + done, count - done);
    return all;
}

unsigned map_nibbles(const void* table, const u16* flags, const u8* in, void* out,
                     std::size_t count) {
    const Pair32* entries = static_cast<const Pair32*>(table);
    u32* codes = static_cast<u32*>(out);
    const unsigned all = union_of_flags(flags, in, count);
    const std::size_t done = map_nibble_vectors(entries, in, codes, count);
    map_singly(entries, in + done, reinterpret_cast<Pair32*>(codes + 2 * done), count - done);
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

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
