#include "cli/explorer/library.hpp"

#include <numeric>

#include "cli/explorer/drawing.hpp"
#include "cli/explorer/grid.hpp"
#include "nonzero/gen/generate.hpp"

namespace nz::cli {
namespace {

csr<double, host> grid(std::string_view rows) { return matrix_of_grid("library", rows); }

/// The matrix whose row i has the columns columns_of(i), ascending, with the values 1, 2, 3 ...
template <class F>
csr<double, host> of_columns(nz::shape shape, const F& columns_of) {
    csr<double, host> A{shape, {}, {}, {}};
    host_vector<offset> ptr{0};
    for (index i = 0; i < shape.rows; ++i) {
        for (const index j : columns_of(i)) A.col_ind.push_back(j);
        ptr.push_back(offset(A.col_ind.size()));
    }
    A.row_ptr = offset_vector(ptr);
    A.val.assign(A.col_ind.size(), 1);
    return numbered(view(A));
}

/// The longest rows have 6, 4 and 3 entries, all others 2: few enough places of padding for ELL.
csr<double, host> power_law() {
    constexpr index n = 32;
    return of_columns({n, n}, [](index i) {
        const index place = i * 11 % n;  // 11 and 32 share no factor: each place once
        std::vector<index> columns;
        for (index k = 0; k < std::max(2, 12 / (2 + place)); ++k)
            columns.push_back((i + k * k + k) % n);
        std::sort(columns.begin(), columns.end());
        return columns;
    });
}

/// A diagonal, and a row in which every column has an entry.
csr<double, host> dense_row() {
    return of_columns({32, 32}, [](index i) {
        std::vector<index> columns{i};
        if (i == 5) {
            columns.resize(32);
            std::iota(columns.begin(), columns.end(), 0);
        }
        return columns;
    });
}

/// Two entries in each third row, none in the others.
csr<double, host> empty_rows() {
    return of_columns({36, 36}, [](index i) {
        return i % 3 == 0 ? std::vector<index>{i / 3, 18 + i / 3} : std::vector<index>{};
    });
}

}  // namespace

std::vector<library_matrix> library() {
    return {
        {"cs121", "CS121's lecture of 2023: three diagonals, and a row longer than the others.",
         grid("1 7 0 0; 0 2 8 0; 5 0 3 9; 0 6 0 4")},
        {"pmpp", "ECE408's lecture 19 and chapter 10 of PMPP: row 1 is empty.",
         grid("3 0 1 0; 0 0 0 0; 0 2 4 1; 1 0 0 1")},
        {"calzetta-lori", "Calzetta and Lori's paper of 2025, a to g being 1 to 7.",
         grid("1 0 2 3; 0 4 0 0; 0 0 5 6; 0 0 0 7")},
        {"stencil", "The five-point stencil of a grid of 6 x 6: few diagonals, rows alike.",
         laplace2d<double>(6, 6)},
        {"power-law", "Few rows are long and many short, as in graphs of the web.", power_law()},
        {"dense-row", "One row is full: the lanes of its warp wait for it.", dense_row()},
        {"empty-rows", "Two rows of three are empty: their lanes are idle.", empty_rows()},
    };
}

}  // namespace nz::cli
