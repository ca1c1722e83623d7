// The part of the extension module that binds the operations (operations.cpp).
#pragma once

#include <nanobind/nanobind.h>

namespace bittrue {

void bind_operations(nanobind::module_& m);

}  // namespace bittrue
