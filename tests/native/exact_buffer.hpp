// Memory that ends exactly where its bytes end, so that AddressSanitizer sees the first byte beyond.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)

class ExactBuffer {
 public:
    explicit ExactBuffer(size_t size) : data_(static_cast<uint8_t*>(std::malloc(size))), size_(size) {}
    explicit ExactBuffer(const std::vector<uint8_t>& bytes) : ExactBuffer(bytes.size()) {
        if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
    }
    ExactBuffer(const ExactBuffer&) = delete;
    ExactBuffer& operator=(const ExactBuffer&) = delete;
    ~ExactBuffer() { std::free(data_); }

    uint8_t* data() { return data_; }
    size_t size() const { return size_; }

 private:
    uint8_t* data_;
    size_t size_;
};
