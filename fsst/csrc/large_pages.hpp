// Memory for large results, as the system gives it: page by page, at the first touch. A fault for each 4 kB
// takes longer than decoding into it, so where the system has larger pages, they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fsst {

// Smaller results are not worth it: up to a page at either end stays as it is, and a page that is
// touched anywhere is taken whole.
constexpr size_t kLargeResult = size_t{1} << 22;

// A hint for memory that is about to be filled; nothing but its speed depends on it.
inline void ask_for_large_pages([[maybe_unused]] void* data, [[maybe_unused]] size_t size) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size < kLargeResult) return;
    constexpr uintptr_t kPage = 4096;
    const uintptr_t start = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage;
    madvise(reinterpret_cast<void*>(start), size - (start - reinterpret_cast<uintptr_t>(data)),
            MADV_HUGEPAGE);
#endif
}

}  // namespace fsst
