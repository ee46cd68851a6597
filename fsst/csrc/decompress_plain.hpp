// Codes to text, the slow twin: one code at a time, obviously right. Tests and gates compare the fast
// kernels with it, and they call it to find the place of a fault.
#pragma once

#include "decode_table.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fsst {
namespace plain {
// The text size of one row's codes, every code checked. On a fault, `found` tells where.
inline size_t measure_row(const DecodeTable& table, const uint8_t* codes, size_t size,
                          Outcome& found) noexcept {
    size_t text = 0;
    for (size_t at = 0; at < size; at++) {
        const uint8_t code = codes[at];
        if (code == kEscape) {
            if (++at == size) {
                found.status = Status::escape_at_end;
                found.position = static_cast<int64_t>(at - 1);
                return 0;
            }
            text += 1;
        } else if (code >= table.count) {
            found.status = Status::code_unknown;
            found.position = static_cast<int64_t>(at);
            found.size = code;
            found.limit = table.count;
            return 0;
        } else {
            text += table.length[code];
        }
    }
    return text;
}

// Checks every code and writes where each row's text ends (`ends`, rows.count entries, counted from
// 0). The total is in Outcome::size. Sizes beyond what TextOffset holds are offsets_overflow, with
// the true total.
template <class Offset, class TextOffset>
Outcome measure_rows(const DecodeTable& table, const Rows<Offset>& rows, TextOffset* ends) noexcept {
    Outcome found;
    uint64_t total = 0;
    for (size_t row = 0; row < rows.count; row++) {
        total += measure_row(table, rows.data + rows.start(row), rows.size(row), found);
        if (!found.ok()) {
            found.row = static_cast<int64_t>(row);
            found.position += static_cast<int64_t>(rows.start(row));
            return found;
        }
        ends[row] = static_cast<TextOffset>(total);
    }
    found.size = static_cast<int64_t>(total);
    constexpr uint64_t limit = static_cast<uint64_t>(std::numeric_limits<TextOffset>::max());
    if (total > limit) {
        found.status = Status::offsets_overflow;
        found.limit = static_cast<int64_t>(limit);
    }
    return found;
}

// Decodes `size` code bytes that measure_rows has accepted into exactly `text_size` bytes, the sum it
// returned. Row borders do not matter: rows lie back to back in both.
inline void decode(const DecodeTable& table, const uint8_t* codes, size_t size, uint8_t* text,
                   size_t text_size) noexcept {
    const uint8_t* const end = codes + size;
    uint8_t* const text_end = text + text_size;
    while (codes < end) {
        const uint8_t code = *codes++;
        if (code == kEscape) {
            // SAFETY: measure_rows refused rows that end in an escape; it counted one byte of text for it.
            *text++ = *codes++;
            continue;
        }
        const uint64_t symbol = table.symbol[code];
        const size_t length = table.length[code];
        if (FSST_LIKELY(text_end - text >= 8)) {
            store_le<uint64_t>(text, symbol);
        } else {
            // SAFETY: measure_rows counted `length` bytes for this code, so they are there.
            for (size_t i = 0; i < length; i++) text[i] = static_cast<uint8_t>(symbol >> (8 * i));
        }
        text += length;
    }
}

}  // namespace plain
}  // namespace fsst
