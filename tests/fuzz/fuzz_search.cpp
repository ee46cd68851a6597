// Searches on codes: any table, codes, needle and pattern, each instruction set, against a search of the text
// that the codes stand for.
#include "input.hpp"
#include "search_column.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

constexpr size_t kMost = 3000;
constexpr size_t kMostLike = 300;  // bytes of text that LIKE is tried on the slow way

Interrupt never([](void*) { return false; }, nullptr);

bool bit(const uint8_t* bits, size_t row) {
    return (bits[row / 8] >> row % 8 & 1) != 0;
}

bool begins_character(char byte) {
    return (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
}

bool is_utf8(const std::string& text) {
    return valid_utf8(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// Whether text[at..] is like pattern[part..], by trying everything.
bool is_like_slowly(const std::vector<uint16_t>& pattern, const std::string& text, bool utf8) {
    std::vector<bool> from(text.size() + 1);
    from[text.size()] = true;
    for (size_t part = pattern.size(); part-- > 0;) {
        std::vector<bool> here(text.size() + 1);
        for (size_t at = text.size() + 1; at-- > 0;) {
            size_t next = at + 1;
            while (utf8 && next < text.size() && !begins_character(text[next])) next++;
            const bool more = at < text.size();
            if (pattern[part] == kAnything) {
                here[at] = from[at] || (more && here[next]);
            } else if (pattern[part] == kOneCharacter) {
                here[at] = more && from[next];
            } else {
                here[at] = more && static_cast<uint8_t>(text[at]) == pattern[part] && from[at + 1];
            }
        }
        from = here;
    }
    return from[0];
}

template <class Offset>
class Check {
 public:
    Check(const SymbolTable& symbols, const Layout& codes, bool ignore_case)
        : table_(symbols), column_(codes.column<Offset>()), rows_(column_.rows()), ignore_case_(ignore_case) {
        for (size_t row = 0; row < rows_.count; row++) {
            texts_.push_back(text_of(symbols, codes.begin(row), codes.size(row)));
            folded_.push_back(texts_.back());
            if (ignore_case) fold(folded_.back());
        }
    }

    void needle(const std::string& needle) {
        std::string wanted = needle;
        if (ignore_case_) fold(wanted);
        if (!needle.empty()) {
            for (const Isa isa : isas()) contains(needle, wanted, isa);
            locate(needle, wanted);
        }
        for (const Affix affix : {Affix::whole, Affix::prefix, Affix::suffix}) {
            std::vector<uint8_t> bits((rows_.count + 7) / 8);
            for (const Isa isa : isas()) {
                compare_column(table_, rows_, needle, affix, ignore_case_, bits.data(), isa, 1, never);
                for (size_t row = 0; row < rows_.count; row++) {
                    const std::string& text = folded_[row];
                    bool want = text == wanted;
                    if (affix == Affix::prefix) want = text.compare(0, wanted.size(), wanted) == 0;
                    if (affix == Affix::suffix) {
                        want = text.size() >= wanted.size() &&
                               text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
                    }
                    CHECK(bit(bits.data(), row) == want);
                }
            }
        }
    }

    void like(const std::vector<uint16_t>& pattern, bool utf8) {
        Exact<uint8_t> bits((rows_.count + 7) / 8);
        std::memset(bits.data(), 0xFF, bits.count);
        Exact<uint16_t> parts(pattern);
        const Outcome found = keep_like_rows(table_, rows_, parts.data(), pattern.size(), utf8, bits.data(),
                                             isas().back(), never);
        std::vector<int64_t> ends(rows_.count);
        const Outcome measured = plain::measure_rows(table_, rows_, ends.data());
        CHECK(found.ok() == measured.ok());
        if (!found.ok()) {
            CHECK(found.status == measured.status && found.row == measured.row &&
                  found.position == measured.position);
            return;
        }
        std::string letters;
        for (const uint16_t part : pattern) letters += part < 256 ? static_cast<char>(part) : 'a';
        size_t looked_at = 0;
        for (size_t row = 0; row < rows_.count && looked_at <= kMostLike; row++) {
            // Characters of what is not UTF-8 are whatever the code makes of them.
            if (utf8 && !(is_utf8(texts_[row]) && is_utf8(letters))) continue;
            looked_at += texts_[row].size() + 1;
            CHECK(bit(bits.data(), row) == is_like_slowly(pattern, texts_[row], utf8));
        }
    }

    void lengths() {
        std::vector<int64_t> ends(rows_.count);
        const Outcome measured = plain::measure_rows(table_, rows_, ends.data());
        for (const Isa isa : isas()) {
            Exact<int32_t> lengths(rows_.count);
            bool ascii = false;
            const Outcome found = byte_lengths(table_, rows_, lengths.data(), isa, ascii, never);
            CHECK(found.status == measured.status && found.row == measured.row &&
                  found.position == measured.position);
            if (!found.ok()) return;
            for (size_t row = 0; row < rows_.count; row++) {
                CHECK(lengths[row] == static_cast<int64_t>(texts_[row].size()));
                for (const char byte : texts_[row]) CHECK(!ascii || static_cast<uint8_t>(byte) < 0x80);
            }
        }
        Exact<int64_t> characters(rows_.count);
        character_lengths(table_, rows_, characters.data(), never);
        for (size_t row = 0; row < rows_.count; row++) {
            CHECK(characters[row] == std::count_if(texts_[row].begin(), texts_[row].end(), begins_character));
        }
    }

    // A piece of some row's text.
    std::string piece(size_t row, size_t at, size_t size) const {
        if (texts_.empty()) return {};
        const std::string& text = texts_[row % texts_.size()];
        return text.substr(at % (text.size() + 1), size);
    }

 private:
    void contains(const std::string& needle, const std::string& wanted, Isa isa) {
        bits_.assign((rows_.count + 7) / 8, 0);
        search_column(table_, rows_, needle, ignore_case_, bits_.data(), isa, 1, never);
        for (size_t row = 0; row < rows_.count; row++) {
            CHECK(bit(bits_.data(), row) == (folded_[row].find(wanted) != std::string::npos));
        }
    }

    void locate(const std::string& needle, const std::string& wanted) {
        Exact<int64_t> first(rows_.count), times(rows_.count);
        locate_column(table_, rows_, needle, ignore_case_, false, bits_.data(), first.data(), isas().back(),
                      1, never);
        locate_column(table_, rows_, needle, ignore_case_, true, bits_.data(), times.data(), isas().back(), 1,
                      never);
        for (size_t row = 0; row < rows_.count; row++) {
            const std::string& text = folded_[row];
            int64_t count = 0;
            for (size_t at = text.find(wanted); at != std::string::npos;
                 at = text.find(wanted, at + wanted.size())) {
                count++;
            }
            CHECK(times[row] == count);
            CHECK(first[row] == (count > 0 ? static_cast<int64_t>(text.find(wanted)) : -1));
        }
    }

    const DecodeTable table_;
    const Column<Offset> column_;
    const Rows<Offset> rows_;
    const bool ignore_case_;
    std::vector<std::string> texts_;
    std::vector<std::string> folded_;
    std::vector<uint8_t> bits_;
};

template <class Offset>
void run(const SymbolTable& symbols, const Layout& codes, bool ignore_case, bool utf8, Input picks,
         const std::vector<uint16_t>& pattern) {
    Check<Offset> check(symbols, codes, ignore_case);
    check.lengths();
    check.like(pattern, utf8);
    // The pattern's bytes as a needle, then pieces of the text.
    std::string needle;
    for (const uint16_t part : pattern) needle += static_cast<char>(part & 0xFF);
    check.needle(needle);
    for (size_t i = 0; i < 2; i++) {
        const size_t row = picks.byte();
        const size_t at = picks.byte();
        const uint8_t size = picks.byte();
        check.needle(check.piece(row, at, size < 128 ? size % 12 : size - 100u) +
                     (size % 16 == 15 ? "a" : ""));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    const SymbolTable symbols = take_table(input);
    const Bytes picks = input.take(6);
    std::vector<uint16_t> pattern;
    for (const uint8_t byte : input.take(input.byte() % 80)) {
        pattern.push_back(byte == '%' ? kAnything : byte == '_' ? kOneCharacter : byte);
    }
    Layout codes = take_rows(input, kMost);
    if (kind & 1) make_known(symbols, codes);
    const Input chosen(picks.data(), picks.size());
    if (kind & 2) {
        run<int64_t>(symbols, codes, (kind & 4) != 0, (kind & 8) != 0, chosen, pattern);
    } else {
        run<int32_t>(symbols, codes, (kind & 4) != 0, (kind & 8) != 0, chosen, pattern);
    }
    return 0;
}
