// Which positions of a code stream may belong to an occurrence: a set of codes, tested 64 at a time.
//
// Whatever the parse, some code (or literal) covers the needle's byte j, and it fits there. So one byte of
// the needle is chosen, the one whose codes are rarest in this column, and the stream is scanned for those.
#pragma once

#include "edges.hpp"
#include "escapes.hpp"
#include "intrinsics.hpp"
#include "isa.hpp"
#include "needle.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

struct Anchor {
    size_t at = 0;                           // the byte of the needle that is looked for
    alignas(64) uint8_t member[256] = {};    // 0x80 for codes that can cover it
    alignas(32) uint8_t nibble[2][16] = {};  // the same set, in the shape that two byte shuffles look up
    uint8_t literal[2] = {};                 // the literals that are this byte (two where case is ignored)
    uint64_t expected = 0;                   // how many of the codes counted are such

    void add(size_t code) noexcept {
        member[code] = 0x80;
        nibble[code >> 7][code & 15] |= static_cast<uint8_t>(1u << (code >> 4 & 7));
    }
};

// Alignments at which a symbol of `length` bytes covers byte `at` of the needle.
FSST_ALWAYS_INLINE uint64_t covering(size_t at, uint64_t length) noexcept {
    // at - length + 1 .. at
    return Needle::low_bits(static_cast<size_t>(length)) << (kBefore + at + 1 - static_cast<size_t>(length));
}

// The anchor whose codes are rarest among the `sampled` first codes.
template <class Offset>
Anchor choose_anchor(const Needle& needle, const Rows<Offset>& rows, size_t sampled) noexcept {
    const DecodeTable& table = needle.table;
    uint32_t uses[4][256] = {};
    const uint8_t* const codes = rows.data + rows.start(0);
    size_t i = 0;
    const size_t count = rows.total() < sampled ? rows.total() : sampled;
    for (; i + 4 <= count; i += 4) {
        // SAFETY: i + 4 <= count, which is at most the column's codes. Four tables: equal codes follow each
        // other.
        for (size_t k = 0; k < 4; k++) uses[k][codes[i + k]]++;
    }
    for (; i < count; i++) uses[0][codes[i]]++;
    for (size_t code = 0; code < 256; code++) uses[0][code] += uses[1][code] + uses[2][code] + uses[3][code];

    // weight[j]: uses of the codes that can cover byte j, from the places where covering begins and ends.
    int64_t change[kMaxCore + 1] = {};
    uint64_t of_literal[256] = {};
    for (size_t code = 0; code < table.count; code++) {
        const int64_t times = uses[0][code];
        const int length = static_cast<int>(table.length[code]);
        // Codes that never occur in the sample cost nothing.
        for (uint64_t fits = times ? needle.fits[code] : 0; fits != 0; fits &= fits - 1) {
            const int begin = __builtin_ctzll(fits) - static_cast<int>(kBefore);
            const int end = begin + length;
            change[begin < 0 ? 0 : begin] += times;
            change[end > static_cast<int>(needle.core) ? static_cast<int>(needle.core) : end] -= times;
        }
    }
    for (size_t k = 0; k + 1 < count && uses[0][kEscape] > 0; k++) {
        if (codes[k] == kEscape) of_literal[table.symbol[256 + codes[k + 1]] & 0xFF]++;
    }
    Anchor anchor;
    int64_t weight = 0;
    uint64_t best = ~uint64_t{0};
    for (size_t at = 0; at < needle.core; at++) {
        weight += change[at];
        const uint64_t total = static_cast<uint64_t>(weight) + of_literal[needle.bytes[at]];
        if (total < best) {
            best = total;
            anchor.at = at;
        }
    }
    anchor.expected = best;
    for (size_t code = 0; code < table.count; code++) {
        if (needle.fits[code] & covering(anchor.at, table.length[code])) anchor.add(code);
    }
    size_t literals = 0;
    for (size_t byte = 0; byte < 256 && literals < 2; byte++) {
        if (table.symbol[256 + byte] == needle.bytes[anchor.at])
            anchor.literal[literals++] = static_cast<uint8_t>(byte);
    }
    if (literals == 1) anchor.literal[1] = anchor.literal[0];
    return anchor;
}

// Codes that are an occurrence: one that holds the whole needle, or two that follow each other.
struct Sure {
    size_t codes = 0;  // one or two; 0: too few occurrences are of one kind
    Anchor first;
    Anchor second;
};

// The kind of occurrence that is most frequent among the sampled codes, if it occurs `least` times.
template <class Offset>
Sure choose_sure(const Needle& needle, const Rows<Offset>& rows, size_t sampled, size_t least) noexcept {
    const DecodeTable& table = needle.table;
    const uint8_t* const codes = rows.data + rows.start(0);
    const size_t count = rows.total() < sampled ? rows.total() : sampled;
    // Alignments behind a code at which an occurrence began no later than in it; found: it ended there too.
    uint64_t behind[256];
    for (size_t code = 0; code < 256; code++) behind[code] = needle.step(0, code);
    for (size_t code = table.count; code < 256; code++) behind[code] = 0;
    size_t whole = 0;
    size_t split[64] = {};
    for (size_t i = 0; i < count; i++) {
        if (behind[codes[i]] & needle.found) {
            whole++;
        } else if (i + 1 < count && codes[i + 1] < table.count) {
            const uint64_t both = behind[codes[i]] & needle.fits[codes[i + 1]];
            if (both != 0 && (both << table.length[codes[i + 1]] & needle.found) != 0) {
                split[63 - __builtin_clzll(both)]++;
            }
        }
    }
    size_t best = 0;
    for (size_t at = 1; at < 64; at++) best = split[at] > split[best] ? at : best;
    Sure sure;
    if (whole >= split[best] && whole >= least) {
        sure.codes = 1;
        for (size_t code = 0; code < table.count; code++) {
            if (behind[code] & needle.found) sure.first.add(code);
        }
    } else if (split[best] > whole && split[best] >= least) {
        sure.codes = 2;
        const uint64_t bit = uint64_t{1} << best;
        for (size_t code = 0; code < table.count; code++) {
            if (behind[code] & bit) sure.first.add(code);
            if ((needle.fits[code] & bit) << table.length[code] & needle.found) sure.second.add(code);
        }
    }
    return sure;
}

// Codes that hold the whole needle. Where nearly all of the first rows begin with one, as URLs do, looking at
// rows' first codes is the quickest way.
struct Beginnings {
    bool usual = false;
    EdgeSets holds;  // in `all`
};

template <class Offset>
Beginnings choose_beginnings(const Needle& needle, const Rows<Offset>& rows, size_t sampled) noexcept {
    Beginnings beginnings;
    if (needle.size > needle.core) return beginnings;
    for (size_t code = 0; code < needle.table.count; code++) {
        if (needle.step(0, code) & needle.found) beginnings.holds.all.add(code);
    }
    const size_t count = rows.count < sampled ? rows.count : sampled;
    size_t found = 0;
    for (size_t row = 0; row < count; row++) {
        found += rows.size(row) > 0 && beginnings.holds.all.has(rows.data[rows.start(row)]);
    }
    beginnings.usual = found * 16 > count * 15;
    return beginnings;
}

namespace scan_detail {

constexpr size_t kStep = 64;

// What an exact map carries from one step to the next.
struct MapState {
    bool literal = false;  // the next code byte is a literal
    uint64_t escapes = 0;  // bytes of 0xFF seen, or-ed
};

// The loops of a scanner: the same words for each, compiled for its own instruction set, which a template
// would not be. `codes` holds `steps` times 64 codes, and a byte in front that may be read.
//   next: the first step with a candidate (or `steps`), and its candidates
//   map: a bit for each candidate
//   map_exact: a bit for each member that is no literal, and with `and_literals` for each literal that is the
//       anchor's byte
//   keep_members: clears the bits of codes that are no members
// clang-format off
#define FSST_SCAN_LOOPS                                                                      \
    size_t next(const uint8_t* codes, size_t steps, uint64_t& found) const noexcept {        \
        for (size_t step = 0; step < steps; step++) {                                        \
            found = candidates(codes + kStep * step);                                        \
            if (FSST_UNLIKELY(found != 0)) return step;                                      \
        }                                                                                    \
        return steps;                                                                        \
    }                                                                                        \
    void map(const uint8_t* codes, size_t steps, uint64_t* to) const noexcept {              \
        for (size_t step = 0; step < steps; step++) to[step] = candidates(codes + kStep * step); \
    }                                                                                        \
    void map_exact(const uint8_t* codes, size_t steps, MapState& state, bool and_literals,  \
                   uint64_t* to) const noexcept {                                            \
        for (size_t step = 0; step < steps; step++, codes += kStep) {                        \
            const uint64_t escapes = escapes_of(codes);                                      \
            uint64_t found = members(codes);                                                 \
            if (FSST_UNLIKELY(escapes != 0 || state.literal)) {                              \
                const uint64_t literals = literal_positions(escapes, state.literal);         \
                found = (found & ~literals) | (and_literals ? bytes(codes) & literals : 0);  \
                state.literal = (escapes & ~literals) >> 63 != 0;                            \
                state.escapes |= escapes;                                                    \
            }                                                                                \
            to[step] = found;                                                                \
        }                                                                                    \
    }                                                                                        \
    void keep_members(const uint8_t* codes, size_t steps, uint64_t* map) const noexcept {    \
        for (size_t step = 0; step < steps; step++) map[step] &= members(codes + kStep * step); \
    }
// clang-format on

// rows_any: which of up to 64 rows have a bit set in a map among their codes, the last `cut` of each left
// out. Nothing is said of rows that it adds to `longer`: those of more codes than 32 bits hold from any byte
// on.
constexpr int kLongestQuick = 25;

struct Baseline {
    static uint64_t rows_any(const int32_t*, size_t count, int32_t, int, const uint64_t*,
                             uint64_t& longer) noexcept {
        longer = Needle::low_bits(count);
        return 0;
    }
    explicit Baseline(const Anchor& from) noexcept : anchor(from) {}
    const Anchor& anchor;

    uint64_t members(const uint8_t* codes) const noexcept {
        uint64_t bits = 0;
        for (size_t i = 0; i < kStep; i++) bits |= static_cast<uint64_t>(anchor.member[codes[i]] >> 7) << i;
        return bits;
    }
    uint64_t bytes(const uint8_t* codes) const noexcept {
        return equal(codes, anchor.literal[0]) | equal(codes, anchor.literal[1]);
    }
    static uint64_t escapes_of(const uint8_t* codes) noexcept { return equal(codes, kEscape); }
    uint64_t candidates(const uint8_t* codes) const noexcept {
        return members(codes) | (escapes_of(codes - 1) & bytes(codes));
    }
    FSST_SCAN_LOOPS

 private:
    static uint64_t equal(const uint8_t* codes, uint8_t byte) noexcept {
        uint64_t bits = 0;
        for (size_t i = 0; i < kStep; i++) bits |= static_cast<uint64_t>(codes[i] == byte) << i;
        return bits;
    }
};

#if FSST_X86
FSST_TARGET_AVX2
namespace avx2 {

struct Avx2 {
    // SAFETY: the map has a word more than the codes have bits.
    static uint64_t rows_any(const int32_t* offsets, size_t count, int32_t start, int cut,
                             const uint64_t* map, uint64_t& longer) noexcept {
        const __m256i first = _mm256_set1_epi32(start);
        const __m256i less = _mm256_set1_epi32(cut);
        const __m256i zero = _mm256_setzero_si256();
        uint64_t found = 0;
        uint64_t too_long = 0;
        for (size_t i = 0; i < count; i += 8) {
            int32_t borders[9];
            const int32_t* from = offsets + i;
            if (count - i < 8) {
                // The last offset again and again: rows without codes.
                for (size_t k = 0; k < 9; k++) borders[k] = from[k < count - i ? k : count - i];
                from = borders;
            }
            const __m256i begin =
                _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), first);
            const __m256i end =
                _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 1)), first);
            const __m256i size = _mm256_max_epi32(_mm256_sub_epi32(_mm256_sub_epi32(end, begin), less), zero);
            const __m256i big = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(kLongestQuick));
            too_long |=
                static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(big))))
                << i;
            const __m256i words =
                _mm256_i32gather_epi32(reinterpret_cast<const int*>(map), _mm256_srli_epi32(begin, 3), 1);
            const __m256i bits = _mm256_srlv_epi32(words, _mm256_and_si256(begin, _mm256_set1_epi32(7)));
            const __m256i mask =
                _mm256_sub_epi32(_mm256_sllv_epi32(_mm256_set1_epi32(1), size), _mm256_set1_epi32(1));
            const __m256i none = _mm256_cmpeq_epi32(_mm256_and_si256(bits, mask), zero);
            const uint32_t some =
                ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(none))) & 0xFF;
            found |= static_cast<uint64_t>(some) << i;
        }
        longer = too_long;
        return found & ~too_long & Needle::low_bits(count);
    }

    __m256i low, high, literal[2];

    explicit Avx2(const Anchor& anchor) noexcept {
        low = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(anchor.nibble[0])));
        high =
            _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(anchor.nibble[1])));
        for (int i = 0; i < 2; i++) literal[i] = _mm256_set1_epi8(static_cast<char>(anchor.literal[i]));
    }

    FSST_ALWAYS_INLINE uint64_t members(const uint8_t* codes) const noexcept {
        return both(members32(load(codes)), members32(load(codes + 32)));
    }
    FSST_ALWAYS_INLINE uint64_t bytes(const uint8_t* codes) const noexcept {
        return both(bytes32(load(codes)), bytes32(load(codes + 32)));
    }
    static FSST_ALWAYS_INLINE uint64_t escapes_of(const uint8_t* codes) noexcept {
        const __m256i escape = _mm256_set1_epi8(static_cast<char>(kEscape));
        return both(_mm256_cmpeq_epi8(load(codes), escape), _mm256_cmpeq_epi8(load(codes + 32), escape));
    }
    FSST_ALWAYS_INLINE uint64_t candidates(const uint8_t* codes) const noexcept {
        return both(candidates32(codes), candidates32(codes + 32));
    }
    FSST_SCAN_LOOPS

 private:
    FSST_ALWAYS_INLINE __m256i candidates32(const uint8_t* codes) const noexcept {
        const __m256i code = load(codes);
        const __m256i escaped =
            _mm256_cmpeq_epi8(load(codes - 1), _mm256_set1_epi8(static_cast<char>(kEscape)));
        return _mm256_or_si256(members32(code), _mm256_and_si256(escaped, bytes32(code)));
    }
    static FSST_ALWAYS_INLINE __m256i load(const uint8_t* from) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    static FSST_ALWAYS_INLINE uint64_t both(__m256i first, __m256i second) noexcept {
        return static_cast<uint32_t>(_mm256_movemask_epi8(first)) |
               static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(second))) << 32;
    }
    FSST_ALWAYS_INLINE __m256i members32(__m256i code) const noexcept {
        const __m256i bit_of_high =
            _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32,
                             64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
        // A shuffle gives 0 for indexes of 0x80 or more, so the two halves of the code space need no blend.
        const __m256i flipped = _mm256_xor_si256(code, _mm256_set1_epi8(-128));
        const __m256i bit = _mm256_shuffle_epi8(
            bit_of_high, _mm256_and_si256(_mm256_srli_epi16(code, 4), _mm256_set1_epi8(15)));
        const __m256i set =
            _mm256_or_si256(_mm256_shuffle_epi8(low, code), _mm256_shuffle_epi8(high, flipped));
        return _mm256_cmpeq_epi8(_mm256_and_si256(set, bit), bit);
    }
    FSST_ALWAYS_INLINE __m256i bytes32(__m256i code) const noexcept {
        return _mm256_or_si256(_mm256_cmpeq_epi8(code, literal[0]), _mm256_cmpeq_epi8(code, literal[1]));
    }
};

}  // namespace avx2
FSST_TARGET_END

FSST_TARGET_AVX512
namespace avx512 {

struct Avx512 {
    // SAFETY: the map has a word more than the codes have bits; masked loads touch nothing they mask out.
    static uint64_t rows_any(const int32_t* offsets, size_t count, int32_t start, int cut,
                             const uint64_t* map, uint64_t& longer) noexcept {
        const __m512i first = _mm512_set1_epi32(start);
        const __m512i zero = _mm512_setzero_si512();
        uint64_t found = 0;
        uint64_t too_long = 0;
        for (size_t i = 0; i < count; i += 16) {
            const __mmask16 there =
                static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xFFFFu);
            const __m512i begin =
                _mm512_maskz_sub_epi32(there, _mm512_maskz_loadu_epi32(there, offsets + i), first);
            const __m512i end =
                _mm512_maskz_sub_epi32(there, _mm512_maskz_loadu_epi32(there, offsets + i + 1), first);
            const __m512i size = _mm512_max_epi32(
                _mm512_sub_epi32(_mm512_sub_epi32(end, begin), _mm512_set1_epi32(cut)), zero);
            too_long |= static_cast<uint64_t>(_mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(kLongestQuick)))
                        << i;
            const __m512i words =
                _mm512_mask_i32gather_epi32(zero, there, _mm512_srli_epi32(begin, 3), map, 1);
            const __m512i bits = _mm512_srlv_epi32(words, _mm512_and_si512(begin, _mm512_set1_epi32(7)));
            const __m512i mask =
                _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), size), _mm512_set1_epi32(1));
            found |= static_cast<uint64_t>(_mm512_mask_test_epi32_mask(there, bits, mask)) << i;
        }
        longer = too_long;
        return found & ~too_long;
    }

    __m512i member[4];
    __m512i literal[2];

    explicit Avx512(const Anchor& anchor) noexcept {
        for (int i = 0; i < 4; i++) member[i] = _mm512_load_si512(anchor.member + 64 * i);
        for (int i = 0; i < 2; i++) literal[i] = _mm512_set1_epi8(static_cast<char>(anchor.literal[i]));
    }

    FSST_ALWAYS_INLINE uint64_t members(const uint8_t* codes) const noexcept {
        const __m512i code = _mm512_loadu_si512(codes);
        const __m512i in_low = _mm512_permutex2var_epi8(member[0], code, member[1]);
        const __m512i in_high = _mm512_permutex2var_epi8(member[2], code, member[3]);
        return _mm512_movepi8_mask(_mm512_mask_blend_epi8(_mm512_movepi8_mask(code), in_low, in_high));
    }
    FSST_ALWAYS_INLINE uint64_t bytes(const uint8_t* codes) const noexcept {
        const __m512i code = _mm512_loadu_si512(codes);
        return _mm512_cmpeq_epi8_mask(code, literal[0]) | _mm512_cmpeq_epi8_mask(code, literal[1]);
    }
    static FSST_ALWAYS_INLINE uint64_t escapes_of(const uint8_t* codes) noexcept {
        return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes),
                                      _mm512_set1_epi8(static_cast<char>(kEscape)));
    }
    FSST_ALWAYS_INLINE uint64_t candidates(const uint8_t* codes) const noexcept {
        return members(codes) | (escapes_of(codes - 1) & bytes(codes));
    }
    FSST_SCAN_LOOPS
};

}  // namespace avx512
FSST_TARGET_END
#endif

#undef FSST_SCAN_LOOPS

}  // namespace scan_detail
}  // namespace fsst
