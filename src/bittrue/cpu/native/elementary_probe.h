// What the sweep needs to know of each primitive, by instruction level, and the sweep itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bittrue {

struct Probe {
    const char* name;  // null after the last one
    void (*block)(const float* x, float* out, std::size_t n);
    // The double that the fast path rounds, up to its sign, and whether the operand is special,
    // which leaves no double.
    void (*values)(const float* x, double* values, unsigned char* special, std::size_t n);
    unsigned units;  // the bound of its relative error, in 2^-53
    float (*accurate)(float x, double& value);
};

#define BITTRUE_DECLARE_LEVEL(level)                                                       \
    namespace level {                                                                      \
    extern const Probe probes[];                                                           \
    extern const unsigned pow_units;                                                       \
    void pow_probe(const float* x, const float* y, double* values, unsigned char* special, \
                   std::size_t n);                                                         \
    }
BITTRUE_DECLARE_LEVEL(baseline)
BITTRUE_DECLARE_LEVEL(v3)
BITTRUE_DECLARE_LEVEL(v4)
#undef BITTRUE_DECLARE_LEVEL

struct SweepFindings {
    std::uint64_t special = 0;             // special operands, which take no part in the rest
    std::vector<std::uint32_t> near_ones;  // inputs within twice the bound of a rounding boundary
    std::uint64_t departures = 0;          // results other than the slow path's, if it was run
    std::uint32_t first_departure = 0;
    double worst_error = 0;  // of the fast path, relative to the slow path, in 2^-53
    std::uint32_t worst_input = 0;
    std::uint64_t digest = 0;  // of all results, special operands included: see `mixed`
};

// Takes the 2^32 bit patterns from `first` on, `count` of them. `every`: runs the slow path on
// each operand too.
SweepFindings sweep(const Probe& probe, std::uint64_t first, std::uint64_t count, bool every,
                    int threads);

// The same for pairs: indices of those near a boundary.
SweepFindings sweep_pow(const float* x, const float* y, std::size_t count, bool every, int threads);

// The probe of a primitive at the current level; null for an unknown name.
const Probe* find_probe(const char* name);

}  // namespace bittrue
