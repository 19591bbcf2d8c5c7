// Measurements of a study on a CPU, and their JSON.
#include <algorithm>

#include "cli/explain/memory_view.hpp"
#include "cli/interruption.hpp"
#include "cli/plan_json.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/study/study.hpp"
#include "cli/study/study_lessons.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::cli {
namespace {

using V = double;

nz::json chosen(const matrix_result& A, const benchmark_result* t) {
    if (t == nullptr) return nullptr;
    return {{"method", t->method}, {"threads", t->threads}, {"gflops", A.gflops(*t)}};
}

/// 1, 2, 4, ... and all cores.
std::vector<int> doubling_threads() {
    std::vector<int> threads;
    const int most = thread_count({});
    for (int t = 1; t < most; t *= 2) threads.push_back(t);
    threads.push_back(most);
    return threads;
}

}  // namespace

mean cpu_study::mean_of(const std::string& method, int on_threads) const {
    mean m{.method = method, .threads = on_threads};
    for (const matrix_result& A : matrices) {
        const benchmark_result* t = A.find(method, on_threads);
        if (t == nullptr) continue;
        ++m.matrices;
        m.gflops += A.gflops(*t), m.speed_up += A.speed_up(*t);
    }
    if (m.matrices == 0) return m;
    m.gflops /= m.matrices, m.speed_up /= m.matrices;
    m.efficiency = m.speed_up / on_threads;
    return m;
}

nz::json to_json(const matrix_result& A) {
    nz::json j = {{"name", A.name}, {"rows", A.shape.rows}, {"cols", A.shape.cols}, {"nnz", A.nnz}};
    if (!A.explained.is_null()) j["explain"] = A.explained;
    return j;
}

nz::json to_json(const matrix_result& A, const benchmark_result& t) {
    nz::json row = {{"matrix", A.name}, {"method", t.method}, {"threads", t.threads}};
    if (!t.declined.empty()) row["declined"] = t.declined;
    if (!t.measured()) return row;
    row.update({{"median_s", t.time.median_s},
                {"spread", t.time.spread},
                {"gflops", A.gflops(t)},
                {"speed_up", A.speed_up(t)},
                {"matrix_bytes", t.matrix_bytes},
                {"gbps", t.gbps()},
                {"setup_s", t.setup_s},
                {"error_bounds", t.error.worst},
                {"l2_from_serial", t.serial_l2},
                {"l2_bound", t.serial_l2_bound},
                {"validated", t.validated()}});
    if (t.threads > 0) row["efficiency"] = A.speed_up(t) / t.threads;
    return row;
}

cpu_study measure_study(const study_options& o, const matrix_visitor& visit) {
    cpu_study s;
    s.threads = o.threads.empty() ? doubling_threads() : parse_threads(o.threads);
    std::vector<const method<V>*> all;
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu == nullptr) continue;
        all.push_back(&m);
        (m.one_thread ? s.serial : s.parallel).emplace_back(m.name);
    }
    const auto cases = make_cases<V>(all, s.threads);
    measure_options how{.seconds = o.seconds / double(o.paths.size() * cases.size()),
                        .interrupted = interruption::flag()};
    // As many blocks in little time as in much, each with its untimed run.
    how.block_s = std::min(how.block_s, how.seconds / (2 * min_blocks));
    for (const std::string& path : o.paths) {
        if (interruption::happened()) break;
        const csr<V, host> A =
            read_within_interruption(s.matrices.empty(), [&] { return read_matrix<V>(path); });
        running_clock clock(fmt::format("timing {}, {} of {} matrices", matrix_name(path),
                                        s.matrices.size() + 1, o.paths.size()));
        s.matrices.push_back({matrix_name(path), A.shape, std::int64_t(A.val.size()),
                              run_benchmark<V>(view(A), cases, how), path, compute_stats(view(A))});
        if (!interruption::happened()) s.matrices.back().plan = make_plan(A, cpu{s.most_threads()});
        if (visit) visit(view(A), s.matrices.back());
        if (o.explains && !interruption::happened())
            s.matrices.back().explained =
                memory_view(view(A), matrix_name(path), s.most_threads(), clock);
    }
    return s;
}

nz::json to_json(const cpu_study& s) {
    nz::json j = provenance("study");
    j["interrupted"] = interruption::happened();
    j["threads"] = s.threads;
    for (const char* list : {"matrices", "results", "by_threads", "best", "lessons", "plans"})
        j[list] = nz::json::array();
    for (const lesson& l : lessons_of(s.matrices, s.most_threads()))
        j["lessons"].push_back(to_json(l));
    for (const matrix_result& A : s.matrices) {
        j["matrices"].push_back(to_json(A));
        j["best"].push_back(
            {{"matrix", A.name},
             {"csr", chosen(A, A.fastest("csr"))},
             {"hll", chosen(A, A.fastest("hll"))},
             {"all", chosen(A, A.fastest([](const benchmark_result&) { return true; }))}});
        for (const benchmark_result& t : A.results) j["results"].push_back(to_json(A, t));
        if (A.planned().empty()) continue;
        j["plans"].push_back(to_json(A.plan));
        j["plans"].back()["matrix"] = A.name;
    }
    for (const std::string& m : s.parallel)
        for (const int t : s.threads) {
            const mean of = s.mean_of(m, t);
            j["by_threads"].push_back({{"method", of.method},
                                       {"threads", of.threads},
                                       {"matrices", of.matrices},
                                       {"mean_gflops", of.gflops},
                                       {"mean_speed_up", of.speed_up},
                                       {"mean_efficiency", of.efficiency}});
        }
    const tally n = count_validated(s.matrices);
    j["validated"] = n.validated;
    j["of"] = n.results;
    return j;
}

}  // namespace nz::cli
