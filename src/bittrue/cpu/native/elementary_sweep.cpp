// Which inputs lie near a rounding boundary, and how far the fast path is off: see the method in
// elementary.cpp. An input not within twice the bound of a boundary is proved by the bound, at any
// level; the others are few, and the caller compares their results with MPFR.
#include "elementary_probe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "elementary.h"
#include "elementary_accurate.h"
#include "levels.h"
#include "threads.h"

namespace bittrue {
namespace {

constexpr std::size_t part_length = 4096;

float float_of(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Rounding is monotone, so that equal ends mean that no boundary lies between them.
bool near_boundary(double v, unsigned units) {
    // In a normal result, 2 units of 2^-53 relative are at most 2 units of the last place: most are
    // farther from the middle of what rounding drops.
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    const auto exponent = static_cast<unsigned>(bits >> 52) & 0x7ff;
    constexpr std::int64_t middle = 1 << 28;
    const std::int64_t dropped = static_cast<std::int64_t>(bits & (2 * middle - 1)) - middle;
    const std::int64_t reach = 2 * static_cast<std::int64_t>(units) + 2;
    if (exponent - 897 < 254 && (dropped > reach || dropped < -reach)) return false;
    const double slack = 2.0 * units * 0x1p-53;
    return static_cast<float>(v * (1 - slack)) != static_cast<float>(v * (1 + slack));
}

// A digest of results is the sum, modulo 2^64, of a word for each operand: the same in any order of
// the parts. The word stirs operand and result together, so that neither another result nor two
// exchanged ones leave the sum as it is, but for a chance of about 2^-64.
std::uint64_t mixed(std::uint32_t operand, std::uint32_t result) {
    std::uint64_t word = (operand * 0x9e3779b97f4a7c15U ^ result) * 0xd6e8feb86659fd93U;
    word = (word ^ word >> 32) * 0xd6e8feb86659fd93U;
    return word ^ word >> 32;
}

struct Part {
    SweepFindings found;

    void compare(std::uint32_t input, float result, float accurate, double v, double exact) {
        if (bits_of(result) != bits_of(accurate)) {
            if (found.departures++ == 0) found.first_departure = input;
        }
        // Beyond these the fast path may stop at an end, or be infinite or 0: all round alike.
        if (std::fabs(exact) > 0x1.4p128 || std::fabs(exact) < 0x1p-151) return;
        const double error = std::fabs(std::fabs(v) / std::fabs(exact) - 1) * 0x1p53;
        if (error > found.worst_error) {
            found.worst_error = error;
            found.worst_input = input;
        }
    }

    void join(SweepFindings& all) const {
        all.special += found.special;
        all.near_ones.insert(all.near_ones.end(), found.near_ones.begin(), found.near_ones.end());
        if (found.departures != 0 &&
            (all.departures == 0 || found.first_departure < all.first_departure)) {
            all.first_departure = found.first_departure;
        }
        all.departures += found.departures;
        if (found.worst_error > all.worst_error) {
            all.worst_error = found.worst_error;
            all.worst_input = found.worst_input;
        }
        all.digest += found.digest;
    }
};

struct Job {
    const Probe* probe;
    const float *x, *y;
    std::uint64_t first, count;
    bool every;
    SweepFindings found;
    std::mutex mutex;
};

void sweep_part(void* context, std::size_t index) {
    Job& job = *static_cast<Job*>(context);
    const std::uint64_t begin = index * part_length;
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(part_length, job.count - begin));
    float x[part_length], result[part_length];
    double values[part_length];
    unsigned char special[part_length];
    Part part;
    for (std::size_t i = 0; i < length; ++i) {
        x[i] = float_of(static_cast<std::uint32_t>(job.first + begin + i));
    }
    job.probe->block(x, result, length);
    job.probe->values(x, values, special, length);
    for (std::size_t i = 0; i < length; ++i) {
        const auto input = static_cast<std::uint32_t>(job.first + begin + i);
        part.found.digest += mixed(input, bits_of(result[i]));
        if (special[i]) {
            ++part.found.special;
            continue;
        }
        if (near_boundary(values[i], job.probe->units)) part.found.near_ones.push_back(input);
        if (job.every) {
            double exact;
            const float accurate = job.probe->accurate(x[i], exact);
            part.compare(input, result[i], accurate, values[i], exact);
        }
    }
    const std::lock_guard<std::mutex> lock(job.mutex);
    part.join(job.found);
}

struct PowProbe {
    void (*block)(const float*, const float*, float*, std::size_t);
    void (*values)(const float*, const float*, double*, unsigned char*, std::size_t);
    unsigned units;
};

PowProbe pow_probe() {
    switch (current_level()) {
#if defined(BITTRUE_X86_LEVELS)
        case Level::v4: return {v4::pow_block, v4::pow_probe, v4::pow_units};
        case Level::v3: return {v3::pow_block, v3::pow_probe, v3::pow_units};
#endif
        default: return {baseline::pow_block, baseline::pow_probe, baseline::pow_units};
    }
}

void sweep_pow_part(void* context, std::size_t index) {
    Job& job = *static_cast<Job*>(context);
    const std::size_t begin = index * part_length;
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(part_length, job.count - begin));
    const float *x = job.x + begin, *y = job.y + begin;
    float result[part_length];
    double values[part_length];
    unsigned char special[part_length];
    Part part;
    const PowProbe probe = pow_probe();
    probe.block(x, y, result, length);
    probe.values(x, y, values, special, length);
    for (std::size_t i = 0; i < length; ++i) {
        const auto input = static_cast<std::uint32_t>(begin + i);
        if (special[i]) {
            ++part.found.special;
            continue;
        }
        if (near_boundary(values[i], probe.units)) part.found.near_ones.push_back(input);
        if (job.every) {
            const float sign = std::copysign(1.0F, result[i]);
            part.compare(input, result[i], sign * accurate::pow(x[i], y[i]), values[i],
                         accurate::pow_value(x[i], y[i]));
        }
    }
    const std::lock_guard<std::mutex> lock(job.mutex);
    part.join(job.found);
}

SweepFindings run(Job& job, void (*part)(void*, std::size_t), int threads) {
    const auto parts = static_cast<std::size_t>((job.count + part_length - 1) / part_length);
    run_parts(parts, threads, part, &job);
    std::sort(job.found.near_ones.begin(), job.found.near_ones.end());
    return job.found;
}

}  // namespace

SweepFindings sweep(const Probe& probe, std::uint64_t first, std::uint64_t count, bool every,
                    int threads) {
    Job job{&probe, nullptr, nullptr, first, count, every, {}, {}};
    return run(job, sweep_part, threads);
}

SweepFindings sweep_pow(const float* x, const float* y, std::size_t count, bool every,
                        int threads) {
    Job job{nullptr, x, y, 0, count, every, {}, {}};
    return run(job, sweep_pow_part, threads);
}

const Probe* find_probe(const char* name) {
    const Probe* probe = baseline::probes;
#if defined(BITTRUE_X86_LEVELS)
    if (current_level() == Level::v3) probe = v3::probes;
    if (current_level() == Level::v4) probe = v4::probes;
#endif
    for (; probe->name != nullptr; ++probe) {
        if (std::strcmp(probe->name, name) == 0) return probe;
    }
    return nullptr;
}

}  // namespace bittrue
