// MAT-files, as SciPy wrote those of test/data/mat: each holds the matrix beside it.
#include "nonzero/io/matlab.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "test/command.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

class mat_files : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!matlab::why_no_matio().empty()) GTEST_SKIP() << matlab::why_no_matio();
    }
};

TEST_F(mat_files, hold_the_matrices_beside_them) {
    using V = std::complex<double>;
    int seen = 0;
    for (const auto& path : files_of("mat/valid", ".mat")) {
        const auto want = read<V>(path.substr(0, path.size() - 4) + ".mtx");
        EXPECT_TRUE(same_matrix(read<V>(path), want)) << path;
        EXPECT_EQ(inspect(path).shape, want.shape) << path;
        ++seen;
    }
    EXPECT_GE(seen, 7);
}

TEST_F(mat_files, that_are_invalid_are_a_parse_error_that_names_them) {
    int seen = 0;
    for (const auto& path : files_of("mat/invalid", ".mat")) {
        try {
            read<double>(path);
            ADD_FAILURE() << path << " was read";
        } catch (const parse_error& e) {
            EXPECT_TRUE(std::string(e.what()).starts_with(path + ": ")) << e.what();
        }
        ++seen;
    }
    EXPECT_GE(seen, 4);
}

/// Cut short, or with a byte changed, a file is read or refused, and nothing else.
TEST_F(mat_files, survive_being_cut_and_changed) {
    const scratch_folder folder;
    const std::string cut = folder.file("A.mat");
    for (const char* name : {"plain", "compressed"}) {
        const std::string whole = slurp(std::string(NZ_TEST_DATA) + "/mat/valid/" + name + ".mat");
        for (std::size_t k = 0; k < whole.size(); k += 5) {
            std::string changed = whole;
            changed[k] = char(changed[k] ^ 0x5a);
            for (const std::string& text : {whole.substr(0, k), changed}) {
                std::ofstream(cut, std::ios::binary) << text;
                try {
                    if (const auto info = inspect(cut); info.shape.rows < 100000)
                        validate(view(read<double>(cut)));
                } catch (const parse_error&) {
                }
            }
        }
    }
}

}  // namespace
}  // namespace nz::test
