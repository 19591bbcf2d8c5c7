// nz plan: which method multiplies this matrix fastest here, and why; and why not the others.
#include "nonzero/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/command.hpp"
#include "cli/plan_json.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/plan_text.hpp"

namespace nz::cli {
namespace {

struct plan_arguments {
    std::string matrix, type, json, device = "cpu";
    int threads = 0;
    bool all = false;
    plan_options planning;

    [[nodiscard]] bool on_gpu() const { return device == "gpu"; }
};

nz::json candidate_json(const plan_report::candidate& c) {
    if (!c.declined.empty()) return {{"method", c.method}, {"declined", c.declined}};
    nz::json j = {{"method", c.method},
                  {"matrix_bytes", c.matrix_bytes},
                  {"bytes", c.bytes},
                  {"predicted_s", c.predicted_s},
                  {"predicted_setup_s", c.predicted_setup_s}};
    if (c.measured_s > 0)
        j.update({{"measured_s", c.measured_s}, {"measured_setup_s", c.measured_setup_s}});
    return j;
}

nz::json json_of(const plan_report& p, const plan_arguments& o) {
    nz::json j = provenance("plan", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)}, {"device", o.device}});
    j.update(to_json(p));
    return j;
}

/// The first of the methods that suit.
void print_table(const plan_report& p, std::size_t most) {
    std::vector<column> columns;
    for (const std::string& head : heads_of(p)) columns.push_back({head, !columns.empty()});
    table t(columns);
    const auto suit = suitable(p);
    for (const plan_report::candidate& c : suit.first(std::min(suit.size(), most)))
        t.add_row(cells_of(p, c));
    t.print();
}

/// The methods that do not suit, by their reasons.
void print_declined(const plan_report& p) {
    std::map<std::string, std::string> declined;
    for (const plan_report::candidate& c : p.candidates) {
        if (c.declined.empty()) continue;
        std::string& methods = declined[c.declined];
        methods += (methods.empty() ? "" : ", ") + c.method;
    }
    if (!declined.empty()) fmt::print("\ndecline\n");
    for (const auto& [why, methods] : declined)
        fmt::print("  {}\n", wrapped(methods + ": " + why, line_width(stdout) - 2, 4));
}

void print(const plan_report& p, bool all) {
    for (const std::string& line : answer_of(p))
        fmt::print("{}\n", wrapped(line, line_width(stdout), 2));
    fmt::print("\n");
    print_table(p, all ? p.candidates.size() : shown_candidates);
    if (all) return print_declined(p);
    if (const std::string rest = rest_of(p); !rest.empty()) fmt::print("\n{} (--all)\n", rest);
}

template <class V>
int show_plan(const plan_arguments& o, json_file& json) {
    if (o.on_gpu()) require_gpu(gpu{});
    const auto A = read_matrix<V>(o.matrix, o.threads);
    std::optional<running_clock> clock(std::in_place,
                                       "planning the product with " + matrix_name(o.matrix));
    const auto show = [&](const plan_report& p) {
        clock.reset();
        json.write(json_of(p, o));
        if (!json.is_stdout()) print(p, o.all);
    };
    if (o.on_gpu()) {
        show(make_plan(A, gpu{}, o.planning));
    } else {
        show(make_plan(A, cpu{o.threads}, o.planning));
    }
    return done;
}

int plan_as_type(const plan_arguments& o) {
    if (o.on_gpu() && o.threads != 0)
        throw argument_error("--threads applies to --device cpu only");
    json_file json(o.json);
    return with_value_type(o.type.empty() ? type_of_file(o.matrix) : o.type,
                           [&]<class V>() { return show_plan<V>(o, json); });
}

}  // namespace

nz::json to_json(const plan_report& p) {
    nz::json j = {{"rows", p.shape.rows},
                  {"cols", p.shape.cols},
                  {"nnz", p.nnz},
                  {"plan_machine", p.machine},
                  {"storage", name_of(p.storage)},
                  {"bound",
                   {{"unit_roundoff", p.bound.unit_roundoff},
                    {"relative", p.bound.relative},
                    {"absolute", p.bound.absolute},
                    {"smallest", p.bound.smallest}}},
                  {"chosen", p.chosen().method},
                  {"why", p.why},
                  {"break_even_products", p.break_even_products()},
                  {"candidates", nz::json::array()}};
    if (p.expected_products != plan_options::many_products)
        j["expected_products"] = p.expected_products;
    for (const plan_report::candidate& c : p.candidates)
        j["candidates"].push_back(candidate_json(c));
    return j;
}

void add_plan(const command& nz) {
    const auto sub =
        nz.add_subcommand("plan", "Which method is fastest for this matrix here, and why");
    sub.footer(
        "Times are predicted from the bytes, sector requests, launches and waits of each method's\n"
        "product, at this machine's measured speeds. Those are measured once and kept in\n"
        "$XDG_CACHE_HOME/nonzero, as tuned plans are.\n\n"
        "Example: nz plan A.mtx --device gpu --tune");
    const auto o = std::make_shared<plan_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("--device", o->device, "device that multiplies")
        .one_of({"cpu", "gpu"})
        .shows_default();
    sub.add_flag("--all", o->all, "show every method, and why those that decline do");
    sub.add_flag("--tune", o->planning.tune, "time the best few, take the fastest");
    sub.add_flag("--fresh", o->planning.fresh, "measure the machine, and tune, anew");
    add_type_of_file_option(sub, o->type);
    sub.add_option("--threads", o->threads, "number of threads (default: all)")
        .number<int>({1, max_threads});
    sub.add_option("--expected-products", o->planning.expected_products,
                   "number of products over which the setup must pay (default: it does not count)")
        .number<std::int64_t>({.least = 1});
    sub.add_option("--vectors", o->planning.vectors, "number of vectors multiplied at once")
        .number<int>({.least = 1});
    add_storage_option(sub, o->planning.storage,
                       "precision of the stored values; products are summed in the matrix' type");
    add_json_option(sub, o->json);
    add_wide_option(sub);
    sub.does([o] { return plan_as_type(*o); });
}

}  // namespace nz::cli
