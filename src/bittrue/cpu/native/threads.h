// A persistent pool of worker threads.
#pragma once

#include <cstddef>

namespace bittrue {

// Runs part(context, i) for every i in [0, parts), on the calling thread and up to `threads` - 1
// workers, and returns when all have run. Each thread holds a FloatEnvironmentGuard meanwhile.
// Which thread runs a part is open, so parts must be independent; a part must not throw.
//
// Callers may come from several threads at once. Workers start on first use and are never joined;
// a forked child starts its own.
void run_parts(std::size_t parts, int threads, void (*part)(void*, std::size_t), void* context);

}  // namespace bittrue
