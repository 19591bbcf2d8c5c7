// libnonzero_mpi.so: the one object of nonzero's that needs MPI.
#include "cli/mpi/plugin.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include "nonzero/dist/mpi.hpp"

namespace nz::cli {
namespace {

std::unique_ptr<mpi_ranks> world;

const communicator* start() {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        throw device_error("MPI_Init_thread failed");
    world = std::make_unique<mpi_ranks>(MPI_COMM_WORLD);
    return world.get();
}

void finish() {
    world.reset();
    MPI_Finalize();
}

void abort_all(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

// Errors of the world's communicator end all processes, as MPI has it.

std::unique_ptr<const communicator> first_of_all(int count) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world->rank() < count ? 0 : MPI_UNDEFINED, world->rank(), &some);
    if (some == MPI_COMM_NULL) return nullptr;
    auto ranks = std::make_unique<mpi_ranks>(some);
    MPI_Comm_free(&some);
    return ranks;
}

void meet_asleep() {
    MPI_Request meeting = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &meeting);
    for (int all_came = 0; all_came == 0;) {
        MPI_Test(&meeting, &all_came, MPI_STATUS_IGNORE);
        if (all_came == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace
}  // namespace nz::cli

extern "C" const nz::cli::mpi_plugin nonzero_mpi_plugin{nz::cli::start, nz::cli::finish,
                                                        nz::cli::abort_all, nz::cli::first_of_all,
                                                        nz::cli::meet_asleep};
