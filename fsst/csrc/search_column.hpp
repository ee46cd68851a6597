// Searches of one column over several threads, each of which writes whole bytes of the result.
#pragma once

#include "affix.hpp"
#include "lengths.hpp"
#include "like.hpp"
#include "needle.hpp"
#include "parallel.hpp"
#include "search.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace fsst {

// The same table for text whose capital ASCII letters are small: what ignores case searches with it.
inline DecodeTable folded(const DecodeTable& table) noexcept {
    DecodeTable to = table;
    for (uint64_t& symbol : to.symbol) {
        uint64_t small = 0;
        for (int i = 0; i < 8; i++) {
            const uint64_t byte = symbol >> (8 * i) & 0xFF;
            small |= (byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte) << (8 * i);
        }
        symbol = small;
    }
    return to;
}

inline void fold(std::string& text) {
    for (char& byte : text) {
        if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
    }
}

// Runs work(rows of the part, first row) for parts that begin at multiples of 64 rows. False if interrupted.
template <class Offset, class Work>
bool for_parts(const Rows<Offset>& rows, size_t threads, Interrupt& interrupt, const Work& work) {
    if (threads <= 1 && rows.total() <= kMaxPartBytes) {
        work(rows, 0);
        return true;
    }
    std::vector<size_t> starts = split_rows(rows, threads);
    for (size_t part = 1; part + 1 < starts.size(); part++) starts[part] = starts[part] / 64 * 64;
    const size_t parts = starts.size() - 1;
    for (size_t first = 0; first < parts; first += threads) {
        if (first > 0 && interrupt.ask()) return false;
        run_together(std::min(threads, parts - first), interrupt,
                     [&](size_t i) { work(part_of(rows, starts, first + i), starts[first + i]); });
    }
    return true;
}

// A bit for each row that contains the needle, which is not empty. `bits` is zero before.
template <class Offset>
bool search_column(const DecodeTable& table, const Rows<Offset>& rows, std::string needle_text,
                   bool ignore_case, uint8_t* bits, Isa isa, size_t threads, Interrupt& interrupt) {
    if (ignore_case) fold(needle_text);
    const std::unique_ptr<DecodeTable> small(ignore_case ? new DecodeTable(folded(table)) : nullptr);
    const DecodeTable& used = small ? *small : table;
    Needle needle(used, reinterpret_cast<const uint8_t*>(needle_text.data()), needle_text.size(), isa);
    if (needle.size > needle.core) needle.make_fallback();
    const bool done = for_parts(rows, threads, interrupt, [&](const Rows<Offset>& part, size_t first) {
        match_rows(needle, part, bits + first / 8, isa, interrupt);
    });
    return done && !interrupt.stopped();
}

// How often rows whose bit is set contain the needle, or where first; others get `otherwise`.
template <class Offset, class Length>
bool locate_column(const DecodeTable& table, const Rows<Offset>& rows, std::string needle_text,
                   bool ignore_case, bool count, const uint8_t* bits, Length* results, Isa isa,
                   size_t threads, Interrupt& interrupt) {
    if (ignore_case) fold(needle_text);
    const std::unique_ptr<DecodeTable> small(ignore_case ? new DecodeTable(folded(table)) : nullptr);
    const DecodeTable& used = small ? *small : table;
    Needle needle(used, reinterpret_cast<const uint8_t*>(needle_text.data()), needle_text.size(), isa);
    needle.make_fallback();
    const Length otherwise = static_cast<Length>(count ? 0 : -1);
    const bool done = for_parts(rows, threads, interrupt, [&](const Rows<Offset>& part, size_t first) {
        for (size_t row = 0; row < part.count; row++) {
            const bool in = (bits[(first + row) / 8] >> row % 8 & 1) != 0;
            Length result = otherwise;
            if (in) {
                const Occurrences seen =
                    walk_text(needle, part.data + part.start(row), part.size(row), !count, interrupt);
                result = static_cast<Length>(count ? seen.count : seen.first);
            }
            results[first + row] = result;
        }
    });
    return done && !interrupt.stopped();
}

// A bit for each row that is equal to, begins with or ends in the constant.
template <class Offset>
bool compare_column(const DecodeTable& table, const Rows<Offset>& rows, std::string text, Affix affix,
                    bool ignore_case, uint8_t* bits, Isa isa, size_t threads, Interrupt& interrupt) {
    if (ignore_case) fold(text);
    const std::unique_ptr<DecodeTable> small(ignore_case ? new DecodeTable(folded(table)) : nullptr);
    const DecodeTable& used = small ? *small : table;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    const auto compare = [&](auto which) {
        constexpr Affix kAffix = decltype(which)::value;
        if (text.empty()) {
            return for_parts(rows, threads, interrupt, [&](const Rows<Offset>& part, size_t first) {
                affix_detail::compare_with_nothing<kAffix>(used, part, bits + first / 8);
            });
        }
        Constant constant(used, bytes, text.size());
        return with_comparison<kAffix, Offset>(constant, isa, [&](const auto& compare_part) {
            return for_parts(rows, threads, interrupt, [&](const Rows<Offset>& part, size_t first) {
                compare_part(part, bits + first / 8);
            });
        });
    };
    if (affix == Affix::prefix) return compare(std::integral_constant<Affix, Affix::prefix>{});
    if (affix == Affix::suffix) return compare(std::integral_constant<Affix, Affix::suffix>{});
    return compare(std::integral_constant<Affix, Affix::whole>{});
}

}  // namespace fsst
