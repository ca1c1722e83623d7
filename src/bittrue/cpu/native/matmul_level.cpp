// Tiles of matrix products and the packing of their operands. Compiled once for each instruction
// level: no function from outside this file and vectors.h may be used (strips.cpp says why).
//
// A tile adds its terms in ascending order of the contracted index, each product rounded before it
// is added: the compiler must not fuse them (-ffp-contract=off). Packing pads lines, never depth.
#include "operation_kernels.h"
#include "vectors.h"

#if defined(__AVX__)
// GCC 12 takes the undefined vector inside its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using std::ptrdiff_t;
using std::size_t;

// --- tiles --------------------------------------------------------------------------------------

inline VectorOf<float>::Vector canonical_sums(VectorOf<float>::Vector sum) {
    return sum == sum ? sum : VectorOf<float>::fill(float_of(nan_bits));
}
inline VectorOf<double>::Vector canonical_sums(VectorOf<double>::Vector sum) { return sum; }

// Element x Element products, added as they are.
template <typename T>
struct Plain {
    using Element = T;
    using Sum = T;
    static constexpr int width = VectorOf<T>::width;  // sums of one vector
    using Factor = typename VectorOf<T>::Vector;
    using Vector = typename VectorOf<T>::Vector;
    static Factor load(const T* b) { return VectorOf<T>::load(b); }
    static Factor broadcast(T a) { return VectorOf<T>::fill(a); }
    static Vector add(Vector sum, Factor a, Factor b) { return sum + a * b; }
    static Vector finished(Vector sum) { return canonical_sums(sum); }
};

// Products of binary32, each rounded to binary32, added in binary64.
struct Widened {
    using Element = float;
    using Sum = double;
    static constexpr int width = VectorOf<double>::width;
    typedef float Factor __attribute__((vector_size(vector_bytes / 2)));
    typedef float Unaligned
        __attribute__((vector_size(vector_bytes / 2), aligned(sizeof(float)), may_alias));
    using Vector = VectorOf<double>::Vector;
    static Factor load(const float* b) { return *reinterpret_cast<const Unaligned*>(b); }
    static Factor broadcast(float a) { return a - Factor{}; }
    static Vector add(Vector sum, Factor a, Factor b) {
#if defined(__AVX512F__)
        // The compiler would split this conversion in two.
        return sum + (Vector)_mm512_cvtps_pd((__m256)(a * b));
#elif defined(__AVX__)
        return sum + (Vector)_mm256_cvtps_pd((__m128)(a * b));
#else
        return sum + __builtin_convertvector(a * b, Vector);
#endif
    }
    static Vector finished(Vector sum) { return sum; }
};

// Exact products of Int32 factors that stand in 64-bit lanes; sums wrap.
struct Integers {
    using Element = i64;
    using Sum = i64;
    static constexpr int width = VectorOf<i64>::width;
    using Factor = VectorOf<i64>::Vector;
    using Vector = VectorOf<i64>::Vector;
    static Factor load(const i64* b) { return VectorOf<i64>::load(b); }
    static Factor broadcast(i64 a) { return a - Factor{}; }
    static Vector add(Vector sum, Factor a, Factor b) {
#if defined(__AVX512F__)
        return sum + (Vector)_mm512_mul_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
        return sum + (Vector)_mm256_mul_epi32((__m256i)a, (__m256i)b);
#else
        return sum + a * b;
#endif
    }
    static Vector finished(Vector sum) { return sum; }
};

// `rows` x `n` vectors of sums in registers.
template <typename Kind, int rows, int n>
void tile(const typename Kind::Element* __restrict a, const typename Kind::Element* __restrict b,
          size_t depth, typename Kind::Sum* __restrict c, ptrdiff_t stride, Place place) {
    using Sum = typename Kind::Sum;
    using Vector = typename Kind::Vector;
    constexpr int width = Kind::width;
    Vector sum[rows][n];
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) {
            sum[i][j] = place.first ? Vector{} : VectorOf<Sum>::load(c + i * stride + j * width);
        }
    }
    for (size_t k = 0; k < depth; ++k, a += rows, b += n * width) {
        typename Kind::Factor factor[n];
        for (int j = 0; j < n; ++j) factor[j] = Kind::load(b + j * width);
        for (int i = 0; i < rows; ++i) {
            const auto left = Kind::broadcast(a[i]);
            for (int j = 0; j < n; ++j) sum[i][j] = Kind::add(sum[i][j], left, factor[j]);
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) {
            const Vector whole = place.last ? Kind::finished(sum[i][j]) : sum[i][j];
            VectorOf<Sum>::store(c + i * stride + j * width, whole);
        }
    }
}

// A Float32 tile whose right-hand lines stand anywhere: term k reads nr elements at b + offsets[k].
template <int rows, int n>
void tile_at(const float* __restrict a, const float* __restrict b, const ptrdiff_t* __restrict offsets,
             size_t depth, float* __restrict c) {
    using V = VectorOf<float>;
    V::Vector sum[rows][n] = {};
    for (size_t k = 0; k < depth; ++k, a += rows) {
        const float* line = b + offsets[k];
        V::Vector factor[n];
        for (int j = 0; j < n; ++j) factor[j] = V::load(line + j * V::width);
        for (int i = 0; i < rows; ++i) {
            const V::Vector left = V::fill(a[i]);
            for (int j = 0; j < n; ++j) sum[i][j] = sum[i][j] + left * factor[j];
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) V::store(c + (i * n + j) * V::width, sum[i][j]);
    }
}

template <typename Kind, int rows, int n>
constexpr TileKernels<typename Kind::Element, typename Kind::Sum> tiles() {
    return {rows, n * Kind::width, tile<Kind, rows, n>};
}

// 32 registers hold 8 x 3 sums and their factors, 16 hold 4 x 3.
constexpr int tile_rows = vector_bytes == 64 ? 8 : 4;

// --- the limit ----------------------------------------------------------------------------------

// Chains of multiplications beside chains of additions, all in registers: what no product that is
// rounded before it is added can exceed.
size_t arithmetic(size_t rounds, float factor, float term, float* out) {
    using V = VectorOf<float>;
    constexpr int chains = vector_bytes == 64 ? 12 : 7;  // with two operands: 32 or 16 registers
    const V::Vector by = V::fill(factor), plus = V::fill(term);
    V::Vector product[chains], sum[chains];
    for (int i = 0; i < chains; ++i) product[i] = sum[i] = V::fill(static_cast<float>(i));
    for (size_t r = 0; r < rounds; ++r) {
        for (int i = 0; i < chains; ++i) {
            product[i] *= by;
            sum[i] += plus;
        }
    }
    V::Vector all = {};
    for (int i = 0; i < chains; ++i) all += product[i] + sum[i];
    *out = all[0];
    return rounds * static_cast<size_t>(2 * chains * V::width);
}

// --- packing ------------------------------------------------------------------------------------

struct Same {
    template <typename To, typename From>
    static To of(From value) {
        return static_cast<To>(value);
    }
};
struct High {
    template <typename To, typename From>
    static To of(From value) {
        return static_cast<To>(value >> 16);
    }
};
struct Low {
    template <typename To, typename From>
    static To of(From value) {
        return static_cast<To>(value & 0xffff);
    }
};

// Four lines at a time, four elements of each: their transpose.
void transpose_4(const float* x, ptrdiff_t line, size_t depth, size_t room, float* out) {
    typedef float Four __attribute__((vector_size(16)));
    typedef float Unaligned __attribute__((vector_size(16), aligned(4), may_alias));
    typedef std::int32_t Order __attribute__((vector_size(16)));
    size_t k = 0;
    for (; k + 4 <= depth; k += 4, x += 4, out += 4 * room) {
        const Four a = *reinterpret_cast<const Unaligned*>(x);
        const Four b = *reinterpret_cast<const Unaligned*>(x + line);
        const Four c = *reinterpret_cast<const Unaligned*>(x + 2 * line);
        const Four d = *reinterpret_cast<const Unaligned*>(x + 3 * line);
        const Order low = {0, 4, 1, 5}, high = {2, 6, 3, 7};
        const Order first = {0, 1, 4, 5}, second = {2, 3, 6, 7};
        const Four ab = __builtin_shuffle(a, b, low), cd = __builtin_shuffle(c, d, low);
        const Four ab2 = __builtin_shuffle(a, b, high), cd2 = __builtin_shuffle(c, d, high);
        *reinterpret_cast<Unaligned*>(out) = __builtin_shuffle(ab, cd, first);
        *reinterpret_cast<Unaligned*>(out + room) = __builtin_shuffle(ab, cd, second);
        *reinterpret_cast<Unaligned*>(out + 2 * room) = __builtin_shuffle(ab2, cd2, first);
        *reinterpret_cast<Unaligned*>(out + 3 * room) = __builtin_shuffle(ab2, cd2, second);
    }
    for (; k < depth; ++k, ++x, out += room) {
        for (int i = 0; i < 4; ++i) out[i] = x[i * line];
    }
}

template <typename From, typename To, typename Part>
void pack(const From* __restrict x, ptrdiff_t line, ptrdiff_t step, size_t count, size_t depth,
          int width, To* __restrict out) {
    const size_t room = static_cast<size_t>(width);
    if (line == 1) {
        for (size_t k = 0; k < depth; ++k, x += step, out += room) {
            for (size_t i = 0; i < count; ++i) out[i] = Part::template of<To>(x[i]);
            for (size_t i = count; i < room; ++i) out[i] = 0;
        }
        return;
    }
    // Lines are far apart: a few elements of each at a time.
    constexpr size_t piece = 16;
    for (size_t k = 0; k < depth; k += piece) {
        const size_t some = depth - k < piece ? depth - k : piece;
        for (size_t i = 0; i < count; ++i) {
            const From* from = x + static_cast<ptrdiff_t>(i) * line + static_cast<ptrdiff_t>(k) * step;
            To* to = out + k * room + i;
            for (size_t j = 0; j < some; ++j, from += step) to[j * room] = Part::template of<To>(*from);
        }
        for (size_t i = count; i < room; ++i) {
            for (size_t j = 0; j < some; ++j) out[(k + j) * room + i] = 0;
        }
    }
}

void pack_floats(const float* x, ptrdiff_t line, ptrdiff_t step, size_t count, size_t depth,
                 int width, float* out) {
    const size_t room = static_cast<size_t>(width);
    if (step == 1 && line != 1 && count == room && room % 4 == 0) {
        for (size_t i = 0; i < room; i += 4) {
            transpose_4(x + static_cast<ptrdiff_t>(i) * line, line, depth, room, out + i);
        }
        return;
    }
    pack<float, float, Same>(x, line, step, count, depth, width, out);
}

}  // namespace

const MatmulKernels matmul_kernels = {
    tiles<Plain<float>, tile_rows, 3>(),
    tiles<Widened, tile_rows, 3>(),
    tiles<Plain<double>, tile_rows, 3>(),
    tiles<Integers, tile_rows, 3>(),
    pack_floats,
    pack<i32, float, Same>,
    pack<i32, double, Same>,
    pack<i32, i64, Same>,
    pack<i32, i64, High>,
    pack<i32, i64, Low>,
    tile_at<tile_rows, 3>,
    arithmetic,
};

}  // namespace bittrue::BITTRUE_LEVEL
