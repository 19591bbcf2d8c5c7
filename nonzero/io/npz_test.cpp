#include "nonzero/io/npz.hpp"
#include "nonzero/matrix/transpose.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class npz_files : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(npz_files, value_types);

TYPED_TEST(npz_files, read_back_what_was_written_bit_for_bit) {
    using V = TypeParam;
    const scratch_folder folder;
    const std::string path = folder.file("A.npz");
    for (const auto& [name, bug, A] : zoo<V>()) {
        write(path, view(A));
        EXPECT_TRUE(same_matrix(read<V>(path), A)) << name;
        const file_info info = inspect(path);
        EXPECT_EQ(info.format, "npz");
        EXPECT_EQ(info.shape, A.shape) << name;
        EXPECT_EQ(info.entries, std::int64_t(A.val.size())) << name;
        EXPECT_EQ(info.field, is_complex<V> ? field::complex : field::real) << name;
    }
}

TEST(npz, every_valid_file_holds_the_matrix_beside_it) {
    using V = std::complex<double>;
    int seen = 0;
    for (const auto& path : files_of("npz/valid", ".npz")) {
        const auto want = read<V>(path.substr(0, path.size() - 4) + ".mtx");
        EXPECT_TRUE(same_matrix(read<V>(path), want)) << path;
        ++seen;
    }
    EXPECT_GE(seen, 29);
}

TEST(npz, every_invalid_file_is_a_parse_error_that_names_it) {
    int seen = 0;
    for (const auto& path : files_of("npz/invalid", ".npz")) {
        try {
            read<double>(path);
            ADD_FAILURE() << path << " was read";
        } catch (const parse_error& e) {
            EXPECT_TRUE(std::string(e.what()).starts_with(path + ": ")) << e.what();
            EXPECT_GT(std::string(e.what()).size(), path.size() + 10) << e.what();
        }
        ++seen;
    }
    EXPECT_GE(seen, 60);
}

TEST(npz, complex_values_are_no_real_ones) {
    const std::string path = std::string(NZ_TEST_DATA) + "/npz/valid/csr_c16.npz";
    EXPECT_THROW(read<double>(path), parse_error);
}

TEST(npz, a_symmetry_cannot_be_stored) {
    const scratch_folder folder;
    const csr<double, host> A{{1, 1}, {0, 1}, {0}, {1.0}};
    EXPECT_THROW(write(folder.file("A.npz"), view(A), {.store = symmetry::symmetric}),
                 argument_error);
}

TEST(npz, goes_to_scipy_and_comes_back) {
    if (std::system("python3 -c 'import scipy.sparse' 2>/dev/null") != 0)
        GTEST_SKIP() << "python3 with SciPy is not here";
    const scratch_folder folder;
    using V = std::complex<float>;
    const auto A = from_rule<V>(80, 33, [](index, index, double u) { return u > 0.8; });
    write(folder.file("A.npz"), view(A));
    std::ofstream(folder.file("t.py")) << R"(
import sys
import scipy.sparse as sp
A = sp.load_npz(sys.argv[1] + '/A.npz')
assert A.format == 'csr' and A.shape == (80, 33) and A.dtype == 'complex64', A
assert A.has_canonical_format
sp.save_npz(sys.argv[1] + '/B.npz', A.T.tocsc())
)";
    const std::string command = "python3 " + folder.file("t.py") + " " + folder.file(".");
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(same_matrix(read<V>(folder.file("B.npz")), transpose(view(A))));
}

}  // namespace
}  // namespace nz::test
