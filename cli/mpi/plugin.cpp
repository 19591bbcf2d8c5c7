// libnonzero_mpi.so: the one object of nonzero's that needs MPI.
#include "cli/mpi/plugin.hpp"

#include <memory>

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

}  // namespace
}  // namespace nz::cli

extern "C" const nz::cli::mpi_plugin nonzero_mpi_plugin{nz::cli::start, nz::cli::finish,
                                                        nz::cli::abort_all};
