// Elementary functions and activations of binary32, by instruction level.
//
// The primitives are correctly rounded to nearest even (elementary.cpp states the error bound of
// each, elementary_accurate.h is their slow path); the activations are the published sequences of
// rounded primitives. Every NaN that is written is 7fc00000. Each pointer names n contiguous
// elements; `out` may be an operand itself but must not overlap one in part. The caller holds a
// FloatEnvironmentGuard.
#pragma once

#include <cstddef>

// name, for each function of one argument
#define BITTRUE_PRIMITIVES(row) \
    row(exp) row(exp2) row(expm1) row(log) row(log2) row(log1p) row(sin) row(cos) row(tanh) \
    row(erf) row(rsqrt)
#define BITTRUE_ACTIVATIONS(row) \
    row(sigmoid) row(silu) row(gelu) row(softplus) row(elu) row(leaky_relu) row(relu)

#define BITTRUE_DECLARE(name) void name##_block(const float* x, float* out, std::size_t n);
#define BITTRUE_DECLARE_LEVEL(level)                                                        \
    namespace bittrue::level {                                                              \
    BITTRUE_PRIMITIVES(BITTRUE_DECLARE)                                                     \
    BITTRUE_ACTIVATIONS(BITTRUE_DECLARE)                                                    \
    void pow_block(const float* x, const float* y, float* out, std::size_t n);              \
    }
BITTRUE_DECLARE_LEVEL(baseline)
BITTRUE_DECLARE_LEVEL(v3)
BITTRUE_DECLARE_LEVEL(v4)
#undef BITTRUE_DECLARE_LEVEL
#undef BITTRUE_DECLARE
