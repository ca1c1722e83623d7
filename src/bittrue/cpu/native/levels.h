// The instruction level that the kernels run at: the best one of the machine, or one asked for.
#pragma once

#include <string_view>

namespace bittrue {

// `lanes` is for tests: conversions take the path of single lanes, other kernels the baseline.
enum class Level { lanes, baseline, v3, v4 };

// BITTRUE_X86_LEVELS is defined where the kernels are compiled for the three levels of x86-64;
// elsewhere there is the baseline alone.
Level current_level();
bool has_level(Level level);

// "lanes", "baseline", "v3" or "v4"; "" asks for the best. False for a name or a level that is not there.
bool set_level(std::string_view name);
const char* level_name(Level level);

}  // namespace bittrue
