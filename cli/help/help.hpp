// Help that finds the user: the nearest name for a mistyped one, manual pages, completion.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace nz::cli {

/// The refusal of the arguments of `nz`, in one line: with the nearest name where one is mistyped,
/// else with `fault`.
std::string explain(const command_words& nz, std::string fault,
                    const std::vector<std::string>& arguments);

/// nz help: the help of a subcommand, as `nz help generate laplace2d`.
void add_help(const command& nz);

/// nz man and nz completion, which no help lists: what is installed, made from the subcommands and
/// options themselves.
void add_man(const command& nz);
void add_completion(const command& nz);

}  // namespace nz::cli
