// The processes of this run of the command, where mpirun has started several.
#pragma once

#include <exception>
#include <functional>

#include "cli/command.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"

namespace nz::cli {

/// Whether the environment says that a launcher of MPI's (mpirun, srun) has started several of us.
bool is_started_on_ranks();

/// Whether it is this process that prints: the first, or the only one.
bool is_speaker();

/// The ranks of this run; the first call starts MPI. Null where there is one process only. Throws
/// unavailable where the plugin for MPI is missing or cannot be loaded.
const communicator* ranks_of_this_run();

/// Where the ranks compute, for people to read.
std::string place_of(const communicator&, cpu on);
std::string place_of(const communicator&, const gpu_rank&);

/// The option --share-gpu of a subcommand.
void add_share_gpu(CLI::App& sub, bool& to);

/// f(ranks) on the first `count` of this run's ranks, which are then all there are; the others
/// sleep until it is done. What all of those throw, all others throw too. Called by all ranks of
/// the run.
void on_first_ranks(int count, const std::function<void(const communicator&)>& f);

/// Says on stderr why the command failed, once for all ranks. An error that not all ranks know of
/// ends the others too.
void tell_failure(const std::exception& e, int exit_code);

/// Ends MPI where it was started; waits for all ranks.
void leave_ranks();

}  // namespace nz::cli
