// Written by tools/polynomials.py; do not edit. Lowest power first. Errors are bounds
// for these coefficients in exact arithmetic; how, is said there.
#pragma once

#include <cstdint>

namespace bittrue::polynomials {

// ln 2, in 42 + 42 bits and the rest.
constexpr double ln2_parts[3] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76000p-45, 0x1.cc01f97b57a08p-87};

// pi, in 34 + 34 bits and the rest.
constexpr double pi_parts[3] = {0x1.921fb54400000p+1, 0x1.0b4611a600000p-33, 0x1.3198a2e037073p-68};

// ln 2, nearest double and rest.
constexpr double ln2_pair[2] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 1 / ln 2, nearest double and rest.
constexpr double inverse_ln2_pair[2] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// pi / 2, nearest double and rest.
constexpr double half_pi_pair[2] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// 1 / pi.
constexpr double inverse_pi = 0x1.45f306dc9c883p-2;

// 2 / sqrt(pi), nearest double and rest.
constexpr double two_over_root_pi_pair[2] = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

// The first 384 bits of 2 / pi after the point, most significant first.
constexpr std::uint32_t two_over_pi[12] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c};

// e^r, relative; error below 2^-40.21 on [-0.346573921, 0.346573921].
constexpr double exp[] = {
    0x1.ffffffffff7a4p-1,
    0x1.ffffffffd562bp-1,
    0x1.0000000087eeep-1,
    0x1.555555a08266ep-3,
    0x1.555554051bc81p-5,
    0x1.111082ae98910p-7,
    0x1.6c18b32a196d9p-10,
    0x1.a1a81ca28f6fbp-13,
    0x1.9edaa38272e7cp-16,
};

// 2^f, relative; error below 2^-40.21 on [-0.500000477, 0.500000477].
constexpr double exp2[] = {
    0x1.ffffffffff7a4p-1,
    0x1.62e42fef86153p-1,
    0x1.ebfbdff93195cp-3,
    0x1.c6b08dd46e603p-5,
    0x1.3b2ab5c531b78p-7,
    0x1.5d87483742d1fp-10,
    0x1.430acc96c1550p-13,
    0x1.00dad2e867394p-16,
    0x1.61afdabc059a3p-20,
};

// (e^r - 1 - r) / r^2, relative to e^r - 1 after r + r^2 p(r); error below 2^-43.50 on [-0.346573921, 0.346573921].
constexpr double expm1[] = {
    0x1.fffffffff7c1dp-2,
    0x1.55555555671f0p-3,
    0x1.555555731e92ap-5,
    0x1.111110e1435f0p-7,
    0x1.6c164fdaf247dp-10,
    0x1.a01a7d2b80e39p-13,
    0x1.a15838ef996f2p-16,
    0x1.71e9423625870p-19,
};

// 2 atanh(s) / s of s^2, relative; error below 2^-45.07 on [0, 0.0294373077].
constexpr double log[] = {
    0x1.fffffffffff10p+0,
    0x1.5555555672dfbp-1,
    0x1.99999628a3f86p-2,
    0x1.249439613211ep-2,
    0x1.c6208c8e618b1p-3,
    0x1.919817b303b5cp-3,
};

// 2 atanh(s) / (s ln 2) of s^2, relative; error below 2^-45.07 on [0, 0.0294373077].
constexpr double log2[] = {
    0x1.71547652b8251p+1,
    0x1.ec709dc53c327p-1,
    0x1.2776c2937f655p-1,
    0x1.a61a2e92c97eap-2,
    0x1.47955f968ba24p-2,
    0x1.21b05cd756d56p-2,
};

// 2 atanh(s) / (s ln 2) of s^2, relative; error below 2^-52.10 on [0, 0.0294373077].
constexpr double pow_log2[] = {
    0x1.71547652b82ffp+1,
    0x1.ec709dc39c9e6p-1,
    0x1.2776c516a93fcp-1,
    0x1.a617567723dc4p-2,
    0x1.484fac1fd6057p-2,
    0x1.0bb7bde57826ap-2,
    0x1.f184c6f9b31fcp-3,
};

// sin(r) / r of r^2, relative; error below 2^-43.84 on [0, 2.46740581].
constexpr double sin[] = {
    0x1.ffffffffffdcep-1,
    -0x1.5555555540b8ap-3,
    0x1.111111090ed7dp-7,
    -0x1.a019fce968341p-13,
    0x1.71dce5aa04781p-19,
    -0x1.ae00fcfbffbcfp-26,
    0x1.52ace1d5ef497p-33,
};

// erf(x) / x of x^2 / 8 - 1, relative; error below 2^-42.60 on [-1, 0.937988281].
constexpr double erf[] = {
    0x1.6a040781a4813p-2,
    -0x1.69a0ccda47df8p-3,
    0x1.0dabaf065023ap-3,
    -0x1.b92e95ba4a8aap-4,
    0x1.717efc605218ep-4,
    -0x1.3215d9811e245p-4,
    0x1.ea97f4f511401p-5,
    -0x1.76e8507aaa0f6p-5,
    0x1.0ed507902c77ap-5,
    -0x1.703616ce918e8p-6,
    0x1.d638738f3cc1ap-7,
    -0x1.19f89e5fd1332p-7,
    0x1.3dfd612aab92ap-8,
    -0x1.5258fffca4ccap-9,
    0x1.53b6160047d08p-10,
    -0x1.3e5d3ed6185dep-11,
    0x1.1bb5959f268a0p-12,
    -0x1.04e32cf8b0043p-13,
    0x1.b9db9f1ec5dd9p-15,
    -0x1.cab1698041668p-17,
    0x1.0e53dc1c3941fp-18,
    -0x1.2515c3f0e14e0p-18,
    0x1.c9b398e96c492p-20,
};

}  // namespace bittrue::polynomials
