// The symbol table: which code stands for which bytes, and its two serialized forms.
//
// Parquet body (docs/format.md)          "cwida", the C++ reference's fsst_export
//   0  u8     symbol_count                 0  u64    version<<32 | suffix_lim<<24 | terminator<<16
//   1  u8[8]  length_histogram                       | symbol_count<<8 | 1
//   9  bytes  symbols, ascending length    8  u8     zero_terminated
//                                          9  u8[8]  length_histogram
//                                         17  bytes  symbols, lengths 2,3,..,8, then 1
#pragma once

#include "port.hpp"
#include "status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fsst {

constexpr uint8_t kEscape = 255;
constexpr size_t kMaxSymbols = 255;
constexpr size_t kMaxSymbolLength = 8;
constexpr size_t kParquetHeader = 9;
constexpr size_t kCwidaHeader = 17;
constexpr uint32_t kCwidaVersion = 20190218;
// A serialized table is never larger than this, in either format.
constexpr size_t kMaxTableBytes = kCwidaHeader + kMaxSymbols * kMaxSymbolLength;

// Plain data: symbol i (i < count) is the low length[i] bytes of symbol[i]; bytes above are zero.
struct SymbolTable {
    uint64_t symbol[kMaxSymbols] = {};
    uint8_t length[kMaxSymbols] = {};
    uint32_t count = 0;
    // What only the cwida header says. A negative terminator: none was read, choose one on writing.
    int16_t terminator = -1;
    bool zero_terminated = false;

    size_t symbol_bytes() const noexcept {
        size_t total = 0;
        for (uint32_t i = 0; i < count; i++) total += length[i];
        return total;
    }
};

// Reads `count` symbols laid back to back, in runs of equal length as `histogram` says, the
// length order given by `first_length` (1: 1..8, 2: 2..8 then 1). The caller has checked the sizes.
inline void read_symbols(SymbolTable& table, const uint8_t* from, const uint8_t histogram[8],
                         size_t first_length, uint32_t first_code) noexcept {
    uint32_t code = first_code;
    for (size_t step = 0; step < kMaxSymbolLength; step++) {
        size_t length = (first_length - 1 + step) % kMaxSymbolLength + 1;
        for (size_t i = 0; i < histogram[length - 1]; i++) {
            table.symbol[code] = load_up_to_8(from, length);
            table.length[code] = static_cast<uint8_t>(length);
            from += length;
            code++;
        }
    }
}

inline Outcome parse_parquet(const uint8_t* data, size_t size, SymbolTable& table) noexcept {
    table = SymbolTable{};
    Outcome bad;
    if (size < kParquetHeader) {
        bad.status = Status::table_too_short;
        bad.size = static_cast<int64_t>(size);
        bad.limit = kParquetHeader;
        return bad;
    }
    // 8 x 255 symbols of at most 8 bytes: neither sum can wrap.
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < kMaxSymbolLength; i++) {
        count += data[1 + i];
        bytes += data[1 + i] * (i + 1);
    }
    if (count != data[0]) {
        bad.status = Status::table_bad_histogram;
        bad.size = static_cast<int64_t>(count);
        bad.limit = data[0];
        return bad;
    }
    if (size != kParquetHeader + bytes) {
        bad.status = Status::table_bad_size;
        bad.size = static_cast<int64_t>(size);
        bad.limit = static_cast<int64_t>(kParquetHeader + bytes);
        return bad;
    }
    table.count = data[0];
    read_symbols(table, data + kParquetHeader, data + 1, 1, 0);
    return Outcome{};
}

// True where a symbol longer than symbol `code`, of two bytes, starts with it.
inline bool starts_a_longer(const SymbolTable& table, uint32_t code) noexcept {
    for (uint32_t other = 0; other < table.count; other++) {
        if (table.length[other] > 2 && (table.symbol[other] & 0xFFFF) == table.symbol[code]) return true;
    }
    return false;
}

// True for the symbol `00`, the first of them where it stands twice.
inline bool is_zero_symbol(const SymbolTable& table, uint32_t code) noexcept {
    if (table.length[code] != 1 || table.symbol[code] != 0) return false;
    for (uint32_t other = 0; other < code; other++) {
        if (table.length[other] == 1 && table.symbol[other] == 0) return false;
    }
    return true;
}

// Where each format puts a symbol: codes must be in ascending order of this.
inline uint32_t parquet_rank(const SymbolTable& table, uint32_t code) noexcept {
    return table.length[code];
}

inline uint32_t cwida_rank(const SymbolTable& table, uint32_t code) noexcept {
    const uint32_t length = table.length[code];
    if (table.zero_terminated && is_zero_symbol(table, code)) return 0;
    if (length == 1) return 10;
    return length == 2 && !starts_a_longer(table, code) ? 1 : length;
}

// The first code that breaks the order of `rank`, or table.count.
template <class Rank>
uint32_t first_out_of_order(const SymbolTable& table, const Rank& rank) noexcept {
    for (uint32_t code = 1; code < table.count; code++) {
        if (rank(table, code) < rank(table, code - 1)) return code;
    }
    return table.count;
}

// The same symbols renumbered in ascending `rank`, those of equal rank as they were.
template <class Rank>
SymbolTable reordered(const SymbolTable& table, const Rank& rank) noexcept {
    SymbolTable to;
    to.terminator = table.terminator;
    to.zero_terminated = table.zero_terminated;
    for (uint32_t wanted = 0; wanted <= 10; wanted++) {
        for (uint32_t code = 0; code < table.count; code++) {
            if (rank(table, code) != wanted) continue;
            to.symbol[to.count] = table.symbol[code];
            to.length[to.count] = table.length[code];
            to.count++;
        }
    }
    return to;
}

inline SymbolTable in_parquet_order(const SymbolTable& table) noexcept {
    return reordered(table, parquet_rank);
}
inline SymbolTable in_cwida_order(const SymbolTable& table) noexcept {
    return reordered(table, cwida_rank);
}

inline uint8_t* write_symbols(const SymbolTable& table, uint32_t first_code, uint8_t* to) noexcept {
    for (uint32_t code = first_code; code < table.count; code++) {
        for (size_t i = 0; i < table.length[code]; i++) {
            *to++ = static_cast<uint8_t>(table.symbol[code] >> (8 * i));
        }
    }
    return to;
}

// Writes the Parquet body; `to` has room for kMaxTableBytes. Outcome::size is what was written.
inline Outcome write_parquet(const SymbolTable& table, uint8_t* to) noexcept {
    Outcome outcome;
    const uint32_t wrong = first_out_of_order(table, parquet_rank);
    if (wrong < table.count) {
        outcome.status = Status::table_out_of_order;
        outcome.position = wrong;
        return outcome;
    }
    std::memset(to, 0, kParquetHeader);
    to[0] = static_cast<uint8_t>(table.count);
    for (uint32_t code = 0; code < table.count; code++) to[table.length[code]]++;
    outcome.size = write_symbols(table, 0, to + kParquetHeader) - to;
    return outcome;
}

// The two fields of the cwida header that its reader's encoder relies on, for a table in that order.
struct CwidaFields {
    uint32_t suffix_lim;
    bool inside[256];  // bytes that stand in symbols of two bytes and more; none may be the terminator
};

inline CwidaFields cwida_fields(const SymbolTable& table) noexcept {
    CwidaFields fields = {};
    fields.suffix_lim = table.zero_terminated ? 1 : 0;
    for (uint32_t code = 0; code < table.count; code++) {
        if (table.length[code] == 1) continue;
        for (size_t i = 0; i < table.length[code]; i++) {
            fields.inside[table.symbol[code] >> (8 * i) & 0xFF] = true;
        }
        if (cwida_rank(table, code) == 1) fields.suffix_lim++;
    }
    return fields;
}

// Writes the form of the C++ reference.
inline Outcome write_cwida(const SymbolTable& table, uint8_t* to) noexcept {
    Outcome outcome;
    const uint32_t wrong = first_out_of_order(table, cwida_rank);
    if (wrong < table.count) {
        outcome.status = Status::table_out_of_order;
        outcome.position = wrong;
        return outcome;
    }
    const CwidaFields fields = cwida_fields(table);
    int terminator = table.terminator;
    if (terminator < 0 || fields.inside[terminator]) {
        terminator = 0;
        while (terminator < 256 && fields.inside[terminator]) terminator++;
    }
    if (terminator == 256) {
        outcome.status = Status::table_no_terminator;
        return outcome;
    }
    const uint64_t header = uint64_t{kCwidaVersion} << 32 | uint64_t{fields.suffix_lim} << 24 |
                            static_cast<uint64_t>(terminator) << 16 | uint64_t{table.count} << 8 | 1;
    store_le<uint64_t>(to, header);
    to[8] = table.zero_terminated ? 1 : 0;
    std::memset(to + 9, 0, 8);
    for (uint32_t code = 0; code < table.count; code++) to[8 + table.length[code]]++;
    outcome.size = write_symbols(table, table.zero_terminated ? 1 : 0, to + kCwidaHeader) - to;
    return outcome;
}

inline Outcome parse_cwida(const uint8_t* data, size_t size, SymbolTable& table) noexcept {
    table = SymbolTable{};
    Outcome bad;
    if (size < kCwidaHeader) {
        bad.status = Status::table_too_short;
        bad.size = static_cast<int64_t>(size);
        bad.limit = kCwidaHeader;
        return bad;
    }
    uint64_t header = load_le<uint64_t>(data);
    if (header >> 32 != kCwidaVersion || (header & 0xFF) != 1) {
        bad.status = Status::table_bad_version;
        bad.size = static_cast<int64_t>(header);
        return bad;
    }
    if (data[8] > 1 || (data[8] == 1 && data[9] == 0)) {
        bad.status = Status::table_bad_flag;
        bad.size = data[8];
        bad.limit = data[9];
        return bad;
    }
    bool zero_terminated = data[8] == 1;
    uint8_t histogram[8];
    std::memcpy(histogram, data + 9, 8);
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < kMaxSymbolLength; i++) {
        count += histogram[i];
        bytes += histogram[i] * (i + 1);
    }
    size_t said = header >> 8 & 0xFF;
    if (count != said) {
        bad.status = Status::table_bad_histogram;
        bad.size = static_cast<int64_t>(count);
        bad.limit = static_cast<int64_t>(said);
        return bad;
    }
    // The zero terminator is counted but not stored.
    if (zero_terminated) bytes--;
    if (size != kCwidaHeader + bytes) {
        bad.status = Status::table_bad_size;
        bad.size = static_cast<int64_t>(size);
        bad.limit = static_cast<int64_t>(kCwidaHeader + bytes);
        return bad;
    }
    table.count = static_cast<uint32_t>(count);
    table.zero_terminated = zero_terminated;
    table.terminator = static_cast<int16_t>(header >> 16 & 0xFF);
    if (zero_terminated) {
        table.symbol[0] = 0;
        table.length[0] = 1;
        histogram[0]--;
    }
    read_symbols(table, data + kCwidaHeader, histogram, 2, zero_terminated ? 1 : 0);
    // The reference's encoder goes wrong where these disagree with the symbols, so no writer made such.
    const CwidaFields fields = cwida_fields(table);
    if (fields.suffix_lim != (header >> 24 & 0xFF) || first_out_of_order(table, cwida_rank) < table.count) {
        bad.status = Status::table_bad_suffix_lim;
        bad.size = static_cast<int64_t>(header >> 24 & 0xFF);
        bad.limit = fields.suffix_lim;
        return bad;
    }
    if (fields.inside[table.terminator]) {
        bad.status = Status::table_bad_terminator;
        bad.size = table.terminator;
        return bad;
    }
    return Outcome{};
}

}  // namespace fsst
