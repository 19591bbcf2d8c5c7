#include "amgx/failure.hpp"
#include "amgx/mpi.hpp"

namespace nz::amgx {

std::unique_ptr<const communicator> ranks_of_mpi(void*) {
    throw failure(AMGX_RC_NOT_IMPLEMENTED,
                  "this libamgxsh.so has no MPI: configure with -DNONZERO_AMGX_MPI=ON");
}

}  // namespace nz::amgx
