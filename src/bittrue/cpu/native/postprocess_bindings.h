// The Python face of post-processing.
#pragma once

#include <nanobind/nanobind.h>

namespace bittrue {

// Adds `PostProcessing` and `post_process`; `LaneType` must be bound.
void bind_postprocess(nanobind::module_& m);

}  // namespace bittrue
