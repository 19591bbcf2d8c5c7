#include "nonzero/io/matrix_market.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "test/zoo.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;

/// A directory of its own, removed at the end.
class scratch {
  public:
    scratch() : at_(fs::temp_directory_path() / ("nonzero-mtx-" + std::to_string(::getpid()))) {
        fs::create_directories(at_);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { fs::remove_all(at_); }
    [[nodiscard]] std::string file(const std::string& name) const { return at_ / name; }

  private:
    fs::path at_;
};

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

template <class V>
void expect_same(const csr<V, host>& A, const csr<V, host>& B, const std::string& what) {
    EXPECT_EQ(A.shape, B.shape) << what;
    EXPECT_TRUE(A.row_ptr == B.row_ptr) << what;
    EXPECT_TRUE(same_bits<index>(A.col_ind, B.col_ind)) << what;
    EXPECT_TRUE(same_bits<V>(A.val, B.val)) << what;
}

template <class V>
class matrix_market_files : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(matrix_market_files, value_types);

TYPED_TEST(matrix_market_files, read_back_what_was_written_bit_for_bit) {
    using V = TypeParam;
    const scratch dir;
    for (const auto& [name, bug, A] : zoo<V>()) {
        for (const char* ending : {".mtx", ".mtx.gz"}) {
            const std::string path = dir.file(std::string("zoo") + ending);
            write(path, view(A));
            expect_same(read<V>(path), A, name + ending);
        }
    }
}

}  // namespace
}  // namespace nz::test
