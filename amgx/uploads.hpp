// Matrices from the arrays of a caller.
#pragma once

#include "amgx/objects.hpp"

namespace nz::amgx {

/// Arrays of a matrix in blocks, on the host or on a GPU.
struct given_blocks {
    int n = 0, nnz = 0, block_x = 1, block_y = 1;
    const int* row_ptr = nullptr;
    const void* col_ind = nullptr;
    bool narrow = true;  ///< columns of 32 bits, else of 64
    const void* val = nullptr;
    const void* diagonal = nullptr;  ///< null: it is among the others
};

/// Throws failure with BAD_PARAMETERS where they are no matrix, NOT_SUPPORTED_BLOCKSIZE where its
/// blocks are not square; the matrix then is as before. n_global: block rows of all ranks, which
/// call it together. By `who` columns are numbered.
void upload(matrix& to, const given_blocks&, int n_global, const distribution& who);

/// Other values of the same pattern. Throws failure with BAD_PARAMETERS.
void replace_values(matrix& to, int n, int nnz, const void* val, const void* diagonal);

}  // namespace nz::amgx
