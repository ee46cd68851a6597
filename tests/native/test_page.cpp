// Values sections: what is written is read back, sizes are as planned, and no bytes whatever are read out
// of bounds or leave offsets that are not in the data.
#include <cstdio>

#include "exact_buffer.hpp"
#include "page.hpp"

#include <algorithm>
#include <random>

using namespace fsst;

namespace {

std::mt19937_64 rng(20240816);

// Rows at arbitrary offsets into arbitrary bytes.
template <class Offset>
struct Made {
    std::vector<uint8_t> bytes;
    std::vector<Offset> offsets;

    Made(size_t count, size_t longest) {
        const size_t lead = rng() % 5;
        offsets.push_back(static_cast<Offset>(lead));
        for (size_t i = 0; i < count; i++) {
            offsets.push_back(
                static_cast<Offset>(offsets.back() + static_cast<Offset>(rng() % (longest + 1))));
        }
        bytes.resize(static_cast<size_t>(offsets.back()));
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng());
    }
};

// Some values of a page, from bytes that end where its offsets do: picked fast and slowly, the same is found.
bool pick(const std::vector<uint8_t>& page, const Page& parsed, std::vector<int32_t>& ends) {
    ExactBuffer head(parsed.codes_start);
    std::memcpy(head.data(), page.data(), head.size());
    Page cut = parsed;
    cut.offsets = head.data() + kPageHeader;
    std::vector<int64_t> positions;
    for (size_t i = 0; parsed.count > 0 && i < rng() % 8; i++) {
        positions.push_back(static_cast<int64_t>(rng() % parsed.count));
    }
    std::sort(positions.begin(), positions.end());
    const size_t picked = positions.size();
    std::vector<int32_t> found[2];
    Outcome outcomes[2];
    for (const bool fast : {false, true}) {
        ExactBuffer scratch(4 * (parsed.count + 1));
        found[fast].assign(2 * picked, -1);
        outcomes[fast] =
            pick_page_rows(cut, positions.data(), picked, fast, reinterpret_cast<int32_t*>(scratch.data()),
                           found[fast].data(), found[fast].data() + picked);
    }
    CHECK(outcomes[0].status == outcomes[1].status && outcomes[0].position == outcomes[1].position);
    if (!outcomes[0].ok()) return false;
    CHECK(found[0] == found[1]);
    for (size_t i = 0; i < picked; i++) {
        const size_t row = static_cast<size_t>(positions[i]);
        CHECK(found[1][i] == ends[row] && found[1][picked + i] == ends[row + 1]);
    }
    return true;
}

bool read(const std::vector<uint8_t>& page, uint64_t count, std::vector<int32_t>& offsets) {
    ExactBuffer exact(page);
    Page parsed;
    if (!parse_page(exact.data(), exact.size(), count, parsed).ok()) return false;
    CHECK(parsed.count == count && parsed.count <= kDeltaFree + kDeltaPerByte * page.size());
    ExactBuffer room(4 * (parsed.count + 1));
    if (!read_page_offsets(parsed, reinterpret_cast<int32_t*>(room.data())).ok()) {
        CHECK(!pick(page, parsed, offsets));
        return false;
    }
    offsets.resize(parsed.count + 1);
    std::memcpy(offsets.data(), room.data(), room.size());
    CHECK(offsets[0] == 0 && parsed.codes_start + static_cast<size_t>(offsets.back()) == page.size());
    for (size_t i = 0; i < parsed.count; i++) CHECK(offsets[i] <= offsets[i + 1]);
    CHECK(pick(page, parsed, offsets));
    return true;
}

template <class Offset>
void check(size_t count, size_t longest) {
    const Made<Offset> made(count, longest);
    ExactBuffer data(made.bytes);
    ExactBuffer offsets(made.offsets.size() * sizeof(Offset));
    std::memcpy(offsets.data(), made.offsets.data(), offsets.size());
    const Rows<Offset> rows{data.data(), reinterpret_cast<const Offset*>(offsets.data()), count};
    for (const PageLayout layout : {PageLayout::fsst, PageLayout::delta_length}) {
        const size_t whole = plan_page(rows, layout, SIZE_MAX).size;
        for (int round = 0; round < 6; round++) {
            const size_t most = round == 0 ? SIZE_MAX : round == 1 ? whole : rng() % (whole + 2);
            const PagePlan plan = plan_page(rows, layout, most);
            CHECK(plan.count <= count && (plan.count > 0) == (count > 0));
            CHECK(plan.size <= most || plan.count <= 1);
            CHECK(most < whole || plan.count == count);
            const Rows<Offset> some{rows.data, rows.offsets, plan.count};
            CHECK(plan_page(some, layout, SIZE_MAX).size == plan.size);
            if (plan.count < count) {  // a row more is a row too many
                const Rows<Offset> more{rows.data, rows.offsets, plan.count + 1};
                CHECK(plan_page(more, layout, SIZE_MAX).size > most);
            }
            ExactBuffer room(plan.size);
            write_page(some, layout, plan, room.data());
            const std::vector<uint8_t> page(room.data(), room.data() + room.size());
            const size_t bytes = some.total();
            CHECK(bytes == 0 ||
                  std::memcmp(page.data() + page.size() - bytes, rows.data + rows.start(0), bytes) == 0);
            if (layout == PageLayout::delta_length) {
                DeltaHeader header;
                CHECK(parse_delta<int32_t>(page.data(), page.size(), header).ok() &&
                      header.count == plan.count);
                std::vector<int32_t> lengths(plan.count + 1);
                CHECK(static_cast<size_t>(
                          decode_delta<int32_t>(page.data(), page.size(), header, lengths.data()).size) ==
                      page.size() - bytes);
                for (size_t i = 0; i < plan.count; i++)
                    CHECK(static_cast<size_t>(lengths[i]) == some.size(i));
                continue;
            }
            std::vector<int32_t> ends;
            CHECK(read(page, plan.count, ends));
            for (size_t i = 0; i <= plan.count; i++) CHECK(ends[i] == made.offsets[i] - made.offsets[0]);
            CHECK(!read(page, plan.count + 1, ends));
            if (!plan.delta) {  // an offset too many, which the codes have room for
                std::vector<uint8_t> longer = page;
                store_le<uint32_t>(longer.data() + 5, static_cast<uint32_t>(plan.integers + 4));
                longer.insert(longer.begin() + static_cast<long>(kPageHeader + plan.integers), 4, 0);
                CHECK(!read(longer, plan.count, ends));
            }
            // Hostile.
            for (size_t size = 0; size < page.size(); size += 1 + size / 20) {
                read(std::vector<uint8_t>(page.begin(), page.begin() + static_cast<long>(size)), plan.count,
                     ends);
            }
            for (int i = 0; i < 60; i++) {
                std::vector<uint8_t> changed = page;
                const size_t at = i < 40 ? rng() % std::min<size_t>(page.size(), 40) : rng() % page.size();
                changed[at] ^= static_cast<uint8_t>(1 + rng() % 255);
                read(changed, plan.count, ends);
            }
        }
    }
}

}  // namespace

int main() {
    for (size_t count = 0; count < 300; count++) {
        check<int32_t>(count, rng() % 300);
        check<int64_t>(count, rng() % 8);
    }
    check<int32_t>(5000, 0);
    check<int64_t>(5000, 40);
    for (int round = 0; round < 50000; round++) {
        std::vector<uint8_t> noise(rng() % 60);
        for (uint8_t& byte : noise) byte = static_cast<uint8_t>(rng() % 3 ? rng() % 3 : rng());
        std::vector<int32_t> ends;
        read(noise, rng() % 4, ends);
    }
    std::puts("page: passed");
}
