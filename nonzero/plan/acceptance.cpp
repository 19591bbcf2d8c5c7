#include "nonzero/plan/acceptance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <new>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/planning.hpp"

namespace nz {

namespace {

/// Plain CSR: no row length is bad for it, and its setup is a copy of the arrays.
using plain_kernel = csr_balanced;

/// Products that the timing takes, of which the last two count. The choice was just written, so
/// that the caches hold what they can of it; plain CSR was not read for long.
constexpr int products_of_choice = 2, products_of_plain = 6;
/// Shorter products are not timed: the outcome would cost more to keep than it gains. [s]
constexpr double worth_timing_s = 10e-6;
/// Plain CSR is clearly faster where it takes less than this share of the choice's time.
constexpr double clearly_faster = 0.95;

/// Whether a choice was accepted, by what was timed.
class outcomes {
  public:
    /// Nothing where it was not timed. from_file: those of other processes count, too.
    std::optional<bool> find(cpu on, const std::string& what, bool from_file) {
        const std::lock_guard lock(one_at_a_time_);
        auto at = known_.find(what);
        if (at != known_.end()) return at->second;
        if (!from_file) return {};
        for (const json& entry : kept(on))
            if (const json* const said = entry.find(what))
                return known_[what] = *said != json(refused);
        return {};
    }
    void add(cpu on, const std::string& what, verdict v, bool to_file) {
        const std::lock_guard lock(one_at_a_time_);
        known_[what] = v != verdict::refused;
        if (!to_file || v == verdict::undecided) return;
        // More would make the file long to read.
        constexpr std::size_t most = 1000;
        std::vector<json> all = kept(on);
        all.push_back({{what, v == verdict::refused ? refused : "accepted"}});
        if (all.size() > most) all.erase(all.begin());
        try {
            if (!path(on).empty()) keep(path(on), key(on), json(all));
        } catch (const error&) {  // timed anew by the next process, then
        }
    }
    void forget(const std::string& what) {
        const std::lock_guard lock(one_at_a_time_);
        known_.erase(what);
    }

  private:
    static constexpr const char* refused = "refused";
    static std::string path(cpu on) {
        return cache_path(fmt::format("accepted-cpu-{}", thread_count(on)));
    }
    static json key(cpu on) { return machine_key(describe_machine(), thread_count(on)); }
    static std::vector<json> kept(cpu on) {
        const std::string file = path(on);
        if (file.empty()) return {};
        const json j = load_kept(file, key(on));
        return j.is_array() ? j.elements() : std::vector<json>{};
    }

    std::mutex one_at_a_time_;
    std::map<std::string, bool> known_;
};
outcomes& timed_before() {
    static outcomes all;
    return all;
}

const plan_report::candidate* plain_candidate(const plan_report& p) {
    const auto at =
        std::ranges::find(p.candidates, plain_kernel::name, &plan_report::candidate::method);
    return at == p.candidates.end() || !at->declined.empty() ? nullptr : &*at;
}

/// Whether the choice for such a plan and options is timed at all.
bool is_timed(const plan_report& p, const plan_options& o) {
    return o.accept == plan_options::acceptance::measured && !o.speeds && !o.tune &&
           o.vectors == 1 && o.expected_products == plan_options::many_products &&
           !p.candidates.empty() && p.chosen().declined.empty() &&
           p.chosen().method != plain_kernel::name && plain_candidate(p) != nullptr &&
           p.chosen().predicted_s >= worth_timing_s;
}

/// Throws std::bad_alloc where there is no room for the vectors.
template <class V>
verdict judge(cpu on, const csr<V, host_view>& A, const linear_operator<V, cpu>& built) {
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
                            spmv(on, plain_kernel{}, V(1), A, std::span<const V>(x), V(0),
                                 std::span<V>(y));
                        }));
}

}  // namespace

verdict judge_beside(const std::function<double()>& multiply_by_choice,
                     const std::function<double()>& multiply_plainly) {
    const auto last_two = [](int products, const std::function<double()>& multiply) {
        std::array<double, 2> seconds{};
        for (int k = 0; k < products; ++k) seconds[std::size_t(k) % 2] = multiply();
        return seconds;
    };
    const auto choice = last_two(products_of_choice, multiply_by_choice);
    const auto plain = last_two(products_of_plain, multiply_plainly);
    if (std::ranges::max(plain) < clearly_faster * std::ranges::min(choice))
        return verdict::refused;
    const bool never = std::ranges::min(plain) >= clearly_faster * std::ranges::max(choice);
    return never ? verdict::accepted : verdict::undecided;
}

template <class V>
void prepare_acceptance(plan<V, cpu>& p, const csr<V, host_view>& A, const plan_options& o) {
    if (!is_timed(p, o)) return;
    const bool of_registry = p.among.data() == methods<V>().data();
    p.timing = {
        .beside = std::string(plain_kernel::name),
        .kept_as = of_registry
                       ? fmt::format("{:016x} {} {} {}", pattern_hash(p.on, A.row_ptr, A.col_ind),
                                     value_name<V>(), name_of(p.storage), p.chosen().method)
                       : "",
        .in_file = o.cache};
    if (o.fresh) timed_before().forget(p.timing.kept_as);
    const auto before = of_registry && !o.fresh
                            ? timed_before().find(p.on, p.timing.kept_as, o.cache)
                            : std::nullopt;
    if (!before) {
        p.candidates.front().predicted_setup_s +=
            products_of_choice * p.chosen().predicted_s +
            products_of_plain * plain_candidate(p)->predicted_s;
        return;
    }
    p.timing.beside.clear();
    if (*before) return;
    const std::string slower = p.chosen().method;
    p.put_first(plain_kernel::name);
    p.why = fmt::format("{} was faster than {} when both were timed", plain_kernel::name, slower);
}

template <class V>
std::unique_ptr<linear_operator<V, cpu>> accepted(const plan<V, cpu>& p, const ascending<V>& A,
                                                  std::unique_ptr<linear_operator<V, cpu>> built) {
    if (p.timing.beside.empty() || built->method_name() == plain_kernel::name) return built;
    const bool kept = !p.timing.kept_as.empty();
    auto good = kept ? timed_before().find(p.on, p.timing.kept_as, false) : std::nullopt;
    try {
        if (!good) {
            const verdict v = judge(p.on, A.given(), *built);
            if (kept) timed_before().add(p.on, p.timing.kept_as, v, p.timing.in_file);
            good = v != verdict::refused;
        }
        if (*good) return built;
        return nz::build(named(p.among, plain_kernel::name), p.on, A);
    } catch (const std::bad_alloc&) {
        return built;
    }
}

#define NZ_INSTANTIATE(V)                                                     \
    template void prepare_acceptance(plan<V, cpu>&, const csr<V, host_view>&, \
                                     const plan_options&);                    \
    template std::unique_ptr<linear_operator<V, cpu>> accepted(               \
        const plan<V, cpu>&, const ascending<V>&, std::unique_ptr<linear_operator<V, cpu>>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
