// Searching on codes against a naive search of the decoded text: random tables and needles, any parse, valid
// and corrupt codes, every instruction set. Buffers end exactly where their data ends.
#include "search_column.hpp"

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

std::mt19937_64 rng(20240611);

size_t below(size_t limit) {
    return static_cast<size_t>(rng() % limit);
}

std::vector<Isa> isas() {
    std::vector<Isa> all{Isa::baseline};
    if (detect_isa() >= Isa::avx2) all.push_back(Isa::avx2);
    if (detect_isa() >= Isa::avx512) all.push_back(Isa::avx512);
    return all;
}

// Few letters, so that symbols overlap, needles occur, and occur in themselves.
uint8_t letter(size_t kind) {
    static const uint8_t few[] = {'a', 'b', 'A', 0x00, 0xFF, 'c', 0xC3, 0xA9};
    return kind == 0 ? few[below(2)] : kind == 1 ? few[below(8)] : static_cast<uint8_t>(rng());
}

SymbolTable random_table(size_t kind, size_t count) {
    SymbolTable table;
    table.count = static_cast<uint32_t>(count);
    for (size_t i = 0; i < count; i++) {
        table.length[i] = static_cast<uint8_t>(1 + below(8));
        for (size_t k = 0; k < table.length[i]; k++) table.symbol[i] |= uint64_t{letter(kind)} << (8 * k);
    }
    return table;
}

struct Column {
    std::vector<uint8_t> data;
    std::vector<int32_t> offsets;
};

// `corrupt`: any bytes whatever.
Column random_column(const SymbolTable& table, size_t kind, size_t rows, size_t longest, size_t escapes,
                     bool corrupt, size_t lead) {
    Column column;
    for (size_t i = 0; i < lead; i++) column.data.push_back(static_cast<uint8_t>(below(2) ? 255 : rng()));
    column.offsets.push_back(static_cast<int32_t>(lead));
    for (size_t row = 0; row < rows; row++) {
        for (size_t n = below(longest + 1); n > 0; n--) {
            if (corrupt && below(3) == 0) {
                column.data.push_back(static_cast<uint8_t>(below(2) ? 255 : rng()));
            } else if (table.count == 0 || below(100) < escapes) {
                column.data.push_back(kEscape);
                column.data.push_back(letter(kind));
            } else {
                column.data.push_back(static_cast<uint8_t>(below(table.count)));
            }
        }
        column.offsets.push_back(static_cast<int32_t>(column.data.size()));
    }
    return column;
}

// What codes stand for where nothing stands for codes without a symbol, and for an escape at the end.
std::string text_of(const SymbolTable& table, const uint8_t* codes, size_t size) {
    std::string text;
    for (size_t at = 0; at < size; at++) {
        if (codes[at] == kEscape) {
            if (++at < size) text += static_cast<char>(codes[at]);
        } else if (codes[at] < table.count) {
            for (size_t k = 0; k < table.length[codes[at]]; k++) {
                text += static_cast<char>(table.symbol[codes[at]] >> (8 * k));
            }
        }
    }
    return text;
}

int64_t count_of(const std::string& text, const std::string& needle) {
    int64_t count = 0;
    for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + needle.size()))
        count++;
    return count;
}

Interrupt never([](void*) { return false; }, nullptr);

bool bit(const std::vector<uint8_t>& bits, size_t row) {
    return (bits[row / 8] >> row % 8 & 1) != 0;
}

void fail(const char* what, Isa isa, size_t row, const std::string& needle) {
    std::fprintf(stderr, "%s: isa %d, row %zu, needle of %zu bytes\n", what, static_cast<int>(isa), row,
                 needle.size());
    std::abort();
}

template <class Offset>
void compare(const SymbolTable& symbols, const Column& column, const std::string& needle, bool ignore_case) {
    const DecodeTable table(symbols);
    const size_t count = column.offsets.size() - 1;
    const size_t shift = below(64);
    const std::unique_ptr<uint8_t[]> memory(new uint8_t[column.data.size() + shift]);
    if (!column.data.empty()) std::memcpy(memory.get() + shift, column.data.data(), column.data.size());
    const std::unique_ptr<Offset[]> offsets(new Offset[count + 1]);
    std::copy(column.offsets.begin(), column.offsets.end(), offsets.get());
    const Rows<Offset> rows{memory.get() + shift, offsets.get(), count};

    std::vector<std::string> texts;
    for (size_t row = 0; row < count; row++) {
        texts.push_back(text_of(symbols, rows.data + rows.start(row), rows.size(row)));
        if (ignore_case) fold(texts.back());
    }
    std::string wanted = needle;
    if (ignore_case) fold(wanted);

    const size_t bytes = (count + 7) / 8;
    for (Isa isa : isas()) {
        for (size_t threads : {1, 3}) {
            std::vector<uint8_t> bits(bytes);
            if (!needle.empty()) {
                search_column(table, rows, needle, ignore_case, bits.data(), isa, threads, never);
                std::vector<int64_t> first(count), times(count);
                locate_column(table, rows, needle, ignore_case, false, bits.data(), first.data(), isa,
                              threads, never);
                locate_column(table, rows, needle, ignore_case, true, bits.data(), times.data(), isa, threads,
                              never);
                for (size_t row = 0; row < count; row++) {
                    const size_t at = texts[row].find(wanted);
                    if (bit(bits, row) != (at != std::string::npos)) fail("contains", isa, row, needle);
                    if (first[row] != (at == std::string::npos ? -1 : static_cast<int64_t>(at)))
                        fail("first", isa, row, needle);
                    if (times[row] != count_of(texts[row], wanted)) fail("count", isa, row, needle);
                }
            }
            for (Affix affix : {Affix::whole, Affix::prefix, Affix::suffix}) {
                bits.assign(bytes, 0);
                compare_column(table, rows, needle, affix, ignore_case, bits.data(), isa, threads, never);
                for (size_t row = 0; row < count; row++) {
                    const std::string& text = texts[row];
                    bool want = text == wanted;
                    if (affix == Affix::prefix) want = text.compare(0, wanted.size(), wanted) == 0;
                    if (affix == Affix::suffix) {
                        want = text.size() >= wanted.size() &&
                               text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
                    }
                    if (bit(bits, row) != want) fail("affix", isa, row, needle);
                }
            }
        }
        std::vector<int64_t> lengths(count);
        bool ascii;
        if (byte_lengths(table, rows, lengths.data(), isa, ascii, never).ok()) {
            for (size_t row = 0; row < count; row++) {
                assert(lengths[row] == static_cast<int64_t>(texts[row].size()));
                for (char byte : texts[row]) assert(!ascii || static_cast<uint8_t>(byte) < 0x80);
            }
        }
    }
}

void random_searches(size_t rounds) {
    for (size_t i = 0; i < rounds; i++) {
        const size_t kind = below(3);
        const size_t counts[] = {0, 1, 4, 30, 200, 255};
        const SymbolTable table = random_table(kind, counts[below(6)]);
        const size_t rows = below(4) ? below(100) : below(400);
        const size_t longest = below(4) ? below(20) : below(3000) / (rows / 20 + 1);
        const Column column = random_column(table, kind, rows, longest, below(3) ? below(5) : below(101),
                                            below(4) == 0, below(70));
        for (size_t n = 0; n < 6; n++) {
            std::string needle;
            const size_t size = below(3) ? below(5) : below(below(3) ? 20 : 120);
            if (below(2)) {
                while (needle.size() < size) needle += static_cast<char>(letter(kind));
            } else if (rows > 0) {
                // A piece of some row.
                const size_t row = below(rows);
                const size_t start = static_cast<size_t>(column.offsets[row]);
                const std::string text = text_of(table, column.data.data() + start,
                                                 static_cast<size_t>(column.offsets[row + 1]) - start);
                const size_t at = below(text.size() + 1);
                needle = below(4) ? text.substr(at, size) : below(2) ? text.substr(0, size) : text;
                if (below(6) == 0) needle += 'a';
            }
            if (below(2)) {
                compare<int32_t>(table, column, needle, below(4) == 0);
            } else {
                compare<int64_t>(table, column, needle, below(4) == 0);
            }
        }
    }
}

// Hostile rows must not take long: long runs of escapes or of codes without a symbol, all of them candidates.
void hostile_rows() {
    SymbolTable table;
    table.count = 1;
    table.length[0] = 1;
    table.symbol[0] = 0xFF;
    for (uint8_t byte : {uint8_t{255}, uint8_t{7}, uint8_t{0}}) {
        Column column;
        column.data.assign(400000, byte);
        column.offsets = {0, 400000};
        std::string needle(40, '\xFF');
        needle += 'x';
        compare<int32_t>(table, column, needle, false);
        column.data[200000] = 0;
        compare<int32_t>(table, column, needle, false);
    }
}

using Characters = std::vector<std::string>;

// Whether text[at..] is like pattern[part..]: by trying everything, character by character.
bool is_like_slowly(const Characters& pattern, size_t part, const Characters& text, size_t at) {
    if (part == pattern.size()) return at == text.size();
    if (pattern[part] == "%") {
        for (size_t next = at; next <= text.size(); next++) {
            if (is_like_slowly(pattern, part + 1, text, next)) return true;
        }
        return false;
    }
    return at < text.size() && (pattern[part] == "_" || pattern[part] == text[at]) &&
           is_like_slowly(pattern, part + 1, text, at + 1);
}

// All sequences of at most `most` of these.
std::vector<Characters> sequences(const Characters& parts, size_t most) {
    std::vector<Characters> all{{}};
    for (size_t at = 0; at < all.size() && all[at].size() < most; at++) {
        for (const std::string& part : parts) {
            all.push_back(all[at]);
            all.back().push_back(part);
        }
    }
    return all;
}

// Every pattern of at most five parts on every text of at most four characters, of which one has one to four
// bytes. Symbols are any pieces of the text: characters are cut wherever it happens.
void likes() {
    for (const std::string character : {"a", "\xC3\xA9", "\xD0\xAF", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        const std::string sample = character + "b" + character + character + "b";
        SymbolTable table;
        for (size_t n = 0; n < 6; n++) {
            const std::string symbol = sample.substr(below(sample.size()), 1 + below(8));
            table.symbol[table.count] =
                load_up_to_8(reinterpret_cast<const uint8_t*>(symbol.data()), symbol.size());
            table.length[table.count++] = static_cast<uint8_t>(symbol.size());
        }
        const DecodeTable decoder(table);
        const Encoder encoder(table);
        const std::vector<Characters> texts = sequences({character, "b"}, 4);
        Column column;
        column.offsets.push_back(0);
        for (const Characters& characters : texts) {
            std::string text;
            for (const std::string& each : characters) text += each;
            std::vector<uint8_t> codes(compress_bound(text.size()));
            codes.resize(compress_row(encoder.matcher(), reinterpret_cast<const uint8_t*>(text.data()),
                                      text.size(), codes.data()));
            column.data.insert(column.data.end(), codes.begin(), codes.end());
            column.offsets.push_back(static_cast<int32_t>(column.data.size()));
        }
        const Rows<int32_t> rows{column.data.data(), column.offsets.data(), texts.size()};
        for (const Characters& pattern : sequences({character, "b", "_", "%"}, 5)) {
            std::vector<uint16_t> parts;
            for (const std::string& part : pattern) {
                for (char byte : part) {
                    parts.push_back(byte == '_'   ? kOneCharacter
                                    : byte == '%' ? kAnything
                                                  : static_cast<uint8_t>(byte));
                }
            }
            std::vector<uint8_t> bits((texts.size() + 7) / 8, 0xFF);
            const Outcome found = keep_like_rows(decoder, rows, parts.data(), parts.size(), true, bits.data(),
                                                 isas().back(), never);
            assert(found.ok());
            for (size_t row = 0; row < texts.size(); row++)
                assert(bit(bits, row) == is_like_slowly(pattern, 0, texts[row], 0));
        }
    }
}

// Needles that are nowhere in the codes looked at first, so that the column is scanned, in long rows, of
// which only the codes about a candidate are read: spelled in any way, with any codes before and behind.
void rare_needles(size_t rounds) {
    for (size_t i = 0; i < rounds; i++) {
        std::string needle;
        for (size_t n = 2 + below(below(4) ? 6 : 60); n > 0; n--) needle += static_cast<char>('a' + below(3));
        needle[below(needle.size())] = 'z';
        SymbolTable table;
        for (size_t n = 0; n < 60; n++) {
            // Of common letters first, then pieces of the needle with something before or behind.
            std::string symbol;
            while (symbol.size() < 1 + n % 4) symbol += static_cast<char>('a' + below(3));
            if (n >= 30) symbol = (symbol + needle + symbol).substr(below(needle.size() + symbol.size()));
            symbol.resize(std::min<size_t>(symbol.size(), 1 + below(8)));
            table.symbol[table.count] =
                load_up_to_8(reinterpret_cast<const uint8_t*>(symbol.data()), symbol.size());
            table.length[table.count++] = static_cast<uint8_t>(symbol.size());
        }
        Column column;
        column.offsets.push_back(0);
        const size_t longest = 70 + below(400);
        for (size_t row = 0; row < 40; row++) {
            for (size_t n = below(longest); n > 0; n--)
                column.data.push_back(static_cast<uint8_t>(below(30)));
            if (row >= 20 && below(2)) {
                // Any parse: whatever symbol fits, or an escape. Now and then all but its last byte.
                const std::string text = below(4) ? needle : needle.substr(0, needle.size() - 1);
                for (size_t at = 0; at < text.size();) {
                    std::vector<uint8_t> fit;
                    for (uint32_t code = 0; code < table.count; code++) {
                        const uint8_t symbol[1] = {static_cast<uint8_t>(code)};
                        const std::string spelled = text_of(table, symbol, 1);
                        if (text.compare(at, spelled.size(), spelled) == 0) fit.push_back(symbol[0]);
                    }
                    if (fit.empty() || below(5) == 0) {
                        column.data.push_back(kEscape);
                        column.data.push_back(static_cast<uint8_t>(text[at++]));
                    } else {
                        column.data.push_back(fit[below(fit.size())]);
                        at += table.length[column.data.back()];
                    }
                }
                for (size_t n = below(90); n > 0; n--) column.data.push_back(static_cast<uint8_t>(below(30)));
            }
            column.offsets.push_back(static_cast<int32_t>(column.data.size()));
        }
        compare<int32_t>(table, column, needle, false);
    }
}

// One occurrence in a row, at each place of rows of each length, wherever they begin; in one code or in two.
void lone_occurrences(size_t rounds) {
    SymbolTable table;
    for (const char* symbol : {"a", "bc", "b", "c"}) {
        table.length[table.count] = static_cast<uint8_t>(std::strlen(symbol));
        table.symbol[table.count++] =
            load_up_to_8(reinterpret_cast<const uint8_t*>(symbol), std::strlen(symbol));
    }
    const std::string needles[] = {"b", "c", "bc", "bca", "abc"};
    for (size_t round = 0; round < rounds; round++) {
        Column column;
        column.offsets.push_back(0);
        for (size_t row = 0; row < 500; row++) {
            const size_t size = below(70);
            const size_t start = column.data.size();
            column.data.resize(start + size);
            if (size > 1 && below(2)) {
                // The ends are where something is left out.
                const size_t places[] = {0, size - 2, size - 1, below(size - 1)};
                const size_t at = start + places[below(4)];
                const bool two = at + 1 < start + size && below(2);
                column.data[at] = two ? 2 : 1;
                if (two) column.data[at + 1] = 3;
            }
            column.offsets.push_back(static_cast<int32_t>(column.data.size()));
        }
        compare<int32_t>(table, column, needles[round % 5], false);
        compare<int64_t>(table, column, needles[round % 5], false);
    }
}

// Lengths are found for some thousand rows at a time.
void many_rows() {
    SymbolTable table;
    table.count = 1;
    table.length[0] = 3;
    table.symbol[0] = 0x636261;
    const DecodeTable decoder(table);
    Column column;
    column.offsets.push_back(0);
    for (size_t row = 0; row < 10000; row++) {
        column.data.resize(column.data.size() + row % 3);
        column.offsets.push_back(static_cast<int32_t>(column.data.size()));
    }
    const Rows<int32_t> rows{column.data.data(), column.offsets.data(), 10000};
    for (Isa isa : isas()) {
        std::vector<int32_t> lengths(rows.count);
        bool ascii;
        assert(byte_lengths(decoder, rows, lengths.data(), isa, ascii, never).ok());
        for (size_t row = 0; row < rows.count; row++)
            assert(lengths[row] == static_cast<int32_t>(row % 3 * 3));
        for (size_t row : {size_t{1}, size_t{4094}, size_t{4096}, size_t{9998}}) {
            uint8_t& code = column.data[rows.start(row)];
            code = 1;
            const Outcome found = byte_lengths(decoder, rows, lengths.data(), isa, ascii, never);
            code = 0;
            assert(found.status == Status::code_unknown && found.row == static_cast<int64_t>(row));
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const size_t rounds = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 300;
    random_searches(rounds);
    hostile_rows();
    likes();
    rare_needles(rounds / 2);
    lone_occurrences(rounds / 6);
    many_rows();
    std::printf("search: all checks passed\n");
    return 0;
}
