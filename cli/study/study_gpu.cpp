// nz study --device gpu: the charts of the lectures and papers on GPUs.
#include <cmath>
#include <map>

#include "cli/explain/memory_view.hpp"
#include "cli/interruption.hpp"
#include "cli/read_matrix.hpp"
#include "cli/study/study.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::cli {
namespace {

using V = double;

struct gpu_matrix : matrix_result {
    /// Few enough diagonals for DIA, as the operators of regular grids have.
    bool structured = false;

    [[nodiscard]] const benchmark_result* fastest_on_gpu(std::string_view layout = {}) const {
        return fastest([&](const benchmark_result& t) {
            return t.threads == 0 && (layout.empty() || layout_of(t.method) == layout);
        });
    }
    [[nodiscard]] const benchmark_result* fastest_on_cpu() const {
        return fastest([](const benchmark_result& t) { return t.threads > 0; });
    }
    [[nodiscard]] double gflops_of(const benchmark_result* t) const {
        return t == nullptr ? 0 : gflops(*t);
    }
};

struct gpu_study {
    std::vector<std::string> methods;  ///< methods of the GPU
    std::vector<gpu_matrix> matrices;
};

std::string name_of(const benchmark_result* t) { return t == nullptr ? "-" : t->method; }

/// The kernels of the layouts that pass down, matrices across.
template <class Passes>
void print_kernels(const gpu_study& s, const char* title, Passes passes) {
    fmt::print("{}, GFLOP/s (* fastest of these, - declines)\n\n", title);
    std::vector<column> columns{{"method", false}};
    for (const gpu_matrix& A : s.matrices) columns.push_back({head_of(A.name)});
    table rows(columns);
    for (const std::string& m : s.methods) {
        if (!passes(layout_of(m))) continue;
        std::vector<std::string> cells{m};
        for (const gpu_matrix& A : s.matrices) {
            const benchmark_result* best = A.fastest([&](const benchmark_result& t) {
                return t.threads == 0 && passes(layout_of(t.method));
            });
            const benchmark_result* t = A.find(m, 0);
            cells.push_back(t == nullptr ? "-" : (t == best ? "*" : "") + number(A.gflops(*t)));
        }
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
    fmt::print("\n");
}

void print_layouts(const gpu_study& s) {
    const auto is = [](std::string_view wanted) {
        return [wanted](std::string_view layout) { return layout == wanted; };
    };
    print_kernels(s, "CSR kernels", is("csr"));
    print_kernels(s, "HLL kernels", is("hll"));
    print_kernels(s, "Kernels of other layouts",
                  [](std::string_view layout) { return layout != "csr" && layout != "hll"; });
}

void print_best(const gpu_study& s) {
    fmt::print("Best CSR kernel against best HLL kernel, and the fastest of all\n\n");
    table rows({{"matrix", false},
                {"best CSR", false},
                {"GFLOP/s"},
                {"best HLL", false},
                {"GFLOP/s"},
                {"HLL / CSR"},
                {"fastest", false},
                {"GFLOP/s"},
                {"GB/s"}});
    for (const gpu_matrix& A : s.matrices) {
        const benchmark_result *csr = A.fastest_on_gpu("csr"), *hll = A.fastest_on_gpu("hll"),
                               *best = A.fastest_on_gpu();
        const bool both = csr != nullptr && hll != nullptr;
        rows.add_row({A.name, name_of(csr), number(A.gflops_of(csr)), name_of(hll),
                      number(A.gflops_of(hll)), number(both ? A.gflops(*hll) / A.gflops(*csr) : 0),
                      name_of(best), number(A.gflops_of(best)),
                      number(best == nullptr ? 0 : best->gbps())});
    }
    rows.print_within(line_width(stdout));
}

/// Pairs that differ in nothing but how they read x.
constexpr const char* reading_variants[] = {"csr.vector", "csr.vector_ldg", "csr.vector_texture",
                                            "icrs.row", "icrs.row_texture"};

void print_reading(const gpu_study& s) {
    fmt::print(
        "\nStructured matrices (their diagonals would suit DIA) and others, with and without the\n"
        "read-only cache and textures: GFLOP/s, and GB/s of the layout's bytes\n\n");
    std::vector<column> columns{{"matrix", false}, {"structured", false}};
    for (const char* m : reading_variants) columns.insert(columns.end(), {{head_of(m)}, {"GB/s"}});
    table rows(columns);
    for (const bool structured : {true, false}) {
        std::map<std::string, std::pair<double, double>> sums;
        std::map<std::string, int> counts;
        for (const gpu_matrix& A : s.matrices) {
            if (A.structured != structured) continue;
            std::vector<std::string> cells{A.name, structured ? "yes" : "no"};
            for (const char* m : reading_variants) {
                const benchmark_result* t = A.find(m, 0);
                cells.push_back(number(A.gflops_of(t)));
                cells.push_back(number(t == nullptr ? 0 : t->gbps()));
                if (t == nullptr) continue;
                sums[m].first += A.gflops(*t), sums[m].second += t->gbps(), ++counts[m];
            }
            rows.add_row(std::move(cells));
        }
        if (counts.empty()) continue;
        std::vector<std::string> cells{"mean", structured ? "yes" : "no"};
        for (const char* m : reading_variants) {
            cells.push_back(number(counts[m] == 0 ? 0 : sums[m].first / counts[m]));
            cells.push_back(number(counts[m] == 0 ? 0 : sums[m].second / counts[m]));
        }
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
}

void print_speed_up(const gpu_study& s) {
    fmt::print("\nSpeed-up of the GPU's fastest kernel\n\n");
    table rows({{"matrix", false},
                {"csr.serial,\nGFLOP/s"},
                {"best of\nthe CPU", false},
                {"GFLOP/s"},
                {"best of\nthe GPU", false},
                {"GFLOP/s"},
                {"over\ncsr.serial"},
                {"over the\nCPU's best"}});
    for (const gpu_matrix& A : s.matrices) {
        const benchmark_result *serial = A.find("csr.serial", 1), *host = A.fastest_on_cpu(),
                               *best = A.fastest_on_gpu();
        const auto over = [&](const benchmark_result* t) {
            return best == nullptr || t == nullptr ? 0 : A.gflops(*best) / A.gflops(*t);
        };
        rows.add_row({A.name, number(A.gflops_of(serial)), name_of(host), number(A.gflops_of(host)),
                      name_of(best), number(A.gflops_of(best)), number(over(serial)),
                      number(over(host))});
    }
    rows.print_within(line_width(stdout));
}

nz::json chosen(const gpu_matrix& A, const benchmark_result* t) {
    if (t == nullptr) return nullptr;
    return {{"method", t->method}, {"threads", t->threads}, {"gflops", A.gflops(*t)}};
}

nz::json to_json(const gpu_study& s) {
    nz::json j = provenance("study", true);
    j["interrupted"] = interruption::happened();
    j["device"] = "gpu";
    for (const char* list : {"matrices", "results", "best"}) j[list] = nz::json::array();
    tally n;
    for (const gpu_matrix& A : s.matrices) {
        j["matrices"].push_back(cli::to_json(A));
        j["matrices"].back()["structured"] = A.structured;
        j["best"].push_back({{"matrix", A.name},
                             {"csr", chosen(A, A.fastest_on_gpu("csr"))},
                             {"hll", chosen(A, A.fastest_on_gpu("hll"))},
                             {"gpu", chosen(A, A.fastest_on_gpu())},
                             {"cpu", chosen(A, A.fastest_on_cpu())},
                             {"serial", chosen(A, A.find("csr.serial", 1))}});
        for (const benchmark_result& t : A.results) {
            nz::json row = cli::to_json(A, t);
            row["backend"] = t.threads == 0 ? "gpu" : "cpu";
            j["results"].push_back(std::move(row));
        }
        const tally here = count_validated(std::span(static_cast<const matrix_result*>(&A), 1));
        n.results += here.results, n.validated += here.validated;
    }
    j["validated"] = n.validated;
    j["of"] = n.results;
    return j;
}

}  // namespace

int study_on_gpu(const study_options& o) {
    if (!o.threads.empty()) throw argument_error("--threads applies to --device cpu only");
    require_gpu(gpu{});
    gpu_study s;
    std::vector<const method<V>*> on_cpu, on_gpu;
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu != nullptr) on_cpu.push_back(&m);
        if (m.on_gpu == nullptr) continue;
        on_gpu.push_back(&m);
        s.methods.emplace_back(m.name);
    }
    const int threads[] = {thread_count({})};
    const auto cpu_side = make_cases<V>(on_cpu, threads);
    const auto gpu_side = make_gpu_cases<V>(on_gpu);
    json_file json(o.json);
    const interruption ctrl_c;
    measure_options how{
        .seconds = o.seconds / double(o.paths.size() * (cpu_side.size() + gpu_side.size())),
        .interrupted = interruption::flag()};
    how.block_s = std::min(how.block_s, how.seconds / (2 * min_blocks));
    for (const std::string& path : o.paths) {
        if (interruption::happened()) break;
        const csr<V, host> own =
            read_within_interruption(s.matrices.empty(), [&] { return read_matrix<V>(path); });
        const auto A = view(own);
        gpu_matrix result{{matrix_name(path), A.shape, std::int64_t(A.val.size()),
                           run_benchmark<V>(A, cpu_side, how)}};
        for (benchmark_result& t : run_benchmark<V>(gpu{}, A, gpu_side, how))
            result.results.push_back(std::move(t));
        result.structured = find_method<V>("dia.row").cost(compute_stats(A)).declined.empty();
        if (o.explains && !interruption::happened()) {
            running_clock clock("counting " + result.name);
            result.explained = memory_view(A, result.name, threads[0], clock);
        }
        s.matrices.push_back(std::move(result));
        if (is_terminal(stderr))
            fmt::print(stderr, "\r\033[K{} of {} matrices", s.matrices.size(), o.paths.size());
    }
    if (is_terminal(stderr)) fmt::print(stderr, "\r\033[K");
    json.write(to_json(s));
    const std::vector<matrix_result> all(s.matrices.begin(), s.matrices.end());
    if (!json.is_stdout()) {
        for (const auto print : {print_layouts, print_best, print_reading, print_speed_up})
            print(s);
        print_validation(all);
    }
    if (interruption::happened()) return interrupted_exit;
    const tally n = count_validated(all);
    return n.validated == n.results ? done : answer_is_no;
}

}  // namespace nz::cli
