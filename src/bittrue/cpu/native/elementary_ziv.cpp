// Fixed-point arithmetic of any length on vectors of 32-bit words, least significant first. Speed
// does not matter: random operands come here less than once in 2^50.
#include "elementary_ziv.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace bittrue::ziv {
namespace {

using Words = std::vector<std::uint32_t>;

// A number 2^exponent times an odd integer, or times any integer where it says so.
struct Parts {
    std::uint32_t significand;
    int exponent;
};

Parts split(float positive) {
    std::uint32_t bits;
    std::memcpy(&bits, &positive, sizeof bits);
    const int field = static_cast<int>(bits >> 23 & 0xff);
    const std::uint32_t fraction = bits & 0x7fffff;
    return field == 0 ? Parts{fraction, -149} : Parts{fraction | 0x800000, field - 150};
}

Parts odd(Parts parts) {
    while ((parts.significand & 1) == 0) {
        parts.significand >>= 1;
        ++parts.exponent;
    }
    return parts;
}

// --- words --------------------------------------------------------------------------------------

bool is_zero(const Words& a) {
    for (const std::uint32_t word : a) {
        if (word != 0) return false;
    }
    return true;
}

bool less(const Words& a, const Words& b) {
    for (std::size_t i = a.size(); i-- > 0;) {
        if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
}

void add(Words& a, const Words& b) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        carry += std::uint64_t{a[i]} + b[i];
        a[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
}

void subtract(Words& a, const Words& b) {  // a >= b
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::uint64_t difference = std::uint64_t{a[i]} - b[i] - borrow;
        a[i] = static_cast<std::uint32_t>(difference);
        borrow = difference >> 63;
    }
}

void multiply(Words& a, std::uint32_t b) {
    std::uint64_t carry = 0;
    for (std::uint32_t& word : a) {
        carry += std::uint64_t{word} * b;
        word = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
}

void divide(Words& a, std::uint32_t b) {
    std::uint64_t rest = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
        rest = rest << 32 | a[i];
        a[i] = static_cast<std::uint32_t>(rest / b);
        rest %= b;
    }
}

// a b without the lowest `dropped` words, truncated.
Words product(const Words& a, const Words& b, std::size_t dropped) {
    Words full(a.size() + b.size(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::uint64_t carry = 0;
        for (std::size_t k = 0; k < b.size(); ++k) {
            carry += std::uint64_t{a[i]} * b[k] + full[i + k];
            full[i + k] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        full[i + b.size()] = static_cast<std::uint32_t>(carry);
    }
    return Words(full.begin() + static_cast<std::ptrdiff_t>(dropped),
                 full.begin() + static_cast<std::ptrdiff_t>(dropped + a.size()));
}

void shift_right(Words& a, unsigned bits) {
    const std::size_t words = bits / 32;
    const unsigned rest = bits % 32;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::uint64_t low = i + words < a.size() ? a[i + words] : 0;
        const std::uint64_t high = i + words + 1 < a.size() ? a[i + words + 1] : 0;
        a[i] = static_cast<std::uint32_t>((high << 32 | low) >> rest);
    }
}

void shift_left(Words& a, unsigned bits) {
    for (; bits >= 16; bits -= 16) multiply(a, 1U << 16);
    multiply(a, 1U << bits);
}

// --- one attempt with a given number of fraction words --------------------------------------------

constexpr std::size_t whole_words = 3;

// 2 atanh(numerator / denominator), a quotient of at most 1/3. Each of the terms, fewer than
// 2^12 up to a thousand words, is too small by at most 3 units: below 2^14 units in all.
Words twice_atanh(std::uint32_t numerator, std::uint32_t denominator, std::size_t fraction) {
    Words power(fraction + whole_words, 0);
    power[fraction] = numerator;
    divide(power, denominator);
    const Words square = product(power, power, fraction);
    Words sum = power;
    for (std::uint32_t k = 3; !is_zero(power); k += 2) {
        power = product(power, square, fraction);
        Words term = power;
        divide(term, k);
        add(sum, term);
    }
    multiply(sum, 2);
    return sum;
}

// Rounds 2^k a, 1 <= a < 4, to binary32.
float rounded(const Words& a, int k, std::size_t fraction) {
    if (a[fraction] >= 2) ++k;
    const int shift_of_leading_bit = a[fraction] >= 2 ? 1 : 0;
    if (k > 127) return static_cast<float>(HUGE_VAL);
    // Bits kept after the leading one: 23, fewer for subnormals, -1 below the least of them.
    const int kept = k >= -126 ? 23 : k + 149;
    if (kept < -1) return 0;
    Words integer = a;
    const int dropped = static_cast<int>(fraction) * 32 + shift_of_leading_bit - kept;
    shift_right(integer, static_cast<unsigned>(dropped - 1));
    const bool half = (integer[0] & 1) != 0;
    shift_right(integer, 1);
    Words back = integer;
    shift_left(back, 1);
    back[0] |= half ? 1 : 0;
    shift_left(back, static_cast<unsigned>(dropped - 1));
    const bool more = less(back, a);
    std::uint32_t value = integer[0];
    if (half && (more || (value & 1) != 0)) ++value;
    return static_cast<float>(std::ldexp(static_cast<double>(value), k - kept));
}

// Whether `fraction` words decide; if so writes the result.
bool attempt(float x, float y, std::size_t fraction, float& result) {
    const Parts base = split(x);
    int exponent = base.exponent + 23;
    std::uint32_t significand = base.significand;
    while (significand < 0x800000) {
        significand <<= 1;
        --exponent;
    }
    // log x = exponent ln 2 + log(significand / 2^23), below 2^7 (2^14 + 1) + 2^14 < 2^22 units off.
    const Words ln2 = twice_atanh(1, 3, fraction);
    Words log = twice_atanh(significand - 0x800000, significand + 0x800000, fraction);
    Words scaled = ln2;
    multiply(scaled, static_cast<std::uint32_t>(exponent < 0 ? -exponent : exponent));
    bool negative = false;
    if (exponent >= 0) {
        add(log, scaled);
    } else if (less(log, scaled)) {
        negative = true;
        subtract(scaled, log);
        log = scaled;
    } else {
        subtract(log, scaled);
    }
    // t = y log x. |t| < 128 and |log x| > 2^-25, so |y| < 2^32: below 2^55 units off.
    const Parts factor = split(std::fabs(y));
    multiply(log, factor.significand);
    if (factor.exponent >= 0) {
        shift_left(log, static_cast<unsigned>(factor.exponent));
    } else {
        shift_right(log, static_cast<unsigned>(-factor.exponent));
    }
    if (y < 0) negative = !negative;
    // t = k ln 2 + r, 0 <= r, below 2^56 units off.
    int k = 0;
    Words r = log;
    if (negative) {
        r.assign(r.size(), 0);
        while (less(r, log)) {
            add(r, ln2);
            --k;
        }
        subtract(r, log);
    } else {
        while (!less(r, ln2)) {
            subtract(r, ln2);
            ++k;
        }
    }
    // e^r < 2.01: below 2^58 units off, the truncation of its terms included.
    Words value(fraction + whole_words, 0);
    value[fraction] = 1;
    Words term = value;
    for (std::uint32_t n = 1; !is_zero(term); ++n) {
        term = product(term, r, fraction);
        divide(term, n);
        add(value, term);
    }
    Words slack(fraction + whole_words, 0);
    slack[2] = 1;  // 2^64 units
    Words low = value;
    subtract(low, slack);
    add(value, slack);
    if (low[fraction] == 0) return false;  // the interval holds 1
    const float first = rounded(low, k, fraction), second = rounded(value, k, fraction);
    result = first;
    return first == second;
}

}  // namespace

// Let x = m 2^e with m odd. For m = 1, x^y = 2^(e y), rational only where e y is an integer. For m
// >= 3 a result of at most 25 significant bits needs y > 0 and y = Y / 2^k in lowest terms with m
// = s^(2^k): then s^Y < 2^25 bounds Y by 15, and s^(2^k) < 2^24 bounds k by 3.
bool exact_power(float x, float y, float& result) {
    const Parts base = odd(split(x));
    if (base.significand == 1) {
        const double exponent = static_cast<double>(base.exponent) * y;  // exact: 8 + 24 bits
        if (exponent != std::floor(exponent)) return false;
        const double clamped = exponent < -160 ? -160 : exponent > 130 ? 130 : exponent;
        result = static_cast<float>(std::ldexp(1.0, static_cast<int>(clamped)));
        return true;
    }
    if (!(y > 0 && y <= 15)) return false;
    const Parts factor = odd(split(y));
    if (factor.exponent < -3) return false;
    int roots = factor.exponent < 0 ? -factor.exponent : 0;
    const unsigned power = factor.significand << (factor.exponent > 0 ? factor.exponent : 0);
    if (power > 15) return false;
    std::uint32_t s = base.significand;
    int exponent = base.exponent;
    for (; roots > 0; --roots) {
        const auto root = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(s)) + 0.5);
        if (root * root != s || exponent % 2 != 0) return false;
        s = root;
        exponent /= 2;
    }
    std::uint64_t value = 1;
    for (unsigned i = 0; i < power; ++i) {
        value *= s;
        if (value >= std::uint64_t{1} << 25) return false;
    }
    result = static_cast<float>(std::ldexp(static_cast<double>(value), exponent * static_cast<int>(power)));
    return true;
}

float power(float x, float y) {
    float result = 0;
    for (std::size_t fraction = 8; !attempt(x, y, fraction, result);) fraction *= 2;
    return result;
}

}  // namespace bittrue::ziv
