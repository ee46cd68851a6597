// Codes to text: any table and any codes, the kernels of every instruction set against the slow twin, which
// is held against a plain reading. The pass for sizes says what decoding writes, or both refuse at the same
// place.
#include "decompress.hpp"
#include "input.hpp"
#include "parallel.hpp"
#include "renumber.hpp"
#include "utf8.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

Interrupt never([](void*) { return false; }, nullptr);

constexpr size_t kMost = 4500;

// By the definition: text is UTF-8 if each character, written anew, is the bytes that were read.
bool is_utf8(const uint8_t* text, size_t size) {
    for (size_t at = 0; at < size;) {
        const uint8_t lead = text[at];
        const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (length > size - at) return false;
        uint32_t value = length == 1 ? lead : lead & (0xFFu >> (length + 1));
        for (size_t i = 1; i < length; i++) value = value << 6 | (text[at + i] & 0x3Fu);
        if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return false;
        uint8_t again[4] = {static_cast<uint8_t>(value)};
        size_t written = 1;
        if (value >= 0x80) {
            written = value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
            for (size_t i = written; i-- > 1; value >>= 6)
                again[i] = static_cast<uint8_t>(0x80 | (value & 0x3F));
            again[0] = static_cast<uint8_t>((0xF00u >> written & 0xFF) | value);
        }
        if (written != length || std::memcmp(again, text + at, length) != 0) return false;
        at += length;
    }
    return true;
}

template <class Offset, class TextOffset>
class Check {
 public:
    Check(const SymbolTable& symbols, const Layout& codes, const Bytes& picks)
        : symbols_(symbols), table_(symbols), codes_(codes), column_(codes.column<Offset>()), picks_(picks) {}

    void run() {
        measure();
        for (const Isa isa : isas()) decode_with(isa);
        single_rows();
        picked_rows();
        renumbered();
    }

 private:
    void measure() {
        const Rows<Offset> rows = column_.rows();
        Exact<TextOffset> ends(rows.count);
        want_ = plain::measure_rows(table_, rows, ends.data());
        ends_ = ends.vector();
        if (!want_.ok()) return;
        for (size_t i = 0; i < rows.count; i++) {
            const std::string text = text_of(symbols_, codes_.begin(i), codes_.size(i));
            CHECK(text_.size() + text.size() == static_cast<size_t>(ends_[i]));
            text_ += text;
        }
        Exact<uint8_t> text(static_cast<size_t>(want_.size));
        plain::decode(table_, codes_at_start(), rows.total(), text.data(), text.count);
        CHECK(text_.size() == text.count && std::equal(text_.begin(), text_.end(), text.data(), same_byte));
    }

    void decode_with(Isa isa) {
        const Rows<Offset> rows = column_.rows();
        Exact<TextOffset> ends(rows.count);
        Learned learned;
        check_same(measure_rows(table_, rows, ends.data(), isa, &learned), want_);
        Outcome total = want_;
        if (want_.status == Status::offsets_overflow) {
            total = Outcome{};
            total.size = want_.size;
        }
        check_same(measure_total(table_, rows, isa), total);
        if (!want_.ok()) {
            // Decoding never writes beyond the room it is told of, whatever the codes.
            for (const size_t room : {size_t{0}, rows.total(), 3 * rows.total() + 40}) {
                Exact<uint8_t> text(room);
                decode(table_, codes_at_start(), rows.total(), text.data(), room, isa);
            }
            return;
        }
        CHECK(ends.vector() == ends_);
        Exact<uint8_t> text(text_.size());
        decode(table_, codes_at_start(), rows.total(), text.data(), text.count, isa);
        CHECK(std::equal(text_.begin(), text_.end(), text.data(), same_byte));
        const bool ascii =
            std::all_of(text_.begin(), text_.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
        CHECK(!learned.ascii || ascii);
        CHECK(!table_.ascii || learned.ascii == ascii);

        Exact<TextOffset> offsets(rows.count + 1);
        offsets[0] = 0;
        std::copy(ends_.begin(), ends_.end(), offsets.data() + 1);
        int64_t invalid = -1;
        for (size_t i = rows.count; i-- > 0;) {
            const size_t start = static_cast<size_t>(offsets[i]);
            const size_t size = static_cast<size_t>(offsets[i + 1]) - start;
            const bool valid = is_utf8(text.data() + start, size);
            CHECK(valid_utf8(text.data() + start, size) == valid);
            if (!valid) invalid = static_cast<int64_t>(i);
        }
        CHECK(first_invalid_utf8(Rows<TextOffset>{text.data(), offsets.data(), rows.count}, isa) == invalid);
        Exact<uint8_t> checked(text_.size());
        CHECK(decode_part(table_, rows, offsets.data(), checked.data(), isa, true) == invalid);
    }

    void single_rows() {
        const Rows<Offset> rows = column_.rows();
        for (size_t k = 0; k < std::min<size_t>(rows.count, 24); k++) {
            const size_t row = k < 12 ? k : rows.count - 1 - (k - 12);
            Outcome want;
            const size_t size = plain::measure_row(table_, rows.data + rows.start(row), rows.size(row), want);
            Exact<uint8_t> text(decode_row_bound(rows.size(row)));
            const Outcome found = decode_row(table_, rows, row, text.data());
            if (want.ok()) {
                const std::string expected = text_of(symbols_, codes_.begin(row), codes_.size(row));
                CHECK(found.ok() && found.size == static_cast<int64_t>(size) && size == expected.size());
                CHECK(std::equal(expected.begin(), expected.end(), text.data(), same_byte));
            } else {
                want.row = static_cast<int64_t>(row);
                want.position += static_cast<int64_t>(rows.start(row));
                check_same(found, want);
            }
        }
    }

    void picked_rows() {
        const Rows<Offset> rows = column_.rows();
        Exact<int64_t> indices(picks_.size());
        for (size_t i = 0; i < picks_.size(); i++) {
            indices[i] = picks_[i] % 8 == 7 ? -1 : static_cast<int64_t>(picks_[i] * 5u % rows.count);
        }
        Outcome want;
        std::string text;
        std::vector<TextOffset> want_ends;
        size_t code_bytes = 0;
        for (size_t i = 0; i < indices.count; i++) {
            if (indices[i] >= 0) {
                const size_t row = static_cast<size_t>(indices[i]);
                code_bytes += rows.size(row);
                Outcome found;
                plain::measure_row(table_, rows.data + rows.start(row), rows.size(row), found);
                if (!found.ok() && want.ok()) {
                    want = found;
                    want.row = indices[i];
                    want.position += static_cast<int64_t>(rows.start(row));
                }
                text += text_of(symbols_, codes_.begin(row), codes_.size(row));
            }
            want_ends.push_back(static_cast<TextOffset>(text.size()));
        }
        if (want.ok()) {
            constexpr uint64_t limit = static_cast<uint64_t>(std::numeric_limits<TextOffset>::max());
            want.size = static_cast<int64_t>(text.size());
            if (text.size() > limit) {
                want.status = Status::offsets_overflow;
                want.limit = static_cast<int64_t>(limit);
            }
        }
        const Outcome picked = check_picked(rows, column_.data.count, indices.data(), indices.count, never);
        CHECK(picked.ok() && picked.size == static_cast<int64_t>(code_bytes));
        Exact<uint8_t> copied(code_bytes + kCopyRoom);
        Exact<int64_t> code_ends(indices.count);
        copy_picked(rows, indices.data(), indices.count, copied.data(), code_ends.data(), never);
        for (size_t i = 0, at = 0; i < indices.count; i++) {
            const Bytes codes = indices[i] < 0 ? Bytes{} : codes_.row(static_cast<size_t>(indices[i]));
            CHECK(std::equal(codes.begin(), codes.end(), copied.data() + at));
            at += codes.size();
            CHECK(code_ends[i] == static_cast<int64_t>(at));
        }

        Exact<TextOffset> ends(indices.count);
        check_same(measure_gather(table_, rows, indices.data(), indices.count, ends.data()), want);
        Exact<uint8_t> room(want.ok() ? text.size() : code_bytes);
        decode_gather(table_, rows, indices.data(), indices.count, room.data(), room.count);
        if (!want.ok()) return;
        CHECK(ends.vector() == want_ends);
        CHECK(std::equal(text.begin(), text.end(), room.data(), same_byte));
    }

    // The table's symbols in reverse: the text stays, or the first fault.
    void renumbered() {
        const Rows<Offset> rows = column_.rows();
        SymbolTable reversed;
        Exact<uint8_t> places(symbols_.count);
        reversed.count = symbols_.count;
        for (uint32_t i = 0; i < symbols_.count; i++) {
            const uint32_t place = symbols_.count - 1 - i;
            places[i] = static_cast<uint8_t>(place);
            reversed.symbol[place] = symbols_.symbol[i];
            reversed.length[place] = symbols_.length[i];
        }
        Exact<uint8_t> codes(rows.total());
        const Outcome found = renumber_rows(places.data(), symbols_.count, rows, codes.data());
        const bool good = want_.ok() || want_.status == Status::offsets_overflow;
        CHECK(found.ok() == good);
        if (good) {
            CHECK(!want_.ok() || text_of(reversed, codes.data(), codes.count) == text_);
        } else {
            CHECK(found.status == want_.status && found.row == want_.row && found.position == want_.position);
        }
    }

    static bool same_byte(char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }
    const uint8_t* codes_at_start() const { return column_.data.memory.get() + codes_.offsets[0]; }

    const SymbolTable& symbols_;
    const DecodeTable table_;
    const Layout& codes_;
    const Column<Offset> column_;
    const Bytes& picks_;
    Outcome want_;
    std::vector<TextOffset> ends_;
    std::string text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    const SymbolTable symbols = take_table(input);
    const Bytes picks = input.take(input.byte() % 64);
    Layout codes = take_rows(input, kMost);
    if (kind & 1) make_known(symbols, codes);
    switch (kind >> 1 & 3) {
        case 0:
            Check<int32_t, int32_t>(symbols, codes, picks).run();
            break;
        case 1:
            Check<int64_t, int64_t>(symbols, codes, picks).run();
            break;
        case 2:
            Check<int32_t, int16_t>(symbols, codes, picks).run();  // overflows
            break;
        default:
            Check<int64_t, int32_t>(symbols, codes, picks).run();
    }
    return 0;
}
