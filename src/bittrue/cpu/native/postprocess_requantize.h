// Requantization of S32 accumulators into bytes, to nearest even: from rows to rows, in registers.
//
// Part of postprocess_strips.cpp, which is compiled once for each instruction level: see its rules.
//
// Scales are at most one, so that a rounded product has 32 bits. The product is exact in binary64:
// an integer x becomes the number 2^52 + 2^31 + x by its bits alone; less that constant, times the
// scale, plus 1.5 * 2^52 it is the rounded product in the lowest bits. Where the constants combine
// without rounding (`fused`) one fused multiplication and addition does all of it, with the same
// single rounding.
#pragma once

#include "postprocess_strips.h"
#include "strip_words.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

using i32 = std::int32_t;
using std::size_t;

#if defined(__SSE2__)

typedef i32 Wide32 BITTRUE_VECTOR;
typedef std::int16_t Wide16 BITTRUE_VECTOR;
typedef double WideDouble BITTRUE_VECTOR;
constexpr size_t wide_lanes = vector_bytes / sizeof(i32);

// Two vectors of 32-bit lanes become two of 64 bits each: their lower and their upper lanes of
// every 16 bytes, `high` in the upper half. `joined` undoes it.
struct TwoWide {
    Wide32 low, high;
};

#if defined(__AVX512BW__)
inline TwoWide parted(Wide32 x, Wide32 high) {
    return {(Wide32)_mm512_unpacklo_epi32((__m512i)x, (__m512i)high),
            (Wide32)_mm512_unpackhi_epi32((__m512i)x, (__m512i)high)};
}
inline Wide32 joined(WideDouble low, WideDouble high) {
    return (Wide32)_mm512_shuffle_ps((__m512)low, (__m512)high, 0x88);
}
// Of an FP32 for each lane, those that stand beside the lanes of `parted`.
inline void part_doubles(const u32* given, WideDouble& low, WideDouble& high) {
    const float* const from = reinterpret_cast<const float*>(given);  // these loads may alias
    const __m512d first = _mm512_cvtps_pd(_mm256_loadu_ps(from));
    const __m512d second = _mm512_cvtps_pd(_mm256_loadu_ps(from + 8));
    low = (WideDouble)_mm512_shuffle_f64x2(first, second, 0x88);
    high = (WideDouble)_mm512_shuffle_f64x2(first, second, 0xdd);
}
inline WideDouble multiplied_and_added(WideDouble x, WideDouble scale, WideDouble sum) {
    return (WideDouble)_mm512_fmadd_pd((__m512d)x, (__m512d)scale, (__m512d)sum);
}
inline Wide16 packed_words(Wide32 a, Wide32 b) {
    return (Wide16)_mm512_packs_epi32((__m512i)a, (__m512i)b);
}
// Lanes from 0 to 255 in the order of `packed_words` into bytes in their own order.
template <bool streams>
inline void store_bytes(Wide16 a, Wide16 b, u8* to) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_packus_epi16((__m512i)a, (__m512i)b);
    const __m512i ordered = _mm512_permutexvar_epi32(order, bytes);
    if (streams) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), ordered);
    } else {
        _mm512_storeu_si512(to, ordered);
    }
}
#elif defined(__AVX2__)
inline TwoWide parted(Wide32 x, Wide32 high) {
    return {(Wide32)_mm256_unpacklo_epi32((__m256i)x, (__m256i)high),
            (Wide32)_mm256_unpackhi_epi32((__m256i)x, (__m256i)high)};
}
inline Wide32 joined(WideDouble low, WideDouble high) {
    return (Wide32)_mm256_shuffle_ps((__m256)low, (__m256)high, 0x88);
}
inline void part_doubles(const u32* given, WideDouble& low, WideDouble& high) {
    const float* const from = reinterpret_cast<const float*>(given);  // these loads may alias
    const __m256d first = _mm256_cvtps_pd(_mm_loadu_ps(from));
    const __m256d second = _mm256_cvtps_pd(_mm_loadu_ps(from + 4));
    low = (WideDouble)_mm256_permute2f128_pd(first, second, 0x20);
    high = (WideDouble)_mm256_permute2f128_pd(first, second, 0x31);
}
inline WideDouble multiplied_and_added(WideDouble x, WideDouble scale, WideDouble sum) {
    return (WideDouble)_mm256_fmadd_pd((__m256d)x, (__m256d)scale, (__m256d)sum);
}
inline Wide16 packed_words(Wide32 a, Wide32 b) {
    return (Wide16)_mm256_packs_epi32((__m256i)a, (__m256i)b);
}
template <bool streams>
inline void store_bytes(Wide16 a, Wide16 b, u8* to) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_packus_epi16((__m256i)a, (__m256i)b);
    const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, order);
    if (streams) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to), ordered);
    } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ordered);
    }
}
#else
inline TwoWide parted(Wide32 x, Wide32 high) {
    return {(Wide32)_mm_unpacklo_epi32((__m128i)x, (__m128i)high),
            (Wide32)_mm_unpackhi_epi32((__m128i)x, (__m128i)high)};
}
inline Wide32 joined(WideDouble low, WideDouble high) {
    return (Wide32)_mm_shuffle_ps((__m128)low, (__m128)high, 0x88);
}
inline void part_doubles(const u32* given, WideDouble& low, WideDouble& high) {
    const __m128 four = _mm_loadu_ps(reinterpret_cast<const float*>(given));  // may alias
    low = (WideDouble)_mm_cvtps_pd(four);
    high = (WideDouble)_mm_cvtps_pd(_mm_movehl_ps(four, four));
}
// This level has no fused operation and is never asked for one.
inline WideDouble multiplied_and_added(WideDouble x, WideDouble, WideDouble) { return x; }
inline Wide16 packed_words(Wide32 a, Wide32 b) {
    return (Wide16)_mm_packs_epi32((__m128i)a, (__m128i)b);
}
template <bool streams>
inline void store_bytes(Wide16 a, Wide16 b, u8* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi16((__m128i)a, (__m128i)b));
}
#endif

#if defined(__FMA__)
constexpr bool has_fused = true;
#else
constexpr bool has_fused = false;
#endif

constexpr size_t requantized_block = 4 * wide_lanes;
constexpr size_t requantize_line = 64;  // of the cache
constexpr bool has_streams = vector_bytes > 16;
static_assert(requantized_block <= requantize_columns);

inline Wide32 load_wide(const void* from) {
    Wide32 x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

// The parameters of a block of columns, laid out as the kernel wants them. With `fused` the bias is
// 1.5 * 2^52 less the constant times the scale.
struct RequantizedColumns {
    void set(const RequantizeParameters& given, size_t column) {
        constexpr double unit = 6755399441055744.0;
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = column + k * wide_lanes;
            part_doubles(given.scale + at, scale[2 * k], scale[2 * k + 1]);
            bias[2 * k] = unit - integer_base * scale[2 * k];
            bias[2 * k + 1] = unit - integer_base * scale[2 * k + 1];
            rest[k] = load_wide(given.rest + at);
        }
        for (size_t k = 0; k < 2; ++k) {
            const size_t at = column + 2 * k * wide_lanes, next = at + wide_lanes;
            low[k] = packed_words(load_wide(given.low + at), load_wide(given.low + next));
            high[k] = packed_words(load_wide(given.high + at), load_wide(given.high + next));
            offset[k] = packed_words(load_wide(given.offset + at), load_wide(given.offset + next));
        }
    }

    static constexpr double integer_base = 4503599627370496.0 + 2147483648.0;  // 2^52 + 2^31

    WideDouble scale[8], bias[8];
    Wide32 rest[4];  // bits of an accumulator that make its product no integer
    Wide16 low[2], high[2], offset[2];
};

struct RequantizedFlags {
    Wide32 lost{};
    Wide16 outside{};
};

template <bool relu, bool fused>
inline Wide32 rounded_product(const RequantizedColumns& columns, size_t k, const u32* from,
                              RequantizedFlags& seen) {
    constexpr double unit = 6755399441055744.0, base = RequantizedColumns::integer_base;
    const Wide32 sign = Wide32{} + (-0x7fffffff - 1), exponent = Wide32{} + 0x43300000;
    Wide32 x = load_wide(from);
    if (relu) x = x > 0 ? x : Wide32{};
    seen.lost |= x & columns.rest[k];
    const TwoWide two = parted(x ^ sign, exponent);
    WideDouble low = (WideDouble)two.low, high = (WideDouble)two.high;
    if (fused) {
        low = multiplied_and_added(low, columns.scale[2 * k], columns.bias[2 * k]);
        high = multiplied_and_added(high, columns.scale[2 * k + 1], columns.bias[2 * k + 1]);
    } else {
        low = (low - base) * columns.scale[2 * k] + unit;
        high = (high - base) * columns.scale[2 * k + 1] + unit;
    }
    return joined(low, high);
}

template <bool relu, bool fused, bool saturate, bool streams>
inline void requantize_block(const RequantizeRule& rule, const RequantizedColumns& columns,
                             const u32* from, u8* to, RequantizedFlags& seen) {
    Wide16 codes[2];
    for (size_t k = 0; k < 2; ++k) {
        const u32* const here = from + 2 * k * wide_lanes;
        // Saturates at 16 bits, beyond the bounds of every column.
        const Wide16 n = packed_words(
            rounded_product<relu, fused>(columns, 2 * k, here, seen),
            rounded_product<relu, fused>(columns, 2 * k + 1, here + wide_lanes, seen));
        const Wide16 above = n > columns.low[k] ? n : columns.low[k];
        const Wide16 kept = above < columns.high[k] ? above : columns.high[k];
        const Wide16 total = kept + columns.offset[k];
        seen.outside |= kept ^ n;
        if (!saturate) seen.outside |= (total - rule.d_least) & rule.beyond;
        codes[k] = total & rule.mask;
    }
    store_bytes<streams>(codes[0], codes[1], to);
}

// Blocks at the ends of a row may overlap others: they write the same codes and raise the same flags.
template <bool per_column, bool relu, bool fused, bool saturate, bool streams>
unsigned requantize_rows(const RequantizeRule& given, const RequantizeParameters& parameters,
                         const RequantizeRows& rows) {
    constexpr size_t block = requantized_block;
    const RequantizeRule rule = given;
    RequantizedFlags seen;
    const auto row_of = [&](size_t row) {
        return reinterpret_cast<const u32*>(static_cast<const u8*>(rows.in) +
                                            static_cast<std::ptrdiff_t>(row) * rows.in_stride);
    };
    const auto target_of = [&](size_t row) {
        return static_cast<u8*>(rows.out) + static_cast<std::ptrdiff_t>(row) * rows.out_stride;
    };
    // Columns before a line of the target: their blocks are stored as usual, as is the last one.
    const auto before_line = [](const u8* to) {
        constexpr size_t line = requantize_line;
        return streams ? (line - reinterpret_cast<std::uintptr_t>(to) % line) % line : 0;
    };
    const size_t last = rows.columns - block;
    if (!per_column) {
        RequantizedColumns columns;
        columns.set(parameters, 0);
        for (size_t row = 0; row < rows.rows; ++row) {
            const u32* const from = row_of(row);
            u8* const to = target_of(row);
            const auto usual = [&](size_t at) {
                at = at < last ? at : last;
                requantize_block<relu, fused, saturate, false>(rule, columns, from + at, to + at,
                                                               seen);
            };
            const size_t first = before_line(to);
            for (size_t at = 0; at < first; at += block) usual(at);
            size_t at = first;
            for (; at <= last; at += block) {
                requantize_block<relu, fused, saturate, streams>(rule, columns, from + at, to + at,
                                                                 seen);
            }
            if (at < rows.columns) usual(last);
        }
    } else {
        // Blocks whose parameters stay in the first-level cache while a few rows go by.
        constexpr size_t held = 512 / block;
        const size_t first = before_line(target_of(0));
        size_t at[held];
        for (size_t begin = 0; begin < rows.columns;) {
            RequantizedColumns columns[held];
            bool lines[held];
            size_t count = 0;
            for (; count < held && begin < rows.columns; ++count) {
                at[count] = begin < last ? begin : last;
                lines[count] = streams && begin >= first && begin <= last;
                begin = begin < first ? (begin + block < first ? begin + block : first)
                                      : begin + block;
                columns[count].set(parameters, at[count]);
            }
            for (size_t row = 0; row < rows.rows; ++row) {
                const u32* const from = row_of(row);
                u8* const to = target_of(row);
                for (size_t k = 0; k < count; ++k) {
                    if (lines[k]) {
                        requantize_block<relu, fused, saturate, streams>(
                            rule, columns[k], from + at[k], to + at[k], seen);
                    } else {
                        requantize_block<relu, fused, saturate, false>(
                            rule, columns[k], from + at[k], to + at[k], seen);
                    }
                }
            }
        }
    }
    if (streams) _mm_sfence();
    i32 lost = 0;
    for (size_t k = 0; k < wide_lanes; ++k) lost |= seen.lost[k];
    int outside = 0;
    for (size_t k = 0; k < 2 * wide_lanes; ++k) outside |= seen.outside[k];
    return outside != 0 ? of | nx : lost != 0 ? nx : 0u;
}

template <bool per_column, bool relu, bool fused, bool streams>
unsigned requantize_saturating(const RequantizeRule& rule, const RequantizeParameters& parameters,
                               const RequantizeRows& rows) {
    return rule.saturate
               ? requantize_rows<per_column, relu, fused, true, streams>(rule, parameters, rows)
               : requantize_rows<per_column, relu, fused, false, streams>(rule, parameters, rows);
}

template <bool per_column, bool relu>
unsigned requantize(const RequantizeRule& rule, const RequantizeParameters& parameters,
                    const RequantizeRows& rows) {
    // Rows that each start elsewhere in a line would need their own blocks of parameters.
    const bool streams = rows.streams && (!per_column || rows.out_stride % requantize_line == 0);
    const auto kernel = !(rule.fused && has_fused)
                            ? requantize_saturating<per_column, relu, false, false>
                        : streams ? requantize_saturating<per_column, relu, has_fused, has_streams>
                                  : requantize_saturating<per_column, relu, has_fused, false>;
    return kernel(rule, parameters, rows);
}

#define BITTRUE_REQUANTIZE {{requantize<false, false>, requantize<false, true>},                   \
                            {requantize<true, false>, requantize<true, true>}}

#else
constexpr size_t requantized_block = 0;
#define BITTRUE_REQUANTIZE {}
#endif

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
