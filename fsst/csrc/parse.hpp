// The greedy parse of a sample under a changing set of symbols, and what each change would save.
//
// A set of symbols is a subset of the candidates. Which symbol the greedy parse takes at a position is one
// look-up (the longest candidate there, then the longest chosen one at or above it), so a symbol is
// switched on or off in its subtree of candidates, not at its positions in the text. Costs are counted in
// bytes of codes: a symbol 1, an escaped byte 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "candidates.hpp"
#include "sample.hpp"
#include "symbol_table.hpp"

namespace fsst {

class Parse {
 public:
    Parse(const Sample& sample, const Candidates& candidates)
        : all_(candidates),
          size_(sample.size() - Sample::kSeparators),
          chosen_(candidates.count()),
          use_(candidates.count()),
          step_(candidates.count()),
          rest_(sample.size()),
          path_(size_ + kLanes),
          unused_(candidates.count()),
          by_unused_(size_),
          mark_(sample.size()) {
        for (size_t i = 0; i < sample.size(); i++) mark_[i] = sample.left[i] ? 0 : kSeparatorMark;
        chosen_[0] = 1;
        step_[0] = kSeparatorStep;
        focus(size_);
    }

    // Restricts everything to the first `size` positions of the sample or a few more; call parse() next.
    void focus(size_t size) noexcept {
        // Lanes of about equal length; each begins after a separator.
        for (size_t lane = 0; lane <= kLanes; lane++) {
            size_t at = size * lane / kLanes;
            while (at > 0 && at < size_ && mark_[at - 1] != kSeparatorMark) at++;
            lane_[lane] = static_cast<uint32_t>(at);
        }
    }
    size_t focused() const noexcept { return lane_[kLanes]; }

    bool chosen(size_t node) const noexcept { return chosen_[node] != 0; }
    const std::vector<uint8_t>& chosen() const noexcept { return chosen_; }
    size_t symbols() const noexcept { return symbols_; }
    // Bytes of codes for the sample.
    int64_t cost() const noexcept { return cost_; }
    uint64_t work() const noexcept { return work_; }

    // Replaces the set of symbols and parses anew.
    void choose(const std::vector<uint8_t>& chosen) {
        chosen_ = chosen;
        parse();
    }

    // Adds or removes many symbols; call parse() after the last.
    void set(size_t node, bool on) noexcept { chosen_[node] = on; }

    void parse() noexcept {
        symbols_ = 0;
        for (size_t n = 1; n < all_.count(); n++) {
            const size_t parent = all_.parent[n];
            const bool on = chosen_[n];
            symbols_ += on;
            // Selects, not branches.
            use_[n] = on ? static_cast<uint16_t>(n) : use_[parent];
            const uint16_t inherited = parent ? step_[parent] : kEscapeStep;
            step_[n] = on ? static_cast<uint16_t>(1 << 8 | all_.length[n]) : inherited;
        }
        walk();
    }

    // For each candidate not chosen: bytes of codes that choosing it would save, were nothing else to change.
    // An estimate: occurrences that overlap are counted each, and positions are those of the last parse().
    // After the few dozen removals of a cut they are nearly right; renewing them took time and changed no
    // size.
    void gains(std::vector<int32_t>& gain) {
        measure_rest();
        gain.assign(all_.count(), 0);
        // How many candidates are between a position's and its symbol can't be predicted: in one loop over
        // the path, mispredicted branches took three quarters of the time. So first by that number.
        for (size_t n = 1; n < all_.count(); n++) {
            unused_[n] = chosen_[n] ? uint8_t{0} : static_cast<uint8_t>(unused_[all_.parent[n]] + 1);
        }
        size_t sizes[kMaxUnused] = {};
        uint32_t* out[kMaxUnused];
        for_path([&](uint32_t p) { sizes[unused_[all_.node[p]]]++; });
        for (size_t unused = 0, sum = 0; unused < kMaxUnused; sum += sizes[unused++]) {
            out[unused] = by_unused_.data() + sum;
        }
        for_path([&](uint32_t p) { *out[unused_[all_.node[p]]]++ = p; });
        add_gains<1>(gain, out[0], out[1]);
        add_gains<2>(gain, out[1], out[2]);
        add_gains<3>(gain, out[2], out[3]);
        add_gains<4>(gain, out[3], out[4]);
        add_gains<5>(gain, out[4], out[5]);
        add_gains<6>(gain, out[5], out[6]);
        add_gains<7>(gain, out[6], out[7]);
        add_gains<8>(gain, out[7], out[8]);
        work_ += focused();
    }

    // For each chosen symbol: bytes of codes that removing it would cost.
    void losses(std::vector<int32_t>& loss) {
        measure_rest();
        loss.assign(all_.count(), 0);
        for_path([&](uint32_t p) {
            size_t n = use_[all_.node[p]];
            unsigned step = fallback(n);
            loss[n] += static_cast<int16_t>((step >> 8) + rest_[p + (step & 0xFF)] - rest_[p]);
        });
        work_ += focused();
    }

    // As gains() and losses() for one candidate, at its occurrences only: follows the parse with it and
    // the parse without it until they meet.
    int32_t change_if_toggled(size_t node) noexcept {
        int32_t change = 0;
        size_t used = chosen_[node] ? node : use_[node];
        unsigned old_step = step_[node];
        unsigned new_step = chosen_[node] ? fallback(node) : step_of(node);
        uint64_t steps = 0;
        for (uint32_t i = all_.first[node]; i < all_.last[node]; i++) {
            uint32_t p = all_.order[i];
            if (!mark_[p] || use_[all_.node[p]] != used) continue;
            uint32_t was = p + (old_step & 0xFF), now = p + (new_step & 0xFF);
            change += static_cast<int32_t>(new_step >> 8) - static_cast<int32_t>(old_step >> 8);
            for (unsigned k = 0; was != now && k < kMostSteps; k++) {
                steps++;
                if (now < was) {
                    unsigned step = step_[all_.node[now]];
                    now += step & 0xFF;
                    change += static_cast<int32_t>(step >> 8);
                } else {
                    unsigned step = step_[all_.node[was]];
                    was += step & 0xFF;
                    change -= static_cast<int32_t>(step >> 8);
                }
            }
        }
        work_ += 2 * (steps + all_.last[node] - all_.first[node]);
        return change;
    }

    // Adds or removes one symbol and parses anew where that changes something. The result is exact.
    void toggle(size_t node) noexcept {
        // Marks made from here on carry a new serial: what they mark was parsed with the new set.
        if (++serial_ == kSerials) {
            for (uint8_t& mark : mark_) mark &= kCostAndSet;
            serial_ = 1;
        }
        const uint8_t set = static_cast<uint8_t>(serial_ << kSerialShift | kSet);
        const bool removing = chosen_[node];
        const size_t used = removing ? node : use_[node];
        const size_t now_used = removing ? use_[all_.parent[node]] : node;
        const uint16_t new_step = step_of(now_used);
        for (size_t n = node; n < all_.after[node]; n++) {
            if (use_[n] == used) {
                use_[n] = static_cast<uint16_t>(now_used);
                step_[n] = new_step;
            }
        }
        chosen_[node] = !removing;
        symbols_ += removing ? size_t{0} - 1 : 1;

        uint64_t steps = 0;
        for (uint32_t i = all_.first[node]; i < all_.last[node]; i++) {
            uint32_t p = all_.order[i];
            uint8_t mark = mark_[p];
            if (!mark || mark >> kSerialShift == serial_ || use_[all_.node[p]] != now_used) continue;
            cost_ += (new_step >> 8) - (mark & kCost);
            mark_[p] = static_cast<uint8_t>(set | new_step >> 8);
            uint32_t was = p + 1, now = p + (new_step & 0xFF);
            while (!mark_[was]) was++;
            while (was != now) {
                steps++;
                if (now < was) {
                    unsigned step = step_[all_.node[now]];
                    mark_[now] = static_cast<uint8_t>(set | step >> 8);
                    cost_ += step >> 8;
                    now += step & 0xFF;
                } else {
                    cost_ -= mark_[was] & kCost;
                    mark_[was] = 0;
                    do was++;
                    while (!mark_[was]);
                }
            }
        }
        work_ += 2 * (steps + all_.last[node] - all_.first[node]);
    }

 private:
    static constexpr size_t kLanes = 4;
    // In text two parses meet after two or three steps. In a long periodic row they may never do.
    static constexpr unsigned kMostSteps = 64;
    static constexpr size_t kMaxUnused = kMaxSymbolLength + 1;
    // A step: bytes of text, and of codes from bit 8.
    static constexpr uint16_t kEscapeStep = 2 << 8 | 1;
    static constexpr uint16_t kSeparatorStep = 0 << 8 | 1;
    // A mark, of a position where the parse has a code: its cost, a set bit, and a serial.
    static constexpr uint8_t kCost = 3, kSet = 4, kCostAndSet = 7;
    static constexpr uint8_t kSeparatorMark = kSet;
    static constexpr unsigned kSerialShift = 3, kSerials = 32;

    uint16_t step_of(size_t used) const noexcept {
        return used == 0 ? kEscapeStep : static_cast<uint16_t>(1 << 8 | all_.length[used]);
    }
    // The step where the symbol is, once it is removed.
    uint16_t fallback(size_t node) const noexcept { return step_of(use_[all_.parent[node]]); }

    template <class Visit>
    void for_path(Visit visit) const {
        for (size_t lane = 0; lane < kLanes; lane++) {
            const uint32_t* from = path_.data() + lane_[lane];
            for (size_t i = 0; i < path_size_[lane]; i++) visit(from[i]);
        }
    }

    template <unsigned unused>
    void add_gains(std::vector<int32_t>& gain, const uint32_t* from, const uint32_t* to) const noexcept {
        for (; from < to; from++) {
            const uint16_t* rest = &rest_[*from];
            size_t n = all_.node[*from];
            for (unsigned k = 0; k < unused; k++, n = all_.parent[n]) {
                gain[n] += static_cast<int16_t>(rest[0] - 1 - rest[all_.length[n]]);
            }
        }
    }

    // Marks the greedy parse's positions and lists them. A step waits for the one before, so
    // lanes take turns.
    void walk() noexcept {
        for (uint8_t& mark : mark_) mark = mark == kSeparatorMark ? mark : 0;
        uint32_t at[kLanes];
        uint32_t* out[kLanes];
        int64_t cost = 0;
        for (size_t lane = 0; lane < kLanes; lane++) {
            at[lane] = lane_[lane];
            out[lane] = &path_[lane_[lane]];
        }
        auto advance = [&](size_t lane) {
            uint32_t p = at[lane];
            unsigned step = step_[all_.node[p]];
            *out[lane] = p;
            // A separator costs nothing and is not listed.
            out[lane] += (step >> 8) != 0;
            mark_[p] = static_cast<uint8_t>(kSet | step >> 8);
            cost += step >> 8;
            at[lane] = p + (step & 0xFF);
        };
        while (at[0] < lane_[1] && at[1] < lane_[2] && at[2] < lane_[3] && at[3] < lane_[4]) {
            advance(0);
            advance(1);
            advance(2);
            advance(3);
        }
        for (size_t lane = 0; lane < kLanes; lane++) {
            while (at[lane] < lane_[lane + 1]) advance(lane);
            path_size_[lane] = static_cast<size_t>(out[lane] - &path_[lane_[lane]]);
        }
        cost_ = cost;
        serial_ = 0;
        work_ += focused();
    }

    // rest_[p]: cost of the parse from p on. Only differences within a row are used, so it may wrap.
    void measure_rest() noexcept {
        const uint16_t* node = all_.node.data();
        const uint16_t* steps = step_.data();
        uint16_t* rest = rest_.data();
        auto retreat = [=](size_t p) {
            unsigned step = steps[node[p]];
            rest[p] = static_cast<uint16_t>((step >> 8) + rest[p + (step & 0xFF)]);
        };
        size_t at[kLanes];
        for (size_t lane = 0; lane < kLanes; lane++) at[lane] = lane_[lane + 1];
        while (at[0] > lane_[0] && at[1] > lane_[1] && at[2] > lane_[2] && at[3] > lane_[3]) {
            retreat(--at[0]);
            retreat(--at[1]);
            retreat(--at[2]);
            retreat(--at[3]);
        }
        for (size_t lane = 0; lane < kLanes; lane++) {
            while (at[lane] > lane_[lane]) retreat(--at[lane]);
        }
        work_ += focused();
    }

    const Candidates& all_;
    size_t size_;
    std::vector<uint8_t> chosen_;  // by candidate
    std::vector<uint16_t> use_;    // the longest chosen candidate at or above this one, 0: none
    std::vector<uint16_t> step_;   // the step that it means
    std::vector<uint16_t> rest_;   // by position
    std::vector<uint32_t> path_;   // positions of the parse, by lane
    std::vector<uint8_t> unused_;  // candidates from this one up to the symbol used
    std::vector<uint32_t> by_unused_;
    std::vector<uint8_t> mark_;  // by position
    uint32_t lane_[kLanes + 1] = {};
    size_t path_size_[kLanes] = {};
    size_t symbols_ = 0;
    unsigned serial_ = 0;
    int64_t cost_ = 0;
    uint64_t work_ = 0;
};

}  // namespace fsst
