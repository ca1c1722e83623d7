// The Python face of post-processing: checks what came, releases the interpreter lock, calls. No
// arithmetic on elements happens in this file.
#include "postprocess_bindings.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include "postprocess.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace bittrue {
namespace {

template <typename T>
using Row = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using RowOut = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Raw = nb::ndarray<nb::numpy, const std::uint32_t, nb::ndim<2>, nb::device::cpu>;
using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>, nb::device::cpu>;

[[noreturn]] void refuse(const std::string& message) {
    throw nb::value_error(("post_process: " + message).c_str());
}

// Keeps the arrays that its pointers point into.
struct Rule {
    PostProcessing rule{};
    Row<std::uint32_t> scale, activation;
    Row<std::int32_t> offset, amount;
};

template <typename T>
PerColumn<T> per_column(const Row<T>& values) {
    if (values.size() == 0) refuse("a parameter has no value");
    return {values.data(), values.size() == 1 ? std::size_t{0} : std::size_t{1}};
}

template <typename T>
void check_columns(const char* name, const Row<T>& values, std::size_t columns) {
    if (values.size() != 1 && values.size() != columns) {
        refuse(std::string(name) + " has " + std::to_string(values.size()) +
               " values; expected 1 or one for each of " + std::to_string(columns) + " columns");
    }
}

Rule make_rule(int accumulator, const LaneType& source, const LaneType& destination, bool copies,
               bool shift, int offset_bits, int rounding, bool saturate, bool relu,
               bool range_first, bool unsigned_zero, bool packed, Row<std::uint32_t> scale,
               Row<std::uint32_t> activation, Row<std::int32_t> offset, Row<std::int32_t> amount,
               bool row_max, std::size_t group_n, bool max_abs) {
    if (accumulator < 0 || accumulator > 2) refuse("accumulator is no code of one");
    if (rounding < rne || rounding > rhb) refuse("rounding is no code of a mode");
    if (offset_bits < 0 || offset_bits > 17) refuse("offset_bits is beyond 17");
    for (std::size_t i = 0; i < amount.size(); ++i) {
        if (amount.data()[i] < 0 || amount.data()[i] > 31) refuse("a shift is outside 0..31");
    }
    Rule made;
    PostProcessing& rule = made.rule;
    rule.accumulator = static_cast<Accumulator>(accumulator);
    rule.source = source;
    rule.destination = destination;
    rule.copies = copies;
    rule.shift = shift;
    rule.offset_bits = offset_bits;
    rule.rounding = rounding;
    rule.saturate = saturate;
    rule.relu = relu;
    rule.range_first = range_first;
    rule.unsigned_zero = unsigned_zero;
    rule.packed = packed;
    rule.scale = per_column(scale);
    rule.activation = per_column(activation);
    rule.offset = per_column(offset);
    rule.amount = per_column(amount);
    rule.row_max = row_max;
    rule.group_max = group_n != 0;
    rule.group_n = group_n;
    rule.max_abs = max_abs;
    rule.row_max_in = nullptr;
    made.scale = std::move(scale);
    made.activation = std::move(activation);
    made.offset = std::move(offset);
    made.amount = std::move(amount);
    return made;
}

void check_size(const char* name, const std::optional<RowOut<std::uint32_t>>& given, bool enabled,
                std::size_t size) {
    if (given.has_value() != enabled) refuse(std::string(name) + " is surplus or missing");
    if (enabled && given->size() != size) refuse(std::string(name) + " has another size");
}

struct Checked {
    PostProcessing rule;
    OutputGroup out;
};

Checked checked(const Rule& given, std::size_t rows, std::size_t columns,
                const std::optional<Row<std::uint32_t>>& initial, const Bytes& d,
                const std::optional<RowOut<std::uint32_t>>& row_max,
                const std::optional<RowOut<std::uint32_t>>& group_max) {
    PostProcessing rule = given.rule;
    check_columns("scale", given.scale, columns);
    check_columns("activation", given.activation, columns);
    check_columns("offset", given.offset, columns);
    check_columns("amount", given.amount, columns);
    const auto bytes = static_cast<std::size_t>(rule.destination.carrier_bytes());
    const std::size_t carriers = rule.packed ? (columns + 1) / 2 : columns;
    if (d.shape(0) != rows || d.shape(1) != carriers * bytes) refuse("d has another shape");
    if (d.shape(1) > 1 && d.stride(1) != 1) refuse("the columns of d are not contiguous");
    if (reinterpret_cast<std::uintptr_t>(d.data()) % bytes != 0) refuse("d is not aligned");
    const std::size_t groups = rule.group_max ? (columns + rule.group_n - 1) / rule.group_n : 0;
    check_size("row_max", row_max, rule.row_max, rows);
    check_size("group_max", group_max, rule.group_max, rows * groups);
    if (initial && initial->size() != rows) refuse("initial has another size");
    rule.row_max_in = initial ? initial->data() : nullptr;
    return {rule,
            {d.data(), static_cast<std::ptrdiff_t>(d.stride(0)),
             row_max ? row_max->data() : nullptr, group_max ? group_max->data() : nullptr}};
}

unsigned run(const Rule& given, const Raw& raw, const std::optional<Row<std::uint32_t>>& initial,
             const Bytes& d, const std::optional<RowOut<std::uint32_t>>& row_max,
             const std::optional<RowOut<std::uint32_t>>& group_max, int threads) {
    const std::size_t rows = raw.shape(0), columns = raw.shape(1);
    if (columns > 1 && raw.stride(1) != 1) refuse("the columns of raw are not contiguous");
    const Checked call = checked(given, rows, columns, initial, d, row_max, group_max);
    const RawRows source{raw.data(), static_cast<std::ptrdiff_t>(raw.stride(0) * 4), rows, columns};
    const nb::gil_scoped_release unlocked;
    return post_process(call.rule, source, call.out, threads);
}

template <typename T>
using Matrix = nb::ndarray<nb::numpy, const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Where = std::pair<std::size_t, std::size_t>;

// The flags, or the place of the first sum outside the accumulator.
template <typename T>
std::variant<unsigned, Where> multiply(const Rule& given, const Matrix<T>& a, const Matrix<T>& b,
                                       const std::optional<Row<std::uint32_t>>& initial,
                                       const Bytes& d,
                                       const std::optional<RowOut<std::uint32_t>>& row_max,
                                       const std::optional<RowOut<std::uint32_t>>& group_max,
                                       int threads) {
    const bool floats = std::is_same_v<T, float>;
    if (floats != (given.rule.accumulator == Accumulator::fp32)) {
        refuse("operands of another kind than the accumulator");
    }
    if (a.shape(1) != b.shape(0)) refuse("a has other columns than b has rows");
    const std::size_t rows = a.shape(0), columns = b.shape(1);
    const Checked call = checked(given, rows, columns, initial, d, row_max, group_max);
    Where where;
    unsigned flags;
    {
        const nb::gil_scoped_release unlocked;
        flags = matmul_post_process(call.rule, {a.data(), b.data(), rows, a.shape(1), columns},
                                    call.out, threads, where.first, where.second);
    }
    if (flags == sum_outside) return where;
    return flags;
}

}  // namespace

void bind_postprocess(nb::module_& m) {
    nb::class_<Rule>(m, "PostProcessing",
                     "What every element of a post-processing has in common, checked and decoded.")
        .def(
            "__init__",
            [](Rule* self, int accumulator, const LaneType& source, const LaneType& destination,
               bool copies, bool shift, int offset_bits, int rounding, bool saturate, bool relu,
               bool range_first, bool unsigned_zero, bool packed, Row<std::uint32_t> scale,
               Row<std::uint32_t> activation, Row<std::int32_t> offset, Row<std::int32_t> amount,
               bool row_max, std::size_t group_n, bool max_abs) {
                new (self) Rule(make_rule(accumulator, source, destination, copies, shift,
                                          offset_bits, rounding, saturate, relu, range_first,
                                          unsigned_zero, packed, std::move(scale),
                                          std::move(activation), std::move(offset),
                                          std::move(amount), row_max, group_n, max_abs));
            },
            nb::kw_only(), "accumulator"_a, "source"_a, "destination"_a, "copies"_a, "shift"_a,
            "offset_bits"_a, "rounding"_a, "saturate"_a, "relu"_a, "range_first"_a,
            "unsigned_zero"_a, "packed"_a, "scale"_a.noconvert(), "activation"_a.noconvert(),
            "offset"_a.noconvert(), "amount"_a.noconvert(), "row_max"_a, "group_n"_a, "max_abs"_a);

    m.def("post_process", &run, "rule"_a, "raw"_a.noconvert(), "initial"_a.noconvert().none(),
          "d"_a.noconvert(), "row_max"_a.noconvert().none(), "group_max"_a.noconvert().none(),
          "threads"_a,
          "Post-process rows of accumulator codes into ``d`` and the maxima; return all flags.\n\n"
          "``raw`` holds uint32 codes, its columns contiguous; ``d`` the bytes of D,\n"
          "likewise; the maxima are one-dimensional uint32 arrays. Raises ValueError for a shape\n"
          "or width that does not fit, before anything is written.");

    constexpr auto about =
        "Post-process the product of two matrices; return all flags.\n\n"
        "``a`` is (M, K) and ``b`` (K, N), both contiguous, float32 for FP32 accumulators and int32\n"
        "else, with elements of at most 9 bits; the rest as in ``post_process``. Where a sum is\n"
        "outside the accumulator, its row and column come instead and the outputs are incomplete.";
    m.def("matmul_post_process", &multiply<float>, "rule"_a, "a"_a.noconvert(), "b"_a.noconvert(),
          "initial"_a.noconvert().none(), "d"_a.noconvert(), "row_max"_a.noconvert().none(),
          "group_max"_a.noconvert().none(), "threads"_a, about);
    m.def("matmul_post_process", &multiply<std::int32_t>, "rule"_a, "a"_a.noconvert(),
          "b"_a.noconvert(), "initial"_a.noconvert().none(), "d"_a.noconvert(),
          "row_max"_a.noconvert().none(), "group_max"_a.noconvert().none(), "threads"_a);
}

}  // namespace bittrue
