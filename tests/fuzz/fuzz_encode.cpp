// Text to codes: any table and any rows, the lanes of every instruction set against the plain matcher, each
// code the longest symbol that fits, and the codes read back to the text.
#include "encoder.hpp"
#include "input.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

constexpr size_t kMost = 16000;
constexpr size_t kMatched = 512;  // bytes at which the longest symbol is looked for the slow way

Interrupt never([](void*) { return false; }, nullptr);

// Each code of a row against all symbols of the table.
void check_longest(const SymbolTable& table, const Bytes& text, const uint8_t* codes, const uint8_t* end) {
    for (size_t at = 0; at < text.size();) {
        size_t longest = 0;
        for (size_t i = 0; i < table.count; i++) {
            const size_t length = table.length[i];
            if (length <= longest || length > text.size() - at) continue;
            if (load_up_to_8(text.data() + at, length) == table.symbol[i]) longest = length;
        }
        CHECK(codes < end);
        const uint8_t code = *codes++;
        if (longest == 0) {
            CHECK(code == kEscape && codes < end && *codes++ == text[at++]);
            continue;
        }
        CHECK(code < table.count && table.length[code] == longest);
        CHECK(load_up_to_8(text.data() + at, longest) == table.symbol[code]);
        at += longest;
    }
    CHECK(codes == end);
}

template <class Offset, class CodeOffset>
void check(const SymbolTable& table, const Layout& text) {
    const Column<Offset> column = text.column<Offset>();
    const Rows<Offset> rows = column.rows();
    Encoder encoder(table);
    const size_t bound = compress_bound(rows.total());
    Exact<uint8_t> want(bound);
    Exact<CodeOffset> want_ends(rows.count);
    const size_t size = plain::compress_rows(encoder.matcher(), rows, want.data(), want_ends.data(), never);
    CHECK(size <= bound && static_cast<size_t>(want_ends[rows.count - 1]) == size);

    size_t looked_at = 0;
    for (size_t i = 0; i < rows.count; i++) {
        const size_t start = i == 0 ? 0 : static_cast<size_t>(want_ends[i - 1]);
        const size_t end = static_cast<size_t>(want_ends[i]);
        CHECK(start <= end && end <= size);
        const Bytes row = text.row(i);
        const std::string read = text_of(table, want.data() + start, end - start);
        CHECK(Bytes(read.begin(), read.end()) == row);
        looked_at += row.size();
        if (looked_at <= kMatched) check_longest(table, row, want.data() + start, want.data() + end);
    }
    if (rows.total() < 512) return;  // the lanes are left alone then

    encoder.prepare(Encoder::kLaneBytes);
    const std::unique_ptr<LaneScratch> scratch(new LaneScratch);
    for (const Isa isa : isas()) {
        // The lanes know BMI2 or not, nothing else.
        if (isa == Isa::avx512) continue;
        Exact<uint8_t> codes(bound);
        Exact<CodeOffset> ends(rows.count);
        CHECK(compress_rows(encoder, rows, codes.data(), ends.data(), isa, scratch.get(), never) == size);
        CHECK(std::equal(codes.data(), codes.data() + size, want.data()));
        CHECK(ends.vector() == want_ends.vector());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    const SymbolTable table = take_table(input);
    const Layout text = take_rows(input, kMost);
    if (kind & 1) {
        check<int64_t, int64_t>(table, text);
    } else {
        check<int32_t, int32_t>(table, text);
    }
    return 0;
}
