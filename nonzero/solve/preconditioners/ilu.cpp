#include "nonzero/solve/preconditioners/ilu.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/preconditioners/fill.hpp"
#include "nonzero/solve/preconditioners/first_row.hpp"
#include "nonzero/solve/preconditioners/ilu_on_gpu.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {
namespace {

/// Gaussian elimination within a pattern, row by row: what falls beside it is left out.
template <class V>
class elimination {
  public:
    elimination(cpu on, filled_rows<V>& F, real<V> least_pivot)
        : F_(F),
          least_pivot_(least_pivot),
          schedule_(on, triangle_side::lower, view(F.rows)),
          inverse_(F.diagonal.size()),
          places_(std::size_t(schedule_.threads()),
                  std::vector<std::int32_t>(F.diagonal.size(), -1)) {
        schedule_.run([&](int thread, level_schedule::chunk c) {
            for (index i = c.first; i < c.last; ++i)
                eliminate(std::size_t(i), places_[std::size_t(thread)].data());
        });
    }
    /// 1 over the pivots.
    [[nodiscard]] host_vector<V> take_inverse() { return std::move(inverse_); }
    [[nodiscard]] std::int64_t zero_row() const { return zero_.row(); }
    [[nodiscard]] std::int64_t overflowing_row() const { return overflowing_.row(); }
    void tell(factor_report& r, index first_row) const {
        r.shifted_pivots = shifted_;
        if (shifted_ > 0) r.first_shifted = first_row + first_shifted_.row();
    }

  private:
    /// place: of each column in the row, -1 for those that it does not have; all -1 before and
    /// after.
    void eliminate(std::size_t i, std::int32_t* place) {
        const offset first = F_.ptr[i], diagonal = F_.diagonal[i], end = F_.ptr[i + 1];
        const index* const col = F_.rows.col_ind.data();
        V* const val = F_.rows.val.data();
        real<V> largest = 0;
        for (offset k = first; k < end; ++k) {
            place[col[k]] = std::int32_t(k - first);
            largest = std::max(largest, magnitude(val[k]));
        }
        for (offset k = first; k < diagonal; ++k) {
            const auto j = std::size_t(col[k]);
            const V l = val[k] = product(val[k], inverse_[j]);
            for (offset u = F_.diagonal[j] + 1; u < F_.ptr[j + 1]; ++u)
                if (const std::int32_t at = place[col[u]]; at >= 0)
                    val[first + at] -= product(l, val[u]);
        }
        const V pivot = val[diagonal] = shifted(i, val[diagonal], largest);
        inverse_[i] = reciprocal(pivot);
        bool fits = is_finite(inverse_[i]);
        for (offset k = first; k < end; ++k) place[col[k]] = -1, fits = fits && is_finite(val[k]);
        if (largest == 0) zero_.note(std::int64_t(i));
        if (!fits) overflowing_.note(std::int64_t(i));
    }
    /// The pivot, or one that can be divided by, of the same sign.
    V shifted(std::size_t i, V pivot, real<V> largest) {
        const real<V> size = magnitude(pivot), least = least_pivot_ * largest;
        if (!(size < least)) return pivot;
        ++shifted_, first_shifted_.note(std::int64_t(i));
        return size == 0 ? V(least) : pivot * (least / size);
    }

    filled_rows<V>& F_;
    real<V> least_pivot_;
    level_schedule schedule_;
    host_vector<V> inverse_;
    std::vector<std::vector<std::int32_t>> places_;  ///< of each thread
    std::atomic<std::int64_t> shifted_ = 0;
    first_row_noted first_shifted_, zero_, overflowing_;
};

template <class V>
void check_ilu(const ascending<V>& A, const incomplete_options& o, index first_row) {
    const auto [rows, cols] = A.view().shape;
    if (rows != cols)
        throw argument_error(
            fmt::format("ilu: A is {} x {}, expected a square matrix", rows, cols));
    if (o.level < 0 || o.level > 100)
        throw argument_error(fmt::format("ilu: level is {}, expected 0 to 100", o.level));
    if (!(o.least_pivot >= 0 && o.least_pivot <= 1))
        throw argument_error(
            fmt::format("ilu: least_pivot is {:g}, expected 0 to 1", o.least_pivot));
    const auto found = first_not_finite(A);
    refuse_row("ilu", found ? found->row : -1, first_row, "A is not finite");
}

template <class V>
real<V> least_pivot(const incomplete_options& o) {
    return real<V>(o.least_pivot > 0 ? o.least_pivot
                                     : std::sqrt(std::numeric_limits<real<V>>::epsilon()));
}

/// Levels from which on the CPU is the faster one: a level takes a GPU two microseconds, an entry
/// of a row's elimination a thread of a CPU a nanosecond.
template <class V>
index most_levels(const csr<V, host_view>& A) {
    const double entries = double(A.val.size()), rows = double(std::max(A.shape.rows, 1));
    return index(std::min(rows, entries * entries / rows * 1e-9 / 2e-6));
}

}  // namespace

template <class V>
incomplete_lu<V> ilu_factors(cpu on, const ascending<V>& A, const incomplete_options& o,
                             index first_row, factor_report& report) {
    check_ilu(A, o, first_row);
    auto F = filled(on, in_whole_nodes(on, A, o.block, first_row), o.level);
    elimination<V> done(on, F, least_pivot<V>(o));
    refuse_row("ilu", done.zero_row(), first_row, "A is zero");
    refuse_row("ilu", done.overflowing_row(), first_row, "the factor overflows");
    report.entries = F.ptr.back();
    report.fill = double(report.entries) / double(std::max<std::size_t>(1, A.view().val.size()));
    done.tell(report, first_row);
    return {{triangle_side::lower, before_diagonal(on, F), {}},
            {triangle_side::upper, behind_diagonal(on, F), done.take_inverse()}};
}

namespace {

/// The factors made and applied on the GPU; null where the CPU makes them.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> ilu_on_the_gpu(gpu on, const ascending<V>& A,
                                                        const incomplete_options& o,
                                                        index first_row, factor_report& report) {
    if (o.level > 0) return nullptr;
    check_ilu(A, o, first_row);
    const auto whole = in_whole_nodes(helpers(on), A, o.block, first_row);
    const auto entries = std::ssize(whole.view().val);
    const auto done = factored_on_gpu(on, upload(on, whole.view()), double(least_pivot<V>(o)),
                                      most_levels(whole.view()));
    if (!done) return nullptr;
    refuse_row("ilu", done->zero_row, first_row, "A is zero");
    refuse_row("ilu", done->overflowing_row, first_row, "the factor overflows");
    report.entries = entries;
    report.fill = double(entries) / double(std::max<std::size_t>(1, A.view().val.size()));
    report.shifted_pivots = done->shifted_pivots;
    if (done->shifted_pivots > 0) report.first_shifted = first_row + done->first_shifted;
    return solving_operator(on, done->lower, done->upper, o.solves);
}

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ilu(B on, const ascending<V>& A, const incomplete_options& o,
                                           index first_row, factor_report* report) {
    const auto start = steady_clock::now();
    factor_report told;
    std::unique_ptr<linear_operator<V, B>> made;
    if constexpr (std::is_same_v<B, gpu> && is_built<gpu>)
        made = ilu_on_the_gpu(on, A, o, first_row, told);
    if (made == nullptr) {
        auto [L, U] = ilu_factors(helpers(on), A, o, first_row, told);
        made = solving_operator<V, B>(on, std::move(L), std::move(U), o.solves);
    }
    told.setup_s = seconds_since(start);
    if (report != nullptr) *report = told;
    return made;
}

#define NZ_INSTANTIATE_ON(V, B)                          \
    template std::unique_ptr<linear_operator<V, B>> ilu( \
        B, const ascending<V>&, const incomplete_options&, index, factor_report*);
#define NZ_INSTANTIATE(V)                                                                      \
    template incomplete_lu<V> ilu_factors(cpu, const ascending<V>&, const incomplete_options&, \
                                          index, factor_report&);                              \
    NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
