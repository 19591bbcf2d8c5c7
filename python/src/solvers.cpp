// Solvers, eigenpairs and preconditioners from Python.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "nonzero/core/stream.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/direct/names.hpp"
#include "nonzero/solve/eigs/eigs.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/names.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/solve/solver.hpp"
#include "python/src/module.hpp"
#include "python/src/monitor.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"
#include "python/src/solvers.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;
using shape_pair = std::tuple<std::int64_t, std::int64_t>;

/// f.template operator()<V>(on) for that value type and backend.
template <class F>
auto with_solver_type(char code, const char* name, int device, int threads, gpu stream, F f) {
    return with_type(code, name, [&]<class V>() {
        return device < 0 ? f.template operator()<V>(cpu{.threads = threads})
                          : f.template operator()<V>(stream);
    });
}

nb::dict as_dict(const solve_report& r) {
    nb::dict d;
    d["converged"] = r.converged;
    d["status"] = std::string(name_of(r.status));
    d["why"] = r.why;
    d["iterations"] = r.iterations;
    d["inner_iterations"] = r.inner_iterations;
    d["relative_residual"] = r.relative_residual();
    d["residual_norm"] = r.residual_norm;
    d["residuals"] = owned(std::vector<double>(r.history));
    d["setup_s"] = r.setup_s;
    d["iterations_s"] = r.iterations_s;
    return d;
}

template <class Name, std::size_t n>
std::optional<Name> named(const std::optional<std::string>& text,
                          const std::string_view (&names)[n], const char* argument) {
    if (!text) return {};
    std::string all;
    for (std::size_t k = 0; k < n; ++k) {
        if (*text == names[k]) return Name(k);
        all += (k == 0 ? "" : ", ") + std::string(names[k]);
    }
    throw nb::value_error(
        fmt::format("{}: '{}', expected one of {}", argument, *text, all).c_str());
}

nb::dict as_dict(const factor_forecast& f) {
    nb::dict d;
    d["library"] = std::string(name_of(f.library));
    d["kind"] = f.is_cholesky ? "cholesky" : "lu";
    d["entries"] = f.entries;
    d["operations"] = f.operations;
    d["bytes"] = f.bytes;
    d["seconds"] = f.seconds;
    d["is_complete"] = f.is_complete;
    return d;
}

nb::dict as_dict(const factor_report& r) {
    nb::dict d;
    d["entries"] = r.entries;
    d["fill"] = r.fill;
    d["shifted_pivots"] = r.shifted_pivots;
    d["first_shifted"] = r.first_shifted;
    d["shift"] = r.shift;
    d["setup_s"] = r.setup_s;
    return d;
}

}  // namespace

nb::dict dict_of(const system_report& r) {
    nb::list attempts;
    double setup_s = r.plan_s, solve_s = 0;
    for (const system_report::attempt& a : r.attempts) {
        nb::dict d = as_dict(a.report);
        d["method"] = std::string(name_of(a.method));
        d["preconditioner"] = std::string(name_of(a.preconditioner));
        d["preconditioner_s"] = a.preconditioner_s;
        d["solve_s"] = a.solve_s;
        d["predicted_s"] = a.predicted_s;
        if (a.forecast) d["forecast"] = as_dict(*a.forecast);
        if (a.factors) d["factors"] = as_dict(*a.factors);
        attempts.append(d);
        setup_s += a.preconditioner_s;
        solve_s += a.solve_s;
    }
    nb::dict d;
    d["attempts"] = attempts;
    d["advice"] = r.advice;
    d["reasons"] = r.reasons;
    d["best"] = r.best;
    d["negated"] = r.negated;
    d["product"] = r.product;
    d["setup_s"] = setup_s;
    d["solve_s"] = solve_s;
    return d;
}

namespace {

/// Vectors of `rows` elements that coarser levels must represent; None: there are none.
template <class V>
candidates<V> candidates_of(nb::handle near_, std::int64_t rows) {
    if (near_.is_none()) return {};
    const array near(near_, "near_nullspace");
    const auto val = near.elements<V>();
    return {rows == 0 ? 0 : index(std::int64_t(val.size()) / rows), {val.begin(), val.end()}};
}

nb::object rigid_body_modes_of(nb::handle coordinates_, index dimension) {
    const array coordinates(coordinates_, "coordinates");
    return owned(rigid_body_modes<double>(coordinates.elements<double>(), dimension).val);
}

}  // namespace

system_options options_of(std::int64_t rows, double tol, std::int64_t maxiter, double max_seconds,
                          int restart, const std::optional<std::string>& method,
                          const std::optional<std::string>& preconditioner, index block,
                          nb::handle near, int fill_level, bool iterative,
                          const std::string& direct_solver) {
    system_options o;
    o.tol = tol, o.max_iter = maxiter, o.max_seconds = max_seconds;
    o.near = candidates_of<double>(near, rows);
    o.restart = restart, o.block = block, o.iterative = iterative, o.fill_level = fill_level;
    o.method = named<krylov_method>(method, krylov_method_names, "method");
    o.preconditioner =
        named<preconditioning>(preconditioner, preconditioning_names, "preconditioner");
    o.direct_solver =
        *named<factor_forecast::libraries>(direct_solver, direct_solver_names, "direct_solver");
    return o;
}

namespace {

nb::dict as_dict(const system_report& r) { return dict_of(r); }

template <class Report>
nb::list as_list(const std::vector<Report>& reports) {
    nb::list all;
    for (const Report& r : reports) all.append(as_dict(r));
    return all;
}

/// Throws ValueError unless the array has that shape, its rows one after the other.
void expect_rows(const array& a, std::int64_t rows, std::int64_t columns) {
    a.expect_shape(rows, columns);
    if (!lies_by(storage_order::row_major, a))
        throw nb::value_error(
            fmt::format("{}: expected rows one after the other", a.name()).c_str());
}

/// The streams of others in which arrays on a GPU become complete.
using streams = std::vector<std::uintptr_t>;
/// f(), whose work in on.stream comes after what is in those streams, and before what follows.
template <class F>
auto between(gpu on, const streams& others, F f) {
    for (const auto s : others)
        start_after(on, {.device = on.device, .stream = reinterpret_cast<void*>(s)});
    auto result = f();
    for (const auto s : others)
        start_after({.device = on.device, .stream = reinterpret_cast<void*>(s)}, on);
    return result;
}

/// Reports of solve(b, x), of a vector or of the columns of an array that lie on P.
template <class V, class P, class Solve>
std::vector<system_report> solved_on(const array& b, const array& x, const Solve& solve) {
    if (b.dimensions() == 2) {
        using enum storage_order;
        expect_rows(b, b.length(0), b.length(1)), expect_rows(x, b.length(0), b.length(1));
        const auto rhs = columns_of<in_columns<V, P>>(b, b.data<V>(), row_major);
        const auto solution = columns_of<out_columns<V, P>>(x, x.data<V>(), row_major);
        const nb::gil_scoped_release others_run;
        return solve(rhs, solution);
    }
    b.expect_contiguous(), x.expect_contiguous();
    const in<V, P> rhs{b.data<V>(), std::size_t(b.length(0))};
    const out<V, P> solution{x.data<V>(), std::size_t(x.length(0))};
    const nb::gil_scoped_release others_run;
    return {solve(rhs, solution)};
}
/// The same of arrays where they lie: on the CPU, or on B's GPU, in those streams.
template <class V, class B, class Solve>
std::vector<system_report> solved(B on, const array& b, const array& x, const streams& others,
                                  const Solve& solve) {
    if constexpr (std::is_same_v<B, gpu>) {
        if (b.device() >= 0) {
            b.expect_device(on.device), x.expect_device(on.device);
            return between(on, others, [&] { return solved_on<V, gpu>(b, x, solve); });
        }
    }
    b.expect_device(-1), x.expect_device(-1);
    return solved_on<V, cpu>(b, x, solve);
}

nb::list solve_system(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                      nb::handle b_, nb::handle x_, int device, int threads, double tol,
                      std::int64_t maxiter, double max_seconds, int restart,
                      const std::optional<std::string>& method,
                      const std::optional<std::string>& preconditioner, index block,
                      nb::object near, int fill_level, bool iterative,
                      const std::string& direct_solver, bool block_cg, nb::object callback,
                      const streams& others) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    const array b(b_, "b"), x(x_, "x0", true);
    monitor watched(std::move(callback));
    system_options o =
        options_of(std::get<0>(shape), tol, maxiter, max_seconds, restart, method, preconditioner,
                   block, near, fill_level, iterative, direct_solver);
    o.block_cg = block_cg;
    o.monitor = [&](std::int64_t, double residual) { return watched.goes_on(residual); };
    if (device >= 0) require_gpu({.device = device});
    const auto stream = device >= 0 ? std::make_unique<gpu_stream>(device) : nullptr;
    const auto reports = with_solver_type(
        data.type(), "A.data", device, threads, stream ? gpu(*stream) : gpu{},
        [&]<class V>(auto on) {
            using B = decltype(on);
            if constexpr (std::is_same_v<B, gpu>) {
                if (data.device() >= 0) {
                    const borrowed_csr<V, device_view> A(checked_shape(shape), indptr, indices,
                                                         data);
                    b.expect_device(data.device());
                    return between(on, others, [&] {
                        return solved_on<V, gpu>(b, x, [&](const auto& rhs, const auto& solution) {
                            return solve<V>(on, A.view(), rhs, solution, o);
                        });
                    });
                }
            }
            const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
            b.expect_device(-1), x.expect_device(-1);
            return solved_on<V, cpu>(b, x, [&](const auto& rhs, const auto& solution) {
                return solve<V, B>(on, A.view(), rhs, solution, o);
            });
        });
    watched.rethrow();
    return as_list(reports);
}

/// nz::solver of any type and backend.
class kept_solver {
  public:
    kept_solver(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                int device, int threads, double tol, std::int64_t maxiter, double max_seconds,
                int restart, const std::optional<std::string>& method,
                const std::optional<std::string>& preconditioner, index block, nb::object near,
                int fill_level, bool iterative, const std::string& direct_solver, bool block_cg,
                const streams& others)
        : shape_(shape) {
        const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"),
            data(data_, "A.data");
        auto o = options_of(std::get<0>(shape), tol, maxiter, max_seconds, restart, method,
                            preconditioner, block, near, fill_level, iterative, direct_solver);
        o.block_cg = block_cg;
        if (device >= 0) require_gpu({.device = device});
        if (device >= 0) stream_ = std::make_unique<gpu_stream>(device);
        with_solver_type(data.type(), "A.data", device, threads, stream_ ? gpu(*stream_) : gpu{},
                         [&]<class V>(auto on) {
                             this->take_matrix<V>(on, indptr, indices, data, others, o);
                             return 0;
                         });
    }
    nb::list solve(nb::handle b_, nb::handle x_, const streams& others) const {
        const array b(b_, "b"), x(x_, "x0", true);
        return as_list(solve_(b, x, others));
    }
    void take_values(nb::handle indptr_, nb::handle indices_, nb::handle data_,
                     const streams& others) const {
        take_values_(array(indptr_, "A.indptr"), array(indices_, "A.indices"), array(data_, "data"),
                     others);
    }

  private:
    /// f(view) of the matrix where its arrays lie: on the CPU, or on B's GPU, in those streams.
    template <class V, class B, class F>
    static auto with_view(B on, shape_pair shape, const array& indptr, const array& indices,
                          const array& data, const streams& others, F f) {
        if constexpr (std::is_same_v<B, gpu>) {
            if (data.device() >= 0) {
                const borrowed_csr<V, device_view> A(checked_shape(shape), indptr, indices, data);
                const nb::gil_scoped_release others_run;
                return between(on, others, [&] { return f(A.view()); });
            }
        }
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        return f(A.view());
    }
    template <class V, class B>
    void take_matrix(B on, const array& indptr, const array& indices, const array& data,
                     const streams& others, const system_options& o) {
        const auto kept =
            with_view<V>(on, shape_, indptr, indices, data, others,
                         [&](const auto& A) { return std::make_shared<solver<V, B>>(on, A, o); });
        solve_ = [kept, on](const array& b, const array& x, const streams& all) {
            return solved<V>(on, b, x, all, [&](const auto& rhs, const auto& solution) {
                return kept->solve(rhs, solution);
            });
        };
        take_values_ = [kept, on, shape = shape_](const array& ptr, const array& columns,
                                                  const array& values, const streams& all) {
            with_view<V>(on, shape, ptr, columns, values, all, [&](const auto& A) {
                kept->take_values(A);
                return 0;
            });
        };
    }

    shape_pair shape_;
    std::unique_ptr<gpu_stream> stream_;  ///< outlives what runs in it
    std::function<std::vector<system_report>(const array&, const array&, const streams&)> solve_;
    std::function<void(const array&, const array&, const array&, const streams&)> take_values_;
};

/// One Krylov method with an operator and a preconditioner of the caller's, on a vector or on
/// several that lie where the operator does.
template <class V, class B, class In, class Out>
auto run_krylov(const std::string& method, B on, const linear_operator<V, B>& A, const In& b,
                const Out& x, const gmres_options& o, const linear_operator<V, B>* M) {
    const auto run = [&](auto solver) {
        return M == nullptr ? solver(on, A, b, x, o) : solver(on, A, *M, b, x, o);
    };
    if (method == "cg") return run([](auto&&... a) { return cg<V, B>(a...); });
    if (method == "minres") return run([](auto&&... a) { return minres<V, B>(a...); });
    if (method == "bicgstab") return run([](auto&&... a) { return bicgstab<V, B>(a...); });
    return run([](auto&&... a) { return gmres<V, B>(a...); });
}

nb::dict krylov(const std::string& method, const any_operator& A, nb::handle b_, nb::handle x_,
                const any_operator* M, double tol, std::int64_t maxiter, double max_seconds,
                int restart, int threads, std::uintptr_t stream, nb::object callback) {
    const array b(b_, "b"), x(x_, "x0", true);
    monitor watched(std::move(callback));
    gmres_options o;
    o.tol = tol, o.max_iter = maxiter, o.max_seconds = max_seconds, o.restart = restart;
    o.monitor = [&](std::int64_t, double residual) { return watched.goes_on(residual); };
    for (const array* a : {&b, &x}) {
        a->expect_device(A.device());
        a->expect_type(A.type());
        a->expect_shape(A.shape().rows, -1);
        a->expect_contiguous();
    }
    const solve_report report = with_solver_type(
        A.type(), "A", A.device(), threads, {.device = A.device()}, [&]<class V>(auto on) {
            using B = decltype(on);
            const auto op = operator_in<V, B>(A, "A");
            const auto inverse = M == nullptr ? nullptr : operator_in<V, B>(*M, "M");
            const auto n = std::size_t(b.length(0));
            const in<V, B> rhs{b.data<V>(), n};
            const out<V, B> solution{x.data<V>(), n};
            const nb::gil_scoped_release others_run;
            if constexpr (std::is_same_v<B,
                                         gpu>)  // b and x are complete, and then x again: it waits
                start_after(on, {.device = on.device, .stream = reinterpret_cast<void*>(stream)});
            return run_krylov<V, B>(method, on, *op, rhs, solution, o, inverse.get());
        });
    watched.rethrow();
    return as_dict(report);
}

/// The same on the columns of b and x.
nb::list krylov_of_columns(const std::string& method, const any_operator& A, nb::handle b_,
                           nb::handle x_, const any_operator* M, double tol, std::int64_t maxiter,
                           double max_seconds, int restart, std::uintptr_t stream) {
    const array b(b_, "b"), x(x_, "x0", true);
    monitor watched{nb::none()};
    gmres_options o;
    o.tol = tol, o.max_iter = maxiter, o.max_seconds = max_seconds, o.restart = restart;
    o.monitor = [&](std::int64_t, double residual) { return watched.goes_on(residual); };
    for (const array* a : {&b, &x}) {
        a->expect_device(A.device());
        a->expect_type(A.type());
        expect_rows(*a, A.shape().rows, b.length(1));
    }
    const auto reports = with_solver_type(
        A.type(), "A", A.device(), 0, {.device = A.device()}, [&]<class V>(auto on) {
            using B = decltype(on);
            const auto op = operator_in<V, B>(A, "A");
            const auto inverse = M == nullptr ? nullptr : operator_in<V, B>(*M, "M");
            using enum storage_order;
            const auto rhs = columns_of<in_columns<V, B>>(b, b.data<V>(), row_major);
            const auto all = columns_of<out_columns<V, B>>(x, x.data<V>(), row_major);
            const nb::gil_scoped_release others_run;
            if constexpr (std::is_same_v<B, gpu>)
                start_after(on, {.device = on.device, .stream = reinterpret_cast<void*>(stream)});
            return run_krylov<V, B>(method, on, *op, rhs, all, o, inverse.get());
        });
    watched.rethrow();
    return as_list(reports);
}

nb::dict as_dict(const amg_report& r) {
    nb::list levels;
    for (const amg_report::level& l : r.levels)
        levels.append(nb::make_tuple(l.rows, l.nnz, l.spectral_radius, l.method));
    nb::dict d;
    d["levels"] = levels;
    d["block"] = r.block;
    d["operator_complexity"] = r.operator_complexity();
    d["grid_complexity"] = r.grid_complexity();
    d["setup_s"] = r.setup_s;
    d["text"] = to_text(r);
    return d;
}

template <class V, class B, class S>
std::unique_ptr<any_operator> make_amg(B on, const csr<V, S>& A, const amg_options& o,
                                       const candidates<V>& near, amg_report& report) {
    const nb::gil_scoped_release others_run;
    auto M = std::make_unique<amg<V, B>>(A, on, o, near);
    report = M->report();
    return unplanned<V, B>(on, std::move(M));
}

nb::tuple amg_of(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                 int device, int threads, index block, nb::object near_, int adaptive_candidates,
                 const std::string& cycle, std::optional<double> strength, bool in_single,
                 std::uintptr_t stream) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    amg_options o;
    o.block = block, o.adaptive_candidates = adaptive_candidates;
    o.cycle = cycle == "w" ? amg_options::cycles::w : amg_options::cycles::v;
    if (strength) o.strength = *strength;
    if (in_single) o.precision = value_storage::single;
    amg_report report;
    auto M = with_type(data.type(), "A.data", [&]<class V>() -> std::unique_ptr<any_operator> {
        if (data.device() >= 0) {
            const borrowed_csr<V, device_view> A(checked_shape(shape), indptr, indices, data);
            const auto near = candidates_of<V>(near_, A.view().shape.rows);
            const gpu on{.device = device};
            start_after(on, {.device = device, .stream = reinterpret_cast<void*>(stream)});
            return make_amg<V>(on, A.view(), o, near, report);
        }
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const auto near = candidates_of<V>(near_, A.view().shape.rows);
        if (device < 0) return make_amg<V>(cpu{.threads = threads}, A.view(), o, near, report);
        require_gpu({.device = device});
        return make_amg<V>(gpu{.device = device}, A.view(), o, near, report);
    });
    return nb::make_tuple(nb::cast(std::move(M)), as_dict(report));
}

/// A factorization of any value type, for nonzero.Factorization.
class any_factorization {
  public:
    virtual ~any_factorization() = default;
    /// X = A^-1 B, of as many columns one after the other; the largest relative residual.
    [[nodiscard]] virtual double solve(nb::handle B, nb::handle X) const = 0;
    [[nodiscard]] virtual std::int64_t entries() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    [[nodiscard]] virtual const factor_forecast& forecast() const = 0;
};

template <class V>
class factorization_of final : public any_factorization {
  public:
    explicit factorization_of(factorization<V> factors) : factors_(std::move(factors)) {}
    [[nodiscard]] double solve(nb::handle B_, nb::handle X_) const override {
        const array B(B_, "b"), X(X_, "x", true);
        const auto rhs = B.elements<V>(), solution = X.elements<V>();
        const nb::gil_scoped_release others_run;
        return factors_.solve_many(rhs, solution);
    }
    [[nodiscard]] std::int64_t entries() const override { return factors_.entries(); }
    [[nodiscard]] std::size_t bytes() const override { return factors_.bytes(); }
    [[nodiscard]] const factor_forecast& forecast() const override { return factors_.forecast(); }

  private:
    factorization<V> factors_;
};

std::unique_ptr<any_factorization> factorize_system(shape_pair shape, nb::handle indptr_,
                                                    nb::handle indices_, nb::handle data_,
                                                    std::optional<double> max_bytes,
                                                    const std::string& direct_solver) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    const auto by =
        *named<factor_forecast::libraries>(direct_solver, direct_solver_names, "direct_solver");
    return with_type(data.type(), "A.data", [&]<class V>() -> std::unique_ptr<any_factorization> {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        return std::make_unique<factorization_of<V>>(
            factorization(A.view(), max_bytes.value_or(0), by));
    });
}

/// kind: "ilu", "ic", "fsai" or "spai".
template <class V, class B>
std::unique_ptr<any_operator> make_incomplete(B on, const csr<V, host_view>& A,
                                              const std::string& kind, const incomplete_options& o,
                                              std::string& text) {
    const nb::gil_scoped_release others_run;
    factor_report report;
    std::unique_ptr<linear_operator<V, B>> M;
    if (kind == "ilu") M = ilu(on, A, o, 0, &report);
    if (kind == "ic") M = ic(on, A, o, 0, &report);
    if (kind == "fsai") M = fsai(on, A, o);
    if (kind == "spai") M = spai(on, A, o, 0, &report);
    if (kind != "fsai") text = to_text(report);
    return unplanned<V, B>(on, std::move(M));
}

nb::tuple incomplete_of(const std::string& kind, shape_pair shape, nb::handle indptr_,
                        nb::handle indices_, nb::handle data_, int device, int threads, int level,
                        index block) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    if (device >= 0) require_gpu({.device = device});
    std::string text;
    auto M = with_solver_type(
        data.type(), "A.data", device, threads, {.device = device}, [&]<class V>(auto on) {
            const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
            return make_incomplete<V, decltype(on)>(on, A.view(), kind,
                                                    {.level = level, .block = block}, text);
        });
    return nb::make_tuple(nb::cast(std::move(M)), text);
}

nb::dict eigenpairs(const any_operator& A, int count, const std::string& which, double tol,
                    std::int64_t max_products, int threads, const any_operator* M,
                    nb::object guess_, nb::object callback) {
    monitor watched(std::move(callback));
    eigs_options o;
    o.count = count, o.tol = tol, o.max_products = max_products;
    o.which = which == "SA"   ? eigs_options::ends::smallest
              : which == "LA" ? eigs_options::ends::largest
              : which == "LM" ? eigs_options::ends::magnitude
                              : eigs_options::ends::both;
    o.monitor = [&](const eigs_options::progress& p) {
        return watched.goes_on(p.products, p.converged, p.residual);
    };
    nb::dict d;
    const auto run = [&]<class V>(auto on) {
        using B = decltype(on);
        const auto op = operator_in<V, B>(A, "A");
        const auto inverse = M == nullptr ? nullptr : operator_in<V, B>(*M, "preconditioner");
        std::optional<array> guess;
        std::span<const V> start;
        if (!guess_.is_none()) {
            guess.emplace(guess_, "v0");
            guess->expect_shape(A.shape().rows, -1);
            start = guess->elements<V>();
        }
        eigs_options::result<V> found;
        {
            const nb::gil_scoped_release others_run;
            found = eigs<V, B>(on, *op, o, inverse.get(), start);
        }
        watched.rethrow();
        const std::size_t pairs = found.values.size();
        d["values"] = owned(std::move(found.values));
        d["vectors"] = owned(std::move(found.vectors), {std::size_t(A.shape().rows), pairs});
        d["residuals"] = owned(std::move(found.report.residuals));
        d["converged"] = found.report.converged;
        d["status"] = std::string(name_of(found.report.status));
        d["why"] = found.report.why;
        d["products"] = found.report.products;
        d["norm"] = found.report.norm;
        d["seconds"] = found.report.seconds;
    };
    with_type(A.type(), "A", [&]<class V>() {
        if constexpr (!std::floating_point<V>) {
            throw nb::type_error("A: complex, expected real values");
        } else if (A.device() < 0) {
            run.template operator()<V>(cpu{.threads = threads});
        } else {
            run.template operator()<V>(gpu{.device = A.device()});
        }
    });
    return d;
}

}  // namespace

void bind_solvers(nb::module_& m) {
    m.def(
        "default_tol",
        [](bool single) {
            return single ? solve_options::default_tol<float> : solve_options::default_tol<double>;
        },
        nb::kw_only(), "single"_a);
    m.def("solve", &solve_system, "shape"_a, "indptr"_a, "indices"_a, "data"_a, "b"_a, "x"_a,
          nb::kw_only(), "device"_a, "threads"_a, "tol"_a, "maxiter"_a, "max_seconds"_a,
          "restart"_a, "method"_a.none(), "preconditioner"_a.none(), "block"_a, "near"_a.none(),
          "fill_level"_a, "iterative"_a, "direct_solver"_a, "block_cg"_a, "callback"_a.none(),
          "streams"_a);
    m.def("krylov", &krylov, "method"_a, "A"_a, "b"_a, "x"_a, "M"_a.none(), nb::kw_only(), "tol"_a,
          "maxiter"_a, "max_seconds"_a, "restart"_a, "threads"_a, "stream"_a, "callback"_a.none());
    m.def("krylov_of_columns", &krylov_of_columns, "method"_a, "A"_a, "b"_a, "x"_a, "M"_a.none(),
          nb::kw_only(), "tol"_a, "maxiter"_a, "max_seconds"_a, "restart"_a, "stream"_a);
    m.def("amg", &amg_of, "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "device"_a,
          "threads"_a, "block"_a, "near"_a.none(), "adaptive_candidates"_a, "cycle"_a,
          "strength"_a.none(), "in_single"_a, "stream"_a);
    m.def("rigid_body_modes", &rigid_body_modes_of, "coordinates"_a, "dimension"_a);
    nb::class_<kept_solver>(m, "Solver")
        .def(nb::init<shape_pair, nb::handle, nb::handle, nb::handle, int, int, double,
                      std::int64_t, double, int, const std::optional<std::string>&,
                      const std::optional<std::string>&, index, nb::object, int, bool,
                      const std::string&, bool, const streams&>(),
             "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "device"_a, "threads"_a,
             "tol"_a, "maxiter"_a, "max_seconds"_a, "restart"_a, "method"_a.none(),
             "preconditioner"_a.none(), "block"_a, "near"_a.none(), "fill_level"_a, "iterative"_a,
             "direct_solver"_a, "block_cg"_a, "streams"_a)
        .def("solve", &kept_solver::solve, "b"_a, "x"_a, "streams"_a)
        .def("take_values", &kept_solver::take_values, "indptr"_a, "indices"_a, "data"_a,
             "streams"_a);
    nb::class_<any_factorization>(m, "Factorization")
        .def("solve", &any_factorization::solve, "b"_a, "x"_a)
        .def_prop_ro("entries", &any_factorization::entries)
        .def_prop_ro("bytes", &any_factorization::bytes)
        .def_prop_ro(
            "library",
            [](const any_factorization& f) { return std::string(name_of(f.forecast().library)); })
        .def_prop_ro("kind",
                     [](const any_factorization& f) {
                         return std::string(f.forecast().is_cholesky ? "cholesky" : "lu");
                     })
        .def_prop_ro("predicted_bytes",
                     [](const any_factorization& f) { return f.forecast().bytes; })
        .def_prop_ro("predicted_s",
                     [](const any_factorization& f) { return f.forecast().seconds; });
    m.def("factorize", &factorize_system, "shape"_a, "indptr"_a, "indices"_a, "data"_a,
          nb::kw_only(), "max_bytes"_a.none(), "direct_solver"_a);
    m.def("incomplete", &incomplete_of, "kind"_a, "shape"_a, "indptr"_a, "indices"_a, "data"_a,
          nb::kw_only(), "device"_a, "threads"_a, "level"_a, "block"_a);
    m.def("eigs", &eigenpairs, "A"_a, nb::kw_only(), "count"_a, "which"_a, "tol"_a,
          "max_products"_a, "threads"_a, "M"_a.none(), "guess"_a.none(), "callback"_a.none());
}

}  // namespace nz::python
