// The speeds of a machine, a CPU's or a GPU's: measured until they are steady, then kept in a file.
#pragma once

#include <optional>

#include "nonzero/core/error.hpp"
#include "nonzero/plan/cache/cache_file.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/timing/steady.hpp"

namespace nz {

/// Key of a machine in files: speeds under another key are stale.
inline json machine_key(const machine_info& m, int threads) {
    return {{"cpu", m.cpu},           {"cores", m.cores},       {"l1d_bytes", m.l1d_bytes},
            {"l2_bytes", m.l2_bytes}, {"l3_bytes", m.l3_bytes}, {"memory_bytes", m.memory_bytes},
            {"simd", m.simd},         {"threads", threads}};
}
inline json machine_key(const gpu_info& g) {
    return {{"name", g.name},
            {"compute_capability", g.compute_capability},
            {"multiprocessors", g.multiprocessors},
            {"memory_bytes", g.memory_bytes},
            {"l2_bytes", g.l2_bytes},
            {"driver_version", g.driver_version},
            {"runtime_version", g.runtime_version}};
}

/// Speeds S as a file and the measuring of a machine see them.
template <class S>
struct kept_speeds {
    S (*read)(const json&);  ///< throws json::exception where they are no speeds
    json (*written)(const S&);
    bool (*plausible)(const S&);
    measured_rates (*rates_of)(const S&);
    void (*set_rates)(S&, const measured_rates&);
};

template <class S>
std::optional<S> load_speeds(const std::string& path, const json& key, const kept_speeds<S>& as) {
    const json j = load_kept(path, key);
    try {
        S s = as.read(j);
        if (as.plausible(s)) return s;
    } catch (const json::exception&) {  // nothing, or of the right key and yet not ours
    }
    return {};
}

/// Those of the file, or what measure() gives when taken until it is steady, which the file keeps
/// then. path: empty where there is no place for it. fresh: whatever is in the file.
template <class S, class F>
S known_or_measured(const std::string& path, const json& key, const kept_speeds<S>& as, bool fresh,
                    F measure) {
    if (!fresh && !path.empty())
        if (const auto known = load_speeds(path, key, as)) return *known;
    S s;
    const auto with = [&](const measured_rates& all) {
        as.set_rates(s, all);
        return as.plausible(s);
    };
    const steady_rates all = measure_steadily([&] { return as.rates_of(s = measure()); }, with);
    as.set_rates(s, all.best);
    if (path.empty()) return s;
    if (!all.steady) {
        forget(path);
        return s;
    }
    try {
        keep(path, key, as.written(s));
    } catch (const error&) {  // measured anew next time, then
    }
    return s;
}

}  // namespace nz
