// Elementwise kernels: out[i] = lhs[i] (operation) rhs[i], in ascending i.
//
// Each pointer names `length` elements; `out` may be `lhs` or `rhs` itself but must not overlap
// either in part. The caller holds a FloatEnvironmentGuard.
#pragma once

#include <cstddef>

namespace bittrue {

// IEEE 754 binary32, rounded once to nearest even, subnormals kept; a NaN result is 7fc00000.
void binary32_add(const float* lhs, const float* rhs, float* out, std::size_t length);
void binary32_sub(const float* lhs, const float* rhs, float* out, std::size_t length);
void binary32_mul(const float* lhs, const float* rhs, float* out, std::size_t length);
void binary32_div(const float* lhs, const float* rhs, float* out, std::size_t length);

}  // namespace bittrue
