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
/// The same of whole numbers of 64 bits, as builds of PETSc with such indices write them.
std::string wide_bytes_of(std::initializer_list<std::int64_t> numbers,
                          std::initializer_list<double> values) {
    std::string bytes;
    for (const std::int64_t n : numbers) {
        const auto bits = std::uint64_t(n);
        for (int k = 7; k >= 0; --k) bytes += char(bits >> (8 * k) & 255);
    }
    return bytes + bytes_of({}, values);
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

/// Message of read for a file of these bytes, as real numbers; "read" where there is none.
std::string verdict_on(const std::string& bytes) {
    const scratch_folder folder;
    save(folder.file("A.petsc"), bytes);
    try {
        (void)read<double>(folder.file("A.petsc"));
    } catch (const parse_error& e) {
        return e.what();
    }
    return "read";
}

// | 4 1 . |
// | . 5 . |
// | . . 6 |
const csr<double, host> matrix{{3, 3}, {0, 2, 3, 4}, {0, 1, 1, 2}, {4, 1, 5, 6}};
const std::string real_matrix = bytes_of({1211216, 3, 3, 4, 2, 1, 1, 0, 1, 1, 2}, {4, 1, 5, 6});
const std::string complex_matrix =
    bytes_of({1211216, 3, 3, 4, 2, 1, 1, 0, 1, 1, 2}, {4, 0, 1, 0, 5, 0, 6, -1});

std::string zeros(std::size_t n) { return std::string(n, '\0'); }

TEST(petsc, objects_behind_a_matrix_tell_what_its_values_are) {
    const scratch_folder folder;
    const std::string path = folder.file("A.petsc");
    const auto vec = [](std::int32_t n, std::size_t bytes_each) {
        return bytes_of({1211214, n}, {}) + zeros(std::size_t(n) * bytes_each);
    };
    const std::string indices = bytes_of({1211218, 3, 0, 1, 2}, {});
    const std::string dense = bytes_of({1211216, 2, 3, -1}, {1, 2, 3, 4, 5, 6});
    const std::string real_rests[] = {
        vec(3, 8),  // the file is then as long as one of complex values
        vec(0, 8),
        vec(3, 8) + vec(3, 8),
        indices,
        bytes_of({1211218, 6}, {}) + zeros(24),  // as long as complex values, too
        real_matrix,
        dense + vec(3, 8),
        vec(1, 8) + bytes_of({1211223, 0}, {}),  // a KSP, whose length nobody tells
        vec(3, 8) + indices + bytes_of({1211223, 0}, {}),
        vec(3, 8) + vec(3, 8).substr(0, 20),
    };
    for (const std::string& rest : real_rests) {
        save(path, real_matrix + rest);
        EXPECT_EQ(inspect(path).field, field::real) << rest.size();
        EXPECT_TRUE(same_matrix(read<double>(path), matrix)) << rest.size();
    }
    using C = std::complex<double>;
    const csr<C, host> want{{3, 3}, {0, 2, 3, 4}, {0, 1, 1, 2}, {C(4), C(1), C(5), C(6, -1)}};
    for (const std::string& rest :
         {std::string(), vec(3, 16), vec(0, 16), indices, complex_matrix + vec(3, 16)}) {
        save(path, complex_matrix + rest);
        EXPECT_EQ(inspect(path).field, field::complex) << rest.size();
        EXPECT_TRUE(same_matrix(read<C>(path), want)) << rest.size();
    }
}

TEST(petsc, refuses_values_that_nothing_tells_of) {
    const std::string doubt = "expected 76 for real values, 108 for complex ones, or other objects";
    for (std::size_t n = 77; n < 108; ++n)  // complex values that are cut off were real once
        EXPECT_NE(verdict_on(complex_matrix.substr(0, n)).find(doubt), std::string::npos) << n;
    EXPECT_NE(verdict_on(complex_matrix + "behind").find(doubt), std::string::npos);
    // A vector that is cut off just where complex values would end.
    const std::string cut = real_matrix + bytes_of({1211214, 9}, {1, 2, 3});
    EXPECT_NE(verdict_on(cut).find(doubt), std::string::npos);
    // A build with single precision: 8 values of 4 bytes and a vector of 6 such, as long as 8 of 8.
    const std::string single = bytes_of({1211216, 1, 8, 8, 8, 0, 1, 2, 3, 4, 5, 6, 7}, {}) +
                               zeros(32) + bytes_of({1211214, 6}, {}) + zeros(24);
    EXPECT_NE(verdict_on(single).find("single precision"), std::string::npos);
}

TEST(petsc, reads_indices_of_64_bits) {
    const scratch_folder folder;
    const std::string path = folder.file("A.bin");
    const std::string A = wide_bytes_of({1211216, 3, 3, 4, 2, 1, 1, 0, 1, 1, 2}, {4, 1, 5, 6});
    for (const std::string& rest :
         {std::string(), wide_bytes_of({1211214, 2}, {1, 2}), wide_bytes_of({1211218, 1, 0}, {})}) {
        save(path, A + rest);
        EXPECT_EQ(inspect(path).field, field::real);
        EXPECT_TRUE(same_matrix(read<double>(path), matrix));
    }
    for (std::size_t n = 8; n < A.size(); ++n)
        EXPECT_NE(verdict_on(A.substr(0, n)).find("bytes, expected "), std::string::npos) << n;
    EXPECT_NE(verdict_on(wide_bytes_of({1211216, 1, std::int64_t(1) << 31, 0, 0}, {}))
                  .find("1 x 2147483648 with 0 entries"),
              std::string::npos);
    EXPECT_NE(verdict_on(wide_bytes_of({1211216, 1, 1, 1, 1, std::int64_t(1) << 32}, {1}))
                  .find("entry 0 is in column 4294967296"),
              std::string::npos);
}

TEST(petsc, says_what_stands_in_front) {
    EXPECT_NE(verdict_on(bytes_of({1211214, 1}, {1}) + real_matrix).find("begins with a vector"),
              std::string::npos);
    EXPECT_NE(verdict_on(bytes_of({1211218, 1, 0}, {})).find("begins with an index set"),
              std::string::npos);
    EXPECT_NE(verdict_on(bytes_of({1211216, 1, 1, -1}, {1})).find("expected a sparse matrix"),
              std::string::npos);
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
