#include "nonzero/solve/preconditioners/triangular/triangular.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// Rows in the arrays of a triangle.
template <class V, class P>
struct triangle_rows {
    const P* ptr;
    const index* col;
    const V *val, *inverse;

    void solve(index i, const V* b, V* x) const {
        V sum = b[i];
        for (P k = ptr[i]; k < ptr[i + 1]; ++k) sum -= product(val[k], x[col[k]]);
        x[i] = inverse == nullptr ? sum : product(inverse[i], sum);
    }
};

template <class V, class F>
void visit_rows(const triangle<V>& T, const F& f) {
    const V* const inverse = T.inverse.empty() ? nullptr : T.inverse.data();
    offset_span(T.beside.row_ptr).visit([&](const auto* ptr) {
        f(triangle_rows<V, std::remove_cvref_t<decltype(*ptr)>>{ptr, T.beside.col_ind.data(),
                                                                T.beside.val.data(), inverse});
    });
}

}  // namespace

template <class V>
triangular_solver<V>::triangular_solver(cpu on, triangle<V> T)
    : T_(std::move(T)), schedule_(on, T_.side, view(T_.beside)) {}

template <class V>
void triangular_solver<V>::solve(std::span<const V> b, std::span<V> x) const {
    visit_rows(T_, [&](const auto& rows) {
        const auto solve_chunk = [&](int, level_schedule::chunk c) {
            if (T_.side == triangle_side::lower)
                for (index i = c.first; i < c.last; ++i) rows.solve(i, b.data(), x.data());
            else
                for (index i = c.last; i-- > c.first;) rows.solve(i, b.data(), x.data());
        };
        const auto alone = [&] { solve_chunk(0, {0, T_.beside.shape.rows}); };
        if (schedule_.threads() == 1) return alone();
        faster_.run([&] { schedule_.run(solve_chunk); }, alone);
    });
}

template <class V>
std::size_t triangular_solver<V>::bytes() const {
    return T_.inverse.size() * sizeof(V) + T_.beside.val.size() * (sizeof(V) + sizeof(index)) +
           std::size_t(
               offset_bytes(double(T_.beside.row_ptr.size()), double(T_.beside.val.size()))) +
           schedule_.bytes();
}

namespace {

/// Computes rows of an approximate inverse, for one thread.
template <class V>
class inverse_triangle_row {
  public:
    explicit inverse_triangle_row(const triangle<V>& T)
        : T_(T), rest_(std::size_t(T.beside.shape.rows), V(0)), met_(rest_.size(), 0) {}
    /// Row i, its columns from the diagonal outwards, into val; false where it overflows.
    bool operator()(index i, std::span<V> val) {
        const auto& ptr = T_.beside.row_ptr;
        const auto first = ptr[std::size_t(i)], last = ptr[std::size_t(i) + 1];
        for (offset k = first; k < last; ++k) met_[column(k)] = 1;
        bool is_finite = true;
        val[0] = over_diagonal(std::size_t(i), V(1));
        subtract(val[0], std::size_t(i));
        for (offset k = last; k-- > first;) {
            V& at = val[std::size_t(last - k)];
            at = over_diagonal(column(k), std::exchange(rest_[column(k)], V(0)));
            is_finite = is_finite && std::isfinite(std::real(at)) && std::isfinite(std::imag(at));
            subtract(at, column(k));
            met_[column(k)] = 0;
        }
        return is_finite;
    }

  private:
    [[nodiscard]] std::size_t column(offset k) const {
        return std::size_t(T_.beside.col_ind[std::size_t(k)]);
    }
    [[nodiscard]] V over_diagonal(std::size_t j, V v) const {
        return T_.inverse.empty() ? v : product(T_.inverse[j], v);
    }
    /// Row j of T, times a factor, from what is left of the identity's row.
    void subtract(V factor, std::size_t j) {
        for (offset k = T_.beside.row_ptr[j]; k < T_.beside.row_ptr[j + 1]; ++k)
            if (met_[column(k)] != 0)
                rest_[column(k)] -= product(factor, T_.beside.val[std::size_t(k)]);
    }

    const triangle<V>& T_;
    std::vector<V> rest_;
    std::vector<char> met_;  ///< whether a column is in the row, and still to come
};

}  // namespace

template <class V>
csr<V, host> adjoint(cpu on, const csr<V, host>& A) {
    auto M = transposed(on, view(A));
    if constexpr (is_complex<V>)
        parallel_for(thread_count(on, std::ssize(M.val)), std::ssize(M.val), [&](std::int64_t k) {
            M.val[std::size_t(k)] = std::conj(M.val[std::size_t(k)]);
        });
    return M;
}

template <class V>
csr<V, host> approximate_inverse(cpu on, const triangle<V>& T) {
    const index rows = T.beside.shape.rows;
    csr<V, host> M{T.beside.shape,
                   {},
                   host_vector<index>(T.beside.val.size() + std::size_t(rows)),
                   host_vector<V>(T.beside.val.size() + std::size_t(rows))};
    host_vector<offset> ptr(std::size_t(rows) + 1);
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = T.beside.row_ptr[i] + offset(i);
    const auto make = [&] { return inverse_triangle_row<V>(T); };
    const auto row = [&](std::int64_t i, inverse_triangle_row<V>& compute) {
        const auto at = std::size_t(ptr[std::size_t(i)]);
        const auto length = std::size_t(ptr[std::size_t(i) + 1]) - at;
        const std::span<V> val(M.val.data() + at, length);
        if (!compute(index(i), val)) std::fill(val.begin() + 1, val.end(), V(0));
        const auto from = T.beside.col_ind.begin() + T.beside.row_ptr[std::size_t(i)];
        const auto col = M.col_ind.begin() + offset(at);
        col[0] = index(i);
        std::reverse_copy(from, from + offset(length) - 1, col + 1);
        if (T.side == triangle_side::upper) return;
        std::reverse(col, col + offset(length)), std::reverse(val.begin(), val.end());
    };
    parallel_for(thread_count(on, std::ssize(M.val)), rows, 256, make, row);
    M.row_ptr = offset_vector(ptr);
    return M;
}

namespace {

template <class V>
class solve_with_two final : public matrix_free_operator<V, cpu> {
  public:
    solve_with_two(cpu on, triangle<V> first, triangle<V> second)
        : matrix_free_operator<V, cpu>(on, first.beside.shape),
          first_(on, std::move(first)),
          second_(on, std::move(second)) {}
    [[nodiscard]] std::size_t bytes() const override { return first_.bytes() + second_.bytes(); }

  protected:
    void map(std::span<const V> x, std::span<V> y) const override {
        first_.solve(x, y), second_.solve(y, y);
    }

  private:
    triangular_solver<V> first_, second_;
};

template <class V>
class solve_on_gpu final : public matrix_free_operator<V, gpu> {
  public:
    solve_on_gpu(gpu on, nz::shape shape, const device_triangle<V>& first,
                 const device_triangle<V>& second)
        : matrix_free_operator<V, gpu>(on, shape), triangles_(on, first, second) {}
    [[nodiscard]] std::size_t bytes() const override { return triangles_.bytes(); }

  protected:
    void map(in<V, gpu> x, out<V, gpu> y) const override { triangles_.solve(x, y); }

  private:
    triangles_on_gpu<V> triangles_;
};

template <class V, class B>
class multiply_by_two final : public matrix_free_operator<V, B> {
  public:
    using product = std::unique_ptr<linear_operator<V, B>>;
    multiply_by_two(B on, product first, product second)
        : matrix_free_operator<V, B>(on, first->shape()),
          first_(std::move(first)),
          second_(std::move(second)),
          between_(make_between()) {}
    [[nodiscard]] std::size_t bytes() const override { return first_->bytes() + second_->bytes(); }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            auto between = make_between();  // of its own, as several threads may call
            run(x, between, y);
        } else {
            run(x, between_, y);
        }
    }

  private:
    [[nodiscard]] vector<V, B> make_between() const {
        return make_vector<V>(this->on(), std::size_t(this->shape().rows));
    }
    void run(in<V, B> x, vector<V, B>& between, out<V, B> y) const {
        first_->apply(V(1), x, V(0), between);
        second_->apply(V(1), between, V(0), y);
    }

    product first_, second_;
    mutable vector<V, B> between_;
};

template <class V>
device_triangle<V> uploaded(gpu on, const triangle<V>& T) {
    device_triangle<V> there{T.side, upload(on, T.beside), {}};
    if (!T.inverse.empty()) there.inverse = to_device(on, std::span<const V>(T.inverse));
    return there;
}

}  // namespace

template <class V>
std::unique_ptr<linear_operator<V, gpu>> solving_operator(
    gpu on, const device_triangle<V>& first, const device_triangle<V>& second,
    incomplete_options::triangular_solves how) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        if (how == incomplete_options::triangular_solves::exact)
            return std::make_unique<solve_on_gpu<V>>(on, first.beside.shape, first, second);
        const auto planned = [on](const device_triangle<V>& T) {
            return plan_and_build(view(approximate_inverse(on, T)), on,
                                  {.accept = plan_options::acceptance::predicted})
                .op;
        };
        auto M = planned(first);
        return std::make_unique<multiply_by_two<V, gpu>>(on, std::move(M), planned(second));
    }
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> operator_of_two(B on, csr<V, host> first,
                                                       csr<V, host> second) {
    const auto planned = [on](csr<V, host>&& M) {
        return plan_and_build(ascending<V>::known(std::move(M)), on).op;
    };
    auto M = planned(std::move(first));
    return std::make_unique<multiply_by_two<V, B>>(on, std::move(M), planned(std::move(second)));
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> solving_operator(B on, triangle<V> first, triangle<V> second,
                                                        incomplete_options::triangular_solves how) {
    if constexpr (std::is_same_v<B, gpu>) {
        return solving_operator(on, uploaded(on, first), uploaded(on, second), how);
    } else {
        if (how != incomplete_options::triangular_solves::approximate)
            return std::make_unique<solve_with_two<V>>(on, std::move(first), std::move(second));
        auto M = approximate_inverse(on, first), N = approximate_inverse(on, second);
        first = {}, second = {};
        return operator_of_two<V, cpu>(on, std::move(M), std::move(N));
    }
}

#define NZ_INSTANTIATE_ON(V, B)                                                      \
    template std::unique_ptr<linear_operator<V, B>> operator_of_two(B, csr<V, host>, \
                                                                    csr<V, host>);   \
    template std::unique_ptr<linear_operator<V, B>> solving_operator(                \
        B, triangle<V>, triangle<V>, incomplete_options::triangular_solves);
#define NZ_INSTANTIATE(V)                                               \
    template class triangular_solver<V>;                                \
    template csr<V, host> adjoint(cpu, const csr<V, host>&);            \
    template csr<V, host> approximate_inverse(cpu, const triangle<V>&); \
    NZ_INSTANTIATE_ON(V, cpu)                                           \
    NZ_INSTANTIATE_ON(V, gpu)                                           \
    template std::unique_ptr<linear_operator<V, gpu>> solving_operator( \
        gpu, const device_triangle<V>&, const device_triangle<V>&,      \
        incomplete_options::triangular_solves);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
