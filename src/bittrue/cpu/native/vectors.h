// Vectors of the widest registers of an instruction level, for the sources compiled per level.
// Everything here has internal linkage: each level has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef BITTRUE_LEVEL
#define BITTRUE_LEVEL baseline
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <typename T>
struct VectorOf {
    static constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((vector_size(vector_bytes)));
    // The same in memory that is aligned to its elements only.
    typedef T Unaligned __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));

    static Vector load(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
    static void store(T* x, Vector value) { *reinterpret_cast<Unaligned*>(x) = value; }
    static Vector fill(T value) { return value - Vector{}; }  // value - 0 is value, -0 too
};

inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

constexpr std::uint32_t nan_bits = 0x7fc00000;
constexpr std::uint32_t magnitude_bits = 0x7fffffff;
constexpr std::int32_t infinity_bits = 0x7f800000;

inline float canonical_of(float value) { return value == value ? value : float_of(nan_bits); }

inline bool is_nan_bits(std::uint32_t bits) {
    return static_cast<std::int32_t>(bits & magnitude_bits) > infinity_bits;
}

// An integer that orders numbers by value, -0 just below +0; its own inverse.
inline std::int32_t rank_of(std::uint32_t bits) {
    return static_cast<std::int32_t>(
        bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) >> 1));
}

}  // namespace
}  // namespace bittrue::BITTRUE_LEVEL
