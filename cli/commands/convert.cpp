// nz convert: a matrix from one file format to another.
#include <fmt/core.h>

#include <optional>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

struct convert_arguments {
    std::string from, to;
    bool symmetric = false;
};

template <class V>
int convert(const convert_arguments& o) {
    const auto A = read_matrix<V>(o.from);
    std::optional<running_clock> clock;
    if (o.to != "-") clock.emplace("writing " + o.to);  // else the matrix may be on the screen
    write<V>(o.to, view(A), {.store = o.symmetric ? symmetry::symmetric : symmetry::general});
    clock.reset();
    if (o.to == "-") return done;
    fmt::print("{}: {} x {}, {} nonzeros, {}\n", o.to, A.shape.rows, A.shape.cols, A.val.size(),
               type_option<V>());
    return done;
}

}  // namespace

void add_convert(const command& nz) {
    const auto sub = nz.add_subcommand("convert", "From one file format to another");
    sub.footer(formats_help() +
               "Complex matrices stay complex; all others become real, a pattern's entries 1.\n"
               "Example: nz convert A.mtx.gz A.npz");
    const auto o = std::make_shared<convert_arguments>();
    sub.add_option("from", o->from, matrix_help()).required();
    sub.add_option("to", o->to, ".mtx, .mtx.gz, .npz or .petsc; - for stdout").required();
    sub.add_flag("--symmetric", o->symmetric,
                 "store the lower triangle of a matrix that is symmetric up to rounding");
    sub.does([o] {
        expect_writable(o->to, matrix_endings);
        return inspect(o->from).field == field::complex ? convert<std::complex<double>>(*o)
                                                        : convert<double>(*o);
    });
}

}  // namespace nz::cli
