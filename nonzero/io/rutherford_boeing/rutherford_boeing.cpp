#include "nonzero/io/rutherford_boeing/rutherford_boeing.hpp"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/io/columns.hpp"
#include "nonzero/io/matrix_market/matrix_market_header.hpp"
#include "nonzero/io/rutherford_boeing/rutherford_boeing_header.hpp"

namespace nz::rutherford_boeing {
namespace {

using matrix_market::is_blank;
using matrix_market::lower;
using matrix_market::shown;

/// Less its blanks, which Fortran does not read within a number.
std::string without_blanks(std::string_view field) {
    std::string text;
    for (const char c : field)
        if (!is_blank(c)) text += c;
    return text;
}

/// Exponent behind a number's digits: E+02, D 2, +102. Blanks do not count in front of its
/// digits; behind one of them begins another number, which the format does not know of.
std::optional<int> exponent_of(std::string_view text) {
    const auto skip_blanks = [&] {
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    };
    if (text.front() != '+' && text.front() != '-') text.remove_prefix(1);
    skip_blanks();
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    skip_blanks();
    unsigned n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, n);
    if (status != std::errc() || stop != end || n > 99999) return std::nullopt;
    return is_negative ? -int(n) : int(n);
}

/// The number in a field, as C writes it: exponents have an e in front, a point that is not written
/// is where the format has it, and a number without exponent is scaled.
std::string as_c_writes(std::string_view field, const format_field& f) {
    if (field.empty()) return "0";  // as the standard has it
    if (field.front() == '+') field.remove_prefix(1);
    const std::size_t digit = field.find_first_of("0123456789");
    if (digit == std::string_view::npos) return std::string(field);
    const std::size_t mark = field.find_first_of("eEdDqQ+-", digit);
    const std::string mantissa = without_blanks(field.substr(0, mark));
    const bool has_exponent = mark != std::string_view::npos;
    const auto written = has_exponent ? exponent_of(field.substr(mark)) : 0;
    if (!written) return std::string(field);
    const int behind_point = mantissa.find('.') == std::string::npos ? f.decimals : 0;
    return fmt::format("{}e{}", mantissa, *written - behind_point - (has_exponent ? 0 : f.scale));
}

/// Numbers in the fields of a format.
class field_reader {
  public:
    /// Of `count` numbers. All must live.
    field_reader(line_reader& lines, const field_format& format, std::int64_t count,
                 const read_options& options)
        : lines_(lines), format_(format), left_(count), options_(options) {}

    std::int64_t whole(std::int64_t least, std::int64_t most, std::string_view what) {
        const std::string word = without_blanks(next(what).text);
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
        const auto [word, field] = next("value");
        const std::string text = as_c_writes(word, field);
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
    struct found {
        std::string_view text;
        const format_field& field;
    };

    found next(std::string_view what) {
        if (at_ == format_.fields.size()) at_ = format_.again;
        const format_field& f = format_.fields[at_];
        if (f.lines > 0) begin_line(f.lines, what);
        ++at_, --left_;
        if (!words_.empty()) return {words_[word_++], f};
        if (f.from >= lines_.line().size())
            lines_.fail(
                fmt::format("no {} in columns {} to {}", what, f.from + 1, f.from + f.width),
                "a number");
        std::string_view text = lines_.line().substr(f.from, f.width);
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
        return {text, f};
    }

    void begin_line(std::size_t lines, std::string_view what) {
        for (; lines > 0; --lines) {
            lines_.next(fmt::format("more numbers, each a {}", what));
            report();
        }
        // Where there are as many words as fields, blanks divide them: SciPy's hb_write announces
        // fields of 25 characters and writes numbers of 24. Fields that touch are fewer words.
        // A format that skips columns tells where its fields are.
        const auto& fields = format_.fields;
        const std::size_t most = at_ + std::size_t(std::min(left_, std::int64_t(1) << 30));
        std::size_t end = at_ + 1;
        while (end < std::min(most, fields.size()) && fields[end].lines == 0) ++end;
        words_ = matrix_market::split(lines_.line());
        word_ = 0;
        bool fit = words_.size() == end - at_;
        for (std::size_t k = 0, column = 0; fit && k < words_.size(); ++k) {
            const format_field& f = fields[at_ + k];
            fit = f.from == column && words_[k].size() <= f.width;
            column += f.width;
        }
        if (!fit) words_.clear();
    }

    void report() {
        constexpr std::int64_t lines_between = 4096;
        if (!options_.progress || ++reported_ % lines_between != 0) return;
        options_.progress(lines_.fraction());
    }

    line_reader& lines_;
    const field_format& format_;
    std::int64_t left_;
    const read_options& options_;
    std::size_t at_ = 0, word_ = 0;
    std::vector<std::string_view> words_;  ///< of the line; empty where columns divide its fields
    std::int64_t reported_ = 0;
};

/// Where each column ends, checked.
host_vector<offset> read_pointers(line_reader& lines, const header& h, const read_options& o) {
    field_reader fields(lines, h.pointers, h.cols + 1, o);
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
    field_reader fields(lines, h.values, h.entries * (h.field == field::complex ? 2 : 1), o);
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
    field_reader fields(lines, h.indices, h.entries, options);
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
