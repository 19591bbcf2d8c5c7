#include "nonzero/io/rutherford_boeing.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "nonzero/io/columns.hpp"
#include "nonzero/io/matrix_market/matrix_market_header.hpp"
#include "nonzero/io/rutherford_boeing_header.hpp"

namespace nz::rutherford_boeing {
namespace {

using matrix_market::is_blank;
using matrix_market::lower;
using matrix_market::shown;

/// Numbers in fields of one width, so many a line.
class field_reader {
  public:
    field_reader(line_reader& lines, field_format format, const read_options& options)
        : lines_(lines), format_(format), options_(options) {}

    std::int64_t whole(std::int64_t least, std::int64_t most, std::string_view what) {
        const std::string_view word = next(what);
        std::int64_t n = 0;
        const std::size_t sign = word.starts_with('+') ? 1 : 0;
        const char* const end = word.data() + word.size();
        const auto [stop, status] = std::from_chars(word.data() + sign, end, n);
        if (status != std::errc() || stop != end || n < least || n > most)
            lines_.fail(fmt::format("{} {}", what, shown(word)),
                        fmt::format("{} to {}", least, most));
        return n;
    }

    template <class R>
    R real_number() {
        const std::string_view word = next("value");
        const std::string text = as_c_writes(word);
        R v(0);
        const char* const end = text.data() + text.size();
        const auto [stop, status] = fast_float::from_chars(text.data(), end, v);
        const bool named = lower(text[std::size_t(text[0] == '-')]) == 'i';
        if (status != std::errc() || stop != end || (std::isinf(v) && !named))
            lines_.fail(fmt::format("value {}", shown(word)),
                        fmt::format("a number that {} holds", value_name<R>()));
        return v;
    }

  private:
    /// The field, which is not blank.
    std::string_view next(std::string_view what) {
        if (at_ == 0) {
            lines_.next(fmt::format("more numbers, each a {}", what));
            report();
        }
        const std::size_t from = at_ * format_.width;
        at_ = (at_ + 1) % format_.per_line;
        std::string_view word =
            lines_.line().substr(std::min(from, lines_.line().size()), format_.width);
        while (!word.empty() && is_blank(word.front())) word.remove_prefix(1);
        while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
        if (word.empty())
            lines_.fail(fmt::format("no {} in field {} of {} characters", what,
                                    from / format_.width + 1, format_.width),
                        "a number");
        return word;
    }

    /// Fortran's 1.0D+02 and 1.0+102 as C's 1.0e+02 and 1.0e+102; without a + in front.
    static std::string as_c_writes(std::string_view word) {
        std::string text;
        for (std::size_t k = word.size() > 1 && word[0] == '+' ? 1 : 0; k < word.size(); ++k) {
            const char c = word[k];
            const bool sign = (c == '+' || c == '-') && !text.empty() && text.back() != 'e';
            if (sign) text += 'e';
            text += lower(c) == 'd' || lower(c) == 'e' ? 'e' : c;
        }
        return text;
    }

    void report() {
        constexpr std::int64_t lines_between = 4096;
        if (!options_.progress || ++reported_ % lines_between != 0) return;
        options_.progress(lines_.fraction());
    }

    line_reader& lines_;
    field_format format_;
    const read_options& options_;
    std::size_t at_ = 0;
    std::int64_t reported_ = 0;
};

/// Where each column ends, checked.
host_vector<offset> read_pointers(line_reader& lines, const header& h, const read_options& o) {
    field_reader fields(lines, h.pointers, o);
    host_vector<offset> ends;
    std::int64_t before = 1;
    fields.whole(1, 1, "first column pointer");
    for (std::int64_t j = 0; j < h.cols; ++j) {
        before = fields.whole(before, h.entries + 1, "column pointer");
        ends.push_back(before - 1);
    }
    if (before != h.entries + 1)
        lines.fail(fmt::format("the last column pointer is {}", before),
                   fmt::format("{}, as there are {} entries", h.entries + 1, h.entries));
    return ends;
}

template <class V>
V read_value(field_reader& fields) {
    const auto re = fields.real_number<real<V>>();
    if constexpr (is_complex<V>) return {re, 0};
    return V(re);
}

/// Empty for a pattern.
template <class V>
host_vector<V> read_values(line_reader& lines, const header& h, const read_options& o) {
    host_vector<V> values;
    if (!h.has_values) return values;
    field_reader fields(lines, h.values, o);
    for (std::int64_t k = 0; k < h.entries; ++k) {
        V v = read_value<V>(fields);
        if constexpr (is_complex<V>) {
            if (h.field == field::complex) v.imag(fields.real_number<real<V>>());
        }
        values.push_back(v);
    }
    return values;
}

}  // namespace

template <class V>
csr<V, host> read(const std::string& path, const read_options& options) {
    line_reader lines(path);
    const header h = read_header(lines);
    if (h.field == field::complex && !is_complex<V>)
        throw parse_error(
            path, 3,
            fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
    const host_vector<offset> ends = read_pointers(lines, h, options);
    host_vector<index> rows;
    field_reader fields(lines, h.indices, options);
    for (std::int64_t k = 0; k < h.entries; ++k)
        rows.push_back(index(fields.whole(1, h.rows, "row index") - 1));
    const host_vector<V> values = read_values<V>(lines, h, options);
    if (options.progress) options.progress(1.0);
    return from_columns<V>({index(h.rows), index(h.cols)}, h.symmetry, ends, rows, values,
                           options.threads);
}

file_info inspect(const std::string& path) {
    line_reader lines(path);
    const header h = read_header(lines);
    return {
        "Rutherford-Boeing", {index(h.rows), index(h.cols)}, h.entries, h.field, h.symmetry, false};
}

#define NZ_INSTANTIATE(V) template csr<V, host> read(const std::string&, const read_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::rutherford_boeing
