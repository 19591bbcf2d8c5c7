// The command nz, run as its users run it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace nz::test {

namespace fs = std::filesystem;

inline std::string slurp(const fs::path& path) {
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

    /// Runs nz and sends it Ctrl-C as soon as `condition`, a shell's, holds; its exit code. Into a
    /// pipe, which ends in the file out, or in a terminal, whose screen the file seen then shows.
    enum class stage { pipe, terminal };
    [[nodiscard]] std::string interrupted(const std::string& arguments, stage where,
                                          const std::string& condition) const {
        const std::string start = "sh -c 'echo $$ >pid; exec " NZ_COMMAND " " + arguments + "'";
        std::ofstream(dir / "start.sh")
            << (where == stage::pipe ? "(" + start + " 2>err; echo $? >code) | cat >out"
                                     : "script -qefc \"sh run.sh\" seen >screen; echo $? >code");
        std::ofstream(dir / "run.sh") << start << '\n';
        (void)std::system(("cd '" + dir.string() +
                           "' && { sh start.sh </dev/null & for k in $(seq 300); do " + condition +
                           " && break; sleep 0.1; done; kill -INT $(cat pid); wait; }")
                              .c_str());
        return slurp(dir / "code");
    }

    /// Whether there is a `script`, which makes terminals. Tests of what nz shows on one are
    /// skipped without, with the reason no_terminals.
    [[nodiscard]] static bool has_terminals() {
        return std::system("script --version >/dev/null 2>&1") == 0;
    }
    static constexpr const char* no_terminals = "no terminal can be made: script is missing";
    /// Output of nz on a terminal.
    [[nodiscard]] std::string on_terminal(const std::string& arguments) const {
        EXPECT_EQ(std::system(("cd '" + dir.string() + "' && script -qec \"" NZ_COMMAND " " +
                               arguments + "\" seen >screen </dev/null")
                                  .c_str()),
                  0)
            << arguments;
        return slurp(dir / "seen");
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

}  // namespace nz::test
