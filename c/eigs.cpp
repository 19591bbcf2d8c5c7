// Eigenpairs.
#include "nonzero/solve/eigs/eigs.hpp"

#include "c/handles.hpp"
#include "c/options.hpp"
#include "c/report.hpp"

namespace nz::c {
namespace {

struct searching : eigs_options {
    int threads = 0;
};
constexpr std::string_view end_names[] = {"smallest", "largest", "magnitude", "both"};
constexpr key<searching> eigs_keys[] = {
    plain<&searching::threads, searching>("threads"),
    named<&searching::which, end_names, searching>("which"),
    plain<&searching::tol, searching>("tol"),
    plain<&searching::max_products, searching>("max-products"),
    plain<&searching::basis, searching>("basis"),
};

/// Where the eigenpairs go.
struct pairs {
    std::span<double> values;
    void* vectors;
    std::int64_t vectors_length;
    std::int32_t* found;
};

template <class V, class B>
int search(const typed_operator<V, B>& A, const nz_operator* M, const pairs& to, const searching& o,
           nz_report* report) {
    if constexpr (is_complex<V>) {
        throw unavailable("nz_eigs: eigenpairs are of real matrices");
    } else {
        const linear_operator<V, B>& op = built_of(A);
        const auto* const inverse = M == nullptr ? nullptr : &operator_in<V, B>(*M, "M");
        const auto vectors = output<V, cpu>(to.vectors, to.vectors_length, "vectors");
        const auto wanted = std::size_t(op.shape().rows) * to.values.size();
        if (!vectors.empty() && vectors.size() != wanted)
            throw argument_error(
                fmt::format("vectors has {} elements, expected {}", vectors.size(), wanted));
        B on = A.on;
        if constexpr (std::is_same_v<B, cpu>) on.threads = o.threads;
        const thread_limit limit(cpu{.threads = o.threads});
        const eigs_options::result<V> r = eigs<V, B>(on, op, o, inverse);
        std::ranges::copy(r.values, to.values.begin());
        if (!vectors.empty()) std::ranges::copy(r.vectors, vectors.begin());
        tell(to.found, std::int32_t(r.values.size()));
        const auto& residuals = r.report.residuals;
        return report_to(report, {.converged = r.report.converged,
                                  .iterations = r.report.products,
                                  .residual = residuals.empty() ? 0 : std::ranges::max(residuals),
                                  .setup_s = 0,
                                  .solve_s = r.report.seconds,
                                  .status = name_of(r.report.status),
                                  .method = "davidson",
                                  .preconditioner = M == nullptr ? "none" : "own",
                                  .product = op.method_name(),
                                  .why = r.report.why});
    }
}

}  // namespace
}  // namespace nz::c

using namespace nz::c;

int nz_eigs(const nz_operator* A, const nz_operator* M, int type, double* values,
            int64_t values_length, void* vectors, int64_t vectors_length, int32_t* found,
            const char* options, nz_report* report) {
    return guarded([&] {
        const nz_operator& op = checked(A, "A");
        expect_report(report);
        searching o;
        take_options<searching>(options, eigs_keys, o);
        const auto to = output<double, nz::cpu>(values, values_length, "values");
        o.count = int(std::min<std::size_t>(to.size(), 1000));  // more are refused all the same
        return std::visit(
            [&]<class V, class B>(const typed_operator<V, B>& own) {
                expect_type<V>(type);
                expect_device(device_of(own.on), o.threads);
                return search(own, M, {to, vectors, vectors_length, found}, o, report);
            },
            op.held);
    });
}
