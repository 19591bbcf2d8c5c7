// Solvers of AmgX's interface.
#include <cmath>
#include <complex>

#include "amgx/handles.hpp"
#include "amgx/memory.hpp"
#include "amgx/scalar_rows.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"

namespace nz::amgx {
namespace {

solver& solved(const void* handle) {
    auto& s = object_of<solver>(handle);
    require(s.last.has_value(), "the solver has solved nothing yet");
    return s;
}

void note(solver& s, const matrix& A) {
    s.of = &A, s.pattern_id = A.pattern_id, s.values_id = A.values_id;
    s.last.reset();
}

void set_up(solver& s, const matrix& A) {
    require(s.mode == A.mode, "the solver and the matrix differ in mode");
    require(s.on == A.on || A.on->ranks() == s.on->ranks(),
            "the solver and the matrix have other resources");
    const auto start = steady_clock::now();
    const bool same = s.made && s.of == &A && s.pattern_id == A.pattern_id;
    if (same && s.values_id != A.values_id)
        s.made->take_values(A);
    else if (!same)
        s.made.reset(), s.made = make_system(A, &s.what);
    note(s, A);
    if (s.what.prints_times)
        s.on->tell(fmt::format("Total Time: setup {:.6g} s", seconds_since(start)));
}

/// A setup from nothing.
void set_up_anew(solver& s, const matrix& A) {
    s.made.reset();
    s.of = nullptr;
    set_up(s, A);
}

std::string iteration_table(const outcome& o) {
    std::string text =
        "           iter      Mem Usage (GB)       residual           rate\n"
        "         --------------------------------------------------------------\n";
    for (std::size_t k = 0; k < o.history.size(); ++k) {
        const std::string rate =
            k == 0 ? "" : fmt::format("{:>15.4f}", o.history[k] / o.history[k - 1]);
        text += fmt::format("       {:>8} {:>19} {:>14.6e} {}\n",
                            k == 0 ? "Ini" : std::to_string(k - 1), 0, o.history[k], rate);
    }
    return text + fmt::format(
                      "         --------------------------------------------------------------\n"
                      "         Total Iterations: {}\n         Final Residual: {:.6e}\n"
                      "         Ended: {}\n",
                      o.iterations, o.history.back(), o.why);
}

void solve(solver& s, const vector_of_blocks& b, vector_of_blocks& x, bool from_zero) {
    require(s.made != nullptr, "AMGX_solver_setup has not been called");
    require(b.mode == s.mode && x.mode == s.mode, "the solver, rhs and sol differ in mode");
    require(&b != &x, "rhs and sol are the same");
    try {
        expect_alive(s.of, kind::matrix);
        // Values that were replaced since the setup count.
        if (s.of->pattern_id == s.pattern_id && s.of->values_id != s.values_id) {
            s.made->take_values(*s.of);
            s.values_id = s.of->values_id;
        }
    } catch (const failure&) {  // it was destroyed
    }
    if (x.elements() != b.elements() && from_zero) x.resize(b.n, b.block);
    s.last = s.made->solve(b, x, from_zero);
    if (s.what.prints_residuals) s.on->tell(iteration_table(*s.last));
    if (s.what.prints_times) s.on->tell(fmt::format("Total Time: solve {:.6g} s", s.last->solve_s));
}

/// The norms of r's components: of block vectors each its own.
template <class V>
std::vector<double> norms_of(const matrix& A, const vector_of_blocks& b,
                             const vector_of_blocks& Ax) {
    const auto bytes_of = [&](const vector_of_blocks& v) {
        host_vector<std::byte> bytes(v.bytes());
        copy_anywhere(v.on->device(), v.parts.on_gpu ? v.there.data() : v.here.data(), bytes.data(),
                      bytes.size());
        return bytes;
    };
    require(b.elements() == Ax.elements(), "rhs is not as long as the matrix has rows");
    const auto first = bytes_of(b), second = bytes_of(Ax);
    const auto block = std::size_t(A.block_x);
    std::vector<double> squares(block);
    for (std::size_t k = 0; k < b.elements(); ++k)
        squares[k % block] += std::norm(value_at<V>(first, b.parts.single_vector, k) -
                                        value_at<V>(second, b.parts.single_vector, k));
    for (double& square : squares) square = std::sqrt(summed_over(A.on->ranks(), square));
    return squares;
}

}  // namespace
}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_solver_create(AMGX_solver_handle* slv, AMGX_resources_handle rsc, AMGX_Mode mode,
                           const AMGX_config_handle cfg_solver) {
    return guarded(__func__, [&] {
        not_null(slv, "slv");
        auto made = std::make_unique<solver>();
        made->on = object_of<std::shared_ptr<resources>>(rsc);
        parts_of(made->mode = mode);
        made->what = settings_of(object_of<configuration>(cfg_solver));
        give(slv, std::move(made));
    });
}

AMGX_RC AMGX_solver_destroy(AMGX_solver_handle slv) {
    return guarded(__func__, [&] { destroy<solver>(slv); });
}

AMGX_RC AMGX_solver_setup(AMGX_solver_handle slv, AMGX_matrix_handle mtx) {
    return guarded(__func__, [&] { set_up_anew(object_of<solver>(slv), object_of<matrix>(mtx)); });
}

AMGX_RC AMGX_solver_resetup(AMGX_solver_handle slv, AMGX_matrix_handle mtx) {
    return guarded(__func__, [&] {
        auto& s = object_of<solver>(slv);
        require(s.made != nullptr, "AMGX_solver_setup has not been called");
        set_up(s, object_of<matrix>(mtx));
    });
}

AMGX_RC AMGX_solver_solve(AMGX_solver_handle slv, AMGX_vector_handle rhs, AMGX_vector_handle sol) {
    return guarded(__func__, [&] {
        solve(object_of<solver>(slv), object_of<vector_of_blocks>(rhs),
              object_of<vector_of_blocks>(sol), false);
    });
}

AMGX_RC AMGX_solver_solve_with_0_initial_guess(AMGX_solver_handle slv, AMGX_vector_handle rhs,
                                               AMGX_vector_handle sol) {
    return guarded(__func__, [&] {
        solve(object_of<solver>(slv), object_of<vector_of_blocks>(rhs),
              object_of<vector_of_blocks>(sol), true);
    });
}

AMGX_RC AMGX_solver_get_iterations_number(AMGX_solver_handle slv, int* n) {
    return guarded(__func__, [&] { not_null(n, "n") = solved(slv).last->iterations; });
}

AMGX_RC AMGX_solver_get_iteration_residual(AMGX_solver_handle slv, int it, int idx, double* res) {
    return guarded(__func__, [&] {
        const auto& s = solved(slv);
        require(s.what.keeps_history, "the configuration has no store_res_history=1");
        require(it >= 0 && std::size_t(it) < s.last->history.size(), "there is no such iteration");
        require(idx == 0, "there is one norm, that of the whole vector");
        not_null(res, "res") = s.last->history[std::size_t(it)];
    });
}

AMGX_RC AMGX_solver_get_status(AMGX_solver_handle slv, AMGX_SOLVE_STATUS* st) {
    return guarded(__func__, [&] { not_null(st, "st") = solved(slv).last->status; });
}

AMGX_RC AMGX_solver_calculate_residual_norm(AMGX_solver_handle slv, AMGX_matrix_handle mtx,
                                            AMGX_vector_handle rhs, AMGX_vector_handle x,
                                            void* norm_vector) {
    return guarded(__func__, [&] {
        object_of<solver>(slv);
        expect_pointer(norm_vector, "norm_vector");
        const auto& A = object_of<matrix>(mtx);
        const auto& b = object_of<vector_of_blocks>(rhs);
        const auto& at = object_of<vector_of_blocks>(x);
        require(A.mode == b.mode && A.mode == at.mode, "the matrix and the vectors differ in mode");
        vector_of_blocks Ax{A.mode, A.parts, A.on};
        make_system(A, nullptr)->multiply(at, Ax);
        const auto norms = A.parts.is_complex ? norms_of<std::complex<double>>(A, b, Ax)
                                              : norms_of<double>(A, b, Ax);
        for (std::size_t k = 0; k < norms.size(); ++k)
            if (A.parts.single_vector)
                static_cast<float*>(norm_vector)[k] = float(norms[k]);
            else
                static_cast<double*>(norm_vector)[k] = norms[k];
    });
}
