// The kernels of operations that are compiled for each instruction level.
//
// The sources *_level.cpp become namespaces baseline, v3 and v4; they share plain records with the
// rest and no function. Pointers are aligned to their elements and do not overlap unless said so.
// The caller holds a FloatEnvironmentGuard. A NaN that is computed is written as 7fc00000.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bittrue {

enum class Type : std::uint8_t { f32, i32, boolean, f64, c64, c128 };

template <typename T>
struct Complex {
    T re, im;
};

// --- elementwise_level.cpp ----------------------------------------------------------------------

// out[i] = function(in[0][i], in[1][i], ...) of `count` elements. Returns whether an exact result
// left Int32; `out` is undefined then.
using Strip = bool (*)(const void* const* in, void* out, std::size_t count);

struct ElementwiseRow {
    const char* name;
    int arity;
    Type in[3];
    Type out;
    Strip strip;
};

struct ElementwiseKernels {
    const ElementwiseRow* rows;
    int count;
    void (*to_f32)(const std::int32_t* in, float* out, std::size_t count);
    // out[i] = in[i * stride], 4-byte and 1-byte elements.
    void (*gather4)(const void* in, std::ptrdiff_t stride, void* out, std::size_t count);
    void (*gather1)(const void* in, std::ptrdiff_t stride, void* out, std::size_t count);
};

// --- reduce_level.cpp ---------------------------------------------------------------------------

constexpr std::size_t lanes = 32;
constexpr std::size_t block_terms = 4096;

// Rows of a matrix: row r starts at x + r * stride.
template <typename Term, typename Sum>
struct SumKernels {
    // The sum of each block of contiguous terms, NaN as it comes.
    void (*blocks)(const Term* x, std::size_t count, Sum* out);
    // The block sums of `columns` columns of at most block_terms rows. `scratch` has
    // lanes * columns elements.
    void (*columns)(const Term* x, std::size_t rows, std::ptrdiff_t stride, std::size_t columns,
                    Sum* out, Sum* scratch);
};

struct ReduceKernels {
    SumKernels<float, float> f32;
    SumKernels<float, double> f32_in_f64;   // the first level of blocks
    SumKernels<double, double> f64;         // the levels above

    std::int64_t (*sum_i32)(const std::int32_t* x, std::size_t count);  // count < 2^31
    void (*add_row_i32)(const std::int32_t* x, std::int64_t* sums, std::size_t count);

    // Sequential products of `count` rows of `length` terms.
    void (*product)(const float* x, std::size_t rows, std::ptrdiff_t stride, std::size_t length,
                    float* out);
    void (*multiply_row)(const float* x, float* products, std::size_t count);

    // Extrema, [0] maximum and [1] minimum. Bits of the extremum of count >= 1 terms.
    std::uint32_t (*extremum[2])(const std::uint32_t* x, std::size_t count);
    // Extrema by column: ranks are updated, from the least (greatest) Int32 on; extremum_end turns
    // them into bits, in place.
    void (*extremum_row[2])(const std::uint32_t* x, std::int32_t* ranks, std::size_t count);
    void (*extremum_end[2])(std::int32_t* ranks, std::size_t count);

    // Ordinal of the first winner of count >= 1 terms; its key goes to *key. A greater key wins.
    std::size_t (*winner[2])(const std::uint32_t* x, std::size_t count, std::int32_t* key);
    // Winners by column: keys and ordinals are updated where the row's key is greater.
    void (*winner_row[2])(const std::uint32_t* x, std::int32_t ordinal, std::int32_t* keys,
                          std::int32_t* ordinals, std::size_t count);

    // Inclusive sums along each of `rows` contiguous rows.
    void (*scan)(const float* x, std::size_t rows, std::size_t length, float* out);
    // sums[i] += x[i]; out[i] = sums[i].
    void (*scan_row)(const float* x, float* sums, float* out, std::size_t count);

    void (*canonical)(float* x, std::size_t count);              // NaN to 7fc00000, in place
    void (*narrow)(const double* x, float* out, std::size_t count);  // one rounding, NaN 7fc00000
};

// --- matmul_level.cpp ---------------------------------------------------------------------------

// Where a block of terms stands in its sum. The first starts from zero, the others from what c
// holds; with the last, a NaN becomes 7fc00000.
struct Place {
    bool first, last;
};

// One kernel family: a tile of mr x nr sums over packed operands. a[k * mr + i], b[k * nr + j];
// c[i * stride + j] holds sums.
template <typename Element, typename Sum>
struct TileKernels {
    int mr, nr;
    void (*tile)(const Element* a, const Element* b, std::size_t depth, Sum* c,
                 std::ptrdiff_t stride, Place place);
};

// Packs `count` <= width lines of `depth` elements: out[k * width + i] = x[i * line + k * step],
// with zeros for the lines that are missing.
template <typename From, typename To>
using Pack = void (*)(const From* x, std::ptrdiff_t line, std::ptrdiff_t step, std::size_t count,
                      std::size_t depth, int width, To* out);

struct MatmulKernels {
    TileKernels<float, float> f32;
    TileKernels<float, double> f32_in_f64;
    TileKernels<double, double> f64;                // exact integers below 2^53
    TileKernels<std::int64_t, std::int64_t> i64;    // factors are Int32, sums wrap
    Pack<float, float> pack_f32;
    Pack<std::int32_t, float> pack_i32_f32;
    Pack<std::int32_t, double> pack_i32_f64;
    Pack<std::int32_t, std::int64_t> pack_i32_i64;
    Pack<std::int32_t, std::int64_t> pack_high;     // floor(x / 2^16)
    Pack<std::int32_t, std::int64_t> pack_low;      // x mod 2^16
    // The tile of `f32` from zero over lines that stand anywhere: b[k * nr + j] is
    // b[offsets[k] + j]. The sums go to mr x nr contiguous elements.
    void (*tile_at)(const float* a, const float* b, const std::ptrdiff_t* offsets,
                    std::size_t depth, float* c);
    // Multiplies and adds in registers, and returns how often: the yardstick of a benchmark.
    std::size_t (*arithmetic)(std::size_t rounds, float factor, float term, float* out);
};

// --- wide_level.cpp: binary64 and complex -------------------------------------------------------

// Complex products by which operand is real: neither, the left, the right.
template <typename T, typename S>
struct ComplexTiles {
    TileKernels<Complex<T>, Complex<S>> of[3];
};

// Pairs of kernels are of binary32 and binary64; of an extremum, the maximum and the minimum.
struct WideKernels {
    const ElementwiseRow* rows;
    int count;
    // out[i] = in[i * stride], 8-byte and 16-byte elements.
    void (*gather8)(const void* in, std::ptrdiff_t stride, void* out, std::size_t count);
    void (*gather16)(const void* in, std::ptrdiff_t stride, void* out, std::size_t count);
    void (*f32_to_f64)(const void* in, void* out, std::size_t count);
    void (*canonical[2])(void* values, std::size_t count);  // in place
    // Products of Float64, Complex64 and Complex128 elements, from [1] on: *product *= each term, in
    // order; products[i] *= x[i].
    void (*multiply[4])(const void* terms, std::size_t count, void* product);
    void (*multiply_row[4])(const void* x, void* products, std::size_t count);
    // The rank of the extremum, from *best on; the same of each column.
    void (*extremum[2])(const std::uint64_t* x, std::size_t count, std::int64_t* best);
    void (*extremum_row[2])(const std::uint64_t* x, std::int64_t* ranks, std::size_t count);
    // The first position whose key is greater than *key and than all before; `count` if none.
    std::size_t (*winner[2])(const std::uint64_t* x, std::size_t count, std::int64_t* key);
    void (*winner_row[2])(const std::uint64_t* x, std::int64_t ordinal, std::int64_t* keys,
                          std::int64_t* ordinals, std::size_t count);
    // sums[i] += x[i]; out[i] = sums[i].
    void (*scan_row[2])(const void* x, void* sums, void* out, std::size_t count);
    ComplexTiles<float, float> c64;
    ComplexTiles<float, double> c64_in_c128;
    ComplexTiles<double, double> c128;
};

#define BITTRUE_DECLARE_LEVEL(level)                        \
    namespace level {                                       \
    extern const ElementwiseKernels elementwise_kernels;    \
    extern const ReduceKernels reduce_kernels;              \
    extern const MatmulKernels matmul_kernels;              \
    extern const WideKernels wide_kernels;                  \
    }
BITTRUE_DECLARE_LEVEL(baseline)
BITTRUE_DECLARE_LEVEL(v3)
BITTRUE_DECLARE_LEVEL(v4)
#undef BITTRUE_DECLARE_LEVEL

}  // namespace bittrue
