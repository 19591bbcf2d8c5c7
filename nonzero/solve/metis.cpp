// METIS, looked for when it is first asked for: nothing of nonzero needs it to start.
#include "nonzero/solve/reorder.hpp"

#if __has_include(<metis.h>) && __has_include(<dlfcn.h>)
#define NZ_HAS_METIS 1
#include <dlfcn.h>
#include <metis.h>
#else
#define NZ_HAS_METIS 0
#endif

#include <algorithm>
#include <limits>

namespace nz {
namespace {

void check_parts(index parts) {
    if (parts < 1)
        throw argument_error("metis: " + std::to_string(parts) + " parts, expected 1 or more");
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
            why_not = std::string("METIS is not there: ") + dlerror();
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

const metis_library& metis() {
    static const metis_library library;
    return library;
}

}  // namespace

std::string why_no_metis() { return metis().why_not; }

host_vector<index> metis_parts(const adjacency& graph, index parts) {
    check_parts(parts);
    if (const std::string why = why_no_metis(); !why.empty()) throw unavailable(why);
    if (graph.first.back() > std::numeric_limits<idx_t>::max())
        throw argument_error("metis: " + std::to_string(graph.edges()) +
                             " edges, expected fewer than 2^30");
    host_vector<index> part;
    part.assign(std::size_t(graph.nodes()), 0);
    idx_t n = graph.nodes(), k = std::min(parts, graph.nodes()), constraints = 1, cut = 0;
    if (k <= 1 || graph.targets.empty()) {
        for (std::size_t i = 0; i < part.size(); ++i)
            part[i] = index(std::int64_t(i) * k / std::max<std::int64_t>(n, 1));
        return part;
    }
    idx_t options[METIS_NOPTIONS];
    metis().set_defaults(options);
    options[METIS_OPTION_SEED] = 1;
    // METIS takes pointers to what it does not change.
    host_vector<index> first(graph.first.size()), targets = graph.targets;
    std::transform(graph.first.begin(), graph.first.end(), first.begin(),
                   [](offset at) { return index(at); });
    constexpr idx_t few = 8;  // up to which its manual recommends bisections
    const auto run = k <= few ? metis().bisect : metis().partition;
    const int code = run(&n, &constraints, first.data(), targets.data(), nullptr, nullptr, nullptr,
                         &k, nullptr, nullptr, options, &cut, part.data());
    if (code != METIS_OK) throw device_error("metis: failed with the code " + std::to_string(code));
    return part;
}

#else

std::string why_no_metis() { return "this build of nonzero has no METIS"; }

host_vector<index> metis_parts(const adjacency&, index parts) {
    check_parts(parts);
    throw unavailable(why_no_metis());
}

#endif

}  // namespace nz
