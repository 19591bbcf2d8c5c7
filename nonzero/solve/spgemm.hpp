// Products of sparse matrices, C = A B, and what the Galerkin product needs besides.
#pragma once

#include "nonzero/formats/csr.hpp"

namespace nz {

/// C = A B. Row i sums a_ik b_kj in the order of k as A stores it: same bits for any number of
/// threads. What sums to zero stays as an explicit zero. `ascending`: whether C's columns ascend
/// within a row; a product that is only multiplied further need not be sorted. Throws
/// argument_error where the shapes do not fit. Holds 4 bytes a column of B and thread.
/// Source: Gustavson 1978, doi:10.1145/355791.355796.
template <class V>
csr<V, host> spgemm(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B,
                    bool ascending = true);

/// A^T, in parallel; the same bits as transpose(A).
template <class V>
csr<V, host> transposed(cpu on, const csr<V, host_view>& A);

/// R A P, where R = P^T is given as well. Columns ascend.
template <class V>
csr<V, host> galerkin_product(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                              const csr<V, host_view>& P) {
    return spgemm(on, R, view(spgemm(on, A, P, false)));
}

/// Rows that come from several threads, made into one CSR: each run of rows grows on its own.
template <class V>
class row_runs {
  public:
    static constexpr std::int64_t run = 2048;  ///< rows
    struct part {
        host_vector<index> col;
        host_vector<V> val;
    };
    explicit row_runs(nz::shape shape)
        : shape_(shape),
          parts_(std::size_t((shape.rows + run - 1) / run)),
          ptr_(std::size_t(shape.rows) + 1) {
        ptr_[0] = 0;
    }
    [[nodiscard]] std::int64_t runs() const { return std::int64_t(parts_.size()); }
    [[nodiscard]] range rows_of(std::int64_t r) const {
        return {r * run, std::min<std::int64_t>((r + 1) * run, shape_.rows)};
    }
    [[nodiscard]] part& part_of(std::int64_t r) { return parts_[std::size_t(r)]; }
    void set_length(std::int64_t row, std::size_t length) {
        ptr_[std::size_t(row) + 1] = offset(length);
    }
    csr<V, host> finish(cpu on);

  private:
    nz::shape shape_;
    std::vector<part> parts_;
    host_vector<offset> ptr_;
};

/// The entries of one row, columns brought into ascending order.
template <class V>
void sort_row(std::span<index> col, std::span<V> val);

}  // namespace nz
