// Compressing a column: rows are dealt out to lanes, run, and their codes laid end to end.
//
// What a lane gets                       and how its codes come back
//   whole rows that fit its space          copied; row ends read off codes_before
//   a piece of a longer row                pieces are guesses of where a match starts; see compress_long
//   nothing                                where a lane can't be used, the plain matcher does its rows
//
// The data may hold the byte values that the lane table set aside (columns of random bytes hold all 256). If
// the table is `clean` such a byte is never part of a longer match: the text is *cut* there, row_end is
// staged in its place, and its code is put in on the way back. Otherwise the plain matcher does it.
//
// Nothing here depends on how the work falls on lanes: each string's codes are those of compress_row.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compress.hpp"
#include "isa.hpp"
#include "lane_table.hpp"
#include "lanes.hpp"

namespace fsst {

// Everything the encoder looks up for one table. Cheap to make; the lane table comes later, for columns that
// are worth it. May be shared between threads, prepare() included.
class Encoder {
 public:
    // Below this the lane table costs more than it saves (building takes 20 to 60 us, saves 2 us a KB).
    static constexpr size_t kLaneBytes = 32 * 1024;

    explicit Encoder(const SymbolTable& table) noexcept : table_(table), matcher_(table) {}
    ~Encoder() { FreeLaneTable{}(const_cast<LaneTable*>(lanes_.load(std::memory_order_relaxed))); }
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    // Call before compressing `raw_bytes`. Builds the lane table once it pays.
    // Throws std::bad_alloc. Two threads may build at once; one result is kept, and they are equal.
    void prepare(size_t raw_bytes) {
        if (lanes() != nullptr || unusable_.load(std::memory_order_relaxed)) return;
        const size_t seen = seen_.load(std::memory_order_relaxed) + std::min(raw_bytes, kLaneBytes);
        seen_.store(seen, std::memory_order_relaxed);
        if (seen < kLaneBytes) return;
        LaneTablePtr built = LaneTableBuilder(table_).build();
        if (!built) {
            unusable_.store(true, std::memory_order_relaxed);
            return;
        }
        const LaneTable* expected = nullptr;
        if (lanes_.compare_exchange_strong(expected, built.get(), std::memory_order_acq_rel)) built.release();
    }

    const Matcher& matcher() const noexcept { return matcher_; }
    // Null before prepare() or if the table allows none.
    const LaneTable* lanes() const noexcept { return lanes_.load(std::memory_order_acquire); }

 private:
    SymbolTable table_;
    Matcher matcher_;
    std::atomic<const LaneTable*> lanes_{nullptr};
    std::atomic<size_t> seen_{0};
    std::atomic<bool> unusable_{false};
};

// A table's encoder, made when it is first asked for: a table that only decodes does without. May be shared
// between threads.
class LazyEncoder {
 public:
    LazyEncoder() noexcept = default;
    ~LazyEncoder() { delete encoder_.load(std::memory_order_relaxed); }
    LazyEncoder(const LazyEncoder&) = delete;
    LazyEncoder& operator=(const LazyEncoder&) = delete;

    // The encoder of `table`, which is the same in each call. Throws std::bad_alloc. Two threads may build at
    // once; one result is kept, and they are equal.
    Encoder* get(const SymbolTable& table) {
        Encoder* kept = encoder_.load(std::memory_order_acquire);
        if (FSST_LIKELY(kept != nullptr)) return kept;
        std::unique_ptr<Encoder> built(new Encoder(table));
        if (encoder_.compare_exchange_strong(kept, built.get(), std::memory_order_acq_rel))
            return built.release();
        return kept;
    }

 private:
    std::atomic<Encoder*> encoder_{nullptr};
};

// One call's worth of state: where codes go and what the lanes hold.
template <class Offset, class CodeOffset>
class LaneCompressor {
 public:
    LaneCompressor(const Encoder& encoder, const Rows<Offset>& rows, uint8_t* codes, CodeOffset* ends,
                   Isa isa, LaneScratch* scratch, Interrupt& interrupt) noexcept
        : interrupt_(interrupt),
          matcher_(encoder.matcher()),
          table_(encoder.lanes()),
          rows_(rows),
          codes_(codes),
          ends_(ends),
          isa_(isa),
          scratch_(scratch) {}

    size_t compress() noexcept {
        size_t row = 0;
        while (row < rows_.count) {
            if (is_long(row) || (rows_.size(row) >= 512 && (row + 1 == rows_.count || is_long(row + 1)))) {
                compress_long(row);  // or else alone in one lane
                row++;
            } else {
                row = compress_short(row);
            }
        }
        return out_;
    }

 private:
    // Rows and cuts of one lane.
    struct Load {
        size_t first = 0;  // first row
        size_t last = 0;   // one past the last
        size_t cuts = 0;
        bool plain = false;  // staged nothing: the plain matcher does these rows
    };

    bool is_long(size_t row) const noexcept { return rows_.size(row) + 1 > kStaged; }

    // Copies `size` bytes, rounded up to 32 where the data allows. `to` has that much slack.
    void stage(uint8_t* to, const uint8_t* from, size_t size) const noexcept {
        const uint8_t* limit = rows_.data + rows_.start(rows_.count);
        // SAFETY: fewer than 32 bytes beyond from + size are read, and those are below `limit`; as many are
        // written, which is inside the slack of Lane::text.
        if (FSST_LIKELY(static_cast<size_t>(limit - from) >= size + 32)) {
            std::memcpy(to, from, 32);
            for (size_t at = 32; at < size; at += 32) std::memcpy(to + at, from + at, 32);
        } else if (size > 0) {
            std::memcpy(to, from, size);
        }
    }

    bool holds_end(const uint8_t* from, size_t size) const noexcept {
        const uint8_t row_end = table_->row_end, lane_end = table_->lane_end;
        uint8_t found = 0;
        for (size_t i = 0; i < size; i++) {
            found |= static_cast<uint8_t>(static_cast<int>(from[i] == row_end) |
                                          static_cast<int>(from[i] == lane_end));
        }
        return found != 0;
    }

    // Replaces set-aside bytes of text staged at `at` by row_end and notes them. False if that may not be
    // done or there are too many: past one in eight the plain matcher is as fast.
    bool cut(Lane& lane, size_t at, const uint8_t* from, size_t size, size_t& cuts) const noexcept {
        if (!table_->clean) return false;
        for (size_t i = 0; i < size; i++) {
            if (from[i] != table_->row_end && from[i] != table_->lane_end) continue;
            if (cuts == kMaxCuts) return false;
            lane.text[at + i] = table_->row_end;
            lane.cut[cuts++] = static_cast<uint16_t>(at + i);
        }
        return true;
    }

    void end_lane(size_t i, size_t size) noexcept {
        scratch_->lane[i].text[size] = table_->lane_end;
        scratch_->text_size[i] = size;
    }

    // Compresses rows from `row` on, as many as the lanes take, all of them short. Returns the next row.
    size_t compress_short(size_t row) noexcept {
        Load load[kLanes];
        const size_t left = rows_.start(rows_.count) - rows_.start(row) + (rows_.count - row);
        // The last run is dealt out evenly.
        const size_t share = left / kLanes + 32 < kStaged ? left / kLanes + 32 : kStaged;
        for (size_t i = 0; i < kLanes; i++) {
            load[i].first = row;
            row = stage_rows(i, row, share, load[i]);
            load[i].last = row;
        }
        run_lanes(table_, scratch_, isa_);
        for (size_t i = 0; i < kLanes; i++) collect_rows(i, load[i]);
        return row;
    }

    size_t stage_rows(size_t i, size_t row, size_t share, Load& load) noexcept {
        Lane& lane = scratch_->lane[i];
        size_t size = 0;
        size_t at = rows_.start(row);
        const size_t begin = at;
        while (row < rows_.count) {
            const size_t next = rows_.start(row + 1);
            const size_t taken = next - at;
            // SAFETY: at most `share` <= kStaged bytes are staged, or one row that alone fits kStaged.
            if (size + taken + 1 > (size == 0 ? kStaged : share)) break;
            stage(lane.text + size, rows_.data + at, taken);
            size += taken;
            lane.text[size++] = table_->row_end;
            at = next;
            row++;
        }
        if (FSST_UNLIKELY(holds_end(rows_.data + begin, at - begin))) {
            for (size_t r = load.first; r < row && !load.plain; r++) {
                const size_t start = rows_.start(r);
                const size_t staged = start - begin + (r - load.first);
                load.plain = !cut(lane, staged, rows_.data + start, rows_.size(r), load.cuts);
            }
            if (load.plain) size = 0;
        }
        end_lane(i, size);
        return row;
    }

    void collect_rows(size_t i, const Load& load) noexcept {
        if (FSST_UNLIKELY(load.plain)) {
            for (size_t row = load.first; row < load.last; row++) {
                out_ += compress_row(matcher_, rows_.data + rows_.start(row), rows_.size(row), codes_ + out_);
                ends_[row] = static_cast<CodeOffset>(out_);
            }
            return;
        }
        const Lane& lane = scratch_->lane[i];
        // Row r is staged behind the rows before it and one row_end for each of them.
        const size_t begin = rows_.start(load.first);
        if (FSST_UNLIKELY(load.cuts > 0)) {
            Copy copy;
            for (size_t row = load.first; row < load.last; row++) {
                const size_t row_ends = row - load.first;
                copy_codes(lane, load.cuts, rows_.data + begin, row_ends,
                           rows_.start(row + 1) - begin + row_ends + 1, copy);
                ends_[row] = static_cast<CodeOffset>(out_);
            }
            return;
        }
        const size_t size = scratch_->code_size[i];
        // SAFETY: the codes of this lane's rows are at most twice their bytes, and codes_ has room for those.
        std::memcpy(codes_ + out_, lane.codes, size);
        for (size_t row = load.first; row < load.last; row++) {
            const size_t end = rows_.start(row + 1) - begin + (row + 1 - load.first);
            // SAFETY: every row starts behind a row_end, so the lane stood there (run_lanes notes its end).
            ends_[row] = static_cast<CodeOffset>(out_ + lane.codes_before[end]);
        }
        out_ += size;
    }

    // How far a lane's codes have been copied.
    struct Copy {
        size_t codes = 0;
        size_t cut = 0;
    };

    // Copies a lane's codes up to text position `to`, on which the lane stood, and puts in the codes of cuts
    // before it. text[p - shift] is the byte of the data that was staged at p.
    void copy_codes(const Lane& lane, size_t cuts, const uint8_t* text, size_t shift, size_t to,
                    Copy& copy) noexcept {
        for (;;) {
            const bool at_cut = copy.cut < cuts && lane.cut[copy.cut] < to;
            // Behind a cut is a position that the lane stood on.
            const size_t until = lane.codes_before[at_cut ? lane.cut[copy.cut] + size_t{1} : to];
            std::memcpy(codes_ + out_, lane.codes + copy.codes, until - copy.codes);
            out_ += until - copy.codes;
            copy.codes = until;
            if (!at_cut) return;
            out_ += compress_row(matcher_, text + (lane.cut[copy.cut] - shift), 1, codes_ + out_);
            copy.cut++;
        }
    }

    // A row longer than a lane. Lanes take pieces of it that overlap by kOverlap bytes. Only the first starts
    // where a match starts, but greedy parses that ever stand on one position go on alike, and they soon do:
    // lane i is good from the first position on which the parse before it stood too. Where they don't meet
    // in the overlap (runs of one byte out of phase), the plain matcher goes on until they do.
    void compress_long(size_t row) noexcept {
        const uint8_t* text = rows_.data + rows_.start(row);
        const size_t size = rows_.size(row);
        size_t at = 0;        // everything before it is done
        size_t distrust = 0;  // bytes to leave to the plain matcher, after parses did not meet
        size_t asked = 0;
        while (at < size) {
            if (at - asked > kAskEvery) {
                asked = at;
                if (interrupt_.ask()) return;
            }
            const size_t left = size - at;
            if (left < 4 * kOverlap || distrust > 0) {
                const size_t take = left < 4 * kOverlap ? left : distrust < left ? distrust : left;
                at = plain_steps(text, size, at, at + take);
                distrust = 0;
                continue;
            }
            const size_t piece = left / kLanes + 1 < kPiece ? left / kLanes + 1 : kPiece;
            const size_t begin = at;
            size_t plain_bytes = 0;
            at = compress_pieces(text, size, at, piece < 2 * kOverlap ? 2 * kOverlap : piece, plain_bytes);
            if (plain_bytes > (at - begin) / 4) distrust = 32 * kLanes * kPiece;
        }
        ends_[row] = static_cast<CodeOffset>(out_);
    }

    static constexpr size_t kOverlap = 64;
    static constexpr size_t kPiece = kStaged - kOverlap - 1;
    static constexpr uint16_t kNotSeen = 0xFFFF;

    // Compresses with the plain matcher from `at` to the first position at or after `to` that it stands on.
    size_t plain_steps(const uint8_t* text, size_t size, size_t at, size_t to) noexcept {
        while (at < to) at = plain_step(text, size, at);
        return at;
    }

    size_t plain_step(const uint8_t* text, size_t size, size_t at) noexcept {
        const size_t left = size - at;
        // SAFETY: the full load is taken only where 8 bytes of the row are left.
        const uint64_t word = left >= 8 ? load_le<uint64_t>(text + at) : load_up_to_8(text + at, left);
        const Match match = matcher_.longest(word, left);
        codes_[out_++] = match.code;
        if (match.code == kEscape) codes_[out_++] = text[at];
        return at + match.length;
    }

    // One run over pieces from `at` on. Returns where it got to.
    size_t compress_pieces(const uint8_t* text, size_t size, size_t at, size_t piece,
                           size_t& plain_bytes) noexcept {
        size_t start[kLanes], staged[kLanes], cuts[kLanes];
        bool plain[kLanes];
        size_t count = 0;
        for (size_t i = 0; i < kLanes; i++) {
            Lane& lane = scratch_->lane[i];
            const size_t from = at + i * piece;
            staged[i] = 0;
            cuts[i] = 0;
            plain[i] = false;
            if (from < size) {
                count = i + 1;
                start[i] = from;
                staged[i] = size - from < piece + kOverlap ? size - from : piece + kOverlap;
                stage(lane.text, text + from, staged[i]);
                plain[i] =
                    holds_end(text + from, staged[i]) && !cut(lane, 0, text + from, staged[i], cuts[i]);
                std::memset(lane.codes_before, 0xFF, (staged[i] + 2) * sizeof(uint16_t));
                lane.text[staged[i]] = table_->row_end;
            }
            end_lane(i, from < size && !plain[i] ? staged[i] + 1 : 0);
        }
        run_lanes(table_, scratch_, isa_);

        for (size_t i = 0; i < count; i++) {
            // `at` is exact. Where lane i did not stand on it, the plain matcher goes on until it did, or to
            // where the next lane takes over.
            Lane& lane = scratch_->lane[i];
            const size_t next = i + 1 < count ? start[i + 1] : start[i] + staged[i];
            const bool reaches_end = start[i] + staged[i] == size;
            // A match may look at 8 bytes, so the last 7 positions of a piece that ends within the row are
            // not those of the row.
            const size_t good = reaches_end ? staged[i] : staged[i] - 7;
            // A last single byte may have been taken together with row_end.
            if (reaches_end && !plain[i]) lane.codes_before[staged[i]] = lane.codes_before[staged[i] + 1];
            const size_t plain_from = at;
            while (at < next &&
                   (plain[i] || at - start[i] > good || lane.codes_before[at - start[i]] == kNotSeen)) {
                at = plain_step(text, size, at);
            }
            plain_bytes += at - plain_from;
            if (at >= next) continue;
            Copy copy;
            copy.codes = lane.codes_before[at - start[i]];
            while (copy.cut < cuts[i] && lane.cut[copy.cut] < at - start[i]) copy.cut++;
            // Up to the first position that the next lane stood on too; failing that, the last good one.
            size_t to = at - start[i];
            for (size_t p = good; p > to; p--) {
                if (lane.codes_before[p] == kNotSeen) continue;
                to = p;
                break;
            }
            if (i + 1 < count && !plain[i + 1]) {
                const Lane& after = scratch_->lane[i + 1];
                for (size_t p = next - start[i]; p <= good; p++) {
                    if (lane.codes_before[p] == kNotSeen ||
                        after.codes_before[p + start[i] - next] == kNotSeen)
                        continue;
                    if (p < at - start[i]) continue;
                    to = p;
                    break;
                }
            }
            copy_codes(lane, cuts[i], text + start[i], 0, to, copy);
            at = start[i] + to;
        }
        return at;
    }

    Interrupt& interrupt_;
    const Matcher& matcher_;
    const LaneTable* table_;
    const Rows<Offset>& rows_;
    uint8_t* codes_;
    CodeOffset* ends_;
    Isa isa_;
    LaneScratch* scratch_;
    size_t out_ = 0;
};

// Compresses all rows. `codes` has room for compress_bound(rows.total()) and no more is written; ends[i] is
// where row i's codes end. Call encoder.prepare(rows.total()) first for speed. `scratch` is this thread's
// own and may be null, which leaves the work to the plain matcher. Returns the bytes written.
template <class Offset, class CodeOffset>
size_t compress_rows(const Encoder& encoder, const Rows<Offset>& rows, uint8_t* codes, CodeOffset* ends,
                     Isa isa, LaneScratch* scratch, Interrupt& interrupt) noexcept {
    // Below a few hundred bytes the lanes do not fill.
    if (isa == Isa::plain || encoder.lanes() == nullptr || scratch == nullptr || rows.total() < 512) {
        return plain::compress_rows(encoder.matcher(), rows, codes, ends, interrupt);
    }
    return LaneCompressor<Offset, CodeOffset>(encoder, rows, codes, ends, isa, scratch, interrupt).compress();
}

}  // namespace fsst
