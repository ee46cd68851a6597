// Climbing to a good set of symbols: add a batch of the best candidates, cut back to what a table holds,
// keep it if the sample got smaller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "selection.hpp"
#include "symbol_table.hpp"

namespace fsst {

class Climb {
 public:
    explicit Climb(Selection& selection) : set_(selection), all_(selection.candidates()) {}

    // Single bytes, and those candidates that would save most if they did not overlap.
    void start(size_t symbols) {
        ranked_.clear();
        for (size_t n = 1; n < all_.count(); n++) {
            set_.set(n, all_.length[n] == 1);
            int64_t score = int64_t{all_.last[n] - all_.first[n]} * (all_.length[n] - 1);
            if (score > 0) ranked_.push_back(ranked(score, n));
        }
        set_best(symbols);
    }

    // The candidates that would save most, each by itself.
    void add(size_t batch) {
        set_.worth_of_all(false, worth_);
        ranked_.clear();
        for (size_t n = 1; n < all_.count(); n++) {
            if (!set_.chosen(n) && worth_[n] > 0) ranked_.push_back(ranked(worth_[n], n));
        }
        set_best(batch);
    }

    // Removes what is too much for a prefix, then what is too much for a table or does not pay, the symbol
    // worth least first. Removing one changes what others are worth, so the least is looked at again
    // before it goes: exact worths for a few, estimates for the rest.
    void cut() {
        set_.worth_of_all(true, worth_);
        if (!set_.within_limit()) {
            auto over = [this](size_t n, int64_t = 0) { return set_.over_limit(n); };
            remove_while(false, over, over);
        }
        remove_while(
            true, [](size_t) { return true; },
            [this](size_t, int64_t worth) { return set_.symbols() > kMaxSymbols || worth <= 0; });
    }

    // Rounds of batches. A batch that gained little is followed by a smaller one, down to `least_batch`.
    // `go_on` is asked before each round.
    template <class GoOn>
    void rounds(size_t batch, size_t least_batch, GoOn go_on) {
        best_ = set_.chosen();
        int64_t best_total = set_.total();
        while (batch >= least_batch && go_on()) {
            add(batch);
            cut();
            int64_t gained = best_total - set_.total();
            if (gained > 0) {
                if (gained < best_total / kLittle) batch = batch * 2 / 3;
                best_total -= gained;
                best_ = set_.chosen();
            } else {
                set_.choose(best_);
                batch /= 2;
            }
        }
    }

    // Turns, while `go_on()`: removes a few symbols at random, adds many of the best candidates, cuts back.
    // An equal outcome is kept as well, as a way off a plateau.
    template <class GoOn>
    void shake(GoOn go_on) {
        best_ = set_.chosen();
        int64_t best_total = set_.total();
        std::vector<size_t> symbols;
        for (uint64_t turn = 0; go_on(); turn++) {
            symbols.clear();
            for (size_t n = 1; n < all_.count(); n++) {
                if (set_.chosen(n)) symbols.push_back(n);
            }
            if (symbols.empty()) return;
            size_t removed = 1 + detail::mix(turn) % kShakeOut;
            for (size_t i = 0; i < removed; i++) {
                set_.set(symbols[detail::mix(turn * 64 + i + 1000) % symbols.size()], false);
            }
            set_.parse();
            add(removed + kShakeIn);
            cut();
            if (set_.total() <= best_total) {
                best_total = set_.total();
                best_ = set_.chosen();
            } else {
                set_.choose(best_);
            }
        }
        set_.choose(best_);
    }

 private:
    // A round that gains less than 1/300 of the total is one of the last.
    static constexpr int64_t kLittle = 300;
    // Per turn of shake(). Up to 12 out and 64 more in gave +1.66 % over climbing alone on six texts, 40 and
    // 8 gave +0.3 %: what matters is that many candidates compete at once.
    static constexpr size_t kShakeOut = 12, kShakeIn = 64;

    // A candidate and what it is worth, in one word that compares quickly; of equals, the higher number
    // counts as worth more, so that the outcome does not depend on how a library sorts.
    using Ranked = int64_t;
    static Ranked ranked(int64_t worth, size_t node) noexcept {
        return worth * 65536 + static_cast<int64_t>(node);
    }
    static size_t node_of(Ranked r) noexcept { return static_cast<size_t>(r & 0xFFFF); }

    void set_best(size_t most) {
        if (ranked_.size() > most) {
            auto end = ranked_.begin() + static_cast<std::ptrdiff_t>(most);
            std::nth_element(ranked_.begin(), end, ranked_.end(), std::greater<Ranked>());
            ranked_.erase(end, ranked_.end());
        }
        for (Ranked best : ranked_) set_.set(node_of(best), true);
        set_.parse();
    }

    // Removes those `among` the symbols for which `must_go(node, worth)`, the one worth least first.
    // `all_worth_more`: once one need not go, neither need those worth more.
    template <class Among, class MustGo>
    void remove_while(bool all_worth_more, Among among, MustGo must_go) {
        ranked_.clear();
        for (uint16_t n : set_.listed()) {
            if (set_.chosen(n) && among(n)) ranked_.push_back(ranked(worth_[n], n));
        }
        // The heap's top is the one worth least.
        std::make_heap(ranked_.begin(), ranked_.end(), std::greater<Ranked>());
        while (!ranked_.empty()) {
            const size_t node = node_of(ranked_.front());
            if (!must_go(node, worth_[node])) {
                if (all_worth_more) break;
                std::pop_heap(ranked_.begin(), ranked_.end(), std::greater<Ranked>());
                ranked_.pop_back();
                continue;
            }
            std::pop_heap(ranked_.begin(), ranked_.end(), std::greater<Ranked>());
            ranked_.pop_back();
            worth_[node] = set_.worth(node);
            Ranked now = ranked(worth_[node], node);
            if (ranked_.empty() || now <= ranked_.front()) {
                if (must_go(node, worth_[node])) set_.toggle(node);
            } else {
                ranked_.push_back(now);
                std::push_heap(ranked_.begin(), ranked_.end(), std::greater<Ranked>());
            }
        }
    }

    Selection& set_;
    const Candidates& all_;
    std::vector<int64_t> worth_;
    std::vector<Ranked> ranked_;
    std::vector<uint8_t> best_;
};

}  // namespace fsst
