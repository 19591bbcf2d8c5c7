// nz methods: the registry, whatever this build can run.
#include <fmt/core.h>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz::cli {
namespace {

struct method_line {
    const method<double>* m;
    const char* backend;
    std::string here;  ///< "yes", or why this build on this machine cannot run it
};

std::vector<method_line> lines() {
    std::vector<method_line> all;
    const std::string no_gpu = why_no_gpu();
    for (const method<double>& m : methods<double>()) {
        if (m.exists_on_cpu) all.push_back({&m, "cpu", "yes"});
        if (m.exists_on_gpu) all.push_back({&m, "gpu", no_gpu.empty() ? "yes" : "no: " + no_gpu});
    }
    return all;
}

nz::json lines_json() {
    nz::json rows = nz::json::array();
    for (const auto& [m, backend, here] : lines())
        rows.push_back({{"name", m->name},
                        {"layout", m->layout()},
                        {"backend", backend},
                        {"deterministic", m->deterministic},
                        {"teaches", m->teaches},
                        {"source", m->source},
                        {"runs_here", here == "yes"},
                        {"here", here}});
    return rows;
}

struct methods_arguments {
    std::string json;
    bool markdown = false;
};

// Whether a method runs on one machine is not the documentation's business: no such column.
void print_markdown() {
    table t({{"method", false}, {"backend", false}, {"deterministic", false}, {"source", false}});
    for (const auto& [m, backend, here] : lines())
        t.add_row({"`" + std::string(m->name) + "`", backend, m->deterministic ? "yes" : "no",
                   std::string(m->source)});
    t.print_markdown();
}

/// Methods that cannot run here are one line below.
void print_table() {
    table t({{"method", false}, {"backend", false}, {"deterministic", false}, {"source", false}});
    int not_here = 0;
    std::string why;
    for (const auto& [m, backend, here] : lines()) {
        if (here != "yes") {
            ++not_here, why = here.substr(std::string_view("no: ").size());
            continue;
        }
        t.add_row({std::string(m->name), backend, m->deterministic ? "yes" : "no",
                   std::string(m->source)});
    }
    t.print();
    if (not_here > 0)
        fmt::print("\n{}\n",
                   wrapped(fmt::format("{} more for a GPU do not run here: {}; --json lists them",
                                       not_here, why),
                           line_width(stdout)));
}

int list_methods(const methods_arguments& o) {
    json_file json(o.json);
    json.write(lines_json());
    if (!json.is_stdout()) o.markdown ? print_markdown() : print_table();
    return done;
}

}  // namespace

void add_methods(const command& nz) {
    const auto sub = nz.add_subcommand("methods", "Every method: layout, kernel, backend, source");
    sub.footer("Example: nz methods --json");
    const auto o = std::make_shared<methods_arguments>();
    const auto json = add_json_option(sub, o->json, "the list");
    add_wide_option(sub);
    sub.add_flag("--markdown", o->markdown, "print as the table of docs/methods.md").excludes(json);
    sub.does([o] { return list_methods(*o); });
}

}  // namespace nz::cli
