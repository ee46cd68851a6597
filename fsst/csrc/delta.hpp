// DELTA_BINARY_PACKED, Parquet's encoding of int32 and int64 (apache/parquet-format, Encodings.md):
//
//     header  varint block size | varint miniblocks | varint count | zigzag varint first value
//     block   zigzag varint smallest delta | u8 width for each miniblock | the miniblocks
//
// A miniblock holds block size / miniblocks deltas, the smallest of the block taken off, `width` bits
// each, the lowest bit first. The last miniblock that holds values is filled up; those after it have a
// width, but no bytes. All arithmetic wraps in the width of the integers.
#pragma once

#include "port.hpp"
#include "status.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fsst {

// What is written. Readers take any legal header.
constexpr size_t kDeltaBlock = 128;
constexpr size_t kDeltaMiniblocks = 4;
constexpr size_t kDeltaMiniblock = kDeltaBlock / kDeltaMiniblocks;

// Equal deltas take no bits, so a stream of a few bytes can hold 2^63 values. More than
// these for each byte are refused, before memory is taken for them: writers' blocks of 128 to 1024
// values in 4 miniblocks hold 26 to 205 for each byte at most.
constexpr uint64_t kDeltaPerByte = 512;
constexpr uint64_t kDeltaFree = uint64_t{1} << 16;  // and these in any case

namespace delta_detail {

constexpr size_t kMaxVarint = 10;

template <class Word>
FSST_ALWAYS_INLINE Word zigzag(Word value) noexcept {
    return static_cast<Word>(value << 1) ^
           static_cast<Word>(Word{0} - static_cast<Word>(value >> (8 * sizeof(Word) - 1)));
}

FSST_ALWAYS_INLINE uint64_t unzigzag(uint64_t value) noexcept {
    return value >> 1 ^ (0 - (value & 1));
}

FSST_ALWAYS_INLINE unsigned bits_of(uint64_t value) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    return value == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(value));
#else
    unsigned bits = 0;
    for (; value != 0; value >>= 1) bits++;
    return bits;
#endif
}

FSST_ALWAYS_INLINE size_t varint_size(uint64_t value) noexcept {
    return value == 0 ? 1 : (bits_of(value) + 6) / 7;
}

FSST_ALWAYS_INLINE uint8_t* put_varint(uint8_t* out, uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
    *out++ = static_cast<uint8_t>(value);
    return out;
}

// Reads at `at`, which moves behind it. Overlong forms are legal, more than 64 bits are not.
inline Status get_varint(const uint8_t* data, size_t size, size_t& at, uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at >= size) return Status::delta_cut;
        const uint64_t byte = data[at++];
        if (shift == 63 && byte > 1) return Status::delta_bad_varint;
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return Status::ok;
    }
    return Status::delta_bad_varint;
}

// --- Writing ---

// The deltas of a block, the smallest taken off; zeros from the last value on.
template <class Int>
struct Block {
    using Word = std::make_unsigned_t<Int>;
    Word packed[kDeltaBlock];
    Word smallest;
    unsigned width[kDeltaMiniblocks];
    size_t used;  // miniblocks that hold values

    size_t size() const noexcept {
        size_t bytes = varint_size(zigzag(smallest)) + kDeltaMiniblocks;
        for (size_t m = 0; m < used; m++) bytes += width[m] * kDeltaMiniblock / 8;
        return bytes;
    }
};

// `count` deltas (1 to kDeltaBlock), the first of them from value first - 1 to first.
template <class Int, class Values>
FSST_ALWAYS_INLINE void make_block(const Values& values, size_t first, size_t count,
                                   Block<Int>& block) noexcept {
    using Word = typename Block<Int>::Word;
    Word* const packed = block.packed;
    // Constant bounds for whole blocks: these loops vectorise.
    const auto deltas = [&](size_t n) {
        for (size_t i = 0; i < n; i++) {
            packed[i] = static_cast<Word>(static_cast<Word>(values(first + i)) -
                                          static_cast<Word>(values(first + i - 1)));
        }
        Int smallest = static_cast<Int>(packed[0]);
        for (size_t i = 0; i < n; i++) {
            const Int delta = static_cast<Int>(packed[i]);
            smallest = delta < smallest ? delta : smallest;
        }
        return static_cast<Word>(smallest);
    };
    block.smallest = count == kDeltaBlock ? deltas(kDeltaBlock) : deltas(count);
    for (size_t i = count; i < kDeltaBlock; i++) packed[i] = block.smallest;
    for (size_t m = 0; m < kDeltaMiniblocks; m++) {
        Word any = 0;
        for (size_t i = 0; i < kDeltaMiniblock; i++) {
            Word& delta = packed[m * kDeltaMiniblock + i];
            delta = static_cast<Word>(delta - block.smallest);
            any |= delta;
        }
        block.width[m] = bits_of(any);
    }
    block.used = (count + kDeltaMiniblock - 1) / kDeltaMiniblock;
}

// Appends words of `width` bits (1 to 64), the lowest bit first; `count * width` is a multiple of 32.
FSST_ALWAYS_INLINE uint8_t* append(const uint64_t* words, size_t count, unsigned width,
                                   uint8_t* out) noexcept {
    uint64_t kept = 0;
    unsigned fill = 0;  // bits kept, below 64
    for (size_t i = 0; i < count; i++) {
        kept |= words[i] << fill;
        fill += width;
        if (fill < 64) continue;
        store_le<uint64_t>(out, kept);
        out += 8;
        fill -= 64;
        kept = fill == 0 ? 0 : words[i] >> (width - fill);
    }
    if (fill != 0) {  // 32 bits: a miniblock has a multiple of them
        store_le<uint32_t>(out, static_cast<uint32_t>(kept));
        out += 4;
    }
    return out;
}

// Packs a miniblock. Narrow deltas are first joined two by two, which is independent work: appending is
// a chain, each step waiting for the last.
template <class Word>
inline uint8_t* pack(const Word* deltas, unsigned width, uint8_t* out) noexcept {
    if (width == 0) return out;
    uint64_t words[kDeltaMiniblock];
    size_t count = kDeltaMiniblock;
    if (width > 32) {
        for (size_t i = 0; i < count; i++) words[i] = deltas[i];
        return append(words, count, width, out);
    }
    count /= 2;
    for (size_t i = 0; i < count; i++)
        words[i] = uint64_t{deltas[2 * i]} | uint64_t{deltas[2 * i + 1]} << width;
    width *= 2;
    while (width <= 32 && count > 1) {
        count /= 2;
        for (size_t i = 0; i < count; i++) words[i] = words[2 * i] | words[2 * i + 1] << width;
        width *= 2;
    }
    return append(words, count, width, out);
}

template <class Int, class Values>
uint64_t first_zigzag(const Values& values, size_t count) noexcept {
    return count == 0 ? 0 : zigzag(static_cast<std::make_unsigned_t<Int>>(values(0)));
}

inline size_t header_size(size_t count, uint64_t first) noexcept {
    return varint_size(kDeltaBlock) + varint_size(kDeltaMiniblocks) + varint_size(count) + varint_size(first);
}

}  // namespace delta_detail

// An array as what the encoders take: anything that is called with an index and gives an Int.
template <class Int>
struct ArrayValues {
    const Int* values;
    Int operator()(size_t i) const noexcept { return values[i]; }
};

// The most bytes that `count` integers of `width` bytes are encoded in.
constexpr size_t delta_bound(size_t count, size_t width) noexcept {
    const size_t block = delta_detail::kMaxVarint + kDeltaMiniblocks + kDeltaBlock * width;
    return 4 * delta_detail::kMaxVarint + (count / kDeltaBlock + 1) * block;
}

// Exactly what encode_delta writes.
template <class Int, class Values>
size_t delta_size(const Values& values, size_t count) noexcept {
    using namespace delta_detail;
    size_t bytes = header_size(count, first_zigzag<Int>(values, count));
    Block<Int> block;
    for (size_t at = 1; at < count; at += kDeltaBlock) {
        make_block<Int>(values, at, count - at < kDeltaBlock ? count - at : kDeltaBlock, block);
        bytes += block.size();
    }
    return bytes;
}

// Writes `count` values; `out` has room for delta_size bytes. Returns the bytes written.
template <class Int, class Values>
size_t encode_delta(const Values& values, size_t count, uint8_t* out) noexcept {
    using namespace delta_detail;
    uint8_t* const begin = out;
    out = put_varint(out, kDeltaBlock);
    out = put_varint(out, kDeltaMiniblocks);
    out = put_varint(out, count);
    out = put_varint(out, first_zigzag<Int>(values, count));
    Block<Int> block;
    for (size_t at = 1; at < count; at += kDeltaBlock) {
        make_block<Int>(values, at, count - at < kDeltaBlock ? count - at : kDeltaBlock, block);
        out = put_varint(out, zigzag(block.smallest));
        for (size_t m = 0; m < kDeltaMiniblocks; m++) {
            *out++ = static_cast<uint8_t>(m < block.used ? block.width[m] : 0);
        }
        for (size_t m = 0; m < block.used; m++) {
            out = pack(block.packed + m * kDeltaMiniblock, block.width[m], out);
        }
    }
    return static_cast<size_t>(out - begin);
}

// --- Reading ---

struct DeltaHeader {
    uint64_t block = 0;       // values, a multiple of 128
    uint64_t miniblocks = 0;  // in a block
    uint64_t miniblock = 0;   // values, a multiple of 32
    uint64_t count = 0;
    uint64_t first = 0;
    size_t size = 0;  // bytes of the header itself
};

// The header of a stream of Int. What it says of sizes is checked for itself; that the bytes are there
// is for decode_delta to see.
template <class Int>
Outcome parse_delta(const uint8_t* data, size_t size, DeltaHeader& header) noexcept {
    using namespace delta_detail;
    Outcome found;
    size_t at = 0;
    uint64_t* const fields[4] = {&header.block, &header.miniblocks, &header.count, &header.first};
    for (uint64_t* field : fields) {
        const size_t begin = at;
        found.status = get_varint(data, size, at, *field);
        if (found.ok()) continue;
        found.position = static_cast<int64_t>(begin);
        found.size = static_cast<int64_t>(at - begin + 1);
        found.limit = static_cast<int64_t>(size - begin);
        return found;
    }
    header.size = at;
    header.first = unzigzag(header.first);
    const auto fault = [&](Status status, uint64_t value, uint64_t limit) {
        found.status = status;
        found.size = static_cast<int64_t>(value);
        found.limit = static_cast<int64_t>(limit);
        return found;
    };
    if (header.block == 0 || header.block % 128 != 0 || header.block >> 62 != 0) {
        return fault(Status::delta_bad_block, header.block, 0);
    }
    if (header.miniblocks == 0 || header.block % header.miniblocks != 0 ||
        header.block / header.miniblocks % 32 != 0) {
        return fault(Status::delta_bad_miniblocks, header.miniblocks, header.block);
    }
    header.miniblock = header.block / header.miniblocks;
    const uint64_t most = kDeltaFree + kDeltaPerByte * static_cast<uint64_t>(size);
    if (header.count > most) {
        found.position = static_cast<int64_t>(size);
        return fault(Status::delta_too_many, header.count, most);
    }
    if (static_cast<uint64_t>(static_cast<int64_t>(static_cast<Int>(header.first))) != header.first) {
        return fault(Status::delta_bad_first, header.first, 8 * sizeof(Int));
    }
    return found;
}

namespace delta_detail {

// Adds `count` packed deltas to `value`, each also `smallest`; `in` has `readable` bytes and among
// them all that the deltas take.
template <class Word>
FSST_ALWAYS_INLINE Word unpack(const uint8_t* in, size_t readable, unsigned width, size_t count,
                               Word smallest, Word value, Word* out) noexcept {
    if (width == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = static_cast<Word>(value + smallest * static_cast<Word>(i + 1));
        return count == 0 ? value : out[count - 1];
    }
    const uint64_t mask = ~uint64_t{0} >> (64 - width);
    size_t i = 0;
    const auto add = [&](uint64_t delta) {
        value = static_cast<Word>(value + smallest + static_cast<Word>(delta));
        out[i++] = value;
    };
    // A delta of up to 57 bits is within the 8 bytes from its first on. Eight deltas take `width` bytes.
    if (width <= 57) {
        while (i + 8 <= count && (i + 7) * width / 8 + 8 <= readable) {
            const uint8_t* const group = in + i / 8 * width;
            // SAFETY: the last of the eight loads ends within the readable bytes.
            for (unsigned k = 0; k < 8; k++)
                add(load_le<uint64_t>(group + k * width / 8) >> (k * width % 8) & mask);
        }
    }
    while (i < count) {
        const size_t bit = i * width;
        const size_t at = bit / 8;
        const unsigned shift = bit % 8;
        // SAFETY: the deltas' bytes are readable; load_up_to_8 reads no more than those.
        uint64_t delta = load_up_to_8(in + at, readable - at) >> shift;
        if (shift + width > 64) delta |= uint64_t{in[at + 8]} << (64 - shift);
        add(delta & mask);
    }
    return value;
}

}  // namespace delta_detail

// Decodes what `header` announces; `values` has room for header.count. Outcome::size is the bytes read,
// header and all.
template <class Int>
Outcome decode_delta(const uint8_t* data, size_t size, const DeltaHeader& header, Int* values) noexcept {
    using namespace delta_detail;
    using Word = std::make_unsigned_t<Int>;
    Word* const out = reinterpret_cast<Word*>(values);
    const size_t count = static_cast<size_t>(header.count);
    Outcome found;
    size_t at = header.size;
    size_t done = 0;
    const auto fault = [&](Status status, size_t where, uint64_t value, uint64_t limit) {
        found.status = status;
        found.row = static_cast<int64_t>(done);
        found.position = static_cast<int64_t>(where);
        found.size = static_cast<int64_t>(value);
        found.limit = static_cast<int64_t>(limit);
        return found;
    };
    Word value = static_cast<Word>(header.first);
    if (count > 0) out[done++] = value;
    while (done < count) {
        const size_t begin = at;
        uint64_t smallest;
        const Status status = get_varint(data, size, at, smallest);
        if (status != Status::ok) return fault(status, begin, at - begin + 1, size - begin);
        smallest = unzigzag(smallest);
        if (header.miniblocks > size - at) return fault(Status::delta_cut, at, header.miniblocks, size - at);
        const uint8_t* const widths = data + at;
        at += static_cast<size_t>(header.miniblocks);
        for (size_t m = 0; m < header.miniblocks && done < count; m++) {
            const unsigned width = widths[m];
            if (width > 8 * sizeof(Int)) {
                return fault(Status::delta_bad_width, static_cast<size_t>(widths + m - data), width,
                             8 * sizeof(Int));
            }
            const uint64_t groups = header.miniblock / 8;  // of `width` bytes each
            if (width != 0 && groups > (size - at) / width) {
                return fault(Status::delta_cut, at, groups > UINT32_MAX ? INT64_MAX : groups * width,
                             size - at);
            }
            const size_t left = count - done;
            const size_t here = left < header.miniblock ? left : static_cast<size_t>(header.miniblock);
            // SAFETY: the bytes of the whole miniblock are there, and room for count values.
            value = unpack(data + at, size - at, width, here, static_cast<Word>(smallest), value, out + done);
            done += here;
            at += static_cast<size_t>(groups * width);
        }
    }
    found.size = static_cast<int64_t>(at);
    return found;
}

namespace delta_detail {

// The sum of a miniblock of 32 deltas of 3 to 8 bits. Eight at a time, of 64 bits, are added to become four
// of twice the width, which has room for the sums of four such groups; in the end those become two, and one.
FSST_ALWAYS_INLINE uint64_t sum_packed(const uint8_t* in, unsigned width) noexcept {
    const auto field = [](unsigned at, unsigned bits) { return ((uint64_t{1} << bits) - 1) << at; };
    const uint64_t even =
        field(0, width) * (1 | field(2 * width, 1) | field(4 * width, 1) | field(6 * width, 1));
    uint64_t sum = 0;
    for (size_t group = 0; group < kDeltaMiniblock / 8; group++) {
        // SAFETY: the caller has seen that 3 * width + 8 bytes are readable.
        const uint64_t x = load_le<uint64_t>(in + group * width);
        sum += (x & even) + (x >> width & even);
    }
    const uint64_t twos = field(0, 2 * width) | field(4 * width, 2 * width);
    sum = (sum & twos) + (sum >> 2 * width & twos);
    return (sum & field(0, 4 * width)) + (sum >> 4 * width);
}

}  // namespace delta_detail

// Of ascending values those at `positions`, which ascend and lie below header.count, and those before each, 0
// before the first. The others are only added up; the last of them, and of the bytes, must be `last` and
// `size`. False where anything else is found, or another block size: then decode_delta is to say what there
// is.
inline bool pick_delta(const uint8_t* data, size_t size, const DeltaHeader& header, uint64_t last,
                       const int64_t* positions, size_t picked, int32_t* before, int32_t* values) noexcept {
    using namespace delta_detail;
    if (header.miniblock != kDeltaMiniblock || header.count == 0 || header.first > last || last > INT32_MAX) {
        return false;
    }
    const size_t count = static_cast<size_t>(header.count);
    size_t at = header.size;
    size_t done = 1;
    size_t next = 0;  // of the positions
    uint64_t value = header.first;
    uint32_t unpacked[kDeltaMiniblock];
    const auto put = [&](uint64_t start, uint64_t end) {
        before[next] = static_cast<int32_t>(start);
        values[next++] = static_cast<int32_t>(end);
    };
    while (next < picked && positions[next] == 0) put(0, value);
    while (done < count) {
        uint64_t smallest;
        if (get_varint(data, size, at, smallest) != Status::ok) return false;
        smallest = unzigzag(smallest);
        // Also where it is negative.
        if (smallest > last || header.miniblocks > size - at) return false;
        const uint8_t* const widths = data + at;
        at += static_cast<size_t>(header.miniblocks);
        for (size_t m = 0; m < header.miniblocks && done < count; m++) {
            const unsigned width = widths[m];
            const size_t bytes = width * kDeltaMiniblock / 8;
            if (width > 32 || bytes > size - at) return false;
            const size_t here = count - done < kDeltaMiniblock ? count - done : kDeltaMiniblock;
            const bool wanted = next < picked && static_cast<uint64_t>(positions[next]) < done + here;
            if (!wanted && here == kDeltaMiniblock && width == 0) {
                value += kDeltaMiniblock * smallest;
            } else if (!wanted && here == kDeltaMiniblock && width >= 3 && width <= 8 &&
                       3 * width + 8 <= size - at) {
                value += kDeltaMiniblock * smallest + sum_packed(data + at, width);
            } else {
                uint64_t sum = value;
                unpack<uint32_t>(data + at, size - at, width, here, 0, 0, unpacked);
                for (size_t i = 0; i < here; i++) {
                    const uint64_t start = sum;
                    sum += smallest + static_cast<uint32_t>(unpacked[i] - (i == 0 ? 0 : unpacked[i - 1]));
                    while (next < picked && static_cast<uint64_t>(positions[next]) == done + i)
                        put(start, sum);
                }
                value = sum;
            }
            if (value > last) return false;
            done += here;
            at += bytes;
        }
    }
    return value == last && at == size && next == picked;
}

}  // namespace fsst
