#include "bench/peers/ilu_cusparse.hpp"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <string>

#include "bench/peers/peers.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stopwatch.hpp"

namespace nz::peers {
namespace {

void check(cusparseStatus_t s, const char* call) {
    if (s != CUSPARSE_STATUS_SUCCESS)
        throw device_error(std::string(call) + ": " + cusparseGetErrorString(s));
}

constexpr double one = 1;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// A SpSV with one triangle of the factors.
struct solve_with_triangle {
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseSpSVDescr_t plan = nullptr;
    device_array<std::byte> scratch;
};

}  // namespace

struct cusparse_ilu::state {
    state(gpu device, const csr<double, host_view>& A)
        : on(device),
          rows(A.shape.rows),
          row_ptr(to_device(on, std::span(narrow_row_ptr(A), A.row_ptr.size()))),
          col_ind(to_device(on, A.col_ind)),
          val(to_device(on, A.val)),
          between(on, std::size_t(rows)) {
        check(cusparseCreate(&handle), "cusparseCreate");
        check(cusparseSetStream(handle, static_cast<cudaStream_t>(on.stream)), "cusparseSetStream");
        check(cusparseCreateDnVec(&x, rows, between.data(), CUDA_R_64F), "cusparseCreateDnVec");
        check(cusparseCreateDnVec(&y, rows, between.data(), CUDA_R_64F), "cusparseCreateDnVec");
        synchronize(on);
        const auto start = steady_clock::now();
        factor(std::int64_t(A.val.size()));
        synchronize(on);
        factor_s = seconds_since(start);
        const auto behind = steady_clock::now();
        analyse(lower, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
        analyse(upper, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
        synchronize(on);
        analysis_s = seconds_since(behind);
    }
    ~state() {
        for (solve_with_triangle* t : {&lower, &upper})
            cusparseSpSV_destroyDescr(t->plan), cusparseDestroySpMat(t->matrix);
        cusparseDestroyDnVec(x), cusparseDestroyDnVec(y), cusparseDestroy(handle);
    }
    void factor(std::int64_t nnz) {
        cusparseMatDescr_t general = nullptr;
        csrilu02Info_t info = nullptr;
        check(cusparseCreateMatDescr(&general), "cusparseCreateMatDescr");
        check(cusparseCreateCsrilu02Info(&info), "cusparseCreateCsrilu02Info");
        int bytes = 0;
        check(cusparseDcsrilu02_bufferSize(handle, rows, int(nnz), general, val.data(),
                                           row_ptr.data(), col_ind.data(), info, &bytes),
              "cusparseDcsrilu02_bufferSize");
        const device_array<std::byte> scratch(on, std::size_t(bytes));
        check(cusparseDcsrilu02_analysis(handle, rows, int(nnz), general, val.data(),
                                         row_ptr.data(), col_ind.data(), info,
                                         CUSPARSE_SOLVE_POLICY_USE_LEVEL, scratch.data()),
              "cusparseDcsrilu02_analysis");
        check(cusparseDcsrilu02(handle, rows, int(nnz), general, val.data(), row_ptr.data(),
                                col_ind.data(), info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                scratch.data()),
              "cusparseDcsrilu02");
        cusparseDestroyCsrilu02Info(info), cusparseDestroyMatDescr(general);
    }
    void analyse(solve_with_triangle& t, cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
        check(cusparseCreateCsr(&t.matrix, rows, rows, std::int64_t(val.size()), row_ptr.data(),
                                col_ind.data(), val.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
              "cusparseCreateCsr");
        check(cusparseSpMatSetAttribute(t.matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill),
              "cusparseSpMatSetAttribute");
        check(cusparseSpMatSetAttribute(t.matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,
                                        sizeof diagonal),
              "cusparseSpMatSetAttribute");
        check(cusparseSpSV_createDescr(&t.plan), "cusparseSpSV_createDescr");
        std::size_t bytes = 0;
        check(cusparseSpSV_bufferSize(handle, plain, &one, t.matrix, x, y, CUDA_R_64F,
                                      CUSPARSE_SPSV_ALG_DEFAULT, t.plan, &bytes),
              "cusparseSpSV_bufferSize");
        t.scratch = device_array<std::byte>(on, bytes);
        check(cusparseSpSV_analysis(handle, plain, &one, t.matrix, x, y, CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, t.plan, t.scratch.data()),
              "cusparseSpSV_analysis");
    }
    void solve(const solve_with_triangle& t, const double* b, double* to) const {
        check(cusparseDnVecSetValues(x, const_cast<double*>(b)), "cusparseDnVecSetValues");
        check(cusparseDnVecSetValues(y, to), "cusparseDnVecSetValues");
        check(cusparseSpSV_solve(handle, plain, &one, t.matrix, x, y, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, t.plan),
              "cusparseSpSV_solve");
    }

    gpu on;
    index rows;
    device_array<std::int32_t> row_ptr;
    device_array<index> col_ind;
    device_array<double> val, between;
    cusparseHandle_t handle = nullptr;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;
    solve_with_triangle lower, upper;
    double factor_s = 0, analysis_s = 0;
};

cusparse_ilu::cusparse_ilu(gpu on, const csr<double, host_view>& A)
    : s_(std::make_unique<state>(on, A)) {}
cusparse_ilu::~cusparse_ilu() = default;
double cusparse_ilu::factor_s() const { return s_->factor_s; }
double cusparse_ilu::analysis_s() const { return s_->analysis_s; }
void cusparse_ilu::apply(device_span<double> b, device_out<double> x) const {
    s_->solve(s_->lower, b.data(), s_->between.data());
    s_->solve(s_->upper, s_->between.data(), x.data());
}

}  // namespace nz::peers
