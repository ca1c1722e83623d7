// Sums in the lane order, extrema, products and scans. Compiled once for each instruction level:
// no function from outside this file and vectors.h may be used (strips.cpp says why).
//
// The lane order (docs/reference/association.md): of a block of 4096 terms, lane j of 32 adds terms
// j, j + 32, ... from +0 on; then lane j becomes lane j + lane j + s for s = 16, 8, 4, 2, 1. A lane
// is never -0, so that adding +0 where a term is missing changes nothing.
#include "operation_kernels.h"
#include "vectors.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using std::ptrdiff_t;
using std::size_t;

constexpr size_t lane_count = 32;
constexpr size_t block_size = 4096;

// --- contiguous terms ---------------------------------------------------------------------------

template <typename Sum>
constexpr int vectors_of_lanes = static_cast<int>(lane_count) / VectorOf<Sum>::width;

// The 32 terms at x, as vectors of the accumulator type.
inline void load_terms(const float* x, VectorOf<float>::Vector* out) {
    for (int v = 0; v < vectors_of_lanes<float>; ++v) {
        out[v] = VectorOf<float>::load(x + v * VectorOf<float>::width);
    }
}

inline void load_terms(const double* x, VectorOf<double>::Vector* out) {
    for (int v = 0; v < vectors_of_lanes<double>; ++v) {
        out[v] = VectorOf<double>::load(x + v * VectorOf<double>::width);
    }
}

inline void load_terms(const float* x, VectorOf<double>::Vector* out) {
    constexpr int width = VectorOf<double>::width;
    typedef float Half __attribute__((vector_size(width * sizeof(float))));
    typedef float HalfUnaligned
        __attribute__((vector_size(width * sizeof(float)), aligned(sizeof(float)), may_alias));
    for (int v = 0; v < vectors_of_lanes<double>; ++v) {
        const Half half = *reinterpret_cast<const HalfUnaligned*>(x + v * width);
        out[v] = __builtin_convertvector(half, VectorOf<double>::Vector);
    }
}

template <typename Sum>
inline Sum fold_lanes(typename VectorOf<Sum>::Vector* acc) {
    for (int half = vectors_of_lanes<Sum> / 2; half > 0; half /= 2) {
        for (int v = 0; v < half; ++v) acc[v] += acc[v + half];
    }
    constexpr int width = VectorOf<Sum>::width;
    Sum lane[width];
    std::memcpy(lane, acc, sizeof lane);
    for (int s = width / 2; s > 0; s /= 2) {
        for (int j = 0; j < s; ++j) lane[j] += lane[j + s];
    }
    return lane[0];
}

template <typename Term, typename Sum>
Sum block(const Term* x, size_t count) {
    using Vector = typename VectorOf<Sum>::Vector;
    constexpr int n = vectors_of_lanes<Sum>;
    Vector acc[n] = {}, term[n];
    size_t i = 0;
    for (; i + lane_count <= count; i += lane_count) {
        load_terms(x + i, term);
        for (int v = 0; v < n; ++v) acc[v] += term[v];
    }
    if (i < count) {
        Term rest[lane_count] = {};
        for (size_t j = 0; i + j < count; ++j) rest[j] = x[i + j];
        load_terms(rest, term);
        for (int v = 0; v < n; ++v) acc[v] += term[v];
    }
    return fold_lanes<Sum>(acc);
}

// One block after the other: the additions of several at once would wait less for each other, but
// memory gives streams that start 16 KiB apart a third less than one.
template <typename Term, typename Sum>
void blocks(const Term* x, size_t count, Sum* out) {
    for (; count > block_size; count -= block_size, x += block_size) {
        *out++ = block<Term, Sum>(x, block_size);
    }
    if (count > 0) *out = block<Term, Sum>(x, count);
}

// --- columns ------------------------------------------------------------------------------------

// A few neighbouring columns: `n` vectors, or one scalar.
template <typename Term, typename Sum, int n>
struct Columns {
    static constexpr size_t width = static_cast<size_t>(n) * VectorOf<Sum>::width;
    typename VectorOf<Sum>::Vector value[n];
    void clear() {
        for (int v = 0; v < n; ++v) value[v] = typename VectorOf<Sum>::Vector{};
    }
    void add(const Term* x) {
        constexpr int each = VectorOf<Sum>::width;
        typedef Term Narrow __attribute__((vector_size(each * sizeof(Term))));
        typedef Term NarrowUnaligned
            __attribute__((vector_size(each * sizeof(Term)), aligned(sizeof(Term)), may_alias));
        for (int v = 0; v < n; ++v) {
            const Narrow term = *reinterpret_cast<const NarrowUnaligned*>(x + v * each);
            value[v] += __builtin_convertvector(term, typename VectorOf<Sum>::Vector);
        }
    }
    void add(const Columns& other) {
        for (int v = 0; v < n; ++v) value[v] += other.value[v];
    }
    void store(Sum* out) const {
        for (int v = 0; v < n; ++v) VectorOf<Sum>::store(out + v * VectorOf<Sum>::width, value[v]);
    }
};

template <typename Term, typename Sum>
struct Columns<Term, Sum, 0> {
    static constexpr size_t width = 1;
    Sum value;
    void clear() { value = 0; }
    void add(const Term* x) { value += static_cast<Sum>(*x); }
    void add(const Columns& other) { value += other.value; }
    void store(Sum* out) const { *out = value; }
};

constexpr int reversed5(int i) {
    return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

// All rows of a few columns in registers. Lanes come in the order in which the fold needs them
// (bit-reversed), so that a stack of five sums is enough.
template <typename Term, typename Sum, int n>
inline void tree(const Term* x, size_t rows, ptrdiff_t stride, Sum* out) {
    using Some = Columns<Term, Sum, n>;
    Some stack[6];
    int depth = 0;
    for (int i = 0; i < static_cast<int>(lane_count); ++i) {
        Some lane;
        lane.clear();
        for (size_t r = static_cast<size_t>(reversed5(i)); r < rows; r += lane_count) {
            const Term* row = x + static_cast<ptrdiff_t>(r) * stride;
            __builtin_prefetch(row + 2 * Some::width);
            lane.add(row);
        }
        for (int t = i; t & 1; t >>= 1) {
            Some sum = stack[--depth];
            sum.add(lane);
            lane = sum;
        }
        stack[depth++] = lane;
    }
    stack[0].store(out);
}

template <typename Term, typename Sum>
void columns_by_tree(const Term* x, size_t rows, ptrdiff_t stride, size_t columns, Sum* out) {
    constexpr int n = vector_bytes == 64 ? 4 : 2;
    constexpr size_t wide = Columns<Term, Sum, n>::width, single = Columns<Term, Sum, 1>::width;
    size_t c = 0;
    for (; c + wide <= columns; c += wide) tree<Term, Sum, n>(x + c, rows, stride, out + c);
    for (; c + single <= columns; c += single) tree<Term, Sum, 1>(x + c, rows, stride, out + c);
    for (; c < columns; ++c) tree<Term, Sum, 0>(x + c, rows, stride, out + c);
}

template <typename Term, typename Sum>
inline void add_rows(const Term* __restrict x, Sum* __restrict sums, size_t count) {
    for (size_t i = 0; i < count; ++i) sums[i] += static_cast<Sum>(x[i]);
}

template <typename Term, typename Sum>
inline void add_4_rows(const Term* __restrict x, ptrdiff_t stride, Sum* __restrict sums,
                       size_t count) {
    const Term* __restrict x1 = x + stride;
    const Term* __restrict x2 = x1 + stride;
    const Term* __restrict x3 = x2 + stride;
    for (size_t i = 0; i < count; ++i) {
        Sum sum = sums[i];
        sum += static_cast<Sum>(x[i]);
        sum += static_cast<Sum>(x1[i]);
        sum += static_cast<Sum>(x2[i]);
        sum += static_cast<Sum>(x3[i]);
        sums[i] = sum;
    }
}

// Adjacent rows: 32 of them are one row of 32 * columns terms, each in its own lane.
template <typename Term, typename Sum>
void columns_by_groups(const Term* x, size_t rows, size_t columns, Sum* out, Sum* sums) {
    const size_t width = lane_count * columns;
    for (size_t i = 0; i < width; ++i) sums[i] = 0;
    size_t left = rows * columns;
    for (; left >= 4 * width; left -= 4 * width, x += 4 * width) {
        add_4_rows(x, static_cast<ptrdiff_t>(width), sums, width);
    }
    while (left > 0) {
        const size_t some = left < width ? left : width;
        add_rows(x, sums, some);
        x += some;
        left -= some;
    }
    for (size_t s = lane_count / 2; s > 0; s /= 2) add_rows(sums + s * columns, sums, s * columns);
    std::memcpy(out, sums, columns * sizeof(Sum));
}

constexpr size_t lane_tile = 2048;

// The sum of two lanes of at most two rows each. Where a row is missing, a row of zeros stands.
template <typename Term, typename Sum>
inline void add_2_lanes(const Term* __restrict first, const Term* __restrict second,
                        const Term* __restrict other_first, const Term* __restrict other_second,
                        Sum* __restrict sums, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        Sum lane = static_cast<Sum>(0) + static_cast<Sum>(first[i]);
        lane += static_cast<Sum>(second[i]);
        Sum other = static_cast<Sum>(0) + static_cast<Sum>(other_first[i]);
        other += static_cast<Sum>(other_second[i]);
        sums[i] = lane + other;
    }
}

template <typename Sum>
inline void fold_top(Sum* stack, int& depth, size_t width) {
    --depth;
    add_rows(stack + static_cast<size_t>(depth) * width,
             stack + static_cast<size_t>(depth - 1) * width, width);
}

// At most two rows a lane, over tiles of columns.
template <typename Term, typename Sum>
void columns_of_few(const Term* x, size_t rows, ptrdiff_t stride, size_t columns, Sum* out,
                    Sum* stack) {
    static const Term zeros[lane_tile] = {};
    for (size_t start = 0; start < columns; start += lane_tile) {
        const size_t width = columns - start < lane_tile ? columns - start : lane_tile;
        const auto row = [&](size_t r) {
            return r < rows ? x + start + static_cast<ptrdiff_t>(r) * stride : zeros;
        };
        int depth = 0;
        for (int i = 0; i < static_cast<int>(lane_count); i += 2) {
            const size_t lane = static_cast<size_t>(reversed5(i));
            const size_t other = static_cast<size_t>(reversed5(i + 1));
            add_2_lanes(row(lane), row(lane + lane_count), row(other), row(other + lane_count),
                        stack + static_cast<size_t>(depth) * width, width);
            ++depth;
            for (int t = i / 2; t & 1; t >>= 1) fold_top(stack, depth, width);
        }
        std::memcpy(out + start, stack, width * sizeof(Sum));
    }
}

// Lane by lane over tiles of columns; the sums of finished lanes stand on a stack.
template <typename Term, typename Sum>
void columns_by_lanes(const Term* x, size_t rows, ptrdiff_t stride, size_t columns, Sum* out,
                      Sum* stack) {
    const ptrdiff_t step = stride * static_cast<ptrdiff_t>(lane_count);
    for (size_t start = 0; start < columns; start += lane_tile) {
        const size_t width = columns - start < lane_tile ? columns - start : lane_tile;
        int depth = 0;
        for (int i = 0; i < static_cast<int>(lane_count); ++i) {
            Sum* sums = stack + static_cast<size_t>(depth) * width;
            for (size_t c = 0; c < width; ++c) sums[c] = 0;
            size_t r = static_cast<size_t>(reversed5(i));
            const Term* row = x + start + static_cast<ptrdiff_t>(r) * stride;
            for (; r + 3 * lane_count < rows; r += 4 * lane_count, row += 4 * step) {
                add_4_rows(row, step, sums, width);
            }
            for (; r < rows; r += lane_count, row += step) add_rows(row, sums, width);
            ++depth;
            for (int t = i; t & 1; t >>= 1) fold_top(stack, depth, width);
        }
        std::memcpy(out + start, stack, width * sizeof(Sum));
    }
}

// Elements between the first row and the last up to which the rows of a few columns stay in the
// second-level cache while the next columns are read; of rows far apart, powers of two above all,
// it holds few.
constexpr size_t tree_span = 65536;
constexpr size_t group_columns = 8192;

template <typename Term, typename Sum>
void columns(const Term* x, size_t rows, ptrdiff_t stride, size_t count, Sum* out, Sum* scratch) {
    if (stride == static_cast<ptrdiff_t>(count) && count <= group_columns && rows >= 4 * lane_count) {
        columns_by_groups(x, rows, count, out, scratch);
    } else if (rows * static_cast<size_t>(stride < 0 ? -stride : stride) <= tree_span ||
               count < 64) {
        columns_by_tree(x, rows, stride, count, out);
    } else if (rows <= 2 * lane_count) {
        columns_of_few(x, rows, stride, count, out, scratch);
    } else {
        columns_by_lanes(x, rows, stride, count, out, scratch);
    }
}

// --- integers -----------------------------------------------------------------------------------

i64 sum_i32(const i32* __restrict x, size_t count) {
    i64 sum = 0;
    for (size_t i = 0; i < count; ++i) sum += x[i];
    return sum;
}

void add_row_i32(const i32* __restrict x, i64* __restrict sums, size_t count) {
    for (size_t i = 0; i < count; ++i) sums[i] += x[i];
}

// --- products and scans -------------------------------------------------------------------------

// Each product is a chain; eight rows hide its latency.
void product(const float* x, size_t rows, ptrdiff_t stride, size_t length, float* out) {
    constexpr int flight = 8;
    size_t r = 0;
    for (; r + flight <= rows; r += flight, x += flight * stride) {
        float value[flight];
        for (int k = 0; k < flight; ++k) value[k] = 1.0f;
        for (size_t i = 0; i < length; ++i) {
            for (int k = 0; k < flight; ++k) value[k] *= x[k * stride + static_cast<ptrdiff_t>(i)];
        }
        for (int k = 0; k < flight; ++k) out[r + static_cast<size_t>(k)] = canonical_of(value[k]);
    }
    for (; r < rows; ++r, x += stride) {
        float value = 1.0f;
        for (size_t i = 0; i < length; ++i) value *= x[i];
        out[r] = canonical_of(value);
    }
}

void multiply_row(const float* __restrict x, float* __restrict products, size_t count) {
    for (size_t i = 0; i < count; ++i) products[i] = canonical_of(products[i] * x[i]);
}

void canonical(float* x, size_t count) {
    for (size_t i = 0; i < count; ++i) x[i] = canonical_of(x[i]);
}

void narrow(const double* __restrict x, float* __restrict out, size_t count) {
    for (size_t i = 0; i < count; ++i) out[i] = canonical_of(static_cast<float>(x[i]));
}

// A NaN stays one, so that only a run of results that ends in one can hold any.
void scan(const float* x, size_t rows, size_t length, float* out) {
    constexpr size_t flight = 4;
    size_t r = 0;
    for (; r + flight <= rows; r += flight, x += flight * length, out += flight * length) {
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (size_t i = 0; i < length; ++i) {
            out[i] = s0 += x[i];
            out[i + length] = s1 += x[i + length];
            out[i + 2 * length] = s2 += x[i + 2 * length];
            out[i + 3 * length] = s3 += x[i + 3 * length];
        }
        if ((s0 != s0) | (s1 != s1) | (s2 != s2) | (s3 != s3)) canonical(out, flight * length);
    }
    for (; r < rows; ++r, x += length, out += length) {
        float sum = 0;
        for (size_t i = 0; i < length; ++i) out[i] = sum += x[i];
        if (sum != sum) canonical(out, length);
    }
}

void scan_row(const float* __restrict x, float* __restrict sums, float* __restrict out,
              size_t count) {
    for (size_t i = 0; i < count; ++i) out[i] = sums[i] = canonical_of(sums[i] + x[i]);
}

// --- extrema ------------------------------------------------------------------------------------

// A NaN ranks beyond every number, so that it wins.
template <bool least>
constexpr i32 nan_rank = least ? -0x7fffffff - 1 : 0x7fffffff;

// By masks: conditional expressions inside each other are not vectorised.
inline i32 choose(bool condition, i32 a, i32 b) {
    const i32 mask = -static_cast<i32>(condition);
    return (a & mask) | (b & ~mask);
}

template <bool least>
inline i32 rank_or_nan(u32 bits) {
    return choose(is_nan_bits(bits), nan_rank<least>, rank_of(bits));
}

template <bool least>
inline u32 bits_of_rank(i32 rank) {
    return rank == nan_rank<least> ? nan_bits : static_cast<u32>(rank_of(static_cast<u32>(rank)));
}

template <bool least>
u32 extremum(const u32* __restrict x, size_t count) {
    i32 best = rank_or_nan<least>(x[0]);
    for (size_t i = 0; i < count; ++i) {
        const i32 rank = rank_or_nan<least>(x[i]);
        best = (least ? rank < best : rank > best) ? rank : best;
    }
    return bits_of_rank<least>(best);
}

template <bool least>
void extremum_row(const u32* __restrict x, i32* __restrict ranks, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const i32 rank = rank_or_nan<least>(x[i]);
        ranks[i] = (least ? rank < ranks[i] : rank > ranks[i]) ? rank : ranks[i];
    }
}

template <bool least>
void extremum_end(i32* ranks, size_t count) {
    for (size_t i = 0; i < count; ++i) ranks[i] = static_cast<i32>(bits_of_rank<least>(ranks[i]));
}

// What wins: by value, zeros alike; a NaN beats every number.
template <bool least>
inline i32 key_of(u32 bits) {
    const i32 size = static_cast<i32>(bits & magnitude_bits);
    const i32 sign = static_cast<i32>(least ? ~bits : bits) >> 31;  // -1: the order is negated
    return choose(size > infinity_bits, 0x7fffffff, (size ^ sign) - sign);
}

template <bool least>
size_t winner(const u32* __restrict x, size_t count, i32* key) {
    constexpr size_t piece = 1024;
    i32 best = -0x7fffffff - 1;
    size_t start = 0;
    for (size_t i = 0; i < count; i += piece) {
        const size_t some = count - i < piece ? count - i : piece;
        i32 greatest = -0x7fffffff - 1;
        for (size_t j = 0; j < some; ++j) {
            const i32 k = key_of<least>(x[i + j]);
            greatest = k > greatest ? k : greatest;
        }
        if (greatest > best) {
            best = greatest;
            start = i;
            if (best == 0x7fffffff) break;
        }
    }
    *key = best;
    while (key_of<least>(x[start]) != best) ++start;
    return start;
}

template <bool least>
void winner_row(const u32* __restrict x, i32 ordinal, i32* __restrict keys,
                i32* __restrict ordinals, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const i32 key = key_of<least>(x[i]);
        const bool wins = key > keys[i];
        ordinals[i] = wins ? ordinal : ordinals[i];
        keys[i] = wins ? key : keys[i];
    }
}

}  // namespace

const ReduceKernels reduce_kernels = {
    {blocks<float, float>, columns<float, float>},
    {blocks<float, double>, columns<float, double>},
    {blocks<double, double>, columns<double, double>},
    sum_i32,
    add_row_i32,
    product,
    multiply_row,
    {extremum<false>, extremum<true>},
    {extremum_row<false>, extremum_row<true>},
    {extremum_end<false>, extremum_end<true>},
    {winner<false>, winner<true>},
    {winner_row<false>, winner_row<true>},
    scan,
    scan_row,
    canonical,
    narrow,
};

}  // namespace bittrue::BITTRUE_LEVEL
