#include "cli/command.hpp"

#include <omp.h>

#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"

namespace nz::cli {

void add_run_options(CLI::App& sub, run_options& to) {
    sub.add_option("--device", to.device, "device that computes")
        ->check(CLI::IsMember({"cpu", "gpu"}))
        ->capture_default_str();
    sub.add_option("--threads", to.threads, "number of threads (default: all)")
        ->check(CLI::Range(1, max_threads));
    sub.add_option("--json", to.json, "file for the report: .json, or - for stdout");
}

void check_device(const run_options& o) {
    if (!o.on_gpu()) {
        // Setups, too, take no more threads than that.
        if (o.threads > 0) omp_set_num_threads(o.threads);
        return;
    }
    if (o.threads != 0) throw argument_error("--threads applies to --device cpu only");
    require_gpu(gpu{});
}

}  // namespace nz::cli
