// Which rows contain a needle, found on the codes.
//
// Rows are taken in blocks. While occurrences are rare a block is *scanned*: what matters is how fast codes
// are passed over, and each candidate is looked at alone. Where they are frequent a block is *mapped*: a
// bit for each code, then for each row whether it has any; what matters is not to mispredict.
//
// Codes may be corrupt. A code without a symbol stands for nothing here, and so does an escape at a row's
// end: the same result under every instruction set, and nothing beyond the row is read.
#pragma once

#include "needle.hpp"
#include "rows.hpp"
#include "scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fsst {

namespace search_detail {

using scan_detail::kStep;

constexpr size_t kSampled = 4096;       // at most so many codes choose the anchor
constexpr size_t kSampledPairs = 1024;  // codes that choose what surely is an occurrence
constexpr size_t kSampledRows = 128;
constexpr size_t kBlockCodes = 32 * 1024;  // about; a block is a multiple of 64 rows
constexpr size_t kMapCodes = 8192;         // 64 rows with more codes are walked
constexpr size_t kShortRow = 64;           // codes; a candidate's row is walked from its start
constexpr size_t kMostSteps = 4 * kMaxCore;
constexpr size_t kRetry = 32;  // mapped blocks after which scanning is tried again

// The escapes in front of `at`: an odd number makes it a literal. More than kMostSteps are not counted.
inline size_t escapes_before(const uint8_t* row, const uint8_t* at) noexcept {
    size_t count = 0;
    while (at > row && at[-1] == kEscape && count <= kMostSteps) {
        at--;
        count++;
    }
    return count;
}

enum class Near { no, yes, unclear };

// Whether an occurrence of the core touches the code at `at`. Unclear after kMostSteps: rows that a hostile
// hand filled with escapes or unknown codes must not be walked to and fro for each candidate.
inline Near core_is_near(const Needle& needle, const uint8_t* row, const uint8_t* row_end,
                         const uint8_t* at) noexcept {
    const DecodeTable& table = needle.table;
    const uint8_t* from = at + 1;
    size_t before = 0;
    // Backwards: the item that `at` belongs to, then as many as an occurrence could begin in.
    for (size_t steps = 0;; steps++) {
        if (steps == kMostSteps) return Near::unclear;
        const size_t run = escapes_before(row, from - 1);
        if (run > kMostSteps) return Near::unclear;
        const bool literal = run % 2 == 1;
        if (steps > 0) before += literal ? 1 : static_cast<size_t>(table.length[from[-1]]);
        from -= literal ? 2 : 1;
        if (from == row || before + 1 >= needle.core) break;
    }
    uint64_t alignments = 0;
    size_t after = 0;
    for (size_t steps = 0; from < row_end; steps++) {
        if (steps == 2 * kMostSteps) return Near::unclear;
        size_t index = *from++;
        if (index == kEscape) {
            if (from == row_end) break;
            index = 256u + *from++;
        }
        alignments = needle.step(alignments, index);
        if (alignments & needle.found) return Near::yes;
        if (from <= at + 1) continue;
        after += static_cast<size_t>(table.length[index]);
        if (alignments == 0 || after >= needle.core) break;
    }
    return Near::no;
}

// Whether the codes beside `at` let it belong to an occurrence; says yes where it can't tell. They may be
// another row's: what they rule out then are occurrences that pass the border.
FSST_ALWAYS_INLINE bool is_plausible(const Needle& needle, const Anchor& anchor, const uint8_t* begin,
                                     const uint8_t* at, const uint8_t* end) noexcept {
    const DecodeTable& table = needle.table;
    if (at > begin && at[-1] == kEscape) return true;
    const size_t code = *at;
    uint64_t fits = needle.fits[code] & covering(anchor.at, table.length[code]);
    if (at > begin + 1 && at[-2] != kEscape) {
        const size_t before = at[-1];
        fits &= needle.fits[before] << table.length[before] | needle.begin;
    }
    const uint64_t next = fits << table.length[code];
    if (next & needle.found) return true;
    if (at + 1 == end) return false;
    return at[1] == kEscape ? next != 0 : (next & needle.fits[at[1]]) != 0;
}

// The row that holds byte `position`, looked for from `row` on.
template <class Offset>
size_t row_of(const Rows<Offset>& rows, size_t row, size_t end, size_t position) noexcept {
    size_t step = 1;
    size_t low = row;
    // SAFETY: low and high stay within row .. end, and start(end) > position.
    while (low + step < end && rows.start(low + step) <= position) {
        low += step;
        step *= 2;
    }
    size_t high = low + step < end ? low + step : end;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (rows.start(middle) <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

template <class ScanKernel, class EdgeKernel>
struct Using {
    using Scanner = ScanKernel;
    using Looker = EdgeKernel;
};

template <class Kernels, class Offset>
class Search {
    using Scanner = typename Kernels::Scanner;

 public:
    Search(const Needle& needle, const Anchor& anchor, const Sure& sure, const Beginnings& beginnings,
           const Rows<Offset>& rows, uint8_t* bits, Interrupt& interrupt) noexcept
        : needle_(needle),
          anchor_(anchor),
          sure_(sure),
          beginnings_(beginnings),
          rows_(rows),
          bits_(bits),
          interrupt_(interrupt),
          scanner_(anchor),
          sure_first_(sure.first),
          sure_second_(sure.second),
          begin_(rows.data + rows.start(0)),
          end_(rows.data + rows.start(rows.count)) {}

    void run(bool frequent) noexcept {
        const size_t average = rows_.total() / rows_.count + 1;
        const size_t block = 64 * std::max<size_t>(1, kBlockCodes / 64 / average);
        size_t mapped = 0;
        for (size_t row = 0; row < rows_.count; row += block) {
            const size_t next = std::min(row + block, rows_.count);
            if (!frequent) {
                const size_t looks = scan(row, next);
                // A look takes some 15 ns; a mapped row 2, or as much as a look if it has to be walked.
                frequent = looks * 8 > next - row;
                mapped = 0;
            } else {
                for (size_t first = row; first < next; first += 64) map(first, std::min(first + 64, next));
                if (++mapped == kRetry) frequent = false;
            }
        }
    }

 private:
    void set(size_t row) noexcept { bits_[row / 8] |= static_cast<uint8_t>(1u << row % 8); }

    bool row_contains(size_t row) const noexcept {
        return contains(needle_, rows_.data + rows_.start(row), rows_.size(row), end_, interrupt_);
    }

    // Up to 64 codes as a scanner wants them, with a byte in front and all 64 there: a copy, filled up with
    // zeros, where they stand at either end of what may be read.
    const uint8_t* framed(const uint8_t* codes, uint8_t* copy) const noexcept {
        if (codes > begin_ && static_cast<size_t>(end_ - codes) >= kStep) return codes;
        std::memset(copy, 0, kStep + 1);
        if (codes > begin_) copy[0] = codes[-1];
        std::memcpy(copy + 1, codes, std::min(static_cast<size_t>(end_ - codes), kStep));
        return copy + 1;
    }

    // Returns how many candidates had to be looked at closely.
    size_t scan(size_t row, size_t row_end) noexcept {
        const uint8_t* at = rows_.data + rows_.start(row);
        const uint8_t* const end = rows_.data + rows_.start(row_end);
        uint8_t copy[kStep + 1];
        size_t looks = 0;
        const uint8_t* asked = at;
        while (at < end) {
            if (FSST_UNLIKELY(static_cast<size_t>(at - asked) > kAskEvery)) {  // one row, a large one
                asked = at;
                if (interrupt_.ask()) return looks;
            }
            uint64_t found = 0;
            if (at > begin_ && static_cast<size_t>(end - at) >= kStep) {
                // SAFETY: whole steps of what is left, and a code before them.
                const size_t steps = static_cast<size_t>(end - at) / kStep;
                const size_t step = scanner_.next(at, steps, found);
                at += kStep * step;
                if (step == steps) continue;
            } else {
                scanner_.next(framed(at, copy), 1, found);
            }
            const size_t count = std::min(static_cast<size_t>(end - at), kStep);
            found &= Needle::low_bits(count);
            const uint8_t* next = at + count;
            while (found != 0) {
                const uint8_t* const candidate = at + __builtin_ctzll(found);
                found &= found - 1;
                if (!is_plausible(needle_, anchor_, begin_, candidate, end_)) continue;
                looks++;
                row = row_of(rows_, row, row_end, static_cast<size_t>(candidate - rows_.data));
                bool done = true;
                if (is_in(row, candidate, done)) set(row);
                if (!done) continue;
                // The row is decided: on behind it.
                const uint8_t* const after = rows_.data + rows_.start(row + 1);
                if (after >= at + kStep) {
                    found = 0;
                    next = after;
                } else {
                    found &= ~Needle::low_bits(static_cast<size_t>(after - at));
                }
            }
            at = next;
        }
        return looks;
    }

    // Whether the row contains the needle, as far as the candidate tells; `done`: it does not matter which.
    bool is_in(size_t row, const uint8_t* candidate, bool& done) const noexcept {
        if (rows_.size(row) > kShortRow) {
            const uint8_t* const codes = rows_.data + rows_.start(row);
            const Near near = core_is_near(needle_, codes, codes + rows_.size(row), candidate);
            if (near == Near::no) done = false;
            if (near == Near::no) return false;
            if (near == Near::yes && needle_.core == needle_.size) return true;
        }
        return row_contains(row);
    }

    // Up to 64 rows, the first a multiple of 64.
    void map(size_t first, size_t end) noexcept {
        const size_t start = rows_.start(first);
        const size_t count = rows_.start(end) - start;
        const uint8_t* const codes = rows_.data + start;
        const uint64_t all = Needle::low_bits(end - first);
        if (beginnings_.usual && count > 0) {
            const uint64_t found = begin_with(first, end);
            // What is left is little.
            if ((all & ~found) == 0 || count > kMapCodes) return walk(first, end, all & ~found, found);
        }
        if (count > kMapCodes) return walk(first, end, all, 0);
        uint64_t map[kMapCodes / 64 + 2];
        if (needle_.size == 1) {
            // A code with the byte in it is an occurrence.
            if (!fill_exact(scanner_, codes, count, true, first, end, map)) return walk(first, end, all, 0);
            return store(first, end, rows_with(map, first, end, 0));
        }
        uint64_t found = 0;
        if (sure_.codes > 0) {
            if (!fill_exact(sure_first_, codes, count, false, first, end, map))
                return walk(first, end, all, 0);
            if (sure_.codes == 2 && count > 0) keep_second(codes, count, map);
            found = rows_with(map, first, end, sure_.codes == 2 ? 1 : 0);
            if (found == all) return store(first, end, found);
        }
        fill_candidates(codes, count, map);
        uint64_t left = rows_with(map, first, end, 0) & ~found;
        for (uint64_t each = left; each != 0; each &= each - 1) {
            const size_t row = first + static_cast<size_t>(__builtin_ctzll(each));
            if (rows_.size(row) <= 56) {
                const size_t begin = rows_.start(row) - start;
                const uint64_t bits = load_word(map, begin) & Needle::low_bits(rows_.size(row));
                if (is_decided(row, bits, found, row - first)) left &= ~(uint64_t{1} << (row - first));
            }
        }
        walk(first, end, left, found);
    }

    // Rows whose first code holds the needle.
    uint64_t begin_with(size_t first, size_t end) const noexcept {
        const size_t start = rows_.start(first);
        const size_t count = end - first;
        // Rows that begin near the end of the codes are looked at one by one, and all where they are too many
        // bytes.
        const bool inside = rows_.start(end) + edge_detail::kNear <= rows_.start(rows_.count);
        if (count < edge_detail::kRows || !inside || rows_.start(end) - start > INT32_MAX) {
            return edge_detail::Baseline::look_at(false, rows_, first, count, 1, beginnings_.holds).sure;
        }
        int32_t borders[edge_detail::kRows + 1];
        for (size_t i = 0; i <= count; i++) borders[i] = static_cast<int32_t>(rows_.start(first + i) - start);
        return Kernels::Looker::look(false, rows_.data + start, borders, 1, beginnings_.holds).sure;
    }

    // Whether the candidates of a row decide about it; sets its bit of `found` if they say yes.
    FSST_ALWAYS_INLINE bool is_decided(size_t row, uint64_t candidates, uint64_t& found,
                                       size_t bit) const noexcept {
        const uint8_t* const begin = rows_.data + rows_.start(row);
        const uint8_t* const end = rows_.data + rows_.start(row + 1);
        bool decided = true;
        for (; candidates != 0; candidates &= candidates - 1) {
            const uint8_t* const at = begin + __builtin_ctzll(candidates);
            if (!is_plausible(needle_, anchor_, begin, at, end)) continue;
            decided = false;
            // The codes beside it, as far as none can be a literal.
            if (at > begin && (at[-1] == kEscape || (at > begin + 1 && at[-2] == kEscape))) continue;
            uint64_t alignments = at > begin ? needle_.step(0, at[-1]) : 0;
            alignments = needle_.step(alignments, *at);
            uint64_t seen = alignments;
            if (at + 1 < end) seen |= needle_.step(alignments, at[1]);
            if ((seen & needle_.found) != 0 && needle_.size == needle_.core) {
                found |= uint64_t{1} << bit;
                return true;
            }
        }
        return decided;
    }

    // A bit for each of up to 64 rows that has one in the map among its codes, the last `cut` left out.
    uint64_t rows_with(const uint64_t* map, size_t first, size_t end, size_t cut) const noexcept {
        const size_t start = rows_.start(first);
        uint64_t found = 0;
        uint64_t longer = Needle::low_bits(end - first);
        if constexpr (sizeof(Offset) == 4) {
            found = Scanner::rows_any(rows_.offsets + first, end - first, static_cast<int32_t>(start),
                                      static_cast<int>(cut), map, longer);
        }
        for (; longer != 0; longer &= longer - 1) {
            const int bit = __builtin_ctzll(longer);
            const size_t row = first + static_cast<size_t>(bit);
            const size_t begin = rows_.start(row) - start;
            const size_t size = rows_.size(row) - std::min(cut, rows_.size(row));
            bool any;
            if (FSST_LIKELY(size <= 56)) {
                any = (load_word(map, begin) & Needle::low_bits(size)) != 0;
            } else {
                any = any_bit(map, begin, begin + size);
            }
            found |= static_cast<uint64_t>(any) << bit;
        }
        return found;
    }

    // At least 57 bits of the map from bit `begin` on.
    static uint64_t load_word(const uint64_t* map, size_t begin) noexcept {
        // SAFETY: the map has a word more than there are codes.
        if (FSST_BIG_ENDIAN)  // a word's first byte is its highest there
            return map[begin / 64] >> begin % 64 | map[begin / 64 + 1] << 1 << (63 - begin % 64);
        return load_le<uint64_t>(reinterpret_cast<const uint8_t*>(map) + begin / 8) >> begin % 8;
    }

    static bool any_bit(const uint64_t* map, size_t begin, size_t end) noexcept {
        uint64_t word = map[begin / 64] & ~Needle::low_bits(begin % 64);
        for (size_t at = begin / 64; at < end / 64; word = map[++at]) {
            if (word != 0) return true;
        }
        return (word & Needle::low_bits(end % 64)) != 0;
    }

    // Walks the rows of `left`; those of `found` are known to be in.
    void walk(size_t first, size_t end, uint64_t left, uint64_t found) noexcept {
        for (left &= Needle::low_bits(end - first); left != 0; left &= left - 1) {
            const int row = __builtin_ctzll(left);
            found |= static_cast<uint64_t>(row_contains(first + static_cast<size_t>(row))) << row;
        }
        store(first, end, found);
    }

    void store(size_t first, size_t end, uint64_t found) noexcept {
        // SAFETY: bits_ has a byte for each 8 rows begun.
        for (size_t i = 0; i < (end - first + 7) / 8; i++) {
            bits_[first / 8 + i] = static_cast<uint8_t>(found >> (8 * i));
        }
    }

    // Runs work(codes, steps, map) over `count` codes, of which a copy is made at either end of the column.
    template <class Work>
    FSST_ALWAYS_INLINE void in_steps(const uint8_t* codes, size_t count, uint64_t* map,
                                     const Work& work) noexcept {
        uint8_t copy[kStep + 1];
        size_t at = 0;
        if (codes == begin_ && count > 0) {
            work(framed(codes, copy), 1, map);
            at = kStep;
        }
        if (at + kStep <= count) {
            // SAFETY: whole steps of what there is, with a code before them.
            const size_t steps = (count - at) / kStep;
            work(codes + at, steps, map + at / kStep);
            at += kStep * steps;
        }
        if (at < count) work(framed(codes + at, copy), 1, map + at / kStep);
        map[(count + kStep - 1) / kStep] = 0;
    }

    void fill_candidates(const uint8_t* codes, size_t count, uint64_t* map) noexcept {
        in_steps(codes, count, map,
                 [&](const uint8_t* from, size_t steps, uint64_t* to) { scanner_.map(from, steps, to); });
    }

    // A bit for each member that is surely a code, and for each literal that is the anchor's. From a row's
    // start on. False where that can't be told: a row ends in what may be half an escape.
    bool fill_exact(const Scanner& scanner, const uint8_t* codes, size_t count, bool and_literals,
                    size_t first, size_t end, uint64_t* map) noexcept {
        scan_detail::MapState state;
        in_steps(codes, count, map, [&](const uint8_t* from, size_t steps, uint64_t* to) {
            scanner.map_exact(from, steps, state, and_literals, to);
        });
        return state.escapes == 0 || !any_ends_escaped(first, end);
    }

    // Whether the last byte of a row is 0xFF. No branch: rows without codes come in any order.
    bool any_ends_escaped(size_t first, size_t end) const noexcept {
        uint32_t any = 0;
        for (size_t row = first; row < end; row++) {
            const size_t behind = rows_.start(row + 1);
            // SAFETY: there are codes, and offsets ascend up to their number.
            const uint32_t escape = rows_.data[behind - (behind > 0)] == kEscape;
            any |= escape & static_cast<uint32_t>(rows_.size(row) > 0);
        }
        return any != 0;
    }

    // Clears the bits of codes that are not followed by a member of the second set.
    void keep_second(const uint8_t* codes, size_t count, uint64_t* map) noexcept {
        uint8_t copy[kStep + 1];
        size_t at = 0;
        // SAFETY: a step needs 64 codes from the next on.
        const size_t there = static_cast<size_t>(end_ - codes) - 1;
        const size_t steps = std::min(count, there) / kStep;
        sure_second_.keep_members(codes + 1, steps, map);
        for (at = kStep * steps; at < count; at += kStep) {
            std::memset(copy, 0xFF, sizeof(copy));
            std::memcpy(copy, codes + at, std::min(static_cast<size_t>(end_ - codes) - at, sizeof(copy)));
            sure_second_.keep_members(copy + 1, 1, map + at / kStep);
        }
    }

    const Needle& needle_;
    const Anchor& anchor_;
    const Sure& sure_;
    const Beginnings& beginnings_;
    const Rows<Offset>& rows_;
    uint8_t* bits_;
    Interrupt& interrupt_;
    Scanner scanner_;
    Scanner sure_first_;
    Scanner sure_second_;
    const uint8_t* begin_;
    const uint8_t* end_;
};

}  // namespace search_detail

// Sets a bit of `bits` (all zero before) for each row whose text contains the needle.
template <class Offset>
void match_rows(const Needle& needle, const Rows<Offset>& rows, uint8_t* bits, Isa isa,
                Interrupt& interrupt) noexcept {
    using namespace search_detail;
    if (rows.count == 0 || rows.total() == 0) return;
    // Of a small column an eighth will do.
    const size_t sampled = std::min(rows.total(), std::min(kSampled, 512 + rows.total() / 8));
    const Anchor anchor = choose_anchor(needle, rows, sampled);
    // More than one candidate in eight rows.
    const double a_row = static_cast<double>(rows.total()) / static_cast<double>(rows.count);
    const bool frequent = static_cast<double>(anchor.expected) * a_row * 8 > static_cast<double>(sampled);
    Beginnings beginnings;
    if (frequent) beginnings = choose_beginnings(needle, rows, kSampledRows);
    Sure sure;
    if (frequent && !beginnings.usual && needle.size > 1 && needle.size == needle.core) {
        const size_t some = std::min(sampled, kSampledPairs);
        sure =
            choose_sure(needle, rows, some, static_cast<size_t>(static_cast<double>(some) / a_row / 8) + 1);
    }
    const auto search = [&](auto kernels) {
        Search<decltype(kernels), Offset>(needle, anchor, sure, beginnings, rows, bits, interrupt)
            .run(frequent);
    };
#if FSST_X86
    if (isa == Isa::avx512) {
        return search(Using<scan_detail::avx512::Avx512, edge_detail::avx512::Avx512>{});
    }
    if (isa == Isa::avx2) return search(Using<scan_detail::avx2::Avx2, edge_detail::avx2::Avx2>{});
#endif
    (void)isa;
    search(Using<scan_detail::Baseline, edge_detail::Baseline>{});
}

}  // namespace fsst
