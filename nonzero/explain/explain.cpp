#include "nonzero/explain/explain.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace nz {
namespace {

/// A waste, as a factor on what the kernel would do without it, and what is said of it.
struct waste {
    double factor;
    std::string sentence;
};

request_counts matrix_loads(const traffic& t) {
    request_counts c = t.of(array_role::columns);
    c += t.of(array_role::values);
    return c += t.of(array_role::structure);
}

waste uncoalesced(const explanation& e) {
    const request_counts c = matrix_loads(e.all);
    const double factor = 1 / std::max(c.used_of_moved(), 1e-9);
    return {factor,
            fmt::format("uncoalesced: it moves {:.1f} bytes of matrix for each one used", factor)};
}

waste divergence(const explanation& e) {
    const double lanes = e.lanes();
    if (lanes == 0) return {1, ""};
    return {warp_lanes / lanes,
            fmt::format("idle lanes: {:.1f} of 32 take part in the mean load", lanes)};
}

waste padding(const explanation& e) {
    const double places = e.places_a_nonzero();
    return {places, fmt::format("padding: it loads {:.2f} places for each nonzero", places)};
}

waste last_warp(const explanation& e, const l1_model& m) {
    const double factor = e.tail(m);
    return {factor, fmt::format("its longest warp: {} requests, {:.1f} times an equal share",
                                e.all.busiest_requests, factor)};
}

waste waiting_blocks(const explanation& e) {
    const double factor = e.all.block_imbalance();
    return {factor, fmt::format("unequal warps: a block waits {:.1f} times its mean warp", factor)};
}

waste gathers(const explanation& e) {
    const double matrix = double(matrix_loads(e.all).used_bytes);
    const double x = double(e.all.of(array_role::x).moved_bytes()) * (1 - e.l1.x_rate());
    if (matrix == 0) return {1, ""};
    return {1 + x / matrix,
            fmt::format("x: sectors that miss L1 are {:.1f} times the matrix's bytes", x / matrix)};
}

}  // namespace

double explanation::moved_bytes() const {
    return double(all.all_loads().moved_bytes() + all.stores.moved_bytes());
}

double explanation::bytes_beyond_l1() const {
    return double(all.all_loads().moved_bytes()) * (1 - l1.rate()) +
           double(all.stores.moved_bytes());
}

double explanation::places_a_nonzero() const {
    return nnz == 0 ? 1 : double(all.of(array_role::values).lanes) / double(nnz);
}

double explanation::lanes() const {
    request_counts c = all.of(array_role::columns);
    c += all.of(array_role::values);
    return (c += all.of(array_role::x)).lanes_a_request();
}

double explanation::tail(const l1_model& m) const {
    const double places = double(m.multiprocessors) * m.resident_warps;
    const double workers = std::min(places, double(all.working_warps));
    return workers == 0 ? 1 : double(all.busiest_requests) * workers / double(all.requests());
}

explanation explain(const kernel_trace& t, std::int64_t nnz, const l1_model& m, int threads,
                    const std::atomic<bool>* interrupted) {
    explanation e{.method = t.method(),
                  .kernels = traffic_of(t, threads, interrupted),
                  .all = {},
                  .l1 = model_l1(t, m),
                  .layout_bytes = t.bytes(),
                  .nnz = nnz};
    e.all = total(e.kernels);
    return e;
}

std::string what_binds(const explanation& e, const l1_model& m) {
    if (e.all.requests() == 0) return "nothing: it loads nothing";
    const waste all[] = {uncoalesced(e),  divergence(e),     padding(e),
                         last_warp(e, m), waiting_blocks(e), gathers(e)};
    const waste& worst =
        *std::max_element(std::begin(all), std::end(all),
                          [](const waste& a, const waste& b) { return a.factor < b.factor; });
    constexpr double to_speak_of = 1.25;  // below, the bytes that are needed anyway bind
    if (worst.factor >= to_speak_of) return worst.sentence;
    return fmt::format("memory: {:.0f}% of the bytes that its loads move are used",
                       100 * e.all.all_loads().used_of_moved());
}

}  // namespace nz
