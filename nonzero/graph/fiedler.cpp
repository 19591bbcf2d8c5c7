#include "nonzero/graph/fiedler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nonzero/core/parallel.hpp"
#include "nonzero/graph/components.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {
namespace {

/// L + s I, s positive and small: no row of it is empty, and it is definite.
csr<double, host> shifted(csr<double, host> L, double s) {
    for (index i = 0; i < L.shape.rows; ++i)
        for (auto k = std::size_t(L.row_ptr[std::size_t(i)]);
             k < std::size_t(L.row_ptr[std::size_t(i) + 1]); ++k)
            if (L.col_ind[k] == i) L.val[k] += s;
    return L;
}

/// The shift of L, over the mean degree. It only has to keep multigrid's coarsest matrix from being
/// singular, and what is far below lambda slows no search: a path of 30,000 nodes takes 39 products
/// with 1e-10 and 129 with 1e-5 (nz partition --method spectral).
constexpr double shift = 1e-10;

/// A tolerance below this one may never be kept, as products with L have errors of about 1e-16 |L|
/// which the search adds up: it then goes on only while as many products again halve the residual.
constexpr double rounding = 1e-12;

template <class B>
std::unique_ptr<linear_operator<double, B>> preconditioner_of(B on, const adjacency& graph,
                                                              const csr<double, host>& L,
                                                              fiedler_preconditioner kind) {
    if (kind == fiedler_preconditioner::none) return nullptr;
    const double mean = 2 * double(graph.edges()) / double(std::max(graph.nodes(), 1));
    const auto definite = shifted(L, shift * std::max(mean, 1.0));
    if (kind == fiedler_preconditioner::jacobi) return jacobi(on, view(definite));
    return std::make_unique<amg<double, B>>(definite, on, amg_options{.check = false});
}

double norm(const host_vector<double>& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// The vector in the span of two that is orthogonal to constant ones.
host_vector<double> without_constant(std::span<const double> a, std::span<const double> b) {
    const double of_a = std::accumulate(a.begin(), a.end(), 0.0);
    const double of_b = std::accumulate(b.begin(), b.end(), 0.0);
    const double length = std::hypot(of_a, of_b);
    host_vector<double> v(a.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = (of_a * b[i] - of_b * a[i]) / length;
    // Once more, as most of it can be cancelled.
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
    for (double& x : v) x -= mean;
    const double size = norm(v);
    for (double& x : v) x /= size;
    return v;
}

/// Lambda and the residual, from the graph and not from what the search says of itself. The terms
/// of L v are differences along edges, which lose less to rounding than the products.
void measure(const adjacency& graph, fiedler_result& f) {
    host_vector<double> image(f.v.size());
    for (index i = 0; i < graph.nodes(); ++i) {
        double sum = 0;
        for (const index j : graph.neighbours(i)) sum += f.v[std::size_t(i)] - f.v[std::size_t(j)];
        image[std::size_t(i)] = sum;
    }
    f.connectivity = std::inner_product(f.v.begin(), f.v.end(), image.begin(), 0.0);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] -= f.connectivity * f.v[i];
    f.residual = norm(image) / f.connectivity;
}

void check(const adjacency& graph, const fiedler_options& o) {
    const auto fail = [](const std::string& what) { throw argument_error("fiedler: " + what); };
    if (!(o.tol >= 0)) fail("tol is negative or no number");
    if (o.max_products < 0) fail("max_products is negative");
    const auto pieces = components_of(graph).count();
    if (graph.nodes() < 2) fail("a graph of fewer than two nodes");
    if (pieces > 1) fail("the graph is in " + std::to_string(pieces) + " pieces");
}

}  // namespace

csr<double, host> laplacian_of(const adjacency& graph) {
    const auto n = std::size_t(graph.nodes());
    host_vector<offset> first(n + 1);
    for (std::size_t i = 0; i <= n; ++i) first[i] = graph.first[i] + offset(i);
    host_vector<index> col(graph.targets.size() + n);
    host_vector<double> val(col.size());
    parallel_for(thread_count({}), std::int64_t(n), [&](std::int64_t row) {
        const auto i = std::size_t(row);
        const auto neighbours = graph.neighbours(index(i));
        const auto self = std::lower_bound(neighbours.begin(), neighbours.end(), index(i));
        auto k = std::size_t(first[i]);
        const auto add = [&](index j, double v) { col[k] = j, val[k++] = v; };
        std::for_each(neighbours.begin(), self, [&](index j) { add(j, -1); });
        add(index(i), double(neighbours.size()));
        std::for_each(self, neighbours.end(), [&](index j) { add(j, -1); });
    });
    return {{index(n), index(n)}, offset_vector(first), std::move(col), std::move(val)};
}

template <class B>
fiedler_result fiedler(B on, const adjacency& graph, const fiedler_options& o) {
    check(graph, o);
    const auto L = laplacian_of(graph);
    const auto op = plan_and_build(ascending<double>::known(view(L)), on).op;
    const auto M = preconditioner_of(on, graph, L, o.preconditioner);
    // Constant vectors are known; without them the second eigenvector would be the first.
    host_vector<double> guess(static_cast<std::size_t>(graph.nodes()), 1);
    fiedler_result f;
    for (double tol = std::min(o.tol, 1e-4);;) {
        const std::int64_t left = o.max_products - f.products;
        const bool near_rounding = tol < rounding;
        const auto most =
            near_rounding ? std::min(left, std::max<std::int64_t>(f.products, 100)) : left;
        const auto pairs = eigs<double, B>(on, *op, {.count = 2, .tol = tol, .max_products = most},
                                           M.get(), guess);
        const double before = f.products > 0 ? f.residual : std::numeric_limits<double>::max();
        f.products += pairs.report.products;
        f.v = without_constant(pairs.vector(0), pairs.vector(1));
        measure(graph, f);
        f.converged = f.residual <= o.tol;
        f.why = f.converged ? "converged" : pairs.report.why;
        if (f.converged || f.products >= o.max_products) return f;
        if (near_rounding && f.residual > before / 2) {
            f.why = "rounding errors keep the residual above tol";
            return f;
        }
        if (!near_rounding && !pairs.report.converged) return f;
        // A part of what it takes by this lambda, which may come down yet.
        tol = std::min(pairs.report.converged ? tol / 10 : tol,
                       o.tol * f.connectivity / pairs.report.norm / 2);
        guess.resize(std::size_t(graph.nodes()));
        guess.insert(guess.end(), f.v.begin(), f.v.end());
    }
}

template fiedler_result fiedler(cpu, const adjacency&, const fiedler_options&);
template fiedler_result fiedler(gpu, const adjacency&, const fiedler_options&);

}  // namespace nz
