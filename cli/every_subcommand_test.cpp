// Properties of every subcommand: each test iterates those that the command itself lists, with the
// options that their own help shows. A new subcommand fails here until its line in `uses` is
// written.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "test/command.hpp"

namespace nz::test {
namespace {

using nlohmann::json;

/// How a subcommand is run in a moment, and how it writes its file, where it writes one.
struct use {
    std::string arguments;  ///< A.mtx is the matrix
    std::string file = {};  ///< more arguments, of which the last is the file's name
};
const std::map<std::string, use> uses = {
    {"bench", {"A.mtx --methods csr.serial --threads 1 --seconds 0.001"}},
    {"convert", {"A.mtx", "B.mtx"}},
    {"eigs", {"A.mtx -k 1", "-o v.mtx"}},
    {"explain", {"A.mtx --method csr.scalar", "-o w.svg"}},
    {"generate", {"--list"}},
    {"help", {"solve"}},
    {"info", {"A.mtx"}},
    {"machine", {"--threads 1"}},
    {"methods", {""}},
    {"pagerank", {"A.mtx", "-o r.tsv"}},
    {"partition", {"A.mtx", "-o p.tsv"}},
    {"plan", {"A.mtx --threads 1"}},
    {"reorder", {"A.mtx", "-o P.mtx"}},
    {"report", {"A.mtx --threads 1 --seconds 0.001 --solve-seconds 0", "-o A.html"}},
    {"show", {"A.mtx", "--html -o S.html"}},
    {"solve", {"A.mtx", "-o x.mtx"}},
    {"spmv", {"A.mtx", "-o y.mtx"}},
    {"spy", {"A.mtx", "-o A.png"}},
    {"study", {"A.mtx --threads 1 --seconds 0.001"}},
    {"svds", {"A.mtx -k 1", "-o v.mtx"}},
};

class every_subcommand : public command {
  protected:
    every_subcommand() {
        write("A.mtx",
              "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n"
              "2 2 4\n3 2 -1\n3 3 4\n");
    }
    [[nodiscard]] static use use_of(const std::string& name) {
        const auto at = uses.find(name);
        if (at != uses.end()) return at->second;
        ADD_FAILURE() << name << " is in no test";
        return {};
    }
    /// The long options that its help lists, with what each takes and all that is said of it.
    [[nodiscard]] std::map<std::string, std::string> options(const std::string& name) const {
        std::map<std::string, std::string> found;
        std::istringstream help(nz(name + " --help").out);
        const std::regex option("^  (?:-[a-z],)?(--[a-z-]+) ?(.*)");
        std::smatch match;
        std::string last;
        for (std::string line; std::getline(help, line);)
            if (std::regex_match(line, match, option))
                found[last = match[1]] = match[2];
            else if (line.starts_with("      ") && !last.empty())
                found[last] += line.substr(line.find_last_of(' ', line.find_first_not_of(' ')));
        EXPECT_TRUE(found.contains("--help")) << name;
        return found;
    }
    [[nodiscard]] bool takes(const std::string& name, const std::string& option) const {
        return options(name).contains(option);
    }
    /// Arguments that fill what must be there beside --json, and write no file where they need not.
    [[nodiscard]] std::string run_of(const std::string& name) const {
        const use u = use_of(name);
        const bool must = name == "convert" || name == "report";
        const bool text = name == "show";
        return name + " " + u.arguments + (must ? " " + u.file : text ? " --format csr" : "");
    }
    [[nodiscard]] int shell(const std::string& line) const {
        const int status = std::system(("cd '" + dir.string() + "' && " + line).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::vector<std::string> unfinished() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(dir))
            if (entry.path().extension() == ".part") names.push_back(entry.path().filename());
        return names;
    }
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// "-o x.mtx" as "-o no/x.mtx".
std::string in_folder(const std::string& file, const std::string& folder) {
    const auto at = file.rfind(' ');
    return at == std::string::npos ? folder + file
                                   : file.substr(0, at + 1) + folder + file.substr(at + 1);
}

TEST_F(every_subcommand, finds_that_its_file_cannot_be_written_before_it_reads) {
    for (const std::string& name : subcommands()) {
        const use u = use_of(name);
        const std::string nowhere = replaced(u.arguments, "A.mtx", "nowhere.mtx");
        if (takes(name, "--output") || name == "convert") {
            ASSERT_NE(u.file, "") << name;
            const auto r = nz(name + " " + nowhere + " " + in_folder(u.file, "no/"));
            EXPECT_EQ(r.code, 4) << name << ": " << r.err;
            EXPECT_NE(r.err.find("cannot write: "), std::string::npos) << name << ": " << r.err;
        }
        if (takes(name, "--json")) {
            const auto r = nz(replaced(run_of(name), "A.mtx", "nowhere.mtx") + " --json no/r.json");
            EXPECT_EQ(r.code, 4) << name << ": " << r.err;
            EXPECT_NE(r.err.find("cannot write: "), std::string::npos) << name << ": " << r.err;
        }
    }
    EXPECT_EQ(unfinished(), std::vector<std::string>());
}

/// With `ulimit -f 0` every write to a file fails, as on a full disk.
TEST_F(every_subcommand, exits_4_where_its_file_does_not_fit) {
    const auto run = [&](const std::string& arguments) {
        EXPECT_EQ(shell("(ulimit -f 0; exec '" NZ_COMMAND "' " + arguments + ") >/dev/null 2>&1"),
                  4)
            << arguments;
        EXPECT_EQ(unfinished(), std::vector<std::string>()) << arguments;
    };
    // So that no run has to measure the machine, whose speeds it could not keep.
    for (const char* plan : {"plan A.mtx", "plan A.mtx --threads 1"}) EXPECT_EQ(nz(plan).code, 0);
    for (const std::string& name : subcommands()) {
        const use u = use_of(name);
        const bool writes = takes(name, "--output") || name == "convert";
        if (writes) run(name + " " + u.arguments + " " + u.file);
        if (takes(name, "--json") && name != "report") run(run_of(name) + " --json r.json");
    }
}

TEST_F(every_subcommand, ends_by_ctrl_c_in_a_pipe_and_leaves_no_unfinished_file) {
    ASSERT_EQ(::mkfifo((dir / "F.mtx").c_str(), 0600), 0);  // reading it waits for a writer
    for (const std::string& name : subcommands()) {
        const use u = use_of(name);
        if (u.arguments.find("A.mtx") == std::string::npos) continue;
        const std::string to_json = takes(name, "--json") ? " --json r.json" : "";
        const std::string run =
            name + " " + replaced(u.arguments, "A.mtx", "F.mtx") + " " + u.file + to_json;
        (void)shell("{ timeout --foreground --preserve-status -k 20 -s INT 0.3 '" NZ_COMMAND "' " +
                    run + " 2>err; echo $? >code; } | cat >out");
        EXPECT_EQ(slurp(dir / "code"), "130\n") << run << ": " << slurp(dir / "err");
        EXPECT_EQ(unfinished(), std::vector<std::string>()) << run;
    }
}

TEST_F(every_subcommand, means_the_same_by_json) {
    for (const std::string& name : subcommands()) {
        if (!takes(name, "--json")) continue;
        const std::string run = run_of(name);
        const auto alone = nz(run + " --json");
        EXPECT_EQ(alone.code, 0) << run << ": " << alone.err;
        EXPECT_TRUE(json::accept(alone.out)) << run << ": " << alone.out;
        const auto r = nz(run + " --json r.json");
        EXPECT_EQ(r.code, 0) << run << ": " << r.err;
        EXPECT_FALSE(r.out.empty()) << run;
        EXPECT_FALSE(json::accept(r.out)) << run << ": text is printed as without it";
        EXPECT_TRUE(json::accept(slurp(dir / "r.json"))) << run;
        fs::remove(dir / "r.json");
        EXPECT_EQ(nz(run + " --json r.txt").code, 2) << run;
    }
}

TEST_F(every_subcommand, writes_its_file_and_nothing_else_to_stdout_where_its_name_is_a_dash) {
    std::map<std::string, use> all = uses;
    all["generate"] = {"laplace2d --nx 3 --ny 3", "-o L.mtx"};
    for (const auto& [name, u] : all) {
        if (u.file.empty()) continue;
        const std::string run = name + " " + u.arguments + " ";
        const auto to_file = nz(run + u.file);
        const std::string path = u.file.substr(u.file.rfind(' ') + 1);
        const std::string content = slurp(dir / path);
        const std::string to_stdout = u.file.substr(0, u.file.size() - path.size()) + "-";
        const auto r = nz(run + to_stdout);
        EXPECT_EQ(r.code, to_file.code) << run << to_stdout << ": " << r.err;
        EXPECT_FALSE(content.empty()) << run;
        if (name == "report")  // two measurements, two pages
            EXPECT_TRUE(r.out.starts_with(content.substr(0, 100)) && r.out.ends_with("</html>\n"));
        else
            EXPECT_EQ(r.out, content) << run;
        if (!takes(name, "--json") || name == "generate") continue;
        const auto both = nz(run + to_stdout + " --json -");
        EXPECT_EQ(both.code, 2) << run;
        EXPECT_EQ(both.err, "nz: --json and --output: only one of them to stdout\n") << run;
        EXPECT_EQ(both.out, "") << run;
    }
}

/// The words that an option of numbers must refuse, by what its help says that it takes.
std::vector<std::string> wrong_words(const std::string& takes) {
    std::vector<std::string> words = {"abc", "nan", "inf", "1e999", "3x"};
    const std::regex range(", (from|>|>=) ([-+.e0-9]+)(?: to ([-+.e0-9]+))?");
    std::smatch m;
    if (!std::regex_search(takes, m, range)) return words;
    if (takes.starts_with("INT"))
        words.insert(words.end(), {"1.5", "18446744073709551616", "99999999999999999999999"});
    words.push_back(m[1] == ">" ? m[2].str() : std::to_string(std::stol(m[2]) - 1));
    words.emplace_back("-1");
    if (m[3].matched)
        words.push_back(m[3].str().find('e') == std::string::npos
                            ? std::to_string(std::stoll(m[3]) + 1)
                            : "1e300");
    return words;
}

/// One line of a few words, without a number that nobody reads.
void expect_short(const std::string& err, const std::string& run) {
    EXPECT_LE(err.size(), 160U) << run << ": " << err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << run << ": " << err;
    EXPECT_FALSE(std::regex_search(err, std::regex("[0-9]{20}|[0-9]\\.[0-9]{6}")))
        << run << ": " << err;
}

TEST_F(every_subcommand, says_in_a_few_words_which_numbers_an_option_takes) {
    std::vector<std::string> all = subcommands();
    for (const json& g : json::parse(nz("generate --list --json").out))
        all.push_back("generate " + g["name"].get<std::string>());
    int tried = 0;
    for (const std::string& name : all)
        for (const auto& [option, takes] : options(name)) {
            if (!std::regex_search(takes, std::regex("^(INT|FLOAT) "))) continue;
            ++tried;
            const bool of_generator = name.starts_with("generate ");
            EXPECT_TRUE(of_generator || wrong_words(takes).size() > 6) << name << " " << takes;
            for (const std::string& word : wrong_words(takes)) {
                const std::string run = name + " " + option + " " + word;
                const auto [code, out, err] = nz(run);
                EXPECT_EQ(code, 2) << run;
                EXPECT_TRUE(err.starts_with("nz: " + option + ": expected a "))
                    << run << ": " << err;
                EXPECT_NE(err.find(", not '" + word + "'"), std::string::npos)
                    << run << ": " << err;
                if (word.size() < 20) expect_short(err, run);
            }
        }
    EXPECT_GE(tried, 60);
}

/// As people write it: what is typed, then what it is for, what it takes and its default.
TEST_F(every_subcommand, shows_defaults_and_ranges_one_way) {
    for (const std::string& name : subcommands()) {
        const std::string help = nz(name + " --help").out;
        for (const char* no : {"REQUIRED", "TEXT:", "INT:", "FLOAT:", "UINT",
                               "Excludes:", "Needs:", "{false}", " [all", " [1, 2"})
            EXPECT_EQ(help.find(no), std::string::npos) << name << ": " << no;
        for (const auto& [option, text] : options(name)) {
            const auto at = text.find(" (default: ");
            EXPECT_TRUE(at == std::string::npos || text.ends_with(')')) << option << text;
            EXPECT_FALSE(std::regex_search(text, std::regex("^\\S*="))) << option << text;
        }
    }
    const std::string help = nz("plan --help").out;
    EXPECT_NE(help.find("--device cpu|gpu            device that multiplies (default: cpu)\n"),
              std::string::npos)
        << help;
    EXPECT_NE(help.find("number of threads, from 1 to 1024 (default: all)\n"), std::string::npos);
    EXPECT_NE(nz("bench --help").out.find("; only with --distinct"), std::string::npos);
    EXPECT_NE(nz("report --help").out.find("(required)"), std::string::npos);
}

/// Numbers that are parts of a word, and those whose range only the library knows.
TEST_F(every_subcommand, says_in_a_few_words_what_is_wrong_with_any_other_number) {
    for (const char* run :
         {"bench A.mtx --threads 0", "study A.mtx --threads -1", "bench A.mtx --tile 1.5",
          "report A.mtx -o A.html --threads 1,1e9", "spmv A.mtx --alpha 1e999",
          "spmv A.mtx --beta x", "generate laplace2d --nx -1 -o B.npz",
          "generate banded --fill 2 -o B.npz", "generate powerlaw --exponent 1 -o B.npz",
          "generate elasticity3d --poisson 0.5 -o B.npz", "generate laplace3d --nx 1e300 -o B.npz",
          "explain A.mtx --method csr.scalar --warp 9223372036854775807"}) {
        const auto [code, out, err] = nz(run);
        EXPECT_EQ(code, 2) << run << ": " << err;
        expect_short(err, run);
    }
}

TEST_F(every_subcommand, takes_the_numbers_at_the_ends_of_a_range) {
    for (const char* run :
         {"solve A.mtx --tol 0 --max-iter 0", "solve A.mtx --max-iter 9223372036854775807",
          "solve A.mtx --restart 1 --block 1", "eigs A.mtx -k 1 --tol 1e-300",
          "svds A.mtx --count 2147483647",
          "plan A.mtx --threads 1 --expected-products 1 --vectors 1", "plan A.mtx --threads 010",
          "partition A.mtx --parts +2 --imbalance 0"}) {
        const auto [code, out, err] = nz(run);
        EXPECT_NE(code, 2) << run << ": " << err;
        EXPECT_EQ(err, "") << run;
    }
    EXPECT_EQ(json::parse(nz("reorder A.mtx --threads 1 --blocks 010 --json -").out)["blocks"], 10);
}

TEST_F(every_subcommand, answers_a_mistyped_name_with_the_nearest) {
    for (const std::string& name : subcommands()) {
        EXPECT_EQ(nz(name + name.back()).err,
                  "nz: no subcommand '" + name + name.back() + "'; did you mean " + name + "?\n");
        for (const auto& [option, what] : options(name)) {
            const std::string mistyped = option + option.back();
            const auto [code, out, err] = nz(name + " " + mistyped);
            EXPECT_EQ(code, 2) << name << " " << mistyped;
            EXPECT_EQ(err, "nz: nz " + name + " has no option " + mistyped + "; did you mean " +
                               option + "?\n");
        }
    }
}

TEST_F(every_subcommand, that_takes_complex_values_knows_both_spellings) {
    int tried = 0;
    for (const std::string& name : subcommands()) {
        const auto all = options(name);
        if (!all.contains("--type") || all.at("--type").find("cdouble") == std::string::npos)
            continue;
        ++tried;
        for (const char* type : {"cdouble", "'complex<double>'"})
            EXPECT_EQ(nz(run_of(name) + " --type " + type).code, 0) << name << " " << type;
    }
    EXPECT_GE(tried, 4);
}

TEST_F(every_subcommand, prints_lines_of_80_characters_at_most) {
    const auto check = [&](const std::string& arguments) {
        std::istringstream lines(nz(arguments).out);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("  " NZ_COMMAND)) continue;  // to be copied
            const auto characters =
                std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
            EXPECT_LE(characters, 80) << arguments << ": " << line;
        }
    };
    check("");
    for (const std::string& name : subcommands()) {
        check(name + " --help");
        check(run_of(name));
    }
}

}  // namespace
}  // namespace nz::test
