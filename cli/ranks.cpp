#include "cli/ranks.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>
#include <thread>

#include "cli/mpi/plugin.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz::cli {
namespace {

const mpi_plugin* plugin = nullptr;
const communicator* ranks = nullptr;

/// Variables in which launchers tell size and rank: Open MPI's, MPICH's and Intel's, Slurm's.
struct launcher {
    const char *size, *rank;
};
constexpr launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                  {"PMI_SIZE", "PMI_RANK"},
                                  {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

int number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::atoi(text);
}

/// The launcher that has started several of us; null where none has.
const launcher* launcher_of_this_run() {
    // One that is started by another, as mpirun by srun, comes before it.
    const auto* const at =
        std::ranges::find_if(launchers, [](launcher l) { return std::getenv(l.size) != nullptr; });
    return at == std::end(launchers) || number_in(at->size) <= 1 ? nullptr : at;
}

/// Whether the parent is a rank itself, such as a shell's script or a user's program.
bool is_child_of_rank(const launcher& l) {
    std::ifstream file("/proc/" + std::to_string(getppid()) + "/environ");
    const std::string rank = std::string(l.rank) + "=";
    for (std::string variable; std::getline(file, variable, '\0');)
        if (variable.starts_with(rank)) return true;
    return false;
}

/// Where the plugin may be: beside the command in a build tree, in the library's folder beside the
/// command's where installed, or where the loader looks.
std::vector<std::string> plugin_paths() {
    const std::string name = "libnonzero_mpi.so";
    std::error_code unknown;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
    if (unknown) return {name};
    return {folder / name, folder / ".." / NZ_LIBRARY_FOLDER / name, name};
}

const mpi_plugin& loaded_plugin() {
    std::string why;
    for (const std::string& path : plugin_paths()) {
        // Open MPI opens parts of its own, which look for its symbols among the global ones.
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) {
            if (path.find('/') == std::string::npos || std::filesystem::exists(path))
                why = dlerror();
            continue;
        }
        if (const void* const found = dlsym(library, mpi_plugin_symbol))
            return *static_cast<const mpi_plugin*>(found);
        why = path + " is none of nonzero's";
    }
    throw unavailable(
        "several processes were started, but nonzero's part for MPI cannot be "
        "loaded: " +
        why + "; build nonzero where MPI is installed");
}

/// Starts MPI.
void join(const launcher& l) {
    plugin = &loaded_plugin();
    const communicator* const all = plugin->start();
    const int started = number_in(l.size);
    if (all->size() == started) {
        ranks = all;
        return;
    }
    const int met = all->size();
    plugin->finish();
    throw unavailable(fmt::format(
        "{} processes were started, but {} met: the launcher belongs to another MPI than nonzero "
        "was built with",
        started, met));
}

/// Another version may agree on other things in another way: this comes first, and stays as it is.
void agree_on_version() {
    std::array<char, 64> mine{};
    constexpr std::string_view version = NZ_VERSION;
    std::ranges::copy(version.substr(0, mine.size() - 1), mine.begin());
    const auto all = gathered(*ranks, mine);
    agree(ranks, [&] {
        if (mine != all[0])
            throw argument_error(
                fmt::format("is nz {}, and rank 0 is nz {}: install the same on all", mine.data(),
                            all[0].data()));
    });
}

/// Rank 0's.
std::string text_of_first(const std::string& mine) {
    const auto lengths = gathered(*ranks, mine.size());
    const std::size_t longest = std::ranges::max(lengths);
    std::string padded = mine, all(longest * lengths.size(), '\0');
    padded.resize(longest);
    ranks->all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
    return all.substr(0, lengths[0]);
}

/// All ranks can do what they were asked for, and were asked for the same.
void agree_on(const request& asked) {
    agree(ranks, [&] {
        if (!asked.fault.empty()) throw argument_error(asked.fault);
    });
    const std::string first = text_of_first(asked.text);
    agree(ranks, [&] {
        if (asked.text != first)
            throw argument_error(
                fmt::format("was started with `{}`, and rank 0 with `{}`; all need the same",
                            asked.text, first));
    });
}

}  // namespace

bool is_speaker() {
    const launcher* const l = launcher_of_this_run();
    return l == nullptr || number_in(l->rank) == 0;
}

int run_by_all(const request& asked) {
    const launcher* const l = launcher_of_this_run();
    if (l == nullptr || (!asked.runs_over_ranks && is_child_of_rank(*l))) {
        if (!asked.fault.empty()) throw argument_error(asked.fault);
        return asked.run();
    }
    join(*l);
    agree_on_version();
    agree_on(asked);
    if (asked.runs_over_ranks && !asked.is_said_once) return asked.run();
    int code = done;
    agree(ranks, [&] {
        if (!asked.is_said_once || ranks->rank() == 0) code = asked.run();
    });
    return code;
}

const communicator* ranks_of_this_run() { return ranks; }

std::string place_of(const communicator& all, cpu on) {
    return fmt::format("{} processes of {} threads", all.size(), on.threads);
}
std::string place_of(const communicator& all, const gpu_rank& mine) {
    return fmt::format("{} processes, {}, by {}", all.size(), describe_gpu(mine).name,
                       mine.transport());
}

void add_share_gpu(const command& sub, bool& to) {
    sub.add_flag(share_gpu_option, to, "let several processes run on one GPU");
}

void on_first_ranks(int count, const std::function<void(const communicator&)>& f) {
    std::exception_ptr fault;
    if (const auto those = plugin->first(count); those != nullptr) try {
            f(*those);
        } catch (const agreed_error& e) {  // any other ends all ranks
            if (e.rank == ranks->rank()) fault = std::current_exception();
        }
    plugin->meet_asleep();
    agree(ranks, [&] {
        if (fault) std::rethrow_exception(fault);
    });
}

void tell_failure(const std::exception& e, int exit_code) {
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
    const char* const what = no_memory ? "out of memory" : e.what();
    if (ranks == nullptr) {
        const launcher* const l = launcher_of_this_run();
        if (l == nullptr) return void(std::fprintf(stderr, "nz: %s\n", what));
        const int rank = number_in(l->rank);
        if (rank > 0)
            std::this_thread::sleep_for(std::min(rank + 4, 20) * std::chrono::milliseconds(500));
        std::fprintf(stderr, "nz: rank %d of %d: %s\n", rank, number_in(l->size), what);
        return;
    }
    const auto* const agreed = dynamic_cast<const agreed_error*>(&e);
    if (agreed == nullptr || agreed->rank == ranks->rank())
        std::fprintf(stderr, "nz: rank %d of %d: %s\n", ranks->rank(), ranks->size(), what);
    if (agreed == nullptr) plugin->abort(exit_code);
}

void leave_ranks() {
    if (ranks == nullptr) return;
    ranks = nullptr;
    plugin->finish();
}

}  // namespace nz::cli
