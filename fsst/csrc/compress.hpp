// Text to codes: greedy longest match, row by row.
#pragma once

#include "matcher.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

// The most codes that `raw` bytes can become: an escape and a literal each.
constexpr size_t compress_bound(size_t raw) noexcept {
    return 2 * raw;
}

// Compresses one row; `codes` has room for compress_bound(size). Returns the bytes written.
inline size_t compress_row(const Matcher& matcher, const uint8_t* text, size_t size,
                           uint8_t* codes) noexcept {
    uint8_t* out = codes;
    size_t at = 0;
    while (at < size) {
        const size_t left = size - at;
        // SAFETY: the full load is taken only where 8 bytes of the row are left.
        const uint64_t word = left >= 8 ? load_le<uint64_t>(text + at) : load_up_to_8(text + at, left);
        const Match match = matcher.longest(word, left);
        *out++ = match.code;
        if (match.code == kEscape) *out++ = text[at];
        at += match.length;
    }
    return static_cast<size_t>(out - codes);
}

// Compresses all rows; `codes` has room for compress_bound(rows.total()), `ends` for rows.count
// entries: ends[i] is where row i's codes end. Returns the bytes written.
template <class Offset, class CodeOffset>
size_t compress_rows(const Matcher& matcher, const Rows<Offset>& rows, uint8_t* codes,
                     CodeOffset* ends) noexcept {
    size_t out = 0;
    for (size_t row = 0; row < rows.count; row++) {
        out += compress_row(matcher, rows.data + rows.start(row), rows.size(row), codes + out);
        ends[row] = static_cast<CodeOffset>(out);
    }
    return out;
}

}  // namespace fsst
