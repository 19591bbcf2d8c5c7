// Shared by cuSPARSE's baselines: its handle, its descriptors, its formats' arrays on the GPU.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <chrono>

#include "bench/peers/peers.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"

namespace nz::peers {

inline void check(cusparseStatus_t s, const char* call) {
    if (s == CUSPARSE_STATUS_SUCCESS) return;
    const std::string what = std::string(call) + ": " + cusparseGetErrorString(s);
    if (s == CUSPARSE_STATUS_NOT_SUPPORTED) throw unavailable(what);
    throw device_error(what);
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class V>
inline constexpr cudaDataType type_of = std::is_same_v<V, float> ? CUDA_R_32F : CUDA_R_64F;

/// A cuSPARSE handle, which takes 100 ms to make: one for the process.
inline cusparseHandle_t handle() {
    static const cusparseHandle_t h = [] {
        cusparseHandle_t made = nullptr;
        check(cusparseCreate(&made), "cusparseCreate");
        return made;
    }();
    return h;
}

/// A vector whose memory is told anew for every product.
class dense_vector {
  public:
    dense_vector(std::int64_t len, cudaDataType type) {
        // It wants an address even where none is used yet.
        check(cusparseCreateDnVec(&vector_, len, reinterpret_cast<void*>(256), type),
              "cusparseCreateDnVec");
    }
    ~dense_vector() { cusparseDestroyDnVec(vector_); }
    dense_vector(const dense_vector&) = delete;
    dense_vector& operator=(const dense_vector&) = delete;
    cusparseDnVecDescr_t at(const void* values) const {
        check(cusparseDnVecSetValues(vector_, const_cast<void*>(values)), "cusparseDnVecSetValues");
        return vector_;
    }
    operator cusparseDnVecDescr_t() const { return vector_; }

  private:
    cusparseDnVecDescr_t vector_ = nullptr;
};

/// The arrays of one of cuSPARSE's formats on the GPU, and their descriptor.
struct sparse_matrix {
    device_array<std::int32_t> first, second;  ///< indices, as the format names them
    device_array<float> single;                ///< values, in one of the two
    device_array<double> twice;
    cusparseSpMatDescr_t descriptor = nullptr;

    sparse_matrix() = default;
    ~sparse_matrix() {
        if (descriptor != nullptr) cusparseDestroySpMat(descriptor);
    }
    sparse_matrix(const sparse_matrix&) = delete;
    sparse_matrix& operator=(const sparse_matrix&) = delete;

    void values_to_device(gpu on, std::span<const float> v) { single = to_device<float>(on, v); }
    void values_to_device(gpu on, std::span<const double> v) { twice = to_device<double>(on, v); }
    [[nodiscard]] void* values() const {
        return single.size() > 0 ? static_cast<void*>(single.data()) : twice.data();
    }
    [[nodiscard]] std::size_t bytes() const {
        return (first.size() + second.size()) * sizeof(std::int32_t) +
               single.size() * sizeof(float) + twice.size() * sizeof(double);
    }
};

/// Uploads index and value arrays, and tells what that took.
template <class V>
void upload(gpu on, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
            std::span<const V> val, sparse_matrix& to, setup_times& times) {
    const auto start = std::chrono::steady_clock::now();
    to.first = to_device<std::int32_t>(on, first);
    to.second = to_device<std::int32_t>(on, second);
    to.values_to_device(on, val);
    times.upload_s = seconds_since(start);
}

inline constexpr cusparseIndexType_t narrow = CUSPARSE_INDEX_32I;
inline constexpr cusparseIndexBase_t from_zero = CUSPARSE_INDEX_BASE_ZERO;

template <class V>
void fill_csr(gpu on, shape s, std::span<const std::int32_t> row_ptr,
              std::span<const index> col_ind, std::span<const V> val, sparse_matrix& to,
              setup_times& times) {
    upload(on, row_ptr, col_ind, val, to, times);
    check(
        cusparseCreateCsr(&to.descriptor, s.rows, s.cols, std::int64_t(val.size()), to.first.data(),
                          to.second.data(), to.values(), narrow, narrow, from_zero, type_of<V>),
        "cusparseCreateCsr");
}

template <class V>
std::span<const std::int32_t> row_ptr_of(const csr<V, host_view>& A) {
    return {narrow_row_ptr(A), A.row_ptr.size()};
}

/// Cost of a baseline over CSR.
template <class V>
estimate cusparse_csr_cost(const matrix_stats& s) {
    if (s.nnz == 0) return {.declined = "cuSPARSE takes no matrix without entries"};
    return narrow_csr_cost<V>(s);
}

}  // namespace nz::peers
