#include "cli/rank_memory.hpp"

#include <fmt/core.h>

#include <fstream>

#include "cli/command.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nz::cli {
namespace {

/// A line of /proc/self/status, such as "VmRSS:  1676 kB"; 0 where there is none.
std::int64_t status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kibibytes = 0;
        if (word == name + ":" && status >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

/// Has VmHWM begin anew, at VmRSS.
void forget_peak() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace

memory_watch::memory_watch() {
    forget_peak();
    before_ = status_bytes("VmRSS");
}

void memory_watch::leave_out(const std::function<void()>& f) {
    most_ = std::max(most_, status_bytes("VmHWM"));
    f();
    forget_peak();
}

double memory_watch::most_bytes() const {
    const std::int64_t most = std::max(most_, status_bytes("VmHWM"));
    return double(std::max<std::int64_t>(0, most - before_));
}

memory_of_ranks gathered_memory(const communicator& ranks, const memory_watch& watch,
                                double share_bytes) {
    return gathered(ranks, rank_memory{watch.most_bytes(), share_bytes});
}

const rank_memory& heaviest(const memory_of_ranks& all) {
    return *std::ranges::max_element(all, {}, &rank_memory::most_bytes);
}

nz::json to_json(const memory_of_ranks& all) {
    auto most = nz::json::array(), share = nz::json::array();
    for (const rank_memory& m : all) most.push_back(m.most_bytes), share.push_back(m.share_bytes);
    return {{"most_bytes", most},
            {"share_bytes", share},
            {"heaviest_over_share", heaviest(all).over_share()}};
}

std::string to_text(const memory_of_ranks& all) {
    const rank_memory& most = heaviest(all);
    return fmt::format("{} on the heaviest rank, {:.2f} times its share",
                       text_of_bytes(most.most_bytes), most.over_share());
}

}  // namespace nz::cli
