// What the files of nz explain share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nonzero/explain/explain.hpp"

namespace nz::cli {

struct explain_options {
    std::string matrix, method, type, picture, json;
    std::int64_t warp = 0;
    int requests = 0;  ///< of the picture: 0 for as many as are usual
    int threads = 0;
    bool once = false;  ///< multiply on the GPU, rather than count
};

/// The requests of a warp, the first `most` of them; `all` counts the others too.
struct warp_requests {
    std::vector<access> shown;
    std::int64_t all = 0;
};
warp_requests requests_of(const kernel_trace&, std::int64_t warp, std::size_t most);

/// For each lane, which of the request's sectors it touches, numbered as lanes meet them; -1 where
/// it is idle.
std::array<int, warp_lanes> sector_numbers(const access&);

/// The picture of a warp in characters: a request a line, a lane a character. Lanes with the same
/// letter touch the same sector.
void print_picture(const warp_requests&);
/// The same as SVG, with a title.
std::string svg_picture(const warp_requests&, const std::string& title);

/// "columns", "values", "x", "y" or "structure".
std::string_view role_name(array_role);

/// What each kernel of a method asks for, by its name.
nlohmann::json kernels_json(const explanation&);

/// One product on the GPU by every traced kernel, or by that of one method, for a profiler.
template <class V>
int explain_once(const explain_options&, const csr<V, host_view>& A);

/// The table over all methods, best first.
template <class V>
int explain_all(const explain_options&, const csr<V, host_view>& A);

/// The L1 that is modelled: this machine's GPU's, or an H200's.
l1_model l1_of_this_machine();
/// "an L1 of 256 KiB, ..."; what is modelled, in a line.
std::string describe(const l1_model&);

}  // namespace nz::cli
