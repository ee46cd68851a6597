// Which codes are escapes and which bytes are their literals, many at a time.
#pragma once

#include "symbol_table.hpp"

#include <cstdint>

namespace fsst {

// Whether any byte of the word is 0xFF.
FSST_ALWAYS_INLINE bool has_escape(uint64_t word) noexcept {
    return ((~word - 0x0101010101010101u) & word & 0x8080808080808080u) != 0;
}

// A bit for each byte of the word that has its top bit set.
FSST_ALWAYS_INLINE uint64_t top_bits(uint64_t word) noexcept {
    return (word >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}

// A bit for each byte of the word that is 0xFF.
FSST_ALWAYS_INLINE uint64_t escape_bits(uint64_t word) noexcept {
    return top_bits(((word & 0x7F7F7F7F7F7F7F7Fu) + 0x0101010101010101u) & word);
}

// Bit i of `all` says that code byte i is 0xFF: an escape, or a literal 0xFF after one. Returns which
// of the bytes are literals, given whether the first is one. Runs of 0xFF alternate between escape
// and literal. Adding a run's first bit makes it carry out of the run, which tells runs that begin at
// even positions from the others: no loop, no branch.
FSST_ALWAYS_INLINE uint64_t literal_positions(uint64_t all, bool first_is_literal) noexcept {
    const uint64_t first = first_is_literal;
    all &= ~first;
    constexpr uint64_t even = 0x5555555555555555u;
    const uint64_t run_starts = all & ~(all << 1);
    const uint64_t runs_from_even = all & ~(all + (run_starts & even));
    const uint64_t escapes = (runs_from_even & even) | (all & ~runs_from_even & ~even);
    return escapes << 1 | first;
}

}  // namespace fsst
