// Rutherford-Boeing and Harwell-Boeing files: fields, formats, symmetries, and what is refused.
#include "nonzero/io/rutherford_boeing/rutherford_boeing.hpp"

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
    for (const char* format : {"(5F4.1)", "(0P,5E4.1)", "(5D4.1)", "( 5 G4.1 )", "(5(0PE4.1))"}) {
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

/// The five values of a file with this format of values and these lines of them.
csr<double, host> with_values(const std::vector<double>& v) {
    return {{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {v[0], v[3], v[2], v[1], v[4]}};
}

TEST_F(rutherford_boeing_files, numbers_are_what_the_fortran_standard_says) {
    const struct {
        const char *format, *lines;
        std::vector<double> want;
    } cases[] = {
        // A point that is not written.
        {"(5F8.3)", "    1000   -2500   3.000     4 0      +5\n", {1, -2.5, 3, 0.04, 0.005}},
        {"(5E8.1)", "     1E2    1D-1     1+3   1.5E1     1.5\n", {10, 0.01, 100, 15, 1.5}},
        {"(5G8.2)", "     100     200     300     400   5.E-1\n", {1, 2, 3, 4, 0.5}},
        {"(5D8.0)", "       1       2       3       4       5\n", {1, 2, 3, 4, 5}},
        {"(5ES8.2)", "     1E2     2E2     3E2     4E2     5E2\n", {1, 2, 3, 4, 5}},
        {"(5EN8.2E2)", "     1E2     2E2     3E2     4E2     5E2\n", {1, 2, 3, 4, 5}},
        // Scale factors: of what has no exponent, and in force from there on.
        {"(1P,5F6.1)", "  10.0  20.0 3.0E0   400 5.0D0\n", {1, 2, 3, 4, 5}},
        {"(1P5E6.1)", "  10.0  20.0 3.0+0   400 5.0D0\n", {1, 2, 3, 4, 5}},
        {"(-2P,5F6.1)", "  0.01  0.02  0.03  0.04  5.E0\n", {1, 2, 3, 4, 5}},
        {"(F4.1,1P,2F4.1)", " 1.020.030.0\n40.050.0\n", {1, 2, 3, 4, 5}},
        {"(2(1PF4.1,0PF4.1))", "10.0 2.030.0 4.0\n50.0\n", {1, 2, 3, 4, 5}},
        // Blanks that are skipped, new lines, groups that begin again.
        {"(5(2X,F4.1))", "99 1.099 2.099 3.099 4.099 5.0\n", {1, 2, 3, 4, 5}},
        {"(2X,2(F4.1,1X))", "99 1.09 2.0\n 3.09 4.0\n 5.0\n", {1, 2, 3, 4, 5}},
        {"(2X,2F4.1)", "99 1.0 2.0\n99 3.0 4.0\n99 5.0\n", {1, 2, 3, 4, 5}},
        {"(F4.1/2F4.1)", " 1.0 9.9\n 2.0 3.0\n 4.0 9.9\n 5.0\n", {1, 2, 3, 4, 5}},
        {"(F2.0,2F4.1)", "1. 2.0 3.0\n4. 5.0\n", {1, 2, 3, 4, 5}},
        // Blanks within a field, and an empty one.
        {"(5F8.1)", "    1 .0    - 2.    3. 0  4.D+ 1       5\n", {1, -2, 3, 40, 0.5}},
        {"(5F4.1)", " 1.0     3.04.E0 5.0\n", {1, 0, 3, 4, 5}},
    };
    for (const auto& [format, lines, want] : cases) {
        const auto A = read<double>(write_file(
            rb("rua 3 3 5 0\n" + formats("(26I3)", "(5I3)", format) + pointers_and_rows + lines)));
        EXPECT_TRUE(same_matrix(A, with_values(want))) << format << '\n' << lines;
    }
    const auto A = read<double>(
        write_file(rb("rua 3 3 5 0\n" + formats("(2X,4(I2,1X))", "(I2,2X,4I2)", "(5F4.1)") +
                      "99 1x 3x 4x 6\n 199 3 2 1 3\n 1.0 4.0 3.0 2.0 5.0\n")));
    EXPECT_TRUE(same_matrix(A, general));
}

TEST_F(rutherford_boeing_files, blanks_divide_as_many_words_as_fields) {
    // As SciPy's hb_write has it: fields of 25 characters, numbers of 24.
    const auto A = read<double>(
        write_file(rb("RUA 3 3 5 0\n" + formats("(40I2)", "(40I2)", "(3E25.16)") +
                      " 1 3 4 6\n 1 3 2 1 3\n"
                      "  1.0000000000000000E+00  4.0000000000000000E+00  3.0000000000000000E+00\n"
                      "  2.0000000000000000E+00  5.0000000000000000E+00\n")));
    EXPECT_TRUE(same_matrix(A, general));
    // Narrower ones, of which two stand where the format has one.
    const auto B =
        read<double>(write_file(rb("rua 3 3 5 0\n" + formats("(4I8)", "(5I8)", "(5F8.1)") +
                                   "1 3 4 6\n1 3 2 1 3\n1. 4. 3. 2. 5.\n")));
    EXPECT_TRUE(same_matrix(B, general));
    // Fields that touch are longer than one, though the words are as many.
    const auto D =
        read<double>(write_file(rb("rua 3 3 5 0\n" + formats("(4I3)", "(5I3)", "(5F4.1)") +
                                   pointers_and_rows + "-1.0-4.0 3 0 2.0   5\n")));
    EXPECT_TRUE(same_matrix(D, with_values({-1, -4, 3, 2, 0.5})));
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
              ":4: format '(free)', expected one of numbers, such as (10I8), (4D20.13) or "
              "(1P,3(2X,E24.16))");
    for (const char* bad :
         {"(5I3", "5I3", "(2X)", "(5I3,(2X))", "(5I3)x", "(0I3)", "(5I)", "(P5I3)", "(5I300)",
          "(99(99(9I3)))", "(5F8.)", "(T5,5I3)", "()", "(,)"})
        EXPECT_NE(message_of(rb(sizes + formats("(26I3)", bad, "(5F4.1)"))).find(":4: format"),
                  std::string::npos)
            << bad;
    EXPECT_EQ(message_of(rb(sizes + formats("(26I3)", "(5I3)", "") + pointers_and_rows)),
              ":4: no format of values, as in a file without any (the fourth number of line 2, "
              "VALCRD, is then 0), but type 'rua', expected values, or a type of pattern such as "
              "pua");
    EXPECT_EQ(message_of(rb(sizes + "(9999999999999I3)(5I3)\n")).substr(0, 10), ":4: format");
    const std::string head = sizes + formats("(26I3)", "(5I3)", "(5F4.1)");
    EXPECT_EQ(message_of(rb(head + "  0  3  4  6\n")),
              ":5: first column pointer '0', expected 1 to 1");
    EXPECT_EQ(message_of(rb(head + "  1  3  2  6\n")), ":5: column pointer '2', expected 3 to 6");
    EXPECT_EQ(message_of(rb(head + "  1  3  4  5\n")),
              ":5: the last column pointer is 5, expected 6, as there are 5 entries");
    EXPECT_EQ(message_of(rb(head + "  1  3  4\n")),
              ":5: no column pointer in columns 10 to 12, expected a number");
    EXPECT_EQ(message_of(rb(head + "  1  3  4  6\n  1  4  2  1  3\n")),
              ":6: row index '4', expected 1 to 3");
    EXPECT_EQ(message_of(rb(head + pointers_and_rows + " 1.0 4.0 3.x 2.0 5.0\n")),
              ":7: value '3.x', expected a number that double holds");
    // The blank is no part of an exponent: there are other numbers than the format says.
    EXPECT_EQ(message_of(rb(sizes + formats("(26I3)", "(5I3)", "(2E9.1)") + pointers_and_rows +
                            " 1.0E+0 2 -.0E+0\n")),
              ":7: value '1.0E+0 2', expected a number that double holds");
    EXPECT_EQ(message_of(rb(head + pointers_and_rows)),
              ":6: the file ends, expected more numbers, each a value");
    // Sizes that lie cost nothing: what is not there is not allocated.
    EXPECT_EQ(message_of(rb("rua 3 2147483647 2305843009213693952 0\n" +
                            formats("(26I3)", "(5I3)", "(5F4.1)") + "  1  1\n")),
              ":5: no column pointer in columns 7 to 9, expected a number");
}

}  // namespace
}  // namespace nz::test
