// Products of sparse matrices, C = A B, and what the Galerkin product needs besides.
#pragma once

#include "nonzero/formats/csr.hpp"

namespace nz {

/// Rows that come from several threads, in runs: each thread writes its runs one after the other
/// into memory of its own, of which none is touched in vain.
template <class V>
class row_runs {
  public:
    static constexpr std::int64_t run = 1024;  ///< rows
    struct room {
        index* col = nullptr;
        V* val = nullptr;
    };
    row_runs(cpu on, nz::shape shape);
    [[nodiscard]] std::int64_t runs() const { return std::int64_t(parts_.size()); }
    [[nodiscard]] range rows_of(std::int64_t r) const {
        return {r * run, std::min<std::int64_t>((r + 1) * run, shape_.rows)};
    }
    /// Where the calling thread, of those that the constructor was told, may write run r: `most`
    /// entries. Row after row; then set_length for each row and `written` for the run.
    room start(std::int64_t r, std::size_t most);
    void set_length(std::int64_t i, std::size_t length) {
        ptr_[std::size_t(i) + 1] = offset(length);
    }
    void written(std::size_t entries);
    /// After the last run: where each row starts is known.
    void seal();
    struct row {
        const index* col;
        const V* val;
        std::size_t length;
    };
    /// A row, once sealed.
    [[nodiscard]] row operator()(index i) const {
        const auto at = std::size_t(i), first = std::size_t(i / run * run);
        const room& part = parts_[std::size_t(i / run)];
        const offset skip = ptr_[at] - ptr_[first];
        return {part.col + skip, part.val + skip, std::size_t(ptr_[at + 1] - ptr_[at])};
    }
    /// The matrix of them, once sealed.
    csr<V, host> finish(cpu on) const;

  private:
    struct block {
        host_vector<index> col;
        host_vector<V> val;
    };
    struct memory {
        std::vector<block> blocks;
        std::size_t used = 0;  ///< of the last block
    };
    nz::shape shape_;
    std::vector<memory> of_thread_;
    std::vector<room> parts_;
    host_vector<offset> ptr_;
};

/// C = A B. Row i sums a_ik b_kj in the order of k as A stores it: same bits for any number of
/// threads. What sums to zero stays as an explicit zero; columns ascend. Throws argument_error
/// where the shapes do not fit. Holds 4 bytes a column of B and thread.
/// Source: Gustavson 1978, doi:10.1145/355791.355796.
template <class V>
csr<V, host> spgemm(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B);

/// A^T, in parallel; the same bits as transpose(A).
template <class V>
csr<V, host> transposed(cpu on, const csr<V, host_view>& A);

/// R A P, where R = P^T is given as well. Columns ascend. Same bits for any number of threads.
/// Throws argument_error where the shapes do not fit.
template <class V>
csr<V, host> galerkin_product(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                              const csr<V, host_view>& P);

/// The same on a GPU, of matrices that lie there: the same bits as on the CPU. Wait for on.stream.
template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B);
template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>& A);
template <class V>
csr<V, device> galerkin_product(gpu on, const csr<V, device_view>& R, const csr<V, device_view>& A,
                                const csr<V, device_view>& P) {
    return spgemm(on, R, view(spgemm(on, A, P)));
}

/// The entries of one row, columns brought into ascending order.
template <class V>
void sort_row(std::span<index> col, std::span<V> val);

}  // namespace nz
