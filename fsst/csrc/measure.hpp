// The first pass over codes: exact size, where each row's text ends, and validation, in one go.
//
// Codes are taken in runs, whatever the rows: short rows would cost a mispredicted branch each. A run
// first gets the text size up to every position (16 bits each, 4 KB, stays in L1); then each row that
// ends in the run looks its end up. A run's sums never meet kUnfinished, which marks the positions
// that follow an escape without its literal: a row that ends there is at fault.
// Faults are only detected here; the slow twin then finds the first one.
#pragma once

#include "decode_table.hpp"
#include "decompress_plain.hpp"
#include "escapes.hpp"
#include "intrinsics.hpp"
#include "isa.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fsst {

// What the first pass learned besides sizes.
struct Learned {
    bool ascii = false;  // surely no byte of the text is 0x80 or more; false: not known
};

namespace measure_detail {

constexpr size_t kRun = 2048;  // codes; 512 is 5 to 10 % slower on long rows, 1024 to 3968 are alike
constexpr uint16_t kUnfinished = 0x8000;
static_assert(kRun * kMaxSymbolLength < kUnfinished, "a run's sizes must fit below the mark");

struct RunState {
    bool literal = false;  // the next code byte is a literal
    uint32_t size = 0;     // text of the run so far
    uint64_t unknown = 0;  // not zero: there was a code without symbol
    uint8_t high = 0;      // literals seen, or-ed
};

// The first `count` of 8 codes in a word, escapes or not: no branch, and no chain from one to the next
// but the sum.
FSST_ALWAYS_INLINE void add_up_to_8(const DecodeTable& table, uint64_t word, size_t count, uint16_t* upto,
                                    RunState& state) noexcept {
    word &= low_bytes(count);
    const uint64_t all_escapes = escape_bits(word);
    const uint64_t literals = literal_positions(all_escapes, state.literal);
    const uint64_t escapes = all_escapes & ~literals;
    state.high |= (top_bits(word) & literals) != 0 ? 0x80 : 0;
    uint32_t size = state.size;
    for (size_t i = 0; i < count; i++) {
        size += table.step[(word >> (8 * i) & 0xFF) | (literals >> i & 1) << 8];
        upto[i] = static_cast<uint16_t>(size | (escapes >> i & 1) << 15);
    }
    // Unknown codes have gathered above bit 16.
    state.unknown |= size & ~(DecodeTable::kUnknown - 1);
    state.size = size & (DecodeTable::kUnknown - 1);
    if (count > 0) state.literal = (escapes >> (count - 1) & 1) != 0;
}

FSST_ALWAYS_INLINE void add_codes(const DecodeTable& table, const uint8_t* codes, size_t count,
                                  uint16_t* upto, RunState& state) noexcept {
    for (size_t i = 0; i < count; i += 8) {
        const size_t some = count - i < 8 ? count - i : 8;
        // SAFETY: load_up_to_8 reads `some` bytes only.
        add_up_to_8(table, load_up_to_8(codes + i, some), some, upto + i, state);
    }
}

// Looks up the ends of the rows that end in this run: at codes begin + 0..count. `upto` counts from the
// run's first code. Returns the bits of all looked-up sizes, or-ed.
template <bool kWrite, class Offset, class TextOffset>
FSST_ALWAYS_INLINE uint32_t end_rows(const Rows<Offset>& rows, size_t& row, size_t begin, size_t count,
                                     const uint16_t* upto, uint64_t base, TextOffset* ends) noexcept {
    const Offset* const row_ends = rows.offsets + 1;
    const Offset last = static_cast<Offset>(begin + count);
    uint32_t seen = 0;
    const auto end_row = [&](size_t at) {
        // SAFETY: begin <= row end <= begin + count, as offsets do not decrease.
        const uint32_t size = upto[static_cast<size_t>(row_ends[at]) - begin];
        seen |= size;
        if (kWrite) ends[at] = static_cast<TextOffset>(base + size);
    };
    // SAFETY: offsets do not decrease, so the fourth row's end bounds the three before it.
    for (; row + 4 <= rows.count && row_ends[row + 3] <= last; row += 4) {
        end_row(row);
        end_row(row + 1);
        end_row(row + 2);
        end_row(row + 3);
    }
    for (; row < rows.count && row_ends[row] <= last; row++) end_row(row);
    return seen;
}

struct Baseline {
    explicit Baseline(const DecodeTable&) noexcept {}

    void run(const DecodeTable& table, const uint8_t* codes, size_t count, uint16_t* upto, RunState& state,
             bool) const noexcept {
        size_t i = 0;
        for (; i + 8 <= count; i += 8) {
            // SAFETY: i + 8 <= count.
            uint64_t word = load_le<uint64_t>(codes + i);
            if (FSST_UNLIKELY(has_escape(word) || state.literal)) {
                add_up_to_8(table, word, 8, upto + i, state);
                continue;
            }
            uint32_t size = state.size;
            for (size_t k = 0; k < 8; k++, word >>= 8) {
                size += table.step[word & 0xFF];
                upto[i + k] = static_cast<uint16_t>(size);
            }
            state.unknown |= size & ~(DecodeTable::kUnknown - 1);
            state.size = size & (DecodeTable::kUnknown - 1);
        }
        add_codes(table, codes + i, count - i, upto + i, state);
    }

    template <bool kWrite, class Offset, class TextOffset>
    uint32_t end_rows(const Rows<Offset>& rows, size_t& row, size_t begin, size_t count, const uint16_t* upto,
                      uint64_t base, TextOffset* ends) const noexcept {
        return measure_detail::end_rows<kWrite>(rows, row, begin, count, upto, base, ends);
    }
};

#if FSST_X86
FSST_TARGET_AVX2
namespace avx2 {

// Bit i of `bits` to byte i, 0xFF where set.
FSST_ALWAYS_INLINE __m256i spread_bits(uint32_t bits) noexcept {
    const __m256i byte_of = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                             2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte_of);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
}

FSST_ALWAYS_INLINE __m256i load32(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

struct Avx2 {
    __m256i plane[3][2];
    __m256i last_code;
    __m256i no_symbols;

    explicit Avx2(const DecodeTable& table) noexcept {
        for (int p = 0; p < 3; p++) {
            for (int half = 0; half < 2; half++) {
                plane[p][half] = _mm256_broadcastsi128_si256(
                    _mm_load_si128(reinterpret_cast<const __m128i*>(table.plane[p][half])));
            }
        }
        last_code = _mm256_set1_epi8(static_cast<char>(table.count == 0 ? 0 : table.count - 1));
        no_symbols = _mm256_set1_epi8(static_cast<char>(table.count == 0));
    }

    // 0xFF where the code's symbol has bit P of its length - 1 set. A shuffle gives 0 for indexes of
    // 0x80 or more, so the two halves of the code space need no blend.
    template <int P>
    FSST_ALWAYS_INLINE __m256i has_bit(__m256i codes, __m256i flipped, __m256i bit) const noexcept {
        const __m256i set = _mm256_or_si256(_mm256_shuffle_epi8(plane[P][0], codes),
                                            _mm256_shuffle_epi8(plane[P][1], flipped));
        return _mm256_cmpeq_epi8(_mm256_and_si256(set, bit), bit);
    }

    // The caller has seen to it that codes[-1] may be read.
    FSST_ALWAYS_INLINE void groups(const uint8_t* codes, size_t count, uint16_t* upto,
                                   RunState& state) const noexcept {
        const __m256i ones = _mm256_set1_epi8(1);
        const __m256i escape_code = _mm256_set1_epi8(static_cast<char>(kEscape));
        const __m256i bit_of_high =
            _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32,
                             64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
        const __m256i last_of_first_8 =
            _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7, -1, -1, -1, -1, -1, -1,
                             -1, -1, 7, 7, 7, 7, 7, 7, 7, 7);
        const __m256i last_of_16 =
            _mm256_setr_epi8(15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1,
                             15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1);
        __m256i base = _mm256_set1_epi16(static_cast<int16_t>(state.size));
        __m256i largest = _mm256_setzero_si256();
        __m256i high = _mm256_setzero_si256();
        // Whether the byte before is 0xFF but a literal, so that looking back at it would mislead.
        bool misleading = codes[-1] == kEscape && !state.literal;
        for (size_t i = 0; i < count; i += 32) {
            // SAFETY: count is a multiple of 32, and codes[-1] may be read.
            const __m256i code = load32(codes + i);
            __m256i escape = _mm256_cmpeq_epi8(code, escape_code);
            __m256i literal = _mm256_cmpeq_epi8(load32(codes + i - 1), escape_code);
            if (FSST_UNLIKELY(!_mm256_testz_si256(escape, literal) || misleading)) {
                const uint32_t bits = static_cast<uint32_t>(_mm256_movemask_epi8(escape));
                const bool first = *(codes + i - 1) == kEscape && !misleading;
                const uint64_t literals = literal_positions(bits, first);
                literal = spread_bits(static_cast<uint32_t>(literals));
                escape = _mm256_andnot_si256(literal, escape);
                misleading = codes[i + 31] == kEscape && !(literals >> 32 & 1);
            }
            high = _mm256_or_si256(high, _mm256_and_si256(literal, code));
            const __m256i plain_code =
                _mm256_andnot_si256(_mm256_or_si256(literal, escape), _mm256_or_si256(code, no_symbols));
            largest = _mm256_max_epu8(largest, plain_code);

            const __m256i flipped = _mm256_xor_si256(code, _mm256_set1_epi8(-128));
            const __m256i bit = _mm256_shuffle_epi8(
                bit_of_high, _mm256_and_si256(_mm256_srli_epi16(code, 4), _mm256_set1_epi8(15)));
            __m256i length = _mm256_sub_epi8(ones, has_bit<0>(code, flipped, bit));
            length = _mm256_add_epi8(length,
                                     _mm256_and_si256(has_bit<1>(code, flipped, bit), _mm256_set1_epi8(2)));
            length = _mm256_add_epi8(length,
                                     _mm256_and_si256(has_bit<2>(code, flipped, bit), _mm256_set1_epi8(4)));
            // An escape has no bit set, so it counts 1, for its literal.
            length = _mm256_andnot_si256(literal, length);

            // Sums within 16 codes, at most 128; the last is each half's total.
            length = _mm256_add_epi8(length, _mm256_slli_epi64(length, 8));
            length = _mm256_add_epi8(length, _mm256_slli_epi64(length, 16));
            length = _mm256_add_epi8(length, _mm256_slli_epi64(length, 32));
            length = _mm256_add_epi8(length, _mm256_shuffle_epi8(length, last_of_first_8));
            const __m256i total = _mm256_shuffle_epi8(length, last_of_16);
            const __m256i lower_total = _mm256_permute2x128_si256(total, total, 0x08);  // to the upper half
            const __m256i swapped = _mm256_permute2x128_si256(total, total, 0x01);
            const __m256i start = _mm256_add_epi16(base, lower_total);
            base = _mm256_add_epi16(base, _mm256_add_epi16(total, swapped));

            // Widening puts the escape's top bit where kUnfinished is.
            const __m256i mark = _mm256_and_si256(escape, _mm256_set1_epi8(-128));
            const __m256i even = _mm256_add_epi16(start, _mm256_unpacklo_epi8(length, mark));
            const __m256i odd = _mm256_add_epi16(start, _mm256_unpackhi_epi8(length, mark));
            __m128i* out = reinterpret_cast<__m128i*>(upto + i);
            _mm_storeu_si128(out, _mm256_castsi256_si128(even));
            _mm_storeu_si128(out + 1, _mm256_castsi256_si128(odd));
            _mm_storeu_si128(out + 2, _mm256_extracti128_si256(even, 1));
            _mm_storeu_si128(out + 3, _mm256_extracti128_si256(odd, 1));
        }
        const __m256i above = _mm256_subs_epu8(largest, last_code);
        state.unknown |= !_mm256_testz_si256(above, above);
        state.high |= _mm256_movemask_epi8(high) != 0 ? 0x80 : 0;
        state.size = static_cast<uint16_t>(_mm256_extract_epi16(base, 0));
        state.literal = codes[count - 1] == kEscape && !misleading;
    }

    void run(const DecodeTable& table, const uint8_t* codes, size_t count, uint16_t* upto, RunState& state,
             bool first_run) const noexcept {
        size_t at = 0;
        if (first_run) {
            at = count < 32 ? count : 32;
            add_codes(table, codes, at, upto, state);
        }
        // SAFETY: the groups are the whole 32s of what is left, and a code lies before them.
        const size_t grouped = (count - at) / 32 * 32;
        if (grouped > 0) groups(codes + at, grouped, upto + at, state);
        at += grouped;
        add_codes(table, codes + at, count - at, upto + at, state);
    }

    template <bool kWrite, class Offset, class TextOffset>
    uint32_t end_rows(const Rows<Offset>& rows, size_t& row, size_t begin, size_t count, const uint16_t* upto,
                      uint64_t base, TextOffset* ends) const noexcept {
        return measure_detail::end_rows<kWrite>(rows, row, begin, count, upto, base, ends);
    }
};

}  // namespace avx2
FSST_TARGET_END

FSST_TARGET_AVX512
namespace avx512 {

FSST_ALWAYS_INLINE __m512i load64(const void* from) noexcept {
    return _mm512_loadu_si512(from);
}

struct Avx512 {
    __m512i step[4];  // what each code adds, 0 if unknown

    explicit Avx512(const DecodeTable& table) noexcept {
        for (int i = 0; i < 4; i++) step[i] = load64(table.step8 + 64 * i);
    }

    void run(const DecodeTable& table, const uint8_t* codes, size_t count, uint16_t* upto, RunState& state,
             bool) const noexcept {
        const __m512i last_of_first_8 =
            _mm512_broadcast_i32x4(_mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7));
        const __m512i escape_code = _mm512_set1_epi8(static_cast<char>(kEscape));
        const __m512i mark = _mm512_set1_epi16(static_cast<int16_t>(kUnfinished));
        const __m512i word15 = _mm512_set1_epi16(15);
        const __m512i word31 = _mm512_set1_epi16(31);
        constexpr __mmask32 upper_words = 0xFFFF0000u;
        __m512i base = _mm512_set1_epi16(static_cast<int16_t>(state.size));
        bool literal = state.literal;
        uint64_t unknown = 0;
        uint64_t high = 0;
        const size_t grouped = count / 64 * 64;
        for (size_t i = 0; i < grouped; i += 64) {
            // SAFETY: i + 64 <= count.
            const __m512i code = load64(codes + i);
            const uint64_t all_escapes = _mm512_cmpeq_epi8_mask(code, escape_code);
            const __mmask64 top = _mm512_movepi8_mask(code);
            // Two shuffles of 128 entries each, chosen by the top bit.
            __m512i length = _mm512_mask_blend_epi8(top, _mm512_permutex2var_epi8(step[0], code, step[1]),
                                                    _mm512_permutex2var_epi8(step[2], code, step[3]));
            uint64_t no_length = _mm512_testn_epi8_mask(length, length);
            uint64_t escapes = 0;
            if (all_escapes != 0 || literal) {
                const uint64_t literals = literal_positions(all_escapes, literal);
                escapes = all_escapes & ~literals;
                literal = escapes >> 63 != 0;
                high |= top & literals;
                no_length &= ~literals;
                length = _mm512_maskz_mov_epi8(~literals, length);
            }
            unknown |= no_length;

            // Sums within 16 codes, at most 128; then in words, within 32, then 64.
            length = _mm512_add_epi8(length, _mm512_slli_epi64(length, 8));
            length = _mm512_add_epi8(length, _mm512_slli_epi64(length, 16));
            length = _mm512_add_epi8(length, _mm512_slli_epi64(length, 32));
            length = _mm512_add_epi8(length, _mm512_shuffle_epi8(length, last_of_first_8));
            __m512i lower = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(length));
            __m512i upper = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(length, 1));
            lower = _mm512_mask_add_epi16(lower, upper_words, lower, _mm512_permutexvar_epi16(word15, lower));
            upper = _mm512_mask_add_epi16(upper, upper_words, upper, _mm512_permutexvar_epi16(word15, upper));
            const __m512i middle = _mm512_add_epi16(base, _mm512_permutexvar_epi16(word31, lower));
            lower = _mm512_add_epi16(lower, base);
            base = _mm512_add_epi16(middle, _mm512_permutexvar_epi16(word31, upper));
            upper = _mm512_add_epi16(upper, middle);
            if (escapes != 0) {
                lower = _mm512_mask_add_epi16(lower, static_cast<__mmask32>(escapes), lower, mark);
                upper = _mm512_mask_add_epi16(upper, static_cast<__mmask32>(escapes >> 32), upper, mark);
            }
            _mm512_storeu_si512(upto + i, lower);
            _mm512_storeu_si512(upto + i + 32, upper);
        }
        state.unknown |= unknown;
        state.high |= high != 0 ? 0x80 : 0;
        state.size = static_cast<uint16_t>(_mm_extract_epi16(_mm512_castsi512_si128(base), 0));
        state.literal = literal;
        add_codes(table, codes + grouped, count - grouped, upto + grouped, state);
    }

    // The same, 16 rows at a time where offsets have 32 bits.
    template <bool kWrite, class Offset, class TextOffset>
    uint32_t end_rows(const Rows<Offset>& rows, size_t& row, size_t begin, size_t count, const uint16_t* upto,
                      uint64_t base, TextOffset* ends) const noexcept {
        uint32_t seen = 0;
        if constexpr (kWrite && sizeof(Offset) == 4 && sizeof(TextOffset) == 4) {
            const Offset* const row_ends = rows.offsets + 1;
            const Offset last = static_cast<Offset>(begin + count);
            const __m512i first_code = _mm512_set1_epi32(static_cast<int32_t>(begin));
            const __m512i base_text = _mm512_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(base)));
            const __m512i low_word = _mm512_set1_epi32(0xFFFF);
            __m512i all_seen = _mm512_setzero_si512();
            __m512i zero = _mm512_setzero_si512();
            __mmask16 all = 0xFFFF;
            asm("" : "+v"(zero), "+k"(all));  // see Gather in decode.hpp
            for (; row + 16 <= rows.count && row_ends[row + 15] <= last; row += 16) {
                const __m512i at = _mm512_sub_epi32(load64(row_ends + row), first_code);
                // SAFETY: as in the plain form; each look-up reads one element more, which `space` has.
                __m512i size = _mm512_mask_i32gather_epi32(zero, all, at, upto, 2);
                size = _mm512_and_si512(size, low_word);
                all_seen = _mm512_or_si512(all_seen, size);
                _mm512_storeu_si512(ends + row, _mm512_add_epi32(base_text, size));
            }
            seen = static_cast<uint32_t>(_mm512_reduce_or_epi32(all_seen));
        }
        return seen | measure_detail::end_rows<kWrite>(rows, row, begin, count, upto, base, ends);
    }
};

}  // namespace avx512
FSST_TARGET_END
#endif

template <bool kWrite, class Kernel, class Offset, class TextOffset>
Outcome measure(const DecodeTable& table, const Rows<Offset>& rows, TextOffset* ends,
                Learned& learned) noexcept {
    const Kernel kernel(table);
    // upto[k]: text of the run's first k codes. Element 1 is where whole vectors begin.
    alignas(64) uint16_t space[32 + kRun + 32];
    uint16_t* const upto = space + 31;
    const size_t end = rows.start(rows.count);
    RunState state;
    uint32_t seen = 0;
    uint64_t total = 0;
    size_t row = 0;
    size_t begin = rows.start(0);
    upto[0] = 0;
    do {
        const size_t count = end - begin < kRun ? end - begin : kRun;
        state.size = 0;
        kernel.run(table, rows.data + begin, count, upto + 1, state, begin == rows.start(0));
        seen |= kernel.template end_rows<kWrite>(rows, row, begin, count, upto, total, ends);
        total += state.size;
        begin += count;
        upto[0] = state.literal ? kUnfinished : 0;
    } while (begin < end);

    Outcome found;
    found.size = static_cast<int64_t>(total);
    if (FSST_UNLIKELY((seen & kUnfinished) != 0 || state.unknown != 0)) found.status = Status::code_unknown;
    learned.ascii = table.ascii && state.high < 0x80;
    return found;
}

}  // namespace measure_detail

namespace measure_detail {

template <bool kWrite, class Offset, class TextOffset>
Outcome measure_with(const DecodeTable& table, const Rows<Offset>& rows, TextOffset* ends, Isa isa,
                     Learned& learned) noexcept {
#if FSST_X86
    if (isa == Isa::avx512) return measure<kWrite, avx512::Avx512>(table, rows, ends, learned);
    if (isa == Isa::avx2) return measure<kWrite, avx2::Avx2>(table, rows, ends, learned);
#endif
    (void)isa;
    return measure<kWrite, Baseline>(table, rows, ends, learned);
}

}  // namespace measure_detail

// Checks every code and writes where each row's text ends (`ends`, rows.count entries, counted from
// 0). The total is in Outcome::size. Sizes beyond what TextOffset holds are offsets_overflow, with
// the true total. The first fault in row order is reported, as by plain::measure_rows.
template <class Offset, class TextOffset>
Outcome measure_rows(const DecodeTable& table, const Rows<Offset>& rows, TextOffset* ends, Isa isa,
                     Learned* learned = nullptr) noexcept {
    Learned learn;
    if (isa == Isa::plain) {
        if (learned) *learned = Learned{};
        return plain::measure_rows(table, rows, ends);
    }
    Outcome found = measure_detail::measure_with<true>(table, rows, ends, isa, learn);
    if (FSST_UNLIKELY(!found.ok())) return plain::measure_rows(table, rows, ends);
    if (learned) *learned = learn;
    constexpr uint64_t limit = static_cast<uint64_t>(std::numeric_limits<TextOffset>::max());
    if (static_cast<uint64_t>(found.size) > limit) {
        found.status = Status::offsets_overflow;
        found.limit = static_cast<int64_t>(limit);
    }
    return found;
}

// Only the total: the same checks, the same outcome, nothing written.
template <class Offset>
Outcome measure_total(const DecodeTable& table, const Rows<Offset>& rows, Isa isa) noexcept {
    Learned learn;
    int64_t* const nowhere = nullptr;
    Outcome found = measure_detail::measure_with<false>(table, rows, nowhere, isa, learn);
    for (size_t row = 0; !found.ok() && row < rows.count; row++) {
        Outcome fault;
        plain::measure_row(table, rows.data + rows.start(row), rows.size(row), fault);
        if (fault.ok()) continue;
        fault.row = static_cast<int64_t>(row);
        fault.position += static_cast<int64_t>(rows.start(row));
        return fault;
    }
    return found;
}

}  // namespace fsst
