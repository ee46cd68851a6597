// LIKE patterns with wildcards in their middle: a row at a time, on its decoded text.
//
// Only rows that hold the pattern's longest piece come here; the search on codes has ruled out the rest.
#pragma once

#include "decode_table.hpp"
#include "gather.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsst {

// A pattern's parts: a byte, one character whatever it is, or anything.
constexpr uint16_t kOneCharacter = 256;
constexpr uint16_t kAnything = 257;

namespace like_detail {

// Bytes of the character at `text`: 1, or where it is UTF-8 what its first byte says, as far as there are.
FSST_ALWAYS_INLINE size_t character(const uint8_t* text, size_t left, bool utf8) noexcept {
    const uint8_t byte = *text;
    const size_t size = !utf8 || byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return size < left ? size : left;
}

}  // namespace like_detail

// Whether the whole text is like the pattern. On a mismatch the last "anything" takes one character more.
inline bool is_like(const uint16_t* pattern, size_t parts, const uint8_t* text, size_t size,
                    bool utf8) noexcept {
    using like_detail::character;
    size_t at = 0, part = 0;
    size_t retry_at = 0, retry_part = parts + 1;  // none yet
    while (at < size) {
        if (part < parts && pattern[part] == kAnything) {
            retry_part = ++part;
            retry_at = at;
            if (part == parts) return true;
        } else if (part < parts && pattern[part] == kOneCharacter) {
            at += character(text + at, size - at, utf8);
            part++;
        } else if (part < parts && pattern[part] == text[at]) {
            at++;
            part++;
        } else if (retry_part <= parts) {
            retry_at += character(text + retry_at, size - retry_at, utf8);
            at = retry_at;
            part = retry_part;
        } else {
            return false;
        }
    }
    while (part < parts && pattern[part] == kAnything) part++;
    return part == parts;
}

// Clears the bits of rows that are not like the pattern. The first row that is corrupt is reported.
template <class Offset>
Outcome keep_like_rows(const DecodeTable& table, const Rows<Offset>& rows, const uint16_t* pattern,
                       size_t parts, bool utf8, uint8_t* bits) {
    std::vector<uint8_t> text;
    for (size_t row = 0; row < rows.count; row++) {
        if ((bits[row / 8] >> row % 8 & 1) == 0) continue;
        const size_t bound = decode_row_bound(rows.size(row)) + 1;
        if (text.size() < bound) text.resize(2 * bound);
        const Outcome found = decode_row(table, rows, row, text.data());
        if (!found.ok()) return found;
        if (!is_like(pattern, parts, text.data(), static_cast<size_t>(found.size), utf8)) {
            bits[row / 8] = static_cast<uint8_t>(bits[row / 8] & ~(1u << row % 8));
        }
    }
    return Outcome{};
}

}  // namespace fsst
