// One product of a small matrix by the C interface, beside the same product in C++: 10 rows of
// three entries, one row, and 100.
//   c_bench
// One JSON object on standard output. Needs a build with NDEBUG for what users have: without, the C
// interface looks every handle up in the list of those that live.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "c/nonzero.h"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero_commit.hpp"

namespace {

using json = nlohmann::json;

#if defined(NDEBUG)
constexpr bool is_release = true;
#else
constexpr bool is_release = false;
#endif

/// -1, 2, -1.
nz::csr<double, nz::host> tridiagonal(nz::index rows) {
    std::vector<nz::index> row, col;
    std::vector<double> val;
    for (nz::index i = 0; i < rows; ++i)
        for (nz::index j = std::max(i - 1, 0); j < std::min(i + 2, rows); ++j)
            row.push_back(i), col.push_back(j), val.push_back(i == j ? 2 : -1);
    return nz::assemble<double>({rows, rows}, row, col, val);
}

void expect(int status) {
    if (status != NZ_OK) throw nz::error(nz_last_error());
}

/// The C interface's operator of A, by that method alone.
nz_operator* c_operator(const nz::csr<double, nz::host>& A, const std::string& method) {
    nz_matrix* matrix = nullptr;
    nz_operator* op = nullptr;
    const std::vector<std::int32_t> row_ptr = [&] {
        std::vector<std::int32_t> p;
        for (std::size_t i = 0; i < A.row_ptr.size(); ++i) p.push_back(std::int32_t(A.row_ptr[i]));
        return p;
    }();
    expect(nz_matrix_wrap(NZ_DOUBLE, A.shape.rows, A.shape.cols, std::int64_t(A.val.size()),
                          NZ_INT32, row_ptr.data(), A.col_ind.data(), A.val.data(), NZ_BORROW,
                          NZ_CPU, nullptr, &matrix));
    expect(nz_plan(matrix, NZ_CPU, nullptr, ("methods=" + method).c_str(), &op));
    expect(nz_matrix_destroy(matrix));
    return op;
}

json run(nz::index rows) {
    const auto A = tridiagonal(rows);
    const auto plan = nz::make_plan(A, nz::cpu{});
    const auto op = nz::build(plan, A);
    nz_operator* const c_op = c_operator(A, plan.chosen().method);
    const std::vector<double> x(std::size_t(rows), 1);
    std::vector<double> y(x.size()), c_y(x.size());
    const double one = 1, zero = 0;
    const std::function<void()> work[] = {
        [&] { op->apply(1, x, 0, y); },
        [&] {
            expect(
                nz_apply(c_op, NZ_PLAIN, NZ_DOUBLE, &one, x.data(), rows, &zero, c_y.data(), rows));
        }};
    const auto times = nz::time_interleaved(work, {.seconds = 3});
    if (y != c_y) throw nz::error("the products differ");
    expect(nz_operator_destroy(c_op));
    // The least of all blocks, as everything that disturbs them only adds.
    return {{"rows", rows},
            {"method", plan.chosen().method},
            {"cpp_s", times[0].min_s},
            {"c_s", times[1].min_s},
            {"overhead_s", times[1].min_s - times[0].min_s},
            {"cpp_median_s", times[0].median_s},
            {"c_median_s", times[1].median_s}};
}

}  // namespace

int main() try {
    json all{{"commit", nz::built_commit},
             {"dirty", nz::built_dirty},
             {"release", is_release},
             {"cpu", nz::describe_machine().cpu},
             {"products", json::array()}};
    for (const nz::index rows : {1, 10, 100}) all["products"].push_back(run(rows));
    fmt::print("{}\n", all.dump(1));
} catch (const nz::error& e) {
    fmt::print(stderr, "c_bench: {}\n", e.what());
    return 3;
}
