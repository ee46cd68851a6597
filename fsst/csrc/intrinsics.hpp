// The vector intrinsics of x86-64, where there are any.
#pragma once

#include "isa.hpp"

#if FSST_X86
#if defined(__GNUC__) && !defined(__clang__)
// gcc 12's AVX-512 intrinsics trip its own warning about values left undefined on purpose
// (https://gcc.gnu.org/PR105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
