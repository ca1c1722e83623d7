// The Python face of the elementary kernels: checks what came, releases the interpreter lock, runs
// the kernel of the current level in parts. No arithmetic on elements happens in this file.
#include "bind_elementary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "elementary.h"
#include "elementary_accurate.h"
#include "elementary_probe.h"
#include "levels.h"
#include "threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Unary = void (*)(const float*, float*, std::size_t);
using Binary = void (*)(const float*, const float*, float*, std::size_t);
using Source = nb::ndarray<nb::numpy, const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Destination = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A part costs tens of microseconds: long beside handing it over, short enough to share evenly.
constexpr std::size_t part_length = 1U << 14;

struct UnaryRow {
    const char* name;
    Unary baseline, v3, v4;
};

#if defined(BITTRUE_X86_LEVELS)
#define BITTRUE_ROW(name)                                                         \
    {#name, bittrue::baseline::name##_block, bittrue::v3::name##_block,           \
     bittrue::v4::name##_block},
#else
#define BITTRUE_ROW(name) {#name, bittrue::baseline::name##_block, nullptr, nullptr},
#endif

constexpr UnaryRow unary_rows[] = {BITTRUE_PRIMITIVES(BITTRUE_ROW) BITTRUE_ACTIVATIONS(BITTRUE_ROW)};
#undef BITTRUE_ROW

Unary find_unary(const std::string& name) {
    std::string known;
    for (const UnaryRow& row : unary_rows) {
        if (name == row.name) {
            switch (bittrue::current_level()) {
                case bittrue::Level::v4: return row.v4;
                case bittrue::Level::v3: return row.v3;
                default: return row.baseline;
            }
        }
        known.append(known.empty() ? "" : ", ").append(row.name);
    }
    throw nb::value_error(
        ("elementary: unknown function '" + name + "'; expected one of " + known).c_str());
}

Binary find_pow() {
#if defined(BITTRUE_X86_LEVELS)
    if (bittrue::current_level() == bittrue::Level::v4) return bittrue::v4::pow_block;
    if (bittrue::current_level() == bittrue::Level::v3) return bittrue::v3::pow_block;
#endif
    return bittrue::baseline::pow_block;
}

void check_operand(const char* function, const char* name, const Source& operand,
                   const Destination& out) {
    if (operand.size() != out.size()) {
        throw nb::value_error((std::string(function) + ": " + name + " has length " +
                               std::to_string(operand.size()) + "; expected " +
                               std::to_string(out.size()) + ", the length of out")
                                  .c_str());
    }
    const auto first = reinterpret_cast<std::uintptr_t>(operand.data());
    const auto second = reinterpret_cast<std::uintptr_t>(out.data());
    const std::uintptr_t distance = first < second ? second - first : first - second;
    if (distance != 0 && distance < out.size() * sizeof(float)) {
        throw nb::value_error((std::string(function) + ": out overlaps a part of " + name +
                               "; pass the same array or one apart from it")
                                  .c_str());
    }
}

struct Call {
    Unary unary;
    Binary binary;
    const float *x, *y;
    float* out;
    std::size_t length;
};

void run_part(void* context, std::size_t index) {
    const Call& call = *static_cast<const Call*>(context);
    const std::size_t begin = index * part_length;
    const std::size_t count = std::min(part_length, call.length - begin);
    if (call.unary != nullptr) {
        call.unary(call.x + begin, call.out + begin, count);
    } else {
        call.binary(call.x + begin, call.y + begin, call.out + begin, count);
    }
}

void run(Call call, int threads) {
    const nb::gil_scoped_release unlocked;
    const std::size_t parts = call.length / part_length + (call.length % part_length != 0 ? 1 : 0);
    bittrue::run_parts(parts, threads, run_part, &call);
}

void elementary(const std::string& name, const Source& x, const Destination& out, int threads) {
    const Unary kernel = find_unary(name);
    check_operand("elementary", "x", x, out);
    run({kernel, nullptr, x.data(), nullptr, out.data(), out.size()}, threads);
}

void elementary_pow(const Source& x, const Source& y, const Destination& out, int threads) {
    check_operand("elementary_pow", "x", x, out);
    check_operand("elementary_pow", "y", y, out);
    run({nullptr, find_pow(), x.data(), y.data(), out.data(), out.size()}, threads);
}

// In the order of the fields of SweepFindings in cpu/elementary.py.
using Findings = std::tuple<std::uint64_t, std::vector<std::uint32_t>, std::uint64_t,
                            std::uint32_t, double, std::uint32_t, std::uint64_t>;

Findings as_tuple(const bittrue::SweepFindings& found) {
    return {found.special,         found.near_ones,   found.departures,
            found.first_departure, found.worst_error, found.worst_input, found.digest};
}

Findings elementary_sweep(const std::string& name, std::uint64_t first, std::uint64_t count,
                          bool every, int threads) {
    const bittrue::Probe* probe = bittrue::find_probe(name.c_str());
    if (probe == nullptr) {
        throw nb::value_error(("elementary_sweep: unknown primitive '" + name + "'").c_str());
    }
    constexpr std::uint64_t patterns = std::uint64_t{1} << 32;
    if (first > patterns || count > patterns - first) {
        throw nb::value_error("elementary_sweep: expected patterns below 2**32");
    }
    bittrue::SweepFindings found;
    {
        const nb::gil_scoped_release unlocked;
        found = bittrue::sweep(*probe, first, count, every, threads);
    }
    return as_tuple(found);
}

Findings elementary_sweep_pow(const Source& x, const Source& y, bool every, int threads) {
    if (x.size() != y.size()) throw nb::value_error("elementary_sweep_pow: lengths differ");
    bittrue::SweepFindings found;
    {
        const nb::gil_scoped_release unlocked;
        found = bittrue::sweep_pow(x.data(), y.data(), x.size(), every, threads);
    }
    return as_tuple(found);
}

unsigned elementary_units(const std::string& name) {
    if (name == "pow") return bittrue::baseline::pow_units;
    const bittrue::Probe* probe = bittrue::find_probe(name.c_str());
    if (probe == nullptr) {
        throw nb::value_error(("elementary_units: unknown primitive '" + name + "'").c_str());
    }
    return probe->units;
}

}  // namespace

void bind_elementary(nb::module_& m) {
    m.def("elementary", &elementary, "name"_a, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "Write the function `name` of ``x`` to ``out``; every NaN as 0x7fc00000.\n\n"
          "The arrays are one-dimensional, contiguous, float32 and of one length; ``out`` may be\n"
          "``x``. Raises ValueError for an unknown name, a length that differs or a partial\n"
          "overlap, before anything is written.");
    m.def("elementary_pow", &elementary_pow, "x"_a.noconvert(), "y"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "Write ``x ** y`` to ``out``, like ``elementary``.");
    m.def("elementary_sweep", &elementary_sweep, "name"_a, "first"_a, "count"_a, "every"_a,
          "threads"_a,
          "Sweep ``count`` bit patterns from ``first`` on.\n\n"
          "Returns: special operands, which a rule answers; inputs within twice the error bound of\n"
          "a rounding boundary; and, where ``every`` runs the slow path on each operand too, how\n"
          "many results differ from its own, the first such input, the worst relative error of the\n"
          "fast path's double in 2**-53, and its input; and the digest of all results.");
    m.def("elementary_sweep_pow", &elementary_sweep_pow, "x"_a.noconvert(), "y"_a.noconvert(),
          "every"_a, "threads"_a, "Sweep pairs likewise; inputs are indices of pairs.");
    m.def("elementary_units", &elementary_units, "name"_a,
          "Return the error bound of a primitive's fast path, relative, in 2**-53.");
    m.def(
        "pow_slow_counts",
        [] {
            const bittrue::accurate::PowCounts counts = bittrue::accurate::pow_counts();
            return std::make_pair(counts.exact, counts.ziv);
        },
        "Return how often pow compared exactly, and how often it needed arbitrary precision.");
}
