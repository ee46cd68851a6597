// Many threads with one table and one column at once, each of them over several threads itself:
// ThreadSanitizer sees races, and every result is that of a single thread. `make threads` builds it for that.
#include <atomic>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exact_buffer.hpp"
#include "search_column.hpp"
#include "train.hpp"

using namespace fsst;

namespace {

constexpr size_t kThreads = 8;
constexpr size_t kRounds = 3;

Interrupt* quiet() {
    static Interrupt never([](void*) { return false; }, nullptr);
    return &never;
}

// What is shared, and never written once it is made.
struct Shared {
    std::string text;
    std::vector<int32_t> offsets{0};
    SymbolTable symbols;
    std::unique_ptr<Encoder> encoder;
    std::unique_ptr<DecodeTable> decoder;
    Isa isa = detect_isa();

    Rows<int32_t> rows() const {
        return {reinterpret_cast<const uint8_t*>(text.data()), offsets.data(), offsets.size() - 1};
    }
};

struct Results {
    SymbolTable trained;
    std::vector<uint8_t> codes;
    std::vector<int32_t> ends;
    std::vector<uint8_t> text;
    std::vector<uint8_t> found, equal, like;
    std::vector<int64_t> located;

    bool operator==(const Results& other) const {
        return std::memcmp(&trained, &other.trained, sizeof(trained)) == 0 && codes == other.codes &&
               ends == other.ends && text == other.text && found == other.found && equal == other.equal &&
               like == other.like && located == other.located;
    }
};

// Everything there is, over `threads` threads. The encoder's lane table is built by whoever comes first.
Results work(const Shared& shared, Encoder& encoder, size_t threads, Interrupt& interrupt) {
    const Rows<int32_t> rows = shared.rows();
    const DecodeTable& table = *shared.decoder;
    Results results;
    results.trained = train({{rows.data, rows.offsets, rows.count, false}}, TrainOptions{});

    results.codes.resize(compress_bound(rows.total()));
    results.ends.resize(rows.count + 1);
    size_t written = 0;
    encoder.prepare(rows.total());
    CHECK(compress_column(encoder, rows, results.codes.data(), results.ends.data() + 1, shared.isa, threads,
                          interrupt, written));
    results.codes.resize(written);

    const Rows<int32_t> codes{results.codes.data(), results.ends.data(), rows.count};
    std::vector<int32_t> text_ends(rows.count + 1);
    const Measured measured =
        measure_column(table, codes, text_ends.data() + 1, shared.isa, threads, interrupt);
    CHECK(measured.outcome.ok());
    results.text.resize(static_cast<size_t>(measured.outcome.size));
    CHECK(decode_column(table, codes, measured, text_ends.data(), results.text.data(), true, shared.isa,
                        threads, interrupt) == -1);

    results.found.resize((rows.count + 7) / 8);
    results.equal = results.found;
    CHECK(search_column(table, codes, "the", false, results.found.data(), shared.isa, threads, interrupt));
    CHECK(compare_column(table, codes, "the other", Affix::prefix, true, results.equal.data(), shared.isa,
                         threads, interrupt));
    results.located.resize(rows.count);
    CHECK(locate_column(table, codes, "the", false, true, results.found.data(), results.located.data(),
                        shared.isa, threads, interrupt));
    results.like = results.found;
    const std::vector<uint16_t> pattern{kAnything, 't', 'h', 'e', kOneCharacter, 'o', kAnything};
    CHECK(keep_like_rows(table, codes, pattern.data(), pattern.size(), true, results.like.data(), shared.isa,
                         interrupt)
              .ok());
    return results;
}

}  // namespace

int main() {
    Shared shared;
    std::mt19937_64 rng(20240901);
    const std::string known[] = {"the ", "other ", "and ", "of ", "cat", "ion ", "\xC3\xA9t\xC3\xA9 ", "x"};
    while (shared.text.size() < 3 * kMinPartBytes) {
        for (size_t n = rng() % 9; n > 0; n--) shared.text += known[rng() % 8];
        shared.offsets.push_back(static_cast<int32_t>(shared.text.size()));
    }
    const Rows<int32_t> rows = shared.rows();
    shared.symbols = train({{rows.data, rows.offsets, rows.count, false}}, TrainOptions{});
    shared.encoder = std::make_unique<Encoder>(shared.symbols);
    shared.decoder = std::make_unique<DecodeTable>(shared.symbols);
    const Results want = work(shared, *shared.encoder, 1, *quiet());
    CHECK(std::memcmp(want.text.data(), shared.text.data(), shared.text.size()) == 0);

    for (size_t round = 0; round < kRounds; round++) {
        // A new encoder: all threads want it at once, and then its lane table.
        LazyEncoder encoder;
        std::atomic<size_t> waiting{0};
        std::vector<std::thread> threads;
        for (size_t i = 0; i < kThreads; i++) {
            threads.emplace_back([&, i] {
                Interrupt interrupt([](void*) { return false; }, nullptr);
                waiting++;
                while (waiting < kThreads) std::this_thread::yield();
                Encoder* const mine = encoder.get(shared.symbols);
                CHECK(work(shared, *mine, 1 + i % 3, interrupt) == want);
                CHECK(encoder.get(shared.symbols) == mine);
            });
        }
        for (std::thread& thread : threads) thread.join();
    }

    // An interrupt in the middle: all threads end, and say so.
    std::atomic<int> asked{0};
    Interrupt stop([](void* count) { return ++*static_cast<std::atomic<int>*>(count) > 0; }, &asked);
    const std::string big(3 * kMaxPartBytes, 'q');
    const std::vector<int64_t> whole{0, kMaxPartBytes, 2 * kMaxPartBytes, 3 * kMaxPartBytes};
    std::vector<uint8_t> codes(compress_bound(big.size()));
    std::vector<int64_t> ends(3);
    size_t written = 0;
    CHECK(!compress_column(*shared.encoder,
                           Rows<int64_t>{reinterpret_cast<const uint8_t*>(big.data()), whole.data(), 3},
                           codes.data(), ends.data(), shared.isa, 2, stop, written));
    CHECK(asked > 0);
    std::printf("threads: %zu rounds of %zu threads, all as one thread alone\n", kRounds, kThreads);
    return 0;
}
