// How often each code is used: what a person asks who wants to see why a column is as small as it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interrupt.hpp"
#include "rows.hpp"
#include "symbol_table.hpp"

namespace fsst {

// Adds to uses[code] for every code, and for every escape to uses[kEscape]; literals count nothing. Codes
// need not be valid. Where `interrupt` has been told to stop the counts mean nothing.
template <class Offset>
void count_codes(const Rows<Offset>& rows, uint64_t uses[256], Interrupt& interrupt) noexcept {
    size_t asked = rows.start(0);
    for (size_t row = 0; row < rows.count; row++) {
        if (rows.start(row) - asked > kAskEvery) {
            asked = rows.start(row);
            if (interrupt.ask()) return;
        }
        const uint8_t* at = rows.data + rows.start(row);
        const uint8_t* const end = at + rows.size(row);
        while (at < end) {
            const uint8_t code = *at;
            uses[code]++;
            at += code == kEscape ? 2 : 1;
        }
    }
}

}  // namespace fsst
