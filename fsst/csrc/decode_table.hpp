// What the decoder looks up: 256 entries, so that any byte whatever is a safe index.
#pragma once

#include "symbol_table.hpp"

namespace fsst {

struct DecodeTable {
    uint64_t symbol[256];
    uint8_t length[256];  // 0 for codes that the table has no symbol for, and for the escape
    uint32_t count;

    explicit DecodeTable(const SymbolTable& table) noexcept : symbol{}, length{}, count(table.count) {
        for (uint32_t code = 0; code < table.count; code++) {
            symbol[code] = table.symbol[code];
            length[code] = table.length[code];
        }
    }
};

}  // namespace fsst
