#include "nonzero/io/edge_list_lines.hpp"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "nonzero/core/arithmetic.hpp"
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

bool is_mark(char c) { return c == '#' || c == '%'; }
bool is_quoted(std::string_view word) { return word.starts_with('"'); }

/// The words of a line. Of more than three, three are kept and all counted.
struct line_words {
    std::array<std::string_view, most_words> word;
    std::size_t count = 0;
    bool open_quote = false;    ///< a quote does not end
    bool behind_quote = false;  ///< a word goes on behind its quotes

    void add(std::string_view w) {
        if (count < most_words) word[count] = w;
        ++count;
    }
};

/// Where the quotes that begin at `begin` end: `""` within them stands for a quote.
std::size_t quotes_end(std::string_view line, std::size_t begin) {
    for (std::size_t k = begin + 1; k < line.size(); ++k) {
        if (line[k] != '"') continue;
        if (k + 1 == line.size() || line[k + 1] != '"') return k + 1;
        ++k;
    }
    return std::string_view::npos;
}

/// Words between blanks, or between separators less the blanks around them. Quotes hide both. What
/// begins with { is one word up to the line's end: the attributes that NetworkX writes.
line_words split(std::string_view line, char separator) {
    const bool at_blanks = separator == ' ';
    const auto divides = [&](char c) { return at_blanks ? is_blank(c) : c == separator; };
    line_words words;
    for (std::size_t k = 0;; ++k) {
        while (k < line.size() && is_blank(line[k]) && line[k] != separator) ++k;
        if (at_blanks) {
            while (k < line.size() && is_blank(line[k])) ++k;
            if (k == line.size()) return words;
        }
        const std::size_t begin = k;
        if (k < line.size() && line[k] == '"') {
            k = quotes_end(line, k);
            words.open_quote = words.open_quote || k == std::string_view::npos;
            k = std::min(k, line.size());
            const std::size_t end = k;
            while (k < line.size() && !divides(line[k])) ++k;
            const bool goes_on = !trimmed(line.substr(end, k - end)).empty();
            words.behind_quote = words.behind_quote || goes_on;
        } else if (words.count == 2 && k < line.size() && line[k] == '{') {
            k = line.size();
        } else {
            while (k < line.size() && !divides(line[k])) ++k;
        }
        words.add(trimmed(line.substr(begin, k - begin)));
        if (k == line.size()) return words;
    }
}

/// A quoted word without its quotes.
std::string name_of(std::string_view word) {
    if (!is_quoted(word) || word.size() < 2) return std::string(word);
    std::string name;
    for (std::size_t k = 1; k + 1 < word.size(); ++k) {
        name += word[k];
        k += word[k] == '"';
    }
    return name;
}

std::string_view unquoted(std::string_view word) {
    return is_quoted(word) && word.size() >= 2 ? word.substr(1, word.size() - 2) : word;
}

/// The whole number that is written so and not otherwise: 01 and -0 are names.
std::optional<std::int64_t> number_of(std::string_view word) {
    word = unquoted(word);
    const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
    std::int64_t n = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (status != std::errc() || end != word.data() + word.size() || digits.size() > 18) return {};
    if (digits.starts_with('0') && word != "0") return {};
    return n;
}

template <class R>
bool read_number(std::string_view word, R& to) {
    const char* const end = word.data() + word.size();
    const char* begin = word.data();
    begin += word.size() > 1 && word[0] == '+' && word[1] != '-';
    to = 0;
    const auto [stop, status] = fast_float::from_chars(begin, end, to);
    // A number too large for the type comes back as infinity.
    const bool named = begin < end && lower(begin[*begin == '-']) == 'i';
    return status == std::errc() && stop == end && (!std::isinf(to) || named);
}

/// Where a value of a Python dict ends, from its start: at a comma that is in no string and in no
/// bracket. One past the dict's text where it is the last.
std::size_t value_end(std::string_view dict, std::size_t k) {
    int depth = 0;
    for (char quote = 0; k < dict.size(); ++k) {
        const char c = dict[k];
        if (quote != 0) {
            k += c == '\\';
            quote = c == quote ? char(0) : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else {
            depth += int(c == '{' || c == '[' || c == '(') - int(c == '}' || c == ']' || c == ')');
            if (c == ',' && depth == 0) return k;
        }
    }
    return dict.size();
}

/// The weight among the attributes of an edge, a Python dict as NetworkX writes it; 1 where it is
/// not among them, as NetworkX has it.
template <class R>
bool read_attributes(std::string_view word, R& to) {
    to = 1;
    if (!word.ends_with('}') || word.size() < 2) return false;
    const std::string_view dict = word.substr(1, word.size() - 2);
    for (std::size_t k = 0; k < dict.size();) {
        const std::size_t end = value_end(dict, k);
        const std::string_view item = trimmed(dict.substr(k, end - k));
        for (const std::string_view key : {"'weight':", "\"weight\":"})
            if (item.starts_with(key)) return read_number(trimmed(item.substr(key.size())), to);
        k = end + 1;
    }
    return true;
}

template <class R>
bool read_weight(std::string_view word, R& to) {
    return word.starts_with('{') ? read_attributes(word, to) : read_number(unquoted(word), to);
}

/// Whether a line is a comment. Where commas or tabs stand between words, a name may begin with a
/// mark, and a comment has a blank behind it.
bool is_comment(std::string_view line, char separator) {
    if (!is_mark(line.front())) return false;
    return separator == ' ' || line.size() == 1 || is_blank(line[1]) || is_mark(line[1]);
}

/// Calls entry(line) on every line that is neither blank nor a comment until it returns false: the
/// start of that line, or null.
template <class Entry>
const char* for_each_line(std::span<const char> text, char separator, Entry entry) {
    std::string_view left(text.data(), text.size());
    while (!left.empty()) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        const std::string_view line = left.substr(0, end), words = trimmed(line);
        if (!words.empty() && !is_comment(words, separator) && !entry(line)) return left.data();
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return nullptr;
}

std::string_view name_of_separator(char separator) {
    switch (separator) {
        case ',':
            return "commas";
        case ';':
            return "semicolons";
        case '\t':
            return "tabs";
        default:
            return "blanks";
    }
}

std::string expected_words(const dialect& d) {
    const char* const words = d.weighted ? "source target weight" : "source target";
    if (d.separator == ' ') return words;
    return fmt::format("{}, with {} between", words, name_of_separator(d.separator));
}

/// Names of columns of sources, and beside each the name of the column of targets.
constexpr std::string_view heads[][2] = {
    {"source", "target"}, {"src", "dst"},     {"from", "to"},       {"id1", "id2"},
    {"id_1", "id_2"},     {"node1", "node2"}, {"node_1", "node_2"}, {"fromnodeid", "tonodeid"}};

/// The name of a column, without a mark of comments in front.
std::string column_name(std::string_view word) {
    std::string name = name_of(word);
    for (char& c : name) c = lower(c);
    if (!name.empty() && is_mark(name.front())) name.erase(0, 1);
    return name;
}

bool is_known_head(const line_words& words) {
    const std::string first = column_name(words.word[0]), second = column_name(words.word[1]);
    return std::any_of(std::begin(heads), std::end(heads),
                       [&](const auto& h) { return first == h[0] && second == h[1]; });
}

/// The separators that a file may have by its name, the usual one first.
std::string_view separators_of(std::string path) {
    std::transform(path.begin(), path.end(), path.begin(), lower);
    if (path.ends_with(".gz")) path.resize(path.size() - 3);
    return path.ends_with(".csv") ? ",;" : path.ends_with(".tsv") ? "\t" : " \t,;";
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A line with its place in the text.
struct first_line {
    std::size_t at = 0, end = 0;
    line_words words{};
};
using first_lines = std::vector<first_line>;

bool has_nodes(const line_words& words) {
    return words.count >= 2 && !words.open_quote && !words.behind_quote &&
           !unquoted(words.word[0]).empty() && !unquoted(words.word[1]).empty();
}
bool is_numbered(const line_words& words) {
    return number_of(words.word[0]) && number_of(words.word[1]);
}
bool has_weight(const line_words& words) {
    double weight = 0;
    return words.count == most_words && read_weight(words.word[2], weight);
}

/// The first lines that are no comments, if that separator stands between words. Before the first
/// edge a line that begins with a mark and has not the words of one is a comment, too.
first_lines look_at(std::string_view text, char separator) {
    constexpr std::size_t enough = 64;
    const std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    first_lines found;
    for_each_line(text.substr(start), separator, [&](std::string_view line) {
        const line_words words = split(line, separator);
        const bool is_edge = words.count == 2 || words.count == most_words;
        if (found.empty() && is_mark(trimmed(line).front()) && !is_edge) return true;
        const auto at = std::size_t(line.data() - text.data());
        found.push_back({at, at + line.size(), words});
        return found.size() < enough;
    });
    return found;
}

/// Whether all lines have two words, or all three.
bool fit(const first_lines& lines, char separator) {
    const auto is_like_first = [&](const first_line& l) {
        const bool may_be_head = &l == &lines.front() && lines.size() > 1;
        const std::size_t count = lines.front().words.count;
        return l.words.count == count && count <= most_words && has_nodes(l.words) &&
               (separator != ' ' || count == 2 || may_be_head || is_known_head(l.words) ||
                has_weight(l.words));
    };
    return !lines.empty() && std::all_of(lines.begin(), lines.end(), is_like_first);
}

/// Whether a word has a blank within, and no quotes that say so.
bool has_blanks_within(const first_lines& lines) {
    const auto has_blank = [](std::string_view word) {
        return !is_quoted(word) && std::any_of(word.begin(), word.end(), is_blank);
    };
    return std::any_of(lines.begin(), lines.end(), [&](const first_line& l) {
        return std::any_of(l.words.word.begin(), l.words.word.end(), has_blank);
    });
}

[[noreturn]] void refuse_separators(const std::string& path, const first_lines& lines,
                                    std::string_view text, char a, char b) {
    const std::size_t at = lines.front().at;
    throw parse_error(
        path, 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n'),
        fmt::format("{} or {} may stand between the words, expected a name that says which, .tsv "
                    "for tabs or .csv for commas, or quotes around names",
                    name_of_separator(a), name_of_separator(b)));
}

/// Separator between words: the one that the file's name tells, if the lines have it.
char separator_of(const std::string& path, std::string_view text) {
    const std::string_view all = separators_of(path);
    std::string fitting;
    for (const char c : all)
        if (fit(look_at(text, c), c)) fitting += c;
    const auto fits = [&](char c) { return fitting.find(c) != std::string::npos; };
    const auto refuse = [&](char a, char b) {
        refuse_separators(path, look_at(text, a), text, a, b);
    };
    if (all.front() != ' ') {
        if (fitting.size() > 1) refuse(fitting[0], fitting[1]);
        return fitting.empty() ? all.front() : fitting.front();
    }
    const auto blank = look_at(text, ' ');
    const auto has_attributes = [](const first_line& l) {
        return l.words.word[2].starts_with('{');
    };
    if (fits(' ') && std::any_of(blank.begin(), blank.end(), has_attributes)) return ' ';
    const bool numbered = std::all_of(blank.begin(), blank.end(),
                                      [](const first_line& l) { return is_numbered(l.words); });
    if (fits(' ') && fits('\t') && !numbered && has_blanks_within(look_at(text, '\t')))
        refuse(' ', '\t');
    char found = fits(' ') || !fits('\t') ? ' ' : '\t';
    for (const char c : {',', ';'}) {
        if (!fits(c)) continue;
        const bool clean = !has_blanks_within(look_at(text, c));
        // Blanks around every comma divide the words as well; elsewhere they belong to names.
        if (found != ' ' || (fits(' ') && !clean)) refuse(found, c);
        if (clean) found = c;
    }
    return found;
}

/// Kind of the first line.
head head_of(const first_lines& lines) {
    const line_words& first = lines.front().words;
    if (!has_nodes(first) || first.count > most_words || number_of(first.word[0]) ||
        number_of(first.word[1]))
        return head::none;
    const bool is_known = is_known_head(first);
    if (first.count == most_words) {
        const bool is_word = !has_weight(first) && !unquoted(first.word[2]).empty();
        return is_word && (is_known || lines.size() > 1) ? head::certain : head::none;
    }
    return is_known ? head::known : head::possible;
}

/// A first line such as from,to,2020 over numbers: a column of that name, or an edge.
void expect_no_numbered_head(const std::string& path, std::string_view text,
                             const first_lines& lines) {
    const line_words& first = lines.front().words;
    const bool is_named = has_nodes(first) && has_weight(first) && !number_of(first.word[0]) &&
                          !number_of(first.word[1]);
    const bool over_numbers =
        lines.size() > 1 && std::all_of(lines.begin() + 1, lines.end(),
                                        [](const first_line& l) { return is_numbered(l.words); });
    if (!is_named || !over_numbers) return;
    throw parse_error(
        path, 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(lines.front().at), '\n'),
        fmt::format("{} and {} are names of columns or the nodes of an edge, as all others are "
                    "numbers, expected a head without numbers, or the edge behind another one",
                    shown(first.word[0]), shown(first.word[1])));
}

/// From the start of a text, or all of it; nothing where that has too few lines.
std::optional<dialect> dialect_of(const std::string& path, std::string_view text, bool whole) {
    dialect d{.separator = separators_of(path).front()};
    if (const auto usual = look_at(text, d.separator); usual.size() < 2 && !whole)
        return std::nullopt;
    d.separator = separator_of(path, text);
    const first_lines lines = look_at(text, d.separator);
    d.body = std::int64_t(text.size());
    if (lines.empty()) return d;
    const line_words& first = lines.front().words;
    d.weighted = first.count >= most_words;
    d.head = head_of(lines);
    const bool headed = d.head != head::none;
    if (headed) {
        d.head_at = std::int64_t(lines.front().at);
        for (std::size_t k = 0; k < first.count; ++k) d.head_words[k] = name_of(first.word[k]);
        if (lines.size() > 1) d.body = std::int64_t(lines[1].at);
    } else {
        d.body = std::int64_t(lines.front().at);
        expect_no_numbered_head(path, text, lines);
    }
    d.named = std::any_of(lines.begin() + int(headed), lines.end(),
                          [](const first_line& l) { return !is_numbered(l.words); });
    return d;
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
    return words.count != (d.weighted ? 3U : 2U) || !has_nodes(words) ||
           (d.strict && is_mark(words.word[0].front()));
}

}  // namespace

dialect read_dialect(const std::string& path) {
    constexpr std::size_t largest = std::size_t(1) << 28;
    for (std::size_t bytes = std::size_t(1) << 14;; bytes = std::min(8 * bytes, largest)) {
        const auto [text, fault] = text_start(path, bytes);
        const bool whole = text.size() < bytes && fault.empty();
        if (const auto d = dialect_of(path, text, whole)) {
            if (d->head == head::certain) expect_columns_in_order(path, *d);
            return *d;
        }
        if (!fault.empty())
            throw parse_error(path, 1 + std::count(text.begin(), text.end(), '\n'), fault);
        if (bytes == largest)
            throw parse_error(path, 1,
                              fmt::format("no edge within {} bytes, expected one before", largest));
    }
}

void expect_columns_in_order(const std::string& path, const dialect& d) {
    if (d.head == head::none) return;
    const auto is = [&](std::size_t k, std::size_t end) {
        return std::any_of(std::begin(heads), std::end(heads),
                           [&](const auto& h) { return column_name(d.head_words[k]) == h[end]; });
    };
    if (is(0, 1) || is(1, 0) || is(2, 0) || is(2, 1))
        throw parse_error(
            path, line_at(path, d.head_at),
            fmt::format("columns {}, {}{}{}, expected source, target and then a "
                        "weight or nothing",
                        shown(d.head_words[0]), shown(d.head_words[1]), d.weighted ? ", " : "",
                        d.weighted ? shown(d.head_words[2]) : ""));
}

std::string text_of(const dialect& d) {
    std::string text = fmt::format("{} between words", name_of_separator(d.separator));
    std::string words = fmt::format("{} {}", shown(d.head_words[0]), shown(d.head_words[1]));
    if (!d.head_words[2].empty()) words += " " + shown(d.head_words[2]);
    if (d.head == head::possible) {
        text += fmt::format("; {} is a head if all nodes are numbers, else an edge", words);
    } else {
        text += d.head == head::none ? "; no head" : fmt::format("; {} is a head", words);
    }
    return text + (d.weighted ? "; the third word is a weight" : "; no weights");
}

template <class V>
void parse_lines(const dialect& d, bool named, std::span<const char> text, parsed<V>& to) {
    to = {};
    name_places place(to.name);
    to.fault_at = for_each_line(text, d.separator, [&](std::string_view line) {
        const line_words words = split(line, d.separator);
        real<V> weight(1);
        if (is_wrong(words, d) || (d.weighted && !read_weight(words.word[2], weight))) return false;
        const auto source = number_of(words.word[0]);
        const auto target = number_of(words.word[1]);
        const bool is_marked = is_mark(words.word[0].front());
        to.has_names = to.has_names || !source || !target;
        to.has_marked = to.has_marked || is_marked;
        to.has_unmarked = to.has_unmarked || !target || (!source && !is_marked);
        if (named) {
            to.node.push_back(place(name_of(words.word[0])));
            to.node.push_back(place(name_of(words.word[1])));
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
    if (words.behind_quote)
        return fmt::format("a word goes on behind its quotes, expected {}", expected_words(d));
    if (words.count != (d.weighted ? 3U : 2U))
        return fmt::format("{} word{}, expected {}", words.count, words.count == 1 ? "" : "s",
                           expected_words(d));
    if (!has_nodes(words))
        return fmt::format("a node without a name, expected {}", expected_words(d));
    if (d.strict && is_mark(words.word[0].front()))
        return fmt::format(
            "{} is a node or a comment, expected quotes around a node or a blank behind the mark "
            "of a comment",
            shown(words.word[0]));
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
