// Elementwise operations over broadcast, strided operands: strips through the level's kernels.
#include <algorithm>
#include <atomic>

#include "arrays.h"
#include "operations.h"

namespace bittrue {
namespace {

constexpr std::size_t buffer_bytes = 8192;
constexpr std::size_t direct_strip = 16384;
constexpr std::size_t part_elements = 1 << 16;

// The first element of a strip that left Int32.
std::size_t first_over(const ElementwiseRow& row, const void* const* in, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const void* one[3];
        for (int k = 0; k < row.arity; ++k) one[k] = static_cast<const std::int32_t*>(in[k]) + i;
        std::int32_t result;
        if (row.strip(one, &result, 1)) return i;
    }
    return count;
}

}  // namespace

std::ptrdiff_t elementwise(int code, const View* operands, const View& out, void* result,
                           int threads) {
    const ElementwiseRow& row = elementwise_row(code);
    const std::size_t count = out.size();
    if (count == 0) return -1;
    Axes axes[3];
    bool direct = true;
    for (int k = 0; k < row.arity; ++k) {
        const View& operand = operands[k];
        const int missing = out.rank - operand.rank;
        for (int axis = 0; axis < out.rank; ++axis) {
            const int own = axis - missing;
            const bool stretched = own < 0 || operand.shape[own] == 1;
            axes[k].append(out.shape[axis], stretched ? 0 : operand.strides[own]);
        }
        direct = direct && Reader(operand.data, operand.type, axes[k], row.in[k]).is_direct();
    }
    std::atomic<std::size_t> over{count};
    const std::size_t size = size_of(row.out);
    const std::size_t each = threads > 1 ? part_elements : count;
    std::size_t widest = size;
    for (int k = 0; k < row.arity; ++k) widest = std::max(widest, size_of(row.in[k]));
    const std::size_t step = direct ? direct_strip : buffer_bytes / std::max<std::size_t>(widest, 4);
    parallel((count + each - 1) / each, threads, [&](std::size_t part) {
        alignas(64) char buffers[3][buffer_bytes];
        // Operands that the function has not stand for its first.
        const auto reader = [&](int k) {
            k = k < row.arity ? k : 0;
            return Reader(operands[k].data, operands[k].type, axes[k], row.in[k]);
        };
        Reader readers[3] = {reader(0), reader(1), reader(2)};
        const std::size_t end = part_end(part, each, count);
        std::size_t at = part * each;
        for (int k = 0; k < row.arity; ++k) readers[k].seek(at);
        // The first strip ends where the results are aligned to a cache line: wide stores across two
        // lines cost twice.
        const std::size_t astray =
            (reinterpret_cast<std::uintptr_t>(result) / size + at) % (64 / size);
        std::size_t first = end - at >= direct_strip && astray > 0 ? 64 / size - astray : 0;
        while (at < end) {
            const std::size_t most = first > 0 ? first : step;
            const std::size_t some = end - at < most ? end - at : most;
            first = 0;
            const void* in[3] = {};
            for (int k = 0; k < row.arity; ++k) in[k] = readers[k].next(some, buffers[k]);
            if (row.strip(in, static_cast<char*>(result) + at * size, some)) {
                const std::size_t found = at + first_over(row, in, some);
                std::size_t known = over.load();
                while (found < known && !over.compare_exchange_weak(known, found)) {
                }
                return;
            }
            at += some;
        }
    });
    return over == count ? -1 : static_cast<std::ptrdiff_t>(over.load());
}

void copy_elements(const View& source, void* out, bool convert, int threads) {
    Axes axes;
    for (int axis = 0; axis < source.rank; ++axis) {
        axes.append(source.shape[axis], source.strides[axis]);
    }
    const std::size_t count = source.size();
    if (count == 0) return;
    const std::size_t each = threads > 1 ? part_elements : count;
    parallel((count + each - 1) / each, threads, [&](std::size_t part) {
        Reader reader(source.data, source.type, axes, convert);
        reader.seek(part * each);
        reader.copy(part_end(part, each, count) - part * each,
                    static_cast<char*>(out) + part * each * size_of(source.type));
    });
}

}  // namespace bittrue
