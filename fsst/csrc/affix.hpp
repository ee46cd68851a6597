// Rows compared with one constant: equal to it, beginning with it, ending in it.
//
// A row's first code rules most rows out, and its last; that takes no branch. What is left is walked,
// code by code, along the constant: exact for any table and any parse. A row's codes say nothing alone: the
// same text may have been parsed in another way.
#pragma once

#include "decode_table.hpp"
#include "escapes.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fsst {

enum class Affix : int { whole, prefix, suffix };

struct Constant {
    const DecodeTable& table;
    size_t size;
    std::vector<uint8_t> padded;  // the constant between 8 zeros on either side
    // What a row's first byte, and its last, make of it. 1: it must be walked; 2: it is surely in; 4 (with
    // 1): it is in unless that byte is a literal.
    uint8_t first[256];
    uint8_t last[256];

    Constant(const DecodeTable& decode_table, const uint8_t* bytes, size_t byte_count, Affix affix)
        : table(decode_table), size(byte_count), padded(byte_count + 16), first{}, last{} {
        if (size > 0) std::memcpy(padded.data() + 8, bytes, size);
        const uint64_t head = load_le<uint64_t>(text());
        const uint64_t tail = load_le<uint64_t>(text() + size - 8);
        for (size_t code = 0; code < 255; code++) {
            const size_t length = static_cast<size_t>(table.length[code]);
            const size_t shared = std::min(length, size);
            const bool begins = ((table.symbol[code] ^ head) & low_bytes(shared)) == 0;
            // The symbol's last `shared` bytes against the constant's.
            const uint64_t symbol_end = table.symbol[code] << (8 * (8 - length) & 63);
            const bool ends = shared == 0 || (symbol_end ^ tail) >> (8 * (8 - shared)) == 0;
            const bool fits = length <= size;
            first[code] = begins && (fits || affix == Affix::prefix);
            last[code] = ends && (fits || affix == Affix::suffix);
            if (affix == Affix::suffix && ends && length > 0 && length >= size) last[code] = 5;
            // A code without a symbol stands for nothing: what follows decides.
            if (affix == Affix::prefix && first[code] && length > 0 && length >= size) first[code] = 2;
        }
        first[kEscape] = 1;
        // What looks like a code may be a literal.
        for (size_t byte = 0; byte < 256; byte++) {
            if (size == 0 || table.symbol[256 + byte] == text()[size - 1]) last[byte] |= 1;
        }
        last[kEscape] |= 1;
    }

    const uint8_t* text() const noexcept { return padded.data() + 8; }
};

namespace affix_detail {

// Along the constant from its begin: true where the codes spell it, and with kPrefix perhaps more.
template <bool kPrefix>
bool walk_forward(const Constant& constant, const uint8_t* codes, size_t size) noexcept {
    const uint8_t* const text = constant.text();
    size_t done = 0;
    for (size_t at = 0; at < size; at++) {
        if (kPrefix && done == constant.size) return true;
        size_t index = codes[at];
        if (index == kEscape) {
            if (++at == size) break;
            index = 256u + codes[at];
        }
        size_t length = static_cast<size_t>(constant.table.length[index]);
        const size_t left = constant.size - done;
        if (length > left) {
            if (!kPrefix) return false;
            length = left;
        }
        // SAFETY: done <= constant.size, and 8 bytes follow the constant.
        if (((load_le<uint64_t>(text + done) ^ constant.table.symbol[index]) & low_bytes(length)) != 0)
            return false;
        done += length;
    }
    return done == constant.size;
}

// Back from the constant's end. A byte is a literal if an odd number of escapes stands before it.
inline bool walk_backward(const Constant& constant, const uint8_t* codes, size_t size) noexcept {
    const uint8_t* const text = constant.text();
    size_t left = constant.size;
    size_t at = size;
    // The bytes of 0xFF in front of codes[at - 1]; a run of them is counted once, or hostile rows would take
    // long.
    size_t escapes = 0;
    const auto count_escapes = [&] {
        for (escapes = 0; escapes + 1 < at && codes[at - 2 - escapes] == kEscape;) escapes++;
    };
    const auto back_by = [&](size_t bytes) {
        at -= bytes;
        if (escapes > bytes) {
            escapes -= bytes;
        } else {
            count_escapes();
        }
    };
    count_escapes();
    // An escape at the row's end stands for nothing.
    if (at > 0 && codes[at - 1] == kEscape && escapes % 2 == 0) back_by(1);
    while (left > 0 && at > 0) {
        const bool literal = escapes % 2 == 1;
        const size_t index = codes[at - 1] | (literal ? 256u : 0u);
        back_by(literal ? 2 : 1);
        uint64_t symbol = constant.table.symbol[index];
        size_t length = static_cast<size_t>(constant.table.length[index]);
        if (length > left) {
            symbol >>= 8 * (length - left);
            length = left;
        }
        left -= length;
        // SAFETY: left <= constant.size, and 8 bytes follow the constant.
        if (((load_le<uint64_t>(text + left) ^ symbol) & low_bytes(length)) != 0) return false;
    }
    return left == 0;
}

inline bool many(uint64_t rows) noexcept {
    // More than 24 of 64.
    for (int i = 0; i < 24; i++) rows &= rows - 1;
    return rows != 0;
}

}  // namespace affix_detail

// Sets a bit of `bits` for each row whose text compares with the constant as `kAffix` says; writes all of
// the (rows.count + 7) / 8 bytes.
template <Affix kAffix, class Offset>
void compare_rows(const Constant& constant, const Rows<Offset>& rows, uint8_t* bits) noexcept {
    using namespace affix_detail;
    const uint8_t* const data = rows.data;
    const size_t total = rows.start(rows.count);
    const uint64_t of_empty = constant.size == 0 ? 2 : 0;
    static const uint8_t nothing[1] = {0};
    // Rows without codes look at some byte or other, but one that is there.
    const uint8_t* const base = total > 0 ? data : nothing;
    const size_t final = total > 0 ? total - 1 : 0;
    for (size_t first = 0; first < rows.count; first += 64) {
        const size_t count = std::min<size_t>(64, rows.count - first);
        uint64_t found = 0;
        // No branch: rows without codes come in any order.
        const auto unless_empty = [&](uint64_t is, bool empty) {
            const uint64_t mask = ~uint64_t{0} + static_cast<uint64_t>(!empty);
            return (is & ~mask) | (of_empty & mask);
        };
        // SAFETY of both: offsets ascend up to `total`, and `base` has a byte there is.
        const auto begin_well = [&] {
            uint64_t walked = 0;
            size_t begin = rows.start(first);
            for (size_t i = 0; i < count; i++) {
                const size_t end = rows.start(first + i + 1);
                const uint64_t is = unless_empty(constant.first[base[begin - (begin > final)]], begin == end);
                walked |= (is & 1) << i;
                found |= (is >> 1) << i;
                begin = end;
            }
            return walked;
        };
        const auto end_well = [&] {
            uint64_t walked = 0;
            size_t begin = rows.start(first);
            for (size_t i = 0; i < count; i++) {
                const size_t end = rows.start(first + i + 1);
                const uint64_t is = unless_empty(constant.last[base[end - (end > 0)]], begin == end);
                walked |= (is & 1) << i;
                found |= (is >> 1 & 1) << i;
                begin = end;
            }
            return walked;
        };
        // Ends tell more than beginnings, which many rows have in common.
        uint64_t walked = kAffix == Affix::prefix ? begin_well() : end_well();
        if (kAffix == Affix::whole && many(walked)) walked &= begin_well();
        for (; walked != 0; walked &= walked - 1) {
            const size_t i = static_cast<size_t>(__builtin_ctzll(walked));
            const uint8_t* const codes = data + rows.start(first + i);
            if (kAffix == Affix::whole && constant.first[*codes] == 0) continue;
            const size_t size = rows.size(first + i);
            if (kAffix == Affix::suffix && (constant.last[codes[size - 1]] & 4) != 0 &&
                (size == 1 || codes[size - 2] != kEscape)) {
                found |= uint64_t{1} << i;
                continue;
            }
            const bool in = kAffix == Affix::suffix   ? walk_backward(constant, codes, size)
                            : kAffix == Affix::prefix ? walk_forward<true>(constant, codes, size)
                                                      : walk_forward<false>(constant, codes, size);
            found |= static_cast<uint64_t>(in) << i;
        }
        for (size_t i = 0; i < (count + 7) / 8; i++) {
            bits[first / 8 + i] = static_cast<uint8_t>(found >> (8 * i));
        }
    }
}

}  // namespace fsst
