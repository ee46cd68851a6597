// Every kernel with input and output that begin right behind, or end right before, a page that can't be
// touched: for every length from 0 to 600, every number of bytes from the end to that page from 0 to 63, and
// every instruction set that this processor has. Outputs are as large as each kernel's comment allows, and
// not a byte larger.
//
// Results are compared with the slow twins, whose own bounds are looked after in the same way.
#include <algorithm>
#include <memory>
#include <string>

#include "guarded.hpp"
#include "levels.hpp"
#include "page.hpp"
#include "renumber.hpp"
#include "search_column.hpp"
#include "train.hpp"
#include "usage.hpp"

using namespace fsst;

namespace {

constexpr size_t kLongest = 600;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kTailStep =
    21;  // a sanitizer is slow, and what it sees does not depend on where memory ends
#else
constexpr size_t kTailStep = 1;
#endif

struct Random {
    uint64_t state = 88172645463325252u;
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545F4914F6CDD1Du >> 16;
    }
    size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }
};
Random rng;
uint64_t runs = 0;

Interrupt never([](void*) { return false; }, nullptr);

std::vector<Isa> isas() {
    std::vector<Isa> all;
    for (Isa isa : {Isa::plain, Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (isa <= detect_isa()) all.push_back(isa);
    }
    return all;
}
const std::vector<Isa> kIsas = isas();

// Calls work(place) for each place.
template <class Work>
void at_places(const char* kernel, size_t length, const Work& work) {
    running.kernel = kernel;
    running.length = length;
    running.isa = Isa::plain;
    running.place = Place{true, 0};
    work(running.place);
    for (size_t tail = 0; tail < 64; tail += kTailStep) {
        running.place = Place{false, tail};
        work(running.place);
    }
}

template <class Work>
void with_isas(const Work& work) {
    for (Isa isa : kIsas) {
        running.isa = isa;
        runs++;
        work(isa);
    }
}

Guarded data_memory(2 << 20), offsets_memory(1 << 20), more_memory(4 << 20);
Guarded out_memory(4 << 20), ends_memory(1 << 20), scratch_memory(sizeof(LaneScratch));

// --- Tables ---

void add(SymbolTable& table, const std::string& symbol) {
    if (table.count == kMaxSymbols) return;
    table.symbol[table.count] = load_up_to_8(reinterpret_cast<const uint8_t*>(symbol.data()), symbol.size());
    table.length[table.count++] = static_cast<uint8_t>(symbol.size());
}

std::string letters(size_t size, char first, size_t of) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(first + static_cast<char>(rng.below(of)));
    return text;
}

enum Kind { some, eights, longs, none, all_bytes, singles, chain, kKinds };

SymbolTable make_table(Kind kind) {
    SymbolTable table;
    for (size_t i = 0; i < kMaxSymbols; i++) {
        if (kind == some && i < 200) add(table, letters(1 + i % 8, 'a', 3));
        if (kind == eights) add(table, letters(8, 'a', 20));
        // So that eight codes can end anywhere in the last word.
        if (kind == longs) add(table, letters(6 + i % 3, 'a', 20));
        // No byte value is free to be set aside.
        if (kind == all_bytes)
            add(table, {static_cast<char>(i), static_cast<char>(i + 1), static_cast<char>(i + 3)});
        if (kind == singles && i < 26) add(table, std::string(1, static_cast<char>('a' + i)));
        if (kind == chain && i < 48) add(table, std::string("abcabcab").substr(0, 1 + i % 8));
    }
    return table;
}

struct Tables {
    SymbolTable symbols;
    Guarded decoder_memory{sizeof(DecodeTable)}, lanes_memory{1 << 20};
    const DecodeTable* decoder;
    Encoder encoder;
    const LaneTable* lanes;

    explicit Tables(Kind kind) : symbols(make_table(kind)), encoder(symbols) {
        static_assert(sizeof(DecodeTable) % 64 == 0, "its end may be a page's");
        decoder = new (decoder_memory.room<DecodeTable>(1, Place{false, 0})) DecodeTable(symbols);
        encoder.prepare(Encoder::kLaneBytes);
        const LaneTablePtr built = LaneTableBuilder(symbols).build();
        CHECK(built != nullptr && encoder.lanes() != nullptr);
        uint8_t* const copy = lanes_memory.room<uint8_t>(built->bytes(), Place{false, 0});
        std::memcpy(copy, static_cast<const void*>(built.get()), built->bytes());
        lanes = reinterpret_cast<const LaneTable*>(copy);
    }
};

Tables& tables(size_t kind) {
    static std::unique_ptr<Tables> made[kKinds];
    if (!made[kind]) made[kind] = std::make_unique<Tables>(static_cast<Kind>(kind));
    return *made[kind];
}

// --- Rows ---

// Bytes cut into rows, of which the first begins at offset `lead`.
struct Cut {
    std::vector<uint8_t> bytes;
    std::vector<int32_t> narrow;
    std::vector<int64_t> wide;
    size_t count() const { return narrow.size() - 1; }

    void add_row(size_t end) {
        narrow.push_back(static_cast<int32_t>(lead + end));
        wide.push_back(static_cast<int64_t>(lead + end));
    }
    size_t lead = rng.below(3) * 5;
    Cut() { add_row(0); }

    std::vector<uint8_t> row(size_t i) const {
        return {bytes.begin() + (narrow[i] - narrow[0]), bytes.begin() + (narrow[i + 1] - narrow[0])};
    }

    template <class Offset>
    const std::vector<Offset>& offsets() const {
        if constexpr (sizeof(Offset) == 4) {
            return narrow;
        } else {
            return wide;
        }
    }

    template <class Offset>
    Rows<Offset> at(Place place) const {
        std::vector<uint8_t> all(lead, kEscape);
        all.insert(all.end(), bytes.begin(), bytes.end());
        return Rows<Offset>{data_memory.hold(all, place), offsets_memory.hold(offsets<Offset>(), place),
                            count()};
    }
};

// Rows of at most `longest` bytes, some of none; 0: all is one row.
void cut_rows(Cut& cut, size_t longest) {
    const size_t size = cut.bytes.size();
    size_t end = 0;
    while (longest > 0 && end < size) {
        end = std::min(size, end + rng.below(longest + 1));
        cut.add_row(end);
    }
    if (longest == 0 || rng.below(2)) cut.add_row(size);
}

std::vector<uint8_t> make_text(size_t kind, size_t size) {
    std::vector<uint8_t> text(size);
    for (uint8_t& byte : text) {
        switch (kind) {
            case some:
                byte = static_cast<uint8_t>('a' + rng.below(4));
                break;
            case eights:
            case longs:
            case singles:
                byte = static_cast<uint8_t>(rng.below(40) ? 'a' + rng.below(26) : rng.next());
                break;
            case chain:
                byte = static_cast<uint8_t>("abc"[(&byte - text.data()) % 3] + (rng.below(20) == 0));
                break;
            default:
                byte = static_cast<uint8_t>(rng.next());
        }
    }
    return text;
}

// `size` bytes of codes of which none is unknown and no row ends within an escape; rows as cut_rows, of
// `least` codes at least.
Cut make_codes(const SymbolTable& table, size_t size, size_t longest, size_t escapes, size_t least = 0) {
    Cut cut;
    const auto code = [&] {
        if (table.count == 0 || rng.below(100) < escapes) {
            cut.bytes.push_back(kEscape);
            cut.bytes.push_back(static_cast<uint8_t>(rng.below(3) ? 255 : rng.next()));
        } else {
            cut.bytes.push_back(static_cast<uint8_t>(rng.below(table.count)));
        }
    };
    while (cut.bytes.size() < size) {
        size_t n = longest ? least + rng.below(longest + 1 - least) : size;
        for (; n > 0 && cut.bytes.size() < size; n--) code();
        if (longest) cut.add_row(cut.bytes.size());
    }
    if (cut.bytes.size() > size) {
        // The last one was an escape: make it a code, or (an empty table) one literal less.
        cut.bytes.resize(size - 1);
        if (table.count > 0) cut.bytes.push_back(0);
        while (cut.count() > 0 && static_cast<size_t>(cut.narrow.back()) > cut.lead + cut.bytes.size()) {
            cut.narrow.pop_back();
            cut.wide.pop_back();
        }
    }
    if (static_cast<size_t>(cut.narrow.back()) != cut.lead + cut.bytes.size() || cut.count() == 0) {
        cut.add_row(cut.bytes.size());
    }
    return cut;
}

// Kernels take 64 rows at a time: of more, as many whole blocks as there are and at most one row behind them,
// so that the last block ends a few bytes before the codes do.
void keep_blocks(Cut& cut) {
    if (cut.count() < 64) return;
    const size_t rows = std::min(cut.count(), cut.count() / 64 * 64 + rng.below(2));
    cut.narrow.resize(rows + 1);
    cut.wide.resize(rows + 1);
    cut.bytes.resize(static_cast<size_t>(cut.narrow.back()) - cut.lead);
}

// What codes stand for where nothing stands for codes without a symbol, and for an escape at the end.
std::string text_of(const SymbolTable& table, const std::vector<uint8_t>& codes) {
    std::string text;
    for (size_t at = 0; at < codes.size(); at++) {
        if (codes[at] == kEscape) {
            if (++at < codes.size()) text += static_cast<char>(codes[at]);
        } else if (codes[at] < table.count) {
            for (size_t k = 0; k < table.length[codes[at]]; k++) {
                text += static_cast<char>(table.symbol[codes[at]] >> (8 * k) & 0xFF);
            }
        }
    }
    return text;
}

// --- Compressing ---

template <class Offset>
void check_compress(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    std::vector<uint8_t> want;
    std::vector<Offset> want_ends;
    for (size_t i = 0; i < cut.count(); i++) {
        const std::vector<uint8_t> row = cut.row(i);
        const size_t before = want.size();
        want.resize(before + compress_bound(row.size()));
        want.resize(before + compress_row(t.encoder.matcher(), row.data(), row.size(), want.data() + before));
        want_ends.push_back(static_cast<Offset>(want.size()));
    }
    at_places("compress_rows", length, [&](Place place) {
        const Rows<Offset> rows = cut.at<Offset>(place);
        with_isas([&](Isa isa) {
            uint8_t* const codes = out_memory.room<uint8_t>(compress_bound(cut.bytes.size()), place);
            Offset* const ends = ends_memory.room<Offset>(cut.count(), place);
            LaneScratch* const scratch = reinterpret_cast<LaneScratch*>(
                scratch_memory.room<uint64_t>(sizeof(LaneScratch) / sizeof(uint64_t), Place{false, 0}));
            const size_t size = compress_rows(t.encoder, rows, codes, ends, isa, scratch, never);
            CHECK(size == want.size() && std::equal(want.begin(), want.end(), codes));
            CHECK(std::equal(want_ends.begin(), want_ends.end(), ends));
            CHECK(out_memory.untouched() && ends_memory.untouched() && scratch_memory.untouched());
        });
    });
}

void check_compress_row(size_t kind, size_t length) {
    const Tables& t = tables(kind);
    const std::vector<uint8_t> text = make_text(kind, length);
    at_places("compress_row", length, [&](Place place) {
        const uint8_t* const from = data_memory.hold(text, place);
        uint8_t* const codes = out_memory.room<uint8_t>(compress_bound(length), place);
        runs++;
        const size_t size = compress_row(t.encoder.matcher(), from, length, codes);
        CHECK(out_memory.untouched());
        CHECK(text_of(t.symbols, {codes, codes + size}) == std::string(text.begin(), text.end()));
    });
}

// The lane kernel and its table by themselves: seven rows, each `length` bytes or a little less.
void check_lanes(size_t kind, size_t length) {
    const Tables& t = tables(kind);
    running.kernel = "run_lanes";
    running.length = length;
    with_isas([&](Isa isa) {
        LaneScratch* const scratch = reinterpret_cast<LaneScratch*>(
            scratch_memory.room<uint64_t>(sizeof(LaneScratch) / sizeof(uint64_t), Place{false, 0}));
        std::vector<uint8_t> rows[kLanes];
        for (size_t i = 0; i < kLanes; i++) {
            rows[i] = make_text(kind, length - std::min(length, i));
            for (uint8_t& byte : rows[i]) {
                while (byte == t.lanes->row_end || byte == t.lanes->lane_end) byte++;
            }
            std::copy(rows[i].begin(), rows[i].end(), scratch->lane[i].text);
            scratch->lane[i].text[rows[i].size()] = t.lanes->row_end;
            scratch->lane[i].text[rows[i].size() + 1] = t.lanes->lane_end;
            scratch->text_size[i] = rows[i].size() + 1;
        }
        run_lanes(t.lanes, scratch, isa);
        for (size_t i = 0; i < kLanes; i++) {
            std::vector<uint8_t> want(compress_bound(rows[i].size()));
            want.resize(compress_row(t.encoder.matcher(), rows[i].data(), rows[i].size(), want.data()));
            CHECK(scratch->code_size[i] == want.size());
            CHECK(std::equal(want.begin(), want.end(), scratch->lane[i].codes));
        }
        CHECK(scratch_memory.untouched());
    });
}

// --- Decompressing ---

template <class Offset, class TextOffset>
void check_decompress(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    const DecodeTable& table = *t.decoder;
    std::string want;
    std::vector<TextOffset> want_ends;
    for (size_t i = 0; i < cut.count(); i++) {
        want += text_of(t.symbols, cut.row(i));
        want_ends.push_back(static_cast<TextOffset>(want.size()));
    }
    at_places("measure_rows, decode", length, [&](Place place) {
        const Rows<Offset> rows = cut.at<Offset>(place);
        with_isas([&](Isa isa) {
            TextOffset* const ends = ends_memory.room<TextOffset>(cut.count(), place);
            const Outcome found = measure_rows(table, rows, ends, isa);
            CHECK(found.ok() && static_cast<size_t>(found.size) == want.size());
            CHECK(std::equal(want_ends.begin(), want_ends.end(), ends) && ends_memory.untouched());
            CHECK(measure_total(table, rows, isa).size == found.size);
            uint8_t* const text = out_memory.room<uint8_t>(want.size(), place);
            decode(table, rows.data + rows.start(0), rows.total(), text, want.size(), isa);
            CHECK(std::equal(want.begin(), want.end(), text,
                             [](char a, uint8_t b) { return uint8_t(a) == b; }));
            CHECK(out_memory.untouched());
            if (isa == Isa::plain) return;
            // Less room than the codes need: it is filled, no more.
            const size_t room = rng.below(want.size() + 1);
            uint8_t* const less = out_memory.room<uint8_t>(room, place);
            decode(table, rows.data + rows.start(0), rows.total(), less, room, isa);
            CHECK(std::memcmp(want.data(), less, room) == 0 && out_memory.untouched());
        });
    });
}

void check_renumber(size_t kind, const Cut& cut, size_t length) {
    const uint32_t symbols = tables(kind).symbols.count;
    std::vector<uint8_t> places(symbols);
    for (uint32_t i = 0; i < symbols; i++) places[i] = static_cast<uint8_t>(symbols - 1 - i);
    at_places("renumber_rows", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        const uint8_t* const to = more_memory.hold(places, place);
        runs++;
        uint8_t* const out = out_memory.room<uint8_t>(cut.bytes.size(), place);
        CHECK(renumber_rows(to, symbols, rows, out).ok() && out_memory.untouched());
        const std::vector<uint8_t> renumbered(out, out + cut.bytes.size());
        // There and back.
        const Rows<int32_t> again{data_memory.hold(renumbered, place) - cut.lead, rows.offsets, rows.count};
        CHECK(renumber_rows(to, symbols, again, out).ok());
        CHECK(std::equal(cut.bytes.begin(), cut.bytes.end(), out) && out_memory.untouched());
        if (length == 0) return;
        // The last row ends within an escape.
        std::vector<uint8_t> bad = renumbered;
        bad.back() = kEscape;
        const Rows<int32_t> wrong{data_memory.hold(bad, place) - cut.lead, rows.offsets, rows.count};
        renumber_rows(to, symbols, wrong, out);
        CHECK(out_memory.untouched());
    });
}

// Codes that are wrong, and a text size that is too small for them: an outcome, and nothing beyond the ends.
void check_corrupt(size_t kind, size_t length) {
    const DecodeTable& table = *tables(kind).decoder;
    Cut cut;
    cut.bytes = make_text(all_bytes, length);
    for (uint8_t& byte : cut.bytes) byte = rng.below(3) ? byte : kEscape;
    cut_rows(cut, 1 + rng.below(40));
    at_places("corrupt codes", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        Outcome want;
        with_isas([&](Isa isa) {
            int32_t* const ends = ends_memory.room<int32_t>(cut.count(), place);
            const Outcome found = measure_rows(table, rows, ends, isa);
            if (isa == Isa::plain) want = found;
            CHECK(found.status == want.status && found.row == want.row && found.position == want.position);
            CHECK(measure_total(table, rows, isa).status == want.status);
            CHECK(ends_memory.untouched());
            if (isa == Isa::plain) return;  // its codes must have been measured
            const size_t room = rng.below(4 * length + 1);
            uint8_t* const text = out_memory.room<uint8_t>(room, place);
            decode(table, rows.data + rows.start(0), rows.total(), text, room, isa);
            CHECK(out_memory.untouched());
        });
        for (size_t row = 0; row < std::min<size_t>(cut.count(), 4); row++) {
            uint8_t* const text = out_memory.room<uint8_t>(decode_row_bound(rows.size(row)), place);
            decode_row(table, rows, row, text);
            CHECK(out_memory.untouched());
        }
    });
}

void check_picked_rows(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    const DecodeTable& table = *t.decoder;
    std::vector<int64_t> indices(rng.below(20));
    std::string want;
    std::vector<int64_t> want_ends;
    size_t want_codes = 0;
    for (int64_t& index : indices) {
        index = static_cast<int64_t>(rng.below(cut.count() + 1)) - 1;
        if (index >= 0) {
            want += text_of(t.symbols, cut.row(static_cast<size_t>(index)));
            want_codes += cut.row(static_cast<size_t>(index)).size();
        }
        want_ends.push_back(static_cast<int64_t>(want.size()));
    }
    const std::string one = text_of(t.symbols, cut.row(cut.count() - 1));
    at_places("gather", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        const int64_t* const picks = more_memory.hold(indices, place);
        const size_t count = indices.size();
        runs++;
        int64_t* const ends = ends_memory.room<int64_t>(count, place);
        const Outcome found = measure_gather(table, rows, picks, count, ends);
        CHECK(found.ok() && static_cast<size_t>(found.size) == want.size());
        CHECK(std::equal(want_ends.begin(), want_ends.end(), ends) && ends_memory.untouched());
        uint8_t* const text = out_memory.room<uint8_t>(want.size(), place);
        decode_gather(table, rows, picks, count, text, want.size());
        CHECK(std::memcmp(want.data(), text, want.size()) == 0 && out_memory.untouched());

        const Outcome picked = check_picked(rows, cut.lead + cut.bytes.size(), picks, count, never);
        CHECK(picked.ok() && static_cast<size_t>(picked.size) == want_codes);
        int64_t* const copied = ends_memory.room<int64_t>(count, place);
        copy_picked(rows, picks, count, out_memory.room<uint8_t>(want_codes + kCopyRoom, place), copied,
                    never);
        CHECK((count == 0 || static_cast<size_t>(copied[count - 1]) == want_codes) &&
              ends_memory.untouched());
        CHECK(out_memory.untouched());

        const size_t last = cut.count() - 1;
        uint8_t* const row = out_memory.room<uint8_t>(decode_row_bound(rows.size(last)), place);
        CHECK(static_cast<size_t>(decode_row(table, rows, last, row).size) == one.size());
        CHECK(std::memcmp(one.data(), row, one.size()) == 0 && out_memory.untouched());
    });
}

void check_lengths(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    std::vector<int32_t> bytes, characters;
    std::vector<uint64_t> uses(256);
    for (size_t i = 0; i < cut.count(); i++) {
        const std::string text = text_of(t.symbols, cut.row(i));
        bytes.push_back(static_cast<int32_t>(text.size()));
        characters.push_back(static_cast<int32_t>(
            std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; })));
        const std::vector<uint8_t> codes = cut.row(i);
        for (size_t at = 0; at < codes.size(); at += codes[at] == kEscape ? 2 : 1) uses[codes[at]]++;
    }
    at_places("lengths", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        with_isas([&](Isa isa) {
            bool ascii;
            int32_t* const lengths = ends_memory.room<int32_t>(cut.count(), place);
            CHECK(byte_lengths(*t.decoder, rows, lengths, isa, ascii, never).ok());
            CHECK(std::equal(bytes.begin(), bytes.end(), lengths) && ends_memory.untouched());
        });
        int32_t* const lengths = ends_memory.room<int32_t>(cut.count(), place);
        character_lengths(*t.decoder, rows, lengths, never);
        CHECK(std::equal(characters.begin(), characters.end(), lengths) && ends_memory.untouched());
        uint64_t* const counted = ends_memory.room<uint64_t>(256, place, 0);
        count_codes(rows, counted, never);
        CHECK(std::equal(uses.begin(), uses.end(), counted) && ends_memory.untouched());
    });
}

void check_utf8(size_t length) {
    static const std::string characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "b", "c"};
    const size_t kind = rng.below(4);
    Cut cut;
    while (cut.bytes.size() < length) {
        const std::string& next = characters[kind == 0 ? 0 : rng.below(kind == 1 ? 60 : 6) % 6];
        cut.bytes.insert(cut.bytes.end(), next.begin(), next.end());
        while (rng.below(8) == 0 && cut.bytes.size() < length) cut.add_row(cut.bytes.size());
    }
    cut.bytes.resize(length);  // which may cut a character
    if (kind == 3 && length > 0) cut.bytes[rng.below(length)] = static_cast<uint8_t>(rng.next());
    cut.add_row(length);
    while (rng.below(3) == 0) cut.add_row(length);  // empty ones, behind the last byte
    int64_t want = -1;
    for (size_t i = cut.count(); i-- > 0;) {
        if (!valid_utf8(cut.row(i).data(), cut.row(i).size())) want = static_cast<int64_t>(i);
    }
    at_places("first_invalid_utf8", length, [&](Place place) {
        const Rows<int64_t> rows = cut.at<int64_t>(place);
        with_isas([&](Isa isa) { CHECK(first_invalid_utf8(rows, isa) == want); });
    });
}

// --- Searching ---

std::vector<uint8_t> some_needle(const SymbolTable& table, const Cut& cut) {
    const std::string text = text_of(table, cut.row(rng.below(cut.count())));
    // What rows begin with now and then: it may be what nearly all begin with.
    if (rng.below(4) == 0 && !text.empty()) return {static_cast<uint8_t>(text[0])};
    const size_t at = rng.below(text.size());
    std::string needle = text.substr(at, 1 + rng.below(rng.below(3) ? 6 : 70));
    if (needle.empty() || rng.below(4) == 0) needle += letters(1 + rng.below(3), 'a', 4);
    return {needle.begin(), needle.end()};
}

template <class Is>
std::vector<uint8_t> bits_of(const SymbolTable& table, const Cut& cut, const Is& is) {
    std::vector<uint8_t> bits((cut.count() + 7) / 8);
    for (size_t i = 0; i < cut.count(); i++) {
        bits[i / 8] |= static_cast<uint8_t>(is(text_of(table, cut.row(i))) << i % 8);
    }
    return bits;
}

template <class Offset>
void check_search(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    const std::vector<uint8_t> bytes = some_needle(t.symbols, cut);
    const std::string needle_text(bytes.begin(), bytes.end());
    const auto want = bits_of(t.symbols, cut,
                              [&](const std::string& s) { return s.find(needle_text) != std::string::npos; });
    const size_t last = cut.count() - 1;
    const std::string last_text = text_of(t.symbols, cut.row(last));
    at_places("match_rows", length, [&](Place place) {
        const Rows<Offset> rows = cut.at<Offset>(place);
        const uint8_t* const readable = rows.data + rows.start(cut.count());
        const uint8_t* const text = more_memory.hold(bytes, place);
        with_isas([&](Isa isa) {
            Needle needle(*t.decoder, text, bytes.size(), isa);
            needle.make_fallback();
            uint8_t* const bits = ends_memory.room<uint8_t>(want.size(), place, 0);
            match_rows(needle, rows, bits, isa, never);
            CHECK(std::equal(want.begin(), want.end(), bits) && ends_memory.untouched());
            const uint8_t* const codes = rows.data + rows.start(last);
            const Occurrences seen = walk_text(needle, codes, rows.size(last), false, never);
            CHECK((seen.first >= 0 ? static_cast<size_t>(seen.first) : std::string::npos) ==
                  last_text.find(needle_text));
            CHECK(contains(needle, codes, rows.size(last), readable, never) == (seen.count > 0));
        });
    });
}

template <Affix kAffix>
void check_affix(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    std::string text = text_of(t.symbols, cut.row(rng.below(cut.count())));
    if (kAffix == Affix::prefix) text = text.substr(0, rng.below(12));
    if (kAffix == Affix::suffix) text = text.substr(text.size() - std::min(text.size(), rng.below(12)));
    const auto want = bits_of(t.symbols, cut, [&](const std::string& s) {
        if (kAffix == Affix::whole) return s == text;
        if (s.size() < text.size()) return false;
        return s.compare(kAffix == Affix::prefix ? 0 : s.size() - text.size(), text.size(), text) == 0;
    });
    at_places("compare_column", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        with_isas([&](Isa isa) {
            uint8_t* const bits = ends_memory.room<uint8_t>(want.size(), place);
            CHECK(compare_column(*t.decoder, rows, text, kAffix, false, bits, isa, 1, never));
            CHECK(std::equal(want.begin(), want.end(), bits) && ends_memory.untouched());
        });
    });
}

void check_like(size_t kind, const Cut& cut, size_t length) {
    const Tables& t = tables(kind);
    const std::vector<uint8_t> piece = some_needle(t.symbols, cut);
    // %piece_%
    std::vector<uint16_t> pattern{kAnything};
    pattern.insert(pattern.end(), piece.begin(), piece.end());
    pattern.push_back(kOneCharacter);
    pattern.push_back(kAnything);
    const std::string text(piece.begin(), piece.end());
    const auto want = bits_of(t.symbols, cut, [&](const std::string& s) {
        const size_t at = s.find(text);
        return at != std::string::npos && at + text.size() < s.size();
    });
    const std::string whole = text_of(t.symbols, cut.bytes);
    at_places("like", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        const uint16_t* const parts = more_memory.hold(pattern, place);
        runs++;
        uint8_t* const bits = ends_memory.room<uint8_t>(want.size(), place, 0xFF);
        const Isa isa = kIsas.back();
        CHECK(keep_like_rows(*t.decoder, rows, parts, pattern.size(), false, bits, isa, never).ok());
        for (size_t i = 0; i < cut.count(); i++)
            CHECK((bits[i / 8] >> i % 8 & 1) == (want[i / 8] >> i % 8 & 1));
        CHECK(ends_memory.untouched());
        const uint8_t* const plain = out_memory.hold(
            std::vector<uint8_t>(whole.begin(), whole.begin() + std::min(whole.size(), length)), place);
        is_like(parts, pattern.size(), plain, std::min(whole.size(), length), true, never);
    });
}

// Searches of many short rows.
void check_searches(size_t kind, const Cut& cut, size_t length) {
    check_search<int32_t>(kind, cut, length);
    check_search<int64_t>(kind, cut, length);
    check_affix<Affix::whole>(kind, cut, length);
    check_affix<Affix::prefix>(kind, cut, length);
    check_affix<Affix::suffix>(kind, cut, length);
}

// --- Integers, pages, levels ---

template <class Int>
void check_delta(size_t length) {
    std::vector<Int> values(length);
    const unsigned width = static_cast<unsigned>(rng.below(8 * sizeof(Int)));
    for (Int& value : values) value = static_cast<Int>(rng.next() << 16 ^ rng.next()) >> width;
    std::vector<uint8_t> encoded(delta_bound(length, sizeof(Int)));
    encoded.resize(encode_delta<Int>(ArrayValues<Int>{values.data()}, length, encoded.data()));
    at_places("delta", length, [&](Place place) {
        const ArrayValues<Int> from{offsets_memory.hold(values, place)};
        runs++;
        CHECK(delta_size<Int>(from, length) == encoded.size());
        uint8_t* const out = out_memory.room<uint8_t>(encoded.size(), place);
        CHECK(encode_delta<Int>(from, length, out) == encoded.size());
        CHECK(std::equal(encoded.begin(), encoded.end(), out) && out_memory.untouched());
        const uint8_t* const data = data_memory.hold(encoded, place);
        DeltaHeader header;
        CHECK(parse_delta<Int>(data, encoded.size(), header).ok() && header.count == length);
        Int* const back = ends_memory.room<Int>(length, place);
        CHECK(decode_delta<Int>(data, encoded.size(), header, back).ok());
        CHECK(std::equal(values.begin(), values.end(), back) && ends_memory.untouched());
        // Cut somewhere: an error, unless what is missing is not needed.
        const std::vector<uint8_t> cut(encoded.begin(),
                                       encoded.begin() + static_cast<long>(rng.below(encoded.size())));
        const uint8_t* const short_data = data_memory.hold(cut, place);
        if (!parse_delta<Int>(short_data, cut.size(), header).ok()) return;
        CHECK(!decode_delta<Int>(short_data, cut.size(), header, ends_memory.room<Int>(length, place)).ok());
        CHECK(ends_memory.untouched());
    });
}

// A page's offsets added to others, and those of some values alone. The rows are not needed any more.
void check_picked_values(const Page& parsed, const Cut& cut, Place place) {
    const auto end = [&](size_t i) { return cut.narrow[i] - cut.narrow[0]; };
    Page page = parsed;
    // Nothing behind the offsets.
    page.offsets =
        data_memory.hold(std::vector<uint8_t>(parsed.offsets, parsed.offsets + parsed.offsets_size), place);
    const size_t count = parsed.count;
    std::vector<int64_t> positions;
    for (size_t i = rng.below(40); i < count; i += 1 + rng.below(80)) {
        positions.push_back(static_cast<int64_t>(i));
    }
    const int64_t* const picks = offsets_memory.hold(positions, place);
    const size_t picked = positions.size();
    for (const bool fast : {false, true}) {
        runs++;
        int32_t* const scratch = scratch_memory.room<int32_t>(count + 1, place);
        int32_t* const starts = out_memory.room<int32_t>(picked, place);
        int32_t* const ends = ends_memory.room<int32_t>(picked, place);
        CHECK(pick_page_rows(page, picks, picked, fast, scratch, starts, ends).ok());
        for (size_t i = 0; i < picked; i++) {
            const size_t row = static_cast<size_t>(positions[i]);
            CHECK(starts[i] == end(row) && ends[i] == end(row + 1));
        }
        CHECK(scratch_memory.untouched() && out_memory.untouched() && ends_memory.untouched());
    }
    int32_t* const narrow = ends_memory.room<int32_t>(count + 1, place);
    narrow[0] = 1000;
    CHECK(append_page_offsets(page, narrow, nullptr).ok() && ends_memory.untouched());
    int64_t* const wide = out_memory.room<int64_t>(count + 1, place);
    wide[0] = 1000;
    CHECK(append_page_offsets(page, wide, scratch_memory.room<int32_t>(count + 1, place)).ok());
    CHECK(out_memory.untouched() && scratch_memory.untouched());
    for (size_t i = 0; i <= count; i++) CHECK(narrow[i] == 1000 + end(i) && wide[i] == 1000 + end(i));
}

// As many values as `length` bytes of codes happen to have.
template <class Offset>
void check_page(const Cut& cut, size_t length) {
    at_places("page", length, [&](Place place) {
        const Rows<Offset> rows = cut.at<Offset>(place);
        for (PageLayout layout : {PageLayout::delta_length, PageLayout::fsst}) {
            runs++;
            const PagePlan plan = plan_page(rows, layout, SIZE_MAX);
            CHECK(plan.count == cut.count());
            uint8_t* const out = out_memory.room<uint8_t>(plan.size, place);
            write_page(rows, layout, plan, out);
            CHECK(out_memory.untouched());
            if (layout != PageLayout::fsst) continue;
            std::vector<uint8_t> page(out, out + plan.size);
            const bool whole = rng.below(2) == 0;
            if (!whole) page.resize(rng.below(page.size()));
            const uint8_t* const data = more_memory.hold(page, place);
            Page parsed;
            const bool good = parse_page(data, page.size(), cut.count(), parsed).ok();
            CHECK(good || !whole);
            if (!good) continue;
            int32_t* const offsets = ends_memory.room<int32_t>(parsed.count + 1, place);
            CHECK(read_page_offsets(parsed, offsets).ok() == whole && ends_memory.untouched());
            if (!whole) continue;
            for (size_t i = 0; i <= cut.count(); i++) CHECK(offsets[i] == cut.narrow[i] - cut.narrow[0]);
            check_picked_values(parsed, cut, place);
        }
    });
}

void check_level_runs(size_t length) {
    const unsigned width = static_cast<unsigned>(1 + rng.below(8));
    std::vector<uint8_t> levels(length);
    for (size_t i = 0; i < length; i++) {
        levels[i] =
            i > 0 && rng.below(8) ? levels[i - 1] : static_cast<uint8_t>(rng.below(size_t{1} << width));
    }
    at_places("levels", length, [&](Place place) {
        runs++;
        uint8_t* const out = out_memory.room<uint8_t>(levels_bound(length, width), place);
        const size_t size = encode_levels(data_memory.hold(levels, place), length, width, out);
        CHECK(out_memory.untouched());
        const std::vector<uint8_t> encoded(out, out + size);
        const uint8_t* const data = more_memory.hold(encoded, place);
        CHECK(check_levels(data, size, width, length).ok());
        uint8_t* const back = ends_memory.room<uint8_t>(length, place);
        CHECK(decode_levels(data, size, width, 255, back, length).ok());
        CHECK(std::equal(levels.begin(), levels.end(), back) && ends_memory.untouched());
        const std::vector<uint8_t> cut(encoded.begin(), encoded.begin() + static_cast<long>(rng.below(size)));
        CHECK(length == 0 || !check_levels(more_memory.hold(cut, place), cut.size(), width, length).ok());
        decode_levels(data, cut.size(), width, 255, back, length);
        CHECK(ends_memory.untouched());
    });
}

// --- Training, tables, offsets ---

void check_sample(const Cut& cut, size_t length) {
    at_places("take_sample", length, [&](Place place) {
        const Rows<int64_t> rows = cut.at<int64_t>(place);
        const std::vector<ColumnPiece> pieces{{rows.data, rows.offsets, rows.count, true}};
        runs++;
        CHECK(take_sample(pieces, 1 << 20, 3).text == length);
        // Less than all: taken in strata.
        take_sample(pieces, 1 + rng.below(length + 1), 1 + rng.below(3));
    });
    running.kernel = "train";
    const Rows<int64_t> rows = cut.at<int64_t>(Place{false, 0});
    const SymbolTable table = train({{rows.data, rows.offsets, rows.count, true}}, TrainOptions{});
    CHECK(table.count <= kMaxSymbols);
}

void check_offset_kernels(const Cut& cut, size_t length) {
    std::vector<uint8_t> validity((cut.count() + 7) / 8, 0xFF);
    at_places("check_offsets", length, [&](Place place) {
        const Rows<int32_t> rows = cut.at<int32_t>(place);
        const uint8_t* const bits = more_memory.hold(validity, place);
        runs++;
        CHECK(check_offsets(rows.offsets, cut.count(), cut.lead + cut.bytes.size()).ok());
        CHECK(cut.bytes.empty() ||
              !check_offsets(rows.offsets, cut.count(), cut.lead + cut.bytes.size() - 1).ok());
        CHECK(!nulls_hide_bytes(rows.offsets, cut.count(), bits, 0));
    });
    // As many bits as there are: the last byte is at the page.
    std::vector<uint8_t> some((length + 7) / 8);
    for (uint8_t& byte : some) byte = static_cast<uint8_t>(rng.below(256));
    const size_t first = rng.below(length + 1);
    size_t unset = 0;
    for (size_t bit = first; bit < length; bit++) unset += (some[bit / 8] >> bit % 8 & 1) == 0;
    at_places("count_unset", length, [&](Place place) {
        runs++;
        CHECK(count_unset(more_memory.hold(some, place), first, length - first) == unset);
    });
}

// A serialized table of each number of symbols, cut at every length: `length` counts bytes here.
void check_table_bytes(size_t length) {
    const SymbolTable table = in_parquet_order(tables(rng.below(kKinds)).symbols);
    at_places("parse_parquet, parse_cwida", length, [&](Place place) {
        runs++;
        uint8_t* const to = out_memory.room<uint8_t>(kMaxTableBytes, place);
        const size_t size = static_cast<size_t>(write_parquet(table, to).size);
        CHECK(out_memory.untouched());
        SymbolTable parsed;
        std::vector<uint8_t> bytes(to, to + size);
        CHECK(parse_parquet(data_memory.hold(bytes, place), size, parsed).ok() &&
              parsed.count == table.count);
        bytes.resize(std::min(size, length));
        CHECK(parse_parquet(data_memory.hold(bytes, place), bytes.size(), parsed).ok() == (length >= size));
        const SymbolTable in_order = in_cwida_order(table);
        const Outcome written = write_cwida(in_order, out_memory.room<uint8_t>(kMaxTableBytes, place));
        CHECK(out_memory.untouched());
        if (!written.ok()) return;
        bytes.assign(to, to + std::min(static_cast<size_t>(written.size), length));
        CHECK(parse_cwida(data_memory.hold(bytes, place), bytes.size(), parsed).ok() ==
              (length >= static_cast<size_t>(written.size)));
    });
}

// --- Columns over threads ---

void check_column(size_t kind, size_t size) {
    const Tables& t = tables(kind);
    Cut cut;
    cut.bytes = make_text(kind, size);
    cut_rows(cut, 4000);
    running.length = size;
    for (Place place : {Place{true, 0}, Place{false, 0}, Place{false, 5}}) {
        running.kernel = "compress_column, measure_column, decode_column";
        running.place = place;
        with_isas([&](Isa isa) {
            const Rows<int32_t> rows = cut.at<int32_t>(place);
            uint8_t* const codes = out_memory.room<uint8_t>(compress_bound(size), place);
            int32_t* const ends = ends_memory.room<int32_t>(cut.count() + 1, place);
            size_t written = 0;
            ends[0] = 0;
            CHECK(compress_column(t.encoder, rows, codes, ends + 1, isa, 3, never, written));
            CHECK(out_memory.untouched() && ends_memory.untouched());
            const std::vector<uint8_t> compressed(codes, codes + written);
            const std::vector<int32_t> offsets(ends, ends + cut.count() + 1);
            const Rows<int32_t> back{more_memory.hold(compressed, place), offsets_memory.hold(offsets, place),
                                     cut.count()};
            int32_t* const text_ends = ends_memory.room<int32_t>(cut.count() + 1, place);
            text_ends[0] = 0;
            const Measured measured = measure_column(*t.decoder, back, text_ends + 1, isa, 3, never);
            CHECK(measured.outcome.ok() && static_cast<size_t>(measured.outcome.size) == size);
            uint8_t* const text = out_memory.room<uint8_t>(size, place);
            decode_column(*t.decoder, back, measured, text_ends, text, true, isa, 3, never);
            CHECK(out_memory.untouched());
            // Where rows are no UTF-8 the rest is left out; so once more without looking.
            decode_column(*t.decoder, back, measured, text_ends, text, false, isa, 3, never);
            CHECK(std::equal(cut.bytes.begin(), cut.bytes.end(), text));
            CHECK(out_memory.untouched() && ends_memory.untouched());
        });
    }
}

}  // namespace

int main() {
#if !defined(__SANITIZE_ADDRESS__)
    report_touched_guards();
#endif
    for (size_t length = 0; length <= kLongest; length++) {
        const size_t kind = length % kKinds;
        const SymbolTable& symbols = tables(kind).symbols;
        // Rows of no more than 3, of 20, of 200 bytes, and one row of all.
        for (const size_t longest : {size_t{3}, size_t{20}, size_t{200}, size_t{0}}) {
            Cut text;
            text.bytes = make_text(kind, length);
            cut_rows(text, longest);
            if (longest == 3) check_compress<int32_t>(kind, text, length);
            // Of each table in turn, so that none is without escapes, or full of them, always.
            constexpr size_t kEscapes[] = {0, 5, 50, 100};
            const size_t escapes = kEscapes[length / kKinds % 4];
            const Cut codes = make_codes(symbols, length, longest, escapes);
            if (longest != 3) check_decompress<int32_t, int32_t>(kind, codes, length);
            if (longest == 3) check_decompress<int64_t, int64_t>(kind, codes, length);
            if (longest == 20) check_picked_rows(kind, codes, length);
            if (longest == 20) check_lengths(kind, codes, length);
            if (longest == 20) check_renumber(kind, codes, length);
            if (longest != 3) check_search<int32_t>(kind, codes, length);
            if (longest == 20) check_search<int64_t>(kind, codes, length);
            if (longest == 20) check_affix<Affix::whole>(kind, codes, length);
            if (longest == 20) check_affix<Affix::prefix>(kind, codes, length);
            if (longest == 20) check_affix<Affix::suffix>(kind, codes, length);
            if (longest == 200) check_like(kind, codes, length);
            if (longest == 3) check_page<int32_t>(codes, length);
            if (longest == 20) check_page<int64_t>(codes, length);
            if (longest == 20) check_sample(text, length);
            if (longest == 3) check_offset_kernels(codes, length);
            if (longest == 3) check_searches(kind, codes, length);
        }
        Cut blocks = make_codes(symbols, length, 6, length / kKinds % 2 * 5, 1);
        keep_blocks(blocks);
        check_searches(kind, blocks, length);
        check_compress_row(kind, length);
        check_lanes(kind, length);
        check_corrupt(kind, length);
        check_utf8(length);
        check_delta<int32_t>(length);
        check_delta<int64_t>(length);
        check_level_runs(length);
        check_table_bytes(length);
    }
    // The lane encoder begins at 512 bytes; at 2048 a row is long; at 7 times that it fills all lanes.
    // Lengths around those, a table at each.
    for (const size_t base : {size_t{500}, size_t{1700}, 7 * kStaged - 300}) {
        for (size_t more = 0; more <= kLongest; more += 7) {
            const size_t kind = more / 7 % kKinds;
            for (const size_t longest : {size_t{40}, size_t{0}}) {
                Cut text;
                text.bytes = make_text(kind, base + more);
                cut_rows(text, longest);
                check_compress<int32_t>(kind, text, base + more);
            }
        }
    }
    for (size_t kind = 0; kind < kKinds; kind++) check_column(kind, 3 * kMinPartBytes + 100 + kind);
    std::printf("ends: %llu runs, %zu instruction sets\n", static_cast<unsigned long long>(runs),
                kIsas.size());
    return 0;
}
