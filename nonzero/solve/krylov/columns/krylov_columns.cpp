#include "nonzero/solve/krylov/columns/krylov_columns.hpp"

namespace nz {
namespace {

/// Vector c of x solved alone, from where it is.
template <class V, class B>
solve_report solve_column(B on, index c, std::int64_t rows, const in_columns<V, B>& b,
                          const out_columns<V, B>& x, const solve_options& o,
                          const alone_solve<V, B>& alone) {
    column_space<V, B> one(on, rows, 1);
    auto rhs = one.make(), solution = one.make();
    one.copy(b, {&c, 1}, one.write(rhs), one.all());
    one.copy({x.values, x.stride, x.count, x.order}, {&c, 1}, one.write(solution), one.all());
    solve_report report = alone(rhs, solution, o);
    one.copy(one.read(solution), one.all(), x, {&c, 1});
    return report;
}

}  // namespace

template <class V, class B>
std::vector<solve_report> solve_in_groups(const char* name, B on, const linear_operator<V, B>& A,
                                          const linear_operator<V, B>* M, in_columns<V, B> b,
                                          out_columns<V, B> x, const solve_options& o,
                                          const alone_solve<V, B>& alone,
                                          const some_solve<V, B>& some, index most) {
    const std::int64_t rows = A.shape().rows;
    const auto n = std::size_t(rows);
    check_system<V, B>(name, on, A, M, in<V, B>{b.values.data(), n}, in<V, B>{x.values.data(), n},
                       o);
    agree(ranks_of(on), [&] {
        check_columns(name, "B", b, x.count, n);
        check_columns(name, "X", x, x.count, n);
    });
    std::vector<solve_report> reports;
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        bool stopped = false;
        const auto rest = [&] {
            solve_options left = o;
            left.max_seconds = std::max(0.0, o.max_seconds - seconds_since(start));
            if (stopped) left.max_iter = 0;
            if (o.monitor)
                left.monitor = [&](std::int64_t k, double r) {
                    stopped |= !o.monitor(k, r);
                    return !stopped;
                };
            return left;
        };
        for (index first = 0; first < x.count; first += most) {
            const index count = std::min(most, x.count - first);
            const solve_options left = rest();
            column_reports all(left, o.template tol_of<V>(), count);
            try {
                if (count > 1 && ranks_of(on) == nullptr && n > 0 && !stopped)
                    some(some_of(b, first, count), some_of(x, first, count), all);
            } catch (const unavailable&) {  // a product takes no vectors by rows
            }
            for (index c = 0; c < count; ++c) {
                column_report& one = all.of[std::size_t(c)];
                if (!one.is_final) {
                    const bool was_stopped = stopped;
                    one.report = solve_column<V, B>(on, first + c, rows, b, x, rest(), alone);
                    if (was_stopped && !one.report.converged)
                        one.report.end_by(status::stopped_by_caller);
                }
                reports.push_back(std::move(one.report));
            }
        }
    }
    return reports;
}

#define NZ_INSTANTIATE(V, B)                                                                 \
    template std::vector<solve_report> solve_in_groups(                                      \
        const char*, B, const linear_operator<V, B>&, const linear_operator<V, B>*,          \
        in_columns<V, B>, out_columns<V, B>, const solve_options&, const alone_solve<V, B>&, \
        const some_solve<V, B>&, index);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
