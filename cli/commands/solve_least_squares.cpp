#include "cli/commands/solve_least_squares.hpp"

#include <fmt/format.h>

#include "cli/commands/known_system.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

struct least_squares_outcome {
    least_squares_options::report report;
    double residual = 0;  ///< |b - A x| / |b|, computed from x
    double error = -1;    ///< |x - x*| / |x*| where the solution x* is known
    std::string where;
};

template <class V>
double length(const host_vector<V>& v) {
    double sum = 0;
    for (const V e : v) sum += norm2(e);
    return std::sqrt(sum);
}
template <class V>
double relative_distance(const host_vector<V>& x, const host_vector<V>& from) {
    host_vector<V> difference(x);
    for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= from[i];
    const double size = length(from);
    return size > 0 ? length(difference) / size : length(difference);
}

template <class V>
least_squares_options::report run(const least_squares_request& o, const csr<V, host_view>& A,
                                  const host_vector<V>& b, host_vector<V>& x, std::string& where) {
    least_squares_options with = o.solver;
    with.atol = with.btol = o.tol;
    with.monitor = progress_line(o.tol);
    const interruption stop;
    const auto by = [&](auto on) {
        using B = decltype(on);
        return o.method == "lsqr" ? lsqr<V, B>(on, A, b, x, with) : lsmr<V, B>(on, A, b, x, with);
    };
    if (o.on_gpu()) {
        const gpu_stream stream;
        where = describe_gpu(stream).name;
        return by(gpu(stream));
    }
    where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    return by(cpu{o.threads});
}

nz::json to_json(const least_squares_request& o, nz::shape shape, std::size_t nnz,
                 const least_squares_outcome& all) {
    const auto& r = all.report;
    nz::json j = provenance("solve", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", shape.rows},
              {"cols", shape.cols},
              {"nnz", nnz},
              {"type", o.type},
              {"device", o.device},
              {"where", all.where},
              {"method", o.method},
              {"tol", o.tol},
              {"converged", r.converged()},
              {"istop", int(r.ending)},
              {"why", r.why},
              {"iterations", r.iterations},
              {"relative_residual", all.residual},
              {"gradient_norm", r.gradient_norm},
              {"norm", r.norm},
              {"condition", r.condition},
              {"solution_norm", r.solution_norm},
              {"solver_setup_s", r.setup_s},
              {"iterations_s", r.iterations_s}});
    if (all.error >= 0) j["relative_error"] = all.error;
    return j;
}

/// Tells why x may be wrong on stderr, and nothing else, where stdout takes x.
void print(const least_squares_request& o, nz::shape shape, std::size_t nnz,
           const least_squares_outcome& all) {
    const auto& r = all.report;
    if (o.to == "-") {
        if (!r.converged()) fmt::print(stderr, "nz: not converged: {}\n", r.why);
        return;
    }
    fmt::print("matrix      {} x {}, {} nonzeros, {}\n", shape.rows, shape.cols, nnz, o.type);
    fmt::print("method      {}, least squares, {}\n", o.method, all.where);
    fmt::print("solve       {:.3g} ms setup, {:.3g} ms iterations\n", r.setup_s * 1e3,
               r.iterations_s * 1e3);
    fmt::print("iterations  {}\n", r.iterations);
    fmt::print("residual    |b - A x| / |b| = {:.3g}\n", all.residual);
    const double scale = r.norm * r.residual_norm;
    fmt::print("gradient    |A^T (b - A x)| / (|A| |b - A x|) = {:.3g}\n",
               scale > 0 ? r.gradient_norm / scale : 0);
    fmt::print("condition   {:.3g} of A, estimated\n", r.condition);
    if (all.error >= 0) fmt::print("error       |x - x*| / |x*| = {:.3g}\n", all.error);
    fmt::print("converged   {}: {}\n", r.converged() ? "yes" : "no", r.why);
}

}  // namespace

template <class V>
int solve_least_squares(const least_squares_request& o, const csr<V, host_view>& A,
                        json_file& json) {
    least_squares_outcome all;
    const auto known = o.b.empty() ? known_solution<V>({0, A.shape.cols}) : host_vector<V>();
    const auto b = o.b.empty() ? product_with(cpu{o.threads}, A, known) : read_vector<V>(o.b);
    auto x =
        o.guess.empty() ? host_vector<V>(std::size_t(A.shape.cols), V(0)) : read_vector<V>(o.guess);
    all.report = run(o, A, b, x, all.where);
    all.residual = relative_distance(product_with(cpu{o.threads}, A, x), b);
    // A system with fewer rows than unknowns has other solutions.
    if (o.b.empty() && A.shape.rows >= A.shape.cols) all.error = relative_distance(x, known);
    const auto fault = fault_of([&] {
        if (!o.to.empty()) write_vector<V>(o.to, x);
    });
    json.write(to_json(o, A.shape, A.val.size(), all));
    if (!json.is_stdout()) print(o, A.shape, A.val.size(), all);
    throw_if(fault);
    if (interruption::happened()) return interrupted_exit;
    return all.report.converged() ? done : answer_is_no;
}

#define NZ_INSTANTIATE(V)                                                                    \
    template int solve_least_squares(const least_squares_request&, const csr<V, host_view>&, \
                                     json_file&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::cli
