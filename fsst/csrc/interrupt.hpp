// Stopping long work: somebody presses Ctrl-C, and every thread should notice soon.
#pragma once

#include <atomic>
#include <thread>

namespace fsst {

class Interrupt {
 public:
    using Poll = bool (*)(void*);

    // `poll` is asked with `argument` whether to stop, on the thread that made this and no other: to enter
    // Python from a new thread takes memory, and where there is none Python ends the process.
    Interrupt(Poll poll, void* argument) noexcept
        : poll_(poll), argument_(argument), home_(std::this_thread::get_id()) {}

    // Asks; on other threads, only whether somebody has been told to stop. Cheap enough for every few
    // megabytes, not for every row.
    bool ask() noexcept {
        if (!stopped() && std::this_thread::get_id() == home_ && poll_(argument_)) {
            stopped_.store(true, std::memory_order_relaxed);
        }
        return stopped();
    }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
    Poll poll_;
    void* argument_;
    std::thread::id home_;
    std::atomic<bool> stopped_{false};
};

// How much text a kernel works on before it asks.
constexpr unsigned long long kAskEvery = 16ull << 20;

}  // namespace fsst
