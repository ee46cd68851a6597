// What the lane kernels look up: every symbol in a form that needs no branch.
//
// A step of the encoder asks up to 1 + kMaxLayers tables and keeps the last answer that fits:
//
//   pair[next two bytes]      the longest symbol of at most two bytes, or the escape: always an answer
//   layer 0 .. layers - 1     symbols of three bytes and more, each in the slot that its first key[i]
//                             bytes hash to; at most one symbol a slot, and slots never collide
//                             (multipliers are searched per table until nothing does)
//
// Longest match is exact because of where symbols are placed: if one symbol is a prefix of another, the
// longer one is in a later layer, and a later answer replaces an earlier one. With one symbol per
// 3-byte prefix one layer does; six layers, one for each length 3..8, do for any table there is.
// Measured (Sapphire Rapids, 3.8 GHz): 3.1 cycles a step without layers, 4.7 with one, 1.7 for each more.
// The pair table holds 16-bit indices, not entries: as fast within 2 %, and a cold build takes 60 us instead
// of 230 (page faults), 128 KB instead of 512.
//
// An entry is a 64-bit word, laid out so that adding it to a lane's word advances the lane (lanes.hpp):
//
//   bits  0..7   8 * text bytes taken (also the bit count that cuts the text down for comparison)
//   bits 32..33  code bytes written: 0, 1, or 2 for an escape
//   bits 48..55  code
//   bits 56..63  literal, after an escape
//
// Two byte values are set aside. `row_end` is staged behind every row and takes one byte of text for
// no code; `lane_end` stands behind a lane's last row and takes nothing, so a finished lane spins on it.
// Symbols that hold either are left out. If that concerns symbols of one byte only (`clean`), then such
// a byte in the data never is part of a longer match, so text may be cut there: see encoder.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "symbol_table.hpp"

namespace fsst {

constexpr int kMaxLayers = 6;
// Slots of a layer, as a power of two. Fewer is faster (L1): 12 bits cost 10 % over 10.
constexpr int kMinSlotBits = 10;
constexpr int kMaxSlotBits = 12;

constexpr uint64_t lane_entry(unsigned length, unsigned advance, unsigned code, unsigned literal) noexcept {
    return uint64_t{8 * length} | uint64_t{advance} << 32 | uint64_t{code} << 48 | uint64_t{literal} << 56;
}

// Text and entries of a layer are apart: an index then scales by 8 in the address, one instruction less than
// with pairs of them.
template <int kSlotBits>
struct LaneLayer {
    uint64_t text[size_t{1} << kSlotBits];
    uint64_t entry[size_t{1} << kSlotBits];
};

// `layers` structs LaneLayer<slot_bits> follow this one in the same allocation. Immutable once built.
struct LaneTable {
    // Index into short_entry: a byte, a byte and row_end (256 +), or a code of two bytes (512 +).
    uint16_t pair[65536];
    uint64_t short_entry[768];
    uint64_t multiplier[kMaxLayers];
    int32_t layers;
    int32_t slot_bits;
    uint8_t row_end;
    uint8_t lane_end;
    bool clean;
    uint8_t key[kMaxLayers];

    template <int kSlotBits>
    const LaneLayer<kSlotBits>& layer(int i) const noexcept {
        return reinterpret_cast<const LaneLayer<kSlotBits>*>(this + 1)[i];
    }
    size_t bytes() const noexcept {
        return sizeof(LaneTable) + sizeof(uint64_t) * (static_cast<size_t>(2 * layers) << slot_bits);
    }
};

struct FreeLaneTable {
    void operator()(LaneTable* table) const noexcept { ::operator delete(static_cast<void*>(table)); }
};
using LaneTablePtr = std::unique_ptr<LaneTable, FreeLaneTable>;

// Builds a LaneTable. Deterministic: no clock, no random seed.
class LaneTableBuilder {
 public:
    explicit LaneTableBuilder(const SymbolTable& table) noexcept : table_(table) {
        choose_ends();
        collect_longs();
    }

    // Fewest layers first. Null if no multiplier was found, which takes a table made for it.
    LaneTablePtr build() {
        for (int layers = long_count_ == 0 ? 0 : 1; layers <= kMaxLayers; layers++) {
            fills_left_ = 3;
            LaneTablePtr found = try_keys(layers, 0, 3);
            if (found) return found;
        }
        return nullptr;
    }

 private:
    struct Long {
        uint64_t text;
        uint8_t length;
        uint8_t code;
        int16_t parent;  // the longest other symbol that is a prefix of this one, or -1
    };

    static bool holds(uint64_t symbol, unsigned length, uint8_t byte) noexcept {
        for (unsigned i = 0; i < length; i++) {
            if ((symbol >> (8 * i) & 0xFF) == byte) return true;
        }
        return false;
    }

    bool holds_end(uint32_t code) const noexcept {
        return holds(table_.symbol[code], table_.length[code], row_end_) ||
               holds(table_.symbol[code], table_.length[code], lane_end_);
    }

    // The two bytes that symbols need least; among equals those that text holds least. Where they occur
    // in the data all the same, it costs time and nothing else.
    void choose_ends() noexcept {
        uint32_t cost[256];
        for (unsigned byte = 0; byte < 256; byte++) {
            // Never in UTF-8; then control bytes; then bytes of rare scripts; zero and 0xFF, frequent in
            // binary data, last.
            const bool invalid = byte == 0xC0 || byte == 0xC1 || (byte >= 0xF5 && byte < 0xFF);
            const bool control = byte > 0 && byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
            cost[byte] = invalid ? 0 : control ? 1 : byte >= 0x80 && byte < 0xFF ? 2 : byte == 0x7F ? 1 : 3;
        }
        for (uint32_t code = 0; code < table_.count; code++) {
            for (unsigned i = 0; i < table_.length[code]; i++) {
                cost[table_.symbol[code] >> (8 * i) & 0xFF] += table_.length[code] > 1 ? kUnclean : 4;
            }
        }
        unsigned first = 0, second = 1;
        if (cost[second] < cost[first]) std::swap(first, second);
        for (unsigned byte = 2; byte < 256; byte++) {
            if (cost[byte] < cost[first]) {
                second = first;
                first = byte;
            } else if (cost[byte] < cost[second]) {
                second = byte;
            }
        }
        row_end_ = static_cast<uint8_t>(first);
        lane_end_ = static_cast<uint8_t>(second);
        clean_ = cost[first] < kUnclean && cost[second] < kUnclean;
    }

    void collect_longs() noexcept {
        for (uint32_t code = 0; code < table_.count; code++) {
            if (table_.length[code] < 3 || holds_end(code)) continue;
            longs_[long_count_++] =
                Long{table_.symbol[code], table_.length[code], static_cast<uint8_t>(code), -1};
        }
        std::sort(longs_, longs_ + long_count_, [](const Long& a, const Long& b) noexcept {
            if (a.text != b.text) return byte_swap(a.text) < byte_swap(b.text);
            return a.length != b.length ? a.length < b.length : a.code < b.code;
        });
        // Where a symbol stands twice its lowest code serves.
        long_count_ = static_cast<int>(std::unique(longs_, longs_ + long_count_,
                                                   [](const Long& a, const Long& b) {
                                                       return a.text == b.text && a.length == b.length;
                                                   }) -
                                       longs_);
        int open[kMaxSymbolLength];
        int depth = 0;
        for (int i = 0; i < long_count_; i++) {
            while (depth > 0 &&
                   !same_start(longs_[open[depth - 1]], longs_[i], longs_[open[depth - 1]].length)) {
                depth--;
            }
            if (depth > 0) longs_[i].parent = static_cast<int16_t>(open[depth - 1]);
            open[depth++] = i;
            shortest_ = std::min(shortest_, int{longs_[i].length});
            by_length_[i] = static_cast<uint8_t>(i);
        }
        for (size_t key = 3; key <= kMaxSymbolLength; key++) {
            uint8_t id = 0;
            for (int i = 0; i < long_count_; i++) {
                if (i > 0 && !same_start(longs_[i - 1], longs_[i], key)) id++;
                group_[key][i] = id;
            }
        }
        std::stable_sort(by_length_, by_length_ + long_count_, [this](uint8_t a, uint8_t b) noexcept {
            return longs_[a].length > longs_[b].length;
        });
    }

    static bool same_start(const Long& a, const Long& b, size_t bytes) noexcept {
        return ((a.text ^ b.text) & low_bytes(bytes)) == 0;
    }

    // Tries all ascending key lengths for layers `at`..`layers` - 1, those before being chosen.
    LaneTablePtr try_keys(int layers, int at, int from) {
        if (at == layers) {
            if (fills_left_ == 0 || !place(layers)) return nullptr;
            fills_left_--;
            return fill(layers);
        }
        for (int key = from; key <= static_cast<int>(kMaxSymbolLength); key++) {
            if (at == 0 && key > shortest_) break;
            key_[at] = static_cast<uint8_t>(key);
            LaneTablePtr found = try_keys(layers, at + 1, key);
            if (found) return found;
        }
        return nullptr;
    }

    // Places the longest first, each in the last layer that is free for its key and before all its
    // extensions.
    bool place(int layers) noexcept {
        bool used[kMaxLayers][256] = {};
        int8_t limit[kMaxSymbols];
        std::fill(limit, limit + long_count_, static_cast<int8_t>(layers));
        for (int step = 0; step < long_count_; step++) {
            const int i = by_length_[step];
            int layer = limit[i] - 1;
            while (layer >= 0 && (key_[layer] > longs_[i].length || used[layer][group_[key_[layer]][i]]))
                layer--;
            if (layer < 0) return false;
            used[layer][group_[key_[layer]][i]] = true;
            layer_[i] = static_cast<int8_t>(layer);
            const int parent = longs_[i].parent;
            if (parent >= 0) limit[parent] = std::min(limit[parent], static_cast<int8_t>(layer));
        }
        return true;
    }

    // A multiplier under which no two symbols of the layer share a slot. Its low bytes are zero, so that
    // only the first key bytes of the text count.
    bool find_multiplier(int layer, int bits, uint64_t& multiplier) const noexcept {
        uint64_t text[kMaxSymbols];
        int count = 0;
        for (int i = 0; i < long_count_; i++) {
            if (layer_[i] == layer) text[count++] = longs_[i].text;
        }
        // A try succeeds with a chance of about exp(-count^2 / 2^(bits + 1)); below 1 in 3000 none is made.
        if (count * count > 16 << bits) return false;
        const int tries = bits == kMaxSlotBits ? 4000 : 300;
        uint64_t random = 0x9E3779B97F4A7C15u;
        for (int attempt = 0; attempt < tries; attempt++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            multiplier = (random | 1) << (64 - 8 * key_[layer]);
            uint64_t taken[(1 << kMaxSlotBits) / 64] = {};
            int done = 0;
            for (; done < count; done++) {
                const uint64_t slot = text[done] * multiplier >> (64 - bits);
                const uint64_t bit = uint64_t{1} << (slot & 63);
                if (taken[slot / 64] & bit) break;
                taken[slot / 64] |= bit;
            }
            if (done == count) return true;
        }
        return false;
    }

    LaneTablePtr fill(int layers) {
        uint64_t multiplier[kMaxLayers] = {};
        int bits = kMinSlotBits;
        for (; bits <= kMaxSlotBits; bits++) {
            int layer = 0;
            while (layer < layers && find_multiplier(layer, bits, multiplier[layer])) layer++;
            if (layer == layers) break;
        }
        if (bits > kMaxSlotBits) return nullptr;

        const size_t slots = size_t{1} << bits;
        const size_t bytes = sizeof(LaneTable) + sizeof(uint64_t) * 2 * slots * static_cast<size_t>(layers);
        LaneTablePtr table(static_cast<LaneTable*>(::operator new(bytes)));
        table->layers = layers;
        table->slot_bits = bits;
        table->row_end = row_end_;
        table->lane_end = lane_end_;
        table->clean = clean_;
        std::memcpy(table->multiplier, multiplier, sizeof(multiplier));
        std::memcpy(table->key, key_, sizeof(key_));
        for (int layer = 0; layer < layers; layer++) {
            // An empty slot compares zero bits of the text with 1: never equal.
            uint64_t* texts =
                reinterpret_cast<uint64_t*>(table.get() + 1) + 2 * slots * static_cast<size_t>(layer);
            uint64_t* entries = texts + slots;
            std::fill_n(texts, slots, uint64_t{1});
            std::fill_n(entries, slots, uint64_t{0});
            for (int i = 0; i < long_count_; i++) {
                if (layer_[i] != layer) continue;
                const uint64_t slot = longs_[i].text * multiplier[layer] >> (64 - bits);
                texts[slot] = longs_[i].text;
                entries[slot] = lane_entry(longs_[i].length, 1, longs_[i].code, 0);
            }
        }
        fill_pairs(*table);
        return table;
    }

    void fill_pairs(LaneTable& table) const noexcept {
        uint64_t* single = table.short_entry;
        for (unsigned byte = 0; byte < 256; byte++) single[byte] = lane_entry(1, 2, kEscape, byte);
        for (uint32_t code = table_.count; code-- > 0;) {
            if (table_.length[code] == 1) single[table_.symbol[code] & 0xFF] = lane_entry(1, 1, code, 0);
        }
        single[row_end_] = lane_entry(1, 0, 0, 0);
        single[lane_end_] = lane_entry(0, 0, 0, 0);
        // One byte and then the row's end: both in one step.
        for (size_t byte = 0; byte < 256; byte++) single[256 + byte] = single[byte] + lane_entry(1, 0, 0, 0);
        for (unsigned code = 0; code < 256; code++) single[512 + code] = lane_entry(2, 1, code, 0);

        for (uint16_t first = 0; first < 256; first++) table.pair[first] = first;
        for (size_t second = 1; second < 256; second++) {
            std::memcpy(table.pair + 256 * second, table.pair, 256 * sizeof(uint16_t));
        }
        for (size_t first = 0; first < 256; first++) {
            if (first != row_end_ && first != lane_end_) table.pair[first | size_t{row_end_} << 8] += 256;
        }
        for (uint32_t code = table_.count; code-- > 0;) {
            if (table_.length[code] != 2 || holds_end(code)) continue;
            table.pair[table_.symbol[code] & 0xFFFF] = static_cast<uint16_t>(512 + code);
        }
    }

    static constexpr uint32_t kUnclean = 4096;

    const SymbolTable& table_;
    uint8_t row_end_ = 0;
    uint8_t lane_end_ = 0;
    bool clean_ = false;
    // Symbols of three bytes and more in the order of their bytes.
    Long longs_[kMaxSymbols];
    int long_count_ = 0;
    int shortest_ = kMaxSymbolLength;
    uint8_t by_length_[kMaxSymbols];
    // group_[n][i] tells apart the first n bytes of symbols.
    uint8_t group_[kMaxSymbolLength + 1][kMaxSymbols];
    int8_t layer_[kMaxSymbols];
    uint8_t key_[kMaxLayers] = {};
    // A search for multipliers that fails takes up to 0.4 ms, so it is not repeated for all keys.
    int fills_left_ = 0;
};

}  // namespace fsst
