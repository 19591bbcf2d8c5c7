// Systems whose matrix sends more than zero to zero, and whose right-hand side is a product of it
// but for a part far below the tolerance: they are solved, and by an x that is not large.
#include <gtest/gtest.h>

#include <cmath>

#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using semidefinite = solver_test<T>;
using real_everywhere = ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                                         on_backend<float, gpu>, on_backend<double, gpu>>;
TYPED_TEST_SUITE(semidefinite, real_everywhere);

/// A graph as it grows, edge after edge; its Laplacian.
template <class V>
struct weighted_graph {
    index nodes = 0;
    host_vector<index> row = {}, col = {};
    host_vector<V> val = {};
    void add(index i, index j, double weight) {
        for (const auto& [a, b, v] : {std::tuple(i, j, -weight), std::tuple(j, i, -weight),
                                      std::tuple(i, i, weight), std::tuple(j, j, weight)})
            row.push_back(a), col.push_back(b), val.push_back(V(v));
    }
    [[nodiscard]] csr<V, host> laplacian() const {
        return assemble<V>({nodes, nodes}, row, col, val);
    }
};

/// nx x ny x nz nodes, each with its neighbours, from node `first` on.
template <class V>
void add_grid(weighted_graph<V>& g, index first, index nx, index ny, index nz, bool periodic) {
    const auto at = [&](index x, index y, index z) {
        return first + ((z % nz) * ny + y % ny) * nx + x % nx;
    };
    for (index z = 0; z < nz; ++z)
        for (index y = 0; y < ny; ++y)
            for (index x = 0; x < nx; ++x) {
                if (x + 1 < nx || (periodic && nx > 2)) g.add(at(x, y, z), at(x + 1, y, z), 1);
                if (y + 1 < ny || (periodic && ny > 2)) g.add(at(x, y, z), at(x, y + 1, z), 1);
                if (z + 1 < nz || (periodic && nz > 2)) g.add(at(x, y, z), at(x, y, z + 1), 1);
            }
    g.nodes = std::max(g.nodes, first + nx * ny * nz);
}

/// A, and vectors that span what it sends to zero.
template <class V>
struct semidefinite_matrix {
    std::string name;
    csr<V, host> A;
    std::vector<host_vector<double>> null = {};
};

/// Ones from each of the nodes to the one before the next.
std::vector<host_vector<double>> ones_between(const std::vector<index>& first) {
    std::vector<host_vector<double>> all;
    for (std::size_t k = 0; k + 1 < first.size(); ++k) {
        auto& v = all.emplace_back(std::size_t(first.back()), 0.0);
        std::fill(v.begin() + first[k], v.begin() + first[k + 1], 1.0);
    }
    return all;
}

template <class V>
semidefinite_matrix<V> grid(const std::string& name, index nx, index ny, index nz, bool periodic) {
    weighted_graph<V> g;
    add_grid(g, 0, nx, ny, nz, periodic);
    return {name, g.laplacian(), ones_between({0, g.nodes})};
}

template <class V>
semidefinite_matrix<V> components(const std::vector<index>& widths) {
    weighted_graph<V> g;
    std::vector<index> first{0};
    for (const index w : widths) {
        add_grid(g, first.back(), w, w, 1, false);
        first.push_back(g.nodes);
    }
    return {"components", g.laplacian(), ones_between(first)};
}

/// A ring of nodes from `first` on, and as many more edges between nodes taken at random.
template <class V>
void add_random_graph(weighted_graph<V>& g, index first, index nodes, double spread,
                      unsigned seed) {
    const auto u = random_vector<double>(std::size_t(3 * nodes), seed);
    const auto share = [&](index k) { return std::abs(u[std::size_t(k)]) / 2; };
    for (index i = 0; i < nodes; ++i) {
        g.add(first + i, first + (i + 1) % nodes, std::pow(spread, share(3 * i)));
        const index other = index(share(3 * i + 1) * double(nodes)) % nodes;
        if (other != i) g.add(first + i, first + other, std::pow(spread, share(3 * i + 2)));
    }
    g.nodes = std::max(g.nodes, first + nodes);
}

template <class V>
semidefinite_matrix<V> random_graph(index nodes, double spread) {
    weighted_graph<V> g;
    add_random_graph(g, 0, nodes, spread, 3);
    return {"graph", g.laplacian(), ones_between({0, nodes})};
}

/// Graphs of 3 to 12 nodes side by side: multigrid takes most of them whole for one aggregate.
template <class V>
semidefinite_matrix<V> small_graphs(index count, double spread) {
    weighted_graph<V> g;
    std::vector<index> first{0};
    for (index k = 0; k < count; ++k) {
        add_random_graph(g, g.nodes, 3 + k % 10, spread, unsigned(k));
        first.push_back(g.nodes);
    }
    return {"small graphs", g.laplacian(), ones_between(first)};
}

/// Trees of 3 to 12 nodes side by side, each node before its parent: incomplete Cholesky factors of
/// them are complete, and the last pivot of each is what rounding errors leave.
template <class V>
semidefinite_matrix<V> small_trees(index count, double spread) {
    weighted_graph<V> g;
    std::vector<index> first{0};
    for (index k = 0; k < count; ++k) {
        const index nodes = 3 + k % 10;
        const auto u = random_vector<double>(std::size_t(2 * nodes), unsigned(k));
        for (index i = 0; i + 1 < nodes; ++i) {
            const index above = nodes - 1 - i;
            const auto at = std::size_t(2 * i);
            const index parent = i + 1 + index(std::abs(u[at]) / 2 * double(above)) % above;
            g.add(first.back() + i, first.back() + parent, std::pow(spread, u[at + 1] / 2));
        }
        g.nodes += nodes;
        first.push_back(g.nodes);
    }
    return {"small trees", g.laplacian(), ones_between(first)};
}

/// nx x ny joints with springs to their eight neighbours and no support: 2 unknowns a joint, and
/// three motions that cost nothing.
template <class V>
semidefinite_matrix<V> free_body(index nx, index ny) {
    host_vector<index> row, col;
    host_vector<V> val;
    const auto add_spring = [&](index i, index j, double dx, double dy) {
        const double d[] = {dx / std::hypot(dx, dy), dy / std::hypot(dx, dy)};
        for (const auto& [a, b, sign] :
             {std::tuple(i, i, 1), std::tuple(j, j, 1), std::tuple(i, j, -1), std::tuple(j, i, -1)})
            for (index p = 0; p < 2; ++p)
                for (index q = 0; q < 2; ++q)
                    row.push_back(2 * a + p), col.push_back(2 * b + q),
                        val.push_back(V(sign * d[p] * d[q]));
    };
    semidefinite_matrix<V> m{"free body", {}, std::vector(3, host_vector<double>{})};
    for (index y = 0; y < ny; ++y)
        for (index x = 0; x < nx; ++x) {
            const index at = y * nx + x;
            if (x + 1 < nx) add_spring(at, at + 1, 1, 0);
            if (y + 1 < ny) add_spring(at, at + nx, 0, 1);
            if (x + 1 < nx && y + 1 < ny) add_spring(at, at + nx + 1, 1, 1);
            if (x > 0 && y + 1 < ny) add_spring(at, at + nx - 1, -1, 1);
            for (const auto& [k, u, v] : {std::tuple(0, 1.0, 0.0), std::tuple(1, 0.0, 1.0),
                                          std::tuple(2, -(y - (ny - 1) / 2.0), x - (nx - 1) / 2.0)})
                m.null[std::size_t(k)].push_back(u), m.null[std::size_t(k)].push_back(v);
        }
    m.A = assemble<V>({2 * nx * ny, 2 * nx * ny}, row, col, val);
    return m;
}

template <class V>
std::vector<semidefinite_matrix<V>> all_kinds() {
    std::vector<semidefinite_matrix<V>> all;
    for (const index n : {2, 20, 30, 61})
        all.push_back(grid<V>("Neumann " + std::to_string(n), n, n, 1, false));
    all.push_back(grid<V>("Neumann line", 600, 1, 1, false));
    all.push_back(grid<V>("Neumann box", 11, 12, 13, false));
    all.push_back(grid<V>("periodic", 32, 30, 1, true));
    all.push_back(grid<V>("periodic box", 9, 8, 10, true));
    all.push_back(components<V>({12, 25, 3, 18}));
    all.push_back(free_body<V>(9, 12));
    all.push_back(free_body<V>(31, 14));
    all.push_back(random_graph<V>(400, 1));
    all.push_back(random_graph<V>(1500, std::is_same_v<V, float> ? 10 : 1000));
    all.push_back(small_graphs<V>(300, std::is_same_v<V, float> ? 10 : 1000));
    return all;
}

double norm(const auto& v) {
    double sum = 0;
    for (const auto e : v) sum += double(e) * double(e);
    return std::sqrt(sum);
}
double dot(const auto& v, const auto& w) {
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) sum += double(v[i]) * double(w[i]);
    return sum;
}
/// v without its part along the null vectors, which are orthogonal.
host_vector<double> without(const host_vector<double>& v,
                            const std::vector<host_vector<double>>& null) {
    host_vector<double> w = v;
    for (const auto& n : null) {
        const double f = dot(n, w) / dot(n, n);
        for (std::size_t i = 0; i < w.size(); ++i) w[i] -= f * n[i];
    }
    return w;
}

template <class V>
host_vector<V> rounded(const host_vector<double>& v) {
    host_vector<V> w(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) w[i] = V(v[i]);
    return w;
}

/// b = A x for the least of all x, and beside it `share` of |b| that is no product of A.
template <class V>
struct nearly_consistent {
    host_vector<double> least;
    host_vector<V> b;
};
template <class V>
nearly_consistent<V> system_of(const semidefinite_matrix<V>& m, double share) {
    nearly_consistent<V> s;
    const auto n = std::size_t(m.A.shape.rows);
    s.least = without(random_vector<double>(n, 9), m.null);
    host_vector<double> b(n, 0.0);
    for_each_entry(view(m.A), 0, index(n), [&](index i, index j, V v) {
        b[std::size_t(i)] += double(v) * s.least[std::size_t(j)];
    });
    const double size = share * norm(b) / std::sqrt(double(m.null.size()));
    for (const auto& v : m.null)
        for (std::size_t i = 0; i < n; ++i) b[i] += size * v[i] / norm(v);
    s.b = rounded<V>(b);
    return s;
}

/// Solves it and holds x against the least solution.
template <class T, class V>
void expect_small_solution(const solver_test<T>& on, const semidefinite_matrix<V>& m,
                           const nearly_consistent<V>& s, const system_options& o,
                           const std::string& name) {
    host_vector<V> x(s.b.size(), V(0));
    const auto report = nz::solve<V, typename T::B>(on.on_, view(m.A), s.b, x, o);
    EXPECT_TRUE(report.converged()) << name << ": " << report.result().report.why;
    const auto r = residual_of(m.A, x, s.b);
    EXPECT_LE(r.norm, *o.tol * double(r.rhs) + r.rounding) << name;
    // From zero on nothing of the null space enters but by the preconditioner, which is no
    // projection: so much of it is no more than what the solution is made of.
    EXPECT_LE(norm(x), 4 * norm(s.least)) << name;
}

TYPED_TEST(semidefinite, systems_are_solved_by_a_small_x) {
    using V = typename TypeParam::V;
    const bool is_float = std::is_same_v<V, float>;
    system_options o;
    o.tol = is_float ? 1e-4 : 1e-8;
    for (const auto& m : all_kinds<V>()) {
        const auto s = system_of(m, *o.tol / 10);
        expect_small_solution(*this, m, s, o, m.name);
        for (const auto p :
             {preconditioning::amg, preconditioning::jacobi, preconditioning::gauss_seidel}) {
            auto with = o;
            with.preconditioner = p;
            expect_small_solution(*this, m, s, with, m.name + ", " + std::string(name_of(p)));
        }
        auto by_minres = o;
        by_minres.method = krylov_method::minres;
        expect_small_solution(*this, m, s, by_minres, m.name + ", minres");
    }
}

/// By the choices alone: multigrid in single precision does not converge for these.
TYPED_TEST(semidefinite, systems_of_trees_are_solved_by_a_small_x) {
    using V = typename TypeParam::V;
    const bool is_float = std::is_same_v<V, float>;
    system_options o;
    o.tol = is_float ? 1e-4 : 1e-8;
    for (const index count : {1, 7, 40}) {
        const auto m = small_trees<V>(count, is_float ? 10 : 1000);
        expect_small_solution(*this, m, system_of(m, *o.tol / 10), o, std::to_string(count));
    }
}

/// A node without an edge: its row is zero, and so is its element of b.
TYPED_TEST(semidefinite, systems_with_zero_rows_are_solved) {
    using V = typename TypeParam::V;
    const auto m = components<V>({12, 1, 25});
    system_options o;
    o.tol = std::is_same_v<V, float> ? 1e-4 : 1e-8;
    expect_small_solution(*this, m, system_of(m, *o.tol / 10), o, m.name);
}

/// b has a part that is no product of A and is above the tolerance: no method converges, and none
/// makes an x of it whose own rounding errors are above the tolerance.
TYPED_TEST(semidefinite, systems_without_a_solution_get_no_huge_x) {
    using V = typename TypeParam::V;
    const bool is_float = std::is_same_v<V, float>;
    system_options o;
    o.tol = is_float ? 1e-4 : 1e-8, o.max_iter = 400;
    for (const auto& m : {grid<V>("Neumann 30", 30, 30, 1, false), components<V>({12, 25, 18})}) {
        const auto s = system_of(m, 0.01);
        host_vector<V> x(s.b.size(), V(0));
        const auto report = nz::solve<V, typename TypeParam::B>(this->on_, view(m.A), s.b, x, o);
        EXPECT_FALSE(report.converged()) << m.name;
        EXPECT_LE(report.result().report.relative, 0.02) << m.name;
        EXPECT_LE(residual_of(m.A, x, s.b).rounding, 1e-3L * residual_of(m.A, x, s.b).rhs)
            << m.name;
    }
}

/// One cycle of multigrid amplifies a right-hand side without a solution no more than others, for
/// which its largest eigenvalues are some hundreds: an inverse of rounding errors has 1e7, or 1e15.
TYPED_TEST(semidefinite, a_cycle_does_not_amplify_the_null_space) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const auto& m : all_kinds<V>()) {
        const amg<V, B> M(m.A, this->on_);
        for (const auto& v : m.null) {
            const auto b = this->to_backend(rounded<V>(v));
            auto y = this->to_backend(host_vector<V>(v.size(), V(0)));
            M.apply(V(1), b, V(0), y);
            EXPECT_LE(norm(this->here(y)), 1000 * norm(v)) << m.name;
        }
    }
}

}  // namespace
}  // namespace nz::test
