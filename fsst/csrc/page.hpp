// The values section of a Parquet data page: of the FSST proposal (docs/format.md), and, to fall back
// on, of DELTA_LENGTH_BYTE_ARRAY. Both are integers, then the values' bytes back to back.
//
//     FSST           u8 offset_encoding | i32 num_values | i32 offset_array_length | end offsets | codes
//     delta length   DELTA_BINARY_PACKED lengths | text
#pragma once

#include "delta.hpp"
#include "port.hpp"
#include "rows.hpp"
#include "status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fsst {

constexpr size_t kPageHeader = 9;
constexpr uint8_t kPlainOffsets = 0;
constexpr uint8_t kDeltaOffsets = 1;

enum class PageLayout : int { fsst, delta_length };

// --- Writing ---

// What a page of the first `count` rows will look like, to the byte.
struct PagePlan {
    size_t count = 0;
    size_t integers = 0;  // bytes of offsets or lengths
    size_t bytes = 0;     // of the values
    size_t size = 0;      // of the page
    bool delta = true;
};

namespace page_detail {

template <class Offset>
struct Ends {
    const Offset* offsets;
    Offset operator()(size_t i) const noexcept { return static_cast<Offset>(offsets[i + 1] - offsets[0]); }
};

template <class Offset>
struct Lengths {
    const Offset* offsets;
    Offset operator()(size_t i) const noexcept { return static_cast<Offset>(offsets[i + 1] - offsets[i]); }
};

template <class Offset>
PagePlan make_plan(const Rows<Offset>& rows, PageLayout layout, size_t count, size_t delta) noexcept {
    PagePlan plan;
    plan.count = count;
    plan.bytes = static_cast<size_t>(rows.offsets[count] - rows.offsets[0]);
    plan.delta = layout == PageLayout::delta_length || delta < 4 * count;
    plan.integers = plan.delta ? delta : 4 * count;
    plan.size = (layout == PageLayout::fsst ? kPageHeader : 0) + plan.integers + plan.bytes;
    return plan;
}

// As many of the rows as make a page of at most `most` bytes, at least one (of those there are).
template <class Offset, class Values>
PagePlan fill(const Rows<Offset>& rows, const Values& values, PageLayout layout, size_t most) noexcept {
    using namespace delta_detail;
    const uint64_t first = first_zigzag<Offset>(values, rows.count);
    size_t blocks = 0;  // bytes of the whole blocks before `at`
    Block<Offset> block;
    // A plan for `count` rows, at most a block more than those before `at`.
    const auto plan_to = [&](size_t at, size_t count) {
        size_t last = 0;
        if (count > at) {
            make_block<Offset>(values, at, count - at, block);
            last = block.size();
        }
        return make_plan(rows, layout, count, header_size(count, first) + blocks + last);
    };
    PagePlan plan = plan_to(0, 0);
    if (rows.count == 0) return plan;
    plan = plan_to(1, 1);
    for (size_t at = 1; at < rows.count; at += kDeltaBlock) {
        const size_t end = rows.count - at < kDeltaBlock ? rows.count : at + kDeltaBlock;
        const PagePlan whole = plan_to(at, end);
        if (whole.size > most) {
            // `low` rows fit or are the first; `high` do not.
            size_t low = at, high = end;
            while (high - low > 1) {
                const size_t middle = low + (high - low) / 2;
                const PagePlan some = plan_to(at, middle);
                if (some.size > most) {
                    high = middle;
                } else {
                    low = middle;
                    plan = some;
                }
            }
            return plan;
        }
        plan = whole;
        blocks += block.size();
    }
    return plan;
}

}  // namespace page_detail

// Offsets may be of either width, but a page's bytes number less than 2^31: the caller sees to it.
template <class Offset>
PagePlan plan_page(const Rows<Offset>& rows, PageLayout layout, size_t most) noexcept {
    using namespace page_detail;
    if (layout == PageLayout::fsst) return fill(rows, Ends<Offset>{rows.offsets}, layout, most);
    return fill(rows, Lengths<Offset>{rows.offsets}, layout, most);
}

// Writes the first plan.count rows; `out` has room for plan.size bytes.
template <class Offset>
void write_page(const Rows<Offset>& rows, PageLayout layout, const PagePlan& plan, uint8_t* out) noexcept {
    using namespace page_detail;
    const Ends<Offset> ends{rows.offsets};
    if (layout == PageLayout::delta_length) {
        out += encode_delta<Offset>(Lengths<Offset>{rows.offsets}, plan.count, out);
    } else {
        out[0] = plan.delta ? kDeltaOffsets : kPlainOffsets;
        store_le<uint32_t>(out + 1, static_cast<uint32_t>(plan.count));
        store_le<uint32_t>(out + 5, static_cast<uint32_t>(plan.integers));
        out += kPageHeader;
        if (plan.delta) {
            // 64-bit offsets are written with the same bytes as 32-bit ones: nothing wraps below 2^31.
            out += encode_delta<Offset>(ends, plan.count, out);
        } else {
            for (size_t i = 0; i < plan.count; i++, out += 4)
                store_le<uint32_t>(out, static_cast<uint32_t>(ends(i)));
        }
    }
    if (plan.bytes > 0) std::memcpy(out, rows.data + rows.start(0), plan.bytes);
}

// --- Reading ---

struct Page {
    bool delta = false;
    size_t count = 0;
    const uint8_t* offsets = nullptr;
    size_t offsets_size = 0;
    size_t codes_start = 0;
    size_t codes_size = 0;
    DeltaHeader header;  // of the offsets, if delta and not of 0 bytes
};

// The header of a page that must hold `count` values: all that can be known before memory is taken for
// its offsets.
inline Outcome parse_page(const uint8_t* data, size_t size, uint64_t count, Page& page) noexcept {
    Outcome found;
    const auto fault = [&](Status status, int64_t value, uint64_t limit) {
        found.status = status;
        found.size = value;
        found.limit = static_cast<int64_t>(limit);
        return found;
    };
    if (size < kPageHeader) return fault(Status::page_too_short, static_cast<int64_t>(size), kPageHeader);
    if (data[0] > kDeltaOffsets) return fault(Status::page_bad_encoding, data[0], 0);
    const int32_t declared = static_cast<int32_t>(load_le<uint32_t>(data + 1));
    const int32_t offsets_size = static_cast<int32_t>(load_le<uint32_t>(data + 5));
    if (declared < 0 || static_cast<uint64_t>(declared) != count) {
        return fault(Status::page_bad_count, declared, count);
    }
    if (offsets_size < 0 || static_cast<size_t>(offsets_size) > size - kPageHeader) {
        return fault(Status::page_bad_offsets_size, offsets_size, size - kPageHeader);
    }
    page.delta = data[0] == kDeltaOffsets;
    page.count = static_cast<size_t>(declared);
    page.offsets = data + kPageHeader;
    page.offsets_size = static_cast<size_t>(offsets_size);
    page.codes_start = kPageHeader + page.offsets_size;
    page.codes_size = size - page.codes_start;
    if (!page.delta) {
        if (page.offsets_size != 4 * uint64_t{page.count}) {
            return fault(Status::page_plain_size, offsets_size, 4 * uint64_t{page.count});
        }
        return found;
    }
    // No values need no offsets, not even a header that says so.
    if (page.count == 0 && page.offsets_size == 0) return found;
    found = parse_delta<int32_t>(page.offsets, page.offsets_size, page.header);
    if (found.ok() && page.header.count != page.count) {
        return fault(Status::page_delta_count, static_cast<int64_t>(page.header.count), page.count);
    }
    if (!found.ok() && found.status != Status::delta_too_many) {
        found.position += static_cast<int64_t>(kPageHeader);
    }
    return found;
}

// The offsets as Arrow has them, page.count + 1 entries from 0 on, checked: none decreases, and the last is
// where the data section ends. (Bytes behind it would belong to nobody: a cut or mixed-up page.)
inline Outcome read_page_offsets(const Page& page, int32_t* offsets) noexcept {
    Outcome found;
    offsets[0] = 0;
    if (!page.delta) {
        for (size_t i = 0; i < page.count; i++) {
            // SAFETY: parse_page has seen that there are 4 bytes for each value.
            offsets[i + 1] = static_cast<int32_t>(load_le<uint32_t>(page.offsets + 4 * i));
        }
    } else if (page.offsets_size > 0) {
        found = decode_delta<int32_t>(page.offsets, page.offsets_size, page.header, offsets + 1);
        if (!found.ok()) {
            found.position += static_cast<int64_t>(kPageHeader);
            return found;
        }
        if (static_cast<size_t>(found.size) != page.offsets_size) {
            found.status = Status::page_delta_left;
            found.limit = static_cast<int64_t>(page.offsets_size);
            return found;
        }
    }
    found = check_offsets<int32_t>(offsets, page.count, page.codes_size);
    if (found.ok() && static_cast<size_t>(offsets[page.count]) != page.codes_size) {
        found.status = Status::page_codes_left;
        found.size = offsets[page.count];
        found.limit = static_cast<int64_t>(page.codes_size);
    }
    return found;
}

// Where the codes of the values at `positions` begin and end, which ascend and lie below page.count. All
// offsets are checked as read_page_offsets does, which does the work where `fast` is false or something is
// found. `scratch` has room for page.count + 1.
inline Outcome pick_page_rows(const Page& page, const int64_t* positions, size_t picked, bool fast,
                              int32_t* scratch, int32_t* starts, int32_t* ends) noexcept {
    if (fast && page.delta && page.offsets_size > 0 &&
        pick_delta(page.offsets, page.offsets_size, page.header, page.codes_size, positions, picked, starts,
                   ends)) {
        return Outcome{};
    }
    const Outcome found = read_page_offsets(page, scratch);
    for (size_t i = 0; found.ok() && i < picked; i++) {
        // SAFETY: positions lie below page.count.
        starts[i] = scratch[positions[i]];
        ends[i] = scratch[positions[i] + 1];
    }
    return found;
}

// The same behind the offsets of the pages before: out[0] is where their codes end, and all of them together,
// this page's too, are as many as an Offset holds. `scratch` has room for page.count + 1, where Offset is
// wider.
inline Outcome append_page_offsets(const Page& page, int32_t* out, int32_t*) noexcept {
    const int32_t before = out[0];
    const Outcome found = read_page_offsets(page, out);
    if (!found.ok()) return found;
    for (size_t i = 0; i <= page.count; i++) out[i] += before;
    return found;
}

inline Outcome append_page_offsets(const Page& page, int64_t* out, int32_t* scratch) noexcept {
    const Outcome found = read_page_offsets(page, scratch);
    if (!found.ok()) return found;
    const int64_t before = out[0];
    for (size_t i = 0; i <= page.count; i++) out[i] = before + scratch[i];
    return found;
}

}  // namespace fsst
