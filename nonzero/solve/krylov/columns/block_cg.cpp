#include "nonzero/solve/krylov/columns/block_cg.hpp"

#include <algorithm>

#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/columns/krylov_columns.hpp"
#include "nonzero/solve/krylov/columns/small_dense.hpp"

namespace nz {
namespace {

/// The systems of one block that iterate together, from x as it is.
template <class V>
class block_of_systems {
  public:
    block_of_systems(cpu on, const linear_operator<V, cpu>& A, const linear_operator<V, cpu>* M,
                     in_columns<V, cpu> b, out_columns<V, cpu> x, column_reports& all)
        : on_(on), A_(A), M_(M), b_(b), x_(x), all_(all) {}

    void run() {
        std::vector<index> which(all_.of.size());
        std::iota(which.begin(), which.end(), 0);
        while (!which.empty()) which = round(which);
    }

  private:
    using squares = std::vector<double>;

    [[nodiscard]] std::size_t rows() const { return std::size_t(A_.shape().rows); }
    [[nodiscard]] in_columns<V, cpu> read(const few_vectors<V>& v) const {
        return {v.val, v.count, index(v.count), storage_order::row_major};
    }
    /// to = op from
    void apply(const linear_operator<V, cpu>& op, const few_vectors<V>& from,
               few_vectors<V>& to) const {
        to.count = from.count;
        to.val.resize(from.val.size());
        op.apply_many(V(1), read(from), V(0),
                      {to.val, to.count, index(to.count), storage_order::row_major});
    }
    [[nodiscard]] few_vectors<V> gathered(const in_columns<V, cpu>& all,
                                          const std::vector<index>& which) const {
        few_vectors<V> some(rows(), which.size());
        for (std::size_t i = 0; i < rows(); ++i)
            for (std::size_t k = 0; k < which.size(); ++k)
                some.row(i)[k] =
                    all.values[i * all.row_stride() + std::size_t(which[k]) * all.vector_stride()];
        return some;
    }
    [[nodiscard]] squares squares_of(const few_vectors<V>& v) const {
        return squared_norms(on_, v).val;
    }
    /// B - A X of those systems.
    few_vectors<V> residuals(const few_vectors<V>& X, const std::vector<index>& which) const {
        few_vectors<V> R = gathered(b_, which), AX;
        apply(A_, X, AX);
        for (std::size_t k = 0; k < R.val.size(); ++k) R.val[k] -= AX.val[k];
        return R;
    }

    /// Iterates until all have ended. Returns those that only seemed to have converged.
    std::vector<index> round(std::vector<index> which) {
        const in_columns<V, cpu> guess{x_.values, x_.stride, x_.count, x_.order};
        which = that_iterate(which, guess);
        if (which.empty()) return {};
        few_vectors<V> X = gathered(guess, which);
        const auto start = steady_clock::now();
        const status ended = iterate(X, which);
        for (const index c : which)
            all_.of[std::size_t(c)].report.iterations_s += seconds_since(start);
        return settled(X, which, ended);
    }
    /// Begins the reports of these systems; those that have converged, or that do not suit
    /// iterations, are left out.
    std::vector<index> that_iterate(const std::vector<index>& which,
                                    const in_columns<V, cpu>& guess) {
        const auto left = squares_of(residuals(gathered(guess, which), which));
        const auto given = squares_of(gathered(b_, which));
        std::vector<index> some;
        for (std::size_t k = 0; k < which.size(); ++k) {
            krylov_state s;
            s.rhs2 = given[k], s.residual2 = left[k];
            if (all_.start(which[k], s)) some.push_back(which[k]);
        }
        return some;
    }

    /// Block conjugate gradients from X on; why they ended.
    status iterate(few_vectors<V>& X, const std::vector<index>& which) {
        // Directions of which less is left beside others hardly differ from rounding errors.
        constexpr double least = std::is_same_v<real<V>, float> ? 1e-5 : 1e-11;
        few_vectors<V> R = residuals(X, which), Z, P, Q, AW;
        few_vectors<V> W = preconditioned(R, Z);
        for (;;) {
            apply(A_, W, AW);
            bool is_definite = true;
            const auto T = orthonormalizing<V>(inner_products(on_, W, AW), least, is_definite);
            if (!is_definite) return status::indefinite_matrix;
            if (T.cols == 0) return status::breakdown;
            multiply(on_, W, T, P), multiply(on_, AW, T, Q);
            const auto alpha = inner_products(on_, P, R);
            add_product(on_, 1, P, alpha, X), add_product(on_, -1, Q, alpha, R);
            if (const auto ended = note(squares_of(R), which); ended != status::running)
                return ended;
            W = preconditioned(R, Z);
            add_product(on_, -1, P, inner_products(on_, Q, W), W);
        }
    }
    /// M R, or R itself.
    few_vectors<V> preconditioned(const few_vectors<V>& R, few_vectors<V>& Z) const {
        if (M_ == nullptr) return R;
        apply(*M_, R, Z);
        return Z;
    }
    /// After an iteration that left these squares; why all end now, if they do.
    status note(const squares& left, const std::vector<index>& which) {
        double largest = 0;
        bool are_done = true, are_finite = true, are_spent = false;
        for (std::size_t k = 0; k < which.size(); ++k) {
            column_report& one = all_.of[std::size_t(which[k])];
            one.report.history.push_back(std::sqrt(left[k]) / one.report.rhs_norm);
            ++one.report.iterations;
            largest = std::max(largest, one.report.history.back());
            are_done = are_done && left[k] <= one.target2;
            are_finite = are_finite && left[k] <= divergence2 * one.best2;
            are_spent = are_spent || !all_.may_iterate(one);
        }
        const status wanted = all_.after_iteration(largest);
        if (wanted == status::stopped_by_caller) return wanted;
        if (are_done) return status::converged;
        if (!are_finite) return status::diverged;
        return are_spent ? status::max_iter : wanted;
    }
    /// Brings home every x that is better than before, and judges it by its residual. Returns those
    /// that only seemed to have converged and may do better.
    std::vector<index> settled(const few_vectors<V>& X, const std::vector<index>& which,
                               status ended) {
        const auto left = squares_of(residuals(X, which));
        std::vector<index> again;
        for (std::size_t k = 0; k < which.size(); ++k) {
            column_report& one = all_.of[std::size_t(which[k])];
            if (one.improves_by(left[k]))
                for (std::size_t i = 0; i < rows(); ++i)
                    x_.values[i * x_.row_stride() + std::size_t(which[k]) * x_.vector_stride()] =
                        X.row(i)[k];
            if (one.is_to_go_on(ended, left[k])) again.push_back(which[k]);
        }
        return again;
    }

    cpu on_;
    const linear_operator<V, cpu>& A_;
    const linear_operator<V, cpu>* M_;
    in_columns<V, cpu> b_;
    out_columns<V, cpu> x_;
    column_reports& all_;
};

}  // namespace

template <class V>
std::vector<solve_report> block_cg(cpu on, const linear_operator<V, cpu>& A,
                                   const linear_operator<V, cpu>* M, in_columns<V, cpu> b,
                                   out_columns<V, cpu> x, const solve_options& o) {
    constexpr index most = 16;
    const auto alone = [&](in<V, cpu> one_b, out<V, cpu> one_x, const solve_options& left) {
        return M == nullptr ? cg<V, cpu>(on, A, one_b, one_x, left)
                            : cg<V, cpu>(on, A, *M, one_b, one_x, left);
    };
    const auto some = [&](in_columns<V, cpu> some_b, out_columns<V, cpu> some_x,
                          column_reports& all) {
        block_of_systems<V>(on, A, M, some_b, some_x, all).run();
    };
    return solve_in_groups<V, cpu>("cg", on, A, M, b, x, o, alone, some, most);
}

#define NZ_INSTANTIATE(V)                                                                        \
    template std::vector<solve_report> block_cg(                                                 \
        cpu, const linear_operator<V, cpu>&, const linear_operator<V, cpu>*, in_columns<V, cpu>, \
        out_columns<V, cpu>, const solve_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
