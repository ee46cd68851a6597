// Which rows can begin with a constant, or end in one, as far as their first or last two code bytes tell: 64
// rows at a time, without a branch.
//
// With vectors the bytes are fetched by a gather of the four that begin or end there, so none of them may
// stand less than four bytes from an end of the codes. The callers see to that, and give odd blocks to
// `Baseline`.
#pragma once

#include "decode_table.hpp"
#include "intrinsics.hpp"
#include "isa.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

struct ByteSet {
    alignas(32) uint32_t bits[8] = {};

    void add(size_t byte) noexcept { bits[byte >> 5] |= uint32_t{1} << (byte & 31); }
    bool has(size_t byte) const noexcept { return (bits[byte >> 5] >> (byte & 31) & 1) != 0; }
};

// Codes by how they fit to what is left of a constant.
struct Fitting {
    ByteSet part;          // of at most so many bytes, and equal to it
    ByteSet all;           // of more, and equal to it as far as it goes
    uint32_t lengths = 0;  // bit n: `part` has a symbol of n bytes
};

// What a row's edge may be.
struct EdgeSets {
    ByteSet part;    // the byte at the edge: the row is open; escapes and literals are among them
    ByteSet all;     // the code at the edge: the row is in
    ByteSet second;  // the byte beside it, where the edge is in `part`
};

// For each of 64 rows whether it is in (never said where all codes count), or open; otherwise it is out.
struct Edges {
    uint64_t sure = 0;
    uint64_t open = 0;
};

namespace edge_detail {

constexpr size_t kRows = 64;  // looked at together
constexpr size_t kNear = 4;   // bytes that a gather takes

// `last`: at rows' ends. It is constant where it is inlined, but no template parameter: lambdas in templates
// are not compiled for the instruction set around them. fit: the codes that fit to the first (last) of `left`
// bytes, which `word` begins (ends) with; of `most` bytes at most in `part`. look: row i is base[borders[i]
// .. borders[i + 1]), there being 64 + 1 borders; those of less than `least` codes, one or more, are out.

struct Baseline {
    static FSST_ALWAYS_INLINE Fitting fit(bool last, const DecodeTable& table, uint64_t word, size_t left,
                                          size_t most) noexcept {
        Fitting fitting;
        for (size_t code = 0; code < 255; code++) {
            const size_t length = static_cast<size_t>(table.length[code]);
            const size_t shared = length < left ? length : left;
            if (shared > 0) {
                // The last `shared` bytes of the symbol, or its first.
                const uint64_t symbol =
                    last ? table.symbol[code] >> 8 * (length - shared) : table.symbol[code];
                const uint64_t bytes = last ? word >> (64 - 8 * shared) : word;
                if (((symbol ^ bytes) & low_bytes(shared)) != 0) continue;
            }
            if (length > most) {
                fitting.all.add(code);
            } else {
                fitting.part.add(code);
                fitting.lengths |= 1u << length;
            }
        }
        return fitting;
    }

    // Of any number of rows up to 64, wherever they are.
    template <class Offset>
    static FSST_ALWAYS_INLINE Edges look_at(bool last, const Rows<Offset>& rows, size_t first, size_t count,
                                            size_t least, const EdgeSets& sets) noexcept {
        Edges edges;
        for (size_t i = 0; i < count; i++) {
            const size_t size = rows.size(first + i);
            if (size < least) continue;
            // SAFETY: least >= 1, so the row has codes.
            const uint8_t* const edge = rows.data + rows.start(first + i) + (last ? size - 1 : 0);
            const uint64_t all = sets.all.has(*edge);
            const uint64_t literal = last && size > 1 && edge[-1] == kEscape;
            edges.sure |= (all & ~literal) << i;
            edges.open |= ((all & literal) | static_cast<uint64_t>(sets.part.has(*edge))) << i;
        }
        return edges;
    }

    // No branch, and only the byte at the edge: of rows that end in one of `all` it says that they are open.
    static FSST_ALWAYS_INLINE Edges look(bool last, const uint8_t* base, const int32_t* borders, size_t least,
                                         const EdgeSets& sets) noexcept {
        Edges edges;
        for (size_t i = 0; i < kRows; i++) {
            const size_t size = static_cast<size_t>(borders[i + 1] - borders[i]);
            const uint64_t enough = size >= least;
            // SAFETY: the caller has seen to it that bytes are there, if not this row's.
            const uint8_t edge = last ? base[borders[i + 1] - 1] : base[borders[i]];
            edges.open |= (sets.part.has(edge) & enough) << i;
            edges.sure |= (sets.all.has(edge) & enough) << i;
        }
        if (last) edges.open |= edges.sure;
        if (last) edges.sure = 0;
        return edges;
    }
};

#if FSST_X86
FSST_TARGET_AVX2
namespace avx2 {

FSST_ALWAYS_INLINE __m256i set(uint64_t value) noexcept {
    return _mm256_set1_epi64x(static_cast<int64_t>(value));
}
FSST_ALWAYS_INLINE __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
FSST_ALWAYS_INLINE uint32_t bits_of(__m256d is) noexcept {
    return static_cast<uint32_t>(_mm256_movemask_pd(is));
}
FSST_ALWAYS_INLINE uint32_t bits_of(__m256 is) noexcept {
    return static_cast<uint32_t>(_mm256_movemask_ps(is));
}

struct Avx2 {
    static Fitting fit(bool last, const DecodeTable& table, uint64_t word, size_t left,
                       size_t most) noexcept {
        const __m256i there = set(last ? ~low_bytes(left < 8 ? 8 - left : 0) : low_bytes(left));
        const __m256i words = set(word);
        const __m256i ones = set(~uint64_t{0});
        __m256i lengths = _mm256_setzero_si256();
        Fitting fitting;
        for (size_t code = 0; code < 256; code += 4) {
            // SAFETY: the tables have 512 entries.
            const __m256i length = load(table.length + code);
            // Shifts by 64, of codes without a symbol, leave nothing.
            const __m256i rest = _mm256_sub_epi64(set(64), _mm256_slli_epi64(length, 3));
            const __m256i symbol =
                last ? _mm256_sllv_epi64(load(table.symbol + code), rest) : load(table.symbol + code);
            const __m256i mask = last ? _mm256_sllv_epi64(ones, rest) : _mm256_srlv_epi64(ones, rest);
            const __m256i differs =
                _mm256_and_si256(_mm256_xor_si256(symbol, words), _mm256_and_si256(mask, there));
            const __m256i equal = _mm256_cmpeq_epi64(differs, _mm256_setzero_si256());
            const __m256i more = _mm256_cmpgt_epi64(length, set(most));
            const __m256i in_part = _mm256_andnot_si256(more, equal);
            lengths = _mm256_or_si256(lengths, _mm256_and_si256(in_part, _mm256_sllv_epi64(set(1), length)));
            fitting.part.bits[code / 32] |= bits_of(_mm256_castsi256_pd(in_part)) << code % 32;
            fitting.all.bits[code / 32] |= bits_of(_mm256_castsi256_pd(_mm256_and_si256(more, equal)))
                                           << code % 32;
        }
        for (int i = 0; i < 9; i++) {
            const __m256i bit = _mm256_slli_epi64(lengths, 63 - i);
            fitting.lengths |= static_cast<uint32_t>(bits_of(_mm256_castsi256_pd(bit)) != 0) << i;
        }
        return fitting;
    }

    static Edges look(bool last, const uint8_t* base, const int32_t* borders, size_t least,
                      const EdgeSets& sets) noexcept {
        const __m256i part = load(sets.part.bits);
        const __m256i all = load(sets.all.bits);
        const __m256i second = load(sets.second.bits);
        const __m256i below = _mm256_set1_epi32(static_cast<int32_t>(least) - 1);
        const __m256i low = _mm256_set1_epi32(255);
        const __m256i one = _mm256_set1_epi32(1);
        const __m256i reversed =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
        Edges edges;
        for (size_t i = 0; i < kRows; i += 8) {
            const __m256i begin = load(borders + i);
            const __m256i end = load(borders + i + 1);
            const __m256i size = _mm256_sub_epi32(end, begin);
            const __m256i enough = _mm256_cmpgt_epi32(size, below);
            const __m256i single = _mm256_cmpeq_epi32(size, one);
            const __m256i at = last ? _mm256_sub_epi32(end, _mm256_set1_epi32(kNear)) : begin;
            // SAFETY: the caller has seen to it that four bytes are there.
            __m256i words = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
                                                        reinterpret_cast<const int*>(base), at, enough, 1);
            // The lowest byte is the one at the edge.
            if (last) words = _mm256_shuffle_epi8(words, reversed);
            const __m256i edge = _mm256_and_si256(words, low);
            const __m256i beside = _mm256_and_si256(_mm256_srli_epi32(words, 8), low);
            const __m256i third = _mm256_and_si256(_mm256_srli_epi32(words, 16), low);
            const auto escape = [&](__m256i byte) { return _mm256_cmpeq_epi32(byte, low); };
            // The sign bit says whether the byte is in the set.
            const auto in = [&](__m256i set, __m256i of) {
                const __m256i up = _mm256_andnot_si256(of, _mm256_set1_epi32(31));
                return _mm256_sllv_epi32(_mm256_permutevar8x32_epi32(set, _mm256_srli_epi32(of, 5)), up);
            };
            __m256i fits = _mm256_or_si256(in(second, beside), _mm256_or_si256(escape(edge), single));
            __m256i sure = _mm256_and_si256(in(all, edge), enough);
            __m256i open = _mm256_and_si256(in(part, edge), enough);
            if (last) {
                fits = _mm256_or_si256(fits, escape(third));
                const __m256i unsure = _mm256_andnot_si256(single, escape(beside));
                open = _mm256_or_si256(_mm256_and_si256(open, fits), _mm256_and_si256(sure, unsure));
                sure = _mm256_andnot_si256(unsure, sure);
            } else {
                open = _mm256_and_si256(open, fits);
            }
            edges.sure |= uint64_t{bits_of(_mm256_castsi256_ps(sure))} << i;
            edges.open |= uint64_t{bits_of(_mm256_castsi256_ps(open))} << i;
        }
        return edges;
    }
};

}  // namespace avx2
FSST_TARGET_END

FSST_TARGET_AVX512
namespace avx512 {

FSST_ALWAYS_INLINE __m512i set(uint64_t value) noexcept {
    return _mm512_set1_epi64(static_cast<int64_t>(value));
}
FSST_ALWAYS_INLINE __m512i load(const ByteSet& bytes) noexcept {
    return _mm512_broadcast_i64x4(_mm256_load_si256(reinterpret_cast<const __m256i*>(bytes.bits)));
}

struct Avx512 {
    static Fitting fit(bool last, const DecodeTable& table, uint64_t word, size_t left,
                       size_t most) noexcept {
        const __m512i there = set(last ? ~low_bytes(left < 8 ? 8 - left : 0) : low_bytes(left));
        const __m512i words = set(word);
        const __m512i ones = set(~uint64_t{0});
        __m512i lengths = _mm512_setzero_si512();
        Fitting fitting;
        for (size_t code = 0; code < 256; code += 8) {
            // SAFETY: the tables have 512 entries.
            const __m512i length = _mm512_loadu_si512(table.length + code);
            __m512i symbol = _mm512_loadu_si512(table.symbol + code);
            // Shifts by 64, of codes without a symbol, leave nothing.
            const __m512i rest = _mm512_sub_epi64(set(64), _mm512_slli_epi64(length, 3));
            if (last) symbol = _mm512_sllv_epi64(symbol, rest);
            const __m512i mask = last ? _mm512_sllv_epi64(ones, rest) : _mm512_srlv_epi64(ones, rest);
            const __mmask8 equal =
                _mm512_testn_epi64_mask(_mm512_xor_si512(symbol, words), _mm512_and_si512(mask, there));
            const __mmask8 in_part = _mm512_mask_cmple_epu64_mask(equal, length, set(most));
            lengths = _mm512_mask_or_epi64(lengths, in_part, lengths, _mm512_sllv_epi64(set(1), length));
            fitting.part.bits[code / 32] |= static_cast<uint32_t>(in_part) << code % 32;
            fitting.all.bits[code / 32] |= static_cast<uint32_t>(equal & ~in_part) << code % 32;
        }
        fitting.lengths = static_cast<uint32_t>(_mm512_reduce_or_epi64(lengths));
        return fitting;
    }

    static Edges look(bool last, const uint8_t* base, const int32_t* borders, size_t least,
                      const EdgeSets& sets) noexcept {
        const __m512i part = load(sets.part);
        const __m512i all = load(sets.all);
        const __m512i second = load(sets.second);
        const __m512i shortest = _mm512_set1_epi32(static_cast<int32_t>(least));
        const __m512i low = _mm512_set1_epi32(255);
        const __m512i one = _mm512_set1_epi32(1);
        const __m512i reversed =
            _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
        Edges edges;
        for (size_t i = 0; i < kRows; i += 16) {
            const __m512i begin = _mm512_loadu_si512(borders + i);
            const __m512i end = _mm512_loadu_si512(borders + i + 1);
            const __m512i size = _mm512_sub_epi32(end, begin);
            const __mmask16 enough = _mm512_cmpge_epi32_mask(size, shortest);
            const __mmask16 single = _mm512_cmpeq_epi32_mask(size, one);
            const __m512i at = last ? _mm512_sub_epi32(end, _mm512_set1_epi32(kNear)) : begin;
            // SAFETY: the caller has seen to it that four bytes are there.
            __m512i words = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), enough, at, base, 1);
            // The lowest byte is the one at the edge.
            if (last) words = _mm512_shuffle_epi8(words, reversed);
            const __m512i edge = _mm512_and_si512(words, low);
            const __m512i beside = _mm512_and_si512(_mm512_srli_epi32(words, 8), low);
            const __m512i third = _mm512_and_si512(_mm512_srli_epi32(words, 16), low);
            const auto escape = [&](__m512i byte) { return _mm512_cmpeq_epi32_mask(byte, low); };
            // Rotating takes the byte modulo 32.
            const auto in = [&](__m512i set, __m512i of) {
                const __m512i word = _mm512_permutexvar_epi32(_mm512_srli_epi32(of, 5), set);
                return _mm512_mask_test_epi32_mask(enough, _mm512_rorv_epi32(word, of), one);
            };
            __mmask16 fits = static_cast<__mmask16>(in(second, beside) | escape(edge) | single);
            __mmask16 sure = in(all, edge);
            __mmask16 open = in(part, edge);
            if (last) {
                fits = static_cast<__mmask16>(fits | escape(third));
                const __mmask16 unsure = static_cast<__mmask16>(escape(beside) & ~single);
                open = static_cast<__mmask16>((open & fits) | (sure & unsure));
                sure = static_cast<__mmask16>(sure & ~unsure);
            } else {
                open = static_cast<__mmask16>(open & fits);
            }
            edges.sure |= static_cast<uint64_t>(sure) << i;
            edges.open |= static_cast<uint64_t>(open) << i;
        }
        return edges;
    }
};

}  // namespace avx512
FSST_TARGET_END
#endif

}  // namespace edge_detail
}  // namespace fsst
