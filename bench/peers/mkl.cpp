#include <complex>
#define MKL_Complex8 std::complex<float>
#define MKL_Complex16 std::complex<double>
#include <mkl_service.h>
#include <mkl_spblas.h>

#include "bench/peers/peers.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::peers {
namespace {

// One spelling for each value type.
#define NZ_MKL(V, letter)                                                                         \
    sparse_status_t create(sparse_matrix_t* A, shape s, std::int32_t* ptr, std::int32_t* col,     \
                           V* val) {                                                              \
        return mkl_sparse_##letter##_create_csr(A, SPARSE_INDEX_BASE_ZERO, s.rows, s.cols, ptr,   \
                                                ptr + 1, col, val);                               \
    }                                                                                             \
    sparse_status_t mv(V alpha, sparse_matrix_t A, matrix_descr d, const V* x, V beta, V* y) {    \
        return mkl_sparse_##letter##_mv(SPARSE_OPERATION_NON_TRANSPOSE, alpha, A, d, x, beta, y); \
    }                                                                                             \
    sparse_status_t mm(V alpha, sparse_matrix_t A, matrix_descr d, sparse_layout_t order,         \
                       const columns<std::span<const V>>& X, V beta,                              \
                       const columns<std::span<V>>& Y) {                                          \
        return mkl_sparse_##letter##_mm(SPARSE_OPERATION_NON_TRANSPOSE, alpha, A, d, order,       \
                                        X.values.data(), X.count, MKL_INT(X.stride), beta,        \
                                        Y.values.data(), MKL_INT(Y.stride));                      \
    }
NZ_MKL(float, s)
NZ_MKL(double, d)
NZ_MKL(std::complex<float>, c)
NZ_MKL(std::complex<double>, z)

void check(sparse_status_t s, const char* what) {
    if (s == SPARSE_STATUS_ALLOC_FAILED) throw std::bad_alloc();
    if (s != SPARSE_STATUS_SUCCESS)
        throw device_error(std::string(what) + ": status " + std::to_string(int(s)));
}

/// MKL on our OpenMP runtime: with its own, each one's waiting threads would take the cores from
/// the other's products.
void use_our_openmp() {
#if !defined(NZ_MKL_STATIC)  // which is linked with that layer alone
    static const int layer = mkl_set_threading_layer(MKL_THREADING_GNU);
    if (layer != MKL_THREADING_GNU) throw unavailable("mkl: no GNU threading layer");
#endif
    mkl_set_dynamic(0);  // as many threads as asked for
}

template <class V>
class mkl_operator final : public plain_operator<V> {
  public:
    mkl_operator(cpu on, const csr<V, host_view>& A)
        : plain_operator<V>(A), threads_(thread_count(on)) {
        use_our_openmp();
        mkl_set_num_threads_local(threads_);
        description_.type = SPARSE_MATRIX_TYPE_GENERAL;
        // The handle borrows and does not write, though its arguments are not const.
        check(create(&handle_, A.shape, const_cast<std::int32_t*>(narrow_row_ptr(A)),
                     const_cast<index*>(A.col_ind.data()), const_cast<V*>(A.val.data())),
              "mkl_sparse_create_csr");
        check(mkl_sparse_set_mv_hint(handle_, SPARSE_OPERATION_NON_TRANSPOSE, description_,
                                     many_products),
              "mkl_sparse_set_mv_hint");
        check(mkl_sparse_set_memory_hint(handle_, SPARSE_MEMORY_AGGRESSIVE),
              "mkl_sparse_set_memory_hint");
        check(mkl_sparse_optimize(handle_), "mkl_sparse_optimize");
    }
    ~mkl_operator() override { mkl_sparse_destroy(handle_); }
    mkl_operator(const mkl_operator&) = delete;
    mkl_operator& operator=(const mkl_operator&) = delete;

  protected:
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        mkl_set_num_threads_local(threads_);
        mv(alpha, handle_, description_, x.data(), beta, y.data());
    }

    void multiply_many(V alpha, in_columns<V, cpu> X, V beta,
                       out_columns<V, cpu> Y) const override {
        if (X.order != Y.order) throw unavailable("mkl.csr: X and Y in one order only");
        const sparse_layout_t order =
            X.by_row() ? SPARSE_LAYOUT_ROW_MAJOR : SPARSE_LAYOUT_COLUMN_MAJOR;
        mkl_set_num_threads_local(threads_);
        if (hinted_for_ != std::pair(order, X.count)) {
            check(mkl_sparse_set_mm_hint(handle_, SPARSE_OPERATION_NON_TRANSPOSE, description_,
                                         order, X.count, many_products),
                  "mkl_sparse_set_mm_hint");
            check(mkl_sparse_optimize(handle_), "mkl_sparse_optimize");
            hinted_for_ = {order, X.count};
        }
        check(mm(alpha, handle_, description_, order, X, beta, Y), "mkl_sparse_mm");
    }

  private:
    static constexpr int many_products = 1000000;
    int threads_;
    matrix_descr description_{};
    sparse_matrix_t handle_ = nullptr;
    mutable std::pair<sparse_layout_t, index> hinted_for_{SPARSE_LAYOUT_ROW_MAJOR, 0};
};

template <class V>
std::unique_ptr<linear_operator<V, cpu>> build(cpu on, const csr<V, host_view>& A) {
    return std::make_unique<mkl_operator<V>>(on, A);
}

}  // namespace

template <class V>
method<V> mkl_csr() {
    // MKL loads its libraries in its first calls: 100 ms that are no matrix's setup.
    const csr<V, host> one{{1, 1}, {0, 1}, {0}, {V(1)}};
    const host_vector<V> x{V(1)};
    host_vector<V> y{V(0)};
    build<V>(cpu{1}, view(one))->apply(V(1), x, V(0), y);
    method<V> m = peer_row<V>("mkl.csr", "oneMKL, inspector-executor sparse BLAS", build<V>);
    m.cost = [](const matrix_stats& s) -> estimate {
        if (s.nnz == 0) return {.declined = "MKL takes no matrix without entries"};
        return narrow_csr_cost<V>(s);
    };
    return m;
}

std::string mkl_version() {
    MKLVersion v{};
    mkl_get_version(&v);
    return std::to_string(v.MajorVersion) + "." + std::to_string(v.MinorVersion) + "." +
           std::to_string(v.UpdateVersion);
}

#define NZ_INSTANTIATE(V) template method<V> mkl_csr();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::peers
