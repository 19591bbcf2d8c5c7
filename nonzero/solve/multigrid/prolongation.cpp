#include "nonzero/solve/multigrid/prolongation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/place_by_key.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/solve/multigrid/gram_schmidt.hpp"

namespace nz {

template <class V, class S>
candidates<V, S> candidates<V, S>::constant(index rows, index block, index first_row) {
    candidates c{block, host_vector<V>(std::size_t(rows) * std::size_t(block))};
    parallel_for(thread_count({}), std::ssize(c.val),
                 [&](std::int64_t i) { c.val[std::size_t(i)] = V(block == 1); });
    if (block == 1) return c;
    for (std::size_t i = 0; i < std::size_t(rows); ++i)
        c.val[i * std::size_t(block) + (std::size_t(first_row) + i) % std::size_t(block)] = V(1);
    return c;
}

template <class V>
candidates<V> rigid_body_modes(std::span<const double> coordinates, index dimension) {
    if (dimension != 2 && dimension != 3)
        throw argument_error("rigid_body_modes: of dimension " + std::to_string(dimension) +
                             ", expected 2 or 3");
    const auto d = std::size_t(dimension);
    if (coordinates.size() % d != 0)
        throw argument_error("rigid_body_modes: " + std::to_string(coordinates.size()) +
                             " coordinates, expected " + std::to_string(dimension) + " a node");
    for (std::size_t k = 0; k < coordinates.size(); ++k)
        if (!std::isfinite(coordinates[k]))
            throw argument_error("rigid_body_modes: a coordinate of node " + std::to_string(k / d) +
                                 " is not finite");
    const std::size_t nodes = coordinates.size() / d;
    double mean[3] = {};
    for (std::size_t k = 0; k < coordinates.size(); ++k)
        mean[k % d] += coordinates[k] / double(nodes);
    candidates<V> modes{dimension == 2 ? 3 : 6, {}};
    modes.val.reserve(nodes * d * std::size_t(modes.count));
    const V o(0), one(1);
    for (std::size_t n = 0; n < nodes; ++n) {
        const double* const at = coordinates.data() + n * d;
        const V x = V(real<V>(at[0] - mean[0])), y = V(real<V>(at[1] - mean[1]));
        if (dimension == 2) {
            for (const V v : {one, o, -y, o, one, x}) modes.val.push_back(v);
            continue;
        }
        const V z = V(real<V>(at[2] - mean[2]));
        for (const V v : {one, o, o, o, z, -y, o, one, o, -z, o, x, o, o, one, y, -x, o})
            modes.val.push_back(v);
    }
    return modes;
}

namespace {

/// The nodes of each aggregate, ascending: those of a are nodes[ptr[a]] to nodes[ptr[a + 1] - 1].
struct members {
    members(cpu on, const aggregation<host>& a) : ptr(std::size_t(a.count) + 1) {
        // Each thread counts its share of the nodes, in counters of its own while they are few.
        const auto n = std::int64_t(a.of.size()), most = n / std::max(a.count, 1);
        const int threads = thread_count(on);
        const int parts =
            int(std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(most, 1)));
        std::vector<host_vector<index>> next(static_cast<std::size_t>(parts));
        const auto for_each_member = [&](std::int64_t p, auto f) {
            const range mine = share(n, parts, p);
            for (std::int64_t i = mine.first; i < mine.last; ++i)
                if (const index to = a.of[std::size_t(i)]; to != isolated)
                    f(next[std::size_t(p)][std::size_t(to)], index(i));
        };
        parallel_for(threads, parts, [&](std::int64_t p) {
            next[std::size_t(p)].assign(std::size_t(a.count), 0);
            for_each_member(p, [](index& count, index) { ++count; });
        });
        place_by_key(on, next, ptr);
        nodes = host_vector<index>(std::size_t(ptr.back()));
        parallel_for(threads, parts, [&](std::int64_t p) {
            for_each_member(p, [&](index& at, index i) { nodes[std::size_t(at++)] = i; });
        });
    }
    host_vector<index> ptr, nodes;
};

/// Of P: `candidates` for each aggregate.
index columns_of(const aggregation<host>& a, index candidates) {
    const std::int64_t cols = std::int64_t(a.count) * candidates;
    if (cols > std::numeric_limits<index>::max())
        throw argument_error("smoothed_prolongation: " + std::to_string(cols) +
                             " columns, expected at most 2^31 - 1");
    return index(cols);
}

/// The part of a weak coupling that the diagonal takes.
template <class V>
real<V> weak_part(V a) {
    if constexpr (is_complex<V>) {
        return -magnitude(a);
    } else {
        return a;
    }
}

/// Rows of P = S T, S = I - omega D_f^-1 A_f, one at a time: the k columns of an aggregate side by
/// side, aggregates ascending.
template <class V>
class prolongation_row {
    using R = real<V>;

  public:
    struct inputs {
        const csr<V, host_view>& A;
        in<R, cpu> diagonal;
        bool filter;
        R eps, omega;
        const aggregation<host>& to;
        index block;
        const candidates<V>& T;
        const char* strong = nullptr;  ///< where it is known, in place of filter and eps
    };
    explicit prolongation_row(const inputs& in)
        : in_(in), eps2_(in.eps * in.eps), sum_(in.to.count * in.T.count) {}

    /// Row i, to be written.
    template <class P>
    sparse_accumulator<V>& operator()(const P* row_ptr, index i) {
        sum_.start(i);
        if (in_.to.of[std::size_t(i / in_.block)] != isolated)
            in_.block == 1 && in_.T.count == 1 ? add_row<true>(row_ptr, i)
                                               : add_row<false>(row_ptr, i);
        return sum_;
    }

  private:
    /// Adds row i of S times T; `scalar` where nodes have one unknown and there is one candidate.
    template <bool scalar, class P>
    void add_row(const P* row_ptr, index i) {
        const std::size_t n = smoother_row(row_ptr, i);
        const index k = scalar ? 1 : in_.T.count, block = scalar ? 1 : in_.block;
        if (to_.size() < n * std::size_t(k))
            to_.resize(2 * n * std::size_t(k)), product_.resize(to_.size());
        const index* const aggregate = in_.to.of.data();
        const V* const T = in_.T.val.data();
        std::size_t m = 0;
        for (std::size_t e = 0; e < n; ++e) {
            const index j = col_[e], g = aggregate[j / block];
            for (index c = 0; c < k; ++c) {
                to_[m] = g * k + c;
                product_[m] = product(val_[e], T[std::int64_t(j) * k + c]);
                m += g != isolated;
            }
        }
        sum_.add(V(1), to_.data(), product_.data(), m);
    }
    /// Row i of S into col_ and val_; its length.
    template <class P>
    std::size_t smoother_row(const P* row_ptr, index i) {
        if (in_.omega == R(0)) {
            col_.assign(1, i), val_.assign(1, V(1));
            return 1;
        }
        const std::size_t n = filtered(row_ptr, i);
        // Where hardly anything would be left of the diagonal, it stays as it is.
        constexpr R least = R(0.25);
        const R mine = in_.diagonal[std::size_t(i)], d = mine + dropped_;
        const R scale = -in_.omega / (d > least * mine ? d : mine);
        for (std::size_t e = 0; e < n; ++e)
            val_[e] = col_[e] == i ? V(R(1) - in_.omega) : scale * val_[e];
        return n;
    }
    /// Takes the entries of A_f's row, but for what was added to its diagonal; how many there are.
    template <class P>
    std::size_t filtered(const P* row_ptr, index i) {
        const auto first = std::size_t(row_ptr[i]), length = std::size_t(row_ptr[i + 1]) - first;
        if (col_.size() < length) col_.resize(2 * length), val_.resize(2 * length);
        const index* const col = in_.A.col_ind.data() + first;
        const V* const val = in_.A.val.data() + first;
        const R* const diagonal = in_.diagonal.data();
        const R mine = eps2_ * std::abs(diagonal[i]);
        const char* const known = in_.strong == nullptr ? nullptr : in_.strong + first;
        std::size_t n = 0;
        dropped_ = R(0);
        for (std::size_t k = 0; k < length; ++k) {
            const index j = col[k];
            const V a = val[k];
            const bool keep = known != nullptr ? known[k] != 0
                                               : !in_.filter | (j == i) |
                                                     (squared(a) > mine * std::abs(diagonal[j]));
            dropped_ += keep ? R(0) : weak_part(a);
            col_[n] = j, val_[n] = a;
            n += keep;
        }
        return n;
    }
    const inputs& in_;
    R eps2_, dropped_ = R(0);
    sparse_accumulator<V> sum_;
    std::vector<index> col_, to_;
    std::vector<V> val_, product_;
};

}  // namespace

template <class V>
tentative<V> tentative_prolongation(cpu on, const aggregation<host>& a, index block,
                                    candidates<V> fine) {
    const auto k = std::size_t(fine.count);
    tentative<V> t{std::move(fine), {index(k), host_vector<V>(std::size_t(a.count) * k * k, V(0))}};
    const members in(on, a);
    const auto orthonormalise = [&](std::int64_t i, std::vector<V>& Q) {
        const index first = in.ptr[std::size_t(i)], count = in.ptr[std::size_t(i) + 1] - first;
        const index* const nodes = in.nodes.data() + first;
        const std::int64_t rows = std::int64_t(count) * block;
        Q.resize(std::size_t(rows) * k);
        move_part<true>(nodes, count, block, index(k), Q.data(), t.fine.val.data());
        V* const R = t.coarse.val.data() + std::size_t(i) * k * k;
        gram_schmidt<V>{rows, index(k), dependent_remainder<real<V>>, Q.data(), R}.run();
        move_part<false>(nodes, count, block, index(k), Q.data(), t.fine.val.data());
    };
    parallel_for(
        thread_count(on), a.count, 64, [] { return std::vector<V>(); }, orthonormalise);
    return t;
}

template <class V>
bool are_real(cpu on, std::span<const V> values) {
    return parallel_reduce(
        thread_count(on), std::ssize(values), true, [](bool a, bool b) { return a && b; },
        [&](std::int64_t k) { return values[std::size_t(k)].imag() == 0; });
}

template <class V>
host_vector<V> phases(cpu on, const csr<V, host_view>& A, const aggregation<host>& a) {
    host_vector<V> x(a.of.size(), V(0));
    const members in(on, a);
    A.row_ptr.visit([&](const auto* row_ptr) {
        const aggregate_phases<V, decltype(row_ptr)> walk{
            row_ptr, A.col_ind.data(), A.val.data(), a.of.data(), std::ssize(a.of), x.data()};
        parallel_for(thread_count(on), a.count, [&](std::int64_t i) {
            const index first = in.ptr[std::size_t(i)];
            walk.find(in.nodes.data() + first, in.ptr[std::size_t(i) + 1] - first);
        });
    });
    return x;
}

template <class V>
csr<V, host> smoothed_prolongation(cpu on, const csr<V, host_view>& A, index block, double eps,
                                   double omega, const aggregation<host>& a,
                                   const candidates<V>& tentative, in<real<V>, cpu> known_diagonal,
                                   const host_vector<char>& kept) {
    using R = real<V>;
    const index cols = columns_of(a, tentative.count);
    const diagonal_or_known<V, cpu> diagonal(on, A, known_diagonal);
    const typename prolongation_row<V>::inputs in{
        A,      diagonal.val, block == 1,
        R(eps), R(omega),     a,
        block,  tentative,    kept.empty() ? nullptr : kept.data()};
    row_runs<V> P(on, {A.shape.rows, cols}, any_number);
    A.row_ptr.visit([&](const auto* row_ptr) {
        const auto make_run = [&](std::int64_t r, prolongation_row<V>& row) {
            const range rows = P.rows_of(r);
            P.start(r);
            for (std::int64_t i = rows.first; i < rows.last; ++i)
                P.append(i, row(row_ptr, index(i)), true);
        };
        parallel_for(
            thread_count(on), P.runs(), 1, [&] { return prolongation_row<V>(in); }, make_run);
    });
    P.seal(on);
    return P.finish(on);
}

template <class V>
void smoothed_values(cpu on, const csr<V, host_view>& A, index block,
                     const host_vector<char>& strong, double omega, const aggregation<host>& a,
                     const candidates<V>& tentative, in<real<V>, cpu> diagonal, csr<V, host>& P) {
    using R = real<V>;
    constexpr std::int64_t run = 256;
    const typename prolongation_row<V>::inputs in{
        A,     diagonal,  false,
        R(0),  R(omega),  a,
        block, tentative, strong.empty() ? nullptr : strong.data()};
    const offset_span to = view(P).row_ptr;
    const auto make_row = [&](const auto* row_ptr) {
        return [&, row_ptr](std::int64_t i, prolongation_row<V>& row) {
            const auto first = std::size_t(to[std::size_t(i)]);
            row(row_ptr, index(i))
                .finish_values(P.col_ind.data() + first,
                               std::size_t(to[std::size_t(i) + 1]) - first, P.val.data() + first);
        };
    };
    A.row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(
            thread_count(on), A.shape.rows, run, [&] { return prolongation_row<V>(in); },
            make_row(row_ptr));
    });
}

#define NZ_INSTANTIATE(V)                                                                         \
    template candidates<V> candidates<V>::constant(index, index, index);                          \
    template candidates<V> rigid_body_modes(std::span<const double>, index);                      \
    template tentative<V> tentative_prolongation(cpu, const aggregation<host>&, index,            \
                                                 candidates<V>);                                  \
    template csr<V, host> smoothed_prolongation(                                                  \
        cpu, const csr<V, host_view>&, index, double, double, const aggregation<host>&,           \
        const candidates<V>&, in<real<V>, cpu>, const host_vector<char>&);                        \
    template void smoothed_values(cpu, const csr<V, host_view>&, index, const host_vector<char>&, \
                                  double, const aggregation<host>&, const candidates<V>&,         \
                                  in<real<V>, cpu>, csr<V, host>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(R)                                                                     \
    template bool are_real(cpu, std::span<const std::complex<R>>);                            \
    template host_vector<std::complex<R>> phases(cpu, const csr<std::complex<R>, host_view>&, \
                                                 const aggregation<host>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
