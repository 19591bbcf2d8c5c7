// Small matrices that teach: what the explorer's page offers where nobody brings a matrix.
#pragma once

#include <string>
#include <vector>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::cli {

struct library_matrix {
    std::string name;   ///< in links to the page: letters, digits and "-"
    std::string about;  ///< a sentence: what to look at
    csr<double, host> A;
};

/// Always the same ones, each small enough for the page.
std::vector<library_matrix> library();

}  // namespace nz::cli
