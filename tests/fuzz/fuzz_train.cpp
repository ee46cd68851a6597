// Training on any text: the table is in order and keeps to its limit, does not depend on how the column is
// cut into arrays, compresses what it was trained on without loss, and on any number of threads to the same
// codes.
#include "input.hpp"
#include "parallel.hpp"
#include "train.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

constexpr size_t kMost = 4000;
constexpr size_t kTiled = 3 * kMinPartBytes + 1000;  // enough for three threads

Interrupt never([](void*) { return false; }, nullptr);

// The column as one array or as several, each with offsets of its own.
struct Pieces {
    std::vector<Column<int32_t>> narrow;
    std::vector<Column<int64_t>> wide;
    std::vector<ColumnPiece> pieces;

    Pieces(const Layout& text, size_t parts, bool is_wide) {
        for (size_t part = 0; part < parts; part++) {
            const size_t first = text.count() * part / parts, last = text.count() * (part + 1) / parts;
            Layout some;
            // Bytes before the first row belong to nobody and must not be looked at.
            some.data.assign(text.data.begin(), text.data.begin() + text.offsets[last]);
            some.offsets.assign(text.offsets.begin() + static_cast<int64_t>(first),
                                text.offsets.begin() + static_cast<int64_t>(last) + 1);
            narrow.push_back(some.column<int32_t>());
            wide.push_back(some.column<int64_t>());
        }
        for (size_t part = 0; part < parts; part++) {
            pieces.push_back(ColumnPiece{narrow[part].data.data(),
                                         is_wide ? static_cast<const void*>(wide[part].offsets.data())
                                                 : static_cast<const void*>(narrow[part].offsets.data()),
                                         narrow[part].offsets.count - 1, is_wide});
        }
    }
};

uint64_t big_endian(const SymbolTable& table, size_t i) {
    return byte_swap(table.symbol[i]);
}

void check_table(const SymbolTable& table, size_t limit) {
    CHECK(table.count <= kMaxSymbols);
    for (size_t i = 0; i < table.count; i++) {
        CHECK(table.length[i] >= 1 && table.length[i] <= kMaxSymbolLength);
        CHECK((table.symbol[i] & ~low_bytes(table.length[i])) == 0);
        // In order of length, then bytes, and so distinct.
        if (i > 0 && table.length[i - 1] == table.length[i]) {
            CHECK(big_endian(table, i - 1) < big_endian(table, i));
        }
        CHECK(i == 0 || table.length[i - 1] <= table.length[i]);
        size_t alike = 0;
        for (size_t k = 0; limit > 0 && table.length[i] >= 3 && k < table.count; k++) {
            alike += table.length[k] >= 3 && ((table.symbol[i] ^ table.symbol[k]) & low_bytes(3)) == 0;
        }
        CHECK(limit == 0 || alike <= limit);
    }
    Exact<uint8_t> room(kMaxTableBytes);
    CHECK(write_parquet(table, room.data()).ok());
}

void check_round_trip(const SymbolTable& symbols, const Layout& text, size_t most_threads) {
    const Column<int64_t> column = text.column<int64_t>();
    const Rows<int64_t> rows = column.rows();
    const DecodeTable table(symbols);
    Encoder encoder(symbols);
    encoder.prepare(rows.total());
    Bytes first;
    for (size_t threads = 1; threads <= most_threads; threads++) {
        Exact<uint8_t> codes(compress_bound(rows.total()));
        Exact<int64_t> offsets(rows.count + 1);
        size_t written = 0;
        offsets[0] = 0;
        CHECK(compress_column(encoder, rows, codes.data(), offsets.data() + 1, isas().back(), threads, never,
                              written));
        CHECK(written <= codes.count && offsets[rows.count] == static_cast<int64_t>(written));
        const Bytes all(codes.data(), codes.data() + written);
        CHECK(threads == 1 || all == first);
        first = all;

        const Rows<int64_t> compressed{codes.data(), offsets.data(), rows.count};
        Exact<int64_t> text_offsets(rows.count + 1);
        text_offsets[0] = 0;
        const Measured measured =
            measure_column(table, compressed, text_offsets.data() + 1, isas().back(), threads, never);
        CHECK(measured.outcome.ok() && measured.outcome.size == static_cast<int64_t>(rows.total()));
        Exact<uint8_t> read(rows.total());
        CHECK(decode_column(table, compressed, measured, text_offsets.data(), read.data(), false,
                            isas().back(), threads, never) == -1);
        CHECK(std::equal(read.data(), read.data() + read.count, rows.data + rows.start(0)));
        for (size_t i = 0; i <= rows.count; i++) {
            CHECK(text_offsets[i] == rows.offsets[i] - rows.offsets[0]);
        }
    }
}

// The rows again and again.
Layout tiled(const Layout& text) {
    Layout more = text;
    const size_t lead = static_cast<size_t>(text.offsets[0]);
    const size_t size = text.data.size() - lead;
    while (size > 0 && more.data.size() < kTiled) {
        const int64_t by = static_cast<int64_t>(more.data.size() - lead);
        more.data.insert(more.data.end(), text.data.begin() + text.offsets[0], text.data.end());
        for (size_t i = 1; i < text.offsets.size(); i++) more.offsets.push_back(text.offsets[i] + by);
    }
    return more;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    const Layout text = take_rows(input, kMost);
    const size_t parts = 2 + (kind >> 3 & 3);
    for (const Effort effort : {Effort::fast, Effort::normal}) {
        TrainOptions options;
        options.effort = effort;
        options.max_per_prefix = kind & 3;
        const SymbolTable table = train(Pieces(text, 1, (kind & 4) != 0).pieces, options);
        check_table(table, static_cast<size_t>(options.max_per_prefix));
        check_equal(train(Pieces(text, parts, (kind & 4) == 0).pieces, options), table);
        check_round_trip(table, text, 1);
        // Costs a hundred times as much as the rest, so few inputs do it.
        if (kind >= 0xF8 && effort == Effort::fast && text.data.size() > 200) {
            check_round_trip(table, tiled(text), 3);
        }
    }
    return 0;
}
