// Matrices by chance: uniform rows, power laws, blocks, graphs, circuits.
#include <array>
#include <cmath>
#include <span>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/gen/rows.hpp"

namespace nz {
namespace {

/// `count` distinct numbers below n, every set equally likely, ascending, to `to`; uses no other
/// memory. Few: draws until there are enough distinct ones. Many: goes through all n, each kept
/// with the probability that leaves the rest its share (Knuth, TAOCP 2, algorithm 3.4.2 S).
void sample(counter draw, index n, index count, index* to) {
    std::uint64_t k = 0;
    if (count > n / 2) {
        for (index j = 0; count > 0; ++j)
            if (draw.uniform(k++) * (n - j) < count) *to++ = j, --count;
        return;
    }
    index have = 0;
    while (have < count) {
        for (index* at = to + have; at < to + count; ++at) *at = draw.below(n, k++);
        std::sort(to, to + count);
        have = index(std::unique(to, to + count) - to);
    }
}

/// Rows with count(i) columns uniform among all, values uniform in [-1, 1].
template <class V, class Count>
csr<V, host> uniform_rows(shape shape, std::uint64_t seed, Count count) {
    return from_counts<V>(shape, count, [=](index i, index* col, V* val) {
        const offset n = count(i);
        sample(counter(seed, std::uint64_t(i)), shape.cols, index(n), col);
        const counter draw(~seed, std::uint64_t(i));
        for (offset k = 0; k < n; ++k) val[k] = draw.value<V>(std::uint64_t(k));
    });
}

}  // namespace

template <class V>
csr<V, host> random(index rows, index cols, index per_row, std::uint64_t seed) {
    checked_size("random", {rows}), checked_size("random", {cols});
    expect(per_row >= 0 && per_row <= cols, "random: per_row is not between 0 and cols");
    return uniform_rows<V>({rows, cols}, seed, [=](index) -> offset { return per_row; });
}

template <class V>
csr<V, host> powerlaw(index n, double mean, double exponent, std::uint64_t seed) {
    checked_size("powerlaw", {n});
    expect(exponent > 2 && exponent <= 100, "powerlaw: exponent is not above 2 and at most 100");
    expect(mean >= 0 && mean <= n, "powerlaw: mean is not between 0 and n");
    const double shortest = mean * (exponent - 2) / (exponent - 1);
    return uniform_rows<V>({n, n}, seed, [=](index i) -> offset {
        const counter draw(scatter_bits(seed), std::uint64_t(i));
        const double length = shortest * std::pow(1 - draw.uniform(0), -1 / (exponent - 1));
        return offset(std::min(length + draw.uniform(1), double(n)));  // rounded by chance
    });
}

template <class V>
csr<V, host> blocks(index n, index side, index per_row, std::uint64_t seed) {
    const index rows = checked_size("blocks", {n, side});
    expect(per_row >= 0 && per_row <= n, "blocks: per_row is not between 0 and n");
    const auto in_row = offset(per_row) * side;
    expect(in_row <= rows, "blocks: a row is longer than the matrix is wide");
    return from_counts<V>(
        {rows, rows}, [=](index) { return in_row; },
        [=](index i, index* col, V* val) {
            sample(counter(seed, std::uint64_t(i / side)), n, per_row, col);
            for (offset b = per_row - 1; b >= 0; --b)  // from the last, so that none is overwritten
                for (index c = side - 1; c >= 0; --c) col[b * side + c] = col[b] * side + c;
            const counter draw(~seed, std::uint64_t(i));
            for (offset k = 0; k < in_row; ++k) val[k] = draw.value<V>(std::uint64_t(k));
        });
}

namespace {

/// Row i of `p`, with value(i, j) for its values.
template <class V, class Value>
csr<V, host> with_values(shape shape, const places& p, Value value) {
    return from_counts<V>(
        shape, [&](index i) { return p.count[std::size_t(i)]; },
        [&](index i, index* col, V* val) {
            const index* const from = p.col.data() + p.ptr[std::size_t(i)];
            const offset n = p.count[std::size_t(i)];
            for (offset k = 0; k < n; ++k) col[k] = from[k], val[k] = value(i, from[k]);
        });
}

/// Edges of a recursion into quadrants, each a function of the seed and its number.
class quadrants {
  public:
    quadrants(int scale, double a, double b, double c, std::uint64_t seed)
        : scale_(scale),
          seed_(seed),
          ends_{std::uint64_t(a * 65536), std::uint64_t((a + b) * 65536),
                std::uint64_t((a + b + c) * 65536)} {}

    /// The edges from the first-th on. Four levels share one draw, 16 bits each. Sums of
    /// comparisons, since no branch could be predicted: 30 ns an edge at scale 18, with branches
    /// 100.
    void draw(std::int64_t first, std::span<index> row, std::span<index> col) const {
        for (std::size_t e = 0; e < row.size(); ++e) {
            const counter draw(seed_, std::uint64_t(first) + e);
            index i = 0, j = 0;
            std::uint64_t bits = 0;
            for (int level = 0; level < scale_; ++level, bits >>= 16) {
                if (level % 4 == 0) bits = draw.bits(std::uint64_t(level));
                const std::uint64_t u = bits & 0xffff;
                i = 2 * i + (u >= ends_[1]);
                j = 2 * j + (u >= ends_[0]) - (u >= ends_[1]) + (u >= ends_[2]);
            }
            row[e] = i, col[e] = j;
        }
    }

  private:
    int scale_;
    std::uint64_t seed_;
    std::uint64_t ends_[3];
};

}  // namespace

template <class V>
csr<V, host> rmat(int scale, index per_row, double a, double b, double c, std::uint64_t seed) {
    expect(scale >= 0 && scale <= 30, "rmat: scale is not between 0 and 30");
    expect(per_row >= 0, "rmat: per_row is negative");
    expect(a >= 0 && b >= 0 && c >= 0 && a + b + c <= 1,
           "rmat: a, b and c are not probabilities of at most 1 in all");
    const index n = index(1) << scale;
    const std::int64_t edges = std::int64_t(n) * per_row;
    expect_memory("the matrix with its list of edges",
                  double(n) * sizeof(offset) + double(edges) * double(sizeof(V) + 10));
    assembler<V> to({n, n}, edges);
    const quadrants tree(scale, a, b, c, seed);
    constexpr std::int64_t piece = 1 << 15;  // edges: they stay in the cache
    parallel_for(thread_count({}), (edges + piece - 1) / piece, 1, [&](std::int64_t p) {
        const auto count = std::size_t(std::min(piece, edges - p * piece));
        std::array<index, piece> row, col;
        tree.draw(p * piece, std::span(row).first(count), std::span(col).first(count));
        to.add(p, std::span(row).first(count), std::span(col).first(count), {});
    });
    csr<V, host> A = to.finish();
    const csr<V, host_view> entries = view(A);
    V* const val = A.val.data();
    parallel_for(thread_count({}), n, 1024, [&](std::int64_t i) {
        const counter draw(~seed, std::uint64_t(i));
        for (auto k = entries.row_ptr[std::size_t(i)]; k < entries.row_ptr[std::size_t(i) + 1]; ++k)
            val[k] = draw.template value<V>(std::uint64_t(entries.col_ind[std::size_t(k)]));
    });
    return A;
}

template <class V>
csr<V, host> circuit(index n, index per_node, index rails, std::uint64_t seed) {
    checked_size("circuit", {n});
    expect(per_node >= 0 && per_node <= 1000, "circuit: per_node is not between 0 and 1000");
    expect(rails >= 0 && rails < n, "circuit: rails is not between 0 and n - 1");
    constexpr index near = 64;
    const auto join = [](index i, index j, auto& add) {
        if (i != j) add(i, j), add(j, i);
    };
    const places p = collect(n, n, 2 * std::int64_t(per_node) + 5, [&](std::int64_t e, auto add) {
        const auto i = index(e);
        const counter draw(seed, std::uint64_t(i));
        add(i, i);
        if (i > 0) join(i, i - 1, add);
        for (index k = 0; k < per_node; ++k) {
            const bool far = draw.below(10, 2 * std::uint64_t(k)) == 0;
            const index reach = far ? n : std::min(near, i + 1);
            const index to = draw.below(reach, 2 * std::uint64_t(k) + 1);
            join(i, far ? to : i - to, add);
        }
        if (rails > 0 && draw.below(16, ~std::uint64_t(0)) == 0)
            join(i, draw.below(rails, ~std::uint64_t(1)), add);
    });
    const auto conductance = [=](index i, index j) {
        const auto [low, high] = std::minmax(i, j);
        return 1 - counter(~seed, std::uint64_t(low)).uniform(std::uint64_t(high));
    };
    return with_values<V>({n, n}, p, [&](index i, index j) {
        if (i != j) return V(real<V>(-conductance(i, j)));
        double sum = 0.01;  // a leak to the ground
        for (offset k = 0; k < p.count[std::size_t(i)]; ++k) {
            const index other = p.col[std::size_t(p.ptr[std::size_t(i)] + k)];
            if (other != i) sum += conductance(i, other);
        }
        return V(real<V>(sum));
    });
}

#define NZ_INSTANTIATE(V)                                                          \
    template csr<V, host> random(index, index, index, std::uint64_t);              \
    template csr<V, host> powerlaw(index, double, double, std::uint64_t);          \
    template csr<V, host> blocks(index, index, index, std::uint64_t);              \
    template csr<V, host> rmat(int, index, double, double, double, std::uint64_t); \
    template csr<V, host> circuit(index, index, index, std::uint64_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
