#include "nonzero/io/npz.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <limits>

#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/npy.hpp"
#include "nonzero/io/standard_input.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz::npz {
namespace {

// -- the archive
// -----------------------------------------------------------------------------------

struct discarder {
    void operator()(zip_t* z) const { zip_discard(z); }
};
using zip_handle = std::unique_ptr<zip_t, discarder>;

zip_handle open_archive(const std::string& path, int flags, int& code) {
    return zip_handle(zip_open(path.c_str(), flags, &code));
}

std::string reason(int code) {
    zip_error_t e;
    zip_error_init_with_code(&e, code);
    std::string text = zip_error_strerror(&e);
    zip_error_fini(&e);
    return text;
}

/// A sparse matrix's archive, its small arrays read.
struct sparse_archive {
    explicit sparse_archive(const std::string& at) : path(at) {
        int code = 0;
        zip = open_archive(place_of(path), ZIP_RDONLY, code);
        if (!zip)
            throw parse_error(path, 0, fmt::format("{}, expected a .npz archive", reason(code)));
        format = array("format").read_word();
        if (format != "csr" && format != "csc" && format != "coo")
            throw parse_error(
                path, 0, fmt::format("format.npy: format '{}', expected csr, csc or coo", format));
        host_vector<std::int64_t> sizes;
        npy s = array("shape");
        if (s.count() != 2) s.fail(fmt::format("{} sizes, expected 2", s.count()));
        s.read_integers(sizes, 0, std::numeric_limits<index>::max());
        shape = {index(sizes[0]), index(sizes[1])};
    }
    [[nodiscard]] npy array(const std::string& name) const { return {path, zip.get(), name}; }
    [[nodiscard]] bool has(const char* name) const {
        return zip_name_locate(zip.get(), name, 0) >= 0;
    }

    const std::string& path;
    zip_handle zip;
    std::string format;
    nz::shape shape;
};

template <class V>
host_vector<V> read_data(const sparse_archive& a, std::int64_t entries) {
    npy data = a.array("data");
    if (data.sizes().size() != 1 || data.count() != entries)
        data.fail(
            fmt::format("{} elements, expected one for each of {} indices", data.count(), entries));
    host_vector<V> values;
    data.read_values(values);
    return values;
}

/// Row pointers as narrow as P. SciPy ignores what stands behind the last row, and so it is here.
template <class P>
host_vector<P> read_row_ptr(const sparse_archive& a, std::int64_t rows, std::int64_t entries) {
    npy array = a.array("indptr");
    if (array.count() != rows + 1)
        array.fail(fmt::format("{} elements, expected {}", array.count(), rows + 1));
    host_vector<P> ptr;
    array.read_integers(ptr, 0, entries);
    if (ptr[0] != 0) array.fail(fmt::format("starts with {}, expected 0", ptr[0]));
    const auto at = std::is_sorted_until(ptr.begin(), ptr.end());
    if (at != ptr.end())
        array.fail(fmt::format("element {} is {}, expected no less than the one before",
                               at - ptr.begin(), *at));
    return ptr;
}

template <class V>
csr<V, host> read_compressed(const sparse_archive& a, nz::shape shape) {
    csr<V, host> A{shape, {}, {}, {}};
    npy indices = a.array("indices");
    const std::int64_t entries = indices.count();
    if (entries <= offset_vector::max_narrow) {
        A.row_ptr = offset_vector(read_row_ptr<std::int32_t>(a, shape.rows, entries));
    } else {
        A.row_ptr = offset_vector::wide(read_row_ptr<offset>(a, shape.rows, entries));
    }
    indices.read_integers(A.col_ind, 0, std::int64_t(shape.cols) - 1);
    A.val = read_data<V>(a, entries);
    A.col_ind.resize(std::size_t(A.row_ptr.back()));
    A.val.resize(std::size_t(A.row_ptr.back()));
    return A;
}

template <class V>
csr<V, host> read_triplets(const sparse_archive& a) {
    host_vector<index> row, col;
    if (a.has("coords.npy")) {
        npy coords = a.array("coords");
        if (coords.sizes().size() != 2 || coords.sizes()[0] != 2)
            coords.fail("not of two rows, expected row and column numbers");
        coords.read_integers(row, 0, std::int64_t(std::max(a.shape.rows, a.shape.cols)) - 1);
        col.assign(row.begin() + std::ptrdiff_t(row.size() / 2), row.end());
        row.resize(row.size() / 2);
        const auto outside = [](const host_vector<index>& v, index size) {
            return std::any_of(v.begin(), v.end(), [&](index k) { return k >= size; });
        };
        if (outside(row, a.shape.rows) || outside(col, a.shape.cols))
            coords.fail("an index outside the matrix, expected none");
    } else {
        a.array("row").read_integers(row, 0, std::int64_t(a.shape.rows) - 1);
        npy cols = a.array("col");
        if (cols.count() != std::int64_t(row.size()))
            cols.fail(fmt::format("{} elements, expected as many as in row.npy, {}", cols.count(),
                                  row.size()));
        cols.read_integers(col, 0, std::int64_t(a.shape.cols) - 1);
    }
    const auto val = read_data<V>(a, std::int64_t(row.size()));
    return assemble<V>(a.shape, row, col, val);
}

// -- writing
// ---------------------------------------------------------------------------------------

constexpr char byte_order = std::endian::native == std::endian::little ? '<' : '>';

/// The header of a .npy file of version 1, padded so that the data start at a multiple of 64.
std::string npy_header(const std::string& type, const std::string& sizes) {
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, sizes);
    text.append(63 - (10 + text.size()) % 64, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += char(text.size() % 256);
    header += char(text.size() / 256);
    return header + text;
}

/// The arrays of an archive to be written; borrowed until close().
class archive_writer {
  public:
    explicit archive_writer(const std::string& path) : file_(path), path_(path) {
        int code = 0;
        zip_ = open_archive(file_.temporary_name(), ZIP_CREATE | ZIP_TRUNCATE, code);
        if (!zip_) fail(reason(code));
    }

    /// @param type  as NumPy describes it, without the byte order: "i4"
    void add(const std::string& name, const std::string& type, const std::string& sizes,
             const void* data, std::size_t bytes) {
        const std::string& header =
            headers_.emplace_back(std::make_unique<std::string>(npy_header(type, sizes)))
                .
                operator*();
        zip_buffer_fragment_t parts[] = {
            {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
            {static_cast<zip_uint8_t*>(const_cast<void*>(data)), bytes}};
        zip_source_t* source = zip_source_buffer_fragment(zip_.get(), parts, bytes == 0 ? 1 : 2, 0);
        if (source == nullptr) fail(zip_strerror(zip_.get()));
        const zip_int64_t at = zip_file_add(zip_.get(), (name + ".npy").c_str(), source, 0);
        if (at < 0) {
            zip_source_free(source);
            fail(zip_strerror(zip_.get()));
        }
        zip_set_file_compression(zip_.get(), zip_uint64_t(at), ZIP_CM_STORE, 0);
    }

    void close() {
        if (zip_close(zip_.get()) != 0) fail(zip_strerror(zip_.get()));
        (void)zip_.release();
        file_.commit();
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw error(fmt::format("{}: cannot write: {}", path_, why));
    }

    atomic_file file_;
    std::string path_;
    std::vector<std::unique_ptr<std::string>> headers_;
    zip_handle zip_;
};

}  // namespace

std::optional<stored_header> read_stored_header(const std::string& path) {
    const sparse_archive a(path);
    if (a.format != "csr") return std::nullopt;
    npy ptr = a.array("indptr");
    const npy indices = a.array("indices"), data = a.array("data");
    if (!ptr.is_stored() || !indices.is_stored() || !data.is_stored()) return std::nullopt;
    if (ptr.count() != std::int64_t(a.shape.rows) + 1)
        ptr.fail(fmt::format("{} elements, expected {}", ptr.count(), a.shape.rows + 1));
    if (data.sizes().size() != 1 || data.count() != indices.count())
        data.fail(fmt::format("{} elements, expected one for each of {} indices", data.count(),
                              indices.count()));
    host_vector<std::int64_t> last;
    ptr.cut({a.shape.rows, std::int64_t(a.shape.rows) + 1});
    ptr.read_integers(last, 0, indices.count());
    return stored_header{a.shape, last[0]};
}

host_vector<index> read_stored_lengths(const std::string& path, const stored_header& h,
                                       range rows) {
    const sparse_archive a(path);
    npy array = a.array("indptr");
    host_vector<std::int64_t> ptr;
    array.cut({rows.first, rows.last + 1});
    array.read_integers(ptr, 0, h.entries);
    if (rows.first == 0 && ptr[0] != 0)
        array.fail(fmt::format("starts with {}, expected 0", ptr[0]));
    host_vector<index> lengths;
    for (std::size_t i = 1; i < ptr.size(); ++i) {
        const std::int64_t length = ptr[i] - ptr[i - 1];
        if (length < 0)
            array.fail(fmt::format("element {} is {}, expected no less than the one before",
                                   rows.first + std::int64_t(i), ptr[i]));
        if (length > std::numeric_limits<index>::max())
            array.fail(fmt::format("row {} has {} entries, expected fewer than 2^31",
                                   rows.first + std::int64_t(i) - 1, length));
        lengths.push_back(index(length));
    }
    return lengths;
}

template <class V>
csr<V, host> read_stored_rows(const std::string& path, const stored_header& h,
                              std::span<const index> lengths, std::int64_t before) {
    const sparse_archive a(path);
    host_vector<offset> ptr{0};
    for (const index length : lengths) ptr.push_back(ptr.back() + length);
    csr<V, host> A{{index(lengths.size()), h.shape.cols}, offset_vector(ptr), {}, {}};
    npy indices = a.array("indices"), data = a.array("data");
    indices.cut({before, before + ptr.back()}), data.cut({before, before + ptr.back()});
    indices.read_integers(A.col_ind, 0, std::int64_t(h.shape.cols) - 1);
    data.read_values(A.val);
    return canonical(std::move(A));
}

file_info inspect(const std::string& path) {
    const sparse_archive a(path);
    const npy data = a.array("data");
    const char kind = data.type().kind;
    return {"npz",
            a.shape,
            data.count(),
            kind == 'c'   ? field::complex
            : kind == 'f' ? field::real
                          : field::integer,
            symmetry::general,
            false};
}

template <class V>
csr<V, host> read(const std::string& path, const read_options& options) {
    const sparse_archive a(path);
    csr<V, host> A;
    if (a.format == "coo") {
        A = read_triplets<V>(a);
    } else if (a.format == "csr") {
        A = read_compressed<V>(a, a.shape);
    } else {
        A = transpose(view(read_compressed<V>(a, {a.shape.cols, a.shape.rows})));
    }
    A = canonical(std::move(A));
    if (options.progress) options.progress(1.0);
    return A;
}

template <class V>
void write(const std::string& path, const csr<V, host_view>& A) {
    const auto order = [](const char* type) { return byte_order + std::string(type); };
    const auto length = [](std::size_t n) { return fmt::format("{},", n); };
    const std::int64_t sizes[] = {A.shape.rows, A.shape.cols};
    archive_writer to(path);
    to.add("format", "|S3", "", "csr", 3);
    to.add("shape", order("i8"), "2,", sizes, sizeof sizes);
    to.add("indptr", order(A.row_ptr.wide() ? "i8" : "i4"), length(A.row_ptr.size()),
           A.row_ptr.data(), A.row_ptr.size_bytes());
    to.add("indices", order("i4"), length(A.col_ind.size()), A.col_ind.data(),
           A.col_ind.size_bytes());
    to.add("data", order(((is_complex<V> ? "c" : "f") + std::to_string(sizeof(V))).c_str()),
           length(A.val.size()), A.val.data(), A.val.size_bytes());
    to.close();
}

#define NZ_INSTANTIATE(V)                                                            \
    template csr<V, host> read(const std::string&, const read_options&);             \
    template csr<V, host> read_stored_rows(const std::string&, const stored_header&, \
                                           std::span<const index>, std::int64_t);    \
    template void write(const std::string&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::npz
