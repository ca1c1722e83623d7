// Words, the intermediate of every conversion: constants of their layout.
//
// Part of strips.cpp, which is compiled once for each instruction level: see its rules.
#pragma once

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
    typedef u16 HalfVec __attribute__((vector_size(vector_bytes / 2)));
    static constexpr int bits = 32, fraction = 23, bias = 127;
};

template <>
struct Word<u64> {
    using Signed = std::int64_t;
    using Float = double;
    typedef u64 Vec BITTRUE_VECTOR;
    typedef std::int64_t Mask BITTRUE_VECTOR;
    typedef double FloatVec BITTRUE_VECTOR;
    typedef u32 HalfVec __attribute__((vector_size(vector_bytes / 2)));
    typedef float HalfFloatVec __attribute__((vector_size(vector_bytes / 2)));
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

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
