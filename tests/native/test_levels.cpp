// Levels: what is written is read again, and bytes that lie are refused. Buffers end exactly where their data
// ends.
#include <cstdio>

#include "exact_buffer.hpp"
#include "levels.hpp"

#include <random>

using namespace fsst;

namespace {

std::mt19937_64 rng(20240816);

std::vector<uint8_t> random_levels(size_t count, unsigned most) {
    std::vector<uint8_t> levels;
    while (levels.size() < count) {
        const uint8_t level = static_cast<uint8_t>(rng() % (most + 1));
        const size_t repeats = rng() % 3 == 0 ? rng() % 40 : 1;
        levels.insert(levels.end(), repeats, level);
    }
    levels.resize(count);
    return levels;
}

unsigned width_of(unsigned most) {
    unsigned width = 0;
    for (; most > 0; most >>= 1) width++;
    return width;
}

void round_trip(size_t count, unsigned most) {
    const unsigned width = width_of(most);
    const std::vector<uint8_t> levels = random_levels(count, most);
    ExactBuffer source(levels);
    ExactBuffer room(levels_bound(count, width));
    const size_t size = encode_levels(source.data(), count, width, room.data());
    CHECK(size <= room.size());
    ExactBuffer encoded(std::vector<uint8_t>(room.data(), room.data() + size));
    CHECK(check_levels(encoded.data(), size, width, count).ok());
    ExactBuffer again(count);
    CHECK(decode_levels(encoded.data(), size, width, static_cast<uint8_t>(most), again.data(), count).ok());
    for (size_t i = 0; i < count; i++) CHECK(again.data()[i] == levels[i]);
    // Bytes that are missing are missed, unless what is left holds the levels: the last run may be padding.
    if (size > 0) {
        ExactBuffer cut(std::vector<uint8_t>(room.data(), room.data() + size - 1));
        CHECK(!check_levels(cut.data(), cut.size(), width, count).ok());
    }
}

void any_bytes(size_t size, size_t count) {
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng() >> (rng() % 3 == 0 ? 60 : 8));
    ExactBuffer encoded(bytes);
    const unsigned width = static_cast<unsigned>(1 + rng() % 8);
    ExactBuffer levels(count);
    if (check_levels(encoded.data(), size, width, count).ok()) {
        decode_levels(encoded.data(), size, width, static_cast<uint8_t>(rng()), levels.data(), count);
    }
}

}  // namespace

int main() {
    for (unsigned most : {1u, 2u, 3u, 7u, 8u, 100u, 255u}) {
        for (size_t count = 0; count < 120; count++) round_trip(count, most);
        round_trip(5000, most);
    }
    for (int i = 0; i < 20000; i++) any_bytes(rng() % 24, rng() % 200);

    // A run of 2^30 levels in six bytes is as many levels as are asked for, and no more are written.
    const std::vector<uint8_t> run = {0x80, 0x80, 0x80, 0x80, 0x08, 0x01};
    ExactBuffer long_run(run);
    ExactBuffer few(3);
    CHECK(check_levels(long_run.data(), run.size(), 1, uint64_t{1} << 30).ok());
    CHECK(!check_levels(long_run.data(), run.size(), 1, (uint64_t{1} << 30) + 1).ok());
    CHECK(decode_levels(long_run.data(), run.size(), 1, 1, few.data(), few.size()).ok());
    CHECK(decode_levels(long_run.data(), run.size(), 1, 0, few.data(), 3).status == Status::level_too_high);
    // A header has 32 bits, which five bytes hold, needed or not.
    for (size_t bytes = 1; bytes < 9; bytes++) {
        std::vector<uint8_t> header(bytes, 0x80);
        header.front() = bytes > 1 ? 0x86 : 0x06;  // three levels
        if (bytes > 1) header.back() = 0;
        header.push_back(1);
        ExactBuffer exact(header);
        CHECK(check_levels(exact.data(), exact.size(), 1, 3).ok() == (bytes <= 5));
    }
    std::puts("levels: passed");
    return 0;
}
