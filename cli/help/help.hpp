// Help that finds the user: the nearest name for a mistyped one, manual pages, completion.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace nz::cli {

/// The subcommand that `name` names, or null.
const CLI::App* subcommand(const CLI::App& app, const std::string& name);

/// What is wrong with the arguments, in one line: with the nearest name where one is mistyped.
std::string explain(const CLI::App& app, const CLI::ParseError& e,
                    const std::vector<std::string>& arguments);

/// nz help: the help of a subcommand, as `nz help generate laplace2d`.
void add_help(CLI::App& app, action& chosen);

/// nz man and nz completion, which no help lists: what is installed, made from the subcommands and
/// options themselves.
void add_man(CLI::App& app, action& chosen);
void add_completion(CLI::App& app, action& chosen);

/// Has the help of `app`, and of the subcommands added to it afterwards, fit into lines of the
/// terminal.
void fit_help(CLI::App& app);

/// The subcommands that help lists, sorted by name; all those of `app` alone.
std::vector<const CLI::App*> listed_subcommands(const CLI::App& app);

}  // namespace nz::cli
