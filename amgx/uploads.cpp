#include "amgx/uploads.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "amgx/memory.hpp"
#include "amgx/scalar_rows.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/matrix/pattern.hpp"

namespace nz::amgx {
namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

template <class T>
host_vector<T> copied(const matrix& A, const void* from, std::size_t count, const char* name) {
    host_vector<T> to(count);
    if (count > 0) expect_pointer(from, name);
    copy_anywhere(A.on->device(), from, to.data(), count * sizeof(T));
    return to;
}

host_vector<int> columns_of(const matrix& A, const given_blocks& given) {
    const auto count = std::size_t(given.nnz);
    if (given.narrow) return copied<int>(A, given.col_ind, count, "col_indices");
    const auto wide = copied<std::int64_t>(A, given.col_ind, count, "col_indices_global");
    host_vector<int> narrow(count);
    std::ranges::transform(wide, narrow.begin(), [](std::int64_t c) {
        require(c >= 0 && c < 2147483647, "a column is outside 0 to 2^31 - 2");
        return int(c);
    });
    return narrow;
}

/// The same for arrays that stay on the GPU.
template <class T>
device_array<T> copied_to_gpu(const matrix& A, const void* from, std::size_t count,
                              const char* name) {
    if (count > 0) expect_pointer(from, name);
    const gpu on = A.on->on_gpu();
    device_array<T> to(on, count);
    synchronize(on);  // the copy is in the caller's stream
    copy_anywhere(A.on->device(), from, to.data(), count * sizeof(T));
    return to;
}

/// A matrix's arrays, checked: on the host, or all but row_ptr on the GPU.
struct read_blocks {
    host_vector<int> row_ptr, col_ind;
    host_vector<std::byte> val, diagonal;
    std::optional<blocks_on_gpu> gpu_blocks;
};

void check_sizes(const given_blocks& given) {
    require(given.n >= 0 && given.nnz >= 0, "n or nnz is negative");
    require(given.block_x >= 1 && given.block_y >= 1, "a block dimension is below 1");
    if (given.block_x != given.block_y || given.block_x > 64)
        throw failure(AMGX_RC_NOT_SUPPORTED_BLOCKSIZE,
                      fmt::format("blocks of {} x {}: square ones up to 64 are served",
                                  given.block_x, given.block_y));
}

blocks_on_gpu read_to_gpu(const matrix& A, const given_blocks& given,
                          const host_vector<int>& row_ptr, std::size_t block) {
    blocks_on_gpu r;
    const auto count = std::size_t(given.nnz);
    r.row_ptr = copied_to_gpu<int>(A, row_ptr.data(), row_ptr.size(), "row_ptrs");
    r.col_ind = given.narrow ? copied_to_gpu<int>(A, given.col_ind, count, "col_indices")
                             : copied_to_gpu<int>(A, columns_of(A, given).data(), count, "columns");
    r.val = copied_to_gpu<std::byte>(A, given.val, count * block, "data");
    if (given.diagonal != nullptr)
        r.diagonal =
            copied_to_gpu<std::byte>(A, given.diagonal, std::size_t(given.n) * block, "diag_data");
    if constexpr (has_cuda) {
        const gpu on = A.on->on_gpu();
        require(range_of(on, r.col_ind).least >= 0, "a column is negative");
        const device_offset_span starts{reinterpret_cast<const std::byte*>(r.row_ptr.data()),
                                        row_ptr.size(), false};
        r.pattern = pattern_hash(on, starts, r.col_ind);
    }
    return r;
}

read_blocks read(const matrix& A, const given_blocks& given) {
    check_sizes(given);
    const std::size_t block =
        std::size_t(given.block_x) * std::size_t(given.block_y) * A.parts.matrix_bytes();
    read_blocks r;
    r.row_ptr = copied<int>(A, given.row_ptr, std::size_t(given.n) + 1, "row_ptrs");
    // Arrays may be longer than the rows need: pyamgx gives a matrix of zeros so.
    require(r.row_ptr.front() == 0 && r.row_ptr.back() <= given.nnz &&
                std::ranges::is_sorted(r.row_ptr),
            "row_ptrs do not rise from 0 to nnz at most");
    const std::int64_t blocks = std::int64_t(given.nnz) + (given.diagonal ? given.n : 0);
    constexpr std::int64_t most = 2147483647;
    if (A.parts.on_gpu && A.on->ranks() == nullptr &&
        blocks * given.block_x * given.block_y <= most) {
        r.gpu_blocks = read_to_gpu(A, given, r.row_ptr, block);
        return r;
    }
    r.col_ind = columns_of(A, given);
    require(std::ranges::all_of(r.col_ind, [](int c) { return c >= 0; }), "a column is negative");
    r.val = copied<std::byte>(A, given.val, std::size_t(given.nnz) * block, "data");
    if (given.diagonal != nullptr)
        r.diagonal =
            copied<std::byte>(A, given.diagonal, std::size_t(given.n) * block, "diag_data");
    return r;
}

/// Rows of each rank, and where each row of the whole matrix is numbered; empty where they are as
/// they were given.
struct numbering {
    shares rows;
    host_vector<int> number_of;
};

shares shares_of(const host_vector<std::int64_t>& counts) {
    shares s;
    for (const std::int64_t count : counts) s.first.push_back(index(s.first.back() + count));
    return s;
}

numbering by_vector(const matrix& A, const distribution& who, int n_global) {
    const auto ranks = std::size_t(A.on->ranks()->size());
    const auto owner = copied<int>(A, who.data, std::size_t(n_global), "partition_vector");
    host_vector<std::int64_t> counts(ranks, 0);
    for (const int rank : owner) {
        require(rank >= 0 && std::size_t(rank) < ranks, "partition_vector names no rank");
        ++counts[std::size_t(rank)];
    }
    numbering made{shares_of(counts), {}};
    if (std::ranges::is_sorted(owner)) return made;
    auto next = made.rows.first;
    for (const int rank : owner) made.number_of.push_back(next[std::size_t(rank)]++);
    return made;
}

numbering by_offsets(const matrix& A, const distribution& who, int n_global) {
    const auto count = std::size_t(A.on->ranks()->size()) + 1;
    host_vector<std::int64_t> first(count);
    if (who.narrow) {
        const auto narrow = copied<int>(A, who.data, count, "partition_data");
        std::ranges::copy(narrow, first.begin());
    } else {
        first = copied<std::int64_t>(A, who.data, count, "partition_data");
    }
    require(first.front() == 0 && first.back() == n_global && std::ranges::is_sorted(first),
            "the partition's offsets do not rise from 0 to n_global");
    numbering made;
    made.rows.first.assign(first.begin(), first.end());
    return made;
}

numbering number(const matrix& A, int n, int n_global, const distribution& who) {
    const communicator* const ranks = A.on->ranks();
    if (ranks == nullptr) {
        require(n == n_global, "n is not n_global, and there are no ranks");
        numbering one;
        one.rows.first = {0, n};
        return one;
    }
    if (who.data == nullptr) {
        host_vector<std::int64_t> counts;
        for (const int count : gathered(*ranks, n)) counts.push_back(count);
        return {shares_of(counts), {}};
    }
    return who.kind == AMGX_DIST_PARTITION_VECTOR ? by_vector(A, who, n_global)
                                                  : by_offsets(A, who, n_global);
}

/// As replace_values, of values that are held on the GPU.
void replace_on_gpu(matrix& to, const void* val, const void* diagonal) {
    auto values = copied_to_gpu<std::byte>(to, val, to.gpu_blocks->val.size(), "data");
    if (diagonal != nullptr)
        to.gpu_blocks->diagonal =
            copied_to_gpu<std::byte>(to, diagonal, to.gpu_blocks->diagonal.size(), "diag_data");
    to.gpu_blocks->val = std::move(values);
    to.val.clear(), to.diagonal.clear();
    to.values_id = next_id();
}

/// f() on all ranks, or on none: what one throws, all do.
void together(const communicator* ranks, const std::function<void()>& f) {
    if (ranks == nullptr) return f();
    agree(ranks, [&] {
        try {
            f();
        } catch (const failure& e) {
            throw argument_error(e.what());
        }
    });
}

}  // namespace

matrix::matrix(AMGX_Mode m, std::shared_ptr<resources> r)
    : mode(m), parts(parts_of(m)), on(std::move(r)) {}
matrix::~matrix() = default;

void upload(matrix& to, const given_blocks& given, int n_global, const distribution& who) {
    const communicator* const ranks = to.on->ranks();
    read_blocks r;
    numbering numbers;
    if (ranks == nullptr || who.data != nullptr)
        together(ranks, [&] { numbers = number(to, given.n, n_global, who); });
    else
        numbers = number(to, given.n, n_global, who);
    const int rank = ranks == nullptr ? 0 : ranks->rank();
    host_vector<int> as_given;
    together(ranks, [&] {
        require(numbers.rows.total() == n_global && numbers.rows.count(rank) == given.n,
                "n is not the number of rows that the partition gives this rank");
        r = read(to, given);
        require(
            ranks == nullptr || std::ranges::all_of(r.col_ind, [&](int c) { return c < n_global; }),
            "a column is not below n_global");
        if (numbers.number_of.empty()) return;
        as_given = r.col_ind;
        for (int& c : r.col_ind) c = numbers.number_of[std::size_t(c)];
    });
    const bool same_columns = r.gpu_blocks
                                  ? to.gpu_blocks && to.gpu_blocks->pattern == r.gpu_blocks->pattern
                                  : to.col_ind == r.col_ind;
    const bool is_apart = given.diagonal != nullptr && given.n > 0;
    const bool same = to.is_uploaded() && to.row_ptr == r.row_ptr && same_columns &&
                      to.block_x == given.block_x && to.rows == numbers.rows &&
                      to.diagonal_is_apart == is_apart;
    to.n = given.n, to.nnz = given.nnz, to.n_global = n_global;
    to.block_x = given.block_x, to.block_y = given.block_y;
    to.row_ptr = std::move(r.row_ptr), to.col_ind = std::move(r.col_ind);
    to.val = std::move(r.val), to.diagonal = std::move(r.diagonal);
    to.gpu_blocks = std::move(r.gpu_blocks), to.diagonal_is_apart = is_apart;
    to.given_columns = std::move(as_given);
    to.rows = std::move(numbers.rows);
    to.values_id = next_id();
    if (!same) to.pattern_id = to.values_id;
}

void matrix::bring_home() const {
    if (!gpu_blocks) return;
    const auto fetch = [&](const auto& from, auto& to) {
        if (!to.empty() || from.size() == 0) return;
        to.resize(from.size());
        copy_anywhere(on->device(), from.data(), to.data(), to.size() * sizeof(to[0]));
    };
    fetch(gpu_blocks->col_ind, col_ind), fetch(gpu_blocks->val, val),
        fetch(gpu_blocks->diagonal, diagonal);
}

void replace_values(matrix& to, int n, int nnz, const void* val, const void* diagonal) {
    require(to.is_uploaded(), "the matrix was not uploaded");
    require(n == to.n && nnz == to.nnz, "n or nnz is another than that of the upload");
    require((diagonal != nullptr) == to.diagonal_is_apart || to.n == 0,
            "diag_data is given, or is not, other than in the upload");
    if (to.gpu_blocks) return replace_on_gpu(to, val, diagonal);
    auto values = copied<std::byte>(to, val, to.val.size(), "data");
    if (diagonal != nullptr)
        to.diagonal = copied<std::byte>(to, diagonal, to.diagonal.size(), "diag_data");
    to.val = std::move(values);
    to.values_id = next_id();
}

}  // namespace nz::amgx
