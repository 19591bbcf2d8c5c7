// The file that keeps a GPU's speeds from one run to the next.
#include "nonzero/plan/kept_speeds.hpp"

namespace nz {

namespace {

/// All of them as rates, in one order.
measured_rates rates_of(const gpu_speeds& s) {
    measured_rates all = {s.memory.read_gbps, s.memory.copy_gbps, s.l2_read_gbps,
                          1 / s.launch_s,     1 / s.latency_s,    s.upload_gbps};
    for (const gather_rate& g : s.gathers) all.push_back(g.per_s);
    return all;
}
void set_rates(gpu_speeds& s, const measured_rates& all) {
    s.memory = {.read_gbps = all[0], .copy_gbps = all[1]}, s.l2_read_gbps = all[2];
    s.launch_s = 1 / all[3], s.latency_s = 1 / all[4], s.upload_gbps = all[5];
    for (std::size_t k = 0; k < s.gathers.size(); ++k) s.gathers[k].per_s = all[6 + k];
}

/// Throws json::exception where a figure is missing or no number.
gpu_speeds read_gpu_speeds(const json& j) {
    const auto number = [&](const char* key) { return j.at(key).number(); };
    gpu_speeds s{.memory = {.read_gbps = number("read_gbps"), .copy_gbps = number("copy_gbps")},
                 .l2_read_gbps = number("l2_read_gbps"),
                 .launch_s = number("launch_s"),
                 .latency_s = number("latency_s"),
                 .upload_gbps = number("upload_gbps"),
                 .resident_warps = j.at("resident_warps").whole(),
                 .gathers = {}};
    for (const json& at : j.at("gathers").elements())
        s.gathers.push_back(
            {.x_bytes = at.at("x_bytes").whole(), .per_s = at.at("per_s").number()});
    return s;
}

/// The same.
gpu_info read_info(const json& j) {
    const auto whole = [&](const char* key) { return j.at(key).whole(); };
    return {.name = j.at("name").text(),
            .compute_capability = int(whole("compute_capability")),
            .multiprocessors = int(whole("multiprocessors")),
            .memory_bytes = whole("memory_bytes"),
            .l2_bytes = whole("l2_bytes"),
            .driver_version = int(whole("driver_version")),
            .runtime_version = int(whole("runtime_version"))};
}

bool plausible(const gpu_info& g) {
    return g.multiprocessors > 0 && g.multiprocessors < 1'000'000 && g.l2_bytes >= 1 << 12 &&
           g.l2_bytes < std::int64_t(1) << 50;
}

/// Whether a GPU can be so fast, by wide margins on both sides of what bench/results holds.
bool plausible(const gpu_speeds& s) {
    const auto within = [](double x, double least, double most) { return x >= least && x <= most; };
    bool all = within(s.memory.read_gbps, 1, 1e6) && within(s.memory.copy_gbps, 1, 1e6) &&
               within(s.l2_read_gbps, 1, 1e6) && within(s.launch_s, 1e-7, 1e-3) &&
               within(s.latency_s, 1e-8, 1e-5) && within(s.upload_gbps, 0.01, 1e5) &&
               s.resident_warps > 0;
    std::int64_t last = 0;
    for (const gather_rate& g : s.gathers) {
        all = all && g.x_bytes > last && within(g.per_s, 1e7, 1e14);
        last = g.x_bytes;
    }
    return all && !s.gathers.empty();
}

json written(const gpu_speeds& s) {
    json j = {{"read_gbps", s.memory.read_gbps},    {"copy_gbps", s.memory.copy_gbps},
              {"l2_read_gbps", s.l2_read_gbps},     {"launch_s", s.launch_s},
              {"latency_s", s.latency_s},           {"upload_gbps", s.upload_gbps},
              {"resident_warps", s.resident_warps}, {"gathers", json::array()}};
    for (const gather_rate& at : s.gathers)
        j["gathers"].push_back({{"x_bytes", at.x_bytes}, {"per_s", at.per_s}});
    return j;
}

constexpr kept_speeds<gpu_speeds> kept{read_gpu_speeds, written, plausible, rates_of, set_rates};

}  // namespace

known_gpu read_known_gpu(const std::string& text, const std::string& name) {
    const auto all = json::parse(text);
    if (!all) throw parse_error(name, 0, "is no JSON");
    try {
        const json& gpu = all->at("gpu");
        if (gpu.contains("none")) throw parse_error(name, 0, "tells of a machine without a GPU");
        known_gpu g{read_info(gpu), read_gpu_speeds(gpu)};
        if (plausible(g.what) && plausible(g.speeds)) return g;
    } catch (const json::exception&) {  // a figure is missing
    }
    throw parse_error(name, 0, "does not tell all that `nz machine --json` tells of a GPU");
}

std::string gpu_cache_path(const gpu_info& g) { return cache_path("machine-" + g.name); }

std::optional<gpu_speeds> load_gpu_speeds(const std::string& path, const gpu_info& g) {
    return load_speeds(path, machine_key(g), kept);
}

void save_gpu_speeds(const std::string& path, const gpu_info& g, const gpu_speeds& s) {
    keep(path, machine_key(g), written(s));
}

gpu_speeds known_gpu_speeds(gpu on, bool fresh) {
    const gpu_info g = describe_gpu(on);
    return known_or_measured(gpu_cache_path(g), machine_key(g), kept, fresh,
                             [&] { return measure_gpu(on); });
}

}  // namespace nz
