// nz among other processes: closed streams, full disks, signals, threads that cannot be, waiting.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "test/command.hpp"

namespace nz::test {
namespace {

class process : public command {
  protected:
    process() {
        write("A.mtx",
              "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n"
              "2 2 4\n3 2 -1\n3 3 4\n");
    }
    /// The exit code of a shell's command line in which $nz is the command.
    [[nodiscard]] int shell(const std::string& line) const {
        const int status = std::system(
            ("cd '" + dir.string() + "' && nz='" NZ_COMMAND "' && " + line + " 2>err").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::string text(const char* file) const { return slurp(dir / file); }
    [[nodiscard]] bool something_unfinished() const {
        const fs::directory_iterator all(dir);
        return std::any_of(begin(all), end(all),
                           [](const auto& entry) { return entry.path().extension() == ".part"; });
    }
};

/// A subcommand each that prints, in full.
const char* const printing[] = {
    "--help",
    "bench A.mtx --methods csr.serial --threads 1 --seconds 0.001",
    "completion bash",
    "convert A.mtx B.mtx",
    "eigs A.mtx -k 1",
    "explain A.mtx --method csr.scalar",
    "generate laplace2d --nx 3 --ny 3 -o C.npz",
    "generate --list",
    "help solve",
    "info A.mtx",
    "machine --threads 1",
    "methods",
    "methods --json",
    "pagerank A.mtx",
    "partition A.mtx",
    "plan A.mtx --threads 1",
    "reorder A.mtx",
    "report A.mtx --threads 1 --seconds 0.001 --solve-seconds 0 -o A.html",
    "show A.mtx --format csr",
    "solve A.mtx",
    "spmv A.mtx",
    "spmv A.mtx -o -",
    "spy A.mtx",
    "study A.mtx --threads 1 --seconds 0.001",
    "svds A.mtx",
};

TEST_F(process, that_cannot_print_exits_4) {
    std::vector<std::string> not_tried = subcommands();
    for (const std::string arguments : printing) {
        EXPECT_EQ(shell("$nz " + arguments + " >/dev/full"), 4) << arguments;
        const std::string err = text("err");
        EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << arguments << ": " << err;
        EXPECT_EQ(err.rfind("nz: ", 0), 0U) << err;
        EXPECT_EQ(shell("$nz " + arguments + " >out"), 0) << arguments << text("err");
        std::erase(not_tried, arguments.substr(0, arguments.find(' ')));
    }
    EXPECT_EQ(not_tried, std::vector<std::string>());
}

TEST_F(process, whose_reader_has_left_ends_by_the_pipes_signal) {
    EXPECT_EQ(shell("{ sleep 0.3; $nz methods; echo $? >code; } | true"), 0);
    EXPECT_EQ(text("code"), "141\n");  // 128 + SIGPIPE
}

TEST_F(process, with_closed_streams_keeps_its_files_clean) {
    const std::string measure =
        "$nz bench A.mtx --methods csr.serial --threads 1 --seconds 0.001 --json A.json >out ";
    for (const char* closed : {">&-", "<&- >&-", "<&-"}) {
        EXPECT_EQ(shell(measure + closed), 0);
        const std::string json = text("A.json");
        EXPECT_EQ(json.front(), '{') << closed << json;
        EXPECT_EQ(json.substr(json.size() - 2), "}\n") << closed << json;
    }
    EXPECT_EQ(shell("$nz spmv A.mtx -o y.mtx >&- 2>&-; true"), 0);
    EXPECT_EQ(text("y.mtx"), "%%MatrixMarket matrix array real general\n3 1\n3\n2\n3\n");
}

TEST_F(process, finds_that_an_output_cannot_be_written_before_the_work) {
    // Reading would fail, too, and later.
    for (const char* arguments :
         {"convert nowhere.mtx no/B.mtx", "spy nowhere.mtx -o no/A.png",
          "spmv nowhere.mtx -o no/y.mtx", "pagerank nowhere.mtx -o no/r.mtx",
          "reorder nowhere.mtx -o no/B.npz", "reorder nowhere.mtx --order no/p.mtx",
          "spmv nowhere.mtx -o folder.mtx",
          "generate laplace2d --nx 2147483647 --ny 2147483647 -o no/A.npz"}) {
        fs::create_directories(dir / "folder.mtx");
        EXPECT_EQ(shell(std::string("$nz ") + arguments + " >out"), 4) << arguments;
        EXPECT_NE(text("err").find("cannot write: "), std::string::npos) << text("err");
        EXPECT_EQ(text("out"), "");
    }
    for (const char* arguments : {"spmv nowhere.mtx -o y.png", "convert nowhere.mtx B.png",
                                  "reorder nowhere.mtx --order p.npz"})
        EXPECT_EQ(shell(std::string("$nz ") + arguments + " >out"), 2) << arguments;
    EXPECT_FALSE(something_unfinished());
}

TEST_F(process, shows_what_it_could_not_write) {
    // Beyond 2 KB a file cannot grow: vectors of 3,600 elements do not fit.
    ASSERT_EQ(shell("$nz generate laplace2d --nx 60 --ny 60 -o L.npz >out"), 0);
    for (const auto& [arguments, shown] :
         {std::pair("spmv L.npz -o y.mtx", "GFLOP/s"),
          std::pair("pagerank L.npz --top 3 -o r.mtx", "converged"),
          std::pair("reorder L.npz -o B.mtx", "bandwidth")}) {
        EXPECT_EQ(shell("(ulimit -f 4; exec $nz " + std::string(arguments) + ") >out"), 4);
        EXPECT_NE(text("out").find(shown), std::string::npos) << arguments << text("out");
        EXPECT_NE(text("err").find("cannot write: "), std::string::npos) << text("err");
        EXPECT_FALSE(something_unfinished()) << arguments;
    }
}

TEST_F(process, that_is_ended_leaves_no_unfinished_file) {
    ASSERT_EQ(::mkfifo((dir / "G.mtx").c_str(), 0600), 0);  // reading it waits for a writer
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::chdir(dir.c_str()) == 0
                ? ::execl(NZ_COMMAND, "nz", "pagerank", "G.mtx", "--json", "r.json", nullptr)
                : 0;
            _exit(127);
        }
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!something_unfinished() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_TRUE(something_unfinished());
        ::kill(pid, signal);
        int status = 0;
        ::waitpid(pid, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        EXPECT_FALSE(something_unfinished()) << "after signal " << signal;
        EXPECT_FALSE(fs::exists(dir / "r.json"));
    }
}

TEST_F(process, that_gets_no_threads_exits_4) {
    EXPECT_EQ(shell("OMP_STACKSIZE=1000000G $nz pagerank A.mtx --threads 4 --json r.json >out"), 4);
    EXPECT_NE(text("err").find("Thread creation failed"), std::string::npos) << text("err");
    EXPECT_NE(text("err").find("nz: OpenMP could not go on"), std::string::npos) << text("err");
    EXPECT_FALSE(something_unfinished());
}

#if !defined(__clang__)  // what libgomp says of itself
TEST_F(process, has_its_threads_spin_for_a_moment_only) {
    const std::string unset = "env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=verbose ";
    // The last word counts: the command is started twice.
    const auto last = [&](const std::string& name) {
        const std::string err = text("err"), line = name + " = '";
        const auto at = err.rfind(line);
        if (at == std::string::npos) return std::string();
        return err.substr(at + line.size(), err.find('\'', at + line.size()) - at - line.size());
    };
    ASSERT_EQ(shell(unset + "$nz methods >out"), 0);
    EXPECT_EQ(last("GOMP_SPINCOUNT"), "2000");
    EXPECT_EQ(last("OMP_WAIT_POLICY"), "PASSIVE");
    ASSERT_EQ(shell(unset + "OMP_WAIT_POLICY=active $nz methods >out"), 0);
    EXPECT_EQ(last("OMP_WAIT_POLICY"), "ACTIVE");
    ASSERT_EQ(shell(unset + "GOMP_SPINCOUNT=77 $nz methods >out"), 0);
    EXPECT_EQ(last("GOMP_SPINCOUNT"), "77");
}
#endif

}  // namespace
}  // namespace nz::test
