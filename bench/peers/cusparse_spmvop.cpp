// SpMVOp needs cuSPARSE 12.9.4 or newer (PyPI's nvidia-cusparse); bench/peers/CMakeLists.txt looks.
#define CUSPARSE_ENABLE_EXPERIMENTAL_API
#include "bench/peers/cusparse.hpp"

namespace nz::peers {
namespace {

/// z = alpha A x + beta y by cusparseSpMVOp, z being y itself, as NVIDIA's example allows. The
/// matrix has a descriptor of its own, as preparing leaves state in it.
template <class V>
class spmvop_operator final : public linear_operator<V, gpu> {
  public:
    spmvop_operator(gpu on, const csr<V, host_view>& A, cusparseSpMVOpAlg_t algorithm)
        : on_(on), shape_(A.shape), x_(A.shape.cols, type_of<V>), y_(A.shape.rows, type_of<V>) {
        handle();  // loading the library is no matrix's setup
        fill_csr(on, A.shape, row_ptr_of(A), A.col_ind, A.val, matrix_, setup_);
        const auto start = std::chrono::steady_clock::now();
        prepare(algorithm);
        setup_.preprocessing_s = seconds_since(start);
    }
    spmvop_operator(const spmvop_operator&) = delete;
    spmvop_operator& operator=(const spmvop_operator&) = delete;
    ~spmvop_operator() override = default;

    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return matrix_.bytes() + buffer_.size(); }
    [[nodiscard]] setup_times setup() const override { return setup_; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        const device_guard guard(on_);
        use_stream();
        const cusparseDnVecDescr_t to = y_.at(y.data());
        check(cusparseSpMVOp(handle(), plan_.get(), &alpha, &beta, x_.at(x.data()), to, to),
              "cusparseSpMVOp");
    }
    void multiply_transposed(transposition, V, device_span<V>, V, device_out<V>) const override {
        throw unavailable("cusparse.spmvop: only products with A itself");
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    void use_stream() const {
        check(cusparseSetStream(handle(), static_cast<cudaStream_t>(on_.stream)),
              "cusparseSetStream");
    }

    void prepare(cusparseSpMVOpAlg_t algorithm) {
        use_stream();
        std::size_t bytes = 0;
        check(cusparseSpMVOp_bufferSize(handle(), plain, matrix_.descriptor, x_, y_, y_, type_of<V>,
                                        algorithm, &bytes),
              "cusparseSpMVOp_bufferSize");
        buffer_ = device_array<std::byte>(on_, std::max<std::size_t>(bytes, 1));
        cusparseSpMVOpDescr_t descriptor = nullptr;
        check(cusparseSpMVOp_createDescr(handle(), &descriptor, plain, matrix_.descriptor, x_, y_,
                                         y_, type_of<V>, algorithm, buffer_.data()),
              "cusparseSpMVOp_createDescr");
        descriptor_.reset(descriptor);
        cusparseSpMVOpPlan_t plan = nullptr;
        check(cusparseSpMVOp_createPlan(handle(), descriptor, &plan, nullptr, 0),
              "cusparseSpMVOp_createPlan");
        plan_.reset(plan);
        synchronize(on_);
    }

    struct destroy {
        void operator()(cusparseSpMVOpDescr_t d) const { cusparseSpMVOp_destroyDescr(d); }
        void operator()(cusparseSpMVOpPlan_t p) const { cusparseSpMVOp_destroyPlan(p); }
    };
    static constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    gpu on_;
    nz::shape shape_;
    sparse_matrix matrix_;
    dense_vector x_, y_;
    device_array<std::byte> buffer_;
    std::unique_ptr<cusparseSpMVOpDescr, destroy> descriptor_;
    std::unique_ptr<cusparseSpMVOpPlan, destroy> plan_;  // goes before what it is made of
    setup_times setup_;
};

template <class V, cusparseSpMVOpAlg_t algorithm>
method<V> spmvop_row(std::string_view name, std::string_view source) {
    method<V> m{};
    m.name = name, m.source = source;
    m.cost = m.cost_on_gpu = cusparse_csr_cost<V>;
    m.exists_on_gpu = true;
    m.on_gpu = [](gpu on, const csr<V, host_view>& A) -> std::unique_ptr<linear_operator<V, gpu>> {
        require_gpu(on);
        const device_guard guard(on);
        return std::make_unique<spmvop_operator<V>>(on, A, algorithm);
    };
    return m;
}

}  // namespace

template <class V>
std::vector<method<V>> cusparse_spmvop_methods() {
    return {spmvop_row<V, CUSPARSE_SPMVOP_ALG1>("cusparse.spmvop1", "cuSPARSE, SPMVOP_ALG1"),
            spmvop_row<V, CUSPARSE_SPMVOP_ALG2>("cusparse.spmvop2", "cuSPARSE, SPMVOP_ALG2")};
}

template std::vector<method<float>> cusparse_spmvop_methods();
template std::vector<method<double>> cusparse_spmvop_methods();

}  // namespace nz::peers
