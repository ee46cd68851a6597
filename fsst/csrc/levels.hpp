// Parquet's definition and repetition levels: runs of equal values, and values packed into a few bits
// (the "RLE/bit-packing hybrid" of Parquet's Encodings.md, without a length in front). A level takes a byte
// here.
#pragma once

#include "port.hpp"
#include "status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fsst {

namespace levels_detail {

// One run: a header varint whose lowest bit tells packed groups of eight from a repeated value.
struct Run {
    bool packed;
    uint64_t count;     // levels
    const uint8_t* at;  // the packed bits, or the byte that repeats
};

// Reads the run at `position` and moves on. False: the bytes end, or the header is no 32-bit number.
inline bool next_run(const uint8_t* data, size_t size, unsigned width, size_t& position, Run& run) noexcept {
    uint64_t header = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (position == size || shift > 28) return false;
        const uint8_t byte = data[position++];
        header |= uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) break;
    }
    run.packed = (header & 1) != 0;
    run.count = run.packed ? (header >> 1) * 8 : header >> 1;
    const uint64_t bytes = run.packed ? (header >> 1) * width : 1;
    if (bytes > size - position) return false;
    run.at = data + position;
    position += static_cast<size_t>(bytes);
    return true;
}

}  // namespace levels_detail

// Whether the bytes hold `count` levels of `width` bits (1..8). Makes room for nothing, so a page
// cannot ask for memory that its bytes do not pay for.
inline Outcome check_levels(const uint8_t* data, size_t size, unsigned width, uint64_t count) noexcept {
    size_t position = 0;
    uint64_t found = 0;
    levels_detail::Run run;
    while (found < count) {
        if (!levels_detail::next_run(data, size, width, position, run)) {
            Outcome cut;
            cut.status = Status::levels_cut;
            cut.position = static_cast<int64_t>(size);
            cut.size = static_cast<int64_t>(found);
            cut.limit = static_cast<int64_t>(count);
            return cut;
        }
        found += run.count;
    }
    return Outcome{};
}

// `count` levels, which check_levels has found there to be. None may pass `most`.
inline Outcome decode_levels(const uint8_t* data, size_t size, unsigned width, uint8_t most, uint8_t* levels,
                             size_t count) noexcept {
    size_t position = 0;
    size_t done = 0;
    uint8_t highest = 0;
    levels_detail::Run run;
    const uint64_t mask = (uint64_t{1} << width) - 1;
    while (done < count && levels_detail::next_run(data, size, width, position, run)) {
        const uint64_t left = count - done;
        const size_t take = static_cast<size_t>(run.count < left ? run.count : left);
        if (!run.packed) {
            const uint8_t level = *run.at;
            if (take > 0 && level > highest) highest = level;
            std::memset(levels + done, level, take);
        } else {
            for (size_t i = 0; i < take; i += 8) {
                // A group of eight levels is `width` bytes, eight at most.
                // SAFETY: next_run has seen that the bytes of all groups are there; levels has room for
                // count.
                uint64_t word = load_up_to_8(run.at + i / 8 * width, width);
                const size_t end = take - i < 8 ? take - i : 8;
                for (size_t j = 0; j < end; j++, word >>= width) {
                    const uint8_t level = static_cast<uint8_t>(word & mask);
                    levels[done + i + j] = level;
                    if (level > highest) highest = level;
                }
            }
        }
        done += take;
    }
    Outcome outcome;
    if (highest > most) {
        outcome.status = Status::level_too_high;
        outcome.size = highest;
        outcome.limit = most;
    }
    return outcome;
}

// What encode_levels may write at most.
inline size_t levels_bound(size_t count, unsigned width) noexcept {
    return (count / 8 + 1) * (size_t{width} + 12);
}

// Writes `count` levels; the bytes written. Runs of eight and more become runs, the rest is packed.
inline size_t encode_levels(const uint8_t* levels, size_t count, unsigned width, uint8_t* out) noexcept {
    uint8_t* to = out;
    const auto put_varint = [&to](uint64_t value) {
        for (; value > 0x7F; value >>= 7) *to++ = static_cast<uint8_t>(value | 0x80);
        *to++ = static_cast<uint8_t>(value);
    };
    const auto put_packed = [&](size_t start, size_t end) {
        if (start == end) return;
        put_varint((end - start + 7) / 8 << 1 | 1);
        for (size_t i = start; i < end; i += 8) {
            uint64_t word = 0;
            for (size_t j = 0; j < 8 && i + j < end; j++) word |= uint64_t{levels[i + j]} << (j * width);
            for (unsigned byte = 0; byte < width; byte++) *to++ = static_cast<uint8_t>(word >> (8 * byte));
        }
    };
    size_t packed_from = 0;
    size_t i = 0;
    while (i < count) {
        size_t end = i + 1;
        while (end < count && levels[end] == levels[i]) end++;
        // Packed levels come in eights, so they borrow the beginning of the run that follows.
        const size_t borrowed = (8 - (i - packed_from) % 8) % 8;
        if (end - i >= borrowed + 8) {
            put_packed(packed_from, i + borrowed);
            put_varint((end - i - borrowed) << 1);
            *to++ = levels[i];
            packed_from = end;
        }
        i = end;
    }
    put_packed(packed_from, count);
    return static_cast<size_t>(to - out);
}

}  // namespace fsst
