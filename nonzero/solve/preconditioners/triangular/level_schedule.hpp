// An order of rows that wait for each other, by which threads share solves with triangular matrices
// and incomplete factorisations.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/preconditioners/triangular/triangle_side.hpp"

namespace nz {

/// Chunks of consecutive rows, level after level. A chunk's rows are computed one after the other,
/// by one thread; its level is one above the highest of those that it waits for, so that the chunks
/// of one level do not wait for each other. Long chunks read the memory as a loop over all rows
/// does, short ones have more neighbours in their level: lengths are tried, the longest first.
/// Source   Saad 2003, section 11.6 (level scheduling of single rows).
class level_schedule {
  public:
    struct chunk {
        index first, last;  ///< rows first to last - 1; of an upper triangle last - 1 to first
    };
    level_schedule() = default;
    /// For the rows of `beside`, as many threads, and none where they would not be faster than one;
    /// entries on the diagonal and on the other side are left out. O(rows + entries) for each
    /// length, by one thread.
    template <class V>
    level_schedule(cpu on, triangle_side side, const csr<V, host_view>& beside);

    /// f(thread, chunk) for all chunks, each behind those that it waits for. f neither throws nor
    /// allocates. Which thread takes which chunk differs from run to run.
    template <class F>
    void run(const F& f) const;
    [[nodiscard]] int threads() const { return threads_; }  ///< that `run` takes
    [[nodiscard]] std::span<const chunk> chunks() const { return chunks_; }
    [[nodiscard]] std::size_t bytes() const {
        return chunks_.size() * sizeof(chunk) + tasks_.size() * sizeof(task);
    }

  private:
    /// Chunks that one thread takes, once the first `before` tasks are done: some of a level that
    /// is shared, or all of consecutive levels that are too small to be.
    struct task {
        std::int64_t first, last, before;
    };

    int threads_ = 1;
    std::vector<chunk> chunks_;
    std::vector<task> tasks_;
};

/// No barrier: a thread that the system takes off its core would keep all others at every level.
/// Here it keeps those that wait for the task it is at.
template <class F>
void level_schedule::run(const F& f) const {
    alignas(64) std::atomic<std::int64_t> next = 0;
    alignas(64) std::atomic<std::int64_t> done = 0;
    const auto count = std::int64_t(tasks_.size());
    parallel(thread_count(cpu{threads_}), [&](int thread) {  // one in a forked child
        for (std::int64_t k = next++; k < count; k = next++) {
            const task& mine = tasks_[std::size_t(k)];
            constexpr int spins = 1000;
            for (int n = 0; done.load(std::memory_order_acquire) < mine.before;)
                n < spins ? void(++n) : std::this_thread::yield();
            for (std::int64_t c = mine.first; c < mine.last; ++c)
                f(thread, chunks_[std::size_t(c)]);
            done.fetch_add(1, std::memory_order_acq_rel);
        }
    });
}

}  // namespace nz
