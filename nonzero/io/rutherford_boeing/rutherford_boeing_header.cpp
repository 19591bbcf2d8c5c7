#include "nonzero/io/rutherford_boeing/rutherford_boeing_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "nonzero/io/matrix_market/matrix_market_header.hpp"

namespace nz::rutherford_boeing {

using matrix_market::is_blank;
using matrix_market::lower;
using matrix_market::shown;
using matrix_market::split;

line_reader::line_reader(const std::string& path) : path_(path), source_(open_text(path, 0, 0)) {}

void line_reader::next(std::string_view expected) {
    while (left_.empty()) {
        if (!fault_.empty()) throw parse_error(path_, number_ + 1, fault_);
        const auto piece = source_->next(buffer_);
        if (!piece) fail("the file ends", std::string(expected));
        left_ = {piece->text.data(), piece->text.size()};
        fault_ = piece->fault;
    }
    const std::size_t end = left_.find('\n');
    line_ = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
}

void line_reader::fail(const std::string& what, const std::string& expected) const {
    throw parse_error(path_, std::max<std::int64_t>(1, number_), what + ", expected " + expected);
}

namespace {

/// Lays out a format as the Fortran standard has it: repeat counts, groups, blanks nX, scale
/// factors kP, which stay in force, new lines /, and numbers as I, F, E, EN, ES, D and G write
/// them.
class format_parser {
  public:
    /// `text` has neither blanks nor capitals.
    explicit format_parser(std::string_view text) : text_(text) {}

    /// Nothing where it is no format of numbers, or one that is longer than files have.
    std::optional<field_format> parse() {
        if (!text_.starts_with('(') || !lay_out_from(1)) return std::nullopt;
        // More numbers than fields: the last group begins again, on a new line.
        format_.again = format_.fields.size();
        if (!lay_out_from(group_) || format_.again == format_.fields.size()) return std::nullopt;
        return std::move(format_);
    }

  private:
    static constexpr std::size_t most_fields = 4096, most_columns = 4096, most_width = 256;

    bool lay_out_from(std::size_t at) {
        at_ = at;
        begin_line();
        return list(0) && at_ == text_.size();
    }
    void begin_line() { ++lines_, column_ = 0; }

    bool take(char c) {
        const bool found = at_ < text_.size() && text_[at_] == c;
        at_ += found;
        return found;
    }
    /// The whole number here; nothing where there is none, or it is too large.
    std::optional<int> number() {
        int n = 0;
        const char* const end = text_.data() + text_.size();
        const auto [stop, status] = std::from_chars(text_.data() + at_, end, n);
        if (status != std::errc()) return std::nullopt;
        at_ = std::size_t(stop - text_.data());
        return n;
    }

    /// Up to the parenthesis that ends it.
    bool list(int depth) {
        while (at_ < text_.size()) {
            if (take(',')) continue;
            if (take(')')) return true;
            if (!item(depth)) return false;
        }
        return false;
    }
    bool item(int depth) {
        const std::size_t start = at_;
        if (take('/')) {
            begin_line();
            return true;
        }
        const auto count = number();
        if (take('p')) {
            scale_ = count.value_or(0);
            return count && std::abs(scale_) <= 99;
        }
        const int times = count.value_or(1);
        if (times < 1 || times > int(most_fields)) return false;
        if (take('x')) {
            column_ += std::size_t(times);
            return column_ <= most_columns;
        }
        if (!take('(')) return numbers(std::size_t(times));
        if (depth == 0) group_ = start;
        const std::size_t body = at_;
        for (int k = 0; k < times; ++k) {
            at_ = body;
            if (!list(depth + 1)) return false;
        }
        return true;
    }
    /// Iw, Iw.m, Fw.d, Ew.d, Ew.dEe and their like.
    bool numbers(std::size_t times) {
        const char letter = at_ < text_.size() ? text_[at_++] : ' ';
        if (std::string_view("ifedg").find(letter) == std::string_view::npos) return false;
        if (letter == 'e') (void)(take('n') || take('s'));
        const auto width = number();
        const auto behind_point = take('.') ? number() : 0;
        const auto exponent = take('e') ? number() : 1;
        if (!width || !behind_point || !exponent) return false;
        if (*width < 1 || *width > int(most_width) || *behind_point < 0) return false;
        if (format_.fields.size() + times > 2 * most_fields) return false;
        format_field f{.width = std::size_t(*width)};
        if (letter != 'i') f.decimals = *behind_point, f.scale = scale_;
        for (std::size_t k = 0; k < times; ++k) {
            f.lines = std::exchange(lines_, 0), f.from = column_;
            column_ += f.width;
            format_.fields.push_back(f);
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0, group_ = 1, lines_ = 0, column_ = 0;
    int scale_ = 0;
    field_format format_;
};

field_format parse_format(const line_reader& lines, std::string_view word) {
    std::string text;
    for (const char c : word)
        if (!is_blank(c)) text += lower(c);
    if (auto format = format_parser(text).parse()) return std::move(*format);
    lines.fail(fmt::format("format {}", shown(word)),
               "one of numbers, such as (10I8), (4D20.13) or (1P,3(2X,E24.16))");
}

std::string_view column_of(std::string_view line, std::size_t from, std::size_t length) {
    if (from >= line.size()) return {};
    line = line.substr(from, length);
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

class header_parser {
  public:
    explicit header_parser(line_reader& lines) : lines_(lines) {}

    header parse() {
        lines_.next("a title");
        lines_.next("numbers of lines");
        const auto counts = split(lines_.line());
        if (counts.size() < 3 || counts.size() > 5)
            lines_.fail(
                fmt::format("{} words", counts.size()),
                "four or five numbers of lines: in all, of pointers, of indices, of values");
        for (std::size_t k = 0; k < counts.size(); ++k)
            number(counts[k], std::numeric_limits<std::int64_t>::max(), "lines");
        const bool right_sides = counts.size() == 5 && counts[4] != "0";
        read_type_and_sizes();
        read_formats();
        if (right_sides) lines_.next("the type of the right-hand sides");
        return h_;
    }

  private:
    std::int64_t number(std::string_view word, std::int64_t most, std::string_view what) const {
        std::int64_t n = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), n);
        if (status != std::errc() || end != word.data() + word.size() || n < 0 || n > most)
            lines_.fail(fmt::format("{} {}", shown(word), what), fmt::format("0 to {}", most));
        return n;
    }

    void read_type_and_sizes() {
        lines_.next("type rows columns entries");
        const auto words = split(lines_.line());
        if (words.size() < 4 || words.size() > 5 || words[0].size() != 3)
            lines_.fail(fmt::format("{} words", words.size()),
                        "a type of three letters such as rua, rows, columns, entries");
        type_ = words[0];
        const char type[] = {lower(words[0][0]), lower(words[0][1]), lower(words[0][2])};
        h_.has_values = type[0] != 'p';
        h_.field = of_letter<field>(words[0], type[0],
                                    {{'r', field::real},
                                     {'c', field::complex},
                                     {'i', field::integer},
                                     {'p', field::pattern}});
        h_.symmetry = of_letter<symmetry>(words[0], type[1],
                                          {{'u', symmetry::general},
                                           {'r', symmetry::general},
                                           {'s', symmetry::symmetric},
                                           {'z', symmetry::skew_symmetric},
                                           {'h', symmetry::hermitian}});
        if (type[2] != 'a')
            lines_.fail(fmt::format("type {}", shown(words[0])),
                        "an assembled matrix, whose type ends in a");
        constexpr std::int64_t most = std::numeric_limits<index>::max();
        h_.rows = number(words[1], most, "rows");
        h_.cols = number(words[2], most, "columns");
        h_.entries = number(words[3], std::int64_t(1) << 61, "entries");
        if (h_.symmetry != symmetry::general && h_.rows != h_.cols)
            lines_.fail(fmt::format("{} of {} x {}", name_of(h_.symmetry), h_.rows, h_.cols),
                        "as many columns as rows");
    }

    template <class E>
    E of_letter(std::string_view type, char letter,
                std::initializer_list<std::pair<char, E>> known) const {
        std::string expected;
        for (const auto& [l, meaning] : known) {
            if (l == letter) return meaning;
            expected += (expected.empty() ? "" : ", ") + std::string(1, l);
        }
        lines_.fail(fmt::format("type {}: letter {}", shown(type), shown(std::string(1, letter))),
                    "one of " + expected);
    }

    void read_formats() {
        lines_.next("the formats of pointers, indices and values");
        h_.pointers = parse_format(lines_, column_of(lines_.line(), 0, 16));
        h_.indices = parse_format(lines_, column_of(lines_.line(), 16, 16));
        if (!h_.has_values || h_.entries == 0) return;
        const std::string_view values = column_of(lines_.line(), 32, 20);
        if (values.empty())
            lines_.fail(fmt::format("no format of values, as in a file without any (the fourth "
                                    "number of line 2, VALCRD, is then 0), but type {}",
                                    shown(type_)),
                        "values, or a type of pattern such as pua");
        h_.values = parse_format(lines_, values);
    }

    line_reader& lines_;
    std::string type_;
    header h_;
};

}  // namespace

header read_header(line_reader& lines) { return header_parser(lines).parse(); }

}  // namespace nz::rutherford_boeing
