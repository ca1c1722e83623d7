// FP32 accumulators times FP19 scales into floats of 16 bits or fewer: the product rounded to odd in
// binary32, which keeps what a narrower rounding needs, then the step of a conversion.
//
// Part of postprocess_strips.cpp, which is compiled once for each instruction level: see its rules.
//
// What the product loses is found by a fused multiplication and subtraction: it is a multiple of the
// product of the last places, so that it is exact wherever the product is far enough from the
// smallest numbers; its sign tells on which side of the rounded product the exact
// one lies.
#pragma once

#include "postprocess_strips.h"
#include "strip_steps.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

#if defined(__FMA__)

using Singles = Word<u32>::FloatVec;

inline Singles singles_of(Vec<u32> words) {
    Singles values;
    std::memcpy(&values, &words, sizeof values);
    return values;
}

inline Vec<u32> words_of(Singles values) {
    Vec<u32> words;
    std::memcpy(&words, &values, sizeof words);
    return words;
}

inline Vec<u32> odd_product(Vec<u32> raw, Vec<u32> multiplier) {
#if defined(__AVX512BW__)
    const __m512 x = (__m512)raw, scale = (__m512)multiplier;
    const __m512 p = _mm512_mul_round_ps(x, scale, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask16 inexact =
        _mm512_cmp_ps_mask(_mm512_fmsub_ps(x, scale, p), _mm512_setzero_ps(), _CMP_NEQ_UQ);
    return (Vec<u32>)_mm512_mask_or_epi32((__m512i)p, inexact, (__m512i)p, _mm512_set1_epi32(1));
#else
    const Singles x = singles_of(raw), scale = singles_of(multiplier), p = x * scale;
    const Singles rest = (Singles)_mm256_fmsub_ps((__m256)x, (__m256)scale, (__m256)p);
    const Vec<u32> inexact = (Vec<u32>)(rest != 0.0f);
    // Where the exact product is nearer to zero: back to the word below it, which ends odd too.
    const Vec<u32> beyond = (Vec<u32>)((Mask<u32>)(words_of(rest) ^ words_of(p)) >> 31) & inexact;
    return (words_of(p) + beyond) | (inexact & u32{1});
#endif
}

template <typename Step, bool range_first, Carrier carrier, bool relu, bool flags>
unsigned scaled(const ScaledRule& rule, const void* in, const StripParameters& parameters,
                void* out, size_t count) {
    constexpr size_t width = width_of<u32>, block = 4 * width;
    const Step step(rule.encoding);
    const Vec<u32> limit = all_lanes(rule.limit), zero_code = all_lanes(rule.zero_code);
    const u32* raw = static_cast<const u32*>(in);
    u8* to = static_cast<u8*>(out);
    Vec<u32> all{};
    for (size_t i = 0; i < count; i += block) {
        Vec<u32> codes[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + k * width;
            const Vec<u32> x = load<u32>(raw + at);
            Vec<u32> multiplier = load<u32>(parameters.scale + at);
            if (relu) {
                const Vec<u32> activation = load<u32>(parameters.activation + at);
                multiplier = (Mask<u32>)x < 0 ? activation : multiplier;
            }
            Vec<u32> words = odd_product(x, multiplier);
            if (relu) words = multiplier == 0 ? Vec<u32>{} : words;
            const Vec<u32> magnitude = words & 0x7fffffff;
            if (range_first) {
                const Vec<u32> beyond = all_lanes(rule.beyond) | (words & 0x80000000);
                words = less<u32>(limit, magnitude) ? beyond : words;
            }
            Vec<u32> raised{};
            Vec<u32> code = step.template lanes<flags>(words, Vec<u32>{}, raised);
            if (range_first) {
                const Mask<u32> lost = (Mask<u32>)(code == zero_code) & (Mask<u32>)(magnitude != 0);
                code = lost ? Vec<u32>{} : code;
            }
            codes[k] = code;
            if (flags) all |= raised;
        }
        put_block(codes, carrier, to + bytes_in(carrier, i, sizeof(u32)));
    }
    return flags ? static_cast<unsigned>(any_of<u32>(all)) : 0u;
}

#define BITTRUE_SCALED(range_first, carrier, ...)                                                  \
    {                                                                                              \
        {scaled<__VA_ARGS__, range_first, Carrier::carrier, false, false>,                         \
         scaled<__VA_ARGS__, range_first, Carrier::carrier, false, true>},                         \
            {scaled<__VA_ARGS__, range_first, Carrier::carrier, true, false>,                      \
             scaled<__VA_ARGS__, range_first, Carrier::carrier, true, true>}                       \
    }
#define BITTRUE_SCALED_TABLE                                                                       \
    {                                                                                              \
        BITTRUE_SCALED(false, half, FixedNearest<false>),                                          \
            BITTRUE_SCALED(false, half, FixedNearest<true>),                                       \
            BITTRUE_SCALED(true, byte, FixedNearest<true>),                                        \
            BITTRUE_SCALED(true, byte, VariableNearest<rhb>)                                       \
    }

#else
#define BITTRUE_SCALED_TABLE {}
#endif

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
