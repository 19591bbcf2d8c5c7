// nz study: the comparison that the lectures make, in one go: formats against formats, threads
// against one thread, and every result checked.
#include <fmt/core.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/conditions/quiet.hpp"
#include "cli/interruption.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/study/study.hpp"
#include "cli/study/study_lessons.hpp"

namespace nz::cli {
tally count_validated(std::span<const matrix_result> matrices) {
    tally n;
    for (const matrix_result& A : matrices)
        for (const benchmark_result& t : A.results)
            n.results += t.measured(), n.validated += t.measured() && t.validated();
    return n;
}

void print_validation(std::span<const matrix_result> matrices) {
    double worst = 0, l2 = 0;
    for (const matrix_result& A : matrices) {
        for (const benchmark_result& t : A.results) {
            if (!t.measured()) continue;
            worst = std::max(worst, t.error.worst), l2 = std::max(l2, t.serial_l2);
            if (!t.validated())
                fmt::print(
                    "\nNOT VALIDATED: {} on {}, {} threads: y[{}] is {:.3g} bounds away; L2 "
                    "norm of the difference from csr.serial {:.3g}, expected at most {:.3g}",
                    t.method, A.name, t.threads, t.error.row, t.error.worst, t.serial_l2,
                    t.serial_l2_bound);
        }
    }
    fmt::print("\nLargest L2 norm of a difference from csr.serial: {:.2g}\n", l2);
    fmt::print("Largest error in units of the componentwise bound: {:.2g}\n", worst);
    const tally n = count_validated(matrices);
    fmt::print("{} of {} results validated\n", n.validated, n.results);
}

namespace {

/// GFLOP/s, "-" where it was not measured.
std::string speed(const matrix_result& A, const benchmark_result* t) {
    return t == nullptr ? "-" : doubtful(*t, number(A.gflops(*t)));
}

void print_serial(const cpu_study& s) {
    fmt::print("Serial CSR and HLL, GFLOP/s\n\n");
    std::vector<column> columns{{"matrix", false}, {"rows"}, {"columns"}, {"entries"}};
    std::vector<std::string> shown;
    for (const std::string& m : s.serial)
        if (layout_of(m) == "csr" || layout_of(m) == "hll") shown.push_back(m);
    double most = 0;
    for (const matrix_result& A : s.matrices)
        for (const std::string& m : shown)
            if (const benchmark_result* t = A.find(m, 1)) most = std::max(most, A.gflops(*t));
    for (const std::string& m : shown)
        columns.insert(columns.end(), {{head_of(m)}, {"", false, true}});
    table rows(columns);
    for (const matrix_result& A : s.matrices) {
        std::vector<std::string> cells{A.name, std::to_string(A.shape.rows),
                                       std::to_string(A.shape.cols), std::to_string(A.nnz)};
        for (const std::string& m : shown) {
            const benchmark_result* t = A.find(m, 1);
            cells.push_back(speed(A, t));
            cells.push_back(t == nullptr ? "" : drawn(A.gflops(*t), most));
        }
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
}

/// Methods down, matrices across.
void print_parallel(const cpu_study& s) {
    const int most = s.most_threads();
    fmt::print("\nParallel methods on {} thread{}, GFLOP/s (* fastest, - declines)\n\n", most,
               most == 1 ? "" : "s");
    std::vector<column> columns{{"method", false}};
    for (const matrix_result& A : s.matrices) columns.push_back({head_of(A.name)});
    table rows(columns);
    for (const std::string& m : s.parallel) {
        std::vector<std::string> cells{m};
        for (const matrix_result& A : s.matrices) {
            const benchmark_result* t = A.find(m, most);
            const benchmark_result* best = A.fastest(
                [&](const benchmark_result& x) { return x.threads == most && !x.one_thread; });
            cells.push_back(t == nullptr ? "-" : (t == best ? "*" : "") + speed(A, t));
        }
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
}

void print_means(const cpu_study& s) {
    fmt::print(
        "\nBy number of threads, means over the matrices: GFLOP/s, speed-up over the\n"
        "layout's fastest serial method (csr.serial where it has none), and efficiency\n"
        "= speed-up / threads\n\n");
    std::vector<column> columns{{"method", false}, {"matrices"}};
    for (const char* what : {"GFLOP/s", "speed-up"})
        for (const int t : s.threads) columns.push_back({fmt::format("{}\n{}", what, t)});
    // On one thread it is the speed-up.
    for (const int t : s.threads)
        if (t > 1) columns.push_back({fmt::format("efficiency\n{}", t)});
    columns.push_back({"", false, true});
    const int most = s.most_threads();
    double top = 0;
    for (const std::string& m : s.parallel) top = std::max(top, s.mean_of(m, most).gflops);
    table rows(columns);
    for (const std::string& m : s.parallel) {
        std::vector<std::string> cells{m, std::to_string(s.mean_of(m, most).matrices)};
        for (double mean::*const what : {&mean::gflops, &mean::speed_up})
            for (const int t : s.threads) cells.push_back(number(s.mean_of(m, t).*what));
        for (const int t : s.threads)
            if (t > 1) cells.push_back(number(s.mean_of(m, t).efficiency));
        cells.push_back(drawn(s.mean_of(m, most).gflops, top));
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
}

void print_best(const cpu_study& s) {
    fmt::print("\nBest CSR kernel against best HLL kernel, and the fastest of all, GFLOP/s\n\n");
    table rows({{"matrix", false},
                {"CSR", false},
                {""},
                {"", false, true},
                {"HLL", false},
                {""},
                {"", false, true},
                {"HLL / CSR", true, true},
                {"fastest", false},
                {""}});
    const auto any = [](const benchmark_result&) { return true; };
    for (const matrix_result& A : s.matrices) {
        const benchmark_result* best = A.fastest(any);
        if (best == nullptr) continue;
        std::vector<std::string> cells{A.name};
        const benchmark_result* const formats[] = {A.fastest("csr"), A.fastest("hll")};
        for (const benchmark_result* t : formats) {
            cells.push_back(t == nullptr ? "-" : t->method.substr(t->method.find('.') + 1));
            cells.push_back(speed(A, t));
            cells.push_back(t == nullptr ? "" : drawn(A.gflops(*t), A.gflops(*best)));
        }
        const bool both = formats[0] != nullptr && formats[1] != nullptr;
        cells.push_back(number(both ? formats[0]->time.median_s / formats[1]->time.median_s : 0));
        cells.push_back(best->method);
        cells.push_back(speed(A, best));
        rows.add_row(std::move(cells));
    }
    rows.print_within(line_width(stdout));
}

int study_on_cpu(const study_options& o) {
    json_file json(o.json);
    const interruption ctrl_c;
    const cpu_study s = measure_study(o);
    json.write(to_json(s));
    if (!json.is_stdout()) {
        const auto lessons = lessons_of(s.matrices, s.most_threads());
        print_summary(s.matrices, lessons);
        for (const auto print : {print_serial, print_parallel, print_means, print_best}) print(s);
        print_validation(s.matrices);
        print_lessons(lessons);
        print_next_steps(lessons);
    }
    if (interruption::happened()) return interrupted_exit;
    const tally n = count_validated(s.matrices);
    return n.validated == n.results ? done : answer_is_no;
}

}  // namespace

void add_study(const command& nz) {
    const auto sub = nz.add_subcommand("study", "Compare formats, kernels and numbers of threads");
    sub.footer(
        "Every method on every matrix, in double. Each result is held against csr.serial by the\n"
        "L2 norm of the difference, and against a long double reference by the componentwise\n"
        "bound; the exit code is 1 where one fails. Ctrl-C ends the measuring: what was measured\n"
        "is printed and written, and the exit code is 130. On a GPU: its kernels against each "
        "other,\n"
        "with and without texture and read-only cache, on structured matrices and on others, and\n"
        "against csr.serial and the fastest method of the CPU.\n\n"
        "Example: nz study matrices/*.mtx.gz --threads 1,2");
    const auto o = std::make_shared<study_options>();
    sub.add_option("matrix", o->paths, matrix_help()).required();
    sub.add_option("--threads", o->threads, "numbers of threads (default: 1, 2, 4, ... all cores)");
    sub.add_option("--device", o->device, "device whose kernels are compared")
        .one_of({"cpu", "gpu"})
        .shows_default();
    sub.add_option("--seconds", o->seconds, "seconds of timing in all; large matrices take more")
        .number<double>({.least = 0, .open = true})
        .shows_default();
    add_wide_option(sub);
    add_json_option(sub, o->json, "the charts' data");
    sub.does([o] {
        o->explains = !o->json.empty();  // nothing of it is printed
        return o->device == "gpu" ? study_on_gpu(*o) : study_on_cpu(*o);
    });
}

}  // namespace nz::cli
