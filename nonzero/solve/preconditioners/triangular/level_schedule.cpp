#include "nonzero/solve/preconditioners/triangular/level_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/threads.hpp"

namespace nz {
namespace {

// Work is counted in rows plus entries, about a nanosecond each.
constexpr std::int64_t worth_a_wait = 2048;  ///< of a level: with less, one thread takes it
constexpr double work_of_a_wait = 512;
constexpr double work_of_a_chunk = 64;        ///< its rows are elsewhere in the memory
constexpr std::int64_t work_of_a_task = 512;  ///< at least, where a level is shared

/// The rows of a triangle by their turn: the order in which one thread computes them.
template <class P>
struct rows_by_turn {
    triangle_side side;
    std::int64_t n;
    const P* ptr;
    const index* col;

    [[nodiscard]] std::int64_t row_at(std::int64_t turn) const {
        return side == triangle_side::lower ? turn : n - 1 - turn;
    }
    /// f(turn) of each row that this one waits for.
    template <class F>
    void for_each_before(std::int64_t turn, const F& f) const {
        const std::int64_t i = row_at(turn);
        for (P k = ptr[i]; k < ptr[i + 1]; ++k)
            if (const std::int64_t at = row_at(col[k]); at < turn) f(at);
    }
    [[nodiscard]] level_schedule::chunk chunk_of(std::int64_t first, std::int64_t last) const {
        if (side == triangle_side::lower) return {index(first), index(last)};
        return {index(n - last), index(n - first)};
    }
    [[nodiscard]] std::int64_t work(level_schedule::chunk c) const {
        return c.last - c.first + std::int64_t(ptr[c.last] - ptr[c.first]);
    }
};

struct chunk_on_level {
    level_schedule::chunk rows;
    index level;
    std::int64_t work;
};

/// Those of one level stay in their order.
std::vector<chunk_on_level> by_level(std::span<const chunk_on_level> all) {
    std::vector<std::size_t> first;
    for (const auto& c : all) {
        first.resize(std::max(first.size(), std::size_t(c.level) + 2), 0);
        ++first[std::size_t(c.level) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<chunk_on_level> sorted(all.size());
    for (const auto& c : all) sorted[first[std::size_t(c.level)]++] = c;
    return sorted;
}

/// Chunks of `longest` rows at most, by level, those of one level by turn. A chunk ends where the
/// next row does not wait for it, as that row may begin at once.
template <class P>
std::vector<chunk_on_level> cut(const rows_by_turn<P>& rows, std::int64_t longest) {
    std::vector<chunk_on_level> all;
    std::vector<index> level_of(std::size_t(rows.n));  // of rows in chunks that have ended
    std::int64_t start = 0, start_of_last = 0;         // of the chunk, and of the one before
    index level = 0;
    const auto end = [&](std::int64_t last) {
        std::fill(level_of.begin() + start, level_of.begin() + last, level);
        const bool joins =
            !all.empty() && all.back().level == level && last - start_of_last <= longest;
        if (joins) all.pop_back();
        if (!joins) start_of_last = start;
        const auto c = rows.chunk_of(start_of_last, last);
        all.push_back({c, level, rows.work(c)});
    };
    for (std::int64_t turn = 0; turn < rows.n; ++turn) {
        index above = 0;
        bool waits = false;  // for the chunk itself
        rows.for_each_before(turn, [&](std::int64_t at) {
            if (at >= start)
                waits = true;
            else
                above = std::max(above, level_of[std::size_t(at)] + 1);
        });
        if (turn > 0 && (!waits || turn - start >= longest)) {
            end(turn);
            above = waits ? std::max(above, level + 1) : above;
            start = turn, level = 0;
        }
        level = std::max(level, above);
    }
    if (rows.n > 0) end(rows.n);
    return by_level(all);
}

/// f(first, last, work) for the chunks of each level.
template <class F>
void for_each_level(std::span<const chunk_on_level> all, const F& f) {
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
        std::int64_t work = 0;
        for (; last < all.size() && all[last].level == all[first].level; ++last)
            work += all[last].work;
        f(std::int64_t(first), std::int64_t(last), work);
    }
}

bool is_shared(std::int64_t chunks, std::int64_t work) {
    return chunks > 1 && work >= worth_a_wait;
}

/// Work that the thread with the most of it has, waits included.
double longest_work(std::span<const chunk_on_level> all, int threads) {
    double sum = 0;
    for_each_level(all, [&](std::int64_t first, std::int64_t last, std::int64_t work) {
        const auto count = double(last - first);
        const double all_work = double(work) + count * work_of_a_chunk;
        sum += is_shared(last - first, work)
                   ? all_work / std::min(double(threads), count) + work_of_a_wait
                   : all_work;
    });
    return sum;
}

/// The chunks by which the threads have the least work; one of all rows where one thread has less.
template <class P>
std::vector<chunk_on_level> best_cut(const rows_by_turn<P>& rows, std::int64_t work, int threads) {
    std::vector<chunk_on_level> best{{{0, index(rows.n)}, 0, work}};
    double least = double(work), longer = least;  // longer: as chunks before took that went beside
    for (const std::int64_t longest : {2048, 512, 128, 32, 8, 1}) {
        if (threads == 1 || least <= 1.25 * double(work) / threads) break;
        auto tried = cut(rows, longest);
        const double takes = longest_work(tried, threads);
        // Shorter chunks are more of them, which only costs once some go beside each other.
        const double of_as_many = (double(work) + double(tried.size()) * work_of_a_chunk) / threads;
        const bool in_turn = tried.back().level + 1 == std::ssize(tried);
        const bool ends = of_as_many >= least || (!in_turn && takes >= longer);
        if (takes < least) best = std::move(tried), least = takes;
        if (ends) break;
        if (!in_turn) longer = takes;
    }
    return best;
}

}  // namespace

template <class V>
level_schedule::level_schedule(cpu on, triangle_side side, const csr<V, host_view>& beside) {
    const std::int64_t n = beside.shape.rows, work = n + std::ssize(beside.col_ind);
    const int threads = thread_count(on, work);
    const auto best = beside.row_ptr.visit([&](const auto* ptr) {
        using P = std::remove_cvref_t<decltype(*ptr)>;
        return best_cut(rows_by_turn<P>{side, n, ptr, beside.col_ind.data()}, work, threads);
    });
    if (best.size() > 1) threads_ = threads;
    for (const chunk_on_level& c : best) chunks_.push_back(c.rows);
    bool joins = false;  // a level of one thread the task before, as that is one too
    for_each_level(best, [&](std::int64_t first, std::int64_t last, std::int64_t of_level) {
        const bool shared = is_shared(last - first, of_level);
        const auto before = std::int64_t(tasks_.size());
        if (joins && !shared) {
            tasks_.back().last = last;
            return;
        }
        joins = !shared;
        const std::int64_t least_of_task =
            shared ? std::max(work_of_a_task, of_level / (8 * threads_)) : of_level;
        for (std::int64_t end = first; end < last; first = end) {
            std::int64_t of_task = 0;
            do of_task += best[std::size_t(end++)].work;
            while (end < last && of_task < least_of_task);
            tasks_.push_back({first, end, before});
        }
    });
}

#define NZ_INSTANTIATE(V) \
    template level_schedule::level_schedule(cpu, triangle_side, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
