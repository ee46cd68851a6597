// The candidates for symbols: every repeated substring of a sample worth a look, as a trie.
//
// All sample positions are put in order of their next 8 bytes. Equal prefixes are then neighbours, so one
// sweep finds each substring of up to 8 bytes that occurs more than once and cannot be extended without
// losing occurrences. What occurs where is known from then on: the trainer never looks at bytes again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "port.hpp"
#include "sample.hpp"
#include "symbol_table.hpp"

namespace fsst {

// Node 0 stands for a separator. The others are in an order in which a node comes before those that it is
// a prefix of, and these follow it without a gap: node n's subtree is [n, after[n]).
struct Candidates {
    std::vector<uint64_t> bytes;        // as in SymbolTable
    std::vector<uint8_t> length;        // 1..8, node 0: 0
    std::vector<uint16_t> parent;       // the longest candidate that is a proper prefix, or 0
    std::vector<uint16_t> after;        // end of the subtree
    std::vector<uint32_t> first, last;  // occurrences: order[first..last)
    std::vector<uint32_t> order;        // sample positions by their next bytes
    std::vector<uint16_t> node;         // the longest candidate that is a prefix here, by position

    size_t count() const noexcept { return length.size(); }
};

namespace detail {

// Stable counting passes over pairs of bytes, last pair first; `Key` holds a pair of byte ranks.
template <class Key>
std::vector<uint32_t> sort_positions(const Sample& sample, const uint16_t rank[256], uint32_t ranks) {
    size_t size = sample.size() - Sample::kSeparators;
    std::vector<Key> pair(sample.size());
    uint32_t next = 0;
    for (size_t i = sample.size() - 1; i-- > 0;) {
        uint32_t here = sample.left[i] ? rank[sample.bytes[i]] : 0;
        pair[i] = static_cast<Key>(here * ranks + next);
        next = here;
    }
    // A pass's keys are the text's pairs, shifted: one count, of which the ends change, serves all.
    std::vector<uint32_t> count(size_t{ranks} * ranks), start(count.size());
    for (size_t i = 6; i < size + 6; i++) count[pair[i]]++;
    std::vector<uint32_t> from(size), to(size);
    for (size_t i = 0; i < size; i++) from[i] = static_cast<uint32_t>(i);
    for (size_t step = 4; step-- > 0;) {
        const Key* key = pair.data() + 2 * step;
        uint32_t sum = 0;
        for (size_t k = 0; k < count.size(); k++) {
            start[k] = sum;
            sum += count[k];
        }
        for (uint32_t p : from) to[start[key[p]]++] = p;
        from.swap(to);
        if (step == 0) break;
        for (size_t i = 1; i <= 2; i++) {
            count[key[size - i]]--;
            count[pair[2 * step - i]]++;
        }
    }
    // Separators came first.
    size_t separators = size - static_cast<size_t>(sample.text);
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(separators));
    return from;
}

// Positions of the sample, separators left out, ordered by their next 8 bytes; a row's end sorts first.
// Bytes are renumbered by the ones that occur (text has 60 to 100), so that counters stay in the first
// level cache.
inline std::vector<uint32_t> sort_positions(const Sample& sample) {
    size_t size = sample.size() - Sample::kSeparators;
    uint16_t rank[256] = {};
    for (size_t i = 0; i < size; i++) rank[sample.bytes[i]] = 1;
    uint16_t ranks = 1;  // 0 is the separator
    for (uint16_t& r : rank) r = r ? ranks++ : 0;
    return ranks <= 256 ? sort_positions<uint16_t>(sample, rank, ranks)
                        : sort_positions<uint32_t>(sample, rank, ranks);
}

// A word whose low `count` bits (0..63) are ones.
inline uint64_t low_bits(unsigned count) noexcept {
    return (uint64_t{1} << count) - 1;
}

inline unsigned lowest_bit(uint64_t word) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    return static_cast<unsigned>(__builtin_ctzll(word));
#else
    unsigned bit = 0;
    while ((word >> bit & 1) == 0) bit++;
    return bit;
#endif
}

inline unsigned equal_bytes(uint64_t a, uint64_t b) noexcept {
    return a == b ? 8 : lowest_bit(a ^ b) / 8;
}

struct Found {
    uint32_t first, last;
    uint8_t length;

    uint32_t score() const noexcept { return (last - first) * (length - 1u); }
};

// Runs of at least `least` positions that share their first `length` bytes. `common[i]`: bytes that
// positions i - 1 and i of the order share, at most 8; padded with zeros to a multiple of 64, and 64 more.
// Tests 64 positions at a time: a loop over positions mispredicts at nearly every one.
inline std::vector<Found> find_runs(const std::vector<uint8_t>& common, uint8_t length, uint32_t least) {
    constexpr uint64_t kOnes = 0x0101010101010101u;
    std::vector<uint64_t> same(common.size() / 64);
    for (size_t w = 0; w < same.size(); w++) {
        uint64_t bits = 0;
        for (size_t i = 0; i < 8; i++) {
            // 0x80 in each byte that is at least `length`; the product collects them in the top byte.
            uint64_t eight = load_le<uint64_t>(&common[w * 64 + i * 8]) + (0x80u - length) * kOnes;
            bits |= ((eight >> 7 & kOnes) * 0x0102040810204080u >> 56) << (8 * i);
        }
        same[w] = bits;
    }
    // Bit i stays if the least - 2 bits above it are set too: runs that are too short go.
    for (uint32_t erosion = 2; erosion < least; erosion++) {
        for (size_t w = 0; w + 1 < same.size(); w++) same[w] &= same[w] >> 1 | same[w + 1] << 63;
    }
    std::vector<Found> found;
    bool open = false;
    uint32_t first = 0;
    for (size_t w = 0; w < same.size(); w++) {
        uint64_t edges = open ? ~same[w] : same[w];
        uint32_t base = static_cast<uint32_t>(w * 64);
        while (edges != 0) {
            unsigned bit = lowest_bit(edges);
            if (open) {
                found.push_back({first, base + bit + least - 2, length});
            } else {
                first = base + bit - 1;
            }
            open = !open;
            edges = (open ? ~same[w] : same[w]) & ~low_bits(bit);
        }
    }
    return found;
}

// Repeated substrings with at least `least` occurrences and every single byte, each before those that it
// is a prefix of. A substring that always goes on the same way is left out for its extension.
inline std::vector<Found> find_repeated(const Sample& sample, const std::vector<uint32_t>& order,
                                        uint32_t least) {
    size_t size = order.size();
    std::vector<uint8_t> common((size + 127) / 64 * 64), lengths(common.size());
    uint64_t before = 0;
    unsigned left_before = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t here = load_le<uint64_t>(sample.bytes.data() + order[i]);
        unsigned left = sample.left[order[i]];
        common[i] = static_cast<uint8_t>(std::min({equal_bytes(before, here), left_before, left}));
        before = here;
        left_before = left;
    }
    // lengths[i]: bit l - 1 is set if a run of length l begins at i.
    std::vector<Found> runs[kMaxSymbolLength + 1];
    for (size_t i = 0; i < size; i++) {
        if (common[i] != 0) continue;
        if (!runs[1].empty()) runs[1].back().last = static_cast<uint32_t>(i);
        runs[1].push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(size), 1});
        lengths[i] = 1;
    }
    for (uint8_t length = 2; length <= kMaxSymbolLength; length++) {
        runs[length] = find_runs(common, length, least);
        for (const Found& run : runs[length]) lengths[run.first] |= static_cast<uint8_t>(1 << (length - 1));
    }
    std::vector<Found> found;
    size_t next[kMaxSymbolLength + 1] = {};
    for (size_t eight = 0; eight < size; eight += 8) {
        if (load_le<uint64_t>(&lengths[eight]) == 0) continue;
        for (size_t i = eight; i < eight + 8; i++) {
            for (uint64_t bits = lengths[i]; bits != 0; bits &= bits - 1) {
                size_t length = lowest_bit(bits) + 1;
                const Found& run = runs[length][next[length]++];
                bool longer =
                    length > 1 && (bits >> length & 1) && runs[length + 1][next[length + 1]].last == run.last;
                if (!longer) found.push_back(run);
            }
        }
    }
    return found;
}

// Keeps single bytes and the `most` longer ones that could save most; of equal ones, the first found.
inline void keep_best(std::vector<Found>& found, size_t most) {
    std::vector<uint64_t> keys;
    keys.reserve(found.size());
    for (size_t i = 0; i < found.size(); i++) {
        if (found[i].length > 1) keys.push_back(uint64_t{found[i].score()} << 32 | (~i & 0xFFFFFFFFu));
    }
    if (keys.size() <= most) return;
    auto bound = keys.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(keys.begin(), bound, keys.end(), [](uint64_t a, uint64_t b) { return a > b; });
    uint64_t limit = *bound;
    size_t kept = 0;
    for (size_t i = 0; i < found.size(); i++) {
        uint64_t key = uint64_t{found[i].score()} << 32 | (~i & 0xFFFFFFFFu);
        if (found[i].length == 1 || key > limit) found[kept++] = found[i];
    }
    found.resize(kept);
}

}  // namespace detail

// `most`: how many candidates of two bytes or more; below 65000, as nodes are numbered in 16 bits.
inline Candidates find_candidates(const Sample& sample, uint32_t least, size_t most) {
    Candidates all;
    all.order = detail::sort_positions(sample);
    std::vector<detail::Found> found = detail::find_repeated(sample, all.order, least);
    detail::keep_best(found, most);

    size_t count = found.size() + 1;
    all.bytes.resize(count);
    all.length.resize(count);
    all.parent.resize(count);
    all.after.resize(count);
    all.first.resize(count);
    all.last.resize(count);
    all.after[0] = 1;
    std::vector<uint16_t> by_order(all.order.size());
    uint16_t open = 0;
    for (size_t n = 1; n < count; n++) {
        const detail::Found& f = found[n - 1];
        while (open != 0 && f.first >= all.last[open]) {
            all.after[open] = static_cast<uint16_t>(n);
            open = all.parent[open];
        }
        all.bytes[n] = load_le<uint64_t>(sample.bytes.data() + all.order[f.first]) & low_bytes(f.length);
        all.length[n] = f.length;
        all.parent[n] = open;
        all.first[n] = f.first;
        all.last[n] = f.last;
        open = static_cast<uint16_t>(n);
        // Longer ones overwrite it, as they come later.
        std::fill(by_order.begin() + f.first, by_order.begin() + f.last, open);
    }
    for (; open != 0; open = all.parent[open]) all.after[open] = static_cast<uint16_t>(count);

    all.node.resize(sample.size());
    for (size_t i = 0; i < by_order.size(); i++) all.node[all.order[i]] = by_order[i];
    return all;
}

}  // namespace fsst
