#include "arrays.h"

#include <atomic>
#include <cstdlib>

#if defined(BITTRUE_X86_LEVELS)
#include <cpuid.h>
#endif

namespace bittrue {
namespace {

#if defined(BITTRUE_X86_LEVELS)
#define BITTRUE_PICK(table)                          \
    switch (current_level()) {                       \
        case Level::v4: return v4::table;            \
        case Level::v3: return v3::table;            \
        default: return baseline::table;             \
    }
#else
#define BITTRUE_PICK(table) return baseline::table;
#endif

std::atomic<int>& tile_choice() {
    static std::atomic<int> choice{-1};  // not known yet
    return choice;
}

}  // namespace

const ElementwiseKernels& elementwise_table() { BITTRUE_PICK(elementwise_kernels) }
const ReduceKernels& reduce_table() { BITTRUE_PICK(reduce_kernels) }

const MatmulKernels& matmul_table() {
#if defined(BITTRUE_X86_LEVELS)
    if (current_level() == Level::v4 && narrow_tiles()) {
        static const MatmulKernels narrow = [] {
            MatmulKernels kernels = v4::matmul_kernels;
            kernels.f32 = v3::matmul_kernels.f32;
            kernels.f64 = v3::matmul_kernels.f64;
            kernels.i64 = v3::matmul_kernels.i64;
            kernels.tile_at = v3::matmul_kernels.tile_at;
            return kernels;
        }();
        return narrow;
    }
#endif
    BITTRUE_PICK(matmul_kernels)
}

// Zen 4 executes a 512-bit operation in two steps, and broadcasts of that width take a step of the
// multipliers: there the tiles of 256 bits are faster.
bool narrow_tiles() {
    int chosen = tile_choice().load(std::memory_order_relaxed);
    if (chosen < 0) {
        chosen = 0;
#if defined(BITTRUE_X86_LEVELS)
        unsigned a = 0, b = 0, c = 0, d = 0;
        constexpr unsigned amd = 0x444d4163;  // "cAMD" of AuthenticAMD
        if (__get_cpuid(0, &a, &b, &c, &d) && c == amd && __get_cpuid(1, &a, &b, &c, &d)) {
            chosen = (a >> 8 & 0xf) == 0xf && (a >> 20 & 0xff) == 0xa;  // family 25
        }
#endif
        tile_choice().store(chosen, std::memory_order_relaxed);
    }
    return chosen != 0;
}

void set_narrow_tiles(bool narrow) { tile_choice().store(narrow, std::memory_order_relaxed); }

Reader::Reader(const void* data, Type type, const Axes& axes, bool convert)
    : data_(static_cast<const char*>(data)), axes_(axes), size_(size_of(type)), convert_(convert) {
    constant_ = axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0);
    direct_ = !convert && !constant_ && axes.rank == 1 && axes.stride[0] == 1;
    seek(0);
}

void Reader::seek(std::size_t position) {
    offset_ = axes_.offset(position);
    filled_ = 0;
    for (int axis = axes_.rank; axis-- > 0;) {
        const auto length = static_cast<std::size_t>(axes_.extent[axis]);
        at_[axis] = static_cast<std::ptrdiff_t>(position % length);
        position /= length;
    }
}

const void* Reader::next(std::size_t count, void* buffer) {
    if (direct_) {
        const void* here = data_ + offset_ * static_cast<std::ptrdiff_t>(size_);
        offset_ += static_cast<std::ptrdiff_t>(count);
        return here;
    }
    if (convert_ && axes_.rank == 1 && axes_.stride[0] == 1) {
        elementwise_table().to_f32(reinterpret_cast<const std::int32_t*>(data_) + offset_,
                                   static_cast<float*>(buffer), count);
        offset_ += static_cast<std::ptrdiff_t>(count);
        return buffer;
    }
    if (constant_) {
        if (filled_ < count) {
            copy(count, buffer);
            filled_ = count;
        }
        return buffer;
    }
    copy(count, buffer);
    return buffer;
}

void Reader::copy(std::size_t count, void* out) {
    const ElementwiseKernels& kernels = elementwise_table();
    const auto gather = size_ == 4 ? kernels.gather4 : kernels.gather1;
    const auto width = static_cast<std::ptrdiff_t>(size_);
    if (constant_) {
        gather(data_, 0, out, count);
    } else {
        const int inner = axes_.rank - 1;
        const std::ptrdiff_t length = axes_.extent[inner], step = axes_.stride[inner];
        char* to = static_cast<char*>(out);
        for (auto left = static_cast<std::ptrdiff_t>(count); left > 0;) {
            const std::ptrdiff_t rest = length - at_[inner];
            const std::ptrdiff_t run = rest < left ? rest : left;
            const char* from = data_ + offset_ * width;
            if (run < 8) {
                for (std::ptrdiff_t i = 0; i < run; ++i) {
                    __builtin_memcpy(to + i * width, from + i * step * width, size_ == 4 ? 4 : 1);
                }
            } else {
                gather(from, step, to, static_cast<std::size_t>(run));
            }
            to += run * width;
            left -= run;
            offset_ += run * step;
            at_[inner] += run;
            for (int axis = inner; axis >= 0 && at_[axis] == axes_.extent[axis]; --axis) {
                offset_ -= axes_.extent[axis] * axes_.stride[axis];
                at_[axis] = 0;
                if (axis > 0) {
                    offset_ += axes_.stride[axis - 1];
                    ++at_[axis - 1];
                }
            }
        }
    }
    if (convert_) {
        // In place: element i is read before it is written.
        float* floats = static_cast<float*>(out);
        const std::int32_t* words = static_cast<const std::int32_t*>(out);
        constexpr std::size_t piece = 256;
        float converted[piece];
        for (std::size_t start = 0; start < count; start += piece) {
            const std::size_t some = count - start < piece ? count - start : piece;
            kernels.to_f32(words + start, converted, some);
            __builtin_memcpy(floats + start, converted, some * sizeof(float));
        }
    }
}

void* thread_scratch(std::size_t bytes) {
    struct Kept {
        void* data = nullptr;
        std::size_t size = 0;
        ~Kept() { std::free(data); }
    };
    static thread_local Kept kept;
    if (kept.size < bytes) {
        std::free(kept.data);
        kept.size = 0;
        const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
        kept.data = std::aligned_alloc(64, rounded);
        if (kept.data != nullptr) kept.size = rounded;
    }
    return kept.data;
}

}  // namespace bittrue
