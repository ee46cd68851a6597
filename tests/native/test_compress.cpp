// The lane encoder against its slow twin: random and hostile tables, rows of every shape, each instruction
// set, buffers that end where the allocation ends. Run under -fsanitize=address,undefined.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "encoder.hpp"

using namespace fsst;

namespace {

struct Random {
    uint64_t state;
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545F4914F6CDD1Du >> 16;
    }
    size_t below(size_t n) { return n == 0 ? 0 : next() % n; }
};

// An allocation of exactly these bytes, so that the sanitizer sees one byte too many.
template <class T>
std::unique_ptr<T[]> exactly(size_t n) {
    return std::unique_ptr<T[]>(new T[n]);
}

void add(SymbolTable& table, const std::string& symbol) {
    if (table.count == kMaxSymbols || symbol.empty() || symbol.size() > 8) return;
    table.symbol[table.count] = load_up_to_8(reinterpret_cast<const uint8_t*>(symbol.data()), symbol.size());
    table.length[table.count++] = static_cast<uint8_t>(symbol.size());
}

std::string text_of(Random& random, size_t size, unsigned first, unsigned letters) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(first + random.below(letters));
    return text;
}

enum Kind {
    trained,
    few_letters,
    all_bytes,
    one_byte,
    longs,
    shorts,
    duplicates,
    singles,
    none,
    chain,
    kinds
};

SymbolTable table_of(Kind kind, Random& random, const std::string& sample) {
    SymbolTable table;
    const size_t count = 1 + random.below(kMaxSymbols);
    for (size_t i = 0; i < count; i++) {
        switch (kind) {
            case trained: {
                const size_t size = 1 + random.below(8);
                const size_t at = random.below(sample.size() > size ? sample.size() - size : 0);
                add(table, sample.substr(at, size));
                break;
            }
            case few_letters:
                add(table, text_of(random, 1 + random.below(8), 'a', 2));
                break;
            case all_bytes:
                add(table, text_of(random, 1 + random.below(8), 0, 256));
                break;
            case one_byte:
                add(table, std::string(1 + i % 8, static_cast<char>(random.below(2) ? 'a' : 0)));
                break;
            case longs:
                add(table, "aaa" + text_of(random, random.below(6), 'a', 3));
                break;
            case shorts:
                add(table, text_of(random, 1 + random.below(2), 'a', 16));
                break;
            case duplicates:
                add(table, text_of(random, 1 + random.below(3), 'a', 2));
                break;
            case singles:
                add(table, std::string(1, static_cast<char>(i)));
                break;
            case none:
                break;
            case chain: {
                // Every byte value stands in a symbol of two and more: no byte is free to be set aside.
                std::string symbol;
                for (size_t k = 0; k < 2 + i % 7; k++) symbol += static_cast<char>(i + k);
                add(table, symbol);
                break;
            }
            case kinds:
                break;
        }
    }
    return table;
}

Interrupt never([](void*) { return false; }, nullptr);

template <class Offset, class CodeOffset>
void check(const SymbolTable& table, const std::vector<std::string>& strings, LaneScratch* scratch,
           size_t lead) {
    size_t total = 0;
    for (const std::string& s : strings) total += s.size();
    auto data = exactly<uint8_t>(lead + total);
    auto offsets = exactly<Offset>(strings.size() + 1);
    size_t at = lead;
    offsets[0] = static_cast<Offset>(at);
    for (size_t i = 0; i < strings.size(); i++) {
        if (!strings[i].empty()) std::memcpy(data.get() + at, strings[i].data(), strings[i].size());
        at += strings[i].size();
        offsets[i + 1] = static_cast<Offset>(at);
    }
    const Rows<Offset> rows{data.get(), offsets.get(), strings.size()};
    auto encoder = std::make_unique<Encoder>(table);
    encoder->prepare(Encoder::kLaneBytes);

    auto want = exactly<uint8_t>(compress_bound(total));
    auto want_ends = exactly<CodeOffset>(strings.size());
    const size_t want_size =
        plain::compress_rows(encoder->matcher(), rows, want.get(), want_ends.get(), never);
    for (Isa isa : {Isa::plain, Isa::baseline, Isa::avx2}) {
        if (isa > detect_isa()) continue;
        auto codes = exactly<uint8_t>(compress_bound(total));
        auto ends = exactly<CodeOffset>(strings.size());
        const size_t size = compress_rows(*encoder, rows, codes.get(), ends.get(), isa, scratch, never);
        assert(size == want_size);
        assert(size == 0 || std::memcmp(codes.get(), want.get(), size) == 0);
        for (size_t i = 0; i < strings.size(); i++) assert(ends[i] == want_ends[i]);
    }
}

// Longest match by trying every symbol: what "greedy, lowest code" means.
void check_matcher(const SymbolTable& table, const std::string& text) {
    auto matcher = std::make_unique<Matcher>(table);
    for (size_t at = 0; at < text.size(); at++) {
        const size_t left = text.size() - at;
        size_t best = 0;
        unsigned code = kEscape;
        for (uint32_t i = 0; i < table.count; i++) {
            if (table.length[i] > left || table.length[i] <= best) continue;
            const uint64_t word =
                load_up_to_8(reinterpret_cast<const uint8_t*>(text.data()) + at, left < 8 ? left : 8);
            if (((word ^ table.symbol[i]) & low_bytes(table.length[i])) == 0) {
                best = table.length[i];
                code = i;
            }
        }
        const uint64_t word =
            load_up_to_8(reinterpret_cast<const uint8_t*>(text.data()) + at, left < 8 ? left : 8);
        const Match match = matcher->longest(word, left);
        assert(match.code == code && match.length == (best == 0 ? 1 : best));
    }
}

size_t row_size(Random& random, int shape) {
    switch (shape) {
        case 0:
            return random.below(12);
        case 1:
            return random.below(100);
        case 2:
            return random.below(3) == 0 ? 0 : random.below(40);
        case 3:
            return kStaged - 4 + random.below(8);  // about a lane
        case 4:
            return random.below(50) == 0 ? random.below(20000) : random.below(20);
        case 5:
            return random.below(5 * kStaged);
        case 6:
            return 0;
        default:
            return random.below(900);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int runs = argc > 1 ? std::atoi(argv[1]) : 400;
    auto scratch = std::make_unique<LaneScratch>();
    // What an earlier call left behind must not matter.
    std::memset(static_cast<void*>(scratch.get()), 0xA5, sizeof(LaneScratch));
    Random random{0x1234567};
    int layers_seen[kMaxLayers + 2] = {}, unclean = 0;
    for (int run = 0; run < runs; run++) {
        const Kind kind = static_cast<Kind>(run % kinds);
        const int letters = static_cast<int>(random.below(5));
        const std::string words =
            text_of(random, 40 + random.below(4000), 'a', 2 + 6 * static_cast<unsigned>(letters));
        const SymbolTable table = table_of(kind, random, words);
        std::vector<std::string> strings;
        size_t budget = random.below(10) == 0 ? 0 : random.below(60000);
        const int shape = static_cast<int>(random.below(8));
        const int content = static_cast<int>(random.below(7));
        const size_t most = 1 + random.below(5000);
        while (budget > 0 && strings.size() < most) {
            const size_t size = std::min(budget, row_size(random, shape));
            budget -= size;
            std::string s;
            switch (content) {
                case 0:
                    s = text_of(random, size, 0, 256);
                    break;
                case 1:
                    s = std::string(size, static_cast<char>(random.below(2) ? 'a' : 0));
                    break;
                case 2:
                    s = text_of(random, size, 'a', 2);
                    break;
                case 3:
                    s = text_of(random, size, 0xC0, 64);
                    break;  // the bytes set aside, mostly
                case 4:
                    s = text_of(random, size, 'a', 3);
                    for (size_t k = random.below(200); k < size; k += 1 + random.below(200)) {
                        s[k] = static_cast<char>(random.below(256));
                    }
                    break;
                case 5:  // made of symbols, so that long ones match
                    while (s.size() < size && table.count > 0) {
                        const size_t i = random.below(table.count);
                        for (unsigned k = 0; k < table.length[i]; k++)
                            s += static_cast<char>(table.symbol[i] >> (8 * k));
                    }
                    s.resize(size);
                    break;
                default:
                    while (s.size() < size)
                        s += words.substr(random.below(words.size()), 1 + random.below(30));
                    s.resize(size);
            }
            strings.push_back(s);
        }
        auto encoder = std::make_unique<Encoder>(table);
        encoder->prepare(Encoder::kLaneBytes);
        if (encoder->lanes() != nullptr) {
            layers_seen[encoder->lanes()->layers]++;
            unclean += encoder->lanes()->clean ? 0 : 1;
        } else {
            layers_seen[kMaxLayers + 1]++;
        }
        const size_t lead = random.below(2) * random.below(50);
        switch (run % 4) {
            case 0:
                check<int32_t, int32_t>(table, strings, scratch.get(), lead);
                break;
            case 1:
                check<int64_t, int64_t>(table, strings, scratch.get(), lead);
                break;
            case 2:
                check<int32_t, int64_t>(table, strings, scratch.get(), lead);
                break;
            default:
                check<int64_t, int32_t>(table, strings, scratch.get(), lead);
        }
        if (!strings.empty() && run % 8 == 0) check_matcher(table, strings[0].substr(0, 300));
    }
    // Long rows: runs out of phase with their symbol, and a table with one symbol of each length.
    SymbolTable run8;
    add(run8, "aaaaaaaa");
    for (size_t lead = 0; lead < 9; lead++) {
        check<int32_t, int32_t>(run8, {std::string(lead, 'b') + std::string(300000, 'a')}, scratch.get(), 0);
    }
    check<int32_t, int32_t>(run8, {std::string(100000, '\xC1'), std::string(100000, '\xC0')}, scratch.get(),
                            0);
    check<int32_t, int32_t>(run8, {}, scratch.get(), 0);
    check<int32_t, int32_t>(run8, {""}, scratch.get(), 3);
    check<int32_t, int32_t>(run8, std::vector<std::string>(5000), scratch.get(), 3);
    std::printf("%d runs; tables by layers:", runs);
    for (int n = 0; n <= kMaxLayers; n++) std::printf(" %d", layers_seen[n]);
    std::printf("; without lanes %d; unclean %d\nok\n", layers_seen[kMaxLayers + 1], unclean);
}
