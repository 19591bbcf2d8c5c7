#include "amgx/preconditioner.hpp"

#include <algorithm>

#include "nonzero/core/stream.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/direct/direct_over_ranks.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/idrs.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz::amgx {
namespace {

template <class V, class B>
using made = std::unique_ptr<linear_operator<V, B>>;

/// Rows up to which a nonsymmetric matrix is inverted, as multigrid's coarsest level is.
constexpr index most_inverted = 500;

template <class V, class B, class F>
made<V, B> operator_of(B on, index rows, F f) {
    auto op = make_operator<V>(on, {rows, rows}, std::move(f));
    return std::make_unique<decltype(op)>(std::move(op));
}

template <class V, class B>
made<V, B> scaled(B on, made<V, B> M, double by) {
    if (by == 1) return M;
    const index rows = M->shape().rows;
    return operator_of<V>(on, rows,
                          [M = std::shared_ptr(std::move(M)), by](in<V, B> x, out<V, B> y) {
                              M->apply(V(by), x, V(0), y);
                          });
}

/// As many iterations y = y + M (x - A y), from y = 0 on.
template <class V, class B>
made<V, B> repeated(const prepared_matrix<V, B>& A, made<V, B> M, int times) {
    if (times == 1) return M;
    struct memory {
        vector_space<V, B> space;
        vector<V, B> r, z;
    };
    vector_space<V, B> space(A.on, A.rows());
    auto r = space.make(), z = space.make();
    const auto kept =
        std::make_shared<memory>(memory{std::move(space), std::move(r), std::move(z)});
    return operator_of<V>(
        A.on, A.rows(),
        [&A, kept, times, M = std::shared_ptr(std::move(M))](in<V, B> x, out<V, B> y) {
            M->apply(V(1), x, V(0), y);
            for (int k = 1; k < times; ++k) {
                kept->space.copy(x, kept->r);
                A.product().apply(V(-1), y, V(1), kept->r);
                M->apply(V(1), kept->r, V(0), kept->z);
                kept->space.axpy(V(1), kept->z, y);
            }
        });
}

/// f(a matrix, the number of its first row): A, or what it has in the rows and columns of a rank.
template <class V, class B, class F>
auto with_own_block(const prepared_matrix<V, B>& A, F f) {
    if (A.is_whole) return f(A.whole(), 0);
    const int rank = A.on.ranks->rank();
    return f(ascending<V>(own_block(A.slice, rank)), index(A.slice.rows.of(rank).first));
}
template <class V, class B>
bool is_hermitian(const prepared_matrix<V, B>& A) {
    return A.is_whole ? is_symmetric(A.whole()) : is_symmetric(*A.on.ranks, A.slice);
}

/// x = A^-1 b on the CPU.
template <class V, class B, class Factors>
made<V, B> inverse_on_cpu(B on, index rows, std::shared_ptr<Factors> factors) {
    return operator_of<V>(on, rows, [factors, on](in<V, B> b, out<V, B> x) {
        const auto rhs = to_host<V>(on, b);
        host_vector<V> solution(rhs.size());
        factors->apply(std::span<const V>(rhs), std::span<V>(solution));
        vector_space<V, B>(on, std::int64_t(rhs.size()))
            .copy(from_host(on, std::span<const V>(solution)), x);
    });
}

/// Throws argument_error where a vector shows that the factors are those of a matrix that is nearly
/// singular.
template <class V>
void expect_regular(const ascending<V>& A, const factorization<V>& factors) {
    constexpr double most_condition = 1e13, most_left = 1e-8;
    const auto n = std::size_t(factors.rows());
    host_vector<V> b(n), x(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = V(1 + double(i * 2654435761u % 1000) / 1000);
    const double left = factors.solve(b, x);
    double of_A = 0, of_x = 0;
    for (const V& a : A.view().val) of_A = std::max(of_A, double(std::abs(a)));
    for (const V& v : x) of_x = std::max(of_x, double(std::abs(v)));
    if (!(left < most_left) || !(of_x * of_A < most_condition))
        throw argument_error("the matrix is nearly singular");
}

/// The inverse as a matrix, by its factors.
template <class V, class B>
made<V, B> stored_inverse(B on, const ascending<V>& A) {
    const factorization<V> factors(A.view());
    expect_regular(A, factors);
    const auto n = std::size_t(factors.rows());
    host_vector<V> unit(n), column(n);
    auto inverse = std::make_shared<csr<V, host>>();
    inverse->shape = A.view().shape;
    inverse->val.resize(n * n);
    inverse->col_ind.resize(n * n);
    host_vector<offset> starts(n + 1, 0);
    for (std::size_t j = 0; j < n; ++j) {
        std::ranges::fill(unit, V(0));
        unit[j] = V(1);
        factors.apply(unit, column);
        for (std::size_t i = 0; i < n; ++i) {
            inverse->val[i * n + j] = column[i];
            inverse->col_ind[i * n + j] = index(j);
        }
        starts[j + 1] = offset((j + 1) * n);
    }
    inverse->row_ptr = starts;
    return product_with<V>(on, std::move(inverse));
}

template <class V, class B>
preconditioner<V, B> direct(const prepared_matrix<V, B>& A) {
    if (A.is_whole && A.rows() <= most_inverted) return {stored_inverse<V>(A.on, A.whole())};
    preconditioner<V, B> p{.is_fixed = false};
    if (A.is_whole) {
        p.M =
            inverse_on_cpu<V>(A.on, A.rows(), std::make_shared<factorization<V>>(A.whole().view()));
    } else {
        auto factors = std::make_shared<direct_over_ranks<V>>(*A.on.ranks, A.slice, 0,
                                                              factor_forecast::libraries::eigen);
        factors->factorize();
        p.M = inverse_on_cpu<V>(A.on, A.rows(), std::move(factors));
    }
    return p;
}

/// The l1 norms of the rows on a diagonal, without entries of other ranks' columns.
template <class V, class B>
made<V, B> l1_jacobi(const prepared_matrix<V, B>& A) {
    return with_own_block(A, [&](const ascending<V>& block, index first_row) {
        const csr<V, host_view>& rows = block.view();
        host_vector<V> norms(std::size_t(rows.shape.rows), V(0));
        for (std::size_t i = 0; i < norms.size(); ++i)
            for (offset k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
                norms[i] += std::abs(rows.val[std::size_t(k)]);
        return jacobi(alone(A.on), ascending<V>::known(diagonal_matrix(std::move(norms))),
                      first_row);
    });
}

template <class V, class B>
made<V, B> block_diagonal(const prepared_matrix<V, B>& A) {
    constexpr index largest = 64;
    return with_own_block(A, [&](const ascending<V>& block, index first_row) {
        if (A.block > 1 && A.block <= largest)
            return block_jacobi(alone(A.on), block, A.block, first_row);
        return jacobi(alone(A.on), block, first_row);
    });
}

/// Incomplete Cholesky where A is symmetric and may be definite, which conjugate gradients need.
template <class V, class B>
made<V, B> incomplete(const prepared_matrix<V, B>& A, int level) {
    const bool is_symmetric = is_hermitian(A);
    return with_own_block(A, [&](const ascending<V>& block, index first_row) -> made<V, B> {
        const incomplete_options how{.level = level};
        if (is_symmetric) try {
                return ic(alone(A.on), block, how, first_row);
            } catch (const argument_error&) {  // it is not definite
            }
        return ilu(alone(A.on), block, how, first_row);
    });
}

/// Throws argument_error where A is not symmetric with a positive diagonal.
template <class V, class B>
std::unique_ptr<amg<V, B>> multigrid(const prepared_matrix<V, B>& A, amg_options o) {
    o.check = true;
    o.block = A.block;
    if (!A.is_whole) return std::make_unique<amg<V, B>>(A.on, A.slice, o, A.near, &A.product());
    if constexpr (std::is_same_v<B, gpu>)
        if (A.on_gpu.val.size() <= std::size_t(offset_vector::max_narrow))
            return std::make_unique<amg<V, B>>(view(A.on_gpu), A.on, o, A.near, &A.product());
    return std::make_unique<amg<V, B>>(A.whole(), A.on, o, A.near, &A.product());
}

std::string level_table(const amg_report& r) {
    std::string text = "AMG Grid:\n  Number of Levels: " + std::to_string(r.levels.size()) +
                       "\n  LVL         ROWS               NNZ  PARTS    SPRSTY      Mem (GB)\n";
    for (std::size_t l = 0; l < r.levels.size(); ++l) {
        const auto& level = r.levels[l];
        const double share = double(level.nnz) / std::max(1.0, double(level.rows) * level.rows);
        text += fmt::format("  {}(D) {:>12} {:>17} {:>6} {:>9.3g} {:>13.3g}\n", l, level.rows,
                            level.nnz, 1, share, double(level.nnz) * 12e-9);
    }
    return text + fmt::format("  Grid Complexity: {:.5g}\n  Operator Complexity: {:.5g}\n",
                              r.grid_complexity(), r.operator_complexity());
}

/// Multigrid, or where A is not symmetric its inverse while it is small, else incomplete factors.
template <class V, class B>
preconditioner<V, B> levels_or_nearest(const settings& s, const prepared_matrix<V, B>& A) {
    try {
        auto levels = multigrid(A, s.multigrid);
        preconditioner<V, B> p{.levels = levels.get()};
        if (s.prints_levels) A.tells->tell(level_table(levels->report()));
        p.M = std::move(levels);
        return p;
    } catch (const argument_error& e) {
        const bool is_small = A.is_whole && A.rows() <= most_inverted;
        A.tells->tell(fmt::format("solver=AMG: {}: {} takes its place", e.what(),
                                  is_small ? "the inverse" : "ILU(0)"));
        if (is_small) try {
                return direct(A);
            } catch (const argument_error&) {  // it is singular
            }
        return {incomplete(A, 0)};
    }
}

template <class V, class B>
made<V, B> polynomial(const settings& s, const prepared_matrix<V, B>& A) {
    amg_options one_level{.degree = s.degree, .coarse_rows = 1, .max_levels = 1};
    try {
        return multigrid(A, one_level);
    } catch (const argument_error& e) {
        A.tells->tell(fmt::format("solver={}: {}: as many iterations of Jacobi take its place",
                                  s.solver, e.what()));
        return repeated(A, scaled(A.on, block_diagonal(A), s.relaxation), s.degree);
    }
}

/// The solver that `s` names, as an operator that solves from x = 0 on.
template <class V, class B>
preconditioner<V, B> inner_solver(const settings& s, const prepared_matrix<V, B>& A) {
    auto own = std::make_shared<preconditioner<V, B>>();
    if (s.preconditioner) *own = make_preconditioner(*s.preconditioner, A);
    preconditioner<V, B> p{.levels = own->levels, .is_fixed = false};
    p.M = operator_of<V>(A.on, A.rows(), [&A, s, own](in<V, B> b, out<V, B> x) {
        vector_space<V, B>(A.on, A.rows()).fill(V(0), x);
        const bool by_residual = s.monitored && s.convergence != criterion::absolute;
        const auto report = run_krylov(s, A, *own, b, x, by_residual ? s.tolerance : 0.0);
        // Where it found nothing better than zero, which would precondition nothing.
        if (!(report.relative < 1)) vector_space<V, B>(A.on, A.rows()).copy(b, x);
    });
    return p;
}

/// One application, without its repetitions.
template <class V, class B>
preconditioner<V, B> once(const settings& s, const prepared_matrix<V, B>& A) {
    const std::string& name = s.solver;
    if (s.is_krylov()) return inner_solver(s, A);
    if (name == "NOSOLVER") return {};
    if (name == "AMG") return levels_or_nearest(s, A);
    if (name == "DENSE_LU_SOLVER") return direct(A);
    if (name == "JACOBI_L1") return {scaled(A.on, l1_jacobi(A), s.relaxation)};
    if (name == "BLOCK_JACOBI" || name == "CF_JACOBI")
        return {scaled(A.on, block_diagonal(A), s.relaxation)};
    if (name == "MULTICOLOR_ILU") return {incomplete(A, s.fill_level)};
    if (name == "MULTICOLOR_DILU") return {incomplete(A, 0)};
    if (name == "GS" || name == "MULTICOLOR_GS" || name == "FIXCOLOR_GS" || name == "KACZMARZ")
        return {with_own_block(A, [&](const ascending<V>& block, index first_row) {
            return gauss_seidel(alone(A.on), block, first_row);
        })};
    return {polynomial(s, A)};
}

template <class V, class B>
using method = solve_report (*)(B, const linear_operator<V, B>&, const linear_operator<V, B>*,
                                in<V, B>, out<V, B>, const gmres_options&);

}  // namespace

template <class V, class B>
preconditioner<V, B> make_preconditioner(const settings& s, const prepared_matrix<V, B>& A) {
    for (const auto& sentence : s.nearest) A.tells->tell(sentence);
    auto p = once(s, A);
    const bool is_exact = s.solver == "DENSE_LU_SOLVER" || s.is_krylov();
    if (p.M && !is_exact) {
        if (s.max_iters == 0)
            p = {};
        else
            p.M = repeated(A, std::move(p.M), s.max_iters);
    }
    return p;
}

template <class V, class B>
solve_report run_krylov(const settings& s, const prepared_matrix<V, B>& A,
                        const preconditioner<V, B>& p, in<V, B> b, out<V, B> x, double target) {
    gmres_options o;
    o.tol = target;
    o.max_iter = s.max_iters;
    o.restart = o.most_restart = s.restart;
    const auto run = [&](auto solve) {
        return p.M ? solve(A.on, A.product(), *p.M, b, x, o) : solve(A.on, A.product(), b, x, o);
    };
    o.flexible = s.solver == "FGMRES" || !p.is_fixed;
    if (s.solver.ends_with("GMRES") || !p.is_fixed)
        return run([](auto&&... a) { return gmres<V, B>(a...); });
    if (s.solver.ends_with("BICGSTAB"))
        return run([](auto&&... a) { return bicgstab<V, B>(a...); });
    if (s.solver.starts_with("IDR")) return run([](auto&&... a) { return idrs<V, B>(a...); });
    return run([](auto&&... a) { return cg<V, B>(a...); });
}

#define NZ_INSTANTIATE(V, B)                                                         \
    template preconditioner<V, B> make_preconditioner(const settings&,               \
                                                      const prepared_matrix<V, B>&); \
    template solve_report run_krylov(const settings&, const prepared_matrix<V, B>&,  \
                                     const preconditioner<V, B>&, in<V, B>, out<V, B>, double);
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(std::complex<double>, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz::amgx
