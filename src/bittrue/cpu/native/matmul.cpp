// Matrix products: which kernel, and what becomes of its sums.
//
// Int32 products are exact. The greatest sum that the operands allow picks the kernel: below 2^24
// every partial sum is exact in binary32, below 2^53 in binary64, below 2^63 in Int64. Beyond,
// lhs = high * 2^16 + low, and sums of high * rhs and of low * rhs over at most 2^15 terms fit Int64;
// they are joined in 128 bits.
#include <cstring>

#include "operations.h"
#include "product.h"

namespace bittrue {
namespace {

struct Kept {
    std::mutex mutex;
    std::unique_ptr<Memory> memory;
    std::size_t size = 0;
};

Kept& kept() {
    static Kept* const buffer = new Kept;  // never destroyed: a thread may pack while others exit
    return *buffer;
}

constexpr std::size_t most_kept = std::size_t{64} << 20;

}  // namespace

PackingBuffer::PackingBuffer(std::size_t bytes) {
    if (bytes <= most_kept && kept().mutex.try_lock()) {
        try {
            if (kept().size < bytes) {
                kept().size = 0;
                kept().memory = std::make_unique<Memory>(bytes);
                kept().size = bytes;
            }
        } catch (...) {
            kept().mutex.unlock();
            throw;
        }
        data_ = kept().memory->as<void>();
        return;
    }
    own_ = std::make_unique<Memory>(bytes);
    data_ = own_->as<void>();
}

PackingBuffer::~PackingBuffer() {
    if (!own_) kept().mutex.unlock();
}

namespace {

// Lines of an operand and their elements along the contracted axis.
struct Lines {
    const void* data;
    Type type;
    std::ptrdiff_t line, step;
};

Lines rows_of(const View& lhs) { return {lhs.data, lhs.type, lhs.strides[0], lhs.strides[1]}; }
Lines columns_of(const View& rhs) { return {rhs.data, rhs.type, rhs.strides[1], rhs.strides[0]}; }

template <typename From, typename To>
auto packer(const Lines& lines, Pack<From, To> pack, int width) {
    return [=](std::size_t first, std::size_t count, std::size_t k, std::size_t depth, To* out) {
        const From* x = static_cast<const From*>(lines.data) +
                        static_cast<std::ptrdiff_t>(first) * lines.line +
                        static_cast<std::ptrdiff_t>(k) * lines.step;
        pack(x, lines.line, lines.step, count, depth, width, out);
    };
}

// Float32 and Int32 operands as Float32.
auto float_packer(const Lines& lines, const MatmulKernels& kernels, int width) {
    const auto plain = packer(lines, kernels.pack_f32, width);
    const auto converted = packer(lines, kernels.pack_i32_f32, width);
    const bool is_float = lines.type == Type::f32;
    return [=](std::size_t first, std::size_t count, std::size_t k, std::size_t depth, float* out) {
        if (is_float) {
            plain(first, count, k, depth, out);
        } else {
            converted(first, count, k, depth, out);
        }
    };
}

struct Extents {
    std::size_t n, k, m;
};

// Calls row(i, offset, count) for the rows of a finished part.
template <typename Row>
auto by_rows(std::size_t columns, Row&& row) {
    return [columns, row](std::size_t top, std::size_t rows, std::size_t left, std::size_t width) {
        for (std::size_t i = 0; i < rows; ++i) row((top + i) * columns + left, width);
    };
}

void multiply_f32(const View& lhs, const View& rhs, Extents e, float* out, int threads) {
    const MatmulKernels& kernels = matmul_table();
    Blocked<float, float>{kernels.f32, e.n, e.m, e.k, out, threads}.run(
        float_packer(rows_of(lhs), kernels, kernels.f32.mr),
        float_packer(columns_of(rhs), kernels, kernels.f32.nr),
        [](std::size_t, std::size_t, std::size_t, std::size_t) {});
}

void multiply_in_f64(const View& lhs, const View& rhs, Extents e, float* out, int threads) {
    const MatmulKernels& kernels = matmul_table();
    const ReduceKernels& ends = reduce_table();
    // Rows in groups, so that the sums of one group stay small.
    const std::size_t group = std::max<std::size_t>((std::size_t{4} << 20) / e.m, 512);
    const Memory memory(std::min(group, e.n) * e.m * sizeof(double));
    double* sums = memory.as<double>();
    for (std::size_t top = 0; top < e.n; top += group) {
        const std::size_t rows = std::min(group, e.n - top);
        Lines lines = rows_of(lhs);
        lines.data = static_cast<const char*>(lines.data) +
                     static_cast<std::ptrdiff_t>(top) * lines.line * 4;
        Blocked<float, double>{kernels.f32_in_f64, rows, e.m, e.k, sums, threads}.run(
            float_packer(lines, kernels, kernels.f32_in_f64.mr),
            float_packer(columns_of(rhs), kernels, kernels.f32_in_f64.nr),
            by_rows(e.m, [&](std::size_t at, std::size_t count) {
                ends.narrow(sums + at, out + top * e.m + at, count);
            }));
    }
}

// --- exact integers -----------------------------------------------------------------------------

using Wide = __int128;

std::uint64_t size_of_i32(std::int32_t value) {
    const std::int64_t wide = value;
    return static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
}

// The greatest sum of magnitudes of a line, times the greatest magnitude of the other operand: no
// partial sum in any order goes beyond.
Wide greatest_sum(const View& lhs, const View& rhs) {
    const auto elements = [](const View& x) {
        Axes axes;
        for (int axis = 0; axis < 2; ++axis) axes.append(x.shape[axis], x.strides[axis]);
        return axes;
    };
    constexpr std::size_t piece = 1024;
    std::int32_t buffer[piece];
    std::uint64_t greatest = 0;
    const Axes axes = elements(rhs);
    Reader reader(rhs.data, rhs.type, axes, false);
    for (std::size_t at = 0, count = rhs.size(); at < count; at += piece) {
        const std::size_t some = std::min(piece, count - at);
        const auto* x = static_cast<const std::int32_t*>(reader.next(some, buffer));
        for (std::size_t i = 0; i < some; ++i) greatest = std::max(greatest, size_of_i32(x[i]));
    }
    Wide longest = 0;
    for (std::ptrdiff_t row = 0; row < lhs.shape[0]; ++row) {
        const auto* x = static_cast<const std::int32_t*>(lhs.data) + row * lhs.strides[0];
        std::uint64_t sum = 0;
        for (std::ptrdiff_t k = 0; k < lhs.shape[1]; ++k) sum += size_of_i32(x[k * lhs.strides[1]]);
        longest = std::max<Wide>(longest, sum);
    }
    return longest * greatest;
}

// The least position whose sum leaves Int32, of all that were noted.
class FirstOver {
public:
    void note(std::size_t position) {
        std::size_t known = first_.load();
        while (position < known && !first_.compare_exchange_weak(known, position)) {
        }
    }
    std::ptrdiff_t position() const {
        const std::size_t first = first_.load();
        return first == none ? -1 : static_cast<std::ptrdiff_t>(first);
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};
    std::atomic<std::size_t> first_{none};
};

template <typename Sum>
void narrow_row(const Sum* sums, std::int32_t* out, std::size_t at, std::size_t count,
                FirstOver& over) {
    for (std::size_t i = at; i < at + count; ++i) {
        const auto sum = static_cast<std::int64_t>(sums[i]);
        out[i] = static_cast<std::int32_t>(sum);
        if (out[i] != sum) {
            over.note(i);
            return;
        }
    }
}

template <typename Element>
std::ptrdiff_t multiply_exactly(const TileKernels<Element, Element>& tile,
                                Pack<std::int32_t, Element> pack, const View& lhs, const View& rhs,
                                Extents e, std::int32_t* out, int threads) {
    const Memory memory(e.n * e.m * sizeof(Element));
    Element* sums = memory.as<Element>();
    FirstOver over;
    Blocked<Element, Element>{tile, e.n, e.m, e.k, sums, threads}.run(
        packer(rows_of(lhs), pack, tile.mr), packer(columns_of(rhs), pack, tile.nr),
        by_rows(e.m, [&](std::size_t at, std::size_t count) {
            narrow_row(sums, out, at, count, over);
        }));
    return over.position();
}

std::ptrdiff_t multiply_in_halves(const View& lhs, const View& rhs, Extents e, std::int32_t* out,
                                  int threads) {
    const MatmulKernels& kernels = matmul_table();
    const TileKernels<std::int64_t, std::int64_t>& tile = kernels.i64;
    constexpr std::size_t most_terms = std::size_t{1} << 15;
    const std::size_t count = e.n * e.m;
    const Memory memory(count * sizeof(std::int64_t)), joined(count * sizeof(Wide));
    std::int64_t* sums = memory.as<std::int64_t>();
    Wide* totals = joined.as<Wide>();
    std::memset(totals, 0, count * sizeof(Wide));
    FirstOver over;
    for (std::size_t k = 0; k < e.k; k += most_terms) {
        Lines left = rows_of(lhs), right = columns_of(rhs);
        for (Lines* lines : {&left, &right}) {
            lines->data = static_cast<const std::int32_t*>(lines->data) +
                          static_cast<std::ptrdiff_t>(k) * lines->step;
        }
        const Blocked<std::int64_t, std::int64_t> product{
            tile, e.n, e.m, std::min(most_terms, e.k - k), sums, threads};
        const auto rhs_pack = packer(right, kernels.pack_i32_i64, tile.nr);
        const bool last = k + most_terms >= e.k;
        product.run(packer(left, kernels.pack_high, tile.mr), rhs_pack,
                    by_rows(e.m, [&](std::size_t at, std::size_t some) {
                        for (std::size_t i = at; i < at + some; ++i) {
                            totals[i] += static_cast<Wide>(sums[i]) * 65536;
                        }
                    }));
        product.run(packer(left, kernels.pack_low, tile.mr), rhs_pack,
                    by_rows(e.m, [&](std::size_t at, std::size_t some) {
                        for (std::size_t i = at; i < at + some; ++i) {
                            totals[i] += sums[i];
                            out[i] = static_cast<std::int32_t>(totals[i]);
                            if (last && out[i] != totals[i]) over.note(i);
                        }
                    }));
    }
    return over.position();
}

std::ptrdiff_t multiply_i32(const View& lhs, const View& rhs, Extents e, std::int32_t* out,
                            int threads) {
    const MatmulKernels& kernels = matmul_table();
    const Wide bound = greatest_sum(lhs, rhs);
    if (bound < Wide{1} << 24) {
        return multiply_exactly(kernels.f32, kernels.pack_i32_f32, lhs, rhs, e, out, threads);
    }
    if (bound < Wide{1} << 53) {
        return multiply_exactly(kernels.f64, kernels.pack_i32_f64, lhs, rhs, e, out, threads);
    }
    if (bound < Wide{1} << 63) {
        return multiply_exactly(kernels.i64, kernels.pack_i32_i64, lhs, rhs, e, out, threads);
    }
    return multiply_in_halves(lhs, rhs, e, out, threads);
}

}  // namespace

std::ptrdiff_t matmul(Product rule, const View& lhs, const View& rhs, void* out, int threads) {
    const Extents e{static_cast<std::size_t>(lhs.shape[0]), static_cast<std::size_t>(lhs.shape[1]),
                    static_cast<std::size_t>(rhs.shape[1])};
    if (e.n == 0 || e.m == 0) return -1;
    if (e.k == 0) {
        std::memset(out, 0, e.n * e.m * 4);
        return -1;
    }
    switch (rule) {
        case Product::f32:
            multiply_f32(lhs, rhs, e, static_cast<float*>(out), threads);
            return -1;
        case Product::f32_in_f64:
            multiply_in_f64(lhs, rhs, e, static_cast<float*>(out), threads);
            return -1;
        default: return multiply_i32(lhs, rhs, e, static_cast<std::int32_t*>(out), threads);
    }
}

}  // namespace bittrue
