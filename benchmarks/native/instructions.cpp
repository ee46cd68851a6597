// Work to count instructions on: the same text, table and codes every time, each kernel in a function of its
// own. `make instructions` runs it under callgrind and prints instructions for each code.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "decompress.hpp"
#include "encoder.hpp"
#include "train.hpp"

using namespace fsst;

namespace {

Interrupt never([](void*) { return false; }, nullptr);

// Words of a small invented language, some more frequent than others, one to six of them a row.
void make_text(std::vector<uint8_t>& text, std::vector<int32_t>& offsets) {
    std::mt19937 random(1);
    std::vector<std::string> words(400);
    for (std::string& word : words) {
        const size_t length = 2 + random() % 8;
        for (size_t i = 0; i < length; i++) word += static_cast<char>("etaoinshrdlucmfwyp"[random() % 18]);
    }
    offsets = {0};
    while (text.size() < 1000000) {
        for (size_t left = 1 + random() % 6; left > 0; left--) {
            const std::string& word = words[random() % (1 + random() % words.size())];
            text.insert(text.end(), word.begin(), word.end());
            if (left > 1) text.push_back(' ');
        }
        offsets.push_back(static_cast<int32_t>(text.size()));
    }
}

FSST_NO_INLINE size_t counted_compress(const Encoder& encoder, const Rows<int32_t>& rows, uint8_t* codes,
                                       int32_t* ends, Isa isa, LaneScratch* scratch) {
    return compress_rows(encoder, rows, codes, ends, isa, scratch, never);
}

FSST_NO_INLINE Outcome counted_measure(const DecodeTable& table, const Rows<int32_t>& rows, int32_t* ends,
                                       Isa isa) {
    return measure_rows(table, rows, ends, isa);
}

FSST_NO_INLINE void counted_decode(const DecodeTable& table, const uint8_t* codes, size_t size, uint8_t* text,
                                   size_t text_size, Isa isa) {
    decode(table, codes, size, text, text_size, isa);
}

}  // namespace

int main(int count, char** arguments) {
    const char* const name = count > 1 ? arguments[1] : "avx2";
    const Isa isa = std::strcmp(name, "plain") == 0      ? Isa::plain
                    : std::strcmp(name, "baseline") == 0 ? Isa::baseline
                                                         : Isa::avx2;  // valgrind knows no AVX-512
    std::vector<uint8_t> text;
    std::vector<int32_t> offsets;
    make_text(text, offsets);
    const size_t rows = offsets.size() - 1;
    TrainOptions options;
    const SymbolTable table = train({ColumnPiece{text.data(), offsets.data(), rows, false}}, options);

    Encoder encoder(table);
    encoder.prepare(text.size());
    auto scratch = std::make_unique<LaneScratch>();
    std::vector<uint8_t> codes(compress_bound(text.size()));
    std::vector<int32_t> code_offsets(rows + 1, 0);
    const size_t size = counted_compress(encoder, Rows<int32_t>{text.data(), offsets.data(), rows},
                                         codes.data(), code_offsets.data() + 1, isa, scratch.get());

    const DecodeTable decoder(table);
    std::vector<int32_t> text_offsets(rows + 1, 0);
    const Outcome measured = counted_measure(decoder, Rows<int32_t>{codes.data(), code_offsets.data(), rows},
                                             text_offsets.data() + 1, isa);
    std::vector<uint8_t> again(static_cast<size_t>(measured.size));
    counted_decode(decoder, codes.data(), size, again.data(), again.size(), isa);
    std::printf("%s: %zu rows, %zu bytes of text, %zu of codes, %zu symbols: %s\n", name, rows, text.size(),
                size, static_cast<size_t>(table.count), again == text ? "round trip" : "MISMATCH");
    return again == text ? EXIT_SUCCESS : EXIT_FAILURE;
}
