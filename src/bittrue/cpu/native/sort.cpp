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

constexpr u32 zero_key = 0x80000000;

constexpr u32 nan_key(bool descending) { return descending ? 0 : 0xffffffff; }

u32 key_of(u32 bits, bool descending) {
    const u32 magnitude = bits & 0x7fffffff;
    const bool negative = bits >> 31 != 0;
    // The value's place among all numbers, upward or downward.
    const u32 key = negative != descending ? zero_key - magnitude : zero_key + magnitude;
    return magnitude > 0x7f800000 ? nan_key(descending) : key;
}

u32 key_in(u32 key) { return key; }
u32 key_in(u64 pair) { return static_cast<u32>(pair >> 32); }

// Sorts `count` elements by their keys, some bits at a time; returns the one of both that holds
// them.
template <int bits, typename T>
T* radix_sort(T* elements, T* other, std::size_t count) {
    constexpr int digits = (32 + bits - 1) / bits;
    constexpr std::size_t values = std::size_t{1} << bits;
    u32 counts[digits][values] = {};
    for (std::size_t i = 0; i < count; ++i) {
        const u32 key = key_in(elements[i]);
        for (int d = 0; d < digits; ++d) ++counts[d][key >> (d * bits) & (values - 1)];
    }
    for (int d = 0; d < digits; ++d) {
        u32* of_digit = counts[d];
        if (of_digit[key_in(elements[0]) >> (d * bits) & (values - 1)] == count) continue;
        u32 sum = 0;
        for (std::size_t v = 0; v < values; ++v) {
            const u32 some = of_digit[v];
            of_digit[v] = sum;
            sum += some;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const T element = elements[i];
            other[of_digit[key_in(element) >> (d * bits) & (values - 1)]++] = element;
        }
        std::swap(elements, other);
    }
    return elements;
}

// `room` has space for `count` more.
template <typename T>
T* order(T* elements, T* room, std::size_t count) {
    if (count > 8192) return radix_sort<11>(elements, room, count);
    if (count > 64) return radix_sort<8>(elements, room, count);
    for (std::size_t i = 1; i < count; ++i) {
        const T element = elements[i];
        std::size_t at = i;
        for (; at > 0 && elements[at - 1] > element; --at) elements[at] = elements[at - 1];
        elements[at] = element;
    }
    return elements;
}

// One line: `length` elements, `step` apart, of which the first `wanted` in order go to `to`,
// `apart` from each other.
struct Line {
    const u32* from;
    std::ptrdiff_t step;
    std::size_t length, wanted;
    bool descending;
    u32* to;
    std::size_t apart;

    u32 at(std::size_t i) const { return from[static_cast<std::ptrdiff_t>(i) * step]; }
};

// Positions, or values by their positions. `room` has space for 2 * length pairs.
void order_pairs(const Line& line, bool positions, u64* room) {
    for (std::size_t i = 0; i < line.length; ++i) {
        room[i] = static_cast<u64>(key_of(line.at(i), line.descending)) << 32 | i;
    }
    std::size_t count = line.length;
    if (line.wanted < count / 8) {
        // Pairs differ, as positions do: selecting is stable.
        std::nth_element(room, room + line.wanted, room + count);
        count = line.wanted;
        std::sort(room, room + count);  // radix would lose the order of positions
    } else {
        room = order(room, room + line.length, count);
    }
    for (std::size_t i = 0; i < line.wanted; ++i) {
        const u32 position = static_cast<u32>(room[i]);
        line.to[i * line.apart] = positions ? position : line.at(position);
    }
}

// All values: keys alone tell them, but for zeros and NaNs, which keep their order in the line.
// `room` has space for 3 * length keys.
void order_values(const Line& line, u32* room) {
    u32* alike = room + 2 * line.length;  // zeros from the start, NaNs from the end
    std::size_t zeros = 0, nans = 0;
    for (std::size_t i = 0; i < line.length; ++i) {
        const u32 bits = line.at(i), magnitude = bits & 0x7fffffff;
        room[i] = key_of(bits, line.descending);
        if (magnitude == 0) alike[zeros++] = bits;
        if (magnitude > 0x7f800000) alike[line.length - ++nans] = bits;
    }
    const u32* keys = order(room, room + line.length, line.length);
    zeros = nans = 0;
    for (std::size_t i = 0; i < line.length; ++i) {
        const u32 key = keys[i];
        // The inverse of key_of.
        const bool below = key < zero_key;
        const u32 magnitude = below ? zero_key - key : key - zero_key;
        u32 bits = magnitude | (below != line.descending ? 0x80000000u : 0);
        if (key == zero_key) bits = alike[zeros++];
        if (key == nan_key(line.descending)) bits = alike[line.length - ++nans];
        line.to[i * line.apart] = bits;
    }
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
        for (std::size_t i = part * each; i < part_end(part, each, count); ++i) {
            // Results are [before, wanted, after].
            const Line line{data + lines.offset(i), step, length, wanted, descending,
                            static_cast<u32*>(out) + i / after * wanted * after + i % after, after};
            if (positions || wanted < length) {
                order_pairs(line, positions, memory.get());
            } else {
                order_values(line, reinterpret_cast<u32*>(memory.get()));
            }
        }
    });
    if (failed) throw std::bad_alloc();
}

}  // namespace bittrue
