// UMFPACK 5 (SuiteSparse 5). Numbers are those of its published interface.
#include <algorithm>
#include <complex>
#include <new>

#include "nonzero/solve/direct/factor_rates.hpp"
#include "nonzero/solve/direct/found_library.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {
namespace {

constexpr int steps_of_refinement = 7;                              // in its controls
constexpr int unit_bytes = 3, numeric_units = 20, operations = 22,  // in what it tells
    lower_entries = 23, upper_entries = 24, lower_found = 43, upper_found = 44;
constexpr int transposed = 2;  // not conjugated
constexpr int umfpack_out_of_memory = -1, umfpack_singular = 1;

using controls = double[20];
using told = double[90];

/// The functions for W, whose values lie as in std::complex.
template <class W>
struct umfpack_functions : found_library {
    void (*defaults)(double*) = nullptr;
    void (*free_symbolic)(void**) = nullptr;
    void (*free_numeric)(void**) = nullptr;

    umfpack_functions() : found_library("UMFPACK", {"libumfpack.so.5"}) {
        find("defaults", defaults), find("free_symbolic", free_symbolic);
        find("free_numeric", free_numeric), find("symbolic", symbolic_);
        find("numeric", numeric_), find("solve", solve_);
    }
    int symbolic(int n, const int* starts, const int* cols, const W* values, void** made,
                 const double* control, double* info) const {
        const auto* v = reinterpret_cast<const double*>(values);
        if constexpr (is_complex<W>)
            return symbolic_(n, n, starts, cols, v, nullptr, made, control, info);
        else
            return symbolic_(n, n, starts, cols, v, made, control, info);
    }
    int numeric(const int* starts, const int* cols, const W* values, void* symbolic, void** made,
                const double* control, double* info) const {
        const auto* v = reinterpret_cast<const double*>(values);
        if constexpr (is_complex<W>)
            return numeric_(starts, cols, v, nullptr, symbolic, made, control, info);
        else
            return numeric_(starts, cols, v, symbolic, made, control, info);
    }
    /// Without refinement, which would need the matrix.
    int solve(W* x, const W* b, void* numeric, const double* control, double* info) const {
        auto* solution = reinterpret_cast<double*>(x);
        const auto* rhs = reinterpret_cast<const double*>(b);
        if constexpr (is_complex<W>)
            return solve_(transposed, nullptr, nullptr, nullptr, nullptr, solution, nullptr, rhs,
                          nullptr, numeric, control, info);
        else
            return solve_(transposed, nullptr, nullptr, nullptr, solution, rhs, numeric, control,
                          info);
    }

  private:
    using in = const double*;
    using symbolic_of_real = int (*)(int, int, const int*, const int*, in, void**, in, double*);
    using symbolic_of_complex = int (*)(int, int, const int*, const int*, in, in, void**, in,
                                        double*);
    using numeric_of_real = int (*)(const int*, const int*, in, void*, void**, in, double*);
    using numeric_of_complex = int (*)(const int*, const int*, in, in, void*, void**, in, double*);
    using solve_of_real = int (*)(int, const int*, const int*, in, double*, in, void*, in, double*);
    using solve_of_complex = int (*)(int, const int*, const int*, in, in, double*, double*, in, in,
                                     void*, in, double*);
    template <class F>
    void find(const std::string& name, F& function) {
        load(((is_complex<W> ? "umfpack_zi_" : "umfpack_di_") + name).c_str(), function);
    }

    std::conditional_t<is_complex<W>, symbolic_of_complex, symbolic_of_real> symbolic_ = nullptr;
    std::conditional_t<is_complex<W>, numeric_of_complex, numeric_of_real> numeric_ = nullptr;
    std::conditional_t<is_complex<W>, solve_of_complex, solve_of_real> solve_ = nullptr;
};

template <class W>
const umfpack_functions<W>& umfpack() {
    static const umfpack_functions<W> functions;
    return functions;
}

void check_umfpack(int code) {
    if (code == umfpack_singular)
        throw argument_error("A is numerically singular: a pivot of its factorization is zero");
    if (code == umfpack_out_of_memory) throw std::bad_alloc();
    if (code != 0) throw unavailable("UMFPACK failed with the code " + std::to_string(code));
}

template <class W>
class umfpack_factors final : public sparse_factors<W> {
  public:
    umfpack_factors(void* numeric, std::int64_t entries) : numeric_(numeric), entries_(entries) {}
    umfpack_factors(const umfpack_factors&) = delete;
    umfpack_factors& operator=(const umfpack_factors&) = delete;
    ~umfpack_factors() override { umfpack<W>().free_numeric(&numeric_); }
    void solve(std::span<W> x) const override {
        const host_vector<W> b(x.begin(), x.end());
        controls control;
        told info;
        umfpack<W>().defaults(control);
        control[steps_of_refinement] = 0;
        check_umfpack(umfpack<W>().solve(x.data(), b.data(), numeric_, control, info));
    }
    [[nodiscard]] std::int64_t entries() const override { return entries_; }

  private:
    void* numeric_;
    std::int64_t entries_;
};

/// A's rows are taken for columns: the transposed matrix is factorized.
template <class W>
class umfpack_symbolic final : public symbolic_factors<W> {
  public:
    explicit umfpack_symbolic(const csr<W, host_view>& A) {
        umfpack<W>().defaults(control_);
        const auto starts = starts_of_rows(A);
        told info;
        check_umfpack(umfpack<W>().symbolic(A.shape.rows, starts.data(), A.col_ind.data(),
                                            A.val.data(), &symbolic_, control_, info));
        forecast_.library = factor_forecast::libraries::umfpack;
        forecast_.entries = std::int64_t(info[lower_entries] + info[upper_entries]);
        forecast_.operations = info[operations];
        set_costs<W>(forecast_);
        forecast_.bytes = info[numeric_units] * info[unit_bytes];
    }
    umfpack_symbolic(const umfpack_symbolic&) = delete;
    umfpack_symbolic& operator=(const umfpack_symbolic&) = delete;
    ~umfpack_symbolic() override { umfpack<W>().free_symbolic(&symbolic_); }
    [[nodiscard]] factor_forecast forecast() const override { return forecast_; }
    std::unique_ptr<sparse_factors<W>> factorize(const csr<W, host_view>& A) override {
        const auto starts = starts_of_rows(A);
        told info;
        void* numeric = nullptr;
        const int code = umfpack<W>().numeric(starts.data(), A.col_ind.data(), A.val.data(),
                                              symbolic_, &numeric, control_, info);
        auto made = std::make_unique<umfpack_factors<W>>(
            numeric, std::int64_t(info[lower_found] + info[upper_found]));
        check_umfpack(code);
        return made;
    }

  private:
    controls control_;
    void* symbolic_ = nullptr;
    factor_forecast forecast_;
};

}  // namespace

std::string why_no_umfpack() { return umfpack<double>().why_not(); }

template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_umfpack(const csr<W, host_view>& A) {
    if (const auto& why = umfpack<W>().why_not(); !why.empty()) throw unavailable(why);
    return std::make_unique<umfpack_symbolic<W>>(A);
}
template std::unique_ptr<symbolic_factors<double>> analysed_by_umfpack(
    const csr<double, host_view>&);
template std::unique_ptr<symbolic_factors<std::complex<double>>> analysed_by_umfpack(
    const csr<std::complex<double>, host_view>&);

}  // namespace nz
