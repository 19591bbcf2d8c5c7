// Hybrid format (HYB): ELL for the first entries of every row, COO for the rest.
#pragma once

#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/ell/ell.hpp"

namespace nz {

/// Hybrid: the first split_width entries of every row in an ELL, what is left of longer rows in a
/// COO, so that one long row pads no other.
///
///         | 1 . 2 |      split_width = 1
///     A = | . 3 . |      ell  width = 1   col_ind = 0 1 0   val = 1 3 4
///         | 4 . 5 |      coo  row_ind = 0 2   col_ind = 2 2   val = 2 5
///
/// Unless it is given, split_width is the largest that at least a third of the rows reach: Bell and
/// Garland found ELL about three times as fast an entry as COO, padding included.
///
/// Moves    the bytes of its ELL and of its COO.
/// Suits    rows of nearly one length but for a few; never declines.
/// Source   CS121 2023; PMPP chapter 10.4; Bell and Garland, SC'09,
///          doi:10.1145/1654059.1654078, section 3.
template <class V, class S>
struct hyb {
    using value = V;
    using space = S;
    template <class T>
    using in_space = hyb<V, T>;

    nz::shape shape;    ///< size of the matrix                            [rows x cols]
    index split_width;  ///< entries of a row that go to the ELL, at most
    nz::ell<V, S> ell;  ///< of the same shape
    nz::coo<V, S> coo;  ///< of the same shape

    static auto scalars(auto& a) {
        return std::tuple_cat(std::tie(a.shape, a.split_width), a.ell.scalars(a.ell),
                              a.coo.scalars(a.coo));
    }
    static auto arrays(auto& a) { return std::tuple_cat(a.ell.arrays(a.ell), a.coo.arrays(a.coo)); }
    static constexpr std::array scalar_names{"shape",     "split_width", "ell.shape",
                                             "ell.width", "ell.pitch",   "coo.shape"};
    static constexpr std::array array_names{"ell.col_ind", "ell.val", "coo.row_ind", "coo.col_ind",
                                            "coo.val"};

    static estimate cost(const matrix_stats&);
    static hyb<V, host> from(const csr<V, host_view>&);
    /// Split where the caller wants it. Throws argument_error for a negative width and where the
    /// ELL part declines.
    static hyb<V, host> from(const csr<V, host_view>&, index split_width);
};
static_assert(format<hyb<double, host>>);

/// The largest split that at least a third of the rows reach.
std::int64_t split_width_of(const matrix_stats&);

/// A piece is one row of the ELL or one entry of the COO.
template <class V>
std::int64_t piece_count(const hyb<V, host_view>& A) {
    return piece_count(A.ell) + piece_count(A.coo);
}
template <class V, class F>
void for_each_entry(const hyb<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    const std::int64_t rows = piece_count(A.ell);
    for_each_entry(A.ell, std::min(first, rows), std::min(last, rows), f);
    for_each_entry(A.coo, std::max(first, rows) - rows, std::max(last, rows) - rows, f);
}

/// One thread: ell.serial, then coo.serial.
struct hyb_serial : kernel_of<hyb> {
    static constexpr std::string_view name = "hyb.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "PMPP chapter 10.4";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, hyb_serial, V alpha, const hyb<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// ell.row, then coo.segmented.
struct hyb_row : kernel_of<hyb> {
    static constexpr std::string_view name = "hyb.row";
    static constexpr bool deterministic = true;  // for one number of threads
    static constexpr std::string_view source = "CS121 2023; Bell and Garland, SC'09, section 4";
    static work work_on_cpu(const matrix_stats&);
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
};
template <class V>
void spmv(cpu, hyb_row, V alpha, const hyb<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// ell.row, then coo.segmented, both on the GPU.
struct hyb_device : kernel_of<hyb> {
    static constexpr std::string_view name = "hyb.device";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "CS121 2023; Bell and Garland, SC'09, section 4";
    static work work_on_gpu(const matrix_stats&);
    template <class V>
    static std::size_t scratch_bytes(gpu, const hyb<V, device_view>& A);
    static constexpr kernel_hooks hooks{.work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
    template <class V>
    static constexpr layout_hooks<V, hyb> hooks_over{.scratch_on_gpu = scratch_bytes<V>};
};
template <class V>
void spmv(gpu, hyb_device, V alpha, const hyb<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
