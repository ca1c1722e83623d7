// The floating-point environment of the calling thread.
//
// Flush-to-zero, denormals-are-zero and the rounding direction are per thread, and other libraries
// change them at any time. Every entry into native arithmetic, on the caller's thread and on each
// worker, therefore holds a FloatEnvironmentGuard while it computes.
//
// The compiler does not know that arithmetic depends on this state and may move it across the
// guard. The arithmetic must be in another translation unit than the guard, built without
// link-time optimisation: a call it cannot see into stays between the two.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#else
#include <cfenv>
#include <stdexcept>
#endif

namespace bittrue {

#if defined(__SSE2__)

using FloatEnvironment = unsigned int;

// MXCSR: round to nearest even, every exception masked, FTZ and DAZ off, status flags clear.
constexpr FloatEnvironment default_environment = 0x1f80;
// MXCSR bits 15 (FTZ: subnormal results become zero) and 6 (DAZ: subnormal operands are zero).
constexpr FloatEnvironment flush_to_zero_bits = 0x8040;

inline FloatEnvironment read_environment() { return _mm_getcsr(); }
inline void write_environment(FloatEnvironment value) { _mm_setcsr(value); }

#elif defined(__aarch64__)

using FloatEnvironment = std::uint64_t;

// FPCR: round to nearest even, no trap, no flushing, NaN payloads propagated.
constexpr FloatEnvironment default_environment = 0;
// FPCR bit 24 (FZ) flushes subnormal operands and results alike.
constexpr FloatEnvironment flush_to_zero_bits = std::uint64_t{1} << 24;

inline FloatEnvironment read_environment() {
    FloatEnvironment value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
}
inline void write_environment(FloatEnvironment value) {
    asm volatile("msr fpcr, %0" : : "r"(value));
}

#endif

#if defined(__SSE2__) || defined(__aarch64__)

class FloatEnvironmentGuard {
public:
    FloatEnvironmentGuard() : caller_(read_environment()) {
        write_environment(default_environment);
    }
    // The caller gets back its exact state, status flags included: status is computed from values
    // here, so the flags that the arithmetic raised are nobody's information.
    ~FloatEnvironmentGuard() { write_environment(caller_); }
    FloatEnvironmentGuard(const FloatEnvironmentGuard&) = delete;
    FloatEnvironmentGuard& operator=(const FloatEnvironmentGuard&) = delete;

private:
    FloatEnvironment caller_;
};

// Switches flushing on the calling thread; returns whether any of it was on before.
inline bool set_flush_to_zero(bool enabled) {
    const FloatEnvironment before = read_environment();
    write_environment(enabled ? before | flush_to_zero_bits : before & ~flush_to_zero_bits);
    return (before & flush_to_zero_bits) != 0;
}

#else

class FloatEnvironmentGuard {
public:
    FloatEnvironmentGuard() {
        std::feholdexcept(&caller_);
        std::fesetround(FE_TONEAREST);
    }
    ~FloatEnvironmentGuard() { std::fesetenv(&caller_); }
    FloatEnvironmentGuard(const FloatEnvironmentGuard&) = delete;
    FloatEnvironmentGuard& operator=(const FloatEnvironmentGuard&) = delete;

private:
    std::fenv_t caller_;
};

// The standard library has no name for flushing, so it can be neither seen nor switched.
inline bool set_flush_to_zero(bool enabled) {
    if (enabled) {
        throw std::runtime_error("set_flush_to_zero: not supported on this processor");
    }
    return false;
}

#endif

}  // namespace bittrue
