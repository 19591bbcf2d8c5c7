// nz completion: what shells complete, from the subcommands and options themselves.
#include <fmt/format.h>

#include <algorithm>

#include "cli/help/help.hpp"

namespace nz::cli {
namespace {

/// Every option as it is typed.
std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* o : app.get_options()) {
        for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : o->get_snames()) names.push_back("-" + name);
    }
    return names;
}

/// Within single quotes of a shell.
std::string quoted(const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '\'' ? "'\\''" : std::string(1, c);
    return "'" + safe + "'";
}

/// What may follow a subcommand: its own subcommands, and its options.
std::string words_of(const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::App* sub : listed_subcommands(app)) words.push_back(sub->get_name());
    for (const std::string& name : options_of(app)) words.push_back(name);
    return fmt::format("{}", fmt::join(words, " "));
}

std::string for_bash(const CLI::App& app) {
    std::string text =
        "_nz() {\n"
        "    local words cur=${COMP_WORDS[COMP_CWORD]}\n"
        "    local sub=${COMP_WORDS[1]}\n"
        "    [[ $COMP_CWORD -gt 1 ]] || sub=\n"
        "    case $sub in\n";
    for (const CLI::App* sub : listed_subcommands(app))
        text += fmt::format("        {}) words='{}' ;;\n", sub->get_name(), words_of(*sub));
    text += fmt::format("        *) words='{}' ;;\n    esac\n", words_of(app));
    return text +
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    [[ ${#COMPREPLY[@]} -gt 0 || $COMP_CWORD -lt 2 ]] ||\n"
           "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
           "}\n"
           "complete -o filenames -F _nz nz\n";
}

/// zsh's _describe splits at colons.
std::string described(const std::string& name, const std::string& what) {
    std::string text = what;
    std::replace(text.begin(), text.end(), ':', ',');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return quoted(name + ":" + text);
}

std::string for_zsh(const CLI::App& app) {
    std::string text =
        "#compdef nz\n"
        "local -a choices\n"
        "if ((CURRENT == 2)); then\n"
        "    choices=(\n";
    for (const CLI::App* sub : listed_subcommands(app))
        text += "        " + described(sub->get_name(), sub->get_description()) + "\n";
    text += "    )\n    _describe subcommand choices\n    return\nfi\ncase $words[2] in\n";
    for (const CLI::App* sub : listed_subcommands(app)) {
        text += fmt::format("    {}) choices=(\n", sub->get_name());
        for (const CLI::Option* o : sub->get_options())
            for (const std::string& name : o->get_lnames())
                text += "        " + described("--" + name, o->get_description()) + "\n";
        text += "    ) ;;\n";
    }
    return text + "esac\n_describe option choices\n_files\n";
}

std::string for_fish(const CLI::App& app) {
    std::string text = "complete -c nz -f\n";
    for (const CLI::App* sub : listed_subcommands(app)) {
        const std::string name = sub->get_name();
        text += fmt::format("complete -c nz -n __fish_use_subcommand -a {} -d {}\n", name,
                            quoted(sub->get_description()));
        const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", name);
        text += fmt::format("complete -c nz -n {} -F\n", when);
        for (const CLI::Option* o : sub->get_options()) {
            std::string names;
            for (const std::string& s : o->get_snames()) names += " -s " + s;
            for (const std::string& l : o->get_lnames()) names += " -l " + l;
            if (names.empty()) continue;
            text += fmt::format("complete -c nz -n {}{} -d {}\n", when, names,
                                quoted(o->get_description()));
        }
    }
    return text;
}

}  // namespace

void add_completion(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("completion", "What a shell completes");
    sub->group("");
    const auto shell = std::make_shared<std::string>();
    sub->add_option("shell", *shell, "shell")
        ->check(CLI::IsMember({"bash", "fish", "zsh"}))
        ->required();
    sub->callback([&app, &chosen, shell] {
        chosen = [&app, shell] {
            fmt::print("{}", *shell == "bash"   ? for_bash(app)
                             : *shell == "fish" ? for_fish(app)
                                                : for_zsh(app));
            return int(done);
        };
    });
}

}  // namespace nz::cli
