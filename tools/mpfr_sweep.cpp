// Correctly rounded binary32 results of the elementary functions, from MPFR alone: nothing of the
// library is in this program, so that it can judge the library. Driven by tools/mpfr_sweep.py.
//
//   g++ -O2 -std=c++17 -Wall -Wextra tools/mpfr_sweep.cpp -o build/mpfr_sweep -lmpfr -lgmp
//   (Debian: apt-get install g++ libmpfr-dev)
//
//   mpfr_sweep FUNCTION FIRST COUNT   writes the results of COUNT bit patterns from FIRST on to
//                                     stdout, as 32-bit words
//   mpfr_sweep FUNCTION check         compares the two methods below in every binade
//   mpfr_sweep pow                    reads pairs of words from stdin, writes a word for each
//
// `direct` is one call of MPFR: 24 bits, the exponents of binary32, mpfr_subnormalize. At 0.5 to 5
// microseconds a call, 2^32 patterns of eleven functions take a day. `rounded` gets the same result
// from fewer calls wherever one of these holds, and else is `direct`:
//
// - The result is a constant or the operand itself, by the inequality stated at the place.
// - The function of a sum is made of the functions of its terms. An operand is a + b with 13 and 11
//   bits, and e^(a + b) = e^a e^b, 2^(a + b) = 2^a 2^b, sin and cos of a + b; or it is m 2^e, and
//   log(m 2^e) = log m + e log 2. MPFR gives the functions of the terms to 2^-116 or better, integer
//   arithmetic of 128 bits combines them with an error that is stated in units of its last place.
// - A power series or a quotient, whose error is bounded.
//
// In the last two cases the value lies in an interval of integers around the computed one. Where it
// holds a rounding boundary, `direct` decides: so every result is proved, whichever way it came.
#include <mpfr.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;
__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

constexpr uint32_t sign_bit = 0x80000000U, infinity = 0x7f800000U, nan_bits = 0x7fc00000U;
constexpr uint32_t one = 0x3f800000U;

float float_of(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
// The pattern of the power of 2, normal.
constexpr uint32_t power(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; }

// --- one call of MPFR ---------------------------------------------------------------------------

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// The exponents of binary32: the least subnormal is 0.5 * 2^-148.
class Binary32Exponents {
public:
    Binary32Exponents() : least_(mpfr_get_emin()), greatest_(mpfr_get_emax()) {
        mpfr_set_emin(-148);
        mpfr_set_emax(128);
    }
    ~Binary32Exponents() {
        mpfr_set_emin(least_);
        mpfr_set_emax(greatest_);
    }
    Binary32Exponents(const Binary32Exponents&) = delete;
    Binary32Exponents& operator=(const Binary32Exponents&) = delete;

private:
    mpfr_exp_t least_, greatest_;
};

struct Number {
    mpfr_t value;
    explicit Number(mpfr_prec_t precision) { mpfr_init2(value, precision); }
    ~Number() { mpfr_clear(value); }
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;
};

uint32_t pattern_of(mpfr_t value) {
    return mpfr_nan_p(value) ? nan_bits : bits_of(mpfr_get_flt(value, MPFR_RNDN));
}

uint32_t direct(Unary function, uint32_t operand) {
    static Number x(24), y(24);
    const Binary32Exponents range;
    mpfr_set_flt(x.value, float_of(operand), MPFR_RNDN);
    const int ternary = function(y.value, x.value, MPFR_RNDN);
    mpfr_subnormalize(y.value, ternary, MPFR_RNDN);
    return pattern_of(y.value);
}

// 1 / sqrt(-0) is -infinity; MPFR's is +infinity.
int reciprocal_root(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
    const int ternary = mpfr_rec_sqrt(result, x, mode);
    if (mpfr_zero_p(x)) mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
    return ternary;
}

uint32_t direct_pow(uint32_t base, uint32_t exponent) {
    static Number x(24), y(24), r(24);
    const Binary32Exponents range;
    // A signaling NaN operand gives a NaN; MPFR has no signaling NaNs.
    for (const uint32_t bits : {base, exponent}) {
        if ((bits & ~sign_bit) > infinity && (bits & 0x400000U) == 0) return nan_bits;
    }
    mpfr_set_flt(x.value, float_of(base), MPFR_RNDN);
    mpfr_set_flt(y.value, float_of(exponent), MPFR_RNDN);
    const int ternary = mpfr_pow(r.value, x.value, y.value, MPFR_RNDN);
    mpfr_subnormalize(r.value, ternary, MPFR_RNDN);
    return pattern_of(r.value);
}

// --- integers of 128 bits -----------------------------------------------------------------------

// |value| 2^scale to the nearest integer.
Wide fixed(mpfr_srcptr value, long scale) {
    Number scaled(mpfr_get_prec(value));
    mpfr_mul_2si(scaled.value, value, scale, MPFR_RNDN);
    mpz_t whole;
    mpz_init(whole);
    mpfr_get_z(whole, scaled.value, MPFR_RNDN);
    uint64_t words[3] = {0, 0, 0};
    std::size_t count = 0;
    if (mpz_sizeinbase(whole, 2) > 128) std::abort();
    mpz_export(words, &count, -1, sizeof words[0], 0, 0, whole);
    mpz_clear(whole);
    return static_cast<Wide>(words[1]) << 64 | words[0];
}

// The high half of the product, off by less than 1.
Wide high_product(Wide a, Wide b) {
    const uint64_t a0 = static_cast<uint64_t>(a), a1 = static_cast<uint64_t>(a >> 64);
    const uint64_t b0 = static_cast<uint64_t>(b), b1 = static_cast<uint64_t>(b >> 64);
    const Wide low = static_cast<Wide>(a0) * b0, left = static_cast<Wide>(a1) * b0;
    const Wide right = static_cast<Wide>(a0) * b1;
    const Wide middle = (low >> 64) + static_cast<uint64_t>(left) + static_cast<uint64_t>(right);
    return static_cast<Wide>(a1) * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
}

// Rounds v 2^scale for any v within `slack` of `value`; false where that depends on v. A value just
// above a power of 2 may belong below it, where boundaries are closer, but none is that close.
bool round_fixed(Wide value, int scale, Wide slack, uint32_t& result) {
    const auto high = static_cast<uint64_t>(value >> 64);
    const int top = high != 0 ? 127 - __builtin_clzll(high)
                              : 63 - __builtin_clzll(static_cast<uint64_t>(value) | 1);
    const int drop = std::max(top - 23, -149 - scale);
    if (drop < 8 || drop > 126) return false;
    const Wide half = static_cast<Wide>(1) << (drop - 1);
    if (slack >= half / 4) return false;
    const Wide rest = value & (2 * half - 1);
    if ((rest > half ? rest - half : half - rest) <= slack) return false;
    const auto kept = static_cast<uint32_t>(value >> drop) + (rest > half ? 1 : 0);
    if (top + scale < -126) {
        result = kept;  // subnormal, or the least normal number
        return true;
    }
    if (top + scale > 127) {
        result = infinity;
        return true;
    }
    // A carry out of the significand increments the exponent, up to infinity.
    result = (static_cast<uint32_t>(top + scale + 127) << 23) + (kept - 0x800000U);
    return true;
}

// |x| = significand 2^exponent, with 24 bits of significand, for subnormal x too.
void normalised(uint32_t magnitude, uint32_t& significand, int& exponent) {
    exponent = static_cast<int>(magnitude >> 23) - 150;
    significand = (magnitude & 0x7fffffU) | 0x800000U;
    if (magnitude >> 23 == 0) {
        const int shift = __builtin_clz(magnitude) - 8;
        significand = magnitude << shift;
        exponent = -149 - shift;
    }
}

constexpr int low_bits = 11;
constexpr uint32_t low_mask = (1U << low_bits) - 1;
constexpr mpfr_prec_t working = 160;

// The two terms of the operands of one sign and exponent: head h of the significand in steps of
// 2^11, and the rest.
struct Terms {
    uint32_t group = ~0U;
    std::vector<Wide> high, low, high_other, low_other;
    std::vector<int> high_sign, low_sign, high_other_sign, low_other_sign;
    std::vector<int> exponents;

    void resize() {
        for (auto* part : {&high, &high_other}) part->resize(1U << (23 - low_bits));
        for (auto* part : {&low, &low_other}) part->resize(1U << low_bits);
        for (auto* part : {&high_sign, &high_other_sign}) part->resize(1U << (23 - low_bits));
        for (auto* part : {&low_sign, &low_other_sign}) part->resize(1U << low_bits);
        exponents.resize(1U << (23 - low_bits));
    }
};

void set_term(mpfr_t x, uint32_t significand, uint32_t group) {
    const int exponent = static_cast<int>(group & 0xff) - 150;
    mpfr_set_ui_2exp(x, significand, exponent, MPFR_RNDN);
    if (group >> 8 != 0) mpfr_neg(x, x, MPFR_RNDN);
}

// --- exp, exp2, expm1 ---------------------------------------------------------------------------

// e^a = A 2^k with A in [1, 2), A and e^b by 2^126, each off by 1/2. The product by 2^124 is off by
// (e^b + 2) / 8 of them and the fraction cut off: less than 2 units.
struct Exponential {
    Unary function;
    Terms terms;

    // value = product 2^(k - 124)
    Wide product(uint32_t operand, int& k) {
        if (terms.group != operand >> 23) fill(operand >> 23);
        const uint32_t head = (operand & 0x7fffffU) >> low_bits;
        k = terms.exponents[head];
        return high_product(terms.high[head], terms.low[operand & low_mask]);
    }

    void fill(uint32_t group) {
        terms.resize();
        terms.group = group;
        Number x(working), y(working);
        for (uint32_t head = 0; head < terms.high.size(); ++head) {
            set_term(x.value, 0x800000U | head << low_bits, group);
            function(y.value, x.value, MPFR_RNDN);
            terms.exponents[head] = static_cast<int>(mpfr_get_exp(y.value)) - 1;
            terms.high[head] = fixed(y.value, 126 - terms.exponents[head]);
        }
        for (uint32_t rest = 0; rest < terms.low.size(); ++rest) {
            set_term(x.value, rest, group);
            function(y.value, x.value, MPFR_RNDN);
            terms.low[rest] = fixed(y.value, 126);
        }
    }
};

constexpr Wide exponential_slack = 8;

uint32_t rounded_exp(uint32_t operand) {
    static Exponential exponential{mpfr_exp, {}};
    const float x = float_of(operand);
    if (x != x) return nan_bits;
    if ((operand & ~sign_bit) < power(-25)) return one;  // 1 - 2^-25 < e^x < 1 + 2^-24
    if (x >= 89) return infinity;                        // e^89 > 2^128
    if (x <= -104.5F) return 0;                          // e^-104.5 < 2^-150
    int k;
    const Wide value = exponential.product(operand, k);
    uint32_t result;
    return round_fixed(value, k - 124, exponential_slack, result) ? result
                                                                  : direct(mpfr_exp, operand);
}

uint32_t rounded_exp2(uint32_t operand) {
    static Exponential exponential{mpfr_exp2, {}};
    const float x = float_of(operand);
    if (x != x) return nan_bits;
    if ((operand & ~sign_bit) < power(-25)) return one;
    if (x >= 128) return infinity;
    if (x <= -151) return 0;
    int k;
    const Wide value = exponential.product(operand, k);
    uint32_t result;
    return round_fixed(value, k - 124, exponential_slack, result) ? result
                                                                  : direct(mpfr_exp2, operand);
}

uint32_t rounded_expm1(uint32_t operand) {
    static Exponential exponential{mpfr_exp, {}};
    const float x = float_of(operand);
    if (x != x) return nan_bits;
    if ((operand & ~sign_bit) < power(-25)) return operand;  // x^2 / 2 + ... < 2^-25 x
    if (x >= 89) return infinity;
    if (x <= -18.5F) return sign_bit | one;  // e^-18.5 < 2^-25, half the step below 1
    int k;
    const Wide value = exponential.product(operand, k);
    uint32_t result;
    bool certain;
    if (k >= 0) {
        // From 2^125 on the 1 is less than a unit.
        const Wide unit = k <= 124 ? static_cast<Wide>(1) << (124 - k) : 0;
        certain = round_fixed(value - unit, k - 124, exponential_slack, result);
    } else {
        certain = round_fixed((static_cast<Wide>(1) << 124) - (value >> -k), -124,
                              exponential_slack, result);
        result |= sign_bit;
    }
    return certain ? result : direct(mpfr_expm1, operand);
}

// --- log, log2, log1p ---------------------------------------------------------------------------

// The logarithms of all significands and of all powers of 2, by 2^116, each off by 1/2.
class Logarithm {
public:
    explicit Logarithm(Unary function) : significands_(1U << 23), powers_(300) {
        Number x(working), y(working), unit(working);
        mpfr_set_ui(x.value, 2, MPFR_RNDN);
        function(unit.value, x.value, MPFR_RNDN);
        for (uint32_t m = 0; m < significands_.size(); ++m) {
            mpfr_set_ui_2exp(x.value, 0x800000U | m, -23, MPFR_RNDN);
            function(y.value, x.value, MPFR_RNDN);
            significands_[m] = fixed(y.value, 116);
        }
        for (int e = 0; e < static_cast<int>(powers_.size()); ++e) {
            mpfr_mul_si(y.value, unit.value, e - 150, MPFR_RNDN);
            const auto value = static_cast<SignedWide>(fixed(y.value, 116));
            powers_[static_cast<std::size_t>(e)] = e < 150 ? -value : value;
        }
    }
    SignedWide of(uint32_t magnitude) const {
        uint32_t significand;
        int exponent;
        normalised(magnitude, significand, exponent);
        return static_cast<SignedWide>(significands_[significand & 0x7fffffU]) +
               powers_[static_cast<std::size_t>(exponent + 23 + 150)];
    }

private:
    std::vector<Wide> significands_;
    std::vector<SignedWide> powers_;
};

bool round_signed(SignedWide value, Wide slack, uint32_t& result) {
    const bool negative = value < 0;
    if (!round_fixed(static_cast<Wide>(negative ? -value : value), -116, slack, result)) {
        return false;
    }
    if (negative) result |= sign_bit;
    return true;
}

uint32_t rounded_logarithm(Unary function, const Logarithm& logarithm, uint32_t operand) {
    const float x = float_of(operand);
    if (x == 0) return sign_bit | infinity;
    if (!(x > 0)) return nan_bits;
    if (operand == infinity) return infinity;
    if (operand == one) return 0;
    uint32_t result;
    return round_signed(logarithm.of(operand), 2, result) ? result : direct(function, operand);
}

uint32_t rounded_log(uint32_t operand) {
    static const Logarithm logarithm(mpfr_log);
    return rounded_logarithm(mpfr_log, logarithm, operand);
}

uint32_t rounded_log2(uint32_t operand) {
    static const Logarithm logarithm(mpfr_log2);
    return rounded_logarithm(mpfr_log2, logarithm, operand);
}

// x (1 - x/2 + x^2/3 - ... + x^9 / 10) for |x| < 2^-7: the rest of the sum is below 2^-73. By 2^126
// the coefficients and products are off by less than 2^5, the product with the significand, of
// which 24 bits of the series are cut off, by 2^54 + 2^25.
bool small_log1p(uint32_t operand, uint32_t& result) {
    uint32_t significand;
    int exponent;
    normalised(operand & ~sign_bit, significand, exponent);
    const bool negative = operand >> 31 != 0;
    const Wide unit = static_cast<Wide>(1) << 126;
    const Wide x = static_cast<Wide>(significand) << (127 + exponent);  // by 2^127; exponent > -127
    Wide series = unit / 10;
    for (unsigned n = 9; n >= 1; --n) {
        const Wide product = high_product(x, series) * 2;
        series = negative ? unit / n + product : unit / n - product;
    }
    const Wide value = (series >> 24) * significand;
    const Wide slack = (static_cast<Wide>(1) << 54) + (1U << 26);
    if (!round_fixed(value, exponent - 102, slack, result)) return false;
    result |= operand & sign_bit;
    return true;
}

// y = 1 + x for 2^-7 <= |x| < 2^13 is an integer by 2^30. log y = log h + d - d^2 / 2 + ..., h the
// leading 24 bits of y and d = (y - h) / h < 2^-23: the rest is below 2^-70.5. By 2^116 quotient and
// square are off by less than 2^19, the logarithm by 2.
bool middle_log1p(const Logarithm& logarithm, uint32_t operand, uint32_t& result) {
    uint32_t significand;
    int exponent;
    normalised(operand & ~sign_bit, significand, exponent);
    const int shift = exponent + 30;
    const int64_t x = shift >= 0 ? static_cast<int64_t>(significand) << shift
                                 : static_cast<int64_t>(significand >> -shift);
    if (shift < 0 && (significand & ((1U << -shift) - 1)) != 0) return false;
    const auto y = static_cast<uint64_t>((int64_t{1} << 30) + (operand >> 31 ? -x : x));
    const int extra = std::max(63 - __builtin_clzll(y) - 23, 0);
    const uint64_t head = y >> extra, rest = y & ((uint64_t{1} << extra) - 1);
    const uint32_t pattern = bits_of(static_cast<float>(head) * float_of(power(extra - 30)));
    const Wide quotient = (static_cast<Wide>(rest) << (116 - extra)) / head;
    const Wide short_quotient = quotient >> 40;  // d 2^76
    const Wide half_square = (short_quotient * short_quotient) >> 37;
    const SignedWide value = logarithm.of(pattern) + static_cast<SignedWide>(quotient) -
                             static_cast<SignedWide>(half_square);
    return round_signed(value, (static_cast<Wide>(1) << 46) + (1U << 20), result);
}

uint32_t rounded_log1p(uint32_t operand) {
    static const Logarithm logarithm(mpfr_log);
    const float x = float_of(operand);
    const uint32_t magnitude = operand & ~sign_bit;
    if (x != x || x < -1) return nan_bits;
    if (x == -1) return sign_bit | infinity;
    if (operand == infinity) return infinity;
    if (magnitude < power(-25)) return operand;  // x^2 / 2 + ... < 2^-25 x
    uint32_t result;
    if (magnitude < power(-7)) {
        return small_log1p(operand, result) ? result : direct(mpfr_log1p, operand);
    }
    if (x >= 8192) {
        // log x + 1/x - d, 0 < d < 1 / (2 x^2) <= 2^(-2 e - 1). 1/x from 40 bits of 2^63 / m.
        uint32_t significand;
        int exponent;
        normalised(operand, significand, exponent);
        const Wide inverse = (uint64_t{1} << 63) / significand;
        const int shift = 116 - 63 - exponent;
        SignedWide value = logarithm.of(operand);
        value += static_cast<SignedWide>(shift >= 0 ? inverse << shift
                                         : shift > -64 ? inverse >> -shift
                                                       : 0);
        const int bound = 115 - 2 * (exponent + 23);  // log2 of the bound of d
        const Wide error = bound >= 0 ? static_cast<Wide>(1) << bound : 1;
        const Wide cut = shift >= 0 ? static_cast<Wide>(1) << shift : 1;
        if (round_signed(value, error + cut + 2, result)) return result;
    } else if (middle_log1p(logarithm, operand, result)) {
        return result;
    }
    return direct(mpfr_log1p, operand);
}

// --- sin and cos --------------------------------------------------------------------------------

// Sines and cosines of both terms by 2^127, each off by 1/2; the products by 2^126 are off by 1/2
// and the fraction cut off, their sum by less than 4 units.
struct Circle {
    Terms terms;

    void fill(uint32_t group) {
        terms.resize();
        terms.group = group;
        Number x(working), sine(working), cosine(working);
        const auto set = [&](uint32_t significand, std::size_t index, std::vector<Wide>& sines,
                             std::vector<Wide>& cosines, std::vector<int>& sine_signs,
                             std::vector<int>& cosine_signs) {
            set_term(x.value, significand, group);
            mpfr_sin_cos(sine.value, cosine.value, x.value, MPFR_RNDN);
            sines[index] = fixed(sine.value, 127);
            cosines[index] = fixed(cosine.value, 127);
            sine_signs[index] = mpfr_signbit(sine.value) ? -1 : 1;
            cosine_signs[index] = mpfr_signbit(cosine.value) ? -1 : 1;
        };
        for (uint32_t head = 0; head < terms.high.size(); ++head) {
            set(0x800000U | head << low_bits, head, terms.high, terms.high_other, terms.high_sign,
                terms.high_other_sign);
        }
        for (uint32_t rest = 0; rest < terms.low.size(); ++rest) {
            set(rest, rest, terms.low, terms.low_other, terms.low_sign, terms.low_other_sign);
        }
    }

    SignedWide of(uint32_t operand, bool cosine) {
        if (terms.group != operand >> 23) fill(operand >> 23);
        const uint32_t head = (operand & 0x7fffffU) >> low_bits, rest = operand & low_mask;
        const auto product = [](Wide a, int a_sign, Wide b, int b_sign) {
            const auto magnitude = static_cast<SignedWide>(high_product(a, b));
            return a_sign == b_sign ? magnitude : -magnitude;
        };
        const Wide sin_a = terms.high[head], cos_a = terms.high_other[head];
        const Wide sin_b = terms.low[rest], cos_b = terms.low_other[rest];
        const int sin_a_sign = terms.high_sign[head], cos_a_sign = terms.high_other_sign[head];
        const int sin_b_sign = terms.low_sign[rest], cos_b_sign = terms.low_other_sign[rest];
        return cosine ? product(cos_a, cos_a_sign, cos_b, cos_b_sign) -
                            product(sin_a, sin_a_sign, sin_b, sin_b_sign)
                      : product(sin_a, sin_a_sign, cos_b, cos_b_sign) +
                            product(cos_a, cos_a_sign, sin_b, sin_b_sign);
    }
};

uint32_t rounded_circular(uint32_t operand, bool cosine) {
    static Circle circle;
    const uint32_t magnitude = operand & ~sign_bit;
    if (magnitude >= infinity) return nan_bits;
    // x^2 / 6 < 2^-25 and x^2 / 2 < 2^-25
    if (magnitude < power(-13)) return cosine ? one : operand;
    const SignedWide value = circle.of(operand, cosine);
    uint32_t result;
    if (!round_fixed(static_cast<Wide>(value < 0 ? -value : value), -126, 8, result)) {
        return direct(cosine ? mpfr_cos : mpfr_sin, operand);
    }
    return value < 0 ? result | sign_bit : result;
}

uint32_t rounded_sin(uint32_t operand) { return rounded_circular(operand, false); }
uint32_t rounded_cos(uint32_t operand) { return rounded_circular(operand, true); }

// --- tanh, erf, rsqrt ---------------------------------------------------------------------------

uint32_t rounded_tanh(uint32_t operand) {
    const uint32_t magnitude = operand & ~sign_bit;
    if (magnitude > infinity) return nan_bits;
    if (magnitude < power(-13)) return operand;  // x^2 / 3 < 2^-25
    if (float_of(magnitude) >= 9.5F) return (operand & sign_bit) | one;  // 2 e^-19 < 2^-25
    // (E - 1) / (E + 1), E = e^(2 |x|) = value 2^(k - 124). The numerator is at least 2^111, its error
    // relative to it 2^-107; the denominator loses 2^-59 of itself with 64 bits; the quotient, by
    // 2^64 and at least 2^50, the fraction.
    static Exponential exponential{mpfr_exp, {}};
    int k;
    const Wide value = exponential.product(magnitude + (1U << 23), k);
    const Wide unit = static_cast<Wide>(1) << (124 - k);
    const Wide quotient = (value - unit) / static_cast<uint64_t>((value + unit) >> 64);
    uint32_t result;
    if (!round_fixed(quotient, -64, (quotient >> 58) + 2, result)) {
        return direct(mpfr_tanh, operand);
    }
    return result | (operand & sign_bit);
}

// 2 / sqrt(pi) x (1 - z/3 + z^2/10 - z^3/42 + z^4/216), z = x^2 < 2^-12: alternating, the rest is
// below z^5 / 1320 < 2^-70. By 2^126 the series is off by less than 2^4, by 2^124 with the factor,
// then by 2^100 with the significand, by 2^55 + 2^25 in all.
bool small_erf(uint32_t operand, uint32_t& result) {
    static const Wide factor = [] {
        Number root(working);
        mpfr_const_pi(root.value, MPFR_RNDN);
        mpfr_rec_sqrt(root.value, root.value, MPFR_RNDN);
        return fixed(root.value, 127);  // 2 / sqrt(pi) by 2^126
    }();
    uint32_t significand;
    int exponent;
    normalised(operand & ~sign_bit, significand, exponent);
    const Wide square = static_cast<Wide>(significand) * significand;
    const int shift = 127 + 2 * exponent;
    const Wide z = shift >= 0 ? square << shift : shift > -64 ? square >> -shift : 0;  // by 2^127
    const auto times_z = [&](Wide a) { return high_product(z, a) * 2; };
    const Wide unit = static_cast<Wide>(1) << 126;
    Wide series = unit / 42 - times_z(unit / 216);
    series = unit / 10 - times_z(series);
    series = unit / 3 - times_z(series);
    series = unit - times_z(series);
    const Wide value = (high_product(factor, series) >> 24) * significand;
    const Wide slack = (static_cast<Wide>(1) << 55) + (1U << 27);
    if (!round_fixed(value, exponent - 100, slack, result)) return false;
    result |= operand & sign_bit;
    return true;
}

// For 2^-6 <= |x| < 4, x = a + b: seven terms of the Taylor series about a. The derivative of order
// n + 1 is 2 / sqrt(pi) e^(-a^2) (-1)^n H_n(a), with the Hermite polynomial, and by Cramer's inequality
// H_6 e^(-a^2) is below 234, so that the rest of the series is below 2^-4 b^7 <= 2^-81. By 2^120 the
// coefficients are off by 1/2, and each product with b < 2^-10 by 2.
class ErrorFunction {
public:
    bool of(uint32_t operand, uint32_t& result) {
        if (group_ != operand >> 23) fill(operand >> 23);
        const SignedWide* c = coefficients_[(operand & 0x7fffffU) >> low_bits];
        const int exponent = static_cast<int>(operand >> 23) - 150;
        const Wide b = static_cast<Wide>(operand & low_mask) << (127 + exponent);
        SignedWide sum = c[terms - 1];
        for (int n = terms - 2; n >= 0; --n) {
            const bool negative = sum < 0;
            const Wide product = high_product(static_cast<Wide>(negative ? -sum : sum), b) * 2;
            sum = c[n] + (negative ? -static_cast<SignedWide>(product)
                                   : static_cast<SignedWide>(product));
        }
        return round_fixed(static_cast<Wide>(sum), -120, (static_cast<Wide>(1) << 39) + 16, result);
    }

private:
    static constexpr int terms = 7;
    uint32_t group_ = ~0U;
    SignedWide coefficients_[1 << (23 - low_bits)][terms];

    void fill(uint32_t group) {
        group_ = group;
        Number a(working), factor(working), pi(working), h(working), before(working), next(working);
        const auto set = [](SignedWide& target, mpfr_srcptr value) {
            const auto magnitude = static_cast<SignedWide>(fixed(value, 120));
            target = mpfr_signbit(value) ? -magnitude : magnitude;
        };
        mpfr_const_pi(pi.value, MPFR_RNDN);
        mpfr_rec_sqrt(pi.value, pi.value, MPFR_RNDN);
        for (uint32_t head = 0; head < 1U << (23 - low_bits); ++head) {
            SignedWide* c = coefficients_[head];
            set_term(a.value, 0x800000U | head << low_bits, group);
            mpfr_erf(factor.value, a.value, MPFR_RNDN);
            set(c[0], factor.value);
            mpfr_sqr(factor.value, a.value, MPFR_RNDN);
            mpfr_neg(factor.value, factor.value, MPFR_RNDN);
            mpfr_exp(factor.value, factor.value, MPFR_RNDN);
            mpfr_mul(factor.value, factor.value, pi.value, MPFR_RNDN);
            mpfr_mul_ui(factor.value, factor.value, 2, MPFR_RNDN);
            // factor = 2 / sqrt(pi) e^(-a^2) (-1)^n / (n + 1)!; H_(n+1) = 2 a H_n - 2 n H_(n-1)
            mpfr_set_ui(h.value, 1, MPFR_RNDN);
            mpfr_set_ui(before.value, 0, MPFR_RNDN);
            for (int n = 0; n + 1 < terms; ++n) {
                mpfr_mul(next.value, factor.value, h.value, MPFR_RNDN);
                set(c[n + 1], next.value);
                mpfr_mul(next.value, a.value, h.value, MPFR_RNDN);
                mpfr_mul_si(before.value, before.value, -n, MPFR_RNDN);
                mpfr_add(next.value, next.value, before.value, MPFR_RNDN);
                mpfr_mul_ui(next.value, next.value, 2, MPFR_RNDN);
                mpfr_set(before.value, h.value, MPFR_RNDN);
                mpfr_set(h.value, next.value, MPFR_RNDN);
                mpfr_div_si(factor.value, factor.value, -(n + 2), MPFR_RNDN);
            }
        }
    }
};

uint32_t rounded_erf(uint32_t operand) {
    static ErrorFunction error_function;

    const uint32_t magnitude = operand & ~sign_bit;
    if (magnitude > infinity) return nan_bits;
    if (magnitude == 0) return operand;
    if (magnitude >= power(2)) return (operand & sign_bit) | one;  // 1 - erf 4 < 2^-25
    uint32_t result;
    if (magnitude < power(-6)) {
        if (small_erf(operand, result)) return result;
    } else if (error_function.of(magnitude, result)) {
        return result | (operand & sign_bit);
    }
    return direct(mpfr_erf, operand);
}

// 1 / sqrt(m 4^k) = 2^-k / sqrt(m), and no result leaves the normal numbers: so the results of m in
// [1, 4) are those of all.
uint32_t rounded_rsqrt(uint32_t operand) {
    static const std::vector<uint32_t> table = [] {
        std::vector<uint32_t> results(1U << 24);
        for (uint32_t k = 0; k < results.size(); ++k) results[k] = direct(reciprocal_root, one + k);
        return results;
    }();
    const float x = float_of(operand);
    if (!(x > 0) || operand == infinity) return direct(reciprocal_root, operand);
    uint32_t significand;
    int exponent;
    normalised(operand, significand, exponent);
    exponent += 23;
    const uint32_t odd = static_cast<uint32_t>(exponent & 1);
    const int half = (exponent - static_cast<int>(odd)) / 2;
    return table[odd << 23 | (significand & 0x7fffffU)] - (static_cast<uint32_t>(half) << 23);
}

// --- the program --------------------------------------------------------------------------------

struct Function {
    const char* name;
    Unary direct;
    uint32_t (*rounded)(uint32_t);
};

constexpr Function functions[] = {
    {"exp", mpfr_exp, rounded_exp},       {"exp2", mpfr_exp2, rounded_exp2},
    {"expm1", mpfr_expm1, rounded_expm1}, {"log", mpfr_log, rounded_log},
    {"log2", mpfr_log2, rounded_log2},    {"log1p", mpfr_log1p, rounded_log1p},
    {"sin", mpfr_sin, rounded_sin},       {"cos", mpfr_cos, rounded_cos},
    {"tanh", mpfr_tanh, rounded_tanh},    {"erf", mpfr_erf, rounded_erf},
    {"rsqrt", reciprocal_root, rounded_rsqrt},
};

int write_results(const Function& function, uint64_t first, uint64_t count) {
    std::vector<uint32_t> results(1U << 16);
    for (uint64_t done = 0; done < count; done += results.size()) {
        const auto length = static_cast<std::size_t>(std::min<uint64_t>(results.size(), count - done));
        for (std::size_t k = 0; k < length; ++k) {
            results[k] = function.rounded(static_cast<uint32_t>(first + done + k));
        }
        if (std::fwrite(results.data(), sizeof results[0], length, stdout) != length) return 1;
    }
    return 0;
}

// Both ends of each binade of either sign, and random operands within.
int check(const Function& function) {
    uint64_t state = 1, wrong = 0, count = 0;
    for (uint32_t group = 0; group < 512; ++group) {
        for (uint32_t k = 0; k < 100; ++k) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const auto random = static_cast<uint32_t>(state >> 41);
            const uint32_t fraction = k < 8 ? k : k < 16 ? 0x7fffffU - (k - 8) : random;
            const uint32_t operand = group << 23 | fraction;
            const uint32_t got = function.rounded(operand);
            const uint32_t wanted = direct(function.direct, operand);
            ++count;
            if (got == wanted) continue;
            if (wrong++ < 10) std::printf("%08x: %08x, MPFR %08x\n", operand, got, wanted);
        }
    }
    std::printf("%s: %llu operands, %llu wrong\n", function.name,
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(wrong));
    return wrong == 0 ? 0 : 1;
}

int write_powers() {
    std::vector<uint32_t> pairs(2U << 12), results(1U << 12);
    for (;;) {
        const std::size_t length =
            std::fread(pairs.data(), 2 * sizeof pairs[0], results.size(), stdin);
        if (length == 0) return 0;
        for (std::size_t k = 0; k < length; ++k) {
            results[k] = direct_pow(pairs[2 * k], pairs[2 * k + 1]);
        }
        if (std::fwrite(results.data(), sizeof results[0], length, stdout) != length) return 1;
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string name = count > 1 ? arguments[1] : "";
    if (name == "pow" && count == 2) return write_powers();
    for (const Function& function : functions) {
        if (name != function.name) continue;
        if (count == 3 && std::string(arguments[2]) == "check") return check(function);
        if (count == 4) {
            return write_results(function, std::strtoull(arguments[2], nullptr, 0),
                                 std::strtoull(arguments[3], nullptr, 0));
        }
    }
    std::fprintf(stderr, "usage: mpfr_sweep FUNCTION FIRST COUNT | FUNCTION check | pow\n");
    return 2;
}
