#include "nonzero/io/edge_list_lines.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "nonzero/core/error.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/io/matrix_market/matrix_market_header.hpp"
#include "nonzero/io/text.hpp"

namespace nz::edge_list {
namespace {

using matrix_market::is_blank;
using matrix_market::lower;
using matrix_market::shown;

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
    return s;
}

constexpr std::size_t most_words = 3;

/// The words of a line. Of more than three, three are kept and all counted.
struct line_words {
    std::array<std::string_view, most_words> word;
    std::size_t count = 0;
    bool open_quote = false;

    void add(std::string_view w) {
        if (count < most_words) word[count] = w;
        ++count;
    }
};

void split_at_blanks(std::string_view line, line_words& to) {
    for (std::size_t k = 0; k < line.size();) {
        const std::size_t begin = k;
        while (k < line.size() && !is_blank(line[k])) ++k;
        if (k > begin) to.add(line.substr(begin, k - begin));
        while (k < line.size() && is_blank(line[k])) ++k;
    }
}

/// Where the word that starts at `begin` ends: quotes hide separators.
std::size_t word_end(std::string_view line, std::size_t begin, char separator, bool& open_quote) {
    std::size_t k = begin;
    while (k < line.size() && line[k] == ' ') ++k;
    if (k == line.size() || line[k] != '"') return std::min(line.find(separator, k), line.size());
    for (++k; k < line.size(); ++k) {
        if (line[k] != '"') continue;
        if (k + 1 == line.size() || line[k + 1] != '"') break;
        ++k;  // "" stands for a quote
    }
    open_quote = open_quote || k == line.size();
    return std::min(line.find(separator, k), line.size());
}

line_words split(std::string_view line, char separator) {
    line_words words;
    if (separator == ' ') {
        split_at_blanks(line, words);
        return words;
    }
    for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = word_end(line, begin, separator, words.open_quote);
        words.add(trimmed(line.substr(begin, end - begin)));
        begin = end + 1;
    }
    return words;
}

/// A quoted word without its quotes.
std::string name_of(std::string_view word, char separator) {
    const bool quoted =
        separator != ' ' && word.size() >= 2 && word.front() == '"' && word.back() == '"';
    if (!quoted) return std::string(word);
    std::string name;
    for (std::size_t k = 1; k + 1 < word.size(); ++k) {
        name += word[k];
        k += word[k] == '"';
    }
    return name;
}

std::optional<std::int64_t> number_of(std::string_view word, char separator) {
    if (separator != ' ' && word.size() >= 2 && word.front() == '"' && word.back() == '"')
        word = word.substr(1, word.size() - 2);
    const std::size_t digits = word.size() - std::size_t(word.starts_with('-'));
    std::int64_t n = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (status != std::errc() || end != word.data() + word.size() || digits > 18) return {};
    return n;
}

template <class R>
bool read_weight(std::string_view word, R& to) {
    const char* const end = word.data() + word.size();
    const char* begin = word.data();
    begin += word.size() > 1 && word[0] == '+' && word[1] != '-';
    to = 0;
    const auto [stop, status] = fast_float::from_chars(begin, end, to);
    // A number too large for the type comes back as infinity.
    const bool named = begin < end && lower(begin[*begin == '-']) == 'i';
    return status == std::errc() && stop == end && (!std::isinf(to) || named);
}

bool is_edge_line(std::string_view line) {
    return !line.empty() && line.front() != '#' && line.front() != '%';
}

/// Calls entry(line) on every line that is neither blank nor a comment until it returns false: the
/// start of that line, or null.
template <class Entry>
const char* for_each_line(std::span<const char> text, Entry entry) {
    std::string_view left(text.data(), text.size());
    while (!left.empty()) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        const std::string_view line = left.substr(0, end);
        if (is_edge_line(trimmed(line)) && !entry(line)) return left.data();
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return nullptr;
}

std::string expected_words(const dialect& d) {
    const char* const words = d.weighted ? "source target weight" : "source target";
    if (d.separator == ' ') return words;
    return fmt::format("{}, with {} between", words, d.separator == ',' ? "commas" : "tabs");
}

/// Whether a line says what the columns are: its first two words are one of these pairs.
bool is_head(const line_words& words, char separator) {
    static constexpr std::string_view heads[][2] = {
        {"source", "target"}, {"src", "dst"},     {"from", "to"},       {"id1", "id2"},
        {"id_1", "id_2"},     {"node1", "node2"}, {"node_1", "node_2"}, {"fromnodeid", "tonodeid"}};
    const auto is = [&](std::size_t k, std::string_view head) {
        std::string name = name_of(words.word[k], separator);
        for (char& c : name) c = lower(c);
        return name == head;
    };
    if (separator == ' ' || words.count < 2) return false;
    for (const auto& [first, second] : heads)
        if (is(0, first) && is(1, second)) return true;
    return false;
}

char separator_of(std::string path) {
    if (path.ends_with(".gz")) path.resize(path.size() - 3);
    return path.ends_with(".csv") ? ',' : path.ends_with(".tsv") ? '\t' : ' ';
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// From the start of a text; nothing where that has no edge.
std::optional<dialect> dialect_of(std::string_view text, char separator) {
    dialect d{.separator = separator};
    if (text.starts_with(byte_order_mark)) d.body = std::int64_t(byte_order_mark.size());
    bool headed = false;
    std::optional<dialect> found;
    for_each_line(text.substr(std::size_t(d.body)), [&](std::string_view line) {
        const line_words words = split(line, separator);
        if (!headed && is_head(words, separator)) {
            headed = true;
            d.body = line.data() + line.size() - text.data();
            return true;
        }
        d.weighted = words.count >= most_words;
        d.named = words.count >= 2 &&
                  !(number_of(words.word[0], separator) && number_of(words.word[1], separator));
        found = d;
        return false;
    });
    return found;
}

/// A list's names, each with its place.
class name_places {
  public:
    explicit name_places(std::vector<std::string>& names) : names_(names) {}
    std::int64_t operator()(std::string name) {
        const auto [at, added] = places_.try_emplace(std::move(name), std::int64_t(names_.size()));
        if (added) names_.push_back(at->first);
        return at->second;
    }

  private:
    std::vector<std::string>& names_;
    std::unordered_map<std::string, std::int64_t> places_;
};

bool is_wrong(const line_words& words, const dialect& d) {
    return words.open_quote || words.count != (d.weighted ? 3U : 2U) || words.word[0].empty() ||
           words.word[1].empty();
}

}  // namespace

dialect read_dialect(const std::string& path) {
    constexpr std::size_t largest = std::size_t(1) << 28;
    for (std::size_t bytes = std::size_t(1) << 14;; bytes = std::min(8 * bytes, largest)) {
        const auto [text, fault] = text_start(path, bytes);
        if (const auto d = dialect_of(text, separator_of(path))) return *d;
        if (!fault.empty())
            throw parse_error(path, 1 + std::count(text.begin(), text.end(), '\n'), fault);
        if (text.size() < bytes) return {.separator = separator_of(path)};  // no edges at all
        if (bytes == largest)
            throw parse_error(path, 1,
                              fmt::format("no edge within {} bytes, expected one before", largest));
    }
}

template <class V>
void parse_lines(const dialect& d, bool named, std::span<const char> text, parsed<V>& to) {
    to = {};
    name_places place(to.name);
    to.fault_at = for_each_line(text, [&](std::string_view line) {
        const line_words words = split(line, d.separator);
        real<V> weight(1);
        if (is_wrong(words, d) || (d.weighted && !read_weight(words.word[2], weight))) return false;
        const auto source = number_of(words.word[0], d.separator);
        const auto target = number_of(words.word[1], d.separator);
        to.has_names = to.has_names || !source || !target;
        if (named) {
            to.node.push_back(place(name_of(words.word[0], d.separator)));
            to.node.push_back(place(name_of(words.word[1], d.separator)));
        } else if (source && target) {
            to.node.push_back(*source), to.node.push_back(*target);
        }
        if (d.weighted) to.weight.push_back(V(weight));
        ++to.entries;
        return true;
    });
}

template <class V>
std::string diagnose(const dialect& d, std::string_view line) {
    const line_words words = split(line, d.separator);
    if (words.open_quote) return "a quote without its end, expected one on the same line";
    if (words.count != (d.weighted ? 3U : 2U))
        return fmt::format("{} word{}, expected {}", words.count, words.count == 1 ? "" : "s",
                           expected_words(d));
    if (words.word[0].empty() || words.word[1].empty())
        return fmt::format("a node without a name, expected {}", expected_words(d));
    real<V> weight(0);
    read_weight(words.word[2], weight);
    if (std::isinf(weight))
        return fmt::format("weight {} is too large for {}, expected at most {:.3g}",
                           shown(words.word[2]), value_name<real<V>>(),
                           std::numeric_limits<real<V>>::max());
    return fmt::format("weight {} is no number, expected one", shown(words.word[2]));
}

#define NZ_INSTANTIATE(V)                                                               \
    template void parse_lines(const dialect&, bool, std::span<const char>, parsed<V>&); \
    template std::string diagnose<V>(const dialect&, std::string_view);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::edge_list
