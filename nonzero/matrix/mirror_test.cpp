// The first entry that is not what faces it, against a search of every pair.
#include "nonzero/matrix/mirror.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <map>

#include "nonzero/core/format.hpp"
#include "nonzero/gen/counter.hpp"

namespace nz {
namespace {

using C = std::complex<double>;
using place = std::pair<index, index>;
template <class V>
using entries = std::map<place, V>;  // by rows

template <class V>
csr<V, host> matrix_of(index n, const entries<V>& all) {
    std::vector<offset> ptr(std::size_t(n) + 1, 0);
    csr<V, host> A{{n, n}, {}, {}, {}};
    for (const auto& [at, v] : all) {
        ++ptr[std::size_t(at.first) + 1];
        A.col_ind.push_back(at.second), A.val.push_back(v);
    }
    for (std::size_t i = 0; i < std::size_t(n); ++i) ptr[i + 1] += ptr[i];
    A.row_ptr = offset_vector(ptr);
    return A;
}

/// Pairs at random places, equal up to the conjugate, and a diagonal.
template <class V>
entries<V> mirrored_entries(index n, std::uint64_t seed) {
    const counter random(seed, 0);
    entries<V> all;
    for (index i = 0; i < n; ++i) {
        all[{i, i}] = V(4);
        for (std::uint64_t k = 0; k < 3; ++k) {
            const auto at = std::uint64_t(i) * 8 + k;
            const auto j = index(random.uniform(at) * double(n));
            if (j == i) continue;
            V v(random.uniform(at + 4) - 0.5);
            if constexpr (is_complex<V>) v += V(0, random.uniform(at + 5));
            all[{i, j}] = v, all[{j, i}] = mirrored(self_adjoint<V>, v);
        }
    }
    return all;
}

template <class V>
std::optional<place> expected(const entries<V>& all, symmetry s) {
    for (const auto& [at, v] : all) {
        const auto across = all.find({at.second, at.first});
        if (!mirror_each_other(s, v, across == all.end() ? V(0) : across->second, 0.0)) return at;
    }
    return std::nullopt;
}

template <class V>
void expect_found(const char* what, index n, const entries<V>& all, symmetry s) {
    SCOPED_TRACE(testing::Message() << what << " of " << n);
    const auto A = matrix_of(n, all);
    const auto found = first_asymmetry(ascending<V>::known(view(A)), s, 0);
    const auto at = expected(all, s);
    ASSERT_EQ(found.has_value(), at.has_value());
    if (found) {
        EXPECT_EQ(place(found->row, found->col), *at);
    }
}

template <class V>
void expect_faults_found(index n) {
    const auto whole = mirrored_entries<V>(n, 3);
    expect_found("as it is", n, whole, self_adjoint<V>);
    const counter random(5, 0);
    for (std::uint64_t turn = 0; turn < 12; ++turn) {
        const auto any = [&](entries<V>& of) {
            return std::next(of.begin(), std::ptrdiff_t(random.uniform(turn) * double(of.size())));
        };
        auto changed = whole;
        any(changed)->second += V(1) / V(3);
        expect_found("a value", n, changed, self_adjoint<V>);
        auto missing = whole;
        missing.erase(any(missing));
        expect_found("a missing entry", n, missing, self_adjoint<V>);
        auto more = missing;  // as many before the diagonal as behind it
        if (n > 2) more[{n - 1, 0}] = V(7), more[{0, n - 1}] = V(8);
        expect_found("one missing, one other", n, more, self_adjoint<V>);
        auto zero = whole;
        const auto [i, j] = any(zero)->first;
        zero.erase({j, i}), zero[{i, j}] = V(0);
        expect_found("a zero on one side", n, zero, self_adjoint<V>);
    }
}

TEST(first_asymmetry, is_what_a_search_of_all_pairs_finds) {
    for (const index n : {1, 2, 3, 30, 4000}) {
        expect_faults_found<double>(n);
        expect_faults_found<C>(n);
    }
}

TEST(first_asymmetry, tells_the_kinds_apart) {
    entries<double> skew{{{0, 1}, 2.0}, {{1, 0}, -2.0}, {{1, 2}, -1.0}, {{2, 1}, 1.0}};
    expect_found("skew", 3, skew, symmetry::skew_symmetric);
    expect_found("skew, held to be symmetric", 3, skew, symmetry::symmetric);
    skew[{1, 1}] = 1.0;
    expect_found("skew but for its diagonal", 3, skew, symmetry::skew_symmetric);
    const entries<C> hermitian{{{0, 0}, C(1, 0)}, {{0, 1}, C(1, 2)}, {{1, 0}, C(1, -2)}};
    expect_found("hermitian", 2, hermitian, symmetry::hermitian);
    expect_found("hermitian, held to be symmetric", 2, hermitian, symmetry::symmetric);
    entries<C> imaginary = hermitian;
    imaginary[{0, 0}] = C(1, 1);
    expect_found("an imaginary diagonal", 2, imaginary, symmetry::hermitian);
}

}  // namespace
}  // namespace nz
