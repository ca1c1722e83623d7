#include "postprocess.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "levels.h"
#include "strip_encoding.h"
#include "postprocess_strips.h"
#include "threads.h"

namespace bittrue {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr u32 sign_bit = 0x80000000;
constexpr u32 infinity = 0x7f800000;
constexpr u32 quiet_nan = 0x7fc00000;
// Rows that go to a kernel together, so that it reads the parameters of columns less often.
constexpr std::size_t rows_together = 8;
// Elements from which on accumulators and D are more than caches hold.
constexpr std::size_t streamed_elements = 8 * 1024 * 1024;
// Elements that a thread takes at a time, at least.
constexpr std::size_t part_elements = 32 * 1024;

const PostKernels& kernels_of(Level level) {
#if defined(BITTRUE_X86_LEVELS)
    if (level == Level::v4) return v4::post_kernels;
    if (level == Level::v3) return v3::post_kernels;
#endif
    (void)level;
    return baseline::post_kernels;
}

// --- one element --------------------------------------------------------------------------------

struct ElementParameters {
    u32 scale, activation;
    i32 offset, amount;
};

Lane shifted(const PostProcessing& rule, u32 raw, int amount) {
    const i32 value = static_cast<i32>(raw) >> amount;
    const i32 kept = value < -32768 ? -32768 : value > 32767 ? 32767 : value;
    return {static_cast<u64>(static_cast<i64>(kept)) & rule.destination.word_mask(),
            kept == value ? 0u : of | nx};
}

struct Clamped {
    i64 value;
    unsigned flags;
};

Clamped clamped(i64 value, int width) {
    const i64 half = i64{1} << (width - 1);
    const i64 kept = value < -half ? -half : value > half - 1 ? half - 1 : value;
    return {kept, kept == value ? 0u : of | nx};
}

// Multiplies exactly. A zero keeps the sign of its accumulator unless the multiplier is zero.
Number product_of(const PostProcessing& rule, const Number& number, u32 multiplier) {
    if (multiplier == 0) return {false, 0, 0};
    const Number factor = rule.accumulator == Accumulator::fp32
                              ? read(rule.source, multiplier)
                              : Number{false, (multiplier & 0x7fffff) | 0x800000,
                                       static_cast<int>(multiplier >> 23) - 150};
    // Thirteen low bits of an FP19's significand are zero here: 32 bits times 11.
    return {number.negative, number.significand * (factor.significand >> 13),
            number.exponent + factor.exponent + 13};
}

Lane affine(const PostProcessing& rule, const Number& product, i32 offset) {
    const bool huge = product.significand != 0 &&
                      bit_length(product.significand) + product.exponent > 40;
    const Rounded rounded =
        huge ? Rounded{u64{1} << 40, false}
             : round_magnitude(product.significand, -product.exponent, product.negative,
                               rule.rounding, 0);
    const i64 value = product.negative ? -static_cast<i64>(rounded.kept)
                                       : static_cast<i64>(rounded.kept);
    const Clamped saturated = clamped(value, rule.offset_bits);
    const i64 total = saturated.value + offset;
    const Clamped kept = clamped(total, rule.destination.word_bits);
    const u64 code = static_cast<u64>(rule.saturate ? kept.value : total);
    return {code & rule.destination.word_mask(),
            saturated.flags | kept.flags | (rounded.inexact ? nx : 0u)};
}

// Whether a product, before any rounding, lies above the largest finite value.
bool beyond_largest(const LaneType& destination, const Number& product) {
    const Number most = read(destination, destination.max_finite);
    const int lift = product.exponent - most.exponent;
    if (lift >= 0) {
        return product.significand != 0 &&
               (bit_length(product.significand) + lift > 60 ||
                product.significand << lift > most.significand);
    }
    if (bit_length(most.significand) - lift > 60) return false;
    return product.significand > most.significand << -lift;
}

Lane encode_float(const PostProcessing& rule, const Number& product) {
    const LaneType& destination = rule.destination;
    if (rule.range_first && beyond_largest(destination, product)) {
        return {overflow(destination, product.negative, rule.saturate), of | nx};
    }
    const Lane lane = to_float(product, destination, rule.rounding, rule.saturate, 0);
    const bool zero = (lane.code & destination.magnitude_mask) == 0;
    if (rule.unsigned_zero && zero && product.significand != 0) return {0, lane.flags};
    return lane;
}

Lane convert_element(const PostProcessing& rule, u32 raw, const ElementParameters& given) {
    if (rule.shift) return shifted(rule, raw, given.amount);
    const Number number = read(rule.source, raw);
    const bool nan = number.special == Special::quiet_nan ||
                     number.special == Special::signaling_nan;
    // The class negative zero counts among the negative ones; a NaN never does.
    const bool negative = number.negative && !nan;
    const u32 multiplier = negative && rule.relu ? given.activation : given.scale;
    const bool integer = rule.destination.kind == Kind::integer;
    if (nan || (number.special == Special::infinity && multiplier != 0)) {
        return integer ? to_integer(number, rule.destination, rule.rounding, rule.saturate, 0)
                       : to_float(number, rule.destination, rule.rounding, rule.saturate, 0);
    }
    const Number product = product_of(rule, number, multiplier);
    if (rule.offset_bits != 0) return affine(rule, product, given.offset);
    if (integer) return to_integer(product, rule.destination, rule.rounding, rule.saturate, 0);
    return encode_float(rule, product);
}

// --- maxima -------------------------------------------------------------------------------------

struct Reduced {
    u32 code;
    unsigned flags;
};

bool is_nan(u32 code) { return (code & ~sign_bit) > infinity; }
bool is_signaling(u32 code) { return is_nan(code) && (code & 0x400000) == 0; }

u32 code_of(Accumulator accumulator, i32 key) {
    switch (accumulator) {
        case Accumulator::fp32:
            if (key == INT32_MIN) return quiet_nan;
            return static_cast<u32>(key ^ ((key >> 31) & 0x7fffffff));
        case Accumulator::s32: return static_cast<u32>(key);
        default: return static_cast<u32>(key) ^ sign_bit;
    }
}

class Runner {
    using Store = void (*)(const u32*, void*, std::size_t);

public:
    Runner(const PostProcessing& rule, const RawRows& raw, const OutputGroup& out)
        : rule(rule),
          raw(raw),
          out(out),
          kernels(kernels_of(current_level())),
          groups(rule.group_max ? (raw.columns + rule.group_n - 1) / rule.group_n : 0),
          single_elements(current_level() == Level::lanes) {
        // A value for all columns stands `post_strip` times, so that kernels see one a column.
        spread(rule.scale, scales_);
        spread(rule.activation, activations_);
        spread(rule.offset, offsets_);
        spread(rule.amount, amounts_);
        prepare();
    }

    unsigned run(std::size_t begin, std::size_t end) const {
        unsigned all = 0;
        for (std::size_t row = begin; row < end; row += rows_together) {
            const std::size_t rows = end - row < rows_together ? end - row : rows_together;
            const u8* in = static_cast<const u8*>(raw.data) +
                           static_cast<std::ptrdiff_t>(row) * raw.stride;
            all = run_rows(in, raw.stride, row, rows, all);
        }
        return all;
    }

    // A few rows of codes, `stride` bytes apart, that are `first` and the following of the matrix;
    // returns their flags and those seen before.
    unsigned run_rows(const void* in, std::ptrdiff_t stride, std::size_t first, std::size_t rows,
                      unsigned seen) const {
        u8* const d = static_cast<u8*>(out.d) + static_cast<std::ptrdiff_t>(first) * out.stride;
        std::size_t done = 0;  // columns
        if (requantize_ != nullptr) {
            done = raw.columns;
            seen |= requantize_(requantize_rule_, requantize_parameters_,
                                {in, stride, d, out.stride, rows, done, streams_});
        }
        for (std::size_t r = 0; r < rows; ++r) {
            const auto offset = static_cast<std::ptrdiff_t>(r);
            const u32* const codes =
                reinterpret_cast<const u32*>(static_cast<const u8*>(in) + offset * stride);
            if (rule.row_max || rule.group_max) seen |= maxima(codes, first + r);
            seen |= convert(codes, d + offset * out.stride, done, seen);
        }
        return seen;
    }

private:
    template <typename T>
    struct Spread {
        const T* values;
        std::size_t step;
        T constant[post_strip];
        const T* at(std::size_t column) const { return values + step * column; }
        T one(std::size_t column) const { return values[step * column]; }
    };

    template <typename T>
    static void spread(const PerColumn<T>& given, Spread<T>& to) {
        to.step = given.step;
        to.values = given.step != 0 ? given.values : to.constant;
        const T value = given.step == 0 && given.values != nullptr ? *given.values : T{0};
        for (T& each : to.constant) each = value;
    }

    // Chooses the kernels and their rule; without one, elements go one by one.
    void prepare() {
        const bool fp32 = rule.accumulator == Accumulator::fp32;
        const int source = fp32 ? 0 : 1;
        const LaneType& d = rule.destination;
        // A U32 is never negative: with a scale of one it is its own result.
        copies_ = rule.copies || rule.accumulator == Accumulator::u32;
        store_ = rule.packed        ? kernels.store_packed
                 : d.word_bits <= 8 ? kernels.store8
                                    : kernels.store16;
        if (copies_ || single_elements) return;
        checks_specials_ = fp32;
        if (rule.shift) {
            shift_ = kernels.shift;
        } else if (rule.offset_bits != 0) {
            affine_ = kernels.affine[source][rule.rounding][rule.relu];
            const i32 half = i32{1} << (rule.offset_bits - 1);
            const std::array<double, 2> bounds = rounding_into(-half, half - 1);
            const i32 d_half = i32{1} << (d.word_bits - 1);
            affine_rule_ = {bounds[0], bounds[1], -d_half, d_half - 1, rule.saturate,
                            static_cast<u32>(d.word_mask())};
            if (!fp32) prepare_requantization();
        } else if (d.kind == Kind::variable) {
            if (!fp32 || rule.rounding != rhb) return;
            prepare_scaling(ScaledInto::hif8);
            words_ = kernels.words[source][rule.relu];
            tapered_ = kernels.tapered;
            set_tapered_rule();
        } else if (d.kind == Kind::fixed && d.word_bits <= 16) {
            if (rule.rounding == rne) {
                nearest_ = kernels.nearest[source][rule.relu];
                nearest_rule_ = nearest_rule();
                if (fp32) {
                    prepare_scaling(d.word_bits <= 8              ? ScaledInto::e4m3
                                    : d.emin > 1 - WordType<u32>::bias ? ScaledInto::fp16
                                                                       : ScaledInto::bf16);
                }
                return;
            }
            words_ = kernels.words[source][rule.relu];
            float_ = kernels.fixed[rule.rounding];
            float_rule_ = float_rule();
        } else if (d.kind != Kind::integer && fp32 && d.word_bits == 32) {
            single_ = kernels.single[rule.rounding][rule.relu];
            single_rule_ = single_rule();
        }
    }

    // The kernel of whole rows, where it covers the mode and every column.
    void prepare_requantization() {
        const LaneType& d = rule.destination;
        const bool wide = kernels.requantized > 0 && raw.columns >= kernels.requantized;
        if (!wide || rule.rounding != rne || rule.packed || d.word_bits > 8) return;
        const bool per_column = scales_.step != 0 || offsets_.step != 0;
        const std::size_t columns = per_column ? raw.columns : requantize_columns;
        const std::size_t activations = activations_.step != 0 ? raw.columns : 1;
        for (std::size_t c = 0; rule.relu && c < activations; ++c) {
            if (activations_.one(c) != 0) return;
        }
        requantize_rule_ = {static_cast<std::int16_t>(affine_rule_.d_least),
                            static_cast<std::int16_t>(~(affine_rule_.d_greatest -
                                                        affine_rule_.d_least)),
                            static_cast<std::int16_t>(d.word_mask()), rule.saturate, true};
        requantize_columns_.assign(5 * columns, 0);
        i32* const table = requantize_columns_.data();
        for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t column = per_column ? c : 0;
            const u32 scale = scales_.one(column);
            if (scale > 0x3f800000) return;
            if (scale < 0x35000000) requantize_rule_.fused = false;
            const i32 offset = offsets_.one(column);
            const i32 half = i32{1} << (rule.offset_bits - 1);
            i32 low = -half, high = half - 1;
            if (rule.saturate) {
                // One clamp for both: every column has numbers that neither of them changes.
                low = std::max(low, affine_rule_.d_least - offset);
                high = std::min(high, affine_rule_.d_greatest - offset);
            }
            table[c] = static_cast<i32>(scale);
            table[columns + c] = low;
            table[2 * columns + c] = high;
            table[3 * columns + c] = offset;
            table[4 * columns + c] = static_cast<i32>(inexact_bits(scale));
        }
        requantize_parameters_ = {reinterpret_cast<const u32*>(table), table + columns,
                                  table + 2 * columns, table + 3 * columns, table + 4 * columns};
        streams_ = raw.rows * raw.columns >= streamed_elements;
        requantize_ = kernels.requantize[per_column][rule.relu];
    }

    // The product of an integer and a positive normal FP32 is an integer if these bits of the
    // integer are zero: as many as the scale has fraction bits below its last one.
    static u32 inexact_bits(u32 scale) {
        const u32 significand = (scale & 0x7fffff) | 0x800000;
        const int fraction = 150 - static_cast<int>(scale >> 23) - __builtin_ctz(significand);
        return fraction <= 0 ? 0 : fraction >= 32 ? ~u32{0} : (u32{1} << fraction) - 1;
    }

    // The kernels of whole blocks, where their products are words: see `take_blocks`.
    void prepare_scaling(ScaledInto into) {
        const auto& kernel = kernels.scaled[static_cast<int>(into)][rule.relu];
        const bool narrow = into == ScaledInto::e4m3 || into == ScaledInto::hif8;
        if (kernel[0] == nullptr || rule.range_first != narrow) return;
        const LaneType& d = rule.destination;
        const auto value = [](u32 bits) {
            float x;
            std::memcpy(&x, &bits, sizeof x);
            return static_cast<double>(x);
        };
        double least = HUGE_VAL, greatest = 0;
        const auto meet = [&](const Spread<u32>& multipliers) {
            const std::size_t count = multipliers.step != 0 ? raw.columns : 1;
            for (std::size_t c = 0; c < count; ++c) {
                const double x = value(multipliers.one(c));
                if (x > 0 && x < least) least = x;
                if (x > greatest) greatest = x;
            }
        };
        meet(scales_);
        if (rule.relu) meet(activations_);
        const Number most = read(d, d.max_finite);
        const double limit = std::ldexp(static_cast<double>(most.significand), most.exponent);
        // A little inside the exact bounds: these only choose between kernels that agree.
        const auto at_least = [](double bound) {
            return single_bits(bound < 1e-40 ? 1e-40 : bound * 1.0001);
        };
        scaled_least_ = at_least(std::ldexp(1.0, -100) / least);
        quiet_least_ = at_least(std::ldexp(1.0, d.emin) / least);
        quiet_greatest_ = single_bits(limit / greatest * 0.9999);
        const u32 limit_word = single_bits(limit);
        scaled_rule_ = {encoding_of<u32>(d, rule.rounding, rule.saturate),
                        narrow ? limit_word : infinity, limit_word + (2 << 23),
                        rule.unsigned_zero ? u32{1} << d.sign_bit : ~u32{0}};
        scaled_[0] = kernel[0];
        scaled_[1] = kernel[1];
    }

    // The FP32 of a number, infinity beyond its range.
    static u32 single_bits(double number) {
        const float x = number > 3.4e38 ? HUGE_VALF : static_cast<float>(number);
        u32 bits;
        std::memcpy(&bits, &x, sizeof bits);
        return bits;
    }

    // The least and the greatest number that round into [least, greatest], an even and an odd one.
    std::array<double, 2> rounding_into(double least, double greatest) const {
        const auto below = [](double x) { return std::nextafter(x, -1e9); };
        const auto above = [](double x) { return std::nextafter(x, 1e9); };
        switch (rule.rounding) {
            case rtz: return {above(least - 1), below(greatest + 1)};
            case rtm: return {least, below(greatest + 1)};
            case rtp: return {above(least - 1), greatest};
            case rna: return {above(least - 0.5), below(greatest + 0.5)};
            case rto: return {least, below(greatest + 1)};
            default: return {least - 0.5, below(greatest + 0.5)};
        }
    }

    NearestRule nearest_rule() const {
        const LaneType& d = rule.destination;
        NearestRule e{};
        e.smallest_normal = std::ldexp(1.0, d.emin);
        e.limit = HUGE_VAL;
        if (rule.range_first) {
            const Number most = read(d, d.max_finite);
            e.limit = std::ldexp(static_cast<double>(most.significand), most.exponent);
        }
        e.beyond = 4 * e.limit;
        // Half a step below the smallest normal, of the binade below it.
        e.tiny = e.smallest_normal - std::ldexp(1.0, d.emin - d.fraction_bits - 2);
        e.fraction_bits = d.fraction_bits;
        e.rebias = static_cast<u32>(d.emin + 1023) << d.fraction_bits;
        e.max_code = static_cast<u32>(d.max_finite);
        e.sign = u32{1} << d.sign_bit;
        e.over_code = static_cast<u32>(overflow(d, false, rule.saturate));
        e.over_sign = !rule.saturate && !d.has_infinity && d.has_nan ? 0 : e.sign;
        e.unsigned_zero = rule.unsigned_zero;
        return e;
    }

    void set_tapered_rule() {
        const LaneType& d = rule.destination;
        // Half a step of the grid with one fraction bit, below the smallest normal; a tie there
        // moves up if it is positive, and the words below a negative one are tiny with it.
        const u32 normal = static_cast<u32>(d.emin + 1023) << 20, half = u32{1} << 18;
        tapered_rule_.tiny[0] = normal - half;
        tapered_rule_.tiny[1] = normal - half + 1;
        for (int index = 0; index < tapered_negative; ++index) {
            const int exponent = (index - 1) / 8 - 22;
            const Number grid{false, index == 0 ? 0u : 8u + static_cast<u64>(index - 1) % 8,
                              exponent - 3};
            for (const bool negative : {false, true}) {
                Number signed_grid = grid;
                signed_grid.negative = negative;
                tapered_rule_.codes[index + (negative ? tapered_negative : 0)] =
                    static_cast<u8>(encode_float(rule, signed_grid).code);
            }
        }
    }

    FloatRule float_rule() const {
        constexpr int fraction = 20, bias = 1023;
        const LaneType& d = rule.destination;
        FloatRule e{};
        e.over_code = static_cast<u32>(overflow(d, false, rule.saturate));
        e.sign = u32{1} << d.sign_bit;
        e.over_sign = !rule.saturate && !d.has_infinity && d.has_nan ? 0 : e.sign;
        e.unsigned_zero = rule.unsigned_zero;
        e.smallest_normal = static_cast<u32>(d.emin + bias) << fraction;
        set_tiny(e);
        e.drop = fraction - d.fraction_bits;
        e.rebias = static_cast<u32>(d.emin + bias - 1) << d.fraction_bits;
        e.subnormal_drop = d.emin - d.fraction_bits + bias + fraction;
        e.max_code = static_cast<u32>(d.max_finite);
        return e;
    }

    // Words below `tiny` do not round up to the smallest normal on a grid without end; its step
    // just below the smallest normal is 2^shift words. The lowest bit of a word may stand for any
    // lost part, which `shift` >= 2 keeps apart from the threshold.
    void set_tiny(FloatRule& e) const {
        const LaneType& d = rule.destination;
        const int shift = 20 - d.fraction_bits;
        const u32 half = u32{1} << (shift - 1), below_step = (u32{1} << shift) - 1;
        u32 reach[2] = {0, 0};
        switch (rule.rounding) {
            case rne:
            case rna: reach[0] = reach[1] = half; break;
            case rhb: reach[0] = half, reach[1] = half - 1; break;
            case rtp: reach[0] = below_step; break;
            case rtm: reach[1] = below_step; break;
            default: break;  // toward zero; to odd, which the number below is
        }
        e.tiny[0] = e.smallest_normal - reach[0];
        e.tiny[1] = e.smallest_normal - reach[1];
    }

    SingleRule single_rule() const {
        const double normal = std::ldexp(1.0, -126), half = std::ldexp(1.0, -151);
        const double nearest = normal - half;
        const double directed = std::nextafter(normal - 2 * half, 1.0);
        SingleRule e{{normal, normal}, static_cast<u32>(overflow(rule.destination, false,
                                                                 rule.saturate))};
        switch (rule.rounding) {
            case rne:
            case rna: e.tiny[0] = e.tiny[1] = nearest; break;
            case rhb: e.tiny[0] = nearest, e.tiny[1] = std::nextafter(nearest, 1.0); break;
            case rtp: e.tiny[0] = directed; break;
            case rtm: e.tiny[1] = directed; break;
            default: break;
        }
        return e;
    }

    // --- one row --------------------------------------------------------------------------------

    // From a column on, a multiple of two.
    unsigned convert(const u32* codes, u8* to, std::size_t first, unsigned seen) const {
        const std::size_t bytes = static_cast<std::size_t>(rule.destination.carrier_bytes());
        if (copies_) {
            std::memcpy(to, codes, raw.columns * sizeof(u32));
            return 0;
        }
        alignas(64) u32 made[post_strip];
        unsigned all = seen;
        for (std::size_t column = first; column < raw.columns;) {
            const std::size_t left = raw.columns - column;
            const std::size_t count = left < post_strip ? left : post_strip;
            const u32* in = codes + column;
            u8* target = to + (rule.packed ? column / 2 : column * bytes);
            if (scaled_[0] != nullptr && count >= block_lanes) {
                const std::size_t blocks = count / block_lanes * block_lanes;
                if (take_blocks(in, column, target, blocks, all)) {
                    column += blocks;
                    continue;
                }
            }
            if (bytes == 4) {
                all |= strip(in, column, reinterpret_cast<u32*>(target), count, all);
            } else {
                all |= strip(in, column, made, count, all);
                store_(made, target, count);
            }
            column += count;
        }
        return all;
    }

    // Whole blocks by the kernels of words, unless a NaN, an infinity or a product too small for
    // them stands in the way. Where no flag can be new, they tell none.
    bool take_blocks(const u32* in, std::size_t column, u8* target, std::size_t count,
                     unsigned& all) const {
        const Extremes<u32> found = kernels.extremes(in, count);
        if (found.greatest >= infinity || found.least < scaled_least_) return false;
        const bool known = (all & nx) != 0 &&
                           ((all & of) != 0 || found.greatest <= quiet_greatest_) &&
                           ((all & uf) != 0 || found.least >= quiet_least_);
        const StripParameters parameters{scales_.at(column), activations_.at(column),
                                         offsets_.at(column), amounts_.at(column)};
        all |= scaled_[known ? 0 : 1](scaled_rule_, in, parameters, target, count);
        return true;
    }

    // NaNs and infinities go one by one, what stands between them together.
    unsigned strip(const u32* in, std::size_t column, u32* made, std::size_t count,
                   unsigned seen) const {
        if (!checks_specials_ || !kernels.any_special(in, count)) {
            return finite(in, column, made, count, seen);
        }
        const auto special = [&](std::size_t i) { return (in[i] & ~sign_bit) >= infinity; };
        unsigned all = seen;
        for (std::size_t i = 0; i < count;) {
            std::size_t end = i;
            while (end < count && !special(end)) ++end;
            if (end > i) all |= finite(in + i, column + i, made + i, end - i, all);
            if (end < count) all |= elements(in + end, column + end, made + end, 1);
            i = end + 1;
        }
        return all;
    }

    unsigned finite(const u32* in, std::size_t column, u32* made, std::size_t count,
                    unsigned seen) const {
        const StripParameters parameters{scales_.at(column), activations_.at(column),
                                         offsets_.at(column), amounts_.at(column)};
        if (affine_ != nullptr) {
            return affine_(affine_rule_, in, parameters, made, count, seen & (of | nx));
        }
        if (nearest_ != nullptr) {
            return nearest_(nearest_rule_, in, parameters, made, count, seen);
        }
        if (words_ != nullptr) {
            alignas(64) u32 words[post_strip];
            words_(in, parameters, words, count);
            if (tapered_ != nullptr) return tapered_(tapered_rule_, words, made, count);
            return float_(float_rule_, words, made, count);
        }
        if (single_ != nullptr) return single_(single_rule_, in, parameters, made, count);
        if (shift_ != nullptr) return shift_(in, parameters, made, count);
        return elements(in, column, made, count);
    }

    unsigned elements(const u32* in, std::size_t column, u32* made, std::size_t count) const {
        unsigned all = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const ElementParameters given{scales_.one(column + i), activations_.one(column + i),
                                          offsets_.one(column + i), amounts_.one(column + i)};
            const Lane lane = convert_element(rule, in[i], given);
            made[i] = static_cast<u32>(lane.code);
            all |= lane.flags;
        }
        return all;
    }

    Reduced step(u32 left, u32 right) const {
        const u32 both[2] = {left, right};
        const Maximum found = reduce(both, 2);
        return {code_of(rule.accumulator, found.key), found.raised};
    }

    Maximum reduce(const u32* codes, std::size_t count) const {
        return kernels.maximum[static_cast<int>(rule.accumulator)][rule.max_abs](codes, count);
    }

    // One code alone is copied unless magnitudes count, and raises nothing.
    Reduced reduced(const u32* codes, std::size_t count, const Maximum& found) const {
        if (count == 1 && !rule.max_abs) return {codes[0], 0};
        return {code_of(rule.accumulator, found.key), found.raised};
    }

    unsigned maxima(const u32* codes, std::size_t row) const {
        unsigned all = 0;
        Maximum whole{INT32_MIN, 0};
        if (rule.group_max) {
            for (std::size_t group = 0; group < groups; ++group) {
                const std::size_t first = group * rule.group_n;
                const std::size_t left = raw.columns - first;
                const std::size_t count = left < rule.group_n ? left : rule.group_n;
                const Maximum found = reduce(codes + first, count);
                const Reduced value = reduced(codes + first, count, found);
                out.group_max[row * groups + group] = value.code;
                all |= value.flags;
                whole.key = found.key > whole.key ? found.key : whole.key;
                whole.raised |= found.raised;
            }
        } else {
            whole = reduce(codes, raw.columns);
        }
        if (!rule.row_max) return all;
        Reduced value = reduced(codes, raw.columns, whole);
        all |= value.flags;
        if (rule.row_max_in != nullptr) {
            value = step(rule.row_max_in[row], value.code);
            all |= value.flags;
        }
        out.row_max[row] = value.code;
        return all;
    }

    const PostProcessing& rule;
    const RawRows& raw;
    const OutputGroup& out;
    const PostKernels& kernels;
    const std::size_t groups;
    const bool single_elements;
    bool copies_ = false, checks_specials_ = false;
    Spread<u32> scales_, activations_;
    Spread<i32> offsets_, amounts_;
    AffineRule affine_rule_{};
    RequantizeRule requantize_rule_{};
    RequantizeParameters requantize_parameters_{};
    std::vector<i32> requantize_columns_;
    bool streams_ = false;
    PostKernels::Requantize requantize_ = nullptr;
    FloatRule float_rule_{};
    SingleRule single_rule_{};
    PostKernels::Affine affine_ = nullptr;
    PostKernels::Float float_ = nullptr;
    NearestRule nearest_rule_{};
    PostKernels::Nearest nearest_ = nullptr;
    ScaledRule scaled_rule_{};
    PostKernels::Scaled scaled_[2] = {nullptr, nullptr};  // with flags: [1]
    // Accumulators between which the kernels of words may be used, and raise nothing but NX.
    u32 scaled_least_ = 0, quiet_least_ = 0, quiet_greatest_ = 0;
    TaperedRule tapered_rule_{};
    unsigned (*tapered_)(const TaperedRule&, const u32*, u32*, std::size_t) = nullptr;
    PostKernels::Single single_ = nullptr;
    void (*words_)(const void*, const StripParameters&, u32*, std::size_t) = nullptr;
    unsigned (*shift_)(const void*, const StripParameters&, u32*, std::size_t) = nullptr;
    Store store_ = nullptr;
};

}  // namespace

unsigned post_process(const PostProcessing& rule, const RawRows& raw, const OutputGroup& out,
                      int threads) {
    struct Context {
        const Runner runner;
        std::size_t rows, each;
        std::atomic<unsigned> all{0};
    };
    std::size_t each = raw.columns == 0 ? 1 : (part_elements + raw.columns - 1) / raw.columns;
    if (threads <= 1) each = raw.rows;
    Context context{Runner(rule, raw, out), raw.rows, each < 1 ? 1 : each, {}};
    run_parts(
        (context.rows + context.each - 1) / context.each, threads,
        [](void* given, std::size_t i) {
            Context& c = *static_cast<Context*>(given);
            const std::size_t begin = i * c.each;
            const std::size_t end = c.rows - begin < c.each ? c.rows : begin + c.each;
            c.all.fetch_or(c.runner.run(begin, end), std::memory_order_relaxed);
        },
        &context);
    return context.all.load();
}

unsigned matmul_post_process(const PostProcessing& rule, const Operands& operands,
                             const OutputGroup& out, int threads, std::size_t& row,
                             std::size_t& column) {
    constexpr std::size_t block = 32;  // rows whose accumulators are held at a time
    constexpr std::size_t none = ~std::size_t{0};
    struct Context {
        const PostProcessing& rule;
        const Operands& operands;
        const PostKernels& kernels;
        const Runner runner;
        std::atomic<unsigned> all{0};
        std::atomic<std::size_t> outside{none};  // index of the first sum out of range
        std::atomic<bool> failed{false};         // no memory: a part must not throw

        void keep_first(std::size_t index) {
            std::size_t found = outside.load(std::memory_order_relaxed);
            while (index < found && !outside.compare_exchange_weak(found, index)) {
            }
        }

        void integers(std::size_t first, std::size_t at, std::size_t rows, std::size_t columns,
                      u32* to) {
            i64 sums[tile_rows * tile_columns];
            const std::size_t k = operands.k, n = operands.columns;
            kernels.multiply_integers(static_cast<const i32*>(operands.a) + first * k, k,
                                      static_cast<const i32*>(operands.b) + at, n, k, rows, columns,
                                      sums);
            const bool is_signed = rule.accumulator == Accumulator::s32;
            const i64 low = is_signed ? INT32_MIN : 0;
            const i64 high = is_signed ? i64{INT32_MAX} : i64{UINT32_MAX};
            for (std::size_t r = 0; r < rows; ++r) {
                for (std::size_t c = 0; c < columns; ++c) {
                    const i64 sum = sums[r * tile_columns + c];
                    if (sum < low || sum > high) keep_first((first + r) * n + at + c);
                    to[r * n + c] = static_cast<u32>(sum);
                }
            }
        }

        void floats(std::size_t first, std::size_t at, std::size_t rows, std::size_t columns,
                    u32* to) {
            u32 sums[tile_rows * tile_columns];
            const std::size_t k = operands.k, n = operands.columns;
            kernels.multiply_fp32(static_cast<const float*>(operands.a) + first * k, k,
                                  static_cast<const float*>(operands.b) + at, n, k, rows, columns,
                                  sums);
            for (std::size_t r = 0; r < rows; ++r) {
                std::memcpy(to + r * n, sums + r * tile_columns, columns * sizeof(u32));
            }
        }

        void run(std::size_t begin, std::size_t end) {
            const std::size_t n = operands.columns;
            const std::unique_ptr<u32[]> held(new (std::nothrow) u32[(end - begin) * n]);
            u32* const codes = held.get();
            if (codes == nullptr) {
                failed.store(true, std::memory_order_relaxed);
                return;
            }
            for (std::size_t at = 0; at < n; at += tile_columns) {
                const std::size_t columns = n - at < tile_columns ? n - at : tile_columns;
                for (std::size_t first = begin; first < end; first += tile_rows) {
                    const std::size_t rows = end - first < tile_rows ? end - first : tile_rows;
                    u32* to = codes + (first - begin) * n + at;
                    if (rule.accumulator == Accumulator::fp32) {
                        floats(first, at, rows, columns, to);
                    } else {
                        integers(first, at, rows, columns, to);
                    }
                }
            }
            unsigned flags = 0;
            const auto stride = static_cast<std::ptrdiff_t>(n * sizeof(u32));
            for (std::size_t i = begin; i < end; i += rows_together) {
                const std::size_t rows = end - i < rows_together ? end - i : rows_together;
                flags = runner.run_rows(codes + (i - begin) * n, stride, i, rows, flags);
            }
            all.fetch_or(flags, std::memory_order_relaxed);
        }
    };
    const RawRows raw{nullptr, 0, operands.rows, operands.columns};
    Context context{rule, operands, kernels_of(current_level()), Runner(rule, raw, out), {}, {none}, {}};
    run_parts(
        (operands.rows + block - 1) / block, threads,
        [](void* given, std::size_t i) {
            Context& c = *static_cast<Context*>(given);
            const std::size_t begin = i * block;
            const std::size_t end =
                c.operands.rows - begin < block ? c.operands.rows : begin + block;
            c.run(begin, end);
        },
        &context);
    if (context.failed.load()) throw std::bad_alloc();
    const std::size_t outside = context.outside.load();
    if (outside == none) return context.all.load();
    row = outside / operands.columns;
    column = outside % operands.columns;
    return sum_outside;
}

}  // namespace bittrue
