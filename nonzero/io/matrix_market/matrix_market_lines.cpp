#include "nonzero/io/matrix_market/matrix_market_lines.hpp"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/mirror.hpp"

namespace nz::matrix_market {
namespace {

/// The least bytes an entry's line takes, its newline included.
std::int64_t least_line_bytes(const header& h) {
    const int words = (h.dense ? 0 : 2) + (h.field == field::pattern   ? 0
                                           : h.field == field::complex ? 2
                                                                       : 1);
    return 2 * words;
}

/// Parses the words of one line, which ends in a newline. No bounds are checked: a newline stops
/// every loop.
template <class V>
class line_parser {
  public:
    line_parser(const char* at, const char* end) : at_(at), end_(end) {}

    [[nodiscard]] const char* at() const { return at_; }
    void skip_blanks() {
        while (is_blank(*at_)) ++at_;
    }
    void skip_word() {
        while (!at_end_of_word()) ++at_;
    }
    /// Behind blanks.
    bool at_end_of_line() {
        skip_blanks();
        return *at_ == '\n';
    }

    /// A number from 1 to `size`, less 1.
    bool read_index(std::uint64_t size, index& to) {
        skip_blanks();
        const char* const begin = at_;
        const std::uint64_t v = read_digits();
        to = index(v - 1);
        if (at_ - begin > 18) return read_long_index(begin, size, to);
        return at_ != begin && v - 1 < size && at_end_of_word();
    }

    bool read_real(real<V>& to) {
        skip_blanks();
        if (*at_ == '+' && at_[1] != '-') ++at_;
        const char* const begin = at_;
        const auto [end, status] = fast_float::from_chars(at_, end_, to);
        if (status != std::errc()) return false;
        at_ = end;
        if (lower(*at_) == 'd') return read_fortran_real(begin, to);
        // A number too large for the type comes back as infinity.
        return (!std::isinf(to) || lower(begin[*begin == '-']) == 'i') && at_end_of_word();
    }

    bool read_integer(real<V>& to) {
        skip_blanks();
        const char* const word = at_;
        const bool negative = *at_ == '-';
        at_ += *at_ == '-' || *at_ == '+';
        const char* const begin = at_;
        const std::uint64_t v = read_digits();
        if (at_ == begin) return false;
        if (at_ - begin > 18) {  // beyond 64 bits: rounded
            const char* const end = std::exchange(at_, word);
            return read_real(to) && at_ == end;
        }
        to = real<V>(negative ? -std::int64_t(v) : std::int64_t(v));
        return at_end_of_word();
    }

    template <field F>
    bool read_value(V& to) {
        real<V> re(1);
        if constexpr (F == field::real) {
            if (!read_real(re)) return false;
        }
        if constexpr (F == field::integer) {
            if (!read_integer(re)) return false;
        }
        to = V(re);
        if constexpr (F == field::complex && is_complex<V>) {
            real<V> im;
            if (!read_real(re) || !read_real(im)) return false;
            to = V(re, im);
        }
        return true;
    }

  private:
    /// The same of more than 18 digits from `begin` on, which must be leading zeros.
    bool read_long_index(const char* begin, std::uint64_t size, index& to) {
        while (*begin == '0') ++begin;
        if (at_ - begin > 18) return false;
        at_ = begin;
        const std::uint64_t v = read_digits();
        to = index(v - 1);
        return v - 1 < size && at_end_of_word();
    }

    /// A number from `begin` on with Fortran's exponent, whose letter is at(): 1.0D+02 is 1.0E+02.
    bool read_fortran_real(const char* begin, real<V>& to) {
        std::string word(begin, at_);
        word += 'e';
        skip_word();
        word.append(begin + word.size(), at_);
        const char* const end = word.data() + word.size();
        const auto [stop, status] = fast_float::from_chars(word.data(), end, to);
        return status == std::errc() && stop == end && !std::isinf(to);
    }

    /// All digits there are; beyond 18 the number wraps around.
    std::uint64_t read_digits() {
        const char* const begin = at_;
        std::uint64_t v = read_short_digits();
        if (at_ - begin == 8)
            for (unsigned d = digit(*at_); d <= 9; d = digit(*++at_)) v = v * 10 + d;
        return v;
    }

    /// Up to eight digits at once, without a branch on their number, which would be mispredicted
    /// where indices come in random order. Needs text_padding.
    std::uint64_t read_short_digits() {
        if constexpr (std::endian::native != std::endian::little) {
            std::uint64_t v = 0;
            for (const char* const most = at_ + 8; at_ < most && digit(*at_) <= 9; ++at_)
                v = v * 10 + digit(*at_);
            return v;
        }
        std::uint64_t t;
        std::memcpy(&t, at_, 8);
        t ^= 0x3030303030303030;  // digits become 0 to 9, and nothing else does
        const std::uint64_t others = (t | (t + 0x7676767676767676)) & 0x8080808080808080;
        const int n = std::countr_zero(others) / 8;  // 8 where there are none
        at_ += n;
        if (n == 0) return 0;
        t <<= 64 - 8 * n;  // zeros in front; the first digit is the lowest byte
        t = t * 10 + (t >> 8);
        constexpr std::uint64_t pair = 0x000000FF000000FF;
        return ((t & pair) * 0x000F424000000064 + ((t >> 16) & pair) * 0x0000271000000001) >> 32;
    }

    [[nodiscard]] bool at_end_of_word() const { return is_blank(*at_) || *at_ == '\n'; }

    const char* at_;
    const char* end_;
};

/// Calls entry(parser) on every line that is neither blank nor a comment, until it returns false:
/// the start of that line, or null.
template <class V, class Entry>
const char* for_each_line(std::span<const char> text, Entry entry) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        line_parser<V> line(at, end);
        if (!line.at_end_of_line()) {
            if (*line.at() == '%') {
                at = static_cast<const char*>(
                         std::memchr(line.at(), '\n', std::size_t(end - line.at()))) +
                     1;
                continue;
            }
            if (!entry(line)) return at;
        }
        at = line.at() + 1;
    }
    return nullptr;
}

template <field F, class V>
void parse_coordinates(const header& h, std::span<const char> text, parsed<V>& to) {
    const bool mirror = h.symmetry != symmetry::general;
    const std::size_t most =
        (text.size() / std::size_t(least_line_bytes(h)) + 1) * (mirror ? 2 : 1);
    const bool ones = F == field::pattern && h.symmetry != symmetry::skew_symmetric;
    if (to.row.size() < most) to.row.resize(most), to.col.resize(most);
    if (!ones && to.val.size() < most) to.val.resize(most);
    index* const row = to.row.data();
    index* const col = to.col.data();
    V* const val = to.val.data();
    const auto rows = std::uint64_t(h.rows), cols = std::uint64_t(h.cols);
    std::size_t n = 0;
    std::int64_t entries = 0;
    to.fault_at = for_each_line<V>(text, [&](line_parser<V>& line) {
        V v;
        if (!line.read_index(rows, row[n]) || !line.read_index(cols, col[n]) ||
            !line.template read_value<F>(v) || !line.at_end_of_line())
            return false;
        if (!ones) val[n] = v;
        ++n, ++entries;
        if (mirror && row[n - 1] != col[n - 1]) {
            row[n] = col[n - 1], col[n] = row[n - 1];
            if (!ones) val[n] = mirrored(h.symmetry, v);
            ++n;
        }
        return true;
    });
    to.size = n, to.entries = entries;
}

template <field F, class V>
void parse_array(const header& h, std::span<const char> text, parsed<V>& to) {
    const std::size_t most = text.size() / std::size_t(least_line_bytes(h)) + 1;
    if (to.val.size() < most) to.val.resize(most);
    std::size_t n = 0;
    to.fault_at = for_each_line<V>(text, [&](line_parser<V>& line) {
        if (!line.template read_value<F>(to.val[n]) || !line.at_end_of_line()) return false;
        ++n;
        return true;
    });
    to.size = n, to.entries = std::int64_t(n);
}

}  // namespace

template <class V>
void parse_lines(const header& h, std::span<const char> text, parsed<V>& to) {
    const auto parse = [&]<field F>() {
        h.dense ? parse_array<F>(h, text, to) : parse_coordinates<F>(h, text, to);
    };
    switch (h.field) {
        case field::real:
            return parse.template operator()<field::real>();
        case field::integer:
            return parse.template operator()<field::integer>();
        case field::pattern:
            return parse.template operator()<field::pattern>();
        case field::complex:
            return parse.template operator()<field::complex>();
    }
}

template <class V>
std::string diagnose(const header& h, std::string_view line) {
    const auto words = split(line);
    const std::size_t indices = h.dense ? 0 : 2;
    const std::size_t values = h.field == field::pattern ? 0 : h.field == field::complex ? 2 : 1;
    const std::string expected = std::string(h.dense ? "" : "row column") +
                                 (h.dense || values == 0 ? "" : " ") +
                                 (values == 0   ? ""
                                  : values == 1 ? "value"
                                                : "real-part imaginary-part");
    for (std::size_t k = 0; k < std::min(words.size(), indices + values); ++k) {
        const std::string word = std::string(words[k]) + std::string(1 + text_padding, '\n');
        line_parser<V> p(word.data(), word.data() + word.size());
        if (k < indices) {
            const std::int64_t size = k == 0 ? h.rows : h.cols;
            index unused;
            if (p.read_index(std::uint64_t(size), unused) && p.at_end_of_line()) continue;
            const bool digits = std::all_of(words[k].begin() + (words[k][0] == '-'), words[k].end(),
                                            [](char c) { return digit(c) <= 9; });
            return fmt::format("{} {} {}, expected 1 to {}", k == 0 ? "row" : "column",
                               shown(words[k]), digits ? "is outside the matrix" : "is no number",
                               size);
        }
        real<V> value(0);  // what is no number leaves it as it is
        if (h.field == field::integer) {
            if (p.read_integer(value) && p.at_end_of_line()) continue;
            return fmt::format("value {} is no integer, expected one", shown(words[k]));
        }
        if (p.read_real(value) && p.at_end_of_line()) continue;
        if (std::isinf(value) && digit(words[k].back()) <= 9)
            return fmt::format("value {} is too large for {}, expected at most {:.3g}",
                               shown(words[k]), value_name<real<V>>(),
                               std::numeric_limits<real<V>>::max());
        return fmt::format("value {} is no number, expected one", shown(words[k]));
    }
    if (words.size() < indices + values)
        return fmt::format("{} of {} words, expected {}", words.size(), indices + values, expected);
    return fmt::format("{} behind the entry, expected {}", shown(words[indices + values]),
                       expected);
}

const char* entry_start(std::span<const char> text, std::int64_t entries) {
    const char* at = text.data();
    for_each_line<double>(text, [&](line_parser<double>& line) {
        at = line.at();
        while (!line.at_end_of_line()) line.skip_word();
        return entries-- > 0;
    });
    return at;
}

#define NZ_INSTANTIATE(V)                                                        \
    template void parse_lines(const header&, std::span<const char>, parsed<V>&); \
    template std::string diagnose<V>(const header&, std::string_view);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matrix_market
