// Matrices of AmgX's interface.
#include <algorithm>
#include <cmath>

#include "amgx/handles.hpp"
#include "amgx/memory.hpp"
#include "amgx/scalar_rows.hpp"
#include "amgx/uploads.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz::amgx {
namespace {

matrix& uploaded(const void* handle) {
    auto& A = object_of<matrix>(handle);
    require(A.is_uploaded(), "the matrix was not uploaded");
    return A;
}

template <class V>
bool is_dominant(const csr<V, host>& A) {
    for (index i = 0; i < A.shape.rows; ++i) {
        double diagonal = 0, others = 0;
        for (offset k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k)
            (A.col_ind[std::size_t(k)] == i ? diagonal : others) += std::abs(A.val[std::size_t(k)]);
        if (diagonal < others) return false;
    }
    return true;
}

/// Of the whole matrix: what is asked for over ranks is not served.
template <class F>
auto with_whole(const matrix& A, F f) {
    if (A.on->ranks() != nullptr) throw failure(AMGX_RC_NOT_IMPLEMENTED, "not over ranks");
    return A.parts.is_complex ? f(scalar_rows<std::complex<double>>(A)) : f(scalar_rows<double>(A));
}

/// A column of the block row beyond a box, as AmgX numbers rows of boxes: box by box.
struct boxes {
    int size[3], count[3];
    [[nodiscard]] int rows_each() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] int ranks() const { return count[0] * count[1] * count[2]; }
    /// The number of a point of the whole grid; -1 where it lies outside.
    [[nodiscard]] int number(const int (&at)[3]) const {
        int box = 0, within = 0;
        for (int d = 2; d >= 0; --d) {
            if (at[d] < 0 || at[d] >= size[d] * count[d]) return -1;
            box = box * count[d] + at[d] / size[d];
            within = within * size[d] + at[d] % size[d];
        }
        return box * rows_each() + within;
    }
};

/// The rows of one box of the Laplacian in space.
csr<double, host> laplacian_of(const boxes& all, int box) {
    const int corner[3] = {box % all.count[0] * all.size[0],
                           box / all.count[0] % all.count[1] * all.size[1],
                           box / (all.count[0] * all.count[1]) * all.size[2]};
    csr<double, host> A;
    A.shape = {all.rows_each(), all.rows_each() * all.ranks()};
    host_vector<offset> starts = {0};
    for (int row = 0; row < all.rows_each(); ++row) {
        int at[3] = {corner[0] + row % all.size[0], corner[1] + row / all.size[0] % all.size[1],
                     corner[2] + row / (all.size[0] * all.size[1])};
        A.col_ind.push_back(all.number(at)), A.val.push_back(6);
        for (int d = 0; d < 3; ++d)
            for (const int step : {-1, 1}) {
                at[d] += step;
                const int column = all.number(at);
                at[d] -= step;
                if (column >= 0) A.col_ind.push_back(column), A.val.push_back(-1);
            }
        starts.push_back(offset(A.val.size()));
    }
    A.row_ptr = starts;
    return A;
}

void upload_real(matrix& to, const csr<double, host>& A, int n_global) {
    host_vector<std::byte> values(A.val.size() * to.parts.matrix_bytes());
    for (std::size_t k = 0; k < A.val.size(); ++k)
        if (to.parts.is_complex)
            set_value<std::complex<double>>(values, to.parts.single_matrix, k, A.val[k]);
        else
            set_value<double>(values, to.parts.single_matrix, k, A.val[k]);
    host_vector<int> starts(A.row_ptr.size());
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = int(A.row_ptr[i]);
    const given_blocks given{.n = A.shape.rows,
                             .nnz = int(A.val.size()),
                             .row_ptr = starts.data(),
                             .col_ind = A.col_ind.data(),
                             .val = values.data()};
    upload(to, given, n_global, {});
}

}  // namespace
}  // namespace nz::amgx

using namespace nz::amgx;

AMGX_RC AMGX_matrix_create(AMGX_matrix_handle* mtx, AMGX_resources_handle rsc, AMGX_Mode mode) {
    return guarded(__func__, [&] {
        not_null(mtx, "mtx");
        give(mtx, std::make_unique<matrix>(mode, object_of<std::shared_ptr<resources>>(rsc)));
    });
}

AMGX_RC AMGX_matrix_destroy(AMGX_matrix_handle mtx) {
    return guarded(__func__, [&] { destroy<matrix>(mtx); });
}

AMGX_RC AMGX_matrix_upload_all(AMGX_matrix_handle mtx, int n, int nnz, int block_dimx,
                               int block_dimy, const int* row_ptrs, const int* col_indices,
                               const void* data, const void* diag_data) {
    return guarded(__func__, [&] {
        auto& A = object_of<matrix>(mtx);
        if (A.on->ranks() != nullptr && A.on->ranks()->size() > 1)
            throw failure(AMGX_RC_NOT_IMPLEMENTED,
                          "over ranks by AMGX_matrix_upload_all_global alone");
        upload(A, {n, nnz, block_dimx, block_dimy, row_ptrs, col_indices, true, data, diag_data}, n,
               {});
    });
}

AMGX_RC AMGX_matrix_upload_all_global(AMGX_matrix_handle mtx, int n_global, int n, int nnz,
                                      int block_dimx, int block_dimy, const int* row_ptrs,
                                      const void* col_indices_global, const void* data,
                                      const void* diag_data, int, int,
                                      const int* partition_vector) {
    return guarded(__func__, [&] {
        upload(
            object_of<matrix>(mtx),
            {n, nnz, block_dimx, block_dimy, row_ptrs, col_indices_global, false, data, diag_data},
            n_global, {.data = partition_vector});
    });
}

AMGX_RC AMGX_matrix_upload_all_global_32(AMGX_matrix_handle mtx, int n_global, int n, int nnz,
                                         int block_dimx, int block_dimy, const int* row_ptrs,
                                         const void* col_indices_global, const void* data,
                                         const void* diag_data, int, int,
                                         const int* partition_vector) {
    return guarded(__func__, [&] {
        upload(
            object_of<matrix>(mtx),
            {n, nnz, block_dimx, block_dimy, row_ptrs, col_indices_global, true, data, diag_data},
            n_global, {.data = partition_vector});
    });
}

AMGX_RC AMGX_matrix_upload_distributed(AMGX_matrix_handle mtx, int n_global, int n, int nnz,
                                       int block_dimx, int block_dimy, const int* row_ptrs,
                                       const void* col_indices_global, const void* data,
                                       const void* diag_data,
                                       AMGX_distribution_handle distribution_handle) {
    return guarded(__func__, [&] {
        const auto& who = object_of<distribution>(distribution_handle);
        upload(object_of<matrix>(mtx),
               {n, nnz, block_dimx, block_dimy, row_ptrs, col_indices_global, who.narrow, data,
                diag_data},
               n_global, who);
    });
}

AMGX_RC AMGX_matrix_replace_coefficients(AMGX_matrix_handle mtx, int n, int nnz, const void* data,
                                         const void* diag_data) {
    return guarded(__func__,
                   [&] { replace_values(object_of<matrix>(mtx), n, nnz, data, diag_data); });
}

AMGX_RC AMGX_matrix_get_size(const AMGX_matrix_handle mtx, int* n, int* block_dimx,
                             int* block_dimy) {
    return guarded(__func__, [&] {
        const auto& A = object_of<matrix>(mtx);
        not_null(n, "n") = A.n;
        not_null(block_dimx, "block_dimx") = A.block_x;
        not_null(block_dimy, "block_dimy") = A.block_y;
    });
}

AMGX_RC AMGX_matrix_get_nnz(const AMGX_matrix_handle mtx, int* nnz) {
    return guarded(__func__, [&] { not_null(nnz, "nnz") = object_of<matrix>(mtx).nnz; });
}

AMGX_RC AMGX_matrix_download_all(const AMGX_matrix_handle mtx, int* row_ptrs, int* col_indices,
                                 void* data, void** diag_data) {
    return guarded(__func__, [&] {
        const auto& A = uploaded(mtx);
        A.bring_home();
        const auto copy = [&](const auto& from, void* to, const char* name) {
            if (from.empty()) return;
            expect_pointer(to, name);
            copy_anywhere(A.on->device(), from.data(), to, from.size() * sizeof(from[0]));
        };
        copy(A.row_ptr, row_ptrs, "row_ptrs");
        copy(A.given_columns.empty() ? A.col_ind : A.given_columns, col_indices, "col_indices");
        copy(A.val, data, "data");
        if (A.diagonal.empty()) {
            if (diag_data != nullptr) *diag_data = nullptr;
            return;
        }
        copy(A.diagonal, not_null(diag_data, "diag_data"), "*diag_data");
    });
}

AMGX_RC AMGX_matrix_vector_multiply(AMGX_matrix_handle mtx, AMGX_vector_handle x,
                                    AMGX_vector_handle y) {
    return guarded(__func__, [&] {
        auto& A = uploaded(mtx);
        const auto& from = object_of<vector_of_blocks>(x);
        auto& to = object_of<vector_of_blocks>(y);
        require(A.mode == from.mode && A.mode == to.mode, "A, x and y differ in mode");
        require(&from != &to, "x and y are the same");
        if (!A.product || A.product_of != A.values_id) A.product = make_system(A, nullptr);
        A.product_of = A.values_id;
        A.product->multiply(from, to);
    });
}

AMGX_RC AMGX_matrix_set_boundary_separation(AMGX_matrix_handle mtx, int) {
    return guarded(__func__, [&] { object_of<matrix>(mtx); });
}

AMGX_RC AMGX_matrix_comm_from_maps(AMGX_matrix_handle, int, int, int, const int*, const int*,
                                   const int*, const int*, const int*) {
    return guarded(__func__, [] {
        throw failure(AMGX_RC_NOT_IMPLEMENTED, "AMGX_matrix_upload_all_global serves ranks");
    });
}

AMGX_RC AMGX_matrix_comm_from_maps_one_ring(AMGX_matrix_handle, int, int, const int*, const int*,
                                            const int**, const int*, const int**) {
    return guarded(__func__, [] {
        throw failure(AMGX_RC_NOT_IMPLEMENTED, "AMGX_matrix_upload_all_global serves ranks");
    });
}

AMGX_RC AMGX_matrix_attach_coloring(AMGX_matrix_handle mtx, int* row_coloring, int num_rows, int) {
    return guarded(__func__, [&] {
        not_null(row_coloring, "row_coloring");
        require(num_rows == uploaded(mtx).n, "num_rows is not that of the matrix");
    });
}

AMGX_RC AMGX_matrix_attach_geometry(AMGX_matrix_handle mtx, double* geox, double* geoy,
                                    double* geoz, int n) {
    return guarded(__func__, [&] {
        auto& A = uploaded(mtx);
        require(n == A.n, "n is not the number of the matrix's block rows");
        not_null(geox, "geox"), not_null(geoy, "geoy");
        const double* const given[] = {geox, geoy, geoz};
        for (int d = 0; d < 3; ++d) {
            A.geometry[d].resize(given[d] == nullptr ? 0 : std::size_t(n));
            copy_anywhere(A.on->device(), given[d], A.geometry[d].data(),
                          A.geometry[d].size() * sizeof(double));
        }
    });
}

AMGX_RC AMGX_matrix_check_symmetry(AMGX_matrix_handle mtx, int* structurally_symmetric,
                                   int* symmetric) {
    return guarded(__func__, [&] {
        const auto& A = uploaded(mtx);
        not_null(structurally_symmetric, "structurally_symmetric") = 0;
        not_null(symmetric, "symmetric") = 0;
        with_whole(A, [&](auto scalars) {
            if (scalars.shape.rows != scalars.shape.cols) return;
            *symmetric = nz::is_symmetric(view(scalars));
            std::ranges::fill(scalars.val, 1);  // which leaves the pattern
            *structurally_symmetric = nz::is_symmetric(view(scalars));
        });
    });
}

AMGX_RC AMGX_matrix_check_diag_dominant(const AMGX_matrix_handle mtx, int* diag_dominant) {
    return guarded(__func__, [&] {
        not_null(diag_dominant, "diag_dominant") =
            with_whole(uploaded(mtx), [](const auto& scalars) { return is_dominant(scalars); });
    });
}

AMGX_RC AMGX_distribution_create(AMGX_distribution_handle* dist, AMGX_config_handle cfg) {
    return guarded(__func__, [&] {
        not_null(dist, "dist");
        if (cfg != nullptr) object_of<configuration>(cfg);
        give(dist, std::make_unique<distribution>());
    });
}

AMGX_RC AMGX_distribution_destroy(AMGX_distribution_handle dist) {
    return guarded(__func__, [&] { destroy<distribution>(dist); });
}

AMGX_RC AMGX_distribution_set_partition_data(AMGX_distribution_handle dist,
                                             AMGX_DIST_PARTITION_INFO info,
                                             const void* partition_data) {
    return guarded(__func__, [&] {
        auto& d = object_of<distribution>(dist);
        require(info == AMGX_DIST_PARTITION_VECTOR || info == AMGX_DIST_PARTITION_OFFSETS,
                "there is no such kind of partition data");
        d.kind = info, d.data = partition_data;
    });
}

AMGX_RC AMGX_distribution_set_32bit_colindices(AMGX_distribution_handle dist, int use32bit) {
    return guarded(__func__, [&] { object_of<distribution>(dist).narrow = use32bit != 0; });
}

AMGX_RC AMGX_generate_distributed_poisson_7pt(AMGX_matrix_handle mtx, AMGX_vector_handle rhs,
                                              AMGX_vector_handle sol, int, int, int nx, int ny,
                                              int nz, int px, int py, int pz) {
    return guarded(__func__, [&] {
        auto& A = object_of<matrix>(mtx);
        require(std::min({nx, ny, nz, px, py, pz}) >= 1, "a number of points or ranks is below 1");
        require(double(nx) * ny * nz * px * py * pz < 2e9, "the grid has 2e9 points or more");
        const boxes all{{nx, ny, nz}, {px, py, pz}};
        const auto* const ranks = A.on->ranks();
        require(all.ranks() == (ranks == nullptr ? 1 : ranks->size()),
                "px py pz is not the number of ranks");
        const int n = all.rows_each();
        upload_real(A, laplacian_of(all, ranks == nullptr ? 0 : ranks->rank()), n * all.ranks());
        auto& b = object_of<vector_of_blocks>(rhs);
        const std::size_t size = std::size_t(n) * b.parts.vector_bytes();
        nz::host_vector<std::byte> ones(size);
        for (std::size_t k = 0; k < std::size_t(n); ++k)
            if (b.parts.is_complex)
                set_value<std::complex<double>>(ones, b.parts.single_vector, k, 1);
            else
                set_value<double>(ones, b.parts.single_vector, k, 1);
        if (const auto code = AMGX_vector_upload(rhs, n, 1, ones.data()); code != AMGX_RC_OK)
            throw failure(code, "rhs");
        if (const auto code = AMGX_vector_set_zero(sol, n, 1); code != AMGX_RC_OK)
            throw failure(code, "sol");
    });
}
