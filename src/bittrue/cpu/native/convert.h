// Conversion of arrays of lanes: chooses the kernels for a pair of types and splits the work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lane.h"

namespace bittrue {

struct Conversion {
    LaneType source;
    LaneType destination;
    int rounding;  // a code of Rounding, NONE included
    bool saturate;
};

// Converts `count` lanes and returns the OR of their flags.
//
// `in` and `out` are carriers, aligned; packed lanes stand two a byte, the low nibble first, and
// the high nibble after an odd count is ignored when read and 0 when written. `random` is null or
// has a word for each lane, `flags` is null or gets a byte for each. `out` may be `in` if lanes
// are as wide; no other overlap is allowed. The result does not depend on `threads` nor on the
// level.
unsigned convert_lanes(const Conversion& conversion, const void* in, void* out,
                       const std::uint32_t* random, std::uint8_t* flags, std::size_t count,
                       int threads);

// Index of the first lane with a bit set that must be zero, -1 if there is none.
std::ptrdiff_t first_invalid(const LaneType& source, const void* in, std::size_t count,
                             int threads);

}  // namespace bittrue
