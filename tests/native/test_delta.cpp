// DELTA_BINARY_PACKED against a twin that reads bit by bit: every width, every legal header, and hostile
// bytes. Buffers end exactly where their data ends.
#include <cstdio>

#include "delta.hpp"
#include "exact_buffer.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>

using namespace fsst;

namespace {

std::mt19937_64 rng(20240815);

struct Shape {
    size_t block = kDeltaBlock;
    size_t miniblocks = kDeltaMiniblocks;
    unsigned wider = 0;  // bits more than needed
    bool noise = false;  // in padding and in widths of miniblocks without values
};

void put(std::vector<uint8_t>& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
    out.push_back(static_cast<uint8_t>(value));
}

template <class Int>
uint64_t zigzag_of(Int value) {
    return delta_detail::zigzag(static_cast<std::make_unsigned_t<Int>>(value));
}

// The slow twin of the writer.
template <class Int>
std::vector<uint8_t> encode_plain(const std::vector<Int>& values, const Shape& shape) {
    using Word = std::make_unsigned_t<Int>;
    std::vector<uint8_t> out;
    put(out, shape.block);
    put(out, shape.miniblocks);
    put(out, values.size());
    put(out, values.empty() ? 0 : zigzag_of(values[0]));
    const size_t each = shape.block / shape.miniblocks;
    for (size_t at = 1; at < values.size(); at += shape.block) {
        const size_t count = std::min(shape.block, values.size() - at);
        std::vector<Word> deltas;
        Int smallest = std::numeric_limits<Int>::max();
        for (size_t i = at; i < at + count; i++) {
            deltas.push_back(
                static_cast<Word>(static_cast<Word>(values[i]) - static_cast<Word>(values[i - 1])));
            smallest = std::min(smallest, static_cast<Int>(deltas.back()));
        }
        put(out, zigzag_of(smallest));
        std::vector<unsigned> widths;
        for (size_t m = 0; m < shape.miniblocks; m++) {
            unsigned width = 0;
            for (size_t i = m * each; i < std::min(count, (m + 1) * each); i++) {
                const Word rest = static_cast<Word>(deltas[i] - static_cast<Word>(smallest));
                while (width < 8 * sizeof(Int) && (uint64_t{rest} >> width) != 0) width++;
            }
            const bool used = m * each < count;
            width = std::min<unsigned>(width + (used ? shape.wider : 0), 8 * sizeof(Int));
            widths.push_back(used ? width : 0);
            out.push_back(static_cast<uint8_t>(used || !shape.noise ? width : rng()));
        }
        for (size_t m = 0; m * each < count; m++) {
            std::vector<uint8_t> bits(each * widths[m] / 8);
            for (size_t bit = 0; bit < each * widths[m]; bit++) {
                const size_t i = m * each + bit / widths[m];
                const bool inside = i < count;
                const Word rest =
                    inside ? static_cast<Word>(deltas[i] - static_cast<Word>(smallest)) : Word{0};
                const bool one =
                    inside ? (rest >> (bit % widths[m]) & 1) != 0 : shape.noise && rng() % 2 == 0;
                bits[bit / 8] = static_cast<uint8_t>(bits[bit / 8] | one << (bit % 8));
            }
            out.insert(out.end(), bits.begin(), bits.end());
        }
    }
    return out;
}

template <class Int>
Outcome decode(const std::vector<uint8_t>& bytes, size_t most, std::vector<Int>& values) {
    ExactBuffer exact(bytes);
    DeltaHeader header;
    Outcome found = parse_delta<Int>(exact.data(), exact.size(), header);
    if (!found.ok()) return found;
    CHECK(header.count <= kDeltaFree + kDeltaPerByte * bytes.size());
    if (header.count > most) {
        found.status = Status::out_of_memory;
        return found;
    }
    ExactBuffer room(header.count * sizeof(Int));
    found = decode_delta<Int>(exact.data(), exact.size(), header, reinterpret_cast<Int*>(room.data()));
    values.resize(header.count);
    if (header.count > 0) std::memcpy(values.data(), room.data(), room.size());
    return found;
}

template <class Int>
void check(const std::vector<Int>& values) {
    using Array = ArrayValues<Int>;
    ExactBuffer input(values.size() * sizeof(Int));
    if (!values.empty()) std::memcpy(input.data(), values.data(), input.size());
    const Array array{reinterpret_cast<const Int*>(input.data())};
    ExactBuffer room(delta_size<Int>(array, values.size()));
    CHECK(encode_delta<Int>(array, values.size(), room.data()) == room.size());
    const std::vector<uint8_t> bytes(room.data(), room.data() + room.size());
    CHECK(bytes == encode_plain(values, Shape{}));
    std::vector<Int> read;
    const Outcome found = decode(bytes, SIZE_MAX, read);
    CHECK(found.ok() && static_cast<size_t>(found.size) == bytes.size() && read == values);

    const size_t miniblocks = 1 + rng() % 5;
    const Shape shape{128 * miniblocks * (1 + rng() % 2), miniblocks, static_cast<unsigned>(rng() % 9), true};
    std::vector<uint8_t> other = encode_plain(values, shape);
    const size_t size = other.size();
    other.resize(size + rng() % 12, 0xFF);
    const Outcome free = decode(other, SIZE_MAX, read);
    CHECK(free.ok() && static_cast<size_t>(free.size) == size && read == values);
}

// Changed in a byte or cut, it is refused, or something that fits is read; memory checks do the rest.
template <class Int>
void attack(const std::vector<Int>& values, const Shape& shape) {
    const std::vector<uint8_t> bytes = encode_plain(values, shape);
    std::vector<Int> read;
    for (size_t size = 0; size < bytes.size(); size++) {
        CHECK(!decode(std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(size)), 1 << 16,
                      read)
                   .ok());
    }
    for (size_t at = 0; at < bytes.size(); at++) {
        std::vector<uint8_t> changed = bytes;
        changed[at] ^= static_cast<uint8_t>(1 + rng() % 255);
        decode(changed, 1 << 16, read);
    }
}

template <class Int>
void check_all() {
    for (size_t count = 0; count < 300; count++) {
        std::vector<Int> values(count);
        const unsigned width = static_cast<unsigned>(rng() % (8 * sizeof(Int)));
        for (Int& value : values) value = static_cast<Int>(rng() >> (63 - width));
        check(values);
    }
    for (unsigned width = 0; width <= 8 * sizeof(Int); width++) {
        for (int round = 0; round < 8; round++) {
            std::vector<Int> values(rng() % 600);
            const Int smallest = static_cast<Int>(rng());
            std::make_unsigned_t<Int> value = 0;
            for (Int& put_here : values) {
                const uint64_t delta = width == 0 ? 0 : rng() >> (64 - width);
                value =
                    static_cast<std::make_unsigned_t<Int>>(value + static_cast<uint64_t>(smallest) + delta);
                put_here = static_cast<Int>(value);
            }
            check(values);
            if (values.size() >= 100) continue;
            attack(values, Shape{});
            attack(values, Shape{384, 3, 0, true});
            attack(values, Shape{256, 1, 0, false});
        }
    }
    for (int round = 0; round < 20000; round++) {
        std::vector<uint8_t> noise{0x80, 0x01, 0x04};
        if (rng() % 4 == 0) noise.clear();
        for (size_t n = rng() % 60; n > 0; n--)
            noise.push_back(static_cast<uint8_t>(rng() % 3 ? rng() % 40 : rng()));
        std::vector<Int> read;
        decode(noise, 1 << 16, read);
    }
}

// What a header may say, and how wide deltas may be: all that is legal, and nothing else.
template <class Int>
void check_limits() {
    constexpr unsigned kBits = 8 * sizeof(Int);
    std::vector<Int> values;
    for (uint64_t block = 0; block <= 1024; block += 32) {
        for (uint64_t miniblocks = 0; miniblocks <= 40; miniblocks++) {
            std::vector<uint8_t> bytes;
            for (uint64_t field : {block, miniblocks, uint64_t{1}, uint64_t{2}}) put(bytes, field);
            const bool legal = block > 0 && block % 128 == 0 && miniblocks > 0 && block % miniblocks == 0 &&
                               block / miniblocks % 32 == 0;
            CHECK(decode(bytes, 1, values).ok() == legal);
        }
    }
    for (unsigned width = 0; width < 256; width++) {
        std::vector<uint8_t> bytes;
        for (uint64_t field : {uint64_t{128}, uint64_t{4}, uint64_t{9}, uint64_t{2}, uint64_t{0}})
            put(bytes, field);
        bytes.push_back(static_cast<uint8_t>(width));
        bytes.resize(bytes.size() + 3 + 4 * width);
        CHECK(decode(bytes, 9, values).ok() == (width <= kBits));
    }
    // 64 bits and no more; the first value is one of the type's.
    for (unsigned last = 0; last < 256; last++) {
        for (const uint8_t others : {0x80, 0xFF}) {
            std::vector<uint8_t> bytes;
            for (uint64_t field : {128, 4, 1}) put(bytes, field);
            bytes.resize(bytes.size() + 9, others);
            bytes.push_back(static_cast<uint8_t>(last));
            const bool small = last == 0 && others == 0x80;
            CHECK(decode(bytes, 1, values).ok() == (last <= 1 && (kBits == 64 || small)));
        }
    }
}

}  // namespace

int main() {
    check_limits<int32_t>();
    check_limits<int64_t>();
    check_all<int32_t>();
    check_all<int64_t>();
    std::puts("delta: passed");
}
