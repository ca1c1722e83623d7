// Stable order along an axis: by value, zeros alike, NaNs alike and above every number.
//
// Each element gets a 32-bit key whose unsigned order is the wanted one; the position breaks ties.
// Long lines are sorted by radix, least significant digits first, which is stable.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "operations.h"

namespace bittrue {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t part_sorted = 1 << 15;

u32 key_of(u32 bits, bool descending) {
    const u32 magnitude = bits & 0x7fffffff;
    const bool negative = bits >> 31 != 0;
    // The value's place among all numbers, upward or downward; 2^31 for both zeros.
    const u32 key = negative != descending ? 0x80000000u - magnitude : 0x80000000u + magnitude;
    return magnitude > 0x7f800000 ? (descending ? 0 : 0xffffffff) : key;
}

// Sorts `count` pairs (key, position) by 11 bits at a time; returns the one of both that holds them.
u64* radix_sort(u64* pairs, u64* other, std::size_t count) {
    constexpr int digits = 3, bits = 11;
    constexpr std::size_t values = std::size_t{1} << bits;
    u32 counts[digits][values] = {};
    for (std::size_t i = 0; i < count; ++i) {
        const u32 key = static_cast<u32>(pairs[i] >> 32);
        for (int d = 0; d < digits; ++d) ++counts[d][key >> (d * bits) & (values - 1)];
    }
    for (int d = 0; d < digits; ++d) {
        u32* of_digit = counts[d];
        const u32 first = static_cast<u32>(pairs[0] >> 32) >> (d * bits) & (values - 1);
        if (of_digit[first] == count) continue;  // all alike
        u32 sum = 0;
        for (std::size_t v = 0; v < values; ++v) {
            const u32 some = of_digit[v];
            of_digit[v] = sum;
            sum += some;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const u64 pair = pairs[i];
            other[of_digit[pair >> 32 >> (d * bits) & (values - 1)]++] = pair;
        }
        std::swap(pairs, other);
    }
    return pairs;
}

// The first `wanted` pairs in order; `room` has space for `count` more.
const u64* order(u64* pairs, u64* room, std::size_t count, std::size_t wanted) {
    if (wanted < count / 8) {
        // Pairs differ, as positions do: selecting and sorting is stable.
        std::nth_element(pairs, pairs + wanted, pairs + count);
        count = wanted;
    }
    if (count > 2048) return radix_sort(pairs, room, count);
    std::sort(pairs, pairs + count);
    return pairs;
}

}  // namespace

void sort(const View& x, int axis, bool descending, std::size_t wanted, bool positions, void* out,
          int threads) {
    const auto length = static_cast<std::size_t>(x.shape[axis]);
    if (x.size() == 0 || wanted == 0) return;
    Axes lines;
    std::size_t after = 1;
    for (int other = 0; other < x.rank; ++other) {
        if (other == axis) continue;
        lines.append(x.shape[other], x.strides[other]);
        if (other > axis) after *= static_cast<std::size_t>(x.shape[other]);
    }
    const std::size_t count = lines.size();
    const std::ptrdiff_t step = x.strides[axis];
    const auto* data = static_cast<const u32*>(x.data);
    const std::size_t each = std::max<std::size_t>(part_sorted / length, 1);
    std::atomic<bool> failed{false};
    parallel((count + each - 1) / each, threads, [&](std::size_t part) {
        const std::unique_ptr<u64[]> memory(new (std::nothrow) u64[2 * length]);
        if (!memory) {
            failed = true;
            return;
        }
        u64* pairs = memory.get();
        for (std::size_t line = part * each; line < part_end(part, each, count); ++line) {
            const u32* from = data + lines.offset(line);
            for (std::size_t i = 0; i < length; ++i) {
                const u32 bits = from[static_cast<std::ptrdiff_t>(i) * step];
                pairs[i] = static_cast<u64>(key_of(bits, descending)) << 32 | i;
            }
            const u64* ordered = order(pairs, pairs + length, length, wanted);
            // Results are [before, wanted, after].
            u32* to = static_cast<u32*>(out) + line / after * wanted * after + line % after;
            for (std::size_t i = 0; i < wanted; ++i) {
                const u32 position = static_cast<u32>(ordered[i]);
                to[i * after] =
                    positions ? position : from[static_cast<std::ptrdiff_t>(position) * step];
            }
        }
    });
    if (failed) throw std::bad_alloc();
}

}  // namespace bittrue
