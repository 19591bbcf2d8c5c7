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

TEST_F(edge_list_files, a_head_is_seen_over_numbers_and_over_weights) {
    const struct {
        const char *name, *text;
    } headed[] = {
        {"a.csv", "author_id,coauthor_id\n0,1\n1,2\n2,0\n"},
        {"a.csv",
         "\xEF\xBB\xBF"
         "author_id,coauthor_id\r\n0,1\r\n1,2\r\n2,0\r\n"},
        {"a.csv", "\"author id\",\"coauthor id\"\n\n0,1\n1,2\n2,0\n"},
        {"a.csv", "# written today\nauthor,coauthor,papers\n0,1,1\n1,2,1\n2,0,1\n"},
        {"a.csv", "source,target\n0,1\n1,2\n2,0\n"},
        {"a.csv", "#id,id_of_other\n0,1\n1,2\n2,0\n"},
        {"a.tsv", "Von\tNach\n0\t1\n1\t2\n2\t0\n"},
        {"a.txt", "FromNode ToNode\n0 1\n1 2\n2 0\n"},
        {"a.edges", "i j w\n0 1 1\n1 2 1\n2 0 1\n"},
    };
    for (const auto& [name, text] : headed) {
        const auto G = read_named<double>(write_file(name, text));
        EXPECT_TRUE(same_matrix(G.A, triangle)) << text;
        EXPECT_EQ(names_of(G), (names{"0", "1", "2"})) << text;
    }
    for (const char* text :
         {"who,whom,times\na,b,1\nb,c,1\nc,a,1\n", "from,to\na,b\nb,c\nc,a\n", "a,b\nb,c\nc,a\n"}) {
        const auto G = read_named<double>(write_file("a.csv", text));
        EXPECT_TRUE(same_matrix(G.A, triangle)) << text;
        EXPECT_EQ(names_of(G), (names{"a", "b", "c"})) << text;
    }
    // An edge of one name over numbers is an edge.
    EXPECT_EQ(names_of(read_named<double>(write_file("b.csv", "x,1\n1,2\n"))),
              (names{"1", "2", "x"}));
    // Names that come late make the first line an edge, too, where it is connected.
    std::string late = "b,a\n";
    for (int k = 0; k < 9000; ++k) late += std::to_string(k) + ",1\n";
    EXPECT_EQ(read<double>(write_file("c.csv", late)).shape.rows, 9000);
    EXPECT_EQ(read<double>(write_file("c.csv", late + "c,b\n")).shape.rows, 9003);
    EXPECT_NE(message_of("c.csv", late + "c,d\n").find("c.csv:1: 'b' and 'a' are names of columns"),
              std::string::npos);
}

TEST_F(edge_list_files, a_head_alone_has_no_edges) {
    for (const char* text : {"source,target\n", "\xEF\xBB\xBFsource,target\n", "from,to,weight\n",
                             "# none\n\"Source\",\"Target\"\n# yet\n"})
        EXPECT_EQ(read<double>(write_file("a.csv", text)).shape, (shape{0, 0})) << text;
}

TEST_F(edge_list_files, a_first_line_that_may_be_a_head_is_refused) {
    const std::string doubt = "are names of columns or the nodes of an edge";
    for (const char* text : {"author,coauthor\nAnn,Bob\nBob,Cem\n", "author,coauthor\n",
                             "source,target\nsource,a\na,target\n"})
        EXPECT_NE(message_of("a.csv", text).find(doubt), std::string::npos) << text;
    EXPECT_NE(message_of("a.txt", "author coauthor\nAnn Bob\n").find(doubt), std::string::npos);
    EXPECT_NE(message_of("a.csv", "who,whom,2020\n1,2,3\n").find(doubt), std::string::npos);
    EXPECT_EQ(read<double>(write_file("b.csv", "a,b,2020\nc,d,3\n")).shape.rows, 4);
    EXPECT_EQ(read<double>(write_file("b.csv", "a,b,2020\n")).shape.rows, 2);
    // The third column's name tells.
    EXPECT_EQ(read<double>(write_file("a.csv", "source,target,w\nsource,a,1\n")).shape.rows, 2);
}

TEST_F(edge_list_files, columns_in_another_order_are_refused) {
    for (const char* text : {"id,source,target\n7,1,2\n", "target,source\n1,2\n",
                             "weight,from,to\n0.5,1,2\n", "source,weight,target\n1,0.5,2\n"})
        EXPECT_NE(message_of("a.csv", text).find("a.csv:1: columns "), std::string::npos) << text;
    // An index that pandas or R writes has no name.
    for (const char* text : {",source,target\n0,5,7\n", "\"\",\"from\",\"to\"\n\"1\",5,7\n"})
        EXPECT_EQ(message_of("a.csv", text),
                  "a.csv:1: a node without a name, expected source target weight, with commas "
                  "between");
    EXPECT_EQ(message_of("a.txt", "\"from\" \"to\"\n\"1\" 5 7\n\"2\" 7 5\n"),
              "a.txt:2: 3 words, expected source target");
}

TEST_F(edge_list_files, digits_that_are_written_otherwise_are_other_names) {
    for (const char* name : {"a.txt", "a.csv"}) {
        const std::string separator = name == std::string("a.csv") ? "," : " ";
        const auto G = read_named<double>(write_file(
            name, "01" + separator + "001\n001" + separator + "1\n1" + separator + "01\n"));
        EXPECT_EQ(names_of(G), (names{"001", "01", "1"}));
        EXPECT_EQ(G.A.val.size(), 3U);
    }
    EXPECT_EQ(names_of(read_named<double>(write_file("b.txt", "0 -0\n-0 00\n"))),
              (names{"-0", "0", "00"}));
    EXPECT_EQ(names_of(read_named<double>(write_file("b.csv", "\"1\",\"01\"\n"))),
              (names{"01", "1"}));
    const auto late = read_named<double>(write_file("c.txt", "10 9\n9 2\n2 02\n"));
    EXPECT_EQ(names_of(late), (names{"02", "10", "2", "9"}));
}

TEST_F(edge_list_files, what_stands_between_words_is_seen) {
    const struct {
        const char *name, *text;
    } triangles[] = {
        {"A.CSV", "0, 1\n1, 2\n2, 0\n"},       {"A.Csv", "0,1\n1,2\n2,0\n"},
        {"A.TSV", "0\t1\n1\t2\n2\t0\n"},       {"a.txt", "0, 1\n1, 2\n2, 0\n"},
        {"a.txt", "0,1\n1,2\n2,0\n"},          {"a.el", "0 ,1\n1 ,2\n2 ,0\n"},
        {"a.txt", "0;1\n1;2\n2;0\n"},          {"a.csv", "0;1\n1;2\n2;0\n"},
        {"a.txt", "0 1\t1\n1 2\t1\n2 0\t1\n"}, {"a.txt", "\"0\" \"1\"\n1 2\n2 0\n"},
    };
    for (const auto& [name, text] : triangles) {
        const auto G = read_named<double>(write_file(name, text));
        EXPECT_TRUE(same_matrix(G.A, triangle)) << name << '\n' << text;
        EXPECT_EQ(names_of(G), (names{"0", "1", "2"})) << name << '\n' << text;
    }
    const auto packed = write_file("A.CSV.GZ", gzip_member("a, b\nb, c\n"));
    EXPECT_EQ(names_of(read_named<double>(packed)), (names{"a", "b", "c"}));
    const auto tabs = read_named<double>(write_file("a.txt", "New York\tBonn\nBonn\tNew York\n"));
    EXPECT_EQ(names_of(tabs), (names{"Bonn", "New York"}));
    const auto quotes = read_named<double>(write_file("a.txt", "\"New York\" Bonn 2\nBonn x 1\n"));
    EXPECT_EQ(names_of(quotes), (names{"Bonn", "New York", "x"}));
    for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
             {"a.txt", "Smith,J Doe\nDoe,K Smith\n"},
             {"a.txt", "New York,Bonn\nBad Ems,Rome\n"},
             {"a.txt", "Ann Lee\t5\nBob Ray\t7\n"},
             {"a.txt", "1;2;0,5\n2;3;1,5\n"},
             {"a.csv", "1;2;0,5\n2;3;1,5\n"}})
        EXPECT_NE(message_of(name, text).find(":1: "), std::string::npos) << text;
    EXPECT_EQ(message_of("a.csv", "1;2;0,5\n2;3;1,5\n"),
              "a.csv:1: commas or semicolons may stand between the words, expected a name that "
              "says which, .tsv for tabs or .csv for commas, or quotes around names");
}

TEST_F(edge_list_files, a_mark_begins_a_comment_or_a_name) {
    const auto tags = read_named<double>(write_file("a.csv", "java,go\n#java,go\n%x,java\n"));
    EXPECT_EQ(names_of(tags), (names{"#java", "%x", "go", "java"}));
    const auto first = read_named<double>(write_file("b.csv", "#java,go\ngo,c\n"));
    EXPECT_EQ(names_of(first), (names{"#java", "c", "go"}));
    for (const char* text :
         {"# source, target\n0,1\n1,2\n# 7,8\n2,0\n", "%sym\n% 3 3\n0,1\n##\n1,2\n2,0\n#\n",
          "#made by hand\n0,1\n1,2\n2,0\n"})
        EXPECT_TRUE(same_matrix(read<double>(write_file("c.csv", text)), triangle)) << text;
    EXPECT_EQ(message_of("d.csv", "0,1\n1,2\n#2,0\n"),
              "d.csv:3: '#2' is a node or a comment, expected quotes around a node or a blank "
              "behind the mark of a comment");
    EXPECT_EQ(names_of(read_named<double>(write_file("d.csv", "0,1\n\"#2\",0\n"))),
              (names{"#2", "0", "1"}));
}

TEST_F(edge_list_files, weights_may_be_quoted_or_attributes_that_networkx_writes) {
    const csr<double, host> want{{2, 2}, {0, 1, 2}, {1, 0}, {0.5, 2}};
    for (const char* text : {"0,1,\"0.5\"\n1,0,\"2\"\n", "i,j,\"w\"\n0,1,\"0.5\"\n1,0,2\n",
                             "0,1,{'weight': 0.5}\n1,0,{'weight': 2}\n"})
        EXPECT_TRUE(same_matrix(read<double>(write_file("a.csv", text)), want)) << text;
    for (const char* text :
         {"0 1 {'weight': 0.5}\n1 0 {'weight': 2}\n",
          "0 1 {'a': \"}, 'weight': 7\", 'weight': 0.5}\n1 0 {'b': [1, {}], \"weight\": 2, 'c': "
          "'\\''}\n"})
        EXPECT_TRUE(same_matrix(read<double>(write_file("a.edgelist", text)), want)) << text;
    EXPECT_TRUE(same_matrix(
        read<double>(write_file("b.edgelist", "0 1 {}\n1 2 {'color': 'red', 'size': 3}\n2 0 {}\n")),
        triangle));
    EXPECT_EQ(message_of("c.edgelist", "0 1 {}\n1 2 {'weight': 'x'}\n"),
              "c.edgelist:2: weight '{'weight': 'x'}' is no number, expected one");
    EXPECT_EQ(message_of("c.edgelist", "0 1 {}\n1 2 {\n"),
              "c.edgelist:2: weight '{' is no number, expected one");
}

TEST_F(edge_list_files, how_they_are_understood_is_told) {
    EXPECT_EQ(edge_list::describe(write_file("a.csv", "who,whom,times\na,b,1\n")),
              "commas between words; 'who' 'whom' 'times' is a head; the third word is a weight");
    EXPECT_EQ(edge_list::describe(write_file("a.txt", "1 2\n")),
              "blanks between words; no head; no weights");
    EXPECT_EQ(
        edge_list::describe(write_file("a.TSV", "von\tnach\n1\t2\n")),
        "tabs between words; 'von' 'nach' is a head if all nodes are numbers, else an edge; no "
        "weights");
}

TEST_F(edge_list_files, text_of_16_bits_is_refused) {
    std::string little, big;
    for (const char c : std::string("0 1\n1 2\n")) {
        little += c, little += '\0';
        big += '\0', big += c;
    }
    for (const char* name : {"a.txt", "a.csv", "a.mtx", "a.graph", "a.rb", "a"}) {
        for (const std::string& text : {"\xFF\xFE" + little, "\xFE\xFF" + big}) {
            EXPECT_NE(message_of(name, text).find(":1: is text in UTF-16"), std::string::npos)
                << name;
            EXPECT_NE(message_of(name, gzip_member(text)).find("UTF-16"), std::string::npos)
                << name;
            EXPECT_THROW((void)read_vector<double>(write_file(name, text)), parse_error);
            EXPECT_THROW((void)inspect(write_file(name, text)), parse_error);
        }
        EXPECT_NE(message_of(name, little).find(":1: has zero bytes"), std::string::npos) << name;
        EXPECT_NE(message_of(name, big).find(":1: has zero bytes"), std::string::npos) << name;
    }
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
    EXPECT_EQ(message_of("a.csv", "1,2\n\"c\"d,e\n"),
              "a.csv:2: a word goes on behind its quotes, expected source target, with commas "
              "between");
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
