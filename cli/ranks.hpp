// The processes of this run of the command, where mpirun has started several.
#pragma once

#include <exception>
#include <functional>

#include "cli/command.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"

namespace nz::cli {

/// Whether it is this process that prints: the first of those that a launcher of MPI's (mpirun,
/// srun) has started, or the only one.
bool is_speaker();

/// The request that the arguments of this process make.
struct request {
    action run = {};               ///< empty where the arguments are wrong
    std::string fault = {};        ///< the fault in them
    std::string text = {};         ///< in which the processes of one run must be alike
    bool runs_over_ranks = false;  ///< the processes compute together, else each by itself
    bool is_said_once = false;     ///< help, say: by rank 0, for all that asked for it
};

/// asked.run(). Where a launcher has started several processes they start MPI first of all, and
/// agree on the version of nz and on what they were asked for: what one of them throws, all throw.
/// A subcommand that does not run over ranks does so where the launcher started this very process;
/// what a script or a program does on each rank goes on by itself.
///
/// Throws   argument_error where the arguments are wrong, or others than rank 0's; unavailable
/// where
///          the plugin for MPI is missing, cannot be loaded, or is of another MPI than the
///          launcher; and what asked.run throws.
int run_by_all(const request& asked);

/// The ranks of this run, which `run_by_all` started. Null where there is one process only.
const communicator* ranks_of_this_run();

/// Where the ranks compute, for people to read.
std::string place_of(const communicator&, cpu on);
std::string place_of(const communicator&, const gpu_rank&);

/// The option --share-gpu of a subcommand that runs over ranks.
void add_share_gpu(const command& sub, bool& to);
inline constexpr const char* share_gpu_option = "--share-gpu";

/// f(ranks) on the first `count` of this run's ranks, which are then all there are; the others
/// sleep until it is done. What all of those throw, all others throw too. Called by all ranks of
/// the run.
void on_first_ranks(int count, const std::function<void(const communicator&)>& f);

/// Says on stderr why the command failed, once for all ranks. An error that not all ranks know of
/// ends the others too: by MPI, or where that has not started by the launcher, which ends all when
/// a process ends with an error. Then ranks other than 0 wait some seconds before they say it:
/// where all fail alike rank 0 is heard, and has ended the others.
void tell_failure(const std::exception& e, int exit_code);

/// Ends MPI where it was started; waits for all ranks.
void leave_ranks();

}  // namespace nz::cli
