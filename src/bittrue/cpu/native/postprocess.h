// Post-processing of matrix accumulators: maxima of the raw ones, then one conversion of each.
//
// The compiled twin of `bittrue/postprocess/element.py`, `maxima.py` and `reference.py`, under the
// same names. An exact path of single elements is right for every mode; the strips of
// postprocess_strips.cpp do what it does for many elements, and hand it those that they do not
// cover.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lane.h"

namespace bittrue {

enum class Accumulator { fp32, s32, u32 };

// A pointer to one value a column, or (step 0) to one value for all of them.
template <typename T>
struct PerColumn {
    const T* values = nullptr;
    std::size_t step = 0;
};

// What every element of one call has in common; `rounding` is resolved.
struct PostProcessing {
    Accumulator accumulator;
    LaneType source, destination;
    bool copies;         // D is the accumulator, bit for bit
    bool shift;
    int offset_bits;     // of the offset and the intermediate; 0: none
    int rounding;
    bool saturate;
    bool relu;           // negative accumulators take `activation` for the scale
    bool range_first;    // overflow is told by the value before rounding
    bool unsigned_zero;  // a negative number that rounds to zero is +0
    bool packed;         // 4-bit lanes two a byte

    PerColumn<std::uint32_t> scale;       // FP32 patterns
    PerColumn<std::uint32_t> activation;  // FP32 patterns; 0 is +0
    PerColumn<std::int32_t> offset;
    PerColumn<std::int32_t> amount;       // of a shift, 1..16

    bool row_max, group_max, max_abs;
    std::size_t group_n;
    const std::uint32_t* row_max_in;  // null: none
};

// `rows` of `columns` accumulator codes, `stride` bytes from one row to the next.
struct RawRows {
    const void* data;
    std::ptrdiff_t stride;
    std::size_t rows, columns;
};

// Where the output group goes; the maxima are contiguous, null where they are not enabled.
struct OutputGroup {
    void* d;
    std::ptrdiff_t stride;
    std::uint32_t* row_max;
    std::uint32_t* group_max;
};

// Returns the OR of all flags. Outputs share no storage with inputs, except that `row_max` may be
// `row_max_in`. The result does not depend on `threads` nor on the level.
unsigned post_process(const PostProcessing& rule, const RawRows& raw, const OutputGroup& out,
                      int threads);

// The operands of a matrix product, row-major and contiguous: (rows, k) and (k, columns), both float
// for FP32 accumulators, both int32 else.
struct Operands {
    const void* a;
    const void* b;
    std::size_t rows, k, columns;
};

// The product and its post-processing, a few rows at a time. Returns the OR of all flags, or
// `sum_outside` where a finished integer sum is outside the accumulator: then the outputs are
// incomplete, and `row` and `column` name the first such sum.
constexpr unsigned sum_outside = ~0u;
unsigned matmul_post_process(const PostProcessing& rule, const Operands& operands,
                             const OutputGroup& out, int threads, std::size_t& row,
                             std::size_t& column);

}  // namespace bittrue
