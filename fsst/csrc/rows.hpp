// Rows as Arrow lays them out: one data buffer and count + 1 offsets into it.
#pragma once

#include "port.hpp"
#include "status.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

// Offset is int32_t or int64_t. Row i is data[offsets[i] .. offsets[i + 1]). All of data[0 .. offsets[count])
// may be read, the bytes in front of the first row too.
template <class Offset>
struct Rows {
    const uint8_t* data;
    const Offset* offsets;
    size_t count;

    size_t start(size_t row) const noexcept { return static_cast<size_t>(offsets[row]); }
    size_t size(size_t row) const noexcept { return static_cast<size_t>(offsets[row + 1] - offsets[row]); }
    // Bytes of all rows together.
    size_t total() const noexcept { return start(count) - start(0); }
};

// Kernels trust their rows, so offsets from outside pass here first: none negative, none
// decreasing, none beyond `data_size`.
template <class Offset>
Outcome check_offsets(const Offset* offsets, size_t count, size_t data_size) noexcept {
    // One branch-free pass decides (it vectorises); only a bad column is walked again for its place.
    Offset bad = static_cast<Offset>(offsets[0] < 0);
    for (size_t i = 0; i < count; i++) bad |= static_cast<Offset>(offsets[i + 1] < offsets[i]);
    if (!bad && static_cast<uint64_t>(offsets[count]) <= data_size) return Outcome{};

    Outcome found;
    found.size = static_cast<int64_t>(offsets[0]);
    found.row = 0;
    if (offsets[0] < 0) {
        found.status = Status::offset_negative;
        return found;
    }
    for (size_t i = 0; i <= count; i++) {
        found.row = static_cast<int64_t>(i == 0 ? 0 : i - 1);
        found.size = static_cast<int64_t>(offsets[i]);
        if (i > 0 && offsets[i] < offsets[i - 1]) {
            found.status = Status::offset_decreasing;
            found.limit = static_cast<int64_t>(offsets[i - 1]);
            return found;
        }
        if (static_cast<uint64_t>(offsets[i]) > data_size) {
            found.status = Status::offset_past_end;
            found.limit = static_cast<int64_t>(data_size);
            return found;
        }
    }
    return Outcome{};
}

// How many of `count` bits from bit `first` on are not set.
inline size_t count_unset(const uint8_t* bits, size_t first, size_t count) noexcept {
    const size_t end = first + count;
    size_t set = 0;
    size_t at = first;
    const auto one = [&] { set += bits[at / 8] >> at % 8 & 1; };
    for (; at < end && at % 8 != 0; at++) one();
    for (; end - at >= 64; at += 64) {
        // SAFETY: 64 bits from a byte's first on are there. Pairs, fours and eights of bits are summed up
        // within the word, then the bytes by a multiplication.
        uint64_t word = load_le<uint64_t>(bits + at / 8);
        word -= word >> 1 & 0x5555555555555555u;
        word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
        set += ((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56;
    }
    for (; at < end; at++) one();
    return count - set;
}

// Whether a row that `validity` (a bitmap whose bit first_bit is row 0) marks as null has bytes all the
// same. Arrow allows that; such bytes must neither be trained on nor stored.
template <class Offset>
bool nulls_hide_bytes(const Offset* offsets, size_t count, const uint8_t* validity,
                      size_t first_bit) noexcept {
    bool hidden = false;
    for (size_t row = 0; row < count; row++) {
        const size_t bit = first_bit + row;
        const bool null = (validity[bit / 8] >> (bit % 8) & 1) == 0;
        hidden |= null && offsets[row] != offsets[row + 1];
    }
    return hidden;
}

}  // namespace fsst
