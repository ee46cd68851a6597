// Decoding against its slow twin: random tables, valid and corrupt codes, every instruction set. Buffers
// end exactly where their data ends, so that a sanitizer sees a read or write too far; canaries see it
// without one.
#include "decode.hpp"
#include "decompress_plain.hpp"
#include "gather.hpp"
#include "isa.hpp"
#include "measure.hpp"
#include "utf8.hpp"

#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace fsst;

namespace {

std::mt19937_64 rng(20240607);

size_t below(size_t limit) {
    return static_cast<size_t>(rng() % limit);
}

// Bytes whose allocation ends where they end. `shift` moves the start off alignment.
struct Exact {
    size_t shift;
    size_t size;
    std::unique_ptr<uint8_t[]> memory;

    explicit Exact(size_t bytes, size_t offset = 0)
        : shift(offset), size(bytes), memory(new uint8_t[bytes + offset]) {}
    explicit Exact(const std::vector<uint8_t>& from, size_t offset = 0) : Exact(from.size(), offset) {
        if (!from.empty()) std::memcpy(data(), from.data(), from.size());
    }
    uint8_t* data() { return memory.get() + shift; }
};

std::vector<Isa> isas() {
    std::vector<Isa> all{Isa::baseline};
    if (detect_isa() >= Isa::avx2) all.push_back(Isa::avx2);
    if (detect_isa() >= Isa::avx512) all.push_back(Isa::avx512);
    return all;
}

SymbolTable random_table(uint32_t count, bool ascii, size_t longest) {
    SymbolTable table;
    table.count = count;
    for (uint32_t i = 0; i < count; i++) {
        table.length[i] = static_cast<uint8_t>(1 + below(longest));
        uint64_t bytes = rng() & low_bytes(table.length[i]);
        if (ascii) bytes &= 0x7F7F7F7F7F7F7F7Fu;
        table.symbol[i] = bytes;
    }
    return table;
}

template <class Offset>
struct Codes {
    std::vector<uint8_t> data;
    std::vector<Offset> offsets;
};

// Rows of codes; `escapes` in 100 are escapes, `all_ff` makes their literals mostly 0xFF.
template <class Offset>
Codes<Offset> random_codes(const SymbolTable& table, size_t rows, size_t longest, size_t escapes, bool all_ff,
                           size_t lead) {
    Codes<Offset> codes;
    for (size_t i = 0; i < lead; i++) codes.data.push_back(static_cast<uint8_t>(rng()));
    codes.offsets.push_back(static_cast<Offset>(lead));
    for (size_t row = 0; row < rows; row++) {
        for (size_t n = below(longest + 1); n > 0; n--) {
            if (table.count == 0 || below(100) < escapes) {
                codes.data.push_back(kEscape);
                codes.data.push_back(all_ff && below(8) ? 255 : static_cast<uint8_t>(rng()));
            } else {
                codes.data.push_back(static_cast<uint8_t>(below(table.count)));
            }
        }
        codes.offsets.push_back(static_cast<Offset>(codes.data.size()));
    }
    return codes;
}

void same(const Outcome& a, const Outcome& b) {
    assert(a.status == b.status);
    assert(a.row == b.row);
    assert(a.position == b.position);
    assert(a.size == b.size);
    assert(a.limit == b.limit);
}

template <class Offset, class TextOffset>
void compare(const SymbolTable& symbols, const Codes<Offset>& codes) {
    const DecodeTable table(symbols);
    const size_t count = codes.offsets.size() - 1;
    Exact data(codes.data, below(64));
    const std::unique_ptr<Offset[]> offsets(new Offset[count + 1]);
    std::copy(codes.offsets.begin(), codes.offsets.end(), offsets.get());
    const Rows<Offset> rows{data.data(), offsets.get(), count};

    const std::unique_ptr<TextOffset[]> want_ends(new TextOffset[count]);
    const Outcome want = plain::measure_rows(table, rows, want_ends.get());
    std::vector<uint8_t> want_text;
    if (want.ok()) {
        want_text.resize(static_cast<size_t>(want.size));
        plain::decode(table, rows.data + rows.start(0), rows.total(), want_text.data(), want_text.size());
    }

    for (Isa isa : isas()) {
        const std::unique_ptr<TextOffset[]> ends(new TextOffset[count]);
        Learned learned;
        same(measure_rows(table, rows, ends.get(), isa, &learned), want);
        same(measure_total(table, rows, isa), want.status == Status::offsets_overflow ? [&] {
            Outcome total;
            total.size = want.size;
            return total;
        }()
                                                                                      : want);
        if (!want.ok()) {
            // Decoding is safe all the same, whatever the text size said.
            if (want.status != Status::offsets_overflow) {
                Exact text(below(8 * rows.total() + 9), below(64));
                decode(table, rows.data + rows.start(0), rows.total(), text.data(), text.size, isa);
            }
            continue;
        }
        for (size_t i = 0; i < count; i++) assert(ends[i] == want_ends[i]);
        Exact text(want_text.size(), below(64));
        decode(table, rows.data + rows.start(0), rows.total(), text.data(), text.size, isa);
        assert(want_text.empty() || std::memcmp(text.data(), want_text.data(), want_text.size()) == 0);
        bool ascii = true;
        for (uint8_t byte : want_text) ascii = ascii && byte < 0x80;
        if (learned.ascii) assert(ascii);
        if (table.ascii) assert(learned.ascii == ascii);
    }

    // Single rows and picked rows.
    std::vector<int64_t> indices;
    for (size_t i = below(2 * count + 2); i > 0 && count > 0; i--) {
        indices.push_back(below(10) ? static_cast<int64_t>(below(count)) : -1);
    }
    const std::unique_ptr<TextOffset[]> ends(new TextOffset[indices.size()]);
    const Outcome picked = measure_gather(table, rows, indices.data(), indices.size(), ends.get());
    Outcome first;
    size_t total = 0;
    for (size_t i = 0; i < indices.size() && first.ok(); i++) {
        if (indices[i] < 0) continue;
        const size_t row = static_cast<size_t>(indices[i]);
        Outcome found;
        const size_t size = plain::measure_row(table, rows.data + rows.start(row), rows.size(row), found);
        if (!found.ok()) {
            found.row = indices[i];
            found.position += static_cast<int64_t>(rows.start(row));
            first = found;
        }
        total += size;
        Exact one(decode_row_bound(rows.size(row)), below(8));
        const Outcome read = decode_row(table, rows, row, one.data());
        if (found.ok()) {
            assert(read.ok() && read.size == static_cast<int64_t>(size));
            std::vector<uint8_t> expected(size);
            plain::decode(table, rows.data + rows.start(row), rows.size(row), expected.data(), size);
            assert(size == 0 || std::memcmp(one.data(), expected.data(), size) == 0);
        } else {
            same(read, found);
        }
    }
    if (first.ok()) {
        first.size = static_cast<int64_t>(total);
        if (total > static_cast<uint64_t>(std::numeric_limits<TextOffset>::max())) {
            first.status = Status::offsets_overflow;
            first.limit = static_cast<int64_t>(std::numeric_limits<TextOffset>::max());
        }
    }
    same(picked, first);
    if (!picked.ok()) return;
    Exact text(total, below(64));
    decode_gather(table, rows, indices.data(), indices.size(), text.data(), total);
    size_t at = 0;
    for (size_t i = 0; i < indices.size(); i++) {
        if (indices[i] >= 0) {
            const size_t row = static_cast<size_t>(indices[i]);
            const size_t size = static_cast<size_t>(ends[i]) - at;
            std::vector<uint8_t> expected(size);
            plain::decode(table, rows.data + rows.start(row), rows.size(row), expected.data(), size);
            assert(size == 0 || std::memcmp(text.data() + at, expected.data(), size) == 0);
        }
        assert(static_cast<size_t>(ends[i]) >= at);
        at = static_cast<size_t>(ends[i]);
    }
    assert(at == total);
}

void random_columns(size_t rounds) {
    const uint32_t counts[] = {0, 1, 2, 127, 128, 129, 200, 254, 255};
    for (size_t i = 0; i < rounds; i++) {
        const uint32_t count = below(3) ? counts[below(9)] : static_cast<uint32_t>(below(256));
        const SymbolTable table = random_table(count, below(2) != 0, 1 + below(8));
        const size_t rows = below(4) ? below(300) : below(6);
        const size_t longest = below(4) ? below(40) : below(6000) / (rows / 10 + 1);
        const size_t escapes = below(3) ? below(3) : below(101);
        Codes<int32_t> codes = random_codes<int32_t>(table, rows, longest, escapes, below(3) == 0, below(70));
        compare<int32_t, int32_t>(table, codes);
        compare<int64_t, int64_t>(table, {codes.data, {codes.offsets.begin(), codes.offsets.end()}});
        compare<int32_t, int16_t>(table, codes);  // overflows often
        // Corrupt: other bytes, an escape at a row's end, other borders.
        for (size_t k = 0; k < 4 && !codes.data.empty(); k++) {
            Codes<int32_t> bad = codes;
            const size_t at = below(bad.data.size());
            const size_t row = below(bad.offsets.size());
            switch (k) {
                case 0:
                    bad.data[at] = static_cast<uint8_t>(rng());
                    break;
                case 1:
                    bad.data[at] = kEscape;
                    break;
                case 2:
                    if (bad.offsets[row] > 0) bad.data[static_cast<size_t>(bad.offsets[row]) - 1] = kEscape;
                    break;
                default:
                    for (auto& byte : bad.data) byte = below(20) ? byte : static_cast<uint8_t>(rng());
            }
            compare<int32_t, int32_t>(table, bad);
        }
        // The same bytes, cut into other rows: escapes fall on borders.
        Codes<int32_t> cut = codes;
        for (size_t k = 1; k + 1 < cut.offsets.size(); k++) {
            const int32_t low = cut.offsets[k - 1];
            const int32_t high = cut.offsets[k + 1];
            cut.offsets[k] = low + static_cast<int32_t>(below(static_cast<size_t>(high - low) + 1));
        }
        compare<int32_t, int32_t>(table, cut);
    }
}

// Every capacity beyond the exact one, canaries behind it.
void capacities() {
    for (size_t length = 1; length <= 8; length++) {
        SymbolTable symbols;
        symbols.count = 1;
        symbols.length[0] = static_cast<uint8_t>(length);
        symbols.symbol[0] = 0x4142434445464748u & low_bytes(length);
        const DecodeTable table(symbols);
        for (size_t count = 0; count < 100; count++) {
            for (size_t extra = 0; extra <= 40; extra++) {
                for (Isa isa : isas()) {
                    Exact codes(std::vector<uint8_t>(count, 0));
                    Exact text(count * length + extra + 16);
                    std::memset(text.data(), 0xA5, text.size);
                    decode(table, codes.data(), count, text.data(), count * length + extra, isa);
                    for (size_t i = 0; i < count * length; i++) {
                        assert(text.data()[i] ==
                               static_cast<uint8_t>(symbols.symbol[0] >> (8 * (i % length))));
                    }
                    for (size_t i = count * length + extra; i < text.size; i++)
                        assert(text.data()[i] == 0xA5);
                }
            }
        }
    }
}

// Faults at every position of a column: in and beside vectors, runs and rows.
void fault_places() {
    const SymbolTable symbols = random_table(100, true, 8);
    const DecodeTable table(symbols);
    const std::vector<uint8_t> good(4200, 7);
    const std::vector<int32_t> offsets{0,    0,    31,   32,   33,   64,   2047, 2048,
                                       2048, 2049, 2079, 2080, 4095, 4096, 4200};
    const Rows<int32_t> none{good.data(), offsets.data(), offsets.size() - 1};
    for (size_t at = 0; at < good.size(); at++) {
        for (uint8_t code : {99, 100, 254, 255}) {
            std::vector<uint8_t> bad = good;
            bad[at] = code;
            const Rows<int32_t> rows{bad.data(), offsets.data(), offsets.size() - 1};
            std::vector<int64_t> ends(rows.count), want(rows.count);
            const Outcome expected = plain::measure_rows(table, rows, want.data());
            for (Isa isa : isas()) {
                same(measure_rows(table, rows, ends.data(), isa), expected);
                if (expected.ok()) assert(ends == want);
            }
        }
    }
    (void)none;
    // The words of the issue: heap FF 41 42, offsets 0, 1, 3.
    const uint8_t heap[] = {0xFF, 0x41, 0x42};
    const int32_t borders[] = {0, 1, 3};
    const Rows<int32_t> rows{heap, borders, 2};
    int32_t ends[2];
    for (Isa isa : isas()) {
        const Outcome found = measure_rows(table, rows, ends, isa);
        assert(found.status == Status::escape_at_end && found.row == 0 && found.position == 0);
    }
}

std::string random_utf8(size_t size) {
    std::string text;
    const size_t kind = below(4);
    while (text.size() < size) {
        static const uint32_t edges[] = {0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
        uint32_t value = kind == 0  ? static_cast<uint32_t>(below(128))
                         : below(3) ? static_cast<uint32_t>(below(0x110000))
                                    : edges[below(9)];
        if (kind == 1 && below(8)) value &= 0x7F;
        if (value >= 0xD800 && value < 0xE000) continue;
        if (value < 0x80) {
            text += static_cast<char>(value);
        } else if (value < 0x800) {
            text += static_cast<char>(0xC0 | value >> 6);
            text += static_cast<char>(0x80 | (value & 63));
        } else if (value < 0x10000) {
            text += static_cast<char>(0xE0 | value >> 12);
            text += static_cast<char>(0x80 | (value >> 6 & 63));
            text += static_cast<char>(0x80 | (value & 63));
        } else {
            text += static_cast<char>(0xF0 | value >> 18);
            text += static_cast<char>(0x80 | (value >> 12 & 63));
            text += static_cast<char>(0x80 | (value >> 6 & 63));
            text += static_cast<char>(0x80 | (value & 63));
        }
    }
    return text;
}

void compare_utf8(const std::vector<uint8_t>& bytes, const std::vector<int32_t>& offsets) {
    Exact text(bytes, below(64));
    const Rows<int32_t> rows{text.data(), offsets.data(), offsets.size() - 1};
    int64_t want = -1;
    for (size_t row = 0; row < rows.count && want < 0; row++) {
        if (!valid_utf8(rows.data + rows.start(row), rows.size(row))) want = static_cast<int64_t>(row);
    }
    for (Isa isa : isas()) assert(first_invalid_utf8(rows, isa) == want);
}

void utf8(size_t rounds) {
    // Every three bytes, alone and with a byte of ASCII or a continuation behind: the table's whole space.
    for (uint32_t value = 0; value < 0x1000000; value += 1 + static_cast<uint32_t>(below(400))) {
        const std::vector<uint8_t> bytes{static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8),
                                         static_cast<uint8_t>(value), static_cast<uint8_t>(below(256))};
        compare_utf8(bytes, {0, 4});
        compare_utf8(bytes, {0, 3, 4});
    }
    for (size_t i = 0; i < rounds; i++) {
        std::vector<uint8_t> bytes;
        std::vector<int32_t> offsets{0};
        for (size_t row = below(20); row > 0; row--) {
            for (char c : random_utf8(below(60))) bytes.push_back(static_cast<uint8_t>(c));
            offsets.push_back(static_cast<int32_t>(bytes.size()));
        }
        compare_utf8(bytes, offsets);
        if (bytes.empty()) continue;
        for (size_t k = 0; k < 8; k++) {
            std::vector<uint8_t> bad = bytes;
            std::vector<int32_t> moved = offsets;
            bad[below(bad.size())] = static_cast<uint8_t>(rng());
            compare_utf8(bad, offsets);
            const size_t border = below(moved.size());
            if (border > 0 && moved[border] > moved[border - 1]) moved[border]--;
            compare_utf8(bytes, moved);
        }
    }
}

// What is no UTF-8, and what is, at every place of a text of ASCII: in and across the vectors and strides
// that are looked at together.
void utf8_places() {
    const std::string sequences[] = {"\xC3",
                                     "\xE2\x82",
                                     "\xF0\x9F\x98",
                                     "\x80",
                                     "\xC1\xBF",
                                     "\xE0\x9F\xBF",
                                     "\xED\xA0\x80",
                                     "\xF0\x8F\xBF\xBF",
                                     "\xF4\x90\x80\x80",
                                     "\xF5\x80\x80\x80",
                                     "\xC3\xA9",
                                     "\xF0\x9F\x98\x80"};
    for (const std::string& sequence : sequences) {
        for (size_t at = 0; at + sequence.size() <= 600; at++) {
            std::vector<uint8_t> bytes(600, 'a');
            std::copy(sequence.begin(), sequence.end(), bytes.begin() + static_cast<long>(at));
            compare_utf8(bytes, {0, 600});
            // The last bytes of a row, with rows of ASCII behind.
            const int32_t end = static_cast<int32_t>(at + sequence.size());
            compare_utf8(bytes, {0, end, end, 600, 600});
        }
    }
}

// Offsets that lie: each kind of them, in each place, is refused for what it is, and nothing else is.
template <class Offset>
void lying_offsets() {
    Interrupt never([](void*) { return false; }, nullptr);
    for (size_t round = 0; round < 20000; round++) {
        std::vector<Offset> offsets{static_cast<Offset>(below(3))};
        for (size_t rows = 1 + below(12); rows > 0; rows--)
            offsets.push_back(static_cast<Offset>(offsets.back() + static_cast<Offset>(below(4))));
        const size_t count = offsets.size() - 1;
        if (below(3) > 0) {
            offsets[below(offsets.size())] += static_cast<Offset>(static_cast<int>(below(9)) - 4);
        }
        const int64_t end = std::max<int64_t>(0, offsets.back() + static_cast<int64_t>(below(3)) - 1);
        bool good = offsets[0] >= 0 && offsets[count] <= end;
        for (size_t i = 0; i < count; i++) good = good && offsets[i] <= offsets[i + 1];
        const std::unique_ptr<Offset[]> exact(new Offset[count + 1]);
        std::copy(offsets.begin(), offsets.end(), exact.get());
        assert(check_offsets(exact.get(), count, static_cast<size_t>(end)).ok() == good);

        // Of picked rows only their own offsets count, and the last, which bounds them.
        const std::vector<uint8_t> codes(64);
        const int64_t last = offsets[count];
        bool picked_good = last >= 0 && last <= end;
        int64_t total = 0;
        std::vector<int64_t> indices;
        for (size_t i = below(4); i > 0; i--) {
            const int64_t row =
                static_cast<int64_t>(below(count + 2)) - 1 + static_cast<int64_t>(below(20) == 0);
            indices.push_back(row);
            if (row < 0 || !picked_good) continue;
            const size_t at = static_cast<size_t>(row);
            picked_good =
                at < count && offsets[at] >= 0 && offsets[at] <= offsets[at + 1] && offsets[at + 1] <= last;
            if (picked_good) total += offsets[at + 1] - offsets[at];
        }
        const Rows<Offset> rows{codes.data(), exact.get(), count};
        const Outcome found =
            check_picked(rows, static_cast<size_t>(end), indices.data(), indices.size(), never);
        assert(found.ok() == picked_good);
        assert(!picked_good || found.size == total);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const size_t rounds = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 400;
    random_columns(rounds);
    capacities();
    fault_places();
    utf8(4 * rounds);
    utf8_places();
    lying_offsets<int32_t>();
    lying_offsets<int64_t>();
    std::printf("decompress: all checks passed\n");
    return 0;
}
