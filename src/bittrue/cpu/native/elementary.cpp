// Compiled once for each instruction level, as namespace BITTRUE_LEVEL. No function from outside
// this file may be used but those of elementary_accurate.h, which are built once and not inline:
// the linker would keep one copy of an inline function for all levels. (Intrinsics leave no copy.)
//
// Method. Each primitive is evaluated in binary64 with a relative error below units * 2^-53. In a
// normal result of binary32 the lowest 29 bits of the double are what rounding drops. Where they
// are farther than `units` from the middle, 2^28, the exact value lies on the same side of it and
// the rounded double is the correctly rounded value. Else, and where a result may be subnormal or
// an operand is special, `lane` decides one element: special values by rule; then both ends of the
// error interval rounded by the hardware; where these differ, about once in 2^14 elements, the slow
// path of elementary_accurate.h.
//
// Error analysis. u = 2^-53. FMA is used where the level has it and rounds once less than product
// and sum, so the bounds, made for the latter, hold for both. Approximation errors, and what
// Horner's steps add, are those stated in elementary_polynomials.h. Every bound below is the sum of
// its terms, rounded up to a power of 2; the sweep measures the error over all inputs and holds it
// to the bound.
#include "elementary.h"

#include "elementary_accurate.h"
#include "elementary_polynomials.h"
#include "elementary_probe.h"

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

// Vectors that are worked on at a time.
#ifndef BITTRUE_VECTORS
#define BITTRUE_VECTORS 4
#endif

#ifndef BITTRUE_LEVEL
#define BITTRUE_LEVEL baseline
#endif

// A 256-bit vector passed in two registers has no stable ABI; all functions that do so are inline.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
// GCC 12 warns of the deliberately undefined operand in its own _mm512_ intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

#define BITTRUE_INLINE inline __attribute__((always_inline))

// --- vectors ------------------------------------------------------------------------------------

// A Horner chain waits for each of its steps, and a processor's queue of waiting operations holds
// about two chains: so each step works on several vectors, independent of each other.
template <typename V, int count>
struct Pack {
    V part[count];
};

// Lanes of a vector of doubles, and of one of floats: of the same width on the baseline, else the
// floats of as many lanes as the doubles have.
#if defined(__AVX512F__)
constexpr int double_lanes = 8, lanes = 8;
#elif defined(__AVX2__)
constexpr int double_lanes = 4, lanes = 4;
#else
constexpr int double_lanes = 2, lanes = 4;
#endif
constexpr int vectors = BITTRUE_VECTORS;
constexpr int width = lanes * vectors;
constexpr int double_vectors = width / double_lanes;

typedef double DoubleVector __attribute__((vector_size(8 * double_lanes)));
typedef uint64_t LongVector __attribute__((vector_size(8 * double_lanes)));
typedef float FloatVector __attribute__((vector_size(4 * lanes)));
typedef uint32_t WordVector __attribute__((vector_size(4 * lanes)));
typedef uint32_t LowWords __attribute__((vector_size(8 * double_lanes)));

using Doubles = Pack<DoubleVector, double_vectors>;
using Longs = Pack<LongVector, double_vectors>;
using Floats = Pack<FloatVector, vectors>;
using Words = Pack<WordVector, vectors>;

// One bit for each lane.
struct Lanes {
    unsigned part[vectors];
};

template <typename P>
constexpr int parts_of = sizeof(P::part) / sizeof(P::part[0]);

#define BITTRUE_EACH(expression)                                                          \
    for (int i = 0; i < parts_of<decltype(result)>; ++i) result.part[i] = (expression);   \
    return result

#define BITTRUE_OPERATOR(op)                                              \
    template <typename V, int n>                                          \
    BITTRUE_INLINE Pack<V, n> operator op(Pack<V, n> a, Pack<V, n> b) {   \
        Pack<V, n> result;                                                \
        BITTRUE_EACH(a.part[i] op b.part[i]);                             \
    }                                                                     \
    template <typename V, int n, typename S>                              \
    BITTRUE_INLINE Pack<V, n> operator op(Pack<V, n> a, S b) {            \
        Pack<V, n> result;                                                \
        BITTRUE_EACH(a.part[i] op b);                                     \
    }
BITTRUE_OPERATOR(+)
BITTRUE_OPERATOR(-)
BITTRUE_OPERATOR(*)
BITTRUE_OPERATOR(/)
BITTRUE_OPERATOR(&)
BITTRUE_OPERATOR(|)
BITTRUE_OPERATOR(^)
BITTRUE_OPERATOR(<<)
BITTRUE_OPERATOR(>>)
#undef BITTRUE_OPERATOR

BITTRUE_INLINE Lanes operator|(Lanes a, Lanes b) {
    Lanes result;
    BITTRUE_EACH(a.part[i] | b.part[i]);
}

template <typename To, typename V, int n>
BITTRUE_INLINE Pack<To, n> reinterpreted(Pack<V, n> a) {
    Pack<To, n> result;
    BITTRUE_EACH((To)a.part[i]);
}
BITTRUE_INLINE Longs bits_of(Doubles x) { return reinterpreted<LongVector>(x); }
BITTRUE_INLINE Words bits_of(Floats x) { return reinterpreted<WordVector>(x); }
BITTRUE_INLINE Doubles doubles_of(Longs x) { return reinterpreted<DoubleVector>(x); }
BITTRUE_INLINE Floats floats_of(Words x) { return reinterpreted<FloatVector>(x); }

BITTRUE_INLINE Doubles splat(double x) {
    Doubles result;
    BITTRUE_EACH(DoubleVector{} + x);
}
BITTRUE_INLINE Floats splat_float(float x) {
    Floats result;
    BITTRUE_EACH(FloatVector{} + x);
}

BITTRUE_INLINE uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
BITTRUE_INLINE float float_of(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Single lanes, where speed does not matter.
BITTRUE_INLINE float& at(Floats& a, int i) { return reinterpret_cast<float*>(&a)[i]; }
BITTRUE_INLINE float at(const Floats& a, int i) { return reinterpret_cast<const float*>(&a)[i]; }
BITTRUE_INLINE double& at(Doubles& a, int i) { return reinterpret_cast<double*>(&a)[i]; }
BITTRUE_INLINE double at(const Doubles& a, int i) { return reinterpret_cast<const double*>(&a)[i]; }
BITTRUE_INLINE uint64_t& at(Longs& a, int i) { return reinterpret_cast<uint64_t*>(&a)[i]; }
BITTRUE_INLINE bool holds(const Lanes& a, int i) {
    return (a.part[i / lanes] >> (i % lanes) & 1) != 0;
}

// Vector by vector: GCC would copy a whole pack by way of the stack.
BITTRUE_INLINE Floats load(const float* x) {
    Floats v;
    for (int i = 0; i < vectors; ++i) std::memcpy(&v.part[i], x + i * lanes, sizeof v.part[i]);
    return v;
}
BITTRUE_INLINE void store(float* x, Floats v) {
    for (int i = 0; i < vectors; ++i) std::memcpy(x + i * lanes, &v.part[i], sizeof v.part[i]);
}

// What the levels do differently, on single vectors.
namespace vector {

#if defined(__AVX512F__)

BITTRUE_INLINE DoubleVector fma(DoubleVector a, DoubleVector b, DoubleVector c) {
    return _mm512_fmadd_pd(a, b, c);
}
BITTRUE_INLINE DoubleVector widen(FloatVector a) { return _mm512_cvtps_pd(a); }
BITTRUE_INLINE FloatVector narrow(DoubleVector a) { return _mm512_cvtpd_ps(a); }
// Where an operand is a NaN, the second.
BITTRUE_INLINE FloatVector least(FloatVector a, FloatVector b) { return _mm256_min_ps(a, b); }
BITTRUE_INLINE FloatVector greatest(FloatVector a, FloatVector b) { return _mm256_max_ps(a, b); }
BITTRUE_INLINE DoubleVector least(DoubleVector a, DoubleVector b) { return _mm512_min_pd(a, b); }
BITTRUE_INLINE DoubleVector greatest(DoubleVector a, DoubleVector b) {
    return _mm512_max_pd(a, b);
}
BITTRUE_INLINE unsigned not_at_least(FloatVector a, FloatVector b) {
    return _mm256_cmp_ps_mask(a, b, _CMP_NGE_UQ);
}
BITTRUE_INLINE unsigned not_equal(FloatVector a, FloatVector b) {
    return _mm256_cmp_ps_mask(a, b, _CMP_NEQ_UQ);
}
BITTRUE_INLINE unsigned without(LongVector a, LongVector mask) {
    return _mm512_testn_epi64_mask((__m512i)a, (__m512i)mask);
}
// The low halves of the doubles of two vectors, in any order.
BITTRUE_INLINE LowWords low_words(DoubleVector a, DoubleVector b) {
    return (LowWords)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x88);
}

#elif defined(__AVX2__)

BITTRUE_INLINE DoubleVector fma(DoubleVector a, DoubleVector b, DoubleVector c) {
    return _mm256_fmadd_pd(a, b, c);
}
BITTRUE_INLINE DoubleVector root(DoubleVector a) { return _mm256_sqrt_pd(a); }
BITTRUE_INLINE DoubleVector widen(FloatVector a) { return _mm256_cvtps_pd(a); }
BITTRUE_INLINE FloatVector narrow(DoubleVector a) { return _mm256_cvtpd_ps(a); }
BITTRUE_INLINE FloatVector least(FloatVector a, FloatVector b) { return _mm_min_ps(a, b); }
BITTRUE_INLINE FloatVector greatest(FloatVector a, FloatVector b) { return _mm_max_ps(a, b); }
BITTRUE_INLINE DoubleVector least(DoubleVector a, DoubleVector b) { return _mm256_min_pd(a, b); }
BITTRUE_INLINE DoubleVector greatest(DoubleVector a, DoubleVector b) {
    return _mm256_max_pd(a, b);
}
BITTRUE_INLINE unsigned not_at_least(FloatVector a, FloatVector b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmp_ps(a, b, _CMP_NGE_UQ)));
}
BITTRUE_INLINE unsigned not_equal(FloatVector a, FloatVector b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmp_ps(a, b, _CMP_NEQ_UQ)));
}
// Only 0 becomes negative.
BITTRUE_INLINE unsigned without(LongVector a, LongVector mask) {
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)((a & mask) - 1)));
}
BITTRUE_INLINE LowWords low_words(DoubleVector a, DoubleVector b) {
    return (LowWords)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
// All ones where the comparison fails.
BITTRUE_INLINE WordVector where_not_at_least(FloatVector a, FloatVector b) {
    return (WordVector)_mm_cmp_ps(a, b, _CMP_NGE_UQ);
}
BITTRUE_INLINE WordVector where_not_equal(FloatVector a, FloatVector b) {
    return (WordVector)_mm_cmp_ps(a, b, _CMP_NEQ_UQ);
}
BITTRUE_INLINE bool any_set(WordVector a) { return _mm_movemask_ps((__m128)a) != 0; }
BITTRUE_INLINE bool any_set(LowWords a) { return _mm256_movemask_ps((__m256)a) != 0; }

#else

BITTRUE_INLINE DoubleVector fma(DoubleVector a, DoubleVector b, DoubleVector c) {
    return a * b + c;
}
#if defined(__SSE2__)
BITTRUE_INLINE DoubleVector root(DoubleVector a) { return _mm_sqrt_pd(a); }
BITTRUE_INLINE FloatVector least(FloatVector a, FloatVector b) { return _mm_min_ps(a, b); }
BITTRUE_INLINE FloatVector greatest(FloatVector a, FloatVector b) { return _mm_max_ps(a, b); }
BITTRUE_INLINE DoubleVector least(DoubleVector a, DoubleVector b) { return _mm_min_pd(a, b); }
BITTRUE_INLINE DoubleVector greatest(DoubleVector a, DoubleVector b) { return _mm_max_pd(a, b); }
BITTRUE_INLINE unsigned negative(WordVector a) {
    return static_cast<unsigned>(_mm_movemask_ps((__m128)a));
}
BITTRUE_INLINE unsigned negative(LongVector a) {
    return static_cast<unsigned>(_mm_movemask_pd((__m128d)a));
}
// All ones where a is 0.
BITTRUE_INLINE LongVector zeros(DoubleVector a) {
    return (LongVector)_mm_cmpeq_pd(a, DoubleVector{});
}
BITTRUE_INLINE DoubleVector widen_low(FloatVector a) { return _mm_cvtps_pd(a); }
BITTRUE_INLINE DoubleVector widen_high(FloatVector a) { return _mm_cvtps_pd(_mm_movehl_ps(a, a)); }
BITTRUE_INLINE FloatVector narrow(DoubleVector low, DoubleVector high) {
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
BITTRUE_INLINE LowWords low_words(DoubleVector a, DoubleVector b) {
    return (LowWords)_mm_shuffle_ps((__m128)a, (__m128)b, 0x88);
}
#else
BITTRUE_INLINE DoubleVector root(DoubleVector a) {
    return DoubleVector{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])};
}
BITTRUE_INLINE FloatVector least(FloatVector a, FloatVector b) { return a < b ? a : b; }
BITTRUE_INLINE FloatVector greatest(FloatVector a, FloatVector b) { return a > b ? a : b; }
BITTRUE_INLINE DoubleVector least(DoubleVector a, DoubleVector b) { return a < b ? a : b; }
BITTRUE_INLINE DoubleVector greatest(DoubleVector a, DoubleVector b) { return a > b ? a : b; }
BITTRUE_INLINE unsigned negative(WordVector a) {
    return a[0] >> 31 | a[1] >> 31 << 1 | a[2] >> 31 << 2 | a[3] >> 31 << 3;
}
BITTRUE_INLINE unsigned negative(LongVector a) {
    return static_cast<unsigned>(a[0] >> 63 | a[1] >> 63 << 1);
}
BITTRUE_INLINE LongVector zeros(DoubleVector a) { return (LongVector)(a == 0.0); }
BITTRUE_INLINE DoubleVector widen_low(FloatVector a) { return DoubleVector{a[0], a[1]}; }
BITTRUE_INLINE DoubleVector widen_high(FloatVector a) { return DoubleVector{a[2], a[3]}; }
BITTRUE_INLINE FloatVector narrow(DoubleVector low, DoubleVector high) {
    return FloatVector{static_cast<float>(low[0]), static_cast<float>(low[1]),
                       static_cast<float>(high[0]), static_cast<float>(high[1])};
}
BITTRUE_INLINE LowWords low_words(DoubleVector a, DoubleVector b) {
    const LongVector i = (LongVector)a, k = (LongVector)b;
    return LowWords{static_cast<uint32_t>(i[0]), static_cast<uint32_t>(i[1]),
                    static_cast<uint32_t>(k[0]), static_cast<uint32_t>(k[1])};
}
#endif

BITTRUE_INLINE unsigned not_at_least(FloatVector a, FloatVector b) {
    return negative(~(WordVector)(a >= b));
}
BITTRUE_INLINE unsigned not_equal(FloatVector a, FloatVector b) {
    return negative((WordVector)(a != b));
}
// Only 0 becomes negative.
BITTRUE_INLINE unsigned without(LongVector a, LongVector mask) {
    return negative((a & mask) - 1);
}
BITTRUE_INLINE WordVector where_not_at_least(FloatVector a, FloatVector b) {
    return ~(WordVector)(a >= b);
}
BITTRUE_INLINE WordVector where_not_equal(FloatVector a, FloatVector b) {
    return (WordVector)(a != b);
}
BITTRUE_INLINE bool any_set(WordVector a) { return negative(a) != 0; }

#endif

}  // namespace vector

BITTRUE_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
    Doubles result;
    BITTRUE_EACH(vector::fma(a.part[i], b.part[i], c.part[i]));
}
#if !defined(__AVX512F__)
BITTRUE_INLINE Doubles root(Doubles a) {
    Doubles result;
    BITTRUE_EACH(vector::root(a.part[i]));
}
#endif
BITTRUE_INLINE Doubles widen(Floats a) {
    Doubles result;
#if defined(__AVX2__)
    BITTRUE_EACH(vector::widen(a.part[i]));
#else
    BITTRUE_EACH(i % 2 ? vector::widen_high(a.part[i / 2]) : vector::widen_low(a.part[i / 2]));
#endif
}
BITTRUE_INLINE Floats narrow(Doubles a) {
    Floats result;
#if defined(__AVX2__)
    BITTRUE_EACH(vector::narrow(a.part[i]));
#else
    BITTRUE_EACH(vector::narrow(a.part[2 * i], a.part[2 * i + 1]));
#endif
}
template <typename V, int n>
BITTRUE_INLINE Pack<V, n> least(Pack<V, n> a, Pack<V, n> b) {
    Pack<V, n> result;
    BITTRUE_EACH(vector::least(a.part[i], b.part[i]));
}
template <typename V, int n>
BITTRUE_INLINE Pack<V, n> greatest(Pack<V, n> a, Pack<V, n> b) {
    Pack<V, n> result;
    BITTRUE_EACH(vector::greatest(a.part[i], b.part[i]));
}
BITTRUE_INLINE Doubles where_zero(Doubles a, Doubles then, Doubles otherwise) {
    Doubles result;
#if defined(__AVX2__)
    BITTRUE_EACH(a.part[i] == 0.0 ? then.part[i] : otherwise.part[i]);
#else
    BITTRUE_EACH((DoubleVector)(((LongVector)then.part[i] & vector::zeros(a.part[i])) |
                                ((LongVector)otherwise.part[i] & ~vector::zeros(a.part[i]))));
#endif
}
BITTRUE_INLINE Lanes lanes_not_at_least(Floats a, Floats b) {
    Lanes result;
    BITTRUE_EACH(vector::not_at_least(a.part[i], b.part[i]));
}
BITTRUE_INLINE Lanes lanes_not_equal(Floats a, Floats b) {
    Lanes result;
    BITTRUE_EACH(vector::not_equal(a.part[i], b.part[i]));
}
// The lanes of the i-th vector of floats, by a test of the vectors of doubles.
#if defined(__AVX2__)
#define BITTRUE_EACH_DOUBLE(test) BITTRUE_EACH(test(i))
#else
#define BITTRUE_EACH_DOUBLE(test) BITTRUE_EACH(test(2 * i) | test(2 * i + 1) << 2)
#endif
// Lanes in which no bit of the mask, of less than 63 bits, is set.
BITTRUE_INLINE Lanes lanes_without(Longs a, uint64_t mask) {
    Lanes result;
    const auto test = [&](int k) { return vector::without(a.part[k], LongVector{} + mask); };
    BITTRUE_EACH_DOUBLE(test);
}
#undef BITTRUE_EACH_DOUBLE

BITTRUE_INLINE Floats magnitude(Floats x) { return floats_of(bits_of(x) & 0x7fffffffU); }
BITTRUE_INLINE Doubles magnitude(Doubles x) {
    return doubles_of(bits_of(x) & 0x7fffffffffffffffU);
}
BITTRUE_INLINE Floats sign_bit(Floats x) { return floats_of(bits_of(x) & 0x80000000U); }
BITTRUE_INLINE Floats with_sign(Floats x, Floats sign) {
    return floats_of(bits_of(x) | bits_of(sign));
}

template <size_t n>
BITTRUE_INLINE Doubles horner(const double (&c)[n], Doubles x) {
    Doubles p = splat(c[n - 1]);
    for (size_t i = n - 1; i-- > 0;) p = fma(p, x, splat(c[i]));
    return p;
}

// Added and subtracted, it rounds to an integer, whose low bits are then the low bits of the sum.
constexpr double magic = 0x1.8p52;

#if defined(__AVX512F__)

// A register holds a table of 8 doubles; the low three bits of each index count.
BITTRUE_INLINE Doubles looked_up(const double (&table)[8], Longs index) {
    const __m512d row = _mm512_loadu_pd(table);
    Doubles result;
    BITTRUE_EACH(_mm512_permutexvar_pd((__m512i)index.part[i], row));
}
// A register pair holds a table of 16; the low four bits count.
BITTRUE_INLINE Doubles looked_up(const double (&table)[16], Longs index) {
    const __m512d low = _mm512_loadu_pd(table), high = _mm512_loadu_pd(table + 8);
    Doubles result;
    BITTRUE_EACH(_mm512_permutex2var_pd(low, (__m512i)index.part[i], high));
}

// A power of 2 whose exponent is a multiple of 1/8: what is left of an exponent is at most 1/16,
// and the polynomial for it three steps shorter.
struct Power {
    Doubles exponent;
    Doubles sum;  // counts eighths
};
namespace power_polynomials {
constexpr auto& exp = polynomials::eighths_exp;
constexpr auto& exp2 = polynomials::eighths_exp2;
constexpr auto& expm1 = polynomials::eighths_expm1;
}  // namespace power_polynomials

// For t of any size: what is left of a t above 2^49 is 0.
BITTRUE_INLINE Power nearest_power(Doubles t) {
    const auto rounded = [&] {
        Doubles result;
        BITTRUE_EACH(_mm512_roundscale_pd(t.part[i], 3 << 4 | _MM_FROUND_TO_NEAREST_INT));
    };
    return {rounded(), t + magic / 8};
}
BITTRUE_INLINE Power nearest_power_of_product(Doubles t, double factor) {
    const Doubles sum = fma(t, splat(factor), splat(magic / 8));
    return {sum - magic / 8, sum};
}
// p times the power: u / 2 for the table, u for the product. vscalefpd takes the floor.
BITTRUE_INLINE Doubles scaled(Doubles p, Power power) {
    const Doubles product = p * looked_up(polynomials::eighth_powers, bits_of(power.sum));
    Doubles result;
    BITTRUE_EACH(_mm512_scalef_pd(product.part[i], power.exponent.part[i]));
}
BITTRUE_INLINE Doubles value_of(Power power) {
    const Doubles fraction = looked_up(polynomials::eighth_powers, bits_of(power.sum));
    Doubles result;
    BITTRUE_EACH(_mm512_scalef_pd(fraction.part[i], power.exponent.part[i]));
}

#else

// A power of 2 with a whole exponent.
struct Power {
    Doubles exponent;
    Doubles sum;
};
namespace power_polynomials {
constexpr auto& exp = polynomials::exp;
constexpr auto& exp2 = polynomials::exp2;
constexpr auto& expm1 = polynomials::expm1;
}  // namespace power_polynomials

BITTRUE_INLINE Power nearest_power(Doubles t) {
    const Doubles sum = t + magic;
    return {sum - magic, sum};
}
BITTRUE_INLINE Power nearest_power_of_product(Doubles t, double factor) {
    const Doubles sum = fma(t, splat(factor), splat(magic));
    return {sum - magic, sum};
}
// p near 1.
BITTRUE_INLINE Doubles scaled(Doubles p, Power power) {
    return doubles_of(bits_of(p) + (bits_of(power.sum) << 52));
}
BITTRUE_INLINE Doubles value_of(Power power) { return scaled(splat(1), power); }

#endif

// --- the loop ------------------------------------------------------------------------------------

constexpr float infinity = __builtin_inff();

BITTRUE_INLINE float canonical_nan() { return float_of(0x7fc00000); }
BITTRUE_INLINE bool is_nan(float x) { return x != x; }

// Lanes are in doubt where a double's low 29 bits are within `units` of the middle: with that much
// less than the middle subtracted, none of the bits of weight 2 units to 2^28 is set.
constexpr uint32_t middle = 1U << 28;

// Which lanes are in doubt.
struct EachLane {
    Lanes doubtful{};

    BITTRUE_INLINE void at_least(Floats a, Floats b) {
        doubtful = doubtful | lanes_not_at_least(a, b);
    }
    BITTRUE_INLINE void equal(Floats a, Floats b) { doubtful = doubtful | lanes_not_equal(a, b); }
    template <unsigned units>
    BITTRUE_INLINE void far_from_boundary(Doubles v) {
        static_assert((units & (units - 1)) == 0, "a power of 2");
        doubtful = doubtful | lanes_without(bits_of(v) - uint64_t{middle - units},
                                            2 * middle - 2 * units);
    }
};

// Whether any lane is in doubt: what the fast path asks, which joins lanes of all vectors.
class AnyLane {
public:
    BITTRUE_INLINE void at_least(Floats a, Floats b) {
        for (int i = 0; i < vectors; ++i) {
#if defined(__AVX512F__)
            floats_ = _mm256_mask_cmp_ps_mask(floats_, a.part[i], b.part[i], _CMP_GE_OQ);
#else
            floats_ |= vector::where_not_at_least(a.part[i], b.part[i]);
#endif
        }
    }
    BITTRUE_INLINE void equal(Floats a, Floats b) {
        for (int i = 0; i < vectors; ++i) {
#if defined(__AVX512F__)
            floats_ = _mm256_mask_cmp_ps_mask(floats_, a.part[i], b.part[i], _CMP_EQ_OQ);
#else
            floats_ |= vector::where_not_equal(a.part[i], b.part[i]);
#endif
        }
    }
    // The low halves of doubles hold all bits that count.
    template <unsigned units>
    BITTRUE_INLINE void far_from_boundary(Doubles v) {
        static_assert((units & (units - 1)) == 0, "a power of 2");
        static_assert(double_vectors % 2 == 0, "pairs of vectors");
        const LowWords bits = LowWords{} + (2 * middle - 2 * units);
        for (int i = 0; i < double_vectors; i += 2) {
            const LowWords low = vector::low_words(v.part[i], v.part[i + 1]) - (middle - units);
#if defined(__AVX512F__)
            words_ = _mm512_mask_test_epi32_mask(words_, (__m512i)low, (__m512i)bits);
#else
            words_ |= (LowWords)((low & bits) == 0);
#endif
        }
    }
#if defined(__AVX512F__)
    BITTRUE_INLINE bool found() const { return floats_ != 0xff || words_ != 0xffff; }

private:
    __mmask8 floats_ = 0xff;  // lanes without doubt
    __mmask16 words_ = 0xffff;
#elif defined(__AVX2__)
    BITTRUE_INLINE bool found() const {
        return vector::any_set(floats_) || vector::any_set(words_);
    }

private:
    WordVector floats_{};  // all ones in lanes in doubt
    LowWords words_{};
#else
    BITTRUE_INLINE bool found() const { return vector::any_set(floats_ | words_); }

private:
    WordVector floats_{};
    LowWords words_{};
#endif
};

// Both ends of the interval around v; true, with the result, where they round alike.
BITTRUE_INLINE bool ends_agree(double v, double units, float& result) {
    const double slack = units * 0x1p-53;
    const float low = static_cast<float>(v * (1 - slack));
    const float high = static_cast<float>(v * (1 + slack));
    result = low;
    return low == high;
}

// A primitive P has
//   units                the bound of its error
//   evaluate(x, v, test) v approximates P(x) in every lane that is not special; `test` learns of
//                        lanes that are special or whose result may be subnormal
//   finish(x, r)         gives a rounded result the sign it must have
//   special(x, r)        true, with the result, for a special operand
//   slow(x)              the slow path
struct Primitive {
    static BITTRUE_INLINE Floats finish(Floats, Floats r) { return r; }
    static BITTRUE_INLINE float finish(float, float r) { return r; }
};

// The result has the sign of the operand, also where it is zero.
struct SignedPrimitive {
    static BITTRUE_INLINE Floats finish(Floats x, Floats r) { return with_sign(r, sign_bit(x)); }
    static BITTRUE_INLINE float finish(float x, float r) {
        return float_of(bits_of(r) | (bits_of(x) & 0x80000000U));
    }
};

template <typename P>
float lane(float x, double v) {
    float result;
    if (P::special(x, result)) return result;
    if (ends_agree(v, P::units, result)) return P::finish(x, result);
    return P::slow(x);
}

template <typename P>
__attribute__((noinline, cold)) void repair(const Floats& x, Floats& r) {
    Doubles v;
    EachLane test;
    P::evaluate(x, v, test);
    test.template far_from_boundary<P::units>(v);
    for (int i = 0; i < width; ++i) {
        if (holds(test.doubtful, i)) at(r, i) = lane<P>(at(x, i), at(v, i));
    }
}

template <typename P>
BITTRUE_INLINE Floats step(Floats x) {
    Doubles v;
    AnyLane test;
    P::evaluate(x, v, test);
    test.template far_from_boundary<P::units>(v);
    Floats r = P::finish(x, narrow(v));
    if (__builtin_expect(test.found(), 0)) {
        const Floats x_copy = x;
        Floats r_copy = r;
        repair<P>(x_copy, r_copy);
        r = r_copy;
    }
    return r;
}

template <typename P>
BITTRUE_INLINE void run(const float* x, float* out, size_t n) {
    size_t i = 0;
    for (; i + width <= n; i += width) store(out + i, step<P>(load(x + i)));
    if (i < n) {
        float rest[width];
        for (int k = 0; k < width; ++k) rest[k] = 1;
        for (size_t k = i; k < n; ++k) rest[k - i] = x[k];
        store(rest, step<P>(load(rest)));
        for (size_t k = i; k < n; ++k) out[k] = rest[k - i];
    }
}

template <typename P>
void probe(const float* x, double* values, unsigned char* special, size_t n) {
    for (size_t i = 0; i < n; i += width) {
        float in[width];
        for (int k = 0; k < width; ++k) in[k] = i + k < n ? x[i + k] : 1;
        Doubles v;
        AnyLane ignored_test;
        P::evaluate(load(in), v, ignored_test);
        double found[width];
        std::memcpy(found, &v, sizeof found);
        for (int k = 0; k < width && i + k < n; ++k) {
            float ignored;
            values[i + k] = found[k];
            special[i + k] = P::special(in[k], ignored);
        }
    }
}

// --- exponentials --------------------------------------------------------------------------------

// x = k ln 2 + r. With |k| <= 151: ln 2 to double 2^-55.3, so 2^-48 in r; the product, where it is
// rounded, 2^-46.3; the difference 2^-54. |r| exceeds ln2 / 2, or ln2 / 16, by less than 2^-44.
BITTRUE_INLINE Doubles reduce_ln2(Doubles x, Power& k) {
    k = nearest_power_of_product(x, polynomials::inverse_ln2_pair[0]);
    return fma(k.exponent, splat(-polynomials::ln2_pair[0]), x);
}

// Approximation 2^-40.21, reduction 2^-45.9, Horner and `scaled` 2^-50: 2^-40.18.
struct Exp : Primitive {
    static constexpr unsigned units = 1U << 13;  // 2^-40

    // Clamped where the result is 0 or infinity at the clamp already. From -104.25 to -87.25 a
    // result may be subnormal; the sum is right to 2^-16.
    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        const Floats clamped =
            least(greatest(x, splat_float(-104.5F)), splat_float(89.5F));
        Power k;
        const Doubles r = reduce_ln2(widen(clamped), k);
        v = scaled(horner(power_polynomials::exp, r), k);
        test.at_least(magnitude(x + 95.75F), splat_float(8.5F));
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        r = is_nan(x) ? canonical_nan() : x == 0 ? 1 : x > 0 ? x : 0;
        return is_nan(x) || x == 0 || x == infinity || x == -infinity;
    }
    static float slow(float x) { return accurate::exp(x); }
};

// x = k + f exactly. Approximation 2^-40.21, Horner and `scaled` 2^-50: 2^-40.2.
struct Exp2 : Primitive {
    static constexpr unsigned units = 1U << 13;

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        const Floats clamped = least(greatest(x, splat_float(-151.5F)), splat_float(128.5F));
        const Doubles t = widen(clamped);
        const Power k = nearest_power(t);
        v = scaled(horner(power_polynomials::exp2, t - k.exponent), k);
        // -151.1 to -125.9
        test.at_least(magnitude(x + 138.5F), splat_float(12.6F));
    }
    static BITTRUE_INLINE bool special(float x, float& r) { return Exp::special(x, r); }
    static float slow(float x) { return accurate::exp2(x); }
};

// e^t - 1 = s q + (s - 1), s = 2^k, q = e^r - 1 = r + r^2 p(r). q: approximation 2^-43.5, steps
// 2^-51. For k = 0 that is all, r being exact.
//
// Else, with k whole: the error of r, 2^-45.9 (2^-48 for |t| <= 20), is multiplied by s e^r = e^t
// and |e^t - 1| >= 0.29, e^t <= 3.5 |e^t - 1|; s q, with |s q| <= 1.5 |e^t - 1|, brings 2^-42.9;
// s - 1 and the sum 2^-51. In all 2^-42.9 + 2^-44 = 2^-42.3.
//
// With k in eighths |t| >= ln2 / 16 - 2^-44, so e^t <= 24 |e^t - 1|, and |s q| <= 1.1 |e^t - 1|. r
// is off by 2^-54.8 |t| and a rounding of 2^-58; |t| e^t <= 90 |e^t - 1|: 2^-48.2. s is right to u
// / 2, s - 1 to 12.5 u + 2 u, the sum to u: 2^-49. s q brings 2^-44.01. In all 2^-43.8.
BITTRUE_INLINE Doubles expm1(Doubles t) {
    Power k;
    const Doubles r = reduce_ln2(t, k);
    const Doubles q = fma(r * r, horner(power_polynomials::expm1, r), r);
    const Doubles scale = value_of(k);
    return fma(scale, q, scale - 1.0);
}

struct Expm1 : SignedPrimitive {
    static constexpr unsigned units = 1U << 11;  // 2^-42

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        const Floats clamped = least(greatest(x, splat_float(-20)), splat_float(89.5F));
        v = expm1(widen(clamped));
        test.equal(x, x);
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        r = is_nan(x) ? canonical_nan() : x == -infinity ? -1 : x;
        return is_nan(x) || x == 0 || x == infinity || x == -infinity;
    }
    static float slow(float x) { return accurate::expm1(x); }
};

// E / (E + 2), E = e^(2 |x|) - 1 >= 0: no more relative error than E has, and 3 u: 2^-42.2.
struct Tanh : SignedPrimitive {
    static constexpr unsigned units = 1U << 11;

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        const Doubles a = widen(least(magnitude(x), splat_float(10)));
        const Doubles e = expm1(a + a);
        v = e / (e + 2.0);
        test.equal(x, x);
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        r = is_nan(x) ? canonical_nan() : x == 0 ? x : x > 0 ? 1 : -1;
        return is_nan(x) || x == 0 || x == infinity || x == -infinity;
    }
    static float slow(float x) { return accurate::tanh(x); }
};

// --- logarithms ----------------------------------------------------------------------------------

// a = 2^e m with m between sqrt(1/2) and sqrt(2), both exact, for a > 2^-1000.
BITTRUE_INLINE Doubles split_power(Doubles a, Doubles& e) {
    const uint64_t root_half = 0x3fe6a09e667f3bcdU;
    const uint64_t offset = 0x4000000000000000U;  // 1024 binades: keeps the difference positive
    const Longs biased = (bits_of(a) + (offset - root_half)) >> 52;
    // `biased` as the low bits of 2^52 + 1024 + e.
    e = doubles_of(biased | 0x4330000000000000U) - (0x1p52 + 1024);
    return doubles_of(bits_of(a) - (biased << 52) + offset);
}

// Operands that have no logarithm here: not positive, not finite.
template <typename Test>
BITTRUE_INLINE void test_positive(Floats x, Test& test) {
    // The least subnormal is 2^-149; both comparisons fail for a NaN.
    test.at_least(x, splat_float(0x1p-149F));
    test.at_least(splat_float(0x1.fffffep127F), x);
}

BITTRUE_INLINE bool log_special(float x, float& r) {
    if (x > 0 && x < infinity) return false;
    r = x == 0 ? -infinity : x == infinity ? x : canonical_nan();
    return true;
}

#if defined(__AVX512F__)

// a = 2^e m with m between 0.7 and 1.4, of which `interval` counts sixteen, each with a factor c
// and m c = 1 + r: without a division, the slowest step of all. Around 1, c is 1 and r = m - 1
// exact. Elsewhere r rounds by 2^-59. |r| < 0.0297.
struct Split {
    Doubles e, r;
    Longs interval;
};
BITTRUE_INLINE Split split_by_table(Doubles a) {
    const uint64_t offset = 0x4000000000000000U - polynomials::log_table_offset;
    const Longs biased = bits_of(a) + offset;
    const Longs exponent = biased >> 52, interval = biased >> 48;
    const Doubles e = doubles_of(exponent | 0x4330000000000000U) - (0x1p52 + 1024);
    const Doubles m = doubles_of(bits_of(a) - (exponent << 52) + 0x4000000000000000U);
    const Doubles c = looked_up(polynomials::log_table_factors, interval);
    return {e, fma(m, c, splat(-1)), interval};
}

// e ln 2 - log c + r p(r). Where e = 0 and c = 1 the error is that of r p(r): approximation
// 2^-44.52, Horner 1.2 u, product u. Else |log a| >= 0.0194 and |r p(r)| <= 0.0313, so that error
// and the one of r count up to 1.62 times; - log c is off by u / 2, e ln 2 by u / 2, and rounding
// their sum adds u, of at most 2.7 |log a|; the last sum u. 2^-43.82 + 8 u = 2^-43.7. To base 2
// likewise.
BITTRUE_INLINE Doubles log_of(Split s) {
    const Doubles constant = fma(s.e, splat(polynomials::ln2_pair[0]),
                                 looked_up(polynomials::log_table_logarithms, s.interval));
    return fma(s.r, horner(polynomials::table_log, s.r), constant);
}
BITTRUE_INLINE Doubles log_of(Doubles a) { return log_of(split_by_table(a)); }
BITTRUE_INLINE Doubles log2_of(Doubles a) {
    const Split s = split_by_table(a);
    const Doubles constant =
        s.e + looked_up(polynomials::log_table_binary_logarithms, s.interval);
    return fma(s.r, horner(polynomials::table_log2, s.r), constant);
}
// 1 + t rounds by u, which matters where r is not t only: there |log(1 + t)| >= 0.0194 and u adds
// 52 u.
BITTRUE_INLINE Doubles log1p_of(Doubles t) {
    Split s = split_by_table(t + 1.0);
    const Doubles constant = fma(s.e, splat(polynomials::ln2_pair[0]),
                                 looked_up(polynomials::log_table_logarithms, s.interval));
    s.r = where_zero(constant, t, s.r);
    return fma(s.r, horner(polynomials::table_log, s.r), constant);
}

#else

// e ln 2 + s p(s^2), s = (m - 1) / (m + 1): m - 1 is exact, m + 1 and the quotient round, s^2 too:
// 4 u in s, 4 u of p, u of the product: 2^-49.8 beside 2^-45.07. For e = 0 that is all. Else the
// second term is at most the whole and the first at most twice it; ln 2, product and sum add 6 u.
// 2^-45.07 + 2^-48.5 = 2^-44.94.
BITTRUE_INLINE Doubles half_log(Doubles numerator, Doubles denominator, const double (&c)[6]) {
    const Doubles s = numerator / denominator;
    return s * horner(c, s * s);
}

BITTRUE_INLINE Doubles log_of(Doubles a) {
    Doubles e;
    const Doubles m = split_power(a, e);
    return fma(e, splat(polynomials::ln2_pair[0]), half_log(m - 1.0, m + 1.0, polynomials::log));
}
// Without the error of e ln 2.
BITTRUE_INLINE Doubles log2_of(Doubles a) {
    Doubles e;
    const Doubles m = split_power(a, e);
    return e + half_log(m - 1.0, m + 1.0, polynomials::log2);
}
// 1 + t rounds by u, which matters where e is not 0 only: there |log(1 + t)| >= 0.34 and u adds 3
// u. For e = 0 the numerator is t itself.
BITTRUE_INLINE Doubles log1p_of(Doubles t) {
    Doubles e;
    const Doubles m = split_power(t + 1.0, e);
    const Doubles numerator = where_zero(e, t, m - 1.0);
    return fma(e, splat(polynomials::ln2_pair[0]),
               half_log(numerator, numerator + 2.0, polynomials::log));
}

#endif

struct Log : Primitive {
    static constexpr unsigned units = 1U << 10;  // 2^-43

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        v = log_of(widen(x));
        test_positive(x, test);
    }
    static BITTRUE_INLINE bool special(float x, float& r) { return log_special(x, r); }
    static float slow(float x) { return accurate::log(x); }
};

struct Log2 : Primitive {
    static constexpr unsigned units = 1U << 10;

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        v = log2_of(widen(x));
        test_positive(x, test);
    }
    static BITTRUE_INLINE bool special(float x, float& r) { return log_special(x, r); }
    static float slow(float x) { return accurate::log2(x); }
};

struct Log1p : SignedPrimitive {
    static constexpr unsigned units = 1U << 10;

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        v = log1p_of(widen(x));
        test.at_least(x, splat_float(-0x1.fffffep-1F));
        test.at_least(splat_float(0x1.fffffep127F), x);
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        r = x == 0 || x == infinity ? x : x == -1 ? -infinity : canonical_nan();
        return !(x > -1 && x < infinity) || x == 0;
    }
    static float slow(float x) { return accurate::log1p(x); }
};

// --- sine and cosine -----------------------------------------------------------------------------

// Beyond this, quarter turns are counted with as many bits of 2/pi as it takes, lane by lane.
constexpr float reduction_limit = 0x1p19F;

// r = x - h pi for h = j or j + 1/2, |h| < 2^18: pi in parts of 34 bits, so h times a part is exact
// (53 bits). The first difference is exact for |x| >= 1/2, where both terms are multiples of 2^-33
// and the difference is below 2; for smaller x, h = 0 and r = x, or h = 1/2 and |r| > 1 rounds by
// u. The other two round by u each, the last part of pi by 2^-121 h. No |x| < 2^19 comes nearer
// than 2^-40 to a multiple of pi/2 other than 0 (the sweep would show it). 4 u in all.
BITTRUE_INLINE Doubles reduce_pi(Doubles x, Doubles h) {
    Doubles r = fma(h, splat(-polynomials::pi_parts[0]), x);
    r = fma(h, splat(-polynomials::pi_parts[1]), r);
    return fma(h, splat(-polynomials::pi_parts[2]), r);
}

// Turns of half a circle in `sum`, as the low bits of a sum with `magic`, for lanes of any size.
template <int quarter>
BITTRUE_INLINE void reduce_half_turns(Floats x, Doubles& r, Longs& turns) {
    const Floats small = least(magnitude(x), splat_float(reduction_limit));
    const Doubles t = widen(with_sign(small, sign_bit(x)));
    const Doubles count = quarter ? fma(t, splat(polynomials::inverse_pi), splat(-0.5))
                                  : t * polynomials::inverse_pi;
    const Doubles sum = count + magic;
    const Doubles whole = sum - magic;
    r = reduce_pi(t, quarter ? whole + 0.5 : whole);
    turns = bits_of(sum);
}

// x = n pi/2 + q, |q| <= pi/4, n modulo 4, for finite |x| > 2^19. Payne and Hanek: |x| = m 2^e with
// m below 2^24. Bits of 2/pi whose product with 2^e is a multiple of 4 do not matter. Of the others
// 128 are taken: m times them, modulo 2^128, is |x| 2/pi modulo 4 with 126 bits after the point and
// an error below 2^-102. No binary32 other than 0 comes nearer than 2^-40 to a multiple of pi/2
// (the sweep would show it), so the error is below 2^-60 of the fraction; u for each of its
// conversion, sum and product.
BITTRUE_INLINE int quarter_turns(float x, double& q) {
    const uint32_t bits = bits_of(x);
    const uint64_t m = (bits & 0x7fffffU) | 0x800000U;
    const int skipped = static_cast<int>(bits >> 23 & 0xff) - 152;  // e - 2; from -6 to 102
    const uint32_t* words = polynomials::two_over_pi + (skipped > 0 ? skipped / 32 : 0);
    const uint64_t w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3], w4 = words[4];
    uint64_t high = w0 << 32 | w1, low = w2 << 32 | w3;
    if (skipped > 0) {
        const int shift = skipped % 32;
        high = high << shift | w2 >> (32 - shift);
        low = low << shift | w4 >> (32 - shift);
    } else {
        low = low >> -skipped | (high << 1) << (63 + skipped);
        high >>= -skipped;
    }
    const uint64_t p0 = m * (low & 0xffffffffU);
    const uint64_t p1 = m * (low >> 32) + (p0 >> 32);
    low = p1 << 32 | (p0 & 0xffffffffU);
    high = m * high + (p1 >> 32);
    const int n = static_cast<int>((high >> 62) + (high >> 61 & 1));
    // Nearest: the fraction as a signed number.
    const auto fraction = static_cast<std::int64_t>(high << 2 | low >> 62);
    const double rest = static_cast<double>(low << 2) * 0x1p-128;
    q = (static_cast<double>(fraction) * 0x1p-64 + rest) * polynomials::half_pi_pair[0];
    if (bits >> 31 == 0) return n & 3;
    q = -q;
    return -n & 3;
}

// x = n pi/2 + q; as j pi + r (quarter = 0) or (j + 1/2) pi + r (quarter = 1).
template <int quarter>
__attribute__((noinline, cold)) void reduce_large(const Floats& x, Doubles& r, Longs& turns) {
    for (int i = 0; i < width; ++i) {
        const float a = at(x, i);
        if (!(a < -reduction_limit || a > reduction_limit) || a == infinity || a == -infinity) {
            continue;
        }
        double q;
        const int n = quarter_turns(a, q);
        // One quarter turn more or less, where n has the wrong parity, towards 0: |r| >= pi/4, 2 u.
        const int shift = (n & 1) == quarter ? 0 : q > 0 ? 1 : -1;
        at(r, i) = q - shift * polynomials::half_pi_pair[0];
        at(turns, i) = static_cast<uint64_t>((n + shift + 4 - quarter) / 2);
    }
}

// sin(j pi + r) = (-1)^j sin r; cos((j + 1/2) pi + r) = (-1)^(j + 1) sin r. sin r = r p(r^2):
// approximation 2^-43.84, r 4 u (its relative error enters sin r with a factor of at most 1), p 5
// u with the square's, product u: 2^-43.7.
template <int quarter>
struct Circular : Primitive {
    static constexpr unsigned units = 1U << 10;  // 2^-43

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        Doubles r;
        Longs turns;
        reduce_half_turns<quarter>(x, r, turns);
        AnyLane large;
        large.at_least(splat_float(reduction_limit), magnitude(x));
        if (__builtin_expect(large.found(), 0)) {
            Doubles r_copy = r;
            Longs turns_copy = turns;
            const Floats x_copy = x;
            reduce_large<quarter>(x_copy, r_copy, turns_copy);
            r = r_copy;
            turns = turns_copy;
        }
        const Longs flip = (quarter ? turns + uint64_t{1} : turns) << 63;
        v = doubles_of(bits_of(r * horner(polynomials::sin, r * r)) ^ flip);
        test.equal(x - x, splat_float(0));  // not so for a NaN or an infinity
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        r = x == 0 ? (quarter ? 1 : x) : canonical_nan();
        return x == 0 || is_nan(x - x);
    }
    static float slow(float x) { return quarter ? accurate::cos(x) : accurate::sin(x); }
};

using Sin = Circular<0>;
using Cos = Circular<1>;

// --- erf -----------------------------------------------------------------------------------------

#if defined(__AVX512F__)

// x p(t), t = |x| - (2 i + 1) / 4 in [-1/4, 1/4], a polynomial for each i = 0 to 7 whose
// coefficients fill a register. t is exact. Approximation 2^-43.93, Horner 1.4 u, product u.
BITTRUE_INLINE Doubles erf_of(Doubles x) {
    const Doubles a = magnitude(x) - 0.25;
    const Doubles sum = a + magic / 2;  // counts halves
    const Doubles t = a - (sum - magic / 2);
    constexpr int count = sizeof polynomials::erf_pieces / sizeof polynomials::erf_pieces[0];
    const auto coefficient = [&](int power) {
        const __m512d row = _mm512_loadu_pd(polynomials::erf_pieces[power]);
        Doubles result;
        BITTRUE_EACH(_mm512_permutexvar_pd((__m512i)sum.part[i], row));
    };
    Doubles p = coefficient(count - 1);
    for (int power = count - 2; power >= 0; --power) p = fma(p, t, coefficient(power));
    return x * p;
}

#else

// x p(x^2 / 8 - 1). The square is exact, the argument of p rounds by u, and p changes by at most
// 4 times that relative to itself. Approximation 2^-42.6, Horner 6.5 u, product u: 2^-42.57.
BITTRUE_INLINE Doubles erf_of(Doubles x) {
    return x * horner(polynomials::erf, fma(x * x, splat(0.125), splat(-1)));
}

#endif

struct Erf : Primitive {
    static constexpr unsigned units = 1U << 11;  // 2^-42

    // From 3.9375 on the result is 1, as it is there.
    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        v = erf_of(widen(least(greatest(x, splat_float(-3.9375F)), splat_float(3.9375F))));
        // Not 0 < |x| < 2^-125; the difference is exact there.
        test.at_least(magnitude(magnitude(x) - 0x1p-126F), splat_float(0x1p-126F));
    }
    static BITTRUE_INLINE bool special(float x, float& r) { return Tanh::special(x, r); }
    static float slow(float x) { return accurate::erf(x); }
};

// --- rsqrt ---------------------------------------------------------------------------------------

#if defined(__AVX512F__)

// With y right to 2^-14, h = 1 - a y^2 is below 2^-12.99, and 1 / sqrt(a) = y / sqrt(1 - h) = y (1
// + h / 2 + 3 h^2 / 8 + 5 h^3 / 16 + ...): what is left out is below 2^-53.8. The product a y
// rounds by u, which is u in h, u / 2 in the result; the last sum u; the steps before it, below
// 2^-13, u / 2^11.
BITTRUE_INLINE Doubles rsqrt_of(Doubles a) {
    const auto estimate = [&] {
        Doubles result;
        BITTRUE_EACH(_mm512_rsqrt14_pd(a.part[i]));
    };
    const Doubles y = estimate();
    const Doubles h = fma(a * y, y * -1.0, splat(1));
    const Doubles series = fma(h, fma(h, splat(0.3125), splat(0.375)), splat(0.5));
    return fma(y * h, series, y);
}

#else

// Root and quotient round by u each.
BITTRUE_INLINE Doubles rsqrt_of(Doubles a) { return splat(1) / root(a); }

#endif

struct Rsqrt : Primitive {
    static constexpr unsigned units = 4;

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Doubles& v, Test& test) {
        v = rsqrt_of(widen(x));
        test_positive(x, test);
    }
    static BITTRUE_INLINE bool special(float x, float& r) {
        if (x > 0 && x < infinity) return false;
        r = x == 0 ? 1 / x : x == infinity ? 0 : canonical_nan();
        return true;
    }
    static float slow(float x) { return accurate::rsqrt(x); }
};

// --- pow -----------------------------------------------------------------------------------------

#if defined(__AVX512F__)

// As `log2_of` with a better polynomial. Where c is 1, and e = 0, the error is that of r p(r): 5 u.
// Else |log2 a| >= 0.028; - log2 c is off by u / 4, its sum with e, if e is not 0, and the last sum
// by u of the result, r p(r) by 5 u of at most 0.045. 18 u in all, 2^-48.8.
BITTRUE_INLINE Doubles accurate_log2(Doubles a) {
    const Split s = split_by_table(a);
    return fma(s.r, horner(polynomials::table_pow_log2, s.r),
               s.e + looked_up(polynomials::log_table_binary_logarithms, s.interval));
}

#else

// As `half_log` with a better polynomial: s 4 u, p 4 u, approximation 2^-52.1, sum u, and up to
// twice as much for e != 0: 2^-48.6.
BITTRUE_INLINE Doubles accurate_log2(Doubles a) {
    Doubles e;
    const Doubles m = split_power(a, e);
    const Doubles s = (m - 1.0) / (m + 1.0);
    return fma(s, horner(polynomials::pow_log2, s * s), e);
}

#endif

// t = y log2 |x|, k = t rounded, 2^(t - k). |t| < 152, so an error of 2^-48.6 of the logarithm and
// u of the product are 2^-41.3 in t, times ln 2: 2^-41.8. 2^(t - k): 2^-40.2. In all 2^-39.78.
struct Pow {
    static constexpr unsigned units = 1U << 14;  // 2^-39

    template <typename Test>
    static BITTRUE_INLINE void evaluate(Floats x, Floats y, Doubles& v, Test& test) {
        test_positive(x, test);
        const Doubles l = accurate_log2(widen(magnitude(x)));
        Doubles t = widen(y) * l;
#if !defined(__AVX512F__)
        // Where y is a NaN, so is t: then -151.5.
        t = least(greatest(t, splat(-151.5)), splat(128.5));
#endif
        const Power k = nearest_power(t);
        v = scaled(horner(power_polynomials::exp2, t - k.exponent), k);
        // Infinite y leave 0, the infinity that is right, or for x = 1 a NaN or 0.
        test.at_least(narrow(v), splat_float(0x1p-125F));
    }

    // 0: no integer, 1: odd, 2: even. |y| finite.
    static int parity(float y) {
        const uint32_t a = bits_of(y) & 0x7fffffffU;
        const int exponent = static_cast<int>(a >> 23) - 127;
        if (exponent >= 24) return 2;
        if (exponent < 0) return a == 0 ? 2 : 0;
        const uint32_t significand = (a & 0x7fffffU) | 0x800000U;  // times 2^(exponent - 23)
        if (exponent == 23 + 0) return significand & 1 ? 1 : 2;
        const uint32_t fraction = significand & ((1U << (23 - exponent)) - 1);
        if (fraction != 0) return 0;
        return significand >> (23 - exponent) & 1 ? 1 : 2;
    }

    static bool is_signaling(float x) { return is_nan(x) && (bits_of(x) & 0x400000U) == 0; }

    // IEEE 754 `pow` but for a signaling NaN, which gives a NaN always.
    static bool special(float x, float y, float& r) {
        r = canonical_nan();
        if (is_signaling(x) || is_signaling(y)) return true;
        r = 1;
        if (y == 0 || x == 1) return true;
        r = canonical_nan();
        if (is_nan(x) || is_nan(y)) return true;
        const float a = float_of(bits_of(x) & 0x7fffffffU);
        if (y == infinity || y == -infinity) {
            r = a == 1 ? 1 : (a > 1) == (y > 0) ? infinity : 0;
            return true;
        }
        if (a == 0 || a == infinity) {
            r = (a == 0) == (y > 0) ? 0 : infinity;
            if (parity(y) == 1) r = float_of(bits_of(r) | (bits_of(x) & 0x80000000U));
            return true;
        }
        if (x < 0 && parity(y) == 0) return true;
        return false;
    }

    static float lane(float x, float y, double v) {
        float r;
        if (special(x, y, r)) return r;
        if (!ends_agree(v, units, r)) r = accurate::pow(x, y);
        return x < 0 && parity(y) == 1 ? -r : r;
    }
};

__attribute__((noinline, cold)) void repair_pow(const Floats& x, const Floats& y, Floats& r) {
    Doubles v;
    EachLane test;
    Pow::evaluate(x, y, v, test);
    test.far_from_boundary<Pow::units>(v);
    for (int i = 0; i < width; ++i) {
        if (holds(test.doubtful, i)) at(r, i) = Pow::lane(at(x, i), at(y, i), at(v, i));
    }
}

BITTRUE_INLINE Floats pow_step(Floats x, Floats y) {
    Doubles v;
    AnyLane test;
    Pow::evaluate(x, y, v, test);
    test.far_from_boundary<Pow::units>(v);
    Floats r = narrow(v);
    if (__builtin_expect(test.found(), 0)) {
        const Floats x_copy = x, y_copy = y;
        Floats r_copy = r;
        repair_pow(x_copy, y_copy, r_copy);
        r = r_copy;
    }
    return r;
}

// --- activations ---------------------------------------------------------------------------------

constexpr size_t strip = 512;

BITTRUE_INLINE float positive_part(float x) { return x > 0 ? x : 0; }
BITTRUE_INLINE float canonical(float x) { return x == x ? x : canonical_nan(); }

// Calls part(x, out, length) for strips; `out` may be `x`.
template <typename Part>
BITTRUE_INLINE void strips(const float* x, float* out, size_t n, Part part) {
    for (size_t i = 0; i < n; i += strip) part(x + i, out + i, n - i < strip ? n - i : strip);
}

}  // namespace

void exp_block(const float* x, float* out, size_t n) { run<Exp>(x, out, n); }
void exp2_block(const float* x, float* out, size_t n) { run<Exp2>(x, out, n); }
void expm1_block(const float* x, float* out, size_t n) { run<Expm1>(x, out, n); }
void log_block(const float* x, float* out, size_t n) { run<Log>(x, out, n); }
void log2_block(const float* x, float* out, size_t n) { run<Log2>(x, out, n); }
void log1p_block(const float* x, float* out, size_t n) { run<Log1p>(x, out, n); }
void sin_block(const float* x, float* out, size_t n) { run<Sin>(x, out, n); }
void cos_block(const float* x, float* out, size_t n) { run<Cos>(x, out, n); }
void tanh_block(const float* x, float* out, size_t n) { run<Tanh>(x, out, n); }
void erf_block(const float* x, float* out, size_t n) { run<Erf>(x, out, n); }
void rsqrt_block(const float* x, float* out, size_t n) { run<Rsqrt>(x, out, n); }

void pow_block(const float* x, const float* y, float* out, size_t n) {
    size_t i = 0;
    for (; i + width <= n; i += width) store(out + i, pow_step(load(x + i), load(y + i)));
    if (i < n) {
        float bases[width], exponents[width];
        for (int k = 0; k < width; ++k) bases[k] = exponents[k] = 1;
        for (size_t k = i; k < n; ++k) {
            bases[k - i] = x[k];
            exponents[k - i] = y[k];
        }
        store(bases, pow_step(load(bases), load(exponents)));
        for (size_t k = i; k < n; ++k) out[k] = bases[k - i];
    }
}

// x >= 0: 1 / (1 + e^-x); x < 0: e^x / (1 + e^x).
void sigmoid_block(const float* x, float* out, size_t n) {
    strips(x, out, n, [](const float* a, float* r, size_t length) {
        float e[strip];
        for (size_t i = 0; i < length; ++i) e[i] = a[i] < 0 ? a[i] : -a[i];
        exp_block(e, e, length);
        for (size_t i = 0; i < length; ++i) {
            r[i] = canonical((a[i] < 0 ? e[i] : 1.0F) / (1.0F + e[i]));
        }
    });
}

void silu_block(const float* x, float* out, size_t n) {
    strips(x, out, n, [](const float* a, float* r, size_t length) {
        float s[strip];
        sigmoid_block(a, s, length);
        for (size_t i = 0; i < length; ++i) r[i] = canonical(a[i] * s[i]);
    });
}

void gelu_block(const float* x, float* out, size_t n) {
    strips(x, out, n, [](const float* a, float* r, size_t length) {
        const float root_half = float_of(0x3f3504f3);
        float e[strip];
        for (size_t i = 0; i < length; ++i) e[i] = a[i] * root_half;
        erf_block(e, e, length);
        for (size_t i = 0; i < length; ++i) {
            r[i] = canonical((0.5F * a[i]) * (1.0F + e[i]));
        }
    });
}

void softplus_block(const float* x, float* out, size_t n) {
    strips(x, out, n, [](const float* a, float* r, size_t length) {
        float e[strip];
        for (size_t i = 0; i < length; ++i) e[i] = a[i] < 0 ? a[i] : -a[i];
        exp_block(e, e, length);
        log1p_block(e, e, length);
        for (size_t i = 0; i < length; ++i) r[i] = canonical(e[i] + positive_part(a[i]));
    });
}

void elu_block(const float* x, float* out, size_t n) {
    strips(x, out, n, [](const float* a, float* r, size_t length) {
        float e[strip];
        expm1_block(a, e, length);
        for (size_t i = 0; i < length; ++i) r[i] = a[i] > 0 ? a[i] : e[i];
    });
}

void leaky_relu_block(const float* x, float* out, size_t n) {
    const float slope = float_of(0x3c23d70a);
    for (size_t i = 0; i < n; ++i) out[i] = x[i] >= 0 ? x[i] : canonical(slope * x[i]);
}

void relu_block(const float* x, float* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = canonical(x[i] < 0 || x[i] == 0 ? 0.0F : x[i]);
}

// --- for the sweep -------------------------------------------------------------------------------

#define BITTRUE_PROBE(name, primitive) \
    {#name, name##_block, probe<primitive>, primitive::units, accurate::name##_and_value},
const Probe probes[] = {
    BITTRUE_PROBE(exp, Exp)
    BITTRUE_PROBE(exp2, Exp2)
    BITTRUE_PROBE(expm1, Expm1)
    BITTRUE_PROBE(log, Log)
    BITTRUE_PROBE(log2, Log2)
    BITTRUE_PROBE(log1p, Log1p)
    BITTRUE_PROBE(sin, Sin)
    BITTRUE_PROBE(cos, Cos)
    BITTRUE_PROBE(tanh, Tanh)
    BITTRUE_PROBE(erf, Erf)
    BITTRUE_PROBE(rsqrt, Rsqrt)
    {nullptr, nullptr, nullptr, 0, nullptr},
};
#undef BITTRUE_PROBE

void pow_probe(const float* x, const float* y, double* values, unsigned char* special, size_t n) {
    for (size_t i = 0; i < n; i += width) {
        float bases[width], exponents[width];
        for (int k = 0; k < width; ++k) {
            bases[k] = i + k < n ? x[i + k] : 1;
            exponents[k] = i + k < n ? y[i + k] : 1;
        }
        Doubles v;
        AnyLane ignored_test;
        Pow::evaluate(load(bases), load(exponents), v, ignored_test);
        double found[width];
        std::memcpy(found, &v, sizeof found);
        for (int k = 0; k < width && i + k < n; ++k) {
            float ignored;
            values[i + k] = found[k];
            special[i + k] = Pow::special(bases[k], exponents[k], ignored);
        }
    }
}
const unsigned pow_units = Pow::units;

}  // namespace bittrue::BITTRUE_LEVEL
