// A small awkward matrix, its vectors and its scalars from the fuzzer's bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::fuzz {

/// The fuzzer's bytes one after the other, and zeros behind them.
class byte_reader {
  public:
    byte_reader(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    [[nodiscard]] bool empty() const { return left_ == 0; }
    std::uint8_t next() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

/// A number that looks random, from 0 to 2^64 - 1. Source: Steele, Lea and Flood, OOPSLA 2014,
/// SplitMix64's finalizer.
inline std::uint64_t mixed(std::uint64_t k) {
    k += 0x9E3779B97F4A7C15;
    k = (k ^ (k >> 30)) * 0xBF58476D1CE4E5B9;
    k = (k ^ (k >> 27)) * 0x94D049BB133111EB;
    return k ^ (k >> 31);
}

/// Uniform in [-1, 1), never the same for two k below 2^20, in single precision too.
template <class R>
R distinct_value(std::uint64_t k) {
    const std::uint64_t scattered = k * 0x9E375 % (std::uint64_t(1) << 20);  // odd: one to one
    return R(double(scattered) / double(1 << 19) - 1);
}

/// Zeros, ones, what is not finite, and both ends of the range.
template <class R>
R special_value(std::uint8_t byte) {
    using limits = std::numeric_limits<R>;
    const std::array<R, 16> all{1,
                                0,
                                -R(0),
                                -1,
                                2,
                                R(-2.5),
                                R(0.1),
                                limits::quiet_NaN(),
                                limits::infinity(),
                                -limits::infinity(),
                                limits::denorm_min(),
                                -limits::min() / 2,
                                limits::min(),
                                limits::max(),
                                -limits::max() / 2,
                                R(1e-30)};
    return all[byte % all.size()];
}

template <class V, class Make>
V value_of_parts(Make make) {
    if constexpr (is_complex<V>) {
        const auto re = make();
        return {re, make()};
    } else {
        return make();
    }
}

/// Values in one of several manners; the bytes say which.
template <class V>
host_vector<V> read_values(byte_reader& in, std::size_t n) {
    using R = real<V>;
    constexpr std::array<std::size_t, 9> table_sizes{255,  256,   257,   4095, 4096,
                                                     4097, 65535, 65536, 65537};
    const std::uint8_t manner = in.next() % 8, detail = in.next();
    host_vector<V> v(n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto part = [&]() -> R {
            switch (manner) {
                case 7:
                    return special_value<R>(detail);
                case 1:
                    return distinct_value<R>(mixed(k + detail) % (2 + detail % 16));
                case 2:
                    return distinct_value<R>(k % table_sizes[detail % table_sizes.size()]);
                case 3:
                    return special_value<R>(in.empty() ? std::uint8_t(k % 6) : in.next());
                case 4:
                    return mixed(k + detail) % 2 == 0 ? R(1) : R(-1);
                case 5:  // one that is special among others
                    return k % 61 == detail % 61 ? special_value<R>(std::uint8_t(detail / 16))
                                                 : distinct_value<R>(k);
                default:
                    return distinct_value<R>(mixed(k + detail) % (1 << 20));
            }
        };
        v[k] = value_of_parts<V>(part);
    }
    return v;
}

/// Row by row, in the order given.
struct pattern {
    index rows = 0, cols = 0;
    host_vector<offset> row_ptr{0};
    host_vector<index> col;
};

/// A pattern from a rule: keep(i, j).
template <class Keep>
void keep_where(pattern& p, Keep keep) {
    for (index i = 0; i < p.rows; ++i) {
        for (index j = 0; j < p.cols; ++j)
            if (keep(i, j)) p.col.push_back(j);
        p.row_ptr.push_back(offset(p.col.size()));
    }
}

/// Rows of the lengths that the bytes say, from a column on, at a step.
inline void read_rows(byte_reader& in, pattern& p) {
    for (index i = 0; i < p.rows; ++i) {
        const index length = p.cols == 0 ? 0 : in.next() % (p.cols + 1);
        const index first = length == 0 ? 0 : in.next() % (p.cols - length + 1);
        for (index k = 0; k < length; ++k) p.col.push_back(first + k);
        p.row_ptr.push_back(offset(p.col.size()));
    }
}

/// The columns that the bytes list, in their order, duplicates too; 255 ends a row.
inline void read_columns(byte_reader& in, pattern& p) {
    for (index i = 0; i < p.rows; ++i) {
        for (int k = 0; k < 300 && p.cols > 0 && !in.empty(); ++k) {
            const std::uint8_t j = in.next();
            if (j == 255) break;
            p.col.push_back(j % p.cols);
        }
        p.row_ptr.push_back(offset(p.col.size()));
    }
}

inline pattern read_pattern(byte_reader& in) {
    pattern p;
    const std::uint8_t kind = in.next(), a = in.next(), b = in.next();
    const auto read_size = [&] {  // mostly small, as that is fast
        const std::uint8_t n = in.next();
        return index(n < 240 ? n % 40 : n);
    };
    p.rows = read_size(), p.cols = read_size();
    if (kind == 254 && a % 8 == 1) {  // rare, as it takes long: enough entries for any table
        constexpr index length = 75;
        p.rows = 700 + b, p.cols = p.rows + length;
        for (index i = 0; i < p.rows; ++i) {
            for (index k = 0; k < length; ++k) p.col.push_back(i + k);
            p.row_ptr.push_back(offset(p.col.size()));
        }
        return p;
    }
    switch (kind % 8) {
        case 0:
            read_columns(in, p);
            break;
        case 1:
            read_rows(in, p);
            break;
        case 2:
            keep_where(p, [&](index i, index j) {
                const index d = j - i + 240;
                return d == 240 || d % 13 == a % 13 || d == b;
            });
            break;
        case 3:
            keep_where(p, [&](index i, index j) {
                return i == a % 40 || j == b % 40 || (a > 127 && i == j);
            });
            break;
        case 4:
            keep_where(p, [&](index i, index j) {
                return mixed(std::uint64_t(a) + std::uint64_t(i / 3 * 256 + j / 3)) % 256 < b;
            });
            break;
        case 5:
            keep_where(p, [&](index i, index j) {
                return i % (1 + a % 5) == 0 &&
                       mixed(std::uint64_t(a) + std::uint64_t(i * 256 + j)) % 256 < b;
            });
            break;
        case 6:
            keep_where(p, [&](index i, index j) { return j <= (i * i + a) % (1 + b % 40); });
            break;
        default:
            keep_where(p, [](index, index) { return true; });
    }
    return p;
}

/// A valid matrix, but for columns that may be in any order and twice in a row.
template <class V>
csr<V, host> read_matrix(byte_reader& in) {
    const std::uint8_t flags = in.next();
    pattern p = read_pattern(in);
    if (flags % 16 == 15)  // as a product of matrices leaves them
        for (std::size_t i = 0; i < std::size_t(p.rows); ++i)
            std::reverse(p.col.begin() + p.row_ptr[i], p.col.begin() + p.row_ptr[i + 1]);
    csr<V, host> A{{p.rows, p.cols}, {}, std::move(p.col), {}};
    A.val = read_values<V>(in, A.col_ind.size());
    A.row_ptr =
        flags / 16 % 8 == 7 ? offset_vector::wide(std::move(p.row_ptr)) : offset_vector(p.row_ptr);
    A.col_ind.shrink_to_fit(), A.val.shrink_to_fit();
    return A;
}

}  // namespace nz::fuzz
