// The second pass: codes to text, rows lying back to back, so that row borders do not matter.
//
// A symbol is stored as a whole word, the next one over its unused end. Per code that leaves: take the
// code, load the symbol, store it, add the length. It runs at about one code a cycle, one store
// a cycle; neither two lanes nor other ways to take and add make it faster.
#pragma once

#include "decode_table.hpp"
#include "decompress_plain.hpp"
#include "escapes.hpp"
#include "intrinsics.hpp"
#include "isa.hpp"

#include <cstddef>
#include <cstdint>

#if defined(__clang__)
#define FSST_UNROLL_8 _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define FSST_UNROLL_8 _Pragma("GCC unroll 8")
#else
#define FSST_UNROLL_8
#endif

namespace fsst {

namespace decode_detail {

constexpr size_t kGroup = 32;    // codes taken together
constexpr size_t kAhead = 2048;  // bytes; how far ahead lines to be written are asked for
constexpr size_t kGroupText = kGroup * kMaxSymbolLength;  // what they may write, unused ends included

// Asks for lines that will be written soon: -8 to -15 % on 8 MB of text, which the processor's own
// prefetching does not follow over page borders; nothing lost on text that fits a cache. The address may
// lie beyond the buffer: a prefetch touches nothing.
template <size_t kLines>
FSST_ALWAYS_INLINE void prefetch_text(const uint8_t* text) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    const uintptr_t ahead = reinterpret_cast<uintptr_t>(text) + kAhead;
    for (size_t i = 0; i < kLines; i++) __builtin_prefetch(reinterpret_cast<const void*>(ahead + 64 * i), 1);
#else
    (void)text;
#endif
}

// Writes 8 bytes, advances by the length. `index` is a code, or 256 + a literal.
FSST_ALWAYS_INLINE uint8_t* put(const DecodeTable& table, size_t index, uint8_t* text) noexcept {
    store_le<uint64_t>(text, table.symbol[index]);
    return text + table.length[index];
}

// A bit for each of 32 bytes that is 0xFF.
FSST_ALWAYS_INLINE uint32_t escapes_of(const uint8_t* codes) noexcept {
#if FSST_X86
    const __m128i escape = _mm_set1_epi8(static_cast<char>(kEscape));
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(low, escape))) |
           static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(high, escape))) << 16;
#else
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kGroup; i++) bits |= static_cast<uint32_t>(codes[i] == kEscape) << i;
    return bits;
#endif
}

// put for four: their places are summed up beside the chain through `text`, which then takes one
// addition for four codes (0.36 ns a code against 0.39).
FSST_ALWAYS_INLINE uint8_t* put4(const DecodeTable& table, size_t a, size_t b, size_t c, size_t d,
                                 uint8_t* text) noexcept {
    const size_t at_b = table.length[a];
    const size_t at_c = at_b + table.length[b];
    const size_t at_d = at_c + table.length[c];
    const size_t end = at_d + table.length[d];
    store_le<uint64_t>(text, table.symbol[a]);
    store_le<uint64_t>(text + at_b, table.symbol[b]);
    store_le<uint64_t>(text + at_c, table.symbol[c]);
    store_le<uint64_t>(text + at_d, table.symbol[d]);
    return text + end;
}

// No escape among the 32 codes, and the first is no literal. Codes are shifted out of a word, which
// costs less than loading each.
FSST_ALWAYS_INLINE uint8_t* put_codes(const DecodeTable& table, const uint8_t* codes,
                                      uint8_t* text) noexcept {
    for (size_t i = 0; i < kGroup; i += 4) {
        const uint32_t word = load_le<uint32_t>(codes + i);
        text = put4(table, word & 0xFF, word >> 8 & 0xFF, word >> 16 & 0xFF, word >> 24, text);
    }
    return text;
}

// Any 32 codes, without a branch: each gets 256 added if it is a literal.
FSST_ALWAYS_INLINE uint8_t* put_with_escapes(const DecodeTable& table, const uint8_t* codes, uint32_t escapes,
                                             bool& literal, uint8_t* text) noexcept {
    uint16_t index[kGroup];
    const bool pairs = (escapes & (static_cast<uint64_t>(escapes) << 1 | literal)) != 0;
#if FSST_X86
    if (FSST_LIKELY(!pairs)) {
        const __m128i escape = _mm_set1_epi8(static_cast<char>(kEscape));
        const __m128i one = _mm_set1_epi8(1);
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16));
        const __m128i low_escape = _mm_and_si128(_mm_cmpeq_epi8(low, escape), one);
        const __m128i high_escape = _mm_and_si128(_mm_cmpeq_epi8(high, escape), one);
        const __m128i low_literal = _mm_or_si128(_mm_slli_si128(low_escape, 1), _mm_cvtsi32_si128(literal));
        const __m128i high_literal =
            _mm_or_si128(_mm_slli_si128(high_escape, 1), _mm_srli_si128(low_escape, 15));
        __m128i* out = reinterpret_cast<__m128i*>(index);
        _mm_storeu_si128(out, _mm_unpacklo_epi8(low, low_literal));
        _mm_storeu_si128(out + 1, _mm_unpackhi_epi8(low, low_literal));
        _mm_storeu_si128(out + 2, _mm_unpacklo_epi8(high, high_literal));
        _mm_storeu_si128(out + 3, _mm_unpackhi_epi8(high, high_literal));
        literal = escapes >> 31 != 0;
    } else
#endif
    {
        (void)pairs;
        for (size_t i = 0; i < kGroup; i++) {
            index[i] = static_cast<uint16_t>(codes[i] | (literal ? 256 : 0));
            literal = !literal && codes[i] == kEscape;
        }
    }
    for (size_t i = 0; i < kGroup; i += 4) {
        uint64_t word;  // four indexes, the first lowest
        std::memcpy(&word, index + i, sizeof(word));
        if (FSST_BIG_ENDIAN)
            word = word << 48 | (word << 16 & 0xFFFF00000000) | (word >> 16 & 0xFFFF0000) | word >> 48;
        text = put4(table, word & 0xFFFF, word >> 16 & 0xFFFF, word >> 32 & 0xFFFF, word >> 48, text);
    }
    return text;
}

// One code after another: what is left near either end.
inline uint8_t* put_rest(const DecodeTable& table, const uint8_t* codes, const uint8_t* codes_end,
                         bool literal, uint8_t* text, uint8_t* text_end) noexcept {
    for (; codes < codes_end; codes++) {
        const size_t index = *codes | (literal ? 256u : 0u);
        literal = index == kEscape;
        const size_t room = static_cast<size_t>(text_end - text);
        if (FSST_LIKELY(room >= 8)) {
            // SAFETY: 8 bytes of room.
            text = put(table, index, text);
            continue;
        }
        // SAFETY: never beyond `room`, whatever the codes.
        const size_t length = table.length[index] < room ? table.length[index] : room;
        for (size_t i = 0; i < length; i++) text[i] = static_cast<uint8_t>(table.symbol[index] >> (8 * i));
        text += length;
    }
    return text;
}

#if FSST_X86
FSST_TARGET_AVX512
namespace avx512 {

// 64 codes a step: 8 symbols are gathered into one register, their unused bytes squeezed out, and the
// text stored at once: 0.27 ns a code against 0.33, fewer stores. The gathers limit it: 8 codes take 7.5
// cycles, and mixing in the plain form does not help.
//
// gcc is kept from three things. It let each gather wait for the one before, as the register it replaces
// counts as an input: hence `zero` and `all`, which it can't see through. It took `index_of` and
// `used_of` apart in registers, which needs the one port that squeezes: hence through memory.
struct Gather {
    const uint64_t* symbol;
    __m512i zero;
    __mmask8 all;

    explicit Gather(const DecodeTable& table) noexcept
        : symbol(table.symbol), zero(_mm512_setzero_si512()), all(0xFF) {
        asm("" : "+v"(zero), "+k"(all));
    }

    FSST_ALWAYS_INLINE uint8_t* put8(__m512i index, uint64_t used, uint8_t* text) const noexcept {
        const __m512i symbols = _mm512_mask_i64gather_epi64(zero, all, index, symbol, 8);
        _mm512_storeu_si512(text, _mm512_maskz_compress_epi8(used, symbols));
        return text + _mm_popcnt_u64(used);
    }
};

// Moves `codes` and `text` on as far as it can, and says whether the next code is a literal.
inline bool put_codes(const DecodeTable& table, const uint8_t*& codes_at, const uint8_t* codes_end,
                      uint8_t*& text_at, const uint8_t* text_end) noexcept {
    const uint8_t* codes = codes_at;  // not through the references: stores would force reloads
    uint8_t* text = text_at;
    constexpr size_t kCodes = 64;
    const __m512i escape_code = _mm512_set1_epi8(static_cast<char>(kEscape));
    const __m512i bytes[4] = {_mm512_load_si512(table.bytes8), _mm512_load_si512(table.bytes8 + 64),
                              _mm512_load_si512(table.bytes8 + 128), _mm512_load_si512(table.bytes8 + 192)};
    const Gather gather(table);
    bool literal = false;
    // SAFETY: 64 codes are there, and room for 64 words; the last store begins at most 56 words on and
    // is 8 words long.
    while (static_cast<size_t>(codes_end - codes) >= kCodes &&
           static_cast<size_t>(text_end - text) >= kCodes * kMaxSymbolLength) {
        prefetch_text<4>(text);
        const __m512i code = _mm512_loadu_si512(codes);
        const uint64_t all_escapes = _mm512_cmpeq_epi8_mask(code, escape_code);
        __m512i used = _mm512_mask_blend_epi8(_mm512_movepi8_mask(code),
                                              _mm512_permutex2var_epi8(bytes[0], code, bytes[1]),
                                              _mm512_permutex2var_epi8(bytes[2], code, bytes[3]));
        alignas(64) uint64_t used_of[8];
        if (FSST_LIKELY(all_escapes == 0 && !literal)) {
            _mm512_store_si512(used_of, used);
            asm("" : "+m"(used_of));
            FSST_UNROLL_8
            for (size_t i = 0; i < 8; i++) {
                const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + 8 * i));
                text = gather.put8(_mm512_cvtepu8_epi64(eight), used_of[i], text);
            }
        } else {
            // Any mix of codes, escapes and literals, without a branch.
            const uint64_t literals = literal_positions(all_escapes, literal);
            literal = (all_escapes & ~literals) >> 63 != 0;
            used = _mm512_mask_mov_epi8(used, literals, _mm512_set1_epi8(1));
            _mm512_store_si512(used_of, used);
            const __m512i half = _mm512_set1_epi16(256);
            const __m512i lower = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(code));
            const __m512i upper = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(code, 1));
            const __mmask32 lower_literals = static_cast<__mmask32>(literals);
            const __mmask32 upper_literals = static_cast<__mmask32>(literals >> 32);
            alignas(64) uint16_t index_of[kCodes];
            _mm512_store_si512(index_of, _mm512_mask_add_epi16(lower, lower_literals, lower, half));
            _mm512_store_si512(index_of + 32, _mm512_mask_add_epi16(upper, upper_literals, upper, half));
            asm("" : "+m"(used_of), "+m"(index_of));
            FSST_UNROLL_8
            for (size_t i = 0; i < 8; i++) {
                const __m128i eight = _mm_load_si128(reinterpret_cast<const __m128i*>(index_of + 8 * i));
                text = gather.put8(_mm512_cvtepu16_epi64(eight), used_of[i], text);
            }
        }
        codes += kCodes;
    }
    codes_at = codes;
    text_at = text;
    return literal;
}

}  // namespace avx512
FSST_TARGET_END
#endif

}  // namespace decode_detail

// Decodes `size` code bytes that measure_rows has accepted into exactly `text_size` bytes, the sum it
// returned. Never writes outside text[0 .. text_size), whatever the codes.
inline void decode(const DecodeTable& table, const uint8_t* codes, size_t size, uint8_t* text,
                   size_t text_size, Isa isa) noexcept {
    using namespace decode_detail;
    if (isa == Isa::plain) return plain::decode(table, codes, size, text, text_size);
    const uint8_t* const codes_end = codes + size;
    uint8_t* const text_end = text + text_size;
    bool literal = false;
#if FSST_X86
    if (isa == Isa::avx512) literal = avx512::put_codes(table, codes, codes_end, text, text_end);
#endif
    (void)isa;
    // SAFETY: 32 codes are there, and room for 32 words, each beginning at most 8 bytes after the last.
    while (static_cast<size_t>(codes_end - codes) >= kGroup &&
           static_cast<size_t>(text_end - text) >= kGroupText) {
        const uint32_t escapes = escapes_of(codes);
        prefetch_text<2>(text);
        if (FSST_LIKELY((escapes | literal) == 0)) {
            text = put_codes(table, codes, text);
        } else {
            text = put_with_escapes(table, codes, escapes, literal, text);
        }
        codes += kGroup;
    }
    put_rest(table, codes, codes_end, literal, text, text_end);
}

}  // namespace fsst
