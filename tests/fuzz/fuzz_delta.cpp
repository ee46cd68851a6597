// DELTA_BINARY_PACKED: any bytes are read as a plain reader of the format reads them, bit by bit, or refused
// as it refuses them; what is written is of the announced size and is read back.
#include "delta.hpp"
#include "input.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

constexpr uint64_t kMostValues = 20000;

// The plain reader. `at` is the byte behind what was read.
class Plain {
 public:
    Plain(const Bytes& data, unsigned bits) : data_(data), bits_(bits) {}

    // False: the header is impossible.
    bool header() {
        uint64_t first = 0;
        if (!varint(block) || !varint(miniblocks) || !varint(count) || !varint(first)) return false;
        if (block == 0 || block % 128 != 0 || block >= uint64_t{1} << 62) return false;
        if (miniblocks == 0 || block % miniblocks != 0 || block / miniblocks % 32 != 0) return false;
        if (count > 65536 + 512 * uint64_t{data_.size()}) return false;
        value = unzigzag(first);
        const int64_t as_signed = static_cast<int64_t>(value);
        return bits_ == 64 || (as_signed >= INT32_MIN && as_signed <= INT32_MAX);
    }

    // False: bytes are missing or wider than the type.
    bool read(std::vector<uint64_t>& values) {
        if (count > 0) values.push_back(value);
        while (values.size() < count) {
            uint64_t smallest = 0;
            if (!varint(smallest)) return false;
            smallest = unzigzag(smallest);
            const size_t widths = at;
            if (miniblocks > data_.size() - at) return false;
            at += static_cast<size_t>(miniblocks);
            for (uint64_t m = 0; m < miniblocks && values.size() < count; m++) {
                const unsigned width = data_[widths + static_cast<size_t>(m)];
                const uint64_t deltas = block / miniblocks;
                if (width > bits_) return false;
                if (width > 0 && deltas / 8 > (data_.size() - at) / width) return false;
                for (uint64_t i = 0; i < deltas && values.size() < count; i++) {
                    uint64_t delta = 0;
                    for (unsigned bit = 0; bit < width; bit++) {
                        const uint64_t place = i * width + bit;
                        const uint64_t is_set = data_[at + static_cast<size_t>(place / 8)] >> place % 8 & 1;
                        delta |= is_set << bit;
                    }
                    value += smallest + delta;
                    values.push_back(value);
                }
                if (width > 0) at += static_cast<size_t>(deltas / 8 * width);
            }
        }
        return true;
    }

    uint64_t block = 0, miniblocks = 0, count = 0, value = 0;
    size_t at = 0;

 private:
    bool varint(uint64_t& number) {
        number = 0;
        for (unsigned i = 0; i < 10 && at < data_.size(); i++) {
            const uint64_t byte = data_[at++];
            if (i == 9 && byte > 1) return false;
            number |= (byte & 127) << (7 * i);
            if (byte < 128) return true;
        }
        return false;
    }
    static uint64_t unzigzag(uint64_t number) { return (number & 1) != 0 ? ~(number >> 1) : number >> 1; }

    const Bytes& data_;
    unsigned bits_;
};

template <class Int>
std::vector<Int> write_and_read(const std::vector<Int>& values) {
    Exact<Int> exact(values);
    const ArrayValues<Int> array{exact.data()};
    Exact<uint8_t> bytes(delta_size<Int>(array, values.size()));
    CHECK(bytes.count <= delta_bound(values.size(), sizeof(Int)));
    CHECK(encode_delta<Int>(array, values.size(), bytes.data()) == bytes.count);
    DeltaHeader header;
    CHECK(parse_delta<Int>(bytes.data(), bytes.count, header).ok() && header.count == values.size());
    Exact<Int> again(values.size());
    const Outcome found = decode_delta<Int>(bytes.data(), bytes.count, header, again.data());
    CHECK(found.ok() && static_cast<size_t>(found.size) == bytes.count);
    return again.vector();
}

template <class Int>
void read_any(const Bytes& data) {
    Exact<uint8_t> exact(data);
    Plain plain(data, 8 * sizeof(Int));
    DeltaHeader header;
    Outcome found = parse_delta<Int>(exact.data(), data.size(), header);
    CHECK(found.ok() == plain.header());
    if (!found.ok()) return;
    CHECK(header.count == plain.count && header.size == plain.at);
    if (header.count > kMostValues) return;
    Exact<Int> values(static_cast<size_t>(header.count));
    found = decode_delta<Int>(exact.data(), data.size(), header, values.data());
    std::vector<uint64_t> want;
    CHECK(found.ok() == plain.read(want));
    if (!found.ok()) {
        CHECK(found.position >= 0 && static_cast<size_t>(found.position) <= data.size());
        return;
    }
    CHECK(static_cast<size_t>(found.size) == plain.at);
    for (size_t i = 0; i < want.size(); i++) CHECK(values[i] == static_cast<Int>(want[i]));
    if (want.size() <= 2000) CHECK(write_and_read(values.vector()) == values.vector());
}

template <class Int>
void any_values(Input& input) {
    const size_t width = input.below(sizeof(Int)) + 1;
    const size_t repeats = input.byte();
    const bool sums = input.flag();
    std::vector<Int> values;
    std::make_unsigned_t<Int> last = 0;
    while (!input.empty()) {
        const uint64_t number = input.number(width);
        last = static_cast<std::make_unsigned_t<Int>>(sums ? last + number : number);
        values.push_back(static_cast<Int>(last));
    }
    const size_t once = values.size();
    for (size_t i = 0; i < repeats * once && values.size() < 1000; i++) {
        values.push_back(static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(values[i]) + last));
    }
    CHECK(write_and_read(values) == values);
}

void put_varint(Bytes& to, uint64_t number) {
    for (; number >= 128; number >>= 7) to.push_back(static_cast<uint8_t>(number | 128));
    to.push_back(static_cast<uint8_t>(number));
}

// Streams that writers might make, and almost: sizes and widths about what is legal, and bytes enough.
template <class Int>
void made_stream(Input& input) {
    const size_t miniblocks = input.below(6);
    const size_t miniblock = 8 * input.below(20);
    const size_t count = input.below(700);
    Bytes data;
    put_varint(data, miniblocks * miniblock + input.byte() / 255u);
    put_varint(data, miniblocks);
    put_varint(data, count);
    put_varint(data, input.number(input.byte() % 9));
    uint64_t state = input.byte();
    for (size_t done = 1; done < count && miniblock > 0 && miniblocks > 0; done += miniblocks * miniblock) {
        put_varint(data, input.number(input.byte() % 9));
        size_t bytes = 0;
        for (size_t m = 0; m < miniblocks; m++) {
            const size_t width = input.byte() % (8 * sizeof(Int) + 2);
            data.push_back(static_cast<uint8_t>(width));
            if (done + m * miniblock < count) bytes += miniblock / 8 * width;
        }
        for (size_t i = 0; i < bytes; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            data.push_back(static_cast<uint8_t>(state >> 56));
        }
    }
    // Cut, or with bytes behind.
    const size_t change = input.byte();
    if (change > 250) data.resize(data.size() - std::min(data.size(), 256 - change));
    if (change < 10) data.resize(data.size() + change, 0xFF);
    read_any<Int>(data);
}

template <class Int>
void run(Input& input, bool write, bool usual_header, bool made) {
    if (write) return any_values<Int>(input);
    if (made) return made_stream<Int>(input);
    Bytes data = input.rest();
    // What writers begin with, so that what follows is reached.
    if (usual_header) data.insert(data.begin(), {0x80, 0x01, 0x04});
    read_any<Int>(data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    if (kind & 1) {
        run<int64_t>(input, (kind & 2) != 0, (kind & 4) != 0, (kind & 8) != 0);
    } else {
        run<int32_t>(input, (kind & 2) != 0, (kind & 4) != 0, (kind & 8) != 0);
    }
    return 0;
}
