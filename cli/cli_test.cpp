// The command as its users meet it: what it prints where, and which code it exits with.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

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
    for (const char* arguments : {"nonsense", "methods --nonsense", "methods --json --markdown"}) {
        const auto [code, out, err] = nz(arguments);
        EXPECT_EQ(code, 2) << arguments;
        EXPECT_EQ(out, "") << arguments;
        EXPECT_NE(err, "") << arguments;
    }
}

TEST_F(command, help_is_near) {
    EXPECT_EQ(nz("").out, nz("--help").out);
    EXPECT_EQ(nz("help").out, nz("--help").out);
    for (const std::string& name : subcommands())
        EXPECT_EQ(nz("help " + name).out, nz(name + " --help").out) << name;
    EXPECT_EQ(nz("help generate laplace2d").out, nz("generate laplace2d --help").out);
}

TEST_F(command, a_mistyped_name_is_answered_with_the_nearest) {
    const auto said = [&](const std::string& arguments) {
        const auto [code, out, err] = nz(arguments);
        EXPECT_EQ(code, 2) << arguments;
        EXPECT_EQ(out, "");
        return err;
    };
    EXPECT_EQ(said("slove A.mtx"), "nz: no subcommand 'slove'; did you mean solve?\n");
    EXPECT_EQ(said("help slove"), "nz: no subcommand 'slove'; did you mean solve?\n");
    EXPECT_EQ(said("xyzzy"), "nz: no subcommand 'xyzzy'\n");
    EXPECT_EQ(said("generate laplac2d"), "nz: no subcommand 'laplac2d'; did you mean laplace2d?\n");
    EXPECT_EQ(said("solve A.mtx --metod=cg"),
              "nz: nz solve has no option --metod; did you mean --method?\n");
    EXPECT_EQ(said("solve --method").rfind("nz: --method", 0), 0U);
    EXPECT_EQ(said("solve"), "nz: matrix is required (`nz solve --help` helps)\n");
}

TEST_F(command, complex_types_have_two_spellings) {
    write("A.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n");
    const auto y = nz("spmv A.mtx -o - --type cdouble");
    EXPECT_EQ(y.code, 0) << y.err;
    EXPECT_EQ(nz("spmv A.mtx -o - --type 'complex<double>'").out, y.out);
    EXPECT_EQ(nz("spmv A.mtx -o - --type 'complex<int>'").code, 2);
}

TEST_F(command, manual_pages_and_completion_know_every_subcommand) {
    EXPECT_EQ(nz("man man1").code, 0);
    for (const std::string& name : subcommands()) {
        const std::string page = slurp(dir / "man1" / ("nz-" + name + ".1"));
        EXPECT_NE(page.find(".SH SYNOPSIS\n.B nz " + name + "\n"), std::string::npos) << name;
        for (const char* shell : {"bash", "fish", "zsh"})
            EXPECT_NE(nz("completion " + std::string(shell)).out.find(name), std::string::npos);
    }
    std::ofstream(dir / "nz.bash") << nz("completion bash").out;
    const std::string complete =
        "cd '" + dir.string() +
        "' && bash -c '. ./nz.bash; COMP_WORDS=(nz sol); COMP_CWORD=1; _nz; echo ${COMPREPLY[*]};"
        "COMP_WORDS=(nz solve --meth); COMP_CWORD=2; _nz; echo ${COMPREPLY[*]}' >said";
    EXPECT_EQ(std::system(complete.c_str()), 0);
    EXPECT_EQ(slurp(dir / "said"), "solve\n--method\n");
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

/// Every source begins with a short name of docs/sources.md.
TEST_F(command, sources_as_documented) {
    std::vector<std::string> short_names;
    std::istringstream text(slurp(NZ_SOURCE_DIR "/docs/sources.md"));
    for (std::string line; std::getline(text, line);)
        if (line.rfind("| ", 0) == 0) short_names.push_back(line.substr(2, line.find(" |", 2) - 2));
    for (const auto& row : nlohmann::json::parse(nz("methods --json").out)) {
        const std::string source = row["source"];
        EXPECT_TRUE(std::any_of(short_names.begin(), short_names.end(), [&](const auto& name) {
            return source.rfind(name, 0) == 0;
        })) << source;
    }
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
    for (const char* name : {"B.npz", "B.mtx", "B.mtx.gz"}) {
        const auto converted = nz("convert A.mtx " + std::string(name));
        EXPECT_EQ(converted.code, 0) << converted.err;
        EXPECT_EQ(converted.err, "");
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
    EXPECT_EQ(nz("convert C.mtx D.npz").code, 0);
    EXPECT_EQ(nz("convert D.npz back.mtx").code, 0);
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
    const auto told = nlohmann::json::parse(nz("spmv A.mtx -x x.mtx --json -").out);
    EXPECT_NEAR(told["norm_of_y"], std::sqrt(201.0 * 201 + 30 * 30 + 504 * 504), 1e-12);
    EXPECT_EQ(told["rows"], 3);
    EXPECT_GT(told["product_s"], 0);
    EXPECT_FALSE(told.contains("memory"));  // that of a rank among several
}

TEST_F(command, spmv_refuses) {
    write("A.mtx", std::string(banner) + three_by_three);
    write("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n10\n");
    write("C.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 -2\n");
    for (const char* what : {"-x x.mtx", "--method csr.nonsense", "--alpha two", "--alpha 1,2",
                             "--beta 1x", "--threads 0", "--type int", "--json -"}) {
        const auto [code, out, err] = nz("spmv A.mtx -o - " + std::string(what));
        EXPECT_EQ(code, 2) << what << ": " << err;
        EXPECT_EQ(out, "") << what;
        EXPECT_NE(err, "") << what;
    }
    EXPECT_EQ(nz("spmv C.mtx --type double").code, 3);
    EXPECT_EQ(nz("spmv C.mtx -o -").out,
              "%%MatrixMarket matrix array complex general\n1 1\n1 -2\n");
}

/// The longest line, in characters: bytes that continue none.
std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, std::size_t(std::count_if(line.begin(), line.end(), [](char c) {
                               return (c & 0xC0) != 0x80;
                           })));
    return longest;
}

TEST_F(command, tables_fit_80_columns_unless_they_need_not) {
    write("A.mtx", std::string(banner) + three_by_three);
    for (const std::string arguments :
         {"plan A.mtx --threads 1", "plan A.mtx --threads 1 --all", "bench A.mtx --seconds 0.001",
          "bench A.mtx --plan --seconds 0.001"})
        EXPECT_LE(longest_line(nz(arguments).out), 80U) << arguments;
    EXPECT_GT(longest_line(nz("bench A.mtx --seconds 0.001 --wide").out), 80U);
    EXPECT_NE(nz("methods --wide").out.find("algorithm 3\n"), std::string::npos);
}

TEST_F(command, json_goes_to_a_file_or_alone_to_stdout) {
    write("A.mtx", std::string(banner) + three_by_three);
    for (const std::string sub : {"info A.mtx", "plan A.mtx --threads 1", "explain A.mtx"}) {
        const auto alone = nz(sub + " --json");
        EXPECT_TRUE(nlohmann::json::accept(alone.out)) << sub;
        const std::string name = sub.substr(0, sub.find(' '));
        EXPECT_TRUE(nlohmann::json::accept(nz(name + " --json A.mtx").out)) << sub;
        const auto to_file = nz(sub + " --json r.json");
        EXPECT_EQ(to_file.code, 0) << to_file.err;
        EXPECT_FALSE(nlohmann::json::accept(to_file.out)) << sub;  // text as without it
        EXPECT_TRUE(nlohmann::json::accept(slurp(dir / "r.json")));
    }
    EXPECT_EQ(nz("info A.mtx --json r.txt").code, 2);
}

TEST_F(command, plan_begins_with_the_answer) {
    write("A.mtx", std::string(banner) + three_by_three);
    const std::string out = nz("plan A.mtx --threads 2").out;
    EXPECT_TRUE(std::regex_search(
        out, std::regex("^[a-z_.]+ should take [0-9.]+ [nu]s a product; next is [a-z_.]+ with "
                        "[0-9.]+ [nu]s(, [0-9.]+\\s+times as long)?\n"
                        "setup takes [0-9.]+ [num]s(;|,) [^\n]+\n"
                        "matrix 3 x 3, 5 entries; machine ")))
        << out;
    EXPECT_NE(out.find("bytes moved"), std::string::npos);
    EXPECT_NE(out.find("bytes stored"), std::string::npos);
    EXPECT_TRUE(std::regex_search(
        out, std::regex("\nmore methods that suit: [0-9]+; that decline: [0-9]+ \\(--all\\)\n$")))
        << out;
    EXPECT_LE(std::count(out.begin(), out.end(), '\n'), 15);
    EXPECT_EQ(out.find("declines"), std::string::npos);
}

TEST_F(command, plan_says_why_of_every_method) {
    write("A.mtx", std::string(banner) + three_by_three);
    const auto [code, out, err] = nz("plan A.mtx --threads 2 --all");
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(err, "");
    const auto methods = nlohmann::json::parse(nz("methods --json").out);
    for (const auto& row : methods)
        EXPECT_NE(std::regex_search(out, std::regex(std::string(row["name"]) + "\\b")),
                  row["teaches"].get<bool>())
            << row["name"];
    EXPECT_NE(out.find("\ndecline\n"), std::string::npos) << out;

    const auto j = nlohmann::json::parse(nz("plan A.mtx --threads 2 --json").out);
    EXPECT_EQ(j["chosen"], j["candidates"][0]["method"]);
    EXPECT_GT(j["candidates"][0]["predicted_s"], 0.0);
    EXPECT_EQ(j["nnz"], 5);
    const std::string chosen = j["chosen"];
    EXPECT_NE(nz("spmv A.mtx --threads 2").out.find("method   " + chosen + ","), std::string::npos);
}

TEST_F(command, plan_says_how_values_are_stored) {
    write("A.mtx", std::string(banner) + three_by_three);
    const auto plan = [&](const std::string& options) {
        return nz("plan A.mtx --threads 1 " + options);
    };
    EXPECT_EQ(plan("").out.find("storage"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(plan("--json").out)["storage"], "exact");
    EXPECT_NE(plan("--storage single").out.find("\nstorage single: |y - A x| <= 5.96e-08 |A| |x|"),
              std::string::npos);
    const auto j = nlohmann::json::parse(plan("--json --storage single").out);
    EXPECT_EQ(j["storage"], "single");
    EXPECT_EQ(j["bound"]["unit_roundoff"], 0x1p-24);
    EXPECT_EQ(plan("--storage quarter").code, 2);
    EXPECT_EQ(plan("--storage single --type cdouble").code, 2);
}

TEST_F(command, plan_tuned_is_kept) {
    setenv("XDG_CACHE_HOME", dir.c_str(), 1);  // where no plan is kept yet
    write("A.mtx", std::string(banner) + three_by_three);
    const std::string how = "plan A.mtx --threads 1 --tune --json --expected-products 1000";
    const auto first = nlohmann::json::parse(nz(how).out);
    EXPECT_GT(first["candidates"][0]["measured_s"], 0.0);
    EXPECT_EQ(first["expected_products"], 1000);
    EXPECT_EQ(nlohmann::json::parse(nz(how).out)["candidates"], first["candidates"]);
    EXPECT_NE(nlohmann::json::parse(nz(how + " --fresh").out)["candidates"], first["candidates"]);
    setenv("XDG_CACHE_HOME", NZ_TEST_CACHE, 1);
}

TEST_F(command, plan_refuses) {
    write("A.mtx", std::string(banner) + three_by_three);
    for (const char* what : {"--expected-products 0", "--expected-products many", "--device tpu",
                             "--device gpu --threads 2", "--type int"})
        EXPECT_EQ(nz("plan A.mtx " + std::string(what)).code, 2) << what;
    EXPECT_EQ(nz("plan nowhere.mtx").code, 3);
}

TEST_F(command, show_shows_csr_and_names_the_others) {
    write("A.mtx", std::string(banner) + three_by_three);
    const auto csr = nz("show A.mtx --format csr"), plain = nz("show A.mtx");
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_TRUE(plain.out.starts_with(csr.out)) << plain.out;
    for (const char* other : {"bsr", "ell", "sell", "packed", "--format", "--html"})
        EXPECT_NE(plain.out.find(other), std::string::npos) << other;
    EXPECT_EQ(nz("show A.mtx --hack 2").code, 2);  // csr takes none
}

TEST_F(command, show_draws_the_arrays_as_the_lectures_do) {
    // The 4 x 4 example of CS121 2023, with * for padding.
    write("A.mtx", std::string(banner) +
                       "4 4 9\n1 1 1\n1 2 7\n2 2 2\n2 3 8\n3 1 5\n3 3 3\n3 4 9\n4 2 6\n4 4 4\n");
    const auto shown = [&](const std::string& arguments) {
        const auto [code, out, err] = nz("show A.mtx --format " + arguments);
        EXPECT_EQ(code, 0) << arguments << ": " << err;
        return out;
    };
    const auto contains = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text << "lacks\n" << part;
    };
    contains(shown("csr"),
             "row_ptr = 0 2 4 7 9\n"
             "col_ind = 0 1 1 2 0 2 3 1 3\n"
             "val     = 1 7 2 8 5 3 9 6 4\n");
    contains(shown("coo"), "row_ind = 0 0 1 1 2 2 2 3 3\n");
    contains(shown("dia"),
             "offsets   = -2  0  1\n"
             "diagonals = * * 5 6 1 2 3 4 7 8 9 *\n");
    contains(shown("dia"), "  * 1 7\n  * 2 8\n  5 3 9\n  6 4 *\n");
    contains(shown("ell"),
             "col_ind = 0 1 0 1 1 2 2 3 * * 3 *\n"
             "val     = 1 2 5 6 7 8 3 4 * * 9 *\n");
    contains(shown("ell"), "  1 7 *\n  2 8 *\n  5 3 9\n  6 4 *\n");
    contains(shown("hyb --split-width 2"), "ell.val     = 1 2 5 6 7 8 3 4\n");
    contains(shown("hyb --split-width 2"),
             "coo.row_ind = 2\n"
             "coo.col_ind = 3\n"
             "coo.val     = 9\n");
    contains(shown("hll --hack 2"), "val      = 1 2 7 8 5 6 3 4 9 *\n");
    contains(shown("hll --hack 2"), "val of hack 1, a row a line:\n  5 3 9\n  6 4 *\n");
    contains(shown("hll_rows --hack 2"), "val      = 1 7 2 8 5 3 9 6 4 *\n");
    contains(shown("icrs --interleave 2"), "val       = 1 2 7 8 5 6 3 4 9 *\n");
    contains(shown("icrs --interleave 2"), "val of group 1, a row a line:\n  5 3 9\n  6 4 *\n");
    contains(shown("jds_ell --least-fill 1"), "val           = 5 3 9 1 2 6 7 8 4\n");
    contains(shown("jds_ell --least-fill 0"), "val           = 5 1 2 6 3 7 8 4 9 * * *\n");
    contains(shown("jds"), "val     = 5 3 9 1 7 2 8 6 4\n");
    contains(shown("jds_transposed"), "val     = 5 1 2 6 3 7 8 4 9\n");
    contains(shown("sell --chunk 2 --sort-scope 4"), "val         = 5 1 3 7 9 * 2 6 8 4\n");
    contains(shown("bsr --block-side 2"), "block_col_ind = 0 1 0 1\n");
    contains(shown("bsr --block-side 2"), "val           = 1 7 * 2 * * 8 * 5 * * 6 3 9 * 4\n");
}

TEST_F(command, show_shows_every_format_that_there_is) {
    write("A.mtx", std::string(banner) + three_by_three);
    for (const auto& row : nlohmann::json::parse(nz("methods --json").out)) {
        const std::string layout = row["layout"];
        EXPECT_EQ(nz("show A.mtx --format " + layout).code, 0) << layout;
    }
}

TEST_F(command, show_refuses_what_fits_no_screen_and_what_does_not_belong) {
    write("A.mtx", std::string(banner) + three_by_three);
    write("large.mtx", std::string(banner) + "65 3 1\n1 1 1\n");
    const auto [code, out, err] = nz("show large.mtx --format csr");
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out, "");
    expect_one_line(err);
    EXPECT_EQ(nz("show A.mtx --format nonsense").code, 2);
    EXPECT_EQ(nz("show A.mtx --format csr --split-width 2").code, 2);
    EXPECT_EQ(nz("show A.mtx --format hyb --split-width 0").code, 2);
}

}  // namespace
}  // namespace nz::test
