// Both serialized forms: what is read is written back, and no bytes whatever are read out of bounds.
#include <cstdio>

#include "exact_buffer.hpp"
#include "symbol_table.hpp"

#include <random>

using namespace fsst;

namespace {

SymbolTable random_table(std::mt19937_64& random) {
    SymbolTable table;
    table.count = static_cast<uint32_t>(random() % (kMaxSymbols + 1));
    for (uint32_t code = 0; code < table.count; code++) {
        table.length[code] = static_cast<uint8_t>(random() % 8 + 1);
        table.symbol[code] = random() & low_bytes(table.length[code]);
    }
    return table;
}

bool equal(const SymbolTable& a, const SymbolTable& b) {
    if (a.count != b.count) return false;
    for (uint32_t code = 0; code < a.count; code++) {
        if (a.length[code] != b.length[code] || a.symbol[code] != b.symbol[code]) return false;
    }
    return true;
}

using Write = Outcome (*)(const SymbolTable&, uint8_t*);
using Parse = Outcome (*)(const uint8_t*, size_t, SymbolTable&);

void check_format(SymbolTable (*order)(const SymbolTable&), Write write, Parse parse,
                  std::mt19937_64& random) {
    for (int round = 0; round < 2000; round++) {
        const SymbolTable table = order(random_table(random));
        CHECK(equal(order(table), table));
        uint8_t room[kMaxTableBytes];
        // Any other order is refused: the format would number differently.
        SymbolTable other = table;
        if (table.count > 1) {
            const uint32_t a = static_cast<uint32_t>(random() % table.count);
            const uint32_t b = static_cast<uint32_t>(random() % table.count);
            std::swap(other.symbol[a], other.symbol[b]);
            std::swap(other.length[a], other.length[b]);
        }
        if (!equal(order(other), other)) CHECK(write(other, room).status == Status::table_out_of_order);
        const Outcome written = write(table, room);
        if (written.status == Status::table_no_terminator) continue;
        CHECK(written.ok());
        const std::vector<uint8_t> bytes(room, room + written.size);
        for (size_t size = 0; size <= bytes.size(); size += size < 40 ? 1 : 37) {
            ExactBuffer cut(std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(size)));
            SymbolTable read;
            CHECK(parse(cut.data(), cut.size(), read).ok() == (size == bytes.size()));
        }
        ExactBuffer whole(bytes);
        SymbolTable read;
        CHECK(parse(whole.data(), whole.size(), read).ok() && equal(read, table));
        // Changed in one byte, it is refused, or another table that is written back as it was read.
        std::vector<uint8_t> changed = bytes;
        changed[random() % changed.size()] ^= static_cast<uint8_t>(random() % 255 + 1);
        ExactBuffer hostile(changed);
        if (parse(hostile.data(), hostile.size(), read).ok()) {
            CHECK(read.count <= kMaxSymbols);
            for (uint32_t code = 0; code < read.count; code++) {
                CHECK(read.length[code] >= 1 && read.length[code] <= kMaxSymbolLength);
                CHECK((read.symbol[code] & ~low_bytes(read.length[code])) == 0);
            }
            write(order(read), room);
        }
    }
    // Noise, small and large.
    for (int round = 0; round < 20000; round++) {
        std::vector<uint8_t> noise(random() % 64);
        for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : random() % 3);
        ExactBuffer exact(noise);
        SymbolTable read;
        parse(exact.data(), exact.size(), read);
    }
}

}  // namespace

int main() {
    std::mt19937_64 random(20200813);
    check_format(in_parquet_order, write_parquet, parse_parquet, random);
    check_format(in_cwida_order, write_cwida, parse_cwida, random);
    std::puts("symbol_table: passed");
}
