// How kernels report: a status and the numbers that the error message needs. No strings, no throwing.
#pragma once

#include <cstdint>

namespace fsst {

enum class Status : int32_t {
    ok = 0,
    // A table's serialized form.
    table_too_short,       // size: bytes there are, limit: bytes needed
    table_bad_version,     // size: the header word found
    table_bad_histogram,   // size: sum of the histogram, limit: symbol_count
    table_bad_size,        // size: bytes there are, limit: bytes that the histogram asks for
    table_bad_flag,        // size: the flag byte found
    table_bad_suffix_lim,  // size: the field found, limit: what the symbols ask for
    table_bad_terminator,  // size: the byte, which stands in a symbol of two bytes or more
    table_out_of_order,    // position: the first code that the format would number otherwise
    table_no_terminator,   // every byte value stands in a symbol of two bytes or more
    // Offsets and codes of a column.
    offset_negative,    // row, size: the offset
    offset_decreasing,  // row, size: the end offset, limit: the start offset
    offset_past_end,    // row, size: the offset, limit: bytes there are
    code_unknown,       // row, position: byte in the codes, size: the code, limit: symbols in the table
    escape_at_end,      // row, position: byte in the codes
    output_too_small,   // size: bytes needed, limit: bytes there are
    offsets_overflow,   // size: bytes needed, limit: what the offset type holds
    out_of_memory,      // size: bytes asked for
    // DELTA_BINARY_PACKED.
    delta_cut,             // position, size: bytes needed from there on, limit: bytes there are
    delta_bad_varint,      // position: an integer of more than 64 bits
    delta_bad_block,       // size: the block size
    delta_bad_miniblocks,  // size: miniblocks in a block, limit: the block size
    delta_bad_first,       // size: the first value, limit: bits that it may have
    delta_bad_width,       // row: first value of the miniblock, position, size: its width, limit: the widest
    delta_too_many,        // size: values declared, limit: those that `position` bytes are trusted with
    // A data page.
    page_too_short,         // size: bytes there are, limit: bytes of the header
    page_bad_encoding,      // size: offset_encoding
    page_bad_count,         // size: num_values, limit: what the caller says
    page_bad_offsets_size,  // size: offset_array_length, limit: bytes behind the header
    page_plain_size,        // size: offset_array_length, limit: bytes that num_values take
    page_delta_count,       // size: values in the offset array, limit: num_values
    page_delta_left,        // size: bytes that the offsets take, limit: offset_array_length
    page_codes_left,        // size: the last end offset, limit: bytes of the data section
    // Levels of a Parquet page.
    levels_cut,      // position: bytes there are, size: levels they hold, limit: levels needed
    level_too_high,  // size: the level, limit: the highest that the schema allows
};

struct Outcome {
    Status status = Status::ok;
    int64_t row = -1;
    int64_t position = -1;
    int64_t size = 0;
    int64_t limit = 0;

    bool ok() const noexcept { return status == Status::ok; }
};

}  // namespace fsst
