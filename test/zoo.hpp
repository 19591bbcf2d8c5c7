// Named awkward matrices, each for the bug it catches. Every method meets all of them.
#pragma once

#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz::test {

template <class V>
struct zoo_entry {
    std::string name;
    std::string bug;  ///< the mistake that this matrix brings to light
    csr<V, host> A;
};

template <class V>
V random_value(std::mt19937_64& rng) {
    std::uniform_real_distribution<double> u(-1, 1);
    if constexpr (is_complex<V>) {
        const auto re = real<V>(u(rng));
        return {re, real<V>(u(rng))};
    } else {
        return V(u(rng));
    }
}

template <class V>
host_vector<V> random_vector(std::size_t n, unsigned seed) {
    std::mt19937_64 rng(seed);
    host_vector<V> v(n);
    for (V& e : v) e = random_value<V>(rng);
    return v;
}

/// A matrix from its rows' columns: columns(i) gives those of row i, ascending.
template <class V, class Columns>
csr<V, host> from_columns(index rows, index cols, Columns columns) {
    std::mt19937_64 rng(42);
    csr<V, host> A{{rows, cols}, {}, {}, {}};
    host_vector<offset> ptr{0};
    for (index i = 0; i < rows; ++i) {
        for (const index j : columns(i))
            A.col_ind.push_back(j), A.val.push_back(random_value<V>(rng));
        ptr.push_back(offset(A.col_ind.size()));
    }
    A.col_ind.shrink_to_fit(), A.val.shrink_to_fit();  // so that fences stand right behind them
    A.row_ptr = offset_vector(ptr);
    return A;
}

/// A matrix from a rule: keep(i, j, u) with u uniform in [0, 1).
template <class V, class Keep>
csr<V, host> from_rule(index rows, index cols, Keep keep) {
    std::mt19937_64 rng(7);
    std::uniform_real_distribution<double> u(0, 1);
    return from_columns<V>(rows, cols, [&](index i) {
        std::vector<index> c;
        for (index j = 0; j < cols; ++j)
            if (keep(i, j, u(rng))) c.push_back(j);
        return c;
    });
}

/// Rows of the given lengths, their columns spread evenly over `cols`.
template <class V>
csr<V, host> from_lengths(const std::vector<index>& lengths, index cols) {
    return from_columns<V>(index(lengths.size()), cols, [&](index i) {
        std::vector<index> c;
        const auto n = std::int64_t(lengths[std::size_t(i)]);
        for (std::int64_t k = 0; k < n; ++k) c.push_back(index(k * cols / n));
        return c;
    });
}

/// The k-th of values that are all different, and exact in single precision.
template <class V>
V numbered_value(std::size_t k) {
    const auto part = [](std::size_t n) { return real<V>(double(n) / 1024 - 37); };
    if constexpr (is_complex<V>) {
        return {part(k / 2), part(k % 2)};
    } else {
        return part(k);
    }
}

/// Values that compressing layouts look for: all the same, few, or just too many.
template <class V>
void add_value_patterns(std::vector<zoo_entry<V>>& z) {
    using R = real<V>;
    const auto stencil = from_rule<V>(150, 150, [](index i, index j, double) {
        return std::abs(i - j) <= 2 || std::abs(i - j) == 12;
    });
    const auto add = [&](std::string name, const char* bug, csr<V, host> A, auto value) {
        std::size_t k = 0;
        const std::span<V> val = A.val;
        for_each_entry(view(A), 0, A.shape.rows,
                       [&](index i, index j, V) { val[k] = value(i, j, k), ++k; });
        z.push_back({std::move(name), bug, std::move(A)});
    };
    add("one value", "a table of one", stencil, [](index, index, auto) { return V(R(3)); });
    add("no value but 0", "a constant taken for padding", stencil,
        [](index, index, auto) { return V(R(0)); });
    add("1 and -1", "a sign lost", stencil,
        [](index i, index j, auto) { return V(R(i * 7 % 3 == j % 3 ? 1 : -1)); });
    add("0 and -0", "values told apart by ==, not by their bits", stencil,
        [](index i, index j, auto) { return V((i + j) % 3 == 0 ? -R(0) : R(0)); });
    add("constant diagonals", "a diagonal's value taken for its neighbour's", stencil,
        [](index i, index j, auto) {
            return numbered_value<V>(std::size_t(std::int64_t(j) - i + 200));
        });
    const auto band = [](index rows, index length) {
        return from_columns<V>(rows, rows + length, [&](index i) {
            std::vector<index> c(std::size_t(length), i);
            std::iota(c.begin(), c.end(), i);
            return c;
        });
    };
    const auto tables = [&](const csr<V, host>& A, std::initializer_list<std::size_t> sizes) {
        for (const std::size_t n : sizes)
            add(std::to_string(n) + " values", "a number in the table that wraps around", A,
                [n](index, index, std::size_t k) { return numbered_value<V>(k * 7919 % n); });
    };
    tables(stencil, {2, 255, 256, 257});
    tables(band(60, 70), {4095, 4096, 4097});
    tables(band(940, 70), {65535, 65536, 65537});
}

template <class V>
std::vector<zoo_entry<V>> zoo() {
    using I = index;
    std::vector<zoo_entry<V>> z;
    const auto rule = [&](const char* name, const char* bug, I rows, I cols, auto keep) {
        z.push_back({name, bug, from_rule<V>(rows, cols, keep)});
    };
    const auto lengths = [&](const char* name, const char* bug, std::vector<I> n, I cols) {
        z.push_back({name, bug, from_lengths<V>(n, cols)});
    };
    rule("empty 0x0", "reads row_ptr[1], launches an empty grid", 0, 0,
         [](I, I, double) { return true; });
    rule("no rows 0x5", "divides by rows", 0, 5, [](I, I, double) { return true; });
    rule("no columns 5x0", "leaves y unwritten", 5, 0, [](I, I, double) { return true; });
    rule("one 1x1", "off by one", 1, 1, [](I, I, double) { return true; });
    rule("no entries 7x5", "leaves y unwritten, reads val[0]", 7, 5,
         [](I, I, double) { return false; });
    rule("dense row", "one thread does it all, or a wide layout", 33, 65,
         [](I i, I, double) { return i == 7; });
    rule("dense column", "scatters to one element", 65, 33, [](I, I j, double) { return j == 7; });
    rule("arrow", "long first row beside short ones", 64, 64,
         [](I i, I j, double) { return i == 0 || j == 0 || i == j; });
    rule("every 4th row empty", "skips empty rows, or repeats the one before", 50, 40,
         [](I i, I, double u) { return i % 4 != 0 && u > 0.6; });
    rule("first and last rows empty", "binary searches over equal pointers", 40, 40,
         [](I i, I, double u) { return i > 5 && i < 33 && u > 0.7; });
    rule("tridiagonal", "diagonals that leave the matrix", 100, 100,
         [](I i, I j, double) { return std::abs(i - j) <= 1; });
    rule("five-point 12x12", "a stencil with borders", 144, 144, [](I i, I j, double) {
        return i == j || std::abs(i - j) == 12 || (std::abs(i - j) == 1 && i / 12 == j / 12);
    });
    rule("holes in diagonals", "padding within a diagonal enters the sum", 70, 60,
         [](I i, I j, double u) { return (j - i) % 9 == 0 && u > 0.3; });
    rule("3x3 blocks", "blocks at the ragged edge", 50, 47,
         [](I i, I j, double) { return (i / 3 + j / 3) % 5 == 0; });
    rule("random wide", "rows beyond columns", 31, 400, [](I, I, double u) { return u > 0.9; });
    rule("random tall", "columns beyond rows", 400, 31, [](I, I, double u) { return u > 0.9; });
    rule("dense 40x40", "no zeros at all", 40, 40, [](I, I, double) { return true; });
    lengths("around a warp", "a remainder of 31, 0 or 1 lanes", {31, 32, 33, 0, 63, 64, 65, 1}, 80);
    lengths("around four warps", "a second trip through the loop",
            {127, 128, 129, 2, 255, 256, 257}, 300);
    lengths("around a block", "shared memory of exactly one block",
            {1023, 1024, 1025, 3, 2047, 2048, 2049}, 2100);
    lengths("row of 70,000", "16-bit lengths, one thread's work", {5, 70000, 0, 1, 7}, 70001);
    {
        std::vector<I> n;
        for (I i = 0; i < 2000; ++i) n.push_back(I(1500.0 / std::pow(i + 1, 0.9)));
        lengths("power law, sorted", "padding to the longest of the first group", n, 1600);
        std::mt19937_64 rng(3);
        std::shuffle(n.begin(), n.end(), rng);
        lengths("power law, shuffled", "load balance by rows", n, 1600);
    }
    lengths(
        "lengths 0 to 299", "every length once",
        [] {
            std::vector<I> n(300);
            for (I i = 0; i < 300; ++i) n[std::size_t(i)] = i * 7 % 300;
            return n;
        }(),
        333);
    {
        auto A = from_rule<V>(60, 60, [](I i, I j, double u) { return i == j || u > 0.8; });
        for (std::size_t k = 0; k < A.val.size(); k += 3) A.val[k] = V(0);
        z.push_back({"explicit zeros", "a stored zero taken for padding", std::move(A)});
    }
    {
        std::vector<I> r, c;
        std::mt19937_64 rng(11);
        host_vector<V> v = random_vector<V>(900, 12);
        for (int k = 0; k < 900; ++k) r.push_back(I(rng() % 20)), c.push_back(I(rng() % 25));
        z.push_back({"summed duplicates", "entries given twice", assemble<V>({20, 25}, r, c, v)});
    }
    {
        auto A = from_rule<V>(90, 90, [](I, I, double u) { return u > 0.8; });
        host_vector<offset> p(A.row_ptr.size());
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = A.row_ptr[i];
        A.row_ptr = offset_vector::wide(std::move(p));
        z.push_back({"64-bit row pointers", "positions taken for 32-bit", std::move(A)});
    }
    add_value_patterns(z);
    return z;
}

}  // namespace nz::test
