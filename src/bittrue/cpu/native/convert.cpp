#include "convert.h"

#include <atomic>
#include <cstring>
#include <vector>

#include "levels.h"
#include "strip_encoding.h"
#include "strips.h"
#include "threads.h"

namespace bittrue {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

const StripKernels& kernels_of(Level level) {
#if defined(BITTRUE_X86_LEVELS)
    if (level == Level::v4) return v4::strip_kernels;
    if (level == Level::v3) return v3::strip_kernels;
#endif
    (void)level;
    return baseline::strip_kernels;
}

// Below this many lanes the table of an 8-bit source costs more than it saves.
constexpr std::size_t worth_a_table = 256;
// Lanes that a thread takes at a time; a multiple of strip_lanes.
constexpr std::size_t part_lanes = 64 * 1024;
// Bytes that a table maps between two looks at the flags seen.
constexpr std::size_t map_strip = 4096;

int log2_bytes(const LaneType& type) {
    return bit_length(static_cast<u64>(type.carrier_bytes())) - 1;
}

// --- single lanes -------------------------------------------------------------------------------

template <typename T>
const T* at(const void* base, std::size_t index) {
    return static_cast<const T*>(base) + index;
}

template <typename T>
T* at(void* base, std::size_t index) {
    return static_cast<T*>(base) + index;
}

u64 load_lane(const LaneType& type, const void* in, std::size_t i) {
    if (type.packed) return *at<u8>(in, i / 2) >> (i % 2 * 4) & 0xf;
    switch (type.carrier_bytes()) {
        case 1: return *at<u8>(in, i);
        case 2: return *at<u16>(in, i);
        case 4: return *at<u32>(in, i);
        default: return *at<u64>(in, i);
    }
}

// An even packed lane clears its neighbour, so lanes are stored in ascending order.
void store_lane(const LaneType& type, void* out, std::size_t i, u64 code) {
    if (type.packed) {
        u8& byte = *at<u8>(out, i / 2);
        byte = static_cast<u8>(i % 2 == 0 ? code : byte | code << 4);
        return;
    }
    switch (type.carrier_bytes()) {
        case 1: *at<u8>(out, i) = static_cast<u8>(code); return;
        case 2: *at<u16>(out, i) = static_cast<u16>(code); return;
        case 4: *at<u32>(out, i) = static_cast<u32>(code); return;
        default: *at<u64>(out, i) = code; return;
    }
}

// Address of a lane that starts a byte.
const void* lane_address(const LaneType& type, const void* base, std::size_t i) {
    const std::size_t bytes = type.packed ? i / 2 : i * static_cast<std::size_t>(type.carrier_bytes());
    return static_cast<const u8*>(base) + bytes;
}

void* lane_address(const LaneType& type, void* base, std::size_t i) {
    return const_cast<void*>(lane_address(type, static_cast<const void*>(base), i));
}

// --- parameters of the kernels ------------------------------------------------------------------

// Whether the carrier of a fixed format is a word: FP32, FP64, and FP32 with low bits zero.
template <typename U>
bool is_word(const LaneType& type) {
    using W = WordType<U>;
    return type.kind == Kind::fixed && type.specials == Specials::ieee &&
           type.word_bits == W::bits && type.sign_bit == W::bits - 1 &&
           type.exponent_bits == W::exponent && type.bias == W::bias &&
           type.fraction_bits + type.low_zero_bits == W::fraction;
}

// How the nearest kernels read a source: its index among NearestKernels.
int nearest_source(const LaneType& type) {
    const bool half = type.kind == Kind::fixed && type.specials == Specials::ieee &&
                      type.word_bits == 16 && type.sign_bit == 15 && type.low_zero_bits == 0;
    if (half && type.exponent_bits == 8 && type.bias == 127) return 1;  // BF16
    return half && type.exponent_bits == 5 && type.bias == 15 ? 2 : 0;  // FP16
}

int greatest_exponent(const LaneType& type) {
    const int field = (1 << type.exponent_bits) - (type.specials == Specials::ieee ? 2 : 1);
    return field - type.bias;
}

// Whether `decode` and `integers` give every value of the type exactly as a word.
template <typename U>
bool decodes_to(const LaneType& source) {
    using W = WordType<U>;
    if (source.kind == Kind::integer) return source.word_bits <= W::bits / 2;
    return source.kind == Kind::fixed && source.fraction_bits <= W::fraction &&
           source.word_bits <= W::bits && greatest_exponent(source) <= W::bias &&
           (source.emin == 1 - W::bias || source.emin - source.fraction_bits >= 1 - W::bias);
}

// Whether the kernels encode words in the type.
template <typename U>
bool encodes_from(const LaneType& destination) {
    using W = WordType<U>;
    switch (destination.kind) {
        case Kind::integer: return destination.word_bits <= W::bits;
        case Kind::scale: return W::bits == 32 && destination.bias == 127;
        case Kind::variable: return true;
        default:
            return destination.fraction_bits <= W::fraction && destination.emin >= 1 - W::bias &&
                   greatest_exponent(destination) <= W::bias;
    }
}

template <typename U>
Decoding<U> decoding_of(const LaneType& source) {
    using W = WordType<U>;
    constexpr int emin = 1 - W::bias;
    const int f = source.fraction_bits;
    Decoding<U> d{};
    d.magnitude_mask = static_cast<U>(source.magnitude_mask);
    d.low_zero_bits = source.low_zero_bits;
    if (source.sign_bit >= 0) {
        d.sign_mask = U{1} << source.sign_bit;
        d.sign_shift = W::bits - 1 - source.sign_bit;
    }
    d.widening = W::fraction - f;
    d.rebias = static_cast<U>(source.emin - emin) << W::fraction;
    d.subnormal_end = source.emin == emin ? 0 : U{1} << f;
    d.subnormal_scale = static_cast<U>(source.emin - f) << W::fraction;
    d.special_from = (U{1} << (W::bits - 1)) - 1;
    d.nan_magnitude = ~U{0};
    const U last = static_cast<U>(source.magnitude_mask >> source.low_zero_bits);
    if (source.specials == Specials::ieee) {
        d.special_from = ((U{1} << source.exponent_bits) - 1) << f;
    } else if (source.specials == Specials::last) {
        d.nan_magnitude = last;
    }
    return d;
}

// The word of a number that it holds exactly; false for another.
template <typename U>
bool exact_word(const Number& number, U& word) {
    const LaneType type = word_type<U>();
    if (number.special == Special::signaling_nan) {
        word = static_cast<U>(with_sign(type, type.infinity | 1, number.negative));
        return true;
    }
    const Lane lane = to_float(number, type, rne, false, 0);
    word = static_cast<U>(lane.code);
    return lane.flags == 0;
}

// --- plans --------------------------------------------------------------------------------------

// How one call converts; every plan is made before the first lane and read by all threads.
class Plan {
public:
    Plan(const Conversion& conversion, const u32* random, u8* flags)
        : source(conversion.source),
          destination(conversion.destination),
          rounding(resolved_rounding(conversion.destination, conversion.rounding,
                                     random != nullptr)),
          saturate(conversion.saturate),
          random(random),
          flags(flags),
          kernels(kernels_of(current_level())) {}
    virtual ~Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    // Converts the lanes [begin, end) of the arrays and returns the OR of their flags. `begin` is
    // a multiple of strip_lanes.
    virtual unsigned run(const void* in, void* out, std::size_t begin, std::size_t end) const = 0;

    // One lane at a time: right for every pair of types.
    unsigned run_lanes(const void* in, void* out, std::size_t begin, std::size_t end) const {
        unsigned all = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const Lane lane = convert_lane(source, destination, load_lane(source, in, i), rounding,
                                           saturate, random == nullptr ? 0 : random[i]);
            store_lane(destination, out, i, lane.code);
            if (flags != nullptr) flags[i] = static_cast<u8>(lane.flags);
            all |= lane.flags;
        }
        return all;
    }

    const LaneType source, destination;
    const int rounding;
    const bool saturate;
    const u32* const random;
    u8* const flags;
    const StripKernels& kernels;
};

class LanePlan final : public Plan {
public:
    using Plan::Plan;
    unsigned run(const void* in, void* out, std::size_t begin, std::size_t end) const override {
        return run_lanes(in, out, begin, end);
    }
};

// Sources of one byte: a table of all codes, or of all pairs of packed lanes.
class TablePlan final : public Plan {
public:
    TablePlan(const Conversion& conversion, u8* flags) : Plan(conversion, nullptr, flags) {
        const bool pairs = source.packed;
        const int entry = pairs ? (destination.packed ? 0 : log2_bytes(destination) + 1)
                                : log2_bytes(destination);
        map_ = pairs && entry == 3 ? kernels.map_nibbles : kernels.map[entry];
        const int codes = pairs ? 16 : 1 << source.word_bits;
        Lane lanes[256] = {};
        for (int code = 0; code < codes; ++code) {
            lanes[code] = convert_lane(source, destination, static_cast<u64>(code), rounding,
                                       saturate, 0);
        }
        for (unsigned byte = 0; byte < 256; ++byte) {
            if (pairs) {
                const Lane low = lanes[byte & 0xf], high = lanes[byte >> 4];
                store_lane(destination, table_, 2 * byte, low.code);
                store_lane(destination, table_, 2 * byte + 1, high.code);
                flags_[byte] = static_cast<u16>(low.flags | high.flags << 8);
            } else {
                const Lane lane = lanes[byte & static_cast<unsigned>(source.word_mask())];
                if (destination.packed) {
                    *at<u8>(table_, byte) = static_cast<u8>(lane.code);
                } else {
                    store_lane(destination, table_, byte, lane.code);
                }
                flags_[byte] = static_cast<u16>(lane.flags);
            }
            possible_ |= flags_[byte];
        }
    }

    unsigned run(const void* in, void* out, std::size_t begin, std::size_t end) const override {
        const bool pairs = source.packed;
        // The last lane of an odd count shares its byte with a nibble that is no lane.
        const std::size_t whole = pairs ? end - (end - begin) % 2 : end;
        const std::size_t lanes_a_byte = pairs ? 2 : 1;
        const std::size_t strip = map_strip * lanes_a_byte;
        unsigned all = 0;
        for (std::size_t i = begin; i < whole; i += strip) {
            const std::size_t lanes = whole - i < strip ? whole - i : strip;
            const std::size_t bytes = lanes / lanes_a_byte;
            const u8* from = static_cast<const u8*>(lane_address(source, in, i));
            void* to = lane_address(destination, out, i);
            // Once all flags that the table can raise have been, the others need no look.
            const u16* raised = (all & possible_) == possible_ ? nullptr : flags_;
            if (flags != nullptr) {
                (pairs ? kernels.map_flag_pairs : kernels.map_flags)(flags_, from, flags + i,
                                                                     bytes);
            }
            if (destination.packed && !pairs) {
                u8 codes[map_strip];
                all |= map_(table_, raised, from, codes, bytes);
                kernels.pack(codes, to, lanes);
            } else {
                all |= map_(table_, raised, from, to, bytes);
            }
        }
        return ((all | all >> 8) & 0xff) | (whole < end ? run_lanes(in, out, whole, end) : 0);
    }

private:
    alignas(64) u8 table_[256 * 16];
    u16 flags_[256];
    unsigned possible_ = 0;
    StripKernels::Map map_;
};

const WordKernels<u32>& words_of(const StripKernels& kernels, u32) { return kernels.words32; }
const WordKernels<u64>& words_of(const StripKernels& kernels, u64) { return kernels.words64; }

// Strips of words: see strips.h.
template <typename U>
class WordPlan final : public Plan {
public:
    WordPlan(const Conversion& conversion, const u32* random, u8* flags)
        : Plan(conversion, random, flags),
          words(words_of(kernels, U{})) {
        usable_ = encodes_from<U>(destination) && set_source();
        if (!usable_) return;
        encoding_ = encoding_of<U>(destination, rounding, saturate);
        direct_ = !destination.packed && destination.carrier_bytes() == sizeof(U);
        store_ = words.store[destination.packed ? 4 : log2_bytes(destination)];
        encode_ = set_encode();
        look_ = look_of(U{});
        set_watch();
    }

    // False where the kernels do not cover the pair: then run must not be called.
    bool usable() const { return usable_; }

    unsigned run(const void* in, void* out, std::size_t begin, std::size_t end) const override {
        alignas(64) U decoded[strip_lanes];
        alignas(64) U codes[strip_lanes];
        unsigned all = 0;
        for (std::size_t i = begin; i < end; i += strip_lanes) {
            const std::size_t lanes = end - i < strip_lanes ? end - i : strip_lanes;
            const void* from = lane_address(source, in, i);
            void* to = lane_address(destination, out, i);
            const u32* words = random == nullptr ? nullptr : random + i;
            u8* raised = flags == nullptr ? nullptr : flags + i;
            if (lanes % block_lanes != 0) {
                all |= run_rest(from, to, words, raised, lanes);
                continue;
            }
            const void* given = decoded;
            if (carriers_ != 0 || (plain_ && (from != to || direct_))) {
                given = from;
            } else {
                decode(from, decoded, lanes);
            }
            all |= encode(given, direct_ ? to : codes, words, raised, lanes, all);
            if (!direct_) store_(codes, to, lanes);
        }
        return all;
    }

private:
    // Lanes that do not fill the last block: the last one stands in for those that lack.
    unsigned run_rest(const void* from, void* to, const u32* drawn, u8* raised,
                      std::size_t lanes) const {
        alignas(64) U decoded[strip_lanes];
        alignas(64) U codes[strip_lanes];
        alignas(64) u32 words[strip_lanes] = {};
        alignas(64) u8 kept[strip_lanes];
        const std::size_t padded = (lanes + block_lanes - 1) / block_lanes * block_lanes;
        if (carriers_ != 0) {
            std::memcpy(decoded, from, lanes * carriers_);
            if (carriers_ == sizeof(u16)) pad(reinterpret_cast<u16*>(decoded), lanes, padded);
            if (carriers_ == sizeof(u32)) pad(reinterpret_cast<u32*>(decoded), lanes, padded);
        } else {
            decode(from, decoded, lanes);
            pad(decoded, lanes, padded);
        }
        if (drawn != nullptr) {
            std::memcpy(words, drawn, lanes * sizeof(u32));
            pad(words, lanes, padded);
        }
        const unsigned all = encode(decoded, codes, words, kept, padded, 0);
        if (direct_) {
            const std::size_t bytes = static_cast<std::size_t>(destination.carrier_bytes());
            std::memcpy(to, codes, destination.packed ? (lanes + 1) / 2 : lanes * bytes);
            if (destination.packed && lanes % 2 != 0) static_cast<u8*>(to)[lanes / 2] &= 0xf;
        } else {
            store_(codes, to, lanes);
        }
        if (raised != nullptr) std::memcpy(raised, kept, lanes);
        return all;
    }

    template <typename T>
    static void pad(T* lanes, std::size_t count, std::size_t padded) {
        T last;
        std::memcpy(&last, lanes + count - 1, sizeof last);
        for (std::size_t i = count; i < padded; ++i) std::memcpy(lanes + i, &last, sizeof last);
    }

    void decode(const void* from, U* decoded, std::size_t lanes) const {
        if (plain_) {
            std::memcpy(decoded, from, lanes * sizeof(U));
        } else if (look_up_ != nullptr) {
            look_up_(table_, from, decoded, lanes);
        } else if (integers_ != nullptr) {
            integers_(from, decoded, lanes);
        } else {
            decode_(decoding_, from, decoded, lanes);
        }
    }

    // Whole blocks of words; `seen` are flags whose union is known already.
    unsigned encode(const void* given, void* to, const u32* drawn, u8* raised, std::size_t lanes,
                    unsigned seen) const {
        if (flags != nullptr) return encode_[2](encoding_, given, to, drawn, raised, lanes);
        const unsigned missing = possible_ & ~seen;
        bool quiet = missing == 0;
        if (!quiet && watched_ && (exact_ || (missing & nx) == 0)) {
            const Extremes<U> found = look_(given, lanes);
            const bool none_above = (missing & ~uf) == 0 || found.greatest <= watch_above_;
            const bool none_below = (missing & uf) == 0 || found.least >= watch_below_;
            quiet = none_above && none_below;
        }
        return encode_[quiet ? 0 : 1](encoding_, given, to, drawn, nullptr, lanes);
    }

    // Conversions that the hardware does to nearest even.
    const typename WordKernels<U>::Encode* single_of_integer(u32) const {
        const bool covered = source.word_bits == 32 && rounding == rne && is_single(destination);
        return covered ? words.integer_single[source.is_signed] : nullptr;
    }
    const typename WordKernels<U>::Encode* single_of_integer(u64) const { return nullptr; }

    static bool is_single(const LaneType& type) {
        return is_word<u32>(type) && type.low_zero_bits == 0;
    }

    // The kernels for the destination, and whether they write its carriers.
    const typename WordKernels<U>::Encode* set_encode() {
        if (hardware_ != nullptr) return hardware_;
        if (sizeof(U) == sizeof(u64) && plain_ && rounding == rne && is_single(destination)) {
            direct_ = true;
            return words.narrow;
        }
        if (sizeof(U) == sizeof(u64) && is_word<u32>(source) && is_word<u64>(destination)) {
            direct_ = true;
            carriers_ = sizeof(u32);
            return words.widen;
        }
        if (const auto* nearest = nearest_of(U{})) {
            direct_ = true;
            halves_ = nearest_source(source);
            carriers_ = halves_ != 0 ? sizeof(u16) : 0;
            return nearest;
        }
        if (destination.kind == Kind::integer) return words.integer[rounding];
        if (destination.kind == Kind::scale) return words.scale[rounding];
        if (destination.kind == Kind::variable) return words.variable[rounding];
        return is_word<U>(destination) && destination.low_zero_bits == 0 ? words.same
                                                                         : words.fixed[rounding];
    }

    const typename WordKernels<u64>::Encode* nearest_of(u64) const { return nullptr; }

    const typename WordKernels<u32>::Encode* nearest_of(u32) const {
        if (rounding != rne || destination.carrier_bytes() > 4) return nullptr;
        constexpr int by_bytes[] = {1, 2, 0};
        const int carrier = destination.packed ? 3 : by_bytes[log2_bytes(destination)];
        const NearestKernels& nearest = kernels.nearest[nearest_source(source)];
        switch (destination.kind) {
            case Kind::fixed: {
                if (is_word<u32>(destination) && destination.low_zero_bits == 0) return nearest.same;
                // The number whose last place is the grid of the subnormals must be a word.
                if (encoding_.drop == 0 ||
                    destination.emin + encoding_.drop > WordType<u32>::bias) {
                    return nullptr;
                }
                const bool gradual = destination.emin > 1 - WordType<u32>::bias;
                return nearest.fixed[gradual][carrier];
            }
            case Kind::variable: return nearest.variable[carrier];
            case Kind::scale: return nearest.scale[carrier];
            default: return nullptr;
        }
    }

    WordKernels<u64>::Look look_of(u64) const { return words.extremes; }

    WordKernels<u32>::Look look_of(u32) const { return kernels.nearest[halves_].extremes; }

    // Flags that may come, and magnitudes between which none but NX does.
    void set_watch() {
        possible_ = nv | of | nx | uf;
        watched_ = destination.kind != Kind::scale;
        if (hardware_ != nullptr) {
            possible_ = nx;
            watched_ = false;
            return;
        }
        if (destination.kind == Kind::integer) {
            possible_ = nv | of | nx;
            // Magnitudes tell nothing of an unsigned one: every negative number is out of range.
            watched_ = destination.is_signed;
            // No rounding takes a magnitude up to the greatest integer, 2^bits - 1, beyond it; with
            // more bits than a word has, every word below 2^bits is an integer.
            const int bits = destination.word_bits - 1;
            watch_above_ = (static_cast<U>(bits + WordType<U>::bias) << WordType<U>::fraction) - 1;
            if (bits <= WordType<U>::fraction) {
                exact_word<U>({false, (u64{1} << bits) - 1, 0}, watch_above_);
            }
        } else if (destination.kind != Kind::scale) {
            exact_word<U>(read(destination, destination.max_finite), watch_above_);
            watch_below_ = encoding_.smallest_normal;
            if (!destination.has_subnormal) possible_ &= ~uf;
            if (source.kind == Kind::fixed) narrow_to_source();
        }
        if (carriers_ == sizeof(u32)) watched_ = false;  // what looks at strips sees words
    }

    // Flags that no value of a fixed source raises.
    void narrow_to_source() {
        U greatest = 0, least = 0;
        exact_word<U>(read_fixed(source, source.max_finite), greatest);
        exact_word<U>(read_fixed(source, u64{1} << source.low_zero_bits), least);
        const bool ieee = source.specials == Specials::ieee;
        const unsigned endless = ieee ? encoding_.infinity_flags : 0;
        if (greatest <= watch_above_ && (endless & of) == 0) possible_ &= ~of;
        if (least >= watch_below_) possible_ &= ~uf;
        const bool quiet = ieee || source.specials == Specials::last;
        if (!ieee && !(quiet && encoding_.quiet_flags != 0)) possible_ &= ~nv;
        exact_ = destination.kind == Kind::fixed &&
                 source.fraction_bits <= destination.fraction_bits &&
                 source.emin - source.fraction_bits >=
                     destination.emin - destination.fraction_bits;
        if (exact_) possible_ &= (possible_ & of) != 0 ? ~uf : ~(uf | nx);
    }

    bool set_source() {
        if (source.word_bits <= 8) {
            for (u64 code = 0; code <= source.word_mask(); ++code) {
                if (!exact_word<U>(read(source, code), table_[code])) return false;
            }
            look_up_ = source.packed ? words.look_up_packed : words.look_up;
            return true;
        }
        if (source.kind == Kind::integer) {
            if (const auto* single = single_of_integer(U{})) {
                hardware_ = single;
                plain_ = true;
                return true;
            }
            // Integers as wide as a word come with their lowest bits merged: see integers_merged.
            using W = WordType<U>;
            const bool merged = source.word_bits == W::bits && random == nullptr &&
                                (destination.kind == Kind::variable ||
                                 (destination.kind == Kind::fixed &&
                                  destination.fraction_bits <= 2 * W::fraction - W::bits - 2));
            if (!merged && !decodes_to<U>(source)) return false;
            integers_ = words.integers[source.is_signed][log2_bytes(source)];
            return true;
        }
        if (!decodes_to<U>(source)) return false;
        plain_ = is_word<U>(source);
        decoding_ = decoding_of<U>(source);
        decode_ = source.word_bits <= 16   ? words.decode16
                  : source.word_bits <= 32 ? words.decode32
                                           : words.decode64;
        return true;
    }

    const WordKernels<U>& words;
    Encoding<U> encoding_{};
    Decoding<U> decoding_{};
    const typename WordKernels<U>::Encode* encode_ = nullptr;
    unsigned possible_ = 0;
    typename WordKernels<U>::Look look_ = nullptr;
    bool watched_ = false, exact_ = false;
    U watch_above_ = 0, watch_below_ = 0;
    void (*store_)(const U*, void*, std::size_t) = nullptr;
    void (*decode_)(const Decoding<U>&, const void*, U*, std::size_t) = nullptr;
    void (*integers_)(const void*, U*, std::size_t) = nullptr;
    void (*look_up_)(const U*, const void*, U*, std::size_t) = nullptr;
    const typename WordKernels<U>::Encode* hardware_ = nullptr;
    std::size_t carriers_ = 0;  // not 0: stage two reads the source itself, of so many bytes
    int halves_ = 0;  // how it reads 16 bits: see nearest_source
    bool plain_ = false, direct_ = false, usable_ = false;
    alignas(64) U table_[256];
};

// Integers of 16 bits and more to integers: extend, clamp, cut.
template <typename U>
class IntegerPlan final : public Plan {
public:
    IntegerPlan(const Conversion& conversion, u8* flags)
        : Plan(conversion, nullptr, flags),
          words(words_of(kernels, U{})),
          extend_(words.extend[source.is_signed][log2_bytes(source)]),
          clamp_(words.clamp[source.is_signed]),
          store_(words.store[destination.packed ? 4 : log2_bytes(destination)]) {
        // In the numbers of the source's sign, which the words hold.
        const u64 top = ~u64{0} >> (65 - 8 * sizeof(U));
        greatest_ = static_cast<U>(source.is_signed ? top : 2 * top + 1);
        least_ = source.is_signed ? static_cast<U>(top + 1) : 0;
        mask_ = static_cast<U>(destination.word_mask());
        if (!saturate) return;
        const IntegerRange range = integer_range(destination);
        if (range.magnitude[0] < greatest_) greatest_ = static_cast<U>(range.magnitude[0]);
        if (source.is_signed && range.magnitude[1] <= top) {
            least_ = static_cast<U>(0 - range.magnitude[1]);
        }
    }

    unsigned run(const void* in, void* out, std::size_t begin, std::size_t end) const override {
        alignas(64) U values[strip_lanes];
        for (std::size_t i = begin; i < end; i += strip_lanes) {
            const std::size_t lanes = end - i < strip_lanes ? end - i : strip_lanes;
            extend_(lane_address(source, in, i), values, lanes);
            clamp_(least_, greatest_, mask_, values, lanes);
            store_(values, lane_address(destination, out, i), lanes);
        }
        if (flags != nullptr) std::memset(flags + begin, 0, end - begin);
        return 0;
    }

private:
    const WordKernels<U>& words;
    void (*extend_)(const void*, U*, std::size_t);
    void (*clamp_)(U, U, U, U*, std::size_t);
    void (*store_)(const U*, void*, std::size_t);
    U least_, greatest_, mask_;
};

unsigned run_plan(const Plan& plan, const void* in, void* out, std::size_t count, int threads) {
    struct Context {
        const Plan& plan;
        const void* in;
        void* out;
        std::size_t count, each;
        std::atomic<unsigned> all{0};
    };
    const std::size_t each = threads > 1 || count == 0 ? part_lanes : count;
    Context context{plan, in, out, count, each, {}};
    run_parts(
        (count + each - 1) / each, threads,
        [](void* raw, std::size_t i) {
            Context& c = *static_cast<Context*>(raw);
            const std::size_t begin = i * c.each;
            const std::size_t end = c.count - begin < c.each ? c.count : begin + c.each;
            c.all.fetch_or(c.plan.run(c.in, c.out, begin, end), std::memory_order_relaxed);
        },
        &context);
    return context.all.load();
}

}  // namespace

unsigned convert_lanes(const Conversion& conversion, const void* in, void* out, const u32* random,
                       u8* flags, std::size_t count, int threads) {
    const LaneType& source = conversion.source;
    const LaneType& destination = conversion.destination;
    const auto with = [&](const Plan& plan) { return run_plan(plan, in, out, count, threads); };
    const bool integers = source.kind == Kind::integer && destination.kind == Kind::integer;
    if (integers || destination.kind == Kind::scale) random = nullptr;  // nothing to draw for
    if (current_level() == Level::lanes) return with(LanePlan(conversion, random, flags));
    if (source.word_bits <= 8 && random == nullptr) {
        if (count < worth_a_table) return with(LanePlan(conversion, random, flags));
        return with(TablePlan(conversion, flags));
    }
    if (integers) {
        const bool wide = source.word_bits > 32 || destination.word_bits > 32;
        if (wide) return with(IntegerPlan<u64>(conversion, flags));
        return with(IntegerPlan<u32>(conversion, flags));
    }
    {
        const WordPlan<u32> plan(conversion, random, flags);
        if (plan.usable()) return with(plan);
    }
    {
        const WordPlan<u64> plan(conversion, random, flags);
        if (plan.usable()) return with(plan);
    }
    return with(LanePlan(conversion, random, flags));
}

std::ptrdiff_t first_invalid(const LaneType& source, const void* in, std::size_t count,
                             int threads) {
    if (source.zero_mask == 0 || source.packed || count == 0) return -1;
    struct Context {
        const LaneType& source;
        const void* in;
        std::size_t count;
        bool (*any_bit)(u64, const void*, std::size_t);
        std::atomic<std::size_t> first;
    };
    Context context{source, in, count, kernels_of(current_level()).any_bit[log2_bytes(source)],
                    count};
    run_parts(
        (count + part_lanes - 1) / part_lanes, threads,
        [](void* raw, std::size_t part) {
            Context& c = *static_cast<Context*>(raw);
            const std::size_t begin = part * part_lanes;
            std::size_t found = c.first.load(std::memory_order_relaxed);
            if (begin >= found) return;
            const std::size_t end = c.count - begin < part_lanes ? c.count : begin + part_lanes;
            const void* from = lane_address(c.source, c.in, begin);
            if (!c.any_bit(c.source.zero_mask, from, end - begin)) return;
            std::size_t i = begin;
            while ((load_lane(c.source, c.in, i) & c.source.zero_mask) == 0) ++i;
            while (i < found && !c.first.compare_exchange_weak(found, i)) {
            }
        },
        &context);
    const std::size_t first = context.first.load();
    return first < count ? static_cast<std::ptrdiff_t>(first) : -1;
}

}  // namespace bittrue
