// nz: sparse matrices in every format, multiplied, shown, timed. One file a subcommand.
#include "cli/command.hpp"
#include "cli/help/help.hpp"
#include "cli/process.hpp"
#include "cli/ranks.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

int run(int argc, char** argv) {
    CLI::App app{"Sparse matrix-vector products, y = alpha A x + beta y, in every storage format.",
                 "nz"};
    app.set_version_flag("--version", "nz " NZ_VERSION);
    app.require_subcommand(1);
    fit_help(app);
    action chosen;
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
    if (argc == 1) {
        std::fputs(app.help().c_str(), stdout);
        return done;
    }
    const std::vector<std::string> arguments = with_lone_json({argv + 1, argv + argc});
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // last first
    } catch (const CLI::ParseError& e) {
        if (!is_speaker()) return done;                  // mpirun would end the one that explains
        if (e.get_exit_code() == 0) return app.exit(e);  // help was asked for, or the version
        std::fprintf(stderr, "nz: %s\n", explain(app, e, arguments).c_str());
        return usage;
    }
    bound_waiting(argv);
    const auto fail = [](const std::exception& e, exit_code code) {
        tell_failure(e, code);
        return code;
    };
    try {
        return chosen();
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
