// Files read by parts, against the readers of whole files.
#include "nonzero/dist/read_slice.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/assembly.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/gen/stencil_rows.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "test/files.hpp"
#include "test/thread_ranks.hpp"
#include "test/watched_memory.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// Each rank reads its rows of A, bit for bit. Where A's file lists an entry twice, ranks share the
/// rows otherwise than slice_of does.
template <class V>
void expect_slices_of(const csr<V, host>& A, int size, const std::string& path,
                      bool has_duplicates = false) {
    on_ranks(size, [&](const communicator& ranks) {
        const auto want = slice_of(ranks, view(A));
        const auto got = read_slice<V>(ranks, path);
        EXPECT_EQ(got.shape(), A.shape) << path;
        EXPECT_TRUE(has_duplicates || got.rows == want.rows) << path;
        EXPECT_TRUE(has_duplicates || got.cols == want.cols) << path;
        host_vector<index> col;
        host_vector<V> val;
        const range own = got.rows.of(ranks.rank());
        for_each_entry(view(A), own.first, own.last,
                       [&](index, index j, V v) { col.push_back(j), val.push_back(v); });
        EXPECT_TRUE(same_bits<index>(got.own.col_ind, col)) << path << ", rank " << ranks.rank();
        EXPECT_TRUE(same_bits<V>(got.own.val, val)) << path << ", rank " << ranks.rank();
        for (auto i = std::size_t(own.first); i < std::size_t(own.last); ++i)
            EXPECT_EQ(got.own.row_ptr[i + 1 - std::size_t(own.first)],
                      A.row_ptr[i + 1] - A.row_ptr[std::size_t(own.first)]);
    });
}

TEST(read_slice, reads_the_corpus_as_the_reader_of_whole_files) {
    auto paths = files_of("mtx/valid", ".mtx");
    const auto packed = files_of("mtx/valid", ".gz");
    paths.insert(paths.end(), packed.begin(), packed.end());
    ASSERT_FALSE(paths.empty());
    for (const std::string& path : paths) {
        const auto A = read<std::complex<double>>(path);
        const file_info file = inspect(path);
        const bool twice =
            file.symmetry != symmetry::general || file.entries > std::int64_t(A.val.size());
        for (const int size : {1, 2, 3, 7}) {
            expect_slices_of(A, size, path, twice);
            if (file.field != field::complex)
                expect_slices_of(read<double>(path), size, path, twice);
        }
    }
}

TEST(read_slice, reads_petsc_and_scipy_files_by_rows) {
    const scratch_folder folder;
    for (const auto& [name, bug, A] : zoo<double>())
        for (const char* file : {"A.petsc", "A.npz"}) {
            write(folder.file(file), view(A));
            for (const int size : {1, 3, 8}) expect_slices_of(A, size, folder.file(file));
        }
}

TEST(read_slice, reads_scipys_files_as_the_reader_of_whole_files) {
    for (const std::string& path : files_of("npz/valid", ".npz")) {
        const auto A = read<std::complex<double>>(path);
        for (const int size : {1, 2, 5}) expect_slices_of(A, size, path, true);
    }
    for (const std::string& path : files_of("npz/invalid", "")) {
        if (path.ends_with("wrong_checksum.npz")) continue;  // no rank sees a whole array
        const auto thrown = thrown_on_ranks(3, [&](const communicator& ranks) {
            EXPECT_THROW((void)read_slice<double>(ranks, path), parse_error) << path;
        });
        for (const auto& t : thrown) EXPECT_EQ(text_of(t), "") << path;
    }
}

/// A rank that read the whole matrix would hold eight times its rows.
TEST(read_slice, holds_little_more_than_the_rows_of_each_rank) {
    const scratch_folder folder;
    const auto A = laplace3d<double>(90, 90, 90);
    for (const char* name : {"A.petsc", "A.npz", "A.mtx"}) {
        const std::string path = folder.file(name);
        write(path, view(A));
        (void)most_bytes_held();
        on_ranks(8, [&](const communicator& ranks) { (void)read_slice<double>(ranks, path); });
        EXPECT_LE(double(most_bytes_held()), 1.6 * double(bytes(A))) << name;
    }
}

/// Each rank has entries in every row, in pieces of which some are longer than others.
TEST(read_slice, sums_what_several_ranks_have_in_the_files_order) {
    const scratch_folder folder;
    constexpr int n = 40, times = 700;
    std::string text = "%%MatrixMarket matrix coordinate real general\n40 40 28000\n";
    for (int k = 0; k < n * times; ++k) {  // values whose sum depends on its order
        const int i = k % n + 1, j = (k / 97) % 3 == 0 ? i : k % 7 + 1;
        text += fmt::format("{} {} {}\n", i, j, 1e16 / (1 + k % 13) * (k % 2 == 0 ? 1 : -1) + k);
    }
    std::ofstream(folder.file("A.mtx")) << text << std::string(300000, '\n');
    const auto A = read<double>(folder.file("A.mtx"));
    for (const int size : {1, 2, 5}) expect_slices_of(A, size, folder.file("A.mtx"), true);
}

TEST(row_filler, tells_of_other_entries_than_were_counted) {
    for (const int more : {-1, 1})
        for (const auto& t : thrown_on_ranks(3, [&](const communicator& ranks) {
                 row_counter counter(ranks, 7);
                 const index first[] = {index(ranks.rank()), 6, 6}, col[] = {0, 0, 0, 0};
                 counter.add(first);
                 row_filler<double> rows(ranks, counter.finish(), 7);
                 const double val[] = {1, 1, 1, 1};
                 const index second[] = {index(ranks.rank()), 6, 6, 6};
                 const auto count = std::size_t(ranks.rank() == 1 ? 3 + more : 3);
                 rows.add(std::span(second).first(count), std::span(col).first(count),
                          std::span(val).first(count));
                 (void)rows.finish();
             }))
            EXPECT_EQ(text_of(t), more > 0 ? "a row has more entries than were counted"
                                           : "a row has fewer entries than were counted");
}

TEST(read_slice, reads_compressed_files) {
    const scratch_folder folder;
    const auto A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    for (const char* name : {"A.mtx.gz", "A.npz"}) {
        write(folder.file(name), view(A));
        expect_slices_of(A, 3, folder.file(name));
    }
}

TEST(read_slice, reads_edge_lists) {
    const scratch_folder folder;
    std::ofstream(folder.file("a.txt")) << "# source target\n0 1\n1 2\n2 0\n2 3\n3 4\n4 0\n";
    const auto A = read<double>(folder.file("a.txt"));
    for (const int size : {1, 3, 7}) expect_slices_of(A, size, folder.file("a.txt"));
}

TEST(read_slice, refuses_standard_input) {
    on_ranks(2, [&](const communicator& ranks) {
        EXPECT_THROW((void)read_slice<double>(ranks, "-"), argument_error);
    });
}

TEST(read_slice, finds_the_same_fault_as_the_reader_of_whole_files) {
    for (const std::string& path : files_of("mtx/invalid", "")) {
        std::string want;
        try {
            (void)read<double>(path);
            FAIL() << path << " can be read";
        } catch (const parse_error& e) {
            want = e.what();
        }
        for (const int size : {1, 2, 5}) {
            const auto thrown = thrown_on_ranks(size, [&](const communicator& ranks) {
                try {
                    (void)read_slice<double>(ranks, path);
                } catch (const parse_error& e) {
                    EXPECT_NE(dynamic_cast<const agreed_error*>(&e), nullptr);
                    throw;
                }
            });
            for (const auto& t : thrown) EXPECT_EQ(text_of(t), want) << size << " ranks";
        }
    }
}

/// A file whose entries come in any order, with duplicates, comments and lines of any length.
std::string awkward_text(const std::string& kind, bool last_newline) {
    std::string text = "%%MatrixMarket matrix coordinate real " + kind + "\n% a comment\n9 9 12\n";
    const int place[12][2] = {{9, 1}, {3, 2}, {3, 2}, {1, 1}, {5, 4}, {9, 9},
                              {2, 1}, {7, 3}, {8, 8}, {3, 2}, {6, 5}, {9, 1}};
    for (int k = 0; k < 12; ++k) {
        if (k % 5 == 2) text += k == 2 ? "\n" : "% 1 1 1\r\n";
        text += std::string(std::size_t(k % 3), ' ') + std::to_string(place[k][0]) + "  " +
                std::to_string(place[k][1]) + " " + std::to_string(0.1 * k + 1e-9 * k) +
                (k % 4 == 0 ? "\r\n" : "\n");
    }
    if (!last_newline) text.pop_back();
    return text;
}

TEST(read_part, has_every_line_once_wherever_the_file_is_cut) {
    const scratch_folder folder;
    const std::string path = folder.file("A.mtx");
    for (const char* kind : {"general", "symmetric"})
        for (const bool last_newline : {true, false}) {
            std::ofstream(path, std::ios::binary) << awkward_text(kind, last_newline);
            const auto h = matrix_market::read_header(path);
            const std::int64_t end = file_bytes(path);
            const auto whole = matrix_market::read_part<double>(path, h, h.body, end);
            EXPECT_EQ(whole.entries, 12);
            for (std::int64_t cut = h.body; cut <= end; ++cut) {
                auto both = matrix_market::read_part<double>(path, h, h.body, cut);
                const auto rest = matrix_market::read_part<double>(path, h, cut, end);
                EXPECT_FALSE(both.faulty || rest.faulty);
                EXPECT_EQ(both.entries + rest.entries, 12) << "cut at byte " << cut;
                both.row.insert(both.row.end(), rest.row.begin(), rest.row.end());
                both.col.insert(both.col.end(), rest.col.begin(), rest.col.end());
                both.val.insert(both.val.end(), rest.val.begin(), rest.val.end());
                EXPECT_EQ(both.row, whole.row) << "cut at byte " << cut;
                EXPECT_EQ(both.col, whole.col) << "cut at byte " << cut;
                EXPECT_EQ(both.val, whole.val) << "cut at byte " << cut;
            }
            for (int size = 1; size <= 16; size += 3)
                expect_slices_of(read<double>(path), size, path, true);
        }
}

TEST(read_slice, a_file_that_one_rank_lacks_is_told_by_all) {
    const scratch_folder folder;
    const auto A = from_rule<double>(4, 4, [](index, index, double) { return true; });
    write(folder.file("A.mtx"), view(A));
    const auto thrown = thrown_on_ranks(3, [&](const communicator& ranks) {
        (void)read_slice<double>(ranks, folder.file(ranks.rank() == 1 ? "B.mtx" : "A.mtx"));
    });
    for (const auto& t : thrown)
        EXPECT_NE(text_of(t).find("B.mtx: cannot open"), std::string::npos) << text_of(t);
}

TEST(read_vector_slice, reads_arrays_and_coordinates) {
    const scratch_folder folder;
    const auto x = random_vector<double>(37, 4);
    write_vector<double>(folder.file("x.mtx"), x);
    write_vector<double>(folder.file("x.mtx.gz"), x);
    std::ofstream(folder.file("s.mtx"))
        << "%%MatrixMarket matrix coordinate real general\n1 37 2\n1 30 2.5\n1 3 1\n";
    host_vector<double> sparse(37, 0);
    sparse[29] = 2.5, sparse[2] = 1;
    on_ranks(4, [&](const communicator& ranks) {
        const shares all = equal_shares(37, 4);
        for (const char* name : {"x.mtx", "x.mtx.gz", "s.mtx"}) {
            const auto& want = name[0] == 's' ? sparse : x;
            const auto mine = slice_of<double>(all, ranks.rank(), want);
            EXPECT_TRUE(
                same_bits<double>(read_vector_slice<double>(ranks, folder.file(name), all), mine))
                << name;
        }
    });
    const auto thrown = thrown_on_ranks(2, [&](const communicator& ranks) {
        (void)read_vector_slice<double>(ranks, folder.file("x.mtx"), equal_shares(36, 2));
    });
    for (const auto& t : thrown)
        EXPECT_EQ(text_of(t), folder.file("x.mtx") + ": 37 elements, expected 36");
}

TEST(transpose_over_ranks, is_the_transpose) {
    for (const auto& m : zoo<double>()) {
        const auto T = transpose(view(m.A));
        on_ranks(3, [&](const communicator& ranks) {
            const auto slice = slice_of(ranks, view(m.A));
            const auto got = transpose(ranks, slice);
            EXPECT_EQ(got.rows, slice.cols);
            const range own = got.rows.of(ranks.rank());
            for (auto i = std::size_t(own.first); i < std::size_t(own.last); ++i) {
                const auto k = i - std::size_t(own.first);
                EXPECT_EQ(got.own.row_ptr[k + 1] - got.own.row_ptr[k],
                          T.row_ptr[i + 1] - T.row_ptr[i]);
            }
            EXPECT_TRUE(
                on_all(&ranks, std::equal(got.own.val.begin(), got.own.val.end(),
                                          T.val.begin() + T.row_ptr[std::size_t(own.first)])))
                << m.name;
        });
    }
}

TEST(stencil_rows, are_those_of_the_whole_matrix) {
    const auto check = [](const csr<double, host>& A, auto rows_between) {
        on_ranks(5, [&](const communicator& ranks) {
            const shares rows = equal_shares(A.shape.rows, 5);
            const auto slice =
                slice_from(ranks, csr<double, host>(rows_between(rows.of(ranks.rank()))));
            EXPECT_EQ(slice.rows, rows);
            EXPECT_TRUE(same_matrix(slice.own, rows_of(view(A), rows.of(ranks.rank()))));
        });
    };
    check(laplace2d<double>(5, 3), [](range r) { return laplace2d_rows<double>(5, 3, r); });
    check(laplace3d<double>(5, 3, 2), [](range r) { return laplace3d_rows<double>(5, 3, 2, r); });
    check(laplace27<double>(5, 3, 4), [](range r) { return laplace27_rows<double>(5, 3, 4, r); });
    EXPECT_THROW(laplace2d_rows<double>(5, 3, {3, 16}), argument_error);
    EXPECT_THROW(laplace2d_rows<double>(5, 3, {4, 3}), argument_error);
}

TEST(is_symmetric_over_ranks, tells_by_every_entry) {
    auto A = from_rule<double>(50, 50, [](index i, index j, double) { return (i + j) % 7 < 2; });
    for (double& v : A.val) v = 3;
    for (const bool spoilt : {false, true}) {
        if (spoilt) A.val[A.val.size() - 2] = 4;
        on_ranks(4, [&](const communicator& ranks) {
            EXPECT_EQ(is_symmetric(ranks, slice_of(ranks, view(A))), !spoilt);
        });
    }
}

}  // namespace
}  // namespace nz::test
