// nz show: the arrays of any format, as a lecturer draws them, or all of them as a page.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "cli/command.hpp"
#include "cli/explorer/built.hpp"
#include "cli/explorer/drawing.hpp"
#include "cli/explorer/explorer.hpp"
#include "cli/explorer/library.hpp"
#include "cli/page/page.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

/// Arguments of the command line.
struct show_arguments {
    std::string path, format, output, live;
    bool html = false;
    layout_options layout;
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
    const auto all = drawings_of(A, numbers);
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

std::string_view encoding_name(value_encoding c) {
    constexpr std::string_view names[] = {"constant", "dictionary8", "dictionary16", "float32",
                                          "none"};
    return names[int(c)];
}

/// A packed matrix, chunk by chunk: the entries of each of its diagonals, or of each of its rows.
template <class V>
void print_layout(const packed<V, host_view>& A, const packed<V, host_view>&) {
    constexpr std::string_view kinds[] = {"constant_diagonals", "diagonals", "delta16", "delta32"};
    fmt::print("encoding = {}\ntable  =", encoding_name(A.encoding));
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

/// A format that can be shown, the options that it takes, and how it is built and printed.
template <class V>
struct showable {
    std::string format;
    std::vector<std::string> options;
    std::function<void(const csr<V, host_view>& A, const csr<V, host_view>& numbers)> print;
};

template <class V>
std::vector<showable<V>> showables(const show_arguments& o) {
    std::vector<showable<V>> all;
    for_each_layout([&](auto layout, const char* name) {
        all.push_back({name, options_of(name), [=](const auto& A, const auto& numbers) {
                           const auto own = built<V>(layout, A, o.layout);
                           const auto of_numbers = built<V>(layout, numbers, o.layout);
                           print_layout(view(own), view(of_numbers));
                       }});
    });
    return all;
}

/// Says so where it is.
bool is_too_large(const show_arguments& o, nz::shape shape, std::int64_t entries) {
    const std::string why = why_too_large(shape, entries);
    if (!why.empty()) fmt::print(stderr, "nz: {}: {}\n", o.path, why);
    return !why.empty();
}

/// The bytes of a WebAssembly file.
std::string read_wasm(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw error(path + ": cannot open");
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (!bytes.starts_with(std::string_view("\0asm", 4)))
        throw parse_error(path, 0, "is no WebAssembly, expected what scripts/live-explorer makes");
    return bytes;
}

/// The matrices of the page that the command brings itself. Where the page can lay them out, those
/// behind the first are entries alone.
json library_json(const show_arguments& o) {
    json all = json::array();
    for (const library_matrix& m : library()) {
        const bool whole = o.live.empty() || all.empty();
        json j = whole ? explored(m.name, view(m.A), o.layout)
                       : json{{"matrix", matrix_json(m.name, view(m.A))}};
        j["about"] = m.about;
        all.push_back(std::move(j));
    }
    return all;
}

/// The page of those matrices, with all formats.
int write_page(const show_arguments& o, json matrices) {
    json data = {{"matrices", std::move(matrices)}, {"first", o.format.empty() ? "csr" : o.format}};
    if (!o.live.empty()) data["live"] = base64(read_wasm(o.live));
    atomic_file page(o.output);
    page.write(explorer_page(data));
    page.commit();
    return done;
}

template <class V>
int write_page_of_file(const show_arguments& o) {
    const auto own = read_matrix<V>(o.path);
    if (is_too_large(o, own.shape, std::int64_t(own.val.size()))) return answer_is_no;
    json matrices = json::array();
    matrices.push_back(explored(matrix_name(o.path), view(own), o.layout));
    return write_page(o, std::move(matrices));
}

template <class V>
int show(const show_arguments& o, const std::vector<std::string>& given) {
    if (o.html) return write_page_of_file<V>(o);
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

int show_as_type(const show_arguments& o, const std::vector<std::string>& given) {
    return inspect(o.path).field == field::complex ? show<std::complex<double>>(o, given)
                                                   : show<double>(o, given);
}

/// CSR where no format was asked for, and which others there are.
int show_csr(show_arguments o, const std::vector<std::string>& given) {
    o.format = "csr";
    const int code = show_as_type(o, given);
    if (code != done) return code;
    std::vector<std::string> others;
    for (const auto& s : showables<double>({}))
        if (s.format != o.format) others.push_back(s.format);
    const std::string text = fmt::format(
        "This is csr. --format draws it as one of {}; --html -o A.html writes a page of all.",
        fmt::join(others, ", "));
    fmt::print("\n{}\n", wrapped(text, line_width(stdout)));
    return done;
}

int check_and_show(const show_arguments& o, const std::vector<std::string>& given) {
    constexpr std::string_view html_ending[] = {".html"};
    if (o.html == o.output.empty())
        throw argument_error("--html and -o FILE.html go together: the page is a file");
    if (!o.html && o.path.empty())
        throw argument_error("nz show takes a matrix, or --html for a page of its own ones");
    if (!o.html && !o.live.empty()) throw argument_error("--live goes with --html");
    expect_writable(o.output, html_ending);
    if (o.path.empty()) return write_page(o, library_json(o));
    const file_info info = inspect(o.path);
    if (is_too_large(o, info.shape, info.entries)) return answer_is_no;
    return o.html || !o.format.empty() ? show_as_type(o, given) : show_csr(o, given);
}

}  // namespace

void add_show(const command& nz) {
    const auto sub = nz.add_subcommand("show", "The arrays of a small matrix in any format");
    sub.footer(
        "--html writes a page that opens from the disk: all formats, and their GPU kernels step "
        "by\n"
        "step; without a matrix, of seven that teach. docs/show.md says how to read it.\n\n"
        "Example: nz show A.mtx --format hll --hack 4\n"
        "         nz show A.mtx --html -o show.html");
    const auto o = std::make_shared<show_arguments>();
    sub.add_option("matrix", o->path, matrix_help());
    std::vector<std::string> names;
    for (const auto& s : showables<double>({})) names.push_back(s.format);
    sub.add_option("--format", o->format,
                   fmt::format("format, one of {} (default: csr)", fmt::join(names, ", ")))
        .one_of_unlisted(names);
    sub.add_flag("--html", o->html, "write a page with all formats, --format first");
    sub.add_option("-o,--output", o->output, "file for the page: .html, or - for stdout")
        .type_name("FILE");
    sub.add_option("--live", o->live,
                   "file that scripts/live-explorer makes: the page lays out typed matrices")
        .type_name("FILE");
    const auto number = [&](const char* name, index& to, const char* what) {
        sub.add_option(name, to, what).number<int>({.least = 1});
    };
    layout_options& l = o->layout;
    number("--block-side", l.block_side, "bsr: rows and columns of a block");
    number("--chunk", l.chunk, "sell: rows to a chunk (default: 32, or all)");
    number("--hack", l.hack, "hll, hll_rows: rows to a hack");
    number("--interleave", l.interleave, "icrs: rows to a group (default: 256, or all)");
    sub.add_option("--least-fill", l.least_fill,
                   "jds_ell: least share of a section that is not padding")
        .number<double>({0, 1});
    number("--sort-scope", l.sort_scope, "sell: rows that are sorted together");
    number("--split-width", l.split_width, "hyb: entries of a row in its ELL part");
    sub.does([o, sub] {
        std::vector<std::string> given = sub.given();
        std::erase_if(given, [](const std::string& name) {
            return name == "--format" || name == "--html" || name == "--output" || name == "--live";
        });
        return check_and_show(*o, given);
    });
}

}  // namespace nz::cli
