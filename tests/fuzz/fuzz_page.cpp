// A data page's values section and levels: any bytes are taken or refused as a plain reading of the format
// says, with the same offsets; pages that are planned have the size announced and are read back.
#include "input.hpp"
#include "levels.hpp"
#include "page.hpp"

using namespace fsst;
using namespace fuzz;

namespace {

constexpr size_t kMostValues = 5000;

// Some values' places, found by adding up and by reading all: the same, or both refuse in the same way.
void pick_rows(const Page& page, const Outcome& want, const int32_t* offsets) {
    std::vector<int64_t> some;
    for (size_t i = page.codes_size % 7; i < page.count; i += 1 + i % 5 * 17) {
        some.push_back(static_cast<int64_t>(i));
    }
    Exact<int64_t> positions(some);
    // Only offsets are looked at, and nothing behind them.
    Exact<uint8_t> bytes(Bytes(page.offsets, page.offsets + page.offsets_size));
    Page cut = page;
    cut.offsets = bytes.data();
    for (const bool fast : {false, true}) {
        Exact<int32_t> scratch(page.count + 1), starts(some.size()), ends(some.size());
        check_same(pick_page_rows(cut, positions.data(), some.size(), fast, scratch.data(), starts.data(),
                                  ends.data()),
                   want);
        for (size_t i = 0; want.ok() && i < some.size(); i++) {
            CHECK(starts[i] == offsets[some[i]] && ends[i] == offsets[some[i] + 1]);
        }
    }
    Exact<int64_t> wide(page.count + 1);
    Exact<int32_t> scratch(page.count + 1);
    wide[0] = int64_t{1} << 33;
    check_same(append_page_offsets(cut, wide.data(), scratch.data()), want);
    for (size_t i = 0; want.ok() && i <= page.count; i++) CHECK(wide[i] == (int64_t{1} << 33) + offsets[i]);
}

void read_page(const Bytes& data, uint64_t count) {
    Exact<uint8_t> exact(data);
    Page page;
    const Outcome parsed = parse_page(exact.data(), data.size(), count, page);
    const auto int_at = [&](size_t at) { return static_cast<int32_t>(load_le<uint32_t>(data.data() + at)); };
    bool good = data.size() >= 9 && data[0] <= 1 && int_at(1) >= 0 &&
                static_cast<uint64_t>(int_at(1)) == count && int_at(5) >= 0 &&
                static_cast<size_t>(int_at(5)) <= data.size() - 9;
    if (good && data[0] == 0) good = static_cast<uint64_t>(int_at(5)) == 4 * count;
    if (good && data[0] == 1 && (count > 0 || int_at(5) > 0)) {
        DeltaHeader header;
        good = parse_delta<int32_t>(data.data() + 9, static_cast<size_t>(int_at(5)), header).ok() &&
               header.count == count;
    }
    CHECK(parsed.ok() == good);
    if (!good) return;
    CHECK(page.count == count && page.offsets == exact.data() + 9);
    CHECK(page.codes_start + page.codes_size == data.size());
    if (count > kMostValues) return;

    Exact<int32_t> offsets(page.count + 1);
    const Outcome found = read_page_offsets(page, offsets.data());
    pick_rows(page, found, offsets.data());
    std::vector<int32_t> ends(page.count);
    if (data[0] == 0) {
        for (size_t i = 0; i < page.count; i++) ends[i] = int_at(9 + 4 * i);
    } else if (page.offsets_size > 0) {
        const Outcome delta =
            decode_delta<int32_t>(page.offsets, page.offsets_size, page.header, ends.data());
        good = delta.ok() && static_cast<size_t>(delta.size) == page.offsets_size;
    }
    int32_t last = 0;
    for (size_t i = 0; good && i < page.count; i++) {
        good = ends[i] >= last;
        last = ends[i];
    }
    good = good && static_cast<size_t>(last) == page.codes_size;
    CHECK(found.ok() == good);
    if (!good) return;
    CHECK(offsets[0] == 0);
    for (size_t i = 0; i < page.count; i++) CHECK(offsets[i + 1] == ends[i]);
}

template <class Offset>
void write_pages(const Layout& text, size_t most, PageLayout layout, uint8_t change, size_t where) {
    const Column<Offset> column = text.column<Offset>();
    for (size_t first = 0, pages = 0; first < text.count() && pages < 20; pages++) {
        const Rows<Offset> rows{column.data.memory.get(), column.offsets.memory.get() + first,
                                text.count() - first};
        const PagePlan plan = plan_page(rows, layout, most);
        const PagePlan whole = plan_page(rows, layout, SIZE_MAX);
        CHECK(whole.count == rows.count && whole.bytes == rows.total());
        CHECK(plan.count >= 1 && plan.count <= rows.count);
        CHECK(plan.size <= most || plan.count == 1);
        // (A smallest delta's bytes can get fewer by a row more.)
        CHECK(plan.count == rows.count || whole.size + 10 > most);
        Exact<uint8_t> out(plan.size);
        write_page(rows, layout, plan, out.data());
        Exact<int32_t> offsets(plan.count + 1);
        size_t start = 0;
        if (layout == PageLayout::fsst) {
            Page page;
            CHECK(parse_page(out.data(), plan.size, plan.count, page).ok());
            CHECK(read_page_offsets(page, offsets.data()).ok());
            pick_rows(page, Outcome{}, offsets.data());
            CHECK(plan.delta == page.delta && plan.integers == page.offsets_size);
            start = page.codes_start;
        } else {
            DeltaHeader header;
            CHECK(parse_delta<int32_t>(out.data(), plan.size, header).ok() && header.count == plan.count);
            const Outcome lengths = decode_delta<int32_t>(out.data(), plan.size, header, offsets.data() + 1);
            CHECK(lengths.ok());
            start = static_cast<size_t>(lengths.size);
            CHECK(start == plan.integers);
            offsets[0] = 0;
            for (size_t i = 0; i < plan.count; i++) offsets[i + 1] += offsets[i];
        }
        CHECK(start + plan.bytes == plan.size);
        for (size_t i = 0; i <= plan.count; i++) CHECK(offsets[i] == rows.offsets[i] - rows.offsets[0]);
        CHECK(std::equal(out.data() + start, out.data() + plan.size, rows.data + rows.start(0)));
        if (change != 0 && layout == PageLayout::fsst) {
            Bytes changed(out.data(), out.data() + plan.size);
            changed[where % changed.size()] ^= change;
            read_page(changed, plan.count);
        }
        first += plan.count;
    }
}

// The plain reader of levels: false where the bytes end, or a run's header does not fit in 32 bits and some.
bool plain_levels(const Bytes& data, unsigned width, uint64_t count, std::vector<uint8_t>& levels) {
    size_t at = 0;
    while (levels.size() < count) {
        uint64_t header = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at == data.size() || shift == 35) return false;
            header |= uint64_t{data[at] & 0x7Fu} << shift;
            if (data[at++] < 0x80) break;
        }
        const uint64_t times = header >> 1;
        if ((header & 1) == 0) {
            if (at == data.size()) return false;
            for (uint64_t i = 0; i < times && levels.size() < count; i++) levels.push_back(data[at]);
            at++;
            continue;
        }
        if (times * width > data.size() - at) return false;
        for (uint64_t i = 0; i < 8 * times && levels.size() < count; i++) {
            unsigned level = 0;
            for (unsigned bit = 0; bit < width; bit++) {
                const uint64_t place = i * width + bit;
                level |= (data[at + static_cast<size_t>(place / 8)] >> place % 8 & 1u) << bit;
            }
            levels.push_back(static_cast<uint8_t>(level));
        }
        at += static_cast<size_t>(times * width);
    }
    return true;
}

void read_levels(const Bytes& data, unsigned width, uint8_t most, size_t count) {
    Exact<uint8_t> exact(data);
    std::vector<uint8_t> want;
    const Outcome found = check_levels(exact.data(), data.size(), width, count);
    CHECK(found.ok() == plain_levels(data, width, count, want));
    if (!found.ok()) return;
    Exact<uint8_t> levels(count);
    const Outcome read = decode_levels(exact.data(), data.size(), width, most, levels.data(), count);
    const uint8_t highest = want.empty() ? uint8_t{0} : *std::max_element(want.begin(), want.end());
    CHECK(read.ok() == (highest <= most));
    if (read.ok()) CHECK(levels.vector() == want);
}

void write_levels(const Bytes& bytes, unsigned width, size_t repeats) {
    std::vector<uint8_t> levels;
    for (const uint8_t byte : bytes) {
        // A level, now and then a run of it.
        const size_t times = byte < 192 ? 1 : (byte - 191u) * (repeats + 1);
        levels.insert(levels.end(), times, static_cast<uint8_t>(byte & ((1u << width) - 1)));
        if (levels.size() > kMostValues) break;
    }
    Exact<uint8_t> source(levels);
    Exact<uint8_t> room(levels_bound(levels.size(), width));
    const size_t size = encode_levels(source.data(), levels.size(), width, room.data());
    CHECK(size <= room.count);
    read_levels(Bytes(room.data(), room.data() + size), width, 255, levels.size());
    std::vector<uint8_t> again;
    CHECK(plain_levels(Bytes(room.data(), room.data() + size), width, levels.size(), again));
    CHECK(again == levels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint8_t kind = input.byte();
    const unsigned width = kind >> 4 & 7;
    switch (kind & 3) {
        case 0: {
            const uint64_t count = input.number(2);
            Bytes page = input.rest();
            if ((kind & 4) != 0 && page.size() >= 5)
                store_le<uint32_t>(page.data() + 1, static_cast<uint32_t>(count));
            read_page(page, count);
            break;
        }
        case 1: {
            const size_t most = input.number(2);
            const uint8_t change = input.byte();
            const size_t where = input.number(2);
            const PageLayout layout = kind & 4 ? PageLayout::delta_length : PageLayout::fsst;
            const Layout text = take_rows(input, 3000);
            if (kind & 8) {
                write_pages<int64_t>(text, most, layout, change, where);
            } else {
                write_pages<int32_t>(text, most, layout, change, where);
            }
            break;
        }
        case 2: {
            const uint8_t most = input.byte();
            const size_t count = input.number(2) % kMostValues;
            read_levels(input.rest(), width + 1, most, count);
            break;
        }
        default: {
            const size_t repeats = input.byte();
            write_levels(input.rest(), width + 1, repeats);
        }
    }
    return 0;
}
