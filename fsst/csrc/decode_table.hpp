// What the decoder looks up, laid out so that any byte whatever is a safe index.
#pragma once

#include "symbol_table.hpp"

namespace fsst {

struct DecodeTable {
    // Index: a code, or 256 + a literal. The escape itself has length 0 and a literal length 1, so a
    // loop that knows which bytes are literals needs no branch for them. Codes that the table has no
    // symbol for have length 0. Lengths are words: `add` takes them from memory, no widening move.
    uint64_t symbol[512];
    uint64_t length[512];

    // What a code adds to a running size: its length (the escape 1, for its literal, which then adds
    // nothing); an unknown code adds kUnknown, far above. Same index.
    static constexpr uint32_t kUnknown = uint32_t{1} << 16;
    uint32_t step[512];

    // Bit (code >> 4 & 7) of plane[p][code >> 7][code & 15] is bit p of the symbol's length - 1:
    // three 256-bit sets, in the shape that two byte shuffles look up.
    alignas(32) uint8_t plane[3][2][16];

    // `step` in bytes, 0 for unknown codes; and a bit for each byte of the symbol.
    alignas(64) uint8_t step8[256];
    alignas(64) uint8_t bytes8[256];

    uint32_t count;
    bool ascii;  // no symbol holds a byte of 0x80 or more

    explicit DecodeTable(const SymbolTable& table) noexcept
        : symbol{}, length{}, step{}, plane{}, step8{}, bytes8{}, count(table.count), ascii(true) {
        uint64_t all = 0;
        for (uint32_t code = 0; code < 256; code++) {
            symbol[256 + code] = code;
            length[256 + code] = 1;
            step[code] = kUnknown;
            if (code >= count) continue;
            symbol[code] = table.symbol[code];
            length[code] = table.length[code];
            step[code] = table.length[code];
            step8[code] = table.length[code];
            bytes8[code] = static_cast<uint8_t>(0xFFu >> (8 - table.length[code]));
            all |= table.symbol[code];
            const uint32_t bits = table.length[code] - 1u;
            for (uint32_t p = 0; p < 3; p++) {
                const uint32_t bit = bits >> p & 1;
                plane[p][code >> 7][code & 15] |= static_cast<uint8_t>(bit << (code >> 4 & 7));
            }
        }
        step[kEscape] = 1;
        step8[kEscape] = 1;
        ascii = (all & 0x8080808080808080u) == 0;
    }
};

}  // namespace fsst
