#include "nonzero/io/petsc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <numeric>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/standard_input.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz::petsc {
namespace {

/// The numbers that begin an object of each class, PETSc's *_FILE_CLASSID.
constexpr std::int64_t vec_id = 1211214, mat_id = 1211216, is_id = 1211218;
constexpr std::int64_t least_id = 1211213, most_id = 1211225;
[[nodiscard]] constexpr bool is_class_id(std::int64_t n) { return n >= least_id && n <= most_id; }

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

/// As above, of whole numbers of the file's indices' size.
template <class F>
void for_each_index(const std::string& path, std::int64_t at, std::int64_t count,
                    std::int64_t index_bytes, F f) {
    if (index_bytes == 4) return for_each_number<std::int32_t>(path, at, count, f);
    for_each_number<std::int64_t>(path, at, count, f);
}

std::int64_t columns_at(const header& h) { return h.index_bytes * (4 + std::int64_t(h.rows)); }
std::int64_t values_at(const header& h) { return columns_at(h) + h.index_bytes * h.entries; }

/// The bytes of the indices in a file that begins with an object of PETSc's, else 0.
std::int64_t index_bytes_of(const std::string& path) {
    std::int64_t first = 0;
    const auto look = [&](std::int64_t bytes) {
        if (file_bytes(path) < bytes) return false;
        for_each_index(path, 0, 1, bytes, [&](auto, std::int64_t v) { first = v; });
        return is_class_id(first);
    };
    return look(4) ? 4 : look(8) ? 8 : 0;
}

/// Rest of the file behind the matrix, for one size in bytes of all its values.
enum class rest {
    too_short,  ///< not even the matrix
    nothing,    ///< the file ends with the matrix
    objects,    ///< whole objects up to the file's end, or up to one that is cut off or of a class
                ///< whose length nobody tells
    begun,      ///< such an object at once, or garbage behind whole ones
    garbage     ///< no object
};

/// Walks over the objects behind the first one.
class object_walk {
  public:
    object_walk(const std::string& path, std::int64_t index_bytes, std::int64_t scalar_bytes)
        : file_(place_of(path), std::ios::binary),
          end_(file_bytes(path)),
          index_bytes_(index_bytes),
          scalar_bytes_(scalar_bytes) {}

    rest from(std::int64_t at) {
        // So many seams that fit are no chance, and a walk over all of a file's would take long.
        constexpr int most_objects = 1000;
        if (at > end_) return rest::too_short;
        if (at == end_) return rest::nothing;
        for (int k = 0; k < most_objects && at < end_; ++k) {
            const std::int64_t bytes = object_bytes(at);
            if (bytes == 0) return k == 0 ? rest::garbage : rest::begun;
            if (bytes < 0 || bytes > end_ - at) return k == 0 ? rest::begun : rest::objects;
            at += bytes;
        }
        return rest::objects;
    }

  private:
    /// Of the object at byte `at`; 0 where there is none, -1 where it cannot be told.
    std::int64_t object_bytes(std::int64_t at) {
        const std::int64_t id = index_at(at);
        if (!is_class_id(id)) return 0;
        const std::int64_t first = index_at(at + index_bytes_);
        if (first < 0 || (id != vec_id && id != is_id && id != mat_id)) return -1;
        if (id == vec_id) return added(2, 0, first);
        if (id == is_id) return added(2, first, 0);
        const std::int64_t cols = index_at(at + 2 * index_bytes_);
        const std::int64_t entries = index_at(at + 3 * index_bytes_);
        if (entries >= 0) return added(4, std::min(first, end_) + std::min(entries, end_), entries);
        const bool fits = cols >= 0 && (cols == 0 || first <= end_ / cols);
        return entries == -1 && fits ? added(4, 0, first * cols) : -1;  // a dense one
    }
    /// The bytes of these counts of indices and scalars; -1 where the file is shorter.
    [[nodiscard]] std::int64_t added(std::int64_t header, std::int64_t indices,
                                     std::int64_t scalars) const {
        if (indices > end_ || scalars > end_) return -1;
        return index_bytes_ * (header + indices) + scalar_bytes_ * scalars;
    }
    /// -1 where the file ends.
    std::int64_t index_at(std::int64_t at) {
        std::array<char, 8> bytes{};
        if (end_ - at < index_bytes_) return -1;
        file_.seekg(at);
        if (!file_.read(bytes.data(), index_bytes_)) return -1;
        return index_bytes_ == 4 ? number_at<std::int32_t>(bytes.data())
                                 : number_at<std::int64_t>(bytes.data());
    }

    std::ifstream file_;
    std::int64_t end_, index_bytes_, scalar_bytes_;
};

/// Whether the values are complex: nothing in the file says so, but what stands behind them does.
/// Objects that begin just where the values would end are no chance. Complex values would have to
/// be of 2.6e-308 there, and a matrix of them that ends with the file is only as long.
bool has_complex_values(const std::string& path, const header& h) {
    const auto behind = [&](std::int64_t bytes) {
        return object_walk(path, h.index_bytes, bytes).from(values_at(h) + bytes * h.entries);
    };
    if (h.entries == 0) return false;
    const rest single = behind(4), real = behind(8), complex = behind(16);
    if (single == rest::objects)
        throw parse_error(path, 0, "values in single precision, expected double precision");
    if (real == rest::too_short)
        throw parse_error(
            path, 0,
            fmt::format("{} bytes, expected {} at least for {} rows and {} entries",
                        file_bytes(path), values_at(h) + 8 * h.entries, h.rows, h.entries));
    if (real == rest::nothing || real == rest::objects) return false;
    const bool fits = complex == rest::nothing || complex == rest::objects;
    if (fits && real == rest::garbage) return true;
    const bool may_be = fits || complex == rest::begun;
    if (real == rest::begun && !may_be) return false;
    if (complex == rest::begun && real == rest::garbage) return true;
    throw parse_error(
        path, 0,
        fmt::format("{} bytes, expected {} for real values, {} for complex ones, or "
                    "other objects of PETSc's behind them",
                    file_bytes(path), values_at(h) + 8 * h.entries, values_at(h) + 16 * h.entries));
}

template <class V>
host_vector<V> read_values(const std::string& path, const header& h, std::int64_t before,
                           std::int64_t count) {
    host_vector<V> val(std::size_t(count), V(0));
    const std::int64_t parts = h.is_complex ? 2 : 1;
    const std::int64_t at = values_at(h) + 8 * parts * before;
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

bool is_petsc(const std::string& path) { return index_bytes_of(path) != 0; }

header read_header(const std::string& path) {
    header h;
    h.index_bytes = index_bytes_of(path);
    if (h.index_bytes == 0)
        throw parse_error(path, 0, "is no PETSc matrix, expected 1211216 as its first number");
    std::int64_t sizes[4] = {};
    const auto read_numbers = [&](std::int64_t count) {
        for_each_index(path, 0, count, h.index_bytes,
                       [&](auto k, std::int64_t v) { sizes[k] = v; });
    };
    read_numbers(1);
    if (sizes[0] != mat_id)
        throw parse_error(path, 0,
                          fmt::format("begins with {} of PETSc's, expected a matrix",
                                      sizes[0] == vec_id  ? "a vector"
                                      : sizes[0] == is_id ? "an index set"
                                                          : "another object"));
    if (file_bytes(path) < 4 * h.index_bytes)
        throw parse_error(path, 0,
                          fmt::format("{} bytes, expected {} at least of a PETSc matrix",
                                      file_bytes(path), 4 * h.index_bytes));
    read_numbers(4);
    constexpr std::int64_t most = std::numeric_limits<index>::max();
    // No file holds more entries than this; a sum of bytes must fit into 64 bits.
    constexpr std::int64_t most_entries = std::int64_t(1) << 56;
    if (std::min(sizes[1], sizes[2]) < 0 || std::max(sizes[1], sizes[2]) > most || sizes[3] < 0 ||
        sizes[3] > most_entries)
        throw parse_error(
            path, 0,
            fmt::format("{} x {} with {} entries, expected a sparse matrix of at most {} rows",
                        sizes[1], sizes[2], sizes[3], most));
    h.rows = index(sizes[1]), h.cols = index(sizes[2]), h.entries = sizes[3];
    if (file_bytes(path) < values_at(h))
        throw parse_error(
            path, 0,
            fmt::format("{} bytes, expected {} at least for {} rows and {} entries",
                        file_bytes(path), values_at(h) + 8 * h.entries, h.rows, h.entries));
    h.is_complex = has_complex_values(path, h);
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
    for_each_index(path, h.index_bytes * (4 + rows.first), std::int64_t(lengths.size()),
                   h.index_bytes, [&](std::int64_t k, std::int64_t length) {
                       if (length < 0 || length > h.cols)
                           throw parse_error(path, 0,
                                             fmt::format("row {} has {} entries, expected 0 to {}",
                                                         rows.first + k + 1, length, h.cols));
                       lengths[std::size_t(k)] = index(length);
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
    for_each_index(path, columns_at(h) + h.index_bytes * before, ptr.back(), h.index_bytes,
                   [&](std::int64_t k, std::int64_t j) {
                       if (j < 0 || j >= h.cols)
                           throw parse_error(
                               path, 0,
                               fmt::format("entry {} is in column {}, expected 0 to {}", before + k,
                                           j, std::int64_t(h.cols) - 1));
                       A.col_ind[std::size_t(k)] = index(j);
                   });
    A.val = read_values<V>(path, h, before, ptr.back());
    return canonical(std::move(A));
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
    for (const std::int32_t v :
         {std::int32_t(mat_id), A.shape.rows, A.shape.cols, std::int32_t(A.val.size())})
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
