// A block Davidson method: one class that holds the state of one search, hence over 500 lines.
#include "nonzero/solve/eigs/davidson.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/solve/eigs/dense_eigen.hpp"
#include "nonzero/solve/eigs/vector_basis.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/multigrid/aggregate.hpp"

namespace nz {

template <class V>
host_vector<V> noise(range elements, std::uint64_t seed) {
    host_vector<V> v(static_cast<std::size_t>(elements.last - elements.first));
    for (std::int64_t i = elements.first; i < elements.last; ++i)
        v[std::size_t(i - elements.first)] =
            V(double(priority(index(i), std::uint32_t(seed + 1)) >> 32) * 0x1p-31 - 1);
    return v;
}

range own_elements(const communicator* ranks, std::int64_t n) {
    if (ranks == nullptr) return {0, n};
    const auto all = gathered(*ranks, n);
    const std::int64_t first =
        std::accumulate(all.begin(), all.begin() + ranks->rank(), std::int64_t(0));
    return {first, first + n};
}

namespace {

/// How many vectors a guess has; a rank without elements learns it of the others.
int count_vectors(const communicator* ranks, std::size_t elements, std::int64_t n) {
    const int here = n == 0 ? 0 : int(elements / std::size_t(n));
    if (ranks == nullptr) return here;
    const auto all = gathered(*ranks, here);
    return *std::max_element(all.begin(), all.end());
}

constexpr int most_degree = 100;      // of a polynomial
constexpr int least_degree = 8;       // that is worth a vector's place in the basis
constexpr double factor_log = 4;      // of what a polynomial does to its target; acosh of 27
constexpr double most_log = 16;       // to the outermost pair: rounding errors grow with it
constexpr double check_factor = 100;  // of a copy over the rest, after a check

template <class V, class B>
class davidson_search {
  public:
    davidson_search(B on, const linear_operator<V, B>& A, const eigs_options& o,
                    const linear_operator<V, B>* M, std::span<const V> guess,
                    const known_pairs<V>& known)
        : A_(A),
          M_(M),
          options_(o),
          guess_(guess),
          ranks_(ranks_of(on)),
          n_(A.shape().rows),
          own_(own_elements(ranks_, n_)),
          known_count_(int(known.values.size())),
          dimension_(summed_over(ranks_, n_) - known_count_),
          guesses_(count_vectors(ranks_, guess.size(), n_)),
          matrix_bytes_(summed_over(ranks_, double(A.bytes()))),
          monitored_(!on_all(ranks_, !o.monitor)),
          wanted_(int(std::min<std::int64_t>(o.count, dimension_))),
          capacity_(int(std::min<std::int64_t>(
              o.basis > 0 ? o.basis : std::max(24, 2 * o.count + 12), dimension_))),
          kept_(std::min(wanted_ + std::max(1, (capacity_ - wanted_) / 3), capacity_ - 1)),
          sign_(o.which == spectrum_end::smallest ? -1 : 1),
          space_(on, n_),
          basis_(on, n_, capacity_ + 1),
          known_(on, n_, known_count_),
          x_(space_.make()),
          image_(space_.make()),
          projected_(std::size_t(capacity_) * std::size_t(capacity_)),
          found_(std::size_t(wanted_)) {
        for (int k = 0; k < known_count_; ++k) {
            const double value = known.values[std::size_t(k)];
            far_ = std::min(far_, sign_ * value);
            report_.norm = std::max(report_.norm, std::abs(value));
            const auto n = std::size_t(n_);
            set(known_.column(k), known.vectors.subspan(std::size_t(k) * n, n));
        }
        // The noise that the known vectors came from may lie in their space.
        if (known_count_ > 0) seed_ = std::uint64_t(1) << 24;
    }

    eigs_result<V> run() {
        const auto start = std::chrono::steady_clock::now();
        if (M_ != nullptr) {
            start_with_noise();
        } else if (!guesses_suffice()) {
            start_as_lanczos();
        }
        do expand_until_done();
        while (!finish());
        report_.products = products_;
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return {std::move(values_), std::move(vectors_), std::move(report_)};
    }

  private:
    double& projected(int i, int j) { return projected_[std::size_t(j * capacity_ + i)]; }
    void set(out<V, B> to, std::span<const V> v) { space_.copy(from_host(space_.on(), v), to); }
    void multiply(in<V, B> x, out<V, B> y, V alpha = V(1), V beta = V(0)) {
        A_.apply(alpha, x, beta, y);
        ++products_;
    }

    // -- the basis -------------------------------------------------------------------------------

    /// v becomes orthogonal to the known vectors, up to rounding errors of its old length. The
    /// length of what was taken of it.
    double deflate(out<V, B> v) {
        if (known_count_ == 0) return 0;
        known_.project(known_count_, v);
        const double taken = length_of(known_.coefficients(known_count_));
        known_.subtract(known_count_, v);
        return taken;
    }
    /// v_size, of which the basis has the coefficients, becomes orthogonal to it and to what is
    /// known, and of length 1. What its norm was between; 0 where nothing was left of it.
    double orthogonalise_projected() {
        const out<V, B> v = basis_.column(size_);
        constexpr double epsilon = std::numeric_limits<V>::epsilon();
        // In single precision 100 units of rounding would be above the residuals that are wanted.
        constexpr double orthogonal = (std::is_same_v<V, float> ? 10 : 100) * epsilon;
        double taken = std::hypot(length_of_coefficients(), deflate(v));
        double norm = size_ > 0 ? basis_.subtract_and_project(size_, v) : double(space_.norm(v));
        const double least = 100 * epsilon * std::hypot(taken, norm);
        // What is left of the basis in it says whether that must be taken as well.
        for (int pass = 0; pass < 2 && size_ + known_count_ > 0 && norm > least; ++pass) {
            taken = std::hypot(length_of_coefficients(), deflate(v));
            if (!(taken > orthogonal * norm)) break;
            norm = taken > 0.1 * norm ? basis_.subtract_and_project(size_, v)
                                      : basis_.subtract(size_, v);
            if (!(taken > 0.1 * norm)) break;
        }
        if (!(norm > least) || !std::isfinite(norm)) return 0;
        space_.scale(V(1 / norm), v);
        return norm;
    }
    double orthogonalise() {
        basis_.project(size_, basis_.column(size_));
        return orthogonalise_projected();
    }
    [[nodiscard]] static double length_of(const std::vector<double>& coefficients) {
        double length2 = 0;
        for (const double c : coefficients) length2 += c * c;
        return std::sqrt(length2);
    }
    [[nodiscard]] double length_of_coefficients() const {
        return length_of(basis_.coefficients(size_));
    }
    /// v_size, orthonormal to the basis, becomes a part of it; its image stays, and what the basis
    /// has of it.
    void take() {
        multiply(basis_.column(size_), image_);
        basis_.project(++size_, image_);
        const auto h = basis_.coefficients(size_);
        for (int k = 0; k < size_; ++k)
            projected(k, size_ - 1) = projected(size_ - 1, k) = h[std::size_t(k)];
    }
    bool append() {
        if (orthogonalise() == 0) return false;
        take();
        return true;
    }
    bool append_noise() {
        for (int attempt = 0; attempt < 5; ++attempt) {
            set(basis_.column(size_), noise<V>(own_, seed_++));
            if (append()) return true;
        }
        return false;
    }
    void append_guesses(int at_most) {
        const auto n = std::size_t(n_);
        for (std::size_t k = 0; k < std::size_t(guesses_) && size_ < at_most; ++k) {
            set(basis_.column(size_), guess_.subspan(k * n, n));
            append();
        }
    }
    void start_with_noise() {
        append_guesses(std::max(kept_, 1));
        while (size_ < std::max(kept_, 1) && append_noise()) continue;
        ritz();
    }
    /// Whether the guesses are what is wanted, which then is not checked for copies. A few of
    /// Lanczos's vectors tell how large A is.
    bool guesses_suffice() {
        append_guesses(std::max(kept_, 1));
        if (size_ < wanted_) return false;
        append_noise();
        for (int step = 0; step < 4 && size_ < capacity_ && next_of_lanczos() > 0; ++step) take();
        ritz();
        for (; done_ < wanted_ && look_at(done_) && residual_ <= allowed(); ++done_)
            found_[std::size_t(done_)] = theta_[std::size_t(done_)];
        return trusts_guess_ = done_ == wanted_;
    }
    /// v_size is what the basis leaves of the last one's image. What its norm was; 0: nothing.
    double next_of_lanczos() {
        space_.copy(image_, basis_.column(size_));
        return orthogonalise_projected();
    }
    /// Lanczos's vectors, until they hold what is wanted; where products are cheap beside the work
    /// on the basis, until it is full.
    void start_as_lanczos() {
        constexpr int looked_every = 6;  // dense eigenvalues take as long as a few products
        append_noise();
        while (products_ < options_.max_products) {
            const double left = next_of_lanczos();
            if (size_ % looked_every == 0 || size_ == capacity_) {
                ritz();
                if (!std::isfinite(theta_.front())) return;
                set_interval();
                far_ = std::min(far_, theta_.back() - left * std::abs(last_of(size_ - 1)));
                if (size_ == dimension_ || has_converged(left)) return;
            }
            if (size_ == capacity_) {
                if (!products_dominate()) return;
                restart_lanczos();
            }
            if (left > 0) {
                take();
            } else if (!append_noise()) {
                break;
            }
        }
        ritz();
    }
    /// v_size goes with the basis that is kept, and comes next.
    void restart_lanczos() {
        rotate(kept_);
        ++report_.restarts;
        space_.copy(basis_.column(capacity_), basis_.column(size_));
    }
    /// A product reads more than a step of Lanczos's does of the basis: then polynomials, which
    /// take some twice as many products, cost more than they spare.
    [[nodiscard]] bool products_dominate() const {
        return matrix_bytes_ > 0.5 * double(capacity_ + kept_) * double(dimension_) * sizeof(V);
    }
    [[nodiscard]] double last_of(int k) const {
        return y_[std::size_t(k + 1) * std::size_t(size_) - 1];
    }
    /// Whether all wanted pairs have, in a basis of Lanczos's; or the caller wants no more.
    bool has_converged(double left) {
        if (size_ < wanted_) return false;
        int converged = 0;
        for (; converged < wanted_; ++converged) {
            residual_ = left * std::abs(last_of(converged));
            if (!(residual_ <= allowed())) break;
        }
        return !tell(converged) || (converged == wanted_ && guesses_ == 0);
    }

    // -- Rayleigh-Ritz ---------------------------------------------------------------------------

    /// theta_, times sign_, and y_, the outermost first.
    void ritz() {
        const auto m = std::size_t(size_);
        std::vector<double> H(m * m);
        for (int j = 0; j < size_; ++j)
            for (int i = 0; i < size_; ++i)
                H[std::size_t(j) * m + std::size_t(i)] = sign_ * projected(i, j);
        const auto pairs = dense_eigen(size_, H);
        theta_.assign(pairs.values.rbegin(), pairs.values.rend());
        y_.resize(m * m);
        for (std::size_t k = 0; k < m; ++k)
            std::copy_n(pairs.vectors.begin() + std::ptrdiff_t((m - 1 - k) * m), m,
                        y_.begin() + std::ptrdiff_t(k * m));
        for (const double theta : theta_) report_.norm = std::max(report_.norm, std::abs(theta));
        forget_what_moved();
    }
    /// Where another value has come between those that had converged, they count no more.
    void forget_what_moved() {
        for (int k = 0; k < done_; ++k)
            if (k >= size_ ||
                std::abs(theta_[std::size_t(k)] - found_[std::size_t(k)]) > allowed()) {
                done_ = k;
                checks_ = false;
            }
    }
    [[nodiscard]] double allowed() const { return options_.template tol_of<V>() * report_.norm; }

    /// The first vectors of the basis become the best `to` Ritz vectors.
    void rotate(int to) {
        basis_.rotate(size_, to, std::span(y_).first(std::size_t(to) * std::size_t(size_)));
        size_ = to;
        for (int j = 0; j < to; ++j)
            for (int i = 0; i < to; ++i)
                projected(i, j) = i == j ? sign_ * theta_[std::size_t(i)] : 0;
    }

    // -- what to do next -------------------------------------------------------------------------

    void expand_until_done() {
        while (true) {
            if (!std::isfinite(theta_.front())) return report_.end_by(status::not_finite);
            const int k = stopped_ ? nothing : target();
            if (stopped_) return report_.end_by(status::stopped_by_caller);
            if (k == nothing) return report_.end_by(status::converged);
            if (size_ == dimension_) return report_.end_by(status::whole_space);
            if (products_ >= options_.max_products) return report_.end_by(status::max_products);
            if (!expand(k)) return report_.end_by(status::no_direction);
            ritz();
        }
    }
    /// The pair that the next vector shall make better, x_ and image_ its Ritz vector and what A
    /// makes of it (with M: its residual); `nothing` where all have converged.
    int target() {
        while (true) {
            for (; done_ < std::min(wanted_, size_); ++done_) {
                if (!look_at(done_) || !(residual_ <= allowed())) return done_;
                found_[std::size_t(done_)] = theta_[std::size_t(done_)];
            }
            if (done_ < wanted_) return done_;
            if (M_ != nullptr || trusts_guess_ || size_ == dimension_ || !has_level())
                return nothing;
            if (!checks_) {
                if (products_ >= options_.max_products) return wanted_;
                if (!start_check()) return nothing;
                continue;
            }
            if (!look_at(wanted_)) return wanted_;
            return is_checked() ? nothing : wanted_;
        }
    }
    /// x_, image_ and residual_ of Ritz pair k. False where the caller wants no more.
    bool look_at(int k) {
        const auto m = std::size_t(size_);
        basis_.combine(std::span(y_).subspan(std::size_t(k) * m, m), x_);
        multiply(x_, image_);
        deflate(image_);
        const out<V, B> r = M_ != nullptr ? out<V, B>(image_) : basis_.column(size_);
        residual_ = basis_.residual(image_, sign_ * theta_[std::size_t(k)], x_, r);
        return tell(done_);
    }
    /// Calls the monitor. False where it asks to stop.
    bool tell(int converged) {
        if (!monitored_) return true;
        const double relative = report_.norm > 0 ? residual_ / report_.norm : 0;
        const bool goes_on = !options_.monitor ||
                             options_.monitor({products_, converged, wanted_, checks_, relative});
        stopped_ = !on_all(ranks_, goes_on);
        return !stopped_;
    }
    bool expand(int k) {
        set_interval();
        if (size_ == capacity_) {
            rotate(kept_);
            ++report_.restarts;
        }
        if (k >= size_) return append_noise();
        if (M_ != nullptr) {
            M_->apply(V(1), image_, V(0), basis_.column(size_));
        } else {
            apply_polynomial(degree_for(factor_log, theta_[std::size_t(k)]));
        }
        return append() || append_noise();
    }

    // -- polynomials -----------------------------------------------------------------------------

    /// What is not wanted lies in [far_, cut_], in terms of sign_ A.
    void set_interval() {
        if (size_ > kept_) {
            cut_ = std::max(cut_, theta_[std::size_t(kept_)]);
        } else if (!std::isfinite(cut_)) {
            cut_ = theta_[std::size_t(std::min(size_ - 1, (wanted_ + size_) / 2))];
        }
        far_ = std::min(far_, theta_.back());
    }
    [[nodiscard]] double width(double cut) const {
        return std::max({cut - far_, 1e-6 * report_.norm, 1e-300});
    }
    /// The logarithm that a degree more adds to the factor between t and what lies behind `cut`.
    [[nodiscard]] double growth(double t, double cut) const {
        return std::acosh(1 + 2 * std::max(t - cut, 1e-14 * report_.norm) / width(cut));
    }
    [[nodiscard]] int degree_for(double log, double t) const {
        const auto capped = [](double d) { return int(std::min(d, double(most_degree))); };
        const int d = std::max(least_degree, capped(log / growth(t, cut_)));
        return std::max(2, std::min(d, capped(most_log / growth(theta_.front(), cut_))));
    }
    /// v_size = p(A) x_, the Chebyshev polynomial of [far_, cut_], 1 at the first Ritz value;
    /// image_ is A x_. Both are lost.
    void apply_polynomial(int degree) {
        const double half = width(cut_) / 2, centre = cut_ - half;
        const double first = half / (theta_.front() - centre);
        double sigma = first;
        out<V, B> before = x_, now = basis_.column(size_);
        space_.axpby(V(sign_ * first / half), image_, V(0), now);
        space_.axpy(V(-first / half * centre), before, now);
        for (int i = 1; i < degree; ++i) {
            const double next = 1 / (2 / first - sigma), scale = 2 * next / half;
            multiply(now, before, V(sign_ * scale), V(-sigma * next));
            space_.axpy(V(-scale * centre), now, before);
            std::swap(before, now);
            sigma = next;
        }
        if (degree % 2 == 0) space_.copy(now, basis_.column(size_));
        degrees_ += degree;
    }

    // -- copies ----------------------------------------------------------------------------------

    /// The last of the wanted Ritz values that a copy must exceed to matter; the first one has no
    /// other above it.
    [[nodiscard]] double level() const {
        const double last = theta_[std::size_t(wanted_ - 1)];
        for (int k = wanted_ - 2; k >= 0; --k)
            if (theta_[std::size_t(k)] > last + 10 * allowed()) return theta_[std::size_t(k)];
        return std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool has_level() const { return std::isfinite(level()); }
    [[nodiscard]] double check_log() const {
        return std::log(2 * check_factor * std::sqrt(double(dimension_)));
    }
    /// The basis becomes the wanted pairs and a random vector, orthogonal to them, in which
    /// polynomials have lifted what is above cut_. False where no such vector is left.
    bool start_check() {
        set_interval();
        const double at = level();
        rotate(wanted_);
        checks_ = true;
        degrees_ = 0;
        set(basis_.column(size_), noise<V>(own_, seed_++));
        for (double left = check_log();
             left > 0 && products_ < options_.max_products && !stopped_;) {
            if (orthogonalise() == 0) return false;
            space_.copy(basis_.column(size_), x_);
            multiply(x_, image_);
            const int degree = degree_for(left, at);
            apply_polynomial(degree);
            left -= degree * growth(at, cut_);
            tell(wanted_);
        }
        if (!append()) return false;
        ritz();
        return true;
    }
    /// Pair wanted_, the best of what the random vector gave, is far enough from the pairs above
    /// it for its residual, and a copy of one would have outgrown it; or it has converged.
    [[nodiscard]] bool is_checked() const {
        const double at = level(), best = theta_[std::size_t(wanted_)];
        return residual_ <= allowed() || (residual_ < 0.1 * (at - best) &&
                                          double(degrees_) * growth(at, best) >= check_log());
    }

    // -- the end ---------------------------------------------------------------------------------

    /// The wanted pairs with their true residuals. False where they are worse than the search had
    /// it, and it goes on.
    bool finish() {
        const int count = std::min(wanted_, size_);
        rotate(count);
        report_.residuals.clear();
        report_.converged = count == wanted_;
        for (int k = 0; k < count; ++k) {
            multiply(basis_.column(k), image_);
            deflate(image_);
            const double norm = basis_.residual(image_, sign_ * theta_[std::size_t(k)],
                                                basis_.column(k), out<V, B>(image_));
            report_.residuals.push_back(report_.norm > 0 ? norm / report_.norm : 0);
            report_.converged = report_.converged && norm <= allowed();
        }
        if (!report_.converged && report_.status == status::converged) {
            if (retries_++ < 3 && wanted_ < capacity_) {
                done_ = 0;
                checks_ = false;
                ritz();
                return false;
            }
            report_.end_by(status::limited_by_rounding);
        }
        values_.assign(theta_.begin(), theta_.begin() + count);
        for (double& value : values_) value *= sign_;
        vectors_ = basis_.to_host(count);
        return true;
    }

    static constexpr int nothing = -1;

    const linear_operator<V, B>& A_;
    const linear_operator<V, B>* M_;
    const eigs_options& options_;
    std::span<const V> guess_;
    const communicator* ranks_;
    std::int64_t n_;  ///< elements of this rank
    range own_;       ///< which of all
    int known_count_;
    std::int64_t dimension_;  ///< of the space that is searched: elements of all ranks, less those
    int guesses_;
    double matrix_bytes_;
    bool monitored_;  ///< on any rank
    int wanted_, capacity_;
    int kept_;  ///< at a restart
    double sign_;
    vector_space<V, B> space_;
    vector_basis<V, B> basis_;  ///< one more than capacity_, to work in
    vector_basis<V, B> known_;
    vector<V, B> x_, image_;
    std::vector<double> projected_;  ///< V^T A V
    std::vector<double> theta_, y_;  ///< Ritz values of sign_ A, and their vectors in the basis
    std::vector<double> found_;      ///< the Ritz values of the first done_ pairs as they converged
    double far_ = std::numeric_limits<double>::infinity();
    double cut_ = -std::numeric_limits<double>::infinity();
    double residual_ = 0;
    int size_ = 0, done_ = 0, retries_ = 0;
    bool trusts_guess_ = false, checks_ = false, stopped_ = false;
    std::int64_t products_ = 0;
    std::int64_t degrees_ = 0;  ///< degrees of the polynomials since the check began
    std::uint64_t seed_ = 0;
    std::vector<double> values_;
    host_vector<V> vectors_;
    eigs_report report_;
};

}  // namespace

template <class V, class B>
eigs_result<V> davidson(B on, const linear_operator<V, B>& A, const eigs_options& o,
                        const linear_operator<V, B>* M, std::span<const V> guess,
                        const known_pairs<V>& known) {
    return davidson_search<V, B>(on, A, o, M, guess, known).run();
}

#define NZ_INSTANTIATE_ON(V, B)                                                            \
    template eigs_result<V> davidson(B, const linear_operator<V, B>&, const eigs_options&, \
                                     const linear_operator<V, B>*, std::span<const V>,     \
                                     const known_pairs<V>&);
#define NZ_INSTANTIATE(V)                                   \
    template host_vector<V> noise<V>(range, std::uint64_t); \
    NZ_INSTANTIATE_ON(V, cpu)                               \
    NZ_INSTANTIATE_ON(V, gpu)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
