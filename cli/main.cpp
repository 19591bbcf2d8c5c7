// nz: sparse matrices in every format, multiplied, shown, timed. One file a subcommand.
#include <new>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/process.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

int run(int argc, char** argv) {
    CLI::App app{"Sparse matrix-vector products, y = alpha A x + beta y, in every storage format.",
                 "nz"};
    app.set_version_flag("--version", "nz " NZ_VERSION);
    app.require_subcommand(1);
    action chosen;
    for (const auto add : {
             add_bench,
             add_convert,
             add_eigs,
             add_generate,
             add_info,
             add_machine,
             add_methods,
             add_pagerank,
             add_partition,
             add_plan,
             add_reorder,
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
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // help was asked for, or the version
        std::fprintf(stderr, "nz: %s\n", explain(app, e, {argv + 1, argv + argc}).c_str());
        return usage;
    }
    bound_waiting(argv);
    const auto fail = [](const char* what, exit_code code) {
        std::fprintf(stderr, "nz: %s\n", what);
        return code;
    };
    try {
        return chosen();
    } catch (const nz::argument_error& e) {
        return fail(e.what(), usage);
    } catch (const nz::parse_error& e) {
        return fail(e.what(), input);
    } catch (const std::bad_alloc&) {
        return fail("out of memory", machine);
    } catch (const std::exception& e) {
        return fail(e.what(), machine);
    }
}

}  // namespace
}  // namespace nz::cli

int main(int argc, char** argv) {
    using namespace nz::cli;
    open_standard_streams();
    leave_no_unfinished_files();
    return finish(run(argc, argv));
}
