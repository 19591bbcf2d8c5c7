#include "amgx/handles.hpp"

#include <array>
#include <mutex>
#include <unordered_map>

namespace nz::amgx {
namespace {

constexpr std::array names = {"configuration", "resources", "matrix",
                              "vector",        "solver",    "distribution"};

struct registry {
    std::mutex guard;
    std::unordered_map<const void*, kind> alive;
};
/// Lives as long as the process: programs destroy handles when it ends.
registry& all() {
    static auto* const one = new registry;
    return *one;
}

}  // namespace

void remember(const void* object, kind k) {
    const std::lock_guard lock(all().guard);
    all().alive[object] = k;
}

void expect_alive(const void* object, kind k) {
    const char* const name = names[std::size_t(k)];
    if (object == nullptr)
        throw failure(AMGX_RC_BAD_PARAMETERS, fmt::format("the {} handle is null", name));
    const std::lock_guard lock(all().guard);
    const auto at = all().alive.find(object);
    if (at == all().alive.end())
        throw failure(AMGX_RC_BAD_PARAMETERS,
                      fmt::format("the {} handle is none, or was destroyed", name));
    if (at->second != k)
        throw failure(AMGX_RC_BAD_PARAMETERS, fmt::format("the handle is that of a {}, not of a {}",
                                                          names[std::size_t(at->second)], name));
}

void forget(const void* object, kind k) {
    expect_alive(object, k);
    const std::lock_guard lock(all().guard);
    all().alive.erase(object);
}

}  // namespace nz::amgx
