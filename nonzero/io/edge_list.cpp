#include "nonzero/io/edge_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "nonzero/formats/assembler.hpp"
#include "nonzero/io/body_reader.hpp"
#include "nonzero/io/edge_list_lines.hpp"

namespace nz::edge_list {
namespace {

/// The lines, as body_reader wants them described.
template <class V>
struct line_grammar {
    using parsed = edge_list::parsed<V>;
    const dialect& d;
    bool named;

    [[nodiscard]] std::int64_t entries() const { return -1; }
    void parse(std::span<const char> text, parsed& to) const { parse_lines(d, named, text, to); }
    [[nodiscard]] std::string diagnose(std::string_view line) const {
        return edge_list::diagnose<V>(d, line);
    }
    [[nodiscard]] const char* entry_start(std::span<const char> text, std::int64_t) const {
        return text.data();
    }
};

template <class V>
using pieces_of = std::map<std::int64_t, parsed<V>>;

/// All edges, their nodes as names or as numbers; nothing where they should be numbers and are not.
template <class V>
std::optional<pieces_of<V>> read_pieces(const std::string& path, const dialect& d, bool named,
                                        const read_options& options, std::size_t chunk_bytes) {
    pieces_of<V> pieces;
    std::mutex mutex;
    bool has_names = false;
    body_reader<line_grammar<V>> body(path, d.body, {d, named}, options, chunk_bytes);
    body.read([&](std::int64_t number, parsed<V>& p) {
        const std::lock_guard lock(mutex);
        has_names = has_names || p.has_names;
        if (named || !has_names) pieces.emplace(number, std::move(p));
    });
    if (!named && has_names) return std::nullopt;
    return pieces;
}

index checked_count(const std::string& path, std::size_t nodes) {
    if (nodes > std::size_t(std::numeric_limits<index>::max()))
        throw parse_error(path, 0, fmt::format("{} nodes, expected fewer than 2^31", nodes));
    return index(nodes);
}

/// Which row a number is: its place among all numbers that occur.
class number_rows {
  public:
    template <class V>
    number_rows(const pieces_of<V>& pieces, int threads) {
        std::size_t edges = 0;
        for (const auto& [number, p] : pieces) {
            edges += p.node.size() / 2;
            for (const std::int64_t n : p.node)
                least_ = std::min(least_, n), most_ = std::max(most_, n);
        }
        if (edges == 0) return;
        // A table where it takes no more memory than the edges do.
        const std::uint64_t range = std::uint64_t(most_) - std::uint64_t(least_);
        if (range < 4 * edges + 1024) {
            count_in_table(pieces, range + 1);
        } else {
            sort_all(pieces, edges, threads);
        }
    }
    [[nodiscard]] index row(std::int64_t n) const {
        if (!table_.empty()) return table_[std::size_t(n - least_)];
        return index(std::lower_bound(numbers_.begin(), numbers_.end(), n) - numbers_.begin());
    }
    [[nodiscard]] host_vector<std::int64_t>& numbers() { return numbers_; }

  private:
    template <class V>
    void count_in_table(const pieces_of<V>& pieces, std::uint64_t size) {
        table_.assign(std::size_t(size), 0);
        for (const auto& [number, p] : pieces)
            for (const std::int64_t n : p.node) table_[std::size_t(n - least_)] = 1;
        for (std::size_t k = 0; k < table_.size(); ++k) {
            if (table_[k] == 0) continue;
            table_[k] = index(numbers_.size());
            numbers_.push_back(least_ + std::int64_t(k));
        }
    }
    template <class V>
    void sort_all(const pieces_of<V>& pieces, std::size_t edges, int threads) {
        std::vector<const host_vector<std::int64_t>*> nodes;
        for (const auto& [number, p] : pieces) nodes.push_back(&p.node);
        std::vector<host_vector<std::int64_t>> distinct(nodes.size());
        const auto keep_distinct = [](host_vector<std::int64_t>& v) {
            std::sort(v.begin(), v.end());
            v.erase(std::unique(v.begin(), v.end()), v.end());
        };
        parallel_for(thread_count({.threads = threads}), std::int64_t(nodes.size()), 1,
                     [&](std::int64_t k) {
                         distinct[std::size_t(k)] = *nodes[std::size_t(k)];
                         keep_distinct(distinct[std::size_t(k)]);
                     });
        numbers_.reserve(edges / 8);
        for (const auto& d : distinct) {
            numbers_.insert(numbers_.end(), d.begin(), d.end());
        }
        keep_distinct(numbers_);
    }

    std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t most_ = std::numeric_limits<std::int64_t>::min();
    host_vector<index> table_;
    host_vector<std::int64_t> numbers_;
};

/// Every piece's edges, given the rows of their nodes by rows_of(piece), which maps node to row.
template <class V, class RowsOf>
csr<V, host> assemble_pieces(pieces_of<V>& pieces, index nodes, int threads, RowsOf rows_of) {
    std::int64_t edges = 0;
    std::vector<std::pair<std::int64_t, parsed<V>*>> all;
    for (auto& [number, p] : pieces) edges += p.entries, all.emplace_back(number, &p);
    assembler<V> to({nodes, nodes}, edges);
    const auto add = [&](std::int64_t k) {
        const auto [number, p] = all[std::size_t(k)];
        const auto row_of = rows_of(*p);
        host_vector<index> row(std::size_t(p->entries)), col(row.size());
        for (std::size_t e = 0; e < row.size(); ++e)
            row[e] = row_of(p->node[2 * e]), col[e] = row_of(p->node[2 * e + 1]);
        if (!row.empty()) to.add(number, row, col, p->weight);
        *p = {};
    };
    parallel_for(thread_count({.threads = threads}), std::int64_t(all.size()), 1, add);
    return to.finish(threads);
}

template <class V>
named_matrix<V> from_numbers(const std::string& path, pieces_of<V>& pieces, int threads) {
    number_rows rows(pieces, threads);
    const index nodes = checked_count(path, rows.numbers().size());
    const auto row_of = [&](std::int64_t n) { return rows.row(n); };
    named_matrix<V> all{
        assemble_pieces(pieces, nodes, threads, [&](const parsed<V>&) { return row_of; }), {}};
    const auto& numbers = rows.numbers();
    if (nodes > 0 && (numbers.front() != 0 || numbers.back() != nodes - 1))
        all.names.number = std::move(rows.numbers());
    return all;
}

/// All names once, ascending.
template <class V>
std::vector<std::string> names_in(const pieces_of<V>& pieces) {
    std::vector<std::string> names;
    for (const auto& [number, p] : pieces) names.insert(names.end(), p.name.begin(), p.name.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    names.shrink_to_fit();
    return names;
}

template <class V>
named_matrix<V> from_names(const std::string& path, pieces_of<V>& pieces, int threads) {
    named_matrix<V> all;
    all.names.name = names_in(pieces);
    const auto& names = all.names.name;
    const index nodes = checked_count(path, names.size());
    all.A = assemble_pieces(pieces, nodes, threads, [&](const parsed<V>& p) {
        host_vector<index> row;
        for (const std::string& name : p.name)
            row.push_back(
                index(std::lower_bound(names.begin(), names.end(), name) - names.begin()));
        return [row = std::move(row)](std::int64_t at) { return row[std::size_t(at)]; };
    });
    return all;
}

[[noreturn]] void refuse_head(const std::string& path, const dialect& d) {
    const bool is_known = d.head == head::known;
    throw parse_error(
        path, line_at(path, d.head_at),
        fmt::format(
            "'{}' and '{}' are names of columns or the nodes of an edge, as {}, expected {}",
            d.head_words[0], d.head_words[1],
            is_known ? "one is in other edges" : "neither is in another edge",
            is_known ? "a head with weights too, such as source target weight"
                     : "a first line of source and target, in front of an edge or in place "
                       "of a head"));
}

/// Whether the first line, over edges of names, is an edge, too: one of its nodes is another
/// edge's. Throws parse_error where it may be one and may be none.
template <class V>
bool begins_with_edge(const std::string& path, const dialect& d, const pieces_of<V>& pieces) {
    if (d.head != head::known && d.head != head::possible) return false;
    const auto names = names_in(pieces);
    const auto occurs = [&](const std::string& name) {
        return std::binary_search(names.begin(), names.end(), name);
    };
    const bool is_edge = occurs(d.head_words[0]) || occurs(d.head_words[1]);
    if (is_edge != (d.head == head::possible)) refuse_head(path, d);
    return is_edge;
}

template <class V>
bool is_any(const pieces_of<V>& pieces, bool parsed<V>::*fact) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const auto& piece) { return piece.second.*fact; });
}

}  // namespace

template <class V>
named_matrix<V> read(const std::string& path, const read_options& options,
                     std::size_t chunk_bytes) {
    dialect d = read_dialect(path);
    if (!d.named)
        if (auto pieces = read_pieces<V>(path, d, false, options, chunk_bytes)) {
            const auto has_edges = [](const auto& p) { return p.second.entries > 0; };
            if (d.head == head::possible && std::none_of(pieces->begin(), pieces->end(), has_edges))
                refuse_head(path, d);
            expect_columns_in_order(path, d);
            return from_numbers(path, *pieces, options.threads);
        }
    auto pieces = read_pieces<V>(path, d, true, options, chunk_bytes);
    // Among numbers a word such as #7 is no name.
    d.strict =
        is_any(*pieces, &parsed<V>::has_marked) && !is_any(*pieces, &parsed<V>::has_unmarked);
    const bool again = begins_with_edge<V>(path, d, *pieces);
    if (again) d.body = d.head_at;
    if (again || d.strict) pieces = read_pieces<V>(path, d, true, options, chunk_bytes);
    return from_names(path, *pieces, options.threads);
}

file_info inspect(const std::string& path) {
    const dialect d = read_dialect(path);
    return {"edge list",       {-1, -1}, -1, d.weighted ? field::real : field::pattern,
            symmetry::general, false};
}

std::string describe(const std::string& path) { return text_of(read_dialect(path)); }

#define NZ_INSTANTIATE(V) \
    template named_matrix<V> read(const std::string&, const read_options&, std::size_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::edge_list
