// nz: sparse matrices in every format, multiplied, shown, timed. One file a subcommand.
#include "cli/arguments/parsing.hpp"
#include "cli/command.hpp"
#include "cli/help/help.hpp"
#include "cli/process.hpp"
#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

void add_subcommands(const command& nz) {
    for (const auto add : {
             add_bench,   add_convert, add_eigs,     add_explain,    add_generate, add_info,
             add_machine, add_methods, add_pagerank, add_partition,  add_plan,     add_reorder,
             add_report,  add_show,    add_solve,    add_spmv,       add_spy,      add_study,
             add_svds,    add_help,    add_man,      add_completion,
         })
        add(nz);
}

int run(int argc, char** argv) {
    command_line all(
        "Sparse matrix-vector products, y = alpha A x + beta y, in every storage format.",
        "nz " NZ_VERSION);
    add_subcommands(all.nz());
    const request asked = all.parse(with_lone_json({argv + 1, argv + argc}));
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
