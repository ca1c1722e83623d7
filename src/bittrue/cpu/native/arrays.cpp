#include "arrays.h"

#include "operations.h"

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
const WideKernels& wide_table() { BITTRUE_PICK(wide_kernels) }

int elementwise_count() {
    return elementwise_table().count + wide_table().count + scalar_row_count;
}

const ElementwiseRow& elementwise_row(int code) {
    const ElementwiseKernels& first = elementwise_table();
    if (code < first.count) return first.rows[code];
    const WideKernels& wide = wide_table();
    code -= first.count;
    return code < wide.count ? wide.rows[code] : scalar_rows[code - wide.count];
}

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

Reader::Reader(const void* data, Type type, const Axes& axes, Type as)
    : data_(static_cast<const char*>(data)), axes_(axes), type_(type), as_(as),
      size_(size_of(type)) {
    constant_ = axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0);
    direct_ = type == as && !constant_ && axes.rank == 1 && axes.stride[0] == 1;
    seek(0);
}

namespace {

// Neither memory holds the other.
void convert(Type type, const void* in, void* out, std::size_t count) {
    if (type == Type::i32) {
        elementwise_table().to_f32(static_cast<const std::int32_t*>(in), static_cast<float*>(out),
                                   count);
    } else {
        wide_table().f32_to_f64(in, out, type == Type::c64 ? 2 * count : count);
    }
}

}  // namespace

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
    if (type_ != as_ && axes_.rank == 1 && axes_.stride[0] == 1) {
        convert(type_, data_ + offset_ * static_cast<std::ptrdiff_t>(size_), buffer, count);
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
    if (type_ == as_) {
        gather(count, out);
        return;
    }
    constexpr std::size_t piece = 256;
    alignas(64) char elements[piece * 16];
    char* to = static_cast<char*>(out);
    for (std::size_t left = count; left > 0;) {
        const std::size_t some = left < piece ? left : piece;
        gather(some, elements);
        convert(type_, elements, to, some);
        to += some * size_of(as_);
        left -= some;
    }
}

void Reader::gather(std::size_t count, void* out) {
    const auto gather = size_ == 4    ? elementwise_table().gather4
                        : size_ == 1  ? elementwise_table().gather1
                        : size_ == 8  ? wide_table().gather8
                                      : wide_table().gather16;
    if (constant_) {
        gather(data_, 0, out, count);
        return;
    }
    const auto width = static_cast<std::ptrdiff_t>(size_);
    const int inner = axes_.rank - 1;
    const std::ptrdiff_t length = axes_.extent[inner], step = axes_.stride[inner];
    char* to = static_cast<char*>(out);
    for (auto left = static_cast<std::ptrdiff_t>(count); left > 0;) {
        const std::ptrdiff_t rest = length - at_[inner];
        const std::ptrdiff_t run = rest < left ? rest : left;
        const char* from = data_ + offset_ * width;
        if (run < 8) {
            for (std::ptrdiff_t i = 0; i < run; ++i) {
                const char* element = from + i * step * width;
                if (size_ == 4) {
                    __builtin_memcpy(to + i * width, element, 4);
                } else {
                    __builtin_memcpy(to + i * width, element, size_);
                }
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
