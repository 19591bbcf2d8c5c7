// The ranks of a caller's MPI communicator, where the library is built with MPI.
#pragma once

#include <memory>

#include "nonzero/core/communicator.hpp"

namespace nz::amgx {

/// comm: a pointer to an MPI_Comm. Called by all its ranks. Throws failure with NOT_IMPLEMENTED
/// where this build has no MPI, BAD_PARAMETERS where MPI is not started.
std::unique_ptr<const communicator> ranks_of_mpi(void* comm);

}  // namespace nz::amgx
