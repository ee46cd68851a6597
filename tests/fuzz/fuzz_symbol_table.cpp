// Serialized tables: what is read is what a plain reading of the format allows, and is written back to the
// same bytes; what is written is read back, in both forms.
#include "input.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

size_t histogram_sum(const uint8_t* histogram, size_t weight) {
    size_t sum = 0;
    for (size_t i = 0; i < 8; i++) sum += histogram[i] * (1 + weight * i);
    return sum;
}

bool is_parquet(const Bytes& data) {
    return data.size() >= 9 && histogram_sum(data.data() + 1, 0) == data[0] &&
           data.size() == 9 + histogram_sum(data.data() + 1, 1);
}

// The sizes alone; whether header and symbols agree is looked at where the symbols are.
bool may_be_cwida(const Bytes& data) {
    if (data.size() < 17 || data[0] != 1 || load_le<uint32_t>(data.data() + 4) != kCwidaVersion) return false;
    const size_t zero = data[8];
    if (zero > 1 || (zero == 1 && data[9] == 0)) return false;
    return histogram_sum(data.data() + 9, 0) == data[1] &&
           data.size() == 17 + histogram_sum(data.data() + 9, 1) - zero;
}

void check_valid(const SymbolTable& table) {
    CHECK(table.count <= kMaxSymbols);
    for (size_t i = 0; i < table.count; i++) {
        CHECK(table.length[i] >= 1 && table.length[i] <= 8);
        CHECK((table.symbol[i] & ~low_bytes(table.length[i])) == 0);
    }
}

std::vector<std::pair<uint64_t, uint8_t>> symbols_of(const SymbolTable& table) {
    std::vector<std::pair<uint64_t, uint8_t>> symbols;
    for (size_t i = 0; i < table.count; i++) symbols.emplace_back(table.symbol[i], table.length[i]);
    std::sort(symbols.begin(), symbols.end());
    return symbols;
}

Bytes written(const SymbolTable& table, bool cwida, Outcome& outcome) {
    Exact<uint8_t> room(kMaxTableBytes);
    outcome = cwida ? write_cwida(table, room.data()) : write_parquet(table, room.data());
    if (!outcome.ok()) return {};
    CHECK(static_cast<size_t>(outcome.size) <= kMaxTableBytes);
    return Bytes(room.data(), room.data() + outcome.size);
}

void read_parquet(const Bytes& data) {
    Exact<uint8_t> exact(data);
    SymbolTable table;
    const Outcome found = parse_parquet(exact.data(), data.size(), table);
    CHECK(found.ok() == is_parquet(data));
    check_valid(table);
    if (!found.ok()) return;
    Outcome outcome;
    CHECK(written(table, false, outcome) == data);
    check_equal(in_parquet_order(table), table);
}

// What the reference's encoder relies on: the short symbols that nothing longer begins with come first, and
// the terminator is in no symbol of two bytes and more.
bool fields_agree(const Bytes& data, const SymbolTable& table) {
    uint32_t limit = data[8];
    while (limit < table.count && table.length[limit] == 2) {
        bool begins = false;
        for (size_t i = 0; i < table.count; i++) {
            begins |= table.length[i] > 2 && (table.symbol[i] & 0xFFFF) == table.symbol[limit];
        }
        if (begins) break;
        limit++;
    }
    for (uint32_t i = limit; i < table.count && table.length[i] == 2; i++) {
        bool begins = false;
        for (size_t k = 0; k < table.count; k++) {
            begins |= table.length[k] > 2 && (table.symbol[k] & 0xFFFF) == table.symbol[i];
        }
        if (!begins) return false;
    }
    for (size_t i = 0; i < table.count; i++) {
        for (size_t k = 0; table.length[i] > 1 && k < table.length[i]; k++) {
            if ((table.symbol[i] >> (8 * k) & 0xFF) == data[2]) return false;
        }
    }
    return data[3] == limit;
}

void read_cwida(const Bytes& data) {
    Exact<uint8_t> exact(data);
    SymbolTable table;
    const Outcome found = parse_cwida(exact.data(), data.size(), table);
    check_valid(table);
    if (!may_be_cwida(data)) {
        CHECK(!found.ok());
        return;
    }
    CHECK(found.ok() == fields_agree(data, table));
    if (!found.ok()) return;
    Outcome outcome;
    CHECK(written(table, true, outcome) == data);
    // To the other form and back.
    SymbolTable other;
    const Bytes parquet = written(in_parquet_order(table), false, outcome);
    CHECK(outcome.ok() && parse_parquet(parquet.data(), parquet.size(), other).ok());
    CHECK(symbols_of(other) == symbols_of(table));
    const Bytes again = written(in_cwida_order(other), true, outcome);
    CHECK(outcome.ok() && parse_cwida(again.data(), again.size(), other).ok());
    CHECK(symbols_of(other) == symbols_of(table));
}

void write_and_read(Input& input) {
    SymbolTable table = take_table(input);
    const uint8_t choice = input.byte();
    if (choice & 1) table.terminator = input.byte();
    for (uint32_t i = 0; i < table.count; i++) {
        if (choice & 2 && table.length[i] == 1 && table.symbol[i] == 0) table.zero_terminated = true;
    }
    for (const bool cwida : {false, true}) {
        Outcome outcome;
        const SymbolTable ordered = cwida ? in_cwida_order(table) : in_parquet_order(table);
        CHECK(symbols_of(ordered) == symbols_of(table));
        Bytes data = written(ordered, cwida, outcome);
        if (!outcome.ok()) {
            CHECK(cwida && outcome.status == Status::table_no_terminator);
            bool inside[256] = {};
            for (size_t i = 0; i < table.count; i++) {
                for (size_t k = 0; table.length[i] > 1 && k < table.length[i]; k++) {
                    inside[table.symbol[i] >> (8 * k) & 0xFF] = true;
                }
            }
            for (const bool taken : inside) CHECK(taken);
            continue;
        }
        SymbolTable again;
        const Outcome found = cwida ? parse_cwida(data.data(), data.size(), again)
                                    : parse_parquet(data.data(), data.size(), again);
        CHECK(found.ok());
        check_equal(again, ordered);
        CHECK(!cwida || again.zero_terminated == table.zero_terminated);
        // Another order is refused where the format would number differently.
        const bool in_order = symbols_of(table) == symbols_of(again) &&
                              std::equal(table.symbol, table.symbol + table.count, ordered.symbol) &&
                              std::equal(table.length, table.length + table.count, ordered.length);
        if (in_order) CHECK(written(table, cwida, outcome) == data);
        if (!in_order) {
            written(table, cwida, outcome);
            CHECK(outcome.status == Status::table_out_of_order);
        }
        // Bytes changed, cut off, or too many.
        for (size_t n = choice >> 2 & 3; n > 0 && !data.empty(); n--) {
            data[input.below(data.size())] ^= input.byte();
        }
        if (choice & 16) data.resize(data.size() - input.below(data.size() + 1));
        if (choice & 32) data.push_back(input.byte());
        cwida ? read_cwida(data) : read_parquet(data);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    switch (input.byte() % 3) {
        case 0:
            read_parquet(input.rest());
            break;
        case 1:
            read_cwida(input.rest());
            break;
        default:
            write_and_read(input);
    }
    return 0;
}
