#include "levels.h"

#include <atomic>

namespace bittrue {
namespace {

constexpr Level levels[] = {Level::lanes, Level::baseline, Level::v3, Level::v4};

Level best_level() {
    if (has_level(Level::v4)) return Level::v4;
    return has_level(Level::v3) ? Level::v3 : Level::baseline;
}

std::atomic<Level>& chosen() {
    static std::atomic<Level> level{best_level()};
    return level;
}

}  // namespace

bool has_level(Level level) {
#if defined(BITTRUE_X86_LEVELS)
    // What the compiler may use at a level, as far as it bears on vector code; the operating
    // system's part (saved registers) is within __builtin_cpu_supports.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (level == Level::v3) return v3;
    if (level == Level::v4) {
        return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    }
#endif
    return level == Level::baseline || level == Level::lanes;
}

Level current_level() { return chosen().load(std::memory_order_relaxed); }

const char* level_name(Level level) {
    switch (level) {
        case Level::v4: return "v4";
        case Level::v3: return "v3";
        case Level::baseline: return "baseline";
        default: return "lanes";
    }
}

bool set_level(std::string_view name) {
    if (name.empty()) {
        chosen().store(best_level(), std::memory_order_relaxed);
        return true;
    }
    for (const Level level : levels) {
        if (name == level_name(level) && has_level(level)) {
            chosen().store(level, std::memory_order_relaxed);
            return true;
        }
    }
    return false;
}

}  // namespace bittrue
