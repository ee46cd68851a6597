// The encoder's look-up: the longest symbol that is a prefix of what remains, for any table.
//
// Two levels. Two bytes of text index `short_match`, the best symbol of at most two bytes. Three
// bytes hash to a bucket: a run of symbols of three bytes and more, the longest first.
#pragma once

#include "symbol_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fsst {

struct Match {
    uint8_t code;
    uint8_t length;  // text bytes taken; an escape takes one
};

class Matcher {
 public:
    explicit Matcher(const SymbolTable& table) noexcept;

    // `word` holds the next `size` bytes of text (8 if there are more), the rest zero.
    Match longest(uint64_t word, size_t size) const noexcept {
        uint32_t at = bucket_start_[hash(word)];
        const uint32_t end = bucket_start_[hash(word) + 1];
        for (; at < end; at++) {
            const Long& candidate = long_[at];
            if (candidate.length <= size && ((word ^ candidate.symbol) & low_bytes(candidate.length)) == 0) {
                return Match{candidate.code, candidate.length};
            }
        }
        Match match = short_match_[word & 0xFFFF];
        // A zero after the row's last byte may look like a symbol's second byte.
        return match.length <= size ? match : single_match_[word & 0xFF];
    }

 private:
    static constexpr int kHashBits = 12;
    struct Long {
        uint64_t symbol;
        uint8_t length;
        uint8_t code;
    };

    static size_t hash(uint64_t word) noexcept {
        return static_cast<uint32_t>(static_cast<uint32_t>(word << 8) * 0x9E3779B1u) >> (32 - kHashBits);
    }

    Match short_match_[65536];
    Match single_match_[256];
    uint32_t bucket_start_[(1 << kHashBits) + 1];
    Long long_[kMaxSymbols];
};

inline Matcher::Matcher(const SymbolTable& table) noexcept {
    for (Match& match : single_match_) match = Match{kEscape, 1};
    // Where a symbol stands twice its lowest code serves, so codes are filled in from the last down.
    for (uint32_t code = table.count; code-- > 0;) {
        if (table.length[code] == 1) {
            single_match_[table.symbol[code] & 0xFF] = Match{static_cast<uint8_t>(code), 1};
        }
    }
    for (size_t pair = 0; pair < 65536; pair++) short_match_[pair] = single_match_[pair & 0xFF];
    uint32_t longs = 0;
    for (uint32_t code = table.count; code-- > 0;) {
        if (table.length[code] == 2) {
            short_match_[table.symbol[code] & 0xFFFF] = Match{static_cast<uint8_t>(code), 2};
        } else if (table.length[code] > 2) {
            long_[longs++] = Long{table.symbol[code], table.length[code], static_cast<uint8_t>(code)};
        }
    }
    std::sort(long_, long_ + longs, [](const Long& a, const Long& b) {
        if (hash(a.symbol) != hash(b.symbol)) return hash(a.symbol) < hash(b.symbol);
        if (a.length != b.length) return a.length > b.length;
        return a.code < b.code;
    });
    uint32_t at = 0;
    for (uint32_t bucket = 0; bucket <= 1u << kHashBits; bucket++) {
        while (at < longs && hash(long_[at].symbol) < bucket) at++;
        bucket_start_[bucket] = at;
    }
}

}  // namespace fsst
