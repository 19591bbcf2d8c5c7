// Where what was measured is kept from one run to the next.
#pragma once

#include <string>

#include "nonzero/core/json.hpp"

namespace nz {

/// $XDG_CACHE_HOME/nonzero/<stem>-<version>.json (~/.cache where that is not set), the stem's odd
/// characters replaced; empty where neither folder is known.
std::string cache_path(const std::string& stem);

/// The value kept under this key by this build (version, commit, layouts); null where the file is
/// missing, corrupt, of another key or build, or no file: a folder, a pipe, a socket, a device.
json load_kept(const std::string& path, const json& key);
/// Makes the folder. Throws nz::error where the file cannot be written.
void keep(const std::string& path, const json& key, const json& what);
/// Removes the file, if there is one.
void forget(const std::string& path);

}  // namespace nz
