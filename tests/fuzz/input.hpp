// What fuzz targets share: tables, rows and numbers out of arbitrary bytes, and memory that ends where it
// ends.
//
// Bytes are taken from the front, and zeros follow the last: every input means something, and a byte changed
// or inserted changes little else. Small inputs stand for large columns: bytes and row lengths are repeated.
#pragma once

#include <cstdio>

#include "../native/exact_buffer.hpp"
#include "isa.hpp"
#include "rows.hpp"
#include "symbol_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace fuzz {

using Bytes = std::vector<uint8_t>;

class Input {
 public:
    Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

    bool empty() const { return size_ == 0; }
    uint8_t byte() {
        if (size_ == 0) return 0;
        size_--;
        return *data_++;
    }
    bool flag() { return (byte() & 1) != 0; }
    size_t below(size_t limit) { return number(limit > 256 ? 2 : 1) % limit; }
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        for (size_t i = 0; i < bytes; i++) value |= uint64_t{byte()} << (8 * i);
        return value;
    }
    Bytes take(size_t count) {
        count = std::min(count, size_);
        Bytes bytes(data_, data_ + count);
        data_ += count;
        size_ -= count;
        return bytes;
    }
    Bytes rest() { return take(size_); }

 private:
    const uint8_t* data_;
    size_t size_;
};

// An array of exactly these elements, beyond which AddressSanitizer lets nobody read or write.
template <class T>
struct Exact {
    size_t count;
    std::unique_ptr<T[]> memory;

    explicit Exact(size_t elements) : count(elements), memory(new T[elements]) {}
    explicit Exact(const std::vector<T>& from) : Exact(from.size()) {
        std::copy(from.begin(), from.end(), memory.get());
    }
    T* data() { return memory.get(); }
    T& operator[](size_t i) { return memory[i]; }
    std::vector<T> vector() const { return std::vector<T>(memory.get(), memory.get() + count); }
};

// A table of up to 255 symbols: written out, of few letters, or grown from a seed.
inline fsst::SymbolTable take_table(Input& input) {
    fsst::SymbolTable table;
    const uint8_t kind = input.byte();
    const size_t count = input.below(256);
    const size_t longest = kind % 8 + 1u;
    uint64_t state = 0;
    const auto random = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    };
    if (kind / 8 % 4 == 3) state = input.number(2);
    for (size_t i = 0; i < std::min(count, fsst::kMaxSymbols); i++) {
        uint64_t symbol = 0;
        size_t length = 1;
        switch (kind / 8 % 4) {
            case 0: {  // a length and the bytes
                if (input.empty()) return table;
                length = input.byte() % longest + 1;
                symbol = input.number(length);
                break;
            }
            case 1: {  // the high bits are a length, the low ones choose among four letters
                if (input.empty()) return table;
                const uint64_t bits = input.number(2);
                length = (bits >> 8 & 0xFF) / 32 % longest + 1;
                for (size_t k = 0; k < length; k++) {
                    symbol |= uint64_t{"ab\xFF\xC3"[(bits * 0x9E3779B1u >> (2 * k)) & 3] & 0xFFu} << (8 * k);
                }
                break;
            }
            case 2: {  // a window that slides over what is there: symbols that begin alike
                if (input.empty()) return table;
                const uint8_t step = input.byte();
                length = step % longest + 1;
                const uint64_t before = i == 0 ? 0x6867666564636261u : table.symbol[i - 1];
                symbol = (before ^ (uint64_t{step} << (8 * (length - 1)))) & fsst::low_bytes(length);
                break;
            }
            default: {  // grown
                length = random() % longest + 1;
                for (size_t k = 0; k < length; k++) {
                    const uint64_t letter = kind & 32 ? random() & 0xFF : 'a' + random() % (2 + kind / 64);
                    symbol |= letter << (8 * k);
                }
            }
        }
        table.symbol[table.count] = symbol;
        table.length[table.count++] = static_cast<uint8_t>(length);
    }
    return table;
}

// Bytes back to back and where they are cut. What lies before the first row is nobody's.
template <class Offset>
struct Column {
    Exact<uint8_t> data;
    Exact<Offset> offsets;

    fsst::Rows<Offset> rows() const {
        return fsst::Rows<Offset>{data.memory.get(), offsets.memory.get(), offsets.count - 1};
    }
};

struct Layout {
    Bytes data;
    std::vector<int64_t> offsets;

    template <class Offset>
    Column<Offset> column() const {
        return Column<Offset>{Exact<uint8_t>(data),
                              Exact<Offset>(std::vector<Offset>(offsets.begin(), offsets.end()))};
    }
    size_t count() const { return offsets.size() - 1; }
    Bytes row(size_t i) const { return Bytes(data.begin() + offsets[i], data.begin() + offsets[i + 1]); }
    const uint8_t* begin(size_t i) const { return data.data() + offsets[i]; }
    size_t size(size_t i) const { return static_cast<size_t>(offsets[i + 1] - offsets[i]); }
};

// Rows of at most `most` bytes together, and of at most 600 rows. All that is left of the input is used.
inline Layout take_rows(Input& input, size_t most) {
    Layout layout;
    const uint8_t shape = input.byte();
    const size_t lead = shape & 1 ? input.below(80) : 0;
    const Bytes lengths = input.take(shape >> 1 & 15);
    const size_t wanted = shape & 32 ? input.number(2) % (most + 1) : 0;
    const bool dented = (shape & 64) != 0;
    Bytes bytes = input.rest();
    if (bytes.size() > most) bytes.resize(most);
    const size_t once = bytes.size();
    if (once > 0 && wanted > once) {
        bytes.resize(wanted);
        for (size_t i = once; i < wanted; i++) bytes[i] = bytes[i - once];
        // Repetitions that differ in a byte, each in another.
        if (dented) {
            for (size_t i = once; i + once < wanted; i += once) bytes[i + i / once % once] ^= 1;
        }
    }
    layout.data.assign(lead, fsst::kEscape);
    layout.data.insert(layout.data.end(), bytes.begin(), bytes.end());
    layout.offsets.push_back(static_cast<int64_t>(lead));
    // Without lengths there is one row. The last row has what is left.
    const size_t size = layout.data.size();
    size_t at = lead;
    for (size_t i = 0; i < 600 && !lengths.empty() && (at < size || i < lengths.size()); i++) {
        const size_t length = lengths[i % lengths.size()];
        const size_t longer = length < 200 ? length : (length - 200) * 60;
        at += std::min(longer, size - at);
        layout.offsets.push_back(static_cast<int64_t>(at));
    }
    if (at < size || layout.offsets.size() == 1) layout.offsets.push_back(static_cast<int64_t>(size));
    return layout;
}

// Every instruction set of this processor, the slow twin left out.
inline const std::vector<fsst::Isa>& isas() {
    static const std::vector<fsst::Isa> all = [] {
        std::vector<fsst::Isa> found{fsst::Isa::baseline};
        if (fsst::detect_isa() >= fsst::Isa::avx2) found.push_back(fsst::Isa::avx2);
        if (fsst::detect_isa() >= fsst::Isa::avx512) found.push_back(fsst::Isa::avx512);
        return found;
    }();
    return all;
}

inline void check_same(const fsst::Outcome& a, const fsst::Outcome& b) {
    CHECK(a.status == b.status);
    CHECK(a.row == b.row);
    CHECK(a.position == b.position);
    CHECK(a.size == b.size);
    CHECK(a.limit == b.limit);
}

inline void check_equal(const fsst::SymbolTable& a, const fsst::SymbolTable& b) {
    CHECK(a.count == b.count);
    for (size_t i = 0; i < a.count; i++) CHECK(a.symbol[i] == b.symbol[i] && a.length[i] == b.length[i]);
}

// The text of codes, read the obvious way: what has no symbol stands for nothing, and so does a last escape.
inline std::string text_of(const fsst::SymbolTable& table, const uint8_t* codes, size_t size) {
    std::string text;
    for (size_t at = 0; at < size; at++) {
        const uint8_t code = codes[at];
        if (code == fsst::kEscape) {
            if (++at < size) text += static_cast<char>(codes[at]);
        } else if (code < table.count) {
            char symbol[8];
            fsst::store_le<uint64_t>(symbol, table.symbol[code]);
            text.append(symbol, table.length[code]);
        }
    }
    return text;
}

// Turns arbitrary bytes into codes that the table has, and into escapes here and there.
inline void make_known(const fsst::SymbolTable& table, Layout& codes) {
    for (size_t row = 0; row < codes.count(); row++) {
        const size_t end = static_cast<size_t>(codes.offsets[row + 1]);
        for (size_t at = static_cast<size_t>(codes.offsets[row]); at < end; at++) {
            uint8_t& code = codes.data[at];
            if (code != fsst::kEscape && code >= table.count) {
                code = static_cast<uint8_t>(table.count == 0 ? fsst::kEscape : code % table.count);
            }
            if (code != fsst::kEscape) continue;
            if (at + 1 < end) {
                at++;
            } else if (table.count > 0) {
                code = 0;
            }
        }
    }
}

}  // namespace fuzz
