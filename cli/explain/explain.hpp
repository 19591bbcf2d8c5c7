// Shared by the files of nz explain.
#pragma once

#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/explain/explain.hpp"
#include "nonzero/plan/speeds.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::cli {

struct explain_options {
    std::string matrix, method, type, picture, json;
    std::string gpu;  ///< a file of `nz machine --json`; empty for this machine's GPU
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
/// "row_kernel, block 0, warp 3"
std::string place_of(const kernel_trace&, std::int64_t warp);

/// For each lane, which of the request's sectors it touches, numbered as lanes meet them; -1 where
/// it is idle.
std::array<int, warp_lanes> sector_numbers(const access&);

/// The picture of a warp in characters: a request a line, a lane a character. Lanes with the same
/// letter touch the same sector.
void print_picture(const warp_requests&);
/// The same as SVG, with a title.
std::string svg_picture(const warp_requests&, const std::string& title);
/// The same as JSON: for each request that is shown its array, and a letter a lane as in the
/// terminal.
nz::json to_json(const warp_requests&);

/// "columns", "values", "x", "y" or "structure".
std::string_view role_name(array_role);

/// Memory requests of each kernel of a method, by its name.
nz::json kernels_json(const explanation&);

/// One product on the GPU by every traced kernel, or by that of one method, for a profiler.
template <class V>
int explain_once(const explain_options&, const csr<V, host_view>& A);

/// A method's figures and times, or why there are none.
struct explained_method {
    std::string_view method;
    std::string declined = {};
    explanation figures = {};
    std::string binds = {};
    double weight = 0;                       ///< order of the methods where no times are known
    double predicted_s = 0, measured_s = 0;  ///< 0: not known
};
/// All but what each of its kernels asks for.
nz::json to_json(const explained_method&);

struct explain_how {
    l1_model l1;
    const machine_speeds* predict_for = nullptr;  ///< null: no time is predicted
    bool measure = false;                         ///< on this machine's GPU
    int threads = 0;                              ///< 0: all
};
/// All methods that have a kernel on a GPU, best first, the declined ones last; after Ctrl-C those
/// that were done before. The clock, labelled "counting `name`", tells which is counted.
template <class V>
std::vector<explained_method> explain_methods(const csr<V, host_view>& A, const matrix_stats&,
                                              const explain_how&, const std::string& name,
                                              running_clock&);

/// The table over all methods, best first.
template <class V>
int explain_all(const explain_options&, const csr<V, host_view>& A);

/// The GPU of that file of `nz machine --json`; where it is empty this machine's, or an H200 where
/// there is none. Throws parse_error where the file tells of no GPU.
gpu_info gpu_to_explain(const std::string& file);
/// Its speeds.
machine_speeds speeds_to_explain(const std::string& file);
/// "an L1 of 262 kB, ..."; what is modelled, in a line.
std::string describe(const l1_model&);

}  // namespace nz::cli
