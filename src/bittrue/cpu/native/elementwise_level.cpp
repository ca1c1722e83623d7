// Elementwise operations, one strip at a time. Compiled once for each instruction level: no
// function from outside this file may be used (strips.cpp says why).
//
// Every loop is written to be vectorised: no branch in the body, comparisons signed.
#include "operation_kernels.h"

#include <cstring>

// The elementary functions of this level, where the module has them: blocks of one or two operands.
#if __has_include("elementary.h")
#include "elementary.h"
#define BITTRUE_HAS_ELEMENTARY
#endif

#ifndef BITTRUE_LEVEL
#define BITTRUE_LEVEL baseline
#endif

namespace bittrue::BITTRUE_LEVEL {
namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;

constexpr u32 sign_bit = 0x80000000;
constexpr u32 magnitude_bits = 0x7fffffff;
constexpr i32 infinity_bits = 0x7f800000;
constexpr u32 nan_bits = 0x7fc00000;
constexpr u32 one_bits = 0x3f800000;

inline u32 bits_of(float value) {
    u32 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(u32 bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline float canonical(float value) { return value == value ? value : float_of(nan_bits); }

inline i32 magnitude(u32 bits) { return static_cast<i32>(bits & magnitude_bits); }
inline bool is_nan(u32 bits) { return magnitude(bits) > infinity_bits; }
inline bool is_zero(u32 bits) { return magnitude(bits) == 0; }
inline bool is_positive(u32 bits) {
    return (static_cast<i32>(bits) > 0) & (static_cast<i32>(bits) <= infinity_bits);
}

// An integer that orders numbers by value, -0 just below +0.
inline i32 rank(u32 bits) {
    return static_cast<i32>(bits ^ (static_cast<u32>(static_cast<i32>(bits) >> 31) >> 1));
}

// By masks: conditional expressions inside each other are not vectorised.
inline u32 choose(bool condition, u32 a, u32 b) {
    const u32 mask = 0u - static_cast<u32>(condition);
    return (a & mask) | (b & ~mask);
}

inline u32 maximum_bits(u32 a, u32 b) {
    return choose(is_nan(a) | is_nan(b), nan_bits, choose(rank(a) > rank(b), a, b));
}

inline u32 minimum_bits(u32 a, u32 b) {
    return choose(is_nan(a) | is_nan(b), nan_bits, choose(rank(a) < rank(b), a, b));
}

// --- functions ----------------------------------------------------------------------------------

struct Add { static float of(float a, float b) { return canonical(a + b); } };
struct Sub { static float of(float a, float b) { return canonical(a - b); } };
struct Mul { static float of(float a, float b) { return canonical(a * b); } };
struct Div { static float of(float a, float b) { return canonical(a / b); } };

struct Maximum { static u32 of(u32 a, u32 b) { return maximum_bits(a, b); } };
struct Minimum { static u32 of(u32 a, u32 b) { return minimum_bits(a, b); } };

struct Equal { static bool of(float a, float b) { return a == b; } };
struct NotEqual { static bool of(float a, float b) { return a != b; } };
struct Less { static bool of(float a, float b) { return a < b; } };
struct LessEqual { static bool of(float a, float b) { return a <= b; } };
struct LogicalNot { static bool of(u32 x) { return is_zero(x); } };

struct Neg { static u32 of(u32 x) { return x ^ sign_bit; } };
struct Abs { static u32 of(u32 x) { return x & magnitude_bits; } };
struct Sign {
    static u32 of(u32 x) {
        const u32 unit = is_zero(x) ? 0 : (x & sign_bit) | one_bits;
        return is_nan(x) ? nan_bits : unit;
    }
};
struct Recip { static float of(float x) { return canonical(1.0f / x); } };
struct Sqrt { static float of(float x) { return canonical(__builtin_sqrtf(x)); } };

// The nearest integer, ties to even: 2^23 + |x| has no fraction bits. Magnitudes from 2^23 on are
// integers already. The sign is put back so that zeros keep it.
inline float whole(float x) {
    const float size = float_of(bits_of(x) & magnitude_bits);
    const float nearest = (size + 8388608.0f) - 8388608.0f;
    return float_of(bits_of(size < 8388608.0f ? nearest : size) | (bits_of(x) & sign_bit));
}

inline float signed_as(float value, float x) {
    return canonical(float_of((bits_of(value) & magnitude_bits) | (bits_of(x) & sign_bit)));
}

struct Round { static float of(float x) { return canonical(whole(x)); } };
struct Floor {
    static float of(float x) {
        const float nearest = whole(x);
        return signed_as(nearest > x ? nearest - 1.0f : nearest, x);
    }
};
struct Ceil {
    static float of(float x) {
        const float nearest = whole(x);
        return signed_as(nearest < x ? nearest + 1.0f : nearest, x);
    }
};

struct Relu {
    static u32 of(u32 x) {
        const u32 kept = is_positive(x) ? x : 0;
        return is_nan(x) ? nan_bits : kept;
    }
};
struct LeakyRelu {
    static float of(float x) {
        constexpr u32 slope = 0x3c23d70a;  // 0.01
        return canonical(x >= 0.0f ? x : float_of(slope) * x);
    }
};
struct Clamp {
    static u32 of(u32 x, u32 lower, u32 upper) {
        return minimum_bits(maximum_bits(x, lower), upper);
    }
};
struct Select { static u32 of(u8 condition, u32 a, u32 b) { return condition ? a : b; } };

struct ReluInt { static i32 of(i32 x) { return x > 0 ? x : 0; } };

// --- loops --------------------------------------------------------------------------------------

template <typename F, typename In, typename Out>
bool unary(const void* const* in, void* result, std::size_t count) {
    const In* __restrict x = static_cast<const In*>(in[0]);
    Out* __restrict out = static_cast<Out*>(result);
    for (std::size_t i = 0; i < count; ++i) out[i] = F::of(x[i]);
    return false;
}

template <typename F, typename In, typename Out>
bool binary(const void* const* in, void* result, std::size_t count) {
    const In* __restrict a = static_cast<const In*>(in[0]);
    const In* __restrict b = static_cast<const In*>(in[1]);
    Out* __restrict out = static_cast<Out*>(result);
    for (std::size_t i = 0; i < count; ++i) out[i] = F::of(a[i], b[i]);
    return false;
}

template <typename F, typename First>
bool ternary(const void* const* in, void* result, std::size_t count) {
    const First* __restrict a = static_cast<const First*>(in[0]);
    const u32* __restrict b = static_cast<const u32*>(in[1]);
    const u32* __restrict c = static_cast<const u32*>(in[2]);
    u32* __restrict out = static_cast<u32*>(result);
    for (std::size_t i = 0; i < count; ++i) out[i] = F::of(a[i], b[i], c[i]);
    return false;
}

#if defined(BITTRUE_HAS_ELEMENTARY)
template <void (*block)(const float*, float*, std::size_t)>
bool unary_block(const void* const* in, void* result, std::size_t count) {
    block(static_cast<const float*>(in[0]), static_cast<float*>(result), count);
    return false;
}

template <void (*block)(const float*, const float*, float*, std::size_t)>
bool binary_block(const void* const* in, void* result, std::size_t count) {
    block(static_cast<const float*>(in[0]), static_cast<const float*>(in[1]),
          static_cast<float*>(result), count);
    return false;
}
#endif

// The exact remainder. Where |a| < 2^28 |b|, the quotient q = trunc(a / b) has 29 bits or fewer, so
// q * b and a - q * b are exact in binary64; a / b, rounded, is at worst the integer above, and the
// rest then has the other sign. Other pairs are divided bit by bit.
inline u32 long_remainder(u32 a, u32 b) {
    if (a < b) return a;
    const auto exponent = [](u32 bits) { return bits >> 23 != 0 ? static_cast<int>(bits >> 23) : 1; };
    const auto significand = [](u32 bits) {
        return bits >> 23 != 0 ? (bits & 0x7fffff) | 0x800000 : bits & 0x7fffff;
    };
    u32 rest = significand(a);
    const u32 divisor = significand(b);
    int steps = exponent(a) - exponent(b);
    rest %= divisor;
    for (; steps > 0; --steps) rest = (rest << 1) % divisor;
    // rest < divisor, in units of b's last place.
    int e = exponent(b);
    while (rest != 0 && rest < 0x800000 && e > 1) {
        rest <<= 1;
        --e;
    }
    return rest < 0x800000 ? rest : (rest & 0x7fffff) | static_cast<u32>(e) << 23;
}

bool remainder(const void* const* in, void* result, std::size_t count) {
    const float* __restrict a = static_cast<const float*>(in[0]);
    const float* __restrict b = static_cast<const float*>(in[1]);
    u32* __restrict out = static_cast<u32*>(result);
    i32 far = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double x = float_of(bits_of(a[i]) & magnitude_bits);
        const double y = float_of(bits_of(b[i]) & magnitude_bits);
        const double quotient = x / y;
        far |= !(quotient < 268435456.0) & (magnitude(bits_of(a[i])) < infinity_bits) &
               (y > 0.0);
        const double near = quotient < 268435456.0 ? quotient : 0.0;
        const double q = static_cast<double>(static_cast<i32>(near));
        double rest = x - q * y;
        rest = rest < 0.0 ? rest + y : rest;
        // An infinite divisor leaves a as it is; 0 * inf must not show.
        const float r = magnitude(bits_of(b[i])) == infinity_bits ? static_cast<float>(x)
                                                                  : static_cast<float>(rest);
        const bool none = (magnitude(bits_of(a[i])) >= infinity_bits) | is_nan(bits_of(b[i])) |
                          is_zero(bits_of(b[i]));
        out[i] = none ? nan_bits : bits_of(r) | (bits_of(a[i]) & sign_bit);
    }
    if (far) {
        for (std::size_t i = 0; i < count; ++i) {
            const u32 x = bits_of(a[i]), y = bits_of(b[i]);
            if (magnitude(x) < infinity_bits && magnitude(y) < infinity_bits && !is_zero(y)) {
                out[i] = long_remainder(x & magnitude_bits, y & magnitude_bits) | (x & sign_bit);
            }
        }
    }
    return false;
}

// --- checked Int32 ------------------------------------------------------------------------------

// Two's complement: a sum overflows where both operands differ from it in sign.
bool add_i32(const void* const* in, void* result, std::size_t count) {
    const u32* __restrict a = static_cast<const u32*>(in[0]);
    const u32* __restrict b = static_cast<const u32*>(in[1]);
    u32* __restrict out = static_cast<u32*>(result);
    u32 over = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const u32 sum = a[i] + b[i];
        over |= (a[i] ^ sum) & (b[i] ^ sum);
        out[i] = sum;
    }
    return (over & sign_bit) != 0;
}

bool sub_i32(const void* const* in, void* result, std::size_t count) {
    const u32* __restrict a = static_cast<const u32*>(in[0]);
    const u32* __restrict b = static_cast<const u32*>(in[1]);
    u32* __restrict out = static_cast<u32*>(result);
    u32 over = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const u32 difference = a[i] - b[i];
        over |= (a[i] ^ b[i]) & (a[i] ^ difference);
        out[i] = difference;
    }
    return (over & sign_bit) != 0;
}

bool mul_i32(const void* const* in, void* result, std::size_t count) {
    const i32* __restrict a = static_cast<const i32*>(in[0]);
    const i32* __restrict b = static_cast<const i32*>(in[1]);
    i32* __restrict out = static_cast<i32*>(result);
    i64 over = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const i64 product = static_cast<i64>(a[i]) * b[i];
        const i32 low = static_cast<i32>(product);
        over |= product ^ low;
        out[i] = low;
    }
    return over != 0;
}

// base ** exponent by squaring, no squaring after the highest set bit. A factor outside Int32
// shows at once: later steps only grow.
bool pow_i32(const void* const* in, void* result, std::size_t count) {
    const i32* __restrict base = static_cast<const i32*>(in[0]);
    const i32* __restrict exponents = static_cast<const i32*>(in[1]);
    i32* __restrict out = static_cast<i32*>(result);
    const auto fits = [](i64 value) { return value == static_cast<i32>(value); };
    for (std::size_t i = 0; i < count; ++i) {
        i64 power = 1, square = base[i];
        for (u32 rest = static_cast<u32>(exponents[i]); rest != 0;) {
            if (rest & 1) {
                power *= square;
                if (!fits(power)) return true;
            }
            rest >>= 1;
            if (rest != 0) {
                square *= square;
                if (!fits(square)) return true;
            }
        }
        out[i] = static_cast<i32>(power);
    }
    return false;
}

// --- the table ----------------------------------------------------------------------------------

constexpr Type f = Type::f32, n = Type::i32, l = Type::boolean;

// Bool elements are read and written as bytes.
constexpr ElementwiseRow rows[] = {
    {"add", 2, {f, f, f}, f, binary<Add, float, float>},
    {"sub", 2, {f, f, f}, f, binary<Sub, float, float>},
    {"mul", 2, {f, f, f}, f, binary<Mul, float, float>},
    {"div", 2, {f, f, f}, f, binary<Div, float, float>},
    {"rem", 2, {f, f, f}, f, remainder},
    {"maximum", 2, {f, f, f}, f, binary<Maximum, u32, u32>},
    {"minimum", 2, {f, f, f}, f, binary<Minimum, u32, u32>},
    {"eq", 2, {f, f, f}, l, binary<Equal, float, bool>},
    {"ne", 2, {f, f, f}, l, binary<NotEqual, float, bool>},
    {"lt", 2, {f, f, f}, l, binary<Less, float, bool>},
    {"le", 2, {f, f, f}, l, binary<LessEqual, float, bool>},
    {"logical_not", 1, {f, f, f}, l, unary<LogicalNot, u32, bool>},
    {"neg", 1, {f, f, f}, f, unary<Neg, u32, u32>},
    {"abs", 1, {f, f, f}, f, unary<Abs, u32, u32>},
    {"sign", 1, {f, f, f}, f, unary<Sign, u32, u32>},
    {"recip", 1, {f, f, f}, f, unary<Recip, float, float>},
    {"sqrt", 1, {f, f, f}, f, unary<Sqrt, float, float>},
    {"floor", 1, {f, f, f}, f, unary<Floor, float, float>},
    {"ceil", 1, {f, f, f}, f, unary<Ceil, float, float>},
    {"round", 1, {f, f, f}, f, unary<Round, float, float>},
    {"relu", 1, {f, f, f}, f, unary<Relu, u32, u32>},
    {"leaky_relu", 1, {f, f, f}, f, unary<LeakyRelu, float, float>},
    {"clamp", 3, {f, f, f}, f, ternary<Clamp, u32>},
    {"select", 3, {l, f, f}, f, ternary<Select, u8>},
#if defined(BITTRUE_HAS_ELEMENTARY)
    {"exp", 1, {f, f, f}, f, unary_block<exp_block>},
    {"exp2", 1, {f, f, f}, f, unary_block<exp2_block>},
    {"log", 1, {f, f, f}, f, unary_block<log_block>},
    {"log2", 1, {f, f, f}, f, unary_block<log2_block>},
    {"sin", 1, {f, f, f}, f, unary_block<sin_block>},
    {"cos", 1, {f, f, f}, f, unary_block<cos_block>},
    {"tanh", 1, {f, f, f}, f, unary_block<tanh_block>},
    {"erf", 1, {f, f, f}, f, unary_block<erf_block>},
    {"rsqrt", 1, {f, f, f}, f, unary_block<rsqrt_block>},
    {"sigmoid", 1, {f, f, f}, f, unary_block<sigmoid_block>},
    {"silu", 1, {f, f, f}, f, unary_block<silu_block>},
    {"gelu", 1, {f, f, f}, f, unary_block<gelu_block>},
    {"softplus", 1, {f, f, f}, f, unary_block<softplus_block>},
    {"elu", 1, {f, f, f}, f, unary_block<elu_block>},
    {"pow", 2, {f, f, f}, f, binary_block<pow_block>},
#endif
    {"add_int32", 2, {n, n, n}, n, add_i32},
    {"sub_int32", 2, {n, n, n}, n, sub_i32},
    {"mul_int32", 2, {n, n, n}, n, mul_i32},
    {"pow_int32", 2, {n, n, n}, n, pow_i32},
    {"relu_int32", 1, {n, n, n}, n, unary<ReluInt, i32, i32>},
};

void to_f32(const i32* __restrict in, float* __restrict out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

template <typename E>
void gather(const void* in, std::ptrdiff_t stride, void* result, std::size_t count) {
    const E* __restrict x = static_cast<const E*>(in);
    E* __restrict out = static_cast<E*>(result);
    if (stride == 0) {
        const E value = *x;
        for (std::size_t i = 0; i < count; ++i) out[i] = value;
    } else if (stride == 1) {
        for (std::size_t i = 0; i < count; ++i) out[i] = x[i];
    } else if (stride == -1) {
        const E* __restrict last = x - (count - 1);
        for (std::size_t i = 0; i < count; ++i) out[i] = last[count - 1 - i];
    } else if (stride == 2) {
        for (std::size_t i = 0; i < count; ++i) out[i] = x[2 * i];
    } else {
        for (std::size_t i = 0; i < count; ++i, x += stride) out[i] = *x;
    }
}

}  // namespace

const ElementwiseKernels elementwise_kernels = {
    rows, static_cast<int>(sizeof rows / sizeof *rows), to_f32, gather<u32>, gather<u8>,
};

}  // namespace bittrue::BITTRUE_LEVEL
