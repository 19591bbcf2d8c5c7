// Saddle points: that they are found, what stands for their blocks, and iterations that do not grow
// with the mesh.
#include "nonzero/solve/saddle/saddle.hpp"

#include <limits>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/saddle/split.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using saddles = solver_test<T>;
TYPED_TEST_SUITE(saddles, everywhere);

template <class V>
saddle_split split_of(const csr<V, host>& K) {
    return find_saddle<V>(ascending(view(K)), diagonal_of(view(K)));
}

template <class V>
csr<V, host> times(V factor, csr<V, host> A) {
    for (V& v : A.val) v *= factor;
    return A;
}

/// K with the entries that `change` makes of them: of row, column and value.
template <class V, class F>
csr<V, host> changed(csr<V, host> K, F change) {
    for (index i = 0; i < K.shape.rows; ++i)
        for (auto k = std::size_t(K.row_ptr[std::size_t(i)]);
             k < std::size_t(K.row_ptr[std::size_t(i) + 1]); ++k)
            K.val[k] = change(i, K.col_ind[k], K.val[k]);
    return K;
}

/// K with -C in its last rows, where C is a Laplacian of theirs times `size`.
template <class V>
csr<V, host> stabilised(const csr<V, host>& K, const csr<V, host>& laplacian, real<V> size) {
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(K), 0, K.shape.rows, [&](index i, index j, V v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    });
    const index n = laplacian.shape.rows, first = K.shape.rows - n;
    for_each_entry(view(laplacian), 0, n, [&](index i, index j, V v) {
        row.push_back(first + i), col.push_back(first + j), val.push_back(-size * v);
    });
    return assemble<V>(K.shape, row, col, val);
}

template <class V>
std::vector<linear_system<V>> symmetric_saddles() {
    std::vector<linear_system<V>> all;
    const auto add = [&](const char* name, csr<V, host> K) {
        all.push_back(manufactured<V>(name, rotated(std::move(K))));
    };
    add("stokes2d", stokes2d<V>(12, 10));
    add("stokes3d", stokes3d<V>(5, 4, 6));
    add("mixed2d", mixed2d<V>(11, 9));
    add("kkt", kkt(laplace2d<V>(12, 11), 40));
    add("negative", times(V(-1), stokes2d<V>(9, 8)));
    add("stabilised", stabilised(stokes2d<V>(9, 8), laplace2d<V>(9, 8), real<V>(0.1)));
    return all;
}

template <class V>
std::vector<linear_system<V>> general_saddles() {
    std::vector<linear_system<V>> all;
    const auto K = stokes2d<V>(12, 10);
    const index first = K.shape.rows - 120;
    // Convection: the same to the right and to the left as in `convected`, in A alone.
    all.push_back(manufactured<V>("convected", rotated(changed(K, [&](index i, index j, V v) {
                                      return i < first && j < first && i != j
                                                 ? v * (j < i ? real<V>(1.3) : real<V>(0.7))
                                                 : v;
                                  }))));
    all.push_back(manufactured<V>(
        "skew", rotated(changed(K, [&](index i, index, V v) { return i < first ? v : -v; }))));
    return all;
}

template <class V, class T>
solve_report solve(const solver_test<T>& on, const linear_system<V>& s, saddle_form form,
                   saddle_report* of = nullptr, host_vector<V>* solution = nullptr) {
    using B = typename T::B;
    const auto op = on.operator_of(s.A);
    const auto M = saddle<V, B>(on.on_, ascending(view(s.A)), form, of);
    auto x = on.to_backend(host_vector<V>(s.b.size(), V(0)));
    gmres_options o;
    o.tol = on.tol, o.max_iter = 300;
    const auto b = on.to_backend(s.b);
    const auto report = form == saddle_form::diagonal ? minres<V, B>(on.on_, *op, *M, b, x, o)
                                                      : gmres<V, B>(on.on_, *op, *M, b, x, o);
    const auto r = residual_of(s.A, on.here(x), s.b);
    EXPECT_TRUE(report.converged) << s.name << ": " << report.why;
    EXPECT_LE(r.norm, on.tol * double(r.rhs) + r.rounding) << s.name;
    if (solution != nullptr) *solution = on.here(x);
    return report;
}

TYPED_TEST(saddles, are_solved_in_few_iterations) {
    using V = typename TypeParam::V;
    for (const auto& s : symmetric_saddles<V>()) {
        const auto diagonal = solve(*this, s, saddle_form::diagonal);
        const auto triangular = solve(*this, s, saddle_form::triangular);
        EXPECT_LE(triangular.iterations, diagonal.iterations) << s.name;
        EXPECT_LE(diagonal.iterations, 120) << s.name;
    }
    for (const auto& s : general_saddles<V>())
        EXPECT_LE(solve(*this, s, saddle_form::triangular).iterations, 100) << s.name;
}

/// With exact inverses of A and S the preconditioned matrix has one eigenvalue, or three.
TYPED_TEST(saddles, exact_blocks_need_two_or_three_iterations) {
    using V = typename TypeParam::V;
    auto H = laplace2d<V>(12, 11);
    H = changed(H, [](index i, index j, V v) { return i == j ? v * real<V>(1 + i % 3) : V(0); });
    const auto s = manufactured<V>("", rotated(kkt(H, 40)));
    saddle_report of;
    EXPECT_LE(solve(*this, s, saddle_form::triangular, &of).iterations, 2);
    EXPECT_EQ(of.constraints, 40);
    EXPECT_LE(solve(*this, s, saddle_form::diagonal).iterations, 3);
}

/// From one mesh to the next finer: 20% more at most, and one for the rounding of a count.
TEST(saddles_of_meshes, need_as_many_iterations_on_finer_ones) {
    const auto iterations = [](const csr<double, host>& K, saddle_form form, std::string* of_S) {
        const auto s = manufactured<double>("", K);
        const auto op = build(find_method<double>("csr.merge"), cpu{}, view(K));
        saddle_report of;
        const auto M = saddle<double, cpu>(cpu{}, ascending(view(K)), form, &of);
        host_vector<double> x(s.b.size(), 0.0);
        gmres_options o;
        o.tol = 1e-8, o.max_iter = 300, o.restart = 100;
        const auto report = form == saddle_form::diagonal
                                ? minres<double, cpu>(cpu{}, *op, *M, s.b, x, o)
                                : gmres<double, cpu>(cpu{}, *op, *M, s.b, x, o);
        EXPECT_TRUE(report.converged) << report.why;
        *of_S = of.of_S;
        return double(report.iterations);
    };
    for (const auto form : {saddle_form::diagonal, saddle_form::triangular}) {
        std::string of_S;
        double before = iterations(stokes2d<double>(24, 24), form, &of_S);
        double now = iterations(stokes2d<double>(48, 48), form, &of_S);
        EXPECT_LE(now, 1.2 * before + 1) << "stokes2d";
        EXPECT_EQ(of_S, "diagonal");
        before = iterations(stokes3d<double>(6, 6, 6), form, &of_S);
        now = iterations(stokes3d<double>(12, 12, 12), form, &of_S);
        EXPECT_LE(now, 1.2 * before + 1) << "stokes3d";
        before = iterations(mixed2d<double>(24, 24), form, &of_S);
        now = iterations(mixed2d<double>(48, 48), form, &of_S);
        EXPECT_LE(now, 1.2 * before + 1) << "mixed2d";
        EXPECT_NE(of_S, "diagonal");
    }
}

TYPED_TEST(saddles, are_found_where_they_are) {
    using V = typename TypeParam::V;
    if constexpr (std::is_same_v<typename TypeParam::B, cpu>) {
        const auto cells = split_of(rotated(stokes2d<V>(5, 4)));
        ASSERT_EQ(cells.second.size(), 20);
        EXPECT_EQ(cells.second.front(), index(cells.first.size()));
        EXPECT_FALSE(cells.is_negated);
        EXPECT_TRUE(split_of(times(V(-1), mixed2d<V>(5, 4))).is_negated);
        EXPECT_EQ(split_of(stabilised(stokes2d<V>(5, 4), laplace2d<V>(5, 4), 1)).second.size(), 20);
        for (const auto& s : definite_systems<V>()) EXPECT_FALSE(split_of(s.A).found()) << s.name;
        EXPECT_FALSE(split_of(times(V(-1), laplace2d<V>(5, 4))).found());
        // Rows that are no block of zeros, as they are coupled with each other.
        const auto coupled = changed(laplace2d<V>(9, 8), [](index i, index j, V v) {
            return i != j ? v : i % 5 < 3 ? V(4) : V(-1);
        });
        EXPECT_FALSE(split_of(coupled).found());
        const V nan = std::numeric_limits<real<V>>::quiet_NaN();
        const auto with_nan = changed(
            laplace2d<V>(9, 8), [&](index i, index j, V v) { return i == 7 && j == 7 ? nan : v; });
        EXPECT_FALSE(split_of(with_nan).found());
        EXPECT_FALSE(split_of(csr<V, host>{{0, 0}, {0}, {}, {}}).found());
    }
}

TYPED_TEST(saddles, refuse_what_is_none) {
    using V = typename TypeParam::V;
    const auto make = [&](const csr<V, host>& K) {
        return saddle<V, typename TypeParam::B>(this->on_, ascending(view(K)),
                                                saddle_form::triangular);
    };
    EXPECT_THROW(make(laplace2d<V>(5, 4)), argument_error);
    EXPECT_THROW(make(csr<V, host>{{0, 0}, {0}, {}, {}}), argument_error);
    EXPECT_THROW(make(random<V>(5, 6, 2, 1)), argument_error);
    const V nan = std::numeric_limits<real<V>>::quiet_NaN();
    const auto with_nan = changed(
        stokes2d<V>(6, 5), [&](index i, index j, V v) { return i == 3 && j == 4 ? nan : v; });
    EXPECT_THROW(make(with_nan), argument_error);
}

/// A constraint without entries: K is singular, and the others are as if it were not there.
TYPED_TEST(saddles, an_empty_constraint_spoils_nothing) {
    using V = typename TypeParam::V;
    auto s = manufactured<V>("", rotated(stokes2d<V>(12, 10)));
    const index last = s.A.shape.rows - 1;
    s.A = changed(s.A, [&](index i, index j, V v) { return i == last || j == last ? V(0) : v; });
    s = manufactured<V>("empty constraint", s.A);
    for (const auto form : {saddle_form::diagonal, saddle_form::triangular}) solve(*this, s, form);
}

/// The products' methods, and with them the rounding, are planned for a number of threads.
TYPED_TEST(saddles, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    if constexpr (std::is_same_v<typename TypeParam::B, cpu>) {
        const auto s = manufactured<V>("", rotated(mixed2d<V>(60, 70)));
        for (const int threads : {1, 3}) {
            host_vector<V> first, again;
            this->on_.threads = threads;
            solve(*this, s, saddle_form::triangular, nullptr, &first);
            solve(*this, s, saddle_form::triangular, nullptr, &again);
            EXPECT_EQ(first, again) << threads << " threads";
        }
    }
}

}  // namespace
}  // namespace nz::test
