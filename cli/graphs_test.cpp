// nz pagerank, reorder, eigs and partition: what they say of small graphs, and what they refuse.
#include <fmt/format.h>

#include <cmath>
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

TEST_F(command, nodes_keep_their_names) {
    write("G.csv", "source,target\nAnn,Bo Li\nBo Li,Ann\nCy,Bo Li\n");
    EXPECT_NE(nz("pagerank G.csv --top 1").out.find("    1  Bo Li  "), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(nz("pagerank G.csv --json -").out)["top"][0]["name"], "Bo Li");
    write("E.txt", "# from 0, with a gap\n0 7\n7 0\n30 31\n");
    const auto parts = nz("partition E.txt -k 2 -o -");
    EXPECT_EQ(parts.code, 0) << parts.err;
    EXPECT_TRUE(parts.out == "0\t0\n7\t0\n30\t1\n31\t1\n" ||
                parts.out == "0\t1\n7\t1\n30\t0\n31\t0\n")
        << parts.out;
    EXPECT_EQ(nz("partition E.txt -k 2 -o p.tsv").code, 0);
    EXPECT_EQ(slurp(dir / "p.tsv"), parts.out);
    EXPECT_EQ(nz("partition E.txt -k 2 -o p.dat").code, 2);
}

TEST_F(command, a_dash_is_stdin_and_stdout) {
    write("E.txt", "1 2\n2 1\n");
    const auto piped = [&](const std::string& arguments) {
        return std::system(
            ("cd '" + dir.string() + "' && cat E.txt | '" NZ_COMMAND "' " + arguments).c_str());
    };
    EXPECT_EQ(piped("convert - - >B.mtx"), 0);
    EXPECT_EQ(slurp(dir / "B.mtx"),
              "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n");
    EXPECT_EQ(piped("pagerank - -o - >r.tsv"), 0);
    EXPECT_EQ(slurp(dir / "r.tsv"), "1\t0.5\n2\t0.5\n");
    EXPECT_NE(piped("convert - - >/dev/full 2>err"), 0);
    EXPECT_EQ(slurp(dir / "err"), "nz: -: cannot write: No space left on device\n");
}

TEST_F(command, a_dash_is_the_file_itself_where_its_content_says_what_it_is) {
    write("A.mtx", std::string(pattern) + "2 3 2\n1 3\n2 1\n");
    for (const char* name : {"A.npz", "A.petsc", "A.mtx.gz"})
        ASSERT_EQ(nz("convert A.mtx " + std::string(name)).code, 0);
    fs::copy(NZ_TEST_DATA "/mat/valid/plain.mat", dir / "A.mat");
    for (const std::string name : {"A.mtx", "A.npz", "A.petsc", "A.mtx.gz", "A.mat"}) {
        const std::string piped = "cd '" + dir.string() + "' && cat " + name +
                                  " | '" NZ_COMMAND "' convert - - >B.mtx 2>err";
        EXPECT_EQ(std::system(piped.c_str()), 0) << name << ": " << slurp(dir / "err");
        EXPECT_EQ(slurp(dir / "B.mtx"), nz("convert " + name + " -").out) << name;
    }
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

TEST_F(command, reorder_says_whether_it_helps) {
    ASSERT_EQ(nz("generate laplace2d --nx 60 --ny 60 -o A.mtx").code, 0);
    const auto told = nz("reorder A.mtx --threads 1 --json r.json");
    const auto j = nlohmann::json::parse(slurp(dir / "r.json"));
    const double times = double(j["after"]["product_s"]) / double(j["before"]["product_s"]);
    const double doubt = 1 + std::max(double(j["before"]["spread"]), double(j["after"]["spread"]));
    const std::string said = times > doubt       ? "This order is worse: the product takes "
                             : times < 1 / doubt ? "This order helps: the product is "
                                                 : "This order makes no difference";
    EXPECT_TRUE(told.out.starts_with(said)) << told.out << times << " beside " << doubt;
}

TEST_F(command, reorder_refuses) {
    write("wide.mtx", std::string(pattern) + "2 3 1\n1 2\n");
    for (const char* what : {"wide.mtx", "wide.mtx --method alphabetical", "wide.mtx --blocks 0"})
        EXPECT_EQ(nz("reorder " + std::string(what)).code, 2) << what;
    EXPECT_EQ(nz("reorder nowhere.mtx").code, 3);
}

// A path of four nodes: the Laplacian's eigenvalues are 2 - 2 cos(pi k / 5) with ends held.
constexpr const char* path =
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n";

TEST_F(command, eigs_of_a_path) {
    write("A.mtx", path);
    const double golden = (1 + std::sqrt(5.0)) / 2;
    for (const char* how : {"", " --precond none"}) {
        const auto [code, out, err] =
            nz("eigs A.mtx -k 2 --which smallest --json - -o x.mtx" + std::string(how));
        EXPECT_EQ(code, 0) << err;
        EXPECT_EQ(err, "");  // a progress line is for terminals
        const auto j = nlohmann::json::parse(out);
        EXPECT_NEAR(double(j["values"][0]), 2 - golden, 1e-7);
        EXPECT_NEAR(double(j["values"][1]), 3 - golden, 1e-7);
        EXPECT_TRUE(j["converged"]);
        EXPECT_EQ(j["status"], "converged");
    }
    EXPECT_EQ(slurp(dir / "x.mtx").substr(0, 45),
              "%%MatrixMarket matrix array real general\n4 1\n");
    for (const auto& [how, said] :
         {std::pair("-k 1 --which largest", "1 largest eigenvalue\n"),
          std::pair("-k 1", "1 eigenvalue of largest magnitude\n"),
          std::pair("-k 2 --which both", "2 eigenvalues, half of them from each end\n")}) {
        const auto told = nz("eigs A.mtx " + std::string(how));
        EXPECT_TRUE(told.out.starts_with(said)) << told.out;
        EXPECT_NE(told.out.find("3.61803"), std::string::npos) << told.out;
        EXPECT_NE(told.out.find("converged   yes"), std::string::npos) << told.out;
    }
    const auto few = nz("eigs A.mtx -k 2 --max-products 1");
    EXPECT_NE(few.out.find("--max-products were spent"), std::string::npos) << few.out;
}

TEST_F(command, pagerank_shows_its_progress_and_after_ctrl_c_what_it_has) {
    ASSERT_EQ(nz("generate laplace2d --nx 100 --ny 100 -o G.npz").code, 0);
    // Never done.
    const std::string arguments =
        "pagerank G.npz --tol 0 --max-iter 1000000000000 --json j.json -o r.mtx";
    EXPECT_EQ(interrupted(arguments, stage::pipe, "sleep 3"), "130\n") << slurp(dir / "err");
    EXPECT_EQ(slurp(dir / "err"), "");
    EXPECT_NE(slurp(dir / "out").find("converged   no"), std::string::npos) << slurp(dir / "out");
    EXPECT_GT(int(nlohmann::json::parse(slurp(dir / "j.json"))["iterations"]), 0);
    EXPECT_TRUE(fs::exists(dir / "r.mtx"));
    if (!has_terminals()) GTEST_SKIP() << no_terminals;
    EXPECT_EQ(interrupted(arguments, stage::terminal, "grep -qs ' iterations, change ' seen"),
              "130\n")
        << slurp(dir / "seen");
}

TEST_F(command, eigs_shows_its_progress_on_a_terminal) {
    if (!has_terminals()) GTEST_SKIP() << no_terminals;
    ASSERT_EQ(nz("generate laplace3d --nx 32 --ny 32 --nz 32 -o L.npz").code, 0);
    const std::string eigs = "eigs L.npz --which largest --threads 1", seen = on_terminal(eigs);
    EXPECT_NE(seen.find(" of 6 pairs"), std::string::npos) << seen;
    EXPECT_NE(seen.find("residual"), std::string::npos) << seen;
    const auto piped = nz(eigs);
    EXPECT_EQ(piped.code, 0);
    EXPECT_EQ(piped.err, "");
}

TEST_F(command, what_takes_seconds_says_on_a_terminal_what_goes_on) {
    if (!has_terminals()) GTEST_SKIP() << no_terminals;
    ASSERT_EQ(nz("generate laplace3d --nx 90 --ny 90 --nz 90 -o L.npz").code, 0);
    for (const auto& [arguments, said] : {std::pair("convert L.npz B.mtx.gz", "writing B.mtx.gz: "),
                                          std::pair("partition L.npz", "partitioning L: ")}) {
        const std::string seen = on_terminal(arguments);
        EXPECT_NE(seen.find(said), std::string::npos) << seen;
    }
}

TEST_F(command, eigs_refuses) {
    write("wide.mtx", std::string(pattern) + "2 3 1\n1 2\n");
    write("skew.mtx", std::string(pattern) + "2 2 1\n1 2\n");
    write("A.mtx", path);
    for (const char* what : {"wide.mtx", "skew.mtx"}) {
        const auto [code, out, err] = nz("eigs " + std::string(what));
        EXPECT_EQ(code, 1) << what;
        EXPECT_EQ(out, "");
        EXPECT_NE(err.find("nz: A is "), std::string::npos) << err;
    }
    for (const char* what : {"-k 0", "-k 51", "--which middle", "--tol -1"})
        EXPECT_EQ(nz("eigs A.mtx " + std::string(what)).code, 2) << what;
    write("nan.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 nan\n");
    const auto nan = nz("eigs nan.mtx");
    EXPECT_EQ(nan.code, 1);
    EXPECT_EQ(nan.err, "nz: A is not finite: row 0, column 1 has nan\n");
}

TEST_F(command, eigs_of_every_scale) {
    for (const int power : {-1000, -560, 560, 1000}) {
        std::string file = "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n";
        for (int i = 1; i <= 4; ++i) file += fmt::format("{0} {0} {1}\n", i, std::ldexp(2, power));
        for (int i = 1; i < 4; ++i)
            file += fmt::format("{} {} {}\n", i + 1, i, std::ldexp(-1, power));
        write("A.mtx", file);
        const double golden = (1 + std::sqrt(5.0)) / 2;
        for (const std::string how :
             {" --which smallest", " --which smallest --precond none", " --which largest"}) {
            const auto [code, out, err] = nz("eigs A.mtx -k 1 --json -" + how);
            EXPECT_EQ(code, 0) << power << how << ": " << err;
            const auto j = nlohmann::json::parse(out);
            EXPECT_NEAR(std::ldexp(double(j["values"][0]), -power),
                        how == " --which largest" ? 2 + golden : 2 - golden, 1e-7)
                << power << how;
            EXPECT_LE(double(j["residuals"][0]), 1e-8) << power << how;
        }
    }
}

TEST_F(command, partition_cuts_a_path_in_the_middle) {
    write("A.mtx", path);
    for (const char* method : {"auto", "spectral", "spectral --without-metis"}) {
        const auto [code, out, err] =
            nz("partition A.mtx -o parts.mtx --json r.json --method " + std::string(method));
        EXPECT_EQ(code, 0) << err;
        EXPECT_NE(out.find("parts         2 and 2 nodes"), std::string::npos) << out;
        EXPECT_NE(out.find("components    1: 0 isolated nodes, 4 nodes in"), std::string::npos);
        const auto j = nlohmann::json::parse(slurp(dir / "r.json"));
        EXPECT_EQ(j["cut"], 1);
        EXPECT_NEAR(double(j["random_cut"]), 2, 1e-12);
        const std::string parts = slurp(dir / "parts.mtx").substr(45);
        EXPECT_TRUE(parts == "0\n0\n1\n1\n" || parts == "1\n1\n0\n0\n") << parts;
        if (std::string(method) == "auto") continue;
        EXPECT_EQ(j["method"], "spectral");
        EXPECT_NEAR(double(j["search"]["connectivity"]), 2 - std::sqrt(2.0), 1e-4);
        EXPECT_TRUE(j["search"]["converged"]);
        EXPECT_LE(double(j["search"]["residual"]), double(j["search"]["tol"]));
        EXPECT_NE(out.find("converged     yes, |L v - lambda v|"), std::string::npos) << out;
    }
}

/// Graphs once cut through 54,304 and 45,900 edges, by a vector that had not converged.
TEST_F(command, partition_of_graphs_in_pieces) {
    const std::string folder = NZ_SOURCE_DIR "/matrices/";
    for (const char* how : {"", " --method spectral --without-metis"}) {
        const auto vessel =
            nlohmann::json::parse(nz("partition --json - " + folder + "bcsstk17.mtx.gz" + how).out);
        EXPECT_LE(vessel["cut"], 3257) << how;  // the middle row's cut
        EXPECT_EQ(vessel["isolated"], 518);
        EXPECT_LE(vessel["sizes"][0], 5651);
        EXPECT_LE(vessel["sizes"][1], 5651);
        const auto [code, out, err] = nz("partition --parts 3 " + folder + "CA-HepPh.mtx.gz" + how);
        EXPECT_EQ(code, 0) << err;
        EXPECT_NE(out.find("cut           0 edges, by components"), std::string::npos) << out;
        EXPECT_NE(out.find("77479: 77203 isolated nodes, 11204 nodes in the largest"),
                  std::string::npos)
            << out;
    }
}

TEST_F(command, partition_says_that_a_search_has_not_converged) {
    ASSERT_EQ(nz("generate laplace2d --nx 60 --ny 41 -o A.mtx").code, 0);
    const auto [code, out, err] =
        nz("partition A.mtx --method spectral --precond none --max-products 4 -k 4 -o parts.mtx");
    EXPECT_EQ(code, 1) << err;
    EXPECT_NE(out.find("converged     no: max_products were spent"), std::string::npos) << out;
    EXPECT_NE(out.find("parts         4, of "), std::string::npos) << out;
    EXPECT_TRUE(fs::exists(dir / "parts.mtx"));
}

TEST_F(command, partition_refuses) {
    write("A.mtx", path);
    write("wide.mtx", std::string(pattern) + "2 3 1\n1 2\n");
    write("empty.mtx", std::string(pattern) + "0 0 0\n");
    for (const char* what :
         {"wide.mtx", "empty.mtx", "A.mtx --parts 0", "A.mtx --parts -1", "A.mtx --parts 5",
          "A.mtx --parts many", "A.mtx --method best", "A.mtx --imbalance -1",
          "A.mtx --imbalance nan", "A.mtx --tol -1", "A.mtx --method metis --without-metis"}) {
        const auto [code, out, err] = nz("partition " + std::string(what));
        EXPECT_EQ(code, 2) << what;
        EXPECT_EQ(out, "") << what;
        EXPECT_NE(err, "") << what;
    }
    EXPECT_EQ(nz("partition empty.mtx --parts 1").code, 0);
    EXPECT_EQ(nz("partition A.mtx --parts 1").code, 0);
    EXPECT_EQ(nz("partition A.mtx --parts 4").code, 0);
}

}  // namespace
}  // namespace nz::test
