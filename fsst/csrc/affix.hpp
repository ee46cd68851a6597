// Rows compared with one constant: equal to it, beginning with it, ending in it.
//
// A row's last byte rules most rows out, or its first: `edges.hpp`, without a branch. Of the others four
// codes are compared with the constant, without a branch too. What is left open then is walked, code by code:
// exact for any table and any parse. A row's codes say nothing alone: the same text may have been parsed in
// another way.
#pragma once

#include "decode_table.hpp"
#include "edges.hpp"
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
    EdgeSets sets;                // at the rows' ends, or with Affix::prefix at their beginnings
    ByteSet first;                // with Affix::whole: the bytes that a row may begin with

    // At least one byte.
    Constant(const DecodeTable& decode_table, const uint8_t* bytes, size_t byte_count)
        : table(decode_table), size(byte_count), padded(byte_count + 16) {
        std::memcpy(padded.data() + 8, bytes, size);
    }

    // Codes that fit at the begin of the last `left` bytes; or with kLast at the end of the first.
    template <Affix kAffix, bool kLast, class Kernel>
    Fitting fit(size_t left) const noexcept {
        const uint64_t word = load_le<uint64_t>(kLast ? text() + left - 8 : text() + size - left);
        return Kernel::fit(kLast, table, word, left, kAffix == Affix::whole || left == 0 ? left : left - 1);
    }

    template <Affix kAffix, class Kernel>
    void prepare() noexcept {
        constexpr bool kLast = kAffix != Affix::prefix;
        const Fitting at_edge = fit<kAffix, kLast, Kernel>(size);
        sets.part = at_edge.part;
        sets.part.add(kEscape);
        if (kAffix != Affix::whole) sets.all = at_edge.all;
        // What looks like a code may be a literal.
        for (size_t byte = 0; kLast && byte < 256; byte++) {
            if (table.symbol[256 + byte] == text()[size - 1]) sets.part.add(byte);
        }
        sets.second.add(kEscape);
        for (uint32_t lengths = at_edge.lengths; lengths != 0; lengths &= lengths - 1) {
            const Fitting beside =
                fit<kAffix, kLast, Kernel>(size - static_cast<size_t>(__builtin_ctz(lengths)));
            for (size_t i = 0; i < 8; i++) {
                sets.second.bits[i] |=
                    beside.part.bits[i] | (kAffix == Affix::whole ? 0 : beside.all.bits[i]);
            }
        }
        if (kAffix == Affix::whole) {
            first = fit<kAffix, false, Kernel>(size).part;
            first.add(kEscape);
        }
    }

    const uint8_t* text() const noexcept { return padded.data() + 8; }
};

namespace affix_detail {

// The code that a walk came to last, or the literal.
struct LastCode {
    size_t passed = 0;  // bytes of codes, before it
    size_t left = 0;    // bytes of the constant, from it on
};

// Along the constant from its begin: true where the codes spell it, and with kPrefix perhaps more.
template <bool kPrefix>
bool walk_forward(const Constant& constant, const uint8_t* codes, size_t size, LastCode& last) noexcept {
    const uint8_t* const text = constant.text();
    size_t done = 0;
    for (size_t at = 0; at < size; at++) {
        if (kPrefix && done == constant.size) return true;
        size_t index = codes[at];
        last = {at, constant.size - done};
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
inline bool walk_backward(const Constant& constant, const uint8_t* codes, size_t size,
                          LastCode& last) noexcept {
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
        last = {size - at, left};
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

constexpr size_t kReach = 8;  // bytes that are loaded at a row's edge
// Code bytes of a row that are compared before it is walked: more where some are escapes.
constexpr size_t kLooked = 4;
constexpr size_t kLookedEscaped = 7;

// low_bytes, and by how much `a` passes `b`: in words of their own, as compilers make branches of them here,
// which rows would mispredict.
constexpr uint64_t kLowBytes[9] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~uint64_t{0}};
FSST_ALWAYS_INLINE size_t excess(size_t a, size_t b) noexcept {
    const int64_t more = static_cast<int64_t>(a - b);
    return static_cast<size_t>(more & ~(more >> 63));
}

struct Verdict {
    bool in;    // surely
    bool open;  // can't be told from these codes
};

// The row's first codes along the constant; `word` has 0xFF where the row has ended, and bit k of `literals`
// says that byte k is one.
template <size_t kCodes>
FSST_ALWAYS_INLINE Verdict compare_begin(const Constant& constant, uint64_t word, uint64_t literals,
                                         size_t size) noexcept {
    const DecodeTable& table = constant.table;
    const uint8_t* const text = constant.text();
    size_t done = 0;
    uint64_t differs = 0;
    for (size_t k = 0; k < kCodes; k++, word >>= 8, literals >>= 1) {
        // An escape has no length.
        const size_t index = (word & 0xFF) | (literals & 1) << 8;
        const size_t length = static_cast<size_t>(table.length[index]);
        const size_t shared = length - excess(length, constant.size - done);
        // SAFETY: done <= constant.size, and 8 bytes follow the constant.
        differs |= (load_le<uint64_t>(text + done) ^ table.symbol[index]) & kLowBytes[shared];
        done += shared;
    }
    const bool fits = differs == 0;
    const bool all = done == constant.size;
    return Verdict{fits && all, fits && !all && size > kCodes};
}

// SAFETY: 8 bytes from `codes` on are readable.
FSST_ALWAYS_INLINE Verdict begin_of(const Constant& constant, const uint8_t* codes, size_t size) noexcept {
    const size_t missing = excess(kReach, size);
    const uint64_t outside = ~kLowBytes[kReach - missing];
    const uint64_t word = load_le<uint64_t>(codes) | outside;
    if (FSST_LIKELY(!has_escape(word & ~outside & low_bytes(kLooked)))) {
        return compare_begin<kLooked>(constant, word, 0, size);
    }
    // A last escape has no literal.
    const uint64_t literals = literal_positions(escape_bits(word & ~outside), false) & 0xFFu >> missing;
    return compare_begin<kLookedEscaped>(constant, word, literals, size);
}

// The row's last codes, back along the constant: likewise, from the word's top down.
template <bool kSuffix, size_t kCodes>
FSST_ALWAYS_INLINE Verdict compare_end(const Constant& constant, uint64_t word, uint64_t literals,
                                       size_t size) noexcept {
    const DecodeTable& table = constant.table;
    const uint8_t* const text = constant.text();
    size_t left = constant.size;
    uint64_t differs = 0;
    for (size_t k = 0; k < kCodes; k++, word <<= 8, literals <<= 1) {
        const size_t index = static_cast<size_t>(word >> 56 | (literals & 0x80) << 1);
        const size_t length = static_cast<size_t>(table.length[index]);
        const size_t more = excess(length, left);
        // The bytes of the symbol that the constant has none for must not be there, or do not matter.
        const uint64_t beyond = kLowBytes[more];
        if (!kSuffix) differs |= beyond;
        // SAFETY: 8 bytes lie in front of the constant and behind it.
        differs |=
            (load_le<uint64_t>(text + left - length) ^ table.symbol[index]) & (kLowBytes[length] ^ beyond);
        left -= length - more;
    }
    const bool fits = differs == 0;
    const bool all = left == 0;
    const bool more = size > kCodes;
    return kSuffix ? Verdict{fits && all, fits && !all && more} : Verdict{fits && all && !more, fits && more};
}

// SAFETY: 8 bytes in front of `end` are readable.
template <bool kSuffix>
FSST_ALWAYS_INLINE Verdict end_of(const Constant& constant, const uint8_t* end, size_t size) noexcept {
    const uint64_t outside = kLowBytes[excess(kReach, size)];
    const uint64_t codes = load_le<uint64_t>(end - kReach) & ~outside;
    // An escape before the codes looked at makes the first of them a literal.
    if (FSST_LIKELY(!has_escape(codes >> 8 * (kReach - kLooked - 1)))) {
        return compare_end<kSuffix, kLooked>(constant, codes | outside, 0, size);
    }
    // Behind a byte that is no 0xFF, literal or not, something new begins.
    if (size >= kReach && (codes & 0xFF) == kEscape) return Verdict{false, true};
    return compare_end<kSuffix, kLookedEscaped>(constant, codes | outside,
                                                literal_positions(escape_bits(codes), false), size);
}

// The codes of a row that was found to have the constant: others that have the same ones have it, too.
// Columns repeat values, beginnings and ends.
template <Affix kAffix, class Kernel>
class Known {
 public:
    // A row that has the constant. SAFETY: as `has`.
    void learn(const Constant& constant, const uint8_t* codes, size_t size) noexcept {
        bytes_ = size;
        if (kAffix != Affix::whole) {
            LastCode last;
            if (kLast) {
                walk_backward(constant, codes, size, last);
            } else {
                walk_forward<true>(constant, codes, size, last);
            }
            bytes_ = last.passed;
            last_ = constant.fit<kAffix, kLast, Kernel>(last.left).all;
        }
        codes_ = kLast ? codes + size - bytes_ : codes;
        word_ = edge(codes, size);
        mask_ = kLast ? ~kLowBytes[excess(kReach, bytes_)] : kLowBytes[std::min(bytes_, kReach)];
        learned_ = true;
    }

    void forget() noexcept { learned_ = false; }
    bool is_learned() const noexcept { return learned_; }

    // SAFETY: 8 bytes at the row's edge are readable.
    FSST_ALWAYS_INLINE bool has(const uint8_t* codes, size_t size) const noexcept {
        const bool enough = kAffix == Affix::whole ? size == bytes_ : size > bytes_;
        if (((edge(codes, size) ^ word_) & mask_) != 0 || !enough) return false;
        const uint8_t* const from = kLast ? codes + size - bytes_ : codes;
        if (kAffix == Affix::prefix && !last_.has(from[bytes_])) return false;
        if (kAffix == Affix::suffix) {
            if (!last_.has(from[-1])) return false;
            if (size > bytes_ + 1 && from[-2] == kEscape) return false;  // perhaps a literal
        }
        return bytes_ <= kReach || std::memcmp(from, codes_, bytes_) == 0;
    }

 private:
    static constexpr bool kLast = kAffix != Affix::prefix;

    static FSST_ALWAYS_INLINE uint64_t edge(const uint8_t* codes, size_t size) noexcept {
        return load_le<uint64_t>(kLast ? codes + size - kReach : codes);
    }

    bool learned_ = false;
    const uint8_t* codes_ = nullptr;
    // All that spell the constant, but for the code in which a prefix ends or a suffix begins.
    size_t bytes_ = 0;
    uint64_t word_ = 0;  // of them, those within 8 bytes of the row's edge
    uint64_t mask_ = 0;
    ByteSet last_;  // codes that will do for the one left out
};

// 64 rows at a time; `Kernel` looks at the edges of those that lie well inside the codes.
template <Affix kAffix, class Kernel, class Offset>
void compare_rows(const Constant& constant, const Rows<Offset>& rows, uint8_t* bits) noexcept {
    using edge_detail::Baseline;
    using edge_detail::kRows;
    constexpr bool kLast = kAffix != Affix::prefix;
    const size_t total = rows.start(rows.count);
    // A code stands for 8 bytes at most.
    const size_t least = kAffix == Affix::whole ? (constant.size + 7) / 8 : 1;
    const size_t least_there = std::min<size_t>(least, INT32_MAX);
    Known<kAffix, Kernel> known;
    for (size_t first = 0; first < rows.count; first += kRows) {
        const size_t count = std::min(kRows, rows.count - first);
        const size_t start = rows.start(first);
        const size_t end = rows.start(first + count);
        Edges edges;
        // Whether all loads of 8 bytes around its rows' edges lie within the codes.
        const bool inside = kLast ? start >= kReach : end + kReach <= total;
        if (count == kRows && inside && end - start <= INT32_MAX) {
            int32_t borders[kRows + 1];
            const int32_t* from = borders;
            const uint8_t* base = rows.data;
            if constexpr (sizeof(Offset) == 4) {
                from = rows.offsets + first;
            } else {
                base += start;
                for (size_t i = 0; i <= kRows; i++)
                    borders[i] = static_cast<int32_t>(rows.start(first + i) - start);
            }
            edges = Kernel::look(kLast, base, from, least_there, constant.sets);
        } else {
            edges = Baseline::look_at(kLast, rows, first, count, least, constant.sets);
        }
        uint64_t found = edges.sure;
        uint64_t open = edges.open;
        if (inside && known.is_learned() && open != 0) {
            uint64_t has = 0;
            for (uint64_t left = open; left != 0; left &= left - 1) {
                const int i = __builtin_ctzll(left);
                const size_t row = first + static_cast<size_t>(i);
                // SAFETY: `inside`.
                has |= static_cast<uint64_t>(known.has(rows.data + rows.start(row), rows.size(row))) << i;
            }
            found |= has;
            open &= ~has;
            if (has == 0) known.forget();  // what is in now is in for other codes
        }
        const uint64_t unknown = open;
        if (inside) {
            open = 0;
            for (uint64_t left = unknown; left != 0; left &= left - 1) {
                const int i = __builtin_ctzll(left);
                const size_t row = first + static_cast<size_t>(i);
                const uint8_t* const codes = rows.data + rows.start(row);
                const size_t size = rows.size(row);
                // SAFETY: `inside`.
                Verdict verdict = kLast ? end_of<kAffix == Affix::suffix>(constant, codes + size, size)
                                        : begin_of(constant, codes, size);
                if (kAffix == Affix::whole) verdict.open = verdict.open && constant.first.has(*codes);
                found |= static_cast<uint64_t>(verdict.in) << i;
                open |= static_cast<uint64_t>(verdict.open) << i;
            }
        }
        for (; open != 0; open &= open - 1) {
            const int i = __builtin_ctzll(open);
            const size_t row = first + static_cast<size_t>(i);
            const uint8_t* const codes = rows.data + rows.start(row);
            const size_t size = rows.size(row);
            LastCode last;
            const bool in = kAffix == Affix::whole    ? walk_forward<false>(constant, codes, size, last)
                            : kAffix == Affix::suffix ? walk_backward(constant, codes, size, last)
                                                      : walk_forward<true>(constant, codes, size, last);
            found |= static_cast<uint64_t>(in) << i;
        }
        if (inside && (found & unknown) != 0 && !known.is_learned()) {
            const size_t row = first + static_cast<size_t>(__builtin_ctzll(found & unknown));
            known.learn(constant, rows.data + rows.start(row), rows.size(row));
        }
        for (size_t i = 0; i < (count + 7) / 8; i++) {
            bits[first / 8 + i] = static_cast<uint8_t>(found >> (8 * i));
        }
    }
}

// Rows of no text at all, whatever codes they may have; or any row.
template <Affix kAffix, class Offset>
void compare_with_nothing(const DecodeTable& table, const Rows<Offset>& rows, uint8_t* bits) noexcept {
    for (size_t first = 0; first < rows.count; first += 8) {
        uint32_t found = 0;
        for (size_t row = first; row < std::min(first + 8, rows.count); row++) {
            bool in = true;
            const uint8_t* const codes = rows.data + rows.start(row);
            for (size_t at = 0; kAffix == Affix::whole && in && at < rows.size(row); at++) {
                in = codes[at] == kEscape ? at + 1 == rows.size(row) : table.length[codes[at]] == 0;
            }
            found |= static_cast<uint32_t>(in) << (row - first);
        }
        bits[first / 8] = static_cast<uint8_t>(found);
    }
}

}  // namespace affix_detail

// Calls work(compare), where compare(rows, bits) sets a bit for each row whose text compares with the
// constant as `kAffix` says, and writes all of the (rows.count + 7) / 8 bytes.
template <Affix kAffix, class Offset, class Work>
bool with_comparison(Constant& constant, Isa isa, const Work& work) {
    const auto with = [&](auto kernel) {
        using Kernel = decltype(kernel);
        constant.prepare<kAffix, Kernel>();
        return work([&](const Rows<Offset>& rows, uint8_t* bits) {
            affix_detail::compare_rows<kAffix, Kernel>(constant, rows, bits);
        });
    };
#if FSST_X86
    if (isa == Isa::avx512) return with(edge_detail::avx512::Avx512{});
    if (isa == Isa::avx2) return with(edge_detail::avx2::Avx2{});
#endif
    (void)isa;
    return with(edge_detail::Baseline{});
}

}  // namespace fsst
