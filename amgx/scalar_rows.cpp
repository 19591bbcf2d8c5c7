#include "amgx/scalar_rows.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stream.hpp"

namespace nz::amgx {
namespace {

constexpr std::int64_t most = 2147483647;

/// The columns of blocks that a rank's rows may have: at least as many as there are rows.
int columns_of(const matrix& A) {
    const auto largest = std::ranges::max_element(A.col_ind);
    return std::max(A.n_global, largest == A.col_ind.end() ? 0 : *largest + 1);
}

/// Writes the values of one block row from `to` on.
template <class V>
class row_writer {
  public:
    row_writer(const matrix& A, csr<V, host>& to) : A_(A), to_(to) {}
    void write(int i, offset at) const {
        for (int r = 0; r < A_.block_x; ++r) {
            for (int k = A_.row_ptr[std::size_t(i)]; k < A_.row_ptr[std::size_t(i) + 1]; ++k)
                at = write_block(A_.val, std::size_t(k), r, A_.col_ind[std::size_t(k)], at);
            if (A_.diagonal_is_apart)
                at = write_block(A_.diagonal, std::size_t(i), r, first_row() + i, at);
        }
    }

  private:
    [[nodiscard]] int first_row() const {
        return A_.on->ranks() == nullptr ? 0 : int(A_.rows.of(A_.on->ranks()->rank()).first);
    }
    /// Row r of the k-th block of these.
    offset write_block(std::span<const std::byte> values, std::size_t k, int r, int column,
                       offset at) const {
        const auto wide = std::size_t(A_.block_y);
        const std::size_t first = k * A_.block_size() + std::size_t(r) * wide;
        for (std::size_t c = 0; c < wide; ++c, ++at) {
            to_.col_ind[std::size_t(at)] = column * A_.block_y + int(c);
            to_.val[std::size_t(at)] = value_at<V>(values, A_.parts.single_matrix, first + c);
        }
        return at;
    }
    const matrix& A_;
    csr<V, host>& to_;
};

}  // namespace

template <class V>
csr<V, host> scalar_rows(const matrix& A) {
    A.bring_home();
    const std::int64_t rows = std::int64_t(A.n) * A.block_x,
                       cols = std::int64_t(columns_of(A)) * A.block_y;
    require(rows <= most && cols <= most, "the matrix has more than 2^31 - 1 rows or columns");
    csr<V, host> made;
    made.shape = {index(rows), index(cols)};
    const int apart = A.diagonal_is_apart ? 1 : 0;
    host_vector<offset> starts(std::size_t(rows) + 1);
    const auto start_of = [&](int i) {
        return (A.row_ptr[std::size_t(i)] + std::int64_t(apart) * i) * offset(A.block_size());
    };
    parallel_for(thread_count({}), A.n, [&](std::int64_t i) {
        const offset first = start_of(int(i)), row = (start_of(int(i) + 1) - first) / A.block_x;
        for (int r = 0; r < A.block_x; ++r)
            starts[std::size_t(i) * std::size_t(A.block_x) + std::size_t(r)] = first + r * row;
    });
    starts.back() = start_of(A.n);
    made.col_ind.resize(std::size_t(starts.back()));
    made.val.resize(made.col_ind.size());
    const row_writer<V> writer(A, made);
    parallel_for(thread_count({}), A.n,
                 [&](std::int64_t i) { writer.write(int(i), start_of(int(i))); });
    made.row_ptr = starts;
    return made;
}

csr<double, device> scalar_rows(gpu on, const matrix& A) {
    csr<double, device> made;
    if constexpr (has_cuda) {
        const std::int64_t b = A.block_x, rows = std::int64_t(A.n) * b;
        const int columns = std::max(A.n_global, range_of(on, A.gpu_blocks->col_ind).largest + 1);
        require(rows <= most && columns * b <= most,
                "the matrix has more than 2^31 - 1 rows or columns");
        const std::int64_t blocks = A.row_ptr.back() + (A.diagonal_is_apart ? A.n : 0);
        const auto starts = std::size_t(rows) + 1;
        made.shape = {index(rows), index(columns * b)};
        made.row_ptr = {device_array<std::byte>(on, starts * sizeof(int)), starts, false};
        made.col_ind = device_array<index>(on, std::size_t(blocks * b * b));
        made.val = device_array<double>(on, made.col_ind.size());
        if (A.n > 0)
            write_scalars(on, *A.gpu_blocks, A.n, A.block_x, A.parts.single_matrix, made);
        else
            zero_on_device(on, made.row_ptr.bytes);
    }
    return made;
}

template csr<double, host> scalar_rows(const matrix&);
template csr<std::complex<double>, host> scalar_rows(const matrix&);

}  // namespace nz::amgx
