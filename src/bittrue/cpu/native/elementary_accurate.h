// The slow path of the elementary kernels: one element at a time, in double-double.
//
// Every function takes an argument that is no NaN and lies in the function's domain, finite and
// not zero, and returns the correctly rounded value. The caller holds a FloatEnvironmentGuard.
// elementary_accurate.cpp states how far each is proved; it is built once, for the baseline, so
// its bits depend on no instruction level.
#pragma once

namespace bittrue::accurate {

float exp(float x);
float exp2(float x);
float expm1(float x);
float log(float x);
float log2(float x);
float log1p(float x);
float sin(float x);
float cos(float x);
float tanh(float x);
float erf(float x);
float rsqrt(float x);

// |x|^y for finite x and y other than 0: the caller gives the sign.
float pow(float x, float y);

// The same, and the value before its rounding as the nearest double: to measure the fast path with.
float exp_and_value(float x, double& value);
float exp2_and_value(float x, double& value);
float expm1_and_value(float x, double& value);
float log_and_value(float x, double& value);
float log2_and_value(float x, double& value);
float log1p_and_value(float x, double& value);
float sin_and_value(float x, double& value);
float cos_and_value(float x, double& value);
float tanh_and_value(float x, double& value);
float erf_and_value(float x, double& value);
float rsqrt_and_value(float x, double& value);
double pow_value(float x, float y);

// How often `pow` needed the exact comparison and more than double-double, for tests.
struct PowCounts {
    unsigned long long exact, ziv;
};
PowCounts pow_counts();

}  // namespace bittrue::accurate
