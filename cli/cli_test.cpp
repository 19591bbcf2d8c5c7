// The command as its users meet it: what it prints where, and which code it exits with.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "test/command.hpp"

namespace nz::test {
namespace {

TEST_F(command, help_and_version) {
    EXPECT_EQ(nz("--help").code, 0);
    EXPECT_EQ(nz("--version").out.rfind("nz 0.", 0), 0U);
    const auto names = subcommands();
    ASSERT_FALSE(names.empty());
    for (const std::string& name : names) {
        const auto [code, out, err] = nz(name + " --help");
        EXPECT_EQ(code, 0) << name;
        EXPECT_NE(out.find("Example: nz " + name), std::string::npos) << out;
        EXPECT_EQ(err, "") << name;
    }
}

TEST_F(command, wrong_usage_exits_2) {
    for (const char* arguments :
         {"", "nonsense", "methods --nonsense", "methods --json --markdown"}) {
        const auto [code, out, err] = nz(arguments);
        EXPECT_EQ(code, 2) << arguments;
        EXPECT_EQ(out, "") << arguments;
        EXPECT_NE(err, "") << arguments;
    }
}

TEST_F(command, methods_as_json) {
    const auto rows = nlohmann::json::parse(nz("methods --json").out);
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const std::string name = row["name"], layout = row["layout"];
        EXPECT_EQ(name.rfind(layout + ".", 0), 0U);
        EXPECT_FALSE(std::string(row["source"]).empty());
        EXPECT_TRUE(row["deterministic"].is_boolean());
    }
}

/// Where this fails: put the output of `nz methods --markdown` between the markers.
TEST_F(command, methods_as_documented) {
    const std::string text = slurp(NZ_SOURCE_DIR "/docs/methods.md");
    const std::string begin = "<!-- begin: nz methods --markdown -->\n", end = "<!-- end -->\n";
    const auto from = text.find(begin), to = text.find(end);
    ASSERT_NE(from, std::string::npos);
    ASSERT_NE(to, std::string::npos);
    EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()),
              nz("methods --markdown").out);
}

/// One line, from nz, without escapes: what every failure prints.
void expect_one_line(const std::string& err) {
    EXPECT_EQ(err.rfind("nz: ", 0), 0U) << err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(err.find('\033'), std::string::npos) << err;
}

constexpr const char* banner = "%%MatrixMarket matrix coordinate real general\n";
// | 1 . 2 |
// | . 3 . |
// | 4 . 5 |
constexpr const char* three_by_three = "3 3 5\n1 1 1\n1 3 2\n2 2 3\n3 1 4\n3 3 5\n";

TEST_F(command, bad_files_exit_3_and_say_where) {
    write("bad.mtx", std::string(banner) + "2 2 2\n1 1 1\n1 3 1\n");
    write("empty.mtx", "");
    for (const char* what :
         {"convert bad.mtx out.npz", "spmv bad.mtx", "spmv bad.mtx -o out.mtx"}) {
        const auto [code, out, err] = nz(what);
        EXPECT_EQ(code, 3) << what;
        EXPECT_EQ(err.rfind("nz: bad.mtx:4: ", 0), 0U) << err;
        expect_one_line(err);
        EXPECT_EQ(out, "");
    }
    for (const char* what : {"convert empty.mtx out.npz", "spmv nowhere.mtx", "spmv ."}) {
        const auto [code, out, err] = nz(what);
        EXPECT_EQ(code, 3) << what << err;
        expect_one_line(err);
    }
    for (const auto& entry : fs::directory_iterator(dir))
        EXPECT_EQ(entry.path().filename().string().rfind("out.", 0), std::string::npos)
            << entry.path() << " is left behind";
}

TEST_F(command, convert_keeps_every_entry) {
    write("A.mtx", std::string(banner) + three_by_three);
    for (const char* name : {"B.mtx", "B.mtx.gz"}) {
        const auto there = nz("convert A.mtx " + std::string(name));
        EXPECT_EQ(there.code, 0) << there.err;
        EXPECT_EQ(there.err, "");
        EXPECT_EQ(nz("convert " + std::string(name) + " back.mtx").code, 0);
        EXPECT_EQ(slurp(dir / "back.mtx"), std::string(banner) + three_by_three) << name;
    }
    EXPECT_EQ(nz("convert A.mtx B.txt").code, 2);
    EXPECT_EQ(nz("convert A.mtx B.mtx --symmetric").code, 2);  // A is not
    EXPECT_EQ(nz("convert A.mtx nowhere/B.mtx").code, 4);
}

TEST_F(command, convert_keeps_complex_values_and_turns_patterns_into_ones) {
    const std::string complex =
        "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 -2\n1 2 0.5 3\n";
    write("C.mtx", complex);
    EXPECT_EQ(nz("convert C.mtx D.mtx.gz").code, 0);
    EXPECT_EQ(nz("convert D.mtx.gz back.mtx").code, 0);
    EXPECT_EQ(slurp(dir / "back.mtx"), complex);
    write("P.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
    EXPECT_EQ(nz("convert P.mtx P2.mtx --symmetric").code, 0);
    EXPECT_EQ(slurp(dir / "P2.mtx"),
              "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 1\n");
}

TEST_F(command, spmv_computes_what_it_says) {
    write("A.mtx", std::string(banner) + three_by_three);
    write("x.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n10\n100\n");
    const std::string head = "%%MatrixMarket matrix array real general\n3 1\n";
    const auto y = [&](const std::string& arguments) {
        const auto [code, out, err] = nz("spmv A.mtx -o - " + arguments);
        EXPECT_EQ(code, 0) << arguments << ": " << err;
        EXPECT_EQ(out.substr(0, head.size()), head);
        return out.substr(std::min(out.size(), head.size()));
    };
    EXPECT_EQ(y(""), "3\n3\n9\n");
    EXPECT_EQ(y("-x x.mtx"), "201\n30\n504\n");
    EXPECT_EQ(y("-x x.mtx --transpose"), "401\n30\n502\n");
    EXPECT_EQ(y("-x x.mtx -y x.mtx --alpha -2 --beta 0.5"), "-401.5\n-55\n-958\n");
    EXPECT_EQ(y("-x x.mtx --method coo.serial --type float --threads 2"), "201\n30\n504\n");
    EXPECT_EQ(nz("spmv A.mtx -o - --type cdouble --alpha 0,1").out,
              "%%MatrixMarket matrix array complex general\n3 1\n0 3\n0 3\n0 9\n");

    const auto summary = nz("spmv A.mtx -x x.mtx -o y.mtx");
    EXPECT_EQ(slurp(dir / "y.mtx"), head + "201\n30\n504\n");
    EXPECT_NE(summary.out.find("GFLOP/s"), std::string::npos);
    EXPECT_EQ(summary.out.find('\033'), std::string::npos);
    EXPECT_EQ(summary.err, "");
}

TEST_F(command, spmv_refuses) {
    write("A.mtx", std::string(banner) + three_by_three);
    write("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n10\n");
    write("C.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 -2\n");
    for (const char* what : {"-x x.mtx", "--method csr.nonsense", "--alpha two", "--alpha 1,2",
                             "--beta 1x", "--threads 0", "--type int"}) {
        const auto [code, out, err] = nz("spmv A.mtx -o - " + std::string(what));
        EXPECT_EQ(code, 2) << what << ": " << err;
        EXPECT_EQ(out, "") << what;
        EXPECT_NE(err, "") << what;
    }
    EXPECT_EQ(nz("spmv C.mtx --type double").code, 3);
    EXPECT_EQ(nz("spmv C.mtx -o -").out,
              "%%MatrixMarket matrix array complex general\n1 1\n1 -2\n");
}

}  // namespace
}  // namespace nz::test
