// Memory between two pages that can't be touched: a kernel that reads or writes one byte too far ends there,
// in the machine code that users run, not only under a sanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "exact_buffer.hpp"
#include "isa.hpp"

// Where bytes lie: right behind the first page, or so that `tail` bytes are left before the second.
struct Place {
    bool front;
    size_t tail;
};

// What runs now, for the message if it touches what it may not.
struct Running {
    const char* kernel = "?";
    size_t length = 0;
    fsst::Isa isa = fsst::Isa::plain;
    Place place{};
};
inline Running running;

inline void report_and_die(int) {
    std::fprintf(stderr, "%s: out of bounds; length %zu, instruction set %d, %s, tail %zu\n", running.kernel,
                 running.length, static_cast<int>(running.isa), running.place.front ? "front" : "end",
                 running.place.tail);
    std::_Exit(1);
}

inline void report_touched_guards() {
    std::signal(SIGSEGV, report_and_die);
    std::signal(SIGBUS, report_and_die);
}

class Guarded {
 public:
    // Bytes on either side that must stay as they were, where there are any.
    static constexpr size_t kCanaries = 64;

    explicit Guarded(size_t capacity) {
        const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        capacity_ = (capacity + 2 * kCanaries + page - 1) / page * page;
        void* const all = mmap(nullptr, capacity_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(all != MAP_FAILED);
        begin_ = static_cast<uint8_t*>(all) + page;
        CHECK(mprotect(begin_, capacity_, PROT_READ | PROT_WRITE) == 0);
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    // Room for `count` values at the place, all of it and what is beside it filled with one byte.
    template <class T>
    T* room(size_t count, Place place, uint8_t fill = 0xA5) {
        size_ = count * sizeof(T);
        CHECK(size_ + 2 * kCanaries <= capacity_);
        // A tail may not take values off their alignment.
        at_ = place.front ? begin_ : begin_ + capacity_ - place.tail / alignof(T) * alignof(T) - size_;
        fill_ = fill;
        std::memset(before(), fill, static_cast<size_t>(after_end() - before()));
        return reinterpret_cast<T*>(at_);
    }

    template <class T>
    const T* hold(const std::vector<T>& values, Place place, uint8_t beside = 0xFF) {
        T* const to = room<T>(values.size(), place, beside);
        if (!values.empty()) std::memcpy(to, values.data(), size_);
        return to;
    }

    // Whether nothing was written beside the room.
    bool untouched() const {
        for (const uint8_t* p = before(); p < at_; p++) {
            if (*p != fill_) return false;
        }
        for (const uint8_t* p = at_ + size_; p < after_end(); p++) {
            if (*p != fill_) return false;
        }
        return true;
    }

 private:
    uint8_t* before() const { return at_ - begin_ < static_cast<long>(kCanaries) ? begin_ : at_ - kCanaries; }
    uint8_t* after_end() const {
        uint8_t* const end = begin_ + capacity_;
        return end - (at_ + size_) < static_cast<long>(kCanaries) ? end : at_ + size_ + kCanaries;
    }

    uint8_t* begin_;
    size_t capacity_;
    uint8_t* at_ = nullptr;
    size_t size_ = 0;
    uint8_t fill_ = 0;
};
