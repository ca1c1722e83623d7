// The kernels of post-processing: strips of one row that stay in the first-level cache.
//
// An accumulator (24 or 31 bits) times an FP19 (11 bits) is exact in binary64, exponents included,
// so each kernel multiplies there and rounds once, by hand. They take finite accumulators only: a
// strip that holds a NaN or an infinity goes the way of single elements.
//
// One source, postprocess_strips.cpp, is compiled for each instruction level; it shares plain
// records with the rest and no function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strips.h"

namespace bittrue {

constexpr std::size_t post_strip = 512;  // even, so that a packed strip ends with a byte

constexpr std::size_t tile_rows = 4, tile_columns = 32;

// One value for each element of the strip.
struct StripParameters {
    const std::uint32_t* scale;
    const std::uint32_t* activation;
    const std::int32_t* offset;
    const std::int32_t* amount;
};

// Rounding to an integer, intermediate saturation, offset, clamp or wrap.
struct AffineRule {
    double low, high;                // the least and greatest that round into the intermediate
    std::int32_t d_least, d_greatest;
    bool saturate;
    std::uint32_t mask;              // of a code
};

// Words into a float format of 16 bits or fewer; a word is the upper half of a binary64, the lower
// half ORed into its lowest bit. Thresholds are words without sign.
struct FloatRule {
    std::uint32_t smallest_normal;
    int drop;                 // fraction bits of the word minus those of the format
    std::uint32_t rebias;     // subtracted from the narrowed word
    int subnormal_drop;       // this minus the exponent field: bits below a subnormal's grid
    std::uint32_t max_code;
    std::uint32_t sign;       // of a code
    std::uint32_t over_code;
    std::uint32_t over_sign;  // sign there: 0 where the code is the one NaN
    bool unsigned_zero;
    std::uint32_t tiny[2];    // inexact results below raise UF, by sign
};

// Into a float format of 16 bits or fewer, to nearest even, from binary64.
struct NearestRule {
    double smallest_normal;
    double limit;             // magnitudes above overflow before rounding
    double beyond;            // what stands for them: rounds to a code above max_code
    double tiny;              // inexact results below raise UF
    int fraction_bits;
    std::uint32_t rebias;     // (exponent of the smallest normal + 1023) << fraction_bits
    std::uint32_t max_code;
    std::uint32_t sign;
    std::uint32_t over_code;
    std::uint32_t over_sign;
    bool unsigned_zero;
};

// Into HiF8, ties to the greater number. A grid value has the index (exponent + 22) * 8 + top three
// fraction bits + 1, zero 0; negative ones stand 512 above.
struct TaperedRule {
    std::uint32_t tiny[2];    // inexact results of words below raise UF, by sign
    std::uint8_t codes[1024];
};
constexpr int tapered_negative = 512;

// Into binary32: the bounds of tininess, by sign, and the code beyond the largest finite value.
struct SingleRule {
    double tiny[2];
    std::uint32_t over_code;
};

// Maximum of codes as a signed key, with what a step would raise: NV for FP32, OF for S32.
struct Maximum {
    std::int32_t key;
    std::uint32_t raised;
};

// Requantization of rows of S32 into bytes to nearest even, with positive scales of at most one.
struct RequantizeRule {
    std::int16_t d_least;
    std::int16_t beyond;  // bits of a total above `d_least` that put it outside D; where it wraps
    std::int16_t mask;    // of a code
    bool saturate;
    bool fused;           // no scale is below 2^-21
};

// One value a column, or one for all, repeated `requantize_columns` times. Rounded products are
// clamped into [low, high] before the offset.
constexpr std::size_t requantize_columns = 64;
struct RequantizeParameters {
    const std::uint32_t* scale;
    const std::int32_t* low;
    const std::int32_t* high;
    const std::int32_t* offset;
    const std::int32_t* rest;  // bits of an accumulator that make its product no integer
};

// At least PostKernels::requantized columns; strides are in bytes. With `streams` codes go past the
// caches, which a D that they cannot hold would only sweep.
struct RequantizeRows {
    const void* in;
    std::ptrdiff_t in_stride;
    void* out;
    std::ptrdiff_t out_stride;
    std::size_t rows, columns;
    bool streams;
};

// FP32 times scales into a float of 16 bits or fewer by the steps of conversions, right into carriers.
struct ScaledRule {
    Encoding<std::uint32_t> encoding;
    // Of E4M3 and HiF8: words above `limit` overflow before rounding and `beyond` stands for them;
    // where a number that is not zero gets `zero_code`, it becomes +0.
    std::uint32_t limit, beyond, zero_code;
};
enum class ScaledInto { bf16, fp16, e4m3, hif8 };

struct PostKernels {
    // Sources: [0] FP32, [1] S32. Roundings by code (0 unused). Relu: [0] none, [1] activation.
    using Affine = unsigned (*)(const AffineRule&, const void* in, const StripParameters&,
                                std::uint32_t* codes, std::size_t count, unsigned seen);
    Affine affine[2][8][2];  // `seen`: flags that need not be told again
    void (*words[2][2])(const void* in, const StripParameters&, std::uint32_t* words,
                        std::size_t count);
    using Float = unsigned (*)(const FloatRule&, const std::uint32_t* words, std::uint32_t* codes,
                               std::size_t count);
    Float fixed[8];
    using Nearest = unsigned (*)(const NearestRule&, const void* in, const StripParameters&,
                                 std::uint32_t* codes, std::size_t count, unsigned seen);
    Nearest nearest[2][2];
    unsigned (*tapered)(const TaperedRule&, const std::uint32_t* words, std::uint32_t* codes,
                        std::size_t count);
    using Single = unsigned (*)(const SingleRule&, const void* in, const StripParameters&,
                                std::uint32_t* codes, std::size_t count);
    Single single[8][2];
    unsigned (*shift)(const void* in, const StripParameters&, std::uint32_t* codes,
                      std::size_t count);

    // Whether an FP32 of the strip is a NaN or an infinity.
    bool (*any_special)(const void* in, std::size_t count);

    // By accumulator (FP32, S32, U32) and whether magnitudes count.
    Maximum (*maximum[3][2])(const void* in, std::size_t count);

    // A tile of a matrix product: `rows` (up to tile_rows) of `a`, `columns` (up to tile_columns) of
    // `b`, row-major with the given strides in elements; terms ascend in k. `out` has the strides
    // of a full tile. FP32: each term and sum rounded once, NaNs canonical. Integers: exact sums.
    void (*multiply_fp32)(const float* a, std::size_t a_stride, const float* b,
                          std::size_t b_stride, std::size_t k, std::size_t rows,
                          std::size_t columns, std::uint32_t* out);
    void (*multiply_integers)(const std::int32_t* a, std::size_t a_stride, const std::int32_t* b,
                              std::size_t b_stride, std::size_t k, std::size_t rows,
                              std::size_t columns, std::int64_t* out);

    void (*store8)(const std::uint32_t* codes, void* out, std::size_t count);
    void (*store16)(const std::uint32_t* codes, void* out, std::size_t count);
    void (*store_packed)(const std::uint32_t* codes, void* out, std::size_t count);

    // Null: this level has none. By ScaledInto, activation, and whether flags are told. `count` is a
    // multiple of block_lanes; products are finite and zero or at least 2^-100.
    using Scaled = unsigned (*)(const ScaledRule&, const void* in, const StripParameters&,
                                void* out, std::size_t count);
    Scaled scaled[4][2][2];
    WordKernels<std::uint32_t>::Look extremes;

    // Whole rows, of blocks of `requantized` columns; 0: this level has no such kernel. By whether
    // parameters stand for each column, and whether negative accumulators count as zero.
    using Requantize = unsigned (*)(const RequantizeRule&, const RequantizeParameters&,
                                    const RequantizeRows&);
    std::size_t requantized;
    Requantize requantize[2][2];
};

namespace baseline {
extern const PostKernels post_kernels;
}
namespace v3 {
extern const PostKernels post_kernels;
}
namespace v4 {
extern const PostKernels post_kernels;
}

}  // namespace bittrue
