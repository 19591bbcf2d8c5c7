#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"
#include "nonzero/io/matrix_market/matrix_market_lines.hpp"
#include "nonzero/io/text.hpp"
#include "nonzero/matrix/mirror.hpp"

namespace nz::matrix_market {
namespace {

/// Appends numbers and separators to a text.
class formatter {
  public:
    explicit formatter(std::string& to) : to_(to) {}
    void separator(char c) { to_ += c; }
    void number(std::int64_t n) { append(n); }
    /// The fewest digits that read back as the same number.
    template <class R>
    void value(R v) {
        append(v);
    }
    template <class R>
    void value(std::complex<R> v) {
        append(v.real());
        separator(' ');
        append(v.imag());
    }

  private:
    template <class T>
    void append(T v) {
        std::array<char, 32> digits;  // a double takes at most 24
        to_.append(digits.data(),
                   std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr);
    }
    std::string& to_;
};

template <class V>
constexpr field field_of = is_complex<V> ? field::complex : field::real;

/// Text into a file, gzipped or not: made and packed in parallel, block by block.
class text_sink {
  public:
    text_sink(const std::string& path, bool gzip) : file_(path), gzip_(gzip) {}

    void write(const std::string& text) { file_.write(packed(text)); }

    /// format(first, last, text) appends the lines of the items [first, last).
    template <class Format>
    void write_items(std::int64_t count, Format format) {
        constexpr std::int64_t block = 1 << 15;  // items: half a megabyte of text or so
        const std::int64_t blocks = (count + block - 1) / block;
        const int threads = thread_count({});
        std::vector<std::string> texts(static_cast<std::size_t>(threads));
        for (std::int64_t first = 0; first < blocks; first += threads) {
            parallel(threads, [&](int t) {
                std::string& text = texts[std::size_t(t)];
                text.clear();
                const std::int64_t b = (first + t) * block;
                if (b < count) format(b, std::min(b + block, count), text);
                if (gzip_ && !text.empty()) text = gzip_member(text);
            });
            for (const std::string& text : texts) file_.write(text);
        }
    }
    void commit() { file_.commit(); }

  private:
    [[nodiscard]] std::string packed(const std::string& text) const {
        return gzip_ ? gzip_member(text) : text;
    }

    atomic_file file_;
    bool gzip_;
};

/// f(row, column, value) for the stored entries [first, last), wherever they are cut.
template <class V, class F>
void for_entries(const csr<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    A.row_ptr.visit([&](const auto* row_ptr) {
        const auto* const end = row_ptr + A.shape.rows + 1;
        std::int64_t i = std::upper_bound(row_ptr, end, first) - row_ptr - 1;
        for (std::int64_t k = first; k < last; ++k) {
            while (row_ptr[i + 1] <= k) ++i;
            f(index(i), A.col_ind[std::size_t(k)], A.val[std::size_t(k)]);
        }
    });
}

/// Throws argument_error unless A is what `store` says.
template <class V>
void check_symmetry(const csr<V, host_view>& A, symmetry store) {
    if (store == symmetry::general) return;
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("write: a {} matrix has as many rows as columns", name_of(store)));
    // One half of the values is lost: it must be that of the other to the last bit.
    if (const auto found = first_asymmetry(ascending<V>::known(A), store, 0))
        throw argument_error(fmt::format("write: entry ({}, {}) does not fit a {} matrix",
                                         found->row + 1, found->col + 1, name_of(store)));
}

}  // namespace

template <class V>
void write(const std::string& path, const csr<V, host_view>& A, symmetry store, bool gzip) {
    check_symmetry(A, store);
    // Entries on a skew-symmetric matrix's diagonal are 0: its format leaves them out.
    const int below = store == symmetry::skew_symmetric;
    const auto stored = [&](index i, index j) {
        return store == symmetry::general || j <= i - below;
    };
    std::int64_t entries = 0;
    for_each_entry(A, 0, A.shape.rows, [&](index i, index j, V) { entries += stored(i, j); });
    text_sink file(path, gzip);
    file.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n",
                           name_of(field_of<V>), name_of(store), A.shape.rows, A.shape.cols,
                           entries));
    file.write_items(std::int64_t(A.val.size()),
                     [&](std::int64_t first, std::int64_t last, std::string& text) {
                         formatter line(text);
                         for_entries(A, first, last, [&](index i, index j, V v) {
                             if (!stored(i, j)) return;
                             line.number(std::int64_t(i) + 1);
                             line.separator(' ');
                             line.number(std::int64_t(j) + 1);
                             line.separator(' ');
                             line.value(v);
                             line.separator('\n');
                         });
                     });
    file.commit();
}

template <class V>
void write_vector(const std::string& path, std::span<const V> x, bool gzip) {
    text_sink file(path, gzip);
    file.write(fmt::format("%%MatrixMarket matrix array {} general\n{} 1\n", name_of(field_of<V>),
                           x.size()));
    file.write_items(std::int64_t(x.size()),
                     [&](std::int64_t first, std::int64_t last, std::string& text) {
                         formatter line(text);
                         for (std::int64_t k = first; k < last; ++k) {
                             line.value(x[std::size_t(k)]);
                             line.separator('\n');
                         }
                     });
    file.commit();
}

#define NZ_INSTANTIATE(V)                                                              \
    template void write(const std::string&, const csr<V, host_view>&, symmetry, bool); \
    template void write_vector(const std::string&, std::span<const V>, bool);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::matrix_market
