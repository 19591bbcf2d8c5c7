// nz machine: what this machine is and how fast its memory is.
#include "nonzero/plan/machine.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "nonzero/core/backend.hpp"

namespace nz::cli {
namespace {

struct options {
    std::vector<int> threads;
    bool json = false;
};

struct line {
    int threads;
    bandwidth measured;
};

void print_json(const machine_info& m, const std::vector<line>& lines) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [threads, b] : lines)
        rows.push_back(
            {{"threads", threads}, {"read_gbps", b.read_gbps}, {"copy_gbps", b.copy_gbps}});
    const nlohmann::json all{
        {"cpu", m.cpu},           {"cores", m.cores},       {"l1d_bytes", m.l1d_bytes},
        {"l2_bytes", m.l2_bytes}, {"l3_bytes", m.l3_bytes}, {"memory_bytes", m.memory_bytes},
        {"simd", m.simd},         {"bandwidth", rows}};
    fmt::print("{}\n", all.dump(2));
}

void print_text(const machine_info& m, const std::vector<line>& lines) {
    const auto size = [](std::int64_t n) { return n > 0 ? text_of_bytes(double(n)) : "unknown"; };
    fmt::print("cpu     {}\n", m.cpu);
    fmt::print("cores   {} hardware threads\n", m.cores);
    fmt::print("simd    {}\n", m.simd);
    fmt::print("caches  L1d {}, L2 {}, L3 {}\n", size(m.l1d_bytes), size(m.l2_bytes),
               size(m.l3_bytes));
    fmt::print("memory  {}\n\n", size(m.memory_bytes));
    table t({{"threads"}, {"read GB/s"}, {"copy GB/s"}});
    for (const auto& [threads, b] : lines)
        t.add_row({fmt::format("{}", threads), fmt::format("{:.2f}", b.read_gbps),
                   fmt::format("{:.2f}", b.copy_gbps)});
    t.print();
}

int describe(options o) {
    const machine_info m = describe_machine();
    if (o.threads.empty()) {
        o.threads.push_back(1);
        if (m.cores > 1) o.threads.push_back(m.cores);
    }
    std::vector<line> lines;
    for (const int threads : o.threads) lines.push_back({threads, measure_bandwidth(threads)});
    o.json ? print_json(m, lines) : print_text(m, lines);
    return done;
}

}  // namespace

void add_machine(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("machine", "Cores, caches, SIMD and measured bandwidth");
    sub->footer("Example: nz machine --threads 1,2");
    const auto o = std::make_shared<options>();
    sub->add_option("--threads", o->threads, "measured with; by default 1 and all")
        ->delimiter(',')
        ->check(CLI::Range(1, max_threads));
    sub->add_flag("--json", o->json, "as JSON");
    sub->callback([&chosen, o] { chosen = [o] { return describe(*o); }; });
}

}  // namespace nz::cli
