#include "bench/peers/cg_cusparse.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <chrono>
#include <cmath>

#include "bench/peers/peers.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"

namespace nz::peers {
namespace {

void check(cusparseStatus_t s, const char* call) {
    if (s != CUSPARSE_STATUS_SUCCESS)
        throw device_error(std::string(call) + ": " + cusparseGetErrorString(s));
}
void check(cublasStatus_t s, const char* call) {
    if (s != CUBLAS_STATUS_SUCCESS)
        throw device_error(std::string(call) + ": " + cublasGetStatusString(s));
}

/// Both libraries' handles, in one stream.
struct handles {
    explicit handles(gpu on) {
        check(cusparseCreate(&sparse), "cusparseCreate");
        check(cublasCreate(&blas), "cublasCreate");
        check(cusparseSetStream(sparse, static_cast<cudaStream_t>(on.stream)), "cusparseSetStream");
        check(cublasSetStream(blas, static_cast<cudaStream_t>(on.stream)), "cublasSetStream");
    }
    ~handles() { cublasDestroy(blas), cusparseDestroy(sparse); }
    handles(const handles&) = delete;
    handles& operator=(const handles&) = delete;
    cusparseHandle_t sparse = nullptr;
    cublasHandle_t blas = nullptr;
};

/// q = A p by cuSPARSE.
class cusparse_product {
  public:
    cusparse_product(gpu on, cusparseHandle_t handle, const csr<double, host_view>& A,
                     const double* p, double* q)
        : handle_(handle),
          row_ptr_(to_device(on, std::span(narrow_row_ptr(A), A.row_ptr.size()))),
          col_ind_(to_device(on, A.col_ind)),
          val_(to_device(on, A.val)) {
        check(cusparseCreateCsr(&A_, A.shape.rows, A.shape.cols, std::int64_t(A.val.size()),
                                row_ptr_.data(), col_ind_.data(), val_.data(), CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
              "cusparseCreateCsr");
        check(cusparseCreateDnVec(&p_, A.shape.cols, const_cast<double*>(p), CUDA_R_64F),
              "cusparseCreateDnVec");
        check(cusparseCreateDnVec(&q_, A.shape.rows, q, CUDA_R_64F), "cusparseCreateDnVec");
        std::size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle_, plain, &one, A_, p_, &zero, q_, CUDA_R_64F,
                                      CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
              "cusparseSpMV_bufferSize");
        buffer_ = device_array<std::byte>(on, bytes);
        check(cusparseSpMV_preprocess(handle_, plain, &one, A_, p_, &zero, q_, CUDA_R_64F,
                                      CUSPARSE_SPMV_ALG_DEFAULT, buffer_.data()),
              "cusparseSpMV_preprocess");
    }
    ~cusparse_product() {
        cusparseDestroyDnVec(q_), cusparseDestroyDnVec(p_), cusparseDestroySpMat(A_);
    }
    cusparse_product(const cusparse_product&) = delete;
    cusparse_product& operator=(const cusparse_product&) = delete;
    void operator()() const {
        check(cusparseSpMV(handle_, plain, &one, A_, p_, &zero, q_, CUDA_R_64F,
                           CUSPARSE_SPMV_ALG_DEFAULT, buffer_.data()),
              "cusparseSpMV");
    }

  private:
    static constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    static constexpr double one = 1, zero = 0;
    cusparseHandle_t handle_;
    device_array<std::int32_t> row_ptr_, col_ind_;
    device_array<double> val_;
    device_array<std::byte> buffer_;
    cusparseSpMatDescr_t A_ = nullptr;
    cusparseDnVecDescr_t p_ = nullptr, q_ = nullptr;
};

}  // namespace

peer_cg_report cusparse_cg(gpu on, const csr<double, host_view>& A, device_span<double> b,
                           device_out<double> x, double tol, std::int64_t max_iter) {
    const device_guard guard(on);
    const handles h(on);
    const int n = A.shape.rows;
    const auto len = std::size_t(n), bytes = len * sizeof(double);
    device_array<double> r(on, len), p(on, len), q(on, len);
    const cusparse_product product(on, h.sparse, A, p.data(), q.data());
    const auto stream = static_cast<cudaStream_t>(on.stream);
    cudaMemsetAsync(x.data(), 0, bytes, stream);
    cudaMemcpyAsync(r.data(), b.data(), bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(p.data(), b.data(), bytes, cudaMemcpyDeviceToDevice, stream);

    const auto dot = [&](const double* u, const double* v) {
        double sum = 0;
        check(cublasDdot(h.blas, n, u, 1, v, 1, &sum), "cublasDdot");
        return sum;
    };
    const auto axpy = [&](double alpha, const double* u, double* v) {
        check(cublasDaxpy(h.blas, n, &alpha, u, 1, v, 1), "cublasDaxpy");
    };
    const double one = 1;
    double rr = dot(r.data(), r.data());
    const double target = tol * tol * rr;
    peer_cg_report report;
    synchronize(on);
    const auto start = std::chrono::steady_clock::now();
    for (; rr > target && report.iterations < max_iter; ++report.iterations) {
        product();
        const double alpha = rr / dot(p.data(), q.data());
        axpy(alpha, p.data(), x.data());
        axpy(-alpha, q.data(), r.data());
        const double rr_next = dot(r.data(), r.data()), beta = rr_next / rr;
        check(cublasDscal(h.blas, n, &beta, p.data(), 1), "cublasDscal");
        axpy(one, r.data(), p.data());
        rr = rr_next;
    }
    synchronize(on);
    report.iterations_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.residual_norm = std::sqrt(rr);
    return report;
}

}  // namespace nz::peers
