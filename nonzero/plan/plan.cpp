#include "nonzero/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <ostream>
#include <tuple>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/acceptance.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/plan/estimate_stats.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan_cache.hpp"
#include "nonzero/plan/planning.hpp"
#include "nonzero/plan/speeds.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz {

namespace {

/// How many are timed where a plan is tuned.
constexpr std::size_t shortlist = 5;

std::string machine_name(cpu on) {
    static const std::string cpu = describe_machine().cpu;  // a file, read in a tenth of a ms
    return fmt::format("{}, {} threads", cpu, thread_count(on));
}
[[maybe_unused]] std::string machine_name(gpu on) {
    static std::mutex one_at_a_time;
    static std::map<int, std::string> known;  // by device: asking takes longer than many a product
    const std::lock_guard lock(one_at_a_time);
    auto at = known.find(on.device);
    if (at == known.end()) at = known.emplace(on.device, describe_gpu(on).name).first;
    return at->second;
}

template <class V>
estimate cost_on(const method<V>& m, cpu, const matrix_stats& s) {
    if (m.on_cpu == nullptr) return {.declined = "no such kernel on the CPU"};
    return m.cost(s);
}
template <class V>
estimate cost_on(const method<V>& m, gpu, const matrix_stats& s) {
    if (m.on_gpu == nullptr) return {.declined = "no such kernel on the GPU"};
    return m.cost_on_gpu(s);
}

template <class V>
double csr_bytes(const matrix_stats& s) {
    return csr<V, host>::cost(s).matrix_bytes;
}

/// Time to build [s] from a CSR that lies where S says. A GPU builds from its own memory what it
/// can.
template <class S, class V, class B>
double setup_s(const method<V>& m, const estimate& e, const matrix_stats& s,
               const machine_speeds& machine) {
    const double from = csr_bytes<V>(s);
    if (std::is_same_v<B, cpu> || m.from_device == nullptr)
        return predicted_setup_seconds(e, from, machine);
    const bool uploaded = std::is_same_v<S, host_view> && machine.upload_bytes_per_s > 0;
    return (uploaded ? from / machine.upload_bytes_per_s : 0) +
           (from + e.matrix_bytes) / machine.reads.back().per_s;
}

/// Time of the copy with ascending rows: 0.2 to 0.5 ns a byte of CSR on the CPU, 0.02 to 0.06 on
/// the GPU (bench/check_bench, bench/results/h100/check.json). [s]
template <class S, class V>
double ordering_s(const matrix_stats& s, const machine_speeds& machine) {
    constexpr double passes_on_cpu = 4, passes_on_gpu = 80;
    const double bytes = csr_bytes<V>(s);
    return std::is_same_v<S, host_view> ? passes_on_cpu * bytes / machine.convert_bytes_per_s
                                        : passes_on_gpu * bytes / machine.reads.back().per_s;
}

/// One method on a matrix in the space S, on this machine. in_order: its rows ascend as given.
template <class S, class V, class B>
plan_report::candidate judge(const method<V>& m, B on, const matrix_stats& s, bool in_order,
                             const machine_speeds& machine, bool deterministic) {
    plan_report::candidate c{.method = std::string(m.name)};
    if (std::is_same_v<S, device_view> && m.from_device == nullptr) {
        c.declined = "it is built on the CPU only, and the matrix lies on the GPU";
        return c;
    }
    const estimate e = cost_on(m, on, s);
    c.declined = e.declined;
    if (c.declined.empty() && deterministic && !m.deterministic)
        c.declined = "its bits differ from run to run";
    if (c.declined.empty() && machine.memory_bytes > 0 && e.matrix_bytes > machine.memory_bytes)
        c.declined =
            fmt::format("its {} would not fit the {} of memory", text_of_bytes(e.matrix_bytes),
                        text_of_bytes(machine.memory_bytes));
    if (!c.declined.empty()) return c;
    c.matrix_bytes = e.matrix_bytes, c.bytes = e.bytes();
    c.predicted_s = predicted_seconds(e, s, machine);
    c.predicted_setup_s = setup_s<S, V, B>(m, e, s, machine);
    if (!in_order && !m.any_order) c.predicted_setup_s += ordering_s<S, V>(s, machine);
    return c;
}

/// How often a predicted setup counts, as it and what it gains are off by a third
/// (docs/experiments/planner.md).
constexpr double predicted_setups = 1.5;

/// Seconds that setup and products take in all; without a limit of them, a product alone.
double total_s(const plan_report::candidate& c, std::int64_t products) {
    if (products == plan_options::many_products) return c.product_s();
    const double setups = c.measured_s > 0 ? 1 : predicted_setups;
    return setups * c.setup_s() + double(products) * c.product_s();
}

/// Among untimed methods, sorted by their totals, puts first the fastest or the cheapest to set up,
/// whichever has the lower total; unless another is predicted at under half of that: predictions
/// are too far off to tell less (docs/experiments/planner.md).
void prefer_fastest_or_cheapest(plan_report& p) {
    auto& all = p.candidates;
    const auto end = std::find_if(all.begin(), all.end(), [](const plan_report::candidate& c) {
        return !c.declined.empty();
    });
    if (end == all.begin() || all.front().measured_s > 0) return;
    const auto least = [&](auto cost) {
        return std::min_element(all.begin(), end,
                                [&](const plan_report::candidate& a,
                                    const plan_report::candidate& b) { return cost(a) < cost(b); });
    };
    const auto fastest = least([](const plan_report::candidate& c) { return c.predicted_s; });
    const auto cheapest = least([](const plan_report::candidate& c) {
        return std::pair(c.predicted_setup_s, c.predicted_s);
    });
    const auto total = [&](auto c) { return total_s(*c, p.expected_products); };
    const auto chosen = total(fastest) < total(cheapest) ? fastest : cheapest;
    constexpr double clearly_less = 0.5;
    if (total(all.begin()) < clearly_less * total(chosen)) return;
    std::rotate(all.begin(), chosen, chosen + 1);
}

/// Best first. Those that were timed come before those that were not, which were predicted to be
/// slower than all of them; those that decline come last.
void sort_candidates(plan_report& p) {
    // Places are sorted, not candidates, which hold texts.
    std::vector<std::tuple<bool, bool, double, double, std::size_t>> ranks;
    ranks.reserve(p.candidates.size());
    for (const plan_report::candidate& c : p.candidates)
        ranks.emplace_back(!c.declined.empty(), c.measured_s == 0, total_s(c, p.expected_products),
                           c.setup_s(), ranks.size());
    std::ranges::sort(ranks);
    std::vector<plan_report::candidate> sorted;
    sorted.reserve(ranks.size());
    for (const auto& rank : ranks) sorted.push_back(std::move(p.candidates[std::get<4>(rank)]));
    p.candidates = std::move(sorted);
    if (p.expected_products != plan_options::many_products) prefer_fastest_or_cheapest(p);
}

std::string why(const plan_report& p) {
    const plan_report::candidate& c = p.chosen();
    const bool limited = p.expected_products != plan_options::many_products;
    std::string text =
        fmt::format("{} {} {} a product", c.method, c.measured_s > 0 ? "took" : "should take",
                    text_of_time(c.product_s()));
    if (limited)
        text += fmt::format(" and {} of setup, which suits {} products in all",
                            text_of_time(c.setup_s()), p.expected_products);
    const auto next =
        std::find_if(p.candidates.begin() + 1, p.candidates.end(),
                     [&](const plan_report::candidate& o) { return o.declined.empty(); });
    if (next == p.candidates.end()) return text + "; no other method suits";
    text += fmt::format("; next is {} with {}", next->method, text_of_time(next->product_s()));
    if (limited) return text + " and " + text_of_time(next->setup_s());
    const double times = next->product_s() / c.product_s();
    constexpr double shown = 1.005;
    return times < shown ? text : text + fmt::format(", {:.2f} times as long", times);
}

void check_options(const plan_options& o) {
    if (o.expected_products < 1)
        throw argument_error("make_plan: expected_products is " +
                             std::to_string(o.expected_products) + ", expected at least 1");
    if (o.vectors < 1) throw argument_error("make_plan: vectors is below 1");
    if (!(o.tune_s > 0)) throw argument_error("make_plan: tune_s is not positive");
    if (o.speeds && !is_usable(*o.speeds))
        throw argument_error("make_plan: speeds lack a rate, or one is not positive");
}

template <class B, class V>
bool suits_several_vectors(const method<V>& m) {
    if constexpr (std::is_same_v<B, cpu>) return m.many_on_cpu && m.on_cpu != nullptr;
    return m.many_on_gpu && m.on_gpu != nullptr;
}

template <class B, class V>
std::vector<const method<V>*> to_judge(std::span<const method<V>> among, const plan_options& o) {
    std::vector<const method<V>*> chosen;
    chosen.reserve(among.size());
    for (const std::string& name : o.methods) chosen.push_back(&named(among, name));
    if (!chosen.empty()) return chosen;
    if (o.vectors > 1)
        for (const method<V>& m : among)
            if (suits_several_vectors<B>(m)) chosen.push_back(&m);
    if (chosen.empty())
        for (const method<V>& m : among)
            if (o.tune || !m.teaches) chosen.push_back(&m);
    return chosen;
}

template <class V>
std::vector<benchmark_result> run(cpu on, const csr<V, host_view>& A,
                                  std::span<const method<V>* const> methods,
                                  const measure_options& how) {
    const int threads[] = {thread_count(on)};
    return run_benchmark<V>(A, make_cases<V>(methods, threads), how);
}
template <class V>
std::vector<benchmark_result> run(gpu on, const csr<V, host_view>& A,
                                  std::span<const method<V>* const> methods,
                                  const measure_options& how) {
    return run_benchmark<V>(on, A, make_gpu_cases<V>(methods), how);
}

/// Times the best few, and sorts anew.
template <class V, class B>
void tune(plan<V, B>& p, const csr<V, host_view>& A, const plan_options& o) {
    std::vector<const method<V>*> few;
    for (const plan_report::candidate& c : p.candidates)
        if (c.declined.empty() && few.size() < shortlist) few.push_back(&named(p.among, c.method));
    for (const benchmark_result& t : run<V>(p.on, A, few, {.seconds = o.tune_s})) {
        plan_report::candidate& c =
            *std::find_if(p.candidates.begin(), p.candidates.end(),
                          [&](const plan_report::candidate& k) { return k.method == t.method; });
        if (!t.declined.empty()) c.declined = t.declined;
        if (t.measured() && !t.validated()) c.declined = "its result is wrong here";
        if (t.measured()) c.measured_s = t.time.median_s, c.measured_setup_s = t.setup_s;
    }
    sort_candidates(p);
}

void require(cpu) {}
[[maybe_unused]] void require(gpu on) { require_gpu(on); }

/// The machine's speeds, and the memory that layouts of about `bytes` may take.
machine_speeds machine_for(cpu on, double, bool fresh) { return speeds_of(on, fresh); }
[[maybe_unused]] machine_speeds machine_for(gpu on, double bytes, bool fresh) {
    // Asking takes longer than a product of a small matrix. Where a small matrix does not fit
    // either, building takes the next method.
    constexpr double worth_asking = 64e6;
    machine_speeds s = speeds_of(on, fresh);
    if (bytes >= worth_asking) s.memory_bytes = double(memory_of(on).free_bytes);
    return s;
}

/// The stats that methods are judged by: those of the subject, or else `own`.
template <class V, class B>
const matrix_stats& stats_for(B on, const subject<V, cpu>& M, matrix_stats& own) {
    return own = estimate_stats(M.A, on);
}
template <class V>
const matrix_stats& stats_for(gpu on, const subject<V, gpu>& M, matrix_stats& own) {
    return M.stats ? *M.stats : own = estimate_stats(on_host(on, M.A), on);
}

template <class B>
offset_span on_host(B, const offset_span& row_ptr, offset_vector&) {
    return row_ptr;
}
[[maybe_unused]] offset_span on_host(gpu on, const device_offset_span& row_ptr,
                                     offset_vector& owner) {
    copy(on, row_ptr, owner);
    return owner;
}

/// In entries as they are stored: where they stand in any order, the stats are of a copy that has
/// those in one place added up.
template <class V, class M, class B>
std::int64_t longest_row(const ascending<V, M>& A, B on, const matrix_stats& stats) {
    if (A.given_in_order()) return stats.max_row_nnz();
    offset_vector owner;
    return on_host(on, A.given().row_ptr, owner).visit([&](const auto* row_ptr) {
        return parallel_reduce(
            thread_count({}), std::int64_t(A.given().shape.rows), std::int64_t(0), larger_of(),
            [&](std::int64_t i) { return std::int64_t(row_ptr[i + 1] - row_ptr[i]); });
    });
}

/// All methods judged and sorted: the plan without any timing.
template <class V, class M, class B>
plan<V, B> rank(const subject<V, M>& of, B on, const plan_options& o,
                std::span<const method<V>> among) {
    check_options(o);
    const auto methods = to_judge<B>(among, o);
    require(on);
    matrix_stats own;
    const matrix_stats& stats = stats_for(on, of, own);
    const machine_speeds machine =
        o.speeds ? *o.speeds : machine_for(on, csr_bytes<V>(stats), o.fresh);
    const auto& A = of.A.given();
    const std::int64_t longest = longest_row(of.A, on, stats);
    plan<V, B> p{{.shape = A.shape,
                  .nnz = std::int64_t(A.val.size()),
                  .machine = o.speeds ? "the one given" : machine_name(on),
                  .expected_products = o.expected_products,
                  .storage = o.storage,
                  .longest_row = longest,
                  .bound = bound_of<V>(o.storage, longest),
                  .candidates = {},
                  .why = {}},
                 on,
                 among};
    p.candidates.reserve(methods.size());
    for (const method<V>* m : methods)
        p.candidates.push_back(judge<typename M::view>(*m, on, stats, of.A.given_in_order(),
                                                       machine, o.deterministic));
    sort_candidates(p);
    return p;
}

/// The choice explained; throws where there is none.
template <class V, class B>
plan<V, B> explain(plan<V, B> p) {
    if (p.candidates.empty() || !p.chosen().declined.empty())
        throw unavailable(fmt::format(
            "no method multiplies this {} matrix on this machine{}", value_name<V>(),
            p.candidates.empty() ? "" : ": " + p.chosen().method + ": " + p.chosen().declined));
    p.why = why(p);
    return p;
}

template <class V, class B>
plan<V, B> choose(const subject<V, cpu>& A, B on, const plan_options& o,
                  std::span<const method<V>> among) {
    auto p = rank(A, on, o, among);
    if (o.tune) tune(p, A.A.given(), o);
    p = explain(std::move(p));
    prepare_acceptance(p, A.A.given(), o);
    return p;
}

/// The tuned plan that is kept, or `choose`, whose plan then is.
template <class V, class B>
plan<V, B> recall_or_choose(const subject<V, cpu>& A, B on, const plan_options& o) {
    require(on);
    const structure_key key = key_of(A.A.given());
    const std::string path = plan_path<V>(key, on);
    if (!o.fresh && !path.empty())
        if (auto known = load_plan<V>(path, key, on, o)) return *std::move(known);
    auto p = choose(A, on, o, methods<V>());
    try {
        if (!path.empty()) save_plan(path, key, p, o);
    } catch (const error&) {  // tuned anew next time, then
    }
    return p;
}

/// The plan of A alone. An untuned one is made about as soon as it would be found again.
template <class V, class B>
plan<V, B> plan_alone(const subject<V, cpu>& A, B on, const plan_options& o,
                      std::span<const method<V>> among) {
    const bool kept = o.tune && o.cache && !o.speeds && among.data() == methods<V>().data();
    return kept ? recall_or_choose(A, on, o) : choose(A, on, o, among);
}
template <class V>
plan<V, gpu> plan_alone(const subject<V, gpu>& A, gpu on, const plan_options& o,
                        std::span<const method<V>> among) {
    if (!planned_on_device<V>(o)) {
        require_gpu(on);
        return plan_alone(subject<V, cpu>{on_host(on, A.A)}, on, o, among);
    }
    auto p = explain(rank(A, on, o, among));
    prepare_acceptance(p, A.A.given(), o, A.pattern);
    return p;
}

}  // namespace

template <class V, class M, class B>
plan<V, B> plan_subject(const subject<V, M>& A, B on, const plan_options& o,
                        std::span<const method<V>> among) {
    const thread_limit limit(on);
    auto p = plan_alone(A, on, o, among);
    if (A.transpose != nullptr)
        p.of_transpose = std::make_shared<const plan<V, B>>(plan_alone(*A.transpose, on, o, among));
    return p;
}

template <class V, class B>
plan<V, B> make_plan(const csr<V, host_view>& A, B on, const plan_options& o,
                     std::span<const method<V>> among) {
    if constexpr (!is_built<B>) {
        (void)ascending(A);
        check_options(o);
        refuse_gpu();
    } else {
        const thread_limit limit(on);
        const stored_matrix stored(on, A, o.storage);
        return plan_subject(subject_of(on, ascending(stored.view), o.transposed), on, o, among);
    }
}
template <class V, class B>
plan<V, B> make_plan(const csr<V, host_view>& A, B on, const plan_options& o) {
    return make_plan(A, on, o, methods<V>());
}
template <class V>
plan<V, gpu> make_plan(const csr<V, device_view>& A, gpu on, const plan_options& o) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        const stored_matrix stored(on, A, o.storage);
        return plan_subject(subject_for(on, stored.view, o), on, o, methods<V>());
    }
}
template <class V, class M, class B>
plan<V, B> make_plan(const ascending<V, M>& A, B on, const plan_options& o) {
    if constexpr (!is_built<B>) {
        check_options(o);
        refuse_gpu();
    } else {
        const thread_limit limit(on);
        const stored_in_order stored(on, A, o.storage);
        return plan_subject(subject_for(on, stored.A, as_predicted(o)), on, as_predicted(o),
                            methods<V>());
    }
}

#define NZ_FOR_SUBJECT(V, M, B)                                                    \
    template plan<V, B> plan_subject(const subject<V, M>&, B, const plan_options&, \
                                     std::span<const method<V>>);
#define NZ_FOR_PLACE(V, M, B) \
    template plan<V, B> make_plan(const ascending<V, M>&, B, const plan_options&);
#define NZ_FOR_BACKEND(V, B)                                                         \
    template plan<V, B> make_plan(const csr<V, host_view>&, B, const plan_options&); \
    template plan<V, B> make_plan(const csr<V, host_view>&, B, const plan_options&,  \
                                  std::span<const method<V>>);                       \
    NZ_FOR_PLACE(V, cpu, B)
#define NZ_INSTANTIATE(V)                                                      \
    NZ_FOR_SUBJECT(V, cpu, cpu)                                                \
    NZ_WITH_CUDA_ONLY(NZ_FOR_SUBJECT(V, cpu, gpu) NZ_FOR_SUBJECT(V, gpu, gpu)) \
    NZ_FOR_BACKEND(V, cpu)                                                     \
    NZ_FOR_BACKEND(V, gpu)                                                     \
    NZ_FOR_PLACE(V, gpu, gpu)                                                  \
    template plan<V, gpu> make_plan(const csr<V, device_view>&, gpu, const plan_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
