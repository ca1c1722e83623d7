// The Python face of the kernels: checks what came, releases the interpreter lock, sets the
// floating-point environment, calls. No arithmetic on elements happens in this file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "bind_elementary.h"
#include "elementwise.h"
#include "float_environment.h"
#include "levels.h"
#include "postprocess_bindings.h"
#include "operations_binding.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Binary32Kernel = void (*)(const float*, const float*, float*, std::size_t);
using Source = nb::ndarray<nb::numpy, const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Destination = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Binary32Row {
    std::string_view operation;
    Binary32Kernel kernel;
};

constexpr Binary32Row binary32_rows[] = {
    {"add", bittrue::binary32_add},
    {"sub", bittrue::binary32_sub},
    {"mul", bittrue::binary32_mul},
    {"div", bittrue::binary32_div},
};

Binary32Kernel find_binary32(std::string_view operation) {
    std::string known;
    for (const Binary32Row& row : binary32_rows) {
        if (row.operation == operation) {
            return row.kernel;
        }
        known.append(known.empty() ? "" : ", ").append(row.operation);
    }
    throw nb::value_error(
        ("binary32: unknown operation '" + std::string(operation) + "'; expected one of " + known)
            .c_str());
}

void check_length(const char* name, std::size_t length, std::size_t expected) {
    if (length != expected) {
        throw nb::value_error(("binary32: " + std::string(name) + " has length " +
                               std::to_string(length) + "; expected " + std::to_string(expected) +
                               ", the length of lhs")
                                  .c_str());
    }
}

// Writing an element that a later step still reads would make the result depend on the order and
// the vector width of the loop. Element for element the same array is harmless.
void check_overlap(const char* name, const Source& source, const Destination& out) {
    const auto first = reinterpret_cast<std::uintptr_t>(source.data());
    const auto second = reinterpret_cast<std::uintptr_t>(out.data());
    const std::uintptr_t distance = first < second ? second - first : first - second;
    if (distance != 0 && distance < out.size() * sizeof(float)) {
        throw nb::value_error(("binary32: out overlaps a part of " + std::string(name) +
                               "; pass the same array or one apart from it")
                                  .c_str());
    }
}

void binary32(std::string_view operation, const Source& lhs, const Source& rhs,
              const Destination& out) {
    const Binary32Kernel kernel = find_binary32(operation);
    check_length("rhs", rhs.size(), lhs.size());
    check_length("out", out.size(), lhs.size());
    check_overlap("lhs", lhs, out);
    check_overlap("rhs", rhs, out);

    const nb::gil_scoped_release unlocked;
    const bittrue::FloatEnvironmentGuard environment;
    kernel(lhs.data(), rhs.data(), out.data(), lhs.size());
}

void set_level(std::string_view name) {
    if (!bittrue::set_level(name)) {
        std::string known;
        for (const auto level :
             {bittrue::Level::lanes, bittrue::Level::baseline, bittrue::Level::v3, bittrue::Level::v4}) {
            if (bittrue::has_level(level)) {
                known.append(known.empty() ? "" : ", ").append(bittrue::level_name(level));
            }
        }
        throw nb::value_error(
            ("instruction level '" + std::string(name) + "'; this machine has " + known).c_str());
    }
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() =
        "Compiled kernels; each sets the floating-point environment and restores the caller's.";

    m.def("binary32", &binary32, "operation"_a, "lhs"_a.noconvert(), "rhs"_a.noconvert(),
          "out"_a.noconvert(),
          "Write ``lhs (operation) rhs`` to ``out``: one of add, sub, mul, div.\n\n"
          "IEEE 754 binary32, rounded once to nearest even, subnormals kept, every NaN written\n"
          "as 0x7fc00000. The arrays are one-dimensional, contiguous, float32 and of one length;\n"
          "``out`` may be ``lhs`` or ``rhs``. Raises ValueError for an unknown operation, a\n"
          "length that differs or a partial overlap, before anything is written.");

    m.def("set_flush_to_zero", &bittrue::set_flush_to_zero, "enabled"_a,
          "Switch flushing of subnormal operands and results on this thread; for tests.\n\n"
          "Returns whether any of it was on before.");

    bind_convert(m);

    bittrue::bind_postprocess(m);

    m.def("set_level", &set_level, "name"_a,
          "Choose the instruction level of the kernels: baseline, v3, v4, \"\" for the best,\n"
          "or lanes, which converts one lane at a time, for tests.\n\n"
          "The bits never depend on it. Raises ValueError for one that this machine has not.");
    m.def("level", [] { return bittrue::level_name(bittrue::current_level()); },
          "Return the instruction level that the kernels run at.");

    bittrue::bind_operations(m);
    bind_elementary(m);

    if (const char* wanted = std::getenv("BITTRUE_SIMD")) set_level(wanted);
}
