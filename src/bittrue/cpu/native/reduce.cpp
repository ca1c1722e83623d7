// Reductions and the scan: which terms combine in which order, over any strides.
//
// A reduction has kept and reduced axes. Where a step along the last kept axis is one element,
// neighbouring columns are reduced side by side; else the terms of one result are read as a
// contiguous row, in place or gathered block by block.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "operations.h"

namespace bittrue {
namespace {

constexpr std::size_t column_tile = 8192;
constexpr std::size_t part_terms = std::size_t{1} << 18;  // a multiple of block_terms

std::size_t blocks_of(std::size_t terms) { return (terms + block_terms - 1) / block_terms; }

struct Shape {
    Axes kept, reduced;
    std::size_t results, terms;
    bool by_columns;
    // Of columns: the matrices (`outer` of them) have `columns` columns and `terms` rows.
    Axes outer;
    std::size_t columns, matrices;
    std::ptrdiff_t row_stride;

    Shape(const View& x, const bool* is_reduced) {
        for (int axis = 0; axis < x.rank; ++axis) {
            (is_reduced[axis] ? reduced : kept).append(x.shape[axis], x.strides[axis]);
        }
        results = kept.size();
        terms = reduced.size();
        const bool rows_lie_apart = reduced.rank == 1 && reduced.stride[0] != 1;
        by_columns = rows_lie_apart && kept.rank > 0 && kept.stride[kept.rank - 1] == 1;
        if (by_columns) {
            outer = kept;
            columns = static_cast<std::size_t>(kept.extent[--outer.rank]);
            matrices = outer.size();
            row_stride = reduced.stride[0];
        }
    }
};

// The terms of one result as contiguous rows.
template <typename T>
class Terms {
public:
    Terms(const View& x, const Shape& shape)
        : data_(static_cast<const T*>(x.data)),
          shape_(shape),
          type_(x.type),
          direct_(shape.reduced.rank == 0 ||
                  (shape.reduced.rank == 1 && shape.reduced.stride[0] == 1)) {}

    // Terms per call of `row`: all of them in place, a block where they are gathered.
    std::size_t piece(std::size_t most) const { return direct_ ? most : block_terms; }
    bool is_direct() const { return direct_; }
    const T* start(std::size_t result) const {
        if (shape_.kept.is_line()) {
            return data_ + static_cast<std::ptrdiff_t>(result) * shape_.kept.line_stride();
        }
        return data_ + shape_.kept.offset(result);
    }

    const T* row(std::size_t result, std::size_t first, std::size_t count, T* buffer) const {
        if (direct_) return start(result) + first;
        Reader reader(start(result), type_, shape_.reduced, false);
        reader.seek(first);
        reader.copy(count, buffer);
        return buffer;
    }

private:
    const T* data_;
    const Shape& shape_;
    Type type_;
    bool direct_;
};

// Cuts `results` x `units` into parts that are worth a thread: calls body(result, first, end) for
// runs of units of one result. A result has `terms` terms.
template <typename Body>
void over_results(std::size_t results, std::size_t units, std::size_t terms, int threads,
                  Body&& body) {
    const std::size_t of_unit = std::max<std::size_t>(terms / std::max<std::size_t>(units, 1), 1);
    const std::size_t together = std::max<std::size_t>(part_terms / of_unit, 1);
    if (units >= together) {
        const std::size_t pieces = (units + together - 1) / together;
        parallel(results * pieces, threads, [&](std::size_t part) {
            const std::size_t piece = part % pieces;
            body(part / pieces, piece * together, part_end(piece, together, units));
        });
        return;
    }
    const std::size_t rows = std::max<std::size_t>(together / units, 1);
    parallel((results + rows - 1) / rows, threads, [&](std::size_t part) {
        for (std::size_t r = part * rows; r < part_end(part, rows, results); ++r) body(r, 0, units);
    });
}

// --- sums ---------------------------------------------------------------------------------------

// The block sums of block sums, until one is left for each of `results` rows of `count` values.
template <typename Sum>
void finish_rows(const SumKernels<Sum, Sum>& kernels, Sum* values, std::size_t results,
                 std::size_t count, Sum* out) {
    for (std::size_t r = 0; r < results; ++r) {
        Sum* row = values + r * count;
        std::size_t left = count;
        while (left > 1) {
            // In place: a block's sum is written where the block, or one before it, stood.
            for (std::size_t b = 0; b < blocks_of(left); ++b) {
                Sum sum;
                kernels.blocks(row + b * block_terms,
                               std::min(block_terms, left - b * block_terms), &sum);
                row[b] = sum;
            }
            left = blocks_of(left);
        }
        out[r] = row[0];
    }
}

template <typename Term, typename Sum>
void sum_rows(const SumKernels<Term, Sum>& first, const SumKernels<Sum, Sum>& above, const View& x,
              const Shape& shape, Sum* out, int threads) {
    const Terms<Term> terms(x, shape);
    const std::size_t blocks = blocks_of(shape.terms);
    std::unique_ptr<Memory> partial;
    if (blocks > 1) partial = std::make_unique<Memory>(shape.results * blocks * sizeof(Sum));
    Sum* sums = partial ? partial->as<Sum>() : out;
    over_results(shape.results, blocks, shape.terms, threads,
                 [&](std::size_t result, std::size_t begin, std::size_t end) {
                     Term buffer[block_terms];
                     const std::size_t last = std::min(end * block_terms, shape.terms);
                     const std::size_t piece = terms.piece(last);
                     for (std::size_t at = begin * block_terms; at < last;) {
                         const std::size_t some = std::min(piece, last - at);
                         const Term* row = terms.row(result, at, some, buffer);
                         first.blocks(row, some, sums + result * blocks + at / block_terms);
                         at += some;
                     }
                 });
    if (partial) {
        // Sums are formed where the environment is set: in a part.
        parallel(1, 1, [&](std::size_t) { finish_rows(above, sums, shape.results, blocks, out); });
    }
}

// One level of blocks over matrices of columns; `out` is [matrices, blocks, columns].
template <typename Term, typename Sum, typename Start>
void sum_columns_level(const SumKernels<Term, Sum>& kernels, Start&& start, std::ptrdiff_t stride,
                       std::size_t matrices, std::size_t rows, std::size_t columns, Sum* out,
                       int threads) {
    const std::size_t blocks = blocks_of(rows);
    const std::size_t tiles = (columns + column_tile - 1) / column_tile;
    std::atomic<bool> failed{false};
    // Small matrices go together.
    const std::size_t tasks = matrices * blocks * tiles;
    const std::size_t of_task = std::min(rows, block_terms) * std::min(columns, column_tile);
    const std::size_t each = std::max<std::size_t>(part_terms / std::max<std::size_t>(of_task, 1), 1);
    parallel((tasks + each - 1) / each, threads, [&](std::size_t part) {
        const std::size_t room = lanes * std::min(columns, column_tile);
        Sum* scratch = static_cast<Sum*>(thread_scratch(room * sizeof(Sum)));
        if (scratch == nullptr) {
            failed = true;
            return;
        }
        for (std::size_t task = part * each; task < part_end(part, each, tasks); ++task) {
            const std::size_t first = task % tiles * column_tile;
            const std::size_t block = task / tiles % blocks, matrix = task / tiles / blocks;
            const std::size_t row = block * block_terms;
            kernels.columns(
                start(matrix) + static_cast<std::ptrdiff_t>(row) * stride + first,
                std::min(block_terms, rows - row), stride, std::min(column_tile, columns - first),
                out + (matrix * blocks + block) * columns + first, scratch);
        }
    });
    if (failed) throw std::bad_alloc();
}

template <typename Term, typename Sum>
void sum_columns(const SumKernels<Term, Sum>& first, const SumKernels<Sum, Sum>& above,
                 const View& x, const Shape& shape, Sum* out, int threads) {
    std::size_t rows = blocks_of(shape.terms);
    const std::size_t columns = shape.columns;
    std::unique_ptr<Memory> values, next;
    const auto room = [&](std::size_t blocks) {
        return std::make_unique<Memory>(shape.matrices * blocks * columns * sizeof(Sum));
    };
    if (rows > 1) values = room(rows);
    const Term* data = static_cast<const Term*>(x.data);
    sum_columns_level(
        first, [&](std::size_t matrix) { return data + shape.outer.offset(matrix); },
        shape.row_stride, shape.matrices, shape.terms, columns, rows > 1 ? values->as<Sum>() : out,
        threads);
    while (rows > 1) {
        const std::size_t blocks = blocks_of(rows);
        if (blocks > 1) next = room(blocks);
        const Sum* from = values->as<Sum>();
        sum_columns_level(
            above, [&](std::size_t matrix) { return from + matrix * rows * columns; },
            static_cast<std::ptrdiff_t>(columns), shape.matrices, rows, columns,
            blocks > 1 ? next->as<Sum>() : out, threads);
        values = std::move(next);
        rows = blocks;
    }
}

template <typename Term, typename Sum>
void sum(const SumKernels<Term, Sum>& first, const SumKernels<Sum, Sum>& above, const View& x,
         const Shape& shape, Sum* out, int threads) {
    if (shape.by_columns) {
        sum_columns(first, above, x, shape, out, threads);
    } else {
        sum_rows(first, above, x, shape, out, threads);
    }
}

// --- exact integers -----------------------------------------------------------------------------

using Wide = __int128;

std::ptrdiff_t narrow_all(const Wide* sums, std::size_t count, std::int32_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::int32_t>(sums[i]);
        if (out[i] != sums[i]) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
}

std::ptrdiff_t sum_i32(const View& x, const Shape& shape, std::int32_t* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    std::vector<Wide> sums(shape.results, 0);
    if (shape.by_columns) {
        const std::size_t width = 1024;
        const std::size_t tiles = (shape.columns + width - 1) / width;
        parallel(shape.matrices * tiles, threads, [&](std::size_t part) {
            const std::size_t matrix = part / tiles, first = part % tiles * width;
            const std::size_t columns = std::min(width, shape.columns - first);
            const std::int32_t* row =
                static_cast<const std::int32_t*>(x.data) + shape.outer.offset(matrix) + first;
            std::int64_t some[width];
            // 2^31 rows add up to less than 2^63.
            for (std::size_t r = 0; r < shape.terms;) {
                const std::size_t end = std::min(shape.terms, r + (std::size_t{1} << 31));
                std::fill_n(some, columns, std::int64_t{0});
                for (; r < end; ++r, row += shape.row_stride) {
                    kernels.add_row_i32(row, some, columns);
                }
                for (std::size_t c = 0; c < columns; ++c) {
                    sums[matrix * shape.columns + first + c] += some[c];
                }
            }
        });
    } else {
        const Terms<std::int32_t> terms(x, shape);
        const std::size_t blocks = blocks_of(shape.terms);
        std::vector<std::int64_t> partial(shape.results * blocks);
        over_results(shape.results, blocks, shape.terms, threads,
                     [&](std::size_t result, std::size_t begin, std::size_t end) {
                         std::int32_t buffer[block_terms];
                         for (std::size_t b = begin; b < end; ++b) {
                             const std::size_t at = b * block_terms;
                             const std::size_t some = std::min(block_terms, shape.terms - at);
                             partial[result * blocks + b] =
                                 kernels.sum_i32(terms.row(result, at, some, buffer), some);
                         }
                     });
        for (std::size_t i = 0; i < partial.size(); ++i) sums[i / blocks] += partial[i];
    }
    return narrow_all(sums.data(), shape.results, out);
}

// --- ordered products ---------------------------------------------------------------------------

// Calls body(matrix, first column, columns, first row) for tiles of columns.
template <typename Body>
void over_columns(const View& x, const Shape& shape, std::size_t width, int threads, Body&& body) {
    const std::size_t tiles = (shape.columns + width - 1) / width;
    const std::size_t tasks = shape.matrices * tiles;
    const std::size_t of_task = shape.terms * std::min(width, shape.columns);
    const std::size_t each = std::max<std::size_t>(part_terms / std::max<std::size_t>(of_task, 1), 1);
    parallel((tasks + each - 1) / each, threads, [&](std::size_t part) {
        for (std::size_t task = part * each; task < part_end(part, each, tasks); ++task) {
            const std::size_t matrix = task / tiles, first = task % tiles * width;
            body(matrix * shape.columns + first, std::min(width, shape.columns - first),
                 static_cast<const std::uint32_t*>(x.data) + shape.outer.offset(matrix) + first);
        }
    });
}

constexpr std::size_t fold_tile = 4096;

void product(const View& x, const Shape& shape, float* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    if (shape.by_columns) {
        over_columns(x, shape, fold_tile, threads,
                     [&](std::size_t at, std::size_t columns, const std::uint32_t* bits) {
                         const float* row = reinterpret_cast<const float*>(bits);
                         std::fill_n(out + at, columns, 1.0f);
                         for (std::size_t r = 0; r < shape.terms; ++r, row += shape.row_stride) {
                             kernels.multiply_row(row, out + at, columns);
                         }
                     });
        return;
    }
    const Terms<float> terms(x, shape);
    if (terms.is_direct() && shape.kept.is_line()) {
        const std::ptrdiff_t stride = shape.kept.line_stride();
        const std::size_t each =
            std::max<std::size_t>(part_terms / std::max<std::size_t>(shape.terms, 1) / 8 * 8, 8);
        parallel((shape.results + each - 1) / each, threads, [&](std::size_t part) {
            const std::size_t first = part * each;
            kernels.product(terms.start(first), part_end(part, each, shape.results) - first, stride,
                            shape.terms, out + first);
        });
        return;
    }
    over_results(shape.results, 1, shape.terms, threads,
                 [&](std::size_t result, std::size_t, std::size_t) {
                     // The product so far is the first factor of the next block: 1 * p is p.
                     float buffer[block_terms + 1];
                     buffer[0] = 1.0f;
                     for (std::size_t at = 0; at < shape.terms; at += block_terms) {
                         const std::size_t some = std::min(block_terms, shape.terms - at);
                         const float* row = terms.row(result, at, some, buffer + 1);
                         if (row != buffer + 1) std::memcpy(buffer + 1, row, some * sizeof *row);
                         kernels.product(buffer, 1, 0, some + 1, buffer);
                     }
                     out[result] = buffer[0];
                 });
}

// --- extrema ------------------------------------------------------------------------------------

void extremum(const View& x, const Shape& shape, bool least, std::uint32_t* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    if (shape.by_columns) {
        over_columns(x, shape, fold_tile, threads,
                     [&](std::size_t at, std::size_t columns, const std::uint32_t* row) {
                         auto* ranks = reinterpret_cast<std::int32_t*>(out + at);
                         constexpr auto most = std::numeric_limits<std::int32_t>::max();
                         std::fill_n(ranks, columns, least ? most : -most - 1);
                         for (std::size_t r = 0; r < shape.terms; ++r, row += shape.row_stride) {
                             kernels.extremum_row[least](row, ranks, columns);
                         }
                         kernels.extremum_end[least](ranks, columns);
                     });
        return;
    }
    const Terms<std::uint32_t> terms(x, shape);
    const std::size_t blocks = blocks_of(shape.terms);
    std::vector<std::uint32_t> partial(shape.results * blocks);
    over_results(shape.results, blocks, shape.terms, threads,
                 [&](std::size_t result, std::size_t begin, std::size_t end) {
                     std::uint32_t buffer[block_terms];
                     for (std::size_t b = begin; b < end; ++b) {
                         const std::size_t at = b * block_terms;
                         const std::size_t some = std::min(block_terms, shape.terms - at);
                         partial[result * blocks + b] = kernels.extremum[least](
                             terms.row(result, at, some, buffer), some);
                     }
                 });
    for (std::size_t r = 0; r < shape.results; ++r) {
        out[r] = blocks == 1 ? partial[r]
                             : kernels.extremum[least](partial.data() + r * blocks, blocks);
    }
}

void winner(const View& x, const Shape& shape, bool least, std::int32_t* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    constexpr std::int32_t below = std::numeric_limits<std::int32_t>::min();
    if (shape.by_columns) {
        over_columns(x, shape, fold_tile, threads,
                     [&](std::size_t at, std::size_t columns, const std::uint32_t* row) {
                         std::int32_t keys[fold_tile];
                         std::fill_n(keys, columns, below);
                         for (std::size_t r = 0; r < shape.terms; ++r, row += shape.row_stride) {
                             kernels.winner_row[least](row, static_cast<std::int32_t>(r), keys,
                                                       out + at, columns);
                         }
                     });
        return;
    }
    const Terms<std::uint32_t> terms(x, shape);
    const std::size_t piece = terms.piece(part_terms);
    const std::size_t pieces = (shape.terms + piece - 1) / piece;
    struct Winner {
        std::int32_t key, ordinal;
    };
    std::vector<Winner> partial(shape.results * pieces);
    over_results(shape.results, pieces, shape.terms, threads,
                 [&](std::size_t result, std::size_t begin, std::size_t end) {
                     std::uint32_t buffer[block_terms];
                     for (std::size_t p = begin; p < end; ++p) {
                         const std::size_t at = p * piece;
                         const std::size_t some = std::min(piece, shape.terms - at);
                         Winner& won = partial[result * pieces + p];
                         won.ordinal = static_cast<std::int32_t>(
                             at + kernels.winner[least](terms.row(result, at, some, buffer), some,
                                                        &won.key));
                     }
                 });
    for (std::size_t r = 0; r < shape.results; ++r) {
        Winner best = partial[r * pieces];
        for (std::size_t p = 1; p < pieces; ++p) {
            const Winner& other = partial[r * pieces + p];
            if (other.key > best.key) best = other;
        }
        out[r] = best.ordinal;
    }
}

void sum_f32(const View& x, const Shape& shape, float* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    sum(kernels.f32, kernels.f32, x, shape, out, threads);
    parallel(1, 1, [&](std::size_t) { kernels.canonical(out, shape.results); });
}

void sum_in_f64(const View& x, const Shape& shape, float* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    const Memory sums(shape.results * sizeof(double));
    sum(kernels.f32_in_f64, kernels.f64, x, shape, sums.as<double>(), threads);
    parallel(1, 1, [&](std::size_t) { kernels.narrow(sums.as<double>(), out, shape.results); });
}

}  // namespace

void sum_reals(const View& x, const bool* reduced, bool in_f64, void* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    const Shape shape(x, reduced);
    if (shape.results == 0) return;
    if (shape.terms == 0) {
        std::memset(out, 0, shape.results * (in_f64 ? sizeof(double) : sizeof(float)));
    } else if (x.type == Type::f64) {
        sum(kernels.f64, kernels.f64, x, shape, static_cast<double*>(out), threads);
    } else if (in_f64) {
        sum(kernels.f32_in_f64, kernels.f64, x, shape, static_cast<double*>(out), threads);
    } else {
        sum(kernels.f32, kernels.f32, x, shape, static_cast<float*>(out), threads);
    }
}

std::ptrdiff_t reduce(Reduction rule, const View& x, const bool* reduced, void* out, int threads) {
    const Shape shape(x, reduced);
    if (shape.results == 0) return -1;
    float* floats = static_cast<float*>(out);
    if (shape.terms == 0) {
        const bool is_product = rule == Reduction::product;
        std::fill_n(floats, shape.results, is_product ? 1.0f : 0.0f);  // the bits of Int32 0 too
        return -1;
    }
    std::int32_t* ints = static_cast<std::int32_t*>(out);
    std::ptrdiff_t over = -1;
    switch (rule) {
        case Reduction::sum: sum_f32(x, shape, floats, threads); break;
        case Reduction::sum_in_f64: sum_in_f64(x, shape, floats, threads); break;
        case Reduction::sum_i32: over = sum_i32(x, shape, ints, threads); break;
        case Reduction::product: product(x, shape, floats, threads); break;
        case Reduction::maximum:
        case Reduction::minimum:
            extremum(x, shape, rule == Reduction::minimum, static_cast<std::uint32_t*>(out),
                     threads);
            break;
        case Reduction::argmax:
        case Reduction::argmin:
            winner(x, shape, rule == Reduction::argmin, ints, threads);
            break;
    }
    return over;
}

void scan(const View& x, int axis, float* out, int threads) {
    const ReduceKernels& kernels = reduce_table();
    const std::size_t count = x.size();
    if (count == 0) return;
    std::size_t before = 1, after = 1;
    bool contiguous = true;
    std::ptrdiff_t step = 1;
    for (int other = x.rank; other-- > 0;) {
        if (other != axis) {
            (other < axis ? before : after) *= static_cast<std::size_t>(x.shape[other]);
        }
        contiguous = contiguous && (x.strides[other] == step || x.shape[other] == 1);
        step *= x.shape[other];
    }
    const float* source = static_cast<const float*>(x.data);
    std::unique_ptr<Memory> copy;
    if (!contiguous) {
        copy = std::make_unique<Memory>(count * sizeof(float));
        copy_elements(x, copy->as<float>(), false, threads);
        source = copy->as<float>();
    }
    const std::size_t length = static_cast<std::size_t>(x.shape[axis]);
    if (after == 1) {
        const std::size_t rows = std::max<std::size_t>(part_terms / length / 4 * 4, 4);
        parallel((before + rows - 1) / rows, threads, [&](std::size_t part) {
            const std::size_t first = part * rows;
            kernels.scan(source + first * length, part_end(part, rows, before) - first, length,
                         out + first * length);
        });
        return;
    }
    const std::size_t tiles = (after + fold_tile - 1) / fold_tile;
    parallel(before * tiles, threads, [&](std::size_t part) {
        const std::size_t first = part % tiles * fold_tile;
        const std::size_t columns = std::min(fold_tile, after - first);
        std::size_t at = part / tiles * length * after + first;
        float sums[fold_tile] = {};
        for (std::size_t i = 0; i < length; ++i, at += after) {
            kernels.scan_row(source + at, sums, out + at, columns);
        }
    });
}

}  // namespace bittrue
