#include "cli/help/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>

#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

/// How many letters must be inserted, removed, replaced or swapped with the next one.
/// Source: Damerau, CACM 7 (1964), in the restricted form.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = a[i - 1] == b[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last), last.swap(row);
    }
    return last[b.size()];
}

/// The nearest name that may have been meant, or "".
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string best;
    for (const std::string& name : names) {
        const std::size_t d = distance(word, name);
        if (d < least) least = d, best = name;
    }
    return best;
}

std::string with_guess(const std::string& what, const std::string& guess) {
    return guess.empty() ? what : fmt::format("{}; did you mean {}?", what, guess);
}

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : listed_subcommands(app)) names.push_back(sub->get_name());
    return names;
}

std::vector<std::string> long_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* o : app.get_options())
        for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    return names;
}

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

std::string no_subcommand(const CLI::App& app, const std::string& word) {
    return with_guess(fmt::format("no subcommand '{}'", word),
                      nearest(word, names_of_subcommands(app)));
}

}  // namespace

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
    const auto all = app.get_subcommands([](const CLI::App*) { return true; });
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const CLI::App* sub) { return sub->get_name() == name; });
    return at == all.end() ? nullptr : *at;
}

void fit_help(CLI::App& app) { app.formatter(std::make_shared<fitting>()); }

std::vector<const CLI::App*> listed_subcommands(const CLI::App& app) {
    std::vector<const CLI::App*> listed;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!sub->get_group().empty()) listed.push_back(sub);
    std::sort(listed.begin(), listed.end(),
              [](auto* a, auto* b) { return a->get_name() < b->get_name(); });
    return listed;
}

std::string explain(const CLI::App& app, const CLI::ParseError& e,
                    const std::vector<std::string>& arguments) {
    const CLI::App* at = &app;
    std::string name = "nz";
    for (const std::string& word : arguments) {
        if (const CLI::App* sub = subcommand(*at, word)) {
            at = sub, name += " " + word;
        } else if (word.starts_with("--") && word.size() > 2) {
            const std::string option = word.substr(0, word.find('='));
            if (at->get_option_no_throw(option) == nullptr)
                return with_guess(fmt::format("{} has no option {}", name, option),
                                  nearest(option, long_options(*at)));
        } else if (!word.starts_with('-') && !listed_subcommands(*at).empty()) {
            return no_subcommand(*at, word);
        }
    }
    std::string what = e.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return fmt::format("{} (`{} --help` helps)", what, name);
}

void add_help(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("help", "The help of a subcommand");
    sub->footer("Example: nz help solve");
    const auto names = std::make_shared<std::vector<std::string>>();
    sub->add_option("subcommand", *names, "its name, and that of one of its own");
    sub->callback([&app, &chosen, names] {
        chosen = [&app, names] {
            const CLI::App* at = &app;
            std::string typed = "nz";
            for (const std::string& name : *names) {
                const CLI::App* const next = subcommand(*at, name);
                if (next == nullptr) throw argument_error(no_subcommand(*at, name));
                at = next, typed += " " + name;
            }
            // App::help would be that of the subcommand at hand.
            fmt::print("{}", at->get_formatter()->make_help(at, typed, CLI::AppFormatMode::Normal));
            return int(done);
        };
    });
}

}  // namespace nz::cli
