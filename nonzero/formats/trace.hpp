// Loads and stores of a GPU kernel's warps, found on the CPU. A kernel's trace stands beside
// the kernel, in <stem>_trace.hpp, and repeats its loops without its sums.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nonzero/core/streamed.hpp"
#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

inline constexpr int warp_lanes = int(warp_rows);

/// Role of an array's elements in a product.
enum class array_role : std::uint8_t { structure, columns, values, x, y };
inline constexpr int array_roles = 5;

/// An array that a kernel reads or writes. Every array begins at a multiple of 256 bytes, as all
/// memory that cudaMalloc gives does.
struct traced_array {
    std::string_view name;     ///< the layout's own, or x or y
    array_role role;           ///< role of its elements
    int bytes;                 ///< of what one lane touches at once: 1 to 32, a power of two
    bool bypasses_l1 = false;  ///< loaded without a place in L1 (formats' streamed_bytes)
    bool by_texture = false;   ///< fetched by the texture units
};

/// A number for each lane of a warp: an element of an array, or -1 where the lane is idle.
using per_lane = std::array<std::int64_t, warp_lanes>;
inline constexpr std::int64_t idle = -1;

/// One load or store of a warp: its lanes touch these elements of one array at once. It is one
/// request to the memory, of as many sectors as they lie in.
struct access {
    traced_array to;
    per_lane at;  ///< in units of to.bytes
    bool store;
};

/// Takes the accesses of a warp in the order in which the warp issues them.
class access_sink {
  public:
    virtual void take(const access&) = 0;

  protected:
    ~access_sink() = default;
};

/// f(lane) for each lane.
template <class F>
per_lane each_lane(F f) {
    per_lane of{};
    for (int lane = 0; lane < warp_lanes; ++lane) of[std::size_t(lane)] = f(lane);
    return of;
}

/// Recorder of a trace's accesses. An access in which every lane is idle is none.
class warp_trace {
  public:
    explicit warp_trace(access_sink& to) : to_(to) {}
    void load(const traced_array& a, const per_lane& at) { take({a, at, false}); }
    void store(const traced_array& a, const per_lane& at) { take({a, at, true}); }
    /// All lanes that `of` does not say are idle load the same element.
    void broadcast(const traced_array& a, std::int64_t element, const per_lane& of) {
        load(a, each_lane([&](int l) { return of[std::size_t(l)] == idle ? idle : element; }));
    }
    /// All lanes.
    void broadcast(const traced_array& a, std::int64_t element) { broadcast(a, element, {}); }

  private:
    void take(const access& a) {
        for (const std::int64_t at : a.at)
            if (at != idle) return to_.take(a);
    }
    access_sink& to_;
};

/// A kernel's launch: its name in the source and how many warps start, those included that find
/// nothing to do.
struct warp_grid {
    std::string_view kernel;
    std::int64_t warps;
    int warps_per_block;
};

/// As blocks_for of core/cuda.cuh: blocks that cover `warps`, at least one.
inline warp_grid grid_of_warps(std::string_view kernel, std::int64_t warps, int warps_per_block) {
    const std::int64_t blocks = warps > 0 ? (warps + warps_per_block - 1) / warps_per_block : 1;
    return {kernel, blocks * warps_per_block, warps_per_block};
}
/// The same for `threads` threads in blocks of 256.
inline warp_grid grid_of_threads(std::string_view kernel, std::int64_t threads) {
    return grid_of_warps(kernel, (threads + warp_lanes - 1) / warp_lanes, 8);
}

/// A kernel K has a trace for values V: `launches(K{}, A)` lists the launches of one product and
/// `trace(K{}, A, warp, to)` tells what a warp touches, where warps are numbered through all
/// launches. beta is 0. Launches that read no matrix (y scaled before, carries added behind) are
/// left out. A trace follows the source: a compiler that unrolls a loop further may split a step
/// whose lanes take different numbers of trips.
template <class K, class V>
concept traced = requires(const typename K::template layout<V, host_view>& A, std::int64_t warp,
                          warp_trace& to) {
    { launches(K{}, A) } -> std::same_as<std::vector<warp_grid>>;
    trace(K{}, A, warp, to);
};

/// The arrays that most kernels touch.
template <class V>
traced_array values_of(std::string_view name, bool streams = false) {
    return {name, array_role::values, sizeof(V), streams};
}
inline traced_array columns_of(std::string_view name, bool streams = false) {
    return {name, array_role::columns, sizeof(index), streams};
}
inline traced_array structure_of(std::string_view name, int bytes = sizeof(index)) {
    return {name, array_role::structure, bytes};
}
inline traced_array structure_of(std::string_view name, const offset_span& positions) {
    return structure_of(name, positions.wide() ? 8 : 4);
}
template <class V>
traced_array x_of(bool by_texture = false) {
    return {"x", array_role::x, sizeof(V), false, by_texture};
}
template <class V>
traced_array y_of() {
    return {"y", array_role::y, sizeof(V)};
}

/// The row of each lane where every thread has one: idle behind the last.
inline per_lane rows_of_warp(std::int64_t warp, std::int64_t rows) {
    return each_lane([&](int l) {
        const std::int64_t r = warp * warp_lanes + l;
        return r < rows ? r : idle;
    });
}
/// The same number in every lane; one in the first lane only, the others idle.
inline per_lane same_for_all(std::int64_t n) {
    return each_lane([&](int) { return n; });
}
inline per_lane first_lane(std::int64_t n) {
    return each_lane([&](int l) { return l == 0 ? n : idle; });
}
/// Each lane's number divided by `by`, and increased by it; idle lanes stay idle.
inline per_lane over(const per_lane& n, std::int64_t by) {
    return each_lane([&](int l) {
        const std::int64_t k = n[std::size_t(l)];
        return k == idle ? idle : k / by;
    });
}
inline per_lane moved(const per_lane& n, std::int64_t by) {
    return each_lane([&](int l) {
        const std::int64_t k = n[std::size_t(l)];
        return k == idle ? idle : k + by;
    });
}
/// of[the lane's element], idle lanes left idle.
template <class A>
per_lane take_each(const A& of, const per_lane& at) {
    return each_lane([&](int l) {
        const std::int64_t k = at[std::size_t(l)];
        return k == idle ? idle : std::int64_t(of[std::size_t(k)]);
    });
}
/// Loads of[the lane's element], and returns it.
template <class A>
per_lane load_each(warp_trace& to, const traced_array& a, const A& of, const per_lane& at) {
    to.load(a, at);
    return take_each(of, at);
}

}  // namespace nz
