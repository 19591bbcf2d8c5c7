// A rank's rows on a GPU, taken apart and put together.
#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/dist/local_rows.hpp"

namespace nz {
namespace {

/// Where the columns before `own` end in row i: those behind stand at the row's end and are few.
template <class V>
__device__ offset own_end(const csr<V, device_view>& A, index own, std::int64_t i) {
    const offset begin = A.row_ptr[i];
    offset end = A.row_ptr[i + 1];
    while (end > begin && A.col_ind[end - 1] >= own) --end;
    return end;
}

template <class V>
struct own_length {
    csr<V, device_view> A;
    index own;
    offset* length;
    __device__ void operator()(std::int64_t i) const {
        length[i] = own_end(A, own, i) - A.row_ptr[i];
    }
};

template <class V>
struct has_others {
    csr<V, device_view> A;
    index own;
    offset* flag;
    __device__ void operator()(std::int64_t i) const {
        flag[i] = A.row_ptr[i + 1] > A.row_ptr[i] && A.col_ind[A.row_ptr[i + 1] - 1] >= own;
    }
};

/// `before` counts the flags before each row.
struct list_flagged {
    const offset* before;
    index* list;
    __device__ void operator()(std::int64_t i) const {
        if (before[i + 1] > before[i]) list[before[i]] = index(i);
    }
};

struct length_at {
    device_offset_span row_ptr;
    const index* rows;
    offset* length;
    __device__ void operator()(std::int64_t k) const {
        length[k] = row_ptr[std::int64_t(rows[k]) + 1] - row_ptr[rows[k]];
    }
};

/// Row k of `ptr` gets the first entries of row rows[k] of A; null: of row k.
template <class V>
struct copy_row {
    csr<V, device_view> A;
    const index* rows;
    device_offset_span ptr;
    index* col;
    V* val;
    __device__ void operator()(std::int64_t k) const {
        const offset to = ptr[k], n = ptr[k + 1] - to;
        const offset from = A.row_ptr[rows == nullptr ? k : std::int64_t(rows[k])];
        for (offset e = 0; e < n; ++e)
            col[to + e] = A.col_ind[from + e], val[to + e] = A.val[from + e];
    }
};

/// Lengths of the rows of A above B.
struct stacked_length {
    device_offset_span A, B;
    std::int64_t rows_of_A;
    offset* to;
    __device__ void operator()(std::int64_t i) const {
        to[i] = i < rows_of_A ? A[i + 1] - A[i] : B[i - rows_of_A + 1] - B[i - rows_of_A];
    }
};

template <class T>
struct take_elements {
    const T* from;
    const index* places;
    std::int64_t width;
    T* to;
    __device__ void operator()(std::int64_t k) const {
        to[k] = from[std::int64_t(places[k / width]) * width + k % width];
    }
};

/// An array for lengths of rows, all 0, with one more behind.
device_array<offset> no_lengths(gpu on, std::size_t rows) {
    device_array<offset> length(on, rows + 1);
    fill_bytes(on, length, 0);
    return length;
}

/// The first entries of rows of A, as many as `length` says of each.
template <class V>
csr<V, device> first_entries(gpu on, const csr<V, device_view>& A, const index* rows,
                             device_array<offset>& length, index cols) {
    const auto n = std::int64_t(length.size()) - 1;
    offset nnz = 0;
    csr<V, device> B{{index(n), cols}, row_pointers(on, length, nnz), {}, {}};
    B.col_ind = device_array<index>(on, std::size_t(nnz));
    B.val = device_array<V>(on, std::size_t(nnz));
    launch_each(on, n, copy_row<V>{A, rows, B.row_ptr, B.col_ind.data(), B.val.data()});
    return B;
}

/// Of the rows' pointers, that of row i.
offset pointer_of(gpu on, const device_offset_span& ptr, index i) {
    if (ptr.wide) return read_back(on, static_cast<const std::int64_t*>(ptr.ptr) + i);
    return read_back(on, static_cast<const std::int32_t*>(ptr.ptr) + i);
}

/// Pointers from the first one on, as numbers.
host_vector<offset> pointers_from(gpu on, const device_offset_span& ptr, index first) {
    const std::size_t n = ptr.size() - std::size_t(first);
    if (ptr.wide)
        return to_host(on, device_span<offset>{static_cast<const offset*>(ptr.ptr) + first, n});
    const auto narrow = to_host(
        on, device_span<std::int32_t>{static_cast<const std::int32_t*>(ptr.ptr) + first, n});
    return {narrow.begin(), narrow.end()};
}

}  // namespace

template <class V>
csr<V, device> own_columns(gpu on, const csr<V, device_view>& A, index own) {
    const device_guard guard(on);
    auto length = no_lengths(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows, own_length<V>{A, own, length.data()});
    return first_entries(on, A, nullptr, length, own);
}

template <class V>
host_vector<index> edge_rows(gpu on, const csr<V, device_view>& A, index own) {
    const device_guard guard(on);
    const std::int64_t n = A.shape.rows;
    auto before = no_lengths(on, std::size_t(n));
    launch_each(on, n, has_others<V>{A, own, before.data()});
    sum_before(on, before.data(), before.data(), n + 1);
    device_array<index> list(on, std::size_t(read_back(on, before.data() + n)));
    if (list.size() > 0) launch_each(on, n, list_flagged{before.data(), list.data()});
    return to_host<index>(on, list);
}

template <class V>
csr<V, host> rows_at(gpu on, const csr<V, device_view>& A, std::span<const index> rows) {
    const device_guard guard(on);
    const auto list = to_device(on, rows);
    auto length = no_lengths(on, rows.size());
    launch_each(on, std::int64_t(rows.size()), length_at{A.row_ptr, list.data(), length.data()});
    return download(on, first_entries(on, A, list.data(), length, A.shape.cols));
}

template <class V>
csr<V, host> rows_from(gpu on, const csr<V, device_view>& A, index first) {
    if (first == A.shape.rows) return {{0, A.shape.cols}, {0}, {}, {}};
    const device_guard guard(on);
    auto ptr = pointers_from(on, A.row_ptr, first);
    const auto skip = std::size_t(ptr[0]), nnz = std::size_t(ptr.back()) - skip;
    for (offset& p : ptr) p -= offset(skip);
    return {{A.shape.rows - first, A.shape.cols},
            offset_vector(ptr),
            to_host(on, device_span<index>{A.col_ind.data() + skip, nnz}),
            to_host(on, device_span<V>{A.val.data() + skip, nnz})};
}

template <class V>
csr<V, device_view> rows_before(gpu on, const csr<V, device_view>& A, index last) {
    const auto nnz = last > 0 ? std::size_t(pointer_of(on, A.row_ptr, last)) : 0;
    return {{last, A.shape.cols},
            {A.row_ptr.ptr, std::size_t(last) + 1, A.row_ptr.wide},
            {A.col_ind.data(), nnz},
            {A.val.data(), nnz}};
}

template <class V>
csr<V, device> stacked(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B) {
    const device_guard guard(on);
    const std::int64_t rows = std::int64_t(A.shape.rows) + B.shape.rows;
    auto length = no_lengths(on, std::size_t(rows));
    launch_each(on, rows, stacked_length{A.row_ptr, B.row_ptr, A.shape.rows, length.data()});
    offset nnz = 0;
    csr<V, device> all{{index(rows), A.shape.cols}, row_pointers(on, length, nnz), {}, {}};
    all.col_ind = device_array<index>(on, std::size_t(nnz));
    all.val = device_array<V>(on, std::size_t(nnz));
    const std::size_t a = A.val.size(), b = B.val.size();
    copy_on_device(on, A.col_ind.data(), all.col_ind.data(), a * sizeof(index));
    copy_on_device(on, B.col_ind.data(), all.col_ind.data() + a, b * sizeof(index));
    copy_on_device(on, A.val.data(), all.val.data(), a * sizeof(V));
    copy_on_device(on, B.val.data(), all.val.data() + a, b * sizeof(V));
    return all;
}

template <class T>
host_vector<T> elements_at(gpu on, device_span<T> v, std::span<const index> places,
                           std::size_t width) {
    const device_guard guard(on);
    const auto list = to_device(on, places);
    device_array<T> found(on, places.size() * width);
    launch_each(on, std::int64_t(found.size()),
                take_elements<T>{v.data(), list.data(), std::int64_t(width), found.data()});
    return to_host<T>(on, found);
}

#define NZ_INSTANTIATE(V)                                                                         \
    template csr<V, device> own_columns(gpu, const csr<V, device_view>&, index);                  \
    template host_vector<index> edge_rows(gpu, const csr<V, device_view>&, index);                \
    template csr<V, host> rows_at(gpu, const csr<V, device_view>&, std::span<const index>);       \
    template csr<V, host> rows_from(gpu, const csr<V, device_view>&, index);                      \
    template csr<V, device_view> rows_before(gpu, const csr<V, device_view>&, index);             \
    template csr<V, device> stacked(gpu, const csr<V, device_view>&, const csr<V, device_view>&); \
    template host_vector<V> elements_at(gpu, device_span<V>, std::span<const index>, std::size_t);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)
template host_vector<index> elements_at(gpu, device_span<index>, std::span<const index>,
                                        std::size_t);

}  // namespace nz
