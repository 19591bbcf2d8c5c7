// nz machine: what this machine and its GPU are, and how fast their memories are.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/command.hpp"
#include "cli/conditions/quiet.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/speeds.hpp"

namespace nz::cli {
namespace {

struct machine_arguments {
    std::vector<int> threads;
    std::string json;
    bool fresh = false;
};

struct line {
    int threads;
    bandwidth measured;
};

struct gpu_report {
    std::string why_not;  ///< empty where there is one
    gpu_info what;
    gpu_speeds speeds;
};

gpu_report describe_first_gpu(bool fresh) {
    gpu_report g{.why_not = why_no_gpu(), .what = {}, .speeds = {}};
    if (g.why_not.empty()) g.what = describe_gpu(gpu{}), g.speeds = known_gpu_speeds(gpu{}, fresh);
    return g;
}

nz::json to_json(const gpu_report& g) {
    if (!g.why_not.empty()) return {{"none", g.why_not}};
    nz::json j = gpu_json(g.what);
    j.update({{"read_gbps", g.speeds.memory.read_gbps},
              {"copy_gbps", g.speeds.memory.copy_gbps},
              {"l2_read_gbps", g.speeds.l2_read_gbps},
              {"upload_gbps", g.speeds.upload_gbps},
              {"launch_s", g.speeds.launch_s},
              {"latency_s", g.speeds.latency_s},
              {"resident_warps", g.speeds.resident_warps},
              {"gathers", nz::json::array()}});
    for (const gather_rate& at : g.speeds.gathers)
        j["gathers"].push_back({{"x_bytes", at.x_bytes}, {"per_s", at.per_s}});
    return j;
}

nz::json to_json(const std::vector<line>& lines, const gpu_report& g) {
    nz::json rows = nz::json::array();
    for (const auto& [threads, b] : lines)
        rows.push_back(
            {{"threads", threads}, {"read_gbps", b.read_gbps}, {"copy_gbps", b.copy_gbps}});
    nz::json all = provenance("machine");
    const nz::json flat = all["machine"];
    all.update(flat);  // as readers of version 0.1 expect it
    all["bandwidth"] = rows;
    all["gpu"] = to_json(g);
    return all;
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
    for (const auto& [threads, b] : lines)
        if (const auto note = busy_note(lines[0].measured.read_gbps, b.read_gbps, threads);
            lines[0].threads == 1 && !note.empty())
            fmt::print("\n{}\n", wrapped(note, line_width(stdout)));
}

/// "13.0" of 13000.
std::string cuda_version(int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); }

void print_text(const gpu_report& g) {
    if (!g.why_not.empty()) {
        fmt::print("\ngpu     {}\n", wrapped("none: " + g.why_not, line_width(stdout) - 8, 8));
        return;
    }
    const gpu_info& w = g.what;
    fmt::print("\ngpu     {}, sm_{}, {} multiprocessors\n", w.name, w.compute_capability,
               w.multiprocessors);
    fmt::print("caches  L2 {}\n", text_of_bytes(double(w.l2_bytes)));
    fmt::print("memory  {}\n", text_of_bytes(double(w.memory_bytes)));
    fmt::print("cuda    driver for {}, runtime {}\n", cuda_version(w.driver_version),
               cuda_version(w.runtime_version));
    fmt::print("speed   read {:.0f} GB/s, copy {:.0f} GB/s, launch {:.2f} us\n\n",
               g.speeds.memory.read_gbps, g.speeds.memory.copy_gbps, g.speeds.launch_s * 1e6);
    double most = 0;
    for (const gather_rate& at : g.speeds.gathers) most = std::max(most, at.per_s);
    table t({{"x"}, {"random x[j], G/s"}, {"", false}});
    for (const gather_rate& at : g.speeds.gathers)
        t.add_row({text_of_bytes(double(at.x_bytes)), fmt::format("{:.1f}", at.per_s * 1e-9),
                   is_terminal(stdout) ? bar(at.per_s / most, 24) : ""});
    t.print();
}

int describe(machine_arguments o) {
    json_file json(o.json);
    const machine_info m = describe_machine();
    if (o.threads.empty()) {
        o.threads.push_back(1);
        if (m.cores > 1) o.threads.push_back(m.cores);
    }
    std::optional<running_clock> clock(std::in_place, "measuring the machine");
    std::vector<line> lines;
    for (const int threads : o.threads) {
        lines.push_back({threads, measure_bandwidth(threads)});
        if (o.fresh) (void)speeds_of(cpu{threads}, o.fresh);
    }
    const gpu_report g = describe_first_gpu(o.fresh);
    clock.reset();
    json.write(to_json(lines, g));
    if (json.is_stdout()) return done;
    print_text(m, lines);
    print_text(g);
    return done;
}

}  // namespace

void add_machine(const command& nz) {
    const auto sub =
        nz.add_subcommand("machine", "Cores, caches, SIMD, the GPU, measured bandwidths");
    sub.footer(
        "A GPU is measured once; its figures are kept in $XDG_CACHE_HOME/nonzero, as are those of\n"
        "the CPU that plans are made by. Sizes are in kB, MB and GB, of thousands, here and in "
        "all\n"
        "of nz: bytes over seconds are the GB/s beside them.\n\n"
        "Example: nz machine --threads 1,2");
    const auto o = std::make_shared<machine_arguments>();
    sub.add_option("--threads", o->threads,
                   "number of threads to measure with (default: 1 and all)")
        .separated_by(',')
        .number<int>({1, max_threads});
    add_json_option(sub, o->json);
    sub.add_flag("--fresh", o->fresh, "measure the GPU, and what plans know of the CPU, anew");
    sub.does([o] { return describe(*o); });
}

}  // namespace nz::cli
