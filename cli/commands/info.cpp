// nz info: what a matrix is, and what it would take in every format.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "cli/command.hpp"
#include "cli/commands/matrix_facts.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/edge_list.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::cli {
namespace {

struct info_arguments {
    std::string path, json;
};

/// How symmetric A is, in numbers of its nonzeros a_ij.
struct mirror {
    std::string values;         ///< the symmetry that they have, up to symmetry_tolerance
    std::int64_t present = 0;   ///< entries whose a_ji is stored
    std::int64_t equal = 0;     ///< entries that equal a_ji, which is 0 where it is not stored
    std::int64_t diagonal = 0;  ///< entries on the diagonal, which face themselves
};

template <class V>
std::string symmetry_of(const csr<V, host_view>& A) {
    for (const symmetry s : {symmetry::symmetric, symmetry::hermitian, symmetry::skew_symmetric})
        if (!first_asymmetry(A, s)) return std::string(name_of(s));
    return "unsymmetric";
}

template <class V>
mirror compare_with_transpose(const csr<V, host_view>& A) {
    if (A.shape.rows != A.shape.cols) return {"not square"};
    mirror m{symmetry_of(A)};
    const auto own = transpose(A);
    const auto T = view(own);
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i) {
        auto t = std::size_t(T.row_ptr[i]);
        const auto end = std::size_t(T.row_ptr[i + 1]);
        for_each_entry(A, std::int64_t(i), std::int64_t(i) + 1, [&](index, index j, V v) {
            while (t < end && T.col_ind[t] < j) ++t;
            const bool is_present = t < end && T.col_ind[t] == j;
            m.diagonal += std::size_t(j) == i;
            m.present += is_present;
            m.equal += v == (is_present ? T.val[t] : V(0));
        });
    }
    return m;
}

/// Distinct values, told apart by their bits; counting ends above max_distinct.
constexpr std::size_t max_distinct = 100000;
template <class V>
std::size_t count_distinct(std::span<const V> val) {
    using bits = std::array<std::uint64_t, (sizeof(V) + 7) / 8>;
    const auto hash = [](const bits& b) {
        std::uint64_t h = 0;
        for (const std::uint64_t word : b) h = (h ^ word ^ (word >> 29)) * 0x9e3779b97f4a7c15U;
        return std::size_t(h ^ (h >> 32));
    };
    std::unordered_set<bits, decltype(hash)> seen(1024, hash);
    for (const V& v : val) {
        bits b{};
        std::memcpy(b.data(), &v, sizeof(V));
        seen.insert(b);
        if (seen.size() > max_distinct) break;
    }
    return seen.size();
}

template <class V>
std::int64_t count_empty_columns(const csr<V, host_view>& A) {
    std::vector<bool> used(std::size_t(A.shape.cols), false);
    for (const index j : A.col_ind) used[std::size_t(j)] = true;
    return std::count(used.begin(), used.end(), false);
}

/// Everything that is printed.
struct info_report {
    file_info file{};
    std::string dialect;  ///< of an edge list: how its lines are understood, and its nodes
    matrix_stats stats;
    length_summary lengths;
    std::vector<bin> bins;
    mirror mirrored;
    std::size_t distinct = 0;
    std::int64_t empty_columns = 0;
    std::vector<layout_bytes> layouts;

    [[nodiscard]] bool square() const { return stats.rows == stats.cols; }
    /// The share of entries off the diagonal that face another one, or a one of the same value.
    [[nodiscard]] double share_off_diagonal(std::int64_t n) const {
        const std::int64_t off = stats.nnz - mirrored.diagonal;
        return off == 0 ? 1 : double(n - mirrored.diagonal) / double(off);
    }
};

template <class V>
std::string dialect_of(const std::string& path, const named_matrix<V>& G) {
    std::string text = edge_list::describe(path);
    const index nodes = G.A.shape.rows;
    if (nodes == 0) return text + "; no nodes";
    return text + fmt::format("; nodes are {} from {} to {}",
                              G.names.name.empty() ? "numbers" : "names", G.names.of(0),
                              G.names.of(nodes - 1));
}

template <class V>
info_report examine(const info_arguments& o, const file_info& file) {
    const auto own = read_named_matrix<V>(o.path);
    const auto A = view(own.A);
    const running_clock clock("looking at " + o.path);
    info_report r;
    r.file = file;
    if (file.format == "edge list") r.dialect = dialect_of(o.path, own);
    r.stats = compute_stats(A);
    r.lengths = summarise(r.stats);
    r.bins = histogram(r.stats);
    r.mirrored = compare_with_transpose(A);
    r.distinct = count_distinct<V>(A.val);
    r.empty_columns = count_empty_columns(A);
    r.layouts = bytes_by_layout<V>(r.stats);
    return r;
}

nz::json symmetry_json(const info_report& r) {
    if (!r.square()) return {{"values", r.mirrored.values}};
    return {{"values", r.mirrored.values},
            {"pattern_share", r.share_off_diagonal(r.mirrored.present)},
            {"value_share", r.share_off_diagonal(r.mirrored.equal)}};
}

nz::json to_json(const info_arguments& o, const info_report& r) {
    const matrix_stats& s = r.stats;
    return {{"path", o.path},
            {"file",
             {{"format", r.file.format},
              {"field", name_of(r.file.field)},
              {"symmetry", name_of(r.file.symmetry)},
              {"entries", r.file.entries < 0 ? nz::json() : nz::json(r.file.entries)},
              {"dialect", r.dialect.empty() ? nz::json() : nz::json(r.dialect)}}},
            {"rows", s.rows},
            {"cols", s.cols},
            {"nnz", s.nnz},
            {"symmetry", symmetry_json(r)},
            {"row_length", row_length_json(s)},
            {"bandwidth", s.bandwidth},
            {"diagonals", s.diagonals},
            {"main_diagonal", r.square() ? nz::json(r.mirrored.diagonal) : nullptr},
            {"empty_rows", s.empty_rows()},
            {"empty_columns", r.empty_columns},
            {"distinct_values", r.distinct > max_distinct ? nz::json() : nz::json(r.distinct)},
            {"layouts", to_json(r.layouts)}};
}

std::string symmetry_text(const info_report& r) {
    if (!r.square()) return r.mirrored.values;
    const double pattern = r.share_off_diagonal(r.mirrored.present);
    const double equal = r.share_off_diagonal(r.mirrored.equal);
    const auto share = [](double s) { return fmt::format("{:.1f} %", 100 * s); };
    if (r.mirrored.values == "symmetric" && equal < 1)
        return fmt::format("symmetric up to rounding, {} of the values equal across", share(equal));
    if (r.mirrored.values != "unsymmetric") return r.mirrored.values;
    if (pattern == 1)
        return fmt::format("symmetric pattern, {} of the values equal across", share(equal));
    return fmt::format("unsymmetric; {} of the entries off the diagonal face another",
                       share(pattern));
}

void print_facts(const info_arguments& o, const info_report& r) {
    const matrix_stats& s = r.stats;
    fmt::print("{}\n", o.path);
    const std::string entries =
        r.file.entries < 0 ? "" : fmt::format(", {} entries", r.file.entries);
    fmt::print("file          {}, {} {}{}\n", r.file.format, name_of(r.file.field),
               name_of(r.file.symmetry), entries);
    if (!r.dialect.empty()) fmt::print("dialect       {}\n", r.dialect);
    fmt::print("size          {} x {}, {} nonzeros\n", s.rows, s.cols, s.nnz);
    fmt::print("symmetry      {}\n", symmetry_text(r));
    fmt::print("row length    min {}, mean {:.2f}, median {:g}, max {}, deviation {:.2f}\n",
               s.min_row_nnz(), r.lengths.mean, r.lengths.median, s.max_row_nnz(),
               r.lengths.deviation);
    fmt::print("empty         {} rows, {} columns\n", s.empty_rows(), r.empty_columns);
    fmt::print("bandwidth     {}\n", s.bandwidth);
    fmt::print("diagonals     {} occupied", s.diagonals);
    if (r.square()) fmt::print(", {} of {} entries on the main one", r.mirrored.diagonal, s.rows);
    fmt::print("\n");
    if (r.distinct > max_distinct) {
        fmt::print("values        more than {} distinct\n", max_distinct);
    } else {
        fmt::print("values        {} distinct\n", r.distinct);
    }
}

void print_histogram(const info_report& r) {
    std::int64_t most = 1;
    for (const bin& b : r.bins) most = std::max(most, b.rows);
    table t({{"row length"}, {"rows"}, {"", false}});
    for (const auto& [first, last, rows] : r.bins)
        t.add_row({first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
                   fmt::format("{}", rows), bar(double(rows) / double(most), 40)});
    t.print();
}

void print_layouts(const info_report& r) {
    const double nnz = double(std::max<std::int64_t>(r.stats.nnz, 1));
    table t({{"format", false}, {"size"}, {"bytes/nonzero"}, {"", false}});
    for (const auto& [layout, of, cost, name] : r.layouts) {
        if (cost.declined.empty()) {
            t.add_row({name, text_of_bytes(cost.matrix_bytes),
                       fmt::format("{:.2f}", cost.matrix_bytes / nnz), ""});
        } else {
            t.add_row({name, "-", "-", "declines: " + cost.declined});
        }
    }
    t.print();
}

int show_info(const info_arguments& o) {
    json_file json(o.json);
    const file_info file = inspect(o.path);
    const info_report r = file.field == field::complex ? examine<std::complex<double>>(o, file)
                                                       : examine<double>(o, file);
    json.write(to_json(o, r));
    if (json.is_stdout()) return done;
    print_facts(o, r);
    fmt::print("\n");
    print_histogram(r);
    fmt::print("\n");
    print_layouts(r);
    return done;
}

}  // namespace

void add_info(const command& nz) {
    const auto sub =
        nz.add_subcommand("info", "Sizes, symmetry, row lengths, bytes in every format");
    sub.footer("Example: nz info A.mtx --json");
    const auto o = std::make_shared<info_arguments>();
    sub.add_option("matrix", o->path, matrix_help()).required();
    add_wide_option(sub);
    add_json_option(sub, o->json);
    sub.does([o] { return show_info(*o); });
}

}  // namespace nz::cli
