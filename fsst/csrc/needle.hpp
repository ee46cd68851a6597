// A needle, and where each code can stand in it: what searching on codes rests on.
//
// An alignment says where in the needle a code's symbol begins: 0 at its first byte, -2 two bytes before
// it. fits[code] has a bit for each alignment at which every byte that symbol and needle share is equal.
// A set of alignments is one word, and a code moves it on in three operations:
//
//     alignments = ((alignments | beginnings) & fits[code]) << length[code]
//
// A bit at the needle's end or beyond is an occurrence. That is exact for any table and any parse, since
// nothing but the text that the codes stand for comes into it. Literals are codes 256 + byte.
//
//     bit      0 .. 6      7            7 + size - 1    7 + size .. 7 + size + 7
//     begins   before it   at byte 0    at its last     past its end: found
#pragma once

#include "decode_table.hpp"
#include "interrupt.hpp"
#include "intrinsics.hpp"
#include "isa.hpp"
#include "port.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fsst {

// The most of a needle that one word holds: 7 + 49 + 8 bits. Of a longer needle this is the core.
constexpr size_t kMaxCore = 49;
constexpr size_t kBefore = kMaxSymbolLength - 1;  // alignments before the needle

namespace needle_detail {

// The bytes of the needle that a symbol of 8 bytes would meet at alignment `at`, and which of them there are.
struct Piece {
    uint64_t bytes;
    uint64_t there;
};

// `padded` is the needle between 8 zeros on either side.
FSST_ALWAYS_INLINE Piece piece_at(const uint8_t* padded, size_t core, int at) noexcept {
    // SAFETY: at >= -7 and at < core, so 8 bytes from 8 + at on lie between the zeros.
    const uint64_t bytes = load_le<uint64_t>(padded + 8 + at);
    uint64_t there = ~uint64_t{0};
    if (at < 0) there <<= 8 * -at;
    const size_t left = static_cast<size_t>(static_cast<int>(core) - at);
    return Piece{bytes, there & low_bytes(left)};
}

// The pieces at all alignments, the first at -7.
struct Pieces {
    uint64_t bytes[kBefore + kMaxCore];
    uint64_t there[kBefore + kMaxCore];
    size_t count;

    Pieces(const uint8_t* padded, size_t core) noexcept : count(kBefore + core) {
        for (size_t i = 0; i < count; i++) {
            const Piece piece = piece_at(padded, core, static_cast<int>(i) - static_cast<int>(kBefore));
            bytes[i] = piece.bytes;
            there[i] = piece.there;
        }
    }
};

// Sets bit i of fits[code] for every code of the table whose symbol fits at pieces[i]. Before the needle the
// symbol must also be long enough to reach it.
inline void fit_all(const DecodeTable& table, const Pieces& pieces, uint64_t* fits) noexcept {
    for (size_t code = 0; code < table.count; code++) {
        const uint64_t mask = low_bytes(static_cast<size_t>(table.length[code]));
        const size_t first = kBefore + 1 - static_cast<size_t>(table.length[code]);
        uint64_t found = 0;
        for (size_t i = first; i < pieces.count; i++) {
            const uint64_t differs = (table.symbol[code] ^ pieces.bytes[i]) & pieces.there[i] & mask;
            found |= static_cast<uint64_t>(differs == 0) << i;
        }
        fits[code] = found;
    }
}

#if FSST_X86
FSST_TARGET_AVX2
namespace avx2 {
inline void fit_all(const DecodeTable& table, const Pieces& pieces, uint64_t* fits) noexcept {
    const __m256i one = _mm256_set1_epi64x(1);
    for (size_t code = 0; code < table.count; code += 4) {
        // SAFETY: all tables have 256 entries and more.
        const __m256i symbol = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table.symbol + code));
        const __m256i length = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table.length + code));
        const __m256i rest = _mm256_sub_epi64(_mm256_set1_epi64x(64), _mm256_slli_epi64(length, 3));
        const __m256i mask = _mm256_srlv_epi64(_mm256_set1_epi64x(-1), rest);
        __m256i found = _mm256_setzero_si256();
        __m256i bit = one;
        for (size_t i = 0; i < pieces.count; i++) {
            const __m256i bytes = _mm256_set1_epi64x(static_cast<int64_t>(pieces.bytes[i]));
            const __m256i there = _mm256_set1_epi64x(static_cast<int64_t>(pieces.there[i]));
            const __m256i differs =
                _mm256_and_si256(_mm256_xor_si256(symbol, bytes), _mm256_and_si256(mask, there));
            const __m256i equal = _mm256_cmpeq_epi64(differs, _mm256_setzero_si256());
            found = _mm256_or_si256(found, _mm256_and_si256(equal, bit));
            bit = _mm256_slli_epi64(bit, 1);
        }
        // Those that do not reach the needle.
        const __m256i low = _mm256_sub_epi64(_mm256_set1_epi64x(kBefore + 1), length);
        found = _mm256_sllv_epi64(_mm256_srlv_epi64(found, low), low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(fits + code), found);
    }
}
}  // namespace avx2
FSST_TARGET_END

FSST_TARGET_AVX512
namespace avx512 {
inline void fit_all(const DecodeTable& table, const Pieces& pieces, uint64_t* fits) noexcept {
    for (size_t code = 0; code < table.count; code += 8) {
        // SAFETY: all tables have 256 entries and more.
        const __m512i symbol = _mm512_loadu_si512(table.symbol + code);
        const __m512i length = _mm512_loadu_si512(table.length + code);
        const __m512i rest = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_slli_epi64(length, 3));
        const __m512i mask = _mm512_srlv_epi64(_mm512_set1_epi64(-1), rest);
        __m512i found = _mm512_setzero_si512();
        __m512i bit = _mm512_set1_epi64(1);
        for (size_t i = 0; i < pieces.count; i++) {
            const __m512i differs =
                _mm512_xor_si512(symbol, _mm512_set1_epi64(static_cast<int64_t>(pieces.bytes[i])));
            const __m512i there =
                _mm512_and_si512(mask, _mm512_set1_epi64(static_cast<int64_t>(pieces.there[i])));
            found = _mm512_mask_or_epi64(found, _mm512_testn_epi64_mask(differs, there), found, bit);
            bit = _mm512_slli_epi64(bit, 1);
        }
        // Those that do not reach the needle.
        const __m512i low = _mm512_sub_epi64(_mm512_set1_epi64(kBefore + 1), length);
        found = _mm512_sllv_epi64(_mm512_srlv_epi64(found, low), low);
        _mm512_storeu_si512(fits + code, found);
    }
}
}  // namespace avx512
FSST_TARGET_END
#endif

}  // namespace needle_detail

struct Needle {
    const DecodeTable& table;
    const uint8_t* bytes;
    size_t size;
    size_t core;     // its first bytes, at most kMaxCore, which `fits` is about
    uint64_t begin;  // alignments at which an occurrence may begin: -7 to 0
    uint64_t found;  // those that say it has ended
    uint64_t fits[512];
    std::vector<uint32_t> fallback;  // for needles longer than a core: Knuth, Morris and Pratt's

    // `bytes`, at least one, must outlive the needle.
    Needle(const DecodeTable& decode_table, const uint8_t* needle, size_t needle_size, Isa isa)
        : table(decode_table),
          bytes(needle),
          size(needle_size),
          core(needle_size < kMaxCore ? needle_size : kMaxCore),
          begin(low_bits(kBefore + 1)),
          found(~low_bits(kBefore + core)),
          fits{} {
        uint8_t padded[8 + kMaxCore + 8] = {};
        std::memcpy(padded + 8, needle, core);
        const needle_detail::Pieces pieces(padded, core);
#if FSST_X86
        if (isa == Isa::avx512) {
            needle_detail::avx512::fit_all(table, pieces, fits);
        } else if (isa == Isa::avx2) {
            needle_detail::avx2::fit_all(table, pieces, fits);
        } else
#endif
        {
            (void)isa;
            needle_detail::fit_all(table, pieces, fits);
        }
        // A code without a symbol stands for nothing and changes nothing; an escape begins a literal.
        for (size_t code = table.count; code < 255; code++) fits[code] = ~found;
        fits[kEscape] = 0;
        uint64_t places[256] = {};
        for (size_t at = 0; at < core; at++) places[needle[at]] |= uint64_t{1} << (kBefore + at);
        // Literals may be folded, so that several stand for one byte.
        for (size_t byte = 0; byte < 256; byte++) fits[256 + byte] = places[table.symbol[256 + byte] & 0xFF];
    }

    // One code on; `index` is a code, or 256 + a literal.
    FSST_ALWAYS_INLINE uint64_t step(uint64_t alignments, size_t index) const noexcept {
        return ((alignments | begin) & fits[index]) << table.length[index];
    }

    static constexpr uint64_t low_bits(size_t count) noexcept {
        return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    }

    // Must have been called before a row is read by `walk_text`.
    void make_fallback() {
        fallback.assign(size + 1, 0);
        for (size_t i = 1, k = 0; i < size; i++) {
            while (k > 0 && bytes[i] != bytes[k]) k = fallback[k];
            if (bytes[i] == bytes[k]) k++;
            fallback[i + 1] = static_cast<uint32_t>(k);
        }
    }
};

// Whether a row's text contains the needle's core.
inline bool walk_codes(const Needle& needle, const uint8_t* codes, size_t size,
                       const uint8_t* readable) noexcept {
    uint64_t alignments = 0;
    uint64_t seen = 0;
    bool literal = false;
    for (size_t at = 0; at < size; at += 8) {
        const size_t count = size - at < 8 ? size - at : 8;
        // SAFETY: 8 bytes are readable, if not all of this row; load_up_to_8 reads `count` bytes only.
        uint64_t word = static_cast<size_t>(readable - codes) - at >= 8 ? load_le<uint64_t>(codes + at)
                                                                        : load_up_to_8(codes + at, count);
        // Escapes fill up what is not the row's: they fit nowhere.
        word |= ~low_bytes(count);
        if (FSST_LIKELY(!has_escape(word & low_bytes(count)) && !literal)) {
            for (size_t k = 0; k < 8; k++, word >>= 8) {
                alignments = needle.step(alignments, word & 0xFF);
                seen |= alignments;
            }
        } else {
            for (size_t k = 0; k < count; k++, word >>= 8) {
                const size_t index = (word & 0xFF) | (literal ? 256u : 0u);
                literal = index == kEscape;
                if (literal) continue;
                alignments = needle.step(alignments, index);
                seen |= alignments;
            }
        }
        if (seen & needle.found) return true;
    }
    return false;
}

// What walk_text says of a row's text: how often the needle occurs (none overlapping another), and
// where first, in bytes; -1 where it does not.
struct Occurrences {
    int64_t count = 0;
    int64_t first = -1;
};

// Byte by byte. With `only_first` it stops at the first occurrence, and in any case where it is interrupted.
inline Occurrences walk_text(const Needle& needle, const uint8_t* codes, size_t size, bool only_first,
                             Interrupt& interrupt) noexcept {
    Occurrences seen;
    size_t matched = 0;
    int64_t text = 0;
    size_t asked = 0;
    for (size_t at = 0; at < size; at++) {
        if (FSST_UNLIKELY(at - asked > kAskEvery)) {
            asked = at;
            if (interrupt.ask()) break;
        }
        size_t index = codes[at];
        if (index == kEscape) {
            if (++at == size) break;
            index = 256u + codes[at];
        }
        uint64_t symbol = needle.table.symbol[index];
        for (uint64_t left = needle.table.length[index]; left > 0; left--, symbol >>= 8) {
            const uint8_t byte = static_cast<uint8_t>(symbol);
            text++;
            // SAFETY: matched < needle.size, and fallback has an entry for each length.
            while (matched > 0 && needle.bytes[matched] != byte) matched = needle.fallback[matched];
            if (needle.bytes[matched] == byte) matched++;
            if (matched == needle.size) {
                if (seen.count++ == 0) seen.first = text - static_cast<int64_t>(needle.size);
                if (only_first) return seen;
                matched = 0;
            }
        }
    }
    return seen;
}

// Whether a row's text contains the needle.
inline bool contains(const Needle& needle, const uint8_t* codes, size_t size, const uint8_t* readable,
                     Interrupt& interrupt) noexcept {
    if (!walk_codes(needle, codes, size, readable)) return false;
    return needle.size == needle.core || walk_text(needle, codes, size, true, interrupt).count > 0;
}

}  // namespace fsst
