// What differs between compilers and processors: unaligned little-endian access, bit tricks, hints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) || defined(__clang__)
#define FSST_ALWAYS_INLINE inline __attribute__((always_inline))
#define FSST_NO_INLINE __attribute__((noinline))
#define FSST_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define FSST_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define FSST_RESTRICT __restrict__
#elif defined(_MSC_VER)
#define FSST_ALWAYS_INLINE __forceinline
#define FSST_NO_INLINE __declspec(noinline)
#define FSST_LIKELY(condition) (condition)
#define FSST_UNLIKELY(condition) (condition)
#define FSST_RESTRICT __restrict
#else
#error "fsst needs GCC, Clang or MSVC"
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FSST_BIG_ENDIAN 1
#else
#define FSST_BIG_ENDIAN 0
#endif

namespace fsst {

// Everything on disk and every packed word in memory is little-endian, so the first byte of a
// string is always the lowest byte of the word it is loaded into. These are the only loads and
// stores of more than one byte from unaligned memory in the project.
template <class Word>
FSST_ALWAYS_INLINE Word byte_swap(Word value) noexcept {
    Word swapped = 0;
    for (size_t i = 0; i < sizeof(Word); i++) {
        swapped = static_cast<Word>(swapped << 8) | static_cast<Word>(value >> (8 * i) & 0xFF);
    }
    return swapped;
}

template <class Word>
FSST_ALWAYS_INLINE Word load_le(const void* from) noexcept {
    Word value;
    std::memcpy(&value, from, sizeof(Word));
    return FSST_BIG_ENDIAN ? byte_swap(value) : value;
}

template <class Word>
FSST_ALWAYS_INLINE void store_le(void* to, Word value) noexcept {
    if (FSST_BIG_ENDIAN) value = byte_swap(value);
    std::memcpy(to, &value, sizeof(Word));
}

// The first `size` bytes (0..8) at `from` as a word, the rest zero. Reads nothing beyond them.
FSST_ALWAYS_INLINE uint64_t load_up_to_8(const uint8_t* from, size_t size) noexcept {
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < 8; i++) value |= uint64_t{from[i]} << (8 * i);
    return value;
}

// A word whose low `size` bytes (0..8) are ones.
FSST_ALWAYS_INLINE uint64_t low_bytes(size_t size) noexcept {
    return size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
}

}  // namespace fsst
