// Files that other programs wrote (test/data/make_from_programs.py), and what is read of them.
#include <gtest/gtest.h>

#include <map>

#include "nonzero/dist/read_slice.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/io/matlab.hpp"
#include "test/files.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

using C = std::complex<double>;

const csr<double, host> matrix{
    {4, 4}, {0, 2, 4, 5, 7}, {0, 1, 1, 3, 2, 0, 3}, {4, 1, 5.5, -2, 6, 1e-3, 1.0 / 3}};
// 1 -> 2 -> 3 -> 1, or Ann -> Bo Li -> C, D -> Ann
const csr<double, host> weighted{{3, 3}, {0, 1, 2, 3}, {1, 2, 0}, {0.5, 2, 1e-3}};
const csr<double, host> plain{{3, 3}, {0, 1, 2, 3}, {1, 2, 0}, {1.0, 1.0, 1.0}};

std::vector<std::string> files_by(const std::string& program) {
    std::vector<std::string> files;
    for (const std::string& path : files_of("from_programs", ""))
        if (path.find("/from_programs/" + program) != std::string::npos) files.push_back(path);
    return files;
}
bool has(const std::string& path, const char* part) { return path.find(part) != std::string::npos; }
std::string file_by(const std::string& name) {
    return std::string(NZ_TEST_DATA) + "/from_programs/" + name;
}

/// Message of read, less the path; "read" where there is none.
std::string refusal_of(const std::string& path) {
    try {
        (void)read<double>(path);
    } catch (const parse_error& e) {
        return std::string(e.what()).substr(path.size());
    }
    return "read";
}

csr<C, host> with_imaginary(double factor) {
    csr<C, host> A{matrix.shape, matrix.row_ptr, matrix.col_ind, {}};
    for (const double v : matrix.val) A.val.push_back({v, factor == 0 ? 0 : factor * v});
    return A;
}

void expect_slices(const std::string& path) {
    on_ranks(2, [&](const communicator& ranks) {
        const auto got = read_slice<C>(ranks, path);
        const auto want = slice_of(ranks, view(read<C>(path)));
        EXPECT_TRUE(same_matrix(got.own, want.own)) << path;
    });
}

TEST(from_programs, scipys_files_hold_the_matrix) {
    for (const char* name : {"scipy_real.hb", "scipy_general.mtx", "scipy_array.mtx",
                             "scipy_csr.npz", "scipy_csc.npz", "scipy_coo.npz"})
        EXPECT_TRUE(same_matrix(read<double>(file_by(name)), matrix)) << name;
    if (matlab::why_no_matio().empty()) {
        EXPECT_TRUE(same_matrix(read<double>(file_by("scipy.mat")), matrix));
    }
    EXPECT_TRUE(same_matrix(read<C>(file_by("scipy_complex.mtx")), with_imaginary(1)));
    const csr<double, host> whole{
        {4, 4}, {0, 2, 4, 5, 6}, {0, 1, 1, 3, 2, 3}, {40, 10, 55, -20, 60, 3}};
    EXPECT_TRUE(same_matrix(read<double>(file_by("scipy_integer.hb")), whole));
    const csr<double, host> sum{{4, 4},
                                {0, 3, 6, 7, 10},
                                {0, 1, 3, 0, 1, 3, 2, 0, 1, 3},
                                {8, 1, 1e-3, 1, 11, -2, 12, 1e-3, -2, 2.0 / 3}};
    EXPECT_TRUE(same_matrix(read<double>(file_by("scipy_symmetric.mtx")), sum));
    EXPECT_EQ(inspect(file_by("scipy_symmetric.mtx")).symmetry, symmetry::symmetric);
}

TEST(from_programs, petscs_files_hold_the_matrix_whatever_is_behind_it) {
    int seen = 0;
    for (const std::string& path : files_by("petsc_")) {
        if (has(path, "refused")) continue;
        const bool is_complex = has(path, "complex");
        EXPECT_EQ(inspect(path).field, is_complex ? field::complex : field::real) << path;
        EXPECT_TRUE(same_matrix(read<C>(path), with_imaginary(0))) << path;
        if (!is_complex) {
            EXPECT_TRUE(same_matrix(read<double>(path), matrix)) << path;
        }
        expect_slices(path);
        ++seen;
    }
    EXPECT_EQ(seen, 8);
    for (const char* name :
         {"petsc_real_refused_vector_first.petsc", "petsc_complex_refused_vector_first.petsc"})
        EXPECT_EQ(refusal_of(file_by(name)),
                  ": begins with a vector of PETSc's, expected a matrix");
}

TEST(from_programs, lists_of_edges_hold_the_graph) {
    int seen = 0;
    for (const char* program : {"networkx_", "pandas_", "r_"})
        for (const std::string& path : files_by(program)) {
            if (has(path, "refused")) continue;
            const bool has_names = has(path, "names") || has(path, "blanks") || has(path, "r_tabs");
            const bool has_weights =
                !has(path, "networkx_plain") && !has(path, "pandas_unweighted");
            const auto G = read_named<double>(path);
            EXPECT_TRUE(same_matrix(G.A, has_weights ? weighted : plain)) << path;
            EXPECT_EQ(G.names.of(0), has_names ? "Ann" : "1") << path;
            EXPECT_EQ(G.names.of(1), has_names ? "Bo Li" : "2") << path;
            EXPECT_EQ(G.names.of(2), !has_names              ? "3"
                                     : has(path, "networkx") ? "C D"
                                                             : "C, D")
                << path;
            expect_slices(path);
            ++seen;
        }
    EXPECT_EQ(seen, 16);
}

TEST(from_programs, lists_that_may_be_read_in_two_ways_are_refused) {
    const std::map<std::string, std::string> refusals{
        {"pandas_refused_index.csv", ":1: 4 words, expected source target weight"},
        {"pandas_refused_utf16.csv", ":1: is text in UTF-16"},
        {"pandas_refused_decimal_commas.csv", ":2: weight '0,5' is no number"},
        {"pandas_refused_head.csv", ":1: 'who' and 'whom' are names of columns or the nodes"},
        {"r_refused_row_names.csv", ":1: 4 words, expected source target weight"},
        {"r_refused_row_names.txt", ":2: 3 words, expected source target"},
        {"r_refused_decimal_commas.csv", ":2: weight '0,5' is no number"},
    };
    std::size_t seen = 0;
    for (const char* program : {"networkx_", "pandas_", "r_"})
        for (const std::string& path : files_by(program)) {
            if (!has(path, "refused")) continue;
            ++seen;
            const std::string want = refusals.at(std::filesystem::path(path).filename());
            EXPECT_TRUE(refusal_of(path).starts_with(want)) << path << refusal_of(path);
        }
    EXPECT_EQ(seen, refusals.size());
}

TEST(from_programs, metiss_graphs_of_a_mesh) {
    // Four triangles in a row: each touches the next, and nodes 1 to 6 are joined by their edges.
    const csr<double, host> dual{{4, 4}, {0, 1, 3, 5, 6}, {1, 0, 2, 1, 3, 2}, {1, 1, 1, 1, 1, 1}};
    EXPECT_TRUE(same_matrix(read<double>(file_by("metis_dual.graph")), dual));
    const auto nodal = read<double>(file_by("metis_nodal.graph"));
    const csr<double, host> want{{6, 6},
                                 {0, 2, 5, 9, 13, 16, 18},
                                 {1, 2, 0, 2, 3, 0, 1, 3, 4, 1, 2, 4, 5, 2, 3, 5, 3, 4},
                                 host_vector<double>(18, 1.0)};
    EXPECT_TRUE(same_matrix(nodal, want));
}

}  // namespace
}  // namespace nz::test
