// nz man: manual pages, from the subcommands and options themselves.
#include <fmt/format.h>

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

std::string names_of(const CLI::Option& o) {
    std::string names = o.get_name(o.get_positional(), true);
    std::replace(names.begin(), names.end(), ',', ' ');
    return names;
}

std::string page_of_option(const CLI::Option& o) {
    std::string text = fmt::format(".TP\n.B {}\n{}", roff(names_of(o)), roff(o.get_description()));
    if (!o.get_default_str().empty()) text += fmt::format(" [{}]", roff(o.get_default_str()));
    return text + "\n";
}

std::string list_of(const CLI::App& app, const std::string& prefix) {
    std::string text = ".SH SUBCOMMANDS\n";
    for (const CLI::App* sub : listed_subcommands(app))
        text += fmt::format(".TP\n.B {} {}\n{}\n", roff(prefix), roff(sub->get_name()),
                            roff(sub->get_description()));
    return text;
}

/// `name` as typed, such as "nz solve".
std::string page_of(const CLI::App& app, const std::string& name) {
    std::string title = name;
    std::replace(title.begin(), title.end(), ' ', '-');
    std::string text =
        fmt::format(".TH {} 1 \"\" \"nz {}\" \"nonzero\"\n", roff(title), NZ_VERSION);
    text += fmt::format(".SH NAME\n{} \\- {}\n", roff(title), roff(app.get_description()));
    text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(name));
    for (const CLI::Option* o : app.get_options())
        if (o->get_positional()) text += fmt::format(".I {}\n", roff(o->get_name(true)));
    text += "[options]\n";
    if (!listed_subcommands(app).empty()) text += list_of(app, name);
    text += ".SH OPTIONS\n";
    for (const CLI::Option* o : app.get_options()) text += page_of_option(*o);
    if (!app.get_footer().empty())
        text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
    return text;
}

void write_page(const std::string& folder, const CLI::App& app, const std::string& name) {
    std::string file = name;
    std::replace(file.begin(), file.end(), ' ', '-');
    atomic_file to(folder + "/" + file + ".1");
    to.write(page_of(app, name));
    to.commit();
}

int write_pages(const CLI::App& app, const std::string& folder) {
    std::filesystem::create_directories(folder);
    write_page(folder, app, "nz");
    for (const CLI::App* sub : listed_subcommands(app))
        write_page(folder, *sub, "nz " + sub->get_name());
    return done;
}

}  // namespace

void add_man(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("man", "Manual pages, for man");
    sub->group("");
    const auto folder = std::make_shared<std::string>();
    sub->add_option("folder", *folder, "folder for the pages")->required();
    sub->callback(
        [&app, &chosen, folder] { chosen = [&app, folder] { return write_pages(app, *folder); }; });
}

}  // namespace nz::cli
