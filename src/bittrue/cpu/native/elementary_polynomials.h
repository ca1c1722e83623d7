// Written by tools/polynomials.py; do not edit. Lowest power first. Errors are bounds
// for these coefficients in exact arithmetic, and how is said there.
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

// Where the intervals of significands begin: see LogTable in the script.
constexpr std::uint64_t log_table_offset = 0x3fe6600000000000;

// Their factors.
constexpr double log_table_factors[16] = {0x1.661ec6a5122f9p+0, 0x1.571ed3c506b3ap+0, 0x1.49539e3b2d067p+0, 0x1.3c995a47babe7p+0, 0x1.30d190130d190p+0, 0x1.25e22708092f1p+0, 0x1.1bb4a4046ed29p+0, 0x1.12358e75d3033p+0, 0x1.0953f39010954p+0, 0x1.0000000000000p+0, 0x1.e573ac901e574p-1, 0x1.ca4b3055ee191p-1, 0x1.b2036406c80d9p-1, 0x1.9c2d14ee4a102p-1, 0x1.886e5f0abb04ap-1, 0x1.767dce434a9b1p-1};

// Minus the logarithms to base 2 of the factors.
constexpr double log_table_binary_logarithms[16] = {-0x1.efec61b011f85p-2, -0x1.b0b67f4f46812p-2, -0x1.7418acebbf18fp-2, -0x1.39de8e1559f6ep-2, -0x1.01d9bbcfa61d4p-2, -0x1.97c1cb13c7ec0p-3, -0x1.2f9e32d5bfdd1p-3, -0x1.960caf9abb7c1p-4, -0x1.a6f9c377dd31dp-5, -0x0.0p+0, 0x1.3aa2fdd27f1bfp-4, 0x1.476a9f983f74dp-3, 0x1.e840be74e6a4dp-3, 0x1.406463b1b0448p-2, 0x1.88e9c72e0b224p-2, 0x1.ce0a4923a587dp-2};

// Minus the natural logarithms of the factors.
constexpr double log_table_logarithms[16] = {-0x1.57bf753c8d1fbp-2, -0x1.2bef07cdc9355p-2, -0x1.01eae5626c691p-2, -0x1.b31d8575bce3bp-3, -0x1.6574ebe8c1339p-3, -0x1.1aa2b7e23f729p-3, -0x1.a4e7640b1bc38p-4, -0x1.1973bd1465561p-4, -0x1.252f32f8d1840p-5, -0x0.0p+0, 0x1.b42dd711971b9p-5, 0x1.c5e548f5bc743p-4, 0x1.526e5e3a1b438p-3, 0x1.bc286742d8cd4p-3, 0x1.1058bf9ae4ad4p-2, 0x1.404308686a7e4p-2};

// 2^(j / 8).
constexpr double eighth_powers[8] = {0x1.0000000000000p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0, 0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0};

// The first 384 bits of 2 / pi after the point, most significant first.
constexpr std::uint32_t two_over_pi[12] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c};

// e^r, relative; error below 2^-40.21 on [-0.346573921, 0.346573921].
// The steps of Horner's rule add at most 2.3 2^-53.
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
// The steps of Horner's rule add at most 2.3 2^-53.
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
// The steps of Horner's rule add at most 1.4 2^-53.
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

// e^r, relative; error below 2^-41.64 on [-0.0433217401, 0.0433217401].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double eighths_exp[] = {
    0x1.000000000050bp+0,
    0x1.fffffffffd62fp-1,
    0x1.ffffffd0bd235p-2,
    0x1.555555a1de433p-3,
    0x1.555d88470e7e8p-5,
    0x1.110c619e961f2p-7,
};

// 2^f, relative; error below 2^-41.64 on [-0.0625000596, 0.0625000596].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double eighths_exp2[] = {
    0x1.000000000050bp+0,
    0x1.62e42fefa1cf3p-1,
    0x1.ebfbdfcac27a5p-3,
    0x1.c6b08dd63dc2ap-5,
    0x1.3b324905e1fb4p-7,
    0x1.5d81ff272b23bp-10,
};

// (e^r - 1 - r) / r^2, relative to e^r - 1 after r + r^2 p(r); error below 2^-44.15 on [-0.0433217401, 0.0433217401].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double eighths_expm1[] = {
    0x1.ffffffffffb08p-2,
    0x1.5555554afd50ap-3,
    0x1.555555673f817p-5,
    0x1.11156a7365151p-7,
    0x1.6c16154745d3ap-10,
};

// 2 atanh(s) / s of s^2, relative; error below 2^-45.07 on [0, 0.0294373077].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double log[] = {
    0x1.fffffffffff10p+0,
    0x1.5555555672dfbp-1,
    0x1.99999628a3f86p-2,
    0x1.249439613211ep-2,
    0x1.c6208c8e618b1p-3,
    0x1.919817b303b5cp-3,
};

// 2 atanh(s) / (s ln 2) of s^2, relative; error below 2^-45.07 on [0, 0.0294373077].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double log2[] = {
    0x1.71547652b8251p+1,
    0x1.ec709dc53c327p-1,
    0x1.2776c2937f655p-1,
    0x1.a61a2e92c97eap-2,
    0x1.47955f968ba24p-2,
    0x1.21b05cd756d56p-2,
};

// 2 atanh(s) / (s ln 2) of s^2, relative; error below 2^-52.10 on [0, 0.0294373077].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double pow_log2[] = {
    0x1.71547652b82ffp+1,
    0x1.ec709dc39c9e6p-1,
    0x1.2776c516a93fcp-1,
    0x1.a617567723dc4p-2,
    0x1.484fac1fd6057p-2,
    0x1.0bb7bde57826ap-2,
    0x1.f184c6f9b31fcp-3,
};

// log2(1 + r) / r, relative; error below 2^-50.65 on [-0.0296296579, 0.0296296579].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double table_pow_log2[] = {
    0x1.71547652b82fbp+0,
    -0x1.71547652b82e5p-1,
    0x1.ec709dc417b05p-2,
    -0x1.715476537741cp-2,
    0x1.2776baae35748p-2,
    -0x1.ec708545e5d0dp-3,
    0x1.a6ab19ab53a87p-3,
    -0x1.71e82e99a6f39p-3,
};

// log2(1 + r) / r, relative; error below 2^-44.52 on [-0.0296296579, 0.0296296579].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double table_log2[] = {
    0x1.71547652b82fbp+0,
    -0x1.71547652d5937p-1,
    0x1.ec709dc40f30ep-2,
    -0x1.71546e26ce3ffp-2,
    0x1.2776bb12bb53ap-2,
    -0x1.ed0201faefc4dp-3,
    0x1.a6a8c66f6743bp-3,
};

// log(1 + r) / r, relative; error below 2^-44.52 on [-0.0296296579, 0.0296296579].
// The steps of Horner's rule add at most 1.2 2^-53.
constexpr double table_log[] = {
    0x1.ffffffffffffcp-1,
    -0x1.00000000145efp-1,
    0x1.55555555a23b7p-2,
    -0x1.fffff4abfdde3p-3,
    0x1.99998bc1e4c1ap-3,
    -0x1.55ba1c6bd0b18p-3,
    0x1.24f70fedb5139p-3,
};

// sin(r) / r of r^2, relative; error below 2^-43.84 on [0, 2.46740581].
// The steps of Horner's rule add at most 2.6 2^-53.
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
// The steps of Horner's rule add at most 7.0 2^-53.
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

// erf(x) / x of x - (2 i + 1) / 4 for x in [i / 2, (i + 1) / 2], i = 0 to 7 across;
// relative error below 2^-43.93.
// The steps of Horner's rule add at most 1.5 2^-53.
constexpr double erf_pieces[][8] = {
    {0x1.1af54e232d5f1p+0, 0x1.e57b7477c135cp-1, 0x1.7a0517ad564d4p-1, 0x1.20ac0448e30bfp-1, 0x1.c672068e64fc5p-2, 0x1.74537fc603cfcp-2, 0x1.3b135862188d2p-2, 0x1.11110f080c546p-2},
    {-0x1.73070406968b5p-3, -0x1.a0cdd9ab36fb9p-2, -0x1.9b12df9ca4294p-2, -0x1.2b07a60690420p-2, -0x1.8d734c1fef462p-3, -0x1.0e5896d12b754p-3, -0x1.83bf9f6f5523dp-4, -0x1.2345264580823p-4},
    {-0x1.57664ffe6bcc9p-2, -0x1.9a7d8dd6555adp-4, 0x1.5aa538fffd97bp-4, 0x1.d3549a3f37eccp-4, 0x1.4408c71d25209p-4, 0x1.846d86b723e48p-5, 0x1.dcc02f5d998ebp-6, 0x1.36ac76646ebf7p-6},
    {0x1.acf0ba1cc64f8p-4, 0x1.5acfc2c29e98ep-3, 0x1.0faa3bbc1e515p-4, -0x1.c0361dcf64308p-7, -0x1.a1de1a03e4183p-6, -0x1.0a0c0d49f4967p-6, -0x1.23692b42a7fdcp-7, -0x1.4b3ef8a0ae1d9p-8},
    {0x1.6cb169cf8293fp-4, -0x1.97842a9908ddap-6, -0x1.db07bd08311bep-5, -0x1.424946ff20b58p-6, 0x1.761051fd87213p-9, 0x1.3555237cba4bbp-8, 0x1.5b1a27b31e1acp-9, 0x1.605c898e35683p-10},
    {-0x1.265ca4be8dda3p-5, -0x1.35e00994bc7bap-5, 0x1.1b45e8ee59bc2p-7, 0x1.ec5dbb1f325cep-7, 0x1.c69aabac010dep-9, -0x1.767b86d33d920p-11, -0x1.7894b9e519871p-11, -0x1.72b7172976c97p-12},
    {-0x1.2d727d5adbfddp-6, 0x1.de9662397d235p-7, 0x1.4bc7f5ff0925fp-7, -0x1.c616c1fa25850p-9, -0x1.733cf062443c1p-9, -0x1.6796c09fbb02ap-12, 0x1.256f9898a7c3dp-13, 0x1.75df91c6a55e1p-14},
    {0x1.24b1e8b24cd05p-7, 0x1.4eaf3693c2825p-8, -0x1.54a9fe3d258d8p-8, -0x1.84d1e202ec10ap-10, 0x1.f7c314f4436f0p-11, 0x1.793144d685646p-12, 0x1.36260b6a63c72p-17, -0x1.4611891790b29p-16},
    {0x1.8ea11702777adp-9, -0x1.e9f8726fba2cep-9, -0x1.a28364b004787p-12, 0x1.4b636c0dc6cc5p-10, 0x1.22a27defaf9f6p-16, -0x1.563005af0b1c2p-13, -0x1.d559fa6f980abp-16, 0x1.295d4a83d8d8ap-19},
    {-0x1.be5c47450f2dcp-10, -0x1.46b6857fff6abp-12, 0x1.0693eff8f2be8p-10, -0x1.a1d21d291d4d2p-13, -0x1.69233bbb7fee5p-13, 0x1.0bf86b577dc4cp-15, 0x1.18b08a6a2fb25p-16, 0x1.2c6c9925d919ap-20},
    {-0x1.a5921a00bb5cbp-12, 0x1.4dd08e5d29b53p-11, -0x1.6d5c3177b064bp-13, -0x1.138663a84b546p-13, 0x1.23581db1fc2a4p-14, 0x1.1658cbd4062e9p-17, -0x1.8192bc5cf2399p-18, -0x1.0bb28798b4f87p-20},
};

}  // namespace bittrue::polynomials
