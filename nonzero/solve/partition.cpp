#include "nonzero/solve/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/amg.hpp"
#include "nonzero/solve/jacobi.hpp"

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

/// Of the mean degree. It only has to keep multigrid's coarsest matrix from being singular.
constexpr double shift = 1e-5;

template <class B>
std::unique_ptr<linear_operator<double, B>> preconditioner_of(B on, const adjacency& graph,
                                                              const csr<double, host>& L,
                                                              partition_preconditioner kind) {
    if (kind == partition_preconditioner::none) return nullptr;
    const double mean = 2 * double(graph.edges()) / double(std::max(graph.nodes(), 1));
    const auto definite = shifted(L, shift * std::max(mean, 1.0));
    if (kind == partition_preconditioner::jacobi) return jacobi(on, view(definite));
    return std::make_unique<amg<double, B>>(definite, on, amg_options{.check = false});
}

/// The lower half of the numbers is part 0.
host_vector<index> halves(const host_vector<double>& v) {
    host_vector<index> order(v.size());
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + std::ptrdiff_t((v.size() + 1) / 2);
    std::nth_element(order.begin(), middle, order.end(), [&](index a, index b) {
        return std::pair(v[std::size_t(a)], a) < std::pair(v[std::size_t(b)], b);
    });
    host_vector<index> part;
    part.assign(v.size(), 1);
    std::for_each(order.begin(), middle, [&](index i) { part[std::size_t(i)] = 0; });
    return part;
}

/// Of the span of the two smallest eigenvectors what is orthogonal to constant vectors: the second
/// one where the graph is in one piece, and no matter how they come out where it is not.
host_vector<double> fiedler_of(const eigs_result<double>& pairs) {
    const auto a = pairs.vector(0), b = pairs.vector(1);
    const double of_a = std::accumulate(a.begin(), a.end(), 0.0);
    const double of_b = std::accumulate(b.begin(), b.end(), 0.0);
    const double length = std::hypot(of_a, of_b);
    host_vector<double> v(a.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = (of_a * b[i] - of_b * a[i]) / length;
    return v;
}

}  // namespace

csr<double, host> laplacian_of(const adjacency& graph) {
    const auto n = std::size_t(graph.nodes());
    host_vector<offset> first(n + 1);
    for (std::size_t i = 0; i <= n; ++i) first[i] = graph.first[i] + offset(i);
    host_vector<index> col(graph.targets.size() + n);
    host_vector<double> val(col.size());
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const auto neighbours = graph.neighbours(index(i));
        const auto self = std::lower_bound(neighbours.begin(), neighbours.end(), index(i));
        auto k = std::size_t(first[i]);
        const auto add = [&](index j, double v) { col[k] = j, val[k++] = v; };
        std::for_each(neighbours.begin(), self, [&](index j) { add(j, -1); });
        add(index(i), double(neighbours.size()));
        std::for_each(self, neighbours.end(), [&](index j) { add(j, -1); });
    }
    return {{index(n), index(n)}, offset_vector(first), std::move(col), std::move(val)};
}

template <class B>
bisection bisect(B on, const adjacency& graph, const bisection_options& o) {
    const auto n = std::size_t(graph.nodes());
    bisection halved;
    if (n < 2) {
        halved.part.assign(n, 0);
        halved.fiedler.assign(n, 0);
        halved.sizes[0] = index(n);
        halved.search.converged = true;
        halved.search.why = "there is nothing to cut";
        return halved;
    }
    const auto L = laplacian_of(graph);
    const auto op = build(make_plan(L, on), L);
    const auto M = preconditioner_of(on, graph, L, o.preconditioner);
    // Constant vectors are known; without them the second eigenvector would be the first.
    const host_vector<double> constant(n, 1);
    auto pairs = eigs<double, B>(
        on, *op, {.count = 2, .tol = o.tol, .max_products = o.max_products}, M.get(), constant);
    halved.connectivity = pairs.values[1];
    halved.fiedler = fiedler_of(pairs);
    halved.part = halves(halved.fiedler);
    halved.sizes[1] = index(n / 2), halved.sizes[0] = index(n) - halved.sizes[1];
    halved.cut = cut_of(graph, halved.part);
    halved.search = std::move(pairs.report);
    return halved;
}

offset cut_of(const adjacency& graph, std::span<const index> part) {
    if (part.size() != std::size_t(graph.nodes()))
        throw argument_error("cut_of: parts of " + std::to_string(part.size()) +
                             " nodes, expected " + std::to_string(graph.nodes()));
    offset twice = 0;
    for (index i = 0; i < graph.nodes(); ++i)
        for (const index j : graph.neighbours(i))
            twice += part[std::size_t(i)] != part[std::size_t(j)];
    return twice / 2;
}

double expected_random_cut(const adjacency& graph) {
    const double n = graph.nodes(), half = std::floor(n / 2);
    return n < 2 ? 0 : double(graph.edges()) * 2 * half * (n - half) / (n * (n - 1));
}

template bisection bisect(cpu, const adjacency&, const bisection_options&);
template bisection bisect(gpu, const adjacency&, const bisection_options&);

}  // namespace nz
