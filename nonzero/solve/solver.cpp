#include "nonzero/solve/solver.hpp"

#include <concepts>
#include <mutex>
#include <variant>

#include "nonzero/core/parallel.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/solve/columns_in_step.hpp"
#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/system_arguments.hpp"

namespace nz {
namespace {

/// Clang 14 instantiates members for backends that they do not suit.
template <class B>
constexpr bool is_gpu_built = std::is_same_v<B, gpu>&& is_built<B>;

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

/// A matrix that is kept on the CPU, and its system.
template <class V, class B>
struct kept_on_cpu {
    csr<V, host> A;
    whole_system<V, B> system;

    kept_on_cpu(B on, const ascending<V>& given, const system_options& o)
        : A(csr<V, host>::from(given.view())),
          system(on, {on, ascending<V>::known(view(A))}, o, to_follow::matrices) {}
    void take_values(B, const csr<V, host_view>& given) {
        const ascending<V> in_order(given);
        const csr<V, host_view>& other = in_order.view();
        if (!same_pattern(other, view(A))) refuse_pattern();
        parallel_for(thread_count({}), std::ssize(A.val),
                     [&](std::int64_t k) { A.val[std::size_t(k)] = other.val[std::size_t(k)]; });
        system.take_values();
    }
    void take_values(B on, const csr<V, device_view>& given) {
        take_values(on, view(download(on, given)));
    }
    [[noreturn]] static void refuse_pattern() {
        throw argument_error("solver: the matrix has another pattern than the first one");
    }
};

/// The same on a GPU.
template <class V>
struct kept_on_gpu {
    csr<V, device> A;
    system_on_gpu<V> system;

    kept_on_gpu(gpu on, csr<V, device>&& given, const system_options& o)
        : A(canonical(on, std::move(given))),
          system(on, {on, ascending<V, gpu>::known(view(A), on)}, o, to_follow::matrices) {}
    void take_values(gpu on, const csr<V, device_view>& given) {
        const ascending<V, gpu> in_order(given, on);
        const csr<V, device_view>& other = in_order.view();
        const auto hash = [&](const auto& M) { return pattern_hash(on, M.row_ptr, M.col_ind); };
        if (other.shape != A.shape || other.val.size() != A.val.size() ||
            hash(other) != hash(view(A)))
            kept_on_cpu<V, gpu>::refuse_pattern();
        copy_on_device(on, other.val.data(), A.val.data(), A.val.size() * sizeof(V));
        system.take_values();
    }
    void take_values(gpu on, const csr<V, host_view>& given) {
        const auto there = upload(on, given);
        take_values(on, view(there));
    }
};

template <class V, class B>
struct kept {
    using type = std::variant<std::monostate, kept_on_cpu<V, B>>;
};
template <std::floating_point V>
struct kept<V, gpu> {
    using type = std::variant<std::monostate, kept_on_cpu<V, gpu>, kept_on_gpu<V>>;
};

}  // namespace

/// Every use takes its turn.
template <class V, class B>
struct solver<V, B>::state {
    B on;
    std::size_t rows;
    typename kept<V, B>::type held = {};
    std::mutex mutex = {};

    state(B where, std::size_t n) : on(where), rows(n) {}
    /// f of what is kept.
    template <class F>
    auto with(F f) {
        const std::lock_guard lock(mutex);
        using result = decltype(f(std::get<1>(held)));
        return std::visit(
            [&]<class K>(K& some) -> result {
                if constexpr (std::is_same_v<K, std::monostate>)
                    throw error("solver: empty");
                else
                    return f(some);
            },
            held);
    }
};

namespace {

template <class V, class B>
std::size_t checked_rows(B on, nz::shape shape, const system_options& o) {
    if (on.ranks != nullptr) throw argument_error("solver: not over ranks");
    expect_square(shape);
    const auto n = std::size_t(shape.rows);
    check_arguments(n, n, n, o);
    return n;
}

}  // namespace

template <class V, class B>
solver<V, B>::solver(B on, const csr<V, host_view>& given, const system_options& o) {
    const auto n = checked_rows<V>(on, given.shape, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        state_ = std::make_unique<state>(on, n);
        if constexpr (is_gpu_built<B> && !is_complex<V>)
            if (auto there = copy_where_worth(on, given)) {
                state_->held.template emplace<2>(on, *std::move(there), o);
                return;
            }
        state_->held.template emplace<1>(on, ascending<V>(given), o);
    }
}
template <class V, class B>
solver<V, B>::solver(B on, const csr<V, device_view>& given,
                     const system_options& o) requires std::is_same_v<B, gpu> {
    const auto n = checked_rows<V>(on, given.shape, o);
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else if constexpr (is_complex<V>) {
        refuse_complex("solver");
    } else {
        require_gpu(on);
        state_ = std::make_unique<state>(on, n);
        state_->held.template emplace<2>(on, upload(on, given), o);
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
        check_arguments(state_->rows, b.size(), x.size(), {});
        return state_->with([&](auto& k) {
            return with_vectors<V>(state_->on, b, x, [&](const auto& from, const auto& to) {
                return k.system.solve(from, to, start);
            });
        });
    }
}

template <class V, class B>
std::vector<system_report> solver<V, B>::solve(in_columns<V, cpu> b, out_columns<V, cpu> x) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(state_->rows, b, x, {});
        return state_->with(
            [&](auto& k) { return k.system.template solve_columns<cpu>(b, x, start); });
    }
}

template <class V, class B>
system_report solver<V, B>::solve(device_span<V> b,
                                  device_out<V> x) requires std::is_same_v<B, gpu> {
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(state_->rows, b.size(), x.size(), {});
        return state_->with([&](auto& k) { return k.system.solve(b, x, start); });
    }
}

template <class V, class B>
std::vector<system_report> solver<V, B>::solve(
    in_columns<V, gpu> b, out_columns<V, gpu> x) requires std::is_same_v<B, gpu> {
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(state_->rows, b, x, {});
        return state_->with(
            [&](auto& k) { return k.system.template solve_columns<gpu>(b, x, start); });
    }
}

template <class V, class B>
void solver<V, B>::take_values(const csr<V, host_view>& given) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        state_->with([&](auto& k) { k.take_values(state_->on, given); });
    }
}

template <class V, class B>
void solver<V, B>::take_values(const csr<V, device_view>& given) requires std::is_same_v<B, gpu> {
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else if constexpr (is_complex<V>) {
        refuse_complex("solver");
    } else {
        state_->with([&](auto& k) { k.take_values(state_->on, given); });
    }
}

#define NZ_INSTANTIATE(V)          \
    template class solver<V, cpu>; \
    template class solver<V, gpu>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
