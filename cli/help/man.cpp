// nz man: manual pages, from the subcommands and options themselves.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/help/help.hpp"
#include "nonzero/io/atomic_file.hpp"

namespace nz::cli {
namespace {

/// As roff reads text: hyphens that are typed stay hyphens, and no line is a request.
std::string roff(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        const bool starts_line = safe.empty() || safe.back() == '\n';
        if (starts_line && (c == '.' || c == '\'')) safe += "\\&";
        if (c == '-') {
            safe += "\\-";
        } else if (c == '\\') {
            safe += "\\e";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string page_of_option(const option_words& o) {
    std::string names = o.names;
    std::replace(names.begin(), names.end(), ',', ' ');
    return fmt::format(".TP\n.B {}\n{}\n", roff(names), roff(o.description));
}

std::string list_of(const command_words& w, const std::string& prefix) {
    std::string text = ".SH SUBCOMMANDS\n";
    for (const command_words& sub : w.subcommands)
        text +=
            fmt::format(".TP\n.B {} {}\n{}\n", roff(prefix), roff(sub.name), roff(sub.description));
    return text;
}

/// `name` as typed, such as "nz solve".
std::string page_of(const command_words& w, const std::string& name) {
    std::string title = name;
    std::replace(title.begin(), title.end(), ' ', '-');
    std::string text =
        fmt::format(".TH {} 1 \"\" \"nz {}\" \"nonzero\"\n", roff(title), NZ_VERSION);
    text += fmt::format(".SH NAME\n{} \\- {}\n", roff(title), roff(w.description));
    text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(name));
    for (const option_words& o : w.options)
        if (!o.positional.empty()) text += fmt::format(".I {}\n", roff(o.positional));
    text += "[options]\n";
    if (!w.subcommands.empty()) text += list_of(w, name);
    text += ".SH OPTIONS\n";
    for (const option_words& o : w.options) text += page_of_option(o);
    if (!w.footer.empty()) text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(w.footer));
    return text;
}

void write_page(const std::string& folder, const command_words& w, const std::string& name) {
    std::string file = name;
    std::replace(file.begin(), file.end(), ' ', '-');
    atomic_file to(folder + "/" + file + ".1");
    to.write(page_of(w, name));
    to.commit();
}

int write_pages(const command_words& nz, const std::string& folder) {
    std::filesystem::create_directories(folder);
    write_page(folder, nz, "nz");
    for (const command_words& sub : nz.subcommands) write_page(folder, sub, "nz " + sub.name);
    return done;
}

}  // namespace

void add_man(const command& nz) {
    const auto sub = nz.add_subcommand("man", "Manual pages, for man");
    sub.unlisted();
    const auto folder = std::make_shared<std::string>();
    sub.add_option("folder", *folder, "folder for the pages").required();
    sub.does([nz, folder] { return write_pages(nz.words(), *folder); });
}

}  // namespace nz::cli
