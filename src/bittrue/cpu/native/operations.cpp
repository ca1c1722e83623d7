// The Python face of the operations: arrays come as buffers, shapes and types are checked, the
// interpreter lock is released. No arithmetic on elements happens in this file.
#include "operations.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>


#include "operations_binding.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace bittrue {
namespace {

using Objects = nb::typed<nb::tuple, nb::object, nb::ellipsis>;
using Integers = nb::typed<nb::tuple, int, nb::ellipsis>;

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

// An array of an element type that kernels have, held while the call lasts.
class Held {
public:
    Held(nb::handle object, bool writable) {
        const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
        view_.data = buffer_.buf;
        view_.rank = buffer_.ndim;
        try {
            describe();
        } catch (...) {
            PyBuffer_Release(&buffer_);
            throw;
        }
    }
    ~Held() { PyBuffer_Release(&buffer_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    const View& view() const { return view_; }
    void* data() const { return buffer_.buf; }

private:
    void describe() {
        std::string_view format = buffer_.format == nullptr ? "" : buffer_.format;
        // NumPy's mark of an unaligned array.
        if (format.size() >= 2 && format[0] == '=') format.remove_prefix(1);
        if (format == "f") {
            view_.type = Type::f32;
        } else if (format == "d") {
            view_.type = Type::f64;
        } else if (format == "Zf") {
            view_.type = Type::c64;
        } else if (format == "Zd") {
            view_.type = Type::c128;
        } else if ((format == "i" || format == "l") && buffer_.itemsize == 4) {
            view_.type = Type::i32;
        } else if (format == "?") {
            view_.type = Type::boolean;
        } else {
            refuse("got an array of format '" + std::string(format) +
                   "'; expected elements that kernels have");
        }
        if (view_.rank > most_axes) refuse("got an array of more than 64 axes");
        const auto size = static_cast<std::ptrdiff_t>(size_of(view_.type));
        // Elements are moved as words of at most eight bytes.
        const std::size_t unit = std::min<std::size_t>(size_of(view_.type), 8);
        bool aligned = reinterpret_cast<std::uintptr_t>(buffer_.buf) % unit == 0;
        bool empty = false;
        for (int axis = 0; axis < view_.rank; ++axis) {
            view_.shape[axis] = buffer_.shape[axis];
            empty = empty || buffer_.shape[axis] == 0;
            aligned = aligned && (buffer_.strides[axis] % size == 0 || buffer_.shape[axis] <= 1);
            view_.strides[axis] = buffer_.strides[axis] / size;
        }
        if (!aligned && !empty) copy_bytes();
    }

    // Elements that stand across their alignment are read byte by byte, once.
    void copy_bytes() {
        const std::size_t size = size_of(view_.type), count = view_.size();
        copy_.emplace(count * size);
        std::ptrdiff_t at[most_axes] = {};
        const char* from = static_cast<const char*>(buffer_.buf);
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(copy_->as<char>() + i * size, from, size);
            for (int axis = view_.rank; axis-- > 0;) {
                from += buffer_.strides[axis];
                if (++at[axis] < view_.shape[axis]) break;
                from -= buffer_.strides[axis] * view_.shape[axis];
                at[axis] = 0;
            }
        }
        std::ptrdiff_t step = 1;
        for (int axis = view_.rank; axis-- > 0;) {
            view_.strides[axis] = step;
            step *= view_.shape[axis];
        }
        view_.data = copy_->as<char>();
    }

    Py_buffer buffer_;
    View view_;
    std::optional<Memory> copy_;
};

// A result: fresh storage in row-major order.
class Result : public Held {
public:
    Result(nb::handle object, Type type) : Held(object, true) {
        std::ptrdiff_t step = 1;
        for (int axis = view().rank; axis-- > 0;) {
            if (view().strides[axis] != step && view().shape[axis] > 1 && view().size() > 0) {
                refuse("out: expected contiguous storage in row-major order");
            }
            step *= view().shape[axis];
        }
        if (view().type != type) refuse("out: an array of another dtype than the result's");
    }
};

void expect(bool holds, const char* message) {
    if (!holds) refuse(message);
}

void expect_type(const View& view, Type type, const char* message) {
    expect(view.type == type, message);
}

nb::typed<nb::list, nb::str> elementwise_names() {
    nb::typed<nb::list, nb::str> names;
    for (int code = 0; code < elementwise_count(); ++code) {
        names.append(elementwise_row(code).name);
    }
    return names;
}

std::ptrdiff_t elementwise_call(int code, const Objects& operands, nb::handle out, int threads) {
    expect(code >= 0 && code < elementwise_count(), "unknown code of an elementwise function");
    const ElementwiseRow& row = elementwise_row(code);
    expect(static_cast<int>(operands.size()) == row.arity, "another number of operands");
    const Result result(out, row.out);
    std::optional<Held> held[3];
    View views[3];
    for (int k = 0; k < row.arity; ++k) {
        held[k].emplace(operands[static_cast<std::size_t>(k)], false);
        views[k] = held[k]->view();
        const View &operand = views[k], &target = result.view();
        expect(reads_as(operand.type, row.in[k]),
               "an operand of another dtype than the function's");
        expect(operand.rank <= target.rank, "an operand of more axes than the result");
        for (int axis = 1; axis <= operand.rank; ++axis) {
            const std::ptrdiff_t own = operand.shape[operand.rank - axis];
            expect(own == 1 || own == target.shape[target.rank - axis],
                   "an operand that does not broadcast to the result");
        }
    }
    const nb::gil_scoped_release unlocked;
    return elementwise(code, views, result.view(), result.data(), threads);
}

constexpr const char* reduction_names[] = {"reduce_sum",      "reduce_sum_float64",
                                           "reduce_sum_int32", "reduce_prod",
                                           "reduce_max",      "reduce_min",
                                           "argmax",          "argmin"};

std::ptrdiff_t reduce_call(std::string_view name, nb::handle operand, const Integers& axes,
                           nb::handle out, int threads) {
    int rule = 0;
    while (rule < 8 && name != reduction_names[rule]) ++rule;
    if (rule == 8) refuse("unknown reduction '" + std::string(name) + "'");
    const auto reduction = static_cast<Reduction>(rule);
    const Held x(operand, false);
    const bool is_integer = reduction == Reduction::sum_i32;
    const bool to_integer = is_integer || rule >= static_cast<int>(Reduction::argmax);
    const Result result(out, to_integer ? Type::i32 : Type::f32);
    expect_type(x.view(), is_integer ? Type::i32 : Type::f32, "an operand of another dtype");
    bool reduced[most_axes] = {};
    for (nb::handle axis : axes) {
        const int position = nb::cast<int>(axis);
        expect(position >= 0 && position < x.view().rank, "an axis outside the rank");
        reduced[position] = true;
    }
    std::size_t kept = 1, terms = 1;
    for (int axis = 0; axis < x.view().rank; ++axis) {
        (reduced[axis] ? terms : kept) *= static_cast<std::size_t>(x.view().shape[axis]);
    }
    expect(result.view().size() == kept, "out: another number of results");
    expect(terms > 0 || kept == 0 || rule < static_cast<int>(Reduction::maximum),
           "no element to choose from");
    expect(rule < static_cast<int>(Reduction::argmax) || terms <= 0x7fffffff,
           "more positions than Int32 counts");
    const nb::gil_scoped_release unlocked;
    return reduce(reduction, x.view(), reduced, result.data(), threads);
}

void scan_call(nb::handle operand, int axis, nb::handle out, int threads) {
    const Held x(operand, false);
    const Result result(out, Type::f32);
    expect_type(x.view(), Type::f32, "an operand of another dtype");
    expect(axis >= 0 && axis < x.view().rank, "an axis outside the rank");
    expect(result.view().size() == x.view().size(), "out: another number of results");
    const nb::gil_scoped_release unlocked;
    scan(x.view(), axis, static_cast<float*>(result.data()), threads);
}

std::ptrdiff_t matmul_call(std::string_view rule, nb::handle left, nb::handle right, nb::handle out,
                           int threads) {
    Product product = Product::f32;
    if (rule == "float64") {
        product = Product::f32_in_f64;
    } else if (rule == "int32") {
        product = Product::i32;
    } else if (rule != "float32") {
        refuse("unknown product '" + std::string(rule) + "'");
    }
    const Held a(left, false), b(right, false);
    const View &lhs = a.view(), &rhs = b.view();
    const Result result(out, product == Product::i32 ? Type::i32 : Type::f32);
    for (const View* operand : {&lhs, &rhs}) {
        expect(operand->type == Type::i32 ||
                   (operand->type == Type::f32 && product != Product::i32),
               "an operand of another dtype");
    }
    expect(lhs.rank == 2 && rhs.rank == 2 && lhs.shape[1] == rhs.shape[0] &&
               result.view().rank == 2 && result.view().shape[0] == lhs.shape[0] &&
               result.view().shape[1] == rhs.shape[1],
           "shapes that do not contract");
    const nb::gil_scoped_release unlocked;
    return matmul(product, lhs, rhs, result.data(), threads);
}

// Marks the reduced axes and counts the results and their terms.
struct Reduced {
    bool axis[most_axes] = {};
    std::size_t results = 1, terms = 1;

    Reduced(const View& x, const Integers& axes) {
        for (nb::handle each : axes) {
            const int position = nb::cast<int>(each);
            expect(position >= 0 && position < x.rank, "an axis outside the rank");
            axis[position] = true;
        }
        for (int other = 0; other < x.rank; ++other) {
            (axis[other] ? terms : results) *= static_cast<std::size_t>(x.shape[other]);
        }
    }
};

Type as_wide(Type type) {
    if (type == Type::f32) return Type::f64;
    return type == Type::c64 ? Type::c128 : type;
}

void sum_terms_call(int code, const Objects& operands, const Integers& axes, bool in_f64,
                    nb::handle out, int threads) {
    expect(code >= -1 && code < elementwise_count(), "unknown code of an elementwise function");
    const int arity = code < 0 ? 1 : elementwise_row(code).arity;
    expect(static_cast<int>(operands.size()) == arity && arity <= 2,
           "another number of operands");
    std::optional<Held> held[2];
    View views[2];
    for (int k = 0; k < arity; ++k) {
        held[k].emplace(operands[static_cast<std::size_t>(k)], false);
        views[k] = held[k]->view();
        expect(code < 0 || reads_as(views[k].type, elementwise_row(code).in[k]),
               "an operand of another dtype than the function's");
        expect(views[k].rank == views[0].rank && views[k].rank < most_axes &&
                   std::equal(views[k].shape, views[k].shape + views[k].rank, views[0].shape),
               "operands of different shapes");
    }
    const Type type = code < 0 ? views[0].type : elementwise_row(code).out;
    expect(type != Type::i32 && type != Type::boolean, "terms that are no floating numbers");
    const Result result(out, in_f64 ? as_wide(type) : type);
    const Reduced reduced(views[0], axes);
    expect(result.view().size() == reduced.results, "out: another number of results");
    const nb::gil_scoped_release unlocked;
    sum_terms(code, views, reduced.axis, in_f64, result.data(), threads);
}

constexpr const char* fold_names[] = {"product", "maximum", "minimum", "argmax", "argmin"};

void fold_call(std::string_view name, nb::handle operand, const Integers& axes, nb::handle out,
               int threads) {
    int rule = 0;
    while (rule < 5 && name != fold_names[rule]) ++rule;
    if (rule == 5) refuse("unknown fold '" + std::string(name) + "'");
    const auto chosen = static_cast<Fold>(rule);
    const Held x(operand, false);
    const Type type = x.view().type;
    expect(type == Type::f64 || (chosen == Fold::product && is_complex(type)),
           "an operand of another dtype");
    const Result result(out, chosen >= Fold::argmax ? Type::i32 : type);
    const Reduced reduced(x.view(), axes);
    expect(result.view().size() == reduced.results, "out: another number of results");
    expect(reduced.terms > 0 || reduced.results == 0 || chosen == Fold::product,
           "no element to choose from");
    expect(chosen < Fold::argmax || reduced.terms <= 0x7fffffff,
           "more positions than Int32 counts");
    const nb::gil_scoped_release unlocked;
    fold(chosen, x.view(), reduced.axis, result.data(), threads);
}

void scan_wide_call(nb::handle operand, int axis, nb::handle out, int threads) {
    const Held x(operand, false);
    const Type type = x.view().type;
    const Result result(out, type);
    expect(type == Type::f64 || is_complex(type), "an operand of another dtype");
    expect(axis >= 0 && axis < x.view().rank, "an axis outside the rank");
    expect(result.view().size() == x.view().size(), "out: another number of results");
    const nb::gil_scoped_release unlocked;
    scan_wide(x.view(), axis, result.data(), threads);
}

void matmul_wide_call(bool in_wide, nb::handle left, nb::handle right, nb::handle out,
                      int threads) {
    const Held a(left, false), b(right, false), target(out, true);
    const View &lhs = a.view(), &rhs = b.view();
    const Type type = target.view().type;
    const Result result(out, type);
    const bool any_complex = is_complex(lhs.type) || is_complex(rhs.type);
    const auto is_wide = [](Type t) { return t == Type::f64 || t == Type::c128; };
    const bool wide = is_wide(lhs.type) || is_wide(rhs.type);
    for (const View* operand : {&lhs, &rhs}) {
        expect(operand->type == Type::f32 || operand->type == Type::f64 || is_complex(operand->type),
               "an operand of another dtype");
    }
    expect(type == (any_complex ? (wide ? Type::c128 : Type::c64) : Type::f64) && (any_complex || wide),
           "out: another dtype than that of the product");
    expect(!in_wide || type == Type::c64, "an accumulator that is not wider");
    expect(lhs.rank == 2 && rhs.rank == 2 && lhs.shape[1] == rhs.shape[0] &&
               result.view().rank == 2 && result.view().shape[0] == lhs.shape[0] &&
               result.view().shape[1] == rhs.shape[1],
           "shapes that do not contract");
    const nb::gil_scoped_release unlocked;
    matmul_wide(type, in_wide, lhs, rhs, result.data(), threads);
}

void spatial(const Integers& values, int count, std::ptrdiff_t least, std::ptrdiff_t* out) {
    expect(static_cast<int>(values.size()) == count, "another number of spatial axes");
    for (int i = 0; i < count; ++i) {
        out[i] = nb::cast<std::ptrdiff_t>(values[static_cast<std::size_t>(i)]);
        expect(out[i] >= least, "a stride, dilation or padding that is too small");
    }
}

void convolve_call(nb::handle left, nb::handle right, const Integers& strides,
                   const Integers& low, const Integers& lhs_dilation,
                   const Integers& kernel_dilation, std::ptrdiff_t groups, nb::handle out,
                   int threads) {
    const Held a(left, false), b(right, false);
    const View &lhs = a.view(), &kernel = b.view();
    const Result result(out, Type::f32);
    expect(lhs.type == Type::f32 && kernel.type == Type::f32, "an operand of another dtype");
    const int rank = lhs.rank;
    expect(rank >= 3 && kernel.rank == rank && result.view().rank == rank, "ranks that differ");
    ConvolutionGeometry geometry;
    geometry.spatial = rank - 2;
    geometry.groups = groups;
    spatial(strides, rank - 2, 1, geometry.strides);
    spatial(low, rank - 2, 0, geometry.low);
    spatial(lhs_dilation, rank - 2, 1, geometry.lhs_dilation);
    spatial(kernel_dilation, rank - 2, 1, geometry.kernel_dilation);
    for (int i = 0; i < rank - 2; ++i) geometry.extents[i] = result.view().shape[i + 2];
    expect(groups >= 1 && kernel.shape[0] % groups == 0 && lhs.shape[1] == kernel.shape[1] * groups &&
               result.view().shape[0] == lhs.shape[0] &&
               result.view().shape[1] == kernel.shape[0],
           "features that do not fit the groups");
    const nb::gil_scoped_release unlocked;
    convolve(lhs, kernel, geometry, static_cast<float*>(result.data()), threads);
}

void check_indices(const View& indices, int axis, const View& data) {
    expect_type(indices, Type::i32, "indices of another dtype");
    expect(axis >= 0 && axis < data.rank, "an axis outside the rank");
    expect(indices_fit(indices, data.shape[axis]), "an index outside its axis");
}

// Elements of data with `axis` replaced by the indices.
std::size_t gathered(const View& data, int axis, const View& indices) {
    std::size_t size = indices.size();
    for (int other = 0; other < data.rank; ++other) {
        if (other != axis) size *= static_cast<std::size_t>(data.shape[other]);
    }
    return size;
}

void gather_call(nb::handle operand, nb::handle positions, int axis, nb::handle out, int threads) {
    const Held data(operand, false), indices(positions, false);
    const Result result(out, Type::f32);
    expect_type(data.view(), Type::f32, "data of another dtype");
    check_indices(indices.view(), axis, data.view());
    expect(result.view().size() == gathered(data.view(), axis, indices.view()),
           "out: another number of results");
    const nb::gil_scoped_release unlocked;
    gather(data.view(), indices.view(), axis, result.data(), threads);
}

void scatter_call(bool add, nb::handle first, nb::handle positions, nb::handle last, int axis,
                  nb::handle out, int threads) {
    const Held base(first, false), indices(positions, false), updates(last, false);
    const Result result(out, Type::f32);
    expect(base.view().type == Type::f32 && updates.view().type == Type::f32,
           "an operand of another dtype");
    check_indices(indices.view(), axis, base.view());
    expect(result.view().size() == base.view().size(), "out: another number of results");
    expect(updates.view().size() == gathered(base.view(), axis, indices.view()),
           "updates: another number of elements");
    const nb::gil_scoped_release unlocked;
    scatter(indices.view(), updates.view(), base.view(), axis, result.data(), add, threads);
}

void sort_call(nb::handle operand, int axis, bool descending, bool positions, nb::handle out,
               int threads) {
    const Held x(operand, false);
    const Result result(out, positions ? Type::i32 : Type::f32);
    expect_type(x.view(), Type::f32, "an operand of another dtype");
    expect(axis >= 0 && axis < x.view().rank && result.view().rank == x.view().rank,
           "an axis outside the rank");
    for (int other = 0; other < x.view().rank; ++other) {
        expect(other == axis ? result.view().shape[axis] <= x.view().shape[axis]
                             : result.view().shape[other] == x.view().shape[other],
               "out: another shape");
    }
    expect(x.view().shape[axis] <= 0x7fffffff, "more positions than Int32 counts");
    const auto count = static_cast<std::size_t>(result.view().shape[axis]);
    const nb::gil_scoped_release unlocked;
    sort(x.view(), axis, descending, count, positions, result.data(), threads);
}

std::size_t arithmetic_call(std::size_t rounds) {
    const nb::gil_scoped_release unlocked;
    std::size_t operations = 0;
    parallel(1, 1, [&](std::size_t) {
        float unused;
        operations = matmul_table().arithmetic(rounds, 1.0f, 0.0f, &unused);
    });
    return operations;
}

}  // namespace

void bind_operations(nb::module_& m) {
    m.def("narrow_tiles", &narrow_tiles,
          "Return whether products at level v4 take tiles of 256 bits, as suits some machines.");
    m.def("set_narrow_tiles", &set_narrow_tiles, "narrow"_a,
          "Choose the tiles of products at level v4, for tests; the bits never depend on them.");
    m.def("arithmetic", &arithmetic_call, "rounds"_a,
          "Multiply and add binary32 in registers, unfused; return the number of operations.\n\n"
          "Their rate is the limit of a product: a yardstick for benchmarks.");
    m.def("elementwise_names", &elementwise_names,
          "Return the names of the elementwise functions; the position of one is its code.");
    m.def("elementwise", &elementwise_call, "code"_a, "operands"_a, "out"_a, "threads"_a,
          "Write function(operands...), broadcast to the shape of ``out``, to ``out``.\n\n"
          "Returns the row-major position of the first result outside Int32, or -1.");
    m.def("reduce", &reduce_call, "name"_a, "operand"_a, "axes"_a, "out"_a, "threads"_a,
          "Write the reduction over ``axes``, in the order of the contract, to ``out``.\n\n"
          "Returns the row-major position of the first result outside Int32, or -1.");
    m.def("scan", &scan_call, "operand"_a, "axis"_a, "out"_a, "threads"_a,
          "Write inclusive sums along ``axis`` to ``out``.");
    m.def("matmul", &matmul_call, "rule"_a, "lhs"_a, "rhs"_a, "out"_a, "threads"_a,
          "Write ``lhs @ rhs`` to ``out``; ``rule`` is float32, float64 or int32.\n\n"
          "Returns the row-major position of the first result outside Int32, or -1.");
    m.def("sum_terms", &sum_terms_call, "code"_a, "operands"_a, "axes"_a, "in_f64"_a, "out"_a,
          "threads"_a,
          "Write the sums of function(operands...) over ``axes``, in the lane order, to ``out``.\n\n"
          "Code -1 sums the operand itself; ``in_f64`` adds in binary64, the dtype of ``out`` then.");
    m.def("fold", &fold_call, "name"_a, "operand"_a, "axes"_a, "out"_a, "threads"_a,
          "Write the product, extremum or winner over ``axes`` of Float64 or, products, complex\n"
          "elements to ``out``.");
    m.def("scan_wide", &scan_wide_call, "operand"_a, "axis"_a, "out"_a, "threads"_a,
          "Write inclusive sums of Float64 or complex elements along ``axis`` to ``out``.");
    m.def("matmul_wide", &matmul_wide_call, "in_wide"_a, "lhs"_a, "rhs"_a, "out"_a, "threads"_a,
          "Write ``lhs @ rhs`` in Float64 or complex arithmetic to ``out``.\n\n"
          "``in_wide`` adds Complex64 terms in Complex128 and rounds the sums once.");
    m.def("convolve", &convolve_call, "lhs"_a, "kernel"_a, "strides"_a, "low"_a, "lhs_dilation"_a,
          "kernel_dilation"_a, "groups"_a, "out"_a, "threads"_a,
          "Write the grouped cross-correlation to ``out``; axes are in role order.");
    m.def("gather", &gather_call, "data"_a, "indices"_a, "axis"_a, "out"_a, "threads"_a,
          "Write the indexed elements along ``axis`` to ``out``, bit for bit.");
    m.def("scatter", &scatter_call, "add"_a, "base"_a, "indices"_a, "updates"_a, "axis"_a, "out"_a,
          "threads"_a, "Write ``base`` with updates put in or added to ``out``.");
    m.def("sort", &sort_call, "operand"_a, "axis"_a, "descending"_a, "positions"_a, "out"_a,
          "threads"_a,
          "Write the first values, or positions, of every sorted line along ``axis`` to ``out``.");
}

}  // namespace bittrue
