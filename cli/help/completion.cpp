// nz completion: what shells complete, from the subcommands and options themselves.
#include <fmt/format.h>

#include <algorithm>

#include "cli/help/help.hpp"

namespace nz::cli {
namespace {

/// Every option as it is typed.
std::vector<std::string> options_of(const command_words& w) {
    std::vector<std::string> names;
    for (const option_words& o : w.options) {
        for (const std::string& name : o.long_names) names.push_back("--" + name);
        for (const std::string& name : o.short_names) names.push_back("-" + name);
    }
    return names;
}

/// Within single quotes of a shell.
std::string quoted(const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '\'' ? "'\\''" : std::string(1, c);
    return "'" + safe + "'";
}

/// Words that may follow a subcommand: its own subcommands, and its options.
std::string words_of(const command_words& w) {
    std::vector<std::string> words;
    for (const command_words& sub : w.subcommands) words.push_back(sub.name);
    for (const std::string& name : options_of(w)) words.push_back(name);
    return fmt::format("{}", fmt::join(words, " "));
}

std::string for_bash(const command_words& w) {
    std::string text =
        "_nz() {\n"
        "    local words cur=${COMP_WORDS[COMP_CWORD]}\n"
        "    local sub=${COMP_WORDS[1]}\n"
        "    [[ $COMP_CWORD -gt 1 ]] || sub=\n"
        "    case $sub in\n";
    for (const command_words& sub : w.subcommands)
        text += fmt::format("        {}) words='{}' ;;\n", sub.name, words_of(sub));
    text += fmt::format("        *) words='{}' ;;\n    esac\n", words_of(w));
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

std::string for_zsh(const command_words& w) {
    std::string text =
        "#compdef nz\n"
        "local -a choices\n"
        "if ((CURRENT == 2)); then\n"
        "    choices=(\n";
    for (const command_words& sub : w.subcommands)
        text += "        " + described(sub.name, sub.description) + "\n";
    text += "    )\n    _describe subcommand choices\n    return\nfi\ncase $words[2] in\n";
    for (const command_words& sub : w.subcommands) {
        text += fmt::format("    {}) choices=(\n", sub.name);
        for (const option_words& o : sub.options)
            for (const std::string& name : o.long_names)
                text += "        " + described("--" + name, o.description) + "\n";
        text += "    ) ;;\n";
    }
    return text + "esac\n_describe option choices\n_files\n";
}

std::string for_fish(const command_words& w) {
    std::string text = "complete -c nz -f\n";
    for (const command_words& sub : w.subcommands) {
        const std::string name = sub.name;
        text += fmt::format("complete -c nz -n __fish_use_subcommand -a {} -d {}\n", name,
                            quoted(sub.description));
        const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", name);
        text += fmt::format("complete -c nz -n {} -F\n", when);
        for (const option_words& o : sub.options) {
            std::string names;
            for (const std::string& s : o.short_names) names += " -s " + s;
            for (const std::string& l : o.long_names) names += " -l " + l;
            if (names.empty()) continue;
            text +=
                fmt::format("complete -c nz -n {}{} -d {}\n", when, names, quoted(o.description));
        }
    }
    return text;
}

}  // namespace

void add_completion(const command& nz) {
    const auto sub = nz.add_subcommand("completion", "Completions for a shell");
    sub.unlisted();
    const auto shell = std::make_shared<std::string>();
    sub.add_option("shell", *shell, "shell").one_of({"bash", "fish", "zsh"}).required();
    sub.does([nz, shell] {
        const command_words w = nz.words();
        fmt::print("{}", *shell == "bash"   ? for_bash(w)
                         : *shell == "fish" ? for_fish(w)
                                            : for_zsh(w));
        return int(done);
    });
}

}  // namespace nz::cli
