// Where memory ends: each allocation fails in turn, the first, the second and so on. Whatever allocates then
// throws std::bad_alloc, frees what it had, and no thread is left behind; or it does without, and the result
// is right. A function that allocates and is noexcept would end the process here.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "exact_buffer.hpp"
#include "search_column.hpp"
#include "train.hpp"

namespace {

std::atomic<long> allocations_left{-1};  // negative: as many as are wanted
std::atomic<long> in_use{0};
std::atomic<bool> failed{false};

void* take(size_t size) noexcept {
    if (allocations_left >= 0 && allocations_left-- == 0) {
        failed = true;
        return nullptr;
    }
    in_use++;
    return std::malloc(size == 0 ? 1 : size);
}

void give(void* memory) noexcept {
    if (memory == nullptr) return;
    in_use--;
    std::free(memory);
}

}  // namespace

void* operator new(size_t size) {
    void* const memory = take(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    return take(size);
}
void operator delete(void* memory) noexcept {
    give(memory);
}
void operator delete(void* memory, size_t) noexcept {
    give(memory);
}

using namespace fsst;

namespace {

Interrupt never([](void*) { return false; }, nullptr);

// Runs work(), which checks its own result, with one allocation less each time until all are there.
template <class Work>
void with_less_memory(const char* name, const Work& work) {
    work();  // what is made once and kept
    const long before = in_use;
    long refused = 0;
    for (long allowed = 0;; allowed++) {
        failed = false;
        allocations_left = allowed;
        try {
            work();
        } catch (const std::bad_alloc&) {
            CHECK(failed);
            refused++;
        }
        allocations_left = -1;
        CHECK(in_use == before);
        if (!failed) {
            std::printf("memory: %s: %ld allocations, std::bad_alloc at %ld of them\n", name, allowed,
                        refused);
            return;
        }
    }
}

}  // namespace

int main() {
    std::string text;
    std::vector<int32_t> offsets{0};
    while (text.size() < 3 * kMinPartBytes) {
        text += "https://example.org/" + std::to_string(text.size() * 2654435761u % 99991);
        offsets.push_back(static_cast<int32_t>(text.size()));
    }
    const size_t count = offsets.size() - 1;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    const Rows<int32_t> rows{bytes, offsets.data(), count};
    const std::vector<ColumnPiece> few{{bytes, offsets.data(), 400, false}};
    const Isa isa = detect_isa();

    const SymbolTable symbols = train(few, TrainOptions{});
    for (const Effort effort : {Effort::fast, Effort::normal}) {
        TrainOptions options;
        options.effort = effort;
        const SymbolTable want = train(few, options);
        with_less_memory("train", [&] {
            const SymbolTable table = train(few, options);
            CHECK(table.count == want.count &&
                  std::memcmp(table.symbol, want.symbol, sizeof(want.symbol)) == 0);
        });
    }

    with_less_memory("Encoder", [&] {
        LazyEncoder lazy;
        Encoder* const encoder = lazy.get(symbols);
        CHECK(lazy.get(symbols) == encoder);
        encoder->prepare(text.size());
        CHECK(encoder->lanes() != nullptr);
    });

    Encoder encoder(symbols);
    encoder.prepare(text.size());
    const DecodeTable table(symbols);
    std::vector<uint8_t> codes(compress_bound(text.size()));
    std::vector<int32_t> ends(count + 1);
    size_t written = 0;
    CHECK(compress_column(encoder, rows, codes.data(), ends.data() + 1, isa, 1, never, written));
    std::vector<uint8_t> again(codes.size());
    std::vector<int32_t> ends_again(count + 1);
    with_less_memory("compress_column", [&] {
        size_t size = 0;
        CHECK(compress_column(encoder, rows, again.data(), ends_again.data() + 1, isa, 3, never, size));
        CHECK(size == written && std::memcmp(again.data(), codes.data(), size) == 0 && ends_again == ends);
    });

    const Rows<int32_t> compressed{codes.data(), ends.data(), count};
    std::vector<int32_t> text_ends(count + 1);
    std::vector<uint8_t> decoded(text.size());
    with_less_memory("measure_column, decode_column", [&] {
        const Measured measured = measure_column(table, compressed, text_ends.data() + 1, isa, 3, never);
        CHECK(static_cast<size_t>(measured.outcome.size) == text.size());
        CHECK(decode_column(table, compressed, measured, text_ends.data(), decoded.data(), true, isa, 3,
                            never) == -1);
        CHECK(std::memcmp(decoded.data(), bytes, text.size()) == 0);
    });
    with_less_memory("check_utf8_column", [&] { CHECK(check_utf8_column(rows, isa, 3, never) == -1); });

    const std::string longest = text.substr(0, 60);
    std::vector<uint8_t> bits((count + 7) / 8);
    std::vector<int32_t> located(count);
    for (const std::string& needle : {std::string("HTTPS://EXAMPLE.org/7"), longest}) {
        const bool ignore_case = needle[0] == 'H';
        with_less_memory("search_column, locate_column", [&] {
            std::fill(bits.begin(), bits.end(), uint8_t{0});
            CHECK(search_column(table, compressed, needle, ignore_case, bits.data(), isa, 3, never));
            CHECK(locate_column(table, compressed, needle, ignore_case, false, bits.data(), located.data(),
                                isa, 3, never));
            for (size_t row = 0; row < count; row++) {
                CHECK((bits[row / 8] >> row % 8 & 1) == (located[row] >= 0));
            }
        });
    }
    with_less_memory("compare_column", [&] {
        CHECK(compare_column(table, compressed, "HTTPS", Affix::prefix, true, bits.data(), isa, 3, never));
        for (size_t row = 0; row < count; row++) CHECK((bits[row / 8] >> row % 8 & 1) == 1);
    });
    const std::vector<uint16_t> pattern{kAnything, 'o', kOneCharacter, 'g', kAnything};
    with_less_memory("keep_like_rows", [&] {
        CHECK(keep_like_rows(table, compressed, pattern.data(), pattern.size(), true, bits.data(), isa, never)
                  .ok());
        for (size_t row = 0; row < count; row++) CHECK((bits[row / 8] >> row % 8 & 1) == 1);
    });
    return 0;
}
