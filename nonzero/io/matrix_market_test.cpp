#include "nonzero/io/matrix_market.hpp"

#include <gtest/gtest.h>

#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class matrix_market_files : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(matrix_market_files, value_types);

TYPED_TEST(matrix_market_files, read_back_what_was_written_bit_for_bit) {
    using V = TypeParam;
    const scratch_folder folder;
    for (const auto& [name, bug, A] : zoo<V>()) {
        for (const char* ending : {".mtx", ".mtx.gz"}) {
            const std::string path = folder.file(std::string("zoo") + ending);
            write(path, view(A));
            EXPECT_TRUE(same_matrix(read<V>(path), A)) << name << ending;
        }
    }
}

}  // namespace
}  // namespace nz::test
