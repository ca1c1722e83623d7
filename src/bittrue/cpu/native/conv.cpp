// Grouped cross-correlation as a product of the kernel with shifted views of the padded input.
//
// The input is copied once, with its padding and the holes of its dilation as +0, which contribute
// their products. Element v = y * stride + tap * dilation of an axis is stored by phase (v mod
// stride) and quotient, so that for one tap all results read neighbours: in a grid with the
// quotient extents as rows, results of all rows are one line, and a tap is an offset into the
// copy. Positions between the last result of a row and the end of the row are computed and dropped.
#include <cstring>
#include <vector>

#include "operations.h"
#include "product.h"

namespace bittrue {
namespace {

constexpr std::size_t copy_bytes = std::size_t{64} << 20;

struct Axis {
    std::ptrdiff_t size, taps, extent, stride, low, lhs_dilation, kernel_dilation;
    std::ptrdiff_t lhs_step;               // stride of the input, in elements
    std::ptrdiff_t grid;                   // quotients: extent of the copy along this axis
    std::vector<std::ptrdiff_t> phases;    // those that a tap reads
    std::ptrdiff_t phase_of(std::ptrdiff_t tap) const {
        const std::ptrdiff_t phase = tap * kernel_dilation % stride;
        return std::find(phases.begin(), phases.end(), phase) - phases.begin();
    }
};

class Convolver {
public:
    Convolver(const View& lhs, const View& kernel, const ConvolutionGeometry& geometry)
        : lhs_(lhs), kernel_(kernel) {
        for (int i = 0; i < geometry.spatial; ++i) {
            Axis axis{lhs.shape[i + 2], kernel.shape[i + 2], geometry.extents[i],
                      geometry.strides[i], geometry.low[i], geometry.lhs_dilation[i],
                      geometry.kernel_dilation[i], lhs.strides[i + 2], 0, {}};
            axis.grid = axis.extent + (axis.taps - 1) * axis.kernel_dilation / axis.stride;
            for (std::ptrdiff_t tap = 0; tap < axis.taps; ++tap) {
                const std::ptrdiff_t phase = tap * axis.kernel_dilation % axis.stride;
                if (std::find(axis.phases.begin(), axis.phases.end(), phase) == axis.phases.end()) {
                    axis.phases.push_back(phase);
                }
            }
            axes_.push_back(std::move(axis));
        }
        groups_ = static_cast<std::size_t>(geometry.groups);
        batch_ = static_cast<std::size_t>(lhs.shape[0]);
        in_features_ = static_cast<std::size_t>(kernel.shape[1]);
        out_features_ = static_cast<std::size_t>(kernel.shape[0]) / groups_;
        taps_ = results_ = plane_ = 1;
        line_ = 0;
        for (const Axis& axis : axes_) {
            taps_ *= static_cast<std::size_t>(axis.taps);
            results_ *= static_cast<std::size_t>(axis.extent);
            plane_ *= axis.grid * static_cast<std::ptrdiff_t>(axis.phases.size());
            line_ = line_ * static_cast<std::size_t>(axis.grid) +
                    static_cast<std::size_t>(axis.extent - 1);
        }
        ++line_;
        depth_ = in_features_ * taps_;
        make_offsets();
    }

    void run(float* out, int threads) {
        if (results_ == 0 || batch_ == 0 || out_features_ == 0) return;
        pack_kernel();
        const std::size_t features = in_features_ * groups_;
        const std::size_t image = features * static_cast<std::size_t>(plane_);
        // The last tile of a line reads on beyond it.
        const std::size_t slack = static_cast<std::size_t>(tile().nr) + line_;
        const std::size_t images = std::min(
            batch_, std::max<std::size_t>(copy_bytes / (image * sizeof(float) + 1), 1));
        const PackingBuffer buffer((images * image + slack) * sizeof(float));
        float* copy = static_cast<float*>(buffer.data());
        for (std::size_t first = 0; first < batch_; first += images) {
            const std::size_t here = std::min(images, batch_ - first);
            parallel(here * features, threads, [&](std::size_t part) {
                copy_plane(first + part / features, part % features,
                           copy + part * static_cast<std::size_t>(plane_));
            });
            std::fill_n(copy + here * image, slack, 0.0f);
            multiply(copy, image, first, here, out, threads);
        }
    }

private:
    static const TileKernels<float, float>& tile() { return matmul_table().f32; }

    // Where the taps of every in-feature stand in the copy, in the order of the sum.
    void make_offsets() {
        offsets_.reserve(depth_);
        std::vector<std::ptrdiff_t> at(axes_.size(), 0);
        std::vector<std::ptrdiff_t> of_taps;
        for (std::size_t tap = 0; tap < taps_; ++tap) {
            // Phases are outside, quotients inside: [phase..., quotient...].
            std::ptrdiff_t phase = 0, position = 0, grid = 1;
            for (std::size_t i = 0; i < axes_.size(); ++i) {
                const Axis& axis = axes_[i];
                phase = phase * static_cast<std::ptrdiff_t>(axis.phases.size()) +
                        axis.phase_of(at[i]);
                position = position * axis.grid + at[i] * axis.kernel_dilation / axis.stride;
                grid *= axis.grid;
            }
            of_taps.push_back(phase * grid + position);
            for (std::size_t i = axes_.size(); i-- > 0;) {
                if (++at[i] < axes_[i].taps) break;
                at[i] = 0;
            }
        }
        for (std::size_t feature = 0; feature < in_features_; ++feature) {
            for (const std::ptrdiff_t tap : of_taps) {
                offsets_.push_back(static_cast<std::ptrdiff_t>(feature) * plane_ + tap);
            }
        }
    }

    // The kernel as packed strips of out-features, group by group.
    void pack_kernel() {
        const auto mr = static_cast<std::size_t>(tile().mr);
        strips_ = (out_features_ + mr - 1) / mr;
        const Memory dense(kernel_.size() * sizeof(float));
        copy_elements(kernel_, dense.as<float>(), false, 1);
        packed_ = std::make_unique<Memory>(groups_ * strips_ * mr * depth_ * sizeof(float));
        for (std::size_t group = 0; group < groups_; ++group) {
            for (std::size_t s = 0; s < strips_; ++s) {
                matmul_table().pack_f32(
                    dense.as<float>() + (group * out_features_ + s * mr) * depth_,
                    static_cast<std::ptrdiff_t>(depth_), 1, std::min(mr, out_features_ - s * mr),
                    depth_, static_cast<int>(mr),
                    packed_->as<float>() + (group * strips_ + s) * mr * depth_);
            }
        }
    }

    // One feature of one image: all phases and quotients, the last axis along a row.
    void copy_plane(std::size_t batch, std::size_t feature, float* to) const {
        const float* plane = static_cast<const float*>(lhs_.data) +
                             static_cast<std::ptrdiff_t>(batch) * lhs_.strides[0] +
                             static_cast<std::ptrdiff_t>(feature) * lhs_.strides[1];
        const std::size_t rank = axes_.size();
        std::vector<std::size_t> phase(rank, 0);
        std::vector<std::ptrdiff_t> at(rank, 0);
        const Axis& last = axes_[rank - 1];
        for (;;) {
            // Row by row of this phase.
            std::fill(at.begin(), at.end(), 0);
            for (;;) {
                std::ptrdiff_t source = 0;
                bool inside = true;
                for (std::size_t i = 0; i + 1 < rank && inside; ++i) {
                    source += offset(axes_[i], at[i], phase[i], inside);
                }
                if (inside) {
                    copy_row(last, last.phases[phase[rank - 1]], plane + source, to);
                } else {
                    std::fill_n(to, last.grid, 0.0f);
                }
                to += last.grid;
                std::size_t i = rank - 1;
                while (i-- > 0) {
                    if (++at[i] < axes_[i].grid) break;
                    at[i] = 0;
                }
                if (i == static_cast<std::size_t>(-1)) break;
            }
            std::size_t i = rank;
            while (i-- > 0) {
                if (++phase[i] < axes_[i].phases.size()) break;
                phase[i] = 0;
            }
            if (i == static_cast<std::size_t>(-1)) return;
        }
    }

    static std::ptrdiff_t offset(const Axis& axis, std::ptrdiff_t quotient, std::size_t phase,
                                 bool& inside) {
        const std::ptrdiff_t u = quotient * axis.stride + axis.phases[phase] - axis.low;
        const std::ptrdiff_t index = u / axis.lhs_dilation;
        inside = u >= 0 && u % axis.lhs_dilation == 0 && index < axis.size;
        return index * axis.lhs_step;
    }

    static void copy_row(const Axis& axis, std::ptrdiff_t phase, const float* from, float* to) {
        if (axis.lhs_dilation != 1) {
            for (std::ptrdiff_t q = 0; q < axis.grid; ++q) {
                const std::ptrdiff_t u = q * axis.stride + phase - axis.low;
                const std::ptrdiff_t index = u / axis.lhs_dilation;
                const bool inside = u >= 0 && u % axis.lhs_dilation == 0 && index < axis.size;
                to[q] = inside ? from[index * axis.lhs_step] : 0.0f;
            }
            return;
        }
        // The first quotient with u >= 0 and the first with u >= size.
        const auto first_from = [&](std::ptrdiff_t least) {
            const std::ptrdiff_t missing = least + axis.low - phase;
            const std::ptrdiff_t q = missing <= 0 ? 0 : (missing + axis.stride - 1) / axis.stride;
            return std::min(q, axis.grid);
        };
        const std::ptrdiff_t begin = first_from(0), end = first_from(axis.size);
        std::fill_n(to, begin, 0.0f);
        if (end > begin) {
            const std::ptrdiff_t index = begin * axis.stride + phase - axis.low;
            elementwise_table().gather4(from + index * axis.lhs_step, axis.stride * axis.lhs_step,
                                        to + begin, static_cast<std::size_t>(end - begin));
        }
        std::fill(to + end, to + axis.grid, 0.0f);
    }

    void multiply(const float* copy, std::size_t image, std::size_t first, std::size_t images,
                  float* out, int threads) const {
        const auto nr = static_cast<std::size_t>(tile().nr), mr = static_cast<std::size_t>(tile().mr);
        const std::size_t panels = (line_ + nr - 1) / nr;
        const std::size_t together =
            std::max<std::size_t>((std::size_t{1} << 20) / (nr * (depth_ + 1) * out_features_ + 1), 1);
        const std::size_t pieces = (panels + together - 1) / together;
        parallel(images * groups_ * pieces, threads, [&](std::size_t part) {
            const std::size_t batch = part / pieces / groups_, group = part / pieces % groups_;
            const std::size_t piece = part % pieces;
            const float* base = copy + batch * image +
                                group * in_features_ * static_cast<std::size_t>(plane_);
            float* results = out + ((first + batch) * groups_ + group) * out_features_ * results_;
            alignas(64) float sums[8 * 64];
            for (std::size_t p = piece * together; p < part_end(piece, together, panels); ++p) {
                for (std::size_t s = 0; s < strips_; ++s) {
                    matmul_table().tile_at(
                        packed_->as<float>() + (group * strips_ + s) * mr * depth_, base + p * nr,
                        offsets_.data(), depth_, sums);
                    reduce_table().canonical(sums, mr * nr);
                    store(sums, p * nr, std::min(nr, line_ - p * nr), s * mr,
                          std::min(mr, out_features_ - s * mr), results);
                }
            }
        });
    }

    // Moves the columns of a tile that are results: positions first... of the grid.
    void store(const float* sums, std::size_t first, std::size_t count, std::size_t feature,
               std::size_t features, float* results) const {
        const auto nr = static_cast<std::size_t>(tile().nr);
        const auto row = static_cast<std::size_t>(axes_.back().grid);
        const auto extent = static_cast<std::size_t>(axes_.back().extent);
        for (std::size_t at = first; at < first + count;) {
            const std::size_t x = at % row;
            const std::size_t run = std::min(row - x, first + count - at);
            std::size_t outer = at / row, offset = 0, scale = extent;
            bool inside = x < extent;
            for (std::size_t i = axes_.size() - 1; i-- > 0;) {
                const auto grid = static_cast<std::size_t>(axes_[i].grid);
                const auto own = static_cast<std::size_t>(axes_[i].extent);
                inside = inside && outer % grid < own;
                offset += outer % grid * scale;
                scale *= own;
                outer /= grid;
            }
            if (inside) {
                const std::size_t some = std::min(run, extent - x);
                for (std::size_t f = 0; f < features; ++f) {
                    std::memcpy(results + (feature + f) * results_ + offset + x,
                                sums + f * nr + (at - first), some * sizeof(float));
                }
            }
            at += run;
        }
    }

    const View& lhs_;
    const View& kernel_;
    std::vector<Axis> axes_;
    std::size_t groups_, batch_, in_features_, out_features_;
    std::size_t taps_, results_, depth_, strips_ = 0;
    std::size_t line_;      // positions of the grid from the first result to the last
    std::ptrdiff_t plane_;  // elements of the copy for one feature
    std::vector<std::ptrdiff_t> offsets_;
    std::unique_ptr<Memory> packed_;
};

}  // namespace

void convolve(const View& lhs, const View& kernel, const ConvolutionGeometry& geometry, float* out,
              int threads) {
    Convolver(lhs, kernel, geometry).run(out, threads);
}

}  // namespace bittrue
