// Strided arrays as the kernels see them, and how they are read in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "levels.h"
#include "operation_kernels.h"
#include "threads.h"

namespace bittrue {

constexpr int most_axes = 64;

constexpr std::size_t size_of(Type type) {
    switch (type) {
        case Type::boolean: return 1;
        case Type::f64:
        case Type::c64: return 8;
        case Type::c128: return 16;
        default: return 4;
    }
}
constexpr bool is_complex(Type type) { return type == Type::c64 || type == Type::c128; }

// Whether elements of one type are read as another: by one rounding, or exactly.
constexpr bool reads_as(Type type, Type other) {
    return type == other || (type == Type::i32 && other == Type::f32) ||
           (type == Type::f32 && other == Type::f64) || (type == Type::c64 && other == Type::c128);
}

// Strides count elements. The data are aligned to their type.
struct View {
    const void* data;
    Type type;
    int rank;
    std::ptrdiff_t shape[most_axes];
    std::ptrdiff_t strides[most_axes];

    std::size_t size() const {
        std::size_t product = 1;
        for (int axis = 0; axis < rank; ++axis) product *= static_cast<std::size_t>(shape[axis]);
        return product;
    }
};

// Extents and strides of some axes, neighbours that step alike merged and extents of 1 dropped.
struct Axes {
    int rank = 0;
    std::ptrdiff_t extent[most_axes];
    std::ptrdiff_t stride[most_axes];

    // Adds an axis inside those before.
    void append(std::ptrdiff_t length, std::ptrdiff_t step) {
        if (length == 1) return;
        if (rank > 0 && stride[rank - 1] == step * length) {
            extent[rank - 1] *= length;
            stride[rank - 1] = step;
            return;
        }
        extent[rank] = length;
        stride[rank] = step;
        ++rank;
    }
    std::size_t size() const {
        std::size_t product = 1;
        for (int axis = 0; axis < rank; ++axis) product *= static_cast<std::size_t>(extent[axis]);
        return product;
    }
    // One axis, or none: elements lie at a constant distance.
    bool is_line() const { return rank <= 1; }
    std::ptrdiff_t line_stride() const { return rank == 0 ? 1 : stride[rank - 1]; }
    // Offset of the element at a row-major position.
    std::ptrdiff_t offset(std::size_t position) const {
        std::ptrdiff_t sum = 0;
        for (int axis = rank; axis-- > 0;) {
            const auto length = static_cast<std::size_t>(extent[axis]);
            sum += static_cast<std::ptrdiff_t>(position % length) * stride[axis];
            position /= length;
        }
        return sum;
    }
};

const ElementwiseKernels& elementwise_table();
const ReduceKernels& reduce_table();
const MatmulKernels& matmul_table();
const WideKernels& wide_table();

// Rows of the two tables of elementwise functions, those of wide_level.cpp behind the others.
int elementwise_count();
const ElementwiseRow& elementwise_row(int code);

// Whether products take tiles of 256 bits at level v4; a matter of speed alone.
bool narrow_tiles();
void set_narrow_tiles(bool narrow);

// Reads elements in row-major order of `axes`, some at a time.
class Reader {
public:
    // Elements of `type` are read as another; `reads_as` says which.
    Reader(const void* data, Type type, const Axes& axes, Type as);
    // `convert`: Int32 elements are read as Float32.
    Reader(const void* data, Type type, const Axes& axes, bool convert)
        : Reader(data, type, axes, convert ? Type::f32 : type) {}

    void seek(std::size_t position);
    // The next `count` elements in contiguous storage: the array's own, or `buffer`, which has room
    // for as many and holds nothing else until the reader is done.
    const void* next(std::size_t count, void* buffer);
    // Writes the next `count` elements to `out`.
    void copy(std::size_t count, void* out);
    bool is_direct() const { return direct_; }

private:
    void gather(std::size_t count, void* out);

    const char* data_;
    const Axes& axes_;
    Type type_, as_;
    std::size_t size_;
    bool direct_, constant_;
    std::size_t filled_ = 0;  // of the buffer of a constant
    std::ptrdiff_t offset_ = 0;
    std::ptrdiff_t at_[most_axes];
};

// Memory of 64-byte alignment; throws std::bad_alloc.
class Memory {
public:
    explicit Memory(std::size_t bytes)
        : data_(::operator new(bytes + 1, std::align_val_t{64})) {}
    ~Memory() { ::operator delete(data_, std::align_val_t{64}); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    template <typename T>
    T* as() const {
        return static_cast<T*>(data_);
    }

private:
    void* data_;
};

// Memory of this thread that is kept between calls, for parts, which must not throw: null where the
// system has none. What was there before is lost.
void* thread_scratch(std::size_t bytes);

template <typename Part>
void parallel(std::size_t parts, int threads, Part&& part) {
    run_parts(
        parts, threads,
        [](void* context, std::size_t i) { (*static_cast<std::remove_reference_t<Part>*>(context))(i); },
        &part);
}

// Ends of part i of `count` things that are cut into pieces of `each`.
inline std::size_t part_end(std::size_t i, std::size_t each, std::size_t count) {
    return (i + 1) * each < count ? (i + 1) * each : count;
}

}  // namespace bittrue
