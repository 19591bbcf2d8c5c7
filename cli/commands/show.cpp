// nz show: the arrays of any format, as a lecturer draws them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/command.hpp"
#include "cli/read_matrix.hpp"
#include "nonzero/formats/layouts.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

constexpr std::int64_t max_side = 64;  // rows and columns; more do not fit a screen
constexpr std::int64_t max_nnz = 400;

/// What the command line gives. A number of 0 stands for the format's default.
struct options {
    std::string path, format;
    index block_side = 0, chunk = 0, hack = 0, interleave = 0, sort_scope = 0, split_width = 0;
    double least_fill = sectioning{}.least_fill;
};

std::string text(const nz::shape& s) { return fmt::format("{} x {}", s.rows, s.cols); }
template <class T>
std::string text(const T& v) {
    if constexpr (is_complex<T>) {
        return fmt::format("{}{:+}i", v.real(), v.imag());
    } else if constexpr (std::is_unsigned_v<T>) {  // yes or no an element, the first one left
        std::string bits;
        for (int k = 0; k < std::numeric_limits<T>::digits; ++k)
            bits += (v >> k & 1U) != 0 ? '1' : '.';
        return bits;
    } else {
        return fmt::format("{}", v);
    }
}

/// One array as it is printed: a cell an element, "*" for padding.
struct drawing {
    std::string name;
    std::vector<std::string> cells;
    bool holds_values = false, holds_bits = false;
};

/// Part of the stored elements as a grid: (r, c) is element start + r * row_step + c * col_step.
struct grid {
    std::string title;
    std::int64_t start, rows, cols, row_step, col_step;
};

// How each format's elements lie, for those whose rows lie in grids.
template <class F>
std::vector<grid> grids(const F&) {
    return {};
}
template <class V>
std::vector<grid> grids(const ell<V, host_view>& A) {
    return {{"", 0, A.shape.rows, A.width, 1, A.pitch}};
}
template <class V>
std::vector<grid> grids(const dia<V, host_view>& A) {
    return {{"", 0, A.shape.rows, std::int64_t(A.offsets.size()), 1, A.pitch}};
}
template <class V>
std::vector<grid> grids(const hll_rows<V, host_view>& A) {
    std::vector<grid> all;
    for (std::int64_t h = 0; h < piece_count(A); ++h) {
        const index width = A.max_nnz[std::size_t(h)];
        all.push_back({fmt::format(" of hack {}", h), A.hack_ptr[std::size_t(h)], hack_rows(A, h),
                       width, width, 1});
    }
    return all;
}
template <class F, class Piece>
std::vector<grid> panel_grids(const F& A, const char* what, Piece piece) {
    std::vector<grid> all;
    for (std::int64_t k = 0; k < piece_count(A); ++k) {
        const auto p = piece(A, k);
        all.push_back(
            {fmt::format(" of {} {}", what, k), p.val - A.val.data(), p.rows, p.width, 1, p.pitch});
    }
    return all;
}
template <class V>
std::vector<grid> grids(const hll<V, host_view>& A) {
    return panel_grids(A, "hack", [](const auto& M, std::int64_t k) { return hack(M, k); });
}
template <class V>
std::vector<grid> grids(const icrs<V, host_view>& A) {
    std::vector<grid> all;
    for (std::int64_t first = 0; first < A.shape.rows; first += A.interleave) {
        const std::int64_t rows = std::min<std::int64_t>(A.interleave, A.shape.rows - first);
        const auto* const count = A.row_count.data() + first;
        all.push_back({fmt::format(" of group {}", first / A.interleave),
                       A.row_start[std::size_t(first)], rows,
                       *std::max_element(count, count + rows), 1, A.interleave});
    }
    return all;
}
template <class V>
std::vector<grid> grids(const jds_ell<V, host_view>& A) {
    std::vector<grid> all;
    for (std::size_t s = 0; s < A.section_width.size(); ++s) {
        const std::int64_t rows = A.section_ptr[s + 1] - A.section_ptr[s];
        all.push_back({fmt::format(" of section {}", s), A.section_start[s], rows,
                       A.section_width[s], 1, rows});
    }
    return all;
}
template <class V>
std::vector<grid> grids(const sell<V, host_view>& A) {
    return panel_grids(A, "chunk", [](const auto& M, std::int64_t k) { return nz::chunk(M, k); });
}

/// The arrays of A. `numbers` is the same matrix with the values 1, 2, 3 ...: where its layout
/// holds none of them there is no entry but padding, whatever the layout marks it with.
template <class F>
std::vector<drawing> drawings_of(const F& A, const F& numbers) {
    using V = typename F::value;
    std::vector<drawing> all;
    const auto draw = [&](const auto& array, const auto& number) {
        using T = std::decay_t<decltype(array[0])>;
        drawing d{F::array_names[all.size()], {}, std::is_same_v<T, V>, std::is_unsigned_v<T>};
        for (std::size_t k = 0; k < array.size(); ++k) {
            bool padding = false;
            if constexpr (std::is_same_v<T, V>) padding = !(std::abs(number[k]) >= real<V>(1));
            d.cells.push_back(padding ? "*" : text(array[k]));
        }
        all.push_back(std::move(d));
    };
    const auto draw_all = [&](const auto&... array) {
        std::apply([&](const auto&... number) { (draw(array, number), ...); }, F::arrays(numbers));
    };
    std::apply(draw_all, F::arrays(A));
    // The column or row numbers stand before the values, element for element.
    for (std::size_t k = 1; k < all.size(); ++k) {
        if (!all[k].holds_values || all[k - 1].cells.size() != all[k].cells.size()) continue;
        for (std::size_t e = 0; e < all[k].cells.size(); ++e)
            if (all[k].cells[e] == "*") all[k - 1].cells[e] = "*";
    }
    return all;
}

/// Leaves out what is stored for alignment only: what lies between the last row and the pitch,
/// and the bits beyond a word's elements.
template <class F>
void hide_alignment(const F& A, std::vector<drawing>& all) {
    for (auto& d : all) {
        for (std::size_t k = 0; k < d.cells.size(); ++k) {
            if constexpr (requires { A.block_rows; }) {
                if (d.name == "stored") d.cells[k].resize(std::size_t(A.block_rows * A.block_cols));
            } else if constexpr (requires { A.pitch; }) {
                const std::int64_t rows_left = A.shape.rows - std::int64_t(k) * 32 % A.pitch;
                if (d.name == "stored") {
                    d.cells[k].resize(std::size_t(std::clamp<std::int64_t>(rows_left, 0, 32)));
                } else if (d.name != "offsets" && std::int64_t(k) % A.pitch >= A.shape.rows) {
                    d.cells[k].clear();
                }
            }
        }
    }
}

std::size_t widest(const std::vector<std::string>& cells) {
    std::size_t width = 0;
    for (const auto& c : cells) width = std::max(width, c.size());
    return width;
}

/// Arrays of one length share the width of their cells, so that they can be read downwards.
void print_arrays(const std::vector<drawing>& all, const std::string& prefix) {
    std::size_t name_width = 0;
    for (const auto& d : all) name_width = std::max(name_width, d.name.size());
    for (const auto& d : all) {
        std::size_t width = 0;
        for (const auto& other : all)
            if (other.cells.size() == d.cells.size() && other.holds_bits == d.holds_bits)
                width = std::max(width, widest(other.cells));
        std::string line = fmt::format("{}{:<{}} =", prefix, d.name, name_width);
        for (const auto& cell : d.cells)
            if (!cell.empty()) line += fmt::format(" {:>{}}", cell, width);
        fmt::print("{}\n", line);
    }
}

void print_grid(const grid& g, const drawing& d, const std::string& prefix) {
    const std::size_t width = widest(d.cells);
    fmt::print("\n{}{}{}, a row a line:\n", prefix, d.name, g.title);
    for (std::int64_t r = 0; r < g.rows; ++r) {
        std::string line = " ";
        for (std::int64_t c = 0; c < g.cols; ++c)
            line += fmt::format(
                " {:>{}}", d.cells[std::size_t(g.start + r * g.row_step + c * g.col_step)], width);
        fmt::print("{}\n", line);
    }
}

/// The numbers beside the shape, as "width = 3, pitch = 32".
template <class F>
void print_scalars(const F& A, const std::string& prefix) {
    std::size_t k = 0;
    std::string line;
    const auto add = [&](const auto& scalar) {
        if (k > 0)
            line += fmt::format("{}{}{} = {}", k > 1 ? ", " : "", prefix, F::scalar_names[k],
                                text(scalar));
        ++k;
    };
    std::apply([&](const auto&... scalar) { (add(scalar), ...); }, F::scalars(A));
    if (!line.empty()) fmt::print("{}\n", line);
}

template <class F>
void print_layout(const F& A, const F& numbers, const std::string& prefix = "") {
    print_scalars(A, prefix);
    auto all = drawings_of(A, numbers);
    hide_alignment(A, all);
    print_arrays(all, prefix);
    const auto pictures = grids(A);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const bool values = all[k].holds_values;
        const bool beside = k + 1 < all.size() && all[k + 1].holds_values &&
                            all[k].cells.size() == all[k + 1].cells.size();
        if (!values && !beside) continue;
        for (const grid& g : pictures) print_grid(g, all[k], prefix);
    }
}
template <class V>
void print_layout(const hyb<V, host_view>& A, const hyb<V, host_view>& numbers) {
    fmt::print("split_width = {}\n", A.split_width);
    print_layout(A.ell, numbers.ell, "ell.");
    fmt::print("\n");
    print_layout(A.coo, numbers.coo, "coo.");
}

std::string_view text(value_encoding c) {
    constexpr std::string_view names[] = {"constant", "dictionary8", "dictionary16", "float32",
                                          "none"};
    return names[int(c)];
}

/// A packed matrix, chunk by chunk: the entries of each of its diagonals, or of each of its rows.
template <class V>
void print_layout(const packed<V, host_view>& A, const packed<V, host_view>&) {
    constexpr std::string_view kinds[] = {"constant_diagonals", "diagonals", "delta16", "delta32"};
    fmt::print("encoding = {}\ntable  =", text(A.encoding));
    for (const V& v : A.table) fmt::print(" {}", text(v));
    fmt::print("\n");
    for (std::size_t k = 0; k < A.chunks.size(); ++k) {
        const packed_chunk& c = A.chunks[k];
        const bool by_diagonals = c.kind <= packed_chunk::diagonals;
        fmt::print("\nchunk {}: {}, width = {}, lanes a row = {}", k, kinds[c.kind], c.width,
                   1 << c.log_lanes);
        if (c.segments > 0) fmt::print(", segment {} of {}", c.number, c.segments);
        fmt::print("\n");
        std::map<index, std::string> lines;
        with_decoder(A, [&](auto value) {
            for_each_of_chunk(A, c, value, [&](index i, index j, V v) {
                lines[by_diagonals ? j - i : i] += fmt::format(" ({}, {}) {} ", i, j, text(v));
            });
        });
        for (const auto& [number, line] : lines)
            fmt::print("  {} {:>3}:{}\n", by_diagonals ? "diagonal" : "row", number, line);
    }
}

/// What can be shown: a format, the options that it takes, and how it is built and printed.
template <class V>
struct showable {
    std::string format;
    std::vector<std::string> options;
    std::function<void(const csr<V, host_view>& A, const csr<V, host_view>& numbers)> print;
};

index or_default(index given, index otherwise) { return given > 0 ? given : otherwise; }

/// The layout of A, as its own `from` makes it; by the options' numbers where it takes some.
template <class V, template <class, class> class L>
L<V, host> built(layout_tag<L>, const csr<V, host_view>& A, const options&) {
    return L<V, host>::from(A);
}
template <class V>
bsr<V, host> built(layout_tag<bsr>, const csr<V, host_view>& A, const options& o) {
    return o.block_side > 0 ? bsr<V, host>::from(A, o.block_side, o.block_side)
                            : bsr<V, host>::from(A);
}
template <class V>
hll<V, host> built(layout_tag<hll>, const csr<V, host_view>& A, const options& o) {
    return hll<V, host>::from(A, or_default(o.hack, hll<V, host>::default_hack_size));
}
template <class V>
hll_rows<V, host> built(layout_tag<hll_rows>, const csr<V, host_view>& A, const options& o) {
    return hll_rows<V, host>::from(A, or_default(o.hack, hll_rows<V, host>::default_hack_size));
}
template <class V>
hyb<V, host> built(layout_tag<hyb>, const csr<V, host_view>& A, const options& o) {
    return o.split_width > 0 ? hyb<V, host>::from(A, o.split_width) : hyb<V, host>::from(A);
}
template <class V>
icrs<V, host> built(layout_tag<icrs>, const csr<V, host_view>& A, const options& o) {
    const index all = std::clamp(A.shape.rows, 1, icrs<V, host>::default_interleave);
    return icrs<V, host>::from(A, or_default(o.interleave, all));
}
template <class V>
jds_ell<V, host> built(layout_tag<jds_ell>, const csr<V, host_view>& A, const options& o) {
    return jds_ell<V, host>::from(A, {.least_fill = o.least_fill});
}
template <class V>
sell<V, host> built(layout_tag<sell>, const csr<V, host_view>& A, const options& o) {
    const index all = std::clamp(A.shape.rows, 1, sell<V, host>::default_chunk);
    return sell<V, host>::from(A, or_default(o.chunk, all),
                               or_default(o.sort_scope, stats_sort_scope));
}

/// The options that a layout takes.
std::vector<std::string> options_of(const std::string& layout) {
    static const std::map<std::string, std::vector<std::string>> taken = {
        {"bsr", {"--block-side"}},
        {"hll", {"--hack"}},
        {"hll_rows", {"--hack"}},
        {"hyb", {"--split-width"}},
        {"icrs", {"--interleave"}},
        {"jds_ell", {"--least-fill"}},
        {"sell", {"--chunk", "--sort-scope"}},
    };
    const auto at = taken.find(layout);
    return at == taken.end() ? std::vector<std::string>{} : at->second;
}

template <class V>
std::vector<showable<V>> showables(const options& o) {
    std::vector<showable<V>> all;
    for_each_layout([&](auto layout, const char* name) {
        all.push_back({name, options_of(name), [=](const auto& A, const auto& numbers) {
                           const auto own = built<V>(layout, A, o);
                           const auto of_numbers = built<V>(layout, numbers, o);
                           print_layout(view(own), view(of_numbers));
                       }});
    });
    return all;
}

/// A's structure with the values 1, 2, 3 ...
template <class V>
csr<V, host> numbered(const csr<V, host_view>& A) {
    auto numbers = csr<V, host>::from(A);
    for (std::size_t k = 0; k < numbers.val.size(); ++k) numbers.val[k] = V(real<V>(k + 1));
    return numbers;
}

/// Says so where it is.
bool is_too_large(const options& o, nz::shape shape, std::int64_t entries) {
    if (shape.rows <= max_side && shape.cols <= max_side && entries <= max_nnz) return false;
    fmt::print(stderr,
               "nz: {}: {} with {} entries is too large to show; up to {} x {} with {} are\n",
               o.path, text(shape), entries, max_side, max_side, max_nnz);
    return true;
}

template <class V>
int show(const options& o, const std::vector<std::string>& given) {
    const auto all = showables<V>(o);
    const auto what =
        std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.format == o.format; });
    for (const std::string& option : given)
        if (std::find(what->options.begin(), what->options.end(), option) == what->options.end())
            throw argument_error(fmt::format("{} takes no {}", o.format, option));
    const auto own = read_matrix<V>(o.path);
    if (is_too_large(o, own.shape, std::int64_t(own.val.size()))) return answer_is_no;
    const auto A = view(own);
    const auto numbers = numbered(A);
    try {
        what->print(A, view(numbers));
    } catch (const argument_error& declined) {
        fmt::print(stderr, "nz: {}: {}\n", o.path, declined.what());
        return answer_is_no;
    }
    return done;
}

int check_and_show(const options& o, const std::vector<std::string>& given) {
    const file_info info = inspect(o.path);
    if (is_too_large(o, info.shape, info.entries)) return answer_is_no;
    return info.field == field::complex ? show<std::complex<double>>(o, given)
                                        : show<double>(o, given);
}

}  // namespace

void add_show(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("show", "The arrays of a small matrix in any format");
    sub->footer("Example: nz show A.mtx --format hll --hack 4");
    const auto o = std::make_shared<options>();
    sub->add_option("matrix", o->path, matrix_help())->required();
    std::vector<std::string> names;
    for (const auto& s : showables<double>({})) names.push_back(s.format);
    sub->add_option("--format", o->format, "format, one of " + CLI::detail::join(names))
        ->check(CLI::IsMember(names))
        ->type_name("")
        ->required();
    const auto number = [&](const char* name, index& to, const char* what) {
        sub->add_option(name, to, what)->check(CLI::PositiveNumber);
    };
    number("--block-side", o->block_side, "bsr: rows and columns of a block");
    number("--chunk", o->chunk, "sell: rows to a chunk (default: 32, or all)");
    number("--hack", o->hack, "hll, hll_rows: rows to a hack");
    number("--interleave", o->interleave, "icrs: rows to a group (default: 256, or all)");
    sub->add_option("--least-fill", o->least_fill,
                    "jds_ell: least share of a section that is not padding")
        ->check(CLI::Range(0.0, 1.0));
    number("--sort-scope", o->sort_scope, "sell: rows that are sorted together");
    number("--split-width", o->split_width, "hyb: entries of a row in its ELL part");
    sub->callback([&chosen, o, sub] {
        std::vector<std::string> given;
        for (const CLI::Option* option : sub->get_options())
            if (option->count() > 0 && option->get_name() != "--format" &&
                option->get_name().rfind("--", 0) == 0)
                given.push_back(option->get_name());
        chosen = [o, given] { return check_and_show(*o, given); };
    });
}

}  // namespace nz::cli
