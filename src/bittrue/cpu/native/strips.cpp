// Compiled once for each instruction level, as namespace BITTRUE_LEVEL. No function from outside
// this file and its strip_*.h may be used, std:: ones included: the linker would keep one copy for
// all levels.
//
// Every loop is written to be vectorised: no branch in the body, comparisons signed (all words
// without sign are below 2^31 or 2^63; older instruction sets have no other), shift counts below
// the width.
#include "strips.h"

#include "strip_maps.h"
#include "strip_steps.h"

namespace bittrue::BITTRUE_LEVEL {
namespace {

// --- stage one ----------------------------------------------------------------------------------

// The word of an integer below 2^fraction: such a number in the lowest bits of 2^fraction differs
// from it by its value, exactly.
template <typename U>
inline U word_of_small(U magnitude) {
    using F = typename Word<U>::Float;
    constexpr U one = U(Word<U>::bias + Word<U>::fraction) << Word<U>::fraction;
    const U shifted = one | magnitude;
    F value, base;
    std::memcpy(&value, &shifted, sizeof value);
    std::memcpy(&base, &one, sizeof base);
    value -= base;
    U word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

template <typename U, typename C>
void decode(const Decoding<U>& d, const void* in, U* __restrict out, std::size_t count) {
    const C* __restrict carriers = static_cast<const C*>(in);
    const Decoding<U> p = d;
    const int left = p.sign_shift > 0 ? p.sign_shift : 0;
    const int right = p.sign_shift < 0 ? -p.sign_shift : 0;
    if (p.subnormal_end == 0) {
        for (std::size_t i = 0; i < count; ++i) {
            const U c = static_cast<U>(carriers[i]);
            const U magnitude = (c & p.magnitude_mask) >> p.low_zero_bits;
            U word = magnitude << p.widening;
            word = less<U>(magnitude, p.special_from) ? word : word | infinity_of<U>;
            word = magnitude == p.nan_magnitude ? infinity_of<U> | quiet_of<U> : word;
            out[i] = word | (((c & p.sign_mask) << left) >> right);
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const U c = static_cast<U>(carriers[i]);
        const U magnitude = (c & p.magnitude_mask) >> p.low_zero_bits;
        const bool subnormal = less<U>(magnitude, p.subnormal_end);
        const U small = word_of_small<U>(subnormal ? magnitude : 0);
        U word = (magnitude << p.widening) + p.rebias;
        word = subnormal ? small + p.subnormal_scale : word;
        word = magnitude == 0 ? 0 : word;
        word = less<U>(magnitude, p.special_from) ? word : word | infinity_of<U>;
        word = magnitude == p.nan_magnitude ? infinity_of<U> | quiet_of<U> : word;
        out[i] = word | (((c & p.sign_mask) << left) >> right);
    }
}

// Integers that the word holds exactly: 16 bits in binary32, 32 in binary64.
template <typename U, typename I>
void integers(const void* in, U* __restrict out, std::size_t count) {
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        const U v = static_cast<U>(values[i]);
        const U negative = static_cast<I>(-1) < 0 ? v >> (Word<U>::bits - 1) : 0;
        out[i] = word_of_small<U>(negative ? 0 - v : v) | negative << (Word<U>::bits - 1);
    }
}

// Integers as wide as the word. From 2^fraction on the lowest bits, which are as many as the word has
// for sign and exponent, are ORed into one: whatever rounds the word to `merged_fraction` fraction
// bits or fewer rounds as it would the integer.
template <typename U, typename I>
void integers_merged(const void* in, U* __restrict out, std::size_t count) {
    constexpr int fraction = Word<U>::fraction, dropped = Word<U>::bits - fraction;
    constexpr U rest = (U{1} << dropped) - 1;
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        const U v = static_cast<U>(values[i]);
        const U negative = static_cast<I>(-1) < 0 ? v >> (Word<U>::bits - 1) : 0;
        const U magnitude = negative ? 0 - v : v;
        const bool big = magnitude >> fraction != 0;
        const U kept = big ? magnitude >> dropped | ((magnitude & rest) != 0) : magnitude;
        const U word = word_of_small<U>(kept);
        out[i] = (big ? word + (U{dropped} << fraction) : word) | negative << (Word<U>::bits - 1);
    }
}

template <typename U>
void look_up(const U* table, const void* in, U* __restrict out, std::size_t count) {
    const u8* __restrict bytes = static_cast<const u8*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = table[bytes[i]];
}

template <typename U>
void look_up_packed(const U* table, const void* in, U* __restrict out, std::size_t count) {
    const u8* __restrict bytes = static_cast<const u8*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = table[bytes[i / 2] >> (i % 2 * 4) & 0xf];
}

// --- integers to integers -----------------------------------------------------------------------

template <typename U, typename I>
void extend(const void* in, U* __restrict out, std::size_t count) {
    const I* __restrict values = static_cast<const I*>(in);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<U>(values[i]);
}

template <typename I, typename U>
void clamp(U least, U greatest, U mask, U* __restrict words, std::size_t count) {
    const I low = static_cast<I>(least), high = static_cast<I>(greatest);
    for (std::size_t i = 0; i < count; ++i) {
        const I value = static_cast<I>(words[i]);
        const I above = value < low ? low : value;
        words[i] = static_cast<U>(above > high ? high : above) & mask;
    }
}

// --- carriers -----------------------------------------------------------------------------------

template <typename U, typename C>
void store(const U* __restrict in, void* out, std::size_t count) {
    C* __restrict carriers = static_cast<C*>(out);
    for (std::size_t i = 0; i < count; ++i) carriers[i] = static_cast<C>(in[i]);
}

template <typename U>
void store_packed(const U* __restrict in, void* out, std::size_t count) {
    u8* __restrict bytes = static_cast<u8*>(out);
    for (std::size_t i = 0; i < count / 2; ++i) {
        bytes[i] = static_cast<u8>(in[2 * i] | in[2 * i + 1] << 4);
    }
    if (count % 2 != 0) bytes[count / 2] = static_cast<u8>(in[count - 1]);
}

// --- tables of them -----------------------------------------------------------------------------

#define BITTRUE_KEPT(U, from, carrier, ...)                                                        \
    {                                                                                              \
        run_blocks<U, __VA_ARGS__, From::from, Carrier::carrier, Keep::nothing>,                   \
            run_blocks<U, __VA_ARGS__, From::from, Carrier::carrier, Keep::all>,                   \
            run_blocks<U, __VA_ARGS__, From::from, Carrier::carrier, Keep::each>                   \
    }

#define BITTRUE_MODES(Step, U)                                                                     \
    {                                                                                              \
        BITTRUE_KEPT(U, word, word, Step<U, rne>), BITTRUE_KEPT(U, word, word, Step<U, rne>),                  \
            BITTRUE_KEPT(U, word, word, Step<U, rtz>), BITTRUE_KEPT(U, word, word, Step<U, rtm>),              \
            BITTRUE_KEPT(U, word, word, Step<U, rtp>), BITTRUE_KEPT(U, word, word, Step<U, rna>),              \
            BITTRUE_KEPT(U, word, word, Step<U, rto>), BITTRUE_KEPT(U, word, word, Step<U, rhb>),              \
            BITTRUE_KEPT(U, word, word, Step<U, stochastic>)                                             \
    }

#define BITTRUE_CARRIERS(from, ...)                                                                \
    {                                                                                              \
        BITTRUE_KEPT(u32, from, word, __VA_ARGS__), BITTRUE_KEPT(u32, from, byte, __VA_ARGS__),    \
            BITTRUE_KEPT(u32, from, half, __VA_ARGS__),                                            \
            BITTRUE_KEPT(u32, from, nibble, __VA_ARGS__)                                           \
    }

#define BITTRUE_NEAREST(from)                                                                      \
    {                                                                                              \
        {BITTRUE_CARRIERS(from, FixedNearest<false>), BITTRUE_CARRIERS(from, FixedNearest<true>)}, \
            BITTRUE_CARRIERS(from, VariableNearest<rne>), BITTRUE_CARRIERS(from, Scale<u32, rne>),      \
            BITTRUE_KEPT(u32, from, word, Same<u32>), extremes<u32, From::from>                    \
    }

}  // namespace

extern const StripKernels strip_kernels = {
    {
        decode<u32, u16>,
        decode<u32, u32>,
        nullptr,
        {{nullptr, integers<u32, u16>, integers_merged<u32, u32>, nullptr},
         {nullptr, integers<u32, std::int16_t>, integers_merged<u32, std::int32_t>, nullptr}},
        look_up<u32>,
        look_up_packed<u32>,
        BITTRUE_KEPT(u32, word, word, Same<u32>),
        BITTRUE_MODES(Fixed, u32),
        BITTRUE_MODES(Variable, u32),
        BITTRUE_MODES(Scale, u32),
        BITTRUE_MODES(Integer, u32),
        {BITTRUE_KEPT(u32, word, word, IntegerSingle<false>),
         BITTRUE_KEPT(u32, word, word, IntegerSingle<true>)},
        {},
        {},
        extremes<u32, From::word>,
        {{nullptr, extend<u32, u16>, extend<u32, u32>, nullptr},
         {nullptr, extend<u32, std::int16_t>, extend<u32, std::int32_t>, nullptr}},
        {clamp<u32, u32>, clamp<std::int32_t, u32>},
        {store<u32, u8>, store<u32, u16>, store<u32, u32>, store<u32, u64>, store_packed<u32>},
    },
    {
        decode<u64, u16>,
        decode<u64, u32>,
        decode<u64, u64>,
        {{nullptr, integers<u64, u16>, integers<u64, u32>, integers_merged<u64, u64>},
         {nullptr, integers<u64, std::int16_t>, integers<u64, std::int32_t>,
          integers_merged<u64, std::int64_t>}},
        look_up<u64>,
        look_up_packed<u64>,
        BITTRUE_KEPT(u64, word, word, Same<u64>),
        BITTRUE_MODES(Fixed, u64),
        BITTRUE_MODES(Variable, u64),
        {},
        BITTRUE_MODES(Integer, u64),
        {},
        BITTRUE_KEPT(u64, word, single, Narrow),
        BITTRUE_KEPT(u64, fp32, word, Same<u64>),
        extremes<u64, From::word>,
        {{nullptr, extend<u64, u16>, extend<u64, u32>, extend<u64, u64>},
         {nullptr, extend<u64, std::int16_t>, extend<u64, std::int32_t>,
          extend<u64, std::int64_t>}},
        {clamp<u64, u64>, clamp<std::int64_t, u64>},
        {store<u64, u8>, store<u64, u16>, store<u64, u32>, store<u64, u64>, store_packed<u64>},
    },
    {BITTRUE_NEAREST(word), BITTRUE_NEAREST(upper_half), BITTRUE_NEAREST(fp16)},
    store_packed<u8>,
    {map<u8>, map<u16>, map<u32>, map<u64>, map<Pair>},
    map_nibbles,
    map_flags,
    map_flag_pairs,
    {any_bit<u8>, any_bit<u16>, any_bit<u32>, any_bit<u64>},
};

}  // namespace bittrue::BITTRUE_LEVEL
