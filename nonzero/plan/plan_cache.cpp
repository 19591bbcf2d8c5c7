#include "nonzero/plan/plan_cache.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/storage/storage.hpp"

namespace nz {

namespace {

/// The last step of splitmix64: every bit of the result depends on every bit of h.
std::uint64_t mixed(std::uint64_t h) {
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
    return h ^ (h >> 31);
}

/// Of f(0), ..., f(n - 1) in their order. The parts are of one size, whatever the number of
/// threads, so that the hash is.
template <class F>
std::uint64_t hash_of(std::int64_t n, F f) {
    constexpr std::int64_t part = 1 << 16;
    const std::int64_t parts = (n + part - 1) / part;
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(parts));
#pragma omp parallel for schedule(static)
    for (std::int64_t p = 0; p < parts; ++p) {
        std::uint64_t h = std::uint64_t(p);
        for (std::int64_t k = p * part; k < std::min(n, (p + 1) * part); ++k)
            h = mixed(h + std::uint64_t(f(k)) + 0x9e3779b97f4a7c15ULL);
        hashes[std::size_t(p)] = h;
    }
    std::uint64_t all = std::uint64_t(n);
    for (const std::uint64_t h : hashes) all = mixed(all + h + 0x9e3779b97f4a7c15ULL);
    return all;
}

template <class R>
std::uint64_t bits_of(R v) {
    if constexpr (sizeof(R) == 4) {
        return std::bit_cast<std::uint32_t>(v);
    } else {
        return std::bit_cast<std::uint64_t>(v);
    }
}
template <class R>
std::uint64_t bits_of(std::complex<R> v) {
    return mixed(bits_of(v.real())) + bits_of(v.imag());
}

bool fits_float(float) { return false; }  // there is no narrower type to go to
bool fits_float(double v) { return std::isnan(v) || double(float(v)) == v; }
template <class R>
bool fits_float(std::complex<R> v) {
    return fits_float(v.real()) && fits_float(v.imag());
}

template <class V>
std::int64_t count_distinct(std::span<const V> values) {
    std::unordered_set<std::uint64_t> seen;
    std::uint64_t before = 0;
    for (const V& v : values) {
        const std::uint64_t bits = bits_of(v);
        if (bits == before && !seen.empty()) continue;
        seen.insert(before = bits);
        if (std::int64_t(seen.size()) > most_distinct_values) break;
    }
    return std::int64_t(seen.size());
}

json key_of_machine(cpu on) { return machine_key(describe_machine(), thread_count(on)); }
[[maybe_unused]] json key_of_machine(gpu on) { return machine_key(describe_gpu(on)); }

template <class V, class B>
json key_of(const structure_key& k, B on, const plan_options& o) {
    return {{"rows", k.shape.rows},
            {"cols", k.shape.cols},
            {"nnz", k.nnz},
            {"pattern", k.pattern},
            {"distinct_values", k.distinct_values},
            {"in_float", k.in_float},
            {"type", value_name<V>()},
            {"machine", key_of_machine(on)},
            {"expected_products", o.expected_products},
            {"tune", o.tune},
            {"deterministic", o.deterministic},
            {"storage", name_of(o.storage)},
            {"vectors", o.vectors > 1},
            {"methods", o.methods}};
}

json to_json(const plan_report::candidate& c) {
    return {{"method", c.method},
            {"declined", c.declined},
            {"matrix_bytes", c.matrix_bytes},
            {"bytes", c.bytes},
            {"predicted_s", c.predicted_s},
            {"predicted_setup_s", c.predicted_setup_s},
            {"measured_s", c.measured_s},
            {"measured_setup_s", c.measured_setup_s}};
}

/// Throws json::exception where it is none.
plan_report::candidate candidate_of(const json& j) {
    const auto number = [&](const char* key) { return j.at(key).number(); };
    return {.method = j.at("method").text(),
            .declined = j.at("declined").text(),
            .matrix_bytes = number("matrix_bytes"),
            .bytes = number("bytes"),
            .predicted_s = number("predicted_s"),
            .predicted_setup_s = number("predicted_setup_s"),
            .measured_s = number("measured_s"),
            .measured_setup_s = number("measured_setup_s")};
}

/// Whether it names methods that are here, and numbers that are times and sizes.
template <class V, class B>
bool plausible(const plan<V, B>& p) {
    if (p.candidates.empty() || !p.chosen().declined.empty() || p.longest_row < 0) return false;
    return std::all_of(
        p.candidates.begin(), p.candidates.end(), [&](const plan_report::candidate& c) {
            const auto m = std::find_if(p.among.begin(), p.among.end(),
                                        [&](const method<V>& k) { return k.name == c.method; });
            if (m == p.among.end()) return false;
            if (!c.declined.empty()) return true;
            bool good = m->template on<B>() != nullptr;
            for (const double x : {c.matrix_bytes, c.bytes, c.predicted_s, c.predicted_setup_s,
                                   c.measured_s, c.measured_setup_s})
                good = good && std::isfinite(x) && x >= 0;
            return good;
        });
}

}  // namespace

template <class V>
structure_key key_of(const csr<V, host_view>& A) {
    structure_key k{.shape = A.shape, .nnz = std::int64_t(A.val.size())};
    const std::uint64_t rows = A.row_ptr.visit([&](const auto* row_ptr) {
        return hash_of(std::int64_t(A.row_ptr.size()), [&](std::int64_t i) { return row_ptr[i]; });
    });
    k.pattern =
        mixed(rows + hash_of(k.nnz, [&](std::int64_t i) { return A.col_ind[std::size_t(i)]; }));
    k.distinct_values = count_distinct(A.val);
    k.in_float = std::all_of(A.val.begin(), A.val.end(), [](const V& v) { return fits_float(v); });
    return k;
}

template <class V, class B>
std::string plan_path(const structure_key& k, B) {
    return cache_path(fmt::format("plan-{}-{:016x}-{}", std::is_same_v<B, cpu> ? "cpu" : "gpu",
                                  k.pattern, value_name<V>()));
}

template <class V, class B>
std::optional<plan<V, B>> load_plan(const std::string& path, const structure_key& k, B on,
                                    const plan_options& o) {
    const json j = load_kept(path, key_of<V>(k, on, o));
    try {
        plan<V, B> p{{.shape = k.shape,
                      .nnz = k.nnz,
                      .machine = j.at("machine").text(),
                      .expected_products = o.expected_products,
                      .storage = o.storage,
                      .longest_row = j.at("longest_row").whole(),
                      .bound = bound_of<V>(o.storage, j.at("longest_row").whole()),
                      .candidates = {},
                      .why = j.at("why").text()},
                     on,
                     methods<V>()};
        for (const json& c : j.at("candidates").elements()) p.candidates.push_back(candidate_of(c));
        if (plausible(p)) return p;
    } catch (const json::exception&) {  // nothing, or of the right key and yet not ours
    }
    return {};
}

template <class V, class B>
void save_plan(const std::string& path, const structure_key& k, const plan<V, B>& p,
               const plan_options& o) {
    json j = {{"machine", p.machine},
              {"why", p.why},
              {"longest_row", p.longest_row},
              {"candidates", json::array()}};
    for (const plan_report::candidate& c : p.candidates) j["candidates"].push_back(to_json(c));
    keep(path, key_of<V>(k, p.on, o), j);
}

#define NZ_FOR_BACKEND(V, B)                                                                  \
    template std::string plan_path<V>(const structure_key&, B);                               \
    template std::optional<plan<V, B>> load_plan(const std::string&, const structure_key&, B, \
                                                 const plan_options&);                        \
    template void save_plan(const std::string&, const structure_key&, const plan<V, B>&,      \
                            const plan_options&);
#define NZ_INSTANTIATE(V)                                    \
    template structure_key key_of(const csr<V, host_view>&); \
    NZ_FOR_BACKEND(V, cpu)                                   \
    NZ_WITH_CUDA_ONLY(NZ_FOR_BACKEND(V, gpu))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
