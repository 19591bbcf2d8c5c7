// nz report: measurements as a page that opens from the disk.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "cli/command.hpp"
#include "cli/commands/matrix_facts.hpp"
#include "cli/commands/report_solvers.hpp"
#include "cli/interruption.hpp"
#include "cli/page/measurements_file.hpp"
#include "cli/page/page.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/study/study.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/io/picture.hpp"
#include "nonzero/plan/machine.hpp"

namespace nz::cli {
namespace {

struct report_arguments {
    study_options study;
    std::string from, output;
    double solve_seconds = 0.5;
};

/// The command that makes this report again.
std::string command_line(const report_arguments& o) {
    std::string line = "nz report";
    for (const std::string& path : o.study.paths) line += " " + quoted(path);
    if (!o.study.threads.empty()) line += " --threads " + o.study.threads;
    return line + fmt::format(" --seconds {} --solve-seconds {} -o {}", o.study.seconds,
                              o.solve_seconds, quoted(o.output));
}

/// Throws what the header of any of the files is worth, and argument_error where two matrices have
/// one name, before anything is measured.
void check(const std::vector<std::string>& paths) {
    std::set<std::string> names;
    for (const std::string& path : paths) {
        if (inspect(path).field == field::complex)
            throw argument_error(path + ": a report is of real matrices, and this one is complex");
        if (!names.insert(matrix_name(path)).second)
            throw argument_error(path + ": another matrix is named '" + matrix_name(path) +
                                 "' too, and the report could not tell them apart");
    }
}

/// Facts about a matrix that the page shows beside its measurements.
nz::json facts_of(const csr<double, host_view>& A, const matrix_stats& stats) {
    constexpr int side = 240;  // thirty pictures of 58 kB at most are 2.3 MB in base 64
    const picture_size size = fit(A.shape, side, side);
    const picture p = spy(A, size.width, size.height);
    return {
        {"row_length", row_length_json(stats)},
        {"bandwidth", stats.bandwidth},
        {"diagonals", stats.diagonals},
        {"empty_rows", stats.empty_rows()},
        {"layouts", to_json(bytes_by_layout<double>(stats))},
        {"picture",
         {{"width", p.width}, {"height", p.height}, {"most", p.most}, {"png", base64(to_png(p))}}}};
}

nz::json bandwidths_json(const cpu_study& s) {
    nz::json all = nz::json::array();
    for (const int threads : s.threads) {
        if (interruption::happened()) break;
        const bandwidth b = measure_bandwidth(threads);
        all.push_back(
            {{"threads", threads}, {"read_gbps", b.read_gbps}, {"copy_gbps", b.copy_gbps}});
    }
    return all;
}

int most_threads(const matrix_result& m) {
    int most = 1;
    for (const benchmark_result& t : m.results) most = std::max(most, t.threads);
    return most;
}

struct measured_report {
    nz::json data;
    int code;
};

measured_report measure(const report_arguments& o) {
    std::vector<nz::json> facts;
    nz::json solves = nz::json::array();
    const cpu_study s = measure_study(o.study, [&](const auto& A, const matrix_result& m) {
        facts.push_back(facts_of(A, m.stats));
        if (interruption::happened() || o.solve_seconds == 0) return;
        try {
            for (nz::json& run : compare_solvers(A, most_threads(m), o.solve_seconds)) {
                run["matrix"] = m.name;
                solves.push_back(std::move(run));
            }
        } catch (const error& e) {  // which does not cost what was measured
            fmt::print(stderr, "nz: {}: solvers were not compared: {}\n", m.name, e.what());
        }
    });
    nz::json j = to_json(s);
    j["command"] = "report", j["command_line"] = command_line(o);
    j["bandwidth"] = bandwidths_json(s), j["solves"] = std::move(solves);
    for (std::size_t k = 0; k < facts.size(); ++k) j["matrices"][k].update(facts[k]);
    const tally n = count_validated(s.matrices);
    if (interruption::happened()) return {std::move(j), interrupted_exit};
    return {std::move(j), n.validated == n.results ? done : answer_is_no};
}

int report(const report_arguments& o) {
    if (o.study.paths.empty() == o.from.empty())
        throw argument_error("nz report takes matrices, or --from a file of measurements");
    expect_one_to_stdout({o.output, o.study.json});
    if (o.output != "-" && !o.output.ends_with(".html"))
        throw argument_error("--output: " + o.output + " does not end in .html");
    atomic_file page(o.output);
    json_file json(o.study.json);
    check(o.study.paths);
    const interruption ctrl_c;
    const auto [data, code] =
        o.from.empty() ? measure(o) : measured_report{read_measurements(o.from), done};
    page.write(report_page(data));
    page.commit();
    json.write(data);
    if (!json.is_stdout() && o.output != "-")
        fmt::print("{}: {} {}, {} results\n", o.output, data["matrices"].size(),
                   data["matrices"].size() == 1 ? "matrix" : "matrices",
                   data[data.contains("results") ? "results" : "rows"].size());
    return code;
}

}  // namespace

void add_report(const command& nz) {
    const auto sub =
        nz.add_subcommand("report", "Measurements as a page: one HTML file, no network");
    sub.footer(
        "Measures as nz study does, the machine's bandwidths and how solvers converge as well,\n"
        "and draws it: docs/report.md says how to read each plot. Or draws what was measured\n"
        "before, also on a GPU. The exit codes are those of nz study.\n\n"
        "Example: nz report matrices/*.mtx.gz -o report.html\n"
        "         nz report --from study.json -o report.html");
    const auto o = std::make_shared<report_arguments>();
    sub.add_option("matrix", o->study.paths, matrix_help());
    sub.add_option("-o,--output", o->output, "file for the page: .html, or - for stdout")
        .required()
        .type_name("FILE");
    const auto from =
        sub.add_option("--from", o->from, "draw the JSON of nz study, bench or report")
            .type_name("FILE");
    sub.add_option("--threads", o->study.threads,
                   "numbers of threads (default: 1, 2, 4, ... all cores)")
        .excludes(from);
    sub.add_option("--seconds", o->study.seconds,
                   "seconds of timing in all; large matrices take more")
        .excludes(from)
        .number<double>({.least = 0, .open = true})
        .shows_default();
    sub.add_option("--solve-seconds", o->solve_seconds,
                   "seconds that each solver may iterate on each matrix; 0 for no solvers")
        .excludes(from)
        .number<double>({.least = 0})
        .shows_default();
    add_json_option(sub, o->study.json, "the page's data");
    o->study.explains = true;
    sub.does([o] { return report(*o); });
}

}  // namespace nz::cli
