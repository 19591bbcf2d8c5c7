#include <algorithm>
#include <cmath>

#include "bench/peers/cusparse.hpp"
#include "nonzero/formats/bsr/bsr.hpp"

namespace nz::peers {
namespace {

/// y = alpha A x + beta y by cusparseSpMV, with its own preprocessing and buffer.
template <class V>
class cusparse_operator final : public linear_operator<V, gpu> {
  public:
    /// F::fill(on, A, matrix, times) uploads the arrays and makes the descriptor.
    template <class F>
    cusparse_operator(gpu on, const csr<V, host_view>& A, F)
        : on_(on),
          shape_(A.shape),
          algorithm_(F::algorithm),
          x_(A.shape.cols, type_of<V>),
          y_(A.shape.rows, type_of<V>) {
        handle();  // loading the library is no matrix's setup
        F::fill(on, A, matrix_, setup_);
        const auto start = std::chrono::steady_clock::now();
        buffer_ = prepare(CUSPARSE_OPERATION_NON_TRANSPOSE);
        setup_.preprocessing_s = seconds_since(start);
    }
    cusparse_operator(const cusparse_operator&) = delete;
    cusparse_operator& operator=(const cusparse_operator&) = delete;
    ~cusparse_operator() override = default;

    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return matrix_.bytes() + buffer_.size(); }
    [[nodiscard]] setup_times setup() const override { return setup_; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        product(CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, x_.at(x.data()), beta, y_.at(y.data()),
                buffer_);
    }
    void multiply_transposed(transposition, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        // Vectors of A's rows and of its columns change places. Prepared at the first product.
        if (of_transpose_.size() == 0) of_transpose_ = prepare(CUSPARSE_OPERATION_TRANSPOSE);
        product(CUSPARSE_OPERATION_TRANSPOSE, alpha, y_.at(x.data()), beta, x_.at(y.data()),
                of_transpose_);
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    void product(cusparseOperation_t op, V alpha, cusparseDnVecDescr_t x, V beta,
                 cusparseDnVecDescr_t y, const device_array<std::byte>& buffer) const {
        const device_guard guard(on_);
        check(cusparseSetStream(handle(), static_cast<cudaStream_t>(on_.stream)),
              "cusparseSetStream");
        check(cusparseSpMV(handle(), op, &alpha, matrix_.descriptor, x, &beta, y, type_of<V>,
                           algorithm_, buffer.data()),
              "cusparseSpMV");
    }

    /// The buffer for products with op(A), prepared.
    [[nodiscard]] device_array<std::byte> prepare(cusparseOperation_t op) const {
        const V one(1), zero(0);
        const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
        const cusparseDnVecDescr_t x = plain ? x_ : y_, y = plain ? y_ : x_;
        std::size_t bytes = 0;
        check(cusparseSetStream(handle(), static_cast<cudaStream_t>(on_.stream)),
              "cusparseSetStream");
        check(cusparseSpMV_bufferSize(handle(), op, &one, matrix_.descriptor, x, &zero, y,
                                      type_of<V>, algorithm_, &bytes),
              "cusparseSpMV_bufferSize");
        device_array<std::byte> buffer(on_, std::max<std::size_t>(bytes, 1));
        check(cusparseSpMV_preprocess(handle(), op, &one, matrix_.descriptor, x, &zero, y,
                                      type_of<V>, algorithm_, buffer.data()),
              "cusparseSpMV_preprocess");
        synchronize(on_);
        return buffer;
    }

    gpu on_;
    nz::shape shape_;
    cusparseSpMVAlg_t algorithm_;
    sparse_matrix matrix_;
    dense_vector x_, y_;
    device_array<std::byte> buffer_;
    mutable device_array<std::byte> of_transpose_;
    setup_times setup_;
};

template <class V, cusparseSpMVAlg_t alg>
struct as_csr {
    static constexpr cusparseSpMVAlg_t algorithm = alg;
    static constexpr bool transposes = alg == CUSPARSE_SPMV_CSR_ALG1;
    static void fill(gpu on, const csr<V, host_view>& A, sparse_matrix& to, setup_times& times) {
        fill_csr(on, A.shape, row_ptr_of(A), A.col_ind, A.val, to, times);
    }
};

/// Values in single precision, vectors in double.
struct as_mixed_csr {
    static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_CSR_ALG1;
    static void fill(gpu on, const csr<double, host_view>& A, sparse_matrix& to,
                     setup_times& times) {
        const auto start = std::chrono::steady_clock::now();
        host_vector<float> val(A.val.size());
        for (std::size_t k = 0; k < val.size(); ++k) {
            val[k] = float(A.val[k]);
            if (double(val[k]) != A.val[k])
                throw argument_error("single precision does not hold every value exactly");
        }
        times.conversion_s = seconds_since(start);
        fill_csr<float>(on, A.shape, row_ptr_of(A), A.col_ind, val, to, times);
    }
};

template <class V, cusparseSpMVAlg_t alg>
struct as_coo {
    static constexpr cusparseSpMVAlg_t algorithm = alg;
    static void fill(gpu on, const csr<V, host_view>& A, sparse_matrix& to, setup_times& times) {
        const auto start = std::chrono::steady_clock::now();
        const auto row_ptr = row_ptr_of(A);
        host_vector<index> row_ind(A.val.size());
#pragma omp parallel for schedule(static)
        for (index i = 0; i < A.shape.rows; ++i)
            std::fill(row_ind.begin() + row_ptr[std::size_t(i)],
                      row_ind.begin() + row_ptr[std::size_t(i) + 1], i);
        times.conversion_s = seconds_since(start);
        upload<V>(on, row_ind, A.col_ind, A.val, to, times);
        check(cusparseCreateCoo(&to.descriptor, A.shape.rows, A.shape.cols,
                                std::int64_t(A.val.size()), to.first.data(), to.second.data(),
                                to.values(), narrow, from_zero, type_of<V>),
              "cusparseCreateCoo");
    }
};

constexpr index slice = 32;

/// Sliced ELL: 32 rows to a slice, column-major within it, each as wide as its longest row. The
/// padding's column is -1.
template <class V>
struct as_sell {
    static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_SELL_ALG1;
    static void fill(gpu on, const csr<V, host_view>& A, sparse_matrix& to, setup_times& times) {
        const auto start = std::chrono::steady_clock::now();
        const auto row_ptr = row_ptr_of(A);
        const index slices = (A.shape.rows - 1) / slice + 1;
        host_vector<std::int32_t> slice_ptr(std::size_t(slices) + 1);
        slice_ptr[0] = 0;
        for (index s = 0; s < slices; ++s) {
            std::int32_t width = 0;
            for (index i = s * slice; i < std::min((s + 1) * slice, A.shape.rows); ++i)
                width = std::max(width, row_ptr[std::size_t(i) + 1] - row_ptr[std::size_t(i)]);
            slice_ptr[std::size_t(s) + 1] = slice_ptr[std::size_t(s)] + width * slice;
        }
        host_vector<index> col_ind(std::size_t(slice_ptr.back()));
        host_vector<V> val(col_ind.size());
#pragma omp parallel for schedule(dynamic, 64)
        for (index s = 0; s < slices; ++s) {
            const auto first = std::size_t(slice_ptr[std::size_t(s)]);
            const auto last = std::size_t(slice_ptr[std::size_t(s) + 1]);
            std::fill(col_ind.begin() + std::ptrdiff_t(first),
                      col_ind.begin() + std::ptrdiff_t(last), -1);
            std::fill(val.begin() + std::ptrdiff_t(first), val.begin() + std::ptrdiff_t(last),
                      V(0));
            for (index i = s * slice; i < std::min((s + 1) * slice, A.shape.rows); ++i) {
                std::size_t at = first + std::size_t(i % slice);
                for (auto k = std::size_t(row_ptr[std::size_t(i)]);
                     k < std::size_t(row_ptr[std::size_t(i) + 1]); ++k, at += slice)
                    col_ind[at] = A.col_ind[k], val[at] = A.val[k];
            }
        }
        times.conversion_s = seconds_since(start);
        upload<V>(on, slice_ptr, col_ind, val, to, times);
        check(cusparseCreateSlicedEll(&to.descriptor, A.shape.rows, A.shape.cols,
                                      std::int64_t(A.val.size()), std::int64_t(val.size()), slice,
                                      to.first.data(), to.second.data(), to.values(), narrow,
                                      narrow, from_zero, type_of<V>),
              "cusparseCreateSlicedEll");
    }
    static estimate cost(const matrix_stats& s) {
        estimate e = narrow_csr_cost<V>(s);
        if (!e.declined.empty()) return e;
        const double stored = double(s.group_width[0]) * slice;
        e.declined = declined_padding(stored, double(s.nnz));
        if (stored > double(offset_vector::max_narrow))
            e.declined = "slice offsets take 32 bits here";
        e.matrix_bytes = stored * (sizeof(V) + 4) + double(s.rows) / slice * 4;
        return e;
    }
};
static_assert(matrix_stats::groups[0] == slice);

/// The side of square blocks that takes the fewest bytes, of those that divide the matrix: cuSPARSE
/// would read x and write y beyond their ends else. 0 where none does.
template <class V, class Count>
index best_side(std::int64_t rows, std::int64_t cols, Count blocks_of, double& bytes) {
    index best = 0;
    for (std::size_t b = 0; b < std::size(matrix_stats::block_sides); ++b) {
        const index side = matrix_stats::block_sides[b];
        if (rows % side != 0 || cols % side != 0) continue;
        const double one =
            double(blocks_of(b)) * (double(side * side) * sizeof(V) + 4) + double(rows / side) * 4;
        if (best == 0 || one < bytes) best = side, bytes = one;
    }
    return best;
}

template <class V>
struct as_bsr {
    static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_BSR_ALG1;
    static void fill(gpu on, const csr<V, host_view>& A, sparse_matrix& to, setup_times& times) {
        const auto start = std::chrono::steady_clock::now();
        double bytes = 0;
        const index side = best_side<V>(
            A.shape.rows, A.shape.cols,
            [&](std::size_t b) {
                return count_blocks(A, matrix_stats::block_sides[b], matrix_stats::block_sides[b]);
            },
            bytes);
        if (side == 0) throw argument_error("no size of block divides the matrix");
        const bsr<V, host> own = bsr<V, host>::from(A, side, side);
        const auto B = view(own);
        if (B.block_row_ptr.wide()) throw argument_error("block_row_ptr takes 32 bits here");
        times.conversion_s = seconds_since(start);
        upload<V>(
            on, {static_cast<const std::int32_t*>(B.block_row_ptr.data()), B.block_row_ptr.size()},
            B.block_col_ind, B.val, to, times);
        check(cusparseCreateBsr(&to.descriptor, A.shape.rows / side, A.shape.cols / side,
                                std::int64_t(B.block_col_ind.size()), side, side, to.first.data(),
                                to.second.data(), to.values(), narrow, narrow, from_zero,
                                type_of<V>, CUSPARSE_ORDER_ROW),
              "cusparseCreateBsr");
    }
    static estimate cost(const matrix_stats& s) {
        estimate e = narrow_csr_cost<V>(s);
        if (!e.declined.empty()) return e;
        const double csr_bytes = e.matrix_bytes;
        const index side = best_side<V>(
            s.rows, s.cols, [&](std::size_t b) { return s.blocks[b]; }, e.matrix_bytes);
        if (side == 0) e.declined = "no size of block divides the matrix";
        if (side != 0 && e.matrix_bytes > most_bytes_of_csr * csr_bytes)
            e.declined = "its blocks would take more than 1.5 times the bytes of CSR";
        return e;
    }

  private:
    static constexpr double most_bytes_of_csr = 1.5;  // as bsr.block
};

template <class V, class F>
std::unique_ptr<linear_operator<V, gpu>> build(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    return std::make_unique<cusparse_operator<V>>(on, A, F{});
}

template <class V, class F>
estimate cost(const matrix_stats& s) {
    const estimate of_csr = cusparse_csr_cost<V>(s);
    if constexpr (requires { F::cost(s); }) {
        return of_csr.declined.empty() ? F::cost(s) : of_csr;
    } else {
        return of_csr;
    }
}

template <class V, class F>
method<V> cusparse_row(std::string_view name, std::string_view source, bool deterministic) {
    method<V> m{};
    m.name = name, m.source = source, m.deterministic = deterministic;
    m.cost = m.cost_on_gpu = cost<V, F>;
    m.exists_on_gpu = true, m.on_gpu = build<V, F>;
    if constexpr (requires { F::transposes; }) m.transposed_on_gpu = F::transposes;
    return m;
}

}  // namespace

template <class V>
std::vector<method<V>> cusparse_methods() {
    std::vector<method<V>> all = {
        cusparse_row<V, as_bsr<V>>("cusparse.bsr", "cuSPARSE, SPMV_BSR_ALG1", false),
        cusparse_row<V, as_coo<V, CUSPARSE_SPMV_COO_ALG1>>("cusparse.coo",
                                                           "cuSPARSE, SPMV_COO_ALG1", false),
        cusparse_row<V, as_coo<V, CUSPARSE_SPMV_COO_ALG2>>("cusparse.coo_deterministic",
                                                           "cuSPARSE, SPMV_COO_ALG2", true),
        cusparse_row<V, as_csr<V, CUSPARSE_SPMV_CSR_ALG1>>(
            "cusparse.csr", "cuSPARSE, SPMV_CSR_ALG1, the default", false),
        cusparse_row<V, as_csr<V, CUSPARSE_SPMV_CSR_ALG2>>("cusparse.csr_deterministic",
                                                           "cuSPARSE, SPMV_CSR_ALG2", true),
    };
    if constexpr (std::is_same_v<V, double>)
        all.push_back(cusparse_row<V, as_mixed_csr>(
            "cusparse.csr_mixed", "cuSPARSE, SPMV_CSR_ALG1, values in single precision", false));
    all.push_back(cusparse_row<V, as_sell<V>>("cusparse.sell", "cuSPARSE, SPMV_SELL_ALG1", false));
    return all;
}

std::string cusparse_version() {
    std::string version;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int value = 0;
        check(cusparseGetProperty(part, &value), "cusparseGetProperty");
        version += (version.empty() ? "" : ".") + std::to_string(value);
    }
    return version;
}

template std::vector<method<float>> cusparse_methods();
template std::vector<method<double>> cusparse_methods();

}  // namespace nz::peers
