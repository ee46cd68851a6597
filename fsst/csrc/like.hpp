// LIKE patterns with wildcards in their middle: a row at a time, on its decoded text.
//
// Only rows that hold the pattern's longest piece come here; the search on codes has ruled out the rest.
#pragma once

#include "decode.hpp"
#include "decode_table.hpp"
#include "gather.hpp"
#include "interrupt.hpp"
#include "isa.hpp"
#include "measure.hpp"
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

// Whether the whole text is like the pattern. On a mismatch the last "anything" takes one character more, so
// a long text and a long pattern may take their product in steps. Interrupted, it says no.
inline bool is_like(const uint16_t* pattern, size_t parts, const uint8_t* text, size_t size, bool utf8,
                    Interrupt& interrupt) noexcept {
    using like_detail::character;
    size_t at = 0, part = 0;
    size_t retry_at = 0, retry_part = parts + 1;  // none yet
    for (size_t steps = 1; at < size; steps++) {
        if (FSST_UNLIKELY(steps % kAskEvery == 0) && interrupt.ask()) return false;
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

// Clears the bits of rows that are not like the pattern. The first row that is corrupt is reported. Where
// `interrupt` has been told to stop the bits mean nothing. Throws std::bad_alloc.
template <class Offset>
Outcome keep_like_rows(const DecodeTable& table, const Rows<Offset>& rows, const uint16_t* pattern,
                       size_t parts, bool utf8, uint8_t* bits, Isa isa, Interrupt& interrupt) {
    // Longer rows are measured, so that they take the room of their text and not eight times that of their
    // codes.
    constexpr size_t kMeasured = 4096;
    std::vector<uint8_t> text(decode_row_bound(kMeasured));
    size_t seen = 0;
    for (size_t row = 0; row < rows.count; row++) {
        if ((bits[row / 8] >> row % 8 & 1) == 0) continue;
        const size_t size = rows.size(row);
        seen += size + 1;
        if (seen > kAskEvery) {
            seen = 0;
            if (interrupt.ask()) return Outcome{};
        }
        Outcome found;
        if (size <= kMeasured) {
            found = decode_row(table, rows, row, text.data());
        } else {
            found = measure_total(table, Rows<Offset>{rows.data, rows.offsets + row, 1}, isa);
            if (!found.ok()) {
                found.row = static_cast<int64_t>(row);
                return found;
            }
            const size_t text_size = static_cast<size_t>(found.size);
            if (text.size() < text_size) text.resize(text_size);
            decode(table, rows.data + rows.start(row), size, text.data(), text_size, isa);
        }
        if (!found.ok()) return found;
        if (!is_like(pattern, parts, text.data(), static_cast<size_t>(found.size), utf8, interrupt)) {
            bits[row / 8] = static_cast<uint8_t>(bits[row / 8] & ~(1u << row % 8));
        }
    }
    return Outcome{};
}

}  // namespace fsst
