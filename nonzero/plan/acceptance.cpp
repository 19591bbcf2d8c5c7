#include "nonzero/plan/acceptance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <new>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/csr_adaptive.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/planning.hpp"

namespace nz {

namespace {

/// Plain CSR: no row length is bad for it, and its setup is little beside a few products.
template <class B>
using plain_kernel = std::conditional_t<std::is_same_v<B, cpu>, csr_balanced, csr_adaptive_blocks>;

/// Products of each that the timing takes. On a CPU three of the choice and three of plain CSR, of
/// which the last counts, because caches take in a matrix only when it has been walked several
/// times; then one of each. Threads that have slept take up to some milliseconds to be as fast as
/// they will be: where that ends between two takes, those of one method disagree. On a GPU two and
/// two in turns, twice, of which every second one counts.
constexpr int products_of_each = 4;
/// Shorter products are not timed: the outcome would cost more to keep than it gains. [s]
constexpr double worth_timing_s = 10e-6;
/// On a CPU plain CSR must be faster by this much where it was predicted to take 1.1 times as long
/// as the choice, or more: caches that are still cold, or another process, make that seem so, and
/// predictions are seldom as wrong.
constexpr double surprisingly_faster = 0.8, surprising = 1.1;
/// On a GPU nothing is timed where the other should take more than this many times as long as the
/// choice: predictions there were off by half as much (docs/decisions/planner.md).
constexpr double hopeless = 4;
/// On a GPU packed.warp comes close to packed.stripes, or to plain CSR, where it should take less
/// than this many times as long. Predictions do not tell these apart for power laws, where the
/// other two take 0.94 to 1.4 times as long as packed.warp (bench/results/h200/powerlaws.json).
constexpr double close = 1.5;
/// There it is taken where it is faster at all.
constexpr double faster_where_close = 1;

/// The machine that outcomes are of, and the file that keeps them for other processes.
struct place {
    std::string stem;
    std::function<json()> key;  ///< asking for it takes longer than many a product
};
place place_of(const plan_report&, cpu on) {
    const int threads = thread_count(on);
    return {fmt::format("accepted-cpu-{}", threads),
            [=] { return machine_key(describe_machine(), threads); }};
}
[[maybe_unused]] place place_of(const plan_report& p, gpu on) {
    return {"accepted-" + p.machine, [=] { return machine_key(describe_gpu(on)); }};
}

/// Whether a choice was accepted, by what was timed.
class outcomes {
  public:
    /// Nothing where it was not timed. from_file: those of other processes count, too.
    std::optional<bool> find(const place& at, const std::string& what, bool from_file) {
        const std::lock_guard lock(one_at_a_time_);
        const auto known = known_.find(at.stem + what);
        if (known != known_.end()) return known->second;
        if (!from_file) return {};
        for (const json& entry : kept(cache_path(at.stem), at))
            if (const json* const said = entry.find(what))
                return known_[at.stem + what] = *said != json(refused);
        return {};
    }
    void add(const place& at, const std::string& what, verdict v, bool to_file) {
        const std::lock_guard lock(one_at_a_time_);
        known_[at.stem + what] = v != verdict::refused;
        if (!to_file || v == verdict::undecided) return;
        // More would make the file long to read.
        constexpr std::size_t most = 1000;
        const std::string file = cache_path(at.stem);
        if (file.empty()) return;
        std::vector<json> all = kept(file, at);
        all.push_back({{what, v == verdict::refused ? refused : "accepted"}});
        if (all.size() > most) all.erase(all.begin());
        try {
            keep(file, at.key(), json(all));
        } catch (const error&) {  // timed anew by the next process, then
        }
    }
    void forget(const place& at, const std::string& what) {
        const std::lock_guard lock(one_at_a_time_);
        known_.erase(at.stem + what);
    }

  private:
    static constexpr const char* refused = "refused";
    static std::vector<json> kept(const std::string& file, const place& at) {
        if (file.empty()) return {};
        const json j = load_kept(file, at.key());
        return j.is_array() ? j.elements() : std::vector<json>{};
    }

    std::mutex one_at_a_time_;
    std::map<std::string, bool> known_;
};
outcomes& timed_before() {
    static outcomes all;
    return all;
}

/// Null where it is not among them, or declines.
const plan_report::candidate* candidate_named(const plan_report& p, std::string_view method) {
    const auto at = std::ranges::find(p.candidates, method, &plan_report::candidate::method);
    return at == p.candidates.end() || !at->declined.empty() ? nullptr : &*at;
}

/// The method that the choice is timed beside: plain CSR, but on a GPU packed.warp where that comes
/// close to packed.stripes or to plain CSR. Null where there is none.
template <class B>
const plan_report::candidate* rival(const plan_report& p) {
    const auto* const packed = candidate_named(p, packed_warp::name);
    const std::string& chosen = p.chosen().method;
    if (std::is_same_v<B, gpu> && packed != nullptr &&
        (chosen == packed_stripes::name || chosen == plain_kernel<B>::name) &&
        packed->predicted_s < close * p.chosen().predicted_s)
        return packed;
    return candidate_named(p, plain_kernel<B>::name);
}

/// Whether the choice for such a plan and options is timed at all.
template <class B>
bool is_timed(const plan_report& p, const plan_options& o) {
    if (o.accept != plan_options::acceptance::measured || o.speeds || o.tune || o.vectors != 1 ||
        o.expected_products != plan_options::many_products)
        return false;
    const auto* const other = rival<B>(p);
    if (other == nullptr || p.chosen().method == other->method) return false;
    const bool promising =
        std::is_same_v<B, cpu> || other->predicted_s < hopeless * p.chosen().predicted_s;
    return promising && p.chosen().predicted_s >= worth_timing_s;
}

/// The time that the timing takes, as predicted. [s]
template <class B>
double timing_s(const plan_report::candidate& choice, const plan_report::candidate& other) {
    const double setup_s = std::is_same_v<B, cpu> ? 0 : other.predicted_setup_s;
    return products_of_each * (choice.predicted_s + other.predicted_s) + setup_s;
}

template <class V, class B>
std::uint64_t pattern_of(const csr<V, host_view>& A, B on) {
    if constexpr (std::is_same_v<B, cpu>) return pattern_hash(on, A.row_ptr, A.col_ind);
    return pattern_hash(cpu{}, A.row_ptr, A.col_ind);
}
template <class V>
std::uint64_t pattern_of(const csr<V, device_view>& A, gpu on) {
    return pattern_hash(on, A.row_ptr, A.col_ind);
}

/// Throws std::bad_alloc where there is no room for the vectors.
template <class V>
verdict judge(cpu on, const csr<V, host_view>& A, const linear_operator<V, cpu>& built,
              double clear) {
    const thread_limit limit(on);
    const host_vector<V> x(std::size_t(A.shape.cols), V(1));
    host_vector<V> y(std::size_t(A.shape.rows), V(0));  // touched before the clock runs
    const auto timed = [](auto multiply) {
        return [=] {
            const auto start = steady_clock::now();
            multiply();
            return seconds_since(start);
        };
    };
    return judge_beside(timed([&] { built.apply(V(1), x, V(0), y); }), timed([&] {
                            spmv(on, plain_kernel<cpu>{}, V(1), A, std::span<const V>(x), V(0),
                                 std::span<V>(y));
                        }),
                        clear);
}

/// A vector of zeros, which is multiplied as soon as any other.
template <class V>
device_array<V> zeros(gpu on, index len) {
    device_array<V> v(on, std::size_t(len));
    zero_on_device(on, {reinterpret_cast<std::byte*>(v.data()), v.size() * sizeof(V)});
    return v;
}

/// Launched at once, so that the GPU never waits for the CPU between two products. Throws
/// device_error where there is no room for the vectors.
template <class V>
verdict judge(gpu on, const linear_operator<V, gpu>& built, const linear_operator<V, gpu>& other,
              double clear) {
    const device_guard guard(on);
    const auto x = zeros<V>(on, built.shape().cols);
    auto y = zeros<V>(on, built.shape().rows);
    struct take {
        gpu_event start, stop;
    };
    take of_choice[products_of_each / 2], of_other[products_of_each / 2];
    const auto launch = [&](const linear_operator<V, gpu>& op, take& t) {
        op.apply(V(1), x, V(0), y);
        t.start.record(on);
        op.apply(V(1), x, V(0), y);
        t.stop.record(on);
    };
    for (const std::size_t k : {0, 1}) launch(built, of_choice[k]), launch(other, of_other[k]);
    const auto seconds = [](const take& t) { return t.stop.seconds_since(t.start); };
    return judge_takes({seconds(of_choice[0]), seconds(of_choice[1])},
                       {seconds(of_other[0]), seconds(of_other[1])}, clear);
}

/// Whether the choice is accepted: as it was before, or by what `judge` says now.
template <class V, class B, class F>
bool is_good(const plan<V, B>& p, F judge) {
    const place at = place_of(p, p.on);
    const bool kept = !p.timing.kept_as.empty();
    if (kept)
        if (const auto known = timed_before().find(at, p.timing.kept_as, false)) return *known;
    const verdict v = judge();
    if (kept) timed_before().add(at, p.timing.kept_as, v, p.timing.in_file);
    return v != verdict::refused;
}

template <class V>
std::unique_ptr<linear_operator<V, cpu>> faster_of(const plan<V, cpu>& p, const ascending<V>& A,
                                                   std::unique_ptr<linear_operator<V, cpu>>& built,
                                                   const method<V>& plain) {
    const auto* const beside = candidate_named(p, plain.name);
    const bool would_surprise =
        beside != nullptr && beside->predicted_s > surprising * p.chosen().predicted_s;
    const double clear = would_surprise ? surprisingly_faster : clearly_faster;
    if (is_good(p, [&] { return judge(p.on, A.given(), *built, clear); })) return std::move(built);
    return nz::build(plain, p.on, A);
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> faster_of(const plan<V, gpu>& p,
                                                   const ascending<V, gpu>& A,
                                                   std::unique_ptr<linear_operator<V, gpu>>& built,
                                                   const method<V>& other) {
    std::unique_ptr<linear_operator<V, gpu>> op;
    const double clear = other.name == packed_warp::name ? faster_where_close : clearly_faster;
    const bool good = is_good(p, [&] {
        op = nz::build(other, p.on, A);
        return judge(p.on, *built, *op, clear);
    });
    if (good) return std::move(built);
    return op != nullptr ? std::move(op) : nz::build(other, p.on, A);
}

}  // namespace

verdict judge_takes(const two_takes& choice, const two_takes& other, double clear) {
    const auto [fast_choice, slow_choice] = std::ranges::minmax(choice);
    const auto [fast_other, slow_other] = std::ranges::minmax(other);
    if (fast_other < clear * fast_choice)
        return slow_other < slow_choice ? verdict::refused : verdict::undecided;
    return slow_other >= clear * slow_choice ? verdict::accepted : verdict::undecided;
}

verdict judge_beside(const std::function<double()>& multiply_by_choice,
                     const std::function<double()>& multiply_plainly, double clear) {
    const auto last_of = [](int products, const std::function<double()>& multiply) {
        for (int k = 1; k < products; ++k) multiply();
        return multiply();
    };
    two_takes choice{}, plain{};
    choice[0] = last_of(3, multiply_by_choice), plain[0] = last_of(3, multiply_plainly);
    choice[1] = multiply_by_choice(), plain[1] = multiply_plainly();
    return judge_takes(choice, plain, clear);
}

template <class V, class B, class S>
void prepare_acceptance(plan<V, B>& p, const csr<V, S>& A, const plan_options& o,
                        std::optional<std::uint64_t> pattern) {
    if (!is_timed<B>(p, o)) return;
    const plan_report::candidate other = *rival<B>(p);
    const bool of_registry = p.among.data() == methods<V>().data();
    p.timing = {.beside = other.method,
                .kept_as = of_registry ? fmt::format("{:016x} {} {} {} {}",
                                                     pattern ? *pattern : pattern_of(A, p.on),
                                                     value_name<V>(), name_of(p.storage),
                                                     p.chosen().method, other.method)
                                       : "",
                .in_file = o.cache};
    const place at = place_of(p, p.on);
    if (o.fresh) timed_before().forget(at, p.timing.kept_as);
    const auto before =
        of_registry && !o.fresh ? timed_before().find(at, p.timing.kept_as, o.cache) : std::nullopt;
    if (!before) {
        p.candidates.front().predicted_setup_s += timing_s<B>(p.chosen(), other);
        return;
    }
    p.timing.beside.clear();
    if (*before) return;
    const std::string slower = p.chosen().method;
    p.put_first(other.method);
    p.why = fmt::format("{} was faster than {} when both were timed", other.method, slower);
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> accepted(const plan<V, B>& p, const ascending<V, B>& A,
                                                std::unique_ptr<linear_operator<V, B>> built) {
    const std::string& other = p.timing.beside;
    if (other.empty() || built->method_name() == other) return built;
    try {
        return faster_of(p, A, built, named(p.among, other));
    } catch (const std::bad_alloc&) {
        return built;
    } catch (const device_error&) {  // the memory of the GPU is short
        return built;
    }
}

#define NZ_FOR_PLACE(V, B, S)                                                            \
    template void prepare_acceptance(plan<V, B>&, const csr<V, S>&, const plan_options&, \
                                     std::optional<std::uint64_t>);
#define NZ_FOR_BACKEND(V, B)                                  \
    template std::unique_ptr<linear_operator<V, B>> accepted( \
        const plan<V, B>&, const ascending<V, B>&, std::unique_ptr<linear_operator<V, B>>);
#define NZ_INSTANTIATE(V)                                                               \
    NZ_FOR_PLACE(V, cpu, host_view)                                                     \
    NZ_FOR_BACKEND(V, cpu)                                                              \
    NZ_WITH_CUDA_ONLY(NZ_FOR_PLACE(V, gpu, host_view) NZ_FOR_PLACE(V, gpu, device_view) \
                          NZ_FOR_BACKEND(V, gpu))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
