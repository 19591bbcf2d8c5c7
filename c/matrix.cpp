// Matrices: read, wrapped, shown.
#include "c/handles.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/io/io.hpp"

namespace nz::c {
namespace {

/// The arrays of nz_matrix_wrap.
struct arrays {
    nz::shape shape;
    std::size_t nnz;
    bool wide;
    const void* row_ptr;
    const index* col_ind;
    const void* val;
};

template <class V>
csr<V, host_view> borrowed(const arrays& a, host_view) {
    const std::size_t positions = std::size_t(a.shape.rows) + 1;
    const auto row_ptr =
        a.wide ? offset_span(std::span(static_cast<const std::int64_t*>(a.row_ptr), positions))
               : offset_span(std::span(static_cast<const std::int32_t*>(a.row_ptr), positions));
    return {a.shape, row_ptr, {a.col_ind, a.nnz}, {static_cast<const V*>(a.val), a.nnz}};
}
template <class V>
csr<V, device_view> borrowed(const arrays& a, device_view) {
    return {a.shape,
            {a.row_ptr, std::size_t(a.shape.rows) + 1, a.wide},
            {a.col_ind, a.nnz},
            {static_cast<const V*>(a.val), a.nnz}};
}

template <class V>
csr<V, host> copied(const csr<V, host_view>& A) {
    const auto positions = A.row_ptr.visit([&]<class P>(const P* p) {
        const std::span all(p, A.row_ptr.size());
        if constexpr (sizeof(P) == 4)
            return offset_vector(host_vector<std::int32_t>(all.begin(), all.end()));
        else
            return offset_vector(all);
    });
    return {A.shape, positions, {A.col_ind.begin(), A.col_ind.end()}, {A.val.begin(), A.val.end()}};
}

/// A matrix that owns its arrays.
template <class F>
std::unique_ptr<nz_matrix> owning(F matrix, int device) {
    const auto owner = std::make_shared<const F>(std::move(matrix));
    auto A = std::make_unique<nz_matrix>();
    A->view = nz::view(*owner), A->owner = owner, A->device = device;
    return A;
}

template <class V>
std::unique_ptr<nz_matrix> wrapped(const arrays& a, bool copies, int device, void* stream) {
    if (device != NZ_CPU) {
        const auto view = borrowed<V>(a, device_view{});
        const gpu on{.device = device, .stream = stream};
        if (copies) return owning(upload(on, view), device);
        auto A = std::make_unique<nz_matrix>();
        A->view = view, A->device = device;
        return A;
    }
    const auto view = borrowed<V>(a, host_view{});
    if (copies) return owning(copied(view), NZ_CPU);
    auto A = std::make_unique<nz_matrix>();
    A->view = view;
    return A;
}

arrays checked_arrays(std::int32_t rows, std::int32_t cols, std::int64_t nnz, int position_type,
                      const void* row_ptr, const std::int32_t* col_ind, const void* val) {
    if (rows < 0 || cols < 0 || nnz < 0)
        throw argument_error(fmt::format("{} x {} with {} nonzeros is no matrix", rows, cols, nnz));
    if (position_type != NZ_INT32 && position_type != NZ_INT64)
        throw type_error(
            fmt::format("position_type is {}, expected NZ_INT32 or NZ_INT64", position_type));
    expect(row_ptr, "row_ptr");
    if (nnz > 0) expect(col_ind, "col_ind"), expect(val, "val");
    return {{rows, cols}, std::size_t(nnz), position_type == NZ_INT64, row_ptr, col_ind, val};
}

bool is_wide(const offset_span& p) { return p.wide(); }
bool is_wide(const device_offset_span& p) { return p.wide; }
const void* address(const offset_span& p) { return p.data(); }
const void* address(const device_offset_span& p) { return p.ptr; }

}  // namespace
}  // namespace nz::c

using namespace nz::c;

int nz_matrix_read(const char* path, int type, nz_matrix** A) {
    return made(A, "A", [&] {
        expect(path, "path");
        return with_type(type, [&]<class V>() { return owning(nz::read<V>(path), NZ_CPU); });
    });
}

int nz_matrix_wrap(int type, int32_t rows, int32_t cols, int64_t nnz, int position_type,
                   const void* row_ptr, const int32_t* col_ind, const void* val, int ownership,
                   int device, void* stream, nz_matrix** A) {
    return made(A, "A", [&] {
        const arrays a = checked_arrays(rows, cols, nnz, position_type, row_ptr, col_ind, val);
        if (ownership != NZ_BORROW && ownership != NZ_COPY)
            throw nz::argument_error(
                fmt::format("ownership is {}, expected NZ_BORROW or NZ_COPY", ownership));
        expect_device(device, 0);
        return with_type(
            type, [&]<class V>() { return wrapped<V>(a, ownership == NZ_COPY, device, stream); });
    });
}

int nz_matrix_info(const nz_matrix* A, int32_t* rows, int32_t* cols, int64_t* nnz, int* type,
                   int* device) {
    return guarded([&] {
        const nz_matrix& own = checked(A, "A");
        std::visit(
            [&]<class V, class S>(const nz::csr<V, S>& view) {
                tell(rows, view.shape.rows), tell(cols, view.shape.cols);
                tell(nnz, std::int64_t(view.val.size())), tell(type, type_of<V>);
            },
            own.view);
        tell(device, own.device);
        return NZ_OK;
    });
}

int nz_matrix_arrays(const nz_matrix* A, int* position_type, const void** row_ptr,
                     const int32_t** col_ind, const void** val) {
    return guarded([&] {
        std::visit(
            [&](const auto& view) {
                tell(position_type, is_wide(view.row_ptr) ? int(NZ_INT64) : int(NZ_INT32));
                tell(row_ptr, address(view.row_ptr)), tell(col_ind, view.col_ind.data());
                tell<const void*>(val, view.val.data());
            },
            checked(A, "A").view);
        return NZ_OK;
    });
}

int nz_matrix_destroy(nz_matrix* A) { return destroyed(A, "A"); }
