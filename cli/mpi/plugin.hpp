// Functions of libnonzero_mpi.so, which the command opens only if mpirun has started the command.
#pragma once

#include <memory>

#include "nonzero/core/communicator.hpp"

namespace nz::cli {

/// The functions of the plugin, by the one symbol it is looked up by.
struct mpi_plugin {
    const communicator* (*start)();  ///< MPI's start; all processes' ranks. Throws device_error.
    void (*finish)();                ///< MPI's end, for which all processes meet
    void (*abort)(int exit_code);    ///< ends all processes
    /// The first `count` ranks as ranks of their own; null on the others. Called by all.
    std::unique_ptr<const communicator> (*first)(int count);
    /// Returns when all ranks have called it. They sleep meanwhile: MPI's own waiting takes a core.
    void (*meet_asleep)();
};
inline constexpr const char* mpi_plugin_symbol = "nonzero_mpi_plugin";

}  // namespace nz::cli
