// nz pagerank and nz reorder: what they say of small graphs, and what they refuse.
#include <nlohmann/json.hpp>

#include "test/command.hpp"

namespace nz::test {
namespace {

constexpr const char* pattern = "%%MatrixMarket matrix coordinate pattern general\n";

TEST_F(command, pagerank_finds_the_centre_of_a_star) {
    write("G.mtx", std::string(pattern) + "4 4 3\n1 3\n2 3\n4 3\n");
    const auto [code, out, err] = nz("pagerank G.mtx --json - --tol 1e-14 -o r.mtx");
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(err, "");
    const auto j = nlohmann::json::parse(out);
    EXPECT_EQ(j["top"].size(), 4U);
    EXPECT_EQ(j["top"][0]["node"], 2);
    EXPECT_EQ(j["dangling"], 1);
    // r = 0.85 (0, 0, 3 r, 0) + s (1, 1, 1, 1) with r + 3 s = 1: the others have s.
    const double s = j["top"][1]["rank"];
    EXPECT_NEAR(double(j["top"][0]["rank"]), s * (1 + 3 * 0.85), 1e-13);
    EXPECT_EQ(slurp(dir / "r.mtx").rfind("%%MatrixMarket matrix array real general\n4 1\n", 0), 0U);

    const auto text = nz("pagerank G.mtx --top 1").out;
    EXPECT_NE(text.find("4 nodes, 3 links, 1 nodes without"), std::string::npos) << text;
    EXPECT_EQ(text.find('\033'), std::string::npos);
    const auto back =
        nlohmann::json::parse(nz("pagerank G.mtx --direction column-links-to-row --json -").out);
    EXPECT_EQ(back["dangling"], 3);
}

TEST_F(command, pagerank_refuses) {
    write("G.mtx", std::string(pattern) + "2 2 1\n1 2\n");
    write("wide.mtx", std::string(pattern) + "2 3 1\n1 2\n");
    write("t.mtx", "%%MatrixMarket matrix array real general\n2 1\n-1\n1\n");
    for (const char* what : {"wide.mtx", "G.mtx --damping 1", "G.mtx --teleport t.mtx",
                             "G.mtx --direction sideways", "G.mtx --device gpu --threads 2"})
        EXPECT_EQ(nz("pagerank " + std::string(what)).code, 2) << what;
    const auto [code, out, err] = nz("pagerank G.mtx --max-iter 1");
    EXPECT_EQ(code, 1);
    EXPECT_NE(out.find("converged   no"), std::string::npos) << out;
}

TEST_F(command, reorder_brings_a_path_to_the_diagonal) {
    write("A.mtx",
          "%%MatrixMarket matrix coordinate real symmetric\n"
          "5 5 5\n1 1 9\n4 1 1\n5 1 2\n5 2 3\n3 2 4\n");
    const auto [code, out, err] =
        nz("reorder A.mtx --blocks 2 -o B.mtx --order P.mtx --json r.json");
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(err, "");
    const auto j = nlohmann::json::parse(slurp(dir / "r.json"));
    EXPECT_EQ(j["before"]["bandwidth"], 4);
    EXPECT_EQ(j["after"]["bandwidth"], 1);
    EXPECT_EQ(j["after"]["profile"], 4);
    EXPECT_GT(j["after"]["product_s"], 0.0);
    EXPECT_NE(out.find("in 2 diagonal blocks"), std::string::npos) << out;
    const std::string ends_first = slurp(dir / "P.mtx").substr(45);
    EXPECT_TRUE(ends_first == "3\n0\n4\n1\n2\n" || ends_first == "2\n1\n4\n0\n3\n") << ends_first;
    EXPECT_EQ(nz("convert B.mtx C.mtx --symmetric").code, 0);
}

TEST_F(command, reorder_refuses) {
    write("wide.mtx", std::string(pattern) + "2 3 1\n1 2\n");
    for (const char* what : {"wide.mtx", "wide.mtx --method alphabetical", "wide.mtx --blocks 0"})
        EXPECT_EQ(nz("reorder " + std::string(what)).code, 2) << what;
    EXPECT_EQ(nz("reorder nowhere.mtx").code, 3);
}

}  // namespace
}  // namespace nz::test
