#include "nonzero/solve/eigs/vector_basis.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/simd/targets.hpp"
#include "nonzero/solve/eigs/vector_basis_steps.hpp"

namespace nz {
namespace {

// On a CPU the vectors are walked in blocks of rows that the second-level cache holds for all of
// them, four vectors at once; a fused kernel's loop over elements is scalar code
// (docs/experiments/solvers-measured.md).
constexpr std::int64_t block_rows = 1024;
constexpr std::int64_t rotated_rows = 64;  // 64 KB of a thread's stack

/// The elements [first, first + len) of vectors that are n apart.
template <class V>
struct some_rows {
    const V* at;
    std::int64_t n, len;
    [[nodiscard]] const V* operator[](int k) const { return at + k * n; }
};

// -- loops, of plain C++ or of AVX2 -----------------------------------------------------------

/// sum_k = (v_k, w)
template <class V>
[[gnu::always_inline]] inline void dots_loop(const some_rows<V>& v, int count, const V* w,
                                             double* sum) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const V *const v0 = v[k], *const v1 = v[k + 1], *const v2 = v[k + 2], *const v3 = v[k + 3];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (std::int64_t i = 0; i < v.len; ++i) {
            const double wi = double(w[i]);
            s0 += double(v0[i]) * wi, s1 += double(v1[i]) * wi;
            s2 += double(v2[i]) * wi, s3 += double(v3[i]) * wi;
        }
        sum[k] = s0, sum[k + 1] = s1, sum[k + 2] = s2, sum[k + 3] = s3;
    }
    for (; k < count; ++k) {
        const V* const v0 = v[k];
        double s0 = 0;
#pragma omp simd reduction(+ : s0)
        for (std::int64_t i = 0; i < v.len; ++i) s0 += double(v0[i]) * double(w[i]);
        sum[k] = s0;
    }
}

/// sum_i += c_0 v_0i + c_1 v_1i ...
template <class V>
[[gnu::always_inline]] inline void add_loop(const some_rows<V>& v, int count, const double* c,
                                            double* __restrict__ sum) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const V *const v0 = v[k], *const v1 = v[k + 1], *const v2 = v[k + 2], *const v3 = v[k + 3];
        const double c0 = c[k], c1 = c[k + 1], c2 = c[k + 2], c3 = c[k + 3];
#pragma omp simd
        for (std::int64_t i = 0; i < v.len; ++i)
            sum[i] += (c0 * double(v0[i]) + c1 * double(v1[i])) +
                      (c2 * double(v2[i]) + c3 * double(v3[i]));
    }
    for (; k < count; ++k) {
        const V* const v0 = v[k];
        const double c0 = c[k];
#pragma omp simd
        for (std::int64_t i = 0; i < v.len; ++i) sum[i] += c0 * double(v0[i]);
    }
}

#if defined(NZ_AVX2)
template <class V>
NZ_AVX2 void dots_avx2(const some_rows<V>& v, int count, const V* w, double* sum) {
    dots_loop(v, count, w, sum);
}
template <class V>
NZ_AVX2 void add_avx2(const some_rows<V>& v, int count, const double* c, double* sum) {
    add_loop(v, count, c, sum);
}
#endif

template <class V>
void dots_of(const some_rows<V>& v, int count, const V* w, double* sum) {
#if defined(NZ_AVX2)
    if (has_avx2()) return dots_avx2(v, count, w, sum);
#endif
    dots_loop(v, count, w, sum);
}
template <class V>
void add_all(const some_rows<V>& v, int count, const double* c, double* sum) {
#if defined(NZ_AVX2)
    if (has_avx2()) return add_avx2(v, count, c, sum);
#endif
    add_loop(v, count, c, sum);
}

/// w = w - sum of c_k v_k; gives |w|^2.
template <class V>
double subtract_from(const some_rows<V>& v, int count, const double* c, V* w) {
    std::array<double, block_rows> sum{};
    add_all(v, count, c, sum.data());
#pragma omp simd
    for (std::int64_t i = 0; i < v.len; ++i) w[i] = V(double(w[i]) - sum[std::size_t(i)]);
    double norm2 = 0;
    dots_of(some_rows<V>{w, 0, v.len}, 1, static_cast<const V*>(w), &norm2);
    return norm2;
}

/// f(block, first row, rows) for blocks of rows, in parallel where the elements of all `vectors`,
/// of length n, are enough for it.
template <class F>
void for_each_block(cpu on, std::int64_t n, int vectors, std::int64_t rows, F f) {
    const std::int64_t blocks = (n + rows - 1) / rows;
    parallel_for(thread_count(on, n * vectors), blocks,
                 [&](std::int64_t b) { f(b, b * rows, std::min(rows, n - b * rows)); });
}

/// total_k = the sum over blocks of partial_(block width + k), in their order.
void add_blocks(const host_vector<double>& partial, int width, std::int64_t blocks, double* total) {
    std::fill_n(total, width, 0.0);
    for (std::int64_t b = 0; b < blocks; ++b)
        for (int k = 0; k < width; ++k) total[k] += partial[std::size_t(b * width + k)];
}

/// total_k = the sum over the ranks, where there are some, in their order.
void add_ranks(cpu on, std::span<double> total) {
    if (on.ranks == nullptr) return;
    std::vector<double> all(total.size() * std::size_t(on.ranks->size()));
    on.ranks->all_gather(std::as_bytes(total), std::as_writable_bytes(std::span(all)));
    std::fill(total.begin(), total.end(), 0.0);
    for (std::size_t k = 0; k < all.size(); ++k) total[k % total.size()] += all[k];
}

std::int64_t blocks_of(std::int64_t n) { return (n + block_rows - 1) / block_rows; }

template <class V, class B>
vector<V, B> make(B on, std::int64_t len) {
    return make_vector<V>(on, std::size_t(len));
}

}  // namespace

template <class V, class B>
vector_basis<V, B>::vector_basis(B on, std::int64_t n, int capacity)
    : n_(n),
      capacity_(capacity),
      space_(on, n),
      vectors_(make<V>(on, n * capacity)),
      coefficients_(make<double>(on, std::int64_t(capacity) * capacity)),
      sum_(on, {}),
      subtraction_(on, {}) {
    if constexpr (std::is_same_v<B, cpu>) {
        partial_.resize(std::size_t(blocks_of(n)) * (std::size_t(capacity) + 1));
    } else {
        partial_ = make_vector<double>(on, dots_scratch(on, n, capacity));
    }
}

template <class V, class B>
host_vector<V> vector_basis<V, B>::to_host(int count) const {
    return nz::to_host<V>(space_.on(),
                          in<V, B>{vectors_.data(), std::size_t(count) * std::size_t(n_)});
}

template <class V, class B>
void vector_basis<V, B>::give(std::span<const double> c) {
    if constexpr (std::is_same_v<B, cpu>) {
        std::copy(c.begin(), c.end(), coefficients_.begin());
    } else {
        copy_to_device(space_.on(), c.data(), coefficients_.data(), c.size_bytes());
    }
}
template <class V, class B>
std::vector<double> vector_basis<V, B>::coefficients(int count) const {
    const auto c =
        nz::to_host<double>(space_.on(), in<double, B>{coefficients_.data(), std::size_t(count)});
    return {c.begin(), c.end()};
}

/// The coefficients stay at the place `at` and behind it.
template <class V, class B>
void vector_basis<V, B>::project(int count, in<V, B> w, std::int64_t at) {
    double* const c = coefficients_.data() + at;
    if constexpr (std::is_same_v<B, cpu>) {
        for_each_block(space_.on(), n_, count, block_rows, [&](auto b, auto first, auto rows) {
            dots_of(some_rows<V>{vectors_.data() + first, n_, rows}, count, w.data() + first,
                    partial_.data() + b * count);
        });
        add_blocks(partial_, count, blocks_of(n_), c);
        add_ranks(space_.on(), {c, std::size_t(count)});
    } else {
        launch_dots(space_.on(), n_, count, vectors_.data(), w.data(), partial_.data(), c);
    }
}

template <class V, class B>
std::vector<double> vector_basis<V, B>::gram(int count) {
    // On a GPU one copy fetches all places, so that all are written.
    for (int j = 0; j < count; ++j)
        project(std::is_same_v<B, gpu> ? count : j + 1, column(j), std::int64_t(j) * count);
    return coefficients(count * count);
}

template <class V, class B>
basis_subtraction vector_basis<V, B>::subtract(int count, out<V, B> w) {
    if constexpr (std::is_same_v<B, cpu>) {
        for_each_block(space_.on(), n_, count, block_rows, [&](auto b, auto first, auto rows) {
            partial_[std::size_t(b)] =
                subtract_from(some_rows<V>{vectors_.data() + first, n_, rows}, count,
                              coefficients_.data(), w.data() + first);
        });
        double total = 0;
        add_blocks(partial_, 1, blocks_of(n_), &total);
        add_ranks(space_.on(), std::span(&total, 1));
        const std::span c = std::span(coefficients_).first(std::size_t(count));
        return {total, std::inner_product(c.begin(), c.end(), c.begin(), 0.0)};
    } else {
        run_fused(space_,
                  basis_subtract<V>{vectors_.data(), w.data(), n_, count, coefficients_.data()},
                  subtraction_.data());
        return subtraction_.read();
    }
}

template <class V, class B>
double vector_basis<V, B>::subtract_and_project(int count, out<V, B> w) {
    if constexpr (std::is_same_v<B, cpu>) {
        const int width = count + 1;
        for_each_block(space_.on(), n_, count, block_rows, [&](auto b, auto first, auto rows) {
            const some_rows<V> v{vectors_.data() + first, n_, rows};
            double* const mine = partial_.data() + b * width;
            mine[count] = subtract_from(v, count, coefficients_.data(), w.data() + first);
            dots_of(v, count, static_cast<const V*>(w.data() + first), mine);
        });
        std::vector<double> total(static_cast<std::size_t>(width));
        add_blocks(partial_, width, blocks_of(n_), total.data());
        add_ranks(space_.on(), total);
        give(std::span(total).first(std::size_t(count)));
        return std::sqrt(total.back());
    } else {
        const double norm = subtract(count, w).left();
        project(count, w);
        return norm;
    }
}

template <class V, class B>
void vector_basis<V, B>::combine(std::span<const double> y, out<V, B> x) {
    const int count = int(y.size());
    if constexpr (std::is_same_v<B, cpu>) {
        for_each_block(space_.on(), n_, count, block_rows, [&](auto, auto first, auto rows) {
            std::array<double, block_rows> sum{};
            add_all(some_rows<V>{vectors_.data() + first, n_, rows}, count, y.data(), sum.data());
            for (std::int64_t i = 0; i < rows; ++i)
                x[std::size_t(first + i)] = V(sum[std::size_t(i)]);
        });
    } else {
        give(y);
        run_fused(space_,
                  basis_combine<V>{vectors_.data(), x.data(), n_, count, coefficients_.data()},
                  sum_.data());
    }
}

template <class V, class B>
void vector_basis<V, B>::rotate(int from, int to, std::span<const double> y) {
    if constexpr (std::is_same_v<B, cpu>) {
        const auto rotate_rows = [&](double* sums, auto first, auto rows) {
            const some_rows<V> v{vectors_.data() + first, n_, rows};
            std::fill_n(sums, to * rows, 0.0);
            for (int j = 0; j < to; ++j)
                add_all(v, from, y.data() + std::int64_t(j) * from, sums + j * rows);
            for (int j = 0; j < to; ++j)
                for (std::int64_t i = 0; i < rows; ++i)
                    vectors_[std::size_t(j * n_ + first + i)] = V(sums[j * rows + i]);
        };
        for_each_block(space_.on(), n_, from, rotated_rows, [&](auto, auto first, auto rows) {
            if (to <= max_basis) {
                std::array<double, max_basis * rotated_rows> sums;
                rotate_rows(sums.data(), first, rows);
            } else {
                std::vector<double> sums(std::size_t(to) * rotated_rows);
                rotate_rows(sums.data(), first, rows);
            }
        });
    } else {
        give(y);
        run_fused(space_, basis_rotate<V>{vectors_.data(), n_, from, to, coefficients_.data()},
                  sum_.data());
    }
}

template <class V, class B>
double vector_basis<V, B>::residual(in<V, B> image, double theta, in<V, B> x, out<V, B> r) {
    run_fused(space_, basis_residual<V>{image.data(), x.data(), r.data(), theta}, sum_.data());
    return std::sqrt(sum_.read().value);
}

template <class V, class B>
std::vector<double> vector_basis<V, B>::residuals(int first, std::span<const double> theta,
                                                  int images) {
    auto squares = make_vector<one_scalar<double>>(space_.on(), theta.size());
    for (std::size_t k = 0; k < theta.size(); ++k) {
        V* const image = column(images + int(k)).data();
        run_fused(space_, basis_residual<V>{image, column(first + int(k)).data(), image, theta[k]},
                  squares.data() + k);
    }
    std::vector<double> norms;
    for (const auto& s : nz::to_host<one_scalar<double>>(space_.on(), squares))
        norms.push_back(std::sqrt(s.value));
    return norms;
}

template class vector_basis<float, cpu>;
template class vector_basis<double, cpu>;
NZ_WITH_CUDA_ONLY(template class vector_basis<float, gpu>;)
NZ_WITH_CUDA_ONLY(template class vector_basis<double, gpu>;)

}  // namespace nz
