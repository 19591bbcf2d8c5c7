#include "cli/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "cli/mpi/plugin.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz::cli {
namespace {

const mpi_plugin* plugin = nullptr;
const communicator* ranks = nullptr;

/// What launchers tell every process: Open MPI's, MPICH's and Intel's, Slurm's.
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

}  // namespace

bool is_started_on_ranks() {
    return std::ranges::any_of(launchers, [](launcher l) { return number_in(l.size) > 1; });
}

bool is_speaker() {
    return std::ranges::none_of(
        launchers, [](launcher l) { return number_in(l.size) > 1 && number_in(l.rank) > 0; });
}

const communicator* ranks_of_this_run() {
    if (ranks != nullptr || !is_started_on_ranks()) return ranks;
    plugin = &loaded_plugin();
    return ranks = plugin->start();
}

std::string place_of(const communicator& all, cpu on) {
    return fmt::format("{} processes of {} threads", all.size(), on.threads);
}
std::string place_of(const communicator& all, const gpu_rank& mine) {
    return fmt::format("{} processes, {}, by {}", all.size(), describe_gpu(mine).name,
                       mine.transport());
}

void add_share_gpu(CLI::App& sub, bool& to) {
    sub.add_flag("--share-gpu", to, "let several processes run on one GPU");
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
        if (is_speaker()) std::fprintf(stderr, "nz: %s\n", what);
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
