// Least squares and singular values from Python.
#include <nanobind/stl/string.h>

#include "nonzero/core/stream.hpp"
#include "nonzero/solve/least_squares/least_squares.hpp"
#include "nonzero/solve/least_squares/svds.hpp"
#include "python/src/module.hpp"
#include "python/src/monitor.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

/// f.template operator()<V>(on) for the value type and the backend of A.
template <class F>
void with_solver_type(const any_operator& A, F f) {
    with_type(A.type(), "A", [&]<class V>() {
        A.device() < 0 ? f.template operator()<V>(cpu{})
                       : f.template operator()<V>(gpu{.device = A.device()});
    });
}

nb::dict as_dict(const least_squares_options::report& r) {
    nb::dict d;
    d["istop"] = int(r.ending);
    d["why"] = r.why;
    d["iterations"] = r.iterations;
    d["residual_norm"] = r.residual_norm;
    d["damped_norm"] = r.damped_norm;
    d["gradient_norm"] = r.gradient_norm;
    d["norm"] = r.norm;
    d["condition"] = r.condition;
    d["solution_norm"] = r.solution_norm;
    return d;
}

/// x: the guess and the result; variance: of lsqr, or None.
nb::dict solve(const std::string& method, const any_operator& A, nb::handle b_, nb::handle x_,
               nb::handle variance_, double damp, double atol, double btol, double conlim,
               std::int64_t maxiter, std::uintptr_t stream, nb::object callback) {
    const array b(b_, "b"), x(x_, "x0", true);
    std::optional<array> variance;
    if (!variance_.is_none()) variance.emplace(variance_, "var", true);
    monitor watched(std::move(callback));
    least_squares_options o{.damp = damp, .atol = atol, .btol = btol, .conlim = conlim};
    o.max_iter = maxiter;
    o.monitor = [&](std::int64_t, double residual) { return watched.goes_on(residual); };
    for (const array* a : {&b, &x}) {
        a->expect_device(A.device());
        a->expect_type(A.type());
        a->expect_contiguous();
    }
    b.expect_shape(A.shape().rows, -1);
    x.expect_shape(A.shape().cols, -1);
    nb::dict told;
    with_solver_type(A, [&]<class V>(auto on) {
        using B = decltype(on);
        const auto op = operator_in<V, B>(A, "A");
        const in<V, B> rhs{b.data<V>(), std::size_t(b.length(0))};
        const out<V, B> solution{x.data<V>(), std::size_t(x.length(0))};
        out<real<V>, B> squares;
        if (variance) squares = {variance->data<real<V>>(), std::size_t(variance->length(0))};
        least_squares_options::report report;
        {
            const nb::gil_scoped_release others_run;
            if constexpr (std::is_same_v<B, gpu>)
                start_after(on, {.device = on.device, .stream = reinterpret_cast<void*>(stream)});
            report = method == "lsqr" ? lsqr<V, B>(on, *op, rhs, solution, o, squares)
                                      : lsmr<V, B>(on, *op, rhs, solution, o);
        }
        told = as_dict(report);
    });
    watched.rethrow();
    return told;
}

nb::dict triplets(const any_operator& A, int count, double tol, std::int64_t max_products,
                  int basis, bool centred, nb::object guess_, nb::object callback) {
    monitor watched(std::move(callback));
    svds_options o;
    o.count = count, o.tol = tol, o.max_products = max_products, o.basis = basis;
    o.centred = centred;
    o.monitor = [&](const eigs_options::progress& p) {
        return watched.goes_on(p.products, p.converged, p.residual);
    };
    nb::dict d;
    with_solver_type(A, [&]<class V>(auto on) {
        if constexpr (!std::floating_point<V>) {
            throw nb::type_error("A: complex, expected real values");
        } else {
            using B = decltype(on);
            const auto op = operator_in<V, B>(A, "A");
            std::optional<array> guess;
            std::span<const V> start;
            if (!guess_.is_none()) {
                guess.emplace(guess_, "v0");
                start = guess->elements<V>();
            }
            svds_options::result<V> found;
            {
                const nb::gil_scoped_release others_run;
                found = svds<V, B>(on, *op, o, start);
            }
            watched.rethrow();
            const std::size_t k = found.values.size();
            d["values"] = owned(std::move(found.values));
            d["left"] = owned(std::move(found.left), {std::size_t(A.shape().rows), k});
            d["right"] = owned(std::move(found.right), {std::size_t(A.shape().cols), k});
            d["residuals"] = owned(std::move(found.report.residuals));
            d["converged"] = found.report.converged;
            d["status"] = std::string(name_of(found.report.status));
            d["why"] = found.report.why;
            d["products"] = found.report.products;
        }
    });
    return d;
}

}  // namespace

void bind_least_squares(nb::module_& m) {
    m.def("least_squares", &solve, "method"_a, "A"_a, "b"_a, "x"_a, "variance"_a.none(),
          nb::kw_only(), "damp"_a, "atol"_a, "btol"_a, "conlim"_a, "maxiter"_a, "stream"_a,
          "callback"_a.none());
    m.def("svds", &triplets, "A"_a, nb::kw_only(), "count"_a, "tol"_a, "max_products"_a, "basis"_a,
          "centred"_a, "guess"_a.none(), "callback"_a.none());
}

}  // namespace nz::python
