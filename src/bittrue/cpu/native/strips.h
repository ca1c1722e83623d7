// The kernels of format conversion: many lanes at a time, in two stages over strips in L1.
//
// Stage one reads a strip of source lanes as words: the bits of binary32 (U = 32 bits) or binary64
// (64 bits) of the exact value, signaling NaNs left signaling. Stage two rounds words into codes
// of the destination and raises flags; a last step narrows the codes into their carriers. All
// arithmetic is on integers, except for the exact conversion of a small integer.
//
// One source, strips.cpp, is compiled for each instruction level; it shares plain records with the
// rest and no function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bittrue {

constexpr std::size_t strip_lanes = 512;  // even, so that a packed strip ends with a byte
constexpr std::size_t block_lanes = 64;   // stage two takes whole blocks

// How a fixed format of 16, 32 or 64 carrier bits becomes a word.
template <typename U>
struct Decoding {
    U magnitude_mask;
    int low_zero_bits;
    int sign_shift;    // left, from the carrier's sign bit to the word's; negative: right
    U sign_mask;       // of the carrier; 0: no sign
    int widening;      // fraction bits of the word minus those of the format
    U rebias;          // added to the widened normal magnitude
    U subnormal_end;   // the smallest normal magnitude, 0 where the word's subnormals are the same
    U subnormal_scale; // added to the word of the magnitude as an integer
    U special_from;    // magnitudes from here on get an exponent of all ones
    U nan_magnitude;   // this one is the quiet NaN of a format without infinities
};

// How words become codes; each kind of destination reads its part.
template <typename U>
struct Encoding {
    // Fixed formats. Thresholds are words without sign, codes stand above their low zero bits.
    U smallest_normal;
    int drop;            // fraction bits of the word minus those of the format
    U rebias;            // subtracted from the narrowed word
    int subnormal_drop;  // this minus the exponent field: bits below a subnormal's grid
    U max_code;
    int low_zero_bits;
    // The same to nearest even, for 32-bit words.
    U nearest;           // added before narrowing: half a unit less one, and the change of bias
    U parity;            // 1: ties go by the last bit kept; 0 (no fraction): they go up
    U grid;              // word of a number whose last place is the grid of the subnormals
    U cap;               // the code beyond the largest finite value, above the low zero bits
    U nan_from;          // words above get nan_code
    U highest;           // HiF8: all greater words become this one
    int sign_shift;      // from the sign of the word to that of the code
    // All float destinations. Codes in place from here on.
    U sign;              // 0: no sign
    U over_code;         // beyond the largest finite value
    U over_sign;         // sign there: 0 where the code is the one NaN
    U nan_code;
    unsigned infinity_flags, quiet_flags, signaling_flags;
    U tiny[2];           // inexact results below raise UF, by sign; 0 where the type has no UF
    int tiny_shift;      // log2 of the grid step just below the smallest normal, in units of words
    // Integers.
    U limit[2];          // magnitude of the greatest and of the least value
    U clamped[2];        // code beyond them
    bool saturate;
    U nan_integer, infinity_integer[2];
    U mask;
};

// Of the magnitudes of a strip; `least` without zeros, infinity of all ones if all are.
template <typename U>
struct Extremes {
    U greatest, least;
};

template <typename U>
struct WordKernels {
    // Stage one: `count` lanes at `in` to words.
    void (*decode16)(const Decoding<U>&, const void* in, U* out, std::size_t count);
    void (*decode32)(const Decoding<U>&, const void* in, U* out, std::size_t count);
    void (*decode64)(const Decoding<U>&, const void* in, U* out, std::size_t count);
    void (*integers[2][4])(const void* in, U* out, std::size_t count);  // by sign, log2 of bytes
    void (*look_up)(const U* table, const void* in, U* out, std::size_t count);      // by byte
    void (*look_up_packed)(const U* table, const void* in, U* out, std::size_t count);

    // Stage two, by rounding mode and by what becomes of the flags: nothing, their union returned,
    // a byte for each lane as well. `count` is a multiple of block_lanes; `in` are words, `out` gets
    // words.
    using Encode = unsigned (*)(const Encoding<U>&, const void* in, void* out,
                                const std::uint32_t* random, std::uint8_t* flags,
                                std::size_t count);
    Encode same[3];  // the destination is the word itself
    Encode fixed[9][3];
    Encode variable[9][3];
    Encode scale[9][3];
    Encode integer[9][3];
    // To FP32 to nearest even, where its lanes are not words: from 32-bit integers (32-bit words, by
    // sign), from FP64 (64-bit words); and FP64 from FP32. They read and write carriers.
    Encode integer_single[2][3];
    Encode narrow[3];
    Encode widen[3];
    using Look = Extremes<U> (*)(const void* in, std::size_t count);
    Look extremes;

    // Integers to integers: sign-extended words, clamped into [least, greatest] and masked.
    void (*extend[2][4])(const void* in, U* out, std::size_t count);
    void (*clamp[2])(U least, U greatest, U mask, U* words, std::size_t count);  // by source sign

    void (*store[5])(const U* in, void* out, std::size_t count);  // log2 of bytes; [4]: packed
};

// Stage two to nearest even, right into carriers: words, bytes, halves, nibbles.
struct NearestKernels {
    using Encode = WordKernels<std::uint32_t>::Encode;
    Encode fixed[2][4][3];  // [1]: the destination has subnormals that words have not
    Encode variable[4][3];
    Encode scale[4][3];
    Encode same[3];
    WordKernels<std::uint32_t>::Look extremes;
};

struct StripKernels {
    WordKernels<std::uint32_t> words32;
    WordKernels<std::uint64_t> words64;
    NearestKernels nearest[3];  // from words; from their upper halves, which BF16 is; from FP16

    void (*pack)(const std::uint8_t* in, void* out, std::size_t count);  // lanes to nibbles

    // 8-bit sources: one entry a byte, by log2 of the bytes of an entry. A packed source has both
    // lanes in its entry. Returns the OR of their `flags` (16 bits: a packed pair has two); null: 0.
    using Map = unsigned (*)(const void* table, const std::uint16_t* flags, const std::uint8_t* in,
                             void* out, std::size_t count);
    Map map[5];
    Map map_nibbles;  // map[3] for a packed source and lanes of 32 bits
    void (*map_flags)(const std::uint16_t* flags, const std::uint8_t* in, std::uint8_t* out,
                      std::size_t count);
    void (*map_flag_pairs)(const std::uint16_t* flags, const std::uint8_t* in, std::uint8_t* out,
                           std::size_t count);

    // Whether any of the carriers has a bit of `mask`, by log2 of bytes.
    bool (*any_bit[4])(std::uint64_t mask, const void* in, std::size_t count);
};

namespace baseline {
extern const StripKernels strip_kernels;
}
namespace v3 {
extern const StripKernels strip_kernels;
}
namespace v4 {
extern const StripKernels strip_kernels;
}

}  // namespace bittrue
