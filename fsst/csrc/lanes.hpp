// The lane kernel: seven independent positions advance in one loop, without a branch on hit or miss.
//
// One step of greedy matching is a chain of 19 cycles (load, multiply, load, compare, select, add); seven
// chains side by side fill the machine instead. Texts are staged in the scratch with the byte row_end behind
// every row, so no step asks for a row's end, and `codes_before` notes for every position that a lane
// stands on how many bytes of codes precede it, so row ends are read off afterwards.
//
// A lane is one 64-bit word, advanced by adding the chosen entry of the LaneTable:
//
//   bits  0..31  8 * position in the staged text
//   bits 32..47  bytes of codes so far
//   bits 48..63  sums of codes and literals: garbage that runs off the top
//
// How to see that the loop is as meant: docs/internals.md (18 instructions a step with one layer, 7 more for
// each further one; two jumps, both for the loop).
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "lane_table.hpp"

namespace fsst {

constexpr size_t kLanes = 7;
// Text of a lane, row ends included. 1 KB measured 2 % slower, 4 KB 5 %; short of 16 KB the words above hold.
constexpr size_t kStaged = 2048;
// Places in a lane where the data held one of the two bytes that were set aside.
constexpr size_t kMaxCuts = kStaged / 8;

struct Lane {
    // Slack: lane_end, the 8-byte load on it, and copies that are rounded up to 32 bytes.
    uint8_t text[kStaged + 64];
    uint16_t codes_before[kStaged + 64];
    // An escape and a literal for every byte; a step stores two bytes.
    uint8_t codes[2 * kStaged + 64];
    uint16_t cut[kMaxCuts];
};

// Where a thread works: about 75 KB, no need to clear it.
struct LaneScratch {
    Lane lane[kLanes];
    // Set for each run: what the lanes hold, row ends included; then what they came to.
    size_t text_size[kLanes];
    size_t code_size[kLanes];
};
static_assert(2 * kStaged + 64 < 65536, "16 bits of a lane's word count codes");

// The instructions that compilers do not find by themselves, and their plain twins.
#if FSST_X86
FSST_ALWAYS_INLINE void lane_select(uint64_t& best, uint64_t entry, uint64_t head,
                                    const uint64_t& text) noexcept {
    // As `if (head == text) best = entry` gcc and clang made this a branch.
    asm("cmpq %[text], %[head]\n\tcmoveq %[entry], %[best]"
        : [best] "+r"(best)
        : [head] "r"(head), [text] "m"(text), [entry] "r"(entry)
        : "cc");
}
#else
FSST_ALWAYS_INLINE void lane_select(uint64_t& best, uint64_t entry, uint64_t head,
                                    const uint64_t& text) noexcept {
    best = head == text ? entry : best;
}
#endif

struct PlainOps {
    static FSST_ALWAYS_INLINE uint64_t position(uint64_t lane) noexcept {
        return static_cast<uint32_t>(lane) >> 3;
    }
    static FSST_ALWAYS_INLINE uint64_t upper(uint64_t lane) noexcept { return lane >> 32; }
    // The word's low bits, as many as the entry's low byte says (0, 8 .. 64).
    static FSST_ALWAYS_INLINE uint64_t head(uint64_t word, uint64_t entry) noexcept {
        static constexpr uint64_t kMasks[9] = {0,
                                               0xFF,
                                               0xFFFF,
                                               0xFFFFFF,
                                               0xFFFFFFFF,
                                               0xFFFFFFFFFF,
                                               0xFFFFFFFFFFFF,
                                               0xFFFFFFFFFFFFFF,
                                               0xFFFFFFFFFFFFFFFF};
        // SAFETY: LaneTableBuilder writes no other low byte than 8 times 0..8.
        uint64_t mask;
        std::memcpy(&mask, reinterpret_cast<const uint8_t*>(kMasks) + (entry & 0xFF), sizeof(mask));
        return word & mask;
    }
};

#if FSST_X86
// BMI2 in inline assembly: it needs no compiler flag and no target attribute (which would not reach
// into templates and lambdas). It saves two moves and a load a step, 10 % in all.
struct Bmi2Ops {
    static FSST_ALWAYS_INLINE uint64_t position(uint64_t lane) noexcept {
        uint64_t position;
        asm("rorxl $3, %k1, %k0" : "=r"(position) : "r"(lane));
        return position;
    }
    static FSST_ALWAYS_INLINE uint64_t upper(uint64_t lane) noexcept {
        uint64_t upper;
        asm("rorxq $32, %1, %0" : "=r"(upper) : "r"(lane));
        return upper;
    }
    static FSST_ALWAYS_INLINE uint64_t head(uint64_t word, uint64_t entry) noexcept {
        uint64_t head;
        asm("bzhiq %2, %1, %0" : "=r"(head) : "r"(word), "r"(entry) : "cc");
        return head;
    }
};
#endif

// Keeps the compiler from computing addresses ahead of the loop: with them in registers or on the stack
// instead of two base registers and constant displacements, gcc spilled, 22 instructions a step for 17.
template <class Pointer>
FSST_ALWAYS_INLINE void forget(Pointer& pointer) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    asm("" : "+r"(pointer));
#else
    (void)pointer;
#endif
}

template <class Ops, int kLayers, int kSlotBits>
FSST_ALWAYS_INLINE void lane_step(const LaneTable*& table, LaneScratch*& scratch, size_t i,
                                  uint64_t& lane) noexcept {
    forget(table);
    forget(scratch);
    // SAFETY: a lane starts at 0 and stops at its lane_end, at most at kStaged: only entries of lane_end
    // take nothing, and no other entry takes a byte beyond lane_end, since no symbol holds row_end or
    // lane_end and a row_end precedes every lane_end. So all positions and the load are inside the slack.
    const uint64_t at = Ops::position(lane);
    const uint64_t word = load_le<uint64_t>(scratch->lane[i].text + at);
    const uint64_t upper = Ops::upper(lane);
    scratch->lane[i].codes_before[at] = static_cast<uint16_t>(upper);
    uint64_t best = table->short_entry[table->pair[word & 0xFFFF]];
    for (int layer = 0; layer < kLayers; layer++) {
        // SAFETY: the shift leaves kSlotBits bits, and the table was filled for as many.
        const uint64_t slot = word * table->multiplier[layer] >> (64 - kSlotBits);
        const LaneLayer<kSlotBits>& slots = table->template layer<kSlotBits>(layer);
        const uint64_t entry = slots.entry[slot];
        lane_select(best, entry, Ops::head(word, entry), slots.text[slot]);
    }
    lane += best;
    // SAFETY: no step writes more than two bytes for one of text, so `upper` stays within 2 * kStaged.
    store_le(scratch->lane[i].codes + (upper & 0xFFFF), static_cast<uint16_t>(best >> 48));
}

// Runs all lanes to their ends. Every lane of the scratch holds text_size[i] <= kStaged bytes, each row
// followed by row_end, and then lane_end.
template <class Ops, int kLayers, int kSlotBits>
FSST_NO_INLINE void run_lanes_of(const LaneTable* table, LaneScratch* scratch) noexcept {
    uint64_t target = 0;
    for (size_t i = 0; i < kLanes; i++) target += 8 * scratch->text_size[i];
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0;
    static_assert(kLanes == 7, "one variable each");
    do {
        for (int round = 0; round < 8; round++) {
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 0, a);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 1, b);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 2, c);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 3, d);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 4, e);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 5, f);
            lane_step<Ops, kLayers, kSlotBits>(table, scratch, 6, g);
        }
        // A lane never passes its end, so the sum is reached only when all have reached theirs. 8 * kLanes *
        // kStaged fits 32 bits, which drops what the words hold above their positions.
    } while (static_cast<uint32_t>(a + b + c + d + e + f + g) != static_cast<uint32_t>(target));
    const uint64_t lane[kLanes] = {a, b, c, d, e, f, g};
    for (size_t i = 0; i < kLanes; i++) {
        scratch->code_size[i] = lane[i] >> 32 & 0xFFFF;
        // The last step may have ended on lane_end without noting it.
        scratch->lane[i].codes_before[scratch->text_size[i]] = static_cast<uint16_t>(scratch->code_size[i]);
    }
}
static_assert(8 * kLanes * kStaged < uint64_t{1} << 32, "the sum of positions is compared in 32 bits");

template <class Ops, int kSlotBits>
void run_lanes_with(const LaneTable* table, LaneScratch* scratch) noexcept {
    switch (table->layers) {
        case 0:
            return run_lanes_of<Ops, 0, kSlotBits>(table, scratch);
        case 1:
            return run_lanes_of<Ops, 1, kSlotBits>(table, scratch);
        case 2:
            return run_lanes_of<Ops, 2, kSlotBits>(table, scratch);
        case 3:
            return run_lanes_of<Ops, 3, kSlotBits>(table, scratch);
        case 4:
            return run_lanes_of<Ops, 4, kSlotBits>(table, scratch);
        case 5:
            return run_lanes_of<Ops, 5, kSlotBits>(table, scratch);
        default:
            return run_lanes_of<Ops, 6, kSlotBits>(table, scratch);
    }
}

template <class Ops>
void run_lanes_with(const LaneTable* table, LaneScratch* scratch) noexcept {
    switch (table->slot_bits) {
        case 10:
            return run_lanes_with<Ops, 10>(table, scratch);
        case 11:
            return run_lanes_with<Ops, 11>(table, scratch);
        default:
            return run_lanes_with<Ops, 12>(table, scratch);
    }
}
static_assert(kMinSlotBits == 10 && kMaxSlotBits == 12, "the switch above names them all");

inline void run_lanes(const LaneTable* table, LaneScratch* scratch, Isa isa) noexcept {
#if FSST_X86
    if (isa >= Isa::avx2) return run_lanes_with<Bmi2Ops>(table, scratch);
#endif
    (void)isa;
    run_lanes_with<PlainOps>(table, scratch);
}

}  // namespace fsst
