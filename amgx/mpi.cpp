#include "amgx/mpi.hpp"

#include "amgx/failure.hpp"
#include "nonzero/dist/mpi.hpp"

namespace nz::amgx {

std::unique_ptr<const communicator> ranks_of_mpi(void* comm) {
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    require(started != 0 && ended == 0, "MPI is not started, or has ended");
    return std::make_unique<mpi_ranks>(*static_cast<MPI_Comm*>(comm));
}

}  // namespace nz::amgx
