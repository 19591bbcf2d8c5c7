#include "cli/command.hpp"

#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::cli {

option add_json_option(const command& sub, std::string& to, const std::string& what) {
    return sub.add_option("--json", to, "write " + what + " to FILE.json, or, alone, to stdout")
        .type_name("FILE");
}

std::vector<std::string> with_lone_json(const std::vector<std::string>& arguments) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        all.push_back(arguments[k]);
        if (arguments[k] != "--json") continue;
        const std::string next = k + 1 < arguments.size() ? arguments[k + 1] : "";
        const bool option = next.empty() || (next.starts_with('-') && next != "-");
        std::error_code ignored;
        // A file that is named twice is meant to be written, which json_file refuses.
        const bool other_file = !next.ends_with(".json") &&
                                std::filesystem::exists(next, ignored) &&
                                std::count(arguments.begin(), arguments.end(), next) == 1;
        if (option || other_file) all.back() = "--json=-";
    }
    return all;
}

void add_run_options(const command& sub, run_options& to) {
    sub.add_option("--device", to.device, "device that computes")
        .one_of({"cpu", "gpu"})
        .shows_default();
    sub.add_option("--threads", to.threads, "number of threads (default: all)")
        .number<int>({1, max_threads});
    add_json_option(sub, to.json);
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
