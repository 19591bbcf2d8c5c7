// Products with several vectors at once: every method, on the CPU and on a GPU, against the oracle,
// vector by vector. What a method has no kernel for, it does vector by vector.
#include <gtest/gtest.h>

#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

using enum storage_order;

/// How many vectors lie, and how far apart their lines beyond the least distance.
struct arrangement {
    index count;
    storage_order x, y;
    std::size_t gap = 1;
};

/// Every number of vectors at which a kernel changes its way, in every pair of orders.
constexpr arrangement arrangements[] = {
    {0, column_major, column_major},  {1, column_major, column_major},
    {2, column_major, column_major},  {3, column_major, row_major},
    {8, column_major, column_major},  {9, column_major, row_major},
    {17, column_major, column_major}, {64, column_major, column_major},
    {0, row_major, row_major},        {1, row_major, row_major},
    {1, row_major, column_major, 0},  {2, row_major, row_major, 0},
    {3, row_major, column_major},     {7, row_major, row_major},
    {8, row_major, row_major, 0},     {16, row_major, column_major, 4},
    {31, row_major, row_major},       {32, row_major, row_major, 4},
    {33, row_major, row_major, 0},    {64, row_major, column_major, 0},
    {100, row_major, row_major, 0},   {260, row_major, row_major, 0},
};

/// Vectors at a stride beyond the least, and what each must become.
template <class V>
struct many_case {
    arrangement how;
    std::size_t x_stride, y_stride;
    V alpha, beta;
    host_vector<V> X, Y;  ///< NaN in the gaps, in X where alpha and in Y where beta is 0
    std::vector<reference> want;

    [[nodiscard]] std::size_t x_at(std::size_t i, std::size_t c) const {
        return how.x == row_major ? i * x_stride + c : c * x_stride + i;
    }
    [[nodiscard]] std::size_t y_at(std::size_t i, std::size_t c) const {
        return how.y == row_major ? i * y_stride + c : c * y_stride + i;
    }
};

template <class V>
many_case<V> make_case(const csr<V, host_view>& A, arrangement how, V alpha, V beta) {
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    const auto count = std::size_t(how.count);
    const auto lines = [&](storage_order o, std::size_t len) {
        return o == row_major ? std::pair(len, count) : std::pair(count, len);
    };
    const auto [x_lines, x_line] = lines(how.x, cols);
    const auto [y_lines, y_line] = lines(how.y, rows);
    many_case<V> c{how, x_line + how.gap, y_line + how.gap, alpha, beta, {}, {}, {}};
    c.X.assign(x_lines * c.x_stride, not_a_number<V>());
    c.Y.assign(y_lines * c.y_stride, not_a_number<V>());
    for (std::size_t k = 0; k < count; ++k) {
        const auto x = random_vector<V>(cols, 100 + unsigned(k));
        const auto y = random_vector<V>(rows, 900 + unsigned(k));
        for (std::size_t i = 0; i < cols && alpha != V(0); ++i) c.X[c.x_at(i, k)] = x[i];
        for (std::size_t i = 0; i < rows && beta != V(0); ++i) c.Y[c.y_at(i, k)] = y[i];
        c.want.push_back(reference_product<V>(transposition::plain, alpha, A, x, beta, y));
    }
    return c;
}

template <class V>
std::vector<many_case<V>> many_cases(const csr<V, host_view>& A) {
    std::vector<many_case<V>> cases;
    // The oracle takes long for many vectors, of which kernels only take more of the same.
    const index most = A.val.size() < 300 ? 300 : A.val.size() < 3000 ? 64 : 17;
    bool adds = false;
    for (const arrangement& how : arrangements) {
        if (how.count > most || (is_complex<V> && how.count > 9)) continue;
        adds = !adds;
        cases.push_back(make_case<V>(A, how, adds ? V(-2.5) : V(1), adds ? V(0.5) : V(0)));
    }
    cases.push_back(make_case<V>(A, {9, column_major, column_major}, V(-2.5), V(1)));
    cases.push_back(make_case<V>(A, {9, row_major, row_major}, V(0), V(-2)));
    return cases;
}
/// For those that multiply vector by vector, as all but packed.warp do.
template <class V>
std::vector<many_case<V>> few_cases(const csr<V, host_view>& A) {
    std::vector<many_case<V>> cases;
    cases.push_back(make_case<V>(A, {3, column_major, column_major, 3}, V(-2.5), V(0.5)));
    cases.push_back(make_case<V>(A, {2, column_major, column_major}, V(0), V(0)));
    return cases;
}
/// Row-major ones, which are copied for all of them alike: for the methods over CSR.
template <class V>
std::vector<many_case<V>> copied_cases(const csr<V, host_view>& A) {
    std::vector<many_case<V>> cases = few_cases<V>(A);
    cases.push_back(make_case<V>(A, {3, row_major, row_major}, V(-2.5), V(0.5)));
    cases.push_back(make_case<V>(A, {2, row_major, column_major}, V(1), V(0)));
    cases.push_back(make_case<V>(A, {2, column_major, row_major}, V(1), V(0)));
    return cases;
}

template <class V>
host_vector<V> multiply(const linear_operator<V, cpu>& op, const many_case<V>& c) {
    host_vector<V> Y = c.Y;
    op.apply_many(c.alpha, {c.X, c.x_stride, c.how.count, c.how.x}, c.beta,
                  {Y, c.y_stride, c.how.count, c.how.y});
    return Y;
}
template <class V>
host_vector<V> multiply(const linear_operator<V, gpu>& op, const many_case<V>& c) {
    const gpu on{};
    const auto X = to_device<V>(on, c.X);
    auto Y = to_device<V>(on, c.Y);
    op.apply_many(c.alpha, {X, c.x_stride, c.how.count, c.how.x}, c.beta,
                  {Y, c.y_stride, c.how.count, c.how.y});
    return to_host<V>(on, Y);
}

template <class V, class B>
void check(const linear_operator<V, B>& op, const many_case<V>& c) {
    const auto rows = std::size_t(op.shape().rows);
    host_vector<V> Y = multiply(op, c), gaps = c.Y;
    EXPECT_TRUE(same_bits<V>(Y, multiply(op, c))) << "another result at the second time";
    for (std::size_t k = 0; k < std::size_t(c.how.count); ++k) {
        host_vector<V> y(rows);
        for (std::size_t i = 0; i < rows; ++i)
            y[i] = std::exchange(Y[c.y_at(i, k)], V(0)), gaps[c.y_at(i, k)] = V(0);
        EXPECT_TRUE(compare<V>(y, c.want[k]).holds())
            << "vector " << k << " of " << c.how.count << ", x by rows " << (c.how.x == row_major)
            << ", y by rows " << (c.how.y == row_major) << ", alpha " << c.alpha << ", beta "
            << c.beta;
    }
    EXPECT_TRUE(same_bits<V>(Y, gaps)) << "wrote between the vectors";
}

template <class V>
class many_vectors : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(many_vectors, value_types);

TYPED_TEST(many_vectors, are_right_by_every_method_on_every_matrix) {
    using V = TypeParam;
    for (const auto& [name, bug, own] : zoo<V>()) {
        if (own.val.size() > 100000) continue;  // the oracle would take minutes
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto many = many_cases<V>(A), few = few_cases<V>(A), copied = copied_cases<V>(A);
        for (const method<V>& m : methods<V>()) {
            const auto& cases = m.name == "packed.warp" ? many : m.layout() == "csr" ? copied : few;
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "'");
            if (m.on_cpu != nullptr && m.cost(stats).declined.empty()) {
                const auto op = build(m, cpu{2}, A);
                for (const auto& c : cases) check<V, cpu>(*op, c);
            }
            if (m.on_gpu != nullptr && why_no_gpu().empty() && m.deterministic &&
                m.cost_on_gpu(stats).declined.empty()) {
                const auto op = build(m, gpu{}, A);
                for (const auto& c : cases) check<V, gpu>(*op, c);
            }
            if (this->HasFailure()) return;
        }
    }
}

/// Rows beyond every cut: parts of a row within one GPU block, and over several of them.
TYPED_TEST(many_vectors, are_right_where_rows_are_cut) {
    using V = TypeParam;
    const auto own = from_lengths<V>({5, 70000, 600, 0, 4000, 9000, 7}, 70001);
    const auto A = view(own);
    const method<V>& m = find_method<V>("packed.warp");
    for (const arrangement how : {arrangement{2, column_major, column_major},
                                  {11, column_major, column_major},
                                  {8, row_major, row_major, 0},
                                  {33, row_major, column_major}}) {
        const auto c = make_case<V>(A, how, V(2), V(-1));
        check<V, cpu>(*build(m, cpu{2}, A), c);
        if (m.on_gpu == nullptr || !why_no_gpu().empty()) continue;
        const auto op = build(m, gpu{}, A);
        check<V, gpu>(*op, c);
        // The counters are as they were.
        const auto one = make_case<V>(A, {1, column_major, column_major}, V(1), V(0));
        check<V, gpu>(*op, one);
        check<V, gpu>(*op, c);
    }
}

/// packed.warp of A on the CPU and, where there is one, on a GPU.
template <class V>
void check_packed(const csr<V, host_view>& A, std::initializer_list<arrangement> all) {
    const method<V>& m = find_method<V>("packed.warp");
    for (const arrangement how : all) {
        const auto c = make_case<V>(A, how, V(2), V(-1));
        check<V, cpu>(*build(m, cpu{2}, A), c);
        if (m.on_gpu == nullptr || !why_no_gpu().empty()) continue;
        check<V, gpu>(*build(m, gpu{}, A), c);
    }
}

/// As many rows as let a GPU's groups of lanes take four places each.
template <class V>
void check_many_rows() {
    for (const csr<V, host>& A : {laplace2d<V>(130, 130), random<V>(17000, 300, 40, 7)})
        check_packed<V>(view(A), {{64, row_major, row_major, 0},
                                  {35, row_major, row_major},
                                  {20, column_major, column_major}});
}
// Complex values are multiplied vector by vector on a GPU.
TEST(many_vectors, are_right_where_rows_are_many) { check_many_rows<double>(); }
TEST(many_vectors, of_floats_are_right_where_rows_are_many) { check_many_rows<float>(); }

/// Diagonals of two values each, so that a chunk has twice as many as its rows have entries.
template <class V>
csr<V, host> two_values_a_diagonal(index rows, index diagonals) {
    auto A = from_rule<V>(rows, rows, [&](index i, index j, double) {
        return j - i >= 0 && j - i < 2 * diagonals && (j - i) % 2 == 0;
    });
    const std::span<V> val = A.val;
    std::size_t k = 0;
    for_each_entry(view(A), 0, rows, [&](index i, index, V) { val[k++] = V(i % 2 == 0 ? 2 : 3); });
    return A;
}

/// Chunks that a GPU's block decodes for many vectors: at once, and by parts of their width; rows
/// of a group, rows that groups share, and long rows beside them.
template <class V>
void check_staged_chunks() {
    std::vector<index> lengths(1500);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = index(i * 7 % 20);
    lengths[3] = lengths[700] = 1800, lengths[701] = 6000;
    const csr<V, host> matrices[] = {
        from_lengths<V>(lengths, 6001), from_lengths<V>(std::vector<index>(300, 33), 500),
        from_lengths<V>(std::vector<index>(300, 90), 500), two_values_a_diagonal<V>(600, 9),
        two_values_a_diagonal<V>(600, 32)};
    constexpr index wide = 1024 / sizeof(V);
    for (const csr<V, host>& A : matrices)
        check_packed<V>(view(A), {{wide / 4, row_major, row_major, 4},
                                  {wide / 2 + 4, row_major, row_major, 0},
                                  {wide + 8, row_major, row_major, 0}});
}
TEST(many_vectors, are_right_where_chunks_are_staged) { check_staged_chunks<double>(); }
TEST(many_vectors, of_floats_are_right_where_chunks_are_staged) { check_staged_chunks<float>(); }

/// Relaxations of small whole numbers, which are exact, by the operator and entry by entry.
template <class V>
void check_relaxation(const csr<V, host_view>& A, index count,
                      const typename linear_operator<V, cpu>::relaxation& how) {
    const gpu on{};
    const auto rows = std::size_t(A.shape.rows), len = rows * std::size_t(count);
    host_vector<V> X(len), Y(len), b(len), w(how.w.size() > 0 ? rows : 0);
    for (std::size_t k = 0; k < len; ++k)
        X[k] = V(k % 7) - 3, Y[k] = V(k % 5) - 2, b[k] = V(k % 11) - 5;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = V(1 + i % 3);
    host_vector<V> want(len);
    for (std::size_t k = 0; k < len; ++k) {
        const std::size_t i = k / std::size_t(count), c = k % std::size_t(count);
        V r = b[k];
        for (auto e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
            r -= A.val[std::size_t(e)] *
                 X[std::size_t(A.col_ind[std::size_t(e)]) * std::size_t(count) + c];
        want[k] = how.keep * X[k] - how.momentum * Y[k] + how.step * (w.empty() ? 1 : w[i]) * r;
    }
    const auto op = build(find_method<V>("packed.warp"), on, A);
    const auto x = to_device<V>(on, X), there = to_device<V>(on, b), W = to_device<V>(on, w);
    auto y = to_device<V>(on, Y);
    const typename linear_operator<V, gpu>::relaxation by{how.keep, how.momentum, how.step, W,
                                                          there};
    ASSERT_TRUE(op->relax_many(by, count, x, y));
    EXPECT_TRUE(same_bits<V>(to_host<V>(on, y), want));
    EXPECT_THROW((void)op->relax_many(by, count + 4, x, y), argument_error);
}
template <class V>
void check_relaxations() {
    csr<V, host> matrices[] = {from_lengths<V>(std::vector<index>(300, 3), 300),
                               from_lengths<V>(std::vector<index>(300, 33), 300),
                               two_values_a_diagonal<V>(300, 9), two_values_a_diagonal<V>(300, 32)};
    for (csr<V, host>* A : {matrices, matrices + 1})
        for (std::size_t k = 0; k < A->val.size(); ++k) A->val[k] = V(k % 9) - 4;
    for (const csr<V, host>& A : matrices) {
        constexpr index wide = 256 / sizeof(V);
        const host_vector<V> some(1);  // of any length: W is made for the matrix
        check_relaxation<V>(view(A), wide, {V(1.5), V(0.5), V(2), some, {}});
        check_relaxation<V>(view(A), wide + 4, {0, 0, 1, {}, {}});
        check_relaxation<V>(view(A), 8 * wide + 4, {1, 0, V(0.5), some, {}});
    }
    const auto few = from_lengths<V>(std::vector<index>(300, 3), 300);
    const gpu on{};
    const auto x = to_device<V>(on, host_vector<V>(900)), b = to_device<V>(on, host_vector<V>(900));
    auto y = to_device<V>(on, host_vector<V>(900));
    const auto op = build(find_method<V>("packed.warp"), on, view(few));
    EXPECT_FALSE(op->relax_many({1, 1, 1, {}, b}, 3, x, y));  // too few for its kernel
}
TEST(many_vectors, refuse_a_relaxation_of_wrong_arrays) {
    const auto A = laplace2d<double>(3, 2);
    const auto op = build(find_method<double>("csr.balanced"), cpu{2}, view(A));
    host_vector<double> x(12, 1.0), b(12, 2.0), y(12, 7.0), w(6, 1.0);
    const auto relaxes = [&](std::span<const double> W, std::span<const double> rhs, index count,
                             std::span<const double> X, std::span<double> Y) {
        return op->relax_many({1, 1, 1, W, rhs}, count, X, Y);
    };
    EXPECT_FALSE(relaxes(w, b, 2, x, y));  // no method has a kernel for it on a CPU
    EXPECT_EQ(y, host_vector<double>(12, 7.0));
    EXPECT_TRUE(relaxes({}, {}, 0, {}, {}));
    EXPECT_THROW((void)relaxes(w, b, 3, x, y), argument_error);
    EXPECT_THROW((void)relaxes(w, b, -1, x, y), argument_error);
    EXPECT_THROW((void)relaxes(std::span(w).first(5), b, 2, x, y), argument_error);
    EXPECT_THROW((void)relaxes(w, std::span(b).first(11), 2, x, y), argument_error);
    EXPECT_THROW((void)relaxes(w, b, 2, y, y), argument_error);
    EXPECT_THROW((void)relaxes(w, y, 2, x, y), argument_error);
    const auto oblong = from_lengths<double>({1, 2}, 3);
    EXPECT_THROW((void)build(find_method<double>("csr.balanced"), cpu{2}, view(oblong))
                     ->relax_many({1, 1, 1, {}, b}, 2, x, y),
                 argument_error);
}
TEST(many_vectors_on_a_gpu, are_relaxed_in_one_pass) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    check_relaxations<double>();
    check_relaxations<float>();
}

/// Few products over every kind of chunk that small matrices have, for a sanitizer on a GPU.
TEST(many_vectors_on_a_gpu, stay_within_their_arrays) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    using V = double;
    std::vector<index> short_and_long(200, 3);
    short_and_long[50] = 2000;
    const csr<V, host> matrices[] = {
        from_lengths<V>({5, 3000, 300, 0, 7}, 3001), from_lengths<V>(short_and_long, 3001),
        two_values_a_diagonal<V>(70, 32), from_lengths<V>({1, 9, 2, 30, 0, 4, 1, 1, 17, 3}, 40),
        from_rule<V>(70, 70,
                     [](index i, index j, double) { return j == i || j == i + 1 || j == i - 3; })};
    for (const csr<V, host>& own : matrices) {
        const auto A = view(own);
        const auto op = build(find_method<V>("packed.warp"), gpu{}, A);
        for (const arrangement how : {arrangement{3, row_major, column_major},
                                      {8, row_major, row_major, 0},
                                      {8, column_major, column_major},
                                      {33, row_major, row_major, 0},
                                      {36, row_major, row_major, 0},
                                      {132, row_major, row_major, 0}})
            check<V, gpu>(*op, make_case<V>(A, how, V(2), V(-1)));
    }
}

TEST(many_vectors, refuse_what_makes_no_sense) {
    const csr<double, host> A{{2, 3}, {0, 1, 2}, {0, 2}, {1, 2}};
    const auto op = build(find_method<double>("csr.serial"), cpu{1}, view(A));
    host_vector<double> X(6, 1), Y(4), both(20);
    using std::span;
    EXPECT_NO_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 2, 2}));
    EXPECT_THROW(op->apply_many(1, {X, 3, 1}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 2, 2}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 1, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 4, 2}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 3, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, -1}, 0, {Y, 2, -1}), argument_error);
    // Strides whose product with the number of vectors wraps around 64 bits, to 0 or to few.
    constexpr std::size_t half = std::size_t(1) << 63, third = std::size_t(-1) / 3 + 1;
    EXPECT_THROW(op->apply_many(1, {X, half, 3}, 0, {Y, 2, 3}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 3}, 0, {Y, half, 3}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, third, 4}, 0, {Y, third, 4}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, std::size_t(-1), 2}, 0, {Y, std::size_t(-1), 2}),
                 argument_error);
    EXPECT_THROW(op->apply_many(0, {X, half, 3}, 0, {Y, half, 3}), argument_error);
    EXPECT_NO_THROW(op->apply_many(1, {X, half, 1}, 0, {Y, half, 1}));  // no stride is taken
    // By rows: a row has as many elements as there are vectors.
    EXPECT_NO_THROW(op->apply_many(1, {X, 2, 2, row_major}, 0, {Y, 2, 2, row_major}));
    EXPECT_NO_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 2, 2, row_major}));
    EXPECT_THROW(op->apply_many(1, {X, 1, 2, row_major}, 0, {Y, 2, 2, row_major}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 2, row_major}, 0, {Y, 2, 2, row_major}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 2, 2, row_major}, 0, {Y, 3, 2, row_major}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, half, 2, row_major}, 0, {Y, 2, 2, row_major}),
                 argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 0, 1, row_major}, 0, {Y, 1, 1, row_major}), argument_error);
    // In the gaps between X's vectors too: a kernel may keep several of X while it writes Y.
    EXPECT_THROW(
        op->apply_many(1, {span(both).first(13), 10, 2}, 0, {span(both).subspan(3, 4), 2, 2}),
        argument_error);
    EXPECT_THROW(
        op->apply_many(1, {span(both).first(6), 3, 2}, 0, {span(both).subspan(5, 4), 2, 2}),
        argument_error);
}

}  // namespace
}  // namespace nz::test
