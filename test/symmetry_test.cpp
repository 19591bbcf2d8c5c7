// A matrix that is symmetric by its values is so for everybody who asks.
#include "nonzero/matrix/symmetry.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/dist/entries.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/files.hpp"
#include "test/mirrored.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

template <class V>
class symmetry_of_values : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(symmetry_of_values, values);

/// Whether f() is accepted; what it throws must be one of these.
template <class F>
bool accepts(const F& f) {
    try {
        f();
        return true;
    } catch (const unsuitable&) {
        return false;
    } catch (const argument_error&) {
        return false;
    }
}

/// One iteration is enough to see what is refused.
system_options by_method(krylov_method method) {
    system_options o;
    o.method = method, o.max_iter = 1;
    return o;
}
system_options with_multigrid() {
    system_options o;
    o.preconditioner = preconditioning::amg, o.max_iter = 1;
    return o;
}

TYPED_TEST(symmetry_of_values, is_the_same_for_everybody) {
    using V = TypeParam;
    const scratch_folder folder;
    for (const auto& [name, A, is_it] : mirrored_matrices<V>()) {
        EXPECT_EQ(is_symmetric(view(A)), is_it) << name;
        EXPECT_EQ(why_not_definite(view(A)).empty(), is_it) << name;
        const auto store = self_adjoint<V>;
        const auto path = folder.file("A.mtx");
        // A file of one triangle holds no values that rounding parts.
        EXPECT_EQ(accepts([&] { write(path, view(A), {.store = store}); }),
                  is_it && name != "rounded")
            << name;
        const host_vector<V> b(std::size_t(A.shape.rows), V(1));
        const auto by = [&](const system_options& o) {
            return accepts([&] {
                host_vector<V> x(b.size(), V(0));
                (void)solve<V, cpu>({}, view(A), b, x, o);
            });
        };
        EXPECT_EQ(by(by_method(krylov_method::cg)), is_it) << name;
        EXPECT_EQ(by(by_method(krylov_method::minres)), is_it) << name;
        if constexpr (!is_complex<V>) {
            EXPECT_EQ(accepts([&] { (void)amg<V, cpu>(A, {}); }), is_it) << name;
            EXPECT_EQ(by(with_multigrid()), is_it) << name;
        }
    }
}

TYPED_TEST(symmetry_of_values, is_the_same_over_ranks) {
    using V = TypeParam;
    for (const auto& [name, A, is_it] : mirrored_matrices<V>()) {
        const std::string why = why_not_symmetric(view(A));
        for (const int size : {1, 2, 5})
            on_ranks(size, [&, &name = name, &A = A, is_it = is_it](const communicator& ranks) {
                const cpu on{.threads = 1, .ranks = &ranks};
                auto slice = slice_of(ranks, view(A));
                EXPECT_EQ(why_not_symmetric(ranks, slice), why) << name << ", " << size;
                if constexpr (!is_complex<V>) {
                    EXPECT_EQ(accepts([&] { (void)amg<V, cpu>(on, slice, {}); }), is_it)
                        << name << ", " << size;
                }
                const auto n = std::size_t(slice.own.shape.rows);
                const host_vector<V> b(n, V(1));
                host_vector<V> x(n, V(0));
                const auto o = by_method(krylov_method::cg);
                EXPECT_EQ(accepts([&] { (void)solve<V, cpu>(on, std::move(slice), b, x, o); }),
                          is_it)
                    << name << ", " << size;
            });
    }
}

template <class V>
host_vector<V> product_of(const csr<V, host>& A, const host_vector<V>& x) {
    host_vector<V> y(x.size());
    build(find_method<V>("csr.serial"), cpu{1}, view(A))->apply(V(1), x, V(0), y);
    return y;
}

TYPED_TEST(symmetry_of_values, is_kept_by_a_file_of_one_triangle) {
    using V = TypeParam;
    const scratch_folder folder;
    const auto path = folder.file("A.mtx");
    const auto A = laplace2d<V>(6, 5);
    for (const auto& more : {std::tuple{0, 9, V(0)}, {9, 0, V(0)}}) {
        const auto with_zero = with_entries<V>(A, {more});
        for (const symmetry s : {symmetry::symmetric, symmetry::hermitian}) {
            write(path, view(with_zero), {.store = s});
            EXPECT_FALSE(first_asymmetry(view(read<V>(path)), s)) << name_of(s);
            host_vector<V> x(30);
            for (std::size_t i = 0; i < 30; ++i) x[i] = V(real<V>(i));
            EXPECT_EQ(product_of(read<V>(path), x), product_of(A, x)) << name_of(s);
        }
    }
    // Values that rounding parts would be lost.
    const auto rounded =
        with_entries<V>(A, {{0, 1, V(real<V>(4 * std::numeric_limits<real<V>>::epsilon()))}});
    EXPECT_TRUE(is_symmetric(view(rounded)));
    EXPECT_THROW(write(path, view(rounded), {.store = symmetry::symmetric}), argument_error);
    // A zero on a skew-symmetric diagonal is no entry of its file.
    const csr<V, host> skew{{2, 2}, {0, 2, 3}, {0, 1, 0}, {V(0), V(3), V(-3)}};
    write(path, view(skew), {.store = symmetry::skew_symmetric});
    EXPECT_EQ(inspect(path).entries, 1);
    EXPECT_EQ(read<V>(path).val, (host_vector<V>{V(3), V(-3)}));
}

TYPED_TEST(symmetry_of_values, says_of_what_is_no_number_that_it_is_none) {
    using V = TypeParam;
    using limits = std::numeric_limits<real<V>>;
    for (const real<V> bad : {limits::quiet_NaN(), limits::infinity()}) {
        auto A = laplace2d<V>(6, 5);
        A.val[1] = A.val[std::size_t(A.row_ptr[1])] = V(bad);  // (0, 1) and (1, 0)
        const std::string said = std::string("A is not finite: row 0, column 1 has ") +
                                 (std::isnan(bad) ? "nan" : "inf");
        EXPECT_EQ(why_not_symmetric(view(A)).substr(0, said.size()), said);
        EXPECT_EQ(why_not_definite(view(A)).substr(0, said.size()), said);
        EXPECT_FALSE(is_symmetric(view(A)));
        on_ranks(3, [&](const communicator& ranks) {
            const auto slice = slice_of(ranks, view(A));
            EXPECT_EQ(why_not_symmetric(ranks, slice), why_not_symmetric(view(A)));
        });
    }
}

}  // namespace
}  // namespace nz::test
