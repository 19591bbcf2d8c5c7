#include "cli/process.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/command.hpp"
#include "nonzero/io/atomic_file.hpp"

namespace nz::cli {
namespace {

bool finished = false;  // whether an exit is main's own

extern "C" void on_signal(int signal) {
    remove_unfinished_files();
    raise(signal);  // which now ends the process, as SA_RESETHAND had it
}

/// libgomp exits with 1 where it gets no thread or no memory.
extern "C" void on_exit_of_others() {
    if (finished) return;
    remove_unfinished_files();
    std::fflush(stdout);
    std::fputs("nz: OpenMP could not go on; fewer threads may do\n", stderr);
    _exit(machine);
}

}  // namespace

void open_standard_streams() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) ::close(fd);
}

void bound_waiting(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr)
        return;
    if (getauxval(AT_BASE) == 0) return;  // started by the loader's own command: /proc names that
    std::error_code none;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
    if (none) return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("GOMP_SPINCOUNT", "2000", 1);
    execv(self.c_str(), argv);  // where it returns, threads wait as OpenMP has it
}

void leave_no_unfinished_files() {
    std::atexit(on_exit_of_others);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        struct sigaction on_end {};
        sigaction(signal, nullptr, &on_end);
        if (on_end.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background
        on_end.sa_handler = on_signal;
        on_end.sa_flags = int(SA_RESETHAND);
        sigaction(signal, &on_end, nullptr);
    }
    std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is a write that fails
}

int finish(int code) {
    finished = true;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    if (code != machine)  // else that has been said
        std::fprintf(stderr, "nz: stdout: cannot write: %s\n", std::strerror(errno));
    return machine;
}

}  // namespace nz::cli
