// Stopping long work: somebody presses Ctrl-C, and every thread should notice soon.
#pragma once

#include <atomic>

namespace fsst {

class Interrupt {
 public:
    using Poll = bool (*)(void*);

    // `poll` is asked with `argument` whether to stop; it may be called from any thread.
    Interrupt(Poll poll, void* argument) noexcept : poll_(poll), argument_(argument) {}

    // Asks. Cheap enough for every few megabytes, not for every row.
    bool ask() noexcept {
        if (!stopped() && poll_(argument_)) stopped_.store(true, std::memory_order_relaxed);
        return stopped();
    }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
    Poll poll_;
    void* argument_;
    std::atomic<bool> stopped_{false};
};

// How much text a kernel works on before it asks.
constexpr unsigned long long kAskEvery = 16ull << 20;

}  // namespace fsst
