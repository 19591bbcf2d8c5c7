#include "nonzero/io/io.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "nonzero/io/edge_list.hpp"
#include "nonzero/io/file_formats.hpp"
#include "nonzero/io/matlab.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"
#include "nonzero/io/matrix_market/matrix_market_header.hpp"
#include "nonzero/io/metis_graph.hpp"
#include "nonzero/io/npz.hpp"
#include "nonzero/io/petsc.hpp"
#include "nonzero/io/rutherford_boeing/rutherford_boeing.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

namespace {

template <class V>
using reader = named_matrix<V> (*)(const std::string&, const read_options&);

/// A format and its reader.
struct door {
    file_format format;
    file_info (*inspect)(const std::string&);
    std::tuple<reader<float>, reader<double>, reader<std::complex<float>>,
               reader<std::complex<double>>>
        read;
};

template <class V>
named_matrix<V> named(csr<V, host>&& A) {
    return {std::move(A), {}};
}
template <class V>
named_matrix<V> named(named_matrix<V>&& A) {
    return std::move(A);
}

/// Read is a function object: what it gives for V, a matrix with names or without.
template <class Read>
door make_door(const file_format& f, file_info (*inspect)(const std::string&), Read) {
    const auto of = []<class V>(V) -> reader<V> {
        return [](const std::string& path, const read_options& o) {
            return named(Read()(V(), path, o));
        };
    };
    return {f,
            inspect,
            {of(float()), of(double()), of(std::complex<float>()), of(std::complex<double>())}};
}

constexpr std::string_view matrix_market_endings[] = {".mtx"};
constexpr std::string_view npz_endings[] = {".npz"};
constexpr std::string_view petsc_endings[] = {".petsc"};
constexpr std::string_view matlab_endings[] = {".mat"};
constexpr std::string_view edge_list_endings[] = {".txt", ".tsv",   ".csv",     ".el",
                                                  ".wel", ".edges", ".edgelist"};
constexpr std::string_view metis_endings[] = {".graph", ".metis"};
constexpr std::string_view rutherford_boeing_endings[] = {
    ".rb",  ".hb",  ".rua", ".rsa", ".rza", ".rra", ".cua", ".csa", ".cza",
    ".cha", ".cra", ".pua", ".psa", ".pra", ".iua", ".isa", ".ira"};

enum kind { market, npz_archive, petsc_file, mat_file, edges, metis, boeing };

/// The list of all formats, in the order of `kind`.
const auto& doors() {
    static const std::array all{
        // which takes no memory that could be missing
        make_door({"Matrix Market", matrix_market_endings, true, true}, matrix_market::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return matrix_market::read<decltype(v)>(path, o);
                  }),
        make_door({"SciPy", npz_endings, false, true}, npz::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return npz::read<decltype(v)>(path, o);
                  }),
        make_door({"PETSc", petsc_endings, false, true}, petsc::inspect,
                  [](auto v, const std::string& path, const read_options&) {
                      return petsc::read<decltype(v)>(path);
                  }),
        make_door({"MATLAB", matlab_endings, false, false}, matlab::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return matlab::read<decltype(v)>(path, o);
                  }),
        make_door({"edge list", edge_list_endings, true, false}, edge_list::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return edge_list::read<decltype(v)>(path, o);
                  }),
        make_door({"METIS", metis_endings, true, false}, metis_graph::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return metis_graph::read<decltype(v)>(path, o);
                  }),
        make_door({"Rutherford-Boeing", rutherford_boeing_endings, true, false},
                  rutherford_boeing::inspect,
                  [](auto v, const std::string& path, const read_options& o) {
                      return rutherford_boeing::read<decltype(v)>(path, o);
                  }),
    };
    return all;
}

bool ends_as(std::string path, const file_format& f) {
    std::transform(path.begin(), path.end(), path.begin(), matrix_market::lower);
    if (f.text && path.ends_with(".gz")) path.resize(path.size() - 3);
    return std::any_of(f.endings.begin(), f.endings.end(),
                       [&](std::string_view ending) { return path.ends_with(ending); });
}

const door& found_door(const std::string& path) {
    const auto& all = doors();
    const content c = content_of(path);
    if (c == content::zip) return all[npz_archive];
    if (c == content::matlab) return all[mat_file];
    if (petsc::is_petsc(path)) return all[petsc_file];
    if (matrix_market::has_banner(path)) return all[market];
    for (const door& d : all)
        if (ends_as(path, d.format)) return d;
    return all[path == "-" ? edges : market];
}

const door& door_of(const std::string& path) {
    const door& d = found_door(path);
    if (d.format.text) expect_utf8(path);
    return d;
}

}  // namespace

std::span<const file_format> file_formats() {
    static const auto all = [] {
        std::array<file_format, std::tuple_size_v<std::decay_t<decltype(doors())>>> formats;
        std::transform(doors().begin(), doors().end(), formats.begin(),
                       [](const door& d) { return d.format; });
        return formats;
    }();
    return all;
}

file_info inspect(const std::string& path) { return door_of(path).inspect(path); }

template <class V>
named_matrix<V> read_named(const std::string& path, const read_options& options) {
    return std::get<reader<V>>(door_of(path).read)(path, options);
}

template <class V>
csr<V, host> read(const std::string& path, const read_options& options) {
    return read_named<V>(path, options).A;
}

std::string node_names::of(index row) const {
    if (!name.empty()) return name[std::size_t(row)];
    return std::to_string(number.empty() ? std::int64_t(row) : number[std::size_t(row)]);
}

template <class V>
void write(const std::string& path, const csr<V, host_view>& any_A, const write_options& options) {
    const ascending in_order(any_A);
    const csr<V, host_view>& A = in_order.view();
    const bool is_npz = path.ends_with(".npz");
    if (is_npz || path.ends_with(".petsc")) {
        if (options.store != symmetry::general)
            throw argument_error(std::string("write: ") + (is_npz ? ".npz" : ".petsc") +
                                 " stores no symmetry, only .mtx does");
        is_npz ? npz::write(path, A) : petsc::write(path, A);
    } else if (path == "-" || path.ends_with(".mtx") || path.ends_with(".mtx.gz")) {
        matrix_market::write(path, A, options.store, path.ends_with(".gz"));
    } else {
        throw argument_error("write: " + path + " ends in none of .mtx, .mtx.gz, .npz, .petsc");
    }
}

template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& options) {
    if (content_of(path) == content::zip)
        throw parse_error(path, 0, "is an archive, expected a Matrix Market vector");
    expect_utf8(path);
    return matrix_market::read_vector<V>(path, options);
}

template <class V>
void write_vector(const std::string& path, std::span<const V> x) {
    if (path != "-" && !path.ends_with(".mtx") && !path.ends_with(".mtx.gz"))
        throw argument_error("write_vector: " + path + " ends in none of .mtx, .mtx.gz");
    matrix_market::write_vector(path, x, path.ends_with(".gz"));
}

#define NZ_INSTANTIATE(V)                                                                    \
    template csr<V, host> read(const std::string&, const read_options&);                     \
    template named_matrix<V> read_named(const std::string&, const read_options&);            \
    template void write(const std::string&, const csr<V, host_view>&, const write_options&); \
    template host_vector<V> read_vector(const std::string&, const read_options&);            \
    template void write_vector(const std::string&, std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
