// Binary64 and complex: elementwise strips and the tiles of complex products. Compiled once for
// each instruction level: no function from outside this file and vectors.h may be used (strips.cpp
// says why).
//
// A complex element is its real part followed by its imaginary part. Every step below is one
// operation of the component format, rounded once; a component that is NaN is written canonical.
#include "operation_kernels.h"
#include "vectors.h"

#include <limits>

namespace bittrue::BITTRUE_LEVEL {
namespace {

using std::ptrdiff_t;
using std::size_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;

inline u64 bits_of(double value) {
    u64 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline double double_of(u64 bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

constexpr u64 nan_bits_64 = 0x7ff8000000000000;

inline float canonical(float value) { return canonical_of(value); }
inline double canonical(double value) { return value == value ? value : double_of(nan_bits_64); }

inline float opposite(float x) { return float_of(bits_of(x) ^ 0x80000000u); }
inline double opposite(double x) { return double_of(bits_of(x) ^ (u64{1} << 63)); }
inline float size_of_value(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
inline double size_of_value(double x) { return double_of(bits_of(x) & ~(u64{1} << 63)); }

template <typename T>
using Pair = Complex<T>;

// a - b, as a sum with the opposite. GCC 12 makes one fused instruction (vfmaddsub) of neighbours
// p - q and p + q of products, -ffp-contract=off or not; it does not see this difference.
template <typename T>
inline T difference(T a, T b) {
    return a + opposite(b);
}

// --- real functions -----------------------------------------------------------------------------

struct Add { template <typename T> static T of(T a, T b) { return canonical(a + b); } };
struct Sub { template <typename T> static T of(T a, T b) { return canonical(a - b); } };
struct Mul { template <typename T> static T of(T a, T b) { return canonical(a * b); } };
struct Div { template <typename T> static T of(T a, T b) { return canonical(a / b); } };
struct Equal { template <typename T> static bool of(T a, T b) { return a == b; } };
struct NotEqual { template <typename T> static bool of(T a, T b) { return !(a == b); } };
struct Less { template <typename T> static bool of(T a, T b) { return a < b; } };
struct LessEqual { template <typename T> static bool of(T a, T b) { return a <= b; } };
struct Neg { template <typename T> static T of(T x) { return opposite(x); } };
struct Abs { template <typename T> static T of(T x) { return size_of_value(x); } };
struct Same { template <typename T> static T of(T x) { return x; } };
struct Square { template <typename T> static T of(T x) { return canonical(x * x); } };
struct Sqrt {
    static float of(float x) { return canonical(__builtin_sqrtf(x)); }
    static double of(double x) { return canonical(__builtin_sqrt(x)); }
};
struct Narrow { static float of(double x) { return canonical(static_cast<float>(x)); } };

// --- complex functions --------------------------------------------------------------------------

template <typename T>
inline Pair<T> canonical(Pair<T> z) {
    return {canonical(z.re), canonical(z.im)};
}

struct AddPair {
    template <typename T>
    static Pair<T> of(Pair<T> x, Pair<T> y) { return canonical(Pair<T>{x.re + y.re, x.im + y.im}); }
    template <typename T>
    static Pair<T> of(T x, Pair<T> y) { return canonical(Pair<T>{x + y.re, y.im}); }
    template <typename T>
    static Pair<T> of(Pair<T> x, T y) { return canonical(Pair<T>{x.re + y, x.im}); }
};
struct SubPair {
    template <typename T>
    static Pair<T> of(Pair<T> x, Pair<T> y) { return canonical(Pair<T>{x.re - y.re, x.im - y.im}); }
    template <typename T>
    static Pair<T> of(T x, Pair<T> y) { return canonical(Pair<T>{x - y.re, opposite(y.im)}); }
    template <typename T>
    static Pair<T> of(Pair<T> x, T y) { return canonical(Pair<T>{x.re - y, x.im}); }
};
struct MulPair {
    template <typename T>
    static Pair<T> of(Pair<T> x, Pair<T> y) {
        return canonical(Pair<T>{difference(x.re * y.re, x.im * y.im), x.re * y.im + x.im * y.re});
    }
    template <typename T>
    static Pair<T> of(T x, Pair<T> y) { return canonical(Pair<T>{x * y.re, x * y.im}); }
    template <typename T>
    static Pair<T> of(Pair<T> x, T y) { return canonical(Pair<T>{x.re * y, x.im * y}); }
};
struct DivPair {
    template <typename T>
    static Pair<T> of(Pair<T> x, Pair<T> y) {
        const T a = x.re, b = x.im, c = y.re, d = y.im;
        const T size_c = size_of_value(c), size_d = size_of_value(d);
        if (size_c >= size_d) {
            if (size_c == 0 && size_d == 0) {
                return canonical(Pair<T>{a / size_c, b / size_c});
            }
            const T r = d / c, s = T{1} / (c + d * r);
            return canonical(Pair<T>{(a + b * r) * s, difference(b, a * r) * s});
        }
        const T r = c / d, s = T{1} / (d + c * r);
        return canonical(Pair<T>{(a * r + b) * s, difference(b * r, a) * s});
    }
    template <typename T>
    static Pair<T> of(T x, Pair<T> y) { return of(Pair<T>{x, T{0}}, y); }
    template <typename T>
    static Pair<T> of(Pair<T> x, T y) { return canonical(Pair<T>{x.re / y, x.im / y}); }
};
// Multiplication by the conjugate of the first: a sign flip, then the product.
struct MulConjugate {
    template <typename T>
    static Pair<T> of(Pair<T> x, Pair<T> y) { return MulPair::of(Pair<T>{x.re, opposite(x.im)}, y); }
    template <typename T>
    static Pair<T> of(Pair<T> x, T y) { return MulPair::of(Pair<T>{x.re, opposite(x.im)}, y); }
};
struct EqualPair {
    template <typename T>
    static bool of(Pair<T> x, Pair<T> y) { return (x.re == y.re) & (x.im == y.im); }
    template <typename T>
    static bool of(T x, Pair<T> y) { return (x == y.re) & (y.im == 0); }
    template <typename T>
    static bool of(Pair<T> x, T y) { return (x.re == y) & (x.im == 0); }
};
struct NotEqualPair {
    template <typename A, typename B>
    static bool of(A x, B y) { return !EqualPair::of(x, y); }
};
struct NegPair {
    template <typename T>
    static Pair<T> of(Pair<T> z) { return {opposite(z.re), opposite(z.im)}; }
};
struct Conjugate {
    template <typename T>
    static Pair<T> of(Pair<T> z) { return {z.re, opposite(z.im)}; }
};
struct RealPart { template <typename T> static T of(Pair<T> z) { return z.re; } };
struct ImaginaryPart { template <typename T> static T of(Pair<T> z) { return z.im; } };
// The term of a norm.
struct SquaredSize {
    template <typename T>
    static T of(Pair<T> z) { return canonical(z.re * z.re + z.im * z.im); }
};
struct NarrowPair {
    static Pair<float> of(Pair<double> z) { return {Narrow::of(z.re), Narrow::of(z.im)}; }
};

// --- loops --------------------------------------------------------------------------------------

template <typename F, typename In, typename Out>
bool unary(const void* const* in, void* result, size_t count) {
    const In* __restrict x = static_cast<const In*>(in[0]);
    Out* __restrict out = static_cast<Out*>(result);
    for (size_t i = 0; i < count; ++i) out[i] = F::of(x[i]);
    return false;
}

template <typename F, typename First, typename Second, typename Out>
bool binary(const void* const* in, void* result, size_t count) {
    const First* __restrict a = static_cast<const First*>(in[0]);
    const Second* __restrict b = static_cast<const Second*>(in[1]);
    Out* __restrict out = static_cast<Out*>(result);
    for (size_t i = 0; i < count; ++i) out[i] = F::of(a[i], b[i]);
    return false;
}

// --- the table ----------------------------------------------------------------------------------

template <typename T>
constexpr Type type_of = Type::boolean;
template <>
constexpr Type type_of<float> = Type::f32;
template <>
constexpr Type type_of<double> = Type::f64;
template <>
constexpr Type type_of<Pair<float>> = Type::c64;
template <>
constexpr Type type_of<Pair<double>> = Type::c128;

template <typename F, typename In, typename Out>
constexpr ElementwiseRow row1(const char* name) {
    return {name, 1, {type_of<In>, type_of<In>, type_of<In>}, type_of<Out>, unary<F, In, Out>};
}

template <typename F, typename First, typename Second, typename Out>
constexpr ElementwiseRow row2(const char* name) {
    return {name, 2, {type_of<First>, type_of<Second>, type_of<First>}, type_of<Out>,
            binary<F, First, Second, Out>};
}

using d = double;
using c64 = Pair<float>;
using c128 = Pair<double>;

// The suffix names the computed dtypes of the operands.
#define BITTRUE_PAIRS(name, F, out64, out128)                 \
    row2<F, c64, c64, out64>(name "_c64_c64"),                \
    row2<F, float, c64, out64>(name "_f32_c64"),              \
    row2<F, c64, float, out64>(name "_c64_f32"),              \
    row2<F, c128, c128, out128>(name "_c128_c128"),           \
    row2<F, d, c128, out128>(name "_f64_c128"),               \
    row2<F, c128, d, out128>(name "_c128_f64")

constexpr ElementwiseRow rows[] = {
    row2<Add, d, d, d>("add_f64_f64"),
    row2<Sub, d, d, d>("sub_f64_f64"),
    row2<Mul, d, d, d>("mul_f64_f64"),
    row2<Div, d, d, d>("div_f64_f64"),
    row2<Equal, d, d, bool>("eq_f64_f64"),
    row2<NotEqual, d, d, bool>("ne_f64_f64"),
    row2<Less, d, d, bool>("lt_f64_f64"),
    row2<LessEqual, d, d, bool>("le_f64_f64"),
    row1<Neg, d, d>("neg_f64"),
    row1<Abs, d, d>("abs_f64"),
    row1<Same, float, float>("conj_f32"),
    row1<Same, d, d>("conj_f64"),
    row1<Square, float, float>("square_f32"),
    row1<Square, d, d>("square_f64"),
    row1<Sqrt, float, float>("sqrt_f32"),
    row1<Sqrt, d, d>("sqrt_f64"),
    row1<Narrow, d, float>("narrow_f64"),
    row1<NarrowPair, c128, c64>("narrow_c128"),
    BITTRUE_PAIRS("add", AddPair, c64, c128),
    BITTRUE_PAIRS("sub", SubPair, c64, c128),
    BITTRUE_PAIRS("mul", MulPair, c64, c128),
    BITTRUE_PAIRS("div", DivPair, c64, c128),
    BITTRUE_PAIRS("eq", EqualPair, bool, bool),
    BITTRUE_PAIRS("ne", NotEqualPair, bool, bool),
    row2<MulConjugate, c64, c64, c64>("mul_conj_c64_c64"),
    row2<MulConjugate, c64, float, c64>("mul_conj_c64_f32"),
    row2<MulConjugate, c128, c128, c128>("mul_conj_c128_c128"),
    row2<MulConjugate, c128, d, c128>("mul_conj_c128_f64"),
    row1<NegPair, c64, c64>("neg_c64"),
    row1<NegPair, c128, c128>("neg_c128"),
    row1<Conjugate, c64, c64>("conj_c64"),
    row1<Conjugate, c128, c128>("conj_c128"),
    row1<RealPart, c64, float>("real_c64"),
    row1<RealPart, c128, d>("real_c128"),
    row1<ImaginaryPart, c64, float>("imag_c64"),
    row1<ImaginaryPart, c128, d>("imag_c128"),
    row1<SquaredSize, c64, float>("square_c64"),
    row1<SquaredSize, c128, d>("square_c128"),
};
#undef BITTRUE_PAIRS

// --- tiles --------------------------------------------------------------------------------------

// Vectors of components: of the factors T and of the sums S, as many of each.
template <typename T, typename S>
struct Components {
    static constexpr int width = VectorOf<S>::width;
    typedef T Factor __attribute__((vector_size(width * sizeof(T))));
    typedef T Unaligned __attribute__((vector_size(width * sizeof(T)), aligned(sizeof(T)), may_alias));
    using Sum = typename VectorOf<S>::Vector;

    static Factor load(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
    static Factor fill(T x) { return x - Factor{}; }
    static Sum widened(Factor x) { return __builtin_convertvector(x, Sum); }
};

template <typename T>
struct Mask;
template <>
struct Mask<float> { using Word = std::int32_t; };
template <>
struct Mask<double> { using Word = std::int64_t; };

// Which operands are real: the product of a real and a complex number is componentwise.
enum class Kinds { both_complex, real_lhs, real_rhs };

// The terms a[i] * b[j], each component rounded at every step, added in the order of depth. A real
// element stands twice in a packed rhs, and as the real part in a packed lhs.
template <typename T, typename S, Kinds kinds, int rows, int n>
void tile(const Pair<T>* __restrict a, const Pair<T>* __restrict b, size_t depth,
          Pair<S>* __restrict c, ptrdiff_t stride, Place place) {
    using V = Components<T, S>;
    using Factor = typename V::Factor;
    using Sum = typename V::Sum;
    constexpr int pairs = V::width / 2;
    using Word = typename Mask<T>::Word;
    typedef Word Words __attribute__((vector_size(sizeof(Factor))));
    Words exchange, signs;
    for (int i = 0; i < V::width; ++i) {
        exchange[i] = i ^ 1;
        signs[i] = i % 2 == 0 ? std::numeric_limits<Word>::min() : 0;
    }
    Sum sum[rows][n];
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) {
            sum[i][j] = place.first
                            ? Sum{}
                            : VectorOf<S>::load(&c[i * stride + j * pairs].re);
        }
    }
    for (size_t k = 0; k < depth; ++k, a += rows, b += n * pairs) {
        Factor factor[n], other[n];
        for (int j = 0; j < n; ++j) {
            factor[j] = V::load(&b[j * pairs].re);
            if (kinds == Kinds::both_complex) other[j] = __builtin_shuffle(factor[j], exchange);
        }
        for (int i = 0; i < rows; ++i) {
            if (kinds == Kinds::real_rhs) {
                Factor left;
                for (int w = 0; w < V::width; w += 2) {
                    left[w] = a[i].re;
                    left[w + 1] = a[i].im;
                }
                for (int j = 0; j < n; ++j) sum[i][j] = sum[i][j] + V::widened(left * factor[j]);
                continue;
            }
            const Factor re = V::fill(a[i].re);
            if (kinds == Kinds::real_lhs) {
                for (int j = 0; j < n; ++j) sum[i][j] = sum[i][j] + V::widened(re * factor[j]);
                continue;
            }
            const Factor im = V::fill(a[i].im);
            for (int j = 0; j < n; ++j) {
                // (re c - im d, re d + im c): a difference is the sum with the opposite.
                const Factor cross = im * other[j];
                const Factor flipped = (Factor)((Words)cross ^ signs);
                sum[i][j] = sum[i][j] + V::widened(re * factor[j] + flipped);
            }
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) {
            VectorOf<S>::store(&c[i * stride + j * pairs].re, sum[i][j]);
        }
    }
}

template <typename T, typename S, Kinds kinds>
constexpr TileKernels<Pair<T>, Pair<S>> tiles() {
    constexpr int rows = 4, n = 2;
    return {rows, n * Components<T, S>::width / 2, tile<T, S, kinds, rows, n>};
}

template <typename T, typename S>
constexpr ComplexTiles<T, S> all_tiles() {
    return {{tiles<T, S, Kinds::both_complex>(), tiles<T, S, Kinds::real_lhs>(),
             tiles<T, S, Kinds::real_rhs>()}};
}

// A product of two elements of one kind.
struct MulAny {
    static double of(double a, double b) { return canonical(a * b); }
    template <typename T>
    static Pair<T> of(Pair<T> a, Pair<T> b) { return MulPair::of(a, b); }
};

// --- folds and scans ----------------------------------------------------------------------------

template <typename T>
void multiply_all(const void* terms, size_t count, void* product) {
    const T* x = static_cast<const T*>(terms);
    T value = *static_cast<T*>(product);
    for (size_t i = 0; i < count; ++i) value *= x[i];
    *static_cast<T*>(product) = canonical(value);
}

// The product so far is the first factor; a NaN stays one whichever it is.
template <typename T>
void multiply_pairs(const void* terms, size_t count, void* product) {
    const Pair<T>* x = static_cast<const Pair<T>*>(terms);
    Pair<T> value = *static_cast<Pair<T>*>(product);
    for (size_t i = 0; i < count; ++i) {
        value = {difference(value.re * x[i].re, value.im * x[i].im),
                 value.re * x[i].im + value.im * x[i].re};
    }
    *static_cast<Pair<T>*>(product) = canonical(value);
}

template <typename T>
void multiply_row(const void* row, void* totals, size_t count) {
    const T* __restrict x = static_cast<const T*>(row);
    T* __restrict products = static_cast<T*>(totals);
    for (size_t i = 0; i < count; ++i) products[i] = MulAny::of(products[i], x[i]);
}

// By masks: conditional expressions inside each other are not vectorised.
inline i64 choose(bool condition, i64 a, i64 b) {
    const i64 mask = -static_cast<i64>(condition);
    return (a & mask) | (b & ~mask);
}

constexpr i64 most = 0x7fffffffffffffff;

// An integer that orders numbers by value, -0 just below +0; a NaN beyond every number.
template <bool least>
inline i64 rank_or_nan(u64 bits) {
    const i64 size = static_cast<i64>(bits & ~(u64{1} << 63));
    const i64 rank = static_cast<i64>(bits ^ (static_cast<u64>(static_cast<i64>(bits) >> 63) >> 1));
    return choose(size > 0x7ff0000000000000, least ? -most - 1 : most, rank);
}

template <bool least>
inline i64 better(i64 a, i64 b) {
    return (least ? a < b : a > b) ? a : b;
}

template <bool least>
void extremum(const u64* __restrict x, size_t count, i64* best) {
    i64 found = *best;
    for (size_t i = 0; i < count; ++i) found = better<least>(rank_or_nan<least>(x[i]), found);
    *best = found;
}

template <bool least>
void extremum_row(const u64* __restrict x, i64* __restrict ranks, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        ranks[i] = better<least>(rank_or_nan<least>(x[i]), ranks[i]);
    }
}

// What wins: by value, zeros alike; a NaN beats every number.
template <bool least>
inline i64 key_of(u64 bits) {
    const i64 size = static_cast<i64>(bits & ~(u64{1} << 63));
    const i64 sign = static_cast<i64>(least ? ~bits : bits) >> 63;
    return choose(size > 0x7ff0000000000000, most, (size ^ sign) - sign);
}

template <bool least>
size_t winner(const u64* __restrict x, size_t count, i64* key) {
    i64 greatest = *key;
    for (size_t i = 0; i < count; ++i) {
        const i64 k = key_of<least>(x[i]);
        greatest = k > greatest ? k : greatest;
    }
    if (greatest == *key) return count;
    *key = greatest;
    size_t at = 0;
    while (key_of<least>(x[at]) != greatest) ++at;
    return at;
}

template <bool least>
void winner_row(const u64* __restrict x, i64 ordinal, i64* __restrict keys,
                i64* __restrict ordinals, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const i64 k = key_of<least>(x[i]);
        ordinals[i] = k > keys[i] ? ordinal : ordinals[i];
        keys[i] = k > keys[i] ? k : keys[i];
    }
}

template <typename T>
void scan_row(const void* row, void* totals, void* result, size_t count) {
    const T* __restrict x = static_cast<const T*>(row);
    T* __restrict sums = static_cast<T*>(totals);
    T* __restrict out = static_cast<T*>(result);
    for (size_t i = 0; i < count; ++i) out[i] = sums[i] = canonical(sums[i] + x[i]);
}

void f32_to_f64(const void* in, void* result, size_t count) {
    const float* __restrict x = static_cast<const float*>(in);
    double* __restrict out = static_cast<double*>(result);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<double>(x[i]);
}

template <typename T>
void canonical_all(void* values, size_t count) {
    T* x = static_cast<T*>(values);
    for (size_t i = 0; i < count; ++i) x[i] = canonical(x[i]);
}

template <typename E>
void gather(const void* in, ptrdiff_t stride, void* result, size_t count) {
    const E* __restrict x = static_cast<const E*>(in);
    E* __restrict out = static_cast<E*>(result);
    for (size_t i = 0; i < count; ++i, x += stride) out[i] = *x;
}

struct Sixteen {
    u64 half[2];
};

}  // namespace

const WideKernels wide_kernels = {
    rows,
    static_cast<int>(sizeof rows / sizeof *rows),
    gather<u64>,
    gather<Sixteen>,
    f32_to_f64,
    {canonical_all<float>, canonical_all<double>},
    {nullptr, multiply_all<double>, multiply_pairs<float>, multiply_pairs<double>},
    {nullptr, multiply_row<double>, multiply_row<Pair<float>>, multiply_row<Pair<double>>},
    {extremum<false>, extremum<true>},
    {extremum_row<false>, extremum_row<true>},
    {winner<false>, winner<true>},
    {winner_row<false>, winner_row<true>},
    {scan_row<float>, scan_row<double>},
    all_tiles<float, float>(),
    all_tiles<float, double>(),
    all_tiles<double, double>(),
};

}  // namespace bittrue::BITTRUE_LEVEL
