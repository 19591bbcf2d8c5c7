#include "nonzero/plan/benchmark.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_graph.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

template <class V>
std::vector<benchmark_case<V>> make_cases(std::span<const method<V>* const> methods,
                                          std::span<const int> threads, bool peers) {
    std::vector<benchmark_case<V>> all;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        for (const method<V>* m : methods) {
            if (!m->one_thread) {
                all.push_back({m, threads[t], peers});
            } else if (t == 0) {
                all.push_back({m, 1, peers});
            }
        }
    }
    return all;
}

template <class V>
std::vector<benchmark_case<V>> make_gpu_cases(std::span<const method<V>* const> methods,
                                              bool peers) {
    std::vector<benchmark_case<V>> all;
    for (const method<V>* m : methods) all.push_back({m, 0, peers});
    return all;
}

namespace {

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
    std::array<long double, 64> squares{};  // of a part each, by any number of threads
    parallel_for(thread_count({}), std::ssize(squares), 1, [&](std::int64_t p) {
        const range mine = share(std::ssize(a), std::ssize(squares), p);
        for (auto i = std::size_t(mine.first); i < std::size_t(mine.last); ++i) {
            const auto d = static_cast<long double>(std::abs(a[i] - b[i]));
            squares[std::size_t(p)] += d * d;
        }
    });
    return double(std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0L)));
}

/// The matrix with all that is the same for every method: x, what y is, how far it may be.
template <class V>
class problem {
  public:
    template <class B>
    problem(B on, const csr<V, host_view>& matrix, product_kind which)
        : A(matrix),
          kind(which),
          stats(compute_stats(matrix, on)),
          x_len(std::size_t(transposed() ? matrix.shape.rows : matrix.shape.cols)),
          y_len(std::size_t(transposed() ? matrix.shape.cols : matrix.shape.rows)),
          x(random_vector<V>(x_len * std::size_t(which.vectors))),
          serial_(y_len),
          truth_(reference_product<V>(which.op, V(1), matrix, last_of(x, x_len), V(0), {})) {
        multiply_serially();
        long double squares = 0;
        for (const auto& b : truth_.bound) squares += std::norm(b);
        bound_norm_ = double(std::sqrt(squares));
    }

    /// How far the last vector of y is from the truth and from csr.serial.
    void check(std::span<const V> all, benchmark_result& t) const {
        const host_vector<V> y = last_of(all, y_len);
        t.error = compare<V>(y, truth_);
        t.serial_l2 = difference_norm<V>(y, serial_);
        t.serial_l2_bound = 2 * bound_norm_;  // either may be one bound away from the truth
    }

    [[nodiscard]] bool transposed() const { return kind.op != transposition::plain; }
    /// The product that is measured, by op: x and y hold all vectors.
    template <class B>
    void multiply(const linear_operator<V, B>& op, in<V, B> from, out<V, B> to) const {
        if (transposed()) {
            op.apply_transposed(kind.op, V(1), from, V(0), to);
        } else if (kind.vectors == 1) {
            op.apply(V(1), from, V(0), to);
        } else {
            const bool by_row = kind.order == storage_order::row_major;
            const auto row = std::size_t(kind.vectors);
            op.apply_many(V(1), {from, by_row ? row : x_len, kind.vectors, kind.order}, V(0),
                          {to, by_row ? row : y_len, kind.vectors, kind.order});
        }
    }
    [[nodiscard]] std::size_t y_elements() const { return y_len * std::size_t(kind.vectors); }

    csr<V, host_view> A;
    product_kind kind;
    matrix_stats stats;
    std::size_t x_len, y_len;  ///< the length of one vector
    host_vector<V> x;

  private:
    /// The last vector of an array of them.
    [[nodiscard]] host_vector<V> last_of(std::span<const V> all, std::size_t len) const {
        const auto count = std::size_t(kind.vectors);
        const bool by_row = kind.order == storage_order::row_major;
        host_vector<V> last(len);
        for (std::size_t i = 0; i < len; ++i)
            last[i] = by_row ? all[i * count + count - 1] : all[(count - 1) * len + i];
        return last;
    }
    void multiply_serially() {
        const host_vector<V> last = last_of(x, x_len);
        const auto by = [&](const csr<V, host_view>& M) {
            spmv(cpu{1}, csr_serial{}, V(1), M, std::span<const V>(last), V(0),
                 std::span<V>(serial_));
        };
        if (!transposed()) return by(A);
        by(view(nz::transposed(cpu{}, A)));
    }
    host_vector<V> serial_;
    reference truth_;
    double bound_norm_ = 0;
};

/// Runs cases on one backend. Both runners have the same members; run_all and set_up need no more.
template <class V>
class cpu_runner {
  public:
    using backend = cpu;
    explicit cpu_runner(const problem<V>& p) : p_(p), y_(p.y_elements(), V(0)) {}

    static constexpr const char* lacking = "no such kernel on the CPU";
    [[nodiscard]] estimate cost(const benchmark_case<V>& c) const {
        if (p_.transposed() && !c.m->transposed_on_cpu)
            return {.declined = "no transposed product on the CPU"};
        return c.m->cost(p_.stats);
    }
    [[nodiscard]] cpu backend_of(const benchmark_case<V>& c) const { return {c.threads}; }
    void finalize() const {}

    /// Layouts held at once: 4 GB, or a quarter of a smaller memory.
    [[nodiscard]] double group_bytes() const {
        const auto memory = double(memory_bytes());
        return memory > 0 ? std::min(4e9, memory / 4) : 4e9;
    }
    host_vector<V> product(const linear_operator<V, cpu>& op) {
        host_vector<V> y(y_.size(), V(0));
        p_.template multiply<cpu>(op, p_.x, y);
        return y;
    }
    [[nodiscard]] double rewriting_s(const measure_options&) const { return 0; }
    std::function<void()> work(const linear_operator<V, cpu>& op) {
        return [this, &op] { p_.template multiply<cpu>(op, p_.x, y_); };
    }

  private:
    const problem<V>& p_;
    host_vector<V> y_;
};

template <class V>
class gpu_runner {
  public:
    using backend = gpu;
    gpu_runner(gpu on, const problem<V>& p, caches found, launches how)
        : on_(on),
          p_(p),
          how_(how),
          x_(to_device<V>(on, p.x)),
          y_(on, p.y_elements()),
          flushed_(on, found == caches::cold ? flush_bytes : 0) {}

    static constexpr const char* lacking = "no such kernel on the GPU";
    [[nodiscard]] estimate cost(const benchmark_case<V>& c) const {
        if (p_.transposed() && !c.m->transposed_on_gpu)
            return {.declined = "no transposed product on the GPU"};
        return c.m->cost_on_gpu(p_.stats);
    }
    [[nodiscard]] gpu backend_of(const benchmark_case<V>&) const { return on_; }
    /// Throws device_error where what failed has left the GPU unusable.
    void finalize() const { synchronize(on_); }

    /// Half of what is free: layouts also take host memory, and kernels scratch memory.
    [[nodiscard]] double group_bytes() const { return double(memory_of(on_).free_bytes) / 2; }
    host_vector<V> product(const linear_operator<V, gpu>& op) {
        // So that an element that is read, or not written, shows.
        const host_vector<V> nan(y_.size(), V(std::numeric_limits<real<V>>::quiet_NaN()));
        copy_to_device(on_, nan.data(), y_.data(), nan.size() * sizeof(V));
        // A chain before may have rewritten x.
        copy_to_device(on_, p_.x.data(), x_.data(), x_.size() * sizeof(V));
        p_.template multiply<gpu>(op, x_, y_);
        return to_host<V>(on_, y_);
    }
    timed_runs work(const linear_operator<V, gpu>& op) {
        if (flushed_.size() > 0) return [this, &op](std::int64_t runs) { return cold(op, runs); };
        const auto multiply = [this, &op] { p_.template multiply<gpu>(op, x_, y_); };
        if (how_ == launches::graph) return in_graph(multiply);
        if (how_ == launches::stream) return in_stream(multiply);
        return in_stream([this, multiply] { rewrite_x(), multiply(); });
    }
    /// Time that launches::chain adds to every product. [s]
    [[nodiscard]] double rewriting_s(const measure_options& options) {
        if (how_ != launches::chain) return 0;
        const timed_runs alone = in_stream([this] { rewrite_x(); });
        return time_interleaved(std::span(&alone, 1), options).front().median_s;
    }

  private:
    void rewrite_x() { negate_alone<V>(on_, x_); }

    /// Seconds between two events around what `launch` launches.
    template <class F>
    double between_events(F launch) {
        events_[0].start.record(on_);
        launch();
        events_[0].stop.record(on_);
        return events_[0].stop.seconds_since(events_[0].start);
    }
    timed_runs in_stream(std::function<void()> launch) {
        return [this, launch = std::move(launch)](std::int64_t runs) {
            return between_events([&] {
                for (std::int64_t k = 0; k < runs; ++k) launch();
            });
        };
    }
    /// The graph runs whole, so that more products than asked for may be timed.
    timed_runs in_graph(const std::function<void()>& launch) {
        constexpr std::int64_t products = 20;
        const auto graph = std::make_shared<const gpu_graph>(on_, [&] {
            for (std::int64_t k = 0; k < products; ++k) launch();
        });
        return [this, graph](std::int64_t runs) {
            const std::int64_t graphs = (runs - 1) / products + 1;
            const double s = between_events([&] {
                for (std::int64_t k = 0; k < graphs; ++k) graph->run(on_);
            });
            return s * double(runs) / double(graphs * products);
        };
    }
    double cold(const linear_operator<V, gpu>& op, std::int64_t runs) {
        double s = 0;
        for (std::int64_t first = 0; first < runs; first += std::ssize(events_)) {
            const auto some = std::span(events_).first(
                std::size_t(std::min<std::int64_t>(std::ssize(events_), runs - first)));
            for (pair& e : some) {
                zero_on_device(on_, flushed_);
                e.start.record(on_);
                p_.template multiply<gpu>(op, x_, y_);
                e.stop.record(on_);
            }
            for (const pair& e : some) s += e.stop.seconds_since(e.start);
        }
        return s;
    }

    static constexpr std::size_t flush_bytes = std::size_t(256) << 20;  // five times an H200's L2
    struct pair {
        gpu_event start, stop;
    };
    gpu on_;
    const problem<V>& p_;
    launches how_;
    device_array<V> x_, y_;
    device_array<std::byte> flushed_;
    std::vector<pair> events_{64};
};

template <class V, class Runner>
using operator_at = std::unique_ptr<linear_operator<V, typename Runner::backend>>;

/// build(), and what it took. Where something is prepared on a GPU the first time loads the kernels
/// and fills the pool of memory, so it is the median of 15 more, or of as many as start within
/// a fifth of a second; one operator at a time.
template <class F>
auto timed_build(F build, benchmark_result& t) {
    constexpr std::size_t most = 15;
    constexpr double enough_s = 0.2;
    const auto timed = [&] {
        const auto start = steady_clock::now();
        auto op = build();
        t.setup = op->setup(), t.setup_s = seconds_since(start);
        return op;
    };
    auto op = timed();
    if (t.setup.preprocessing_s == 0) return op;
    std::vector<std::pair<setup_times, double>> took;
    for (const auto start = steady_clock::now();
         took.empty() || (took.size() < most && seconds_since(start) < enough_s);) {
        op.reset();
        op = timed();
        took.emplace_back(t.setup, t.setup_s);
    }
    const auto median = took.begin() + std::ssize(took) / 2;
    std::nth_element(took.begin(), median, took.end(), [](const auto& a, const auto& b) {
        return a.first.preprocessing_s < b.first.preprocessing_s;
    });
    std::tie(t.setup, t.setup_s) = *median;
    return op;
}

/// A benchmark_result without its timing, and its operator; or why there is none.
template <class V, class Runner>
operator_at<V, Runner> set_up(Runner& at, const problem<V>& p, const benchmark_case<V>& c,
                              benchmark_result& t) {
    t.declined =
        c.m->template on<typename Runner::backend>() == nullptr ? at.lacking : at.cost(c).declined;
    if (!t.declined.empty()) return nullptr;
    operator_at<V, Runner> op;
    try {
        op = timed_build(
            [&] {
                auto built = build(*c.m, at.backend_of(c), p.A);
                at.finalize();
                return built;
            },
            t);
    } catch (const std::bad_alloc&) {
        t.declined = "out of memory";
    } catch (const error& e) {  // the builder refuses, or the GPU's memory is too small
        t.declined = e.what();
    }
    if (op == nullptr) return nullptr;
    t.built = op->method_name();
    t.matrix_bytes = double(op->bytes());
    t.vector_bytes = vector_bytes<V>(p.stats) * double(p.kind.vectors);
    try {
        p.check(at.product(*op), t);
    } catch (const unavailable& e) {  // it has no such product
        t.declined = e.what();
        return nullptr;
    }
    return op;
}

template <class V, class Runner>
std::vector<benchmark_result> run_all(Runner at, const problem<V>& p,
                                      std::span<const benchmark_case<V>> cases,
                                      const measure_options& options) {
    const auto unmeasured = [](const benchmark_case<V>& c) {
        return benchmark_result{.method = std::string(c.m->name),
                                .threads = c.threads,
                                .peer = c.peer,
                                .one_thread = c.m->one_thread};
    };
    const auto stopped = [&] { return options.interrupted != nullptr && *options.interrupted; };
    const double most_bytes = at.group_bytes();
    const double rewriting_s = at.rewriting_s(options);
    std::vector<benchmark_result> results;
    while (results.size() < cases.size()) {
        std::vector<operator_at<V, Runner>> ops;
        std::vector<decltype(at.work(*ops.front()))> work;
        std::vector<std::size_t> whose;
        double held = 0;
        while (results.size() < cases.size()) {
            const benchmark_case<V>& c = cases[results.size()];
            const bool exists = c.m->template on<typename Runner::backend>() != nullptr;
            const double more = exists ? at.cost(c).matrix_bytes : 0;
            if (stopped() || (!ops.empty() && held + more > most_bytes)) break;
            results.push_back(unmeasured(c));
            auto op = set_up(at, p, c, results.back());
            if (op == nullptr) continue;
            try {
                work.push_back(at.work(*op));
            } catch (const device_error& e) {  // no graph can hold it
                results.back().declined = e.what();
                at.finalize();
                continue;
            }
            held += more;
            ops.push_back(std::move(op));
            whose.push_back(results.size() - 1);
        }
        const auto times = time_interleaved(work, options);
        for (std::size_t k = 0; k < times.size(); ++k)
            results[whose[k]].time = times[k], results[whose[k]].rewriting_s = rewriting_s;
        if (!stopped()) continue;
        for (std::size_t k = results.size(); k < cases.size(); ++k)
            results.push_back(unmeasured(cases[k]));
    }
    return results;
}

}  // namespace

template <class V>
std::vector<benchmark_result> run_benchmark(const csr<V, host_view>& A,
                                            std::span<const benchmark_case<V>> cases,
                                            const measure_options& options, product_kind kind) {
    const problem<V> p(cpu{}, A, kind);
    return run_all(cpu_runner<V>(p), p, cases, options);
}

template <class V>
std::vector<benchmark_result> run_benchmark(gpu on, const csr<V, host_view>& A,
                                            std::span<const benchmark_case<V>> cases,
                                            const measure_options& options, caches found,
                                            product_kind kind, launches how) {
    if (found == caches::cold && how != launches::stream)
        throw argument_error("benchmark: cold caches only with launches in a stream");
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        require_gpu(on);
        const device_guard guard(on);
        const gpu_stream stream(on.device);
        const problem<V> p(on, A, kind);
        return run_all(gpu_runner<V>(stream, p, found, how), p, cases, options);
    }
}

#define NZ_INSTANTIATE(V)                                                                          \
    template std::vector<benchmark_case<V>> make_cases(std::span<const method<V>* const>,          \
                                                       std::span<const int>, bool);                \
    template std::vector<benchmark_case<V>> make_gpu_cases(std::span<const method<V>* const>,      \
                                                           bool);                                  \
    template std::vector<benchmark_result> run_benchmark(const csr<V, host_view>&,                 \
                                                         std::span<const benchmark_case<V>>,       \
                                                         const measure_options&, product_kind);    \
    template std::vector<benchmark_result> run_benchmark(                                          \
        gpu, const csr<V, host_view>&, std::span<const benchmark_case<V>>, const measure_options&, \
        caches, product_kind, launches);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
