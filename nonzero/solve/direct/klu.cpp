// KLU 1 (SuiteSparse 5). Structures and numbers are those of its published interface.
#include <complex>
#include <mutex>
#include <new>

#include "nonzero/solve/direct/factor_rates.hpp"
#include "nonzero/solve/direct/found_library.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {
namespace {

constexpr int klu_singular = 1, klu_out_of_memory = -2, klu_too_large = -4;

/// Its controls, and what it tells.
struct klu_common {
    double tol, memgrow, initmem_amd, initmem, maxwork;
    int btf, ordering, scale;
    void (*user_order)();
    void* user_data;
    int halt_if_singular;
    int status, nrealloc, structural_rank, numerical_rank, singular_col, noffdiag;
    double flops, rcond, condest, rgrowth, work;
    std::size_t memusage, mempeak;
};
/// The beginnings of what it makes.
struct klu_analysis {
    double symmetry, est_flops, lnz, unz;
    double* lnz_of_block;
    int n, nz, *P, *Q, *R, nzoff;
};
struct klu_lu {
    int n, nblocks, lnz, unz;
};

/// The functions for W, whose values lie as in std::complex.
template <class W>
struct klu_functions : found_library {
    int (*defaults)(klu_common*) = nullptr;
    klu_analysis* (*analyze)(int, const int*, const int*, klu_common*) = nullptr;
    klu_lu* (*factor)(const int*, const int*, const W*, klu_analysis*, klu_common*) = nullptr;
    int (*free_analysis)(klu_analysis**, klu_common*) = nullptr;
    int (*free_lu)(klu_lu**, klu_common*) = nullptr;

    klu_functions() : found_library("KLU", {"libklu.so.1"}) {
        load("klu_defaults", defaults), load("klu_analyze", analyze);
        load("klu_free_symbolic", free_analysis);
        find("factor", factor), find("free_numeric", free_lu), find("tsolve", tsolve_);
    }
    /// With the transposed matrix of what was factorized, not conjugated.
    int solve_transposed(klu_analysis* analysis, klu_lu* lu, std::span<W> x,
                         klu_common* common) const {
        const int n = int(x.size());
        if constexpr (is_complex<W>)
            return tsolve_(analysis, lu, n, 1, x.data(), 0, common);
        else
            return tsolve_(analysis, lu, n, 1, x.data(), common);
    }

  private:
    using of_real = int (*)(klu_analysis*, klu_lu*, int, int, W*, klu_common*);
    using of_complex = int (*)(klu_analysis*, klu_lu*, int, int, W*, int, klu_common*);
    template <class F>
    void find(const std::string& name, F& function) {
        load(((is_complex<W> ? "klu_z_" : "klu_") + name).c_str(), function);
    }

    std::conditional_t<is_complex<W>, of_complex, of_real> tsolve_ = nullptr;
};

template <class W>
const klu_functions<W>& klu() {
    static const klu_functions<W> functions;
    return functions;
}

void check_klu(const klu_common& told) {
    if (told.status == klu_singular)
        throw argument_error("A is numerically singular: a pivot of its factorization is zero");
    if (told.status == klu_out_of_memory) throw std::bad_alloc();
    if (told.status == klu_too_large)
        throw unavailable("KLU: the factors have more entries than it can number");
    if (told.status != 0)
        throw unavailable("KLU failed with the code " + std::to_string(told.status));
}

/// A matrix in its order: what the factors need as long as they are used.
template <class W>
class klu_order {
  public:
    klu_order(int n, const int* starts, const int* cols) {
        klu<W>().defaults(&common_);
        made_ = klu<W>().analyze(n, starts, cols, &common_);
        check_klu(common_);
    }
    klu_order(const klu_order&) = delete;
    klu_order& operator=(const klu_order&) = delete;
    ~klu_order() { klu<W>().free_analysis(&made_, &common_); }
    [[nodiscard]] klu_analysis* get() const { return made_; }
    [[nodiscard]] const klu_common& common() const { return common_; }

  private:
    klu_common common_{};
    klu_analysis* made_ = nullptr;
};

template <class W>
class klu_factors final : public sparse_factors<W> {
  public:
    klu_factors(std::shared_ptr<const klu_order<W>> order, const int* starts, const int* cols,
                const W* values)
        : order_(std::move(order)), common_(order_->common()) {
        lu_ = klu<W>().factor(starts, cols, values, order_->get(), &common_);
        if (lu_ == nullptr) check_klu(common_);
    }
    klu_factors(const klu_factors&) = delete;
    klu_factors& operator=(const klu_factors&) = delete;
    ~klu_factors() override { klu<W>().free_lu(&lu_, &common_); }
    void solve(std::span<W> x) const override {
        const std::lock_guard lock(mutex_);
        klu<W>().solve_transposed(order_->get(), lu_, x, &common_);
        check_klu(common_);
    }
    [[nodiscard]] std::int64_t entries() const override {
        return std::int64_t(lu_->lnz) + lu_->unz + order_->get()->nzoff;
    }

  private:
    std::shared_ptr<const klu_order<W>> order_;
    mutable std::mutex mutex_;  ///< guards what follows: solves share its memory
    mutable klu_common common_;
    klu_lu* lu_ = nullptr;
};

/// A's rows are taken for columns: the transposed matrix is factorized.
template <class W>
class klu_symbolic final : public symbolic_factors<W> {
  public:
    explicit klu_symbolic(const csr<W, host_view>& A)
        : starts_(starts_of_rows(A)),
          order_(std::make_shared<const klu_order<W>>(A.shape.rows, starts_.data(),
                                                      A.col_ind.data())) {}
    [[nodiscard]] factor_forecast forecast() const override {
        const klu_analysis& told = *order_->get();
        factor_forecast f{.library = factor_forecast::libraries::klu};
        f.entries = std::int64_t(told.lnz + told.unz) + told.nzoff;
        f.operations = told.est_flops;
        set_costs<W>(f);
        return f;
    }
    std::unique_ptr<sparse_factors<W>> factorize(const csr<W, host_view>& A) override {
        return std::make_unique<klu_factors<W>>(order_, starts_.data(), A.col_ind.data(),
                                                A.val.data());
    }

  private:
    std::vector<int> starts_;
    std::shared_ptr<const klu_order<W>> order_;
};

}  // namespace

std::string why_no_klu() { return klu<double>().why_not(); }

template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_klu(const csr<W, host_view>& A) {
    if (const auto& why = klu<W>().why_not(); !why.empty()) throw unavailable(why);
    return std::make_unique<klu_symbolic<W>>(A);
}
template std::unique_ptr<symbolic_factors<double>> analysed_by_klu(const csr<double, host_view>&);
template std::unique_ptr<symbolic_factors<std::complex<double>>> analysed_by_klu(
    const csr<std::complex<double>, host_view>&);

}  // namespace nz
