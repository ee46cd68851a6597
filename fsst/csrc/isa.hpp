// Which instruction sets the kernels may use: chosen once, by the caller, and handed to each kernel.
#pragma once

#include "port.hpp"

// FSST_PORTABLE leaves intrinsics and assembly out, to test what other processors and compilers run.
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && !defined(FSST_PORTABLE)
#define FSST_X86 1
#else
#define FSST_X86 0
#endif

// Between FSST_TARGET_* and FSST_TARGET_END everything is compiled for that instruction set, lambdas
// too (a function attribute would not reach them). Only inside a namespace of its own.
// clang-format off
#if FSST_X86 && defined(__clang__)
#define FSST_TARGET_AVX2 \
    _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2,popcnt\"))), apply_to = function)")
#define FSST_TARGET_AVX512 \
    _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2\"))), apply_to = function)")
#define FSST_TARGET_END _Pragma("clang attribute pop")
#elif FSST_X86
#define FSST_TARGET_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,bmi,bmi2,popcnt\")")
#define FSST_TARGET_AVX512 \
    _Pragma("GCC push_options") \
    _Pragma("GCC target(\"avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2\")")
#define FSST_TARGET_END _Pragma("GCC pop_options")
#endif
// clang-format on

#if FSST_X86
#include <cpuid.h>
#endif

namespace fsst {

// Each has what those before it have. `plain` stands for the slow twins: one lane, one code after the other;
// tests and benchmarks compare with them.
enum class Isa { plain, baseline, avx2, avx512 };

// The best that this processor has. avx2 stands for AVX2, BMI1 and BMI2 together. avx512 stands for
// VBMI2 and quick gathers, that is, Intel since Sapphire Rapids, told by FP16: gathers are known
// to be slow before (microcode fixes) and on AMD; not measured.
inline Isa detect_isa() noexcept {
#if FSST_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2")) {
        return Isa::baseline;
    }
    const bool quick = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    unsigned a, b, c, d;
    const bool fp16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1) != 0;
    return quick && fp16 ? Isa::avx512 : Isa::avx2;
#else
    return Isa::baseline;
#endif
}

}  // namespace fsst
