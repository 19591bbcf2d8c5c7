#include "nonzero/io/matrix_market/matrix_market_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "nonzero/io/text.hpp"

namespace nz {

std::string_view name_of(field f) {
    switch (f) {
        case field::real:
            return "real";
        case field::integer:
            return "integer";
        case field::pattern:
            return "pattern";
        case field::complex:
            return "complex";
    }
    return "";
}

std::string_view name_of(symmetry s) {
    switch (s) {
        case symmetry::general:
            return "general";
        case symmetry::symmetric:
            return "symmetric";
        case symmetry::skew_symmetric:
            return "skew-symmetric";
        case symmetry::hermitian:
            return "hermitian";
    }
    return "";
}

}  // namespace nz

namespace nz::matrix_market {

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t k = 0; k < line.size();) {
        while (k < line.size() && is_blank(line[k])) ++k;
        const std::size_t begin = k;
        while (k < line.size() && !is_blank(line[k])) ++k;
        if (k > begin) words.push_back(line.substr(begin, k - begin));
    }
    return words;
}

std::string shown(std::string_view word) {
    std::string text;
    for (const char c : word.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
    return '\'' + text + (word.size() > 40 ? "...'" : "'");
}

namespace {

template <class E>
struct keyword {
    std::string_view word;
    E meaning;
};
constexpr keyword<bool> formats[] = {{"coordinate", false}, {"array", true}};
constexpr keyword<field> fields[] = {
    {"real", field::real},       {"double", field::real},     {"integer", field::integer},
    {"complex", field::complex}, {"pattern", field::pattern}, {"unsigned-integer", field::integer}};
constexpr keyword<symmetry> symmetries[] = {{"general", symmetry::general},
                                            {"symmetric", symmetry::symmetric},
                                            {"skew-symmetric", symmetry::skew_symmetric},
                                            {"hermitian", symmetry::hermitian}};

/// Mark that some editors write before a text in UTF-8.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_banner(std::string_view word) {
    constexpr std::string_view banner = "%%matrixmarket";
    return std::equal(word.begin(), word.end(), banner.begin(), banner.end(),
                      [](char a, char b) { return lower(a) == b; });
}

/// Reads the header from the start of a text.
class header_parser {
  public:
    /// `whole`: nothing follows the text. `fault`: why nothing can be read behind it, if so.
    header_parser(const std::string& path, std::string_view text, bool whole,
                  std::string_view fault)
        : path_(path), text_(text), whole_(whole), fault_(fault) {
        if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    }

    /// Nothing where the text must be longer. Throws parse_error.
    std::optional<header> parse() {
        if (!next_line()) {
            if (whole_) fail_at_end("an empty file", "a Matrix Market banner");
            return std::nullopt;
        }
        read_banner();
        do {
            if (!next_line()) {
                if (whole_) fail_at_end("the file ends before its sizes", sizes_expected());
                return std::nullopt;
            }
        } while (words_.empty() || words_[0][0] == '%');
        read_sizes();
        h_.body = std::int64_t(at_);
        h_.size_line = line_;
        return h_;
    }

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& expected) const {
        throw parse_error(path_, std::max<std::int64_t>(1, line_), what + ", expected " + expected);
    }

    [[noreturn]] void fail_at_end(const std::string& what, const std::string& expected) const {
        if (!fault_.empty()) throw parse_error(path_, line_ + 1, std::string(fault_));
        fail(what, expected);
    }

    bool next_line() {
        const std::size_t end = text_.find('\n', at_);
        if (end == std::string_view::npos && (!whole_ || at_ >= text_.size())) return false;
        words_ = split(text_.substr(at_, std::min(end, text_.size()) - at_));
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++line_;
        return true;
    }

    template <class E, std::size_t N>
    E read_keyword(std::size_t k, const keyword<E> (&known)[N], std::string_view what) const {
        std::string expected;
        for (const auto& [word, meaning] : known)
            expected += (expected.empty() ? "" : " or ") + std::string(word);
        if (k >= words_.size()) fail(fmt::format("the banner names no {}", what), expected);
        std::string word(words_[k]);
        std::transform(word.begin(), word.end(), word.begin(), lower);
        for (const auto& [known_word, meaning] : known)
            if (word == known_word) return meaning;
        fail(fmt::format("unknown {} {}", what, shown(words_[k])), expected);
    }

    void read_banner() {
        constexpr keyword<int> objects[] = {{"matrix", 0}};
        if (words_.empty() || !is_banner(words_[0])) {
            const bool is_named_so = path_.ends_with(".mtx") || path_.ends_with(".mtx.gz");
            fail("no Matrix Market banner",
                 std::string("'%%MatrixMarket matrix FORMAT FIELD SYMMETRY' on the first line") +
                     (is_named_so ? "" : "; a list of edges is named .txt, .tsv or .csv"));
        }
        read_keyword(1, objects, "object");
        h_.dense = read_keyword(2, formats, "format");
        h_.field = read_keyword(3, fields, "field");
        h_.symmetry = read_keyword(4, symmetries, "symmetry");
        if (words_.size() > 5)
            fail(fmt::format("{} behind the banner", shown(words_[5])), "the end of the line");
        if (h_.dense && h_.field == field::pattern)
            fail("an array of field pattern", "coordinate, or values");
    }

    [[nodiscard]] std::string sizes_expected() const {
        return h_.dense ? "two sizes: rows columns" : "three sizes: rows columns entries";
    }

    std::int64_t read_size(std::size_t k, std::int64_t largest, std::string_view what) const {
        const std::string_view word = words_[k];
        std::int64_t n = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), n);
        const bool number = end == word.data() + word.size();
        if (!number || (status != std::errc() && status != std::errc::result_out_of_range))
            fail(fmt::format("{} is no number of {}", shown(word), what), sizes_expected());
        if (status == std::errc::result_out_of_range || n < 0 || n > largest)
            fail(fmt::format("{} {}", shown(word), what), fmt::format("0 to {}", largest));
        return n;
    }

    void read_sizes() {
        constexpr std::int64_t max_size = std::numeric_limits<index>::max();
        if (words_.size() != (h_.dense ? 2U : 3U))
            fail(fmt::format("{} words", words_.size()), sizes_expected());
        h_.rows = read_size(0, max_size, "rows");
        h_.cols = read_size(1, max_size, "columns");
        if (h_.symmetry != symmetry::general && h_.rows != h_.cols)
            fail(fmt::format("{} of {} x {}", name_of(h_.symmetry), h_.rows, h_.cols),
                 "as many columns as rows");
        if (!h_.dense) {
            h_.entries = read_size(2, std::int64_t(1) << 62, "entries");
        } else if (h_.symmetry == symmetry::general) {
            h_.entries = h_.rows * h_.cols;
        } else {
            const bool diagonal = h_.symmetry != symmetry::skew_symmetric;
            h_.entries = h_.rows * (h_.rows + (diagonal ? 1 : -1)) / 2;
        }
    }

    const std::string& path_;
    std::string_view text_;
    bool whole_;
    std::string_view fault_;
    std::size_t at_ = 0;
    std::int64_t line_ = 0;
    std::vector<std::string_view> words_;
    header h_;
};

}  // namespace

bool has_banner(const std::string& path) {
    const opening start = text_start(path, 64);
    std::string_view text = start.text;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    const auto words = split(text.substr(0, text.find('\n')));
    return !words.empty() && is_banner(words[0]);
}

header read_header(const std::string& path) {
    constexpr std::size_t largest = std::size_t(1) << 28;
    for (std::size_t bytes = std::size_t(1) << 14;; bytes = std::min(8 * bytes, largest)) {
        auto [text, fault] = text_start(path, bytes);
        const bool whole = text.size() < bytes || bytes == largest;
        if (text.size() >= largest && fault.empty())
            fault =
                fmt::format("a header of more than {} bytes, expected its sizes before", largest);
        if (const auto h = header_parser(path, text, whole, fault).parse()) return *h;
    }
}

}  // namespace nz::matrix_market
