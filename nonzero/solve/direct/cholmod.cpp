// CHOLMOD 3 (SuiteSparse 5). Layouts and numbers are those of its published interface.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <mutex>
#include <new>

#include "nonzero/solve/direct/factor_rates.hpp"
#include "nonzero/solve/direct/found_library.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {
namespace {

/// cholmod_common: 2664 bytes, of which those that are set here are named.
struct alignas(16) cholmod_common {
    std::byte before[60];
    int final_ll;  ///< L L^H, not L D L^H, which exists for many indefinite matrices
    std::byte between[72];
    int quick_return_if_not_posdef, prefer_binary, print;
    std::byte after[4096];
};
struct cholmod_sparse {
    std::size_t nrow, ncol, nzmax;
    void *p, *i, *nz, *x, *z;
    int stype, itype, xtype, dtype, sorted, packed;
};
struct cholmod_dense {
    std::size_t nrow, ncol, nzmax, d;
    void *x, *z;
    int xtype, dtype;
};
/// Its first members.
struct cholmod_factor {
    std::size_t n;
    std::size_t minor;  ///< the first pivot that is not positive; n: all are
    void* perm;
    const int* counts;  ///< entries of each column of L
};
template <class W>
inline constexpr int cholmod_type = is_complex<W> ? 2 : 1;

struct cholmod_functions : found_library {
    int (*start)(cholmod_common*) = nullptr;
    int (*finish)(cholmod_common*) = nullptr;
    int (*version)(int*) = nullptr;
    cholmod_factor* (*analyze)(cholmod_sparse*, cholmod_common*) = nullptr;
    int (*factorize)(cholmod_sparse*, cholmod_factor*, cholmod_common*) = nullptr;
    cholmod_dense* (*solve)(int, cholmod_factor*, cholmod_dense*, cholmod_common*) = nullptr;
    int (*free_factor)(cholmod_factor**, cholmod_common*) = nullptr;
    int (*free_dense)(cholmod_dense**, cholmod_common*) = nullptr;

    cholmod_functions() : found_library("CHOLMOD", {"libcholmod.so.3"}) {
        load("cholmod_start", start), load("cholmod_finish", finish);
        load("cholmod_version", version), load("cholmod_analyze", analyze);
        load("cholmod_factorize", factorize), load("cholmod_solve", solve);
        load("cholmod_free_factor", free_factor), load("cholmod_free_dense", free_dense);
        int found[3] = {};
        if (why_not().empty() && (version(found), found[0] != 3))
            refuse("is of version " + std::to_string(found[0]) + ", expected 3");
    }
};

cholmod_functions& cholmod() {
    static cholmod_functions functions;
    return functions;
}

/// State that analysis, factors and solves share.
template <class W>
class cholmod_session {
  public:
    cholmod_session() {
        cholmod().start(&common);
        common.final_ll = 1, common.print = 0, common.quick_return_if_not_posdef = 1;
    }
    cholmod_session(const cholmod_session&) = delete;
    cholmod_session& operator=(const cholmod_session&) = delete;
    ~cholmod_session() {
        if (L != nullptr) cholmod().free_factor(&L, &common);
        cholmod().finish(&common);
    }
    cholmod_common common{};
    cholmod_factor* L = nullptr;
    std::mutex one_at_a_time;
};

/// A's rows are taken for columns, which makes its conjugate of it.
template <class W>
cholmod_sparse sparse_of(const csr<W, host_view>& A, std::vector<int>& starts) {
    const auto n = std::size_t(A.shape.rows);
    return {.nrow = n,
            .ncol = n,
            .nzmax = A.val.size(),
            .p = starts.data(),
            .i = const_cast<index*>(A.col_ind.data()),
            .nz = nullptr,
            .x = const_cast<W*>(A.val.data()),
            .z = nullptr,
            .stype = 1,
            .itype = 0,
            .xtype = cholmod_type<W>,
            .dtype = 0,
            .sorted = 1,
            .packed = 1};
}

template <class W>
void conjugate(std::span<W> v) {
    if constexpr (is_complex<W>)
        for (W& element : v) element = std::conj(element);
}

template <class W>
class cholmod_factors final : public sparse_factors<W> {
  public:
    cholmod_factors(std::shared_ptr<cholmod_session<W>> session, std::int64_t entries)
        : session_(std::move(session)), entries_(entries) {}
    void solve(std::span<W> x) const override {
        conjugate(x);
        cholmod_dense b{x.size(), 1, x.size(), x.size(), x.data(), nullptr, cholmod_type<W>, 0};
        const std::lock_guard lock(session_->one_at_a_time);
        cholmod_dense* y = cholmod().solve(0, session_->L, &b, &session_->common);
        if (y == nullptr) throw std::bad_alloc();
        std::copy_n(static_cast<const W*>(y->x), x.size(), x.begin());
        cholmod().free_dense(&y, &session_->common);
        conjugate(x);
    }
    [[nodiscard]] std::int64_t entries() const override { return entries_; }

  private:
    std::shared_ptr<cholmod_session<W>> session_;
    std::int64_t entries_;
};

template <class W>
class cholmod_symbolic final : public symbolic_factors<W> {
  public:
    explicit cholmod_symbolic(const csr<W, host_view>& A) {
        auto starts = starts_of_rows(A);
        auto matrix = sparse_of(A, starts);
        session_->L = cholmod().analyze(&matrix, &session_->common);
        if (session_->L == nullptr) throw std::bad_alloc();
        forecast_.library = factor_forecast::libraries::cholmod;
        forecast_.is_cholesky = true;
        for (std::size_t j = 0; j < session_->L->n; ++j) {
            const double count = session_->L->counts[j];
            forecast_.entries += session_->L->counts[j];
            forecast_.operations += count * count;
        }
        set_costs<W>(forecast_);
    }
    [[nodiscard]] factor_forecast forecast() const override { return forecast_; }
    std::unique_ptr<sparse_factors<W>> factorize(const csr<W, host_view>& A) override {
        auto starts = starts_of_rows(A);
        auto matrix = sparse_of(A, starts);
        if (!cholmod().factorize(&matrix, session_->L, &session_->common)) throw std::bad_alloc();
        if (session_->L->minor < session_->L->n) throw not_definite();
        return std::make_unique<cholmod_factors<W>>(std::move(session_), forecast_.entries);
    }

  private:
    std::shared_ptr<cholmod_session<W>> session_ = std::make_shared<cholmod_session<W>>();
    factor_forecast forecast_;
};

}  // namespace

std::string why_no_cholmod() { return cholmod().why_not(); }

template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_cholmod(const csr<W, host_view>& A) {
    if (const auto why = why_no_cholmod(); !why.empty()) throw unavailable(why);
    return std::make_unique<cholmod_symbolic<W>>(A);
}
template std::unique_ptr<symbolic_factors<double>> analysed_by_cholmod(
    const csr<double, host_view>&);
template std::unique_ptr<symbolic_factors<std::complex<double>>> analysed_by_cholmod(
    const csr<std::complex<double>, host_view>&);

}  // namespace nz
