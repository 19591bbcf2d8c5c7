#include "cli/commands/plan_ratios.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"

namespace nz::cli {
namespace {

/// Method that users of the other library get if they ask for nothing else.
constexpr std::string_view default_on_gpu = "cusparse.csr";

bool is_deterministic(const benchmark_result& t) {
    for (const method<double>& m : methods<double>())
        if (m.name == t.method) return m.deterministic;
    return false;
}

/// The fastest of those beside the plan that pass; null where none does.
template <class Passes>
const benchmark_result* fastest(std::span<const result_of_matrix> all, const result_of_matrix& plan,
                                Passes passes) {
    const benchmark_result* best = nullptr;
    for (const auto& [matrix, t] : all) {
        // A serial method takes one thread, however many the others have.
        const bool here = matrix == plan.matrix && (t->threads == plan.t->threads || t->one_thread);
        if (here && t->measured() && t->method != planned_name && passes(*t) &&
            (best == nullptr || t->time.median_s < best->time.median_s))
            best = t;
    }
    return best;
}

double times_as_fast(const benchmark_result& plan, const benchmark_result* other) {
    return other == nullptr ? 0 : other->time.median_s / plan.time.median_s;
}

/// The mean of those known; 0 where none is.
double geometric_mean(std::span<const plan_ratio> ratios, double plan_ratio::*which) {
    double sum = 0;
    int n = 0;
    for (const plan_ratio& r : ratios)
        if (r.*which > 0) sum += std::log(r.*which), ++n;
    return n == 0 ? 0 : std::exp(sum / n);
}

struct named_ratio {
    const char *name, *key;
    std::string_view other;
    double plan_ratio::*which;
};
constexpr named_ratio all_ratios[] = {
    {"x default", "over_default", default_on_gpu, &plan_ratio::over_default},
    {"x best baseline", "over_peer", "the best baseline", &plan_ratio::over_peer},
    {"x best method", "over_method", "the best deterministic method measured",
     &plan_ratio::over_method},
};

/// Those that some matrix has. On a CPU the default is the best baseline, which is shown once.
std::vector<named_ratio> ratios_to_show(std::span<const plan_ratio> ratios) {
    std::vector<named_ratio> shown;
    for (const named_ratio& r : all_ratios) {
        const bool twice = r.which == &plan_ratio::over_default && ratios.front().threads > 0;
        const auto known = [&](const plan_ratio& of) { return of.*r.which > 0; };
        if (!twice && std::any_of(ratios.begin(), ratios.end(), known)) shown.push_back(r);
    }
    return shown;
}

/// The seconds of planning and building. On a GPU without copying the matrix to it.
double setup_of(const benchmark_result& t) {
    return t.threads == 0 ? t.setup.preprocessing_s : t.setup_s;
}

/// The median of those known; 0 where none is.
double median_setup(std::span<const plan_ratio> ratios) {
    std::vector<double> known;
    for (const plan_ratio& r : ratios)
        if (r.setup_products > 0) known.push_back(r.setup_products);
    if (known.empty()) return 0;
    std::sort(known.begin(), known.end());
    const std::size_t half = known.size() / 2;
    return known.size() % 2 == 1 ? known[half] : (known[half - 1] + known[half]) / 2;
}

std::string shown(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

}  // namespace

std::vector<plan_ratio> plan_ratios(std::span<const result_of_matrix> all) {
    std::vector<plan_ratio> ratios;
    for (const result_of_matrix& plan : all) {
        const benchmark_result& t = *plan.t;
        if (t.method != planned_name || !t.measured()) continue;
        const benchmark_result* peer =
            fastest(all, plan, [](const benchmark_result& o) { return o.peer; });
        const benchmark_result* usual =
            t.threads > 0 ? peer : fastest(all, plan, [](const benchmark_result& o) {
                return o.method == default_on_gpu;
            });
        const benchmark_result* ours = fastest(
            all, plan, [](const benchmark_result& o) { return !o.peer && is_deterministic(o); });
        ratios.push_back(
            {.matrix = plan.matrix,
             .chosen = t.built,
             .threads = t.threads,
             .plan_s = t.time.median_s,
             .over_default = times_as_fast(t, usual),
             .over_peer = times_as_fast(t, peer),
             .over_method = times_as_fast(t, ours),
             .setup_products = usual == nullptr ? 0 : setup_of(t) / usual->time.median_s,
             .best_method = ours == nullptr ? "" : ours->method});
    }
    return ratios;
}

namespace {

/// Says which numbers the table has.
std::string text_of(std::span<const named_ratio> shown, bool has_setup, bool on_gpu) {
    std::string text = "The plan, untuned";
    for (const named_ratio& r : shown)
        text += (&r == &shown.front()  ? ": how many times as fast as "
                 : &r == &shown.back() ? " and as "
                                       : ", as ") +
                std::string(r.other);
    if (!shown.empty()) text += " it is";
    if (!has_setup) return text;
    return text + "; setup in products of " +
           (on_gpu ? std::string(default_on_gpu) : "the best baseline");
}

/// The last row of the table, of several matrices.
std::vector<std::string> means_row(std::span<const plan_ratio> ratios,
                                   std::span<const named_ratio> shown_ratios, bool has_setup) {
    std::vector<std::string> cells{has_setup ? "geometric mean; median" : "geometric mean", "", "",
                                   ""};
    for (const named_ratio& r : shown_ratios)
        cells.push_back(shown(geometric_mean(ratios, r.which)));
    if (has_setup) cells.push_back(text_of_number(median_setup(ratios)));
    cells.emplace_back();
    return cells;
}

}  // namespace

void print_plan_ratios(std::span<const plan_ratio> ratios) {
    if (ratios.empty()) return;
    const auto to_show = ratios_to_show(ratios);
    const bool has_setup = median_setup(ratios) > 0;
    const std::string text = text_of(to_show, has_setup, ratios.front().threads == 0);
    fmt::print("\n{}\n\n", wrapped(text, line_width(stdout)));
    std::vector<column> columns{{"matrix", false}, {"threads"}, {"chosen", false}, {"us"}};
    for (const named_ratio& r : to_show) columns.push_back({r.name});
    if (has_setup) columns.push_back({"setup"});
    columns.push_back({"best method", false});
    table rows(columns);
    for (const plan_ratio& r : ratios) {
        std::vector<std::string> cells{r.matrix, r.threads == 0 ? "-" : std::to_string(r.threads),
                                       r.chosen, text_of_number(r.plan_s * 1e6)};
        for (const named_ratio& which : to_show) cells.push_back(shown(r.*which.which));
        if (has_setup)
            cells.push_back(r.setup_products > 0 ? text_of_number(r.setup_products) : "-");
        cells.push_back(r.best_method);
        rows.add_row(std::move(cells));
    }
    if (ratios.size() > 1) rows.add_row(means_row(ratios, to_show, has_setup));
    rows.print();
}

nz::json to_json(std::span<const plan_ratio> ratios) {
    nz::json j = {{"matrices", nz::json::array()}, {"geometric_means", nz::json::object()}};
    for (const plan_ratio& r : ratios) {
        nz::json row = {{"matrix", r.matrix},
                        {"threads", r.threads},
                        {"chosen", r.chosen},
                        {"median_s", r.plan_s},
                        {"best_method", r.best_method}};
        for (const named_ratio& which : all_ratios)
            if (r.*which.which > 0) row[which.key] = r.*which.which;
        if (r.setup_products > 0) row["setup_products"] = r.setup_products;
        j["matrices"].push_back(row);
    }
    for (const named_ratio& which : all_ratios)
        if (const double mean = geometric_mean(ratios, which.which); mean > 0)
            j["geometric_means"][which.key] = mean;
    if (const double setup = median_setup(ratios); setup > 0) j["median_setup_products"] = setup;
    return j;
}

}  // namespace nz::cli
