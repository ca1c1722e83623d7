// The operations on strided arrays, and their binding.
//
// Results are written to fresh contiguous storage in row-major order and do not depend on
// `threads`, the instruction level, alignment or strides. Each call and each worker sets the
// floating-point environment. Functions that may leave Int32 return the row-major position of the
// first result that did, -1 without one; the result is undefined then.
#pragma once

#include <cstddef>

#include "arrays.h"

namespace bittrue {

// --- elementwise_run.cpp ------------------------------------------------------------------------

// Operands broadcast to the shape of `out`; Int32 operands of a Float32 function are converted.
std::ptrdiff_t elementwise(int code, const View* operands, const View& out, void* result,
                           int threads);
// Row-major copy; `convert`: of Int32 elements as Float32.
void copy_elements(const View& source, void* out, bool convert, int threads);

// --- reduce.cpp ---------------------------------------------------------------------------------

enum class Reduction { sum, sum_in_f64, sum_i32, product, maximum, minimum, argmax, argmin };

// `reduced` tells for each axis whether it is reduced.
std::ptrdiff_t reduce(Reduction rule, const View& x, const bool* reduced, void* out, int threads);
void scan(const View& x, int axis, float* out, int threads);

// --- matmul.cpp ---------------------------------------------------------------------------------

enum class Product { f32, f32_in_f64, i32 };

// lhs [n, k] with rhs [k, m]; Int32 operands of the Float32 products are converted.
std::ptrdiff_t matmul(Product rule, const View& lhs, const View& rhs, void* out, int threads);

// --- conv.cpp -----------------------------------------------------------------------------------

// Axes are in role order (batch, feature, spatial...); `out` is row-major in that order.
struct ConvolutionGeometry {
    int spatial;
    std::ptrdiff_t groups;
    std::ptrdiff_t extents[most_axes];  // spatial extents of the result
    std::ptrdiff_t strides[most_axes], low[most_axes], lhs_dilation[most_axes],
        kernel_dilation[most_axes];
};
void convolve(const View& lhs, const View& kernel, const ConvolutionGeometry& geometry, float* out,
              int threads);

// --- indexing.cpp -------------------------------------------------------------------------------

// Whether every index is in [0, extent).
bool indices_fit(const View& indices, std::ptrdiff_t extent);
void gather(const View& data, const View& indices, int axis, void* out, int threads);
// `out` holds a copy of the base, of `shape`.
void scatter(const View& indices, const View& updates, const View& base, int axis, void* out,
             bool add, int threads);

// --- sort.cpp -----------------------------------------------------------------------------------

// The first `count` values or positions of every sorted line along `axis`.
void sort(const View& x, int axis, bool descending, std::size_t count, bool positions, void* out,
          int threads);

}  // namespace bittrue
