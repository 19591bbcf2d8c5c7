#include "cli/arguments/parsing.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/help/help.hpp"

namespace nz::cli {
namespace {

/// Names on the left, descriptions wrapped on the right of them.
class fitting : public CLI::Formatter {
    [[nodiscard]] std::string on_the_right(const std::string& text) const {
        return wrapped(text, line_width(stdout) - get_column_width());
    }
    std::string make_option_desc(const CLI::Option* o) const override {
        return on_the_right(o->get_description());
    }
    std::string make_subcommand(const CLI::App* sub) const override {
        std::ostringstream out;
        CLI::detail::format_help(out, sub->get_name(), on_the_right(sub->get_description()),
                                 get_column_width());
        return out.str();
    }
    /// Paragraphs are wrapped; examples, the last of them, stand as they are.
    std::string make_footer(const CLI::App* app) const override {
        std::string rest = app->get_footer(), text;
        for (auto end = rest.find("\n\n"); end != std::string::npos; end = rest.find("\n\n")) {
            text += wrapped(rest.substr(0, end), line_width(stdout)) + "\n\n";
            rest.erase(0, end + 2);
        }
        return rest.empty() ? rest : text + rest + "\n";
    }
};

/// The arguments given to `sub`, for people to read: what follows from them over ranks must be the
/// same on all, so that all are there but --threads.
std::string text_of_arguments(const CLI::App& sub) {
    std::string text = "nz " + sub.get_name();
    for (const CLI::Option* o : sub.get_options()) {
        if (o->count() == 0 || o->check_lname("threads")) continue;
        if (!o->get_positional()) text += " " + o->get_name();
        if (o->get_items_expected_max() == 0) continue;  // a flag
        for (const std::string& word : o->results()) text += " " + word;
    }
    return text;
}

/// Whether the subcommand of that name runs over ranks.
bool runs_over_ranks(const CLI::App& app, const std::string& name) {
    const auto named =
        app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
    return !named.empty() && named[0]->get_option_no_throw(share_gpu_option) != nullptr;
}

}  // namespace

command_line::command_line(const std::string& what, const std::string& version)
    : app_(std::make_unique<CLI::App>(what, "nz")) {
    app_->set_version_flag("--version", version);
    app_->require_subcommand(1);
    app_->formatter(std::make_shared<fitting>());
}

command_line::~command_line() = default;

command command_line::nz() { return {app_.get(), &chosen_}; }

request command_line::parse(const std::vector<std::string>& arguments) {
    if (arguments.empty())
        return {.run = [this] { return app_->exit(CLI::CallForHelp()); },
                .text = "nz",
                .is_said_once = true};
    request asked;
    try {
        app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // last first
        asked.run = chosen_;
        const CLI::App& sub = *app_->get_subcommands().front();
        const std::string& name = sub.get_name();
        asked.runs_over_ranks = runs_over_ranks(*app_, name);
        asked.is_said_once = name == "help" || name == "man" || name == "completion";
        asked.text = asked.runs_over_ranks ? text_of_arguments(sub) : "nz " + name;
    } catch (const CLI::ParseError& e) {
        asked.is_said_once = true;
        asked.text = "nz";
        for (const std::string& word : arguments) {
            asked.runs_over_ranks = asked.runs_over_ranks || runs_over_ranks(*app_, word);
            asked.text += " " + word;
        }
        if (e.get_exit_code() == 0)  // help was asked for, or the version
            asked.run = [this, e] { return app_->exit(e); };
        else
            asked.fault = explain(nz().words(), e.what(), arguments);
    }
    return asked;
}

}  // namespace nz::cli
