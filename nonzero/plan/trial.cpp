#include "nonzero/plan/trial.hpp"

#include <chrono>
#include <cmath>
#include <random>

#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz {

bool is_serial(std::string_view method_name) { return method_name.ends_with("serial"); }

template <class V>
std::vector<contender<V>> contenders(std::span<const method<V>* const> methods,
                                     std::span<const int> threads, bool peers) {
    std::vector<contender<V>> all;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        for (const method<V>* m : methods) {
            if (!is_serial(m->name)) {
                all.push_back({m, threads[t], peers});
            } else if (t == 0) {
                all.push_back({m, 1, peers});
            }
        }
    }
    return all;
}

namespace {

/// Layouts held at once: 4 GB, or a quarter of a smaller memory.
double group_bytes() {
    const auto memory = double(memory_bytes());
    return memory > 0 ? std::min(4e9, memory / 4) : 4e9;
}

template <class V>
host_vector<V> random_vector(std::size_t n) {
    std::mt19937_64 rng(1);
    std::uniform_real_distribution<real<V>> u(-1, 1);
    host_vector<V> v(n);
    for (V& e : v) {
        if constexpr (is_complex<V>) {
            const real<V> re = u(rng);
            e = {re, u(rng)};
        } else {
            e = u(rng);
        }
    }
    return v;
}

template <class V>
double difference_norm(std::span<const V> a, std::span<const V> b) {
    long double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto d = static_cast<long double>(std::abs(a[i] - b[i]));
        squares += d * d;
    }
    return double(std::sqrt(squares));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The matrix with all that is the same for every method: x, what y is, how far it may be.
template <class V>
class track {
  public:
    explicit track(const csr<V, host_view>& A)
        : A_(A),
          stats_(compute_stats(A)),
          x_(random_vector<V>(std::size_t(A.shape.cols))),
          serial_(std::size_t(A.shape.rows)),
          truth_(reference_product<V>(transposition::plain, V(1), A, x_, V(0), {})) {
        spmv(cpu{1}, csr_serial{}, V(1), A, std::span<const V>(x_), V(0), std::span<V>(serial_));
        long double squares = 0;
        for (const auto& b : truth_.bound) squares += std::norm(b);
        bound_norm_ = double(std::sqrt(squares));
    }

    [[nodiscard]] estimate cost(const contender<V>& c) const { return c.m->cost(stats_); }

    /// Builds the layout into `op` and checks one product. A trial without its timing.
    trial set_up(const contender<V>& c, std::unique_ptr<linear_operator<V, cpu>>& op) {
        trial t{.method = std::string(c.m->name), .threads = c.threads, .peer = c.peer};
        t.declined = c.m->on_cpu == nullptr ? "no such kernel on the CPU" : cost(c).declined;
        if (!t.declined.empty()) return t;
        try {
            const auto start = std::chrono::steady_clock::now();
            op = c.m->on_cpu(cpu{c.threads}, A_);
            t.setup_s = seconds_since(start);
        } catch (const std::bad_alloc&) {
            t.declined = "out of memory";
            return t;
        }
        host_vector<V> y(serial_.size(), V(0));
        op->apply(V(1), x_, V(0), y);
        t.matrix_bytes = double(op->bytes());
        t.vector_bytes = vector_bytes<V>(stats_);
        t.error = compare<V>(y, truth_);
        t.serial_l2 = difference_norm<V>(y, serial_);
        t.serial_l2_bound = 2 * bound_norm_;  // either may be one bound away from the truth
        return t;
    }

    std::function<void()> product(const linear_operator<V, cpu>& op) {
        return [this, &op] { op.apply(V(1), x_, V(0), y_); };
    }
    void reserve_y() { y_.resize(serial_.size()); }

  private:
    csr<V, host_view> A_;
    matrix_stats stats_;
    host_vector<V> x_, serial_, y_;
    reference truth_;
    double bound_norm_ = 0;
};

}  // namespace

template <class V>
std::vector<trial> run_trials(const csr<V, host_view>& A, std::span<const contender<V>> contenders,
                              const measure_options& options) {
    track<V> on(A);
    on.reserve_y();
    std::vector<trial> trials;
    const auto stopped = [&] { return options.interrupted != nullptr && *options.interrupted; };
    while (trials.size() < contenders.size()) {
        std::vector<std::unique_ptr<linear_operator<V, cpu>>> ops;
        std::vector<std::function<void()>> work;
        std::vector<std::size_t> whose;
        double held = 0;
        while (trials.size() < contenders.size()) {
            const contender<V>& c = contenders[trials.size()];
            const double more = on.cost(c).matrix_bytes;
            if (stopped() || (!ops.empty() && held + more > group_bytes())) break;
            std::unique_ptr<linear_operator<V, cpu>> op;
            trials.push_back(on.set_up(c, op));
            if (op == nullptr) continue;
            held += more;
            ops.push_back(std::move(op));
            work.push_back(on.product(*ops.back()));
            whose.push_back(trials.size() - 1);
        }
        const auto times = time_interleaved(work, options);
        for (std::size_t k = 0; k < times.size(); ++k) trials[whose[k]].time = times[k];
        if (!stopped()) continue;
        for (std::size_t k = trials.size(); k < contenders.size(); ++k)
            trials.push_back({.method = std::string(contenders[k].m->name),
                              .threads = contenders[k].threads,
                              .peer = contenders[k].peer});
    }
    return trials;
}

#define NZ_INSTANTIATE(V)                                                            \
    template std::vector<contender<V>> contenders(std::span<const method<V>* const>, \
                                                  std::span<const int>, bool);       \
    template std::vector<trial> run_trials(const csr<V, host_view>&,                 \
                                           std::span<const contender<V>>, const measure_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
