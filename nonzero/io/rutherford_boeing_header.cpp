#include "nonzero/io/rutherford_boeing_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <regex>

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
    while (!line_.empty() && is_blank(line_.back())) line_.remove_suffix(1);
    ++number_;
}

void line_reader::fail(const std::string& what, const std::string& expected) const {
    throw parse_error(path_, std::max<std::int64_t>(1, number_), what + ", expected " + expected);
}

namespace {

/// 1 where there are no digits, -1 where there are too many.
std::int64_t number_of(const std::string& digits) {
    std::int64_t n = 1;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return status == std::errc::result_out_of_range ? -1 : n;
}

/// (26I3), (4E20.12), (1P,5D16.8), (1P5D16.8), (3(1PE26.18)): scale factors do not matter to
/// numbers with exponents.
field_format parse_format(const line_reader& lines, std::string_view word) {
    static const std::regex known(
        R"(\(([0-9]*)\(?(?:[0-9]+p,?)?([0-9]*)[iedfg]([0-9]+)(?:\.[0-9]+)?(?:e[0-9]+)?\)+)");
    std::string text;
    for (const char c : word)
        if (!is_blank(c)) text += lower(c);
    std::smatch part;
    if (std::regex_match(text, part, known)) {
        const std::int64_t outer = number_of(part[1]), inner = number_of(part[2]);
        const std::int64_t width = number_of(part[3]);
        const bool fits = std::max(outer, inner) <= 4096 && width >= 1 && width <= 256;
        if (fits && outer >= 1 && inner >= 1)
            return {std::size_t(outer * inner), std::size_t(width)};
    }
    lines.fail(fmt::format("format {}", shown(word)),
               "one of equal fields, such as (10I8) or (4D20.13)");
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
            lines_.fail(fmt::format("{} of {} x {}", name(h_.symmetry), h_.rows, h_.cols),
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
        if (h_.has_values) h_.values = parse_format(lines_, column_of(lines_.line(), 32, 20));
    }

    line_reader& lines_;
    header h_;
};

}  // namespace

header read_header(line_reader& lines) { return header_parser(lines).parse(); }

}  // namespace nz::rutherford_boeing
