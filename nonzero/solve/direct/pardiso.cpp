// MKL's PARDISO. Numbers are those of its published interface.
#include <algorithm>
#include <complex>
#include <mutex>
#include <new>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/solve/direct/factor_rates.hpp"
#include "nonzero/solve/direct/found_library.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {
namespace {

enum phase { analysis = 11, factorization = 22, solution = 33, release = -1 };
constexpr int pardiso_out_of_memory = -2, pardiso_zero_pivot = -4, pardiso_singular = -7;
/// In its parameters.
constexpr int is_set = 0, order = 1, perturbation = 9, scaling = 10, matching = 12, perturbed = 13,
              peak_kb = 14, kept_kb = 15, numeric_kb = 16, entries_of_factors = 17,
              mega_operations = 18, counted_from_0 = 34;

struct pardiso_functions : found_library {
    void (*pardiso)(void** handle, const int* most_factors, const int* which, const int* kind,
                    const int* phase, const int* n, const void* values, const int* starts,
                    const int* cols, int* order, const int* count, int* parameters,
                    const int* speaks, void* b, void* x, int* error) = nullptr;
    int (*set_threading_layer)(int) = nullptr;

    pardiso_functions()
        : found_library("MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}) {
        load("pardiso", pardiso), load("MKL_Set_Threading_Layer", set_threading_layer);
        constexpr int sequential = 1;
        if (why_not().empty()) set_threading_layer(sequential);
    }
};

const pardiso_functions& mkl() {
    static const pardiso_functions functions;
    return functions;
}

/// The matrix, which PARDISO reads in every phase, and its handle.
template <class W>
class pardiso_session {
  public:
    pardiso_session(const csr<W, host_view>& A, bool is_definite)
        : kind_(is_definite ? (is_complex<W> ? 4 : 2) : (is_complex<W> ? 13 : 11)),
          n_(A.shape.rows) {
        parameters[is_set] = 1, parameters[order] = 2;
        parameters[perturbation] = is_definite ? 8 : 13;
        // A is scaled and matched already. With PARDISO's own on top three pivots of
        // sk_convdiff2d_rot were perturbed, and the residual grew to 1e50 instead of 1e-12.
        parameters[scaling] = parameters[matching] = 0;
        parameters[entries_of_factors] = parameters[mega_operations] = -1;
        parameters[counted_from_0] = 1;
        starts_.push_back(0);
        for (index i = 0; i < n_; ++i) {
            for_each_entry(A, i, i + 1, [&](index, index j, W v) {
                if (is_definite && j < i) return;
                cols_.push_back(j), values_.push_back(v);
            });
            starts_.push_back(int(cols_.size()));
        }
    }
    pardiso_session(const pardiso_session&) = delete;
    pardiso_session& operator=(const pardiso_session&) = delete;
    ~pardiso_session() { (void)call(release); }

    /// Its error; 0: none.
    int call(phase which, W* b = nullptr, W* x = nullptr) {
        const std::lock_guard lock(one_at_a_time_);
        const int one = 1, silent = 0, code = which;
        int error = 0;
        mkl().pardiso(handle_, &one, &one, &kind_, &code, &n_, values_.data(), starts_.data(),
                      cols_.data(), nullptr, &one, parameters, &silent, b, x, &error);
        return error;
    }
    [[nodiscard]] bool is_definite() const { return kind_ == 2 || kind_ == 4; }
    [[nodiscard]] double bytes() const {
        return 1024.0 * std::max(parameters[peak_kb], parameters[kept_kb] + parameters[numeric_kb]);
    }

    int parameters[64] = {};

  private:
    int kind_, n_;
    std::vector<int> starts_, cols_;
    host_vector<W> values_;
    void* handle_[64] = {};
    std::mutex one_at_a_time_;
};

void check_pardiso(int error) {
    if (error == pardiso_singular || error == pardiso_zero_pivot)
        throw argument_error("A is numerically singular: a pivot of its factorization is zero");
    if (error == pardiso_out_of_memory) throw std::bad_alloc();
    if (error != 0) throw unavailable("PARDISO failed with the code " + std::to_string(error));
}

template <class W>
class pardiso_factors final : public sparse_factors<W> {
  public:
    explicit pardiso_factors(std::shared_ptr<pardiso_session<W>> session)
        : session_(std::move(session)),
          entries_(session_->parameters[entries_of_factors]),
          perturbed_(session_->parameters[perturbed]) {}
    void solve(std::span<W> x) const override {
        host_vector<W> b(x.begin(), x.end());
        check_pardiso(session_->call(solution, b.data(), x.data()));
    }
    [[nodiscard]] std::int64_t entries() const override { return entries_; }
    [[nodiscard]] std::int64_t perturbed_pivots() const override { return perturbed_; }

  private:
    std::shared_ptr<pardiso_session<W>> session_;
    std::int64_t entries_, perturbed_;
};

template <class W>
class pardiso_symbolic final : public symbolic_factors<W> {
  public:
    pardiso_symbolic(const csr<W, host_view>& A, bool is_definite)
        : session_(std::make_shared<pardiso_session<W>>(A, is_definite)) {
        check_pardiso(session_->call(analysis));
        forecast_.library = factor_forecast::libraries::pardiso;
        forecast_.is_cholesky = is_definite;
        forecast_.entries = session_->parameters[entries_of_factors];
        forecast_.operations = 1e6 / 2 * session_->parameters[mega_operations];
        set_costs<W>(forecast_);
        forecast_.bytes = session_->bytes();
    }
    [[nodiscard]] factor_forecast forecast() const override { return forecast_; }
    std::unique_ptr<sparse_factors<W>> factorize(const csr<W, host_view>&) override {
        const int error = session_->call(factorization);
        if (session_->is_definite() && error == pardiso_zero_pivot) throw not_definite();
        check_pardiso(error);
        return std::make_unique<pardiso_factors<W>>(std::move(session_));
    }

  private:
    std::shared_ptr<pardiso_session<W>> session_;
    factor_forecast forecast_;
};

}  // namespace

std::string why_no_pardiso() { return mkl().why_not(); }

template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_pardiso(const csr<W, host_view>& A,
                                                         bool is_definite) {
    if (const auto why = why_no_pardiso(); !why.empty()) throw unavailable(why);
    (void)starts_of_rows(A);  // refuses what is too large
    return std::make_unique<pardiso_symbolic<W>>(A, is_definite);
}
template std::unique_ptr<symbolic_factors<double>> analysed_by_pardiso(
    const csr<double, host_view>&, bool);
template std::unique_ptr<symbolic_factors<std::complex<double>>> analysed_by_pardiso(
    const csr<std::complex<double>, host_view>&, bool);

}  // namespace nz
