#include <map>
#include <tuple>

#include "bench/peers/cusparse.hpp"

namespace nz::peers {
namespace {

/// Several vectors whose memory is told anew for every product.
class dense_vectors {
  public:
    dense_vectors(std::int64_t len, std::int64_t count, std::size_t stride, storage_order order,
                  cudaDataType type) {
        // It wants an address even where none is used yet.
        check(cusparseCreateDnMat(
                  &vectors_, len, count, std::int64_t(stride), reinterpret_cast<void*>(256), type,
                  order == storage_order::row_major ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
              "cusparseCreateDnMat");
    }
    ~dense_vectors() { cusparseDestroyDnMat(vectors_); }
    dense_vectors(const dense_vectors&) = delete;
    dense_vectors& operator=(const dense_vectors&) = delete;
    cusparseDnMatDescr_t at(const void* values) const {
        check(cusparseDnMatSetValues(vectors_, const_cast<void*>(values)),
              "cusparseDnMatSetValues");
        return vectors_;
    }
    operator cusparseDnMatDescr_t() const { return vectors_; }

  private:
    cusparseDnMatDescr_t vectors_ = nullptr;
};

/// Y = alpha A X + beta Y by cusparseSpMM. Prepared at the first product with as many vectors in
/// the same order.
template <class V>
class spmm_operator final : public linear_operator<V, gpu> {
  public:
    spmm_operator(gpu on, const csr<V, host_view>& A, cusparseSpMMAlg_t algorithm)
        : on_(on), shape_(A.shape), algorithm_(algorithm) {
        handle();  // loading the library is no matrix's setup
        fill_csr(on, A.shape, row_ptr_of(A), A.col_ind, A.val, matrix_, setup_);
    }
    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return matrix_.bytes(); }
    [[nodiscard]] setup_times setup() const override { return setup_; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        multiply_many(alpha, {x, std::max<std::size_t>(x.size(), 1), 1}, beta,
                      {y, std::max<std::size_t>(y.size(), 1), 1});
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        const device_guard guard(on_);
        check(cusparseSetStream(handle(), static_cast<cudaStream_t>(on_.stream)),
              "cusparseSetStream");
        const prepared& p = prepare(X, Y);
        check(cusparseSpMM(handle(), plain, plain, &alpha, matrix_.descriptor,
                           p.X.at(X.values.data()), &beta, p.Y.at(Y.values.data()), type_of<V>,
                           algorithm_, p.buffer.data()),
              "cusparseSpMM");
    }
    void multiply_transposed(transposition, V, device_span<V>, V, device_out<V>) const override {
        throw unavailable("peers: only products with A itself");
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    static constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    struct prepared {
        dense_vectors X, Y;
        device_array<std::byte> buffer{};
    };
    using kind = std::tuple<index, std::size_t, storage_order, std::size_t, storage_order>;

    const prepared& prepare(const in_columns<V, gpu>& X, const out_columns<V, gpu>& Y) const {
        const kind which{X.count, X.stride, X.order, Y.stride, Y.order};
        const auto [at, is_new] = prepared_.try_emplace(which, nullptr);
        if (!is_new) return *at->second;
        try {
            at->second.reset(new prepared{
                {shape_.cols, X.count, X.stride, X.order, type_of<V>},
                {shape_.rows, Y.count, Y.stride, Y.order, type_of<V>},
            });
            prepared& p = *at->second;
            const V one(1), zero(0);
            std::size_t bytes = 0;
            check(cusparseSpMM_bufferSize(handle(), plain, plain, &one, matrix_.descriptor, p.X,
                                          &zero, p.Y, type_of<V>, algorithm_, &bytes),
                  "cusparseSpMM_bufferSize");
            p.buffer = device_array<std::byte>(on_, std::max<std::size_t>(bytes, 1));
            check(cusparseSpMM_preprocess(handle(), plain, plain, &one, matrix_.descriptor,
                                          p.X.at(X.values.data()), &zero, p.Y.at(Y.values.data()),
                                          type_of<V>, algorithm_, p.buffer.data()),
                  "cusparseSpMM_preprocess");
        } catch (...) {
            prepared_.erase(at);
            throw;
        }
        return *at->second;
    }

    gpu on_;
    nz::shape shape_;
    cusparseSpMMAlg_t algorithm_;
    sparse_matrix matrix_;
    setup_times setup_;
    mutable std::map<kind, std::unique_ptr<prepared>> prepared_;
};

template <class V, cusparseSpMMAlg_t algorithm>
std::unique_ptr<linear_operator<V, gpu>> build(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    return std::make_unique<spmm_operator<V>>(on, A, algorithm);
}

template <class V, cusparseSpMMAlg_t algorithm>
method<V> spmm_row(std::string_view name, std::string_view source, bool deterministic) {
    method<V> m{};
    m.name = name, m.source = source, m.deterministic = deterministic;
    m.cost = m.cost_on_gpu = cusparse_csr_cost<V>;
    m.exists_on_gpu = true, m.on_gpu = build<V, algorithm>;
    return m;
}

}  // namespace

template <class V>
std::vector<method<V>> cusparse_spmm_methods() {
    return {
        spmm_row<V, CUSPARSE_SPMM_CSR_ALG1>("cusparse.spmm1", "cuSPARSE, SPMM_CSR_ALG1", true),
        spmm_row<V, CUSPARSE_SPMM_CSR_ALG2>("cusparse.spmm2", "cuSPARSE, SPMM_CSR_ALG2", false),
        spmm_row<V, CUSPARSE_SPMM_CSR_ALG3>("cusparse.spmm3", "cuSPARSE, SPMM_CSR_ALG3", false),
    };
}

template std::vector<method<float>> cusparse_spmm_methods();
template std::vector<method<double>> cusparse_spmm_methods();

}  // namespace nz::peers
