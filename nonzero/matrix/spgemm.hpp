// Products of sparse matrices, C = A B, and what else the Galerkin product needs.
#pragma once

#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "nonzero/core/stream.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {

/// A row's entries, borrowed.
template <class V>
struct sparse_row {
    const index* col;
    const V* val;
    std::size_t length;
};

/// Sums up sparse rows, one row after the other: what stands in a column is found in one step.
/// Which columns meet decides no branch: a processor would guess those wrong. Holds 4 bytes and a
/// value for each column.
/// Source: Gilbert, Moler, Schreiber 1992, section 3.1, doi:10.1137/0613024.
template <class V>
class sparse_accumulator {
  public:
    explicit sparse_accumulator(index cols)
        : last_row_(std::size_t(cols), -1), sum_(std::size_t(cols), nothing) {}
    /// Row i, which was not started before.
    void start(index i) { row_ = i; }
    /// Adds factor times a row of `length` entries: each product is rounded, then added.
    void add(V factor, const index* from_col, const V* from_val, std::size_t length) {
        if (col_.size() < n_ + length + 1) col_.resize(2 * (n_ + length) + 1);
        index *const col = col_.data(), *const last_row = last_row_.data();
        V* const sum = sum_.data();
        const index row = row_;
        std::size_t n = n_;
        for (std::size_t k = 0; k < length; ++k) {
            const index j = from_col[k];
            sum[j] += product(factor, from_val[k]);
            col[n] = j;
            n += last_row[j] != row;
            last_row[j] = row;
        }
        n_ = n;
    }
    [[nodiscard]] std::size_t length() const { return n_; }
    /// Writes the row: its columns ascend, or stand as they were met.
    void finish(bool ascending, index* col, V* val);
    /// Writes the sums of a row whose columns are known: n of them, all that were met among them.
    void finish_values(const index* col, std::size_t n, V* val) {
        for (std::size_t k = 0; k < n; ++k)
            val[k] = std::exchange(sum_[std::size_t(col[k])], nothing);
        n_ = 0;
    }

  private:
    static constexpr V nothing = V(-0.0);  ///< plus v is v, also where that is a zero
    host_vector<index> last_row_;          ///< in which a column was met
    host_vector<V> sum_;  ///< the sum of every column, `nothing` where it was not met
    std::vector<index> col_;
    std::size_t n_ = 0;
    index row_ = -1;
};

/// Rows that come from several threads, in runs: each thread writes its runs one after the other
/// into memory of its own, of which little is touched needlessly.
template <class V>
class row_runs {
  public:
    /// @param most  entries; once there are more, rows need not be appended any more
    row_runs(cpu on, nz::shape shape, offset most);
    [[nodiscard]] nz::shape shape() const { return shape_; }
    [[nodiscard]] std::int64_t runs() const { return std::int64_t(parts_.size()); }
    [[nodiscard]] range rows_of(std::int64_t r) const {
        return {r << log_run_, std::min<std::int64_t>((r + 1) << log_run_, shape_.rows)};
    }
    /// The calling thread, of those that the constructor was told, writes run r from now on: all
    /// its rows, one after the other.
    void start(std::int64_t r);
    void append(std::int64_t i, sparse_accumulator<V>&, bool ascending);
    /// After a run's last row.
    void end(std::int64_t r);
    /// There are more entries than `most`: whether there will be depends on no thread.
    [[nodiscard]] bool overflows() const { return entries_ > most_; }
    /// After the last run: where each row starts is known.
    void seal(cpu on);
    /// A row, once sealed.
    [[nodiscard]] sparse_row<V> operator()(index i) const {
        const auto at = std::size_t(i), r = at >> log_run_, first = r << log_run_;
        const room& part = parts_[r];
        const offset skip = ptr_[at] - ptr_[first];
        return {part.col + skip, part.val + skip, std::size_t(ptr_[at + 1] - ptr_[at])};
    }
    /// The matrix of them, once sealed.
    csr<V, host> finish(cpu on) const;

  private:
    struct room {
        index* col = nullptr;
        V* val = nullptr;
    };
    struct block {
        host_vector<index> col;
        host_vector<V> val;
    };
    /// Written with every row: on a cache line of its own, or threads would wait for each other's.
    struct alignas(64) memory {
        std::vector<block> blocks;
        std::size_t used = 0;  ///< entries used of the last block
        std::int64_t run = 0;  ///< which is being written, from run_start of the last block on
        std::size_t run_start = 0;
        [[nodiscard]] room room_at(std::size_t k) {
            return {blocks.back().col.data() + k, blocks.back().val.data() + k};
        }
    };
    void add_block(memory&, std::size_t most);
    nz::shape shape_;
    int log_run_;  ///< log2 of a run's rows
    offset most_;
    std::atomic<offset> entries_ = 0;  ///< entries of the runs that have ended
    std::vector<memory> of_thread_;
    std::vector<room> parts_;
    host_vector<offset> ptr_;
};

/// C = A B. Row i sums a_ik b_kj in the order of k as A stores it: same bits for any number of
/// threads. What sums to zero stays as an explicit zero; columns ascend. Throws argument_error
/// where the shapes do not fit. Holds 4 bytes and a value for each column of B and thread.
/// Source: Gustavson 1978, doi:10.1145/355791.355796.
template <class V>
csr<V, host> spgemm(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B);

/// A^H, of real values A^T.
template <class V>
csr<V, host> adjoint(cpu on, const csr<V, host_view>& A);
template <class V>
csr<V, device> adjoint(gpu on, const csr<V, device_view>& A) {
    auto T = transposed(on, A);
    if constexpr (is_complex<V>) conjugate<V>(on, T.val, T.val);
    return T;
}

inline constexpr offset any_number = std::numeric_limits<offset>::max();

/// R A P, where R = P^H is given as well. Columns ascend. Same bits for any number of threads.
/// Empty, 0 x 0, where A P or the product has more than `most` entries: it then stops at little
/// more time and memory than `most` entries take. Throws argument_error where the shapes do not
/// fit.
template <class V>
csr<V, host> galerkin_product(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                              const csr<V, host_view>& P, offset most = any_number);

/// Leaves a matrix its pattern alone in the end, also where something is thrown before.
template <class M>
struct pattern_left {
    M& A;
    explicit pattern_left(M& matrix) : A(matrix) {}
    pattern_left(const pattern_left&) = delete;
    pattern_left& operator=(const pattern_left&) = delete;
    ~pattern_left() { A.val = {}; }
};

/// The values of R A P into C, which `galerkin_product` made of matrices of these patterns: the
/// same bits as there. AP: empty, 0 x 0, or as the call before left it: the pattern of A P, so that
/// it is found once. Throws argument_error where the shapes do not fit.
template <class V>
void galerkin_values(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                     const csr<V, host_view>& P, csr<V, host>& AP, csr<V, host>& C);

/// The same on a GPU, of matrices in its memory: the same bits as on the CPU. Wait for on.stream.
template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B,
                      offset most = any_number);
template <class V>
csr<V, device> galerkin_product(gpu on, const csr<V, device_view>& R, const csr<V, device_view>& A,
                                const csr<V, device_view>& P, offset most = any_number) {
    const auto AP = spgemm(on, A, P, most);
    return AP.shape.rows == 0 ? csr<V, device>{} : spgemm(on, R, view(AP), most);
}
template <class V>
void galerkin_values(gpu on, const csr<V, device_view>& R, const csr<V, device_view>& A,
                     const csr<V, device_view>& P, csr<V, device>& AP, csr<V, device>& C);

}  // namespace nz
