// The kernels of CSR.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

static_assert(format<csr<double, host>>);

/// A^T of a CSR that is known to be one, in parallel; same bits on any number of threads. Rows of
/// any order give rows of ascending columns, duplicates side by side.
template <class V>
csr<V, host> transposed(cpu on, const csr<V, host_view>& A);

/// The loop over the rows of a CSR on a CPU. A row takes three work units, and five more where its
/// end is mispredicted, which happens about as often as two consecutive rows differ in length.
work work_of_row_loop(const matrix_stats&);

/// One thread, one row after the other: the textbook loop.
struct csr_serial : kernel_of<csr> {
    static constexpr std::string_view name = "csr.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "PMPP chapter 10.1; Calzetta and Lori 2025, algorithm 1";
    static constexpr kernel_hooks hooks{.one_thread = true, .work_on_cpu = work_of_row_loop};
};
template <class V>
void spmv(cpu, csr_serial, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Equal numbers of rows to every thread (OpenMP's static schedule).
struct csr_static : kernel_of<csr> {
    static work work_on_cpu(const matrix_stats& s) {
        work w = work_of_row_loop(s);
        w.imbalance = s.row_imbalance;
        return w;
    }
    static constexpr std::string_view name = "csr.static";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "PMPP chapter 10.2, with a block of rows a thread";
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
};
template <class V>
void spmv(cpu, csr_static, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Shrinking runs of rows to whichever thread is free (OpenMP's guided schedule).
struct csr_guided : kernel_of<csr> {
    static constexpr std::string_view name = "csr.guided";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, CSR guided";
    static constexpr kernel_hooks hooks{.work_on_cpu = work_of_row_loop};
};
template <class V>
void spmv(cpu, csr_guided, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// One contiguous block of rows a thread, of equal nonzeros up to one row; empty parts dropped.
struct csr_balanced : kernel_of<csr> {
    static constexpr std::string_view name = "csr.balanced";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, target = nnz / threads";
    static constexpr kernel_hooks hooks{.many_on_cpu = true, .work_on_cpu = work_of_row_loop};
};
template <class V>
void spmv(cpu, csr_balanced, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
/// Of one vector.
template <class V>
bool relax(cpu, csr_balanced, const typename linear_operator<V, cpu>::relaxation& how,
           const csr<V, host_view>& A, in_columns<V, cpu> X, out_columns<V, cpu> Y);
/// With several vectors: SIMD runs along those that lie by rows, up to 64 doubles at once.
template <class V>
void spmv_many(cpu, csr_balanced, V alpha, const csr<V, host_view>& A, in_columns<V, cpu> X, V beta,
               out_columns<V, cpu> Y);

/// Equal shares of rows plus nonzeros, cut anywhere, so that one giant row is shared by all
/// threads; what a cut row's parts sum to is added in the order of the threads.
struct csr_merge : kernel_of<csr> {
    static constexpr std::string_view name = "csr.merge";
    static constexpr bool deterministic = true;  // for one number of threads
    static constexpr std::string_view source =
        "Merrill and Garland, SC'16, doi:10.1109/SC.2016.57, algorithm 3";
    /// A long row is shared as well; but a thread searches twice for where it starts and ends.
    static work work_on_cpu(const matrix_stats&);
    /// Two searches, a tile into shared memory, a walk, a scan; and the carries' kernel.
    static work work_on_gpu(const matrix_stats&);
    /// On the GPU: what the last row of each block carries.
    template <class V>
    static std::size_t scratch_bytes(gpu, const csr<V, device_view>& A);
    static constexpr kernel_hooks hooks{
        .complex_on_gpu = true, .work_on_cpu = work_on_cpu, .work_on_gpu = work_on_gpu};
    template <class V>
    static constexpr layout_hooks<V, csr> hooks_over{.scratch_on_gpu = scratch_bytes<V>};
};
template <class V>
void spmv(cpu, csr_merge, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
/// On the GPU: every block of threads takes an equal share, and a second, tiny kernel adds what the
/// blocks' last rows carry.
template <class V>
void spmv(gpu, csr_merge, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One thread a row. Neighbouring threads read addresses a row apart, so hardly anything is
/// coalesced, and a warp waits for its longest row.
struct csr_scalar : kernel_of<csr> {
    static constexpr std::string_view name = "csr.scalar";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "CS121 2023; ECE408 2020; PMPP chapter 10.2; Calzetta and Lori 2025, kernel 0";
    /// Every column and every value is a load that no other lane shares.
    static work work_on_gpu(const matrix_stats& s) {
        work w =
            thread_a_row_work(s, double(s.group_width[0]), double(s.max_row_nnz()), unrolled_units);
        w.sector_requests += 2 * double(s.nnz);
        return w;
    }
    static constexpr kernel_hooks hooks{.complex_on_gpu = true,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(gpu, csr_scalar, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One warp a row, blocks of 32 x 8 threads; the lanes' sums are reduced by shuffles.
struct csr_vector : kernel_of<csr> {
    static constexpr std::string_view name = "csr.vector";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "CS121 2023; Bell and Garland, SC'09; Calzetta and Lori 2025, kernel 1";
    static constexpr kernel_hooks hooks{.work_on_gpu = work_of_warp_a_row,
                                        .longest_row_on_gpu = longest_row_of_a_warp};
};
template <class V>
void spmv(gpu, csr_vector, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One warp a row; the lanes' sums are reduced in a 1-D array of shared memory, by halves. The
/// lectures relied on a warp running in lockstep; here each half is fenced by __syncwarp.
struct csr_vector_shared : csr_vector {
    static constexpr std::string_view name = "csr.vector_shared";
    static constexpr std::string_view source = "CS121 2023; Calzetta and Lori 2025, kernel 2";
};
template <class V>
void spmv(gpu, csr_vector_shared, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One warp a row; the lanes' sums go through a 2-D array of shared memory, then by shuffles.
struct csr_vector_shared2d : csr_vector {
    static constexpr std::string_view name = "csr.vector_shared2d";
    static constexpr std::string_view source = "Calzetta and Lori 2025, kernel 3";
};
template <class V>
void spmv(gpu, csr_vector_shared2d, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One warp a row; matrix and x through the read-only data cache (`__ldg`).
struct csr_vector_ldg : csr_vector {
    static constexpr std::string_view name = "csr.vector_ldg";
    static constexpr std::string_view source = "Calzetta and Lori 2025, kernel 4";
};
template <class V>
void spmv(gpu, csr_vector_ldg, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One warp a row; x through a texture object (see core/gpu/texture.cuh for doubles and the size
/// limit, beyond which it declines).
struct csr_vector_texture : csr_vector {
    static constexpr std::string_view name = "csr.vector_texture";
    static constexpr std::string_view source =
        "CS121 2023; Liebmann 2015; Calzetta and Lori 2025, kernel 5";
    static constexpr kernel_hooks hooks{.x_by_texture = true,
                                        .work_on_gpu = work_of_warp_a_row,
                                        .longest_row_on_gpu = longest_row_of_a_warp};
};
template <class V>
void spmv(gpu, csr_vector_texture, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// 2, 4, 8, 16 or 32 lanes a row: the least power of two that reaches the mean row length.
struct csr_subwarp : kernel_of<csr> {
    static constexpr std::string_view name = "csr.subwarp";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Bell and Garland, SC'09, with lanes as in Baskaran and Bordawekar, IBM RC24704 (2009)";
    static int lanes(std::int64_t rows, std::int64_t nnz);
    static work work_on_gpu(const matrix_stats&);
    static std::int64_t longest_row_on_gpu(const matrix_stats&);
    static constexpr kernel_hooks hooks{.complex_on_gpu = true,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_on_gpu};
};
template <class V>
void spmv(gpu, csr_subwarp, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);
/// Of one vector of real values.
template <class V>
requires(!is_complex<V>) bool relax(gpu, csr_subwarp,
                                    const typename linear_operator<V, gpu>::relaxation& how,
                                    const csr<V, device_view>& A, in_columns<V, gpu> X,
                                    out_columns<V, gpu> Y);

}  // namespace nz
