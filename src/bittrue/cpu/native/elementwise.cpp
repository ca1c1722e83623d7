#include "elementwise.h"

#include <cfloat>
#include <cstdint>
#include <cstring>
#include <limits>

namespace bittrue {
namespace {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == sizeof(std::uint32_t),
              "the kernels use float as IEEE 754 binary32");
// Wider intermediates (x87) would round every result twice.
static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must be evaluated in binary32");

constexpr std::uint32_t canonical_nan_bits = 0x7fc00000;

float canonical_nan() {
    float value;
    std::memcpy(&value, &canonical_nan_bits, sizeof value);
    return value;
}

// Hardware writes ffc00000 for inf - inf and carries the payload of a NaN operand along; which
// operand it takes differs between processors. One select after the step covers every case.
template <typename Step>
void binary32(const float* lhs, const float* rhs, float* out, std::size_t length, Step step) {
    const float nan = canonical_nan();
    for (std::size_t i = 0; i < length; ++i) {
        const float value = step(lhs[i], rhs[i]);
        out[i] = value == value ? value : nan;
    }
}

}  // namespace

void binary32_add(const float* lhs, const float* rhs, float* out, std::size_t length) {
    binary32(lhs, rhs, out, length, [](float a, float b) { return a + b; });
}

void binary32_sub(const float* lhs, const float* rhs, float* out, std::size_t length) {
    binary32(lhs, rhs, out, length, [](float a, float b) { return a - b; });
}

void binary32_mul(const float* lhs, const float* rhs, float* out, std::size_t length) {
    binary32(lhs, rhs, out, length, [](float a, float b) { return a * b; });
}

void binary32_div(const float* lhs, const float* rhs, float* out, std::size_t length) {
    binary32(lhs, rhs, out, length, [](float a, float b) { return a / b; });
}

}  // namespace bittrue
