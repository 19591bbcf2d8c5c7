#include "nonzero/solve/solver.hpp"

#include <mutex>

#include "nonzero/solve/system_arguments.hpp"
#include "nonzero/solve/whole_system.hpp"

namespace nz {
namespace {

template <class V>
bool same_pattern(const csr<V, host_view>& A, const csr<V, host_view>& B) {
    if (A.shape != B.shape || A.val.size() != B.val.size()) return false;
    const auto both = [](bool a, bool b) { return a && b; };
    const int threads = thread_count({});
    return parallel_reduce(threads, std::ssize(A.col_ind), true, both,
                           [&](std::int64_t k) {
                               return A.col_ind[std::size_t(k)] == B.col_ind[std::size_t(k)];
                           }) &&
           parallel_reduce(threads, std::int64_t(A.row_ptr.size()), true, both,
                           [&](std::int64_t i) {
                               return A.row_ptr[std::size_t(i)] == B.row_ptr[std::size_t(i)];
                           });
}

}  // namespace

template <class V, class B>
struct solver<V, B>::state {
    csr<V, host> A;
    ascending<V> in_order;
    std::optional<whole_system<V, B>> system = {};
    std::mutex mutex = {};

    explicit state(csr<V, host> copy)
        : A(std::move(copy)), in_order(ascending<V>::known(view(A))) {}
    [[nodiscard]] host_vector<V> diagonal() const {
        return diagonal_of(worth(cpu{}, std::ssize(A.val)), view(A));
    }
};

template <class V, class B>
solver<V, B>::solver(B on, const csr<V, host_view>& given, const system_options& o) {
    if (on.ranks != nullptr) throw argument_error("solver: not over ranks");
    expect_square(given.shape);
    const auto n = std::size_t(given.shape.rows);
    check_arguments(n, n, n, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        state_ = std::make_unique<state>(canonical(given));
        state_->system.emplace(on, whole_matrix<V, B>(on, state_->in_order), state_->diagonal(), o,
                               to_follow::matrices);
    }
}
template <class V, class B>
solver<V, B>::~solver() = default;
template <class V, class B>
solver<V, B>::solver(solver&&) noexcept = default;

template <class V, class B>
system_report solver<V, B>::solve(std::span<const V> b, std::span<V> x) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(std::size_t(state_->A.shape.rows), b.size(), x.size(), {});
        const std::lock_guard lock(state_->mutex);
        return state_->system->solve(b, x, start);
    }
}

template <class V, class B>
std::vector<system_report> solver<V, B>::solve(in_columns<V, cpu> b, out_columns<V, cpu> x) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(std::size_t(state_->A.shape.rows), b, x, {});
        const std::lock_guard lock(state_->mutex);
        return state_->system->solve_columns(b, x, start);
    }
}

template <class V, class B>
void solver<V, B>::take_values(const csr<V, host_view>& given) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const std::lock_guard lock(state_->mutex);
        auto& mine = state_->A;
        const ascending<V> in_order(given);
        const csr<V, host_view>& other = in_order.view();
        if (!same_pattern(other, view(mine)))
            throw argument_error("solver: the matrix has another pattern than the first one");
        parallel_for(thread_count({}), std::ssize(mine.val),
                     [&](std::int64_t k) { mine.val[std::size_t(k)] = other.val[std::size_t(k)]; });
        state_->system->take_values(state_->diagonal());
    }
}

#define NZ_INSTANTIATE_ON_CPU(V) template class solver<V, cpu>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
template class solver<float, gpu>;
template class solver<double, gpu>;

}  // namespace nz
