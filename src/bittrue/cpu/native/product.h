// The blocked product that matmul and convolution share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#include "arrays.h"

namespace bittrue {

constexpr std::size_t block_depth = 1024;
constexpr std::size_t block_rows = 128;
constexpr std::size_t packed_bytes = std::size_t{16} << 20;

// Memory for packed operands that is kept between calls. One call at a time has it; others bring
// their own, as do calls that need more than is worth keeping.
class PackingBuffer {
public:
    explicit PackingBuffer(std::size_t bytes);
    ~PackingBuffer();
    PackingBuffer(const PackingBuffer&) = delete;
    PackingBuffer& operator=(const PackingBuffer&) = delete;
    void* data() const { return data_; }

private:
    std::unique_ptr<Memory> own_;
    void* data_;
};

// Sums over `depth` of products, rows x columns of them. Pack(first line, lines, first k, depth, to)
// packs lines of an operand, padded to the width of the tile; it runs in parts and must not throw.
// done(c, row, rows, column, columns) follows the last block of a tile's rows: c + i * stride + j.
template <typename Element, typename Sum>
struct Blocked {
    const TileKernels<Element, Sum>& kernels;
    std::size_t rows, columns, depth;
    Sum* out;  // rows x columns, all finished sums
    int threads;

    template <typename PackLhs, typename PackRhs, typename Done>
    void run(PackLhs&& pack_lhs, PackRhs&& pack_rhs, Done&& done) const {
        const auto mr = static_cast<std::size_t>(kernels.mr), nr = static_cast<std::size_t>(kernels.nr);
        const std::size_t most_depth = std::min(block_depth, std::max<std::size_t>(depth, 1));
        const std::size_t wide =
            std::max(packed_bytes / (most_depth * sizeof(Element)) / nr * nr, nr);
        const std::size_t panels = std::min((columns + nr - 1) / nr, wide / nr);
        // Rows of a part: what fits the second-level cache, less where threads would idle.
        std::size_t part_rows = std::min(block_rows, (rows + mr - 1) / mr * mr);
        while (part_rows > mr && (rows + part_rows - 1) / part_rows <
                                     static_cast<std::size_t>(threads) * 4 && threads > 1) {
            part_rows = std::max(part_rows / 2 / mr * mr, mr);
        }
        const PackingBuffer buffer(panels * nr * most_depth * sizeof(Element));
        Element* packed = static_cast<Element*>(buffer.data());
        std::atomic<bool> failed{false};
        for (std::size_t left = 0; left < columns; left += panels * nr) {
            const std::size_t width = std::min(panels * nr, columns - left);
            const std::size_t here = (width + nr - 1) / nr;
            for (std::size_t k = 0; k == 0 || k < depth; k += most_depth) {
                const std::size_t some = std::min(most_depth, depth - k);
                // Rows of the operand are read in runs as long as a few panels are wide.
                constexpr std::size_t together = 8, piece = 64;
                parallel((here + together - 1) / together, threads, [&](std::size_t part) {
                    for (std::size_t at = 0; at < some; at += piece) {
                        for (std::size_t p = part * together; p < part_end(part, together, here);
                             ++p) {
                            pack_rhs(left + p * nr, std::min(nr, width - p * nr), k + at,
                                     std::min(piece, some - at), packed + (p * some + at) * nr);
                        }
                    }
                });
                parallel((rows + part_rows - 1) / part_rows, threads, [&](std::size_t part) {
                    const std::size_t top = part * part_rows;
                    const std::size_t end = part_end(part, part_rows, rows);
                    const std::size_t strips = (end - top + mr - 1) / mr;
                    void* scratch = thread_scratch((strips * mr * some + 1) * sizeof(Element));
                    if (scratch == nullptr) {
                        failed = true;
                        return;
                    }
                    Element* a = static_cast<Element*>(scratch);
                    for (std::size_t s = 0; s < strips; ++s) {
                        pack_lhs(top + s * mr, std::min(mr, end - top - s * mr), k, some,
                                 a + s * mr * some);
                    }
                    for (std::size_t p = 0; p < here; ++p) {
                        for (std::size_t s = 0; s < strips; ++s) {
                            tile(a + s * mr * some, packed + p * nr * some, some,
                                 {k == 0, k + some >= depth}, top + s * mr,
                                 std::min(mr, end - top - s * mr), left + p * nr,
                                 std::min(nr, width - p * nr));
                        }
                    }
                    if (k + some >= depth) done(top, end - top, left, width);
                });
                if (failed) throw std::bad_alloc();
            }
        }
    }

private:
    void tile(const Element* a, const Element* b, std::size_t some, Place place, std::size_t row,
              std::size_t tall, std::size_t column, std::size_t wide) const {
        Sum* c = out + row * columns + column;
        const auto stride = static_cast<std::ptrdiff_t>(columns);
        if (tall == static_cast<std::size_t>(kernels.mr) &&
            wide == static_cast<std::size_t>(kernels.nr)) {
            kernels.tile(a, b, some, c, stride, place);
            return;
        }
        // A tile over the edge is computed apart.
        alignas(64) Sum whole[8 * 64];
        const auto nr = static_cast<std::size_t>(kernels.nr);
        if (!place.first) {
            std::fill_n(whole, static_cast<std::size_t>(kernels.mr) * nr, Sum{});
            for (std::size_t i = 0; i < tall; ++i) std::copy_n(c + i * columns, wide, whole + i * nr);
        }
        kernels.tile(a, b, some, whole, static_cast<std::ptrdiff_t>(nr), place);
        for (std::size_t i = 0; i < tall; ++i) std::copy_n(whole + i * nr, wide, c + i * columns);
    }
};

}  // namespace bittrue
