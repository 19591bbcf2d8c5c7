#include "nonzero/solve/eigs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "nonzero/solve/aggregate.hpp"
#include "nonzero/solve/dense_eigen.hpp"
#include "nonzero/solve/eigs_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
void check_arguments(const linear_operator<V, B>& A, const eigs_options& o,
                     const linear_operator<V, B>* M, std::size_t guess_size) {
    const auto fail = [](const std::string& why) { throw argument_error("eigs: " + why); };
    const nz::shape shape = A.shape();
    const auto n = std::size_t(shape.rows);
    if (shape.rows != shape.cols)
        fail("A is " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
             ", expected a square matrix");
    if (M != nullptr && M->shape() != shape) fail("the preconditioner is not of A's shape");
    if (o.count < 1 || o.count > 50)
        fail(std::to_string(o.count) + " eigenpairs, expected 1 to 50");
    if (!(o.tol >= 0)) fail("tol is negative or no number");
    if (o.max_products < 0) fail("max_products is negative");
    if (o.basis != 0 && (o.basis < o.count + 2 || o.basis > eigs_max_basis))
        fail("a basis of " + std::to_string(o.basis) + " vectors, expected count + 2 to 128");
    if (n == 0 ? guess_size != 0 : guess_size % n != 0)
        fail("a guess of " + std::to_string(guess_size) + " elements, expected a multiple of " +
             std::to_string(n));
}

/// n numbers in [-1, 1]; the same on every machine, others for every `seed`.
template <class V>
host_vector<V> noise(std::int64_t n, std::uint64_t seed) {
    host_vector<V> v(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        v[std::size_t(i)] =
            V(double(priority(index(i), std::uint32_t(seed + 1)) >> 32) * 0x1p-31 - 1);
    return v;
}

template <class V, class B>
class davidson {
  public:
    davidson(B on, const linear_operator<V, B>& A, const eigs_options& o,
             const linear_operator<V, B>* M, std::span<const V> guess)
        : A_(A),
          M_(M),
          options_(o),
          guess_(guess),
          n_(A.shape().rows),
          wanted_(int(std::min<std::int64_t>(o.count, n_))),
          capacity_(int(
              std::min<std::int64_t>(o.basis > 0 ? o.basis : std::max(24, 2 * o.count + 16), n_))),
          kept_(std::min(wanted_ + (capacity_ - wanted_) / 3, capacity_ - 1)),
          space_(on, n_),
          basis_(make(capacity_ * n_)),
          images_(make(capacity_ * n_)),
          residual_(space_.make()),
          coefficients_(from_host(on, std::span<const double>(std::vector<double>(
                                          std::size_t(capacity_) * std::size_t(capacity_))))),
          sum_(on, {}),
          projected_(std::size_t(capacity_) * std::size_t(capacity_)) {}

    eigs_result<V> run() {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < std::max(kept_, 1); ++k) append_start(k);
        while (true) {
            ritz();
            if (target()) {
                end("converged");
            } else if (size_ == n_) {
                end("the basis is the whole space: rounding errors allow no more");
            } else if (products_ >= options_.max_products) {
                end("max_products were spent");
            } else if (!std::isfinite(theta_.front())) {
                end("a product of A is not finite");
            } else if (expand()) {
                continue;
            } else {
                end("no direction is left that is independent of the basis");
            }
            if (finish()) break;
        }
        report_.products = products_;
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return {std::move(values_), std::move(vectors_), std::move(report_)};
    }

  private:
    vector<V, B> make(std::int64_t len) const {
        return make_vector<V>(space_.on(), std::size_t(len));
    }
    out<V, B> column(vector<V, B>& of, int k) const {
        return {of.data() + k * n_, std::size_t(n_)};
    }
    double& projected(int i, int j) { return projected_[std::size_t(j * capacity_ + i)]; }
    void end(const char* why) { report_.why = why; }

    void set(out<V, B> to, std::span<const V> v) { space_.copy(from_host(space_.on(), v), to); }
    void give_coefficients(std::span<const double> c) {
        if constexpr (std::is_same_v<B, cpu>) {
            std::copy(c.begin(), c.end(), coefficients_.begin());
        } else {
            copy_to_device(space_.on(), c.data(), coefficients_.data(), c.size_bytes());
        }
    }
    /// coefficients_k = (v_k, w)
    void project(int count, in<V, B> w) {
        for (int k = 0; k < count; k += eigs_dots_at_once)
            space_.run(
                eigs_dots<V>{basis_.data() + k * n_, w.data(), n_,
                             std::min(count - k, eigs_dots_at_once), coefficients_.data() + k},
                sum_.data());
    }

    /// v_size becomes a part of the basis, unless it depends on the others.
    bool append() {
        const out<V, B> v = column(basis_, size_);
        double norm = double(space_.norm(v)), before = norm;
        const double least = norm * 100 * double(std::numeric_limits<V>::epsilon());
        // Once more where much was cancelled; twice is enough (Giraud et al. 2005).
        for (int pass = 0; pass < 3 && size_ > 0; ++pass) {
            project(size_, v);
            space_.run(eigs_subtract<V>{basis_.data(), v.data(), n_, size_, coefficients_.data()},
                       sum_.data());
            norm = std::sqrt(sum_.read().value);
            if (norm > 0.7 * before || !(norm > least)) break;
            before = norm;
        }
        if (!(norm > least) || !std::isfinite(norm)) return false;
        space_.scale(V(1 / norm), v);
        const out<V, B> image = column(images_, size_);
        A_.apply(V(1), v, V(0), image);
        ++products_;
        project(++size_, image);
        const auto h = to_host<double>(space_.on(), in<double, B>(coefficients_));
        for (int k = 0; k < size_; ++k)
            projected(k, size_ - 1) = projected(size_ - 1, k) = h[std::size_t(k)];
        return true;
    }
    bool append_noise() {
        for (int attempt = 0; attempt < 5; ++attempt) {
            set(column(basis_, size_), noise<V>(n_, seed_++));
            if (append()) return true;
        }
        return false;
    }
    void append_start(int k) {
        const auto n = std::size_t(n_), first = std::size_t(k) * n;
        if (first < guess_.size()) {
            set(column(basis_, size_), guess_.subspan(first, n));
            if (append()) return;
        }
        append_noise();
    }

    /// Rayleigh-Ritz: theta_ and y_, the best first.
    void ritz() {
        const auto m = std::size_t(size_);
        std::vector<double> H(m * m);
        for (int j = 0; j < size_; ++j)
            for (int i = 0; i < size_; ++i)
                H[std::size_t(j) * m + std::size_t(i)] = projected(i, j);
        const auto pairs = dense_eigen(size_, H);
        theta_.resize(m), y_.resize(m * m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t from = options_.which == spectrum_end::smallest ? k : m - 1 - k;
            theta_[k] = pairs.values[from];
            std::copy_n(pairs.vectors.begin() + std::ptrdiff_t(from * m), m,
                        y_.begin() + std::ptrdiff_t(k * m));
            report_.norm = std::max(report_.norm, std::abs(theta_[k]));
        }
    }
    /// residual_ of Ritz pair k; its norm.
    double find_residual(int k) {
        const auto m = std::size_t(size_);
        give_coefficients(std::span(y_).subspan(std::size_t(k) * m, m));
        space_.run(eigs_residual<V>{basis_.data(), images_.data(), residual_.data(), n_, size_,
                                    theta_[std::size_t(k)], coefficients_.data()},
                   sum_.data());
        return std::sqrt(sum_.read().value);
    }
    /// The first pair that has not converged, and its residual; true where all have.
    bool target() {
        while (done_ < std::min(wanted_, size_) &&
               find_residual(done_) <= options_.tol * report_.norm)
            ++done_;
        return done_ == wanted_;
    }

    /// The first vectors of the basis become the best `to` Ritz vectors.
    void rotate(int to) {
        const auto m = std::size_t(size_);
        give_coefficients(std::span(y_).first(std::size_t(to) * m));
        for (vector<V, B>* of : {&basis_, &images_})
            space_.run(eigs_rotate<V>{of->data(), n_, size_, to, coefficients_.data()},
                       sum_.data());
        size_ = to;
        for (int j = 0; j < to; ++j)
            for (int i = 0; i < to; ++i) projected(i, j) = i == j ? theta_[std::size_t(i)] : 0;
    }
    bool expand() {
        if (size_ == capacity_) {
            rotate(kept_);
            ++report_.restarts;
        }
        const out<V, B> next = column(basis_, size_);
        if (M_ != nullptr) {
            M_->apply(V(1), residual_, V(0), next);
        } else {
            space_.copy(residual_, next);
        }
        return append() || append_noise();
    }

    /// The wanted pairs with their true residuals. False where they are worse than the search had
    /// it, and it goes on.
    bool finish() {
        rotate(wanted_);
        report_.residuals.clear();
        const double allowed = std::max(options_.tol * report_.norm, 1e-300);
        report_.converged = true;
        for (int k = 0; k < wanted_; ++k) {
            const out<V, B> image = column(images_, k), x = column(basis_, k);
            A_.apply(V(1), x, V(0), image);
            ++products_;
            space_.axpby(V(1), image, V(0), residual_);
            space_.axpy(V(-theta_[std::size_t(k)]), x, residual_);
            const double norm = double(space_.norm(residual_));
            report_.residuals.push_back(report_.norm > 0 ? norm / report_.norm : 0);
            report_.converged = report_.converged && norm <= allowed;
        }
        const bool again = !report_.converged && report_.why == "converged" && retries_++ < 3 &&
                           wanted_ < capacity_;
        if (again) {
            done_ = 0;
            return false;
        }
        if (!report_.converged && report_.why == "converged")
            report_.why = "the true residuals stay above what rounding errors allow";
        values_.assign(theta_.begin(), theta_.begin() + wanted_);
        vectors_ = to_host<V>(space_.on(), in<V, B>(basis_));
        vectors_.resize(std::size_t(wanted_) * std::size_t(n_));
        return true;
    }

    const linear_operator<V, B>& A_;
    const linear_operator<V, B>* M_;
    const eigs_options& options_;
    std::span<const V> guess_;
    std::int64_t n_;
    int wanted_, capacity_;
    int kept_;  ///< at a restart
    vector_space<V, B> space_;
    vector<V, B> basis_, images_;  ///< capacity_ vectors each: v_k and A v_k
    vector<V, B> residual_;
    vector<double, B> coefficients_;
    scalars_on<one_scalar<double>, B> sum_;
    std::vector<double> projected_;  ///< V^T A V
    std::vector<double> theta_, y_;  ///< Ritz values, and their vectors in the basis
    int size_ = 0, done_ = 0, retries_ = 0;
    std::int64_t products_ = 0;
    std::uint64_t seed_ = 0;
    std::vector<double> values_;
    host_vector<V> vectors_;
    eigs_report report_;
};

}  // namespace

template <class V, class B>
eigs_result<V> eigs(B on, const linear_operator<V, B>& A, const eigs_options& o,
                    const linear_operator<V, B>* M, std::span<const V> guess) {
    check_arguments(A, o, M, guess.size());
    if (A.shape().rows == 0) {
        eigs_result<V> nothing;
        nothing.report.converged = true;
        nothing.report.why = "converged";
        return nothing;
    }
    return davidson<V, B>(on, A, o, M, guess).run();
}

#define NZ_INSTANTIATE(V, B)                                                           \
    template eigs_result<V> eigs(B, const linear_operator<V, B>&, const eigs_options&, \
                                 const linear_operator<V, B>*, std::span<const V>);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
