// METIS, looked for when it is first asked for: nothing of nonzero needs it to start.
#include "nonzero/graph/metis.hpp"

#if __has_include(<metis.h>) && __has_include(<dlfcn.h>)
#define NZ_HAS_METIS 1
#include <dlfcn.h>
#include <metis.h>
#else
#define NZ_HAS_METIS 0
#endif

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

namespace nz {
namespace {

void check_arguments(index nodes, index parts, const metis_options& o) {
    if (parts < 1)
        throw argument_error("metis: " + std::to_string(parts) + " parts, expected 1 or more");
    if (!(o.imbalance >= 0) || std::isinf(o.imbalance))
        throw argument_error("metis: the imbalance is negative or not finite");
    if (o.shares.empty()) return;
    const double sum = std::accumulate(o.shares.begin(), o.shares.end(), 0.0);
    const bool positive =
        std::all_of(o.shares.begin(), o.shares.end(), [](double s) { return s > 0; });
    if (o.shares.size() != std::size_t(parts) || !positive || !(std::abs(sum - 1) <= 1e-6))
        throw argument_error("metis: the shares are not one for each part, positive, of the sum 1");
    if (parts > nodes) throw argument_error("metis: shares of more parts than there are nodes");
}

}  // namespace

#if NZ_HAS_METIS
namespace {

static_assert(std::is_same_v<idx_t, index>, "a METIS built with 64-bit indices");

struct metis_library {
    decltype(&METIS_SetDefaultOptions) set_defaults = nullptr;
    decltype(&METIS_PartGraphRecursive) bisect = nullptr;
    decltype(&METIS_PartGraphKway) partition = nullptr;
    std::string why_not;

    metis_library() {
        void* const library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            why_not = std::string("METIS is not installed: ") + dlerror();
            return;
        }
        load(library, "METIS_SetDefaultOptions", set_defaults);
        load(library, "METIS_PartGraphRecursive", bisect);
        load(library, "METIS_PartGraphKway", partition);
    }

  private:
    template <class F>
    void load(void* library, const char* name, F& f) {
        f = reinterpret_cast<F>(dlsym(library, name));
        if (f == nullptr) why_not = std::string("METIS has no ") + name;
    }
};

/// Where no edge can be cut: one node after the other.
host_vector<index> pieces_of_nodes(index nodes, index parts, const std::vector<double>& shares) {
    host_vector<index> part(static_cast<std::size_t>(nodes));
    for (index i = 0; i < nodes; ++i) part[std::size_t(i)] = index(std::int64_t(i) * parts / nodes);
    double end = 0;
    std::int64_t i = 0;
    for (std::size_t p = 0; p < shares.size(); ++p)
        for (end += shares[p];
             i < nodes && (p + 1 == shares.size() || double(i) + 0.5 < end * nodes);)
            part[std::size_t(i++)] = index(p);
    return part;
}

const metis_library& metis() {
    static const metis_library library;
    return library;
}

}  // namespace

std::string why_no_metis() { return metis().why_not; }

host_vector<index> metis_parts(const adjacency& graph, index parts, const metis_options& o) {
    check_arguments(graph.nodes(), parts, o);
    if (const std::string why = why_no_metis(); !why.empty()) throw unavailable(why);
    if (graph.edges() > metis_max_edges)
        throw argument_error("metis: " + std::to_string(graph.edges()) +
                             " edges, expected fewer than 2^30");
    host_vector<index> part(static_cast<std::size_t>(graph.nodes()));
    idx_t n = graph.nodes(), k = std::min(parts, graph.nodes()), constraints = 1, cut = 0;
    if (k <= 1 || graph.targets.empty()) return pieces_of_nodes(graph.nodes(), k, o.shares);
    // METIS takes pointers to what it does not change.
    host_vector<index> first(graph.first.size()), targets = graph.targets;
    std::transform(graph.first.begin(), graph.first.end(), first.begin(),
                   [](offset at) { return index(at); });
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    idx_t options[METIS_NOPTIONS];
    metis().set_defaults(options);
    options[METIS_OPTION_SEED] = o.seed;
    if (o.imbalance > 0)  // in thousandths, and 0 is none
        options[METIS_OPTION_UFACTOR] = idx_t(std::clamp(std::floor(o.imbalance * 1e3), 1.0, 1e6));
    std::vector<real_t> shares(o.shares.begin(), o.shares.end());
    const auto run = o.scheme == metis_scheme::recursive ? metis().bisect : metis().partition;
    const int code =
        run(&n, &constraints, first.data(), targets.data(), nullptr, nullptr, nullptr, &k,
            shares.empty() ? nullptr : shares.data(), nullptr, options, &cut, part.data());
    if (code != METIS_OK) throw device_error("metis: failed with the code " + std::to_string(code));
    return part;
}

#else

std::string why_no_metis() { return "this build of nonzero has no METIS"; }

host_vector<index> metis_parts(const adjacency& graph, index parts, const metis_options& o) {
    check_arguments(graph.nodes(), parts, o);
    throw unavailable(why_no_metis());
}

#endif

host_vector<index> metis_parts(const adjacency& graph, index parts) {
    constexpr index few = 8;  // up to which METIS's manual recommends bisections
    const auto scheme = parts <= few ? metis_scheme::recursive : metis_scheme::kway;
    return metis_parts(graph, parts, {.scheme = scheme, .imbalance = 0, .seed = 1});
}

}  // namespace nz
