// What the sources of the Python face add to the module, one function a source.
#pragma once

#include <nanobind/nanobind.h>

void bind_convert(nanobind::module_& m);  // LaneType, convert_lanes, first_invalid
