// nz solve A1.mtx A2.mtx ... --same-pattern: systems whose matrices have one pattern.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::cli {

struct sequence_of_systems {
    std::vector<std::string> matrices;
    std::string b, guess, to;  ///< files; empty for b of a known solution, zeros and nowhere
    std::string type;
    system_options solver;
    /// Adds to the options what depends on the number of rows.
    std::function<void(index rows, system_options&)> complete;
};

/// Solves them one after the other, each from the guess, by what the first one leaves; writes the
/// last x. Returns an exit_code.
int solve_sequence(const run_options&, const sequence_of_systems&);

}  // namespace nz::cli
