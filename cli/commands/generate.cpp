// nz generate: model problems as files. Its subcommands and their options are the library's table.
#include "nonzero/gen/problems.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

struct generate_arguments {
    std::string output, type = "double", json;
    std::uint64_t seed = 0;
    std::vector<double> parameters;
    bool list = false;
};

template <class V>
int generate_file(const char* name, const generate_arguments& o) {
    expect_writable(o.output, matrix_endings);
    std::optional<running_clock> clock(std::in_place, std::string("generating ") + name);
    const auto A = generate<V>(name, o.parameters, o.seed);
    if (o.output == "-") clock.reset();  // the matrix may be on the screen
    write<V>(o.output, view(A));
    clock.reset();
    if (o.output == "-") return done;
    fmt::print("{}: {} x {}, {} nonzeros\n", o.output, A.shape.rows, A.shape.cols, A.val.size());
    return done;
}

int generate_as(const char* name, const generate_arguments& o) {
    return with_value_type(o.type, [&]<class V>() { return generate_file<V>(name, o); });
}

/// As it is typed: half_width is --half-width.
std::string option_name(const parameter& p) {
    std::string name = std::string("--") + p.name;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

nz::json list_json() {
    nz::json all = nz::json::array();
    for (const auto& g : generators<double>()) {
        nz::json parameters = nz::json::array();
        for (const auto& p : g.parameters)
            parameters.push_back({{"name", p.name},
                                  {"option", option_name(p)},
                                  {"default", p.value},
                                  {"whole", p.whole},
                                  {"what", p.what}});
        all.push_back(
            {{"name", g.name}, {"what", g.what}, {"seeded", g.seeded}, {"parameters", parameters}});
    }
    return all;
}

int list(const generate_arguments& o) {
    json_file json(o.json);
    json.write(list_json());
    if (json.is_stdout()) return done;
    table t({{"name", false}, {"what", false}, {"parameters", false, true}});
    for (const auto& g : generators<double>()) {
        std::string parameters;
        for (const auto& p : g.parameters)
            parameters +=
                fmt::format("{}{} {}", parameters.empty() ? "" : " ", option_name(p), p.value);
        t.add_row({g.name, g.what, parameters});
    }
    t.print();
    return done;
}

void add_generator(const command& parent, const generator<double>& g) {
    const auto sub = parent.add_subcommand(g.name, g.what);
    const auto o = std::make_shared<generate_arguments>();
    o->parameters.resize(g.parameters.size());
    std::string example = fmt::format("Example: nz generate {}", g.name);
    for (std::size_t k = 0; k < g.parameters.size(); ++k) {
        const parameter& p = g.parameters[k];
        o->parameters[k] = p.value;
        sub.add_option(option_name(p), o->parameters[k], p.what)
            .number<double>()
            .type_name(p.whole ? "INT" : "FLOAT")
            .shows_default();
        if (k < 2) example += fmt::format(" {} {}", option_name(p), p.value);
    }
    if (g.seeded)
        sub.add_option("--seed", o->seed, "seed of the random numbers")
            .number<std::uint64_t>()
            .shows_default();
    add_type_option(sub, o->type);
    sub.add_option("-o,--output", o->output,
                   "file to write: .npz, .mtx, .mtx.gz or .petsc; - for stdout")
        .required()
        .type_name("FILE");
    sub.footer(example + " -o A.npz");
    sub.does([o, name = g.name] { return generate_as(name, *o); });
}

}  // namespace

void add_generate(const command& nz) {
    const auto sub = nz.add_subcommand("generate", "A model problem of any size, as a file");
    sub.footer("Example: nz generate laplace2d --nx 100 --ny 100 -o A.npz");
    const auto o = std::make_shared<generate_arguments>();
    const auto listed = sub.add_flag("--list", o->list, "list the generators and their parameters");
    add_json_option(sub, o->json, "the list").needs(listed);
    add_wide_option(sub);
    sub.require_subcommands(0, 1);
    for (const auto& g : generators<double>()) add_generator(sub, g);
    sub.when_named([o, sub] {
        if (o->list) {
            sub.choose([o] { return list(*o); });
        } else if (!sub.has_named_subcommand()) {
            command::missing("the name of a generator (`nz generate --list`)");
        }
    });
}

}  // namespace nz::cli
