#include "nonzero/solve/multigrid/amg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/nodes.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/first_candidates.hpp"
#include "nonzero/solve/multigrid/hierarchy.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"

namespace nz {
namespace {

template <class V>
constexpr std::string_view self_adjoint_name = is_complex<V> ? "hermitian" : "symmetric";

/// A's diagonal. Throws argument_error, saying why, where A cannot be hermitian positive definite.
template <class V>
host_vector<real<V>> suitable_diagonal(const ascending<V>& in_order, bool symmetric) {
    const csr<V, host_view>& A = in_order.view();
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("amg: the matrix is {} x {}, not square", A.shape.rows, A.shape.cols));
    auto diagonal = real_diagonal_of<V>(cpu{}, A);
    require_positive<real<V>>(cpu{}, diagonal);
    if (!symmetric) return diagonal;
    if (const auto why = why_not_finite(in_order); !why.empty())
        throw argument_error("amg: " + why);
    if (const auto found = first_asymmetry(in_order, self_adjoint<V>))
        throw argument_error(
            fmt::format("amg: the matrix is not {} in row {}", self_adjoint_name<V>, found->row));
    return diagonal;
}

/// Throws argument_error unless the candidates are finite and have that number of rows.
template <class V>
void check_candidates(const candidates<V>& near, index rows) {
    if (near.count < 0 || near.val.size() != std::size_t(rows) * std::size_t(near.count))
        throw argument_error(fmt::format("amg: {} candidates of {} rows have {} values", near.count,
                                         rows, near.val.size()));
    const auto wrong =
        std::ranges::find_if(near.val, [](V v) { return !std::isfinite(std::abs(v)); }) -
        near.val.begin();
    if (wrong < std::ssize(near.val))
        throw argument_error(fmt::format("amg: candidate {} is not finite in row {}",
                                         wrong % near.count, wrong / near.count));
}

/// Throws the same of a matrix on a GPU.
template <class V>
void expect_suitable(gpu on, const csr<V, device_view>& A, bool symmetric) {
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("amg: the matrix is {} x {}, not square", A.shape.rows, A.shape.cols));
    require_positive<real<V>>(on, real_diagonal_of<V>(on, A));
    if (!symmetric) return;
    if (const auto row = first_asymmetric_row(on, A); row >= 0)
        throw argument_error(fmt::format("amg: the matrix is not {}, or not finite, in row {}",
                                         self_adjoint_name<V>, row));
}

/// Whether setup happens on a GPU, which does not transpose longer matrices.
template <class V, class S>
bool suits_gpu(const csr<V, S>& A) {
    return A.val.size() <= std::size_t(offset_vector::max_narrow);
}

/// A matrix of the CPU's memory in the GPU's, which looks at it sooner.
template <class V>
struct uploaded {
    const ascending<V>& A;
    csr<V, device> there;
    uploaded(gpu on, const ascending<V>& in_order) : A(in_order), there(upload(on, A.view())) {}
    [[nodiscard]] ascending<V, gpu> view(gpu on) const {
        return ascending<V, gpu>::known(nz::view(there), on);
    }
    /// As the CPU says what is wrong.
    void expect_suitable(gpu on, bool symmetric) const {
        try {
            nz::expect_suitable(on, nz::view(there), symmetric);
        } catch (const argument_error&) {
            (void)suitable_diagonal(A, symmetric);
            throw;
        }
    }
};

/// Clang 14 instantiates members for backends that they do not suit.
template <class B>
constexpr bool is_gpu_built = std::is_same_v<B, gpu>&& is_built<B>;

template <class V, class B>
nz::shape own_shape(B on, const matrix_slice<V>& A) {
    if (on.ranks == nullptr) throw argument_error("amg: on.ranks is null");
    return {A.own.shape.rows, A.own.shape.rows};
}

/// Checks the arguments as far as one rank can.
template <class V, class B>
void check_part(const communicator& ranks, const matrix_slice<V>& A, const amg_options& o,
                const candidates<V>& near, const linear_operator<V, B>* finest) {
    o.validate();
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw argument_error(std::string("amg: ") + what);
    };
    require(o.precision == value_storage::exact, "over ranks cycles are exact");
    require(A.rows == A.cols, "the matrix is not square");
    require(A.rows.parts() == ranks.size(), "the matrix is shared out over other ranks");
    const nz::shape expected{A.rows.count(ranks.rank()), A.cols.total()};
    require(A.own.shape == expected, "a rank's rows are not its share of the matrix");
    require(o.block == 0 || A.rows.total() % o.block == 0, "the rows are not whole blocks");
    check_candidates(near, expected.rows);
    require(finest == nullptr || finest->shape() == nz::shape{expected.rows, expected.rows},
            "the product given is of another shape than the matrix");
}

void expect_same(const communicator& ranks, const amg_options& o, index candidates,
                 bool finest_given) {
    expect_equal(&ranks, "amg",
                 std::array{double(o.cycle), double(o.smoother), double(o.degree), double(o.sweeps),
                            o.eigenvalue_ratio, double(o.aggregation_distance), o.strength, o.omega,
                            double(o.block), double(o.coarse_rows), double(o.max_levels),
                            double(o.adaptive_candidates), double(o.relaxations),
                            double(o.lanczos_iterations), double(o.rows_worth_a_gpu),
                            double(o.check), double(candidates), double(finest_given)});
}

/// The rows of a slice on other ranks.
template <class V>
matrix_slice<V> moved(const communicator& ranks, const matrix_slice<V>& A, const shares& to) {
    host_vector<entry<V>> mine;
    const auto first = index(A.rows.of(ranks.rank()).first);
    for_each_entry(view(A.own), 0, A.own.shape.rows, [&](index i, index j, V v) {
        mine.push_back({first + i, j, v});
    });
    return {to, to, assembled(ranks, to, A.shape().cols, std::move(mine))};
}

/// The identity, which takes elements of x from ranks that share them out in one way to those that
/// do in the other.
template <class V>
matrix_slice<V> identity(int rank, const shares& from, const shares& to) {
    const auto n = std::size_t(to.count(rank));
    matrix_slice<V> I{to, from, {{index(n), from.total()}, {}, {}, host_vector<V>(n, V(1))}};
    host_vector<offset> ptr{0};
    for (std::size_t i = 0; i < n; ++i)
        I.own.col_ind.push_back(index(to.of(rank).first) + index(i)), ptr.push_back(offset(i) + 1);
    I.own.row_ptr = offset_vector(ptr);
    return I;
}

template <class V, class C>
std::size_t bytes_of(const kept_level<V, C>& k) {
    std::size_t sum =
        k.T.val.size() * sizeof(V) + k.groups.of.size() * sizeof(index) + k.strong.size();
    for (const auto& M : {k.A, k.P, k.R, k.inverse})
        if (M.use_count() == 2) sum += bytes(*M);  // no product shares it
    return sum + bytes(k.AP);
}
template <class V, class B>
std::size_t bytes_of(const hierarchy<V, B>& h) {
    std::size_t sum = h.levels.bytes();
    if (h.finest && h.finest->op != nullptr) sum += h.finest->op->bytes();
    if (h.rounded != nullptr) sum += h.rounded->bytes();
    for (const auto& k : h.kept)
        sum += std::visit([](const auto& level) { return bytes_of(level); }, k);
    return sum;
}

/// The candidates side by side, those of both.
template <class V>
candidates<V> joined(const candidates<V>& a, const candidates<V>& b) {
    candidates<V> all{a.count + b.count, {}};
    all.val.reserve(a.val.size() + b.val.size());
    const auto append = [&](const candidates<V>& from, std::size_t row) {
        const auto first = from.val.begin() + std::ptrdiff_t(row) * from.count;
        all.val.insert(all.val.end(), first, first + from.count);
    };
    const std::size_t rows = b.val.size() / std::size_t(b.count);
    for (std::size_t i = 0; i < rows; ++i) append(a, i), append(b, i);
    return all;
}

/// `near`, and behind them, or behind the constants where there are none, those that cycles hardly
/// reduce, as `amg_options::adaptive_candidates` says; by_phases: these alone; fewer where they
/// reduce everything, or where more would leave no coarser level. finest: multiplies by the matrix;
/// null: plan() does. make(near, made, report) makes its levels.
template <class V, class B, class Plan, class Make>
candidates<V> all_candidates(B on, const linear_operator<V, B>* finest, const Plan& plan,
                             std::int64_t first_row, candidates<V> near, bool by_phases,
                             const amg_options& o, const Make& make) {
    if (o.adaptive_candidates == 0) return near;
    std::unique_ptr<linear_operator<V, B>> planned;
    if (finest == nullptr) planned = plan();
    const linear_operator<V, B>& A = finest != nullptr ? *finest : *planned;
    const index n = A.shape().rows;
    if (near.count == 0 && !by_phases) near = candidates<V>::constant(n, o.block, index(first_row));
    vector_space<V, B> space(on, n);
    auto r = space.make(), correction = space.make();
    candidates<V> before = near;  // which have a coarser level, where one can be had
    for (int k = 0; k < o.adaptive_candidates; ++k) {
        hierarchy<V, B> made(on, o.cycle);
        amg_report report;
        make(near, made, report);
        if (report.levels.size() == 1) return before;
        before = near;
        vector<V, B> x = from_host(on, std::span<const V>(hashed_vector<V>(n, first_row + k)));
        for (int s = 0; s < o.relaxations; ++s) {
            A.apply(V(1), x, V(0), r);
            made.cycle(r, correction);
            space.axpy(V(-1), correction, x);
            const double size = double(space.norm(x));
            if (!(size > 0) || !std::isfinite(size)) return near;
            space.scale(V(real<V>(1 / size)), x);
        }
        near = joined(near, {1, to_host<V>(on, in<V, B>(x))});
    }
    return near;
}

/// The options with the unknowns of a node, which are found where nobody says them.
template <class B, class Matrix>
amg_options with_block(B here, amg_options o, const Matrix& A) {
    if (o.block == 0) {
        if constexpr (std::is_same_v<B, cpu>)
            o.block = unknowns_a_node(here, nullptr, A, A.shape.rows);
        else
            o.block = unknowns_a_node(here, A);
    }
    if (A.shape.rows % o.block != 0)
        throw argument_error(
            fmt::format("amg: {} rows, not whole blocks of {}", A.shape.rows, o.block));
    return o;
}

template <class V, class B>
void check_around(nz::shape A, const amg_options& o, const candidates<V>& near,
                  const linear_operator<V, B>* finest) {
    o.validate();
    if (is_complex<V> && o.precision == value_storage::single)
        throw argument_error("amg: a cycle of complex values is not rounded to single precision");
    check_candidates(near, A.rows);
    if (finest != nullptr && finest->shape() != A)
        throw argument_error("amg: the product given is of another shape than the matrix");
}

}  // namespace

template <class V, class B>
struct amg<V, B>::state {
    std::unique_ptr<hierarchy<V, B>> made;
    amg_options options;
    const linear_operator<V, B>* finest;  ///< as given
    // For other values:
    nz::shape shape;            ///< of A, or of the rank's rows
    std::size_t entries;        ///< of A in its order, or of the rank's rows
    std::uint64_t pattern = 0;  ///< its hash, with `check`
    candidates<V> near = {};    ///< over ranks: those of the levels' rows
    bool is_whole = true;       ///< false while values are taken
    /// Where the levels are on other ranks than x: from those of x to those of the levels.
    std::unique_ptr<linear_operator<V, B>> moves = {};
    shares where = {};
    vector<V, B> moved_b = {}, moved_x = {};

    template <class S>
    state(B on, const amg_options& o, const linear_operator<V, B>* given, const csr<V, S>& A)
        : made(std::make_unique<hierarchy<V, B>>(on, o.cycle)),
          options(o),
          finest(given),
          shape(A.shape),
          entries(A.val.size()),
          pattern(hash(on, A)) {}
    template <class S>
    [[nodiscard]] std::uint64_t hash(B on, const csr<V, S>& A) const {
        using place = std::conditional_t<std::is_same_v<S, host_view>, cpu, B>;
        if (!options.keep || !options.check) return 0;
        if constexpr (std::is_same_v<place, B>)
            return pattern_hash(on, A.row_ptr, A.col_ind);
        else
            return pattern_hash(place{}, A.row_ptr, A.col_ind);
    }
    /// Makes all levels of a suitable A on a GPU. plan: of its product.
    void set_up(B on, const ascending<V, gpu>& A, const candidates<V>& given,
                const std::function<planned<V, B>()>& plan, amg_report& told) {
        if constexpr (is_gpu_built<B>) {
            const auto make = [&](const candidates<V>& all, auto& levels, amg_report& report) {
                make_levels<V>(on, A, options, all, finest, plan, levels, report);
            };
            const auto product = [&] { return plan().op; };
            const bool by_phases =
                has_phases<V>(on, nullptr, in<V, gpu>(A.view().val), options, given);
            make(all_candidates<V, B>(on, finest, product, 0, given, by_phases, options, make),
                 *made, told);
            told.block = options.block;
        }
    }
    [[nodiscard]] bool are_levels_of_gpu() const {
        return !made->kept.empty() &&
               std::holds_alternative<kept_level<V, gpu>>(made->kept.front());
    }
    /// Gives the levels A's values, which suit.
    template <class S>
    void retake(B on, const csr<V, S>& A, amg_options::keeps keeps,
                const linear_operator<V, B>* product, amg_report& told) {
        if (product != nullptr && product->shape() != shape)
            throw argument_error("amg: the product given is of another shape than the matrix");
        if (product != nullptr) finest = product;
        is_whole = false;
        retake_levels<V>(on, A, options, keeps, finest, *made, told);
        is_whole = true;
    }
    void expect_whole() const {
        if (!is_whole) throw unavailable("amg: it could not take the values that it was given");
    }
    /// Throws unless values of A may be taken.
    template <class S>
    void expect_pattern(B on, const csr<V, S>& A) const {
        if (!options.keep) throw unavailable("amg: made without keep, it takes no other values");
        if (A.shape != shape || A.val.size() != entries)
            throw argument_error(
                fmt::format("amg: {} x {} with {} entries, expected {} x {} with {}", A.shape.rows,
                            A.shape.cols, A.val.size(), shape.rows, shape.cols, entries));
        if (hash(on, A) != pattern) throw argument_error("amg: the matrix has another pattern");
    }
};

template <class V, class B>
amg<V, B>::amg(const ascending<V>& in_order, B on, const amg_options& asked,
               const candidates<V>& near, const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, in_order.view().shape) {
    const auto start = steady_clock::now();
    const csr<V, host_view>& A = in_order.view();
    check_around(A.shape, asked, near, finest);
    const auto plan = [&] { return plan_and_build(in_order, on, product_options<V>(on)); };
    if constexpr (!is_built<B>) {
        (void)suitable_diagonal(in_order, asked.check);
        refuse_gpu();
    } else {
        if constexpr (is_gpu_built<B>) {
            if (suits_gpu(A) && why_no_gpu(on).empty()) {
                const uploaded<V> moved(on, in_order);
                moved.expect_suitable(on, asked.check);
                const auto there = moved.view(on);
                state_ = std::make_unique<state>(on, with_block(on, asked, there.view()), finest,
                                                 there.view());
                state_->set_up(on, there, near, plan, report_);
                report_.setup_s = seconds_since(start);
                return;
            }
        }
        auto diagonal = suitable_diagonal(in_order, asked.check);
        const amg_options o = with_block(helpers(on), asked, A);
        if constexpr (std::is_same_v<B, gpu>) require_gpu(on);
        state_ = std::make_unique<state>(on, o, finest, A);
        const auto make = [&](const candidates<V>& all, auto& made, amg_report& report) {
            make_levels<V, B>(on, in_order, diagonal, o, all, finest, made, report);
        };
        auto& made = *state_->made;
        const bool by_phases = has_phases<V>(cpu{}, nullptr, in<V, cpu>(A.val), o, near);
        const auto product = [&] { return plan().op; };
        make(all_candidates<V, B>(on, finest, product, 0, near, by_phases, o, make), made, report_);
        report_.block = o.block;
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
amg<V, B>::amg(const csr<V, device_view>& given, B on, const amg_options& asked,
               const candidates<V>& near,
               const linear_operator<V, B>* finest) requires std::is_same_v<B, gpu>
    : matrix_free_operator<V, B>(on, given.shape) {
    const auto start = steady_clock::now();
    if (!suits_gpu(given))
        throw argument_error("amg: a matrix of 2^31 entries or more, expected it on the CPU");
    check_around(given.shape, asked, near, finest);
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else {
        require_gpu(on);
        const ascending<V, gpu> in_order(given, on);
        const csr<V, device_view>& A = in_order.view();
        expect_suitable(on, A, asked.check);
        state_ = std::make_unique<state>(on, with_block(on, asked, A), finest, A);
        const auto plan = [&] {
            return plan_and_build(in_order, on, product_options<V>(on, true));
        };
        state_->set_up(on, in_order, near, plan, report_);
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
amg<V, B>::amg(B on, const matrix_slice<V>& A, const amg_options& asked, const candidates<V>& near,
               const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, own_shape(on, A)) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else if constexpr (!over_ranks<V, B>) {
        throw unavailable("amg: complex values are shared out over ranks on the CPUs only");
    } else {
        const communicator& ranks = *on.ranks;
        const auto start = steady_clock::now();
        amg_options o = asked;
        agree(&ranks, [&] { check_part(ranks, A, o, near, finest); });
        expect_same(ranks, o, near.count, finest != nullptr);
        if (o.check)
            if (const auto why = why_not_symmetric(ranks, A); !why.empty())
                throw argument_error("amg: " + why);
        if (o.block == 0) {
            agree(&ranks, [&] { validate(view(A.own), false); });
            o.block = unknowns_a_node(helpers(on), &ranks, view(A.own), A.rows.total(),
                                      index(A.rows.of(ranks.rank()).first));
        }
        agree(&ranks, [&] { state_ = std::make_unique<state>(on, o, finest, view(A.own)); });
        auto& h = *state_;
        h.where = shares_of_level(whole_blocks(A.rows, o.block), o.coarse_rows);
        h.near = near;
        if (h.where != A.rows) {
            agree(&ranks, [&] { validate(view(A.own), false); });
            h.near.val = nz::moved<V>(ranks, A.rows, h.where, near.val, std::size_t(near.count));
            auto I = identity<V>(ranks.rank(), A.rows, h.where);
            const auto products = both_ways<V>(on, I.own.val.size());
            h.moves = std::make_unique<distributed<V, B>>(on, std::move(I), products);
            agree(&ranks, [&] {
                h.moved_b = make_vector<V>(on, std::size_t(h.where.count(ranks.rank())));
                h.moved_x = make_vector<V>(on, h.moved_b.size());
            });
        }
        const auto add_found = [&](const matrix_slice<V>& S, const linear_operator<V, B>* product) {
            const auto make = [&](const candidates<V>& all, auto& made, amg_report& report) {
                make_levels<V, B>(on, S, o, all, product, nullptr, made, report);
            };
            const auto plan = [&] {
                return std::make_unique<distributed<V, B>>(on, S, product_options<V>(on));
            };
            const auto first = S.rows.of(ranks.rank()).first;
            const bool by_phases = has_phases<V>(cpu{}, &ranks, in<V, cpu>(S.own.val), o, h.near);
            h.near = all_candidates<V, B>(on, product, plan, first, std::move(h.near), by_phases, o,
                                          make);
        };
        if (o.adaptive_candidates > 0)
            h.moves == nullptr ? add_found(A, finest)
                               : add_found(moved(ranks, A, h.where), nullptr);
        make_levels_of(A, h, *h.made, report_);
        if (!o.keep) h.near = {};
        report_.block = o.block;
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
amg<V, B>::~amg() = default;

template <class V, class B>
void amg<V, B>::make_levels_of(const matrix_slice<V>& A, const state& old, hierarchy<V, B>& made,
                               amg_report& report) const {
    if constexpr (is_built<B> && over_ranks<V, B>) {
        const communicator& ranks = *this->on().ranks;
        const amg_options& o = old.options;
        const kept_levels<V>* const kept = &made == old.made.get() ? nullptr : &old.made->kept;
        if (old.moves == nullptr)
            make_levels<V, B>(this->on(), A, o, old.near, old.finest, kept, made, report);
        else
            make_levels<V, B>(this->on(), moved(ranks, A, old.where), o, old.near, nullptr, kept,
                              made, report);
    }
}

template <class V, class B>
void amg<V, B>::take_values(const ascending<V>& A, amg_options::keeps keeps,
                            const linear_operator<V, B>* finest) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        if (this->on().ranks != nullptr) throw argument_error("amg: over ranks it takes a slice");
        const auto start = steady_clock::now();
        auto& h = *state_;
        if constexpr (is_gpu_built<B>) {
            if (h.are_levels_of_gpu()) {
                const uploaded<V> moved(this->on(), A);
                const auto there = moved.view(this->on());
                h.expect_pattern(this->on(), there.view());
                moved.expect_suitable(this->on(), h.options.check);
                h.retake(this->on(), there.view(), keeps, finest, report_);
                report_.setup_s = seconds_since(start);
                return;
            }
        }
        h.expect_pattern(this->on(), A.view());
        (void)suitable_diagonal(A, h.options.check);
        h.retake(this->on(), A.view(), keeps, finest, report_);
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
void amg<V, B>::take_values(const csr<V, device_view>& given, amg_options::keeps keeps,
                            const linear_operator<V, B>* finest) requires std::is_same_v<B, gpu> {
    if constexpr (!is_gpu_built<B>) {
        refuse_gpu();
    } else {
        if (this->on().ranks != nullptr) throw argument_error("amg: over ranks it takes a slice");
        const auto start = steady_clock::now();
        const ascending<V, gpu> A(given, this->on());
        auto& h = *state_;
        h.expect_pattern(this->on(), A.view());
        expect_suitable(this->on(), A.view(), h.options.check);
        if (!h.are_levels_of_gpu())
            throw unavailable("amg: its levels were made on the CPU, which takes the values there");
        h.retake(this->on(), A.view(), keeps, finest, report_);
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
void amg<V, B>::take_values(const matrix_slice<V>& A) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        if (this->on().ranks == nullptr) throw argument_error("amg: on.ranks is null");
        const communicator& ranks = *this->on().ranks;
        const auto start = steady_clock::now();
        auto& h = *state_;
        agree(&ranks, [&] { h.expect_pattern(this->on(), view(A.own)); });
        if (h.options.check)
            if (const auto why = why_not_symmetric(ranks, A); !why.empty())
                throw argument_error("amg: " + why);
        auto made = std::make_unique<hierarchy<V, B>>(this->on(), h.options.cycle);
        amg_report report;
        report.block = h.options.block;
        make_levels_of(A, h, *made, report);
        h.made = std::move(made);
        report_ = std::move(report);
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
void amg<V, B>::map(in<V, B> x, out<V, B> y) const {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        auto& h = *state_;
        h.expect_whole();
        if (h.moves == nullptr) return h.made->cycle(x, y);
        h.moves->apply(V(1), x, V(0), h.moved_b);
        h.made->cycle(h.moved_b, h.moved_x);
        h.moves->apply_transposed(transposition::transpose, V(1), h.moved_x, V(0), y);
    }
}

template <class V, class B>
void amg<V, B>::map_many(in_columns<V, B> x, out_columns<V, B> y) const {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        state_->expect_whole();
        state_->made->cycle_many(x, y);
    }
}

template <class V, class B>
std::size_t amg<V, B>::bytes() const {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto& h = *state_;
        return bytes_of(*h.made) + h.near.val.size() * sizeof(V) +
               (h.moves == nullptr ? 0 : h.moves->bytes()) +
               (h.moved_b.size() + h.moved_x.size()) * sizeof(V);
    }
}

#define NZ_INSTANTIATE(V)       \
    template class amg<V, cpu>; \
    template class amg<V, gpu>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
