// Codes of one table as codes of another that numbers the same symbols otherwise. Nothing is parsed anew.
#pragma once

#include "rows.hpp"
#include "status.hpp"
#include "symbol_table.hpp"

#include <cstddef>
#include <cstdint>

namespace fsst {

// Writes rows.total() bytes: for each code below `symbols`, places[code], which is below 255. Every code is
// checked; literals stay as they are.
template <class Offset>
Outcome renumber_rows(const uint8_t* places, uint32_t symbols, const Rows<Offset>& rows,
                      uint8_t* out) noexcept {
    const auto at_fault = [&](Status status, size_t row, const uint8_t* code) {
        Outcome found;
        found.status = status;
        found.row = static_cast<int64_t>(row);
        found.position = code - rows.data;
        found.size = *code;
        found.limit = symbols;
        return found;
    };
    for (size_t row = 0; row < rows.count; row++) {
        // SAFETY: offsets are checked, and `out` has room for all that lies between them. A code below
        // `symbols` has a place.
        const uint8_t* code = rows.data + rows.start(row);
        const uint8_t* const end = code + rows.size(row);
        for (; code < end; code++) {
            if (*code == kEscape) {
                *out++ = kEscape;
                if (++code == end) return at_fault(Status::escape_at_end, row, code - 1);
                *out++ = *code;
                continue;
            }
            if (*code >= symbols) return at_fault(Status::code_unknown, row, code);
            *out++ = places[*code];
        }
    }
    return Outcome{};
}

}  // namespace fsst
