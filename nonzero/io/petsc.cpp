#include "nonzero/io/petsc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <numeric>

#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/standard_input.hpp"
#include "nonzero/io/text.hpp"

namespace nz::petsc {
namespace {

constexpr std::int32_t class_id = 1211216;
constexpr std::int64_t header_bytes = 16;

/// The file's bytes of a number, and the number of its bytes.
template <class T>
std::array<char, sizeof(T)> swapped(T v) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(v);
    if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
    return bytes;
}
template <class T>
T number_at(const char* at) {
    std::array<char, sizeof(T)> bytes;
    std::copy_n(at, sizeof(T), bytes.begin());
    if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

/// f(k, number) for the `count` numbers of T from byte `at` on, by pieces.
template <class T, class F>
void for_each_number(const std::string& path, std::int64_t at, std::int64_t count, F f) {
    constexpr std::int64_t piece = 1 << 16;
    std::ifstream file(place_of(path), std::ios::binary);
    file.seekg(at);
    std::vector<char> bytes(std::size_t(std::min(piece, count)) * sizeof(T));
    for (std::int64_t k = 0; k < count; k += piece) {
        const std::int64_t n = std::min(piece, count - k);
        if (!file.read(bytes.data(), n * std::int64_t(sizeof(T))))
            throw parse_error(path, 0, "cannot be read to its end");
        for (std::int64_t i = 0; i < n; ++i)
            f(k + i, number_at<T>(bytes.data() + i * std::int64_t(sizeof(T))));
    }
}

std::int64_t columns_at(const header& h) { return header_bytes + 4 * std::int64_t(h.rows); }

template <class V>
host_vector<V> read_values(const std::string& path, const header& h, std::int64_t before,
                           std::int64_t count) {
    host_vector<V> val(std::size_t(count), V(0));
    const std::int64_t parts = h.is_complex ? 2 : 1;
    const std::int64_t at = columns_at(h) + 4 * h.entries + 8 * parts * before;
    for_each_number<double>(path, at, parts * count, [&](std::int64_t k, double v) {
        if constexpr (is_complex<V>) {
            V& to = val[std::size_t(k / parts)];
            to = k % parts == 0 ? V(real<V>(v)) : V(to.real(), real<V>(v));
        } else {
            val[std::size_t(k)] = V(v);
        }
    });
    return val;
}

}  // namespace

bool is_petsc(const std::string& path) {
    if (file_bytes(path) < header_bytes) return false;
    bool found = false;
    for_each_number<std::int32_t>(path, 0, 1, [&](auto, std::int32_t v) { found = v == class_id; });
    return found;
}

header read_header(const std::string& path) {
    if (!is_petsc(path)) throw parse_error(path, 0, "is no PETSc matrix");
    std::int32_t sizes[3] = {};
    for_each_number<std::int32_t>(path, 4, 3, [&](auto k, std::int32_t v) { sizes[k] = v; });
    header h{sizes[0], sizes[1], sizes[2], false};
    if (h.rows < 0 || h.cols < 0 || h.entries < 0)
        throw parse_error(path, 0,
                          fmt::format("{} x {} with {} entries, expected a sparse matrix with "
                                      "32-bit indices",
                                      h.rows, h.cols, h.entries));
    const std::int64_t bytes = file_bytes(path), without = columns_at(h) + 4 * h.entries;
    if (bytes < without + 8 * h.entries)
        throw parse_error(path, 0,
                          fmt::format("{} bytes, expected {} at least for {} rows and {} entries",
                                      bytes, without + 8 * h.entries, h.rows, h.entries));
    h.is_complex = h.entries > 0 && bytes == without + 16 * h.entries;
    return h;
}

file_info inspect(const std::string& path) {
    const header h = read_header(path);
    return {"petsc",           {h.rows, h.cols},
            h.entries,         h.is_complex ? field::complex : field::real,
            symmetry::general, false};
}

host_vector<index> read_lengths(const std::string& path, const header& h, range rows) {
    host_vector<index> lengths(std::size_t(rows.last - rows.first));
    for_each_number<std::int32_t>(path, header_bytes + 4 * rows.first, std::int64_t(lengths.size()),
                                  [&](std::int64_t k, index length) {
                                      if (length < 0 || length > h.cols)
                                          throw parse_error(
                                              path, 0,
                                              fmt::format("row {} has {} entries, expected 0 to {}",
                                                          rows.first + k + 1, length, h.cols));
                                      lengths[std::size_t(k)] = length;
                                  });
    return lengths;
}

template <class V>
csr<V, host> read_rows(const std::string& path, const header& h, std::span<const index> lengths,
                       std::int64_t before) {
    if (h.is_complex && !is_complex<V>)
        throw parse_error(
            path, 0,
            fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
    host_vector<offset> ptr(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), ptr.begin() + 1, std::plus<offset>());
    if (before + ptr.back() > h.entries)
        throw parse_error(path, 0, fmt::format("rows of more than {} entries in all", h.entries));
    csr<V, host> A{{index(lengths.size()), h.cols}, offset_vector(ptr), {}, {}};
    A.col_ind.resize(std::size_t(ptr.back()));
    for_each_number<std::int32_t>(
        path, columns_at(h) + 4 * before, ptr.back(), [&](std::int64_t k, index j) {
            if (j < 0 || j >= h.cols)
                throw parse_error(path, 0,
                                  fmt::format("entry {} is in column {}, expected 0 to {}",
                                              before + k, j, std::int64_t(h.cols) - 1));
            A.col_ind[std::size_t(k)] = j;
        });
    A.val = read_values<V>(path, h, before, ptr.back());
    return order_of(view(A)) == row_order::ascending ? std::move(A) : canonical(view(A));
}

template <class V>
csr<V, host> read(const std::string& path) {
    const header h = read_header(path);
    const auto lengths = read_lengths(path, h, {0, h.rows});
    const auto in_rows = std::accumulate(lengths.begin(), lengths.end(), std::int64_t(0));
    if (in_rows != h.entries)
        throw parse_error(
            path, 0, fmt::format("rows of {} entries in all, expected {}", in_rows, h.entries));
    return read_rows<V>(path, h, lengths, 0);
}

template <class V>
void write(const std::string& path, const csr<V, host_view>& A) {
    if (A.val.size() > std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw argument_error("write: " + path + ": more than 2^31 - 1 entries");
    atomic_file file(path);
    std::vector<char> buffer;
    const auto flush = [&](std::size_t least) {
        if (buffer.size() < least) return;
        file.write(buffer);
        buffer.clear();
    };
    const auto put = [&](auto number) {
        const auto bytes = swapped(number);
        buffer.insert(buffer.end(), bytes.begin(), bytes.end());
        flush(std::size_t(1) << 20);
    };
    for (const std::int32_t v : {class_id, A.shape.rows, A.shape.cols, std::int32_t(A.val.size())})
        put(v);
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        put(std::int32_t(A.row_ptr[i + 1] - A.row_ptr[i]));
    for (const index j : A.col_ind) put(j);
    for (const V v : A.val) {
        put(double(std::real(v)));
        if constexpr (is_complex<V>) put(double(std::imag(v)));
    }
    flush(1);
    file.commit();
}

#define NZ_INSTANTIATE(V)                                                                      \
    template csr<V, host> read_rows(const std::string&, const header&, std::span<const index>, \
                                    std::int64_t);                                             \
    template csr<V, host> read(const std::string&);                                            \
    template void write(const std::string&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::petsc
