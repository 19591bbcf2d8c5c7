// Shared by the subcommands: how they are added, and how they print.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/options.hpp"

namespace nz::cli {

/// The exit codes of nz.
enum exit_code { done = 0, answer_is_no = 1, usage = 2, input = 3, machine = 4 };

/// Every subcommand is one file that defines one of these: it adds itself to `nz`.
void add_bench(const command& nz);
void add_convert(const command& nz);
void add_eigs(const command& nz);
void add_explain(const command& nz);
void add_generate(const command& nz);
void add_info(const command& nz);
void add_machine(const command& nz);
void add_methods(const command& nz);
void add_pagerank(const command& nz);
void add_partition(const command& nz);
void add_plan(const command& nz);
void add_reorder(const command& nz);
void add_report(const command& nz);
void add_show(const command& nz);
void add_solve(const command& nz);
void add_spmv(const command& nz);
void add_spy(const command& nz);
void add_study(const command& nz);
void add_svds(const command& nz);

/// Adds --json: `to` becomes the name of a file, or "-" for stdout, which --json alone stands for.
option add_json_option(const command& sub, std::string& to, const std::string& what = "the report");
/// The arguments with "--json=-" for a --json that no name of a file follows: it would else take
/// the next argument, such as the matrix, for one.
std::vector<std::string> with_lone_json(const std::vector<std::string>& arguments);

/// The options of subcommands that compute and report: --device, --threads and --json.
struct run_options {
    std::string device = "cpu", json;
    int threads = 0;  ///< 0: all

    [[nodiscard]] bool on_gpu() const { return device == "gpu"; }
};
void add_run_options(const command& sub, run_options& to);
/// Throws argument_error where --threads is given for a GPU, unavailable where there is no GPU.
void check_device(const run_options&);

/// True where `to` is a terminal: only there are colours, progress and wide characters for show.
bool is_terminal(std::FILE* to);
/// Adds --wide, after which lines have no end.
void add_wide_option(const command& sub);
/// Characters of a line: the terminal's, and 80 at least and where `to` is none.
std::size_t line_width(std::FILE* to);

/// Words in lines of at most `width` characters, all but the first after `indent` spaces.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);

struct column {
    std::string name;       ///< its lines, where it has several, stand one below the other
    bool right = true;      ///< aligned to the right, as numbers are
    bool optional = false;  ///< left out by print_within where a line has no room for it
};

/// A table in plain text: columns as wide as their widest cell, a rule below the head.
class table {
  public:
    explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}
    /// Throws argument_error unless there is a cell for every column.
    void add_row(std::vector<std::string> cells);
    /// Within the lines of the terminal, or of 80 characters where there is none.
    void print(std::FILE* to = stdout) const { print_within(line_width(to), to); }
    /// In lines of `width` characters: optional columns are left out, the last one first. Where
    /// that does not suffice text in the last column is cut off, or several tables share the
    /// columns, each with the first one.
    void print_within(std::size_t width, std::FILE* to = stdout) const;
    void print_markdown(std::FILE* to = stdout) const;

  private:
    [[nodiscard]] std::vector<std::size_t> widths() const;
    void clip(std::size_t column, std::size_t width);
    void print_columns(const std::vector<std::size_t>& shown, std::FILE* to) const;

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A bar of `fraction` (0 to 1) of `width` characters, in eighths of a character.
std::string bar(double fraction, int width);

}  // namespace nz::cli
