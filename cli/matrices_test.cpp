// nz info, nz spy, nz generate and nz machine.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "test/command.hpp"

namespace nz::test {
namespace {

using json = nlohmann::json;

/// Rows of 2, 0, 1 and 3 entries; (0, 3) faces (3, 0), of the same value.
constexpr const char* four_by_four =
    "%%MatrixMarket matrix coordinate real general\n"
    "4 4 6\n1 1 5\n1 4 2\n3 2 7\n4 1 2\n4 3 8\n4 4 5\n";

TEST_F(command, info_counts) {
    write("A.mtx", four_by_four);
    const auto [code, out, err] = nz("info A.mtx --json");
    ASSERT_EQ(code, 0) << err;
    const json r = json::parse(out);
    EXPECT_EQ(r["rows"], 4);
    EXPECT_EQ(r["nnz"], 6);
    EXPECT_EQ(r["file"]["field"], "real");
    EXPECT_EQ(r["row_length"]["min"], 0);
    EXPECT_EQ(r["row_length"]["mean"], 1.5);
    EXPECT_EQ(r["row_length"]["median"], 1.5);
    EXPECT_EQ(r["row_length"]["max"], 3);
    EXPECT_DOUBLE_EQ(r["row_length"]["deviation"], std::sqrt(1.25));
    EXPECT_EQ(r["row_length"]["histogram"].size(), 4U);
    EXPECT_EQ(r["bandwidth"], 3);
    EXPECT_EQ(r["diagonals"], 4);  // -3, -1, 0, 3
    EXPECT_EQ(r["main_diagonal"], 2);
    EXPECT_EQ(r["empty_rows"], 1);
    EXPECT_EQ(r["empty_columns"], 0);
    EXPECT_EQ(r["distinct_values"], 4);
    EXPECT_EQ(r["symmetry"]["values"], "unsymmetric");
    EXPECT_EQ(r["symmetry"]["pattern_share"], 0.5);
    const auto csr = std::find_if(r["layouts"].begin(), r["layouts"].end(), [](const json& l) {
        const auto& m = l["methods"];
        return std::find(m.begin(), m.end(), "csr.serial") != m.end();
    });
    ASSERT_NE(csr, r["layouts"].end());
    EXPECT_EQ((*csr)["bytes"], 6 * 12 + 5 * 4);
    EXPECT_NE(nz("info A.mtx").out.find("4 x 4, 6 nonzeros"), std::string::npos);
}

TEST_F(command, info_tells_how_an_edge_list_is_understood) {
    write("a.csv", "author_id,coauthor_id\n1,2\n2,3\n");
    const auto [code, out, err] = nz("info a.csv");
    ASSERT_EQ(code, 0) << err;
    EXPECT_NE(out.find("dialect       commas between words; 'author_id' 'coauthor_id' is a head if "
                       "all nodes are numbers, else an edge; no weights; nodes are numbers from 1 "
                       "to 3\n"),
              std::string::npos)
        << out;
    write("b.CSV", "#java, go, 2\ngo, c, 3\n");
    EXPECT_EQ(json::parse(nz("info b.CSV --json").out)["file"]["dialect"],
              "commas between words; no head; the third word is a weight; nodes are names from "
              "#java to go");
    write("A.mtx", four_by_four);
    EXPECT_TRUE(json::parse(nz("info A.mtx --json").out)["file"]["dialect"].is_null());
    EXPECT_EQ(nz("info A.mtx").out.find("dialect"), std::string::npos);
}

TEST_F(command, info_sees_symmetry) {
    const auto symmetry_of = [&](const std::string& banner, const std::string& entries) {
        write("A.mtx", "%%MatrixMarket matrix coordinate " + banner + "\n" + entries);
        return json::parse(nz("info A.mtx --json").out)["symmetry"]["values"].get<std::string>();
    };
    EXPECT_EQ(symmetry_of("real general", "2 2 3\n1 1 1\n1 2 3\n2 1 3\n"), "symmetric");
    EXPECT_EQ(symmetry_of("real general", "2 2 3\n1 1 1\n1 2 3\n2 1 4\n"), "unsymmetric");
    EXPECT_EQ(symmetry_of("real general", "2 2 2\n1 2 3\n2 1 -3\n"), "skew-symmetric");
    EXPECT_EQ(symmetry_of("complex general", "2 2 2\n1 2 3 1\n2 1 3 -1\n"), "hermitian");
    EXPECT_EQ(symmetry_of("complex symmetric", "2 2 1\n2 1 3 1\n"), "symmetric");
    EXPECT_EQ(symmetry_of("pattern general", "2 3 2\n1 1\n2 3\n"), "not square");
    // A zero that is stored, duplicates and rounding are no asymmetry.
    EXPECT_EQ(symmetry_of("real general", "2 2 3\n1 1 1\n2 2 1\n1 2 0\n"), "symmetric");
    EXPECT_EQ(nz("info A.mtx --json").code, 0);
    EXPECT_EQ(json::parse(nz("info A.mtx --json").out)["symmetry"]["value_share"], 1);
    EXPECT_EQ(symmetry_of("complex general", "2 2 3\n1 2 3 1\n2 1 3 -1\n1 1 1 0\n"), "hermitian");
    EXPECT_EQ(symmetry_of("real general", "3 3 3\n1 2 3\n2 1 -3\n3 3 0\n"), "skew-symmetric");
    EXPECT_EQ(symmetry_of("real general", "2 2 4\n1 2 3\n2 1 1\n2 1 1\n2 1 1\n"), "symmetric");
    EXPECT_EQ(symmetry_of("real general", "2 2 3\n1 1 1\n1 2 3\n2 1 3.000000000001\n"),
              "symmetric");
    EXPECT_NE(nz("info A.mtx").out.find("symmetric up to rounding, 0.0 % of the values equal"),
              std::string::npos);
    EXPECT_EQ(symmetry_of("real general", "2 2 3\n1 1 1e30\n1 2 3\n2 1 4\n"), "unsymmetric");
}

/// A zero that an assembly left on one side.
TEST_F(command, what_is_symmetric_by_its_values_is_so_for_all_subcommands) {
    for (const char* zero : {"1 3 0", "3 1 0", "3 1 -0.0", "1 3 5\n1 3 -5"}) {
        write("A.mtx", std::string("%%MatrixMarket matrix coordinate real general\n3 3 ") +
                           (std::string(zero).find('\n') == std::string::npos ? "8" : "9") +
                           "\n1 1 4\n2 2 4\n3 3 4\n1 2 -1\n2 1 -1\n2 3 -1\n3 2 -1\n" + zero + "\n");
        EXPECT_EQ(json::parse(nz("info A.mtx --json").out)["symmetry"]["values"], "symmetric");
        for (const char* does :
             {"convert A.mtx B.mtx --symmetric", "eigs A.mtx -k 2", "eigs A.mtx -k 2 --precond amg",
              "solve A.mtx --method cg", "solve A.mtx --precond amg", "solve A.mtx --method minres",
              "info B.mtx", "eigs B.mtx -k 2"}) {
            const auto [code, out, err] = nz(does);
            EXPECT_EQ(code, 0) << does << " with " << zero << ": " << err;
        }
        EXPECT_EQ(json::parse(nz("info B.mtx --json").out)["file"]["symmetry"], "symmetric");
    }
}

TEST_F(command, info_bins_many_lengths_by_octaves) {
    ASSERT_EQ(nz("generate powerlaw --n 2000 --mean 20 --exponent 2.2 -o A.mtx").code, 0);
    const json bins = json::parse(nz("info A.mtx --json").out)["row_length"]["histogram"];
    ASSERT_GT(bins.size(), 5U);
    std::int64_t rows = 0;
    for (std::size_t k = 0; k < bins.size(); ++k) {
        rows += bins[k]["rows"].get<std::int64_t>();
        if (k > 0) {
            EXPECT_EQ(bins[k]["first"].get<int>(), bins[k - 1]["last"].get<int>() + 1);
        }
    }
    EXPECT_EQ(rows, 2000);
    EXPECT_NE(nz("info A.mtx").out.find("█"), std::string::npos);
}

TEST_F(command, info_and_spy_take_empty_matrices) {
    write("A.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    write("B.mtx", "%%MatrixMarket matrix coordinate real general\n3 5 0\n");
    for (const char* name : {"A.mtx", "B.mtx"})
        for (const char* what : {"info ", "info --json ", "spy ", "spy -o a.png "})
            EXPECT_EQ(nz(std::string(what) + name).code, 0) << what << name;
}

TEST_F(command, spy_draws_characters) {
    write("A.mtx", four_by_four);
    EXPECT_EQ(nz("spy A.mtx").out,
              "┌────────┐\n"
              "│██    ██│\n"
              "│        │\n"
              "│  ██    │\n"
              "│██  ████│\n"
              "└────────┘\n"
              "A.mtx: 4 x 4, 6 nonzeros\n");
    EXPECT_EQ(nz("spy A.mtx --style dots").out,
              "┌──┐\n"
              "│⡡⣈│\n"
              "└──┘\n"
              "A.mtx: 4 x 4, 6 nonzeros\n");
}

TEST_F(command, spy_shades_what_shares_a_character) {
    ASSERT_EQ(nz("generate rmat --scale 12 -o A.mtx").code, 0);
    const std::string out = nz("spy A.mtx --width 20 --height 8").out;
    for (const char* shade : {"░", "▒", "▓", "█"})
        EXPECT_NE(out.find(shade), std::string::npos) << out;
    EXPECT_NE(out.find("in a character"), std::string::npos) << out;
}

TEST_F(command, spy_writes_png) {
    write("A.mtx", four_by_four);
    const auto [code, out, err] = nz("spy A.mtx -o a.png --width 100");
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(out, "a.png: 100 x 100 pixels, up to 1 nonzeros in one\n");
    EXPECT_EQ(slurp(dir / "a.png").substr(1, 3), "PNG");
    EXPECT_EQ(nz("spy A.mtx -o nowhere/a.png").code, 4);
    EXPECT_EQ(nz("spy nothing.mtx").code, 3);
}

TEST_F(command, generate_writes_what_the_library_makes) {
    const auto [code, out, err] = nz("generate laplace2d --nx 7 --ny 5 -o A.mtx");
    ASSERT_EQ(code, 0) << err;
    EXPECT_EQ(out, "A.mtx: 35 x 35, 151 nonzeros\n");
    const auto A = read<double>(dir / "A.mtx"), B = laplace2d<double>(7, 5);
    EXPECT_EQ(A.col_ind, B.col_ind);
    EXPECT_EQ(A.val, B.val);
    ASSERT_EQ(nz("generate random --rows 20 --cols 30 --per-row 4 --seed 9 -o R.mtx").code, 0);
    EXPECT_EQ(read<double>(dir / "R.mtx").val, random<double>(20, 30, 4, 9).val);
    ASSERT_EQ(nz("generate banded --n 9 --type cdouble -o C.mtx").code, 0);
    EXPECT_EQ(inspect(dir / "C.mtx").field, field::complex);
}

TEST_F(command, generate_lists_and_explains_every_generator) {
    const json all = json::parse(nz("generate --list --json").out);
    const std::string listed = nz("generate --list").out;
    ASSERT_EQ(all.size(), generators<double>().size());
    for (const json& g : all) {
        const std::string name = g["name"], help = nz("generate " + name + " --help").out;
        EXPECT_NE(listed.find(name), std::string::npos);
        EXPECT_NE(help.find("Example: nz generate " + name), std::string::npos) << help;
        for (const json& p : g["parameters"])
            EXPECT_NE(help.find(p["option"]), std::string::npos) << help;
        EXPECT_EQ(g["seeded"].get<bool>(), help.find("--seed") != std::string::npos);
    }
}

TEST_F(command, generate_refuses) {
    for (const char* arguments :
         {"generate", "generate nonsense -o A.mtx", "generate laplace2d",
          "generate laplace2d --nx 0 -o A.mtx", "generate laplace2d --nx 1.5 -o A.mtx",
          "generate laplace2d --nx 1e6 --ny 1e6 -o A.mtx",
          "generate laplace2d --nx 3 --ny 3 -o A.txt", "generate --json"}) {
        const auto [code, out, err] = nz(arguments);
        EXPECT_EQ(code, 2) << arguments;
        EXPECT_NE(err, "") << arguments;
    }
    EXPECT_EQ(nz("generate laplace2d --nx 3 --ny 3 -o nowhere/A.mtx").code, 4);
    EXPECT_FALSE(fs::exists(dir / "A.mtx"));
}

TEST_F(command, machine_measures) {
    const json m = json::parse(nz("machine --threads 1,2 --json").out);
    EXPECT_GE(m["cores"].get<int>(), 1);
    ASSERT_EQ(m["bandwidth"].size(), 2U);
    EXPECT_EQ(m["bandwidth"][1]["threads"], 2);
    EXPECT_GT(m["bandwidth"][0]["read_gbps"].get<double>(), 0);
    EXPECT_EQ(nz("machine --threads 0").code, 2);
}

}  // namespace
}  // namespace nz::test
