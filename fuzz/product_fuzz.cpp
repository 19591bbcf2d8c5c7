// libFuzzer on the products: every method, value type, transposition, alpha and beta, one vector
// and several, and new values, of matrices made from the bytes, against the oracle. Seeds:
// fuzz/corpus/product_fuzz.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/matrix_of_bytes.hpp"
#include "fuzz/verdict.hpp"
#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::fuzz {
namespace {

/// Operands of a product, beside the matrix.
template <class V>
struct task {
    transposition how;
    V alpha, beta;
    index count;  ///< vectors, at strides beyond their lengths
    std::size_t x_len, y_len, x_stride, y_stride;
    host_vector<V> X, Y;
};

template <class V>
V not_a_number() {
    return V(std::numeric_limits<real<V>>::quiet_NaN());
}

template <class V>
V read_scalar(byte_reader& in) {
    return value_of_parts<V>([&] { return special_value<real<V>>(in.next()); });
}

/// Vectors with a NaN behind each; of NaNs alone where they must not be read.
template <class V>
host_vector<V> read_vectors(byte_reader& in, index count, std::size_t len, bool unread) {
    host_vector<V> all;
    for (index c = 0; c < count; ++c) {
        const auto v = read_values<V>(in, len);
        all.insert(all.end(), v.begin(), v.end());
        all.push_back(not_a_number<V>());
    }
    if (unread) std::fill(all.begin(), all.end(), not_a_number<V>());
    return all;
}

template <class V>
task<V> read_task(byte_reader& in, transposition how, index count, shape s) {
    const bool swap = how != transposition::plain;
    task<V> t{how,
              read_scalar<V>(in),
              read_scalar<V>(in),
              count,
              std::size_t(swap ? s.rows : s.cols),
              std::size_t(swap ? s.cols : s.rows),
              0,
              0,
              {},
              {}};
    t.x_stride = t.x_len + 1, t.y_stride = t.y_len + 1;
    t.X = read_vectors<V>(in, count, t.x_len, t.alpha == V(0));
    t.Y = read_vectors<V>(in, count, t.y_len, t.beta == V(0));
    return t;
}

/// Ends the process unless the c-th vector of Y is what it may be.
template <class V>
void check_vector(const csr<V, host_view>& A, const task<V>& t, index c, const host_vector<V>& Y,
                  std::string_view what) {
    const std::size_t at = std::size_t(c) * t.y_stride;
    const auto x = std::span<const V>(t.X).subspan(std::size_t(c) * t.x_stride, t.x_len);
    const auto y0 = std::span<const V>(t.Y).subspan(at, t.y_len);
    // The oracle multiplies by alpha at last: where that is 0, it must not see what is not read.
    const host_vector<V> zeros(t.x_len, V(0));
    const csr<V, host> empty{
        A.shape, offset_vector(host_vector<offset>(A.row_ptr.size(), 0)), {}, {}};
    const reference want =
        t.alpha == V(0) ? reference_product<V>(t.how, t.alpha, view(empty), zeros, t.beta, y0)
                        : reference_product<V>(t.how, t.alpha, A, x, t.beta, y0);
    const auto of = ingredients_of<V>(t.how, t.alpha, A, x, t.beta, y0);
    for (std::size_t i = 0; i < t.y_len; ++i) {
        const V got = Y[at + i];
        if (may_be(got, want.y[i], want.bound[i], of[i], t.alpha, t.beta)) continue;
        std::fprintf(stderr,
                     "%.*s, %s, op %d: %d x %d, %zu entries, vector %d: y[%zu] of %lld entries is "
                     "(%g, %g), expected (%Lg, %Lg) within (%Lg, %Lg)\n",
                     int(what.size()), what.data(), std::string(value_name<V>()).c_str(),
                     int(t.how), A.shape.rows, A.shape.cols, A.val.size(), c, i,
                     static_cast<long long>(of[i].entries), double(std::real(got)),
                     double(std::imag(got)), want.y[i].real(), want.y[i].imag(),
                     want.bound[i].real(), want.bound[i].imag());
        std::abort();
    }
}

template <class V>
void check_one(const linear_operator<V, cpu>& op, const csr<V, host_view>& A, const task<V>& t,
               std::string_view what) {
    host_vector<V> Y = t.Y;
    // In arrays of their own, so that the sanitizer sees who leaves them.
    const host_vector<V> x(t.X.begin(), t.X.begin() + std::ptrdiff_t(t.x_len));
    host_vector<V> y(t.Y.begin(), t.Y.begin() + std::ptrdiff_t(t.y_len));
    op.apply_transposed(t.how, t.alpha, x, t.beta, y);
    std::copy(y.begin(), y.end(), Y.begin());
    check_vector(A, t, 0, Y, what);
}

template <class V>
void check_many(const linear_operator<V, cpu>& op, const csr<V, host_view>& A, const task<V>& t,
                std::string_view what) {
    host_vector<V> Y = t.Y;
    op.apply_many(t.alpha, {t.X, t.x_stride, t.count}, t.beta, {Y, t.y_stride, t.count});
    for (index c = 0; c < t.count; ++c) {
        check_vector(A, t, c, Y, what);
        if (is_nan(Y[std::size_t(c + 1) * t.y_stride - 1])) continue;
        std::fprintf(stderr, "%.*s wrote behind vector %d\n", int(what.size()), what.data(), c);
        std::abort();
    }
}

/// Everything that one method can do with the matrix. The bytes are read anew for each method.
template <class V>
void check_method(const method<V>& m, int threads, transposition how, const csr<V, host>& A,
                  const matrix_stats& stats, byte_reader in) {
    if (!m.cost(stats).declined.empty()) return;
    const std::uint8_t what = in.next();
    plan<V, cpu> p;
    p.shape = A.shape, p.nnz = std::int64_t(A.val.size());
    p.on = cpu{threads}, p.among = methods<V>();
    p.candidates.push_back({.method = std::string(m.name)});
    auto op = build(m, p.on, view(A));
    check_one(*op, view(A), read_task<V>(in, how, 1, A.shape), m.name);
    if (what % 4 == 1) {
        const auto plain = transposition::plain;
        check_many(*op, view(A), read_task<V>(in, plain, 2 + what / 4 % 17, A.shape), m.name);
    }
    if (what % 4 == 2) {
        csr<V, host> other = A;
        other.val = read_values<V>(in, A.val.size());
        update_values(op, p, view(other));
        check_one(*op, view(other), read_task<V>(in, how, 1, A.shape),
                  std::string(m.name) + " with new values");
    }
}

template <class V>
const std::vector<method<V>>& methods_on_cpu() {
    static const std::vector<method<V>> those = [] {
        std::vector<method<V>> found;
        for (const method<V>& m : methods<V>())
            if (m.on_cpu != nullptr) found.push_back(m);
        return found;
    }();
    return those;
}

/// One method or, rarely, as it takes long, every one.
template <class V>
void check_methods(byte_reader in, int threads, transposition how, std::uint8_t which) {
    const csr<V, host> A = read_matrix<V>(in);
    const matrix_stats stats = compute_stats(view(canonical(view(A))));
    const auto& all = methods_on_cpu<V>();
    if (which == 255 && A.val.size() < 5000) {
        for (const method<V>& m : all) check_method(m, threads, how, A, stats, in);
    } else {
        check_method(all[which % all.size()], threads, how, A, stats, in);
    }
}

}  // namespace
}  // namespace nz::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    omp_set_num_threads(1);  // where nobody says how many: that is faster for what is small
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    nz::fuzz::byte_reader in(data, size);
    const std::uint8_t first = in.next(), which = in.next();
    const int threads = first / 4 % 16 == 15 ? 3 : 1;
    const auto how = nz::transposition(first / 64 % 3);
    switch (first % 4) {
        case 0:
            nz::fuzz::check_methods<float>(in, threads, how, which);
            break;
        case 1:
            nz::fuzz::check_methods<double>(in, threads, how, which);
            break;
        case 2:
            nz::fuzz::check_methods<std::complex<float>>(in, threads, how, which);
            break;
        default:
            nz::fuzz::check_methods<std::complex<double>>(in, threads, how, which);
    }
    return 0;
}
