// Binary64 and complex operations over strided arrays: sums of terms, folds, scans and products.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "operations.h"
#include "product.h"

namespace bittrue {
namespace {

constexpr std::size_t part_terms = std::size_t{1} << 18;

std::size_t blocks_of(std::size_t terms) { return (terms + block_terms - 1) / block_terms; }

// The same elements as components: a last axis of two for complex ones.
View components(const View& x) {
    View real = x;
    if (!is_complex(x.type)) return real;
    real.type = x.type == Type::c64 ? Type::f32 : Type::f64;
    for (int axis = 0; axis < x.rank; ++axis) real.strides[axis] *= 2;
    real.shape[real.rank] = 2;
    real.strides[real.rank++] = 1;
    return real;
}

Axes axes_of(const View& x, const bool* reduced, bool wanted) {
    Axes axes;
    for (int axis = 0; axis < x.rank; ++axis) {
        if (reduced[axis] == wanted) axes.append(x.shape[axis], x.strides[axis]);
    }
    return axes;
}

const void* element(const View& x, std::ptrdiff_t offset) {
    return static_cast<const char*>(x.data) + offset * static_cast<std::ptrdiff_t>(size_of(x.type));
}

// Calls body(result) for every kept coordinate, several together where they have few terms.
template <typename Body>
void over_results(std::size_t results, std::size_t terms, int threads, Body&& body) {
    const std::size_t each =
        std::max<std::size_t>(part_terms / std::max<std::size_t>(terms, 1), 1);
    parallel((results + each - 1) / each, threads, [&](std::size_t part) {
        for (std::size_t r = part * each; r < part_end(part, each, results); ++r) body(r);
    });
}

// --- sums of terms ------------------------------------------------------------------------------

// The sum of at most block_terms terms, a component of each lane apart.
void sum_block(Type type, const void* terms, std::size_t count, bool in_f64, void* out) {
    const ReduceKernels& kernels = reduce_table();
    const bool narrow = type == Type::f32 || type == Type::c64;
    if (!is_complex(type)) {
        if (!narrow) {
            kernels.f64.blocks(static_cast<const double*>(terms), count, static_cast<double*>(out));
        } else if (in_f64) {
            kernels.f32_in_f64.blocks(static_cast<const float*>(terms), count,
                                      static_cast<double*>(out));
        } else {
            kernels.f32.blocks(static_cast<const float*>(terms), count, static_cast<float*>(out));
        }
        return;
    }
    alignas(64) double scratch[lanes * 2];
    if (!narrow) {
        kernels.f64.columns(static_cast<const double*>(terms), count, 2, 2,
                            static_cast<double*>(out), scratch);
    } else if (in_f64) {
        kernels.f32_in_f64.columns(static_cast<const float*>(terms), count, 2, 2,
                                   static_cast<double*>(out), scratch);
    } else {
        kernels.f32.columns(static_cast<const float*>(terms), count, 2, 2, static_cast<float*>(out),
                            reinterpret_cast<float*>(scratch));
    }
}

void make_canonical(bool f64, void* values, std::size_t count) {
    // Comparisons follow the floating-point environment, which a part has.
    parallel(1, 1, [&](std::size_t) { wide_table().canonical[f64](values, count); });
}

}  // namespace

void sum_terms(int code, const View* operands, const bool* reduced, bool in_f64, void* out,
               int threads) {
    const View& x = operands[0];
    const Type type = code < 0 ? x.type : elementwise_row(code).out;
    const bool f64 = in_f64 || type == Type::f64 || type == Type::c128;
    const std::size_t size = f64 ? sizeof(double) : sizeof(float);
    const std::size_t width = is_complex(type) ? 2 : 1;
    const Axes kept = axes_of(x, reduced, false), inside = axes_of(x, reduced, true);
    const std::size_t results = kept.size(), terms = inside.size();
    bool all[most_axes + 1] = {};
    std::copy_n(reduced, x.rank, all);
    if (code < 0) {
        sum_reals(components(x), all, f64, out, threads);
        make_canonical(f64, out, results * width);
        return;
    }
    const ElementwiseRow& row = elementwise_row(code);
    const std::size_t blocks = blocks_of(terms);
    if (results == 0 || blocks == 0) {
        std::memset(out, 0, results * width * size);
        return;
    }
    const Memory memory(results * blocks * width * size);
    char* sums = memory.as<char>();
    Axes starts[2], lines[2];
    for (int k = 0; k < row.arity; ++k) {
        starts[k] = axes_of(operands[k], reduced, false);
        lines[k] = axes_of(operands[k], reduced, true);
    }
    const std::size_t together = part_terms / block_terms;
    const std::size_t pieces = (blocks + together - 1) / together;
    std::atomic<bool> failed{false};
    over_results(results * pieces, std::min(terms, part_terms), threads, [&](std::size_t task) {
        const std::size_t result = task / pieces, piece = task % pieces;
        // Two operands and the terms.
        char* room = static_cast<char*>(thread_scratch(3 * block_terms * 16));
        if (room == nullptr) {
            failed = true;
            return;
        }
        const auto reader = [&](int k) {
            k = k < row.arity ? k : 0;
            const View& operand = operands[k];
            return Reader(element(operand, starts[k].offset(result)), operand.type, lines[k],
                          row.in[k]);
        };
        Reader readers[2] = {reader(0), reader(1)};
        const std::size_t first = piece * together, end = std::min(first + together, blocks);
        for (int k = 0; k < row.arity; ++k) readers[k].seek(first * block_terms);
        for (std::size_t b = first; b < end; ++b) {
            const std::size_t some = std::min(block_terms, terms - b * block_terms);
            const void* in[3] = {};
            for (int k = 0; k < row.arity; ++k) {
                in[k] = readers[k].next(some, room + k * block_terms * 16);
            }
            char* made = room + 2 * block_terms * 16;
            row.strip(in, made, some);
            sum_block(type, made, some, f64, sums + (result * blocks + b) * width * size);
        }
    });
    if (failed) throw std::bad_alloc();
    // The sums of blocks are a shorter list of terms.
    View list{sums, f64 ? Type::f64 : Type::f32, 3, {}, {}};
    const std::size_t extents[3] = {results, blocks, width};
    std::ptrdiff_t step = 1;
    for (int axis = 3; axis-- > 0;) {
        list.shape[axis] = static_cast<std::ptrdiff_t>(extents[axis]);
        list.strides[axis] = step;
        step *= list.shape[axis];
    }
    const bool middle[3] = {false, true, false};
    sum_reals(list, middle, f64, out, threads);
    make_canonical(f64, out, results * width);
}

// --- folds --------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

bool takes_least(Fold rule) { return rule == Fold::minimum || rule == Fold::argmin; }
std::int64_t first_rank(Fold rule) { return rule == Fold::minimum ? most : -most - 1; }

// A rank is the bits of its number, but for the rank of a NaN.
std::uint64_t bits_of_rank(std::int64_t rank, bool least) {
    if (rank == (least ? -most - 1 : most)) return 0x7ff8000000000000;
    return static_cast<std::uint64_t>(rank) ^ (static_cast<std::uint64_t>(rank >> 63) >> 1);
}

// The kernels of products: one for each type.
int kind_of(Type type) { return type == Type::f64 ? 1 : type == Type::c64 ? 2 : 3; }

// One result after the other, its terms in pieces.
void fold_rows(Fold rule, const View& x, const Axes& kept, const Axes& inside, void* out,
               int threads) {
    const WideKernels& kernels = wide_table();
    const std::size_t terms = inside.size(), size = size_of(x.type);
    const bool least = takes_least(rule);
    over_results(kept.size(), terms, threads, [&](std::size_t result) {
        constexpr std::size_t piece = 1024;
        alignas(64) char buffer[piece * 16];
        Reader reader(element(x, kept.offset(result)), x.type, inside, x.type);
        char* to = static_cast<char*>(out) + result * size;
        std::int64_t best = first_rank(rule);
        std::int32_t ordinal = 0;
        std::size_t at = 0;
        if (rule == Fold::product) {
            // The first factor is the real 1: what it leaves is the first term, NaN canonical.
            reader.copy(1, to);
            kernels.canonical[x.type != Type::c64](to, is_complex(x.type) ? 2 : 1);
            at = 1;
        }
        while (at < terms) {
            const std::size_t some = std::min(piece, terms - at);
            const void* in = reader.next(some, buffer);
            const auto* bits = static_cast<const std::uint64_t*>(in);
            if (rule == Fold::product) {
                kernels.multiply[kind_of(x.type)](in, some, to);
            } else if (rule == Fold::maximum || rule == Fold::minimum) {
                kernels.extremum[least](bits, some, &best);
            } else {
                const std::size_t found = kernels.winner[least](bits, some, &best);
                if (found < some) ordinal = static_cast<std::int32_t>(at + found);
            }
            at += some;
        }
        if (rule == Fold::argmax || rule == Fold::argmin) {
            static_cast<std::int32_t*>(out)[result] = ordinal;
        } else if (rule != Fold::product) {
            static_cast<std::uint64_t*>(out)[result] = bits_of_rank(best, least);
        }
    });
}

// Neighbouring columns side by side, row after row.
void fold_columns(Fold rule, const View& x, Axes outer, const Axes& inside, void* out,
                  int threads) {
    const WideKernels& kernels = wide_table();
    const std::size_t terms = inside.size(), size = size_of(x.type);
    const auto columns = static_cast<std::size_t>(outer.extent[--outer.rank]);
    const bool least = takes_least(rule);
    constexpr std::size_t width = 1024;
    const std::size_t tiles = (columns + width - 1) / width;
    over_results(outer.size() * tiles, terms * std::min(columns, width), threads,
                 [&](std::size_t task) {
        const std::size_t matrix = task / tiles, first = task % tiles * width;
        const std::size_t some = std::min(width, columns - first), at = matrix * columns + first;
        const char* row = static_cast<const char*>(
            element(x, outer.offset(matrix) + static_cast<std::ptrdiff_t>(first)));
        const std::ptrdiff_t step = inside.stride[0] * static_cast<std::ptrdiff_t>(size);
        std::int64_t best[width], ordinals[width] = {};
        std::fill_n(best, width, first_rank(rule));
        char* to = static_cast<char*>(out) + at * size;
        for (std::size_t r = 0; r < terms; ++r, row += step) {
            const auto* bits = reinterpret_cast<const std::uint64_t*>(row);
            if (rule == Fold::product && r == 0) {
                std::memcpy(to, row, some * size);
                kernels.canonical[x.type != Type::c64](to, is_complex(x.type) ? 2 * some : some);
            } else if (rule == Fold::product) {
                kernels.multiply_row[kind_of(x.type)](row, to, some);
            } else if (rule == Fold::maximum || rule == Fold::minimum) {
                kernels.extremum_row[least](bits, best, some);
            } else {
                kernels.winner_row[least](bits, static_cast<std::int64_t>(r), best, ordinals, some);
            }
        }
        for (std::size_t c = 0; c < some; ++c) {
            if (rule == Fold::argmax || rule == Fold::argmin) {
                static_cast<std::int32_t*>(out)[at + c] = static_cast<std::int32_t>(ordinals[c]);
            } else if (rule != Fold::product) {
                static_cast<std::uint64_t*>(out)[at + c] = bits_of_rank(best[c], least);
            }
        }
    });
}

}  // namespace

void fold(Fold rule, const View& x, const bool* reduced, void* out, int threads) {
    const Axes kept = axes_of(x, reduced, false), inside = axes_of(x, reduced, true);
    const std::size_t results = kept.size(), size = size_of(x.type);
    if (inside.size() == 0) {
        // The empty product; the others have at least one term.
        const double one = 1.0;
        const float short_one = 1.0f;
        std::memset(out, 0, results * size);
        for (std::size_t r = 0; r < results; ++r) {
            char* to = static_cast<char*>(out) + r * size;
            if (x.type == Type::c64) {
                std::memcpy(to, &short_one, sizeof short_one);
            } else {
                std::memcpy(to, &one, sizeof one);
            }
        }
        return;
    }
    const bool by_columns = inside.rank == 1 && inside.stride[0] != 1 && kept.rank > 0 &&
                            kept.stride[kept.rank - 1] == 1;
    if (by_columns) {
        fold_columns(rule, x, kept, inside, out, threads);
    } else {
        fold_rows(rule, x, kept, inside, out, threads);
    }
}

// --- scans --------------------------------------------------------------------------------------

void scan_wide(const View& x, int axis, void* out, int threads) {
    const std::size_t count = x.size();
    if (count == 0) return;
    copy_elements(x, out, false, threads);
    const bool f64 = x.type == Type::f64 || x.type == Type::c128;
    const std::size_t size = f64 ? sizeof(double) : sizeof(float);
    std::size_t before = 1, after = is_complex(x.type) ? 2 : 1;
    for (int other = 0; other < x.rank; ++other) {
        if (other != axis) {
            (other < axis ? before : after) *= static_cast<std::size_t>(x.shape[other]);
        }
    }
    const auto length = static_cast<std::size_t>(x.shape[axis]);
    constexpr std::size_t tile = 2048;
    const std::size_t tiles = (after + tile - 1) / tile;
    const auto scan_row = wide_table().scan_row[f64];
    over_results(before * tiles, length * std::min(after, tile), threads, [&](std::size_t task) {
        const std::size_t first = task % tiles * tile, columns = std::min(tile, after - first);
        char* at = static_cast<char*>(out) + (task / tiles * length * after + first) * size;
        alignas(64) double sums[tile] = {};
        for (std::size_t i = 0; i < length; ++i, at += after * size) {
            scan_row(at, sums, at, columns);
        }
    });
}

// --- products -----------------------------------------------------------------------------------

namespace {

// Lines of an operand and their elements along the contracted axis.
struct Lines {
    const void* data;
    Type type;
    std::ptrdiff_t line, step;
};

// Writes a real element as an Element: of a complex rhs it stands twice.
void put(double& to, double value) { to = value; }
template <typename T>
void put(Complex<T>& to, double value) {
    to.re = static_cast<T>(value);
    to.im = to.re;
}
// A complex element goes into a complex one only.
void put(double&, const Complex<float>&) {}
void put(double&, const Complex<double>&) {}
template <typename T, typename From>
void put(Complex<T>& to, const Complex<From>& value) {
    to.re = static_cast<T>(value.re);
    to.im = static_cast<T>(value.im);
}

template <typename From, typename Element>
void pack_lines(const Lines& lines, std::size_t first, std::size_t count, std::size_t k,
                std::size_t depth, std::size_t width, Element* out) {
    const From* x = static_cast<const From*>(lines.data) +
                    static_cast<std::ptrdiff_t>(first) * lines.line +
                    static_cast<std::ptrdiff_t>(k) * lines.step;
    for (std::size_t at = 0; at < depth; ++at, x += lines.step, out += width) {
        for (std::size_t i = 0; i < count; ++i) {
            put(out[i], x[static_cast<std::ptrdiff_t>(i) * lines.line]);
        }
        for (std::size_t i = count; i < width; ++i) out[i] = Element{};
    }
}

template <typename Element>
auto packer(const Lines& lines, int width) {
    return [lines, width](std::size_t first, std::size_t count, std::size_t k, std::size_t depth,
                          Element* out) {
        const auto room = static_cast<std::size_t>(width);
        switch (lines.type) {
            case Type::f32: pack_lines<float>(lines, first, count, k, depth, room, out); break;
            case Type::f64: pack_lines<double>(lines, first, count, k, depth, room, out); break;
            case Type::c64:
                pack_lines<Complex<float>>(lines, first, count, k, depth, room, out);
                break;
            default: pack_lines<Complex<double>>(lines, first, count, k, depth, room, out);
        }
    };
}

template <typename Element, typename Sum>
void multiply(const TileKernels<Element, Sum>& tile, const View& lhs, const View& rhs, Sum* out,
              int threads) {
    const Blocked<Element, Sum> product{tile,
                                        static_cast<std::size_t>(lhs.shape[0]),
                                        static_cast<std::size_t>(rhs.shape[1]),
                                        static_cast<std::size_t>(lhs.shape[1]),
                                        out,
                                        threads};
    product.run(packer<Element>({lhs.data, lhs.type, lhs.strides[0], lhs.strides[1]}, tile.mr),
                packer<Element>({rhs.data, rhs.type, rhs.strides[1], rhs.strides[0]}, tile.nr),
                [](std::size_t, std::size_t, std::size_t, std::size_t) {});
}

}  // namespace

void matmul_wide(Type type, bool in_wide, const View& lhs, const View& rhs, void* out,
                 int threads) {
    const std::size_t count =
        static_cast<std::size_t>(lhs.shape[0]) * static_cast<std::size_t>(rhs.shape[1]);
    if (count == 0) return;
    if (lhs.shape[1] == 0) {
        std::memset(out, 0, count * size_of(type));
        return;
    }
    const WideKernels& kernels = wide_table();
    const int kinds = !is_complex(lhs.type) ? 1 : !is_complex(rhs.type) ? 2 : 0;
    if (type == Type::f64) {
        multiply(matmul_table().f64, lhs, rhs, static_cast<double*>(out), threads);
        make_canonical(true, out, count);
    } else if (type == Type::c128) {
        multiply(kernels.c128.of[kinds], lhs, rhs, static_cast<Complex<double>*>(out), threads);
        make_canonical(true, out, 2 * count);
    } else if (!in_wide) {
        multiply(kernels.c64.of[kinds], lhs, rhs, static_cast<Complex<float>*>(out), threads);
        make_canonical(false, out, 2 * count);
    } else {
        const Memory memory(count * sizeof(Complex<double>));
        auto* sums = memory.as<Complex<double>>();
        multiply(kernels.c64_in_c128.of[kinds], lhs, rhs, sums, threads);
        parallel(1, 1, [&](std::size_t) {
            reduce_table().narrow(memory.as<double>(), static_cast<float*>(out), 2 * count);
        });
    }
}

// --- functions of single elements ---------------------------------------------------------------

namespace {

using U128 = unsigned __int128;

struct U256 {
    U128 high, low;
};

U256 square(U128 x) {
    const U128 mask = ~std::uint64_t{0};
    const U128 h = x >> 64, l = x & mask;
    const U128 cross = h * l;  // below 2^127: operands are below 2^96
    U256 out{h * h + (cross >> 63), l * l};
    const U128 middle = cross << 65;
    out.low += middle;
    out.high += out.low < middle;
    return out;
}

U256 sum(U256 a, U256 b) {
    U256 out{a.high + b.high, a.low + b.low};
    out.high += out.low < a.low;
    return out;
}

int compare(U256 a, U256 b) {
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

template <typename T>
struct Fields;
template <>
struct Fields<float> {
    using Word = std::uint32_t;
    static constexpr int fraction = 23;
    static constexpr Word infinity = 0x7f800000, nan = 0x7fc00000, sign = 0x80000000;
};
template <>
struct Fields<double> {
    using Word = std::uint64_t;
    static constexpr int fraction = 52;
    static constexpr Word infinity = 0x7ff0000000000000, nan = 0x7ff8000000000000,
                          sign = 0x8000000000000000;
};

template <typename T>
typename Fields<T>::Word word_of(T value) {
    typename Fields<T>::Word word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

template <typename T>
T value_of(typename Fields<T>::Word word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

// A finite magnitude: significand * 2^(exponent - 1) in units of the least subnormal.
template <typename T>
void split(typename Fields<T>::Word word, std::uint64_t& significand, int& exponent) {
    using F = Fields<T>;
    const int field = static_cast<int>(word >> F::fraction);
    significand = word & ((typename F::Word{1} << F::fraction) - 1);
    if (field != 0) significand |= std::uint64_t{1} << F::fraction;
    exponent = field != 0 ? field : 1;
}

// The square root of the exact sum of two squares, rounded once.
template <typename T>
T hypotenuse(T re, T im) {
    using F = Fields<T>;
    using Word = typename F::Word;
    Word a = word_of(re) & ~F::sign, b = word_of(im) & ~F::sign;
    if (a == F::infinity || b == F::infinity) return value_of<T>(F::infinity);
    if (a > F::infinity || b > F::infinity) return value_of<T>(F::nan);
    if (a < b) std::swap(a, b);
    if (b == 0) return value_of<T>(a);
    std::uint64_t m, n;
    int e, f;
    split<T>(a, m, e);
    split<T>(b, n, f);
    // b^2 / 2a is below half of a unit of a.
    if (e - f > F::fraction / 2 + 3) return value_of<T>(a);
    // In halves of units of b: below 2^96 for either format.
    const U128 x = U128{m} << (e - f + 1), y = U128{n} << 1;
    const U256 target = sum(square(x), square(y));
    // A candidate within a few units, then steps to the greatest word whose lower midpoint is not
    // above the root. The midpoint below a word is half a unit of the word below it.
    Word word;
    {
        const double ratio = std::ldexp(static_cast<double>(n), f - e) / static_cast<double>(m);
        const double root = static_cast<double>(m) * std::sqrt(1.0 + ratio * ratio);
        // Units of a, or of twice a.
        const double top = std::ldexp(1.0, F::fraction + 1);
        const auto units = static_cast<std::uint64_t>(root >= top ? root / 2 : root);
        word = root >= top
                   ? (static_cast<Word>(e + 1) << F::fraction) +
                         static_cast<Word>(units - (std::uint64_t{1} << F::fraction))
               : units < std::uint64_t{1} << F::fraction
                   ? static_cast<Word>(units)
                   : (static_cast<Word>(e) << F::fraction) +
                         static_cast<Word>(units - (std::uint64_t{1} << F::fraction));
    }
    // The midpoint between the magnitude `low` and the word above, in the units of x and y.
    const auto midpoint = [&](Word low) {
        std::uint64_t significand;
        int exponent;
        split<T>(low, significand, exponent);
        return (2 * U128{significand} + 1) << (exponent - f);
    };
    for (;;) {
        const int above = compare(target, square(midpoint(word)));
        if (above > 0 || (above == 0 && (word & 1))) {
            ++word;
            continue;
        }
        const int below = compare(target, square(midpoint(word - 1)));
        if (below > 0 || (below == 0 && (word & 1) == 0)) break;
        --word;
    }
    return value_of<T>(std::min(word, F::infinity));
}

template <typename T>
T remainder_of(T x, T y) {
    using F = Fields<T>;
    const auto a = word_of(x) & ~F::sign, b = word_of(y) & ~F::sign;
    const auto signs = word_of(y) & F::sign;
    if (a >= F::infinity || b > F::infinity || b == 0) return value_of<T>(F::nan);
    const T rest = b == F::infinity ? x : std::fmod(x, y);  // exact
    if (rest == 0) return value_of<T>(signs);
    if ((word_of(rest) & F::sign) == signs) return rest;
    return rest + y;  // the one rounding
}

// |x / y| as an integer, rounded down or (`away`) up, then rounded to nearest once.
template <typename T>
T whole_quotient(typename Fields<T>::Word a, typename Fields<T>::Word b, bool away) {
    using F = Fields<T>;
    std::uint64_t m, n;
    int e, f;
    split<T>(a, m, e);
    split<T>(b, n, f);
    const int lift = e - f;
    if (lift < -F::fraction - 1) return a != 0 && away ? T{1} : T{0};
    // A quotient of at least fraction + 3 bits, or all of it.
    const int up = std::min(std::max(lift, 0), 64);
    const U128 numerator = U128{m} << up;
    const U128 divisor = U128{n} << std::max(-lift, 0);
    U128 quotient = numerator / divisor;
    const U128 rest = numerator - quotient * divisor;
    int exponent = std::max(lift - up, 0);
    bool sticky = false;
    if (exponent == 0) {
        if (rest != 0 && away) ++quotient;
    } else if (away && rest != 0 && exponent < 64 && ((divisor - rest) << exponent) < divisor) {
        ++quotient;  // what is below, rounded up, is one unit of the quotient
    } else {
        // Below the quotient stand the digits of rest * 2^exponent / divisor: none where that is
        // below one and the direction is down.
        sticky = rest != 0 && (away || exponent >= 64 || (rest << exponent) >= divisor);
    }
    // Round the quotient, with what is below, to nearest even.
    int bits = 0;
    for (U128 rest_bits = quotient; rest_bits != 0; rest_bits >>= 1) ++bits;
    const int drop = bits - (F::fraction + 1);
    if (drop <= 0) {
        return std::ldexp(static_cast<T>(static_cast<std::uint64_t>(quotient)), exponent);
    }
    std::uint64_t kept = static_cast<std::uint64_t>(quotient >> drop);
    const U128 lost = quotient & ((U128{1} << drop) - 1), half = U128{1} << (drop - 1);
    if (lost > half || (lost == half && (sticky || (kept & 1)))) ++kept;
    return std::ldexp(static_cast<T>(kept), drop + exponent);
}

template <typename T>
T floor_quotient(T x, T y) {
    using F = Fields<T>;
    const auto a = word_of(x) & ~F::sign, b = word_of(y) & ~F::sign;
    const auto sign = (word_of(x) ^ word_of(y)) & F::sign;
    if (a > F::infinity || b > F::infinity) return value_of<T>(F::nan);
    if (b == 0) return a == 0 ? value_of<T>(F::nan) : value_of<T>(F::infinity | sign);
    if (a == F::infinity) return value_of<T>(F::nan);
    if (b == F::infinity) return sign && a != 0 ? T{-1} : value_of<T>(sign);
    const T size = whole_quotient<T>(a, b, sign != 0);
    return value_of<T>(word_of(size) | sign);
}

template <typename T, T (*function)(T, T)>
bool binary(const void* const* in, void* result, std::size_t count) {
    const T* a = static_cast<const T*>(in[0]);
    const T* b = static_cast<const T*>(in[1]);
    T* out = static_cast<T*>(result);
    for (std::size_t i = 0; i < count; ++i) out[i] = function(a[i], b[i]);
    return false;
}

// The root in a wider format, and whether its rounding may be wrong: it is within 8 units of the
// wide format of a midpoint, or subnormal or infinite in the narrow one. Squares, sum and root are
// each off by less than one unit of the wide format, together by less than 5; the squares have no
// bits below a subnormal of it.
inline bool doubtful(float re, float im, float& out) {
    const double x = re, y = im, root = std::sqrt(x * x + y * y);
    out = static_cast<float>(root);
    std::uint64_t bits;
    std::memcpy(&bits, &root, sizeof bits);
    constexpr std::uint64_t low = (std::uint64_t{1} << 29) - 1, half = std::uint64_t{1} << 28;
    const std::uint64_t distance = (bits & low) - half + 8;
    return (distance <= 16) | !(root >= 0x1p-126) | !(root < 0x1p128);
}

// The x87 unit rounds by a control word of its own, which FloatEnvironmentGuard leaves alone and the
// caller's fesetround changes too. Clobbering memory keeps loads and stores of operands and results,
// and so what is computed between them, inside.
class LongDoubleEnvironment {
public:
#if defined(__x86_64__) || defined(__i386__)
    LongDoubleEnvironment() {
        asm volatile("fnstcw %0" : "=m"(caller_) : : "memory");
        // Every exception masked, 64 digits, round to nearest even.
        const std::uint16_t own = 0x037f;
        asm volatile("fldcw %0" : : "m"(own) : "memory");
    }
    ~LongDoubleEnvironment() { asm volatile("fldcw %0" : : "m"(caller_) : "memory"); }

private:
    std::uint16_t caller_;

public:
#else
    LongDoubleEnvironment() {}
    ~LongDoubleEnvironment() {}
#endif
    LongDoubleEnvironment(const LongDoubleEnvironment&) = delete;
    LongDoubleEnvironment& operator=(const LongDoubleEnvironment&) = delete;
};

// Whether long double is the format with 64 digits, and computes with all of them.
bool has_64_digits() {
    if (std::numeric_limits<long double>::digits != 64) return false;
    volatile long double one = 1.0L, unit = std::numeric_limits<long double>::epsilon();
    volatile long double sum = one + unit;
    return sum != one;
}

inline bool doubtful(double re, double im, double& out) {
    const long double x = re, y = im, root = std::sqrt(x * x + y * y);
    out = static_cast<double>(root);
    std::uint64_t bits;
    std::memcpy(&bits, &root, sizeof bits);
    const std::uint64_t distance = (bits & 0x7ff) - 0x400 + 8;
    return (distance <= 16) | !(root >= 0x1p-1022L) | !(root < 0x1p1024L);
}

template <typename T>
bool sizes(const void* const* in, void* result, std::size_t count) {
    const Complex<T>* x = static_cast<const Complex<T>*>(in[0]);
    T* out = static_cast<T*>(result);
    const LongDoubleEnvironment environment;
    if (sizeof(T) == sizeof(double) && !has_64_digits()) {
        for (std::size_t i = 0; i < count; ++i) out[i] = hypotenuse(x[i].re, x[i].im);
        return false;
    }
    constexpr std::size_t piece = 256;
    bool doubt[piece];
    for (std::size_t start = 0; start < count; start += piece) {
        const std::size_t some = std::min(piece, count - start);
        bool any = false;
        for (std::size_t i = 0; i < some; ++i) {
            doubt[i] = doubtful(x[start + i].re, x[start + i].im, out[start + i]);
            any |= doubt[i];
        }
        for (std::size_t i = 0; any && i < some; ++i) {
            if (doubt[i]) out[start + i] = hypotenuse(x[start + i].re, x[start + i].im);
        }
    }
    return false;
}

constexpr Type f = Type::f32, d = Type::f64, c = Type::c64, z = Type::c128;

}  // namespace

const ElementwiseRow scalar_rows[] = {
    {"abs_c64", 1, {c, c, c}, f, sizes<float>},
    {"abs_c128", 1, {z, z, z}, d, sizes<double>},
    {"remainder_f32_f32", 2, {f, f, f}, f, binary<float, remainder_of<float>>},
    {"remainder_f64_f64", 2, {d, d, d}, d, binary<double, remainder_of<double>>},
    {"floor_divide_f32_f32", 2, {f, f, f}, f, binary<float, floor_quotient<float>>},
    {"floor_divide_f64_f64", 2, {d, d, d}, d, binary<double, floor_quotient<double>>},
};
const int scalar_row_count = static_cast<int>(sizeof scalar_rows / sizeof *scalar_rows);

}  // namespace bittrue
