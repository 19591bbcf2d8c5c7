// Edge lists: what they may look like, what their nodes are called, and what is refused.
#include "nonzero/io/edge_list.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "nonzero/io/text.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

using names = std::vector<std::string>;

class edge_list_files : public ::testing::Test {
  protected:
    std::string write_file(const std::string& name, const std::string& text) {
        std::ofstream(folder.file(name), std::ios::binary) << text;
        return folder.file(name);
    }
    std::string message_of(const std::string& name, const std::string& text) {
        const std::string path = write_file(name, text);
        try {
            read<double>(path);
        } catch (const parse_error& e) {
            return std::string(e.what()).substr(path.size() - name.size());
        }
        return "it was read";
    }
    scratch_folder folder;
};

names names_of(const named_matrix<double>& G) {
    names all;
    for (index i = 0; i < G.A.shape.rows; ++i) all.push_back(G.names.of(i));
    return all;
}

const csr<double, host> triangle{{3, 3}, {0, 1, 2, 3}, {1, 2, 0}, {1.0, 1.0, 1.0}};

TEST_F(edge_list_files, numbers_in_ascending_order_are_the_rows) {
    const auto from_0 = read_named<double>(write_file("a.txt", "# SNAP\n0\t1\n1\t2\n\n2\t0\n"));
    EXPECT_TRUE(same_matrix(from_0.A, triangle));
    EXPECT_TRUE(from_0.names.number.empty());
    EXPECT_EQ(names_of(from_0), (names{"0", "1", "2"}));
    const auto from_1 = read_named<double>(write_file("b.edges", "% KONECT\r\n1 2\r\n2 3\r\n3 1"));
    EXPECT_TRUE(same_matrix(from_1.A, triangle));
    EXPECT_EQ(names_of(from_1), (names{"1", "2", "3"}));
    const auto gaps = read_named<double>(
        write_file("c.el", "-7 12\n 12 99999999999999999 \n99999999999999999 -7"));
    EXPECT_TRUE(same_matrix(gaps.A, triangle));
    EXPECT_EQ(names_of(gaps), (names{"-7", "12", "99999999999999999"}));
}

TEST_F(edge_list_files, a_node_that_is_no_number_makes_all_of_them_names) {
    const auto G = read_named<double>(write_file("a.txt", "10 9\n9 b\nb 10\n"));
    EXPECT_EQ(names_of(G), (names{"10", "9", "b"}));
    EXPECT_TRUE(same_matrix(G.A, triangle));
    const auto long_number = read_named<double>(write_file("b.txt", "1234567890123456789 2\n"));
    EXPECT_EQ(names_of(long_number), (names{"1234567890123456789", "2"}));
}

TEST_F(edge_list_files, commas_and_tabs_leave_blanks_in_names) {
    const auto csv =
        read_named<double>(write_file("a.csv",
                                      "\xEF\xBB\xBFSource,Target\n\"Ann \"\"A\"\", B\", Bo Li\nBo "
                                      "Li ,C\nC,\"Ann \"\"A\"\", B\"\n"));
    EXPECT_EQ(names_of(csv), (names{"Ann \"A\", B", "Bo Li", "C"}));
    EXPECT_TRUE(same_matrix(csv.A, triangle));
    const auto tsv = read_named<double>(write_file("a.tsv", "New York\tParis\nParis\tNew York\n"));
    EXPECT_EQ(names_of(tsv), (names{"New York", "Paris"}));
    const auto quoted = read_named<double>(write_file("b.csv", "\"0\",\"1\"\n\"1\",\"2\"\n2,0\n"));
    EXPECT_EQ(names_of(quoted), (names{"0", "1", "2"}));
}

TEST_F(edge_list_files, edges_keep_their_direction_and_their_weights_are_summed) {
    const auto A = read<double>(write_file("a.txt", "0 1 0.5\n1 0 2\n0 1 +0.25\n2 2 -1e2\n"));
    EXPECT_TRUE(same_matrix(A, {{3, 3}, {0, 1, 2, 3}, {1, 0, 2}, {0.75, 2.0, -100.0}}));
    const auto twice = read<double>(write_file("b.txt", "0 1\n0 1\n"));
    EXPECT_TRUE(same_matrix(twice, {{2, 2}, {0, 1, 1}, {1}, {2.0}}));
}

TEST_F(edge_list_files, may_be_empty_and_may_be_gzipped) {
    for (const char* text : {"", "# nothing\n", "\n\n"})
        EXPECT_EQ(read<double>(write_file("a.txt", text)).shape, (shape{0, 0}));
    const auto G = read_named<double>(write_file("a.csv.gz", gzip_member("a,b\nb,c\nc,a\n")));
    EXPECT_TRUE(same_matrix(G.A, triangle));
    EXPECT_EQ(names_of(G), (names{"a", "b", "c"}));
}

TEST_F(edge_list_files, a_banner_goes_before_the_name) {
    const auto A = read<double>(write_file(
        "a.txt", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n"));
    EXPECT_TRUE(same_matrix(A, triangle));
}

TEST_F(edge_list_files, tell_what_is_known_before_all_is_read) {
    const file_info plain = inspect(write_file("a.txt", "# c\n1 2\n"));
    EXPECT_EQ(plain.format, "edge list");
    EXPECT_EQ(plain.field, field::pattern);
    EXPECT_EQ(plain.entries, -1);
    EXPECT_EQ(inspect(write_file("b.csv", "from,to,w\na,b,2\n")).field, field::real);
}

TEST_F(edge_list_files, say_where_they_are_wrong_and_what_was_expected) {
    EXPECT_EQ(message_of("a.txt", "# c\n0 1\n2\n"), "a.txt:3: 1 word, expected source target");
    EXPECT_EQ(message_of("a.txt", "0 1 2\n2 3\n"),
              "a.txt:2: 2 words, expected source target weight");
    EXPECT_EQ(message_of("a.txt", "0 1\n2 3 4 5\n"), "a.txt:2: 4 words, expected source target");
    EXPECT_EQ(message_of("a.csv", "0 1\n"),
              "a.csv:1: 1 word, expected source target, with commas between");
    EXPECT_EQ(message_of("a.tsv", "a\tb\n\tc\n"),
              "a.tsv:2: a node without a name, expected source target, with tabs between");
    EXPECT_EQ(message_of("a.csv", "a,b\n\"c,d\n"),
              "a.csv:2: a quote without its end, expected one on the same line");
    EXPECT_EQ(message_of("a.txt", "0 1 2\n2 3 much\n"),
              "a.txt:2: weight 'much' is no number, expected one");
    EXPECT_EQ(message_of("a.txt", "0 1 1e400\n"),
              "a.txt:1: weight '1e400' is too large for double, expected at most 1.8e+308");
    // A name before the fault makes the reader start again, with the same result.
    EXPECT_EQ(message_of("a.txt", "0 1\nx 2\n3\n"), "a.txt:3: 1 word, expected source target");
}

TEST_F(edge_list_files, neither_chunks_nor_threads_change_a_bit) {
    std::string numbers, words;
    std::uint64_t at = 1;
    for (int k = 0; k < 400; ++k) {
        at = at * 6364136223846793005U + 1442695040888963407U;
        const auto i = at >> 57, j = (at >> 50) & 63;
        numbers +=
            std::to_string(i * 1000) + ' ' + std::to_string(j) + " 0." + std::to_string(k) + '\n';
        words += "n" + std::to_string(i) + "\tm" + std::to_string(j) + '\n';
    }
    for (const auto& path : {write_file("a.txt", numbers), write_file("a.tsv", words),
                             write_file("a.txt.gz", gzip_member(numbers))}) {
        const auto want = read_named<double>(path);
        for (const std::size_t chunk : {1, 7, 61, 1000})
            for (const int threads : {1, 3}) {
                const auto got = edge_list::read<double>(path, {.threads = threads}, chunk);
                EXPECT_TRUE(same_matrix(got.A, want.A)) << path << chunk;
                EXPECT_EQ(names_of(got), names_of(want)) << path << chunk;
            }
    }
}

}  // namespace
}  // namespace nz::test
