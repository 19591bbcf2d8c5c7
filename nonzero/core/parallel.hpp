// Parallel loops that may allocate and throw: an exception that left an OpenMP region would end the
// process, so every loop but those of the kernels, which do neither, is one of these.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/failure.hpp"
#include "nonzero/core/threads.hpp"

namespace nz {

/// f(t) for t from 0 to threads - 1, at once. Waits for all of them, then throws what one threw.
template <class F>
void parallel(int threads, const F& f) {
    first_failure failure;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) failure.guard([&] { f(t); });
    failure.rethrow();
}

/// The numbers 0 to n - 1, which threads take run by run.
class shared_range {
  public:
    shared_range(std::int64_t n, std::int64_t run) : n_(n), run_(run) {}
    /// f(i) for every number that no other thread takes. Where f throws, no thread begins a run
    /// any more.
    template <class F>
    void take(const F& f) {
        try {
            while (!closed_) {
                const std::int64_t first = next_.fetch_add(run_);
                if (first >= n_) return;
                const std::int64_t last = std::min(first + run_, n_);
                for (std::int64_t i = first; i < last; ++i) f(i);
            }
        } catch (...) {
            closed_ = true;
            throw;
        }
    }

  private:
    std::int64_t n_, run_;
    std::atomic<std::int64_t> next_ = 0;
    std::atomic<bool> closed_ = false;
};

/// Pieces of work, as many for each thread. A thread takes its own from the first one on, and then
/// those that another has not begun, from the last one back: what the caches of a core hold, or the
/// memory beside it, mostly stays with it.
class shared_pieces {
  public:
    shared_pieces(int threads, int each) : threads_(threads), each_(each) {
        for (int t = 0; t < threads; ++t) left_[std::size_t(t)] = word(0, each);
    }
    /// f(piece), of 0 to threads * each - 1, for every one that thread t takes. f throws nothing.
    template <class F>
    void take(int t, const F& f) {
        for (int k = 0; k < threads_; ++k) {
            const int of = (t + k) % threads_;
            for (int piece = next(of, k == 0); piece >= 0; piece = next(of, k == 0))
                f(of * each_ + piece);
        }
    }

  private:
    static std::uint64_t word(int first, int last) {
        return std::uint64_t(std::uint32_t(first)) << 32 | std::uint32_t(last);
    }
    /// The first or the last piece of a thread's that nobody has begun; -1 where there is none.
    int next(int of, bool first_one) {
        auto& left = left_[std::size_t(of)];
        std::uint64_t seen = left.load(std::memory_order_relaxed);
        while (true) {
            const int first = int(seen >> 32), last = int(std::uint32_t(seen));
            if (first == last) return -1;
            const auto then = first_one ? word(first + 1, last) : word(first, last - 1);
            if (left.compare_exchange_weak(seen, then, std::memory_order_relaxed))
                return first_one ? first : last - 1;
        }
    }

    int threads_, each_;
    std::array<std::atomic<std::uint64_t>, max_threads> left_;  ///< first and last of a thread's
};

/// f(i) for i from 0 to n - 1, an equal share of them to each thread.
template <class F>
void parallel_for(int threads, std::int64_t n, const F& f) {
    parallel(threads, [&](int t) {
        const range mine = share(n, threads, t);
        for (std::int64_t i = mine.first; i < mine.last; ++i) f(i);
    });
}

/// The same, `run` of them at a time to whichever thread is free.
template <class F>
void parallel_for(int threads, std::int64_t n, std::int64_t run, const F& f) {
    shared_range all(n, run);
    parallel(threads, [&](int) { all.take(f); });
}

/// The same with what make() makes for each thread: f(i, mine).
template <class Make, class F>
void parallel_for(int threads, std::int64_t n, std::int64_t run, const Make& make, const F& f) {
    shared_range all(n, run);
    parallel(threads, [&](int) {
        auto mine = make();
        all.take([&](std::int64_t i) { f(i, mine); });
    });
}

/// f(0), ..., f(n - 1) combined two by two, in an order that differs from run to run: for sums of
/// integers, maxima and minima. `neutral` changes nothing when combined.
template <class T, class Combine, class F>
[[nodiscard]] T parallel_reduce(int threads, std::int64_t n, T neutral, const Combine& combine,
                                const F& f) {
    T all = neutral;
    std::mutex one_at_a_time;
    parallel(threads, [&](int t) {
        T mine = neutral;
        const range part = share(n, threads, t);
        for (std::int64_t i = part.first; i < part.last; ++i) mine = combine(mine, f(i));
        const std::lock_guard lock(one_at_a_time);
        all = combine(all, mine);
    });
    return all;
}

/// The larger, and the smaller, of two: what parallel_reduce combines by.
struct larger_of {
    template <class T>
    T operator()(T a, T b) const {
        return std::max(a, b);
    }
};
struct smaller_of {
    template <class T>
    T operator()(T a, T b) const {
        return std::min(a, b);
    }
};

}  // namespace nz
