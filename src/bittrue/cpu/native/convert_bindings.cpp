// The Python face of the conversions: checks what came, releases the interpreter lock, calls. Each
// thread that converts sets the floating-point environment (threads.h).
#include "bindings.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "convert.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using bittrue::LaneType;
using Carriers = nb::ndarray<nb::numpy, nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CarriersOut = nb::ndarray<nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<nb::numpy, const std::uint32_t, nb::ndim<1>, nb::c_contig,
                          nb::device::cpu>;
using Flags = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Code = std::optional<std::uint64_t>;

LaneType lane_type(int kind, int specials, int word_bits, bool packed, bool is_signed, int sign_bit,
                   int exponent_bits, int fraction_bits, int bias, int emin, int low_zero_bits,
                   bool has_signed_zero, bool has_subnormal, std::uint64_t zero_mask,
                   std::uint64_t magnitude_mask, std::uint64_t max_finite, Code infinity,
                   Code canonical_nan) {
    const bool good = kind >= 0 && kind <= static_cast<int>(bittrue::Kind::scale) &&
                      specials >= 0 && specials <= static_cast<int>(bittrue::Specials::tapered) &&
                      word_bits >= 1 && word_bits <= 64 && sign_bit >= -1 && sign_bit < 64 &&
                      exponent_bits >= 0 && exponent_bits <= 11 && fraction_bits >= 0 &&
                      fraction_bits <= 52 && low_zero_bits >= 0 && low_zero_bits < 64;
    if (!good) {
        throw nb::value_error("LaneType: a width or a code is out of range; see Format");
    }
    LaneType type;
    type.kind = static_cast<bittrue::Kind>(kind);
    type.specials = static_cast<bittrue::Specials>(specials);
    type.word_bits = word_bits;
    type.packed = packed;
    type.is_signed = is_signed;
    type.sign_bit = sign_bit;
    type.exponent_bits = exponent_bits;
    type.fraction_bits = fraction_bits;
    type.bias = bias;
    type.emin = emin;
    type.low_zero_bits = low_zero_bits;
    type.has_signed_zero = has_signed_zero;
    type.has_subnormal = has_subnormal;
    type.zero_mask = zero_mask;
    type.magnitude_mask = magnitude_mask;
    type.max_finite = max_finite;
    type.has_infinity = infinity.has_value();
    type.infinity = infinity.value_or(0);
    type.has_nan = canonical_nan.has_value();
    type.canonical_nan = canonical_nan.value_or(0);
    return type;
}

struct Span {
    const char* name;
    const void* data;
    std::size_t bytes;
};

template <typename Array>
Span span_of(const char* name, const Array& array) {
    return {name, array.data(), array.size() * array.itemsize()};
}

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

template <typename Array>
Span checked_carriers(const char* name, const Array& array, const LaneType& type,
                      std::size_t count) {
    const auto bytes = static_cast<std::size_t>(type.carrier_bytes());
    const std::size_t carriers = type.packed ? count / 2 + count % 2 : count;
    if (array.itemsize() != bytes || array.size() != carriers) {
        refuse(std::string(name) + " has " + std::to_string(array.size()) + " carriers of " +
               std::to_string(array.itemsize()) + " bytes; expected " + std::to_string(carriers) +
               " of " + std::to_string(bytes));
    }
    if (reinterpret_cast<std::uintptr_t>(array.data()) % bytes != 0) {
        refuse(std::string(name) + " is not aligned to its carriers");
    }
    return span_of(name, array);
}

void check_apart(const Span& written, const Span& other, bool same_lanes) {
    const auto first = reinterpret_cast<std::uintptr_t>(written.data);
    const auto second = reinterpret_cast<std::uintptr_t>(other.data);
    if (written.bytes == 0 || other.bytes == 0 || (first == second && same_lanes)) return;
    if (first < second + other.bytes && second < first + written.bytes) {
        refuse(std::string(written.name) + " overlaps " + other.name);
    }
}

unsigned convert_lanes(const LaneType& source, const LaneType& destination,
                       const Carriers& carriers, const CarriersOut& out, std::size_t count,
                       int rounding, bool saturate, const std::optional<Words>& random,
                       const std::optional<Flags>& flags, int threads) {
    const Span in = checked_carriers("carriers", carriers, source, count);
    const Span written = checked_carriers("out", out, destination, count);
    if (rounding < 0 || rounding > bittrue::rhb) {
        refuse("rounding is " + std::to_string(rounding) + "; expected 0 to 7");
    }
    const bool as_wide = source.packed == destination.packed &&
                         source.carrier_bytes() == destination.carrier_bytes();
    check_apart(written, in, as_wide);
    if (random) {
        if (random->size() != count) refuse("random_bits: expected a word for each lane");
        if (rounding != bittrue::none) refuse("random_bits: expected rounding NONE");
        check_apart(written, span_of("random_bits", *random), false);
    }
    if (flags) {
        if (flags->size() != count) refuse("flags: expected a byte for each lane");
        const Span raised = span_of("flags", *flags);
        check_apart(raised, in, false);
        check_apart(raised, written, false);
        if (random) check_apart(raised, span_of("random_bits", *random), false);
    }
    const nb::gil_scoped_release unlocked;
    return bittrue::convert_lanes({source, destination, rounding, saturate}, carriers.data(),
                                  out.data(), random ? random->data() : nullptr,
                                  flags ? flags->data() : nullptr, count, threads);
}

std::ptrdiff_t first_invalid(const LaneType& source, const Carriers& carriers, std::size_t count,
                             int threads) {
    checked_carriers("carriers", carriers, source, count);
    const nb::gil_scoped_release unlocked;
    return bittrue::first_invalid(source, carriers.data(), count, threads);
}

}  // namespace

void bind_convert(nb::module_& m) {
    nb::class_<LaneType>(m, "LaneType", "The facts of a Format that a conversion reads.")
        .def(
            "__init__",
            [](LaneType* self, int kind, int specials, int word_bits, bool packed, bool is_signed,
               int sign_bit, int exponent_bits, int fraction_bits, int bias, int emin,
               int low_zero_bits, bool has_signed_zero, bool has_subnormal,
               std::uint64_t zero_mask, std::uint64_t magnitude_mask, std::uint64_t max_finite,
               Code infinity, Code canonical_nan) {
                new (self) LaneType(lane_type(
                    kind, specials, word_bits, packed, is_signed, sign_bit, exponent_bits,
                    fraction_bits, bias, emin, low_zero_bits, has_signed_zero, has_subnormal,
                    zero_mask, magnitude_mask, max_finite, infinity, canonical_nan));
            },
            nb::kw_only(), "kind"_a, "specials"_a, "word_bits"_a, "packed"_a, "is_signed"_a,
            "sign_bit"_a, "exponent_bits"_a, "fraction_bits"_a, "bias"_a, "emin"_a,
            "low_zero_bits"_a, "has_signed_zero"_a, "has_subnormal"_a, "zero_mask"_a,
            "magnitude_mask"_a, "max_finite"_a, "infinity"_a.none(), "canonical_nan"_a.none());

    // The stub generator leaves an array of any dtype without its argument: the signatures say it.
    m.def("convert_lanes", &convert_lanes,
          nb::sig("def convert_lanes(source: LaneType, destination: LaneType, "
                  "carriers: numpy.typing.NDArray[numpy.generic], "
                  "out: numpy.typing.NDArray[numpy.generic], count: int, rounding: int, "
                  "saturate: bool, random_bits: numpy.typing.NDArray[numpy.uint32] | None, "
                  "flags: numpy.typing.NDArray[numpy.uint8] | None, threads: int) -> int"),
          "source"_a, "destination"_a, "carriers"_a.noconvert(),
          "out"_a.noconvert(), "count"_a, "rounding"_a, "saturate"_a,
          "random_bits"_a.noconvert().none(), "flags"_a.noconvert().none(), "threads"_a,
          "Convert ``count`` lanes from ``carriers`` to ``out``; return the OR of all flags.\n\n"
          "Carriers are one-dimensional, contiguous and as wide as the type's; packed lanes stand\n"
          "two a byte. ``rounding`` is a code, ``random_bits`` a uint32 and ``flags`` a uint8 for\n"
          "each lane. Raises ValueError for a width, a length or an overlap, before anything is\n"
          "written. Lanes must be valid: see ``first_invalid``.");

    m.def("first_invalid", &first_invalid,
          nb::sig("def first_invalid(source: LaneType, carriers: numpy.typing.NDArray[numpy.generic], "
                  "count: int, threads: int) -> int"),
          "source"_a, "carriers"_a.noconvert(), "count"_a,
          "threads"_a, "Return the index of the first lane with a bit set that must be 0, or -1.");
}
