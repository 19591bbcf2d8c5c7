// nz explain without a method: all kernels that have a trace, best first.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "cli/command.hpp"
#include "cli/explain/explain.hpp"
#include "cli/interruption.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/timing/measure.hpp"

namespace nz::cli {
namespace {

/// A product of the method on this machine's GPU, data hot.                                   [s]
template <class V>
double measure(const method<V>& m, const csr<V, host_view>& A) {
    const gpu_stream stream;
    const gpu on = stream;
    const auto op = build(m, on, A);
    const auto x = to_device<V>(on, host_vector<V>(std::size_t(A.shape.cols), V(1)));
    auto y = to_device<V>(on, host_vector<V>(std::size_t(A.shape.rows), V(0)));
    const timed_runs product = [&](std::int64_t runs) {
        gpu_event first, last;
        first.record(on);
        for (std::int64_t k = 0; k < runs; ++k) op->apply(V(1), x, V(0), y);
        last.record(on);
        return last.seconds_since(first);
    };
    return time_interleaved(std::span(&product, 1), {.seconds = 0.1})[0].median_s;
}

template <class V>
explained_method explain_method(const method<V>& m, const csr<V, host_view>& A,
                                const matrix_stats& stats, const explain_how& how) {
    explained_method l{.method = m.name};
    l.declined = m.cost(stats).declined;
    if (!l.declined.empty()) return l;
    const auto t = trace_of<V>(m.name, A);
    if (t == nullptr) {
        l.declined = "its kernel has no trace";
        return l;
    }
    l.figures = explain(*t, std::int64_t(A.val.size()), how.l1, how.threads, interruption::flag());
    if (interruption::happened()) return l;
    l.binds = what_binds(l.figures, how.l1);
    l.weight = l.figures.moved_bytes() * std::max(1.0, l.figures.tail(how.l1));
    const estimate e = m.cost_on_gpu(stats);
    if (!e.declined.empty()) return l;
    if (how.predict_for != nullptr) l.predicted_s = predicted_seconds(e, stats, *how.predict_for);
    if (how.measure && m.on_gpu != nullptr) l.measured_s = measure(m, A);
    return l;
}

/// By the time, measured or else predicted. Methods without one stand behind those, in the order of
/// the bytes that their requests move, times how much longer than an equal share the busiest warp
/// works.
bool before(const explained_method& a, const explained_method& b) {
    if (a.declined.empty() != b.declined.empty()) return a.declined.empty();
    if (!a.declined.empty()) return a.method < b.method;
    const auto time = [](const explained_method& l) {
        return l.measured_s > 0 ? l.measured_s : l.predicted_s;
    };
    if ((time(a) > 0) != (time(b) > 0)) return time(a) > 0;
    if (time(a) != time(b)) return time(a) < time(b);
    return a.weight < b.weight;
}

std::string micros(double s) { return s > 0 ? text_of_number(s * 1e6) : "-"; }

void print_table(const std::vector<explained_method>& lines, bool measured) {
    std::vector<column> columns{{"method", false},
                                {"moved"},
                                {"beyond\nL1", true, true},
                                {"columns"},
                                {"values"},
                                {"x"},
                                {"lanes", true, true},
                                {"busiest\nover mean", true, true},
                                {"predicted\nus"}};
    if (measured) columns.push_back({"measured\nus"});
    table t(columns);
    for (const explained_method& l : lines) {
        if (!l.declined.empty()) continue;
        const traffic& a = l.figures.all;
        const auto sectors = [&](array_role r) {
            return a.of(r).requests == 0 ? "-" : fmt::format("{:.1f}", a.of(r).sectors_a_request());
        };
        std::vector<std::string> cells{std::string(l.method),
                                       text_of_bytes(l.figures.moved_bytes()),
                                       text_of_bytes(l.figures.bytes_beyond_l1()),
                                       sectors(array_role::columns),
                                       sectors(array_role::values),
                                       sectors(array_role::x),
                                       fmt::format("{:.1f}", l.figures.lanes()),
                                       fmt::format("{:.1f}", a.warp_imbalance()),
                                       micros(l.predicted_s)};
        if (measured) cells.push_back(micros(l.measured_s));
        t.add_row(std::move(cells));
    }
    t.print_within(line_width(stdout));
}

/// Name and text, broken into lines of 80 characters.
void print_wrapped(std::string_view name, const std::string& text) {
    constexpr std::size_t indent = 22, width = 80;
    std::string line = fmt::format("{:<{}}", name, indent);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > indent && line.size() + word.size() > width) {
            fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
            line = std::string(indent, ' ');
        }
        line += word + ' ';
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
}

void print_text(const explain_options& o, const std::vector<explained_method>& lines,
                const l1_model& l1, const gpu_info& gpu, bool measured, shape s, std::size_t nnz) {
    fmt::print("{}: {} x {}, {} nonzeros, best first\n\n", matrix_name(o.matrix), s.rows, s.cols,
               nnz);
    print_table(lines, measured);
    fmt::print("\nBottleneck of each:\n");
    for (const explained_method& l : lines)
        if (l.declined.empty()) print_wrapped(l.method, l.binds);
    for (const explained_method& l : lines)
        if (!l.declined.empty()) print_wrapped(l.method, "declined: " + l.declined);
    fmt::print(
        "\nMoved are the sectors of all requests; beyond L1 those that miss, by a model of\n"
        "{}.\nColumns, values and x are sectors a request; lanes take part in one.\n",
        describe(l1));
    fmt::print("Times are predicted for an {}{}", gpu.name,
               measured ? ".\n" : ",\nwhich is not here: none is measured.\n");
}

}  // namespace

std::string describe(const l1_model& m) {
    return fmt::format("{} with LRU replacement, {} of {} multiprocessors",
                       text_of_bytes(double(m.bytes)), std::min(3, m.multiprocessors),
                       m.multiprocessors);
}

nz::json to_json(const explained_method& l) {
    if (!l.declined.empty()) return {{"method", l.method}, {"declined", l.declined}};
    const traffic& all = l.figures.all;
    nz::json j = {{"method", l.method},
                  {"requests", all.requests()},
                  {"moved_bytes", l.figures.moved_bytes()},
                  {"used_bytes", all.all_loads().used_bytes},
                  {"used_of_moved", all.all_loads().used_of_moved()},
                  {"sectors_a_request", {{"loads", all.all_loads().sectors_a_request()}}},
                  {"bytes_beyond_l1", l.figures.bytes_beyond_l1()},
                  {"lanes", l.figures.lanes()},
                  {"warp_imbalance", all.warp_imbalance()},
                  {"x_hit_rate", l.figures.l1.x_rate()},
                  {"binds", l.binds}};
    for (const array_role r : {array_role::columns, array_role::values, array_role::x})
        if (all.of(r).requests > 0)
            j["sectors_a_request"][role_name(r)] = all.of(r).sectors_a_request();
    if (l.predicted_s > 0) j["predicted_s"] = l.predicted_s;
    if (l.measured_s > 0) j["measured_s"] = l.measured_s;
    return j;
}

template <class V>
std::vector<explained_method> explain_methods(const csr<V, host_view>& A, const matrix_stats& stats,
                                              const explain_how& how, const std::string& name,
                                              running_clock& clock) {
    std::vector<explained_method> all;
    for (const method<V>& m : methods<V>()) {
        if (!m.exists_on_gpu) continue;
        clock.relabel(fmt::format("counting {}, {}", name, m.name));
        explained_method l = explain_method(m, A, stats, how);
        if (interruption::happened()) break;
        all.push_back(std::move(l));
    }
    std::stable_sort(all.begin(), all.end(), before);
    return all;
}

template <class V>
int explain_all(const explain_options& o, const csr<V, host_view>& A) {
    json_file json(o.json);
    const interruption ctrl_c;
    const bool measured = o.gpu.empty() && why_no_gpu().empty();
    const gpu_info gpu = gpu_to_explain(o.gpu);
    const l1_model l1 = l1_model::of(gpu);
    const machine_speeds speeds = speeds_to_explain(o.gpu);
    const std::string name = matrix_name(o.matrix);
    std::optional<running_clock> clock(std::in_place, "counting " + name);
    const auto lines = explain_methods(A, compute_stats(A, nz::gpu{}),
                                       {l1, &speeds, measured, o.threads}, name, *clock);
    clock.reset();
    nz::json j = provenance("explain", measured);
    j.update({{"matrix", name},
              {"rows", A.shape.rows},
              {"cols", A.shape.cols},
              {"nnz", A.val.size()},
              {"value", value_name<V>()},
              {"predicted_for", gpu.name},
              {"interrupted", interruption::happened()},
              {"methods", nz::json::array()}});
    for (const explained_method& l : lines) {
        j["methods"].push_back(to_json(l));
        if (l.declined.empty()) j["methods"].back()["kernels"] = kernels_json(l.figures);
    }
    json.write(j);
    if (!json.is_stdout()) print_text(o, lines, l1, gpu, measured, A.shape, A.val.size());
    return interruption::happened() ? interrupted_exit : int(done);
}

template std::vector<explained_method> explain_methods(const csr<double, host_view>&,
                                                       const matrix_stats&, const explain_how&,
                                                       const std::string&, running_clock&);
template int explain_all(const explain_options&, const csr<float, host_view>&);
template int explain_all(const explain_options&, const csr<double, host_view>&);

}  // namespace nz::cli
