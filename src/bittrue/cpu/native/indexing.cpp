// Gather and scatter along one axis. Elements are moved bit for bit; scatter_add rounds each sum.
#include <algorithm>
#include <cstring>

#include "operations.h"

namespace bittrue {
namespace {

constexpr std::size_t part_moved = 1 << 16;

// An array of the gathered shape is [before, indices, after]; its target is [before, extent, after].
struct Split {
    std::size_t before = 1, extent, after = 1;
    Split(const View& data, int axis) : extent(static_cast<std::size_t>(data.shape[axis])) {
        for (int other = 0; other < data.rank; ++other) {
            if (other != axis) (other < axis ? before : after) *= static_cast<std::size_t>(data.shape[other]);
        }
    }
};

// The elements in row-major order: the array's own, or a copy.
template <typename T>
class Dense {
public:
    Dense(const View& view, int threads) {
        bool contiguous = true;
        std::ptrdiff_t step = 1;
        for (int axis = view.rank; axis-- > 0;) {
            contiguous = contiguous && (view.strides[axis] == step || view.shape[axis] == 1);
            step *= view.shape[axis];
        }
        if (!contiguous && view.size() > 0) {
            copy_ = std::make_unique<Memory>(view.size() * sizeof(T));
            copy_elements(view, copy_->as<T>(), false, threads);
        }
        data_ = copy_ ? copy_->as<T>() : static_cast<const T*>(view.data);
    }
    const T* data() const { return data_; }

private:
    std::unique_ptr<Memory> copy_;
    const T* data_;
};

void add_to(float* target, const float* update, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const float sum = target[i] + update[i];
        constexpr std::uint32_t nan = 0x7fc00000;
        std::memcpy(target + i, &sum, sizeof sum);
        if (sum != sum) std::memcpy(target + i, &nan, sizeof nan);
    }
}

void add_each(float* target, const std::int32_t* index, const float* update, std::size_t count) {
    const float nan = __builtin_nanf("");  // 7fc00000
    for (std::size_t i = 0; i < count; ++i) {
        const float sum = target[index[i]] + update[i];
        target[index[i]] = __builtin_expect(sum == sum, 1) ? sum : nan;
    }
}

}  // namespace

bool indices_fit(const View& indices, std::ptrdiff_t extent) {
    Axes axes;
    for (int axis = 0; axis < indices.rank; ++axis) {
        axes.append(indices.shape[axis], indices.strides[axis]);
    }
    constexpr std::size_t piece = 1024;
    std::int32_t buffer[piece];
    const std::size_t count = indices.size();
    if (count == 0) return true;
    Reader reader(indices.data, indices.type, axes, false);
    for (std::size_t at = 0; at < count; at += piece) {
        const std::size_t some = std::min(piece, count - at);
        const auto* x = static_cast<const std::int32_t*>(reader.next(some, buffer));
        std::int32_t least = 0, greatest = -1;
        for (std::size_t i = 0; i < some; ++i) {
            least = x[i] < least ? x[i] : least;
            greatest = x[i] > greatest ? x[i] : greatest;
        }
        if (least < 0 || greatest >= extent) return false;
    }
    return true;
}

void gather(const View& data, const View& indices, int axis, void* out, int threads) {
    const Split split(data, axis);
    const std::size_t count = indices.size();
    if (split.before * count * split.after == 0) return;
    const Dense<std::uint32_t> source(data, threads);
    const Dense<std::int32_t> index(indices, threads);
    const std::size_t each = std::max<std::size_t>(part_moved / split.after, 1);
    const std::size_t rows = split.before * count;
    parallel((rows + each - 1) / each, threads, [&](std::size_t part) {
        auto* to = static_cast<std::uint32_t*>(out);
        for (std::size_t row = part * each; row < part_end(part, each, rows);) {
            const std::size_t outer = row / count, first = row % count;
            const std::size_t some = std::min(part_end(part, each, rows) - row, count - first);
            const std::uint32_t* from = source.data() + outer * split.extent * split.after;
            const std::int32_t* at = index.data() + first;
            std::uint32_t* target = to + row * split.after;
            if (split.after == 1) {
                for (std::size_t i = 0; i < some; ++i) target[i] = from[at[i]];
            } else {
                for (std::size_t i = 0; i < some; ++i, target += split.after) {
                    std::memcpy(target, from + static_cast<std::size_t>(at[i]) * split.after,
                                split.after * sizeof *target);
                }
            }
            row += some;
        }
    });
}

void scatter(const View& indices, const View& updates, const View& base, int axis, void* out,
             bool add, int threads) {
    copy_elements(base, out, false, threads);
    const Split split(base, axis);
    const std::size_t count = indices.size();
    if (split.before * count * split.after == 0) return;
    const Dense<float> source(updates, threads);
    const Dense<std::int32_t> index(indices, threads);
    auto* to = static_cast<float*>(out);
    // Parts differ in the coordinates before or after the axis, so that one part writes an element.
    const bool by_outer = split.before >= static_cast<std::size_t>(threads) || split.after < 64;
    const std::size_t tiles =
        by_outer ? 1 : std::min<std::size_t>(static_cast<std::size_t>(threads), split.after / 16);
    const std::size_t width = (split.after + tiles - 1) / tiles;
    const std::size_t each =
        by_outer ? std::max<std::size_t>(part_moved / (count * split.after), 1) : 1;
    const std::size_t outers = (split.before + each - 1) / each;
    parallel(outers * tiles, threads, [&](std::size_t part) {
        const std::size_t first = part % tiles * width;
        if (first >= split.after) return;
        const std::size_t some = std::min(width, split.after - first);
        const std::size_t begin = part / tiles;
        for (std::size_t outer = begin * each; outer < part_end(begin, each, split.before); ++outer) {
            float* target = to + outer * split.extent * split.after + first;
            const float* update = source.data() + outer * count * split.after + first;
            if (add && split.after == 1) {
                add_each(target, index.data(), update, count);
                continue;
            }
            for (std::size_t i = 0; i < count; ++i, update += split.after) {
                float* here = target + static_cast<std::size_t>(index.data()[i]) * split.after;
                if (add) {
                    add_to(here, update, some);
                } else {
                    std::memcpy(here, update, some * sizeof(float));
                }
            }
        }
    });
}

}  // namespace bittrue
