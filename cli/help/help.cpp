#include "cli/help/help.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>

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

std::vector<std::string> names_of_subcommands(const command_words& w) {
    std::vector<std::string> names;
    for (const command_words& sub : w.subcommands) names.push_back(sub.name);
    return names;
}

std::vector<std::string> long_options(const command_words& w) {
    std::vector<std::string> names;
    for (const option_words& o : w.options)
        for (const std::string& name : o.long_names) names.push_back("--" + name);
    return names;
}

std::string no_subcommand(const command_words& w, const std::string& word) {
    return with_guess(fmt::format("no subcommand '{}'", word),
                      nearest(word, names_of_subcommands(w)));
}

}  // namespace

std::string explain(const command_words& nz, std::string fault,
                    const std::vector<std::string>& arguments) {
    const command_words* at = &nz;
    std::string name = "nz";
    for (const std::string& word : arguments) {
        if (const command_words* sub = at->find(word)) {
            at = sub, name += " " + word;
        } else if (word.starts_with("--") && word.size() > 2) {
            const std::string option = word.substr(0, word.find('='));
            const auto known = long_options(*at);
            if (std::find(known.begin(), known.end(), option) == known.end())
                return with_guess(fmt::format("{} has no option {}", name, option),
                                  nearest(option, known));
        } else if (!word.starts_with('-') && !at->subcommands.empty()) {
            return no_subcommand(*at, word);
        }
    }
    std::replace(fault.begin(), fault.end(), '\n', ' ');
    return fmt::format("{} (`{} --help` helps)", fault, name);
}

void add_help(const command& nz) {
    const auto sub = nz.add_subcommand("help", "The help of a subcommand");
    sub.footer("Example: nz help solve");
    const auto names = std::make_shared<std::vector<std::string>>();
    sub.add_option("subcommand", *names, "its name, and that of one of its own");
    sub.does([nz, names] {
        const command_words all = nz.words();
        const command_words* at = &all;
        for (const std::string& name : *names) {
            const command_words* const next = at->find(name);
            if (next == nullptr) throw argument_error(no_subcommand(*at, name));
            at = next;
        }
        fmt::print("{}", nz.help_of(*names));
        return int(done);
    });
}

}  // namespace nz::cli
