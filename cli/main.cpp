// nz: sparse matrices in every format, multiplied, shown, timed. One file a subcommand.
#include "cli/command.hpp"
#include "cli/help/help.hpp"
#include "cli/process.hpp"
#include "cli/ranks.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

/// Adds all subcommands; the callback of the one that the arguments name sets `chosen`.
void add_subcommands(CLI::App& app, action& chosen) {
    for (const auto add : {
             add_bench,
             add_convert,
             add_eigs,
             add_explain,
             add_generate,
             add_info,
             add_machine,
             add_methods,
             add_pagerank,
             add_partition,
             add_plan,
             add_reorder,
             add_report,
             add_show,
             add_solve,
             add_spmv,
             add_spy,
             add_study,
         })
        add(app, chosen);
    for (const auto add : {add_help, add_man, add_completion}) add(app, chosen);
}

/// Returns the request of the arguments. `chosen`: what the callbacks of subcommands set.
request parse(CLI::App& app, const action& chosen, const std::vector<std::string>& arguments) {
    if (arguments.empty())
        return {.run = [&app] { return app.exit(CLI::CallForHelp()); },
                .text = "nz",
                .is_said_once = true};
    request asked;
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // last first
        asked.run = chosen;
        const CLI::App& sub = *app.get_subcommands().front();
        const std::string& name = sub.get_name();
        asked.runs_over_ranks = has_share_gpu(sub);
        asked.is_said_once = name == "help" || name == "man" || name == "completion";
        asked.text = asked.runs_over_ranks ? text_of_arguments(sub) : "nz " + name;
    } catch (const CLI::ParseError& e) {
        asked.is_said_once = true;
        asked.text = "nz";
        for (const std::string& word : arguments) {
            const CLI::App* const sub = subcommand(app, word);
            asked.runs_over_ranks =
                asked.runs_over_ranks || (sub != nullptr && has_share_gpu(*sub));
            asked.text += " " + word;
        }
        if (e.get_exit_code() == 0)  // help was asked for, or the version
            asked.run = [&app, e] { return app.exit(e); };
        else
            asked.fault = explain(app, e, arguments);
    }
    return asked;
}

int run(int argc, char** argv) {
    CLI::App app{"Sparse matrix-vector products, y = alpha A x + beta y, in every storage format.",
                 "nz"};
    app.set_version_flag("--version", "nz " NZ_VERSION);
    app.require_subcommand(1);
    fit_help(app);
    action chosen;
    add_subcommands(app, chosen);
    const request asked = parse(app, chosen, with_lone_json({argv + 1, argv + argc}));
    if (!asked.is_said_once) bound_waiting(argv);
    const auto fail = [](const std::exception& e, exit_code code) {
        tell_failure(e, code);
        return code;
    };
    try {
        return run_by_all(asked);
    } catch (const nz::argument_error& e) {
        return fail(e, usage);
    } catch (const nz::parse_error& e) {
        return fail(e, input);
    } catch (const std::exception& e) {
        return fail(e, machine);
    }
}

}  // namespace
}  // namespace nz::cli

int main(int argc, char** argv) {
    using namespace nz::cli;
    open_standard_streams();
    leave_no_unfinished_files();
    const int code = run(argc, argv);
    leave_ranks();
    return finish(code);
}
