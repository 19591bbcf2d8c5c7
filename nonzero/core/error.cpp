#include "nonzero/core/error.hpp"

namespace nz {

parse_error::parse_error(const std::string& path, std::int64_t at_line, const std::string& what)
    : error(at_line > 0 ? path + ":" + std::to_string(at_line) + ": " + what : path + ": " + what),
      line(at_line) {}

}  // namespace nz
