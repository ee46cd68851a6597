// Whether decoded rows are valid UTF-8 (RFC 3629), each row for itself.
//
// The fast check is the look-up scheme that Keiser and Lemire published ("Validating UTF-8 in less than
// one instruction per byte", 2021): three 16-entry tables, looked up with the byte before (both halves)
// and this byte (upper half), give sets of faults; a fault that all three agree on is one. The slow
// twin goes byte by byte.
#pragma once

#include "intrinsics.hpp"
#include "isa.hpp"
#include "rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

// The slow twin, and what finds the place: one text.
inline bool valid_utf8(const uint8_t* text, size_t size) noexcept {
    size_t at = 0;
    while (at < size) {
        const uint8_t lead = text[at];
        if (lead < 0x80) {
            at++;
            continue;
        }
        size_t more;
        uint32_t least;
        if (lead >= 0xC2 && lead <= 0xDF) {
            more = 1;
            least = 0x80;
        } else if ((lead & 0xF0) == 0xE0) {
            more = 2;
            least = 0x800;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            more = 3;
            least = 0x10000;
        } else {
            return false;
        }
        if (size - at <= more) return false;
        uint32_t value = lead & (0x3Fu >> more);
        for (size_t i = 1; i <= more; i++) {
            // SAFETY: at + more < size.
            if ((text[at + i] & 0xC0) != 0x80) return false;
            value = value << 6 | (text[at + i] & 0x3Fu);
        }
        if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return false;
        at += more + 1;
    }
    return true;
}

namespace utf8_detail {

enum class Verdict { ascii, valid, invalid };

inline bool is_continuation(uint8_t byte) noexcept {
    return (byte & 0xC0) == 0x80;
}

inline Verdict check_plain(const uint8_t* text, size_t size) noexcept {
    constexpr uint64_t top_bits = 0x8080808080808080u;
    uint64_t high = 0;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        // SAFETY: at + 8 <= size.
        high = load_le<uint64_t>(text + at) & top_bits;
        if (high != 0) break;
    }
    high |= load_up_to_8(text + at, size - at) & top_bits;
    if (high == 0) return Verdict::ascii;
    return valid_utf8(text + at, size - at) ? Verdict::valid : Verdict::invalid;
}

#if FSST_X86
FSST_TARGET_AVX2
namespace avx2 {

// What can be wrong with two bytes in a row, a bit each.
constexpr uint8_t kLeadThenNone = 1 << 0;      // a lead byte, then no continuation
constexpr uint8_t kAsciiThenMore = 1 << 1;     // an ASCII byte, then a continuation
constexpr uint8_t kOverlong3 = 1 << 2;         // E0, then 80..9F
constexpr uint8_t kTooLarge = 1 << 3;          // F4 then 90..BF; F5..FF then 90..BF
constexpr uint8_t kSurrogate = 1 << 4;         // ED, then A0..BF
constexpr uint8_t kOverlong2 = 1 << 5;         // C0 or C1, then a continuation
constexpr uint8_t kOverlong4OrLarge = 1 << 6;  // F0 then 80..8F; F5..FF then 80..8F
constexpr uint8_t kTwoMore = 1 << 7;           // two continuations: right only within 3 or 4 bytes
constexpr uint8_t kAnyLow = kLeadThenNone | kAsciiThenMore | kTwoMore;

struct Utf8Tables {
    uint8_t before_high[16], before_low[16], this_high[16];
};

constexpr Utf8Tables make_tables() noexcept {
    Utf8Tables t{};
    for (int i = 0; i < 16; i++) {
        t.before_high[i] = i < 8     ? kAsciiThenMore
                           : i < 12  ? kTwoMore
                           : i == 12 ? kLeadThenNone | kOverlong2
                           : i == 13 ? kLeadThenNone
                           : i == 14 ? kLeadThenNone | kOverlong3 | kSurrogate
                                     : kLeadThenNone | kTooLarge | kOverlong4OrLarge;
        t.before_low[i] = i == 0    ? kAnyLow | kOverlong2 | kOverlong3 | kOverlong4OrLarge
                          : i == 1  ? kAnyLow | kOverlong2
                          : i < 4   ? kAnyLow
                          : i == 4  ? kAnyLow | kTooLarge
                          : i == 13 ? kAnyLow | kTooLarge | kOverlong4OrLarge | kSurrogate
                                    : kAnyLow | kTooLarge | kOverlong4OrLarge;
        t.this_high[i] = i < 8 || i >= 12 ? kLeadThenNone
                         : i == 8 ? kAsciiThenMore | kTwoMore | kOverlong2 | kOverlong3 | kOverlong4OrLarge
                         : i == 9 ? kAsciiThenMore | kTwoMore | kOverlong2 | kOverlong3 | kTooLarge
                                  : kAsciiThenMore | kTwoMore | kOverlong2 | kSurrogate | kTooLarge;
    }
    return t;
}

inline constexpr Utf8Tables kUtf8 = make_tables();

FSST_ALWAYS_INLINE __m256i table16(const uint8_t* from) noexcept {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// `now` and the 32 bytes before it: the bytes N places back.
template <int N>
FSST_ALWAYS_INLINE __m256i back(__m256i now, __m256i before) noexcept {
    return _mm256_alignr_epi8(now, _mm256_permute2x128_si256(before, now, 0x21), 16 - N);
}

FSST_ALWAYS_INLINE __m256i faults(__m256i now, __m256i before) noexcept {
    const __m256i low_half = _mm256_set1_epi8(15);
    const __m256i back1 = back<1>(now, before);
    const auto high = [&](__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), low_half); };
    const __m256i pair = _mm256_and_si256(
        _mm256_and_si256(_mm256_shuffle_epi8(table16(kUtf8.before_high), high(back1)),
                         _mm256_shuffle_epi8(table16(kUtf8.before_low), _mm256_and_si256(back1, low_half))),
        _mm256_shuffle_epi8(table16(kUtf8.this_high), high(now)));
    // Bytes that must be a second or third continuation have the top bit here, and no others.
    const __m256i third = _mm256_subs_epu8(back<2>(now, before), _mm256_set1_epi8(0xE0 - 0x80));
    const __m256i fourth = _mm256_subs_epu8(back<3>(now, before), _mm256_set1_epi8(0xF0 - 0x80));
    const __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(-128));
    return _mm256_xor_si256(must, pair);
}

FSST_ALWAYS_INLINE __m256i load(const uint8_t* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

inline Verdict check(const uint8_t* text, size_t size) noexcept {
    __m256i before = _mm256_setzero_si256();
    __m256i fault = _mm256_setzero_si256();
    bool ascii = true;
    const auto two = [&](__m256i first, __m256i second) {
        fault = _mm256_or_si256(fault, faults(first, before));
        fault = _mm256_or_si256(fault, faults(second, first));
        before = second;
    };
    size_t at = 0;
    bool clean = true;  // the 32 bytes before are ASCII
    // One decision for 256 bytes: where one row in ten has other letters, a decision for each 64 was
    // mispredicted so often that checking everything is faster (8 MB of names: 1.05 ms, now 0.55).
    constexpr size_t kStride = 256;
    for (; at + kStride <= size; at += kStride) {
        // SAFETY: at + kStride <= size.
        __m256i all = load(text + at);
        for (size_t i = 32; i < kStride; i += 32) all = _mm256_or_si256(all, load(text + at + i));
        if (_mm256_movemask_epi8(all) == 0 && clean) continue;
        for (size_t i = 0; i < kStride; i += 64) two(load(text + at + i), load(text + at + i + 32));
        clean = _mm256_movemask_epi8(before) == 0;
        ascii = false;
    }
    for (; at + 64 <= size; at += 64) {
        // SAFETY: at + 64 <= size.
        const __m256i first = load(text + at);
        const __m256i second = load(text + at + 32);
        two(first, second);
        ascii = ascii && _mm256_movemask_epi8(_mm256_or_si256(first, second)) == 0;
        clean = _mm256_movemask_epi8(second) == 0;
    }
    // What is left, with zeros behind it: a sequence cut off at the end is seen as followed by ASCII.
    alignas(32) uint8_t rest[96] = {};
    std::memcpy(rest, text + at, size - at);
    const __m256i first = load(rest);
    const __m256i second = load(rest + 32);
    if (_mm256_movemask_epi8(_mm256_or_si256(first, second)) != 0 || !clean) {
        two(first, second);
        two(load(rest + 64), load(rest + 64));
        ascii = false;
    }
    if (!_mm256_testz_si256(fault, fault)) return Verdict::invalid;
    return ascii ? Verdict::ascii : Verdict::valid;
}

}  // namespace avx2
FSST_TARGET_END
#endif

}  // namespace utf8_detail

// The first row that is not valid UTF-8, or -1. Rows lie back to back: if all of them together are
// valid and none begins with a continuation byte, each is valid.
template <class Offset>
int64_t first_invalid_utf8(const Rows<Offset>& rows, Isa isa) noexcept {
    using namespace utf8_detail;
    const uint8_t* const text = rows.data + rows.start(0);
    const size_t size = rows.total();
    Verdict verdict;
    (void)isa;
#if FSST_X86
    if (isa >= Isa::avx2) {
        verdict = avx2::check(text, size);
    } else
#endif
    {
        verdict = check_plain(text, size);
    }
    if (verdict == Verdict::ascii) return -1;
    bool good = verdict == Verdict::valid;
    if (good) {
        // Rows that begin at the end of the text are empty; there is nothing to look at.
        size_t count = rows.count;
        while (count > 0 && rows.start(count - 1) == rows.start(rows.count)) count--;
        unsigned continued = 0;
        for (size_t row = 0; row < count; row++) {
            // SAFETY: a start before the end is in the text. No way out of the loop, so that nothing is
            // mispredicted.
            continued |= static_cast<unsigned>(is_continuation(rows.data[rows.start(row)]));
        }
        good = continued == 0;
    }
    if (FSST_LIKELY(good)) return -1;
    for (size_t row = 0; row < rows.count; row++) {
        if (!valid_utf8(rows.data + rows.start(row), rows.size(row))) return static_cast<int64_t>(row);
    }
    return -1;
}

}  // namespace fsst
