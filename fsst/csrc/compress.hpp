// Text to codes: greedy longest match, row by row.
#pragma once

#include "interrupt.hpp"
#include "matcher.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

// The most codes that `raw` bytes can become: an escape and a literal each.
constexpr size_t compress_bound(size_t raw) noexcept {
    return 2 * raw;
}

// Compresses a row from text[at] on, until it has got to `until` or just beyond; `codes` has room for
// compress_bound(size - at). Moves `at` on and returns the bytes written.
inline size_t compress_until(const Matcher& matcher, const uint8_t* text, size_t size, size_t& at,
                             size_t until, uint8_t* codes) noexcept {
    uint8_t* out = codes;
    while (at < until) {
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

// Compresses one row; `codes` has room for compress_bound(size). Returns the bytes written.
inline size_t compress_row(const Matcher& matcher, const uint8_t* text, size_t size,
                           uint8_t* codes) noexcept {
    size_t at = 0;
    return compress_until(matcher, text, size, at, size, codes);
}

namespace plain {

// The slow twin of compress_rows in encoder.hpp: one row after the other, one match at a time.
template <class Offset, class CodeOffset>
size_t compress_rows(const Matcher& matcher, const Rows<Offset>& rows, uint8_t* codes, CodeOffset* ends,
                     Interrupt& interrupt) noexcept {
    size_t out = 0;
    for (size_t row = 0; row < rows.count; row++) {
        const size_t size = rows.size(row);
        for (size_t at = 0; at < size;) {
            const size_t until = size - at > kAskEvery ? at + static_cast<size_t>(kAskEvery) : size;
            out += compress_until(matcher, rows.data + rows.start(row), size, at, until, codes + out);
            if (until < size && interrupt.ask()) return out;
        }
        ends[row] = static_cast<CodeOffset>(out);
    }
    return out;
}

}  // namespace plain
}  // namespace fsst
