// How long rows are, in bytes and in characters of UTF-8, without decoding them.
#pragma once

#include "interrupt.hpp"
#include "measure.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fsst {

namespace lengths_detail {

constexpr size_t kRows = 4096;  // measured together: their ends stay in the cache

// Bytes of a word that begin a character: all but 10xxxxxx.
FSST_ALWAYS_INLINE uint64_t beginnings(uint64_t word, size_t size) noexcept {
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++) count += (word >> (8 * i) & 0xC0) != 0x80;
    return count;
}

}  // namespace lengths_detail

// Writes each row's text length in bytes; every code is checked. Where a length, or that of some thousand
// rows together, passes `Length` the status is offsets_overflow, and wider lengths must be asked for. Where
// `interrupt` has been told to stop, here and below, the lengths mean nothing.
template <class Offset, class Length>
Outcome byte_lengths(const DecodeTable& table, const Rows<Offset>& rows, Length* lengths, Isa isa,
                     bool& ascii, Interrupt& interrupt) noexcept {
    using namespace lengths_detail;
    ascii = true;
    size_t asked = rows.start(0);
    for (size_t first = 0; first < rows.count; first += kRows) {
        const size_t count = std::min(kRows, rows.count - first);
        if (rows.start(first) - asked > kAskEvery) {
            asked = rows.start(first);
            if (interrupt.ask()) return Outcome{};
        }
        Length* const ends = lengths + first;
        Learned learned;
        Outcome found =
            measure_rows(table, Rows<Offset>{rows.data, rows.offsets + first, count}, ends, isa, &learned);
        if (!found.ok()) {
            found.row += static_cast<int64_t>(first);
            return found;
        }
        ascii = ascii && learned.ascii;
        for (size_t i = count; i-- > 1;) ends[i] = static_cast<Length>(ends[i] - ends[i - 1]);
    }
    return Outcome{};
}

// Writes each row's number of characters, for codes that byte_lengths has accepted and text that is UTF-8.
template <class Offset, class Length>
void character_lengths(const DecodeTable& table, const Rows<Offset>& rows, Length* lengths,
                       Interrupt& interrupt) noexcept {
    uint32_t step[512];
    for (size_t index = 0; index < 512; index++) {
        step[index] = static_cast<uint32_t>(
            lengths_detail::beginnings(table.symbol[index], static_cast<size_t>(table.length[index])));
    }
    size_t asked = rows.start(0);
    for (size_t row = 0; row < rows.count; row++) {
        const uint8_t* const codes = rows.data + rows.start(row);
        const size_t size = rows.size(row);
        if (FSST_UNLIKELY(rows.start(row) - asked > kAskEvery)) {
            asked = rows.start(row);
            if (interrupt.ask()) return;
        }
        uint64_t characters = 0;
        size_t literal = 0;
        for (size_t at = 0; at < size; at++) {
            const size_t index = codes[at] | literal;
            characters += step[index];
            literal = index == kEscape ? 256 : 0;
        }
        lengths[row] = static_cast<Length>(characters);
    }
}

}  // namespace fsst
