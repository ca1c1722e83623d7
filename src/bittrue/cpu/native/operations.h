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

// The sums of a Float32 or Float64 array in the lane order, in an accumulator at least as wide; a
// NaN is left as it comes.
void sum_reals(const View& x, const bool* reduced, bool in_f64, void* out, int threads);

// --- wide.cpp: binary64 and complex -------------------------------------------------------------

// A strip that makes the terms of a sum: -1, or the code of an elementwise function.
// Sums of terms in the lane order, componentwise where they are complex; `out` has their type, or
// the same in binary64 with `in_f64`. All operands have one shape.
void sum_terms(int code, const View* operands, const bool* reduced, bool in_f64, void* out,
               int threads);
enum class Fold { product, maximum, minimum, argmax, argmin };
// Over arrays of Float64 or, products only, of complex elements; a winner's ordinal is an Int32.
void fold(Fold rule, const View& x, const bool* reduced, void* out, int threads);
// Inclusive sums along an axis of Float64 or complex elements.
void scan_wide(const View& x, int axis, void* out, int threads);
// lhs [n, k] with rhs [k, m] in Float64, Complex64 or Complex128 arithmetic; `in_wide` adds terms of
// Complex64 in Complex128 and rounds the sums once.
void matmul_wide(Type type, bool in_wide, const View& lhs, const View& rhs, void* out, int threads);

// Functions that have no vector form.
extern const ElementwiseRow scalar_rows[];
extern const int scalar_row_count;

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
