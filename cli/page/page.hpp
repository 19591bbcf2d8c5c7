// The pages that nz report and nz show write: one HTML file each, with style, script and data in
// it.
#pragma once

#include <string>
#include <string_view>

#include "nonzero/core/json.hpp"

namespace nz::cli {

/// The page over `data`, the JSON of nz report, nz study or nz bench, from which its script draws
/// everything. It asks for no other file. Nothing in `data` can end the element that holds it.
std::string report_page(const nz::json& data);

/// The same over {"matrices": [...], "first": a format's name, "live": WebAssembly in base64}: of
/// each matrix what `explored` tells (cli/explorer/explorer.hpp), or, where "live" can lay it out,
/// its entries alone. Without "live" the page takes no matrix that is typed.
std::string explorer_page(const nz::json& data);

/// As RFC 4648 has it, with padding.
std::string base64(std::string_view bytes);

}  // namespace nz::cli
