#include "nonzero/io/metis_graph.hpp"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/io/body_reader.hpp"
#include "nonzero/io/matrix_market/matrix_market_header.hpp"

namespace nz::metis_graph {
namespace {

using matrix_market::is_blank;
using matrix_market::shown;
using matrix_market::split;

constexpr std::size_t most_line_bytes = std::size_t(1) << 28;  // a hub's neighbours are one line
constexpr std::int64_t most_nodes = std::numeric_limits<index>::max();

struct header {
    std::int64_t nodes = 0, edges = 0;
    bool weighted = false;    ///< a weight behind every neighbour
    std::int64_t before = 0;  ///< numbers before the first neighbour
    std::int64_t body = 0;    ///< where it starts in the text
};

/// The next line from `at` on, which moves behind it; nothing at the end.
std::optional<std::string_view> next_line(std::string_view text, std::size_t& at) {
    if (at >= text.size()) return std::nullopt;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = std::min(end + 1, text.size());
    return line;
}

bool is_comment(std::string_view line) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    return line.starts_with('%');
}

bool read_whole(std::string_view word, std::int64_t& to) {
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), to);
    return status == std::errc() && end == word.data() + word.size();
}

/// The header's words, made numbers.
class header_parser {
  public:
    header_parser(const std::string& path, std::int64_t line, std::string_view text)
        : path_(path), line_(line), words_(split(text)) {
        if (words_.size() < 2 || words_.size() > 4)
            fail(fmt::format("{} words", words_.size()), "nodes edges [format [weights]]");
    }
    header parse() const {
        header h;
        h.nodes = number(0, "nodes", most_nodes);
        h.edges = number(1, "edges", std::int64_t(1) << 61);
        if (words_.size() < 3) return h;
        const std::string_view format = words_[2];
        if (format.size() > 3 || format.find_first_not_of("01") != format.npos)
            fail(fmt::format("format {}", shown(format)), "at most three digits, 0 or 1");
        const auto digit_is_set = [&](std::size_t from_right) {
            return format.size() >= from_right && format[format.size() - from_right] == '1';
        };
        const std::int64_t weights = words_.size() > 3 ? number(3, "weights", 1000) : 1;
        h.weighted = digit_is_set(1);
        h.before = (digit_is_set(2) ? weights : 0) + (digit_is_set(3) ? 1 : 0);
        return h;
    }

  private:
    [[noreturn]] void fail(const std::string& what, std::string_view expected) const {
        throw parse_error(path_, line_, fmt::format("{}, expected {}", what, expected));
    }
    std::int64_t number(std::size_t k, std::string_view what, std::int64_t most) const {
        std::int64_t n = 0;
        if (!read_whole(words_[k], n) || n < 0 || n > most)
            fail(fmt::format("{} {}", shown(words_[k]), what), fmt::format("0 to {}", most));
        return n;
    }

    const std::string& path_;
    std::int64_t line_;
    std::vector<std::string_view> words_;
};

header read_header(const std::string& path) {
    constexpr std::size_t largest = std::size_t(1) << 28;
    for (std::size_t bytes = std::size_t(1) << 14;; bytes = std::min(8 * bytes, largest)) {
        const auto [text, fault] = text_start(path, bytes);
        std::size_t at = 0;
        std::int64_t number = 0;
        while (const auto line = next_line(text, at)) {
            ++number;
            if (is_comment(*line) || split(*line).empty()) continue;
            header h = header_parser(path, number, *line).parse();
            h.body = std::int64_t(at);
            return h;
        }
        if (!fault.empty()) throw parse_error(path, number + 1, fault);
        if (text.size() < bytes || bytes == largest)
            throw parse_error(path, std::max<std::int64_t>(number, 1),
                              "no sizes, expected nodes edges [format [weights]]");
    }
}

/// Contents of some nodes' lines.
template <class V>
struct neighbours {
    host_vector<index> row, col;  ///< row counts from the first line of these
    host_vector<V> weight;        ///< empty where there are none
    std::int64_t entries = 0;     ///< lines of nodes, blank ones behind the last node perhaps too
    std::int64_t used = 0;        ///< lines up to the last one that is not blank
    const char* fault_at = nullptr;
};

/// The words of a node's line, one after the other.
class node_line {
  public:
    explicit node_line(std::string_view line) : left_(line) {}
    /// Empty at the end.
    std::string_view next() {
        std::size_t k = 0;
        while (k < left_.size() && is_blank(left_[k])) ++k;
        std::size_t end = k;
        while (end < left_.size() && !is_blank(left_[end])) ++end;
        const std::string_view word = left_.substr(k, end - k);
        left_.remove_prefix(end);
        return word;
    }

  private:
    std::string_view left_;
};

template <class R>
bool read_weight(std::string_view word, R& to) {
    const char* const end = word.data() + word.size();
    const auto [stop, status] = fast_float::from_chars(word.data(), end, to);
    return status == std::errc() && stop == end && !std::isinf(to);
}

/// Calls take(neighbour, weight) for all of a node's; what is wrong, or "".
template <class V, class Take>
std::string read_node(const header& h, std::string_view line, Take take) {
    node_line words(line);
    std::string_view word = words.next();
    for (std::int64_t k = 0; k < h.before; ++k, word = words.next()) {
        std::int64_t unused = 0;
        if (word.empty())
            return fmt::format("{} of {} words before the neighbours, expected all", k, h.before);
        if (!read_whole(word, unused) || unused < 0)
            return fmt::format("{} is no size or weight of a node, expected a whole number",
                               shown(word));
    }
    for (; !word.empty(); word = words.next()) {
        std::int64_t n = 0;
        if (!read_whole(word, n) || n < 1 || n > h.nodes)
            return fmt::format("neighbour {}, expected 1 to {}", shown(word), h.nodes);
        real<V> weight(1);
        if (h.weighted) {
            const std::string_view text = words.next();
            if (text.empty())
                return fmt::format("neighbour {} has no weight, expected one", shown(word));
            if (!read_weight(text, weight))
                return fmt::format("weight {} of an edge, expected a number that {} holds",
                                   shown(text), value_name<real<V>>());
        }
        take(index(n - 1), V(weight));
    }
    return {};
}

bool is_blank_line(std::string_view line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return is_blank(c); });
}

/// The lines, as body_reader wants them described. How many there must be is checked later: blank
/// lines behind the last node's are none.
template <class V>
struct line_grammar {
    using parsed = neighbours<V>;
    const header& h;

    [[nodiscard]] std::int64_t entries() const { return -1; }
    void parse(std::span<const char> text, parsed& to) const {
        to = {};
        std::size_t at = 0, start = 0;
        const std::string_view all(text.data(), text.size());
        for (; const auto line = next_line(all, at); start = at) {
            if (is_comment(*line)) continue;
            const bool blank = is_blank_line(*line);
            if (!blank) {
                const std::string fault = read_node<V>(h, *line, [&](index j, V weight) {
                    to.row.push_back(index(to.entries)), to.col.push_back(j);
                    if (h.weighted) to.weight.push_back(weight);
                });
                if (!fault.empty()) {
                    to.fault_at = all.data() + start;
                    return;
                }
            }
            ++to.entries;
            if (!blank) to.used = to.entries;
        }
    }
    [[nodiscard]] std::string diagnose(std::string_view line) const {
        return read_node<V>(h, line, [](index, V) {});
    }
    [[nodiscard]] const char* entry_start(std::span<const char> text, std::int64_t before) const {
        const std::string_view all(text.data(), text.size());
        std::size_t at = 0, start = 0;
        for (; const auto line = next_line(all, at); start = at)
            if (!is_comment(*line) && before-- == 0) break;
        return text.data() + start;
    }
};

/// The pieces in the text's order, each with the number of its first node.
template <class V>
struct placed_piece {
    std::int64_t number, first;
    neighbours<V>* lines;
};

/// Throws parse_error unless there are as many lines, and neighbours, as the header says.
template <class V>
std::vector<placed_piece<V>> place(const std::string& path, const header& h,
                                   const body_reader<line_grammar<V>>& body,
                                   std::map<std::int64_t, neighbours<V>>& pieces) {
    std::vector<placed_piece<V>> placed;
    std::int64_t nodes = 0, used = 0, found = 0;
    for (auto& [number, p] : pieces) {
        placed.push_back({number, nodes, &p});
        if (p.used > 0) used = nodes + p.used;
        nodes += p.entries, found += std::int64_t(p.col.size());
    }
    if (used > h.nodes) {
        const auto holds_it = [&](const auto& piece) {
            return h.nodes < piece.first + piece.lines->entries;
        };
        const auto& piece = *std::find_if(placed.begin(), placed.end(), holds_it);
        throw parse_error(path, body.line_of_entry(piece.number, h.nodes - piece.first),
                          fmt::format("one more line of a node, expected {} in all", h.nodes));
    }
    if (nodes < h.nodes)
        throw parse_error(
            path, body.last_line(),
            fmt::format("the file ends after {} of its nodes' lines, expected {}", nodes, h.nodes));
    if (found != 2 * h.edges)
        throw parse_error(path, 0,
                          fmt::format("{} neighbours, expected {}: two for each of {} edges", found,
                                      2 * h.edges, h.edges));
    return placed;
}

}  // namespace

template <class V>
csr<V, host> read(const std::string& path, const read_options& options, std::size_t chunk_bytes) {
    const header h = read_header(path);
    body_reader<line_grammar<V>> body(path, h.body, {h}, options, chunk_bytes, most_line_bytes);
    std::map<std::int64_t, neighbours<V>> pieces;
    std::mutex mutex;
    body.read([&](std::int64_t number, neighbours<V>& p) {
        const std::lock_guard lock(mutex);
        pieces.emplace(number, std::move(p));
    });
    const auto placed = place(path, h, body, pieces);
    assembler<V> to({index(h.nodes), index(h.nodes)}, 2 * h.edges);
    parallel_for(thread_count({.threads = options.threads}), std::int64_t(placed.size()), 1,
                 [&](std::int64_t k) {
                     const auto [number, first, p] = placed[std::size_t(k)];
                     for (index& i : p->row) i = index(i + first);
                     if (!p->row.empty()) to.add(number, p->row, p->col, p->weight);
                     *p = {};
                 });
    return to.finish(options.threads);
}

file_info inspect(const std::string& path) {
    const header h = read_header(path);
    return {"METIS graph",     {index(h.nodes), index(h.nodes)},
            2 * h.edges,       h.weighted ? field::real : field::pattern,
            symmetry::general, false};
}

#define NZ_INSTANTIATE(V) \
    template csr<V, host> read(const std::string&, const read_options&, std::size_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::metis_graph
