// One pass over vectors, elements updated and sums taken together: what iterations are made of.
#pragma once

#include <algorithm>
#include <concepts>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// Contributions of one element to each of K sums, and their totals.
template <class V, int K>
struct sums {
    V part[std::size_t(K > 0 ? K : 1)] = {};
    NZ_HOST_DEVICE V& operator[](int k) { return part[k]; }
    NZ_HOST_DEVICE const V& operator[](int k) const { return part[k]; }
    NZ_HOST_DEVICE void operator+=(const sums& other) {
        for (int k = 0; k < K; ++k) part[k] += other.part[k];
    }
};

/// A fused vector kernel, written once for every backend: a trivially copyable struct
/// that borrows its vectors by pointers to where B computes.
///
///     struct step {
///         using scalars = S;          // lives where B computes; read by all, written by finish
///         using totals = sums<V, K>;
///         totals element(std::int64_t i, const S&) const;   // may write element i of vectors
///         void finish(S&, const totals&) const;             // once, after all elements
///         static bool skips(const S&);                      // true: it does nothing
///     };
///
/// The functions are NZ_HOST_DEVICE; finish and skips may be left out. A step that is faster on a
/// GPU with other blocks than usual_grid says so by `static constexpr fused_grid grid`.
template <class Step>
concept fused_step = std::is_trivially_copyable_v<Step> &&
    requires(const Step& step, const typename Step::scalars& s) {
    { step.element(std::int64_t(), s) } -> std::same_as<typename Step::totals>;
};

/// An element of vectors that lie by rows without gaps.
struct column_element {
    std::int64_t row, at;  ///< at: its place in the array
    index column;
};
/// A step over several vectors: a fused_step, which sees each element by its place and the scalars
/// of its vector, or what tells rows and vectors apart:
///
///     totals element(const column_element&, const S&) const;
template <class Step>
concept column_step = fused_step<Step> ||
    requires(const Step& step, const column_element& e, const typename Step::scalars& s) {
    { step.element(e, s) } -> std::same_as<typename Step::totals>;
};
template <class Step>
NZ_HOST_DEVICE typename Step::totals element_of(const Step& step, const column_element& e,
                                                const typename Step::scalars& s) {
    if constexpr (requires { step.element(e, s); }) {
        return step.element(e, s);
    } else {
        return step.element(e.at, s);
    }
}
/// The same of one vector's element i.
template <class Step>
NZ_HOST_DEVICE typename Step::totals element_of(const Step& step, std::int64_t i,
                                                const typename Step::scalars& s) {
    return element_of(step, column_element{i, i, 0}, s);
}

/// *p, and *p = v, for a step of what is not read again soon: a GPU's caches give it up first.
template <class T>
NZ_HOST_DEVICE T load_once(const T* p) {
#if defined(__CUDA_ARCH__)
    return __ldcs(p);
#else
    return *p;
#endif
}
template <class T>
NZ_HOST_DEVICE void store_once(T* p, T v) {
#if defined(__CUDA_ARCH__)
    __stcs(p, v);
#else
    *p = v;
#endif
}

template <class Step>
concept finishes = requires(const Step& step, typename Step::scalars& s,
                            const typename Step::totals& t) {
    step.finish(s, t);
};

template <class Step>
NZ_HOST_DEVICE bool skips(const typename Step::scalars& s) {
    if constexpr (requires { Step::skips(s); }) {
        return Step::skips(s);
    } else {
        return false;
    }
}

/// Elements that a CPU thread sums up on their own. Fixed, so that a sum has the same bits for
/// any number of threads; small beside any vector worth a second thread.
inline constexpr std::int64_t fused_block = 4096;
inline constexpr std::int64_t worth_threads = 3;  ///< blocks that pay (docs/decisions/threads.md)
/// Blocks of threads on a GPU: a function of n alone, so that a sum has the same bits on all GPUs.
struct fused_grid {
    std::int64_t threads, most_blocks;
    [[nodiscard]] constexpr std::int64_t blocks(std::int64_t n) const {
        return std::clamp<std::int64_t>((n + threads - 1) / threads, 1, most_blocks);
    }
};
inline constexpr fused_grid usual_grid{256, 1024};

/// The sums of a fused kernel take at most this much; larger ones do not compile.
inline constexpr std::size_t max_sum_bytes = 64;
/// Bytes of on.scratch that a fused kernel over n elements needs. On a GPU it is zeroed once, at
/// first.
constexpr std::size_t fused_scratch_bytes(cpu, std::int64_t n) {
    return std::size_t((n + fused_block - 1) / fused_block) * max_sum_bytes;
}
/// Sums of this rank's and of all ranks', in a GPU's scratch memory.
inline std::size_t sums_of_ranks(gpu on) {
    return on.ranks == nullptr ? 0 : std::size_t(on.ranks->size()) + 1;
}
inline std::size_t fused_scratch_bytes(gpu on, std::int64_t n) {
    return (std::size_t(usual_grid.blocks(n) + 1) + sums_of_ranks(on)) * max_sum_bytes;
}

#if !defined(__CUDACC__)  // which does not know OpenMP
/// The totals of elements [first, last): eight sums side by side, which a processor can add at
/// once, then a fixed tree.
template <class Step>
typename Step::totals fused_range(const Step& step, const typename Step::scalars& s,
                                  std::int64_t first, std::int64_t last) {
    constexpr int lanes = 8;
    typename Step::totals lane[lanes] = {};
    std::int64_t i = first;
    for (; i + lanes <= last; i += lanes) {
#pragma omp simd
        for (int l = 0; l < lanes; ++l) lane[l] += element_of(step, i + l, s);
    }
    for (int l = 0; i + l < last; ++l) lane[l] += element_of(step, i + l, s);
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
    return lane[0];
}

/// step over the elements 0 to n - 1, then finish. Same bits for any number of threads. Where the
/// vectors are shared out over ranks, all of them call it, each over its own elements, and finish
/// with the sums over all.
template <column_step Step>
void run_fused(cpu on, std::int64_t n, const Step& step, typename Step::scalars* at) {
    using totals = typename Step::totals;
    static_assert(sizeof(totals) <= max_sum_bytes);
    const typename Step::scalars s = *at;
    if (skips<Step>(s)) return;
    const std::int64_t blocks = (n + fused_block - 1) / fused_block;
    const int threads = blocks < worth_threads ? 1 : thread_count(on);
    const auto block = [&](std::int64_t b) {
        return fused_range(step, s, b * fused_block, std::min(n, b * fused_block + fused_block));
    };
    if constexpr (finishes<Step>) {
        NZ_ASSERT(on.scratch.size() >= fused_scratch_bytes(on, n));
        auto* const partial = static_cast<totals*>(static_cast<void*>(on.scratch.data()));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t b = 0; b < blocks; ++b) partial[b] = block(b);
        totals all = {};
        for (std::int64_t b = 0; b < blocks; ++b) all += partial[b];
        step.finish(*at, on.ranks == nullptr ? all : summed(*on.ranks, all));
    } else {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t b = 0; b < blocks; ++b) block(b);
    }
}

#endif

/// Defined in fused.cuh; instantiated in the .cu beside the step.
template <class Step>
void launch_fused(gpu on, std::int64_t n, const Step& step, typename Step::scalars* at);

/// The same in on.stream, without waiting; at points to GPU memory. Same bits in every run. Over
/// ranks it waits where their transport does.
template <column_step Step>
void run_fused(gpu on, std::int64_t n, const Step& step, typename Step::scalars* at) {
    static_assert(sizeof(typename Step::totals) <= max_sum_bytes);
    NZ_ASSERT(on.scratch.size() >= fused_scratch_bytes(on, n));
    if constexpr (has_cuda) {
        launch_fused(on, n, step, at);
    } else {
        throw unavailable("this build of nonzero has no CUDA");
    }
}

}  // namespace nz
