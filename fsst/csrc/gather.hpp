// Single rows, and rows picked by number (take): short, scattered, so what counts is not to mispredict
// and not to wait for memory.
//
// A row is walked 8 codes a step. Its last step is filled up with escapes, which have no length and no
// bytes, so rows of up to 8 codes take the same path whatever their length.
#pragma once

#include "decode.hpp"
#include "decode_table.hpp"
#include "decompress_plain.hpp"
#include "interrupt.hpp"
#include "measure.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fsst {

namespace gather_detail {

constexpr size_t kStep = 8;
constexpr size_t kOffsetsAhead = 32;  // rows; 16 and 8 to 64 and 32 are alike, none is 3 to 6 times slower
constexpr size_t kCodesAhead = 16;
constexpr size_t kAskRows = size_t{1} << 21;  // picked rows after which an interrupt is asked for
constexpr uint64_t kFaulty = ~uint64_t{0};

// Up to 8 codes of a row, `count` of them, the rest filled up with escapes.
FSST_ALWAYS_INLINE uint64_t load_codes(const uint8_t* codes, size_t count, const uint8_t* readable) noexcept {
    // SAFETY: 8 bytes are readable, if not all of this row; load_up_to_8 reads `count` bytes only.
    const uint64_t word =
        static_cast<size_t>(readable - codes) >= 8 ? load_le<uint64_t>(codes) : load_up_to_8(codes, count);
    return word | ~low_bytes(count);
}

// Whether one of the first `count` codes is an escape; beyond them there are only escapes.
FSST_ALWAYS_INLINE bool has_real_escape(uint64_t word, size_t count) noexcept {
    return has_escape(word & low_bytes(count));
}

// The size of a row's text, or kFaulty.
FSST_ALWAYS_INLINE uint64_t measure_one(const DecodeTable& table, const uint8_t* codes, size_t size,
                                        const uint8_t* readable) noexcept {
    uint64_t text = 0;
    uint64_t unknown = 0;
    bool literal = false;
    for (size_t at = 0; at < size; at += kStep) {
        const size_t count = size - at < kStep ? size - at : kStep;
        uint64_t word = load_codes(codes + at, count, readable);
        if (FSST_LIKELY(!has_real_escape(word, count) && !literal)) {
            // The filling escapes count 1 each, as all escapes do here.
            uint64_t sum = 0;
            for (size_t k = 0; k < kStep; k++, word >>= 8) sum += table.step[word & 0xFF];
            unknown |= sum & ~uint64_t{DecodeTable::kUnknown - 1};
            text += (sum & (DecodeTable::kUnknown - 1)) - (kStep - count);
            continue;
        }
        for (size_t k = 0; k < count; k++, word >>= 8) {
            const uint32_t step = literal ? 0 : table.step[word & 0xFF];
            unknown |= step & DecodeTable::kUnknown;
            text += step & (DecodeTable::kUnknown - 1);
            literal = !literal && (word & 0xFF) == kEscape;
        }
    }
    return unknown != 0 || literal ? kFaulty : text;
}

// Decodes one row's codes. Never writes at or beyond text_end, whatever the codes; bytes between the
// row's end and text_end may be overwritten. Returns the row's end.
FSST_ALWAYS_INLINE uint8_t* decode_one(const DecodeTable& table, const uint8_t* codes, size_t size,
                                       const uint8_t* readable, uint8_t* text, uint8_t* text_end) noexcept {
    using namespace decode_detail;
    bool literal = false;
    for (size_t at = 0; at < size; at += kStep) {
        const size_t count = size - at < kStep ? size - at : kStep;
        if (FSST_UNLIKELY(static_cast<size_t>(text_end - text) < kStep * kMaxSymbolLength)) {
            return put_rest(table, codes + at, codes + size, literal, text, text_end);
        }
        // SAFETY for every put below: room for 8 words, each beginning at most 8 bytes after the last.
        uint64_t word = load_codes(codes + at, count, readable);
        if (FSST_LIKELY(!has_real_escape(word, count) && !literal)) {
            for (size_t k = 0; k < kStep; k++, word >>= 8) text = put(table, word & 0xFF, text);
            continue;
        }
        for (size_t k = 0; k < count; k++, word >>= 8) {
            const size_t index = (word & 0xFF) | (literal ? 256u : 0u);
            literal = index == kEscape;
            text = put(table, index, text);
        }
    }
    return text;
}

template <class Offset>
FSST_ALWAYS_INLINE void prefetch_row(const Rows<Offset>& rows, const int64_t* indices, size_t at,
                                     size_t count, bool offsets) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    if (offsets && at + kOffsetsAhead < count && indices[at + kOffsetsAhead] >= 0) {
        __builtin_prefetch(rows.offsets + indices[at + kOffsetsAhead]);
    }
    if (at + kCodesAhead < count && indices[at + kCodesAhead] >= 0) {
        __builtin_prefetch(rows.data + rows.start(static_cast<size_t>(indices[at + kCodesAhead])));
    }
#endif
}

}  // namespace gather_detail

// Room that decode_row asks for.
constexpr size_t decode_row_bound(size_t codes) noexcept {
    return (codes + 7) / 8 * 64;
}

// One row, checked and decoded in one go; `text` has room for decode_row_bound(rows.size(row)). The
// text's size is in Outcome::size.
template <class Offset>
Outcome decode_row(const DecodeTable& table, const Rows<Offset>& rows, size_t row, uint8_t* text) noexcept {
    using namespace gather_detail;
    using decode_detail::put;
    const uint8_t* const codes = rows.data + rows.start(row);
    const size_t size = rows.size(row);
    const uint8_t* const readable = rows.data + rows.start(rows.count);
    uint8_t* out = text;
    uint32_t unknown = 0;
    bool literal = false;
    for (size_t at = 0; at < size; at += kStep) {
        const size_t count = size - at < kStep ? size - at : kStep;
        uint64_t word = load_codes(codes + at, count, readable);
        // SAFETY for every put: 64 bytes of room for each step of 8 codes.
        if (FSST_LIKELY(!has_real_escape(word, count) && !literal)) {
            for (size_t k = 0; k < kStep; k++, word >>= 8) {
                unknown |= table.step[word & 0xFF];
                out = put(table, word & 0xFF, out);
            }
            continue;
        }
        for (size_t k = 0; k < count; k++, word >>= 8) {
            const size_t index = (word & 0xFF) | (literal ? 256u : 0u);
            literal = index == kEscape;
            unknown |= table.step[index];
            out = put(table, index, out);
        }
    }
    Outcome found;
    found.size = out - text;
    if (FSST_LIKELY(!literal && unknown < DecodeTable::kUnknown)) return found;
    found.size = 0;
    plain::measure_row(table, codes, size, found);
    found.row = static_cast<int64_t>(row);
    found.position += static_cast<int64_t>(rows.start(row));
    return found;
}

// Checks the offsets of the rows that `indices` pick, and that there are such rows; the other offsets may be
// anything. For columns of which only a few rows are wanted. Outcome::size is how many bytes of codes they
// have. Where `interrupt` has been told to stop, here and below, nothing that is found means anything.
template <class Offset>
Outcome check_picked(const Rows<Offset>& rows, size_t data_size, const int64_t* indices, size_t count,
                     Interrupt& interrupt) noexcept {
    Outcome found;
    const int64_t last = static_cast<int64_t>(rows.offsets[rows.count]);
    if (last < 0 || static_cast<uint64_t>(last) > data_size) {
        found.status = last < 0 ? Status::offset_negative : Status::offset_past_end;
        found.row = static_cast<int64_t>(rows.count) - 1;
        found.size = last;
        found.limit = static_cast<int64_t>(data_size);
        return found;
    }
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (FSST_UNLIKELY((i + 1) % gather_detail::kAskRows == 0) && interrupt.ask()) return found;
#if defined(__GNUC__) || defined(__clang__)
        const size_t ahead = i + gather_detail::kOffsetsAhead;
        // The address may lie anywhere: a prefetch touches nothing.
        if (ahead < count) {
            __builtin_prefetch(
                reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(rows.offsets) +
                                              static_cast<uint64_t>(indices[ahead]) * sizeof(Offset)));
        }
#endif
        const int64_t row = indices[i];
        if (row < 0) continue;
        found.row = row;
        if (static_cast<uint64_t>(row) >= rows.count) {
            found.status = Status::offset_past_end;
            found.size = row;
            found.limit = static_cast<int64_t>(rows.count);
            return found;
        }
        const int64_t start = static_cast<int64_t>(rows.offsets[row]);
        const int64_t end = static_cast<int64_t>(rows.offsets[row + 1]);
        if (start < 0) {
            found.status = Status::offset_negative;
            found.size = start;
            return found;
        }
        if (end < start) {
            found.status = Status::offset_decreasing;
            found.size = end;
            found.limit = start;
            return found;
        }
        if (end > last) {
            found.status = Status::offset_past_end;
            found.size = end;
            found.limit = last;
            return found;
        }
        total += static_cast<uint64_t>(end - start);
#if defined(__GNUC__) || defined(__clang__)
        __builtin_prefetch(rows.data + start);
#endif
    }
    found.row = -1;
    found.size = static_cast<int64_t>(total);
    return found;
}

// Copies the codes of the rows that check_picked has accepted to `codes`, which has room for the bytes it
// found and kCopyRoom more; `ends` gets where each ends. Decoding the copy as a column is quicker than row by
// row: for 14 codes a row, 13 ns against 37.
constexpr size_t kCopyRoom = 16;

template <class Offset>
void copy_picked(const Rows<Offset>& rows, const int64_t* indices, size_t count, uint8_t* codes,
                 int64_t* ends, Interrupt& interrupt) noexcept {
    const uint8_t* const readable = rows.data + rows.start(rows.count);
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (FSST_UNLIKELY((i + 1) % gather_detail::kAskRows == 0) && interrupt.ask()) return;
        if (indices[i] >= 0) {
            const size_t row = static_cast<size_t>(indices[i]);
            const size_t size = rows.size(row);
            const uint8_t* const from = rows.data + rows.start(row);
            if (FSST_LIKELY(size <= kCopyRoom && static_cast<size_t>(readable - from) >= kCopyRoom)) {
                // SAFETY: 16 bytes are readable, and there is room for 16 behind the bytes of all rows.
                std::memcpy(codes + total, from, kCopyRoom);
            } else if (size > 0) {
                std::memcpy(codes + total, from, size);
            }
            total += size;
        }
        ends[i] = static_cast<int64_t>(total);
    }
}

// Rows by number: `ends` gets where each picked row's text ends. A negative number picks an empty text
// (a null); others the caller has checked against rows.count. The first fault in picking order is
// reported, with the row's number in `rows`.
template <class Offset, class TextOffset>
Outcome measure_gather(const DecodeTable& table, const Rows<Offset>& rows, const int64_t* indices,
                       size_t count, TextOffset* ends) noexcept {
    using namespace gather_detail;
    const uint8_t* const readable = rows.data + rows.start(rows.count);
    Outcome found;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        prefetch_row(rows, indices, i, count, true);
        if (indices[i] >= 0) {
            const size_t row = static_cast<size_t>(indices[i]);
            const uint8_t* const codes = rows.data + rows.start(row);
            const uint64_t size = measure_one(table, codes, rows.size(row), readable);
            if (FSST_UNLIKELY(size == kFaulty)) {
                plain::measure_row(table, codes, rows.size(row), found);
                found.row = indices[i];
                found.position += static_cast<int64_t>(rows.start(row));
                return found;
            }
            total += size;
        }
        ends[i] = static_cast<TextOffset>(total);
    }
    found.size = static_cast<int64_t>(total);
    constexpr uint64_t limit = static_cast<uint64_t>(std::numeric_limits<TextOffset>::max());
    if (total > limit) {
        found.status = Status::offsets_overflow;
        found.limit = static_cast<int64_t>(limit);
    }
    return found;
}

// Decodes the rows that measure_gather has accepted into exactly `text_size` bytes, the size it returned.
template <class Offset>
void decode_gather(const DecodeTable& table, const Rows<Offset>& rows, const int64_t* indices, size_t count,
                   uint8_t* text, size_t text_size) noexcept {
    using namespace gather_detail;
    const uint8_t* const readable = rows.data + rows.start(rows.count);
    uint8_t* const text_end = text + text_size;
    for (size_t i = 0; i < count; i++) {
        prefetch_row(rows, indices, i, count, false);
        if (indices[i] < 0) continue;
        const size_t row = static_cast<size_t>(indices[i]);
        text = decode_one(table, rows.data + rows.start(row), rows.size(row), readable, text, text_end);
    }
}

}  // namespace fsst
