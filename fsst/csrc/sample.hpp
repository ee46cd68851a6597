// A sample of a column: pieces of a few hundred bytes, one from each of equally large strata of its bytes.
//
// The strata divide the column's bytes, not its rows: nulls and empty rows cost nothing, and a huge row
// gets the share that its bytes are of the column, no more. Where a stratum's piece begins follows from the
// stratum's number alone, and positions are counted over all arrays together, so the sample depends on the
// rows and not on how they are cut into arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "port.hpp"

namespace fsst {

// One Arrow array's rows. `offsets` has count + 1 entries, validated: int64_t if wide, else int32_t.
// A null is a row of no bytes.
struct ColumnPiece {
    const uint8_t* data;
    const void* offsets;
    size_t count;
    bool wide;

    uint64_t offset(size_t row) const noexcept {
        return wide ? static_cast<uint64_t>(static_cast<const int64_t*>(offsets)[row])
                    : static_cast<uint64_t>(static_cast<const int32_t*>(offsets)[row]);
    }
    uint64_t size() const noexcept { return count == 0 ? 0 : offset(count) - offset(0); }
};

// Symbols never cross the end of a row, so a separator stands after each row or cut of the sample, and
// kSeparators of them at its end: eight bytes can be loaded at any position.
struct Sample {
    static constexpr size_t kSeparators = 8;

    std::vector<uint8_t> bytes;  // rows, each followed by a separator (a zero byte: `left` tells it apart)
    std::vector<uint8_t> left;   // bytes from here to the row's end, at most 8; 0 is a separator
    uint64_t text = 0;           // bytes that are not separators
    uint64_t column = 0;         // bytes of the whole column

    size_t size() const noexcept { return bytes.size(); }
};

namespace detail {

// A well mixed word for each number: stands in for randomness where results must repeat.
inline uint64_t mix(uint64_t value) noexcept {
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15u;
    value = (value ^ value >> 29) * 0xBF58476D1CE4E5B9u;
    return value ^ value >> 32;
}

inline void append(Sample& sample, const uint8_t* from, size_t size) {
    if (size == 0) return;
    size_t at = sample.bytes.size();
    sample.bytes.resize(at + size + 1);
    sample.left.resize(at + size + 1);
    std::memcpy(sample.bytes.data() + at, from, size);
    std::memset(sample.left.data() + at, 8, size);
    for (size_t i = size < 8 ? size : 8; i > 0; i--) {
        sample.left[at + size - i] = static_cast<uint8_t>(i);
    }
    sample.text += size;
}

// Takes rows one after another from a byte position of the column.
class Cursor {
 public:
    explicit Cursor(const std::vector<ColumnPiece>& pieces) : pieces_(pieces) {}

    // Moves forward to the row that holds `position`, which is below the column's size.
    void seek(uint64_t position) noexcept {
        while (position >= before_ + pieces_[piece_].size()) {
            before_ += pieces_[piece_].size();
            piece_++;
            row_ = 0;
        }
        const ColumnPiece& piece = pieces_[piece_];
        uint64_t offset = piece.offset(0) + (position - before_);
        // The last row that starts at or before the offset: of rows at one place, the one with bytes.
        size_t low = row_, high = piece.count;
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (piece.offset(middle) <= offset) {
                low = middle;
            } else {
                high = middle;
            }
        }
        row_ = low;
    }

    bool at_end() const noexcept { return piece_ == pieces_.size(); }
    const uint8_t* data() const noexcept { return pieces_[piece_].data + pieces_[piece_].offset(row_); }
    uint64_t size() const noexcept { return pieces_[piece_].offset(row_ + 1) - pieces_[piece_].offset(row_); }
    // The column's bytes before this row.
    uint64_t position() const noexcept {
        return before_ + (pieces_[piece_].offset(row_) - pieces_[piece_].offset(0));
    }

    // The next row. After a few empty ones, goes straight to the next byte: a million nulls cost nothing.
    void next() noexcept {
        for (int empty = 0; empty < 4; empty++) {
            row_++;
            skip_finished();
            if (at_end() || size() != 0) return;
        }
        while (!at_end() && position() == before_ + pieces_[piece_].size()) {
            row_ = pieces_[piece_].count;
            skip_finished();
        }
        if (!at_end()) seek(position());
    }
    void skip_finished() noexcept {
        while (piece_ < pieces_.size() && row_ >= pieces_[piece_].count) {
            before_ += pieces_[piece_].size();
            piece_++;
            row_ = 0;
        }
    }

 private:
    const std::vector<ColumnPiece>& pieces_;
    size_t piece_ = 0, row_ = 0;
    uint64_t before_ = 0;
};

}  // namespace detail

inline uint64_t column_bytes(const std::vector<ColumnPiece>& pieces) noexcept {
    uint64_t total = 0;
    for (const ColumnPiece& piece : pieces) total += piece.size();
    return total;
}

namespace detail {

// About how long rows are, those without bytes not counted: from the rows that hold 64 bytes of the column. A
// row is looked at in proportion to its length, so the harmonic mean is the average.
inline uint64_t average_row(const std::vector<ColumnPiece>& pieces, uint64_t column) noexcept {
    constexpr uint64_t kLooks = 64, kOne = 1 << 20;
    if (column == 0) return 0;
    uint64_t inverse = 0;
    Cursor cursor(pieces);
    for (uint64_t look = 0; look < kLooks; look++) {
        cursor.seek(column / kLooks * look + column % kLooks * look / kLooks);
        inverse += kOne / cursor.size();
    }
    return inverse == 0 ? column : kLooks * kOne / inverse;
}

}  // namespace detail

// Longer rows are cut, so that what a change to the parse does to the rest of a row stays a small number.
constexpr uint64_t kLongestRow = 8192;

// Rows up to this length are short: taken whole or not at all. Of longer ones, parts of this length are
// taken. In sorted columns the rows of one place resemble each other, and what they have in common looks
// frequent, so a stratum of short rows should hold two or three. (Windows of 128 bytes whatever the rows:
// sorted keys came out 55 % above the C++ reference at effort "fast", now 5 % below.)
constexpr size_t kLongestShort = 128, kLeastWindow = 24;

// About `wanted` bytes of the column, or all of it if it has no more.
//
// Each stratum has a window, `rows_a_window` times as long as the average row. It takes the short rows that
// begin in the window; every so many-th takes, of a long row that lies there, a part of kLongestShort bytes:
// no row's bytes are taken twice, and long rows and short ones get their share of bytes. The strata come in
// four turns, so that the first quarter (half) of the sample is one of every fourth (second) stratum:
// training begins on that.
inline Sample take_sample(const std::vector<ColumnPiece>& pieces, size_t wanted, uint64_t rows_a_window) {
    Sample sample;
    sample.column = column_bytes(pieces);
    const uint64_t window = std::clamp<uint64_t>(rows_a_window * detail::average_row(pieces, sample.column),
                                                 kLeastWindow, kLongestShort);
    const uint64_t windows_a_part = kLongestShort / window;
    size_t room = static_cast<size_t>(std::min<uint64_t>(wanted, sample.column));
    // Rows of few bytes need more room for their separators and grow it.
    sample.bytes.reserve(room + room / 4 + 2 * kLongestShort);
    sample.left.reserve(room + room / 4 + 2 * kLongestShort);
    if (sample.column <= wanted) {
        detail::Cursor cursor(pieces);
        for (cursor.skip_finished(); !cursor.at_end(); cursor.next()) {
            for (uint64_t at = 0; at < cursor.size(); at += kLongestRow) {
                uint64_t size = std::min(cursor.size() - at, kLongestRow);
                detail::append(sample, cursor.data() + at, static_cast<size_t>(size));
            }
        }
    } else {
        const uint64_t strata = std::max<uint64_t>(wanted / window, 1);
        const uint64_t width = sample.column / strata;
        for (uint64_t turn : {0u, 2u, 1u, 3u}) {
            detail::Cursor cursor(pieces);
            for (uint64_t stratum = turn; stratum < strata; stratum += 4) {
                uint64_t from = stratum * width;
                if (width > window) from += detail::mix(stratum + 1) % (width - window);
                const uint64_t to = std::min(from + window, sample.column);
                const bool takes_part = stratum / 4 % windows_a_part == 0;
                const uint64_t part_to =
                    std::min(from + kLongestShort, std::min(from + width, sample.column));
                for (cursor.seek(from); !cursor.at_end() && cursor.position() < to; cursor.next()) {
                    uint64_t size = cursor.size(), start = cursor.position();
                    if (size > kLongestShort) {
                        uint64_t first = std::max(start, from), last = std::min(start + size, part_to);
                        if (takes_part && first < last) {
                            detail::append(sample, cursor.data() + (first - start),
                                           static_cast<size_t>(last - first));
                        }
                        if (to < start + size) break;
                    } else if (start >= from) {
                        detail::append(sample, cursor.data(), static_cast<size_t>(size));
                    }
                }
                if (cursor.at_end()) break;
            }
        }
    }
    sample.bytes.resize(sample.bytes.size() + Sample::kSeparators);
    sample.left.resize(sample.bytes.size());
    return sample;
}

}  // namespace fsst
