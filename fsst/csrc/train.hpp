// Training: the symbol table that makes a column smallest, the table's own bytes included.
//
// sample -> candidates (every repeated substring worth a look) -> climb (choose up to 255 of them, so that
// the greedy parse of the sample is cheapest) -> table. Effort decides how large the sample is and how
// long to climb, by a count of work: the same column gives the same table on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "climb.hpp"
#include "sample.hpp"
#include "selection.hpp"
#include "symbol_table.hpp"

namespace fsst {

enum class Effort : int { fast = 0, normal = 1, max = 2 };

struct TrainOptions {
    Effort effort = Effort::normal;
    // Most symbols of three bytes or more that may share their first three; 0: no limit.
    int max_per_prefix = 0;
    // Without a limit: one that makes the encoder faster and is kept to if that costs little, see
    // limit_if_cheap(). 0: none is preferred.
    int preferred_per_prefix = 2;
    // Asked before each round (at most a few milliseconds apart) whether to give up. The table is then the
    // best so far.
    bool (*stop)(void*) = nullptr;
    void* stop_arg = nullptr;

    bool stopped() const { return stop != nullptr && stop(stop_arg); }
};

namespace detail {

// Where the time goes. Work is counted in looks at a position of the sample, which take 1 to 2 ns each.
struct Budget {
    size_t sample;           // bytes: what limits quality at a few milliseconds
    size_t candidates;       // of two bytes or more
    size_t starts;           // how many of kStarts are tried
    size_t least_batch;      // rounds of fewer candidates end a climb
    uint64_t climb;          // work for each position of the sample, all before shaking included
    uint64_t shake;          // the same for shaking
    uint64_t rows_a_window;  // of the sample: 3 are better on text, 2 safer on sorted keys where the sample
                             // is small
};

// Symbols that a climb starts with beside single bytes, and how many candidates its first rounds add. Where
// it ends depends little on them, but a lot on texts of random digits (uuid: -2 to +7 % against the C++
// reference), so with time for it several are tried.
struct Start {
    size_t symbols, batch;
};
constexpr Start kStarts[] = {{140, 96}, {300, 128}, {255, 48}, {100, 128}};
// A climb begins on a quarter of the sample, two rounds at a quarter of the price, unless that is too little
// to learn from. When starts are compared, they are climbed to the end on it.
constexpr size_t kShare = 4, kShareRounds = 2, kFullRounds = 60, kLeastToShare = 8192;

// A substring must occur so often to be a candidate; in a small sample, twice.
constexpr uint32_t kLeastOccurrences = 4;
constexpr size_t kSmallSample = 4096;

// Below kSmallColumn, training should take no more than twice the time of compressing the column. That takes
// about 1.7 ns a byte and training 60 ns a byte of sample at this work. A sample below kLeastSample loses
// more than the time is worth (20 to 60 KB columns: 4 KB +2.4 % against the reference, 6 KB +5.9 %).
constexpr uint64_t kSmallColumn = 1 << 20, kColumnShare = 16, kSmallClimb = 16;
constexpr size_t kLeastSample = 6 << 10;
// Shaking a sample smaller than the budget's may take so many times its share of the work.
constexpr uint64_t kSmallShake = 4;

inline Budget budget_for(Effort effort, uint64_t column) {
    Budget budget = {44 << 10, 3800, 1, 16, 30, 0, 3};
    if (effort == Effort::fast) budget = {18 << 10, 2500, 1, 16, 22, 0, 2};
    if (effort == Effort::max) budget = {384 << 10, 12000, 4, 8, 200, 1100, 3};
    if (effort != Effort::max && column < kSmallColumn) {
        size_t share = static_cast<size_t>(column / kColumnShare);
        budget.sample = std::min(budget.sample, std::max(share, kLeastSample));
        budget.climb = kSmallClimb;
    }
    return budget;
}

// The encoder is fastest if few symbols share their first three bytes. A limit costs nothing on most texts
// and a fifth of the size on some (c_name has 150 symbols on one prefix). Effort::max never gives up
// size, and on a small column finding out (15 % of the time for training) costs more than it could win.
inline bool may_limit(const TrainOptions& options, uint64_t column) noexcept {
    return options.max_per_prefix == 0 && options.preferred_per_prefix != 0 &&
           options.effort != Effort::max && column >= kSmallColumn;
}

// Keeps to the preferred limit if the sample, table included, then grows by one part in kMaySpend at most.
// Cutting to the limit and one round of repair decide; if cutting alone costs kHopeless times as much, no
// repair is tried.
inline void limit_if_cheap(Selection& selection, Climb& climb, const TrainOptions& options) {
    constexpr int64_t kMaySpend = 100, kHopeless = 4;
    constexpr size_t kRepairBatch = 24;
    selection.limit_prefixes(static_cast<size_t>(options.preferred_per_prefix));
    if (selection.within_limit()) return;
    const std::vector<uint8_t> free_set = selection.chosen();
    const int64_t free_total = selection.total();
    climb.cut();
    if (selection.total() - free_total <= kHopeless * (free_total / kMaySpend)) {
        bool repaired = false;
        climb.rounds(kRepairBatch, kRepairBatch, [&repaired] { return !std::exchange(repaired, true); });
        if (selection.total() - free_total <= free_total / kMaySpend) return;
    }
    selection.limit_prefixes(0);
    selection.choose(free_set);
}

// A first set of symbols, found on a share of the sample.
inline void begin(Selection& selection, Climb& climb, const Budget& budget, const TrainOptions& options) {
    if (selection.sample_bytes() < kLeastToShare) {
        climb.start(kStarts[0].symbols);
        return;
    }
    std::vector<uint8_t> best;
    int64_t best_total = 0;
    selection.focus(kShare);
    for (size_t i = 0; i < budget.starts && (i == 0 || !options.stopped()); i++) {
        climb.start(kStarts[i].symbols);
        climb.cut();
        size_t rounds = 0;
        size_t most = budget.starts == 1 ? kShareRounds : kFullRounds;
        climb.rounds(kStarts[i].batch, budget.least_batch,
                     [&] { return rounds++ < most && !options.stopped(); });
        if (i == 0 || selection.total() < best_total) {
            best = selection.chosen();
            best_total = selection.total();
        }
    }
    selection.choose(best);
    selection.focus(1);
}

// Symbols in order of length, then bytes.
inline SymbolTable table_of(const Selection& selection) {
    const Candidates& all = selection.candidates();
    SymbolTable table;
    // Candidates are in order of their bytes.
    for (uint8_t length = 1; length <= kMaxSymbolLength; length++) {
        for (size_t n = 1; n < all.count(); n++) {
            if (!selection.chosen(n) || all.length[n] != length) continue;
            table.symbol[table.count] = all.bytes[n];
            table.length[table.count] = length;
            table.count++;
        }
    }
    return table;
}

}  // namespace detail

// Throws std::bad_alloc and nothing else.
inline SymbolTable train(const std::vector<ColumnPiece>& pieces, const TrainOptions& options) {
    const detail::Budget budget = detail::budget_for(options.effort, column_bytes(pieces));
    const Sample sample = take_sample(pieces, budget.sample, budget.rows_a_window);
    if (sample.text == 0) return SymbolTable{};
    const uint32_t least = sample.text < detail::kSmallSample ? 2 : detail::kLeastOccurrences;
    const Candidates candidates = find_candidates(sample, least, budget.candidates);
    Selection selection(sample, candidates);
    selection.limit_prefixes(static_cast<size_t>(options.max_per_prefix));

    uint64_t limit = 0;
    auto go_on = [&] { return selection.work() < limit && !options.stopped(); };
    Climb climb(selection);
    detail::begin(selection, climb, budget, options);
    climb.cut();
    limit = budget.climb * sample.size();
    climb.rounds(detail::kStarts[0].batch, budget.least_batch, go_on);
    uint64_t shaken = std::min<uint64_t>(budget.sample, detail::kSmallShake * sample.size());
    limit = selection.work() + budget.shake * shaken;
    climb.shake(go_on);
    if (detail::may_limit(options, sample.column)) {
        detail::limit_if_cheap(selection, climb, options);
    }
    return detail::table_of(selection);
}

}  // namespace fsst
