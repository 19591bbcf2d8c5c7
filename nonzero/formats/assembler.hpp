// Triplets that arrive in pieces, from several threads, made into CSR.
#pragma once

#include <map>
#include <mutex>

#include "nonzero/formats/csr.hpp"

namespace nz {

/// Builds a matrix from numbered pieces of triplets. Duplicates are summed in the order of the
/// pieces' numbers and, within a piece, of its entries: the result does not depend on which thread
/// adds which piece when. Explicit zeros are kept.
template <class V>
class assembler {
  public:
    /// @param expected  entries, roughly: how finely the work is cut, nothing else
    assembler(nz::shape shape, std::int64_t expected) : shape_(shape) { (void)expected; }

    /// Adds a piece; several threads may, each number once. Indices must lie inside the shape.
    /// An empty `val` stands for ones.
    void add(std::int64_t number, std::span<const index> row, std::span<const index> col,
             std::span<const V> val);

    /// The matrix. Once only, when all pieces are there.
    csr<V, host> finish(int threads);

  private:
    struct piece {
        host_vector<index> row, col;
        host_vector<V> val;
    };
    nz::shape shape_;
    std::mutex mutex_;
    std::map<std::int64_t, piece> pieces_;
};

}  // namespace nz
