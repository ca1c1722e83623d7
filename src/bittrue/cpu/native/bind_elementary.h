// The Python face of the elementary kernels.
#pragma once

#include <nanobind/nanobind.h>

void bind_elementary(nanobind::module_& m);
