#include "nonzero/io/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include "nonzero/io/atomic_file.hpp"

namespace nz::npz {
namespace {

// -- one array of the archive
// ----------------------------------------------------------------------

/// How NumPy describes an element: `<f8` is kind f, 8 bytes, little-endian.
struct element_type {
    char kind = 0;
    int bytes = 0;
    bool swapped = false;  ///< stored in the other byte order than this machine's
};

/// A .npy array inside an archive, read once from its start to its end.
class npy {
  public:
    npy(const std::string& path, zip_t* archive, std::string name)
        : path_(path), name_(std::move(name) + ".npy") {
        zip_stat_t s;
        if (zip_stat(archive, name_.c_str(), 0, &s) != 0 || (s.valid & needed) != needed)
            fail("is missing, expected the arrays that scipy.sparse.save_npz writes");
        // Deflate makes at most 1032 bytes of one; other methods are held to the same.
        const auto file_bytes = double(std::filesystem::file_size(path_));
        if (double(s.comp_size) > file_bytes || double(s.size) > 1032.0 * double(s.comp_size) + 64)
            fail(fmt::format("{} bytes from {} of a file of {}, expected fewer", s.size,
                             s.comp_size, file_bytes));
        file_.reset(zip_fopen(archive, name_.c_str(), 0));
        if (!file_) fail(fmt::format("cannot be opened: {}", zip_strerror(archive)));
        bytes_ = std::int64_t(s.size);
        read_header();
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw parse_error(path_, 0, name_ + ": " + what);
    }

    [[nodiscard]] const element_type& type() const { return type_; }
    [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }
    [[nodiscard]] std::int64_t count() const { return count_; }

    void read(void* to, std::size_t n) {
        for (char* at = static_cast<char*>(to); n > 0;) {
            const zip_int64_t got = zip_fread(file_.get(), at, n);
            if (got < 0) fail(zip_error_strerror(zip_file_get_error(file_.get())));
            if (got == 0) fail("ends early, expected more bytes");
            at += got, n -= std::size_t(got);
        }
    }

    /// Calls take(k, element) for all, the element as the type that is stored. The last byte read,
    /// the archive's checksum is compared.
    template <class Take>
    void for_each(Take take) {
        if (!with_type([&]<class T>(T) { read_as<T>(take); }))
            fail(
                fmt::format("elements {}{}, expected booleans, integers, or floating-point numbers "
                            "of 4 or 8 bytes",
                            type_.kind, type_.bytes));
        char beyond;
        if (zip_fread(file_.get(), &beyond, 1) != 0)
            fail(zip_error_strerror(zip_file_get_error(file_.get())));
    }

    /// Whole numbers from `least` to `most`, into any container of whole numbers.
    template <class T>
    void read_integers(host_vector<T>& to, std::int64_t least, std::int64_t most) {
        if (type_.kind != 'i' && type_.kind != 'u')
            fail(fmt::format("elements of kind {}, expected integers", type_.kind));
        to.resize(std::size_t(count_));
        for_each([&](std::size_t k, auto v) {
            if constexpr (std::is_integral_v<decltype(v)>) {
                if (std::cmp_less(v, least) || std::cmp_greater(v, most))
                    fail(fmt::format("element {} is {}, expected {} to {}", k, v, least, most));
                to[k] = T(v);
            }
        });
    }

    template <class V>
    void read_values(host_vector<V>& to) {
        if (type_.kind == 'c' && !is_complex<V>)
            fail(fmt::format("complex values, expected real ones to read as {}", value_name<V>()));
        to.resize(std::size_t(count_));
        for_each([&](std::size_t k, auto v) {
            if constexpr (!is_complex<decltype(v)>) {
                to[k] = V(real<V>(v));
            } else if constexpr (is_complex<V>) {
                to[k] = V(real<V>(v.real()), real<V>(v.imag()));
            }
        });
    }

    /// A word: bytes or UCS-4, as np.array(b"csr") or np.array("csr") store it.
    std::string read_word() {
        const bool wide = type_.kind == 'U';
        if ((type_.kind != 'S' && !wide) || count_ != 1 || type_.bytes > 64)
            fail("holds no word, expected one");
        std::array<char, 256> raw{};
        const std::size_t step = wide ? 4 : 1, n = std::size_t(type_.bytes) * step;
        read(raw.data(), n);
        const std::size_t low =
            wide && type_.swapped == (std::endian::native == std::endian::little) ? 3 : 0;
        std::string word;
        for (std::size_t k = low; k < n && raw[k] != 0; k += step) word += raw[k];
        return word;
    }

  private:
    static constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    struct closer {
        void operator()(zip_file_t* f) const { zip_fclose(f); }
    };

    void read_header() {
        std::array<unsigned char, 12> start{};
        if (bytes_ < 10) fail("is too short, expected a .npy header");
        read(start.data(), 10);
        if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
            fail("has no .npy header, expected one of version 1 to 3");
        std::size_t length = start[8] + std::size_t(start[9]) * 256, before = 10;
        if (start[6] > 1) {
            read(start.data() + 10, 2);
            length += (std::size_t(start[10]) + std::size_t(start[11]) * 256) << 16;
            before = 12;
        }
        if (length > (1U << 16) || std::int64_t(before + length) > bytes_)
            fail(fmt::format("a header of {} bytes, expected a short one", length));
        std::string text(length, ' ');
        read(text.data(), length);
        parse_type(text);
        parse_sizes(text);
        check_size(std::int64_t(before + length));
    }

    /// What stands behind a key of the header, a Python dictionary.
    std::string_view behind(std::string_view text, std::string_view key) const {
        const std::size_t at = text.find(key);
        const std::size_t colon = at == text.npos ? at : text.find(':', at);
        const std::size_t value =
            colon == text.npos ? colon : text.find_first_not_of(' ', colon + 1);
        if (value == text.npos) fail(fmt::format("no {} in the .npy header, expected one", key));
        return text.substr(value);
    }

    void parse_type(std::string_view text) {
        const std::string_view d = behind(text, "'descr'");
        const std::size_t end = d.empty() || d[0] != '\'' ? d.npos : d.find('\'', 1);
        if (end == d.npos || end < 4) fail("no plain element type, expected one such as '<f8'");
        const auto [stop, status] = std::from_chars(d.data() + 3, d.data() + end, type_.bytes);
        if (stop != d.data() + end || status != std::errc() || type_.bytes < 1 ||
            std::string_view("<>|=").find(d[1]) == d.npos)
            fail(fmt::format("element type {}, expected one such as '<f8'", d.substr(0, end + 1)));
        type_.kind = d[2];
        type_.swapped = d[1] == (std::endian::native == std::endian::little ? '>' : '<');
    }

    void parse_sizes(std::string_view text) {
        std::string_view s = behind(text, "'shape'");
        const std::size_t end = s.find(')');
        if (s[0] != '(' || end == s.npos) fail("no shape in the .npy header, expected one");
        for (const char *at = s.data() + 1, *stop = s.data() + end; at < stop;) {
            if (*at == ' ' || *at == ',') {
                ++at;
                continue;
            }
            std::int64_t n = -1;
            const auto [next, status] = std::from_chars(at, stop, n);
            if (status != std::errc() || n < 0 || sizes_.size() == 4)
                fail(fmt::format("shape {}, expected sizes", s.substr(0, end + 1)));
            sizes_.push_back(n);
            at = next;
        }
        if (sizes_.size() > 1 && behind(text, "'fortran_order'").starts_with("True"))
            fail("Fortran order, expected C order");
    }

    /// Before anything is allocated: does the file have the bytes that the header announces?
    void check_size(std::int64_t before) {
        const double element = type_.kind == 'U' ? 4.0 * type_.bytes : type_.bytes;
        double count = 1;
        for (const std::int64_t n : sizes_) count *= double(n);
        if (count * element != double(bytes_ - before))
            fail(fmt::format("{} bytes behind the header, expected {}", bytes_ - before,
                             count * element));
        count_ = std::int64_t(count);
    }

    template <class F>
    bool with_type(F f) const {
        const auto among = [&]<class... T>(char kind, T... as) {
            return type_.kind == kind && ((type_.bytes == int(sizeof(T)) && (f(as), true)) || ...);
        };
        return among('b', std::uint8_t()) ||
               among('i', std::int8_t(), std::int16_t(), std::int32_t(), std::int64_t()) ||
               among('u', std::uint8_t(), std::uint16_t(), std::uint32_t(), std::uint64_t()) ||
               among('f', float(), double()) ||
               among('c', std::complex<float>(), std::complex<double>());
    }

    template <class T, class Take>
    void read_as(Take take) {
        constexpr std::size_t batch = (std::size_t(1) << 18) / sizeof(T);
        host_vector<T> some(std::min(batch, std::size_t(count_)));
        for (std::size_t k = 0; k < std::size_t(count_);) {
            const std::size_t n = std::min(batch, std::size_t(count_) - k);
            read(some.data(), n * sizeof(T));
            if (type_.swapped) swap_bytes(some.data(), n);
            for (std::size_t e = 0; e < n; ++e) take(k + e, some[e]);
            k += n;
        }
    }

    template <class T>
    static void swap_bytes(T* at, std::size_t n) {
        const std::size_t part = is_complex<T> ? sizeof(T) / 2 : sizeof(T);
        auto* bytes = reinterpret_cast<unsigned char*>(at);
        for (auto* p = bytes; p < bytes + n * sizeof(T); p += part) std::reverse(p, p + part);
    }

    const std::string& path_;
    std::string name_;
    std::unique_ptr<zip_file_t, closer> file_;
    std::int64_t bytes_ = 0, count_ = 0;
    element_type type_;
    std::vector<std::int64_t> sizes_;
};

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
        zip = open_archive(path, ZIP_RDONLY, code);
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
    if (entries <= max_narrow_offset) {
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
bool is_canonical(const csr<V, host>& A) {
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        for (auto k = std::size_t(A.row_ptr[i]) + 1; k < std::size_t(A.row_ptr[i + 1]); ++k)
            if (A.col_ind[k - 1] >= A.col_ind[k]) return false;
    return true;
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
    if (!is_canonical(A)) A = canonical(view(A));
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
           A.row_ptr.data(), array_bytes(A.row_ptr));
    to.add("indices", order("i4"), length(A.col_ind.size()), A.col_ind.data(),
           A.col_ind.size_bytes());
    to.add("data", order(((is_complex<V> ? "c" : "f") + std::to_string(sizeof(V))).c_str()),
           length(A.val.size()), A.val.data(), A.val.size_bytes());
    to.close();
}

#define NZ_INSTANTIATE(V)                                                \
    template csr<V, host> read(const std::string&, const read_options&); \
    template void write(const std::string&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::npz
