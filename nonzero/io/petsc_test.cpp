#include "nonzero/io/petsc.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// The file that PETSc's documentation of MatLoad describes, byte by byte.
std::string bytes_of(std::initializer_list<std::int32_t> numbers,
                     std::initializer_list<double> values) {
    std::string bytes;
    const auto put = [&](auto bits, int size) {
        for (int k = size - 1; k >= 0; --k) bytes += char(bits >> (8 * k) & 255);
    };
    for (const std::int32_t n : numbers) put(std::uint32_t(n), 4);
    for (const double v : values) put(std::bit_cast<std::uint64_t>(v), 8);
    return bytes;
}
void save(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

TEST(petsc, reads_what_the_format_says) {
    const scratch_folder folder;
    const std::string path = folder.file("A.petsc");
    const std::string bytes = bytes_of({1211216, 3, 4, 4, 2, 0, 2, 3, 1, 0, 2}, {1, 2, 3, -4.5});
    save(path, bytes);
    const csr<double, host> want{{3, 4}, {0, 2, 2, 4}, {1, 3, 0, 2}, {2, 1, 3, -4.5}};
    EXPECT_TRUE(same_matrix(read<double>(path), want));  // columns ascend then
    const file_info file = inspect(path);
    EXPECT_EQ(file.format, "petsc");
    EXPECT_EQ(file.entries, 4);
    write(folder.file("B.petsc"), view(want));
    save(path, bytes_of({1211216, 3, 4, 4, 2, 0, 2, 1, 3, 0, 2}, {2, 1, 3, -4.5}));
    EXPECT_EQ(std::filesystem::file_size(path), std::filesystem::file_size(folder.file("B.petsc")));
    std::ifstream a(path, std::ios::binary), b(folder.file("B.petsc"), std::ios::binary);
    EXPECT_TRUE(
        std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b)));
    save(path, bytes + bytes_of({1211214, 1}, {7}));  // a vector behind it
    EXPECT_TRUE(same_matrix(read<double>(path), want));
}

template <class V>
class petsc_files : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(petsc_files, value_types);

TYPED_TEST(petsc_files, read_back_what_was_written_bit_for_bit) {
    using V = TypeParam;
    const scratch_folder folder;
    for (const auto& [name, bug, A] : zoo<V>()) {
        write(folder.file("A.petsc"), view(A));
        EXPECT_TRUE(same_matrix(read<V>(folder.file("A.petsc")), A)) << name;
    }
}

TEST(petsc, says_what_is_wrong) {
    const scratch_folder folder;
    const std::string path = folder.file("A.petsc");
    const auto expect = [&](const std::string& bytes, const std::string& why) {
        save(path, bytes);
        try {
            (void)read<double>(path);
            ADD_FAILURE() << "expected: " << why;
        } catch (const parse_error& e) {
            EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
        }
    };
    const std::string good = bytes_of({1211216, 2, 2, 2, 1, 1, 0, 1}, {1, 2});
    for (std::size_t n = 16; n < good.size(); ++n)
        expect(good.substr(0, n), "bytes, expected 48 at least for 2 rows and 2 entries");
    expect(bytes_of({1211216, 2, 2, -1, 1, 1, 0, 1}, {1, 2}), "expected a sparse matrix");
    expect(bytes_of({1211216, 2, 2, 2, 1, 3, 0, 1}, {1, 2}), "row 2 has 3 entries");
    expect(bytes_of({1211216, 2, 2, 2, -1, 1, 0, 1}, {1, 2}), "row 1 has -1 entries");
    expect(bytes_of({1211216, 2, 2, 2, 1, 0, 0, 1}, {1, 2}), "rows of 1 entries in all");
    expect(bytes_of({1211216, 2, 2, 2, 1, 1, 0, 2}, {1, 2}), "entry 1 is in column 2");
    expect(bytes_of({1211216, 2, 2, 2, 1, 1, 0, 1}, {1, 2, 3, 4}), "complex values");
}

}  // namespace
}  // namespace nz::test
