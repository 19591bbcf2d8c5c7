// Rutherford-Boeing and Harwell-Boeing files: fields, formats, symmetries, and what is refused.
#include "nonzero/io/rutherford_boeing.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "nonzero/io/text.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

using C = std::complex<double>;

class rutherford_boeing_files : public ::testing::Test {
  protected:
    std::string write_file(const std::string& text, const std::string& name = "a.rb") {
        std::ofstream(folder.file(name), std::ios::binary) << text;
        return folder.file(name);
    }
    std::string message_of(const std::string& text) {
        const std::string path = write_file(text);
        try {
            read<double>(path);
        } catch (const parse_error& e) {
            return std::string(e.what()).substr(path.size());
        }
        return "it was read";
    }
    scratch_folder folder;
};

/// A file of these lines, the title and the numbers of lines in front.
std::string rb(const std::string& lines) { return "A title  |key\n 4 1 1 1\n" + lines; }

// | 1 . 2 |
// | . 3 . |
// | 4 . 5 |
const csr<double, host> general{{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1.0, 2.0, 3.0, 4.0, 5.0}};
constexpr const char* pointers_and_rows = "  1  3  4  6\n  1  3  2  1  3\n";

std::string formats(const std::string& pointers, const std::string& rows,
                    const std::string& values) {
    const auto field = [](std::string s, std::size_t width) {
        return s.append(width - s.size(), ' ');
    };
    return field(pointers, 16) + field(rows, 16) + field(values, 20) + "\n";
}

TEST_F(rutherford_boeing_files, values_stand_in_fields_that_may_touch) {
    for (const char* format : {"(5F4.1)", "(1P,5E4.1)", "(1P5D4.1)", "( 5 G4.1 )", "(5(1PE4.1))"}) {
        const auto A = read<double>(write_file(
            rb("rua              3             3             5             0\n" +
               formats("(26I3)", "(5I3)", format) + pointers_and_rows + " 1.0 4.0 3.0 2.0 5.0\n")));
        EXPECT_TRUE(same_matrix(A, general)) << format;
    }
    // Indices without blanks between them, two lines of values, Fortran's exponents.
    const auto A = read<double>(
        write_file(rb("RUA 3 3 5 0\n" + formats("(4I1)", "(5I1)", "(3D8.1)") + "1346\n13213\n" +
                      "  1.0D+0 +4.0E+0    3.e0\n 2.0+000  50.0-1\n")));
    EXPECT_TRUE(same_matrix(A, general));
}

TEST_F(rutherford_boeing_files, one_triangle_stands_for_both) {
    const std::string lower = formats("(4I3)", "(4I3)", "(4F4.0)") + "  1  3  4  5\n  1  3  2  3\n";
    const auto S = read<double>(write_file(rb("rsa 3 3 4 0\n" + lower + "  1.  7.  2.  3.\n")));
    EXPECT_TRUE(same_matrix(S, {{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1.0, 7.0, 2.0, 7.0, 3.0}}));
    const auto Z = read<double>(write_file(
        rb("rza 2 2 1 0\n" + formats("(4I3)", "(4I3)", "(F4.0)") + "  1  2  2\n  2\n  5.\n")));
    EXPECT_TRUE(same_matrix(Z, {{2, 2}, {0, 1, 2}, {1, 0}, {-5.0, 5.0}}));
    const auto P = read<double>(
        write_file(rb("psa 2 2 2\n" + formats("(3I3)", "(4I3)", "") + "  1  3  3\n  1  2\n")));
    EXPECT_TRUE(same_matrix(P, {{2, 2}, {0, 2, 3}, {0, 1, 0}, {1.0, 1.0, 1.0}}));
    const std::string hermitian = rb("cha 2 2 2 0\n" + formats("(3I3)", "(4I3)", "(3F4.0)") +
                                     "  1  3  3\n  1  2\n  1.  0.  2.\n  3.\n");
    const auto H = read<C>(write_file(hermitian));
    EXPECT_TRUE(same_matrix(H, {{2, 2}, {0, 2, 3}, {0, 1, 0}, {C(1), C(2, -3), C(2, 3)}}));
    EXPECT_THROW(read<double>(write_file(hermitian)), parse_error);
    EXPECT_EQ(inspect(write_file(hermitian)).symmetry, symmetry::hermitian);
    EXPECT_EQ(inspect(write_file(hermitian)).field, field::complex);
}

TEST_F(rutherford_boeing_files, harwell_boeings_right_hand_sides_are_not_read) {
    const auto A = read<double>(write_file(
        "A title\n             5             1             1             1             1\n"
        "rua                        3             3             5             0\n" +
            formats("(26I3)", "(5I3)", "(5F4.1)") + "F                          1             0\n" +
            pointers_and_rows + " 1.0 4.0 3.0 2.0 5.0\n 9.0 9.0 9.0\n",
        "a.rua"));
    EXPECT_TRUE(same_matrix(A, general));
}

TEST_F(rutherford_boeing_files, may_be_wide_empty_and_gzipped) {
    const std::string wide = rb("ira 1 3 2 0\n" + formats("(4I3)", "(4I3)", "(4I4)") +
                                "  1  2  2  3\n  1  1\n  -7   8\n");
    for (const char* name : {"a.rb", "a.rb.gz"}) {
        const bool gzip = std::string(name).ends_with("gz");
        const auto A = read<double>(write_file(gzip ? gzip_member(wide) : wide, name));
        EXPECT_TRUE(same_matrix(A, {{1, 3}, {0, 2}, {0, 2}, {-7.0, 8.0}}));
    }
    const auto E = read<double>(
        write_file(rb("rua 2 0 0 0\n" + formats("(4I3)", "(4I3)", "(4I4)") + "  1\n")));
    EXPECT_TRUE(same_matrix(E, {{2, 0}, {0, 0, 0}, {}, {}}));
}

TEST_F(rutherford_boeing_files, say_where_they_are_wrong_and_what_was_expected) {
    EXPECT_EQ(message_of(""), ":1: the file ends, expected a title");
    EXPECT_EQ(
        message_of("t\n1 2\n"),
        ":2: 2 words, expected four or five numbers of lines: in all, of pointers, of indices, "
        "of values");
    EXPECT_EQ(message_of(rb("rue 3 3 5 0\n")),
              ":3: type 'rue', expected an assembled matrix, whose type ends in a");
    EXPECT_EQ(message_of(rb("xua 3 3 5 0\n")),
              ":3: type 'xua': letter 'x', expected one of r, c, i, p");
    EXPECT_EQ(message_of(rb("rsa 3 4 5 0\n")),
              ":3: symmetric of 3 x 4, expected as many columns as rows");
    EXPECT_EQ(message_of(rb("rua 3 3000000000 5 0\n")),
              ":3: '3000000000' columns, expected 0 to 2147483647");
    const std::string sizes = "rua 3 3 5 0\n";
    EXPECT_EQ(message_of(rb(sizes + formats("(free)", "(5I3)", "(5F4.1)"))),
              ":4: format '(free)', expected one of equal fields, such as (10I8) or (4D20.13)");
    EXPECT_EQ(message_of(rb(sizes + "(9999999999999I3)(5I3)\n")).substr(0, 10), ":4: format");
    const std::string head = sizes + formats("(26I3)", "(5I3)", "(5F4.1)");
    EXPECT_EQ(message_of(rb(head + "  0  3  4  6\n")),
              ":5: first column pointer '0', expected 1 to 1");
    EXPECT_EQ(message_of(rb(head + "  1  3  2  6\n")), ":5: column pointer '2', expected 3 to 6");
    EXPECT_EQ(message_of(rb(head + "  1  3  4  5\n")),
              ":5: the last column pointer is 5, expected 6, as there are 5 entries");
    EXPECT_EQ(message_of(rb(head + "  1  3  4\n")),
              ":5: no column pointer in field 4 of 3 characters, expected a number");
    EXPECT_EQ(message_of(rb(head + "  1  3  4  6\n  1  4  2  1  3\n")),
              ":6: row index '4', expected 1 to 3");
    EXPECT_EQ(message_of(rb(head + pointers_and_rows + " 1.0 4.0 3.x 2.0 5.0\n")),
              ":7: value '3.x', expected a number that double holds");
    EXPECT_EQ(message_of(rb(head + pointers_and_rows)),
              ":6: the file ends, expected more numbers, each a value");
    // Sizes that lie cost nothing: what is not there is not allocated.
    EXPECT_EQ(message_of(rb("rua 3 2147483647 2305843009213693952 0\n" +
                            formats("(26I3)", "(5I3)", "(5F4.1)") + "  1  1\n")),
              ":5: no column pointer in field 3 of 3 characters, expected a number");
}

}  // namespace
}  // namespace nz::test
