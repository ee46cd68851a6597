// One column over several threads. Rows are split by bytes, each part works alone, and the results
// are joined so that they do not depend on how many parts there were.
#pragma once

#include "decompress.hpp"
#include "encoder.hpp"
#include "interrupt.hpp"
#include "isa.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace fsst {

// A part is at least this long before a second thread is worth waking (about 20 us)...
constexpr size_t kMinPartBytes = 256 * 1024;
// ...and at most this long, so that an interrupt is noticed within a fraction of a second.
constexpr size_t kMaxPartBytes = 32 * 1024 * 1024;

// Runs work(0) .. work(count - 1), the last of them on this thread, which then looks out for interrupts until
// the others have finished: signals reach the main thread only, and that is this one if any.
template <class Work>
void run_together(size_t count, Interrupt& interrupt, const Work& work) {
    std::mutex mutex;
    std::condition_variable finished;
    size_t running = 0;
    std::vector<std::thread> others;
    others.reserve(count);
    for (size_t i = 0; i + 1 < count; i++) {
        try {
            {
                const std::lock_guard<std::mutex> lock(mutex);
                running++;
            }
            others.emplace_back([&, i] {
                work(i);
                const std::lock_guard<std::mutex> lock(mutex);
                running--;
                finished.notify_one();
            });
        } catch (const std::exception&) {  // std::system_error, or std::bad_alloc: the others must be joined
            {
                const std::lock_guard<std::mutex> lock(mutex);
                running--;
            }
            work(i);  // no thread to be had: the work is done here
        }
    }
    work(count - 1);
    std::unique_lock<std::mutex> lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
        lock.unlock();
        interrupt.ask();
        lock.lock();
    }
    lock.unlock();
    for (std::thread& other : others) other.join();
}

// Row numbers where parts of about equal bytes begin, and the end: parts + 1 entries.
template <class Offset>
std::vector<size_t> split_rows(const Rows<Offset>& rows, size_t threads) {
    const size_t total = rows.total();
    size_t parts = std::min(threads, total / kMinPartBytes);
    parts = std::max({parts, (total + kMaxPartBytes - 1) / kMaxPartBytes, size_t{1}});
    std::vector<size_t> starts{0};
    for (size_t part = 1; part < parts; part++) {
        const uint64_t want = rows.start(0) + total / parts * part;
        const Offset* at = std::lower_bound(rows.offsets + starts.back(), rows.offsets + rows.count,
                                            static_cast<Offset>(want));
        starts.push_back(static_cast<size_t>(at - rows.offsets));
    }
    starts.push_back(rows.count);
    return starts;
}

template <class Offset>
Rows<Offset> part_of(const Rows<Offset>& rows, const std::vector<size_t>& starts, size_t part) {
    return Rows<Offset>{rows.data, rows.offsets + starts[part], starts[part + 1] - starts[part]};
}

template <class Offset>
void shift(Offset* ends, size_t count, size_t by) noexcept {
    if (by == 0) return;
    for (size_t i = 0; i < count; i++) ends[i] = static_cast<Offset>(ends[i] + static_cast<Offset>(by));
}

// Compresses over `threads` threads; call encoder.prepare(rows.total()) first. False if interrupted.
template <class Offset, class CodeOffset>
bool compress_column(const Encoder& encoder, const Rows<Offset>& rows, uint8_t* codes, CodeOffset* ends,
                     Isa isa, size_t threads, Interrupt& interrupt, size_t& written) {
    const std::vector<size_t> starts = split_rows(rows, threads);
    const size_t parts = starts.size() - 1;
    std::vector<size_t> sizes(parts);
    // A thread that gets no memory to work in does without lanes.
    std::vector<std::unique_ptr<LaneScratch>> scratch(std::min(threads, parts));
    for (auto& each : scratch) each.reset(encoder.lanes() ? new (std::nothrow) LaneScratch : nullptr);
    written = 0;
    for (size_t first = 0; first < parts; first += threads) {
        if (first > 0 && interrupt.ask()) return false;
        const size_t wave = std::min(threads, parts - first);
        // Each part of a wave gets room for its own worst case behind the codes there are, then
        // they are closed up. What is written never passes the bound of what has been read.
        std::vector<size_t> room(wave);
        size_t at = written;
        for (size_t i = 0; i < wave; i++) {
            room[i] = at;
            at += compress_bound(part_of(rows, starts, first + i).total());
        }
        run_together(wave, interrupt, [&](size_t i) {
            sizes[first + i] = compress_rows(encoder, part_of(rows, starts, first + i), codes + room[i],
                                             ends + starts[first + i], isa, scratch[i].get(), interrupt);
        });
        if (interrupt.stopped()) return false;
        for (size_t i = 0; i < wave; i++) {
            std::memmove(codes + written, codes + room[i], sizes[first + i]);
            shift(ends + starts[first + i], starts[first + i + 1] - starts[first + i], written);
            written += sizes[first + i];
        }
    }
    return true;
}

// What measuring found out about a column's parts; decode_column needs it.
struct Measured {
    std::vector<size_t> starts;  // rows where parts begin
    std::vector<size_t> sizes;   // text bytes of each part
    Outcome outcome;             // the first fault by row, or the total size
    bool ascii = true;           // every byte of the text is surely ASCII
    bool interrupted = false;
};

template <class Offset, class TextOffset>
Measured measure_column(const DecodeTable& table, const Rows<Offset>& rows, TextOffset* ends, Isa isa,
                        size_t threads, Interrupt& interrupt) {
    Measured measured;
    measured.starts = split_rows(rows, threads);
    const size_t parts = measured.starts.size() - 1;
    measured.sizes.resize(parts);
    std::vector<Outcome> outcomes(parts);
    std::vector<Learned> learned(parts);
    for (size_t first = 0; first < parts; first += threads) {
        if (first > 0 && interrupt.ask()) {
            measured.interrupted = true;
            return measured;
        }
        run_together(std::min(threads, parts - first), interrupt, [&](size_t i) {
            const size_t part = first + i;
            outcomes[part] = measure_rows(table, part_of(rows, measured.starts, part),
                                          ends + measured.starts[part], isa, &learned[part]);
        });
    }
    uint64_t total = 0;
    for (size_t part = 0; part < parts; part++) {
        Outcome& outcome = outcomes[part];
        if (!outcome.ok() && outcome.status != Status::offsets_overflow) {
            outcome.row += static_cast<int64_t>(measured.starts[part]);
            measured.outcome = outcome;
            return measured;
        }
        measured.sizes[part] = static_cast<size_t>(outcome.size);
        measured.ascii &= learned[part].ascii;
        total += measured.sizes[part];
    }
    measured.outcome.size = static_cast<int64_t>(total);
    constexpr uint64_t limit = static_cast<uint64_t>(std::numeric_limits<TextOffset>::max());
    if (total > limit) {
        measured.outcome.status = Status::offsets_overflow;
        measured.outcome.limit = static_cast<int64_t>(limit);
        return measured;
    }
    size_t before = 0;
    for (size_t part = 0; part < parts; part++) {
        const size_t row = measured.starts[part];
        shift(ends + row, measured.starts[part + 1] - row, before);
        before += measured.sizes[part];
    }
    return measured;
}

// Codes decoded at a time where the text is checked: it is still in the cache then.
constexpr size_t kCheckedRun = 32 * 1024;

// Decodes one part of a column to `text`, where its rows end as `offsets` says (rows.count + 1 entries). With
// `check`, returns the first row that is not UTF-8; otherwise, or if there is none, -1.
template <class Offset, class TextOffset>
int64_t decode_part(const DecodeTable& table, const Rows<Offset>& rows, const TextOffset* offsets,
                    uint8_t* text, Isa isa, bool check) noexcept {
    for (size_t row = 0; row < rows.count;) {
        size_t last = rows.count;
        if (check && rows.start(last) - rows.start(row) > kCheckedRun) {
            const Offset want = static_cast<Offset>(rows.start(row) + kCheckedRun);
            last = static_cast<size_t>(
                std::upper_bound(rows.offsets + row + 1, rows.offsets + rows.count, want) - rows.offsets);
        }
        const Rows<TextOffset> decoded{text, offsets + row, last - row};
        decode(table, rows.data + rows.start(row), rows.start(last) - rows.start(row),
               text + decoded.start(0), decoded.total(), isa);
        if (check) {
            const int64_t invalid = first_invalid_utf8(decoded, isa);
            if (invalid >= 0) return static_cast<int64_t>(row) + invalid;
        }
        row = last;
    }
    return -1;
}

// Decodes what measure_column accepted into `text`, of exactly the size it found; `offsets` are the text's,
// with the 0 before the ends. With `utf8`, returns the first row that is not that; otherwise, or if there is
// none, -1. -2 if interrupted.
template <class Offset, class TextOffset>
int64_t decode_column(const DecodeTable& table, const Rows<Offset>& rows, const Measured& measured,
                      const TextOffset* offsets, uint8_t* text, bool utf8, Isa isa, size_t threads,
                      Interrupt& interrupt) {
    const size_t parts = measured.sizes.size();
    std::vector<int64_t> invalid(parts, -1);
    for (size_t first = 0; first < parts; first += threads) {
        if (first > 0 && interrupt.ask()) return -2;
        run_together(std::min(threads, parts - first), interrupt, [&](size_t i) {
            const size_t part = first + i;
            invalid[part] = decode_part(table, part_of(rows, measured.starts, part),
                                        offsets + measured.starts[part], text, isa, utf8 && !measured.ascii);
        });
    }
    for (size_t part = 0; part < parts; part++) {
        if (invalid[part] >= 0) return static_cast<int64_t>(measured.starts[part]) + invalid[part];
    }
    return -1;
}

// The first row of `text` that is not valid UTF-8, or -1. -2 if interrupted.
template <class TextOffset>
int64_t check_utf8_column(const Rows<TextOffset>& text, Isa isa, size_t threads, Interrupt& interrupt) {
    const std::vector<size_t> starts = split_rows(text, threads);
    const size_t parts = starts.size() - 1;
    std::vector<int64_t> invalid(parts, -1);
    for (size_t first = 0; first < parts; first += threads) {
        if (first > 0 && interrupt.ask()) return -2;
        run_together(std::min(threads, parts - first), interrupt, [&](size_t i) {
            invalid[first + i] = first_invalid_utf8(part_of(text, starts, first + i), isa);
        });
    }
    for (size_t part = 0; part < parts; part++) {
        if (invalid[part] >= 0) return static_cast<int64_t>(starts[part]) + invalid[part];
    }
    return -1;
}

}  // namespace fsst
