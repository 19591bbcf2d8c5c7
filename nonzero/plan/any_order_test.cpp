// Input that users bring: rows whose columns stand in any order, columns twice in a row, and arrays
// that are no CSR. Every method multiplies the former rightly, and every entry refuses the latter.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "nonzero/core/gpu.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

/// A with the entries of every row in another order.
template <class V>
csr<V, host> shuffled(csr<V, host> A, unsigned seed) {
    std::mt19937_64 rng(seed);
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i) {
        const auto first = std::size_t(A.row_ptr[i]), last = std::size_t(A.row_ptr[i + 1]);
        for (std::size_t k = last; k > first + 1; --k) {
            const std::size_t other = first + rng() % (k - first);
            std::swap(A.col_ind[k - 1], A.col_ind[other]);
            std::swap(A.val[k - 1], A.val[other]);
        }
    }
    return A;
}

/// Every third column of A is the one before it.
template <class V>
csr<V, host> with_duplicates(csr<V, host> A) {
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        for (auto k = std::size_t(A.row_ptr[i]) + 1; k < std::size_t(A.row_ptr[i + 1]); k += 3)
            A.col_ind[k] = A.col_ind[k - 1];
    return A;
}

/// Every matrix of the zoo with the columns of its rows in disorder, with duplicates, and with
/// both.
template <class V>
std::vector<zoo_entry<V>> disordered() {
    std::vector<zoo_entry<V>> all;
    for (const auto& [name, bug, A] : zoo<V>()) {
        if (A.val.size() < 2) continue;
        all.push_back({name + ", in disorder", "", shuffled(A, 3)});
        all.push_back({name + ", with duplicates", "", with_duplicates(A)});
        all.push_back({name + ", both", "", shuffled(with_duplicates(A), 4)});
    }
    return all;
}

template <class V>
class any_order : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(any_order, value_types);

template <class V>
void expect_product(const linear_operator<V, cpu>& op, transposition how,
                    const csr<V, host_view>& A) {
    const bool swap = how != transposition::plain;
    const auto x = random_vector<V>(std::size_t(swap ? A.shape.rows : A.shape.cols), 1);
    const auto y0 = random_vector<V>(std::size_t(swap ? A.shape.cols : A.shape.rows), 2);
    const auto want = reference_product<V>(how, V(1), A, x, V(-2.5), y0);
    auto y = y0;
    op.apply_transposed(how, V(1), x, V(-2.5), y);
    EXPECT_TRUE(compare<V>(y, want).holds()) << "op " << int(how);
}
template <class V>
void expect_product(const linear_operator<V, gpu>& op, transposition how,
                    const csr<V, host_view>& A) {
    const bool swap = how != transposition::plain;
    const auto x = random_vector<V>(std::size_t(swap ? A.shape.rows : A.shape.cols), 1);
    const auto y0 = random_vector<V>(std::size_t(swap ? A.shape.cols : A.shape.rows), 2);
    const auto want = reference_product<V>(how, V(1), A, x, V(-2.5), y0);
    const auto on_device = to_device<V>(gpu{}, x);
    auto y = to_device<V>(gpu{}, y0);
    op.apply_transposed(how, V(1), on_device, V(-2.5), y);
    EXPECT_TRUE(compare<V>(to_host<V>(gpu{}, y), want).holds()) << "op " << int(how);
}

TYPED_TEST(any_order, every_method_multiplies_rightly) {
    using V = TypeParam;
    const bool has_gpu = why_no_gpu().empty();
    for (const auto& [name, bug, own] : disordered<V>()) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        for (const method<V>& m : methods<V>()) {
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "'");
            if (m.on_cpu != nullptr && m.cost(stats).declined.empty()) {
                const auto op = build(m, cpu{2}, A);
                expect_product<V>(*op, transposition::plain, A);
                expect_product<V>(*op, transposition::conjugate_transpose, A);
            }
            if (has_gpu && m.on_gpu != nullptr && m.cost_on_gpu(stats).declined.empty())
                expect_product<V>(*build(m, gpu{}, A), transposition::plain, A);
            if (this->HasFailure()) return;
        }
    }
}

TYPED_TEST(any_order, a_plan_is_built_and_takes_new_values_rightly) {
    using V = TypeParam;
    for (auto& [name, bug, own] : disordered<V>()) {
        for (const char* only : {"", "packed.warp", "csr.balanced"}) {
            SCOPED_TRACE(name + ", " + only);
            const plan_options o{
                .methods = *only == 0 ? std::vector<std::string>{} : std::vector<std::string>{only},
                .transposed = true};
            const auto p = make_plan(own, cpu{2}, o);
            auto op = build(p, own);
            expect_product<V>(*op, transposition::plain, view(own));
            expect_product<V>(*op, transposition::transpose, view(own));
            own.val = random_vector<V>(own.val.size(), 9);
            update_values(op, p, view(own));
            expect_product<V>(*op, transposition::plain, view(own));
            expect_product<V>(*op, transposition::transpose, view(own));
        }
        if (this->HasFailure()) return;
    }
}

TYPED_TEST(any_order, a_plan_on_the_gpu_from_either_side_too) {
    using V = TypeParam;
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (auto& [name, bug, own] : disordered<V>()) {
        SCOPED_TRACE(name);
        const plan_options o{.transposed = true};
        for (const bool from_device : {false, true}) {
            const auto p =
                from_device ? make_plan(upload(gpu{}, own), gpu{}, o) : make_plan(own, gpu{}, o);
            auto op = from_device ? build(p, upload(gpu{}, own)) : build(p, own);
            if (from_device) op = plan_and_build(view(upload(gpu{}, own)), gpu{}, o).op;
            expect_product<V>(*op, transposition::plain, view(own));
            expect_product<V>(*op, transposition::transpose, view(own));
            own.val = random_vector<V>(own.val.size(), 9);
            if (from_device) {
                update_values(op, p, view(upload(gpu{}, own)));
            } else {
                update_values(op, p, view(own));
            }
            expect_product<V>(*op, transposition::plain, view(own));
            expect_product<V>(*op, transposition::transpose, view(own));
        }
        if (this->HasFailure()) return;
    }
}

TEST(any_order, the_two_rows_of_the_report) {
    const csr<double, host> A{{2, 3}, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}};
    const plan_options packed{.methods = {"packed.warp"}};
    const auto op = build(make_plan(A, cpu{}, packed), A);
    const std::vector<double> x(3, 1);
    std::vector<double> y(2);
    op->apply(1, x, 0, y);
    EXPECT_EQ(y, (std::vector<double>{3, 3}));
}

TEST(any_order, the_copy_counts_as_setup_of_those_that_need_it) {
    const auto A = from_lengths<double>(std::vector<index>(2000, 9), 3000);
    const auto setup = [&](const csr<double, host>& M, const std::string& name) {
        return make_plan(M, cpu{1}, {.methods = {name}}).chosen().setup_s();
    };
    EXPECT_GT(setup(shuffled(A, 1), "sell.chunk"), setup(A, "sell.chunk"));
    EXPECT_EQ(setup(shuffled(A, 1), "csr.serial"), setup(A, "csr.serial"));
}

void expect_same_canonical_copy(const csr<float, host>& A, const std::string& name) {
    const auto on_cpu = canonical(view(A));
    const auto on_gpu = download(gpu{}, canonical(gpu{}, view(upload(gpu{}, A))));
    EXPECT_EQ(on_cpu.arrays(on_cpu), on_gpu.arrays(on_gpu)) << name;
}

// In two tests, as the small ones are what compute-sanitizer has the time for.
constexpr std::size_t small = 4096;  // entries

TEST(any_order, small_canonical_copies_are_the_same_on_the_gpu_bit_for_bit) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (const auto& [name, bug, A] : disordered<float>())
        if (A.val.size() <= small) expect_same_canonical_copy(A, name);
}

TEST(any_order, large_canonical_copies_are_the_same_on_the_gpu_bit_for_bit) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (const auto& [name, bug, A] : disordered<float>())
        if (A.val.size() > small) expect_same_canonical_copy(A, name);
}

/// Arrays that are no CSR: 3 x 4 with 5 entries but for one mistake each.
struct mistake {
    std::string name;
    csr<double, host> A;
};
std::vector<mistake> mistakes() {
    const auto with_ptr = [](std::initializer_list<offset> p) {
        return csr<double, host>{{3, 4}, p, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}};
    };
    const auto with_col = [](std::initializer_list<index> c) {
        return csr<double, host>{{3, 4}, {0, 2, 3, 5}, c, {1, 2, 3, 4, 5}};
    };
    return {{"row_ptr decreases", with_ptr({0, 3, 2, 5})},
            {"row_ptr is negative", with_ptr({0, -1, 3, 5})},
            {"row_ptr does not start at 0", with_ptr({1, 2, 3, 5})},
            {"row_ptr ends early", with_ptr({0, 2, 3, 4})},
            {"row_ptr ends late", with_ptr({0, 2, 3, 6})},
            {"row_ptr leads far away", with_ptr({0, 1000000000000, 3, 5})},
            {"row_ptr is too short", with_ptr({0, 2, 5})},
            {"row_ptr is too long", with_ptr({0, 2, 3, 5, 5})},
            {"row_ptr is empty", with_ptr({})},
            {"a column is negative", with_col({0, 2, -1, 0, 3})},
            {"a column is just outside", with_col({0, 2, 1, 0, 4})},
            {"a column is far outside", with_col({0, 2, 2147483647, 0, 3})},
            {"fewer columns than values", with_col({0, 2, 1, 0})},
            {"more columns than values", with_col({0, 2, 1, 0, 3, 3})},
            {"negative rows", {{-3, 4}, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}}},
            {"negative columns", {{3, -4}, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}}},
            {"no columns", {{3, 0}, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}}},
            {"entries without rows", {{0, 4}, {0}, {0, 2}, {1, 2}}}};
}

/// A function that takes a CSR.
struct entry {
    std::string name;
    std::function<void(const csr<double, host>&)> call;
};
std::vector<entry> entries() {
    const std::string path = ::testing::TempDir() + "no_csr";
    const csr<double, host> good{{3, 4}, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}};
    std::vector<entry> all = {
        {"make_plan", [](const auto& A) { (void)make_plan(A, cpu{}); }},
        {"make_plan, tuned",
         [](const auto& A) { (void)make_plan(A, cpu{}, {.tune = true, .tune_s = 1e-3}); }},
        {"make_plan, transposed",
         [](const auto& A) { (void)make_plan(A, cpu{}, {.transposed = true}); }},
        {"build", [=](const auto& A) { (void)build(make_plan(good, cpu{}), A); }},
        {"compute_stats", [](const auto& A) { (void)compute_stats(view(A)); }},
        {"validate", [](const auto& A) { validate(view(A), false); }},
        {"canonical", [](const auto& A) { (void)canonical(view(A)); }},
        {"transpose", [](const auto& A) { (void)transpose(view(A)); }},
        {"write mtx", [=](const auto& A) { write(path + ".mtx", view(A)); }},
        {"write npz", [=](const auto& A) { write(path + ".npz", view(A)); }},
    };
    for (const method<double>& m : methods<double>())
        if (m.on_cpu != nullptr)
            all.push_back(
                {std::string(m.name), [&m](const auto& A) { (void)build(m, cpu{}, view(A)); }});
    return all;
}

TEST(no_csr, is_refused_by_every_entry) {
    for (const entry& e : entries())
        for (const mistake& m : mistakes())
            EXPECT_THROW(e.call(m.A), argument_error) << e.name << ": " << m.name;
}

TEST(no_csr, is_refused_on_the_gpu_by_every_entry) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    const csr<double, host> good{{3, 4}, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, 2, 3, 4, 5}};
    const auto on_device = upload(gpu{}, good);
    const matrix_stats stats = compute_stats(view(good));
    for (const mistake& m : mistakes()) {
        if (m.name == "row_ptr is empty") continue;  // nothing to upload
        SCOPED_TRACE(m.name);
        const auto A = upload(gpu{}, m.A);
        EXPECT_THROW((void)order_of(gpu{}, view(A)), argument_error);
        EXPECT_THROW((void)compute_stats(gpu{}, view(A)), argument_error);
        EXPECT_THROW((void)make_plan(A, gpu{}), argument_error);
        EXPECT_THROW((void)make_plan(A, gpu{}, {.transposed = true}), argument_error);
        EXPECT_THROW((void)plan_and_build(view(A), gpu{}), argument_error);
        EXPECT_THROW((void)transpose(gpu{}, view(A)), argument_error);
        EXPECT_THROW((void)canonical(gpu{}, view(A)), argument_error);
        EXPECT_THROW((void)make_plan(m.A, gpu{}), argument_error);
        for (const method<double>& by : methods<double>()) {
            if (by.on_gpu == nullptr) continue;
            const plan_options only{.deterministic = false, .methods = {std::string(by.name)}};
            if (by.from_device != nullptr) {
                EXPECT_THROW((void)build(by, gpu{}, view(A)), argument_error) << by.name;
            }
            // One that declines so small a matrix has no plan.
            if (by.from_device != nullptr && by.cost_on_gpu(stats).declined.empty()) {
                const auto p = make_plan(on_device, gpu{}, only);
                auto op = build(p, on_device);
                EXPECT_THROW((void)build(p, A), argument_error) << by.name;
            }
            EXPECT_THROW((void)build(by, gpu{}, view(m.A)), argument_error) << by.name;
        }
    }
}

}  // namespace
}  // namespace nz::test
