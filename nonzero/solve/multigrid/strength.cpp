#include "nonzero/solve/multigrid/strength.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/core/parallel.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {
namespace {

/// A run of rows that a thread takes at once.
constexpr std::int64_t run = 512;

/// Writes the strong neighbours of node i, where every unknown is a node; returns their end. No
/// branch: which ones are strong a processor would guess wrong.
template <class V, class P>
index* write_strong(const P* row_ptr, const csr<V, host_view>& A, const real<V>* diagonal,
                    real<V> eps2, std::int64_t i, index* to) {
    const real<V> mine = eps2 * std::abs(diagonal[i]);
    const index* const col = A.col_ind.data();
    const V* const val = A.val.data();
    for (P k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const index j = col[k];
        const V a = val[k];
        *to = j;
        const bool is_stored = a != V(0), is_large = squared(a) > mine * std::abs(diagonal[j]);
        to += (j != i) & is_stored & is_large;
    }
    return to;
}

/// The squared Frobenius norm of every block in the rows of one node, by block column.
template <class V>
class block_row {
  public:
    block_row(const csr<V, host_view>& A, index block) : A_(A), block_(block) {}

    /// Merges the rows of node i, whose columns ascend.
    void gather(std::int64_t i) {
        entries_.clear();
        for (index r = 0; r < block_; ++r) {
            const auto row = std::size_t(i * block_ + r);
            for (auto k = std::size_t(A_.row_ptr[row]); k < std::size_t(A_.row_ptr[row + 1]); ++k)
                if (A_.val[k] != V(0))
                    entries_.push_back({A_.col_ind[k] / block_, squared(A_.val[k])});
        }
        std::stable_sort(entries_.begin(), entries_.end(),
                         [](const entry& a, const entry& b) { return a.node < b.node; });
        std::size_t kept = 0;
        for (const entry& e : entries_) {
            if (kept > 0 && entries_[kept - 1].node == e.node) {
                entries_[kept - 1].norm2 += e.norm2;
            } else {
                entries_[kept++] = e;
            }
        }
        entries_.resize(kept);
    }
    struct entry {
        index node;
        real<V> norm2;
    };
    [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }

  private:
    const csr<V, host_view>& A_;
    index block_;
    std::vector<entry> entries_;
};

/// The graph whose node i has the neighbours that write(i, to) writes, in one pass: they have the
/// room of their rows in A. `make` gives each thread a `write` of its own.
template <class Make>
strong_graph<host> graph_of(cpu on, const offset_span& row_ptr, index block, std::int64_t nodes,
                            Make make) {
    strong_graph<host> g{host_vector<offset>(std::size_t(nodes)),
                         host_vector<index>(std::size_t(nodes)),
                         host_vector<index>(std::size_t(row_ptr.back()))};
    parallel_for(thread_count(on), nodes, run, make, [&](std::int64_t i, auto& write) {
        const offset first = row_ptr[std::size_t(i * block)];
        index* const to = g.target.data() + first;
        g.first[std::size_t(i)] = first;
        g.count[std::size_t(i)] = index(write(i, to) - to);
    });
    return g;
}

/// The squared Frobenius norm of every diagonal block.
template <class V>
host_vector<real<V>> diagonal_blocks(cpu on, const csr<V, host_view>& A, index block) {
    const std::int64_t nodes = A.shape.rows / block;
    host_vector<real<V>> norm2(static_cast<std::size_t>(nodes));
    parallel_for(thread_count(on), nodes, [&](std::int64_t i) {
        real<V> sum(0);
        for (index r = 0; r < block; ++r) {
            const auto row = std::size_t(i * block + r);
            for (auto k = std::size_t(A.row_ptr[row]); k < std::size_t(A.row_ptr[row + 1]); ++k)
                if (A.col_ind[k] / block == i) sum += squared(A.val[k]);
        }
        norm2[std::size_t(i)] = sum;
    });
    return norm2;
}

}  // namespace

template <class V>
strong_graph<host> strong_couplings(cpu on, const csr<V, host_view>& A, index block, double eps,
                                    in<real<V>, cpu> known_diagonal) {
    if (A.shape.rows != A.shape.cols || block < 1 || A.shape.rows % block != 0 || !(eps >= 0))
        throw argument_error(
            "strong_couplings: expected a square matrix of whole blocks, eps >= 0");
    using R = real<V>;
    if (block == 1) {
        const diagonal_or_known<V, cpu> diagonal(on, A, known_diagonal);
        return A.row_ptr.visit([&](const auto* row_ptr) {
            return graph_of(on, A.row_ptr, 1, A.shape.rows, [&] {
                return [&](std::int64_t i, index* to) {
                    return write_strong(row_ptr, A, diagonal.val.data(), R(eps * eps), i, to);
                };
            });
        });
    }
    // Of a block of unknowns, norm2 is the squared norm that takes the place of |a_ii|^2.
    const auto norm2 = diagonal_blocks(on, A, block);
    return graph_of(on, A.row_ptr, block, A.shape.rows / block, [&] {
        return [&, row = block_row<V>(A, block)](std::int64_t i, index* to) mutable {
            row.gather(i);
            const R mine = std::sqrt(norm2[std::size_t(i)]) * R(eps * eps);
            for (const auto& [j, size2] : row.entries())
                if (j != i && size2 > mine * std::sqrt(norm2[std::size_t(j)])) *to++ = j;
            return to;
        };
    });
}

template <class V>
host_vector<char> kept_entries(cpu on, const csr<V, host_view>& A, double eps,
                               in<real<V>, cpu> diagonal) {
    host_vector<char> kept(A.val.size());
    using R = real<V>;
    const R eps2 = R(eps) * R(eps);
    const auto mark_row = [&](std::int64_t i) {
        const R mine = eps2 * std::abs(diagonal[std::size_t(i)]);
        bool all = true;
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const index j = A.col_ind[k];
            const V a = A.val[k];
            const bool is_large = squared(a) > mine * std::abs(diagonal[std::size_t(j)]);
            kept[k] = (j == i) | is_large;
            all &= kept[k] != 0;
        }
        return all;
    };
    const bool all_are = parallel_reduce(
        thread_count(on), A.shape.rows, true, [](bool a, bool b) { return a && b; }, mark_row);
    return all_are ? host_vector<char>() : kept;
}

#define NZ_INSTANTIATE(V)                                                                      \
    template strong_graph<host> strong_couplings(cpu, const csr<V, host_view>&, index, double, \
                                                 in<real<V>, cpu>);                            \
    template host_vector<char> kept_entries(cpu, const csr<V, host_view>&, double,             \
                                            in<real<V>, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
