#include "nonzero/solve/prolongation.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "nonzero/solve/spgemm.hpp"

namespace nz {

template <class V>
candidates<V> constant_candidate(index rows) {
    return {1, host_vector<V>(std::size_t(rows), V(1))};
}

template <class V>
candidates<V> rigid_body_modes(std::span<const double> xyz) {
    if (xyz.size() % 3 != 0)
        throw argument_error("rigid_body_modes: " + std::to_string(xyz.size()) +
                             " coordinates, expected three a node");
    const std::size_t nodes = xyz.size() / 3;
    double mean[3] = {};
    for (std::size_t k = 0; k < xyz.size(); ++k) mean[k % 3] += xyz[k] / double(nodes);
    candidates<V> modes{6, {}};
    modes.val.reserve(nodes * 18);
    for (std::size_t n = 0; n < nodes; ++n) {
        const V x = V(xyz[3 * n] - mean[0]), y = V(xyz[3 * n + 1] - mean[1]),
                z = V(xyz[3 * n + 2] - mean[2]), o(0), one(1);
        for (const V v : {one, o, o, o, z, -y, o, one, o, -z, o, x, o, o, one, y, -x, o})
            modes.val.push_back(v);
    }
    return modes;
}

namespace {

/// The nodes of each aggregate, ascending: those of a are nodes[ptr[a]] to nodes[ptr[a + 1] - 1].
struct members {
    explicit members(const aggregation& a) : ptr(std::size_t(a.count) + 1, 0) {
        for (const index to : a.of)
            if (to != alone) ++ptr[std::size_t(to) + 1];
        for (std::size_t k = 1; k < ptr.size(); ++k) ptr[k] += ptr[k - 1];
        nodes = host_vector<index>(std::size_t(ptr.back()));
        host_vector<offset> next(ptr.begin(), ptr.end() - 1);
        for (std::size_t i = 0; i < a.of.size(); ++i)
            if (a.of[i] != alone) nodes[std::size_t(next[std::size_t(a.of[i])]++)] = index(i);
    }
    host_vector<offset> ptr;
    host_vector<index> nodes;
};

/// f(r) for every row of an aggregate's nodes.
template <class F>
void for_each_row(const members& in, index a, index block, F f) {
    for (offset m = in.ptr[std::size_t(a)]; m < in.ptr[std::size_t(a) + 1]; ++m)
        for (index r = 0; r < block; ++r)
            f(std::size_t(in.nodes[std::size_t(m)]) * std::size_t(block) + std::size_t(r));
}

/// Orthonormalises the k columns of Q over one aggregate, and gives R with Q R = what they were.
template <class V>
class gram_schmidt {
  public:
    gram_schmidt(const members& in, index a, index block, candidates<V>& Q, V* R)
        : in_(in), a_(a), block_(block), k_(Q.count), Q_(Q.val.data()), R_(R) {
        for (index c = 0; c < k_; ++c) column(c);
    }

  private:
    V& at(std::size_t row, index c) { return Q_[row * std::size_t(k_) + std::size_t(c)]; }
    V dot(index c, index d) {
        V sum(0);
        for_each_row(in_, a_, block_, [&](std::size_t row) { sum += at(row, c) * at(row, d); });
        return sum;
    }
    void column(index c) {
        const V before = std::sqrt(dot(c, c));
        for (int twice = 0; twice < 2; ++twice)  // once leaves errors where columns nearly depend
            for (index d = 0; d < c; ++d) {
                const V along = dot(d, c);
                R_[d * k_ + c] += along;
                for_each_row(in_, a_, block_,
                             [&](std::size_t row) { at(row, c) -= along * at(row, d); });
            }
        const V left = std::sqrt(dot(c, c));
        const bool dependent = !(left > V(1e3) * std::numeric_limits<V>::epsilon() * before);
        R_[c * k_ + c] = dependent ? V(0) : left;
        for_each_row(in_, a_, block_,
                     [&](std::size_t row) { at(row, c) = dependent ? V(0) : at(row, c) / left; });
    }
    const members& in_;
    index a_, block_, k_;
    V *Q_, *R_;
};

/// What a row of I - omega D_f^-1 A_f consists of.
template <class V>
class smoother_row {
  public:
    smoother_row(const csr<V, host_view>& A, const host_vector<V>& diagonal, bool filter, V eps,
                 V omega)
        : A_(A), diagonal_(diagonal.data()), filter_(filter), eps2_(eps * eps), omega_(omega) {}

    /// f(j, coefficient), in the order of A's columns.
    template <class P, class F>
    void for_each(const P* row_ptr, index i, F f) const {
        if (omega_ == V(0)) return f(i, V(1));
        const index* const col = A_.col_ind.data();
        const V* const val = A_.val.data();
        const V mine = eps2_ * std::abs(diagonal_[i]);
        const auto weak = [&](P k) {
            const V a = val[k];
            return filter_ && col[k] != i && !(a * a > mine * std::abs(diagonal_[col[k]]));
        };
        V dropped(0);
        if (filter_)
            for (P k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
                if (weak(k)) dropped += val[k];
        // Where hardly anything would be left of the diagonal, it stays as it is.
        constexpr V least = V(0.25);
        const V d = diagonal_[i] + dropped;
        const V scale = -omega_ / (d > least * diagonal_[i] ? d : diagonal_[i]);
        for (P k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
            if (!weak(k)) f(col[k], col[k] == i ? V(1) - omega_ : scale * val[k]);
    }

  private:
    const csr<V, host_view>& A_;
    const V* diagonal_;
    bool filter_;
    V eps2_, omega_;
};

/// Rows of P = S T: its k columns of an aggregate side by side, aggregates ascending.
template <class V>
class prolongation_row {
  public:
    prolongation_row(const smoother_row<V>& S, const aggregation& a, index block,
                     const candidates<V>& T)
        : S_(S),
          a_(a),
          block_(block),
          k_(T.count),
          T_(T.val.data()),
          seen_(std::size_t(a.count), -1) {}

    /// Writes row i; its length.
    template <class P>
    std::size_t write(const P* row_ptr, index i, index* col, V* val) {
        if (a_.of[std::size_t(i / block_)] == alone) return 0;
        index n = 0;
        S_.for_each(row_ptr, i, [&](index j, V s) {
            const index g = a_.of[std::size_t(j / block_)];
            if (g == alone) return;
            const V* const T = T_ + std::size_t(j) * std::size_t(k_);
            index& at = seen_[std::size_t(g)];
            if (at < 0) {
                at = n;
                for (index c = 0; c < k_; ++c) col[n + c] = g * k_ + c, val[n + c] = s * T[c];
                n += k_;
            } else {
                for (index c = 0; c < k_; ++c) val[at + c] += s * T[c];
            }
        });
        for (index m = 0; m < n; m += k_) seen_[std::size_t(col[m] / k_)] = -1;
        sort_row<V>({col, std::size_t(n)}, {val, std::size_t(n)});
        return std::size_t(n);
    }

  private:
    const smoother_row<V>& S_;
    const aggregation& a_;
    index block_, k_;
    const V* T_;
    host_vector<index> seen_;  ///< where an aggregate stands in the row, or -1
};

}  // namespace

template <class V>
tentative<V> tentative_prolongation(cpu on, const aggregation& a, index block,
                                    const candidates<V>& fine) {
    const auto k = std::size_t(fine.count);
    tentative<V> t{fine, {fine.count, host_vector<V>(std::size_t(a.count) * k * k, V(0))}};
    const members in(a);
#pragma omp parallel for schedule(dynamic, 64) num_threads(thread_count(on))
    for (index i = 0; i < a.count; ++i)
        gram_schmidt<V>(in, i, block, t.fine, t.coarse.val.data() + std::size_t(i) * k * k);
    return t;
}

template <class V>
csr<V, host> smoothed_prolongation(cpu on, const csr<V, host_view>& A, index block, double eps,
                                   double omega, const aggregation& a,
                                   const candidates<V>& tentative) {
    const auto k = std::size_t(tentative.count);
    const auto diagonal = diagonal_of(on, A);
    const smoother_row<V> S(A, diagonal, block == 1, V(eps), V(omega));
    row_runs<V> P(on, {A.shape.rows, index(std::int64_t(a.count) * tentative.count)});
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel num_threads(thread_count(on))
        {
            prolongation_row<V> row(S, a, block, tentative);
#pragma omp for schedule(dynamic)
            for (std::int64_t r = 0; r < P.runs(); ++r) {
                const range rows = P.rows_of(r);
                const auto most = std::max<std::int64_t>(rows.last - rows.first,
                                                         row_ptr[rows.last] - row_ptr[rows.first]);
                auto [col, val] = P.start(r, std::size_t(most) * k);
                std::size_t entries = 0;
                for (std::int64_t i = rows.first; i < rows.last; ++i) {
                    const std::size_t n = row.write(row_ptr, index(i), col, val);
                    P.set_length(i, n);
                    col += n, val += n, entries += n;
                }
                P.written(entries);
            }
        }
    });
    P.seal();
    return P.finish(on);
}

#define NZ_INSTANTIATE(V)                                                                     \
    template candidates<V> constant_candidate(index);                                         \
    template candidates<V> rigid_body_modes(std::span<const double>);                         \
    template tentative<V> tentative_prolongation(cpu, const aggregation&, index,              \
                                                 const candidates<V>&);                       \
    template csr<V, host> smoothed_prolongation(cpu, const csr<V, host_view>&, index, double, \
                                                double, const aggregation&, const candidates<V>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
