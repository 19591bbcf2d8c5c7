// One pass over several vectors that lie by rows, each with its own scalars and sums.
#pragma once

#include <array>
#include <bit>
#include <numeric>

#include "nonzero/vector/vector_steps.hpp"

namespace nz {

/// Vectors of one pass, at most: their sums stay in a processor's nearest cache.
inline constexpr index most_columns = 64;
/// Rows that a CPU thread sums up on their own, whatever the number of vectors and of threads: a
/// vector's sums have the same bits beside any others.
inline constexpr std::int64_t column_block = 64;

/// The threads of a pass on a GPU: rows of lanes along the vectors.
struct column_grid {
    static constexpr int threads = 256;
    int log_lanes;
    std::int64_t blocks;  ///< along the rows; as many again for each further run of lanes
    column_grid(std::int64_t rows, index count)
        : log_lanes(std::min(int(std::bit_width(unsigned(std::max(count, index(1)) - 1))), 5)),
          blocks(std::clamp<std::int64_t>(((rows << log_lanes) + threads - 1) / threads, 1, 1024)) {
    }
    [[nodiscard]] std::int64_t runs(index count) const {
        return (count + (std::int64_t(1) << log_lanes) - 1) >> log_lanes;
    }
};

/// Bytes of scratch memory for sums of that size each. On a GPU it is zeroed once, at first.
inline constexpr std::size_t column_tickets_bytes = 256;
constexpr std::size_t column_scratch_bytes(cpu, std::int64_t rows, index count, std::size_t each) {
    return std::size_t((rows + column_block - 1) / column_block) * std::size_t(count) * each;
}
inline std::size_t column_scratch_bytes(gpu, std::int64_t rows, index count, std::size_t each) {
    return column_tickets_bytes +
           std::size_t(column_grid(rows, count).blocks) * std::size_t(count) * each;
}

#if !defined(__CUDACC__)  // which does not know OpenMP
/// step over the vectors that it does not skip, then finish for each of them; at: a vector's
/// scalars each. Same bits for any number of threads.
template <column_step Step>
void run_columns(cpu on, std::int64_t rows, index count, const Step& step,
                 typename Step::scalars* at) {
    using totals = typename Step::totals;
    static_assert(sizeof(totals) <= max_sum_bytes);
    std::array<typename Step::scalars, std::size_t(most_columns)> s;
    std::array<index, std::size_t(most_columns)> some;
    index active = 0;
    for (index c = 0; c < count; ++c) {
        s[std::size_t(c)] = at[c];
        if (!skips<Step>(at[c])) some[std::size_t(active++)] = c;
    }
    if (active == 0) return;
    const std::int64_t blocks = (rows + column_block - 1) / column_block;
    const bool is_short = rows * count < worth_threads * fused_block;
    [[maybe_unused]] const int threads = is_short ? 1 : thread_count(on);
    const auto block = [&](std::int64_t b, totals* sums) {
        const std::int64_t last = std::min(rows, (b + 1) * column_block);
        for (std::int64_t i = b * column_block; i < last; ++i) {
            if (active == count) {
#pragma omp simd
                for (index c = 0; c < count; ++c)
                    sums[c] += element_of(step, {i, i * count + c, c}, s[std::size_t(c)]);
            } else {
                for (index k = 0; k < active; ++k) {
                    const index c = some[std::size_t(k)];
                    sums[c] += element_of(step, {i, i * count + c, c}, s[std::size_t(c)]);
                }
            }
        }
    };
    if constexpr (finishes<Step>) {
        NZ_ASSERT(on.ranks == nullptr);
        NZ_ASSERT(on.scratch.size() >= column_scratch_bytes(on, rows, count, sizeof(totals)));
        auto* const partial = static_cast<totals*>(static_cast<void*>(on.scratch.data()));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t b = 0; b < blocks; ++b) {
            std::array<totals, std::size_t(most_columns)> sums{};
            block(b, sums.data());
            std::copy_n(sums.begin(), count, partial + b * count);
        }
        std::array<totals, std::size_t(most_columns)> all{};
        for (std::int64_t b = 0; b < blocks; ++b)
            for (index c = 0; c < count; ++c) all[std::size_t(c)] += partial[b * count + c];
        for (index k = 0; k < active; ++k) {
            const index c = some[std::size_t(k)];
            step.finish(at[c], all[std::size_t(c)]);
        }
    } else {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t b = 0; b < blocks; ++b) {
            std::array<totals, std::size_t(most_columns)> none{};
            block(b, none.data());
        }
    }
}
#endif

/// Defined in fused_columns.cuh; instantiated in the .cu beside the step.
template <class Step>
void launch_columns(gpu on, std::int64_t rows, index count, const Step& step,
                    typename Step::scalars* at);

/// The same in on.stream, without waiting; at points to GPU memory. Same bits in every run with as
/// many vectors.
template <column_step Step>
void run_columns(gpu on, std::int64_t rows, index count, const Step& step,
                 typename Step::scalars* at) {
    static_assert(sizeof(typename Step::totals) <= max_sum_bytes);
    if constexpr (has_cuda) {
        launch_columns(on, rows, count, step, at);
    } else {
        throw unavailable("this build of nonzero has no CUDA");
    }
}

/// Numbers of some of several vectors, and the layout of all.
struct chosen_columns {
    std::size_t row_stride, vector_stride;
    index which[std::size_t(most_columns)];
    [[nodiscard]] NZ_HOST_DEVICE std::size_t place(const column_element& e) const {
        return std::size_t(e.row) * row_stride + std::size_t(which[e.column]) * vector_stride;
    }
};
template <class Array>
chosen_columns chosen(const columns<Array>& all, std::span<const index> which) {
    chosen_columns c{all.row_stride(), all.vector_stride(), {}};
    std::ranges::copy(which, c.which);
    return c;
}

/// to = from, of vectors that lie anyhow.
template <class V>
struct copy_columns {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const V* from;
    V* to;
    chosen_columns of_from, of_to;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        to[of_to.place(e)] = from[of_from.place(e)];
        return {};
    }
};

/// y = d x, each row of the vectors times its factor.
template <class V>
struct multiply_columns {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const V *d, *x;
    V* y;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        y[e.at] = product(d[e.row], x[e.at]);
        return {};
    }
};

/// Up to most_columns vectors of one length side by side, by rows without gaps, on B: makes them,
/// and runs passes over them. For one thread and one stream at a time, as it holds the sums'
/// memory.
template <class V, class B>
class column_space {
  public:
    column_space(B on, std::int64_t rows, index count)
        : on_(on),
          rows_(rows),
          count_(count),
          none_(make_vector<one_scalar<V>>(on, std::size_t(count))) {}
    column_space(column_space&&) noexcept = default;
    [[nodiscard]] B on() const { return on_; }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] index count() const { return count_; }
    /// As many vectors from now on, no more than at first, in the memory of those that were made.
    void resize(index count) { count_ = count; }

    [[nodiscard]] vector<V, B> make() const {
        return make_vector<V>(on_, std::size_t(rows_) * std::size_t(count_));
    }
    [[nodiscard]] vector<V, B> zero() {
        auto v = make();
        run(fill_step<V>{V(0), v.data()});
        return v;
    }
    /// Those that begin there, of which each has that many elements.
    [[nodiscard]] in_columns<V, B> read(const V* at, std::int64_t rows) const {
        const auto count = std::size_t(count_);
        return {{at, std::size_t(rows) * count}, count, count_, storage_order::row_major};
    }
    [[nodiscard]] in_columns<V, B> read(const vector<V, B>& v) const {
        return read(v.data(), rows_);
    }
    [[nodiscard]] out_columns<V, B> write(V* at, std::int64_t rows) const {
        const auto count = std::size_t(count_);
        return {{at, std::size_t(rows) * count}, count, count_, storage_order::row_major};
    }
    [[nodiscard]] out_columns<V, B> write(vector<V, B>& v) const { return write(v.data(), rows_); }

    /// Over the vectors; at: the scalars of each.
    template <column_step Step>
    void run(const Step& step, typename Step::scalars* at) {
        if constexpr (finishes<Step>) reserve(sizeof(typename Step::totals));
        run_columns(on_, rows_, count_, step, at);
    }
    /// A step without scalars.
    template <column_step Step>
    void run(const Step& step) {
        run(step, none_.data());
    }
    /// The numbers of the vectors.
    [[nodiscard]] std::span<const index> all() const {
        static constexpr auto numbers = [] {
            std::array<index, std::size_t(most_columns)> n{};
            std::iota(n.begin(), n.end(), 0);
            return n;
        }();
        return std::span(numbers).first(std::size_t(count_));
    }
    /// to = from, of those that are chosen of each, count() of them.
    void copy(const in_columns<V, B>& from, std::span<const index> of_from,
              const out_columns<V, B>& to, std::span<const index> of_to) {
        NZ_ASSERT(std::ssize(of_from) == count_ && std::ssize(of_to) == count_);
        run(copy_columns<V>{from.values.data(), to.values.data(), chosen(from, of_from),
                            chosen(to, of_to)});
    }
    void copy(const in_columns<V, B>& from, const out_columns<V, B>& to) {
        copy(from, all(), to, all());
    }
    void copy(const vector<V, B>& from, vector<V, B>& to) { copy(read(from), write(to)); }
    /// to = those of from
    void gather(const in_columns<V, B>& from, std::span<const index> which, vector<V, B>& to) {
        copy(from, which, write(to), all());
    }

  private:
    void reserve(std::size_t each) {
        const std::size_t bytes = column_scratch_bytes(on_, rows_, count_, each);
        if (scratch_.size() >= bytes) return;
        scratch_ = make_vector<std::byte>(on_, bytes);
        if constexpr (std::is_same_v<B, gpu>) zero_on_device(on_, scratch_);
        on_.scratch = scratch_;
    }

    B on_;
    std::int64_t rows_;
    index count_;
    vector<std::byte, B> scratch_;
    vector<one_scalar<V>, B> none_;  ///< which nothing reads
};

}  // namespace nz
