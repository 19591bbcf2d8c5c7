#include "nonzero/graph/pagerank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/graph/pagerank_step.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {
namespace {

void check_options(const pagerank_options& o) {
    if (!(o.damping > 0 && o.damping < 1))
        throw argument_error("pagerank: damping is " + std::to_string(o.damping) +
                             ", expected a number between 0 and 1");
    if (!(o.tol >= 0)) throw argument_error("pagerank: tol is negative or no number");
    if (o.max_iter < 0) throw argument_error("pagerank: max_iter is negative");
}

/// The sum of a teleport vector's elements.
template <class V>
double checked_sum(std::span<const V> t, std::size_t n) {
    if (t.size() != n)
        throw argument_error("pagerank: a teleport vector of " + std::to_string(t.size()) +
                             " elements, expected " + std::to_string(n));
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!(t[i] >= V(0)))
            throw argument_error("pagerank: element " + std::to_string(i) +
                                 " of the teleport vector is negative or no number");
        sum += double(t[i]);
    }
    return sum;
}

/// t over its sum, over all ranks where there are some.
template <class V>
host_vector<V> normalised(const communicator* ranks, std::span<const V> t, std::size_t n) {
    double sum = 0;
    agree(ranks, [&] { sum = checked_sum(t, n); });
    sum = summed_over(ranks, sum);
    agree(ranks, [&] {
        if (!(sum > 0) || !std::isfinite(sum))
            throw argument_error("pagerank: the teleport vector sums to " + std::to_string(sum) +
                                 ", expected a positive number");
    });
    host_vector<V> of_sum_one(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) of_sum_one[i] = V(double(t[i]) / sum);
    return of_sum_one;
}

void check_square(nz::shape s) {
    if (s.rows != s.cols)
        throw argument_error("pagerank: the graph's matrix is " + std::to_string(s.rows) + " x " +
                             std::to_string(s.cols) + ", expected a square one");
}

/// The lengths of the rows, on the CPU.
template <class V>
host_vector<index> row_lengths(gpu on, const csr<V, device_view>& G) {
    offset_vector ptr;
    copy(on, G.row_ptr, ptr);
    host_vector<index> lengths(std::size_t(G.shape.rows));
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = index(ptr[i + 1] - ptr[i]);
    return lengths;
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> plan_links(B on, nz::shape shape, offset_span row_ptr,
                                                  std::span<const index> col_ind) {
    const host_vector<V> ones(col_ind.size(), V(1));
    return plan_and_build(ascending<V>::known({shape, row_ptr, col_ind, ones}), on).op;
}

/// Iterations k that make one pass of the graph. (k - 1) / 2 products of the last pass are wasted
/// in the mean, and each pass spares k - 1 starts. PageRank takes few iterations, so more than one
/// a pass pays only where a product is short, as it is with few links
/// (docs/experiments/pagerank.md).
int iterations_at_a_time(std::int64_t links) {
    constexpr std::int64_t million = 1000000;
    return links < 5 * million ? 4 : links < 20 * million ? 2 : 1;
}

/// The iterations, and the memory they need.
template <class V, class B>
class ranking {
  public:
    /// x at the start; t may be empty.
    ranking(const linear_operator<V, B>& product, B on, const vector<index, B>& links,
            std::int64_t nodes, int at_a_time, host_vector<V> x, host_vector<V> t,
            const pagerank_options& o)
        : product_(product),
          at_a_time_(at_a_time),
          options_(o),
          space_(on, std::int64_t(x.size())),
          x_(from_host(on, std::span<const V>(x))),
          q_(space_.make()),
          t_(from_host(on, std::span<const V>(t))),
          history_(from_host(on, std::span<const double>(std::vector<double>(longest_batch)))),
          state_(on, {}),
          step_{V(o.damping),
                V(1 / double(nodes)),
                t.empty() ? nullptr : t_.data(),
                links.data(),
                q_.data(),
                x_.data()} {}

    pagerank_options::report run(double dangling) {
        const auto start = steady_clock::now();
        pagerank_state s;
        s.dangling = dangling;
        s.target2 = options_.tol;
        s.history = history_.data();
        state_.write(s);
        loop<B> iterations(
            space_.on(), [this] { iterate(); }, state_.data(), options_.graph, at_a_time_);
        report_.in_graph = iterations.in_graph();
        s = state_.read();
        report_.setup_s = seconds_since(start);
        bool wanted = true;
        while (wanted && s.now == status::running && s.iterations < options_.max_iter)
            wanted = batch(iterations, s);
        report_.converged = s.now == status::converged;
        report_.iterations = s.iterations;
        if (!report_.history.empty()) report_.change = report_.history.back();
        return std::move(report_);
    }
    [[nodiscard]] host_vector<V> x() const { return to_host<V>(space_.on(), in<V, B>(x_)); }

  private:
    void iterate() {
        product_.apply(V(1), x_, V(0), q_);
        run_fused(space_, step_, state_.data());
    }
    /// False where a monitor wants to stop.
    bool batch(loop<B>& iterations, pagerank_state& s) {
        s.pause_at = std::min(options_.max_iter, s.iterations + batch_);
        s.history_from = s.iterations;
        state_.write(s);
        const auto start = steady_clock::now();
        iterations.run();
        s = state_.read();
        const double taken_s = seconds_since(start);
        report_.iterations_s += taken_s;
        const bool wanted = note(s);
        if (!monitored_) return true;
        // As the solvers do: ranks stop together, and look in some 20 times a second.
        if (on_all(ranks_, taken_s < 0.05)) batch_ = std::min(2 * batch_, longest_batch);
        return on_all(ranks_, wanted);
    }
    /// Fetches the batch's history; false where `monitor` wants to stop.
    bool note(const pagerank_state& s) {
        const auto changes = to_host<double>(space_.on(), in<double, B>(history_));
        bool wanted = true;
        for (std::int64_t k = s.history_from; k < s.iterations; ++k) {
            report_.history.push_back(changes[std::size_t(k - s.history_from)]);
            if (options_.monitor)
                wanted = options_.monitor(k + 1, report_.history.back()) && wanted;
        }
        return wanted;
    }

    const linear_operator<V, B>& product_;
    int at_a_time_;
    const pagerank_options& options_;
    vector_space<V, B> space_;
    vector<V, B> x_, q_, t_;
    vector<double, B> history_;
    scalars_on<pagerank_state, B> state_;
    pagerank_step<V> step_;
    const communicator* ranks_ = ranks_of(space_.on());
    bool monitored_ = !on_all(ranks_, !options_.monitor);  ///< on any rank
    /// Iterations until a monitor is told; a GPU waits once for all of them.
    std::int64_t batch_ = !monitored_ ? longest_batch : std::is_same_v<B, cpu> ? 1 : 64;
    pagerank_options::report report_;
};

}  // namespace

template <class V, class B>
pagerank_graph<V, B>::pagerank_graph(B on, const csr<V, host_view>& any_G,
                                     pagerank_options::links direction)
    : on_(on) {
    const ascending in_order(any_G);
    const csr<V, host_view>& G = in_order.view();
    check_square(G.shape);
    links_.assign(std::size_t(G.shape.rows), 0);
    if (direction == pagerank_options::links::row_links_to_column) {
        for (std::size_t i = 0; i < links_.size(); ++i)
            links_[i] = index(G.row_ptr[i + 1] - G.row_ptr[i]);
        const auto L = transposed(cpu{}, G);
        product_ = plan_links<V>(on, L.shape, L.row_ptr, L.col_ind);
    } else {
        for (const index j : G.col_ind) ++links_[std::size_t(j)];
        product_ = plan_links<V>(on, G.shape, G.row_ptr, G.col_ind);
    }
    links_on_backend_ = from_host(on, std::span<const index>(links_));
    nodes_ = G.shape.rows;
}

template <class V, class B>
pagerank_graph<V, B>::pagerank_graph(
    B on, const csr<V, device_view>& any_G,
    pagerank_options::links direction) requires std::is_same_v<B, gpu> : on_(on) {
    check_square(any_G.shape);
    if constexpr (!(is_built<B> && std::is_same_v<B, gpu>)) {
        refuse_gpu();
    } else {
        require_gpu(on);
        const device_guard guard(on);
        const ascending<V, gpu> in_order(any_G, on);
        csr<V, device_view> G = in_order.view();
        device_array<V> ones(on, G.val.size());
        vector_space<V, gpu>(on, std::int64_t(ones.size())).fill(V(1), ones);
        G.val = ones;
        const auto T = transposed(on, G);
        const bool from_rows = direction == pagerank_options::links::row_links_to_column;
        links_ = row_lengths<V>(on, from_rows ? G : view(T));
        product_ = plan_and_build(ascending<V, gpu>::known(from_rows ? view(T) : G, on), on).op;
        links_on_backend_ = from_host(on, std::span<const index>(links_));
        nodes_ = G.shape.rows;
    }
}

template <class V, class B>
pagerank_graph<V, B>::pagerank_graph(B on, std::unique_ptr<linear_operator<V, B>> product,
                                     host_vector<index> links)
    : on_(on), product_(std::move(product)), links_(std::move(links)) {
    agree(ranks_of(on), [&] {
        const auto n = index(links_.size());
        if (product_->shape() != nz::shape{n, n})
            throw argument_error("pagerank: the product is of another size than the graph");
        links_on_backend_ = from_host(on, std::span<const index>(links_));
    });
    nodes_ = summed_over(ranks_of(on), std::int64_t(links_.size()));
}

template <class V, class B>
std::int64_t pagerank_graph<V, B>::dangling() const {
    return summed_over(ranks_of(on_), std::int64_t(std::count(links_.begin(), links_.end(), 0)));
}

template <class V, class B>
pagerank_options::result<V> pagerank_graph<V, B>::rank(const pagerank_options& o,
                                                       std::span<const V> t) const {
    const communicator* const ranks = ranks_of(on_);
    const std::size_t n = links_.size();
    const bool is_uniform = on_all(ranks, t.empty());  // a rank without nodes has no other t
    agree(ranks, [&] { check_options(o); });
    expect_equal(ranks, "pagerank", std::array{o.damping, o.tol, double(o.max_iter)});
    const auto teleport = is_uniform ? host_vector<V>() : normalised(ranks, t, n);
    pagerank_options::result<V> result;
    result.report.converged = nodes_ == 0;
    if (nodes_ == 0) return result;
    const auto parts = [&](std::size_t i) { return V(std::max(links_[i], 1)); };
    host_vector<V> x(n);
    double dangling = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const V r = is_uniform ? V(1 / double(nodes_)) : teleport[i];
        x[i] = r / parts(i);
        if (links_[i] == 0) dangling += double(r);
    }
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const int at_a_time =
            iterations_at_a_time(std::accumulate(links_.begin(), links_.end(), std::int64_t(0)));
        ranking<V, B> iterations(*product_, on_, links_on_backend_, nodes_, at_a_time, std::move(x),
                                 teleport, o);
        result.report = iterations.run(summed_over(ranks, dangling));
        result.rank = iterations.x();
        for (std::size_t i = 0; i < n; ++i) result.rank[i] *= parts(i);
        return result;
    }
}

template class pagerank_graph<float, cpu>;
template class pagerank_graph<double, cpu>;
template class pagerank_graph<float, gpu>;
template class pagerank_graph<double, gpu>;

}  // namespace nz
