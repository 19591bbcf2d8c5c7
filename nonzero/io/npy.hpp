// An array of NumPy's inside an archive: what .npz files are made of.
#pragma once

#include <fmt/core.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/value.hpp"
#include "nonzero/io/standard_input.hpp"

namespace nz::npz {

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
        const auto file_bytes = double(std::filesystem::file_size(place_of(path_)));
        if (double(s.comp_size) > file_bytes || double(s.size) > 1032.0 * double(s.comp_size) + 64)
            fail(fmt::format("{} bytes from {} of a file of {}, expected fewer", s.size,
                             s.comp_size, file_bytes));
        file_.reset(zip_fopen(archive, name_.c_str(), 0));
        if (!file_) fail(fmt::format("cannot be opened: {}", zip_strerror(archive)));
        bytes_ = std::int64_t(s.size);
        is_stored_ = (s.valid & ZIP_STAT_COMP_METHOD) != 0 && s.comp_method == ZIP_CM_STORE;
        read_header();
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw parse_error(path_, 0, name_ + ": " + what);
    }

    [[nodiscard]] const element_type& type() const { return type_; }
    [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }
    [[nodiscard]] std::int64_t count() const { return count_; }

    /// Whether the archive has it as it is, so that it can be cut.
    [[nodiscard]] bool is_stored() const { return is_stored_; }
    /// Only these elements are read then, once; the archive's checksum is not compared. Before
    /// anything else is read of an array that is stored.
    void cut(range elements) {
        if (elements.first < 0 || elements.first > elements.last || elements.last > count_ ||
            zip_fseek(file_.get(), elements.first * type_.bytes, SEEK_CUR) != 0)
            fail(fmt::format("cannot be read from element {} on", elements.first));
        first_ = elements.first, count_ = elements.last - elements.first, is_cut_ = true;
    }

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
        if (is_cut_) return;
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
                    fail(fmt::format("element {} is {}, expected {} to {}",
                                     first_ + std::int64_t(k), v, least, most));
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

    /// Text behind a key of the header, a Python dictionary.
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
    std::int64_t bytes_ = 0, first_ = 0, count_ = 0;
    bool is_stored_ = false, is_cut_ = false;
    element_type type_;
    std::vector<std::int64_t> sizes_;
};

}  // namespace nz::npz
