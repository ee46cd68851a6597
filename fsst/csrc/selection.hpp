// What training minimises: the bytes of codes of a sample, and the table's own bytes by its share.
//
// A symbol of n bytes costs n bytes in the table of the whole column, so it costs n * sample / column in
// the sample. All is in 1/256 byte, in integers: every machine must choose the same symbols.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "candidates.hpp"
#include "parse.hpp"
#include "sample.hpp"
#include "symbol_table.hpp"

namespace fsst {

class Selection {
 public:
    Selection(const Sample& sample, const Candidates& candidates)
        : sample_(sample), all_(candidates), parse_(sample, candidates), prefix_(candidates.count()) {
        uint64_t bytes = 0;
        uint32_t prefixes = 0;
        for (size_t n = 1; n < all_.count(); n++) {
            if (all_.length[n] < 3) continue;  // number 0: not counted
            uint64_t first_three = all_.bytes[n] & low_bytes(3);
            if (prefixes == 0 || first_three != bytes) prefixes++;
            bytes = first_three;
            prefix_[n] = prefixes;
        }
        in_prefix_.resize(prefixes + 1);
        focus(1);
    }

    const Candidates& candidates() const noexcept { return all_; }
    uint64_t sample_bytes() const noexcept { return sample_.text; }
    size_t count() const noexcept { return all_.count(); }
    size_t symbols() const noexcept { return parse_.symbols(); }
    bool chosen(size_t node) const noexcept { return parse_.chosen(node); }
    const std::vector<uint8_t>& chosen() const noexcept { return parse_.chosen(); }
    uint64_t work() const noexcept { return parse_.work(); }
    // Those that were chosen at the last parse().
    const std::vector<uint16_t>& listed() const noexcept { return listed_; }
    int64_t total() const noexcept { return parse_.cost() * kByte + weights_; }
    int64_t weight(size_t node) const noexcept { return byte_weight_ * all_.length[node]; }

    // Most symbols of three bytes or more that may share their first three; 0: no limit. Climb's cut()
    // keeps to it.
    void limit_prefixes(size_t most) noexcept { per_prefix_ = most == 0 ? kMaxSymbols : most; }
    bool within_limit() const noexcept {
        for (uint32_t symbols : in_prefix_) {
            if (symbols > per_prefix_) return false;
        }
        return true;
    }
    bool over_limit(size_t node) const noexcept { return in_prefix_[prefix_[node]] > per_prefix_; }

    // Uses only one part in `divisor` of the sample from here on.
    void focus(size_t divisor) {
        parse_.focus((sample_.size() - Sample::kSeparators) / divisor);
        byte_weight_ = static_cast<int64_t>(sample_.text * kByte / divisor / sample_.column);
        parse();
    }

    // Many symbols at once: choose() or set(), then parse().
    void choose(const std::vector<uint8_t>& chosen) {
        parse_.choose(chosen);
        recount();
    }
    void set(size_t node, bool on) noexcept { parse_.set(node, on); }
    void parse() {
        parse_.parse();
        recount();
    }

    void toggle(size_t node) noexcept {
        parse_.toggle(node);
        int sign = chosen(node) ? 1 : -1;
        weights_ += sign * weight(node);
        if (prefix_[node] != 0) in_prefix_[prefix_[node]] += static_cast<uint32_t>(sign);
    }

    // What the symbol saves (if chosen) or would save (if not), its own bytes subtracted. Exact for symbols
    // that can overlap themselves ("aaaa", "abab"): one occurrence changes there what becomes of the next,
    // and looking at each by itself took all symbols but one from rows of one repeated byte.
    int64_t worth(size_t node) noexcept {
        if (overlaps_itself(all_.bytes[node], all_.length[node])) {
            const int64_t before = parse_.cost();
            parse_.toggle(node);
            const int64_t change = (parse_.cost() - before) * kByte;
            parse_.toggle(node);
            return (chosen(node) ? change : -change) - weight(node);
        }
        int64_t change = parse_.change_if_toggled(node) * kByte;
        return (chosen(node) ? change : -change) - weight(node);
    }
    // An estimate of the same, for all that are chosen, or for all that are not, in one pass.
    void worth_of_all(bool chosen_ones, std::vector<int64_t>& worth) {
        chosen_ones ? parse_.losses(change_) : parse_.gains(change_);
        worth.resize(count());
        if (chosen_ones) {
            for (uint16_t n : listed_) worth[n] = change_[n] * kByte - weight(n);
        } else {
            for (size_t n = 1; n < count(); n++) worth[n] = change_[n] * kByte - weight(n);
        }
    }

 private:
    static constexpr int64_t kByte = 256;

    // By half its length or more; less matters little.
    static bool overlaps_itself(uint64_t bytes, size_t length) noexcept {
        for (size_t by = 1; by <= length / 2; by++) {
            if (((bytes ^ bytes >> (8 * by)) & low_bytes(length - by)) == 0) return true;
        }
        return false;
    }

    void recount() {
        std::fill(in_prefix_.begin(), in_prefix_.end(), 0);
        weights_ = 0;
        listed_.clear();
        for (size_t n = 1; n < count(); n++) {
            if (!chosen(n)) continue;
            listed_.push_back(static_cast<uint16_t>(n));
            weights_ += weight(n);
            in_prefix_[prefix_[n]]++;
        }
        in_prefix_[0] = 0;
    }

    const Sample& sample_;
    const Candidates& all_;
    Parse parse_;
    size_t per_prefix_ = kMaxSymbols;
    std::vector<uint32_t> prefix_;     // by candidate: the number of its first three bytes, 0 if shorter
    std::vector<uint32_t> in_prefix_;  // by that number: symbols chosen
    std::vector<int32_t> change_;
    std::vector<uint16_t> listed_;
    int64_t byte_weight_ = 0;
    int64_t weights_ = 0;  // of all chosen
};

}  // namespace fsst
