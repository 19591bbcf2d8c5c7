// Multigrid that takes other values: the bits of a setup that finds the same aggregates.
#include <gtest/gtest.h>

#include <limits>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/systems.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

using complex = std::complex<double>;

template <class T>
class new_values : public ::testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<T, gpu>)
            if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    T on{};
    template <class V>
    host_vector<V> apply(const linear_operator<V, T>& M) {
        const auto x = random_vector<V>(std::size_t(M.shape().rows), 3);
        const auto x_on_device = from_host(on, std::span<const V>(x));
        auto y = from_host(on, std::span<const V>(x));
        M.apply(V(1), x_on_device, V(0), y);
        return to_host<V>(on, in<V, T>(y));
    }
    template <class V>
    struct problem {
        std::string name;
        csr<V, host> A;
        amg_options options = {};
        candidates<V> near = {};
    };
    /// Problems whose setups differ: by stencils, by weak couplings, by nodes of three unknowns.
    static std::vector<problem<double>> problems() {
        std::vector<problem<double>> all;
        all.push_back({"space", laplace3d<double>(20, 20, 20), {.coarse_rows = 50}});
        all.push_back({"few rows", laplace2d<double>(3, 4)});  // solved directly at once
        auto thin = laplace2d<double>(60, 60);                 // of weak couplings along x
        for_each_place(thin, [](index i, index j, double& v) {
            if (i + 1 == j || j + 1 == i) v *= 1e-4;
            if (i == j) v = 2.001;
        });
        all.push_back({"weak couplings", std::move(thin), {.coarse_rows = 40}});
        all.push_back({"elasticity",
                       elasticity3d<double>(6, 6, 6, 0.3),
                       {.block = 3, .coarse_rows = 60},
                       rigid_body_modes<double>(elasticity3d_nodes(6, 6, 6))});
        constexpr auto single = value_storage::single;
        all.push_back({"single precision",
                       laplace3d<double>(20, 20, 20),
                       {.coarse_rows = 50, .precision = single}});
        all.push_back(
            {"few rows, in single precision", laplace2d<double>(3, 4), {.precision = single}});
        return all;
    }
    /// By where the candidates come from: found on every level, given, or the constant.
    static std::vector<problem<complex>> complex_problems() {
        std::vector<problem<complex>> all;
        const auto A = rotated(laplace3d<complex>(20, 20, 20));
        all.push_back({"phases", A, {.coarse_rows = 50}});
        all.push_back({"in a field", in_field(60, 0.3), {.coarse_rows = 50}});
        candidates<complex> near{2, random_vector<complex>(16000, 8)};
        all.push_back({"given", A, {.coarse_rows = 50}, std::move(near)});
        all.push_back({"real", laplace2d<complex>(60, 60), {.coarse_rows = 50}});
        all.push_back({"elasticity",
                       rotated(elasticity3d<complex>(6, 6, 6, 0.3)),
                       {.block = 3, .coarse_rows = 60}});
        auto weak = in_field(60, 0.3);
        for_each_place(weak, [](index i, index j, complex& v) {
            if (i + 1 == j || j + 1 == i) v *= 1e-4;
        });
        all.push_back({"weak couplings", std::move(weak), {.coarse_rows = 40}});
        return all;
    }
    template <class V, class F>
    static void for_each_place(csr<V, host>& A, F f) {
        for (index i = 0; i < A.shape.rows; ++i)
            for (offset k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k)
                f(i, A.col_ind[std::size_t(k)], A.val[std::size_t(k)]);
    }
    template <class V>
    static csr<V, host> times(double factor, csr<V, host> A) {
        for (V& v : A.val) v *= factor;
        return A;
    }
    /// Other values, also of the couplings: those of D A D.
    template <class V>
    static csr<V, host> rescaled(csr<V, host> A) {
        const auto d = [](index i) { return 1 + 0.5 * double(i % 7); };
        for_each_place(A, [&](index i, index j, V& v) { v *= d(i) * d(j); });
        return A;
    }
    /// Values taken have the bits of a setup of them, and leave none when the first come back.
    template <class V>
    void expect_bits_of_a_setup(const problem<V>& p, const csr<V, host>& other,
                                amg_options::keeps keeps = amg_options::keeps::aggregates) {
        amg<V, T> M(p.A, on, p.options, p.near);
        const auto before = apply(M);
        M.take_values(other, keeps);
        EXPECT_TRUE(same_bits<V>(apply(M), apply(amg<V, T>(other, on, p.options, p.near))));
        M.take_values(p.A, keeps);
        EXPECT_TRUE(same_bits<V>(apply(M), before));
    }
    template <class V>
    void expect_no_trace(const problem<V>& p, const csr<V, host>& other) {
        amg<V, T> M(p.A, on, p.options, p.near);
        const auto before = apply(M);
        M.take_values(other);
        EXPECT_FALSE(same_bits<V>(apply(M), before));
        M.take_values(p.A);
        EXPECT_TRUE(same_bits<V>(apply(M), before));
    }
};
using backends = ::testing::Types<cpu, gpu>;
TYPED_TEST_SUITE(new_values, backends);

TYPED_TEST(new_values, give_the_bits_of_a_setup) {
    for (const auto keeps : {amg_options::keeps::aggregates, amg_options::keeps::prolongation}) {
        for (const auto& p : this->problems()) {  // of four times A the roots are exact as well
            SCOPED_TRACE(p.name);
            this->expect_bits_of_a_setup(p, this->times(4, p.A), keeps);
        }
        for (const auto& p : this->complex_problems()) {
            SCOPED_TRACE(p.name);
            this->expect_bits_of_a_setup(p, this->times(4, p.A), keeps);
        }
    }
}

TYPED_TEST(new_values, leave_no_trace_of_those_before) {
    for (const auto& p : this->problems()) {
        SCOPED_TRACE(p.name);
        this->expect_no_trace(p, this->rescaled(p.A));
    }
    for (const auto& p : this->complex_problems()) {
        SCOPED_TRACE(p.name);
        this->expect_no_trace(p, this->rescaled(p.A));
    }
}

/// With a product that does not depend on the values, as plans do.
TYPED_TEST(new_values, find_phases_of_their_own) {
    const auto expect_bits_of_a_setup = [&](const csr<complex, host>& A,
                                            const csr<complex, host>& other, const amg_options& o) {
        const auto& merge = find_method<complex>("csr.merge");
        const auto of_A = build(merge, this->on, view(A)),
                   of_other = build(merge, this->on, view(other));
        amg<complex, TypeParam> M(A, this->on, o, {}, of_A.get());
        const auto before = this->apply(M);
        M.take_values(ascending(view(other)), amg_options::keeps::aggregates, of_other.get());
        EXPECT_TRUE(same_bits<complex>(
            this->apply(M),
            this->apply(amg<complex, TypeParam>(other, this->on, o, {}, of_other.get()))));
        M.take_values(ascending(view(A)), amg_options::keeps::aggregates, of_A.get());
        EXPECT_TRUE(same_bits<complex>(this->apply(M), before));
    };
    const auto without = laplace2d<complex>(60, 60);
    for (const double flux : {1e-3, 0.3, 3.0}) {
        SCOPED_TRACE(flux);
        // A strong field weakens couplings of coarser levels: a setup finds other aggregates there.
        const amg_options o{.coarse_rows = flux < 0.01 ? 500 : 1000};
        expect_bits_of_a_setup(without, in_field(60, flux), o);
        expect_bits_of_a_setup(in_field(60, flux), without, o);
        expect_bits_of_a_setup(in_field(60, 1e-2), rotated(in_field(60, flux)), o);
    }
}

TYPED_TEST(new_values, precondition_as_well_as_a_setup_where_a_mass_matrix_grows) {
    auto A = laplace3d<double>(24, 24, 24);
    amg<double, TypeParam> M(A, this->on);
    this->for_each_place(A, [](index i, index j, double& v) { v += i == j ? 1 : 0; });
    M.take_values(A);
    const amg<double, TypeParam> fresh(A, this->on);
    const auto op = build(make_plan(A, this->on), A);
    const auto n = std::size_t(A.shape.rows);
    const auto b = from_host(this->on, std::span<const double>(random_vector<double>(n, 5)));
    const auto iterations = [&](const auto& by) {
        auto x = from_host(this->on, std::span<const double>(host_vector<double>(n, 0.0)));
        return cg<double, TypeParam>(this->on, *op, by, b, x, {.tol = 1e-8}).iterations;
    };
    EXPECT_LE(iterations(M), iterations(fresh) + 1);
}

TYPED_TEST(new_values, are_refused_and_change_nothing) {
    const auto A = laplace2d<double>(40, 40);
    amg<double, TypeParam> M(A, this->on, {.coarse_rows = 50});
    const auto before = this->apply(M);
    auto other = A;
    const auto refused = [&](const csr<double, host>& values) {
        EXPECT_THROW(M.take_values(values), argument_error);
        EXPECT_TRUE(same_bits<double>(this->apply(M), before));
    };
    refused(laplace2d<double>(40, 41));
    std::swap(other.col_ind[1], other.col_ind[2]);
    std::swap(other.val[1], other.val[2]);
    EXPECT_NO_THROW(M.take_values(other));  // the same matrix, in another order
    other = A;
    other.col_ind[1] = 7;
    refused(other);
    other = A;
    other.val[0] = -1;
    refused(other);
    other.val[0] = std::numeric_limits<double>::quiet_NaN();
    refused(other);
    other = A;
    other.val[1] *= 2;
    refused(other);  // not symmetric
    amg<double, TypeParam> rigid(A, this->on, {.coarse_rows = 50, .keep = false});
    EXPECT_THROW(rigid.take_values(A), unavailable);
    EXPECT_LT(rigid.bytes(), M.bytes());
}

template <class V>
class new_values_on_gpu : public ::testing::Test {};
using value_types = ::testing::Types<double, complex>;
TYPED_TEST_SUITE(new_values_on_gpu, value_types);

TYPED_TEST(new_values_on_gpu, are_those_of_matrices_on_the_gpu) {
    using V = TypeParam;
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const gpu on{};
    auto A = rotated(laplace3d<V>(30, 30, 30));
    auto four = A;
    for (V& v : four.val) v *= 4;
    const auto A_on_gpu = upload(on, A), four_on_gpu = upload(on, four);
    const auto apply = [&](const amg<V, gpu>& by) {
        const auto x = from_host(on, std::span<const V>(random_vector<V>(27000, 3)));
        auto y = from_host(on, std::span<const V>(host_vector<V>(27000)));
        by.apply(1, x, 0, y);
        return to_host<V>(on, device_span<V>(y));
    };
    amg<V, gpu> M(view(A_on_gpu), on);
    const amg<V, gpu> from_host_memory(A, on);
    EXPECT_TRUE(same_bits<V>(apply(M), apply(from_host_memory)));
    M.take_values(view(four_on_gpu));
    EXPECT_TRUE(same_bits<V>(apply(M), apply(amg<V, gpu>(four, on))));
    M.take_values(A);
    EXPECT_TRUE(same_bits<V>(apply(M), apply(from_host_memory)));
    four.val[1] = 7;  // not symmetric
    EXPECT_THROW((amg<V, gpu>(view(upload(on, four)), on)), argument_error);
    EXPECT_THROW(M.take_values(view(upload(on, four))), argument_error);
    four.val[1] = four.val[0] = -1;
    EXPECT_THROW((amg<V, gpu>(view(upload(on, four)), on)), argument_error);
    EXPECT_THROW(M.take_values(view(upload(on, laplace3d<V>(30, 30, 31)))), argument_error);
    EXPECT_TRUE(same_bits<V>(apply(M), apply(from_host_memory)));
}

template <class V>
class new_values_over_ranks : public ::testing::Test {};
TYPED_TEST_SUITE(new_values_over_ranks, value_types);

TYPED_TEST(new_values_over_ranks, give_the_bits_of_a_setup) {
    using V = TypeParam;
    const auto A = rotated(laplace3d<V>(24, 24, 24));
    auto twice = A;
    for (V& v : twice.val) v *= 2;
    for (const int size : {1, 2, 3})
        on_ranks(size, [&](const communicator& ranks) {
            const cpu on{.threads = 1, .ranks = &ranks};
            const auto first = slice_of(ranks, view(A)), second = slice_of(ranks, view(twice));
            amg<V> M(on, first, {.coarse_rows = 50});
            const amg<V> fresh(on, second, {.coarse_rows = 50});
            const auto apply = [&](const amg<V>& by) {
                const auto b = random_vector<V>(std::size_t(by.shape().rows), 4);
                host_vector<V> x(b.size());
                by.apply(1, b, 0, x);
                return x;
            };
            const auto before = apply(M);
            M.take_values(second);
            EXPECT_TRUE(same_bits<V>(apply(M), apply(fresh)));
            M.take_values(first);
            EXPECT_TRUE(same_bits<V>(apply(M), before));
            EXPECT_THROW(M.take_values(view(A)), argument_error);
        });
}

}  // namespace
}  // namespace nz::test
