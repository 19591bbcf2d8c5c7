#include "nonzero/core/format.hpp"

#include <fmt/format.h>

namespace nz {

std::string declined_padding(double stored, double nnz) {
    if (stored <= max_stored_per_nonzero * nnz) return {};
    return fmt::format("it would store {:.3g} entries for {:.3g} nonzeros, more than {} for each",
                       stored, nnz, max_stored_per_nonzero);
}

}  // namespace nz
