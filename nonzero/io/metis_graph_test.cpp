// METIS's graph files: the manual's examples, and what is refused.
#include "nonzero/io/metis_graph.hpp"
#include "nonzero/matrix/transpose.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "nonzero/io/text.hpp"
#include "test/files.hpp"

namespace nz::test {
namespace {

class metis_files : public ::testing::Test {
  protected:
    std::string write_file(const std::string& text, const std::string& name = "a.graph") {
        std::ofstream(folder.file(name), std::ios::binary) << text;
        return folder.file(name);
    }
    std::string message_of(const std::string& text, std::size_t chunk = 0) {
        const std::string path = write_file(text);
        try {
            metis_graph::read<double>(path, {}, chunk);
        } catch (const parse_error& e) {
            return std::string(e.what()).substr(path.size());
        }
        return "it was read";
    }
    scratch_folder folder;
};

// The manual's graph of 7 nodes, figure 2: (a) without weights, (b) with those of edges.
constexpr const char* plain =
    "% of the manual\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
constexpr const char* weighted =
    "7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n"
    "5 2 4 2 7 6\n6 6 4 5\n";

TEST_F(metis_files, hold_the_graphs_of_the_manual) {
    const auto A = read<double>(write_file(plain));
    const host_vector<index> columns{1, 2, 4, 0, 2, 3, 0, 1, 3, 4, 1,
                                     2, 5, 6, 0, 2, 5, 3, 4, 6, 3, 5};
    EXPECT_EQ(A.shape, (shape{7, 7}));
    EXPECT_TRUE(A.row_ptr == (offset_vector{0, 3, 6, 10, 14, 17, 20, 22}));
    EXPECT_TRUE(same_bits<index>(A.col_ind, columns));
    EXPECT_EQ(A.val, host_vector<double>(22, 1.0));
    const auto W = read<double>(write_file(weighted));
    EXPECT_TRUE(same_bits<index>(W.col_ind, columns));
    EXPECT_TRUE(same_matrix(transpose(view(W)), W));
    EXPECT_EQ(W.val[0], 1);  // to node 2
    EXPECT_EQ(W.val[21], 6);
}

TEST_F(metis_files, sizes_and_weights_of_nodes_are_skipped) {
    // (c) of the manual, then sizes too, then three weights a node.
    for (const char* text :
         {"3 2 011\n4 2 1\n2 1 1 3 2\n5 2 2\n", "3 2 111\n9 4 2 1\n9 2 1 1 3 2\n9 5 2 2\n",
          "3 2 11 3\n1 2 0 2 1\n2 2 2 1 1 3 2\n1 4 6 2 2\n"}) {
        const auto A = read<double>(write_file(text));
        EXPECT_TRUE(same_matrix(A, {{3, 3}, {0, 1, 3, 4}, {1, 0, 2, 1}, {1.0, 1.0, 2.0, 2.0}}))
            << text;
    }
}

TEST_F(metis_files, a_blank_line_is_a_node_without_neighbours) {
    const auto A = read<double>(write_file("\n4 1\n\n3\n2\n\n\n  \n"));
    EXPECT_TRUE(same_matrix(A, {{4, 4}, {0, 0, 1, 2, 2}, {2, 1}, {1.0, 1.0}}));
    EXPECT_EQ(read<double>(write_file("0 0\n")).shape, (shape{0, 0}));
    EXPECT_EQ(inspect(write_file("4 1\n\n3\n2\n\n")).entries, 2);
}

TEST_F(metis_files, a_hub_may_have_a_line_of_some_megabytes) {
    constexpr int leaves = 200000;
    std::string text = std::to_string(leaves + 1) + ' ' + std::to_string(leaves) + '\n';
    for (int k = 0; k < leaves; ++k) text += ' ' + std::to_string(k + 2);
    for (int k = 0; k < leaves; ++k) text += "\n1";
    ASSERT_GT(text.size(), usual_line_bytes);
    for (const char* name : {"a.graph", "a.graph.gz"}) {
        const auto A = read<double>(
            write_file(std::string(name).ends_with("gz") ? gzip_member(text) : text, name));
        EXPECT_EQ(A.val.size(), 2U * leaves);
        EXPECT_EQ(A.row_ptr[1], leaves);
    }
}

TEST_F(metis_files, say_where_they_are_wrong_and_what_was_expected) {
    EXPECT_EQ(message_of(""), ":1: no sizes, expected nodes edges [format [weights]]");
    EXPECT_EQ(message_of("3\n"), ":1: 1 words, expected nodes edges [format [weights]]");
    EXPECT_EQ(message_of("% c\n3 x\n"), ":2: 'x' edges, expected 0 to 2305843009213693952");
    EXPECT_EQ(message_of("3000000000 1\n"), ":1: '3000000000' nodes, expected 0 to 2147483647");
    EXPECT_EQ(message_of("3 1 2\n"), ":1: format '2', expected at most three digits, 0 or 1");
    EXPECT_EQ(message_of("2 1\n2\n3\n"), ":3: neighbour '3', expected 1 to 2");
    EXPECT_EQ(message_of("2 1\n2\n0\n"), ":3: neighbour '0', expected 1 to 2");
    EXPECT_EQ(message_of("2 1\n2\n"), ":2: the file ends after 1 of its nodes' lines, expected 2");
    EXPECT_EQ(message_of("2 1\n2\n% c\n1\n1\n"), ":5: one more line of a node, expected 2 in all");
    EXPECT_EQ(message_of("2 2\n2\n1\n"), ": 2 neighbours, expected 4: two for each of 2 edges");
    EXPECT_EQ(message_of("2 1 1\n2 1\n1\n"), ":3: neighbour '1' has no weight, expected one");
    EXPECT_EQ(message_of("2 1 1\n2 1e999\n1 1\n"),
              ":2: weight '1e999' of an edge, expected a number that double holds");
    EXPECT_EQ(message_of("2 1 10\nx 2\n1 1\n"),
              ":2: 'x' is no size or weight of a node, expected a whole number");
}

TEST_F(metis_files, chunks_do_not_change_what_is_wrong) {
    EXPECT_EQ(message_of("1 0\n\n\n\n\n1\n"), ":3: one more line of a node, expected 1 in all");
    for (const char* text : {"3 3\n\n\n\n\n\n\n\n\n", "1 0\n\n\n\n\n1\n", "1 0\n\n\n% c\n\n1\n\n\n",
                             "2 1\n2\n% c\n1\n\n\n1\n", "2 1\n2\n\n\n\n\n\n\n3\n"})
        for (const std::size_t chunk : {1, 2, 3, 5})
            EXPECT_EQ(message_of(text, chunk), message_of(text))
                << text << "in chunks of " << chunk;
}

TEST_F(metis_files, neither_chunks_nor_threads_change_a_bit) {
    for (const char* text : {plain, weighted, "4 1\n\n3\n2\n\n\n\n\n\n\n\n\n"}) {
        const std::string path = write_file(text);
        const auto want = read<double>(path);
        for (const std::size_t chunk : {1, 3, 8, 1000})
            for (const int threads : {1, 3})
                EXPECT_TRUE(same_matrix(
                    metis_graph::read<double>(path, {.threads = threads}, chunk), want));
    }
}

}  // namespace
}  // namespace nz::test
