// From the arguments of the process to what it is asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/options.hpp"
#include "cli/ranks.hpp"

namespace nz::cli {

class command_line {
  public:
    /// `what` nz does, as its help says.
    command_line(const std::string& what, const std::string& version);
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;
    ~command_line();
    /// nz itself, for subcommands to be added to.
    command nz();
    /// The request of the arguments, which lives no longer than this.
    request parse(const std::vector<std::string>& arguments);

  private:
    std::unique_ptr<CLI::App> app_;
    action chosen_;
};

}  // namespace nz::cli
