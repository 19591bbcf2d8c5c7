// The command as its users meet it: what it prints where, and which code it exits with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace nz::test {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct outcome {
    int code;
    std::string out, err;
};

/// A folder of its own for every test, gone afterwards, and the command to run in it.
class command : public testing::Test {
  protected:
    command() {
        std::string name = (fs::temp_directory_path() / "nz_cli_XXXXXX").string();
        dir = mkdtemp(name.data());
    }
    ~command() override { fs::remove_all(dir); }

    [[nodiscard]] outcome nz(const std::string& arguments) const {
        const int status = std::system(("cd '" + dir.string() + "' && '" NZ_COMMAND "' " +
                                        arguments + " >out 2>err </dev/null")
                                           .c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(dir / "out"),
                slurp(dir / "err")};
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(dir / name, std::ios::binary) << text;
    }
    /// The names of the subcommands, from the command's own help.
    [[nodiscard]] std::vector<std::string> subcommands() const {
        std::istringstream help(nz("--help").out);
        std::vector<std::string> names;
        bool listed = false;
        for (std::string line; std::getline(help, line);) {
            if (listed && line.rfind("  ", 0) == 0 && line[2] != ' ')
                names.push_back(line.substr(2, line.find(' ', 2) - 2));
            listed = listed || line.rfind("Subcommands", 0) == 0;
        }
        return names;
    }

    fs::path dir;
};

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

}  // namespace
}  // namespace nz::test
