// Double-double evaluation, error analysis in units of u = 2^-53.
//
// Relative errors of the steps, from Joldes, Muller and Popescu (2017): sum of two pairs 3 u^2 + 13
// u^3, pair plus double 2 u^2, product of two pairs 5 u^2, pair times double 2 u^2, quotient 15 u^2
// + 56 u^3. Every value here is far from overflow and underflow, so that the error terms of sums
// and products are doubles themselves.
//
// Functions of one argument: the bounds beside each are below 2^-85 relative. That is enough
// wherever the exact value stays that far from a rounding boundary, and the sweep shows that it
// does on every input that can reach this file: each is compared with MPFR. `rsqrt` and `pow` need
// no sweep: see there.
#include "elementary_accurate.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "elementary_polynomials.h"
#include "elementary_ziv.h"

namespace bittrue::accurate {
namespace {

struct Pair {
    double head, tail;
};

// A pair times a power of two.
struct Scaled {
    Pair value;
    int exponent;
};

// --- sums, products, quotients ------------------------------------------------------------------

constexpr Pair quick_sum(double a, double b) {  // |a| >= |b| or a = 0
    const double s = a + b;
    return {s, b - (s - a)};
}

constexpr Pair exact_sum(double a, double b) {
    const double s = a + b;
    const double t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// Dekker's product: without FMA, whose emulation on a machine that has none is a slow call.
constexpr Pair exact_product(double a, double b) {
    const double splitter = 134217729;  // 2^27 + 1
    const double p = a * b;
    const double ta = splitter * a, tb = splitter * b;
    const double ah = ta - (ta - a), bh = tb - (tb - b);
    const double al = a - ah, bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

constexpr Pair add(Pair a, Pair b) {
    const Pair s = exact_sum(a.head, b.head);
    const Pair t = exact_sum(a.tail, b.tail);
    const Pair v = quick_sum(s.head, s.tail + t.head);
    return quick_sum(v.head, t.tail + v.tail);
}

constexpr Pair add(Pair a, double b) {
    const Pair s = exact_sum(a.head, b);
    return quick_sum(s.head, a.tail + s.tail);
}

constexpr Pair negated(Pair a) { return {-a.head, -a.tail}; }

constexpr Pair multiply(Pair a, Pair b) {
    const Pair p = exact_product(a.head, b.head);
    return quick_sum(p.head, p.tail + (a.head * b.tail + a.tail * b.head + a.tail * b.tail));
}

constexpr Pair multiply(Pair a, double b) {
    const Pair p = exact_product(a.head, b);
    return quick_sum(p.head, p.tail + a.tail * b);
}

constexpr Pair divide(Pair a, Pair b) {
    const double q = a.head / b.head;
    const Pair rest = add(a, negated(multiply(b, q)));
    const double second = rest.head / b.head;
    const Pair last = add(rest, negated(multiply(b, second)));
    return add(quick_sum(q, second), last.head / b.head);
}

constexpr Pair pair_of(const double (&parts)[2]) { return {parts[0], parts[1]}; }

constexpr Pair ln2 = pair_of(polynomials::ln2_pair);
constexpr Pair inverse_ln2 = pair_of(polynomials::inverse_ln2_pair);
constexpr Pair half_pi = pair_of(polynomials::half_pi_pair);
constexpr Pair two_over_root_pi = pair_of(polynomials::two_over_root_pi_pair);

// --- rounding -----------------------------------------------------------------------------------

// One rounding to nearest even: first to 53 bits with the last one odd where anything is lost, so
// that no tie arises or vanishes, then to binary32 by the hardware, subnormals included.
float rounded(Scaled scaled) {
    const Pair v = quick_sum(scaled.value.head, scaled.value.tail);
    std::uint64_t bits;
    std::memcpy(&bits, &v.head, sizeof bits);
    if (v.tail != 0 && (bits & 1) == 0) bits += (v.tail > 0) == (v.head > 0) ? 1 : -1;
    double odd;
    std::memcpy(&odd, &bits, sizeof odd);
    return static_cast<float>(std::ldexp(odd, scaled.exponent));
}

double nearest(Scaled scaled) {
    return std::ldexp(scaled.value.head + scaled.value.tail, scaled.exponent);
}

// --- exponentials -------------------------------------------------------------------------------

constexpr int factorials = 32;

struct Reciprocals {
    Pair of[factorials];
};

constexpr Reciprocals reciprocal_factorials() {
    Reciprocals table{};
    table.of[0] = {1, 0};
    for (int n = 1; n < factorials; ++n) {
        table.of[n] = divide(table.of[n - 1], {static_cast<double>(n), 0});
    }
    return table;
}

constexpr Reciprocals inverse_factorial = reciprocal_factorials();

// e^r - 1 for |r| < 0.45. Taylor to the 11th power of q = r / 64: the rest is below 2^-110 of it.
// Six times q(2 + q): each adds 8 u^2 and passes the error on with a factor whose product is below
// 1.3. With 20 u^2 of the series: below 2^-98 relative, also for tiny r.
Pair expm1_small(Pair r) {
    const Pair q = {r.head / 64, r.tail / 64};
    Pair series = inverse_factorial.of[11];
    for (int n = 10; n >= 1; --n) series = add(multiply(series, q), inverse_factorial.of[n]);
    Pair value = multiply(series, q);
    for (int doubling = 0; doubling < 6; ++doubling) value = multiply(value, add(value, 2.0));
    return value;
}

// t = k ln 2 + r with |r| < 0.36 and |k| < 2^11, so that k times a part of ln 2 is exact.
int reduce_ln2(Pair t, Pair& r) {
    const double k = std::nearbyint(t.head * inverse_ln2.head);
    r = t;
    for (const double part : polynomials::ln2_parts) r = add(r, -k * part);
    return static_cast<int>(k);
}

// e^t, |t| < 120: the reduction leaves an error of 6 u^2 |r| and 2^-128, so 2^-97 in all.
Scaled exponential(Pair t) {
    Pair r{};
    const int k = reduce_ln2(t, r);
    return {add(expm1_small(r), 1.0), k};
}

// e^t - 1. s (e^r - 1) + (s - 1) with s = 2^k cancels by less than a factor 3: 2^-95.
Pair expm1_pair(Pair t) {
    Pair r{};
    const int k = reduce_ln2(t, r);
    const Pair e = expm1_small(r);
    if (k == 0) return e;
    const double s = std::ldexp(1.0, k);
    return add(Pair{e.head * s, e.tail * s}, exact_sum(s, -1.0));
}

// Beyond these the result is 0, -1, 1 or infinity, as it is at the end itself; the fast path stops
// at the same places.
double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

Scaled exp_scaled(float x) { return exponential({clamped(x, -104.5, 89.5), 0}); }

Scaled exp2_scaled(float x) {
    const double t = clamped(x, -151.5, 128.5);
    const double k = std::nearbyint(t);
    return {add(expm1_small(multiply(ln2, t - k)), 1.0), static_cast<int>(k)};
}

Scaled expm1_scaled(float x) { return {expm1_pair({clamped(x, -20, 89.5), 0}), 0}; }

// Quotient of values known to 2^-95 and 2^-96: 2^-94.
Scaled tanh_scaled(float x) {
    const Pair e = expm1_pair({2 * clamped(x, -10, 10), 0});
    return {divide(e, add(e, 2.0)), 0};
}

// --- logarithms ---------------------------------------------------------------------------------

// log(1 + v) for -0.3 < v < 0.42. y0 is right to 2^-44 relative. With E = e^y0 - 1 the rest is
// log(1 + w), w = (v - E) / (1 + E): |w| < 2^-43 |v|, so w - w^2 / 2 leaves 2^-129 v^2. The error
// of E, 2^-98 |E|, dominates that of v - E: 2^-96 relative.
Pair log1p_small(Pair v) {
    const double s = v.head / (2 + v.head);
    const double z = s * s;
    double p = 0;
    for (int n = 5; n >= 0; --n) p = p * z + polynomials::log[n];
    const double y0 = s * p;
    const Pair e = expm1_small({y0, 0});
    const Pair w = divide(add(v, negated(e)), add(e, 1.0));
    return add(add(w, -0.5 * w.head * w.head), y0);
}

// a = 2^k (1 + v) with 1 + v between sqrt(1/2) and sqrt(2), exactly.
int reduce_power(Pair a, Pair& v) {
    int k;
    const double fraction = std::frexp(a.head, &k);  // in [1/2, 1)
    if (fraction < 0.70710678118654752) --k;
    v = add(Pair{std::ldexp(a.head, -k) - 1, 0}, std::ldexp(a.tail, -k));
    return k;
}

// k ln 2 + log(1 + v) cancels by less than a factor 3: 2^-94.
Pair log_pair(Pair a) {
    Pair v{};
    const int k = reduce_power(a, v);
    const Pair l = log1p_small(v);
    return k == 0 ? l : add(multiply(ln2, static_cast<double>(k)), l);
}

Scaled log_scaled(float x) { return {log_pair({static_cast<double>(x), 0}), 0}; }

Scaled log2_scaled(float x) {
    Pair v{};
    const int k = reduce_power({static_cast<double>(x), 0}, v);
    return {add(multiply(log1p_small(v), inverse_ln2), static_cast<double>(k)), 0};
}

Scaled log1p_scaled(float x) {
    const double v = x;
    if (v > -0.29 && v < 0.41) return {log1p_small({v, 0}), 0};
    return {log_pair(exact_sum(1, v)), 0};
}

// --- sine and cosine ----------------------------------------------------------------------------

// x = n pi/2 + r. Payne and Hanek: |x| = m 2^e with m below 2^24. Bits of 2/pi whose product with
// 2^e is a multiple of 4 do not matter; of the others 160 are taken, so m times them leaves x 2/pi
// modulo 4 with an error below 2^-132. No binary32 other than 0 comes nearer than 2^-40 to a
// multiple of pi/2 (the sweep would show it), so the fraction is right to 2^-92, r to 2^-91.
int quarter_turns(float x, Pair& r) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude <= 0x3f490fda) {  // the largest below pi/4
        r = {static_cast<double>(x), 0};
        return 0;
    }
    const std::uint64_t m = (magnitude & 0x7fffff) | 0x800000;
    const int e = static_cast<int>(magnitude >> 23) - 150;  // -24 to 104
    const int skipped = e > 2 ? e - 2 : 0;
    const int word = skipped / 32, shift = skipped % 32;
    // words[0] is the most significant of 192 bits with 160 + skipped - e of them after the point.
    std::uint32_t words[6];
    std::uint64_t carry = 0;
    for (int i = 4; i >= 0; --i) {
        const std::uint64_t two = std::uint64_t{polynomials::two_over_pi[word + i]} << 32 |
                                  polynomials::two_over_pi[word + i + 1];
        const std::uint64_t taken = two << shift >> 32;
        const std::uint64_t product = m * taken + carry;
        words[i + 1] = static_cast<std::uint32_t>(product);
        carry = product >> 32;
    }
    words[0] = static_cast<std::uint32_t>(carry);
    // Two bits before the point, 190 after it: what leaves at the top is a multiple of 4.
    const int left = 30 - skipped + e;  // 6 to 32
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t two =
            std::uint64_t{words[i]} << 32 | (i + 1 < 6 ? words[i + 1] : std::uint32_t{0});
        words[i] = static_cast<std::uint32_t>(left == 32 ? two : two << left >> 32);
    }
    unsigned n = words[0] >> 30;
    const bool above = (words[0] >> 29 & 1) != 0;  // the fraction is 1/2 or more
    words[0] &= 0x3fffffff;
    if (above) {
        ++n;
        std::uint64_t borrow = 0;  // words = 2^190 - words
        for (int i = 5; i >= 0; --i) {
            const std::uint64_t top = i == 0 ? 0x40000000 : 0;
            const std::uint64_t difference = top - words[i] - borrow;
            words[i] = static_cast<std::uint32_t>(difference);
            borrow = difference >> 63;
        }
    }
    Pair fraction = {0, 0};
    double weight = 0x1p-30;
    for (const std::uint32_t part : words) {
        fraction = add(fraction, part * weight);
        weight *= 0x1p-32;
    }
    r = multiply(fraction, half_pi);
    if (above != ((bits >> 31) != 0)) r = negated(r);
    return static_cast<int>((bits >> 31 ? 0U - n : n) & 3);
}

// Series of |r| <= pi/4 to the 29th power: the rest is below 2^-115, errors of the leading steps
// 20 u^2, and 2^-91 of r weighs less than itself: 2^-90 relative.
Pair sine_series(Pair r) {
    const Pair z = negated(multiply(r, r));
    Pair series = inverse_factorial.of[29];
    for (int n = 27; n >= 1; n -= 2) series = add(multiply(series, z), inverse_factorial.of[n]);
    return multiply(series, r);
}

Pair cosine_series(Pair r) {
    const Pair z = negated(multiply(r, r));
    Pair series = inverse_factorial.of[28];
    for (int n = 26; n >= 0; n -= 2) series = add(multiply(series, z), inverse_factorial.of[n]);
    return series;
}

Scaled turned(float x, int turns) {
    Pair r{};
    const int n = (quarter_turns(x, r) + turns) & 3;
    const Pair value = n & 1 ? cosine_series(r) : sine_series(r);
    return {n & 2 ? negated(value) : value, 0};
}

Scaled sin_scaled(float x) { return turned(x, 0); }
Scaled cos_scaled(float x) { return turned(x, 1); }

// --- erf ----------------------------------------------------------------------------------------

constexpr int erf_terms = 128;

struct ErfTerms {
    Pair of[erf_terms];
};

// 2^n / (1 3 5 ... (2n + 1))
constexpr ErfTerms make_erf_terms() {
    ErfTerms table{};
    table.of[0] = {1, 0};
    for (int n = 1; n < erf_terms; ++n) {
        table.of[n] = divide(multiply(table.of[n - 1], 2.0), {2.0 * n + 1, 0});
    }
    return table;
}

constexpr ErfTerms erf_term = make_erf_terms();

// erf(x) = 2 / sqrt(pi) x e^-z sum of 2^n z^n / (1 3 ... (2n + 1)), z = x^2: all terms positive, so
// nothing cancels; z is exact in a double. The table is right to 20 n u^2 and Horner's steps add 8
// u^2 each: 2^-93 with at most 110 terms. What is left out is below 2^-104 of the sum.
Scaled erf_scaled(float x) {
    const double a = clamped(x, -3.9375, 3.9375);
    const double z = a * a;
    int terms = 0;
    for (double term = 1; term > 0x1p-106 && terms < erf_terms - 1; ++terms) {
        term *= 2 * z / (2 * terms + 3);
    }
    Pair series = erf_term.of[terms];
    for (int n = terms - 1; n >= 0; --n) series = add(multiply(series, z), erf_term.of[n]);
    const Scaled e = exponential({-z, 0});
    return {multiply(multiply(multiply(series, two_over_root_pi), a), e.value), e.exponent};
}

// --- rsqrt --------------------------------------------------------------------------------------

// One Newton step from y0, right to 2^-51: below 2^-100 relative. The square of a rounding boundary
// has at most 50 bits, x has 24, so their product is 1 or differs from it by 2^-74 or more; it is
// 1 only where x is a power of 4, whose result is exact. So no boundary is nearer than 2^-76.
Scaled rsqrt_scaled(float x) {
    const double a = x;
    const double y0 = 1 / std::sqrt(a);
    const Pair rest = add(negated(multiply(exact_product(y0, y0), a)), 1.0);
    return {quick_sum(y0, 0.5 * y0 * (rest.head + 0.75 * rest.head * rest.head)), 0};
}

// --- pow ----------------------------------------------------------------------------------------

std::atomic<unsigned long long> exact_count{0}, ziv_count{0};

// y log x: the logarithm to 2^-94, the product by 2 u^2, |t| < 106: t to 2^-87, e^t to 2^-86.
Scaled pow_scaled(float x, float y) {
    const Pair l = log_pair({std::fabs(static_cast<double>(x)), 0});
    const double estimate = l.head * y;
    // Clamped like the fast path, which counts in binary logarithms.
    if (estimate > 128.5 * ln2.head) return exponential(multiply(ln2, 128.5));
    if (estimate < -151.5 * ln2.head) return exponential(multiply(ln2, -151.5));
    return exponential(multiply(l, static_cast<double>(y)));
}

}  // namespace

#define BITTRUE_ACCURATE(function)                                       \
    float function(float x) { return rounded(function##_scaled(x)); }    \
    float function##_and_value(float x, double& value) {                 \
        const Scaled found = function##_scaled(x);                       \
        value = nearest(found);                                          \
        return rounded(found);                                           \
    }
BITTRUE_ACCURATE(exp)
BITTRUE_ACCURATE(exp2)
BITTRUE_ACCURATE(expm1)
BITTRUE_ACCURATE(log)
BITTRUE_ACCURATE(log2)
BITTRUE_ACCURATE(log1p)
BITTRUE_ACCURATE(sin)
BITTRUE_ACCURATE(cos)
BITTRUE_ACCURATE(tanh)
BITTRUE_ACCURATE(erf)
BITTRUE_ACCURATE(rsqrt)
#undef BITTRUE_ACCURATE

// Both ends of an interval of 2^-80 around the pair round alike almost always. If not, the value
// may be a boundary itself; where it is not, precision grows until both ends agree.
float pow(float x, float y) {
    const Scaled found = pow_scaled(x, y);
    const double slack = found.value.head * 0x1p-80;
    const float low = rounded({add(found.value, -slack), found.exponent});
    const float high = rounded({add(found.value, slack), found.exponent});
    if (low == high) return low;
    float exact;
    if (ziv::exact_power(std::fabs(x), y, exact)) {
        exact_count.fetch_add(1, std::memory_order_relaxed);
        return exact;
    }
    ziv_count.fetch_add(1, std::memory_order_relaxed);
    return ziv::power(std::fabs(x), y);
}

double pow_value(float x, float y) { return nearest(pow_scaled(x, y)); }

PowCounts pow_counts() {
    return {exact_count.load(std::memory_order_relaxed), ziv_count.load(std::memory_order_relaxed)};
}

}  // namespace bittrue::accurate
