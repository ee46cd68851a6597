// Checks of the trainer, run under AddressSanitizer and UndefinedBehaviorSanitizer. No arguments.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "train.hpp"

using namespace fsst;

namespace {

// Rows as one or several Arrow arrays, in allocations that end exactly where the data ends.
struct Column {
    std::vector<std::unique_ptr<uint8_t[]>> data;
    std::vector<std::vector<int32_t>> narrow;
    std::vector<std::vector<int64_t>> wide;
    std::vector<ColumnPiece> pieces;

    explicit Column(const std::vector<std::string>& rows, size_t parts = 1, bool is_wide = false) {
        for (size_t part = 0; part < parts; part++) {
            size_t first = rows.size() * part / parts, last = rows.size() * (part + 1) / parts;
            std::string bytes;
            std::vector<int64_t> offsets{0};
            for (size_t i = first; i < last; i++) {
                bytes += rows[i];
                offsets.push_back(static_cast<int64_t>(bytes.size()));
            }
            data.emplace_back(new uint8_t[bytes.size()]);
            std::copy(bytes.begin(), bytes.end(), data.back().get());
            narrow.emplace_back(offsets.begin(), offsets.end());
            wide.push_back(offsets);
            const void* chosen = is_wide ? static_cast<const void*>(wide.back().data())
                                         : static_cast<const void*>(narrow.back().data());
            pieces.push_back({data.back().get(), chosen, last - first, is_wide});
        }
    }
};

std::string bytes_of(const SymbolTable& table, size_t i) {
    std::string bytes;
    for (size_t k = 0; k < table.length[i]; k++)
        bytes += static_cast<char>(table.symbol[i] >> (8 * k) & 0xFF);
    return bytes;
}

std::vector<std::string> symbols_of(const SymbolTable& table) {
    std::vector<std::string> symbols;
    for (size_t i = 0; i < table.count; i++) symbols.push_back(bytes_of(table, i));
    return symbols;
}

// Bytes of codes under the greedy parse, the slow and obvious way.
size_t compressed_size(const std::vector<std::string>& symbols, const std::vector<std::string>& rows) {
    size_t size = 0;
    for (const std::string& row : rows) {
        for (size_t at = 0; at < row.size();) {
            size_t best = 0;
            for (const std::string& s : symbols) {
                if (s.size() > best && row.compare(at, s.size(), s) == 0) best = s.size();
            }
            size += best == 0 ? 2 : 1;
            at += std::max<size_t>(best, 1);
        }
    }
    return size;
}

size_t raw_size(const std::vector<std::string>& rows) {
    size_t size = 0;
    for (const std::string& row : rows) size += row.size();
    return size;
}

size_t table_size(const std::vector<std::string>& symbols) {
    return kParquetHeader + raw_size(symbols);
}

SymbolTable train_rows(const std::vector<std::string>& rows, Effort effort, int max_per_prefix = 0,
                       size_t parts = 1, bool wide = false) {
    Column column(rows, parts, wide);
    TrainOptions options;
    options.effort = effort;
    options.max_per_prefix = max_per_prefix;
    return train(column.pieces, options);
}

void check_valid(const SymbolTable& table) {
    assert(table.count <= kMaxSymbols);
    for (size_t i = 0; i < table.count; i++) {
        assert(table.length[i] >= 1 && table.length[i] <= kMaxSymbolLength);
        assert((table.symbol[i] & ~low_bytes(table.length[i])) == 0);
        if (i == 0) continue;
        std::string before = bytes_of(table, i - 1), here = bytes_of(table, i);
        assert(before.size() < here.size() ||
               (before.size() == here.size() &&
                std::memcmp(before.data(), here.data(), here.size()) < 0));  // so they are distinct
    }
}

size_t most_per_prefix(const SymbolTable& table) {
    size_t most = 0;
    for (size_t i = 0; i < table.count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < table.count; j++) {
            if (table.length[i] < 3 || table.length[j] < 3) continue;
            same += (table.symbol[i] & low_bytes(3)) == (table.symbol[j] & low_bytes(3));
        }
        most = std::max(most, same);
    }
    return most;
}

uint64_t random_state = 1;
uint64_t random_below(uint64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

std::vector<std::string> text_rows(size_t count) {
    static const char* words[] = {"the ",  "checkout ", "http://", "www.",       "example.com/", "page",
                                  "?id=",  "user ",     "and ",    "order ",     "shipped ",     "pending ",
                                  "alpha", "beta ",     "gamma",   "/index.html"};
    std::vector<std::string> rows;
    for (size_t i = 0; i < count; i++) {
        std::string row;
        for (uint64_t k = random_below(9); k > 0; k--) row += words[random_below(16)];
        row += std::to_string(random_below(1000));
        rows.push_back(row);
    }
    return rows;
}

std::vector<std::string> random_rows(size_t count, size_t size, unsigned alphabet, unsigned base) {
    std::vector<std::string> rows;
    for (size_t i = 0; i < count; i++) {
        std::string row;
        for (size_t k = 0; k < size; k++) row += static_cast<char>(base + random_below(alphabet));
        rows.push_back(row);
    }
    return rows;
}

// For every effort: valid, the same twice, the same in several arrays and with wide offsets; not larger
// than no table at all (every byte escaped), and `factor` at least.
void check(const char* name, const std::vector<std::string>& rows, double factor, bool with_max = true) {
    for (Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
        if (effort == Effort::max && !with_max) continue;
        SymbolTable table = train_rows(rows, effort);
        check_valid(table);
        std::vector<std::string> symbols = symbols_of(table);
        assert(symbols == symbols_of(train_rows(rows, effort)));
        if (effort != Effort::max) {
            assert(symbols == symbols_of(train_rows(rows, effort, 0, 7)));
            assert(symbols == symbols_of(train_rows(rows, effort, 0, 3, true)));
            assert(symbols == symbols_of(train_rows(rows, effort, 0, rows.size() / 2 + 1)));
        }
        for (int limit : {1, 2, 3}) {
            if (effort == Effort::max) continue;
            SymbolTable limited = train_rows(rows, effort, limit);
            check_valid(limited);
            assert(most_per_prefix(limited) <= static_cast<size_t>(limit));
        }
        size_t raw = raw_size(rows), codes = compressed_size(symbols, rows), body = table_size(symbols);
        assert(codes + body <= 2 * raw + kParquetHeader);
        double reached = static_cast<double>(raw) / static_cast<double>(codes + body);
        std::printf("%-24s effort %d: %3u symbols, %zu -> %zu + %zu, factor %.3f\n", name,
                    static_cast<int>(effort), table.count, raw, codes, body, reached);
        if (raw > 0) assert(reached >= factor);
    }
}

bool stop_at_once(void* calls) {
    ++*static_cast<int*>(calls);
    return true;
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    assert(train({}, TrainOptions{}).count == 0);
    check("no rows", {}, 0);
    check("one empty row", {""}, 0);
    check("all rows empty", std::vector<std::string>(10000), 0);
    check("one byte", {"x"}, 0);
    check("three short strings", {"ab", "cde", "xyz"}, 0.3);
    check("same row", std::vector<std::string>(5000, "the same row again"), 5.9);
    check("40 short rows", random_rows(40, 6, 26, 'a'), 0.4);
    check("zeros and 0xFF", std::vector<std::string>(500, std::string("\0\0\xFF\xFF\0a", 6)), 4);
    check("one long run", {std::string(40000, '\0')}, 7);
    check("text", text_rows(6000), 2.5, false);
    check("few words", text_rows(40), 1.0);
    check("hex", random_rows(3000, 8, 16, 'a'), 1.6, false);
    check("noise", random_rows(100, 3000, 256, 0), 0.9, false);
    check("every byte once", random_rows(1, 256, 256, 0), 0.4);

    std::vector<std::string> rows(200, "q");
    rows.push_back(random_rows(1, 40000, 4, 'a')[0]);
    check("tiny rows, one large", rows, 1.5, false);
    rows = text_rows(4000);
    rows.insert(rows.begin() + 1000, std::string(1 << 20, 'z'));
    check("one 1 MB row in text", rows, 4, false);
    rows = random_rows(64, 4096, 256, 0);
    std::vector<std::string> text = text_rows(20000);
    rows.insert(rows.end(), text.begin(), text.end());
    check("noise before text", rows, 1.1, false);
    rows = text_rows(3000);
    for (size_t i = 0; i < rows.size(); i++) {
        if (i % 50 != 0) rows[i].clear();
    }
    check("mostly empty", rows, 1, false);

    // A slice: offsets that do not start at 0.
    std::vector<std::string> some = text_rows(500);
    Column column(some);
    ColumnPiece& piece = column.pieces[0];
    piece.offsets = column.narrow[0].data() + 100;
    piece.count = 300;
    TrainOptions options;
    std::vector<std::string> middle(some.begin() + 100, some.begin() + 400);
    assert(symbols_of(train(column.pieces, options)) == symbols_of(train_rows(middle, Effort::normal)));

    // Symbols that occur once or twice in a large column do not pay; a table is never a loss against none.
    SymbolTable table = train_rows({"abcdefgh", "abcdefgh"}, Effort::normal);
    std::vector<std::string> symbols = symbols_of(table);
    assert(compressed_size(symbols, {"abcdefgh", "abcdefgh"}) + table_size(symbols) <= 32 + kParquetHeader);

    int calls = 0;
    options.effort = Effort::max;
    options.stop = stop_at_once;
    options.stop_arg = &calls;
    Column large(text_rows(20000));
    check_valid(train(large.pieces, options));
    assert(calls > 0 && calls < 10);
    std::puts("ok");
}
